"""Measures, named as ir_measures names them, and which of them have moments."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from ir_measures.measures import Measure as IrMeasure

#: A measure's name, an object of ir_measures, or what :func:`parse_measure` returned.
type MeasureLike = str | Measure | IrMeasure

MeasureKind = Literal[
    "AP", "P", "R", "DCG", "nDCG", "RBP", "RR", "Bpref", "ERR", "Rprec", "Success"
]

_NAME = re.compile(r"(?P<measure>\w+)(?:\((?P<options>.*)\))?(?:@(?P<cutoff>\d+(?:\.\d+)?))?")
# in any case, and without the @ of a cutoff
_NEARLY = re.compile(r"(?P<measure>\w+?)(?:\((?P<options>.*)\))?(?:@?(?P<cutoff>\d+))?")
REMEDY = "name measures as ir_measures does: AP, P@10, nDCG@10, RBP(p=0.8), R@1000, RR"
# some names of trec_eval stand for many measures
_SHOWN = 3
# not one of a measure's options
_OUTER_COMMA = re.compile(r",\s*(?![^(]*\))")
_DCG = re.compile(r"DCG(?:@(\d+))?")
_WITH_MOMENTS: tuple[MeasureKind, ...] = ("AP", "P", "R", "DCG", "nDCG", "RBP", "RR")
# gdeval's highest grade
ERR_HIGHEST = 4
_GRADED: tuple[MeasureKind, ...] = ("DCG", "nDCG", "ERR")
_OF_SEEN: tuple[MeasureKind, ...] = ("P", "RBP", "RR", "DCG", "ERR", "Success")
# a measure with a cutoff down to here depends little on how many documents are relevant
_FIRST_RANKS = 100
_IRRELEVANT = ("cutoff", "p", "rel", "dcg")


@dataclass(frozen=True)
class Measure:
    """A measure of relevance, binary or graded.

    Attributes
    ----------
    name : str
        As ir-measures writes it; ``DCG`` and ``DCG@k``, which it lacks, are added.
    kind : str or None
        The family; None for a measure that is not computed of uncertain relevance.
    cutoff : int or None
        Ranks beyond it do not count; None for the whole list.
    persistence : float
        RBP's p, in (0, 1).
    rel : int
        The lowest grade that is relevant to it; 0 where its name does not say.
    exponential : bool
        Of nDCG, that gains are 2 to the grade less 1 (``dcg="exp-log2"``), not the grade.

    Examples
    --------
    >>> parse_measure("RBP(p=0.9)")
    Measure(name='RBP(p=0.9)', kind='RBP', cutoff=None, persistence=0.9, rel=0, exponential=False)
    >>> parse_measure("AP(rel=2)").rel, parse_measure("nDCG").graded
    (2, True)
    """

    name: str
    kind: MeasureKind | None
    cutoff: int | None = None
    persistence: float = 0.8
    rel: int = 0
    exponential: bool = False

    @property
    def graded(self) -> bool:
        """Whether documents of a higher grade count more."""
        return self.kind in _GRADED

    @property
    def asks_how_many(self) -> bool:
        """Whether it depends on how many documents are relevant, retrieved or not.

        Examples
        --------
        >>> parse_measure("R@10").asks_how_many, parse_measure("P@10").asks_how_many
        (True, False)
        """
        return self.kind not in _OF_SEEN

    @property
    def depends_on_unseen(self) -> bool:
        """Whether relevant documents that few systems retrieve, far down, move it much.

        Recall, and average precision and nDCG of more than the first ranks.

        Examples
        --------
        >>> parse_measure("nDCG").depends_on_unseen, parse_measure("nDCG@10").depends_on_unseen
        (True, False)
        """
        deep = self.cutoff is None or self.cutoff > _FIRST_RANKS
        return self.asks_how_many and (deep or self.kind == "R")

    @property
    def has_moments(self) -> bool:
        """Whether its moments under binary relevance are known."""
        return self.kind in _WITH_MOMENTS

    def gains(self, grades: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the gain of each grade to nDCG or DCG: the grade, or 2 to the grade less 1.

        Examples
        --------
        >>> grades = np.arange(4)
        >>> parse_measure("nDCG@10").gains(grades).tolist()
        [0.0, 1.0, 2.0, 3.0]
        >>> parse_measure("nDCG(dcg='exp-log2')@10").gains(grades).tolist()
        [0.0, 1.0, 3.0, 7.0]
        """
        gains = grades.astype(np.float64)
        return 2.0**gains - 1.0 if self.exponential else gains

    def highest(self, depth: int) -> float:
        """Return the most that a list of binary relevance may score: 1, but of DCG.

        Parameters
        ----------
        depth : int, at least 1
            How many documents a list has.

        Examples
        --------
        >>> parse_measure("AP").highest(100), round(parse_measure("DCG@3").highest(100), 2)
        (1.0, 2.13)
        """
        if self.kind != "DCG":
            return 1.0
        ranks = depth if self.cutoff is None else min(self.cutoff, depth)
        return sum(1.0 / math.log2(rank + 1) for rank in range(1, ranks + 1))

    def __str__(self) -> str:
        return self.name


