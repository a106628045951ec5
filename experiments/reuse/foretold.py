"""What an experiment or a pilot foretells, held to what comes.

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.foretold

First, sites of TREC-8 (its 41 groups put together at random to five): the loss that a hold-out
experiment says, beside what was lost: the same statistic less what it is where their sites took
part as well, on the same topics, which leaves what holding out did to them beyond what it did to
contributors. Then, a pilot of 50 topics of Robust 2004: the power that
it foretells on 249 topics, beside how often the loss is found there. Prints Markdown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rtc_bayes import (
    HoldOutDesign,
    ScoreMatrix,
    hold_out,
    judged_under,
    loss_posterior,
    pilot_power,
    read_groups,
    read_qrels,
    read_runs,
)
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.reuse.held import HeldScores
from rtc_bayes.reuse.loss import losses

DEPTHS, DESIGNS = (10, 20), 8
SITES, LOSSES, PILOTS, REPETITIONS = 13, (0.01, 0.02, 0.04), 4, 200


def main() -> None:
    data = Path(os.environ["RTC_BAYES_DATA"])
    by_site = pd.DataFrame(sites(data)).round(4)
    print(to_markdown(by_site), flush=True)
    print(to_markdown(pd.DataFrame(pilots(data)).round(3)))


def sites(data: Path) -> Iterator[dict[str, object]]:
    """Hold the posterior of each site's loss to what it lost."""
    runs = read_runs(data / "trec8_adhoc" / "runs")
    qrels = read_qrels(data / "trec8_adhoc" / "qrels.txt.gz")
    of_track = read_groups(data / "trec8_adhoc" / "run_groups.txt")
    order = sorted(set(of_track.values()))
    for depth in DEPTHS:
        rows = []
        for seed in range(DESIGNS):
            shuffled = np.random.default_rng(seed).permutation(order).tolist()
            site = {group: f"site{n % 5 + 1}" for n, group in enumerate(shuffled)}
            groups = {system: site[of_track[system]] for system in runs.systems}
            design = hold_out(groups, runs.topics, 2, seed=seed)
            everyone = HoldOutDesign(design.topics, design.groups, np.ones_like(design.contributes))
            full, cut = (
                ScoreMatrix.from_qrels(
                    runs, judged_under(qrels, runs, groups, each, depth), topics="all"
                )
                for each in (everyone, design)
            )
            posterior = loss_posterior(cut, groups, design, seed=seed)
            table = posterior.summary().set_index("group")
            with_, without = (losses(HeldScores.under(m, groups, design)) for m in (full, cut))
            means = dict(zip(design.groups, without.by_group - with_.by_group, strict=True))
            means["all"] = without.overall - with_.overall
            for name, true in means.items():
                row = table.loc[name]
                rows.append((name == "all", true, row["loss"], row["low"] <= true <= row["high"]))
        frame = pd.DataFrame(rows, columns=["all", "lost", "said", "covered"])
        for overall, part in frame.groupby("all"):
            yield {
                "pool depth": depth,
                "of": "all systems" if overall else "one site",
                "n": len(part),
                "lost": part["lost"].mean(),
                "said": part["said"].mean(),
                "rms error": float(np.sqrt(((part["said"] - part["lost"]) ** 2).mean())),
                "90% interval holds": part["covered"].mean(),
            }


def pilots(data: Path) -> Iterator[dict[str, object]]:
    """Hold the power that pilots foretell to what 249 topics give."""
    scores = ScoreMatrix.from_csv(data / "score_matrices" / "robust2004_ap.csv", "AP")
    edges = np.arange(len(scores.systems)) * SITES // len(scores.systems)
    groups = {s: f"site{n + 1:02d}" for s, n in zip(scores.systems, edges, strict=True)}
    words = {"held": [2], "losses": LOSSES, "repetitions": REPETITIONS}
    power_of_all = _power(scores, groups, np.arange(249), words, seed=99)
    by_size = []
    for seed in range(PILOTS):
        few = np.random.default_rng(seed).choice(249, 50, replace=False)
        by_size.append(_power(scores, groups, few, words, seed))
    for n, loss in enumerate(LOSSES):
        yield {
            "loss": f"{loss:.0%}",
            **{f"pilot {p + 1}": powers[n] for p, powers in enumerate(by_size)},
            "by all 249": power_of_all[n],
        }


def _power(
    scores: ScoreMatrix, groups: dict[str, str], topics: np.ndarray, words: dict, seed: int
) -> list[float]:
    """Return the power on 249 topics drawn from some."""
    pilot = ScoreMatrix(
        scores.mean[:, topics],
        scores.variance[:, topics],
        scores.systems,
        tuple(scores.topics[t] for t in topics),
        "AP",
    )
    return pilot_power(pilot, groups, 249, seed=seed, **words)["power"].tolist()


if __name__ == "__main__":
    main()
