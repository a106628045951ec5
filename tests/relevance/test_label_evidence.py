"""Labels of judges that may err: what they are worth, by brute force and against the graph."""

import warnings
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytensor
import pytest
from pools import judge, label_all, make_pool, pool_of, random_labels
from scipy.optimize import minimize
from scipy.special import expit

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments, Labels
from rtc_bayes.errors import TurnedLabelsWarning, UnlabelledWarning
from rtc_bayes.judging.held_out import HoldOutSession
from rtc_bayes.relevance import LabelEvidence, label_evidence, remarks_on_labels
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.label_systems import SPREAD, LabelledSystems
from rtc_bayes.relevance.nested_laplace import NestedLaplace
from rtc_bayes.relevance.turned_labels import turned_judges
from rtc_bayes_models.hierarchical import Design, Hierarchical
from rtc_bayes_models.robust import COEFFICIENTS, Design as RobustDesign, Robust


def log_loss(judgments, relevant, labels, documents=slice(None)):
    """Log loss of the probabilities of some documents, in nats."""
    fitted = rb.fit(judgments.pool, judgments, model="hierarchical:map", labels=labels)
    p = np.clip(fitted.relevance.values[0], 1e-9, 1 - 1e-9)
    return -np.where(relevant, np.log(p), np.log1p(-p))[documents].mean()


def simulated(wrong=0.0, seed=3, systems=6, topics=12):
    """A simulated pool, its truth, and labels of which a part is wrong."""
    made = rb.simulate(n_topics=topics, n_systems=systems, seed=seed)
    pool = rb.Pool.from_runs(made.runs, depth=20)
    topics = np.array(pool.topics, dtype=object)[pool.topic_of]
    grades = [made.qrels[t].get(d, 0) for t, d in zip(topics, pool.docnos, strict=True)]
    relevant = (np.array(grades) > 0).astype(int)
    flipped = np.random.default_rng(seed).random(pool.n_documents) < wrong
    return pool, relevant, label_all(pool, np.where(flipped, 1 - relevant, relevant))


@pytest.mark.parametrize("highest", [1, 3])
def test_the_likelihood_ratios_of_a_judge_average_to_one(highest):
    pool = make_pool()
    labels = random_labels(pool, highest=highest)
    evidence = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
    assert np.exp(evidence.score / evidence.credit).mean() == pytest.approx(1.0)
    by_grade = [evidence.score[labels.grade == g] for g in range(highest + 1)]
    assert all(np.ptp(each) == 0 for each in by_grade)
    assert (np.diff([each[0] for each in by_grade]) > 0).all()


def test_labels_are_found_by_topic_and_document():
    lists = {"one": {"1": "ab", "2": "ac"}}
    pool = pool_of(lists, depth=2)
    labels = Labels.of(["2", "1", "1", "9"], ["a", "b", "z", "a"], ["llm"] * 4, [1, 0, 1, 1])
    with pytest.warns(rb.CollectionWarning, match="1 label of 1 topic without a run"):
        evidence = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
    at = [int(pool.locate(topic, [docno])[0]) for topic, docno in (("2", "a"), ("1", "b"))]
    assert evidence.score[at[0]] > 0 > evidence.score[at[1]]
    assert np.count_nonzero(evidence.score) == 2
    unlabelled = evidence.columns(1)[:, 1]
    assert unlabelled.tolist() == [0.0, 1.0]


def test_the_labels_systems_are_the_mode_by_brute_force():
    """Relevance of every document is summed out, outcome by outcome."""
    pool = pool_of({"good": {"1": "abc"}, "bad": {"1": "dcb"}}, depth=3)
    x = np.array([1.5, 0.5, -0.5, -1.5])
    labelled = np.array([True, True, False, True])
    found = LabelledSystems.fit(pool, x, labelled)
    # what the systems add to log-odds, from the printed formulas
    ranks = pool.ranks(0).T
    curve = rb.relevance.rank_curve(ranks, pool.depth)
    both = np.hstack([ranks > 0, curve])

    def log_density(z):
        mu, m_a, m_b = np.array([-3.7, 1.0, 4.7]) + np.array([0.8, 1.5, 1.5]) * z[:3]
        effects = np.concatenate([SPREAD[0] * z[3:5], SPREAD[1] * z[5:7]])
        common = m_a * (ranks > 0).mean(axis=1) + m_b * curve.mean(axis=1)
        p = expit(mu + z[7] + common + both @ effects)[labelled]
        total = 0.0
        for outcome in product((0, 1), repeat=3):
            r = np.array(outcome)
            total += np.prod(np.where(r, p * np.exp(x[labelled]), 1 - p))
        return np.log(total) - z @ z / 2

    z = minimize(lambda z: -log_density(z), np.zeros(8)).x
    np.testing.assert_allclose(found.ranked, SPREAD[0] * z[3:5], atol=2e-3)
    np.testing.assert_allclose(found.curve, SPREAD[1] * z[5:7], atol=2e-3)
    np.testing.assert_allclose(found.topics, z[7:], atol=2e-3)
    assert found.curve[0] > found.curve[1] + 0.02


