"""One joint model of all judgments: topics, a rank curve, and systems that are partly alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import Judgments, Pool, read_groups
from rtc_bayes.relevance import (
    Draws,
    EffectsDraws,
    EffectsRegression,
    InputFile,
    LabelEvidence,
    MeanSd,
    MedianSpread,
    PointEstimate,
    Sampling,
    check_options,
    coordinates,
    effect,
    judged_rows,
    observe,
    one_thread,
    rank_curve,
    require,
    sigmoid,
)

if TYPE_CHECKING:
    import pymc as pm

type Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Hierarchical:
    """Topic intercepts, a rank curve, and partially pooled effects of systems and sites.

    Of J systems, with r_ij = 1 where system j ranks document i, else 0, and
    f_ij = 1 - ln(rank) / ln(depth + 1) there, else 0::

        logit p_i = mu + alpha_t(i) + sum_j [(m_a / J + a_j) r_ij + (m_b / J + b_j) f_ij]
        alpha_t ~ Normal(0, s_alpha)    a_j ~ Normal(0, s_a)    b_j ~ Normal(0, s_b)

    With `groups`, a_j and b_j also have a part that a site's systems share, with a scale of its
    own under the same prior. Labels of judges that may err add their evidence to the log-odds:
    :mod:`rtc_bayes.relevance.label_evidence`. a_j and b_j of a system that shares a judge's errors
    are then doubled.

    Attributes
    ----------
    mu, m_a, m_b : tuple of float
        Mean and sd of the normal prior. m_a and m_b are what all systems give together.
    s_alpha, s_a, s_b : tuple of float
        Median of the log-normal prior of a scale, and the sd of its logarithm.
    groups : str
        Path of a file of system,group, as :func:`rtc_bayes.read_groups` reads; none: no sites.
    centred : bool
        Whether the graph writes effects as Normal(0, s) or as s Normal(0, 1). The posterior is
        the same, the speed of NUTS is not.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("hierarchical", {"mu": "-3:1"}).mu
    (-3.0, 1.0)
    """

    mu: MeanSd = (-3.7, 0.8)
    m_a: MeanSd = (1.0, 1.5)
    m_b: MeanSd = (4.7, 1.5)
    s_alpha: MedianSpread = (1.0, 0.3)
    s_a: MedianSpread = (0.45, 0.4)
    s_b: MedianSpread = (0.7, 0.5)
    groups: InputFile = "none"
    centred: bool = False

    name: ClassVar[str] = "hierarchical"
    takes_labels: ClassVar[bool] = True
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("s_alpha", "s_a", "s_b"):
            require(min(getattr(self, option)) > 0, self, option, "median:spread, both positive")

    def map(self, judgments: Judgments) -> PointEstimate:
        """Estimate every document, with the scales at the mode of their marginal posterior."""
        design = Design(self, judgments)
        mode, diagnostics = design.regression.map()
        parameters = design.parameters(mode)
        return PointEstimate(
            p=design.predict(parameters, np.float64)[0, 0],
            parameters={name: value[0, 0] for name, value in parameters.items()},
            dims=design.dims | {"label_coefficient": ("label_term",)},
            coords=design.coords,
            diagnostics=diagnostics,
        )

    def laplace(self, judgments: Judgments, sampling: Sampling) -> Draws:
        """Draw scales from their approximate posterior, and the rest given them."""
        design = Design(self, judgments)
        drawn, diagnostics = design.regression.laplace(sampling)
        kept = drawn.take(sampling.kept)
        return Draws(
            p=design.predict(design.parameters(kept), np.float32),
            parameters=design.parameters(drawn),
            dims=design.dims | {"label_coefficient": ("label_term",)},
            coords=design.coords,
            diagnostics=diagnostics,
        )

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        design = Design(self, judgments)
        evidence = np.vstack([design.evidence(t) for t in range(pool.n_topics)])
        dims = {name: of[0] for name, of in design.dims.items() if name != "log_s"}
        with pm.Model(coords=coordinates(pool) | design.coords) as model:
            mu, m_a, m_b = (pm.Normal(n, *getattr(self, n)) for n in ("mu", "m_a", "m_b"))
            median, spread = design.scale_priors
            log_s = pm.Normal("log_s", np.log(median), spread, dims="scale")

            effects = {}
            for number, (name, dim) in enumerate(dims.items()):
                scale = pm.math.exp(log_s[number])
                effects[name] = effect(name, scale, dim, centred=self.centred)
            labels = design.labels
            a = m_a / pool.n_systems + effects["a"] * labels.own
            b = m_b / pool.n_systems + effects["b"] * labels.own
            if design.sites:
                a += effects["site_a"][design.site]
                b += effects["site_b"][design.site]

            level, weight = mu + effects["alpha"], pm.math.concatenate([a, b])
            of_labels = labels.in_graph(effects)
            observe(
                judgments,
                lambda rows: (
                    level[pool.topic_of[rows]]
                    + pm.math.dot(evidence[rows], weight)
                    + of_labels(rows)
                ),
            )
        return model


class Design:
    """What the model asks of a pool and its judgments.

    Parameters
    ----------
    model : Hierarchical
    judgments : Judgments
    """

    def __init__(self, model: Hierarchical, judgments: Judgments) -> None:
        self.model, self.judgments, self.pool = model, judgments, judgments.pool
        self.labels = LabelEvidence(judgments)
        self.sites: tuple[str, ...] = ()
        self.site = np.zeros(0, dtype=np.int64)
        if model.groups != "none":
            groups = list(read_groups(model.groups, systems=self.pool.systems).values())
            self.sites = tuple(sorted(set(groups)))
            self.site = np.searchsorted(self.sites, groups)

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dims of the effects, one scale each in this order, and of the scales themselves."""
        dims: dict[str, tuple[str, ...]]
        dims = {"alpha": ("topic",), "a": ("system",), "b": ("system",)}
        if self.sites:
            dims |= {"site_a": ("site",), "site_b": ("site",)}
        return dims | self.labels.dims | {"log_s": ("scale",)}

    @property
    def coords(self) -> dict[str, list[str]]:
        """Labels of dims that the pool does not know."""
        sites = {"site": list(self.sites)} if self.sites else {}
        scales = [name for name in self.dims if name != "log_s"]
        return {"scale": scales} | sites | self.labels.coords

    @property
    def scale_priors(self) -> tuple[Floats, Floats]:
        """Median and spread of the scales."""
        model = self.model
        priors = [model.s_alpha, model.s_a, model.s_b, *([model.s_a, model.s_b] * bool(self.sites))]
        median, spread = np.array([*priors, *self.labels.scale_priors]).T
        median[1 : len(priors)] *= self.labels.remaining
        return median, spread

    def evidence(self, topic: int) -> Floats:
        """Return r and f of a topic's documents, side by side: shape (documents, 2 * systems)."""
        ranks = self.pool.ranks(topic).T
        return np.hstack([ranks > 0, rank_curve(ranks, self.pool.depth)])

    @cached_property
    def regression(self) -> EffectsRegression:
        """The judged documents as rows."""
        model, pool, rows = self.model, self.pool, self.judgments.order
        r, f = np.hsplit(judged_rows(self.judgments, self.evidence), 2)
        blocks = [r * self.labels.own, f * self.labels.own]
        if self.sites:
            of_site = np.eye(len(self.sites))[self.site]
            blocks += [r @ of_site, f @ of_site]
        value, *of_labels = np.split(
            judged_rows(self.judgments, self.labels.columns),
            np.cumsum([len(self.labels.names), *self.labels.sizes[:-1]]),
            axis=1,
        )
        means = (np.ones(len(rows)), r.mean(axis=1), f.mean(axis=1), value)
        mean, sd = np.hstack([np.array([model.mu, model.m_a, model.m_b]).T, self.labels.prior])
        median, spread = self.scale_priors
        blocks += of_labels if self.labels.names else []
        sizes = [len(mean), *(block.shape[1] for block in blocks)]
        return EffectsRegression(
            columns=np.column_stack([*means, *blocks]),
            local=np.ones((len(rows), 1)),
            topic=pool.topic_of[rows].astype(np.int64),
            n_topics=pool.n_topics,
            labels=self.judgments.labels[rows],
            mean=mean,
            sd=sd,
            scale_of=np.repeat([-1, *range(1, len(median))], sizes),
            local_scale_of=np.array([0]),
            median=median,
            spread=spread,
            df=np.full(len(median), np.inf),
        )

    def parameters(self, drawn: EffectsDraws) -> dict[str, Floats]:
        """Name the parameters of draws, each of shape (chains, draws, ...)."""
        sizes = np.unique(self.regression.scale_of, return_counts=True)[1]
        coefficients, *effects = np.split(drawn.columns, np.cumsum(sizes)[:-1], axis=-1)
        coefficients, label = np.split(coefficients, [3], axis=-1)
        named = dict(zip(("mu", "m_a", "m_b"), np.moveaxis(coefficients, -1, 0), strict=True))
        named |= {"label_coefficient": label} if self.labels.names else {}
        values = (drawn.local[..., 0], *effects, drawn.log_scale)
        return named | dict(zip(self.dims, values, strict=True))

    def predict(self, parameters: Mapping[str, Floats], kind: type) -> NDArray[np.floating]:
        """Probability of every document in every draw, shape (..., documents)."""
        pool, labels = self.pool, self.labels
        weights = []
        for name in ("a", "b"):
            common = parameters[f"m_{name}"][..., None] / pool.n_systems
            weight = common + parameters[name] * labels.own
            site = parameters[f"site_{name}"][..., self.site] if self.sites else 0
            weights.append(weight + site)
        shape = parameters["mu"].shape
        if labels.names:
            weights += [parameters[name] for name in ("label_coefficient", *labels.dims)]
        weight = np.concatenate(weights, axis=-1).astype(kind)
        weight = weight.reshape(-1, weight.shape[-1])
        level: NDArray[np.floating] = parameters["mu"][..., None] + parameters["alpha"]
        level = level.astype(kind).reshape(-1, pool.n_topics)
        p: NDArray[np.floating] = np.empty((len(weight), pool.n_documents), dtype=kind)
        with one_thread():
            for t in range(pool.n_topics):
                evidence = self.evidence(t)
                if labels.names:
                    evidence = np.hstack([evidence, labels.columns(t)])
                eta: NDArray = weight @ evidence.T.astype(kind) + level[:, t, None]
                p[:, pool.documents(t)] = sigmoid(eta)
        return p.reshape(*shape, -1)
