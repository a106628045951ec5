"""What a study is asked to do, and the collection it does it on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.collection import Pool, Qrels, Runs
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.judging import Algorithm, Judge, parse_algorithm
from rtc_bayes.measures import evaluate
from rtc_bayes.relevance import ModelSpec, RelevanceModel, Sampling, is_sampler

type MomentsRule = Literal["published", "exact", "plugin"]


@dataclass(frozen=True)
class Design:
    """The arguments of a study that decide its numbers.

    Attributes
    ----------
    algorithms : tuple of str, Judge, RelevanceModel or Algorithm
        In the grammar ``JUDGE[/EVALUATOR]``, or as :func:`parse_algorithm` takes them.
    trials : int
        At least 1.
    systems : int
        Systems of a trial, k in Carterette 2007, section 4.3; at least 2.
    initial : int
        Systems that the judgments of a trial are made for, c in the paper; 2 to `systems`.
    moments : {"published", "exact", "plugin"}
        Moments of the ratio S/R that confidences are made of. "published": plug-in for
        `uniform` and `rtc:map`, as in the paper, exact for the rest.
    depth : int
        Pool depth.
    score_depth : int or None
        Lists are scored down to this rank (:class:`rtc_bayes.Pool`), the depth if None; the truth
        is over the whole list.
    confidence : float
        Judging ends when every initial pair has it, in (0.5, 1).
    relevance_level : int
        The lowest grade that counts as relevant.
    unseen, residual
        As of :func:`rtc_bayes.compare`.
    draws, chains, tune : int
        Of a method that draws, when the systems are compared: draws of each chain, chains, and
        steps of a chain before its first draw.
    seed : int

    Raises
    ------
    InputError
        An argument out of its range, or the same algorithm twice.
    """

    algorithms: tuple[str | Judge | RelevanceModel | Algorithm, ...]
    trials: int = 100
    systems: int = 10
    initial: int = 2
    moments: MomentsRule = "published"
    depth: int = 100
    score_depth: int | None = None
    confidence: float = 0.95
    relevance_level: int = 1
    unseen: bool = False
    residual: float = 0.0
    draws: int = defaults.DRAWS
    chains: int = defaults.CHAINS
    tune: int = defaults.TUNE
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.algorithms:
            raise InputError("no algorithm was given", remedy="give for example ip,mtc,rtc:map")
        if len(self.parsed) < len(self.algorithms):
            raise InputError("an algorithm is given twice", remedy="name each one once")
        if self.trials < 1:
            raise InputError(f"trials is {self.trials}", remedy="give at least 1")
        if not 2 <= self.initial <= self.systems:
            raise InputError(
                f"initial is {self.initial} and systems is {self.systems}",
                remedy="give 2 <= initial <= systems",
            )
        if self.moments not in ("published", "exact", "plugin"):
            raise InputError(
                f"moments is {self.moments!r}", remedy="give published, exact or plugin"
            )
        if not 0.5 < self.confidence < 1.0:
            raise InputError(
                f"confidence is {self.confidence}", remedy="give one between 0.5 and 1"
            )
        if self.score_depth is not None and self.score_depth < self.depth:
            raise InputError(
                f"score depth is {self.score_depth}", remedy=f"give one of at least {self.depth}"
            )

        Sampling(self.draws, self.chains, self.tune, self.seed)

    @property
    def parsed(self) -> dict[str, Algorithm]:
        """The algorithms by their text."""
        return {found.text: found for found in map(parse_algorithm, self.algorithms)}

    def moments_of(self, evaluator: ModelSpec) -> Literal["exact", "plugin"]:
        """Which moments the confidences by a model's probabilities are made of."""
        if self.moments != "published":
            return self.moments
        if evaluator.name == "uniform":
            return "plugin"
        published = (evaluator.name, evaluator.resolved_method) == ("rtc", "map")
        return "plugin" if published else "exact"

    def sampling_of(self, evaluator: ModelSpec) -> tuple[int, int, int] | tuple[None, None, None]:
        """Return the draws, chains and tune that a fit takes; None for a method without draws."""
        if is_sampler(evaluator.resolved_method):
            return self.draws, self.chains, self.tune
        return None, None, None

    def to_dict(self) -> dict[str, object]:
        """Return the arguments as JSON holds them."""
        return asdict(self) | {"algorithms": list(self.parsed)}


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Runs with complete judgments, as every trial needs them.

    Attributes
    ----------
    pool : Pool
        Of all the runs.
    qrels : Qrels
        Taken as complete.
    truth : ndarray of float, shape (systems,)
        Mean average precision of each system over the pool's topics, by its whole list and
        every judgment; in the pool's order.
    """

    pool: Pool
    qrels: Qrels
    truth: NDArray[np.float64]

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        qrels: Qrels,
        *,
        depth: int,
        score_depth: int | None = None,
        relevance_level: int,
    ) -> Collection:
        """Pool the runs and evaluate them."""
        pool = Pool.from_runs(runs, depth=depth, score_depth=score_depth)
        with warnings.catch_warnings():
            # the pool has just named the runs that lack a topic
            warnings.simplefilter("ignore", CollectionWarning)
            table = evaluate(runs, qrels, ["AP"], relevance_level=relevance_level, topics="all")
        return cls(pool, qrels, table.mean["AP"])

    def truth_of(self, systems: Sequence[str]) -> NDArray[np.float64]:
        """Return the true scores of some systems, in the order given; shape (systems,)."""
        return self.truth[[self.pool.systems.index(system) for system in systems]]

    def __repr__(self) -> str:
        return f"Collection({self.pool!r}, {self.qrels!r})"