def judged_beside_labels(ranker):
    """Some judgments and labels; with a ranker, a run that shares the judge's errors."""
    if not ranker:
        pool = make_pool(topics=3, depth=8)
        return pool, judge(pool, 25).with_judge_labels(random_labels(pool))
    pool, _, labels = pool_with_ranker()
    judgments = judge(pool, 40).with_judge_labels(labels)
    assert LabelEvidence(judgments).shares.tolist() == [s == "ranker" for s in pool.systems]
    return pool, judgments


@pytest.mark.parametrize("ranker", [False, True])
def test_the_fast_fit_is_that_of_the_graph(ranker):
    pool, judgments = judged_beside_labels(ranker)
    model = Hierarchical()
    fitted = model.map(judgments)
    design = Design(model, judgments)
    mode = NestedLaplace(design.regression).fit().mode
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        graph = CompiledGraph(model.graph(pool, judgments))
    label = 3 + len(design.labels.names)
    at = np.concatenate(
        [mode.columns[:3], mode.log_scale, mode.topics, mode.columns[label:], mode.columns[3:label]]
    )
    free = np.full(graph.size, True)
    free[3 : 3 + len(mode.log_scale)] = False
    _, gradient = graph.derivative(at, jacobian=True)
    np.testing.assert_allclose(gradient[free], 0.0, atol=1e-6)
    np.testing.assert_allclose(graph.p(at), fitted.p, atol=1e-9)
    np.testing.assert_allclose(
        graph.parameters(at)["label_coefficient"], fitted.parameters["label_coefficient"], atol=1e-9
    )


@pytest.mark.parametrize("ranker", [False, True])
def test_the_graph_of_robust_has_the_samplers_probabilities(ranker):
    pool, judgments = judged_beside_labels(ranker)
    judgments = replace(judgments, judged_for=pool.systems)
    model = Robust()
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        graph = CompiledGraph(model.graph(pool, judgments))
        point = np.random.default_rng(3).normal(size=graph.size)
        named, p = graph.parameters(point), graph.p(point)
    design = RobustDesign(model, judgments)
    first = [np.array([float(named[name]) for name in COEFFICIENTS]), named["label_coefficient"]]
    effects = [named[name] for name in ("a", "b", "u", *design.labels.dims)]
    own = np.column_stack([named["alpha"], named["q"], named["w"]])
    for t in range(pool.n_topics):
        columns, local = design.features(t)
        eta = columns @ np.concatenate([*first, *effects]) + local @ own[t]
        np.testing.assert_allclose(p[pool.documents(t)], expit(eta), atol=1e-5)


def test_the_own_effects_of_robust_are_normal_beside_labels():
    pool, relevant, labels = simulated(wrong=0.1, topics=6)
    judged = np.arange(0, pool.n_documents, 20)
    alone = Judgments.from_labels(
        pool, judged, relevant[judged].astype(float), judged_for=pool.systems
    )
    beside = alone.with_judge_labels(labels)
    for judgments, normal in ((alone, False), (beside, True)):
        design = RobustDesign(Robust(), judgments)
        df = dict(zip(design.scales, design.df, strict=True))
        assert (df["a"], df["b"], df["u"]) == ((np.inf, np.inf, 3.0) if normal else (3.0,) * 3)
        graph = Robust(centred=True).graph(pool, judgments)
        written = {name: graph[name].owner.op.name for name in ("a", "b", "u", "q")}
        own = "normal" if normal else "t"
        assert written == {"a": own, "b": own, "u": "t", "q": "normal"}


def test_judgments_against_the_labels_teach_their_worth_and_hardly_the_weight_of_systems():
    """What the labels' good systems rank high is judged nonrelevant, and the rest relevant."""
    pool, _, labels = simulated()
    implied = LabelEvidence(Judgments.none(pool).with_judge_labels(labels)).implied
    y = np.concatenate([implied.of_documents(t) for t in range(pool.n_topics)])
    judged = np.arange(0, pool.n_documents, 10)
    against = (y[judged] < np.median(y[judged])).astype(float)
    judgments = Judgments.from_labels(pool, judged, against).with_judge_labels(labels)
    of_labels, _, of_systems, *_ = Hierarchical().map(judgments).parameters["label_coefficient"]
    assert of_labels < 0.5
    assert 0.85 < of_systems < 1.0


def test_two_copies_of_a_judge_are_one_judge():
    pool = make_pool()
    judgments, grades = judge(pool, 30), np.arange(pool.n_documents) % 4
    one, two = (
        rb.fit(pool, judgments, model="hierarchical:map", labels=label_all(pool, grades, judges))
        for judges in (("a",), ("a", "b"))
    )
    np.testing.assert_allclose(one.relevance.values[0], two.relevance.values[0], atol=2e-3)


def test_a_label_given_twice_is_one_label():
    pool, _, labels = simulated(wrong=0.1, topics=4)
    none = Judgments.none(pool)
    every = np.arange(len(labels.grade))
    one = LabelEvidence(none.with_judge_labels(labels))
    for again in (every, np.flatnonzero(labels.grade == 1)):
        twice = labels.keep(np.concatenate([every, again]))
        two = LabelEvidence(none.with_judge_labels(twice))
        for topic in range(pool.n_topics):
            np.testing.assert_allclose(two.columns(topic), one.columns(topic))


