"""Would the model have made such judgments? Predictive checks, and leave-one-out scores.

A predictive check draws labels for the judged documents from the model's own probabilities of
them, one draw of the parameters for each set of labels, and asks where the true judgments' number
stands among the drawn ones. The judgments made the model, so a check is lenient: it finds what
the model cannot fit, and not whether its predictions are right (that is reliability).

Leaving one judgment out at a time tests prediction with no truth at hand. It needs a likelihood
of each judgment once: a composite of layers has none, and is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Judgments
from rtc_bayes.errors import InputError
from rtc_bayes.measures import moments
from rtc_bayes.relevance import Draws, PointEstimate, RelevanceModel
from rtc_bayes.signatures import moved
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]

STATISTICS = ("relevant of a topic", "relevant in a top 10", "AP of a system")
"""Judged relevant documents of each topic; those in each system's top 10 of all topics; each
system's mean average precision, unjudged documents nonrelevant."""

COLUMNS = ("statistic", "name", "observed", "mean", "sd", "tail")

FEWEST_DRAWS = 25
"""Of which a fifth, the tail of the importance weights, are the 5 that ArviZ asks for."""

_TOP = 10
_SETS = 200
_LEAST_P = 1e-12
# part of a log density by which equal ones are told apart
_TIE = 1e-9


