"""What layers 2 and 3 do for one draw after another: compiled.

A cell is a (topic, rank) pair, number topic * items + rank - 1; one more cell after the last
stands for "not ranked", where q* = 0. A table of q* has a row per draw and a column per cell.
Every draw of a layer is a short chain of its own (:func:`rtc_bayes.relevance.cut.hmc.chain`) from
the normal approximation of its own target; of the draw before it takes only where the search for
that approximation begins.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from rtc_bayes.relevance.cut.hmc import chain
from rtc_bayes.relevance.cut.normal import approximate
from rtc_bayes.relevance.cut.targets import FAST, LogisticTarget, probability

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]


@njit(cache=True, nogil=True, error_model="numpy")
def calibrations(
    q: Floats,
    starts: Integers,
    cells: Integers,
    relevant: Floats,
    weight: Floats,
    prior: tuple[float, float],
    centres: Floats,
    precisions: Floats,
    normals: Floats,
    uniforms: Floats,
    steps: int,
    step: float,
    out: Floats,
    stats: Floats,
) -> None:
    """Draw A_j and B_j of every system for every draw of q*.

    Parameters
    ----------
    q : ndarray, shape (draws, cells + 1)
        q*.
    starts : ndarray, shape (systems + 1,)
        Where the data of each system begin.
    cells : ndarray, shape (data,)
    relevant, weight : ndarray, shape (data,)
        Weight of the label relevant, and of both labels.
    prior : tuple of float
        a and b of LogitBeta(a, b).
    centres, precisions : ndarray, shape (systems, 2) and (systems, 2, 2)
        Normal approximations to begin the search from; the last ones found.
    normals : ndarray, shape (draws, systems, transitions + 1, 2)
    uniforms : ndarray, shape (draws, systems, transitions, 2)
    steps : int
    step : float
    out : ndarray, shape (draws, systems, 2)
    stats : ndarray, shape (draws, 2)
        Adds, over systems, what ``chain`` adds.
    """
    work, spread = np.empty((4, len(cells))), np.empty((2, 2))
    for m in range(len(q)):
        for s in range(len(centres)):
            first, last = starts[s], starts[s + 1]
            features = np.ones((2, last - first))
            for i in range(first, last):
                features[1, i - first] = q[m, cells[i]]
            target = LogisticTarget(
                features, relevant[first:last], weight[first:last], prior[0], prior[1]
            )
            approximate(target, centres[s], precisions[s], spread, work)
            chain(
                target,
                centres[s],
                spread,
                work,
                normals[m, s],
                uniforms[m, s],
                steps,
                step,
                len(uniforms[m, s]),
                out[m, s : s + 1],
                stats[m],
            )


@njit(cache=True, nogil=True, error_model="numpy")
def aggregations(
    q: Floats,
    calibrated: Floats,
    log_odds: bool,
    judged: Integers,
    relevant: Floats,
    prior: tuple[float, float],
    centre: Floats,
    precision: Floats,
    normals: Floats,
    uniforms: Floats,
    steps: int,
    step: float,
    out: Floats,
    stats: Floats,
) -> None:
    """Draw the weights lambda for every draw of q* and of the calibration.

    Parameters
    ----------
    q : ndarray, shape (draws, cells + 1)
        q*.
    calibrated : ndarray, shape (draws, systems, 2)
        A_j and B_j.
    log_odds : bool
        Whether features are logit q_ij, and not q_ij.
    judged : ndarray, shape (systems, judged)
        The cell in which a system has each judged document.
    relevant : ndarray, shape (judged,)
        Labels.
    prior : tuple of float
    centre, precision : ndarray, shape (coefficients,) and (coefficients, coefficients)
        Of the weights, and of the intercept if there is one; as in :func:`calibrations`.
    normals : ndarray, shape (draws, transitions + 1, coefficients)
    uniforms : ndarray, shape (draws, transitions, 2)
    steps : int
    step : float
    out : ndarray, shape (draws, coefficients)
    stats : ndarray, shape (draws, 2)
    """
    features, weight = np.ones((len(centre), len(relevant))), np.ones(len(relevant))
    reported = np.empty(len(relevant))
    work, spread = np.empty((4, len(relevant))), np.empty_like(precision)
    for m in range(len(q)):
        for s in range(len(judged)):
            for i in range(len(relevant)):
                reported[i] = q[m, judged[s, i]]
            _calibrate(reported, calibrated[m, s, 0], calibrated[m, s, 1], log_odds, features[s])
        target = LogisticTarget(features, relevant, weight, prior[0], prior[1])
        approximate(target, centre, precision, spread, work)
        chain(
            target,
            centre,
            spread,
            work,
            normals[m],
            uniforms[m],
            steps,
            step,
            len(uniforms[m]),
            out[m : m + 1],
            stats[m],
        )


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def probabilities(
    q: Floats,
    calibrated: Floats,
    log_odds: bool,
    coefficients: Floats,
    starts: Integers,
    ranked: NDArray[np.int32],
    items: int,
    out: NDArray[np.float32],
) -> None:
    """Set the probability of every document for every draw.

    Parameters
    ----------
    q : ndarray, shape (draws, cells + 1)
        q*.
    calibrated : ndarray, shape (draws, systems, 2)
    log_odds : bool
    coefficients : ndarray, shape (draws, systems or systems + 1)
        Weights, and an intercept if there is one.
    starts, ranked : ndarray
        ``Pool.list_starts`` and ``Pool.ranked``.
    items : int
        Cells of a topic.
    out : ndarray of float32, shape (draws, documents)
    """
    systems = calibrated.shape[1]
    topics = (q.shape[1] - 1) // items
    eta, features = np.empty(out.shape[1]), np.empty(items)
    for m in range(len(q)):
        # a document that no system ranked, to which every entry of a list adds its difference
        constant = coefficients[m, systems] if coefficients.shape[1] > systems else 0.0
        eta[:] = 0.0
        for s in range(systems):
            a, b, weight = calibrated[m, s, 0], calibrated[m, s, 1], coefficients[m, s]
            unranked = a if log_odds else probability(a)
            constant += weight * unranked
            for t in range(topics):
                documents = ranked[starts[s * topics + t] : starts[s * topics + t + 1]]
                reported = q[m, t * items : t * items + len(documents)]
                _calibrate(reported, a, b, log_odds, features)
                for i in range(len(documents)):
                    eta[documents[i]] += weight * (features[i] - unranked)
        for i in range(len(eta)):
            out[m, i] = probability(constant + eta[i])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _calibrate(q: Floats, a: float, b: float, log_odds: bool, out: Floats) -> None:
    """Set out = logit q_ij = a + b q, or q_ij."""
    for i in range(len(q)):
        out[i] = a + b * q[i]
    if not log_odds:
        for i in range(len(q)):
            out[i] = probability(out[i])
