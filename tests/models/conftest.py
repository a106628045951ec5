"""What holds for every estimate of every model."""

from collections.abc import Callable

import numpy as np
import pytest

from rtc_bayes import Judgments
from rtc_bayes.relevance import RelevanceModel, Sampling, estimate


@pytest.fixture(scope="session")
def check_estimate() -> Callable[..., None]:
    """Check that probabilities are some, that labels are kept, and that parameters are finite."""

    def check(model: RelevanceModel, method: str, judgments: Judgments, sampling: Sampling) -> None:
        estimated = estimate(model, method, judgments, sampling)
        assert estimated.diagnostics.usable
        values = estimated.values
        assert ((values >= 0) & (values <= 1)).all()
        np.testing.assert_allclose(
            values[:, judgments.order],
            np.tile(judgments.labels[judgments.order], (len(values), 1)),
            atol=1e-7,
        )
        assert all(np.isfinite(value).all() for value in estimated.parameters.values())

    return check
