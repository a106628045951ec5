"""A budget in stages: spent exactly, nothing twice, estimates unbiased, held-out runs unread."""

import json
import shlex

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.errors import InputError
from rtc_bayes.measures.sampling import permanent_numbers
from rtc_bayes.measures.staged import drawn_more, expected_more
from rtc_bayes.store.shown import in_words
from rtc_bayes.topics.objective import Objective, centred
from rtc_bayes.topics.solvers.box import box
from rtc_bayes.topics.staged_allocation import STRATEGIES
from rtc_bayes.topics.unjudged import unjudged_relevant

# options of a strategy
TAKEN = {
    "ra": {"by": "logistic"},
    "qdp": {"by": "logistic"},
    "qdp*": {"by": "logistic", "best": 4},
}
SAMPLINGS = ("rank", "depth", "uniform", "pool")


@pytest.fixture(scope="module")
def data():
    return rb.simulate(n_topics=9, n_systems=8, seed=5)


@pytest.fixture(scope="module")
def pool(data):
    return rb.Pool.from_runs(data.runs, depth=20)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_budget_is_spent_exactly_and_no_document_twice(data, pool, strategy, sampling):
    options = TAKEN.get(strategy, {}) | {"strategy": strategy, "sampling": sampling}
    spent = rb.allocate(pool, data.qrels, 101, seed=3, **options)
    assert spent.spent == 101
    steps = [sum(stage.judged.values()) for stage in spent.stages]
    assert steps == [50, 26, 25]
    order = spent.sample.judgments.order
    assert len(set(order.tolist())) == 101
    # a stage is what one stops at: the first stage of another plan, and the same documents
    alone = rb.allocate(
        pool, data.qrels, 50, strategy="uniform", stages=1, sampling=sampling, seed=3
    )
    assert set(alone.sample.judgments.order.tolist()) == set(order[:50].tolist())
    for stage, first, last in zip(spent.stages, [0, 50, 76], [50, 76, 101], strict=True):
        topics = np.bincount(pool.topic_of[order[first:last]], minlength=pool.n_topics)
        assert topics.tolist() == list(stage.judged.values())
        assert all(stage.weights[topic] > 0 for topic, n in stage.judged.items() if n)
    if sampling == "pool":
        assert set(spent.sample.probability.tolist()) == {0.0, 1.0}
    else:
        drawn = permanent_numbers(pool, seed=3) < spent.sample.probability
        np.testing.assert_array_equal(drawn, spent.sample.judgments.judged)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_with_all_judged_scores_are_exact_and_the_rest_of_the_budget_is_reported(
    data, pool, sampling
):
    spent = rb.allocate(pool, data.qrels, 5000, strategy="uniform", sampling=sampling)
    assert spent.spent == pool.n_documents
    assert "of a budget of 5,000" in repr(spent)
    assert (spent.sample.probability == 1.0).all()
    assert (spent.scores.variance == 0.0).all()
    judged = rb.Judgments.from_qrels(pool, spent.to_prels().qrels())
    exact = rb.moments(pool, np.nan_to_num(judged.labels), pairs="none").expected[0]
    np.testing.assert_allclose(spent.scores.mean, exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sampling", ["rank", "uniform"])
def test_stages_leave_counts_of_relevant_documents_unbiased(data, pool, sampling):
    relevant = np.zeros(pool.n_topics)
    for t, topic in enumerate(pool.topics):
        docnos = pool.docnos[pool.documents(t)]
        relevant[t] = sum(data.qrels[topic].get(docno, 0) > 0 for docno in docnos)
    errors = []
    for seed in range(200):
        spent = rb.allocate(pool, data.qrels, 90, strategy="uniform", sampling=sampling, seed=seed)
        errors.append(rb.horvitz_thompson(spent.sample).estimate - relevant)
    mean, error = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / 200**0.5
    assert (np.abs(mean) < 3.5 * error + 1e-12).all()
    # a sample taken for complete would miss most of them
    assert np.mean(np.std(errors, axis=0)) < relevant.mean()


@pytest.mark.parametrize(
    ("draw", "first", "second"),
    [
        (drawn_more, np.ones(6), np.ones(6)),
        (drawn_more, np.array([1.0, 1.0, 1.0, 3.0, 3.0, 0.5]), None),
        (lambda p, u, w, n: expected_more(p, w, n), np.ones(6), np.array([1.0, 1, 1, 3, 3, 0])),
    ],
)
def test_documents_are_drawn_with_the_probabilities_that_are_stated(draw, first, second):
    counted, held, rng = [], [], np.random.default_rng(1)
    for _ in range(4000):
        u = rng.random(6)
        p = one = draw(np.zeros(6), u, first, 2)
        if second is not None:
            p = draw(one, u, second, 2)
            assert ((u < p) >= (u < one)).all()
        held.append((u < p).sum())
        counted.append(np.where(u < p, 1.0 / p, 0.0))
    # one over the probability, or 0, is 1 on average for every document
    mean, error = np.mean(counted, axis=0), np.std(counted, axis=0, ddof=1) / 4000**0.5
    assert (np.abs(mean - 1.0) <= 3.5 * error + 1e-12).all()
    asked = 2 if second is None else 4
    assert np.mean(held) == pytest.approx(asked, abs=3.5 * np.std(held) / 4000**0.5 + 1e-12)


def test_a_topic_that_is_nearly_used_up_biases_nothing():
    """Of 8 and 30 documents, all relevant; shares that go by what was drawn estimated 8.42."""
    rankings = {"A": [f"a{n}" for n in range(8)], "B": [f"b{n}" for n in range(30)]}
    other = {"A": rankings["A"][::-1], "B": rankings["B"]}
    runs = rb.Runs([rb.Run.from_rankings("x", rankings), rb.Run.from_rankings("y", other)])
    pool = rb.Pool.from_runs(runs)
    qrels = rb.Qrels({topic: dict.fromkeys(names, 1) for topic, names in rankings.items()})
    options = {"strategy": "uniform", "sampling": "uniform", "size": "expected"}
    made = [
        rb.horvitz_thompson(rb.allocate(pool, qrels, 22, seed=seed, **options).sample).estimate
        for seed in range(400)
    ]
    error = np.std(made, axis=0, ddof=1) / 400**0.5
    assert (np.abs(np.mean(made, axis=0) - [8, 30]) <= 3.5 * error + 1e-9).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_topics_are_judged_alike_over_all_stages(data, pool, sampling):
    """What is over in each stage went to the same first topics: 9 on the first, 3 on the last."""
    spent = rb.allocate(pool, data.qrels, 65, strategy="uniform", sampling=sampling, stages=6)
    judged = np.bincount(pool.topic_of[spent.sample.judgments.order], minlength=pool.n_topics)
    assert sorted(set(judged.tolist())) == [7, 8]


@pytest.mark.parametrize("options", [{"strategy": "uniform"}, {"strategy": "ra"}])
def test_stages_with_something_over_leave_estimates_unbiased(data, pool, options):
    if options["strategy"] == "ra":
        options = options | {"gain_weight": 0.0}
    names = zip(pool.topic_of.tolist(), pool.docnos, strict=True)
    relevant = sum(data.qrels[pool.topics[t]].get(docno, 0) > 0 for t, docno in names)
    made = [
        rb.horvitz_thompson(
            rb.allocate(pool, data.qrels, 155, stages=4, seed=seed, **options).sample
        ).estimate.sum()
        for seed in range(100)
    ]
    assert np.mean(made) == pytest.approx(relevant, abs=3.5 * np.std(made, ddof=1) / 100**0.5)


@pytest.mark.parametrize("size", ["exact", "expected"])
@pytest.mark.parametrize("strategy", ["sa", "ra", "qdp", "qdp*"])
def test_what_is_chosen_and_used_up_leaves_nothing_unspent(data, pool, strategy, size):
    """Of 460, sa and qdp left 17, and qdp* 186."""
    options = {"best": 2} if strategy == "qdp*" else {}
    if strategy != "sa":
        options["gain_weight"] = 0.0
    budget = pool.n_documents - 10
    spent = rb.allocate(pool, data.qrels, budget, strategy=strategy, size=size, **options)
    assert spent.sample.probability.sum() >= (budget - 1e-6 if size == "expected" else 0)
    if size == "exact":
        assert spent.spent == budget
    if strategy in ("sa", "qdp*"):
        assert len(spent.stages) == 4
        assert set(spent.stages[-1].weights.values()) == {1.0}
        assert spent.stages[-1].systems == pool.systems
    every = rb.allocate(pool, data.qrels, 2 * budget, strategy=strategy, size=size, **options)
    assert every.spent == pool.n_documents


def test_a_first_stage_that_tells_no_systems_apart_is_said_to_be_too_small(data):
    same = {topic: [f"a{n}" for n in range(6)] for topic in data.runs.topics}
    worse = {topic: [f"b{n}" for n in range(6)] for topic in same}
    runs = {"x": same, "y": same, "z": worse}
    pool = rb.Pool.from_runs(rb.Runs(rb.Run.from_rankings(*each) for each in runs.items()))
    qrels = rb.Qrels({topic: {"a0": 1} for topic in same})
    says = (
        "after stage 1, with 20 documents judged, the 2 best systems .*; give a larger first part"
    )
    with pytest.raises(InputError, match=says):
        rb.allocate(pool, qrels, 40, strategy="qdp*", best=2, by="zobel")


def test_a_budget_spent_on_average(data, pool):
    spent = [
        rb.allocate(pool, data.qrels, 100, size="expected", seed=seed, by="logistic").spent
        for seed in range(40)
    ]
    assert len(set(spent)) > 5
    assert np.mean(spent) == pytest.approx(100, abs=3.5 * np.std(spent) / 40**0.5)


def test_held_out_runs_change_nothing(data):
    names = list(data.runs)[:6]
    noise = {
        topic: [f"noise-{n}" for n in range(30)] for topic in next(iter(data.runs.values())).topics
    }
    replaced = rb.Runs(
        data.runs[name] if name in names else rb.Run.from_rankings(name, noise)
        for name in data.runs
    )
    both = []
    for runs in (data.runs, replaced):
        pool = rb.Pool.from_runs(runs, depth=20).select(names)
        both.append(rb.allocate(pool, data.qrels, 120, strategy="qdp", seed=2))
    one, other = both
    assert one.to_prels() == other.to_prels()
    assert one.stages == other.stages
    np.testing.assert_array_equal(one.scores.mean, other.scores.mean)
    np.testing.assert_array_equal(one.scores.variance, other.scores.variance)
    # held-out runs are scored by the same sample, and take no part in it
    everyone = rb.Pool.from_runs(data.runs, depth=20, score_depth=20)
    scored = rb.stat_ap(rb.Sample.from_prels(everyone, one.to_prels())).scores
    rows = [scored.systems.index(name) for name in one.scores.systems]
    np.testing.assert_allclose(scored.mean[rows], one.scores.mean, rtol=0, atol=1e-12)


def test_nothing_is_read_that_is_not_drawn(data, pool):
    spent = rb.allocate(pool, data.qrels, 100, strategy="qdp*", best=4, seed=1)
    kept = {t: {d: p.relevance for d, p in rows.items()} for t, rows in spent.to_prels().items()}
    again = rb.allocate(pool, rb.Qrels(kept), 100, strategy="qdp*", best=4, seed=1)
    assert again.to_prels() == spent.to_prels()


def test_qdp_star_judges_documents_of_the_best_alone(data, pool):
    spent = rb.allocate(pool, data.qrels, 100, strategy="qdp*", best=3, seed=1)
    first, *later = spent.stages
    assert first.systems == pool.systems
    for n, stage in enumerate(later, 1):
        assert len(stage.systems) == 3
        new = spent.sample.judgments.order[[50, 75][n - 1] : [75, 100][n - 1]]
        best = pool.select(stage.systems, keep_documents=True).best_ranks
        assert (best[new] > 0).all()


def test_random_takes_as_many_topics_as_qdp(data, pool):
    counts = [
        [
            np.count_nonzero(list(stage.weights.values()))
            for stage in rb.allocate(
                pool, data.qrels, 60, strategy=strategy, gain_weight=0.0, stages=2, seed=4
            ).stages
        ]
        for strategy in ("qdp", "ra")
    ]
    assert counts[0] == counts[1]
    assert counts[0][1] < pool.n_topics


@pytest.mark.parametrize("by", ["svm", "logistic", "zobel", "topic_calibration:map"])
def test_documents_without_a_judgment_are_guessed(data, pool, by):
    sample = rb.allocate(pool, data.qrels, 120, strategy="uniform", seed=1).sample
    r = unjudged_relevant(sample, by, 0)
    left = np.bincount(pool.topic_of[~sample.judgments.judged], minlength=pool.n_topics)
    assert r.shape == (pool.n_topics,)
    assert ((r >= 0) & (r <= (np.inf if by == "zobel" else left))).all()
    assert r.sum() > 0


def test_a_topic_that_tells_nothing_has_no_weight():
    x = np.array([[0.0, 0.1, 0.2, 0.0], [0.5, 0.1, 0.4, 0.3], [1.0, 0.1, 0.3, 0.1]])
    objective = Objective(centred(x, np.full(3, 1 / 3)), np.full(3, 0.5), np.zeros(4))
    assert box([objective], budget=4).weights[1] == 0.0
    gain = np.array([0.0, 1.0, 0.0, 0.0])
    assert box([objective], budget=4, gain=gain, gain_weight=0.1).weights[1] > 0.9


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "best"}, "strategy is 'best'; give uniform, ra, sa, qdp or "),
        ({"strategy": "random"}, "strategy is 'random'; write 'ra', the word for it now"),
        ({"strategy": "subset"}, "strategy is 'subset'; write 'sa'"),
        ({"sampling": "deep"}, "sampling is 'deep'"),
        ({"sampling": "pool", "size": "expected"}, "size is 'expected' with sampling pool"),
        ({"first": 1.0}, "first is 1.0"),
        ({"stages": 0}, "stages"),
        ({"budget": 0}, "budget"),
        ({"best": 9, "strategy": "qdp*"}, "best is 9, of 8 systems"),
        (
            {"best": 3, "strategy": "sa"},
            r'sa takes no best; .* strategy="qdp\*" \(--strategy',
        ),
        ({"by": "logistic", "strategy": "uniform"}, "strategy uniform takes no by"),
        ({"gain_weight": 0.2, "strategy": "sa"}, "strategy sa takes no gain_weight"),
        (
            {"gain_weight": 0.0, "by": "logistic"},
            r"gain_weight 0.0 takes no by; .*, or give gain_weight \(--gain-weight\) above 0",
        ),
        ({"strategy": "uniform", "stages": 1, "first": 0.3}, "stages 1 takes no first; .* above 1"),
        ({"stages": 1}, "strategy qdp weights topics by the stages before, .* strategy uniform"),
        ({"best": 1, "strategy": "qdp*"}, "best"),
        ({"by": "nobody"}, "nobody"),
        ({"gain_weight": -1.0}, "gain_weight is -1.0"),
        ({"budget": 2, "first": 0.5}, "no relevant document"),
    ],
)
def test_what_cannot_be_is_refused(data, pool, options, says):
    truth = rb.Qrels({t: {} for t in pool.topics}) if options.get("budget") == 2 else data.qrels
    with pytest.raises(InputError, match=says):
        rb.allocate(pool, truth, **{"budget": 60, **options})


