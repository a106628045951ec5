"""Chapter 6 of Hosseini 2013: topics chosen while they are judged, on TREC-8.

    RTC_BAYES_DATA=FOLDER python -m experiments.topics.chapter6 [--starts 50] [--by logistic,svm]

prints Markdown. All 129 runs, average precision; a topic's judgments are those of the depth-100
pool of all runs, and lists are cut there while topics are chosen. A selection is scored by
Kendall's tau and Pearson's correlation of the mean over its topics with the mean over all, both by
complete judgments of whole lists, for all runs and the best 30; starts are other first topics. The
oracle has seen all of it (`select_topics`, criterion tau). Standard error gets besides what
all topics give at the largest size: judged ones as they are, the others as expected, cut at 100.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

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
)
from rtc_bayes.report.tables import to_markdown

SHARES = (0.2, 0.4, 0.6)
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
#: Measures of Table 6.5; recall to the depth of the pool.
MEASURES = ("AP", "P@10", "P@100", "R@100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--by", default="logistic", help="beliefs, with commas between")
    parser.add_argument("--ways", default="0,1,2,3,4", help="which rows of each belief")
    parser.add_argument("--several", action="store_true", help="Table 6.5 instead: Adaptive*")
    options = parser.parse_args()
    runs, qrels = read_collection("trec8_adhoc")
    truth = ScoreMatrix.from_qrels(runs, qrels)
    pool = Pool.from_runs(runs, depth=100)
    sizes = [round(share * len(truth.topics)) for share in SHARES]
    if options.several:
        print(to_markdown(several_measures(runs, qrels, pool, options.starts, options.by)))
        return
    rows = [row("random", random_means(truth, sizes), truth)]
    for by in options.by.split(","):
        for name, how in [list(WAYS.items())[int(n)] for n in options.ways.split(",")]:
            judged, every = adaptive_means(pool, qrels, truth, sizes, options.starts, by=by, **how)
            rows.append(row(f"{by}{name}", judged, truth))
            all_topics = dict(columns(every, truth.mean.mean(axis=1), SHARES[-1:]))
            print(f"{by}{name}, all topics: {all_topics}", file=sys.stderr)
    rows.append(row("oracle", oracle_means(truth, sizes), truth))
    print(to_markdown(pd.DataFrame(rows)))


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
    starts: int,
    **how: object,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means over judged topics, and over all with what is expected when most are judged.

    Shapes (sizes, starts, systems) and (1, starts, systems).
    """
    topics = np.random.default_rng(1).permutation(truth.topics)
    judged = np.empty((len(sizes), starts, len(truth.systems)))
    every = np.empty((1, starts, len(truth.systems)))
    for start in range(starts):
        first = str(topics[start % len(topics)])
        chosen = select_adaptively(pool, qrels, max(sizes), first=first, seed=start, **how)
        for n, size in enumerate(sizes):
            judged[n, start] = of_topics(truth, chosen.topics[:size])
        every[0, start] = chosen.mean("all")
    return judged, every


def several_measures(runs: Runs, qrels: Qrels, pool: Pool, starts: int, by: str) -> pd.DataFrame:
    """Return what other measures lose when topics are chosen by one, or by all (Adaptive*).

    A row is a way to choose, a column a measure: its tau with topics chosen by itself, less its
    tau with these topics, averaged over starts and the shares of topics.
    """
    truths = {name: ScoreMatrix.from_qrels(runs, qrels, name) for name in MEASURES}
    topics = truths["AP"].topics
    sizes = [round(share * len(topics)) for share in SHARES]
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


def of_topics(truth: ScoreMatrix, topics: tuple[str, ...]) -> NDArray[np.float64]:
    """Return every system's mean over some topics."""
    columns = [truth.topics.index(topic) for topic in topics]
    return truth.mean[:, columns].mean(axis=1)


def row(name: str, means: NDArray[np.float64], truth: ScoreMatrix) -> dict[str, object]:
    """Return a row of the table: medians would hide bad starts, so these are means."""
    return {"topics by": name} | dict(columns(means, truth.mean.mean(axis=1), SHARES))


def columns(
    means: NDArray[np.float64], true: NDArray[np.float64], shares: tuple[float, ...]
) -> Iterator[tuple[str, str]]:
    """Give tau and the correlation at every size, of all runs and of the best."""
    best = np.argsort(-true, kind="stable")[:BEST]
    for label, systems in (("", np.arange(len(true))), (f", best {BEST}", best)):
        for share, of_size in zip(shares, means, strict=True):
            taus = [kendall_tau(one[systems], true[systems]) for one in of_size]
            yield f"tau at {share:.0%}{label}", f"{np.mean(taus):.3f}"
    for share, of_size in zip(shares, means, strict=True):
        r = [np.corrcoef(one, true)[0, 1] for one in of_size]
        yield f"Pearson at {share:.0%}", f"{np.mean(r):.3f}"


if __name__ == "__main__":
    main()
