"""Labels of crowds: chapter 8 of Hosseini's thesis, and a real crowd.

    RTC_BAYES_DATA=FOLDER python -m experiments.judges.crowd
        [--parts crowd chosen samples simulated apart workers systems sampled checked]
        [--repetitions 10]

prints Markdown. `crowd`: the labels of TREC's 2010 relevance feedback track, held to gold labels,
none of which an aggregation sees but in the rows that say so. `chosen`: LLMJudge, five random
judges a pair, where the priors of `hierarchical` were chosen. `samples`: Table 8.1 with TREC 2010
in INEX's place: 500 pairs with a gold label, one label each and others at random. `simulated`:
Figure 8.1, the accuracy of 1,000 documents labelled by 100 workers. `apart`: workers who err one by
one, and all methods: what `hierarchical` loses where nothing misleads everybody, and what it gains
by being told so. `workers`: Figure 8.2, Kendall's tau of workers' true and estimated accuracy, how
many of their 90% intervals hold it, and how many hold the share of a worker's labels that is right.
`systems`: Tables 8.2 and 8.3 with TREC-8 in INEX's place: tau of ten systems' scores by aggregated
labels with those by the qrels, over the pool of depth 20. `sampled`: the part of Table 8.3 where a
sample of the pool is labelled, and systems are ranked by statAP. `checked`: language models, of
whose labels a person checked some: how many 90% intervals hold a judge's accuracy on all pairs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import rtc_bayes as rb
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials.scores import kendall_tau

METHODS = ("mv", "em", "one-coin", "glad", "hierarchical", "panel")
# workers err one by one
NOTHING_MISLEADS = rb.CrowdPrior(misleading=0)
# of Tables 8.2 and 8.3
MEASURES = {name: rb.Estimand(name, scope="pool") for name in ("AP", "P@10", "P@20")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {
        "crowd": crowd,
        "chosen": chosen,
        "samples": samples,
        "simulated": simulated,
        "apart": apart,
        "workers": workers,
        "systems": systems,
        "sampled": sampled,
        "checked": checked,
    }
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--repetitions", type=int, default=10)
    options = parser.parse_args()
    for part in options.parts:
        frame = parts[part](options.repetitions)
        print(f"\n**{part}**\n\n{to_markdown(frame.round(3))}", flush=True)


def scored(p: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Score probabilities: accuracy, rates of true positives and negatives, Brier, log loss."""
    clipped = np.clip(p, 1e-6, 1.0 - 1e-6)
    right = (p > 0.5) == truth
    return {
        "accuracy": right.mean(),
        "TPR": right[truth == 1].mean(),
        "TNR": right[truth == 0].mean(),
        "Brier": np.square(p - truth).mean(),
        "log loss": -np.log(np.where(truth == 1, clipped, 1.0 - clipped)).mean(),
    }


def real_crowd() -> rb.Labels:
    """The labels of TREC's 2010 relevance feedback track."""
    folder = Path(os.environ["RTC_BAYES_DATA"]) / "crowd_rf10"
    return rb.read_labels(folder / "trec-rf10-data.txt.gz")


def crowd(repetitions: int) -> pd.DataFrame:
    """A real crowd; the last rows know the gold labels of 100 pairs, and are scored by others."""
    labels = real_crowd()
    gold = labels.at_level(1).gold_grades()
    told = np.flatnonzero(gold >= 0)
    rows = [{"method": "a constant", **scored(np.full(len(told), gold[told].mean()), gold[told])}]
    made = {}
    for method in METHODS:
        made[method] = rb.aggregate(labels, method)
        rows.append({"method": method, **scored(made[method].probability[told], gold[told])})
    seen = rb.judge_table(labels.at_level(1))
    frame = made["hierarchical"].judges_frame()
    enough = (seen["gold"] >= 20).to_numpy()
    right = (seen["gold"] * seen["accuracy"])[enough].to_numpy()
    holds = by_chance(frame[enough], right, seen["gold"][enough].to_numpy())
    print(
        f"\nhierarchical: of {enough.sum()} workers with 20 gold labels or more, the 90% interval "
        f"of how many are right holds {holds:.3f}"
    )
    ids = labels.pair_ids()
    known_by = [("hierarchical", seed) for seed in range(min(repetitions, 3))]
    for method, seed in [*known_by, ("panel", 0)]:
        chosen = np.random.default_rng(seed).choice(told, 100, replace=False)
        rest = np.setdiff1d(told, chosen)
        human = {ids[i]: int(gold[i]) for i in chosen}
        p = rb.aggregate(labels, method, human=human, seed=seed).probability[rest]
        rows.append({"method": f"{method}, 100 known ({seed})", **scored(p, gold[rest])})
    return pd.DataFrame(rows)


