"""Runs that share a judge's errors: ranks that go with its labels as if made from them.

A ranker made from a judge's labels, or from the same language model, ranks high what the judge
calls relevant, rightly or not. Labels must then not count for it as they do for others. For each
system, over documents that have labels, within topics::

    rho_s  = partial correlation of x_i with f_is given the mean of f_i over other systems
    rho'_s = the same over judged documents alone, given their judgments too

with x_i the label's log likelihood ratio and f_is the system's rank curve. How far a ranker goes
with the labels depends on the judge, the depth and the other systems. So one is put in the system's
place: in each topic it ranks as many documents, by label, those of one label in an arbitrary order
or in that of the other systems, whichever has the lower correlation, r_s and r'_s. This is done
twice: the ranker takes documents of the whole topic, or it puts the system's own list in order, and
then only documents of that list count. A system shares the judge's errors if rho_s is at least
`SHARES` times r_s in either. An r_s below .2 counts as .2: such labels say little of any run.

Judgments clear a system once the upper limit (two standard errors) of rho'_s is below as large a
part of r'_s, or of a quarter of r_s if r'_s is less: the judge then hardly errs. A good run goes
with a good judge's labels, and judgments explain why. They cannot accuse it: documents chosen for
what they tell of scores have mostly the same label. With labels of fewer than `TOPICS` topics
nobody is taken to share errors: by so few, good runs look like rankers too often.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.newton import Floats

SHARES, TOPICS = 0.85, 5
"""Least rho / r at which a run shares errors, and least number of topics. Rankers made from labels
have .9 and more, and runs not made from them hardly ever .8 (``experiments.judges.sharing``)."""
# two controls, and two of the three of Fisher's transform: n lacks a mean for each topic
_COST, _LITTLE = 4, 0.2


class LabelCorrelation(NamedTuple):
    """How far each system's order goes with the labels; each of shape (systems,).

    Attributes
    ----------
    own : ndarray of float
        rho, in (-1, 1); 0 where labels or ranks do not vary.
    ranker : ndarray of float
        r: that of a ranker made from the labels in the system's place.
    part : ndarray of float
        rho as a part of r, or the upper limit of rho' as a part of r' where that is less; 0 where
        labels of fewer than `TOPICS` topics differ. All three are of the whole topics or of the
        system's lists, of which the part is greater.
    """

    own: Floats
    ranker: Floats
    part: Floats


class _Topic(NamedTuple):
    """A topic's documents that have labels; n is the number of them, J that of the systems."""

    label: Floats
    judgment: Floats
    curve: Floats  # shape (n, J)
    arbitrary: Floats

    def beside_rankers(self, system: int, depth: int, *, within: bool) -> Floats:
        """Return label, judgment, mean curve of other systems, own curve, and those of rankers.

        They are of all documents, or of those that the system ranks.
        """
        has = self.curve[:, system] > 0 if within else np.full(len(self.label), True)
        label, curve = self.label[has], self.curve[has]
        own = curve[:, system]
        others = (curve.sum(axis=1) - own) / max(curve.shape[1] - 1, 1)
        rankers = []
        for ties in (self.arbitrary[has], others):
            order = np.lexsort([-ties, -label])[: np.count_nonzero(own)]
            ranks = np.zeros(len(own), dtype=int)
            ranks[order] = np.arange(1, len(order) + 1)
            rankers.append(rank_curve(ranks, depth))
        return np.column_stack([label, self.judgment[has], others, own, *rankers])


