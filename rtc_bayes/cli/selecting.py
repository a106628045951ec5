"""Commands that choose topics, and what of them to judge."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    Depth,
    Layout,
    Level,
    Measures,
    Out,
    OutFile,
    QrelsFile,
    Quiet,
    RunFiles,
    RunsOrScoreFiles,
    RunsRead,
    ScoreDepth,
    Seed,
    SomeQrels,
    writable,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.guarding import lose_no_judgment
from rtc_bayes.cli.inputs import ENDINGS, digests, format_of, of_negative, refuse_unused
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted, in_words

if TYPE_CHECKING:
    from rtc_bayes.measures.scores import ScoreMatrix
    from rtc_bayes.report.tables import Format


# scores as a test of variability takes them
_OF_SCORES = {
    "z": "scores standardised on each topic over these systems",
    "logit": "log-odds of scores",
    "none": "scores as they are",
}


@grouped
def topics(
    context: typer.Context,
    *,
    qrels: SomeQrels = None,
    solver: Annotated[
        Literal["random", "greedy", "tau", "lasso", "box", "vote", "oracle"],
        typer.Option(help="How to choose."),
    ] = "vote",
    size: Annotated[int | None, typer.Option(help="How many topics. Default: all.")] = None,
    budget: Annotated[
        float | None, typer.Option(help="Of lasso and box: weights sum to this at most.")
    ] = None,
    measure: Measures = None,
    relevance_level: Level = None,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Of systems: system,weight. Others: 0.")
    ] = None,
    gain: Annotated[
        str | None, typer.Option(metavar="FILE", help="Of box: what topics are worth: topic,gain.")
    ] = None,
    gain_weight: Annotated[float, typer.Option(help="Of box: how much gains count.")] = 0.0,
    subsets: Annotated[int, typer.Option(help="Of vote: how many sets of systems.")] = 100,
    share: Annotated[
        float, typer.Option(help="Of vote: of the systems, in each, from 0 to 1.")
    ] = 0.2,
    criterion: Annotated[
        Literal["rho", "tau"], typer.Option(help="Of oracle: what is to be largest.")
    ] = "rho",
    samples: Annotated[int, typer.Option(help="Of oracle: random sets to begin with.")] = 10_000,
    runs: RunsOrScoreFiles,
    seed: Seed = 0,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Choose topics that rank systems as all topics do.

    Give run files with --qrels, or one CSV of scores. Several measures count equally.

    Gives position, topic, weight, and rho, the correlation of systems' mean scores over the topics
    up to this one with those over all topics.
    """
    from rtc_bayes.report.terminal import show_frame
    from rtc_bayes.store import digest_files, provenance
    from rtc_bayes.topics import select_topics

    kind = format_of(layout, output, ENDINGS)
    scores, inputs, of_grades = _scores(context, runs, qrels, measure, relevance_level)
    chosen = select_topics(
        scores,
        size=size,
        budget=budget,
        solver=solver,
        weights=None if weights is None else _numbers(weights, "system", "weight"),
        gain=None if gain is None else _numbers(gain, "topic", "gain"),
        gain_weight=gain_weight,
        subsets=subsets,
        share=share,
        criterion=criterion,
        samples=samples,
        seed=seed,
    )
    inputs |= digest_files(weights, gain)
    meta = provenance(seed=seed, inputs=inputs)
    said = f"{in_words(chosen)}{of_grades}"
    show_frame(chosen.to_frame(), kind, output, meta, said, {"weight": ".3g", "rho": ".3f"})
    if output is not None:
        typer.echo(f"{said}\nin {output}")


