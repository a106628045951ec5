"""What is fuzzed: things on disk or in memory, damaged, and how they are read.

A target makes a valid input, damages it, and reads it. To add one: subclass `Target` and put it
into `TARGETS`.
"""

from __future__ import annotations

import gzip
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rtc_bayes as rb
from rtc_bayes.collection import read_groups, read_prels
from rtc_bayes.robustness import Study, study

HOSTILE = [
    "", " ", "\t", "\x0b", "\x1c", "\x85", "\u00a0", "\ufeff", "\0", "\r", "\n", "nan", "inf",
    "-inf", "1e400", "1e-400", "0x10", "1_000", "+1", "-0", "9" * 5000, "9" * 20, "1.5", "٣", "é",
    "-", '"', "'", "a,b", "#", "../x", "\ud800",
]  # fmt: skip


class Target:
    """One kind of input; `work` damages it in a folder of its own and reads it."""

    name: str
    share: float = 1.0
    """Of the inputs; less for what takes long to read."""

    def prepare(self, folder: Path) -> None:
        """Make what is damaged."""

    def work(self, folder: Path, random: random.Random) -> tuple[Callable[[], Any], str]:
        """Damage an input; return how it is read, and the file that a refusal has to name."""
        raise NotImplementedError

    def check(self, folder: Path, value: Any) -> None:
        """Raise an AssertionError where what was accepted is not what the input says."""


class TextFile(Target):
    """A file of lines, its bytes damaged; what is accepted holds one value for every line."""

    def __init__(self, name: str, text: str, read: Callable[[Path], Any]) -> None:
        self.name, self.text, self.read = name, text.encode(), read

    def work(self, folder: Path, random: random.Random) -> tuple[Callable[[], Any], str]:
        path = folder / "file"
        data = damaged(self.text, random)
        self.lines = sum(bool(line.split()) for line in data.split(b"\n"))
        path.write_bytes(gzip.compress(data) if random.random() < 0.1 else data)
        if random.random() < 0.05:
            path.write_bytes(damaged(gzip.compress(data), random))
            self.lines = -1
        return lambda: self.read(path), str(path)

    def check(self, folder: Path, value: Any) -> None:
        if isinstance(value, dict):
            return
        held = sum(map(len, value.values()))
        assert self.lines in (held, -1), f"{self.lines} lines, {held} values"


class Frame(Target):
    """A data frame, some of whose cells, columns and rows are damaged."""

    def __init__(self, name: str, columns: dict[str, list[Any]], read: Callable[..., Any]) -> None:
        self.name, self.columns, self.read = name, columns, read

    def work(self, folder: Path, random: random.Random) -> tuple[Callable[[], Any], str]:
        names = list(self.columns)
        rows = [list(row) for row in zip(*self.columns.values(), strict=True)]
        for _ in range(random.randint(1, 3)):
            column = random.randrange(len(names))
            match random.randrange(6):
                case 0 | 1 | 2:
                    random.choice(rows)[column] = weird(random)
                case 3:
                    rows.append(list(random.choice(rows)))
                case 4 if len(names) > 1:
                    del names[column]
                    for row in rows:
                        del row[column]
                case 5:
                    names[column] = random.choice(names)
        frame = pd.DataFrame(rows, columns=names, dtype=object)
        self.rows = len(frame)
        return lambda: self.read(frame), ""

    def check(self, folder: Path, value: Any) -> None:
        held = sum(map(len, value.values()))
        assert held == self.rows, f"{self.rows} rows, {held} values"


class Table(Target):
    """A mapping of mappings, some of whose keys and values are damaged."""

    def __init__(self, name: str, read: Callable[..., Any]) -> None:
        self.name, self.read = name, read

    def work(self, folder: Path, random: random.Random) -> tuple[Callable[[], Any], str]:
        table: dict[Any, Any] = {"1": {"a": 1, "b": 2}, "2": {"a": 1}}
        of = random.choice([table, table["1"], table["2"]])
        of[weird(random, key=True)] = weird(random)
        self.values = sum(len(v) for v in table.values() if isinstance(v, dict))
        return lambda: self.read(table), ""

    def check(self, folder: Path, value: Any) -> None:
        held = sum(map(len, value.values()))
        assert held == self.values, f"{self.values} values given, {held} held"


class Stored(Target):
    """What the library wrote, one of its files damaged: it reads as it was, or is refused.

    `write` gets a folder; of the files that then match `files` one is damaged. `named` is what a
    refusal has to name: by default the damaged file.
    """

    def __init__(
        self,
        name: str,
        write: Callable[[Path], object],
        read: Callable[[Path], Any],
        content: Callable[[Any], object],
        *,
        files: str = "**/*",
        named: str = "",
        share: float = 1.0,
    ) -> None:
        self.name, self.write, self.read, self.content = name, write, read, content
        self.files, self.named, self.share = files, named, share

    def prepare(self, folder: Path) -> None:
        self.write(folder)
        self.held = self.content(quiet(lambda: self.read(folder)))
        self.data = {file: file.read_bytes() for file in folder.glob(self.files) if file.is_file()}
        self.last = next(iter(self.data))

    def work(self, folder: Path, random: random.Random) -> tuple[Callable[[], Any], str]:
        self.last.write_bytes(self.data[self.last])
        self.last = random.choice(list(self.data))
        self.last.write_bytes(damaged(self.data[self.last], random))
        named = folder / self.named if self.named else self.last
        return lambda: self.read(folder), str(named)

    def check(self, folder: Path, value: Any) -> None:
        assert self.content(value) == self.held, f"other content, {self.last.name} damaged"


