"""Tell what the studies of run.py found of point estimates and posteriors, as Markdown.

Usage: python -m experiments.calibration.page DIR [--figures docs/figures]
       > docs/results/map-against-bayes.md

DIR is what run.py wrote; what is told of studies that it lacks is left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from experiments.calibration.run import JUDGE, MODELS, SAMPLED, STOPPED, STUDIES
from experiments.common import (
    bins_table,
    coverage,
    covered,
    draw_confidence,
    finished,
    of_algorithm,
    page_options,
    size,
)
from rtc_bayes.report.tables import number, to_markdown, with_interval
from rtc_bayes.robustness import Study
from rtc_bayes.trials.scores import log_score, winnings

SHOWN = (f"{JUDGE}/hierarchical:map", f"{JUDGE}/hierarchical:laplace", f"{JUDGE}/rtc:map")
POSTERIOR_OF = {
    "rtc:map": "rtc:cut",
    "rtc[cell_weight=.1]:map": "rtc[cell_weight=.1]:cut",
    "hierarchical:map": "hierarchical:laplace",
}
_TITLES = {
    "trec8-plugin": "TREC-8, printed moments",
    "trec8-exact": "TREC-8, exact moments",
    "trec8-stopping": "TREC-8, stopping by the model's own confidence",
    "trec8-nuts": "TREC-8, Laplace against NUTS",
    "trec8-laplace": "TREC-8, Laplace about the mean",
    "robust03-laplace": "Robust 2003, Laplace about the mean",
    "robust03-plugin": "Robust 2003, printed moments",
    "robust03-exact": "Robust 2003, exact moments",
}
_COVERED = ("trec8-plugin", "robust03-plugin")
_INTRODUCTION = """# A point estimate or a posterior

The trials of [the 2007 evaluation](robustness.md), with one set of judgments (those that `rtc:map`
asked for) evaluated by several models, each as a point estimate and as a posterior. Nothing was
tuned on these runs: the priors of `hierarchical` come from Robust 2003 and from simulation.

![Accuracy against confidence of three evaluations](../figures/map-against-bayes.png)

"""
_LAYERED = """## The three layers as one posterior

Between `rtc`, whose layers are fitted one after the other, and `hierarchical`, which has none,
stands [`layered`](../layered.md): the paper's three layers as one posterior, every judgment used
once. [Its own trials](layered.md) are about whole lists, with three and a half judgments a topic,
and not comparable to the tables below. They say:

- **What joining gives**: the labels reach all three layers at once, and doubt about one is doubt
  about the next. The log score of the posterior is below that of `rtc:map` and `rtc:cut` on all
  four collections, and tau is higher on all but CLEF. The priors of `layered` were chosen on
  Robust 2003, which is no test of it.
- **The point estimate is again the worst way to use it.** Weights multiply calibration curves,
  and the joint mode overfits: on all but DL 2020 its log score is worse than that of `rtc:map`.
- **Where it falls short of `robust`**: on the three collections that chose nothing for `layered`
  its log score is higher, and its 95% intervals of differences hold the true one less often.
