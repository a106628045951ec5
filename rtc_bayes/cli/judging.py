"""Commands that choose documents to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    AnEstimand,
    DesignFiles,
    Judge,
    JudgedFor,
    LabelFiles,
    LabelsRead,
    Layout,
    Out,
    OutFile,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
    UnderDesign,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import (
    ENDINGS,
    digests,
    format_of,
    of_negative,
    parted,
    read_beside,
    read_judgments,
    refuse_unused,
    tags,
)
from rtc_bayes.errors import InputError, warn, whole_number
from rtc_bayes.store.shown import counted, in_words

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from rtc_bayes.collection import Judgments, Pool, Prels, Qrels, Runs
    from rtc_bayes.judging import Algorithm
    from rtc_bayes.judging.choosing import PairLike
    from rtc_bayes.measures import Sample
    from rtc_bayes.measures.estimand import Estimand
    from rtc_bayes.report.tables import Format


@grouped
def build(
    *,
    truth: Annotated[str, typer.Option(help="Qrels that answer what is judged.")],
    output: OutFile,
    qrels: Annotated[
        str | None, typer.Option(help="Judgments made before, to go on from; OUT has them, too.")
    ] = None,
    algorithm: Judge = defaults.ALGORITHM,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Judge until every pair has it, from .5 to 1. Default: .95 without --budget "
            "(auto)."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Make so many judgments; with --confidence, at most so many."),
    ] = None,
    floor: Annotated[int | None, typer.Option(help="Judgments that each topic gets first.")] = None,
    labels: LabelsRead,
    estimand: AnEstimand,
    design: UnderDesign,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Judge from a truth file until systems are told apart.

    Chooses documents, and takes their grades from --truth. OUT is written at the end.
    OUT.meta.json says for which systems they were chosen, and why judging ended. With --algorithm
    sample, an OUT that ends in .prels has the probability that each was drawn.
    """
    from rtc_bayes.collection import read_qrels, write_prels, write_qrels
    from rtc_bayes.judging import build, parse_algorithm
    from rtc_bayes.store import announced, meta_path, provenance, write_json

    chosen = parse_algorithm(algorithm)
    samples = hasattr(chosen.judge, "sample")
    as_prels = str(output).endswith((".prels", ".prels.gz"))
    if as_prels and not samples:
        raise InputError(
            f"{chosen.judge.name} draws no sample, and prels hold probabilities of being drawn",
            remedy="write another file, as judged.qrels, or judge by sample",
        )
    if as_prels and (qrels is not None or design.digests()):
        raise InputError(
            "prels are of one sample of a whole pool, with no judgments before and no design",
            remedy="leave --qrels and --hold-out out, or write qrels",
        )
    systems, answers = runs.read(), read_qrels(truth)
    before = None if qrels is None else read_qrels(qrels)
    hold_out, groups = design.read()
    with announced("judging", quiet):
        result = build(
            estimand.pool(systems, before),
            answers,
            chosen,
            estimand,
            confidence="auto" if confidence is None else confidence,
            budget=budget,
            floor=floor,
            seed=seed,
            hold_out=hold_out,
            groups=groups,
            labels=labels.read(),
            judgments=before,
        )
    if result.missing:
        warn(
            f"{counted(len(result.missing), 'chosen document')} that the truth lacks, taken as "
            f"nonrelevant; listed in {meta_path(output)}",
        )
    if as_prels:
        sample = chosen.judge.sample(result.judgments, seed=seed)  # type: ignore[attr-defined]
        write_prels(sample.to_prels(), output)
    else:
        write_qrels(result.judgments.to_qrels(), output)
    if samples and not as_prels:
        warn(
            "qrels do not hold the probabilities by which documents were drawn: estimates from "
            "this sample need -o FILE.prels",
        )
    inputs = digests(systems, answers, [chosen], labels) | design.digests()
    if before is not None:
        inputs[before.path] = before.digest
    meta = provenance(seed=seed, inputs=inputs)
    write_json(result.meta() | {"meta": meta}, meta_path(output))
    if not quiet:
        typer.echo(f"{in_words(result)}\nin {output}")


