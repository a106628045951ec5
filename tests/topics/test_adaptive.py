"""Adaptive selection: judged topics are known, others never read, and the order is the best."""

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.errors import InputError
from rtc_bayes.topics.adaptive import rank_topics
from rtc_bayes.topics.beliefs import belief, platt
from rtc_bayes.topics.objective import Objective
from rtc_bayes.topics.predicted_scores import drawn_scores, predicted_scores, probabilities_by
from rtc_bayes.topics.solvers.vote import covering_subsets

N_TOPICS = 9


@pytest.fixture(scope="module")
def track():
    data = rb.simulate(n_topics=N_TOPICS, n_systems=7, seed=5)
    return rb.Pool.from_runs(data.runs, depth=12), data.qrels


@pytest.mark.parametrize("by", ["logistic", "svm", "topic_calibration:map", "hierarchical:laplace"])
def test_judged_topics_are_scored_as_they_are(track, by):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 3, by=by, seed=2)
    assert len(set(chosen.topics)) == 3
    sizes = dict(zip(pool.topics, np.diff(pool.topic_starts).tolist(), strict=True))
    assert chosen.judged == tuple(sizes[topic] for topic in chosen.topics)
    assert chosen.judgments.n_judged == sum(chosen.judged)
    for topic in chosen.topics:
        column = chosen.scores.topics.index(topic)
        labels = chosen.judgments.labels[pool.documents(pool.topics.index(topic))]
        for s, system in enumerate(pool.systems):
            ranks = pool.ranks(pool.topics.index(topic))[s]
            found = np.sort(ranks[(ranks > 0) & (labels > 0)])
            precision = np.arange(1, len(found) + 1) / found
            expected = precision.sum() / max(labels.sum(), 1)
            assert chosen.scores.mean[s, column] == pytest.approx(expected, abs=1e-12), system
        assert chosen.scores.variance[:, column] == pytest.approx(0.0, abs=1e-24)
    unjudged = [t for t in chosen.scores.topics if t not in chosen.topics]
    columns = [chosen.scores.topics.index(t) for t in unjudged]
    assert (chosen.scores.variance[:, columns] > 0.0).any()


def test_a_topic_that_is_not_chosen_is_never_read(track):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 4, seed=1)
    other = {topic: dict(qrels[topic]) for topic in qrels}
    for topic in set(pool.topics) - set(chosen.topics):
        other[topic] = {docno: 1 - (grade > 0) for docno, grade in qrels[topic].items()}
    again = rb.select_adaptively(pool, rb.Qrels(other), 4, seed=1)
    assert again.topics == chosen.topics
    np.testing.assert_array_equal(again.scores.mean, chosen.scores.mean)


@pytest.mark.parametrize("noise", ["mean", "none"])
def test_topics_are_ranked_by_gamma(track, noise):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 2, seed=3)
    scores = chosen.scores
    variance = scores.variance if noise == "mean" else np.zeros_like(scores.variance)
    objective = Objective.of(rb.ScoreMatrix(scores.mean, variance, scores.systems, scores.topics))
    ranked = rank_topics(scores, chosen.topics, noise=noise)
    rhos = {}
    for topic in set(scores.topics) - set(chosen.topics):
        rhos[topic] = objective.rho([t in (*chosen.topics, topic) for t in scores.topics])
    assert [topic for topic, _ in ranked] == sorted(rhos, key=lambda topic: -rhos[topic])
    assert dict(ranked) == pytest.approx(rhos)


def test_all_topics_give_the_mean_over_all(track):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, N_TOPICS, seed=1)
    assert sorted(chosen.topics) == sorted(pool.topics)
    np.testing.assert_allclose(chosen.mean("selected"), chosen.mean("all"), rtol=1e-12)


