"""Planning: against brute force, by its order, by its seed, and what it refuses."""

import html
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import t

import rtc_bayes as rb
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.judging.judging_plan import JudgingPlan
from rtc_bayes.judging.simulated_judging import unjudged_variance
from rtc_bayes.measures.residual import expected_residual
from tests.pools import POOL_ALONE, pool_of

JUDGE = "mtc/rtc:map"


@pytest.fixture(scope="module")
def small():
    data = rb.simulate(n_topics=8, n_systems=4, documents=100, depth=30, seed=2)
    pool = rb.Pool.from_runs(data.runs, depth=10)
    part = pool.select_topics(pool.topics[:4])
    pilot = rb.build(part, data.qrels, JUDGE, confidence=None, budget=12, floor=3).judgments
    return pool, pilot, data.qrels


def of(small, **options):
    pool, pilot, _ = small
    asked = {"algorithm": JUDGE, "judgments_per_topic": [2, 4, 8], "repetitions": 1}
    return rb.plan(pool, pilot, 40, **asked | options)


@pytest.fixture(scope="module")
def by_hand():
    """Two pairs, three topics of four judgments; numbers easy to follow."""
    return JudgingPlan(
        a=("A", "A"),
        b=("B", "C"),
        measure="AP",
        algorithm="none",
        population=True,
        difference=0.1,
        confidence=0.95,
        budget=20.0,
        judgment_cost=1.0,
        topic_cost=2.0,
        topics_of_runs=10,
        pilot=(5, 4, 3),
        judgments_per_topic=(4, 8),
        expected=np.array([0.05, -0.1]),
        between=np.array([0.01, 0.02]),
        unjudged_pilot=np.array([0.03, 0.06]),
        unjudged=np.array([[0.04, 0.05], [0.01, 0.02]]),
        unjudged_none=np.array([0.09, 0.09]),
    )


def test_no_more_is_judged_than_there_is(by_hand):
    small = replace(by_hand, documents=(5, 6, 7), documents_elsewhere=(2, 12))
    assert [small.cost(3, n) for n in (4, 8)] == [1.0, 2.0 + 4.0]
    # a topic that none was judged of: 2 and 4, or 2 and 8 documents in the mean
    assert [small.cost(5, n) - small.cost(3, n) for n in (4, 8)] == [
        2 * (2.0 + 3.0),
        2 * (2.0 + 5.0),
    ]
    assert replace(by_hand, documents=(5, 6, 7)).cost(4, 8) == 6.0 + 2.0 + 6.0
    assert by_hand.cost(3, 8) == 3.0 + 4.0 + 5.0


def test_a_topic_that_is_judged_whole_is_as_deep_as_any(by_hand):
    whole = replace(by_hand, documents=(5, 8, 8), documents_elsewhere=())
    # the first topic lacks nothing, and is none of those that stay as they are
    np.testing.assert_allclose(whole.sd(3, 8), by_hand.sd(3, 8))
    assert whole.cost(3, 8) == by_hand.cost(3, 8) - 3.0


def test_judging_all_costs_as_many_judgments_as_documents_are_left(small):
    pool, pilot, _ = small
    made = of(small, judgments_per_topic=[500])
    documents = np.bincount(pool.topic_of)
    assert made.cost(pool.n_topics, documents.max()) == pool.n_documents - pilot.n_judged


@pytest.mark.parametrize("algorithm", ["mtf/rtc:map", "ip/rtc:map", "sample/rtc:map"])
def test_a_judge_without_a_floor_is_refused(small, algorithm):
    with pytest.raises(rb.InputError, match="has no floor, by which all topics get as many"):
        of(small, algorithm=algorithm)


def test_what_is_left_is_that_of_every_outcome():
    """Three documents by a model that learns nothing: the mean over all judged ones, by hand."""
    pool = pool_of({"A": {"1": "abc"}, "B": {"1": "cba"}}, depth=3)
    pilot = rb.fit(pool, rb.Judgments.none(pool), model="uniform")
    algorithm = parse_algorithm("mtc/uniform")
    left = [
        unjudged_variance(pilot, pool, ["1"], algorithm, POOL_ALONE, [1, 2, 3], seed=seed)[:, 0]
        for seed in range(60)
    ]

    def ap(order, relevant):
        hits = np.cumsum([relevant[d] for d in order])
        total = sum(
            h / (k + 1) for k, (h, d) in enumerate(zip(hits, order, strict=True)) if relevant[d]
        )
        return total / max(hits[-1], 1)

    outcomes = list(product([0, 1], repeat=3))
    differences = np.array([ap([0, 1, 2], r) - ap([2, 1, 0], r) for r in outcomes])

    def remaining(judged):
        groups = [tuple(r[d] for d in judged) for r in outcomes]
        return np.mean([differences[[g == h for h in groups]].var() for g in groups])

    # the judge takes a or c first: one is as good as the other
    expected = [remaining([0]), remaining([0, 2]), remaining([0, 1, 2])]
    error = np.std(left, axis=0) / np.sqrt(len(left))
    assert expected[0] > expected[1]
    assert expected[2] == 0.0
    assert np.abs(np.mean(left, axis=0) - expected) == pytest.approx(0.0, abs=4 * error.max())


