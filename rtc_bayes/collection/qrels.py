"""Judgments, probabilities and scores as files hold them: qrels, erels, prels, scores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rtc_bayes.checks import brief_repr, cut, whole_number
from rtc_bayes.collection.ids import keyed_by_text, shown
from rtc_bayes.collection.immutable import Immutable
from rtc_bayes.collection.judged_for import JudgedFor, as_json, judged_for_text
from rtc_bayes.collection.order import natural_order
from rtc_bayes.collection.records import grade
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd


class _TopicTable[Value](Immutable, Mapping[str, Mapping[str, Value]]):
    """Per topic a value for each docno, in the order of the source."""

    value_name = "value"
    refusal = ""
    _table: dict[str, dict[str, Value]]
    path: str
    digest: str

    def __init__(
        self, table: Mapping[str, Mapping[str, Value]], *, path: str = "", digest: str = ""
    ) -> None:
        if isinstance(table, _TopicTable):
            path = path or table.path
        if hasattr(table, "columns"):
            raise InputError(
                f"a data frame is no table by topic and docno of {self.value_name}s",
                remedy="read it: rb.read_qrels(frame)"
                if isinstance(self, Qrels)
                else f"give {{topic: {{docno: {self.value_name}}}}}",
            )
        copies = {}
        for topic, values in keyed_by_text(table, "topic").items():
            if not isinstance(values, Mapping):
                raise InputError(
                    f"topic {shown(topic)}: {brief_repr(values)} is not a mapping of docnos",
                    path=path or None,
                    remedy="these are runs: give them first, then the judgments"
                    if type(values).__name__ == "Run"
                    else f"give {{topic: {{docno: {self.value_name}}}}}",
                )
            of_text = keyed_by_text(values, "docno")
            copies[topic] = {d: self._checked(topic, d, v, path) for d, v in of_text.items()}
        self._set(_table=copies, path=path)
        self._set(digest=digest or self._content_digest())

    def _checked(self, topic: str, docno: str, value: Any, path: str) -> Value:
        try:
            return self._accepted(value)
        except (TypeError, ValueError, OverflowError, AttributeError):
            raise InputError(
                f"{self.value_name} {brief_repr(value)} of {cut(docno)} in topic "
                f"{cut(topic)} is {self.refusal}",
                path=path or None,
                remedy="correct it",
            ) from None

    def _accepted(self, value: Any) -> Value:
        """Return a value as the table holds it; raises ValueError and the like where it cannot."""
        raise NotImplementedError

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics in natural order."""
        return natural_order(self._table)

    @property
    def n_values(self) -> int:
        """How many documents have a value, over all topics."""
        return sum(len(values) for values in self._table.values())

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns topic, docno and the value's name."""
        import pandas as pd

        rows = [
            (topic, docno, value)
            for topic, values in self._table.items()
            for docno, value in values.items()
        ]
        return pd.DataFrame(rows, columns=["topic", "docno", self.value_name])

    def _content_digest(self) -> str:
        content = hashlib.sha256()
        for topic, values in self._table.items():
            content.update(repr((topic, list(values.items()))).encode())
        return content.hexdigest()

    def __getitem__(self, topic: str | int) -> Mapping[str, Value]:
        key: Any = str(topic) if isinstance(topic, Integral) else topic
        return MappingProxyType(self._table[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        topics = counted(len(self), "topic")
        return f"{type(self).__name__}({topics}, {counted(self.n_values, 'document')})"


class Qrels(_TopicTable[int]):
    """Relevance judgments: per topic a grade for each judged docno, in the order of the file.

    A negative grade means that the document was not judged; it is kept here, and ignored
    wherever judgments are used.

    Parameters
    ----------
    table : mapping of str to mapping of str to int
        Per topic the grade of each docno. Of other `Qrels` what is known beside them is kept.
    path, digest : str, optional
        The file that they were read from, which errors name, and the digest of what it holds.
        Without a digest it is made of the table.
    judged_for : sequence of str, or mapping of str to sequence of str, optional
        The systems whose documents were judged: of all topics, or of each. None: not known.
    hold_out : str, optional
        Digest of the :class:`~rtc_bayes.collection.hold_out.HoldOutDesign` under which they were
        judged. None: under none, or not known.
    relevance_level : int, optional
        The lowest grade that counted as relevant when documents were chosen, at least 1: what
        reads these judgments takes it unless it is told another. None: not known, taken as 1.

    Raises
    ------
    InputError
        A grade that is not a whole number; a relevance level below 1; an id that is neither text
        nor a whole number, or stands twice, as 1 and as "1".

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> qrels = rb.Qrels({"401": {"d1": 2, "d2": 0}}, judged_for=["bm25"], relevance_level=2)
    >>> qrels.counts(), qrels.counts(relevance_level=3), qrels.judged_for
    ((2, 1), (2, 0), ('bm25',))
    """

    value_name = "label"
    refusal = "not a whole number"
    judged_for: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None
    hold_out: str | None
    relevance_level: int | None

    def __init__(
        self,
        table: Mapping[str, Mapping[str, int]],
        *,
        path: str = "",
        digest: str = "",
        judged_for: JudgedFor = None,
        hold_out: str | None = None,
        relevance_level: int | None = None,
    ) -> None:
        if isinstance(table, Qrels):
            judged_for = table.judged_for if judged_for is None else judged_for
            hold_out = table.hold_out if hold_out is None else hold_out
        super().__init__(table, path=path, digest=digest)
        self._set(
            judged_for=judged_for_text(judged_for),
            hold_out=hold_out,
            relevance_level=_level(relevance_level, table),
        )

    def _accepted(self, value: Any) -> int:
        return value if type(value) is int and abs(value) < 2**63 else grade(value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the qrels cross process borders; a view of a mapping cannot."""
        judged_for = self.judged_for
        state = dict(judged_for) if isinstance(judged_for, Mapping) else judged_for
        about = (state, self.hold_out, self.relevance_level)
        return _rebuild, (self._table, self.path, self.digest, *about)

    def about(self) -> dict[str, object]:
        """Return what stands beside a file of them, ready for JSON.

        Returns
        -------
        dict
            ``judged_for`` (a list, one for each topic, or None); ``hold_out`` and
            ``relevance_level`` where they are known.
        """
        design = {} if self.hold_out is None else {"hold_out": self.hold_out}
        level = {} if self.relevance_level is None else {"relevance_level": self.relevance_level}
        return {"judged_for": as_json(self.judged_for), **design, **level}

    def judged(self, topic: str) -> dict[str, int]:
        """Return the grades of a topic's judged documents, none of a topic that is not there.

        A negative grade is no judgment.

        Examples
        --------
        >>> qrels = Qrels({"1": {"a": 2, "b": -1}})
        >>> qrels.judged("1"), qrels.judged("2")
        ({'a': 2}, {})
        """
        return {docno: grade for docno, grade in self.get(topic, {}).items() if grade >= 0}

    @property
    def negative(self) -> tuple[tuple[str, str], ...]:
        """The documents with a negative grade, by topic and docno: those that have no judgment.

        Examples
        --------
        >>> Qrels({"1": {"a": 2, "b": -1}}).negative
        (('1', 'b'),)
        """
        return tuple((t, d) for t, of in self.items() for d, grade in of.items() if grade < 0)

    @property
    def highest_grade(self) -> int:
        """The highest grade, 0 where there is none.

        Examples
        --------
        >>> Qrels({"1": {"a": 2, "b": -1}}).highest_grade
        2
        """
        return max((max(grades.values(), default=0) for grades in self.values()), default=0)

    def counts(self, relevance_level: int | None = None) -> tuple[int, int]:
        """Count the judged and, at a relevance level (their own), the relevant documents."""
        level = self.relevance_level or 1
        if relevance_level is not None:
            level = whole_number("relevance_level", relevance_level, least=1)
        grades = [grade for topic in self for grade in self.judged(topic).values()]
        return len(grades), sum(grade >= level for grade in grades)

    def __repr__(self) -> str:
        judged, relevant = self.counts()
        topics, level = counted(len(self), "topic"), self.relevance_level or 1
        return f"Qrels({topics}, {judged} judged, {relevant} relevant at level {level})"


def _level(relevance_level: int | None, table: Mapping[str, Any]) -> int | None:
    """Return a relevance level as a whole number of at least 1; else that of judgments copied."""
    if relevance_level is None:
        return table.relevance_level if isinstance(table, Qrels | Prels) else None
    return whole_number("relevance_level", relevance_level, least=1)


def left_out(negative: int) -> str:
    """Say how many documents of a negative grade are left out.

    Examples
    --------
    >>> left_out(2)
    '2 documents of a negative grade, which nobody can judge, left out'
    """
    return f"{counted(negative, 'document')} of a negative grade, which nobody can judge, left out"


def level_of(qrels: Qrels, relevance_level: int | None) -> int:
    """Say from which grade on judgments count as relevant.

    Parameters
    ----------
    qrels : Qrels
    relevance_level : int or None
        As asked for; None: that of the qrels, or 1.

    Raises
    ------
    InputError
        A level below 1.

    Warns
    -----
    CollectionWarning
        It is read from the file beside the qrels and is not 1; it is asked for and is not that
        of the qrels; or it is above every grade, so that nothing judged is relevant.

    Examples
    --------
    >>> qrels = Qrels({"401": {"d1": 2, "d2": 1}}, relevance_level=2)
    >>> level_of(qrels, None), level_of(Qrels({}), None)
    (2, 1)
    """
    if not isinstance(qrels, Qrels):
        qrels = Qrels(qrels)
    own, name = qrels.relevance_level, qrels.path or "the judgments"
    if relevance_level is None:
        level = own or 1
        if qrels.path and level > 1:
            warn(
                f"grades from {level} on count as relevant, as the .meta.json beside {name} "
                "says; relevance_level= or --relevance-level says otherwise",
            )
    else:
        level = whole_number("relevance_level", relevance_level, least=1)
        if own not in (None, level):
            warn(
                f"grades from {level} on count as relevant; when {name} "
                f"{'was' if qrels.path else 'were'} made, it was those from {own} on",
            )
    if level > 1:
        _warn_of_none(qrels, level)
    return level


def _warn_of_none(qrels: Qrels, relevance_level: int) -> None:
    """Say that the relevance level is above every grade, so that nothing judged is relevant."""
    highest = qrels.highest_grade
    if 1 <= highest < relevance_level:
        warn(
            f"relevance level {relevance_level} is above the highest grade of the judgments, "
            f"{highest}: none of them is relevant",
        )


class Probabilities(_TopicTable[float]):
    """Probabilities of relevance ("erels"): per topic a probability for each docno.

    Raises
    ------
    InputError
        A probability outside [0, 1].

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.Probabilities({"401": {"d1": 0.9}})
    Probabilities(1 topic, 1 document)
    """

    value_name = "probability"
    refusal = "outside [0, 1]"

    def _accepted(self, value: Any) -> float:
        if not 0.0 <= value <= 1.0:
            raise ValueError(value)
        accepted: float = value
        return accepted


class Scores(_TopicTable[float]):
    """Outside evidence: per topic a score for each docno, higher for what is likelier relevant.

    Raises
    ------
    InputError
        A score that is not finite.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.Scores({"401": {"d1": -3.5}})["401"]["d1"]
    -3.5
    """

    value_name = "score"
    refusal = "not finite"

    def _accepted(self, value: Any) -> float:
        if not math.isfinite(value):
            raise ValueError(value)
        accepted: float = value
        return accepted


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
        The probability with which it was chosen, above 0 and at most 1.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.collection.Prel(relevance=1, algorithm=2, probability=0.5).relevance
    1
    """

    relevance: int
    algorithm: int
    probability: float


class Prels(_TopicTable[Prel]):
    """Million Query prels: per topic and docno a grade and how the document was chosen.

    Parameters
    ----------
    table : mapping of str to mapping of str to Prel
    path, digest, relevance_level
        As of :class:`Qrels`.

    Raises
    ------
    InputError
        A probability that is not above 0 and at most 1; a relevance level below 1.

    Examples
    --------
    >>> from rtc_bayes.collection import Prel, Prels
    >>> Prels({"401": {"d1": Prel(1, 2, 0.5)}}).qrels()["401"]["d1"]
    1
    """

    value_name = "prel"
    refusal = "not a Prel with a probability above 0, at most 1"
    relevance_level: int | None

    def __init__(
        self,
        table: Mapping[str, Mapping[str, Prel]],
        *,
        path: str = "",
        digest: str = "",
        relevance_level: int | None = None,
    ) -> None:
        super().__init__(table, path=path, digest=digest)
        self._set(relevance_level=_level(relevance_level, table))

    def _accepted(self, value: Any) -> Prel:
        if not isinstance(value, Prel) or not 0.0 < value.probability <= 1.0:
            raise ValueError(value)
        return value

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with columns topic, docno, relevance, algorithm and probability."""
        import pandas as pd

        rows = [
            {"topic": topic, "docno": docno, **asdict(prel)}
            for topic, of_topic in self.items()
            for docno, prel in of_topic.items()
        ]
        names = [field.name for field in fields(Prel)]
        return pd.DataFrame(rows, columns=["topic", "docno", *names])

    def qrels(self) -> Qrels:
        """Return the judgments alone."""
        return Qrels(
            {t: {docno: prel.relevance for docno, prel in v.items()} for t, v in self.items()},
            path=self.path,
            relevance_level=self.relevance_level,
        )


def one_design(digests: Iterable[str | None]) -> str | None:
    """Return the digest of the hold-out design under which all sources were judged.

    Parameters
    ----------
    digests : iterable of str or None
        Of each source with judgments; None where it names no design.

    Raises
    ------
    InputError
        Sources of different designs, or some of a design and some of none.

    Examples
    --------
    >>> one_design(["0123456789ab", "0123456789ab"])
    '0123456789ab'
    """
    distinct = list(dict.fromkeys(digests))
    if len(distinct) > 1:
        raise InputError(
            "judgments were made under different hold-out designs: "
            + ", ".join("none" if digest is None else digest[:12] for digest in distinct),
            remedy="put judgments of one design together; where some were made by hand, name the "
            "design as Qrels(..., hold_out=digest), or add their lines to a file that names it",
        )
    return distinct[0] if distinct else None


def one_level(levels: Iterable[int | None]) -> int | None:
    """Return the relevance level at which sources that name one were judged.

    Parameters
    ----------
    levels : iterable of int or None
        Of each source with judgments; None where it names none.

    Returns
    -------
    int or None
        None where no source names one, or where they name several.

    Warns
    -----
    CollectionWarning
        They name several.

    Examples
    --------
    >>> one_level([None, 2, 2])
    2
    """
    distinct = sorted({level for level in levels if level is not None})
    if len(distinct) > 1:
        warn(
            f"judgments were made at relevance levels {', '.join(map(str, distinct))}; together "
            "they name none, so level 1 counts where relevance_level= or --relevance-level names "
            "no other",
        )
        return None
    return distinct[0] if distinct else None


def _rebuild(
    table: Any,
    path: str,
    digest: str,
    judged_for: JudgedFor,
    hold_out: str | None,
    relevance_level: int | None,
) -> Qrels:
    return Qrels(
        table,
        path=path,
        digest=digest,
        judged_for=judged_for,
        hold_out=hold_out,
        relevance_level=relevance_level,
    )
