"""The posterior of a PyMC graph, or of a model's density, by nutpie's No-U-Turn sampler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.compiled import CompiledGraph
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.fitters.graphs import (
    as_fit_error,
    check_start,
    collect,
    open_density,
    quiet_pymc,
)
from rtc_bayes.relevance.interface import (
    Density,
    Diagnostics,
    Draws,
    HasKernel,
    Kernel,
    Sampling,
)
from rtc_bayes.relevance.newton import Floats

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

# steps to a draw of a density, and where a check of such draws failed
_THIN, _THINNER = 3, 4
# about the start of a density, of every value
_JITTER = 0.1


def graph_nuts(model: Any, judgments: Judgments, sampling: Sampling) -> Draws:
    """Draw from the posterior, with r-hat, effective draws and divergences checked.

    Steps of a density that the model compiled itself cost little: they are shorter, and three to a
    draw; where a check fails shorter still, and four to a draw.
    """
    density = open_density(model, judgments)
    with as_fit_error(model, "nuts"):
        check_start(model, density, judgments)
        if isinstance(density, CompiledGraph):
            return sample_density(density, sampling)
        drawn = sample_density(density, sampling, accept=0.9, thin=_THIN)
        if not drawn.diagnostics.usable:
            drawn = sample_density(density, sampling, accept=0.97, thin=_THINNER)
        return drawn


def sample_density(
    density: Density, sampling: Sampling, *, accept: float = 0.8, thin: int = 1
) -> Draws:
    """Draw from a density, every `thin`-th step of a chain.

    p is not traced: it is computed from the draws of the parameters.

    Parameters
    ----------
    density : Density
    sampling : Sampling
    accept : float
        Share of steps to accept, in (0, 1): the larger, the shorter they are.
    thin : int
    """
    with quiet_pymc():
        import joblib
        import nutpie

        tree = nutpie.sample(
            _compiled(density),
            draws=thin * sampling.draws,
            tune=sampling.tune,
            chains=sampling.chains,
            cores=min(sampling.chains, joblib.cpu_count()),
            seed=sampling.seed,
            save_warmup=False,
            progress_bar=False,
            target_accept=accept,
            store_unconstrained=True,
        )
        stats = tree["sample_stats"].dataset
        drawn = collect(
            density,
            np.asarray(stats["unconstrained_draw"].values, dtype=np.float64)[:, ::thin],
            {ours: stats[theirs].values[:, ::thin] for theirs, ours in _STATISTICS.items()},
        )
    checks = mixing_checks(drawn.parameters, drawn.sample_stats)
    return replace(drawn, diagnostics=Diagnostics(checks=checks))


def _compiled(density: Density) -> Any:
    """Return what nutpie samples: a graph as it compiles it, or a density that is compiled."""
    import nutpie

    if isinstance(density, CompiledGraph):
        names = [v.name for v in density.graph.free_RVs]
        return nutpie.compile_pymc_model(density.graph, backend="numba", var_names=names)

    def begin(seed: int) -> Floats:
        jitter = np.random.default_rng(seed).uniform(-_JITTER, _JITTER, density.size)
        beginning: Floats = density.start + jitter
        return beginning

    if isinstance(density, HasKernel):
        return _of_kernel(density.kernel, density.size, begin)
    from nutpie.compiled_pyfunc import from_pyfunc

    return from_pyfunc(
        density.size,
        lambda: partial(density.derivative, jacobian=True),
        lambda *_: lambda x: {},
        [],
        [],
        [],
        make_initial_point_fn=begin,
    )


@lru_cache(maxsize=1)
def _trace_nothing() -> Any:
    from numba import cfunc, types

    numbers = types.CPointer(types.double)
    trace = types.int64(types.uint64, types.uint64, numbers, numbers, types.voidptr)
    return cfunc(trace)(lambda size, traced, x, values, data: 0)


def _of_kernel(kernel: Kernel, size: int, begin: Callable[[int], Floats]) -> Any:
    """Return what nutpie makes of a PyMC graph by numba, of machine code: no variables to trace."""
    from nutpie.compile_pymc import CompiledPyMCModel

    return CompiledPyMCModel(
        dims={},
        compiled_logp_func=kernel.function,
        compiled_expand_func=_trace_nothing(),
        initial_point_func=begin,
        shared_data={},
        shared_var_keys={},
        user_data=kernel.data,
        n_expanded=0,
        shape_info=([], [], []),
        logp_func=None,
        expand_func=None,
        _n_dim=size,
        _shapes={},
        _coords={},
    )
