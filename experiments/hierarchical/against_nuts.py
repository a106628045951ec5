"""The nested Laplace approximation of `hierarchical` held to NUTS, and NUTS in its two forms.

    RTC_BAYES_DATA=FOLDER python experiments/hierarchical/against_nuts.py --trials 8

takes trials as in Carterette 2007 on TREC-8 (judgments for two systems by rtc:map, ten systems
evaluated), draws by NUTS (nutpie, 4 chains of 1000 draws) and by Laplace, and prints per trial

- the mean and largest error of E p and of sd p over unjudged documents, the mean and largest
  error of the confidences of the 45 pairs (500 draws, exact moments, normal form), and the same
  for 500 other draws of NUTS: what is there by chance;
- those of draws without resampling by importance, Pareto k, and seconds;
- with --forms, the smallest bulk ESS of any scalar per second of processor time that sampling
  took, effects non-centred and centred.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from rtc_bayes import Judgments, Pool, Relevance, build, compare, read_qrels, read_runs
from rtc_bayes.relevance.effects import EffectDraws
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.fitters.laplace import resample, smoothed_weights
from rtc_bayes.store import spawn_seeds
from rtc_bayes_models.hierarchical import Hierarchical, _Design

CHAINS, DRAWS, TUNE = 4, 1000, 800
COMPARED = 500


def judged_trial(pool: Pool, qrels, seed: int) -> Judgments:
    """Judge for two systems of ten, and spread the judgments over the pool of the ten."""
    chosen = np.random.default_rng(seed).choice(pool.n_systems, size=10, replace=False)
    everyone = pool.select([pool.systems[s] for s in sorted(chosen)])
    initial = pool.select([pool.systems[s] for s in sorted(chosen[:2])])
    return build(initial, qrels, "rtc:map", confidence=0.95, seed=seed).judgments.on(everyone)


def nuts(model: Hierarchical, judgments: Judgments, seed: int) -> tuple[dict, float, str]:
    """Draws of the parameters, processor seconds of sampling, and what the checks say."""
    import nutpie

    design = _Design(model, judgments)
    names = ["mu", "m_a", "m_b", *design.dims]
    graph = model.graph(judgments.pool, judgments)
    compiled = nutpie.compile_pymc_model(graph, backend="numba", var_names=names)
    before = sum(os.times()[:2])
    tree = nutpie.sample(
        compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=2, seed=seed, progress_bar=False
    )
    seconds = sum(os.times()[:2]) - before
    found = {name: tree["posterior"][name].values for name in names}
    checks = mixing_checks(found, {"diverging": tree["sample_stats"]["diverging"].values})
    ess = next(check.value for check in checks if "ESS" in check.name)
    return found, ess / seconds, "; ".join(map(str, checks))


def flat(found: dict, first: int = 0) -> dict:
    """Draws of all chains, thinned to those compared, from a first one on."""
    pooled = {name: value.reshape(-1, *value.shape[2:]) for name, value in found.items()}
    step = CHAINS * DRAWS // COMPARED
    return {name: value[first::step] for name, value in pooled.items()}


def moments(p: np.ndarray, judgments: Judgments) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E p and sd p of unjudged documents, and P(< 0) + P(= 0) / 2 of every pair."""
    unjudged = ~judgments.judged
    values = np.where(unjudged, p, judgments.labels)
    relevance = Relevance.from_values(judgments.pool, values[None])
    found = compare(judgments.pool, relevance, probability="normal")
    return (
        p[:, unjudged].mean(axis=0),
        p[:, unjudged].std(axis=0),
        found.p_less + found.p_equal / 2.0,
    )


def errors(found, reference) -> str:
    cells = []
    for ours, theirs in zip(found, reference, strict=True):
        error = np.abs(ours - theirs)
        cells.append(f"{error.mean():.4f} / {error.max():.3f}")
    return " | ".join(cells)


def laplace(design: _Design, seed: int) -> tuple[EffectDraws, EffectDraws, float, float]:
    """Draws as they come and resampled, Pareto k, and seconds of a second call."""
    for _ in range(2):
        started = time.perf_counter()
        fitted = design.regression.fit()
        drawn = design.regression.draw(fitted, CHAINS * DRAWS, seed)
        seconds = time.perf_counter() - started
    weights, k = smoothed_weights(drawn.log_weight)
    return drawn, drawn.take(resample(weights, np.random.default_rng(seed))), k, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--forms", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    pool = Pool.from_runs(read_runs(folder / "runs"), depth=100)
    qrels = read_qrels(folder / "qrels.txt.gz")
    print("| judged | draws | E p, mean / largest error | sd p | confidence | k, seconds, checks |")
    print("|--:|---|--:|--:|--:|---|")
    with threadpool_limits(1):
        for seed in spawn_seeds(arguments.seed, arguments.trials):
            judgments = judged_trial(pool, qrels, seed)
            if not judgments.n_judged:
                continue
            model, n = Hierarchical(), judgments.n_judged
            design = _Design(model, judgments)

            def measured(parameters: dict, design=design, judgments=judgments):
                return moments(design.predict(parameters, np.float32), judgments)

            found, speed, checks = nuts(model, judgments, 1)
            reference = measured(flat(found))
            again = measured(flat(found, first=4))
            print(f"| {n} | NUTS, others | {errors(again, reference)} | {checks} |")
            plain, resampled, k, seconds = laplace(design, 1)
            for name, drawn in (("Laplace", plain), ("resampled", resampled)):
                parameters = design.parameters(drawn.log_scale, drawn.topics, drawn.columns)
                kept = {key: value[:COMPARED] for key, value in parameters.items()}
                note = f"k {k:.2f}, {seconds:.2f} s"
                print(
                    f"| {n} | {name} | {errors(measured(kept), reference)} | {note} |", flush=True
                )
            if arguments.forms:
                _, other, checks = nuts(Hierarchical(centred=True), judgments, 1)
                print(f"ESS per second: non-centred {speed:.1f}, centred {other:.1f} ({checks})")


if __name__ == "__main__":
    main()