def test_labels_that_tell_of_no_system_leave_the_scales_of_systems_as_they_are():
    pool, relevant, labels = simulated(wrong=0.1)
    rng = np.random.default_rng(4)
    judged = rng.permutation(pool.n_documents)[:60]
    judgments = Judgments.from_labels(pool, judged, relevant[judged].astype(float))

    def evidence(beside):
        return LabelEvidence(judgments.with_judge_labels(beside))

    every = evidence(labels)
    listed = np.mean([(pool.ranks(t) > 0).sum(axis=1) for t in range(pool.n_topics)], axis=0)
    n = listed.mean() * pool.n_topics
    assert every.told == pytest.approx(min(1.0, n / (n + 50) * 1.05))
    assert every.remaining == pytest.approx(np.sqrt(1 - 0.75 * every.told))
    assert every.own_df(3.0) == np.inf
    alike = label_all(pool, np.ones(pool.n_documents, dtype=int))
    with pytest.warns(rb.CollectionWarning, match="no label is of 11 of 12 topics"):
        few = evidence(labels.keep([0, 1]))
    for untold in (few, evidence(alike)):
        assert untold.told < 0.05
        assert untold.remaining > 0.98
        assert untold.own_df(3.0) == 3.0


def test_a_perfect_judge_is_nearly_a_person():
    """Its labels and a few judgments tell relevance nearly as judging everything does."""
    pool, relevant, labels = simulated()
    few = Judgments.from_labels(
        pool, np.arange(0, pool.n_documents, 10), relevant[::10].astype(float)
    )
    assert log_loss(few, relevant, labels) < 0.3 * log_loss(few, relevant, None)
    fitted = rb.fit(pool, few, model="hierarchical:map", labels=labels)
    assert np.mean((fitted.relevance.values[0] > 0.5) == relevant) > 0.95


def test_a_bad_judge_does_no_harm():
    """One that labels by lot: with judgments that show it, as good as without."""
    pool, relevant, _ = simulated()
    rng = np.random.default_rng(1)
    lot = label_all(pool, rng.integers(0, 2, pool.n_documents))
    judged = rng.permutation(pool.n_documents)[:200]
    judgments = Judgments.from_labels(pool, judged, relevant[judged].astype(float))
    rest = np.setdiff1d(np.arange(pool.n_documents), judged)
    with_labels = log_loss(judgments, relevant, lot, rest)
    assert with_labels < 1.05 * log_loss(judgments, relevant, None, rest)


@pytest.mark.parametrize("model", ["hierarchical:map", "layered:map"])
def test_a_judge_turned_round_counts_for_nothing(model):
    """As if it had no labels, beside another's or alone; in judging, too."""
    pool, relevant, labels = simulated(wrong=0.1)
    turned = label_all(pool, 1 - labels.grade)
    judged = np.random.default_rng(1).permutation(pool.n_documents)[:100]
    judgments = Judgments.from_labels(pool, judged, relevant[judged].astype(float))
    with pytest.warns(rb.FitWarning, match="and count for nothing: the scale may be turned round"):
        beside = rb.fit(pool, judgments, model=model, labels=turned)
    without = rb.fit(pool, judgments, model=model)
    np.testing.assert_array_equal(beside.relevance.values, without.relevance.values)
    assert beside.judgments.judge_labels is None
    assert turned_judges(Judgments.none(pool).with_judge_labels(turned)) == ()
    both = rb.Labels.of(
        *(
            [*a, *b]
            for a, b in (
                ([labels.topics[t] for t in labels.topic_of],) * 2,
                ([labels.docnos[d] for d in labels.document_of],) * 2,
                (["good"] * labels.n_labels, ["turned"] * labels.n_labels),
                (labels.grade.tolist(), turned.grade.tolist()),
            )
        )
    )
    with pytest.warns(rb.FitWarning, match="labels of turned are higher"):
        of_both = rb.fit(pool, judgments, model=model, labels=both)
    good = rb.fit(pool, judgments, model=model, labels=both.select(judges=["good"]))
    np.testing.assert_array_equal(of_both.relevance.values, good.relevance.values)


def test_a_judge_turned_round_counts_for_nothing_in_judging_and_on_pages():
    pool, relevant, labels = simulated(wrong=0.1)
    turned = label_all(pool, 1 - labels.grade)
    judged = np.random.default_rng(1).permutation(pool.n_documents)[:60]
    labelled = relevant[judged].astype(float)
    judgments = Judgments.from_labels(pool, judged, labelled, judged_for=pool.systems)
    asked = {"algorithm": "hierarchical:map", "count": 3}
    with pytest.warns(rb.FitWarning, match="count for nothing"):
        beside = rb.next_documents(pool, judgments, labels=turned, **asked)
    assert beside == rb.next_documents(pool, judgments, **asked)
    comparison = rb.compare(pool, rb.fit(pool, judgments, model="hierarchical:map"))
    of_turned = judgments.with_judge_labels(turned)
    assert "are evidence beside the lists" not in comparison.to_html(judgments=of_turned)
    assert "are evidence beside" in comparison.to_html(
        judgments=judgments.with_judge_labels(labels)
    )


