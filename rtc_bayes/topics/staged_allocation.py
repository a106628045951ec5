"""A budget of judgments spent in stages, by topic and document (Hosseini 2013, chapter 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from rtc_bayes.checks import check_word, real_number, whole_number
from rtc_bayes.collection import Pool, Qrels
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.collection.qrels import Prels, level_of
from rtc_bayes.errors import InputError
from rtc_bayes.measures.sampling import (
    Sample,
    SamplingWeights,
    equal_parts,
    judged_by,
    permanent_numbers,
    sampling_weights,
)
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.measures.staged import drawn_more, expected_more, topmost
from rtc_bayes.measures.stat_ap import stat_ap
from rtc_bayes.signatures import Above, explains_types, options_of
from rtc_bayes.store.shown import Shown, counted
from rtc_bayes.topics.allocation import equal_shares
from rtc_bayes.topics.objective import AlikeError, Floats
from rtc_bayes.topics.selection import select_topics
from rtc_bayes.topics.unjudged import unjudged_relevant

if TYPE_CHECKING:
    import pandas as pd

Strategy = Literal["uniform", "ra", "sa", "qdp", "qdp*"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
# words of before
_NOW = {"random": "ra", "subset": "sa"}
Sampling = Literal[SamplingWeights, "pool"]
Size = Literal["exact", "expected"]

_MORE = "give a larger first part or budget, or strategy uniform"
# of a document, for sizes that are spent on average
_NOTHING = 1e-6


class AllocationStage(NamedTuple):
    """What one stage did.

    Attributes
    ----------
    weights : dict of str to float
        b, the weight of every topic in this stage, from 0 to 1.
    judged : dict of str to int
        How many documents of every topic were judged in it.
    systems : tuple of str
        The systems that counted.
    """

    weights: dict[str, float]
    judged: dict[str, int]
    systems: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class StagedAllocation(Shown):
    """Documents judged in stages, each with its inclusion probability.

    Attributes
    ----------
    sample : Sample
        Judgments in the order of stages, over the pool.
    stages : tuple of AllocationStage
    strategy : str
    budget : int
        What could be spent.
    missing : tuple of (str, str)
        Topic and docno of documents judged that the truth lacks; they count as nonrelevant.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    >>> spent = rb.allocate(rb.Pool.from_runs(data.runs, depth=20), data.qrels, 80)
    >>> spent.spent, [sum(stage.judged.values()) for stage in spent.stages]
    (80, [40, 20, 20])
    """

    sample: Sample
    stages: tuple[AllocationStage, ...]
    strategy: Strategy
    budget: int
    missing: tuple[tuple[str, str], ...]

    @property
    def spent(self) -> int:
        """How many documents were judged: the budget, or all that could be."""
        return self.sample.judgments.n_judged

    @cached_property
    def scores(self) -> ScoreMatrix:
        """The statAP of every system on every topic with a judgment, and its sampling variance."""
        return stat_ap(self.sample.select_topics(self.sample.judgments.judged_topics)).scores

    def to_prels(self) -> Prels:
        """Return the judgments with their inclusion probabilities, as ``write_prels`` writes."""
        return self.sample.to_prels()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each stage and topic: stage, topic, weight, judged."""
        import pandas as pd

        rows = [
            (n, topic, stage.weights[topic], stage.judged[topic])
            for n, stage in enumerate(self.stages, 1)
            for topic in stage.weights
        ]
        return pd.DataFrame(rows, columns=["stage", "topic", "weight", "judged"])

    def meta(self) -> dict[str, Any]:
        """Return what was asked for, what was spent, and each stage, as JSON."""
        return {
            "strategy": self.strategy,
            "budget": self.budget,
            "judged": self.spent,
            "missing": [list(pair) for pair in self.missing],
            "relevance_level": self.sample.judgments.relevance_level,
            "stages": [stage._asdict() for stage in self.stages],
        }

    def __repr__(self) -> str:
        short = f" of a budget of {self.budget:,}" if self.spent < self.budget else ""
        topics = [sum(n > 0 for n in stage.judged.values()) for stage in self.stages]
        judged = self.sample.judgments
        of_grades = counted_grades(judged.highest_grade, judged.relevance_level)
        return (
            f"StagedAllocation({self.strategy}, {self.spent:,} judged{short} in "
            f"{counted(len(self.stages), 'stage')} on {', '.join(map(str, topics))} topics"
            f"{'; ' * bool(of_grades)}{of_grades})"
        )


