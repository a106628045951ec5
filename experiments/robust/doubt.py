"""What is still in doubt about a difference in MAP once systems have been judged for.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.doubt [--judgments 150 --jobs 2]

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge two
systems, and parts the variance of every difference between ten: the relevance of documents given
the parameters; parameters that move one topic; parameters that move topics together. The last
columns are the shares of the variance over draws that least squares gives to the effects a, b and u
of the two systems, each kind alone. Prints Markdown.
"""

from __future__ import annotations

import numpy as np

from experiments.robust.development import of_each, trials_parser
from experiments.robust.run import JUDGE
from rtc_bayes import Pool, moments
from rtc_bayes.trials import Collection, Outcome, Plan

EFFECTS = ("a", "b", "u")


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--judgments", type=int, default=150)
    options = parser.parse_args()
    plan = Plan((JUDGE,), budgets=(options.judgments,), moments="plugin")
    parts = ("relevance", "each topic", "topics together", *EFFECTS)
    print("| | judged |", " | ".join(parts), "|")
    print("|---|--:|" + "--:|" * len(parts))
    for name, trials in of_each(of_outcome, plan, options):
        cells = " | ".join(f"{share:.0%}" for share in np.mean([t for (t,) in trials], axis=0))
        print(f"| {name} | {options.judgments} | {cells} |", flush=True)


def of_outcome(outcome: Outcome, collection: Collection) -> list[float]:
    """Shares of the variance of differences, means over the pairs of one trial."""
    del collection
    effects = {
        name: outcome.estimate.parameters[name].reshape(-1, outcome.pool.n_systems)
        for name in EFFECTS
    }
    return shares(outcome.pool, outcome.relevance.values, effects)


def shares(pool: Pool, draws: np.ndarray, effects: dict[str, np.ndarray]) -> list[float]:
    """Of relevance, of each topic's parameters, of what they share; of each kind of effect."""
    table = moments(pool, draws, moments="plugin")
    first, second = table.pairs.T
    relevance = table.difference_variance.mean(axis=0)
    parameters = table.difference_expected.var(axis=0)
    by_topic = table.expected[:, first] - table.expected[:, second]
    alone = by_topic.var(axis=0).sum(axis=1) / pool.n_topics**2
    total = relevance + parameters
    parts = [relevance / total, alone / total, (parameters - alone) / total]
    for effect in effects.values():
        pairs = zip(table.difference_expected.T, table.pairs, strict=True)
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
