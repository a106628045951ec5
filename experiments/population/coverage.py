"""How often intervals hold the mean over the population that topics are a sample of.

    python -m experiments.population.coverage

Topics are drawn from a population: two systems rank 15 documents by their quality and noise, and
each document is relevant with a known probability; a share of them is judged. Of the 90% intervals
of 2,000 samples of topics, the share that holds the true mean, for three variances of the mean over
the population: that of `Comparison.with_population`, that of the mean over these topics plus the
spread of the expected differences, and that of a bootstrap of topics on sampled outcomes.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats

from rtc_bayes import Pool, Relevance, Run, Runs, moments
from rtc_bayes.confidence.population import inferred
from rtc_bayes.confidence.setting import Setting
from rtc_bayes.confidence.topics import by_topic

DOCUMENTS = 15
SAMPLES = 2000


def population(rng: np.random.Generator, topics: int) -> tuple[Pool, np.ndarray]:
    """Topics with two systems, and the probability of relevance of every document."""
    quality = rng.normal(size=(topics, DOCUMENTS))
    skill = np.stack([rng.normal(0.9, 0.5, topics), rng.normal(0.6, 0.5, topics)])
    order = np.argsort(-(skill[..., None] * quality + rng.normal(size=(2, topics, DOCUMENTS))), 2)
    runs = [
        Run.from_rankings(
            f"s{s}", {f"{t:05d}": [f"d{i:02d}" for i in order[s, t]] for t in range(topics)}
        )
        for s in range(2)
    ]
    return Pool.from_runs(Runs(runs)), 1 / (1 + np.exp(1.0 - quality.ravel()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, default=10, help="of a sample")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    sample, blocks = arguments.topics, 40
    print("judged  S^2 / v  compare  spread added  outcomes bootstrapped")
    for judged in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):
        truth, estimated = [], []
        for _ in range(blocks):
            pool, p = population(rng, sample * SAMPLES // blocks)
            score = moments(pool, p).expected[0]
            truth.append((score[0] - score[1]).mean())
            relevant = (rng.random(len(p)) < p).astype(float)
            values = np.where(rng.random(len(p)) < judged, relevant, p)
            estimated.append(by_topic(Setting.from_pool(pool, Relevance.from_values(pool, values))))
        expected = np.concatenate([part[0].reshape(-1, sample) for part in estimated])
        doubt = np.concatenate([part[1].reshape(-1, sample) for part in estimated])
        own = doubt.mean(axis=1)
        spread = expected.var(axis=1, ddof=1)
        variances = [
            inferred(expected, doubt, own / sample).sd_population ** 2,
            (own + spread) / sample,
            (2 * own + spread) / sample,
        ]
        error = np.abs(expected.mean(axis=1) - np.mean(truth))
        bound = stats.t.ppf(0.95, sample - 1)
        held = [(error < bound * np.sqrt(variance)).mean() for variance in variances]
        ratio = spread.mean() / own.mean() if own.any() else np.inf
        print(f"{judged:6.1f}  {ratio:7.2f}  {held[0]:7.3f}  {held[1]:12.3f}  {held[2]:21.3f}")


if __name__ == "__main__":
    main()
