"""Runs that share a judge's errors: ranks that go with its labels as if made from them.

A ranker made from a judge's labels, or from the same language model, ranks high what the judge
calls relevant, rightly or not. Labels must then not count for it as they do for others. For each
system, over documents that have labels, within topics::

    rho  = partial correlation of x_i with f_is given the mean of f_i over other systems
    rho' = the same over judged documents alone, given their judgments too

with x_i the label's log likelihood ratio and f_is the system's rank curve. How far a ranker goes
with the labels depends on the judge, the depth and the other systems. So one is put in the system's
place: it has the same ranks in each topic, the documents by label, those of one label in an
arbitrary order or in that of the other systems; r and r' are the lower of the two correlations. ::

    part = min(rho / max(r, 0.2), upper / max(r', max(r, 0.2) / 4))

with upper the upper limit of rho', by two standard errors. This is done twice: of all documents of
a topic, and of those of the system's list alone, as a ranker may put another run's list in order;
with a few judges also for the labels of each. The greatest part counts. A system shares the judge's
errors if it is at least `SHARES`.

- Below .2 r says that labels can tell little of any run; as much then counts as .2.
- Judgments clear a system: a good run goes with a good judge's labels, and judgments explain why.
  Where even r' is small the judge hardly errs. They cannot accuse it: documents chosen for what
  they tell of scores have mostly the same label.
- Systems of which the part is so great are compared again without each other's ranks: rankers of
  one judge would hide each other, and make a run beside them look like one.
- With fewer than `TOPICS` topics in which labels differ, or hardly any documents, nobody is taken
  to share errors: by so few, good runs look like rankers too often.
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
"""Least part at which a run shares errors, and least number of topics. Where all documents have
labels rankers made from them have .9 and more, and runs not made from them hardly ever .8
(``experiments.judges.sharing``)."""
# least number of documents, less one for each topic, and least r
_DOCUMENTS, _LITTLE = 50, 0.2
# of judgments: two controls, and two of the three of Fisher's transform; n lacks a mean for each
# topic
_COST = 4


class LabelCorrelation(NamedTuple):
    """How far each system's order goes with the labels; each of shape (systems,).

    Attributes
    ----------
    own : ndarray of float
        rho, in (-1, 1); 0 where labels or ranks do not vary.
    ranker : ndarray of float
        r: that of a ranker made from the labels in the system's place.
    part : ndarray of float
        About 1 for a ranker, at most 5; 0 with too few topics or documents.
    """

    own: Floats
    ranker: Floats
    part: Floats

    def or_greater(self, other: LabelCorrelation) -> LabelCorrelation:
        """Return for each system what has the greater part."""
        greater = other.part > self.part
        return LabelCorrelation(*np.where(greater, np.array(other), np.array(self)))


class _Topic(NamedTuple):
    """A topic's documents that have labels; n is the number of them, J that of the systems."""

    label: Floats
    judgment: Floats
    curve: Floats  # shape (n, J)
    arbitrary: Floats

    def beside_rankers(self, system: int, others: NDArray[np.bool_], *, within: bool) -> Floats:
        """Return label, judgment, mean curve of others, own curve, and those of rankers.

        They are of all documents, or of those that the system ranks.
        """
        has = self.curve[:, system] > 0 if within else np.full(len(self.label), True)
        label, own = self.label[has], self.curve[has, system]
        mean = self.curve[has] @ others / max(int(others.sum()), 1)
        rankers = np.empty((2, len(own)))
        for ranker, ties in zip(rankers, (self.arbitrary[has], mean), strict=True):
            ranker[np.lexsort([-ties, -label])] = np.sort(own)[::-1]
        return np.column_stack([label, self.judgment[has], mean, own, *rankers])


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
    >>> lists, topics = {"one": "abcdef", "two": "efdcab", "three": "badcfe"}, [*"123456789abc"]
    >>> run = rb.Run.from_rankings
    >>> runs = [run(name, dict.fromkeys(topics, list(of))) for name, of in lists.items()]
    >>> pool = rb.Pool.from_runs(rb.Runs(runs))
    >>> x = np.where(np.isin(pool.docnos, ["e", "f"]), 1.0, -1.0)
    >>> correlation = label_correlation(rb.Judgments.none(pool), x, np.ones(72, dtype=bool))
    >>> pool.systems[int(correlation.part.argmax())]
    'two'
    """
    topics = list(_topics(judgments, score, labelled))
    n = judgments.pool.n_systems
    every = np.full(n, True)
    compared = np.array([_against_rankers(topics, s, every) for s in range(n)])
    goes_with = compared[:, 2] >= SHARES
    for s in np.flatnonzero(goes_with).tolist():
        compared[s] = _against_rankers(topics, s, ~goes_with)
    return LabelCorrelation(*compared.T)


def _against_rankers(
    topics: list[_Topic], system: int, beside: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return rho, r and the part of a system, of its topics or of its lists."""
    others = beside.copy()
    others[system] = False
    compared = []
    for within in (False, True):
        every = (topic.beside_rankers(system, others, within=within) for topic in topics)
        compared.append(_compare([table for table in every if _differ(table)]))
    own, ranker, part = max(compared, key=itemgetter(2))
    return own, ranker, part if np.isfinite(part) else 0.0


def _compare(tables: list[Floats]) -> tuple[float, float, float]:
    """Return rho, r and the part, of columns by topic; a part of -inf where there are too few."""
    own, ranker = np.nan_to_num(_correlations([np.delete(table, 1, axis=1) for table in tables]))
    if len(tables) < TOPICS or sum(len(table) - 1 for table in tables) < _DOCUMENTS:
        return float(own), float(ranker), -np.inf
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
    return len(table) > 0 and bool(np.ptp(table[:, 0]) > 1e-9)


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
