"""Aggregation of labels, against straightforward forms and simulated judges."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rtc_bayes as rb
from rtc_bayes.crowd.abilities import JudgePopulation
from rtc_bayes.crowd.expectation import dawid_skene
from rtc_bayes.crowd.hierarchical import (
    CrowdPrior,
    hierarchical,
    largest_r_hat,
    shares_of_grades,
)
from rtc_bayes.crowd.votes import Votes
from rtc_bayes.errors import CollectionWarning, FitWarning, InputError
from rtc_bayes.report.labels_tables import judges_tables
from rtc_bayes.store import spawn_seeds


def crowd(pairs=40, judges=6, each=4, grades=2, seed=0, accuracy=(0.6, 0.95)):
    """Simulate labels of judges of known accuracy: the labels, the truth, the accuracies."""
    random = np.random.default_rng(seed)
    truth = random.integers(grades, size=pairs)
    right = random.uniform(*accuracy, size=judges)
    rows = []
    for pair in range(pairs):
        for judge in random.choice(judges, each, replace=False):
            wrong = (truth[pair] + random.integers(1, grades)) % grades
            rows.append((pair, judge, truth[pair] if random.random() < right[judge] else wrong))
    pair, judge, said = zip(*rows, strict=True)
    labels = rb.Labels.of(
        [str(p % 3) for p in pair],
        [f"d{p:03}" for p in pair],
        [f"j{j}" for j in judge],
        said,
        n_grades=grades,
    )
    place = {pair: i for i, pair in enumerate(labels.pair_ids())}
    order = [place[(str(p % 3), f"d{p:03}")] for p in range(pairs)]
    in_order = np.empty(pairs, dtype=int)
    in_order[order] = truth
    return labels, in_order, right


def plain_dawid_skene(labels, iterations):
    """Dawid-Skene by loops, without smoothing, errors clipped as crowd-kit clips them."""
    of_pair = labels.pairs().of_label
    n, k, j = of_pair.max() + 1, labels.n_grades, len(labels.judges)
    rows = list(zip(of_pair, labels.judge_of, labels.grade, strict=True))
    belief = np.zeros((n, k))
    for i, _, y in rows:
        belief[i, y] += 1
    belief /= belief.sum(axis=1, keepdims=True)
    for _ in range(iterations):
        prior = belief.mean(axis=0)
        errors = np.zeros((j, k, k))
        for i, w, y in rows:
            errors[w, :, y] += belief[i]
        errors /= np.maximum(errors.sum(axis=2, keepdims=True), 1e-10)
        errors = np.maximum(errors, 1e-10)
        belief = np.tile(prior, (n, 1))
        for i, w, y in rows:
            belief[i] *= errors[w, :, y]
        belief /= belief.sum(axis=1, keepdims=True)
    return belief


@pytest.mark.parametrize("iterations", [1, 2, 7])
@pytest.mark.parametrize("grades", [2, 4])
def test_dawid_skene_is_that_of_loops(iterations, grades):
    labels, _, _ = crowd(grades=grades)
    votes = Votes.of(labels, 1, graded=True, human=None)
    made = dawid_skene(votes, iterations=iterations, smoothing=0.0, tolerance=0.0)
    np.testing.assert_allclose(made.grades, plain_dawid_skene(labels, iterations), atol=1e-9)


def test_votes_are_shares_and_ties_are_said():
    labels = rb.Labels.of(
        ["1"] * 5, ["a", "a", "a", "b", "b"], ["x", "y", "z", "x", "y"], [2, 0, 1, 0, 2]
    )
    votes = rb.aggregate(labels, "mv", relevance_level=1)
    np.testing.assert_allclose(votes.probability, [2 / 3, 1 / 2])
    assert votes.tied.tolist() == [False, True]
    by_grade = rb.aggregate(labels, "mv", relevance_level=2, graded=True)
    np.testing.assert_allclose(by_grade.grades, [[1 / 3] * 3, [0.5, 0.0, 0.5]])
    np.testing.assert_allclose(by_grade.probability, [1 / 3, 1 / 2])
    assert by_grade.tied.tolist() == [True, True]


@pytest.mark.parametrize("method", ["em", "one-coin", "glad", "hierarchical"])
def test_good_and_bad_judges_are_told_apart(method):
    labels, truth, _ = crowd(pairs=200, judges=8, each=5, seed=3, accuracy=(0.75, 0.9))
    made = rb.aggregate(labels, method, **({"draws": 200} if method == "hierarchical" else {}))
    # 200 pairs of five labels at .82: the vote alone is right in about 95%
    assert ((made.probability > 0.5) == truth).mean() > 0.9
    assert made.counts.sum() == pytest.approx(labels.n_labels)


@pytest.mark.filterwarnings("ignore:the chains do not agree")
@pytest.mark.parametrize("method", ["mv", "em", "one-coin", "glad", "hierarchical", "panel"])
def test_known_grades_stay(method):
    labels, _, _ = crowd(pairs=12)
    pair = labels.pair_ids()[0]
    few = {"draws": 20} if method == "hierarchical" else {}
    for grade in (0, 1):
        made = rb.aggregate(labels, method, human={pair: grade}, **few)
        assert made.probability[0] == grade
    qrels = rb.Qrels({pair[0]: {pair[1]: 1, "elsewhere": 1}})
    assert rb.aggregate(labels, method, human=qrels, **few).probability[0] == 1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), method=st.sampled_from(["mv", "em", "one-coin", "glad"]))
def test_order_of_labels_does_not_matter(seed, method):
    labels, _, _ = crowd(pairs=12, grades=3, seed=seed)
    shuffled = labels.keep(np.random.default_rng(seed).permutation(labels.n_labels))
    one, other = (rb.aggregate(x, method, graded=True) for x in (labels, shuffled))
    assert one.pairs == other.pairs
    np.testing.assert_allclose(one.grades, other.grades, atol=1e-6)


def test_log_posterior_of_dawid_skene_never_falls():
    labels, _, _ = crowd(pairs=60, seed=5)
    votes = Votes.of(labels, 1, graded=False, human=None)

    def density(grades):
        k = votes.n_grades
        counts = votes.confusion_counts(grades) + 1.0 / k
        errors = counts / counts.sum(axis=2, keepdims=True)
        prevalence = (grades.sum(axis=0) + 1.0 / k) / (len(grades) + 1.0)
        said = np.log(errors)[votes.judge_of, :, votes.grade]
        of_pair = np.stack([np.bincount(votes.pair_of, said[:, z]) for z in range(k)], axis=1)
        likelihood = np.log((np.exp(of_pair) * prevalence).sum(axis=1)).sum()
        return likelihood + (np.log(errors).sum() + np.log(prevalence).sum()) / k

    steps = [density(dawid_skene(votes, iterations=n, tolerance=0.0).grades) for n in range(1, 15)]
    assert np.all(np.diff(steps) > -1e-9)


@pytest.mark.slow
def test_hierarchical_judges_intervals_hold():
    inside, all_of_them = 0, 0
    for seed in range(12):
        labels, _, right = crowd(pairs=150, judges=8, each=5, seed=seed)
        votes = Votes.of(labels, 1, graded=False, human=None)
        prior = CrowdPrior(misleading=1e-3, misleading_weight=1e6)
        made = hierarchical(votes, draws=300, tune=200, prior=prior, seed=seed)
        diagonal = np.diagonal(made.confusion, axis1=2, axis2=3).mean(axis=2)
        low, high = np.quantile(diagonal, [0.05, 0.95], axis=0)
        inside += int(((right >= low) & (right <= high)).sum())
        all_of_them += len(right)
    # 96 intervals of 90%, a standard error of .031; workers of one accuracy whatever the truth are
    # more alike than the model expects, so that the intervals may be wide but not much
    assert 0.9 - 3 * 0.031 < inside / all_of_them < 1.0


@pytest.mark.filterwarnings("ignore:the chains do not agree")
@pytest.mark.slow
def test_the_share_of_labels_that_is_right_is_drawn_apart_from_the_chance():
    inside, chances, shares = 0.0, [], []
    for seed in range(12):
        labels, truth, _ = crowd(pairs=150, judges=8, each=5, seed=seed)
        prior = CrowdPrior(misleading=1e-3, misleading_weight=1e6)
        made = rb.aggregate(labels, prior=prior, draws=300, seed=seed)
        frame = made.judges_frame()
        hits = labels.grade == truth[labels.pairs().of_label]
        right = np.bincount(labels.judge_of[hits], minlength=8) / np.bincount(labels.judge_of)
        inside += ((frame["right_low"] <= right) & (right <= frame["right_high"])).mean() / 12
        by_draw = made.draws[:, labels.pairs().of_label] == labels.grade
        first = by_draw[:, labels.judge_of == 0].mean(axis=1)
        assert frame["right"][0] == pytest.approx(first.mean())
        chances.append((frame["accuracy_high"] - frame["accuracy_low"]).mean())
        shares.append((frame["right_high"] - frame["right_low"]).mean())
    # 96 intervals of 90%, a standard error of .031; a share of 94 labels is a whole number of them
    assert inside > 0.9 - 3 * 0.031
    # five labels make most grades known, and so how many labels are right, not the chance
    assert np.mean(shares) < np.mean(chances)
    assert "right" not in rb.aggregate(labels, "em").judges_frame()


def test_documents_that_mislead_keep_probabilities_from_certainty():
    labels = rb.Labels.of(["1"] * 20, ["d"] * 20, [f"j{j}" for j in range(20)], [1] * 20)
    sure = rb.aggregate(labels, "em").probability[0]
    made = rb.aggregate(labels, "hierarchical", draws=400)
    assert sure > 0.99
    assert 0.6 < made.probability[0] < 0.97
    assert made.draws.shape == (400, 1)
    # draws and the averaged chances say the same: 400 correlated draws, at most .03 apart each
    assert abs(made.draws.mean() - made.probability[0]) < 0.1


def test_history_of_a_judge_counts():
    before, _, _ = crowd(pairs=200, judges=4, each=4, seed=9, accuracy=(0.9, 0.95))
    history = rb.aggregate(before, "em")
    now = rb.Labels.of(["1", "1"], ["a", "a"], ["j0", "new"], [1, 0])
    without, with_it = (
        rb.aggregate(now, "hierarchical", history=h, draws=200).probability[0]
        for h in (None, history)
    )
    assert with_it > without + 0.1


@pytest.mark.filterwarnings("ignore:the chains do not agree")
@pytest.mark.parametrize("method", ["mv", "em", "one-coin", "glad", "hierarchical", "panel"])
def test_nothing_is_told_of_judges_that_nothing_checks(method):
    docnos, judges = ["d1", "d2", "d3", "d3"], ["ann", "ann", "bob", "bob"]
    labels = rb.Labels.of(["7"] * 4, docnos, judges, [1, 0, 1, 1])
    few = {"draws": 20} if method == "hierarchical" else {}
    alone = rb.aggregate(labels, method, **few)
    assert not alone.checked
    accuracy = alone.judges_frame()[["accuracy", "accuracy_low", "sensitivity"]]
    assert accuracy.isna().all(axis=None) == (method != "hierarchical")
    said = " ".join(judges_tables(labels, alone)[0].paragraphs)
    assert ("prior alone" if method == "hierarchical" else "is right is not known") in said
    graded = rb.aggregate(labels, method, human={("7", "d1"): 1}, **few)
    assert graded.checked
    assert graded.judges_frame()["accuracy"].notna().all()
    assert "--human" not in " ".join(judges_tables(labels, graded)[0].paragraphs)
    human = {("7", "d1"): 1, ("8", "d1"): 0, ("7", "nowhere"): 1}
    said = " ".join(judges_tables(labels, graded, human=human)[0].paragraphs)
    assert "Grades of 2 pairs that nobody labelled say nothing here." in said


def test_what_cannot_be_is_refused():
    labels, _, _ = crowd(pairs=6)
    with pytest.raises(InputError, match="method is 'vote'; give mv, em"):
        rb.aggregate(labels, "vote")
    with pytest.raises(InputError, match="relevance_level is 2, and the highest grade is 1"):
        rb.aggregate(labels, "mv", relevance_level=2)
    with pytest.raises(InputError, match="method mv takes no prior; leave it out"):
        rb.aggregate(labels, "mv", prior=rb.CrowdPrior())
    with pytest.raises(InputError, match="human's grade is 3, the labels' highest is 1"):
        rb.aggregate(labels, "mv", graded=True, human={labels.pair_ids()[0]: 3})
    with pytest.raises(InputError, match="draws"):
        rb.aggregate(labels, draws=0)
    with pytest.raises(InputError, match=r"misleading is 1\.0; give a share"):
        rb.CrowdPrior(misleading=1.0)
    with pytest.raises(InputError, match=r"misleading is -0\.1; give a share"):
        rb.CrowdPrior(misleading=-0.1)
    with pytest.raises(InputError, match="topic_weight is 0; give a number above 0"):
        rb.CrowdPrior(topic_weight=0)
    with pytest.warns(CollectionWarning, match="no pair whose grade is known has labels"):
        rb.aggregate(labels, "mv", human={("no topic", "d"): 1})
    graded, _, _ = crowd(pairs=6, grades=3)
    with pytest.raises(InputError, match="history is of 3 grades"):
        rb.aggregate(labels, history=rb.aggregate(graded, "mv", graded=True))


def test_the_next_label_is_the_one_that_tells_most():
    labels, _, _ = crowd(pairs=30, judges=5, each=3, seed=2)
    made = rb.aggregate(labels, "em")
    told = rb.suggest_labels(labels, made, 5)
    confusion = made.counts + 0.5
    confusion /= confusion.sum(axis=2, keepdims=True)
    of_label = labels.pairs().of_label
    best = {}
    for pair, ids in enumerate(made.pairs):
        have = set(labels.judge_of[of_label == pair])
        for j, name in enumerate(labels.judges):
            if j not in have:
                joint = made.grades[pair][:, None] * confusion[j]
                product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
                gain = np.nansum(joint * np.log(np.where(joint > 0, joint / product, 1.0)))
                best[ids] = max(best.get(ids, (-1.0, "")), (gain, name))
    expected = sorted(best.items(), key=lambda item: -item[1][0])[:5]
    np.testing.assert_allclose(told["gain"], [gain for _, (gain, _) in expected], atol=1e-12)
    assert told["judge"].tolist() == [name for _, (_, name) in expected]
    with pytest.raises(InputError, match="of other labels"):
        rb.suggest_labels(labels.select(judges=labels.judges[:3]), made)


def test_grades_of_a_panel_are_those_of_the_scores():
    labels, truth, _ = crowd(pairs=30, judges=6, each=6, grades=4)
    ids = labels.pair_ids()
    told = {ids[i]: int(truth[i]) for i in range(0, 30, 2)}
    made = rb.aggregate(labels, "panel", relevance_level=2, graded=True, human=told)
    scores = np.empty((30, 6))
    scores[labels.pairs().of_label, labels.judge_of] = labels.grade / 3
    human = np.where(np.arange(30) % 2, np.nan, truth)
    by_scores = rb.fit_panel(
        scores, [topic for topic, _ in ids], human, n_grades=4, relevance_level=2
    )
    np.testing.assert_allclose(made.grades, by_scores.grades, atol=1e-12)
    np.testing.assert_allclose(made.probability, by_scores.probability, atol=1e-12)
    frame = made.to_frame()
    np.testing.assert_array_equal(frame[[f"grade_{g}" for g in range(4)]], made.grades)
    assert "grade_0" not in rb.aggregate(labels, "panel", relevance_level=2).to_frame()


def test_written_probabilities_are_read_by_compare(tmp_path):
    labels, _, _ = crowd(pairs=9)
    made = rb.aggregate(labels, "mv")
    made.write(tmp_path / "soft.erels")
    read = rb.read_erels(tmp_path / "soft.erels")
    for (topic, docno), p in zip(made.pairs, made.probability, strict=True):
        assert read[topic][docno] == pytest.approx(p)


def test_the_spread_of_judges_is_that_of_their_parts():
    """Of three grades: log odds by skill, leaning and the rest, drawn as the docstring has them."""
    skill, lean, own = 0.6, 0.8, np.array([0.5, 0.7, 0.9])
    random, draws = np.random.default_rng(1), 200_000
    a, b = skill * random.normal(size=draws), lean * random.normal(size=(draws, 3))
    e = np.sqrt(own[:, None] ** 2 / 2) * random.normal(size=(draws, 3, 3))
    odds = [
        b[:, g] - b[:, y] - a + e[:, y, g] - e[:, y, y]
        for y in range(3)
        for g in range(3)
        if g != y
    ]
    root = JudgePopulation(np.zeros(6), np.log([skill, lean, *own])).root()
    # four standard errors of a covariance of variances up to 2.5
    np.testing.assert_allclose(root @ root.T, np.cov(odds), atol=4 * 2.5 * np.sqrt(2 / draws))


@pytest.mark.slow
def test_hierarchical_is_the_posterior_of_the_graph():
    pm = pytest.importorskip("pymc")
    labels, _, _ = crowd(pairs=8, judges=3, each=2, seed=4)
    votes = Votes.of(labels, 1, graded=False, human={labels.pair_ids()[0]: 1})
    # a heavy weight fixes the share that misleads, which is cut from the rest
    prior = CrowdPrior(misleading=0.4, misleading_weight=1e7, topic_weight=5.0)
    made = hierarchical(votes, draws=20_000, tune=1_000, chains=2, prior=prior, seed=1)
    begin = dawid_skene(votes, iterations=20).grades
    none = np.zeros((votes.n_judges, 2, 2))
    of_chains = [shares_of_grades(votes, begin, prior, none, 1_000, s) for s in spawn_seeds(1, 4)]
    seeming = 0.6 * np.eye(2) + 0.4 * np.mean(of_chains[2:], axis=0)
    with pm.Model():
        pi = pm.Dirichlet("pi", np.ones(2))
        of_topic = pm.Dirichlet("of_topic", 5.0 * pi, shape=(votes.n_topics, 2))
        mean = pm.Normal("mean", np.log(0.25 / 0.75), 1.0, shape=2)
        skill, lean = pm.HalfNormal("skill", 1.0), pm.HalfNormal("lean", 1.0)
        own = pm.HalfNormal("own", 1.0, shape=2)
        a = skill * pm.Normal("a", shape=votes.n_judges)
        b = lean * pm.Normal("b", shape=(votes.n_judges, 2))
        e = own[:, None] * pm.Normal("e", sigma=0.5**0.5, shape=(votes.n_judges, 2, 2))
        said = []
        for y in range(2):
            wrong = mean[y] - a + b[:, 1 - y] - b[:, y] + e[:, y, 1 - y] - e[:, y, y]
            chance = pm.math.sigmoid(wrong)
            shares = [1.0 - chance, chance] if y == 0 else [chance, 1.0 - chance]
            said.append(pm.Deterministic(f"said{y}", pm.math.stack(shares, axis=1)))
        total = 0.0
        chances = []
        for pair in range(votes.n_pairs):
            of_pair = np.flatnonzero(votes.pair_of == pair)
            seems = [
                pm.math.prod(
                    pm.math.stack([said[y][votes.judge_of[i], votes.grade[i]] for i in of_pair])
                )
                for y in range(2)
            ]
            weights = [
                of_topic[votes.topic_of[pair], z]
                * (seeming[z, 0] * seems[0] + seeming[z, 1] * seems[1])
                for z in range(2)
            ]
            if votes.gold[pair] >= 0:
                weights[1 - votes.gold[pair]] = 0.0
            whole = weights[0] + weights[1]
            chances.append(weights[1] / whole)
            total = total + pm.math.log(whole)
        pm.Potential("labels", total)
        pm.Deterministic("relevant", pm.math.stack(chances))
        drawn = pm.sample(
            1_000, tune=1_000, chains=4, cores=2, random_seed=1, progressbar=False,
            target_accept=0.95,
        )  # fmt: skip
    relevant = drawn.posterior["relevant"].to_numpy().reshape(-1, votes.n_pairs)
    # at least a thousand draws in effect each: a standard error of .01, and .008 of the sampler's
    np.testing.assert_allclose(made.grades[:, 1], relevant.mean(axis=0), atol=0.04)
    judged = np.stack([drawn.posterior[f"said{y}"].to_numpy() for y in range(2)], axis=-2)
    judged = judged.reshape(-1, votes.n_judges, 2, 2)
    said = np.linalg.inv(seeming) @ made.confusion.mean(axis=0)
    np.testing.assert_allclose(said, judged.mean(axis=0), atol=0.05)


def workers_apart(share, seed):
    """Four labels a pair of workers who err one by one, right with .75, and the true grades."""
    truth = (np.random.default_rng(seed).random(600) < share).astype(int)
    qrels = rb.Qrels({"1": {f"d{i}": int(grade) for i, grade in enumerate(truth)}})
    labels = rb.simulate_labels(
        qrels, n_judges=60, per_pair=4, expertise=0.75, concentration=20.0, seed=seed
    )
    return labels, labels.gold_grades()


def test_hierarchical_is_not_behind_the_vote_where_nothing_misleads():
    gains = []
    for seed in (0, 1):
        labels, truth = workers_apart(1 / 3, seed)
        p = rb.aggregate(labels).probability
        vote = rb.aggregate(labels, "mv").probability
        gains.extend(((p > 0.5) == truth).astype(float) - ((vote > 0.5) == truth))
        # as many relevant documents as seem to be: the posterior of how many there are has a
        # standard deviation of about .03
        assert p.mean() == pytest.approx(truth.mean(), abs=2 * 0.03)
    assert np.mean(gains) > -3.0 * np.std(gains) / np.sqrt(len(gains))


def test_shares_of_grades_are_where_nothing_misleads():
    labels, truth = workers_apart(1 / 4, seed=0)
    votes = Votes.of(labels, 1, graded=False, human=None)
    begin, none = dawid_skene(votes, iterations=20).grades, np.zeros((votes.n_judges, 2, 2))
    shares = shares_of_grades(votes, begin, CrowdPrior(), none, 400, seed=0)
    assert shares.sum() == pytest.approx(1.0)
    # 600 pairs, of which four labels tell about nine of ten: a standard error of .02
    assert shares[1] == pytest.approx(truth.mean(), abs=3 * 0.02)


def test_spammers_are_told_by_gold():
    truth = rb.Qrels({"7": {f"d{i:03d}": int(i % 3 == 0) for i in range(600)}})
    shares = {"random": 0.2, "constant": 0.2, "inverted": 0.2}
    labels = rb.simulate_labels(truth, n_judges=10, per_pair=5, spammers=shares, seed=3)
    gold = labels.gold_grades()[labels.pairs().of_label]
    right = np.bincount(labels.judge_of, labels.grade == gold) / np.bincount(labels.judge_of)
    relevant = np.bincount(labels.judge_of, labels.grade) / np.bincount(labels.judge_of)
    of = dict(zip(labels.judges, zip(right, relevant, strict=True), strict=True))
    # each gives 300 labels: a share's standard error is at most .029
    for worker in ("worker1", "worker2"):
        assert abs(of[worker][0] - 0.5) < 4 * 0.029
    assert (of["worker3"][1], of["worker4"][1]) == (0.0, 1.0)
    honest = rb.simulate_labels(truth, n_judges=10, per_pair=5, seed=3)
    as_honest = np.bincount(honest.judge_of, honest.grade == gold) / np.bincount(honest.judge_of)
    for worker in ("worker5", "worker6"):
        place = labels.judges.index(worker)
        assert abs(right[place] + as_honest[place] - 1.0) < 5 * 0.029
    assert (right[6:] == as_honest[6:]).all()
    for bad in ({"lazy": 0.1}, {"random": 1.2}, {"random": 0.6, "constant": 0.6}):
        with pytest.raises(rb.InputError, match="spammers"):
            rb.simulate_labels(truth, n_judges=10, spammers=bad)


def test_workers_are_as_alike_as_the_concentration_says():
    truth = rb.Qrels({"7": {f"d{i:03d}": int(i % 3 == 0) for i in range(600)}})

    def right(concentration):
        labels = rb.simulate_labels(
            truth, n_judges=20, per_pair=20, concentration=concentration, seed=3
        )
        gold = labels.gold_grades()[labels.pairs().of_label]
        return np.bincount(labels.judge_of, labels.grade == gold) / 600

    # of a beta of mean .7: sqrt(.21 / (concentration + 1)), and .019 of a worker's 600 labels
    assert right(1.0).std() > 0.2
    assert right(1e6).std() < 0.04
    with pytest.raises(rb.InputError, match="concentration 0; give"):
        rb.simulate_labels(truth, concentration=0)
    with pytest.raises(rb.InputError, match="seed is -1"):
        rb.simulate_labels(truth, seed=-1)
    with pytest.raises(rb.InputError, match="the truth has no judged document"):
        rb.simulate_labels(rb.Qrels({"7": {"d1": -1}}))


def test_chains_that_do_not_agree_are_told():
    truth = rb.Qrels({"7": {f"d{i:03d}": int(i < 60) for i in range(150)}})
    labels = rb.simulate_labels(truth, n_judges=6, per_pair=4, expertise=0.85, seed=1)
    known = dict(list(labels.gold.items())[::5])
    assert rb.aggregate(labels, human=known, draws=400, seed=1).r_hat < 1.05
    assert rb.aggregate(labels, "em").r_hat is None
    assert rb.aggregate(labels, draws=6, seed=1).r_hat is None


def test_chains_that_do_not_agree_are_warned_of():
    labels, _, _ = crowd(pairs=150, judges=8, each=5, seed=3)
    with pytest.warns(FitWarning, match=r"the chains do not agree \(R-hat"):
        made = rb.aggregate(labels, draws=20, seed=3)
    assert made.r_hat > 1.1


def test_a_judge_of_0_and_1_says_relevant_by_1():
    """Beside judges of 0 to 3, or a person's grades alone, at relevance level 2."""
    truth = rb.Qrels({"7": {f"d{i:03}": i % 4 for i in range(120)}})
    said = [(d, f"{judge}", grade) for judge in "ab" for d, grade in truth["7"].items()]
    said += [(d, "binary", int(grade >= 2)) for d, grade in truth["7"].items()]
    docnos, judges, grades = zip(*said, strict=True)
    labels = rb.Labels.of(["7"] * len(docnos), docnos, judges, grades)
    human = {("7", "d000"): 0, ("7", "d003"): 3}
    with pytest.warns(CollectionWarning, match="of binary are 0 and 1 alone: for these judges 1 c"):
        made = rb.aggregate(labels, "mv", relevance_level=2, human=human)
    assert made.n_known == 2
    assert set(np.round(made.probability, 6)) == {0.0, 1.0}
    assert rb.aggregate(labels, "mv", relevance_level=1).n_known == 0
    alone = rb.Labels.of(["7"] * 120, *zip(*said[-120:], strict=True))
    for method in ("em", "panel"):
        with pytest.warns(CollectionWarning, match="of binary are 0 and 1 alone"):
            made = rb.aggregate(alone, method, relevance_level=2, human=human)
        relevant = np.array([truth["7"][docno] >= 2 for _, docno in made.pairs])
        assert made.probability[relevant].min() > made.probability[~relevant].max()


