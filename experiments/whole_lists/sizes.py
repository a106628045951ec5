"""The parameters of `robust` by how many systems are pooled, from complete judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.sizes [--collections NAME...]

finds, for random sets of 5 to 80 systems, or of all where there are fewer, the parameters of
highest marginal likelihood, as `experiments.whole_lists.priors` does for the priors. Prints the
means by collection and number of systems (of scales, of their logarithms) as Markdown; and by which
power of the number of systems scales go, from ten systems on: of each collection, and the mean of
the effects of systems over all of them, and over all but each.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from experiments.robust.scales import FITTED
from experiments.whole_lists.four import COLLECTIONS
from experiments.whole_lists.priors import by_size
from rtc_bayes.report.tables import to_markdown

SETS = {5: 4, 10: 4, 20: 3, 40: 2, 80: 1}
SHOWN = ["mu", "m_a", "m_b", "s_alpha", "s_q", "s_w", "s_a", "s_b"]
FROM, OF_SYSTEMS = 10, ["s_a", "s_b"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    powers_of = {}
    for folder in parser.parse_args().collections:
        table, name = by_size(folder, SETS, seed=300), COLLECTIONS[folder].name
        many = table[table.index >= FROM]
        powers_of[name] = np.polyfit(np.log(many.index), many[FITTED], 1)[0]
        table[FITTED] = np.exp(table[FITTED])
        table = table[SHOWN].round(2).rename_axis("systems").reset_index()
        print(to_markdown(table.assign(collection=name)))
    powers = pd.DataFrame(powers_of, index=FITTED).T
    print(to_markdown(powers.round(2).reset_index(names="power of the number of systems")))
    mean = powers[OF_SYSTEMS].mean(axis=1)
    print(f"{', '.join(OF_SYSTEMS)}: {mean.mean():.2f}")
    for name in mean.index:
        others = mean.drop(name)
        if len(others):
            print(f"without {name}: {others.mean():.2f}")


if __name__ == "__main__":
    main()
