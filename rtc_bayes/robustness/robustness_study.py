"""A robustness study: whether judgments made for a few systems compare many.

Carterette 2007, sections 4.3 and 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.confidence import Comparison
from rtc_bayes.judging import AlgorithmLike
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.estimand import EstimandLike
from rtc_bayes.robustness.breakdown import (
    break_down,
    by_imbalance,
    by_initial_imbalance,
    by_judged,
    by_original,
    by_overlap,
    score_row,
)
from rtc_bayes.robustness.significance import compare_algorithms
from rtc_bayes.signatures import explains_types, moved
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
from rtc_bayes.trials.scores import summarise
from rtc_bayes.trials.trial import Outcome
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

MOVED = {
    **{
        name: f"write estimand=Estimand({name}=...)"
        for name in ("depth", "score_depth", "relevance_level", "unseen", "residual")
    },
    **{name: f"write workers=Workers({name}=...)" for name in ("jobs", "scheduler", "progress")},
    **{name: f"write n_{name}" for name in ("systems", "initial")},
}
"""Keywords of before, and what to write now."""


class Study(StudyResult):
    """A finished robustness study.

    Attributes
    ----------
    directory : Path
        Where it stands.
    trials, pairs, systems, judgments : DataFrame
        The tables of :class:`Robustness`.
    summary : dict of str to dict
        By algorithm, as in ``summary.json``: the fields of
        :class:`rtc_bayes.trials.scores.Summary`.
    meta : dict
        Provenance and the arguments of the study.

    Examples
    --------
    >>> from rtc_bayes.robustness import Study
    >>> Study.load("study").pairs  # doctest: +SKIP
    """

    trials: pd.DataFrame
    pairs: pd.DataFrame
    systems: pd.DataFrame
    judgments: pd.DataFrame

    @property
    def succeeded(self) -> pd.DataFrame:
        """The rows of `trials` whose fits did not fail."""
        return self.trials[self.trials["failure"].isna()]

    @property
    def unjudged(self) -> pd.Series[int]:
        """How many trials of an algorithm ended with no judgment at all, where any did."""
        ended = without_judgment(self.trials)
        return self.trials.loc[ended, "algorithm"].value_counts(sort=False)

    def by_original(self) -> pd.DataFrame:
        """Score pairs of two, one and no system judged for: see :func:`break_down`."""
        return self._break_down(by_original(self.pairs))

    def by_overlap(self) -> pd.DataFrame:
        """Score pairs by the share of documents that both retrieved: see :func:`break_down`."""
        return self._break_down(by_overlap(self.pairs))

    def by_judged(self) -> pd.DataFrame:
        """Score pairs by the judgments of their trial: see :func:`break_down`."""
        return self._break_down(by_judged(self.pairs, self.succeeded))

    def by_imbalance(self) -> pd.DataFrame:
        """Score pairs by how much more one list is judged than the other: :func:`break_down`."""
        return self._break_down(by_imbalance(self.pairs))

    def by_initial_imbalance(self) -> pd.DataFrame:
        """Score pairs by that of their trial's initial systems: see :func:`break_down`."""
        return self._break_down(by_initial_imbalance(self.pairs))

    def _break_down(self, group: pd.Series) -> pd.DataFrame:
        return break_down(self.pairs, group, seed=self.meta["study"]["seed"])

    def tests(self) -> pd.DataFrame:
        """Test the algorithms against each other: see :func:`compare_algorithms`."""
        return compare_algorithms(self.succeeded)

    def __repr__(self) -> str:
        lines = [f"Study({counted(self.trials['trial'].nunique(), 'trial')} in {self.directory})"]
        if self.relevant_text:
            lines.append(f"  {self.relevant_text}")
        for algorithm, entry in self.summary.items():
            scores = [
                f"{name} {entry[key]:.3g}"
                for name, key in (("W", "W"), ("accuracy", "accuracy"), ("tau", "mean_tau"))
                if entry[key] is not None
            ]
            if entry["median_judged"] is not None:
                scores.append(f"median judged {entry['median_judged']:g}")
            said = [", ".join(scores)] if scores else []
            rows = self.trials[self.trials["algorithm"] == algorithm]
            if entry.get("failed"):
                said.append(failed_fits(rows))
            if ended := ended_without_judgment(rows):
                said.append(ended)
            lines.append(f"  {algorithm}: {'; '.join(said)}")
        return "\n".join(lines)


