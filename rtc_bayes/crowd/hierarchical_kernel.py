"""The compiled step of the Gibbs sampler of a crowd: true and seeming grades of all pairs."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(  # pragma: no cover  (compiled)
    starts: Codes,
    judge_of: Codes,
    grade: Codes,
    topic_of: Codes,
    known: Codes,
    log_said: Floats,
    of_topic: Floats,
    seeming: Floats,
    uniform: Floats,
    chance: Floats,
    true: Codes,
    seems: Codes,
) -> None:
    """Draw the seeming and then the true grade of every pair, in place.

    Parameters
    ----------
    starts : int array, shape (pair + 1,)
        Where a pair's labels begin.
    judge_of, grade : int array, shape (label,)
    topic_of, known : int array, shape (pair,)
    log_said : ndarray, shape (judge, seeming, given)
    of_topic : ndarray, shape (topic, grade)
    seeming : ndarray, shape (true, seeming)
    uniform : ndarray, shape (pair, 2)
        Random numbers.
    chance : ndarray, shape (pair, grade)
        Filled with the probabilities of the true grade, the seeming one summed out.
    true, seems : int array, shape (pair,)
        Filled.
    """
    n_grades = seeming.shape[0]
    weight = np.empty(n_grades)
    of_true = np.empty(n_grades)
    for pair in range(len(topic_of)):
        weight[:] = 0.0
        for label in range(starts[pair], starts[pair + 1]):
            for y in range(n_grades):
                weight[y] += log_said[judge_of[label], y, grade[label]]
        largest = weight.max()
        for y in range(n_grades):
            weight[y] = np.exp(weight[y] - largest)
        total = 0.0
        for z in range(n_grades):
            seen = 0.0
            for y in range(n_grades):
                seen += seeming[z, y] * weight[y]
            of_true[z] = of_topic[topic_of[pair], z] * seen
            if known[pair] >= 0 and known[pair] != z:
                of_true[z] = 0.0
            total += of_true[z]
        drawn, z = uniform[pair, 0] * total, 0
        for other in range(n_grades):
            chance[pair, other] = of_true[other] / total
        while z < n_grades - 1 and drawn >= of_true[z]:
            drawn -= of_true[z]
            z += 1
        true[pair] = z
        total = 0.0
        for y in range(n_grades):
            of_true[y] = seeming[z, y] * weight[y]
            total += of_true[y]
        drawn, y = uniform[pair, 1] * total, 0
        while y < n_grades - 1 and drawn >= of_true[y]:
            drawn -= of_true[y]
            y += 1
        seems[pair] = y
