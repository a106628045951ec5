"""What a relevance model is, and what fitting one gives: a point estimate or draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.relevance import spaced
from rtc_bayes.errors import InputError
from rtc_bayes.relevance.newton import Floats, Solved

if TYPE_CHECKING:
    import pymc as pm

_MOST_P = 1000


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

    Examples
    --------
    >>> print(Stage("layer 1", True, 5, 1e-9))
    layer 1: converged, 5 iterations, gradient 1.0e-09
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


@dataclass(frozen=True)
class Check:
    """One question asked of a fit, and its answer.

    Attributes
    ----------
    name : str
        What was measured, and where it was worst.
    value : float
        What was found.
    limit : float
        Where a value begins to call for a remark.
    passed : bool
        False: the fit must not be used.
    note : str
        What to know before using it; empty when all is well. With ``passed`` it is a warning.

    Examples
    --------
    >>> print(Check("r-hat of a", 1.2, 1.01, False, "the chains do not agree"))
    r-hat of a 1.2 (FAILED: the chains do not agree)
    """

    name: str
    value: float
    limit: float
    passed: bool
    note: str = ""

    def __str__(self) -> str:
        state = "" if self.passed else "FAILED: "
        note = f" ({state}{self.note})" if self.note or state else ""
        return f"{self.name} {self.value:.4g}{note}"


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """How a fit went, part by part.

    Attributes
    ----------
    stages : tuple of Stage
        Optimisations; empty for a model with nothing to fit.
    checks : tuple of Check
        Of draws.

    Examples
    --------
    >>> Diagnostics((Stage("layer 1", True, 5, 1e-9),), (Check("Pareto k", 0.4, 0.7, True),)).usable
    True
    """

    stages: tuple[Stage, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether every part converged."""
        return all(stage.converged for stage in self.stages)

    @property
    def usable(self) -> bool:
        """Whether every part converged and no check failed."""
        return self.converged and all(check.passed for check in self.checks)

    @property
    def warnings(self) -> tuple[Check, ...]:
        """Checks that passed with a remark."""
        return tuple(check for check in self.checks if check.passed and check.note)

    def __repr__(self) -> str:
        parts = "; ".join(map(str, (*self.stages, *self.checks)))
        return f"Diagnostics({parts or 'nothing to fit'})"


