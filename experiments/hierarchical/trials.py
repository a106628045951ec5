"""W of `hierarchical`, plug-in and averaged over the posterior, on the same judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.hierarchical.trials trec8_adhoc --trials 24

takes trials as in Carterette 2007 (judgments for two systems by rtc:map to 95%, ten systems
evaluated, depth 100) and predicts all pairs: `map` by exact moments and the normal form; `laplace`
by one outcome of relevance for each of 1000 draws, the confidence being (less + equal / 2 + 1) /
(1000 + 2). This is what `rtc-bayes robustness --algorithms
rtc:map/hierarchical:map,rtc:map/hierarchical:laplace` does with moments of every draw, in a tenth
of its time.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from rtc_bayes import Judgments, Pool, Relevance, compare, read_qrels, read_runs
from rtc_bayes.judging import build, parse_algorithm
from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, draw_systems
from rtc_bayes.trials.scores import expected_winnings, kendall_tau, log_score, winnings
from rtc_bayes_models.hierarchical import Hierarchical


def scores(pool: Pool, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """MAP of the cut lists in one outcome per draw, shape (draws, systems)."""
    relevant = (rng.random(p.shape, dtype=np.float32) < p).astype(np.float32)
    found = np.zeros((len(p), pool.n_systems))
    for t in range(pool.n_topics):
        total = np.maximum(relevant[:, pool.documents(t)].sum(axis=1), 1)
        for s in range(pool.n_systems):
            hits = relevant[:, pool.ranking(s, t)]
            inverse = 1.0 / np.arange(1, hits.shape[1] + 1)
            found[:, s] += (np.cumsum(hits, axis=1) * hits) @ inverse / total
    return found / pool.n_topics


def by_map(judgments: Judgments) -> tuple[np.ndarray, np.ndarray, float]:
    """P(a < b) of every pair, expected scores, and no Pareto k."""
    p = np.where(judgments.judged, judgments.labels, Hierarchical().map(judgments).p)
    relevance = Relevance.from_values(judgments.pool, p)
    found = compare(judgments.pool, relevance, form="normal")
    return found.p_less + found.p_equal / 2.0, found.expected, np.nan


def by_laplace(judgments: Judgments, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """P(a < b) of every pair, expected scores, Pareto k."""
    drawn = Hierarchical().laplace(judgments, Sampling(draws=500, chains=2, seed=seed))
    p = np.where(judgments.judged, judgments.labels, drawn.values).astype(np.float32)
    found = scores(judgments.pool, p, np.random.default_rng(seed))
    a, b = np.triu_indices(judgments.pool.n_systems, 1)
    less = (found[:, a] < found[:, b]).sum(axis=0) + (found[:, a] == found[:, b]).sum(axis=0) / 2.0
    return (less + 1.0) / (len(found) + 2.0), found.mean(axis=0), drawn.diagnostics.checks[0].value


def row(name: str, trials: list[tuple[np.ndarray, np.ndarray, float, float]]) -> str:
    confidence, right = (np.concatenate([trial[part] for trial in trials]) for part in (0, 1))
    won = np.array([winnings(trial[0], trial[1]).mean() for trial in trials])
    chosen = np.random.default_rng(0).integers(0, len(won), (2000, len(won)))
    low, high = np.quantile(won[chosen].mean(axis=1), (0.05, 0.95))
    k = np.array([trial[3] for trial in trials])
    cells = [
        f"{won.mean():.2f} [{low:.2f}, {high:.2f}]",
        f"{expected_winnings(confidence).mean():.2f}",
        f"{log_score(confidence, right).mean():.3f}",
        f"{right.mean():.3f}",
        f"{confidence.mean():.3f}",
        f"{np.mean([trial[2] for trial in trials]):.3f}",
        f"{np.median(k):.2f}, {(k > 0.7).mean():.0%} above .7",
    ]
    return f"| {name}, {len(trials)} trials | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", choices=["trec8_adhoc", "robust03"])
    parser.add_argument("--trials", type=int, default=24)
    arguments = parser.parse_args()
    folder = Path(os.environ["RTC_BAYES_DATA"]) / arguments.collection
    runs, qrels = read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz")
    collection = Collection.from_runs(runs, qrels)
    rows: dict[str, list] = {"map": [], "laplace": []}
    with threadpool_limits(1):
        for number, seed in enumerate(spawn_seeds(0, arguments.trials)):
            draw = draw_systems(collection.pool.systems, Plan(("rtc:map",)), seed)
            made = build(
                collection.pool.select(draw.initial),
                qrels,
                parse_algorithm("rtc:map"),
                confidence=0.95,
                seed=draw.judging_seed,
            ).judgments
            if not made.n_judged:
                continue
            judgments = made.on(collection.pool.select(draw.everyone))
            truth = collection.truth_of(draw.everyone)
            a, b = np.triu_indices(len(truth), 1)
            sign = np.sign(truth[a] - truth[b])
            for name, found in (
                ("map", by_map(judgments)),
                ("laplace", by_laplace(judgments, number)),
            ):
                less, expected, k = found
                right = np.where(less > 0.5, -1, 1) == sign
                confidence, differ = np.maximum(less, 1.0 - less), sign != 0
                tau = kendall_tau(expected, truth)
                rows[name].append((confidence[differ], right[differ], tau, k))
    print("| | W | W expected | log score | accuracy | confidence | tau | Pareto k |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, trials in rows.items():
        print(row(name, trials))


if __name__ == "__main__":
    main()
