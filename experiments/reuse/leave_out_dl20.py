"""Leave each group of DL 2020 out of complete judgments: who retrieved what alone.

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.leave_out_dl20

Grades of 2 and above are relevant; groups are those of `left_out_groups`. Prints Markdown.
"""

from __future__ import annotations

import warnings

import rtc_bayes as rb
from experiments.reuse.left_out_groups import groups_of
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes.report.tables import to_markdown

FOLDER = "trec_dl20"


def main() -> None:
    warnings.simplefilter("ignore")
    runs, qrels = read(FOLDER)
    result = rb.leave_group_out(
        runs,
        qrels,
        groups_of(FOLDER, runs.systems),
        depth=(100, 50, 20, 10),
        relevance_level=COLLECTIONS[FOLDER].relevance_level,
    )
    print(f"{result.verdict()}\n")
    print(to_markdown(result.summary()))


if __name__ == "__main__":
    main()
