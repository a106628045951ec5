"""The relevance model of Carterette 2007, section 3: three logistic regressions in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rtc_bayes import Judgments
from rtc_bayes.relevance import (
    BetaPrior,
    Diagnostics,
    Draws,
    PointEstimate,
    Sampling,
    aggregation,
    check_options,
    rank,
    require,
    system_calibration,
)

if TYPE_CHECKING:
    import pymc as pm

Layer = Literal["rank", "calibration", "aggregation"]


@dataclass(frozen=True)
class RTC:
    """Ranks to probabilities, calibrated per system, aggregated over systems.

    Each layer, a module of :mod:`rtc_bayes.relevance`, is fitted with the one before as fixed.

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
    propagate : tuple of {"rank", "calibration", "aggregation"}
        ``cut``: the layers whose uncertainty is carried; the others stay at their mode.

    Examples
    --------
    >>> RTC().folds
    0
    """

    prior: BetaPrior = (1.0, 1.0)
    temper: Literal["none", "depth"] = "none"
    smoothing: Literal["cells", "platt", "beta"] = "cells"
    cell_weight: float = 1.0
    intercept: bool = False
    link: Literal["probability", "logodds"] = "probability"
    folds: Literal[0, 5] = 0
    propagate: tuple[Layer, ...] = ("rank", "calibration", "aggregation")

    name: ClassVar[str] = "rtc"
    methods: ClassVar[tuple[str, ...]] = ("map", "cut")
    default_method: ClassVar[str] = "map"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "printed": {"smoothing": "platt", "intercept": False, "link": "probability", "folds": 0},
        "program": {"smoothing": "cells", "cell_weight": 1.0, "intercept": False, "folds": 5},
    }

    def __post_init__(self) -> None:
        check_options(self)
        require(self.cell_weight >= 0, self, "cell_weight", "a number of at least 0")
        once = len(set(self.propagate)) == len(self.propagate)
        require(once, self, "propagate", "every layer at most once")

    def map(self, judgments: Judgments) -> PointEstimate:
        """Estimate every document of ``judgments.pool``."""
        reports, calibrated, aggregated = self._layers(judgments)
        return PointEstimate(
            p=aggregated.p,
            parameters={
                "theta": reports.theta,
                "A": calibrated.offset,
                "B": calibrated.slope,
                "lambda": aggregated.weights,
                "lambda_0": np.array(aggregated.intercept),
            },
            dims={"theta": ("topic", "rank")} | dict.fromkeys(("A", "B", "lambda"), ("system",)),
            diagnostics=Diagnostics((reports.stage, calibrated.stage, aggregated.stage)),
        )

    def cut(self, judgments: Judgments, sampling: Sampling) -> Draws:
        """Draw every document of ``judgments.pool`` from the modular posterior."""
        from rtc_bayes.relevance import cut

        require(self.folds == 0, self, "folds", "0: an average of five fits has no posterior")
        return cut.sample(
            judgments,
            self._layers(judgments),
            sampling,
            propagate=self.propagate,
            prior=self.prior,
            temper=self.temper,
            smoothing=self.smoothing,
            cell_weight=self.cell_weight,
            intercept=self.intercept,
            link=self.link,
        )

    def stages(self, judgments: Judgments) -> dict[str, pm.Model]:
        """Return every layer's PyMC graph, given the mode of the layers before."""
        require(self.folds == 0, self, "folds", "0: an average of five fits has no density")
        reports, calibrated, _ = self._layers(judgments)
        return {
            "ranks": rank.graph(judgments, temper=self.temper),
            "calibration": system_calibration.graph(
                reports, smoothing=self.smoothing, cell_weight=self.cell_weight, prior=self.prior
            ),
            "aggregation": aggregation.graph(
                reports, calibrated, prior=self.prior, intercept=self.intercept, link=self.link
            ),
        }

    def _layers(
        self, judgments: Judgments
    ) -> tuple[rank.SelfReports, system_calibration.SystemCalibration, aggregation.Aggregation]:
        """Fit every layer at the mode of those before it."""
        reports = rank.self_report(judgments, temper=self.temper)
        calibrated = system_calibration.calibrate(
            reports, smoothing=self.smoothing, cell_weight=self.cell_weight, prior=self.prior
        )
        aggregated = aggregation.aggregate(
            reports,
            calibrated,
            prior=self.prior,
            intercept=self.intercept,
            link=self.link,
            folds=self.folds,
        )
        return reports, calibrated, aggregated
