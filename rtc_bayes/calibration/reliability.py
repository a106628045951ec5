"""Are probabilities of relevance right? Reliability curves and proper scores on unjudged documents.

Of the documents given probability 0.2, a fifth should be relevant. The curve of the observed share
against the probability is fitted by the pool-adjacent-violators algorithm (PAVA), which needs no
bins; on it rests the decomposition of the Brier score, mean (p - y)^2, into three parts that sum
exactly (Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic
classifiers", PNAS 2021)::

    score = miscalibration - discrimination + uncertainty

with the scores of p, of the fitted curve at p and of the overall share: miscalibration is what
the curve would gain over p, discrimination what it gains over saying the same of every document.

The band about the curve is where it would lie were the probabilities right: outcomes are drawn
from them (for draws of the parameters, of one draw for all documents, so that what the documents
share counts) and the curve is fitted to those.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]
type Grouping = Literal["rank", "topic", "seen"]

REPLICATES = 96
"""Sets of outcomes drawn from the probabilities; eight share a byte."""

RANK_BANDS = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
"""Bands of the best rank that a document has in any list."""

SEEN = ("of systems judged for", "of new systems only")

_BAND = 0.9
_CURVE_POINTS = 200
_LOG_SCORE_CLIP = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Probabilities of relevance of unjudged documents, and whether they are relevant.

    Attributes
    ----------
    p : ndarray of float, shape (documents,)
        In [0, 1]; of draws, their mean.
    relevant : ndarray of bool, shape (documents,)
    topic : ndarray of str, shape (documents,)
    rank : ndarray of int, shape (documents,)
        The best rank in any list.
    seen : ndarray of bool, shape (documents,)
        Whether a system that judgments were made for retrieved it.
    replicates : ndarray of uint8, shape (sets / 8, documents)
        Outcomes drawn from the probabilities: bit k of row j is of set 8 j + k.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import Predictions
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> labels = np.arange(pool.n_documents) % 2
    >>> values = np.where(labels, 0.8, 0.3)[None]
    >>> predictions = Predictions.from_judgments(rb.Judgments.none(pool), values, labels)
    >>> predictions.relevant.sum() == labels.sum()
    np.True_
    """

    p: Floats
    relevant: NDArray[np.bool_]
    topic: NDArray[np.str_]
    rank: NDArray[np.int64]
    seen: NDArray[np.bool_]
    replicates: NDArray[np.uint8]

    @classmethod
    def from_judgments(
        cls,
        judgments: Judgments,
        values: ArrayLike,
        labels: ArrayLike,
        *,
        seed: int = 0,
        replicates: int = REPLICATES,
    ) -> Self:
        """Take the documents that are not judged.

        Parameters
        ----------
        judgments : Judgments
        values : array_like of float, shape (draws, documents)
            Probabilities over the documents of ``judgments.pool``; one draw for a point estimate.
        labels : array_like of float, shape (documents,)
            1 where a document is relevant, else 0.
        seed : int
            Of the replicates.
        replicates : int
            Sets of outcomes, a multiple of 8.
        """
        whole_number("seed", seed)
        replicates = whole_number("replicates", replicates, least=8)
        if replicates % 8:
            raise InputError(f"replicates is {replicates}", remedy="give a multiple of 8")
        pool = judgments.pool
        draws = np.asarray(values)
        if draws.ndim != 2 or draws.shape[1] != pool.n_documents:
            raise InputError(
                f"probabilities of shape {draws.shape} for {pool.n_documents} documents",
                remedy="give draws x documents",
            )
        kept = np.flatnonzero(~judgments.judged)
        random = np.random.default_rng(seed)
        outcomes = np.empty((replicates, len(kept)), dtype=np.bool_)
        for outcome, draw in zip(
            outcomes, random.integers(len(draws), size=replicates), strict=True
        ):
            outcome[:] = random.random(len(kept)) < draws[draw, kept]
        rank, seen = _best_ranks(judgments)
        return cls(
            p=draws.mean(axis=0, dtype=np.float64)[kept],
            relevant=np.asarray(labels)[kept] > 0.5,
            topic=np.array(pool.topics, dtype=str)[pool.topic_of[kept]],
            rank=rank[kept],
            seen=seen[kept],
            replicates=np.packbits(outcomes, axis=0, bitorder="little"),
        )

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """Return the documents of several predictions as one."""
        return cls(
            *(
                np.concatenate([getattr(part, field.name) for part in parts], axis=-1)
                for field in fields(cls)
            )
        )

    def where(self, chosen: NDArray[np.bool_]) -> Self:
        """Return some of the documents."""
        return type(self)(*(getattr(self, field.name)[..., chosen] for field in fields(self)))

    def groups(self, by: Grouping) -> dict[str, NDArray[np.bool_]]:
        """Mark the documents of each group.

        Parameters
        ----------
        by : {"rank", "topic", "seen"}
            Bands of the best rank; topics in the order met; whether a system that judgments were
            made for retrieved the document.
        """
        match by:
            case "rank":
                names = [f"{low} to {high}" if high else f"from {low}" for low, high in RANK_BANDS]
                band = np.searchsorted([low for low, _ in RANK_BANDS], self.rank, side="right") - 1
                return {name: band == number for number, name in enumerate(names)}
            case "topic":
                return {name: self.topic == name for name in dict.fromkeys(self.topic.tolist())}
            case "seen":
                return dict(zip(SEEN, (self.seen, ~self.seen), strict=True))

    @cached_property
    def _distinct(self) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """Distinct probabilities in rising order, which one each document has, and how many do."""
        return np.unique(self.p, return_inverse=True, return_counts=True)

    def curve(self, outcome: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Fit the share of an outcome as a rising function of the probability.

        Returns
        -------
        p, share : ndarray of float, shape (distinct probabilities,)
        """
        from scipy.optimize import isotonic_regression

        distinct, which, counts = self._distinct
        sums = np.bincount(which, weights=outcome, minlength=len(distinct))
        return distinct, isotonic_regression(sums / counts, weights=counts).x

    def replicate(self, number: int) -> NDArray[np.bool_]:
        """Return one set of outcomes drawn from the probabilities, shape (documents,)."""
        return (self.replicates[number // 8] >> (number % 8) & 1).astype(bool)

    def __len__(self) -> int:
        return len(self.p)

    def __repr__(self) -> str:
        return (
            f"Predictions({len(self)} unjudged documents, mean p {np.mean(self.p):.4f}, "
            f"{np.mean(self.relevant):.4f} relevant)"
        )


@dataclass(frozen=True)
class ReliabilityScores:
    """How good probabilities of relevance are; lower scores are better.

    Attributes
    ----------
    documents, relevant : int
    mean_p, share : float
        Mean probability, and the share that is relevant.
    share_low, share_high : float
        90% of the shares of outcomes drawn from the probabilities lie between these.
    brier : float
        Mean (p - y)^2.
    miscalibration, discrimination, uncertainty : float
        The parts of the Brier score; only the second is the better the larger.
    log_score : float
        Mean negative log likelihood in nats, p clipped to [1e-6, 1 - 1e-6].

    Examples
    --------
    >>> from rtc_bayes.calibration import Predictions, score
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> truth = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> unknown = rb.Judgments.none(truth.pool)
    >>> half = np.full((1, truth.pool.n_documents), 0.5)
    >>> scores = score(Predictions.from_judgments(unknown, half, np.nan_to_num(truth.labels)))
    >>> scores.mean_p, scores.brier
    (0.5, 0.25)
    """

    documents: int
    relevant: int
    mean_p: float
    share: float
    share_low: float
    share_high: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    log_score: float


def score(predictions: Predictions) -> ReliabilityScores:
    """Score probabilities of relevance.

    Raises
    ------
    InputError
        There are no documents.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import Predictions, score
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> labels = np.arange(pool.n_documents) % 2
    >>> values = np.where(labels, 0.8, 0.3)[None]
    >>> predictions = Predictions.from_judgments(rb.Judgments.none(pool), values, labels)
    >>> round(score(predictions).discrimination, 2)
    0.25
    """
    if not len(predictions):
        raise InputError("no unjudged document to score", remedy="judge fewer documents")
    p, y = predictions.p, predictions.relevant.astype(np.float64)
    share = float(y.mean())
    distinct, fitted = predictions.curve(predictions.relevant)
    recalibrated = fitted[np.searchsorted(distinct, p)]
    brier, best = float(np.mean((p - y) ** 2)), float(np.mean((recalibrated - y) ** 2))
    uncertainty = share * (1.0 - share)
    clipped = np.clip(p, _LOG_SCORE_CLIP, 1.0 - _LOG_SCORE_CLIP)
    drawn = np.unpackbits(predictions.replicates, axis=0).mean(axis=1)
    low, high = np.quantile(drawn, [(1 - _BAND) / 2, (1 + _BAND) / 2])
    return ReliabilityScores(
        documents=len(p),
        relevant=int(predictions.relevant.sum()),
        mean_p=float(p.mean()),
        share=share,
        share_low=float(low),
        share_high=float(high),
        brier=brier,
        miscalibration=brier - best,
        discrimination=uncertainty - best,
        uncertainty=uncertainty,
        log_score=float(-np.log(np.where(predictions.relevant, clipped, 1.0 - clipped)).mean()),
    )


def scores_by(predictions: Predictions, by: Grouping) -> pd.DataFrame:
    """Score groups of documents.

    Returns
    -------
    DataFrame
        A row for each group that has documents: group, and the fields of
        :class:`ReliabilityScores`.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import Predictions, scores_by
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> labels = np.arange(pool.n_documents) % 2
    >>> values = np.where(labels, 0.8, 0.3)[None]
    >>> predictions = Predictions.from_judgments(rb.Judgments.none(pool), values, labels)
    >>> scores_by(predictions, "topic")["group"].tolist() == list(pool.topics)
    True
    """
    import pandas as pd

    parts = {name: predictions.where(mask) for name, mask in predictions.groups(by).items()}
    return pd.DataFrame(
        [{"group": name, **vars(score(part))} for name, part in parts.items() if len(part)],
        columns=["group", *(field.name for field in fields(ReliabilityScores))],
    )


def reliability(predictions: Predictions, *, points: int = _CURVE_POINTS) -> pd.DataFrame:
    """Return the reliability curve with its consistency band.

    Parameters
    ----------
    predictions : Predictions
    points : int
        At most so many of the distinct probabilities, evenly spaced in the root of p.

    Returns
    -------
    DataFrame
        p; share, the fitted share of relevant documents; low and high, between which 90% of the
        curves of outcomes drawn from the probabilities lie; documents, at the probabilities up
        to p from the p before.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import Predictions, reliability
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> labels = np.arange(pool.n_documents) % 2
    >>> values = np.where(labels, 0.8, 0.3)[None]
    >>> predictions = Predictions.from_judgments(rb.Judgments.none(pool), values, labels)
    >>> reliability(predictions)["share"].tolist()
    [0.0, 1.0]
    """
    import pandas as pd

    points = whole_number("points", points, least=1)
    distinct, share = predictions.curve(predictions.relevant)
    roots = np.linspace(np.sqrt(distinct[0]), np.sqrt(distinct[-1]), points)
    chosen = np.unique(np.searchsorted(distinct, roots**2).clip(max=len(distinct) - 1))
    chosen = np.unique(np.concatenate([[0], chosen, [len(distinct) - 1]]))
    sets = 8 * len(predictions.replicates)
    drawn = np.array([predictions.curve(predictions.replicate(k))[1][chosen] for k in range(sets)])
    low, high = np.quantile(drawn, [(1 - _BAND) / 2, (1 + _BAND) / 2], axis=0)
    below = np.searchsorted(np.sort(predictions.p), distinct[chosen], side="right")
    return pd.DataFrame(
        {
            "p": distinct[chosen],
            "share": share[chosen],
            "low": low,
            "high": high,
            "documents": np.diff(below, prepend=0),
        }
    )


def _best_ranks(judgments: Judgments) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return every document's best rank, and whether a system judged for retrieved it."""
    pool = judgments.pool
    seen = np.zeros(pool.n_documents, dtype=bool)
    seen[pool.ranked[judgments.judged_for_mask[pool.entries.system, pool.entries.topic]]] = True
    best = pool.best_ranks
    return np.where(best > 0, best, np.iinfo(np.int64).max), seen
