"""Outside evidence, one score per document, as one more expert beside the systems' ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import InputError, Judgments, Pool, read_scores
from rtc_bayes.relevance import (
    InputFile,
    MeanSd,
    check_options,
    coordinates,
    document_ranks,
    observe,
    rank_curve,
    require,
)

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class TextEvidence:
    """Ranks, and a score of the text: a similarity, or what a language model thinks of it.

    With x_i the document's score, standardised within its topic, l_ij = ln((depth + 1) / rank),
    0 where system j does not rank the document, and u_i = 1 where the topic has scores but the
    document has none::

        logit p_i = mu + alpha_t(i) + sum_j w_j l_ij + (v + v_t(i)) x_i + n u_i
        w_j ~ Normal(m / J, s_w)    v_t ~ Normal(0, s_v)    alpha_t ~ Normal(0, s_alpha)

    So the ranks are pooled as in `logodds_pooling`, and the text is an expert whose weight, like
    theirs, the judgments decide; it may be right in one topic and useless in another. The prior
    of v is wide and favours neither: scores are of any origin. A document without score is judged
    by its ranks, and by n, how much less often such documents are relevant. A topic without
    scores, or with equal ones, has x = u = 0 and falls back to the ranks. Scores of documents
    outside the pool are not used.

    Attributes
    ----------
    scores : str
        Path of a file of lines ``topic docno score``, plain or gzipped; higher scores for what is
        more likely relevant. For probabilities give their log-odds.
    mu, m, v, n : tuple of float
        Mean and sd of the normal prior.
    s_alpha, s_w, s_v : float
        Scales, at least 0: fixed, as scales and effects together have no useful mode.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.load_model("text_evidence", {"scores": "bm25.txt"}).scores
    'bm25.txt'
    """

    scores: InputFile
    mu: MeanSd = (-3.2, 0.8)
    m: MeanSd = (0.85, 0.35)
    v: MeanSd = (0.5, 1.0)
    n: MeanSd = (0.0, 1.0)
    s_alpha: float = 1.0
    s_w: float = 0.2
    s_v: float = 0.4

    name: ClassVar[str] = "text_evidence"
    methods: ClassVar[tuple[str, ...]] = ("laplace", "map", "nuts")
    default_method: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_options(self)
        for option in ("s_alpha", "s_w", "s_v"):
            require(getattr(self, option) >= 0, self, option, "a number of at least 0")

    def graph(self, pool: Pool, judgments: Judgments) -> pm.Model:
        """Write the model for PyMC."""
        import pymc as pm

        x, without = _standardised(self.scores, pool)
        opinions = np.log(pool.depth + 1) * rank_curve(document_ranks(pool), pool.depth)
        share = np.full(pool.n_systems, 1.0 / pool.n_systems)
        with pm.Model(coords=coordinates(pool)) as model:
            mu, m, v, n = (pm.Normal(name, *getattr(self, name)) for name in ("mu", "m", "v", "n"))
            z_alpha, z_v = (
                pm.Normal(f"z_{name}", 0.0, 1.0, dims="topic") for name in ("alpha", "v")
            )
            z_w = pm.Normal("z_w", 0.0, 1.0, dims="system")
            alpha = pm.Deterministic("alpha", self.s_alpha * z_alpha, dims="topic")
            v_topic = pm.Deterministic("v_topic", v + self.s_v * z_v, dims="topic")
            w = pm.Deterministic("w", m * share + self.s_w * z_w, dims="system")

            def log_odds(rows: NDArray[np.integer]) -> pm.math.Variable:
                topic = pool.topic_of[rows]
                ranks = mu + alpha[topic] + pm.math.dot(opinions[rows], w)
                return ranks + v_topic[topic] * x[rows] + n * without[rows]

            observe(judgments, log_odds)
        return model


def _standardised(path: str, pool: Pool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and u of every document of a pool."""
    scores = read_scores(path)
    x, without = np.zeros(pool.n_documents), np.zeros(pool.n_documents)
    for t, topic in enumerate(pool.topics):
        here, of_topic = pool.documents(t), scores.get(topic, {})
        values = np.array([of_topic.get(docno, np.nan) for docno in pool.docnos[here]])
        scored = ~np.isnan(values)
        if not scored.any():
            continue
        # the standard deviation of equal scores can be above 0, by rounding
        if np.ptp(values[scored]) > 0.0:
            centred = values - values[scored].mean()
            x[here] = np.where(scored, centred / values[scored].std(), 0.0)
        without[here] = ~scored
    if not x.any():
        raise InputError(
            "no two documents of the pool have different scores here",
            path=path,
            remedy="give scores of this collection: lines of topic docno score",
        )
    return x, without
