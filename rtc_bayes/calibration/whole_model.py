"""Simulations of any model that is one graph: parameters from its prior, labels given these."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.calibration.predictive import refuse_composite
from rtc_bayes.checks import whole_fields
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import CollectionWarning, InputError
from rtc_bayes.relevance import (
    Draws,
    ModelSpec,
    RelevanceModel,
    Sampling,
    estimate,
    resolve_method,
)
from rtc_bayes.store import spawn_seeds

type Floats = NDArray[np.float64]

_SCALARS = 3


@dataclass(frozen=True, eq=False, repr=False)
class WholeModel:
    """The simulations of a model; of an array only the first three scalars are ranked.

    Of ``p`` they are three unjudged documents.

    Attributes
    ----------
    model : RelevanceModel
        With a graph, whose parameters have the names that the method gives them. It is given
        itself, or as its name, the path of a FILE.py or a :class:`~rtc_bayes.relevance.ModelSpec`.
    method : str
        One that draws.
    judgments : Judgments
        Which documents are judged; their labels do not count.
    simulations : int, at least 1
        How many can be had. It is also how many
        :func:`~rtc_bayes.calibration.simulation_based_calibration` makes, unless it is given fewer.
    sampling : Sampling
        Of the draws kept.
    seed : int
        Of the prior.

    Raises
    ------
    InputError
        A model that is none, is a composite, or has no graph; a method that it does not have. When
        the prior is drawn from: a graph that observes what is not made of the judgments.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import Sampling
    >>> made = rb.simulate(n_topics=3, n_systems=4, documents=100, depth=20, seed=1)
    >>> pool = rb.Pool.from_runs(made.runs, depth=10)
    >>> judgments = rb.Judgments.from_labels(pool, range(0, 30, 2), [0.0] * 15)
    >>> sampling = Sampling(draws=50, chains=1)
    >>> simulation = WholeModel("rank_curve", "laplace", judgments, 5, sampling)
    >>> true, drawn = simulation(0, seed=1)
    >>> true["p"].shape, drawn["p"].shape
    ((3,), (50, 3))
    """

    model: RelevanceModel
    method: str
    judgments: Judgments
    simulations: int
    sampling: Sampling
    seed: int = 0

    def __post_init__(self) -> None:
        whole_fields(self, simulations=1, seed=0)
        spec = ModelSpec.parse(self.model, self.method)
        model = spec.instance or spec.build()
        refuse_composite(model)
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "method", resolve_method(model, spec.method))

    @cached_property
    def prior(self) -> Mapping[str, Floats]:
        """Draws from the prior, of the parameters and of ``p``, shape (simulations, ...)."""
        return prior_draws(self.model, self.judgments, self.simulations, self.seed)

    def __call__(self, number: int, seed: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Simulate once; `number` says which draw of the prior is the truth."""
        labelling, fitting = spawn_seeds(seed, 2)
        truth = {name: values[number] for name, values in self.prior.items()}
        order = self.judgments.order
        labels = np.random.default_rng(labelling).random(len(order)) < truth["p"][order]
        judgments = self.judgments.relabelled(labels)
        sampling = Sampling(self.sampling.draws, self.sampling.chains, self.sampling.tune, fitting)
        with warnings.catch_warnings():
            # the same documents are judged in all, and the first says what is to be said
            if number > 0:
                warnings.simplefilter("ignore", CollectionWarning)
            draws = estimate(self.model, self.method, judgments, sampling, labelled=False)
        if not isinstance(draws, Draws):
            raise InputError(f"{self.method} gives no draws", remedy="choose a method that draws")
        unjudged = np.flatnonzero(~judgments.judged)
        shown = unjudged[:: max(1, len(unjudged) // _SCALARS)][:_SCALARS]
        true: dict[str, Floats] = {"p": truth["p"][shown]}
        drawn: dict[str, Floats] = {"p": draws.values[:, shown].astype(np.float64)}
        for name, values in draws.parameters.items():
            if name in truth:
                leading = slice(_SCALARS) if truth[name].ndim else ...
                true[name] = truth[name][leading]
                drawn[name] = values.reshape(-1, *truth[name].shape)[:, leading]
        return true, drawn


def prior_draws(
    model: RelevanceModel, judgments: Judgments, draws: int, seed: int
) -> dict[str, Floats]:
    """Draw parameters and ``p`` from the prior of a model's graph.

    Returns
    -------
    dict of str to ndarray, shape (draws, ...)
        By the names of the graph.

    Raises
    ------
    InputError
        The graph observes what is not made of the judgments' labels. That is not simulated, and
        tells of the parameters all the same, so that ranks of an exact sampler are not uniform.
    """
    from rtc_bayes.relevance.fitters.graphs import quiet_pymc

    # priors may not depend on labels; those of a graph must be there
    with quiet_pymc():
        graph, other = (
            model.graph(  # type: ignore[attr-defined]
                judgments.pool, judgments.relabelled(np.full(judgments.n_judged, label))
            )
            for label in (0.0, 1.0)
        )
    if judgments.n_judged:
        for variable in graph.observed_RVs:
            same = other.rvs_to_values[other[variable.name]]
            if np.array_equal(_values(graph.rvs_to_values[variable]), _values(same)):
                raise InputError(
                    f"graph() of {model!r} observes {variable.name}, which is not made of the "
                    "judgments, and only labels are simulated",
                    remedy="calibrate the model without it",
                )
    with quiet_pymc():
        import pymc as pm

        named = [*graph.free_RVs, *graph.deterministics]
        values = pm.draw(named, draws=draws, random_seed=seed)
    return {str(v.name): np.asarray(value) for v, value in zip(named, values, strict=True)}


def _values(observed: Any) -> NDArray[Any]:
    """Return what a graph observes: a constant, or made of pm.Data."""
    return np.asarray(observed.eval())
