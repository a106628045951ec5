"""What scores are about: a measure, of lists how deep, over which topics; one value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.checks import check_word, real_number, whole_fields
from rtc_bayes.collection.ids import text_of
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.residual import (
    expected_common_error,
    residual_parts,
    short_lists_error,
)
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
    from rtc_bayes.collection.judged_for import JudgedFor


type Scope = Literal["whole", "pool"]


class MeasureObject(Protocol):
    """A measure of ir-measures."""

    NAME: str


type EstimandLike = Estimand | str | MeasureObject | None
"""An estimand, a measure (its name, or the object of ir-measures), or None for the default."""


@dataclass(frozen=True)
class Estimand:
    """What is estimated of every system: the mean of a measure, of lists so deep, over topics.

    Attributes
    ----------
    measure : str
        As ir-measures names it; its measure objects are taken, too. ``rel`` is a grade from which
        on documents are relevant to this measure alone.
    scope : {"whole", "pool"}
        "whole": scores of whole lists by all relevant documents: lists are scored as far down as
        ranks are known, relevant documents that no system retrieved count, and what the pool
        cannot tell is a residual. "pool": lists are cut at the depth of the pool, and its documents
        are all there are (Carterette 2007). `score_depth`, `unseen` and `residual` say otherwise
        for their part.
    relevance_level : int or None
        The lowest grade that counts as relevant, at least 1. None: the level that the judgments at
        hand were made at, or 1.
    topics : {"all", "judged"} or tuple of str
        The mean is over all topics of the runs, over those with a judgment, or over these.
    depth : int or None
        The first documents of every list, down to this rank, are pooled. None: 100, or the depth
        of the pool at hand.
    score_depth : int or None
        Lists are scored down to this rank, by the documents of the pool. None: by the scope.
    unseen : bool or None
        Relevant documents that no system retrieved count, as many as the first-order jackknife
        expects of those that one system alone retrieved, and below short lists what their ends
        tell. None: by the scope.
    residual : float, "auto" or None
        Standard deviation of what is left of each system's mean score beyond what the pool
        tells, at least 0: normal about 0, and shared as far as lists are alike. "auto": by the
        measure, the numbers of systems and topics, and how much of what is relevant is expected
        without a judgment, :func:`~rtc_bayes.measures.residual.expected_residual`.
        None: "auto" of whole lists, 0 of the pool.

    Raises
    ------
    InputError
        A value out of its range, or an unknown measure.

    Examples
    --------
    >>> from rtc_bayes import Estimand
    >>> Estimand("nDCG@10", depth=50)
    Estimand('nDCG@10', depth=50)
    >>> Estimand(scope="pool").text
    'AP of lists to rank 100, by the pool alone'
    """

    measure: str = defaults.MEASURE
    scope: Scope = "whole"
    relevance_level: int | None = None
    topics: str | tuple[str, ...] = "all"
    depth: int | None = None
    score_depth: int | None = None
    unseen: bool | None = None
    residual: float | Literal["auto"] | None = None

    def __post_init__(self) -> None:
        whole_fields(self, relevance_level=1, depth=1)
        whole_fields(self, score_depth=self.depth or 1)
        measure = parse_measure(self.measure)
        if measure.rel == 1:
            # ir_measures does not tell it from the measure without rel
            if self.relevance_level not in (None, 1):
                raise InputError(
                    f"rel is 1, and the relevance level {self.relevance_level}",
                    remedy="leave rel out, or give relevance level 1",
                )
            object.__setattr__(self, "relevance_level", 1)
        object.__setattr__(self, "measure", measure.name)
        check_word("scope", self.scope, get_args(Scope.__value__))
        if isinstance(self.topics, str) or not isinstance(self.topics, Iterable):
            if self.topics not in ("all", "judged"):
                raise InputError(
                    f"topics are {self.topics!r}", remedy='give "all", "judged" or a list of topics'
                )
        else:
            object.__setattr__(self, "topics", tuple(text_of(t, "topic") for t in self.topics))
        if self.unseen is not None:
            if not isinstance(self.unseen, bool | np.bool_):
                text = f"unseen is {self.unseen!r:.80}"
                raise InputError(text, remedy="give True, False or None")
            object.__setattr__(self, "unseen", bool(self.unseen))
        if self.residual not in (None, "auto"):
            remedy = 'give a standard deviation of at least 0, or "auto"'
            residual = real_number("residual", self.residual, 0.0, _LARGEST_DEVIATION, remedy)
            object.__setattr__(self, "residual", residual)

    @property
    def text(self) -> str:
        """What scores are about, in words."""
        return self.text_of()

    def text_of(self, longest: int | None = None) -> str:
        """Say what scores are about, of lists that may be shorter than they are read.

        Parameters
        ----------
        longest : int, at least 1, optional
            The length of the longest list, if it is known.

        Examples
        --------
        >>> Estimand(scope="pool").text_of(longest=20)
        'AP of lists to rank 20, by the pool alone'
        """
        whole_lists, measure = self.scope == "whole", parse_measure(self.measure)
        to_rank = self.score_depth or (None if whole_lists else self.depth or defaults.DEPTH)
        to_rank = min((rank for rank in (to_rank, longest) if rank), default=None)
        said = self.measure
        if measure.cutoff is None or measure.cutoff > (to_rank or measure.cutoff):
            lists = f"lists to rank {to_rank}"
            if whole_lists:
                lists = f"whole lists (to rank {to_rank})" if to_rank else "whole lists"
            said += f" of {lists}"
        residual = self.residual
        if measure.asks_how_many:
            unseen = whole_lists if self.unseen is None else self.unseen
            said += (
                f", by {'all relevant documents, retrieved or not' if unseen else 'the pool alone'}"
            )
            residual = residual if residual is not None else "auto" if whole_lists else None
        elif residual == "auto":
            residual = None
        if not residual:
            return said
        return f"{said}, residual {residual if residual == 'auto' else f'{residual:.2g}'}"

    def __repr__(self) -> str:
        said = (
            f"{field.name}={value!r}"
            for field in fields(self)[1:]
            if (value := getattr(self, field.name)) != field.default
        )
        return f"Estimand({', '.join([repr(self.measure), *said])})"

    @classmethod
    def from_value(cls, value: EstimandLike) -> Estimand:
        """Take an estimand as it is, and a measure as the default estimand of this measure."""
        if value is None:
            return cls()
        return value if isinstance(value, Estimand) else cls(measure=value)  # type: ignore[arg-type]

    @explains_types
    def of_qrels(self, qrels: Qrels) -> Estimand:
        """Name the relevance level at which judgments are read.

        Parameters
        ----------
        qrels : Qrels
            Their level counts where the estimand names none; 1 where neither does.

        Warns
        -----
        CollectionWarning
            As :func:`rtc_bayes.collection.qrels.level_of`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> rb.Estimand("P@5").of_qrels(rb.Qrels({"1": {"a": 2}}, relevance_level=2))
        Estimand('P@5', relevance_level=2)
        """
        from rtc_bayes.collection.qrels import level_of

        return replace(self, relevance_level=level_of(qrels, self.relevance_level))

    def of_grades(self, highest: float, level: int = 1) -> str:
        """Say which judged grades count as relevant.

        Parameters
        ----------
        highest : float
            The highest judged grade.
        level : int
            The lowest that counts as relevant, where the estimand names none.

        Returns
        -------
        str
            Nothing where grades are 0 and 1, and where the measure counts grades or names one.

        Examples
        --------
        >>> Estimand("P@5").of_grades(3)
        'judged grades go up to 3, and those from 1 on count as relevant (--relevance-level 1)'
        >>> Estimand("nDCG@10").of_grades(3)
        ''
        """
        from rtc_bayes.collection.grades import counted_grades

        measure = parse_measure(self.measure)
        if measure.graded or measure.rel:
            return ""
        return counted_grades(highest, self.relevance_level or level)

    @explains_types
    def pool(self, runs: Runs, qrels: Qrels | None = None, *, pad: bool = False) -> Pool:
        """Pool runs to the depth.

        Parameters
        ----------
        runs : Runs
        qrels : Qrels, optional
            Where lists are scored below the depth, documents that these judge count there too.
        pad : bool
            Fill short lists up to the depth, as of :meth:`rtc_bayes.Pool.from_runs`.
        """
        from rtc_bayes.collection import Pool

        depth = self.depth or defaults.DEPTH
        by_depth = self.scope == "pool" or self.score_depth
        score_depth = self.score_depth if by_depth else max(depth, defaults.REACH)
        below = qrels if score_depth else None
        pool = Pool.from_runs(runs, depth=depth, score_depth=score_depth, qrels=below, pad=pad)
        if by_depth:
            return pool
        return replace(pool, score_depth=pool.reach)

    @explains_types
    def judgments(self, pool: Pool, qrels: Qrels, judged_for: JudgedFor = None) -> Judgments:
        """Read judgments over a pool at the relevance level, or at theirs where none is named.

        Parameters
        ----------
        pool, qrels, judged_for
            As of :meth:`rtc_bayes.Judgments.from_qrels`.

        Warns
        -----
        CollectionWarning
            Once, naming topics without a judgment.
        """
        from rtc_bayes.collection import Judgments

        judgments = Judgments.from_qrels(
            pool, qrels, relevance_level=self.relevance_level, judged_for=judged_for
        )
        judged = set(judgments.judged_topics)
        without = [topic for topic in pool.topics if topic not in judged]
        if judged and without:
            shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
            warn(
                f"{counted(len(without), 'topic')} of {pool.n_topics} without a judgment: {shown}",
            )
        return judgments

    @explains_types
    def on(self, pool: Pool, judgments: Judgments | None = None) -> tuple[Estimand, Pool]:
        """Say what the estimand is of a pool at hand, and read the pool to the score depth.

        Whole lists are read as far as ranks are known, others to the pool's depth, unless the
        estimand has a score depth of its own.

        Parameters
        ----------
        pool : Pool
        judgments : Judgments, optional
            Needed for the topics that are judged.

        Returns
        -------
        estimand : Estimand
            With the pool's depths, the judgments' relevance level, topics by name, and the residual
            as a number.
        pool : Pool

        Raises
        ------
        InputError
            The pool has another depth, or knows no ranks so deep.
        """
        if self.depth not in (None, pool.depth):
            raise InputError(
                f"the pool has depth {pool.depth}, not {self.depth}",
                remedy="pool the runs to the depth of the estimand: Estimand.pool(runs)",
            )
        whole_lists = self.scope == "whole"
        score_depth = self.score_depth or (pool.reach if whole_lists else pool.depth)
        if score_depth != pool.score_depth:
            if not pool.depth <= score_depth <= pool.reach:
                raise InputError(
                    f"score_depth is {score_depth}, and ranks are known down to {pool.reach}",
                    remedy=f"give one from the depth, {pool.depth}, to {pool.reach}",
                )
            pool = replace(pool, score_depth=score_depth)
        topics = self.topics
        if topics == "judged":
            if judgments is None:
                raise InputError(
                    "judged topics of what has no judgments",
                    remedy="give a Fit, or name the topics",
                )
            topics = tuple(t for t in pool.topics if t in set(judgments.judged_topics))
        elif topics == "all":
            topics = pool.topics
        level = self.relevance_level
        if judgments is not None and (level is None or judgments.n_judged):
            level = judgments.relevance_level
        resolved = replace(
            self,
            relevance_level=level,
            topics=topics,
            depth=pool.depth,
            score_depth=score_depth,
            unseen=whole_lists if self.unseen is None else self.unseen,
            residual=self.residual_of(pool.n_systems, len(topics)),
        )
        return resolved, pool

    def residual_of(self, n_systems: int, n_topics: int, unjudged: float = 0.0) -> float:
        """Return the residual as a number: its own, or by the rule of ``"auto"``.

        Parameters
        ----------
        n_systems, n_topics : int
            Of the pool, and of the topics that are averaged over.
        unjudged : float, 0 to 1
            Share of the relevant documents that are expected without a judgment; 0 leaves what no
            judgment takes off.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> [round(rb.Estimand().residual_of(10, 50, unjudged), 4) for unjudged in (0.0, 0.5)]
        [0.0043, 0.0115]
        >>> rb.Estimand(residual=0.01).residual_of(10, 50, 0.5)
        0.01
        """
        stays, of_topic = self.residual_parts(n_systems, unjudged)
        return math.sqrt(stays + of_topic / max(n_topics, 1))

    def residual_parts(self, n_systems: int, unjudged: float = 0.0) -> tuple[float, float]:
        """Return parts of the residual's variance: what stays, and that of a single topic.

        Over T topics the variance is the first and a T-th of the second. A residual that is a
        number stays, on however many topics.

        Parameters
        ----------
        n_systems : int
            Of the pool.
        unjudged : float, 0 to 1
            As in :meth:`residual_of`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> rb.Estimand(residual=0.01).residual_parts(5)
        (0.0001, 0.0)
        >>> rb.Estimand(scope="pool").residual_parts(5)
        (0.0, 0.0)
        """
        if self._by_rule:
            return residual_parts(self.measure, n_systems, unjudged)
        return float(self.residual or 0.0) ** 2, 0.0

    def common_error(
        self, n_systems: int, unjudged: float = 0.0, *, by_grade: bool = False
    ) -> float:
        """Return how far all expected scores may be off together, as a share of them.

        By :func:`~rtc_bayes.measures.residual.expected_common_error` where the residual is
        ``"auto"``, and 0 where it is a number. It is larger where gains go by grade (`by_grade`).

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> [round(rb.Estimand(residual=r).common_error(4, 0.9), 2) for r in ("auto", 0.01)]
        [0.1, 0.0]
        """
        if not self._by_rule:
            return 0.0
        return expected_common_error(self.measure, n_systems, unjudged, by_grade=by_grade)

    def short_lists_error(self, n_systems: int, cut_at: int, guessed: float = 1.0) -> float:
        """Return how far expected scores may be off together as lists are cut, as a share.

        By :func:`~rtc_bayes.measures.residual.short_lists_error` where the residual is ``"auto"``,
        and 0 where it is a number.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> [round(rb.Estimand(residual=r).short_lists_error(10, 20), 2) for r in ("auto", 0.01)]
        [0.19, 0.0]
        """
        if not self._by_rule:
            return 0.0
        return short_lists_error(self.measure, n_systems, cut_at, guessed)

    @property
    def _by_rule(self) -> bool:
        """Whether the residual is by the rule of ``"auto"``."""
        return self.residual == "auto" or (self.residual is None and self.scope == "whole")

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON holds them."""
        fields = asdict(self)
        return fields | {"topics": self.topics if isinstance(self.topics, str) else [*self.topics]}


# beyond any score; squares of more overflow
_LARGEST_DEVIATION = 1e6