def chosen(repetitions: int) -> pd.DataFrame:
    """LLMJudge, five random judges a pair: the priors that were tried."""
    del repetitions
    place = Path(os.environ["RTC_BAYES_DATA"]) / "llmjudge_dl23" / "panel_test.tsv.gz"
    panel = rb.read_labels(place, n_grades=4)
    pair = panel.pairs().of_label
    order = np.lexsort((np.random.default_rng(0).random(len(pair)), pair))
    turn = np.empty(len(pair), dtype=int)
    turn[order] = np.arange(len(pair)) - np.searchsorted(pair[order], pair[order])
    labels = panel.keep(turn < 5)
    truth = labels.at_level(2).gold_grades()
    rows = []
    for misleading, weight in (
        (0.2, 10),
        (0.2, 1000),
        (0.4, 10),
        (0.4, 100),
        (0.4, 1000),
        (0.6, 10),
        (0.6, 1000),
    ):
        prior = rb.CrowdPrior(misleading=misleading, topic_weight=weight)
        p = rb.aggregate(labels, relevance_level=2, prior=prior, draws=200).probability
        rows.append({"misleading": misleading, "topic weight": weight, **scored(p, truth)})
    return pd.DataFrame(rows)


def by_chance(judges: pd.DataFrame, right: np.ndarray, labels: np.ndarray) -> float:
    """Share of workers whose count of right labels is in the interval that theirs foretells.

    The accuracy's interval widened by the binomial chance of a finite sample: simulated, with
    accuracies normal of the same interval.
    """
    random = np.random.default_rng(0)
    sd = (judges["accuracy_high"] - judges["accuracy_low"]).to_numpy() / (2 * 1.645)
    drawn = np.clip(random.normal(judges["accuracy"], sd, (4000, len(judges))), 0, 1)
    counts = random.binomial(labels.astype(int), drawn)
    low, high = np.quantile(counts, [0.05, 0.95], axis=0)
    return float(((right >= low) & (right <= high)).mean())


def samples(repetitions: int) -> pd.DataFrame:
    """Table 8.1 on a real crowd."""
    every = real_crowd().at_level(1)
    told, of_label = np.flatnonzero(every.gold_grades() >= 0), every.pairs().of_label
    rows = []
    for count in (1000, 1500, 2000):
        of: dict[str, list[dict[str, float]]] = {}
        for seed in range(repetitions):
            random = np.random.default_rng(seed)
            pairs = random.choice(told, 500, replace=False)
            labels = random.permutation(np.flatnonzero(np.isin(of_label, pairs)))
            first = np.unique(of_label[labels], return_index=True)[1]
            others = np.delete(labels, first)[: count - len(first)]
            sample = every.keep(np.concatenate([labels[first], others]))
            for method in ("mv", "em", "hierarchical"):
                made = rb.aggregate(sample, method, seed=seed)
                row = scored(made.probability, sample.gold_grades())
                of.setdefault(method, []).append(row)
        for method, rows_of in of.items():
            rows.append({"labels": count, "method": method, **pd.DataFrame(rows_of).mean()})
    return pd.DataFrame(rows)


def documents(n: int, seed: int) -> rb.Qrels:
    """Documents of one topic, half of them relevant."""
    grades = np.random.default_rng(seed).integers(2, size=n)
    return as_qrels(grades)


def as_qrels(grades: np.ndarray) -> rb.Qrels:
    """Name documents of one topic."""
    return rb.Qrels({"1": {f"d{i}": int(grade) for i, grade in enumerate(grades)}})


def simulated(repetitions: int) -> pd.DataFrame:
    """Figure 8.1."""
    rows = []
    for mean in (0.5, 0.6, 0.7, 0.8, 0.9):
        for each in (1, 2, 4, 6, 8, 10):
            of = []
            for seed in range(repetitions):
                labels = rb.simulate_labels(
                    documents(1000, seed), per_pair=each, expertise=mean, seed=seed
                )
                truth = labels.gold_grades()
                of.append(
                    {
                        method: scored(rb.aggregate(labels, method).probability, truth)["accuracy"]
                        for method in ("mv", "em")
                    }
                )
            rows.append({"expertise": mean, "labels a document": each, **pd.DataFrame(of).mean()})
    return pd.DataFrame(rows)