@pytest.mark.parametrize("method", ["mv", "panel"])
def test_what_is_known_is_by_topic_and_docno(method):
    labels = rb.Labels.of([7] * 3, ["a", "b", "b"], ["x", "x", "y"], [1, 0, 1])
    by_number = rb.aggregate(labels, method, human={(7, "a"): 0}).probability
    np.testing.assert_array_equal(
        by_number, rb.aggregate(labels, method, human={("7", "a"): 0}).probability
    )
    assert by_number[0] == 0.0
    table = rb.Qrels({"7": {"a": 0}}).to_frame()
    for wrong, said in (
        ({"human": {"7": {"a": 0}}}, "human grades are of '7', which is no topic and docno"),
        ({"human": table}, "human grades are a DataFrame; give {"),
        ({"families": "families.csv", "method": "panel"}, "families are a str; give {judge: fam"),
    ):
        with pytest.raises(InputError, match=said):
            rb.aggregate(labels, **{"method": method, **wrong})


def _on_scales(*highest):
    """Labels of 120 documents by judges who each give grades from 0 to a highest."""
    docnos = [f"d{i:03}" for i in range(120)] * len(highest)
    judges = [f"to{high}" for high in highest for _ in range(120)]
    grades = [i % (high + 1) for high in highest for i in range(120)]
    return rb.Labels.of(["7"] * len(docnos), docnos, judges, grades)


