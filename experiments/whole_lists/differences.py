"""How wide a 95% interval of a difference must be, on four collections.

    python -m experiments.whole_lists.differences DIR

reads the trials of experiments.whole_lists.trials in DIR (pairs.csv of each collection). Errors of
expected differences, in standard deviations, have a root mean square of 1 where these are right.
Their excess kurtosis about 0 is 0 for a normal, and above it with heavier tails.
For each collection it finds that of the other three, each weighing the same, and says how likely
the collection's own differences are by a normal of the stated standard deviations and by one that
is so much wider (mean negative log density; lower is better), what shares lie in 95% intervals by
both and in those that the library prints (which hold the error that all scores share, too), and
what share of the differences that the first misses are larger than expected, not smaller or of the
other sign. Last, by how much the log score of the signs would rise if probabilities were by the
library's width, too. Prints Markdown.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from experiments.common import standard_error
from experiments.whole_lists.four import COLLECTIONS
from rtc_bayes.confidence.pair import half_width
from rtc_bayes.defaults import DIFFERENCE_95, NORMAL_95
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.trials.scores import log_score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", type=Path, help="what experiments.whole_lists.trials wrote")
    options = parser.parse_args()
    pairs = {
        collection.name: in_deviations(pd.read_csv(options.trials / folder / "pairs.csv"))
        for folder, collection in COLLECTIONS.items()
    }
    print(to_markdown(pd.DataFrame([row(name, pairs) for name in pairs])))
    every = width([of["off"] for of in pairs.values()])
    print(f"Of all four: {every:.3f} times as wide, {NORMAL_95 * every:.3f} standard deviations.")


def in_deviations(pairs: pd.DataFrame) -> pd.DataFrame:
    """Turn pairs so that the expected difference is positive, all in standard deviations."""
    uncertain = pairs[pairs["sd"] > 0.0]
    expected = uncertain["expected_difference"] / uncertain["sd"]
    true = uncertain["true_difference"] / uncertain["sd"] * np.sign(expected)
    return pd.DataFrame(
        {
            "trial": uncertain["trial"],
            "expected": expected.abs(),
            "off": true - expected.abs(),
            "shared": uncertain["sd_shared"] / uncertain["sd"],
        }
    )


def width(errors: list[pd.Series]) -> float:
    """Root mean square of errors in standard deviations, each collection weighing the same."""
    return float(np.sqrt(np.mean([(off**2).mean() for off in errors])))


def row(name: str, pairs: dict[str, pd.DataFrame]) -> dict[str, object]:
    off = pairs[name]["off"]
    by_others = width([of["off"] for other, of in pairs.items() if other != name])
    missed = off.abs() > NORMAL_95
    return {
        "": name,
        "pairs": len(off),
        "errors, rms": f"{width([off]):.2f}",
        "of the others": f"{by_others:.2f}",
        "excess kurtosis": f"{(off**4).mean() / (off**2).mean() ** 2 - 3.0:+.2f}",
        "density": f"{-norm.logpdf(off).mean():.3f}",
        "density, wider": f"{-norm(scale=by_others).logpdf(off).mean():.3f}",
        "95%": f"{inside(off, NORMAL_95):.1%}",
        "95%, wider": f"{inside(off, NORMAL_95 * by_others):.1%}",
        "printed": f"{inside(off, half_width(1.0, pairs[name]['shared'])):.1%}",
        "missed for larger": f"{(off[missed] > 0.0).mean():.0%}",
        "log score": surprise(pairs[name]),
    }


def inside(off: pd.Series, deviations: float | pd.Series) -> float:
    return float((off.abs() <= deviations).mean())


def surprise(pairs: pd.DataFrame) -> str:
    """By how much log scores rise where probabilities are by the wider normal, by trial."""
    right = (pairs["expected"] + pairs["off"] > 0.0).to_numpy()
    of = [
        log_score(norm.cdf(pairs["expected"] / wide), right)
        for wide in (1.0, DIFFERENCE_95 / NORMAL_95)
    ]
    of_trials = pd.Series(of[1] - of[0]).groupby(pairs["trial"].to_numpy()).mean()
    return f"{of_trials.mean():+.3f} ± {standard_error(of_trials):.3f}"


if __name__ == "__main__":
    main()
