import pytest

from rtc_bayes import Estimand, Workers
from rtc_bayes.robustness import study


@pytest.fixture(scope="session")
def arguments():
    return {
        "algorithms": ["ip", "mtc", "rtc:map"],
        "trials": 3,
        "n_systems": 4,
        "estimand": Estimand(depth=20),
        "confidence": 0.8,
        "seed": 11,
        "command": "test",
    }


@pytest.fixture(scope="session")
def done(small, arguments, tmp_path_factory):
    """A finished study, run in one process; not to be changed."""
    folder = tmp_path_factory.mktemp("study")
    return study(small.runs, small.qrels, **arguments, workers=Workers(jobs=1), output=folder)
