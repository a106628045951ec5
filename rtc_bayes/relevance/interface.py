"""What a relevance model is, and the point estimate that every model can give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.relevance.newton import Floats, Solved

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Stage:
    """How one part of a fit went.

    Attributes
    ----------
    name : str
        The part: a layer and, where it is fitted apart, a topic or a system.
    converged : bool
    iterations : int
        The most that any of its optimisations took.
    gradient : float
        The largest norm of the log density's gradient where one stopped.
    """

    name: str
    converged: bool
    iterations: int
    gradient: float

    @classmethod
    def of(cls, name: str, parts: Sequence[Solved]) -> Stage:
        """Sum up optimisations of one part; of none, it has nothing to do and converged."""
        return cls(
            name,
            all(part.converged for part in parts),
            max((part.iterations for part in parts), default=0),
            max((part.gradient for part in parts), default=0.0),
        )

    def __str__(self) -> str:
        state = "converged" if self.converged else "DID NOT CONVERGE"
        return f"{self.name}: {state}, {self.iterations} iterations, gradient {self.gradient:.1e}"


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """How a fit went, part by part.

    Attributes
    ----------
    stages : tuple of Stage
        Empty for a model with nothing to fit.
    """

    stages: tuple[Stage, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether every part converged."""
        return all(stage.converged for stage in self.stages)

    def __repr__(self) -> str:
        return f"Diagnostics({'; '.join(map(str, self.stages)) or 'nothing to fit'})"


@dataclass(frozen=True, eq=False, repr=False)
class PointEstimate:
    """One probability of relevance for every document, and the parameters behind it.

    Attributes
    ----------
    p : ndarray of float, shape (documents,)
        Over the documents of ``judgments.pool``, in [0, 1].
    parameters : mapping of str to ndarray of float
        By name.
    dims : mapping of str to tuple of str
        Names of each parameter's dims: ``topic``, ``system``, ``document`` and ``rank`` are
        labelled by the pool, others by `coords`. A parameter that is absent is a scalar.
    coords : mapping of str to sequence
        Labels of other dims.
    diagnostics : Diagnostics
    """

    p: Floats
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def __repr__(self) -> str:
        span = f", p {self.p.min():.3f} to {self.p.max():.3f}" if len(self.p) else ""
        names = ", ".join(self.parameters) or "none"
        return f"PointEstimate({len(self.p)} documents{span}, parameters: {names})"


class RelevanceModel(Protocol):
    """A model of relevance: a frozen dataclass whose fields are its options.

    It has :class:`HasMap`'s method, :class:`HasGraph`'s, or both; then ``map`` is the fast form
    of the graph's mode. ``presets``, if it has them, name sets of options.
    """

    name: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]
    default_method: ClassVar[str]


@runtime_checkable
class HasMap(Protocol):
    """A model with its own fast point estimate."""

    def map(self, judgments: Judgments) -> PointEstimate:
        """Estimate every document of ``judgments.pool``."""


@runtime_checkable
class HasGraph(Protocol):
    """A model written as a PyMC graph."""

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Return a graph with a deterministic ``p`` over the documents of `pool`.

        `pool` is ``judgments.pool``. The likelihood is of the judged documents' labels.
        """