@explains_types
@options_of("stages", first=Above(1))
@options_of("gain_weight", by=Above(0))
@options_of(
    "strategy",
    by=["ra", "qdp", "qdp*"],
    gain_weight=["ra", "qdp", "qdp*"],
    best=["qdp*"],
)
def allocate(
    pool: Pool,
    qrels: Qrels,
    budget: int,
    *,
    strategy: Strategy = "qdp",
    stages: int = 3,
    first: float = 0.5,
    sampling: Sampling = "rank",
    size: Size = "exact",
    by: str = "svm",
    gain_weight: float = 0.1,
    best: int = 30,
    relevance_level: int | None = None,
    seed: int = 0,
) -> StagedAllocation:
    """Spend a budget of judgments in stages, each where judgments so far say that it pays most.

    The first stage spreads its part over all topics. After each stage statAP scores the systems,
    with a variance, and a strategy weights the topics. Documents of a topic are drawn at random,
    so that what is not judged is estimated without supposing it nonrelevant.

    Where all documents of the topics or systems chosen are judged, the next stage has what they
    leave of the budget. What the last stage leaves is spent in one more, on all topics alike.

    Parameters
    ----------
    pool : Pool
        Of the participating systems: only their documents are judged, and scores read lists to
        its `score_depth`. That of the command is ``rb.Estimand(depth=depth).pool(runs)``.
    qrels : Qrels
        The truth, of which a document is read once it is drawn. Documents that it lacks are
        nonrelevant.
    budget : int, at least 1
        How many documents to judge in all; fewer are judged only if the pool has fewer.
    strategy : str, default "qdp"
        - ``uniform`` (UN): all topics alike: over all stages together their numbers of documents
          differ by one at most, where a topic has as many.
        - ``ra`` (RA, random allocation): as many topics at random as ``qdp`` would weight, alike.
        - ``sa`` (SA, subset allocation): topics by equation (5.2) at each stage, alike.
        - ``qdp``: the priority of a document is its topic's weight b times its own w; b minimises
          ``b'(S + U)b / 2 - e'Sb - lambda r'b`` for b from 0 to 1 (7.5).
        - ``qdp*``: the same by the `best` systems so far alone, and only their documents.
    stages : int, at least 1
        What the first leaves is spread equally over the others. Of one stage only ``uniform``
        makes sense: a strategy weights topics by the stages before.
    first : float, in (0, 1)
        The first stage's part of the budget.
    sampling : {"rank", "depth", "uniform", "pool"}
        w: by the prior of average precision, by one over the best rank, or alike, as of
        :func:`rtc_bayes.inclusion_probabilities`. Each topic's sum to 1. ``pool``: from the top
        of the lists down, without chance, as pooling does; what is not judged is then taken as
        nonrelevant, without variance.
    size : {"exact", "expected"}
        Spend the budget exactly, or on average, by Poisson sampling: then no more than the
        choice of topics bears on inclusion probabilities. ``pool`` knows no ``expected``.
    by : str
        What says r, how many relevant documents of a topic are without a judgment: ``svm`` or
        ``logistic``, how many they call relevant; a relevance model, such as
        ``hierarchical:laplace``; or ``zobel``, the extrapolated curve of (3.1).
    gain_weight : float, at least 0
        lambda, how much finding relevant documents counts beside telling systems apart. S is
        scaled by e'Se, and r sums to 1: at 1 both count alike. It is not fitted to data.
    best : int, at least 2
        Of ``qdp*``: how many systems count, with equal weights (section 4.5.2).
    relevance_level : int, optional
        The lowest grade that counts as relevant; by default the level that the qrels name, or 1.
    seed : int
        Of the permanent random numbers, which say which documents are drawn, and of ``ra``.

    Returns
    -------
    StagedAllocation

    Raises
    ------
    InputError
        An option out of range, or one that says nothing beside the others; fewer than two
        systems; or a first stage that finds no relevant document, or after which the systems
        that count have the same mean score.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=8, n_systems=6, seed=1)
    >>> pool = rb.Pool.from_runs(data.runs, depth=20)
    >>> spent = rb.allocate(pool, data.qrels, 90, strategy="qdp", by="logistic")
    >>> spent.scores
    ScoreMatrix(statAP, 6 systems, 8 topics)
    """
    budget = whole_number("budget", budget, least=1)
    if not gain_weight >= 0.0:
        raise InputError(
            f"gain_weight is {gain_weight}", remedy="give 0 or more (gain_weight=, --lambda)"
        )
    ends = _ends(budget, whole_number("stages", stages, least=1), first)
    _check(pool, strategy, len(ends), sampling, size, whole_number("best", best, least=2))
    seed = whole_number("seed", seed)
    level = level_of(qrels, relevance_level)
    numbers = permanent_numbers(pool, seed=seed)
    probability = np.zeros(pool.n_documents)
    every = np.ones(pool.n_topics)
    order = np.zeros(0, dtype=np.int64)
    done: list[AllocationStage] = []
    retrieved = int(np.count_nonzero(pool.best_ranks))
    for n, end in enumerate([*ends, budget]):
        spent = len(order) if size == "exact" else float(probability.sum())
        b, systems, alike = every, pool.systems, True
        if n == len(ends):  # what the topics or systems chosen could not take
            if min(budget, retrieved) - spent < _NOTHING:
                break
        elif n and strategy != "uniform":
            sample = Sample(judged_by(pool, qrels, order, level), probability)
            try:
                b, systems = _chosen(
                    sample, strategy, round(end - spent), by, gain_weight, best, (seed, n)
                )
            except AlikeError as error:
                which = f"the {best} best systems" if strategy == "qdp*" else "all systems"
                raise InputError(
                    f"after stage {n}, with {counted(len(order), 'document')} judged, {which} have "
                    "the same mean score",
                    remedy=_MORE,
                ) from error
            alike = strategy in ("ra", "sa")
        w = _document_weights(pool, sampling, systems)
        probability = _spent(pool, probability, numbers, b, w, end - spent, sampling, size, alike)
        new = np.setdiff1d(np.flatnonzero(numbers < probability), order)
        order = np.concatenate([order, new])
        judged = np.bincount(pool.topic_of[new], minlength=pool.n_topics)
        done.append(
            AllocationStage(
                dict(zip(pool.topics, b.tolist(), strict=True)),
                dict(zip(pool.topics, judged.tolist(), strict=True)),
                systems,
            )
        )
    judgments = judged_by(pool, qrels, order, level)
    truth = {topic: qrels.judged(topic) for topic in pool.topics}
    names = map(pool.pair_of, order.tolist())
    missing = tuple((topic, docno) for topic, docno in names if docno not in truth[topic])
    return StagedAllocation(Sample(judgments, probability), tuple(done), strategy, budget, missing)


