"""What every test may use: the real data, and property tests that do not change between runs."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

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
