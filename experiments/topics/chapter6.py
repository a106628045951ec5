"""Chapter 6 of Hosseini 2013: topics chosen while they are judged, on TREC-8.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.chapter6 [--starts 50] [--by logistic,svm]

prints Markdown. All 129 runs, average precision; a topic's judgments are those of the depth-100
pool of all runs, and lists are cut there while topics are chosen. A selection is scored by
Kendall's tau and Pearson's correlation of the mean over its topics with the mean over all, both by
complete judgments of whole lists, for all runs and the best 30; starts are other first topics, the
same for every row. ± is one standard error over them. Rows "all topics" score by the mean over
all topics, judged ones as they are and the others as expected, cut at 100. The oracle has seen all
of it (`select_topics`, criterion tau). A second table has the differences from the first adaptive
row. With --several, --first-topics or --simulated N it prints another table of the chapter.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.common import read_collection
from rtc_bayes import (
    Pool,
    Qrels,
    Runs,
    ScoreMatrix,
    kendall_tau,
    select_adaptively,
    select_topics,
    simulate,
)
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.topics.adaptive import rank_topics

BEST = 30
RANDOM_SETS = 10_000
ORACLE_SAMPLES = 10_000

#: How the next topic is chosen, by the name of a row; `by` is put before.
WAYS = {
    "": {},
    ", no noise": {"noise": "none"},
    ", hard labels (IQP)": {"noise": "none", "hard": True},
    ", vote (Adaptive+)": {"solver": "vote"},
    ", no noise, vote": {"noise": "none", "solver": "vote"},
    ", centred noise": {"noise": "centred"},
    ", on draws": {"noise": "draws"},
    ", centred noise, vote": {"noise": "centred", "solver": "vote"},
}
#: What is done with what is uncertain, for Table 6.3.
NOISES = {"": {}, "no noise": {"noise": "none"}, "on draws": {"noise": "draws"}}
TARGETS = (0.7, 0.8, 0.9)
#: Measures of Table 6.5; recall to the depth of the pool.
MEASURES = ("AP", "P@10", "P@100", "R@100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--skip", type=int, default=0, help="so many starts are left out")
    parser.add_argument("--runs", type=int, help="so many of the runs, spread over their names")
    parser.add_argument("--shares", default="20,40,60", help="of the topics, in percent")
    parser.add_argument("--by", default="logistic", help="beliefs, with commas between")
    parser.add_argument("--ways", default="0,1,2,3,4", help="which rows of each belief")
    parser.add_argument("--several", action="store_true", help="Table 6.5 instead: Adaptive*")
    parser.add_argument("--first-topics", action="store_true", help="Figure 6.5 instead")
    parser.add_argument("--simulated", type=int, help="Table 6.3 instead, on so many topics")
    options = parser.parse_args()
    if options.simulated:
        print(to_markdown(topics_needed(options.simulated, options.starts, options.by)))
        return
    runs, qrels = read_collection("trec8_adhoc")
    if options.runs:
        spread = np.linspace(0, len(runs) - 1, options.runs).astype(int)
        runs = runs.select([runs.systems[n] for n in spread])
    truth = ScoreMatrix.from_qrels(runs, qrels)
    pool = Pool.from_runs(runs, depth=100)
    shares = [int(share) for share in options.shares.split(",")]
    sizes = [round(share * len(truth.topics) / 100) for share in shares]
    if options.several:
        print(to_markdown(several_measures(runs, qrels, pool, sizes, options.starts, options.by)))
        return
    if options.first_topics:
        print(to_markdown(spread_over_firsts(truth)))
        return
    true = truth.mean.mean(axis=1)
    starts = range(options.skip, options.skip + options.starts)
    scored = {"random": columns(random_means(truth, sizes), true, shares)}
    for by in options.by.split(","):
        for name, how in [list(WAYS.items())[int(n)] for n in options.ways.split(",")]:
            judged, every = adaptive_means(pool, qrels, truth, sizes, starts, by=by, **how)
            scored[f"{by}{name}"] = columns(judged, true, shares)
            scored[f"{by}{name}; all topics"] = columns(every, true, shares)
            print(row(f"{by}{name}", scored[f"{by}{name}"]), file=sys.stderr, flush=True)
    first, *others = [name for name in scored if name != "random"]
    apart = {
        f"{name}, less {first}": {c: v - scored[first][c] for c, v in scored[name].items()}
        for name in others
    }
    scored["oracle"] = columns(oracle_means(truth, sizes), true, shares)
    for rows in (scored, apart):
        print(to_markdown(pd.DataFrame([row(name, values) for name, values in rows.items()])))


def random_means(truth: ScoreMatrix, sizes: list[int]) -> NDArray[np.float64]:
    """Return means over random sets, shape (sizes, sets, systems)."""
    rng = np.random.default_rng(0)
    sets = rng.permuted(np.tile(np.arange(len(truth.topics)), (RANDOM_SETS // 10, 1)), axis=1)
    return np.stack([truth.mean[:, sets[:, :size]].mean(axis=2).T for size in sizes])


def oracle_means(truth: ScoreMatrix, sizes: list[int]) -> NDArray[np.float64]:
    """Return means over the best sets that were found."""
    chosen = [
        select_topics(truth, size=size, solver="oracle", criterion="tau", samples=ORACLE_SAMPLES)
        for size in sizes
    ]
    return np.stack([of_topics(truth, one.topics)[None] for one in chosen])


def adaptive_means(
    pool: Pool,
    qrels: Qrels,
    truth: ScoreMatrix,
    sizes: list[int],
    starts: range,
    *,
    by: str,
    hard: bool = False,
    **how: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means over judged topics, and over all topics, those not judged as expected.

    Both of shape (sizes, starts, systems).
    """
    firsts = np.random.default_rng(1).permutation(truth.topics)
    judged = np.empty((len(sizes), len(starts), len(truth.systems)))
    every = np.empty_like(judged)
    for n, start in enumerate(starts):
        belief = {"by": by, "hard": hard, "seed": start}
        first = str(firsts[start % len(firsts)])
        chosen = select_adaptively(pool, qrels, max(sizes), first=first, **belief, **how)
        for k, size in enumerate(sizes):
            topics = chosen.topics[:size]
            judged[k, n] = of_topics(truth, topics)
            if size < max(sizes):
                so_far = select_adaptively(pool, qrels, size, first=topics, **belief)
            else:
                so_far = chosen
            every[k, n] = so_far.mean("all")
    return judged, every


