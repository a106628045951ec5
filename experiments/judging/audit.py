"""How often an audit raises a false alarm, and how soon one when a model is wrong.

    RTC_BAYES_DATA=FOLDER python -m experiments.judging.audit [--right 50] [--real 10]

prints Markdown. The runs of Robust 2003, lists cut at depth 20; no constant of the audit was
chosen on this collection. The judge `rankvar` chooses 400 documents, to which models are fitted
without those that the audit has drawn. The audit draws 2% of the pool, and is looked at ten times.

The first table draws labels from the model's own probabilities, so that every alarm is false. The
second has the labels of the collection, where what nobody judged is nonrelevant. A model that is
twice as sure has every logit doubled; one that says half has every probability halved.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

import rtc_bayes as rb
from experiments.whole_lists.four import prepared
from rtc_bayes.judging import audit_order, without_audit
from rtc_bayes.measures.sampling import judged_by
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]

COLLECTION, DEPTH = "robust03", 20
JUDGE, BUDGET = "rankvar", 400
SHARE, LOOKS, ALPHA = 0.02, 10, 0.05
MODELS = ("rtc:map", "hierarchical:laplace")
CHANGED: dict[str, Callable[[Floats], Floats]] = {
    "rtc:map, twice as sure": lambda p: expit(2.0 * logit(np.clip(p, 1e-9, 1.0 - 1e-9))),
    "rtc:map, half": lambda p: np.where(p < 1.0, 0.5 * p, p),
}


class Looked(NamedTuple):
    """What the looks of one audit said."""

    drawn: int
    alarm_after: float  # documents judged, NaN without an alarm
    e_value: float
    against: str  # what speaks most against the model
    held: Floats  # whether each confidence sequence held the truth at every look


type Table = dict[str, list[Looked]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=int, default=50, help="audits of labels by the model")
    parser.add_argument("--real", type=int, default=10, help="audits of real labels, of each model")
    options = parser.parse_args()
    runs, qrels = prepared(COLLECTION)
    pool = rb.Pool.from_runs(runs, depth=DEPTH)
    judged = rb.build(pool, qrels, JUDGE, budget=BUDGET, seed=0).judgments.to_qrels()
    print(f"{pool!r}, {BUDGET} judgments by {JUDGE}\n")
    print(f"Relevant documents: {relevant_documents(pool, qrels, judged)}\n", flush=True)
    for title, looked in (
        ("Labels drawn from the model", by_models(pool, judged, options.right)),
        ("Labels of the collection", by_assessors(pool, qrels, judged, options.real)),
    ):
        rows = [row(model, pd.DataFrame(of)) for model, of in looked.items()]
        print(f"**{title}**\n\n{to_markdown(pd.DataFrame(rows))}\n", flush=True)


def relevant_documents(pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels) -> dict[str, int]:
    """Count the relevant documents, by the collection and as models expect them."""
    true = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    draws = {name: probabilities(pool, judged, name) for name in MODELS}
    draws |= {name: change(draws["rtc:map"]) for name, change in CHANGED.items()}
    expected = {name: round(of.sum(axis=1).mean()) for name, of in draws.items()}
    return {"collection": int(true.sum())} | expected


def by_models(pool: rb.Pool, judged: rb.Qrels, audits: int) -> Table:
    """Audit models of which one draw, of every topic another, has made the labels."""
    every: Table = {}
    for name in MODELS:
        draws = probabilities(pool, judged, name)
        comparison, rng = compared(pool, draws), np.random.default_rng(1)
        for seed in range(audits):
            draw = rng.integers(len(draws), size=pool.n_topics)[pool.topic_of]
            p = draws[draw, np.arange(pool.n_documents)]
            labels = (rng.random(pool.n_documents) < p).astype(float)
            every.setdefault(name, []).append(looked_at(comparison, pool, labels, seed))
    return every


def by_assessors(pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels, audits: int) -> Table:
    """Audit models by the labels that assessors gave."""
    labels = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    every: Table = {name: [] for name in ("uniform", *MODELS, *CHANGED)}
    for seed in range(audits):
        seen = without_audit(judged, rb.audit_documents(pool, SHARE, seed=seed))
        draws = {name: probabilities(pool, seen, name) for name in ("uniform", *MODELS)}
        of_all = draws | {name: change(draws["rtc:map"]) for name, change in CHANGED.items()}
        for name, of_model in of_all.items():
            every[name].append(looked_at(compared(pool, of_model), pool, labels, seed))
    return every


def probabilities(pool: rb.Pool, judged: rb.Qrels, model: str) -> Floats:
    """Fit a model: its draws, shape (draws, documents)."""
    fit = rb.fit(pool, rb.Judgments.from_qrels(pool, judged), model=model, seed=1)
    values = fit.relevance.values  # noqa: PD011
    return values.reshape(-1, pool.n_documents).astype(np.float64)


def compared(pool: rb.Pool, draws: Floats) -> rb.Comparison:
    """Compare the systems."""
    relevance = rb.Relevance.from_values(pool, draws[None])
    return rb.compare(pool, relevance, rb.Estimand(depth=DEPTH, scope="pool"))


def looked_at(comparison: rb.Comparison, pool: rb.Pool, labels: Floats, seed: int) -> Looked:
    """Judge the documents of an audit in their order, and look ten times."""
    truth = rb.moments(pool, labels, pairs="none").mean_expected[0]
    truth = np.concatenate([[labels.sum()], truth])
    drawn = rb.audit_documents(pool, SHARE, seed=seed)
    sample = rb.Sample.from_prels(pool, drawn)
    order = audit_order(sample, seed=seed)
    held, look = np.ones(len(truth), dtype=bool), None
    for count in np.linspace(0, len(order.documents), LOOKS + 1).round().astype(int)[1:]:
        first = order.documents[:count]
        some = rb.Sample(rb.Judgments.from_labels(pool, first, labels[first]), sample.probability)
        look = rb.audit(comparison, some, after=look, alpha=ALPHA, seed=seed)
        held &= (look.low <= truth) & (truth <= look.high)
    assert look is not None
    alarms = [n for n, e in look.looks if e >= 1.0 / ALPHA]
    against = max(look.evidence, key=lambda group: look.evidence[group])
    return Looked(look.drawn, alarms[0] if alarms else np.nan, look.e_value, against, held)


def row(model: str, looked: pd.DataFrame) -> dict[str, object]:
    """Return a row: alarms, when they came, and how often the truth was inside at every look."""
    alarm, held = looked["alarm_after"].notna(), np.stack(looked["held"].tolist())
    return {
        "model": model,
        "audits": len(looked),
        "documents": round(looked["drawn"].mean()),
        "alarms": f"{alarm.mean():.2f}",
        "first alarm after": f"{looked['alarm_after'].median():.0f}" if alarm.any() else "",
        "median e-value": f"{looked['e_value'].median():.2g}",
        "most against": looked["against"].mode()[0] if alarm.any() else "",
        "count inside": f"{held[:, 0].mean():.2f}",
        "scores inside": f"{held[:, 1:].mean():.2f}",
    }


if __name__ == "__main__":
    main()
