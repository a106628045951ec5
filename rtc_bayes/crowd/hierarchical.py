"""Aggregation by a hierarchical Bayesian model, drawn from by Gibbs sampling.

For pair i of topic t, with true grade z and the grade y that it seems to have to a judge:

    z_i ~ Categorical(pi_t),   pi_t ~ Dirichlet(kappa pi),   pi ~ Dirichlet(1)
    y_i ~ Categorical(M[z_i]),   M[z] ~ Dirichlet(10 (.6 e_z + .4 s))
    label of judge j ~ Categorical(theta_j[y_i]),   theta_j as `abilities` says

Documents that mislead do so to all judges together, so that many labels of one pair do not make it
certain: such a document seems to have the grade of another, drawn at random. How many there are is
told by pairs of known grade alone (M is cut from the rest: labels of a crowd cannot say how often
it errs as one); without these by the prior, in which a share of .4 misleads. s are the shares of
grades where nothing misleads, by a chain before each, so that before anything is told there are as
many documents of a grade as seem to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rtc_bayes.checks import real_number
from rtc_bayes.crowd.abilities import JudgePopulation, draw_odds, log_chances
from rtc_bayes.crowd.adaptive_walk import AdaptiveWalk
from rtc_bayes.crowd.expectation import dawid_skene
from rtc_bayes.crowd.hierarchical_kernel import draw_prevalences, log_evidence, sweep
from rtc_bayes.crowd.votes import Floats, Truths, Votes
from rtc_bayes.store import spawn_seeds

_FOLLOWING = 5
"""Draws of prevalences for each of how documents mislead."""
_TOGETHER = 20_000
"""Labels that joint moves of a sweep look at: with more there is a move every few sweeps."""
_MOST_TOGETHER = 4
_SLICES = 2
"""Draws of what judges do for each of what documents seem to be."""


@dataclass(frozen=True)
class CrowdPrior:
    """Priors of the hierarchical model of a crowd.

    Attributes
    ----------
    misleading : float
        The expected share of documents that mislead all judges together. Such a document seems to
        have the grade of another, drawn at random, which may be its own. 0: judges err one by one.
    misleading_weight : float
        So many documents of known grade is that worth.
    topic_weight : float
        So many documents of a topic is the prevalence of the others worth.

    Raises
    ------
    InputError
        A share below 0 or from 1 on, a weight of 0 or less.

    Examples
    --------
    >>> CrowdPrior().misleading
    0.4
    """

    misleading: float = 0.4
    misleading_weight: float = 10.0
    topic_weight: float = 1000.0

    def __post_init__(self) -> None:
        remedy = "give a share from 0 on, below 1"
        real_number("misleading", self.misleading, 0.0, 1.0, remedy, ends="[)")
        for name in ("misleading_weight", "topic_weight"):
            value = getattr(self, name)
            real_number(name, value, 0.0, np.inf, "give a number above 0", ends="()")

    def seeming(self, shares: Floats) -> Floats:
        """Return pseudo-counts of the grades that documents seem to have: (true, seeming).

        Parameters
        ----------
        shares : ndarray, shape (grade,)
            How common each grade is.

        Examples
        --------
        >>> CrowdPrior().seeming(np.array([0.75, 0.25]))
        array([[9., 1.],
               [3., 7.]])
        """
        told = (1.0 - self.misleading) * np.eye(len(shares))
        return self.misleading_weight * (told + self.misleading * shares)


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
    earlier = np.zeros((votes.n_judges, votes.n_grades, votes.n_grades))
    for judge, counts in (history or {}).items():
        earlier[judge] = counts
    begin = dawid_skene(votes, iterations=20).grades
    each = -(-draws // chains)
    seeds = spawn_seeds(seed, 2 * chains)
    total, kept, confusions, labelled, right = np.zeros_like(begin), [], [], [], []
    # shares of grades of each chain's own, so that R-hat sees how unsure they are
    for chain_seed, shares_seed in zip(seeds[:chains], seeds[chains:], strict=True):
        shares = np.zeros(votes.n_grades)
        if prior.misleading > 0.0:
            shares = shares_of_grades(votes, begin, prior, earlier, tune, shares_seed)
        state = _State(votes, begin, prior, prior.seeming(shares), earlier, chain_seed)
        for step in range(tune + each):
            chance = state.sweep(tuning=step < tune)
            if step >= tune:
                total += chance
                kept.append(state.true.astype(np.int8))
                confusions.append(state.confusion())
                labelled.append(state.labelled())
                right.append(state.right())
    grades = votes.fixed(total / total.sum(axis=1, keepdims=True))
    true, said = np.array(kept), np.array(confusions)
    r_hat = largest_r_hat(
        true.reshape(chains, each, -1), said.reshape(chains, each, *said.shape[1:])
    )
    counted = np.array(labelled)[:draws], np.array(right)[:draws]
    return Truths(grades, true[:draws], said[:draws], *counted, r_hat)


def shares_of_grades(
    votes: Votes, begin: Floats, prior: CrowdPrior, earlier: Floats, sweeps: int, seed: int
) -> Floats:
    """Return the expected shares of grades if no document misleads: (grade,).

    Parameters
    ----------
    votes : Votes
    begin : ndarray, shape (pair, grade)
        Probabilities of grades to begin with.
    prior : CrowdPrior
    earlier : ndarray, shape (judge, true, given)
        Earlier labels, counted.
    sweeps : int
        Of the chain, one at least; the second half counts.
    seed : int
    """
    state = _State(votes, begin, prior, np.eye(votes.n_grades), earlier, seed)
    sweeps = max(sweeps, 1)
    kept = [state.sweep(tuning=step < sweeps // 2).mean(axis=0) for step in range(sweeps)]
    return np.asarray(np.mean(kept[sweeps // 2 :], axis=0))


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
    # chains that each stand still, at different values, have no variance within
    with np.errstate(divide="ignore", invalid="ignore"):
        told = [
            float(array_stats.rhat(values[..., n], chain_axis=0, draw_axis=1))
            for n in range(values.shape[2])
            if np.ptp(values[..., n]) > 0.0
        ]
    return max((value for value in told if not np.isnan(value)), default=None)


class _State:
    """The parameters of one chain."""

    def __init__(
        self,
        votes: Votes,
        begin: Floats,
        prior: CrowdPrior,
        seeming_prior: Floats,
        earlier: Floats,
        chain_seed: int,
    ) -> None:
        k = votes.n_grades
        self.votes, self.prior, self.earlier = votes, prior, earlier
        self.random = np.random.default_rng(chain_seed)
        self.starts = np.searchsorted(votes.pair_of, np.arange(votes.n_pairs + 1))
        self.seeming_prior = seeming_prior
        self.seeming = self.seeming_prior / self.seeming_prior.sum(axis=1, keepdims=True)
        self.prevalence = begin.mean(axis=0)
        self.of_topic = np.tile(self.prevalence, (votes.n_topics, 1))
        self.true: NDArray[np.int64] = begin.argmax(axis=1)
        self.seems = self.true.copy()
        self.population = JudgePopulation.usual(k)
        counts = votes.confusion_counts(begin) + 1.0
        wrong = ~np.eye(k, dtype=bool)
        odds = np.log(counts) - np.log(np.diagonal(counts, axis1=1, axis2=2))[:, :, None]
        self.odds = np.ascontiguousarray(odds[:, wrong])
        self.walk = AdaptiveWalk(len(self._place()))
        self.swept = 0

    def confusion(self) -> Floats:
        """Return what judges say for each true grade: (judge, true, given)."""
        said = np.exp(log_chances(self.odds, self.votes.n_grades))
        return np.einsum("zy,jyg->jzg", self.seeming, said)

    def labelled(self) -> NDArray[np.int64]:
        """Return how many labels a judge gave to pairs of each true grade: (judge, true)."""
        votes = self.votes
        cells = votes.judge_of * votes.n_grades + self.true[votes.pair_of]
        size = votes.n_judges * votes.n_grades
        return np.bincount(cells, minlength=size).reshape(votes.n_judges, votes.n_grades)

    def right(self) -> NDArray[np.int64]:
        """Return how many of a judge's labels are the true grade: (judge,)."""
        votes = self.votes
        hits = votes.grade == self.true[votes.pair_of]
        return np.bincount(votes.judge_of[hits], minlength=votes.n_judges)

    def sweep(self, tuning: bool) -> Floats:
        """Draw everything once; return the chances of true grades before they were drawn."""
        votes, random = self.votes, self.random
        n, k = votes.n_pairs, votes.n_grades
        self._draw_documents()
        if self.swept % max(1, len(votes.grade) // _TOGETHER) == 0:
            self._move_together(tuning)
        self.swept += 1
        chance = np.empty((n, k))
        sweep(
            *self._labels(), log_chances(self.odds, k), self.of_topic, self.seeming,
            random.random((n, 2)), chance, self.true, self.seems,
        )  # fmt: skip
        cells = (votes.judge_of * k + self.seems[votes.pair_of]) * k + votes.grade
        said = np.bincount(cells, minlength=self.earlier.size).reshape(self.earlier.shape)
        draw_odds(
            random,
            said + self.earlier,
            self.population.mean,
            self.population.root(),
            self.odds,
            _SLICES,
        )
        self.population = self.population.given(self.odds, random)
        return chance

    def _labels(self) -> tuple[NDArray[np.int64], ...]:
        votes = self.votes
        return self.starts, votes.judge_of, votes.grade, votes.topic_of, votes.gold

    def _draw_documents(self) -> None:
        """Draw how documents mislead, and then the prevalences that follow."""
        votes, k = self.votes, self.votes.n_grades
        told = votes.gold >= 0
        cells = np.bincount((self.true * k + self.seems)[told], minlength=k * k).reshape(k, k)
        self.seeming = dirichlets(self.seeming_prior + cells, self.random)
        draw_prevalences(
            self.random,
            self._by_topic(self.seems, ~told),
            self._by_topic(self.true, told),
            self.seeming,
            self.prior.topic_weight,
            self.prevalence,
            self.of_topic,
            _FOLLOWING,
        )

    def _by_topic(self, grades: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the grades of some pairs: (topic, grade)."""
        votes, k = self.votes, self.votes.n_grades
        cells = (votes.topic_of * k + grades)[which]
        return np.bincount(cells, minlength=votes.n_topics * k).reshape(votes.n_topics, k)

    def _place(self) -> Floats:
        """Return where the chain is, of what all pairs and judges have in common."""
        log_prevalence = np.log(self.prevalence)
        return np.concatenate(
            [
                log_prevalence[1:] - log_prevalence[0],
                self.population.mean,
                self.population.log_scale,
            ]
        )

    def _move_together(self, tuning: bool) -> None:
        """Move prevalences, and judges with their population, true and seeming grades summed out.

        With few labels a pair it is one ridge of the posterior where relevant documents are more
        and judges are worse at finding them, which no step along one axis follows.
        """
        random, k = self.random, self.votes.n_grades
        density = self._log_density()
        moves = min(max(1, _TOGETHER // len(self.votes.grade)), _MOST_TOGETHER)
        for _ in range(moves):
            before = self.prevalence, self.of_topic, self.population, self.odds
            step = self.walk.step(random)
            shift = np.exp(np.concatenate([[0.0], step[: k - 1]]))
            self.prevalence = _normalised(self.prevalence * shift)
            self.of_topic = _normalised(self.of_topic * shift)
            of_mean, of_scale = np.split(step[k - 1 :], [len(self.population.mean)])
            now = self.population
            self.population = JudgePopulation(now.mean + of_mean, now.log_scale + of_scale)
            standard = np.linalg.solve(now.root(), (self.odds - now.mean).T)
            self.odds = self.population.mean + (self.population.root() @ standard).T
            proposed = self._log_density()
            accepted = np.log(random.random()) < proposed - density
            if accepted:
                density = proposed
            else:
                self.prevalence, self.of_topic, self.population, self.odds = before
            if tuning:
                self.walk.learn(self._place(), bool(accepted))

    def _log_density(self) -> float:
        """Return the log density of all but standardised odds, and of labels, up to a constant.

        That is by the logarithms of prevalences and scales.
        """
        base = self.prior.topic_weight * self.prevalence
        topics = (base * np.log(self.of_topic)).sum() - self.votes.n_topics * gammaln(base).sum()
        said = log_chances(self.odds, self.votes.n_grades)
        evidence = log_evidence(*self._labels(), said, self.of_topic, self.seeming)
        evidence += (self.earlier * said).sum()
        prior = np.log(self.prevalence).sum() + self.population.log_prior()
        return float(prior + topics + evidence)


def _normalised(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def dirichlets(weights: Floats, random: np.random.Generator) -> Floats:
    """Draw from a Dirichlet distribution for every row."""
    return _normalised(np.maximum(random.standard_gamma(weights), 1e-300))
