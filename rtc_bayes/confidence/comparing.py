"""Compare the systems of a pool under probable relevance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.confidence import rule
from rtc_bayes.confidence.comparison import Comparison
from rtc_bayes.confidence.comparisons import Comparisons
from rtc_bayes.confidence.forms import SignProbabilities, corrected, normal, smoothed, within
from rtc_bayes.confidence.many_draws import exact_moments, plugin_moments
from rtc_bayes.confidence.outcomes import (
    Shape,
    error_of_draws,
    mean_where,
    sampled_moments,
    shape_about,
    shares,
    shares_within,
)
from rtc_bayes.confidence.setting import MOVED, AskedMomentKind, Choice, RelevanceLike, Setting
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import counted
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    from rtc_bayes.collection import Pool
    from rtc_bayes.measures import Moments
    from rtc_bayes.measures.estimand import EstimandLike

Floats = NDArray[np.float64]
# of variances
_ROUNDING = 1e-9
Pairs = NDArray[np.int64]
type Several = Sequence[Estimand] | list[str] | tuple[EstimandLike, ...]


@overload
def compare(
    pool: Pool,
    relevance: RelevanceLike,
    estimand: EstimandLike = None,
    *,
    baseline: str | None = None,
    moments: AskedMomentKind = "auto",
    form: Choice = "auto",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
) -> Comparison: ...
@overload
def compare(
    pool: Pool,
    relevance: RelevanceLike,
    estimand: Several,
    *,
    baseline: str | None = None,
    moments: AskedMomentKind = "auto",
    form: Choice = "auto",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
) -> Comparisons: ...
@explains_types
@moved(
    **MOVED,
    ranks="ask the comparison: compare(...).with_ranks()",
    rope="ask the comparison: compare(...).with_equivalence(rope)",
    population="ask the comparison: compare(...).with_population()",
    forecast="ask the comparison: compare(...).with_forecast(confidence)",
)
def compare(
    pool: Pool,
    relevance: RelevanceLike,
    estimand: EstimandLike | Several = None,
    *,
    baseline: str | None = None,
    moments: AskedMomentKind = "auto",
    form: Choice = "auto",
    outcomes: int = defaults.OUTCOMES,
    seed: int = 0,
    workers: Workers = Workers(),
) -> Comparison | Comparisons:
    """Compare every pair of a pool's systems, under probabilities of relevance.

    Given the parameters, documents are independent. Over draws of the parameters, P(< 0), P(= 0)
    and P(> 0) are means over draws, and the variance is the mean of the draws' variances plus the
    variance of their expected differences.

    More is asked of the comparison: :meth:`Comparison.with_ranks`, ``with_equivalence``,
    ``with_population``, ``with_forecast`` and ``per_topic``.

    Parameters
    ----------
    pool : Pool
        Of the systems to compare; documents that only `relevance` knows are added to it.
    relevance : Relevance or Fit
        A point estimate or draws.
    estimand : Estimand, measure or list of these, optional
        What scores are about; a measure alone (``"nDCG@10"``, or an object of ir-measures) means
        the default estimand of that measure. By default the mean of AP over the pool's topics, as
        deep as the pool says. Without known moments all numbers come from sampled outcomes, and
        `moments` and `form` are recorded as ``montecarlo``.
    baseline : str, optional
        Compare every other system with this one only: `b` is the baseline.
    moments : {"auto", "exact", "plugin"}
        Those of the measure, or those of Carterette 2007, section 3.2. ``auto``: exact, but of
        more than 190 pairs (20 systems) under draws sampled outcomes alone, recorded as
        ``montecarlo``, if `form` is ``auto`` or ``montecarlo``: what outcomes cost grows with
        systems, and not with pairs. With 128 draws or more exact ones are computed of 32, and
        correct the plug-in moments of as many draws as leave a standard error of .005 in a
        probability (:mod:`rtc_bayes.confidence.many_draws`). Of plug-in ones of AP, variances of
        differences are computed of 32 draws, and expectations of all.
    form : {"auto", "normal", "corrected", "montecarlo"}
        The form of the probabilities. ``auto`` chooses for every pair by
        :func:`rtc_bayes.confidence.choose`, on the shape of outcomes; with plug-in moments it is
        the normal, as published: their own error is larger than what a form can mend.
    outcomes : int
        Sampled for the corrected form (its shape) and for Monte Carlo, over all draws; at
        least 2. Rounded up to a multiple of the draws.
    seed : int
        At least 0; the same seed gives the same comparison, for runs and judgments in the same
        order.
    workers : Workers
        How many topics are worked on at a time, and where. It does not change the numbers.

    Returns
    -------
    Comparison or Comparisons
        Of several estimands :class:`Comparisons`, a dict of them by the name of the measure.

    Raises
    ------
    InputError
        A document of the pool without probability, an unknown measure, topic, system or option,
        or a cluster that cannot be used.
    UnfinishedError
        The cluster was lost.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y", "z"]}), run("B", {"1": ["w", "y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> relevance = rb.Relevance.from_values(pool, [0.1, 0.9, 0.5, 0.2])  # of w, x, y, z
    >>> pair = rb.compare(pool, relevance).pair("A", "B")
    >>> pair.better, round(pair.confidence, 2)
    ('A', 0.87)
    >>> sorted(rb.compare(pool, relevance, ["AP", "P@2"]))
    ['AP', 'P@2']
    """
    several = isinstance(estimand, list | tuple)
    asked: Any = estimand if several else [estimand]
    estimands = [Estimand.from_value(each) for each in asked]
    names = [each.measure for each in estimands]
    check_measures(names)
    settings = [
        Setting.from_pool(
            pool,
            relevance,
            each,
            baseline=baseline,
            moments=moments,
            form=form,
            outcomes=outcomes,
            seed=seed,
            workers=workers,
        )
        for each in estimands
    ]
    _warn_of_sampled(settings)
    compared = [compare_setting(setting) for setting in settings]
    if not several:
        return compared[0]
    # a measure is found as it was written, too: RBP(p=0.8) is named RBP
    return Comparisons({each.measure: each for each in compared})


def check_measures(names: Sequence[str]) -> None:
    """Refuse no measure, and one that is named twice.

    Examples
    --------
    >>> check_measures(["AP", "P@5"])
    """
    if not names:
        raise InputError("no measure", remedy="name one, as AP")
    if twice := [name for n, name in enumerate(names) if name in names[:n]]:
        raise InputError(
            f"{twice[0]} is named twice",
            remedy="name each measure once (MAP is AP); of one measure compare by other estimands "
            "one by one",
        )


def _warn_of_sampled(settings: Sequence[Setting]) -> None:
    """Say that moments or a form were asked for where a measure has none."""
    first = settings[0]
    asked = [
        f"{name}={value} (--{name})"
        for name, value in (("moments", first.moments), ("form", first.form))
        if value not in ("auto", "montecarlo")
    ]
    without = [setting.measure for setting in settings if not setting.has_moments]
    if asked and without:
        warn(
            f"{' and '.join(asked)} {'say' if len(asked) > 1 else 'says'} nothing of "
            f"{', '.join(without)}, whose moments are not known: outcomes are sampled",
        )


def compare_setting(setting: Setting) -> Comparison:
    """Compare the pairs of a setting."""
    many = len(setting.pairs) > defaults.MANY_PAIRS and len(setting.values) > 1
    sampled = setting.moments == "auto" and many and setting.form in ("auto", "montecarlo")
    if setting.moments == "auto":
        # what is asked of single pairs later
        setting = replace(setting, moments="exact")
    return _by_moments(setting) if setting.has_moments and not sampled else _by_outcomes(setting)


class _Signs(NamedTuple):
    """Probabilities of the signs of pairs, and of a difference within the rope if one is given."""

    probabilities: SignProbabilities
    within: Floats | None

    @classmethod
    def by(
        cls, form: Callable[[Floats], SignProbabilities], expected: Floats, rope: float | None
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
        signs = SignProbabilities(
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

    def put(self, pairs: NDArray[np.int64], signs: _Signs, form: str) -> None:
        """Set the probabilities of some pairs."""
        for every, some in zip(self.signs.probabilities, signs.probabilities, strict=True):
            every[pairs] = some
        if self.signs.within is not None:
            self.signs.within[pairs] = signs.within
        self.form[pairs] = form


def _by_moments(setting: Setting) -> Comparison:
    if setting.moments == "plugin":
        table = plugin_moments(setting)
    else:
        setting, table = exact_moments(setting)
    table = _with_residual(setting, table)
    expected, variance = table.difference_expected, table.difference_variance
    forms = _Forms(
        _Signs.by(lambda shifted: normal(shifted, variance).mean(), expected, setting.rope),
        _first_order_shape(table),
        np.full(len(table.pairs), "normal", dtype="<U10"),
    )
    published = setting.form == "auto" and setting.moments == "plugin"
    if setting.form != "normal" and not published and len(table.pairs):
        # the shape of outcomes is judged about the moments that outcomes have
        exact = (
            table
            if setting.moments != "plugin"
            else _with_residual(setting, setting.table("exact"))
        )
        _leave_normal(forms, setting, table, exact)
    unjudged, parameters = variance.mean(axis=0), expected.var(axis=0)
    mean = table.mean_expected
    own, scores = table.mean_variance.mean(axis=0), mean.mean(axis=0)
    if setting.moments == "plugin":
        _warn_of_impossible(setting, scores, own)
    return Comparison(
        systems=setting.pool.systems,
        topics=setting.pool.topics,
        measure=setting.measure,
        moments=setting.moments,
        model=setting.model,
        method=setting.method,
        expected=scores,
        sd=setting.with_common_error(
            scores, own + np.diag(setting.residual_covariance) + mean.var(axis=0)
        ),
        a=setting.names(0),
        b=setting.names(1),
        expected_difference=expected.mean(axis=0),
        sd_difference=np.sqrt(unjudged + parameters),
        sd_shared=setting.shared(expected.mean(axis=0)),
        p_less=forms.signs.probabilities.less,
        p_equal=forms.signs.probabilities.equal,
        p_greater=forms.signs.probabilities.greater,
        form=tuple(forms.form.tolist()),
        skewness=forms.shape.skewness,
        excess_kurtosis=forms.shape.excess_kurtosis,
        variance_unjudged=unjudged,
        variance_parameters=parameters,
        p_rope=forms.signs.within,
        meta=setting.meta(forms.sampled, unjudged + parameters)
        | {"draws_error": _draws_error(expected, variance)},
        setting=setting,
    )


def _warn_of_impossible(setting: Setting, scores: Floats, variance: Floats) -> None:
    """Say where plug-in variances are above any that scores from 0 to 1 can have."""
    if parse_measure(setting.measure).kind == "DCG":
        return
    beyond = int((variance > scores * (1.0 - scores) + _ROUNDING).sum())
    if beyond:
        warn(
            f"the plug-in standard deviation of {counted(beyond, 'system')} is above any that a "
            "score can have: topics expect far less than one relevant document; take exact moments "
            "(moments=, --moments)",
        )


def _draws_error(expected: Floats, variance: Floats) -> float:
    """Return the largest standard error, of any pair, that draws leave in P(< 0); 0 of one."""
    below = normal(expected, variance).less
    if len(below) == 1:
        return 0.0
    return float(error_of_draws(below, axis=0).max(initial=0.0))


def _with_residual(setting: Setting, table: Moments) -> Moments:
    """Add the residual's variance to the differences."""
    if setting.residual == 0.0:
        return table
    return replace(
        table,
        difference_variance=table.difference_variance + setting.residual_variance,
        log_tie=np.where(setting.residual_variance > 0.0, -np.inf, table.log_tie),
    )


