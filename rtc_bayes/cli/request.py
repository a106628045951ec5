"""What the questions that ``next`` answers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtc_bayes.cli.arguments import LabelFiles
from rtc_bayes.cli.inputs import read_judgments

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
    from rtc_bayes.measures.estimand import Estimand
    from rtc_bayes.report.tables import Format


@dataclass(frozen=True)
class Request:
    """What was read, how many rows are asked for, and where they go.

    `kind` is a format, or "prels".
    """

    systems: Runs
    qrels: Qrels | None
    labels: LabelFiles
    judged_for: str | None
    estimand: Estimand
    count: int
    seed: int
    kind: str
    output: str | None
    quiet: bool

    def pool(self) -> Pool:
        """Pool the runs; what is judged is looked for below the depth, too."""
        return self.estimand.pool(self.systems, self.qrels)

    def judgments(self, pool: Pool) -> Judgments:
        """Read the judgments, of which there may be none yet."""
        return read_judgments(
            self.estimand, pool, self.qrels, self.labels, self.judged_for, begin=True
        )

    def meta(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        """Return the provenance of an answer, made from these files."""
        from rtc_bayes.store import provenance

        return provenance(seed=self.seed, inputs=inputs)

    def show(self, frame: pd.DataFrame, meta: Mapping[str, Any], title: str) -> None:
        """Write what to judge, in the layout asked for."""
        from rtc_bayes.report.next_documents import DOCUMENT_FORMATS
        from rtc_bayes.report.terminal import show_frame

        formats: dict[str, Format] = {
            **DOCUMENT_FORMATS,
            "rho": ".3f",
            "probability": ".3g",
            "relevant": ".3f",
            "gain": ".3g",
            "cost": "g",
            "gain_per_cost": ".3g",
        }
        show_frame(frame, self.kind, self.output, meta, title, formats)
