"""How well probabilities of relevance fit the documents that were not judged.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.documents [--trials 33 --jobs 2] \\
        [--evaluators robust:gibbs 'robust[df=4]:gibbs']

takes the development trials (seed 1000) of TREC-8 and Robust 2003, lets `robust:gibbs` judge for
two systems as many documents as it judges at least, and fits each evaluator to these judgments for
all ten. Of the pool's unjudged documents it prints the log loss of the mean probability; what that
is less the first evaluator's, with its standard error over trials; and how many relevant documents
are expected for one that is, in all and in the topics of six groups, by how many are expected.
Prints Markdown.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.robust.development import of_each, trials_parser, with_error
from experiments.robust.frontier import Question, fitted, judged
from experiments.robust.run import JUDGE, WHOLE_LISTS
from experiments.robust.scales import labels_of
from rtc_bayes import Judgments
from rtc_bayes.judging import parse_algorithm
from rtc_bayes.trials import Collection

GROUPS = 6
# the model and its priors before what systems share turned about a pivot
BEFORE = "robust[pivot=0,mu=-3.6:.7,s_alpha=1:.25]:gibbs"


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--evaluators", nargs="+", default=[BEFORE, JUDGE])
    options = parser.parse_args()
    print("| | | log loss | less the first | expected for one | by groups of topics |")
    print("|---|---|--:|---|--:|---|")
    work = partial(trial, evaluators=options.evaluators)
    for name, _, found in of_each(work, options, WHOLE_LISTS["score_depth"]):
        losses = np.array([[loss for loss, _ in every] for every in found])
        for e, evaluator in enumerate(options.evaluators):
            less = with_error(losses[:, e] - losses[:, 0], "+.4f")
            topics = np.vstack([every[e][1] for every in found])
            expected, relevant = topics.T
            groups = np.array_split(topics[np.argsort(expected)], GROUPS)
            each = ", ".join("{:.0f} for {:.0f}".format(*group.mean(axis=0)) for group in groups)
            print(
                f"| {name} | {evaluator} | {losses[:, e].mean():.4f} "
                f"| {less} | {expected.sum() / relevant.sum():.2f} | {each} |",
                flush=True,
            )


def trial(
    collection: Collection, seed: int, evaluators: list[str]
) -> list[tuple[float, NDArray[np.float64]]]:
    """Log loss, and of every topic the number of relevant documents expected and found.

    Of each evaluator; all of documents that were not judged.
    """
    budget = int(parse_algorithm(JUDGE).least * collection.pool.n_topics)
    question = Question(JUDGE, JUDGE, [budget], 2, "AP", WHOLE_LISTS)
    draw, some = judged(collection, question, seed)
    pool = collection.pool.select(draw.everyone)
    complete = Judgments.from_qrels(pool, collection.qrels)
    unjudged = ~some.on(pool).judged
    topic_of = pool.topic_of[unjudged]
    labels = [labels_of(complete, pool, t) for t in range(pool.n_topics)]
    relevant = np.concatenate(labels)[unjudged]
    found = []
    for evaluator in evaluators:
        values = fitted(pool, some, evaluator, draw).relevance.values
        p = values.mean(axis=0)[unjudged]
        loss = -np.log(np.where(relevant > 0, p, 1.0 - p)).mean()
        counts = [
            np.bincount(topic_of, weight, minlength=pool.n_topics) for weight in (p, relevant)
        ]
        found.append((float(loss), np.column_stack(counts)))
    return found


if __name__ == "__main__":
    main()