@pytest.mark.parametrize("measure", ["nDCG@3", "DCG@3", "ERR@3", "nDCG(dcg='exp-log2')@3", "AP"])
@pytest.mark.parametrize("level", [1, 2])
def test_scores_of_topics_all_judged_are_the_true_ones_by_grades(measure, level):
    rng = np.random.default_rng(1)
    docnos = [f"d{i}" for i in range(6)]
    names = [str(t) for t in range(1, 6)]
    runs = rb.Runs(
        [
            rb.Run.from_rankings(f"s{s}", {t: rng.permutation(docnos).tolist() for t in names})
            for s in range(4)
        ]
    )
    grades = {t: rng.choice([-1, 0, 1, 3], 6).tolist() for t in names}
    qrels = rb.Qrels({t: dict(zip(docnos, of, strict=True)) for t, of in grades.items()})
    pool = rb.Pool.from_runs(runs, depth=6)
    some = rb.select_adaptively(pool, qrels, 3, measure=measure, relevance_level=level, seed=1)
    every = rb.select_adaptively(pool, qrels, 5, measure=measure, relevance_level=level, seed=1)
    true = rb.evaluate(runs, qrels, measure, relevance_level=level)
    np.testing.assert_allclose(every.mean(), true.mean[measure], atol=1e-12)
    suggested = rb.suggest_topics(pool, some.judgments, measure=measure, noise="draws")
    assert sorted([*suggested["topic"], *some.topics]) == names


def test_hard_labels_leave_no_variance(track):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 2, hard=True, noise="none", seed=1)
    assert (chosen.scores.variance == 0.0).all()


def test_draws_add_what_parameters_leave_unknown(track):
    pool, _ = track
    rng = np.random.default_rng(1)
    draws = rng.random((3, pool.n_documents))
    none = rb.Judgments.none(pool)
    [together] = predicted_scores(none, draws)
    alone = [predicted_scores(none, draws[[d]])[0] for d in range(3)]
    means = np.array([one.mean for one in alone])
    variances = np.array([one.variance for one in alone])
    np.testing.assert_allclose(together.mean, means.mean(axis=0))
    np.testing.assert_allclose(together.variance, variances.mean(axis=0) + means.var(axis=0))


def test_noise_that_systems_share_is_centred_away(track):
    pool, _ = track
    rng = np.random.default_rng(4)
    apart = rng.normal(size=(50, pool.n_systems, pool.n_topics))
    apart[:, :, 0] = rng.normal(size=50)[:, None]
    mean, variance = apart.mean(axis=0), apart.var(axis=0)
    mean[:, 0] = rng.random(pool.n_systems)
    scores = rb.ScoreMatrix(mean, variance, pool.systems, pool.topics)
    names = list(scores.topics)
    ranked = dict(rank_topics(scores, names[1:2], noise="centred", draws=[apart]))
    # (tr C - 1'C1 / l) / (l - 1), with C the covariance over systems of a topic's scores
    size = pool.n_systems
    covariances = [np.cov(apart[:, :, t].T, bias=True) for t in range(len(names))]
    noise = [(np.trace(c) - c.sum() / size) / (size - 1) for c in covariances]
    assert noise[0] == pytest.approx(0.0, abs=1e-12)
    assert variance[:, 0].min() > 0.5
    by_hand = rb.ScoreMatrix(mean, np.tile(noise, (size, 1)), pool.systems, names)
    assert ranked == pytest.approx(dict(rank_topics(by_hand, names[1:2])))


def test_covariances_of_draws_are_averaged(track):
    pool, _ = track
    rng = np.random.default_rng(6)
    drawn = rng.random((8, pool.n_systems, pool.n_topics))
    scores = rb.ScoreMatrix(drawn.mean(axis=0), drawn.var(axis=0), pool.systems, pool.topics)
    names, judged = list(scores.topics), list(scores.topics)[:2]
    covariance = np.mean([np.cov(one.T) for one in drawn], axis=0)
    for topic, rho in rank_topics(scores, judged, noise="draws", draws=[drawn]):
        d = np.array([name in (*judged, topic) for name in names], dtype=float)
        gamma = covariance.sum(axis=0) @ d / np.sqrt(d @ covariance @ d)
        assert rho == pytest.approx(gamma / np.sqrt(covariance.sum()))


