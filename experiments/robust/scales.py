"""The parameters of `robust` under complete judgments, and what its parts are worth there.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.scales [--sets 4]

prints, for random sets of 2 to 17 systems of each collection, the parameters of highest marginal
likelihood given complete judgments of all topics: what the priors in docs/robust.md were read off.
Then the log evidence of other forms of the model less its own, for sets of 10. Effects of systems
are normal here, and the likelihood is Laplace's; scales are found by expectation maximisation.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from experiments.common import read_collection
from rtc_bayes import Judgments, Pool, Qrels, Runs
from rtc_bayes.workers import one_thread
from rtc_bayes_models.robust import COEFFICIENTS, SCALES, Design, Robust

type Floats = NDArray[np.float64]

WIDE = Robust(mu=(-3.6, 2.0), m_a=(1.0, 5.0), m_b=(6.0, 8.0), m_c=(0.2, 1.0), m_e=(0.0, 20.0))
# where all systems are judged for, no document is new
FITTED = [name for name in SCALES if name != "s_u"]
ROUNDS, STEPS = 12, 30
_MORE = (0.0, 3.0)
FORMS = {
    "lists to rank 300": (300, WIDE),
    "to rank 100, the pool's depth": (100, WIDE),
    "effects on a topic share all they do (shared 0)": (1000, replace(WIDE, shared=0.0)),
    "they share nothing (shared 1)": (1000, replace(WIDE, shared=1.0)),
    "what they share does not turn (pivot 0)": (1000, replace(WIDE, pivot=0.0)),
    "no q_jt": (1000, replace(WIDE, s_q=(1e-4, 0.0))),
    "to rank 100, shared 0, pivot 0, no q_jt": (
        100,
        replace(WIDE, shared=0.0, pivot=0.0, s_q=(1e-4, 0.0)),
    ),
}


@dataclass(frozen=True)
class Rows:
    """The documents of a topic: features of coefficients and systems, of its own, and labels."""

    columns: Floats
    local: Floats
    labels: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=4)
    sets = parser.parse_args().sets
    print("| | systems |", " | ".join([*COEFFICIENTS, *FITTED]), "|")
    for name in ("robust03", "trec8_adhoc"):
        for systems in (2, 5, 10, 17):
            fits = [
                np.concatenate(fitted(rows, WIDE, systems)[:2])
                for rows in draw(name, systems, sets, 1000, WIDE)
            ]
            means = " | ".join(f"{value:.2f}" for value in np.mean(fits, axis=0))
            print(f"| {name} | {systems} | {means} |", flush=True)
    print("\n| 10 systems | robust03 | trec8_adhoc |")
    gains = [of_forms(name, sets) for name in ("robust03", "trec8_adhoc")]
    for form, *gain in zip(FORMS, *gains, strict=True):
        print(f"| {form} |", " | ".join(f"{value:.0f}" for value in gain), "|")


def of_forms(name: str, sets: int) -> Floats:
    """Mean log evidence of other forms less the model's, for sets of 10 systems."""

    def evidence(reach: int, model: Robust) -> Floats:
        every = draw(name, 10, sets, reach, model)
        return np.array([fitted(rows, model, 10)[2] for rows in every])

    own = evidence(1000, WIDE)
    return np.array([(evidence(*form) - own).mean() for form in FORMS.values()])


def draw(name: str, systems: int, sets: int, reach: int, model: Robust) -> list[list[Rows]]:
    """Rows of every topic, of random sets of systems; the same sets whatever the reach."""
    runs, qrels = collection(name)
    pool = Pool.from_runs(runs, reach=reach)
    random = np.random.default_rng(systems)
    draws = []
    for _ in range(sets):
        chosen = sorted(random.choice(pool.n_systems, systems, replace=False))
        some = pool.select([pool.systems[i] for i in chosen])
        design = Design(model, Judgments.none(some, judged_for=some.systems))
        judged = Judgments.from_qrels(some, qrels)
        draws.append([rows(design, judged, t) for t in range(some.n_topics)])
    return draws


@cache
def collection(name: str) -> tuple[Runs, Qrels]:
    """Read a collection, once."""
    return read_collection(name)


def rows(design: Design, judged: Judgments, topic: int) -> Rows:
    """Documents of a topic, none of them new."""
    pool = design.pool
    columns, local = design.features(topic)
    return Rows(columns[:, : -pool.n_systems], local, labels_of(judged, pool, topic))


