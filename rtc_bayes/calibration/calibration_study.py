"""A calibration study: all that one model says, held to the truth over trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.calibration.coverage import TRUTHS, against_truth, bias, coverage
from rtc_bayes.calibration.predictive import (
    FEWEST_DRAWS,
    STATISTICS,
    LeaveOneOut,
    check_predictions,
    leave_one_out,
    says_labels,
)
from rtc_bayes.calibration.reliability import (
    Grouping,
    Predictions,
    ReliabilityScores,
    reliability,
    score,
    scores_by,
)
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.errors import InputError
from rtc_bayes.judging import Algorithm
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.estimand import EstimandLike
from rtc_bayes.relevance import Draws, ModelSpec, RelevanceModel, is_sampler
from rtc_bayes.robustness.robustness_study import MOVED
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import rows_of, spawn_seeds
from rtc_bayes.store.shown import counted
from rtc_bayes.trials.complete import Collection, Truth
from rtc_bayes.trials.kind import (
    Arrays,
    Kind,
    StudyResult,
    Tables,
    ended_without_judgment,
    failed_fits,
    without_judgment,
)
from rtc_bayes.trials.plan import MomentsRule, Plan
from rtc_bayes.trials.running import run_study
from rtc_bayes.trials.schema import columns
from rtc_bayes.trials.scores import bootstrap_interval, score_pairs
from rtc_bayes.trials.trial import Outcome
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

_OUTSIDE = 0.05
_GROUPINGS: tuple[Grouping, ...] = ("rank", "seen", "topic")


def _names(scores: type[LeaveOneOut | ReliabilityScores]) -> str:
    return " ".join(field.name for field in fields(scores))


def _each_truth(names: str) -> str:
    return " ".join(names.format(truth) for truth in TRUTHS)


class CalibrationStudy(StudyResult):
    """A finished calibration study.

    Attributes
    ----------
    directory : Path
        Where it stands.
    trials : DataFrame
        trial, judged, relevant, reason, tau; of models with a likelihood and draws the fields of
        :class:`~rtc_bayes.calibration.predictive.LeaveOneOut`, else undefined; remarks (of the
        fit), failure (why a fit must not be used; then the trial is in no other table).
    pairs : DataFrame
        trial, a, b, confidence, correct, initial.
    systems : DataFrame
        trial, and what :func:`~rtc_bayes.calibration.coverage.against_truth` gives.
    reliability : DataFrame
        The curve of all unjudged documents of all trials:
        :func:`~rtc_bayes.calibration.reliability.reliability`.
    relevance : DataFrame
        by (``all``, ``rank``, ``seen``, ``topic``), and what
        :func:`~rtc_bayes.calibration.reliability.scores_by` gives.
    coverage, bias : DataFrame
        Of :func:`~rtc_bayes.calibration.coverage.coverage` and
        :func:`~rtc_bayes.calibration.coverage.bias`.
    checks : DataFrame
        trial, and what :func:`~rtc_bayes.calibration.predictive.check_predictions` gives; empty
        for a point estimate, and without the trials in which the model gives judged documents
        their labels for probabilities.
    summary : dict
        As in ``calibration.json``.
    meta : dict
        Provenance and the arguments of the study.

    Examples
    --------
    >>> from rtc_bayes.calibration import CalibrationStudy
    >>> CalibrationStudy.load("study").coverage  # doctest: +SKIP
    """

    trials: pd.DataFrame
    pairs: pd.DataFrame
    systems: pd.DataFrame
    reliability: pd.DataFrame
    relevance: pd.DataFrame
    coverage: pd.DataFrame
    bias: pd.DataFrame
    checks: pd.DataFrame

    @property
    def unjudged(self) -> int:
        """How many trials ended with no judgment at all."""
        return int(without_judgment(self.trials).sum())

    @property
    def unjudged_text(self) -> str:
        """How many trials ended with no judgment at all, and why; empty where none did."""
        return ended_without_judgment(self.trials)

    @property
    def unchecked(self) -> int:
        """In how many trials the draws were the labels of the judged documents themselves."""
        if not is_sampler(self.summary["method"]):
            return 0
        fitted = self.trials[self.trials["failure"].isna() & (self.trials["judged"] > 0)]
        return len(set(fitted["trial"]) - set(self.checks["trial"]))

    @property
    def unchecked_text(self) -> str | None:
        """Why predictive checks of some trials are withheld; None where none are."""
        if not self.unchecked:
            return None
        return (
            f"predictive checks of {counted(self.unchecked, 'trial')} are withheld: the model "
            "gives judged documents their labels for probabilities, which says nothing of what "
            "else they could have been"
        )

    def __repr__(self) -> str:
        summary = self.summary
        model, method = summary["model"], summary["method"]
        trials = counted(summary["trials"], "trial")
        lines = [
            f"CalibrationStudy({model.removesuffix(f':{method}')} by {method}, {trials} in "
            f"{self.directory})"
        ]
        if self.relevant_text:
            lines.append(f"  {self.relevant_text}")
        if summary.get("failed"):
            lines.append(f"  {failed_fits(self.trials)}")
        if self.unjudged_text:
            lines.append(f"  {self.unjudged_text}")
        if self.unchecked_text:
            lines.append(f"  {self.unchecked_text}")
        relevance, confidence = summary["relevance"], summary["confidence"]
        if relevance is not None:
            lines.append(
                f"  relevance: mean p {relevance['mean_p']:.3f} where {relevance['share']:.3f} is "
                f"relevant, Brier {relevance['brier']:.4f}, of it miscalibration "
                f"{relevance['miscalibration']:.4f}"
            )
        if confidence["W"] is not None:
            lines.append(
                f"  confidence: W {confidence['W']:.2f}, log score {confidence['log_score']:.3f}"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Calibration(Kind[CalibrationStudy]):
    """A model's probabilities, intervals and confidences, by judgments that another model made.

    Attributes
    ----------
    model : ModelSpec
        What is held to the truth.
    """

    model: ModelSpec

    name = "calibration"
    summary_file = "calibration.json"
    result = CalibrationStudy
    page = "rtc_bayes.report.calibration_page:calibration_page"
    tables: ClassVar = {
        "trials": columns(
            f"trial:int judged:int relevant reason:str tau {_names(LeaveOneOut)} remarks:int "
            "missing:int failure:str?"
        ),
        "pairs": columns("trial:int a:str b:str confidence correct:int initial:int"),
        "systems": columns(
            f"trial:int quantity:str a:str b:str expected sd {_each_truth('{0} pit_{0}')}"
        ),
        "checks": columns("trial:int statistic:str name:str observed mean sd tail"),
    }
    derived: ClassVar = {
        "reliability": columns("p share low high documents:int"),
        "relevance": columns(f"by:str group:str {_names(ReliabilityScores)}"),
        "coverage": columns(f"quantity:str level n:int {_each_truth('{0} {0}_low {0}_high')}"),
        "bias": columns("quantity:str truth:str bias bias_low bias_high rmse mean_sd"),
    }

    def algorithms(self, plan: Plan) -> Mapping[str, Algorithm]:
        """Let the plan's algorithm judge, and the model evaluate."""
        return {text: replace(a, evaluator=self.model) for text, a in plan.parsed.items()}

    def relevant(self, plan: Plan, highest: float) -> str:
        """Say it whatever the measure: probabilities are of relevance."""
        return counted_grades(highest, plan.estimand.relevance_level or 1)

    def arguments(self, plan: Plan) -> dict[str, Any]:
        """Return what meta.json holds, with the model and its method."""
        arguments = super().arguments(plan)
        model = {"model": self.model.text, "method": self.model.resolved_method}
        return arguments | {
            "study": arguments["study"] | model,
            "moments": {self.model.text: plan.moments_of(self.model)},
        }

    def rows(self, outcome: Outcome, collection: Collection) -> Tables:
        """Return a row of the trial, and rows of its pairs, systems and predictive checks."""
        import pandas as pd

        facts: dict[str, Any] = {
            "judged": outcome.judged,
            "reason": outcome.reason,
            "missing": outcome.missing,
            "failure": outcome.failure,
        }
        if outcome.comparison is None or outcome.judgments is None:
            return {"trials": pd.DataFrame([facts])}
        truth = dict(zip(outcome.draw.everyone, outcome.truth.tolist(), strict=True))
        scores = dict(zip(TRUTHS, (collection.pool_truth, truth), strict=True))
        facts |= {
            "relevant": float(outcome.judgments.relevant.sum()),
            "tau": outcome.tau,
            "remarks": outcome.remarks,
        }
        tables = {
            "systems": against_truth(outcome.comparison, scores),
            "pairs": outcome.unequal_pairs(),
        }
        # nothing can be checked of a point estimate, or of the labels themselves
        if (
            isinstance(outcome.estimate, Draws)
            and outcome.judgments.n_judged
            and not says_labels(outcome.judgments, outcome.estimate)
        ):
            _, checking = spawn_seeds(outcome.draw.checking_seed, 2)
            tables["checks"] = check_predictions(outcome.judgments, outcome.estimate, seed=checking)
            model = self.model.build()
            # no judgment can be left out of a composite
            if hasattr(model, "graph") and len(outcome.estimate.values) >= FEWEST_DRAWS:
                facts |= asdict(leave_one_out(model, outcome.judgments, outcome.estimate))
        return {"trials": pd.DataFrame([facts]), **tables}

    def arrays(self, outcome: Outcome, collection: Collection) -> Arrays:
        """Return the predictions of the unjudged documents."""
        if outcome.relevance is None or outcome.judgments is None:
            return {}
        replicating, _ = spawn_seeds(outcome.draw.checking_seed, 2)
        predictions = Predictions.from_judgments(
            outcome.judgments,
            outcome.relevance.values,
            collection.labels(outcome.judgments.pool),
            seed=replicating,
        )
        arrays = {field.name: getattr(predictions, field.name) for field in fields(predictions)}
        return {**arrays, "p": arrays["p"].astype(np.float32)}

    def summarise(
        self, tables: Tables, arrays: Sequence[Arrays], plan: Plan
    ) -> tuple[Tables, Mapping[str, Any]]:
        """Score probabilities of relevance, intervals and confidences."""
        import pandas as pd

        trials = tables["trials"]
        fitted = trials[trials["failure"].isna()]
        derived = {name: pd.DataFrame() for name in self.derived}
        overall = None
        if len(fitted):
            derived["coverage"] = coverage(tables["systems"], seed=plan.seed)
            derived["bias"] = bias(tables["systems"], seed=plan.seed)
            predictions = Predictions.joined([_predictions(part) for part in arrays if part])
            # trials may have judged all there was
            if len(predictions):
                overall = vars(score(predictions))
                groups = [pd.DataFrame([{"group": "all", **overall}]).assign(by="all")]
                groups += [scores_by(predictions, by).assign(by=by) for by in _GROUPINGS]
                derived["reliability"] = reliability(predictions)
                derived["relevance"] = pd.concat(groups, ignore_index=True)
        return derived, {
            "model": self.model.text,
            "method": self.model.resolved_method,
            "algorithm": next(iter(plan.parsed)),
            "moments": plan.moments_of(self.model),
            "trials": plan.trials,
            "failed": len(trials) - len(fitted),
            "median_judged": float(fitted["judged"].median()) if len(fitted) else None,
            "mean_judged": float(fitted["judged"].mean()) if len(fitted) else None,
            "relevance": overall,
            "confidence": score_pairs(tables["pairs"], seed=plan.seed).to_dict(),
            **_tau(fitted, plan.seed),
            "coverage": rows_of(derived["coverage"]),
            "bias": rows_of(derived["bias"]),
            "checks": rows_of(_summarise_checks(tables["checks"])),
            "leave_one_out": _summarise_loo(fitted),
        }