def several_measures(
    runs: Runs, qrels: Qrels, pool: Pool, sizes: list[int], starts: int, by: str
) -> pd.DataFrame:
    """Return what other measures lose when topics are chosen by one, or by all (Adaptive*).

    A row is a way to choose, a column a measure: its tau with topics chosen by itself, less its
    tau with these topics, averaged over starts and the shares of topics.
    """
    truths = {name: ScoreMatrix.from_qrels(runs, qrels, name) for name in MEASURES}
    topics = truths["AP"].topics
    firsts = np.random.default_rng(1).permutation(topics)
    ways: dict[str, str | tuple[str, ...]] = {name: name for name in MEASURES}
    ways["all four (Adaptive*)"] = MEASURES
    taus = {name: np.zeros(len(MEASURES)) for name in (*ways, "random")}
    for start in range(starts):
        rng = np.random.default_rng(start)
        first = str(firsts[start % len(topics)])
        for name in taus:
            if name == "random":
                orders = [tuple(rng.permutation(topics).tolist()) for _ in range(200)]
            else:
                options = {"by": by, "measure": ways[name], "first": first, "seed": start}
                orders = [select_adaptively(pool, qrels, max(sizes), **options).topics]
            taus[name] += [mean_tau(truths[name_], orders, sizes) / starts for name_ in MEASURES]
    own = np.array([taus[name][n] for n, name in enumerate(MEASURES)])
    rows = []
    for name, values in taus.items():
        loss = own - values
        other = [n for n, measure in enumerate(MEASURES) if measure != name]
        row = dict(zip(MEASURES, loss.round(3).tolist(), strict=True))
        rows.append({"topics by": name} | row | {"mean of others": round(loss[other].mean(), 3)})
    return pd.DataFrame(rows)


def mean_tau(truth: ScoreMatrix, orders: list[tuple[str, ...]], sizes: list[int]) -> float:
    """Return tau with the mean over all topics, averaged over orders and sizes."""
    true = truth.mean.mean(axis=1)
    taus = [kendall_tau(of_topics(truth, order[:size]), true) for order in orders for size in sizes]
    return float(np.mean(taus))


def spread_over_firsts(truth: ScoreMatrix) -> pd.DataFrame:
    """Return how much tau depends on the first topic where all scores are known (Figure 6.5)."""
    adaptive, random = taus_by_first(truth)
    rows = []
    for size in (1, 5, 10, 20, 30, 45):
        taus = adaptive[:, size - 1]
        row = {"topics": size, "sd of tau": taus.std(ddof=1), "mean": taus.mean()}
        rows.append(row | {"least": taus.min(), "random, mean": random[:, size - 1].mean()})
    return pd.DataFrame(rows).round(3)


