"""A calibration study: trials of one model, stopped and resumed at will, and what they add up to.

Each finished trial is a table file and an array file in ``DIR/trials``; everything else is made
from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.calibration.coverage import bias, coverage
from rtc_bayes.calibration.predictive import STATISTICS
from rtc_bayes.calibration.reliability import Predictions, reliability, score, scores_by
from rtc_bayes.calibration.trial import Trial, run_trial
from rtc_bayes.calibration.truth import Truth
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.errors import InputError
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.relevance import ModelSpec, RelevanceModel
from rtc_bayes.robustness.design import Collection, Design, MomentsRule
from rtc_bayes.robustness.running import (
    META,
    digest_runs,
    run_trials,
    study_folder,
    trial_path,
)
from rtc_bayes.robustness.scores import bootstrap_interval, score_pairs
from rtc_bayes.store import (
    Progress,
    atomic_path,
    provenance,
    read_json,
    silent,
    write_csv,
    write_json,
)
from rtc_bayes.workers import RunTrial

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = "calibration.json"
ALGORITHM = "rtc:map"
"""What makes the judgments unless said otherwise: the paper's."""

TABLES = (
    "trials",
    "pairs",
    "systems",
    "reliability",
    "relevance",
    "coverage",
    "bias",
    "checks",
)
_ROWS = ("systems", "pairs", "checks")
_OUTSIDE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationStudy:
    """What a calibration study found.

    Attributes
    ----------
    directory : Path
        Where it stands.
    trials : DataFrame
        trial, judged, relevant, reason, tau, and of models with a likelihood and draws the
        fields of :class:`~rtc_bayes.calibration.predictive.LeaveOneOut`.
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
        for a point estimate.
    summary : dict
        As in ``calibration.json``.
    meta : dict
        Provenance and the arguments of the study.
    """

    directory: Path
    trials: pd.DataFrame
    pairs: pd.DataFrame
    systems: pd.DataFrame
    reliability: pd.DataFrame
    relevance: pd.DataFrame
    coverage: pd.DataFrame
    bias: pd.DataFrame
    checks: pd.DataFrame
    summary: Mapping[str, Any]
    meta: Mapping[str, Any]

    @classmethod
    def load(cls, directory: str | Path) -> CalibrationStudy:
        """Read a finished study.

        Raises
        ------
        InputError
            The folder holds no finished study.
        """
        import pandas as pd

        folder = Path(directory)
        if not is_calibration(folder):
            raise InputError(
                "holds no finished calibration study",
                path=folder,
                remedy="run rtc-bayes calibrate -o here",
            )
        text = ("a", "b", "group", "name", "reason")
        tables = {}
        for name in TABLES:
            # a system may be called NA, and the second one of a score is empty
            table = pd.read_csv(
                folder / f"{name}.csv",
                dtype=dict.fromkeys(text, str),
                keep_default_na=False,
                na_values=[""],
            )
            tables[name] = table.fillna({column: "" for column in text if column in table})
        return cls(
            directory=folder,
            **tables,
            summary=read_json(folder / SUMMARY),
            meta=read_json(folder / META),
        )

    def __repr__(self) -> str:
        found = self.summary
        relevance, confidence = found["relevance"], found["confidence"]
        won = confidence["W"]
        return (
            f"CalibrationStudy({found['model']} by {found['method']}, {found['trials']} trials in "
            f"{self.directory})\n"
            f"  relevance: mean p {relevance['mean_p']:.3f} where {relevance['share']:.3f} is "
            f"relevant, Brier {relevance['brier']:.4f}, of it miscalibration "
            f"{relevance['miscalibration']:.4f}\n"
            f"  confidence: W {'none' if won is None else format(won, '.2f')}, "
            f"log score {confidence['log_score']:.3f}"
        )


def is_calibration(directory: str | Path) -> bool:
    """Whether a folder holds a finished calibration study."""
    return (Path(directory) / SUMMARY).is_file()