def parse_measure(measure: MeasureLike) -> Measure:
    """Read a measure: ``AP``, ``P@10``, ``R@100``, ``nDCG@20``, ``RBP(p=0.8)``, ...

    Parameters
    ----------
    measure : str, measure of ir_measures, or Measure
        A name of ir_measures, or ``DCG``, ``DCG@k``. The gain of nDCG and DCG is the grade (of
        binary relevance 0 or 1), the discount 1 / log2(rank + 1).

    Returns
    -------
    Measure

    Raises
    ------
    InputError
        An unknown name or one of trec_eval (the message has the one that is meant, where it can
        tell), or ``rel`` below 1.

    Examples
    --------
    >>> parse_measure("nDCG@10")
    Measure(name='nDCG@10', kind='nDCG', cutoff=10, persistence=0.8, rel=0, exponential=False)
    >>> import ir_measures
    >>> parse_measure(ir_measures.P @ 5).name
    'P@5'
    >>> parse_measure("map")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: 'map' is a name of trec_eval; write AP
    >>> parse_measure("ndcg@10")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: measure 'ndcg@10' is unknown; write nDCG@10
    """
    if isinstance(measure, Measure):
        return measure
    name = str(measure).strip()
    dcg = _DCG.fullmatch(name)
    if dcg:
        cutoff = None if dcg[1] is None else int(dcg[1])
        return Measure(name, "DCG", _checked_cutoff(name, cutoff))
    if _DCG.fullmatch(name.upper()):
        raise InputError(f"measure {name!r} is unknown", remedy=f"write {name.upper()}")
    parsed = ir_measure(measure)
    parameters = dict(parsed.params)
    rel = int(parameters.get("rel", 0))
    if "rel" in parameters and rel < 1:
        raise InputError(f"{name} has a rel below 1", remedy="give a grade from 1 on")
    cutoff = _checked_cutoff(name, parameters.get("cutoff"))
    plain = all(key in _IRRELEVANT or not value for key, value in parameters.items())
    kind = next((kind for kind in get_args(MeasureKind) if kind == parsed.NAME and plain), None)
    persistence = float(parameters.get("p", 0.8))
    if kind == "RBP" and not 0.0 < persistence < 1.0:
        raise InputError(f"RBP's p is {persistence:g}", remedy="give one between 0 and 1")
    exponential = parameters.get("dcg") == "exp-log2"
    return Measure(str(parsed), kind, cutoff, persistence, rel, exponential)


def ir_measure(measure: MeasureLike) -> Any:
    """Return the measure of ir_measures: the object itself, or the one of this name.

    Its own reader of names needs parts of ``ast`` that Python 3.14 has not.

    Raises
    ------
    InputError
        Not a measure, or an unknown name or option.
    """
    import ir_measures
    from ir_measures.measures import Measure as IrMeasure

    name = str(measure).strip()
    try:
        if isinstance(measure, IrMeasure):
            parsed = measure
        else:
            parts = _NAME.fullmatch(name) if isinstance(measure, str | Measure) else None
            if parts is None:
                raise ValueError("not a measure's name")
            parsed = ir_measures.parse_measure(parts["measure"])(**_options(parts["options"] or ""))
            if parts["cutoff"]:
                parsed = parsed @ (float if "." in parts["cutoff"] else int)(parts["cutoff"])
        parsed.validate_params()
    except (NameError, ValueError, KeyError, AssertionError, TypeError, SyntaxError) as error:
        raise _unknown(name, str(error)) from None
    return parsed


