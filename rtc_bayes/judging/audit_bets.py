"""Bets of an audit against a model: what they weigh, what they gain, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from rtc_bayes.judging.assisting_model import CERTAIN

type Floats = NDArray[np.float64]

BETS = ("relevant documents", "scores", "differences", "sharpness")
"""What the evidence is about, each a group of bets of equal weight."""


# what is staked, in standard deviations that the model expects of the whole audit, on either side
STAKES = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])


@dataclass(frozen=True, eq=False)
class AuditState:
    """The evidence that an audit has gathered up to a look.

    Attributes
    ----------
    end : float
        The time of the look, in [0, 1].
    scale : ndarray of float, shape (bets,)
        The standard deviation of each bet over the whole audit, as the first model expects it.
    wealth : ndarray of float, shape (bets, stakes)
        Logarithm of what each bet has made of a stake of 1.
    looks : tuple of (int, float)
        As of :class:`Audit`.
    seen : mapping of str to float
        The labels of the documents that have counted, by topic and docno with a space between.

    Examples
    --------
    >>> AuditState.start(2).wealth.shape
    (6, 8)
    """

    end: float
    scale: Floats
    wealth: Floats
    looks: tuple[tuple[int, float], ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def start(cls, systems: int) -> Self:
        """Return the state before the first look, without scale."""
        bets = 2 * (1 + systems)
        return cls(0.0, np.zeros(bets), np.zeros((bets, len(STAKES))))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON holds them."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`."""
        written: dict[str, Any] = {
            k: np.array(v) if isinstance(v, list) else v for k, v in values.items()
        }
        written["looks"] = tuple((int(n), float(e)) for n, e in values["looks"])
        return cls(**written)


def bets_on(weights: Floats, p: Floats, before: Floats) -> Floats:
    """Return how much every bet weighs a document's relevance, shape (bets, documents).

    Nothing here knows the label of the document or of one after it: `before` are probabilities
    that no label of the audit has changed.
    """
    odds, middle = (logit(np.clip(each, CERTAIN, 1.0 - CERTAIN)) for each in (p, before))
    scores = weights[1:]
    differences = scores - scores.mean(axis=0) if len(scores) else scores
    sharpness = odds - middle.mean() if len(odds) else odds
    return np.concatenate([weights[:1], scores, differences, sharpness[None]])


def gains_of(
    bets: Floats, p: Floats, label: Floats, state: AuditState, new: NDArray[np.bool_]
) -> Floats:
    """Return the logarithm of what the bets gain by the new documents, (bets, stakes)."""
    sure = np.where(state.scale > 0.0, state.scale, np.inf)
    gains = np.zeros((len(bets), len(STAKES)))
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log1p(-p)
    for d in np.flatnonzero(new):
        exponent = bets[:, d, None] / sure[:, None] * STAKES
        gains += exponent * label[d] - np.logaddexp(log_q[d], log_p[d] + exponent)
    return gains


def evidence_of(wealth: Floats, systems: int) -> dict[str, float]:
    """Return the mean over bets and stakes of what each group has made of a stake of 1."""
    ends = np.cumsum([0, 1, systems, systems, 1])
    return {
        name: float(np.exp(logsumexp(wealth[a:b]) - np.log(wealth[a:b].size)))
        for name, (a, b) in zip(BETS, pairwise(ends), strict=True)
    }
