"""The report of a calibration study."""

from __future__ import annotations

import html
from collections.abc import Mapping

import pandas as pd

from rtc_bayes.calibration import CalibrationStudy
from rtc_bayes.report import calibration_figures, figures
from rtc_bayes.report.elements import (
    facts,
    figure,
    figures_beside,
    folded,
    heading,
    measure_name,
    noted,
    provenance,
    table,
)
from rtc_bayes.report.page import Page, StudyTable, by_name
from rtc_bayes.report.tables import Format, number, with_interval
from rtc_bayes.store.shown import counted

_SCORES = {
    "group": "documents",
    "documents": "how many",
    "mean_p": "mean p",
    "share": "share relevant",
    "brier": "Brier score",
    "miscalibration": "of it miscalibration",
    "discrimination": "discrimination",
    "uncertainty": "uncertainty",
    "log_score": "log score",
}
_FORMATS: dict[str, Format] = {
    "how many": ",d",
    **dict.fromkeys(["mean p", "share relevant", "log score"], ".3f"),
    **dict.fromkeys(
        ["Brier score", "of it miscalibration", "discrimination", "uncertainty"], ".4f"
    ),
}
_GROUPINGS = {
    "rank": "Unjudged documents by their best rank in any list.",
    "seen": "Unjudged documents by who retrieved them.",
    "topic": "Unjudged documents by topic.",
}
_TRUTHS = {"at_depth": "lists as cut", "whole_list": "whole lists"}


def calibration_page(study: CalibrationStudy) -> Page:
    """Make the page of a study."""
    tables = by_name(
        [
            *(_relevance(study, by) for by in ("all", *_GROUPINGS)),
            _confidence(study),
            _coverage(study),
            _bias(study),
            _checks(study),
            _failures(study),
        ]
    )
    plan, summary = study.meta["study"], study.summary
    until = f"until their order was {plan['confidence']:.0%} sure"
    if plan.get("budgets"):
        until = f"until {plan['budgets'][0]} were made"
    lead = (
        f"{counted(plan['trials'], 'trial')} of {summary['model']}, fitted by {summary['method']}: "
        f"judgments made by {summary['algorithm']} for {plan['initial']} systems {until}, then all "
        f"that the model says of {plan['systems']} systems held to the truth."
    )
    sections = [heading("Are the numbers right?", 1), f'<p class="lead">{html.escape(lead)}</p>']
    if study.unjudged_text:
        said = f"{study.unjudged_text}. Nothing was learned in them."
        sections.append(f'<p class="note">{said}</p>')
    sections += [*noted(study.unchecked_text), *noted(study.relevant_text)]
    if summary["relevance"] is not None:
        sections += _sections(study, tables)
    if "failures" in tables:
        sections += [heading("Fits that failed"), table(tables["failures"])]
    sections.append(provenance(study.meta))
    return Page("Calibration study", "\n".join(sections), tables)


def _sections(study: CalibrationStudy, tables: Mapping[str, StudyTable]) -> list[str]:
    measure = measure_name(study.meta)
    return [
        _facts(study),
        heading("Probabilities of relevance"),
        "<p>Of the unjudged documents with probability 0.2, a fifth should be relevant.</p>",
        figures_beside(
            figure(
                calibration_figures.reliability_curve(study.reliability),
                "Share of relevant documents against their probability of relevance, with "
                "the band of reliable probabilities.",
                "Below the dashed line, documents are relevant less often than their "
                "probabilities say. The bars at the bottom show where the documents are. "
                "The scales are of the root of p. The curve is fitted as rising (PAVA).",
            )
        ),
        table(tables["relevance-all"]),
        "<p>The Brier score is the mean of (p − y)²: miscalibration, which a curve drawn "
        "through the probabilities would mend, less discrimination, what they tell of one "
        "document against another, plus uncertainty, the score of always saying the overall "
        "share. The log score is a mean negative log likelihood in nats.</p>",
        table(tables["relevance-rank"]),
        table(tables["relevance-seen"]),
        folded(tables["relevance-topic"], "By topic", unfold=False),
        heading(f"Intervals of {measure} and of differences"),
        figures_beside(
            figure(
                calibration_figures.interval_coverage(study.systems, measure=measure),
                "Share of truths inside central intervals against the level of the interval.",
                "Below the dashed line intervals are too narrow or off their place, above it "
                f"too wide. Left, {measure} of systems; right, differences of pairs.",
            )
        ),
        table(tables["coverage"]),
        table(tables["bias"]),
        heading("Confidence in the sign of a difference"),
        *_confidence_section(study, tables),
        *_predictive_section(study, tables),
    ]


def _facts(study: CalibrationStudy) -> str:
    summary = study.summary
    relevance, confidence = summary["relevance"], summary["confidence"]
    ninety_five = next(
        row
        for row in summary["coverage"]
        if (row["quantity"], row["level"]) == ("difference", 0.95)
    )
    return facts(
        [
            (f"{summary['median_judged']:,g}", "judgments (median of trials)"),
            (
                f"{relevance['mean_p']:.3f}",
                f"mean probability, where a share of {relevance['share']:.3f} is relevant",
            ),
            (number(confidence["W"], ".2f"), "W (0: confidences exact; below: too high)"),
            (
                f"{ninety_five['whole_list']:.0%}",
                "of differences in their 95% interval by a normal",
            ),
        ]
    )