@pytest.mark.parametrize("noise", ["mean", "none", "centred", "draws"])
def test_what_all_systems_share_of_a_topic_changes_nothing(track, noise):
    pool, _ = track
    rng = np.random.default_rng(7)
    drawn = rng.random((6, pool.n_systems, pool.n_topics))
    shift = 10.0 * rng.normal(size=pool.n_topics)
    ranked = []
    for values in (drawn, drawn + shift):
        mean, variance = values.mean(axis=0), drawn.var(axis=0)
        scores = rb.ScoreMatrix(mean, variance, pool.systems, pool.topics)
        ranked.append(rank_topics(scores, pool.topics[:2], noise=noise, draws=[values]))
    assert [topic for topic, _ in ranked[0]] == [topic for topic, _ in ranked[1]]
    assert dict(ranked[0]) == pytest.approx(dict(ranked[1]))


@pytest.mark.parametrize("noise", ["centred", "draws"])
def test_scores_without_doubt_have_no_noise(track, noise):
    """Draws that agree, or that all systems move alike in, leave what `none` says."""
    pool, _ = track
    rng = np.random.default_rng(8)
    mean = rng.random((pool.n_systems, pool.n_topics))
    shared = rng.normal(size=(5, 1, pool.n_topics))
    shared -= shared.mean(axis=0)
    for moved in (0.0 * shared, shared):
        drawn = mean + moved
        scores = rb.ScoreMatrix(mean, drawn.var(axis=0), pool.systems, pool.topics)
        without = rank_topics(scores, pool.topics[:2], noise="none")
        ranked = rank_topics(scores, pool.topics[:2], noise=noise, draws=[drawn])
        assert dict(ranked) == pytest.approx(dict(without))
        assert [topic for topic, _ in ranked] == [topic for topic, _ in without]


def test_several_topics_are_judged_before_any_is_chosen(track):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 5, first="504")
    assert rb.select_adaptively(pool, qrels, 5, first=504).topics == chosen.topics
    more = rb.select_adaptively(pool, qrels, 5, first=[int(each) for each in chosen.topics[:3]])
    assert more.topics == chosen.topics
    assert np.isnan(more.rhos[:3]).all()
    assert more.rhos[3:] == chosen.rhos[3:]


@pytest.mark.parametrize("n_draws", [1, 40])
def test_drawn_scores_have_the_moments_of_the_belief(track, n_draws):
    pool, qrels = track
    judgments = rb.select_adaptively(pool, qrels, 2, seed=3).judgments
    rng = np.random.default_rng(2)
    p = probabilities_by(lambda _: rng.random((n_draws, pool.n_documents)), judgments)
    [scores], [drawn] = predicted_scores(judgments, p), drawn_scores(judgments, p, seed=1)
    assert drawn.shape == (200 if n_draws == 1 else n_draws, *scores.mean.shape)
    error = np.sqrt(scores.variance / len(drawn))
    judged = scores.variance == 0.0
    np.testing.assert_allclose(drawn.mean(axis=0)[judged], scores.mean[judged], rtol=1e-12)
    far = ((drawn.mean(axis=0) - scores.mean)[~judged] / error[~judged]) ** 2
    assert far.mean() < 1.0 + 5.0 * np.sqrt(2.0 / pool.n_topics)


@pytest.mark.parametrize("noise", ["centred", "draws"])
def test_topics_are_chosen_by_drawn_scores(track, noise):
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 4, noise=noise, seed=1)
    again = rb.select_adaptively(pool, qrels, 4, noise=noise, seed=1)
    assert chosen.topics == again.topics
    assert len(set(chosen.topics)) == 4
    some = chosen.judgments.keep(
        np.flatnonzero(np.isin(pool.topic_of, [pool.topics.index(t) for t in chosen.topics[:3]]))
    )
    suggested = rb.suggest_topics(pool, some, noise=noise, seed=1)
    assert suggested["topic"].iloc[0] == chosen.topics[3]


