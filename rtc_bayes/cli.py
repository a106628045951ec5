"""One command per thing a user does: arguments in, files and tables out.

What a command does is in the packages below; they load inside the command, so that ``--help``
stays light. Exit status: 0; 2 for bad input, 1 for a fit that must not be used, each with one
line on standard error; 130 when interrupted.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

import rtc_bayes
from rtc_bayes import defaults
from rtc_bayes.errors import CollectionWarning, FitError, FitWarning, InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
    from rtc_bayes.relevance import ModelSpec

PROGRAM = "rtc-bayes"

app = typer.Typer(
    help="Predict relevance from rankings, and trust the comparison of systems.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Topics(StrEnum):
    """Which topics an average is over."""

    judged = "judged"
    all = "all"


class NameBy(StrEnum):
    """What names a system."""

    tag = "tag"
    file = "file"


class Format(StrEnum):
    """How a result is written."""

    table = "table"
    json = "json"
    csv = "csv"


class MomentsKind(StrEnum):
    """Moments of the ratio, or of its numerator over the expected denominator."""

    exact = "exact"
    plugin = "plugin"


class StudyMoments(StrEnum):
    """The moments of a study: as published per algorithm, or one kind for all."""

    published = "published"
    exact = "exact"
    plugin = "plugin"


class Probability(StrEnum):
    """How a probability comes from moments."""

    auto = "auto"
    normal = "normal"
    corrected = "corrected"
    montecarlo = "montecarlo"


def _hush(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore", CollectionWarning)
        warnings.simplefilter("ignore", FitWarning)
    return quiet


RunFiles = Annotated[list[str], typer.Argument(metavar="RUNS", help="Files, folders, globs.")]
QrelsFile = Annotated[str, typer.Option("--qrels", help="Judgments: topic iteration docno grade.")]
SomeQrels = Annotated[
    str | None, typer.Option("--qrels", help="Judgments: topic iteration docno grade.")
]
Model = Annotated[str | None, typer.Option(help="An installed model, or FILE.py. Default: robust.")]
Method = Annotated[str | None, typer.Option(help="How to fit it. Default: the model's own.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", metavar="K=V", help="An option of the model.")
]
Measures = Annotated[
    list[str] | None, typer.Option("--measure", help="As ir-measures names it. Repeatable.")
]
AlgorithmText = Annotated[
    str, typer.Option(help="JUDGE[/EVALUATOR]: ip, mtc[weight=evr], rtc:map, ...")
]
Confidence = Annotated[float, typer.Option(help="Judge until every pair has this confidence.")]
Depth = Annotated[int, typer.Option(help="Pool this many documents of each list.")]
Level = Annotated[int, typer.Option(help="The lowest grade that counts as relevant.")]
Names = Annotated[NameBy, typer.Option(help="What names a system.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
Jobs = Annotated[int, typer.Option(help="Processes.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", callback=_hush, help="No progress, notes or warnings.")
]
Layout = Annotated[
    Format | None, typer.Option("--format", help="Default: by OUT's ending, else table.")
]
Out = Annotated[str | None, typer.Option("--output", "-o", metavar="OUT", help="Write it here.")]
OutFile = Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Write it here.")]
OutFolder = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Write it here.")]


@app.command()
def demo(
    output: OutFolder = "rtc-bayes-demo", seed: Seed = 0, jobs: Jobs = 2, quiet: Quiet = False
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


@app.command()
def evaluate(
    runs: RunFiles,
    qrels: QrelsFile,
    measure: Measures = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="One value per topic.")] = False,
    topics: Annotated[Topics, typer.Option(help="Average over these.")] = Topics.judged,
    relevance_level: Level = 1,
    depth: Annotated[int, typer.Option(help="Show the judged fraction to this rank.")] = 100,
    name_by: Names = NameBy.tag,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Evaluate runs by complete judgments."""
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.measures import evaluate
    from rtc_bayes.report.command_tables import scores_table
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import provenance

    systems, judged = _read_runs(runs, name_by), read_qrels(qrels)
    meta = provenance(inputs=_digests(systems, judged))
    kind, coverage = _kind(layout, output), f"Judged@{depth}"
    measures = list(dict.fromkeys(measure or ["AP"]))
    table = evaluate(
        systems,
        judged,
        [*measures, coverage] if kind is Format.table else measures,
        relevance_level=relevance_level,
        topics=topics.value,
    )
    match kind:
        case Format.json:
            write_value(table.to_dict(per_topic=per_topic), output, meta)
        case Format.csv:
            write_frame(table.to_frame() if per_topic else table.mean_frame(), output, meta)
        case Format.table:
            shown = scores_table(table, topics=topics.value, coverage=coverage, per_topic=per_topic)
            write_tables([shown], output, meta)