def _confidence_section(study: CalibrationStudy, tables: Mapping[str, StudyTable]) -> list[str]:
    if "confidence" not in tables:
        return ["<p>No two systems of these trials differ.</p>"]
    named = study.pairs.assign(algorithm=study.summary["model"])
    return [
        figures_beside(
            figure(
                figures.confidence_accuracy(named, seed=study.meta["study"]["seed"]),
                "Accuracy of predicted signs against their confidence, by bin, with the "
                "break-even line.",
                "Points below the dashed line are overconfident. Larger points hold more pairs; "
                "bars are 90% bootstrap intervals over trials.",
            )
        ),
        table(tables["confidence"]),
    ]


def _predictive_section(study: CalibrationStudy, tables: Mapping[str, StudyTable]) -> list[str]:
    if "checks" not in tables:
        return []
    loo = study.summary["leave_one_out"]
    if loo is None:
        text = (
            "Leaving one judgment out is withheld: each part of this model has a likelihood of "
            "its own over the same judgments, so there is no one density to leave it out of."
        )
    else:
        text = (
            f"Leaving one judgment out, the log score of the judged documents is "
            f"{loo['log_score']:.3f}; {loo['unreliable_share']:.1%} of these have importance "
            "weights that are not to be relied upon (Pareto k above 0.7)."
        )
    return [
        heading("Would the model have made such judgments?"),
        table(tables["checks"]),
        f"<p>{html.escape(text)}</p>",
    ]


def _relevance(study: CalibrationStudy, by: str) -> StudyTable:
    data = study.relevance[study.relevance["by"] == by].drop(columns="by").reset_index(drop=True)
    shown = data[list(_SCORES)].rename(columns=_SCORES)
    if by != "all":
        shown = shown.drop(columns="uncertainty")
    expected = [
        f"{low:.3f} to {high:.3f}"
        for low, high in zip(data["share_low"], data["share_high"], strict=True)
    ]
    shown.insert(4, "90%, were p right", expected)
    caption = _GROUPINGS.get(by, f"All unjudged documents of {study.summary['trials']} trials.")
    return StudyTable(f"relevance-{by}", caption, data, shown, _FORMATS)


def _confidence(study: CalibrationStudy) -> StudyTable:
    scores = study.summary["confidence"]
    rows = {
        "W (90% interval)": with_interval(scores["W"], scores["W_interval"], ".2f"),
        "W, capped at 0.95": number(scores["W_capped"], ".2f"),
        "W if exact": number(scores["W_expected"], ".2f"),
        "log score": with_interval(scores["log_score"], scores["log_score_interval"], ".3f"),
        "mean confidence": number(scores["mean_confidence"], ".1%"),
        "accuracy": number(scores["accuracy"], ".1%"),
        "mean τ": with_interval(study.summary["mean_tau"], study.summary["tau_interval"], ".3f"),
        "pairs": number(scores["pairs"], ",d"),
    }
    simple = {key: value for key, value in scores.items() if not isinstance(value, list)}
    return StudyTable(
        "confidence",
        "Scores of the confidences of all pairs that truly differ.",
        pd.DataFrame([simple] if scores["pairs"] else []),
        pd.DataFrame({"": list(rows), study.summary["model"]: list(rows.values())}),
    )


def _coverage(study: CalibrationStudy) -> StudyTable:
    data = study.coverage
    shown = pd.DataFrame(
        {
            "interval of": _quantities(study, data),
            "level": data["level"],
            **{f"truth: {what}": _shares(data, name) for name, what in _TRUTHS.items()},
            "how many": data["n"],
        }
    )
    return StudyTable(
        "coverage",
        "Share of truths in central intervals; in brackets, 90% bootstrap over trials.",
        data,
        shown,
        {"level": ".0%", "how many": ",d"},
    )


def _bias(study: CalibrationStudy) -> StudyTable:
    data = study.bias
    shown = pd.DataFrame(
        {
            "of": _quantities(study, data),
            "truth": data["truth"].map(_TRUTHS),
            "bias": [
                with_interval(row.bias, (row.bias_low, row.bias_high), "+.4f")
                for row in data.itertuples()
            ],
            "root mean square error": data["rmse"],
            "sd": data["mean_sd"],
        }
    )
    return StudyTable(
        "bias",
        "Expected less true. Differences are turned so that the true one is positive. If there "
        "is no bias and the sd are right, the error and the sd agree.",
        data,
        shown,
        dict.fromkeys(["root mean square error", "sd"], ".4f"),
    )


def _checks(study: CalibrationStudy) -> StudyTable:
    data = pd.DataFrame(study.summary["checks"])
    shown = pd.DataFrame()
    if len(data):
        shown = pd.DataFrame(
            {
                "judged": data["statistic"],
                "checks": data["checks"],
                "fewer than the model would": data["share_low"],
                "more than it would": data["share_high"],
            }
        )
    return StudyTable(
        "checks",
        "Share of checks in which the judgments made lie in the lower or upper 5% of those that "
        "the model would make; about 5% or less is well.",
        data,
        shown,
        {
            "checks": ",d",
            **dict.fromkeys(["fewer than the model would", "more than it would"], ".1%"),
        },
    )


def _failures(study: CalibrationStudy) -> StudyTable:
    data = study.trials.dropna(subset=["failure"])[["trial", "judged", "failure"]]
    return StudyTable(
        "failures",
        "Fits that must not be used, and why. These trials count in nothing else.",
        data,
        data,
        {"judged": ",.0f"},
    )


def _quantities(study: CalibrationStudy, data: pd.DataFrame) -> pd.Series:
    return data["quantity"].map({"score": measure_name(study.meta), "difference": "difference"})


def _shares(data: pd.DataFrame, name: str) -> list[str]:
    ends = zip(data[name], data[f"{name}_low"], data[f"{name}_high"], strict=True)
    return [with_interval(value, (low, high), ".0%") for value, low, high in ends]
