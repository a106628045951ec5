"""Products of rows of which most features are 0 are those of the whole matrix."""

import numpy as np
import pytest

from rtc_bayes.relevance.sparse_rows import SparseRows


@pytest.mark.parametrize("density", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(40, 7), (0, 3)])
def test_products_are_those_of_the_matrix(density, shape):
    rng = np.random.default_rng(1)
    x = rng.normal(size=shape) * (rng.random(shape) < density)
    n, columns = shape
    topic, weight = rng.integers(3, size=n), rng.random(n)
    rows = SparseRows.of(x)
    for right in (rng.normal(size=columns), rng.normal(size=(columns, 4)).T.copy().T):
        np.testing.assert_allclose(rows.times(right), x @ right, atol=1e-12)
    for left in (rng.normal(size=n), rng.normal(size=(n, 4))):
        np.testing.assert_allclose(rows.transposed_times(left), x.T @ left, atol=1e-12)
    gram, sums = rows.weighted(weight, topic, 3)
    np.testing.assert_allclose(gram, x.T @ (weight[:, None] * x), atol=1e-12)
    of_topic = (topic == np.arange(3)[:, None]) * weight
    np.testing.assert_allclose(sums, of_topic @ x, atol=1e-12)
    matrix, vectors = rng.normal(size=(columns, columns)), rng.normal(size=(3, columns))
    matrix += matrix.T
    expected = ((x @ matrix) * x).sum(axis=1) + (x * vectors[topic]).sum(axis=1)
    np.testing.assert_allclose(rows.forms(matrix, vectors, topic), expected, atol=1e-12)


def test_sums_are_taken_row_after_row():
    """To the last digit, so that a quicker loop changes no fit."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    topic, weight = rng.integers(3, size=30), rng.random(30)
    gram, sums = SparseRows.of(x).weighted(weight, topic, 3)
    expected_gram, expected_sums = np.zeros((6, 6)), np.zeros((3, 6))
    for row, w, t in zip(x, weight, topic, strict=True):
        expected_gram += np.tril(np.outer(w * row, row))
        expected_sums[t] += w * row
    np.testing.assert_array_equal(np.tril(gram), expected_gram)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(sums, expected_sums)
