"""Tests are of what is installed: the clone, which ``python -m pytest`` puts first, goes."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != _ROOT]
