"""Tell what the studies of run.py found of `robust`, as Markdown.

Usage: python -m experiments.robust.page DIR [--figures docs/figures] > docs/results/robust.md

DIR is what it wrote: trec8, trec8-published and trec8-cut; of the rest what it lacks is left out.
Needs RTC_BAYES_DATA as it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.common import (
    bins_table,
    coverage,
    covered,
    draw_confidence,
    finished,
    of_algorithm,
    page_options,
    read_collection,
    size,
)
from experiments.robust.run import JUDGE, NORMAL, NUTS, ROBUST03, STUDIES, WIDE
from experiments.robustness.published import COLLECTIONS
from rtc_bayes import evaluate
from rtc_bayes.report.tables import number, to_markdown, with_interval
from rtc_bayes.robustness import Study
from rtc_bayes.trials.scores import (
    bootstrap_interval,
    expected_winnings,
    log_score,
    p_first_better,
    winnings,
)

POSTERIOR_MEAN = "posterior_mean.py:map"
TITLES = {
    "trec8": "TREC-8, fresh trials",
    "trec8-published": "The same trials, published algorithms",
    "trec8-cut": "The same trials, lists cut at the depth",
    "trec8-frontier": "The first of these trials, judged less and longer",
    "trec8-others": "The first of these trials, other models",
    "trec8-methods": "The first of these trials, by Gibbs sampling and by NUTS",
    "robust03": "Robust 2003",
}
# manual runs of TREC-8 with lists of some 50 and 100 documents, much better than any other
SHORT = ("READWARE", "READWARE2")


def main() -> None:
    options = page_options(__doc__)
    studies = finished(options.directory, STUDIES)
    trec8, published = studies["trec8"], studies["trec8-published"]
    if options.figures:
        shown = {"mtc": "mtc", "rtc:map": "rtc:map", JUDGE: "robust"}
        pairs = [published.pairs, trec8.pairs]
        if "trec8-others" in studies:
            others = studies["trec8-others"]
            plugged = plugged_in(others)
            shown[plugged] = "robust, plugged in"
            pairs.append(of_algorithm(others.pairs, plugged))
        draw_confidence(pd.concat(pairs), shown, options.figures / "robust-trec8.png")
    truth = {
        title: truth_at_depth(study, title)
        for title, study in studies.items()
        if STUDIES[title].plan.estimand.score_depth is None
    }
    print(story(trec8, published))
    print(levels(studies["trec8-cut"], truth["trec8-cut"], trec8))
    if "trec8-frontier" in studies:
        print(at_medians(studies["trec8-frontier"]))
    if "trec8-methods" in studies:
        print(methods(studies["trec8-methods"]))
    if "robust03" in studies:
        print(elsewhere(studies["robust03"]))
    if "trec8-others" in studies:
        print(why(trec8, published, studies["trec8-others"]))
    for title, study in studies.items():
        print(f"## {TITLES[title]}\n\n`{study.meta['command']}`\n")
        print(scores(study))
        print("Accuracy of the predicted sign by confidence, its standard error, and share:\n")
        print(bins_table(study, name, with_error))
        for text in [text for text in (JUDGE, ROBUST03) if text in study.summary]:
            print(f"`{text}` by pairs:\n")
            print(kinds(study, text))
        names = {text: name(text) for text in study.summary if study.summary[text]["W"] is not None}
        print(f"### Coverage, {TITLES[title]}\n")
        print(coverage(study, names))
        if title in truth:
            print(coverage(study, names, truth[title]))


def means(study: Study, count: int) -> tuple[float, float]:
    """Log score and tau of `robust` over the first trials of a study."""
    pairs, trials = (
        table[(table["algorithm"] == JUDGE) & (table["trial"] < count)]
        for table in (study.pairs, study.trials)
    )
    return float(log_score(pairs["confidence"], pairs["correct"]).mean()), trials["tau"].mean()


def story(study: Study, published: Study) -> str:
    """Say what was found, in words."""
    robust = study.summary[JUDGE]
    mtc, rtc, cut = (published.summary[text] for text in ("mtc", "rtc:map", "rtc:map/rtc:cut"))
    top = robust["bins"][-1]
    pairs = of_algorithm(study.pairs, JUDGE)
    judged_for = pairs[pairs["initial"] == 2]
    inside = covered(pairs, "expected_difference", "true_difference", 0.95)
    systems = of_algorithm(study.systems, JUDGE)
    short = pairs[with_short(pairs)]
    surprise = pd.Series(log_score(pairs["confidence"], pairs["correct"]), pairs.index)
    error = clustered_error(surprise, pairs["trial"])
    _, paper_w, paper_judged, paper_tau = COLLECTIONS["ad-hoc 99"]
    return f"""# Confidence that holds for systems nobody has seen

