"""The relevance model of Carterette 2007, section 3: three logistic regressions in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rtc_bayes import Judgments
from rtc_bayes.relevance import Diagnostics, PointEstimate, check_options, rank, require
from rtc_bayes.relevance.aggregation import aggregate
from rtc_bayes.relevance.aggregation import graph as aggregation_graph
from rtc_bayes.relevance.calibration import Calibration, calibrate
from rtc_bayes.relevance.calibration import graph as calibration_graph
from rtc_bayes.relevance.rank import SelfReports

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class RTC:
    """Ranks to probabilities, calibrated per system, aggregated over systems.

    Each layer is a fit of its own that takes the one before as given (modular inference); each
    is documented in its module of :mod:`rtc_bayes.relevance`.

    Attributes
    ----------
    prior : tuple of float
        LogitBeta(a, b) on layer 3's weights and intercept, and with ``smoothing="beta"`` on
        layer 2's coefficients.
    temper : {"none", "depth"}
        Layer 1: weight of the pairwise likelihood.
    smoothing : {"cells", "platt", "beta"}
        Layer 2: what keeps calibration modest with few judgments.
    cell_weight : float
        Layer 2: pseudo-judgments of each label per cell, with ``smoothing="cells"``.
    intercept : bool
        Layer 3: whether the regression has one.
    link : {"probability", "logodds"}
        Layer 3: regress on q_ij or on logit q_ij.
    folds : {0, 5}
        Layer 3: average the fits that leave out every fifth judgment.
    """

    prior: tuple[float, float] = (1.0, 1.0)
    temper: Literal["none", "depth"] = "none"
    smoothing: Literal["cells", "platt", "beta"] = "cells"
    cell_weight: float = 1.0
    intercept: bool = False
    link: Literal["probability", "logodds"] = "probability"
    folds: Literal[0, 5] = 0

    name: ClassVar[str] = "rtc"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "printed": {"smoothing": "platt", "intercept": False, "link": "probability", "folds": 0},
        "program": {"smoothing": "cells", "cell_weight": 1.0, "intercept": False, "folds": 5},
    }

    def __post_init__(self) -> None:
        check_options(self)
        require(min(self.prior) > 0, self, "prior", "two positive numbers")
        require(self.cell_weight >= 0, self, "cell_weight", "a number of at least 0")

    def map(self, judgments: Judgments) -> PointEstimate:
        """Estimate every document of ``judgments.pool``."""
        reports, calibration = self._first_layers(judgments)
        aggregation = aggregate(
            reports,
            calibration,
            prior=self.prior,
            intercept=self.intercept,
            link=self.link,
            folds=self.folds,
        )
        return PointEstimate(
            p=aggregation.p,
            parameters={
                "theta": reports.theta,
                "A": calibration.offset,
                "B": calibration.slope,
                "lambda": aggregation.weights,
                "lambda_0": np.array(aggregation.intercept),
            },
            dims={
                "theta": ("topic", "rank"),
                "A": ("system",),
                "B": ("system",),
                "lambda": ("system",),
            },
            diagnostics=Diagnostics((reports.stage, calibration.stage, aggregation.stage)),
        )

    def stages(self, judgments: Judgments) -> dict[str, pm.Model]:
        """Return every layer's PyMC graph, given the mode of the layers before."""
        require(self.folds == 0, self, "folds", "0: an average of five fits has no density")
        reports, calibration = self._first_layers(judgments)
        return {
            "ranks": rank.graph(judgments, temper=self.temper),
            "calibration": calibration_graph(
                reports, smoothing=self.smoothing, cell_weight=self.cell_weight, prior=self.prior
            ),
            "aggregation": aggregation_graph(
                reports, calibration, prior=self.prior, intercept=self.intercept, link=self.link
            ),
        }

    def _first_layers(self, judgments: Judgments) -> tuple[SelfReports, Calibration]:
        reports = rank.self_report(judgments, temper=self.temper)
        return reports, calibrate(
            reports, smoothing=self.smoothing, cell_weight=self.cell_weight, prior=self.prior
        )