def test_a_classifier_finds_what_ranks_say():
    data = rb.simulate(n_topics=12, n_systems=10, seed=5)
    pool = rb.Pool.from_runs(data.runs, depth=60)
    labels = np.array(
        [
            float(data.qrels[pool.topics[t]].get(docno, 0) > 0)
            for t, docno in zip(pool.topic_of, pool.docnos, strict=True)
        ]
    )
    half = np.concatenate([np.r_[pool.documents(t)] for t in range(6)])
    rest = np.setdiff1d(np.arange(pool.n_documents), half)
    judgments = rb.Judgments.from_labels(pool, half, labels[half])
    for by in ("logistic", "svm"):
        p = belief(by, pool, 0)(judgments)
        assert (p[half] == labels[half]).all()
        assert p[rest][labels[rest] > 0].mean() > p[rest][labels[rest] == 0].mean() + 0.05


def test_platt_fits_smoothed_targets():
    rng = np.random.default_rng(2)
    values = rng.normal(size=400)
    relevant = rng.random(400) < 1.0 / (1.0 + np.exp(-2.0 * values + 1.0))
    a, b = platt(values, relevant)
    p = 1.0 / (1.0 + np.exp(a * values + b))
    n = relevant.sum()
    targets = np.where(relevant, (n + 1) / (n + 2), 1 / (400 - n + 2))
    # at the optimum the residuals sum to 0, alone and by the values
    assert abs((targets - p).sum()) < 1e-4
    assert abs((targets - p) @ values) < 1e-4
    assert a == pytest.approx(-2.0, abs=0.6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "size"),
        ({"size": N_TOPICS + 1}, "size is 10, of 9 topics"),
        ({"size": 2, "first": "nothing"}, "no topic is named 'nothing'"),
        ({"size": 2, "first": ["501", "501"]}, "2 first topics, 1 of them different"),
        ({"size": 1, "first": ["501", "502"]}, "2 of them different, for a size of 1"),
        ({"size": 2, "first": []}, "0 first topics.*; name 1 to size topics"),
        ({"size": 2, "noise": "some"}, "noise is 'some'; give one of mean, none, centred, draws"),
        ({"size": 2, "noise": "draws", "solver": "vote"}, "do not vote by draws; give noise"),
        ({"size": 2, "by": "unheard_of"}, "unheard_of.*; give logistic or svm, or a model"),
    ],
)
def test_what_cannot_be_asked(track, options, message):
    with pytest.raises(InputError, match=message):
        rb.select_adaptively(*track, **options)


def test_subsets_of_systems_vote_for_the_next_topic(track):
    """Adaptive+ by hand: each subset names the topic of largest gamma; most votes win."""
    pool, qrels = track
    chosen = rb.select_adaptively(pool, qrels, 2, seed=3)
    scores = chosen.scores
    ranked = rank_topics(scores, chosen.topics, solver="vote", subsets=20, share=0.8, seed=4)
    names = [t for t in scores.topics if t not in chosen.topics]
    penalty = scores.variance.mean(axis=0)
    votes, rhos = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for members in covering_subsets(pool.n_systems, 20, 0.8, seed=4):
        own = scores.mean[members]
        objective = Objective(
            own - own.mean(axis=0), np.full(len(members), 1 / (len(members) - 1)), penalty
        )
        rho = {t: objective.rho([s in (*chosen.topics, t) for s in scores.topics]) for t in names}
        votes[max(rho, key=rho.get)] += 1
        for topic, value in rho.items():
            rhos[topic] += value
    assert [t for t, _ in ranked] == sorted(names, key=lambda t: (-votes[t], -rhos[t]))
    assert max(votes.values()) < 20
    plus = rb.select_adaptively(pool, qrels, 3, first=chosen.topics[0], solver="vote", seed=4)
    assert len(set(plus.topics)) == 3


