"""Judgments, probabilities and scores as files hold them: qrels, erels, prels, scores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtc_bayes.collection.order import natural_order
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class _TopicTable[Value](Mapping[str, Mapping[str, Value]]):
    """Per topic a value for each docno, in the order of the source."""

    value_name = "value"

    def __init__(
        self, table: Mapping[str, Mapping[str, Value]], *, path: str = "", digest: str = ""
    ) -> None:
        self._table = {str(topic): dict(values) for topic, values in table.items()}
        self.path = path
        for topic, values in self._table.items():
            for docno, value in values.items():
                self._check(topic, docno, value)
        self.digest = digest or self._content_digest()

    def _check(self, topic: str, docno: str, value: Value) -> None:
        """Refuse a value that this table cannot hold."""

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics in natural order."""
        return natural_order(self._table)

    @property
    def n_values(self) -> int:
        """How many documents have a value, over all topics."""
        return sum(len(values) for values in self._table.values())

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns qid, docno and the value's name."""
        import pandas as pd

        rows = [
            (topic, docno, value)
            for topic, values in self._table.items()
            for docno, value in values.items()
        ]
        return pd.DataFrame(rows, columns=["qid", "docno", self.value_name])

    def _content_digest(self) -> str:
        content = hashlib.sha256()
        for topic, values in self._table.items():
            content.update(repr((topic, list(values.items()))).encode())
        return content.hexdigest()

    def __getitem__(self, topic: str) -> Mapping[str, Value]:
        return self._table[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class Qrels(_TopicTable[int]):
    """Relevance judgments: per topic a grade for each judged docno, in the order of the file.

    A negative grade means that the document was not judged; it is kept here, and ignored
    wherever judgments are used.

    Parameters
    ----------
    table : mapping of str to mapping of str to int
        Per topic the grade of each docno.
    """

    value_name = "label"

    def counts(self, relevance_level: int = 1) -> tuple[int, int]:
        """Count the judged and, at a relevance level, the relevant documents."""
        grades = [grade for values in self.values() for grade in values.values() if grade >= 0]
        return len(grades), sum(grade >= relevance_level for grade in grades)

    def __repr__(self) -> str:
        judged, relevant = self.counts()
        return f"Qrels({len(self)} topics, {judged} judged, {relevant} relevant at level 1)"


class Probabilities(_TopicTable[float]):
    """Probabilities of relevance ("erels"): per topic a probability for each docno.

    Raises
    ------
    InputError
        A probability outside [0, 1].
    """

    value_name = "probability"

    def _check(self, topic: str, docno: str, value: float) -> None:
        if not 0.0 <= value <= 1.0:
            raise InputError(
                f"probability {value} of {docno} in topic {topic} is outside [0, 1]",
                path=self.path or None,
            )

    def __repr__(self) -> str:
        return f"Probabilities({len(self)} topics, {self.n_values} documents)"


class Scores(_TopicTable[float]):
    """Outside evidence: per topic a score for each docno, higher for what is likelier relevant.

    Raises
    ------
    InputError
        A score that is not finite.
    """

    value_name = "score"

    def _check(self, topic: str, docno: str, value: float) -> None:
        if not math.isfinite(value):
            raise InputError(
                f"score {value} of {docno} in topic {topic} is not finite", path=self.path or None
            )

    def __repr__(self) -> str:
        return f"Scores({len(self)} topics, {self.n_values} documents)"


@dataclass(frozen=True, slots=True)
class Prel:
    """One line of a Million Query prels file.

    Attributes
    ----------
    relevance : int
        The grade; negative: not judged.
    algorithm : int
        Which algorithm chose the document.
    probability : float
        The probability with which it was chosen, in [0, 1].
    """

    relevance: int
    algorithm: int
    probability: float


class Prels(_TopicTable[Prel]):
    """Million Query prels: per topic and docno a grade and how the document was chosen."""

    value_name = "prel"

    def _check(self, topic: str, docno: str, value: Prel) -> None:
        if not 0.0 <= value.probability <= 1.0:
            raise InputError(
                f"probability {value.probability} of {docno} in topic {topic} is outside [0, 1]",
                path=self.path or None,
            )

    def qrels(self) -> Qrels:
        """Return the judgments alone."""
        return Qrels(
            {t: {docno: prel.relevance for docno, prel in v.items()} for t, v in self.items()},
            path=self.path,
        )

    def __repr__(self) -> str:
        return f"Prels({len(self)} topics, {self.n_values} documents)"
