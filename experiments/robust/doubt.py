"""What is still in doubt about a difference in MAP once systems have been judged for.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.doubt [--judgments 150 --jobs 2]

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge two
systems, and parts the variance of every difference between ten: the relevance of documents given
the parameters; parameters that move one topic; parameters that move topics together. The last
columns are the shares of the variance over draws that least squares gives to the effects a, b and u
of the two systems, each kind alone. Prints Markdown.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.robust.development import of_each, trials_parser
from experiments.robust.frontier import Question, fits_of
from experiments.robust.run import JUDGE, WHOLE_LISTS
from rtc_bayes import Pool, moments
from rtc_bayes.trials import Collection

EFFECTS = ("a", "b", "u")


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--judgments", type=int, default=150)
    options = parser.parse_args()
    question = Question(JUDGE, JUDGE, [options.judgments], 2, "AP", WHOLE_LISTS)
    parts = ("relevance", "each topic", "topics together", *EFFECTS)
    print("| | judged |", " | ".join(parts), "|")
    print("|---|--:|" + "--:|" * len(parts))
    work = partial(trial, question=question)
    for name, _, found in of_each(work, options, question.whole["score_depth"]):
        cells = " | ".join(f"{share:.0%}" for share in np.mean(found, axis=0))
        print(f"| {name} | {options.judgments} | {cells} |", flush=True)


def trial(collection: Collection, seed: int, question: Question) -> list[float]:
    """Shares of the variance of differences, means over the pairs of one trial."""
    _, pool, (made,) = fits_of(collection, question, seed)
    effects = {
        name: made.posterior["posterior"][name].to_numpy().reshape(-1, pool.n_systems)
        for name in EFFECTS
    }
    return shares(pool, made.relevance.values, effects)


def shares(pool: Pool, draws: np.ndarray, effects: dict[str, np.ndarray]) -> list[float]:
    """Of relevance, of each topic's parameters, of what they share; of each kind of effect."""
    found = moments(pool, draws, moments="plugin")
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
