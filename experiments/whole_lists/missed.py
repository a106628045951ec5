"""How many relevant documents a pool of few systems misses, and how many the jackknife expects.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.missed

draws sets of 2 to 40 systems of each collection and pools them to depth 100, all judged. Prints,
as Markdown, medians over sets of the share of the relevant documents that the pool holds, and of
what the first-order jackknife (:mod:`rtc_bayes.confidence.unseen`) expects that it misses, as a
share of what it does miss.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, judged_to, prepared
from rtc_bayes import Judgments, Pool
from rtc_bayes.confidence.unseen import is_unseen, with_unseen
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import quietly

SETS = {2: 30, 4: 20, 10: 10, 20: 5, 40: 3}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with quietly():
        sets = pd.DataFrame([row for folder in COLLECTIONS for row in rows_of(folder)])
    shape = {"index": "collection", "columns": "systems", "values": ["held", "expected"]}
    medians = sets.pivot_table(**shape, aggfunc="median", sort=False).round(2)
    medians.columns = [f"{value}, {systems}" for value, systems in medians.columns]
    print(to_markdown(medians.reset_index()))


def rows_of(folder: str) -> Iterator[dict[str, object]]:
    """Count over all topics, for each set of systems."""
    runs, labels = prepared(folder)
    every = Pool.from_runs(runs)
    every = every.select_topics([topic for topic in every.topics if topic in labels])
    relevant = sum(sum(labels[topic].values()) for topic in every.topics)
    random = np.random.default_rng(5)
    for systems, number in SETS.items():
        for _ in range(number if systems <= every.n_systems else 0):
            some = random.choice(every.systems, systems, replace=False)
            own = runs.select(some.tolist())
            # the documents of these systems alone
            pool = Pool.from_runs(own).select_topics([t for t in own.topics if t in labels])
            judgments = Judgments.from_qrels(pool, judged_to(own, labels, pool.depth))
            judged = np.nan_to_num(judgments.labels)
            extended, values = with_unseen(pool, judged[None])
            held = judged.sum()
            yield {
                "collection": COLLECTIONS[folder].name,
                "systems": systems,
                "held": held / relevant,
                "expected": values[0, is_unseen(extended)].sum() / (relevant - held),
            }


if __name__ == "__main__":
    main()
