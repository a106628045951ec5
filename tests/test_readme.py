"""What the README shows works as shown."""

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import rtc_bayes as rb

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def model_file(tmp_path):
    text = re.search(r"Save this as `best_rank.py`:\n\n```python\n(.*?)```", README, re.DOTALL)[1]
    path = tmp_path / "best_rank.py"
    path.write_text(text)
    return path


def test_the_model_of_the_readme_learns_that_relevance_thins_out(model_file):
    rng = np.random.default_rng(5)
    documents = [f"d{n:02d}" for n in range(40)]
    runs = rb.Runs(
        rb.Run.from_rankings(
            tag,
            {
                t: [documents[i] for i in np.argsort(np.arange(40) + rng.normal(0, 4, 40))]
                for t in "12"
            },
        )
        for tag in ("a", "b", "c")
    )
    pool = rb.Pool.from_runs(runs)
    truth = {t: {d: int(n < 10) for n, d in enumerate(documents[::2])} for t in "12"}
    judgments = rb.Judgments.from_labels(
        pool,
        np.concatenate([pool.locate(t, truth[t]) for t in "12"]),
        [label for t in "12" for label in truth[t].values()],
    )
    fit = rb.fit(pool, judgments, model=str(model_file), options={"scale": 1.0})
    p = fit.relevance.values[0]
    unjudged = pool.locate("1", documents[1::2])
    assert (np.diff(p[unjudged[[0, 5, 10, 19]]]) < 0).all()
    assert fit.diagnostics.converged


def test_no_variable_of_an_example_is_hidden_by_an_attribute_of_xarray():
    """A fit's draws are read as ``fit.posterior["posterior"].NAME``; a tree has a ``level``."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.py")]
    pages += (ROOT / "models").glob("*.py")
    names = {
        name for page in pages for name in re.findall(r'pm\.[A-Z]\w*\(\s*"(\w+)"', page.read_text())
    }
    assert {"base", "slope"} <= names
    assert [name for name in sorted(names) if hasattr(xr.DataTree(), name)] == []
