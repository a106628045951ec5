"""Set the 2007 paper's tables beside what the studies of run.py found, as Markdown.

Usage: python -m experiments.robustness.page DIR [--figures docs/figures]
       > docs/results/robustness.md

DIR is what run.py wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.common import BIN_NAMES, draw_confidence, page_options
from experiments.robustness import published
from experiments.robustness.run import CHOSEN, STUDIES
from rtc_bayes.report.tables import UNDEFINED, number, to_markdown, with_interval
from rtc_bayes.robustness import Study, side_by_side
from rtc_bayes.trials.scores import BINS, winnings

RTC, MTC = "rtc:map", "mtc"
MEASURED = {
    "trec8": "as published",
    "trec8-exact": "exact moments",
    "trec8-padded": "padded lists",
}


def main() -> None:
    options = page_options(__doc__)
    studies = {name: Study.load(options.directory / name) for name in STUDIES}
    if options.figures:
        path = options.figures / "robustness-trec8.png"
        draw_confidence(studies["trec8"].pairs, {MTC: MTC, RTC: RTC}, path, published.FIGURE_LEAST)
    print(page(studies))


def page(studies: Mapping[str, Study]) -> str:
    """Return every table with its heading."""
    trec8 = studies["trec8"]
    commands = "\n".join(f"    {study.meta['command']}" for study in studies.values())
    sections = {
        "Tables 2 and 5: RTC": collections_table(studies, RTC),
        "Table 2: MTC": collections_table(studies, MTC),
        "Table 5: other collections": published_collections(),
        "Every algorithm of every study": scores_table(studies),
        "Table 3: original and new systems": groups_table(studies, "by_original", RTC),
        "Table 4: pairs that share few documents": groups_table(studies, "by_overlap", RTC),
        "Section 5, in the text": claims_table(studies),
        "Overfitting: one list judged more than the other": imbalance_table(studies),
        "The hypotheses": hypotheses(trec8),
        "Where W is lost": losses_table(studies),
    }
    tables = "\n".join(f"## {title}\n\n{table}" for title, table in sections.items())
    return f"{introduction(studies)}\n{tables}\n## Commands\n\n{commands}\n\n{_COMMANDS}"


_COMMANDS = """The page:

    python -m experiments.robustness.page DIR --figures docs/figures > docs/results/robustness.md
"""


def introduction(studies: Mapping[str, Study]) -> str:
    """Say what was found, in words."""
    plain, exact, padded = (studies[name].summary[RTC] for name in MEASURED)
    mtc = {name: studies[name].summary[MTC] for name in MEASURED}
    evr = studies["trec8-padded"].summary["mtc[weight=evr]"]
    _, w, judged, tau = published.COLLECTIONS["ad-hoc 99"]
    trials = studies["trec8"].trials["trial"].nunique()
    none = _group(studies["trec8-padded"], "by_original", "no original")
    fewest = _group(studies["trec8-padded"], "by_judged", "fewest tenth")
    rtc_pairs = _pairs(studies["trec8"], RTC)
    plain_without = _w(_mean_w(rtc_pairs[~_holds_short_run(rtc_pairs)]))
    return f"""# The 2007 evaluation, published beside measured

