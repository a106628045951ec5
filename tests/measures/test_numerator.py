"""The numerator's kernels against sums over pairs of documents written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rtc_bayes.collection.lists import Lists
from rtc_bayes.measures import numerator
from rtc_bayes.measures.average_precision import AveragePrecision
from rtc_bayes.measures.overlaps import Overlaps


def lists_of(rng, documents, systems, length):
    parts = [rng.permutation(documents)[:length].astype(np.int32) for _ in range(systems)]
    starts = np.arange(systems + 1, dtype=np.int64) * length
    return np.concatenate(parts), starts


def coefficients(ranked, starts, documents):
    inverse = np.zeros((len(starts) - 1, documents))
    for s in range(len(starts) - 1):
        part = ranked[starts[s] : starts[s + 1]]
        inverse[s, part] = 1 / np.arange(1, len(part) + 1)
    return np.minimum(inverse[:, :, None], inverse[:, None, :])


# of two lanes: a stretch, two that merge, one more document, many; of one lane, up to 64 a loop
@pytest.mark.parametrize(
    ("documents", "length"), [(8, 8), (16, 16), (17, 17), (30, 20), (300, 250)]
)
def test_kernels_match_the_sums_over_pairs(documents, length):
    rng = np.random.default_rng(documents)
    ranked, starts = lists_of(rng, documents, 3, length)
    lists = Lists.complete(ranked, starts)
    arrays = lists.arrays
    p = rng.random((2, documents))
    p[:, ::7] = 0.0
    p[:, ::11] = 1.0
    v = p * (1 - p)
    weight = np.array([0.7, 1.9])
    centre = np.array([0.3, 0.1, 0.0])
    a = coefficients(ranked, starts, documents)
    diagonal = np.einsum("sii->si", a)
    off = a * (1 - np.eye(documents))

    influence = diagonal[:, None] + np.einsum("sij,kj->ski", off, p)
    mean = np.einsum("si,ki->ks", diagonal, p) + np.einsum("sij,ki,kj->ks", off, p, p) / 2
    np.testing.assert_allclose(numerator.expected(*arrays, p.T.copy()), mean.T, rtol=1e-12)

    listed = diagonal > 0
    result = numerator.influence(*arrays, p.T.copy())
    wanted = [influence[s][:, ranked[starts[s] : starts[s + 1]]].T for s in range(3)]
    np.testing.assert_allclose(result, np.concatenate(wanted), rtol=1e-12)

    slope = influence * listed[:, None] - centre[:, None, None]
    covariance = np.einsum("k,ski,uki,ki->su", weight, slope, slope, v)
    quadratic = np.einsum("k,sij,uij,ki,kj->su", weight, off, off, v, v, optimize=True) / 2
    pairs = np.argwhere(np.triu(np.ones((3, 3), dtype=bool), 1))
    shared = Overlaps.of(lists, documents, pairs)
    lanes = (result, v.T.copy(), weight, np.array([0, 2]), centre[None])
    own, *sums = numerator.own_variances(*arrays, *lanes)
    between = numerator.covariances(
        *arrays,
        shared.pairs,
        shared.starts,
        shared.first,
        shared.second,
        *lanes,
        *sums,
    )
    result = np.diag(own[0])
    result[pairs[:, 0], pairs[:, 1]] = result[pairs[:, 1], pairs[:, 0]] = between[:, 0]
    np.testing.assert_allclose(result, covariance + quadratic, rtol=1e-10)
    # one lane alone: the same sums
    for k in range(2):
        one = (lanes[0][:, [k]], v[[k]].T.copy(), weight[[k]], np.array([0, 1]), centre[None])
        *_, linear, everything = numerator.own_variances(*arrays, *one)
        between -= numerator.covariances(
            *arrays,
            shared.pairs,
            shared.starts,
            shared.first,
            shared.second,
            *one,
            linear,
            everything,
        )
    np.testing.assert_allclose(between, 0.0, atol=1e-10 * result.max())

    two = lists.take(np.arange(2))
    pair = numerator.pair_quadratic(*two.arrays, v.T.copy()) @ weight
    wanted = quadratic[0, 0] + quadratic[1, 1] - 2 * quadratic[0, 1]
    assert pair == pytest.approx(wanted, rel=1e-10)


topics = st.integers(2, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.permutations(range(n)), min_size=2, max_size=3),
        st.integers(1, n),
        st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.01, 0.97, 1e-6]), min_size=n, max_size=n),
        st.permutations(range(n)),
    )
)


def arrays(permutations, length, probabilities):
    """What the kernels take: lists of one length one after the other, their starts, and p."""
    ranked = np.concatenate([np.array(x[:length]) for x in permutations]).astype(np.int32)
    starts = np.arange(len(permutations) + 1, dtype=np.int64) * length
    return ranked, starts, np.array(probabilities)


@settings(max_examples=60, deadline=None)
@given(topics, st.booleans())
def test_numbers_of_documents_do_not_matter(topic, exact):
    *unchanged, renamed = topic
    ranked, starts, p = arrays(*unchanged)
    name = np.array(renamed, dtype=np.int32)
    q = np.empty_like(p)
    q[name] = p
    before = AveragePrecision(Lists.complete(ranked, starts)).moments(
        p, exact=exact, tolerance=1e-10
    )
    after = AveragePrecision(Lists.complete(name[ranked], starts)).moments(
        q, exact=exact, tolerance=1e-10
    )
    np.testing.assert_allclose(before.expected, after.expected, atol=1e-12)
    np.testing.assert_allclose(before.covariance, after.covariance, atol=1e-12)
    np.testing.assert_allclose(before.gradient, after.gradient[:, name], rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(topics, st.booleans())
def test_covariances_are_those_of_something(topic, exact):
    ranked, starts, p = arrays(*topic[:3])
    result = AveragePrecision(Lists.complete(ranked, starts)).moments(
        p, exact=exact, tolerance=1e-10
    )
    assert np.array_equal(result.covariance, result.covariance.T)
    assert np.linalg.eigvalsh(result.covariance).min() > -1e-12
    assert result.pair_variance(0, 1) == pytest.approx(result.pair_variance(1, 0), rel=1e-12)
    assert result.pair_variance(0, 1) >= 0
