"""LogitBeta: the distribution of the log-odds of a probability that is beta distributed.

Its density at x is sigma(x)^a (1 - sigma(x))^b / B(a, b), the type I generalised logistic
distribution: as the likelihood of ``a`` relevant and ``b`` nonrelevant pseudo-judgments at
log-odds x. Its mode is log(a / b). A ``pm.Beta("q", a, b)`` passed through logit is the same
distribution, but not the same mode: there the mode is sought on q, at (a - 1) / (a + b - 2), and
where a or b is at most 1 there is none inside.
"""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt
from pymc.distributions.continuous import Continuous
from pymc.distributions.dist_math import check_parameters
from pymc.distributions.distribution import SymbolicRandomVariable
from pymc.distributions.shape_utils import implicit_size_from_params, rv_size_is_none
from pymc.pytensorf import normalize_rng_param
from pytensor.tensor.random.basic import exponential, gamma
from pytensor.tensor.random.utils import normalize_size_param


class LogitBetaRV(SymbolicRandomVariable):
    """Draws of LogitBeta: the difference of the logarithms of two gamma variables."""

    name = "logit_beta"
    extended_signature = "[rng],[size],(),()->[rng],()"
    _print_name = ("LogitBeta", "\\operatorname{LogitBeta}")

    @classmethod
    def rv_op(cls, a: Any, b: Any, *, size: Any = None, rng: Any = None) -> Any:
        """Write the draws as operations, so that every backend can compile them."""
        a, b = pt.as_tensor(a), pt.as_tensor(b)
        rng, size = normalize_rng_param(rng), normalize_size_param(size)
        if rv_size_is_none(size):
            size = implicit_size_from_params(a, b, ndims_params=cls.ndims_params)
        next_rng, of_a = _log_gamma(a, size, rng)
        last_rng, of_b = _log_gamma(b, size, next_rng)
        return cls(inputs=[rng, size, a, b], outputs=[last_rng, of_a - of_b])(rng, size, a, b)


def _log_gamma(shape: Any, size: Any, rng: Any) -> tuple[Any, Any]:
    """Draw log G(a) as log G(a + 1) + log(U) / a, U uniform: G(a) underflows where a is small."""
    next_rng, larger = gamma(shape + 1.0, scale=1.0, size=size, rng=rng, return_next_rng=True)
    last_rng, minus_log = exponential(scale=1.0, size=size, rng=next_rng, return_next_rng=True)
    return last_rng, pt.log(larger) - minus_log / shape


class LogitBeta(Continuous):
    """The log-odds of a Beta(a, b) probability, as a PyMC distribution.

    Parameters
    ----------
    a, b : tensor_like of float
        Positive: pseudo-judgments relevant and nonrelevant.

    Examples
    --------
    >>> import pymc as pm
    >>> with pm.Model(coords={"system": ["a", "b"]}):
    ...     weight = LogitBeta("weight", 1.0, 1.0, dims="system")
    >>> float(pm.logp(weight, [0.0, 0.0]).eval()[0].round(4))
    -1.3863
    """

    rv_type = LogitBetaRV
    rv_op = LogitBetaRV.rv_op

    @classmethod
    def dist(cls, a: Any, b: Any, **kwargs: Any) -> Any:
        """Make a variable that is in no model."""
        # a constant such as 2.5 would otherwise be held, and computed with, in single precision
        shapes = [pt.cast(pt.as_tensor_variable(shape), "floatX") for shape in (a, b)]
        return super().dist(shapes, **kwargs)

    def support_point(rv: Any, size: Any, a: Any, b: Any) -> Any:  # noqa: N805
        """Return the mode."""
        mode = pt.log(a) - pt.log(b)
        return mode if rv_size_is_none(size) else pt.full(size, mode)

    def logp(value: Any, a: Any, b: Any) -> Any:  # noqa: N805
        """Return the log density."""
        log_beta = pt.gammaln(a) + pt.gammaln(b) - pt.gammaln(a + b)
        return check_parameters(
            -a * pt.softplus(-value) - b * pt.softplus(value) - log_beta,
            a > 0,
            b > 0,
            msg="a > 0, b > 0",
        )

    def logcdf(value: Any, a: Any, b: Any) -> Any:  # noqa: N805
        """Return the logarithm of the distribution function."""
        return check_parameters(
            pt.log(pt.betainc(a, b, pt.sigmoid(value))), a > 0, b > 0, msg="a > 0, b > 0"
        )
