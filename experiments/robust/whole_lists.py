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
from functools import partial

import numpy as np

from experiments.robust.development import of_each, trials_parser, with_error
from experiments.robust.frontier import Question, compared, fits_of, scores
from experiments.robust.run import JUDGE, POOL_ALONE, WHOLE_LISTS
from rtc_bayes.trials import Collection

FORMS = (
    ("lists to the depth", POOL_ALONE),
    ("and unseen documents", POOL_ALONE | {"unseen": True}),
    ("lists to rank 1000", WHOLE_LISTS | {"unseen": False, "residual": 0.0}),
    ("and unseen documents", WHOLE_LISTS | {"residual": 0.0}),
    ("and a residual of .004", WHOLE_LISTS | {"residual": 0.004}),
)


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--budgets", type=int, nargs="+", default=[60, 150])
    options = parser.parse_args()
    question = Question(JUDGE, JUDGE, options.budgets, 2, "AP", POOL_ALONE)
    print("| | judged | | log score | less | tau | accuracy | confidence | bias | 95% |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    work = partial(trial, question=question)
    for name, _, every in of_each(work, options, question.whole["score_depth"]):
        found = np.array(every)
        for b, budget in enumerate(options.budgets):
            for (form, _), of_form in zip(FORMS, np.moveaxis(found[:, b], 1, 0), strict=True):
                tau, surprise, _, accuracy, confidence, bias, held = of_form.mean(axis=0)
                less = with_error(of_form[:, 1] - found[:, b, 0, 1], "+.3f")
                print(
                    f"| {name} | {budget} | {form} | {surprise:.3f} "
                    f"| {less} | {tau:.3f} | {accuracy:.3f} "
                    f"| {confidence:.3f} | {bias:+.3f} | {held:.0%} |",
                    flush=True,
                )


def trial(collection: Collection, seed: int, question: Question) -> list[list[list[float]]]:
    """Scores of one trial at each budget by each form, and the share of MAPs in their intervals."""
    draw, pool, fits = fits_of(collection, question, seed)
    true = collection.truth_of(draw.everyone)
    found = []
    for made in fits:
        found.append([])
        for _, form in FORMS:
            by_form = compared(pool, made, replace(question, whole=form), draw)
            inside = np.abs(by_form.expected - true) < 1.96 * by_form.sd
            found[-1].append([*scores(by_form, true), inside.mean()])
    return found


if __name__ == "__main__":
    main()
