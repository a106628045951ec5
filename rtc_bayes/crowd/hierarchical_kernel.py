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
    gold: Codes,
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
    topic_of, gold : int array, shape (pair,)
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
            if gold[pair] >= 0 and gold[pair] != z:
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


@njit(cache=True, nogil=True, error_model="numpy")
def log_evidence(  # pragma: no cover  (compiled)
    starts: Codes,
    judge_of: Codes,
    grade: Codes,
    topic_of: Codes,
    gold: Codes,
    log_said: Floats,
    of_topic: Floats,
    seeming: Floats,
) -> float:
    """Return the log probability of all labels, with true and seeming grades summed out.

    The parameters are those of `sweep`.
    """
    n_grades = seeming.shape[0]
    weight = np.empty(n_grades)
    ahead = of_topic @ seeming
    evidence = 0.0
    for pair in range(len(topic_of)):
        weight[:] = 0.0
        for label in range(starts[pair], starts[pair + 1]):
            for y in range(n_grades):
                weight[y] += log_said[judge_of[label], y, grade[label]]
        largest = weight.max()
        total = 0.0
        topic, z = topic_of[pair], gold[pair]
        for y in range(n_grades):
            chance = ahead[topic, y] if z < 0 else of_topic[topic, z] * seeming[z, y]
            total += chance * np.exp(weight[y] - largest)
        evidence += largest + np.log(total)
    return evidence


@njit(cache=True, nogil=True, error_model="numpy")
def draw_prevalences(  # pragma: no cover  (compiled)
    random: np.random.Generator,
    seem: Codes,
    told: Codes,
    seeming: Floats,
    weight: float,
    prevalence: Floats,
    of_topic: Floats,
    steps: int,
) -> None:
    """Draw prevalences and true grades in turn, given the seeming grades, in place.

    Parameters
    ----------
    random : numpy.random.Generator
    seem : int array, shape (topic, grade)
        Pairs whose grade is not known, counted by the grade that they seem to have.
    told : int array, shape (topic, grade)
        Those whose grade is known.
    seeming : ndarray, shape (true, seeming)
    weight : float
        Of a topic.
    prevalence : ndarray, shape (grade,)
        Filled; that of all topics.
    of_topic : ndarray, shape (topic, grade)
        Filled.
    steps : int
    """
    n_topics, n_grades = seem.shape
    true = np.empty(n_grades, dtype=np.int64)
    for _ in range(steps):
        tables = np.ones(n_grades)
        for topic in range(n_topics):
            true[:] = told[topic]
            for y in range(n_grades):
                left = seem[topic, y]
                rest = 0.0
                for z in range(n_grades):
                    rest += of_topic[topic, z] * seeming[z, y]
                for z in range(n_grades):
                    part = of_topic[topic, z] * seeming[z, y]
                    share = min(part / rest, 1.0) if z < n_grades - 1 else 1.0
                    drawn = random.binomial(left, share) if left > 0 else 0
                    true[z] += drawn
                    left -= drawn
                    rest = max(rest - part, 1e-300)
            # tables that these customers open (Teh et al. 2006): given them the mean of the
            # topics' Dirichlet prior has a Dirichlet posterior
            for z in range(n_grades):
                base = weight * prevalence[z]
                for seated in range(true[z]):
                    if random.random() * (base + seated) < base:
                        tables[z] += 1.0
            of_topic[topic] = true
        for z in range(n_grades):
            prevalence[z] = max(random.standard_gamma(tables[z]), 1e-300)
        prevalence /= prevalence.sum()
        for topic in range(n_topics):
            total = 0.0
            for z in range(n_grades):
                shape = of_topic[topic, z] + weight * prevalence[z]
                of_topic[topic, z] = max(random.standard_gamma(shape), 1e-300)
                total += of_topic[topic, z]
            for z in range(n_grades):
                of_topic[topic, z] /= total
