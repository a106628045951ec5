"""Theorem 1 of Carterette (SIGIR 2007) and its corollary, tried on relevance of known probability.

Relevance of every document is drawn, independently, with a known probability p. Confidences are
computed from p itself, and from p with its log-odds multiplied by 0.5 (flatter) and 2 (sharper)::

    python -m experiments.theorem.run > docs/results/theorem.md

Only with p itself must accuracy equal confidence, whatever the measure. A tie of the true scores
counts as half right and half wrong, as half of P(equal) counts in a confidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

import rtc_bayes as rb
from experiments.common import BIN_NAMES
from rtc_bayes.report.tables import UNDEFINED, to_markdown
from rtc_bayes.trials.scores import bin_of, log_score, winnings

MEASURES = ("AP", "P@5", "R@10", "nDCG@10", "RBP(p=0.9)", "RR")
"""One of each family that has moments and that ir-measures evaluates."""

FACTORS = (1.0, 0.5, 2.0)
"""What the log-odds of p are multiplied by before confidences are computed."""

# the documents of the pool are all there are
_ESTIMANDS = [rb.Estimand(measure, scope="pool") for measure in MEASURES]
_TOPICS, _SYSTEMS, _DEPTH = 10, 6, 20
_TIE = 1e-9
_FEWEST = 100


def trials(collections: int, draws: int, seed: int) -> pd.DataFrame:
    """Compare the systems of simulated collections, and draw who is truly better.

    Returns
    -------
    DataFrame
        A row per measure, factor, draw of relevance and pair: confidence, and right (1, or 1/2
        where the true scores tie or none is predicted to be better, or 0).
    """
    seeds = np.random.SeedSequence(seed).spawn(collections)
    parts = [
        part for number, own in enumerate(seeds) for part in _of_collection(number, own, draws)
    ]
    return pd.concat(parts, ignore_index=True)


def _of_collection(number: int, own: np.random.SeedSequence, draws: int) -> Iterator[pd.DataFrame]:
    random = np.random.default_rng(own)
    made = rb.simulate(
        n_topics=_TOPICS,
        n_systems=_SYSTEMS,
        documents=1000,
        depth=_DEPTH,
        seed=int(random.integers(2**31)),
    )
    pool = rb.Pool.from_runs(made.runs, depth=_DEPTH)
    p = _probabilities(pool, made.qrels, random)
    truths = [
        rb.evaluate(made.runs, _drawn(pool, p, random), MEASURES, topics="all").mean
        for _ in range(draws)
    ]
    for factor in FACTORS:
        relevance = rb.Relevance.from_values(pool, expit(factor * logit(p)))
        for measure, comparison in rb.compare(pool, relevance, _ESTIMANDS).items():
            first, second = (
                np.array([pool.systems.index(name) for name in names])
                for names in (comparison.a, comparison.b)
            )
            sign = np.sign(comparison.p_greater - comparison.p_less)
            for draw, means in enumerate(truths):
                true = means[measure][first] - means[measure][second]
                agreement = sign * np.sign(np.where(np.abs(true) < _TIE, 0.0, true))
                yield pd.DataFrame(
                    {
                        "measure": measure,
                        "factor": factor,
                        "draw": number * draws + draw,
                        "confidence": comparison.confidence,
                        "right": (1.0 + agreement) / 2.0,
                    }
                )


def _probabilities(
    pool: rb.Pool, qrels: rb.Qrels, random: np.random.Generator
) -> NDArray[np.float64]:
    """Probabilities that differ by topic and by document, higher where the simulation is relevant.

    Returns
    -------
    ndarray, shape (documents,)
    """
    named = zip(pool.topic_of, pool.docnos, strict=True)
    relevant = np.array([qrels[pool.topics[t]].get(docno, 0) > 0 for t, docno in named])
    topic = random.normal(-1.5, 0.7, pool.n_topics)[pool.topic_of]
    return expit(topic + 1.5 * relevant + random.normal(0.0, 1.0, pool.n_documents))


def _drawn(pool: rb.Pool, p: NDArray[np.float64], random: np.random.Generator) -> rb.Qrels:
    """Draw the relevance of every document of the pool."""
    grades = (random.random(len(p)) < p).astype(int)
    return rb.Qrels(
        {
            topic: dict(zip(pool.docnos[inside], grades[inside].tolist(), strict=True))
            for topic, inside in ((t, pool.documents(n)) for n, t in enumerate(pool.topics))
        }
    )


def scored(pairs: pd.DataFrame) -> pd.DataFrame:
    """Add W and the log score of each pair, and what its confidence says they are on average."""
    confidence, right = pairs["confidence"], pairs["right"]
    columns = {}
    for name, score in (("W", winnings), ("log", log_score)):
        won, lost = score(confidence, True), score(confidence, False)
        columns[name] = right * won + (1.0 - right) * lost
        columns[f"expected {name}"] = confidence * won + (1.0 - confidence) * lost
    return pairs.assign(**columns)


def departure(pairs: pd.DataFrame, observed: str, expected: str) -> tuple[float, float]:
    """Mean of what was observed less what was expected, and its standard error over draws.

    Pairs of one draw of relevance share documents; draws are independent. So the error is that
    of a ratio of sums over draws, which holds for bins that a draw fills unequally.
    """
    gaps = (pairs[observed] - pairs[expected]).groupby(pairs["draw"])
    mean = float(gaps.sum().sum() / len(pairs))
    left = gaps.sum() - mean * gaps.size()
    n = len(left)
    return mean, float(np.sqrt((left**2).sum() * n / (n - 1)) / len(pairs))


def scores_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """Accuracy less confidence, W and the log score, each with its expectation: a row a measure."""
    rows = []
    for (factor, measure), mine in pairs.groupby(["factor", "measure"], sort=False):
        row = {
            "measure": measure,
            "log-odds times": f"{factor:g}",
            "confidence": f"{mine['confidence'].mean():.3f}",
            "accuracy": f"{mine['right'].mean():.3f}",
        }
        for name, observed, expected in (
            ("accuracy less confidence", "right", "confidence"),
            ("W less expected", "W", "expected W"),
            ("log score less expected", "log", "expected log"),
        ):
            gap, error = departure(mine, observed, expected)
            row[name] = f"{gap:+.3f} ± {error:.3f}"
        rows.append(row)
    return pd.DataFrame(rows)


def bins_table(pairs: pd.DataFrame, factor: float) -> pd.DataFrame:
    """Accuracy less confidence of each bin of confidence: a row a measure."""
    rows = []
    for measure, mine in pairs[pairs["factor"] == factor].groupby("measure", sort=False):
        number = bin_of(mine["confidence"])
        row = {"measure": measure}
        for b, name in enumerate(BIN_NAMES):
            inside = mine[number == b]
            enough = len(inside) >= _FEWEST
            gap = departure(inside, "right", "confidence") if enough else None
            row[name] = f"{gap[0]:+.3f} ± {gap[1]:.3f}" if gap else UNDEFINED
        rows.append(row)
    return pd.DataFrame(rows)


def page(pairs: pd.DataFrame, command: str) -> str:
    """Return the page: what was found, in tables, and the command."""
    draws = pairs["draw"].nunique()
    bins = "\n".join(f"### {_NAMES[f]}\n\n{to_markdown(bins_table(pairs, f))}" for f in FACTORS)
    return f"""# Theorem 1: right probabilities give right confidences

