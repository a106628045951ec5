"""The modes of the posterior of `layered`, and what judgments tell of its parameters, as Markdown.

    RTC_BAYES_DATA=FOLDER python -m experiments.layered.modes [--trials 5]

The first trials of `experiments.layered.trials`. Modes are where L-BFGS ends from draws of the
prior; the evidence of one is Laplace's: its log density, and the volume about it by its Hessian.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logit

from experiments.layered.trials import plan_of
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import FitError, FitWarning, Judgments, fit
from rtc_bayes.relevance import sigmoid
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes_models.layered import Layered

type Floats = NDArray[np.float64]
STARTS = 30
SAME = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--seed", type=int, default=500)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    modes, told = [], []
    for folder, judged in COLLECTIONS.items():
        by_trial = []
        for number, judgments in enumerate(judgments_of(folder, options.trials, options.seed)):
            modes += [{"": judged.name, "trial": number, **row} for row in modes_of(judgments)]
            try:
                by_trial.append(told_by(judgments, number))
            except FitError:
                continue
        told.append({"": judged.name, **pd.DataFrame(by_trial).mean()})
    print(to_markdown(pd.DataFrame(modes)), to_markdown(pd.DataFrame(told).round(2)), sep="\n\n")


def judgments_of(folder: str, trials: int, seed: int) -> Iterator[Judgments]:
    """Return the judgments of the first trials of a collection, for the two systems first."""
    runs, qrels = read(folder)
    plan = Plan(**plan_of(folder, qrels, ["uniform:map"]), trials=trials, seed=seed)
    collection = Collection.from_runs(runs, qrels, plan.estimand, truth=plan.truth)
    for of_trial in spawn_seeds(plan.seed, plan.trials):
        (outcome,) = outcomes(collection, plan, of_trial)
        first = outcome.draw.initial
        order = [*first, *(name for name in outcome.pool.systems if name not in first)]
        assert outcome.judgments is not None
        yield outcome.judgments.on(outcome.pool.select(order))


def prior(model: Layered, topics: int, systems: int, rng: np.random.Generator) -> dict[str, Any]:
    """Draw from the prior, as `LayeredDensity` lines values up and by name."""
    medians = [model.k, model.s_offset, model.s_slope, model.s_weight]
    log_k, *scales = (np.log(m) + s * rng.standard_normal() for m, s in medians)
    means = [rng.normal(*each) for each in (model.offset, model.slope, model.weight)]
    x = logit(rng.beta(*model.prior, (3, systems)))
    start = np.concatenate([[logit(rng.beta(*model.m)), log_k, *means, *scales]])
    a, b, weight = (np.exp(s) * each for s, each in zip(scales, x, strict=True))
    values = {"A": means[0] + a, "B": means[1] + b, "lambda": means[2] / systems + weight}
    return {"x": np.concatenate([start, rng.standard_normal(topics), x.ravel()]), **values}


def modes_of(judgments: Judgments) -> Iterator[dict[str, Any]]:
    """Describe each mode, the best first."""
    model, pool = Layered(), judgments.pool
    density, rng = model.density(judgments), np.random.default_rng(0)
    modes: list[tuple[float, Floats, int]] = []

    def loss(x: Floats) -> tuple[float, Floats]:
        value, gradient = density.derivative(x, jacobian=True)
        return -value, -gradient

    for _ in range(STARTS):
        begin = prior(model, pool.n_topics, pool.n_systems, rng)["x"]
        end = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 5000})
        same = [n for n, (at, _, _) in enumerate(modes) if abs(at - end.fun) < SAME]
        if same:
            modes[same[0]] = (*modes[same[0]][:2], modes[same[0]][2] + 1)
        else:
            modes.append((end.fun, end.x, 1))
    modes.sort(key=lambda mode: mode[0])
    volumes = [np.linalg.slogdet(-density.hessian(x, jacobian=True))[1] for _, x, _ in modes]
    for (least, x, starts), volume in zip(modes, volumes, strict=True):
        named, p = density.parameters(x), density.p(x)
        yield {
            "starts": f"{starts} of {STARTS}",
            "log density": f"{modes[0][0] - least:.1f}",
            "log evidence": f"{modes[0][0] - least + (volumes[0] - volume) / 2:.1f}",
            "weights of the two": " ".join(f"{w:+.2f}" for w in named["lambda"][:2]),
            "sum of weights": f"{named['lambda'].sum():+.2f}",
            "p, not ranked": f"{sigmoid(np.array(named['lambda'] @ named['A'])):.3f}",
            "mean p": f"{p.mean():.3f}",
        }


def told_by(judgments: Judgments, seed: int) -> dict[str, float]:
    """Return posterior sds over prior sds, and where the mode is beside the posterior mean."""
    model, pool, rng = Layered(), judgments.pool, np.random.default_rng(1)
    drawn = fit(pool, judgments, model=model, draws=250, tune=300, seed=seed).posterior
    best = fit(pool, judgments, model=model, method="map").posterior["posterior"]
    before = [prior(model, pool.n_topics, pool.n_systems, rng) for _ in range(4000)]
    shares: dict[str, float] = {}
    names = ("A", "B", "lambda")

    def quantities(of: dict[str, Floats]) -> dict[str, Floats]:
        a, b, weight = of["A"], of["B"], of["lambda"]
        parts = {"A": a, "B": b, "λ": weight, "λB": weight * b}
        two = {f"{name} of the two": part[:, :2] for name, part in parts.items()}
        rest = {f"{name} of others": part[:, 2:] for name, part in parts.items()}
        sums = {"Σλ": weight.sum(axis=1), "Σλ A": (weight * a).sum(axis=1)}
        return two | rest | sums

    def of_posterior(group: Any) -> dict[str, Floats]:
        return quantities({n: group[n].to_numpy().reshape(-1, pool.n_systems) for n in names})

    after, at_mode = of_posterior(drawn["posterior"]), of_posterior(best)
    prior_draws = {n: np.array([each[n] for each in before]) for n in names}
    for name, values in quantities(prior_draws).items():
        shares[name] = float((after[name].std(axis=0) / values.std(axis=0)).mean())
    for name in ("Σλ", "Σλ A"):
        shares[f"mean {name}"] = float(after[name].mean())
        shares[f"mode {name}"] = float(at_mode[name].mean())
    return shares


if __name__ == "__main__":
    main()
