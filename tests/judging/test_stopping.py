"""The proof of a sign, against every way that judging may still go."""

from itertools import product

import numpy as np
import pytest
from pools import pool_of

from rtc_bayes import Judgments
from rtc_bayes.judging.state import JudgingState
from rtc_bayes.judging.stopping import SignProof


def differences(pool, cases, labels):
    """The mean difference in AP of the first two systems for every completion of labels."""
    per_topic = []
    for t in range(pool.n_topics):
        judged = labels[pool.documents(t)]
        c = cases.coefficients(pool, t, 0, 1)
        free = np.flatnonzero(np.isnan(judged))
        values = []
        for outcome in product((0.0, 1.0), repeat=len(free)):
            x = judged.copy()
            x[free] = outcome
            s = sum(c[i, j] * x[i] * x[j] for j in range(len(x)) for i in range(j + 1))
            values.append(s / x.sum() if x.any() else 0.0)
        per_topic.append(values)
    return per_topic


@pytest.mark.parametrize("unknown", [0.2, 0.6])
def test_bounds_hold_for_every_completion(rng, cases, unknown):
    proofs = 0
    for _ in range(150):
        pool = cases.pool(rng, topics=2, documents=7, length=5)
        labels = (rng.random(pool.n_documents) < 0.5).astype(float)
        labels[rng.random(labels.size) < unknown] = np.nan
        judged = np.flatnonzero(~np.isnan(labels))
        state = JudgingState(
            Judgments.from_labels(pool, judged, labels[judged]), rng.random(labels.size)
        )
        per_topic = differences(pool, cases, labels)
        for topic, values in zip(state.topics, per_topic, strict=True):
            lowest, highest = topic.bounds(0)
            assert lowest <= min(values) + 1e-12
            assert highest >= max(values) - 1e-12
            if topic.judged.all():
                assert lowest == pytest.approx(values[0], abs=1e-12)
                assert highest == pytest.approx(values[0], abs=1e-12)
        if SignProof(state).holds(0):
            proofs += 1
            totals = [sum(v) for v in product(*per_topic)]
            assert min(totals) > 0 or max(totals) < 0
    assert proofs > 10


def test_a_noisy_label_proves_nothing():
    pool = pool_of({"A": {"1": ["D1"]}, "B": {"1": ["D2"]}})

    def proved(label):
        state = JudgingState(Judgments.from_labels(pool, [0, 1], [label, 0.0]), np.full(2, 0.5))
        return SignProof(state).holds(0)

    assert proved(1.0)
    assert not proved(0.99)


def test_the_proof_follows_the_judgments():
    pool = pool_of({"A": {"1": ["D1"]}, "B": {"1": ["D2"]}})
    state = JudgingState(Judgments.none(pool), np.full(2, 0.5))
    proof = SignProof(state)
    assert not proof.holds(0)
    state.observe(0, 1.0)
    assert not proof.holds(0)
    state.observe(1, 0.0)
    assert proof.holds(0)
