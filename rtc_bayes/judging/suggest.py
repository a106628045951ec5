"""Which documents a person should judge next, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments, Pool
from rtc_bayes.errors import InputError
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.judges import WeightedJudge
from rtc_bayes.judging.session import make_judge
from rtc_bayes.judging.weights import WeightName

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NextDocument:
    """A document worth judging.

    Attributes
    ----------
    topic, docno : str
    weight : float
        Its worth by the algorithm, above 0; comparable within one algorithm only.
    why : str
        One sentence with the numbers behind the weight.
    """

    topic: str
    docno: str
    weight: float
    why: str


_MEANING: dict[WeightName, str] = {
    "mtc06": "its judgment can move the numerator of the difference by {weight:.3g}",
    "evr": "its judgment should take {weight:.3g} off the topic's variance of the difference",
    "influence": "its relevance moves the expected numerator of the difference by {weight:.3g}",
    "reuse": "its judgment should take {weight:.3g} off the variances of the systems' own scores",
}


def next_documents(
    pool: Pool,
    judgments: Judgments,
    *,
    algorithm: Algorithm | str = defaults.ALGORITHM,
    count: int = 10,
    seed: int = 0,
) -> list[NextDocument]:
    """Choose documents for a person to judge.

    They are chosen in turn, as if the labels of those before stayed unknown; ask again when
    some are judged, for the rest may then weigh differently.

    Parameters
    ----------
    pool : Pool
        Of the systems to tell apart.
    judgments : Judgments
        What is judged; documents that the pool lacks are added to it.
    algorithm : Algorithm or str
    count : int
        At least 1.
    seed : int
        For models that draw.

    Returns
    -------
    list of NextDocument
        The first to judge first. Fewer than `count` when no other document has weight.

    Raises
    ------
    InputError
        Bad arguments.
    FitError
        A model's fit that must not be used.
    """
    if count < 1:
        raise InputError(f"count is {count}", remedy="ask for at least 1 document")
    parsed = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    known = judgments.on(pool)
    judge = make_judge(known, parsed, seed=seed)
    topic_of = known.pool.topic_of
    judged = Counter(topic_of[known.order].tolist())
    suggestions: list[NextDocument] = []
    for document, weight in judge.choose(count):
        t = int(topic_of[document])
        reasons = []
        if judged[t] < parsed.floor:
            reasons.append(f"its topic has {judged[t]} of {parsed.floor} judgments")
        judged[t] += 1
        reasons.append(_ranks(known.pool, judge, document, t))
        if parsed.weight is not None and isinstance(judge, WeightedJudge):
            p = judge.state.topics[t].p[document - known.pool.topic_starts[t]]
            reasons.append(f"p {p:.2f}")
            reasons.append(_MEANING[parsed.weight].format(weight=weight))
        suggestions.append(
            NextDocument(
                known.pool.topics[t], known.pool.docnos[document], weight, "; ".join(reasons)
            )
        )
    return suggestions


def documents_frame(documents: Iterable[NextDocument]) -> pd.DataFrame:
    """Return one row per document: topic, docno, weight and why."""
    import pandas as pd

    columns = [field.name for field in fields(NextDocument)]
    return pd.DataFrame([asdict(document) for document in documents], columns=columns)


def _ranks(pool: Pool, judge: object, document: int, topic: int) -> str:
    """Say where the systems rank a document: the two it tells apart most, or the best."""
    local = document - int(pool.topic_starts[topic])
    ranks = pool.ranks(topic, below=True)[:, local]
    ranks[ranks > pool.score_depth] = 0
    retrieved = int((ranks > 0).sum())
    best = int(np.argmin(np.where(ranks > 0, ranks, np.iinfo(ranks.dtype).max)))
    shown = [best]
    if isinstance(judge, WeightedJudge):
        # of systems that it moves alike, the first
        effect = judge.state.topics[topic].effect[:, local].round(12)
        shown = [int(np.argmax(effect)), int(np.argmin(effect))]
    places = ", ".join(
        f"rank {ranks[s]} in {pool.systems[s]}" if ranks[s] else f"not in {pool.systems[s]}"
        for s in dict.fromkeys(shown)
    )
    if pool.n_systems == len(shown):
        return places
    return f"{places}, retrieved by {retrieved} of {pool.n_systems}"
