"""What the methods that work on a PyMC graph share."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, FitWarning, InputError, own_code, warn
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.fitters import CORRECT, nan_text
from rtc_bayes.relevance.interface import (
    Density,
    Diagnostics,
    Draws,
    HasDensity,
    HasGraph,
    Sampling,
)
from rtc_bayes.relevance.newton import Floats, Mode, maximise
from rtc_bayes.store.shown import counted
from rtc_bayes.workers import one_thread

SCALE_AT_ZERO = (
    "a scale of effects falls to 0 with them where its prior is highest there, as HalfNormal: "
    "use nuts, or a prior whose mode is above 0, as Gamma(2, 1)"
)
# what PyMC says of a parameter outside its range, and what to do
_HINTS = {
    "0 <= p <= 1": "end with p = pm.math.sigmoid(...)",
    "sigma > 0": "an option may be below 0",
    "posdef": "a covariance matrix is not positive definite",
}
# where the mode of a scale may be to blame
_OF_SCALES = ("sigma > 0", "posdef")


def open_graph(model: Any, judgments: Judgments) -> CompiledGraph:
    """Build a model's graph over judgments.

    Raises
    ------
    InputError
        The graph's code fails or returns nothing, there is no deterministic p of the pool's
        documents or no parameter, or a free variable is discrete.

    Warns
    -----
    FitWarning
        There are judgments, and nothing in the graph observes them; labels of unjudged documents
        are observed; or some labels are probabilities, and what is observed is 0 and 1 alone.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> open_graph(load_model("rank_curve"), rb.Judgments.none(pool)).graph["p"].ndim
    1
    """
    assert isinstance(model, HasGraph)
    with quiet_pymc():
        import pymc as pm

        with own_code(model, "graph(pool, judgments)", CORRECT):
            graph = model.graph(judgments.pool, judgments)
    if graph is None:
        raise InputError(f"graph() of {model!r} returns nothing", remedy="end it with return model")
    if not isinstance(graph, pm.Model) or "p" not in graph.named_vars:
        raise InputError(
            f"graph() of {model!r} gives no deterministic p over documents",
            remedy="call observe(judgments, log_odds) in it, which gives p and observes the labels "
            "(docs/models.md), or end it with pm.Deterministic('p', ..., dims='document'); and "
            "return the model",
        )
    if judgments.n_judged and not (graph.observed_RVs or graph.potentials):
        warn(
            f"graph() of {model!r} observes nothing, so that judgments may change nothing: call "
            "observe(judgments, log_odds) in it, or write a likelihood of the labels",
            FitWarning,
        )
    if not graph.free_RVs:
        raise InputError(
            f"graph() of {model!r} has no parameter",
            remedy="give it one, such as pm.Normal; a model without returns p from map(judgments)",
        )
    _check_shape(model, graph["p"].type.shape, judgments.pool.n_documents)
    _check_observed(model, graph, judgments)
    return CompiledGraph(graph)


def _check_shape(model: Any, shape: tuple[int | None, ...], documents: int) -> None:
    """Refuse a p that is not over the documents, as far as its shape is known before a fit."""
    if len(shape) != 1 or shape[0] not in (None, documents):
        sizes = str(shape).replace("None", "?")
        raise InputError(
            f"p of graph() of {model!r} has shape {sizes}, and the pool {documents} documents",
            remedy=f"give p the shape ({documents},): a probability for each document of the pool, "
            "in its order",
        )


def _check_observed(model: Any, graph: Any, judgments: Judgments) -> None:
    """Warn of labels that are none, and where probabilities were made 0 and 1."""
    values = [graph.rvs_to_values[variable] for variable in graph.observed_RVs]
    # constants, unless they are pm.Data, whose values the model's author may change
    observed = [np.asarray(value.data) for value in values if hasattr(value, "data")]
    integers = [each for each in observed if np.issubdtype(each.dtype, np.integer)]
    if not integers:
        return
    # NaN, made an integer, is 0 to PyMC
    taken = np.nan_to_num(judgments.labels).astype(int)
    every = any(np.array_equal(taken, each) for each in integers)
    if every and taken.any() and not judgments.judged.all():
        warn(
            f"graph() of {model!r} seems to observe labels of documents that nobody judged, which "
            "are NaN: observe judgments.labels[judgments.order], or call "
            "observe(judgments, log_odds)",
            FitWarning,
        )
    labels = judgments.labels[judgments.order]
    soft = int(np.count_nonzero((labels > 0.0) & (labels < 1.0)))
    others = len(observed) > len(integers) or graph.potentials
    if soft and not others and all(np.isin(each, (0, 1)).all() for each in integers):
        warn(
            f"{soft} of {counted(len(labels), 'judgment')} are probabilities, and graph() of "
            f"{model!r} observes 0 and 1 alone: call observe(judgments, log_odds) in it",
            FitWarning,
        )


def open_density(model: Any, judgments: Judgments) -> Density:
    """Return a model's own density over judgments if it has one, else its graph's."""
    if isinstance(model, HasDensity):
        return model.density(judgments)
    return open_graph(model, judgments)


def check_start(model: Any, density: Density, judgments: Judgments) -> None:
    """Refuse a density that is 0, or no number, where fits start.

    Raises
    ------
    InputError
        A graph takes an element of a parameter that is not there.
    FitError
        Names the documents whose p is NaN, else the parts of a graph that make it so.
    """
    if isinstance(density, CompiledGraph) and (missing := density.missing_element()):
        raise InputError(
            f"graph() of {model!r} takes an element of a parameter that is not there: {missing}",
            remedy="make the parameter longer, or correct the numbers that index it: ranks go from "
            "1 to pool.depth, and a document that no system ranks so high has best rank 0",
        )
    try:
        value = density.log_density(density.start, jacobian=True)
    except ValueError:  # PyMC refuses to evaluate what depends on NaN
        _check_numbers(model, density, judgments)
        raise
    if np.isfinite(value):
        return
    _check_numbers(model, density, judgments)
    of_parts = ""
    if isinstance(density, CompiledGraph):
        with quiet_pymc():
            parts = density.graph.point_logps()
        of_parts = f", by {', '.join(n for n, part in parts.items() if not np.isfinite(part))}"
    raise FitError(
        f"the log density of {model.name} is {value} where fits start{of_parts}: a judged document "
        "may have a probability of 0 or 1, or a number is NaN; keep log-odds finite, as by "
        "log(rank + 1) in place of log(rank - 1)"
    )


def _check_numbers(model: Any, density: Density, judgments: Judgments) -> None:
    """Refuse a density by which some document's p is NaN where fits start."""
    p = density.p(density.start)
    if np.isnan(p).any():
        raise FitError(f"{model.name}: {nan_text(p, judgments)}")


