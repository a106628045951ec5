"""Judge or trust: a human's judgment, another label, or no more, by their gain for their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number, whole_number
from rtc_bayes.collection.grades import is_unseen
from rtc_bayes.collection.ids import some
from rtc_bayes.confidence import Comparison
from rtc_bayes.errors import InputError, warn
from rtc_bayes.judging.learning import Learning, rates, told_by_label
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.names import MeasureLike
from rtc_bayes.relevance.turned_labels import turned_judges, without_turned
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments, Pool
    from rtc_bayes.confidence.setting import Setting

Floats = NDArray[np.float64]

HUMAN, LABEL = "human", "label"
"""In costs: a human's judgment, and a label of any judge that has no cost of its own."""


@explains_types
def next_actions(
    comparison: Comparison,
    judgments: Judgments,
    costs: Mapping[str, float],
    *,
    worth: float | None = None,
    count: int = 10,
) -> pd.DataFrame:
    r"""Choose what may be done next, one action after another, by expected gain for its cost.

    A human may judge a document, a judge that may err may label it, or the comparison may be
    accepted as it is. The gain is in the mean log score of all pairs, as the model's own belief
    has it: of the entropy of a pair's sign. With the difference normal, of mean m and variance V,
    of which the actions so far are to take R off, what takes r more off is expected to gain

    .. math:: \frac{r}{2 (V - R)} E \frac{\phi(z)^2}{\Phi(z) \Phi(-z)}, \quad
              z \sim N\left(\frac{m}{\sqrt{V - R}}, \frac{R}{V - R}\right)

    to first order in r: the first term of what the action and the sign have in common.

    - A human's judgment y of a document takes off Cov(difference, y)^2 / Var(y), given what the
      actions so far tell. The covariance has a part of the document itself, g v with
      v = E p (1 - p) and g the change of the expected difference if it is relevant (the weight
      ``evr``), and a part of the parameters: over draws, what the expected difference and p have
      in common. So a document tells of systems and topics, and two that tell the same count once.
      Of n draws the square is too large by chance, and as much is taken off on average.
    - A label that is "relevant" with probability a for relevant documents and b for others takes
      off the share (a - b)^2 v / (l (1 - l)) of that, l = p a + (1 - p) b: the squared correlation
      of label and relevance.
    - Models average the labels of a document, and never multiply them. So where it has those of k
      judges, one more moves its log-odds by 1 / (k + 1) of what a first one would, and gains the
      square.

    Parameters
    ----------
    comparison : Comparison
        As :func:`rtc_bayes.compare` made it, by a measure with moments.
    judgments : Judgments
        What is judged, what nobody can judge, and with
        :attr:`~rtc_bayes.Judgments.judge_labels` what judges said. Documents are found in the
        comparison's pool by topic and docno; none that is judged is asked for. Where judgments
        were made since the comparison, compare again: gains take it as it is. How often a judge
        errs is told by all its labels, of documents that are relevant as far as the comparison's
        probabilities say: a judge is as good as the model believes it to be.
    costs : mapping of str to float
        Above 0: of a judgment by a ``human``, of a ``label``, or of a label by one judge, by its
        name. What has no cost cannot be done.
    worth : float, optional
        What 1 of mean log score is worth, in the unit of the costs. Where the best that is left
        gains less than it costs comes ``accept``. Without it nothing is accepted.
    count : int, at least 1
        How many actions at most, the best first.

    Returns
    -------
    DataFrame
        action ("human", "label" or "accept"), topic, docno, judge, relevant (its probability),
        gain, cost, gain_per_cost. Each is weighed as if those above it were done, without knowing
        how they end: gains add up, and asking again after some is better.

    Warns
    -----
    CollectionWarning
        A judge that has a cost and whose labels count for nothing (its scale seems turned round):
        no label is asked of it. No action gains anything: why.

    Raises
    ------
    InputError
        A measure without moments, as one with gains by grade of graded judgments; no cost, one
        that is no positive number, or of a judge without labels; judgments of another relevance
        level than the comparison's, or of other topics.

    Examples
    --------
    A language model labelled ten documents of eleven, and errs once in five.

    >>> import numpy as np
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=6, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> most = [d for d in range(pool.n_documents) if d % 11]
    >>> topics, docnos = [pool.topics[t] for t in pool.topic_of[most]], pool.docnos[most]
    >>> truth = [simulated.qrels[t].get(d, 0) > 0 for t, d in zip(topics, docnos)]
    >>> said = np.array(truth) ^ (np.random.default_rng(0).random(len(truth)) < 0.2)
    >>> labels = rb.Labels.of(topics, docnos, ["llm"] * len(said), said.astype(int))
    >>> judgments = rb.Judgments.none(pool, judged_for=pool.systems).with_judge_labels(labels)
    >>> fit = rb.fit(pool, judgments, model="hierarchical")
    >>> comparison = rb.compare(pool, fit)
    >>> for cost in (0.001, 0.1):
    ...     best = rb.next_actions(comparison, judgments, {"human": 1, "label": cost}).iloc[0]
    ...     print(best.action)
    label
    human

    A judgment that costs more than it is worth is left alone:

    >>> rb.next_actions(comparison, judgments, {"human": 1}, worth=1).action[0]
    'accept'
    """
    import pandas as pd

    count = whole_number("count", count, least=1)
    prices = check_costs(costs, judgments, worth)
    turned = [judge for judge in turned_judges(judgments) if {judge, LABEL} & prices.keys()]
    if turned:
        warn(
            f"no label is asked of {some(turned)}, whose labels go against the judgments and count "
            "for nothing"
        )
    setting = comparison.asked_setting
    check_measure(setting.measure, judgments, graded=setting.grades is not None)
    _check_of_comparison(judgments, setting)
    learning = Learning(comparison)
    kinds, labels_of = _kinds(setting.pool, judgments, prices, learning.p)
    rows = _best_first(setting.pool, learning, kinds, labels_of, worth, count)
    if not rows and not turned:
        warn(f"no action gains anything: {_why_none(setting.pool, judgments, prices)}")
    return pd.DataFrame(rows, columns=_COLUMNS)


