"""Linear algebra held to one thread, where its own threads would wait for each other."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Hold the linear algebra to one thread, for blocks with many small systems.

    Blocks may lie within each other, overlap in turn, as those of two generators, and be of several
    threads: the limit is that of the process, and what was before comes back when the last ends.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     np.eye(2) @ np.ones(2)
    array([1., 1.])
    """
    _shared.take()
    try:
        yield
    finally:
        _shared.leave()


class _Limit:
    """The one limit of all blocks.

    If each block had its own, one that begins within another and ends after it would take the
    other's limit for what was before, and leave it behind.
    """

    def __init__(self) -> None:
        # a generator that is collected while its own thread is in here leaves, too
        self._lock = threading.RLock()
        self._blocks = 0
        self._libraries: ThreadpoolController | None = None
        self._limits: list[Any] = []

    def take(self) -> None:
        """Begin a block."""
        with self._lock:
            libraries = _libraries_with(len(sys.modules))
            if libraries is not self._libraries:
                self._limits.append(libraries.limit(limits=1))
                self._libraries = libraries
                _let_others_set()
            # the last, so that a block that could not begin is none
            self._blocks += 1

    def leave(self) -> None:
        """End a block."""
        with self._lock:
            self._blocks -= 1
            if self._blocks == 0:
                self._libraries = None
                while self._limits:
                    self._limits.pop().restore_original_limits()
                _let_others_set()


_shared = _Limit()


@lru_cache(maxsize=1)
def _libraries_with(modules: int) -> ThreadpoolController:
    """Find the libraries that are loaded, once for so many modules: new ones may bring others."""
    del modules
    # SciPy has a BLAS of its own, which may be loaded later
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def _let_others_set() -> None:
    """Let any thread set the number of threads next, and so give back what this one has set."""
    # before 3.8, threadpoolctl knew no thread that alone may set OpenBLAS's
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread()
