"""Judge or trust: the gain of an action against loops over pairs and exact entropies."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

import rtc_bayes as rb
from rtc_bayes.judging.learning import Learning, rates, told_by_label
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.analytic import gradient_on_pool
from tests.pools import POOL_ALONE, judge, random_pool


@pytest.fixture(scope="module")
def pool():
    return random_pool(np.random.default_rng(3), systems=4, topics=5, documents=12)


def labelled(pool, wrong=0.0, every=2, judges=("llm",)):
    """Labels of every second document, of which a share is wrong; three in ten are relevant."""
    rng = np.random.default_rng(5)
    rows = np.arange(0, pool.n_documents, every)
    truth = rng.random(pool.n_documents) < 0.3
    said = [truth[rows] ^ (rng.random(len(rows)) < wrong) for _ in judges]
    topics = [pool.topics[t] for t in pool.topic_of[rows]] * len(judges)
    names = np.repeat(judges, len(rows)).tolist()
    docnos = pool.docnos[rows].tolist() * len(judges)
    return rb.Labels.of(topics, docnos, names, np.concatenate(said).astype(int))


def compared(pool, judgments, estimand=POOL_ALONE, draws=1):
    unjudged = np.random.default_rng(0).beta(3, 7, (draws, 1)) if draws > 1 else 0.3
    p = np.where(judgments.judged, np.nan_to_num(judgments.labels), unjudged)
    return rb.compare(pool, rb.Relevance.from_values(pool, p[None] if draws > 1 else p), estimand)


def expected_entropy(mean, variance, removed):
    """Expected entropy of a normal difference's sign, some of its variance removed."""
    moved = np.linspace(-8.0, 8.0, 4001)
    weight = np.exp(-(moved**2) / 2)
    after = ndtr((mean + np.sqrt(removed) * moved) / np.sqrt(variance - removed))
    after = np.clip(after, 1e-15, 1 - 1e-15)
    entropies = -after * np.log(after) - (1 - after) * np.log1p(-after)
    return weight @ entropies / weight.sum()


@pytest.mark.parametrize(
    ("estimand", "draws"), [(POOL_ALONE, 1), (rb.Estimand(residual=0.02), 1), (POOL_ALONE, 60)]
)
def test_a_judgment_gains_what_the_sign_and_it_have_in_common(pool, estimand, draws):
    """By covariances of all documents and scores at once, and integrals over what is told."""
    judgments = judge(pool, 10)
    comparison = compared(pool, judgments, estimand, draws)
    actions = rb.next_actions(comparison, judgments, {"human": 2.0}, count=6)
    setting = comparison.setting
    values = np.asarray(setting.values, dtype=float)
    p = values.mean(axis=0)
    gradient = gradient_on_pool(setting.pool, parse_measure("AP"), p)
    own = (values * (1 - values)).mean(axis=0)
    scores = setting.table("plugin").mean_expected
    apart, moved = values - p, scores - scores.mean(axis=0)
    of_documents = apart.T @ apart / len(values) + np.diag(own)
    of_scores = gradient * own + moved.T @ apart / len(values)
    chance = moved.T @ moved / len(values) ** 2
    at = zip(actions.topic, actions.docno, strict=True)
    rows = [int(setting.pool.locate(topic, [docno])[0]) for topic, docno in at]
    before = np.zeros(len(setting.pairs))
    for n, document in enumerate(rows):
        first, gained = rows[: n + 1], []
        for k, (a, b) in enumerate(setting.pairs):
            c = of_scores[a] - of_scores[b]
            removed = c[first] @ np.linalg.solve(of_documents[np.ix_(first, first)], c[first])
            left = of_documents[document, document]
            if n:
                with_past = of_documents[np.ix_(rows[:n], [document])][:, 0]
                past = of_documents[np.ix_(rows[:n], rows[:n])]
                left -= with_past @ np.linalg.solve(past, with_past)
            by_chance = chance[a, a] + chance[b, b] - 2 * chance[a, b]
            by_chance *= (apart[:, document] ** 2).mean() / left
            mean, variance = comparison.expected_difference[k], comparison.sd_difference[k] ** 2
            # the slope of what is gained, where the actions before it are done
            step = 1e-4 * variance
            ends = [expected_entropy(mean, variance, before[k] + s) for s in (0.0, step)]
            gained.append((removed - before[k] - by_chance) * (ends[0] - ends[1]) / step)
            before[k] = removed
        assert actions.gain[n] == pytest.approx(np.mean(gained), rel=0.02)
        assert actions.gain_per_cost[n] == pytest.approx(actions.gain[n] / 2)
    judged = {(topic, docno) for topic, of in judgments.to_qrels().items() for docno in of}
    assert judged.isdisjoint(zip(actions.topic, actions.docno, strict=True))


