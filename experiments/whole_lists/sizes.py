"""The parameters of `robust` by how many systems are pooled, from complete judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.sizes [--collections NAME...]

finds, for random sets of 5 to 80 systems, or of all where there are fewer, the parameters of
highest marginal likelihood, as `experiments.whole_lists.priors` does for the priors. Prints the
means by collection and number of systems (of scales, of their logarithms) as Markdown.
"""

from __future__ import annotations

import argparse

import numpy as np

from experiments.robust.scales import FITTED
from experiments.whole_lists.four import COLLECTIONS
from experiments.whole_lists.priors import by_size
from rtc_bayes.report.tables import to_markdown

SETS = {5: 4, 10: 4, 20: 3, 40: 2, 80: 1}
SHOWN = ["mu", "m_a", "m_b", "s_a", "s_b"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    for folder in parser.parse_args().collections:
        table = by_size(folder, SETS, seed=300)
        table[FITTED] = np.exp(table[FITTED])
        table = table[SHOWN].round(2).rename_axis("systems").reset_index()
        print(to_markdown(table.assign(collection=COLLECTIONS[folder].name)))


if __name__ == "__main__":
    main()
