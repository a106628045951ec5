"""What an audit says of a comparison at one look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.errors import InputError
from rtc_bayes.judging.audit_bets import AuditState
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import rows_of

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments

type Floats = NDArray[np.float64]

COUNT = "relevant documents"
"""What is audited beside the score of every system: how many documents are relevant."""

_AS_WRITTEN = (
    "measure",
    "relevance_level",
    "model",
    "drawn",
    "judged",
    "aside",
    "level",
    "evidence",
)


@moved(alpha="write level")
@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What the judgments of an audit say of a comparison, at any look while judging goes on.

    Made by :func:`audit`.

    Attributes
    ----------
    systems : tuple of str
    measure : str
    relevance_level : int
        The lowest grade of the audit's judgments that counts as relevant.
    model : str
        What is audited.
    drawn, judged : int
        Documents of the audit, and how many of them count: those judged in the order of their
        turn, up to the first without a judgment.
    aside : int
        Documents of the audit that are judged before their turn, and do not count yet.
    next : (str, str) or None
        Topic and docno of the document whose turn it is; None where all are judged.
    time : float
        How far the audit has come, in [0, 1].
    level : float
        The probability of a false alarm, over all looks together, if the model is right.
    evidence : mapping of str to float
        E-values against the model, now, by what they are about: the factor by which a bet against
        the model has multiplied its stake. Their mean is :attr:`e_value`.
    looks : tuple of (int, float)
        Documents judged and e-value at each look, this one last.
    expected, sd : ndarray of float, shape (1 + systems,)
        By the model: the number of relevant documents, those that nobody has retrieved aside, then
        the mean score of each system.
    estimate, se, low, high : ndarray of float, shape (1 + systems,)
        By the audit: the model's, adjusted to the labels and corrected by its errors; the standard
        error of that; and a confidence sequence: with probability 1 - level, asymptotically, a
        true value is inside its limits at every look. Those of scores are to first order about
        the adjusted model; docs/results/audit.md says how often they held. Estimate and limits are
        from 0 to `highest`. NaN before the first judgment, limits before
        :data:`~rtc_bayes.judging.audit_estimates.FEWEST` judgments.
    highest : ndarray of float, shape (1 + systems,)
        The most that each can be: the number of documents retrieved, then the measure's highest
        value: 1, but of DCG.
    judgments : Judgments or None
        Those of the audit, with those that do not count yet; None where it was read from a log.
    state : AuditState
        What the next look goes on from.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, np.full(54, 0.4)))
    >>> prels = rb.audit_documents(pool, 0.5, simulated.qrels, seed=1)
    >>> look = rb.audit(comparison, rb.Sample.from_prels(pool, prels), seed=1)
    >>> look
    Audit(25 of 25 documents judged, e-value 0.889: no alarm)
    >>> look.check_same(measure="P@10")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the look before had measure AP, this one has P@10; go on as it \
began, or begin anew without it
    """

    systems: tuple[str, ...]
    measure: str
    relevance_level: int
    model: str
    drawn: int
    judged: int
    aside: int
    next: tuple[str, str] | None
    time: float
    level: float
    evidence: Mapping[str, float]
    looks: tuple[tuple[int, float], ...]
    expected: Floats
    sd: Floats
    estimate: Floats
    se: Floats
    low: Floats
    high: Floats
    highest: Floats
    state: AuditState
    judgments: Judgments | None = None

    def check_same(self, **now: object) -> None:
        """Refuse to go on from this look with something else.

        Parameters
        ----------
        **now : object
            What the next look is of, by the names of attributes: systems, measure, model or level.

        Raises
        ------
        InputError
            Which of them was another.
        """
        for name, value in now.items():
            before = getattr(self, name)
            if before == value:
                continue
            raise InputError(
                "the look before was of other systems"
                if name == "systems"
                else f"the look before had {name} {before or 'unknown'}, this one has {value}",
                remedy="go on as it began, or begin anew without it",
            )

    @property
    def e_value(self) -> float:
        """The evidence against the model now: the mean of that of every group of bets."""
        return float(np.mean(list(self.evidence.values())))

    @property
    def alarm(self) -> bool:
        """Whether at this look, or one before it, the e-value was 1/level or more."""
        return any(e >= 1.0 / self.level for _, e in self.looks)

    @property
    def verdict(self) -> str:
        """What the audit says, and which document to judge next."""
        return f"{self._finding}{self._turn}"

    @property
    def _finding(self) -> str:
        if not self.judged:
            counted = "counts" if self.aside else "is judged"
            return f"No document of the audit {counted} yet, so it says nothing."
        about = f"{self.judged} of the audit's {self.drawn} documents"
        if self.alarm:
            first = next(n for n, e in self.looks if e >= 1.0 / self.level)
            worst = max(self.evidence, key=lambda name: self.evidence[name])
            return (
                f"Alarm: {about} are judged, and do not bear out the model. After {first} the "
                f"e-value against it reached {1.0 / self.level:g}; it is {self.e_value:.3g} now. "
                f"What speaks most against it: {worst}."
            )
        return (
            f"No alarm: {about} are judged. The e-value against the model is {self.e_value:.3g}; "
            f"an alarm needs {1.0 / self.level:g}, which a model that is right reaches with "
            f"probability {self.level:g} at most, however often one looks."
        )

    @property
    def _turn(self) -> str:
        """How many judgments do not count yet, why, and the document whose turn it is."""
        if self.next is None:
            return ""
        topic, docno = self.next
        turn = f"document {docno} of topic {topic}"
        if not self.aside:
            return f" Judge {turn} next."
        said = f"{self.aside} more {'is' if self.aside == 1 else 'are'} judged but left aside"
        return (
            f" {said}: judgments count in the audit's order, up to its first document without one. "
            f"That is {turn}: judge it next."
        )

    @explains_types
    def beside(self, judgments: Judgments) -> tuple[Judgments, Judgments]:
        """Tell judgments by which a model was fitted from those of the audit.

        Parameters
        ----------
        judgments : Judgments
            With or without those of the audit.

        Returns
        -------
        tuple of Judgments
            Those without the audit's, then all together.

        Raises
        ------
        InputError
            A document that the two judge differently: see :meth:`Judgments.merge`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.5, 0.5]))
        >>> judged = rb.Sample(rb.Judgments.from_labels(pool, [0], [1]), [1, 1])
        >>> audit = rb.audit(comparison, judged)
        >>> [each.n_judged for each in audit.beside(rb.Judgments.from_labels(pool, [1], [0]))]
        [1, 2]
        """
        if self.judgments is None:
            return judgments, judgments
        # an audit is made for no system: what the others say of that holds for all
        every = replace(
            judgments.merge(self.judgments),
            judge_labels=judgments.judge_labels,
            judged_for=judgments.judged_for,
            judged_for_by_topic=judgments.judged_for_by_topic,
        )
        of_audit = self.judgments.on(every.pool).judged
        return every.keep(every.order[~of_audit[every.order]]), every

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the number of relevant documents, then one for each system.

        Returns
        -------
        DataFrame
            quantity, expected and sd (by the model), estimate, low and high (by the audit), agrees
            (whether the model's 95% interval and the audit's have a value in common), se (of the
            estimate). Of too few judgments to tell, `agrees` is missing: there are no limits, or
            they are so wide that the model's interval, were it about 0 or about `highest`, would
            meet them, too.
        """
        import pandas as pd

        half = NORMAL_95 * self.sd
        apart = (self.expected - half > self.high) | (self.expected + half < self.low)
        # of limits that are NaN neither holds
        tells = (half < self.low) | (self.highest - half > self.high)
        return pd.DataFrame(
            {
                "quantity": [COUNT, *self.systems],
                "expected": self.expected,
                "sd": self.sd,
                "estimate": self.estimate,
                "low": self.low,
                "high": self.high,
                "agrees": pd.Series(~apart, dtype="boolean").mask(~tells),
                "se": self.se,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds; :func:`audit` goes on from it.

        Examples
        --------
        >>> import json, rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.5, 0.5]))
        >>> judged = rb.Sample(rb.Judgments.from_labels(pool, [0], [1]), [1, 1])
        >>> sorted(json.loads(json.dumps(rb.audit(comparison, judged).to_dict())))[:3]
        ['alarm', 'aside', 'drawn']
        """
        return {
            "alarm": self.alarm,
            "verdict": self.verdict,
            "e_value": self.e_value,
            "evidence": dict(self.evidence),
            "level": self.level,
            "relevance_level": self.relevance_level,
            "measure": self.measure,
            "model": self.model,
            "drawn": self.drawn,
            "judged": self.judged,
            "aside": self.aside,
            "next": None if self.next is None else list(self.next),
            "looks": [list(look) for look in self.looks],
            "systems": list(self.systems),
            "quantities": rows_of(self.to_frame()),
            "highest": self.highest.tolist(),
            "state": self.state.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`.

        Raises
        ------
        InputError
            Other content.
        """
        try:
            state = AuditState.from_dict(values["state"])
            columns: dict[str, Any] = {
                name: np.array([row[name] for row in values["quantities"]], dtype=np.float64)
                for name in ("expected", "sd", "estimate", "low", "high", "se")
            }
            if "alpha" in values:  # as logs of before say
                values = {**values, "level": values["alpha"]}
            same = {name: values[name] for name in _AS_WRITTEN}
            columns["highest"] = np.array(values["highest"], dtype=np.float64)
            systems, turn = tuple(values["systems"]), values["next"]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                "this is no audit of this version",
                remedy="give what an audit wrote, or begin anew without it",
            ) from error
        return cls(
            systems=systems,
            next=None if turn is None else (str(turn[0]), str(turn[1])),
            time=state.end,
            looks=state.looks,
            state=state,
            **same,
            **columns,
        )

    def __repr__(self) -> str:
        said = "ALARM" if self.alarm else "no alarm"
        return (
            f"Audit({self.judged} of {self.drawn} documents judged, "
            f"e-value {self.e_value:.3g}: {said})"
        )
