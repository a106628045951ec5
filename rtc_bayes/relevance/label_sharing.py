"""Runs that share a judge's errors: how much their ranks go with its labels given relevance.

A ranker made from a judge's labels, or from the same language model, ranks high what the judge
calls relevant, rightly or not. Labels must then not count for it as they do for others. For each
system, over documents that have labels, within topics::

    z_s = atanh of the partial correlation of x_i with f_is given the mean of f_i over other systems
    z'_s = the same over judged documents alone, given their judgments too
    rho_s = tanh((N0 z_s + n z'_s) / (N0 + n))

with x_i the label's log likelihood ratio, f_is the system's rank curve, and n judged documents that
have labels. Without judgments (n = 0) a run far better than all others looks like one made from a
good judge's labels; judgments tell the two apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.newton import Floats

SHARES = 0.5
"""From this partial correlation on a run shares a judge's errors: its ranks alone then explain a
quarter of the labels, beyond what the other systems and the judgments explain."""
# judged documents after which rho is as much theirs as all documents'
_N0 = 50


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
    every, judged = [], []
    for t in range(pool.n_topics):
        here = pool.documents(t)
        curve = rank_curve(pool.ranks(t).T, pool.depth)
        table = np.column_stack([score[here], judgments.labels[here], curve])
        kept = table[labelled[here]]
        grades = kept[~np.isnan(kept[:, 1])]
        every.append(_centred(np.delete(kept, 1, axis=1)))
        judged.append(_centred(grades))
    over_all = _partial(np.vstack(every), 0)
    few = np.vstack(judged)
    with np.errstate(divide="ignore"):
        z, of_judged = np.arctanh(over_all), np.arctanh(_partial(few, 1))
    return np.tanh((_N0 * z + len(few) * of_judged) / (_N0 + len(few)))


def _centred(table: Floats) -> Floats:
    """Return a topic's columns less their means."""
    return table - table.mean(axis=0) if len(table) else table


def _partial(table: Floats, n_given: int) -> Floats:
    """Partial correlation of the first column with each system's, given the others' mean.

    The columns are x, `n_given` more that are given too, and one for each system.
    """
    x, controls, curves = table[:, 0], table[:, 1 : 1 + n_given], table[:, 1 + n_given :]
    n_systems = curves.shape[1]
    rho = np.zeros(n_systems)
    for s in range(n_systems):
        others = (curves.sum(axis=1) - curves[:, s]) / max(n_systems - 1, 1)
        basis = np.column_stack([controls, others])
        pair = np.column_stack([x, curves[:, s]])
        rest = pair - basis @ np.linalg.lstsq(basis, pair, rcond=None)[0]
        length = np.sqrt((rest**2).sum(axis=0))
        if (length > 1e-9 * np.maximum(np.sqrt((pair**2).sum(axis=0)), 1.0)).all():
            rho[s] = rest[:, 0] @ rest[:, 1] / np.prod(length)
    return np.clip(rho, -1 + 1e-9, 1 - 1e-9)