def taus_by_first(truth: ScoreMatrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return tau by number of topics, for every first topic, and of orders drawn at random.

    Topics follow by equation (6.6) on true scores, without noise: shape (orders, topics).
    """
    rng, adaptive, random = np.random.default_rng(0), [], []
    for first in truth.topics:
        order = [first]
        while len(order) < len(truth.topics):
            order.append(rank_topics(truth, order, noise="none")[0][0])
        adaptive.append(taus_by_size(truth, order))
        random.append(taus_by_size(truth, rng.permutation(truth.topics).tolist()))
    return np.array(adaptive), np.array(random)


def topics_needed(n_topics: int, trials: int, by: str) -> pd.DataFrame:
    """Return how many topics reach a tau with the mean over all, on simulated tracks (Table 6.3).

    50 systems, P@5, lists of 5 documents; 2% of the topics are judged before any is chosen, and
    half at most. A number is the first at which the mean of tau over trials, each a track, reaches
    the target; of random topics over 20 orders of each track.
    """
    ways = {", ".join(filter(None, [by, name])): how for name, how in NOISES.items()}
    begun, most = max(1, n_topics // 50), n_topics // 2
    taus: dict[str, list[NDArray[np.float64]]] = {name: [] for name in ("random", *ways)}
    for seed in range(trials):
        track = simulate(n_topics=n_topics, n_systems=50, documents=1000, depth=5, seed=seed)
        truth = ScoreMatrix.from_qrels(track.runs, track.qrels, "P@5")
        pool, rng = Pool.from_runs(track.runs, depth=5), np.random.default_rng(seed)
        orders = [rng.permutation(truth.topics).tolist() for _ in range(20)]
        taus["random"] += [taus_by_size(truth, order) for order in orders]
        for name, how in ways.items():
            chosen = select_adaptively(
                pool, track.qrels, most, first=orders[0][:begun], measure="P@5", by=by, **how
            )
            taus[name].append(taus_by_size(truth, chosen.topics))
    rows = []
    for name, curves in taus.items():
        mean = np.mean(curves, axis=0)
        below = {
            f"tau {target}": int(np.argmax(np.append(mean >= target, True))) for target in TARGETS
        }
        reached = {k: f"{n + 1}" if n < len(mean) else f"above {n}" for k, n in below.items()}
        rows.append({"topics by": name} | reached)
    return pd.DataFrame(rows)


def taus_by_size(truth: ScoreMatrix, order: Sequence[str]) -> NDArray[np.float64]:
    """Return tau of the mean over the first topic, the first two, ... with that over all."""
    true = truth.mean.mean(axis=1)
    sums = truth.mean[:, [truth.topics.index(topic) for topic in order]].cumsum(axis=1)
    return np.array([kendall_tau(one, true) for one in sums.T])


def of_topics(truth: ScoreMatrix, topics: tuple[str, ...]) -> NDArray[np.float64]:
    """Return every system's mean over some topics."""
    columns = [truth.topics.index(topic) for topic in topics]
    return truth.mean[:, columns].mean(axis=1)


def columns(
    means: NDArray[np.float64], true: NDArray[np.float64], shares: list[int]
) -> dict[str, NDArray[np.float64]]:
    """Return tau and the correlation of every set at every size, of all runs and of the best."""
    best = np.argsort(-true, kind="stable")[:BEST]
    scored = {}
    for label, systems in (("", np.arange(len(true))), (f", best {BEST}", best)):
        for share, of_size in zip(shares, means, strict=True):
            taus = [kendall_tau(one[systems], true[systems]) for one in of_size]
            scored[f"tau at {share}%{label}"] = np.array(taus)
    for share, of_size in zip(shares, means, strict=True):
        r = [np.corrcoef(one, true)[0, 1] for one in of_size]
        scored[f"Pearson at {share}%"] = np.array(r)
    return scored


def row(name: str, scored: dict[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return a row of the table: means, as medians would hide bad starts, with standard errors."""
    cells = {}
    for column, values in scored.items():
        error = f" ±{values.std(ddof=1) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
        cells[column] = f"{values.mean():.3f}{error}"
    return {"topics by": name} | cells


if __name__ == "__main__":
    main()
