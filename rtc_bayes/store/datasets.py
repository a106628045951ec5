"""Labelled data on disk: netCDF files and zarr folders that are either whole or absent."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import atomic_path

if TYPE_CHECKING:
    import xarray as xr


def write_dataset(data: xr.Dataset | xr.DataTree, path: str | Path) -> None:
    """Write a data set or a tree, atomically: a zarr folder by the ending .zarr, else netCDF.

    Parameters
    ----------
    data : Dataset or DataTree
    path : str or Path
        What stands there is replaced once the new one is complete.

    Raises
    ------
    InputError
        The folder of `path` does not exist, or something other than zarr stands at a .zarr path.
    """
    if is_zarr(path):
        _write_zarr(data, Path(path))
        return
    with atomic_path(path) as partial:
        data.to_netcdf(partial, engine="h5netcdf")


def is_zarr(path: str | Path) -> bool:
    """Whether a path names a zarr folder."""
    return Path(path).suffix == ".zarr"


def _write_zarr(data: xr.Dataset | xr.DataTree, path: Path) -> None:
    if not path.resolve().parent.is_dir():
        raise InputError("its folder does not exist", path=path, remedy="make the folder first")
    if path.exists() and not (path / ".zgroup").exists():
        raise InputError("is not a zarr folder", path=path, remedy="name another")
    partial = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.zarr")
    old = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.old")
    try:
        # the third format cannot yet hold texts of fixed length
        data.to_zarr(partial, mode="w", zarr_format=2, consolidated=True)
        if path.exists():
            os.replace(path, old)
        os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def read_dataset(path: str | Path) -> xr.Dataset:
    """Read a data set into memory.

    Raises
    ------
    InputError
        The file is absent, or neither netCDF nor zarr.
    """
    import xarray as xr

    try:
        with xr.open_dataset(path, engine=_engine(path)) as data:
            return data.load()
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(path, error) from error


def read_tree(path: str | Path) -> xr.DataTree:
    """Read a tree of data sets into memory.

    Raises
    ------
    InputError
        The file is absent, or neither netCDF nor zarr.
    """
    import xarray as xr

    try:
        with xr.open_datatree(path, engine=_engine(path)) as tree:
            return tree.load()
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(path, error) from error


def _engine(path: str | Path) -> str:
    return "zarr" if is_zarr(path) else "h5netcdf"


def _unreadable(path: str | Path, error: Exception) -> InputError:
    if not Path(path).exists():
        return InputError("no such file", path=path)
    return InputError(
        f"not a netCDF file or zarr folder that can be read ({error})",
        path=path,
        remedy="give a file that rtc-bayes wrote",
    )
