"""Compare the systems of a pool under probable relevance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.confidence import rule
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.forms import Probabilities, corrected, normal, smoothed, within
from rtc_bayes.confidence.outcomes import (
    Shape,
    mean_where,
    sampled_moments,
    shape_about,
    shares,
    shares_within,
)
from rtc_bayes.confidence.population import on_population
from rtc_bayes.confidence.ranks import count_ranks
from rtc_bayes.confidence.removal import judgments_needed
from rtc_bayes.confidence.study import Choice, Kind, Study
from rtc_bayes.errors import InputError
from rtc_bayes.store import Progress, silent

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool, Relevance
    from rtc_bayes.measures import Moments

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]


def compare(
    pool: Pool,
    relevance: Relevance,
    *,
    measure: str = "AP",
    moments: Kind = "exact",
    probability: Choice = "auto",
    outcomes: int = 20_000,
    seed: int = 0,
    topics: Sequence[str] | None = None,
    baseline: str | None = None,
    unseen: bool = False,
    residual: float = 0.0,
    rope: float | None = None,
    ranks: bool = False,
    population: bool = False,
    forecast: float | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress = silent,
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
    baseline : str, optional
        Compare every other system with this one only: `b` is the baseline.
    unseen : bool
        Count relevant documents that no system retrieved to the pool's depth, as many as the
        first-order jackknife expects of those that one system alone retrieved
        (:func:`rtc_bayes.confidence.unseen.with_unseen`).
    residual : float
        Standard deviation of what is left of the mean score of each system beyond what the pool
        tells: normal about 0, independent between systems. Its square counts in the variance of
        unjudged relevance, twice for a pair.
    rope : float, optional
        Half the width of the region of practical equivalence: gives P(abs(difference) < rope).
    ranks : bool
        Also count the ranks of :func:`rtc_bayes.rank_systems`, over `outcomes`.
    population : bool
        Also take the topics as a sample, and compare in the mean over their population; needs two
        topics or more.
    forecast : float, optional
        Also forecast how many more judgments give each pair this confidence, as
        :func:`rtc_bayes.forecast`; not with `unseen`.
    jobs : int
        Topics at a time whose moments or outcomes are computed, in threads; -1 for one on every
        core. It does not change the numbers.
    scheduler : str, optional
        ``dask://HOST:PORT``, of a cluster that takes the place of threads.
    progress : Progress
        Called as topics are done.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        A document of the pool without probability, an unknown measure, topic, system or option,
        or a cluster that cannot be used.
    UnfinishedError
        The cluster was lost.
    """
    if unseen and forecast is not None:
        raise InputError(
            "unseen documents cannot be judged, so a forecast does not count them",
            remedy="forecast without them",
        )
    study = Study.of(
        pool,
        relevance,
        measure=measure,
        moments=moments,
        probability=probability,
        outcomes=outcomes,
        seed=seed,
        topics=topics,
        baseline=baseline,
        unseen=unseen,
        residual=residual,
        rope=rope,
        jobs=jobs,
        scheduler=scheduler,
        progress=progress,
    )
    found = _by_outcomes(study, relevance) if study.counted else _by_moments(study, relevance)
    if ranks:
        found = replace(found, **count_ranks(study.sample_all())._asdict())
    if population:
        found = replace(found, **on_population(study, found.sd_difference**2)._asdict())
    if forecast is not None:
        found = replace(found, judgments_needed=judgments_needed(study, found, forecast))
    return found


class _Signs(NamedTuple):
    """Probabilities of the signs of pairs, and of a difference within the rope if one is given."""

    probabilities: Probabilities
    within: Floats | None

    @classmethod
    def by(
        cls, form: Callable[[Floats], Probabilities], expected: Floats, rope: float | None
    ) -> _Signs:
        """Take a form's own distribution."""
        return cls(form(expected), None if rope is None else within(form, expected, rope))

    @classmethod
    def counted(
        cls, scores: Floats, rows: Pairs, varies: NDArray[np.bool_], rope: float | None
    ) -> _Signs:
        """Take the shares of outcomes, never 0 or 1 for a pair that varies."""
        size = scores[0].size if len(scores) else 0
        parts = shares(scores, rows)
        signs = Probabilities(
            *(np.where(varies, b, a) for a, b in zip(parts, smoothed(parts, size), strict=True))
        )
        if rope is None:
            return cls(signs, None)
        part = shares_within(scores, rows, rope)
        return cls(signs, np.where(varies, (size * part + 1.0) / (size + 2.0), part))


@dataclass
class _Forms:
    """The probabilities of every pair, filled form by form."""

    signs: _Signs
    shape: Shape
    form: NDArray[np.str_]
    sampled: int = 0

    def put(self, pairs: NDArray[np.bool_], found: _Signs, form: str) -> None:
        """Set the probabilities of some pairs."""
        for whole, part in zip(self.signs.probabilities, found.probabilities, strict=True):
            whole[pairs] = part
        if self.signs.within is not None:
            self.signs.within[pairs] = found.within
        self.form[pairs] = form


