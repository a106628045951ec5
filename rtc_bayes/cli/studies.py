"""Commands about whether confidences can be trusted, and the page that shows it."""

from __future__ import annotations

from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    Chains,
    Compared,
    Confidence,
    Depth,
    Draws,
    Initial,
    Jobs,
    Level,
    Method,
    Model,
    Names,
    Options,
    OutFolder,
    QrelsFile,
    Quiet,
    Residual,
    RunFiles,
    Scheduler,
    ScoreDepth,
    Seed,
    SomeQrels,
    StudyMoments,
    Trials,
    Tune,
    Unseen,
)
from rtc_bayes.cli.inputs import digests, read_options
from rtc_bayes.errors import InputError


def demo(
    output: OutFolder = "rtc-bayes-demo",
    seed: Seed = 0,
    jobs: Jobs = defaults.JOBS,
    quiet: Quiet = False,
) -> None:
    """Show the whole method on a simulation.

    Needs no data; writes a report (HTML) and tables (CSV).
    """
    from rtc_bayes.report import write_report
    from rtc_bayes.robustness import demo
    from rtc_bayes.store import progress_bar
    from rtc_bayes.workers import Workers

    with progress_bar(quiet) as progress:
        demo(output, seed=seed, workers=Workers(jobs, progress=progress))
        report = write_report(output)
    typer.echo(f"Open {report}")


def robustness(
    runs: RunFiles,
    qrels: QrelsFile,
    algorithms: Annotated[str, typer.Option(help="ALGORITHMs, with commas between.")],
    output: OutFolder,
    trials: Trials = defaults.TRIALS,
    systems: Compared = defaults.SYSTEMS,
    initial: Initial = defaults.INITIAL,
    confidence: Confidence = defaults.CONFIDENCE,
    moments: StudyMoments = "published",
    draws: Draws = defaults.DRAWS,
    chains: Chains = defaults.CHAINS,
    tune: Tune = defaults.TUNE,
    jobs: Jobs = defaults.JOBS,
    scheduler: Scheduler = None,
    relevance_level: Level = 1,
    depth: Depth = defaults.DEPTH,
    score_depth: ScoreDepth = None,
    unseen: Unseen = False,
    residual: Residual = 0.0,
    name_by: Names = "tag",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Check whether confidences can be trusted.

    Judges for a few systems, compares many, and does so again. Resumes where it stopped.
    """
    from rtc_bayes.collection import read_qrels, read_runs
    from rtc_bayes.judging import parse_algorithm, split_algorithms
    from rtc_bayes.measures import Estimand
    from rtc_bayes.robustness import study
    from rtc_bayes.store import progress_bar
    from rtc_bayes.workers import Workers

    texts = split_algorithms(algorithms)
    parsed = [parse_algorithm(text) for text in texts]
    models = [model for chosen in parsed for model in (chosen.model, chosen.evaluator)]
    estimand = Estimand(
        relevance_level=relevance_level,
        depth=depth,
        score_depth=score_depth,
        unseen=unseen,
        residual=residual,
    )
    given, truth = read_runs(*runs, name_by=name_by), read_qrels(qrels)
    with progress_bar(quiet) as progress:
        done = study(
            given,
            truth,
            algorithms=texts,
            trials=trials,
            systems=systems,
            initial=initial,
            moments=moments,
            estimand=estimand,
            confidence=confidence,
            draws=draws,
            chains=chains,
            tune=tune,
            seed=seed,
            output=output,
            inputs=digests(given, truth, models),
            workers=Workers(jobs, scheduler, progress),
        )
    typer.echo(repr(done))


def calibrate(
    output: OutFolder,
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUNS]...", help="Files, folders, globs. None: a simulation."),
    ] = None,
    qrels: SomeQrels = None,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    algorithm: Annotated[str, typer.Option(help="What makes the judgments.")] = (
        defaults.CALIBRATION_JUDGE
    ),
    trials: Trials = defaults.CALIBRATION_TRIALS,
    systems: Compared = defaults.SYSTEMS,
    initial: Initial = defaults.INITIAL,
    confidence: Confidence = defaults.CONFIDENCE,
    moments: StudyMoments = "published",
    draws: Draws = defaults.DRAWS,
    chains: Chains = defaults.CHAINS,
    tune: Tune = defaults.TUNE,
    jobs: Jobs = defaults.JOBS,
    scheduler: Scheduler = None,
    relevance_level: Level = 1,
    depth: Depth = defaults.DEPTH,
    score_depth: ScoreDepth = None,
    unseen: Unseen = False,
    residual: Residual = 0.0,
    name_by: Names = "tag",
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Check a model's numbers against complete judgments.

    Judges for a few systems, fits the model, and checks its probabilities of relevance, its
    intervals and its confidences; writes tables and a report. Resumes where it stopped.
    """
    from rtc_bayes.calibration import calibrate
    from rtc_bayes.collection import read_qrels, read_runs
    from rtc_bayes.collection.simulate import simulate
    from rtc_bayes.judging import parse_algorithm
    from rtc_bayes.measures import Estimand
    from rtc_bayes.relevance import ModelSpec
    from rtc_bayes.report import write_report
    from rtc_bayes.store import progress_bar
    from rtc_bayes.workers import Workers

    if (runs is None) != (qrels is None):
        raise InputError(
            "runs and judgments go together",
            remedy="give RUNS with --qrels, or neither for a simulated collection",
        )
    estimand = Estimand(
        relevance_level=relevance_level,
        depth=depth,
        score_depth=score_depth,
        unseen=unseen,
        residual=residual,
    )
    spec = ModelSpec.of(model or defaults.MODEL, method, read_options(option))
    inputs = {}
    if runs is None or qrels is None:
        simulated = simulate(seed=seed)
        given, truth = simulated.runs, simulated.qrels
    else:
        given, truth = read_runs(*runs, name_by=name_by), read_qrels(qrels)
        inputs = digests(given, truth, [spec, parse_algorithm(algorithm).model])
    with progress_bar(quiet) as progress:
        done = calibrate(
            given,
            truth,
            model=spec.text,
            algorithm=algorithm,
            trials=trials,
            systems=systems,
            initial=initial,
            moments=moments,
            estimand=estimand,
            confidence=confidence,
            draws=draws,
            chains=chains,
            tune=tune,
            seed=seed,
            output=output,
            inputs=inputs,
            workers=Workers(jobs, scheduler, progress),
        )
        report = write_report(output)
    typer.echo(f"{done!r}\nOpen {report}")


def report(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="What `robustness`, `calibrate` or `demo` wrote.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Default: DIR/report.html.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a study as one HTML page, and its tables beside it."""
    from rtc_bayes.report import write_report

    page = write_report(folder, output)
    typer.echo(f"Open {page}; tables as CSV, Markdown and LaTeX: {page.parent / 'tables'}")
