"""One trial: judge a few systems, then compare many by those judgments alone.

Carterette 2007, section 4.3: pick k systems at random and c of them to judge for; judge to a
confidence; with no further judgment, estimate relevance in all that the k retrieved, and
predict every pair. Every algorithm of a trial sees the same systems.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool, Relevance
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.confidence import Comparison, compare
from rtc_bayes.errors import FitError, FitWarning
from rtc_bayes.judging import Algorithm, Judge, JudgingResult, build, parse_algorithm
from rtc_bayes.judging.weights import weighed_by_or_ap
from rtc_bayes.measures import Sample
from rtc_bayes.measures.names import parse_measure
from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.relevance import Draws, ModelSpec, estimate, with_labels
from rtc_bayes.relevance.interface import PointEstimate
from rtc_bayes.trials.complete import Collection, scores_by
from rtc_bayes.trials.drawing import Draw, draw_systems
from rtc_bayes.trials.plan import Plan
from rtc_bayes.trials.scores import kendall_tau
from rtc_bayes.trials.without_model import Estimates, check_topics, estimates_by
from rtc_bayes.workers import ALONE, one_thread

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]

FAILED = "failed fit"
"""The reason of a trial in which a fit must not be used."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What an algorithm says of the systems of a trial.

    Attributes
    ----------
    expected, sd : ndarray of float, shape (systems,)
        Of the estimand's score; sd contains the error that all scores share, and is NaN where the
        algorithm has none.
    expected_difference, sd_difference : ndarray of float, shape (pairs,)
        Of the first system's less the second's; sd does not contain the error that all scores
        share, and is NaN where the algorithm has none.
    sd_shared : ndarray of float, shape (pairs,)
        Of the error that all scores share (:attr:`rtc_bayes.Pair.sd_shared`); 0 if there is none.
    sign : ndarray of float, shape (pairs,)
        Of the first system's less the second's: -1, 0 or 1.
    confidence : ndarray of float, shape (pairs,)
        In the sign, in [0.5, 1]; NaN where the algorithm has none.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection, Plan, outcomes
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("mtc",), n_systems=3, estimand=rb.Estimand(depth=10), budgets=(5,))
    >>> collection = Collection.from_runs(made.runs, made.qrels, plan.estimand)
    >>> (outcome,) = outcomes(collection, plan, seed=1)
    >>> outcome.prediction.expected.shape, outcome.prediction.sign.shape
    ((3,), (3,))
    """

    expected: Floats
    sd: Floats
    expected_difference: Floats
    sd_difference: Floats
    sd_shared: Floats
    sign: Floats
    confidence: Floats

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> Prediction:
        """Take what a comparison says."""
        none = np.zeros(len(comparison.expected_difference))
        return cls(
            comparison.expected,
            comparison.sd,
            comparison.expected_difference,
            comparison.sd_difference,
            none if comparison.sd_shared is None else comparison.sd_shared,
            np.sign(without_rounding(comparison.p_greater - comparison.p_less)),
            comparison.confidence,
        )

    @classmethod
    def from_estimates(cls, estimates: Estimates) -> Prediction:
        """Take what an evaluator without a model says."""
        pairs = estimates.pairs
        return cls(
            estimates.expected,
            estimates.sd,
            pairs.difference,
            pairs.sd,
            np.zeros(len(pairs.difference)),
            np.sign(pairs.difference),
            pairs.confidence,
        )

    @classmethod
    def unjudged_nonrelevant(cls, judgments: Judgments, collection: Collection) -> Prediction:
        """Score the lists as they are, what is not judged being nonrelevant; without confidence."""
        scores, differences = scores_by(judgments, collection.estimand)
        differences = without_rounding(differences)
        no_score, no_pair = np.full(len(scores), np.nan), np.full(len(differences), np.nan)
        none = np.zeros(len(differences))
        return cls(scores, no_score, differences, no_pair, none, np.sign(differences), no_pair)


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What an algorithm made of a trial, and the truth; None is what a failed fit left unknown.

    Attributes
    ----------
    label : str
        The algorithm as typed, with ``at N`` for a budget of N judgments.
    draw : Draw
    pool : Pool
        Of all systems of the trial.
    truth : ndarray of float, shape (systems,)
    judging : JudgingResult or None
    judgments : Judgments or None
        Those compared by, over the pool and what it lacks of them: with a budget, the first ones.
    confidence : float or None
        Of judging, in the initial systems, when these judgments were made.
    estimate : PointEstimate or Draws or None
        The evaluator's probabilities of relevance, of judged documents too. None where no model
        evaluates.
    relevance : Relevance or None
        The same, judged documents with their labels.
    comparison : Comparison or None
        None where no model evaluates.
    prediction : Prediction or None
    seconds_judging, seconds_evaluating : float or None
    failure : str or None
        Why a fit must not be used; None if it may.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection, Plan, outcomes
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("mtc",), n_systems=3, estimand=rb.Estimand(depth=10), budgets=(5,))
    >>> collection = Collection.from_runs(made.runs, made.qrels, plan.estimand)
    >>> (outcome,) = outcomes(collection, plan, seed=1)
    >>> outcome
    Outcome(mtc at 5: 5 judged, budget)
    >>> list(outcome.systems_frame().columns)
    ['system', 'expected', 'sd', 'true', 'judged_for']
    """

    label: str
    draw: Draw
    pool: Pool
    truth: Floats
    judging: JudgingResult | None = None
    judgments: Judgments | None = None
    confidence: float | None = None
    estimate: PointEstimate | Draws | None = None
    relevance: Relevance | None = None
    comparison: Comparison | None = None
    prediction: Prediction | None = None
    seconds_judging: float | None = None
    seconds_evaluating: float | None = None
    failure: str | None = None

    @property
    def judged(self) -> int | None:
        """The number of judgments."""
        return None if self.judgments is None else self.judgments.n_judged

    @property
    def missing(self) -> int | None:
        """How many of the judged documents the truth has no judgment of."""
        if self.judging is None or self.judgments is None:
            return None
        lacking = self.judgments.pool.locate_pairs(self.judging.missing)
        # with a budget, judging went on after these judgments
        return int(self.judgments.judged[lacking].sum())

    @property
    def reason(self) -> str:
        """Why judging ended, or that a fit failed."""
        return FAILED if self.judging is None or self.failure else self.judging.reason

    @property
    def remarks(self) -> int:
        """Checks of the evaluating fit that passed with a remark."""
        return 0 if self.estimate is None else len(self.estimate.diagnostics.warnings)

    @property
    def tau(self) -> float | None:
        """Kendall's correlation of expected and true scores; None where one is constant."""
        return (
            None if self.prediction is None else kendall_tau(self.prediction.expected, self.truth)
        )

    def systems_frame(self) -> pd.DataFrame:
        """Return a row for each system: system, expected, sd, true, judged_for (bool).

        sd is of the score, and contains the error that all scores share.
        """
        import pandas as pd

        prediction = self._made()
        return pd.DataFrame(
            {
                "system": self.draw.everyone,
                "expected": prediction.expected,
                "sd": prediction.sd,
                "true": self.truth,
                "judged_for": np.isin(self.draw.everyone, self.draw.initial),
            }
        )

    def pairs_frame(self) -> pd.DataFrame:
        """Return a row for each pair, the first system less the second.

        Returns
        -------
        DataFrame
            a, b, confidence (NaN: none), correct (1 if the predicted sign is right, 0 if not, NaN
            where the two are truly equal), initial (how many of the two were judged for), overlap
            (mean share of documents that both retrieved), imbalance (judged documents in the list
            that has more of them, over those in one plus those in the other; 0.5 if none is),
            expected_difference, sd (of the difference, without the error that all scores share),
            sd_shared (of that error, which intervals hold too: :attr:`rtc_bayes.Pair.interval`),
            true_difference.
        """
        import pandas as pd

        prediction, names = self._made(), np.array(self.draw.everyone, dtype=object)
        first, second = all_pairs(len(names))
        true = self.truth[first] - self.truth[second]
        judged_for = np.isin(self.draw.everyone, self.draw.initial).astype(int)
        right = (prediction.sign == np.sign(true)).astype(float)
        return pd.DataFrame(
            {
                "a": names[first],
                "b": names[second],
                "confidence": prediction.confidence,
                "correct": np.where(true == 0.0, np.nan, right),
                "initial": judged_for[first] + judged_for[second],
                "overlap": self.pool.overlap()[first, second],
                "imbalance": self._imbalance(first, second),
                "expected_difference": prediction.expected_difference,
                "sd": prediction.sd_difference,
                "sd_shared": prediction.sd_shared,
                "true_difference": true,
            }
        )

    def unequal_pairs(self) -> pd.DataFrame:
        """Return the rows of :meth:`pairs_frame` that count in scores: `correct` is 0 or 1."""
        return self.pairs_frame().dropna(subset="correct").astype({"correct": int})

    def _imbalance(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Return the larger list's share of the judged documents in two lists, over topics."""
        assert self.judgments is not None
        pool = self.judgments.pool
        held = pool.entries.system[self.judgments.judged[pool.ranked]]
        judged = np.bincount(held, minlength=pool.n_systems)
        both = judged[first] + judged[second]
        return np.maximum(judged[first], judged[second]).clip(0.5) / both.clip(1)

    def judgments_frame(self) -> pd.DataFrame:
        """Return a row for each topic: topic, judged, relevant (numbers of documents)."""
        assert self.judgments is not None
        return self.judgments.topics_frame()

    def _made(self) -> Prediction:
        if self.prediction is None:
            raise FitError(f"{self.label} predicts nothing: {self.failure}")
        return self.prediction

    def __repr__(self) -> str:
        return f"Outcome({self.label}: {self.judged} judged, {self.reason})"


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Hold linear algebra to one thread, and keep back the remarks of fits, which are counted.

    So numbers do not depend on how many trials run at a time, and worker processes write nothing.

    Examples
    --------
    >>> import warnings, rtc_bayes as rb
    >>> from rtc_bayes.trials import quietly
    >>> with quietly():
    ...     warnings.warn("an R-hat of 1.02", rb.FitWarning)
    """
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        yield


def outcomes(
    collection: Collection,
    plan: Plan,
    seed: int,
    algorithms: Mapping[str, Algorithm] | None = None,
    *,
    trial: int = 0,
) -> Iterator[Outcome]:
    """Run one trial: yield what every algorithm, and budget, makes of it.

    A fit that must not be used is recorded, and the next algorithm has its turn.

    Parameters
    ----------
    collection : Collection
        Of the plan's estimand.
    plan : Plan
    seed : int
        Of the trial.
    algorithms : mapping of str to Algorithm, optional
        By their text; by default those of the plan.
    trial : int, at least 0
        Its number. Where groups are left out, it says which: see :func:`draw_systems`.

    Yields
    ------
    Outcome

    Raises
    ------
    InputError
        One topic, and an algorithm that takes topics as a sample of topics.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.trials import Collection, Plan, outcomes
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("ip", "mtc"), n_systems=3, estimand=rb.Estimand(depth=10), budgets=(5,))
    >>> collection = Collection.from_runs(made.runs, made.qrels, plan.estimand)
    >>> for outcome in outcomes(collection, plan, seed=1):
    ...     print(outcome)
    Outcome(ip at 5: 5 judged, budget)
    Outcome(mtc at 5: 5 judged, budget)
    """
    algorithms = plan.parsed if algorithms is None else algorithms
    for algorithm in algorithms.values():
        if algorithm.unjudged is not None:
            check_topics(algorithm.unjudged, collection.pool.n_topics)
    systems = collection.pool.systems
    draw = draw_systems(systems, plan, seed, groups=collection.groups, trial=trial)
    one = _Trial(collection, plan, draw)
    for text, algorithm in algorithms.items():
        yield from one.outcomes(text, algorithm)


class _Trial:
    """The state of one trial: what its algorithms share."""

    def __init__(self, collection: Collection, plan: Plan, draw: Draw) -> None:
        self._collection = collection
        self._plan = plan
        self._draw = draw
        self._pool = collection.pool.select(self._draw.everyone)
        self._judging_pool = collection.pool.select(self._draw.initial)
        self._truth = collection.truth_of(self._draw.everyone)
        # by judge: algorithms that differ only in their evaluator share their judgments
        self._built: dict[Judge, tuple[JudgingResult, float]] = {}

    def outcomes(self, text: str, algorithm: Algorithm) -> Iterator[Outcome]:
        for label, budget in self._plan.labels_of(text):
            blank = Outcome(label, self._draw, self._pool, self._truth)
            try:
                judging, seconds = self._judge(algorithm)
            except FitError as error:
                yield replace(blank, failure=str(error))
                continue
            first = _first(judging.judgments, budget)
            judged = replace(
                blank,
                judging=judging,
                judgments=first.on(self._pool),
                confidence=_confidence_at(judging, first.n_judged),
                seconds_judging=seconds,
            )
            try:
                yield self._evaluate(algorithm, judged, first)
            except FitError as error:
                yield replace(judged, failure=str(error))

    def _judge(self, algorithm: Algorithm) -> tuple[JudgingResult, float]:
        """Judge for the initial systems; return the judgments and the seconds they took."""
        key = algorithm.judge
        if key not in self._built:
            plan = self._plan
            budget = max(plan.budgets, default=None)
            if not algorithm.has_confidence and budget is None:
                # without a confidence, as incremental pooling: as many judgments as MTC took
                budget = self._judge(parse_algorithm("mtc"))[0].judgments.n_judged
            ends = algorithm.has_confidence and not plan.budgets
            started = time.perf_counter()
            result = build(
                self._judging_pool,
                self._collection.qrels,
                algorithm,
                confidence=plan.confidence if ends else None,
                budget=budget,
                # documents are chosen over all topics
                estimand=replace(
                    plan.estimand, measure=weighed_by_or_ap(plan.estimand.measure), topics="all"
                ),
                seed=self._draw.judging_seed,
            )
            self._built[key] = result, time.perf_counter() - started
        return self._built[key]

    def _evaluate(self, algorithm: Algorithm, judged: Outcome, judgments: Judgments) -> Outcome:
        """Predict every system and pair of the trial from the judgments."""
        started = time.perf_counter()
        on_pool = judgments.on(self._pool)
        spec = algorithm.evaluator
        if algorithm.unjudged is not None:
            estimates = estimates_by(
                algorithm.unjudged,
                on_pool,
                self._collection.estimand,
                sample=self._sample(algorithm, judgments, on_pool.pool),
                seed=self._draw.evaluating_seed,
            )
            made = replace(judged, prediction=Prediction.from_estimates(estimates))
        elif spec is None:
            made = replace(
                judged, prediction=Prediction.unjudged_nonrelevant(on_pool, self._collection)
            )
        else:
            seed = self._draw.evaluating_seed
            sampling = self._plan.sampling_of(spec, seed)
            unlabelled = estimate(spec.build(), spec.method, on_pool, sampling, labelled=False)
            relevance = _labelled(unlabelled, on_pool, spec)
            comparison = self._compare(relevance, spec)
            made = replace(
                judged,
                estimate=unlabelled,
                relevance=relevance,
                comparison=comparison,
                prediction=Prediction.from_comparison(comparison),
            )
        return replace(made, seconds_evaluating=time.perf_counter() - started)

    def _sample(self, algorithm: Algorithm, judgments: Judgments, pool: Pool) -> Sample | None:
        """Return judgments with their inclusion probabilities, by a judge that knows them."""
        if not hasattr(algorithm.judge, "sample"):
            return None
        sample: Sample = algorithm.judge.sample(judgments, seed=self._draw.judging_seed)
        return sample.on(pool)

    def _compare(self, relevance: Relevance, spec: ModelSpec) -> Comparison:
        moments = self._plan.moments_of(spec)
        left_to_us = moments == "exact" and self._plan.moments == "published"
        measure = parse_measure(self._collection.estimand.measure)
        by_grade = measure.graded and relevance.grades is not None
        left_to_us |= by_grade or not measure.has_moments
        return compare(
            self._pool,
            relevance,
            self._collection.estimand,
            moments="auto" if left_to_us else moments,
            seed=self._draw.evaluating_seed,
            workers=ALONE,
        )


def _first(judgments: Judgments, budget: int | None) -> Judgments:
    """Return the first judgments made; all of them where there is no budget."""
    if budget is None or budget >= judgments.n_judged:
        return judgments
    return judgments.keep(judgments.order[:budget])


def _confidence_at(judging: JudgingResult, judged: int) -> float | None:
    """Return how sure judging was after so many judgments."""
    return judging.steps[judged].confidence if judged < len(judging.steps) else judging.confidence


def _labelled(
    unlabelled: PointEstimate | Draws, judgments: Judgments, spec: ModelSpec
) -> Relevance:
    """Return the probabilities, judged documents with their labels."""
    return Relevance.from_values(
        judgments.pool,
        with_labels(unlabelled, judgments).p,
        model=spec.name,
        method=spec.resolved_method,
        grades=judgments.grade_distribution(),
    )
