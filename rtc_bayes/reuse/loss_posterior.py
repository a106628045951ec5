"""By how much do scores fall where a group is held out? The posterior, in units of the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number, whole_number
from rtc_bayes.collection.hold_out import HoldOutDesign
from rtc_bayes.confidence.setting import check_rope
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.reuse.held import HeldScores
from rtc_bayes.reuse.loss_gibbs import LossDraws, sample_loss
from rtc_bayes.reuse.loss_model import LossData, loss_graph
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import Shown

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

type Floats = NDArray[np.float64]

# A system does not lose more of its root than this, whatever a normal share says.
_MOST = 0.95
_ORDERS = 400


@explains_types
@moved(design="write hold_out")
def loss_posterior(
    scores: ScoreMatrix,
    groups: Mapping[str, str],
    hold_out: HoldOutDesign,
    *,
    method: Literal["gibbs", "nuts"] = "gibbs",
    draws: int = 1000,
    tune: int = 500,
    chains: int = 4,
    seed: int = 0,
) -> LossPosterior:
    """Fit the hierarchical model of the loss of systems that are held out of judging.

    Parameters
    ----------
    scores : ScoreMatrix
        Of every system on the topics that were judged, from 0 to 1; their variances count.
    groups : mapping of str to str
        Group of each system.
    hold_out : HoldOutDesign
        By which was judged.
    method : {"gibbs", "nuts"}
        The fast path, or PyMC.
    draws, tune, chains : int
        Of each chain, before its first draw (NUTS takes 500 at least), and how many.
    seed : int, at least 0

    Returns
    -------
    LossPosterior

    Raises
    ------
    InputError
        A system without a group, a group or topic that the design lacks, nothing held out, a
        score outside of [0, 1], no score above 0 where held out, or an unknown method.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.beta(2, 5, size=(6, 40))
    >>> names = [f"run{n}" for n in range(6)]
    >>> groups = {name: f"site{n // 2}" for n, name in enumerate(names)}
    >>> import rtc_bayes as rb
    >>> design = rb.hold_out(groups, 40, held=2, baseline_topics=10)
    >>> scores[~design.mask(names, groups, design.topics)] *= 0.6  # held out: lower by 40%
    >>> matrix = rb.ScoreMatrix(scores, 0 * scores, tuple(names), design.topics, "AP")
    >>> found = loss_posterior(matrix, groups, design, draws=200, chains=2)
    >>> low, high = found.interval()
    >>> bool(low > 0.02)
    True
    """
    held = HeldScores.under(scores, groups, hold_out)
    return posterior_of(
        held, scores, method=method, draws=draws, tune=tune, chains=chains, seed=seed
    )


def posterior_of(
    held: HeldScores,
    scores: ScoreMatrix,
    *,
    method: str = "gibbs",
    draws: int = 1000,
    tune: int = 500,
    chains: int = 4,
    seed: int = 0,
) -> LossPosterior:
    """Fit the model to scores that stand with their design: see :func:`loss_posterior`."""
    if reason := no_posterior(held):
        raise InputError(
            f"the model of the loss {reason}", remedy="look at the loss by least squares"
        )
    for name, number in (("draws", draws), ("chains", chains)):
        whole_number(name, number, least=1)
    for name, number in (("tune", tune), ("seed", seed)):
        whole_number(name, number)
    data = LossData.of_scores(held, scores.variance)
    if method == "gibbs":
        sampled = sample_loss(data, draws=draws, tune=tune, chains=chains, seed=seed)
    elif method == "nuts":
        sampled = _by_nuts(data, draws, tune, chains, seed)
    else:
        raise InputError(f"there is no method {method!r}", remedy="give gibbs or nuts")
    return LossPosterior(held, scores.measure, sampled)


def no_posterior(held: HeldScores) -> str:
    """Say why scores have no posterior of the loss; empty where they have one.

    Examples
    --------
    >>> names = ("a", "b"), ("1", "2"), ("A", "B")
    >>> took, group = np.array([[True, True], [False, True]]), np.array([0, 1])
    >>> no_posterior(HeldScores(np.array([[3.0, 0.5], [0.1, 0.2]]), took, group, *names))
    'needs scores from 0 to 1'
    """
    if not held.from_0_to_1:
        return "needs scores from 0 to 1"
    if not held.scores[held.held].any():
        return (
            "takes it for a share of a score, and systems score 0 on all topics that they were "
            "held out of"
        )
    return ""


def _central(values: Floats, level: float) -> tuple[float, float]:
    """Return the ends of the central interval of draws."""
    remedy = "give a probability above 0 and below 1, as 0.9"
    real_number("level", level, 0.0, 1.0, remedy, ends="()")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _by_nuts(data: LossData, draws: int, tune: int, chains: int, seed: int) -> LossDraws:
    import pymc as pm

    with loss_graph(data):
        tree = pm.sample(
            draws=draws,
            tune=max(tune, 500),
            chains=chains,
            cores=1,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        ).posterior
    return LossDraws(
        tree["share"].to_numpy(),
        tree["delta"].to_numpy(),
        tree["spread"].to_numpy(),
        tree["nu"].to_numpy(),
        np.exp(tree["log_noise"].to_numpy()),
    )


@dataclass(frozen=True, eq=False, repr=False)
class LossPosterior(Shown):
    """How much less systems score where they are held out.

    Attributes
    ----------
    held : HeldScores
    measure : str
    draws : LossDraws
        Parameters; a share is of the square root of a score.

    Examples
    --------
    See :func:`rtc_bayes.loss_posterior`, which makes it; then

    >>> found.summary(rope=0.01)  # doctest: +SKIP
    >>> found.probability_within(0.01), found.changed_order()  # doctest: +SKIP
    """

    held: HeldScores
    measure: str
    draws: LossDraws

    @cached_property
    def loss(self) -> Floats:
        """Loss of each group in units of the measure, shape (chains, draws, groups).

        Mean over the group's systems and the topics it was held out of: what the score would be
        without the loss, less what it is. NaN for a group that was never held out, or that scores
        0 wherever it was, of which no share can be told.
        """
        shares = np.full(self.draws.share.shape, np.nan)
        for n in range(len(self.held.groups)):
            rows = self.held.group == n
            scores = np.sort(self.held.scores[rows][self.held.held[rows]])
            if scores.any():
                raised = _raising(self.draws.share[:, :, n])
                # no score is raised above 1
                below = np.searchsorted(scores, 1.0 / raised)
                sums = np.append(0.0, np.cumsum(scores))
                before = raised * sums[below] + (len(scores) - below)
                shares[:, :, n] = (before - sums[-1]) / len(scores)
        return shares

    @cached_property
    def overall(self) -> Floats:
        """Mean of `loss` over systems of groups that have one, shape (chains, draws)."""
        systems = np.bincount(self.held.group, minlength=len(self.held.groups))
        systems = systems * ~np.isnan(self.loss[0, 0])
        return np.asarray(np.nan_to_num(self.loss) @ systems / systems.sum())

    def interval(self, level: float = 0.9) -> tuple[float, float]:
        """Return the central interval of `overall` that holds the loss with probability `level`.

        Raises
        ------
        InputError
            A level that is not above 0 and below 1.
        """
        return _central(self.overall, level)

    def probability_within(self, rope: float) -> float:
        """Return the probability that the loss is practically none: within `rope` of 0.

        Parameters
        ----------
        rope : float, above 0
            In units of the measure.
        """
        return float((np.abs(self.overall) < check_rope(rope)).mean())

    def changed_order(self, *, seed: int = 0) -> float:
        """Predict the share of pairs that a new group's loss puts in another order.

        A system of a group that comes next loses what a group drawn from the hierarchy loses, on
        every topic; systems of other groups lose nothing. Pairs are of these systems; scores of
        topics where a system was held out are first raised by its group's loss.

        Returns
        -------
        float
            Mean over draws; ties by score count as kept.
        """
        rng = np.random.default_rng(whole_number("seed", seed))
        delta, spread = self.draws.delta.ravel(), self.draws.spread.ravel()
        chosen = rng.choice(len(delta), min(_ORDERS, len(delta)), replace=False)
        share = self.draws.share.reshape(-1, len(self.held.groups))
        scored = ~np.isnan(self.held.scores)
        scores = np.where(scored, self.held.scores, 0.0)
        others = self.held.group[:, None] != self.held.group
        shares = []
        for n in chosen:
            raising = _raising(share[n])[self.held.group][:, None]
            full = np.minimum(1.0, np.where(self.held.held, raising, 1.0) * scores)
            full = full.sum(axis=1) / scored.sum(axis=1)
            lowered = full / _raising(delta[n] + spread[n] * rng.standard_normal())
            before = np.sign(full[:, None] - full)
            after = np.sign(lowered[:, None] - full)
            shares.append(float((before * after < 0)[others].mean()))
        return float(np.mean(shares))

    def summary(self, rope: float | None = None, level: float = 0.9) -> pd.DataFrame:
        """Return a row for all systems, then one for each group.

        Parameters
        ----------
        rope : float, optional
            A loss that does not matter. Default: a twentieth of the mean score.
        level : float
            Of the intervals.

        Returns
        -------
        DataFrame
            group, systems, reuse_topics, loss (mean), sd, low, high, positive (probability that
            something is lost), within (probability that no more than `rope` is).

        Raises
        ------
        InputError
            A rope that is not above 0, or a level that is not above 0 and below 1.
        """
        import pandas as pd

        rope = self.mean_score / 20 if rope is None else check_rope(rope)
        rows = []
        parts = [("all", np.arange(len(self.held.systems)), self.overall)]
        for n, group in enumerate(self.held.groups):
            parts.append((group, np.flatnonzero(self.held.group == n), self.loss[:, :, n]))
        for name, systems, loss in parts:
            low, high = _central(loss, level)
            rows.append(
                {
                    "group": name,
                    "systems": len(systems),
                    "reuse_topics": int(self.held.held[systems].any(axis=0).sum()),
                    "loss": float(loss.mean()),
                    "sd": float(loss.std()),
                    "low": low,
                    "high": high,
                    "positive": _share(loss, loss > 0),
                    "within": _share(loss, np.abs(loss) < rope),
                }
            )
        return pd.DataFrame(rows)

    @property
    def mean_score(self) -> float:
        """Mean over systems of the mean score on topics that a system contributed to."""
        return self.held.mean_score

    def to_xarray(self) -> xr.Dataset:
        """Return all draws with dims chain, draw and group, as ArviZ has them."""
        import xarray as xr

        by_group, alone = ("chain", "draw", "group"), ("chain", "draw")
        return xr.Dataset(
            {
                "loss": (by_group, self.loss),
                "overall": (alone, self.overall),
                "share": (by_group, self.draws.share),
                "noise": (by_group, self.draws.noise),
                "delta": (alone, self.draws.delta),
                "spread": (alone, self.draws.spread),
                "nu": (alone, self.draws.nu),
            },
            coords={"group": np.array(self.held.groups, dtype=str)},
            attrs={"measure": self.measure},
        )

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"LossPosterior({self.measure}, loss {self.overall.mean():.3f}, 90% between {low:.3f} "
            f"and {high:.3f}; mean score {self.mean_score:.3f})"
        )


def _share(loss: Floats, where: NDArray[np.bool_]) -> float:
    """Return the share of draws; NaN for a group that has no loss."""
    return float("nan") if np.isnan(loss).any() else float(where.mean())


def _raising(share: Floats | float) -> Floats:
    """Return what a held-out score is to be multiplied by to undo its loss."""
    return np.asarray((1.0 - np.minimum(share, _MOST)) ** -2.0)