def test_the_best_document_comes_first(pool):
    judgments = judge(pool, 10)
    comparison = compared(pool, judgments, draws=60)
    best = rb.next_actions(comparison, judgments, {"human": 1}, count=1)
    gains = Learning(comparison).gains()
    assert best.gain[0] == gains.max() > np.median(gains[gains > 0])


def test_a_perfect_label_is_a_judgment_and_a_label_by_lot_is_nothing():
    p = np.array([0.02, 0.3, 0.9])
    assert told_by_label(p, 1.0, 0.0) == pytest.approx(np.ones(3))
    assert told_by_label(p, 0.4, 0.4) == pytest.approx(np.zeros(3))
    # by counting what a label and relevance have in common
    of_relevant, of_others = 0.8, 0.15
    joint = np.array(
        [p * of_relevant, p * (1 - of_relevant), (1 - p) * of_others, (1 - p) * (1 - of_others)]
    )
    both = joint[0] - (joint[0] + joint[1]) * (joint[0] + joint[2])
    says = joint[0] + joint[2]
    correlation = both / np.sqrt(p * (1 - p) * says * (1 - says))
    assert told_by_label(p, of_relevant, of_others) == pytest.approx(correlation**2)


def test_rates_count_labels_by_the_chance_that_they_are_right():
    p, said = np.array([0.9, 0.5, 0.1, 0.0]), np.array([1, 1, 0, 0])
    assert rates(p, said) == pytest.approx(((1 + 1.4) / (2 + 1.5), (1 + 0.6) / (2 + 2.5)))


def test_labels_are_of_documents_that_the_judge_has_not_labelled(pool):
    labels = labelled(pool, wrong=0.1, judges=("ann", "bob"))
    judgments = judge(pool, 10).with_judge_labels(labels)
    comparison = compared(pool, judgments)
    costs = {"ann": 0.1, "bob": 0.2}
    actions = rb.next_actions(comparison, judgments, costs, count=10_000)
    assert set(actions.action) == {"label"}
    known = set(labels.pair_ids())
    assert known.isdisjoint(zip(actions.topic, actions.docno, strict=True))
    # two judges of one quality: the one that costs half gains twice as much for it, nearly
    ann, bob = (actions[actions.judge == name].set_index(["topic", "docno"]) for name in costs)
    assert (ann.gain_per_cost / bob.gain_per_cost).median() == pytest.approx(
        2 * (ann.gain / bob.gain).median()
    )
    assert (actions.cost == actions.judge.map(costs)).all()


def test_a_judge_of_two_grades_says_relevant_by_the_higher(pool):
    judgments = judge(pool, 10).with_judge_labels(labelled(pool, wrong=0.1))
    comparison = compared(pool, judgments)
    graded = replace(judgments, relevance_level=2)
    one, two = (
        rb.next_actions(comparison, of, {"label": 1.0}, count=500) for of in (judgments, graded)
    )
    assert one.equals(two)
    assert len(one)


def test_what_nobody_can_judge_is_not_asked_of_a_person(pool):
    none = rb.Judgments.none(pool).with_judge_labels(labelled(pool))
    first = rb.next_actions(compared(pool, none), none, {"human": 1, "label": 1000}, count=3)
    assert first["action"][0] == "human"
    broken = [(row.topic, row.docno) for row in first.itertuples()][:1]
    marked = replace(none, aside=tuple(broken))
    rest = rb.next_actions(compared(pool, none), marked, {"human": 1, "label": 1000}, count=500)
    human = rest[rest["action"] == "human"]
    assert broken[0] not in set(zip(human["topic"], human["docno"], strict=True))


