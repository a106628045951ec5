"""The command that says who is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    Estimands,
    JudgedFor,
    LabelFiles,
    LabelsRead,
    Method,
    Model,
    Options,
    Out,
    PageFormat,
    PageLayout,
    PlaceOfWork,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import (
    PAGE_ENDINGS,
    digests,
    format_of,
    read_judgments,
    read_options,
    refuse_unused,
    show_page,
)
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.estimand import Estimand

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Prels, Qrels, Relevance
    from rtc_bayes.judging import Audit

# seconds without a sign of life
_PATIENCE = 2.0


@grouped
def compare(
    context: typer.Context,
    *,
    qrels: SomeQrels = None,
    labels: LabelsRead,
    judged_for: JudgedFor = None,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    erels: Annotated[
        str | None,
        typer.Option(help="Probabilities of relevance (erels): topic Q0 docno probability."),
    ] = None,
    default_p: Annotated[
        float | None,
        typer.Option(
            help="For documents that --erels does not list, from 0 to 1; needed where they are "
            "over a tenth of the pool. Default: .5."
        ),
    ] = None,
    relevance: Annotated[
        str | None, typer.Option(metavar="FIT.nc", help="What `fit` wrote for these runs.")
    ] = None,
    moments: Annotated[
        Literal["auto", "exact", "plugin"],
        typer.Option(
            help="Mean and variance of scores (their moments): exact, or by the 2007 paper's "
            "formula (plugin). auto: exact, or sampled for draws of over 20 systems."
        ),
    ] = "auto",
    form: Annotated[
        Literal["auto", "normal", "corrected", "montecarlo"],
        typer.Option(
            "--form",
            help="How P(better) is computed: by a normal distribution, by one corrected for "
            "skewness, or by counting sampled outcomes (montecarlo). auto chooses by pair.",
        ),
    ] = "auto",
    baseline: Annotated[
        str | None, typer.Option(metavar="RUN", help="Compare the others with this system only.")
    ] = None,
    rope: Annotated[
        float | None,
        typer.Option(
            metavar="EPS",
            help="Add the probability that a difference is nearer to 0 than EPS (above 0).",
        ),
    ] = None,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Add P(best) and ranks; as CSV, the systems alone.")
    ] = False,
    population: Annotated[
        bool, typer.Option("--population", help="Add P(better) on topics like these.")
    ] = False,
    forecast: Annotated[
        float | None,
        typer.Option(
            metavar="CONF",
            help="Add how many more judgments give this confidence, from .5 to 1.",
        ),
    ] = None,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Add each topic's difference; as CSV, these alone.")
    ] = False,
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.prels",
            help="Check the model by these judgments, drawn with known probabilities (prels) by "
            "`next --audit` with the same --seed.",
        ),
    ] = None,
    audit_log: Annotated[
        str | None,
        typer.Option(
            metavar="LOG.json", help="Go on from the last look in this file, and add this one."
        ),
    ] = None,
    estimands: Estimands,
    workers: PlaceOfWork,
    runs: RunsRead,
    seed: Seed = 0,
    layout: PageLayout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say which systems are better, and how surely.

    Prints a table; -o page.html writes a page. Probabilities of relevance come from a model that
    is fitted to --qrels, --labels or both; or from a file (--erels); or from an earlier fit
    (--relevance). With --audit the model does not see the audit's judgments.
    """
    from itertools import chain

    from rtc_bayes.collection import Relevance, read_erels, read_qrels
    from rtc_bayes.collection.ids import some
    from rtc_bayes.confidence import compare
    from rtc_bayes.confidence.comparing import check_measures
    from rtc_bayes.confidence.comparison import page_of
    from rtc_bayes.confidence.comparisons import stacked
    from rtc_bayes.confidence.removal import check_forecast, check_weighs
    from rtc_bayes.confidence.setting import check_lists, check_rope, number_of
    from rtc_bayes.judging import audit as evaluate_audit, audit_order, without_audit
    from rtc_bayes.measures import Sample
    from rtc_bayes.measures.montecarlo import computed
    from rtc_bayes.measures.pool_moments import check_rel
    from rtc_bayes.relevance import Fit, ModelSpec, fit
    from rtc_bayes.relevance.fit import check_same_runs
    from rtc_bayes.report.audit_section import audit_tables
    from rtc_bayes.report.command_tables import comparison_tables, topic_tables
    from rtc_bayes.report.terminal import (
        Passage,
        Table,
        write_frame,
        write_tables,
        write_value,
    )
    from rtc_bayes.store import (
        announced,
        digest_file,
        progress_bar,
        provenance,
        write_json,
    )

    _check_sources(
        qrels, labels, erels, relevance, default_p, model or method or option or judged_for
    )
    if not (qrels or labels or relevance):
        refuse_unused(context, "without judgments", "relevance_level")
    kind = format_of(layout, output, PAGE_ENDINGS)
    asked = {
        "systems (--ranks)": ranks,
        "pairs (--rope, --population, --forecast)": any((rope, population, forecast)),
        "topics (--per-topic)": per_topic,
        "quantities (--audit)": audit is not None,
    }
    _check_tables(kind, asked)
    _check_audit(audit, audit_log, relevance, erels, len(estimands))
    check_measures([each.measure for each in estimands])
    if forecast is not None:
        check_forecast(forecast)
    if rope is not None:
        check_rope(rope)
    if kind == "html":
        other = "give --format table, csv or json"
        refuse_unused(context, "on a page", "per_topic", remedy=other)
    spec = ModelSpec.parse(model or defaults.MODEL, method, read_options(option))
    systems = runs.read()
    qrels_read = None if qrels is None else read_qrels(qrels)
    if qrels_read is not None:
        estimands = [each.of_qrels(qrels_read) for each in estimands]
    inputs = digests(systems, qrels_read, [spec], labels)
    estimand = estimands[0]
    audited = None if audit is None else _read_audit(audit, qrels_read)
    loaded = None if relevance is None else Fit.load(relevance)
    # what is judged is looked for in lists below the depth
    judged = qrels_read if loaded is None else _judged(loaded.judgments)
    pool = estimand.pool(systems, judged)
    sample, before = None, None
    if audited is not None:
        level = estimand.relevance_level
        sample = Sample.from_prels(pool, audited, relevance_level=level, unfinished=True)
        # what would be refused after the fit
        audit_order(sample, seed=seed)
        before = None if audit_log is None else _last_look(audit_log)
        if before is not None:
            before.check_same(systems=pool.systems, measure=estimand.measure)
        if qrels_read is not None:
            qrels_read = without_audit(qrels_read, audited)
    if pool.n_systems == 1:
        warn(
            f"nothing to compare: {pool.systems[0]} is the only run; give two or more",
        )
    if baseline is not None:
        number_of(pool.systems, baseline)
    if per_topic and baseline is None and pool.n_systems != 2:
        alone = pool.n_systems == 1
        raise InputError(
            f"--per-topic with {'one run' if alone else f'the pairs of {pool.n_systems} systems'}",
            remedy="give two RUNS" if alone else "give two RUNS, or --baseline RUN",
        )
    if audited is not None:
        inputs[audited.path] = audited.digest
    judgments = None
    if qrels_read is not None or labels:
        judgments = read_judgments(estimand, pool, qrels_read, labels, judged_for)
    probabilities: Fit | Relevance
    if loaded is not None:
        assert relevance is not None
        judgments, fitted = loaded.judgments, loaded.judgments.pool
        check_same_runs(fitted, pool, relevance)
        give_all = f"give all of its runs, {some(fitted.systems)}"
        for each in estimands:
            check_lists(*each.on(pool, judgments), fitted, remedy=give_all)
        probabilities = loaded
        inputs[relevance] = digest_file(relevance)
    elif erels is not None:
        listed = read_erels(erels)
        inputs[erels] = listed.digest
        probabilities = Relevance.from_erels(
            pool,
            listed,
            qrels=qrels_read,
            default_p=default_p,
            relevance_level=estimand.relevance_level,
        )
    else:
        assert judgments is not None
        grades = judgments.grade_distribution()
        for each in estimands:
            check_rel(computed(each.measure), None if grades is None else grades.highest)
            if forecast is not None:
                check_weighs(each.measure, grades)
        with announced("fit", quiet):
            probabilities = fit(pool, judgments, model=spec, seed=seed)
    estimands = [_of_judged(each, judgments) for each in estimands]
    meta = provenance(seed=seed, inputs=inputs)
    with progress_bar(quiet, after=_PATIENCE) as progress:
        comparisons = compare(
            pool,
            probabilities,
            estimands,
            baseline=baseline,
            moments=moments,
            form=form,
            seed=seed,
            workers=replace(workers, progress=progress),
        )
        compared = list(comparisons.values())
        if ranks:
            compared = [each.with_ranks() for each in compared]
        if rope is not None:
            compared = [each.with_equivalence(rope) for each in compared]
        if population:
            compared = [each.with_population() for each in compared]
        if forecast is not None:
            compared = [each.with_forecast(forecast) for each in compared]
        compared = [replace(each, meta={**each.meta, **meta}) for each in compared]
        by_topic = [each.per_topic() for each in compared if per_topic]
    over_pool = None if judgments is None else judgments.on(pool)
    looks: list[Audit] = []
    if sample is not None:
        looks = [evaluate_audit(each, sample, after=before, seed=seed) for each in compared]
        if over_pool is not None:
            _, over_pool = looks[0].beside(over_pool)
        if audit_log is not None:
            write_json(looks[0].to_dict() | {"meta": meta}, audit_log)
    match kind:
        case "json":
            written = [each.to_dict() for each in compared]
            for entry, look in zip(written, looks, strict=False):
                entry["audit"] = look.to_dict()
            for entry, frame in zip(written, by_topic, strict=False):
                entry["per_topic"] = frame.to_dict("records")
            write_value(written[0] if len(written) == 1 else written, output, None)
        case "csv":
            frames = (
                by_topic
                or [look.to_frame() for look in looks]
                or [each.systems_frame() if ranks else each.to_frame() for each in compared]
            )
            write_frame(stacked([each.measure for each in compared], frames), output, meta)
        case "html":
            chosen = spec.text if model or method or option else None
            page = page_of(compared, output, over_pool, algorithm=chosen, audits=looks)
            show_page(page, output, meta, quiet=quiet)
        case "table":
            tables = [
                comparison_tables(each, over_pool, baseline=baseline, seed=seed)
                for each in compared
            ]
            tables += map(topic_tables, by_topic)
            every: list[Table | Passage] = list(chain.from_iterable(tables))
            every += chain.from_iterable(map(audit_tables, looks))
            write_tables(every, output, meta)