def test_the_formulas_by_hand(by_hand):
    assert by_hand.cost(5, 4) == 1 + 2 * (4 + 2)
    # the pilot's where it has them; on its topic of three judgments the less of both; on two new
    # ones what was simulated
    total = np.array([3 * 0.03, 2 * 0.06 + 0.05]) + 2 * np.array([0.04, 0.05])
    expected = np.sqrt((total / 5 + by_hand.between) / 5)
    assert by_hand.sd(5, 4) == pytest.approx(expected)
    of_runs = replace(by_hand, population=False)
    assert of_runs.sd(5, 4) == pytest.approx(np.sqrt((total + 5 * 0.09) / 100))


def test_what_the_budget_buys(by_hand):
    pilot, shallow, deep = by_hand.choices()
    assert pilot[:3] == (3, 0, None)
    # one judgment deepens the pilot; 19 are left for topics of 4 + 2
    assert shallow == (6, 1, 0, 19.0)
    # 3 + 4 + 5 deepen it; 8 are too few for a topic of 8 + 2
    assert deep == (3, 3, 1, 12.0)
    poor = replace(by_hand, budget=8.0).choices()[2]
    assert poor == (3, 2, 1, 7.0)


def test_rows_of_as_many_topics_say_how_many_are_so_deep(by_hand):
    """What the budget buys of three topics costs less than all three, and says so."""
    frame = replace(by_hand, budget=8.0, difference=0.3).to_frame()
    deep = frame.iloc[2]
    assert (deep.topics, deep.topics_so_deep, deep.cost) == (3, 2, 7.0)
    assert (deep.topics_needed, deep.cost_needed) == (3, by_hand.cost(3, 8)) == (3, 12.0)
    assert frame.topics_so_deep.isna().tolist() == [True, False, False]


def test_nothing_is_gained_where_nothing_is_bought(by_hand):
    """Fewer judgments than the pilot has cost nothing, however little they would leave."""
    made = replace(by_hand, judgments_per_topic=(2,), unjudged=np.full((1, 2), 1e-3), budget=1.0)
    pilot, bought = made.to_frame().to_dict("records")
    assert bought["cost"] == 0.0
    assert bought["topics_so_deep"] == 3
    assert bought["sd"] == pilot["sd"]


def test_the_number_of_topics_is_the_smallest_that_serves(by_hand):
    for judgments in (4, 8):
        topics = by_hand.topics_for(judgments)
        row = by_hand.judgments_per_topic.index(judgments)

        def confidence(n, row=row):
            cost = by_hand.cost(n, by_hand.judgments_per_topic[row])
            made = replace(
                by_hand,
                judgments_per_topic=by_hand.judgments_per_topic[row : row + 1],
                unjudged=by_hand.unjudged[row : row + 1],
                budget=cost,
            )
            return made.to_frame().confidence[1]

        assert confidence(topics) >= 0.95 > confidence(topics - 1)
    assert replace(by_hand, population=False, difference=0.001).topics_for(8) is None


def test_new_topics_may_be_worse_than_the_deep_pilot(by_hand):
    """The pilot serves already, and a few shallow topics beside it do not."""
    deep = replace(by_hand, between=np.zeros(2), unjudged_pilot=np.full(2, 1e-4), confidence=0.9)
    asked = replace(deep, difference=deep.to_frame().separates[0] * 1.001)
    assert asked.sd(4, 4).max() > asked.sd(3, 4).max()
    assert asked.topics_for(4) == 3


def test_shares_are_those_of_drawn_outcomes(by_hand):
    rng = np.random.default_rng(1)
    before = (by_hand.unjudged_pilot + by_hand.between) / 3
    after = by_hand.sd(9, 4)
    moved = np.sqrt(before - after**2)
    drawn = by_hand.expected + moved * rng.normal(size=(200_000, 2))
    sure = t.cdf(np.abs(drawn) / after, 8)
    confident, right = by_hand.shares(9, 4)
    assert confident == pytest.approx((sure >= 0.95).mean(), abs=0.004)
    assert right == pytest.approx(sure.mean(), abs=0.002)


