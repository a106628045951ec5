"""Repeat the 2007 experiment on the runs of TREC-8, and set it beside the paper's numbers.

Usage: python experiments/robustness/trec8.py -o DIR [--trials 30 --jobs 2 --seed 0]
       [--algorithms ip,mtc,rtc:map] [--figure docs/figures/robustness-trec8.png]
       > docs/results/robustness-trec8.md

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/runs/*.gz and trec8_adhoc/qrels.txt.gz. DIR gets
what `rtc-bayes robustness` writes, and its report; a study that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pandas as pd

from rtc_bayes import read_qrels, read_runs
from rtc_bayes.judging import split_algorithms
from rtc_bayes.report import write_report
from rtc_bayes.report.figures import confidence_accuracy
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study, study
from rtc_bayes.robustness.scores import BINS, winnings
from rtc_bayes.store import progress_bar

# Carterette 2007, Table 5, column "ad-hoc 99": RTC, two initial systems, ten compared.
PAPER_BINS = (0.594, 0.743, 0.786, 0.868, 0.926, 0.928, 0.996)
PAPER = {"W": -0.44, "median judged": 179, "mean tau": 0.532}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--algorithms", default="ip,mtc,rtc:map")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path, help="also draw accuracy by confidence here")
    options = parser.parse_args()
    data = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    with progress_bar() as progress:
        done = study(
            read_runs(data / "runs"),
            read_qrels(data / "qrels.txt.gz"),
            algorithms=split_algorithms(options.algorithms),
            trials=options.trials,
            jobs=options.jobs,
            seed=options.seed,
            output=options.output,
            command=(
                f"python experiments/robustness/trec8.py --algorithms {options.algorithms} "
                f"--trials {options.trials} --seed {options.seed}"
            ),
            progress=progress,
        )
    write_report(options.output)
    if options.figure:
        confidence_accuracy(done.pairs).savefig(options.figure, dpi=160, bbox_inches="tight")
    print(page(done))


def page(done: Study) -> str:
    """Return the results as a page of Markdown."""
    moments = ", ".join(f"{text} {kind}" for text, kind in done.meta["moments"].items())
    return "\n".join(
        [
            "# Robustness on TREC-8\n",
            f"`{done.meta['command']}`\n",
            "Two initial systems judged to 95%, ten compared, of 129 runs; lists cut at 100, truth "
            f"over whole lists. Moments: {moments}. The paper's column is its Table 5, ad-hoc 99: "
            "it does not give intervals, nor how its trials are spread.\n",
            to_markdown(scores(done)),
            "Accuracy of the predicted sign by confidence (share of pairs in brackets):\n",
            to_markdown(bins(done)),
            "Where W is lost: READWARE and READWARE2 are manual runs with very short and very good "
            "lists, and a trial without judgments stopped because one initial list was much "
            "shorter.\n",
            to_markdown(losses(done)),
            "Paired tests over trials, first less second:\n",
            to_markdown(
                done.tests(),
                {
                    "judged_difference": "+,.0f",
                    "judged_p": ".2g",
                    "tau_difference": "+.3f",
                    "tau_p": ".2g",
                },
            ),
        ]
    )


def scores(done: Study) -> pd.DataFrame:
    """One row for each algorithm, and the paper's."""
    rows = [
        {
            "algorithm": "RTC, as printed in 2007",
            "W": f"{PAPER['W']:.2f}",
            "median judged": f"{PAPER['median judged']}",
            "mean tau": f"{PAPER['mean tau']:.3f}",
        }
    ]
    for text, found in done.summary.items():
        row = {
            "algorithm": text,
            "median judged": f"{found['median_judged']:.0f}",
            "mean judged": f"{found['mean_judged']:.0f}",
            "mean tau": f"{found['mean_tau']:.3f}",
            "accuracy": f"{found['accuracy']:.1%}",
            "seconds per trial": f"{found['seconds_per_trial']:.1f}",
        }
        if found["W"] is not None:
            low, high = found["W_interval"]
            row |= {
                "W": f"{found['W']:.2f} ({low:.2f} to {high:.2f})",
                "W capped": f"{found['W_capped']:.2f}",
                "W expected": f"{found['W_expected']:.2f}",
                "log score": f"{found['log_score']:.3f}",
            }
        rows.append(row)
    columns = ["algorithm", "W", "W capped", "W expected", "log score", "accuracy"]
    columns += ["median judged", "mean judged", "mean tau", "seconds per trial"]
    return pd.DataFrame(rows, columns=columns).replace({"W": "-"}, "−", regex=True)


def losses(done: Study) -> pd.DataFrame:
    """W of all pairs, and without the odd ones."""
    pairs = done.pairs.dropna(subset="confidence")
    judged = done.trials.set_index(["trial", "algorithm"])["judged"]
    unjudged = pairs.set_index(["trial", "algorithm"]).index.map(judged) == 0
    manual = pairs["a"].str.startswith("READWARE") | pairs["b"].str.startswith("READWARE")
    parts = {
        "all": pairs,
        "without READWARE and READWARE2": pairs[~manual],
        "without trials with nothing judged": pairs[~unjudged],
        "without both": pairs[~manual & ~unjudged],
    }
    rows = [
        {"pairs": name}
        | {
            text: f"{winnings(rows['confidence'], rows['correct']).mean():.2f} ({len(rows)} pairs)"
            for text, rows in part.groupby("algorithm", sort=False)
        }
        for name, part in parts.items()
    ]
    return pd.DataFrame(rows)


def bins(done: Study) -> pd.DataFrame:
    """One row for each bin of confidence."""
    frame = pd.DataFrame({"confidence": [f"{low:.2f} to {high:.2f}" for low, high in BINS]})
    frame["RTC, as printed in 2007"] = [f"{accuracy:.1%}" for accuracy in PAPER_BINS]
    for text, found in done.summary.items():
        if found["bins"] is not None:
            frame[text] = [
                f"{b['accuracy']:.1%} ({b['share']:.0%})" if b["share"] else None
                for b in found["bins"]
            ]
    return frame


if __name__ == "__main__":
    main()
