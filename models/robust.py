"""Confidence that holds for systems that nobody has seen: heavy tails, topics, novelty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import Judgments, Pool
from rtc_bayes.relevance import (
    Diagnostics,
    Draws,
    EffectsDraws,
    EffectsRegression,
    LabelEvidence,
    MeanSd,
    MedianSpread,
    Sampling,
    check_options,
    coordinates,
    effect,
    judged_rows,
    mixing_checks,
    observe,
    of_retrieved,
    one_thread,
    rank_curve,
    require,
    sigmoid,
    sweeps_to_try,
)

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]

FIRST = 10
# systems from which on the scales of their effects fall
MANY = 10
COEFFICIENTS = ("mu", "m_a", "m_b", "m_c", "m_d", "m_e")
SCALES = ("s_alpha", "s_q", "s_w", "s_a", "s_b", "s_u")
# from complete judgments of TREC-8 and Robust 2003 alone
_TREC: dict[str, Any] = {
    "mu": (-3.7, 0.7),
    "m_a": (1.0, 0.6),
    "m_b": (6.3, 1.5),
    "m_c": (0.15, 0.25),
    "m_e": (12.5, 6.0),
    "s_alpha": (0.75, 0.3),
    "s_q": (1.4, 0.25),
    "s_w": (4.5, 0.2),
    "s_a": (0.4, 0.4),
    "s_b": (1.4, 0.4),
}
# beyond them the samplers' numbers overflow, or are lost beside each other
_FARTHEST_MEDIAN, _MOST_SPREAD = 1e6, 10.0


@dataclass(frozen=True)
class Robust:
    """Systems that may be far from the rest, overall and on a topic, and documents that are new.

    Of J systems, whose ranks of a document are known down to the pool's reach D, r_ij = 1 where
    system j ranks document i, else 0, f_ij = 1 - ln(rank) / ln(D + 1) there, else 0; with x_ij
    either r_ij or f_ij - pivot, x'_ij = (x_ij - shared * mean_j x_ij) / J^(1/3); l_jt is the length
    of j's list, and nov_i = 1 where no system that the judgments were made for has document i in
    its list cut at the pool's depth; e_t is the share of their first ten documents that two systems
    have in common on topic t, a mean over pairs, less its mean over topics::

        logit p_i = mu + m_d ln(D / 100) + alpha_t + m_e e_t (mean_j f_ij - pivot)
            + sum_j [(m_a / J + a_j + m_c ln(D / l_jt)) r_ij + q_jt r'_ij
                     + (m_b / J + b_j + u_j nov_i) f_ij + w_jt f'_ij]
        alpha_t, q_jt, w_jt ~ Normal(0, s)     a_j, b_j, u_j ~ Student-t(df) s

    The s of a_j and b_j is for up to ten systems; for more, it is times (10 / J)^(1/3).
    Labels of judges that may err add their evidence to the log-odds
    (:mod:`rtc_bayes.relevance.label_evidence`). The s of a_j and b_j is then smaller
    (`LabelEvidence.remaining`), but not for a system that shares a judge's errors; and they are
    normal where labels tell half of what they can of systems, or more (`LabelEvidence.told`).

    Attributes
    ----------
    mu, m_a, m_b, m_c, m_d, m_e : tuple of float
        Mean and sd of the normal prior. m_a and m_b are what all systems give together, m_e what
        their agreement adds: a topic on which systems agree is easier (Aslam and Pavlu, "Query
        hardness estimation using Jensen-Shannon divergence among multiple scoring functions",
        2007).
    s_alpha, s_q, s_w, s_a, s_b, s_u : tuple of float
        Median of the log-normal prior of a scale (of a and b for up to ten systems), from 1e-6 to
        1e6, and the sd of its logarithm, at most 10; 0: fixed.
    shared : float
        From 0 to 1: how much of what systems' effects on a topic have in common is taken out.
    pivot : float
        From 0 to 1: the mean of f_ij about which the rest of what they have in common turns, and
        what their agreement gives.
    df : float
        Degrees of freedom of the systems' effects, positive; of u_j alone beside labels.
    centred : bool
        Whether the graph writes effects by their distribution or as a scale times a standard one.
        The posterior is the same, the speed of NUTS is not.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("robust", {"preset": "trec"}).mu
    (-3.7, 0.7)
    """

    mu: MeanSd = (-3.26, 0.85)
    m_a: MeanSd = (0.93, 0.89)
    m_b: MeanSd = (5.97, 3.69)
    m_c: MeanSd = (-0.01, 0.25)
    m_d: MeanSd = (-0.8, 0.1)
    m_e: MeanSd = (9.8, 11.6)
    s_alpha: MedianSpread = (1.0, 0.47)
    s_q: MedianSpread = (1.39, 0.25)
    s_w: MedianSpread = (4.73, 0.2)
    s_a: MedianSpread = (0.31, 0.4)
    s_b: MedianSpread = (1.13, 0.4)
    s_u: MedianSpread = (0.6, 0.0)
    shared: float = 0.6
    pivot: float = 0.35
    df: float = 3.0
    centred: bool = False

    name: ClassVar[str] = "robust"
    takes_labels: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")
    default_method: ClassVar[str] = "gibbs"
    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "trec": _TREC,
        "robust03": {
            **_TREC,
            "mu": (-3.9, 0.7),
            "m_b": (6.2, 1.5),
            "m_c": (0.0, 0.25),
            "m_e": (10.4, 6.0),
            "s_alpha": (0.65, 0.3),
            "s_w": (4.7, 0.2),
        },
        "wide": {
            "mu": (-3.0, 1.5),
            "m_a": (0.0, 3.0),
            "m_b": (0.0, 5.0),
            "m_c": (0.0, 1.0),
            "m_d": (-0.5, 0.5),
            "m_e": (0.0, 20.0),
            "s_alpha": (1.0, 0.7),
            "s_q": (1.0, 0.7),
            "s_w": (3.0, 0.7),
            "s_a": (0.4, 0.7),
            "s_b": (1.0, 0.7),
            "s_u": (0.5, 0.7),
            "df": 4.0,
        },
    }

    def __post_init__(self) -> None:
        check_options(self)
        for option in SCALES:
            median, spread = getattr(self, option)
            good = (
                1 / _FARTHEST_MEDIAN <= median <= _FARTHEST_MEDIAN and 0 <= spread <= _MOST_SPREAD
            )
            what = (
                f"median:spread, from {1 / _FARTHEST_MEDIAN:g} to {_FARTHEST_MEDIAN:g} and from 0 "
                f"to {_MOST_SPREAD:g}: numbers farther out overflow in the samplers"
            )
            require(good, self, option, what)
        for option in ("shared", "pivot"):
            require(0 <= getattr(self, option) <= 1, self, option, "a number from 0 to 1")
        require(self.df > 0, self, "df", "a positive number")

    def gibbs(self, judgments: Judgments, sampling: Sampling) -> Draws:
        """Draw from the posterior, with more sweeps to a draw where few do not suffice."""
        design = Design(self, judgments)
        regression = design.regression
        tries = sweeps_to_try(sampling, len(regression.labels))
        regression.warn_if_long(sampling, sweeps=tries[0])
        for sweeps in tries:
            drawn = regression.gibbs(sampling, sweeps=sweeps)
            parameters = design.parameters(drawn)
            checks = mixing_checks({n: x for n, x in parameters.items() if n not in ("q", "w")}, {})
            if all(check.passed for check in checks):
                break
        kept = drawn.take(sampling.kept)
        return Draws(
            p=design.predict(kept.columns, kept.local),
            parameters=parameters,
            dims=design.dims,
            coords=design.coords,
            diagnostics=Diagnostics(checks=checks),
        )

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm
        import pytensor.tensor as pt

        design = Design(self, judgments)
        every = (design.features(t) for t in range(pool.n_topics))
        columns, local = (np.vstack(parts) for parts in zip(*every, strict=True))
        median, spread = design.scale_priors
        free = spread > 0.0
        with pm.Model(coords=coordinates(pool) | design.coords) as model:
            means = [pm.Normal(name, *getattr(self, name)) for name in COEFFICIENTS]
            labels = design.labels
            centre, width = np.log(median[free]), spread[free]
            if self.centred:
                log_s = pm.Normal("log_s", centre, width, dims="scale")
            else:
                z = pm.Normal("z_s", 0.0, 1.0, dims="scale")
                log_s = pm.Deterministic("log_s", centre + width * z, dims="scale")
            s = pt.as_tensor(median)[free].set(pm.math.exp(log_s))
            effects = {
                name: effect(
                    name,
                    s[number],
                    design.dims[name],
                    df=design.df[number],
                    centred=self.centred,
                )
                for number, name in enumerate(design.scales)
            }
            weight = pm.math.concatenate(
                [pm.math.stack(means), effects["a"], effects["b"], effects["u"]]
            )
            if labels.names:
                value = pm.Normal("label_coefficient", *labels.prior, dims="label_term")
                # coefficients come first among the columns
                first = weight[: len(COEFFICIENTS)]
                rest = [weight[len(COEFFICIENTS) :], *(effects[name] for name in labels.dims)]
                weight = pm.math.concatenate([first, value, *rest])
            own = pm.math.concatenate(
                [effects["alpha"][:, None], effects["q"], effects["w"]], axis=1
            )
            observe(
                design.judgments,
                lambda rows: (
                    pm.math.dot(columns[rows], weight)
                    + (local[rows] * own[pool.topic_of[rows]]).sum(axis=1)
                ),
            )
        return model


class Design:
    """What the model asks of a pool and its judgments.

    Parameters
    ----------
    model : Robust
    judgments : Judgments
    """

    def __init__(self, model: Robust, judgments: Judgments) -> None:
        pool = judgments.pool
        self.model, self.judgments, self.pool = model, of_retrieved(judgments), pool
        self.shortness = np.log(pool.reach / np.maximum(pool.lengths, 1))
        self.judged_for = judgments.with_judged_for().judged_for_mask
        self.labels = LabelEvidence(self.judgments)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dims of the parameters that have some."""
        return {
            "alpha": ("topic",),
            **dict.fromkeys(("a", "b", "u"), ("system",)),
            **dict.fromkeys(("q", "w"), ("topic", "system")),
            **self.labels.dims,
            "label_coefficient": ("label_term",),
            "log_s": ("scale",),
        }

    @property
    def scales(self) -> list[str]:
        """Effects, in the order of their scales."""
        return [*(option.removeprefix("s_") for option in SCALES), *self.labels.dims]

    @property
    def coords(self) -> dict[str, list[str]]:
        """Labels of dims that the pool does not know; of scales, those that are not fixed."""
        free = self.scale_priors[1] > 0.0
        return {"scale": list(compress(self.every_scale, free))} | self.labels.coords

    @property
    def every_scale(self) -> list[str]:
        """Names of all scales, those that are fixed too."""
        return [*SCALES, *(f"s_{name}" for name in self.labels.dims)]

    @property
    def scale_priors(self) -> tuple[Floats, Floats]:
        """Median and spread of the scales."""
        scales = [getattr(self.model, name) for name in SCALES]
        median, spread = np.array([*scales, *self.labels.scale_priors]).T
        # of a and b
        median[3:5] *= self.labels.remaining * min(np.cbrt(MANY / self.pool.n_systems), 1.0)
        return median, spread

    @property
    def df(self) -> Floats:
        """Degrees of freedom of the effects of each scale; infinite: normal."""
        own = self.labels.own_df(self.model.df)
        kinds = [np.inf, own, self.model.df, np.inf]
        return np.repeat(kinds, [3, 2, 1, len(self.labels.sizes)])

    def features(self, topic: int) -> tuple[Floats, Floats]:
        """Features of a topic's documents: (documents, 6 + 3 systems), (documents, 1 + 2 systems).

        Those of the coefficients, a, b and u; and those of the topic's own alpha, q and w. Labels
        add to the first: their coefficients after the six, their effects at the end.
        """
        pool = self.pool
        ranks = pool.ranks(topic, below=True).T
        r, f = (ranks > 0).astype(np.float64), rank_curve(ranks, pool.reach)
        seen = ranks[:, self.judged_for[:, topic]]
        novel = ~((seen > 0) & (seen <= pool.depth)).any(axis=1)
        one = np.ones(len(f))
        deep = np.log(pool.reach / 100) * one
        agreed = self.agreement[topic] * (f.mean(axis=1) - self.model.pivot)
        common = [one, r.mean(axis=1), f.mean(axis=1), r @ self.shortness[:, topic], deep, agreed]
        value, of_labels = np.split(self.labels.columns(topic), [len(self.labels.names)], axis=1)
        own = (r * self.labels.own, f * self.labels.own, f * novel[:, None])
        columns = np.column_stack([*common, value, *own, of_labels])
        return columns, np.column_stack([one, self.apart(r), self.apart(f - self.model.pivot)])

    @cached_property
    def agreement(self) -> Floats:
        """How much more systems agree on a topic's first documents than on average; (topics,)."""
        shared = shared_of_first(self.pool, FIRST)
        return shared - shared.mean()

    def apart(self, x: Floats) -> Floats:
        """Features of systems' effects on a topic, which have little in common."""
        mean = x.mean(axis=1, keepdims=True)
        return (x - self.model.shared * mean) / np.cbrt(self.pool.n_systems)

    @cached_property
    def regression(self) -> EffectsRegression:
        """The judged documents as rows."""
        pool, rows, systems = self.pool, self.judgments.order, self.pool.n_systems
        columns, local = judged_rows(self.judgments, self.features)
        priors = np.array([getattr(self.model, name) for name in COEFFICIENTS]).T
        mean, sd = np.hstack([priors, self.labels.prior])
        sizes = [len(mean), systems, systems, systems, *self.labels.sizes]
        median, spread = self.scale_priors
        return EffectsRegression(
            columns=columns,
            local=local,
            topic=pool.topic_of[rows].astype(np.int64),
            n_topics=pool.n_topics,
            labels=self.judgments.labels[rows],
            mean=mean,
            sd=sd,
            scale_of=np.repeat([-1, *range(3, len(median))], sizes),
            local_scale_of=np.repeat([0, 1, 2], [1, systems, systems]),
            median=median,
            spread=spread,
            df=self.df,
        )

    def parameters(self, drawn: EffectsDraws) -> dict[str, Floats]:
        """Name the parameters of draws, each of shape (chains, draws, ...)."""
        first, labels, systems = len(COEFFICIENTS), self.labels, self.pool.n_systems
        named = dict(zip(COEFFICIENTS, np.moveaxis(drawn.columns[..., :first], -1, 0), strict=True))
        sizes = [len(labels.names), systems, systems, systems, *labels.sizes]
        label, a, b, u, *rest = np.split(drawn.columns[..., first:], np.cumsum(sizes)[:-1], axis=-1)
        if labels.names:
            named |= {"label_coefficient": label, **dict(zip(labels.dims, rest, strict=True))}
        alpha, (q, w) = drawn.local[..., 0], np.split(drawn.local[..., 1:], 2, axis=-1)
        effects = {"a": a, "b": b, "u": u, "alpha": alpha, "q": q, "w": w}
        return named | effects | {"log_s": drawn.log_scale[..., self.scale_priors[1] > 0.0]}

    def predict(self, columns: Floats, local: Floats) -> NDArray[np.float32]:
        """Probability of every document in every draw, shape (chains, draws, documents)."""
        pool = self.pool
        p = np.empty((*columns.shape[:2], pool.n_documents), dtype=np.float32)
        columns, local = columns.astype(np.float32), local.astype(np.float32)
        # threads of the linear algebra would wait for each other longer than they compute
        with one_thread():
            for t in range(pool.n_topics):
                every, own = (part.T.astype(np.float32) for part in self.features(t))
                p[..., pool.documents(t)] = sigmoid(columns @ every + local[..., t, :] @ own)
        return p


def shared_of_first(pool: Pool, first: int) -> Floats:
    """Share of their first documents that two systems have in common, by topic.

    The mean over pairs of systems with a list, cut at the pool's depth: the number in common over
    the geometric mean of how many each has; 0 where fewer than two have a list.
    """
    share = np.zeros(pool.n_topics)
    for t in range(pool.n_topics):
        top = unit_of_first(pool, t, first)
        if (systems := int(top.any(axis=1).sum())) > 1:
            share[t] = ((top.sum(axis=0) ** 2).sum() - systems) / (systems * (systems - 1))
    return share


def unit_of_first(pool: Pool, topic: int, first: int) -> Floats:
    """Vector of each system's first documents, of length 1; (systems, documents of the topic).

    The product of two is the share that they have in common. Of a system without a list all is 0.
    """
    ranks = pool.ranks(topic)
    top = ((ranks > 0) & (ranks <= first)).astype(np.float64)
    return top / np.sqrt(np.maximum(top.sum(axis=1, keepdims=True), 1.0))
