"""What a pool of judged documents cannot tell of whole lists: the rule of ``residual="auto"``.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.residual [--sets 20] [-o residual.csv]

draws sets of 2 to 40 systems of four collections, and half or all of their topics, gives every
document of their pool of depth 100 its label, scores whole lists with the unseen relevant documents
that the jackknife expects, and holds the differences against those by all judgments: the standard
deviation of what is left of a system's mean score, over the square root of the topics. Collections
with shallow judgments are condensed to what is judged. Then the rule that each three collections
give, and what it says of the fourth. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import Pool, evaluate, moments
from rtc_bayes.confidence.unseen import with_unseen
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials import Collection

SYSTEMS, MEASURES = (2, 3, 5, 10, 20, 40), ("AP", "nDCG@10", "P@10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    table = pd.DataFrame([row for name in COLLECTIONS for row in rows_of(name, options.sets)])
    if options.output:
        table.to_csv(options.output, index=False)
    print(to_markdown(table))


def rows_of(name: str, sets: int) -> Iterator[dict[str, object]]:
    """Measure what is left, by measure, number of systems and of topics."""
    runs, qrels, level = read(name)
    collection = Collection.from_runs(runs, qrels, Estimand(relevance_level=level))
