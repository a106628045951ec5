"""What is true of a collection that is taken as completely judged."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.calibration.coverage import TRUTHS
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import CollectionWarning
from rtc_bayes.measures import moments
from rtc_bayes.robustness.design import Collection


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """Relevance of every document, and the score of every system.

    Attributes
    ----------
    judgments : Judgments
        All of them, over the pool of all runs.
    scores : mapping of str to mapping of str to float
        Mean average precision of each system, by the names of
        :data:`rtc_bayes.calibration.coverage.TRUTHS`.
    """

    judgments: Judgments
    scores: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, collection: Collection, *, relevance_level: int = 1) -> Truth:
        """Take all judgments of a collection."""
        with warnings.catch_warnings():
            # whoever read the collection has been told of judged topics without runs
            warnings.simplefilter("ignore", CollectionWarning)
            judgments = Judgments.from_qrels(
                collection.pool, collection.qrels, relevance_level=relevance_level
            )
        labels = np.nan_to_num(judgments.labels)
        cut = moments(judgments.pool, labels, pairs="none").mean_expected[0]
        scores = (cut.tolist(), collection.truth.tolist())
        systems = collection.pool.systems
        return cls(
            judgments,
            {
                name: dict(zip(systems, each, strict=True))
                for name, each in zip(TRUTHS, scores, strict=True)
            },
        )

    def labels(self, pool: Pool) -> NDArray[np.float64]:
        """Return 1 for the relevant documents of a pool of these runs, else 0.

        A document that nobody judged is not relevant.
        """
        whole = self.judgments
        found = np.zeros(pool.n_documents)
        for t, topic in enumerate(pool.topics):
            inside = pool.documents(t)
            place = whole.pool.locate(topic, pool.docnos[inside])
            found[inside] = np.where(place < 0, 0.0, np.nan_to_num(whole.labels[place]))
        return found

    def __repr__(self) -> str:
        return f"Truth({self.judgments!r})"
