"""What confidences about whole lists are worth, against those about the pool alone.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.whole_lists [--budgets 60 150 --jobs 2]

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge two
systems, fits it to the first judgments for all ten, and compares them by that one fit: lists to the
depth or to rank 1000, with unseen relevant documents or without, with a residual or without. The
truth is over whole lists. Differences of log scores are from the first row, with standard errors
over trials. Prints Markdown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.robust.development import of_each, trials_parser, with_error
from experiments.robust.run import JUDGE
from rtc_bayes import Estimand, compare
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.trials import Collection, Outcome, Plan, Prediction
from rtc_bayes.trials.scores import log_score

FORMS = {
    "lists to the depth": Estimand(scope="pool"),
    "and unseen documents": Estimand(scope="pool", unseen=True),
    "lists to rank 1000": Estimand(unseen=False, residual=0.0),
    "with unseen documents": Estimand(residual=0.0),
    "and a residual of .004": Estimand(residual=0.004),
    "and the residual of the rule": Estimand(),
}


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--budgets", type=int, nargs="+", default=[60, 150])
    options = parser.parse_args()
    plan = Plan((JUDGE,), budgets=tuple(options.budgets), moments="plugin")
    print("| | judged | | log score | less | tau | accuracy | confidence | bias | 95% |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, trials in of_each(scores_by_form, plan, options):
        of_budgets = np.moveaxis(np.array(trials), 1, 0)
        for budget, scores in zip(options.budgets, of_budgets, strict=True):
            for form, of_form in zip(FORMS, np.moveaxis(scores, 1, 0), strict=True):
                surprise, tau, accuracy, confidence, bias, held = of_form.mean(axis=0)
                less = with_error(of_form[:, 0] - scores[:, 0, 0], "+.3f")
                print(
                    f"| {name} | {budget} | {form} | {surprise:.3f} | {less} | {tau:.3f} "
                    f"| {accuracy:.3f} | {confidence:.3f} | {bias:+.3f} | {held:.0%} |",
                    flush=True,
                )


def scores_by_form(outcome: Outcome, collection: Collection) -> list[list[float]]:
    """Score the same fit by each form."""
    del collection
    return [scores(by_estimand(outcome, estimand)) for estimand in FORMS.values()]


def by_estimand(outcome: Outcome, estimand: Estimand) -> Outcome:
    """Compare the systems of an outcome again, by another estimand."""
    seed = outcome.draw.evaluating_seed
    comparison = compare(outcome.pool, outcome.relevance, estimand, moments="plugin", seed=seed)
    return replace(
        outcome, comparison=comparison, prediction=Prediction.from_comparison(comparison)
    )


def scores(outcome: Outcome) -> list[float]:
    """Means over pairs and over systems."""
    pairs, systems = outcome.unequal_pairs(), outcome.systems_frame()
    error = systems["expected"] - systems["true"]
    return [
        log_score(pairs["confidence"], pairs["correct"]).mean(),
        outcome.tau,
        pairs["correct"].mean(),
        pairs["confidence"].mean(),
        error.mean(),
        (error.abs() < NORMAL_95 * systems["sd"]).mean(),
    ]


if __name__ == "__main__":
    main()
