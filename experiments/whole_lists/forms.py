"""Other forms of `robust` for many systems, by the evidence of complete judgments.

    RTC_BAYES_DATA=FOLDER python -m experiments.whole_lists.forms [--collections NAME...]

finds, for random sets of 5 to 80 systems, or of all where there are fewer, the parameters of
highest marginal likelihood, as `experiments.whole_lists.priors` does for the priors; with one
coefficient more, of the logarithm of the share of systems that retrieve a document, or of its best
rank; and with what systems' effects on a topic have in common divided by the square root of the
number of systems, not by its cube root (equal at ten). Prints the log evidence of each form less
that of the model, mu of the model and of the form, as Markdown: means over sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.robust.scales import WIDE, Rows, fitted
from experiments.whole_lists.four import COLLECTIONS
from experiments.whole_lists.priors import random_sets
from experiments.whole_lists.sizes import SETS
from rtc_bayes.relevance import rank_curve
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.workers import one_thread
from rtc_bayes_models.robust import COEFFICIENTS, Design

type Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", nargs="+", choices=[*COLLECTIONS], default=[*COLLECTIONS])
    for folder in parser.parse_args().collections:
        with one_thread():
            table = of_collection(folder)
        print(to_markdown(table.assign(collection=COLLECTIONS[folder].name)))


def of_collection(folder: str) -> pd.DataFrame:
    """Compare the forms with the model, by number of systems."""
    rows_of_forms = []
    for design, own in random_sets(folder, SETS, seed=300):
        systems = design.pool.n_systems
        coefficients, _, evidence = fitted(own, WIDE, systems)
        for name, form in FORMS.items():
            other, more = form(design, own)
            changed, _, gained = fitted(other, WIDE, systems, more)
            rows_of_forms.append([systems, name, gained - evidence, coefficients[0], changed[0]])
    frame = pd.DataFrame(
        rows_of_forms, columns=["systems", "form", "log evidence", "mu", "mu of the form"]
    )
    return frame.groupby(["form", "systems"], sort=False).mean().round(2).reset_index()


def with_share(design: Design, own: list[Rows]) -> tuple[list[Rows], int]:
    """Add the logarithm of the share of systems that retrieve a document."""
    return _with(design, own, lambda ranks: np.log((ranks > 0).mean(axis=1)))


def with_best_rank(design: Design, own: list[Rows]) -> tuple[list[Rows], int]:
    """Add the rank curve of a document's best rank."""
    reach = design.pool.reach
    return _with(design, own, lambda ranks: rank_curve(ranks, reach).max(axis=1))


def _with(
    design: Design, own: list[Rows], feature: Callable[[NDArray[np.integer]], Floats]
) -> tuple[list[Rows], int]:
    """Put a feature of ranks, of shape (documents, systems), behind the coefficients'."""
    added = []
    for t, topic in enumerate(own):
        value = feature(design.pool.ranks(t, below=True).T)
        columns = np.insert(topic.columns, len(COEFFICIENTS), value, axis=1)
        added.append(Rows(columns, topic.local, topic.labels))
    return added, 1


def by_square_root(design: Design, own: list[Rows]) -> tuple[list[Rows], int]:
    """Divide what effects on a topic have in common by the square root of the number of systems."""
    systems = design.pool.n_systems
    # what has the mean (1 - shared) mean / J^(1/3) gets (10 / J)^(1/6) times that
    change = (10 / systems) ** (1 / 6) - 1
    changed = []
    for topic in own:
        local = topic.local.copy()
        for here in np.split(np.arange(1, 1 + 2 * systems), 2):
            local[:, here] += change * local[:, here].mean(axis=1, keepdims=True)
        changed.append(Rows(topic.columns, local, topic.labels))
    return changed, 0


FORMS = {
    "logarithm of the share of systems": with_share,
    "best rank": with_best_rank,
    "in common by the square root": by_square_root,
}


if __name__ == "__main__":
    main()
