"""Files of labels: of a crowd, of one language model, of a panel of them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rtc_bayes.checks import brief_repr
from rtc_bayes.collection.ids import shown, some
from rtc_bayes.collection.labels import Labels
from rtc_bayes.collection.lines import (
    ERELS,
    MEAN_GRADES,
    is_quoted,
    number,
    read_bytes,
    refuse_aggregate,
)
from rtc_bayes.collection.records import BESIDE, index_levels
from rtc_bayes.collection.sources import files_of, kind_of
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.shown import counted

type LabelKind = Literal["auto", "rows", "qrels", "panel"]

KINDS = ("auto", "rows", "qrels", "panel")
_LARGEST = 10_000
NO_TOPIC = "-"  # the topic of tasks that name none
_NAMES = {
    "topic": ("topic", "topicid", "qid", "query_id", "query"),
    "judge": ("judge", "judgeid", "worker", "workerid", "annotator", "assessor"),
    "docno": ("docno", "docid", "doc", "document"),
    "label": ("label", "grade", "annotation", "relevance"),
    "gold": ("gold", "human", "truth"),
    "yes": ("prob_yes", "probability"),
    "no": ("prob_no",),
    "time": ("time", "seconds"),
    "task": ("task",),
    "index": ("qidx", "pidx"),  # anonymous ids beside the true ones
}
_SAID = {"yes": "probability", "no": "probability of nonrelevance"}
# of judges too, beside a column of labels; in a panel a judge may be called so
_ALSO_JUDGE = ("model", "llm", "rater", "annotatorid", "assessorid", "user", "userid")
_NO_LABEL = ("", "n/a", "na", "none", "null", "nan")
_BOOLEAN = {"true": 1.0, "false": 0.0}
# labels that so few judges would not make
_SEVERAL = 20
_MEANING = {name.replace("_", ""): key for key, names in _NAMES.items() for name in names}
# what pandas writes above the numbers of rows, and how it reads that again
_NAMELESS = re.compile(r"(Unnamed: \d+)?").fullmatch
_LINE_END = re.compile(r"\r\n|\r|\n")
_ROWS = ("topic", "judge", "docno", "label", "gold")
# columns of a file without a first line of names
_WIDTHS = (4, 5)


@dataclass
class _Columns:
    topics: list[str] = field(default_factory=list)
    docnos: list[str] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    grades: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    time: list[float] = field(default_factory=list)
    gold: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, topic: str, docno: str, judge: str, grade: int, yes: float, time: float) -> None:
        self.topics.append(topic)
        self.docnos.append(docno)
        self.judges.append(judge)
        self.grades.append(grade)
        self.probability.append(yes)
        self.time.append(time)


@explains_types
def read_labels(
    *sources: Any,
    kind: LabelKind = "auto",
    judge: str | None = None,
    n_grades: int | None = None,
) -> Labels:
    """Read labels of judges from files or data frames.

    Four kinds of file, plain or gzipped, whose fields are separated by commas, tabs or blanks, and
    may be quoted:

    - rows with a first line that names columns, one label a row: `topic`, `judge` (or `worker`),
      `docno`, `label`, and optionally `gold`, `probability` and `time`; `task`, `worker` and
      `label` as crowd-kit writes them, with `topic:docno` as task; LARA's `topic_id`, `doc_id`,
      `annotation`, `prob_yes`, `prob_no`;
    - rows without such a line: topic, judge, docno, label, and optionally the true grade;
    - qrels of one judge: topic, iteration (0 or Q0 in all lines), docno, grade; other qrels with
      ``kind="qrels"``;
    - a panel: a first line with `topic`, `docno`, optionally `human` (the true grade) and then a
      column for each judge. An empty field is no label, and is not counted.

    Parameters
    ----------
    *sources : str, Path or data frame
        Files, folders or globs; all together are one set of labels. What a frame's columns are
        called may also be a level of its index.
    kind : {"auto", "rows", "qrels", "panel"}
        What the files are; "auto" decides for each from its first line.
    judge : str, optional
        The judge of files that name none. Default: the name of the file without its suffix.
    n_grades : int, at least 2, optional
        How many grades there are: higher labels are dropped. Default: up to the highest label.

    Returns
    -------
    Labels
        Negative labels (a broken link, "cannot judge") are dropped and counted in `n_dropped`;
        so are those above the highest of `n_grades`, which `n_above` counts, too. `unanswered`
        names them. Of two probabilities, `prob_yes` and `prob_no`, what counts is the share of the
        first; a task without a colon has the topic ``-``.

    Raises
    ------
    InputError
        Names file and line: a line with another number of fields, a label that is no whole
        number, a missing column (judges need one of labels beside them), two different true
        grades of a document.

    Warns
    -----
    CollectionWarning
        A judge labels a document of a topic again: how often, and with what.

    Examples
    --------
    >>> import os
    >>> from pathlib import Path
    >>> import tempfile
    >>> import rtc_bayes as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "crowd.csv")
    ...     lines = ["task,worker,label", "7:d1,ann,1", "7:d1,bob,0", "7:d2,ann,-2"]
    ...     _ = file.write_text(os.linesep.join(lines))
    ...     rb.read_labels(file)
    Labels(2 labels of 1 pair by 2 judges, 1 topic, grades 0 to 1, gold of 0 pairs)
    """
    if kind not in KINDS:
        raise InputError(f"kind: {kind!r} is none", remedy=f"choose from {', '.join(KINDS)}")
    if not sources:
        raise InputError("no file of labels", remedy="give at least one")
    columns = _Columns()
    read: set[Path] = set()
    files = [files_of(source) if kind_of(source) == "path" else [] for source in sources]
    names_of = _names_of({path.resolve() for path in chain.from_iterable(files)})
    for source, paths in zip(sources, files, strict=True):
        if kind_of(source) == "frame":
            # a level of the index that means nothing here is no judge of a panel
            own = list(map(str, source.columns))
            levels = {
                name: values
                for name, values in index_levels(source).items()
                if name not in own and _meaning([name])[0] in _NAMES
            }
            names = [*levels, *own]
            held = chain(levels.values(), (source[name] for name in source.columns))
            cells = zip(*([_cell(v) for v in column] for column in held), strict=True)
            _Table("data frame", judge or "judge", names, enumerate(map(list, cells), 1)).read(
                columns, kind
            )
        elif kind_of(source) == "path":
            for path in paths:
                if (real := path.resolve()) in read:
                    raise InputError(
                        "is given twice, and its labels would count twice",
                        path=path,
                        remedy="give it once",
                    )
                read.add(real)
                _read_file(path, kind, judge or names_of[real], columns)
        else:
            raise InputError(
                f"cannot read labels from {brief_repr(source)}",
                remedy="give a file or a data frame; Labels.of takes columns",
            )
    if judge is not None and judge not in columns.judges:
        raise InputError(
            f"every file names its judges, so that judge {shown(judge)} is of none",
            remedy="leave judge (--judge) out",
        )
    labels = Labels.of(
        columns.topics,
        columns.docnos,
        columns.judges,
        columns.grades,
        probability=_or_none(columns.probability),
        time=_or_none(columns.time),
        gold=columns.gold,
        n_grades=n_grades,
    )
    _remark_on_repeats(labels)
    return labels


def _remark_on_repeats(labels: Labels) -> None:
    """Warn of as many judges as labels, and of documents that a judge labels again."""
    if labels.n_labels >= _SEVERAL and len(labels.judges) == labels.n_labels:
        warn(
            f"as many judges as labels, {labels.n_labels:,}: without a first line that names them "
            "columns are topic, judge, docno and label"
        )
    first = labels.first_of_judge()
    again = np.flatnonzero(first != np.arange(labels.n_labels))
    if not len(again):
        return
    at = again[0]
    same = int((labels.grade[again] == labels.grade[first[again]]).sum())
    judge, docno, topic = (
        ids[codes[at]]
        for ids, codes in (
            (labels.judges, labels.judge_of),
            (labels.docnos, labels.document_of),
            (labels.topics, labels.topic_of),
        )
    )
    warn(
        f"{len(again):,} of {counted(labels.n_labels, 'label')}: of a document that its judge had "
        f"labelled before, {same:,} with the same grade and {len(again) - same:,} with another "
        f"(first: judge {judge}, topic {topic}, document {docno}). Each counts as a label of its "
        "own in votes and confusions; beside ranks, and in a panel, a judge's labels of a document "
        "count as one, and alpha and kappa take the first. Drop copies, and give different judges "
        "different names",
    )


def _cell(value: Any) -> str:
    """Return a frame's value as the text that a file would hold; nothing for a missing one."""
    import pandas as pd

    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return ""
    # a column with missing values makes floats of whole numbers
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def _or_none(values: list[float]) -> list[float] | None:
    return values if any(value == value for value in values) else None


