"""Aggregation by expectation maximisation: Dawid-Skene, and its one-coin form.

Dawid and Skene (1979); the 2013 thesis, equations (8.5) and (8.6). Both start at the shares of
votes. Probabilities are of highest posterior density under Dirichlet priors of `smoothing`
pseudo-labels, spread evenly: 0 is maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rtc_bayes.crowd.votes import Floats, Truths, Votes

_TINY = 1e-10


def majority(votes: Votes) -> Truths:
    """Return the shares of votes."""
    counts = votes.counts()
    return Truths(votes.fixed(counts / counts.sum(axis=1, keepdims=True)))


def dawid_skene(
    votes: Votes, *, iterations: int = 200, smoothing: float = 1.0, tolerance: float = 1e-6
) -> Truths:
    """Let every judge have a distribution of what it says for each true grade."""

    def confusion(grades: Floats) -> Floats:
        counts = votes.confusion_counts(grades) + smoothing / votes.n_grades
        return counts / np.maximum(counts.sum(axis=2, keepdims=True), _TINY)

    return Truths(_maximised(votes, confusion, iterations, smoothing, tolerance))


def one_coin(
    votes: Votes, *, iterations: int = 200, smoothing: float = 1.0, tolerance: float = 1e-6
) -> Truths:
    """Let every judge be right with one probability, and else say any other grade alike."""
    others = votes.n_grades - 1
    right_cells = np.eye(votes.n_grades, dtype=bool)

    def confusion(grades: Floats) -> Floats:
        counts = votes.confusion_counts(grades)
        right = counts[:, right_cells].sum(axis=1) + smoothing / votes.n_grades
        accuracy = right / np.maximum(counts.sum(axis=(1, 2)) + smoothing, _TINY)
        return np.where(
            right_cells, accuracy[:, None, None], (1.0 - accuracy)[:, None, None] / others
        )

    return Truths(_maximised(votes, confusion, iterations, smoothing, tolerance))


def _maximised(
    votes: Votes,
    confusion: Callable[[Floats], Floats],
    iterations: int,
    smoothing: float,
    tolerance: float,
) -> Floats:
    grades = majority(votes).grades
    for _ in range(iterations):
        before = grades
        prevalence = grades.sum(axis=0) + smoothing / votes.n_grades
        grades = posterior(votes, np.log(prevalence / prevalence.sum() + 1e-300), confusion(grades))
        if np.abs(grades - before).max() < tolerance:
            break
    return grades


def posterior(votes: Votes, log_prior: Floats, confusion: Floats) -> Floats:
    """Return probabilities of true grades, given what judges do: (pair, grade).

    Parameters
    ----------
    votes : Votes
    log_prior : ndarray, shape (grade,) or (pair, grade)
    confusion : ndarray, shape (judge, true, given)
    """
    log_said = np.log(np.maximum(confusion, _TINY))[votes.judge_of, :, votes.grade]
    total = np.empty((votes.n_pairs, votes.n_grades))
    for true in range(votes.n_grades):
        total[:, true] = np.bincount(votes.pair_of, log_said[:, true], votes.n_pairs)
    total += log_prior
    return votes.from_logs(total)
