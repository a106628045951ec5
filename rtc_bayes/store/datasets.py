"""Labelled data on disk: netCDF files that are either whole or absent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import atomic_path

if TYPE_CHECKING:
    import xarray as xr


def write_dataset(data: xr.Dataset | xr.DataTree, path: str | Path) -> None:
    """Write a data set or a tree to a netCDF file, atomically.

    Parameters
    ----------
    data : Dataset or DataTree
    path : str or Path
        An existing file is replaced once the new one is complete.
    """
    with atomic_path(path) as partial:
        data.to_netcdf(partial, engine="h5netcdf")


def read_dataset(path: str | Path) -> xr.Dataset:
    """Read a data set into memory.

    Raises
    ------
    InputError
        The file is absent or not netCDF.
    """
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="h5netcdf") as data:
            return data.load()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_tree(path: str | Path) -> xr.DataTree:
    """Read a tree of data sets into memory.

    Raises
    ------
    InputError
        The file is absent or not netCDF.
    """
    import xarray as xr

    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            return tree.load()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str | Path, error: Exception) -> InputError:
    if not Path(path).exists():
        return InputError("no such file", path=path)
    return InputError(
        f"not a netCDF file that can be read ({error})",
        path=path,
        remedy="give a file that rtc-bayes wrote",
    )
