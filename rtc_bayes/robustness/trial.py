"""One trial: judge a few systems, then compare many by those judgments alone.

Carterette 2007, section 4.3: pick k systems at random and c of them to judge for; judge to a
confidence; with no further judgment, estimate relevance in all that the k retrieved, and
predict every pair. Every algorithm of a trial sees the same systems.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rtc_bayes.collection import Judgments
from rtc_bayes.confidence import Comparison, compare
from rtc_bayes.errors import FitError, FitWarning
from rtc_bayes.judging import Algorithm, Judge, JudgingResult, build, parse_algorithm
from rtc_bayes.measures import Estimand, moments
from rtc_bayes.relevance import fit
from rtc_bayes.robustness.design import Collection, Design
from rtc_bayes.robustness.significance import kendall_tau
from rtc_bayes.store import spawn_seeds

type Row = dict[str, object]
type Rows = dict[str, list[Row]]

COLUMNS = {
    "trials": (
        "trial",
        "algorithm",
        "judged",
        "reason",
        "confidence",
        "tau",
        "seconds_judging",
        "seconds_evaluating",
        "missing",
        "remarks",
        "parameter_share",
        "failure",
    ),
    "pairs": (
        "trial",
        "algorithm",
        "a",
        "b",
        "confidence",
        "correct",
        "initial",
        "overlap",
        "expected_difference",
        "sd",
        "true_difference",
    ),
    "systems": ("trial", "algorithm", "system", "expected", "sd", "true"),
    "judgments": ("trial", "algorithm", "topic", "judged", "relevant"),
}
"""The tables of a study, and their columns.

`missing` counts judgments that the truth lacked, `remarks` checks of the evaluating fit that
passed with a remark; `parameter_share` is the mean over pairs of the share of the variance that
comes from unknown parameters, 0 for a point estimate; `failure` says why a fit must not be used,
and is null if it may. A trial that failed has null for what is not known, and no pairs and systems.

