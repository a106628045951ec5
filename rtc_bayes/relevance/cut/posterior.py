"""The modular posterior of the paper's three layers: each layer's, over draws of the one before.

Every layer has a likelihood of its own over the same judgments; their product would count each
judgment several times. So information flows down only: theta_t from the counts of its topic, A_j
and B_j from the judgments given q*, lambda from the judgments given q (Plummer, "Cuts in Bayesian
graphical models", 2015; Jacob et al., "Better together?", 2017). ``docs/cut.md`` has the samplers
and what they were checked against.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments
from rtc_bayes.relevance.aggregation import Aggregation, Link
from rtc_bayes.relevance.cut import ranks, stages
from rtc_bayes.relevance.cut.hmc import leapfrog
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.interface import Check, Diagnostics, Draws, Sampling
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.relevance.rank import SelfReports, Temper
from rtc_bayes.relevance.system_calibration import (
    WEAK_PRIOR,
    Smoothing,
    SystemCalibration,
    platt_targets,
)
from rtc_bayes.store import spawn_seeds

type Layer = Literal["rank", "calibration", "aggregation"]

# of each draw of layers 2 and 3, from its normal approximation (docs/cut.md)
TRANSITIONS = 6
# draws whose tables of q* are held at a time
_CHUNK = 50
# steps of fixed length suit what is near normal, and are accepted four times in five
_ACCEPTANCE, _WORST_ACCEPTANCE = 0.6, 0.3


def sample(
    judgments: Judgments,
    layers: tuple[SelfReports, SystemCalibration, Aggregation],
    sampling: Sampling,
    *,
    propagate: Iterable[Layer],
    prior: tuple[float, float],
    temper: Temper,
    smoothing: Smoothing,
    cell_weight: float,
    intercept: bool,
    link: Link,
) -> Draws:
    """Draw from the modular posterior.

    Parameters
    ----------
    judgments : Judgments
    layers : tuple of SelfReports, SystemCalibration, Aggregation
        The modes of the layers, fitted with the options below.
    sampling : Sampling
        ``tune`` has no use: nothing adapts.
    propagate : iterable of {"rank", "calibration", "aggregation"}
        The layers whose uncertainty is carried. The parameters of the others stay as in `layers`.
    prior, temper, smoothing, cell_weight, intercept, link
        As of the layers.

    Returns
    -------
    Draws
        Parameters ``theta`` (topic, rank), ``A``, ``B``, ``lambda`` (system) and ``lambda_0``.
        A divergence in layer 2 or 3 makes its draw ``diverging``; one in layer 1 is an
        acceptance of 0.

    Examples
    --------
    The model `rtc` fits the layers, and samples so:

    >>> import rtc_bayes as rb
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(made.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, made.qrels)
    >>> fit = rb.fit(pool, judgments, model="rtc:cut", draws=20, chains=2)
    >>> len(fit.relevance.values)
    40
    """
    reports, calibration, aggregation = layers
    pool, carried = reports.pool, frozenset(propagate)
    shape, systems = (sampling.chains, sampling.draws), pool.n_systems
    calibrated = np.column_stack([calibration.offset, calibration.slope])
    weights = np.append(aggregation.weights, [aggregation.intercept] * intercept)
    rank_seed, *chain_seeds = spawn_seeds(sampling.seed, 1 + sampling.chains)
    plan = _Plan(
        reports=reports,
        data=_Data.of(reports, smoothing, cell_weight),
        priors=(prior if smoothing == "beta" else WEAK_PRIOR, prior),
        log_odds=link == "logodds",
        carried=carried,
        p=np.empty((*shape, pool.n_documents), dtype=np.float32),
        theta=np.empty((*shape, *reports.theta.shape), dtype=np.float32),
        calibration=np.tile(calibrated, (*shape, 1, 1)),
        weights=np.tile(weights, (*shape, 1)),
        stats=np.zeros((*shape, 2, 2)),
    )
    curves: list[ranks.RankDraws] = []
    with ThreadPoolExecutor(max_workers=max(1, min(sampling.chains, cpu_count()))) as threads:
        if "rank" in carried:
            # in the order of the reports' curves
            pairs = np.unique(np.column_stack([judgments.relevant, judgments.nonrelevant]), axis=0)
            curves += threads.map(
                lambda pair: ranks.sample(pool.depth + 1, *pair, temper, *shape, rank_seed),
                pairs.tolist(),
            )
        list(threads.map(plan.run, range(sampling.chains), repeat(curves), chain_seeds))
    return Draws(
        p=plan.p,
        parameters={
            "theta": plan.theta,
            "A": plan.calibration[..., 0],
            "B": plan.calibration[..., 1],
            "lambda": plan.weights[..., :systems],
            "lambda_0": plan.weights[..., systems:].sum(axis=-1),
        },
        sample_stats={"diverging": plan.diverging} if carried else {},
        dims={"theta": ("topic", "rank")} | dict.fromkeys(("A", "B", "lambda"), ("system",)),
        diagnostics=Diagnostics(
            (reports.stage, calibration.stage, aggregation.stage),
            _checks(plan, curves),
        ),
    )


@dataclass(frozen=True, eq=False)
class _Data:
    """The judgments as the kernels take them; cells are numbered as in :mod:`.stages`.

    ``starts``, ``cells``, ``relevant`` and ``weight`` are layer 2's, ``judged`` and ``labels``
    layer 3's.
    """

    starts: NDArray[np.int64]
    cells: NDArray[np.int64]
    relevant: Floats
    weight: Floats
    judged: NDArray[np.int64]
    labels: Floats

    @classmethod
    def of(cls, reports: SelfReports, smoothing: Smoothing, cell_weight: float) -> _Data:
        """Lay out the data of layers 2 and 3, what has the same q* in every draw together."""
        pool, systems = reports.pool, reports.pool.n_systems
        _, topic, rank = pool.entries
        cell = topic * (pool.depth + 1) + rank - 1
        unranked = pool.n_topics * (pool.depth + 1)
        numbers = reports.judged(cell.astype(float), np.full(systems, float(unranked)))
        judged = np.ascontiguousarray(numbers.T.astype(np.int64))

        targets = platt_targets(reports.labels) if smoothing == "platt" else reports.labels
        pseudo = cell_weight if smoothing == "cells" else 0.0
        # of every list entry, then of what each system did not rank
        label = np.zeros(pool.n_documents)
        label[reports.documents] = targets
        is_judged = np.zeros(pool.n_documents)
        is_judged[reports.documents] = 1.0
        cells_of = pseudo * reports.has_judgments[topic]
        missing = judged == unranked
        topics = pseudo * np.count_nonzero(reports.has_judgments)
        relevant = np.append(label[pool.ranked] + cells_of, missing @ targets + topics)
        weight = np.append(
            is_judged[pool.ranked] + 2.0 * cells_of, missing.sum(axis=1) + 2.0 * topics
        )
        system = np.append(reports.system, np.arange(systems))
        cell = np.append(cell, np.full(systems, unranked))
        kept = np.argsort(system, kind="stable")
        kept = kept[weight[kept] > 0.0]
        counts = np.bincount(system[kept], minlength=systems)
        return cls(
            starts=np.append(0, np.cumsum(counts)),
            cells=cell[kept],
            relevant=relevant[kept],
            weight=weight[kept],
            judged=judged,
            labels=reports.labels,
        )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What the chains share, and the arrays that each fills a part of.

    ``p``, ``theta``, ``calibration``, ``weights`` and ``stats`` begin with dims (chain, draw).
    The parameters are at the modes to begin with; ``stats`` goes on with dims (layer 2 or 3,
    acceptance or divergences).
    """

    reports: SelfReports
    data: _Data
    priors: tuple[tuple[float, float], tuple[float, float]]
    log_odds: bool
    carried: frozenset[Layer]
    p: NDArray[np.float32]
    theta: NDArray[np.float32]
    calibration: Floats
    weights: Floats
    stats: Floats

    @property
    def diverging(self) -> NDArray[np.bool_]:
        """Draws within which a trajectory of layer 2 or 3 diverged, shape (chains, draws)."""
        return self.stats[..., 1].sum(axis=-1) > 0.0

    def run(self, c: int, curves: Sequence[ranks.RankDraws], seed: int) -> None:
        """Fill chain `c`."""
        random = np.random.default_rng(seed)
        theta, calibration, weights = self.theta[c], self.calibration[c], self.weights[c]
        stats = self.stats[c]
        theta[:] = self.reports.theta
        if "rank" in self.carried:
            # topics are independent: those that share a curve take its draws in their own order
            for t, curve in enumerate(self.reports.curve_of):
                theta[:, t] = curves[curve].theta[c, random.permutation(len(theta))]
        centres, centre = calibration[0].copy(), weights[0].copy()
        precisions, precision = np.tile(np.eye(2), (len(centres), 1, 1)), np.eye(len(centre))
        for first in range(0, len(theta), _CHUNK):
            part = slice(first, first + _CHUNK)
            q = self._table(theta[part])
            if "calibration" in self.carried:
                each = calibration[part].shape[:2]
                stages.calibrations(
                    q,
                    self.data.starts,
                    self.data.cells,
                    self.data.relevant,
                    self.data.weight,
                    self.priors[0],
                    centres,
                    precisions,
                    random.standard_normal((*each, TRANSITIONS + 1, 2)),
                    random.random((*each, TRANSITIONS, 2)),
                    *leapfrog(2),
                    calibration[part],
                    stats[part, 0],
                )
            if "aggregation" in self.carried:
                stages.aggregations(
                    q,
                    calibration[part],
                    self.log_odds,
                    self.data.judged,
                    self.data.labels,
                    self.priors[1],
                    centre,
                    precision,
                    random.standard_normal((len(q), TRANSITIONS + 1, len(centre))),
                    random.random((len(q), TRANSITIONS, 2)),
                    *leapfrog(len(centre)),
                    weights[part],
                    stats[part, 1],
                )
            stages.probabilities(
                q,
                calibration[part],
                self.log_odds,
                weights[part],
                self.reports.pool.list_starts,
                self.reports.pool.ranked,
                theta.shape[2],
                self.p[c, part],
            )

    def _table(self, theta: NDArray[np.float32]) -> Floats:
        """Return q* of every draw and cell; 0 in the last, where a document is not ranked."""
        q = np.zeros((len(theta), theta[0].size + 1))
        reported = theta if "rank" in self.carried else self.reports.theta
        q[:, :-1] = sigmoid(reported.astype(np.float64)).reshape(-1, theta[0].size)
        return q


