"""Limits that stand in for machines that run out of something."""

import contextlib

import pytest


@contextlib.contextmanager
def small_files(size):
    """Let no file grow beyond a size in bytes: writing fails as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
