import gzip
import json
import os
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from limits import small_files

from rtc_bayes.errors import InputError
from rtc_bayes.store import (
    atomic_path,
    atomic_write,
    digest_file,
    digest_text,
    make_folder,
    meta_path,
    read_json,
    write_csv,
    write_dataset,
    write_json,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_only_when_it_is_whole(tmp_path):
    with atomic_write(tmp_path / "out.txt") as file:
        file.write("topic\n")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_bytes() == b"topic\n"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "out.txt"
    target.write_text("old")

    def write():
        with atomic_write(target) as file:
            file.write("half")
            raise error

    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write()
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_an_error_and_the_device_stays_a_device():
    with pytest.raises(InputError, match="No space left"), atomic_write("/dev/full") as file:
        file.write("x")
    assert not os.path.isfile("/dev/full")


def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    named = pytest.raises(InputError, match=f"{target}: cannot be written: File too large")
    with small_files(10), named, atomic_write(target) as file:
        file.write("x" * 100)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("name", ["out.nc", "out.zarr"])
def test_a_data_set_that_finds_no_room_names_its_path(tmp_path, name):
    data = xr.Dataset({"x": ("row", np.random.default_rng(1).random(100_000))})
    with small_files(1000), pytest.raises(InputError, match=f"{name}: cannot be written"):
        write_dataset(data, tmp_path / name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["out.nc", "out.zarr", "out.csv"])
def test_a_folder_that_may_not_be_written_is_named(tmp_path, name, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path / ".out.partial"))

    monkeypatch.setattr(os, "replace", denied)
    data = xr.Dataset({"x": ("row", np.ones(3))})
    write = partial(write_csv, provenance={}) if name == "out.csv" else write_dataset
    with pytest.raises(InputError, match=rf"{name}: cannot be written: Permission denied; check"):
        write(data.to_dataframe() if name == "out.csv" else data, path=tmp_path / name)


def test_another_file_that_cannot_be_read_is_not_what_is_written(tmp_path):
    with pytest.raises(PermissionError, match="elsewhere"), atomic_write(tmp_path / "out.csv"):
        raise PermissionError(13, "Permission denied", "/elsewhere/in.run")


@pytest.mark.parametrize("folder", ["here", "here/runs"])
def test_a_file_where_a_folder_is_to_be_is_named(tmp_path, folder):
    (tmp_path / "here").write_text("a file")
    with pytest.raises(InputError, match="here: is a file; name a folder"):
        make_folder(tmp_path / folder)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with atomic_write(tmp_path / "link.txt") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_new_files_have_the_usual_permissions(tmp_path):
    with atomic_write(tmp_path / "out.txt") as file:
        file.write("x")
    (tmp_path / "usual.txt").write_text("x")
    assert (tmp_path / "out.txt").stat().st_mode == (tmp_path / "usual.txt").stat().st_mode


def test_gz_is_compressed_to_the_same_bytes_each_time(tmp_path):
    for name in ("a.gz", "b.gz"):
        with atomic_write(tmp_path / name) as file:
            file.write("401 Q0 FT 1 1.0 é\n" * 100)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode().startswith("401 Q0 FT")


def test_bytes_and_paths(tmp_path):
    with atomic_write(tmp_path / "out.bin", "wb") as file:
        file.write(b"\x00\n")
    assert (tmp_path / "out.bin").read_bytes() == b"\x00\n"
    with atomic_path(tmp_path / "out.nc") as path:
        assert path.parent == tmp_path
        assert path.suffix == ".nc"
        path.write_bytes(b"x")
    assert names(tmp_path) == ["out.bin", "out.nc"]
    with pytest.raises(ValueError, match="mode"), atomic_write(tmp_path / "x", "a"):
        pass


def test_where_a_file_cannot_stand(tmp_path):
    with pytest.raises(InputError, match="is a folder"), atomic_write(tmp_path):
        pass
    with pytest.raises(InputError, match="folder does not exist"), atomic_write(tmp_path / "a/b"):
        pass


def test_digests(tmp_path):
    (tmp_path / "x").write_text("abc")
    of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_file(tmp_path / "x") == digest_text("abc") == of_abc


def test_json_takes_numpy_and_keeps_the_order(tmp_path):
    value = {
        "b": np.float64(0.1),
        "a": np.array([1, 2]),
        "none": None,
        "yes": np.bool_(True),
        "nested": ({"x": np.int32(3)},),
    }
    write_json(value, tmp_path / "x.json")
    assert read_json(tmp_path / "x.json") == {
        "b": 0.1,
        "a": [1, 2],
        "none": None,
        "yes": True,
        "nested": [{"x": 3}],
    }
    assert list(read_json(tmp_path / "x.json"))[:2] == ["b", "a"]


@pytest.mark.parametrize("bad", [float("nan"), np.float32("inf"), np.array([0.0, np.nan])])
def test_json_refuses_what_is_not_finite_and_names_the_place(tmp_path, bad):
    with pytest.raises(ValueError, match=r"pairs\[1\]\.sd"):
        write_json({"pairs": [{"sd": 1.0}, {"sd": bad}]}, tmp_path / "x.json")
    assert names(tmp_path) == []


def test_json_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"a": 1,\n oops}')
    with pytest.raises(InputError, match=r"x\.json:2: not JSON"):
        read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_json(tmp_path / "x.json")


def test_csv_carries_its_provenance(tmp_path):
    frame = pd.DataFrame({"system": ["a", "b"], "value": [0.1 + 0.2, np.nan]})
    write_csv(frame, tmp_path / "out.csv", {"seed": 3})
    assert (tmp_path / "out.csv").read_text() == "system,value\na,0.30000000000000004\nb,\n"
    assert json.loads(meta_path(tmp_path / "out.csv").read_text()) == {"seed": 3}
    assert names(tmp_path) == ["out.csv", "out.csv.meta.json"]


def test_a_read_only_file_stays(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("mine")
    path.chmod(0o444)
    read_only = pytest.raises(InputError, match="is read-only; name another file")
    with read_only, atomic_write(path) as file:
        file.write("other")
    assert path.read_text() == "mine"