@dataclass(frozen=True)
class Sampling:
    """How many draws a method takes, and from what seed; by default as many as NUTS takes.

    Attributes
    ----------
    draws : int
        Kept per chain, at least 1.
    chains : int
        At least 1.
    tune : int
        Steps of each chain before the first draw, for methods that adapt; at least 0.
    seed : int
        At least 0.

    Raises
    ------
    InputError
        A smaller number, or one that is not whole.

    Examples
    --------
    >>> Sampling.of("nuts")
    Sampling(draws=1000, chains=4, tune=1000, seed=0)
    >>> Sampling.of("gibbs", draws=200, seed=3)
    Sampling(draws=200, chains=4, tune=500, seed=3)
    """

    draws: int = defaults.NUTS_DRAWS
    chains: int = defaults.CHAINS
    tune: int = defaults.NUTS_TUNE
    seed: int = 0

    @classmethod
    def of(cls, method: str, *, seed: int = 0, **counts: int | None) -> Sampling:
        """Take a method's usual numbers where none (or None) is given for one.

        Parameters
        ----------
        method : str
        seed : int
        **counts : int or None
            ``draws``, ``chains`` and ``tune``.
        """
        usual = {"draws": defaults.DRAWS, "chains": defaults.CHAINS, "tune": defaults.TUNE}
        if method == "nuts":
            usual |= {"draws": defaults.NUTS_DRAWS, "tune": defaults.NUTS_TUNE}
        chosen = {name: value for name, value in counts.items() if value is not None}
        return cls(**(usual | chosen), seed=seed)

    @property
    def kept(self) -> NDArray[np.int64]:
        """Which of each chain's draws p is kept of: evenly spaced over the chain.

        Of every document p takes memory, and more draws add little: 1000 of all chains at most.
        """
        return spaced(self.draws, min(self.draws, max(1, _MOST_P // self.chains)))

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("chains", 1), ("tune", 0), ("seed", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least=least))


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
        labelled by the pool, others by `coords`. A parameter that is absent is a scalar. No
        parameter has the name of a dim, and no dim the name ``chain`` or ``draw``.
    coords : mapping of str to sequence
        Labels of other dims.
    diagnostics : Diagnostics

    Examples
    --------
    >>> PointEstimate(np.array([0.2, 0.6]), {"level": np.array(-0.5)})
    PointEstimate(2 documents, p 0.200 to 0.600, parameters: level)
    """

    p: Floats
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    @property
    def values(self) -> Floats:
        """Probabilities as one draw, shape (1, documents)."""
        return self.p[None]

    def __repr__(self) -> str:
        span = f", p {self.p.min():.3f} to {self.p.max():.3f}" if len(self.p) else ""
        names = ", ".join(self.parameters) or "none"
        return f"PointEstimate({len(self.p)} documents{span}, parameters: {names})"


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """Draws of every document's probability of relevance, and of the parameters behind them.

    Attributes
    ----------
    p : ndarray of float32, shape (chains, draws, documents)
        Over the documents of ``judgments.pool``, in [0, 1]. It may be of fewer draws than the
        parameters, evenly spaced: those of :attr:`Sampling.kept`.
    parameters : mapping of str to ndarray, shape (chains, draws, ...)
        By name.
    sample_stats : mapping of str to ndarray, shape (chains, draws)
        By the names that ArviZ knows: ``diverging``, ``lp``, ``tree_depth``, ... Of as many draws
        as the parameters.
    dims, coords : mapping
        As of a :class:`PointEstimate`, without chain and draw.
    diagnostics : Diagnostics

    Examples
    --------
    >>> draws = Draws(np.full((2, 50, 3), 0.5, dtype=np.float32))
    >>> draws
    Draws(2 chains x 50 draws, 3 documents, parameters: none)
    >>> draws.values.shape
    (100, 3)
    """

    p: NDArray[np.float32]
    parameters: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    sample_stats: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    @property
    def values(self) -> NDArray[np.float32]:
        """Probabilities of all chains, shape (chains * draws, documents)."""
        return self.p.reshape(-1, self.p.shape[-1])

    def __repr__(self) -> str:
        chains, draws, documents = self.p.shape
        names = ", ".join(self.parameters) or "none"
        return f"Draws({chains} chains x {draws} draws, {documents} documents, parameters: {names})"


class RelevanceModel(Protocol):
    """A model of relevance: a frozen dataclass whose fields are its options.

    It has one or more of ``graph(pool, judgments)`` (:class:`HasGraph`); ``map(judgments)``, which
    returns a :class:`PointEstimate`; ``laplace``, ``cut`` or ``gibbs`` ``(judgments, sampling)``,
    which return :class:`Draws`; and, of a modular model, ``stages(judgments)``: the graph of each
    part by name, given the mode of the parts before it. A graph alone gives ``map``, ``laplace``
    and ``nuts``; beside one, the model's own ``map`` or ``laplace`` is the fast form of the
    graph's (or says what else it is). ``presets``, if it has them, name sets of options. A true
    ``takes_labels`` says that the model uses ``judgments.judge_labels``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Constant:
    ...     p: float = 0.5
    ...     name: ClassVar[str] = "constant"
    ...     methods: ClassVar[tuple[str, ...]] = ("map",)
    ...     default_method: ClassVar[str] = "map"
    ...
    ...     def map(self, judgments):
    ...         return PointEstimate(np.full(judgments.pool.n_documents, self.p))
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> fit = rb.fit(pool, rb.Judgments.none(pool), model=Constant(p=0.25))
    >>> float(fit.relevance.values.max())
    0.25
    """

    name: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]
    default_method: ClassVar[str]


@runtime_checkable
class HasGraph(Protocol):
    """A model written as a PyMC graph."""

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Return a graph with a deterministic ``p`` over the documents of `pool`.

        `pool` is ``judgments.pool``. The likelihood is of the judged documents' labels.
        """


class Kernel(NamedTuple):
    """A log density and its gradient in machine code, for a sampler that does not run Python.

    Attributes
    ----------
    function : numba.core.ccallback.CFunc
        Takes the number of values, addresses of the values, of the gradient and of the log
        density, both of which it sets, and of `data`. Gives 0, or 1 where it is not finite.
    data : ndarray of float
        What the function reads besides.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> density = load_model("layered").density(rb.Judgments.none(pool))
    >>> isinstance(density, HasKernel), density.kernel.data.ndim
    (True, 1)
    """

    function: Any
    data: Floats


@runtime_checkable
class HasKernel(Protocol):
    """A density with a form of it in machine code."""

    @property
    def kernel(self) -> Kernel:
        """The same log density, Jacobian included."""


class Density(Protocol):
    """A posterior density over one vector, its unconstrained free variables end to end.

    What methods of estimation work on: a PyMC graph compiled
    (:class:`rtc_bayes.relevance.compiled.CompiledGraph`), or a model's own fast form of it.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> density = load_model("layered").density(rb.Judgments.none(pool))
    >>> density.size, density.p(density.start).shape == (pool.n_documents,)
    (23, True)
    """

    @property
    def size(self) -> int:
        """Number of values."""

    @property
    def start(self) -> Floats:
        """Where a search begins."""

    def log_density(self, x: Floats, *, jacobian: bool) -> float:
        """Log density of the unconstrained variables; without `jacobian`, of those they become."""

    def derivative(self, x: Floats, *, jacobian: bool) -> tuple[float, Floats]:
        """Log density and its gradient, shape (size,)."""

    def hessian(self, x: Floats, *, jacobian: bool) -> Floats:
        """Second derivatives of the log density, shape (size, size)."""

    def p(self, x: Floats) -> Floats:
        """Probability of every document, shape (documents,)."""

    def parameters(self, x: Floats) -> Mapping[str, Any]:
        """Values of the parameters by name."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """``dims`` of the parameters, and ``coords`` of these, as of :class:`PointEstimate`."""


@runtime_checkable
class HasDensity(Protocol):
    """A model with a fast form of its graph's density: methods through the graph use it."""

    def density(self, judgments: Judgments) -> Density:
        """Return the density of the graph over ``judgments.pool``."""


def check_takes_labels(judgments: Judgments, taker: object) -> None:
    """Refuse labels beside judgments for a model, or a judge, that makes nothing of them.

    Parameters
    ----------
    judgments : Judgments
    taker : object
        With a `name`; a true ``takes_labels`` says that it uses them.

    Raises
    ------
    InputError
        Labels that would be ignored.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import ModelSpec
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> labels = rb.Labels.of(["1"], ["a"], ["llm"], [1])
    >>> beside = rb.Judgments.none(pool).with_judge_labels(labels)
    >>> check_takes_labels(beside, ModelSpec.parse("hierarchical").build())
    """
    if judgments.judge_labels is not None and not getattr(taker, "takes_labels", False):
        package = type(taker).__module__.partition(".")[0]
        own = hasattr(taker, "methods") and package not in ("rtc_bayes", "rtc_bayes_models")
        raise InputError(
            f"{getattr(taker, 'name', type(taker).__name__)} takes no labels of judges",
            remedy="use robust, hierarchical or layered, or leave the labels out"
            + "; a model of your own takes them with takes_labels = True (docs/models.md)" * own,
        )
