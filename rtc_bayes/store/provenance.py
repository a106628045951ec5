"""Where a result comes from: enough to make it again, and nothing that differs between reruns."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import rtc_bayes

PROGRAM = "rtc-bayes"
# The packages whose version can change a number.
_PACKAGES = (
    "arviz-stats",
    "clarabel",
    "ir-measures",
    "numba",
    "numpy",
    "nutpie",
    "pymc",
    "pytrec-eval-terrier",
    "scikit-learn",
    "scipy",
    "xarray",
)


def provenance(
    command: str | None = None,
    seed: int | None = None,
    inputs: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Return what an output must carry to be made again.

    It holds no time, no host name and no path that the user did not type, so the same command
    with the same seed on the same inputs writes the same bytes.

    Parameters
    ----------
    command : str, optional
        The command line. By default that of the running process if it is ``rtc-bayes`` or
        ``python -m rtc_bayes``, else None.
    seed : int, optional
        The seed the user gave, or the default.
    inputs : mapping of str to str, optional
        Path as typed, to the SHA-256 of its contents.

    Returns
    -------
    dict
        ``command``, ``version`` (of rtc_bayes), ``seed``, ``inputs``, ``python``, ``packages``.

    Examples
    --------
    >>> made = provenance("rtc-bayes demo", seed=3)
    >>> made["command"], made["seed"], made["inputs"]
    ('rtc-bayes demo', 3, {})
    """
    return {
        "command": command if command is not None else _command_line(),
        "version": rtc_bayes.__version__,
        "seed": seed,
        "inputs": dict(inputs or {}),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
    }


def _command_line() -> str | None:
    program, *arguments = sys.argv or [""]
    path = Path(program)
    as_module = path.parts[-2:] == (rtc_bayes.__name__, "__main__.py")
    if path.stem != PROGRAM and not as_module:
        return None
    return shlex.join([PROGRAM, *arguments])
