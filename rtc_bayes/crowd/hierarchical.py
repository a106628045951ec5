"""Aggregation by a hierarchical Bayesian model, drawn from by Gibbs sampling.

For pair i of topic t, with true grade z and the grade y that it seems to have to a judge:

    z_i ~ Categorical(pi_t),   pi_t ~ Dirichlet(kappa pi),   pi ~ Dirichlet(1)
    y_i ~ Categorical(M[z_i]),   M[z] ~ Dirichlet(a[z])
    label of judge j ~ Categorical(theta_j[y_i]),   theta_j[y] ~ Dirichlet(s_y m_y)
    m_y ~ Dirichlet(1, and 3 for grade y),   log s_y ~ Normal(log 10, 1)

Documents that mislead (y is not z) mislead all judges together, so that many labels of one pair do
not make it certain. How many there are is told by pairs of known grade alone (M is cut from the
rest: labels of a crowd cannot say how often it errs as one); without these by the prior: a[z] sums
to 10, of which a share of .2 falls on other grades.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rtc_bayes.crowd.expectation import dawid_skene
from rtc_bayes.crowd.hierarchical_kernel import sweep
from rtc_bayes.crowd.votes import Floats, Truths, Votes
from rtc_bayes.errors import InputError
from rtc_bayes.store import spawn_seeds


@dataclass(frozen=True)
class CrowdPrior:
    """Priors of the hierarchical model of a crowd.

    Attributes
    ----------
    misleading : float
        The expected share of documents that seem to have another grade than they have.
    misleading_weight : float
        So many documents of known grade is that worth.
    topic_weight : float
        So many documents of a topic is the prevalence of the others worth.

    Raises
    ------
    InputError
        A share outside (0, 1), a weight of 0 or less.

    Examples
    --------
    >>> CrowdPrior().misleading
    0.2
    """

    misleading: float = 0.2
    misleading_weight: float = 10.0
    topic_weight: float = 1000.0

    def __post_init__(self) -> None:
        if not 0.0 < self.misleading < 1.0:
            raise InputError(f"misleading is {self.misleading}", remedy="give a share in (0, 1)")
        for name in ("misleading_weight", "topic_weight"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}", remedy="give a number above 0")

    def seeming(self, n_grades: int) -> Floats:
        """Return the pseudo-counts of grades that documents seem to have: (true, seeming)."""
        wrong = self.misleading * self.misleading_weight / (n_grades - 1)
        counts = np.full((n_grades, n_grades), wrong)
        np.fill_diagonal(counts, (1.0 - self.misleading) * self.misleading_weight)
        return counts


def hierarchical(
    votes: Votes,
    *,
    draws: int = 1000,
    tune: int = 500,
    chains: int = 2,
    prior: CrowdPrior = CrowdPrior(),
    history: Mapping[int, Floats] | None = None,
    seed: int = 0,
) -> Truths:
    """Draw true grades and what judges do.

    Parameters
    ----------
    votes : Votes
    draws, tune, chains : int
        `draws` of all chains together; sweeps of a chain before its first.
    prior : CrowdPrior
    history : mapping of int to ndarray, shape (true, given), optional
        Earlier labels of a judge, counted, beside those here.
    seed : int
    """
    starts = np.searchsorted(votes.pair_of, np.arange(votes.n_pairs + 1))
    earlier = np.zeros((votes.n_judges, votes.n_grades, votes.n_grades))
    for judge, counts in (history or {}).items():
        earlier[judge] = counts
    begin = dawid_skene(votes, iterations=20).grades
    each = -(-draws // chains)
    total, kept, confusions = np.zeros_like(begin), [], []
    for chain_seed in spawn_seeds(seed, chains):
        state = _State(votes, begin, prior, np.random.default_rng(chain_seed))
        for step in range(tune + each):
            chance = state.sweep(starts, earlier)
            if step >= tune:
                total += chance
                kept.append(state.true.astype(np.int8))
                confusions.append(state.confusion())
    grades = votes.fixed(total / total.sum(axis=1, keepdims=True))
    true, said = np.array(kept), np.array(confusions)
    r_hat = largest_r_hat(
        true.reshape(chains, each, -1), said.reshape(chains, each, *said.shape[1:])
    )
    return Truths(grades, true[:draws], said[:draws], r_hat)


def largest_r_hat(true: NDArray[np.int8], confusion: Floats) -> float | None:
    """Return the largest rank-normalised R-hat (Vehtari et al. 2021) of what matters to a user.

    That is how many pairs have the higher grades, and how often each judge is right.

    Parameters
    ----------
    true : ndarray of int8, shape (chains, draws, pairs)
    confusion : ndarray, shape (chains, draws, judges, true, given)

    Returns
    -------
    float or None
        None where too few draws tell.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> true = (random.random((2, 500, 40)) < 0.3).astype(np.int8)
    >>> said = np.broadcast_to(np.eye(2), (2, 500, 3, 2, 2)) * random.random((2, 500, 3, 1, 1))
    >>> largest_r_hat(true, said) < 1.02
    True
    >>> true[1] = random.random((500, 40)) < 0.6
    >>> largest_r_hat(true, said) > 1.5
    True
    """
    from arviz_stats.base import array_stats

    if true.shape[0] < 2 or true.shape[1] < 4:
        return None
    right = np.diagonal(confusion, axis1=3, axis2=4).mean(axis=3)
    values = np.concatenate([true.mean(axis=2, dtype=np.float64)[..., None], right], axis=2)
    told = [
        float(array_stats.rhat(values[..., n], chain_axis=0, draw_axis=1))
        for n in range(values.shape[2])
        if np.ptp(values[..., n]) > 0.0
    ]
    return max(told, default=None)


class _State:
    """The parameters of one chain."""

    def __init__(
        self, votes: Votes, begin: Floats, prior: CrowdPrior, random: np.random.Generator
    ) -> None:
        k = votes.n_grades
        self.votes, self.prior, self.random = votes, prior, random
        self.seeming_prior = prior.seeming(k)
        self.seeming = self.seeming_prior / self.seeming_prior.sum(axis=1, keepdims=True)
        self.prevalence = begin.mean(axis=0)
        self.of_topic = np.tile(self.prevalence, (votes.n_topics, 1))
        self.usual_prior = np.ones((k, k)) + 2.0 * np.eye(k)
        self.usual = self.usual_prior / self.usual_prior.sum(axis=1, keepdims=True)
        self.strength = np.full(k, 10.0)
        counts = votes.confusion_counts(begin) + 1.0
        self.said = counts / counts.sum(axis=2, keepdims=True)
        self.true: NDArray[np.int64] = begin.argmax(axis=1)
        self.seems = self.true.copy()

    def confusion(self) -> Floats:
        """Return what judges say for each true grade: (judge, true, given)."""
        return np.einsum("zy,jyg->jzg", self.seeming, self.said)

    def sweep(self, starts: NDArray[np.int64], earlier: Floats) -> Floats:
        """Draw everything once; return the chances of true grades before they were drawn."""
        votes, random = self.votes, self.random
        n, k = votes.n_pairs, votes.n_grades
        log_said = np.log(np.maximum(self.said, 1e-300))
        chance = np.empty((n, k))
        sweep(
            starts, votes.judge_of, votes.grade, votes.topic_of, votes.known, log_said,
            self.of_topic, self.seeming, random.random((n, 2)), chance, self.true, self.seems,
        )  # fmt: skip
        told = votes.known >= 0
        cells = np.bincount((self.true * k + self.seems)[told], minlength=k * k).reshape(k, k)
        self.seeming = np.array(
            [random.dirichlet(row) for row in self.seeming_prior + cells], dtype=float
        )
        in_topic = np.bincount(votes.topic_of * k + self.true, minlength=votes.n_topics * k)
        of_topic = in_topic.reshape(votes.n_topics, k)
        weight = self.prior.topic_weight
        tables = _tables(of_topic, weight * self.prevalence, random)
        self.prevalence = random.dirichlet(1.0 + tables)
        self.of_topic = _dirichlets(of_topic + weight * self.prevalence, random)
        cells = (votes.judge_of * k + self.seems[votes.pair_of]) * k + votes.grade
        said = np.bincount(cells, minlength=earlier.size).reshape(earlier.shape) + earlier
        for grade in range(k):
            counts = said[:, grade, :]
            self._usual_of(grade, counts)
            self.said[:, grade, :] = _dirichlets(
                counts + self.strength[grade] * self.usual[grade], random
            )
        return chance

    def _usual_of(self, grade: int, counts: Floats) -> None:
        """Draw what judges usually say of a grade, and how much they resemble each other."""
        random = self.random
        base = self.strength[grade] * self.usual[grade]
        tables = _tables(np.rint(counts).astype(np.int64), base, random)
        self.usual[grade] = random.dirichlet(self.usual_prior[grade] + tables)
        for _ in range(2):
            now = self.strength[grade]
            proposed = now * np.exp(0.4 * random.standard_normal())
            gain = _log_evidence(counts, proposed * self.usual[grade])
            gain -= _log_evidence(counts, now * self.usual[grade])
            gain += 0.5 * (np.log(now / 10.0) ** 2 - np.log(proposed / 10.0) ** 2)
            if np.log(random.random()) < gain:
                self.strength[grade] = proposed


def _dirichlets(weights: Floats, random: np.random.Generator) -> Floats:
    """Draw from a Dirichlet distribution for every row."""
    drawn = np.maximum(random.standard_gamma(weights), 1e-300)
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _tables(
    counts: NDArray[np.int64], base: Floats, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw how many tables the customers of each dish open, in all restaurants together.

    Given the tables the mean of a Dirichlet prior has a Dirichlet posterior (Teh et al. 2006).
    """
    totals = np.empty(counts.shape[1], dtype=np.int64)
    for dish, weight in enumerate(base):
        of_dish = counts[:, dish]
        seated = np.arange(of_dish.max(initial=0))
        customers = np.searchsorted(np.sort(of_dish), seated, side="right")
        restaurants = len(of_dish) - customers
        totals[dish] = random.binomial(restaurants, weight / (weight + seated)).sum()
    return totals


def _log_evidence(counts: Floats, base: Floats) -> float:
    """Return the log probability of counts under a Dirichlet prior, up to a constant of them."""
    whole = base.sum()
    said = counts.sum(axis=1)
    parts = gammaln(counts + base) - gammaln(base)
    return float(parts.sum() + (gammaln(whole) - gammaln(said + whole)).sum())