def test_a_judge_turned_round_is_named_once_under_a_design():
    """By the judgments of all sub-pools: it counts for nothing in each."""
    pool, relevant, labels = simulated(wrong=0.1)
    qrels = Judgments.from_labels(pool, np.arange(pool.n_documents), relevant).to_qrels()
    groups = {system: "ab"[n % 2] for n, system in enumerate(pool.systems)}
    early = np.arange(pool.n_topics) < pool.n_topics // 2
    design = rb.HoldOutDesign(pool.topics, ("a", "b"), [early, ~early])
    held = {"hold_out": design, "groups": groups}
    judgments = rb.build(pool, qrels, "ip", budget=120, **held).judgments
    turned = judgments.with_judge_labels(label_all(pool, 1 - labels.grade))
    asked = {"algorithm": "hierarchical:map", "count": 4, **held}
    with pytest.warns(TurnedLabelsWarning, match="count for nothing") as caught:
        beside = rb.next_documents(pool, turned, **asked)
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert beside == rb.next_documents(pool, judgments, **asked)
    with pytest.warns(TurnedLabelsWarning, match="count for nothing") as caught:
        session = HoldOutSession(turned, "hierarchical:map", design, groups, budget=1)
    assert (len(caught), caught[0].filename) == (1, __file__)
    assert session.judgments.judge_labels is turned.judge_labels


def test_labels_tell_systems_apart_before_any_judgment():
    pool, relevant, labels = simulated(wrong=0.1)
    fitted = rb.fit(pool, Judgments.none(pool), model="hierarchical", labels=labels)
    compared = rb.compare(pool, fitted, rb.Estimand(depth=20, scope="pool"))
    truth = rb.compare(
        pool,
        rb.Relevance.from_values(pool, relevant.astype(float)),
        rb.Estimand(depth=20, scope="pool"),
    )
    assert np.corrcoef(compared.expected, truth.expected)[0, 1] > 0.9


def test_soft_judgments_stay_judgments_beside_labels():
    """Labels neither replace a judgment nor the probability that it states."""
    pool = make_pool()
    labels = label_all(pool, np.zeros(pool.n_documents))
    documents = np.arange(0, pool.n_documents, 2)
    judgments = Judgments.from_labels(pool, documents, np.linspace(0, 1, len(documents)))
    fitted = rb.fit(pool, judgments, model="hierarchical:map", labels=labels)
    np.testing.assert_array_equal(fitted.judgments.labels, judgments.labels)
    compared = fitted.judgments.relevant.sum()
    assert compared == pytest.approx(judgments.relevant.sum())


def test_saved_fits_keep_the_labels(tmp_path):
    pool = make_pool()
    labels = random_labels(pool)
    fitted = rb.fit(pool, judge(pool, 20), model="hierarchical:map", labels=labels)
    fitted.save(tmp_path / "fit.nc")
    read = rb.Fit.load(tmp_path / "fit.nc", made_for=pool)
    kept = read.judgments.judge_labels
    assert kept.judges == ("llm",)
    np.testing.assert_array_equal(kept.grade, labels.grade)


@pytest.mark.parametrize("model", ["rtc:map", "uniform"])
def test_models_that_take_none_say_so(model):
    pool = make_pool()
    remedy = "takes no labels of judges; use robust, hierarchical or layered"
    with pytest.raises(InputError, match=remedy):
        rb.fit(pool, judge(pool, 20), model=model, labels=random_labels(pool))


def test_a_model_of_ones_own_that_takes_none_is_told_how_to():
    @dataclass(frozen=True)
    class Half:
        name = "half"
        methods = ("map",)
        default_method = "map"

        def map(self, judgments):
            raise AssertionError

    pool = make_pool()
    remedy = r"leave the labels out; .* your own .* takes_labels = True \(docs/models.md\)"
    with pytest.raises(InputError, match=remedy):
        rb.fit(pool, judge(pool, 20), model=Half(), labels=random_labels(pool))
    with pytest.raises(InputError, match=r"leave the labels out$"):
        rb.fit(pool, judge(pool, 20), model="rtc:map", labels=random_labels(pool))


@pytest.mark.parametrize("algorithm", ["mtc", "ip", "rtc:map"])
def test_algorithms_that_take_none_say_so(algorithm):
    pool = make_pool()
    with pytest.raises(InputError, match="takes no labels of judges"):
        rb.next_documents(
            pool, Judgments.none(pool), algorithm=algorithm, labels=random_labels(pool)
        )


def test_labels_of_other_topics_and_no_labels_at_all_are_refused():
    pool = make_pool()
    none = Judgments.none(pool)
    with pytest.raises(InputError, match="no topic in common"):
        none.with_judge_labels(Labels.of(["x"], ["a"], ["llm"], [1]))
    with pytest.raises(InputError, match="none of 1 label is of a document of the pool"):
        none.with_judge_labels(Labels.of([none.pool.topics[0]], ["typo"], ["llm"], [1]))
    with pytest.raises(InputError, match=r"labels are a str; read them: read_labels\(FILE"):
        rb.fit(pool, none, labels="labels.csv")


def test_documents_are_chosen_for_what_labels_leave_open():
    """Labels are used at the first choice, and judging ends sooner with them."""
    pool, relevant, labels = simulated(systems=3, topics=6)
    qrels = Judgments.from_labels(
        pool, np.arange(pool.n_documents), relevant.astype(float)
    ).to_qrels()
    about = rb.Estimand(depth=20, scope="pool")
    made = {
        name: rb.build(pool, qrels, "hierarchical:laplace", about, confidence=0.9, labels=given)
        for name, given in (("labels", labels), ("none", None))
    }
    assert made["labels"].judgments.judge_labels is labels
    assert made["labels"].judgments.n_judged < made["none"].judgments.n_judged
    weights = [
        rb.next_documents(
            pool,
            Judgments.none(pool),
            about,
            algorithm="hierarchical:laplace",
            labels=given,
            count=1,
        )[0].p
        for given in (labels, None)
    ]
    assert weights[1] == 0.5
    assert weights[0] != pytest.approx(0.5, abs=0.005)


