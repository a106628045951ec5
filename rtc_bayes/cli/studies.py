"""Commands about whether confidences can be trusted, and the page that shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    AnEstimand,
    CalibrationWords,
    CompleteQrels,
    Method,
    Model,
    Options,
    OutFolder,
    PlaceOfWork,
    PlanWords,
    Quiet,
    RunsRead,
    Seed,
    SomeCompleteQrels,
    SomeRunsRead,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import digests, read_options, refuse_unused
from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import in_words


@grouped
def demo(
    *,
    output: OutFolder = "rtc-bayes-demo",
    trials: Annotated[int, typer.Option(help="Of the small study that checks confidences.")] = 2,
    estimand: AnEstimand,
    workers: PlaceOfWork,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Show the whole method on a simulation.

    Needs no data; prints what it found, writes a report (HTML) and tables (CSV).
    """
    from rtc_bayes.report import write_report
    from rtc_bayes.report.command_tables import demo_tables
    from rtc_bayes.report.terminal import write_tables
    from rtc_bayes.robustness import demo
    from rtc_bayes.store import progress_bar

    with progress_bar(quiet) as progress:
        finished = demo(
            output,
            trials=trials,
            estimand=estimand,
            seed=seed,
            workers=replace(workers, progress=progress),
        )
        report = write_report(output)
    write_tables(demo_tables(finished), None, finished.meta)
    typer.echo(f"Open {report}")


@grouped
def robustness(
    *,
    qrels: CompleteQrels,
    algorithms: Annotated[str, typer.Option(help="ALGORITHMs, with commas between.")],
    output: OutFolder,
    plan: PlanWords,
    leave_out: Annotated[
        str | None,
        typer.Option(
            metavar="groups|A,B",
            help="In each trial take new systems from one group and initial ones from others; "
            "groups take turns: all, or these.",
        ),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Group of each system: system,group. For --leave-out.")
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(help="Judge so many, however sure, and evaluate by these. Repeatable."),
    ] = None,
    estimand: AnEstimand,
    workers: PlaceOfWork,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Check whether confidences can be trusted.

    A trial judges for a few systems, compares more by these judgments, and checks that against the
    complete ones. Trials are repeated with other systems. Resumes where it stopped.
    """
    from rtc_bayes.collection import read_groups, read_qrels
    from rtc_bayes.judging import parse_algorithm, split_algorithms
    from rtc_bayes.robustness import study
    from rtc_bayes.store import digest_file, progress_bar
    from rtc_bayes.trials.kind import check_any_fitted

    texts = split_algorithms(algorithms)
    parsed = [parse_algorithm(text) for text in texts]
    systems, truth = runs.read(), read_qrels(qrels)
    of_systems = None if groups is None else read_groups(groups)
    inputs = digests(systems, truth, parsed)
    if groups is not None:
        inputs[groups] = digest_file(groups)
    with progress_bar(quiet) as progress:
        finished = study(
            systems,
            truth,
            algorithms=texts,
            estimand=estimand,
            budgets=budget or (),
            **plan,
            leave_out=leave_out,
            groups=of_systems,
            seed=seed,
            output=output,
            workers=replace(workers, progress=progress),
            inputs=inputs,
        )
    typer.echo(in_words(finished))
    check_any_fitted(finished.trials)


@grouped
def calibrate(
    context: typer.Context,
    *,
    output: OutFolder,
    qrels: SomeCompleteQrels = None,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    algorithm: Annotated[
        str, typer.Option(help="What makes the judgments.")
    ] = defaults.CALIBRATION_JUDGE,
    plan: CalibrationWords,
    budget: Annotated[int | None, typer.Option(help="Judge so many, however sure.")] = None,
    estimand: AnEstimand,
    workers: PlaceOfWork,
    runs: SomeRunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Check a model's numbers against complete judgments.

    Judges for a few systems, fits the model, and checks its probabilities of relevance, its
    intervals and its confidences; writes tables and a report. Resumes where it stopped.
    """
    from rtc_bayes.calibration import calibrate
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.collection.simulate import simulate
    from rtc_bayes.judging import parse_algorithm
    from rtc_bayes.relevance import ModelSpec
    from rtc_bayes.report import write_report
    from rtc_bayes.store import progress_bar
    from rtc_bayes.trials.kind import check_any_fitted

    if (runs.runs is None) != (qrels is None):
        raise InputError(
            "runs and judgments go together",
            remedy="give RUNS with --qrels, or neither for a simulated collection",
        )
    spec = ModelSpec.parse(model or defaults.MODEL, method, read_options(option))
    inputs = {}
    if qrels is None:
        refuse_unused(context, "without RUNS", "name_by", "order")
        simulated = simulate(seed=seed)
        systems, truth = simulated.runs, simulated.qrels
    else:
        systems, truth = runs.read(), read_qrels(qrels)
        inputs = digests(systems, truth, [spec, parse_algorithm(algorithm)])
    with progress_bar(quiet) as progress:
        finished = calibrate(
            systems,
            truth,
            model=spec.text,
            algorithm=algorithm,
            estimand=estimand,
            budget=budget,
            **plan,
            seed=seed,
            output=output,
            workers=replace(workers, progress=progress),
            inputs=inputs,
        )
        report = write_report(output)
    typer.echo(f"{in_words(finished)}\nOpen {report}")
    check_any_fitted(finished.trials)


def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What a study wrote.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Default: DIR/report.html.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a study as one HTML page, and its tables beside it."""
    from rtc_bayes.report import write_report

    page = write_report(folder, output)
    typer.echo(f"Open {page}; tables as CSV, Markdown and LaTeX: {page.parent / 'tables'}")
