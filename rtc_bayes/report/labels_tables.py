"""The tables that the command `labels` prints."""

from __future__ import annotations

import numpy as np

from rtc_bayes.collection import Labels
from rtc_bayes.crowd import Aggregate, agreement, judge_table
from rtc_bayes.crowd.votes import Known
from rtc_bayes.errors import InputError
from rtc_bayes.report.tables import Format, with_interval
from rtc_bayes.report.terminal import Passage, Table
from rtc_bayes.store.shown import counted, in_words

_SHOWN = 15
_FORMATS: dict[str, Format] = {
    "labels": "d",
    "agrees": ".2f",
    "says relevant": ".2f",
    "accuracy (90% interval)": "",
    "sensitivity": ".2f",
    "specificity": ".2f",
}


def judges_tables(
    labels: Labels,
    made: Aggregate,
    *,
    relevance_level: int = 1,
    every: bool = False,
    human: Known | None = None,
) -> list[Table | Passage]:
    """Say what the labels are, how far judges agree, and what each is worth.

    Parameters
    ----------
    labels : Labels
    made : Aggregate
        Of these labels.
    relevance_level : int
        The lowest grade that is relevant.
    every : bool
        Show all judges, not those of the most labels.
    human : mapping of (topic, docno) to int, or Qrels, optional
        Grades that were known to the aggregation.
    """
    if human is not None:
        labels = labels.with_gold(human)
    binary = labels.at_level(relevance_level)
    said = _sentences(labels, binary, made, with_human=human is not None)
    raw, told = judge_table(binary), made.judges_frame()
    table = raw[["judge", "labels", "agrees"]].assign(**{"says relevant": raw["grade_1"]})
    accuracies = told[["accuracy", "accuracy_low", "accuracy_high"]].itertuples(index=False)
    table["accuracy (90% interval)"] = [
        with_interval(accuracy, ends, ".2f") for accuracy, *ends in accuracies
    ]
    for name in ("sensitivity", "specificity"):
        if name in told:
            table[name] = told[name]
    suspicious = int((raw["suspicious"] != "").sum())
    if suspicious:
        said.append(f"Suspicious: {suspicious} of {counted(len(raw), 'judge')}.")
        table["suspicious"] = raw["suspicious"]
    by = "shares of votes" if made.method == "mv" else made.method
    suspected = (raw["suspicious"] != "").to_numpy()
    if made.n_known and made.confusion is None:
        by = f"documents of known grade (and {by}, as two more)"
    title = f"Judges, and how often each is right, by {by}"
    if made.grades.shape[1] > 2:
        title += ", about the same grade (agrees and says relevant are of relevant or not)"
    if every or len(table) <= _SHOWN:
        table = table.sort_values("labels", ascending=False, kind="stable")
    else:
        first = "the suspicious, then " if suspicious else ""
        title += f" ({first}those of most labels, {_SHOWN} of {len(table)}; --judges shows all)"
        table = table.iloc[np.lexsort((-raw["labels"], ~suspected))[:_SHOWN]]
    return [Passage("Labels", tuple(said)), Table(title, table, _FORMATS)]


def _sentences(labels: Labels, binary: Labels, made: Aggregate, *, with_human: bool) -> list[str]:
    """Say what the labels are, what was left of them, and how far judges agree."""
    said = [f"{in_words(labels)}.", f"{in_words(made)}."]
    said[0] += _dropped(labels.n_dropped - labels.n_above, "blank or below 0, which is no label")
    said[0] += _dropped(labels.n_above, f"above {labels.n_grades - 1}, the highest grade")
    try:
        alpha = agreement(binary)
        said.append(
            f"Krippendorff's alpha of relevant or not: {alpha.value:.3f} ({alpha.low:.3f} to "
            f"{alpha.high:.3f}), of {counted(alpha.pairs, 'pair')} labelled by two judges or more."
        )
    except InputError as error:
        if len(labels.judges) > 1:
            said.append(f"No agreement to tell: {error}")
    if made.n_known:
        said.append(f"Grades given of {counted(made.n_known, 'labelled pair')}, taken as true.")
    aside = labels.gold.keys() - set(labels.pair_ids()) if with_human else ()
    if aside:
        said.append(
            f"Grades of {counted(len(aside), 'pair')} that nobody labelled say nothing here."
        )
    if not made.checked:
        rests = "rests on the model's prior alone" if made.draws is not None else "is not known"
        said.append(
            "No pair has labels of two judges, and no grade of a person is given: how often a "
            f"judge is right {rests}. Give grades of some pairs (--human), or labels of more "
            "judges."
        )
    return said


def _dropped(number: int, why: str) -> str:
    """Say how many labels were dropped, and why."""
    return f" {number:,} more {'was' if number == 1 else 'were'} dropped: {why}." if number else ""