def _unknown(name: str, reason: str) -> InputError:
    """Return the error for a name that ir_measures does not have, or has for trec_eval's alone."""
    import ir_measures
    import pytrec_eval
    from ir_measures.measures import registry

    parts = _NAME.fullmatch(name)
    named = registry.get(parts["measure"]) if parts else None
    # those that need it have no provider among our dependencies
    if named is not None and "max_rel" in named.SUPPORTED_PARAMS:
        return InputError(
            f"measure {name!r:.80} is not computed here",
            remedy=f"choose one of {', '.join(get_args(MeasureKind))}",
        )
    if name.lower() == "statap":
        return InputError(
            "statAP is an estimate of AP from a random sample",
            remedy="give the sample: evaluate --prels FILE, or rb.stat_ap(sample)",
        )
    try:
        # sets of measures ("official") are not one measure's name
        several = name in pytrec_eval.supported_nicknames
        same = [] if several else ir_measures.parse_trec_measure(name)
    except ValueError:
        same = []
    names = _OUTER_COMMA.split(name)
    if not same and len(names) > 1 and all(part[:1].isalpha() for part in names):
        return InputError(
            f"measure {name!r:.80} is several in one name",
            remedy="give each its own: --measure AP --measure P@10 where a command takes several, "
            "and a list of names in Python",
        )
    if not same and (near := _nearest(name)):
        return InputError(f"measure {name!r:.80} is unknown", remedy=f"write {near}")
    if "param cutoff" in reason and "@" not in name and parts:
        return InputError(f"measure {name!r:.80} has no cutoff", remedy=f"write {name}@10")
    if not same or name == same[0].NAME:
        why = "" if "<" in reason else f" ({reason:.160})"
        return InputError(f"measure {name!r:.80} is unknown{why}", remedy=REMEDY)
    right = ", ".join(map(str, same[:_SHOWN])) + (", ..." if len(same) > _SHOWN else "")
    return InputError(f"{name!r} is a name of trec_eval", remedy=f"write {right}")


def _nearest(name: str) -> str | None:
    """Return the measure that is meant by a name in another case, or nearly so."""
    from ir_measures.measures import registry

    parts = _NEARLY.fullmatch(name)
    by_case = {name_of.lower(): measure.NAME for name_of, measure in registry.items()}
    like = get_close_matches(parts["measure"].lower(), by_case, n=1, cutoff=0.7) if parts else []
    if parts is None or not like:
        return None
    options = f"({parts['options']})" if parts["options"] else ""
    near = by_case[like[0]] + options + (f"@{parts['cutoff']}" if parts["cutoff"] else "")
    if near == name:
        return None
    try:
        ir_measure(near)
    except InputError:
        return None
    return near


def _options(text: str) -> dict[str, Any]:
    """Read ``key=value, ...`` as literals."""
    source = f"f({text})"
    call = ast.parse(source, mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("an option has no name")
    for word in call.keywords:
        if isinstance(word.value, ast.Name | ast.BinOp):
            raise ValueError(f"put {ast.get_source_segment(source, word.value)} into quotes")
    return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}


def name_among(names: Iterable[str], measure: MeasureLike, level: int = 1) -> str | None:
    """Return the name that stands for a measure, however it is written; None if none does.

    Parameters
    ----------
    names : iterable of str
    measure : str, measure of ir_measures, or Measure
    level : int
        The relevance level of names without ``rel``.

    Examples
    --------
    >>> name_among(["AP", "RBP(p=0.8)"], "RBP"), name_among(["AP"], "P@5")
    ('RBP(p=0.8)', None)
    >>> [name_among(["AP(rel=2)"], "AP", level) for level in (1, 2)]
    [None, 'AP(rel=2)']
    """

    def meant(one: MeasureLike) -> tuple[str, int] | str:
        try:
            parsed = parse_measure(one)
        except InputError:
            return str(one)
        without_rel = re.sub(r",?rel=\d+", "", parsed.name).replace("()", "")
        return without_rel, parsed.rel or level

    written = [*names]
    if str(measure) in written:
        return str(measure)
    wanted = meant(measure)
    return next((name for name in written if meant(name) == wanted), None)


def has_moments(measure: MeasureLike) -> bool:
    """Whether a measure's moments are known; if not, its outcomes can still be sampled.

    Examples
    --------
    >>> has_moments("AP"), has_moments("Bpref")
    (True, False)
    """
    return parse_measure(measure).has_moments


def _checked_cutoff(name: str, cutoff: int | None) -> int | None:
    if cutoff is not None and cutoff < 1:
        raise InputError(f"{name} has a cutoff below 1", remedy="cut at rank 1 or later")
    return cutoff


def refuse_rel(measure: Measure, what: str) -> None:
    """Refuse a measure with ``rel`` above 1 where documents or topics are chosen by it.

    Parameters
    ----------
    measure : Measure
    what : str
        What is chosen, in words.

    Raises
    ------
    InputError
        It names the relevance level to give instead.

    Examples
    --------
    >>> refuse_rel(parse_measure("AP(rel=2)"), "topics")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: topics are chosen by the relevance level, not by rel=2 of \
AP(rel=2); give the measure without rel, and relevance level 2
    """
    if measure.rel > 1:
        raise InputError(
            f"{what} are chosen by the relevance level, not by rel={measure.rel} of {measure}",
            remedy=f"give the measure without rel, and relevance level {measure.rel}",
        )