@explains_types
@moved(**MOVED)
def calibrate(
    runs: Runs,
    qrels: Qrels,
    *,
    model: str | Path | RelevanceModel | ModelSpec = defaults.MODEL,
    method: str | None = None,
    options: Mapping[str, object] | None = None,
    algorithm: str | Algorithm = defaults.CALIBRATION_JUDGE,
    estimand: EstimandLike = None,
    trials: int = defaults.CALIBRATION_TRIALS,
    n_systems: int = defaults.SYSTEMS,
    n_initial: int = defaults.INITIAL,
    truth: Truth = "all",
    pad: bool = False,
    moments: MomentsRule = "published",
    confidence: float = defaults.CONFIDENCE,
    budget: int | None = None,
    draws: int | None = None,
    chains: int | None = None,
    tune: int | None = None,
    seed: int = 0,
    output: str | Path,
    workers: Workers | None = None,
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> CalibrationStudy:
    """Check a model's probabilities, intervals and confidences against complete judgments.

    Parameters
    ----------
    runs : Runs
        At least `n_systems` of them.
    qrels : Qrels
        Taken as complete: the truth.
    model, method, options
        As of :func:`rtc_bayes.fit`: ``NAME[options]:METHOD`` or ``FILE.py[options]:METHOD``, or a
        model itself.
    algorithm : str or Algorithm
        What makes the judgments of a trial: a JUDGE as in
        :func:`rtc_bayes.judging.parse_algorithm`. Studies of the same seed and algorithm have
        the same judgments, whatever their model.
    estimand : Estimand or str, optional
        What is compared: a measure, of lists how deep, over which topics. Default: AP.
    truth, pad, trials, n_systems, n_initial, moments, confidence, draws, chains, tune, seed
        See :class:`rtc_bayes.trials.Plan`.
    budget : int, optional
        Judgments of a trial, whatever the confidence.
    output, workers, command, inputs
        See :func:`rtc_bayes.trials.run_study`.

    Returns
    -------
    CalibrationStudy

    Raises
    ------
    InputError, UnfinishedError
        An argument out of its range; or as of :func:`rtc_bayes.trials.run_study`.

    Examples
    --------
    >>> import tempfile, rtc_bayes as rb
    >>> from rtc_bayes.calibration import calibrate
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = calibrate(
    ...         made.runs,
    ...         made.qrels,
    ...         model="rtc:map",
    ...         estimand=rb.Estimand(depth=10),
    ...         trials=2,
    ...         n_systems=3,
    ...         output=folder,
    ...         workers=rb.Workers(jobs=1),
    ...     )
    >>> done.summary["trials"], done.summary["failed"]
    (2, 0)
    """
    plan = Plan(
        algorithms=(algorithm,),
        trials=trials,
        n_systems=n_systems,
        n_initial=n_initial,
        truth=truth,
        pad=pad,
        moments=moments,
        estimand=Estimand.from_value(estimand),
        confidence=confidence,
        budgets=() if budget is None else (whole_number("budget", budget, least=1),),
        draws=draws,
        chains=chains,
        tune=tune,
        seed=seed,
    )
    if budget is None and not all(judge.has_confidence for judge in plan.parsed.values()):
        raise InputError(
            f"{next(iter(plan.parsed))} has no confidence that could end its judging",
            remedy="judge by mtc or by a model, or give a budget",
        )
    spec = ModelSpec.parse(model, method, options)
    plan.check_draws([spec])
    return run_study(
        Calibration(spec),
        runs,
        qrels,
        plan,
        output=output,
        workers=workers,
        command=command,
        inputs=inputs,
    )


def _predictions(arrays: Arrays) -> Predictions:
    return Predictions(**{**arrays, "p": arrays["p"].astype(np.float64)})


def _tau(trials: pd.DataFrame, seed: int) -> dict[str, Any]:
    ranked = trials.dropna(subset=["tau"])
    return {
        "mean_tau": float(ranked["tau"].mean()) if len(ranked) else None,
        "tau_interval": list(bootstrap_interval(ranked["tau"], ranked["trial"], seed=seed))
        if len(ranked) > 1
        else None,
    }


def _summarise_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Count, for each statistic, the checks whose observed value is in a tail of 5%."""
    import pandas as pd

    if checks.empty:
        return pd.DataFrame()
    low, high = checks["tail"] < _OUTSIDE, checks["tail"] > 1.0 - _OUTSIDE
    rows = []
    for statistic in STATISTICS:
        mine = checks["statistic"] == statistic
        rows.append(
            {
                "statistic": statistic,
                "checks": int(mine.sum()),
                "share_low": float(low[mine].mean()),
                "share_high": float(high[mine].mean()),
            }
        )
    return pd.DataFrame(rows)


def _summarise_loo(trials: pd.DataFrame) -> dict[str, float] | None:
    left = trials.dropna(subset=["elpd"])
    if left.empty:
        return None
    judged = left["judgments"].sum()
    return {
        "log_score": float(-left["elpd"].sum() / judged),
        "unreliable_share": float(left["unreliable"].sum() / judged),
        "worst_pareto_k": float(left["worst_pareto_k"].max()),
    }
