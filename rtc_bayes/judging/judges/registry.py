"""Finding judges: installed ones by name, a researcher's own by file.

Installed judges are those of the entry-point group ``rtc_bayes.judges``. A name that is no
judge's is a relevance model's, which then judges by a weight (:class:`~.weighted.ModelJudge`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path

from rtc_bayes.checks import instead
from rtc_bayes.errors import InputError, warn
from rtc_bayes.judging.judges.interface import Judge
from rtc_bayes.relevance.options import describe_options, with_options
from rtc_bayes.store.plugins import JUDGES, class_at, classes_in, ignored, installed, is_file

_ATTRIBUTES = ("name", "has_confidence", "start")


def available_judges() -> list[str]:
    """List the names of the installed judges.

    Examples
    --------
    >>> from rtc_bayes.judging.judges import available_judges
    >>> {"ip", "mtc"} <= set(available_judges())
    True
    """
    return sorted(installed(JUDGES))


def judge_class(name_or_path: str | Path, *, digest: str | None = None) -> type[Judge] | None:
    """Find a judge's class by its name or file; None where there is no such judge.

    Parameters
    ----------
    name_or_path : str or Path
        An installed judge, or a file whose name ends in ``.py``.
    digest : str, optional
        The SHA-256 that the file had; another now is an error.

    Raises
    ------
    InputError
        A file that does not run, or that holds several judges, or one that is no frozen dataclass.

    Examples
    --------
    >>> from rtc_bayes.judging.judges import judge_class
    >>> judge_class("mtc").__name__, judge_class("rtc")
    ('MTC', None)
    """
    if not is_file(name_or_path):
        names = installed(JUDGES)
        if str(name_or_path) not in names:
            return None
        for said in ignored(JUDGES, str(name_or_path)):
            warn(said)
        return class_at(names[str(name_or_path)])
    classes = classes_in(name_or_path, _ATTRIBUTES, digest)
    if len(classes) > 1:
        present = ", ".join(judge.__name__ for judge in classes)
        raise InputError(
            f"a judge's file holds exactly one judge, this one {present}",
            path=name_or_path,
            remedy=f"keep one class with {', '.join(_ATTRIBUTES)}",
        )
    for judge in classes:
        if not is_dataclass(judge) or not judge.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            raise InputError(
                f"class {judge.__name__} is not a judge",
                path=name_or_path,
                remedy="put @dataclass(frozen=True) above it",
            )
        describe_options(judge, name_or_path)
    return classes[0] if classes else None


def load_judge(
    name_or_path: str | Path,
    options: Mapping[str, object] | None = None,
    *,
    digest: str | None = None,
) -> Judge:
    """Make a judge from its name or file and its options.

    Parameters
    ----------
    name_or_path, digest
        As of :func:`judge_class`.
    options : mapping of str to object, optional
        By name; text is read by the option's type.

    Raises
    ------
    InputError
        No such judge, no such option, or a value that it does not take.

    Examples
    --------
    >>> from rtc_bayes.judging.judges import load_judge
    >>> load_judge("mtc", {"weight": "evr", "floor": "1"})
    MTC(weight='evr', floor=1, least=0.0)
    """
    judge = judge_class(name_or_path, digest=digest)
    if judge is None:
        names_of = instead(str(name_or_path), available_judges())
        raise InputError(
            f"no judge {str(name_or_path)!r}",
            remedy=f"{names_of}, or the path of a FILE.py with one",
        )
    return with_options(judge, options or {})
