"""A study: many trials of several algorithms, on all cores, stopped and resumed at will.

Each finished trial is one file in ``DIR/trials``; the tables and the summary are made from these
files alone. So a study that is interrupted goes on where it stopped, and gives the same numbers as
one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.errors import InputError
from rtc_bayes.judging import Algorithm, Judge
from rtc_bayes.relevance import RelevanceModel
from rtc_bayes.robustness.breakdown import break_down, by_judged, by_original, by_overlap
from rtc_bayes.robustness.design import Collection, Design, MomentsRule
from rtc_bayes.robustness.running import (
    META,
    digest_runs,
    run_trials,
    study_folder,
    trial_path,
)
from rtc_bayes.robustness.scores import summarise
from rtc_bayes.robustness.significance import compare_algorithms
from rtc_bayes.robustness.trial import COLUMNS, run_trial
from rtc_bayes.store import (
    Progress,
    provenance,
    read_json,
    silent,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = "summary.json"

_TEXT = dict.fromkeys(("algorithm", "a", "b", "system", "topic", "reason", "failure"), str)


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """What a study found.

    Attributes
    ----------
    directory : Path
        Where it stands.
    trials, pairs, systems, judgments : DataFrame
        The tables of :data:`rtc_bayes.robustness.trial.COLUMNS`.
    summary : dict of str to dict
        By algorithm, as in ``summary.json``: the fields of
        :class:`rtc_bayes.robustness.scores.Summary`.
    meta : dict
        Provenance and the arguments of the study.
    """

    directory: Path
    trials: pd.DataFrame
    pairs: pd.DataFrame
    systems: pd.DataFrame
    judgments: pd.DataFrame
    summary: Mapping[str, Mapping[str, Any]]
    meta: Mapping[str, Any]

    @classmethod
    def load(cls, directory: str | Path) -> Study:
        """Read a finished study.

        Raises
        ------
        InputError
            The folder holds no finished study.
        """
        import pandas as pd

        folder = Path(directory)
        if not (folder / SUMMARY).is_file():
            raise InputError(
                "holds no finished study", path=folder, remedy="run rtc-bayes robustness -o here"
            )
        tables = {
            # a system may be called NA; a study finished by an earlier version may lack columns
            name: pd.read_csv(
                folder / f"{name}.csv",
                dtype=_TEXT,
                keep_default_na=False,
                na_values=[""],
            ).reindex(columns=list(columns))
            for name, columns in COLUMNS.items()
        }
        return cls(
            directory=folder,
            **tables,
            summary=read_json(folder / SUMMARY),
            meta=read_json(folder / META),
        )

    @property
    def succeeded(self) -> pd.DataFrame:
        """The rows of `trials` whose fits did not fail."""
        return self.trials[self.trials["failure"].isna()]

    def by_original(self) -> pd.DataFrame:
        """Score pairs of two, one and no system judged for: see :func:`break_down`."""
        return self._break_down(by_original(self.pairs))

    def by_overlap(self) -> pd.DataFrame:
        """Score pairs by the share of documents that both retrieved: see :func:`break_down`."""
        return self._break_down(by_overlap(self.pairs))

    def by_judged(self) -> pd.DataFrame:
        """Score pairs by the judgments of their trial: see :func:`break_down`."""
        return self._break_down(by_judged(self.pairs, self.succeeded))

    def _break_down(self, group: pd.Series) -> pd.DataFrame:
        return break_down(self.pairs, group, seed=self.meta["study"]["seed"])

    def tests(self) -> pd.DataFrame:
        """Test the algorithms against each other: see :func:`compare_algorithms`."""
        return compare_algorithms(self.succeeded)

    def __repr__(self) -> str:
        lines = [f"Study({self.trials['trial'].nunique()} trials in {self.directory})"]
        for algorithm, found in self.summary.items():
            scores = ", ".join(
                f"{name} {found[key]:.3g}"
                for name, key in (("W", "W"), ("accuracy", "accuracy"), ("tau", "mean_tau"))
                if found[key] is not None
            )
            if found["median_judged"] is not None:
                scores += f", median judged {found['median_judged']:g}"
            if found.get("failed"):
                failed = f"the fits of {found['failed']} of {found['trials']} trials failed"
                scores += f"; {failed}" if scores else failed
            lines.append(f"  {algorithm}: {scores}")
        return "\n".join(lines)


def study(
    runs: Runs,
    qrels: Qrels,
    *,
    algorithms: Sequence[str | Judge | RelevanceModel | Algorithm],
    trials: int = 100,
    systems: int = 10,
    initial: int = 2,
    jobs: int = 2,
    scheduler: str | None = None,
    moments: MomentsRule = "published",
    depth: int = 100,
    score_depth: int | None = None,
    confidence: float = 0.95,
    relevance_level: int = 1,
    unseen: bool = False,
    residual: float = 0.0,
    draws: int = 150,
    chains: int = 4,
    tune: int = 500,
    seed: int = 0,
    output: str | Path,
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Study:
    """Can judgments made for a few systems compare many? (Carterette 2007, sections 4.3-4.4).

    Parameters
    ----------
    runs : Runs
        At least `systems` of them.
    qrels : Qrels
        Taken as complete: the truth.
    algorithms : sequence of str, Judge, RelevanceModel or Algorithm
        In the grammar ``JUDGE[/EVALUATOR]``: ``ip``, ``mtc``, ``rtc:map``.
    trials, systems, initial, moments, depth, score_depth, confidence, relevance_level, seed
        See :class:`~rtc_bayes.robustness.design.Design`.
    unseen, residual
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
    Study

    Raises
    ------
    InputError
        An argument out of its range, a folder that holds a study of other arguments or that
        another process is at work in, or a scheduler that does not answer.
    UnfinishedError
        Workers were lost, memory ran out, or the disk is full; the same call goes on.
    """
    design = Design(
        algorithms=tuple(algorithms),
        trials=trials,
        systems=systems,
        initial=initial,
        moments=moments,
        depth=depth,
        score_depth=score_depth,
        confidence=confidence,
        relevance_level=relevance_level,
        unseen=unseen,
        residual=residual,
        draws=draws,
        chains=chains,
        tune=tune,
        seed=seed,
    )
    if jobs == 0:
        raise InputError("jobs is 0", remedy="give at least 1, or -1 for one on every core")
    if len(runs) < systems:
        raise InputError(
            f"a trial takes {systems} systems, of {len(runs)}", remedy="give more runs"
        )
    return run_design(
        design,
        runs,
        qrels,
        partial(
            Collection.from_runs,
            runs,
            qrels,
            depth=depth,
            score_depth=score_depth,
            relevance_level=relevance_level,
        ),
        jobs=jobs,
        scheduler=scheduler,
        output=Path(output),
        made=provenance(command, seed, inputs),
        progress=progress,
    )


def run_design(
    design: Design,
    runs: Runs,
    qrels: Qrels,
    collect: Callable[[], Collection],
    *,
    jobs: int,
    scheduler: str | None = None,
    output: Path,
    made: Mapping[str, object],
    progress: Progress,
) -> Study:
    """Run the trials of a design that are not yet stored, and sum all up.

    Parameters
    ----------
    design : Design
    runs : Runs
    qrels : Qrels
    collect : callable
        Returns the collection of these runs and judgments; called if a trial is to be run.
    jobs, scheduler
        See :func:`study`.
    output : Path
    made : mapping of str to object
        Provenance.
    progress : Progress
    """
    algorithms = design.parsed
    models = [model for found in algorithms.values() for model in (found.model, found.evaluator)]
    meta = {
        **made,
        "study": design.to_dict(),
        "moments": {
            text: design.moments_of(found.evaluator)
            for text, found in algorithms.items()
            if found.evaluator is not None
        },
        "models": {model.name: model.digest for model in models if model and model.digest},
        "runs": digest_runs(runs),
        "qrels": qrels.digest,
    }
    with study_folder(output, design, meta):
        run_trials(
            output,
            design,
            lambda: partial(_run, collect(), design),
            _store,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )
        return _finish(output, design, meta)


def _run(collection: Collection, design: Design, trial: int, seed: int) -> dict[str, Any]:
    """Run a trial in a worker."""
    return {"trial": trial, "seed": seed, **run_trial(collection, design, trial, seed)}


def _store(outcome: Mapping[str, Any], folder: Path, trial: int) -> None:
    write_json(outcome, trial_path(folder, trial))


def _finish(folder: Path, design: Design, meta: Mapping[str, object]) -> Study:
    """Make the tables and the summary from the stored trials."""
    import pandas as pd
    from pandas import to_numeric

    stored = [read_json(trial_path(folder, trial)) for trial in range(design.trials)]
    tables = {
        name: pd.DataFrame(
            [row for trial in stored for row in trial[name]], columns=list(columns)
        ).apply(lambda column: column.astype(str) if column.name in _TEXT else to_numeric(column))
        for name, columns in COLUMNS.items()
    }
    trials, pairs = tables["trials"], tables["pairs"]
    summary = {
        text: summarise(
            trials[trials["algorithm"] == text],
            pairs[pairs["algorithm"] == text],
            seed=design.seed,
        ).to_dict()
        for text in design.parsed
    }
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv", meta)
    # last: its presence says that the study is finished
    write_json(summary, folder / SUMMARY)
    return Study(folder, **tables, summary=summary, meta=meta)
