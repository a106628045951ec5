from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rtc_bayes.errors import InputError
from rtc_bayes.measures import ScoreMatrix


def matrix():
    rng = np.random.default_rng(0)
    return ScoreMatrix(
        rng.random((2, 3)), rng.random((2, 3)), ("run a", "b"), ("401", "402", "403"), "AP"
    )


def test_to_and_from_disk(tmp_path):
    scores = matrix()
    scores.save(tmp_path / "scores.nc")
    back = ScoreMatrix.load(tmp_path / "scores.nc")
    np.testing.assert_array_equal(back.mean, scores.mean)
    np.testing.assert_array_equal(back.variance, scores.variance)
    assert (back.systems, back.topics, back.measure) == (scores.systems, scores.topics, "AP")


def test_frame_has_a_row_per_system_and_topic():
    scores = matrix()
    frame = scores.to_frame()
    assert frame.columns.tolist() == ["system", "topic", "mean", "variance"]
    row = frame[(frame["system"] == "b") & (frame["topic"] == "402")]
    assert row["mean"].item() == scores.mean[1, 1]
    assert row["variance"].item() == scores.variance[1, 1]


def test_shapes_are_checked():
    with pytest.raises(InputError, match="shape"):
        ScoreMatrix(np.zeros((2, 2)), np.zeros((2, 3)), ("a", "b"), ("1", "2", "3"), "AP")


def test_repr_and_immutability():
    scores = matrix()
    assert repr(scores) == "ScoreMatrix(AP, 2 systems, 3 topics)"
    with pytest.raises(ValueError, match="read-only"):
        scores.mean[0, 0] = 0.0


def test_importing_measures_loads_no_compiler():
    code = "import sys, rtc_bayes.measures; rtc_bayes.measures.ScoreMatrix; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"numba", "pandas", "scipy"} & set(loaded)
