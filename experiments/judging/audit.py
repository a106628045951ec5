"""How often an audit raises a false alarm, and how soon one when a model is wrong.

    RTC_BAYES_DATA=FOLDER python -m experiments.judging.audit [--right 100] [--real 20]

prints Markdown. The runs of Robust 2003, lists cut at depth 20; no constant of the audit was
chosen on this collection. The judge `rankvar` chooses 400 documents, to which models are fitted
without those that the audit has drawn. The audit draws 2% of the pool, and is looked at ten times.

The first table draws labels from the model's own probabilities, so that every alarm is false. The
second has the labels of the collection, where what nobody judged is nonrelevant. A model that is
twice as sure has every logit doubled; one that says half has every probability halved.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
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
MODELS = ("uniform", "rtc:map", "hierarchical:laplace")
CHANGED: dict[str, Callable[[Floats], Floats]] = {
    "rtc:map, twice as sure": lambda p: expit(2.0 * logit(np.clip(p, 1e-9, 1.0 - 1e-9))),
    "rtc:map, half": lambda p: 0.5 * p,
}


class Looked(NamedTuple):
    """What the looks of one audit said."""

    drawn: int
    alarm_after: float  # documents judged, NaN without an alarm
    e_value: float
    against: str  # what speaks most against the model
    held: Floats  # whether each confidence sequence held the truth at every look


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=int, default=100, help="audits of labels by the model")
    parser.add_argument("--real", type=int, default=20, help="audits of real labels, of each model")
    options = parser.parse_args()
    runs, qrels = prepared(COLLECTION)
    pool = rb.Pool.from_runs(runs, depth=DEPTH)
    judged = rb.build(pool, qrels, JUDGE, budget=BUDGET, seed=0).judgments.to_qrels()
    print(f"{pool!r}, {BUDGET} judgments by {JUDGE}\n")
    for title, looked in (
        ("Labels drawn from the model", by_models(pool, judged, options.right)),
        ("Labels of the collection", by_assessors(pool, qrels, judged, options.real)),
    ):
        rows = [row(model, pd.DataFrame(of)) for model, of in looked]
        print(f"**{title}**\n\n{to_markdown(pd.DataFrame(rows))}\n", flush=True)


def by_models(pool: rb.Pool, judged: rb.Qrels, audits: int) -> Iterator[tuple[str, list[Looked]]]:
    """Audit models of which one draw, of every topic another, has made the labels."""
    for name in MODELS:
        comparison, draws = fitted(pool, judged, name)
        rng, every = np.random.default_rng(1), []
        for seed in range(audits):
            draw = rng.integers(len(draws), size=pool.n_topics)[pool.topic_of]
            p = draws[draw, np.arange(pool.n_documents)]
            labels = (rng.random(pool.n_documents) < p).astype(float)
            every.append(looked_at(comparison, pool, labels, seed))
        yield name, every


def by_assessors(
    pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels, audits: int
) -> Iterator[tuple[str, list[Looked]]]:
    """Audit models by the labels that assessors gave."""
    labels = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    for name in (*MODELS, *CHANGED):
        every = []
        for seed in range(audits):
            drawn = rb.audit_documents(pool, SHARE, seed=seed)
            seen = without_audit(judged, drawn)
            fit, _, _ = name.partition(",")
            comparison, _ = fitted(pool, seen, fit, CHANGED.get(name))
            every.append(looked_at(comparison, pool, labels, seed))
        yield name, every


def fitted(
    pool: rb.Pool, judged: rb.Qrels, name: str, change: Callable[[Floats], Floats] | None = None
) -> tuple[rb.Comparison, Floats]:
    """Fit a model, change what it says of unjudged documents, and compare the systems."""
    judgments = rb.Judgments.from_qrels(pool, judged)
    relevance = rb.fit(pool, judgments, model=name, seed=1).relevance
    values = np.asarray(relevance.values.reshape(-1, pool.n_documents), dtype=np.float64)
    if change is not None:
        values = np.where(judgments.judged, values, change(values))
        relevance = rb.Relevance.from_values(pool, values[None])
    return rb.compare(pool, relevance, rb.Estimand(depth=DEPTH, scope="pool")), values


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
    """Return a row of a table: alarms, when they came, and how often truth was inside."""
    alarm = looked["alarm_after"].notna()
    return {
        "model": model,
        "audits": len(looked),
        "documents": round(looked["drawn"].mean()),
        "alarms": f"{alarm.mean():.2f}",
        "first alarm after": f"{looked['alarm_after'].median():.0f}" if alarm.any() else "",
        "median e-value": f"{looked['e_value'].median():.2g}",
        "most against": looked["against"].mode()[0] if alarm.any() else "",
        "truth inside": f"{np.mean(np.stack(looked['held'].tolist())):.3f}",
    }


if __name__ == "__main__":
    main()
