"""One trial: judge for a few systems, fit a model, and hold all that it says to the truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from rtc_bayes.calibration.coverage import TRUTHS, against_truth
from rtc_bayes.calibration.predictive import COLUMNS, check_predictions, leave_one_out
from rtc_bayes.calibration.reliability import Predictions
from rtc_bayes.calibration.truth import Truth
from rtc_bayes.collection import Judgments, Relevance
from rtc_bayes.confidence import Comparison, compare
from rtc_bayes.errors import FitError
from rtc_bayes.judging import build
from rtc_bayes.measures import Estimand
from rtc_bayes.relevance import Draws, ModelSpec, Sampling, estimate
from rtc_bayes.robustness.design import Collection, Design
from rtc_bayes.robustness.significance import kendall_tau
from rtc_bayes.robustness.trial import draw_systems
from rtc_bayes.store import spawn_seeds

if TYPE_CHECKING:
    from rtc_bayes.relevance.interface import PointEstimate


@dataclass(frozen=True, eq=False)
class Trial:
    """What a trial found.

    Attributes
    ----------
    facts : dict
        judged, reason, tau; of draws with a known likelihood the fields of
        :class:`~rtc_bayes.calibration.predictive.LeaveOneOut`.
    systems : DataFrame
        Scores and differences beside the truth:
        :func:`~rtc_bayes.calibration.coverage.against_truth`.
    pairs : DataFrame
        a, b, confidence, correct (0 or 1), initial (how many of the two were judged for); pairs
        that are truly equal are left out.
    checks : DataFrame
        Of :func:`~rtc_bayes.calibration.predictive.check_predictions`; empty for a point estimate.
    predictions : Predictions
        Of the unjudged documents.
    """

    facts: dict[str, object]
    systems: pd.DataFrame
    pairs: pd.DataFrame
    checks: pd.DataFrame
    predictions: Predictions


def run_trial(
    collection: Collection,
    truth: Truth,
    design: Design,
    model: ModelSpec,
    trial: int,
    seed: int,
) -> Trial:
    """Run one trial; linear algebra is held to one thread.

    Parameters
    ----------
    collection : Collection
    truth : Truth
        Of the collection.
    design : Design
        Its one algorithm makes the judgments. A trial of the same seed has the same systems and
        judgments whatever the model.
    model : ModelSpec
        What is held to the truth.
    trial : int
        Its number, from 0.
    seed : int
        Its seed.

    Raises
    ------
    FitError
        A fit that must not be used; the message names the trial.
    """
    draw = draw_systems(collection.pool.systems, design, seed)
    with threadpool_limits(1):
        try:
            built = build(
                collection.pool.select(draw.initial),
                collection.qrels,
                design.algorithms[0],
                confidence=design.confidence,
                estimand=Estimand(relevance_level=design.relevance_level),
                seed=draw.judging_seed,
            )
            judgments = built.judgments.on(collection.pool.select(draw.everyone))
            found = estimate(
                model.build(),
                model.method,
                judgments,
                Sampling(design.draws, design.chains, design.tune, draw.evaluating_seed),
                labelled=False,
            )
        except FitError as error:
            raise FitError(f"trial {trial}, {model.text}: {error}") from error
        relevance = _relevance(model, judgments, found)
        comparison = compare(
            judgments.pool,
            relevance,
            moments=design.moments_of(model),
            seed=draw.evaluating_seed,
        )
        replicating, checking = spawn_seeds(draw.evaluating_seed, 2)
        predictive = _predictive(model, judgments, found, checking)
        scores = {name: {s: truth.scores[name][s] for s in draw.everyone} for name in TRUTHS}
        whole = scores["whole_list"]
        return Trial(
            facts={
                "judged": judgments.n_judged,
                "relevant": float(judgments.relevant.sum()),
                "reason": built.reason,
                "tau": kendall_tau(comparison.expected, [whole[s] for s in comparison.systems]),
                **predictive[1],
            },
            systems=against_truth(comparison, scores),
            pairs=_pairs(comparison, whole, draw.initial),
            checks=predictive[0],
            predictions=Predictions.of(
                judgments, relevance.values, truth.labels(judgments.pool), seed=replicating
            ),
        )


def _relevance(model: ModelSpec, judgments: Judgments, found: PointEstimate | Draws) -> Relevance:
    """Return the probabilities, judged documents with their labels."""
    p = found.p.copy()
    p[..., judgments.order] = judgments.labels[judgments.order]
    return Relevance.from_values(judgments.pool, p, model=model.name, method=model.resolved_method)


def _predictive(
    model: ModelSpec, judgments: Judgments, found: PointEstimate | Draws, seed: int
) -> tuple[pd.DataFrame, dict[str, object]]:
    """Check what can be checked: nothing of a point estimate, no leaving out of a composite."""
    if not isinstance(found, Draws) or not judgments.n_judged:
        return pd.DataFrame(columns=list(COLUMNS)), {}
    checks = check_predictions(judgments, found, seed=seed)
    built = model.build()
    if not hasattr(built, "graph"):
        return checks, {}
    return checks, asdict(leave_one_out(built, judgments, found))


def _pairs(
    comparison: Comparison, truth: dict[str, float], initial: tuple[str, ...]
) -> pd.DataFrame:
    predicted = np.sign(comparison.p_greater - comparison.p_less)
    first, second = list(comparison.a), list(comparison.b)
    true = np.sign([truth[a] - truth[b] for a, b in zip(first, second, strict=True)])
    frame = pd.DataFrame(
        {
            "a": first,
            "b": second,
            "confidence": comparison.confidence,
            "correct": (predicted == true).astype(int),
            "initial": np.isin(first, initial).astype(int) + np.isin(second, initial),
        }
    )
    return frame[true != 0]
