"""The command that aggregates labels of judges that err."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from rtc_bayes.cli.arguments import NGrades, Out, Quiet, Seed
from rtc_bayes.cli.inputs import format_of, refuse_unused, typed

_ENDINGS: dict[str, Literal["erels", "csv", "json"]] = {
    "": "erels",
    ".erels": "erels",
    ".txt": "erels",
    ".csv": "csv",
    ".json": "json",
}


def labels(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILES", help="Files, folders, globs.")],
    method: Annotated[
        Literal["mv", "em", "one-coin", "glad", "hierarchical", "panel"] | None,
        typer.Option(
            help="mv: shares of votes; em: each judge's errors by true grade (Dawid and Skene); "
            "one-coin: one accuracy a judge; glad: and a difficulty a document; hierarchical: as "
            "em, with judges partly alike and documents that mislead all; panel: judges' errors "
            "correlate. Default: hierarchical; panel for one judge alone."
        ),
    ] = None,
    relevance_level: Annotated[
        int | None,
        typer.Option(
            help="The lowest grade that counts as relevant. Default: that of --human, or 1."
        ),
    ] = None,
    graded: Annotated[
        bool, typer.Option("--graded", help="Aggregate grades, instead of relevance.")
    ] = False,
    human: Annotated[
        str | None,
        typer.Option(
            metavar="QRELS",
            help="Grades by a person; they count as true, and judges are measured by them.",
        ),
    ] = None,
    gold: Annotated[
        bool, typer.Option("--gold", help="Use the true grades that the files hold.")
    ] = False,
    judge: Annotated[
        str | None, typer.Option(help="The judge of files that name none. Default: their names.")
    ] = None,
    n_grades: NGrades = None,
    misleading: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Of hierarchical: the share of documents that mislead all judges together, unless "
            "known grades say otherwise. 0: judges err one by one.",
        ),
    ] = 0.4,
    families: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of panel: judge,family; a family weighs as one judge."),
    ] = None,
    judges: Annotated[
        bool, typer.Option("--judges", help="Show all judges, not only those of most labels.")
    ] = False,
    seed: Seed = 0,
    layout: Annotated[
        Literal["erels", "csv", "json"] | None,
        typer.Option("--format", help="Default: by OUT's ending, else erels."),
    ] = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Turn labels of many judges into probabilities of relevance.

    The judges are a crowd, or language models. Prints how far they agree, and how often each is
    right. Writes OUT as erels (topic Q0 docno probability), which compare takes as --erels, or as
    a table of pairs if OUT ends in .csv or .json.
    """
    from rtc_bayes.collection import read_labels, read_qrels
    from rtc_bayes.collection.reading import read_families
    from rtc_bayes.collection.sources import files_of
    from rtc_bayes.crowd import CrowdPrior, aggregate
    from rtc_bayes.crowd.votes import level_by
    from rtc_bayes.errors import InputError, warn
    from rtc_bayes.report.labels_tables import judges_tables
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import announced, digest_files, meta_path, provenance, rows_of, write_json
    from rtc_bayes.store.shown import counted

    if output is None:
        refuse_unused(context, "without --output", "layout", remedy="give -o OUT, or leave it out")
    kind = format_of(layout, output, _ENDINGS)
    if method not in (None, "hierarchical"):
        refuse_unused(context, f"with --method {method}", "misleading")
    prior = CrowdPrior(misleading=misleading) if typed(context, "misleading") else None
    if gold and human is not None:
        raise InputError("--gold and --human both say what is known", remedy="give one")
    read = read_labels(*files, judge=judge, n_grades=n_grades)
    if gold and not read.gold:
        raise InputError(
            "--gold, and the files hold no true grade", remedy="leave it out, or give --human QRELS"
        )
    grades = read.gold if gold else None if human is None else read_qrels(human)
    level = level_by(grades, relevance_level)
    groups = None if families is None else read_families(families)
    with announced("aggregating", quiet):
        made = aggregate(
            read,
            method,
            relevance_level=level,
            graded=graded,
            human=grades,
            prior=prior,
            families=groups,
            seed=seed,
        )
    if read.gold and not gold and human is None:
        warn(f"the files hold true grades of {counted(len(read.gold), 'pair')}: --gold uses them")
    tables = judges_tables(read, made, relevance_level=level, every=judges, human=grades)
    write_tables(tables, None, {})
    if output is None:
        return
    paths = [
        str(file) for path in [*files, *filter(None, (human, families))] for file in files_of(path)
    ]
    meta = provenance(seed=seed, inputs=digest_files(*paths))
    match kind:
        case "erels":
            made.write(output)
            write_json(meta, meta_path(output))
        case "csv":
            write_frame(made.to_frame(), output, meta)
        case "json":
            write_value(rows_of(made.to_frame()), output, meta)
    typer.echo(f"in {output}")