_ACCEPT = {"action": "accept", "gain": 0.0, "cost": 0.0}
_COLUMNS = ["action", "topic", "docno", "judge", "relevant", "gain", "cost", "gain_per_cost"]


class _Kind(NamedTuple):
    """One kind of action, by whom, and what share of a document's relevance it tells."""

    action: str
    judge: str
    cost: float
    told: Floats


def _kinds(
    pool: Pool, judgments: Judgments, prices: Mapping[str, float], p: Floats
) -> tuple[list[_Kind], Floats]:
    """Return the kinds of action that can be paid for, and how many judges labelled each document.

    Where nobody can be asked there is one kind, which tells nothing.
    """
    kinds = []
    judged = _places_of_judged(pool, judgments)
    if HUMAN in prices:
        told = np.ones(pool.n_documents)
        told[judged] = 0.0
        told[pool.locate_pairs(judgments.aside)] = 0.0
        kinds.append(_Kind(HUMAN, "", prices[HUMAN], told))
    labels_of = np.zeros(pool.n_documents)
    labels = without_turned(judgments).judge_labels
    if labels is not None:
        document = labels.located(pool)
        inside = document >= 0
        # of one that a judge labelled again the judge counts once
        of_judges = np.unique(np.column_stack([document, labels.judge_of])[inside], axis=0)[:, 0]
        labels_of += np.bincount(of_judges, minlength=pool.n_documents)
        for number, judge in enumerate(labels.judges):
            cost = prices.get(judge, prices.get(LABEL))
            if cost is not None:
                of_judge = inside & (labels.judge_of == number)
                told = _told_by_judge(p, document[of_judge], labels.grade[of_judge], judgments)
                told[labels.unanswered_on(pool, judge)] = 0.0
                told[judged] = 0.0
                kinds.append(_Kind(LABEL, judge, cost, told))
    return kinds or [_Kind(LABEL, "", 1.0, np.zeros(pool.n_documents))], labels_of


def _places_of_judged(pool: Pool, judgments: Judgments) -> NDArray[np.int64]:
    """Find the judged documents in a pool, which may be another than that of the judgments."""
    if pool is judgments.pool:
        return judgments.order
    return pool.locate_pairs(map(judgments.pool.pair_of, judgments.order))


def _told_by_judge(
    p: Floats, labelled: NDArray[np.int64], grade: NDArray[np.int64], judgments: Judgments
) -> Floats:
    """Return what a label by a judge would tell of each document, by the labels there are."""
    # a judge of two grades says "relevant" by the higher one, whatever people's level
    level = min(judgments.relevance_level, max(1, int(grade.max(initial=1))))
    told = told_by_label(p, *rates(p[labelled], (grade >= level).astype(np.int64)))
    told[labelled] = 0.0
    return told


def _best_first(
    pool: Pool,
    learning: Learning,
    kinds: Sequence[_Kind],
    labels_of: Floats,
    worth: float | None,
    count: int,
) -> list[dict[str, object]]:
    """Choose actions in turn, each as if those before it were done.

    What an action tells is learned by `learning` and taken off `kinds`, and a label counts in
    `labels_of`.
    """
    rows: list[dict[str, object]] = []
    accepted = worth is None
    while len(rows) < count:
        gains = learning.gains()
        shares = [kind.told / (labels_of + 1.0) ** (2 * (kind.action == LABEL)) for kind in kinds]
        each = [gains * share for share in shares]
        chosen, best = max(
            ((k, int(np.argmax(gain))) for k, gain in enumerate(each)),
            key=lambda at: each[at[0]][at[1]] / kinds[at[0]].cost,
        )
        kind, gain = kinds[chosen], float(each[chosen][best])
        if not accepted and gain * (worth or 0.0) <= kind.cost:
            rows.append(dict.fromkeys(("topic", "docno", "judge"), "") | _ACCEPT)
            accepted = True
            continue
        if gain <= 0.0:
            break
        topic, docno = pool.pair_of(best)
        rows.append(
            {
                "action": kind.action,
                "topic": topic,
                "docno": docno,
                "judge": kind.judge,
                "relevant": learning.p[best],
                "gain": gain,
                "cost": kind.cost,
                "gain_per_cost": gain / kind.cost,
            }
        )
        learning.learn(best, float(shares[chosen][best]))
        kind.told[best] = 0.0
        labels_of[best] += kind.action == LABEL
    return rows


