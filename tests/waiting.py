"""Waiting for what other processes do."""

import time

PATIENCE = 120.0


def wait_until(condition, patience=PATIENCE):
    """Wait for a condition, so many seconds at most."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
