"""Panels of language models: log loss and calibration with few human labels.

``priors`` fits the regression to every collection's panels with all human labels: the default prior
comes from those of TREC DL 2020. ``log-loss`` hides all but some human labels and compares the
others with the panel's probabilities. ``grades`` does the same for the four grades. ``checks``
compares ways to choose the pairs to label. The data are read from the folder that RTC_BAYES_DATA
names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from rtc_bayes import (
    Panel,
    PanelPrior,
    aggregate,
    draw_checks,
    fit_panel,
    read_labels,
    suggest_checks,
)

RELEVANT = 2
# Means and standard deviations that ``priors`` prints, in halves, a deviation at least 1; the gap's
# is that of the default prior.
LLMJUDGE_PRIOR = PanelPrior(intercept=(-0.5, 1.0), slope=(4.0, 1.5), between=(-1.0, 1.0))
MODELS = ("gpt-4o", "llama3.2", "mistral")

type Floats = NDArray[np.float64]


class Data(NamedTuple):
    """A panel's scores, its votes, and what humans say of all pairs."""

    topics: NDArray[np.int64]
    relevant: Floats
    grades: Floats
    scores: Floats
    votes: Floats
    prior: PanelPrior


def collections() -> Iterator[tuple[str, Data]]:
    """Read LLMJudge, and DL 2020's prompts of each model, binary and graded."""
    root = Path(os.environ["RTC_BAYES_DATA"])
    table = pd.read_csv(root / "llmjudge_dl23/panel_test.tsv.gz", sep="\t")
    yield "LLMJudge", _data(table, table.columns[5:], 3, PanelPrior())
    for kind, highest in (("graded", 3), ("binary", 1)):
        table = pd.read_csv(root / f"trec_dl20/prompt_panel_{kind}.tsv.gz", sep="\t")
        for model in MODELS:
            columns = table.columns[table.columns.str.startswith(model)]
            yield f"DL20 {model} {kind}", _data(table, columns, highest, LLMJUDGE_PRIOR)


def _data(table: pd.DataFrame, columns: pd.Index, highest: int, prior: PanelPrior) -> Data:
    labels = table[columns].where(lambda c: c.ge(0) & c.le(highest))
    most = labels.notna().mean(axis=1) > 0.5  # one prompt of gpt-4o labels all, the others a sample
    table, labels = table[most], labels[most]
    votes = labels.ge(min(RELEVANT, highest)).where(labels.notna())
    return Data(
        pd.factorize(table["topic"])[0].astype(np.int64),
        table["human"].ge(RELEVANT).to_numpy(np.float64),
        table["human"].to_numpy(np.float64),
        labels.to_numpy(np.float64) / highest,
        votes.mean(axis=1).to_numpy(np.float64),
        prior,
    )


def priors() -> None:
    """Print intercept, slope, slope between topics and gaps of panels of 1, 5 and all judges.

    The gap is the mean one between intercepts of regressions on whether the grade is 1, 2 or 3 or
    more; the slopes of these follow, which proportional odds take for one.
    """
    rows = []
    for name, data in collections():
        generator = np.random.default_rng(1)
        n_judges = data.scores.shape[1]
        for size in [1] * 8 + [5] * 8 + [n_judges]:
            scores = data.scores[:, generator.permutation(n_judges)[:size]]
            there = ~np.isnan(scores).all(axis=1)
            panel = fit_panel(scores[there], data.topics[there])
            models = [
                LogisticRegression(C=20.0).fit(
                    panel.features.common[:, 1:], data.grades[there] >= grade
                )
                for grade in (1, RELEVANT, 3)
            ]
            gap = float(models[0].intercept_[0] - models[2].intercept_[0]) / 2
            slopes = [model.coef_[0, 0] for model in models]
            rows.append((name.split()[0], *models[1].intercept_, *models[1].coef_[0], gap, *slopes))
    slopes = [f"slope, {grade} or more" for grade in (1, RELEVANT, 3)]
    columns = ["collection", "intercept", "slope", "between", "gap", *slopes]
    frame = pd.DataFrame(rows, columns=columns)
    print(frame.groupby("collection").agg(["mean", "std", "size"]).round(2).T.to_string())