def _check_sources(
    qrels: str | None,
    labels: LabelFiles,
    erels: str | None,
    relevance: str | None,
    default_p: float | None,
    model: object,
) -> None:
    """Refuse any mix but: --qrels --labels [--model]; --erels [--qrels --default-p]; --relevance.

    Of --qrels and --labels one is enough.
    """
    modelled = bool(qrels or labels) and (erels, relevance, default_p) == (None,) * 3
    model = model or bool(labels)
    listed = erels is not None and relevance is None and not model
    stored = relevance is not None and (qrels, erels, default_p) == (None,) * 3 and not model
    if not (modelled or listed or stored):
        sources = (qrels, labels, erels, relevance)
        raise InputError(
            "these sources of relevance do not go together"
            if any(sources)
            else "nothing says which documents are relevant",
            remedy="give --qrels, --labels or both [--judged-for --model --method --option], or "
            "--erels [--qrels] [--default-p], or --relevance FIT.nc",
        )


def _check_audit(
    audit: str | None,
    audit_log: str | None,
    relevance: str | None,
    erels: str | None,
    measures: int,
) -> None:
    """Refuse a log without an audit or of several measures, and a fit that may have seen it."""
    if audit_log is not None and (audit is None or measures > 1):
        raise InputError(
            "--audit-log keeps the looks of one audit, of one measure",
            remedy="give --audit FILE.prels and one --measure",
        )
    if audit is not None and (relevance or erels) is not None:
        source = "--relevance" if erels is None else "--erels"
        raise InputError(
            f"--audit with {source}: its model may have seen the audit's judgments",
            remedy="give --qrels and the model, which is then fitted without them",
        )