Differences are those of the first system's mean average precision less the second's, with `sd` the
standard deviation of the expected one.
"""

FAILED = "failed fit"
"""The reason of a trial in which a fit must not be used."""

_UNKNOWN: Row = dict.fromkeys(COLUMNS["trials"][2:])


@dataclass(frozen=True)
class Draw:
    """The systems of a trial.

    Attributes
    ----------
    everyone : tuple of str
        Those compared, in the pool's order.
    initial : tuple of str
        Those judged for, in the pool's order.
    judging_seed, evaluating_seed : int
        The same for every algorithm.
    """

    everyone: tuple[str, ...]
    initial: tuple[str, ...]
    judging_seed: int
    evaluating_seed: int


def draw_systems(systems: tuple[str, ...], design: Design, seed: int) -> Draw:
    """Pick the systems of a trial at random.

    Parameters
    ----------
    systems : tuple of str
        At least as many as the design asks for.
    design : Design
    seed : int
        Of the trial.
    """
    choosing, judging, evaluating = spawn_seeds(seed, 3)
    picked = np.random.default_rng(choosing).choice(
        len(systems), size=design.systems, replace=False
    )
    return Draw(
        everyone=tuple(systems[i] for i in sorted(picked)),
        initial=tuple(systems[i] for i in sorted(picked[: design.initial])),
        judging_seed=judging,
        evaluating_seed=evaluating,
    )


@dataclass(frozen=True, eq=False)
class Prediction:
    """What an algorithm says of the systems of a trial.

    Attributes
    ----------
    expected, sd : ndarray of float, shape (systems,)
        Of mean average precision; sd NaN where the algorithm has none.
    expected_difference, sd_difference : ndarray of float, shape (pairs,)
        Of the first system's less the second's; sd NaN where the algorithm has none.
    sign : ndarray of float, shape (pairs,)
        Of the first system's less the second's: -1, 0 or 1.
    confidence : ndarray of float, shape (pairs,)
        In the sign, in [0.5, 1]; NaN where the algorithm has none.
    remarks : int
        Checks of the fit that passed with a remark.
    parameter_share : float
        Mean over pairs of the share of the variance that comes from unknown parameters.
    """

    expected: NDArray[np.float64]
    sd: NDArray[np.float64]
    expected_difference: NDArray[np.float64]
    sd_difference: NDArray[np.float64]
    sign: NDArray[np.float64]
    confidence: NDArray[np.float64]
    remarks: int = 0
    parameter_share: float = np.nan


def run_trial(collection: Collection, design: Design, trial: int, seed: int) -> Rows:
    """Run one trial of every algorithm.

    Linear algebra is held to one thread, so that the numbers do not depend on the number of jobs.
    A fit that must not be used is recorded, and the next algorithm has its turn.

    Parameters
    ----------
    collection : Collection
    design : Design
    trial : int
        Its number, from 0.
    seed : int
        Its seed.

    Returns
    -------
    dict of str to list of dict
        Rows of each of :data:`COLUMNS`' tables.
    """
    with threadpool_limits(1):
        return _Trial(collection, design, trial, seed).run()


class _Trial:
    """The state of one trial: what its algorithms share."""

    def __init__(self, collection: Collection, design: Design, trial: int, seed: int) -> None:
        self._collection = collection
        self._design = design
        self._number = trial
        self._draw = draw_systems(collection.pool.systems, design, seed)
        self._pool = collection.pool.select(self._draw.everyone)
        self._judging_pool = collection.pool.select(self._draw.initial)
        self._truth = collection.truth_of(self._draw.everyone)
        # by judge: algorithms that differ only in their evaluator share their judgments
        self._built: dict[Judge, tuple[JudgingResult, float]] = {}

    def run(self) -> Rows:
        rows: Rows = {table: [] for table in COLUMNS}
        for text, algorithm in self._design.parsed.items():
            for table, new in self._run(algorithm).items():
                rows[table].extend({"trial": self._number, "algorithm": text, **row} for row in new)
        return rows

    def _run(self, algorithm: Algorithm) -> Rows:
        try:
            result, judging_seconds = self._judge(algorithm)
        except FitError as error:
            return {"trials": [_failed(error)]}
        judged: Row = {
            "judged": result.judgments.n_judged,
            "missing": len(result.missing),
            "seconds_judging": judging_seconds,
        }
        judgments = _judgment_rows(result.judgments)
        started = time.perf_counter()
        try:
            prediction = self._predict(algorithm, result.judgments)
        except FitError as error:
            return {"trials": [_failed(error) | judged], "judgments": judgments}
        found: Row = {
            "reason": result.reason,
            "confidence": result.confidence,
            "tau": kendall_tau(prediction.expected, self._truth),
            "seconds_evaluating": time.perf_counter() - started,
            "remarks": prediction.remarks,
            "parameter_share": _number(prediction.parameter_share),
        }
        return {
            "trials": [_UNKNOWN | judged | found],
            "pairs": self._pair_rows(prediction),
            "systems": self._system_rows(prediction),
            "judgments": judgments,
        }

    def _judge(self, algorithm: Algorithm) -> tuple[JudgingResult, float]:
        """Judge for the initial systems; return the judgments and the seconds they took."""
        key = algorithm.judge
        if key not in self._built:
            # incremental pooling knows no confidence: it takes as many judgments as MTC did
            budget = None
            if not algorithm.has_confidence:
                budget = self._judge(parse_algorithm("mtc"))[0].judgments.n_judged
            started = time.perf_counter()
            result = build(
                self._judging_pool,
                self._collection.qrels,
                algorithm,
                confidence=self._design.confidence,
                budget=budget,
                estimand=Estimand(relevance_level=self._design.relevance_level),
                seed=self._draw.judging_seed,
            )
            self._built[key] = result, time.perf_counter() - started
        return self._built[key]

    def _predict(self, algorithm: Algorithm, judgments: Judgments) -> Prediction:
        """Predict every system and pair of the trial from the judgments."""
        if algorithm.evaluator is None:
            return _unjudged_nonrelevant(judgments.on(self._pool))
        draws, chains, tune = self._design.sampling_of(algorithm.evaluator)
        with warnings.catch_warnings():
            # counted instead
            warnings.simplefilter("ignore", FitWarning)
            fitted = fit(
                self._pool,
                judgments,
                model=algorithm.evaluator,
                draws=draws,
                chains=chains,
                tune=tune,
                seed=self._draw.evaluating_seed,
            )
        comparison = compare(
            self._pool,
            fitted.relevance,
            moments=self._design.moments_of(algorithm.evaluator),
            estimand=Estimand(unseen=self._design.unseen, residual=self._design.residual),
            seed=self._draw.evaluating_seed,
        )
        return Prediction(
            expected=comparison.expected,
            sd=comparison.sd,
            expected_difference=comparison.expected_difference,
            sd_difference=comparison.sd_difference,
            sign=np.sign(comparison.p_greater - comparison.p_less),
            confidence=comparison.confidence,
            remarks=len(fitted.diagnostics.warnings),
            parameter_share=_parameter_share(comparison),
        )

    def _pair_rows(self, prediction: Prediction) -> list[Row]:
        """One row for each pair whose true values differ."""
        first, second = np.triu_indices(len(self._draw.everyone), 1)
        truth = self._truth[first] - self._truth[second]
        overlap = self._pool.overlap()
        judged_for = np.isin(self._draw.everyone, self._draw.initial).astype(int)
        return [
            {
                "a": self._draw.everyone[a],
                "b": self._draw.everyone[b],
                "confidence": _number(prediction.confidence[n]),
                "correct": int(prediction.sign[n] == np.sign(truth[n])),
                "initial": int(judged_for[a] + judged_for[b]),
                "overlap": float(overlap[a, b]),
                "expected_difference": float(prediction.expected_difference[n]),
                "sd": _number(prediction.sd_difference[n]),
                "true_difference": float(truth[n]),
            }
            for n, (a, b) in enumerate(zip(first, second, strict=True))
            if truth[n] != 0.0
        ]

    def _system_rows(self, prediction: Prediction) -> list[Row]:
        return [
            {
                "system": system,
                "expected": float(prediction.expected[s]),
                "sd": _number(prediction.sd[s]),
                "true": float(self._truth[s]),
            }
            for s, system in enumerate(self._draw.everyone)
        ]


def _failed(error: FitError) -> Row:
    """Return the row of a trial of which nothing else is known."""
    return _UNKNOWN | {"reason": FAILED, "failure": str(error)}


def _unjudged_nonrelevant(judgments: Judgments) -> Prediction:
    """Average precision of the lists as scored, what is not judged being nonrelevant."""
    pool = judgments.pool
    labels = np.nan_to_num(judgments.labels, nan=0.0)
    found = moments(pool, labels)
    return Prediction(
        expected=found.mean_expected[0],
        sd=np.full(pool.n_systems, np.nan),
        expected_difference=found.difference_expected[0],
        sd_difference=np.full(len(found.pairs), np.nan),
        sign=np.sign(found.difference_expected[0]),
        confidence=np.full(len(found.pairs), np.nan),
    )


def _parameter_share(comparison: Comparison) -> float:
    """Average the share of the parameters over pairs that have a variance."""
    total = comparison.variance_unjudged + comparison.variance_parameters
    unknown = total > 0.0
    if not unknown.any():
        return np.nan
    return float((comparison.variance_parameters[unknown] / total[unknown]).mean())


def _judgment_rows(judgments: Judgments) -> list[Row]:
    relevant, nonrelevant = judgments.relevant, judgments.nonrelevant
    return [
        {
            "topic": topic,
            "judged": round(relevant[t] + nonrelevant[t]),
            "relevant": round(relevant[t]),
        }
        for t, topic in enumerate(judgments.pool.topics)
    ]


def _number(value: float) -> float | None:
    """Return a number as JSON holds it: None where it is undefined."""
    return None if np.isnan(value) else float(value)