def _names_of(paths: Collection[Path]) -> dict[Path, str]:
    """Name the judges of files that name none: by the file, and folders where that is not enough.

    Without the file's suffix, unless that alone tells two files apart.
    """
    names = {path: path.name.removesuffix(".gz").rsplit(".", 1)[0] for path in paths}
    for length in range(1, max((len(path.parts) for path in paths), default=1)):
        several = {name for name, count in Counter(names.values()).items() if count > 1}
        for path, name in names.items():
            if name in several:
                parts = path.parts[-1 - length : -1]
                names[path] = "/".join([*parts, name.rsplit("/", 1)[-1]])
    several = {name for name, count in Counter(names.values()).items() if count > 1}
    return {path: path.name if name in several else name for path, name in names.items()}


def _read_file(path: Path, kind: LabelKind, judge: str, columns: _Columns) -> None:
    data = read_bytes(path)
    refuse_aggregate(data, path)
    text = data.decode("utf-8")
    # other characters that end a line in Unicode may stand in a field
    lines = [(i, line) for i, line in enumerate(_LINE_END.split(text), 1) if line.strip()]
    first = lines[0][1] if lines else ""
    if first.lstrip().startswith(("{", "[")):
        raise InputError(
            "this looks like JSON, which is not read",
            path=path,
            line=lines[0][0],
            remedy="write it as CSV, or read it with pandas and give read_labels the data frame",
        )
    separator = _separator(first)
    if separator == "," or any(is_quoted(field.strip()) for field in first.split(separator)):
        rows = _of_csv(path, text, separator or " ")
    else:
        # a tab keeps empty fields, blanks do not
        rows = [(i, line.split(separator)) for i, line in lines]
    if not rows:
        raise InputError("the file is empty", path=path, remedy="give a file of labels")
    (_, fields), *after = rows
    names = [name.strip() for name in fields]
    if not _names_columns(names):
        after, names = rows, _without_names(path, rows, first, kind)
    _Table(str(path), judge, names, after).read(columns, kind)


