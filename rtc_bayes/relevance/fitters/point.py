"""The mode of a PyMC graph."""

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
    PointEstimate,
    Stage,
)

# half of the Newton decrement estimates the log density that is still to gain
_DECREMENT = 1e-6


def graph_map(model: Any, judgments: Judgments, seed: int) -> PointEstimate:
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
