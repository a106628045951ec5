"""Fitting a model by a method: the model's own if it has one, else through its PyMC graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, FitWarning, InputError, own_code, warn, with_article
from rtc_bayes.relevance.interface import Draws, PointEstimate, RelevanceModel, Sampling
from rtc_bayes.relevance.turned_labels import without_turned

type Estimate = PointEstimate | Draws

METHODS = ("map", "laplace", "cut", "gibbs", "nuts")
#: What to do about a slip in a model's own code.
CORRECT = "correct it; docs/models.md shows a model"
# what a graph gives to a model that has no method of its own
_FROM_GRAPH = ("map", "laplace", "nuts")


def available_methods(model: RelevanceModel | type[RelevanceModel]) -> tuple[str, ...]:
    """Return the methods that a model announces and that can be used.

    Examples
    --------
    >>> from rtc_bayes.relevance import load_model
    >>> available_methods(load_model("rtc"))
    ('map', 'cut')
    """
    return tuple(method for method in model.methods if _has(model, method))


def resolve_method(model: RelevanceModel | type[RelevanceModel], method: str | None) -> str:
    """Return a method's name, the model's default for None.

    Raises
    ------
    InputError
        The model does not have the method.

    Examples
    --------
    >>> from rtc_bayes.relevance import load_model
    >>> resolve_method(load_model("robust"), None)
    'gibbs'
    """
    wanted = method or model.default_method
    usable = available_methods(model)
    if wanted in usable:
        return wanted
    remedy = f"available: {', '.join(usable) or 'none'}"
    if wanted in _FROM_GRAPH and hasattr(model, "stages"):
        raise InputError(
            f"{model.name} is fitted part by part, and its parts' likelihoods use each judgment "
            f"more than once: their product is no joint density for {wanted!r}",
            remedy=remedy,
        )
    if wanted in model.methods:
        lacking = f"{wanted}() or graph()" if wanted in _FROM_GRAPH else f"{wanted}()"
        raise InputError(
            f"model {model.name} announces {wanted!r} without {lacking}", remedy=remedy
        )
    if _has(model, wanted):
        remedy += f"; or add {wanted!r} to its methods"
    raise InputError(f"model {model.name} has no method {wanted!r}", remedy=remedy)


def is_sampler(method: str) -> bool:
    """Whether a method gives draws.

    Examples
    --------
    >>> is_sampler("map"), is_sampler("gibbs")
    (False, True)
    """
    return method != "map"


def is_tuned(method: str) -> bool:
    """Whether a method takes steps before its first draw.

    Examples
    --------
    >>> is_tuned("laplace"), is_tuned("gibbs")
    (False, True)
    """
    return method not in ("map", "cut", "laplace")


def estimate(
    model: RelevanceModel,
    method: str | None,
    judgments: Judgments,
    sampling: Sampling | None = None,
    *,
    labelled: bool = True,
) -> Estimate:
    """Fit a model and return arrays, without labels: for loops that fit often.

    Parameters
    ----------
    model : RelevanceModel
    method : str or None
        None for the model's default.
    judgments : Judgments
    sampling : Sampling, optional
        By default as many draws as the method usually takes: :meth:`Sampling.of`.
    labelled : bool
        Whether judged documents get their label; else what the model says of them, which
        predictive checks need.

    Returns
    -------
    PointEstimate or Draws
        Over ``judgments.pool``.

    Raises
    ------
    InputError
        The model does not have the method, or the pool holds no document.
    FitError
        The fit did not converge or broke down, a check of its draws failed, or a probability is not
        a number in [0, 1].

    Warns
    -----
    FitWarning
        What a check of the draws found remarkable.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> estimate(load_model("uniform"), "map", rb.Judgments.none(pool)).p.mean()
    np.float64(0.5)
    """
    method = resolve_method(model, method)
    if not judgments.pool.n_documents:
        raise InputError(
            "the pool holds no document to predict the relevance of",
            remedy="give runs that retrieve documents",
        )
    # of a session, which is told of them once
    judgments = without_turned(judgments)
    try:
        estimated = _fitter(model, method)(judgments, sampling or Sampling.of(method))
    except np.linalg.LinAlgError as error:
        raise FitError(
            f"the fit of {model.name} by {method} broke down: its numbers grew too large or too "
            f"small ({error}); give narrower priors"
        ) from error
    estimated = _checked(estimated, f"{method}() of model {model.name}", method, judgments)
    if not estimated.diagnostics.usable:
        raise FitError(f"the fit of {model.name} must not be used: {estimated.diagnostics}")
    if not np.all((estimated.p >= 0.0) & (estimated.p <= 1.0)):
        wrong = np.argwhere(~((estimated.p >= 0.0) & (estimated.p <= 1.0)))
        document, value = int(wrong[0][-1]), float(estimated.p[tuple(wrong[0])])
        pool = judgments.pool
        how = "return probabilities" if hasattr(model, method) else "end with pm.math.sigmoid(...)"
        raise FitError(
            f"{method} of model {model.name} gave a probability of {value:g}, of document "
            f"{pool.docnos[document]} of topic {pool.topics[pool.topic_of[document]]}; {how}"
        )
    for check in estimated.diagnostics.warnings:
        warn(f"{model.name}:{method}: {check}", FitWarning)
    if not labelled:
        return estimated
    return with_labels(estimated, judgments)


def with_labels(estimated: Estimate, judgments: Judgments) -> Estimate:
    """Copy an estimate, and give judged documents their labels.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> judgments = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 1}}))
    >>> uniform = estimate(load_model("uniform"), "map", judgments, labelled=False)
    >>> with_labels(uniform, judgments).p.tolist()
    [1.0, 0.5]
    """
    p: Any = estimated.p.copy()
    p[..., judgments.order] = judgments.labels[judgments.order]
    return replace(estimated, p=p)


def _has(model: Any, method: str) -> bool:
    return hasattr(model, method) or (method in _FROM_GRAPH and hasattr(model, "graph"))


def _fitter(model: Any, method: str) -> Callable[[Judgments, Sampling], Estimate]:
    """Return a method as a function of judgments and sampling."""
    if hasattr(model, method):
        return partial(_by_own, model, method)
    return partial(_through_graph, model, method)


def _by_own(model: Any, method: str, judgments: Judgments, sampling: Sampling) -> Estimate:
    """Fit by the model's own method, and say where its code fails."""
    arguments = (judgments,) if method == "map" else (judgments, sampling)
    with own_code(model, f"{method}()", CORRECT, passing=np.linalg.LinAlgError):
        estimated: Estimate = getattr(model, method)(*arguments)
    return estimated


