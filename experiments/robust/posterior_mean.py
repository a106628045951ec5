"""The posterior mean of `robust` plugged in: the same probabilities with their spread left out.

A model file, for ``--model experiments/robust/posterior_mean.py``: what the confidence would be if
the parameters were known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rtc_bayes import Judgments
from rtc_bayes.relevance import Diagnostics, PointEstimate, Sampling
from rtc_bayes_models.robust import Robust


@dataclass(frozen=True)
class PosteriorMean:
    """One probability for every document: the mean of its draws by `robust`.

    Attributes
    ----------
    draws : int
        Of each of 4 chains.
    seed : int
    """

    draws: int = 150
    seed: int = 0

    name: ClassVar[str] = "posterior_mean"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments: Judgments) -> PointEstimate:
        """Average the draws."""
        drawn = Robust(**Robust.presets["trec"]).gibbs(
            judgments, Sampling(self.draws, 4, 500, self.seed)
        )
        mean = drawn.values.mean(axis=0, dtype="float64")
        return PointEstimate(p=mean, diagnostics=Diagnostics(checks=drawn.diagnostics.checks))
