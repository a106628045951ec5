"""The cache of parsed runs: the same runs again, whatever is done to the files or the folder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import rtc_bayes as rb
from rtc_bayes.collection.cache import RunCache
from rtc_bayes.errors import InputError

LINES = "1 Q0 b 1 2.5 one\n1 Q0 a 2 2.5 one\n1 Q0 c 3 1 one\n2 Q0 é 1 -inf one\n"


@pytest.fixture(autouse=True)
def no_cache_of_the_user(monkeypatch):
    monkeypatch.delenv("RTC_BAYES_CACHE", raising=False)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "one").write_text(LINES)
    (folder / "two").write_text("2 Q0 a 1 7 two\n")
    return folder


def content(runs):
    return [
        (
            run.tag,
            run.path,
            run.digest,
            topic,
            run.ranking(topic).tolist(),
            run.scores(topic).tolist(),
        )
        for run in runs.values()
        for topic in run.topics
    ]


def parsed(monkeypatch):
    """Count the files that are parsed."""
    counted = []
    read = rb.collection.run_reading._read_run
    monkeypatch.setattr(
        rb.collection.run_reading, "_read_run", lambda *args: counted.append(args[0]) or read(*args)
    )
    return counted


@pytest.mark.parametrize("how", [{}, {"depth": 1}, {"order": "rank"}, {"name_by": "file"}], ids=str)
def test_the_second_time_gives_the_same_runs_without_parsing(folder, tmp_path, monkeypatch, how):
    counted = parsed(monkeypatch)
    cache = tmp_path / "cache"
    plain = rb.read_runs(folder, **how)
    made = rb.read_runs(folder, cache=cache, **how)
    assert len(counted) == 4
    again = rb.read_runs(folder, cache=cache, **how)
    assert len(counted) == 4
    assert content(plain) == content(made) == content(again)
    assert not again["one"].scores("1").flags.writeable


def test_what_decides_the_result_has_an_entry_of_its_own(folder, tmp_path):
    cache = tmp_path / "cache"
    for how in ({}, {"depth": 1}, {"order": "rank"}, {"name_by": "file"}):
        rb.read_runs(folder, cache=cache, **how)
    assert len(list(cache.iterdir())) == 4
    (folder / "one").write_text(LINES.replace("2.5", "3.5"))
    assert rb.read_runs(folder, cache=cache)["one"].scores("1").tolist() == [3.5, 3.5, 1.0]
    (folder / "two").rename(folder / "zwei")
    assert rb.read_runs(folder, cache=cache, name_by="file").systems == ("one", "zwei")


def test_files_given_together_are_one_entry(folder, tmp_path):
    cache = tmp_path / "cache"
    frame = pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
    runs = rb.read_runs(folder / "one", folder / "two", frame, cache=cache)
    assert runs.systems == ("one", "two", "run")
    assert len(list(cache.iterdir())) == 1
    again = rb.read_runs(folder, frame, cache=cache)
    assert content(again) == content(runs)
    assert len(list(cache.iterdir())) == 1


def test_the_environment_names_the_folder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RTC_BAYES_CACHE", str(tmp_path / "cache"))
    rb.read_runs(folder)
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    "damage", [lambda intact: intact[:100], lambda _: b"", lambda _: b"x" * 99]
)
def test_a_damaged_entry_is_made_again(folder, tmp_path, damage):
    cache = tmp_path / "cache"
    before = rb.read_runs(folder, cache=cache)
    (entry,) = cache.iterdir()
    intact = entry.read_bytes()
    entry.write_bytes(damage(intact))
    assert content(rb.read_runs(folder, cache=cache)) == content(before)
    assert content(rb.read_runs(folder, cache=cache)) == content(before)
    assert len(entry.read_bytes()) == len(intact)


def test_errors_are_those_of_the_files_and_of_the_folder(folder, tmp_path):
    cache = tmp_path / "cache"
    with pytest.raises(InputError, match="no such file"):
        rb.read_runs(folder / "three", cache=cache)
    (folder / "two").write_text("2 Q0 a 1\n")
    with pytest.raises(InputError, match="4 fields"):
        rb.read_runs(folder, cache=cache)
    assert not cache.exists()
    with pytest.raises(InputError, match=r"cannot be written .*RTC_BAYES_CACHE"):
        rb.read_runs(folder / "one", cache=folder / "two" / "cache")
    assert repr(RunCache("here")) == "RunCache('here')"


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
RANKINGS = st.dictionaries(NAMES, st.lists(NAMES, unique=True, min_size=1, max_size=6), min_size=1)


@given(st.dictionaries(NAMES, RANKINGS, min_size=1, max_size=3))
def test_any_runs_round_trip(tmp_path_factory, systems):
    folder = tmp_path_factory.mktemp("cache")
    runs = [rb.Run.from_rankings(tag, rankings) for tag, rankings in systems.items()]
    paths = []
    for number, run in enumerate(runs):
        paths.append(folder / str(number))
        paths[-1].write_text(run.tag)
    cache = RunCache(folder)
    entry = cache.entry(paths, [])
    assert cache.load(entry, paths) is None
    cache.store(entry, runs)
    for run, again in zip(runs, cache.load(entry, paths), strict=True):
        assert (run.tag, run.topics, run.digest) == (again.tag, again.topics, again.digest)
        for topic in run.topics:
            assert run.ranking(topic).tolist() == again.ranking(topic).tolist()
            np.testing.assert_array_equal(run.scores(topic), again.scores(topic))
