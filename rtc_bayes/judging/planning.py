"""Planning by a pilot: more topics, or more judgments a topic, by simulated judging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Pool, Qrels
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence import Comparison
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.confidence.population import noise_between
from rtc_bayes.confidence.setting import pair_named
from rtc_bayes.confidence.topics import by_topic
from rtc_bayes.errors import InputError
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.building import judged_about
from rtc_bayes.judging.judges import Judge
from rtc_bayes.judging.judging_plan import JudgingPlan
from rtc_bayes.judging.simulated_judging import MOST_TOPICS, compared, unjudged_variance
from rtc_bayes.measures import Estimand, parse_measure
from rtc_bayes.relevance import Fit, RelevanceModel, fit
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import provenance, spawn_seeds
from rtc_bayes.store.progress import Progress, silent
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.measures.estimand import EstimandLike

Floats = NDArray[np.float64]

#: Judgments a topic that are simulated where none are named.
JUDGMENTS_PER_TOPIC = (2, 4, 8, 16, 32)


@explains_types
@moved(level="write confidence")
def plan(
    pool: Pool,
    judgments: Judgments | Qrels,
    budget: float,
    estimand: EstimandLike = None,
    *,
    difference: float = 0.05,
    confidence: float = defaults.CONFIDENCE,
    population: bool = False,
    judgment_cost: float = 1.0,
    topic_cost: float = 0.0,
    judgments_per_topic: Sequence[int] = JUDGMENTS_PER_TOPIC,
    pair: tuple[str, str] | None = None,
    algorithm: Algorithm | Judge | RelevanceModel | str = defaults.ALGORITHM,
    repetitions: int = 2,
    seed: int = 0,
    progress: Progress = silent,
) -> JudgingPlan:
    """Foretell what more topics, or more judgments a topic, would gain.

    The pilot are runs of all topics with judgments of some. A model fitted to it says what may be
    true; the judge chooses documents as if that were the truth; the model fitted to what it judged
    says how unsure it is.

    *Simulated judging.* A draw of the probabilities from the posterior, and relevance drawn by
    these, are the truth of S topics of the pilot. The judge gives every topic n judgments, from
    none, and the model is fitted to them: with V the variance of the difference in the mean over
    these S topics, as :func:`rtc_bayes.compare` states it, U(n) = S V is what unjudged documents
    leave on one topic. U(n) is a mean over repetitions, and made not to rise with n.

    *The topics of the runs* (``population=False``): all N count, T of which are judged, those of
    the pilot among them. U_t is that of a judged topic: U(n), but for topics of the pilot that get
    no judgment the pilot's own, and for the others the smaller of the two. U_0 is that of a topic
    without judgments, by the pilot's own fit. The difference has the variance
    (sum of U_t over judged topics + (N - T) U_0) / N^2, and is taken as normal.

    *Topics like these* (``population=True``): T judged topics are a sample, and others are left
    out. With B the variance of the true difference between topics, the difference has the
    variance (mean U_t + B) / T and Student's distribution with T - 1 degrees of freedom. By the
    pilot's posterior B = S^2 + W: S^2 is the sample variance of the expected differences of its T_0
    topics, and W = T_0 (mean v_t - V) / (T_0 - 1) what unsure relevance adds to it, v_t being the
    variance on topic t.

    *What pairs will say.* After a plan the expected difference of a pair is normal about that of
    the pilot, and its variance is what the plan takes off that of the pilot. Shares of pairs that
    have the confidence, or are in the right order, are means over this distribution.

    Assumed are: the model is right; topics to come are like those of the pilot, and as many
    documents of them pooled; what topics share, as the parameters of the model, is learned from the
    judgments of all of them, so that its part of V falls with 1 / T, too; no prior is put on
    differences of systems. docs/results/planning.md says how far this holds.

    Parameters
    ----------
    pool : Pool
        Of the systems to tell apart. Lists are read as deep as the estimand says, also while
        judging is simulated.
    judgments : Judgments or Qrels
        The pilot's.
    budget : float
        What may be spent beyond the pilot, at least the cost of one judgment. By default costs are
        counted in judgments.
    estimand : Estimand or measure, optional
        Documents are chosen for AP, whichever the measure: by one of few ranks a topic soon has
        none left to judge. With `population` its topics, "all" or "judged", are those that are
        judged.
    difference : float, above 0, below the highest score (1, but of DCG)
        Of mean scores, to be separated: where it is the expected difference, it has the confidence.
    confidence : float, in (0.5, 1)
        That confidence.
    population : bool
        Plan for the mean over topics like these. By default it is the mean over the topics of the
        runs, and no more topics than these can be judged. The pilot's row has a larger sd than
        :meth:`rtc_bayes.Comparison.with_population` gives: a plan adds W, what unsure relevance
        hides of the variance between topics, and the comparison subtracts it as noise.
    judgment_cost : float, above 0
        Of one judgment.
    topic_cost : float, at least 0
        Of a topic that the pilot does not judge, beside its judgments.
    judgments_per_topic : sequence of int, at least 1 each
        The numbers n to simulate, none above the number of documents of the largest topic, which
        stands for all that are.
    pair : (str, str), optional
        Plan for these two systems alone. Default: all pairs; sd is then a root mean square.
    algorithm : Algorithm, Judge, RelevanceModel or str
        Who chooses documents, and the model that is fitted. It takes a floor.
    repetitions : int, at least 1
        Of simulated judging, each of at most 20 topics of the pilot.
    seed : int, at least 0
    progress : callable
        Called as ``progress("simulated judgments", done, total)``, first with none done.

    Returns
    -------
    JudgingPlan

    Raises
    ------
    InputError
        A budget below one judgment, a measure with ``rel`` above 1, no judged topic (with
        `population` fewer than two), an unknown system, an algorithm without a model, a number out
        of range, or without `population` an estimand of judged topics.
    FitError
        A model's fit that must not be used.

    See Also
    --------
    rtc_bayes.design_table : For hold-out designs.
    rtc_bayes.forecast : How many more judgments one pair needs, on the pilot's topics.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=6, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=10)
    >>> pilot = rb.build(pool, data.qrels, "mtc/rtc:map", budget=12, floor=2).judgments
    >>> made = rb.plan(
    ...     pool, pilot, 24, algorithm="mtc/rtc:map", judgments_per_topic=[2, 4], repetitions=1
    ... )
    >>> list(made.to_frame().topics)
    [6, 6, 6]
    """
    about = Estimand.from_value(estimand)
    number = whole_number("repetitions", repetitions, least=1)
    depths = _check(budget, confidence, judgment_cost, topic_cost, judgments_per_topic)
    # lists are read as deep as the estimand says, in simulated judging, too
    _, pool = replace(about, topics="all").on(pool)
    _check_estimand(about, pool, difference, population=population)
    if not isinstance(about.topics, str):
        pool = pool.select_topics(about.topics)
    chosen = _with_floor(algorithm)
    judgments, documents = _over_pool(pool, judgments, about)
    depths = tuple(sorted({min(depth, int(documents.max())) for depth in depths}))
    numbers = None
    if pair is not None:
        numbers = pair_named(pool, pair, remedy="give two systems, as (A, B); or none, for all")
    counts = judgments.relevant + judgments.nonrelevant
    topics = _pilot_topics(pool, counts, least=2 if population else 1)
    # labels that are simulated have no grades, and so no level
    of_all = replace(about, topics="all", relevance_level=None, residual=0.0)
    pilot_seed, *seeds = spawn_seeds(seed, number + 1)
    judged_at_once = min(len(topics), MOST_TOPICS) * depths[-1]
    tell = partial(_tell, progress, number * judged_at_once)
    tell(0)
    assert chosen.evaluator is not None
    pilot = fit(judgments.pool, judgments, model=chosen.evaluator, seed=pilot_seed)
    by_pilot = _by_pilot(pilot, pool, topics, about, of_all, population=population)
    simulate = partial(unjudged_variance, pilot, pool, topics, chosen, of_all, depths)
    unjudged = _over_repetitions(simulate, seeds, judged_at_once, tell)
    by_level = replace(about, relevance_level=judgments.relevance_level)
    relevant = by_level.of_grades(judgments.highest_grade)
    rows = _rows(pool, numbers)
    apart = unlikeness(likeness(pool))[rows]
    sizes = zip(counts.astype(int).tolist(), documents.tolist(), strict=True)
    of_pilot_topics = sorted((of for of in sizes if of[0]), reverse=True)
    return JudgingPlan(
        a=tuple(by_pilot.a[row] for row in rows),
        b=tuple(by_pilot.b[row] for row in rows),
        measure=about.measure,
        algorithm=chosen.text,
        population=population,
        difference=float(difference),
        confidence=float(confidence),
        budget=float(budget),
        judgment_cost=float(judgment_cost),
        topic_cost=float(topic_cost),
        topics_of_runs=pool.n_topics,
        pilot=tuple(count for count, _ in of_pilot_topics),
        judgments_per_topic=depths,
        expected=by_pilot.expected[rows],
        between=by_pilot.between[rows],
        unjudged_pilot=by_pilot.unjudged[rows],
        unjudged=unjudged[:, rows],
        unjudged_none=by_pilot.unjudged_none[rows],
        residual=np.multiply.outer(about.residual_parts(pool.n_systems), apart),
        documents=tuple(size for _, size in of_pilot_topics),
        documents_elsewhere=tuple(documents[counts == 0].tolist()),
        meta=provenance(seed=seed)
        | {"about": about.text, "repetitions": number}
        | ({"relevant": relevant} if relevant else {}),
    )


def _over_pool(
    pool: Pool, judgments: Judgments | Qrels, about: Estimand
) -> tuple[Judgments, NDArray[np.int64]]:
    """Take the pilot's judgments over the documents that are judged, and count these by topic."""
    _, judged_pool = judged_about(replace(about, measure=defaults.MEASURE, topics="all"), pool)
    if isinstance(judgments, Qrels):
        judgments = about.judgments(judged_pool, judgments)
    documents = np.bincount(judged_pool.topic_of, minlength=judged_pool.n_topics)
    return judgments.on(judged_pool), documents


