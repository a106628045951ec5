"""Labels of judges that may err, as evidence in a model's log-odds of relevance.

A model of relevance adds this to the log-odds that ranks give document i of topic t::

    c x_i + n u_i + g y_i + h z_t + b_t x_i
        + sum_jg d_jg [judge j gave grade g] + sum_s e_s x_i f'_is
    c ~ Normal(1, 0.4)   g ~ Normal(1, 0.15)   h ~ Normal(0.5, 0.5)   n ~ Normal(-3, 1.5)
    d_jg ~ Normal(0, 0.4 / sqrt(J))
    b_t ~ Normal(0, s_label_topic)          e_s ~ Normal(0, s_label_system)

- x_i is the mean, over the judges that labelled the document, of the log likelihood ratio that a
  label of such a judge has on average, times the judge's credit: the probability that it
  does not label by lot, by how its labels go with the systems' ranks (:mod:`label_ranks`).
- u_i = 1 where the topic has labels and the document none. Whoever labels a pool leaves out what
  lies deep in few lists, and tracks count that nonrelevant.
  But u_i = 0 where people judged at least `JUDGED` of the labelled documents, these are half or
  more of what they judged, and more than `FEW_UNLABELLED` of the documents to predict have no
  label: labels of judged documents are a sample to check the judge, and little else teaches n.
- y_i and z_t are what the labels say of the systems that rank the document, and of the topic: see
  :mod:`rtc_bayes.relevance.label_systems`. A judge's labels of a system's other documents are
  evidence of its quality, which a judge of its taste overstates: the systems' own effects remain,
  with scales `REMAINING` times as large as without labels, and normal: heavy tails are for systems
  far from the rest, which labels tell (``experiments.judges.early``). Few labels take less off the
  scales, and labels that do not go with the ranks nothing (:attr:`LabelEvidence.told`,
  ``experiments.judges.by_lot``): what is relevant is ranked higher. g has a narrow prior, as
  human judgments teach it what their documents ask for and not what scores do: given all of them it
  is 0.3 to 0.5, and expected scores are then too close together (``experiments.judges.weight``).
- c and d are what this panel's labels are worth; the human judgments teach them. b_t is the
  topic's part, e_s a system's: documents of one that shares a judge's taste are over-rated.
  f'_is is the system's rank curve less the mean over systems, over the cube root of their number.
- A system whose ranks go with the labels almost as those of a run made from them
  (:mod:`label_sharing`) may be made from them. Its ranks do not count for y, and its own effects
  have scales as without labels (`own`; not in ``layered``), since these say nothing of it. Its
  f'_is is divided by the scale's median, 0.5, and not by the cube root, and x_i is there the rise
  above the lowest x: on its own documents a label may be worth nothing.

Nothing is assumed of the independence of labels and ranks given relevance, nor of the judges'
labels: the mean of J judges counts as one judge until human judgments say more. Two copies of
one judge give the posterior of one: x is the same, and the two effects of a grade have together
the prior of one.

The likelihood ratio of grade g is exp(h(g)) / sum_g' share(g') exp(h(g')), the shares being the
judge's own over the pool: one that calls half of the pool relevant says little by it. h is the
mean of 33 language models on the LLMJudge collection (passages of TREC Deep Learning 2023), and
the spreads of c (0.3 there) and b (0.3 to 0.55) are about theirs: logistic regressions, within
topics, of whether the human grade is at least 2 on the judge's grade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_type
from rtc_bayes.collection import Judgments, Labels, Pool
from rtc_bayes.errors import InputError
from rtc_bayes.relevance.evidence import rank_curve
from rtc_bayes.relevance.label_ranks import BesideRanks, credit, follows
from rtc_bayes.relevance.label_sharing import SHARES, LabelCorrelation, label_correlation
from rtc_bayes.relevance.label_systems import LabelledSystems
from rtc_bayes.relevance.newton import Floats
from rtc_bayes.relevance.turned_labels import confirmed_judges
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    import pandas as pd

REMAINING = 0.5
"""Scale of the systems' effects beside labels, a share of that without: rankings by language
models' labels have tau of 0.7 to 0.95 with those by people, which leaves at most that."""
JUDGED = 0.9
"""Share of the labelled documents that people judged, from which labels are taken for a sample."""
FEW_UNLABELLED = 0.1
"""Share of the documents without a label up to which labels are taken to be of the whole pool."""
OWN_DF = np.inf
"""Degrees of freedom of these effects: normal, where a model has heavier tails without labels, as
labels say which system is far from the rest."""
# h(g) of judges with grades 0 to 3, and of judges who say relevant or not
GRADED = (0.0, 1.65, 2.63, 3.22)
BINARY = (0.0, 1.82)
# of a stated probability: half its log-odds, no farther out than those of 0.01 and 0.99
_PROBABILITY_WEIGHT, _LEAST_PROBABILITY = 0.5, 0.01
# Labelled documents a system by which labels tell half of what they can of its effects, with
# scales near 1/2 and 1/8 the variance of a document's relevance; and fewer than on any pool on
# which REMAINING was measured.
_HALF, _WHOLE = 50.0, 1000.0
# of so many judges rankers of each are sought, too
_FEW_JUDGES = 8
_SLOPE, _UNLABELLED, _GRADE_SD = (1.0, 0.4), (-3.0, 1.5), 0.4
SYSTEMS = (1.0, 0.15)
"""Mean and sd of the weight g: narrow, as documents teach it what scores do not ask for."""
_TOPICS = (0.5, 0.5)
_TOPIC_SCALE, _SYSTEM_SCALE = (0.4, 0.4), (0.5, 0.4)