class Robustness(Kind[Study]):
    """Confidences by judgments made for a few systems, held to the true signs of all pairs.

    In ``trials``, `missing` counts judgments that the truth lacked, `remarks` checks of the
    evaluating fit that passed with a remark; `parameter_share` is the mean over pairs of the share
    of the variance that comes from unknown parameters, 0 for a point estimate; `failure` says why a
    fit must not be used, and is null if it may; `left_out` is the group of the systems that are not
    judged for, if the plan leaves groups out. A trial that failed has null for what is not known,
    and no pairs and systems.

    Differences are those of the first system's mean of the measure less the second's, with `sd` the
    standard deviation of the expected one. Pairs that are truly equal are left out.
    """

    name = "robustness"
    result = Study
    page = "rtc_bayes.report.study_page:study_page"
    tables: ClassVar = {
        "trials": columns(
            "trial:int algorithm:str judged:int reason:str confidence tau seconds_judging "
            "seconds_evaluating missing:int remarks:int parameter_share failure:str? left_out:str?"
        ),
        "pairs": columns(
            "trial:int algorithm:str a:str b:str confidence correct:int initial:int overlap "
            "imbalance expected_difference sd sd_shared true_difference"
        ),
        "systems": columns("trial:int algorithm:str system:str expected sd true"),
        "judgments": columns("trial:int algorithm:str topic:str judged:int relevant:int"),
    }

    def rows(self, outcome: Outcome, collection: Collection) -> Tables:
        """Return a row of the trial, and rows of its pairs, systems and topics."""
        import pandas as pd

        facts: dict[str, Any] = {
            "judged": outcome.judged,
            "reason": outcome.reason,
            "seconds_judging": outcome.seconds_judging,
            "missing": outcome.missing,
            "failure": outcome.failure,
            "left_out": outcome.draw.left_out,
        }
        tables = {}
        if outcome.judging is not None:
            tables["judgments"] = outcome.judgments_frame()
        if outcome.prediction is not None:
            facts |= {
                "confidence": outcome.confidence,
                "tau": outcome.tau,
                "seconds_evaluating": outcome.seconds_evaluating,
                "remarks": outcome.remarks,
                "parameter_share": _parameter_share(outcome.comparison),
            }
            tables |= {"pairs": outcome.unequal_pairs(), "systems": outcome.systems_frame()}
        return {"trials": pd.DataFrame([facts]), **tables}

    def summarise(
        self, tables: Tables, arrays: Sequence[Arrays], plan: Plan
    ) -> tuple[Tables, Mapping[str, Any]]:
        """Score the confidences of every algorithm."""
        trials, pairs = tables["trials"], tables["pairs"]
        return {}, {
            label: summarise(
                trials[trials["algorithm"] == label],
                pairs[pairs["algorithm"] == label],
                seed=plan.seed,
            ).to_dict()
            for label in plan.labels
        }


