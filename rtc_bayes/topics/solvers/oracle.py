"""The best set of topics of a size: by trying all, or as good a one as search finds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.topics.objective import EQUAL, Floats, Objective
from rtc_bayes.topics.solvers.concordance import Ranking
from rtc_bayes.topics.solvers.greedy import greedy
from rtc_bayes.topics.solvers.solution import Solution, first_best
from rtc_bayes.topics.solvers.tau import greedy_tau

type Sets = NDArray[np.bool_]
type Criterion = Literal["rho", "tau"]

#: All sets are tried if there are no more than these.
ENUMERATED = 200_000
_AT_A_TIME = 4096


def oracle(
    objectives: Sequence[Objective],
    size: int,
    *,
    criterion: Criterion = "rho",
    samples: int = 10_000,
    seed: int = 0,
) -> Solution:
    """Find the set of `size` topics that follows all topics best.

    If no more than 200,000 sets exist, all are tried. Else the best of `samples` random sets and
    the set of the greedy solver are improved: one topic is exchanged for another, the best exchange
    first, until none helps. The better of the two may not be the best of all; the answer says so.

    Parameters
    ----------
    objectives : sequence of Objective
        One for each measure; the mean over measures counts.
    size : int
    criterion : {"rho", "tau"}
        Pearson's rho or tau-a with the mean over all topics.
    samples : int, at least 1
    seed : int

    Examples
    --------
    >>> x = np.array([[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]])
    >>> objective = Objective(x - x.mean(axis=0), np.full(3, 0.5), np.zeros(3))
    >>> oracle([objective], 2)[::2]
    ((0, 2), 'every set of this size tried (3)')
    """
    n = len(objectives[0].noise)
    measure = _by_rho(objectives) if criterion == "rho" else _by_tau(objectives)
    sets = math.comb(n, size)
    if sets <= ENUMERATED:
        best, _ = _best(_batches(itertools.combinations(range(n), size), n), measure)
        how = f"every set of this size tried ({sets})"
    else:
        rng = np.random.default_rng(seed)
        drawn = (rng.permutation(n)[:size].tolist() for _ in range(samples))
        step = greedy(objectives, size) if criterion == "rho" else greedy_tau(objectives, size)
        starts = np.vstack([_best(_batches(drawn, n), measure)[0], step.weights > 0.0])
        ends = [_improved(start, measure) for start in starts]
        best, _ = _best(ends, measure)
        how = (
            f"the better of {samples} random sets' best and the greedy set, improved by "
            "exchanges: maybe not the best"
        )
    return Solution.equal(np.flatnonzero(best).tolist(), n, how)


def _by_rho(objectives: Sequence[Objective]) -> Callable[[Sets], Floats]:
    def measure(sets: Sets) -> Floats:
        chosen = sets.T.astype(np.float64)
        rhos = [one.gammas(chosen) / one.variance**0.5 for one in objectives]
        return np.asarray(np.mean(rhos, axis=0))

    return measure


def _by_tau(objectives: Sequence[Objective]) -> Callable[[Sets], Floats]:
    rankings = [Ranking(objective) for objective in objectives]

    def measure(sets: Sets) -> Floats:
        taus = [ranking.tau(sets.astype(np.float64) @ ranking.scores) for ranking in rankings]
        return np.asarray(np.mean(taus, axis=0))

    return measure


def _batches(sets: Iterable[Sequence[int]], n: int) -> Iterator[Sets]:
    """Make boolean rows of sets of topics, some thousands at a time."""
    for batch in itertools.batched(sets, _AT_A_TIME):  # the last is shorter
        rows = np.zeros((len(batch), n), dtype=bool)
        np.put_along_axis(rows, np.array(batch), True, axis=1)
        yield rows


def _best(batches: Iterable[Sets], measure: Callable[[Sets], Floats]) -> tuple[Sets, float]:
    """Return the best set and its value; of equals the first."""
    best, value = np.zeros(0, dtype=bool), -np.inf
    for rows in batches:
        values = measure(rows)
        at = first_best(values)
        if values[at] > value + EQUAL:
            best, value = rows[at], float(values[at])
    return best, value


def _improved(chosen: Sets, measure: Callable[[Sets], Floats]) -> Sets:
    """Exchange topics while the best exchange helps; shape (1, topics)."""
    value = float(measure(chosen[None])[0])
    while True:
        inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        swaps = (
            [*inside[inside != out].tolist(), into]
            for out in inside.tolist()
            for into in outside.tolist()
        )
        better, reached = _best(_batches(swaps, len(chosen)), measure)
        if reached <= value + EQUAL:
            return chosen[None]
        chosen, value = better, reached
