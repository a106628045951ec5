"""What another assessor would change on DL 2020: drawn through a confusion, and in fact.

The first assessor is NIST's, the second a language model that labelled the same documents. Each row
is a second assessor: what share of the pairs of runs is expected to change its sign, and what share
does once its own labels take the place of the judgments. Example::

    python -m experiments.judges.assessors -o rows.csv
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import rtc_bayes as rb
from experiments.judges.posterior import DEPTH, LABELS, LEVEL, grades_of, read


def main() -> None:
    """Read the command line, and write one line for each second assessor as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--model", default="hierarchical:map")
    parser.add_argument("--labels", nargs="+", choices=list(LABELS), default=list(LABELS)[:4])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--systems", type=int, default=0, help="at random; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection = read()
    names = sorted(collection.runs)
    size = options.systems or len(names)
    chosen = sorted(np.random.default_rng(options.seed).choice(len(names), size, replace=False))
    runs = rb.Runs([collection.runs[names[i]] for i in chosen])
    pool = rb.Pool.from_runs(runs, depth=DEPTH)
    estimand = rb.Estimand(relevance_level=LEVEL, depth=DEPTH, scope="pool")
    judgments = estimand.judgments(pool, collection.qrels)
    fit = rb.fit(pool, judgments, model=options.model, seed=options.seed)
    made = []
    for name, by_grade in product(options.labels, (False, True)):
        level = LEVEL if collection.labels[name].n_grades > 2 else 1
        confusion = rb.assessor_confusion(
            collection.qrels,
            collection.qrels_of[name],
            relevance_level=LEVEL,
            second_relevance_level=level,
            by_grade=by_grade,
        )
        common = (fit, judgments, confusion, estimand)
        table = rb.second_assessor(pool, *common, draws=options.draws, seed=options.seed)
        # the second's own labels of what the first judged
        fitted_pool, values = fit.relevance.on(judgments.pool)
        grade = grades_of(fitted_pool, collection.labels[name])
        p, order = np.array(values, dtype=np.float64), judgments.on(fitted_pool).order
        labelled = order[grade[order] >= 0]
        p[:, labelled] = grade[labelled] >= level
        second = rb.compare(pool, rb.Relevance.from_values(fitted_pool, p[None]), estimand)
        theirs = {
            (pair.a, pair.b): greater
            for pair, greater in zip(
                second.pairs, second.p_greater + second.p_equal / 2.0, strict=True
            )
        }
        then = np.array([theirs[pair] for pair in zip(table["a"], table["b"], strict=True)])
        flipped = (then - 0.5) * (table["p_greater"] - 0.5) < 0.0
        sure = np.maximum(table["p_greater"], 1.0 - table["p_greater"])
        made.append(
            {
                "second": name,
                "rows": len(confusion),
                "says_relevant": " ".join(f"{share:.2f}" for share in confusion[:, 1]),
                "confidence_now": sure.mean(),
                "confidence_then": table["confidence"].mean(),
                "sd": table["sd"].mean(),
                "flips_expected": table["p_flip"].mean(),
                "flips_in_fact": flipped.mean(),
                "of_sure_expected": table.loc[sure >= 0.95, "p_flip"].mean(),
                "of_sure_in_fact": flipped[sure >= 0.95].mean(),
            }
        )
        pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    print(pd.DataFrame(made).round(3).T.to_string())


if __name__ == "__main__":
    main()
