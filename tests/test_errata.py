"""Every example of the errata gives what the page shows, and so do the data it speaks of."""

import doctest
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

PAGE = (Path(__file__).parents[1] / "docs" / "errata.md").read_text()


def test_every_example_gives_what_the_page_shows():
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "errata", "errata.md", 0)
    assert sum(bool(example.want) for example in test.examples) >= 20
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.fixture
def scores():
    folder = os.environ.get("RTC_BAYES_DATA")
    if folder is None:
        pytest.skip("RTC_BAYES_DATA does not name a folder of real collections")
    return Path(folder) / "score_matrices"


def test_the_variability_of_two_runs_of_robust_2004(scores):
    """Table F.1: uogRobSWR5 and NLPR04clus10, queries 351 to 450 and 601 to 700."""
    table = pd.read_csv(scores / "robust2004_ap.csv").set_index("topic")
    kept = table.loc[[t for t in table.index if 351 <= t <= 450 or 601 <= t <= 700]]
    one, other = kept["sys98"], kept["sys55"]
    assert len(kept) == 199
    assert [round(x.std(), 2) for x in (one, other)] == [0.24, 0.20]
    assert 2 * stats.f.sf(one.var() / other.var(), 198, 198) == pytest.approx(0.0078, abs=5e-5)
    for center, shown in (("mean", 0.0004), ("median", 0.0008)):
        p = stats.levene(one, other, center=center).pvalue
        assert p == pytest.approx(shown, abs=5e-5), center
    assert stats.ttest_rel(one, other).pvalue == pytest.approx(0.966, abs=5e-4)


def test_random_queries_of_trec_8(scores):
    """Table 6.1: a mean over 1000 subsets has a standard error of .0012 at most."""
    table = pd.read_csv(scores / "adhoc8_ap.csv").to_numpy()
    rng, means, shown = np.random.default_rng(1), table.mean(axis=0), []
    for size in (10, 20, 30):
        subsets = [rng.choice(50, size, replace=False) for _ in range(1000)]
        taus = [stats.kendalltau(means, table[s].mean(axis=0)).statistic for s in subsets]
        shown.append(np.mean(taus))
    assert table.shape == (50, 129)
    assert shown == pytest.approx([0.785, 0.862, 0.906], abs=0.004)
