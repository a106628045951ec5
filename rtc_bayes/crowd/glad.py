"""Aggregation by GLAD: judges have abilities, and documents are more or less difficult.

Whitehill et al. (NIPS 2009): judge j is right about pair i with probability sigma(a_j e^b_i), and
else says any other grade alike; a_j ~ N(1, 1), b_i ~ N(0, 1), and every true grade is as likely.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rtc_bayes.crowd.expectation import majority
from rtc_bayes.crowd.votes import Floats, Truths, Votes


def glad(votes: Votes, *, iterations: int = 30, steps: int = 15, tolerance: float = 1e-4) -> Truths:
    """Alternate between true grades and, by L-BFGS, abilities and difficulties."""
    grades = majority(votes).grades
    parameters = np.concatenate([np.ones(votes.n_judges), np.zeros(votes.n_pairs)])
    for _ in range(iterations):
        right = grades[votes.pair_of, votes.grade]
        parameters = minimize(
            _loss, parameters, (votes, right), "L-BFGS-B", jac=True, options={"maxiter": steps}
        ).x
        before, grades = grades, _expected(votes, parameters)
        if np.abs(grades - before).max() < tolerance:
            break
    return Truths(grades)


def _loss(parameters: Floats, votes: Votes, right: Floats) -> tuple[float, Floats]:
    ability, ease = parameters[: votes.n_judges], parameters[votes.n_judges :]
    scale = np.exp(ease)[votes.pair_of]
    x = ability[votes.judge_of] * scale
    slope = expit(x) - right
    of_ability = np.bincount(votes.judge_of, slope * scale, votes.n_judges) + ability - 1.0
    of_ease = np.bincount(votes.pair_of, slope * x, votes.n_pairs) + ease
    value = -(right * log_expit(x) + (1.0 - right) * log_expit(-x)).sum()
    prior = 0.5 * (np.square(ability - 1.0).sum() + np.square(ease).sum())
    return float(value + prior), np.concatenate([of_ability, of_ease])


def _expected(votes: Votes, parameters: Floats) -> Floats:
    ability, ease = parameters[: votes.n_judges], parameters[votes.n_judges :]
    x = ability[votes.judge_of] * np.exp(ease)[votes.pair_of]
    wrong = log_expit(-x) - np.log(votes.n_grades - 1)
    total = np.tile(np.bincount(votes.pair_of, wrong, votes.n_pairs)[:, None], votes.n_grades)
    np.add.at(total, (votes.pair_of, votes.grade), log_expit(x) - wrong)
    return votes.from_logs(total)
