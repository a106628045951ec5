"""Commands about whether confidences can be trusted, and the page that shows it."""

from __future__ import annotations

from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    AnEstimand,
    Chains,
    Compared,
    Confidence,
    Draws,
    Initial,
    Method,
    Model,
    Options,
    OutFolder,
    PlaceOfWork,
    QrelsFile,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
    SomeRunsRead,
    StudyMoments,
    Trials,
    Tune,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import digests, read_options
from rtc_bayes.errors import InputError


def demo(
    output: OutFolder = "rtc-bayes-demo", seed: Seed = 0, jobs: int = 2, quiet: Quiet = False
) -> None:
    """Show the whole method on a simulation.

    Needs no data; writes a report (HTML) and tables (CSV).
    """
    from rtc_bayes.report import write_report
    from rtc_bayes.robustness import demo
    from rtc_bayes.store import progress_bar

    with progress_bar(quiet) as progress:
        demo(output, seed=seed, jobs=jobs, progress=progress)
        report = write_report(output)
    typer.echo(f"Open {report}")


@grouped
def robustness(
    *,
    qrels: QrelsFile,
    algorithms: Annotated[str, typer.Option(help="ALGORITHMs, with commas between.")],
    output: OutFolder,
    trials: Trials = 100,
    systems: Compared = 10,
    initial: Initial = 2,
    confidence: Confidence = 0.95,
    moments: StudyMoments = "published",
    draws: Draws = defaults.DRAWS,
    chains: Chains = defaults.CHAINS,
    tune: Tune = defaults.TUNE,
    estimand: AnEstimand,
    workers: PlaceOfWork,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Check whether confidences can be trusted.

    Judges for a few systems, compares many, and does so again. Resumes where it stopped.
    """
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.judging import parse_algorithm, split_algorithms
    from rtc_bayes.robustness import study
    from rtc_bayes.store import progress_bar

    texts = split_algorithms(algorithms)
    parsed = [parse_algorithm(text) for text in texts]
    models = [model for chosen in parsed for model in (chosen.model, chosen.evaluator)]
    given, truth = runs.read(), read_qrels(qrels)
    with progress_bar(quiet) as progress:
        done = study(
            given,
            truth,
            algorithms=texts,
            trials=trials,
            systems=systems,
            initial=initial,
            jobs=workers.jobs,
            scheduler=workers.scheduler,
            moments=moments,
            depth=estimand.depth or defaults.DEPTH,
            score_depth=estimand.score_depth,
            confidence=confidence,
            relevance_level=estimand.relevance_level,
            unseen=estimand.unseen,
            residual=estimand.residual,
            draws=draws,
            chains=chains,
            tune=tune,
            seed=seed,
            output=output,
            inputs=digests(given, truth, models),
            progress=progress,
        )
    typer.echo(repr(done))


@grouped
def calibrate(
    *,
    output: OutFolder,
    qrels: SomeQrels = None,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    algorithm: Annotated[str, typer.Option(help="What makes the judgments.")] = "rtc:map",
    trials: Trials = 20,
    systems: Compared = 10,
    initial: Initial = 2,
    confidence: Confidence = 0.95,
    moments: StudyMoments = "published",
    draws: Draws = defaults.DRAWS,
    chains: Chains = defaults.CHAINS,
    tune: Tune = defaults.TUNE,
    estimand: AnEstimand,
    workers: PlaceOfWork,
    runs: SomeRunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Hold a model's numbers to the truth.

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

    if (runs.runs is None) != (qrels is None):
        raise InputError(
            "runs and judgments go together",
            remedy="give RUNS with --qrels, or neither for a simulated collection",
        )
    spec = ModelSpec.parse(model or defaults.MODEL, method, read_options(option))
    inputs = {}
    if runs.runs is None or qrels is None:
        simulated = simulate(seed=seed)
        given, truth = simulated.runs, simulated.qrels
    else:
        given, truth = runs.read(), read_qrels(qrels)
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
            jobs=workers.jobs,
            scheduler=workers.scheduler,
            moments=moments,
            depth=estimand.depth or defaults.DEPTH,
            confidence=confidence,
            relevance_level=estimand.relevance_level,
            draws=draws,
            chains=chains,
            tune=tune,
            seed=seed,
            output=output,
            inputs=inputs,
            progress=progress,
        )
        report = write_report(output)
    typer.echo(f"{done!r}\nOpen {report}")


def report(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="What `robustness` or `calibrate` wrote.")
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