def test_a_judge_of_0_and_1_gives_grades_to_a_panel_alone():
    """No other method takes its 1 for relevant by grade, and none says so."""
    labels = _on_scales(3, 1)
    with pytest.warns(CollectionWarning, match="of to1 .*, and mv by grade takes their 1 for gra"):
        votes = rb.aggregate(labels, "mv", relevance_level=2, graded=True)
    both = [votes.pairs.index(("7", f"d{i:03}")) for i in (1, 2, 3)]
    np.testing.assert_allclose(votes.probability[both], [0.0, 0.5, 0.5])
    with pytest.warns(CollectionWarning, match="of to1 are 0 and 1 alone: for these judges 1 cou"):
        rb.aggregate(labels, "panel", relevance_level=2, graded=True)


def test_judges_on_a_shorter_scale_are_remarked_on_where_all_are_read_on_one():
    labels = _on_scales(5, 3)
    for method, graded in (("panel", False), ("panel", True), ("mv", True)):
        with pytest.warns(CollectionWarning, match="no label of to3 reaches 5, the highest grade"):
            rb.aggregate(labels, method, relevance_level=2, graded=graded)
    rb.aggregate(labels, "mv", relevance_level=2)  # goes by the level alone, and says nothing


@pytest.mark.filterwarnings("ignore:the chains do not agree")
@pytest.mark.parametrize("method", ["mv", "em", "one-coin", "glad", "hierarchical"])
def test_probabilities_that_a_method_does_not_count_are_said(method):
    columns = ["7"] * 4, ["a", "b"] * 2, ["x", "x", "y", "y"], [1, 0, 1, 1]
    labels = rb.Labels.of(*columns, probability=[0.99, 0.4, math.nan, 0.51])
    said = f"{method} goes by grades alone and leaves aside the probabilities .* 3 labels: panel"
    few = {"draws": 20} if method == "hierarchical" else {}
    with pytest.warns(CollectionWarning, match=said):
        made = rb.aggregate(labels, method, **few)
    same = rb.aggregate(rb.Labels.of(*columns), method, **few)
    np.testing.assert_array_equal(made.grades, same.grades)
    rb.aggregate(labels, "panel")
    rb.aggregate(rb.Labels.of(*columns, probability=[math.nan] * 4), method, **few)


