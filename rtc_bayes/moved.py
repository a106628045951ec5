"""Modules of before: importing one says where its names are now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

_NOW = {
    "calibration.studies": "calibration",
    "calibration.trial": "calibration",
    "calibration.truth": "trials.complete",
    "confidence.study": "confidence.setting",
    "reuse.planning": "reuse.design",
    "robustness.design": "trials.plan",
    "robustness.running": "trials.running",
    "robustness.scores": "trials.scores",
    "robustness.studies": "robustness",
    "robustness.trial": "trials.trial",
    "topics.stages": "topics.staged_allocation",
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
