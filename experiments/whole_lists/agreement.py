"""Whether topics on which systems agree are easier, by the evidence of complete judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.agreement

finds, for random sets of 3 to 40 systems of each of four collections, the parameters of highest
marginal likelihood of `robust` without its term in systems' agreement on a topic, and with it: by
the share of their first 10 documents that two systems have in common, as in the model, of their
first 50 and of all; and by the 10 with a term more, in how far each system agrees with the others
on a topic. Prints the log evidence of each less that without, and the coefficient of the first 10,
as Markdown: means over sets, with their standard errors.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.robust.development import with_error
from experiments.robust.scales import WIDE, Rows, fitted
from experiments.whole_lists.four import COLLECTIONS
from experiments.whole_lists.priors import random_sets
from rtc_bayes import Pool
from rtc_bayes.relevance import rank_curve
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.workers import one_thread
from rtc_bayes_models.robust import (
    COEFFICIENTS,
    FIRST,
    Design,
    shared_of_first,
    unit_of_first,
)

type Floats = NDArray[np.float64]

SETS = {3: 6, 5: 6, 10: 6, 40: 3}
WITHOUT = replace(WIDE, m_e=(0.0, 1e-6))
PLACE = COEFFICIENTS.index("m_e")
# m_b f varies over systems by a few units, and the share by a few tenths
_OWN = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    rows = []
    with one_thread():
        for folder, judged in COLLECTIONS.items():
            table = pd.DataFrame([of_set(*drawn) for drawn in random_sets(folder, SETS, seed=300)])
            for systems, sets in table.groupby("systems"):
                told = {name: with_error(sets[name].to_numpy(), ".1f") for name in sets.columns[1:]}
                rows.append({"collection": judged.name, "systems": systems, **told})
    print(to_markdown(pd.DataFrame(rows)))


def of_set(design: Design, own: list[Rows]) -> dict[str, float]:
    """Compare the forms for one set of systems."""
    systems = design.pool.n_systems
    least = fitted(own, WITHOUT, systems)[2]
    coefficients, _, first = fitted(own, WIDE, systems)
    forms = {"of all": by_first(design, own, design.pool.depth), "of 50": by_first(design, own, 50)}
    gains = {name: fitted(rows, WIDE, systems)[2] - least for name, rows in forms.items()}
    each = fitted(with_each(design, own), WIDE, systems, 1)[2] - least
    return {
        "systems": systems,
        "m_e": coefficients[PLACE],
        "of 10": first - least,
        **gains,
        "of 10, and each system's": each,
    }


def by_first(design: Design, own: list[Rows], first: int) -> list[Rows]:
    """Let the model's term be in the share of so many documents."""
    shared = shared_of_first(design.pool, first)
    changed = []
    for topic, value in zip(own, shared - shared.mean(), strict=True):
        columns = topic.columns.copy()
        columns[:, PLACE] = value * (columns[:, COEFFICIENTS.index("m_b")] - design.model.pivot)
        changed.append(Rows(columns, topic.local, topic.labels))
    return changed


def with_each(design: Design, own: list[Rows]) -> list[Rows]:
    """Add a term in each system's own agreement with the others, less the topic's."""
    pool, added = design.pool, []
    for t, topic in enumerate(own):
        f = rank_curve(pool.ranks(t, below=True).T, pool.reach)
        value = (f - design.model.pivot) @ own_shares(pool, t) * _OWN / pool.n_systems
        columns = np.insert(topic.columns, len(COEFFICIENTS), value, axis=1)
        added.append(Rows(columns, topic.local, topic.labels))
    return added


def own_shares(pool: Pool, topic: int) -> Floats:
    """Share of its first ten that each system has in common with the others, less their mean."""
    top = unit_of_first(pool, topic, FIRST)
    in_common = top @ top.T
    shares = (in_common.sum(axis=1) - in_common.diagonal()) / (len(top) - 1)
    return shares - shares.mean()


if __name__ == "__main__":
    main()
