"""Probabilities of relevance, with dims chain, draw and document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtc_bayes.checks import with_article
from rtc_bayes.collection.grades import GradeDistribution, heights_of
from rtc_bayes.collection.ids import by_topic, shared_topics
from rtc_bayes.collection.immutable import freeze
from rtc_bayes.collection.order import natural_order
from rtc_bayes.collection.pool import ONE_EACH, Pool
from rtc_bayes.collection.qrels import Probabilities, Qrels, level_of
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.saved import Saved, check_holds
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Relevance(Saved):
    """Probabilities of relevance of documents, as draws or as one point estimate.

    A point estimate has one chain and one draw, so that whatever follows is written once.

    Parameters
    ----------
    probability : DataArray
        Dims chain, draw, document, values in [0, 1]; coordinates topic and docno over
        document, topics contiguous. It is copied, unless it is read-only or in a file
        (``numpy.memmap``), and cannot be written to.
    model : str
        The relevance model.
    method : str
        How it was fitted.
    grades : GradeDistribution, optional
        Grades of judged documents, and what they say of the others'. Without them relevance is
        binary.

    Raises
    ------
    InputError
        Other dims, or a probability outside [0, 1].

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> relevance = rb.Relevance.from_values(pool, [[[0.25, 0.5], [0.75, 0.5]]])
    >>> relevance
    Relevance(2 documents, 1 topic, 1 chain x 2 draws)
    >>> relevance.values.mean(axis=0).tolist()
    [0.5, 0.5]
    >>> dict(relevance.to_probabilities()["1"])
    {'a': 0.5, 'b': 0.5}
    """

    probability: xr.DataArray
    model: str = field(default="", kw_only=True)
    method: str = field(default="", kw_only=True)
    grades: GradeDistribution | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        dims = getattr(self.probability, "dims", None)
        if dims != ("chain", "draw", "document"):
            raise InputError(
                f"relevance has dims {dims}, not chain, draw, document",
                remedy="label an array with Relevance.from_values(pool, values)",
            )
        absent = {"topic", "docno"} - set(self.probability.coords)
        if absent:
            raise InputError(
                f"relevance has no coordinate {' and '.join(sorted(absent))} of its documents",
                remedy="label an array with Relevance.from_values(pool, values)",
            )
        pairs = zip(*(self.probability[name].values for name in ("topic", "docno")), strict=True)
        if len(seen := Counter(pairs)) < self.probability.sizes["document"]:
            (topic, docno), count = seen.most_common(1)[0]
            raise InputError(
                f"document {docno} of topic {topic} has {count} probabilities",
                remedy="give each document once",
            )
        values = self.probability.values
        if values.size and not (values.min() >= 0.0 and values.max() <= 1.0):
            wrong = ~((values >= 0.0) & (values <= 1.0))
            first = int(np.flatnonzero(wrong.any(axis=(0, 1)))[0])
            topic, docno = (self.probability[name].values[first] for name in ("topic", "docno"))
            raise InputError(
                f"a probability of relevance is outside [0, 1]: {values[wrong][0]:g}, as of "
                f"document {docno} of topic {topic}",
                remedy="give numbers from 0 to 1, none of them NaN",
            )
        frozen = self.probability.copy(deep=False, data=_read_only(values))
        object.__setattr__(self, "probability", frozen)

    @classmethod
    @explains_types
    def from_values(
        cls,
        pool: Pool,
        values: ArrayLike,
        *,
        model: str = "",
        method: str = "",
        grades: GradeDistribution | None = None,
    ) -> Relevance:
        """Label an array of probabilities with a pool's documents.

        Parameters
        ----------
        pool : Pool
        values : array_like of float, shape (documents,), (draw, documents) or with chains first
            Each in [0, 1].
        model, method : str
        grades : GradeDistribution, optional
            :meth:`Judgments.grade_distribution`.

        Raises
        ------
        InputError
            Another shape, or a probability outside [0, 1].

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> rb.Relevance.from_values(pool, [0.9, 0.2], model="mine", method="guess")
        Relevance(2 documents, 1 topic, 1 chain x 1 draw by mine:guess)
        """
        import xarray as xr

        if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
            raise InputError("probabilities are masked", remedy=ONE_EACH)
        try:
            array = np.asarray(values)
        except ValueError:
            raise InputError(
                "probabilities are in rows of unequal length", remedy=ONE_EACH
            ) from None
        if array.dtype.kind not in "fiub":
            raise InputError(f"probabilities are of type {array.dtype}", remedy="give numbers")
        if array.ndim < 3:
            array = np.atleast_2d(array)[None]
        if array.ndim != 3 or array.shape[-1] != pool.n_documents or not all(array.shape[:2]):
            raise InputError(
                f"probabilities of shape {np.shape(values)} for "
                f"{counted(pool.n_documents, 'document')}",
                remedy=ONE_EACH,
            )
        topics = np.array(pool.topics, dtype=object)[pool.topic_of]
        probability = xr.DataArray(
            array,
            dims=("chain", "draw", "document"),
            coords={
                "chain": np.arange(array.shape[0]),
                "draw": np.arange(array.shape[1]),
                "document": np.arange(array.shape[2]),
                "topic": ("document", topics),
                "docno": ("document", pool.docnos),
            },
            name="p",
        )
        return cls(probability, model=model, method=method, grades=grades)

    @classmethod
    @explains_types
    def from_erels(
        cls,
        pool: Pool,
        erels: Probabilities,
        *,
        qrels: Qrels | None = None,
        default_p: float | None = None,
        relevance_level: int | None = None,
    ) -> Relevance:
        """Take listed probabilities, overridden by judgments; the rest gets a default.

        Parameters
        ----------
        pool : Pool
        erels : Probabilities
        qrels : Qrels, optional
            Judged documents have probability 0 or 1, and keep their grade.
        default_p : float, optional
            Probability in [0, 1] of the pool's documents that are listed nowhere. Where more than
            a tenth of them are, there is no default; else it is .5, and a warning says of how many.
        relevance_level : int, optional
            The lowest relevant grade; by default the level that the qrels name, or 1.

        Warns
        -----
        CollectionWarning
            Documents that are listed nowhere, and no `default_p`.

        Raises
        ------
        InputError
            No topic in common, a default outside [0, 1], or none for too many documents.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> listed = rb.Probabilities({"1": {"b": 0.75}})
        >>> rb.Relevance.from_erels(pool, listed, default_p=0.1).values
        array([[0.1 , 0.75]])
        """
        level = level_of(Qrels({}) if qrels is None else qrels, relevance_level)
        if qrels is None and relevance_level is not None:
            raise InputError(
                "a relevance level says nothing without judgments",
                remedy="give qrels, or leave relevance_level out",
            )
        if default_p is not None and not 0.0 <= default_p <= 1.0:
            raise InputError(
                f"default probability {default_p} is outside [0, 1]", remedy="give one from 0 to 1"
            )
        listed: dict[str, dict[str, float]] = {topic: dict(p) for topic, p in erels.items()}
        for topic, grades in (qrels or {}).items():
            labels = {d: float(g >= level) for d, g in grades.items() if g >= 0}
            listed[topic] = {**listed.get(topic, {}), **labels}
        shared = shared_topics(pool.topics, listed, erels.path, what="probabilities", say=False)
        every = pool.with_documents({topic: listed[topic] for topic in shared})
        values = np.full(every.n_documents, 0.5 if default_p is None else default_p)
        n_default = len(values) - sum(len(listed[topic]) for topic in shared)
        if n_default and default_p is None:
            lacking = (
                f"no listed probability for {n_default:,} of "
                f"{counted(pool.n_documents, 'document')} of the pool"
            )
            if n_default > _FEW_UNLISTED * pool.n_documents:
                raise InputError(
                    lacking,
                    path=erels.path or None,
                    remedy="say which it is (default_p= or --default-p), pool no deeper than is "
                    "listed (scope pool and a depth), or give the labels themselves (fit(..., "
                    "labels=) or --labels), so that a model predicts what has none",
                )
            warn(f"{lacking}: taken as 0.5 (say another: default_p= or --default-p)")
        for topic in shared:
            values[every.locate(topic, listed[topic])] = list(listed[topic].values())
        distribution = None
        if qrels is not None:
            distribution = GradeDistribution.from_qrels(
                qrels, relevance_level=level, heights=heights_of(pool)
            )
        return cls.from_values(every, values, model="erels", method="given", grades=distribution)

    @property
    def values(self) -> NDArray[np.float64]:
        """Probabilities as an array of shape (draws of all chains, documents)."""
        return np.ascontiguousarray(self._draws, dtype=np.float64)

    @property
    def _draws(self) -> NDArray[np.floating]:
        """The same as stored: an array in a file (numpy.memmap) stays there."""
        array = self.probability.values
        return array.reshape(self.n_draws, array.shape[-1])

    @property
    def n_draws(self) -> int:
        """Number of draws over all chains; 1 for a point estimate."""
        return int(self.probability.sizes["chain"] * self.probability.sizes["draw"])

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics in natural order."""
        return natural_order(str(t) for t in self.probability["topic"].values)

    @explains_types
    def on(self, pool: Pool, *, nonrelevant: bool = False) -> tuple[Pool, NDArray[np.floating]]:
        """Line the probabilities up with a pool.

        Parameters
        ----------
        pool : Pool
        nonrelevant : bool
            Whether documents that only the relevance knows count though they are certainly not
            relevant, as bpref counts them.

        Returns
        -------
        pool : Pool
            The pool, with the documents that only the relevance knows and that may be
            relevant: they count in R.
        values : ndarray of float, shape (draws, documents)

        Raises
        ------
        InputError
            A document of the pool has no probability.
        """
        topics = self.probability["topic"].values
        docnos = self.probability["docno"].values
        values = self._draws
        same = len(docnos) == pool.n_documents and bool(
            np.array_equal(docnos, pool.docnos)
            and np.array_equal(topics, np.array(pool.topics, dtype=object)[pool.topic_of])
        )
        if same:
            return pool, values
        possible = (values.max(axis=0) > 0.0) | nonrelevant
        if self.grades is not None:
            # a judged document below the relevance level has a gain all the same
            judged = self.grades.judged
            graded = (judged.get(t, {}).get(d, 0) > 0 for t, d in zip(topics, docnos, strict=True))
            possible |= np.fromiter(graded, dtype=bool, count=len(docnos))
        starts = np.flatnonzero(np.concatenate([[True], topics[1:] != topics[:-1]]))
        stops = np.concatenate([starts[1:], [len(topics)]])
        spans = {str(topics[a]): slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True)}
        shared = [topic for topic in pool.topics if topic in spans]
        extended = pool.with_documents({t: docnos[spans[t]][possible[spans[t]]] for t in shared})
        aligned = np.full((len(values), extended.n_documents), np.nan)
        for topic in shared:
            place = extended.locate(topic, docnos[spans[topic]])
            aligned[:, place[place >= 0]] = values[:, spans[topic]][:, place >= 0]
        unknown = np.flatnonzero(np.isnan(aligned[0]))
        if len(unknown):
            first = unknown[0]
            raise InputError(
                f"no probability for {counted(len(unknown), 'document')} of the pool, first "
                f"{extended.docnos[first]} of topic {extended.topics[extended.topic_of[first]]}",
                remedy="fit the model to the pool of these runs, at this depth",
            )
        return extended, aligned

    def to_probabilities(self) -> Probabilities:
        """Return the mean over draws as probabilities that an erels file holds."""
        topics, docnos = (map(str, self.probability[name].values) for name in ("topic", "docno"))
        mean = self.values.mean(axis=0).tolist()
        return Probabilities(by_topic(zip(topics, docnos, mean, strict=True)))

    def to_xarray(self) -> xr.Dataset:
        """Return a labelled data set with the variable p."""
        data = self.probability.to_dataset(name="p")
        data = data.assign_coords(
            topic=("document", self.probability["topic"].values.astype(str)),
            docno=("document", self.probability["docno"].values.astype(str)),
        )
        data.attrs.update(model=self.model, method=self.method)
        return data if self.grades is None else data.merge(self.grades.to_xarray())

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Self:
        """Rebuild from :meth:`to_xarray`'s data set, whose array becomes read-only.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> rb.Relevance.from_xarray(rb.Relevance.from_values(pool, [0.5, 1.0]).to_xarray())
        Relevance(2 documents, 1 topic, 1 chain x 1 draw)
        """
        check_holds(data, ("p", *_LABELS), "relevance")
        # taken over, not copied: draws of a large collection fill memory once
        freeze(data["p"].values)
        names = {c: np.array([str(x) for x in data[c].values], dtype=object) for c in _LABELS}
        probability = data["p"].assign_coords({c: ("document", v) for c, v in names.items()})
        return cls(
            probability,
            model=data.attrs["model"],
            method=data.attrs["method"],
            grades=GradeDistribution.from_xarray(data),
        )

    def __repr__(self) -> str:
        sizes: Mapping[object, int] = self.probability.sizes
        source = f" by {self.model}:{self.method}" if self.model else ""
        return (
            f"Relevance({counted(sizes['document'], 'document')}, "
            f"{counted(len(self.topics), 'topic')}, "
            f"{counted(sizes['chain'], 'chain')} x {counted(sizes['draw'], 'draw')}{source})"
        )


