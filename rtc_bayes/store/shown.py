"""A result as people see it: tables in a notebook, which the report makes, words in a terminal."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from rtc_bayes.store.files import write_text


class Shown:
    """A result that a notebook shows as HTML; the report, which stands above it, says how."""

    def _repr_html_(self) -> str:
        html: str = import_module("rtc_bayes.report.notebook").html_of(self)
        return html


def page_by(maker: str, path: str | Path | None, *shown: object, **options: object) -> str:
    """Return the page or tables that the report makes of results; write them to a path, if any.

    The report stands above the results, which do not import it.

    Parameters
    ----------
    maker : str
        A function of :mod:`rtc_bayes.report` that returns text, as ``"MODULE:FUNCTION"``.
    path : str or Path or None
    *shown, **options
        What the function takes.
    """
    module, _, function = maker.partition(":")
    make = getattr(import_module(f"rtc_bayes.report.{module}"), function)
    text: str = make(*shown, **options)
    if path is not None:
        write_text(text, path)
    return text


def in_words(result: object) -> str:
    r"""Say what a result prints of itself, with words for the names of classes.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> in_words(rb.Qrels({"401": {"d1": 1, "d2": 0}}))
    'Qrels: 1 topic, 2 judged, 1 relevant at level 1'
    >>> class OnLines:
    ...     def __repr__(self):
    ...         return "Study(2 trials)\n  mtc: tau 0.6\n  rtc:map: tau 0.7 (of 1)"
    >>> print(in_words(OnLines()))
    Study: 2 trials
      mtc: tau 0.6
      rtc:map: tau 0.7 (of 1)
    """
    text = repr(result)
    # brackets end with the first line, where more lines may follow, or with the last
    closed, open_ = r"(\w+)\((.*)\)((?s:\n.*)?)", r"(\w+)\(((?s:.*))\)()"
    shown = re.fullmatch(closed, text) or re.fullmatch(open_, text)
    if shown is None:
        return text
    parts = re.sub(r"^( +)(\w+)\((.*)\)$", _named, shown[2], flags=re.MULTILINE)
    return f"{_spaced(shown[1]).capitalize()}: {parts}{shown[3]}"


def _named(part: re.Match[str]) -> str:
    return f"{part[1]}{_spaced(part[2])}: {part[3]}"


def _spaced(name: str) -> str:
    """Part the words of a class's name."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return words.replace("hold out", "hold-out")


def capital(text: str) -> str:
    """Begin a sentence with a capital, and leave the rest as it is.

    Examples
    --------
    >>> capital("it moves no P(better)")
    'It moves no P(better)'
    """
    return text[:1].upper() + text[1:]


def counted(number: int, thing: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> counted(1, "topic"), counted(1200, "document")
    ('1 topic', '1,200 documents')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def compared(difference: float, form: str) -> str:
    """Say how much higher or lower something is.

    Parameters
    ----------
    difference : float
        Its value, less what it is compared with.
    form : str
        Of the number, without a sign.

    Examples
    --------
    >>> compared(0.0371, ".3f"), compared(-0.189, ".1%"), compared(0.0, ".1%")
    ('0.037 higher', '18.9% lower', 'the same')
    """
    if not difference:
        return "the same"
    return f"{abs(difference):{form}} {'higher' if difference > 0.0 else 'lower'}"
