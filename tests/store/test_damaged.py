"""Damaged files of data sets: refused, or read as they were; never otherwise."""

import os

import numpy as np
import pytest
import xarray as xr

from rtc_bayes.errors import InputError
from rtc_bayes.store import read_dataset, read_tree, write_dataset


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    return xr.Dataset(
        {
            "p": (("draw", "document"), rng.random((4, 30)).astype(np.float32)),
            "name": ("document", [f"d{i}" for i in range(30)]),
            "flag": ("document", rng.random(30) < 0.5),
        },
        attrs={"model": "rtc", "systems": ["one", "two"], "note": ""},
    )


# h5netcdf remarks on files that it could not open when they are collected
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_changed_bytes_are_refused_or_change_nothing(data, tmp_path):
    path = tmp_path / "a.nc"
    write_dataset(data, path)
    sound = path.read_bytes()
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(150):
        damaged = bytearray(sound)
        for place in rng.integers(0, len(sound), 3):
            damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(damaged[: rng.choice([len(damaged), len(damaged) // 2])]))
        try:
            xr.testing.assert_identical(read_dataset(path), data)
        except InputError as error:
            assert error.path == str(path)  # noqa: PT017
            refused += 1
    assert refused > 75


def test_other_content_under_the_same_digest_is_refused(data, tmp_path):
    import h5py

    path = tmp_path / "a.nc"
    write_dataset(xr.DataTree.from_dict({"/inside": data}), path)
    assert "content_digest" not in read_tree(path).attrs
    with h5py.File(path, "r+") as file:
        file["inside/p"][0, 0] += 0.25
    with pytest.raises(InputError, match="is damaged"):
        read_tree(path)


@pytest.mark.parametrize("read", [read_dataset, read_tree])
def test_a_folder_is_no_file(tmp_path, read):
    with pytest.raises(InputError, match=r"is a folder, and nothing that was saved; name a file"):
        read(tmp_path)


def test_zarr_is_held_to_its_digest_too(data, tmp_path):
    import zarr

    path = tmp_path / "a.zarr"
    write_dataset(data, path)
    xr.testing.assert_identical(read_dataset(path), data)
    zarr.open(str(path), mode="r+")["p"][0, 0] = 9.0
    with pytest.raises(InputError, match="is damaged"):
        read_dataset(path)


@pytest.mark.parametrize("name", ["a.nc", "a.zarr"])
def test_what_carries_no_digest_is_refused(data, tmp_path, name):
    path = tmp_path / name
    if name == "a.nc":
        data.to_netcdf(path, engine="h5netcdf")
    else:
        data.to_zarr(path, zarr_format=2, consolidated=True)
    for read in (read_dataset, read_tree):
        with pytest.raises(InputError, match=r"no digest .* fit again") as caught:
            read(path)
        assert caught.value.path == str(path)


def test_no_damaged_byte_of_a_zarr_folder_is_decoded(data, tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    write_dataset(data, path)
    sound = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert len(sound) > 5
    opened = []
    monkeypatch.setattr(xr, "open_dataset", lambda *_, **__: opened.append(1))
    for file, content in sound.items():
        for damaged in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), b""):
            file.write_bytes(damaged)
            with pytest.raises(InputError, match=r"is damaged|can be read"):
                read_dataset(path)
        file.unlink()
        with pytest.raises(InputError, match=r"is damaged|no digest"):
            read_dataset(path)
        file.write_bytes(content)
    assert not opened
    monkeypatch.undo()
    xr.testing.assert_identical(read_dataset(path), data)


def test_a_zarr_folder_is_there_when_its_replacement_is_interrupted(data, tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    write_dataset(data, path)
    into_place, replace = [], os.replace

    def interrupted(source, target):
        # zarr moves its own files in threads
        if target == path:
            into_place.append(source)
            if len(into_place) == 1:
                raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_dataset(data.isel(draw=[1]), path)
    xr.testing.assert_identical(read_dataset(path), data)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zarr"]
