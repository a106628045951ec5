"""Lists of a topic, with ranks that no known document has."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from rtc_bayes.collection.lists import Lists

RANKED = st.dictionaries(st.integers(1, 12), st.integers(0, 30), max_size=8)


def lists_of(pool):
    """Make lists of dictionaries from rank to document."""
    ordered = [sorted(one.items()) for one in pool]
    starts = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    pairs = np.array([pair for one in ordered for pair in one], dtype=np.int32).reshape(-1, 2)
    return Lists(pairs[:, 1].copy(), starts, pairs[:, 0].copy())


def dictionaries(lists):
    ends = zip(lists.starts[:-1], lists.starts[1:], strict=True)
    return [
        dict(zip(lists.ranks[a:b].tolist(), lists.ranked[a:b].tolist(), strict=True))
        for a, b in ends
    ]


@given(st.lists(RANKED, min_size=1, max_size=5), st.integers(0, 13))
def test_cut_keeps_what_is_ranked_so_high(docnos, rank):
    lists = lists_of(docnos)
    assert dictionaries(lists.cut(rank)) == [
        {r: d for r, d in one.items() if r <= rank} for one in docnos
    ]
    assert dictionaries(lists.cut(None)) == docnos


@given(st.lists(RANKED, min_size=1, max_size=3), st.data())
def test_distinct_lists_differ_in_documents_or_ranks(some, data):
    order = data.draw(st.lists(st.integers(0, len(some) - 1), min_size=1, max_size=6))
    result = [some[i] for i in order]
    kept, which = lists_of(result).distinct()
    of_kept = dictionaries(kept)
    assert [of_kept[i] for i in which] == result
    assert all(one not in of_kept[:n] for n, one in enumerate(of_kept))
    assert which[0] == 0


def test_complete_lists_count_their_ranks():
    lists = Lists.complete(np.array([4, 2, 7], dtype=np.int32), np.array([0, 2, 2, 3]))
    assert lists.n_lists == 3
    assert dictionaries(lists) == [{1: 4, 2: 2}, {}, {1: 7}]
    assert lists.arrays[2].tolist() == [1.0, 0.5, 1.0]
    assert dictionaries(lists.take(np.array([2, 0]))) == [{1: 7}, {1: 4, 2: 2}]
