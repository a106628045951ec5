"""The mode of a PyMC graph."""

from __future__ import annotations

from typing import Any

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError
from rtc_bayes.relevance.fitters.graphs import (
    SCALE_AT_ZERO,
    as_fit_error,
    find_mode,
    labels,
    open_graph,
)
from rtc_bayes.relevance.interface import Diagnostics, PointEstimate, Stage


def graph_map(model: Any, judgments: Judgments) -> PointEstimate:
    """Find the mode of a graph's own variables: the unconstrained ones, without their Jacobian.

    Raises
    ------
    FitError
        No mode was reached: the density may have none, or one on the boundary.
    """
    graph = open_graph(model, judgments)
    with as_fit_error(model, "map"):
        mode, _ = find_mode(graph, jacobian=False)
        if not mode.converged:
            raise FitError(
                f"map of {model.name} is refused: no mode was reached "
                f"({Stage.of('graph', [mode])}); perhaps {SCALE_AT_ZERO}"
            )
        return PointEstimate(
            p=graph.p(mode.at),
            parameters=graph.parameters(mode.at),
            diagnostics=Diagnostics((Stage.of("graph", [mode]),)),
            **labels(graph),
        )
