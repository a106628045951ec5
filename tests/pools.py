"""The small pools of all tests: of lists written out, of random lists, and judged at random.

``pool_of({"system": {"topic": ["docno", ...]}}, depth=2)`` is the one way to a pool.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rtc_bayes import CollectionWarning, Estimand, Judgments, Labels, Pool, Run, Runs

POOL_ALONE = Estimand(scope="pool")
"""AP of lists cut at the depth of the pool, whose documents are all there are."""

type Rankings = Mapping[str, Mapping[str, Iterable[str]]]


def runs_of(rankings: Rankings) -> Runs:
    """Return runs of ranked docnos, by system and topic; "abc" ranks the documents a, b and c."""
    return Runs(
        Run.from_rankings(name, {topic: list(docnos) for topic, docnos in lists.items()})
        for name, lists in rankings.items()
    )


def pool_of(rankings: Rankings, **options: Any) -> Pool:
    """Pool ranked docnos, by system and topic; a list may be missing, and no warning is given.

    Options are those of ``Pool.from_runs``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollectionWarning)
        return Pool.from_runs(runs_of(rankings), **options)


def random_rankings(
    rng: np.random.Generator,
    systems: int = 2,
    topics: int = 3,
    documents: int = 8,
    *,
    shortest: int | None = None,
    longest: int | None = None,
) -> dict[str, dict[str, list[str]]]:
    """Rank documents d0000, d0001, ... of topics 0, 1, ... at random, by systems s0, s1, ...

    A list holds all documents, the first `longest`, or from `shortest` to `longest` of them.
    """

    def ranked() -> list[str]:
        order = rng.permutation(documents)
        length = longest if shortest is None else rng.integers(shortest, longest, endpoint=True)
        return [f"d{i:04d}" for i in order[:length]]

    return {f"s{s}": {str(t): ranked() for t in range(topics)} for s in range(systems)}


def random_pool(
    rng: np.random.Generator,
    systems: int = 2,
    topics: int = 3,
    documents: int = 8,
    *,
    depth: int | None = None,
    **options: Any,
) -> Pool:
    """Pool :func:`random_rankings`, to the depth where lists end unless told."""
    longest = options.get("longest")
    return pool_of(
        random_rankings(rng, systems, topics, documents, **options),
        depth=depth or longest or documents,
    )


def make_pool(
    systems: int = 4, topics: int = 5, depth: int = 12, documents: int = 40, seed: int = 0
) -> Pool:
    """Random runs: some lists short, the last system without the last topic if it has company."""
    rng = np.random.default_rng(seed)
    rankings: dict[str, dict[str, list[str]]] = {f"run{s}": {} for s in range(systems)}
    for s, lists in enumerate(rankings.values()):
        for t in range(topics):
            if systems > 1 and topics > 1 and s == systems - 1 and t == topics - 1:
                continue
            length = depth if (s + t) % 3 else max(1, depth // 2)
            lists[str(t + 1)] = [f"d{i:03d}" for i in rng.permutation(documents)[:length]]
    return pool_of(rankings, depth=depth)


def judge(pool: Pool, count: int, seed: int = 1, share: float = 0.4) -> Judgments:
    """Judge `count` random documents of the pool."""
    rng = np.random.default_rng(seed)
    documents = rng.permutation(pool.n_documents)[:count]
    labels = (rng.random(count) < share).astype(float)
    return Judgments.from_labels(pool, documents, labels)


def label_all(pool: Pool, grades: np.ndarray, judges: tuple[str, ...] = ("llm",)) -> Labels:
    """Label every document of a pool, by each judge alike."""
    topics = np.array(pool.topics, dtype=object)[pool.topic_of]
    columns = [np.tile(values, len(judges)) for values in (topics, pool.docnos, grades)]
    return Labels.of(
        columns[0], columns[1], np.repeat(judges, pool.n_documents), columns[2].astype(int)
    )


def random_labels(
    pool: Pool, seed: int = 0, highest: int = 3, judges: tuple[str, ...] = ("llm",)
) -> Labels:
    """Labels of every document, 0 to the highest, by lot."""
    return label_all(
        pool, np.random.default_rng(seed).integers(0, highest + 1, pool.n_documents), judges
    )
