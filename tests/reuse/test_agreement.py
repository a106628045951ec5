"""Agreement in significance: published numbers, and tests pair by pair by another library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import nct, t, ttest_1samp

from rtc_bayes.reuse.agreement import (
    PairTests,
    agreement,
    chi_square,
    chi_square_p,
    exact_p,
    pair_tests,
)
from rtc_bayes.reuse.held import COMPARISONS, HeldScores
from rtc_bayes.reuse.permutation import agreement_of, paired_tests
from tests.reuse.scores import held_scores

PUBLISHED = {
    "APL": ([6, 3, 0, 1], [7.098, 2.043, 0.073, 0.786], 0.749, None),
    "table 3": ([196, 57, 2, 45], [189.5, 62.1, 4.3, 44.1], 1.89, 0.595),
    "table 4": ([130, 127, 17, 160], [135.4, 121.6, 13.9, 163.1], 1.205, 0.752),
    "table 5": ([257, 133, 41, 100], [302.5, 85.1, 26.2, 117.2], 44.7, 1e-9),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_chi_squares(name: str) -> None:
    observed, expected, square, p = PUBLISHED[name]
    computed = chi_square(np.array(observed), np.array(expected))
    assert computed == pytest.approx(square, abs=0.05)
    if p is not None:
        assert chi_square_p(computed) == pytest.approx(p, abs=0.01)


def test_the_exact_test_counts_every_table() -> None:
    observed, expected, *_ = PUBLISHED["APL"]
    # printed .88, of a randomised test
    assert exact_p(np.array(observed), np.array(expected)) == pytest.approx(0.894, abs=0.002)
    assert np.isnan(exact_p(np.zeros(4), np.ones(4)))


def test_the_exact_test_by_sampling_is_the_one_by_counting(monkeypatch: Any) -> None:
    observed, expected = np.array([44, 31, 9, 16]), np.array([50.0, 30.0, 5.0, 15.0])
    counted = exact_p(observed, expected)
    monkeypatch.setattr("rtc_bayes.reuse.agreement._EXACT", 0)
    error = np.sqrt(counted * (1 - counted) / 100_000)
    assert exact_p(observed, expected) == pytest.approx(counted, abs=4 * error)


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_cells_are_those_of_tests_pair_by_pair(comparison: str) -> None:
    held = held_scores(seed=3)
    observed, expected, defined = np.zeros(4), np.zeros(4), 0
    for a, b in held.pairs(comparison):
        both = held.contributes[a] & held.contributes[b]
        new = ~held.contributes[a] & (
            held.contributes[b] if comparison == "participant" else ~held.contributes[b]
        )
        difference = held.scores[a] - held.scores[b]
        found, power = [], []
        effect = difference[both].mean() / difference[both].std(ddof=1)
        for where in (both, new):
            n = int(where.sum())
            found.append(ttest_1samp(difference[where], 0.0).pvalue < 0.05)
            critical, shift = t.isf(0.025, n - 1), abs(effect) * np.sqrt(n)
            above, below = nct.sf(critical, n - 1, shift), nct.cdf(-critical, n - 1, shift)
            # scipy gives up far in the tails
            power.append(np.nan_to_num(above, nan=1.0) + np.nan_to_num(below, nan=0.0))
        one, two = found
        observed += [one and two, one and not two, two and not one, not one and not two]
        p, q = power
        expected += [p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)]
        defined += 1
    table = agreement_of(held, comparison)
    assert table.observed.tolist() == observed.tolist()
    assert table.expected == pytest.approx(expected, abs=1e-3)
    assert table.expected.sum() == pytest.approx(defined)


def test_within_and_between_are_all_pairs() -> None:
    held = held_scores(seed=1)
    within, between, participant = (len(held.pairs(comparison)) for comparison in COMPARISONS)
    assert within + between == 12 * 11 // 2
    assert participant == 2 * between


@given(st.integers(0, 2**32 - 1))
def test_neither_names_nor_signs_change_a_cell(seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = held_scores(seed=seed % 1000)
    order = rng.permutation(len(held.systems))
    swapped = HeldScores(
        held.scores[order],
        held.contributes[order],
        rng.permutation(4)[held.group][order],
        held.systems,
        held.topics,
        held.groups,
    )
    turned = HeldScores(
        1 - held.scores, held.contributes, held.group, held.systems, held.topics, held.groups
    )
    for comparison in COMPARISONS:
        table = agreement_of(held, comparison)
        for other in (agreement_of(swapped, comparison), agreement_of(turned, comparison)):
            assert other.observed.tolist() == table.observed.tolist()
            assert other.expected == pytest.approx(table.expected, abs=1e-6)


def test_identical_runs_make_no_pair() -> None:
    held = held_scores(seed=2)
    scores = held.scores.copy()
    scores[1] = scores[0]
    scores[2] = scores[0] + 0.1  # differs, but by the same on every topic
    same = HeldScores(scores, held.contributes, held.group, held.systems, held.topics, held.groups)
    before, after = (agreement_of(one, "within").observed.sum() for one in (held, same))
    assert after == before - 3
    tests = paired_tests(same, "within")
    assert tests is not None
    assert np.isnan(tests[0].p[:3]).all()


def test_no_topics_make_no_test() -> None:
    scores = np.random.default_rng(0).uniform(size=(2, 5))
    nowhere = np.zeros((2, 5), dtype=bool)
    tests = pair_tests(scores, nowhere, nowhere, np.array([[0, 1]]))
    assert tests.n.tolist() == [0]
    assert np.isnan(tests.p).all()
    assert agreement(tests, tests).observed.sum() == 0.0


def test_no_cell_expects_less_than_nothing() -> None:
    # an effect so large that both powers are 1, and a pair significant on the baseline alone
    effect = np.array([100.0])
    n = np.array([30])
    table = agreement(PairTests(n, effect, effect), PairTests(n, effect, effect * 0.001))
    assert table.observed.tolist() == [0, 1, 0, 0]
    assert table.expected.tolist() == [1, 0, 0, 0]
    assert table.chi_square == np.inf
    assert exact_p(*table) == 0.0
    # sums of powers near 1 leave rounding of either sign
    effects = np.random.default_rng(0).uniform(1, 3, 200)
    many = PairTests(np.full(200, 30), effects, effects)
    assert min(agreement(many, many).expected) >= 0.0
