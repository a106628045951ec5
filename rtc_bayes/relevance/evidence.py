"""What relevance models share: ranks as evidence, rows of judged documents, labels observed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.relevance.newton import Floats


def coordinates(pool: Pool) -> dict[str, Any]:
    """Label the dims ``topic``, ``system`` and ``document`` of a graph.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> list(coordinates(pool))
    ['topic', 'system', 'document']
    """
    return {
        "topic": list(pool.topics),
        "system": list(pool.systems),
        "document": np.arange(pool.n_documents),
    }


def rank_curve(ranks: NDArray[np.integer], depth: int) -> Floats:
    """Return 1 - ln(rank) / ln(depth + 1): 1 at the first rank, near 0 at the last.

    Parameters
    ----------
    ranks : ndarray of int
        From 1; 0 where a document is not ranked, which gives 0.
    depth : int

    Examples
    --------
    >>> rank_curve(np.array([1, 10, 0]), depth=99)
    array([1. , 0.5, 0. ])
    """
    curve = 1.0 - np.log(np.maximum(ranks, 1)) / np.log(depth + 1)
    return np.where(ranks > 0, curve, 0.0)


def document_ranks(pool: Pool) -> NDArray[np.int32]:
    """Return the rank by every system of every document, shape (documents, systems); 0 if none.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> document_ranks(pool).shape == (pool.n_documents, 4)
    True
    """
    return np.hstack([pool.ranks(t) for t in range(pool.n_topics)]).T


def of_retrieved(judgments: Judgments) -> Judgments:
    """Return the judgments of documents that some system of the pool retrieved, over that pool.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> of_retrieved(judgments).n_judged < judgments.n_judged
    True
    """
    order = judgments.order
    return judgments.keep(order[np.isin(order, judgments.pool.ranked)])


@overload
def judged_rows(judgments: Judgments, features: Callable[[int], Floats]) -> Floats: ...


@overload
def judged_rows(
    judgments: Judgments, features: Callable[[int], tuple[Floats, ...]]
) -> tuple[Floats, ...]: ...


def judged_rows(
    judgments: Judgments, features: Callable[[int], Floats | tuple[Floats, ...]]
) -> Floats | tuple[Floats, ...]:
    """Return the features of the judged documents, in the order of judging.

    Parameters
    ----------
    judgments : Judgments
    features : callable
        Takes the number of a topic and returns the features of its documents, shape
        (documents, columns), or a tuple of such arrays. It is called only for topics with
        judgments, and for the first.

    Returns
    -------
    ndarray of float, shape (judged, columns)
        Or a tuple of them, each an array of its own.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> pool = judgments.pool  # with the judged documents that no system ranked
    >>> rows = judged_rows(judgments, lambda topic: rank_curve(pool.ranks(topic).T, pool.depth))
    >>> rows.shape == (judgments.n_judged, 4)
    True
    """
    pool, rows = judgments.pool, judgments.order
    topic, first = pool.topic_of[rows], features(0)
    parts = first if isinstance(first, tuple) else (first,)
    values = tuple(np.empty((len(rows), part.shape[1])) for part in parts)
    for t in np.unique(topic):
        here, of_topic = topic == t, features(t)
        parts = of_topic if isinstance(of_topic, tuple) else (of_topic,)
        for value, part in zip(values, parts, strict=True):
            value[here] = part[rows[here] - pool.topic_starts[t]]
    return values if isinstance(first, tuple) else values[0]


def effect(
    name: str,
    scale: Any,
    dims: str | tuple[str, ...],
    *,
    df: float = np.inf,
    centred: bool = False,
) -> Any:
    """Add effects about 0 to the PyMC model in context: normal, or Student-t of `df`.

    Centred they are free variables called `name`; else ``z_name`` is, of scale 1, and they are
    `scale` times that. The posterior is the same, the speed of NUTS is not.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model(coords={"topic": ["1", "2"]}) as model:
    ...     alpha = effect("alpha", 0.5, "topic")
    >>> [variable.name for variable in model.free_RVs]
    ['z_alpha']
    """
    import pymc as pm

    written: dict[str, Any] = {"name": name if centred else f"z_{name}", "dims": dims}
    written |= {"mu": 0.0, "sigma": scale if centred else 1.0}
    drawn = pm.Normal(**written) if np.isinf(df) else pm.StudentT(nu=df, **written)
    return drawn if centred else pm.Deterministic(name, scale * drawn, dims=dims)


def observe(judgments: Judgments, log_odds: Callable[[NDArray[np.integer]], Any]) -> None:
    """Add p of all documents, and the likelihood of the judged, to the PyMC model in context.

    A label between 0 and 1 (a noisy assessor's) has the mean of the two labels' log likelihoods.

    Parameters
    ----------
    judgments : Judgments
    log_odds : callable
        Takes numbers of documents and returns their log-odds of relevance. It is called for all
        documents and for the judged alone: the likelihood must not cost what all documents do.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> pool = judgments.pool  # with the judged documents that no system ranked
    >>> import pymc as pm
    >>> with pm.Model(coords=coordinates(pool)) as model:
    ...     base = pm.Normal("base", 0, 2, dims="topic")
    ...     observe(judgments, lambda rows: base[pool.topic_of[rows]])
    >>> sorted(model.named_vars)
    ['base', 'label', 'p']
    """
    import pymc as pm

    every = np.arange(judgments.pool.n_documents)
    pm.Deterministic("p", pm.math.sigmoid(log_odds(every)), dims="document")
    eta, labels = log_odds(judgments.order), judgments.labels[judgments.order]
    model = pm.modelcontext(None)
    if "judgment" not in model.coords:
        model.add_coord("judgment", np.arange(len(labels)))
    # of several likelihoods in one graph the first has the dim
    dims = "judgment" if len(model.coords["judgment"]) == len(labels) else None
    if np.isin(labels, (0.0, 1.0)).all():
        pm.Bernoulli("label", logit_p=eta, observed=labels.astype(int), dims=dims)
    else:
        pm.CustomDist(
            "label",
            eta,
            logp=lambda value, eta: value * eta - pm.math.log1pexp(eta),
            dist=lambda eta, size: pm.Bernoulli.dist(logit_p=eta, size=size).astype("float64"),
            observed=labels,
            dims=dims,
        )
