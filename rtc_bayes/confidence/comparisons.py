"""Comparisons of the same systems by several measures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.comparison_texts import cautions
from rtc_bayes.confidence.page_and_tables import PageAndTables
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import MeasureLike, name_among
from rtc_bayes.store import json_of, read_tree, write_csv, write_dataset
from rtc_bayes.store.saved import naming
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_FORMAT = "rtc_bayes comparisons 1"


class Comparisons(dict[str, Comparison], PageAndTables, Shown):
    """Comparisons by the names of their measures, found by any way to write one.

    Made by :func:`rtc_bayes.compare` of a list of measures. :meth:`save` writes all of them so
    that :meth:`load` brings them back; :meth:`to_html`, :meth:`to_latex`, :meth:`to_markdown`,
    :meth:`to_csv` and :meth:`to_json` write what people and other programs read.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
    >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
    >>> by = rb.compare(pool, relevance, ["AP", "RBP(p=0.8)"])
    >>> list(by), by["RBP(p=0.8)"] is by["RBP"]
    (['AP', 'RBP'], True)
    >>> list(by.systems_frame().columns)
    ['measure', 'system', 'expected', 'sd']
    """

    def _name(self, measure: Any) -> Any:
        """Return the key that is meant, or what was asked for."""
        levels = (each.meta.get("relevance_level") for each in self.values())
        level = next((int(str(of)) for of in levels if of), 1)
        name = name_among(self, measure, level)
        return measure if name is None else name

    def __contains__(self, measure: object) -> bool:
        return super().__contains__(self._name(measure))

    def __getitem__(self, measure: MeasureLike) -> Comparison:
        try:
            return super().__getitem__(self._name(measure))
        except KeyError:
            raise InputError(
                f"{str(measure)!r} was not compared by", remedy=f"compared by: {', '.join(self)}"
            ) from None

    def get(self, measure: MeasureLike, default: Any = None) -> Any:
        """Return the comparison by a measure, or else the default."""
        return super().get(self._name(measure), default)

    def __repr__(self) -> str:
        first = next(iter(self.values()), None)
        systems = 0 if first is None else len(first.systems)
        title = f"Comparisons({counted(systems, 'system')} by {', '.join(self) or 'nothing'})"
        return "\n".join([title, *(f"  {text}" for text in cautions([*self.values()]))])

    def to_frame(self) -> pd.DataFrame:
        """Return :meth:`Comparison.to_frame` of each measure, with the measure first."""
        return _stacked({name: each.to_frame() for name, each in self.items()})

    def systems_frame(self) -> pd.DataFrame:
        """Return :meth:`Comparison.systems_frame` of each measure, with the measure first."""
        return _stacked({name: each.systems_frame() for name, each in self.items()})

    def to_csv(self, path: str | Path) -> None:
        """Write the pairs by every measure as CSV, as the command does, and ``meta`` beside it."""
        write_csv(self.to_frame(), path, self._meta())

    def to_json(self, path: str | Path | None = None) -> str:
        """Return a list of :meth:`Comparison.to_dict` as JSON, and write it if a path is given.

        Examples
        --------
        >>> import json
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
        >>> made = json.loads(rb.compare(pool, relevance, ["AP", "P@5"]).to_json())
        >>> [each["measure"] for each in made]
        ['AP', 'P@5']
        """
        return json_of([each.to_dict() for each in self.values()], path)

    def _meta(self) -> dict[str, Any]:
        """Return what is kept beside every measure alike."""
        first, *others = (each.meta for each in self.values())
        return {k: v for k, v in first.items() if all(k in o and o[k] == v for o in others)}

    @property
    def _by_measure(self) -> tuple[Comparison, ...]:
        return tuple(self.values())

    def to_datatree(self) -> xr.DataTree:
        """Return :meth:`Comparison.to_xarray` of each measure, as a tree with a group for each.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
        >>> tree = rb.compare(pool, relevance, ["AP", "P@5"]).to_datatree()
        >>> tree["P@5"]["expected"].sizes["system"]
        3
        """
        import xarray as xr

        tree = xr.DataTree.from_dict({f"/{name}": each.to_xarray() for name, each in self.items()})
        # a file gives its groups in the order of the alphabet
        tree.attrs = {"format": _FORMAT, "measures": json.dumps([*self])}
        return tree

    @classmethod
    def from_datatree(cls, tree: xr.DataTree) -> Self:
        """Return the comparisons that :meth:`to_datatree` laid out, as :meth:`load` does.

        Raises
        ------
        InputError
            It holds something else.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
        >>> by = rb.compare(pool, relevance, ["P@5", "AP"])
        >>> list(rb.Comparisons.from_datatree(by.to_datatree()))
        ['P@5', 'AP']
        """
        if tree.attrs.get("format") != _FORMAT:
            raise InputError(
                "these are no comparisons by several measures",
                remedy="give what their save wrote; Comparison.load loads a comparison by one",
            )
        names = json.loads(tree.attrs["measures"])
        return cls({name: Comparison.from_xarray(tree[name].to_dataset()) for name in names})

    def save(self, path: str | Path) -> None:
        """Write all measures to one netCDF file, or to a zarr folder (a path ending in ``.zarr``).

        Raises
        ------
        InputError
            An ending of another kind of file, as ``.csv``.
        """
        write_dataset(self.to_datatree(), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        The comparisons hold every number, and answer no new questions: see
        :meth:`Comparison.from_xarray`.

        Raises
        ------
        InputError
            There is no such file, or it cannot be read, or it holds something else.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
        >>> by = rb.compare(pool, relevance, ["P@5", "AP"])
        >>> by.save("compared.nc")
        >>> rb.Comparisons.load("compared.nc").to_json() == by.to_json()
        True
        """
        tree = read_tree(path)
        with naming(path):
            return cls.from_datatree(tree)


def stacked(measures: Sequence[str], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put the frames of measures under one another, with the measure if there are several."""
    return frames[0] if len(frames) == 1 else _stacked(dict(zip(measures, frames, strict=True)))


def _stacked(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    every = pd.concat(frames, names=["measure"])
    return every.reset_index("measure").reset_index(drop=True)
