"""Labels of language models on DL 2020: alone, with few human judgments, and beside rivals.

Each row is a subset of the runs, a source of labels, a budget of human judgments and a method:
its log score over pairs, accuracy less confidence, tau and tau among the true top 15. Example::

    python -m experiments.judges.posterior -o rows.csv --systems 10 --subsets 3
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import rtc_bayes as rb
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.judging.judges.weighted import ModelJudge
from rtc_bayes.relevance import label_evidence
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials.scores import log_score

type Floats = NDArray[np.float64]

LABELS = {
    "umbrela": "umbrella_gpt-4_zeroshot_dl20",
    "gpt4o": "binary_gpt4o_dl20",
    "llama": "binary_llama3.2_dl20",
    "gpt4": "binary_gpt4_dl20",
    "selfrate": "qrels.max.exam_selfrate_graded_dl20",
}
LEVEL, DEPTH, TOP, SAMPLES = 2, 100, 15, 10
ABOUT = rb.Estimand(relevance_level=LEVEL, depth=DEPTH, scope="pool")
# of human judgments where there are no labels, or none that say which documents to judge
WITHOUT = "rankvar"
METHODS: dict[str, float | Literal["auto"]] = {"PPI": 1.0, "PPI++": "auto"}


class Collection(NamedTuple):
    """Some runs, the human grades, and the labels of each judge."""

    runs: rb.Runs
    qrels: rb.Qrels
    labels: dict[str, rb.Labels]
    qrels_of: dict[str, rb.Qrels]


def read(depth: int = DEPTH) -> Collection:
    """Read DL 2020 from the folder that RTC_BAYES_DATA names."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "trec_dl20"
    files = {name: folder / "llm" / f"{file}.txt.gz" for name, file in LABELS.items()}
    return Collection(
        rb.read_runs(folder / "runs", depth=depth),
        rb.read_qrels(folder / "qrels.human.txt.gz"),
        {name: rb.read_labels(path, judge=name) for name, path in files.items()},
        {name: rb.read_qrels(path) for name, path in files.items()},
    )


def read_panel() -> pd.DataFrame:
    """Read DL 2020's panel: of the judged documents people's grade and that of each prompt."""
    file = Path(os.environ["RTC_BAYES_DATA"]) / "trec_dl20" / "prompt_panel_graded.tsv.gz"
    return pd.read_csv(file, sep="\t", dtype={"topic": str, "doc": str})


def read_prompts(names: Iterable[str], table: pd.DataFrame | None = None) -> dict[str, rb.Labels]:
    """Take the labels of some prompts of a panel, by default of DL 2020's."""
    table = read_panel() if table is None else table
    panel = {}
    for name in names:
        kept = table[table[name].notna()]
        documents = kept.topic.tolist(), kept.doc.tolist()
        grades = kept[name].astype(int).tolist()
        panel[name] = rb.Labels.of(*documents, [name] * len(kept), grades)
    return panel


@contextlib.contextmanager
def constants(**values: Any) -> Iterator[None]:
    """Model labels by other constants of `label_evidence` for a while; None: by the package's."""
    held = vars(label_evidence)
    ours = {name: held[name] for name in values}
    held.update({name: value for name, value in values.items() if value is not None})
    try:
        yield
    finally:
        held.update(ours)


def sets_of_runs(runs: rb.Runs, size: int, count: int, seed: int) -> Iterator[list[str]]:
    """Draw some sets of so many runs at random; of all if the size is 0."""
    names, rng = sorted(runs), np.random.default_rng(seed)
    for _ in range(count):
        yield sorted(rng.choice(names, size or len(names), replace=False).tolist())


def scores_of(confidence: Floats, greater: Floats, estimate: Floats, truth: Floats) -> dict:
    """Score the probabilities that the first of each pair is better, and an order of systems."""
    a, b = all_pairs(len(truth))
    differ = truth[a] != truth[b]
    predicted = greater[differ] >= 0.5
    correct = predicted == (truth[a] > truth[b])[differ]
    sure = np.maximum(confidence[differ], 0.5)
    top = np.argsort(-truth)[:TOP]
    return {
        "log_score": log_score(sure, correct).mean(),
        "accuracy": correct.mean(),
        "confidence": sure.mean(),
        "tau": rb.kendall_tau(estimate, truth),
        "tau_top": rb.kendall_tau(estimate[top], truth[top]),
    }


