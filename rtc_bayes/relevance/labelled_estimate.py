"""What a fitter estimated, as labelled arrays: the relevance, and the groups of a posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes.collection import Judgments, Pool, Relevance
from rtc_bayes.collection.immutable import freeze
from rtc_bayes.collection.relevance import spaced
from rtc_bayes.relevance.fitters import Estimate
from rtc_bayes.relevance.interface import Draws

if TYPE_CHECKING:
    import xarray as xr

    from rtc_bayes.collection.grades import GradeDistribution


def labelled_relevance(
    estimated: Estimate, pool: Pool, model: str, method: str, grades: GradeDistribution | None
) -> Relevance:
    """Label probabilities; draws of p keep the numbers that they have among the parameters'."""
    freeze(estimated.p)  # so that draws are not copied
    relevance = Relevance.from_values(pool, estimated.p, model=model, method=method, grades=grades)
    if not isinstance(estimated, Draws):
        return relevance
    numbers = spaced(_shape(estimated)[1], estimated.p.shape[1])
    numbered = relevance.probability.assign_coords(draw=numbers)
    return Relevance(numbered, model=model, method=method, grades=grades)


def _shape(estimated: Estimate) -> tuple[int, int]:
    """Return the numbers of chains and draws of the parameters; of a model without, of p."""
    if not isinstance(estimated, Draws):
        return 1, 1
    arrays = [*estimated.parameters.values(), *estimated.sample_stats.values(), estimated.p]
    chains, draws = arrays[0].shape[:2]
    return chains, draws


def labelled_posterior(estimated: Estimate, judgments: Judgments) -> xr.DataTree:
    """Label what was found; a point estimate is the one draw of a posterior."""
    import xarray as xr

    pool = judgments.pool
    drawn = isinstance(estimated, Draws)
    variables = {
        name: (
            ("chain", "draw", *_dims(estimated, name)),
            np.asarray(value) if drawn else np.asarray(value)[None, None],
        )
        for name, value in estimated.parameters.items()
    }
    used = {
        dim: size
        for dims, values in variables.values()
        for dim, size in zip(dims, values.shape, strict=True)
    }
    chains, draws = _shape(estimated)
    labels = {
        "chain": np.arange(chains),
        "draw": np.arange(draws),
        "topic": np.array(pool.topics, dtype=str),
        "system": np.array(pool.systems, dtype=str),
        "rank": np.arange(1, used.get("rank", 0) + 1),
        **estimated.coords,
    }
    coords = {dim: labels[dim] for dim in ("chain", "draw", *used) if dim in labels}
    constant = judgments.to_xarray()
    observed = xr.Dataset(
        {"label": ("judgment", judgments.labels[judgments.order])},
        coords={
            "topic": ("judgment", np.array(pool.topics)[pool.topic_of[judgments.order]]),
            "docno": ("judgment", pool.docnos[judgments.order].astype(str)),
        },
    )
    groups = {
        "/posterior": xr.Dataset(variables, coords=coords),
        "/observed_data": observed,
        "/constant_data": constant.drop_vars("label"),
    }
    if isinstance(estimated, Draws):
        stats = {
            name: (("chain", "draw"), values) for name, values in estimated.sample_stats.items()
        }
        groups["/sample_stats"] = xr.Dataset(
            stats, coords={dim: labels[dim] for dim in ("chain", "draw")}
        )
    return xr.DataTree.from_dict(groups)


def _dims(estimated: Estimate, name: str) -> tuple[str, ...]:
    """Return a parameter's dims; those it does not name get names of their own, as in ArviZ."""
    if name in estimated.dims:
        return tuple(estimated.dims[name])
    leading = 2 if isinstance(estimated, Draws) else 0
    return tuple(f"{name}_dim_{i}" for i in range(np.ndim(estimated.parameters[name]) - leading))


def judgments_of(constant: xr.Dataset, observed: xr.Dataset) -> Judgments:
    """Rebuild judgments from the groups of a fit, as :func:`labelled_posterior` made them."""
    labels = np.full(constant.sizes["document"], np.nan)
    labels[constant["order"].values] = observed["label"].values
    return Judgments.from_xarray(constant.assign(label=("document", labels)))