def _checked(estimated: Any, what: str, method: str, judgments: Judgments) -> Estimate:
    """Refuse what a method of a model's own must not return, and check a Markov chain's draws."""
    kind = PointEstimate if method == "map" else Draws
    if not isinstance(estimated, kind):
        raise FitError(
            f"{what} returned {with_article(type(estimated).__name__)}; return a "
            f"rtc_bayes.relevance.{kind.__name__}"
        )
    documents, shape = len(judgments.labels), np.shape(estimated.p)
    dims, wanted = (1, "(documents,)") if method == "map" else (3, "(chains, draws, documents)")
    if not isinstance(estimated.p, np.ndarray) or len(shape) != dims or shape[-1] != documents:
        raise FitError(
            f"{what} gave p as {with_article(type(estimated.p).__name__)} of shape {shape} for "
            f"{documents} documents; give an ndarray of shape {wanted}, in the order of "
            "judgments.pool"
        )
    _check_dims(estimated, what, judgments)
    if not isinstance(estimated, Draws):
        return estimated
    arrays = all(isinstance(values, np.ndarray) for values in estimated.parameters.values())
    counts = {np.shape(values)[:2] for values in estimated.parameters.values()}
    of_p = all(len(count) == 2 and count[0] == shape[0] for count in counts)
    if not (arrays and of_p and len(counts) <= 1):
        shapes = [f"{name}: {np.shape(values)}" for name, values in estimated.parameters.items()]
        raise FitError(
            f"{what} gave p of {shape[0]} chains, and parameters of shapes {', '.join(shapes)}; "
            "give arrays, all with chains and draws first"
        )
    if method == "gibbs" and not estimated.diagnostics.checks:
        from rtc_bayes.relevance.fitters.checks import mixing_checks

        checks = mixing_checks(estimated.parameters, estimated.sample_stats)
        if not checks:  # no parameter that varies: then what is predicted
            checks = mixing_checks({"mean p": estimated.p.mean(axis=2)}, {})
        estimated = replace(estimated, diagnostics=replace(estimated.diagnostics, checks=checks))
    return estimated


def _check_dims(estimated: Estimate, what: str, judgments: Judgments) -> None:
    """Refuse parameters whose shapes do not have the pool's sizes, by their dims."""
    pool = judgments.pool
    sizes = {"topic": pool.n_topics, "system": pool.n_systems, "document": pool.n_documents}
    before = 2 if isinstance(estimated, Draws) else 0
    for name, dims in estimated.dims.items():
        if isinstance(dims, str):
            raise FitError(f"{what} gave parameter {name} the dims {dims!r}; give a tuple of names")
        try:
            shape = np.shape(estimated.parameters.get(name, ()))[before:]
        except ValueError:
            raise FitError(f"{what} gave parameter {name} as no array; give one") from None
        wanted = [sizes.get(dim, size) for dim, size in zip(dims, shape, strict=False)]
        if name in estimated.parameters and (len(shape) != len(dims) or list(shape) != wanted):
            needs = ", ".join(f"{sizes[dim]} of dim {dim}" for dim in dims if dim in sizes)
            raise FitError(
                f"{what} gave parameter {name} with shape {shape}, and dims ({', '.join(dims)})"
                + (
                    f"; the pool, or an earlier parameter, has {needs}"
                    if needs
                    else "; give a name each"
                )
            )
        sizes |= dict(zip(dims, shape, strict=False))


def _through_graph(model: Any, method: str, judgments: Judgments, sampling: Sampling) -> Estimate:
    if method == "map":
        from rtc_bayes.relevance.fitters.point import graph_map

        return graph_map(model, judgments)
    if method == "laplace":
        from rtc_bayes.relevance.fitters.laplace import graph_laplace

        return graph_laplace(model, judgments, sampling)
    from rtc_bayes.relevance.fitters.nuts import graph_nuts

    return graph_nuts(model, judgments, sampling)
