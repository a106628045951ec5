"""Fitting a model by a method: the model's own if it has one, else through its PyMC graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import with_article
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import FitError, FitWarning, InputError, own_code, warn
from rtc_bayes.relevance.interface import (
    Diagnostics,
    Draws,
    PointEstimate,
    RelevanceModel,
    Sampling,
)
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.store.shown import counted

type Estimate = PointEstimate | Draws

METHODS = ("map", "laplace", "cut", "gibbs", "nuts")
#: What to do about a slip in a model's own code.
CORRECT = "correct it; docs/models.md shows a model"
# what a graph gives to a model that has no method of its own
_FROM_GRAPH = ("map", "laplace", "nuts")
# dims of all that a fit holds
_OF_DRAWS = {"chain", "draw"}


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
        from rtc_bayes.relevance.registry import is_installed

        # in code that is the user's
        if not is_installed(model if isinstance(model, type) else type(model)):
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
    source = method if hasattr(model, method) else "graph"
    estimated = _checked(estimated, f"{source}() of model {model.name}", method, judgments)
    if not estimated.diagnostics.usable:
        raise FitError(f"the fit of {model.name} must not be used: {estimated.diagnostics}")
    good = (estimated.p >= 0.0) & (estimated.p <= 1.0)
    if not good.all():
        if np.isnan(estimated.p).any():
            raise FitError(f"{method} of model {model.name}: {nan_text(estimated.p, judgments)}")
        wrong = np.argwhere(~good)
        document, value = int(wrong[0][-1]), estimated.p[tuple(wrong[0])]
        pool = judgments.pool
        how = "return probabilities" if hasattr(model, method) else "end with pm.math.sigmoid(...)"
        raise FitError(
            f"{method} of model {model.name} gave a probability of {value!s}, of document "
            f"{pool.docnos[document]} of topic {pool.topics[pool.topic_of[document]]}; {how}"
        )
    for check in estimated.diagnostics.warnings:
        warn(f"{model.name}:{method}: {check}", FitWarning)
    if not labelled:
        return estimated
    return with_labels(estimated, judgments)


def nan_text(p: NDArray[np.floating], judgments: Judgments) -> str:
    """Say of how many documents p is NaN, in any draw, and which is the first.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> print(nan_text(np.array([0.5, np.nan]), rb.Judgments.none(pool)))
    log-odds or p are NaN at 1 document of 2, the first b of topic 1; look for a missing value,
    0 / 0 or log(-1) in what the model computes them from
    """
    wrong = np.flatnonzero(np.isnan(p.reshape(-1, p.shape[-1])).any(axis=0))
    topic, docno = judgments.pool.pair_of(wrong[0])
    return (
        f"log-odds or p are NaN at {counted(len(wrong), 'document')} of {p.shape[-1]}, the first "
        f"{docno} of topic {topic}; look for a missing value, 0 / 0 or log(-1) in what the model "
        "computes them from"
    )


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
    if estimated.p.dtype not in (np.float32, np.float64):
        floats: Any = _floating(estimated.p, what, dims)
        estimated = replace(estimated, p=floats)
    _check_stored(estimated, what)
    _check_dims(estimated, what, judgments)
    if not isinstance(estimated, Draws):
        return estimated
    _check_draws(estimated, what)
    # NaN in p is named afterwards
    if method == "gibbs" and not (estimated.diagnostics.checks or np.isnan(estimated.p).any()):
        from rtc_bayes.relevance.fitters.checks import mixing_checks

        checks = mixing_checks(estimated.parameters, estimated.sample_stats)
        if not checks:  # no parameter that varies: then what is predicted
            checks = mixing_checks({"mean p": estimated.p.mean(axis=2)}, {})
        estimated = replace(estimated, diagnostics=replace(estimated.diagnostics, checks=checks))
    return estimated


def _floating(p: NDArray[Any], what: str, dims: int) -> NDArray[Any]:
    """Make whole numbers, truth values and other floats such floats as p is made of.

    Labels that are probabilities could not be put among whole numbers.
    """
    if not np.can_cast(p.dtype, np.float64, "same_kind"):
        raise FitError(f"{what} gave p of dtype {p.dtype}; give real numbers, as of np.float64")
    return p.astype(np.float64 if dims == 1 else np.float32)


def _check_draws(estimated: Draws, what: str) -> None:
    """Refuse parameters and statistics that are not of p's chains, or of fewer draws than p."""
    chains, draws = estimated.p.shape[:2]
    if not chains or not draws:
        raise FitError(f"{what} gave p of no draw; give one at least")
    arrays = [*estimated.parameters.items(), *estimated.sample_stats.items()]
    shapes: list[tuple[int, ...]] = [getattr(values, "shape", ()) for _, values in arrays]
    counts = {shape[:2] for shape in shapes}
    of_p = all(len(count) == 2 and count[0] == chains for count in counts)
    plain = all(len(shape) == 2 for shape in shapes[len(estimated.parameters) :])
    are_arrays = all(isinstance(values, np.ndarray) for _, values in arrays)
    if not (are_arrays and of_p and plain and len(counts) <= 1):
        said = [f"{name}: {shape}" for (name, _), shape in zip(arrays, shapes, strict=True)]
        raise FitError(
            f"{what} gave p of {chains} chains, and parameters of shapes {', '.join(said)}; "
            "give arrays, all with chains and draws first, and sample_stats no other dims"
        )
    if any(draws > count[1] for count in counts):
        raise FitError(
            f"{what} gave p of {draws} draws a chain, and parameters or sample_stats of "
            f"{min(counts)[1]}; give these of every draw, and p of all or of those of sampling.kept"
        )


