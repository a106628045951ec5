"""Reading what commands are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rtc_bayes.cli.arguments import Format
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Qrels, Runs
    from rtc_bayes.relevance import ModelSpec


def read_options(options: Sequence[str] | None) -> dict[str, str]:
    """Read ``K=V`` options."""
    read: dict[str, str] = {}
    for text in options or ():
        key, equals, value = text.partition("=")
        if not (key and equals) or key in read:
            raise InputError(f"cannot use --option {text}", remedy="write K=V, each K once")
        read[key] = value
    return read


def digests(
    runs: Runs, qrels: Qrels | None = None, models: Iterable[ModelSpec | None] = ()
) -> dict[str, str]:
    """Return path as typed to digest, for provenance; of models, those in files."""
    files = {run.path: run.digest for run in runs.values()}
    if qrels is not None:
        files[qrels.path] = qrels.digest
    return files | {model.name: model.digest for model in models if model and model.digest}


def format_of(layout: Format | None, output: str | None) -> Format:
    """Return the format asked for, else that of the output's ending, else a table."""
    if layout is not None:
        return layout
    match PurePath(output or "").suffix:
        case ".json":
            return "json"
        case ".csv":
            return "csv"
        case _:
            return "table"