def test_when_all_is_judged_nothing_is_left(pool):
    judgments = judge(pool, pool.n_documents)
    with pytest.warns(rb.CollectionWarning, match="gains anything: people judged every document"):
        actions = rb.next_actions(compared(pool, judgments), judgments, {"human": 1})
    assert not len(actions)
    accepted = rb.next_actions(compared(pool, judgments), judgments, {"human": 1}, worth=1)
    assert accepted.action.tolist() == ["accept"]


def test_a_judge_who_labelled_everything_is_named_where_nothing_is_left(pool):
    judgments = judge(pool, 10).with_judge_labels(labelled(pool, every=1))
    said = "no action gains anything: llm labelled every document"
    with pytest.warns(rb.CollectionWarning, match=said):
        assert not len(rb.next_actions(compared(pool, judgments), judgments, {"llm": 1}))


def test_a_judge_turned_round_is_asked_for_no_label(pool):
    """The others are; its cost is no error."""
    rows = np.arange(0, pool.n_documents, 2)
    judged = rb.Judgments.from_labels(pool, rows[:20], np.arange(20) % 2)
    topics, docnos = [pool.topics[t] for t in pool.topic_of[rows]], pool.docnos[rows].tolist()
    turned = rb.Labels.of(topics, docnos, ["llm"] * len(rows), (np.arange(len(rows)) + 1) % 2)
    judgments = judged.with_judge_labels(turned)
    comparison = compared(pool, judgments)
    for costs, options, actions in (
        ({"llm": 0.1, "human": 1}, {}, {"human"}),
        ({"label": 0.1, "human": 1}, {}, {"human"}),
        ({"label": 0.1}, {}, set()),
        ({"llm": 0.1}, {"worth": 1}, {"accept"}),
    ):
        with pytest.warns(
            rb.CollectionWarning, match="no label is asked of llm, whose labels go against"
        ):
            ranked = rb.next_actions(comparison, judgments, costs, **options)
        assert set(ranked.action) == actions


def test_labels_that_a_judge_gives_again_are_no_further_judge(pool):
    once = labelled(pool, wrong=0.1, judges=("ann", "bob"))
    rows = np.arange(once.n_labels)
    some_of_bob, of_ann = rows[once.judge_of == 1][:5], rows[once.judge_of == 0]
    judgments = judge(pool, 10)
    comparison = compared(pool, judgments)
    first, again = (
        rb.next_actions(
            comparison,
            judgments.with_judge_labels(
                once.keep(np.concatenate([some_of_bob, *[of_ann] * times]))
            ),
            {"bob": 1.0},
            count=500,
        )
        for times in (1, 3)
    )
    assert first.equals(again)


def test_one_more_label_gains_a_quarter_of_a_first_one(pool):
    two = labelled(pool, wrong=0.1, judges=("ann", "bob"))
    judgments = judge(pool, 10)
    comparison = compared(pool, judgments)
    one = two.select(judges=["ann"])
    # bob has labelled one document that ann has not, so that he is a judge with labels
    bare = next(d for d in range(pool.n_documents) if d % 2 and not judgments.judged[d])
    topic, docno = pool.topics[pool.topic_of[bare]], pool.docnos[bare]
    ids = [*one.pair_ids(), (topic, docno)]
    names = ["ann"] * one.n_labels + ["bob"]
    labels = rb.Labels.of(*zip(*ids, strict=True), names, [*one.grade.tolist(), 1])
    actions = rb.next_actions(
        comparison,
        judgments.with_judge_labels(labels),
        {"bob": 1.0},
        count=10_000,
    )
    p, level = 0.3, 1
    told = told_by_label(np.array([p]), *rates(np.array([p]), np.array([level])))[0]
    has_one, learning, counts = set(one.pair_ids()), Learning(comparison), {}
    for row in actions.itertuples():
        (d,) = pool.locate(row.topic, [row.docno])
        share = told / 4 if (row.topic, row.docno) in has_one else told
        counts[share] = counts.get(share, 0) + 1
        assert row.gain == pytest.approx(learning.gains()[d] * share)
        learning.learn(d, share)
    assert len(counts) == 2
    assert min(counts.values()) > 5