def _check_stored(estimated: Estimate, what: str) -> None:
    """Refuse parameters that are no numbers or that no file can name, and no diagnostics."""
    for name, values in estimated.parameters.items():
        if not isinstance(name, str) or "/" in name:
            raise FitError(f"{what} gave a parameter {name!r}; give it a name without a slash")
        try:
            kind = np.asarray(values).dtype
        except ValueError:
            raise FitError(f"{what} gave parameter {name} as no array; give one") from None
        if kind.kind not in "biuf":
            raise FitError(f"{what} gave parameter {name} of dtype {kind}; give real numbers")
    if not isinstance(estimated.diagnostics, Diagnostics):
        kind_of = with_article(type(estimated.diagnostics).__name__)
        raise FitError(
            f"{what} gave {kind_of} as diagnostics; leave it out, or give a "
            "rtc_bayes.relevance.Diagnostics"
        )


def _check_dims(estimated: Estimate, what: str, judgments: Judgments) -> None:
    """Refuse parameters whose shapes do not have the pool's sizes, by their dims."""
    pool = judgments.pool
    sizes = {"topic": pool.n_topics, "system": pool.n_systems, "document": pool.n_documents}
    before = 2 if isinstance(estimated, Draws) else 0
    for name, dims in estimated.dims.items():
        if isinstance(dims, str):
            raise FitError(f"{what} gave parameter {name} the dims {dims!r}; give a tuple of names")
        if of_draws := _OF_DRAWS.intersection(dims):
            raise FitError(
                f"{what} gave parameter {name} the dim {min(of_draws)!r}, which every parameter of "
                "a fit has; name it otherwise"
            )
        shape = np.shape(estimated.parameters.get(name, ()))[before:]
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
    used = {dim for name in estimated.parameters for dim in estimated.dims.get(name, ())}
    for dim in sorted(used & set(estimated.coords)):
        if len(estimated.coords[dim]) != sizes[dim]:
            labels = counted(len(estimated.coords[dim]), "label")
            raise FitError(
                f"{what} gave coords of {labels} for dim {dim!r} of size {sizes[dim]}; give as many"
            )
    names = {*estimated.parameters, *getattr(estimated, "sample_stats", ())}
    if like_dims := sorted((used | _OF_DRAWS) & names):
        raise FitError(
            f"{what} gave {like_dims[0]!r} as a parameter, which is the name of a dim; name the "
            "parameter otherwise"
        )


def _through_graph(model: Any, method: str, judgments: Judgments, sampling: Sampling) -> Estimate:
    if method == "map":
        from rtc_bayes.relevance.fitters.point import graph_map

        return graph_map(model, judgments)
    if method == "laplace":
        from rtc_bayes.relevance.fitters.laplace import graph_laplace

        return graph_laplace(model, judgments, sampling)
    from rtc_bayes.relevance.fitters.nuts import graph_nuts

    return graph_nuts(model, judgments, sampling)