@grouped
def allocate(
    *,
    truth: Annotated[str, typer.Option(help="Qrels that answer what is judged.")],
    output: OutFile,
    budget: Annotated[int, typer.Option(help="How many documents to judge.")],
    strategy: Annotated[
        Literal["uniform", "ra", "sa", "qdp", "qdp*"],
        typer.Option(
            help="Where to judge: all topics alike (uniform), random ones (ra, random "
            "allocation), chosen ones (sa, subset allocation), documents by priority (qdp), or "
            "those of the best systems alone (qdp*)."
        ),
    ] = "qdp",
    stages: Annotated[int, typer.Option(help="In how many stages to judge.")] = 3,
    first: Annotated[float, typer.Option(help="The first stage's share of the budget.")] = 0.5,
    sampling: Annotated[
        Literal["rank", "depth", "uniform", "pool"],
        typer.Option(help="How documents of a topic are drawn; pool: from the top, no chance."),
    ] = "rank",
    size: Annotated[
        Literal["exact", "expected"],
        typer.Option(help="Spend the budget exactly, or on average (Poisson sampling)."),
    ] = "exact",
    by: Annotated[
        str,
        typer.Option(
            help="What says how many relevant documents are unjudged: svm, "
            "logistic, zobel or a model."
        ),
    ] = "svm",
    gain_weight: Annotated[
        float,
        typer.Option(
            "--gain-weight", "--lambda", help="How much it counts to find relevant documents."
        ),
    ] = 0.1,
    best: Annotated[int, typer.Option(help="Of qdp*: how many of the best systems count.")] = 30,
    write_scores: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", callback=writable, help="Write scores by statAP here, as CSV."
        ),
    ] = None,
    depth: Depth = None,
    score_depth: ScoreDepth = None,
    relevance_level: Level = None,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Spend a budget of judgments in stages.

    Each stage judges where the judgments so far say that it pays most. Writes prels, judgments
    with the probability that each was drawn (topic docno grade method probability). `evaluate
    --prels` scores runs by them (statAP).
    """
    from rtc_bayes.collection import read_qrels, write_prels
    from rtc_bayes.collection.ids import shared_topics
    from rtc_bayes.measures import Estimand
    from rtc_bayes.store import announced, meta_path, provenance, write_json
    from rtc_bayes.topics import allocate

    if write_scores is not None and Path(write_scores).resolve() == Path(output).resolve():
        raise InputError("--write-scores and -o are one file", path=write_scores, remedy="name two")
    systems, answers = runs.read(), read_qrels(truth)
    shared_topics(systems.topics, answers.topics, truth, say=False)
    lose_no_judgment(output, [answers], "the truth", prels=True)
    meta = provenance(seed=seed, inputs=digests(systems, answers))
    with announced("judging", quiet):
        spent = allocate(
            Estimand(depth=depth, score_depth=score_depth).pool(systems),
            answers,
            budget,
            strategy=strategy,
            stages=stages,
            first=first,
            sampling=sampling,
            size=size,
            by=by,
            gain_weight=gain_weight,
            best=best,
            relevance_level=relevance_level,
            seed=seed,
        )
    topics = spent.sample.judgments.judged_topics
    if (without := spent.sample.judgments.pool.n_topics - len(topics)) > 0:
        warn(
            f"{counted(without, 'topic')} of {without + len(topics)} without a judgment: scores "
            "are means over the others",
        )
    if spent.missing:
        warn(
            f"{counted(len(spent.missing), 'drawn document')} that the truth lacks, taken as "
            f"nonrelevant; listed in {meta_path(output)}",
        )
    write_prels(spent.to_prels(), output)
    write_json(spent.meta() | {"meta": meta}, meta_path(output))
    if write_scores is not None:
        spent.scores.to_csv(write_scores)
    typer.echo(f"{in_words(spent)}\nin {output}")


@grouped
def extend(
    context: typer.Context,
    *,
    qrels: QrelsFile,
    budget: Annotated[
        int | None, typer.Option(help="How many more documents can be judged.")
    ] = None,
    strategy: Annotated[
        Literal["sa", "uniform"],
        typer.Option(
            help="Judge some topics, chosen by --scores (sa, subset allocation), or all alike "
            "(uniform)."
        ),
    ] = "sa",
    constraint: Annotated[
        Literal["corrected", "printed"],
        typer.Option(help="Of sa: the budget's constraint, corrected or as the thesis prints it."),
    ] = "corrected",
    scores: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="CSV of scores of systems that judgments were made for."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Of the systems of --scores: system,weight. Others: 0."),
    ] = None,
    formula: Annotated[
        Literal["corrected", "printed"],
        typer.Option(
            help="Of reuse: over ranks of judged documents, or over all as the thesis prints it."
        ),
    ] = "corrected",
    depth: Annotated[
        int, typer.Option(help="Pool this many documents of each list.")
    ] = defaults.DEPTH,
    runs: RunsRead,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say how much of new runs is judged, or what to judge.

    Without --budget: how many of each run's first documents (--depth) have no judgment, and its
    mean average reuse, from 0 to 1 (average precision with judged documents for relevant ones),
    over its topics that have judgments.
    With --budget: which of these documents to judge, spread over topics (Hosseini 2013, chapter 5).
    """
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.measures.scores import ScoreMatrix
    from rtc_bayes.report.terminal import show_frame, titled
    from rtc_bayes.store import digest_files, provenance
    from rtc_bayes.topics import extend

    kind = format_of(layout, output, ENDINGS)
    if budget is None:
        refuse_unused(
            context,
            "without --budget",
            "strategy",
            "constraint",
            "scores",
            "weights",
            remedy="give both, or neither",
        )
    else:
        refuse_unused(context, "with --budget", "formula")
    if weights is not None and scores is None:
        raise InputError("--weights needs --scores", remedy="give both, or neither")
    systems, judged = runs.read(), read_qrels(qrels)
    meta = provenance(inputs=digests(systems, judged) | digest_files(scores, weights))
    if budget is None:
        reused = extend(systems, judged, formula=formula, depth=depth)
        meta |= {"omega": reused.omega}
        title = titled(in_words(reused), of_negative(judged))
        show_frame(reused.to_frame(), kind, output, meta, title, {"reuse": ".3f"})
        return
    chosen = extend(
        systems,
        judged,
        budget,
        None if scores is None else ScoreMatrix.from_csv(scores),
        strategy=strategy,
        constraint=constraint,
        depth=depth,
        weights=None if weights is None else _numbers(weights, "system", "weight"),
    )
    title = titled(in_words(chosen), of_negative(judged))
    show_frame(chosen.to_frame(), kind, output, meta, title, {})


