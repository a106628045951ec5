"""Layer 2: self-reported to calibrated probabilities, per system.

Carterette 2007, section 3.2 ("Calibrating Experts"): system j's calibrated probability of a
document is q_ij = C_j(q*_ij) = sigma(A_j + B_j q*_ij), a logistic regression of relevance on q*
over all judged documents of all topics. A document that the system did not rank has q* = 0, is
data as well, and gets C_j(0) = sigma(A_j), not 0.

Few judgments need smoothing. With labels y_i:

- ``cells``: every (topic, rank) cell that the system fills, and one unranked cell per topic
  (q* = 0), in every topic that has judgments, gets ``cell_weight`` relevant and as many
  nonrelevant pseudo-judgments. This is how the author's program runs. With few judgments it
  flattens a system's curve to nearly a constant. As pseudo-data it is some 10,000 judgments at 50
  topics, so that a posterior of A_j and B_j given them would show almost no uncertainty.
- ``platt``: Platt's targets, (N+ + 1) / (N+ + 2) for relevant and 1 / (N- + 2) for nonrelevant
  documents, where N+ and N- count all judged ones.
- ``beta``: a LogitBeta(a, b) prior on A_j and on B_j (rtc_bayes.relevance.logistic).

With cells and Platt's targets the prior on A_j and B_j is LogitBeta(.01, .01): it weighs a
hundredth of a judgment, and only defines a system without judged or ranked documents (A = B = 0)
and a slope that the data leave open.

:func:`graph` is the same density as a PyMC graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.relevance.interface import Stage
from rtc_bayes.relevance.logistic import fit_logistic
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.relevance.rank import SelfReports

if TYPE_CHECKING:
    import pymc as pm

type Smoothing = Literal["cells", "platt", "beta"]

WEAK_PRIOR = (0.01, 0.01)


@dataclass(frozen=True, eq=False, repr=False)
class SystemCalibration:
    """The calibration curve of every system.

    Attributes
    ----------
    offset, slope : ndarray of float, shape (systems,)
        A_j and B_j.
    stage : Stage
    """

    offset: Floats
    slope: Floats
    stage: Stage

    def log_odds(self, reports: SelfReports) -> tuple[Floats, Floats]:
        """Return logit q_ij = A_j + B_j q*_ij.

        Returns
        -------
        entries : ndarray of float, shape (sum of list lengths,)
            Of the documents that systems ranked.
        unranked : ndarray of float, shape (systems,)
            Of any document that a system did not rank.
        """
        return self.offset[reports.system] + self.slope[reports.system] * reports.q, self.offset

    def __repr__(self) -> str:
        return f"SystemCalibration({len(self.offset)} systems; {self.stage})"


def calibrate(
    reports: SelfReports,
    *,
    smoothing: Smoothing = "cells",
    cell_weight: float = 1.0,
    prior: tuple[float, float] = (1.0, 1.0),
) -> SystemCalibration:
    """Fit every system's calibration curve to the judgments.

    Parameters
    ----------
    reports : SelfReports
    smoothing : {"cells", "platt", "beta"}
        See the module.
    cell_weight : float
        Pseudo-judgments of each label per cell, at least 0; for ``cells``.
    prior : tuple of float
        The positive ``a`` and ``b`` of LogitBeta(a, b); for ``beta``.

    Returns
    -------
    SystemCalibration
    """
    labels, pseudo_q, pseudo = _data(reports, smoothing, cell_weight)
    features = np.ones((len(labels) + len(pseudo_q), 2))
    features[len(labels) :, 1] = pseudo_q
    modes = []
    for judged_q, weights in zip(reports.judged_q.T, pseudo, strict=True):
        features[: len(labels), 1] = judged_q
        modes.append(
            fit_logistic(
                features,
                np.concatenate([labels, weights]),
                np.concatenate([1.0 - labels, weights]),
                prior=_prior(smoothing, prior),
            )
        )
    coefficients = np.array([mode.at for mode in modes]).reshape(-1, 2)
    return SystemCalibration(coefficients[:, 0], coefficients[:, 1], Stage.of("calibration", modes))


def graph(
    reports: SelfReports,
    *,
    smoothing: Smoothing = "cells",
    cell_weight: float = 1.0,
    prior: tuple[float, float] = (1.0, 1.0),
) -> pm.Model:
    """Write layer 2 as a PyMC graph, given layer 1.

    Parameters
    ----------
    reports : SelfReports
    smoothing, cell_weight, prior
        See :func:`calibrate`. Cells and Platt's targets enter as data.

    Returns
    -------
    pymc.Model
        With ``A`` and ``B`` (dims system).
    """
    import pymc as pm

    from rtc_bayes.relevance.logit_beta import LogitBeta

    labels, pseudo_q, pseudo = _data(reports, smoothing, cell_weight)
    a, b = _prior(smoothing, prior)
    with pm.Model(coords={"system": list(reports.pool.systems)}) as model:
        offset = LogitBeta("A", a, b, dims="system")
        slope = LogitBeta("B", a, b, dims="system")
        eta = offset + slope * reports.judged_q
        pm.Potential("labels", pm.math.sum(labels[:, None] * eta - pm.math.log1pexp(eta)))
        if smoothing == "cells":
            eta = offset[:, None] + slope[:, None] * pseudo_q
            pm.Potential("cells", pm.math.sum(pseudo * (eta - 2.0 * pm.math.log1pexp(eta))))
    return model


def _data(
    reports: SelfReports, smoothing: Smoothing, cell_weight: float
) -> tuple[Floats, Floats, Floats]:
    """Return the labels to fit; q* of the cells, and pseudo-judgments (systems, cells)."""
    labels = platt_targets(reports.labels) if smoothing == "platt" else reports.labels
    if smoothing != "cells":
        return labels, np.empty(0), np.empty((reports.pool.n_systems, 0))
    pseudo_q, cells = smoothing_cells(reports)
    return labels, pseudo_q, cell_weight * cells


def _prior(smoothing: Smoothing, prior: tuple[float, float]) -> tuple[float, float]:
    return prior if smoothing == "beta" else WEAK_PRIOR


def platt_targets(labels: Floats) -> Floats:
    """Return Platt's targets for labels in [0, 1]; a label between mixes the two targets."""
    relevant = labels.sum()
    nonrelevant = len(labels) - relevant
    high, low = (relevant + 1.0) / (relevant + 2.0), 1.0 / (nonrelevant + 2.0)
    return labels * high + (1.0 - labels) * low


def smoothing_cells(reports: SelfReports) -> tuple[Floats, NDArray[np.float64]]:
    """Count the cells that the systems fill, those with the same q* together.

    Returns
    -------
    q : ndarray of float, shape (cells,)
        q* of each kind of cell; the last is 0, the unranked cells.
    counts : ndarray of float, shape (systems, cells)
        How many topics with judgments give a system such a cell.
    """
    pool = reports.pool
    systems, curves, depth = pool.n_systems, len(reports.curves), pool.depth
    topics = np.flatnonzero(reports.has_judgments)
    lengths = np.diff(pool.list_starts).reshape(systems, pool.n_topics)[:, topics]
    ends = np.zeros((systems, curves, depth + 1))
    np.add.at(ends, (np.arange(systems)[:, None], reports.curve_of[topics], lengths), 1.0)
    # a list of length n fills the cells of ranks 1 to n
    filled = ends[:, :, ::-1].cumsum(axis=2)[:, :, ::-1][:, :, 1:]
    counts = np.empty((systems, curves * depth + 1))
    counts[:, :-1] = filled.reshape(systems, -1)
    counts[:, -1] = len(topics)
    return np.append(reports.curves[:, :depth].ravel(), 0.0), counts
