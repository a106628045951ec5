"""Theorem 1 of the 2007 paper: with the true probabilities, accuracy equals confidence."""

import importlib
from pathlib import Path

import pytest

# draws of relevance tell as much as collections, and cost less
COLLECTIONS, DRAWS, SEED = 3, 16, 3


@pytest.fixture(scope="module")
def theorem():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[1])
        return importlib.import_module("experiments.theorem.run")


@pytest.fixture(scope="module")
def pairs(theorem):
    return theorem.scored(theorem.trials(COLLECTIONS, DRAWS, SEED))


def standardised(theorem, pairs, observed, expected):
    gap, error = theorem.departure(pairs, observed, expected)
    return gap / error


@pytest.mark.parametrize("score", ["right", "W", "log"])
def test_true_probabilities_give_the_scores_that_confidences_expect(theorem, pairs, score):
    expected = {"right": "confidence"}.get(score, f"expected {score}")
    true = pairs[pairs["factor"] == 1.0]
    for _, mine in true.groupby("measure"):
        assert abs(standardised(theorem, mine, score, expected)) < 3.5
    assert abs(standardised(theorem, true, score, expected)) < 3.0


@pytest.mark.parametrize(("factor", "side"), [(0.5, 1.0), (2.0, -1.0)])
def test_flat_probabilities_doubt_too_much_and_sharp_ones_too_little(theorem, pairs, factor, side):
    mine = pairs[pairs["factor"] == factor]
    assert side * standardised(theorem, mine, "right", "confidence") > 3.0
