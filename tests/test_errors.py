"""Arguments that count something."""

from __future__ import annotations

import numpy as np
import pytest

from rtc_bayes.errors import InputError, whole_number


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_integers_of_python_and_numpy_are_taken(value):
    number = whole_number("draws", value, least=1)
    assert number == 3
    assert type(number) is int


@pytest.mark.parametrize("value", [3.0, np.float64(3.0), True, "3", None, -1, 0, np.nan, [3]])
def test_everything_else_is_refused_by_name(value):
    with pytest.raises(InputError, match=r"draws is .*; give a whole number of at least 1"):
        whole_number("draws", value, least=1)