@pytest.mark.parametrize("method", ["mv", "em", "panel"])
def test_gold_sets_no_scale_of_judges(method):
    """Labels of 0 and 1 beside gold of 0 to 3 are read as with the same grades of a person."""
    docnos = [f"d{i:02}" for i in range(60)]
    columns = ["7"] * 60, docnos, ["llm"] * 60, [int(i % 4 >= 2) for i in range(60)]
    gold = {("7", docno): i % 4 for i, docno in enumerate(docnos) if i % 3 == 0}
    labels, plain = rb.Labels.of(*columns, gold=gold), rb.Labels.of(*columns)
    assert rb.Labels.of(*columns, gold=gold, n_grades=2).gold == labels.gold == gold
    for level in (1, 2):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made, same = (
                rb.aggregate(each, method, relevance_level=level, human=gold)
                for each in (labels, plain)
            )
        np.testing.assert_array_equal(made.grades, same.grades)
        notes = [str(note.message) for note in said]
        assert len(notes) == 2 * (level > 1)
        assert all("labels of llm are 0 and 1 alone" in note for note in notes)
    with pytest.raises(InputError, match="a true grade is 101"):
        rb.Labels.of(*columns, gold={("7", "d00"): 101})


def test_a_judge_none_of_whose_labels_is_relevant_is_remarked_on():
    truth = {f"d{i:03}": i % 4 for i in range(120)}
    said = [(d, judge, grade) for judge in "ab" for d, grade in truth.items()]
    said += [(d, "low", min(grade, 2)) for d, grade in truth.items()]
    docnos, judges, grades = zip(*said, strict=True)
    labels = rb.Labels.of(["7"] * len(docnos), docnos, judges, grades)
    with pytest.warns(CollectionWarning, match="no label of low reaches 3, the lowest relevant"):
        rb.aggregate(labels, "mv", relevance_level=3)


