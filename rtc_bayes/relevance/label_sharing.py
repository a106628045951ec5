"""Runs that share a judge's errors: how much their ranks go with its labels given relevance.

A ranker made from a judge's labels, or from the same language model, ranks high what the judge
calls relevant, rightly or not. Labels must then not count for it as they do for others. For each
system, over documents that have labels, within topics::

    z_s = atanh of the partial correlation of x_i with f_is given the mean of f_i over other systems
    z'_s = the same over judged documents alone, given their judgments too
    rho_s = tanh(min(z_s, z'_s + 2 / sqrt(n - 4))), of z_s alone if n is at most 4

with x_i the label's log likelihood ratio, f_is the system's rank curve, and n the number of judged
documents that have labels, in topics where these labels differ, less one for each such topic. A
system shares a judge's errors if rho_s is at least `SHARES` and b_s at least `STEEP`. b_s is how
much more its first rank adds to log-odds of relevance than its last, by the labels, beyond what all
systems' ranks do (:mod:`label_systems`, with wide priors; with one or two topics these keep it
below `STEEP`). Of systems of which rho_s is as high b_s is found without the ranks of the others:
rankers of one judge would hide each other.

A run far better than all others may look like one made from the labels. Judgments clear it once the
upper limit (two standard errors) of z'_s is below that of `SHARES`. They cannot accuse a run:
documents chosen for what they tell of scores have mostly the same label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.newton import Floats

SHARES, STEEP = 0.2, 8.0
"""Least rho and least b of a system that shares errors: hardly a run that was not made from labels
has both, and in pools of depth 100 nearly all rankers that were; in shallow pools, where other
rankers of the same judge are many, or if its order is far from the labels', a ranker may be missed
(``experiments.judges.sharing``)."""
# two controls, and two of the three of Fisher's transform: n lacks a mean for each topic
_COST = 4


def label_correlation(judgments: Judgments, score: Floats, labelled: NDArray[np.bool_]) -> Floats:
    """Return rho of every system.

    Parameters
    ----------
    judgments : Judgments
    score : ndarray of float, shape (documents,)
        x.
    labelled : ndarray of bool, shape (documents,)
        Which documents have a label.

    Returns
    -------
    ndarray of float, shape (systems,)
        In (-1, 1); 0 where labels or ranks do not vary.

    Examples
    --------
    The second system ranks as the judge labels, against the two others:

    >>> import rtc_bayes as rb
    >>> lists = {"one": "abcdef", "two": "efdcab", "three": "badcfe"}
    >>> runs = [rb.Run.from_rankings(name, {"1": list(order)}) for name, order in lists.items()]
    >>> pool = rb.Pool.from_runs(rb.Runs(runs))
    >>> x = np.where(np.isin(pool.docnos, ["e", "f"]), 1.0, -1.0)
    >>> rho = label_correlation(rb.Judgments.none(pool), x, np.ones(6, dtype=bool))
    >>> pool.systems[int(rho.argmax())]
    'two'
    """
    pool = judgments.pool
    every, judged, n = [], [], 0
    for t in range(pool.n_topics):
        here = pool.documents(t)
        curve = rank_curve(pool.ranks(t).T, pool.depth)
        table = np.column_stack([score[here], judgments.labels[here], curve])
        kept = table[labelled[here]]
        grades = kept[~np.isnan(kept[:, 1])]
        every.append(_centred(np.delete(kept, 1, axis=1)))
        if len(grades) and np.ptp(grades[:, 0]) > 0:
            judged.append(_centred(grades))
            n += len(grades) - 1
    z = np.nan_to_num(np.arctanh(_partial(np.vstack(every), 0)))
    if n > _COST:
        of_judged = np.arctanh(_partial(np.vstack(judged), 1))
        z = np.fmin(z, of_judged + 2.0 / np.sqrt(n - _COST))
    rho: Floats = np.tanh(z)
    return rho


def _centred(table: Floats) -> Floats:
    """Return a topic's columns less their means."""
    return table - table.mean(axis=0) if len(table) else table


def _partial(table: Floats, n_given: int) -> Floats:
    """Partial correlation of the first column with each system's, given the others' mean.

    The columns are x, `n_given` more that are given too, and one for each system. NaN where a
    system's does not vary by itself, as of one that has none of the documents; 0 where only x does
    not: the others explain it.
    """
    x, controls, curves = table[:, 0], table[:, 1 : 1 + n_given], table[:, 1 + n_given :]
    n_systems = curves.shape[1]
    rho = np.full(n_systems, np.nan)
    for s in range(n_systems):
        others = (curves.sum(axis=1) - curves[:, s]) / max(n_systems - 1, 1)
        basis = np.column_stack([controls, others])
        pair = np.column_stack([x, curves[:, s]])
        rest = pair - basis @ np.linalg.lstsq(basis, pair, rcond=None)[0]
        length = np.sqrt((rest**2).sum(axis=0))
        x_varies, f_varies = length > 1e-9 * np.maximum(np.sqrt((pair**2).sum(axis=0)), 1.0)
        if f_varies:
            rho[s] = rest[:, 0] @ rest[:, 1] / np.prod(length) if x_varies else 0.0
    return np.clip(rho, -1 + 1e-9, 1 - 1e-9)
