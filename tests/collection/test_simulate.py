"""Simulated collections: what they hold, that a seed fixes them, that they look like TREC's."""

from __future__ import annotations

import gzip
import json
import warnings

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.collection.simulate import COLLECTION_SIZE, _docno, simulate, write
from rtc_bayes.errors import InputError
from rtc_bayes.measures.truth import evaluate


@pytest.fixture(scope="module")
def trec_like():
    return simulate(n_topics=20, n_systems=129, depth=1000, seed=3)


def test_what_it_holds():
    simulation = simulate(n_topics=6, n_systems=12, documents=2000, depth=200, seed=1)
    assert len(simulation.runs) == 12
    assert simulation.runs.topics == tuple(str(t) for t in range(501, 507))
    assert simulation.qrels.topics == simulation.runs.topics
    assert set(simulation.groups) == set(simulation.runs.systems)
    assert simulation.manifest["judged"] == simulation.qrels.counts()[0]
    assert {d for v in simulation.qrels.values() for d in v.values()} == {0, 1}
    assert "12 systems" in repr(simulation)
    assert rb.simulate is simulate


def test_the_pool_to_depth_100_is_judged():
    simulation = simulate(n_topics=4, n_systems=9, documents=1000, depth=150, seed=2)
    for run in simulation.runs.values():
        for topic in run.topics:
            assert set(run.ranking(topic)[:100]) <= set(simulation.qrels[topic])
    # a relevant document may be judged and not retrieved, another may not
    pool = rb.Pool.from_runs(simulation.runs, depth=100)
    for topic, grades in simulation.qrels.items():
        t = pool.topics.index(topic)
        outside = set(grades) - set(pool.docnos[pool.documents(t)])
        assert all(grades[docno] == 1 for docno in outside)


def test_runs_are_in_trec_order():
    simulation = simulate(n_topics=3, n_systems=16, documents=1500, depth=300, seed=5)
    tied = 0
    for run in simulation.runs.values():
        for topic in run.topics:
            docnos, scores = run.ranking(topic), run.scores(topic)
            again = rb.Run.from_rankings("x", {topic: docnos}, scores={topic: scores})
            assert again.ranking(topic).tolist() == docnos.tolist()
            tied += int((np.diff(scores) == 0).sum())
    assert tied > 0


def test_docnos_are_distinct_and_in_order():
    docnos = [_docno(i) for i in range(0, COLLECTION_SIZE, 7)] + [_docno(COLLECTION_SIZE - 1)]
    assert len(set(docnos)) == len(docnos)
    assert docnos == sorted(docnos)
    assert docnos[0].startswith("FBIS3-")
    assert docnos[-1].startswith("LA")


def test_a_seed_fixes_it_and_another_changes_it():
    small = {"n_topics": 3, "n_systems": 6, "documents": 500, "depth": 50}
    one, same, other = (simulate(**small, seed=seed) for seed in (7, 7, 8))
    digests = [run.digest for run in one.runs.values()]
    assert digests == [run.digest for run in same.runs.values()]
    assert one.qrels.digest == same.qrels.digest
    assert not set(digests) & {run.digest for run in other.runs.values()}


def test_written_and_read_back(tmp_path):
    simulation = simulate(n_topics=3, n_systems=6, documents=500, depth=50, seed=7)
    for folder in ("a", "b"):
        write(simulation, tmp_path / folder)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
    assert {str(p) for p in files} >= {"qrels.txt", "groups.csv", "manifest.json"}
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    runs = rb.read_runs(tmp_path / "a" / "runs")
    assert set(runs) == set(simulation.runs)
    for system, run in runs.items():
        for topic in run.topics:
            assert run.ranking(topic).tolist() == simulation.runs[system].ranking(topic).tolist()
    assert dict(rb.read_qrels(tmp_path / "a" / "qrels.txt")) == dict(simulation.qrels)
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert manifest["seed"] == 7
    assert manifest["version"] == rb.__version__
    groups = (tmp_path / "a" / "groups.csv").read_text().splitlines()
    assert groups[0] == "system,group"
    assert len(groups) == 7
    assert rb.read_groups(tmp_path / "a" / "groups.csv") == simulation.groups
    assert set(simulation.groups) == set(runs)