def apart(repetitions: int) -> pd.DataFrame:
    """Four labels a document, a third relevant; workers are right with .75, give or take .1."""
    methods = {method: (method, {}) for method in METHODS if method != "panel"}
    methods |= {"hierarchical, told so": ("hierarchical", {"prior": NOTHING_MISLEADS})}
    rows = []
    for n in (150, 600, 2400):
        of: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
        for seed in range(repetitions):
            relevant = np.random.default_rng(seed).random(n) < 1 / 3
            labels = rb.simulate_labels(
                as_qrels(relevant),
                n_judges=n // 10,
                per_pair=4,
                expertise=0.75,
                concentration=20.0,
                seed=seed,
            )
            truth = labels.gold_grades()
            for name, (method, options) in methods.items():
                made = rb.aggregate(labels, method, seed=seed, **options)
                of[name].append(scored(made.probability, truth))
        for name, rows_of in of.items():
            rows.append({"documents": n, "method": name, **pd.DataFrame(rows_of).mean()})
    return pd.DataFrame(rows)


def workers(repetitions: int) -> pd.DataFrame:
    """Figure 8.2, at a mean expertise of .7."""
    rows = []
    for each in (2, 4, 6, 10):
        of = []
        for seed in range(repetitions):
            labels = rb.simulate_labels(documents(1000, seed), per_pair=each, seed=seed)
            # a worker's chance of being right is what the simulation draws first from its seed
            drawn = np.random.default_rng(seed).beta(0.7 * 5.0, 0.3 * 5.0, 100)
            truth = drawn[[int(name.removeprefix("worker")) - 1 for name in labels.judges]]
            share = rb.judge_table(labels)["accuracy"].to_numpy()
            row: dict[str, float] = {}
            for method in ("mv", "em", "hierarchical"):
                options = (
                    {"prior": NOTHING_MISLEADS, "draws": 400} if method == "hierarchical" else {}
                )
                frame = rb.aggregate(labels, method, seed=seed, **options).judges_frame()
                row[f"tau, {method}"] = kendall_tau(frame["accuracy"].to_numpy(), truth) or 0.0
            row["intervals, hierarchical"] = held(frame, "accuracy", truth)
            row["share right, hierarchical"] = held(frame, "right", share)
            of.append(row)
        rows.append({"labels a document": each, **pd.DataFrame(of).mean()})
    return pd.DataFrame(rows)


def checked(repetitions: int) -> pd.DataFrame:
    """LLMJudge, and 81 prompts on DL 2020: relevant from grade 2, pairs checked at random."""
    files = {
        "LLMJudge": "llmjudge_dl23/panel_test.tsv.gz",
        "DL 2020, prompts": "trec_dl20/prompt_panel_graded.tsv.gz",
    }
    rows = []
    for name, file in files.items():
        labels = rb.read_labels(Path(os.environ["RTC_BAYES_DATA"]) / file, n_grades=4)
        truth = rb.judge_table(labels.at_level(2))["accuracy"].to_numpy()
        ids = labels.pair_ids()
        for number in (50, 200):
            row: dict[str, object] = {"collection": name, "checked": number}
            for method in ("mv", "em", "panel"):
                shares = []
                for seed in range(repetitions):
                    picked = np.random.default_rng(seed).choice(len(ids), number, replace=False)
                    human = {ids[i]: labels.gold[ids[i]] for i in picked}
                    made = rb.aggregate(labels, method, relevance_level=2, human=human)
                    shares.append(held(made.judges_frame(), "accuracy", truth))
                row[method] = np.mean(shares)
            rows.append(row)
    return pd.DataFrame(rows)


def held(judges: pd.DataFrame, name: str, truth: np.ndarray) -> float:
    """Share of workers whose interval holds the truth."""
    return float((judges[f"{name}_low"].le(truth) & judges[f"{name}_high"].ge(truth)).mean())


def tracks(each: int, repetitions: int) -> Iterator[tuple[int, rb.Pool, rb.Qrels, rb.Labels]]:
    """Draw ten systems of TREC-8, and label their pool: a seed, the pool, its truth, its labels."""
    place = Path(os.environ["RTC_BAYES_DATA"]) / "trec8_adhoc"
    runs, qrels = (
        rb.read_runs(place / "runs", name_by="file"),
        rb.read_qrels(place / "qrels.txt.gz"),
    )
    for seed in range(repetitions):
        chosen = np.random.default_rng(seed).choice(len(runs), 10, replace=False)
        ten = rb.Runs([runs[runs.systems[i]] for i in sorted(chosen)])
        pool = rb.Pool.from_runs(ten, depth=20)
        judged: dict[str, dict[str, int]] = {}
        for topic, docno in zip(pool.topic_of, pool.docnos, strict=True):
            name = pool.topics[topic]
            judged.setdefault(name, {})[docno] = qrels.get(name, {}).get(docno, 0)
        truth = rb.Qrels(judged)
        labels = rb.simulate_labels(truth, per_pair=each, expertise=0.7, seed=seed)
        yield seed, pool, truth, labels


