"""The leaderboard: every judge and evaluator at the same number of judgments, all runs at hand.

    RTC_BAYES_DATA=FOLDER python -m experiments.frontier.run [--collections trec8_adhoc ...]
        [--methods mtf/nonrelevant ...] [--repetitions 1] [-o frontier.csv]

prints Markdown. All runs of a collection are judged for and compared, lists cut at depth 100 (of
shallow pools condensed to what is judged, as `experiments.whole_lists` has them); the truth is
average precision of whole lists by all judgments. Judges that the literature has call what is not
judged nonrelevant, or condense lists, and their confidences are those of a paired t test over
topics; models predict it. To add a method, add a line to METHODS.

tau is Kendall's with the true order. Of pairs that a paired t test over topics calls different by
all judgments at .05 (of lists cut at 100), the share whose order is right is given. The log score
and accuracy less confidence are over all pairs. Repetitions differ in how judges break ties, and
in the draws of models.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, prepared
from rtc_bayes import Estimand, log_score
from rtc_bayes.measures import paired_t
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import Collection, Plan, outcomes
from rtc_bayes.trials.complete import topic_scores_by
from rtc_bayes.trials.trial import Outcome

METHODS = (
    "pool/nonrelevant",
    "mtf/nonrelevant",
    "maxmean/nonrelevant",
    "mmns/nonrelevant",
    "mtf/condensed",
    "rankvar/nonrelevant",
    "rankvar/condensed",
    "rankvar/rtc:map",
    "rankvar/hierarchical:laplace",
    "mtf/hierarchical:laplace",
)
#: Judgments, as a share of those that the collection has.
SHARES = (0.002, 0.005, 0.01, 0.03, 0.05, 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, help="a CSV of every repetition")
    options = parser.parse_args()
    rows = []
    for name in options.collections:
        for row in measured(name, options.methods, options.repetitions):
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
            if options.output:
                pd.DataFrame(rows).to_csv(options.output, index=False)
    print_tables(pd.DataFrame(rows))


def measured(name: str, methods: list[str], repetitions: int) -> Iterator[dict[str, object]]:
    """Measure the methods on one collection."""
    runs, qrels = prepared(name)
    estimand = Estimand(depth=100, scope="pool")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collection = Collection.from_runs(runs, qrels, estimand)
        total = sum(grade >= 0 for graded in qrels.values() for grade in graded.values())
        budgets = tuple(round(share * total) for share in SHARES)
        systems = len(runs)
        for method in methods:
            plan = Plan(
                (method,),
                n_systems=systems,
                n_initial=systems,
                estimand=estimand,
                budgets=budgets,
            )
            for repetition in range(repetitions):
                for share, outcome in zip(
                    SHARES, outcomes(collection, plan, seed=repetition), strict=True
                ):
                    yield {
                        "collection": name,
                        "method": method,
                        "share": share,
                        "judged": outcome.judged,
                        "repetition": repetition,
                        **scored(outcome, collection),
                    }


def scored(outcome: Outcome, collection: Collection) -> dict[str, object]:
    """Return how well an outcome orders all runs, and how truthfully it says so."""
    if outcome.failure is not None:
        return {"failure": outcome.failure}
    pairs = outcome.pairs_frame()
    told = pairs.dropna(subset="correct")
    correct, confidence = told["correct"].to_numpy(), told["confidence"].to_numpy()
    judgments = collection.judgments.on(outcome.pool)
    truly = paired_t(topic_scores_by(judgments, collection.estimand))
    different = truly.confidence >= 0.975
    return {
        "tau": outcome.tau,
        "significant": pairs["correct"][different].mean(),
        "log_score": log_score(confidence, correct).mean(),
        "accuracy": correct.mean(),
        "confidence": confidence.mean(),
        "seconds": outcome.seconds_evaluating,
    }


def print_tables(rows: pd.DataFrame) -> None:
    """Print a table of each measure for each collection: a row a method, a column a budget."""
    rows = rows.assign(surplus=rows["accuracy"] - rows["confidence"])
    for name, of in rows.groupby("collection", sort=False):
        judged = of.groupby("share")["judged"].max()
        print(f"\n## {name}\n")
        for column, title in (
            ("tau", "Kendall's tau"),
            ("significant", "Share of truly different pairs in the right order"),
            ("log_score", "Log score"),
            ("surplus", "Accuracy less confidence"),
        ):
            table = of.pivot_table(index="method", columns="share", values=column, sort=False)
            table.columns = [f"{judged[share]:,} ({share:.1%})" for share in table.columns]
            print(f"**{title}**\n")
            print(to_markdown(table.map(lambda x: f"{x:.3f}").reset_index()), "\n")


if __name__ == "__main__":
    main()