def content_of_runs(runs: rb.Runs) -> object:
    return [
        (run.tag, run.digest, t, run.ranking(t).tolist(), run.scores(t).tolist())
        for run in runs.values()
        for t in run.topics
    ]


def content_of_fit(fit: rb.Fit) -> str:
    """Everything but the provenance."""
    groups = {name: group.to_dataset().to_dict() for name, group in fit.posterior.items()}
    judged = fit.judgments.relevant.tolist(), fit.judgments.nonrelevant.tolist()
    how = fit.model, fit.method, fit.options, fit.sampling, fit.digest, fit.diagnostics
    return repr((fit.relevance.to_xarray().to_dict(), groups, judged, how))


def content_of_study(study: Study) -> str:
    tables = {name: table.to_dict() for name, table in study.tables.items()}
    return repr((tables, study.summary, study.meta["study"]))


def simulated() -> tuple[rb.Runs, rb.Qrels]:
    made = rb.simulate(n_topics=2, n_systems=3, seed=0)
    return made.runs, made.qrels


def save_fit(path: Path) -> None:
    pool = rb.Pool.from_runs(simulated()[0], depth=4)
    judgments = rb.Judgments.from_labels(pool, [0, 1, 2, 3], [1.0, 0.0, 1.0, 0.0])
    quiet(lambda: rb.fit(pool, judgments, model="rtc", method="map")).save(path)


def make_study(folder: Path) -> Study:
    """Make a study, or go on with it by the trials that are stored."""
    return study(
        *simulated(),
        algorithms=("mtc",),
        trials=1,
        n_systems=3,
        estimand=rb.Estimand(depth=4),
        output=folder,
        workers=rb.Workers(1),
    )


def damaged(data: bytes, random: random.Random) -> bytes:
    """Return some bytes after one to three accidents."""
    for _ in range(random.randint(1, 3)):
        i, j = sorted(random.choices(range(len(data) + 1), k=2))
        lines = data.split(b"\n")
        k = random.randrange(len(lines))
        match random.randrange(9):
            case 0:
                data = data[:i] + random.randbytes(random.randint(1, 4)) + data[i:]
            case 1:
                data = data[:i] + random.randbytes(1) + data[i + 1 :]
            case 2:
                data = data[:i]
            case 3:
                data = data[:i] + data[j:]
            case 4:
                data = data[:j] + data[i:j] + data[j:]
            case 5:
                data = b"\n".join([*lines[:k], lines[k], *lines[k:]])
            case 6:
                lines[k] = lines[random.randrange(len(lines))]
                data = b"\n".join(lines)
            case 7:
                fields = lines[k].split(b" ")
                fields[random.randrange(len(fields))] = random.choice(HOSTILE[:-1]).encode()
                lines[k] = b" ".join(fields)
                data = b"\n".join(lines)
            case 8:
                data = data.replace(b"\n", random.choice([b"\r\n", b"\n\n", b" \n ", b"\r"]))
    return data


def weird(random: random.Random, *, key: bool = False) -> Any:
    """Return a value that does not belong in a table, or nearly so."""
    values = [
        None, float("nan"), 1.0, 1.5, 1, "1", True, float("inf"), 10**400, 10**5000, -1,
        np.int64(1), np.float32(2), b"a", pd.NaT, (1,), *HOSTILE,
    ]  # fmt: skip
    return random.choice(values if key else [*values, [1], {"a": 1}, object()])


def quiet(read: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.errors.CollectionWarning)
        return read()


RUN = "".join(f"{t} Q0 d{d} {d} {9 - d}.5 sys\n" for t in (1, 2) for d in range(1, 5))
QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n2 0 d9 -1\n"
ROWS = {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"]}
TARGETS: list[Target] = [
    TextFile("run", RUN, rb.read_runs),
    TextFile("run by rank", RUN, lambda path: rb.read_runs(path, order="rank")),
    TextFile("qrels", QRELS, rb.read_qrels),
    TextFile("erels", "1 Q0 d1 0.5\n1 Q0 d2 1\n2 Q0 d1 0\n", rb.read_erels),
    TextFile("prels", "1 d1 1 2 0.5\n1 d2 0 1 1\n2 d1 -1 0 1\n", read_prels),
    TextFile("scores", "1 d1 -2.5\n1 d2 1e3\n2 d1 0\n", rb.read_scores),
    TextFile("groups", "system,group\na,x\nb,x\nc,y\n", read_groups),
    Frame("frame of a run", ROWS | {"score": [2.0, 1.0, 1.0]}, rb.read_runs),
    Frame(
        "frame of runs", ROWS | {"score": [2.0, 1.0, 1.0], "system": ["x", "x", "y"]}, rb.read_runs
    ),
    Frame("frame of qrels", ROWS | {"label": [1, 0, 2]}, rb.read_qrels),
    Table("mapping of a run", rb.read_runs),
    Table("mapping of qrels", rb.read_qrels),
    Stored(
        "cache",
        lambda folder: (folder / "run").write_text(RUN),
        lambda folder: rb.read_runs(folder / "run", cache=folder / "cache"),
        content_of_runs,
        files="cache/*",
        named="run",
    ),
    *(
        Stored(
            f"fit in {path}",
            lambda folder, path=path: save_fit(folder / path),
            lambda folder, path=path: rb.Fit.load(folder / path),
            content_of_fit,
            files=files,
            named=path,
            share=0.1,
        )
        # of zarr the values and the metadata that is read
        for path, files in (("fit.nc", "*.nc"), ("fit.zarr", "**/*[0-9a]"))
    ),
    Stored("study", make_study, Study.load, content_of_study, files="[!.]*.*", share=0.5),
    Stored("trials", make_study, make_study, content_of_study, files="trials/*", share=0.1),
]
