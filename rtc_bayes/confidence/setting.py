"""What is compared, under which probabilities of relevance, and how outcomes are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults, measures
from rtc_bayes.checks import check_word, real_number, whole_fields
from rtc_bayes.collection.grades import GRADE_DRAWS
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.collection.relevance import as_relevance
from rtc_bayes.confidence.caution import caution
from rtc_bayes.confidence.likeness import residual_covariance, root_of, unlikeness
from rtc_bayes.confidence.many_draws import exact_draws
from rtc_bayes.confidence.outcomes import sample
from rtc_bayes.confidence.subpool import with_systems, with_topics
from rtc_bayes.confidence.unseen import (
    below_is_guessed,
    lists_end,
    relevant_shares,
    with_unseen,
)
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.montecarlo import computed
from rtc_bayes.measures.names import ERR_HIGHEST, Measure, parse_measure
from rtc_bayes.measures.pool_moments import by_grade
from rtc_bayes.store import provenance, spawn_seeds
from rtc_bayes.store.shown import counted
from rtc_bayes.workers import ALONE, Workers

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool, Relevance
    from rtc_bayes.collection.grades import GradeDistribution
    from rtc_bayes.collection.relevance import HasRelevance
    from rtc_bayes.measures import Moments
    from rtc_bayes.measures.estimand import EstimandLike

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
MomentKind = Literal["exact", "plugin"]
AskedMomentKind = Literal["auto", "exact", "plugin"]
Choice = Literal["auto", "normal", "corrected", "montecarlo"]

type RelevanceLike = Relevance | HasRelevance

MOVED = {
    "measure": 'give it third: compare(pool, relevance, "nDCG@10")',
    "probability": 'the form of the probabilities is now form="auto"',
    "topics": "give estimand=Estimand(topics=...)",
    "unseen": "give estimand=Estimand(unseen=...)",
    "residual": "give estimand=Estimand(residual=...)",
    "jobs": "give workers=Workers(jobs=...)",
    "scheduler": "give workers=Workers(scheduler=...)",
    "progress": "give workers=Workers(progress=...)",
}
"""What functions that compare took before they took an estimand and workers."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A pool, draws of probabilities of relevance, and the options of a comparison.

    Attributes
    ----------
    pool : Pool
        Of the topics that are averaged over, with every document that may be relevant.
    values : ndarray, shape (draws, documents)
    pairs : ndarray of int, shape (pairs, 2)
        System numbers; the difference is the first less the second.
    estimand : Estimand
        Of this pool: its topics are named.
    model, method : str
        Where the probabilities came from.
    moments, form, outcomes, seed, workers
        As in :func:`rtc_bayes.compare`.
    rope : float or None
        Half the width of the region of practical equivalence.
    grades : GradeDistribution or None
        What a graded measure scores; None where relevance is binary.
    relevant : str
        Which judged grades count as relevant, where there are grades above 1 and neither the
        measure nor a relevance level above 1 says it.
    judged : str
        What judgments are too few for, or tell wrong, in words.
    lasting : float
        The part of the residual that no judgment takes off, as a standard deviation.
    unjudged : float
        Share of the relevant documents that are expected without a judgment, of those that some
        system retrieved or somebody judged.
    guessed : float
        Share of those that no system retrieved which is guessed, and not judged.
    common_error : float
        How far all expected scores may be off together, as a share of them: where judgments tell of
        relevant documents that no system retrieved, as much of it as is guessed.
    short_error : float
        The part of it that is there since every list is cut short.
    below_guessed : float
        How much is guessed of what lies below short lists.
    cut_at : int
        The rank at which lists end: where all are cut (:attr:`rtc_bayes.Pool.cut_at`), or the score
        depth if that is higher up.
    outside : float
        Share of the documents that a measure of the first ranks counts which the pool lacks: those
        below its depth. They count as nonrelevant.
    exact_of : int or None
        Of how many draws exact moments were computed, where that differs from what is tried first.
    fitted : Judgments or None
        What the model was fitted to; None where that is not known, as of probabilities alone.
    """

    pool: Pool
    values: NDArray[np.floating]
    pairs: Pairs
    estimand: Estimand
    model: str
    method: str
    moments: AskedMomentKind = "exact"
    form: Choice = "auto"
    outcomes: int = defaults.OUTCOMES
    seed: int = 0
    workers: Workers = ALONE
    rope: float | None = None
    grades: GradeDistribution | None = None
    relevant: str = ""
    judged: str = ""
    lasting: float = 0.0
    unjudged: float = 0.0
    guessed: float = 1.0
    common_error: float = 0.0
    short_error: float = 0.0
    below_guessed: float = 0.0
    cut_at: int = 0
    outside: float = 0.0
    exact_of: int | None = None
    fitted: Judgments | None = None

    def __post_init__(self) -> None:
        for name, value, kinds in (
            ("moments", self.moments, get_args(AskedMomentKind)),
            ("form", self.form, get_args(Choice)),
        ):
            check_word(name, value, kinds)
        whole_fields(self, outcomes=2, seed=0)
        if self.rope is not None:
            object.__setattr__(self, "rope", check_rope(self.rope))

    @classmethod
    def from_pool(
        cls,
        pool: Pool,
        relevance: RelevanceLike,
        estimand: EstimandLike = None,
        *,
        baseline: str | None = None,
        **options: Any,
    ) -> Setting:
        """Line the parts of a comparison up.

        Parameters
        ----------
        pool, relevance, estimand, baseline
            As in :func:`rtc_bayes.compare`.
        **options
            Fields of the setting.

        Raises
        ------
        InputError
            A document of the pool without probability, an unknown measure, topic, system or
            option, or another relevance level than the fit's.
        """
        judgments = getattr(relevance, "judgments", None)
        asked = Estimand.from_value(estimand)
        probabilities = as_relevance(relevance)
        check_level(asked, judgments, probabilities.grades)
        about, pool = asked.on(pool, judgments)
        if judgments is not None:
            check_lists(about, pool, judgments.pool)
        pairs = _pairs(pool.systems, baseline)
        topics = pool.topics
        options["lasting"] = about.residual
        named = parse_measure(about.measure)
        pool, values = probabilities.on(pool, nonrelevant=named.kind == "Bpref")
        cutoff = named.cutoff or about.score_depth or 0
        if judgments is not None and min(cutoff, about.score_depth or 0) > pool.depth:
            _warn_of_unplaced(pool, judgments)
        if about.topics != topics:
            pool, values = with_topics(pool, values, about.topics)
        if named.cutoff and not named.depends_on_unseen:
            options["outside"] = _outside(pool, named.cutoff)
        unseen = about.unseen and named.asks_how_many
        below = float(below_is_guessed(pool, values).mean()) if unseen else 0.0
        if unseen:
            pool, values = with_unseen(pool, values)
        measure, grades = computed(about.measure), probabilities.grades
        if grades is not None and measure.rel > 1 and measure.rel != grades.relevance_level:
            # a point estimate has draws of grades, as the same probabilities as draws have
            values = np.repeat(values, GRADE_DRAWS, axis=0) if len(values) == 1 else values
        _, values = by_grade(pool, values, grades, measure)
        unjudged, guessed = relevant_shares(pool, values, judgments)
        if not unseen:
            guessed = unjudged
        options |= {"unjudged": unjudged, "guessed": guessed}
        residual = asked.residual_of(pool.n_systems, len(about.topics), unjudged)
        options["grades"] = grades if measure.graded else None
        common = asked.common_error(
            pool.n_systems, unjudged, by_grade=options["grades"] is not None
        )
        options["cut_at"] = cut_at = lists_end(pool)
        short = asked.short_lists_error(pool.n_systems, cut_at, below)
        options |= {"short_error": short * guessed, "below_guessed": below}
        options["common_error"] = float(np.hypot(common, short)) * guessed
        about = replace(about, residual=residual)
        options["fitted"] = judgments
        if judgments is not None:
            options["judged"] = caution(judgments, about.topics, about.measure, unjudged)
        if grades is not None:
            options["relevant"] = about.of_grades(grades.highest, grades.relevance_level)
        return cls(pool, values, pairs, about, probabilities.model, probabilities.method, **options)

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.estimand.measure

    @property
    def residual(self) -> float:
        """The residual of the estimand, which is a number in a setting."""
        assert isinstance(self.estimand.residual, float)
        return self.estimand.residual

    @cached_property
    def residual_covariance(self) -> Floats:
        """Of the systems' scores, shape (systems, systems): they share it as they share lists."""
        return residual_covariance(self.pool, self.residual)

    @cached_property
    def residual_variance(self) -> Floats:
        """The residual's variance of each difference, shape (pairs,): 0 of copies."""
        return unlikeness(self.residual_covariance, self.pairs)

    @property
    def lasting_variance(self) -> Floats:
        """The part of :attr:`residual_variance` that no judgment takes off."""
        if self.residual == 0.0:
            return self.residual_variance
        return self.residual_variance * (self.lasting / self.residual) ** 2

    @property
    def has_moments(self) -> bool:
        """Whether moments of the measure are known: not of grades."""
        return self.grades is None and measures.has_moments(self.measure)

    @property
    def grades_text(self) -> str:
        """What grades a graded measure takes documents to have, in words."""
        if self.grades is not None:
            level = self.grades.relevance_level
            below = f" (also below relevance level {level})" if level > 1 else ""
            said = (
                f"judged grades{below}, and of other documents grades like those of their topic "
                "that systems rank as high"
            )
            if self._measure.kind != "nDCG":
                return said
            return (
                f"{said}; expected scores may be too low together, as these may be too high: trust "
                "the order more than the scores"
            )
        binary = "no judged grade is above 1, so every relevant document has grade 1"
        if self._measure.kind == "ERR":
            return f"{binary} of {ERR_HIGHEST}, a gain of 1/{2**ERR_HIGHEST}"
        return binary

    @property
    def _measure(self) -> Measure:
        """The measure of the values, which are probabilities of what is relevant to it."""
        return replace(parse_measure(self.measure), rel=0)

    def of_pairs(self, pairs: Pairs) -> Setting:
        """Return the setting of other pairs, without the systems that none of them needs.

        Every document stays, as it counts in the number of relevant ones.
        """
        systems, rows = np.unique(pairs, return_inverse=True)
        return replace(self, pool=with_systems(self.pool, systems), pairs=rows.reshape(-1, 2))

    def sample(self, systems: NDArray[np.int64], outcomes: int, stage: int) -> Floats:
        """Sample the scores of these systems, all at once: (systems, draws, outcomes each)."""
        own = spawn_seeds(self.seed, stage + 1)[stage]
        scores = sample(
            with_systems(self.pool, systems),
            self.values,
            measure=self._measure,
            outcomes=outcomes,
            seed=own,
            workers=self.workers,
            grades=self.grades,
        )
        if self.residual > 0.0:
            noise = np.empty_like(scores)
            for of_system, system in zip(noise, systems.tolist(), strict=True):
                np.random.default_rng([own, system]).standard_normal(out=of_system)
            # it moves no expected score
            noise -= noise.mean(axis=(1, 2), keepdims=True)
            scores += np.tensordot(
                root_of(self.residual_covariance[np.ix_(systems, systems)]), noise, axes=1
            )
        return scores

    def sample_pairs(self, pairs: Pairs, outcomes: int, stage: int) -> tuple[Floats, Pairs]:
        """Sample the systems of these pairs; the pairs then as rows of the scores."""
        systems, rows = np.unique(pairs, return_inverse=True)
        return self.sample(systems, outcomes, stage), rows.reshape(-1, 2)

    def sample_all(self) -> Floats:
        """Sample the scores of every system, with at least 2 outcomes for every draw."""
        outcomes = max(self.outcomes, 2 * len(self.values))
        return self.sample(np.arange(self.pool.n_systems), outcomes, stage=1)

    def table(self, kind: MomentKind) -> Moments:
        """Moments of the pairs, without the residual."""
        return measures.moments(
            self.pool,
            self.values,
            measure=self._measure,
            moments=kind,
            pairs=self.pairs,
            workers=self.workers,
        )

    def with_common_error(self, expected: Floats, variance: Floats) -> Floats:
        """Return standard deviations of scores, with the error that all of them share."""
        return np.asarray(np.sqrt(variance + (self.common_error * expected) ** 2))

    def shared(self, difference: Floats) -> Floats | None:
        """Return the error that all scores share, in differences; None where there is none."""
        return self.common_error * np.abs(difference) if self.common_error > 0.0 else None

    def names(self, column: int) -> tuple[str, ...]:
        """Names of the first or the second systems of the pairs."""
        return tuple(self.pool.systems[s] for s in self.pairs[:, column])

    def meta(self, sampled: int, variance: Floats) -> dict[str, object]:
        """Provenance, with draws, the outcomes behind counted shares, options, and what lasts.

        `variance` is that of the differences, shape (pairs,).
        """
        about = {
            "draws": len(self.values),
            "exact_draws": exact_draws(self) if self.has_moments and self.moments == "exact" else 0,
            "outcomes": sampled,
            "about": self.estimand.text_of(int(self.pool.lengths.max(initial=0))),
            "scope": self.estimand.scope,
            "score_depth": self.pool.score_depth,
            "unseen": self.estimand.unseen,
            "residual": self.residual,
            "lasting_residual": self.lasting,
            "common_error": self.common_error,
            "unjudged_relevant": self.unjudged,
            "guessed_relevant": self.guessed,
        }
        varies = variance > 0.0
        if self.lasting > 0.0 and varies.any():
            share = self.lasting_variance[varies] / variance[varies]
            about |= {"lasting_share": float(np.median(share))}
        asked = {} if self.rope is None else {"rope": self.rope}
        level = self.estimand.relevance_level
        about |= {} if level is None else {"relevance_level": level}
        grades = {"grades": self.grades_text} if self._measure.graded else {}
        relevant = {"relevant": self.relevant} if self.relevant else {}
        judged = {"judged": self.judged} if self.judged else {}
        if self.short_error > 0.0:
            about |= {"short_lists_error": self.short_error, "lists_cut_at": self.cut_at}
            about |= {"below_lists_guessed": self.below_guessed}
        if self.outside > 0.0:
            about |= {"outside_pool": self.outside, "pooled_to": self.pool.depth}
        return provenance(seed=self.seed) | about | grades | relevant | judged | asked


