"""What the labels of one language model are worth, told by a random sample that a person graded.

    RTC_BAYES_DATA=FOLDER python -m experiments.judges.one_judge [--seeds 5]

Each of nine judges of LLMJudge, and UMBRELA and the self-rated EXAM on DL 2020, alone: none, 50 or
200 random pairs have the grades of people. Prints, as Markdown, for each method the log loss of the
other pairs, how many of them are expected to be relevant over how many are, and how often the 90%
interval of the judge's accuracy holds its accuracy on all pairs. The panel's prior is of DL 2020;
on that it has the one of LLMJudge.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import rtc_bayes as rb
from experiments.judges.panel import LLMJUDGE_PRIOR
from rtc_bayes.crowd.panel_labels import panel
from rtc_bayes.report.tables import to_markdown

RELEVANT = 2
EVERY = 4
METHODS = ("em", "hierarchical", "panel")
DL20 = {
    "UMBRELA": "umbrella_gpt-4_zeroshot_dl20",
    "EXAM, self-rated": "qrels.max.exam_selfrate_graded_dl20",
}

type Truth = dict[tuple[str, str], int]


def judges() -> Iterator[tuple[str, rb.Labels, Truth, rb.PanelPrior]]:
    """Give each judge's labels, the grades of people, and a panel's prior of elsewhere."""
    root = Path(os.environ["RTC_BAYES_DATA"])
    table = pd.read_csv(root / "llmjudge_dl23/panel_test.tsv.gz", sep="\t", dtype={"topic": str})
    pairs = list(zip(table["topic"], table["doc"], strict=True))
    truth = dict(zip(pairs, table["human"].tolist(), strict=True))
    for judge in table.columns[5::EVERY]:
        frame = table[["topic", "doc"]].assign(judge=judge, label=table[judge])
        frame = frame[frame["label"].between(0, 3)].rename(columns={"doc": "docno"})
        yield "LLMJudge, nine judges", rb.read_labels(frame), truth, rb.PanelPrior()
    qrels = rb.read_qrels(root / "trec_dl20/qrels.human.txt.gz")
    truth = {(t, d): grade for t, of in qrels.items() for d, grade in of.items()}
    for name, file in DL20.items():
        said = rb.read_qrels(root / f"trec_dl20/llm/{file}.txt.gz")
        rows = [(t, name, d, min(max(g, 0), 3)) for t, of in said.items() for d, g in of.items()]
        frame = pd.DataFrame(rows, columns=["topic", "judge", "docno", "label"])
        yield f"DL 2020, {name}", rb.read_labels(frame), truth, LLMJUDGE_PRIOR


def scored(
    labels: rb.Labels, truth: Truth, prior: rb.PanelPrior, n: int, seed: int
) -> Iterator[dict[str, object]]:
    """Aggregate the labels of one judge beside the grades of n random pairs."""
    pairs = [pair for pair in labels.pair_ids() if pair in truth]
    relevant = np.array([truth[pair] >= RELEVANT for pair in pairs])
    said = labels.binary(RELEVANT)[np.argsort(labels.pairs().of_label)]
    told = np.array([pair in truth for pair in labels.pair_ids()])
    accuracy = (said[told] == relevant).mean()
    chosen = np.random.default_rng([n, seed]).choice(len(pairs), n, replace=False)
    human = {pairs[i]: truth[pairs[i]] for i in chosen}
    rest = np.setdiff1d(np.arange(len(pairs)), chosen)
    for method in METHODS:
        made = rb.aggregate(labels, method, relevance_level=RELEVANT, human=human, seed=seed)
        every = made.probability
        if method == "panel":
            every = panel(labels, human, relevance_level=RELEVANT, prior=prior, seed=seed).grades[
                :, 1
            ]
        p = np.clip(every[told][rest], 1e-6, 1.0 - 1e-6)
        y = relevant[rest]
        (judge,) = made.judges_frame().itertuples()
        yield {
            "graded": n,
            "method": method,
            "log loss": -np.log(np.where(y, p, 1.0 - p)).mean(),
            "expected over relevant": p.sum() / y.sum(),
            "interval holds": judge.accuracy_low <= accuracy <= judge.accuracy_high if n else None,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        {"": name, **row}
        for name, labels, truth, prior in judges()
        for n in (0, 50, 200)
        for seed in range((options.seeds if name.startswith("DL") else 2) if n else 1)
        for row in scored(labels, truth, prior, n, seed)
    ]
    by = ["", "graded", "method"]
    means = pd.DataFrame(rows).astype({"interval holds": float}).groupby(by, sort=False).mean()
    print(to_markdown(means.reset_index().round(3)))


if __name__ == "__main__":
    main()