The paper reached W = {number(paper_w, ".2f")} and tau = {paper_tau:.3f} with a median of
{paper_judged} judgments on this collection, and
left open why its confidence falls short where it is highest. [`robust`](../robust.md) was fixed,
priors, judging and stopping, before {robust["trials"]} trials were drawn with a seed not used
before. Judgments for two systems until their order has 0.95, and three and a half a topic at least;
then all 45 pairs of ten. The truth is from whole lists, and so are the confidences of `robust`:
lists scored as far as ranks are known, unseen relevant documents counted, and a residual
([what these are](../confidence.md#beyond-the-pool)).
What it does on four collections, with priors that none of them chose, is on
[whole lists](whole-lists.md). On TREC-8 its numbers there are a little worse than here: they are of
100 other trials, with priors from the other three collections and a residual by rule; here the
priors are the shipped `trec`, in which TREC-8 has a part, and the residual is .008.

![Accuracy against confidence of MTC, RTC and robust, and of robust plugged
in](../figures/robust-trec8.png)

- **`robust` ranks ten systems better, and its confidence in them can be taken at its word**: W
  {w_of(robust)}, log score {robust["log_score"]:.3f}, tau {robust["mean_tau"]:.3f}, at a median of
  {robust["median_judged"]:.0f} judgments and a mean of {robust["mean_judged"]:.0f}. The paper's RTC
  on the same trials: W {w_of(rtc)}, {rtc["log_score"]:.3f}, {rtc["mean_tau"]:.3f}, at
  {rtc["median_judged"]:.0f} and {rtc["mean_judged"]:.0f}; with its parameters drawn instead of
  plugged in, W {w_of(cut)}, {cut["log_score"]:.3f}, {cut["mean_tau"]:.3f}; MTC: W {w_of(mtc)},
  {mtc["log_score"]:.3f}, {mtc["mean_tau"]:.3f}, at {mtc["median_judged"]:.0f} and
  {mtc["mean_judged"]:.0f}.
- **Confidence and accuracy agree**: right in {robust["accuracy"]:.1%} of the pairs at a mean
  confidence of {robust["mean_confidence"]:.3f}; exact confidences would have W
  {robust["W_expected"]:.2f}; of the {top["share"]:.0%} of pairs above 0.99 {top["accuracy"]:.2%}
  are right. {under_edge(pairs, robust["bins"])} of the {len(robust["bins"])} bins are under their
  lower edge by more than their standard error. The log score's standard error over trials is
  {error:.3f}; its target was .22.
- **Intervals of 95%** hold the true difference in MAP of {inside:.1%} of the pairs, and the true
  MAP of {covered(systems, "expected", "true", 0.95):.1%} of the systems; the expected MAP is
  {bias_of(systems)} the true one.
- **The two systems judged for**: W {w_of_pairs(judged_for)}, right in
  {judged_for["correct"].mean():.1%} at confidence {judged_for["confidence"].mean():.3f}. The target
  was W of at least −.2.
- **Two systems unlike all others**, {" and ".join(SHORT)} (manual runs with short lists): their
  pairs have W {w_of_pairs(short)}, right in {short["correct"].mean():.1%} at confidence
  {short["confidence"].mean():.3f}, and {under_edge(short, robust["bins"])} of the bins under their
  edge.
"""


def under_edge(pairs: pd.DataFrame, bins: list[Mapping[str, float]]) -> int:
    """Count the bins whose accuracy is under their lower edge by more than its standard error."""
    inside = ((b["low"], within(pairs, b)) for b in bins)
    return sum(some["correct"].mean() + error_of(some) < low for low, some in inside)


def with_short(pairs: pd.DataFrame) -> pd.Series:
    """Whether one of the short manual runs is in a pair."""
    return pairs["a"].isin(SHORT) | pairs["b"].isin(SHORT)


def levels(study: Study, truth: Mapping[str, float], full: Study) -> str:
    """Say how expected scores of lists cut at the pool's depth fit the true ones."""
    count = study.summary[JUDGE]["trials"]
    some = means(full, count)
    systems = of_algorithm(study.systems, JUDGE)
    systems = systems.assign(true=systems["system"].map(truth))
    error = clustered_error(systems["expected"] - systems["true"], systems["trial"])
    return f"""- **About lists cut at the depth**, scored so with unseen relevant documents counted
  ({count} of these trials): intervals of 95% hold the true MAP of
  {covered(systems, "expected", "true", 0.95):.1%} of the systems; the expected MAP is
  {bias_of(systems)} the true one (standard error {error:.4f}). The targets were 92% and a bias
  under .01. Held against whole lists,
  the log score is then {study.summary[JUDGE]["log_score"]:.3f} and tau
  {study.summary[JUDGE]["mean_tau"]:.3f}; about whole lists, on the same trials, {some[0]:.3f} and
  {some[1]:.3f}.
"""


def bias_of(systems: pd.DataFrame) -> str:
    """Say by how much expected scores are above or below the true ones."""
    bias = (systems["expected"] - systems["true"]).mean()
    return f"{abs(bias):.4f} {'above' if bias > 0 else 'below'}"


def why(study: Study, published: Study, others: Study) -> str:
    """Say what makes confidence fail, what mends it and what is left."""
    rtc, cut = (published.summary[text] for text in ("rtc:map", "rtc:map/rtc:cut"))
    robust, normal, plugged, alone, wide = (
        others.summary[text] for text in (JUDGE, NORMAL, plugged_in(others), ROBUST03, WIDE)
    )
    pairs = of_algorithm(study.pairs, JUDGE)
    drawn = others.trials["trial"].nunique()
    return f"""## Why

**The published method is overconfident as soon as it is informative.** It takes its probabilities
of relevance for known: what is not known of the parameters behind them, the same for every document
of a system, is missing from the variance of a difference, where errors of single documents would
cancel. So pairs that are far apart by these probabilities get all confidence, whatever the
probabilities are worth: {highest(rtc)}. Drawing its parameters instead of plugging them in
takes off a part: {highest(cut)}; {share_of(published, "rtc:map/rtc:cut"):.0%} of the variance
is then of parameters.

**Parameters are most of what is not known.** Of the variance of a difference by `robust`
{share_of(study, JUDGE):.0%} is of parameters, and most of the rest is the residual. On the same
judgments ({drawn} trials) `robust` has W {w_of(robust)} and log score {robust["log_score"]:.3f};
its own posterior mean plugged in ranks with tau {plugged["mean_tau"]:.3f} for
{robust["mean_tau"]:.3f}, and has W {w_of(plugged)} and log score {plugged["log_score"]:.3f}:
{highest(plugged)}. A better model does not mend confidence; not taking it for known does.

**Heavy tails** let a system be far from the rest without making all others suspect. With normal
effects instead, on the same judgments: log score {normal["log_score"]:.3f} for
{robust["log_score"]:.3f}, W {w_of(normal)} for {w_of(robust)}, right in {normal["accuracy"]:.1%} at
{normal["mean_confidence"]:.3f}; of pairs with {" or ".join(SHORT)}, log score
{surprise_of(others, NORMAL):.3f} for {surprise_of(others, JUDGE):.3f}.

**Priors** matter less: with those from Robust 2003 alone, log score {alone["log_score"]:.3f} and W
{w_of(alone)}; with wide ones, {wide["log_score"]:.3f} and {w_of(wide)}.

**What remains**: the expected differences are {size(pairs):.0%} of the true ones in size; about
whole lists the expected MAP is too low and its intervals too short; and the variance that is of
parameters shrinks only with more judgments
([more of this](robust-tried.md#more-judgments-and-what-is-left-to-doubt)).
"""


def highest(summary: Mapping[str, Any]) -> str:
    """Say what is in the highest bin of confidence."""
    top = summary["bins"][-1]
    return (
        f"{top['share']:.0%} of all pairs are above 0.99, and {top['accuracy']:.1%} of them right"
    )


def share_of(study: Study, text: str) -> float:
    """Return the mean share of the variance of differences that is of parameters."""
    return float(study.trials.loc[study.trials["algorithm"] == text, "parameter_share"].mean())


def surprise_of(study: Study, text: str) -> float:
    """Return the log score of pairs with one of the short manual runs."""
    some = study.pairs[(study.pairs["algorithm"] == text) & with_short(study.pairs)]
    return float(log_score(some["confidence"], some["correct"]).mean())


def at_medians(study: Study) -> str:
    """Say what judging less and longer is worth, where it stops by itself."""
    count = study.trials["trial"].nunique()
    parts = [
        f"at a median of {one['median_judged']:.0f} tau is {one['mean_tau']:.3f} and the log score "
        f"{one['log_score']:.3f}"
        for one in study.summary.values()
    ]
    return f"""- **Judging less and longer** (the first {count} trials, other least numbers of
  judgments): {"; ".join(parts)}. The targets were tau .77 at 150 and .80 at 180.
"""


def methods(study: Study) -> str:
    """Say how far the confidences of `gibbs` and `nuts` are apart, where both could be used."""
    pairs = study.pairs
    by_method = pairs.assign(first=p_first_better(pairs)).pivot_table(
        index=["trial", "a", "b"], columns="algorithm", values="first"
    )
    apart = (by_method[JUDGE] - by_method[NUTS]).abs().dropna()
    return f"""- **By NUTS**, on the same judgments ({study.summary[NUTS]["trials"]} trials), the
  probability that the first of two systems is better is {apart.mean():.3f} from that by `gibbs`
  on average, and {apart.max():.3f} at most, of {len(apart)} pairs.
"""


def elsewhere(study: Study) -> str:
    """Say what was found on Robust 2003."""
    result = study.summary[JUDGE]
    return f"""- **On Robust 2003**, with the same priors ({result["trials"]} trials): W
  {w_of(result)}, log score {result["log_score"]:.3f}, tau {result["mean_tau"]:.3f} at a median of
  {result["median_judged"]:.0f} judgments; right in {result["accuracy"]:.1%}
  at {result["mean_confidence"]:.3f}.
"""


def scores(study: Study) -> str:
    """One row for each algorithm."""
    seconds = study.trials.groupby("algorithm")["seconds_evaluating"].median()
    judging = study.trials.groupby("algorithm")["seconds_judging"].median()
    rows = []
    for text, summary in study.summary.items():
        row = {
            "": name(text),
            "W": w_of(summary),
            "W expected": number(summary["W_expected"], ".2f"),
            "log score": with_interval(summary["log_score"], summary["log_score_interval"], ".3f"),
            "confidence": number(summary["mean_confidence"], ".1%"),
            "accuracy": f"{summary['accuracy']:.1%}",
            "tau": f"{summary['mean_tau']:.3f}",
            "median judged": f"{summary['median_judged']:.0f}",
            "mean judged": f"{summary['mean_judged']:.0f}",
            "failed fits": str(summary.get("failed", 0)),
            "seconds": f"{judging[text]:.1f} + {seconds[text]:.1f}",
        }
        rows.append(row)
    return to_markdown(pd.DataFrame(rows))


def with_error(pairs: pd.DataFrame, one: Mapping[str, float]) -> str:
    """Write the accuracy of an algorithm's pairs in one bin with its standard error."""
    error = error_of(within(pairs, one))
    return f"{one['accuracy']:.3f} ± {error:.3f}"


def within(pairs: pd.DataFrame, one: Mapping[str, float]) -> pd.DataFrame:
    """Return the pairs of one bin of confidence."""
    upper = one["high"] if one["high"] < 1 else 1.01
    return pairs[(pairs["confidence"] >= one["low"]) & (pairs["confidence"] < upper)]


def error_of(pairs: pd.DataFrame) -> float:
    """Return the standard error of the accuracy of some pairs."""
    return clustered_error(pairs["correct"], pairs["trial"])


def clustered_error(values: pd.Series, trial: pd.Series) -> float:
    """Return the standard error of a mean of pairs, those of one trial being dependent."""
    if not len(values):
        return float("nan")
    apart = values - values.mean()
    return float(np.sqrt((apart.groupby(trial).sum() ** 2).sum()) / len(values))


def kinds(study: Study, text: str) -> str:
    """Score pairs by what they have in common, and with and without the short manual runs."""
    pairs = of_algorithm(study.pairs, text)
    short = with_short(pairs)
    groups = {
        "both judged for": pairs["initial"] == 2,
        "one judged for": pairs["initial"] == 1,
        "neither": pairs["initial"] == 0,
        "overlap below .2": pairs["overlap"] < 0.2,
        "overlap .2 to .5": (pairs["overlap"] >= 0.2) & (pairs["overlap"] < 0.5),
        "overlap .5 or more": pairs["overlap"] >= 0.5,
    }
    if short.any():
        groups |= {"with " + " or ".join(SHORT): short, "without them": ~short}
    rows = []
    for label, inside in groups.items():
        some = pairs[inside]
        if not len(some):
            continue
        surprise = log_score(some["confidence"], some["correct"])
        rows.append(
            {
                "": label,
                "pairs": len(some),
                "W": w_of_pairs(some),
                "W expected": f"{expected_winnings(some['confidence']).mean():.2f}",
                "log score": f"{surprise.mean():.3f}",
                "confidence": f"{some['confidence'].mean():.1%}",
                "accuracy": f"{some['correct'].mean():.1%}",
            }
        )
    return to_markdown(pd.DataFrame(rows))


def truth_at_depth(study: Study, title: str) -> dict[str, float]:
    """Mean average precision of every system over its list cut at the pool's depth."""
    collection = read_collection(STUDIES[title].collection, study.meta["study"]["depth"])
    scores_of = evaluate(*collection, ["AP"], topics="all")
    return dict(zip(scores_of.systems, scores_of.mean["AP"].tolist(), strict=True))


def plugged_in(study: Study) -> str:
    """Return the algorithm that plugs in the posterior mean; the path of its file varies."""
    return next(text for text in study.summary if text.endswith(POSTERIOR_MEAN))


def name(text: str) -> str:
    """Shorten the name of the plugged-in mean."""
    return f"{JUDGE}/its posterior mean" if text.endswith(POSTERIOR_MEAN) else text


def w_of(summary: Mapping[str, Any]) -> str:
    """Write W of an algorithm with its interval."""
    return with_interval(summary["W"], summary["W_interval"], ".2f")


def w_of_pairs(pairs: pd.DataFrame) -> str:
    """Write W of some pairs with its interval."""
    won = winnings(pairs["confidence"], pairs["correct"])
    return with_interval(won.mean(), bootstrap_interval(won, pairs["trial"]), ".2f")


if __name__ == "__main__":
    main()
