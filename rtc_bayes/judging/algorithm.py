"""The names of judging algorithms: JUDGE or JUDGE/EVALUATOR."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rtc_bayes.errors import InputError
from rtc_bayes.judging.weights import WEIGHTS, WeightName
from rtc_bayes.relevance import ModelSpec

LEAST = 3.5
"""Judgments a topic, on average, that serve systems not judged for (docs/results/robust.md)."""

_ACCEPTED = (
    "write JUDGE or JUDGE/EVALUATOR, where JUDGE is ip, mtc, mtc[weight=evr] or "
    "MODEL[options]:METHOD and EVALUATOR is MODEL[options]:METHOD; a judge's options are "
    f"weight={'|'.join(WEIGHTS)}, floor=NUMBER and least=NUMBER"
)
# a name, or a path to a model's file; options; a method
_PART = re.compile(
    r"(?P<name>[^\[\]:]+?)(?:\[(?P<options>[^\[\]]*)\])?(?::(?P<method>[A-Za-z_]\w*))?"
)


@dataclass(frozen=True, repr=False)
class Algorithm:
    """How documents are chosen, and which model evaluates systems afterwards.

    Attributes
    ----------
    text : str
        As typed.
    judge : {"ip", "mtc", "model"}
        Incremental pooling; weights under p = .5; weights under a model's probabilities.
    weight : str or None
        Worth of a document, by its name in :data:`~rtc_bayes.judging.weights.WEIGHTS`; None for
        incremental pooling.
    floor : int
        Judgments that each topic gets first.
    least : float
        Judgments a topic, on average, before a confidence may end judging.
    model : ModelSpec or None
        The judge's model.
    evaluator : ModelSpec or None
        The model that evaluates; None where unjudged documents count as nonrelevant.
    """

    text: str
    judge: Literal["ip", "mtc", "model"]
    weight: WeightName | None
    floor: int
    least: float
    model: ModelSpec | None
    evaluator: ModelSpec | None

    def __repr__(self) -> str:
        return f"Algorithm({self.text!r})"


def parse_algorithm(text: str) -> Algorithm:
    """Read an algorithm's name.

    ``ip`` presents documents by rank; ``mtc`` takes the weight ``mtc06`` under p = .5; a model
    judges by ``evr`` with a floor of one judgment per topic and at least 3.5 on average, and
    ``rtc:map`` by ``influence`` with neither. ``weight=``, ``floor=`` and ``least=`` in the
    judge's brackets say otherwise; all other options are the model's. The evaluator is the
    judge's model unless given: ``uniform`` for ``mtc``; for ``ip`` none, unjudged documents being
    nonrelevant.

    Parameters
    ----------
    text : str
        For example ``mtc[weight=evr]/rtc:map`` or ``rtc[cell_weight=.1]:map``.

    Returns
    -------
    Algorithm

    Raises
    ------
    InputError
        Another form, a model, option or method that does not exist; it says what is accepted.
    """
    judge_text, evaluator_text = _split(text.strip())
    name, options, method = _part(judge_text, text)
    judging = {
        option.partition("=")[0].strip(): option.partition("=")[2]
        for option in options
        if _is_judging(option)
    }
    rest = [option for option in options if not _is_judging(option)]
    evaluator = None if evaluator_text is None else _model(*_part(evaluator_text, text))
    if name in ("ip", "mtc"):
        if method is not None:
            raise InputError(f"{name} has no method: {text!r}", remedy=_ACCEPTED)
        if rest or (name == "ip" and judging):
            raise InputError(
                f"{name} has no option {(rest or options)[0]!r}: {text!r}", remedy=_ACCEPTED
            )
    if name == "ip":
        return Algorithm(text, "ip", None, 0, 0, None, evaluator)
    if name == "mtc":
        weight = _weight(judging.get("weight", "mtc06"), text)
        floor = int(_number("floor", judging.get("floor", "0"), text, whole=True))
        least = _number("least", judging.get("least", "0"), text, whole=False)
        evaluator = evaluator or ModelSpec.parse("uniform")
        return Algorithm(text, "mtc", weight, floor, least, None, evaluator)
    model = _model(name, rest, method)
    published = model.name == "rtc" and (model.method or model.build().default_method) == "map"
    weight = _weight(judging.get("weight", "influence" if published else "evr"), text)
    first, average = ("0", "0") if published else ("1", str(LEAST))
    floor = int(_number("floor", judging.get("floor", first), text, whole=True))
    least = _number("least", judging.get("least", average), text, whole=False)
    return Algorithm(text, "model", weight, floor, least, model, evaluator or model)


def split_algorithms(text: str) -> tuple[str, ...]:
    """Split a list of algorithms at its commas, those in brackets aside.

    Examples
    --------
    >>> split_algorithms("ip,mtc,rtc[folds=5,intercept=yes]:map")
    ('ip', 'mtc', 'rtc[folds=5,intercept=yes]:map')
    """
    return tuple(part.strip() for part in re.split(r",(?![^\[\]]*\])", text))


def _split(text: str) -> tuple[str, str | None]:
    """Split judge from evaluator; a slash inside the path of a model's file parts nothing."""
    outside = re.sub(r"\[[^\]]*\]", lambda found: "]" * len(found[0]), text)
    for slash in re.finditer("/", outside):
        before, after = outside[: slash.start()], outside[slash.end() :]
        whole = before in ("ip", "mtc") or before.endswith((".py", "]")) or ":" in before
        if whole or ".py" not in re.split(r"[\]:]", after)[0]:
            return text[: slash.start()], text[slash.end() :]
    return text, None


def _part(part: str, text: str) -> tuple[str, list[str], str | None]:
    """Read NAME[options]:METHOD."""
    found = _PART.fullmatch(part.strip())
    if found is None:
        raise InputError(f"cannot read {part!r} in the algorithm {text!r}", remedy=_ACCEPTED)
    options = [option.strip() for option in (found["options"] or "").split(",")]
    return found["name"].strip(), [option for option in options if option], found["method"]


def _is_judging(option: str) -> bool:
    """Whether an option is the judge's; all others are its model's."""
    return option.partition("=")[0].strip() in ("weight", "floor", "least")


def _model(name: str, options: list[str], method: str | None) -> ModelSpec:
    if name in ("ip", "mtc"):
        raise InputError(f"{name} judges and does not evaluate", remedy=_ACCEPTED)
    bracket = f"[{','.join(options)}]" if options else ""
    spec = ModelSpec.parse(name + bracket + (f":{method}" if method else ""))
    spec.build()  # says now, not after an hour of judging, that a model or option does not exist
    return spec


def _weight(value: str, text: str) -> WeightName:
    for name in WEIGHTS:
        if name == value.strip():
            return name
    raise InputError(f"no weight {value.strip()!r}, in the algorithm {text!r}", remedy=_ACCEPTED)


def _number(name: str, value: str, text: str, *, whole: bool) -> float:
    if not re.fullmatch(r"\d+" if whole else r"\d+(\.\d*)?|\.\d+", value.strip()):
        raise InputError(
            f"{name} is {value!r} in the algorithm {text!r}: not a number of judgments",
            remedy=_ACCEPTED,
        )
    return float(value)