def pooled_losses(
    data: Data, n: int, seeds: int, *, new_topics: bool
) -> tuple[list[tuple[float, float, float]], Floats, Floats]:
    """Return (panel, Platt, Brier) for each seed, and all probabilities with their truths."""
    losses, probabilities, truths = [], [], []
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        n_topics = int(data.topics.max()) + 1
        half = generator.permutation(n_topics)[: n_topics // 2] if new_topics else range(n_topics)
        seen = np.isin(data.topics, list(half))
        chosen = generator.choice(np.flatnonzero(seen), size=n, replace=False)
        rest = ~seen if new_topics else ~np.isin(np.arange(len(seen)), chosen)
        human = np.full(len(seen), np.nan)
        human[chosen] = data.relevant[chosen]
        panel = fit_panel(data.scores, data.topics, human, prior=data.prior)
        truth, probability = data.relevant[rest], panel.probability[rest]
        platt = np.full(int(rest.sum()), np.nan)
        if n:
            model = LogisticRegression(C=1e4).fit(data.votes[chosen, None], human[chosen])
            platt = model.predict_proba(data.votes[rest, None])[:, 1]
        losses.append(
            (
                float(log_loss(truth, probability)),
                float(log_loss(truth, platt)) if n else np.nan,
                float(((truth - probability) ** 2).mean()),
            )
        )
        probabilities.append(probability)
        truths.append(truth)
    return losses, np.concatenate(probabilities), np.concatenate(truths)


def losses(seeds: int, numbers: list[int]) -> None:
    """Print a table of log losses and calibration on pairs that no human labelled."""
    print("collection | shares | labels | topics | panel | s.e. | Platt | Brier | slope")
    for name, data in collections():
        shares = np.full_like(data.relevant, data.relevant.mean())
        for n, new_topics in [(n, new) for n in numbers for new in (False, True)]:
            if not n and new_topics:
                continue
            values, probability, truth = pooled_losses(
                data, n, seeds if n else 1, new_topics=new_topics
            )
            mean = np.mean(values, axis=0)
            error = np.std(values, axis=0)[0] / np.sqrt(len(values))
            log_odds = np.log(probability / (1 - probability))
            slope = LogisticRegression(C=1e6).fit(log_odds[:, None], truth).coef_[0, 0]
            print(
                f"{name} | {log_loss(data.relevant, shares):.3f} | {n} |"
                f" {'new' if new_topics else 'all'} | {mean[0]:.4f} | {error:.4f} |"
                f" {mean[1]:.4f} | {mean[2]:.4f} | {slope:.2f}",
                flush=True,
            )
            if name == "LLMJudge" and not new_topics:
                bins = pd.cut(probability, [0, 0.1, 0.2, 0.4, 0.6, 0.8, 1])
                table = pd.DataFrame({"probability": probability, "share": truth})
                print(table.groupby(bins, observed=True).mean().round(3).T.to_string())


def grade_losses(seeds: int, numbers: list[int]) -> None:
    """Print log loss and ranked probability score of the four grades, of pairs without a label.

    The last two columns are the log loss of relevance, by the graded panel and by the binary one.
    Multinomial regression is on the mean score; a grade that its labels lack has 1 / (labels + 4).
    """
    print("collection | labels | panel | s.e. | multinomial | shares | RPS, panel | multinomial | "
          "relevant, graded | binary")  # fmt: skip
    for name, data in collections():
        for n in numbers:
            values = [_graded(data, n, seed) for seed in range(seeds if n else 1)]
            mean, error = np.mean(values, axis=0), np.std(values, axis=0)[0] / np.sqrt(len(values))
            shown = " | ".join(f"{value:.4f}" for value in mean[1:])
            print(f"{name} | {n} | {mean[0]:.4f} | {error:.4f} | {shown}", flush=True)
    place = Path(os.environ["RTC_BAYES_DATA"]) / "llmjudge_dl23/panel_test.tsv.gz"
    labels = read_labels(place, n_grades=4)
    for method in ("mv", "em"):
        made = aggregate(labels, method, relevance_level=RELEVANT, graded=True).grades
        print(f"LLMJudge, {method}: {_scores(made, labels.gold_grades())[0]:.2f}")


def _graded(data: Data, n: int, seed: int) -> tuple[float, ...]:
    """Return the numbers of a row of `grade_losses`."""
    chosen = np.random.default_rng(seed).choice(len(data.grades), size=n, replace=False)
    human = np.full(len(data.grades), np.nan)
    human[chosen] = data.grades[chosen]
    rest = np.isnan(human)
    truth, relevant = data.grades[rest].astype(int), data.relevant[rest]
    graded = fit_panel(
        data.scores, data.topics, human, n_grades=4, relevance_level=RELEVANT, prior=data.prior
    )
    binary = fit_panel(
        data.scores, data.topics, np.where(rest, np.nan, human >= RELEVANT), prior=data.prior
    )
    shares = np.bincount(data.grades.astype(int)) / len(data.grades)
    rival = np.full((len(truth), 4), np.nan)
    if n:
        mean = np.nanmean(data.scores, axis=1)[:, None]
        model = LogisticRegression(C=1e4, max_iter=1000).fit(mean[chosen], human[chosen])
        rival[:] = 1.0 / (n + 4)
        rival[:, model.classes_.astype(int)] = model.predict_proba(mean[rest])
        rival /= rival.sum(axis=1, keepdims=True)
    (of_panel, of_panel_rps), (of_rival, of_rival_rps), (of_shares, _) = (
        _scores(grades, truth)
        for grades in (graded.grades[rest], rival, np.tile(shares, (len(truth), 1)))
    )
    both = [float(log_loss(relevant, fit.probability[rest])) for fit in (graded, binary)]
    return of_panel, of_rival, of_shares, of_panel_rps, of_rival_rps, *both


def _scores(grades: Floats, truth: NDArray[np.int64]) -> tuple[float, float]:
    """Return log loss and ranked probability score."""
    chance = np.clip(grades[np.arange(len(truth)), truth], 1e-6, None)
    reached = np.cumsum(grades, axis=1)[:, :-1] - (truth[:, None] <= np.arange(grades.shape[1] - 1))
    return float(-np.log(chance).mean()), float((reached**2).sum(axis=1).mean())


def checks(seeds: int, n: int) -> None:
    """Print LLMJudge's log loss by how the pairs to label are chosen: over all pairs."""
    data = next(collections())[1]

    def at_random(panel: Panel, k: int, seed: int) -> NDArray[np.int64]:
        generator = np.random.default_rng(seed)
        return generator.choice(np.flatnonzero(np.isnan(panel.human)), size=k, replace=False)

    rules: dict[str, Callable[[Panel, int, int], NDArray[np.int64]]] = {
        "random": at_random,
        "strata": lambda panel, k, seed: draw_checks(panel, k, seed=seed).pair,
        "gain": lambda panel, k, seed: suggest_checks(panel, k),
    }
    for name, choose in rules.items():
        values = []
        for seed in range(seeds if name != "gain" else 1):
            human = np.full(len(data.relevant), np.nan)
            for _ in range(5):
                panel = fit_panel(data.scores, data.topics, human, prior=data.prior, seed=seed)
                pairs = choose(panel, n // 5, seed)
                human[pairs] = data.relevant[pairs]
            last = fit_panel(data.scores, data.topics, human, prior=data.prior)
            p = np.clip(last.probability, 1e-12, 1 - 1e-12)
            rest = np.isnan(human)
            values.append(
                (log_loss(data.relevant, p), log_loss(data.relevant[rest], last.probability[rest]))
            )
        everywhere, left = np.mean(values, axis=0)
        error = np.std(values, axis=0)[0] / np.sqrt(len(values))
        print(f"{name}: all pairs {everywhere:.4f} (s.e. {error:.4f}), unlabelled {left:.4f}")


def main() -> None:
    """Read the options and print the study asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=("priors", "log-loss", "grades", "checks"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--labels", type=int, nargs="+", default=[0, 50, 100, 400])
    options = parser.parse_args()
    if options.study == "priors":
        priors()
    elif options.study == "log-loss":
        losses(options.seeds, options.labels)
    elif options.study == "grades":
        grade_losses(options.seeds, options.labels)
    else:
        checks(options.seeds, options.labels[-1])


if __name__ == "__main__":
    main()
