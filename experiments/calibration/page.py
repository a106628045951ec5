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
from run import EVALUATED, JUDGE, STUDIES

from rtc_bayes.report.figures import confidence_accuracy
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study
from rtc_bayes.robustness.scores import BINS

SHOWN = (f"{JUDGE}/hierarchical:map", f"{JUDGE}/hierarchical:laplace", f"{JUDGE}/rtc:map")
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
    """Return a section for each study, and the ablation."""
    sections = []
    for name, study in studies.items():
        sections += [f"## {_TITLES[name]}\n", f"`{study.meta['command']}`\n", scores(study)]
        if name != "trec8-stopping":
            sections += ["Accuracy of the predicted sign by confidence (share of pairs):\n"]
            sections += [bins(study)]
    if {"trec8-plugin", "trec8-exact"} <= set(studies):
        sections += ["## Moments by parameters\n", ablation(studies)]
    return "\n".join(sections)


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
    """W and log score by moments and by parameters."""
    rows = []
    for point in (text for text in EVALUATED if text.endswith(":map")):
        model = point.removesuffix(":map")
        posterior = next(
            (text for text in EVALUATED if text in (f"{model}:cut", f"{model}:laplace")), None
        )
        if posterior is None:
            continue
        row = {"": model.partition("/")[2]}
        for moments in ("plugin", "exact"):
            found = studies[f"trec8-{moments}"].summary
            for what, text in (("point", point), ("posterior", posterior)):
                row[f"{what}, {moments}"] = (
                    f"{found[text]['W']:.2f}, {found[text]['log_score']:.3f}".replace("-", "−")
                )
        rows.append(row)
    return "W and log score:\n\n" + to_markdown(pd.DataFrame(rows))


def _interval(value: float, ends: list[float]) -> str:
    return f"{value:.2f} ({ends[0]:.2f} to {ends[1]:.2f})".replace("-", "−")


if __name__ == "__main__":
    main()
