"""Tell what the studies of run.py found of point estimates and posteriors, as Markdown.

Usage: python experiments/calibration/page.py DIR [--figures docs/figures]
       > docs/results/map-against-bayes.md

DIR is what run.py wrote; studies that it lacks are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from run import JUDGE, STUDIES

from rtc_bayes.report.figures import confidence_accuracy
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study
from rtc_bayes.robustness.scores import BINS, log_score, winnings

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
    "robust03-plugin": "Robust 2003, printed moments",
    "robust03-exact": "Robust 2003, exact moments",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--figures", type=Path, help="a folder to draw into")
    options = parser.parse_args()
    studies = {
        name: Study.load(options.directory / name)
        for name in STUDIES
        if (options.directory / name / "summary.json").exists()
    }
    if options.figures:
        pairs = next(iter(studies.values())).pairs
        names = {text: text.partition("/")[2] for text in SHOWN}
        shown = pairs[pairs["algorithm"].isin(SHOWN)].replace({"algorithm": names})
        figure = confidence_accuracy(shown)
        figure.savefig(options.figures / "map-against-bayes.png", dpi=160, bbox_inches="tight")
    print(page(studies))


def page(studies: Mapping[str, Study]) -> str:
    """Return the story, a section for each study, and the ablation."""
    sections = [story(studies)]
    for name, study in studies.items():
        sections += [f"## {_TITLES[name]}\n", f"`{study.meta['command']}`\n", scores(study)]
        if name != "trec8-stopping":
            sections += ["Accuracy of the predicted sign by confidence (share of pairs):\n"]
            sections += [bins(study)]
    if {"trec8-plugin", "trec8-exact"} <= set(studies):
        sections += ["## Moments by parameters\n", ablation(studies)]
    return "\n".join(sections)


def story(studies: Mapping[str, Study]) -> str:
    """Say what was found, in words."""
    found = {
        model: studies["trec8-plugin"].summary[f"{JUDGE}/{model}"]
        for pair in POSTERIOR_OF.items()
        for model in pair
    }
    rtc, cut = found["rtc[cell_weight=.1]:map"], found["rtc[cell_weight=.1]:cut"]
    point, posterior = found["hierarchical:map"], found["hierarchical:laplace"]
    stopping = studies["trec8-stopping"].summary
    early, late = stopping["hierarchical:map"], stopping["hierarchical:laplace"]
    top_point, top = point["bins"][-1], posterior["bins"][-1]
    return f"""# A point estimate or a posterior

The trials of [the 2007 evaluation](robustness.md), with one set of judgments (those that `rtc:map`
asked for) evaluated by several models, each as a point estimate and as a posterior. Nothing was
tuned on these runs: the priors of `hierarchical` come from Robust 2003 and from simulation.

![Accuracy against confidence of three evaluations](../figures/map-against-bayes.png)

- **The more a model learns, the less its point estimate can be trusted.** The paper's smoothing
  keeps `rtc` from learning much, and so from being sure: W {_w(found["rtc:map"]["W"])}, tau
  {found["rtc:map"]["mean_tau"]:.3f}. With a tenth of it tau rises to {rtc["mean_tau"]:.3f}, and W
  falls to {_w(rtc["W"])}. `hierarchical` ranks best, tau {point["mean_tau"]:.3f}, and its point
  estimate is worst: {top_point["share"]:.0%} of all pairs have a confidence above .99, of which
  {top_point["accuracy"]:.1%} are right; W {_w(point["W"])}.
- **Averaging over the posterior mends most or all of that, and keeps the ranking.** W
  {_w(posterior["W"])} and tau {posterior["mean_tau"]:.3f} for `hierarchical:laplace`, where
  {top["accuracy"]:.1%} of the pairs above .99 are right; log score {posterior["log_score"]:.3f} for
  {point["log_score"]:.3f}. For `rtc` with little smoothing, W {_w(cut["W"])} for
  {_w(rtc["W"])}, log score {cut["log_score"]:.3f} for {rtc["log_score"]:.3f}, and tau rises too.
- **Where Bayes helps less**: with the paper's smoothing, whose pseudo-judgments count as data,
  the posterior of `rtc` is narrow, and W rises from {_w(found["rtc:map"]["W"])} to
  {_w(found["rtc:cut"]["W"])} only. In the middle bins the posterior of `hierarchical` is
  somewhat overconfident where the paper's model is underconfident; a W of 0 is the sum of that and
  of the cap on losses: exact confidences would win {posterior["W_expected"]:.2f}.
- **Stopping by a point estimate stops too early**: the model's plug-in confidence reaches 95% at a
  median of {early["median_judged"]:.0f} judgments, after which W is {_w(early["W"])} and tau
  {early["mean_tau"]:.3f}; its posterior confidence at {late["median_judged"]:.0f}, with W
  {_w(late["W"])} and tau {late["mean_tau"]:.3f}.

Remarks on fits are of r-hat above 1.01, the largest of some thousand rank coefficients for `rtc`,
or of Pareto k above .7 for Laplace draws.
"""


def scores(study: Study) -> str:
    """One row for each algorithm."""
    share = study.trials.groupby("algorithm")["parameter_share"].mean()
    remarks = study.trials.groupby("algorithm")["remarks"].apply(lambda r: (r > 0).mean())
    frame = pd.DataFrame(
        [
            {
                "": text,
                "W": _interval(found["W"], found["W_interval"]),
                "W expected": f"{found['W_expected']:.2f}",
                "log score": f"{found['log_score']:.3f}",
                "mean confidence": f"{found['mean_confidence']:.1%}",
                "accuracy": f"{found['accuracy']:.1%}",
                "tau": f"{found['mean_tau']:.3f}",
                "variance from parameters": f"{share[text]:.0%}",
                "fits with a remark": f"{remarks[text]:.0%}",
                "median judged": f"{found['median_judged']:.0f}",
                "seconds": f"{found['seconds_per_trial']:.1f}",
            }
            for text, found in study.summary.items()
        ]
    )
    return to_markdown(frame)


def bins(study: Study) -> str:
    """One column for each algorithm."""
    frame = pd.DataFrame({"confidence": [f"{low:g} to {high:g}" for low, high in BINS]})
    for text, found in study.summary.items():
        frame[text.partition("/")[2] or text] = [
            f"{b['accuracy']:.1%} ({b['share']:.0%})" if b["share"] else "–" for b in found["bins"]
        ]
    return to_markdown(frame)


def ablation(studies: Mapping[str, Study]) -> str:
    """W and log score by moments and by parameters, over the trials that both studies have."""
    pairs = {moments: studies[f"trec8-{moments}"].pairs for moments in ("plugin", "exact")}
    shared = min(found["trial"].nunique() for found in pairs.values())
    rows = []
    for point, posterior in POSTERIOR_OF.items():
        row = {"": point.removesuffix(":map")}
        for moments, found in pairs.items():
            for what, model in (("point", point), ("posterior", posterior)):
                mine = found[(found["algorithm"] == f"{JUDGE}/{model}") & (found["trial"] < shared)]
                won = winnings(mine["confidence"], mine["correct"]).mean()
                score = log_score(mine["confidence"], mine["correct"]).mean()
                row[f"{what}, {moments}"] = f"{won:.2f}, {score:.3f}".replace("-", "−")
        rows.append(row)
    return f"W and log score, over the first {shared} trials:\n\n" + to_markdown(pd.DataFrame(rows))


def _w(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _interval(value: float, ends: list[float]) -> str:
    return f"{value:.2f} ({ends[0]:.2f} to {ends[1]:.2f})".replace("-", "−")


if __name__ == "__main__":
    main()
