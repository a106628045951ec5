"""Simulation-based calibration of a model by Laplace or by NUTS, as Markdown.

Usage: python -m experiments.calibration.sbc --method laplace --simulations 1000
       python -m experiments.calibration.sbc --model layered --method nuts --simulations 500

Parameters and labels from the model's prior, over a simulated collection of 20 topics and 10
systems to depth 30, of which 200 documents at random are judged; then draws given the labels. The
ranks of the true values among the draws are uniform if the sampler is exact. The table gives, of
each scalar, ArviZ' p-value of uniformity, the mean rank (1/2: the draws are not shifted) and the
share of ranks in the outer tenth (10%: the draws are as wide as they should be).
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from rtc_bayes.calibration.simulation_based import simulation_based_calibration
from rtc_bayes.calibration.whole_model import WholeModel
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.errors import FitError, FitWarning
from rtc_bayes.relevance import Sampling, load_model
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.store import progress_bar
from rtc_bayes.workers import one_thread

JUDGED = 200
SAMPLING = {
    "laplace": Sampling(draws=199, chains=1),
    "nuts": Sampling(draws=150, chains=4, tune=500),
}
_OUTER = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=["hierarchical", "layered"], default="hierarchical")
    parser.add_argument("--method", choices=list(SAMPLING), default="laplace")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=None, help="of the method, if not its usual")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    sampling = SAMPLING[options.method]
    sampling = replace(sampling, chains=options.chains or sampling.chains)
    simulated = simulate(n_topics=20, n_systems=10, seed=1)
    pool = Pool.from_runs(simulated.runs, depth=30)
    order = np.random.default_rng(0).choice(pool.n_documents, JUDGED, replace=False)
    model = WholeModel(
        load_model(options.model),
        options.method,
        Judgments.from_labels(pool, order, np.zeros(JUDGED)),
        options.simulations,
        sampling,
        seed=options.seed,
    )
    before = time.perf_counter()
    with progress_bar() as progress, one_thread():
        result = simulation_based_calibration(
            partial(drawn_again, model),
            simulations=options.simulations,
            seed=options.seed,
            progress=progress,
        )
    print(f"{pool!r}\n{result!r}, {time.perf_counter() - before:.0f} seconds\n")
    table = result.p_values()
    ranks = [result.ranks[name] for name in table["quantity"]]
    table["mean rank"] = [rank.mean() for rank in ranks]
    outer = [np.abs(rank - 0.5) > 0.5 * (1.0 - _OUTER) for rank in ranks]
    table["in the outer tenth"] = [np.mean(far) for far in outer]
    formats = {"p_value": ".3f", "mean rank": ".3f", "in the outer tenth": ".1%"}
    print(to_markdown(table, formats))


def drawn_again(
    model: WholeModel, number: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Simulate once; where the draws of a fit are refused, take ten times as many."""
    try:
        return model(number, seed)
    except FitError:
        sampling = replace(model.sampling, draws=10 * model.sampling.draws)
        true, draws = replace(model, sampling=sampling)(number, seed)
        return true, {name: values[::10] for name, values in draws.items()}


if __name__ == "__main__":
    main()
