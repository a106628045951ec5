"""The command that says what a budget buys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    AnEstimand,
    Judge,
    JudgedFor,
    LabelFiles,
    Layout,
    Out,
    PilotQrels,
    Quiet,
    RunsRead,
    Seed,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import ENDINGS, digests, format_of, pair_of, read_judgments
from rtc_bayes.errors import InputError


@grouped
def plan(
    *,
    qrels: PilotQrels = None,
    judged_for: JudgedFor = None,
    budget: Annotated[
        float,
        typer.Option(
            help="What may be spent beyond the pilot; in judgments, unless costs are given."
        ),
    ],
    difference: Annotated[
        float,
        typer.Option(
            help="The difference in mean score to be told apart, from 0 to 1 (by DCG more)."
        ),
    ] = 0.05,
    confidence: Annotated[
        float, typer.Option(help="The confidence asked for, above 0.5 and below 1.")
    ] = defaults.CONFIDENCE,
    population: Annotated[
        bool, typer.Option("--population", help="Plan for topics like these, not these alone.")
    ] = False,
    judgment_cost: Annotated[float, typer.Option(help="The cost of a judgment.")] = 1.0,
    topic_cost: Annotated[
        float, typer.Option(help="The cost of a new topic, beside its judgments.")
    ] = 0.0,
    judgments_per_topic: Annotated[
        list[int] | None,
        typer.Option(
            help="How many judgments a topic to try. Repeatable. Default: 2, 4, 8, 16, 32."
        ),
    ] = None,
    pair: Annotated[
        str | None, typer.Option(metavar="A,B", help="Plan for these two systems alone.")
    ] = None,
    algorithm: Judge = defaults.ALGORITHM,
    repetitions: Annotated[int, typer.Option(help="How many times judging is simulated.")] = 2,
    estimand: AnEstimand,
    runs: RunsRead,
    seed: Seed = 0,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say whether to judge more topics, or topics deeper.

    Starts from a pilot: runs of all topics, and judgments (--qrels) of some. A model is fitted to
    it, and judging is simulated from the model.
    """
    if qrels is None:
        raise InputError(
            "a plan starts from a pilot, and --qrels, the judgments of the pilot, is missing",
            remedy="give qrels of some topics of the runs; if there are none yet, judge about "
            "eight documents on each of ten topics first (rtc-bayes next says which to judge)",
        )
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.judging import parse_algorithm, plan
    from rtc_bayes.judging.planning import JUDGMENTS_PER_TOPIC
    from rtc_bayes.report.command_tables import plan_tables
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import progress_bar, provenance

    kind, chosen = format_of(layout, output, ENDINGS), parse_algorithm(algorithm)
    systems, judged = runs.read(), read_qrels(qrels)
    pool = estimand.pool(systems, judged)
    with progress_bar(quiet) as progress:
        made = plan(
            pool,
            read_judgments(estimand, pool, judged, LabelFiles(), judged_for),
            budget,
            estimand,
            difference=difference,
            confidence=confidence,
            population=population,
            judgment_cost=judgment_cost,
            topic_cost=topic_cost,
            judgments_per_topic=judgments_per_topic or JUDGMENTS_PER_TOPIC,
            pair=_two(pair, pool.systems),
            algorithm=chosen,
            repetitions=repetitions,
            seed=seed,
            progress=progress,
        )
    meta = provenance(seed=seed, inputs=digests(systems, judged, [chosen]))
    match kind:
        case "json":
            written = made.to_dict()
            write_value(written | {"meta": written["meta"] | meta}, output, None)
        case "csv":
            write_frame(made.to_frame(), output, meta)
        case "table" | "latex" | "markdown":
            write_tables(plan_tables(made), output, meta, kind)


def _two(text: str | None, systems: Sequence[str]) -> tuple[str, str] | None:
    """Read two systems' names."""
    pair = pair_of(text, systems, least="")
    if pair is None:
        return None
    if pair == "least":
        raise InputError(f"--pair is {text!r}", remedy="give two systems as A,B")
    return pair[0], pair[1]
