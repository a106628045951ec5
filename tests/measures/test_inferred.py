"""bpref, infAP and xinfAP: ir_measures' values, sums by hand, and averages over all samples."""

from itertools import combinations, product

import numpy as np
import pytest
from pools import pool_of, random_pool, runs_of

import rtc_bayes as rb
from rtc_bayes import Judgments, Qrels, Sample
from rtc_bayes.measures.incomplete import incomplete
from rtc_bayes.measures.inferred import EPSILON, bpref, inferred_ap


def test_bpref_and_infap_are_those_of_ir_measures():
    """On random lists and judgments, documents that no list holds among them."""
    rng = np.random.default_rng(6)
    for _ in range(5):
        lists = {
            f"s{s}": {str(t): [f"d{i:02d}" for i in rng.permutation(30)[:20]] for t in range(4)}
            for s in range(3)
        }
        qrels = Qrels(
            {
                str(t): {f"d{i:02d}": int(rng.random() < 0.4) for i in rng.permutation(30)[:12]}
                for t in range(4)
            }
        )
        runs, pool = runs_of(lists), pool_of(lists, depth=20)
        judgments = Judgments.from_qrels(pool, qrels)
        theirs = incomplete(runs, qrels, depth=20)
        np.testing.assert_allclose(bpref(judgments).mean, theirs["bpref"], atol=1e-12)
        np.testing.assert_allclose(inferred_ap(judgments).mean, theirs["infAP"], atol=1e-4)


def test_xinfap_by_hand():
    """Two strata: a and b, of which both are judged; c to f, of which d and e are."""
    pool = pool_of({"one": {"1": "abcdef"}}, depth=6)
    judgments = Judgments.from_labels(pool, [0, 1, 3, 4], [1, 0, 1, 0])
    sample = Sample(judgments, [1, 1, 0.5, 0.5, 0.5, 0.5], np.array([0, 0, 1, 1, 1, 1]))
    half = (1 + EPSILON) / (2 + 2 * EPSILON)
    nothing = EPSILON / (2 * EPSILON)
    # a stands for itself; d, at rank 4, for itself and another of its stratum
    first = 1.0
    fourth = 1 / 4 + 2 / 4 * half + 1 / 4 * nothing
    # relevant documents: 1 of the first stratum, 4 times 1/2 of the second
    assert inferred_ap(sample).mean[0, 0] == pytest.approx((1 * first + 2 * fourth) / 3)


def test_all_judged_is_average_precision():
    rng = np.random.default_rng(3)
    pool = random_pool(rng, systems=3, topics=4, documents=20, longest=15)
    labels = (rng.random(pool.n_documents) < 0.4).astype(float)
    judgments = Judgments.from_labels(pool, np.arange(pool.n_documents), labels)
    strata = np.arange(pool.n_documents) % 3
    true = rb.moments(pool, labels, pairs="none").expected[0]
    for sample in (judgments, Sample(judgments, np.ones(pool.n_documents), strata)):
        np.testing.assert_allclose(inferred_ap(sample).mean, true, atol=1e-4)


def test_the_bias_of_xinfap_over_all_stratified_samples():
    """It has one, where a stratum has no judged document above; the more are judged the smaller."""
    rng = np.random.default_rng(12)
    pool = random_pool(rng, systems=3, topics=1, documents=12)
    strata = np.where(pool.best_ranks <= 2, 0, 1)
    labels = np.where(strata == 0, rng.random(12) < 0.8, rng.random(12) < 0.5).astype(float)
    true = rb.moments(pool, labels, pairs="none").mean_expected[0]
    first, second = np.flatnonzero(strata == 0), np.flatnonzero(strata == 1)

    def biases(count):
        estimates, nonrelevant = [], []
        for some, others in product(
            combinations(first, len(first) - 1), combinations(second, count)
        ):
            judged = [*some, *others]
            judgments = Judgments.from_labels(pool, judged, labels[judged])
            share = np.where(strata == 0, 1 - 1 / len(first), count / len(second))
            estimates.append(inferred_ap(Sample(judgments, share, strata)).mean[:, 0])
            filled = np.nan_to_num(judgments.labels)
            nonrelevant.append(rb.moments(pool, filled, pairs="none").mean_expected[0])
        return (np.abs(np.mean(each, axis=0) - true) for each in (estimates, nonrelevant))

    half, of_nonrelevant = biases(len(second) // 2)
    nearly_all, _ = biases(len(second) - 1)
    assert half.mean() < 0.5 * of_nonrelevant.mean()
    assert nearly_all.mean() < 0.5 * half.mean()


def test_topics_without_relevant_documents_have_zero():
    pool = pool_of({"one": {"1": "ab", "2": "ab"}}, depth=2)
    judgments = Judgments.from_labels(pool, [0], [0])
    assert bpref(judgments).mean.tolist() == [[0.0, 0.0]]
    assert bpref(judgments).measure == "Bpref"
    assert inferred_ap(judgments).mean.tolist() == [[0.0, 0.0]]
