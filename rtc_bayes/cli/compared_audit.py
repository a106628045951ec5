"""The audit of a comparison: what was typed, read, and looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison
    from rtc_bayes.judging import Audit
    from rtc_bayes.measures import Estimand
    from rtc_bayes.measures.sampling import Sample


@dataclass(frozen=True)
class AuditFiles:
    """An audit's judgments and the log of looks at them, as they were typed."""

    audit: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.prels",
            help="Check the model by these judgments, drawn with known probabilities (prels) by "
            "`next --audit` with the same --seed.",
        ),
    ] = None
    audit_log: Annotated[
        str | None,
        typer.Option(
            metavar="LOG.json", help="Go on from the last look in this file, and add this one."
        ),
    ] = None

    def check(self, relevance: str | None, erels: str | None, measures: int) -> None:
        """Refuse a log without an audit or of several measures, and a fit that may have seen it."""
        if self.audit_log is not None and (self.audit is None or measures > 1):
            raise InputError(
                "--audit-log keeps the looks of one audit, of one measure",
                remedy="give --audit FILE.prels and one --measure",
            )
        if self.audit is not None and (relevance or erels) is not None:
            source = "--relevance" if erels is None else "--erels"
            raise InputError(
                f"--audit with {source}: its model may have seen the audit's judgments",
                remedy="give --qrels and the model, which is then fitted without them",
            )

    def inputs(self, sample: Sample, estimand: Estimand, seed: int) -> AuditInputs:
        """Read the last look; refuse before the fit what would be after it."""
        from rtc_bayes.judging import audit_order

        audit_order(sample, seed=seed)
        last = None if self.audit_log is None else _last_look(self.audit_log)
        if last is not None:
            last.check_same(systems=sample.judgments.pool.systems, measure=estimand.measure)
        return AuditInputs(sample, last)

    def log(self, look: Audit, meta: Mapping[str, object]) -> None:
        """Add a look to the log, if there is one."""
        from rtc_bayes.store import write_json

        if self.audit_log is not None:
            write_json(look.to_dict() | {"meta": meta}, self.audit_log)


@dataclass(frozen=True)
class AuditInputs:
    """An audit's judgments as a sample of the pool, and the last look at it, if there is one."""

    sample: Sample
    last: Audit | None

    def looks(
        self, compared: Sequence[Comparison], judgments: Judgments | None, seed: int
    ) -> tuple[list[Audit], Judgments | None]:
        """Check the model by the audit; return the looks, and all judgments with the audit's."""
        from rtc_bayes.judging import audit

        looks = [audit(each, self.sample, after=self.last, seed=seed) for each in compared]
        if judgments is not None:
            _, judgments = looks[0].beside(judgments)
        return looks, judgments


def _last_look(path: str) -> Audit | None:
    """Read the audit that a log holds; None where there is no log yet."""
    from rtc_bayes.judging import Audit
    from rtc_bayes.store.files import read_record

    if not Path(path).exists():
        return None
    try:
        return Audit.from_dict(read_record(path))
    except InputError as error:
        raise InputError(
            f"holds no audit ({error.message})", path=path, remedy="name another file"
        ) from error