def by_scores(per_topic: Floats, truth: Floats) -> dict:
    """Score the paired t-test's normal form over topics: what labels at face value believe."""
    a, b = all_pairs(len(truth))
    difference = per_topic[a] - per_topic[b]
    error = difference.std(axis=1, ddof=1) / np.sqrt(difference.shape[1])
    greater = norm.cdf(difference.mean(axis=1) / np.maximum(error, 1e-12))
    return scores_of(np.maximum(greater, 1 - greater), greater, per_topic.mean(axis=1), truth)


def by_comparison(comparison: rb.Comparison, truth: Floats) -> dict:
    """Score a comparison of all pairs."""
    greater = comparison.p_greater + comparison.p_equal / 2
    sure = np.maximum(comparison.p_greater, comparison.p_less)
    return scores_of(sure, greater, comparison.expected, truth)


def judged(
    pool: rb.Pool,
    qrels: rb.Qrels,
    judge: str,
    budget: int,
    labels: rb.Labels | None = None,
    about: rb.Estimand = ABOUT,
) -> rb.Judgments:
    """Let a judge choose documents for people; given labels, if it has a model."""
    if not budget:
        return rb.Judgments.none(pool, relevance_level=LEVEL, judged_for=pool.systems)
    if not isinstance(parse_algorithm(judge).judge, ModelJudge):
        labels = None
    asked: dict[str, Any] = {"confidence": None, "budget": budget, "labels": labels}
    return rb.build(pool, qrels, judge, about, **asked).judgments


def calibrated(judgments: rb.Judgments, labels: rb.Labels) -> Floats:
    """Probabilities by Platt: logistic regression of the human judgments on the judge's grade.

    Documents without a label are nonrelevant unless judged, as on the pages of a track.
    """
    grade = grades_of(judgments.pool, labels)
    rows = judgments.order[grade[judgments.order] >= 0]
    p = np.zeros(judgments.pool.n_documents)
    share = (judgments.labels[rows].sum() + 1) / (len(rows) + 2)
    p[grade >= 0] = share
    if 0 < judgments.labels[rows].sum() < len(rows):
        model = LogisticRegression().fit(grade[rows, None], judgments.labels[rows])
        p[grade >= 0] = model.predict_proba(grade[grade >= 0, None])[:, 1]
    p[judgments.order] = judgments.labels[judgments.order]
    return p


def prediction_powered(
    collection: Collection, pool: rb.Pool, name: str, budget: int, truth: Floats, seed: int
) -> Iterator[dict]:
    """Score labels corrected by sampled human judgments: the mean of some samples.

    A Poisson sample of as many documents as the budget, on average, higher ranks more often. "PPI"
    trusts the labels wholly, "PPI++" by the number that varies least on the sample.
    """
    level = LEVEL if collection.labels[name].n_grades > 2 else 1
    predicted = (grades_of(pool, collection.labels[name]) >= level).astype(np.float64)
    probability = rb.inclusion_probabilities(pool, budget / pool.n_topics)
    drawn = [
        rb.Sample.draw(pool, collection.qrels, probability, seed=n, relevance_level=LEVEL)
        for n in spawn_seeds(seed, SAMPLES)
    ]
    for method, tuning in METHODS.items():
        scored = []
        for sample in drawn:
            estimate = rb.model_assisted(predicted, sample, tuning=tuning)
            pairs = estimate.pairs()
            sure = pairs.confidence
            greater = np.where(pairs.difference > 0, sure, 1 - sure)
            scored.append(scores_of(sure, greater, estimate.scores.mean.mean(axis=1), truth))
        yield {"method": method, **pd.DataFrame(scored).mean().to_dict()}