def test_what_is_not_worth_its_cost_comes_after_accept(pool):
    judgments = judge(pool, 10)
    comparison = compared(pool, judgments)
    actions = rb.next_actions(comparison, judgments, {"human": 1}, count=500)
    middle = float(actions.gain.median())
    ranked = rb.next_actions(comparison, judgments, {"human": 1}, worth=1 / middle, count=500)
    place = ranked.index[ranked.action == "accept"][0]
    assert 0 < place < len(ranked) - 1
    assert (ranked.gain[:place] > middle).all()
    assert (ranked.gain[place + 1 :] <= middle).all()


@pytest.mark.parametrize(
    ("costs", "options", "message"),
    [
        ({}, {}, "no costs"),
        ({"human": 0}, {}, "the cost of human is 0"),
        ({"human": "1"}, {}, "the cost of human is '1'"),
        ({"human": True}, {}, "the cost of human is True"),
        ({"llama": 1}, {}, "a cost of 'llama'"),
        ({"label": 1}, {}, "there are none"),
        ({"human": 1}, {"worth": -1}, "worth is -1"),
        ({"human": 1}, {"count": 0}, "count is 0"),
    ],
)
def test_what_cannot_be_weighed_is_refused(pool, costs, options, message):
    judgments = judge(pool, 5)
    comparison = compared(pool, judgments)
    with pytest.raises(rb.InputError, match=message):
        rb.next_actions(comparison, judgments, costs, **options)


def test_no_judged_document_is_asked_for(pool):
    """Judgments made since the comparison, of its pool or of another one: found by docno."""
    comparison = compared(pool, judge(pool, 5))
    since = judge(pool, 20)
    shuffled = pool.select(pool.systems[:2]).select_topics(pool.topics[2:])
    elsewhere = judge(shuffled, 6)
    for judgments in (since, elsewhere, since.with_judge_labels(labelled(pool))):
        judged = {judgments.pool.pair_of(d) for d in judgments.order}
        costs = {"human": 1} if judgments.judge_labels is None else {"human": 1, "label": 0.01}
        actions = rb.next_actions(comparison, judgments, costs, count=500)
        assert len(actions) > 10
        assert not judged & set(zip(actions.topic, actions.docno, strict=True))
    everything = judge(pool, pool.n_documents)
    with pytest.warns(rb.CollectionWarning, match="people judged every document"):
        assert not len(rb.next_actions(comparison, everything, {"human": 1}))


def test_judgments_of_something_else_are_refused(pool):
    judgments = judge(pool, 5)
    fitted = rb.fit(pool, judgments, model="hierarchical:map")
    comparison = rb.compare(pool, fitted, POOL_ALONE)
    with pytest.raises(rb.InputError, match="take grades from 2 on for relevant"):
        rb.next_actions(comparison, replace(judgments, relevance_level=2), {"human": 1})
    other = rb.simulate(n_topics=2, n_systems=2, seed=1)
    foreign = rb.Judgments.from_qrels(rb.Pool.from_runs(other.runs), other.qrels)
    with pytest.raises(rb.InputError, match="no topic of the comparison is judged"):
        rb.next_actions(comparison, foreign, {"human": 1})


def test_gains_by_grade_of_graded_judgments_are_refused():
    """The message says that it is for the grades, and what to do."""
    made = rb.simulate(n_topics=3, n_systems=3, seed=1)
    graded = rb.Qrels({t: {d: 2 * g for d, g in made.qrels[t].items()} for t in made.qrels})
    pool = rb.Pool.from_runs(made.runs, depth=10)
    judgments = rb.Judgments.from_qrels(pool, graded)
    few = judgments.keep(judgments.order[:15])
    fitted = rb.fit(pool, few, model="hierarchical:map")
    comparison = rb.compare(pool, fitted, "nDCG@10")
    with pytest.raises(rb.InputError, match=r"with grades above 1.*as AP or P@10"):
        rb.next_actions(comparison, few, {"human": 1})
    with pytest.warns(rb.CollectionWarning, match="level 2 is above the highest grade"):
        binary = rb.Judgments.from_qrels(pool, made.qrels, relevance_level=2).keep(few.order)
    by_level = rb.compare(pool, rb.fit(pool, binary, model="hierarchical:map"), "nDCG@10")
    with pytest.raises(
        rb.InputError, match=r"with relevance level 2, so .*; leave relevance_level"
    ):
        rb.next_actions(by_level, binary, {"human": 1})
    assert len(rb.next_actions(rb.compare(pool, fitted, "P@10"), few, {"human": 1}))


