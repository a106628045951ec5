"""Reading what commands are given."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rtc_bayes.cli.arguments import Format
from rtc_bayes.errors import CollectionWarning, InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
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


def pool_of(
    systems: Runs, depth: int, score_depth: int | None = None, qrels: Qrels | None = None
) -> Pool:
    """Pool systems; where lists are scored below the depth, judged documents count there too."""
    from rtc_bayes.collection import Pool

    documents = None
    if qrels is not None and score_depth is not None:
        documents = {t: [d for d, g in of.items() if g >= 0] for t, of in qrels.items()}
    return Pool.from_runs(systems, depth=depth, score_depth=score_depth, documents=documents)


def read_judgments(
    pool: Pool,
    qrels: Qrels,
    relevance_level: int,
    judged_for: str | None = None,
    *,
    infer: bool = False,
) -> Judgments:
    """Read judgments over a pool, and the systems they were made for: typed, stored or inferred."""
    from dataclasses import replace

    from rtc_bayes.collection import Judgments
    from rtc_bayes.collection.judgments import infer_judged_for
    from rtc_bayes.store import meta_path, read_json

    stored = meta_path(qrels.path)
    systems = None
    if judged_for is not None:
        systems = [tag.strip() for tag in judged_for.split(",")]
    elif stored.is_file():
        systems = read_json(stored).get("judged_for")
    judgments = Judgments.from_qrels(
        pool, qrels, relevance_level=relevance_level, judged_for=systems
    )
    if systems is None and infer:
        found = infer_judged_for(judgments)
        warnings.warn(
            f"the systems judged for are not known; inferred: {', '.join(found) or 'none'} "
            "(say them with --judged-for)",
            CollectionWarning,
            stacklevel=1,
        )
        judgments = replace(judgments, judged_for=found)
    return judgments


def digests(
    runs: Runs, qrels: Qrels | None = None, models: Iterable[ModelSpec | None] = ()
) -> dict[str, str]:
    """Return path as typed to digest, for provenance; of models, those in files."""
    found = {run.path: run.digest for run in runs.values()}
    if qrels is not None:
        found[qrels.path] = qrels.digest
    return found | {model.name: model.digest for model in models if model and model.digest}


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