@grouped
def next_(
    context: typer.Context,
    *,
    qrels: SomeQrels = None,
    labels: LabelsRead,
    judged_for: JudgedFor = None,
    algorithm: Judge = defaults.ALGORITHM,
    pair: Annotated[
        str | None,
        typer.Option(metavar="A,B|least", help="Tell these two apart, or the least sure pair."),
    ] = None,
    by_topic: Annotated[
        bool, typer.Option("--by-topic", help="Rank the topics without judgments instead.")
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            help="Of --by-topic: what learns relevance from the judged topics: logistic, svm "
            "or a model (hierarchical:map is the best)."
        ),
    ] = "logistic",
    solver: Annotated[
        Literal["greedy", "vote"],
        typer.Option(
            help="Of --by-topic: the topic with the highest rho (greedy), or sets of systems vote."
        ),
    ] = "greedy",
    noise: Annotated[
        Literal["mean", "none", "centred", "draws"],
        typer.Option(
            help="Of --by-topic: the variance of expected scores counts against a topic (mean), "
            "not at all (none), without what systems share (centred); or take draws of scores."
        ),
    ] = "mean",
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Show documents to judge for an audit of this share of the pool, from 0 to 1, "
            "instead. With -o FILE.prels: write all of them, and the probability that each was "
            "drawn (prels).",
        ),
    ] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COST",
            help="Rank actions by gain for cost: human=COST of a human's judgment, label=COST (or "
            "JUDGE=COST) of a judge's label. Repeatable.",
        ),
    ] = None,
    worth: Annotated[
        float | None,
        typer.Option(
            help="Of --costs: what it is worth, in their unit, to lower the mean log score by 1; "
            "says when to stop."
        ),
    ] = None,
    count: Annotated[int, typer.Option(help="How many documents, topics or actions to show.")] = 10,
    estimand: AnEstimand,
    design: UnderDesign,
    runs: RunsRead,
    seed: Seed = 0,
    layout: Layout = None,
    output: Out = None,
    quiet: Quiet = False,
) -> None:
    """Say what a person should judge next, and why.

    The table names the least sure pair of systems; --pair chooses documents for one pair.
    With --by-topic: which topic to judge completely. rho is the expected correlation of systems'
    mean scores over the judged topics and this one with those over all topics.
    With --audit: what to judge of a random sample, by which `compare --audit` checks the model.
    With --costs: whether a human should judge a document, a judge of --labels should label one, or
    neither is worth its cost.
    """
    from rtc_bayes.judging import parse_algorithm

    whole_list = audit is not None and layout is None and str(output).endswith(".prels")
    kind = "prels" if whole_list else format_of(layout, output, ENDINGS)
    chosen = parse_algorithm(algorithm)
    share = None if audit is None else _share(audit)
    prices = _prices(costs or (), chosen)
    _refuse_of_others(
        context, chosen, by, audit=share is not None, by_topic=by_topic, costs=bool(prices)
    )
    if whole_list:
        refuse_unused(context, "with -o FILE.prels, which holds all documents", "count")
    count = whole_number("count", count, least=1)
    systems, judged = runs.read(), None if qrels is None else _if_any(qrels)
    request = _Request(
        systems, judged, labels, judged_for, estimand, count, seed, kind, output, quiet
    )
    if share is not None:
        _show_audit(request, share)
    elif by_topic:
        _show_topics(request, by=by, solver=solver, noise=noise)
    elif prices:
        _show_actions(request, algorithm, chosen, prices, worth)
    else:
        _show_documents(request, chosen, pair, design)