def test_one_system_alone_is_refused(data):
    pool = rb.Pool.from_runs(data.runs, depth=5).select(list(data.runs)[:1])
    with pytest.raises(InputError, match="one system alone"):
        rb.allocate(pool, data.qrels, 10)


def test_the_command_writes_prels_that_score_alike(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split("simulate -o sim --topics 6 --systems 5 --seed 3 --quiet")) == 0
    line = "allocate sim/runs --truth sim/qrels.txt --budget 150 --strategy qdp* --best 3"
    more = (
        "--lambda 0.2 --seed 4 --by logistic --stages 4 --write-scores scores.csv -o judged.prels"
    )
    assert main(shlex.split(f"{line} {more}")) == 0
    runs, qrels = rb.read_runs("sim/runs"), rb.read_qrels("sim/qrels.txt")
    pool = rb.Estimand().pool(runs)
    options = {"strategy": "qdp*", "best": 3, "gain_weight": 0.2, "by": "logistic", "stages": 4}
    spent = rb.allocate(pool, qrels, 150, seed=4, **options)
    assert in_words(spent) in capsys.readouterr().out
    prels = rb.read_prels("judged.prels")
    assert prels == spent.to_prels()
    back = rb.stat_ap(rb.Sample.from_prels(pool, prels)).scores
    np.testing.assert_array_equal(back.mean, spent.scores.mean)
    np.testing.assert_array_equal(rb.ScoreMatrix.from_csv("scores.csv").mean, spent.scores.mean)
    meta = json.loads((tmp_path / "judged.prels.meta.json").read_text())
    assert (meta["judged"], len(meta["stages"]), meta["meta"]["seed"]) == (150, 4, 4)
