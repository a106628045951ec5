"""Choose the topics whose scores follow the scores on all topics (Hosseini 2013, chapter 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rtc_bayes.checks import check_type, check_word, real_number, whole_number
from rtc_bayes.collection import natural_key
from rtc_bayes.collection.ids import keyed_by_text, list_of_topics
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.signatures import explains_types, options_of
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.topics.objective import Floats, Objective
from rtc_bayes.topics.solvers.solution import Solution

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.topics.solvers.oracle import Criterion

type Solver = Literal["random", "greedy", "tau", "lasso", "box", "vote", "oracle"]
SOLVERS: tuple[Solver, ...] = get_args(Solver.__value__)

_SHOWN = 8


@explains_types
@options_of(
    "solver",
    budget=["lasso", "box"],
    gain=["box"],
    gain_weight=["box"],
    subsets=["vote"],
    share=["vote"],
    criterion=["oracle"],
    samples=["oracle"],
)
def select_topics(
    scores: ScoreMatrix | Sequence[ScoreMatrix],
    *,
    size: int | None = None,
    budget: float | None = None,
    solver: Solver = "vote",
    weights: Mapping[str, float] | None = None,
    gain: Mapping[str, float] | None = None,
    gain_weight: float = 0.0,
    subsets: int = 100,
    share: float = 0.2,
    criterion: Criterion = "rho",
    samples: int = 10_000,
    seed: int = 0,
) -> TopicSelection:
    """Choose topics on which systems score as they do on all topics.

    The objective is rho, the correlation over systems of the mean over the chosen topics with the
    mean over all (Hosseini 2013, equations 4.3 to 4.6). Where scores have a variance, because
    judgments are incomplete, it counts against a topic (equation 6.6).

    Parameters
    ----------
    scores : ScoreMatrix or sequence of ScoreMatrix
        Every system scored on every topic. Several measures count equally, by their mean rho
        (Adaptive* of chapter 6); they are of the same systems and topics.
    size : int, at least 1, optional
        How many topics. Default: all, in the order in which the solver takes them.
    budget : float, above 0, optional
        For ``box`` and ``lasso``: what the absolute weights of topics sum to at most.
    solver : str, default "vote"
        - ``random``: without looking at scores.
        - ``greedy``: one at a time, each the one that raises rho most.
        - ``tau``: the same by Kendall's tau-a.
        - ``lasso``: the path of ``min b'Sb/2 - e'Sb`` as the sum of ``|b|`` grows (equation 4.11);
          it takes fewer topics than there are systems.
        - ``box``: the same with weights from 0 to 1 within a budget, and a gain (5.2, 7.5).
          Given a size alone, the budget is the size, and the largest weights are kept.
        - ``vote``: one at a time, by a vote of subsets of systems (Adaptive+ of chapter 6). In most
          settings it serves systems best that come later. A subset holds five systems at least:
          fewer than 25 systems make larger subsets than a fifth, eight or fewer make many that are
          the same, and five or fewer choose as ``greedy`` does. The answer says how many differ.
        - ``oracle``: the best of all sets of this size, or as good as search finds.
    weights : mapping of str to float, optional
        Weight of each system, at least 0. Systems that are not named are not read. Default: equal.
    gain : mapping of str to float, optional
        For ``box``: what judging a topic is worth beside, at least 0; 0 for topics not named. Only
        ratios count: gains are divided by their sum.
    gain_weight : float, at least 0
        For ``box``: lambda, how much the gain counts.
    subsets : int, at least 1
        For ``vote``: how many subsets of systems.
    share : float, in (0, 1]
        For ``vote``: of the systems, in each subset; five at least.
    criterion : {"rho", "tau"}
        For ``oracle``: what is largest.
    samples : int, at least 1
        For ``oracle``: random sets to begin search with, where there are too many to try all.
    seed : int
        Of ``random``, ``vote`` and ``oracle``.

    Returns
    -------
    TopicSelection
        Ties go to the first topic in the natural order of ids.

    Raises
    ------
    InputError
        Scores are missing, all systems are alike, an argument is out of range, or given to a solver
        that does not take it.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=20, n_systems=12, seed=1)
    >>> scores = rb.ScoreMatrix.from_qrels(data.runs, data.qrels, "AP")
    >>> chosen = rb.select_topics(scores, size=5)
    >>> len(chosen.topics), chosen.rho > rb.select_topics(scores, size=5, solver="random").rho
    (5, True)
    """
    remedy = "give a ScoreMatrix, or several"
    if hasattr(scores, "columns"):  # of a frame, which would give their names one by one
        check_type(scores, ScoreMatrix, "scores are", remedy)
    several = [scores] if isinstance(scores, ScoreMatrix) else list(scores)
    for each in several:
        check_type(each, ScoreMatrix, "scores are", remedy)
    matrices = _same_topics(several)
    objectives = [Objective.of(matrix, weights) for matrix in matrices]
    topics = matrices[0].topics
    size, budget = _checked(solver, size, budget, len(topics))
    seed = whole_number("seed", seed)
    real_number("gain_weight", gain_weight, 0.0, np.inf, "give 0 or more", ends="[)")
    if (gain is None) == (gain_weight > 0.0):
        lone, other = ("gain_weight", "gain") if gain is None else ("a gain", "gain_weight above 0")
        raise InputError(f"{lone} without {other}", remedy="give both, or neither")
    count = len(topics) if size is None else size
    solution: Solution
    match solver:
        case "random":
            from rtc_bayes.topics.solvers.random import random_topics

            solution = random_topics(len(topics), count, seed)
        case "greedy":
            from rtc_bayes.topics.solvers.greedy import greedy

            solution = greedy(objectives, count)
        case "tau":
            from rtc_bayes.topics.solvers.tau import greedy_tau

            solution = greedy_tau(objectives, count)
        case "lasso":
            from rtc_bayes.topics.solvers.lasso import lasso

            solution = lasso(objectives, size, budget)
        case "box":
            from rtc_bayes.topics.solvers.box import box

            within = float(count) if budget is None else budget
            of_topic = None if gain is None else _gains(gain, topics)
            solution = box(objectives, within, size, gain=of_topic, gain_weight=gain_weight)
        case "vote":
            from rtc_bayes.topics.solvers.vote import vote

            solution = vote(objectives, count, subsets=subsets, share=share, seed=seed)
        case "oracle":
            from rtc_bayes.topics.solvers.oracle import oracle

            check_word("criterion", criterion, ("rho", "tau"))
            samples = whole_number("samples", samples, least=1)
            solution = oracle(objectives, count, criterion=criterion, samples=samples, seed=seed)
    return TopicSelection.of(solution, matrices, objectives, solver, seed)


def _checked(
    solver: Solver, size: int | None, budget: float | None, topics: int
) -> tuple[int | None, float | None]:
    """Check what is asked of a solver."""
    check_word("solver", solver, SOLVERS, {"greedy_tau": "tau"})
    if size is not None and whole_number("size", size, least=1) > topics:
        raise InputError(f"size is {size}, of {topics} topics", remedy="ask for fewer")
    if budget is None:
        if size is None and solver == "box":
            raise InputError("solver box needs a budget", remedy="give budget, or size")
        return size, None
    if solver == "lasso" and size is not None:
        raise InputError("both size and budget are given", remedy="give one of them, or use box")
    if not (np.isfinite(budget) and budget > 0.0):
        raise InputError(f"budget is {budget}", remedy="give a number above 0")
    return size, float(budget)


def _same_topics(matrices: list[ScoreMatrix]) -> list[ScoreMatrix]:
    """Put several measures into one order of systems and topics: topics by natural order of id."""
    if not matrices:
        raise InputError("no scores", remedy="give a score matrix")
    first = matrices[0]
    topics = tuple(sorted(first.topics, key=natural_key))
    ordered = []
    for one in matrices:
        if set(one.systems) != set(first.systems) or set(one.topics) != set(topics):
            raise InputError(
                f"{one.measure or 'a measure'} has other systems or topics than "
                f"{first.measure or 'the first'}",
                remedy="give measures of the same systems and topics",
            )
        place = np.ix_(
            [one.systems.index(name) for name in first.systems],
            [one.topics.index(topic) for topic in topics],
        )
        ordered.append(
            ScoreMatrix(one.mean[place], one.variance[place], first.systems, topics, one.measure)
        )
    return ordered


def _gains(gain: Mapping[str, float], topics: Sequence[str]) -> Floats:
    gain = keyed_by_text(gain, "topic")
    if unknown := [topic for topic in gain if topic not in topics]:
        raise InputError(
            f"a gain is for topic {unknown[0]}, which has no scores", remedy="name topics of scores"
        )
    values = np.array([gain.get(topic, 0.0) for topic in topics], dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise InputError("a gain is below 0 or not a number", remedy="give gains of at least 0")
    return values


@dataclass(frozen=True, eq=False, repr=False)
class TopicSelection(Shown):
    """Chosen topics, and how well they follow all topics.

    Attributes
    ----------
    topics : tuple of str
        The first chosen first; of ``box``, by falling weight.
    weights : tuple of float
        b: the weight of each; 1 where the solver gives none.
    rhos : tuple of float
        rho of the first topic, the first two, ..., all chosen ones, each with equal weights: for
        complete judgments the correlation with the mean over all topics. Mean over measures.
    weighted_rho : float
        rho of the chosen topics with `weights`.
    gamma : float
        gamma of the chosen topics with equal weights, in units of the measure; its mean over
        measures.
    tau : float
        Kendall's tau-b of systems by the mean over chosen and over all topics; NaN if the chosen
        ones leave all systems equal. Mean over measures.
    solver : str
    how : str
        What the solver did, in words; of ``oracle``, whether every set was tried.
    n_topics, n_systems : int
        Chosen from, and by.
    measures : tuple of str
    seed : int

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> mean = [[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]]
    >>> scores = rb.ScoreMatrix(mean, np.zeros((3, 3)), "abc", ("1", "2", "3"), "AP")
    >>> rb.select_topics(scores, size=2, solver="greedy")
    TopicSelection(2 of 3 topics by greedy, one at a time, by gamma; rho 1.000, tau 1.000: 1, 3)
    >>> rb.select_topics(scores, size=2).to_frame().round(3)
       position topic  weight    rho
    0         1     1     1.0  0.988
    1         2     3     1.0  1.000
    """

    topics: tuple[str, ...]
    weights: tuple[float, ...]
    rhos: tuple[float, ...]
    weighted_rho: float
    gamma: float
    tau: float
    solver: str
    how: str
    n_topics: int
    n_systems: int
    measures: tuple[str, ...]
    seed: int

    @classmethod
    def of(
        cls,
        solution: Solution,
        scores: Sequence[ScoreMatrix],
        objectives: Sequence[Objective],
        solver: str,
        seed: int,
    ) -> TopicSelection:
        """Say how well a solver's answer follows all topics."""
        from rtc_bayes.trials.scores import kendall_tau

        order = list(solution.order)
        rhos, taus, gammas = [], [], []
        chosen = np.zeros(len(solution.weights))
        chosen[order] = 1.0
        steps = np.zeros((len(chosen), len(order)))
        steps[order] = np.tri(len(order)).T
        for one in objectives:
            rhos.append(one.gammas(steps) / one.variance**0.5)
            gammas.append(one.gamma(chosen))
            tau = kendall_tau(*(one.centred @ d for d in (chosen, np.ones(len(chosen)))))
            taus.append(np.nan if tau is None else tau)
        return cls(
            topics=tuple(scores[0].topics[topic] for topic in order),
            weights=tuple(solution.weights[order].tolist()),
            rhos=tuple(np.mean(rhos, axis=0).tolist()),
            weighted_rho=float(np.mean([one.rho(solution.weights) for one in objectives])),
            gamma=float(np.mean(gammas)),
            tau=float(np.mean(taus)),
            solver=solver,
            how=solution.how,
            n_topics=len(scores[0].topics),
            n_systems=len(objectives[0].factor),
            measures=tuple(one.measure for one in scores),
            seed=seed,
        )

    @classmethod
    def of_topics(
        cls,
        scores: ScoreMatrix | Sequence[ScoreMatrix],
        topics: Sequence[str | int],
        weights: Mapping[str, float] | None = None,
    ) -> TopicSelection:
        """Say how well a set of topics follows all, whoever chose it.

        Parameters
        ----------
        scores : ScoreMatrix or sequence of ScoreMatrix
        topics : sequence of str or int
            In the order of choice.
        weights : mapping of str to float, optional
            Of systems, as of :func:`rtc_bayes.select_topics`.

        Raises
        ------
        InputError
            No topics, a topic twice, or one without scores.
        """
        matrices = _same_topics([scores] if isinstance(scores, ScoreMatrix) else list(scores))
        place = {topic: n for n, topic in enumerate(matrices[0].topics)}
        ids = list_of_topics(topics)
        if not ids or len(set(ids)) < len(ids):
            raise InputError(
                "a topic is given twice" if ids else "no topics", remedy="give each topic once"
            )
        if unknown := [topic for topic in ids if topic not in place]:
            raise InputError(f"topic {unknown[0]} has no scores", remedy="give topics of scores")
        order = [place[topic] for topic in ids]
        solution = Solution.equal(order, len(place), "chosen elsewhere")
        objectives = [Objective.of(matrix, weights) for matrix in matrices]
        return cls.of(solution, matrices, objectives, "given", 0)

    @property
    def rho(self) -> float:
        """Rho of the chosen topics with equal weights, the last of `rhos`; 0 without topics."""
        return self.rhos[-1] if self.rhos else 0.0

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each chosen topic: position, topic, weight, rho of it and those before.

        Returns
        -------
        DataFrame
        """
        import pandas as pd

        return pd.DataFrame(
            {
                "position": range(1, len(self.topics) + 1),
                "topic": pd.Series(self.topics, dtype=object),
                "weight": self.weights,
                "rho": self.rhos,
            }
        )

    def to_csv(self, path: str | Path, meta: Mapping[str, object] | None = None) -> None:
        """Write :meth:`to_frame` as CSV, and its provenance as ``PATH.meta.json`` beside it."""
        from rtc_bayes.store import provenance, write_csv

        write_csv(self.to_frame(), path, provenance(seed=self.seed) if meta is None else meta)

    def __repr__(self) -> str:
        more = ", ..." if len(self.topics) > _SHOWN else ""
        return (
            f"TopicSelection({len(self.topics)} of {counted(self.n_topics, 'topic')} by "
            f"{self.solver}, {self.how}; rho {self.rho:.3f}, tau {self.tau:.3f}: "
            f"{', '.join(self.topics[:_SHOWN])}{more})"
        )
