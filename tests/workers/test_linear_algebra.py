"""Linear algebra is held to one thread while any block lasts, and then has what it had before."""

import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rtc_bayes.workers import Workers, each_topic

LOADED_LATER = """
with one_thread():
    pass
import scipy.linalg
with one_thread():
    assert numbers() == {1}, threadpool_info()
assert numbers() == {2}, threadpool_info()
"""
TWO_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Event
first, second, left = Event(), Event(), Event()

def begins():
    with one_thread():
        first.set()
        second.wait(60)
    left.set()

def ends():
    first.wait(60)
    with one_thread():
        second.set()
        left.wait(60)
        return numbers()

import scipy.linalg
with ThreadPoolExecutor(2) as pool:
    pool.submit(begins)
    assert pool.submit(ends).result() == {1}
assert numbers() == {2}, threadpool_info()
"""
CANNOT_BEGIN = """
import scipy.linalg
from rtc_bayes.workers import linear_algebra
find, linear_algebra._libraries_with = linear_algebra._libraries_with, None
try:
    with one_thread():
        raise AssertionError("began")
except TypeError:
    linear_algebra._libraries_with = find
with one_thread():
    assert numbers() == {1}, threadpool_info()
assert numbers() == {2}, threadpool_info()
"""
BEGIN = """
from threadpoolctl import threadpool_info
from rtc_bayes.relevance import one_thread

def numbers():
    return {each["num_threads"] for each in threadpool_info()}
"""


@pytest.mark.parametrize(
    "script",
    [LOADED_LATER, TWO_THREADS, CANNOT_BEGIN],
    ids=["later", "threads", "cannot begin"],
)
def test_all_libraries_are_held_and_given_back(script):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", BEGIN + script], env=environment, check=True)


def test_topics_of_two_iterators_in_turn_leave_the_linear_algebra_as_it_was():
    with threadpool_limits(2):
        before = threadpool_info()
        results = (each_topic(pow, [(2, 3), (3, 2)], Workers(2)) for _ in range(2))
        for two in zip(*results, strict=True):
            assert {each["num_threads"] for each in threadpool_info()} == {1}, two
        assert threadpool_info() == before