def _outside(pool: Pool, cutoff: int) -> float:
    """Return the share of the lists' documents down to a rank that the pool lacks."""
    lowest = min(cutoff, pool.score_depth)
    if lowest <= pool.depth:
        return 0.0
    listed = int(np.minimum(pool.lengths, lowest).sum())
    inside = sum(int((pool.lists(t).ranks <= lowest).sum()) for t in range(pool.n_topics))
    return 1.0 - inside / listed if listed else 0.0


def _warn_of_unplaced(pool: Pool, judgments: Judgments) -> None:
    """Warn of relevant documents that lists may hold below the depth, where nobody looked."""
    if pool.placed:
        return
    nowhere = np.ones(pool.n_documents, dtype=bool)
    nowhere[pool.ranked] = False
    if pool.tails is not None:
        nowhere[pool.tails.documents] = False
    relevant = np.flatnonzero(judgments.labels > 0)
    judged, topic_of = judgments.pool, judgments.pool.topic_of[relevant]
    count = 0
    for t in np.unique(topic_of):
        docnos = judged.docnos[relevant[topic_of == t]]
        place = pool.locate(judged.topics[t], docnos)
        count += int(nowhere[place[place >= 0]].sum())
    if count:
        warn(
            f"{counted(count, 'judged relevant document')} in no list's first {pool.depth}, and "
            "where lists have them further down is not known, so that whole lists are scored as "
            "if they had not: pool the runs with them, Pool.from_runs(runs, qrels=qrels)",
        )