class LabelEvidence:
    """What the labels beside some judgments add to the log-odds of a pool's documents.

    Without labels it has no columns.

    Parameters
    ----------
    judgments : Judgments
        With :attr:`~rtc_bayes.Judgments.judge_labels`, or without.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c"]})]))
    >>> labels = rb.Labels.of(["1", "1"], ["a", "b"], ["llm", "llm"], [1, 0])
    >>> evidence = LabelEvidence(rb.Judgments.none(pool).with_judge_labels(labels))
    >>> evidence.score.round(2).tolist()
    [0.52, -1.23, 0.0]
    >>> evidence.names
    ('labels', 'unlabelled', 'systems', 'topics', 'llm=0', 'llm=1')
    >>> evidence.columns(0).shape  # and one of the topic, one of the system
    (3, 8)
    """

    def __init__(self, judgments: Judgments) -> None:
        self.judgments = judgments
        self.pool: Pool = judgments.pool
        self.labels: Labels | None = judgments.judge_labels
        if self.labels is not None:
            self._place(self.labels)

    def _place(self, labels: Labels) -> None:
        """Find the labels' documents in the pool, and what of its judge's word each label is.

        Judges without a label there do not count.
        """
        document = labels.located(self.pool)
        rows = np.flatnonzero(document >= 0)
        if not len(rows):
            self.labels = None
            return
        self._row, self._document = rows, document[rows]
        self._judges, self._judge = np.unique(labels.judge_of[rows], return_inverse=True)
        both = self._document * len(self._judges) + self._judge
        _, place, counts = np.unique(both, return_inverse=True, return_counts=True)
        # a judge who labels a document twice has half a word each time
        self._share = 1.0 / counts[place]

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges with labels of the pool's documents."""
        return () if self.labels is None else tuple(self.labels.judges[j] for j in self._judges)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Which documents have labels."""
        labelled: NDArray[np.bool_] = self._count > 0
        return labelled

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients: c, n, and d of every judge's grades."""
        if self.labels is None:
            return ()
        judges = self.judges
        grades = (f"{judges[j]}={g}" for j, g in self._grades)
        return ("labels", "unlabelled", "systems", "topics", *grades)

    @property
    def prior(self) -> tuple[Floats, Floats]:
        """Mean and sd of the coefficients."""
        if self.labels is None:
            return np.zeros(0), np.zeros(0)
        spread = _GRADE_SD / np.sqrt(len(self._judges))
        priors = [_SLOPE, _UNLABELLED, SYSTEMS, _TOPICS, *([(0.0, spread)] * len(self._grades))]
        mean, sd = np.array(priors).T
        return mean, sd

    @property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Dims of the effects, b and e, one scale each in this order."""
        if self.labels is None:
            return {}
        return {"label_topic": ("topic",), "label_system": ("system",)}

    @property
    def coords(self) -> dict[str, list[str]]:
        """Labels of the coefficients' dim."""
        return {} if self.labels is None else {"label_term": list(self.names)}

    @property
    def scale_priors(self) -> list[tuple[float, float]]:
        """Median and spread of the effects' scales."""
        return [] if self.labels is None else [_TOPIC_SCALE, _SYSTEM_SCALE]

    @property
    def remaining(self) -> float:
        """Share of the scales of the systems' own effects that remains beside labels.

        The labels take their part off the variance: that of :data:`REMAINING` where they tell of
        systems what a language model's labels of whole pools do (:attr:`told`).
        """
        return float(np.sqrt(1.0 - self.told * (1.0 - REMAINING**2)))

    @cached_property
    def told(self) -> float:
        """How much of what a language model's labels of whole pools tell of systems these do.

        It grows with the number n of labelled documents that a system has, as shrinkage does:
        n / (n + 50), against that of n = 1,000; 1 at most. And labels tell only as far as they
        go with the systems' ranks (:attr:`follows`): those by lot, or all the same, do not.
        """
        n = np.count_nonzero(self.labelled[self.pool.ranked]) / self.pool.n_systems
        return self.follows * min(n / (n + _HALF) * (1.0 + _HALF / _WHOLE), 1.0)

    @cached_property
    def follows(self) -> float:
        """How far labels go with the systems' ranks as relevance does: 0 to 1."""
        return follows(self._beside_ranks.correlation(self.score, self.labelled))

    @cached_property
    def _beside_ranks(self) -> BesideRanks:
        """Ranks of systems that may be made from the labels do not bear these out."""
        return BesideRanks.of(self.pool, ~self.shares)

    def own_df(self, without: float) -> float:
        """Degrees of freedom of the systems' own effects, by those that they have without labels.

        Parameters
        ----------
        without : float
            Positive; kept where labels tell less than half of what they might (:attr:`told`).

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a"]})]))
        >>> none, labels = rb.Judgments.none(pool), rb.Labels.of(["1"], ["a"], ["llm"], [1])
        >>> LabelEvidence(none).own_df(3), LabelEvidence(none.with_judge_labels(labels)).own_df(3)
        (3, 3)
        """
        return without if self.told < 0.5 else OWN_DF

    @property
    def sizes(self) -> list[int]:
        """Return how many effects of each kind there are."""
        return [] if self.labels is None else [self.pool.n_topics, self.pool.n_systems]

    @cached_property
    def _grades(self) -> list[tuple[int, int]]:
        """Judge and grade of the coefficients d."""
        assert self.labels is not None
        both = np.column_stack([self._judge, self.labels.grade[self._row]])
        return [(int(j), int(g)) for j, g in np.unique(both, axis=0)]

    @cached_property
    def _ratio(self) -> Floats:
        """Log likelihood ratio of every label of a document of the pool, as far as it counts."""
        return self._if_not_by_lot * self.credit[self._judge]

    @cached_property
    def _if_not_by_lot(self) -> Floats:
        """Log likelihood ratio of every label, if its judge does not label by lot."""
        labels = self.labels
        assert labels is not None
        grade = labels.grade[self._row].astype(np.float64)
        h = np.empty(len(grade))
        highest = [labels.grade[labels.judge_of == j].max(initial=1) for j in self._judges]
        binary = np.isin(self._judges, labels.binary_judges)
        # of more grades than any label has somebody said so
        said = labels.n_grades - 1 > labels.grade.max()
        scale = labels.n_grades - 1 if said else max(highest)
        for j, of_two in enumerate(binary):
            here = self._judge == j
            if of_two:
                h[here] = np.asarray(BINARY)[grade[here].astype(int)]
            else:
                at = grade[here] * (len(GRADED) - 1) / scale
                h[here] = np.interp(at, np.arange(len(GRADED)), GRADED)
        if labels.probability is not None:
            stated = labels.probability[self._row]
            kept = np.clip(stated, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
            h = np.where(np.isnan(stated), h, _PROBABILITY_WEIGHT * np.log(kept / (1.0 - kept)))
        share, judges = self._share, len(self._judges)
        words = np.bincount(self._judge, weights=share, minlength=judges)
        total = np.bincount(self._judge, weights=share * np.exp(h), minlength=judges)
        mean = np.divide(total, words, out=np.ones(judges), where=words > 0.0)
        return h - np.log(mean)[self._judge]

    @cached_property
    def credit(self) -> Floats:
        """Probability that a judge does not label by lot, of every judge of the pool's documents.

        At most that of the mean of all labels, since few labels of each of many judges tell little;
        1 of judges whom people's judgments confirm. See :mod:`rtc_bayes.relevance.label_ranks`.
        """
        if self.labels is None:
            return np.zeros(0)
        ratio, judges = self._if_not_by_lot, range(len(self._judges))
        some = (slice(None), *(self._judge == j for j in judges))
        each = (self._mean_ratio(ratio, labels) for labels in some)
        of_all, *own = credit([self._beside_ranks.correlation(*x) for x in each])
        confirmed = np.isin(self.judges, confirmed_judges(self.judgments))
        return np.where(confirmed, 1.0, np.minimum(own, of_all))

    @cached_property
    def _count(self) -> NDArray[np.int64]:
        """Return how many labels each document has."""
        if self.labels is None:
            return np.zeros(self.pool.n_documents, dtype=np.int64)
        return np.bincount(self._document, minlength=self.pool.n_documents)

    @cached_property
    def _unanswered(self) -> NDArray[np.bool_]:
        """Which documents a judge saw without giving a label."""
        seen = np.zeros(self.pool.n_documents, dtype=bool)
        if self.labels is not None:
            seen[self.labels.unanswered_on(self.pool)] = True
        return seen

    @cached_property
    def passed_over(self) -> NDArray[np.bool_]:
        """Which documents have no label where their topic has some.

        But of one that a judge saw without giving a label nothing is known.
        """
        topic_of, labelled = self.pool.topic_of, self.labelled
        in_topic = np.bincount(topic_of, labelled, self.pool.n_topics)[topic_of] > 0
        return in_topic & ~labelled & ~self._unanswered

    @property
    def is_partial(self) -> bool:
        """Whether many documents that are to be predicted, of topics with labels, have none."""
        without = np.count_nonzero(self.passed_over & ~self.judgments.judged)
        return bool(without > FEW_UNLABELLED * (without + np.count_nonzero(self.labelled)))

    @cached_property
    def is_sample(self) -> bool:
        """Whether labels are partial, and of what people judged: nearly all, and half of it."""
        judged = self.judgments.judged[self.labelled]
        most_of_judged = 2 * np.count_nonzero(judged) >= self.judgments.n_judged
        return self.is_partial and bool(judged.mean() >= JUDGED) and bool(most_of_judged)

    @cached_property
    def score(self) -> Floats:
        """The mean log likelihood ratio x of every document; 0 without a label."""
        if self.labels is None:
            return np.zeros(self.pool.n_documents)
        return self._mean_ratio(self._ratio, slice(None))[0]

    def _mean_ratio(
        self, ratio: Floats, labels: slice | NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return x of every document by ratios of some labels, and whether it has any of them."""
        document, share = self._document[labels], self._share[labels]
        n = self.pool.n_documents
        words = np.bincount(document, weights=share, minlength=n)
        total = np.bincount(document, weights=share * ratio[labels], minlength=n)
        there = words > 0.0
        return np.divide(total, words, out=np.zeros(n), where=there), there

    @cached_property
    def _lowest(self) -> float:
        """Lowest x of a document that has a label."""
        return float(self.score[self.labelled].min(initial=np.inf))

    @cached_property
    def _indicators(self) -> Floats:
        """Which judge gave which grade, shape (documents, coefficients d)."""
        assert self.labels is not None
        column = {of: k for k, of in enumerate(self._grades)}
        grades = self.labels.grade[self._row]
        codes = zip(self._judge.tolist(), grades.tolist(), strict=True)
        at = np.array([column[code] for code in codes], dtype=np.int64)
        indicators = np.zeros((self.pool.n_documents, len(self._grades)))
        np.add.at(indicators, (self._document, at), self._share)
        return indicators

    def columns(self, topic: int) -> Floats:
        """Return the features of a topic's documents: of the coefficients, then of the effects.

        Parameters
        ----------
        topic : int

        Returns
        -------
        ndarray of float, shape (documents, coefficients + effects)
        """
        pool, here = self.pool, self.pool.documents(topic)
        x = self.score[here]
        if self.labels is None:
            return np.zeros((len(x), 0))
        of_topic = np.zeros((len(x), pool.n_topics))
        of_topic[:, topic] = x
        curve = rank_curve(pool.ranks(topic).T, pool.depth)
        apart = curve - curve.mean(axis=1, keepdims=True)
        labelled = self.labelled[here]
        own = apart * x[:, None] / np.cbrt(pool.n_systems)
        rise = np.where(labelled, x - self._lowest, 0.0)
        own[:, self.shares] = apart[:, self.shares] * rise[:, None] / _SYSTEM_SCALE[0]
        unlabelled = (self.passed_over[here] & (not self.is_sample)).astype(np.float64)
        of_systems = self.implied.of_documents(topic)
        coefficients = [x, unlabelled, of_systems, np.full(len(x), self.implied.topics[topic])]
        return np.column_stack([*coefficients, self._indicators[here], of_topic, own])

    def in_graph(
        self, effects: Mapping[str, Any] | None = None
    ) -> Callable[[NDArray[np.integer]], Any]:
        """Add the labels' parameters to the PyMC model in context.

        The model's coordinates must have :attr:`coords`.

        Parameters
        ----------
        effects : mapping of str to variable, optional
            The effects by the names of :attr:`dims`, if the model writes them with its own; else
            each is written as a scale times standard normals.

        Returns
        -------
        callable
            Takes numbers of documents and returns what labels add to their log-odds: 0 where there
            are no labels.

        Examples
        --------
        >>> import pymc as pm
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
        >>> labels = rb.Labels.of(["1", "1"], ["a", "b"], ["llm", "llm"], [1, 0])
        >>> judgments = rb.Judgments.none(pool).with_judge_labels(labels)
        >>> evidence = LabelEvidence(judgments)
        >>> with pm.Model(coords=rb.relevance.coordinates(pool) | evidence.coords) as model:
        ...     base, of_labels = pm.Normal("base", 0, 2), evidence.in_graph()
        ...     rb.relevance.observe(judgments, lambda rows: base + of_labels(rows))
        >>> "label_coefficient" in model.named_vars
        True
        """
        if self.labels is None:
            return lambda rows: 0.0
        import pymc as pm

        def effect(name: str, median: float, spread: float) -> Any:
            log_s = pm.Normal(f"log_s_{name}", np.log(median), spread)
            z = pm.Normal(f"z_{name}", 0.0, 1.0, dims=self.dims[name])
            return pm.Deterministic(name, pm.math.exp(log_s) * z, dims=self.dims[name])

        value = pm.Normal("label_coefficient", *self.prior, dims="label_term")
        if effects is None:
            priors = zip(self.dims, self.scale_priors, strict=True)
            effects = {name: effect(name, *prior) for name, prior in priors}
        weight = pm.math.concatenate([value, *(effects[name] for name in self.dims)])
        columns = np.vstack([self.columns(t) for t in range(self.pool.n_topics)])
        return lambda rows: pm.math.dot(columns[rows], weight)

    @cached_property
    def implied(self) -> LabelledSystems:
        """What the labels say of systems and topics."""
        return LabelledSystems.fit(self.pool, self.score, self.labelled, without=self.shares)

    @cached_property
    def shared(self) -> LabelCorrelation:
        """How far each system's ranks go with the labels: see :mod:`label_sharing`."""
        if self.labels is None:
            return LabelCorrelation(*np.zeros((3, self.pool.n_systems)))
        every = self._mean_ratio(self._if_not_by_lot, slice(None))
        shared = label_correlation(self.judgments, *every)
        for score, labelled in self._by_judge():
            shared = shared.or_greater(label_correlation(self.judgments, score, labelled))
        return shared

    def _by_judge(self) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Yield x by each judge of a few who labelled half of the documents or more."""
        n_judges = int(self._judge.max(initial=0)) + 1
        if not 1 < n_judges <= _FEW_JUDGES:
            return
        for j in range(n_judges):
            score, labelled = self._mean_ratio(self._if_not_by_lot, self._judge == j)
            if np.count_nonzero(labelled) >= np.count_nonzero(self.labelled) / 2:
                yield score, labelled

    @property
    def shares(self) -> NDArray[np.bool_]:
        """Which systems share the judges' errors."""
        shares: NDArray[np.bool_] = self.shared.part >= SHARES
        return shares

    @property
    def own(self) -> Floats:
        """How many times larger a system's own effects are than others': as without labels.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings
        >>> runs = rb.Runs([run(name, {"1": ["a", "b"]}) for name in ("one", "two")])
        >>> LabelEvidence(rb.Judgments.none(rb.Pool.from_runs(runs))).own
        array([1., 1.])
        """
        return np.where(self.shares, 1.0 / self.remaining, 1.0)


@explains_types
def shared_errors(judgments: Judgments) -> pd.DataFrame:
    """Say of each system how far its ranks go with the judges' labels, given relevance.

    Parameters
    ----------
    judgments : Judgments
        With :attr:`~rtc_bayes.Judgments.judge_labels`.

    Returns
    -------
    DataFrame
        A row for each system, the greatest part first: ``system``; ``correlation``, in (-1, 1);
        ``of_ranker``, that of a ranker made from the labels in the system's place; ``part``, the
        one as a part of the other, or as judgments have it where that is less; ``shares``, whether
        it is so great that labels count less for the system. See
        :mod:`rtc_bayes.relevance.label_sharing`.

    Raises
    ------
    InputError
        Judgments without labels.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists, topics = {"one": "abcdef", "two": "efdcab", "three": "badcfe"}, [*"123456789abc"]
    >>> run = rb.Run.from_rankings
    >>> runs = [run(name, dict.fromkeys(topics, list(of))) for name, of in lists.items()]
    >>> pool = rb.Pool.from_runs(rb.Runs(runs))
    >>> of = [(t, d, "llm", int(d in "ef")) for t in topics for d in "abcdef"]
    >>> labels = rb.Labels.of(*zip(*of, strict=True))
    >>> rb.shared_errors(rb.Judgments.none(pool).with_judge_labels(labels)).round(2)
      system  correlation  of_ranker  part  shares
    0    two         0.67       0.76  0.88    True
    1  three        -0.70       0.87 -0.80   False
    2    one        -0.72       0.86 -0.84   False
    """
    import pandas as pd

    check_type(judgments, Judgments, "judgments are", "give Judgments with labels beside them")
    if judgments.judge_labels is None:
        raise InputError(
            "the judgments have no labels beside them",
            remedy="add them: judgments.with_judge_labels(read_labels(FILE, ...))",
        )
    evidence = LabelEvidence(judgments)
    columns = {
        "system": list(judgments.pool.systems),
        "correlation": evidence.shared.own,
        "of_ranker": evidence.shared.ranker,
        "part": evidence.shared.part,
        "shares": evidence.shares,
    }
    table = pd.DataFrame(columns)
    return table.sort_values("part", ascending=False, kind="stable", ignore_index=True)
