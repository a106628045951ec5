"""Compare every pair of a track that would not fit in memory as dense arrays.

Usage: python -m experiments.speed.track --topics 1000 --systems 500 --depth 1000 --draws 1 --jobs 2
       > docs/results/speed-track.md

A synthetic track: for each topic a common order of documents, which every system sees through noise
of its own. The pool is made topic by topic; draws of the probabilities of relevance go to a file as
single-precision numbers and are read topic by topic.

Progress and the time left go to standard error.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import rtc_bayes as rb
from experiments.speed import timing
from rtc_bayes.store import Progress, progress_bar

CANDIDATES = 20
"""Documents that can be retrieved for a topic, as a multiple of the depth."""


def main() -> None:
    options = timing.arguments(__doc__, topics=1000, systems=500, depth=1000, draws=1, jobs=2)
    with progress_bar() as progress, tempfile.TemporaryDirectory() as folder:

        def built() -> tuple[rb.Pool, rb.Relevance]:
            pool = build(options.topics, options.systems, options.depth, progress)
            return pool, stored_draws(pool, options.draws, Path(folder) / "draws")

        (pool, relevance), (building, _) = timing.clocked(built)
        workers = rb.Workers(options.jobs, progress=progress)
        comparison, (seconds, processor) = timing.clocked(
            lambda: rb.compare(pool, relevance, moments="plugin", workers=workers)
        )
    timing.print_head("A track that memory would not hold as dense arrays", __doc__)
    each = processor / options.topics
    sizes = options.topics, options.systems, options.depth, options.draws
    values = {
        "topics, systems, depth, draws": ", ".join(map(str, sizes)),
        "documents of the pool": f"{pool.n_documents:,}",
        "entries of the lists": f"{len(pool.ranked):,}",
        "ranks as a dense array, GB": f"{8 * pool.n_systems * pool.n_documents / 1e9:.0f}",
        "pairs": f"{len(comparison.a):,}",
        "building, s": f"{building:.0f}",
        "comparing, s of the clock": f"{seconds:.0f} with {options.jobs} threads",
        "comparing, s of processor time": f"{processor:.0f}",
        "a topic, s of processor time": f"{each:.2f}",
        "a pair on a topic, µs": f"{1e6 * each / len(comparison.a):.1f}",
        "peak of memory, GB": f"{timing.peak():.1f}",
    }
    timing.print_table(" | ", values.items())


def build(topics: int, systems: int, depth: int, progress: Progress) -> rb.Pool:
    """Make the pool, one topic after the other."""
    rng = np.random.default_rng(0)
    width = len(str(CANDIDATES * depth))
    names = np.array([f"d{i:0{width}d}" for i in range(CANDIDATES * depth)], dtype=object)
    noise = rng.uniform(0.5, 1.5, systems).astype(np.float32)
    ranked = np.empty((systems, topics, depth), dtype=np.int32)
    docnos: list[np.ndarray] = []
    starts = [0]
    for t in range(topics):
        held, numbers = one_topic(rng, noise, depth)
        ranked[:, t] = numbers + starts[-1]
        docnos.append(names[held])
        starts.append(starts[-1] + len(held))
        progress("building", t + 1, topics)
    return rb.Pool(
        systems=tuple(f"s{s:04d}" for s in range(systems)),
        topics=tuple(str(t + 1) for t in range(topics)),
        depth=depth,
        score_depth=depth,
        docnos=np.concatenate(docnos),
        topic_starts=np.array(starts),
        ranked=ranked.reshape(-1),
        list_starts=np.arange(systems * topics + 1) * depth,
    )


def one_topic(
    rng: np.random.Generator, noise: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """Documents that any system retrieves, and every system's list of them, (systems, depth)."""
    place = np.log1p(rng.permutation(CANDIDATES * depth)).astype(np.float32)
    lists = np.empty((len(noise), depth), dtype=np.int64)
    for s, sd in enumerate(noise):
        seen = place + sd * rng.standard_normal(len(place), dtype=np.float32)
        first = np.argpartition(seen, depth)[:depth]
        lists[s] = first[np.argsort(seen[first])]
    held, numbers = np.unique(lists, return_inverse=True)
    return held, numbers.reshape(lists.shape)


def stored_draws(pool: rb.Pool, draws: int, path: Path) -> rb.Relevance:
    """Probabilities that are rare and large, or common and small, in a file."""
    rng = np.random.default_rng(1)
    shape = (draws, pool.n_documents)
    stored = np.memmap(path, dtype=np.float32, mode="w+", shape=shape)
    for t in range(pool.n_topics):
        inside = pool.documents(t)
        stored[:, inside] = rng.beta(0.05, 1.0, (draws, inside.stop - inside.start))
    stored.flush()
    return rb.Relevance.from_values(pool, stored[None])


if __name__ == "__main__":
    main()
