"""What a pool cannot tell of whole lists, though all its documents are judged.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.outside [--sets 40]

draws sets of two and of ten systems, gives every document of their pool of depth 100 its label,
and holds their MAP, over lists cut at the depth or down to rank 1000, with the unseen relevant
documents that the jackknife expects or without, against MAP by whole lists and all judgments: its
bias; the slope of differences, by least squares through 0, and their standard deviation about that
line; and the share of pairs in the wrong order. The last column is the residual of a system: the
standard deviation over the square root of 2. Prints Markdown.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from experiments.common import read_collection
from rtc_bayes import Judgments, Pool, evaluate, moments
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence.unseen import with_unseen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    sets = parser.parse_args().sets
    print("| | systems | lists to | unseen | bias | slope | sd | wrong order | residual |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("robust03", "trec8_adhoc"):
        runs, qrels = read_collection(name)
        truth = evaluate(runs, qrels, "AP", topics="all").mean["AP"]
        every = Pool.from_runs(runs)
        for systems in (2, 10):
            chosen = draw(every.n_systems, systems, sets if systems == 10 else 4 * sets)
            pools = [every.select([every.systems[i] for i in some]) for some in chosen]
            labels_of = [labels(pool, Judgments.from_qrels(pool, qrels)) for pool in pools]
            for depth in (100, 1000):
                for unseen in (False, True):
                    scores = [
                        mean_scores(replace(pool, score_depth=depth), p, unseen=unseen)
                        for pool, p in zip(pools, labels_of, strict=True)
                    ]
                    agreement = compared(np.array(scores), truth[chosen])
                    cells = " | ".join(agreement)
                    print(f"| {name} | {systems} | {depth} | {unseen} | {cells} |", flush=True)


def draw(population: int, systems: int, sets: int) -> np.ndarray:
    """Sets of systems, (sets, systems)."""
    random = np.random.default_rng(1)
    return np.array([random.choice(population, systems, replace=False) for _ in range(sets)])


def labels(pool: Pool, judged: Judgments) -> np.ndarray:
    """Relevance of the pool's documents, (1, documents); without a judgment they are not."""
    place = [
        judged.pool.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)
    ]
    return np.nan_to_num(judged.labels[np.concatenate(place)])[None]


def mean_scores(pool: Pool, p: np.ndarray, *, unseen: bool) -> np.ndarray:
    """MAP of every system."""
    return moments(*(with_unseen(pool, p) if unseen else (pool, p))).mean_expected[0]


def compared(scores: np.ndarray, truth: np.ndarray) -> tuple[str, ...]:
    """Bias, slope, standard deviation about it, pairs in the wrong order, and the residual."""
    a, b = all_pairs(scores.shape[1])
    predicted, true = ((of[:, a] - of[:, b]).ravel() for of in (scores, truth))
    slope = (predicted @ true) / (true @ true)
    spread = (predicted - slope * true).std()
    wrong = np.mean(np.sign(predicted) != np.sign(true))
    return (
        f"{(scores - truth).mean():+.3f}",
        f"{slope:.2f}",
        f"{spread:.4f}",
        f"{wrong:.1%}",
        f"{spread / np.sqrt(2):.4f}",
    )


if __name__ == "__main__":
    main()
