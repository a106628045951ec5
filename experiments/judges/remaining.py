"""How much of the systems' effects remains beside labels, by prompts of a panel on DL 2020.

A rank model is fitted to the labels of each judge of the panel, and to people's judgments of the
same documents in the same way. Over systems, people's effects are regressed on the judge's: the
share of their sd that is left is what `REMAINING` stands for. The panel's judges are prompts of
Llama 3.2 and Mistral; no labels of the results page are used. Example::

    python -m experiments.judges.remaining --every 3
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import rtc_bayes as rb
from experiments.judges.posterior import DEPTH, LEVEL, read_panel, read_prompts
from rtc_bayes.relevance import LabelEvidence, rank_curve
from rtc_bayes.relevance.label_systems import LabelledSystems

type Floats = NDArray[np.float64]

# log likelihood ratio of a label that is never wrong
SURE = 8.0
RANKS = (1, 10, 100)


def left(human: Floats, judge: Floats) -> float:
    """Share of the sd of people's effects that a judge's do not explain."""
    return float(np.sqrt(1.0 - np.corrcoef(human, judge)[0, 1] ** 2))


def effect(systems: LabelledSystems, rank: int) -> Floats:
    """What each system's rank adds to log-odds, beyond what every system's does."""
    added: Floats = systems.ranked + systems.curve * rank_curve(np.array([rank]), DEPTH)
    return added


def main() -> None:
    """Print the shares of each judge, and their quantiles by the judges' language model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take every so many prompts")
    options = parser.parse_args()
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec_dl20"
    pool = rb.Pool.from_runs(rb.read_runs(folder / "runs", depth=DEPTH), depth=DEPTH)
    panel = read_panel()
    topics, docnos = panel.topic.tolist(), panel.doc.tolist()
    none = rb.Judgments.none(pool)
    at = np.array([pool.locate(t, [d])[0] for t, d in zip(topics, docnos, strict=True)])
    relevant = np.zeros(pool.n_documents)
    relevant[at[at >= 0]] = panel.human.to_numpy()[at >= 0] >= LEVEL
    every = np.isin(np.arange(pool.n_documents), at)
    human = LabelledSystems.fit(pool, SURE * (2.0 * relevant - 1.0), every)
    made = []
    columns = [name for name in panel if name.startswith(("llama", "mistral"))]
    for name, labels in read_prompts(columns[:: options.every], panel).items():
        judge = LabelEvidence(none.with_judge_labels(labels)).implied
        row = {"judge": name, "model": name.split("_")[0]}
        row |= {f"rank {r}": left(effect(human, r), effect(judge, r)) for r in RANKS}
        made.append(row)
        print(*row.values(), flush=True)
    table = pd.DataFrame(made)
    shares = table.groupby("model")[[name for name in table if name.startswith("rank")]]
    print(shares.quantile([0.1, 0.5, 0.9]).round(2).to_string())


if __name__ == "__main__":
    main()
