"""Small collections to fit models to."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rtc_bayes import CollectionWarning, Judgments, Pool, Run, Runs

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "models.md"


def make_pool(
    systems: int = 4, topics: int = 5, depth: int = 12, documents: int = 40, seed: int = 0
) -> Pool:
    """Random runs: some lists short, the last system without the last topic if it has company."""
    rng = np.random.default_rng(seed)
    runs = []
    for s in range(systems):
        rankings = {}
        for t in range(topics):
            if systems > 1 and topics > 1 and s == systems - 1 and t == topics - 1:
                continue
            length = depth if (s + t) % 3 else max(1, depth // 2)
            chosen = rng.permutation(documents)[:length]
            rankings[str(t + 1)] = [f"d{i:03d}" for i in chosen]
        runs.append(Run.from_rankings(f"run{s}", rankings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollectionWarning)
        return Pool.from_runs(Runs(runs), depth=depth)


def judge(pool: Pool, count: int, seed: int = 1, share: float = 0.4) -> Judgments:
    """Judge `count` random documents of the pool."""
    rng = np.random.default_rng(seed)
    documents = rng.permutation(pool.n_documents)[:count]
    labels = (rng.random(count) < share).astype(float)
    return Judgments.from_labels(pool, documents, labels)


@pytest.fixture
def pool() -> Pool:
    return make_pool()


@pytest.fixture
def judgments(pool: Pool) -> Judgments:
    """Thirty judgments, and one of a document that no system ranked."""
    some = judge(pool, 30)
    whole = pool.with_documents({"2": ["zz9"]})
    moved = some.on(whole)
    extra = whole.locate("2", ["zz9"])
    return Judgments.from_labels(whole, [*moved.order, *extra], [*moved.labels[moved.order], 1.0])


@pytest.fixture(scope="session")
def new_pool() -> Callable[..., Pool]:
    return make_pool


@pytest.fixture(scope="session")
def new_judgments() -> Callable[..., Judgments]:
    return judge


@pytest.fixture(scope="module")
def interpreted() -> Iterator[None]:
    """Evaluate graphs without compiling them: for many graphs that are evaluated a few times."""
    import pytensor

    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="session")
def model_text() -> str:
    """Return the text of the documentation's model in one file."""
    blocks = re.findall(
        r"```python\n(\"\"\"Relevance falls.*?)```", DOCUMENTATION.read_text(), re.S
    )
    assert len(blocks) == 1
    assert len(blocks[0].splitlines()) <= 40
    return blocks[0]


@pytest.fixture
def model_file(tmp_path: Path, model_text: str) -> Path:
    """Return the file of the documentation's model."""
    path = tmp_path / "best_rank.py"
    path.write_text(model_text)
    return path
