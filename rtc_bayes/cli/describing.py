"""The command that describes a collection."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import Level, Out, PageLayout, Quiet, RunsRead, SomeQrels
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import PAGE_ENDINGS, digests, format_of, show_page


@grouped
def describe(
    *,
    qrels: SomeQrels = None,
    relevance_level: Level = None,
    depth: Annotated[
        int, typer.Option(help="Compare this many documents of each list.")
    ] = defaults.DEPTH,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Add a row for each topic; as CSV, these alone.")
    ] = False,
    runs: RunsRead,
    layout: PageLayout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Describe a collection, and say what is suspicious.

    Shows sizes, the overlap of lists, and what is judged.
    """
    from rtc_bayes.collection import describe, read_qrels
    from rtc_bayes.report.description_tables import description_tables
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import announced, provenance

    kind = format_of(layout, output, PAGE_ENDINGS)
    with announced("describe", quiet):
        systems = runs.read()
        judged = None if qrels is None else read_qrels(qrels)
        description = describe(systems, judged, relevance_level=relevance_level, depth=depth)
    meta = provenance(inputs=digests(systems, judged))
    description = replace(description, meta=meta)
    match kind:
        case "json":
            write_value(description.to_dict(), output, None)
        case "csv":
            frame = description.topics if per_topic else description.to_frame()
            write_frame(frame, output, meta)
        case "html":
            show_page(description.to_html(output), output, meta, quiet=quiet)
        case "table" | "latex" | "markdown":
            write_tables(description_tables(description, per_topic=per_topic), output, meta, kind)
