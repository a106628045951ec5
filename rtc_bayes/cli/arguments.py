"""The arguments that commands share: their types, their names and what help says of them."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from rtc_bayes import defaults
from rtc_bayes.cli.groups import Group, group_of
from rtc_bayes.errors import CollectionWarning, FitWarning, InputError
from rtc_bayes.measures.estimand import Estimand
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    from rtc_bayes.collection import Labels, Runs
    from rtc_bayes.collection.hold_out import HoldOutDesign

Format = Literal["table", "json", "csv", "latex", "markdown"]
PageFormat = Literal["table", "json", "csv", "latex", "markdown", "html"]
NameBy = Literal["tag", "file"]
Order = Literal["score", "rank"]
WhichTopics = Literal["judged", "all"]


def _hush(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", CollectionWarning)
        warnings.simplefilter("ignore", FitWarning)
    return quiet


def writable(path: str | None) -> str | None:
    """Refuse a file that cannot stand where it is to, before any work; a zarr is a folder."""
    if path == "-":
        raise InputError("-o - names no file", remedy="name one; - does not stand for the terminal")
    if path is not None and not path.endswith(".zarr"):
        from rtc_bayes.store.files import check_target

        check_target(path)
    return path


def all_writable(paths: list[str] | None) -> list[str] | None:
    """Refuse what :func:`writable` refuses of any file, and a file that would be written twice."""
    from rtc_bayes.store import meta_path

    taken: set[str] = set()
    for path in map(writable, paths or ()):
        assert path is not None
        files = {os.path.realpath(path), os.path.realpath(meta_path(path))}
        if taken & files:
            raise InputError(
                "would be written twice", path=path, remedy="give each -o a file of its own"
            )
        taken |= files
    return paths


# what is read
@dataclass(frozen=True)
class RunFiles:
    """The run files of a command, not yet read: what is cheap to check is checked before."""

    runs: Sequence[str] | None
    name_by: NameBy = "tag"
    order: Order = "score"

    def read(self) -> Runs:
        """Read them."""
        from rtc_bayes.collection import read_runs

        return read_runs(*(self.runs or ()), name_by=self.name_by, order=self.order)


_HOW_READ = {
    "name_by": Annotated[
        NameBy, Option(help="What names a system: the tag in its run, or its file.")
    ],
    "order": Annotated[Order, Option(help="What orders a list: its scores, or its ranks.")],
}
RunsRead = Annotated[
    RunFiles,
    Group(
        RunFiles,
        {
            "runs": Annotated[list[str], Argument(metavar="RUNS", help="Files, folders, globs.")],
            **_HOW_READ,
        },
        {"runs": inspect.Parameter.empty, "name_by": "tag", "order": "score"},
    ),
]


def _some_runs(without: str, metavar: str = "RUNS") -> Group:
    """Make the group of run files that may be left out."""
    files = Argument(metavar=metavar, help=f"Files, folders, globs. {without}.")
    return Group(
        RunFiles,
        {"runs": Annotated[list[str] | None, files], **_HOW_READ},
        {"runs": None, "name_by": "tag", "order": "score"},
    )


SomeRunsRead = Annotated[RunFiles, _some_runs("None: a simulation")]
RunsForTopics = Annotated[RunFiles, _some_runs("None: give --topics")]
RunsOrScores = Annotated[RunFiles, _some_runs("None: give --scores")]
RunsOrScoreFiles = Annotated[RunFiles, _some_runs("Or one CSV of scores", "RUNS|SCORES")]
GroupsFile = Annotated[str, Option("--groups", help="CSV with a line system,group a system.")]
NGrades = Annotated[
    int | None, Option(help="How many grades labels have; higher ones are dropped.")
]
QrelsFile = Annotated[str, Option("--qrels", help="Judgments: topic iteration docno grade.")]
PilotQrels = Annotated[
    str | None,
    Option("--qrels", help="Judgments of a pilot (required): topic iteration docno grade."),
]
_COMPLETE = "Complete judgments, the truth of trials: topic iteration docno grade."
CompleteQrels = Annotated[str, Option("--qrels", help=_COMPLETE)]
SomeCompleteQrels = Annotated[str | None, Option("--qrels", help=_COMPLETE)]


@dataclass(frozen=True)
class LabelFiles:
    """The files of labels of a command, not yet read, of which there may be none."""

    labels: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="Labels of judges that may err. Repeatable."),
    ] = None
    n_grades: NGrades = None

    def __post_init__(self) -> None:
        if self.n_grades is not None and not self.labels:
            raise InputError(
                "--n-grades is how many grades the labels of --labels have",
                remedy="give --labels, too, or leave it out",
            )

    def __bool__(self) -> bool:
        return bool(self.labels)

    def read(self) -> Labels | None:
        """Read them; None where the command has none."""
        from rtc_bayes.collection import read_labels

        return read_labels(*self.labels, n_grades=self.n_grades) if self.labels else None


LabelsRead = Annotated[LabelFiles, group_of(LabelFiles)]
SomeQrels = Annotated[str | None, Option("--qrels", help="Judgments: topic iteration docno grade.")]

JudgedFor = Annotated[
    str | None,
    Option(metavar="A,B", help="Systems that the judgments of --qrels were made for."),
]


@dataclass(frozen=True)
class DesignFiles:
    """The hold-out design of a command and the groups of its systems, not yet read."""

    hold_out: Annotated[
        str | None,
        Option(metavar="DESIGN", help="Judge under this hold-out design (with --groups)."),
    ] = None
    groups: Annotated[
        str | None, Option(metavar="GROUPS", help="The group of each system: system,group.")
    ] = None

    def __post_init__(self) -> None:
        from rtc_bayes.collection.hold_out import check_groups_given

        check_groups_given(self.hold_out, self.groups)

    def read(self) -> tuple[HoldOutDesign | None, dict[str, str] | None]:
        """Read both; None where the command has none."""
        from rtc_bayes.collection import read_groups
        from rtc_bayes.collection.hold_out import read_hold_out

        if self.hold_out is None or self.groups is None:
            return None, None
        return read_hold_out(self.hold_out), read_groups(self.groups)

    def digests(self) -> dict[str, str]:
        """Return the digest of each file by its path, for provenance."""
        from rtc_bayes.store import digest_files

        return digest_files(self.hold_out, self.groups)


UnderDesign = Annotated[DesignFiles, group_of(DesignFiles)]

# what scores are about


def _estimand(measure: str, residual: str | None, **scope: Any) -> Estimand:
    """Read the options of an estimand."""
    return Estimand(measure, residual=_deviation(residual), **scope)


def _deviation(text: str | None) -> float | Literal["auto"] | None:
    if text is None or text == "auto":
        return text  # type: ignore[return-value]
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"--residual is {text!r}", remedy="give a standard deviation of at least 0, or auto"
        ) from None


Level = Annotated[
    int | None,
    Option(help="The lowest grade that counts as relevant. Default: that of the qrels, or 1."),
]
Depth = Annotated[int | None, Option(help="Pool this many documents of each list. Default: 100.")]
ScoreDepth = Annotated[
    int | None, Option(help="Score lists to this rank. Default: whole ones, or --depth.")
]
Topics = Annotated[WhichTopics, Option(help="Average over the topics with judgments, or over all.")]
Measures = Annotated[
    list[str] | None,
    Option("--measure", help="As ir-measures names it. Repeatable. Default: AP."),
]
_SCOPE = {
    "scope": Annotated[
        Literal["whole", "pool"],
        Option(help="Scores of whole lists by all relevant documents, or of the pool alone."),
    ],
    "topics": Topics,
    "relevance_level": Level,
    "depth": Depth,
    "score_depth": ScoreDepth,
    "unseen": Annotated[
        bool | None,
        Option(help="Count relevant documents that no run has. Default: by --scope."),
    ],
    "residual": Annotated[
        str | None,
        Option(
            metavar="SD|auto",
            help="Standard deviation of each mean score beyond what the pool tells, the residual; "
            "auto: by a rule. Default: auto, or 0 of --scope pool.",
        ),
    ],
}
_OF_SCOPE = {field.name: field.default for field in fields(Estimand) if field.name in _SCOPE}
AnEstimand = Annotated[
    Estimand,
    Group(
        _estimand,
        {"measure": Annotated[str, Option(help="As ir-measures names it.")], **_SCOPE},
        {"measure": defaults.MEASURE, **_OF_SCOPE},
    ),
]
Estimands = Annotated[
    list[Estimand],
    Group(
        lambda measure, **scope: [
            _estimand(name, **scope) for name in measure or [defaults.MEASURE]
        ],
        {"measure": Measures, **_SCOPE},
        {"measure": None, **_OF_SCOPE},
    ),
]

# what is computed
Model = Annotated[str | None, Option(help="An installed model, or FILE.py. Default: robust.")]
Method = Annotated[str | None, Option(help="How to fit it. Default: the model's own.")]
Options = Annotated[
    list[str] | None,
    Option("--option", metavar="K=V", help="An option of the model. Repeatable."),
]
Draws = Annotated[int | None, Option(help="Draws kept of each chain. Default: 150; nuts: 1000.")]
Judge = Annotated[
    str,
    Option(
        help="JUDGE[/EVALUATOR]: who chooses documents, and the model that compares systems by "
        "their judgments: ip, mtc[weight=evr], rtc:map, ..."
    ),
]
Seed = Annotated[
    int, Option(min=0, help="The same seed gives the same answer, for input in the same order.")
]

# of studies: words of a plan
_PLAN = {
    "truth": Annotated[
        Literal["all", "judged"],
        Option(
            help="In the truth, documents without a judgment are nonrelevant (all), or taken out "
            "of the lists (judged)."
        ),
    ],
    "pad": Annotated[
        bool, Option("--pad", help="Fill short lists as the 2007 program does: to reproduce it.")
    ],
    "trials": Annotated[int, Option(help="How many trials.")],
    "n_systems": Annotated[
        int, Option("--systems", "--n-systems", help="How many systems a trial compares.")
    ],
    "n_initial": Annotated[
        int, Option("--initial", "--n-initial", help="How many of these are judged for.")
    ],
    "confidence": Annotated[float, Option(help="Judge until every pair has this confidence.")],
    "moments": Annotated[
        Literal["published", "exact", "plugin"],
        Option(
            help="Mean and variance of AP (its moments): exact, by the 2007 paper's formula "
            "(plugin), or plugin for the algorithms of that paper alone (published)."
        ),
    ],
    "draws": Annotated[int | None, Option(help="Draws of each chain. Default: by the method.")],
    "chains": Annotated[int | None, Option(help="Chains of a method that draws. Default: 4.")],
    "tune": Annotated[
        int | None, Option(help="Steps of a chain before its first draw. Default: by the method.")
    ],
}
_OF_PLAN = {
    "truth": "all",
    "pad": False,
    "trials": defaults.TRIALS,
    "n_systems": defaults.SYSTEMS,
    "n_initial": defaults.INITIAL,
    "confidence": defaults.CONFIDENCE,
    "moments": "published",
    "draws": None,
    "chains": None,
    "tune": None,
}
PlanWords = Annotated[dict[str, Any], Group(dict, _PLAN, _OF_PLAN)]
CalibrationWords = Annotated[
    dict[str, Any], Group(dict, _PLAN, {**_OF_PLAN, "trials": defaults.CALIBRATION_TRIALS})
]
PlaceOfWork = Annotated[
    Workers,
    Group(
        Workers,
        {
            "jobs": Annotated[int, Option(help="Pieces of work at a time; -1: one on every core.")],
            "scheduler": Annotated[
                str | None,
                Option(metavar="ADDRESS", help="Run on this Dask cluster: dask://HOST:PORT."),
            ],
        },
        {"jobs": defaults.JOBS, "scheduler": None},
    ),
]

# what is written
Layout = Annotated[Format | None, Option("--format", help="Default: by OUT's ending, else table.")]
PageLayout = Annotated[
    PageFormat | None, Option("--format", help="Default: by OUT's ending, else table.")
]
_OUT = Option("--output", "-o", metavar="OUT", callback=writable, help="Write it here.")
Out = Annotated[str | None, _OUT]
OutFile = Annotated[str, _OUT]
Outs = Annotated[
    list[str] | None,
    Option(
        "--output",
        "-o",
        metavar="OUT",
        callback=all_writable,
        help="Write it here. Repeatable: page.html, table.tex, table.md, pairs.csv, ...",
    ),
]
OutFolder = Annotated[str, Option("--output", "-o", metavar="DIR", help="Write it here.")]
Quiet = Annotated[bool, Option("--quiet", callback=_hush, help="No progress, notes or warnings.")]