@grouped
def variability(
    context: typer.Context,
    *,
    qrels: SomeQrels = None,
    measure: Annotated[
        str | None, typer.Option(help="As ir-measures names it. Default: AP.")
    ] = None,
    transform: Annotated[
        Literal["z", "logit", "none"],
        typer.Option(help="Of scores: standardised by topic, log-odds, or as they are."),
    ] = "z",
    test: Annotated[
        Literal["pitman-morgan", "f", "f-printed", "levene", "levene-median"],
        typer.Option(help="Of variances; all but pitman-morgan take systems for independent."),
    ] = "pitman-morgan",
    level: Annotated[float, typer.Option(help="Significance level of both tests.")] = 0.05,
    top: Annotated[
        float, typer.Option(help="Compare this share of the systems, those of the highest means.")
    ] = 0.75,
    epsilon: Annotated[
        float, typer.Option(help="Of --transform logit: how near to 0 and 1 scores may come.")
    ] = 1e-3,
    relevance_level: Level = None,
    runs: RunsOrScoreFiles,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say which systems of equal mean vary differently.

    Give run files with --qrels, or one CSV of scores. Every pair of the better systems is tested
    by a paired t-test of means and a test of variances over topics (Hosseini 2013, appendix F).
    """
    from rtc_bayes.report.tables import yes_or_no
    from rtc_bayes.report.terminal import show_frame
    from rtc_bayes.store import provenance
    from rtc_bayes.topics import compare_variability

    kind = format_of(layout, output, ENDINGS)
    scores, inputs, of_grades = _scores(
        context, runs, qrels, [measure] if measure else None, relevance_level
    )
    compared = compare_variability(
        scores[0], transform=transform, test=test, level=level, top=top, epsilon=epsilon
    )
    counts = compared.counts()
    title = (
        f"{counted(counts['pairs'], 'pair')} of {len(compared.systems)} systems: "
        f"{counts['ties']} whose means tie, {counts['broken']} of these by variance apart "
        f"({test}, level {level:g}); by {_OF_SCORES[transform]}{of_grades}"
    )
    frame = compared.to_frame()
    meta = provenance(inputs=inputs) | counts
    formats: dict[str, Format] = {"sd of a": ".3f", "sd of b": ".3f"}
    formats |= {"p of means": ".3g", "p of variances": ".3g"}
    formats |= dict.fromkeys(["means tie", "tie is broken"], yes_or_no)
    names = ("sd_a", "sd_b", "mean_p", "variance_p", "tie", "broken")
    show_frame(frame, kind, output, meta, title, formats, dict(zip(names, formats, strict=True)))


def _scores(
    context: typer.Context,
    runs: RunFiles,
    qrels: str | None,
    measures: list[str] | None,
    relevance_level: int | None,
) -> tuple[list[ScoreMatrix], dict[str, str], str]:
    """Read scores of systems on topics: a CSV of them, or runs and judgments, by each measure.

    Also says, for the end of a sentence, which of several grades counted as relevant.
    """
    from rtc_bayes.measures.scores import ScoreMatrix
    from rtc_bayes.store import digest_files

    files = list(runs.runs or ())
    names: list[str | None] = [*dict.fromkeys(measures or ())]
    if qrels is None:
        if len(files) == 1 and not Path(files[0]).exists():
            raise InputError("there is no such file", path=files[0], remedy="check its name")
        if len(files) != 1 or not Path(files[0]).is_file():
            problem = f"{len(files)} files without --qrels" if len(files) > 1 else "no scores"
            raise InputError(problem, remedy="give one CSV of scores, or RUNS with --qrels")
        of_runs = ("relevance_level", "name_by", "order")
        refuse_unused(context, "of a CSV of scores", *of_runs, remedy="give RUNS with --qrels")
        scores = [ScoreMatrix.from_csv(files[0], name) for name in names or [None]]
        return scores, digest_files(files[0]), ""
    if any(file.endswith(".csv") for file in files):
        raise InputError(
            "a CSV of scores and --qrels", remedy="give RUNS with --qrels, or the CSV alone"
        )
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.collection.grades import counted_grades
    from rtc_bayes.collection.qrels import level_of
    from rtc_bayes.measures.names import parse_measure

    systems, judged = runs.read(), read_qrels(qrels)
    level = level_of(judged, relevance_level)
    scores = [
        ScoreMatrix.from_qrels(systems, judged, name, relevance_level=level)
        for name in dict.fromkeys(measures or ["AP"])
    ]
    of_grades = counted_grades(judged.highest_grade, level)
    if all(parse_measure(one.measure).rel for one in scores):  # measures say it themselves
        of_grades = ""
    return scores, digests(systems, judged), f"; {of_grades}" if of_grades else ""


def _numbers(path: str, name: str, value: str) -> dict[str, float]:
    """Read a CSV of two columns, a name and a number."""
    from rtc_bayes.collection.lines import number
    from rtc_bayes.store.csv_rows import read_csv_rows

    header, *rows = read_csv_rows(path, f"{value}s", f"give columns {name},{value}")
    if [field.lower() for field in header.fields] != [name, value]:
        raise InputError(
            f"the header is {','.join(header.fields):.80}",
            path=path,
            line=header.line,
            remedy=f"give columns {name},{value}",
        )
    read: dict[str, float] = {}
    for line, (key, text) in rows:
        try:
            amount = number(text)
            if not math.isfinite(amount):
                raise ValueError(text)
        except ValueError:
            raise InputError(
                f"{text!r:.80} is not a number", path=path, line=line, remedy=f"give a {value}"
            ) from None
        if read.setdefault(key, amount) is not amount:
            raise InputError(
                f"{name} {key} comes twice", path=path, line=line, remedy="keep one of them"
            )
    return read
