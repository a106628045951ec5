"""Saving and loading what can be written as a labelled data set."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rtc_bayes.errors import InputError
from rtc_bayes.store.datasets import read_dataset, write_dataset

if TYPE_CHECKING:
    import xarray as xr


class Saved(ABC):
    """What goes to a netCDF file and comes back as it was, by way of an xarray data set.

    Examples
    --------
    >>> import tempfile
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pool.save(f"{folder}/pool.nc")
    ...     rb.Pool.load(f"{folder}/pool.nc")
    Pool(1 system, 1 topic, depth 100, 2 documents)
    """

    @abstractmethod
    def to_xarray(self) -> xr.Dataset:
        """Return a labelled data set that holds everything."""

    @classmethod
    @abstractmethod
    def from_xarray(cls, data: xr.Dataset) -> Self:
        """Rebuild from the data set of :meth:`to_xarray`."""

    def save(self, path: str | Path) -> None:
        """Write to a netCDF file, or to a zarr folder where the path ends in ``.zarr``.

        Raises
        ------
        InputError
            An ending of another kind of file, as ``.csv``.
        """
        write_dataset(self.to_xarray(), path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises
        ------
        InputError
            There is no such file, or it cannot be read, or it holds something else.
        """
        data = read_dataset(path)
        with naming(path):
            return cls.from_xarray(data)


def check_holds(data: xr.Dataset, needed: Iterable[str], what: str) -> None:
    """Refuse a data set that lacks what one made of something saved has.

    Parameters
    ----------
    data : Dataset
    needed : iterable of str
        Names of variables and of attributes.
    what : str
        What was saved.

    Examples
    --------
    >>> import xarray as xr
    >>> check_holds(xr.Dataset(), ["p"], "relevance")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: this data set is no relevance; give what save or to_xarray made
    """
    if not {*needed} <= {*data.variables, *data.attrs}:
        raise InputError(f"this data set is no {what}", remedy="give what save or to_xarray made")


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Name the file in an error of the block that says what is wrong with its content.

    Examples
    --------
    >>> with naming("pool.nc"):
    ...     raise InputError("this data set is no pool", remedy="give one")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: pool.nc: this data set is no pool; give one
    """
    try:
        yield
    except InputError as error:
        raise InputError(error.message, path=path, remedy=error.remedy) from error