Theorem 1 of Carterette (SIGIR 2007) says that confidences are accurate if the probabilities of
relevance are; its corollary says that independent documents suffice. Here relevance is drawn from
known probabilities p, {draws:,} times, on simulated runs of {_SYSTEMS} systems and {_TOPICS}
topics to depth {_DEPTH}, nothing judged. Confidences come from exact moments (`rtc_bayes.compare`).
The truth is what ir-measures computes of the drawn judgments.

The scope is the pool (`scope="pool"`), because the theorem is about documents that have a
probability: relevance is drawn for the documents of the pool and for no others, so the pool holds
every relevant document and the drawn judgments are complete. The default, whole lists by
all relevant documents, adds what no probability of a document tells: relevant documents that
no system retrieved, lists below the depth, and a residual. Here there is nothing of the kind, and
confidences that allow for it would be too low. For whole lists the theorem's condition is not met;
[trials](whole-lists.md) say how accurate confidences are.

{finding(pairs)}

## Scores

Each ± is one standard error over draws of relevance. The log-odds of p are multiplied by the
second column before confidences are computed. Expected is what the confidences themselves say of
W and of the log score (lower is better). A tie counts half.

{to_markdown(scores_table(pairs))}
## Accuracy less confidence by confidence

Bins of at least {_FEWEST} pairs. An error of 0.000: every pair of the bin was right.

{bins}
## Command

    {command}
"""


_NAMES = {1.0: "p itself", 0.5: "log-odds times 0.5", 2.0: "log-odds times 2"}


def finding(pairs: pd.DataFrame) -> str:
    """Say how far accuracy is from confidence for each factor, in words."""
    lines = []
    for factor in FACTORS:
        mine = pairs[pairs["factor"] == factor]
        gaps = {
            measure: departure(one, "right", "confidence")
            for measure, one in mine.groupby("measure", sort=False)
        }
        worst = max(gaps, key=lambda measure: abs(gaps[measure][0] / gaps[measure][1]))
        gap, error = gaps[worst]
        mean = departure(mine, "right", "confidence")[0]
        lines.append(
            f"- **{_NAMES[factor]}**: accuracy less confidence is {mean:+.3f} over all measures. "
            f"The\n  farthest in standard errors is {worst}: {gap:+.3f} ± {error:.3f}."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--collections", type=int, default=60, help="simulated ones")
    parser.add_argument("--draws", type=int, default=10, help="of relevance, for each collection")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    command = (
        f"python -m experiments.theorem.run --collections {asked.collections} "
        f"--draws {asked.draws} --seed {asked.seed} > docs/results/theorem.md"
    )
    print(page(scored(trials(asked.collections, asked.draws, asked.seed)), command), end="")


if __name__ == "__main__":
    main()