def test_several_measures_count_by_their_mean_rho(track):
    pool, qrels = track
    judgments = rb.select_adaptively(pool, qrels, 2, seed=3).judgments
    first = [pool.topics[t] for t in np.unique(pool.topic_of[judgments.order])]
    p = probabilities_by(belief("logistic", pool, 0), judgments)
    scores = predicted_scores(judgments, p, ("AP", "P@5"))
    both = dict(rank_topics(scores, first))
    each = [dict(rank_topics(one, first)) for one in scores]
    assert both == pytest.approx({t: (each[0][t] + each[1][t]) / 2 for t in both})
    # units do not count: precision in other units gives the same order
    scaled = rb.ScoreMatrix(
        100 * scores[1].mean, 100**2 * scores[1].variance, pool.systems, pool.topics, "P@5"
    )
    assert dict(rank_topics([scores[0], scaled], first)) == pytest.approx(both)
    star = rb.select_adaptively(pool, qrels, 3, measure=["P@5", "AP"], seed=3)
    assert star.scores.measure == "P@5"
    p = probabilities_by(belief("logistic", pool, 3), star.judgments)
    [again] = predicted_scores(star.judgments, p, ("P@5",))
    np.testing.assert_array_equal(star.scores.mean, again.mean)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"solver": "lasso"}, "solver is 'lasso'"),
        (
            {"measure": ["AP", "P(rel=2)@5"]},
            "by the relevance level, not by rel=2 of P\\(rel=2\\)@5",
        ),
        ({"measure": ()}, "no measure"),
        ({"measure": "MAPE"}, "MAPE"),
        ({"solver": "vote", "share": 0.0}, "share is 0.0"),
        ({"share": 0.5}, "solver greedy takes no share"),
        ({"subsets": 9}, "solver greedy takes no subsets"),
        ({"solver": "vote", "subsets": 1}, "1 subset of 5 systems"),
    ],
)
def test_ways_to_choose_that_are_not_there(track, options, says):
    pool, qrels = track
    with pytest.raises(InputError, match=says):
        rb.select_adaptively(pool, qrels, 3, **options)


def test_duplicating_all_systems_leaves_the_order_of_greedy(track):
    pool, qrels = track
    scores = rb.select_adaptively(pool, qrels, 2, seed=3).scores
    twice = rb.ScoreMatrix(
        np.tile(scores.mean, (2, 1)),
        np.tile(scores.variance, (2, 1)),
        [*scores.systems, *(f"{name} again" for name in scores.systems)],
        scores.topics,
    )
    one, two = (rank_topics(s, scores.topics[:1], noise="none") for s in (scores, twice))
    assert [t for t, _ in one] == [t for t, _ in two]
    assert dict(one) == pytest.approx(dict(two))


def test_topics_are_suggested_by_qrels_too():
    data = rb.simulate(n_topics=6, n_systems=5, seed=1)
    pool = rb.Pool.from_runs(data.runs, depth=10)
    one = rb.Qrels({"503": data.qrels["503"]})
    by_qrels = rb.suggest_topics(pool, one)
    pd.testing.assert_frame_equal(
        by_qrels, rb.suggest_topics(pool, rb.Judgments.from_qrels(pool, one))
    )


def test_sampled_scores_are_drawn_by_the_seed():
    data = rb.simulate(n_topics=4, n_systems=4, seed=5)
    pool = rb.Pool.from_runs(data.runs, depth=8)
    judgments = rb.Judgments.none(pool)
    p = np.full((1, pool.n_documents), 0.3)
    one, same, other = (
        predicted_scores(judgments, p, ["Bpref"], seed=seed)[0].mean for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("judged", ["1", ["999"], [1.0]])
def test_judged_topics_are_ids_of_the_scores(judged):
    scores = rb.ScoreMatrix(np.eye(3), np.zeros((3, 3)), "abc", ("1", "2", "3"), "AP")
    with pytest.raises(InputError, match=r"is not a list of names|no topic is named '999'"):
        rank_topics(scores, judged)
    assert rank_topics(scores, [1]) == rank_topics(scores, ["1"])