def test_measures_without_moments_are_refused(pool):
    judgments = judge(pool, 5)
    comparison = compared(pool, judgments, rb.Estimand("ERR", scope="pool"))
    with pytest.raises(rb.InputError, match="moments of ERR are not known"):
        rb.next_actions(comparison, judgments, {"human": 1})


def test_the_command_says_what_python_says(pool, tmp_path, capsys, monkeypatch):
    from rtc_bayes.cli import main

    made = rb.simulate(n_topics=4, n_systems=4, seed=2)
    rb.write_runs(made.runs, tmp_path / "runs")
    whole = rb.Pool.from_runs(made.runs, depth=20)
    few = rb.Judgments.from_qrels(whole, made.qrels)
    few = few.keep(few.order[:12])
    rb.write_qrels(few.to_qrels(), tmp_path / "few.qrels")
    labels = labelled(whole, wrong=0.2)
    rows = "".join(
        f"{topic} 0 {docno} {grade}\n"
        for (topic, docno), grade in zip(labels.pair_ids(), labels.grade, strict=True)
    )
    (tmp_path / "llm.txt").write_text(rows)
    qrels, llm = tmp_path / "few.qrels", tmp_path / "llm.txt"
    common = f"next {tmp_path}/runs --qrels {qrels} --labels {llm} --depth 20 --quiet"
    options = "--algorithm hierarchical:map --costs human=1 --costs label=0.01 --format csv"
    main([*common.split(), *options.split(), "--worth", "5"])
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "action,topic,docno,judge,relevant,gain,cost,gain_per_cost"
    assert len(told) == 11
    shown = options.replace("csv", "table").split()
    assert main([*common.split(), *shown]) == 0
    assert "what the model itself expects" in " ".join(capsys.readouterr().out.split())
    as_json = [*common.split(), *options.replace("csv", "json").split(), "--worth", "0.001"]
    assert main(as_json) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["action"], first["relevant"], first["gain"]) == ("accept", None, 0.0)
    for bad, message in (
        ("--costs 1", "cannot use --costs 1"),
        ("--costs human=1,label=0.02", "give --costs once for each, as --costs human=1 --costs la"),
        ("--costs human=x", "cannot use --costs human=x"),
        ("--costs human=1 --pair least", "--pair says nothing with --costs; give the one, and"),
        ("--worth 3", "--worth says nothing without --costs; give --costs, too, or leave it out"),
        ("--costs human=1 --algorithm ip", "has no model"),
        ("--costs human=1 --costs human=2", "--costs of human comes twice"),
        ("--costs nobody=1", "a cost of 'nobody', who has no labels"),
        ("--costs human=0", "the cost of human is 0.0"),
        ("--costs human=1 --worth 0", "worth is 0.0"),
        ("--costs human=1 --measure ERR@5", "the moments of ERR@5 are not known"),
        (
            "--costs human=1 --measure nDCG@5 --relevance-level 2",
            "known with relevance level 2, so",
        ),
    ):
        # before any model is fitted
        with monkeypatch.context() as patch:
            patch.setattr("rtc_bayes.relevance.fit", None)
            assert main([*common.split(), *bad.split()]) == 2
        assert message in capsys.readouterr().err
    runs = rb.read_runs(tmp_path / "runs")
    read = rb.read_qrels(qrels)
    estimand = rb.Estimand(depth=20)
    given = rb.Pool.from_runs(runs, depth=20, score_depth=1000, qrels=read)
    judgments = rb.Judgments.from_qrels(given, read).with_judge_labels(rb.read_labels(llm))
    with pytest.warns(rb.CollectionWarning, match="neither judgment nor label"):
        fitted = rb.fit(given, judgments, model="hierarchical:map")
    comparison = rb.compare(given, fitted, estimand)
    actions = rb.next_actions(comparison, judgments, {"human": 1, "label": 0.01}, worth=5)
    assert actions.docno.tolist() == [line.split(",")[2] for line in told[1:]]
    gains = [float(line.split(",")[5]) for line in told[1:]]
    assert actions.gain.to_numpy() == pytest.approx(gains, rel=1e-6)