def _read_audit(path: str, qrels: Qrels | None) -> Prels:
    """Read an audit's documents; those without a grade have that of the qrels."""
    from rtc_bayes.collection import Qrels, read_prels
    from rtc_bayes.judging import with_grades

    return with_grades(read_prels(path), Qrels({}) if qrels is None else qrels)


def _last_look(path: str) -> Audit | None:
    """Read the audit that a log holds; None where there is no log yet."""
    from rtc_bayes.judging import Audit
    from rtc_bayes.store.files import read_record

    if not Path(path).exists():
        return None
    try:
        return Audit.from_dict(read_record(path))
    except InputError as error:
        raise InputError(
            f"holds no audit ({error.message})", path=path, remedy="name another file"
        ) from error


def _check_tables(kind: PageFormat, asked: Mapping[str, bool]) -> None:
    """Refuse several tables in one CSV; `asked` says of each whether it is wanted."""
    wanted = [name for name, wished in asked.items() if wished]
    if kind == "csv" and len(wanted) > 1:
        raise InputError(
            f"a CSV holds one table, not {' and '.join(wanted)}",
            remedy="ask for one, or give --format json",
        )


def _of_judged(estimand: Estimand, judgments: Judgments | None) -> Estimand:
    """Name the judged topics, if these are averaged over."""
    if estimand.topics != "judged":
        return estimand
    if judgments is None:
        raise InputError("--topics judged needs judgments", remedy="give --qrels")
    return replace(estimand, topics=judgments.judged_topics)


def _judged(judgments: Judgments) -> Qrels:
    """Name the judged documents, whatever their labels."""
    from rtc_bayes.collection import Qrels

    pool, table = judgments.pool, dict[str, dict[str, int]]()
    for document in judgments.order:
        topic = pool.topics[pool.topic_of[document]]
        table.setdefault(topic, {})[str(pool.docnos[document])] = 0
    return Qrels(table)