def test_a_folder_with_other_runs_is_refused(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine.gz").write_bytes(gzip.compress(b"1 Q0 d 1 1 mine\n"))
    simulation = simulate(n_topics=1, n_systems=2, documents=100, depth=10)
    with pytest.raises(InputError, match=r"mine\.gz"):
        write(simulation, tmp_path)
    assert not (tmp_path / "qrels.txt").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.txt", "1 0 d 1\n"),
        ("qrels.txt.meta.json", '{"judged_for": ["mine"]}'),
        ("groups.csv", "system,group\nmine,ours\n"),
        ("manifest.json", '{"mine": 1}'),
    ],
)
def test_what_no_simulation_wrote_is_kept(tmp_path, name, text):
    simulation = simulate(n_topics=1, n_systems=2, documents=100, depth=10)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=rf"{name}: is not as manifest.json says .*empty folder"):
        write(simulation, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == text


def test_a_simulation_takes_the_place_of_another_that_is_as_it_was_written(tmp_path):
    one, other = (
        simulate(n_topics=1, n_systems=2, documents=100, depth=10, seed=seed) for seed in (1, 2)
    )
    for each in (one, one, other):
        write(each, tmp_path)
        assert dict(rb.read_qrels(tmp_path / "qrels.txt")) == dict(each.qrels)
    with (tmp_path / "qrels.txt").open("a") as file:
        file.write("501 0 mine 1\n")
    with pytest.raises(InputError, match=r"qrels\.txt: is not as manifest\.json says"):
        write(one, tmp_path)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_topics": 0},
        {"n_systems": 0},
        {"documents": 99},
        {"depth": 0},
        {"depth": 2000, "documents": 1000},
        {"seed": -1},
    ],
)
def test_bad_arguments(bad):
    with pytest.raises(InputError, match="is "):
        simulate(**bad)


def test_the_smallest_collection():
    simulation = simulate(n_topics=1, n_systems=1, documents=100, depth=100, seed=0)
    assert len(simulation.runs["site01a"].ranking("501")) <= 100
    assert evaluate(simulation.runs, simulation.qrels, "AP").mean["AP"][0] > 0


def test_map_is_spread_as_in_trec8(trec_like):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ap = evaluate(trec_like.runs, trec_like.qrels, "AP")["AP"]
    means = ap.mean(axis=1)
    assert 0.18 < means.mean() < 0.30  # TREC-8: .235
    assert 0.06 < means.std() < 0.13  # .097
    assert means.min() < 0.05  # .003
    assert 0.35 < means.max() < 0.60  # .469
    assert 0.10 < ap.mean(axis=0).std() < 0.22  # .161


def test_sites_agree_more_than_strangers_as_in_trec8(trec_like):
    pool = rb.Pool.from_runs(trec_like.runs, depth=100)
    assert 1600 < pool.n_documents / pool.n_topics < 3000  # TREC-8: 2177
    site = np.array([trec_like.groups[system] for system in pool.systems])
    same = site[:, None] == site[None, :]
    overlap = np.zeros(same.shape)
    for t in range(pool.n_topics):
        top = (pool.ranks(t) > 0).astype(np.float32)
        length = top.sum(axis=1)
        overlap += top @ top.T / np.minimum.outer(length, length) / pool.n_topics
    pairs = np.triu_indices(len(site), 1)
    overlap, same = overlap[pairs], same[pairs]
    assert 0.22 < overlap[~same].mean() < 0.42  # .318
    assert 0.45 < overlap[same].mean() < 0.70  # .581


def test_manual_runs_are_short_and_good(trec_like):
    kinds = {s["system"]: s["kind"] for s in trec_like.manifest["systems"]}
    lengths = {
        system: np.median([len(run.ranking(topic)) for topic in run.topics])
        for system, run in trec_like.runs.items()
    }
    short = [system for system, length in lengths.items() if length < 200]
    assert short
    assert all(kinds[system] == "manual" for system in short)
    p10 = evaluate(trec_like.runs, trec_like.qrels, "P@10").to_dict()["P@10"]
    ordinary = np.median([p10[system] for system in p10 if kinds[system] == "automatic"])
    assert all(p10[system] > ordinary for system in short)


def test_relevance_is_rare_and_skewed(trec_like):
    relevant = np.array([sum(grades.values()) for grades in trec_like.qrels.values()])
    assert 60 < relevant.mean() < 140  # TREC-8: 94.6, median 70.5, 6 to 347
    assert np.median(relevant) < relevant.mean()
    assert relevant.min() < 20
    assert relevant.max() > 250
