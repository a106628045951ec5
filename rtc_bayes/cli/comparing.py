"""The command that says who is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    Draws,
    Estimands,
    JudgedFor,
    LabelsRead,
    Method,
    Model,
    Options,
    Outs,
    PageFormat,
    PageLayout,
    PlaceOfWork,
    Quiet,
    RunFiles,
    RunsRead,
    Seed,
    SomeQrels,
)
from rtc_bayes.cli.compared_audit import AuditFiles, AuditInputs
from rtc_bayes.cli.compared_result import ComparedResult
from rtc_bayes.cli.groups import group_of, grouped
from rtc_bayes.cli.inputs import (
    PAGE_ENDINGS,
    digests,
    formats_of,
    read_judgments,
    read_options,
    refuse_unused,
)
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.estimand import Estimand

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Pool, Qrels, Relevance
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.relevance import Fit, ModelSpec
    from rtc_bayes.workers import Workers

# seconds without a sign of life
_PATIENCE = 2.0


@dataclass(frozen=True, kw_only=True)
class _Sources:
    """Where relevance comes from, as it was typed."""

    qrels: SomeQrels = None
    labels: LabelsRead
    judged_for: JudgedFor = None
    model: Model = None
    method: Method = None
    option: Options = None
    draws: Draws = None
    erels: Annotated[
        str | None,
        typer.Option(help="Probabilities of relevance (erels): topic Q0 docno probability."),
    ] = None
    default_p: Annotated[
        float | None,
        typer.Option(
            help="For documents that --erels does not list, from 0 to 1; needed where they are "
            "over a tenth of the pool. Default: 0.5."
        ),
    ] = None
    relevance: Annotated[
        str | None, typer.Option(metavar="FIT.nc", help="What `fit` wrote for these runs.")
    ] = None

    @property
    def names_model(self) -> bool:
        """Whether something was typed of the model."""
        return bool(self.model or self.method or self.option)

    def spec(self) -> ModelSpec:
        """Return the model that is fitted, if one is."""
        from rtc_bayes.relevance import ModelSpec

        return ModelSpec.parse(self.model or defaults.MODEL, self.method, read_options(self.option))


@dataclass(frozen=True)
class _Additions:
    """What is asked of the comparison beyond what it always says."""

    baseline: Annotated[
        str | None, typer.Option(metavar="RUN", help="Compare the others with this system only.")
    ] = None
    rope: Annotated[
        float | None,
        typer.Option(
            metavar="EPS",
            help="Add the probability that a difference is nearer to 0 than EPS (above 0).",
        ),
    ] = None
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Add P(best) and ranks; as CSV, the systems alone.")
    ] = False
    population: Annotated[
        bool, typer.Option("--population", help="Add P(better) on topics like these.")
    ] = False
    forecast: Annotated[
        float | None,
        typer.Option(
            metavar="CONF",
            help="Add how many more judgments give this confidence, above 0.5 and below 1.",
        ),
    ] = None
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Add each topic's difference; as CSV, these alone.")
    ] = False

    def to(self, comparison: Comparison) -> Comparison:
        """Add what was asked for to a comparison; topics are a table of their own."""
        if self.ranks:
            comparison = comparison.with_ranks()
        if self.rope is not None:
            comparison = comparison.with_equivalence(self.rope)
        if self.population:
            comparison = comparison.with_population()
        if self.forecast is not None:
            comparison = comparison.with_forecast(self.forecast)
        return comparison


@grouped
def compare(
    context: typer.Context,
    *,
    sources: Annotated[_Sources, group_of(_Sources)],
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
    added: Annotated[_Additions, group_of(_Additions)],
    audit_files: Annotated[AuditFiles, group_of(AuditFiles)],
    estimands: Estimands,
    workers: PlaceOfWork,
    runs: RunsRead,
    seed: Seed = 0,
    layout: PageLayout = None,
    output: Outs = None,
    quiet: Quiet = False,
) -> None:
    """Say which systems are better, and how surely.

    Prints tables. -o writes them instead, by its ending: a page (.html), the tables for a paper
    (.tex, .md), or the numbers (.csv, .json); several -o are written from one fit. Probabilities
    of relevance come from a model that is fitted to --qrels, --labels or both; or from a file
    (--erels); or from an earlier fit (--relevance). With --audit the model does not see the
    audit's judgments.
    """
    _check_sources(context, sources)
    kinds = formats_of(layout, output, PAGE_ENDINGS)
    _check_combinations(context, {*kinds.values()}, sources, added, audit_files, estimands)
    inputs = _read(runs, sources, audit_files, estimands, seed)
    _check_systems(inputs.pool, added)
    predicted = _predict(inputs, sources, added, seed=seed, quiet=quiet)
    result = _compare(
        inputs,
        predicted,
        added,
        moments=moments,
        form=form,
        seed=seed,
        workers=workers,
        quiet=quiet,
    )
    if inputs.audit is not None:
        looks, over_pool = inputs.audit.looks(result.compared, result.judgments, seed)
        audit_files.log(looks[0], result.meta)
        result = replace(result, audits=looks, judgments=over_pool)
    for file, kind in kinds.items():
        match kind:
            case "json":
                result.write_json(file)
            case "csv":
                result.write_csv(file, ranks=added.ranks)
            case "html":
                chosen = inputs.spec.text if sources.names_model else None
                result.write_page(file, algorithm=chosen, quiet=quiet)
            case "table" | "latex" | "markdown":
                result.write_tables(file, kind, baseline=added.baseline, seed=seed)


def _check_combinations(
    context: typer.Context,
    kinds: Collection[PageFormat],
    sources: _Sources,
    added: _Additions,
    audit_files: AuditFiles,
    estimands: Sequence[Estimand],
) -> None:
    """Refuse what does not go together and numbers out of range, before anything is read."""
    from rtc_bayes.confidence.comparing import check_measures
    from rtc_bayes.confidence.removal import check_forecast
    from rtc_bayes.confidence.setting import check_rope

    _check_tables(
        kinds,
        {
            "systems (--ranks)": added.ranks,
            "pairs (--rope, --population, --forecast)": any(
                (added.rope, added.population, added.forecast)
            ),
            "topics (--per-topic)": added.per_topic,
            "quantities (--audit)": audit_files.audit is not None,
        },
    )
    audit_files.check(sources.relevance, sources.erels, len(estimands))
    check_measures([each.measure for each in estimands])
    if added.forecast is not None:
        check_forecast(added.forecast)
    if added.rope is not None:
        check_rope(added.rope)
    if kinds == {"html"}:
        other = "give --format table, csv or json"
        refuse_unused(context, "on a page", "per_topic", remedy=other)


@dataclass(frozen=True)
class _Inputs:
    """What was read, before any model is fitted.

    `qrels` are without the audit's judgments; `loaded` is what `fit` wrote; `files` are the
    digests of what was read so far.
    """

    pool: Pool
    estimands: list[Estimand]
    qrels: Qrels | None
    spec: ModelSpec
    loaded: Fit | None
    audit: AuditInputs | None
    files: dict[str, str]


def _read(
    runs: RunFiles,
    sources: _Sources,
    audit_files: AuditFiles,
    estimands: list[Estimand],
    seed: int,
) -> _Inputs:
    """Read what the comparison is made of, and pool the runs."""
    from rtc_bayes.collection import read_prels, read_qrels
    from rtc_bayes.judging import split_audit
    from rtc_bayes.relevance import Fit

    spec = sources.spec()
    systems = runs.read()
    qrels = None if sources.qrels is None else read_qrels(sources.qrels)
    if qrels is not None:
        estimands = [each.of_qrels(qrels) for each in estimands]
    files = digests(systems, qrels, [spec], sources.labels)
    audited = None if audit_files.audit is None else read_prels(audit_files.audit)
    loaded = None if sources.relevance is None else Fit.load(sources.relevance)
    # what is judged is looked for in lists below the depth
    pool = estimands[0].pool(systems, qrels if loaded is None else _judged(loaded.judgments))
    audit = None
    if audited is not None:
        level = estimands[0].relevance_level
        seen, sample = split_audit(pool, audited, qrels, relevance_level=level)
        audit = audit_files.inputs(sample, estimands[0], seed)
        files[audited.path] = audited.digest
        qrels = None if qrels is None else seen
    return _Inputs(pool, estimands, qrels, spec, loaded, audit, files)


def _check_systems(pool: Pool, added: _Additions) -> None:
    """Refuse a baseline that is no run and topics of too many pairs; warn of a lone run."""
    from rtc_bayes.confidence.setting import number_of

    alone = pool.n_systems == 1
    if alone:
        warn(
            f"nothing to compare: {pool.systems[0]} is the only run; give two or more",
        )
    if added.baseline is not None:
        number_of(pool.systems, added.baseline)
    if added.per_topic and added.baseline is None and pool.n_systems != 2:
        raise InputError(
            f"--per-topic with {'one run' if alone else f'the pairs of {pool.n_systems} systems'}",
            remedy="give two RUNS" if alone else "give two RUNS, or --baseline RUN",
        )


@dataclass(frozen=True)
class _Predicted:
    """Probabilities of relevance, the judgments that they rest on, and the file they are from."""

    probabilities: Fit | Relevance
    judgments: Judgments | None
    file: dict[str, str]


def _predict(
    inputs: _Inputs, sources: _Sources, added: _Additions, *, seed: int, quiet: bool
) -> _Predicted:
    """Take probabilities of an earlier fit or of a file, or fit the model."""
    if inputs.loaded is not None:
        assert sources.relevance is not None
        return _of_fit(inputs, inputs.loaded, sources.relevance)
    judgments = None
    if inputs.qrels is not None or sources.labels:
        judgments = read_judgments(
            inputs.estimands[0], inputs.pool, inputs.qrels, sources.labels, sources.judged_for
        )
    if sources.erels is not None:
        return _of_erels(inputs, judgments, sources.erels, sources.default_p)
    assert judgments is not None
    return _of_model(
        inputs, judgments, draws=sources.draws, forecast=added.forecast, seed=seed, quiet=quiet
    )


def _of_fit(inputs: _Inputs, loaded: Fit, path: str) -> _Predicted:
    """Take the probabilities of a fit that was stored, if it is of these runs."""
    from rtc_bayes.collection.ids import some
    from rtc_bayes.confidence.setting import check_lists
    from rtc_bayes.relevance.fit import check_same_runs
    from rtc_bayes.store import digest_file

    judgments, fitted = loaded.judgments, loaded.judgments.pool
    check_same_runs(fitted, inputs.pool, path)
    give_all = f"give all of its runs, {some(fitted.systems)}"
    for each in inputs.estimands:
        check_lists(*each.on(inputs.pool, judgments), fitted, remedy=give_all)
    return _Predicted(loaded, judgments, {path: digest_file(path)})


def _of_erels(
    inputs: _Inputs, judgments: Judgments | None, path: str, default_p: float | None
) -> _Predicted:
    """Read the probabilities of a file."""
    from rtc_bayes.collection import Relevance, read_erels

    listed = read_erels(path)
    probabilities = Relevance.from_erels(
        inputs.pool,
        listed,
        qrels=inputs.qrels,
        default_p=default_p,
        relevance_level=inputs.estimands[0].relevance_level,
    )
    return _Predicted(probabilities, judgments, {path: listed.digest})


def _of_model(
    inputs: _Inputs,
    judgments: Judgments,
    *,
    draws: int | None,
    forecast: float | None,
    seed: int,
    quiet: bool,
) -> _Predicted:
    """Fit the model, after a check that the measures can use its probabilities."""
    from rtc_bayes.confidence.removal import check_weighs
    from rtc_bayes.measures.montecarlo import computed
    from rtc_bayes.measures.pool_moments import check_rel
    from rtc_bayes.relevance import fit
    from rtc_bayes.store import announced

    grades = judgments.grade_distribution()
    for each in inputs.estimands:
        check_rel(computed(each.measure), None if grades is None else grades.highest)
        if forecast is not None:
            check_weighs(each.measure, grades)
    with announced("fit", quiet):
        fitted = fit(inputs.pool, judgments, model=inputs.spec, draws=draws, seed=seed)
    return _Predicted(fitted, judgments, {})


def _compare(
    inputs: _Inputs,
    predicted: _Predicted,
    added: _Additions,
    *,
    moments: Literal["auto", "exact", "plugin"],
    form: Literal["auto", "normal", "corrected", "montecarlo"],
    seed: int,
    workers: Workers,
    quiet: bool,
) -> ComparedResult:
    """Compare the systems by each measure, and add what was asked for."""
    from rtc_bayes.confidence import compare
    from rtc_bayes.store import progress_bar, provenance

    judgments = predicted.judgments
    estimands = [_of_judged(each, judgments) for each in inputs.estimands]
    meta = provenance(seed=seed, inputs=inputs.files | predicted.file)
    with progress_bar(quiet, after=_PATIENCE) as progress:
        comparisons = compare(
            inputs.pool,
            predicted.probabilities,
            estimands,
            baseline=added.baseline,
            moments=moments,
            form=form,
            seed=seed,
            workers=replace(workers, progress=progress),
        )
        compared = [added.to(each) for each in comparisons.values()]
        compared = [replace(each, meta={**each.meta, **meta}) for each in compared]
        by_topic = [each.per_topic() for each in compared if added.per_topic]
    over_pool = None if judgments is None else judgments.on(inputs.pool)
    return ComparedResult(compared, by_topic, over_pool, meta)


def _check_sources(context: typer.Context, sources: _Sources) -> None:
    """Refuse any mix but: --qrels --labels [--model]; --erels [--qrels --default-p]; --relevance.

    Of --qrels and --labels one is enough.
    """
    judged, erels, relevance = sources.qrels or sources.labels, sources.erels, sources.relevance
    of_erels = erels, sources.default_p
    modelled = bool(judged) and (*of_erels, relevance) == (None,) * 3
    of_model = (
        sources.names_model or sources.draws is not None or sources.judged_for or sources.labels
    )
    listed = erels is not None and relevance is None and not of_model
    stored = relevance is not None and (sources.qrels, *of_erels) == (None,) * 3 and not of_model
    if not (modelled or listed or stored):
        raise InputError(
            "these sources of relevance do not go together"
            if judged or erels or relevance
            else "nothing says which documents are relevant",
            remedy="give --qrels, --labels or both [--judged-for --model --method --option "
            "--draws], or --erels [--qrels] [--default-p], or --relevance FIT.nc",
        )
    if not (judged or relevance):
        refuse_unused(context, "without judgments", "relevance_level")


def _check_tables(kinds: Collection[PageFormat], asked: Mapping[str, bool]) -> None:
    """Refuse several tables in one CSV; `asked` says of each whether it is wanted."""
    wanted = [name for name, wished in asked.items() if wished]
    if "csv" in kinds and len(wanted) > 1:
        raise InputError(
            f"a CSV holds one table, not {' and '.join(wanted)}",
            remedy="ask for one, or write JSON (-o FILE.json or --format json)",
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
    from rtc_bayes.collection.ids import by_topic

    pairs = map(judgments.pool.pair_of, judgments.order)
    return Qrels(by_topic((*pair, 0) for pair in pairs))
