"""How wide a 95% interval of a difference must be: the tails of differences on four collections.

    python -m experiments.whole_lists.differences DIR

reads the trials of experiments.whole_lists.trials in DIR (pairs.csv of each collection). Standard
deviations of differences are found from a model, and are themselves off: by more for some pairs
than for others, so that differences in standard deviations have the tails of Student's t. For each
collection it finds the degrees of freedom under which differences of the other three are
likeliest, each collection weighing the same, and says how likely its own differences are by a
normal and by that t (mean negative log density; lower is better), and what share lies in 95%
intervals by a normal, by that t and by the t of the library. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm, t

from experiments.whole_lists.four import COLLECTIONS
from rtc_bayes.defaults import DIFFERENCE_95, NORMAL_95
from rtc_bayes.report.tables import to_markdown

type Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", type=Path, help="what experiments.whole_lists.trials wrote")
    options = parser.parse_args()
    off = {
        collection.name: in_deviations(pd.read_csv(options.trials / folder / "pairs.csv"))
        for folder, collection in COLLECTIONS.items()
    }
    print(to_markdown(pd.DataFrame([row(name, off) for name in off])))
    print(f"Of all four: {likeliest(off.values()):.1f} degrees of freedom.")


def in_deviations(pairs: pd.DataFrame) -> Floats:
    """Errors of expected differences, in standard deviations."""
    uncertain = pairs[pairs["sd"] > 0.0]
    error = uncertain["true_difference"] - uncertain["expected_difference"]
    return np.asarray(error / uncertain["sd"])


def row(name: str, off: dict[str, Floats]) -> dict[str, object]:
    own, freedom = off[name], likeliest(mine for other, mine in off.items() if other != name)
    by_others = t(freedom)
    return {
        "": name,
        "pairs": len(own),
        "freedom, by the others": f"{freedom:.1f}",
        "density, normal": f"{-norm.logpdf(own).mean():.3f}",
        "density, t": f"{-by_others.logpdf(own).mean():.3f}",
        "95%, normal": f"{inside(own, NORMAL_95):.1%}",
        "95%, t": f"{inside(own, by_others.ppf(0.975)):.1%}",
        f"± {DIFFERENCE_95:.2f} sd": f"{inside(own, DIFFERENCE_95):.1%}",
    }


def inside(off: Floats, deviations: float) -> float:
    return float((np.abs(off) <= deviations).mean())


def likeliest(collections: Iterable[Floats]) -> float:
    """The degrees of freedom under which these collections' errors are likeliest."""
    several = list(collections)

    def loss(log: float) -> float:
        return -float(sum(t.logpdf(off, np.exp(log)).mean() for off in several))

    return float(np.exp(minimize_scalar(loss, bounds=(0.5, 5.0), method="bounded").x))


if __name__ == "__main__":
    main()