@dataclass(frozen=True)
class _Request:
    """What the four questions have in common: what was read, how many rows, and where they go.

    `kind` is a format, or "prels".
    """

    systems: Runs
    qrels: Qrels | None
    labels: LabelFiles
    judged_for: str | None
    estimand: Estimand
    count: int
    seed: int
    kind: str
    output: str | None
    quiet: bool

    def pool(self) -> Pool:
        """Pool the runs; what is judged is looked for below the depth, too."""
        return self.estimand.pool(self.systems, self.qrels)

    def judgments(self, pool: Pool) -> Judgments:
        """Read the judgments, of which there may be none yet."""
        return read_judgments(
            self.estimand, pool, self.qrels, self.labels, self.judged_for, begin=True
        )

    def meta(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        """Return the provenance of an answer, made from these files."""
        from rtc_bayes.store import provenance

        return provenance(seed=self.seed, inputs=inputs)

    def show(self, frame: pd.DataFrame, meta: Mapping[str, Any], title: str) -> None:
        """Write what to judge, in the layout asked for."""
        from rtc_bayes.report.terminal import show_frame

        formats: dict[str, Format] = {
            **{"weight": ".3g", "rho": ".3f", "probability": ".3g", "relevant": ".3f"},
            **{"gain": ".3g", "cost": "g", "gain_per_cost": ".3g"},
        }
        show_frame(frame, self.kind, self.output, meta, title, formats)


def _show_topics(
    request: _Request,
    *,
    by: str,
    solver: Literal["greedy", "vote"],
    noise: Literal["mean", "none", "centred", "draws"],
) -> None:
    """Rank the topics without judgments."""
    from rtc_bayes.collection import Judgments
    from rtc_bayes.store import announced
    from rtc_bayes.topics import suggest_topics

    pool, qrels, labels = request.pool(), request.qrels, request.labels
    if qrels is None:
        raise InputError("--by-topic without judgments", remedy="give --qrels")
    # most topics are without a judgment, which goes without saying
    begun = Judgments.from_qrels(
        pool,
        qrels,
        relevance_level=request.estimand.relevance_level,
        judged_for=tags(request.judged_for),
    ).with_judge_labels(read_beside(labels, qrels))
    with announced("choosing topics", request.quiet):
        ranked = suggest_topics(
            begun.pool,
            begun,
            by=by,
            noise=noise,
            measure=request.estimand.measure,
            solver=solver,
            seed=request.seed,
        ).head(request.count)
    order = ". In the order of votes; rho is that of all systems" if solver == "vote" else ""
    title = (
        f"{by}, {solver}, noise {noise}, {counted(len(begun.judged_topics), 'topic')} judged, "
        f"seed {request.seed}; rho: expected correlation of systems' mean scores over the judged "
        f"topics and this one with those over all topics{order}"
    )
    inputs = digests(request.systems, qrels, labels=labels)
    request.show(ranked, request.meta(inputs), title)


def _show_actions(
    request: _Request,
    algorithm: str,
    chosen: Algorithm,
    costs: Mapping[str, float],
    worth: float | None,
) -> None:
    """Rank judgments and labels by gain for cost; `algorithm` is `chosen` as it was typed."""
    from rtc_bayes.judging.actions import check_costs
    from rtc_bayes.store import announced

    judgments = request.judgments(request.pool())
    inputs = digests(request.systems, request.qrels, [chosen], request.labels)
    check_costs(costs, judgments, worth)
    with announced("weighing actions", request.quiet):
        ranked = _ranked_actions(
            judgments, request.estimand, chosen, costs, worth, request.count, request.seed
        )
    title = (
        f"{algorithm}, {judgments.n_judged} judged, seed {request.seed}; gains are what the model "
        f"itself expects, each once those above are done{of_negative(request.qrels)}"
    )
    request.show(ranked, request.meta(inputs), title)


def _show_documents(
    request: _Request, algorithm: Algorithm, pair: str | None, design: DesignFiles
) -> None:
    """Choose documents for one pair or for all."""
    from rtc_bayes.judging import next_documents
    from rtc_bayes.report.next_documents import documents_title
    from rtc_bayes.store import announced

    hold_out, groups = design.read()
    pool = request.pool()
    judgments = request.judgments(pool)
    with announced("choosing documents", request.quiet):
        chosen = next_documents(
            pool,
            judgments,
            request.estimand,
            algorithm=algorithm,
            pair=pair_of(pair, pool.systems),
            count=request.count,
            seed=request.seed,
            hold_out=hold_out,
            groups=groups,
        )
    inputs = digests(request.systems, request.qrels, [algorithm], request.labels)
    meta = request.meta(inputs | design.digests())
    meta |= {"pair": chosen.pair, "confidence": chosen.confidence}
    title = documents_title(
        chosen,
        judgments,
        algorithm,
        request.estimand.measure,
        for_pair=pair not in (None, "least"),
        seed=request.seed,
    )
    title += of_negative(request.qrels)
    if chosen.why_none:
        title += f"; {chosen.why_none}"
    request.show(chosen.to_frame(), meta, title)


def _refuse_of_others(
    context: typer.Context,
    algorithm: Algorithm,
    by: str,
    *,
    audit: bool,
    by_topic: bool,
    costs: bool,
) -> None:
    """Refuse options of another question than the one that is asked."""
    from rtc_bayes.topics.beliefs import CLASSIFIERS

    of_documents = ("pair", "hold_out", "groups")
    of_scores = ("algorithm", "topics", "unseen", "residual")
    other = "give the one, and leave the other out"
    if audit:
        of_models = ("measure", "relevance_level", "scope", "score_depth", "judged_for", "labels")
        asked = (*of_documents, *of_scores, *of_models, "by_topic", "costs")
        refuse_unused(context, "with --audit", *asked, remedy=other)
    if by_topic:
        unused = (*of_documents, *of_scores, "costs")
        refuse_unused(context, "with --by-topic", *unused, remedy=other)
        if by in CLASSIFIERS:
            refuse_unused(context, f"to {by}, which does not ask for whom", "judged_for")
    else:
        too = "give --by-topic, too, or leave it out"
        refuse_unused(context, "without --by-topic", "by", "solver", "noise", remedy=too)
    if costs:
        refuse_unused(context, "with --costs", *of_documents, remedy=other)
        assert algorithm.evaluator is not None
        if getattr(algorithm.judge, "model", None) != algorithm.evaluator:
            raise InputError(
                f"with --costs a model weighs actions, and {algorithm.text} names a judge",
                remedy=f"give the model alone: --algorithm {algorithm.evaluator.text}",
            )
    else:
        too = "give --costs, too, or leave it out"
        refuse_unused(context, "without --costs", "worth", remedy=too)


def _ranked_actions(
    judgments: Judgments,
    estimand: Estimand,
    algorithm: Algorithm,
    costs: Mapping[str, float],
    worth: float | None,
    count: int,
    seed: int,
) -> pd.DataFrame:
    """Fit, compare, and weigh what may be done next."""
    from rtc_bayes.confidence import compare
    from rtc_bayes.judging import next_actions
    from rtc_bayes.relevance import fit

    assert algorithm.evaluator is not None
    fitted = fit(judgments.pool, judgments, model=algorithm.evaluator, seed=seed)
    compared = compare(judgments.pool, fitted, estimand, seed=seed)
    return next_actions(compared, judgments, costs, worth=worth, count=count)


def _prices(costs: Sequence[str], algorithm: Algorithm) -> dict[str, float]:
    """Read ``NAME=COST``, each name once, for an algorithm that can weigh them."""
    prices: dict[str, float] = {}
    for text in costs:
        name, _, cost = text.rpartition("=")
        if name in prices:
            raise InputError(f"--costs of {name} comes twice", remedy="give one cost of each")
        try:
            prices[name] = float(cost)
        except ValueError:
            name = ""
        if not name:
            raise InputError(f"cannot use --costs {text}", remedy="write NAME=COST, as human=1")
    if prices and algorithm.evaluator is None:
        raise InputError(
            f"{algorithm.text} has no model that says what a label gains",
            remedy="give a model, as robust:gibbs",
        )
    return prices


def _share(text: str) -> float:
    """Read the share of the pool that an audit draws."""
    try:
        return float(text)
    except ValueError:
        pass
    if Path(text).exists() or text.endswith(".prels"):
        raise InputError(
            f"--audit {text}: next draws an audit's documents, and needs their share of the pool",
            remedy="write --audit 0.02 -o FILE.prels to draw them; what is judged of them is "
            "checked by compare --audit FILE.prels",
        )
    try:
        meant = f"write --audit {float(text.removesuffix('%')) / 100.0:g}"
    except ValueError:
        meant = "write a share of the pool above 0, at most 1, as --audit 0.02"
    raise InputError(f"--audit {text} is no share", remedy=meant)


def _show_audit(request: _Request, share: float) -> None:
    """Write all documents of an audit, or show those to judge next."""
    from rtc_bayes.collection import Qrels
    from rtc_bayes.judging import audit_documents, audit_order
    from rtc_bayes.measures import Sample

    qrels = Qrels({}) if request.qrels is None else request.qrels
    # what is judged below the depth changes no draw
    pool = request.estimand.pool(request.systems)
    meta = request.meta(digests(request.systems, qrels))
    prels = audit_documents(pool, share, qrels, seed=request.seed)
    sample = Sample.from_prels(pool, prels, unfinished=True)
    order = audit_order(sample, seed=request.seed)
    title = (
        f"audit: {len(order.next)} of {counted(len(order.documents), 'document')} to judge, "
        f"seed {request.seed}"
    )
    if not len(order.documents):
        title += "; a larger share draws some"
    if request.kind == "prels":
        _write_audit(request, prels, qrels, meta, title)
    else:
        _show_first(request, sample, order.next, meta, title)


def _write_audit(
    request: _Request, prels: Prels, qrels: Qrels, meta: dict[str, Any], title: str
) -> None:
    """Write all documents of an audit."""
    from rtc_bayes.collection import write_prels
    from rtc_bayes.store import meta_path, write_json

    output, level = request.output, qrels.relevance_level
    assert output is not None
    _lose_no_grade(output, qrels)
    write_prels(prels, output)
    of_level = {} if level is None else {"relevance_level": level}
    write_json(meta | of_level, meta_path(output))
    if not request.quiet:
        typer.echo(f"{title}\nin {output}")


def _show_first(
    request: _Request,
    sample: Sample,
    order: NDArray[np.int64],
    meta: dict[str, Any],
    title: str,
) -> None:
    """Show the first of the documents that an audit has left to judge."""
    import pandas as pd

    count = request.count
    if count < len(order):
        first_alone = f"the first {count} are shown, and -o FILE.prels writes all"
        title += f"; {first_alone}"
        if request.kind != "table":
            warn(f"of {counted(len(order), 'document')} {first_alone}")
    first = order[:count]
    pairs = map(sample.judgments.pool.pair_of, first)
    frame = pd.DataFrame(pairs, columns=["topic", "docno"])
    frame["probability"] = sample.probability[first]
    request.show(frame, meta, title)


def _if_any(qrels: str) -> Qrels | None:
    """Read qrels; of a file that is still empty, None."""
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.collection.lines import EmptyFileError

    try:
        return read_qrels(qrels)
    except EmptyFileError:
        warn(f"{qrels}: the file is empty, so that judging begins")
        return None


def _lose_no_grade(output: str, judged: Qrels) -> None:
    """Refuse to write over an audit's file with grades that stand nowhere else."""
    from rtc_bayes.collection import read_prels

    if not Path(output).exists():
        return
    lost = sum(
        row.relevance >= 0 and row.relevance != judged.get(topic, {}).get(docno)
        for topic, rows in read_prels(output).items()
        for docno, row in rows.items()
    )
    if lost:
        raise InputError(
            f"{lost} of its grades are not in --qrels, and would be lost",
            path=output,
            remedy="name another file",
        )


def pair_of(text: str | None, systems: Sequence[str], *, least: str = ", or least") -> PairLike:
    """Read two systems' names, either of which may have a comma."""
    if text is None:
        return None
    if text == "least":
        return "least"
    parts = parted(text)
    splits = [(",".join(parts[:n]), ",".join(parts[n:])) for n in range(1, len(parts))]
    if not splits:
        raise InputError(f"--pair is {text!r}", remedy=f"give two systems as A,B{least}")
    return next((names for names in splits if set(names) <= set(systems)), splits[0])
