"""When to stop judging for two systems, so that the confidence then can be taken at its word.

    RTC_BAYES_DATA=FOLDER python -m experiments.robust.stopping [--trials 33 --budget 300 --jobs 2]

lets `robust:gibbs` judge two systems of TREC-8 and of Robust 2003 (seed 1000: the trials that the
model was developed on) until the budget is spent, and then reads off where each rule would have
stopped: as soon as the confidence is reached; when it has held for some judgments more; at a higher
one; or with the error of 5% spread over the fits, 6 / (pi k)^2 of it for the k-th, which holds
however often one looks. A trial that a rule does not end by then counts as it is at the end.
Prints Markdown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from experiments.robust.development import of_each_seed, trials_parser
from experiments.robust.run import JUDGE
from rtc_bayes import Estimand, Judgments
from rtc_bayes.judging import JudgingSession
from rtc_bayes.judging.judges.weighted import REFIT_GROWTH, next_fit
from rtc_bayes.trials import Collection, Plan, draw_systems
from rtc_bayes.trials.scores import bootstrap_interval, log_score, winnings


class Trace(NamedTuple):
    """What was thought of two systems after each judgment but the first of every topic.

    Their confidence, whether their order is the true one, and the number of fits since.
    """

    confidence: np.ndarray
    correct: np.ndarray
    look: np.ndarray


def held(level: float, judgments: int) -> Callable[[Trace], np.ndarray]:
    """Whether the confidence has been reached for so many judgments in a row, and now."""

    def rule(trace: Trace) -> np.ndarray:
        reached = trace.confidence >= level
        window = np.lib.stride_tricks.sliding_window_view(
            np.concatenate([np.zeros(judgments, bool), reached]), judgments + 1
        )
        return window.all(axis=1)

    return rule


def spent(trace: Trace) -> np.ndarray:
    """Whether the error is below its part of 5%, looking once a fit."""
    return 1.0 - trace.confidence <= 0.05 * 6.0 / (np.pi * trace.look) ** 2


RULES = {
    ".95 reached": held(0.95, 0),
    ".95 for 10 judgments more": held(0.95, 10),
    ".95 for 20 judgments more": held(0.95, 20),
    ".95 for 30 judgments more": held(0.95, 30),
    ".97 reached": held(0.97, 0),
    ".99 reached": held(0.99, 0),
    "error spread over the fits": spent,
}


def main() -> None:
    parser = trials_parser(__doc__)
    parser.add_argument("--budget", type=int, default=300)
    options = parser.parse_args()
    print(
        "| collection | stop at | judged, median | ended | confidence | accuracy | W | log score |"
    )
    print("|---|---|---|---|---|---|---|---|")
    work = partial(judged_for, budget=options.budget)
    for name, collection, every in of_each_seed(work, Estimand(), options):
        traces = [trace for trace in every if trace is not None]
        for text, rule in RULES.items():
            stops = [stop(rule(trace)) for trace in traces]
            confidence, correct = (
                np.array([getattr(trace, part)[n] for trace, n in zip(traces, stops, strict=True)])
                for part in ("confidence", "correct")
            )
            won = winnings(confidence, correct)
            low, high = bootstrap_interval(won, np.arange(len(won)))
            # a judgment in every topic comes first
            judged = collection.pool.n_topics + 1 + np.median(stops)
            ended = np.mean([rule(trace).any() for trace in traces])
            print(
                f"| {name} | {text} | {judged:.0f} | {ended:.0%} "
                f"| {confidence.mean():.3f} | {correct.mean():.3f} "
                f"| {won.mean():.2f} ({low:.2f} to {high:.2f}) "
                f"| {log_score(confidence, correct).mean():.3f} |",
                flush=True,
            )


def stop(reached: np.ndarray) -> int:
    """Where a rule ends judging; the last place if it does not."""
    return int(np.argmax(reached)) if reached.any() else len(reached) - 1


def judged_for(collection: Collection, seed: int, budget: int) -> Trace | None:
    """Judge for two systems; None if they are truly equal."""
    draw = draw_systems(collection.pool.systems, Plan((JUDGE,)), seed)
    a, b = collection.truth_of(draw.initial)
    if a == b:
        return None
    pool = collection.pool.select(draw.initial)
    confidence, correct, look = [], [], []
    fitted = 0
    session = JudgingSession(
        Judgments.none(pool), JUDGE, confidence=None, budget=budget, seed=draw.judging_seed
    )
    while (document := session.next()) is not None:
        topic = pool.topics[pool.topic_of[document]]
        grade = collection.qrels.get(topic, {}).get(pool.docnos[document], 0)
        session.observe(document, float(grade > 0))
        confidence.append(session.confidence)
        correct.append(np.sign(session.differences[0]) == np.sign(a - b))
        if len(correct) >= next_fit(fitted, REFIT_GROWTH):
            fitted = len(correct)
        look.append(fitted)
    first = min(pool.n_topics, len(correct) - 1)
    looks = 1 + np.unique(look[first:], return_inverse=True)[1]
    return Trace(np.array(confidence[first:]), np.array(correct[first:]), looks)


if __name__ == "__main__":
    main()
