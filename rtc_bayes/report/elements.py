"""Pieces of an HTML page: figures, tables, facts, and how the numbers were made."""

from __future__ import annotations

import base64
import html
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rtc_bayes.report.drawing import figure_of, to_svg
from rtc_bayes.report.page import StudyTable
from rtc_bayes.report.tables import to_html
from rtc_bayes.store.shown import capital, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rtc_bayes.collection import Judgments

_INPUTS = 4


def figure(drawn: Figure | Axes, alternative: str, caption: str) -> str:
    """Embed a figure, or the one that holds these axes, with a text for who cannot see it."""
    encoded = base64.b64encode(to_svg(figure_of(drawn)).encode("utf-8")).decode("ascii")
    return (
        f'<figure><img alt="{html.escape(alternative)}" '
        f'src="data:image/svg+xml;base64,{encoded}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def figures_beside(*drawn: str) -> str:
    """Set figures beside each other where there is room."""
    return "\n".join(['<div class="figures">', *drawn, "</div>"])


def heading(text: str, level: int = 2) -> str:
    """Set a heading; level 1 is the page's."""
    return f"<h{level}>{html.escape(text, quote=False)}</h{level}>"


def measure_name(meta: Mapping[str, Any]) -> str:
    """Name a study's mean of its measure: ``MAP``, ``mean nDCG@10``."""
    return mean_of(meta.get("study", {}).get("measure", "AP"))


def mean_of(measure: str) -> str:
    """Name the mean of a measure over topics: ``MAP``, ``mean nDCG@10``."""
    return "MAP" if measure == "AP" else f"mean {measure}"


def measure_words(meta: Mapping[str, Any]) -> str:
    """Name it as in a sentence: ``mean average precision``."""
    return measure_name(meta).replace("MAP", "mean average precision")


def labels_words(judgments: Judgments) -> str:
    """Say how many labels are about documents of the pool, and how many of these they reach.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> labels = rb.Labels.of(["1", "1"], ["a", "typo"], ["llm", "llm"], [1, 0])
    >>> labels_words(rb.Judgments.none(pool).with_judge_labels(labels))
    "1 of 2 labels, of 1 of the pool's 2 documents, in 1 of 1 topic"
    """
    pool, labels = judgments.pool, judgments.judge_labels
    assert labels is not None
    within = labels.on(pool)
    many = counted(labels.n_labels, "label")
    some_of = "" if within.n_labels == labels.n_labels else f"{within.n_labels:,} of "
    return (
        f"{some_of}{many}, of {len(within.pairs().topic):,} of the pool's "
        f"{counted(pool.n_documents, 'document')}, in {len(within.topics)} of "
        f"{counted(pool.n_topics, 'topic')}"
    )


def facts(entries: Sequence[tuple[str, str]]) -> str:
    """List values, each with what it is."""
    items = "".join(
        f"<li><strong>{html.escape(value)}</strong><span>{html.escape(what)}</span></li>"
        for value, what in entries
    )
    return f'<ul class="facts">{items}</ul>'


def noted(text: str | None) -> list[str]:
    """Set a sentence, which begins with a capital here, as a note; nothing of none."""
    return [f'<p class="note">{html.escape(capital(text))}.</p>'] if text else []


def how_made(meta: Mapping[str, Any]) -> list[str]:
    """Say how the numbers were made, where that is known."""
    return [provenance(meta)] if "version" in meta else []


def provenance(meta: Mapping[str, Any]) -> str:
    """Say how the numbers were made."""
    entries = {
        "command": code(meta["command"] or "from Python"),
        "rtc-bayes": html.escape(str(meta["version"])),
    }
    if meta["seed"] is not None:
        entries["seed"] = html.escape(str(meta["seed"]))
    plan = meta.get("study")
    if plan:
        entries["arguments"] = code(
            " ".join(f"{key}={_argument(value)}" for key, value in plan.items())
        )
    if meta.get("moments"):
        entries["moments"] = html.escape(
            ", ".join(f"{text}: {kind}" for text, kind in meta["moments"].items())
        )
    packages = {"python": meta["python"], **meta["packages"]}
    entries["versions"] = html.escape(", ".join(f"{n} {v}" for n, v in packages.items()))
    inputs = meta["inputs"]
    if inputs:
        # every digest is in meta.json
        named = [f"{path} {digest[:12]}" for path, digest in list(inputs.items())[:_INPUTS]]
        more = len(inputs) - len(named)
        entries["inputs"] = code(", ".join(named)) + (f" and {more} more" if more else "")
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in entries.items())
    return f"{heading('How this was made')}<dl>{listed}</dl>"


def _argument(value: object) -> str:
    return shlex.quote(",".join(map(str, value)) if isinstance(value, list) else str(value))


def code(text: str) -> str:
    """Set a text as code."""
    return f"<code>{html.escape(text)}</code>"


def table(study_table: StudyTable) -> str:
    """Set a table of a study under its caption."""
    return to_html(study_table.shown, study_table.formats, caption=study_table.caption)


def folded(study_table: StudyTable, title: str, *, unfold: bool) -> str:
    """Set a table that shows when its title is clicked, or at once if `unfold`."""
    return (
        f"<details{' open' if unfold else ''}><summary>{html.escape(title)}</summary>"
        f"{table(study_table)}</details>"
    )
