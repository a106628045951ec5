"""Which documents a person should judge next, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from rtc_bayes import defaults
from rtc_bayes.collection import Judgments, Pool, Qrels
from rtc_bayes.errors import InputError, whole_number
from rtc_bayes.judging.algorithm import Algorithm, parse_algorithm
from rtc_bayes.judging.building import judged_about
from rtc_bayes.judging.judges import Judge
from rtc_bayes.judging.session import start_judge
from rtc_bayes.relevance import RelevanceModel

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.measures.estimand import EstimandLike


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

    Examples
    --------
    >>> NextDocument("401", "FT911-3", 0.5, "rank 2 in A, retrieved by 3 of 4").docno
    'FT911-3'
    """

    topic: str
    docno: str
    weight: float
    why: str


def next_documents(
    pool: Pool,
    judgments: Judgments | Qrels,
    estimand: EstimandLike = None,
    *,
    algorithm: Algorithm | Judge | RelevanceModel | str = defaults.ALGORITHM,
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
    judgments : Judgments or Qrels
        What is judged; documents that the pool lacks are added to it.
    estimand : Estimand, optional
        What the systems are told apart by: see :func:`rtc_bayes.judging.building.judged_about`.
        Its relevance level says which grades of Qrels are relevant.
    algorithm : Algorithm, Judge, RelevanceModel or str
    count : int, at least 1
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

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> documents = rb.next_documents(pool, rb.Judgments.none(pool), algorithm="ip", count=2)
    >>> [document.weight for document in documents]
    [1.0, 1.0]
    """
    count = whole_number("count", count, least=1)
    about, pool = judged_about(estimand, pool)
    if isinstance(judgments, Qrels):
        judgments = about.judgments(pool, judgments)
    elif not isinstance(judgments, Judgments):
        raise InputError(
            f"judgments are a {type(judgments).__name__}", remedy="give Qrels or Judgments"
        )
    parsed = parse_algorithm(algorithm)
    judgments = judgments.on(pool)
    pool, topic_of = judgments.pool, judgments.pool.topic_of
    chooser = start_judge(judgments, parsed, seed=seed)
    judged = Counter(topic_of[judgments.order].tolist())
    suggestions: list[NextDocument] = []
    for document, weight in chooser.choose(count):
        t = int(topic_of[document])
        why = chooser.why(document, weight)
        if judged[t] < parsed.floor:
            why = f"its topic has {judged[t]} of {parsed.floor} judgments; {why}"
        judged[t] += 1
        suggestions.append(NextDocument(pool.topics[t], pool.docnos[document], weight, why))
    return suggestions


def documents_frame(documents: Iterable[NextDocument]) -> pd.DataFrame:
    """Return one row per document: topic, docno, weight and why.

    Examples
    --------
    >>> list(documents_frame([]).columns)
    ['topic', 'docno', 'weight', 'why']
    """
    import pandas as pd

    columns = [field.name for field in fields(NextDocument)]
    return pd.DataFrame([asdict(document) for document in documents], columns=columns)
