"""The documents of an audit, as ``next --audit`` draws and shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rtc_bayes.cli.guarding import PRELS, lose_no_judgment
from rtc_bayes.cli.inputs import digests
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.cli.request import Request
    from rtc_bayes.collection import Prels, Qrels


def share_of(text: str) -> float:
    """Read the share of the pool that an audit draws."""
    try:
        return float(text)
    except ValueError:
        pass
    if Path(text).exists() or text.endswith(PRELS):
        raise InputError(
            f"--audit {text}: next draws an audit's documents, and needs their share of the pool",
            remedy="write --audit 0.02 -o FILE.prels to draw them; what is judged of them is "
            "checked by compare --audit FILE.prels",
        )
    try:
        meant = f"write --audit {float(text.removesuffix('%')) / 100.0:g}"
    except ValueError:
        meant = "write a share of the pool above 0, at most 1, as --audit 0.02"
    raise InputError(f"--audit {text} is no share", remedy=meant)


def show_audit(request: Request, share: float) -> None:
    """Write all documents of an audit, or show those to judge next."""
    from rtc_bayes.collection import Qrels
    from rtc_bayes.judging import audit_documents, audit_order, split_audit

    qrels = Qrels({}) if request.qrels is None else request.qrels
    # what is judged below the depth changes no draw
    pool = request.estimand.pool(request.systems)
    meta = request.meta(digests(request.systems, qrels))
    prels = audit_documents(pool, share, qrels, seed=request.seed)
    order = audit_order(split_audit(pool, prels).sample, seed=request.seed)
    title = (
        f"audit: {len(order.next)} of {counted(len(order.documents), 'document')} to judge, "
        f"seed {request.seed}"
    )
    if not len(order.documents):
        title += "; a larger share draws some"
    if request.kind == "prels":
        _write_audit(request, prels, qrels, meta, title)
    else:
        _show_first(request, order.to_frame(), meta, title)


def _write_audit(
    request: Request, prels: Prels, qrels: Qrels, meta: dict[str, Any], title: str
) -> None:
    """Write all documents of an audit."""
    from rtc_bayes.collection import write_prels
    from rtc_bayes.store import meta_path, write_json

    output, level = request.output, qrels.relevance_level
    assert output is not None
    lose_no_judgment(output, [qrels], "--qrels")
    write_prels(prels, output)
    of_level = {} if level is None else {"relevance_level": level}
    write_json(meta | of_level, meta_path(output))
    if not request.quiet:
        typer.echo(f"{title}\nin {output}")


def _show_first(
    request: Request, documents: pd.DataFrame, meta: dict[str, Any], title: str
) -> None:
    """Show the first of the documents that an audit has left to judge."""
    count = request.count
    if count < len(documents):
        first_alone = f"the first {count} are shown, and -o FILE.prels writes all"
        title += f"; {first_alone}"
        if request.kind != "table":
            warn(f"of {counted(len(documents), 'document')} {first_alone}")
    request.show(documents.head(count), meta, title)