@pytest.mark.parametrize("population", [False, True])
def test_more_never_foretells_less(small, population):
    made = of(small, population=population)
    topics = range(4, 9)
    sd = np.array([[made.sd(t, n) for n in (2, 4, 8)] for t in topics])
    shares = np.array([[made.shares(t, n)[1] for n in (2, 4, 8)] for t in topics])
    for axis in (0, 1):
        assert (np.diff(sd, axis=axis) <= 1e-12).all()  # rounding differs by machine
        assert (np.diff(shares, axis=axis) >= -1e-6).all()
    assert sd[0, 0].max() > sd[-1, -1].max() > 0
    rich = replace(made, budget=80.0).to_frame()
    assert (rich.separates <= made.to_frame().separates).all()
    assert (rich.separates < made.to_frame().separates).any()


def test_the_pilot_is_what_compare_says_of_it(small):
    """But for what models get wrong between judgments, which a plan does not foretell."""
    pool, pilot, _ = small
    made = of(small)
    fitted = rb.fit(pool, pilot, model="rtc:map")
    lasting = rb.Estimand().residual_of(pool.n_systems, pool.n_topics)
    said = rb.compare(pool, fitted, rb.Estimand(residual=lasting), form="normal")
    assert made.to_frame().sd[0] == pytest.approx(np.sqrt((said.sd_difference**2).mean()))
    assert made.expected == pytest.approx(said.expected_difference)


@pytest.mark.parametrize("population", [False, True])
def test_no_judgment_takes_a_residual_off(small, population):
    """One that is a number stays on however many topics; by the rule a part goes by topics."""
    without, fixed, ruled = (
        of(small, population=population, estimand=rb.Estimand(residual=residual))
        for residual in (0.0, 0.05, "auto")
    )
    topics = without.most_topics if not population else 800
    left = [made.sd(topics, 8) ** 2 for made in (without, fixed, ruled)]
    apart = unlikeness(likeness(small[0]))
    np.testing.assert_allclose(left[1] - left[0], apart * 0.05**2)
    residual = expected_residual("AP", small[0].n_systems, topics)
    np.testing.assert_allclose(left[2] - left[0], apart * residual**2)


def test_topics_of_the_estimand(small):
    pool = small[0]
    made = of(small, estimand=rb.Estimand(topics=pool.topics[1:6]))
    assert (made.topics_of_runs, made.pilot) == (5, (3, 3, 3))
    part = rb.plan(
        pool.select_topics(pool.topics[1:6]),
        small[1],
        40,
        algorithm=JUDGE,
        judgments_per_topic=[2, 4, 8],
        repetitions=1,
    )
    assert made.to_frame().sd.tolist() == part.to_frame().sd.tolist()


def test_the_seed_decides(small):
    first, again, other = of(small, seed=1), of(small, seed=1), of(small, seed=2)
    assert first.to_dict() == again.to_dict()
    assert (first.unjudged != other.unjudged).any()


def test_progress_is_told_from_the_start(small):
    told = []
    of(small, repetitions=2, progress=lambda *step: told.append(step))
    total = 2 * 4 * 8
    assert told[0] == ("simulated judgments", 0, total)
    assert {done for _, done, _ in told} == set(range(total + 1))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_one_pair_is_a_part_of_all(small):
    pool = small[0]
    every, one = of(small), of(small, pair=(pool.systems[2], pool.systems[1]))
    assert (one.a, one.b) == ((pool.systems[1],), (pool.systems[2],))
    row = list(zip(every.a, every.b, strict=True)).index((one.a[0], one.b[0]))
    assert one.sd(6, 4)[0] == every.sd(6, 4)[row]


def test_grades_below_the_level_are_no_documents_to_judge():
    """The same judgments as relevance, or as grades of 2 on: the same simulated judging."""
    data = rb.simulate(n_topics=4, n_systems=4, documents=100, depth=30, seed=2)
    judged = {t: dict(list(of.items())[:25]) for t, of in data.qrels.items()}
    graded = {t: {d: g + 1 for d, g in of.items()} for t, of in judged.items()}
    left = []
    for of, level in ((judged, 1), (graded, 2)):
        qrels, asked = rb.Qrels(of), rb.Estimand(depth=10, relevance_level=level)
        judgments = asked.judgments(asked.pool(data.runs, qrels), qrels)
        pilot, pool = rb.fit(judgments.pool, judgments, model="rtc:map"), asked.pool(data.runs)
        assert judgments.pool.n_documents > pool.n_documents + 10
        sought = pool.topics, parse_algorithm(JUDGE), rb.Estimand(depth=10), [1, 2]
        left.append(unjudged_variance(pilot, pool, *sought, seed=0))
    np.testing.assert_array_equal(*left)


