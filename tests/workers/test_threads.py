"""Work topic by topic, in threads of this machine."""

import multiprocessing
import threading

import pytest

import rtc_bayes as rb
from rtc_bayes.workers import Workers, each_topic


@pytest.mark.parametrize("jobs", [1, 3, -1])
def test_results_come_in_order(jobs):
    result = each_topic(pow, ((t, 2) for t in range(20)), Workers(jobs))
    assert list(result) == [t**2 for t in range(20)]


def test_a_process_of_a_pool_warns_of_nothing(monkeypatch):
    """Such a process may not begin others, and threads are none."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert list(each_topic(pow, [(2, 3)], Workers(2))) == [8]


def test_calls_are_taken_a_few_ahead_of_a_slow_caller():
    taken = []

    def calls():
        for t in range(50):
            taken.append(t)
            yield t, 2

    result = each_topic(pow, calls(), Workers(2))
    for t in range(10):
        assert next(result) == t**2
        assert len(taken) <= t + 1 + 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_topic_that_fails_ends_the_work(jobs):
    result = each_topic(divmod, [(1, 1), (1, 0), (1, 1)], Workers(jobs))
    assert next(result) == (1, 0)
    with pytest.raises(ZeroDivisionError):
        next(result)


@pytest.mark.parametrize("jobs", [1, 2])
def test_topics_that_cannot_be_had_end_the_work(jobs):
    def calls():
        yield 3, 2
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(each_topic(pow, calls(), Workers(jobs)))


def test_no_thread_is_left_when_a_caller_goes():
    before = threading.active_count()
    result = each_topic(pow, ((t, 2) for t in range(100)), Workers(3))
    next(result)
    result.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("progress", [True, rb.progress_bar])
def test_progress_is_a_function_of_a_stage(progress):
    with pytest.raises(rb.InputError, match=r"with rb.progress_bar\(\) as progress"):
        Workers(progress=progress)
