"""Calls on a Dask cluster, here on loopback."""

import socket
import sys
from concurrent.futures import BrokenExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from pools import make_pool
from waiting import wait_until

import rtc_bayes
from rtc_bayes.errors import InputError, UnfinishedError
from rtc_bayes.workers import Workers, cluster, each_topic

pytest.importorskip("distributed")

WORKER = "(__import__('time').sleep(0.05), __import__('os').getpid())[1]"


@pytest.fixture(scope="module")
def two(started):
    return started()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 0.5)


@pytest.mark.parametrize("compute", [cluster.compute, cluster.compute_in_order])
def test_a_worker_that_comes_later_helps(started, compute):
    own = started()
    own.have_workers(1)
    with cluster.connect(own.address) as client:
        result = compute(client, eval, [(WORKER,)] * 1000)
        first = next(result)
        own.have_workers(2)
        wait_until(lambda: next(result) != first)


def test_a_worker_that_comes_later_is_held_to_the_same(started):
    own = started()
    own.have_workers(1)
    with cluster.connect(own.address) as client:
        result = cluster.compute_in_order(client, eval, [(WORKER,)] * 1000)
        next(result)
        own.have_workers(2, threads=2)
        with pytest.raises(BrokenExecutor, match=r"runs 2 tasks at a time; .* --nthreads 1"):
            wait_until(lambda: next(result) is None)


def test_topics_come_in_order_and_are_taken_a_few_ahead(two):
    two.have_workers(2)
    taken = []

    def calls():
        for t in range(30):
            taken.append(t)
            # the later ones are quicker
            yield t, 0.5 ** (t / 5)

    result = each_topic(pow, calls(), Workers(scheduler=two.address))
    assert next(result) == 0.0
    assert len(taken) <= 3 * 2 + 1
    assert list(result) == [t**0.5 ** (t / 5) for t in range(1, 30)]


def test_a_client_that_gave_up_ends_the_work(two):
    """As it does some seconds after its scheduler was lost."""
    two.have_workers(1)
    with cluster.connect(two.address) as client:
        result = cluster.compute_in_order(client, eval, [(WORKER,)] * 1000)
        next(result)
        client.close()
        with pytest.raises(BrokenExecutor, match=r"the scheduler at .* was lost"):
            list(result)


def test_a_lost_scheduler_ends_the_work(started):
    own = started()
    own.have_workers(1)
    result = each_topic(eval, [(WORKER,)] * 1000, Workers(scheduler=own.address))
    next(result)
    own.scheduler.kill()
    with pytest.raises(UnfinishedError, match=r"the scheduler at .* was lost"):
        list(result)


class _Client:
    """A client as far as its losses are told."""

    def __init__(self, status):
        self.scheduler = SimpleNamespace(address="tcp://127.0.0.1:8786")
        self.status = status


@pytest.mark.parametrize("status", ["connecting", "closed"])
def test_a_client_that_times_out_on_its_scheduler_has_lost_it(status):
    with (
        pytest.raises(BrokenExecutor, match=r"the scheduler at tcp://127\.0\.0\.1:8786 was lost"),
        cluster._losses(_Client(status)),
    ):
        raise OSError("Timed out trying to connect")


def test_an_error_of_the_system_in_a_call_is_no_loss():
    with pytest.raises(FileNotFoundError), cluster._losses(_Client("running")):
        raise FileNotFoundError("no such file")


@pytest.mark.parametrize("options", [{"moments": "plugin"}, {"form": "corrected"}])
def test_a_comparison_is_that_of_one_machine(two, options):
    two.have_workers(2)
    pool = make_pool()
    draws = np.random.default_rng(0).random((2, 3, pool.n_documents))
    relevance = rtc_bayes.Relevance.from_values(pool, draws)

    def compare(**workers):
        comparison = rtc_bayes.compare(
            pool, relevance, **options, outcomes=500, workers=rtc_bayes.Workers(**workers)
        )
        return comparison.with_ranks().with_population()

    expected = compare(jobs=1)
    killed = []

    def kill(stage, done, total):
        if not killed and done == 2:
            killed.append(two.workers[0])
            two.workers[0].kill()

    for result in (compare(scheduler=two.address, progress=kill), compare(jobs=2)):
        np.testing.assert_equal(result.to_dict(), expected.to_dict())
    assert killed


def test_a_cluster_of_other_numbers_is_refused(two, monkeypatch):
    two.have_workers(1)
    with monkeypatch.context() as patch:
        patch.setattr(rtc_bayes, "__version__", "9.9")
        with pytest.raises(InputError, match=r"has rtc_bayes 0.*; install rtc_bayes 9.9"):
            connect(two.address)
    two.have_workers(2, threads=2)
    with pytest.raises(InputError, match=r"runs 2 tasks at a time; .* --nthreads 1"):
        # it takes a moment to arrive
        wait_until(lambda: connect(two.address))


def connect(address):
    with cluster.connect(address):
        return False


@pytest.mark.usefixtures("impatient")
def test_no_workers(started):
    with pytest.raises(InputError, match=r"no workers; start some: dask worker tcp://127.0.0.1"):
        connect(started().address)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("address", ["dask://127.0.0.1:1", "tcp://nowhere.invalid:8786"])
def test_no_answer(address):
    place = address.partition("://")[2]
    with pytest.raises(InputError, match=f"no Dask scheduler answers at tcp://{place}"):
        connect(address)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_is_no_scheduler():
    refused = pytest.raises(InputError, match="no Dask scheduler answers")
    with socket.create_server(("127.0.0.1", 0)) as server, refused:
        connect(f"dask://127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "dask://127.0.0.1", "http://a:1", ""])
def test_other_addresses_are_refused(address):
    with pytest.raises(InputError, match="write dask://HOST:PORT"):
        connect(address)


def test_a_scheduler_needs_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'rtc-bayes\[cluster\]'"):
        connect("dask://127.0.0.1:8786")
