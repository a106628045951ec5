"""The experiment of scale, at reduced size: a pool in parts, draws in a file, topics in threads."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_a_synthetic_track_is_compared_from_a_file():
    sizes = ["--topics", "4", "--systems", "60", "--depth", "200", "--draws", "3", "--jobs", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "experiments.speed.track", *sizes],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    told = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", done.stdout, flags=re.MULTILINE))
    assert told["entries of the lists"] == "48,000"
    assert told["pairs"] == "1,770"
    assert float(told["peak of memory, GB"]) < 2.0
