"""The tables of a robustness study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rtc_bayes.report.page import StudyTable, by_name
from rtc_bayes.report.tables import UNDEFINED, Format, number, with_interval
from rtc_bayes.robustness.breakdown import SURE, judged_limits
from rtc_bayes.trials.scores import BINS

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.robustness import Study

_SUMMARY_ROWS: tuple[tuple[str, str, str], ...] = (
    ("W", "W", ".2f"),
    ("W, 90% interval", "W_interval", ".2f"),
    ("W, capped at 0.95", "W_capped", ".2f"),
    ("W if exact", "W_expected", ".2f"),
    ("log score", "log_score", ".3f"),
    ("log score, 90% interval", "log_score_interval", ".3f"),
    ("mean confidence", "mean_confidence", ".1%"),
    ("accuracy", "accuracy", ".1%"),
    ("mean τ", "mean_tau", ".3f"),
    ("mean τ, 90% interval", "tau_interval", ".3f"),
    ("median judgments", "median_judged", ",g"),
    ("mean judgments", "mean_judged", ",.0f"),
    ("seconds per trial", "seconds_per_trial", ".1f"),
)
_FAILED_ROW = ("trials whose fits failed", "failed", ",d")
_SMALLEST_P = 0.0001
_CONFIDENCE = [f"{low:.2f} to {high:.2f}" for low, high in BINS]


def study_tables(study: Study, *, breakdowns: bool = True) -> dict[str, StudyTable]:
    """Return the tables of a study by name, in the order of the report; empty ones are left out.

    Parameters
    ----------
    study : Study
    breakdowns : bool
        Whether to score groups of pairs too.
    """
    tables = [_summary(study), _bins(study)]
    # a study of equally good systems has no pairs
    if breakdowns and len(study.pairs):
        original, overlap = study.by_original(), study.by_overlap()
        tables += [
            # Carterette 2007, Table 3
            _scores(
                "original",
                "Pairs by how many of the two are original systems, for which judgments were made.",
                original,
            ),
            _group_bins("original-bins", original),
            # Table 4
            _scores(
                "overlap",
                "Pairs by the mean share of documents that both systems retrieved for a topic.",
                overlap,
            ),
            _group_bins("overlap-bins", overlap),
            _judged(study),
        ]
        # an earlier version did not keep it
        if study.pairs["imbalance"].notna().all():
            tables += [
                _scores(
                    "imbalance",
                    "Pairs by how unevenly their two lists are judged: the judged documents in the "
                    "list that has more, over those in one plus those in the other (0.5: as many "
                    "in either).",
                    study.by_imbalance(),
                ),
                _scores(
                    "initial-imbalance",
                    "Pairs by how unevenly the lists of their trial’s initial systems are judged, "
                    "counted in the same way.",
                    study.by_initial_imbalance(),
                ),
            ]
    tables += [_reasons(study), _tests(study), _failures(study)]
    return by_name(tables)


def _summary(study: Study) -> StudyTable:
    """One column for each algorithm: they are few, and their scores many."""
    import pandas as pd

    failed = any(entry.get("failed") for entry in study.summary.values())
    lines = (*_SUMMARY_ROWS, _FAILED_ROW) if failed else _SUMMARY_ROWS
    shown = pd.DataFrame({"": [label for label, _, _ in lines]})
    for text, entry in study.summary.items():
        # a study finished by an earlier version may lack an interval
        shown[text] = [_written(entry.get(key), form) for _, key, form in lines]
    rows = []
    for text, entry in study.summary.items():
        row: dict[str, object] = {"algorithm": text}
        for key, value in entry.items():
            if key.endswith("_interval"):
                stem = key.removesuffix("_interval")
                row[f"{stem}_low"], row[f"{stem}_high"] = value or (None, None)
            elif key != "bins":
                row[key] = value
        rows.append(row)
    return StudyTable(
        "summary",
        f"Scores over {study.meta['study']['trials']:,} trials.",
        pd.DataFrame(rows),
        shown,
    )


def _bins(study: Study) -> StudyTable:
    """Accuracy by confidence (Carterette 2007, Table 2)."""
    import pandas as pd

    confident = {
        text: entry["bins"] for text, entry in study.summary.items() if entry["bins"] is not None
    }
    data = pd.DataFrame(
        [{"algorithm": text, **entry} for text, bins in confident.items() for entry in bins]
    )
    shown = pd.DataFrame({"confidence": _CONFIDENCE})
    for text, bins in confident.items():
        shown[text] = [_right_and_share(entry["accuracy"], entry["share"]) for entry in bins]
    return StudyTable(
        "bins",
        "Share of the pairs of each confidence (upper end excluded, but for 1) whose predicted "
        "sign is right; in brackets, the share of all pairs that they are.",
        data,
        shown,
    )


def _judged(study: Study) -> StudyTable:
    """Pairs by the judgments of their trial (Carterette 2007, section 5)."""
    data = study.by_judged()
    limits = judged_limits(study.succeeded)
    written = []
    for algorithm in dict.fromkeys(data["algorithm"]):
        # counts are whole: at most 94.6 is at most 94
        least, median = map(math.floor, limits.loc[algorithm])
        written += [f"≤ {least:,}", f"≤ {median:,}", f"> {median:,}"]
    table = _scores(
        "judged",
        "Pairs of the tenth of the trials with the fewest judgments, of the rest up to the "
        "median, and of those above it; each algorithm by its own trials.",
        data,
    )
    table.shown.insert(2, "judgments", written)
    return table


def _reasons(study: Study) -> StudyTable:
    """Why judging ended, and what it took."""
    data = (
        study.trials.groupby(["algorithm", "reason"], sort=False)["judged"]
        .agg(trials="size", median_judged="median", mean_judged="mean", most_judged="max")
        .reindex(list(study.summary), level="algorithm")
        .reset_index()
    )
    shown = data.set_axis(
        ["algorithm", "judging ended because", "trials", "median judged", "mean", "most"], axis=1
    ).assign(algorithm=_once(data["algorithm"]))
    formats = {"median judged": ",g", "mean": ",.0f", "most": ",.0f"}
    return StudyTable("reasons", "Why judging ended.", data, shown, formats)


def _failures(study: Study) -> StudyTable:
    """Which fits must not be used, and why."""
    data = study.trials.dropna(subset=["failure"])[["algorithm", "trial", "judged", "failure"]]
    shown = data.assign(algorithm=_once(data["algorithm"]))
    return StudyTable(
        "failures", "Fits that must not be used, and why.", data, shown, {"judged": ",.0f"}
    )


def _tests(study: Study) -> StudyTable:
    """Paired tests between algorithms (Carterette 2007, section 4.4.1)."""
    data = study.tests()
    shown = data.set_axis(
        [
            "first",
            "second",
            "trials",
            "judged: median difference",
            "p (Wilcoxon)",
            "judged: mean difference",
            "p (t)",
            "τ: mean difference",
            "p (t of τ)",
        ],
        axis=1,
    )
    formats: dict[str, Format] = {
        **dict.fromkeys(["judged: median difference", "judged: mean difference"], "+,.0f"),
        "τ: mean difference": "+.3f",
        **dict.fromkeys(["p (Wilcoxon)", "p (t)", "p (t of τ)"], _p_value),
    }
    return StudyTable(
        "tests",
        "First less second, paired by trial: Wilcoxon’s signed-rank test and the paired t-test of "
        "judgments, and the paired t-test of τ.",
        data,
        shown,
        formats,
    )


def _scores(name: str, caption: str, data: pd.DataFrame) -> StudyTable:
    import pandas as pd

    sure = f"confidence ≥ {SURE:g}"
    shown = pd.DataFrame(
        {
            "algorithm": _once(data["algorithm"]),
            "group": data["group"],
            "pairs": data["pairs"],
            "accuracy": data["accuracy"],
            sure: data["sure_share"],
            "of these right": data["sure_accuracy"],
            "W (90% interval)": [
                with_interval(row.W, (row.W_low, row.W_high), ".2f") for row in data.itertuples()
            ],
        }
    )
    formats = {"pairs": ",d", **dict.fromkeys(["accuracy", sure, "of these right"], ".1%")}
    return StudyTable(name, caption, data, shown, formats)


def _group_bins(name: str, data: pd.DataFrame) -> StudyTable:
    """Accuracy by confidence in each group, of the algorithms that have a confidence."""
    import pandas as pd

    groups = list(dict.fromkeys(data["group"]))
    tidy, shown = [], []
    for algorithm, mine in data.dropna(subset=["W"]).groupby("algorithm", sort=False):
        by_group = mine.set_index("group")
        for (low, high), written in zip(BINS, _CONFIDENCE, strict=True):
            line = {"algorithm": algorithm if low == BINS[0][0] else "", "confidence": written}
            for group in groups:
                share, accuracy = None, None
                if group in by_group.index:
                    share = by_group.loc[group, f"share_{low:g}"]
                    accuracy = by_group.loc[group, f"accuracy_{low:g}"]
                line[group] = _right_and_share(accuracy, share)
                tidy.append(
                    {
                        "algorithm": algorithm,
                        "group": group,
                        "low": low,
                        "high": high,
                        "share": share,
                        "accuracy": accuracy,
                    }
                )
            shown.append(line)
    return StudyTable(
        name,
        "Share of the pairs of each group and confidence whose predicted sign is right; in "
        "brackets, the share of the group that they are.",
        pd.DataFrame(tidy),
        pd.DataFrame(shown),
    )


def _once(names: Sequence[str]) -> list[str]:
    """Name what several rows share in the first of them only."""
    shown, before = [], None
    for name in names:
        shown.append("" if name == before else name)
        before = name
    return shown


def _written(value: float | Sequence[float] | None, form: str) -> str:
    """Write a number, or the two ends of an interval."""
    if value is None:
        return UNDEFINED
    ends = [value] if isinstance(value, int | float) else value
    return " to ".join(number(end, form) for end in ends)


def _right_and_share(accuracy: float | None, share: float | None) -> str:
    if not share:
        return UNDEFINED
    return f"{accuracy:.1%} ({share:.1%})"


def _p_value(value: float) -> str:
    return f"{value:.2g}" if value >= _SMALLEST_P else f"< {_SMALLEST_P:g}"