def calibrate(
    runs: Runs,
    qrels: Qrels,
    *,
    model: str | RelevanceModel | ModelSpec = defaults.MODEL,
    algorithm: str = ALGORITHM,
    trials: int = 20,
    systems: int = 10,
    initial: int = 2,
    jobs: int = 2,
    scheduler: str | None = None,
    moments: MomentsRule = "published",
    depth: int = 100,
    confidence: float = 0.95,
    relevance_level: int = 1,
    draws: int = 100,
    chains: int = 4,
    tune: int = 500,
    seed: int = 0,
    output: str | Path,
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> CalibrationStudy:
    """Hold a model's probabilities, intervals and confidences to the truth.

    Parameters
    ----------
    runs : Runs
        At least `systems` of them.
    qrels : Qrels
        Taken as complete: the truth.
    model : str, RelevanceModel or ModelSpec
        ``NAME[options]:METHOD`` or ``FILE.py[options]:METHOD``.
    algorithm : str
        What makes the judgments of a trial: a JUDGE as in
        :func:`rtc_bayes.judging.parse_algorithm`. Studies of the same seed and algorithm have
        the same judgments, whatever their model.
    trials, systems, initial, moments, depth, confidence, relevance_level, seed
        See :class:`~rtc_bayes.robustness.design.Design`.
    draws, chains, tune
        See :class:`~rtc_bayes.robustness.design.Design`.
    jobs : int
        Trials at a time; -1 for one on every core. It does not change the numbers.
    scheduler : str, optional
        ``dask://HOST:PORT``, of a Dask cluster that runs the trials instead of this machine's
        cores, as many at a time as it has workers. It does not change the numbers.
    output : str or Path
        A folder: made if absent; if it holds an unfinished study of the same arguments, that
        is finished.
    command : str, optional
        The command line, for the record; by default that of the process.
    inputs : mapping of str to str, optional
        Path as typed to digest, for the record.
    progress : Progress
        Called as trials finish.

    Returns
    -------
    CalibrationStudy

    Raises
    ------
    InputError
        An argument out of its range, a folder that holds a study of other arguments or that
        another process is at work in, or a scheduler that does not answer.
    FitError
        A fit that must not be used.
    UnfinishedError
        Workers were lost, memory ran out, or the disk is full; the same call goes on.
    """
    design = Design(
        algorithms=(algorithm,),
        trials=trials,
        systems=systems,
        initial=initial,
        moments=moments,
        depth=depth,
        confidence=confidence,
        relevance_level=relevance_level,
        draws=draws,
        chains=chains,
        tune=tune,
        seed=seed,
    )
    judge = parse_algorithm(algorithm)
    if not judge.has_confidence:
        raise InputError(
            f"{algorithm} has no confidence that could end its judging",
            remedy="judge by mtc or by a model",
        )
    if len(runs) < systems:
        raise InputError(
            f"a trial takes {systems} systems, of {len(runs)}", remedy="give more runs"
        )
    spec, folder = ModelSpec.parse(model), Path(output)
    files = [found for found in (judge.model, spec) if found and found.digest]
    meta = {
        **provenance(command, seed, inputs),
        "study": {**design.to_dict(), "model": spec.text, "method": spec.resolved_method},
        "moments": {spec.text: design.moments_of(spec)},
        "models": {found.name: found.digest for found in files},
        "runs": digest_runs(runs),
        "qrels": qrels.digest,
    }

    def prepare() -> RunTrial:
        collection = Collection.from_runs(runs, qrels, depth=depth, relevance_level=relevance_level)
        truth = Truth.of(collection, relevance_level=relevance_level)
        return partial(run_trial, collection, truth, design, spec)

    with study_folder(folder, design, meta):
        run_trials(
            folder,
            design,
            prepare,
            _store,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )
        return _finish(folder, design, meta)


def _store(found: Trial, folder: Path, trial: int) -> None:
    predictions = found.predictions
    arrays = {field.name: getattr(predictions, field.name) for field in fields(predictions)}
    arrays["p"] = arrays["p"].astype(np.float32)
    with atomic_path(trial_path(folder, trial, "npz")) as temporary:
        np.savez_compressed(temporary, **arrays)
    rows = {name: getattr(found, name).to_dict("list") for name in _ROWS}
    # last: its presence says that the trial is stored
    write_json({"trial": trial, "facts": found.facts, **rows}, trial_path(folder, trial))


def _finish(folder: Path, design: Design, meta: Mapping[str, Any]) -> CalibrationStudy:
    """Make the tables and the summary from the stored trials."""
    import pandas as pd

    stored = [read_json(trial_path(folder, trial)) for trial in range(design.trials)]
    tables = {
        name: pd.concat(
            [pd.DataFrame({"trial": found["trial"], **found[name]}) for found in stored],
            ignore_index=True,
        )
        for name in _ROWS
    }
    tables["trials"] = pd.DataFrame(
        [{"trial": found["trial"], **found["facts"]} for found in stored]
    )
    predictions = Predictions.joined(
        [_load_predictions(trial_path(folder, trial, "npz")) for trial in range(design.trials)]
    )
    tables["reliability"] = reliability(predictions)
    overall = score(predictions)
    by = [pd.DataFrame([{"by": "all", "group": "all", **vars(overall)}])]
    for grouping in ("rank", "seen", "topic"):
        found = scores_by(predictions, grouping)
        found.insert(0, "by", grouping)
        by.append(found)
    tables["relevance"] = pd.concat(by, ignore_index=True)
    tables["coverage"] = coverage(tables["systems"], seed=design.seed)
    tables["bias"] = bias(tables["systems"], seed=design.seed)
    study = meta["study"]
    summary = {
        "model": study["model"],
        "method": study["method"],
        "algorithm": next(iter(design.parsed)),
        "moments": meta["moments"][study["model"]],
        "trials": design.trials,
        "median_judged": float(tables["trials"]["judged"].median()),
        "mean_judged": float(tables["trials"]["judged"].mean()),
        "relevance": vars(overall),
        "confidence": score_pairs(tables["pairs"], seed=design.seed).to_dict(),
        **_tau(tables["trials"], design.seed),
        "coverage": _records(tables["coverage"]),
        "bias": _records(tables["bias"]),
        "checks": _records(_summarise_checks(tables["checks"])),
        "leave_one_out": _summarise_loo(tables["trials"]),
    }
    for name in TABLES:
        write_csv(tables[name], folder / f"{name}.csv", meta)
    # last: its presence says that the study is finished
    write_json(summary, folder / SUMMARY)
    return CalibrationStudy(folder, **tables, summary=summary, meta=meta)


def _load_predictions(path: Path) -> Predictions:
    with np.load(path) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    return Predictions(**found | {"p": found["p"].astype(np.float64)})


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
    if "elpd" not in trials:
        return None
    judged = trials["judgments"].sum()
    return {
        "log_score": float(-trials["elpd"].sum() / judged),
        "unreliable_share": float(trials["unreliable"].sum() / judged),
        "worst_pareto_k": float(trials["worst_pareto_k"].max()),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON holds them, undefined numbers as None."""
    return [
        {key: None if value != value else value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]