def _by_moments(study: Study, relevance: Relevance) -> Comparison:
    table = _moments(study, study.moments)
    expected, variance = table.difference_expected, table.difference_variance
    forms = _Forms(
        _Signs.by(lambda shifted: normal(shifted, variance).mean(), expected, study.rope),
        _first_order_shape(table),
        np.full(len(table.pairs), "normal", dtype="<U10"),
    )
    published = study.probability == "auto" and study.moments == "plugin"
    if study.probability != "normal" and not published and len(table.pairs):
        # the shape of outcomes is judged about the moments that outcomes have
        exact = table if study.moments == "exact" else _moments(study, "exact")
        _leave_normal(forms, study, table, exact)
    unjudged, parameters = variance.mean(axis=0), expected.var(axis=0)
    mean = table.mean_expected
    own = table.mean_variance.mean(axis=0) + study.residual**2
    return Comparison(
        systems=study.pool.systems,
        topics=study.pool.topics,
        measure=study.measure,
        moments=study.moments,
        model=relevance.model,
        method=relevance.method,
        expected=mean.mean(axis=0),
        sd=np.sqrt(own + mean.var(axis=0)),
        a=study.names(0),
        b=study.names(1),
        expected_difference=expected.mean(axis=0),
        sd_difference=np.sqrt(unjudged + parameters),
        p_less=forms.signs.probabilities.less,
        p_equal=forms.signs.probabilities.equal,
        p_greater=forms.signs.probabilities.greater,
        probability=tuple(forms.form.tolist()),
        skewness=forms.shape.skewness,
        excess_kurtosis=forms.shape.excess_kurtosis,
        variance_unjudged=unjudged,
        variance_parameters=parameters,
        p_rope=forms.signs.within,
        meta=study.meta(forms.sampled),
    )


def _moments(study: Study, kind: Kind) -> Moments:
    """Moments of the pairs, whose differences have the residual's variance besides."""
    table = study.table(kind)
    if study.residual == 0.0:
        return table
    return replace(
        table,
        difference_variance=table.difference_variance + 2.0 * study.residual**2,
        log_tie=np.full_like(table.log_tie, -np.inf),
    )


def _by_outcomes(study: Study, relevance: Relevance) -> Comparison:
    """Compare by outcomes alone: the measure has no moments, or there are many draws."""
    scores = study.sample_all()
    found = sampled_moments(scores, study.pairs)
    signs = _Signs.counted(scores, study.pairs, _may_vary(study), study.rope)
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
        p_less=signs.probabilities.less,
        p_equal=signs.probabilities.equal,
        p_greater=signs.probabilities.greater,
        probability=("montecarlo",) * len(study.pairs),
        skewness=found.shape.skewness,
        excess_kurtosis=found.shape.excess_kurtosis,
        variance_unjudged=found.unjudged,
        variance_parameters=found.parameters,
        p_rope=signs.within,
        meta=study.meta(scores[0].size if len(scores) else 0),
    )


def _may_vary(study: Study) -> NDArray[np.bool_]:
    """Whether the difference of a pair can vary: some relevance is unsure, and the lists differ."""
    if study.residual > 0.0:
        return np.ones(len(study.pairs), dtype=bool)
    unsure = bool(((study.values > 0.0) & (study.values < 1.0)).any())
    pool = study.pool
    which = np.array([pool.lists(t).distinct()[1] for t in range(pool.n_topics)])
    first, second = study.pairs.T
    return unsure & (which[:, first] != which[:, second]).any(axis=0)


def _leave_normal(forms: _Forms, study: Study, table: Moments, exact: Moments) -> None:
    """Replace the normal for the pairs that leave it: all of them, or those the rule names."""
    leaving = np.ones(len(table.pairs), dtype=bool)
    if study.probability == "auto":
        scores, rows = study.sample_pairs(table.pairs, min(rule.PILOT, study.outcomes), stage=0)
        leaving = _judge(forms, scores, rows, exact, leaving) != "normal"
        if not leaving.any():
            return
    scores, rows = study.sample_pairs(table.pairs[leaving], study.outcomes, stage=1)
    forms.sampled = scores[0].size
    chosen = _judge(forms, scores, rows, exact, leaving)
    if study.probability != "auto":
        chosen = np.full(len(chosen), study.probability)
    counted = chosen == "montecarlo"
    # a pair without variance is known: its shares are not estimates
    varies = (exact.difference_variance > 0.0).any(axis=0)
    found = _Signs.counted(scores, rows[counted], varies[leaving][counted], study.rope)
    forms.put(_among(leaving, counted), found, "montecarlo")
    bent = _among(leaving, chosen == "corrected")
    variance = table.difference_variance[:, bent]
    shape = Shape(*(part[bent] for part in forms.shape))
    found = _Signs.by(
        lambda shifted: corrected(shifted, variance, *shape).mean(),
        table.difference_expected[:, bent],
        study.rope,
    )
    forms.put(bent, found, "corrected")


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
    unsure = (varies[first] | varies[second]).sum(axis=1)
    return rule.choose(
        found.skewness,
        found.excess_kurtosis,
        # ties by coincidence, as of P@k, are beyond the bound
        tie=np.maximum(np.exp(exact.log_tie[:, pairs]).mean(axis=0), counted.equal),
        # a residual alone is normal, and has no atoms
        topics=np.where(unsure == 0, rule.FEWEST_TOPICS, unsure),
        normal_gap=_gap(normal(expected, variance).mean(), counted, size),
        corrected_gap=_gap(corrected(expected, variance, *found).mean(), counted, size),
    )


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