def labels_of(judged: Judgments, pool: Pool, topic: int) -> Floats:
    """Labels of a pool's documents of a topic, 0 for one without a judgment."""
    place = judged.pool.locate(pool.topics[topic], pool.docnos[pool.documents(topic)])
    return np.nan_to_num(judged.labels[place])


def fitted(
    rows: Sequence[Rows], model: Robust, systems: int, more: int = 0
) -> tuple[Floats, Floats, float]:
    """Coefficients, scales and log evidence; scales known to the model stay as they are.

    After the model's coefficients may come `more`, normal about 0.
    """
    scale, spread = np.array([getattr(model, name) for name in FITTED]).T
    mean, sd = np.array([getattr(model, name) for name in COEFFICIENTS] + [_MORE] * more).T
    scale_of, local_scale_of = np.repeat([3, 4], systems), np.repeat([0, 1, 2], [1] + [systems] * 2)
    state = np.append(mean, np.zeros(2 * systems))
    prior_mean, own = state.copy(), np.zeros((len(rows), len(local_scale_of)))
    for _ in range(ROUNDS):
        precision = np.append(sd**-2, scale[scale_of] ** -2)
        fit = laplace(rows, prior_mean, precision, scale[local_scale_of] ** -2, state, own)
        state, own, variance, own_variance, evidence = fit
        for g in np.flatnonzero(spread > 0):
            squares = state**2 + variance
            own_squares = own**2 + own_variance
            mine = [squares[len(mean) :][scale_of == g], own_squares[:, local_scale_of == g]]
            scale[g] = np.sqrt(np.concatenate([part.ravel() for part in mine]).mean())
    return state[: len(mean)], scale, evidence


def laplace(
    rows: Sequence[Rows],
    mean: Floats,
    precision: Floats,
    own_precision: Floats,
    state: Floats,
    own: Floats,
) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Mode, variances and log evidence; Newton's steps, topics' effects eliminated in each."""

    def density(state: Floats, own: Floats) -> float:
        total = (
            -0.5 * (precision * (state - mean) ** 2).sum() - 0.5 * (own_precision * own**2).sum()
        )
        for topic, effects in zip(rows, own, strict=True):
            eta = topic.columns @ state + topic.local @ effects
            total += topic.labels @ eta - np.logaddexp(0.0, eta).sum()
        return float(total)

    current = density(state, own)
    for _ in range(STEPS):
        schur, pull = np.diag(precision), -precision * (state - mean)
        log_det = 0.0
        inverses, crosses, pulls = [], [], []
        for topic, effects in zip(rows, own, strict=True):
            p = expit(topic.columns @ state + topic.local @ effects)
            weighted = topic.columns * (p * (1 - p))[:, None]
            block = topic.local.T @ (topic.local * (p * (1 - p))[:, None]) + np.diag(own_precision)
            inverse, cross = np.linalg.inv(block), weighted.T @ topic.local
            own_pull = topic.local.T @ (topic.labels - p) - own_precision * effects
            schur = schur + topic.columns.T @ weighted - cross @ inverse @ cross.T
            pull = pull + topic.columns.T @ (topic.labels - p) - cross @ inverse @ own_pull
            log_det += np.linalg.slogdet(block)[1]
            inverses.append(inverse)
            crosses.append(cross)
            pulls.append(own_pull)
        step = np.linalg.solve(schur, pull)
        parts = zip(inverses, crosses, pulls, strict=True)
        own_step = np.array([i @ (g - c.T @ step) for i, c, g in parts])
        length = 1.0
        while (new := density(state + length * step, own + length * own_step)) < current - 1e-9:
            length /= 2
        state, own = state + length * step, own + length * own_step
        if new - current < 1e-3:
            break
        current = new
    covariance = np.linalg.inv(schur)
    own_variance = [
        np.diag(i) + np.einsum("ij,jk,ik->i", i @ c.T, covariance, i @ c.T)
        for i, c in zip(inverses, crosses, strict=True)
    ]
    evidence = new - 0.5 * (np.linalg.slogdet(schur)[1] + log_det)
    evidence += 0.5 * (np.log(precision).sum() + len(rows) * np.log(own_precision).sum())
    return state, own, np.diag(covariance), np.array(own_variance), evidence


if __name__ == "__main__":
    with one_thread():
        main()