def _why_none(pool: Pool, judgments: Judgments, prices: Mapping[str, float]) -> str:
    """Say whose documents of a pool are used up, of those who can be asked."""
    labels, unseen = judgments.judge_labels, is_unseen(pool)

    def all_of(*documents: NDArray[np.int64]) -> bool:
        seen = unseen.copy()
        seen[np.concatenate(documents)] = True
        return bool(seen.all())

    done = []
    people = _places_of_judged(pool, judgments), pool.locate_pairs(judgments.aside)
    if HUMAN in prices and all_of(*people):
        done.append("people judged every document")
    if labels is not None:
        place = labels.located(pool)
        for number, judge in enumerate(labels.judges):
            labelled = place[(labels.judge_of == number) & (place >= 0)]
            asked = {judge, LABEL} & prices.keys()
            if asked and all_of(labelled, labels.unanswered_on(pool, judge)):
                done.append(f"{judge} labelled every document")
    rest = "what remains tells nothing of the systems' order"
    return ", and ".join(done) or rest


def check_measure(
    measure: MeasureLike, judgments: Judgments, *, graded: bool | None = None
) -> None:
    """Refuse a measure by which actions cannot be weighed, before anything is fitted.

    Parameters
    ----------
    measure : str or ir_measures.Measure
    judgments : Judgments
    graded : bool, optional
        Whether a comparison at hand has gains by grade. Default: whether the judgments have grades
        above 1, or their relevance level is.

    Raises
    ------
    InputError
        The moments of the measure are not known, at all or of graded judgments.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> check_measure("nDCG@10", rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 1}})))
    >>> check_measure("nDCG@10", rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"a": 3}})))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the moments of nDCG@10 are not known of judgments with grades ...
    """
    asked = parse_measure(measure)
    # the level is the reason where no judgment has a grade above 1
    level = judgments.relevance_level if judgments.highest_grade <= 1 else 1
    if graded is None:
        graded = max(judgments.highest_grade, level) > 1
    cannot = "so actions cannot be weighed"
    if not asked.has_moments:
        raise InputError(
            f"the moments of {asked.name} are not known, {cannot}",
            remedy="compare by another measure, as AP",
        )
    if asked.graded and graded and level > 1:
        raise InputError(
            f"the moments of {asked.name} are not known with relevance level {level}, {cannot}",
            remedy="leave relevance_level (--relevance-level) out, as no judgment has a grade "
            "above 1; or weigh them by a measure of relevance alone, as AP or P@10",
        )
    if asked.graded and graded:
        raise InputError(
            f"the moments of {asked.name} are not known of judgments with grades above 1, {cannot}",
            remedy="weigh them by a measure of relevance alone, as AP or P@10; or give judgments "
            "whose grades are 0 and 1",
        )


def _check_of_comparison(judgments: Judgments, setting: Setting) -> None:
    """Refuse judgments that cannot be of what was compared."""
    if not judgments.n_judged:
        return
    compared = setting.estimand.relevance_level
    if compared not in (None, judgments.relevance_level):
        raise InputError(
            f"the judgments take grades from {judgments.relevance_level} on for relevant, and the "
            f"comparison those from {compared} on",
            remedy="give judgments of the comparison's relevance level, as those that were fitted",
        )
    if not set(judgments.judged_topics) & set(setting.pool.topics):
        raise InputError(
            f"no topic of the comparison is judged: the judgments are of "
            f"{some(judgments.judged_topics)}",
            remedy="give judgments of the topics that were compared",
        )


def check_costs(
    costs: Mapping[str, float], judgments: Judgments, worth: float | None = None
) -> dict[str, float]:
    """Refuse costs that are no numbers above 0 or of nobody, before anything is fitted.

    Parameters
    ----------
    costs, judgments, worth
        As of :func:`next_actions`.

    Returns
    -------
    dict of str to float
        The costs.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a"]})]))
    >>> check_costs({"human": 0}, rb.Judgments.none(pool))
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the cost of human is 0; give a number above 0
    """
    judges = () if judgments.judge_labels is None else judgments.judge_labels.judges
    if not costs:
        raise InputError("no costs", remedy=f"give some, as {{'{HUMAN}': 1, '{LABEL}': 0.05}}")
    above_0 = partial(real_number, low=0.0, high=np.inf, remedy="give a number above 0", ends="()")
    prices = {name: above_0(f"the cost of {name}", cost) for name, cost in costs.items()}
    for name in prices:
        if name not in (HUMAN, LABEL, *judges):
            names = ", ".join((HUMAN, LABEL, *judges))
            raise InputError(
                f"a cost of {name!r}, who has no labels", remedy=f"name one of {names}"
            )
        if name == LABEL and not judges:
            raise InputError("a cost of labels, and there are none", remedy="give labels, too")
    if worth is not None:
        above_0("worth", worth)
    return prices