@app.command()
def simulate(
    output: OutFolder,
    topics: Annotated[int, typer.Option(help="How many.")] = 50,
    systems: Annotated[int, typer.Option(help="How many.")] = 40,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Make a collection that looks like TREC's.

    Writes runs/*.gz, qrels.txt (complete), groups.csv and manifest.json.
    """
    from rtc_bayes.collection.simulate import simulate, write

    simulation = simulate(topics=topics, systems=systems, seed=seed)
    write(simulation, output)
    typer.echo(f"{simulation!r}\nin {output}")


@app.command()
def fit(
    runs: RunFiles,
    qrels: QrelsFile,
    output: OutFile,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    judged_for: Annotated[
        str | None, typer.Option(metavar="TAGS", help="Systems judged for, with commas.")
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Kept per chain. Default: 1000.")] = None,
    chains: Annotated[int | None, typer.Option(help="Of draws. Default: 4.")] = None,
    tune: Annotated[
        int | None, typer.Option(help="Steps before a chain's first draw. Default: 1000.")
    ] = None,
    write_erels: Annotated[
        str | None, typer.Option(metavar="F", help="Write the mean probabilities here.")
    ] = None,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Predict relevance of unjudged documents."""
    from rtc_bayes.collection import Pool, read_qrels
    from rtc_bayes.collection import write_erels as write
    from rtc_bayes.relevance import ModelSpec, fit
    from rtc_bayes.report.command_tables import judged_table
    from rtc_bayes.report.terminal import write_tables
    from rtc_bayes.store import meta_path, provenance, write_json

    systems, judged = _read_runs(runs, name_by), read_qrels(qrels)
    pool = Pool.from_runs(systems, depth=depth)
    judgments = _judgments(pool, judged, relevance_level, judged_for, infer=True)
    spec = ModelSpec.of(model or defaults.MODEL, method, _pairs(option))
    made = fit(
        pool,
        judgments,
        model=spec,
        draws=draws,
        chains=chains,
        tune=tune,
        seed=seed,
    )
    made.save(output)
    meta = provenance(seed=seed, inputs=_digests(systems, judged, [spec]))
    write_json(meta | {"judged_for": list(judgments.judged_for or ())}, meta_path(output))
    if write_erels is not None:
        write(made.relevance.to_probabilities(), write_erels)
        write_json(meta, meta_path(write_erels))
    if not quiet:
        write_tables([judged_table(judgments, seed=seed)], None, meta)
        typer.echo(f"{made!r}\nin {output}")


@app.command()
def compare(
    runs: RunFiles,
    qrels: SomeQrels = None,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    erels: Annotated[
        str | None, typer.Option(help="Probabilities: topic Q0 docno probability.")
    ] = None,
    default_p: Annotated[
        float | None, typer.Option(help="For documents that --erels does not list. Default: .5.")
    ] = None,
    relevance: Annotated[
        str | None, typer.Option(metavar="FIT.nc", help="What `fit` wrote for these runs.")
    ] = None,
    measure: Measures = None,
    moments: Annotated[MomentsKind, typer.Option(help="Moments of AP.")] = MomentsKind.exact,
    probability: Annotated[
        Probability, typer.Option(help="How P(less) comes from moments.")
    ] = Probability.auto,
    topics: Annotated[Topics, typer.Option(help="Average over these.")] = Topics.all,
    baseline: Annotated[
        str | None, typer.Option(metavar="RUN", help="Compare the others with this system only.")
    ] = None,
    rope: Annotated[
        float | None, typer.Option(metavar="EPS", help="Add P(abs(difference) < EPS).")
    ] = None,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Add P(best) and ranks; as CSV, the systems.")
    ] = False,
    population: Annotated[
        bool, typer.Option("--population", help="Add P(less) on topics like these.")
    ] = False,
    forecast: Annotated[
        float | None,
        typer.Option(metavar="CONF", help="Add how many more judgments give this confidence."),
    ] = None,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Add each topic's difference; as CSV, these.")
    ] = False,
    residual: Annotated[
        float, typer.Option(metavar="SD", help="Sd of the part of each mean score below the depth.")
    ] = 0.0,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
    seed: Seed = 0,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say who is better, and how surely.

    Probabilities of relevance come from one of: --qrels, by a model; --erels, as listed;
    --relevance, as fitted before.
    """
    from dataclasses import replace
    from itertools import chain

    from rtc_bayes.collection import Pool, Relevance, read_erels, read_qrels
    from rtc_bayes.confidence import compare
    from rtc_bayes.confidence.topics import differences_by_topic
    from rtc_bayes.relevance import Fit, ModelSpec, fit, is_sampler
    from rtc_bayes.report.command_tables import comparison_tables, stacked, topic_tables
    from rtc_bayes.report.terminal import write_frame, write_tables, write_value
    from rtc_bayes.store import digest_file, provenance

    _check_sources(qrels, erels, relevance, default_p, model or method or option)
    spec = ModelSpec.of(model or defaults.MODEL, method, _pairs(option))
    systems = _read_runs(runs, name_by)
    judged = None if qrels is None else read_qrels(qrels)
    pool = Pool.from_runs(systems, depth=depth)
    inputs = _digests(systems, judged, [spec])
    judgments = None if judged is None else _judgments(pool, judged, relevance_level)
    if relevance is not None:
        found = Fit.load(relevance, made_for=pool)
        probabilities, judgments = found.relevance, found.judgments
        inputs[relevance] = digest_file(relevance)
    elif erels is not None:
        listed = read_erels(erels)
        inputs[erels] = listed.digest
        probabilities = Relevance.from_erels(
            pool,
            listed,
            qrels=judged,
            default_p=0.5 if default_p is None else default_p,
            relevance_level=relevance_level,
        )
    else:
        assert judgments is not None
        drawn = is_sampler(spec.resolved_method)
        # as many draws as a confidence needs; `fit` takes more
        probabilities = fit(
            pool,
            judgments,
            model=spec,
            draws=defaults.DRAWS if drawn else None,
            chains=defaults.CHAINS if drawn else None,
            tune=defaults.TUNE if drawn else None,
            seed=seed,
        ).relevance
    meta = provenance(seed=seed, inputs=inputs)
    kind = _kind(layout, output)
    asked = {
        "systems (--ranks)": ranks,
        "pairs (--rope, --population, --forecast)": any((rope, population, forecast)),
        "topics (--per-topic)": per_topic,
    }
    wanted = [name for name, wished in asked.items() if wished]
    if kind is Format.csv and len(wanted) > 1:
        raise InputError(
            f"a CSV holds one table, not {' and '.join(wanted)}",
            remedy="ask for one, or give --format json",
        )
    if per_topic and baseline is None and pool.n_systems != 2:
        raise InputError(
            f"--per-topic with the pairs of {pool.n_systems} systems",
            remedy="give two RUNS, or --baseline RUN",
        )
    averaged = None
    if topics is Topics.judged:
        if judgments is None:
            raise InputError("--topics judged needs judgments", remedy="give --qrels")
        averaged = judgments.judged_topics
    compared = [
        compare(
            pool,
            probabilities,
            measure=name,
            moments=moments.value,
            probability=probability.value,
            seed=seed,
            topics=averaged,
            baseline=baseline,
            rope=rope,
            ranks=ranks,
            population=population,
            forecast=forecast,
            residual=residual,
        )
        for name in dict.fromkeys(measure or ["AP"])
    ]
    compared = [replace(found, meta={**found.meta, **meta}) for found in compared]
    by_topic = [
        differences_by_topic(pool, probabilities, found, moments=moments.value, seed=seed)
        for found in compared
        if per_topic
    ]
    match kind:
        case Format.json:
            written = [comparison.to_dict() for comparison in compared]
            for entry, frame in zip(written, by_topic, strict=False):
                entry["per_topic"] = frame.to_dict("records")
            write_value(written[0] if len(written) == 1 else written, output, None)
        case Format.csv:
            frames = by_topic or [
                found.systems_frame() if ranks else found.to_frame() for found in compared
            ]
            write_frame(stacked(compared, frames), output, meta)
        case Format.table:
            known = None if judgments is None else judgments.on(pool)
            tables = [
                comparison_tables(found, known, baseline=baseline, seed=seed) for found in compared
            ]
            tables += map(topic_tables, by_topic)
            write_tables(list(chain.from_iterable(tables)), output, meta)


@app.command()
def build(
    runs: RunFiles,
    truth: Annotated[str, typer.Option(help="Qrels that answer what is judged.")],
    output: OutFile,
    algorithm: AlgorithmText = defaults.ALGORITHM,
    confidence: Annotated[
        float | None, typer.Option(help="Judge until every pair has it. Default: .95.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Judge so many, however sure (unless --confidence).")
    ] = None,
    floor: Annotated[int | None, typer.Option(help="Judgments that each topic gets first.")] = None,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Judge by a truth file until sure.

    Chooses documents until the systems are told apart. For whom, and why it ended, stands in
    OUT.meta.json.
    """
    from rtc_bayes.collection import Pool, read_qrels, write_qrels
    from rtc_bayes.judging import build, parse_algorithm
    from rtc_bayes.store import meta_path, provenance, write_json

    chosen = parse_algorithm(algorithm)
    systems, answers = _read_runs(runs, name_by), read_qrels(truth)
    result = build(
        Pool.from_runs(systems, depth=depth),
        answers,
        chosen,
        confidence=0.95 if confidence is None and budget is None else confidence,
        budget=budget,
        floor=floor,
        relevance_level=relevance_level,
        seed=seed,
    )
    if result.missing:
        warnings.warn(
            f"{len(result.missing)} chosen documents are not in the truth and count as "
            f"nonrelevant; they are listed in {meta_path(output)}",
            CollectionWarning,
            stacklevel=1,
        )
    write_qrels(result.judgments.to_qrels(), output)
    meta = provenance(seed=seed, inputs=_digests(systems, answers, [chosen.model]))
    write_json(result.meta() | {"meta": meta}, meta_path(output))
    if not quiet:
        typer.echo(f"{result!r}\nin {output}")


@app.command("next")
def next_(
    runs: RunFiles,
    qrels: QrelsFile,
    algorithm: AlgorithmText = defaults.ALGORITHM,
    count: Annotated[int, typer.Option(help="How many documents.")] = 10,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
    seed: Seed = 0,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say what a person should judge next, and why."""
    from rtc_bayes.collection import Pool, read_qrels
    from rtc_bayes.judging import next_documents, parse_algorithm
    from rtc_bayes.judging.suggest import documents_frame
    from rtc_bayes.report.terminal import Table, write_frame, write_tables, write_value
    from rtc_bayes.store import provenance

    chosen = parse_algorithm(algorithm)
    systems, judged = _read_runs(runs, name_by), read_qrels(qrels)
    pool = Pool.from_runs(systems, depth=depth)
    judgments = _judgments(pool, judged, relevance_level)
    documents = next_documents(pool, judgments, algorithm=chosen, count=count, seed=seed)
    frame = documents_frame(documents)
    meta = provenance(seed=seed, inputs=_digests(systems, judged, [chosen.model]))
    match _kind(layout, output):
        case Format.json:
            write_value(frame.to_dict("records"), output, meta)
        case Format.csv:
            write_frame(frame, output, meta)
        case Format.table:
            title = f"{algorithm}, {judgments.n_judged} judged, seed {seed}"
            write_tables([Table(title, frame, {"weight": ".3g"})], output, meta)


@app.command()
def robustness(
    runs: RunFiles,
    qrels: QrelsFile,
    algorithms: Annotated[str, typer.Option(help="ALGORITHMs, with commas between.")],
    output: OutFolder,
    trials: Annotated[int, typer.Option(help="How many.")] = 100,
    systems: Annotated[int, typer.Option(help="Compared in a trial.")] = 10,
    initial: Annotated[int, typer.Option(help="Judged for in a trial.")] = 2,
    confidence: Confidence = 0.95,
    moments: Annotated[StudyMoments, typer.Option(help="Moments of AP.")] = StudyMoments.published,
    draws: Annotated[
        int, typer.Option(help="Of each chain, for methods that draw.")
    ] = defaults.DRAWS,
    chains: Annotated[int, typer.Option(help="For methods that draw.")] = defaults.CHAINS,
    tune: Annotated[
        int, typer.Option(help="Steps of a chain before its first draw.")
    ] = defaults.TUNE,
    jobs: Jobs = 2,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
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
    given, truth = _read_runs(runs, name_by), read_qrels(qrels)
    with progress_bar(quiet) as progress:
        done = study(
            given,
            truth,
            algorithms=texts,
            trials=trials,
            systems=systems,
            initial=initial,
            jobs=jobs,
            moments=moments.value,
            depth=depth,
            confidence=confidence,
            relevance_level=relevance_level,
            draws=draws,
            chains=chains,
            tune=tune,
            seed=seed,
            output=output,
            inputs=_digests(given, truth, models),
            progress=progress,
        )
    typer.echo(repr(done))


@app.command()
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
    algorithm: Annotated[str, typer.Option(help="What makes the judgments.")] = "rtc:map",
    trials: Annotated[int, typer.Option(help="How many.")] = 20,
    systems: Annotated[int, typer.Option(help="Compared in a trial.")] = 10,
    initial: Annotated[int, typer.Option(help="Judged for in a trial.")] = 2,
    confidence: Confidence = 0.95,
    moments: Annotated[StudyMoments, typer.Option(help="Moments of AP.")] = StudyMoments.published,
    draws: Annotated[
        int, typer.Option(help="Of each chain, for methods that draw.")
    ] = defaults.DRAWS,
    chains: Annotated[int, typer.Option(help="For methods that draw.")] = defaults.CHAINS,
    tune: Annotated[
        int, typer.Option(help="Steps of a chain before its first draw.")
    ] = defaults.TUNE,
    jobs: Jobs = 2,
    relevance_level: Level = 1,
    depth: Depth = 100,
    name_by: Names = NameBy.tag,
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

    if (runs is None) != (qrels is None):
        raise InputError(
            "runs and judgments go together",
            remedy="give RUNS with --qrels, or neither for a simulated collection",
        )
    text = ModelSpec.of(model or defaults.MODEL, method, _pairs(option)).text
    inputs = {}
    if runs is None or qrels is None:
        simulated = simulate(seed=seed)
        given, truth = simulated.runs, simulated.qrels
    else:
        given, truth = _read_runs(runs, name_by), read_qrels(qrels)
        models = [ModelSpec.parse(text), parse_algorithm(algorithm).model]
        inputs = _digests(given, truth, models)
    with progress_bar(quiet) as progress:
        done = calibrate(
            given,
            truth,
            model=text,
            algorithm=algorithm,
            trials=trials,
            systems=systems,
            initial=initial,
            jobs=jobs,
            moments=moments.value,
            depth=depth,
            confidence=confidence,
            relevance_level=relevance_level,
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


@app.command()
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


@app.command()
def models() -> None:
    """List relevance models and their options."""
    from rtc_bayes.relevance import available_models

    for found in available_models():
        typer.echo(f"{found.name}: {found.summary}")
        methods = (f"{m} (default)" if m == found.default_method else m for m in found.methods)
        typer.echo(f"    methods: {', '.join(methods)}")
        for name in found.presets:
            typer.echo(f"    preset={name}")
        for option in found.options:
            typer.echo(f"    {option}")


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"{PROGRAM} {rtc_bayes.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise InputError("no command", remedy=f"see {PROGRAM} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 2 on bad input; 1 when a fit must not be used; 130 when interrupted.
    """
    with _plain_warnings():
        try:
            return app(args=arguments, prog_name=PROGRAM, standalone_mode=False) or 0
        except FitError as error:
            return _fail(error, 1)
        except TyperException as error:
            return _fail(f"{error.format_message()}; see {PROGRAM} --help", 2)
        except (InputError, UnicodeError) as error:
            return _fail(error, 2)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            return _fail(f"{where}{error.strerror or error}", 2)
        except KeyboardInterrupt:
            return 130


def _fail(error: object, status: int) -> int:
    line = " ".join(str(error).split())
    print(f"{PROGRAM}: {line}", file=sys.stderr)
    return status


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = " ".join(str(message).split())
        if line not in said:
            said.add(line)
            print(f"{PROGRAM}: note: {line}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CollectionWarning)
        warnings.simplefilter("always", FitWarning)
        warnings.showwarning = show
        yield


def _read_runs(sources: Sequence[str], name_by: NameBy) -> Runs:
    from rtc_bayes.collection import read_runs

    return read_runs(*sources, name_by=name_by.value)


def _digests(
    runs: Runs, qrels: Qrels | None = None, models: Iterable[ModelSpec | None] = ()
) -> dict[str, str]:
    """Return path as typed to digest, for provenance; of models, those in files."""
    found = {run.path: run.digest for run in runs.values()}
    if qrels is not None:
        found[qrels.path] = qrels.digest
    return found | {model.name: model.digest for model in models if model and model.digest}


def _pairs(options: Sequence[str] | None) -> dict[str, str]:
    """Read ``K=V`` options."""
    read: dict[str, str] = {}
    for text in options or ():
        key, equals, value = text.partition("=")
        if not (key and equals) or key in read:
            raise InputError(f"cannot use --option {text}", remedy="write K=V, each K once")
        read[key] = value
    return read


def _judgments(
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


def _check_sources(
    qrels: str | None,
    erels: str | None,
    relevance: str | None,
    default_p: float | None,
    model: object,
) -> None:
    """Refuse any mix but: --qrels [--model]; --erels [--qrels] [--default-p]; --relevance."""
    modelled = qrels is not None and erels is None and relevance is None and default_p is None
    listed = erels is not None and relevance is None and not model
    stored = relevance is not None and (qrels, erels, default_p) == (None,) * 3 and not model
    if not (modelled or listed or stored):
        raise InputError(
            "these sources of relevance do not go together",
            remedy="give --qrels [--model --method --option], or --erels [--qrels] [--default-p], "
            "or --relevance FIT.nc",
        )


def _kind(layout: Format | None, output: str | None) -> Format:
    if layout is not None:
        return layout
    ending = PurePath(output or "").suffix.removeprefix(".")
    return Format(ending) if ending in ("json", "csv") else Format.table