def _tell(progress: Progress, total: int, before: int, made: int = 0) -> None:
    """Say how many judgments are simulated: those of earlier repetitions, and of this one."""
    progress("simulated judgments", before + made, total)


def _over_repetitions(
    simulate: Callable[..., Floats],
    seeds: Sequence[int],
    judgments: int,
    tell: Callable[..., None],
) -> Floats:
    """Return the mean of what simulations leave, (judgments per topic, pairs), never rising.

    Parameters
    ----------
    simulate : callable
        :func:`unjudged_variance` of a seed.
    seeds : sequence of int
        One a repetition.
    judgments : int
        Of each repetition, at most.
    tell : callable
        As :func:`_tell`, from the judgments before on.
    """
    left = []
    for done, seed in enumerate(seeds):
        before = done * judgments
        left.append(simulate(seed=seed, judged=partial(tell, before)))
        tell(before + judgments)  # topics of fewer documents end sooner
    # what more judgments seem to add is noise
    falling: Floats = np.minimum.accumulate(np.mean(left, axis=0), axis=0)
    return falling


class _ByPilot(NamedTuple):
    """What the pilot's own fit says of each pair a, b; arrays of shape (pairs,).

    `expected` is the difference, `between` its B, `unjudged` what unjudged documents leave on a
    topic of the pilot, and `unjudged_none` U_0: the same of a topic without judgments.
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    expected: Floats
    between: Floats
    unjudged: Floats
    unjudged_none: Floats


def _by_pilot(
    pilot: Fit,
    pool: Pool,
    topics: Sequence[str],
    about: Estimand,
    of_all: Estimand,
    *,
    population: bool,
) -> _ByPilot:
    """Compare all pairs by the pilot's fit: on its topics, and on those of the runs."""
    on_judged = compared(pool, pilot, replace(about, topics=tuple(topics), residual=0.0))
    unjudged = len(topics) * on_judged.sd_difference**2
    expected, unjudged_none = on_judged.expected_difference, unjudged
    between = np.zeros_like(unjudged)
    if population:
        between = _between(on_judged)
    elif rest := pool.n_topics - len(topics):
        on_all = compared(pool, pilot, of_all)
        total = pool.n_topics**2 * on_all.sd_difference**2
        unjudged_none = np.maximum((total - len(topics) * unjudged) / rest, 0.0)
        expected = on_all.expected_difference
    return _ByPilot(on_judged.a, on_judged.b, expected, between, unjudged, unjudged_none)


