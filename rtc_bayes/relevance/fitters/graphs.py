"""What the methods that work on a PyMC graph share."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, FitWarning, InputError
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.interface import Diagnostics, Draws, HasGraph, Sampling
from rtc_bayes.relevance.newton import Floats, Mode, maximise, one_thread

SCALE_AT_ZERO = (
    "a scale of effects falls to 0 with them where its prior is highest there, as HalfNormal: "
    "use nuts, or a prior whose mode is above 0, as Gamma(2, 1)"
)
# what PyMC says of a parameter outside its range, and what to do
_HINTS = {"0 <= p <= 1": "end with p = pm.math.sigmoid(...)", "sigma > 0": SCALE_AT_ZERO}


def open_graph(model: Any, judgments: Judgments) -> CompiledGraph:
    """Build a model's graph over judgments.

    Raises
    ------
    InputError
        There is no deterministic p, or a free variable is discrete.
    """
    assert isinstance(model, HasGraph)
    with quiet_pymc():
        import pymc as pm

        graph = model.graph(judgments.pool, judgments)
    if not isinstance(graph, pm.Model) or "p" not in graph.named_vars:
        raise InputError(
            f"graph() of {model!r} gives no deterministic p over documents",
            remedy="end it with pm.Deterministic('p', ..., dims='document') and return the model",
        )
    return CompiledGraph(graph)


def find_mode(graph: CompiledGraph, *, jacobian: bool) -> tuple[Mode, Floats]:
    """Find where the density of a graph is highest, and how sharply it falls off.

    L-BFGS goes near, Newton's method with the graph's second derivatives arrives.

    Parameters
    ----------
    graph : CompiledGraph
    jacobian : bool
        Of the density of the unconstrained variables; else of those that they become.

    Returns
    -------
    Mode
        Not converged as well where the density is flat or does not curve down in all directions.
    factor : ndarray of float, shape (size, size)
        Lower Cholesky factor of the negative Hessian there; empty without convergence.
    """
    from scipy.linalg import LinAlgError, cholesky
    from scipy.optimize import minimize

    def loss(x: Floats) -> tuple[float, Floats]:
        value, gradient = graph.derivative(x, jacobian=jacobian)
        return -value, -gradient

    def derivatives(x: Floats) -> tuple[Floats, Floats]:
        return (
            graph.derivative(x, jacobian=jacobian)[1],
            -graph.hessian(x, jacobian=jacobian),
        )

    def log_density(x: Floats) -> float:
        return graph.log_density(x, jacobian=jacobian)

    none = np.empty((0, 0))
    with one_thread(), np.errstate(all="ignore"):
        near = minimize(loss, graph.start, jac=True, method="L-BFGS-B", options=_LBFGS)
        stuck = Mode(near.x, int(near.nit), float(np.linalg.norm(near.jac)), False)
        try:
            mode = maximise(near.x, log_density, derivatives)
            if not mode.converged:
                return mode, none
            factor = cholesky(derivatives(mode.at)[1], lower=True)
        except (LinAlgError, ValueError):
            return stuck, none
    return Mode(mode.at, int(near.nit) + mode.iterations, mode.gradient, True), factor


def collect(
    graph: CompiledGraph,
    points: NDArray[np.float64],
    sample_stats: Mapping[str, NDArray[Any]],
    diagnostics: Diagnostics | None = None,
) -> Draws:
    """Turn points into draws of the graph's parameters, and of p.

    Parameters
    ----------
    graph : CompiledGraph
    points : ndarray of float, shape (chains, draws, size)
        Unconstrained.
    sample_stats : mapping
        As of :class:`~rtc_bayes.relevance.interface.Draws`.
    diagnostics : Diagnostics, optional

    Returns
    -------
    Draws
        p of at most 1000 draws of all chains together, evenly spaced.
    """
    chains, draws, size = points.shape
    by_point = [graph.parameters(x) for x in points.reshape(-1, size)]
    every = points[:, Sampling(draws, chains).kept]
    first = graph.p(every[0, 0])
    p = np.empty((*every.shape[:2], *first.shape), dtype=np.float32)
    for chain in range(chains):
        for draw in range(every.shape[1]):
            p[chain, draw] = graph.p(every[chain, draw])
    return Draws(
        p=p,
        parameters={
            name: np.array([each[name] for each in by_point]).reshape(
                chains, draws, *np.shape(by_point[0][name])
            )
            for name in by_point[0]
        },
        sample_stats=sample_stats,
        diagnostics=diagnostics or Diagnostics(),
        **labels(graph),
    )


def labels(graph: CompiledGraph) -> dict[str, Any]:
    """Return the dims of a graph's parameters, and the coordinates of these."""
    named = graph.graph.named_vars_to_dims
    dims = {str(v.name): tuple(map(str, named[v.name])) for v in graph.kept if v.name in named}
    used = {dim for each in dims.values() for dim in each}
    of_graph: Mapping[str, Sequence[Any] | None] = graph.graph.coords
    coords = {dim: list(of_graph[dim] or ()) for dim in used if of_graph.get(dim) is not None}
    return {"dims": dims, "coords": coords}


@contextmanager
def quiet_pymc() -> Iterator[None]:
    """Keep PyMC's notes to itself: what matters is in the diagnostics."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", FitWarning)
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def as_fit_error(model: Any, method: str) -> Iterator[None]:
    """Turn what a sampler or a graph's evaluation raises into a fit that must not be used."""
    try:
        yield
    except (RuntimeError, ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        if isinstance(error, InputError | FitError):
            raise
        hints = [f"; {hint}" for said, hint in _HINTS.items() if said in str(error)]
        raise FitError(f"{method} of {model.name} failed: {error}{''.join(hints)}") from error


_LBFGS = {"maxiter": 10_000, "maxfun": 100_000, "maxls": 50, "ftol": 1e-13, "gtol": 1e-7}
