"""The labels' evidence beside a density that a model compiled itself.

A vector holds, end to end: what the model's own density takes; the labels' coefficients; the
logarithms of their effects' scales; and the effects, each in units of its scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rtc_bayes.relevance.evidence import judged_rows
from rtc_bayes.relevance.interface import Density
from rtc_bayes.relevance.label_evidence import LabelEvidence
from rtc_bayes.relevance.newton import Floats, differences_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class TakesAdded(Density, Protocol):
    """A density over judgments in which something may be added to the documents' log-odds."""

    def derivative_beside(self, x: Floats, added: Floats) -> tuple[float, Floats, Floats]:
        """Log density, its gradient, and that by what is added to each judged document."""

    def p(self, x: Floats, added: Floats | None = None) -> Floats:
        """Probability of every document, with something added to its log-odds or nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelledDensity:
    """A model's density with the evidence of its judgments' labels in the log-odds.

    Parameters
    ----------
    own : TakesAdded
        Of the same judgments, without labels.
    evidence : LabelEvidence
        With labels.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> from rtc_bayes.relevance import load_model
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    >>> labels = rb.Labels.of(["1", "1"], ["a", "b"], ["llm", "llm"], [1, 0])
    >>> judgments = rb.Judgments.none(pool).with_judge_labels(labels)
    >>> density = load_model("layered").density(judgments)
    >>> density.parameters(density.start)["label_coefficient"].tolist()  # their prior means
    [1.0, -3.0, 1.0, 0.5, 0.0, 0.0]
    """

    own: TakesAdded
    evidence: LabelEvidence

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.start)

    @cached_property
    def start(self) -> Floats:
        """Where to begin: what is most probable a priori."""
        evidence = self.evidence
        scales = np.log([median for median, _ in evidence.scale_priors])
        effects = np.zeros(sum(evidence.sizes))
        return np.concatenate([self.own.start, evidence.prior[0], scales, effects])

    def log_density(self, x: Floats, *, jacobian: bool = True) -> float:
        """Log density; the variables are unconstrained, so that there is no Jacobian."""
        return self.derivative(x, jacobian=jacobian)[0]

    def derivative(self, x: Floats, *, jacobian: bool = True) -> tuple[float, Floats]:
        """Log density and its gradient, shape (size,)."""
        own, coefficients, log_scale, z = self._split(x)
        weight = self._weight(coefficients, log_scale, z)
        value, gradient, force = self.own.derivative_beside(own, self._judged @ weight)
        of_weight = force @ self._judged
        first = len(coefficients)
        # by the log scale s and by z of the effects s z
        of_z = of_weight[first:] * np.exp(log_scale)[self._scale_of]
        of_scale = np.bincount(self._scale_of, weights=of_z * z, minlength=len(log_scale))
        mean, sd = self._normal
        apart = (x[len(own) :] - mean) / sd
        parts = [of_weight[:first], of_scale, of_z]
        beside = np.concatenate(parts) - apart / sd
        return value - 0.5 * float(apart @ apart), np.concatenate([gradient, beside])

    def hessian(self, x: Floats, *, jacobian: bool = True) -> Floats:
        """Second derivatives by differences of the gradient, shape (size, size)."""
        return differences_of(lambda at: self.derivative(at)[1], x)

    def p(self, x: Floats) -> Floats:
        """Probability of every document, shape (documents,)."""
        own, *beside = self._split(x)
        return self.own.p(own, self._every @ self._weight(*beside))

    def parameters(self, x: Floats) -> dict[str, Any]:
        """Name the values, as the graph does."""
        own, coefficients, log_scale, z = self._split(x)
        named = {**self.own.parameters(own), "label_coefficient": coefficients}
        effects = np.exp(log_scale)[self._scale_of] * z
        for number, name in enumerate(self.evidence.dims):
            here = self._scale_of == number
            named |= {f"log_s_{name}": log_scale[number], f"z_{name}": z[here]}
            named[name] = effects[here]
        return named

    @property
    def labels(self) -> Mapping[str, Any]:
        """Dims of :meth:`parameters`, and coordinates of dims that the pool does not know."""
        own, effects = self.own.labels, self.evidence.dims
        dims = {"label_coefficient": ("label_term",), **effects}
        dims |= {f"z_{name}": of for name, of in effects.items()}
        return {"dims": own["dims"] | dims, "coords": own["coords"] | self.evidence.coords}

    def _split(self, x: Floats) -> list[Floats]:
        """Return the model's own values, the coefficients, the log scales and z."""
        sizes = (len(self.own.start), len(self.evidence.names), len(self.evidence.dims))
        return np.split(x, np.cumsum(sizes))

    def _weight(self, coefficients: Floats, log_scale: Floats, z: Floats) -> Floats:
        return np.concatenate([coefficients, np.exp(log_scale)[self._scale_of] * z])

    @cached_property
    def _scale_of(self) -> Any:
        return np.repeat(np.arange(len(self.evidence.sizes)), self.evidence.sizes)

    @cached_property
    def _normal(self) -> tuple[Floats, Floats]:
        """Mean and sd of the priors of all values that are not the model's own."""
        mean, sd = self.evidence.prior
        median, spread = np.array(self.evidence.scale_priors).T
        z = np.zeros(sum(self.evidence.sizes))
        return np.concatenate([mean, np.log(median), z]), np.concatenate([sd, spread, z + 1.0])

    @cached_property
    def _judged(self) -> Floats:
        return judged_rows(self.evidence.judgments, self.evidence.columns)

    @cached_property
    def _every(self) -> csr_array:
        from scipy.sparse import csr_array

        topics = range(self.evidence.pool.n_topics)
        return csr_array(np.vstack([self.evidence.columns(t) for t in topics]))
