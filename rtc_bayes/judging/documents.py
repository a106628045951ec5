"""Documents that a person should judge next: one, and several in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, overload

from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NextDocument:
    """A document worth judging.

    Attributes
    ----------
    topic, docno : str
    weight : float
        Its worth by the algorithm, above 0; comparable within one algorithm only.
    why : str
        A short phrase for the person who judges it.
    p : float or None
        How probably it is relevant, in [0, 1], as far as is known; None where the algorithm has no
        probabilities.
    retrieved_by : int
        How many systems retrieved it.

    Examples
    --------
    >>> NextDocument("401", "FT911-3", 0.5, "rank 2 in A", p=0.3, retrieved_by=3).docno
    'FT911-3'
    """

    topic: str
    docno: str
    weight: float
    why: str
    p: float | None = None
    retrieved_by: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class NextDocuments(Shown, Sequence[NextDocument]):
    """Documents worth judging, the first to judge first, and the pair that is least sure.

    Made by :func:`rtc_bayes.next_documents`. It is a sequence of :class:`NextDocument`: it has a
    length, an index and slices, which are lists, and equals a list of the same documents.

    Attributes
    ----------
    documents : tuple of NextDocument
    pair : (str, str) or None
        The pair that they were chosen for; where none was asked for, the pair of least
        confidence, the first such one. None where the algorithm has no confidences.
    confidence : float or None
        The pair's confidence now, in [0.5, 1], by a session's moments of the pool's documents
        alone: :func:`rtc_bayes.compare` has exact ones, and counts what the pool leaves out.
        Under a hold-out design the least over the sub-pools that the documents are from, each with
        its own topics.
    may_stop : bool
        Whether a session for all pairs would end here by 0.95. False for a pair, under a hold-out
        design, and where no document is left.
    why_none : str
        Why there is no document, as part of a sentence; empty where there is one.
    weight_text : str
        What a weight is, as part of a sentence; empty where the algorithm does not say.

    Examples
    --------
    >>> first = NextDocument("401", "FT911-3", 0.5, "rank 2 in A", p=0.3, retrieved_by=3)
    >>> chosen = NextDocuments((first,), ("A", "B"), 0.53)
    >>> chosen
    NextDocuments(1 document; A and B: confidence 0.53)
      401 FT911-3: weight 0.5, rank 2 in A
    >>> len(chosen), chosen[0].docno, chosen == [first], chosen.confidence
    (1, 'FT911-3', True, 0.53)
    >>> list(chosen.to_frame().columns)
    ['topic', 'docno', 'weight', 'p', 'retrieved_by', 'why']
    """

    documents: tuple[NextDocument, ...]
    pair: tuple[str, str] | None = None
    confidence: float | None = None
    may_stop: bool = False
    why_none: str = ""
    weight_text: str = ""

    def __len__(self) -> int:
        return len(self.documents)

    @overload
    def __getitem__(self, index: int) -> NextDocument: ...
    @overload
    def __getitem__(self, index: slice) -> list[NextDocument]: ...
    def __getitem__(self, index: int | slice) -> NextDocument | list[NextDocument]:
        """Return a document, or a list of some."""
        return list(self.documents[index]) if isinstance(index, slice) else self.documents[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NextDocuments):
            return all(
                getattr(self, item.name) == getattr(other, item.name) for item in fields(self)
            )
        return list(self) == list(other) if isinstance(other, list | tuple) else NotImplemented

    def to_frame(self) -> pd.DataFrame:
        """Return one row per document: topic, docno, weight, p, retrieved_by and why."""
        import pandas as pd

        columns = ["topic", "docno", "weight", "p", "retrieved_by", "why"]
        return pd.DataFrame([asdict(document) for document in self], columns=columns)

    def __repr__(self) -> str:
        said = counted(len(self), "document")
        if self.pair is not None:
            said += f"; {' and '.join(self.pair)}: confidence {self.confidence:.3g}"
        if self.why_none:
            said += f"; {self.why_none}"
        rows = [f"  {d.topic} {d.docno}: weight {d.weight:.3g}, {d.why}" for d in self]
        return "\n".join([f"NextDocuments({said})", *rows])
