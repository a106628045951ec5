"""Judge or trust: a human's judgment, another label, or no more, by their gain for their cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from rtc_bayes.confidence import Comparison
from rtc_bayes.confidence.unseen import is_unseen
from rtc_bayes.errors import InputError, whole_number
from rtc_bayes.measures import parse_measure
from rtc_bayes.measures.analytic import gradient_on_pool

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments

Floats = NDArray[np.float64]

HUMAN, LABEL = "human", "label"
"""In costs: a human's judgment, and a label of any judge that has no cost of its own."""


def next_actions(
    comparison: Comparison,
    judgments: Judgments,
    costs: Mapping[str, float],
    *,
    worth: float | None = None,
    count: int = 10,
) -> pd.DataFrame:
    r"""Rank what may be done next by its expected gain for its cost.

    A human may judge a document, a judge that may err may label it, or the comparison may be
    accepted as it is. The gain is in the mean log score of all pairs. With the difference of a
    pair normal, of mean m and variance V, and z = m / sqrt(V), what takes r off V is expected to
    gain

    .. math:: \frac{r}{2V} \frac{\phi(z)^2}{\Phi(z) \Phi(-z)}

    of the entropy of its sign: the first term in r of what the two have in common.

    - A human's judgment of document i takes off v g^2, v = p (1 - p), with g the change of the
      expected difference if i is relevant (the weight ``evr``), and as large a share of the
      variance of the parameters.
    - A label that is "relevant" with probability a for relevant documents and b for others takes
      off the share (a - b)^2 v / (l (1 - l)) of that, l = p a + (1 - p) b: the squared correlation
      of label and relevance.
    - Models average the labels of a document, and never multiply them. So where it has k, one more
      moves its log-odds by 1 / (k + 1) of what a first one would, and gains the square.

    Parameters
    ----------
    comparison : Comparison
        As :func:`rtc_bayes.compare` made it, by a measure with moments.
    judgments : Judgments
        What is judged, and with :attr:`~rtc_bayes.Judgments.judge_labels` what judges said. How
        often a judge errs is told by all its labels, of documents that are relevant as far as the
        comparison's probabilities say: a judge is as good as the model believes it to be.
    costs : mapping of str to float
        Above 0: of a judgment by a ``human``, of a ``label``, or of a label by one judge, by its
        name. What has no cost cannot be done.
    worth : float, optional
        What 1 of mean log score is worth, in the unit of the costs. What gains less than it costs
        comes after ``accept``. Without it nothing is accepted.
    count : int, at least 1
        How many actions, the best first.

    Returns
    -------
    DataFrame
        action ("human", "label" or "accept"), topic, docno, judge, relevant (its probability),
        gain, cost, gain_per_cost. Each is weighed as if done alone: ask again after some.

    Raises
    ------
    InputError
        A measure without moments; no cost, one that is no positive number, or of a judge without
        labels.

    Examples
    --------
    A language model labelled half of a pool, and errs once in five.

    >>> import numpy as np
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=6, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> half = range(0, pool.n_documents, 2)
    >>> topics, docnos = [pool.topics[t] for t in pool.topic_of[half]], pool.docnos[half]
    >>> truth = [simulated.qrels[t].get(d, 0) > 0 for t, d in zip(topics, docnos)]
    >>> said = np.array(truth) ^ (np.random.default_rng(0).random(len(truth)) < 0.2)
    >>> labels = rb.Labels.of(topics, docnos, ["llm"] * len(said), said.astype(int))
    >>> judgments = rb.Judgments.none(pool, judged_for=pool.systems).with_judge_labels(labels)
    >>> fit = rb.fit(pool, judgments, model="hierarchical")
    >>> comparison = rb.compare(pool, fit)
    >>> for cost in (0.01, 0.1):
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
    labels = judgments.judge_labels
    judges = () if labels is None else labels.judges
    prices = _checked(costs, judges)
    if worth is not None and not 0.0 < worth < np.inf:
        raise InputError(f"worth is {worth}", remedy="give a number above 0")
    setting = comparison.asked_setting
    if not setting.has_moments:
        raise InputError(
            f"the moments of {setting.measure} are not known, so actions cannot be weighed",
            remedy="compare by another measure, as AP",
        )
    pool = setting.pool
    p = np.mean(setting.values, axis=0, dtype=np.float64)
    gain = _gain_of_truth(comparison, p)
    gain[is_unseen(pool)] = 0.0
    parts = []

    def add(action: str, judge: str, gains: Floats, cost: float) -> None:
        best = np.argsort(-gains, kind="stable")[:count]
        best = best[gains[best] > 0.0]
        parts.append(
            pd.DataFrame(
                {
                    "action": action,
                    "topic": [pool.topics[t] for t in pool.topic_of[best]],
                    "docno": pool.docnos[best].astype(str),
                    "judge": judge,
                    "relevant": p[best],
                    "gain": gains[best],
                    "cost": cost,
                    "gain_per_cost": gains[best] / cost,
                }
            )
        )

    if HUMAN in prices:
        add(HUMAN, "", gain, prices[HUMAN])
    if labels is not None:
        document = labels.located(pool)
        inside = document >= 0
        labels_of = np.bincount(document[inside], minlength=pool.n_documents)
        for number, judge in enumerate(judges):
            cost = prices.get(judge, prices.get(LABEL))
            if cost is None:
                continue
            of_judge = inside & (labels.judge_of == number)
            labelled, grade = document[of_judge], labels.grade[of_judge]
            # a judge of two grades says "relevant" by the higher one, whatever people's level
            level = min(judgments.relevance_level, max(1, int(grade.max(initial=1))))
            told = told_by_label(p, *rates(p[labelled], (grade >= level).astype(np.int64)))
            gains = gain * told / (labels_of + 1.0) ** 2
            gains[labelled] = 0.0
            add(LABEL, judge, gains, cost)
    actions = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    actions = actions.sort_values("gain_per_cost", ascending=False, kind="stable")
    if worth is not None:
        pays = actions["gain"] * worth > actions["cost"]
        accept = pd.DataFrame(
            [{"action": "accept", "topic": "", "docno": "", "judge": "", "gain": 0.0, "cost": 0.0}]
        )
        actions = pd.concat([actions[pays], accept, actions[~pays]])
    return actions.head(count).reset_index(drop=True)


def _checked(costs: Mapping[str, float], judges: tuple[str, ...]) -> dict[str, float]:
    """Refuse costs that are no numbers above 0, or of nobody."""
    if not costs:
        raise InputError("no costs", remedy=f"give some, as {{'{HUMAN}': 1, '{LABEL}': 0.05}}")
    for name, cost in costs.items():
        if not isinstance(cost, (int, float)) or not 0.0 < cost < np.inf:
            raise InputError(f"the cost of {name} is {cost!r}", remedy="give a number above 0")
        if name not in (HUMAN, LABEL, *judges):
            names = ", ".join((HUMAN, LABEL, *judges))
            raise InputError(
                f"a cost of {name!r}, who has no labels", remedy=f"name one of {names}"
            )
        if name == LABEL and not judges:
            raise InputError("a cost of labels, and there are none", remedy="give labels, too")
    return dict(costs)


def _gain_of_truth(comparison: Comparison, p: Floats) -> Floats:
    """Return the expected gain if a document's relevance were known, shape (documents,)."""
    setting = comparison.asked_setting
    variance = comparison.sd_difference**2
    stays = 2.0 * setting.residual**2
    unjudged = comparison.variance_unjudged - stays
    z = np.divide(
        comparison.expected_difference,
        comparison.sd_difference,
        out=np.zeros_like(variance),
        where=variance > 0.0,
    )
    # phi(z)^2 / (Phi(z) Phi(-z)), in logarithms as either may be nothing
    information = np.exp(-z * z - np.log(2.0 * np.pi) - log_ndtr(z) - log_ndtr(-z))
    of_pair = np.divide(
        0.5 * information * (variance - stays),
        variance * unjudged,
        out=np.zeros_like(variance),
        where=(unjudged > 0.0) & (variance > stays),
    )
    # sum over pairs of h (g_a - g_b)^2: a quadratic form of the graph of pairs
    systems = setting.pool.n_systems
    form = np.zeros((systems, systems))
    a, b = setting.pairs.T
    np.add.at(form, (a, a), of_pair)
    np.add.at(form, (b, b), of_pair)
    np.add.at(form, (a, b), -of_pair)
    np.add.at(form, (b, a), -of_pair)
    gradient = gradient_on_pool(setting.pool, parse_measure(setting.measure), p)
    quadratic = np.einsum("sd,sd->d", gradient, form @ gradient)
    gain: Floats = np.maximum(quadratic, 0.0) * p * (1.0 - p) / max(len(a), 1)
    return gain