def test_one_judge_alone_is_a_panel_of_one():
    labels, truth, _ = crowd(pairs=40, judges=1, each=1)
    human = dict(list(zip(labels.pair_ids(), truth.tolist(), strict=True))[:10])
    assert rb.aggregate(labels, human=human).method == "panel"
    with pytest.raises(
        InputError, match='panel takes no draws; leave it out, or give method="hier'
    ):
        rb.aggregate(labels, human=human, draws=200)
    assert rb.aggregate(crowd(pairs=9)[0], draws=200).method == "hierarchical"


def test_a_maximum_at_one_end_is_warned_of():
    """Half the judges say relevant, always; the others what is so, of a fifth."""
    rng = np.random.default_rng(1)
    rows = [
        (f"d{i}", f"j{j}", 1 if j else int(rng.random() < 0.2)) for i in range(200) for j in (0, 1)
    ]
    docnos, judges, grades = zip(*rows, strict=True)
    labels = rb.Labels.of(["1"] * len(rows), docnos, judges, grades)
    with pytest.warns(rb.FitWarning, match=r"one-coin takes 100% of the documents for relevant"):
        rb.aggregate(labels, "one-coin")


def test_known_grades_of_chosen_documents_are_warned_of():
    """Judges may err otherwise on documents that were chosen to tell systems apart."""
    labels = rb.Labels.of(["7"] * 4, ["d1", "d1", "d2", "d2"], ["ann", "bob"] * 2, [1, 1, 0, 1])
    grades = {"7": {"d1": 1}}
    rb.aggregate(labels, "em", human=rb.Qrels(grades))
    with pytest.warns(rb.CollectionWarning, match="take a random sample for human"):
        rb.aggregate(labels, "em", human=rb.Qrels(grades, judged_for=["A"]))


