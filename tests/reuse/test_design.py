"""Hold-out designs: counts of the paper, balance, and what the integer program must meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.reuse.cycles import balanced_cycle
from rtc_bayes.reuse.power import power_of_t


def names(groups: int) -> list[str]:
    return [f"S{n + 1}" for n in range(groups)]


def test_powers_of_a_design_are_for_the_effect() -> None:
    small, large = (rb.design_table(6, 200, effect=effect) for effect in (0.2, 0.5))
    assert large["power_within"].tolist() == [power_of_t(0.5, n) for n in large["within_reuse"]]
    assert (small["power_within"] < large["power_within"]).all()


@pytest.mark.parametrize(
    "ids",
    [
        ["301", "302", "303"],
        [301, 302, 303],
        np.array([301, 302, 303]),
        pd.Series([301, 302, 303]),
        map(str, range(301, 304)),
    ],
)
def test_topics_are_any_ids(ids: Iterable[Any]) -> None:
    assert sorted(rb.hold_out(names(3), ids, 1).topics) == ["301", "302", "303"]


@pytest.mark.parametrize(
    "wrong", [[301.0, 302.0, 303.0], [None, "1", "2"], "123", b"123", {"1", "2"}]
)
def test_what_is_no_id_of_a_topic_is_refused(wrong: Any) -> None:
    with pytest.raises(rb.InputError, match=r"topic .* is not an id|topics is (one text|a set)"):
        rb.hold_out(names(3), wrong, 1)


@pytest.mark.parametrize(("m", "k"), [(m, k) for m in range(2, 10) for k in range(1, m)])
def test_counts_are_those_of_the_mask(m: int, k: int) -> None:
    topics = comb(m, k) + 7
    counts = rb.design_counts(m, topics, held=k, baseline_topics=3)
    mask = rb.hold_out(names(m), topics, k, baseline_topics=3, seed=m).contributes
    assert counts.baseline_topics == mask.all(axis=0).sum()
    assert {int(row.sum()) for row in mask} == {counts.within_baseline}
    assert {int((~row).sum()) for row in mask} == {counts.within_reuse}
    for a, b in combinations(range(m), 2):
        assert (mask[a] & mask[b]).sum() == counts.between_baseline
        assert (~mask[a] & ~mask[b]).sum() == counts.between_reuse
        assert (~mask[a] & mask[b]).sum() == (mask[a] & ~mask[b]).sum() == counts.participant


@pytest.mark.parametrize(("m", "k"), [(m, k) for m in range(3, 8) for k in range(1, m - 1)])
@pytest.mark.parametrize("topics", [5, 7, 12, 20, 33])
def test_no_design_of_a_part_cycle_has_fewer_topics_than_are_said(m: int, k: int, topics: int):
    counts = rb.design_counts(m, topics, held=k, on_remainder="cycle")
    mask = rb.hold_out(names(m), topics, k, on_remainder="cycle", seed=topics).contributes
    assert mask.sum(axis=1).min() == counts.within_baseline
    assert (~mask).sum(axis=1).min() == counts.within_reuse
    pairs = list(permutations(range(m), 2))
    assert min((mask[a] & mask[b]).sum() for a, b in pairs) >= counts.between_baseline
    assert min((~mask[a] & ~mask[b]).sum() for a, b in pairs) >= counts.between_reuse
    assert min((~mask[a] & mask[b]).sum() for a, b in pairs) >= counts.participant


def test_a_part_cycle_counts_for_the_participants() -> None:
    counts = rb.design_counts(6, 12, held=2, on_remainder="cycle")
    assert (counts.cycles, counts.participant) == (0, 3)
    assert rb.design_counts(5, 7, held=3, on_remainder="cycle").between_reuse == 1


@pytest.mark.parametrize(("m", "k"), [(m, k) for m in range(2, 10) for k in range(1, m)])
def test_every_beginning_is_balanced(m: int, k: int) -> None:
    cycle = balanced_cycle(m, k, np.random.default_rng(m * 10 + k))
    assert Counter(cycle) == Counter(map(frozenset, combinations(range(m), k)))
    often = np.zeros(m, dtype=int)
    for members in cycle:
        often[list(members)] += 1
        assert often.max() - often.min() <= 1
    assert often.max() == often.min() == comb(m - 1, k - 1)


def test_the_published_designs() -> None:
    table_1 = rb.design_counts(6, 25, held=2, baseline_topics=10)
    assert (
        table_1.cycles,
        table_1.within_reuse,
        table_1.between_baseline,
        table_1.between_reuse,
    ) == (
        1,
        5,
        16,
        1,
    )
    assert table_1.participant == 4
    mq08 = rb.design_counts(9, 564, held=2, baseline_topics=200)
    assert vars(mq08) == {
        "groups": 9,
        "topics": 564,
        "held": 2,
        "cycles": 10,
        "baseline_topics": 204,
        "within_baseline": 484,
        "within_reuse": 80,
        "between_baseline": 414,
        "between_reuse": 10,
        "participant": 70,
    }


def test_thirteen_sites_share_249_topics_as_robust_2004_did() -> None:
    mask = rb.hold_out(names(13), 249, 2, on_remainder="cycle", seed=1).contributes
    assert set((~mask).sum(axis=1).tolist()) == {38, 39}
    together = [(~mask[a] & ~mask[b]).sum() for a, b in combinations(range(13), 2)]
    assert set(map(int, together)) == {3, 4}


def test_topics_are_in_random_order_with_the_baseline_among_them() -> None:
    designs = [rb.hold_out(names(6), 40, 2, baseline_topics=10, seed=seed) for seed in range(40)]
    first = [design.contributes.all(axis=0)[:20].sum() for design in designs]
    # 10 of 40 in the first 20: mean 5, variance 20 * .25 * .75 * 20/39
    assert np.mean(first) == pytest.approx(5.0, abs=4 * np.sqrt(1.923 / 40))
    assert len({design.topics for design in designs}) == 40
    assert designs[3].digest == rb.hold_out(names(6), 40, 2, baseline_topics=10, seed=3).digest


def test_the_program_makes_the_round_robins_design() -> None:
    """A demand that binds nothing must leave the counts of Table 1."""
    mask = rb.hold_out(names(6), 25, 2, baseline_topics=10, most={"S1": 25}).contributes
    assert set((~mask).sum(axis=1).tolist()) == {5}
    together = {int((~mask[a] & ~mask[b]).sum()) for a, b in combinations(range(6), 2)}
    assert together == {1}


def test_the_program_meets_what_is_demanded() -> None:
    groups = {f"r{n}": f"S{1 + min(n // 2, 4)}" for n in range(14)}  # S5 has six runs
    design = rb.hold_out(
        groups,
        30,
        2,
        baseline_topics=6,
        never_together=[("S1", "S2")],
        most={"S3": 4},
        most_systems=6,
        costs={f"S{n}": 10 for n in range(1, 6)},
        budget=30 * 50 - 24 * 20,
    )
    held = ~design.contributes
    at = {group: n for n, group in enumerate(design.groups)}
    assert not (held[at["S1"]] & held[at["S2"]]).any()
    assert held[at["S3"]].sum() <= 4
    assert not held[at["S5"]].any()  # six runs and two more are too many
    assert (held.sum(axis=0) > 0).sum() == 24


def test_a_cap_leaves_the_other_groups_an_even_design() -> None:
    mask = rb.hold_out(names(6), 60, 2, most={"S1": 2}).contributes
    held = (~mask).sum(axis=1)
    assert held[0] <= 2
    assert held[1:].max() - held[1:].min() <= 1
    assert held.sum() >= 2 * (60 - 15 + 1)
    out = (~rb.hold_out(names(6), 60, 2, most={"S1": 0}).contributes).sum(axis=1)
    assert out[0] == 0
    assert out[1:].tolist() == [24] * 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"held": 6}, "6 of 6 groups"),
        ({"costs": {"S1": 3}}, "costs without a budget"),
        ({"held": 2, "baseline_topics": 20}, "too few for a cycle"),
        ({"baseline_topics": 30}, "none is left"),
        ({"never_together": [("S1", "S9")]}, "no group S9"),
        ({"never_together": ["S1"]}, "never_together"),
        ({"never_together": "S1"}, r"names where it takes pairs .*as \[\('A', 'B'\)\]"),
        ({"never_together": ["S1", "S2"]}, r"give a list of pairs, as \[\('S1', 'S2'\)\]"),
        ({"costs": {"S1": 3}, "budget": 0}, "no design .* every group judged for on some topic"),
        ({"never_together": [("S1", "S2", "S3")]}, "3 names where it takes pairs"),
        ({"held": 5}, "one alone is judged for"),
        ({"budget": 10.0}, "needs costs"),
        ({"budget": 10.0, "costs": {}}, "needs costs"),
        ({"budget": np.nan, "costs": {"S1": 1.0}}, "budget is nan"),
        ({"budget": -1.0, "costs": {"S1": 1.0}}, "budget is -1"),
        ({"most_systems": -3}, "most_systems is -3"),
        ({"most": dict.fromkeys(names(6), 1), "on_remainder": "cycle"}, "no design"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_planned_is_refused(words: dict[str, object], message: str) -> None:
    with pytest.raises(rb.InputError, match=message):
        rb.hold_out(names(6), 25, **words)


def test_no_group_is_held_out_of_every_topic() -> None:
    """Its systems would have no baseline: a budget that needs it is refused, the next is met."""
    asked = {"costs": {"S1": 3}, "on_remainder": "cycle"}
    for budget, times in ((3, 24), (6, 23)):
        design = rb.hold_out(names(6), 25, 2, budget=budget, **asked)
        assert (~design.contributes[0]).sum() == times
    with pytest.raises(rb.InputError, match="no design meets"):
        rb.hold_out(names(6), 25, 2, budget=2, **asked)


def test_groups_may_be_a_series_or_numbers() -> None:
    of_systems = {f"r{n}": n // 2 for n in range(8)}
    design = rb.hold_out(of_systems, 24, 2)
    assert design.groups == ("0", "1", "2", "3")
    assert rb.hold_out(pd.Series(of_systems), 24, 2).digest == design.digest
    systems, topics = list(of_systems), design.topics
    as_text = {system: str(group) for system, group in of_systems.items()}
    for groups in (of_systems, pd.Series(of_systems)):
        mask = design.mask(systems, groups, topics)
        np.testing.assert_array_equal(mask, design.mask(systems, as_text, topics))
    for nothing in ({}, [], pd.Series(dtype=str)):
        with pytest.raises(rb.InputError, match="no groups; give"):
            rb.hold_out(nothing, 24, 2)
    for wrong in ("groups.csv", ["0", "1"], pd.DataFrame({"group": ["0"]})):
        with pytest.raises(rb.InputError, match=r"not a mapping .* read_groups\(FILE\)"):
            design.mask(systems, wrong, topics)


def test_one_group_is_refused_by_its_name() -> None:
    with pytest.raises(rb.InputError, match="there is one group alone, S1"):
        rb.hold_out(names(1), 25)


def test_power_is_that_of_the_noncentral_t() -> None:
    from scipy.stats import nct, t

    rng = np.random.default_rng(0)
    # each number of topics has a curve of its own, which takes a tenth of a second
    topics = np.r_[2:9, 12, 17, 18, 30, 59, 89]
    effect, n = rng.uniform(0, 0.6, 200), rng.choice(topics, 200)
    critical, shift = t.isf(0.025, n - 1), effect * np.sqrt(n)
    exact = nct.sf(critical, n - 1, shift) + nct.cdf(-critical, n - 1, shift)
    assert power_of_t(effect, n) == pytest.approx(exact, abs=1e-5)
    assert power_of_t(0.0, topics) == pytest.approx(0.05, abs=1e-5)
    grid = power_of_t(np.linspace(0, 1, 30)[:, None], topics[1:])
    assert (np.diff(grid, axis=0) >= -1e-9).all()
    assert (np.diff(grid, axis=1) >= -1e-6).all()
    assert power_of_t(-effect, n) == pytest.approx(power_of_t(effect, n), nan_ok=True)
    assert power_of_t(8.0, 1000) == pytest.approx(1.0)
    assert np.isnan(power_of_t(0.3, 1))
    for n, level, message in ((10.5, 0.05, "n is not whole"), (10, 0.0, "level is 0")):
        with pytest.raises(rb.InputError, match=message):
            power_of_t(0.3, n, level)
    for effect in (-0.1, np.nan):
        with pytest.raises(rb.InputError, match=f"effect is {effect}"):
            rb.design_table(5, 40, effect=effect)
    with pytest.raises(rb.InputError, match=r"groups is \{'a': 'S1'\}; give a whole number"):
        rb.design_table({"a": "S1"}, 40)


def test_demands_of_groups_that_are_numbers():
    numbers = {f"s{n}": n // 2 for n in range(10)}
    texts = {system: str(group) for system, group in numbers.items()}
    common = {"held": 2, "budget": 900, "seed": 1}
    demands = {"never_together": [(0, 1)], "most": {0: 3}, "costs": {0: 10}}
    as_texts = {"never_together": [("0", "1")], "most": {"0": 3}, "costs": {"0": 10}}
    design = rb.hold_out(numbers, 30, **demands, **common)
    assert design.to_frame().equals(rb.hold_out(texts, 30, **as_texts, **common).to_frame())


@pytest.mark.parametrize("limit", [1, 4, 8, 10, 11])
def test_a_group_with_a_limit_is_held_out_as_often_as_it_may(limit):
    """Of 30 topics a fair share is 12 of each of five groups."""
    out = (~rb.hold_out(names(5), 30, 2, most={"S1": limit}).contributes).sum(axis=1)
    assert out[0] == limit
    assert np.ptp(out[1:]) <= 1


def test_groups_may_come_in_any_order():
    forward = rb.hold_out(names(5), 20, 2, seed=3)
    assert rb.hold_out(names(5)[::-1], 20, 2, seed=3).digest == forward.digest
