"""The joint log density of the three layers with its gradient: compiled.

The same density as the PyMC graph of the model `layered`, which says what its parts are. A vector
holds, end to end: logit m, log k; offset, slope and weight; the logarithms of their scales;
z of every topic; x of every system for A, B and lambda; and lambda_0 if there is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray, cfunc, njit, types
from numpy.typing import NDArray

from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.relevance.interface import Kernel
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.newton import Floats, differences_of
from rtc_bayes.relevance.prevalence import FARTHEST, STEP

type Integers = NDArray[np.int64]

# of each layer's parameter of systems, the option that is its mean
_EFFECTS = {"A": "offset", "B": "slope", "lambda": "weight"}
# how many values stand before those of topics: logit m, log k, and a mean and a scale an effect
_HYPER = 2 + 2 * len(_EFFECTS)
# what nutpie calls: size, x, gradient, value, data
_SIGNATURE = types.int64(types.uint64, *3 * [types.CPointer(types.double)], types.voidptr)


class LayeredPriors(NamedTuple):
    """The priors of `layered`, as its options give them.

    Attributes
    ----------
    m : tuple of float
        a and b of the mean prevalence's beta.
    centre, spread : ndarray of float, shape (7,)
        Means and sds of the normal priors: log k, the three means, the logarithms of the scales.
    a, b : float
        Of LogitBeta, the distribution of systems.
    log_odds : bool
        Whether layer 3 weighs logit q, and not q.

    Examples
    --------
    >>> priors = LayeredPriors((2.0, 6.0), np.zeros(7), np.ones(7), 1.0, 1.0, True)
    >>> priors.m
    (2.0, 6.0)
    """

    m: tuple[float, float]
    centre: Floats
    spread: Floats
    a: float
    b: float
    log_odds: bool


class Entries(NamedTuple):
    """The list entries of some documents, those of a document after one another.

    Attributes
    ----------
    starts : ndarray of int, shape (documents + 1,)
    system, item : ndarray of int, shape (entries,)
        Number of the system, and of the rank from 0.
    topic : ndarray of int, shape (documents,)
    """

    starts: Integers
    system: Integers
    item: Integers
    topic: Integers

    @classmethod
    def of(cls, pool: Pool, documents: Integers) -> Entries:
        """Find the entries of documents."""
        row_of = np.full(pool.n_documents, -1)
        row_of[documents] = np.arange(len(documents))
        system, _, rank = pool.entries
        row = row_of[pool.ranked]
        order = np.argsort(row, kind="stable")
        order = order[np.searchsorted(row[order], 0) :]
        starts = np.searchsorted(row[order], np.arange(len(documents) + 1)).astype(np.int64)
        topic = pool.topic_of[documents].astype(np.int64)
        return cls(starts, system[order].astype(np.int64), rank[order].astype(np.int64) - 1, topic)


@dataclass(frozen=True, eq=False, repr=False)
class LayeredDensity:
    """A model's density over judgments, as methods of estimation ask for it.

    Parameters
    ----------
    judgments : Judgments
    priors : LayeredPriors
    curve : ndarray of float, shape (cells, items, 4)
        Layer 1: :func:`rtc_bayes.relevance.prevalence.spline`.
    intercept : bool
        Whether there is a lambda_0.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance.prevalence import spline
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> priors = LayeredPriors((2.0, 6.0), np.zeros(7), np.ones(7), 1.0, 1.0, True)
    >>> density = LayeredDensity(rb.Judgments.none(pool), priors, spline(11, 2.0, "none"), False)
    >>> value, gradient = density.derivative(density.start)
    >>> gradient.shape
    (23,)
    """

    judgments: Judgments
    priors: LayeredPriors
    curve: Floats
    intercept: bool

    @property
    def size(self) -> int:
        """Number of values."""
        pool = self.judgments.pool
        return _HYPER + pool.n_topics + len(_EFFECTS) * pool.n_systems + self.intercept

    @property
    def start(self) -> Floats:
        """Where to begin: what is most probable a priori."""
        a, b = self.priors.m
        x = np.zeros(self.size)
        x[:_HYPER] = np.log(a / b), *self.priors.centre
        x[_HYPER + self.judgments.pool.n_topics :] = np.log(self.priors.a / self.priors.b)
        return x

    def log_density(self, x: Floats, *, jacobian: bool = True) -> float:
        """Log density; the variables are unconstrained, so that there is no Jacobian."""
        return self.derivative(x, jacobian=jacobian)[0]

    def derivative(self, x: Floats, *, jacobian: bool = True) -> tuple[float, Floats]:
        """Log density and its gradient, shape (size,)."""
        value, gradient, _ = self.derivative_beside(x, np.zeros(len(self._judged[1])))
        return value, gradient

    def derivative_beside(self, x: Floats, added: Floats) -> tuple[float, Floats, Floats]:
        """Log density where something is added to the log-odds of the judged documents.

        Returns
        -------
        value : float
        gradient : ndarray of float, shape (size,)
        force : ndarray of float, shape (judged,)
            Derivative by what is added.
        """
        gradient, force = np.empty(len(x)), np.empty(len(added))
        pool = self.judgments.pool
        of_pool = pool.n_topics, pool.n_systems, self.priors, self.curve
        value = log_density(x, *of_pool, *self._judged, added, gradient, force)
        return value, gradient, force

    def hessian(self, x: Floats, *, jacobian: bool = True) -> Floats:
        """Second derivatives by differences of the gradient, shape (size, size)."""
        return differences_of(lambda at: self.derivative(at)[1], x)

    def p(self, x: Floats, added: Floats | None = None) -> Floats:
        """Probability of every document, with something `added` to its log-odds or nothing."""
        pool = self.judgments.pool
        shape = pool.n_topics, pool.n_systems
        eta = log_odds(x, *shape, self.priors.log_odds, self.curve, self._every)
        return sigmoid(eta if added is None else eta + added)

    @property
    def kernel(self) -> Kernel:
        """The log density and its gradient for a sampler that does not run Python."""
        pool, (entries, labels) = self.judgments.pool, self._judged
        priors, (cells, items, _) = self.priors, self.curve.shape
        sizes = (pool.n_topics, pool.n_systems, len(labels), len(entries.system), cells, items)
        numbers = np.concatenate([[*sizes, priors.log_odds], *entries]).astype(np.int64)
        own = np.array([*priors.m, priors.a, priors.b])
        parts = numbers.view(np.float64), own, priors.centre, priors.spread, labels
        return Kernel(_machine_code(), np.concatenate([*parts, self.curve.ravel()]))

    def parameters(self, x: Floats) -> dict[str, Any]:
        """Name the values, as the graph does."""
        topics, systems = self.judgments.pool.n_topics, self.judgments.pool.n_systems
        logit_m, log_k, *hyper = x[:_HYPER]
        z = x[_HYPER : _HYPER + topics]
        effects = x[_HYPER + topics :][: len(_EFFECTS) * systems].reshape(-1, systems)
        m = sigmoid(np.array(logit_m))
        level = logit_m + z / np.sqrt(np.exp(log_k) * m * (1.0 - m))
        named: dict[str, Any] = {"logit_m": logit_m, "log_k": log_k, "z_prevalence": z}
        named["logit_prevalence"] = level
        for number, (name, option) in enumerate(_EFFECTS.items()):
            mean, log_s = hyper[number], hyper[number + len(_EFFECTS)]
            share = mean / systems if name == "lambda" else mean
            named |= {option: mean, f"log_s_{option}": log_s, f"x_{name}": effects[number]}
            named[name] = share + np.exp(log_s) * effects[number]
        return named | ({"lambda_0": x[-1]} if self.intercept else {})

    @property
    def labels(self) -> dict[str, Any]:
        """Dims of :meth:`parameters`, and coordinates of dims that the pool does not know."""
        of_system = [f"{prefix}{name}" for name in _EFFECTS for prefix in ("x_", "")]
        of_topic = ["z_prevalence", "logit_prevalence"]
        dims = dict.fromkeys(of_topic, ("topic",)) | dict.fromkeys(of_system, ("system",))
        return {"dims": dims, "coords": {}}

    @cached_property
    def _judged(self) -> tuple[Entries, Floats]:
        order = self.judgments.order
        return Entries.of(self.judgments.pool, order), self.judgments.labels[order]

    @cached_property
    def _every(self) -> Entries:
        pool = self.judgments.pool
        return Entries.of(pool, np.arange(pool.n_documents))


@njit(cache=True, nogil=True, error_model="numpy")
def log_density(
    x: Floats,
    topics: int,
    systems: int,
    priors: LayeredPriors,
    curve: Floats,
    judged: Entries,
    labels: Floats,
    added: Floats,
    gradient: Floats,
    forces: Floats,
) -> float:
    """Return the log density at x, up to a constant; set its gradient, and that by `added`."""
    gradient[:] = 0.0
    value = 0.0
    high, low, m = _logistic(x[0])
    k = math.exp(x[1])
    value += priors.m[0] * high + priors.m[1] * low
    gradient[0] += priors.m[0] - (priors.m[0] + priors.m[1]) * m
    for i in range(len(priors.centre)):
        apart = (x[1 + i] - priors.centre[i]) / priors.spread[i]
        value -= 0.5 * apart * apart
        gradient[1 + i] -= apart / priors.spread[i]
    first = _HYPER + topics
    for i in range(first, len(x)):
        high, low, share = _logistic(x[i])
        value += priors.a * high + priors.b * low
        gradient[i] += priors.a - (priors.a + priors.b) * share

    # layer 1: prevalences, LogitBeta(a, b) in units of their spread about logit m
    a, b = m * k, (1.0 - m) * k
    spread = 1.0 / math.sqrt(k * m * (1.0 - m))
    of_a, of_b, of_k = _digamma(a), _digamma(b), _digamma(k)
    constant = math.lgamma(k) - math.lgamma(a) - math.lgamma(b) + math.log(spread)
    level, slope = np.empty(topics), np.zeros(topics)
    da, db = 0.0, 0.0
    for t in range(topics):
        level[t] = x[0] + x[_HYPER + t] * spread
        high, low, share = _logistic(level[t])
        value += a * high + b * low + constant
        slope[t] += a - k * share
        da += high - of_a + of_k
        db += low - of_b + of_k
    gradient[0] += (da - db) * k * m * (1.0 - m) - 0.5 * topics * (1.0 - 2.0 * m)
    gradient[1] += da * a + db * b - 0.5 * topics

    # layers 2 and 3: a document that no system ranked, then what each list entry changes
    offset, steep, weight = np.empty(systems), np.empty(systems), np.empty(systems)
    none, none_slope = np.empty(systems), np.empty(systems)
    of_offset, of_steep, of_weight = np.zeros(systems), np.zeros(systems), np.zeros(systems)
    s_offset, s_steep, s_weight = math.exp(x[5]), math.exp(x[6]), math.exp(x[7])
    base = x[first + 3 * systems] if len(x) > first + 3 * systems else 0.0
    for j in range(systems):
        offset[j] = x[2] + s_offset * x[first + j]
        steep[j] = x[3] + s_steep * x[first + systems + j]
        weight[j] = x[4] / systems + s_weight * x[first + 2 * systems + j]
        none[j], none_slope[j] = _calibrated(offset[j], priors.log_odds)
        base += weight[j] * none[j]
    of_base = 0.0
    reports = np.empty((len(judged.system), 4))
    for i in range(len(labels)):
        t = judged.topic[i]
        eta = base + added[i]
        for e in range(judged.starts[i], judged.starts[i + 1]):
            j = judged.system[e]
            q, q_slope = _self_report(curve, level[t], judged.item[e])
            opinion, opinion_slope = _calibrated(offset[j] + steep[j] * q, priors.log_odds)
            eta += weight[j] * (opinion - none[j])
            reports[e, 0], reports[e, 1] = q, q_slope
            reports[e, 2], reports[e, 3] = opinion, opinion_slope
        high, low, share = _logistic(eta)
        value += labels[i] * high + (1.0 - labels[i]) * low
        force = labels[i] - share
        forces[i] = force
        of_base += force
        for e in range(judged.starts[i], judged.starts[i + 1]):
            j = judged.system[e]
            q, q_slope, opinion, opinion_slope = reports[e]
            of_weight[j] += force * (opinion - none[j])
            of_offset[j] += force * weight[j] * (opinion_slope - none_slope[j])
            of_steep[j] += force * weight[j] * opinion_slope * q
            slope[t] += force * weight[j] * opinion_slope * steep[j] * q_slope

    for j in range(systems):
        of_weight[j] += of_base * none[j]
        of_offset[j] += of_base * weight[j] * none_slope[j]
        gradient[2] += of_offset[j]
        gradient[3] += of_steep[j]
        gradient[4] += of_weight[j] / systems
        gradient[5] += of_offset[j] * s_offset * x[first + j]
        gradient[6] += of_steep[j] * s_steep * x[first + systems + j]
        gradient[7] += of_weight[j] * s_weight * x[first + 2 * systems + j]
        gradient[first + j] += of_offset[j] * s_offset
        gradient[first + systems + j] += of_steep[j] * s_steep
        gradient[first + 2 * systems + j] += of_weight[j] * s_weight
    if len(x) > first + 3 * systems:
        gradient[first + 3 * systems] += of_base
    for t in range(topics):
        gradient[_HYPER + t] += slope[t] * spread
        gradient[0] += slope[t] * (1.0 - 0.5 * x[_HYPER + t] * spread * (1.0 - 2.0 * m))
        gradient[1] -= slope[t] * 0.5 * x[_HYPER + t] * spread
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def log_odds(
    x: Floats, topics: int, systems: int, as_log_odds: bool, curve: Floats, every: Entries
) -> Floats:
    """Return the log-odds of every document at x."""
    _, _, m = _logistic(x[0])
    k = math.exp(x[1])
    spread = 1.0 / math.sqrt(k * m * (1.0 - m))
    first = _HYPER + topics
    base = x[first + 3 * systems] if len(x) > first + 3 * systems else 0.0
    offset = x[2] + math.exp(x[5]) * x[first : first + systems]
    steep = x[3] + math.exp(x[6]) * x[first + systems : first + 2 * systems]
    weight = x[4] / systems + math.exp(x[7]) * x[first + 2 * systems : first + 3 * systems]
    none = np.empty(systems)
    for j in range(systems):
        none[j] = _calibrated(offset[j], as_log_odds)[0]
        base += weight[j] * none[j]
    reports = np.empty((topics, curve.shape[1]))
    for t in range(topics):
        for item in range(curve.shape[1]):
            reports[t, item], _ = _self_report(curve, x[0] + x[_HYPER + t] * spread, item)
    eta = np.full(len(every.topic), base)
    for i in range(len(eta)):
        of_topic = reports[every.topic[i]]
        for e in range(every.starts[i], every.starts[i + 1]):
            j = every.system[e]
            opinion, _ = _calibrated(offset[j] + steep[j] * of_topic[every.item[e]], as_log_odds)
            eta[i] += weight[j] * (opinion - none[j])
    return eta


@lru_cache(maxsize=1)
def _machine_code() -> Any:
    return cfunc(_SIGNATURE, cache=True)(_at_address)


def _at_address(size: int, x: Any, gradient: Any, value: Any, data: Any) -> int:
    """Call :func:`log_density` with what `LayeredDensity.kernel` has put end to end."""
    topics, systems, documents, entries, cells, items, as_log_odds = carray(data, (7,), np.int64)
    first = 8 + 2 * (documents + entries)
    numbers = carray(data, (first,), np.int64)[7:]
    floats = carray(data, (first + 18 + documents + 4 * cells * items,), np.float64)[first:]
    starts, rest = numbers[: documents + 1], numbers[documents + 1 :]
    judged = Entries(starts, rest[:entries], rest[entries : 2 * entries], rest[2 * entries :])
    m = floats[0], floats[1]
    priors = LayeredPriors(m, floats[4:11], floats[11:18], floats[2], floats[3], as_log_odds != 0)
    labels, curve = floats[18 : 18 + documents], floats[18 + documents :]
    there = carray(x, (size,)), carray(gradient, (size,))
    value[0] = log_density(
        there[0],
        topics,
        systems,
        priors,
        curve.reshape(cells, items, 4),
        judged,
        labels,
        np.zeros(documents),
        there[1],
        np.empty(documents),
    )
    return 0 if math.isfinite(value[0]) else 1


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _self_report(curve: Floats, level: float, item: int) -> tuple[float, float]:
    """Return q* of a rank at a prevalence's log-odds, and its derivative."""
    at = (min(max(level, -FARTHEST), FARTHEST - 1e-9) + FARTHEST) / STEP
    cell = int(at)
    beyond = (at - cell) * STEP
    c3, c2, c1, c0 = curve[cell, item]
    q = ((c3 * beyond + c2) * beyond + c1) * beyond + c0
    steep = (3.0 * c3 * beyond + 2.0 * c2) * beyond + c1
    inside = -FARTHEST < level < FARTHEST - 1e-9
    return q, steep if inside else 0.0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _calibrated(log_odds: float, as_log_odds: bool) -> tuple[float, float]:
    """Return what layer 3 weighs, and its derivative."""
    if as_log_odds:
        return log_odds, 1.0
    _, _, q = _logistic(log_odds)
    return q, q * (1.0 - q)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _logistic(x: float) -> tuple[float, float, float]:
    """Return log sigmoid(x), log sigmoid(-x) and sigmoid(x), by one exponential."""
    less = math.exp(-abs(x))
    common, share = math.log1p(less), 1.0 / (1.0 + less)
    return min(x, 0.0) - common, min(-x, 0.0) - common, share if x >= 0.0 else less * share


@njit(cache=True, nogil=True, error_model="numpy")
def _digamma(x: float) -> float:
    """Return the derivative of log gamma: by its recurrence up to 8, then its asymptotic series."""
    value = 0.0
    while x < 8.0:
        value -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1 / 12 - square * (
        1 / 120
        - square * (1 / 252 - square * (1 / 240 - square * (1 / 132 - square * 691 / 32760)))
    )
    return value + math.log(x) - 0.5 / x - square * series
