"""Probabilities of relevance, with dims chain, draw and document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.order import natural_order
from rtc_bayes.collection.pool import Pool
from rtc_bayes.collection.qrels import Probabilities, Qrels
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import xarray as xr


class Relevance:
    """Probabilities of relevance of documents, as draws or as one point estimate.

    A point estimate has one chain and one draw, so that whatever follows is written once.

    Parameters
    ----------
    probability : DataArray
        Dims chain, draw, document, values in [0, 1]; coordinates topic and docno over
        document, topics contiguous.
    model : str
        The relevance model.
    method : str
        How it was fitted.

    Raises
    ------
    InputError
        Other dims, or a probability outside [0, 1].
    """

    def __init__(self, probability: xr.DataArray, *, model: str = "", method: str = "") -> None:
        if probability.dims != ("chain", "draw", "document"):
            raise InputError(f"relevance has dims {probability.dims}, not chain, draw, document")
        values = probability.values
        if values.size and not (values.min() >= 0.0 and values.max() <= 1.0):
            raise InputError("a probability of relevance is outside [0, 1]")
        self.probability = probability
        self.model = model
        self.method = method

    @classmethod
    def from_values(
        cls, pool: Pool, values: NDArray[np.floating], *, model: str = "", method: str = ""
    ) -> Relevance:
        """Label an array of probabilities with a pool's documents.

        Parameters
        ----------
        pool : Pool
        values : ndarray of float, shape (documents,) or (chain, draw, documents)
        model, method : str
        """
        import xarray as xr

        array = np.asarray(values)
        if array.ndim == 1:
            array = array[None, None, :]
        if array.ndim != 3 or array.shape[-1] != pool.n_documents:
            raise InputError(
                f"probabilities of shape {np.shape(values)} for {pool.n_documents} documents"
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
        return cls(probability, model=model, method=method)

    @classmethod
    def from_erels(
        cls,
        pool: Pool,
        erels: Probabilities,
        *,
        qrels: Qrels | None = None,
        default_p: float = 0.5,
        relevance_level: int = 1,
    ) -> Relevance:
        """Take listed probabilities, overridden by judgments; the rest gets a default.

        Parameters
        ----------
        pool : Pool
        erels : Probabilities
        qrels : Qrels, optional
            Judged documents have probability 0 or 1.
        default_p : float
            Probability in [0, 1] of the pool's documents that are listed nowhere.
        relevance_level : int
            The lowest relevant grade.

        Raises
        ------
        InputError
            No topic in common, or a default outside [0, 1].
        """
        if not 0.0 <= default_p <= 1.0:
            raise InputError(f"default probability {default_p} is outside [0, 1]")
        known: dict[str, dict[str, float]] = {topic: dict(p) for topic, p in erels.items()}
        for topic, grades in (qrels or {}).items():
            labels = {d: float(g >= relevance_level) for d, g in grades.items() if g >= 0}
            known[topic] = {**known.get(topic, {}), **labels}
        shared = [topic for topic in known if topic in set(pool.topics)]
        if not shared:
            raise InputError(
                "no topic in common between the runs and the probabilities",
                path=erels.path or None,
                remedy="give the probabilities of these runs' topics",
            )
        whole = pool.with_documents({topic: known[topic] for topic in shared})
        values = np.full(whole.n_documents, default_p)
        for topic in shared:
            values[whole.locate(topic, known[topic])] = list(known[topic].values())
        return cls.from_values(whole, values, model="erels", method="given")

    @property
    def values(self) -> NDArray[np.float64]:
        """Probabilities as an array of shape (draws of all chains, documents)."""
        return np.ascontiguousarray(self._draws, dtype=np.float64)

    @property
    def _draws(self) -> NDArray[np.floating]:
        """The same as stored: an array in a file (numpy.memmap) stays there."""
        array = self.probability.values
        return array.reshape(-1, array.shape[-1])

    @property
    def n_draws(self) -> int:
        """Number of draws over all chains; 1 for a point estimate."""
        return int(self.probability.sizes["chain"] * self.probability.sizes["draw"])

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics in natural order."""
        return natural_order(str(t) for t in self.probability["topic"].values)

    def on(self, pool: Pool) -> tuple[Pool, NDArray[np.floating]]:
        """Line the probabilities up with a pool.

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
        possible = values.max(axis=0) > 0.0
        starts = np.flatnonzero(np.concatenate([[True], topics[1:] != topics[:-1]]))
        stops = np.concatenate([starts[1:], [len(topics)]])
        spans = {str(topics[a]): slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True)}
        shared = [topic for topic in pool.topics if topic in spans]
        whole = pool.with_documents({t: docnos[spans[t]][possible[spans[t]]] for t in shared})
        aligned = np.full((len(values), whole.n_documents), np.nan)
        for topic in shared:
            place = whole.locate(topic, docnos[spans[topic]])
            aligned[:, place[place >= 0]] = values[:, spans[topic]][:, place >= 0]
        unknown = np.flatnonzero(np.isnan(aligned[0]))
        if len(unknown):
            first = unknown[0]
            raise InputError(
                f"{len(unknown)} documents of the pool have no probability, first "
                f"{whole.docnos[first]} of topic {whole.topics[whole.topic_of[first]]}",
                remedy="fit the model to the pool of these runs, at this depth",
            )
        return whole, aligned

    def to_probabilities(self) -> Probabilities:
        """Return the mean over draws as probabilities that an erels file holds."""
        table: dict[str, dict[str, float]] = {}
        mean = self.values.mean(axis=0)
        topics, docnos = self.probability["topic"].values, self.probability["docno"].values
        for topic, docno, p in zip(topics, docnos, mean, strict=True):
            table.setdefault(str(topic), {})[str(docno)] = float(p)
        return Probabilities(table)

    def to_xarray(self) -> xr.Dataset:
        """Return a labelled data set with the variable p."""
        data = self.probability.to_dataset(name="p")
        data = data.assign_coords(
            topic=("document", self.probability["topic"].values.astype(str)),
            docno=("document", self.probability["docno"].values.astype(str)),
        )
        data.attrs.update(model=self.model, method=self.method)
        return data

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Relevance:
        """Rebuild from :meth:`to_xarray`'s data set."""
        names = {c: np.array([str(x) for x in data[c].values], dtype=object) for c in _LABELS}
        probability = data["p"].assign_coords({c: ("document", v) for c, v in names.items()})
        return cls(probability, model=data.attrs["model"], method=data.attrs["method"])

    def save(self, path: str | Path) -> None:
        """Write to a netCDF file."""
        from rtc_bayes.store.datasets import write_dataset

        write_dataset(self.to_xarray(), path)

    @classmethod
    def load(cls, path: str | Path) -> Relevance:
        """Read from a netCDF file."""
        from rtc_bayes.store.datasets import read_dataset

        return cls.from_xarray(read_dataset(path))

    def __repr__(self) -> str:
        sizes: Mapping[object, int] = self.probability.sizes
        source = f" by {self.model}:{self.method}" if self.model else ""
        return (
            f"Relevance({sizes['document']} documents, {len(self.topics)} topics, "
            f"{sizes['chain']} chains x {sizes['draw']} draws{source})"
        )


_LABELS = ("topic", "docno")


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
    >>> pool = rb.Pool.from_runs(rb.simulate(topics=3, systems=4).runs, depth=5)
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
        f"a {type(source).__name__} is not a relevance of documents",
        remedy="give a Relevance, or the Fit that rtc_bayes.fit returned",
    )