def _by_outcomes(setting: Setting) -> Comparison:
    """Compare by outcomes alone: the measure has no moments, or there are many pairs."""
    scores = setting.sample_all()
    sampled = sampled_moments(scores, setting.pairs)
    signs = _Signs.counted(scores, setting.pairs, _may_vary(setting), setting.rope)
    return Comparison(
        systems=setting.pool.systems,
        topics=setting.pool.topics,
        measure=setting.measure,
        moments="montecarlo",
        model=setting.model,
        method=setting.method,
        expected=sampled.expected,
        sd=setting.with_common_error(sampled.expected, sampled.sd**2),
        a=setting.names(0),
        b=setting.names(1),
        expected_difference=sampled.difference,
        sd_difference=np.sqrt(sampled.unjudged + sampled.parameters),
        sd_shared=setting.shared(sampled.difference),
        p_less=signs.probabilities.less,
        p_equal=signs.probabilities.equal,
        p_greater=signs.probabilities.greater,
        form=("montecarlo",) * len(setting.pairs),
        skewness=sampled.shape.skewness,
        excess_kurtosis=sampled.shape.excess_kurtosis,
        variance_unjudged=sampled.unjudged,
        variance_parameters=sampled.parameters,
        p_rope=signs.within,
        meta=setting.meta(
            scores[0].size if len(scores) else 0, sampled.unjudged + sampled.parameters
        )
        | {"exact_draws": 0, "draws_error": sampled.draws_error},
        setting=setting,
    )


