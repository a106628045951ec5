"""What the priors of `hierarchical` say of relevance before anything is judged.

    RTC_BAYES_DATA=FOLDER python -m experiments.prior_predictive.hierarchical

draws parameters from the prior (the posterior without judgments) over pools of ten systems to
depth 100, and relevance given them: of Robust 2003's runs and of three simulated collections. It
prints quantiles of the relevant documents per topic in the pool, of the systems' MAP and of its
spread over systems, beside what the same pools really have and what TREC-5 to TREC-7 had, and
writes docs/figures/hierarchical-prior.png. TREC-8 is not looked at.
"""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from rtc_bayes import Judgments, Pool, Qrels, Runs, read_qrels, read_runs, simulate
from rtc_bayes.relevance import load_model
from rtc_bayes.relevance.interface import Sampling
from rtc_bayes.store import atomic_path

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "hierarchical-prior.png"
SYSTEMS, POOLS, DRAWS = 10, 6, 60
NAMES = ("relevant per topic", "share relevant", "MAP of a system", "sd of MAP over systems")
PRIOR, REAL, TREC = "#4a7fb5", "#1a1a1a", "#d1495b"


def scores(pool: Pool, relevant: np.ndarray) -> np.ndarray:
    """Average precision of the cut lists, shape (outcomes, systems, topics)."""
    scores_of = np.zeros((len(relevant), pool.n_systems, pool.n_topics))
    for t in range(pool.n_topics):
        total = np.maximum(relevant[:, pool.documents(t)].sum(axis=1), 1)
        for s in range(pool.n_systems):
            hits = relevant[:, pool.ranking(s, t)]
            precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
            scores_of[:, s, t] = (hits * precision).sum(axis=1) / total
    return scores_of


def summary(pool: Pool, relevant: np.ndarray) -> list[np.ndarray]:
    """The values of NAMES, those of all outcomes together."""
    per_topic = np.add.reduceat(relevant, pool.topic_starts[:-1], axis=1)
    means = scores(pool, relevant).mean(axis=2)
    share = per_topic.sum(axis=1) / pool.n_documents
    return [per_topic.ravel(), share, means.ravel(), means.std(axis=1, ddof=1)]


def collections() -> dict[str, list[tuple[Runs, Qrels]]]:
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "robust03"
    robust = (read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz"))
    made = [simulate(n_topics=50, n_systems=40, seed=seed) for seed in range(3)]
    return {"Robust 2003": [robust], "simulated": [(each.runs, each.qrels) for each in made]}


def study(pairs: list[tuple[Runs, Qrels]], options: dict, rng: np.random.Generator):
    """Prior predictive values, and the true ones, over pools of ten systems."""
    model = load_model("hierarchical", options)
    prior, truth = [], []
    for runs, qrels in pairs:
        pool_of_all = Pool.from_runs(runs, depth=100)
        for number in range(POOLS):
            chosen = rng.choice(pool_of_all.n_systems, SYSTEMS, replace=False)
            pool = pool_of_all.select([pool_of_all.systems[s] for s in sorted(chosen)])
            draws = model.laplace(
                Judgments.none(pool), Sampling(draws=DRAWS, chains=1, seed=number)
            )
            prior.append(summary(pool, rng.random(draws.values.shape) < draws.values))
            labels = Judgments.from_qrels(pool, qrels)
            kept = np.zeros(labels.pool.n_documents, dtype=bool)
            kept[labels.pool.ranked] = True
            truth.append(summary(pool, (np.nan_to_num(labels.labels[kept]) > 0.5)[None]))
    return [
        [np.concatenate(values) for values in zip(*rows, strict=True)] for rows in (prior, truth)
    ]


def trec() -> dict[str, tuple[float, float, float]]:
    """Least and largest MAP of the ad hoc runs of TREC-5 to TREC-7, and its sd."""
    facts = {}
    for year in (5, 6, 7):
        path = Path(os.environ["RTC_BAYES_DATA"]) / "score_matrices" / f"adhoc{year}_ap.csv"
        with path.open() as file:
            table = np.array([list(map(float, row)) for row in list(csv.reader(file))[1:]])
        means = table.mean(axis=0)
        facts[f"TREC-{year}"] = (means.min(), means.max(), means.std(ddof=1))
    return facts


def row(name: str, values: np.ndarray) -> str:
    cells = np.quantile(values, (0.025, 0.25, 0.5, 0.75, 0.975))
    return f"| {name} | " + " | ".join(f"{cell:.3g}" for cell in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--option", action="append", default=[], help="an option of the model")
    options = dict(text.split("=") for text in parser.parse_args().option)
    rng = np.random.default_rng(0)
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    fig, axes = plt.subplots(2, len(NAMES), figsize=(11, 4.6), layout="constrained")
    facts = trec()
    print(f"MAP of the runs of {facts}")
    print("| | 2.5% | 25% | 50% | 75% | 97.5% |\n|---|--:|--:|--:|--:|--:|")
    for line, (name, pairs) in zip(axes, collections().items(), strict=True):
        prior, truth = study(pairs, options, rng)
        for ax, quantity, drawn, real in zip(line, NAMES, prior, truth, strict=True):
            print(row(f"{name}: {quantity}, prior", drawn))
            print(row(f"{name}: {quantity}, true", real))
            end = np.quantile(drawn, 0.99)
            bins = np.linspace(0, max(end, real.max()), 50)
            ax.hist(drawn, bins, density=True, color=PRIOR, alpha=0.5)
            ax.hist(real, bins[::2], density=True, histtype="step", color=REAL, lw=1.3)
            ax.set(yticks=[], xlabel=quantity, xlim=(0, bins[-1]))
        for low, high, sd in facts.values():
            line[2].plot([low, high], [0.0, 0.0], color=TREC, lw=4, alpha=0.5, clip_on=False)
            line[3].axvline(sd, color=TREC, lw=1)
        line[0].set_ylabel(name)
    axes[0, 0].plot([], [], color=PRIOR, lw=6, alpha=0.5, label="prior")
    axes[0, 0].plot([], [], color=REAL, label="the truth of the same pools")
    axes[0, 0].plot([], [], color=TREC, label="ad hoc runs, TREC-5 to 7")
    axes[0, 0].legend(frameon=False)
    with atomic_path(FIGURE) as temporary:
        fig.savefig(temporary, dpi=130, metadata={"Software": None}, format="png")


if __name__ == "__main__":
    main()
