"""The assumption of MTC: every unjudged document is as likely relevant as any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes import Judgments
from rtc_bayes.relevance import PointEstimate, check_options, require


@dataclass(frozen=True)
class Uniform:
    """One probability for every document (Carterette, Allan and Sitaraman 2006).

    Attributes
    ----------
    p : float
        Probability of relevance of an unjudged document, in [0, 1].

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("uniform", {"p": 0.2}).p
    0.2
    """

    p: float = 0.5

    name: ClassVar[str] = "uniform"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        check_options(self)
        require(0.0 <= self.p <= 1.0, self, "p", "a number in [0, 1]")

    def map(self, judgments: Judgments) -> PointEstimate:
        """Give every document of ``judgments.pool`` the probability p."""
        return PointEstimate(np.full(judgments.pool.n_documents, self.p))