def grades_of(pool: rb.Pool, labels: rb.Labels) -> Floats:
    """Return one judge's grade of each document of a pool, -1 where there is none."""
    grade = np.full(pool.n_documents, -1.0)
    at = labels.located(pool)
    grade[at[at >= 0]] = labels.grade[at >= 0]
    return grade


def relevant_of(pool: rb.Pool, qrels: rb.Qrels, level: int = LEVEL) -> Floats:
    """Return which documents of a pool people call relevant; those without judgment are not."""
    topics = np.array(pool.topics, dtype=object)[pool.topic_of]
    both = zip(topics, pool.docnos, strict=True)
    return np.array([float(qrels[t].get(d, 0) >= level) for t, d in both])


def per_topic(runs: rb.Runs, qrels: rb.Qrels, level: int) -> Floats:
    """Average precision of each system and topic."""
    return rb.evaluate(runs, qrels, ["AP"], relevance_level=level).values["AP"]  # noqa: PD011


def rows(
    collection: Collection,
    systems: list[str],
    budgets: list[int],
    model: str,
    judge: str,
    names: list[str],
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Score every method on some systems; the judge chooses human judgments beside labels."""
    runs = rb.Runs([collection.runs[name] for name in systems])
    pool = rb.Pool.from_runs(runs, depth=DEPTH)
    truth = per_topic(runs, collection.qrels, LEVEL).mean(axis=1)
    for name in names:
        level = LEVEL if collection.labels[name].n_grades > 2 else 1
        estimated = by_scores(per_topic(runs, collection.qrels_of[name], level), truth)
        yield {"labels": name, "human": 0, "method": "face value", **estimated}
    for budget in filter(None, budgets):
        for name in names:
            asked_for = (collection, pool, name, budget, truth, seed)
            for estimated in prediction_powered(*asked_for):
                yield {"labels": name, "human": budget, **estimated}
    if not model:
        return
    for budget in budgets:
        alone = judged(pool, collection.qrels, WITHOUT, budget)
        for name in ["", *names]:
            labels, judgments = None, alone
            if name:
                labels = collection.labels[name]
                judgments = judged(pool, collection.qrels, judge, budget, labels=labels)
            started = time.perf_counter()
            fit = rb.fit(pool, judgments, model=model, labels=labels, seed=seed)
            between = time.perf_counter()
            comparison = rb.compare(pool, fit, ABOUT, seed=seed)
            ended = time.perf_counter()
            clock = {"fit_s": between - started, "compare_s": ended - between}
            about = {"labels": name or "none", "human": budget}
            yield {**about, "method": model, **by_comparison(comparison, truth), **clock}
            if labels is not None and budget:
                platt = rb.Relevance.from_values(pool, calibrated(alone, labels))
                compared = rb.compare(pool, platt, ABOUT, seed=seed)
                yield {**about, "method": "Platt", **by_comparison(compared, truth)}


def main() -> None:
    """Read the command line, and write one line for each method as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--systems", type=int, default=0, help="at random; 0: all")
    parser.add_argument("--subsets", type=int, default=1)
    parser.add_argument("--budgets", type=int, nargs="+", default=[0, 50, 100, 200])
    parser.add_argument(
        "--model", default="hierarchical:laplace", help='"": only what needs no model'
    )
    parser.add_argument(
        "--judge", default="hierarchical:map", help="of human judgments beside labels, given these"
    )
    parser.add_argument("--labels", nargs="+", choices=list(LABELS), default=list(LABELS)[:3])
    parser.add_argument(
        "--remaining", type=float, help="systems' own effects beside labels, a share; else ours"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    collection, made = read(), []
    drawn = sets_of_runs(collection.runs, options.systems, options.subsets, options.seed)
    for subset, systems in enumerate(drawn):
        asked = (options.budgets, options.model, options.judge, options.labels, options.seed)
        with constants(REMAINING=options.remaining):
            for row in rows(collection, systems, *asked):
                made.append({"subset": subset, "systems": len(systems), **row})
                pd.DataFrame(made).to_csv(options.output, index=False, float_format="%.4g")
    table = pd.DataFrame(made).drop(columns=["subset", "systems"])
    print(table.groupby(["labels", "human", "method"], sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main()
