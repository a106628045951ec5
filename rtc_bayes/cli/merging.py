"""The command that merges judgments."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import typer

from rtc_bayes.cli.arguments import OutFile, Quiet
from rtc_bayes.cli.guarding import as_written, lose_no_judgment
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import in_words

# conflicts that the terminal gets; OUT.meta.json has them all
_SHOWN = 20


def merge(
    qrels: Annotated[list[str], typer.Argument(metavar="QRELS", help="Files, folders, globs.")],
    output: OutFile,
    conflict: Annotated[
        Literal["refuse", "first", "highest", "lowest", "majority"],
        typer.Option(help="What grade a document gets that groups judged differently."),
    ] = "refuse",
    quiet: Quiet = False,
) -> None:
    """Merge the judgments of several groups.

    Who judged which document, and every conflict, stand in OUT.meta.json.
    """
    from rtc_bayes.collection import merge, read_qrels
    from rtc_bayes.collection.sources import files_of
    from rtc_bayes.report.tables import yes_or_no
    from rtc_bayes.report.terminal import Table, write_tables
    from rtc_bayes.store import provenance

    files = [str(file) for path in qrels for file in files_of(path)]
    for file, times in Counter(files).items():
        if times > 1:
            raise InputError(f"given {times} times", path=file, remedy="give each file once")
    sources = [read_qrels(file) for file in files]
    if not as_written(output):
        remedy = "name another file, and merge this one, too"
        lose_no_judgment(output, sources, "what is merged", remedy, prels=False)
    merged = merge(*sources, conflict=conflict)
    digests = {source.path: source.digest for source in sources}
    meta = provenance(inputs=digests)
    merged.write(output, provenance=meta)
    if merged.conflicts:
        title = f"judged differently, settled by {conflict}"
        if len(merged.conflicts) > _SHOWN:
            title = f"{title}: {_SHOWN} of {len(merged.conflicts)}, {output}.meta.json has all"
        shown = merged.conflicts_frame().head(_SHOWN)
        write_tables([Table(title, shown, {"tie": yes_or_no})], None, meta)
    typer.echo(f"{in_words(merged)}\nin {output}")
