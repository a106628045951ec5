"""The nested Laplace approximation of `hierarchical` held to NUTS, and NUTS in its two forms.

    RTC_BAYES_DATA=FOLDER python -m experiments.hierarchical.accuracy --trials 2 6 0 12 1
    RTC_BAYES_DATA=FOLDER python -m experiments.hierarchical.accuracy --trials 2 10 --forms

takes trials as in Carterette 2007 on TREC-8 (judgments for two systems by rtc:map, ten systems
evaluated), and draws by NUTS (nutpie, 4 chains of 500) and by Laplace. It prints mean and largest
error of E p and of sd p over unjudged documents and of the 45 pairs' confidences (one outcome of
relevance a draw), 1000 draws each: of the approximation's draws as they come and resampled by
importance, and of other draws of NUTS, which is what there is by chance. With --forms it prints
the smallest bulk ESS of any scalar per second of processor time, effects non-centred and centred.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from rtc_bayes import Judgments, read_qrels, read_runs, sample_scores
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.judging import build, parse_algorithm
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.fitters.laplace import resample, smoothed_weights
from rtc_bayes.relevance.nested_laplace import NestedLaplace, StandardDraws
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, draw_systems
from rtc_bayes.workers import one_thread
from rtc_bayes_models.hierarchical import Design, Hierarchical

CHAINS, DRAWS, TUNE = 4, 500, 500
LAPLACE, COMPARED = 4000, 1000


def judged(trials: list[int]) -> dict[int, Judgments]:
    """Judgments of trials of seed 0, over the pool of their ten systems."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    runs, qrels = read_runs(folder / "runs"), read_qrels(folder / "qrels.txt.gz")
    collection = Collection.from_runs(runs, qrels)
    algorithm = parse_algorithm("rtc:map")
    judgments = {}
    for trial in trials:
        seed = spawn_seeds(0, trial + 1)[trial]
        draw = draw_systems(collection.pool.systems, Plan(("rtc:map",)), seed)
        initial = collection.pool.select(draw.initial)
        made = build(initial, qrels, algorithm, confidence=0.95, seed=draw.judging_seed)
        judgments[trial] = made.judgments.on(collection.pool.select(draw.everyone))
    return judgments


def nuts(judgments: Judgments, *, centred: bool = False) -> dict:
    """Draws of all chains together; prints how it went."""
    import nutpie

    model = Hierarchical(centred=centred)
    names = ["mu", "m_a", "m_b", *Design(model, judgments).dims]
    graph = model.graph(judgments.pool, judgments)
    compiled = nutpie.compile_pymc_model(graph, backend="numba", var_names=names)
    before = time.process_time()
    tree = nutpie.sample(
        compiled, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=2, seed=1, progress_bar=False
    )
    seconds = time.process_time() - before
    draws_of = {name: tree["posterior"][name].values for name in names}
    checks = mixing_checks(draws_of, {"diverging": tree["sample_stats"]["diverging"].values})
    ess = next(check.value for check in checks if "ESS" in check.name)
    form = "centred" if centred else "non-centred"
    print(f"({form}: {ess / seconds:.0f} effective draws a second; {'; '.join(map(str, checks))})")
    return {name: value.reshape(-1, *value.shape[2:]) for name, value in draws_of.items()}


def against_nuts(trial: int, judgments: Judgments) -> None:
    """Print the rows of one trial."""
    design = Design(Hierarchical(), judgments)
    approximation = NestedLaplace(design.regression)
    drawn = approximation.draw(approximation.fit(), LAPLACE, 1)
    weights, k = smoothed_weights(drawn.log_weight)
    chosen = drawn.take(resample(weights, np.random.default_rng(0)))
    sampled = nuts(judgments)
    unjudged = ~judgments.judged
    a, b = all_pairs(judgments.pool.n_systems)

    def moments(parameters: dict, seed: int) -> tuple[np.ndarray, ...]:
        p = design.predict(parameters, np.float32)
        p_or_label = np.where(unjudged, p, judgments.labels).astype(np.float32)
        x = sample_scores(judgments.pool, p_or_label, outcomes=1, seed=seed)[:, 0]
        less = (x[:, a] < x[:, b]) + (x[:, a] == x[:, b]) / 2.0
        return p[:, unjudged].mean(axis=0), p[:, unjudged].std(axis=0), less.mean(axis=0)

    def first(draws: StandardDraws) -> dict:
        some = approximation.effects(draws.take(np.arange(COMPARED)))
        return {name: value[0] for name, value in design.parameters(some).items()}

    step = CHAINS * DRAWS // COMPARED
    reference = moments({name: value[::step] for name, value in sampled.items()}, 0)
    others = {name: value[1::step] for name, value in sampled.items()}
    for seed, (name, parameters) in enumerate(
        {"NUTS, others": others, "Laplace": first(drawn), "resampled": first(chosen)}.items(), 1
    ):
        errors = [np.abs(x - y) for x, y in zip(moments(parameters, seed), reference, strict=True)]
        cells = " | ".join(f"{error.mean():.4f} / {error.max():.3f}" for error in errors)
        print(f"| {trial} | {judgments.n_judged} | {k:.2f} | {name} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs="+", default=[2, 6, 0, 12, 1])
    parser.add_argument("--forms", action="store_true")
    arguments = parser.parse_args()
    with one_thread():
        for trial, judgments in judged(arguments.trials).items():
            if arguments.forms:
                for centred in (False, True):
                    nuts(judgments, centred=centred)
            else:
                against_nuts(trial, judgments)


if __name__ == "__main__":
    main()