def _may_vary(setting: Setting) -> NDArray[np.bool_]:
    """Whether the difference of a pair can vary: on an unsure topic their lists differ."""
    pool, values = setting.pool, setting.values
    # neither 0 in all draws nor 1 in all
    open_ = (values > 0.0).any(axis=0) & (values < 1.0).any(axis=0)
    unsure = np.array([open_[pool.documents(t)].any() for t in range(pool.n_topics)])
    which = np.array([pool.lists(t).distinct()[1] for t in range(pool.n_topics)])
    first, second = setting.pairs.T
    apart = (which[unsure][:, first] != which[unsure][:, second]).any(axis=0)
    return np.asarray(apart | (setting.residual_variance > 0.0))


def _leave_normal(forms: _Forms, setting: Setting, table: Moments, exact: Moments) -> None:
    """Replace the normal for the pairs that leave it: all of them, or those the rule names."""
    pairs = np.arange(len(table.pairs))
    if setting.form == "auto":
        pilot = min(rule.PILOT, setting.outcomes)
        scores, rows = setting.sample_pairs(table.pairs, pilot, stage=0)
        pairs = np.flatnonzero(_choose(forms, scores, rows, exact, pairs) != "normal")
        if not len(pairs):
            return
    scores, rows = setting.sample_pairs(table.pairs[pairs], setting.outcomes, stage=1)
    forms.sampled = scores[0].size
    # the shape of these pairs is that of all outcomes, also where the form is not chosen by it
    form = _choose(forms, scores, rows, exact, pairs)
    if setting.form != "auto":
        form = np.full(len(pairs), setting.form)
    counted, bent = form == "montecarlo", form == "corrected"
    # a pair without variance is known: its shares are not estimates
    varies = (exact.difference_variance > 0.0).any(axis=0)[pairs[counted]]
    signs = _Signs.counted(scores, rows[counted], varies, setting.rope)
    forms.put(pairs[counted], signs, "montecarlo")
    forms.put(pairs[bent], _corrected_signs(forms, setting, table, pairs[bent]), "corrected")


