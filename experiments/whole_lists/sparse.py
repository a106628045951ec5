"""Trials where a topic has few relevant documents, as collections of questions have one.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.sparse -o DIR
        [--collections NAME... --relevant 1 3 --algorithms robust ...]
        [--budget 3.5 --trials 20 --jobs 2 --seed 0]

keeps so many relevant documents of each topic, drawn by lot; all others become nonrelevant. Then
it judges two systems, so many judgments a topic, compares ten about whole lists, and prints a row
for each study as Markdown. The lists were made to find all that is relevant, and which documents
are kept is chance: so ranks tell less than they would of a question's one answer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.common import study_row
from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Estimand, Qrels, Workers
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import study
from rtc_bayes.store import progress_bar


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--relevant", nargs="+", type=int, default=[1])
    parser.add_argument("--algorithms", nargs="+", default=["robust:gibbs"])
    parser.add_argument("--budget", type=float, default=3.5, help="judgments a topic")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for folder in options.collections:
        runs, labels = prepared(folder)
        for relevant in options.relevant:
            sparse = kept(labels, relevant, options.seed)
            with progress_bar() as progress:
                done = study(
                    runs,
                    sparse,
                    algorithms=options.algorithms,
                    estimand=Estimand(topics="judged"),
                    budgets=[round(options.budget * len(sparse))],
                    trials=options.trials,
                    seed=options.seed,
                    output=options.output / f"{folder}-{relevant}",
                    workers=Workers(options.jobs, progress=progress),
                )
            name = f"{COLLECTIONS[folder].name}, {relevant} relevant"
            rows += [study_row(f"{name}, {text}", done, text) for text in done.summary]
    print(to_markdown(pd.DataFrame(rows)))


def kept(labels: Qrels, relevant: int, seed: int) -> Qrels:
    """Keep some relevant documents of each topic, and topics that have one at least."""
    rng = np.random.default_rng(seed)
    sparse = {}
    for topic, grades in labels.items():
        every = sorted(docno for docno, grade in grades.items() if grade > 0)
        if every:
            left = {*rng.choice(every, min(relevant, len(every)), replace=False)}
            sparse[topic] = {docno: int(docno in left) for docno in grades}
    return Qrels(sparse)


if __name__ == "__main__":
    main()
