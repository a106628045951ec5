"""What is compared, under which probabilities of relevance, and how outcomes are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import measures
from rtc_bayes.confidence import rule
from rtc_bayes.confidence.outcomes import sample
from rtc_bayes.confidence.subpool import with_systems, with_topics
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.errors import InputError
from rtc_bayes.store import Progress, provenance, silent, spawn_seeds

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool, Relevance
    from rtc_bayes.measures import Moments

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
Kind = Literal["exact", "plugin"]
Choice = Literal["auto", "normal", "corrected", "montecarlo"]


@dataclass(frozen=True)
class Study:
    """A pool, draws of probabilities of relevance, and the options of a comparison.

    Attributes
    ----------
    pool : Pool
        Of the topics that are averaged over, with every document that may be relevant.
    values : ndarray, shape (draws, documents)
    pairs : ndarray of int, shape (pairs, 2)
        System numbers; the difference is the first less the second.
    measure : str
    moments, probability, outcomes, seed, unseen, residual, rope, jobs, scheduler, progress
        As in :func:`rtc_bayes.compare`.
    """

    pool: Pool
    values: NDArray[np.floating]
    pairs: Pairs
    measure: str
    moments: Kind
    probability: Choice
    outcomes: int
    seed: int
    unseen: bool
    residual: float
    rope: float | None
    jobs: int = 1
    scheduler: str | None = None
    progress: Progress = silent

    @classmethod
    def of(
        cls,
        pool: Pool,
        relevance: Relevance,
        *,
        measure: str = "AP",
        moments: Kind = "exact",
        probability: Choice = "auto",
        outcomes: int = 20_000,
        seed: int = 0,
        topics: Sequence[str] | None = None,
        baseline: str | None = None,
        unseen: bool = False,
        residual: float = 0.0,
        rope: float | None = None,
        jobs: int = 1,
        scheduler: str | None = None,
        progress: Progress = silent,
    ) -> Study:
        """Check the options of a comparison and line its parts up.

        Raises
        ------
        InputError
            A document of the pool without probability, an unknown measure, topic, system or
            option.
        """
        if moments not in get_args(Kind):
            raise InputError(f"moments are {moments!r}", remedy="choose exact or plugin")
        if probability not in get_args(Choice):
            raise InputError(
                f"probability is {probability!r}",
                remedy=f"choose one of {', '.join(get_args(Choice))}",
            )
        if outcomes < 2:
            raise InputError(f"outcomes are {outcomes}", remedy="sample at least 2")
        if seed < 0:
            raise InputError(f"seed is {seed}", remedy="give one of at least 0")
        check_residual(residual)
        if rope is not None and not 0.0 < rope < np.inf:
            raise InputError(f"rope is {rope}", remedy="give a difference above 0")
        pairs = _pairs(pool.systems, baseline)
        whole, values = relevance.on(pool)
        if topics is not None:
            whole, values = with_topics(whole, values, topics)
        if unseen:
            whole, values = with_unseen(whole, values)
        name = measures.parse_measure(measure).name
        return cls(
            pool=whole,
            values=values,
            pairs=pairs,
            measure=name,
            moments=moments,
            probability=probability,
            outcomes=outcomes,
            seed=seed,
            unseen=unseen,
            residual=residual,
            rope=rope,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )

    @property
    def counted(self) -> bool:
        """Whether all numbers come from outcomes: no known moments, or many draws."""
        many = len(self.values) >= rule.MANY_DRAWS and self.moments == "exact"
        return not measures.has_moments(self.measure) or (many and self.probability == "auto")

    def sample(self, systems: NDArray[np.int64], outcomes: int, stage: int) -> Floats:
        """Sample the scores of these systems, all at once: (systems, draws, outcomes each)."""
        own = spawn_seeds(self.seed, stage + 1)[stage]
        scores = sample(
            with_systems(self.pool, systems),
            self.values,
            measure=self.measure,
            outcomes=outcomes,
            seed=own,
            jobs=self.jobs,
            scheduler=self.scheduler,
            progress=self.progress,
        )
        if self.residual > 0.0:
            for score, system in zip(scores, systems.tolist(), strict=True):
                score += np.random.default_rng([own, system]).normal(
                    0.0, self.residual, score.shape
                )
        return scores

    def sample_pairs(self, pairs: Pairs, outcomes: int, stage: int) -> tuple[Floats, Pairs]:
        """Sample the systems of these pairs; the pairs then as rows of the scores."""
        systems, rows = np.unique(pairs, return_inverse=True)
        return self.sample(systems, outcomes, stage), rows.reshape(-1, 2)

    def sample_all(self) -> Floats:
        """Sample the scores of every system, with at least 2 outcomes for every draw."""
        outcomes = max(self.outcomes, 2 * len(self.values))
        return self.sample(np.arange(self.pool.n_systems), outcomes, stage=1)

    def table(self, kind: Kind) -> Moments:
        """Moments of the pairs, without the residual."""
        return measures.moments(
            self.pool,
            self.values,
            measure=self.measure,
            moments=kind,
            pairs=self.pairs,
            jobs=self.jobs,
            scheduler=self.scheduler,
            progress=self.progress,
        )

    def names(self, column: int) -> tuple[str, ...]:
        """Names of the first or the second systems of the pairs."""
        return tuple(self.pool.systems[s] for s in self.pairs[:, column])

    def meta(self, sampled: int) -> dict[str, object]:
        """Provenance, with the draws, the outcomes behind counted shares, and options."""
        made = provenance(seed=self.seed)
        counts = {"draws": len(self.values), "outcomes": sampled}
        about = {
            "score_depth": self.pool.score_depth,
            "unseen": self.unseen,
            "residual": self.residual,
        }
        asked = {} if self.rope is None else {"rope": self.rope}
        return made | counts | about | asked


def check_residual(residual: float) -> None:
    """See that a residual is a standard deviation.

    Raises
    ------
    InputError
    """
    if not 0.0 <= residual < np.inf:
        raise InputError(
            f"residual is {residual}", remedy="give a standard deviation of at least 0"
        )


def number_of(systems: Sequence[str], name: str) -> int:
    """Return a system's number.

    Raises
    ------
    InputError
        A system that is not there.
    """
    if name not in systems:
        shown = ", ".join(systems[:5]) + (", ..." if len(systems) > 5 else "")
        raise InputError(f"no system is named {name!r}", remedy=f"name one of {shown}")
    return list(systems).index(name)


def _pairs(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Every pair of systems, the first before the second; or every other with the baseline."""
    if baseline is None:
        return np.stack(np.triu_indices(len(systems), 1), axis=1).astype(np.int64)
    base = number_of(systems, baseline)
    return np.array([(s, base) for s in range(len(systems)) if s != base], np.int64).reshape(-1, 2)
