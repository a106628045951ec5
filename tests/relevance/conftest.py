"""Small collections to fit models to."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pools import judge, make_pool

from rtc_bayes import Judgments, Pool

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.fixture
def pool() -> Pool:
    return make_pool()


@pytest.fixture
def judgments(pool: Pool) -> Judgments:
    """Thirty judgments, and one of a document that no system ranked."""
    some = judge(pool, 30)
    extended = pool.with_documents({"2": ["zz9"]})
    moved = some.on(extended)
    extra = extended.locate("2", ["zz9"])
    return Judgments.from_labels(
        extended, [*moved.order, *extra], [*moved.labels[moved.order], 1.0]
    )


@pytest.fixture(scope="session")
def new_pool() -> Callable[..., Pool]:
    return make_pool


@pytest.fixture(scope="session")
def new_judgments() -> Callable[..., Judgments]:
    return judge


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
def point_file(tmp_path: Path) -> Path:
    """Return the file of the documentation's model without a graph."""
    (text,) = re.findall(
        r"```python\n(\"\"\"Documents are relevant as.*?)```", DOCUMENTATION.read_text(), re.S
    )
    path = tmp_path / "rank_share.py"
    path.write_text(text)
    return path


@pytest.fixture
def model_file(tmp_path: Path, model_text: str) -> Path:
    """Return the file of the documentation's model."""
    path = tmp_path / "best_rank.py"
    path.write_text(model_text)
    return path
