"""Commands about systems that take no part in judging: plan whom to hold out, and analyse it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.cli.arguments import (
    GroupsFile,
    Level,
    Method,
    Options,
    OutFile,
    OutFolder,
    Quiet,
    RunFiles,
    RunsForTopics,
    RunsOrScores,
    Seed,
    SomeQrels,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import digests, parted, read_options, refuse_list, refuse_unused
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import in_words

if TYPE_CHECKING:
    from rtc_bayes.collection import Runs


@grouped
def plan(
    context: typer.Context,
    *,
    groups: GroupsFile,
    output: OutFile,
    topics: Annotated[
        str | None,
        typer.Option(metavar="N|FILE", help="How many, or a file of them. Default: RUNS'."),
    ] = None,
    held: Annotated[int, typer.Option(help="Groups held out of a topic.")] = 2,
    baseline_topics: Annotated[
        int, typer.Option(help="Judge at least so many topics for all groups.")
    ] = 0,
    on_remainder: Annotated[
        Literal["baseline", "cycle"],
        typer.Option(help="Topics that fill no cycle: judge them for all, or begin a cycle."),
    ] = "baseline",
    never_together: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Hold no two of these out of one topic. Repeatable."),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=N", help="Hold this group out of N topics at most. Repeatable."
        ),
    ] = None,
    most_systems: Annotated[
        int | None, typer.Option(help="Systems held out of a topic at most.")
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=N", help="Judgments that this group adds to a topic. Repeatable."
        ),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Judgments at most, by --costs.")] = None,
    pilot: Annotated[
        str | None,
        typer.Option(metavar="SCORES", help="Of these systems on earlier topics: adds power."),
    ] = None,
    runs: RunsForTopics,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Plan which groups to hold out of which topics.

    The design is drawn at random, and balanced. It is written as CSV, which build, next and
    reusability take: topic, then for each group 1 if it takes part and 0 if it is held out. Shows
    the power that other numbers of held-out groups would have.
    """
    from rtc_bayes.collection import read_groups
    from rtc_bayes.measures.scores import ScoreMatrix
    from rtc_bayes.report.reuse_tables import plan_tables
    from rtc_bayes.report.terminal import write_tables
    from rtc_bayes.reuse import groups_with_runs, hold_out, pilot_power
    from rtc_bayes.store import digest_files, progress_bar, provenance

    demands = any((never_together, most, most_systems is not None, budget is not None))
    if pilot is not None and demands:
        raise InputError(
            "--pilot gives the power of a plan without demands",
            remedy="leave out --never-together, --most, --most-systems and --budget, or --pilot",
        )
    if runs.runs is None:
        refuse_unused(context, "without RUNS", "name_by", "order")
    of_systems, systems = read_groups(groups), _read(runs)
    if systems is not None:
        of_systems = groups_with_runs(of_systems, systems)
    named = _topics(topics, systems)
    design = hold_out(
        of_systems,
        named,
        held,
        baseline_topics=baseline_topics,
        on_remainder=on_remainder,
        never_together=[parted(pair) for pair in never_together or ()],
        most=_numbers("--most", most),
        most_systems=most_systems,
        costs=_numbers("--costs", costs),
        budget=budget,
        seed=seed,
    )
    power = None
    if pilot is not None:
        with progress_bar(quiet) as progress:
            power = pilot_power(
                ScoreMatrix.from_csv(pilot),
                of_systems,
                len(design.topics),
                held=[held],
                baseline_topics=baseline_topics,
                on_remainder=on_remainder,
                seed=seed,
                progress=progress,
            )
    tables = plan_tables(design, baseline_topics, "cycle" if demands else on_remainder, power)
    inputs = {} if systems is None else digests(systems)
    of_topics = [topics] if topics is not None and not topics.isdecimal() else []
    inputs |= digest_files(groups, pilot, *of_topics)
    design.write(output, provenance=provenance(seed=seed, inputs=inputs))
    write_tables(tables, None, {})
    if demands:
        out = (~design.contributes).sum(axis=1).tolist()
        numbers = ", ".join(f"{group} {n}" for group, n in zip(design.groups, out, strict=True))
        typer.echo(f"The table is of plans without demands. With them, topics held out: {numbers}")
    typer.echo(f"{in_words(design)}\nin {output}")