def pool_with_ranker(seed=3, wrong=0.3, topics=12, names=("ranker",)):
    """A simulated pool, noisy labels of it, and runs that rank by these labels, all alike."""
    made = rb.simulate(n_topics=topics, n_systems=5, seed=seed)
    before = rb.Pool.from_runs(made.runs, depth=20)
    rng = np.random.default_rng(seed)
    lists, rows = {}, []
    for t, topic in enumerate(before.topics):
        docnos = before.docnos[before.documents(t)]
        relevant = np.array([made.qrels[topic].get(d, 0) > 0 for d in docnos])
        grades = np.where(rng.random(len(docnos)) < wrong, ~relevant, relevant).astype(int)
        lists[topic] = list(docnos[np.lexsort([rng.random(len(docnos)), -grades])][:20])
        rows += [(topic, docno, "llm", grade) for docno, grade in zip(docnos, grades, strict=True)]
    rankers = [rb.Run.from_rankings(name, lists) for name in names]
    pool = rb.Pool.from_runs(rb.Runs([*made.runs.values(), *rankers]), depth=20)
    return pool, made.qrels, Labels.of(*zip(*rows, strict=True))


def relevance_of(pool, qrels):
    topics = np.array(pool.topics, dtype=object)[pool.topic_of]
    return np.array(
        [float(qrels[t].get(d, 0) > 0) for t, d in zip(topics, pool.docnos, strict=True)]
    )


def test_a_ranker_made_from_the_labels_is_found_and_said():
    pool, _, labels = pool_with_ranker()
    none = Judgments.none(pool)
    table = rb.shared_errors(none.with_judge_labels(labels)).set_index("system")
    assert table.index[table["shares"]].tolist() == ["ranker"]
    assert table["part"].drop("ranker").max() < 0.5
    with pytest.warns(rb.FitWarning, match="the order of ranker is as near"):
        fitted = rb.fit(pool, none, model="hierarchical:map", labels=labels)
    page = rb.compare(pool, fitted, rb.Estimand(depth=20, scope="pool")).to_html(
        None, fitted.judgments, algorithm="hierarchical:map"
    )
    assert "Take care: the order of ranker is as near to the judges&#x27; labels" in page


def test_judging_says_it_of_a_ranker():
    pool, qrels, labels = pool_with_ranker()
    few = {"algorithm": "hierarchical:map", "labels": labels}
    with pytest.warns(rb.FitWarning, match="the order of ranker") as caught:
        rb.next_documents(pool, Judgments.none(pool), count=1, **few)
    assert (len(caught), caught[0].filename) == (1, __file__)
    with pytest.warns(rb.FitWarning, match="the order of ranker") as caught:
        rb.build(pool, qrels, confidence=None, budget=1, **few)
    assert (len(caught), caught[0].filename) == (1, __file__)
    groups = {system: "other" if system == "ranker" else "site" for system in pool.systems}
    design = rb.HoldOutDesign(pool.topics, ("site", "other"), [[1] * 12, [0] * 6 + [1] * 6])
    held = {"hold_out": design, "groups": groups, "confidence": None, "budget": 2}
    with pytest.warns(rb.FitWarning, match="the order of ranker") as caught:
        rb.build(pool, qrels, **held, **few)
    assert (len(caught), caught[0].filename) == (1, __file__)
    beside = Judgments.none(pool).with_judge_labels(labels)
    with pytest.warns(rb.FitWarning, match="the order of ranker"):
        rb.JudgingSession(beside, "hierarchical:map", budget=1)
    with pytest.raises(InputError, match="takes no labels"):
        rb.fit(pool, beside, model="rank_curve")


@pytest.mark.parametrize("seed", range(3))
def test_judgments_clear_a_run_that_is_good_and_no_ranker(seed):
    """One that ranks by relevance goes with good labels, until judgments explain why."""
    rng = np.random.default_rng(seed)
    pool, qrels, _ = pool_with_ranker(wrong=0.0, topics=30)
    relevant, own = relevance_of(pool, qrels), pool.systems.index("ranker")
    labels = label_all(pool, np.abs(relevant - (rng.random(pool.n_documents) < 0.05)))
    before, after = parts_of(pool, labels, relevant, rng)[:, own]
    assert before > 0.75
    assert after < min(before - 0.05, label_evidence.SHARES)
    pool, qrels, labels = pool_with_ranker(wrong=0.05, topics=30)
    own = pool.systems.index("ranker")
    before, after = parts_of(pool, labels, relevance_of(pool, qrels), rng)[:, own]
    assert min(before, after) >= label_evidence.SHARES


def parts_of(pool, labels, relevant, rng):
    """Parts of all systems, before and after 300 judgments."""
    documents = rng.permutation(pool.n_documents)[:300]
    judgments = Judgments.from_labels(pool, documents, relevant[documents])
    both = (of.with_judge_labels(labels) for of in (Judgments.none(pool), judgments))
    return np.array([LabelEvidence(of).shared.part for of in both])


