"""The mode of a PyMC graph."""

from __future__ import annotations

from typing import Any

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.fitters.graphs import as_fit_error, find_mode, labels, open_graph
from rtc_bayes.relevance.interface import Diagnostics, PointEstimate, Stage


def graph_map(model: Any, judgments: Judgments) -> PointEstimate:
    """Find the mode of a graph's own variables: the unconstrained ones, without their Jacobian."""
    graph = open_graph(model, judgments)
    with as_fit_error(model, "map"):
        mode, _ = find_mode(graph, jacobian=False)
        return PointEstimate(
            p=graph.p(mode.at),
            parameters=graph.parameters(mode.at),
            diagnostics=Diagnostics((Stage.of("graph", [mode]),)),
            **labels(graph),
        )
