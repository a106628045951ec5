"""What `compare` found, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rtc_bayes.cli.inputs import show_page

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.judging import Audit
    from rtc_bayes.report.terminal import Passage, Table


@dataclass(frozen=True)
class ComparedResult:
    """What is written: a comparison for each measure, and what stands beside it.

    `by_topic` and `audits` are empty, or have one for each comparison. `judgments` are over the
    pool, with those of the audit.
    """

    compared: list[Comparison]
    by_topic: list[pd.DataFrame]
    judgments: Judgments | None
    meta: dict[str, Any]
    audits: Sequence[Audit] = ()

    def write_json(self, output: str | None) -> None:
        """Write the comparison as JSON; of several measures, a list."""
        from rtc_bayes.report.terminal import write_value
        from rtc_bayes.store import rows_of

        written = [each.to_dict() for each in self.compared]
        for entry, look in zip(written, self.audits, strict=False):
            entry["audit"] = look.to_dict()
        for entry, frame in zip(written, self.by_topic, strict=False):
            entry["per_topic"] = rows_of(frame)
        write_value(written[0] if len(written) == 1 else written, output, None)

    def write_csv(self, output: str | None, *, ranks: bool) -> None:
        """Write the one table that was asked for: of topics, quantities, systems or pairs."""
        from rtc_bayes.confidence.comparisons import stacked
        from rtc_bayes.report.terminal import write_frame

        frames = (
            self.by_topic
            or [look.to_frame() for look in self.audits]
            or [each.systems_frame() if ranks else each.to_frame() for each in self.compared]
        )
        write_frame(stacked([each.measure for each in self.compared], frames), output, self.meta)

    def write_page(self, output: str | None, *, algorithm: str | None, quiet: bool) -> None:
        """Write the page; `algorithm` is what chooses documents to judge next."""
        from rtc_bayes.confidence.page_and_tables import page_of

        page = page_of(
            self.compared, output, self.judgments, algorithm=algorithm, audit=self.audits
        )
        show_page(page, output, self.meta, quiet=quiet)

    def write_tables(
        self,
        output: str | None,
        kind: Literal["table", "latex", "markdown"],
        *,
        baseline: str | None,
        seed: int,
    ) -> None:
        """Write tables as people read them."""
        from rtc_bayes.report.terminal import write_tables

        tables = self._tables(baseline, seed, for_paper=kind != "table")
        write_tables(list(tables), output, self.meta, kind)

    def _tables(
        self, baseline: str | None, seed: int, *, for_paper: bool
    ) -> Iterator[Table | Passage]:
        """Make the tables of each comparison, then those of topics, then those of audits."""
        from rtc_bayes.report.audit_section import audit_tables
        from rtc_bayes.report.command_tables import comparison_tables, topic_tables

        for each in self.compared:
            yield from comparison_tables(
                each, self.judgments, baseline=baseline, seed=seed, for_paper=for_paper
            )
        for frame in self.by_topic:
            yield from topic_tables(frame)
        for look in self.audits:
            yield from audit_tables(look)
