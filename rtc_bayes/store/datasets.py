"""Labelled data on disk: netCDF files and zarr folders that are either whole or absent."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.errors import InputError
from rtc_bayes.store.files import atomic_write, digest_file, writing

if TYPE_CHECKING:
    import xarray as xr


_CONTENT = "content_digest"
# of the bytes of a zarr folder: damaged ones can bring the process down where they are decoded
_FILES = ".files_digest"
# of netCDF and zarr, and of nothing that is known
_ENDINGS = (".nc", ".nc4", ".netcdf", ".h5", ".zarr", "")


def check_ending(path: str | Path) -> None:
    """Refuse to write a data set under an ending that is not one of netCDF or zarr.

    Examples
    --------
    >>> check_ending("fit.csv")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: fit.csv: netCDF and zarr are written, which this ending is not ...
    """
    if Path(path).suffix.lower() not in _ENDINGS:
        raise InputError(
            "netCDF and zarr are written, which this ending is not for",
            path=path,
            remedy="name a file FILE.nc or a folder FOLDER.zarr",
        )


def write_dataset(data: xr.Dataset | xr.DataTree, path: str | Path) -> None:
    """Write a data set or a tree, atomically: a zarr folder by the ending .zarr, else netCDF.

    It carries a digest of its content, by which reading tells a damaged file.

    Parameters
    ----------
    data : Dataset or DataTree
    path : str or Path
        What stands there is replaced once the new one is complete.

    Raises
    ------
    InputError
        An ending of another kind of file (``.csv``, ``.tex``, ...), the
        folder of `path` does not exist, something other than zarr stands at a .zarr path, or
        it cannot be written: a full disk, a folder without the right to write.

    Examples
    --------
    >>> import xarray as xr
    >>> write_dataset(xr.Dataset({"p": ("document", [0.5, 1.0])}), "out.nc")
    >>> read_dataset("out.nc")["p"].values
    array([0.5, 1. ])
    """
    check_ending(path)
    data = data.copy()
    data.attrs = {**data.attrs, _CONTENT: _digest(data)}
    if is_zarr(path):
        _write_zarr(data, Path(path))
        return
    # HDF5 brings the process down where a disk is full, so the file is made in memory
    content = io.BytesIO()
    data.to_netcdf(content, engine="h5netcdf")
    with atomic_write(path, "wb") as file:
        file.write(content.getvalue())


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
        with writing(path):
            # the third format cannot yet hold texts of fixed length
            data.to_zarr(partial, mode="w", zarr_format=2, consolidated=True)
            (partial / _FILES).write_text(digest_file(partial, ignoring=_FILES), encoding="utf-8")
            if path.exists():
                os.replace(path, old)
            os.replace(partial, path)
    finally:
        if old.exists() and not path.exists():
            os.replace(old, path)
        _remove_folder(partial)
        _remove_folder(old)


def _remove_folder(path: Path) -> None:
    """Remove a folder; threads of zarr may go on writing in it for a while after one failed."""
    for pause in (0.0, 0.05, 0.2, 1.0):
        time.sleep(pause)
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return


def read_dataset(path: str | Path) -> xr.Dataset:
    """Read a data set into memory.

    Raises
    ------
    InputError
        The file is absent, damaged, neither netCDF nor zarr, or without the digest that
        :func:`write_dataset` gives it.

    Examples
    --------
    >>> import xarray as xr
    >>> write_dataset(xr.Dataset({"p": ("document", [0.5, 1.0])}), "out.nc")
    >>> read_dataset("out.nc").sizes["document"]
    2
    """
    import xarray as xr

    return _checked(path, lambda: xr.open_dataset(path, engine=_engine(path)))


def read_tree(path: str | Path) -> xr.DataTree:
    """Read a tree of data sets into memory.

    Raises
    ------
    InputError
        The file is absent, damaged, neither netCDF nor zarr, or without the digest that
        :func:`write_dataset` gives it.

    Examples
    --------
    >>> import xarray as xr
    >>> tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"p": ("document", [0.5, 1.0])})})
    >>> write_dataset(tree, "out.nc")
    >>> read_tree("out.nc")["posterior"]["p"].values
    array([0.5, 1. ])
    """
    import xarray as xr

    return _checked(path, lambda: xr.open_datatree(path, engine=_engine(path)))


def _checked[Data: (xr.Dataset, xr.DataTree)](path: str | Path, opened: Callable[[], Data]) -> Data:
    """Read what is opened, and hold its content to the digest that it was written with."""
    folder = Path(path) if is_zarr(path) else None
    written: str | None = None
    sound, kind = False, ""
    try:
        if folder is not None:
            written = _written_digest(folder)
            sound = written == digest_file(folder, ignoring=_FILES)
        if folder is None or sound or not folder.exists():
            with opened() as file:
                data = file.load()
            written = data.attrs.pop(_CONTENT, None)
            sound = written == _digest(data)
            kind = data.attrs.get("format", "")
    # a damaged file makes its readers fail in any way
    except Exception as error:
        raise _unreadable(path, error) from error
    if written is None:
        raise InputError(
            "carries no digest of its content: an older version or another program wrote it",
            path=path,
            remedy="make it again: fit again, or save it again",
        )
    if not sound and kind:
        # the root of a tree is read as a data set
        raise InputError(
            f"holds something else, or is damaged: {kind}",
            path=path,
            remedy="load it as what it is (Fit.load of a fit, Comparisons.load of comparisons by "
            "several measures), or make it again",
        )
    if not sound:
        raise InputError(
            "is damaged: its content is not what was written", path=path, remedy="make it again"
        )
    return data


def _written_digest(folder: Path) -> str | None:
    """Return the digest that a zarr folder carries of its files, if any."""
    file = folder / _FILES
    return file.read_text(encoding="utf-8") if file.exists() else None


def _digest(data: xr.Dataset | xr.DataTree) -> str:
    """Return a digest of names, dims, values and attributes, the same before and after a disk."""
    import numpy as np
    import xarray as xr

    content = hashlib.sha256()
    groups: dict[str, xr.Dataset | xr.DataTree] = {"/": data}
    if isinstance(data, xr.DataTree):
        groups = {group.path: group for group in data.subtree}
    for path, group in sorted(groups.items()):
        attributes = {
            str(name): np.atleast_1d(value).tolist()
            for name, value in group.attrs.items()
            if name != _CONTENT
        }
        names = sorted(map(str, group.variables))
        content.update(json.dumps([path, attributes, names], sort_keys=True).encode())
        for name in sorted(group.variables, key=str):
            variable = group.variables[name]
            values = np.ascontiguousarray(variable.values)
            content.update(json.dumps([str(name), variable.dims, values.shape]).encode())
            if values.dtype.kind in "OUST":
                content.update("\0".join(map(str, values.ravel().tolist())).encode())
            else:
                content.update(values.dtype.str.encode() + values.tobytes())
    return content.hexdigest()


def _engine(path: str | Path) -> str:
    return "zarr" if is_zarr(path) else "h5netcdf"


def _unreadable(path: str | Path, error: Exception) -> InputError:
    if not Path(path).exists():
        return InputError("no such file", path=path, remedy="check the path")
    if Path(path).is_dir() and not is_zarr(path):
        return InputError(
            "is a folder, and nothing that was saved",
            path=path,
            remedy="name a file in it, or a zarr folder, whose name ends in .zarr",
        )
    return InputError(
        f"not a netCDF file or zarr folder that can be read ({error})",
        path=path,
        remedy="give a file that rtc-bayes wrote",
    )
