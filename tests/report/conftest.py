import pytest

from rtc_bayes import Workers
from rtc_bayes.robustness import demo


@pytest.fixture(scope="session")
def shown(tmp_path_factory):
    """A demonstration on a collection of a tenth of the usual size; not to be changed."""
    return demo(
        tmp_path_factory.mktemp("demo"),
        seed=2,
        n_topics=4,
        n_systems=12,
        trials=2,
        workers=Workers(jobs=1),
        command="test",
    )
