"""How often an audit raises a false alarm, how soon one when a model is wrong, and its limits.

    RTC_BAYES_DATA=FOLDER python -m experiments.judging.audit [--right 20] [--real 10]

prints Markdown. No constant of the audit was chosen on these collections. The runs of Robust 2003,
and every 13th run of TREC-8, lists cut at depth 20. The judge `rankvar` chooses four documents a
topic, to which models are fitted without those that the audit has drawn. The audit is looked at
ten times.

The first table draws labels from the model: the audit has half of its draws, and the labels are by
one of the others, so that every alarm is false. The
second, of each collection, has its labels, where what nobody judged is nonrelevant. A model that is
twice as sure has every logit doubled; one that says half has every probability halved. The last
has the mean over many samples of the model-assisted estimate, less the truth.
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
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.measures.sampling import judged_by
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]

DEPTH, JUDGE, JUDGED_A_TOPIC = 20, "rankvar", 4
LOOKS, LEVEL = 10, 0.05
# of each collection every how manieth run, and the share of the pool that an audit draws
COLLECTIONS = {"robust03": (1, 0.02), "trec8_adhoc": (13, 0.05)}
# shares of the pool, and samples of each, of the model-assisted estimate
SHARES, SAMPLES = (0.02, 0.1, 0.3, 0.6), 30
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
    held: Floats  # whether each confidence sequence held the truth at every look with limits
    half_width: float  # of the scores' limits at the last look, mean over systems
    no_look: float  # the same, of an interval that would hold at this look alone


type Table = dict[str, list[Looked]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--right", type=int, default=20, help="audits of labels by the model")
    parser.add_argument("--real", type=int, default=10, help="audits of real labels, of each model")
    options = parser.parse_args()
    for collection, (step, share) in COLLECTIONS.items():
        runs, qrels = prepared(collection)
        pool = rb.Pool.from_runs(rb.Runs(list(runs.values())[::step]), depth=DEPTH)
        budget = JUDGED_A_TOPIC * pool.n_topics
        judged = rb.build(pool, qrels, JUDGE, budget=budget, seed=0).judgments.to_qrels()
        print(f"{collection}: {pool!r}, {budget} judgments by {JUDGE}\n")
        print(f"Relevant documents: {relevant_documents(pool, qrels, judged)}\n", flush=True)
        first = collection == next(iter(COLLECTIONS))
        if first:
            show("Labels drawn from the model", by_models(pool, judged, options.right, share))
        show("Labels of the collection", by_assessors(pool, qrels, judged, options.real, share))
        if first:
            print(f"**The model-assisted estimate**\n\n{assisted(pool, qrels, judged)}\n")


def show(title: str, looked: Table) -> None:
    """Print a table."""
    rows = [row(model, pd.DataFrame(of)) for model, of in looked.items()]
    print(f"**{title}**\n\n{to_markdown(pd.DataFrame(rows))}\n", flush=True)


def relevant_documents(pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels) -> dict[str, int]:
    """Count the relevant documents, by the collection and as models expect them."""
    true = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    draws = {name: probabilities(pool, judged, name) for name in MODELS}
    draws |= {name: change(draws["rtc:map"]) for name, change in CHANGED.items()}
    expected = {name: round(of.sum(axis=1).mean()) for name, of in draws.items()}
    return {"collection": int(true.sum())} | expected


def by_models(pool: rb.Pool, judged: rb.Qrels, audits: int, share: float) -> Table:
    """Audit models by labels of a draw of their posterior that the audit has not got."""
    every: Table = {}
    for name in MODELS:
        draws = probabilities(pool, judged, name)
        half = max(len(draws) // 2, 1)
        comparison, rng = compared(pool, draws[:half]), np.random.default_rng(1)
        for seed in range(audits):
            p = rng.choice(draws[-half:])
            labels = (rng.random(pool.n_documents) < p).astype(float)
            every.setdefault(name, []).append(looked_at(comparison, pool, labels, seed, share))
    return every


def by_assessors(
    pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels, audits: int, share: float
) -> Table:
    """Audit models by the labels that assessors gave."""
    labels = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    every: Table = {name: [] for name in ("uniform", *MODELS, *CHANGED)}
    for seed in range(audits):
        seen, _ = rb.split_audit(pool, rb.audit_documents(pool, share, seed=seed), judged)
        draws = {name: probabilities(pool, seen, name) for name in ("uniform", *MODELS)}
        of_all = draws | {name: change(draws["rtc:map"]) for name, change in CHANGED.items()}
        for name, of_model in of_all.items():
            every[name].append(looked_at(compared(pool, of_model), pool, labels, seed, share))
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


def looked_at(
    comparison: rb.Comparison, pool: rb.Pool, labels: Floats, seed: int, share: float
) -> Looked:
    """Judge the documents of an audit in their order, and look ten times."""
    truth = rb.moments(pool, labels, pairs="none").mean_expected[0]
    truth = np.concatenate([[labels.sum()], truth])
    drawn = rb.audit_documents(pool, share, seed=seed)
    _, sample = rb.split_audit(pool, drawn)
    order = rb.audit_order(sample, seed=seed)
    held, look = np.ones(len(truth), dtype=bool), None
    for count in np.linspace(0, len(order.documents), LOOKS + 1).round().astype(int)[1:]:
        first = order.documents[:count]
        some = rb.Sample(rb.Judgments.from_labels(pool, first, labels[first]), sample.probability)
        look = rb.audit(comparison, some, after=look, level=LEVEL, seed=seed)
        held &= ~((look.low > truth) | (truth > look.high))
    assert look is not None
    alarms = [n for n, e in look.looks if e >= 1.0 / LEVEL]
    against = max(look.evidence, key=lambda group: look.evidence[group])
    return Looked(
        drawn=look.drawn,
        alarm_after=alarms[0] if alarms else np.nan,
        e_value=look.e_value,
        against=against,
        held=held,
        half_width=float((look.high - look.estimate)[1:].mean()),
        no_look=float(NORMAL_95 * look.se[1:].mean()),
    )


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
        "scores inside": f"{held[:, 1:].mean():.3f}",
        "half width": f"{looked['half_width'].mean():.3f}",
        "no look": f"{looked['no_look'].mean():.3f}",
    }


def assisted(pool: rb.Pool, qrels: rb.Qrels, judged: rb.Qrels) -> str:
    """Compare the mean of the model-assisted estimate by rtc:map over samples with the truth."""
    labels = judged_by(pool, qrels, np.arange(pool.n_documents), 1).labels
    p, rows = probabilities(pool, judged, "rtc:map").mean(axis=0), []
    for share in SHARES:
        a_topic = share * pool.n_documents / pool.n_topics
        of_share: dict[str, object] = {"share": share, "documents a topic": f"{a_topic:.1f}"}
        of_samples = list(samples(pool, labels, share))
        for measure in ("AP", "P@10"):
            truth = rb.moments(pool, labels, measure=measure, pairs="none").mean_expected[0]
            scores = [
                rb.model_assisted(p, sample, measure=measure).scores.mean.mean(axis=1)
                for sample in of_samples
            ]
            off = (np.array(scores) - truth).mean(axis=1)
            error = off.std(ddof=1) / np.sqrt(SAMPLES)
            of_share[f"{measure} less truth"] = f"{off.mean():+.3f} ± {error:.3f}"
        rows.append(of_share)
    return to_markdown(pd.DataFrame(rows))


def samples(pool: rb.Pool, labels: Floats, share: float) -> Iterator[rb.Sample]:
    """Draw and judge audits."""
    for seed in range(SAMPLES):
        prels = rb.audit_documents(pool, share, seed=seed)
        _, drawn = rb.split_audit(pool, prels)
        documents = rb.audit_order(drawn, seed=seed).documents
        judgments = rb.Judgments.from_labels(pool, documents, labels[documents])
        yield rb.Sample(judgments, drawn.probability)


if __name__ == "__main__":
    main()
