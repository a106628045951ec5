"""Options read from text by their types."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
from hypothesis import given, strategies as st

from rtc_bayes import InputError
from rtc_bayes.relevance import BetaPrior, MeanSd, check_options
from rtc_bayes.relevance.options import describe_options, option_text, with_options


@dataclass(frozen=True)
class Sample:
    flag: bool = False
    count: int = 3
    rate: float = 0.5
    label: str = "x"
    pair: tuple[float, int] = (1.0, 2)
    several: tuple[float, ...] = ()
    choice: Literal["one", 2] = 2

    name: ClassVar[str] = "sample"


@dataclass(frozen=True)
class Demanding:
    count: int

    name: ClassVar[str] = "demanding"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("flag", "yes", True),
        ("flag", "No", False),
        ("flag", "true", True),
        ("count", "-7", -7),
        ("rate", "1e-3", 0.001),
        ("rate", ".1", 0.1),
        ("label", "a b", "a b"),
        ("pair", ".5:2", (0.5, 2)),
        ("pair", "1,1", (1.0, 1)),
        ("pair", "(1, 1)", (1.0, 1)),
        ("several", "1:2:3", (1.0, 2.0, 3.0)),
        ("choice", "one", "one"),
        ("choice", "2", 2),
    ],
)
def test_text(option, text, value):
    read = getattr(with_options(Sample, {option: text}), option)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("flag", "1"),
        ("flag", 1),
        ("count", "2.5"),
        ("count", True),
        ("rate", "inf"),
        ("rate", "half"),
        ("pair", "1"),
        ("pair", "1:2:3"),
        ("pair", (1.0, 2.5)),
        ("choice", "two"),
        ("choice", 2.0),
        ("label", 4),
    ],
)
def test_refused(option, value):
    with pytest.raises(InputError, match=f"option {option} of model sample is .*; give "):
        with_options(Sample, {option: value})


@given(
    st.builds(
        Sample,
        flag=st.booleans(),
        count=st.integers(),
        rate=st.floats(allow_nan=False, allow_infinity=False),
        pair=st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers()),
        choice=st.sampled_from(["one", 2]),
    )
)
def test_what_is_written_is_read_back(sample):
    options = ("flag", "count", "rate", "pair", "choice")
    text = {name: option_text(getattr(sample, name)) for name in options}
    assert with_options(Sample, text) == sample


def test_description():
    described = [str(option) for option in describe_options(Sample)]
    assert described[0] == "flag=no (yes | no)"
    assert described[4] == "pair=1:2 (a number:an integer)"
    assert described[6] == "choice=2 (one | 2)"


def test_an_option_without_default_must_be_given():
    with pytest.raises(InputError, match="demanding needs the option 'count'; give count=an int"):
        with_options(Demanding, {})
    assert with_options(Demanding, {"count": "2"}).count == 2


@dataclass(frozen=True)
class OfPriors:
    """A user's model, with a check of its options or none."""

    level: MeanSd = (-2.5, 1.0)
    share: BetaPrior = (1.0, 3.0)

    name: ClassVar[str] = "of_priors"


@dataclass(frozen=True)
class Checked(OfPriors):
    def __post_init__(self):
        check_options(self)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": (-2.5, -1.0)}, "'-2.5:-1'; give the mean:sd of a normal prior, the sd positive"),
        ({"level": (0.0, 0.0)}, "the sd positive"),
        ({"share": (0.0, 1.0)}, "'0:1'; give the a:b of a beta prior, both positive"),
        ({"share": (1.0, -1.0)}, "both positive"),
    ],
)
def test_what_is_no_prior_is_refused_by_its_type(options, said):
    for given_ in (options, {name: option_text(value) for name, value in options.items()}):
        with pytest.raises(InputError, match=said):
            with_options(OfPriors, given_)
    with pytest.raises(InputError, match=said):
        Checked(**options)
    assert with_options(OfPriors, {"level": "-2.5:0.1"}).level == (-2.5, 0.1)