def test_judgments_of_other_runs_documents_do_not_clear_a_ranker():
    """It came later, and none of its documents is judged."""
    lists = {"early": {}, "other": {}, "ranker": {}}
    rows, rng = [], np.random.default_rng(2)
    for topic in map(str, range(30)):
        grades = dict(zip([f"d{n}" for n in range(20)], rng.integers(0, 2, 20), strict=True))
        docnos = list(grades)
        lists["early"][topic] = list(rng.permutation(docnos[:10]))
        lists["other"][topic] = list(rng.permutation(docnos[:10]))
        lists["ranker"][topic] = sorted(docnos[10:], key=lambda d: -grades[d])
        rows += [(topic, docno, "llm", grade) for docno, grade in grades.items()]
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings(n, of) for n, of in lists.items()]))
    labels, own = Labels.of(*zip(*rows, strict=True)), pool.systems.index("ranker")
    early = np.flatnonzero(
        np.concatenate([pool.ranks(t)[pool.systems.index("early")] for t in range(pool.n_topics)])
    )
    judgments = Judgments.from_labels(pool, early, rng.integers(0, 2, len(early)).astype(float))
    before, after = (
        LabelEvidence(given.with_judge_labels(labels)).shared.part[own]
        for given in (Judgments.none(pool), judgments)
    )
    assert before == after > label_evidence.SHARES


def test_rankers_of_one_judge_do_not_hide_each_other():
    pool, _, labels = pool_with_ranker(names=("ranker", "twin", "third"))
    table = rb.shared_errors(Judgments.none(pool).with_judge_labels(labels))
    assert set(table["system"][table["shares"]]) == {"ranker", "twin", "third"}


@pytest.mark.parametrize("names", [("ranker",), ("ranker", "twin")])
def test_rankers_do_not_make_a_run_beside_them_look_like_one(names):
    pool, _, labels = pool_with_ranker(names=names, topics=30)
    pool = pool.select((pool.systems[0], *names))
    table = rb.shared_errors(Judgments.none(pool).with_judge_labels(labels))
    assert set(table["system"][table["shares"]]) == set(names)


def test_a_ranker_of_one_judge_of_three_and_of_few_labels_is_found():
    pool, qrels, labels = pool_with_ranker(topics=30)
    rng, relevant = np.random.default_rng(4), relevance_of(pool, qrels)
    others = [np.abs(relevant - (rng.random(pool.n_documents) < 0.2)) for _ in range(2)]
    own = np.zeros(pool.n_documents)
    own[labels.located(pool)] = labels.grade
    topics = np.array(pool.topics)[pool.topic_of]
    names = [np.tile(of, 3) for of in (topics, pool.docnos)]
    judges = np.repeat(["llm", "a", "b"], pool.n_documents)
    panel = Labels.of(*names, judges, np.concatenate([own, *others]))
    few = labels.keep(rng.random(labels.n_labels) < 0.4)
    for some in (panel, few):
        table = rb.shared_errors(Judgments.none(pool).with_judge_labels(some))
        assert table["system"][table["shares"]].tolist() == ["ranker"]
    few_topics = labels.keep(np.isin(np.array(labels.topics)[labels.topic_of], pool.topics[:4]))
    with pytest.warns(rb.CollectionWarning, match="no label is of 26 of 30 topics"):
        table = rb.shared_errors(Judgments.none(pool).with_judge_labels(few_topics))
    assert not table["shares"].any()


@pytest.mark.filterwarnings("ignore::rtc_bayes.errors.FitWarning")
def test_a_ranker_made_from_the_labels_gains_less(monkeypatch):
    """Its expected score is nearer to the truth, and its pairs less sure, than unnoticed."""
    pool, qrels, labels = pool_with_ranker()
    estimand = rb.Estimand(depth=20, scope="pool")
    truth = rb.compare(
        pool, rb.Relevance.from_values(pool, relevance_of(pool, qrels)), estimand
    ).expected
    own = pool.systems.index("ranker")
    with_it = (np.array(np.triu_indices(pool.n_systems, 1)) == own).any(axis=0)
    gain, sure = {}, {}
    for rule in (label_evidence.SHARES, np.inf):
        monkeypatch.setattr(label_evidence, "SHARES", rule)
        fitted = rb.fit(pool, Judgments.none(pool), model="hierarchical", labels=labels)
        compared = rb.compare(pool, fitted, estimand)
        error = compared.expected - truth
        gain[rule] = error[own] - np.delete(error, own).mean()
        sure[rule] = np.maximum(compared.p_greater, compared.p_less)[with_it].mean()
    (with_rule, without), (less_sure, sure_without) = gain.values(), sure.values()
    assert with_rule < without - 0.02
    assert less_sure < sure_without


def test_what_labels_say_of_a_ranker_made_from_them():
    """Its own effects are as without labels, and a label may be worth nothing on its documents."""
    pool, _, labels = pool_with_ranker()
    evidence = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
    own = pool.systems.index("ranker")
    expected = np.ones(pool.n_systems)
    expected[own] = 1.0 / evidence.remaining
    assert evidence.own.tolist() == expected.tolist()
    assert (evidence.implied.ranked[own], evidence.implied.curve[own]) == (0.0, 0.0)
    ranks, lowest = pool.ranks(0).T, evidence.score.min()
    curve = rb.relevance.rank_curve(ranks, pool.depth)
    apart = curve[:, own] - curve.mean(axis=1)
    rise = evidence.score[pool.documents(0)] - lowest
    of_ranker = evidence.columns(0)[:, own - pool.n_systems]
    np.testing.assert_allclose(of_ranker, apart * rise / 0.5)


