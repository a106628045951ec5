"""Choose the next topic to judge by what is known of the others (Hosseini 2013, chapter 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rtc_bayes.checks import check_word, whole_number
from rtc_bayes.collection import Judgments, Pool, Qrels, natural_key
from rtc_bayes.collection.ids import list_of_ids, list_of_topics, some
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.errors import InputError
from rtc_bayes.measures.names import parse_measure, refuse_rel
from rtc_bayes.measures.sampling import judged_by
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.signatures import explains_types, options_of
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.topics.beliefs import CLASSIFIERS, belief
from rtc_bayes.topics.objective import Floats, Objective, centred, system_shares
from rtc_bayes.topics.predicted_scores import drawn_scores, predicted_scores, probabilities_by
from rtc_bayes.topics.solvers.greedy import Chosen
from rtc_bayes.topics.solvers.solution import first_best
from rtc_bayes.topics.solvers.vote import Ballot

if TYPE_CHECKING:
    import pandas as pd

Noise = Literal["mean", "none", "centred", "draws"]
Step = Literal["greedy", "vote"]
_OF_DRAWS = ("centred", "draws")


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveSelection(Shown):
    """Topics in the order in which they were chosen and judged, each by judgments of those before.

    Attributes
    ----------
    topics : tuple of str
        The first was drawn at random, or the first were named.
    rhos : tuple of float
        What :attr:`scores` then said of rho of the topics so far and the one chosen; NaN for the
        first, or for those that were named.
    judged : tuple of int
        Documents judged of each.
    judgments : Judgments
    scores : ScoreMatrix
        At the end: true scores of judged topics, without variance; expected ones of the others.
    by : str
        The classifier or model.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=10)
    >>> chosen = rb.select_adaptively(pool, data.qrels, 3, first="503")
    >>> chosen.topics[0], len(chosen.topics), chosen.judgments.n_judged == sum(chosen.judged)
    ('503', 3, True)
    """

    topics: tuple[str, ...]
    rhos: tuple[float, ...]
    judged: tuple[int, ...]
    judgments: Judgments
    scores: ScoreMatrix
    by: str

    def mean(self, over: Literal["selected", "all"] = "all") -> Floats:
        """Score every system by the mean over topics, shape (systems,).

        Parameters
        ----------
        over : {"selected", "all"}
            Over judged topics, as in the thesis; or over all, those not judged by what is expected.
        """
        if over == "all":
            return np.asarray(self.scores.mean.mean(axis=1))
        columns = [self.scores.topics.index(topic) for topic in self.topics]
        return np.asarray(self.scores.mean[:, columns].mean(axis=1))

    def __repr__(self) -> str:
        return (
            f"AdaptiveSelection({len(self.topics)} of "
            f"{counted(len(self.scores.topics), 'topic')} by {self.by}, {sum(self.judged):,} "
            f"judged: {', '.join(self.topics[:8])}"
            f"{', ...' if len(self.topics) > 8 else ''})"
        )


@explains_types
@options_of("solver", subsets=["vote"], share=["vote"])
def select_adaptively(
    pool: Pool,
    qrels: Qrels,
    size: int,
    *,
    by: str = "logistic",
    noise: Noise = "mean",
    hard: bool = False,
    measure: str | Sequence[str] = "AP",
    solver: Step = "greedy",
    subsets: int = 100,
    share: float = 0.2,
    first: str | int | Sequence[str | int] | None = None,
    relevance_level: int | None = None,
    seed: int = 0,
) -> AdaptiveSelection:
    """Judge topics one at a time, each the one that is expected to complete the others best.

    All documents of a topic's pool are judged. Then the belief is learned anew, every system is
    scored on every topic (its expected score and the variance), and the topic that raises gamma
    of equation (6.6) most is next.

    Parameters
    ----------
    pool : Pool
        Of the systems to choose by; its lists are scored as deep as it says.
    qrels : Qrels
        The truth, of which a topic is read once it is chosen. Documents that it lacks are
        nonrelevant.
    size : int
        How many topics to judge.
    by : str
        What predicts the relevance of unjudged documents: ``logistic``, ``svm`` (the thesis's,
        with Platt's sigmoid), or a relevance model; ``hierarchical:map`` chose best on TREC-8.
    noise : {"mean", "none", "centred", "draws"}
        What is made of what is uncertain. ``mean``: U of equation (6.5), the mean over systems of
        each topic's variance, in which noise that systems share counts though it changes no
        comparison. ``centred``: U without it, the variance of scores less their mean over systems.
        ``none``: U is 0. ``draws``: no U, and the covariance S is the mean of those of scores drawn
        from the belief; a topic that is chosen is judged, so that its noise goes.
    hard : bool
        Take what is likelier than not as relevant, and all else as not (with ``noise="none"``:
        the integer program that the thesis compares with).
    measure : str or sequence of str, default "AP"
        By which measures, as ir-measures names them, without ``rel``. Several count equally, by
        their mean rho (Adaptive*); scores that are returned are of the first. Gains go by grades.
    solver : {"greedy", "vote"}
        ``greedy``: the topic that raises gamma most. ``vote``: subsets of systems vote, each for
        the topic that raises its gamma most, so that no few systems decide (Adaptive+); not by
        ``draws``.
    subsets : int, at least 1
        For ``vote``: how many subsets of systems.
    share : float, in (0, 1]
        For ``vote``: of the systems, in each subset; five at least.
    first : str or int, or sequence of such, optional
        The first topic, or several that are judged before any is chosen. Default: one, drawn by
        the seed.
    relevance_level : int, optional
        The lowest grade that counts as relevant; by default the level that the qrels name, or 1.
    seed : int, at least 0
        Of the first topic, of votes, of draws, and of what `by` draws.

    Returns
    -------
    AdaptiveSelection
        Ties go to the first topic in the natural order of ids.

    Raises
    ------
    InputError
        A size out of range, first topics that are not in the pool, twice the same or more than
        `size`, no such model, a measure with ``rel`` above 1, or fewer than two systems.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=10)
    >>> chosen = rb.select_adaptively(pool, data.qrels, 4, seed=1)
    >>> chosen.mean().shape, len(set(chosen.topics))
    ((6,), 4)
    """
    if whole_number("size", size, least=1) > pool.n_topics:
        raise InputError(
            f"size is {size}, of {counted(pool.n_topics, 'topic')}", remedy="ask for fewer"
        )
    _check(noise, solver)
    if pool.n_systems < 2:
        raise InputError("one system alone", remedy="give two runs or more")
    measures = _measures(measure)
    predict = belief(by, pool, seed)
    every = np.arange(pool.n_documents)
    truth = judged_by(pool, qrels, every, level_of(qrels, relevance_level))
    order = _first(pool, first, size, seed)
    rhos = [np.nan] * len(order)
    while True:
        judgments = _all_judged(truth, order)
        p = probabilities_by(predict, judgments, hard=hard)
        scores = predicted_scores(judgments, p, measures, seed=seed)
        if len(order) == size:
            break
        [(topic, rho), *_] = rank_topics(
            scores,
            order,
            noise=noise,
            draws=drawn_scores(judgments, p, measures, seed=seed) if noise in _OF_DRAWS else (),
            solver=solver,
            subsets=subsets,
            share=share,
            seed=seed,
        )
        order.append(topic)
        rhos.append(rho)
    judged = np.diff(pool.topic_starts)[[pool.topics.index(topic) for topic in order]]
    return AdaptiveSelection(
        tuple(order), tuple(rhos), tuple(judged.tolist()), judgments, scores[0], by
    )


@explains_types
@options_of("solver", subsets=["vote"], share=["vote"])
def suggest_topics(
    pool: Pool,
    judgments: Judgments | Qrels,
    *,
    by: str = "logistic",
    noise: Noise = "mean",
    measure: str | Sequence[str] = "AP",
    solver: Step = "greedy",
    subsets: int = 100,
    share: float = 0.2,
    seed: int = 0,
) -> pd.DataFrame:
    """Rank the topics that have no judgments by what judging each would complete.

    Parameters
    ----------
    pool : Pool
        Its lists are scored as deep as it says. That of the command is
        ``rb.Estimand(depth=depth).pool(runs, qrels)``.
    judgments : Judgments or Qrels
        Of some topics, preferably of all their documents.
    by, noise, measure, solver, subsets, share, seed
        As of :func:`select_adaptively`.

    Returns
    -------
    DataFrame
        ``topic``, and ``rho``, the expected correlation of systems' mean scores over the judged
        topics and this one with those over all topics; the highest first. By ``vote`` the order is
        that of votes of sets of systems, and ``rho`` that of all systems.

    Raises
    ------
    InputError
        No judgments, no topic without, no such model, labels of judges for what takes none, or a
        measure with ``rel`` above 1.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=10)
    >>> one = rb.Qrels({"503": data.qrels["503"]})
    >>> ranked = suggest_topics(pool, rb.Judgments.from_qrels(pool, one))
    >>> list(ranked.columns), len(ranked)
    (['topic', 'rho'], 7)
    """
    import pandas as pd

    if isinstance(judgments, Qrels):
        judgments = Judgments.from_qrels(pool, judgments)
    if judgments.judge_labels is not None and by in CLASSIFIERS:
        raise InputError(
            f"labels of judges say nothing to {by}",
            remedy="give by= (--by) a model that takes labels, as hierarchical:map",
        )
    judgments = judgments.on(pool)
    pool = judgments.pool
    begun = np.bincount(pool.topic_of[judgments.order], minlength=pool.n_topics) > 0
    if not begun.any():
        raise InputError("no topic has judgments", remedy="judge one topic, any, first")
    if begun.all():
        raise InputError("every topic has judgments", remedy="choose documents instead")
    _check(noise, solver)
    predict = belief(by, pool, whole_number("seed", seed))
    measures = _measures(measure)
    p = probabilities_by(predict, judgments)
    chosen = [topic for topic, some in zip(pool.topics, begun, strict=True) if some]
    ranked = rank_topics(
        predicted_scores(judgments, p, measures, seed=seed),
        chosen,
        noise=noise,
        draws=drawn_scores(judgments, p, measures, seed=seed) if noise in _OF_DRAWS else (),
        solver=solver,
        subsets=subsets,
        share=share,
        seed=seed,
    )
    return pd.DataFrame(ranked, columns=["topic", "rho"])


@options_of("solver", subsets=["vote"], share=["vote"])
def rank_topics(
    scores: ScoreMatrix | Sequence[ScoreMatrix],
    judged: Sequence[str],
    *,
    noise: Noise = "mean",
    draws: Sequence[Floats] = (),
    solver: Step = "greedy",
    subsets: int = 100,
    share: float = 0.2,
    seed: int = 0,
) -> list[tuple[str, float]]:
    """Return the topics that are not judged, with rho of the judged ones and each, best first.

    Parameters
    ----------
    scores : ScoreMatrix or sequence of ScoreMatrix
        As far as known: of judged topics without variance. Several measures count by their mean
        rho.
    judged : sequence of str
        Ids of topics of the scores.
    noise, solver, subsets, share, seed
        As of :func:`select_adaptively`. By ``vote`` the order is that of votes.
    draws : sequence of ndarray, shape (samples, systems, topics)
        For ``centred`` and ``draws``: scores drawn from the belief, of every matrix.

    Raises
    ------
    InputError
        No draws, where the noise is of draws, or a judged topic that the scores lack.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> mean = [[0.0, 0.1, 0.2], [0.5, 0.1, 0.4], [1.0, 0.1, 0.3]]
    >>> scores = rb.ScoreMatrix(mean, np.zeros((3, 3)), "abc", ("1", "2", "3"), "AP")
    >>> [topic for topic, rho in rank_topics(scores, ["1"])]
    ['3', '2']
    """
    matrices = [scores] if isinstance(scores, ScoreMatrix) else list(scores)
    names = sorted(matrices[0].topics, key=natural_key)
    judged = list_of_topics(judged)
    if unknown := [topic for topic in judged if topic not in names]:
        raise InputError(
            f"no topic is named {unknown[0]!r}", remedy=f"name topics of the scores: {some(names)}"
        )
    # not Objective.of: what is known so far may not tell any systems apart
    _check(noise, solver)
    if noise not in _OF_DRAWS:
        objectives = [_objective(matrix, names, noise) for matrix in matrices]
    elif len(draws) != len(matrices):
        raise InputError(
            f"noise is {noise!r}, and {counted(len(draws), 'array')} of draws for "
            f"{counted(len(matrices), 'measure')}",
            remedy="give draws of the scores by each measure",
        )
    else:
        both = zip(matrices, draws, strict=True)
        objectives = [_objective(matrix, names, noise, drawn) for matrix, drawn in both]
    states = [Chosen(objective) for objective in objectives]
    ballot = Ballot(objectives, subsets, share, seed) if solver == "vote" else None
    for topic in judged:
        for state in states:
            state.add(names.index(topic))
        if ballot:
            ballot.add(names.index(topic))
    rho = np.mean([state.rho_with() for state in states], axis=0)
    left = np.array([name not in judged for name in names])
    if ballot:
        return [(names[n], float(rho[n])) for n in ballot.ranked(left)]
    ranked = []
    while left.any():
        best = first_best(np.where(left, rho, -np.inf))
        ranked.append((names[best], float(rho[best])))
        left[best] = False
    return ranked


def _check(noise: str, solver: str) -> None:
    if noise not in get_args(Noise):
        raise InputError(f"noise is {noise!r}", remedy=f"give one of {', '.join(get_args(Noise))}")
    check_word("solver", solver, get_args(Step))
    if (noise, solver) == ("draws", "vote"):
        raise InputError(
            "subsets of systems do not vote by draws",
            remedy='give noise="centred" (--noise centred), or solver="greedy" (--solver greedy)',
        )


def _measures(measure: str | Sequence[str]) -> list[str]:
    measures = [measure] if isinstance(measure, str) else list(dict.fromkeys(measure))
    if not measures:
        raise InputError("no measure", remedy="give one or more, such as AP")
    for each in measures:
        refuse_rel(parse_measure(each), "topics")
    return measures


def _objective(
    scores: ScoreMatrix, names: Sequence[str], noise: Noise, draws: Floats | None = None
) -> Objective:
    """Take the objective with topics in this order."""
    place = [scores.topics.index(name) for name in names]
    mean, variance = scores.mean[:, place], scores.variance[:, place]
    share = system_shares(scores, None)
    factor = share / (1.0 - share @ share)
    if draws is None:
        penalty = share @ variance if noise == "mean" else np.zeros(len(names))
        return Objective(centred(mean, share), factor, penalty)
    apart = np.stack([centred(drawn[:, place], share) for drawn in draws])
    if noise == "centred":
        return Objective(centred(mean, share), factor, factor @ apart.var(axis=0))
    # every draw has as many rows as systems, and the mean of their covariances is that of all
    factors = np.tile(factor / len(apart), len(apart))
    return Objective(apart.reshape(-1, len(names)), factors, np.zeros(len(names)))


def _first(
    pool: Pool, first: str | int | Sequence[str | int] | None, size: int, seed: int
) -> list[str]:
    """Return the topics to judge before any is chosen."""
    if first is None:
        drawn = np.random.default_rng(whole_number("seed", seed)).integers(pool.n_topics)
        return [sorted(pool.topics, key=natural_key)[drawn]]
    named = list_of_ids("first", [first] if isinstance(first, (str, int, np.integer)) else first)
    for topic in named:
        if topic not in pool.topics:
            raise InputError(f"no topic is named {topic!r}", remedy="name one of the runs' topics")
    if not 0 < len(set(named)) == len(named) <= size:
        raise InputError(
            f"{counted(len(named), 'first topic')}, {len(set(named))} of them different, for a "
            f"size of {size}",
            remedy="name 1 to size topics, each once",
        )
    return named


def _all_judged(truth: Judgments, topics: Sequence[str]) -> Judgments:
    """Keep the truth of some topics alone, of their whole pools."""
    pool = truth.pool
    inside = [pool.documents(pool.topics.index(topic)) for topic in topics]
    documents = np.concatenate([np.arange(part.start, part.stop) for part in inside])
    return replace(truth.keep(documents), judged_for=pool.systems)
