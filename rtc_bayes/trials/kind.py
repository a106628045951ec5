"""What a kind of study is: its tables, how a trial becomes rows of them, its summary, its page.

A kind subclasses :class:`Kind`, and :func:`rtc_bayes.trials.run_study` does the rest: it draws,
judges and compares, on any workers, stores every trial, and goes on where it stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rtc_bayes.errors import FitError, InputError
from rtc_bayes.judging import Algorithm
from rtc_bayes.judging.stopping import why_ended
from rtc_bayes.store import digest_file, digest_text, json_text, read_record, spawn_seeds
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.trials.complete import Collection, truth_of_now
from rtc_bayes.trials.plan import Plan
from rtc_bayes.trials.schema import AGAIN, Columns, read_table
from rtc_bayes.trials.trial import Outcome

if TYPE_CHECKING:
    import pandas as pd

type Tables = Mapping[str, pd.DataFrame]
type Arrays = Mapping[str, np.ndarray]

META = "meta.json"
DIGESTS = "digests.json"
_BUILT_IN = {
    "robustness": "rtc_bayes.robustness.robustness_study",
    "calibration": "rtc_bayes.calibration.calibration_study",
    "demo": "rtc_bayes.robustness.demonstration",
}
_kinds: dict[str, type[Kind[Any]]] = {}


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult(Shown):
    """A finished study. Each of its tables is an attribute, too.

    Attributes
    ----------
    directory : Path
        Where it stands.
    tables : mapping of str to DataFrame
        Those of its kind, by name.
    summary : mapping
        As in the summary file.
    meta : mapping
        Provenance and the arguments of the study.

    Examples
    --------
    >>> from rtc_bayes.trials import load_study
    >>> load_study("study").summary  # doctest: +SKIP
    """

    directory: Path
    tables: Tables
    summary: Mapping[str, Any]
    meta: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name, table in self.tables.items():
            object.__setattr__(self, name, table)

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a finished study.

        Raises
        ------
        InputError
            The folder holds no finished study, one of another kind, or a damaged file.
        """
        study = load_study(directory)
        if not isinstance(study, cls):
            raise InputError(
                f"holds a {study.meta['kind']} study",
                path=directory,
                remedy=f"read it by {type(study).__name__}.load",
            )
        return study

    @property
    def relevant_text(self) -> str:
        """Which judged grades count as relevant; empty where grades are 0 and 1 alone."""
        return str(self.meta.get("relevant", ""))

    def __repr__(self) -> str:
        trials = counted(self.meta["study"]["trials"], "trial")
        return f"{type(self).__name__}({trials} in {self.directory})"