def two_systems(pool: Pool, a: str, b: str) -> Pairs:
    """Return the pair of two systems by their names, as numbers.

    Raises
    ------
    InputError
        A system that is not there, or twice the same.
    """
    if a == b:
        raise InputError(f"{a!r} is compared with itself", remedy="name two systems")
    return np.array([[number_of(pool.systems, name) for name in (a, b)]])


def pair_named(pool: Pool, pair: object, *, remedy: str) -> Pairs:
    """Return the pair of two systems that a caller named, as numbers.

    Parameters
    ----------
    pool : Pool
    pair : object
        Two names, if it is right.
    remedy : str
        What to give, where it is something else.

    Raises
    ------
    InputError
        Something else than two names, one text above all; a system that is not there, or twice the
        same.
    """
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"pair is {pair!r:.80}", remedy=remedy)
    return two_systems(pool, pair[0], pair[1])


def check_rope(rope: float) -> float:
    """Return half the width of a region of practical equivalence.

    Raises
    ------
    InputError
        One that is not above 0, or not finite.
    """
    return real_number("rope", rope, 0.0, np.inf, "give a difference above 0", ends="()")


def number_of(systems: Sequence[str], name: str) -> int:
    """Return a system's number.

    Raises
    ------
    InputError
        A system that is not there; it says which are named nearly so.
    """
    if name not in systems:
        by_case = {system.lower(): system for system in systems}
        near = [by_case[like] for like in get_close_matches(str(name).lower(), by_case)]
        some = near or [*systems[:5], *(["..."] if len(systems) > 5 else [])]
        raise InputError(f"no system is named {name!r}", remedy=f"name one of {', '.join(some)}")
    return list(systems).index(name)