def label_correlation(
    judgments: Judgments, score: Floats, labelled: NDArray[np.bool_]
) -> LabelCorrelation:
    """Return how far every system's ranks go with the labels.

    Parameters
    ----------
    judgments : Judgments
    score : ndarray of float, shape (documents,)
        x.
    labelled : ndarray of bool, shape (documents,)
        Which documents have a label.

    Returns
    -------
    LabelCorrelation

    Examples
    --------
    The second system ranks as the judge labels, against the two others:

    >>> import rtc_bayes as rb
    >>> lists, topics = {"one": "abcdef", "two": "efdcab", "three": "badcfe"}, list("123456")
    >>> run = rb.Run.from_rankings
    >>> runs = [run(name, dict.fromkeys(topics, list(of))) for name, of in lists.items()]
    >>> pool = rb.Pool.from_runs(rb.Runs(runs))
    >>> x = np.where(np.isin(pool.docnos, ["e", "f"]), 1.0, -1.0)
    >>> correlation = label_correlation(rb.Judgments.none(pool), x, np.ones(36, dtype=bool))
    >>> pool.systems[int(correlation.part.argmax())]
    'two'
    """
    pool = judgments.pool
    topics = list(_topics(judgments, score, labelled))
    compared = [
        max((_against_ranker(topics, s, pool.depth, of) for of in (False, True)), key=itemgetter(2))
        for s in range(pool.n_systems)
    ]
    return LabelCorrelation(*np.array(compared).T)


def _against_ranker(
    topics: list[_Topic], system: int, depth: int, within: bool
) -> tuple[float, float, float]:
    """Return rho, r and the part of a system."""
    every = (topic.beside_rankers(system, depth, within=within) for topic in topics)
    tables = [table for table in every if _differ(table)]
    own, ranker = np.nan_to_num(_correlations([np.delete(table, 1, axis=1) for table in tables]))
    if len(tables) < TOPICS:
        return float(own), float(ranker), 0.0
    part = own / max(ranker, _LITTLE)
    judged = [of for table in tables if _differ(of := table[~np.isnan(table[:, 1])])]
    n = sum(len(table) - 1 for table in judged)
    if n > _COST:
        among, of_ranker = _correlations(judged)
        upper = np.tanh(np.arctanh(among) + 2.0 / np.sqrt(n - _COST))
        part = np.fmin(part, upper / np.fmax(of_ranker, max(ranker, _LITTLE) / 4))
    return float(own), float(ranker), float(part)


def _topics(judgments: Judgments, score: Floats, labelled: NDArray[np.bool_]) -> Iterator[_Topic]:
    """Yield the documents that have labels, by topic."""
    pool, rng = judgments.pool, np.random.default_rng(0)
    for t in range(pool.n_topics):
        here = pool.documents(t)
        kept = labelled[here]
        curve = rank_curve(pool.ranks(t).T[kept], pool.depth)
        arbitrary = rng.random(np.count_nonzero(kept))
        yield _Topic(score[here][kept], judgments.labels[here][kept], curve, arbitrary)


def _differ(table: Floats) -> bool:
    """Say whether the labels of some documents differ."""
    return len(table) > 0 and bool(np.ptp(table[:, 0]) > 0)


def _correlations(tables: list[Floats]) -> tuple[float, float]:
    """Return the correlation of labels with a system's curve, and the lesser of two rankers'.

    The columns of each topic are x, what is given, the system's curve and two of rankers. NaN where
    a curve does not vary by itself; 0 where only x does not: what is given explains it.
    """
    if not tables:
        return np.nan, np.nan
    centred = np.vstack([table - table.mean(axis=0) for table in tables])
    x, controls, curves = centred[:, 0], centred[:, 1:-3], centred[:, -3:]
    columns = np.column_stack([x, curves])
    rest = columns - controls @ np.linalg.lstsq(controls, columns, rcond=None)[0]
    length = np.sqrt((rest**2).sum(axis=0))
    varies = length > 1e-9 * np.maximum(np.sqrt((columns**2).sum(axis=0)), 1.0)
    rest /= np.where(varies, length, np.inf)
    rho = np.where(varies[1:], rest[:, 0] @ rest[:, 1:], np.nan)
    own, *rankers = np.clip(rho, -1 + 1e-9, 1 - 1e-9)
    return float(own), float(np.min(rankers))