Carterette (SIGIR 2007), sections 4 and 5, on the 129 runs of TREC-8 (the paper's ad-hoc 99): two
systems at random are judged to a confidence of 0.95, ten are compared by those judgments alone,
{trials} times, with the same systems for every algorithm. Truth is the average precision of the
whole submitted list under the official judgments; lists are cut at 100 for the models. Intervals
are 90% bootstrap over trials; the paper gives none. Robust 2003 (17 runs, 100 topics) stands
beside it as a second collection, on which [the smoothing was chosen](smoothing-robust03.md);
nothing was tuned on TREC-8. Its trials overlap, ten of 17 systems each, so that its intervals are
too narrow.

![Accuracy against confidence of mtc and rtc:map](../figures/robustness-trec8.png)

What holds of the paper, and why the rest differs:

- **The paper's tables are reproduced, cell by cell, once short lists are padded** as the author's
  released program does: filled up to 100 with phantom documents that no other run holds and nobody
  judges. W is {_w(padded["W"])} (published {_w(w)}), {_w(none["W"])} between new systems
  (published {_w(published.ORIGINAL["no original"][1])}); the median of judgments
  {padded["median_judged"]:.0f} ({judged}), tau {padded["mean_tau"]:.3f} ({tau}); accuracies by
  bin, by original and new systems and by overlap agree within a few points almost everywhere, and
  the tenth of the trials with the fewest judgments has W {_w(fewest["W"])}
  ({published.FEWEST["W"]}).
- **With lists as they are, W is {_w(plain["W"])}**: below 0.9 nothing changes, and above it the
  padding has hidden a weakness. READWARE and READWARE2 are manual runs of very few
  documents and among the best of all. A model that gives each document of a list some chance to be
  relevant takes a short list for a poor one, with confidence above 0.99; without
  these two runs W is {plain_without} ([table](#where-w-is-lost)). Where such a run is one of the
  two initial ones, equal probabilities are sure of its loss before anything is judged: most of the
  tenth with the fewest judgments are such trials. The library pads only when
  asked (`rtc-bayes robustness --pad`, `Pool.from_runs(pad=True)`), for reproduction: a phantom
  document is not data, and a user's short runs would be flattered by it.
- **What padding leaves is lost where many judgments were made**: with at most 400, RTC wins
  ([table](#where-w-is-lost)); with more it is overconfident, as the paper found at .97 and named
  overfitting. A plug-in estimate forgets that its parameters are unknown.
- **MTC's W is {_w(mtc["trec8"]["W"])}, over all the paper's sets {_w(published.MTC["W"])}**:
  {_w(mtc["trec8-padded"]["W"])} padded, and {_w(evr["W"])}, tau {evr["mean_tau"]:.3f}, padded and
  judged by expected variance reduction, the weight of later work (the 2006 weight is known from
  later reports only). The paper does not give MTC on ad-hoc 99 alone. The loss is in trials with
  more than 400 judgments: these show that most documents of the two initial systems are
  nonrelevant, while every document of a new system still counts one half.
- **Exact moments change little**: W {_w(exact["W"])}. Under these probabilities many documents
  are expected to be relevant, and the printed variance of a difference is then nearly the exact
  one. Where probabilities are small it is too wide ([confidence](../confidence.md)).
- **On Robust 2003 pairs of confidence below 0.6 are wrong more often than right**, for RTC and MTC
  alike, which no table of the paper shows. A likely reason, not tested here: what is judged is
  mostly nonrelevant and counts 0, what is not keeps its probability, so that of two new systems
  the one that shares less with the judged ones looks better, and is more often worse.
- The paper's last two bins are headed 0.95 - 0.99 and 1.0, ours are 0.95 to 0.99 and 0.99 to 1. Its
  MTC bins cannot make its W unless most confidences above 0.99 stand in the former.
- Its statement that IP is right in {published.OVERLAP_ACCURACY["ip"]:.0%} of the pairs with little
  overlap is not reproduced: such a pair on TREC-8 is mostly one poor run and one good
  one. Nor is that wrong predictions follow more
  judgments than right ones, unless only confident ones count.
"""


def hypotheses(study: Study) -> str:
    """The paper's three hypotheses on this data: words and tests."""
    rtc, mtc = study.summary[RTC], study.summary[MTC]
    low, high = rtc["W_interval"]
    return f"""1. *Confidence can be trusted for systems that gave no judgments.* Accuracy in a
   bin is to be no less than the bin's lower end. Bins below it: {_under(rtc)} of RTC, whose
   W is {_w(rtc["W"])} ({_w(low)} to {_w(high)}), and {_under(mtc)} of MTC.
2. *RTC takes fewer judgments than MTC.* Medians {rtc["median_judged"]:.0f} and
   {mtc["median_judged"]:.0f}, means {rtc["mean_judged"]:.0f} and {mtc["mean_judged"]:.0f}
   (published {_both("median_judged")}, {_both("mean_judged")}); Wilcoxon signed ranks for
   the median (judged_p) and paired t for the mean (judged_t_p) below.
3. *RTC ranks systems more accurately than MTC.* Mean tau {rtc["mean_tau"]:.3f} and
   {mtc["mean_tau"]:.3f} (published {_both("mean_tau")}); paired t (tau_p) below. The
   paper found IP and MTC alike; here IP is the better one.

{tests_table(study)}"""


def collections_table(studies: Mapping[str, Study], algorithm: str) -> str:
    """One column for each source, one row for each score: Tables 2 and 5."""
    if algorithm == RTC:
        accuracy, w, judged, tau = published.COLLECTIONS["ad-hoc 99"]
        columns = {
            "2007, all ad hoc": _published(published.RTC),
            "2007, ad-hoc 99": [
                *map(_percent, accuracy),
                _w(w),
                f"{judged}",
                UNDEFINED,
                f"{tau:.3f}",
            ],
        }
    else:
        columns = {"2007, all ad hoc": _published(published.MTC)}
    named = {f"TREC-8, {text}": studies[name] for name, text in MEASURED.items()}
    named |= {
        "Robust 2003, as published": studies["robust03"],
        "Robust 2003, exact moments": studies["robust03-exact"],
    }
    for name, row in _rows(side_by_side(named), algorithm, "collection"):
        columns[name] = [
            *_bins(row),
            _interval(row),
            f"{row['median_judged']:.0f}",
            f"{row['mean_judged']:.0f}",
            f"{row['mean_tau']:.3f}",
        ]
    labels = [*BIN_NAMES, "W", "median judged", "mean judged", "mean tau"]
    return to_markdown(pd.DataFrame({"": labels, **columns}))


def published_collections() -> str:
    """Table 5 as printed, for the sets that are not at hand."""
    columns = {
        name: [*map(_percent, accuracy), _w(w), f"{judged}", f"{tau:.3f}"]
        for name, (accuracy, w, judged, tau) in published.COLLECTIONS.items()
    }
    labels = [*BIN_NAMES, "W", "median judged", "mean tau"]
    return to_markdown(pd.DataFrame({"": labels, **columns}))


def scores_table(studies: Mapping[str, Study]) -> str:
    """Every algorithm of every study."""
    frame = pd.DataFrame(
        [
            {
                "study": name,
                "algorithm": algorithm,
                "W": with_interval(summary["W"], summary["W_interval"], ".2f"),
                "W capped": _w(summary["W_capped"]),
                "W expected": _w(summary["W_expected"]),
                "log score": number(summary["log_score"], ".3f"),
                "mean confidence": _percent(summary["mean_confidence"]),
                "accuracy": _percent(summary["accuracy"]),
                "median judged": f"{summary['median_judged']:.0f}",
                "mean tau": f"{summary['mean_tau']:.3f}",
            }
            for name, study in studies.items()
            for algorithm, summary in study.summary.items()
        ]
    )
    return to_markdown(frame)


def groups_table(studies: Mapping[str, Study], breakdown: str, algorithm: str) -> str:
    """Published beside measured for each group of pairs: Tables 3 and 4."""
    printed = published.ORIGINAL if breakdown == "by_original" else published.OVERLAP
    rows_of = {
        text: dict(_rows(getattr(studies[name], breakdown)(), algorithm, "group"))
        for name, text in MEASURED.items()
    }
    columns = {}
    for group in next(iter(rows_of.values())):
        if group in printed:
            accuracy, w = printed[group]
            columns[f"{group}: 2007"] = [*map(_percent, accuracy), _w(w), UNDEFINED]
        for text, rows in rows_of.items():
            row = rows[group]
            columns[f"{group}: {text}"] = [*_bins(row), _interval(row), f"{row['pairs']:,.0f}"]
    table = pd.DataFrame(columns, index=[*BIN_NAMES, "W", "pairs"]).T
    return to_markdown(table.rename_axis("").reset_index())


def claims_table(studies: Mapping[str, Study]) -> str:
    """The figures that section 5 gives in its text."""
    rows = [
        ("mean tau of IP, as many judgments as MTC", f"{published.IP_TAU}", _tau("ip")),
        *(
            (
                f"accuracy of {name.upper()}, overlap below .1",
                _printed(published.OVERLAP_ACCURACY[name]),
                _overlap(algorithm),
            )
            for name, algorithm in (("ip", "ip"), ("mtc", MTC), ("rtc", RTC))
        ),
        (
            "RTC, tenth of the trials with fewest judgments: W",
            _w(published.FEWEST["W"]),
            _fewest("W"),
        ),
        (
            "the same: accuracy at confidence of .9 and more",
            _printed(published.FEWEST["sure_accuracy"]),
            _fewest("sure_accuracy"),
        ),
        (
            "RTC, trials above the median of judgments: accuracy at .9 and more",
            _printed(published.MOST_SURE_ACCURACY),
            lambda study: _percent(_group(study, "by_judged", "above the median")["sure_accuracy"]),
        ),
        (
            "RTC, mean judgments before a wrong prediction, over those before a right one",
            "over 1.5",
            lambda study: _judged_before_wrong(study, 0.5),
        ),
        (
            "the same at confidence of .95 to .99",
            "",
            lambda study: _judged_before_wrong(study, 0.95, 0.99),
        ),
    ]
    frame = pd.DataFrame(
        [
            {"": claim, "2007, all ad hoc": paper}
            | {text: measure(studies[name]) for name, text in MEASURED.items()}
            for claim, paper, measure in rows
        ]
    )
    return to_markdown(frame)


def imbalance_table(studies: Mapping[str, Study]) -> str:
    """Scores of RTC, and W of MTC, by the imbalance of judgments, of pairs and of trials."""
    rows = []
    for name in ("trec8-padded", "trec8", "robust03"):
        study = studies[name]
        for of, frame in (
            ("pair", study.by_imbalance()),
            ("trial", study.by_initial_imbalance()),
        ):
            of_mtc = dict(_rows(frame, MTC, "group"))
            for group, row in _rows(frame, RTC, "group"):
                rows.append(
                    {
                        "study": name,
                        "share of": of,
                        "larger share": group,
                        "pairs": f"{row['pairs']:,.0f}",
                        "trials": f"{row['trials']:,.0f}",
                        "accuracy": _percent(row["accuracy"]),
                        "of .9 and more": _percent(row["sure_share"]),
                        "of these right": _percent(row["sure_accuracy"]),
                        "W": _interval(row),
                        "W of mtc": _interval(of_mtc[group]),
                    }
                )
    return _IMBALANCE + to_markdown(pd.DataFrame(rows))


_IMBALANCE = """The paper names a great deal more judgments of one system than of the other as what
makes confidences too high, without a table. Here pairs of `rtc:map` are grouped by the share that
one list has of the judged documents in both (a document in both counts for both): of the pair
itself, and of the two systems that its trial judged for.

The confidences of `mtc` fail for uneven pairs, as the paper says: W is −1 to −3 for balanced pairs
and −15 to −21 above a share of 0.7. Those of `rtc:map` do not fail in this way. With padded lists
they get better with every group; with lists as they are they are worst for a share of 0.6 to 0.7,
and best beyond. Of trials, the balanced ones lose more than those that judged one list much more
(above 0.7 there are four trials).

"""


def tests_table(study: Study) -> str:
    """Paired tests between IP, MTC and RTC."""
    tests = study.tests()
    wanted = tests[tests[["a", "b"]].isin(["ip", MTC, RTC, CHOSEN]).all(axis=1)]
    return to_markdown(
        wanted,
        {
            "judged_difference": "+,.0f",
            "judged_p": ".2g",
            "judged_mean_difference": "+,.0f",
            "judged_t_p": ".2g",
            "tau_difference": "+.3f",
            "tau_p": ".2g",
        },
    )


def losses_table(studies: Mapping[str, Study]) -> str:
    """W with and without the pairs that lose most."""
    rows = []
    for name, text in MEASURED.items():
        for algorithm in (MTC, RTC, CHOSEN):
            pairs = _pairs(studies[name], algorithm)
            long = pairs[~_holds_short_run(pairs)]
            rows.append(
                {
                    "algorithm": algorithm,
                    "lists and moments": text,
                    "all": _counted_w(pairs),
                    "without READWARE, READWARE2": _counted_w(long),
                    "and at most 400 judged": _counted_w(long[long["judged"] <= 400]),
                    "and more than 400": _counted_w(long[long["judged"] > 400]),
                }
            )
    return to_markdown(pd.DataFrame(rows))


def _rows(frame: pd.DataFrame, algorithm: str, key: str) -> list[tuple[str, Mapping[str, float]]]:
    mine = frame[frame["algorithm"] == algorithm]
    return [(str(row[key]), row) for row in mine.to_dict("records")]


def _group(study: Study, breakdown: str, group: str, algorithm: str = RTC) -> Mapping[str, float]:
    return dict(_rows(getattr(study, breakdown)(), algorithm, "group"))[group]


def _tau(algorithm: str):
    return lambda study: f"{study.summary[algorithm]['mean_tau']:.3f}"


def _overlap(algorithm: str):
    return lambda study: _percent(_group(study, "by_overlap", "0 to 0.1", algorithm)["accuracy"])


def _fewest(score: str):
    form = _w if score == "W" else _percent
    return lambda study: form(_group(study, "by_judged", "fewest tenth")[score])


def _judged_before_wrong(study: Study, low: float, high: float = np.inf) -> str:
    pairs = _pairs(study, RTC)
    pairs = pairs[(pairs["confidence"] >= low) & (pairs["confidence"] < high)]
    means = pairs.groupby("correct")["judged"].mean().reindex([0, 1])
    return number(means[0] / means[1], ".2f")


def _under(score: Mapping[str, Any]) -> str:
    """Name the bins of confidence whose accuracy is under their lower end."""
    under = [
        name
        for name, one in zip(BIN_NAMES, score["bins"], strict=True)
        if one["share"] and one["accuracy"] < one["low"]
    ]
    return ", ".join(under) or "none"


def _printed(share: float) -> str:
    """Write a share with the digits that the paper gives."""
    return f"{100 * share:g}%"


def _both(score: str) -> str:
    """Write what the paper gives of a score, for RTC and for MTC."""
    return f"{published.RTC[score]} and {published.MTC[score]}"


def _pairs(study: Study, algorithm: str) -> pd.DataFrame:
    """The pairs of an algorithm, each with the judgments of its trial."""
    judged = study.trials[["trial", "algorithm", "judged"]]
    pairs = study.pairs[study.pairs["algorithm"] == algorithm]
    return pairs.merge(judged, on=["trial", "algorithm"])


def _holds_short_run(pairs: pd.DataFrame) -> pd.Series:
    return pairs["a"].str.startswith("READWARE") | pairs["b"].str.startswith("READWARE")


def _mean_w(pairs: pd.DataFrame) -> float:
    return float(winnings(pairs["confidence"], pairs["correct"]).mean())


def _counted_w(pairs: pd.DataFrame) -> str:
    return f"{_w(_mean_w(pairs))} ({len(pairs):,} pairs)" if len(pairs) else UNDEFINED


def _published(printed: Mapping[str, object]) -> list[str]:
    cells = [
        f"{_percent(right)} ({share:.0%})"
        for right, share in zip(printed["accuracy"], printed["share"], strict=True)
    ]
    scores = (f"{printed[key]}" for key in ("median_judged", "mean_judged"))
    return [*cells, _w(printed["W"]), *scores, f"{printed['mean_tau']:.3f}"]


def _bins(row: Mapping[str, float]) -> list[str]:
    return [
        f"{_percent(row[f'accuracy_{low:g}'])} ({row[f'share_{low:g}']:.0%})"
        if row[f"share_{low:g}"] > 0
        else UNDEFINED
        for low, _ in BINS
    ]


def _interval(row: Mapping[str, float]) -> str:
    return with_interval(row["W"], (row["W_low"], row["W_high"]), ".2f")


def _w(value: float | None) -> str:
    return number(value, ".2f")


def _percent(value: float | None) -> str:
    return number(value, ".1%")


if __name__ == "__main__":
    main()