def _checks(plan: _Plan, curves: Sequence[ranks.RankDraws]) -> tuple[Check, ...]:
    """Ask every carried layer whether trajectories were accepted and chains agree."""
    checks: list[Check] = []
    parameters: dict[str, NDArray[Any]] = {}
    if curves:
        checks.append(_acceptance("rank", np.array([curve.acceptance for curve in curves])))
        # of each curve the first, the middle and the last item stand for all, in sampled order
        items = [0, plan.theta.shape[3] // 2, -1]
        parameters["theta"] = np.stack([curve.theta[:, :, items] for curve in curves], axis=2)
    if "calibration" in plan.carried:
        systems = plan.calibration.shape[2]
        checks.append(_acceptance("calibration", plan.stats[..., 0, 0] / systems))
        parameters |= {"A": plan.calibration[..., 0], "B": plan.calibration[..., 1]}
    if "aggregation" in plan.carried:
        checks.append(_acceptance("aggregation", plan.stats[..., 1, 0]))
        parameters["lambda"] = plan.weights
    return (*checks, *mixing_checks(parameters, {"diverging": plan.diverging} if checks else {}))


def _acceptance(layer: Layer, rates: Floats) -> Check:
    """Say whether a layer is near enough to normal for steps of fixed length."""
    rate = float(np.mean(rates))
    passed = rate >= _WORST_ACCEPTANCE
    note = ""
    if rate < _ACCEPTANCE:
        note = f"below {_ACCEPTANCE}: its posterior is far from normal; give a prior of more weight"
    return Check(f"acceptance in layer {layer}", rate, _ACCEPTANCE, passed, note)