"""
_REMARKS = """Remarks on fits are of r-hat above [its limit](../methods.md) for `rtc:cut` and NUTS,
or of Pareto k above .7 for Laplace draws, which are then used as they are. Seconds are of judging
and evaluating a trial on cores that other work shared: compare them within a table only.
"""


def main() -> None:
    options = page_options(__doc__)
    studies = finished(options.directory, STUDIES)
    if options.figures:
        names = {text: text.partition("/")[2] for text in SHOWN}
        path = options.figures / "map-against-bayes.png"
        draw_confidence(studies["trec8-plugin"].pairs, names, path)
    print(page(studies))


def page(studies: Mapping[str, Study]) -> str:
    """Return the story, a section for each study, the ablations, and coverage."""
    sections = [story(studies), _LAYERED]
    for name, study in studies.items():
        sections += [f"## {_TITLES[name]}\n", f"`{study.meta['command']}`\n", scores(study)]
        if name != "trec8-stopping":
            sections += ["Accuracy of the predicted sign by confidence (share of pairs):\n"]
            sections += [bins_table(study, lambda text: text.partition("/")[2] or text)]
    for collection, title in (("trec8", "TREC-8"), ("robust03", "Robust 2003")):
        if {f"{collection}-plugin", f"{collection}-exact"} <= set(studies):
            sections += [f"## Moments by parameters, {title}\n", ablation(studies, collection)]
    for name in _COVERED:
        if name in studies:
            title = _TITLES[name].partition(",")[0]
            sections += [
                f"## Coverage, {title}\n",
                coverage(studies[name], {f"{JUDGE}/{model}": model for model in MODELS}),
            ]
    return "\n".join(sections)


def story(studies: Mapping[str, Study]) -> str:
    """Say what was found, in words, as far as the studies are there."""
    parts = {
        _parameters: {"trec8-plugin"},
        _stopping: {"trec8-stopping"},
        _nuts: {"trec8-nuts"},
        _laplace: {
            f"{name}-{kind}" for name in ("trec8", "robust03") for kind in ("plugin", "laplace")
        },
        _moments: {"trec8-plugin", "trec8-exact"},
        _robust03: {"robust03-plugin"},
        _coverage: {"trec8-plugin"},
    }
    told = [
        text for tell, needed in parts.items() if needed <= set(studies) for text in tell(studies)
    ]
    return _INTRODUCTION + "".join(map(_bullet, told)) + "\n" + _REMARKS


def _parameters(studies: Mapping[str, Study]) -> Iterator[str]:
    summaries = _by_model(studies["trec8-plugin"])
    plain, plain_cut = summaries["rtc:map"], summaries["rtc:cut"]
    rtc, cut = summaries["rtc[cell_weight=.1]:map"], summaries["rtc[cell_weight=.1]:cut"]
    point, posterior = summaries["hierarchical:map"], summaries["hierarchical:laplace"]
    top_point, top = point["bins"][-1], posterior["bins"][-1]
    yield f"""**The more a model learns, the less its point estimate can be trusted.** The paper's
        smoothing keeps `rtc` from learning much, and so from being sure: W {_signed(plain["W"])},
        tau {plain["mean_tau"]:.3f}. With a tenth of it tau rises to {rtc["mean_tau"]:.3f}, and W
        falls to {_signed(rtc["W"])}. `hierarchical` ranks best, tau {point["mean_tau"]:.3f}, and
        its point estimate is worst: {top_point["share"]:.0%} of all pairs have a confidence above
        0.99, of which {top_point["accuracy"]:.1%} are right; W {_signed(point["W"])}."""
    yield f"""**Averaging over the posterior mends most or all of that, and keeps the ranking.** W
        {_signed(posterior["W"])} and tau {posterior["mean_tau"]:.3f} for `hierarchical:laplace`,
        where {top["accuracy"]:.1%} of the pairs above 0.99 are right; log score
        {posterior["log_score"]:.3f} for {point["log_score"]:.3f}. For `rtc` with little smoothing,
        W {_signed(cut["W"])} for {_signed(rtc["W"])}, log score {cut["log_score"]:.3f} for
        {rtc["log_score"]:.3f}, and tau rises too."""
    yield f"""**Where Bayes helps less**: with the paper's smoothing, whose pseudo-judgments count
        as data, the posterior of `rtc` is narrow, and W rises from {_signed(plain["W"])} to
        {_signed(plain_cut["W"])} only. In the middle bins the posterior of `hierarchical` is
        somewhat overconfident where the paper's model is underconfident; a W of 0 is the sum of
        that and of the cap on losses: exact confidences would win
        {posterior["W_expected"]:.2f}."""


def _stopping(studies: Mapping[str, Study]) -> Iterator[str]:
    study = studies["trec8-stopping"]
    early, late = (study.summary[text] for text in STOPPED)
    judged_for = study.pairs[study.pairs["initial"] == 2]
    right = judged_for.groupby("algorithm")["correct"].mean()
    yield f"""**Stopping by a point estimate stops too early.** Of the two systems judged for, the
        order is right in {right[STOPPED[0]]:.1%} of the trials when the plug-in confidence of
        `hierarchical` has reached 0.95, and in {right[STOPPED[1]]:.1%} when its posterior
        confidence has. The first takes a median of {early["median_judged"]:.0f} judgments (mean
        {early["mean_judged"]:.0f}), hardly more than the one a topic that the rule asks for at
        least; the second {late["median_judged"]:.0f} (mean {late["mean_judged"]:.0f}), as it goes
        on where two systems are nearly alike. Over all pairs W is then {_signed(early["W"])} and
        {_signed(late["W"])}, tau {early["mean_tau"]:.3f} and {late["mean_tau"]:.3f}."""


def _nuts(studies: Mapping[str, Study]) -> Iterator[str]:
    study = studies["trec8-nuts"]
    pairs = study.pairs.set_index(["trial", "a", "b"])
    laplace, nuts = (pairs[pairs["algorithm"] == text] for text in SAMPLED)
    laplace = laplace.loc[nuts.index]
    apart = (laplace["confidence"] - nuts["confidence"]).abs()
    summary = study.summary[SAMPLED[1]]
    remarks = (
        study.succeeded.loc[study.succeeded["algorithm"] == SAMPLED[1], "remarks"] > 0
    ).mean()
    yield f"""**The Laplace approximation stands for NUTS.** On the same
        {nuts.index.get_level_values("trial").nunique()} trials their confidences differ by
        {apart.mean():.3f} on average, by more than {apart.quantile(0.95):.3f} in one pair of
        twenty, and by {apart.max():.2f} at most; W and log score are {_w_and_score(laplace)} and
        {_w_and_score(nuts)}. With {study.meta["study"]["draws"]} draws of each of
        {study.meta["study"]["chains"]} chains {summary["failed"]} of {summary["trials"]} fits by
        NUTS were refused, and {remarks:.0%} of the rest have a remark."""


def _laplace(studies: Mapping[str, Study]) -> Iterator[str]:
    told = []
    for name, title in (("trec8", "TREC-8"), ("robust03", "Robust 2003")):
        before = _by_model(studies[f"{name}-plugin"])["hierarchical:laplace"]
        after = _by_model(studies[f"{name}-laplace"])["hierarchical:laplace"]
        told.append(
            f"on {title} W {_signed(before['W'])} becomes {_signed(after['W'])}, log score "
            f"{before['log_score']:.3f} becomes {after['log_score']:.3f}, and accuracy less "
            f"confidence {number(before['accuracy'] - before['mean_confidence'], '+.3f')} becomes "
            f"{number(after['accuracy'] - after['mean_confidence'], '+.3f')}"
        )
    yield f"""**Mode or mean hardly matters here.** The studies of all models and of stopping drew
        `hierarchical:laplace` about the posterior's mode given the scales, which
        [simulation](../hierarchical.md#simulation-based-calibration) found to be shifted. It draws
        about the nearest mean now. Resampling by importance had made most of that good:
        {"; ".join(told)}."""


def _moments(studies: Mapping[str, Study]) -> Iterator[str]:
    shared = _shared(studies, "trec8")
    told = {
        (model, moments): _w_and_score(_pairs_of(studies[f"trec8-{moments}"], model, shared))
        for model in (*POSTERIOR_OF, *POSTERIOR_OF.values())
        for moments in ("plugin", "exact")
    }

    def change(model: str) -> str:
        return f"{told[model, 'plugin']} to {told[model, 'exact']} for `{model}`"

    yield f"""**What the moments do is little beside what the parameters do.** From printed to exact
        moments W and log score go from {change("rtc:map")}, from {change("hierarchical:map")} and
        from {change("hierarchical:laplace")} ([all](#moments-by-parameters-trec-8))."""


def _robust03(studies: Mapping[str, Study]) -> Iterator[str]:
    study = studies["robust03-plugin"]
    summaries = _by_model(study)
    rtc, cut = summaries["rtc[cell_weight=.1]:map"], summaries["rtc[cell_weight=.1]:cut"]
    point, posterior = summaries["hierarchical:map"], summaries["hierarchical:laplace"]
    yield f"""**Robust 2003**: W is {_signed(point["W"])} for `hierarchical:map` and
        {_signed(posterior["W"])} for `hierarchical:laplace`, {_signed(rtc["W"])} and
        {_signed(cut["W"])} for `rtc` with little smoothing; tau {posterior["mean_tau"]:.3f} and
        {cut["mean_tau"]:.3f} for the two posteriors. This is no second test of `hierarchical`,
        whose priors were chosen by fits to complete judgments of these runs, and as each trial
        takes ten of 17 systems, the intervals are too narrow."""


def _coverage(studies: Mapping[str, Study]) -> Iterator[str]:
    study = studies["trec8-plugin"]
    pairs, systems = (
        table[table["algorithm"] == f"{JUDGE}/hierarchical:laplace"]
        for table in (study.pairs, study.systems)
    )
    plain = of_algorithm(study.pairs, f"{JUDGE}/rtc:map")
    of_differences = covered(pairs, "expected_difference", "true_difference", 0.95)
    yield f"""**The order can be trusted, the numbers cannot.** The 95% interval of a difference in
        MAP holds the true one in {of_differences:.0%} of the pairs for `hierarchical:laplace`, and
        that of a MAP in {covered(systems, "expected", "true", 0.95):.0%}; for every other
        evaluation it is far fewer ([below](#coverage-trec-8)). Expected differences mostly have
        the right sign and are too small, {size(pairs):.0%} of the true ones on average
        ({size(plain):.0%} for `rtc:map`), and expected MAPs are too low. Why was not tested;
        probabilities of relevance shrunk towards what all systems have in common would do it."""


def scores(study: Study) -> str:
    """One row for each algorithm that has a score."""
    trials = study.succeeded.groupby("algorithm")
    share = trials["parameter_share"].mean()
    remarks = trials["remarks"].apply(lambda r: (r > 0).mean())
    rows = []
    for text, summary in study.summary.items():
        if summary["W"] is None:
            continue
        rows.append(
            {
                "": text,
                "W": with_interval(summary["W"], summary["W_interval"], ".2f"),
                "W expected": f"{summary['W_expected']:.2f}",
                "log score": f"{summary['log_score']:.3f}",
                "mean confidence": f"{summary['mean_confidence']:.1%}",
                "accuracy": f"{summary['accuracy']:.1%}",
                "tau": f"{summary['mean_tau']:.3f}",
                "variance from parameters": f"{share[text]:.0%}",
                "fits with a remark": f"{remarks[text]:.0%}",
                "failed": summary.get("failed", 0),
                "median judged": f"{summary['median_judged']:.0f}",
                "mean judged": f"{summary['mean_judged']:.0f}",
                "seconds": f"{summary['seconds_per_trial']:.1f}",
            }
        )
    frame = pd.DataFrame(rows)
    return to_markdown(frame if frame["failed"].any() else frame.drop(columns="failed"))


def ablation(studies: Mapping[str, Study], collection: str) -> str:
    """W and log score by moments and by parameters, over the trials that both studies have."""
    shared = _shared(studies, collection)
    rows = []
    for point, posterior in POSTERIOR_OF.items():
        row = {"": point.removesuffix(":map")}
        for moments, named in (("plugin", "printed"), ("exact", "exact")):
            for what, model in (("point", point), ("posterior", posterior)):
                pairs = _pairs_of(studies[f"{collection}-{moments}"], model, shared)
                row[f"{what}, {named}"] = _w_and_score(pairs)
        rows.append(row)
    return (
        f"W and log score over the {len(shared)} trials that both studies have, by what is taken\n"
        "of the parameters and by the moments:\n\n" + to_markdown(pd.DataFrame(rows))
    )


def _shared(studies: Mapping[str, Study], collection: str) -> set[int]:
    """Return the trials that a collection's studies of both moments have."""
    first, second = (studies[f"{collection}-{moments}"].pairs for moments in ("plugin", "exact"))
    return set(first["trial"]) & set(second["trial"])


def _pairs_of(study: Study, model: str, trials: set[int]) -> pd.DataFrame:
    pairs = study.pairs
    return pairs[(pairs["algorithm"] == f"{JUDGE}/{model}") & pairs["trial"].isin(trials)]


def _w_and_score(pairs: pd.DataFrame) -> str:
    """Write W and the log score of some pairs."""
    won = winnings(pairs["confidence"], pairs["correct"]).mean()
    score = log_score(pairs["confidence"], pairs["correct"]).mean()
    return f"{_signed(won)}, {score:.3f}"


def _bullet(text: str) -> str:
    return (
        textwrap.fill(
            " ".join(text.split()),
            100,
            initial_indent="- ",
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        + "\n"
    )


def _by_model(study: Study) -> dict[str, Mapping[str, Any]]:
    """Summaries by what evaluates."""
    return {text.partition("/")[2]: summary for text, summary in study.summary.items()}


def _signed(value: float) -> str:
    return number(value, ".2f")


if __name__ == "__main__":
    main()