def _separator(first: str) -> str | None:
    """Return what parts the first line into columns; None: white space.

    A docno may hold a comma.
    """
    if "\t" in first or "," not in first:
        return "\t" if "\t" in first else None
    by_comma, by_space = next(csv.reader([first])), first.split()
    return None if _are_columns(by_space) and not _are_columns(by_comma) else ","


def _are_columns(fields: Sequence[str]) -> bool:
    """Whether fields name columns, or are as many as those of a line without names."""
    return len(fields) in _WIDTHS or _names_columns(fields)


def _names_columns(fields: Sequence[str]) -> bool:
    meant = _meaning([name.strip() for name in fields])
    return "label" in meant or {"topic", "docno"} <= set(meant)


def _of_csv(path: Path, text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV, blank ones aside, with the line on which each begins."""
    lines, rows, begins = io.StringIO(text, newline=""), [], 1
    # a quote after a blank opens a field where blanks follow commas in the first line
    spaced = separator != "," or ", " in text.lstrip().partition("\n")[0]
    reader = csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=spaced)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                rows.append((begins, fields))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"this row cannot be read as CSV ({error})",
            path=path,
            line=begins,
            remedy='close each quoted field, with "" for a quote inside',
        ) from error
    return rows


def _without_names(
    path: Path, rows: list[tuple[int, list[str]]], first: str, kind: LabelKind
) -> list[str]:
    """Return the names of the columns of a file without a first line of names."""
    width = len(rows[0][1])
    of_words = len(rows) > 1 and not _has_label(rows[0][1]) and _has_label(rows[1][1])
    if width not in _WIDTHS or kind == "panel" or of_words:
        raise InputError(
            f"the first line names no columns that are known: {shown(first)}",
            path=path,
            line=rows[0][0],
            remedy="name topic, judge, docno and label there, or give four or five columns",
        )
    names = list(_ROWS[:width])
    if width == 4 and kind != "rows":
        one = len({fields[1] for _, fields in rows if len(fields) > 1}) == 1
        if kind == "qrels" or (one and rows[0][1][1] in ("0", "Q0")):
            names[1] = "qidx"
            _refuse_fractions(path, [fields[-1] for _, fields in rows])
    return names


def _has_label(fields: Sequence[str]) -> bool:
    """Whether a field may be a label."""
    words = [text.strip().lower() for text in fields]
    return any(word in (*_NO_LABEL, *_BOOLEAN) or _is_number(word) for word in words)


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError:
        return False
    return True


def _refuse_fractions(path: Path, texts: Sequence[str]) -> None:
    """Refuse probabilities and mean grades; whole numbers with a point are labels."""
    if not all("." in text or "e-" in text for text in texts):
        return
    try:
        values = [number(text) for text in texts]
    except ValueError:
        return
    if all(value.is_integer() for value in values):
        return
    if all(0.0 <= value <= 1.0 for value in values):
        raise InputError(
            f"this looks like {ERELS}, not like labels of a judge", path=path, remedy=ERELS.command
        )
    raise InputError("labels are no whole numbers", path=path, remedy=MEAN_GRADES)


def _meaning(names: Sequence[str]) -> list[str]:
    """Return what each column is; the name itself where it is a judge of a panel."""
    return [_MEANING.get(name.lower().replace("_", ""), name) for name in names]


@dataclass
class _Table:
    """Rows of text fields with named columns, from one file."""

    path: str
    judge: str
    names: list[str]
    rows: Iterable[tuple[int, list[str]]]

    def read(self, columns: _Columns, kind: LabelKind) -> None:
        """Add the rows' labels, and true grades, to the columns."""
        meant = self._meant()
        place = self._places(meant)
        panel = self._panel(meant, place, kind)
        highest = dict.fromkeys(panel, 0)
        for line, fields in self.rows:
            if len(fields) != len(self.names):
                # as R's write.table begins, under one name less
                numbered = len(fields) == len(self.names) + 1 and fields[0].strip() == "1"
                raise self._wrong(
                    f"{counted(len(fields), 'field')} where the first line has {len(self.names)}",
                    "leave out the numbers of rows (in R row.names = FALSE), or correct the line"
                    if numbered
                    else "correct the line",
                    line,
                )
            topic, docno = self._pair(fields, place)
            if not topic or not docno:
                raise self._wrong("no topic or no docno", "correct the line", line)
            if "gold" in place:
                self._add_gold(columns, (topic, docno), fields[place["gold"]], line)
            for i in panel:
                if fields[i].strip():
                    grade = self._grade(fields[i], line)
                    highest[i] = max(highest[i], grade)
                    columns.add(topic, docno, self.names[i], grade, float("nan"), float("nan"))
            if panel:
                continue
            judge = fields[place["judge"]].strip() if "judge" in place else self.judge
            if not judge:
                raise self._wrong("no judge", "correct the line", line)
            yes = self._stated(fields, place, line)
            time = self._number(fields[place["time"]], line) if "time" in place else float("nan")
            columns.add(topic, docno, judge, self._grade(fields[place["label"]], line), yes, time)
        self._remark_on_scales(highest)

    def _meant(self) -> list[str]:
        """Return what each column is; the name itself where it is none of those known."""
        meant = _meaning(self.names)
        for name, key in BESIDE.items():
            if meant.count(key) > 1:
                meant = [
                    "index" if own.lower() == name else mean
                    for own, mean in zip(self.names, meant, strict=True)
                ]
        if "label" not in meant or "judge" in meant:
            return meant
        plain = [name.lower().replace("_", "") for name in meant]
        also = [plain.index(name) for name in _ALSO_JUDGE if name in plain]
        return ["judge" if i in also[:1] else name for i, name in enumerate(meant)]

    def _places(self, meant: Sequence[str]) -> dict[str, int]:
        """Return where each column that is known stands; topic and docno, or task, are needed."""
        place = {key: i for i, key in enumerate(meant) if key in _NAMES}
        for key, i in place.items():
            if key != "index" and (first := meant.index(key)) != i:
                raise self._wrong(
                    f"columns {shown(self.names[first])} and {shown(self.names[i])} both hold the "
                    f"{_SAID.get(key, key)}",
                    "leave one",
                )
        if not ("task" in place or {"topic", "docno"} <= set(place)):
            raise self._wrong(f"columns {some(self.names)}", "name topic and docno, or task")
        return place

    def _panel(self, meant: Sequence[str], place: Mapping[str, int], kind: LabelKind) -> list[int]:
        """Return the columns that are a judge each; none where a column holds all labels."""
        others = [i for i, key in enumerate(meant) if key not in _NAMES and not _NAMELESS(key)]
        if kind != "panel" and "label" in place:
            if others and "judge" not in place:
                warn(
                    f"{self.path}: no column is called {', '.join(_NAMES['judge'])}, so that all "
                    f"labels are of one judge, {self.judge}; not read: "
                    f"{some([self.names[i] for i in others])}"
                )
            return []
        if "judge" in place and "label" not in place:
            but = f", but {some([self.names[i] for i in others])}" if others else ""
            raise self._wrong(
                f"column {shown(self.names[place['judge']])} names judges, and no column is "
                f"called label{but}",
                f"call the column of their labels one of {', '.join(_NAMES['label'])}; a panel "
                "has a column for each judge, and none that names judges",
            )
        if not others:
            raise self._wrong("no column holds labels", "name one label")
        return others

    def _add_gold(self, columns: _Columns, pair: tuple[str, str], text: str, line: int) -> None:
        """Add a document's true grade, if the field holds one."""
        if (true := self._grade(text, line)) < 0:
            return
        before = columns.gold.setdefault(pair, true)
        if before != true:
            topic, docno = pair
            raise self._wrong(
                f"document {shown(docno)} of topic {shown(topic)} has gold {before} and {true}",
                "keep one of the two",
                line,
            )

    def _remark_on_scales(self, highest: dict[int, int]) -> None:
        """Warn of a column of a panel whose grades are far above those of all others."""
        for i, grade in highest.items():
            others = max((g for j, g in highest.items() if j != i), default=grade)
            if grade > 2 * max(others, 4):
                warn(
                    f"{self.path}: column {shown(self.names[i])} has grades up to {grade}, all "
                    f"others up to {others}: every column but topic, docno and human is a judge; "
                    "drop it if it is none"
                )

    @staticmethod
    def _pair(fields: Sequence[str], place: dict[str, int]) -> tuple[str, str]:
        if "task" not in place:
            return fields[place["topic"]].strip(), fields[place["docno"]].strip()
        topic, colon, docno = fields[place["task"]].strip().partition(":")
        return (topic, docno) if colon else (NO_TOPIC, topic)

    def _stated(self, fields: Sequence[str], place: dict[str, int], line: int) -> float:
        if "yes" not in place:
            return float("nan")
        yes = self._number(fields[place["yes"]], line)
        if "no" in place:  # the two need not sum to one: a model's next word may be another
            no = self._number(fields[place["no"]], line)
            if no < 0.0 or yes < 0.0:
                raise self._wrong(
                    f"probabilities {yes} and {no}, of which one is below 0",
                    "correct them; of logarithms take exp first",
                    line,
                )
            yes = yes / (yes + no) if yes + no > 0.0 else float("nan")
        if yes < 0.0 or yes > 1.0:
            raise self._wrong(f"probability {yes} is outside 0 to 1", "correct it", line)
        return yes

    def _number(self, text: str, line: int, remedy: str = "correct it") -> float:
        try:
            none = text.strip().lower() in _NO_LABEL
            return float("nan") if none else number(text.strip())
        except ValueError:
            raise self._wrong(f"{shown(text)} is not a number", remedy, line) from None

    def _grade(self, text: str, line: int) -> int:
        """Return a grade; -1 where the field is empty, or says that there is none."""
        word = text.strip().lower()
        grades = "give whole numbers from 0 (not relevant), or -1 for no label"
        value = _BOOLEAN[word] if word in _BOOLEAN else self._number(text, line, grades)
        if value != value:
            return -1
        if abs(value) > _LARGEST or value != round(value):
            raise self._wrong(
                f"label {shown(text)} is not a grade",
                f"give whole numbers from 0 to {_LARGEST:,}: {MEAN_GRADES}"
                if abs(value) <= _LARGEST
                else f"give whole numbers from 0 to {_LARGEST:,}",
                line,
            )
        return int(value)

    def _wrong(self, message: str, remedy: str, line: int | None = None) -> InputError:
        return InputError(message, path=self.path, line=line, remedy=remedy)
