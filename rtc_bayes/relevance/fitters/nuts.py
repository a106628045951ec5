"""The posterior of a PyMC graph by the No-U-Turn sampler of nutpie, over numba."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.fitters.graphs import as_fit_error, collect, open_graph, quiet_pymc
from rtc_bayes.relevance.interface import Diagnostics, Draws, Sampling

# nutpie's names, to ArviZ's
_STATISTICS = {
    "diverging": "diverging",
    "logp": "lp",
    "depth": "tree_depth",
    "maxdepth_reached": "reached_max_treedepth",
    "n_steps": "n_steps",
    "step_size": "step_size",
    "mean_tree_accept": "acceptance_rate",
    "energy": "energy",
    "energy_error": "energy_error",
}


def graph_nuts(model: Any, judgments: Judgments, sampling: Sampling) -> Draws:
    """Draw from the posterior of a graph, with r-hat, effective draws and divergences checked.

    p is not traced: it is computed from the draws of the parameters.
    """
    graph = open_graph(model, judgments)
    with quiet_pymc(), as_fit_error(model, "nuts"):
        import joblib
        import nutpie

        names = [v.name for v in graph.graph.free_RVs]
        compiled = nutpie.compile_pymc_model(graph.graph, backend="numba", var_names=names)
        tree = nutpie.sample(
            compiled,
            draws=sampling.draws,
            tune=sampling.tune,
            chains=sampling.chains,
            cores=min(sampling.chains, joblib.cpu_count()),
            seed=sampling.seed,
            save_warmup=False,
            progress_bar=False,
            store_unconstrained=True,
        )
        stats = tree["sample_stats"].dataset
        drawn = collect(
            graph,
            np.asarray(stats["unconstrained_draw"].values, dtype=np.float64),
            {ours: stats[theirs].values for theirs, ours in _STATISTICS.items()},
        )
    checks = mixing_checks(drawn.parameters, drawn.sample_stats)
    return replace(drawn, diagnostics=Diagnostics(checks=checks))
