"""Fitting a model by a method. Here: ``map``, by the model's own solver or through PyMC."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, InputError
from rtc_bayes.relevance.interface import (
    Diagnostics,
    HasMap,
    PointEstimate,
    RelevanceModel,
    Stage,
)

METHODS = ("map",)
# what a model may announce, and is to come
_LATER = ("cut", "gibbs", "laplace", "nuts")
# half of the Newton decrement estimates the log density that is still to gain
_DECREMENT = 1e-6


def available_methods(model: RelevanceModel | type[RelevanceModel]) -> tuple[str, ...]:
    """Return the methods of a model that can be used."""
    return tuple(method for method in model.methods if method in METHODS)


def resolve_method(model: RelevanceModel, method: str | None) -> str:
    """Return a method's name, the model's default for None.

    Raises
    ------
    InputError
        The model does not have the method.
    """
    wanted = method or model.default_method
    usable = available_methods(model)
    if wanted in usable:
        return wanted
    now = ", ".join(usable) or "none"
    if wanted in _LATER:
        raise InputError(
            f"method {wanted!r} of {model.name} comes in a later version",
            remedy=f"available now: {now}",
        )
    raise InputError(f"model {model.name} has no method {wanted!r}", remedy=f"available now: {now}")


def estimate(
    model: RelevanceModel, method: str | None, judgments: Judgments, seed: int = 0
) -> PointEstimate:
    """Fit a model and return arrays, without labels: for loops that fit often.

    Parameters
    ----------
    model : RelevanceModel
    method : str or None
        None for the model's default.
    judgments : Judgments
    seed : int
        For a model whose fit is random.

    Returns
    -------
    PointEstimate
        Over ``judgments.pool``; judged documents have their label.

    Raises
    ------
    InputError
        The model does not have the method.
    FitError
        The fit did not converge, or a probability is not a number in [0, 1].
    """
    resolve_method(model, method)
    if isinstance(model, HasMap):
        found = model.map(judgments)
    else:
        found = _graph_map(model, judgments, seed)
    if not found.diagnostics.converged:
        raise FitError(f"the fit of {model.name} must not be used: {found.diagnostics}")
    if found.p.shape != judgments.labels.shape:
        raise FitError(
            f"model {model.name} gave p of shape {found.p.shape} for "
            f"{len(judgments.labels)} documents"
        )
    if not np.all((found.p >= 0.0) & (found.p <= 1.0)):
        raise FitError(f"model {model.name} gave a probability that is not a number in [0, 1]")
    return PointEstimate(
        p=np.where(judgments.judged, judgments.labels, found.p),
        parameters=found.parameters,
        dims=found.dims,
        coords=found.coords,
        diagnostics=found.diagnostics,
    )


def _graph_map(model: Any, judgments: Judgments, seed: int) -> PointEstimate:
    """Find the mode of a PyMC graph in its unconstrained variables, without their Jacobian."""
    with _quiet_pymc():
        import pymc as pm
        from pymc.exceptions import SamplingError
    graph = model.graph(judgments.pool, judgments)
    if not isinstance(graph, pm.Model) or "p" not in graph.named_vars:
        raise InputError(
            f"graph() of model {model.name} gives no deterministic p over documents",
            remedy="end it with pm.Deterministic('p', ..., dims='document') and return the model",
        )
    try:
        with _quiet_pymc():
            tree = pm.find_MAP(
                model=graph,
                progressbar=False,
                jitter=False,
                return_inferencedata=True,
                random_seed=seed,
                tol=1e-12,
            )
    except (SamplingError, FloatingPointError, np.linalg.LinAlgError) as error:
        raise FitError(f"PyMC could not fit {model.name}: {error}") from error
    posterior = tree["posterior"].dataset.isel(chain=0, draw=0, drop=True)
    parameters = posterior.drop_vars("p")
    used = {str(dim) for variable in parameters.data_vars.values() for dim in variable.dims}
    return PointEstimate(
        p=np.asarray(posterior["p"].values, dtype=np.float64),
        parameters={str(name): value.values for name, value in parameters.data_vars.items()},
        dims={str(name): tuple(map(str, v.dims)) for name, v in parameters.data_vars.items()},
        coords={str(d): v.values for d, v in parameters.coords.items() if d in used},
        diagnostics=Diagnostics((_optimum(tree["optimizer_result"].dataset),)),
    )


def _optimum(result: Any) -> Stage:
    """Judge an L-BFGS optimum by its own estimate of what is left to gain."""
    from scipy.optimize import LbfgsInvHessProduct

    gradient = result["jac"].values
    pairs = (result["hess_inv_sk"].values, result["hess_inv_yk"].values)
    left = float(gradient @ LbfgsInvHessProduct(*pairs).matvec(gradient)) / 2.0
    finite = bool(np.isfinite(result["fun"].values) and np.isfinite(left))
    return Stage(
        "graph", finite and left <= _DECREMENT, int(result["nit"]), float(np.linalg.norm(gradient))
    )


@contextmanager
def _quiet_pymc() -> Iterator[None]:
    """Keep PyMC's notes to itself: what matters is in the diagnostics."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
