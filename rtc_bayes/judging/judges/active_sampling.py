"""Active sampling: documents drawn in proportion to the runs' estimated quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.judging.judges.in_turn import Floats, InTurn
from rtc_bayes.judging.judges.interface import Chooser
from rtc_bayes.measures.sampling import rank_prior
from rtc_bayes.relevance.options import check_options, require
from rtc_bayes.store import spawn_seeds

_MOST = 1.0 - 1e-12


@dataclass(frozen=True)
class ActiveSampling:
    """Draw each topic's next document from a mixture over its runs, the better runs more often.

    After Li and Kanoulas, "Active sampling for large-scale information retrieval evaluation"
    (CIKM 2017). A run's own distribution p(d | s) over its documents is the prior of average
    precision (:func:`rtc_bayes.measures.sampling.rank_prior`). A run's weight in the mixture is
    `smoothing` plus the share of the relevant documents that its p(d | s) reaches, each document
    counted by one over the probability that it was drawn by now (Horvitz and Thompson). Draws
    that hit a judged document cost nothing and are not counted. Topics come in turn. The weight
    of a document is its probability in the mixture.

    The judge serves as a rival in choosing documents; evaluators that read judgments alone do not
    use the probabilities of the draws. For estimates by inclusion probability draw by
    :func:`~rtc_bayes.measures.sampling.poisson_sample`.

    Parameters
    ----------
    smoothing : float, above 0
        What every run has beside its share; with a large one runs are drawn alike.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> one, same, other = (
    ...     rb.build(pool, simulated.qrels, "active", budget=9, seed=s) for s in (1, 1, 2)
    ... )
    >>> one.steps == same.steps, one.steps == other.steps
    (True, False)
    """

    smoothing: float = 0.1
    name: ClassVar[str] = "active"
    has_confidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_options(self)
        require(self.smoothing > 0.0, self, "smoothing", "a number above 0")

    def start(self, judgments: Judgments, *, seed: int) -> Chooser:
        """Make the chooser of one session, which draws by the seed."""
        return _ActiveSampling(judgments, self.smoothing, seed)


class _ActiveSampling(InTurn):
    def __init__(self, judgments: Judgments, smoothing: float, seed: int) -> None:
        super().__init__(judgments)
        pool = self.pool
        self._smoothing = smoothing
        self._seeds = spawn_seeds(seed, pool.n_topics)
        self._prior = [rank_prior(pool.ranks(t)) for t in range(pool.n_topics)]
        self._log_missed = np.zeros(pool.n_documents)
        self._labels = np.zeros(pool.n_documents)
        self._mixture = [self._mix(t) for t in range(pool.n_topics)]
        # what was judged before the session, as if this judge had drawn it
        for document in judgments.order.tolist():
            self._count(document, float(judgments.labels[document]))

    def in_order(self, topic: int) -> Iterator[tuple[int, float]]:
        """Yield documents as draws without replacement would, by a race of exponential times."""
        inside, mixture = self.pool.documents(topic), self._mixture[topic]
        rng = np.random.default_rng([self._seeds[topic], int(self._judged[topic])])
        times = rng.standard_exponential(len(mixture)) / np.maximum(mixture, np.finfo(float).tiny)
        for document in np.argsort(times, kind="stable"):
            if mixture[document] > 0.0 and not self._is_judged[inside.start + document]:
                yield int(inside.start + document), float(mixture[document])

    def observe(self, document: int, label: float) -> None:
        """Take a label, and weigh the topic's runs again."""
        super().observe(document, label)
        self._count(document, label)

    def _count(self, document: int, label: float) -> None:
        topic = int(self._topic_of[document])
        inside = self.pool.documents(topic)
        self._log_missed[inside] += np.log1p(-np.minimum(self._mixture[topic], _MOST))
        self._labels[document] = label
        self._mixture[topic] = self._mix(topic)

    def _mix(self, topic: int) -> Floats:
        """Probability of every document of a topic: the mixture of its runs."""
        prior, inside = self._prior[topic], self.pool.documents(topic)
        drawn = -np.expm1(self._log_missed[inside])
        # by Horvitz and Thompson; what no run reaches was judged, and not drawn
        counted = self._labels[inside] / np.where(drawn > 0.0, drawn, 1.0)
        reached = prior @ counted
        total = float(reached.sum())
        weights = self._smoothing + reached / (total if total > 0.0 else 1.0)
        weights = weights * prior.any(axis=1)
        mixture = weights @ prior
        return mixture / max(float(mixture.sum()), np.finfo(float).tiny)