@pytest.mark.parametrize("grade", [1.5, "1", math.inf])
def test_a_humans_grade_is_a_whole_number(grade):
    labels = rb.Labels.of(["7", "7"], ["a", "b"], ["x", "x"], [1, 0])
    with pytest.raises(InputError, match="topic 7, a: a human's grade is"):
        rb.aggregate(labels, "em", human={("7", "a"): grade})


@pytest.mark.parametrize("method", ["mv", "panel"])
def test_the_relevance_level_is_that_of_the_humans_qrels(method):
    labels = rb.Labels.of(["7"] * 4, ["a", "a", "b", "b"], ["ann", "bob"] * 2, [3, 2, 0, 1])
    grades = {"7": {"a": 1, "c": 2}}
    qrels = rb.Qrels(grades, relevance_level=2)
    stated = rb.aggregate(labels, method, human=qrels).probability
    told = rb.aggregate(labels, method, human=rb.Qrels(grades), relevance_level=2)
    assert stated.tolist() == told.probability.tolist()
    assert stated[0] == 0.0
    with pytest.warns(rb.CollectionWarning, match="it was those from 2 on"):
        assert rb.aggregate(labels, method, human=qrels, relevance_level=1).probability[0] == 1.0


def test_a_human_who_does_not_know_says_nothing():
    labels = rb.Labels.of(["7", "7"], ["a", "b"], ["x", "x"], [1, 0])
    with pytest.warns(CollectionWarning, match="no pair whose grade is known has labels"):
        unknown = rb.aggregate(labels, "em", human={("7", "a"): math.nan})
    assert unknown.n_known == 0
    np.testing.assert_array_equal(unknown.grades, rb.aggregate(labels, "em").grades)