def find_mode(density: Density, *, jacobian: bool) -> tuple[Mode, Floats]:
    """Find where a density is highest, and how sharply it falls off.

    From a saddle, as half way between two modes that mirror each other, a second search begins
    beside it.

    Parameters
    ----------
    density : Density
    jacobian : bool
        Of the density of the unconstrained variables; else of those that they become.

    Returns
    -------
    Mode
        Not converged as well where the density is flat or does not curve down in all directions.
    factor : ndarray of float, shape (size, size)
        Lower Cholesky factor of the negative Hessian there; empty without convergence.
    """
    mode, factor = _mode_from(density.start, density, jacobian=jacobian)
    if mode.converged or mode.iterations or not _is_saddle(density, mode.at, jacobian=jacobian):
        return mode, factor
    warn(
        "the search began at a saddle, from which the density rises on two sides: where these "
        "mirror each other, map and laplace know the mode on one of them",
        FitWarning,
    )
    beside = density.start + np.random.default_rng(0).uniform(-_BESIDE, _BESIDE, density.size)
    return _mode_from(beside, density, jacobian=jacobian)


def _is_saddle(density: Density, x: Floats, *, jacobian: bool) -> bool:
    """Whether the density rises from here in some direction, by its second derivatives."""
    with one_thread():
        hessian = density.hessian(x, jacobian=jacobian)
        return bool(np.isfinite(hessian).all() and np.linalg.eigvalsh(hessian).max() > _RISES)


def _mode_from(start: Floats, density: Density, *, jacobian: bool) -> tuple[Mode, Floats]:
    """Find the mode from a start: L-BFGS goes near, Newton's method with the Hessian arrives."""
    from scipy.linalg import LinAlgError, cholesky
    from scipy.optimize import minimize

    def loss(x: Floats) -> tuple[float, Floats]:
        value, gradient = density.derivative(x, jacobian=jacobian)
        return -value, -gradient

    def derivatives(x: Floats) -> tuple[Floats, Floats]:
        return (
            density.derivative(x, jacobian=jacobian)[1],
            -density.hessian(x, jacobian=jacobian),
        )

    def log_density(x: Floats) -> float:
        return density.log_density(x, jacobian=jacobian)

    none = np.empty((0, 0))
    with one_thread(), np.errstate(all="ignore"):
        near = minimize(loss, start, jac=True, method="L-BFGS-B", options=_LBFGS)
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
    density: Density,
    points: NDArray[np.float64],
    sample_stats: Mapping[str, NDArray[Any]],
    diagnostics: Diagnostics | None = None,
) -> Draws:
    """Turn points into draws of its parameters, and of p.

    Parameters
    ----------
    density : Density
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
    by_point = [density.parameters(x) for x in points.reshape(-1, size)]
    every = points[:, Sampling(draws, chains).kept]
    first = density.p(every[0, 0])
    p = np.empty((*every.shape[:2], *first.shape), dtype=np.float32)
    for chain in range(chains):
        for draw in range(every.shape[1]):
            p[chain, draw] = density.p(every[chain, draw])
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
        **density.labels,
    )


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
        if method != "nuts" and any(said in str(error) for said in _OF_SCALES):
            hints.append(f", or {SCALE_AT_ZERO}")
        raise FitError(f"{method} of {model.name} failed: {error}{''.join(hints)}") from error


# a curvature that is more than rounding
_RISES = 1e-6
# how far from the first a second search starts, at most, in every value
_BESIDE = 0.1
_LBFGS = {"maxiter": 10_000, "maxfun": 100_000, "maxls": 50, "ftol": 1e-13, "gtol": 1e-7}