def _read_only(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return an array that cannot be written to: what is in a file as it is, else a copy."""
    if not values.flags.writeable:
        return values
    source: object = values
    while isinstance(source, np.ndarray) and not isinstance(source, np.memmap):
        source = source.base
    frozen = values.view() if isinstance(source, np.memmap) else values.copy()
    freeze(frozen)
    return frozen


_LABELS = ("topic", "docno")
# the largest share of a pool's documents without a listed probability that is taken as 0.5
_FEW_UNLISTED = 0.1


class HasRelevance(Protocol):
    """A fit, or whatever else holds probabilities of relevance."""

    @property
    def relevance(self) -> Relevance:
        """Probabilities of relevance."""


def as_relevance(source: object) -> Relevance:
    """Return the probabilities of relevance that are given, or those of a fit.

    Parameters
    ----------
    source : Relevance or Fit

    Raises
    ------
    InputError
        Anything else.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4).runs, depth=5)
    >>> relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    >>> as_relevance(relevance) is relevance
    True
    """
    if isinstance(source, Relevance):
        return source
    relevance = getattr(source, "relevance", None)
    if isinstance(relevance, Relevance):
        return relevance
    raise InputError(
        f"{with_article(type(source).__name__)} is not a relevance of documents",
        remedy=_remedy(source),
    )


def _remedy(source: object) -> str:
    """Say how to come by a relevance of documents, from what was given for one."""
    if isinstance(source, str | PurePath):
        return (
            "load a fit, rb.Fit.load(FILE), or take listed probabilities: "
            "rb.Relevance.from_erels(pool, rb.read_erels(FILE))"
        )
    if isinstance(source, Probabilities):
        return "give rb.Relevance.from_erels(pool, probabilities)"
    if callable(getattr(source, "probabilities", None)):
        return "give rb.Relevance.from_erels(pool, aggregate.probabilities())"
    return (
        "give rb.fit(pool, rb.Judgments.from_qrels(pool, qrels)) with pool = "
        "rb.Pool.from_runs(runs), or of probabilities rb.Relevance.from_values(pool, values)"
    )


def spaced(draws: int, count: int) -> NDArray[np.int64]:
    """Return the numbers of `count` of so many draws, evenly spaced from the first.

    Parameters
    ----------
    draws, count : int
        `count` is `draws` at most.

    Examples
    --------
    >>> spaced(10, 4).tolist()
    [0, 2, 5, 7]
    """
    return np.arange(count) * draws // count
