"""The report: one HTML file that needs nothing else, for a study or a demo."""

from __future__ import annotations

import base64
import html
import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from rtc_bayes.errors import InputError
from rtc_bayes.report import figures
from rtc_bayes.report.tables import UNDEFINED, to_html
from rtc_bayes.robustness.demonstration import Demo, is_demo
from rtc_bayes.robustness.scores import BINS
from rtc_bayes.robustness.studies import Study
from rtc_bayes.store import atomic_write

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_INPUTS = 4


def write_report(directory: str | Path, output: str | Path | None = None) -> Path:
    """Write the report of a study or a demo.

    Parameters
    ----------
    directory : str or Path
        What ``rtc-bayes robustness`` or ``rtc-bayes demo`` wrote.
    output : str or Path, optional
        The HTML file; by default ``report.html`` in `directory`.

    Returns
    -------
    Path
        Where it stands.

    Raises
    ------
    InputError
        The folder holds neither a finished study nor a demo.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, remedy="give what robustness or demo wrote")
    if is_demo(folder):
        title, body = "A demonstration", demo_body(Demo.load(folder))
    else:
        title, body = "Robustness study", study_body(Study.load(folder))
    target = folder / "report.html" if output is None else Path(output)
    template = Template((files("rtc_bayes.report") / "template.html").read_text("utf-8"))
    with atomic_write(target) as file:
        file.write(template.substitute(title=f"{title} – rtc-bayes", body=body))
    return target


def study_body(study: Study) -> str:
    """Return the report of a study, as HTML without its frame."""
    design = study.meta["study"]
    lead = (
        f"{_count(design['trials'], 'trial')}: judgments made for {design['initial']} systems "
        f"until their order was {design['confidence']:.0%} sure, then {design['systems']} systems "
        "compared by those judgments alone. Can the confidences be trusted?"
    )
    return "\n".join(
        [
            "<h1>Can a few judgments be reused?</h1>",
            f'<p class="lead">{html.escape(lead)}</p>',
            *study_sections(study),
            _provenance(study.meta),
        ]
    )


def study_sections(study: Study) -> list[str]:
    """Return what a study found: summary, accuracy by confidence, ranking, cost, tests."""
    example = _example(study)
    sections = [
        "<h2>Summary</h2>",
        _summary_table(study),
        "<p>W is what a bookmaker wins per bet who takes each confidence for his odds: 0 if "
        "confidences are exact, negative if they are too high; “W if exact” is what he would "
        "expect then. The log score is a mean negative log likelihood in nats: lower is better, "
        "and always saying one half scores 0.693. τ is Kendall’s correlation "
        "of the predicted with the true order of systems.</p>",
        "<h2>Accuracy by confidence</h2>",
        '<div class="figures">',
        _figure(
            figures.confidence_accuracy(study.pairs),
            "Accuracy of predicted signs against their confidence, by bin and algorithm, with the "
            "break-even line.",
            "Points below the dashed line are overconfident. Larger points hold more pairs; bars "
            "are 90% bootstrap intervals over trials.",
        ),
        "</div>",
        _bins_table(study),
        "<h2>Ranking</h2>",
        '<div class="figures">',
        _figure(
            figures.expected_against_true(study.systems),
            "Expected against true mean average precision of the systems of every trial, a panel "
            "for each algorithm.",
            "Every system of every trial, judged by a few documents and by all. Only the order "
            "counts: expected MAP has a scale of its own.",
        ),
    ]
    if example is not None:
        algorithm, trial, systems = example
        sections.append(
            _figure(
                figures.ranking(systems),
                f"Systems of trial {trial} ranked by {algorithm}, with 95% intervals and truth.",
                f"One trial (number {trial}, {algorithm}): expected MAP with a 95% interval, and "
                "the truth.",
            )
        )
    sections += [
        "</div>",
        "<h2>Judgments</h2>",
        '<div class="figures">',
        _figure(
            figures.judging_cost(study.trials),
            "Share of trials that ended within a number of judgments, by algorithm.",
            "How many judgments a trial took. ip takes as many as mtc did.",
        ),
        "</div>",
        _reasons_table(study.trials),
        *_unjudged_note(study.trials),
    ]
    tests = study.tests()
    if len(tests):
        sections += ["<h2>Differences between algorithms</h2>", _tests_table(tests)]
    return sections


def demo_body(demo: Demo) -> str:
    """Return the report of a demo, as HTML without its frame."""
    facts = demo.facts
    pairs = demo.pairs
    sure = pairs[pairs["confidence"] >= facts["confidence"]]
    right = int(sure["correct"].sum())
    lead = (
        f"A simulated collection of {facts['topics']} topics and {facts['collection_systems']} "
        f"systems. Judgments were made for two of them, {' and '.join(facts['judged_for'])}, "
        f"until their order was {facts['confidence']:.0%} sure. Those judgments then compare "
        f"{facts['systems']} systems."
    )
    return "\n".join(
        [
            "<h1>A few judgments, many systems</h1>",
            f'<p class="lead">{html.escape(lead)}</p>',
            _facts(
                [
                    (f"{facts['judged']:,}", f"judgments of {facts['pool_documents']:,} documents"),
                    (f"{len(sure)} of {len(pairs)}", f"pairs {facts['confidence']:.0%} sure"),
                    (f"{right} of {len(sure)}", "of those are right"),
                    (f"{facts['tau']:.2f}", "rank correlation (τ) with the truth"),
                ]
            ),
            "<h2>Who is better than whom</h2>",
            '<div class="figures">',
            _figure(
                figures.ranking(demo.systems),
                "Expected mean average precision of ten systems with 95% intervals and the truth.",
                "Expected MAP with its 95% interval beside the truth, which the method did not "
                "see. The order is what it predicts; few judgments do not give the scale. Bold: "
                "the systems judged for.",
            ),
            _figure(
                figures.confidence_matrix(pairs, list(demo.systems["system"])),
                "Probability that the system of the row is better than that of the column.",
                "Blue: the row is better. A frame marks a pair whose predicted order is wrong.",
            ),
            "</div>",
            "<h2>Where to look next</h2>",
            "<p>To be surer of all ten, judge these documents, the most informative first.</p>",
            to_html(demo.next, {"weight": ".3g"}, wide="why"),
            "<h2>What was judged</h2>",
            '<div class="figures">',
            _figure(
                figures.judgments_per_topic(demo.judgments),
                "Relevant and nonrelevant judgments of each topic.",
                f"{facts['judged']:,} judgments by {facts['algorithm']}; judging ended for the "
                f"reason: {facts['reason']}.",
            ),
            "</div>",
            "<h2>Can such confidences be trusted?</h2>",
            f"<p>The same again {_count(facts['trials'], 'time')}, each with other systems. So "
            "few trials show the form of a study and little more; the intervals say how "
            "little.</p>",
            *(
                section.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
                for section in study_sections(demo.study)
            ),
            _provenance(demo.meta),
        ]
    )


def _example(study: Study) -> tuple[str, int, pd.DataFrame] | None:
    """Return the first trial of the last algorithm that has a confidence."""
    confident = [text for text, found in study.summary.items() if found["W"] is not None]
    if not confident:
        return None
    trial = int(study.trials["trial"].iloc[0])
    systems = study.systems
    mine = systems[(systems["algorithm"] == confident[-1]) & (systems["trial"] == trial)]
    return confident[-1], trial, mine


_SUMMARY_ROWS: tuple[tuple[str, str, str], ...] = (
    ("W", "W", ".2f"),
    ("W, 90% interval", "W_interval", ".2f"),
    ("W, capped at .95", "W_capped", ".2f"),
    ("W if exact", "W_expected", ".2f"),
    ("log score", "log_score", ".3f"),
    ("mean confidence", "mean_confidence", ".1%"),
    ("accuracy", "accuracy", ".1%"),
    ("mean τ", "mean_tau", ".3f"),
    ("median judgments", "median_judged", ",.0f"),
    ("mean judgments", "mean_judged", ",.0f"),
    ("seconds per trial", "seconds_per_trial", ".1f"),
)


def _summary_table(study: Study) -> str:
    """One column for each algorithm: they are few, and their scores many."""
    import pandas as pd

    frame = pd.DataFrame({"": [label for label, _, _ in _SUMMARY_ROWS]})
    for text, found in study.summary.items():
        frame[text] = [_written(found[key], form) for _, key, form in _SUMMARY_ROWS]
    return to_html(frame)


def _written(value: object, form: str) -> str:
    """Write a number, or the two ends of an interval."""
    if value is None:
        return UNDEFINED
    ends = value if isinstance(value, list) else [value]
    return " to ".join(format(end, form) for end in ends).replace("-", "−")


def _bins_table(study: Study) -> str:
    import pandas as pd

    confident: dict[str, Any] = {
        text: found["bins"] for text, found in study.summary.items() if found["bins"] is not None
    }
    if not confident:
        return "<p>No algorithm of this study has a confidence.</p>"
    frame = pd.DataFrame({"confidence": [f"{low:.2f} to {high:.2f}" for low, high in BINS]})
    for text, bins in confident.items():
        frame[f"{text}: share"] = [entry["share"] for entry in bins]
        frame[f"{text}: right"] = [entry["accuracy"] for entry in bins]
    return to_html(
        frame,
        dict.fromkeys(frame.columns[1:], ".1%"),
        caption="Share of the pairs whose confidence lies in each bin (its upper end excluded, "
        "but for 1), and the share of those that are right.",
    )


def _reasons_table(trials: pd.DataFrame) -> str:
    counts = (
        trials.groupby(["algorithm", "reason"], sort=False)["judged"]
        .agg(["size", "median"])
        .reset_index()
        .set_axis(["algorithm", "judging ended because", "trials", "median judged"], axis=1)
    )
    return to_html(counts, {"median judged": ",.0f"})


def _unjudged_note(trials: pd.DataFrame) -> list[str]:
    """Name the trials that ended before they began."""
    unjudged = trials[(trials["judged"] == 0) & (trials["reason"] == "reached")]
    if unjudged.empty:
        return []
    counts = unjudged["algorithm"].value_counts(sort=False)
    listed = ", ".join(f"{text} {count}" for text, count in counts.items())
    return [
        '<p class="note">Trials that ended with no judgment at all: '
        f"{html.escape(listed)}. Where one list is much shorter, equal probabilities for all "
        "documents are enough to be sure of its loss.</p>"
    ]


def _tests_table(tests: pd.DataFrame) -> str:
    shown = tests.set_axis(
        [
            "first",
            "second",
            "trials",
            "judged: median difference",
            "p (Wilcoxon)",
            "τ: mean difference",
            "p (paired t)",
        ],
        axis=1,
    )
    formats = {
        "judged: median difference": "+,.0f",
        "τ: mean difference": "+.3f",
        "p (Wilcoxon)": ".2g",
        "p (paired t)": ".2g",
    }
    return to_html(shown, formats, caption="First less second, paired by trial.")


def _figure(figure: Figure, alternative: str, caption: str) -> str:
    encoded = base64.b64encode(figures.to_svg(figure).encode("utf-8")).decode("ascii")
    return (
        f'<figure><img alt="{html.escape(alternative)}" '
        f'src="data:image/svg+xml;base64,{encoded}">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f"<li><strong>{html.escape(value)}</strong><span>{html.escape(what)}</span></li>"
        for value, what in facts
    )
    return f'<ul class="facts">{items}</ul>'


def _provenance(meta: Mapping[str, Any]) -> str:
    """Say how the numbers were made."""
    entries = {
        "command": _code(meta["command"] or "from Python"),
        "rtc-bayes": html.escape(str(meta["version"])),
        "seed": html.escape(str(meta["seed"])),
    }
    design = meta.get("study")
    if design:
        entries["arguments"] = _code(
            " ".join(f"{key}={_argument(value)}" for key, value in design.items())
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
        entries["inputs"] = _code(", ".join(named)) + (f" and {more} more" if more else "")
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in entries.items())
    return f"<h2>How this was made</h2><dl>{listed}</dl>"


def _argument(value: object) -> str:
    return shlex.quote(",".join(map(str, value)) if isinstance(value, list) else str(value))


def _code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
