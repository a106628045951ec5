"""What a judging session knows of one topic by nDCG or DCG, where judgments have grades.

With X_i the gain of document i, of mean m_i and variance v_i, and L_i the discount at its rank, a
score is A = sum L_i X_i over f: 1 of DCG, and of nDCG the DCG of the best list. The best list is
that of expected numbers of documents: with c_g of grade g and more, gains G_g and D(c) the sum of
the first c discounts, f = sum over g of (G_g - G_{g-1}) D(c_g). So E A = sum L_i m_i / f, and that
f is unknown counts to first order: Var = sum (L_i - f' E A)^2 v_i / f^2, with f' what a unit of
gain adds to f, where all grades grow alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.judging.topic_state import Integers, LinearState, TopicGains
from rtc_bayes.measures.linear import Linear, LinearRatio

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.measures.names import Measure

type Floats = NDArray[np.float64]


def gains_of(judgments: Judgments, measure: Measure) -> list[TopicGains] | None:
    """Say by topic what gains documents have, by the relevance level and the grades judged so far.

    Parameters
    ----------
    judgments : Judgments
    measure : Measure

    Returns
    -------
    list of TopicGains, or None
        None where the measure has no gains by grade, or the level and all judged grades are at most
        1: all that is relevant has a gain of 1 then.
    """
    grades = judgments.grade_distribution() if measure.graded else None
    if grades is None:
        return None
    pool = judgments.pool
    chances = grades.chances(pool)
    gains = measure.gains(np.arange(chances.shape[2]))
    inside = [pool.documents(t) for t in range(pool.n_topics)]
    return [TopicGains(judgments.grades[part], chances[:, part], gains) for part in inside]


class GradedState(LinearState):
    """The state of one topic by a sum of gains by grade, or such a one over that of the best list.

    Parameters
    ----------
    measure : Linear or LinearRatio
        Of discounts.
    p, labels, pairs
        As of :class:`TopicState`.
    gains : TopicGains

    Attributes
    ----------
    v : ndarray, shape (documents,)
        Variance of each document's gain.
    gains : TopicGains
    """

    gains: TopicGains

    def __init__(
        self,
        measure: Linear | LinearRatio,
        p: Floats,
        labels: Floats,
        pairs: tuple[Integers, Integers],
        gains: TopicGains,
    ) -> None:
        self.gains = gains._replace(judged=gains.judged.copy())
        levels = np.arange(len(gains.gains))
        # of each grade: its gain, the square of that, and whether it is of each grade or more
        self._of_grade = np.column_stack(
            [gains.gains, gains.gains**2, levels[:, None] >= levels[1:]]
        )
        self._given = gains.chances @ self._of_grade
        with_grade = ~np.isnan(gains.judged)
        self._given[:, with_grade] = self._of_grade[gains.judged[with_grade].astype(np.int64)]
        self._steps = np.diff(gains.gains)
        super().__init__(measure, p, labels, pairs)

    def restart(self, p: Floats) -> None:
        """Take new probabilities for the unjudged documents."""
        super().restart(p)
        nonrelevant, relevant = self._given
        self._table = nonrelevant + self.p[:, None] * (relevant - nonrelevant)
        self.v = _variance(self._table)

    def observe(self, document: int, label: float, grade: float = np.nan) -> None:
        """Give a document, numbered within the topic, its label and its grade.

        One that has no grade, or a higher one than any before, keeps its chances given the label.
        """
        super().observe(document, label)
        if grade < len(self._of_grade):
            self.gains.judged[document] = grade
            self._given[:, document] = self._of_grade[int(grade)]
        nonrelevant, relevant = self._given[:, document]
        self._table[document] = nonrelevant + label * (relevant - nonrelevant)
        self.v[document] = _variance(self._table[document])

    @property
    def numerators(self) -> Floats:
        """Expected score of each system, shape (systems,)."""
        return self.measure.gains @ self._table[:, 0] / self._best(self._counts)

    @property
    def effect(self) -> Floats:
        """L: how each score changes with the gain of a document; (systems, documents)."""
        counts = self._counts
        best = float(self._best(counts))
        if isinstance(self.measure, Linear) or best <= self._steps[0]:
            return self.measure.gains / best
        total = self._steps * counts
        grown = float(total @ self.measure.slope(counts, least=0.0)) / total.sum()
        return (self.measure.gains - grown * self.numerators[:, None]) / best

    @property
    def move(self) -> Floats:
        """How each score changes if a document turns out relevant, to first order.

        By the gains to expect of it if it is and if it is not; (systems, documents).
        """
        nonrelevant, relevant = self._given[:, :, 0]
        return self.effect * (relevant - nonrelevant)

    @property
    def _counts(self) -> Floats:
        """Expected numbers of documents of each grade from 1 on and more, shape (grades - 1,)."""
        return np.asarray(self._table[:, 2:].sum(axis=0))

    def expected_scores(self, p: Floats) -> Floats:
        """Return expected scores under other probabilities, (documents, draws): (systems, draws).

        By plug-in moments.
        """
        nonrelevant, relevant = self._given
        more = relevant - nonrelevant
        gain = nonrelevant[:, :1] + p * more[:, :1]
        counts = nonrelevant[:, 2:].sum(axis=0)[:, None] + more[:, 2:].T @ p
        return np.asarray(self.measure.gains @ gain / self._best(counts))

    def bounds(self, pair: int) -> tuple[float, float]:
        """Return no bound: a grade higher than all so far may come."""
        return -np.inf, np.inf

    def _best(self, counts: Floats) -> Floats:
        """Return what numerators are divided by: the DCG of the best list, or 1.

        Of a document of grade 1 at least.

        Parameters
        ----------
        counts : ndarray, shape (grades - 1,) or (grades - 1, lists)
            How many documents have each grade from 1 on, and more.
        """
        if isinstance(self.measure, Linear):
            return np.ones(counts.shape[1:])
        return np.maximum(self.measure.best(self._steps, counts), self._steps[0])


def _variance(table: Floats) -> Floats:
    """Return variances of gains, given their means and mean squares; what rounds below 0 is 0."""
    return np.maximum(table[..., 1] - table[..., 0] ** 2, 0.0)
