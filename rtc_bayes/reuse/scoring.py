"""Scores of all systems by the judgments of a hold-out design, and whether they are of it."""

from __future__ import annotations

from collections.abc import Mapping

from rtc_bayes.collection import Judgments, Qrels, Runs
from rtc_bayes.collection.hold_out import (
    HoldOutDesign,
    check_contributed,
    check_design,
    warn_of_held_out,
)
from rtc_bayes.errors import InputError
from rtc_bayes.measures.estimand import Estimand
from rtc_bayes.measures.names import MeasureLike
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.relevance import ModelSpec
from rtc_bayes.reuse.expected import expected_scores
from rtc_bayes.reuse.masking import judged_under
from rtc_bayes.signatures import explains_types
from rtc_bayes.workers import Workers


@explains_types
def scores_under(
    runs: Runs,
    qrels: Qrels,
    groups: Mapping[str, str],
    hold_out: HoldOutDesign,
    measure: MeasureLike = "AP",
    *,
    depth: int | None = None,
    relevance_level: int | None = None,
    model: str | ModelSpec | None = None,
    seed: int = 0,
    workers: Workers = Workers(),
) -> ScoreMatrix:
    """Score every system by judgments that were made under a hold-out design.

    The command ``reusability`` scores by this function. It refuses judgments of another design,
    and complete ones unless a depth says how to cut them.

    Parameters
    ----------
    runs : Runs
        Of every system, those held out too.
    qrels : Qrels
        Judgments of the design, or complete ones with `depth`.
    groups : mapping of str to str
        Group of each system.
    hold_out : HoldOutDesign
        By which was judged.
    measure : str or measure of ir_measures
    depth : int, at least 1, optional
        The judgments are complete: cut them to what the design would have judged, by a pool of so
        many documents of each list (:func:`rtc_bayes.judged_under`). Default: they are not cut.
    relevance_level : int, at least 1, optional
        The lowest grade that counts as relevant; by default the level that the qrels name, or 1.
    model : str or ModelSpec, optional
        Scores are as this model of relevance expects them (:func:`rtc_bayes.expected_scores`).
        Default: documents without a judgment are not relevant.
    seed : int
        Of the model's fit.
    workers : Workers
        For the expected scores.

    Returns
    -------
    ScoreMatrix
        Of the topics that have judgments.

    Raises
    ------
    InputError
        A system without a group, a group that the design lacks, judgments of another design, or
        judgments of much that held-out groups alone retrieved.

    Warns
    -----
    CollectionWarning
        Judgments made for systems that the design holds out of their topics; judgments of much
        that held-out groups alone retrieved, where groups of the design have no run.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=12, n_systems=8, seed=1)
    >>> design = rb.hold_out(data.groups, data.runs.topics, held=1, on_remainder="cycle")
    >>> rb.scores_under(data.runs, data.qrels, data.groups, design, depth=10)
    ScoreMatrix(AP, 8 systems, 12 topics)
    >>> rb.scores_under(data.runs, data.qrels, data.groups, design)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: ... the judgments were not made under it; give the design under ...
    """
    if depth is not None:
        qrels = judged_under(qrels, runs, groups, hold_out, depth)
    check_judged_under(qrels, groups, hold_out, runs)
    if model is None:
        return ScoreMatrix.from_qrels(runs, qrels, measure, relevance_level=relevance_level)
    about = Estimand(str(measure), relevance_level=relevance_level)
    return expected_scores(runs, qrels, model, estimand=about, seed=seed, workers=workers)


def check_judged_under(
    judged: Judgments | Qrels,
    groups: Mapping[str, str],
    hold_out: HoldOutDesign,
    runs: Runs | None = None,
) -> None:
    """Refuse judgments that were not made under a design, and warn of those made for others.

    Parameters
    ----------
    judged : Judgments or Qrels
        Judgments are over a pool of every system.
    groups : mapping of str to str
        Group of each system.
    hold_out : HoldOutDesign
    runs : Runs, optional
        Of every system. They tell who retrieved what is judged, where qrels do not name a design.

    Raises
    ------
    InputError
        Judgments of another design, or of much that held-out groups alone retrieved; qrels that
        name no design, without runs.

    Warns
    -----
    CollectionWarning
        Judgments made for systems that the design holds out of their topics.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> groups = {"a": "A", "b": "B"}
    >>> design = rb.HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]])
    >>> check_judged_under(rb.Qrels({"1": {"d1": 1}}, hold_out=design.digest), groups, design)
    >>> check_judged_under(rb.Qrels({"1": {"d1": 1}}), groups, design)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the qrels name no hold-out design; give runs= too, ...
    """
    check_design(judged, hold_out)
    if isinstance(judged, Judgments):
        made_for, topics = judged.judged_for_by_topic or judged.judged_for, judged.pool.topics
    else:
        made_for, topics = judged.judged_for, judged.topics
    warn_of_held_out(made_for, topics, hold_out, groups)
    if judged.hold_out is not None:  # what names the design is its own
        return
    if isinstance(judged, Qrels):
        if runs is None:
            raise InputError(
                "the qrels name no hold-out design",
                remedy="give runs= too, which tell whether they were made under it",
            )
        judged = Judgments.from_qrels(Estimand().pool(runs, judged), judged)
    check_contributed(judged, hold_out, groups)
