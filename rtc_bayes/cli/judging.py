"""The command that says what to judge next: documents, topics, actions, or an audit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.cli.arguments import (
    AnEstimand,
    DesignFiles,
    Judge,
    JudgedFor,
    LabelsRead,
    Layout,
    Out,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
    UnderDesign,
)
from rtc_bayes.cli.auditing import share_of, show_audit
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.guarding import PRELS
from rtc_bayes.cli.inputs import (
    ENDINGS,
    digests,
    format_of,
    of_negative,
    pair_of,
    read_beside,
    refuse_list,
    refuse_unused,
    tags,
    typed,
)
from rtc_bayes.cli.request import Request
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments, Qrels
    from rtc_bayes.judging import Algorithm
    from rtc_bayes.measures.estimand import Estimand

# names that a note repeats
_SHOWN = 10


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

    whole_list = audit is not None and layout is None and str(output).endswith(PRELS)
    kind = "prels" if whole_list else format_of(layout, output, ENDINGS)
    chosen = parse_algorithm(algorithm)
    share = None if audit is None else share_of(audit)
    prices = _prices(costs or (), chosen)
    _refuse_of_others(
        context, chosen, by, audit=share is not None, by_topic=by_topic, costs=bool(prices)
    )
    if whole_list:
        refuse_unused(context, "with -o FILE.prels, which holds all documents", "count")
    count = whole_number("count", count, least=1)
    systems, judged = runs.read(), None if qrels is None else _if_any(qrels)
    request = Request(
        systems, judged, labels, judged_for, estimand, count, seed, kind, output, quiet
    )
    if share is not None:
        show_audit(request, share)
    elif by_topic:
        _show_topics(request, by=by, solver=solver, noise=noise)
    elif prices:
        _show_actions(request, chosen, prices, worth)
    else:
        _show_documents(request, chosen, pair, design)


def _show_topics(
    request: Request,
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
    if not qrels:
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
    request: Request, algorithm: Algorithm, costs: Mapping[str, float], worth: float | None
) -> None:
    """Rank judgments and labels by gain for cost."""
    from rtc_bayes.judging.actions import check_costs, check_measure
    from rtc_bayes.report.terminal import titled
    from rtc_bayes.store import announced

    judgments = request.judgments(request.pool())
    inputs = digests(request.systems, request.qrels, [algorithm], request.labels)
    check_costs(costs, judgments, worth)
    check_measure(request.estimand.measure, judgments)
    with announced("weighing actions", request.quiet):
        ranked = _ranked_actions(
            judgments, request.estimand, algorithm, costs, worth, request.count, request.seed
        )
    title = titled(
        f"{algorithm.text}, {judgments.n_judged} judged, seed {request.seed}",
        "gains are what the model itself expects, each once those above are done",
        of_negative(request.qrels),
    )
    request.show(ranked, request.meta(inputs), title)


def _show_documents(
    request: Request, algorithm: Algorithm, pair: str | None, design: DesignFiles
) -> None:
    """Choose documents for one pair or for all."""
    from rtc_bayes.judging import next_documents
    from rtc_bayes.report.next_documents import documents_title
    from rtc_bayes.report.terminal import titled
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
    if chosen and hold_out is None and pair in (None, "least"):
        _say_for_whom(request, judgments, algorithm)
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
    request.show(chosen.to_frame(), meta, titled(title, of_negative(request.qrels)))


def _say_for_whom(request: Request, judgments: Judgments, algorithm: Algorithm) -> None:
    """Say what option keeps a model from inferring anew, each time, whom judging is for."""
    # judgments there are were made for whom they say, or for whom a fit infers
    is_said = request.judged_for is not None or judgments.n_judged
    if is_said or getattr(algorithm.judge, "model", None) is None:
        return
    systems = judgments.pool.systems
    named = shlex.quote(",".join(systems))
    if len(systems) > _SHOWN:
        named = f"with the names of these {len(systems)} runs"
    warn(
        "these documents are chosen for all of these runs: when you ask again, with their "
        f"judgments, add --judged-for {named}"
    )


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
        of_models = ("measure", "scope", "score_depth", "labels")
        asked = (*of_documents, *of_scores, *of_models, "by_topic", "costs")
        refuse_unused(context, "with --audit", *asked, remedy=other)
        # a person says these two every time
        if said := typed(context, "judged_for", "relevance_level"):
            warn(
                f"{' and '.join(said)}: not used here, since an audit draws documents at random; "
                "compare --audit uses them"
            )
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
        refuse_list("--costs", text)
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


def _if_any(qrels: str) -> Qrels:
    """Read qrels; a file that is still empty holds none."""
    from rtc_bayes.collection import Qrels, read_qrels
    from rtc_bayes.collection.lines import EmptyFileError

    try:
        return read_qrels(qrels)
    except EmptyFileError:
        warn(f"{qrels}: the file is empty, so that judging begins")
        return Qrels({})