def _between(comparison: Comparison) -> Floats:
    """Variance of the true difference of each pair between topics, by the posterior."""
    assert comparison.setting is not None
    expected, uncertainty = by_topic(comparison.setting)
    # on_judged has no residual
    unsure = noise_between(uncertainty, comparison.sd_difference**2)
    between: Floats = np.maximum(expected.var(axis=1, ddof=1) + unsure, 0.0)
    return between


def _rows(pool: Pool, numbers: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the pairs planned for: all, or that of two systems."""
    pairs = np.stack(all_pairs(pool.n_systems), axis=1)
    if numbers is None:
        return np.arange(len(pairs))
    return np.flatnonzero((pairs == np.sort(numbers[0])).all(axis=1))


def _check(
    budget: float,
    confidence: float,
    judgment_cost: float,
    topic_cost: float,
    judgments_per_topic: Sequence[int],
) -> tuple[int, ...]:
    """Refuse numbers out of range; return the judgments a topic, rising."""
    if not 0.5 < confidence < 1.0:
        raise InputError(
            f"confidence is {confidence}", remedy="give one above 0.5 and below 1, as 0.95"
        )
    if not 0.0 < judgment_cost < np.inf:
        raise InputError(f"judgment_cost is {judgment_cost}", remedy="give one above 0")
    if not 0.0 <= topic_cost < np.inf:
        raise InputError(f"topic_cost is {topic_cost}", remedy="give one of at least 0")
    if not judgment_cost <= budget < np.inf:
        raise InputError(
            f"the budget is {budget:g}, and one judgment costs {judgment_cost:g}",
            remedy="give a budget of at least one judgment",
        )
    depths = {whole_number("judgments_per_topic", each, least=1) for each in judgments_per_topic}
    if not depths:
        raise InputError("no judgments_per_topic", remedy="give some, as 4 and 16")
    return tuple(sorted(depths))


def _check_estimand(about: Estimand, pool: Pool, difference: float, *, population: bool) -> None:
    """Refuse a measure of grades, a difference that no scores have, and judged topics alone."""
    measure = parse_measure(about.measure)
    if measure.rel > 1:
        raise InputError(
            f"a plan simulates labels without grades, and {measure} asks for grades from "
            f"{measure.rel} on",
            remedy=f"plan for the measure without rel, at relevance level {measure.rel}",
        )
    highest = measure.highest(pool.score_depth)
    if not 0.0 < difference < highest:
        raise InputError(
            f"difference is {difference}",
            remedy=f"give one above 0 and below {highest:.3g}, the highest {about.measure}",
        )
    if about.topics == "judged" and not population:
        raise InputError(
            "a plan for judged topics alone would gain nothing from more topics",
            remedy="plan with population, for topics like these, or for all topics",
        )


def _with_floor(algorithm: Algorithm | Judge | RelevanceModel | str) -> Algorithm:
    """Return an algorithm; refuse one that cannot foretell or cannot judge topics alike."""
    chosen = parse_algorithm(algorithm)
    if chosen.evaluator is None:
        raise InputError(
            f"{chosen.text} has no model to foretell by",
            remedy="name one after the judge: mtc/robust:gibbs",
        )
    if not hasattr(chosen.judge, "floor"):
        raise InputError(
            f"{chosen.judge.name} has no floor, by which all topics get as many judgments",
            remedy="judge by mtc, as mtc/robust:gibbs, or by a model",
        )
    return chosen


def _pilot_topics(pool: Pool, counts: Floats, *, least: int) -> list[str]:
    """Return the topics with judgments; `counts` are the judgments of each topic."""
    topics = [topic for topic, count in zip(pool.topics, counts, strict=True) if count > 0]
    if len(topics) < least:
        what = counted(len(topics), "topic") if topics else "no topic"
        raise InputError(
            f"the pilot has judgments of {what}",
            remedy=f"judge {counted(least, 'topic')} or more, a few documents each",
        )
    return topics
