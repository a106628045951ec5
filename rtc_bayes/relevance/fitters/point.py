"""The mode of a PyMC graph."""

from __future__ import annotations

from typing import Any

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError
from rtc_bayes.relevance.fitters.graphs import (
    SCALE_AT_ZERO,
    as_fit_error,
    check_start,
    find_mode,
    open_density,
)
from rtc_bayes.relevance.interface import Diagnostics, PointEstimate, Stage


def graph_map(model: Any, judgments: Judgments) -> PointEstimate:
    """Find the mode of a graph's own variables: the unconstrained ones, without their Jacobian.

    Raises
    ------
    FitError
        No mode was reached: the density may have none, or one on the boundary.
    """
    density = open_density(model, judgments)
    with as_fit_error(model, "map"):
        check_start(model, density, judgments)
        mode, _ = find_mode(density, jacobian=False)
        if not mode.converged:
            raise FitError(
                f"map of {model.name} is refused: no mode was reached "
                f"({Stage.of('graph', [mode])}); perhaps {SCALE_AT_ZERO}"
            )
        return PointEstimate(
            p=density.p(mode.at),
            parameters=density.parameters(mode.at),
            diagnostics=Diagnostics((Stage.of("graph", [mode]),)),
            **density.labels,
        )