def test_glad_is_not_led_by_a_judge_who_always_says_the_same():
    """Two judges are right nine times of ten; the third calls everything relevant."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    said = [truth ^ (rng.random(100) < 0.1), truth ^ (rng.random(100) < 0.1), np.ones(100, int)]
    docnos = [f"d{i}" for i in range(100)]
    judges = np.repeat(["a", "b", "c"], 100).tolist()
    made = rb.aggregate(rb.Labels.of(["7"] * 300, docnos * 3, judges, np.concatenate(said)), "glad")
    right = [truth[docnos.index(docno)] for _, docno in made.pairs]
    # .9 of 100 but for three standard errors
    assert ((made.grades[:, 1] > 0.5) == right).mean() > 0.81


def test_words_of_before_name_those_of_now():
    labels = rb.Labels.of(["1"] * 2, ["a", "b"], ["x", "y"], [0, 1])
    panel = rb.fit_panel([[0.0], [1.0]], ["t", "t"])
    for call, said in (
        (lambda: rb.aggregate(labels, rel=1), "aggregate takes no rel; write relevance_level"),
        (lambda: rb.fit_panel([[1.0]], ["t"], rel=1), "fit_panel takes no rel; write relevance"),
        (lambda: rb.agreement(labels, level="nominal"), "agreement takes no level; write scale"),
        (lambda: rb.draw_checks(panel, n=1), "draw_checks takes no n; write count"),
        (lambda: rb.suggest_checks(panel, n=1), "suggest_checks takes no n; write count"),
        (
            lambda: rb.assessor_confusion(rb.Qrels({}), rb.Qrels({}), second_level=1),
            "takes no second_level; write second_relevance_level",
        ),
    ):
        with pytest.raises(InputError, match=said):
            call()


@pytest.mark.filterwarnings("ignore:the chains do not agree")
def test_chains_have_shares_of_grades_of_their_own():
    """Three labels a pair, few of them relevant: one chain cannot tell how many are."""
    truth = rb.Qrels({"1": {f"d{i}": int(i % 25 == 0) for i in range(600)}})
    labels = rb.simulate_labels(truth, n_judges=60, per_pair=3, expertise=0.7, seed=1)
    votes = Votes.of(labels, 1, graded=False, human=None)
    begin, none = dawid_skene(votes, iterations=20).grades, np.zeros((votes.n_judges, 2, 2))
    seeds = spawn_seeds(0, 4)[2:]
    shares = [shares_of_grades(votes, begin, CrowdPrior(), none, 500, seed)[1] for seed in seeds]
    made = hierarchical(votes, draws=1000, seed=0)
    expected = made.draws.reshape(2, 500, -1).mean(axis=(1, 2))
    assert np.argmax(shares) == np.argmax(expected)
    assert made.r_hat > 1.05
    hierarchical(votes, draws=2, tune=0, seed=0)


def test_chains_that_each_stand_still_do_not_agree():
    true = np.zeros((2, 8, 3), dtype=np.int8)
    true[1] = 1
    said = np.broadcast_to(np.eye(2), (2, 8, 1, 2, 2))
    assert largest_r_hat(true, said) == np.inf
    true[0, 4:], true[1, :4] = 1, 0
    assert largest_r_hat(true, said) == np.inf


def test_options_are_checked_as_those_of_the_method_that_is_taken():
    one = rb.Labels.of(["1"] * 2, ["a", "b"], ["x", "x"], [0, 1])
    two = rb.Labels.of(["1"] * 2, ["a", "b"], ["x", "y"], [0, 1])
    assert rb.aggregate(one).method == "panel"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.FitWarning)  # of so few draws
        assert rb.aggregate(two, draws=10).method == "hierarchical"
    assert rb.aggregate(two, families={"x": "f"}).method == "panel"
    with pytest.raises(TypeError, match="missing a required argument: 'labels'"):
        rb.aggregate(draws=10)
    for labels, families in ((one, None), (two, {"x": "f"})):
        with pytest.raises(InputError, match="method panel takes no draws; leave it out, or give"):
            rb.aggregate(labels, draws=10, families=families)
