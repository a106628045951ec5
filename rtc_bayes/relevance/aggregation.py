"""Layer 3: calibrated probabilities to one probability per document.

Carterette 2007, section 3.1, equation 2: p_i = sigma(sum_j lambda_j q_ij), a logistic regression
of relevance on the systems' calibrated probabilities over all judged documents, without an
intercept, with LogitBeta(a, b) on each lambda_j (for a = b = 1: one relevant and one nonrelevant
pseudo-judgment of a document that only system j holds, and holds certain).

- ``intercept``: p_i = sigma(lambda_0 + sum_j lambda_j q_ij), the same prior on lambda_0. Without
  it, as q_ij lies in (0, 1), a document that no system ranked is drawn towards one half.
- ``link="logodds"``: logit q_ij in the place of q_ij, the log-odds form of Clemen and Winkler.
- ``folds=5``: lambda is the mean of five fits, each without every fifth judgment in the order of
  judging; layer 2 is not fitted again. This is how the author's program runs.

:func:`graph` is the same density, without folds, as a PyMC graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rtc_bayes.relevance.interface import Stage
from rtc_bayes.relevance.logistic import fit_logistic, sigmoid
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.relevance.rank import SelfReports
from rtc_bayes.relevance.system_calibration import SystemCalibration

if TYPE_CHECKING:
    import pymc as pm

type Link = Literal["probability", "logodds"]


@dataclass(frozen=True, eq=False, repr=False)
class Aggregation:
    """The weight of every system, and what they give.

    Attributes
    ----------
    p : ndarray of float, shape (documents,)
        Of every document, judged ones as well.
    weights : ndarray of float, shape (systems,)
        lambda_j.
    intercept : float
        lambda_0; 0 in a fit without.
    stage : Stage
    """

    p: Floats
    weights: Floats
    intercept: float
    stage: Stage

    def __repr__(self) -> str:
        return f"Aggregation({len(self.p)} documents, {len(self.weights)} systems; {self.stage})"


def aggregate(
    reports: SelfReports,
    calibration: SystemCalibration,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    intercept: bool = False,
    link: Link = "probability",
    folds: int = 0,
) -> Aggregation:
    """Weigh the systems by the judgments and predict every document.

    Parameters
    ----------
    reports : SelfReports
    calibration : SystemCalibration
    prior : tuple of float
        The positive ``a`` and ``b`` of LogitBeta(a, b).
    intercept : bool
    link : {"probability", "logodds"}
    folds : int
        0, or into how many folds to part the judgments.

    Returns
    -------
    Aggregation
    """
    entries, unranked = _features(reports, calibration, link)
    features = reports.judged(entries, unranked)
    if intercept:
        features = np.column_stack([features, np.ones(len(features))])

    fold_of = np.arange(len(features)) % max(folds, 1)
    modes = []
    for fold in range(max(folds, 1)):
        kept = fold_of != fold if folds else np.full(len(features), True)
        labels = reports.labels[kept]
        modes.append(fit_logistic(features[kept], labels, 1.0 - labels, prior=prior))
    coefficients = np.mean([mode.at for mode in modes], axis=0)
    weights = coefficients[: reports.pool.n_systems]
    constant = float(coefficients[-1]) if intercept else 0.0

    # start from a document that no system ranked, then add what each list entry changes
    eta = np.bincount(
        reports.pool.ranked,
        weights=(entries - unranked[reports.system]) * weights[reports.system],
        minlength=reports.pool.n_documents,
    )
    eta = eta + (constant + unranked @ weights)
    return Aggregation(sigmoid(eta), weights, constant, Stage.of("aggregation", modes))


def graph(
    reports: SelfReports,
    calibration: SystemCalibration,
    *,
    prior: tuple[float, float] = (1.0, 1.0),
    intercept: bool = False,
    link: Link = "probability",
) -> pm.Model:
    """Write layer 3 as a PyMC graph, given layers 1 and 2.

    Parameters
    ----------
    reports : SelfReports
    calibration : SystemCalibration
    prior, intercept, link
        See :func:`aggregate`.

    Returns
    -------
    pymc.Model
        With ``lambda`` (dims system), ``lambda_0`` where there is an intercept, and the
        deterministic ``p`` (dims document).
    """
    import pymc as pm

    from rtc_bayes.relevance.logit_beta import LogitBeta

    pool = reports.pool
    entries, unranked = _features(reports, calibration, link)
    features = np.tile(unranked, (pool.n_documents, 1))
    features[pool.ranked, reports.system] = entries
    coords = {"system": list(pool.systems), "document": np.arange(pool.n_documents)}
    with pm.Model(coords=coords) as model:
        weights = LogitBeta("lambda", *prior, dims="system")
        constant = LogitBeta("lambda_0", *prior) if intercept else 0.0
        pm.Deterministic(
            "p", pm.math.sigmoid(constant + pm.math.dot(features, weights)), dims="document"
        )
        eta = constant + pm.math.dot(features[reports.documents], weights)
        pm.Potential("labels", pm.math.sum(reports.labels * eta - pm.math.log1pexp(eta)))
    return model


def _features(
    reports: SelfReports, calibration: SystemCalibration, link: Link
) -> tuple[Floats, Floats]:
    """Return what is regressed on: of list entries, and per system of unranked documents."""
    entries, unranked = calibration.log_odds(reports)
    if link == "probability":
        return sigmoid(entries), sigmoid(unranked)
    return entries, unranked