@explains_types
@moved(**MOVED, budget="write budgets=[...], the value in a list")
def study(
    runs: Runs,
    qrels: Qrels,
    *,
    algorithms: str | Sequence[AlgorithmLike],
    estimand: EstimandLike = None,
    trials: int = defaults.TRIALS,
    n_systems: int = defaults.SYSTEMS,
    n_initial: int = defaults.INITIAL,
    leave_out: str | Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    truth: Truth = "all",
    pad: bool = False,
    moments: MomentsRule = "published",
    confidence: float = defaults.CONFIDENCE,
    budgets: Sequence[int] = (),
    draws: int | None = None,
    chains: int | None = None,
    tune: int | None = None,
    seed: int = 0,
    output: str | Path,
    workers: Workers | None = None,
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Study:
    """Can judgments made for a few systems compare many? (Carterette 2007, sections 4.3-4.4).

    Parameters
    ----------
    runs : Runs
        At least `n_systems` of them, or `n_initial` beside each group that is left out.
    qrels : Qrels
        Taken as complete: the truth.
    algorithms : str or sequence of str, judge, model, pair of judge and evaluator, or Algorithm
        In the grammar ``JUDGE[/EVALUATOR]``: ``ip``, ``mtc``, ``rtc:map``; in one text with commas
        between. Objects are as of :func:`rtc_bayes.judging.parse_algorithm`, and ``("rtc:map",
        MyModel())`` evaluates by an object what ``rtc:map`` judges; a pair alone stands in a list.
    estimand : Estimand or str, optional
        What is compared: a measure, of lists how deep, over which topics. Default: AP.
    truth, pad, trials, n_systems, n_initial, leave_out, moments, confidence, budgets
        See :class:`rtc_bayes.trials.Plan`.
    draws, chains, tune, seed
        See :class:`rtc_bayes.trials.Plan`.
    groups, output, workers, command, inputs
        See :func:`rtc_bayes.trials.run_study`. The groups go with `leave_out`.

    Returns
    -------
    Study

    Raises
    ------
    InputError, UnfinishedError
        An argument out of its range; or as of :func:`rtc_bayes.trials.run_study`.

    Examples
    --------
    >>> import tempfile, rtc_bayes as rb
    >>> from rtc_bayes.robustness import study
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = study(
    ...         made.runs,
    ...         made.qrels,
    ...         algorithms=["mtc"],
    ...         estimand=rb.Estimand(depth=10),
    ...         trials=2,
    ...         n_systems=3,
    ...         output=folder,
    ...         workers=rb.Workers(jobs=1),
    ...     )
    >>> done.trials["judged"].tolist()
    [40, 13]

    Leave one group out: judge for systems of other groups, compare with those of the group.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = study(
    ...         made.runs,
    ...         made.qrels,
    ...         algorithms="mtc",
    ...         estimand=rb.Estimand(depth=10),
    ...         trials=2,
    ...         n_systems=3,
    ...         leave_out="groups",
    ...         groups=dict(zip(made.runs.systems, "AABB")),
    ...         output=folder,
    ...         workers=rb.Workers(jobs=1),
    ...     )
    >>> done.trials["left_out"].tolist()
    ['A', 'B']
    """
    plan = Plan(
        algorithms=algorithms,
        trials=trials,
        n_systems=n_systems,
        n_initial=n_initial,
        leave_out=leave_out,
        truth=truth,
        pad=pad,
        moments=moments,
        estimand=Estimand.from_value(estimand),
        confidence=confidence,
        budgets=budgets,
        draws=draws,
        chains=chains,
        tune=tune,
        seed=seed,
    )
    plan.check_draws(a.evaluator for a in plan.parsed.values() if a.evaluator is not None)
    return run_study(
        Robustness(),
        runs,
        qrels,
        plan,
        groups=groups,
        output=output,
        workers=workers,
        command=command,
        inputs=inputs,
    )


def side_by_side(studies: Mapping[str, Study]) -> pd.DataFrame:
    """Set several studies side by side, one for each collection (Carterette 2007, Table 5).

    Parameters
    ----------
    studies : mapping of str to Study
        By the name of the collection.

    Returns
    -------
    DataFrame
        One row for each study and algorithm: collection, algorithm, trials, failed, what
        :func:`~rtc_bayes.robustness.breakdown.score_row` gives, median_judged, mean_judged,
        mean_tau.

    Examples
    --------
    >>> from rtc_bayes.robustness import Study, side_by_side
    >>> side_by_side({"TREC-8": Study.load("study")})  # doctest: +SKIP
    """
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "collection": name,
                "algorithm": algorithm,
                "trials": entry["trials"],
                "failed": entry.get("failed", 0),
                **score_row(entry),
                **{key: entry[key] for key in ("median_judged", "mean_judged", "mean_tau")},
            }
            for name, each in studies.items()
            for algorithm, entry in each.summary.items()
        ]
    )


def _parameter_share(comparison: Comparison | None) -> float:
    """Average the share of the parameters over pairs that have a variance."""
    if comparison is None:
        return np.nan
    total = comparison.variance_unjudged + comparison.variance_parameters
    unknown = total > 0.0
    if not unknown.any():
        return np.nan
    return float((comparison.variance_parameters[unknown] / total[unknown]).mean())
