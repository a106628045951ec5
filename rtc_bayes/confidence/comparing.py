"""Compare the systems of a pool under probable relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import measures
from rtc_bayes.confidence import rule
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.forms import Probabilities, corrected, normal, smoothed
from rtc_bayes.confidence.outcomes import (
    Shape,
    mean_where,
    sample,
    sampled_moments,
    shape_about,
    shares,
)
from rtc_bayes.confidence.subpool import with_systems, with_topics
from rtc_bayes.errors import InputError
from rtc_bayes.store import provenance, spawn_seeds

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool, Relevance
    from rtc_bayes.measures import Moments

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
Choice = Literal["auto", "normal", "corrected", "montecarlo"]


def compare(
    pool: Pool,
    relevance: Relevance,
    *,
    measure: str = "AP",
    moments: Literal["exact", "plugin"] = "exact",
    probability: Choice = "auto",
    outcomes: int = 20_000,
    seed: int = 0,
    topics: Sequence[str] | None = None,
) -> Comparison:
    """Compare every pair of a pool's systems, under probabilities of relevance.

    Given the parameters, documents are independent. Over draws of the parameters, P(< 0), P(= 0)
    and P(> 0) are means over draws, and the variance is the mean of the draws' variances plus the
    variance of their expected differences.

    Parameters
    ----------
    pool : Pool
        Of the systems to compare; documents that only `relevance` knows are added to it.
    relevance : Relevance
        A point estimate or draws.
    measure : str
        Any of ir-measures. Without known moments all numbers come from sampled outcomes, and
        `moments` and `probability` are recorded as ``montecarlo``.
    moments : {"exact", "plugin"}
        Those of the measure, or those of Carterette 2007, section 3.2.
    probability : {"auto", "normal", "corrected", "montecarlo"}
        The form of the probabilities. ``auto`` chooses for every pair by
        :func:`rtc_bayes.confidence.choose`, on the shape of outcomes; with plug-in moments it is
        the normal, as published: their own error is larger than what a form can mend. With
        exact moments and 500 draws or more, all numbers come from sampled outcomes, as for a
        measure without known moments.
    outcomes : int
        Sampled for the corrected form (its shape) and for Monte Carlo, over all draws; at
        least 2. Rounded up to a multiple of the draws.
    seed : int
        At least 0; the same seed gives the same comparison.
    topics : sequence of str, optional
        The scores are means over these; by default over all topics of the pool.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        A document of the pool without probability, an unknown measure, topic or option.
    """
    if moments not in ("exact", "plugin"):
        raise InputError(f"moments are {moments!r}", remedy="choose exact or plugin")
    if probability not in get_args(Choice):
        raise InputError(
            f"probability is {probability!r}", remedy=f"choose one of {', '.join(get_args(Choice))}"
        )
    if outcomes < 2:
        raise InputError(f"outcomes are {outcomes}", remedy="sample at least 2")
    if seed < 0:
        raise InputError(f"seed is {seed}", remedy="give one of at least 0")
    whole, values = relevance.on(pool)
    if topics is not None:
        whole, values = with_topics(whole, values, topics)
    study = _Study(whole, values, measures.parse_measure(measure).name, outcomes, seed)
    many = len(values) >= rule.MANY_DRAWS and moments == "exact" and probability == "auto"
    if many or not measures.has_moments(measure):
        return _by_outcomes(study, relevance)
    return _by_moments(study, relevance, moments, probability)


@dataclass(frozen=True)
class _Study:
    """What is compared, and how outcomes are sampled."""

    pool: Pool
    values: Floats
    measure: str
    outcomes: int
    seed: int

    @property
    def pairs(self) -> Pairs:
        """Every pair of systems, shape (pairs, 2), the first before the second."""
        return np.stack(np.triu_indices(self.pool.n_systems, 1), axis=1).astype(np.int64)

    def sample(self, systems: NDArray[np.int64], outcomes: int, stage: int) -> Floats:
        """Sample the scores of these systems, all at once: (systems, draws, outcomes each)."""
        return sample(
            with_systems(self.pool, systems),
            self.values,
            measure=self.measure,
            outcomes=outcomes,
            seed=spawn_seeds(self.seed, stage + 1)[stage],
        )

    def sample_pairs(self, pairs: Pairs, outcomes: int, stage: int) -> tuple[Floats, Pairs]:
        """Sample the systems of these pairs; the pairs then as rows of the scores."""
        systems, rows = np.unique(pairs, return_inverse=True)
        return self.sample(systems, outcomes, stage), rows.reshape(-1, 2)

    def names(self, column: int) -> tuple[str, ...]:
        """Names of the first or the second systems of the pairs."""
        return tuple(self.pool.systems[s] for s in self.pairs[:, column])

    def meta(self, sampled: int) -> dict[str, object]:
        """Provenance, with the draws and the outcomes behind counted shares."""
        made = provenance(seed=self.seed)
        return made | {"draws": len(self.values), "outcomes": sampled}


@dataclass
class _Forms:
    """The probabilities of every pair, filled form by form."""

    probabilities: Probabilities
    shape: Shape
    form: NDArray[np.str_]
    sampled: int = 0

    def put(self, pairs: NDArray[np.bool_], found: Probabilities, form: str) -> None:
        """Set the probabilities of some pairs."""
        for whole, part in zip(self.probabilities, found, strict=True):
            whole[pairs] = part
        self.form[pairs] = form


def _by_moments(
    study: _Study, relevance: Relevance, kind: Literal["exact", "plugin"], probability: Choice
) -> Comparison:
    table = measures.moments(study.pool, study.values, measure=study.measure, moments=kind)
    forms = _Forms(
        normal(table.difference_expected, table.difference_variance).mean(),
        _first_order_shape(table),
        np.full(len(table.pairs), "normal", dtype="<U10"),
    )
    published = probability == "auto" and kind == "plugin"
    if probability != "normal" and not published and len(table.pairs):
        # the shape of outcomes is judged about the moments that outcomes have
        exact = table
        if kind == "plugin":
            exact = measures.moments(study.pool, study.values, measure=study.measure)
        _leave_normal(forms, study, table, exact, probability)
    expected, variance = table.difference_expected, table.difference_variance
    unjudged, parameters = variance.mean(axis=0), expected.var(axis=0)
    mean = table.mean_expected
    return Comparison(
        systems=study.pool.systems,
        topics=study.pool.topics,
        measure=study.measure,
        moments=kind,
        model=relevance.model,
        method=relevance.method,
        expected=mean.mean(axis=0),
        sd=np.sqrt(table.mean_variance.mean(axis=0) + mean.var(axis=0)),
        a=study.names(0),
        b=study.names(1),
        expected_difference=expected.mean(axis=0),
        sd_difference=np.sqrt(unjudged + parameters),
        p_less=forms.probabilities.less,
        p_equal=forms.probabilities.equal,
        p_greater=forms.probabilities.greater,
        probability=tuple(forms.form.tolist()),
        skewness=forms.shape.skewness,
        excess_kurtosis=forms.shape.excess_kurtosis,
        variance_unjudged=unjudged,
        variance_parameters=parameters,
        meta=study.meta(forms.sampled),
    )


def _by_outcomes(study: _Study, relevance: Relevance) -> Comparison:
    """Compare by outcomes alone: the measure has no moments, or there are many draws."""
    pairs = study.pairs
    systems = np.arange(study.pool.n_systems)
    outcomes = max(study.outcomes, 2 * len(study.values))
    scores = study.sample(systems, outcomes, stage=1)
    found = sampled_moments(scores, pairs)
    less, equal, greater = _counted(scores, pairs, _may_vary(study, pairs))
    return Comparison(
        systems=study.pool.systems,
        topics=study.pool.topics,
        measure=study.measure,
        moments="montecarlo",
        model=relevance.model,
        method=relevance.method,
        expected=found.expected,
        sd=found.sd,
        a=study.names(0),
        b=study.names(1),
        expected_difference=found.difference,
        sd_difference=np.sqrt(found.unjudged + found.parameters),
        p_less=less,
        p_equal=equal,
        p_greater=greater,
        probability=("montecarlo",) * len(pairs),
        skewness=found.shape.skewness,
        excess_kurtosis=found.shape.excess_kurtosis,
        variance_unjudged=found.unjudged,
        variance_parameters=found.parameters,
        meta=study.meta(scores[0].size if len(scores) else 0),
    )


def _may_vary(study: _Study, pairs: Pairs) -> NDArray[np.bool_]:
    """Whether the difference of a pair can vary: some relevance is unsure, and the lists differ."""
    unsure = bool(((study.values > 0.0) & (study.values < 1.0)).any())
    pool = study.pool
    lists = [
        tuple(pool.ranking(s, t).tobytes() for t in range(pool.n_topics))
        for s in range(pool.n_systems)
    ]
    return np.array([unsure and lists[a] != lists[b] for a, b in pairs], dtype=bool)


def _counted(scores: Floats, rows: Pairs, varies: NDArray[np.bool_]) -> Probabilities:
    """Probabilities by the shares of outcomes, never 0 or 1 for a pair that varies."""
    counted = shares(scores, rows)
    mended = smoothed(counted, scores[0].size if len(scores) else 0)
    return Probabilities(*(np.where(varies, b, a) for a, b in zip(counted, mended, strict=True)))


def _leave_normal(
    forms: _Forms, study: _Study, table: Moments, exact: Moments, probability: Choice
) -> None:
    """Replace the normal for the pairs that leave it: all of them, or those the rule names."""
    leaving = np.ones(len(table.pairs), dtype=bool)
    if probability == "auto":
        scores, rows = study.sample_pairs(table.pairs, min(rule.PILOT, study.outcomes), stage=0)
        leaving = _judge(forms, scores, rows, exact, leaving) != "normal"
        if not leaving.any():
            return
    scores, rows = study.sample_pairs(table.pairs[leaving], study.outcomes, stage=1)
    forms.sampled = scores[0].size
    chosen = _judge(forms, scores, rows, exact, leaving)
    if probability != "auto":
        chosen = np.full(len(chosen), probability)
    counted = chosen == "montecarlo"
    # a pair without variance is known: its shares are not estimates
    varies = (exact.difference_variance > 0.0).any(axis=0)
    found = _counted(scores, rows[counted], varies[leaving][counted])
    forms.put(_among(leaving, counted), found, "montecarlo")
    bent = _among(leaving, chosen == "corrected")
    forms.put(bent, _corrected(forms, table, bent), "corrected")


def _judge(
    forms: _Forms, scores: Floats, rows: Pairs, exact: Moments, pairs: NDArray[np.bool_]
) -> NDArray[np.str_]:
    """Measure the shape of these pairs on outcomes, and choose their forms by the rule."""
    expected, variance = exact.difference_expected[:, pairs], exact.difference_variance[:, pairs]
    found = shape_about(scores, rows, expected, variance)
    for whole, part in zip(forms.shape, found, strict=True):
        whole[pairs] = part
    counted = shares(scores, rows)
    size = scores[0].size
    first, second = exact.pairs[pairs].T
    varies = (exact.variance > 0.0).any(axis=0)
    return rule.choose(
        found.skewness,
        found.excess_kurtosis,
        # ties by coincidence, as of P@k, are beyond the bound
        tie=np.maximum(np.exp(exact.log_tie[:, pairs]).mean(axis=0), counted.equal),
        topics=(varies[first] | varies[second]).sum(axis=1),
        normal_gap=_gap(normal(expected, variance).mean(), counted, size),
        corrected_gap=_gap(corrected(expected, variance, *found).mean(), counted, size),
    )


def _corrected(forms: _Forms, table: Moments, pairs: NDArray[np.bool_]) -> Probabilities:
    return corrected(
        table.difference_expected[:, pairs],
        table.difference_variance[:, pairs],
        forms.shape.skewness[pairs],
        forms.shape.excess_kurtosis[pairs],
    ).mean()


def _gap(form: Probabilities, counted: Probabilities, outcomes: int) -> Floats:
    """Distance of P(< 0) + P(= 0) / 2 from the shares of outcomes, in standard errors."""
    below = form.less + 0.5 * form.equal
    share = counted.less + 0.5 * counted.equal
    # one outcome more or less is always within a standard error
    error = np.sqrt(np.maximum(below * (1.0 - below), 1.0 / outcomes) / outcomes)
    return np.abs(below - share) / error


def _first_order_shape(table: Moments) -> Shape:
    """Shape from the cumulants of the part of the difference linear in relevance."""
    varies = table.difference_variance > 0.0
    variance = np.where(varies, table.difference_variance, 1.0)
    return Shape(
        mean_where(table.third / variance**1.5, varies, axis=0),
        mean_where(table.fourth / variance**2, varies, axis=0),
    )


def _among(pairs: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark, among all pairs, those chosen out of the marked ones."""
    marked = pairs.copy()
    marked[pairs] = chosen
    return marked