def test_a_run_that_goes_with_good_labels_is_not_taken_for_a_ranker():
    """The better of two runs goes with a good judge's labels, by less than one made from them."""
    rng, lists, rows = np.random.default_rng(5), {"good": {}, "bad": {}, "ranker": {}}, []
    for topic in map(str, range(30)):
        docnos = [f"d{n}" for n in range(40)]
        relevant = np.arange(40) < 8
        grades = np.where(rng.random(40) < 0.1, ~relevant, relevant).astype(int)
        for name, by in (("good", 1.4 * relevant), ("bad", 0 * relevant), ("ranker", 9 * grades)):
            lists[name][topic] = [docnos[n] for n in np.argsort(-by - rng.normal(size=40))]
        rows += [(topic, *row) for row in zip(docnos, ["llm"] * 40, grades, strict=True)]
    table = {}
    for names in (["good", "bad"], ["good", "bad", "ranker"]):
        runs = rb.Runs([rb.Run.from_rankings(name, lists[name]) for name in names])
        none = Judgments.none(rb.Pool.from_runs(runs, depth=20))
        labels = Labels.of(*zip(*rows, strict=True))
        table[len(names)] = rb.shared_errors(none.with_judge_labels(labels)).set_index("system")
    assert table[2].loc["good", "correlation"] > 0.3
    assert not table[2]["shares"].any()
    assert table[3].index[table[3]["shares"]].tolist() == ["ranker"]


def test_judgments_do_not_accuse_and_those_of_one_label_say_nothing():
    pool, _, labels = simulated(wrong=0.2)
    before = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
    every = np.arange(pool.n_documents)
    chosen = {"some": every[::4], "one label": every[before.score > 0], "four": every[:4]}
    for name, documents in chosen.items():
        grades = np.random.default_rng(0).integers(0, 2, len(documents)).astype(float)
        judgments = Judgments.from_labels(pool, documents, grades)
        after = LabelEvidence(judgments.with_judge_labels(labels)).shared.part
        assert (after <= before.shared.part + 1e-12).all()
        if name != "some":
            np.testing.assert_allclose(after, before.shared.part)


def test_a_label_that_a_judge_would_not_give_is_no_evidence():
    """A document passed over is likely nonrelevant; one that was seen is as if never shown."""
    pool = pool_of({"one": {"1": "abcd"}, "two": {"1": "bacd"}})
    documents, judges = ["a", "b", "c"], ["llm"] * 3
    passed = Labels.of(["1"] * 2, documents[:2], judges[:2], [1, 0])
    refused = Labels.of(["1"] * 3, documents, judges, [1, 0, -1])

    def unlabelled(labels):
        evidence = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
        return evidence.columns(0)[:, 1].tolist()

    assert unlabelled(passed) == [0, 0, 1, 1]
    with pytest.warns(rb.CollectionWarning, match="1 label left out: 1 blank or below 0"):
        assert unlabelled(refused) == [0, 0, 0, 1]


def test_labels_of_judged_documents_alone_take_nothing_off_the_others():
    """They are a sample that checks the judge; of a part of the pool a note says what is meant."""
    pool, relevant, labels = simulated()
    rows = np.random.default_rng(0).permutation(pool.n_documents)[:40]
    judged = Judgments.from_labels(pool, rows, relevant[rows].astype(float))
    sample = labels.keep(rows)
    expected = {}
    for name, beside in (("none", None), ("sample", sample)):
        if beside is None:
            fitted = rb.fit(pool, judged, model="hierarchical:map")
        else:
            with pytest.warns(UnlabelledWarning, match="judged 40 of 40 documents with a label"):
                fitted = rb.fit(pool, judged, model="hierarchical:map", labels=beside)
        expected[name] = fitted.relevance.values.sum()
    assert expected["sample"] == pytest.approx(expected["none"], rel=0.15)
    of_sample = LabelEvidence(judged.with_judge_labels(sample))
    unlabelled = [of_sample.columns(t)[:, 1] for t in range(pool.n_topics)]
    assert not np.concatenate(unlabelled).any()
    part = labels.keep(np.arange(0, pool.n_documents, 2))
    with pytest.warns(UnlabelledWarning, match="nor label, and are taken for rarely relevant"):
        rb.fit(pool, judged, model="hierarchical:map", labels=part)
    seen = Labels.of(
        np.array(pool.topics)[pool.topic_of],
        pool.docnos,
        ["llm"] * pool.n_documents,
        np.where(np.arange(pool.n_documents) % 2, -1, labels.grade),
    )
    with pytest.warns(rb.CollectionWarning, match="labels left out"):
        asked = judged.with_judge_labels(seen)
    assert UnlabelledWarning not in dict(map(reversed, remarks_on_labels(asked)))


