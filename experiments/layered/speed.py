"""Processor time of fit and comparison by `layered:nuts` in a trial, as Markdown.

    RTC_BAYES_DATA=FOLDER python -m experiments.layered.speed [--trials 10 --collections NAME...]

The first trials of `experiments.layered.trials`, one after the other, with the same seeds. Seconds
are of the processor, of all threads; what is compiled once a process is compiled before.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pandas as pd

from experiments.layered.trials import plan_of
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes.trials.scores import log_score
from rtc_bayes.trials.trial import quietly


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    parser.add_argument("--seed", type=int, default=500)
    options = parser.parse_args()
    rows = []
    for folder in options.collections:
        runs, qrels = read(folder)
        # the first judges for both, and is not timed
        asked = plan_of(folder, qrels, ["uniform:map", "layered:nuts"])
        plan = Plan(**asked, trials=options.trials, seed=options.seed)
        collection = Collection.from_runs(runs, qrels, plan.estimand, truth=plan.truth)
        seconds, scores, refused = [], [], 0
        with quietly():
            for number, seed in enumerate([options.seed, *spawn_seeds(plan.seed, plan.trials)]):
                each = outcomes(collection, plan, seed)
                next(each)
                began = time.process_time()
                outcome = next(each)
                if number == 0:
                    continue
                seconds.append(time.process_time() - began)
                refused += outcome.failure is not None
                if outcome.failure is None:
                    pairs = outcome.unequal_pairs()
                    scores.append(log_score(pairs["confidence"], pairs["correct"]).mean())
                said = outcome.failure or f"log score {scores[-1]:.4f}"
                print(f"{folder} {number}: {seconds[-1]:.2f} s, {said}", file=sys.stderr)
        rows.append(
            {
                "": COLLECTIONS[folder].name,
                "median": f"{np.median(seconds):.1f}",
                "mean": f"{np.mean(seconds):.1f}",
                "largest": f"{np.max(seconds):.1f}",
                "log score": f"{np.mean(scores):.3f}",
                "refused": f"{refused}",
            }
        )
    print(to_markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
