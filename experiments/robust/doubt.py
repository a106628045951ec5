"""What is still in doubt about a difference in MAP once systems have been judged for.

    RTC_BAYES_DATA=FOLDER python experiments/robust/doubt.py [--judgments 150 --jobs 2]

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge two
systems, and parts the variance of every difference between ten: the relevance of documents given
the parameters; parameters that move one topic; parameters that move topics together. The last
columns are the shares of the variance over draws that least squares gives to the effects a, b and u
of the two systems, each kind alone. Prints Markdown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
from frontier import Question, fitted, judged
from run import JUDGE, WHOLE_LISTS
from threadpoolctl import threadpool_limits
from whole_lists import SEED

from rtc_bayes import FitWarning, Pool, moments
from rtc_bayes.robustness.design import Collection
from rtc_bayes.store import spawn_seeds

sys.path.append(str(Path(__file__).parents[1]))
from common import read_collection

EFFECTS = ("a", "b", "u")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=33)
    parser.add_argument("--judgments", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    question = Question(JUDGE, JUDGE, [options.judgments], 2, "AP", WHOLE_LISTS)
    parts = ("relevance", "each topic", "topics together", *EFFECTS)
    print("| | judged |", " | ".join(parts), "|")
    print("|---|--:|" + "--:|" * len(parts))
    for name in ("trec8_adhoc", "robust03"):
        collection = Collection.from_runs(
            *read_collection(name),
            depth=100,
            score_depth=question.whole["score_depth"],
            relevance_level=1,
        )
        found = joblib.Parallel(options.jobs)(
            joblib.delayed(trial)(collection, question, seed)
            for seed in spawn_seeds(SEED, options.trials)
        )
        cells = " | ".join(f"{share:.0%}" for share in np.mean(found, axis=0))
        print(f"| {name} | {options.judgments} | {cells} |", flush=True)


def trial(collection: Collection, question: Question, seed: int) -> list[float]:
    """Shares of the variance of differences, means over the pairs of one trial."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        draw, known = judged(collection, question, seed)
        pool = collection.pool.select(draw.everyone)
        made = fitted(pool, known, question.evaluator, draw)
    effects = {
        name: made.posterior["posterior"][name].to_numpy().reshape(-1, pool.n_systems)
        for name in EFFECTS
    }
    return shares(pool, made.relevance.values, effects, question.whole["score_depth"])


def shares(
    pool: Pool, draws: np.ndarray, effects: dict[str, np.ndarray], score_depth: int
) -> list[float]:
    """Of relevance, of each topic's parameters, of what they share; of each kind of effect."""
    found = moments(replace(pool, score_depth=score_depth), draws, moments="plugin")
    first, second = found.pairs.T
    relevance = found.difference_variance.mean(axis=0)
    parameters = found.difference_expected.var(axis=0)
    by_topic = found.expected[:, first] - found.expected[:, second]
    alone = by_topic.var(axis=0).sum(axis=1) / pool.n_topics**2
    total = relevance + parameters
    parts = [relevance / total, alone / total, (parameters - alone) / total]
    for effect in effects.values():
        pairs = zip(found.difference_expected.T, found.pairs, strict=True)
        parts.append([explained(difference, effect[:, pair]) for difference, pair in pairs])
    return [float(np.mean(part)) for part in parts]


def explained(y: np.ndarray, x: np.ndarray) -> float:
    """Share of the variance of y that least squares gives to the columns of x."""
    centred = x - x.mean(axis=0)
    rest = y - y.mean()
    rest = rest - centred @ np.linalg.lstsq(centred, rest, rcond=None)[0]
    return float(1.0 - rest.var() / y.var())


if __name__ == "__main__":
    main()
