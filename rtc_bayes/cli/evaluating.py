"""Commands about scores: by complete judgments, by a sample of them; simulate judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rtc_bayes.cli.arguments import (
    Layout,
    Level,
    Measures,
    Out,
    OutFolder,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
    Topics,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import ENDINGS, digests, format_of, refuse_unused
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import in_words

if TYPE_CHECKING:
    from rtc_bayes.cli.arguments import Format
    from rtc_bayes.collection import Runs


@grouped
def evaluate(
    context: typer.Context,
    *,
    qrels: SomeQrels = None,
    prels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Instead of --qrels: a sample of judgments, drawn with known probabilities "
            "(prels); scores are then estimates of AP (statAP).",
        ),
    ] = None,
    measure: Measures = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="One value per topic.")] = False,
    topics: Topics = "judged",
    relevance_level: Level = None,
    judged_depth: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Also show which share of the first N documents of a list is judged.",
        ),
    ] = 100,
    runs: RunsRead,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Score runs by judgments, or by a random sample of them.

    Without --prels, a document that has no judgment counts as nonrelevant.
    """
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.measures import evaluate
    from rtc_bayes.report.command_tables import scores_table
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import provenance

    kind = format_of(layout, output, ENDINGS)
    if (qrels is None) == (prels is None):
        problem = "no judgments" if qrels is None else "--qrels and --prels"
        raise InputError(problem, remedy="give --qrels, or a sample by --prels")
    if prels is not None:
        refuse_unused(context, "of a sample (--prels)", "measure", "topics", "judged_depth")
        _evaluate_sample(runs.read(), prels, relevance_level, kind, output, per_topic=per_topic)
        return
    assert qrels is not None
    # other commands read each topic's scores from a CSV, which holds the measures asked for alone
    if kind == "json" or (kind == "csv" and per_topic):
        refuse_unused(context, "in JSON and in a CSV of each topic's scores", "judged_depth")
    systems, judged = runs.read(), read_qrels(qrels)
    scores = evaluate(
        systems,
        judged,
        measure or "AP",
        relevance_level=relevance_level,
        topics=topics,
        judged_depth=judged_depth,
    )
    level = {"relevance_level": scores.relevance_level}
    meta = provenance(inputs=digests(systems, judged)) | level
    match kind:
        case "json":
            write_value(scores.to_dict(per_topic=per_topic), output, meta)
        case "csv":
            write_frame(scores.to_frame() if per_topic else scores.mean_frame(), output, meta)
        case "table" | "latex" | "markdown":
            table = scores_table(scores, judged, topics=topics, per_topic=per_topic)
            write_tables([table], output, meta, kind)


def _evaluate_sample(
    systems: Runs,
    prels: str,
    relevance_level: int | None,
    kind: Format,
    output: str | None,
    *,
    per_topic: bool,
) -> None:
    """Estimate the average precision of runs from a sample, and say how surely."""
    from rtc_bayes.collection import read_prels
    from rtc_bayes.measures import Sample, stat_ap
    from rtc_bayes.report.command_tables import sampled_table
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import provenance

    drawn = read_prels(prels)
    sample = Sample.from_prels(systems, drawn, relevance_level=relevance_level)
    estimate = stat_ap(sample)
    level = {"relevance_level": sample.judgments.relevance_level}
    meta = provenance(inputs=digests(systems, drawn)) | level
    match kind:
        case "json":
            write_value(estimate.to_dict(per_topic=per_topic), output, meta)
        case "csv":
            scores = estimate.scores.score_frame() if per_topic else estimate.mean_frame()
            write_frame(scores, output, meta)
        case "table" | "latex" | "markdown":
            write_tables([sampled_table(estimate, sample, per_topic=per_topic)], output, meta, kind)


def simulate(
    output: OutFolder,
    n_topics: Annotated[int, typer.Option("--topics", "--n-topics", help="How many.")] = 50,
    n_systems: Annotated[int, typer.Option("--systems", "--n-systems", help="How many.")] = 40,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a collection that looks like TREC's.

    Writes runs/*.gz, qrels.txt (complete), groups.csv and manifest.json.
    """
    from rtc_bayes.collection.simulate import simulate, write

    simulation = simulate(n_topics=n_topics, n_systems=n_systems, seed=seed)
    write(simulation, output)
    typer.echo(f"{in_words(simulation)}\nin {output}")
