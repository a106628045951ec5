"""Compare every pair of a track that would not fit in memory as dense arrays.

Usage: python -m experiments.speed.track [--topics 1000 --systems 500 --depth 1000 --draws 1
       --jobs 2]

A synthetic track: for each topic a common order of documents, which every system sees through noise
of its own. The pool is made topic by topic; draws of the probabilities of relevance go to a file as
single-precision numbers and are read topic by topic. Prints the sizes, the time and the
peak of memory as Markdown; progress and the time left go to standard error.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import rtc_bayes as rb
from rtc_bayes.store import Progress, progress_bar

CANDIDATES = 20
"""Documents that can be retrieved for a topic, as a multiple of the depth."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("topics", 1000), ("systems", 500), ("depth", 1000), ("draws", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with progress_bar() as progress, tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        pool = build(options.topics, options.systems, options.depth, progress)
        relevance = stored_draws(pool, options.draws, Path(folder) / "draws")
        built = time.perf_counter() - start
        start, processor = time.perf_counter(), time.process_time()
        found = rb.compare(
            pool, relevance, moments="plugin", workers=rb.Workers(options.jobs, progress=progress)
        )
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    dense = 8 * pool.n_systems * pool.n_documents / 1e9
    each = processor / options.topics
    sizes = f"--topics {options.topics} --systems {options.systems} --depth {options.depth}"
    print("# A track that memory would not hold as dense arrays\n")
    print(" ".join(__doc__.split("\n\n")[2].split("Prints")[0].split()) + "\n")
    print(
        f"    python -m experiments.speed.track {sizes} --draws {options.draws} "
        f"--jobs {options.jobs}\n"
    )
    print("| | |\n|---|---|")
    for what, value in {
        "topics, systems, depth, draws": f"{options.topics}, {options.systems}, "
        f"{options.depth}, {options.draws}",
        "documents of the pool": f"{pool.n_documents:,}",
        "entries of the lists": f"{len(pool.ranked):,}",
        "ranks as a dense array, GB": f"{dense:.0f}",
        "pairs": f"{len(found.a):,}",
        "building, s": f"{built:.0f}",
        "comparing, s of the clock": f"{seconds:.0f} with {options.jobs} threads",
        "comparing, s of processor time": f"{processor:.0f}",
        "a topic, s of processor time": f"{each:.2f}",
        "a pair on a topic, µs": f"{1e6 * each / len(found.a):.1f}",
        "peak of memory, GB": f"{peak:.1f}",
    }.items():
        print(f"| {what} | {value} |")


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