@moved(found="give it as draws")
def check_predictions(
    judgments: Judgments, draws: Draws, *, sets: int = _SETS, seed: int = 0
) -> pd.DataFrame:
    """Set what was judged beside what the model would have it be.

    Parameters
    ----------
    judgments : Judgments
        Those that the model was fitted to.
    draws : Draws
        Of ``estimate(..., labelled=False)``.
    sets : int
        Sets of labels to draw.
    seed : int

    Returns
    -------
    DataFrame
        A row for each topic with judgments and twice for each system: statistic
        (:data:`STATISTICS`), name (of the topic or system), observed, mean and sd of the drawn
        ones, tail (share of these below the observed one, ties counted half: near 0 or 1 is a
        misfit).

    Raises
    ------
    InputError
        A point estimate, probabilities that are the labels themselves in every draw, or no
        judgment.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import check_predictions
    >>> from rtc_bayes.relevance import Draws
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> judgments = rb.Judgments.from_labels(pool, [0, 1, 2], [1, 0, 1])
    >>> draws = Draws(np.full((1, 50, pool.n_documents), 0.6, dtype=np.float32))
    >>> check_predictions(judgments, draws)["observed"].tolist()[:1]
    [2.0]
    """
    import pandas as pd

    whole_number("seed", seed)
    sets = whole_number("sets", sets, least=1)
    values, _ = _of_judged(judgments, draws)
    random = np.random.default_rng(seed)
    drawn = values[np.linspace(0, len(values) - 1, sets).round().astype(int)]
    labels = np.zeros((1 + sets, judgments.pool.n_documents))
    labels[0, judgments.order] = judgments.labels[judgments.order]
    labels[1:, judgments.order] = random.random(drawn.shape) < drawn
    pool = judgments.pool
    judged_topics = judgments.judged_topics
    names = (judged_topics, pool.systems, pool.systems)
    statistics = (
        _relevant_by_topic(judgments, labels),
        _relevant_in_top(judgments, labels),
        moments(pool, labels, pairs="none").mean_expected,
    )
    rows = []
    for statistic, each, values in zip(STATISTICS, names, statistics, strict=True):
        observed, others = values[0], values[1:]
        # sums of the same numbers in another order are still the same
        same = np.isclose(others, observed, rtol=1e-9, atol=1e-12)
        tail = ((others < observed) & ~same).mean(axis=0) + 0.5 * same.mean(axis=0)
        rows += [
            {
                "statistic": statistic,
                "name": name,
                "observed": observed[n],
                "mean": others[:, n].mean(),
                "sd": others[:, n].std(),
                "tail": tail[n],
            }
            for n, name in enumerate(each)
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


@dataclass(frozen=True)
class LeaveOneOut:
    """How well each judgment is predicted from the others.

    Attributes
    ----------
    elpd : float
        Sum over judgments of the log predictive density, nats; the larger the better.
    se : float
        Its standard error.
    parameters : float
        Effective number of parameters.
    judgments : int
    worst_pareto_k : float
        Above 0.7 the importance weights of some judgment are not to be relied upon.
    unreliable : int
        Judgments with such a k.

    Examples
    --------
    >>> left = LeaveOneOut(-6.9, 1.2, 3.1, judgments=10, worst_pareto_k=0.4, unreliable=0)
    >>> round(left.elpd / left.judgments, 2)  # mean log density of a judgment
    -0.69
    """

    elpd: float
    se: float
    parameters: float
    judgments: int
    worst_pareto_k: float
    unreliable: int

    @property
    def log_score(self) -> float:
        """Mean negative log predictive density of a judgment, nats; lower is better."""
        return -self.elpd / self.judgments


@moved(found="give it as draws")
def leave_one_out(model: RelevanceModel, judgments: Judgments, draws: Draws) -> LeaveOneOut:
    """Score the prediction of each judgment from the others (PSIS-LOO, by ArviZ).

    Vehtari, Gelman and Gabry, "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", 2017.

    Parameters
    ----------
    model : RelevanceModel
        One joint density of all judgments.
    judgments : Judgments
        Those that it was fitted to.
    draws : Draws
        Of ``estimate(..., labelled=False)``.

    Raises
    ------
    InputError
        The model is a composite, or there are fewer than 25 draws; or as
        :func:`check_predictions`.

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> from rtc_bayes.calibration import leave_one_out
    >>> from rtc_bayes.relevance import Draws, load_model
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> judgments = rb.Judgments.from_labels(pool, [0, 1, 2], [1, 0, 1])
    >>> draws = Draws(np.full((1, 50, pool.n_documents), 0.6, dtype=np.float32))
    >>> leave_one_out(load_model("hierarchical"), judgments, draws).judgments
    3
    """
    import xarray as xr
    from arviz_stats import loo

    refuse_composite(model)
    every, p = _of_judged(judgments, draws)
    if len(every) < FEWEST_DRAWS:
        raise InputError(counted(len(every), "draw"), remedy=f"take {FEWEST_DRAWS} or more")
    label = judgments.labels[judgments.order]
    p = np.clip(p, _LEAST_P, 1.0 - _LEAST_P)
    density = label * np.log(p) + (1.0 - label) * np.log1p(-p)
    # draws that resampling repeated are equal, and equal weights have no Pareto k
    density += _TIE * np.random.default_rng(0).standard_normal(density.shape)
    dims = ("chain", "draw", "judgment")
    coords = {dim: np.arange(size) for dim, size in zip(dims, p.shape, strict=True)}
    tree = xr.DataTree.from_dict(
        {
            # the draws of p say how many independent ones they are worth
            "/posterior": xr.Dataset({"p": (dims, p)}, coords=coords),
            "/log_likelihood": xr.Dataset({"label": (dims, density)}, coords=coords),
        }
    )
    with warnings.catch_warnings():
        # what it warns of is in the result
        warnings.simplefilter("ignore")
        result = loo(tree, pointwise=True)
    k = np.asarray(result.pareto_k)
    return LeaveOneOut(
        elpd=float(result.elpd),
        se=float(result.se),
        parameters=float(result.p),
        judgments=len(label),
        worst_pareto_k=float(k.max()),
        unreliable=int((k > 0.7).sum()),
    )


def says_labels(judgments: Judgments, draws: Draws) -> bool:
    """Whether every draw gives the judged documents their labels for probabilities.

    Such draws say nothing of what else the judgments could have been.

    Parameters
    ----------
    judgments : Judgments
    draws : Draws

    Examples
    --------
    >>> import numpy as np, rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=2, seed=1).runs, depth=5)
    >>> judgments = rb.Judgments.from_labels(pool, [0, 1], [1, 0])
    >>> p = np.full((1, 50, pool.n_documents), 0.6, dtype=np.float32)
    >>> says_labels(judgments, Draws(p))
    False
    >>> p[..., judgments.order] = judgments.labels[judgments.order]
    >>> says_labels(judgments, Draws(p))
    True
    """
    p = draws.p[..., judgments.order]
    return bool((p == judgments.labels[judgments.order].astype(p.dtype)).all())


def refuse_composite(model: RelevanceModel) -> None:
    """Raise an error for a model without one density of all judgments.

    Raises
    ------
    InputError
        With the reason.
    """
    if hasattr(model, "graph"):
        return
    if hasattr(model, "stages"):
        raise InputError(
            f"{model.name} is a composite: each of its parts has a likelihood of its own over the "
            "same judgments, so no judgment can be left out of one density, nor be drawn from it",
            remedy="compare it with others by reliability and confidence on a complete collection",
        )
    raise InputError(
        f"{model.name} has no graph, so its likelihood cannot be computed",
        remedy="give the model graph(), or compare by reliability",
    )


def _of_judged(judgments: Judgments, draws: Draws | PointEstimate) -> tuple[Floats, Floats]:
    """Return p of the judged documents: (all draws, judged) and (chains, draws, judged)."""
    if not isinstance(draws, Draws):
        raise InputError(
            "a point estimate says nothing of what else the judgments could have been",
            remedy="fit by a method that draws",
        )
    if not judgments.n_judged:
        raise InputError("nothing is judged", remedy="give judgments")
    if says_labels(judgments, draws):
        raise InputError(
            "judged documents have their labels for probabilities, so nothing can be checked",
            remedy="estimate with labelled=False, by a model that leaves judged documents the "
            "probabilities that it would have without their labels",
        )
    p = draws.p[..., judgments.order].astype(np.float64)
    return p.reshape(-1, p.shape[-1]), p


def _relevant_by_topic(judgments: Judgments, labels: Floats) -> Floats:
    sums = np.add.reduceat(
        # a last column, as a topic at the end may have no document
        np.pad(labels, ((0, 0), (0, 1))),
        judgments.pool.topic_starts[:-1],
        axis=1,
    )
    topics = judgments.pool.topics
    return sums[:, [topics.index(name) for name in judgments.judged_topics]]


def _relevant_in_top(judgments: Judgments, labels: Floats) -> Floats:
    pool = judgments.pool
    tops = [
        np.concatenate([pool.ranking(s, t)[:_TOP] for t in range(pool.n_topics)])
        for s in range(pool.n_systems)
    ]
    return np.stack([labels[:, top].sum(axis=1) for top in tops], axis=1)
