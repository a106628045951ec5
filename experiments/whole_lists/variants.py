"""How sure a comparison is of systems that hardly differ, and of systems with little in common.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.variants priors.json
        [--sets 12 --seed 900 --jobs 2 -o pairs.csv]

draws systems of each collection, each with the three others whose lists overlap most with its own,
and with the three whose lists overlap least; judges all that they rank in the first 5 and in the
first 100; fits `robust` with priors from the other three collections
(experiments.whole_lists.priors); and holds P(better) about whole lists against the truth by all
judgments. The table has, for either kind of set, the mean overlap of its pairs, their confidence,
accuracy and log score with standard errors over sets, and what 95% intervals of differences hold.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from experiments.common import standard_error
from experiments.whole_lists.four import COLLECTIONS, fitted_to, prepared
from rtc_bayes import Pool, compare, evaluate
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly
from rtc_bayes.trials.scores import log_score

DEPTHS, OTHERS = (5, 100), 3
KINDS = ("overlap most", "overlap least")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("priors", type=Path)
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--seed", type=int, default=900)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="a CSV of pairs")
    options = parser.parse_args()
    priors = json.loads(options.priors.read_text())
    work = (
        joblib.delayed(of_set)(folder, kind, depth, options.seed + n, priors[folder])
        for folder, kind, depth, n in product(COLLECTIONS, KINDS, DEPTHS, range(options.sets))
    )
    pairs = pd.concat(joblib.Parallel(options.jobs)(work))
    if options.output:
        pairs.to_csv(options.output, index=False)
    keys = ["others", "collection", "judged to"]
    rows = [{**dict(zip(keys, key, strict=True)), **said(of)} for key, of in pairs.groupby(keys)]
    print(to_markdown(pd.DataFrame(rows)))


def of_set(folder: str, kind: str, depth: int, seed: int, prior: str) -> pd.DataFrame:
    """Compare one system and three others, and say what is right."""
    with threadpool_limits(1), quietly():
        runs, labels = prepared(folder)
        like = Pool.from_runs(runs).overlap()
        one = np.random.default_rng(seed).integers(len(like))
        near = np.argsort(-like[one], kind="stable")
        near = near[near != one]
        some = near[:OTHERS] if kind == KINDS[0] else near[-OTHERS:]
        chosen = runs.select([runs.systems[s] for s in (one, *some)])
        fitted = fitted_to(chosen, labels, depth, prior)
        comparison = compare(fitted.judgments.pool, fitted, moments="plugin")
        true = evaluate(chosen, labels).mean_frame().set_index("system")["AP"]
    apart = true[[*comparison.a]].to_numpy() - true[[*comparison.b]].to_numpy()
    ends = np.array([pair.interval for pair in comparison.pairs])
    place = [runs.systems.index(name) for name in chosen.systems]
    pairs = pd.DataFrame(
        {
            "others": kind,
            "collection": COLLECTIONS[folder].name,
            "judged to": depth,
            "set": seed,
            "overlap": like[np.ix_(place, place)][np.triu_indices(len(place), 1)],
            "confidence": comparison.confidence,
            "correct": (comparison.expected_difference * apart > 0.0).astype(float),
            "held": (ends[:, 0] <= apart) & (apart <= ends[:, 1]),
        }
    )
    return pairs[apart != 0.0]


def said(pairs: pd.DataFrame) -> dict[str, str]:
    """Means over pairs; errors over sets."""
    lost = pairs.assign(lost=log_score(pairs["confidence"], pairs["correct"]))
    by_set = lost.assign(gap=lost["correct"] - lost["confidence"]).groupby("set")
    gap, score = by_set["gap"].mean(), by_set["lost"].mean()
    return {
        "overlap": f"{pairs['overlap'].mean():.2f}",
        "pairs": f"{len(pairs)}",
        "confidence": f"{pairs['confidence'].mean():.3f}",
        "accuracy": f"{pairs['correct'].mean():.3f}",
        "accuracy less confidence": f"{gap.mean():+.3f} ± {standard_error(gap):.3f}",
        "log score": f"{score.mean():.3f} ± {standard_error(score):.3f}",
        "95% of differences": f"{pairs['held'].mean():.0%}",
    }


if __name__ == "__main__":
    main()
