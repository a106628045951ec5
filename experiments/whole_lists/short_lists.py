"""How far expected scores are off together where every list is short.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.short_lists [-o errors.csv]

cuts all lists of each collection at ranks 10, 20, 50 and 100, draws sets of 2 to 20 systems, gives
every document of their pool its label, scores the cut lists with the unseen relevant documents that
the jackknife and the lists' ends expect, and holds mean scores against those by all judgments. What
all systems share of the error, as a share of the expected score, has variance
(base n^-a)^2 + (short ln(100 / L))^2, for n systems and lists of L documents; the first part
is there with long lists, too. Found are the numbers under which errors are likeliest, if normal,
each collection, size and length weighing the same: by all collections, and by all but each. Then,
of the same sets, how differences are off, and what their intervals hold without the second part and
with it, as the other three collections have it. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize

from experiments.whole_lists.four import COLLECTIONS, cut, prepared
from experiments.whole_lists.residual import scores_of
from rtc_bayes import Judgments, Pool, evaluate
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.confidence.pair import half_width
from rtc_bayes.measures.residual import expected_common_error, expected_residual
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]

MEASURES = ("AP", "nDCG", "nDCG@10", "R@1000")
LENGTHS = (10, 20, 50, 100)
SETS = {2: 12, 5: 8, 10: 6, 20: 4}
ROUNDING = 1e-5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, help="a CSV of errors")
    options = parser.parse_args()
    errors = pd.DataFrame([row for folder in COLLECTIONS for row in rows_of(folder)])
    if options.output:
        errors.to_csv(options.output, index=False)
    ap = errors[errors["measure"] == "AP"]
    shape = {"index": ["systems", "collection"], "columns": "length", "values": "error"}
    print(to_markdown(ap.pivot_table(aggfunc=rms, **shape).round(2).reset_index()))
    print(to_markdown(pd.DataFrame([*rules(errors)])))
    print(to_markdown(pd.DataFrame([*held(errors)])))


def rows_of(folder: str) -> Iterator[dict[str, object]]:
    """Errors of one collection, by length, set of systems and measure."""
    runs, labels = prepared(folder)
    random = np.random.default_rng(5)
    for length in LENGTHS:
        short = cut(runs, length)
        true = evaluate(short, labels, MEASURES)
        every = Pool.from_runs(short).select_topics(true.topics)
        judged = Judgments.from_qrels(every, labels)
        sizes = [n for n, sets in SETS.items() if n <= every.n_systems for _ in range(sets)]
        for systems in sizes:
            some = np.sort(random.choice(every.n_systems, systems, replace=False))
            pool = every.select([every.systems[i] for i in some])
            scores, unlike = scores_of(pool, judged), unlikeness(likeness(pool))
            for measure in MEASURES:
                expected, truth = scores[measure].mean(axis=1), true[measure][some].mean(axis=1)
                a, b = all_pairs(systems)
                yield {
                    "collection": COLLECTIONS[folder].name,
                    "measure": measure,
                    "length": length,
                    "systems": systems,
                    "topics": len(true.topics),
                    "error": 1.0 - truth.mean() / expected.mean(),
                    "unlike": unlike,
                    "difference": expected[a] - expected[b],
                    "off": expected[a] - expected[b] - truth[a] + truth[b],
                }


def rules(errors: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Fit the rule to all collections, and to all but each."""
    for measure, rows in errors.groupby("measure", sort=False):
        row = {"measure": str(measure), "all": "base, a, short: " + said(fitted(rows))}
        for name in rows["collection"].unique():
            row |= {f"without {name}": said(fitted(rows[rows["collection"] != name]))}
        yield row


def said(numbers: Floats) -> str:
    return ", ".join(f"{number:.2f}" for number in numbers)


def fitted(rows: pd.DataFrame) -> Floats:
    """Find base, a and short."""
    sizes = rows.groupby(["collection", "systems", "length"])["error"].transform("size")
    weight, square = 1.0 / sizes.to_numpy(), rows["error"].to_numpy() ** 2
    systems, shorter = rows["systems"].to_numpy(), np.log(100.0 / rows["length"].to_numpy())

    def surprise(x: Floats) -> float:
        base, short = np.exp(x[0]) * systems ** -x[1], np.exp(x[2])
        variance = base**2 + (short * shorter) ** 2 + ROUNDING
        return float(weight @ (np.log(variance) + square / variance))

    options = {"maxiter": 4000}
    base, a, short = minimize(surprise, [-1.5, 0.7, -2.5], method="Nelder-Mead", options=options).x
    return np.array([np.exp(base), a, np.exp(short)])


def held(errors: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Say what intervals of differences hold, by the rule of the other collections."""
    ap = errors[(errors["measure"] == "AP") & (errors["systems"] == 10)]
    for name, own in ap.groupby("collection", sort=False):
        _, _, short = fitted(errors[(errors["measure"] == "AP") & (errors["collection"] != name)])
        for length, rows in own.groupby("length"):
            off, difference, unlike = (
                np.concatenate([*rows[key]]) for key in ("off", "difference", "unlike")
            )
            sd = np.sqrt(unlike) * expected_residual("AP", 10, rows["topics"].iloc[0])
            kept = expected_common_error("AP", 10)
            shared = np.hypot(short * np.log(100.0 / length), kept)
            without, half = (half_width(sd, share * difference) for share in (kept, shared))
            slope = difference @ (difference - off) / (difference @ difference)
            yield {
                "collection": name,
                "length": length,
                "true over expected difference": f"{slope:.2f}",
                "held without": f"{(np.abs(off) <= without).mean():.0%}",
                "held with": f"{(np.abs(off) <= half).mean():.0%}",
            }


def rms(values: pd.Series) -> float:
    return float(np.sqrt((values**2).mean()))


if __name__ == "__main__":
    main()