class Kind[Result: StudyResult](ABC):
    """A kind of study. An instance is sent to workers, so it holds little and can be pickled.

    Attributes
    ----------
    name : str
        ``kind`` in meta.json; subclassing registers the kind by it.
    tables : mapping of str to Columns
        The tables that trials give rows of; files ``NAME.csv``. Columns ``trial`` and ``algorithm``
        are filled in.
    derived : mapping of str to Columns
        Tables that :meth:`summarise` makes of those.
    summary_file : str
        Written last: its presence says that the study is finished.
    stage : str
        What progress is shown of.
    result : type of StudyResult
        What a finished study is; a subclass may give it a text and members.
    page : callable or str
        From a result to its :class:`rtc_bayes.report.page.Page`; or where that function stands,
        ``package.module:function``, so that it is imported when a report is written.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd, rtc_bayes as rb
    >>> from rtc_bayes.trials import Kind, Plan, columns, run_study
    >>> class Winner(Kind):
    ...     name = "example"
    ...     tables = {"winners": columns("trial:int right:int")}
    ...
    ...     def rows(self, outcome, collection):
    ...         systems = outcome.systems_frame()
    ...         right = systems["expected"].idxmax() == systems["true"].idxmax()
    ...         return {"winners": pd.DataFrame([{"right": int(right)}])}
    ...
    ...     def summarise(self, tables, arrays, plan):
    ...         return {}, {"right": float(tables["winners"]["right"].mean())}
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("mtc",), trials=2, n_systems=3, estimand=rb.Estimand(depth=10), budgets=(20,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = run_study(
    ...         Winner(), made.runs, made.qrels, plan, output=folder, workers=rb.Workers(jobs=1)
    ...     )
    >>> study.summary
    {'right': 0.5}
    """

    name: ClassVar[str]
    tables: ClassVar[Mapping[str, Columns]]
    derived: ClassVar[Mapping[str, Columns]] = {}
    summary_file: ClassVar[str] = "summary.json"
    stage: ClassVar[str] = "trials"
    result: type[Result] = StudyResult  # type: ignore[assignment]
    page: ClassVar[str | Callable[[Any], Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # a copy of a class of a notebook, which a worker makes, gets its members later
        if "name" in vars(cls):
            _kinds[cls.name] = cls

    @abstractmethod
    def rows(self, outcome: Outcome, collection: Collection) -> Tables:
        """Return the rows that an outcome of a trial adds to the tables, or to some of them.

        Called in a worker, for each algorithm and budget; also where a fit failed
        (``outcome.failure``). Columns that are not declared are left out; declared ones that are
        missing are undefined.
        """

    @abstractmethod
    def summarise(
        self, tables: Tables, arrays: Sequence[Arrays], plan: Plan
    ) -> tuple[Tables, Mapping[str, Any]]:
        """Return the derived tables, and the summary as JSON holds it.

        Parameters
        ----------
        tables : mapping of str to DataFrame
            Of all trials.
        arrays : sequence of mapping of str to ndarray
            Of each trial, what :meth:`arrays` gave.
        plan : Plan
        """

    def arrays(self, outcome: Outcome, collection: Collection) -> Arrays:
        """Return what a trial stores besides rows; called in a worker."""
        del outcome, collection
        return {}

    def algorithms(self, plan: Plan) -> Mapping[str, Algorithm]:
        """Return the algorithms of a trial, by their text."""
        return plan.parsed

    def seeds(self, plan: Plan) -> list[int]:
        """Return the seeds of the trials."""
        return spawn_seeds(plan.seed, plan.trials)

    def relevant(self, plan: Plan, highest: float) -> str:
        """Say which judged grades count as relevant, given the highest; nothing if none need it."""
        return plan.estimand.of_grades(highest)

    def arguments(self, plan: Plan) -> dict[str, Any]:
        """Return what meta.json holds of the plan and of the models.

        Returns
        -------
        dict
            ``study``, flat; ``moments``, by the text of each algorithm that has a confidence;
            ``models``, by the text of each, digests of its judge's and models' source and files.
        """
        algorithms = self.algorithms(plan)
        return {
            "study": plan.to_dict(),
            "moments": {
                text: plan.moments_of(algorithm.evaluator)
                for text, algorithm in algorithms.items()
                if algorithm.evaluator
            },
            "models": {text: algorithm.content for text, algorithm in algorithms.items()},
        }


def failed_fits(trials: pd.DataFrame) -> str:
    """Say how many fits failed of a study's trials, some at least, and why the first did.

    Examples
    --------
    >>> import pandas as pd
    >>> failed_fits(pd.DataFrame({"failure": [None, "no mode was reached", "no draws"]}))
    'the fits of 2 of 3 trials failed, the first: no mode was reached'
    """
    failures = trials["failure"].dropna()
    said = f"the fits of {len(failures)} of {counted(len(trials), 'trial')} failed"
    return f"{said}, the first: {failures.iloc[0]}"


def check_any_fitted(trials: pd.DataFrame) -> None:
    """Refuse to call a study done where no trial has a fit that may be used.

    Raises
    ------
    FitError
        The fits of all trials failed: why the first did.

    Examples
    --------
    >>> import pandas as pd
    >>> check_any_fitted(pd.DataFrame({"failure": ["no draws", None]}))
    >>> check_any_fitted(pd.DataFrame({"failure": ["no draws", "no mode was reached"]}))
    Traceback (most recent call last):
        ...
    rtc_bayes.errors.FitError: no trial has a result: all 2 fits failed, the first: no draws
    """
    failures = trials["failure"]
    if len(failures) and failures.notna().all():
        raise FitError(
            f"no trial has a result: all {len(failures)} fits failed, the first: {failures.iloc[0]}"
        )


def without_judgment(trials: pd.DataFrame) -> pd.Series[bool]:
    """Say which of a study's trials ended with no judgment at all, as sure enough.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"judged": [0, 9], "reason": ["reached", "reached"]})
    >>> without_judgment(rows).tolist()
    [True, False]
    """
    return (trials["judged"] == 0) & trials["reason"].isin(["reached", "proved"])


def ended_without_judgment(trials: pd.DataFrame) -> str:
    """Say how many trials ended with no judgment at all, and why; nothing where none did.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"judged": [0, 9], "reason": ["reached", "reached"]})
    >>> print(ended_without_judgment(rows))
    1 trial ended with no judgment at all, as the confidence you asked for was reached by the
    lists alone
    >>> ended_without_judgment(rows[1:])
    ''
    """
    ended = trials.loc[without_judgment(trials), "reason"]
    if ended.empty:
        return ""
    alone = {"reached": " by the lists alone"}
    reasons = [why_ended(of) + alone.get(of, "") for of in ended.unique()]
    said = f"{counted(len(ended), 'trial')} ended with no judgment at all"
    return f"{said}, as {', or as '.join(reasons)}"


def load_study(directory: str | Path) -> StudyResult:
    """Read a finished study of any kind.

    Raises
    ------
    InputError
        No finished study, a kind that is not known, or a damaged file.

    Examples
    --------
    >>> from rtc_bayes.trials import load_study
    >>> load_study("study").tables  # doctest: +SKIP
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, remedy="give what a study wrote")
    meta = read_record(folder / META, remedy=AGAIN) if (folder / META).exists() else {}
    kind = find_kind(folder, meta)
    tables = {
        name: read_table(folder / f"{name}.csv", held)
        for name, held in {**kind.tables, **kind.derived}.items()
        # an earlier version wrote fewer tables
        if "kind" in meta or (folder / f"{name}.csv").exists()
    }
    summary = read_record(folder / kind.summary_file, remedy=AGAIN)
    # an earlier version wrote no digests
    if (folder / DIGESTS).exists():
        digests = {META: digest_of(arguments_of(meta)), kind.summary_file: digest_of(summary)}
        digests |= {f"{name}.csv": digest_file(folder / f"{name}.csv") for name in tables}
        written = read_sealed(folder / DIGESTS)
        for name, digest in digests.items():
            if written.get(name) != digest:
                raise InputError(
                    f"is not what the study wrote: its digest in {DIGESTS} is another",
                    path=folder / name,
                    remedy=AGAIN,
                )
    if isinstance(meta.get("study"), Mapping):
        meta = {**meta, "study": truth_of_now(meta["study"])}
    return kind.result(folder, tables, summary, {"kind": kind.name, **meta})


def arguments_of(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return what must not change between a study and its resumption: all but how many trials.

    The first trials of a longer study are those of a shorter one.
    """
    study = meta.get("study")
    names = ("kind", "version", "code", "models", "runs", "qrels")
    others = {name: meta.get(name) for name in names}
    if "groups" in meta:
        others["groups"] = meta["groups"]
    if isinstance(study, Mapping):
        others = {name: value for name, value in study.items() if name != "trials"} | others
    return others


def digest_of(content: Mapping[str, Any]) -> str:
    """Return a digest of what a JSON file says; of what no JSON file can say, nothing."""
    try:
        return digest_text(json_text(content))
    except ValueError:
        return ""


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file is to say, with a digest of that."""
    return {**content, "digest": digest_of(content)}


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a file that says its own digest.

    Raises
    ------
    InputError
        It is absent or damaged.
    """
    content = read_record(path, remedy=AGAIN)
    if content.pop("digest", None) != digest_of(content):
        raise InputError("is damaged: its digest is not its own", path=path, remedy=AGAIN)
    return content


def find_kind(directory: Path, meta: Mapping[str, Any]) -> type[Kind[Any]]:
    """Find the kind of a study by its meta.json, or by its summary if it is an early one.

    Raises
    ------
    InputError
        No such kind, or no finished study.
    """
    for name in (str(meta["kind"]),) if "kind" in meta else _BUILT_IN:
        kind = _kind(name, directory)
        if (directory / kind.summary_file).is_file():
            return kind
    if "kind" not in meta and (directory / "report.html").is_file():
        raise InputError(
            "holds the page of another command, and no study of trials",
            path=directory,
            remedy="open its report.html",
        )
    if not meta and not (directory / "trials").is_dir():
        raise InputError(
            "holds no study", path=directory, remedy="give the folder of a study's --output"
        )
    raise InputError(
        "holds no finished study",
        path=directory,
        remedy="finish it: give its command again, with this folder as --output",
    )


def _kind(name: str, directory: Path) -> type[Kind[Any]]:
    if name in _BUILT_IN:
        import_module(_BUILT_IN[name])
    if name not in _kinds:
        raise InputError(
            f"no kind of study is named {name!r}",
            path=directory / META,
            remedy="read it in Python, where the module that defines it is imported; built in are "
            + ", ".join(_BUILT_IN),
        )
    return _kinds[name]
