"""Bandits: the run that has given the largest share of relevant documents (Losada et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.by_run import ByRun
from rtc_bayes.judging.judges.in_turn import Floats, Ties
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.relevance.options import check_options, require

Credit = Literal["all", "one"]


@dataclass(frozen=True)
class MaxMean:
    """Judge the next document of the run with the highest mean of relevance (bandit MaxMean).

    Every run of a topic is an arm of a Bernoulli bandit with a uniform prior; after n judgments
    of which r are relevant its mean is (1 + r)/(2 + n) (Losada, Parapar and Barreiro, SAC 2016
    and Information Processing & Management 53, 2017). Of equal means the run whose next document
    has the best rank goes first; the papers draw at once. Topics come in turn. The weight of a
    document is the mean of the run that offers it.

    Parameters
    ----------
    credit : {"all", "one"}
        Whose record a judgment enters: of all runs that retrieve the document, or only of the one
        that offered it.
    ties : {"random", "docno"}
        What decides among equals: a draw by the seed, as in most experiments, or docno. Docnos
        often sort by source, so that the first of them are no fair sample.
    rate : float, in [0, 1]
        What is left of a run's record when a judgment enters: r becomes rate × r + label, and n
        becomes rate × n + 1. With rate 1 nothing is forgotten.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> result = rb.build(pool, simulated.qrels, "maxmean[credit=one,ties=docno]", budget=6)
    >>> [round(step.weight, 2) for step in result.steps]
    [0.5, 0.5, 0.5, 0.67, 0.5, 0.5]
    """

    credit: Credit = "all"
    ties: Ties = "random"
    rate: float = 1.0
    name: ClassVar[str] = "maxmean"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)
        require(0.0 <= self.rate <= 1.0, self, "rate", "a number from 0 to 1")

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session; the seed decides ties."""
        return _Bandit(judgments, self.ties, seed, rate=self.rate, credit=self.credit)


@dataclass(frozen=True)
class MaxMeanNonStationary(MaxMean):
    """MaxMean that forgets: with rate 0, the default, the last judgment alone counts (MM-NS).

    Parameters are those of :class:`MaxMean` (Losada et al. 2016 and 2017).

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> rb.build(pool, simulated.qrels, "mmns[rate=0.5]", budget=6)
    JudgingResult(mmns[rate=0.5]: 6 judged. Stopped: the budget is spent)
    """

    rate: float = 0.0
    name: ClassVar[str] = "mmns"


class _Bandit(ByRun):
    def __init__(
        self, judgments: Judgments, ties: Ties, seed: int, *, rate: float, credit: Credit
    ) -> None:
        self._rate = rate
        self._credit = credit
        super().__init__(judgments, ties, seed)

    def _begin(self) -> None:
        self._relevant = np.zeros(self._place.shape)
        self._seen = np.zeros(self._place.shape)

    def _worth(self, topic: int) -> Floats:
        return (1.0 + self._relevant[topic]) / (2.0 + self._seen[topic])

    def _weight(self, topic: int, system: int, rank: int) -> float:
        return float(self._worth(topic)[system])

    def _learn(self, topic: int, system: int | None, document: int, label: float) -> None:
        if self._credit == "all":
            paid = (self._lists[topic] == document).any(axis=1)
        else:
            paid = self._systems == system
        self._relevant[topic, paid] = self._rate * self._relevant[topic, paid] + label
        self._seen[topic, paid] = self._rate * self._seen[topic, paid] + 1.0
