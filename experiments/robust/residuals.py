"""What is left of true differences in MAP beyond a posterior, and what it does to confidences.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.residuals [--trials 33 --jobs 2]

takes the development trials (seed 1000) of TREC-8 and Robust 2003, judged and evaluated as the
frozen ones are, and compares all pairs by each fit with several residuals of a system's mean score.
The truth is over whole lists. The first table has the scale s and the residual r under which true
differences are likeliest, if normal about s times the expected ones with variance s^2 sd^2 + 2 r^2,
that is, as if systems shared nothing of the residual.
Prints Markdown.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from experiments.robust.development import of_each, trials_parser
from experiments.robust.run import JUDGE
from experiments.robust.whole_lists import by_estimand
from rtc_bayes import Estimand
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import number, to_markdown
from rtc_bayes.trials import Collection, Outcome, Plan
from rtc_bayes.trials.scores import log_score, winnings

RESIDUALS = (0.0, 0.004, 0.006, 0.008, 0.01, 0.012)


def main() -> None:
    options = trials_parser(__doc__).parse_args()
    plan = Plan((JUDGE,), estimand=Estimand(residual=0.0), moments="plugin")
    likeliest, scores = [], []
    for name, trials in of_each(by_residual, plan, options):
        pairs = pd.concat([frame for (frame,) in trials])
        without = pairs[pairs["residual"] == 0.0]
        for kind, some in (("all", without), ("judged for", without[without["initial"] == 2])):
            scale, residual = likeliest_residual(some)
            row = {"": name, "pairs": kind, "scale": f"{scale:.2f}", "residual": f"{residual:.4f}"}
            likeliest.append(row)
        scores += [
            {"": name, "residual": f"{residual:g}"} | scores_of(some)
            for residual, some in pairs.groupby("residual")
        ]
    print(to_markdown(pd.DataFrame(likeliest)), to_markdown(pd.DataFrame(scores)), sep="\n")


def by_residual(outcome: Outcome, collection: Collection) -> pd.DataFrame:
    """Compare all pairs with every residual."""
    del collection
    frames = (
        by_estimand(outcome, Estimand(residual=residual)).unequal_pairs().assign(residual=residual)
        for residual in RESIDUALS
    )
    return pd.concat(frames)


def likeliest_residual(pairs: pd.DataFrame) -> tuple[float, float]:
    """Scale of the expected differences, and residual, under which true ones are likeliest."""
    columns = ("expected_difference", "sd", "true_difference")
    expected, sd, true = (pairs[column].to_numpy() for column in columns)

    def surprise(logs: np.ndarray) -> float:
        scale, residual = np.exp(logs)
        variance = (scale * sd) ** 2 + 2.0 * residual**2
        return float((np.log(variance) + (true - scale * expected) ** 2 / variance).mean())

    scale, residual = np.exp(minimize(surprise, [0.0, np.log(0.005)], method="Nelder-Mead").x)
    return scale, residual


def scores_of(pairs: pd.DataFrame) -> dict[str, str]:
    """Score confidences and intervals of all pairs, and confidences of those judged for."""
    error = (pairs["true_difference"] - pairs["expected_difference"]).abs()
    scores = {
        "confidence": f"{pairs['confidence'].mean():.3f}",
        "accuracy": f"{pairs['correct'].mean():.3f}",
        "difference, 95%": f"{(error < NORMAL_95 * pairs['sd']).mean():.1%}",
    }
    for kind, some in (("", pairs), ("judged for: ", pairs[pairs["initial"] == 2])):
        outcome = some["confidence"], some["correct"]
        scores[f"{kind}log score"] = f"{log_score(*outcome).mean():.4f}"
        scores[f"{kind}W"] = number(winnings(*outcome).mean(), ".2f")
    return scores


if __name__ == "__main__":
    main()