def _ends(budget: int, stages: int, first: float) -> list[int]:
    """Return how much is spent at the end of each stage."""
    remedy = "give the first stage's part, between 0 and 1"
    real_number("first", first, 0.0, 1.0, remedy, ends="()")
    if stages == 1:
        return [budget]
    begun = max(1, round(first * budget))
    steps = [begun + (budget - begun) * n / (stages - 1) for n in range(stages)]
    return [round(step) for step in steps]


def _check(pool: Pool, strategy: str, stages: int, sampling: str, size: str, best: int) -> None:
    check_word("strategy", strategy, STRATEGIES, _NOW)
    if stages == 1 and strategy != "uniform":
        raise InputError(
            f"strategy {strategy} weights topics by the stages before, and there is one alone",
            remedy="give 2 stages or more (--stages), or strategy uniform",
        )
    check_word("sampling", sampling, ("rank", "depth", "uniform", "pool"))
    if size not in ("exact", "expected") or (size, sampling) == ("expected", "pool"):
        raise InputError(
            f"size is {size!r} with sampling {sampling}", remedy="give exact, or draw at random"
        )
    if pool.n_systems < 2:
        raise InputError("one system alone", remedy="give two runs or more")
    if strategy == "qdp*" and best > pool.n_systems:
        raise InputError(
            f"best is {best}, of {pool.n_systems} systems", remedy="give at most their number"
        )