def by_qrels(pool: rb.Pool, truth: rb.Qrels) -> dict[str, np.ndarray]:
    """Score the systems of a pool by its truth, in every measure."""
    settled = rb.Relevance.from_erels(pool, rb.Probabilities({}), qrels=truth, default_p=0.5)
    return {m: rb.compare(pool, settled, e).expected for m, e in MEASURES.items()}


def systems(repetitions: int) -> pd.DataFrame:
    """Tables 8.2 and 8.3, workers simulated over TREC-8."""
    rows = []
    for each in (1, 3, 5):
        of = []
        for seed, pool, truth, labels in tracks(each, repetitions):
            by_truth, row = by_qrels(pool, truth), {}
            for method in ("mv", "em", "hierarchical"):
                options = {"draws": 300} if method == "hierarchical" else {}
                p = rb.aggregate(labels, method, seed=seed, **options).probabilities()
                values = rb.Relevance.from_erels(pool, p, default_p=0.5)
                for measure, estimand in MEASURES.items():
                    expected = rb.compare(pool, values, estimand).expected
                    row[f"{measure}, {method}"] = kendall_tau(expected, by_truth[measure])
            of.append(row)
        rows.append({"labels a document": each, **pd.DataFrame(of).mean()})
    return pd.DataFrame(rows)


def sampled(repetitions: int) -> pd.DataFrame:
    """Table 8.3 by statAP: tau with statAP of the same sample, labelled by the qrels.

    Samples are by the prior of average precision, as [AP08] draws them; "the sample" is tau of
    statAP by the qrels with MAP of the whole pool by the qrels. A document is relevant whose
    probability is above a half; "by draws" is the mean of statAP over draws of the true grades.
    """
    of: dict[tuple[int, float], list[dict[str, float]]] = {}
    for each in (1, 3, 5):
        for seed, pool, truth, labels in tracks(each, repetitions):
            of_pool = by_qrels(pool, truth)["AP"]
            for share in (0.1, 0.3, 0.5):
                size = share * pool.n_documents / pool.n_topics
                probability = rb.inclusion_probabilities(pool, size, sampling="rank")
                sample = rb.Sample.draw(pool, truth, probability, seed=seed)
                by_truth = stat_map(sample)
                in_it = sample.judgments.to_qrels()
                inside = [docno in in_it.get(topic, {}) for topic, docno in labels.pair_ids()]
                of_sample = labels.keep(np.array(inside)[labels.pairs().of_label])
                row = {"the sample": kendall_tau(by_truth, of_pool)}
                for method in ("mv", "em", "hierarchical"):
                    options = {"draws": 300} if method == "hierarchical" else {}
                    made = rb.aggregate(of_sample, method, seed=seed, **options)
                    by_name = {method: (made.probability > 0.5)[None]}
                    if made.draws is not None:
                        by_name[f"{method}, by draws"] = made.draws[::15]
                    for name, relevant in by_name.items():
                        drawn = [
                            stat_map(
                                rb.Sample.draw(pool, settled(made, one), probability, seed=seed)
                            )
                            for one in relevant
                        ]
                        tau = kendall_tau(np.mean(drawn, axis=0), by_truth)
                        row[f"statAP, {name}"] = tau or 0.0
                of.setdefault((each, share), []).append(row)
    return pd.DataFrame(
        [
            {"labels a document": each, "sample": share, **pd.DataFrame(rows).mean()}
            for (each, share), rows in of.items()
        ]
    )


def settled(made: rb.Aggregate, relevant: np.ndarray) -> rb.Qrels:
    """Return qrels of the pairs that were labelled."""
    tables: dict[str, dict[str, int]] = {}
    for (topic, docno), grade in zip(made.pairs, relevant.tolist(), strict=True):
        tables.setdefault(topic, {})[docno] = int(grade)
    return rb.Qrels(tables)


def stat_map(sample: rb.Sample) -> np.ndarray:
    """Return the mean of statAP over topics, of every system."""
    return rb.stat_ap(sample).scores.mean.mean(axis=1)


if __name__ == "__main__":
    main()
