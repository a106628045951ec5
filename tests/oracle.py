"""Brute force: every measure from first principles on each of the 2^n relevance outcomes.

Nothing here is shared with the library: no tilt, no influence, no sum over pairs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

Score = Callable[[Sequence[int], Sequence[int]], float]


def average_precision(ranking, x, cutoff=None):
    relevant = sum(x)
    if not relevant:
        return 0.0
    hits, total = 0, 0.0
    for rank, document in enumerate(ranking[:cutoff], 1):
        if x[document]:
            hits += 1
            total += hits / rank
    return total / relevant


def precision(ranking, x, cutoff):
    return sum(x[i] for i in ranking[:cutoff]) / cutoff


def recall(ranking, x, cutoff):
    return sum(x[i] for i in ranking[:cutoff]) / sum(x) if sum(x) else 0.0


def dcg(ranking, x, cutoff=None):
    return sum(x[i] / math.log2(rank + 1) for rank, i in enumerate(ranking[:cutoff], 1))


def ndcg(ranking, x, cutoff=None):
    ideal_ranking = sorted(range(len(x)), key=lambda i: -x[i])
    ideal = dcg(ideal_ranking, x, cutoff)
    return dcg(ranking, x, cutoff) / ideal if ideal else 0.0


def rbp(ranking, x, persistence, cutoff=None):
    steps = enumerate(ranking[:cutoff])
    return (1 - persistence) * sum(x[i] * persistence**before for before, i in steps)


def reciprocal_rank(ranking, x, cutoff=None):
    return next((1 / r for r, i in enumerate(ranking[:cutoff], 1) if x[i]), 0.0)


def expected_reciprocal_rank(ranking, grades, cutoff=None):
    left, total = 1.0, 0.0
    for rank, document in enumerate(ranking[:cutoff], 1):
        stop = (2 ** grades[document] - 1) / 16
        total += left * stop / rank
        left *= 1 - stop
    return total


SCORES: dict[str, Score] = {
    "AP": average_precision,
    "AP@3": lambda ranking, x: average_precision(ranking, x, 3),
    "P@4": lambda ranking, x: precision(ranking, x, 4),
    "R@3": lambda ranking, x: recall(ranking, x, 3),
    "DCG": dcg,
    "DCG@3": lambda ranking, x: dcg(ranking, x, 3),
    "nDCG": ndcg,
    "nDCG@3": lambda ranking, x: ndcg(ranking, x, 3),
    "RBP(p=0.7)": lambda ranking, x: rbp(ranking, x, 0.7),
    "RBP(p=0.5)@4": lambda ranking, x: rbp(ranking, x, 0.5, 4),
    "RR": reciprocal_rank,
    "RR@3": lambda ranking, x: reciprocal_rank(ranking, x, 3),
}


def outcomes(p):
    """Every possible outcome with its probability."""
    choices = [(1,) if q == 1 else (0,) if q == 0 else (0, 1) for q in p]
    for x in itertools.product(*choices):
        yield x, math.prod(q if bit else 1 - q for q, bit in zip(p, x, strict=True))


def distribution(rankings, p, score):
    """Scores (outcomes, lists) and probabilities (outcomes,) of one topic."""
    rows, weights = [], []
    for x, weight in outcomes(p):
        rows.append([score(ranking, x) for ranking in rankings])
        weights.append(weight)
    return np.array(rows), np.array(weights)


def mean_and_covariance(scores, weights):
    mean = weights @ scores
    centred = scores - mean
    return mean, (centred * weights[:, None]).T @ centred


def cumulants(values, weights):
    """First four cumulants of a discrete distribution."""
    mean = weights @ values
    second, third, fourth = (weights @ (values - mean) ** k for k in (2, 3, 4))
    return mean, second, third, fourth - 3 * second**2


def sign_probabilities(values, weights, zero=1e-12):
    """P(< 0), P(= 0), P(> 0)."""
    below, above = values < -zero, values > zero
    return weights[below].sum(), weights[~below & ~above].sum(), weights[above].sum()


def mean_over_topics(parts):
    """Distribution of the mean of independent values: their convolution.

    Parameters
    ----------
    parts : list of (values, weights)
    """
    values, weights = np.zeros(1), np.ones(1)
    for part_values, part_weights in parts:
        values = np.add.outer(values, part_values).ravel()
        weights = np.multiply.outer(weights, part_weights).ravel()
        rounded, where = np.unique(np.round(values, 13), return_inverse=True)
        values, weights = rounded, np.bincount(where.ravel(), weights)
    return values / len(parts), weights


def printed_moments(a, p):
    """E and Var of AP as Carterette 2007, section 3.2 prints them, sum by sum.

    Parameters
    ----------
    a : ndarray, shape (n, n)
        Symmetric coefficients: 1 / max rank, or their difference for two lists.
    p : sequence of float
    """
    n = len(p)
    q = [1 - x for x in p]
    mu = sum(p)
    mean = sum(a[i, i] * p[i] for i in range(n))
    mean += sum(a[i, j] * p[i] * p[j] for i in range(n) for j in range(i + 1, n))
    first = sum(a[i, i] ** 2 * p[i] * q[i] for i in range(n))
    second = sum(
        a[i, j] ** 2 * p[i] * p[j] * (1 - p[i] * p[j]) for i in range(n) for j in range(i + 1, n)
    )
    third = sum(
        2 * a[i, i] * a[i, j] * p[i] * p[j] * q[i] for i in range(n) for j in range(n) if i != j
    )
    fourth = sum(
        2 * a[i, j] * a[i, k] * p[i] * p[j] * p[k] * q[i]
        for i in range(n)
        for j in range(n)
        for k in range(j + 1, n)
        if i not in (j, k)
    )
    return mean / mu, (first + second + third + fourth) / mu**2