def _chosen(
    sample: Sample,
    strategy: Strategy,
    budget: int,
    by: str,
    gain_weight: float,
    best: int,
    seed: tuple[int, int],
) -> tuple[Floats, tuple[str, ...]]:
    """Return the weights of topics and the systems that count, by what is judged so far."""
    pool, n = sample.judgments.pool, seed[1]
    scores = stat_ap(sample).scores
    if not scores.mean.any():
        raise InputError(
            f"no relevant document among the {sample.judgments.n_judged} judged by stage {n}",
            remedy=_MORE,
        )
    if strategy == "sa":
        return _subset(scores, budget, sample.judgments.n_open), pool.systems
    systems = _best(scores, best) if strategy == "qdp*" else pool.systems
    r = unjudged_relevant(sample, by, seed[0]) if gain_weight else np.ones(pool.n_topics)
    b = _priorities(scores, systems, r, gain_weight)
    if strategy == "ra":
        some = np.arange(pool.n_topics) < np.count_nonzero(b)
        b = np.random.default_rng(seed).permutation(some).astype(np.float64)
    return b, systems


def _subset(scores: ScoreMatrix, budget: int, unjudged: int) -> Floats:
    """Select topics by (5.2): their weights sum to n B / Omega at most."""
    n = len(scores.topics)
    exact = ScoreMatrix(
        scores.mean, np.zeros_like(scores.mean), scores.systems, scores.topics, scores.measure
    )
    bound = min(1.0, budget / max(unjudged, 1)) * n
    if not bound:
        return np.zeros(n)
    chosen = select_topics(exact, budget=bound, solver="box")
    return np.isin(scores.topics, chosen.topics).astype(np.float64)


def _best(scores: ScoreMatrix, count: int) -> tuple[str, ...]:
    """Return the systems that score best so far, in the pool's order."""
    kept = np.sort(np.argsort(-scores.mean.mean(axis=1), kind="stable")[:count])
    return tuple(scores.systems[s] for s in kept)


def _priorities(
    scores: ScoreMatrix, systems: tuple[str, ...], r: Floats, gain_weight: float
) -> Floats:
    """Return b of (7.5) by some systems alone, with equal weights."""
    chosen = select_topics(
        scores,
        budget=float(len(scores.topics)),
        solver="box",
        weights=dict.fromkeys(systems, 1.0),
        gain=dict(zip(scores.topics, r.tolist(), strict=True)) if gain_weight else None,
        gain_weight=gain_weight,
    )
    weight = dict(zip(chosen.topics, chosen.weights, strict=True))
    return np.array([weight.get(topic, 0.0) for topic in scores.topics])


def _document_weights(pool: Pool, sampling: Sampling, systems: tuple[str, ...]) -> Floats:
    """Return w, which sums to 1 over each topic; 0 for documents that no such system retrieves."""
    part = pool.select(systems, keep_documents=True)
    w = (part.best_ranks > 0).astype(np.float64)
    if sampling == "pool":
        return w
    w *= sampling_weights(part, sampling)
    total = np.bincount(pool.topic_of, w, pool.n_topics)
    return w / np.where(total > 0.0, total, 1.0)[pool.topic_of]


def _spent(
    pool: Pool,
    probability: Floats,
    numbers: Floats,
    b: Floats,
    w: Floats,
    budget: float,
    sampling: Sampling,
    size: Size,
    alike: bool,
) -> Floats:
    """Draw more documents: by priority over all topics, or equally many of each that has weight."""

    def more(inside: slice, weights: Floats, count: float) -> Floats:
        if sampling == "pool":
            ranks = pool.best_ranks[inside] + numbers[inside]
            return topmost(probability[inside], ranks, weights, int(count))
        if size == "expected":
            return expected_more(probability[inside], weights, count)
        return drawn_more(probability[inside], numbers[inside], weights, int(count))

    if not alike:
        return more(slice(None), b[pool.topic_of] * w, budget)
    open_ = (w > 0.0) & (b > 0.0)[pool.topic_of]
    shares: Sequence[float]
    if size == "expected":  # what was drawn must not tell how much is drawn next
        left = np.bincount(pool.topic_of, open_ * (1.0 - probability), pool.n_topics)
        shares = equal_parts(left, budget).tolist()
    else:
        drawn = numbers < probability
        available, earlier = (
            np.bincount(pool.topic_of[these], minlength=pool.n_topics).tolist()
            for these in (open_ & ~drawn, drawn)
        )
        shares = equal_shares(available, int(budget), earlier)
    raised = probability.copy()
    for topic, share in enumerate(shares):
        inside = pool.documents(topic)
        raised[inside] = more(inside, w[inside], share)
    return raised
