"""How well probabilities of relevance fit the documents that were not judged.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.documents [--trials 33 --jobs 2] \\
        [--evaluators robust:gibbs 'robust[df=4]:gibbs']

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge for
two systems 175 documents, and fits each evaluator to these judgments for
all ten. Of the pool's unjudged documents it prints the log loss of the mean probability; what that
is less the first evaluator's, with its standard error over trials; and how many relevant documents
are expected for one that is, in all and in the topics of six groups, by how many are expected.
Prints Markdown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.robust.development import of_each, trials_parser, with_error
from experiments.robust.run import JUDGE
from rtc_bayes.trials import Collection, Outcome, Plan

GROUPS = 6
# the model and its priors before what systems share turned about a pivot
BEFORE = "robust[preset=trec,pivot=0,mu=-3.6:.7,s_alpha=1:.25]:gibbs"


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--evaluators", nargs="+", default=[BEFORE, JUDGE])
    parser.add_argument("--judgments", type=int, default=175)
    options = parser.parse_args()
    algorithms = tuple(f"{JUDGE}/{evaluator}" for evaluator in options.evaluators)
    plan = Plan(algorithms, budgets=(options.judgments,), moments="plugin")
    print("| | | log loss | less the first | expected for one | by groups of topics |")
    print("|---|---|--:|---|--:|---|")
    for name, trials in of_each(of_unjudged, plan, options):
        losses = np.array([[loss for loss, _ in trial] for trial in trials])
        for e, evaluator in enumerate(options.evaluators):
            less = with_error(losses[:, e] - losses[:, 0], "+.4f")
            topics = np.vstack([trial[e][1] for trial in trials])
            expected, relevant = topics.T
            groups = np.array_split(topics[np.argsort(expected)], GROUPS)
            each = ", ".join("{:.0f} for {:.0f}".format(*group.mean(axis=0)) for group in groups)
            print(
                f"| {name} | {evaluator} | {losses[:, e].mean():.4f} "
                f"| {less} | {expected.sum() / relevant.sum():.2f} | {each} |",
                flush=True,
            )


def of_unjudged(outcome: Outcome, collection: Collection) -> tuple[float, NDArray[np.float64]]:
    """Log loss of unjudged documents; of every topic how many are expected relevant, and are."""
    pool = outcome.judgments.pool
    unjudged = ~outcome.judgments.judged
    p = outcome.relevance.values.mean(axis=0)[unjudged]
    relevant, topic = collection.labels(pool)[unjudged], pool.topic_of[unjudged]
    loss = -np.log(np.where(relevant > 0, p, 1.0 - p)).mean()
    counts = [np.bincount(topic, weight, minlength=pool.n_topics) for weight in (p, relevant)]
    return float(loss), np.column_stack(counts)


if __name__ == "__main__":
    main()
