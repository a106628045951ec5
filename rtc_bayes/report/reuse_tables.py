"""Tables of hold-out designs and experiments, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtc_bayes.report.page import StudyTable
from rtc_bayes.report.tables import Format, probability
from rtc_bayes.report.terminal import Table
from rtc_bayes.reuse import design_table
from rtc_bayes.reuse.agreement import CELLS
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection.hold_out import HoldOutDesign
    from rtc_bayes.reuse import LossPosterior, Reusability
    from rtc_bayes.reuse.counts import Remainder

_NUMBERS: dict[str, Format] = {
    "baseline topics": ".1f",
    "reuse topics": ".1f",
    "chi-square": ".1f",
    "p, permuted": probability,
    "p, 3 df": probability,
    "p, exact": probability,
    "tau": ".3f",
    "loss": "+.4f",
    "sd": ".4f",
    "p": probability,
    "p, Holm": probability,
    "rmse": ".4f",
    "tau within": ".3f",
    "tau, as new": ".3f",
    "Hotelling's p": probability,
    "low": "+.4f",
    "high": "+.4f",
    "positive": ".2f",
    "within": ".2f",
    "contributed": ".4f",
    "held out": ".4f",
}


def plan_tables(
    design: HoldOutDesign,
    baseline_topics: int,
    on_remainder: Remainder,
    power: pd.DataFrame | None = None,
) -> list[Table]:
    """Show what each number of held-out groups buys, and what this design would find."""
    counts = design_table(
        len(design.groups),
        len(design.topics),
        baseline_topics=baseline_topics,
        on_remainder=on_remainder,
    )
    words = {
        "held": "held out",
        "baseline_topics": "topics for all",
        "within_baseline": "a group's baseline",
        "within_reuse": "its reuse",
        "between_reuse": "a pair's reuse",
        "participant": "one of a pair's",
        "power_within": "power within",
        "power_between": "between",
        "power_participant": "participant",
    }
    powers = ("power within", "between", "participant")
    formats: dict[str, Format] = {word: ".2f" if word in powers else "d" for word in words.values()}
    tables = [
        Table(
            f"Topics by groups held out of each, of {counted(len(design.topics), 'topic')} and "
            f"{len(design.groups)} groups; power of a pair's t-test, differences of 0.25 sd",
            counts[list(words)].rename(columns=words),
            formats,
        )
    ]
    if power is not None:
        tables.append(
            Table(
                "Losses that the test would find: power by simulation from the pilot",
                power.rename(columns={"held": "held out"}),
                {"held out": "d", "loss": ".0%", "power": ".2f", "se": ".2f"},
            )
        )
    return tables


def reuse_tables(result: Reusability, posterior: LossPosterior | None) -> list[StudyTable]:
    """Make the tables of a hold-out experiment: comparisons, groups, systems and posterior."""
    comparisons, groups, systems = result.comparisons(), result.by_group(), result.by_system()
    tables = [
        _table(
            "comparisons",
            "The three comparisons: pairs by significance on baseline and reuse topics",
            comparisons,
            _compared(comparisons),
        ),
        _table(
            "groups",
            "Groups: the loss where held out, and how well order is kept",
            groups,
            groups.rename(columns=_GROUP_WORDS),
        ),
        _table(
            "systems",
            "Systems: mean scores where they contributed and where held out, and the loss",
            systems,
            systems.rename(columns={"held_out": "held out"}),
        ),
    ]
    if posterior is not None:
        lost = posterior.summary()
        tables.insert(
            2,
            _table(
                "posterior",
                "The loss by the hierarchical model: mean, sd, 90% interval, probability that "
                "something is lost, and that it is less than a twentieth of the mean score either "
                "way",
                lost,
                lost.rename(columns={"reuse_topics": "reuse topics"}),
            ),
        )
    return tables


_GROUP_WORDS = {
    "baseline_topics": "baseline topics",
    "reuse_topics": "reuse topics",
    "p_holm": "p, Holm",
    "tau_within": "tau within",
    "tau_participant": "tau, as new",
    "p_hotelling": "Hotelling's p",
}


def _compared(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Write observed and expected numbers in one cell."""
    shown = comparisons[["comparison", "pairs", "baseline_topics", "reuse_topics"]].copy()
    shown.columns = ["comparison", "pairs", "baseline topics", "reuse topics"]
    for cell in CELLS:
        name = cell.replace(" ", "_")
        shown[cell] = [
            f"{observed:.0f} ({expected:.1f})"
            for observed, expected in zip(
                comparisons[f"observed_{name}"], comparisons[f"expected_{name}"], strict=True
            )
        ]
    words = {
        "chi_square": "chi-square",
        "p_permutation": "p, permuted",
        "p_chi_square": "p, 3 df",
        "p_exact": "p, exact",
        "tau": "tau",
    }
    return shown.assign(**{word: comparisons[name] for name, word in words.items()})


def _table(name: str, caption: str, data: pd.DataFrame, shown: pd.DataFrame) -> StudyTable:
    formats = {column: _NUMBERS[column] for column in shown.columns if column in _NUMBERS}
    if name != "comparisons":
        formats |= {each: "d" for each in ("baseline topics", "reuse topics") if each in shown}
    return StudyTable(name, caption, data, shown, formats)
