"""Names of measures, as ir-measures writes them, and which of them have moments."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any, Literal

from rtc_bayes.errors import InputError

Kind = Literal["AP", "P", "R", "DCG", "nDCG", "RBP", "RR"]

_NAME = re.compile(r"(?P<measure>\w+)(?:\((?P<options>.*)\))?(?:@(?P<cutoff>\d+))?")
_REMEDY = "name measures as ir_measures does: AP, P@10, nDCG@10, RBP(p=0.8), R@1000, RR"
_DCG = re.compile(r"DCG(?:@(\d+))?")
_WITH_MOMENTS: tuple[Kind, ...] = ("AP", "P", "R", "nDCG", "RBP", "RR")
_IRRELEVANT = ("cutoff", "p", "rel", "dcg")


@dataclass(frozen=True)
class Measure:
    """A measure of binary relevance.

    Attributes
    ----------
    name : str
        As ir-measures writes it; ``DCG`` and ``DCG@k``, which it lacks, are added.
    kind : str or None
        The family whose moments are known; None for a measure that only ir-measures computes.
    cutoff : int or None
        Ranks beyond it do not count; None for the whole list.
    persistence : float
        RBP's p, in (0, 1).
    """

    name: str
    kind: Kind | None
    cutoff: int | None = None
    persistence: float = 0.8


def parse_measure(name: str) -> Measure:
    """Read the name of a measure: ``AP``, ``P@10``, ``R@100``, ``nDCG@20``, ``RBP(p=0.8)``, ...

    Parameters
    ----------
    name : str
        A name of ir-measures, or ``DCG``, ``DCG@k``. Relevance is binary here, so nDCG and DCG
        have gains 0 and 1 and discount 1 / log2(rank + 1).

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        An unknown name, or a relevance level (``rel``) above 1.
    """
    dcg = _DCG.fullmatch(name.strip())
    if dcg:
        cutoff = None if dcg[1] is None else int(dcg[1])
        return Measure(name.strip(), "DCG", _checked_cutoff(name, cutoff))
    parsed = ir_measure(name)
    parameters = dict(parsed.params)
    if parameters.get("rel", 1) != 1:
        raise InputError(
            f"{name} asks for relevance level {parameters['rel']}, but relevance is binary here",
            remedy="leave rel out of the measure and set the relevance level for the judgments",
        )
    cutoff = _checked_cutoff(name, parameters.get("cutoff"))
    plain = all(key in _IRRELEVANT or not value for key, value in parameters.items())
    kind = next((kind for kind in _WITH_MOMENTS if kind == parsed.NAME and plain), None)
    persistence = float(parameters.get("p", 0.8))
    if kind == "RBP" and not 0.0 < persistence < 1.0:
        raise InputError(f"RBP's p is {persistence:g}", remedy="give one between 0 and 1")
    return Measure(str(parsed), kind, cutoff, persistence)


def ir_measure(name: str) -> Any:
    """Return the measure that ir-measures knows by a name.

    Its own reader of names needs parts of ``ast`` that Python 3.14 has not.

    Raises
    ------
    InputError
        An unknown name or option.
    """
    import ir_measures

    parts = _NAME.fullmatch(name.strip())
    if parts is None:
        raise InputError(f"{name!r} is not a measure's name", remedy=_REMEDY)
    try:
        measure = ir_measures.parse_measure(parts["measure"])(**_options(parts["options"] or ""))
        if parts["cutoff"]:
            measure = measure @ int(parts["cutoff"])
        measure.validate_params()
    except (NameError, ValueError, KeyError, AssertionError, TypeError, SyntaxError) as error:
        raise InputError(f"measure {name!r} is unknown ({error})", remedy=_REMEDY) from None
    return measure


def _options(text: str) -> dict[str, Any]:
    """Read ``key=value, ...`` as literals."""
    call = ast.parse(f"f({text})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("an option has no name")
    return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}


def has_moments(name: str) -> bool:
    """Whether a measure's moments are known; if not, its outcomes can still be sampled."""
    return parse_measure(name).kind is not None


def _checked_cutoff(name: str, cutoff: int | None) -> int | None:
    if cutoff is not None and cutoff < 1:
        raise InputError(f"{name} has a cutoff below 1", remedy="cut at rank 1 or later")
    return cutoff
