"""Modules and names of before: importing one says where it is now."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from rtc_bayes import errors
from rtc_bayes.errors import InputError

_NOW = {
    "calibration.studies": "calibration",
    "calibration.trial": "calibration",
    "calibration.truth": "trials.complete",
    "confidence.study": "confidence.setting",
    "judging.suggest": "judging.choosing",
    "relevance.calibration": "relevance.system_calibration",
    "reuse.planning": "reuse.design",
    "robustness.design": "trials.plan",
    "robustness.running": "trials.running",
    "robustness.scores": "trials.scores",
    "robustness.studies": "robustness",
    "robustness.trial": "trials.trial",
    "topics.solvers.greedy_tau": "topics.solvers.tau",
    "topics.stages": "topics.staged_allocation",
    "topics.unseen": "topics.unjudged",
    "workers.topics": "workers.threads",
    "workers.trials": "workers.processes",
}


class _Moved(MetaPathFinder):
    """Asked last, for what no other finder has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        now = _NOW.get(name.removeprefix("rtc_bayes."))
        if now and name.startswith("rtc_bayes."):
            # not in its own name, of which `from rtc_bayes.PACKAGE import MODULE` would say nothing
            raise ModuleNotFoundError(f"{name} is no more; see rtc_bayes.{now}", name=now)


sys.meta_path.append(_Moved())


def moved_names(
    package: str, now: Mapping[str, str], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """Make a package's ``__getattr__``, which says of names of before where they are now.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    now : mapping of str to str
        By the name of before, where to find it in rtc_bayes, such as ``"trials.Plan"``.
    otherwise : callable, optional
        The ``__getattr__`` of other names, of a package whose names load on first use.
    """

    def find(name: str) -> Any:
        if name in now:
            raise InputError(f"{package} has no {name}", remedy=f"use rtc_bayes.{now[name]}")
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


_FROM_ERRORS = {
    "checks": (
        "as_numbers",
        "brief_repr",
        "check_type",
        "check_word",
        "cut",
        "instead",
        "nearest",
        "real_number",
        "refuse_class",
        "whole_fields",
        "whole_number",
        "with_article",
    ),
    "signatures": ("Above", "explains_types", "moved", "options_of"),
}
# set from here, as errors is below this module and cannot import it
vars(errors)["__getattr__"] = moved_names(
    errors.__name__,
    {name: f"{now}.{name}" for now, names in _FROM_ERRORS.items() for name in names},
)