def test_labels_outside_the_pool_change_nothing():
    """Neither the number of judges nor the scale of grades."""
    pool = make_pool()
    labels = random_labels(pool)
    columns = [*zip(*labels.pair_ids(), strict=True)]
    for name, grade in (("llm", 1), ("other", 4)):
        more = ["nowhere"] * 2, ["x", "y"], [name, "another"], [grade, 1]
        parts = [*columns, ["llm"] * labels.n_labels, labels.grade.tolist()]
        wider = Labels.of(*([*a, *b] for a, b in zip(parts, more, strict=True)))
        inside, outside = (
            LabelEvidence(replace(judge(pool, 10), judge_labels=each)) for each in (labels, wider)
        )
        assert inside.names == outside.names
        np.testing.assert_array_equal(inside.prior, outside.prior)
        for topic in range(pool.n_topics):
            np.testing.assert_array_equal(inside.columns(topic), outside.columns(topic))


def test_a_judge_on_a_shorter_scale_is_named():
    """Beside one of 0 to 10; neither one of 0 and 1 nor one scale for all is."""
    pool = make_pool(topics=8)
    none = Judgments.none(pool)

    def of_scales(*highest):
        sets = [random_labels(pool, highest=each, judges=(f"to {each}",)) for each in highest]
        topics, docnos = zip(*(pair for of in sets for pair in of.pair_ids()), strict=True)
        judges = np.repeat([of.judges[0] for of in sets], pool.n_documents)
        return Labels.of(topics, docnos, judges, np.concatenate([of.grade for of in sets]))

    with pytest.warns(rb.CollectionWarning, match="no label of to 3 reaches 10, the highest grade"):
        none.with_judge_labels(of_scales(1, 3, 10))
    none.with_judge_labels(of_scales(1, 10))
    none.with_judge_labels(random_labels(pool, judges=("one", "two")))
    none.with_judge_labels(replace(of_scales(3), n_grades=11))


def test_a_few_labels_of_0_and_1_do_not_say_that_a_judge_has_but_two():
    """Of fewer than a hundred they are grades on the scale of all, as where they are aggregated."""
    pool = make_pool(topics=8)
    topics, docnos = zip(*random_labels(pool).pair_ids(), strict=True)

    def ratio(n):
        rest = pool.n_documents - n
        labels = Labels.of(
            topics, docnos, ["few"] * n + ["llm"] * rest, [0, 1] * (n // 2) + [0, 3] * (rest // 2)
        )
        evidence = LabelEvidence(Judgments.none(pool).with_judge_labels(labels))
        return evidence._ratio[labels.judge_of == 0][:2] / evidence.credit[0]

    assert np.diff(ratio(98)) == pytest.approx(label_evidence.GRADED[1])
    assert np.diff(ratio(100)) == pytest.approx(label_evidence.BINARY[1])


def test_labels_given_again_do_not_turn_a_judge_round():
    """Three of four relevant documents have the lower label, as others the higher: by chance."""
    docnos = [f"d{i}" for i in range(8)]
    pool = pool_of({"one": {"1": docnos}})
    judged = Judgments.from_labels(pool, np.arange(8), np.arange(8) % 2)
    said = [1, 0, 1, 0, 1, 0, 0, 1]
    for times in (1, 5):
        labels = Labels.of(["1"] * 8 * times, docnos * times, ["llm"] * 8 * times, said * times)
        assert turned_judges(judged.with_judge_labels(labels)) == ()


def test_a_judge_whose_scale_is_turned_round_is_named():
    """Where people judged documents; a weak judge is not."""
    pool, relevant, labels = simulated(wrong=0.2)
    rng = np.random.default_rng(2)
    documents = rng.permutation(pool.n_documents)[:120]
    judged = Judgments.from_labels(pool, documents, relevant[documents].astype(float))
    turned = replace(labels, grade=(1 - labels.grade).astype(np.int16))
    with pytest.warns(
        rb.FitWarning, match="labels of llm are higher on documents that people judged nonrelevant"
    ):
        rb.fit(pool, judged, model="hierarchical:map", labels=turned)
    rb.fit(pool, judged, model="hierarchical:map", labels=labels)


def test_deep_judgments_do_not_make_labels_of_a_pool_partial():
    lists = {"1": "abcdefghij"}
    runs = rb.Runs([rb.Run.from_rankings("one", {t: list(d) for t, d in lists.items()})])
    qrels = rb.Qrels({"1": {"a": 1, "b": 0, **{f"deep{n}": n % 2 for n in range(40)}}})
    pool = rb.Pool.from_runs(runs, qrels=qrels)
    judgments = rb.Judgments.from_qrels(pool, qrels)
    assert judgments.n_judged > 30
    labels = rb.Labels.of(["1"] * 10, list("abcdefghij"), ["llm"] * 10, [n % 2 for n in range(10)])
    asked = judgments.with_judge_labels(labels)
    assert UnlabelledWarning not in dict(map(reversed, remarks_on_labels(asked)))


def test_labels_are_no_sample_where_people_judged_more_without_them():
    lists = {"1": [f"d{n:02}" for n in range(60)]}
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", lists)]))
    labels = rb.Labels.of(["1"] * 10, lists["1"][:10], ["llm"] * 10, [n % 2 for n in range(10)])
    for judged, sample in ((range(10), True), (range(20), True), (range(21), False)):
        made = rb.Judgments.from_labels(pool, list(judged), [n % 2 for n in judged])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            evidence = LabelEvidence(made.with_judge_labels(labels))
        assert evidence.is_sample is sample
        # the note of judgments in the labels' place is where this one is not
        assert any("in the other's place" in str(one.message) for one in said) is not sample
