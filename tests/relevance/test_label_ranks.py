"""How labels go with ranks: judges by lot count for little, and it is said."""

import warnings

import numpy as np
import pandas as pd
import pytest
from pools import label_all, make_pool, pool_of

import rtc_bayes as rb
from rtc_bayes import Judgments
from rtc_bayes.errors import ByLotWarning
from rtc_bayes.relevance import LabelEvidence, evidence_said
from rtc_bayes.relevance.label_ranks import BesideRanks, RankCorrelation, credit, follows


def test_the_correlation_is_that_within_topics():
    pool = make_pool(topics=4, depth=8)
    rng = np.random.default_rng(1)
    x, labelled = rng.random(pool.n_documents), rng.random(pool.n_documents) < 0.7
    curves = [rb.relevance.rank_curve(pool.ranks(t).T, pool.depth) for t in range(pool.n_topics)]
    table = pd.DataFrame({"topic": pool.topic_of, "x": x, "height": np.vstack(curves).mean(axis=1)})
    table = table[labelled]
    within = table[["x", "height"]] - table.groupby("topic")[["x", "height"]].transform("mean")
    r, n = BesideRanks.of(pool).correlation(x, labelled)
    assert r == pytest.approx(within.corr().iloc[0, 1])
    assert n == len(table) - table.topic.nunique()


def test_what_does_not_vary_tells_nothing_of_a_judge():
    pool = make_pool()
    every = np.ones(pool.n_documents, dtype=bool)
    nothing = BesideRanks.of(pool).correlation(every.astype(float), every)
    assert nothing == (0.0, 0)
    assert follows(nothing) == 0.0
    assert credit([nothing]).tolist() == [1.0]


def test_credit_is_the_posterior_probability_by_hand():
    def density(x, mean, sd):
        return np.exp(-(((x - mean) / sd) ** 2) / 2) / sd

    for r, n in ((0.02, 400), (0.2, 100), (0.07, 2000)):
        by_lot, by_people = density(r, 0, n**-0.5), density(r, 0.3, (0.14**2 + 1 / n) ** 0.5)
        expected = 0.95 * by_people / (0.95 * by_people + 0.05 * by_lot)
        assert credit([RankCorrelation(r, n)])[0] == pytest.approx(expected)
    # against the ranks is no better than by lot
    assert credit([RankCorrelation(-0.4, 400)]) == credit([RankCorrelation(0.0, 400)])


@pytest.fixture(scope="module")
def judged_by_nobody():
    """A pool, its truth, and labels by lot."""
    made = rb.simulate(n_topics=40, n_systems=8, seed=2)
    pool = rb.Pool.from_runs(made.runs, depth=40)
    both = zip(pool.topic_of, pool.docnos, strict=True)
    relevant = np.array([made.qrels[pool.topics[t]].get(d, 0) > 0 for t, d in both], dtype=int)
    return pool, relevant, np.random.default_rng(3).integers(0, 2, pool.n_documents)


def test_a_judge_by_lot_counts_for_little_and_a_good_one_as_it_is(judged_by_nobody):
    pool, relevant, lot = judged_by_nobody
    none = Judgments.none(pool)
    good, bad = (
        LabelEvidence(none.with_judge_labels(label_all(pool, grades))) for grades in (relevant, lot)
    )
    assert good.credit > 0.999
    assert good.follows == 1.0
    assert bad.credit < 0.5
    assert bad.told < 0.05
    assert np.abs(bad.score).max() < 0.5 * np.abs(good.score).max()
    said = r"labels of llm \(counts 0\.\d\d\) go with the systems' ranks hardly more than .* by lot"
    with pytest.warns(ByLotWarning, match=said):
        rb.fit(pool, none, model="hierarchical:map", labels=label_all(pool, lot))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ByLotWarning)
        rb.fit(pool, none, model="hierarchical:map", labels=label_all(pool, relevant))
        with evidence_said():
            rb.fit(pool, none, model="hierarchical:map", labels=label_all(pool, lot))


def of_judges(pool, grades, judge_of):
    topics = [pool.topics[t] for t in pool.topic_of]
    return Judgments.none(pool).with_judge_labels(
        rb.Labels.of(topics, pool.docnos.tolist(), judge_of, grades, n_grades=2)
    )


def test_each_of_several_judges_has_its_credit(judged_by_nobody):
    pool, relevant, lot = judged_by_nobody
    every = np.arange(pool.n_documents)
    judges = np.where(every % 2, "good", "lot").tolist()
    evidence = LabelEvidence(of_judges(pool, np.where(every % 2, relevant, lot), judges))
    credit_of = dict(zip(evidence.judges, evidence.credit, strict=True))
    assert credit_of["good"] > 0.999
    assert credit_of["lot"] < 0.7


def test_labels_by_lot_count_for_little_however_many_judges_give_them(judged_by_nobody):
    """A few labels of each tell little of it; all of them together do."""
    pool, _, lot = judged_by_nobody
    judges = [f"w{d % 100:02}" for d in range(pool.n_documents)]
    assert LabelEvidence(of_judges(pool, lot, judges)).credit.max() < 0.5


def test_judgments_that_confirm_a_judge_restore_its_credit(judged_by_nobody):
    """A run ranks relevant documents no higher than others, so that ranks tell nothing."""
    pool, relevant, _ = judged_by_nobody
    poor = pool_of_poor_run(pool, relevant)
    truth = np.array([int(docno[0] == "r") for docno in poor.docnos])
    labels = label_all(poor, truth)
    before = LabelEvidence(Judgments.none(poor).with_judge_labels(labels))
    assert before.credit < 0.5
    judged = np.random.default_rng(1).permutation(len(truth))[:60]
    judgments = Judgments.from_labels(poor, judged, truth[judged].astype(float))
    after = LabelEvidence(judgments.with_judge_labels(labels))
    assert after.credit == 1.0


def pool_of_poor_run(pool, relevant):
    """One run, in random order; relevant documents are named r."""
    rng = np.random.default_rng(5)
    lists = {
        topic: [
            f"{'r' if relevant[d] else 'n'}{d}"
            for d in rng.permutation(np.arange(pool.n_documents)[pool.documents(t)])
        ]
        for t, topic in enumerate(pool.topics)
    }
    return pool_of({"one": lists}, depth=100)