@grouped
def reusability(
    context: typer.Context,
    *,
    groups: GroupsFile,
    output: OutFolder,
    qrels: SomeQrels = None,
    scores: Annotated[
        str | None, typer.Option(metavar="SCORES", help="A CSV, instead of runs and judgments.")
    ] = None,
    hold_out: Annotated[
        str | None,
        typer.Option(metavar="DESIGN", help="The design by which documents were judged."),
    ] = None,
    leave_out: Annotated[
        str | None,
        typer.Option(
            metavar="groups|A,B",
            help="Judgments are complete: leave groups out, one at a time: all (groups), or these.",
        ),
    ] = None,
    depth: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            help="Judgments are complete: pool this many documents of each list. See above. "
            "Default: 100 with --leave-out.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="As ir-measures names it; of --scores that have several, which. Default: AP."
        ),
    ] = None,
    relevance_level: Level = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Scores as this model expects them. Default: unjudged documents are not relevant."
        ),
    ] = None,
    method: Method = None,
    option: Options = None,
    level: Annotated[float, typer.Option(help="Significance level of every test.")] = 0.05,
    permutations: Annotated[
        int, typer.Option(help="Random orders of topics to compare with.")
    ] = 999,
    runs: RunsOrScores,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Test whether a collection is fair to systems that come later.

    With --hold-out, judgments were made under a design; if they are complete, --depth cuts them to
    what the design would have judged. With --leave-out, judgments are complete, and groups are
    left out one at a time; --depth is the depth of the pool (default 100), and may be repeated:
    the largest is the pool's.

    Writes a page (HTML) and its tables.
    """
    from rtc_bayes.collection import read_groups, read_qrels
    from rtc_bayes.collection.hold_out import read_hold_out
    from rtc_bayes.measures.scores import ScoreMatrix
    from rtc_bayes.relevance import ModelSpec
    from rtc_bayes.reuse import leave_group_out, reusability, scores_under
    from rtc_bayes.reuse.analysis import Reusability
    from rtc_bayes.reuse.left_out import LeftOut
    from rtc_bayes.store import announced, digest_files, progress_bar, provenance

    _check_sources(hold_out, leave_out, runs, qrels, scores, depth)
    _check_unused(context, leave_out, scores, model)
    of_systems, systems = read_groups(groups), _read(runs)
    judged = None if qrels is None else read_qrels(qrels)
    inputs = {} if systems is None else digests(systems, judged)
    inputs |= digest_files(groups, hold_out, scores)
    result: Reusability | LeftOut
    if leave_out is not None:
        assert systems is not None
        assert judged is not None
        with announced("leaving groups out", quiet):
            result = leave_group_out(
                systems,
                judged,
                of_systems,
                measure or "AP",
                depth=depth or defaults.DEPTH,
                leave_out=leave_out,
                relevance_level=relevance_level,
            )
    else:
        design = read_hold_out(str(hold_out))
        if scores is not None:
            matrix = ScoreMatrix.from_csv(scores, measure)
        else:
            assert systems is not None
            assert judged is not None
            spec = None if model is None else ModelSpec.parse(model, method, read_options(option))
            inputs |= {} if spec is None else spec.files
            with announced("scoring" if spec is None else "fit", quiet):
                matrix = scores_under(
                    systems,
                    judged,
                    of_systems,
                    design,
                    measure or "AP",
                    depth=depth[0] if depth else None,
                    relevance_level=relevance_level,
                    model=spec,
                    seed=seed,
                )
        with progress_bar(quiet) as progress:
            result = reusability(
                matrix,
                of_systems,
                design,
                level=level,
                permutations=permutations,
                seed=seed,
                progress=progress,
            )
    page = result.write(output, provenance(seed=seed, inputs=inputs))
    typer.echo(f"{result.verdict()}\nOpen {page}")


def _check_sources(
    hold_out: str | None,
    leave_out: str | None,
    runs: RunFiles,
    qrels: str | None,
    scores: str | None,
    depth: Sequence[int] | None,
) -> None:
    """Refuse what does not go together of what `reusability` reads and is asked."""
    if (hold_out is None) == (leave_out is None):
        wrong = "neither of" if hold_out is None else "both"
        raise InputError(
            f"{wrong} --hold-out and --leave-out",
            remedy="give --hold-out DESIGN, or --leave-out groups",
        )
    if (runs.runs is None) == (scores is None) or (runs.runs is None) != (qrels is None):
        raise InputError(
            "it takes runs with judgments, or scores",
            remedy="give RUNS with --qrels, or --scores alone",
        )
    if scores is not None and (depth or leave_out):
        lone = "--depth" if depth else "--leave-out"
        raise InputError(f"{lone} needs runs", remedy="give RUNS with --qrels")
    if hold_out is not None and len(depth or ()) > 1:
        raise InputError("--depth is given twice", remedy="give one with --hold-out")


def _check_unused(
    context: typer.Context, leave_out: str | None, scores: str | None, model: str | None
) -> None:
    """Refuse options of `reusability` that say nothing beside what else was given."""
    if leave_out is not None:
        of_design = ("model", "method", "option", "level", "permutations")
        refuse_unused(context, "with --leave-out", *of_design)
    elif scores is not None:
        of_runs = ("model", "method", "option", "relevance_level", "name_by", "order")
        refuse_unused(context, "with --scores", *of_runs)
    elif model is None:
        refuse_unused(
            context, "without --model", "method", "option", remedy="name the model, as robust"
        )


def _read(runs: RunFiles) -> Runs | None:
    return None if runs.runs is None else runs.read()


def _topics(text: str | None, runs: Runs | None) -> list[str] | int:
    if text is None:
        if runs is None:
            raise InputError("no topics", remedy="give RUNS, or --topics with a number or a file")
        return list(runs.topics)
    if text.isdecimal():
        return whole_number("--topics", int(text), least=1)
    return _topics_of(text)


def _topics_of(path: str) -> list[str]:
    """Read ids with white space between them, or the column topic of a CSV; each once."""
    from rtc_bayes.store.csv_rows import read_csv_rows

    remedy = "give a topic a line, or a CSV with a column topic"
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"cannot read topics: {getattr(error, 'strerror', None) or error}",
            path=path,
            remedy="give a number or a file",
        ) from error
    first = next(filter(str.strip, lines), "").lower()
    if "topic" in [field.strip(' "') for field in first.split(",")]:
        names, *rows = read_csv_rows(path, "topics", remedy)
        column = [name.lower() for name in names.fields].index("topic")
        ids = [(line, fields[column]) for line, fields in rows]
    else:
        ids = [(n, word) for n, line in enumerate(lines, 1) for word in line.split()]
        # fields of a table, and names of its columns
        if other := [(n, word) for n, word in ids if {*',;"'} & {*word} or word.lower() == "topic"]:
            line, word = other[0]
            raise InputError(f"{word!r:.80} is no topic", path=path, line=line, remedy=remedy)
    lines_of: dict[str, int] = {}
    for line, topic in ids:
        if not topic:
            raise InputError("a row without a topic", path=path, line=line, remedy=remedy)
        if topic in lines_of:
            raise InputError(
                f"topic {topic} stands twice, first in line {lines_of[topic]}",
                path=path,
                line=line,
                remedy="name each topic once",
            )
        lines_of[topic] = line
    return list(lines_of)


def _numbers(option: str, texts: Sequence[str] | None) -> dict[str, int]:
    """Read GROUP=N options."""
    read: dict[str, int] = {}
    for text in texts or ():
        refuse_list(option, text)
        group, equals, number = text.rpartition("=")
        if not equals or not number.isdecimal() or group in read:
            raise InputError(f"cannot use {option} {text}", remedy="write GROUP=N, each group once")
        read[group] = int(number)
    return read
