"""What every test may use: the real data, and property tests that do not change between runs."""

import installed  # noqa: F401, I001 (before what it decides the place of)

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dask_cluster import Cluster
from hypothesis import settings

from rtc_bayes.collection.simulate import Simulation, simulate

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real collections, named by RTC_BAYES_DATA."""
    folder = os.environ.get("RTC_BAYES_DATA")
    if not folder:
        pytest.skip("RTC_BAYES_DATA does not name a folder of real collections")
    return Path(folder)


@pytest.fixture(scope="session")
def trec8(data: Path) -> Path:
    """Return the folder of the TREC-8 ad hoc runs, qrels and official MAPs."""
    folder = data / "trec8_adhoc"
    if not folder.is_dir():
        pytest.skip("RTC_BAYES_DATA holds no folder trec8_adhoc")
    return folder


@pytest.fixture(scope="session")
def small() -> Simulation:
    """A simulated collection that a trial takes a fraction of a second on."""
    return simulate(n_topics=8, n_systems=8, documents=600, depth=100, seed=3)


@pytest.fixture(scope="module")
def interpreted() -> Iterator[None]:
    """Evaluate graphs without compiling them: for many graphs that are evaluated a few times."""
    import pytensor

    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Cluster]]:
    """Start clusters, with settings as environment variables; all end with the module."""
    with contextlib.ExitStack() as stack:

        def start(**settings: str) -> Cluster:
            fresh = Cluster(tmp_path_factory.mktemp("cluster"), **settings)
            stack.callback(fresh.end)
            return fresh

        yield start