def test_qrels_serve_as_judgments(small):
    pool, pilot, _ = small
    with pytest.warns(rb.CollectionWarning, match="4 topics of 8 without a judgment"):
        made = rb.plan(
            pool,
            pilot.to_qrels(),
            40,
            algorithm=JUDGE,
            judgments_per_topic=[2, 4, 8],
            repetitions=1,
        )
    assert made.pilot == (3, 3, 3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.5}, "the budget is 0.5, and one judgment costs 1"),
        ({"judgment_cost": 50.0}, "one judgment costs 50"),
        ({"judgment_cost": 0.0}, "judgment_cost is 0"),
        ({"topic_cost": -1.0}, "topic_cost is -1"),
        ({"difference": 0.0}, "difference is 0"),
        ({"difference": 3.0}, "difference is 3.0; give one above 0 and below 1, the highest AP"),
        ({"confidence": 0.5}, "confidence is 0.5"),
        ({"judgments_per_topic": []}, "no judgments_per_topic"),
        ({"judgments_per_topic": [0]}, "judgments_per_topic"),
        ({"repetitions": 0}, "repetitions"),
        ({"pair": ("nobody", "else")}, "no system is named 'nobody'"),
        ({"pair": "A,B"}, r"pair is 'A,B'; give two systems, as \(A, B\)"),
        ({"pair": "least"}, "pair is 'least'; give two systems"),
        ({"pair": "A"}, "pair is 'A'; give two systems"),
        ({"pair": ("A",)}, r"pair is \('A',\); give two systems"),
        ({"estimand": rb.Estimand(topics="judged")}, "judged topics alone"),
        ({"estimand": "AP(rel=2)"}, "simulates labels without grades, .* at relevance level 2"),
        ({"algorithm": "ip"}, "has no model"),
        ({"algorithm": "mtc/nonrelevant"}, "has no model"),
    ],
)
def test_what_is_refused(small, options, message):
    pool, pilot, _ = small
    budget = options.pop("budget", 40)
    with pytest.raises(rb.InputError, match=message):
        rb.plan(pool, pilot, budget, **{"algorithm": JUDGE} | options)


def test_no_more_judgments_are_planned_than_a_topic_has_documents(small):
    pool, pilot, _ = small
    largest = int(np.bincount(pool.topic_of).max())
    asked = {"algorithm": JUDGE, "repetitions": 1}
    made = rb.plan(pool, pilot, 40, judgments_per_topic=[2, largest + 1, 10 * largest], **asked)
    assert made.judgments_per_topic == (2, largest)


@pytest.mark.parametrize(("topics", "population"), [(0, False), (1, True)])
def test_a_pilot_needs_topics(small, topics, population):
    pool, pilot, _ = small
    few = pilot.on(pool.select_topics(pool.topics[:1])) if topics else rb.Judgments.none(pool)
    with pytest.raises(rb.InputError, match="no topic" if not topics else "1 topic"):
        rb.plan(pool, few, 40, population=population, algorithm=JUDGE)


def test_what_is_separated_is_told_from_what_was_asked_for(by_hand):
    """No plan separates d, and the best separates d: such words differ in a later digit."""
    separates = min(by_hand._separated(each) for each in by_hand.choices()[1:])
    just_below = replace(by_hand, difference=separates * (1 - 1e-5))
    text = just_below.sentence.split("which separates ")[1].split(" at ")[0]
    assert float(text) > just_below.difference


def test_what_a_plan_does_not_know(by_hand):
    with pytest.raises(rb.InputError, match="5 judgments a topic were not simulated"):
        by_hand.sd(5, 5)
    with pytest.raises(rb.InputError, match="give 3 to 10"):
        replace(by_hand, population=False).sd(11, 4)


def test_the_sentence(by_hand):
    # what was asked for, the budget, comes first
    assert by_hand.sentence.startswith("Of 20 more, 19 bring 6 topics, ")
    assert " To separate 0.1 at 0.95: " in by_hand.sentence
    assert by_hand.sentence in repr(by_hand)
    shown = html.unescape(by_hand._repr_html_())
    assert by_hand.sentence in shown
    assert "topics needed" in shown
    assert "already" in replace(by_hand, difference=1.0).sentence
    never = replace(by_hand, difference=0.001, population=False).sentence
    assert "No plan of at most 8 judgments on each of 10 topics separates 0.001" in never