def check_level(
    asked: Estimand, judgments: Judgments | None, grades: GradeDistribution | None
) -> None:
    """Refuse another relevance level than that of judgments, which decided what is relevant."""
    made, whose = None, "the fit's"
    if judgments is not None and judgments.n_judged:
        made = judgments.relevance_level
    elif judgments is None and grades is not None:
        made, whose = grades.relevance_level, "that of the judgments"
    if made is not None and asked.relevance_level not in (None, made):
        raise InputError(
            f"relevance_level is {asked.relevance_level}, and {whose} {made}",
            remedy="leave it out, or fit judgments of this level",
        )


def check_lists(
    estimand: Estimand,
    pool: Pool,
    fitted: Pool,
    *,
    remedy: str = "give fit.judgments.pool, and name pairs of the comparison; or its "
    "select(systems, keep_documents=True), by which scores differ",
) -> None:
    """Refuse a pool that lacks what its own systems rank in the pool of a fit.

    Such documents may be relevant, and would count as relevant ones that no list holds.

    Parameters
    ----------
    estimand : Estimand
        Of `pool`.
    pool : Pool
    fitted : Pool
        Of the fit.
    remedy : str
        What to do where a document is lacking.

    Raises
    ------
    InputError
        One is; the message says of how many runs the fit is, if it is of more.
    """
    deepest = max(estimand.score_depth or pool.depth, fitted.depth)
    compared = set(pool.systems)
    systems = [s for s, name in enumerate(fitted.systems) if name in compared]
    for t, topic in enumerate(fitted.topics):
        if topic not in pool.topics:
            continue
        docnos = fitted.docnos[fitted.documents(t)]
        lacking = pool.locate(topic, docnos) < 0
        if not lacking.any():
            continue
        ranks = fitted.ranks(t, below=True)[systems][:, lacking]
        held = np.argwhere((ranks > 0) & (ranks <= deepest))
        if len(held):
            system, document = held[0]
            fewer = (
                f"the fit is of {counted(fitted.n_systems, 'run')}, and {len(systems)} of them are "
                "given: "
            )
            raise InputError(
                f"{fewer if len(systems) < fitted.n_systems else ''}the pool, of depth "
                f"{pool.depth}, lacks document {docnos[lacking][document]} of topic {topic}, which "
                f"{fitted.systems[systems[system]]} has at rank {ranks[system, document]} in the "
                "fit's pool",
                remedy=remedy,
            )


def _pairs(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Every pair of systems, the first before the second; or every other with the baseline."""
    if baseline is None:
        return np.stack(all_pairs(len(systems)), axis=1)
    base = number_of(systems, baseline)
    return np.array([(s, base) for s in range(len(systems)) if s != base], np.int64).reshape(-1, 2)