def rates(p: Floats, relevant: NDArray[np.integer]) -> tuple[float, float]:
    """How often a judge calls relevant what is, and what is not.

    Parameters
    ----------
    p : ndarray of float, shape (labels,)
        Probabilities of relevance of what the judge labelled.
    relevant : ndarray of int, shape (labels,)
        1 where the judge says so, 0 elsewhere.

    Returns
    -------
    float, float
        Shares, of one label more of either kind.

    Examples
    --------
    >>> rates(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1, 0, 0, 0]))
    (0.5, 0.25)
    """
    of_relevant = (1.0 + float(p @ relevant)) / (2.0 + float(p.sum()))
    of_others = (1.0 + float((1.0 - p) @ relevant)) / (2.0 + float((1.0 - p).sum()))
    return of_relevant, of_others


def told_by_label(p: Floats, of_relevant: float, of_others: float) -> Floats:
    """Squared correlation of a label and of relevance, shape (documents,); 0 to 1.

    Parameters
    ----------
    p : ndarray of float, shape (documents,)
        Probabilities of relevance.
    of_relevant, of_others : float
        How often the judge calls relevant what is, and what is not.

    Examples
    --------
    A perfect judge, one that labels by lot, and one that says the opposite:

    >>> p = np.array([0.1, 0.5])
    >>> [told_by_label(p, *of).round(2).tolist() for of in ((1, 0), (0.3, 0.3), (0, 1))]
    [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    """
    says = p * of_relevant + (1.0 - p) * of_others
    told: Floats = np.divide(
        (of_relevant - of_others) ** 2 * p * (1.0 - p),
        says * (1.0 - says),
        out=np.zeros_like(p),
        where=(says > 0.0) & (says < 1.0),
    )
    return told