def _corrected_signs(
    forms: _Forms, setting: Setting, table: Moments, pairs: NDArray[np.int64]
) -> _Signs:
    """Probabilities of some pairs by the corrected form."""
    variance = table.difference_variance[:, pairs]
    shape = Shape(*(part[pairs] for part in forms.shape))
    return _Signs.by(
        lambda shifted: corrected(shifted, variance, *shape).mean(),
        table.difference_expected[:, pairs],
        setting.rope,
    )


def _choose(
    forms: _Forms, scores: Floats, rows: Pairs, exact: Moments, pairs: NDArray[np.int64]
) -> NDArray[np.str_]:
    """Measure the shape of these pairs on outcomes, and choose their forms by the rule."""
    expected, variance = exact.difference_expected[:, pairs], exact.difference_variance[:, pairs]
    shape = shape_about(scores, rows, expected, variance)
    for every, some in zip(forms.shape, shape, strict=True):
        every[pairs] = some
    counted = shares(scores, rows)
    size = scores[0].size
    first, second = exact.pairs[pairs].T
    varies = (exact.variance > 0.0).any(axis=0)
    unsure = (varies[first] | varies[second]).sum(axis=1)
    return rule.choose(
        shape.skewness,
        shape.excess_kurtosis,
        # ties by coincidence, as of P@k, are beyond the bound
        tie=np.maximum(np.exp(exact.log_tie[:, pairs]).mean(axis=0), counted.equal),
        # a residual alone is normal, and has no atoms
        topics=np.where(unsure == 0, rule.FEWEST_TOPICS, unsure),
        normal_gap=_gap(normal(expected, variance).mean(), counted, size),
        corrected_gap=_gap(corrected(expected, variance, *shape).mean(), counted, size),
    )


def _gap(form: SignProbabilities, counted: SignProbabilities, outcomes: int) -> Floats:
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
