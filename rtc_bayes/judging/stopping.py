"""When judging may end.

A session ends for one reason: ``reached`` (every pair has the confidence asked for), ``proved``
(the sign of every pair can no longer change), ``no document has weight`` (nothing left to judge
can tell the systems apart), ``nothing offered`` (a judge without confidences chooses no more),
``exhausted`` (nothing left to judge) or ``budget``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from rtc_bayes.judging.state import JudgingState

type Floats = NDArray[np.float64]
type Reason = Literal[
    "reached", "proved", "no document has weight", "nothing offered", "exhausted", "budget"
]

_WORDS: dict[str, str] = {
    "reached": "the confidence you asked for was reached",
    "proved": "no judgment to come can change the order of the systems",
    "no document has weight": "no document left can tell the systems apart",
    "nothing offered": "the judge offers no further document",
    "exhausted": "no document is left to judge",
    "budget": "the budget is spent",
}

# A sum of bounds has to clear rounding before it counts as a sign.
_ROUNDING = 1e-12


def without_choice(n_open: int, *, has_confidence: bool) -> Reason:
    """Say why a judge chooses none of the documents left to judge, however many they are.

    Examples
    --------
    >>> without_choice(1, has_confidence=True), without_choice(0, has_confidence=True)
    ('no document has weight', 'exhausted')
    """
    if not n_open:
        return "exhausted"
    return "no document has weight" if has_confidence else "nothing offered"


def why_ended(reason: str) -> str:
    """Say why judging ended, as part of a sentence; a reason that is no session's, as it is.

    Examples
    --------
    >>> why_ended("reached")
    'the confidence you asked for was reached'
    """
    return _WORDS.get(reason, reason)


def stopped(
    reason: Reason,
    target: float | None,
    confidence: float | None,
    compared: float | None = None,
) -> str:
    """Say in a sentence why judging ended, what confidence was asked for and what there is.

    A new fit or one judgment can raise the confidence well above the one asked for. It is 1 where
    no unjudged document changes a difference any more, or where the normal probability rounds to 1.
    `compared` is the confidence with a residual.

    Examples
    --------
    >>> stopped("reached", 0.95, 0.9634)
    'Stopped: the confidence you asked for was reached (0.95; now 0.963)'
    >>> stopped("reached", 0.95, 0.99997)
    'Stopped: the confidence you asked for was reached (0.95; now above 0.999)'
    >>> stopped("reached", 0.95, 0.9534, 0.6514)
    'Stopped: the confidence you asked for was reached (0.95; now 0.953, and 0.651 with the
    residual)'
    >>> stopped("budget", None, None)
    'Stopped: the budget is spent'
    >>> stopped("budget", None, 0.5241)
    'Stopped: the budget is spent (now 0.524, of the least sure pair)'
    """
    asked = (
        [] if target is None else [f"asked {target:g}" if reason != "reached" else f"{target:g}"]
    )
    if confidence is None:
        now = []
    elif confidence == 1.0:
        now = ["now 1"]
    else:
        now = ["now above 0.999" if confidence > 0.999 else f"now {confidence:.3f}"]
    if compared is not None and confidence is not None and compared < confidence - 0.0005:
        now[0] += f", and {compared:.3f} with the residual"
    if now and reason != "reached":
        now[0] += ", of the least sure pair"
    numbers = f" ({'; '.join(asked + now)})" if now else ""
    return f"Stopped: {_WORDS[reason]}{numbers}"


def with_residual(confidence: Floats, differences: Floats, left: Floats) -> Floats:
    """Return confidences where the difference of each pair has an error beside.

    Confidences are taken as those of normal differences.

    Parameters
    ----------
    confidence, differences : ndarray, shape (pairs,)
        In [0.5, 1], and what is expected.
    left : ndarray, shape (pairs,)
        Variance of the error of each difference.

    Examples
    --------
    >>> with_residual(np.array([0.95, 1.0]), np.full(2, 0.02), np.full(2, 2e-4)).round(3).tolist()
    [0.858, 0.921]
    """
    confidence, size, left = np.broadcast_arrays(confidence, np.abs(differences), left)
    with np.errstate(divide="ignore"):
        sd = np.divide(size, ndtri(confidence), out=np.zeros_like(size), where=size > 0.0)
    beside = np.sqrt(sd**2 + left)
    z = np.divide(size, beside, out=np.full_like(size, np.inf), where=beside > 0.0)
    return np.where(size > 0.0, ndtr(z), confidence)


class SignProof:
    """A proof that no judgment still to come can change which of two systems is better.

    It speaks of the lists as they are scored and of the pool's documents. The bound of a topic
    may cost the square of its documents, so it is kept until the topic has a new judgment.

    Parameters
    ----------
    state : JudgingState
        The session's state, which the proof reads.
    """

    def __init__(self, state: JudgingState) -> None:
        self._state = state
        shape = (len(state.topics), len(state.pairs[0]))
        self._lowest = np.zeros(shape)
        self._highest = np.zeros(shape)
        self._judged = np.full(shape, -1)

    def holds(self, pair: int) -> bool:
        """Whether the sign of a pair's difference in the mean is certain and not 0."""
        for t, topic in enumerate(self._state.topics):
            judged = int(topic.judged.sum())
            if self._judged[t, pair] != judged:
                self._lowest[t, pair], self._highest[t, pair] = topic.bounds(pair)
                self._judged[t, pair] = judged
        lowest, highest = self._lowest[:, pair].sum(), self._highest[:, pair].sum()
        return bool(lowest > _ROUNDING or highest < -_ROUNDING)
