"""One probability of relevance from the labels of many judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

from rtc_bayes.checks import check_word, whole_number
from rtc_bayes.collection import Labels, Probabilities, write_erels
from rtc_bayes.collection.ids import by_topic, some
from rtc_bayes.collection.labels import MANY_LABELS
from rtc_bayes.collection.labels_beside import say_scales
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.crowd.expectation import dawid_skene, majority, one_coin
from rtc_bayes.crowd.glad import glad
from rtc_bayes.crowd.hierarchical import CrowdPrior, hierarchical
from rtc_bayes.crowd.panel_labels import panel
from rtc_bayes.crowd.votes import Known, Truths, Votes, level_by
from rtc_bayes.errors import FitWarning, InputError, warn
from rtc_bayes.signatures import explains_types, moved, options_of
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

type Floats = NDArray[np.float64]
type Method = Literal["mv", "em", "one-coin", "glad", "hierarchical", "panel"]

METHODS: tuple[str, ...] = get_args(Method.__value__)
LEVEL = 0.9
"""Probability that a judge's interval holds."""
# difference in shares of relevant documents from which a maximum is suspected
_ONE_SIDE = 0.2
# R-hat from which chains are said not to agree
_MIXED = 1.1
_TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)

_MAXIMISED: Mapping[str, Callable[[Votes], Truths]] = {
    "mv": majority,
    "em": dawid_skene,
    "one-coin": one_coin,
    "glad": glad,
}


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate:
    """What the labels of many judges say together.

    Attributes
    ----------
    method : str
    pairs : tuple of (topic, docno)
    grades : ndarray, shape (pair, grade)
        Probabilities of the true grade; of 0 and 1 where labels were taken as relevant or not.
    relevance_level : int
        The lowest of these grades that is relevant.
    n_labels : int array, shape (pair,)
    judges : tuple of str
    counts : ndarray, shape (judge, true, given)
        Labels of a judge, counted by the probabilities of true grades.
    draws : int8 ndarray, shape (draw, pair), or None
        True grades drawn from the posterior: of "hierarchical".
    confusion : ndarray, shape (draw, judge, true, given), or None
        Draws of the probabilities of what a judge says: of "hierarchical".
    labelled : int array, shape (draw, judge, true), or None
        Draws of how many labels a judge gave to pairs of each true grade: of "hierarchical".
    right : int array, shape (draw, judge), or None
        Draws of how many of a judge's labels are the true grade: of "hierarchical".
    r_hat : float or None
        Of "hierarchical", how far its chains are from one another: the largest of the number of
        relevant pairs and of judges. Above 1.1 they do not agree, and intervals are too narrow.
    checked : bool
        Whether anything says how often judges are right: a pair that two of them labelled, or one
        whose grade is known.
    n_known : int
        Of how many of these pairs the grade was given.
    counts_checked : ndarray, shape (judge, true, given), or None
        Labels of a judge on these pairs, counted by their grade.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d1", "d2", "d2"], ["ann", "bob", "cas", "ann", "bob"]
    >>> labels = rb.Labels.of(["7"] * 5, docnos, judges, [1, 1, 0, 0, 1])
    >>> votes = rb.aggregate(labels, "mv")
    >>> votes.probability.round(2).tolist(), votes.tied.tolist()
    ([0.67, 0.5], [False, True])
    """

    method: str
    pairs: tuple[tuple[str, str], ...]
    grades: Floats
    relevance_level: int
    n_labels: NDArray[np.int64]
    judges: tuple[str, ...]
    counts: Floats
    draws: NDArray[np.int8] | None = None
    confusion: Floats | None = None
    labelled: NDArray[np.int64] | None = None
    right: NDArray[np.int64] | None = None
    r_hat: float | None = None
    checked: bool = True
    n_known: int = 0
    counts_checked: Floats | None = None

    @property
    def probability(self) -> Floats:
        """Probability of relevance, shape (pair,)."""
        return np.clip(self.grades[:, self.relevance_level :].sum(axis=1), 0.0, 1.0)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether the labels do not say which grade is most probable, shape (pair,)."""
        best = self.grades.max(axis=1, keepdims=True)
        return np.asarray((self.grades > best - 1e-9).sum(axis=1) > 1)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair: topic, docno, labels, probability, tied.

        Of more than two grades, each one's probability besides: grade_0, grade_1, ....
        """
        import pandas as pd

        topics, docnos = zip(*self.pairs, strict=True)
        by_grade = self.grades.T if self.grades.shape[1] > 2 else ()
        return pd.DataFrame(
            {
                "topic": topics,
                "docno": docnos,
                "labels": self.n_labels,
                "probability": self.probability,
                "tied": self.tied,
                **{f"grade_{grade}": column for grade, column in enumerate(by_grade)},
            }
        )

    def judges_frame(self) -> pd.DataFrame:
        """Return a row for each judge, with 90% intervals of how often it is right.

        Returns
        -------
        DataFrame
            judge, labels, accuracy (the chance that a label of the judge is right), accuracy_low,
            accuracy_high; with two grades sensitivity and specificity as well (right where the
            truth is relevant, and where it is not). Of "hierarchical" the posterior's. Of other
            methods the beta distribution of the judge's labels on pairs whose grade is known,
            beside two labels that are right as often as the method found; of a judge without any
            what it found, without an interval, and nothing where nothing checks judges
            (`checked`). Of "hierarchical" also right, right_low and right_high: the share of the
            labels given here that is right, which is less or more by chance, the more so the fewer
            labels there are.
        """
        import pandas as pd

        k = self.grades.shape[1]
        right = np.eye(k, dtype=bool)
        columns: dict[str, ArrayLike] = {"judge": self.judges}
        columns["labels"] = np.rint(self.counts.sum(axis=(1, 2))).astype(int)
        named = {"accuracy": slice(None)}
        if k == 2:
            named |= {"sensitivity": slice(1, 2), "specificity": slice(0, 1)}
        for name, rows in named.items():
            if not self.checked and self.confusion is None:
                mean = low = high = np.full(len(self.judges), np.nan)
            elif self.confusion is None or self.labelled is None:
                by_method = _share(self.counts, right, rows, prior=0.5)
                none = self.counts[:, rows].sum(axis=(1, 2)) == 0.0
                mean, low, high = (
                    np.where(none, np.nan, by_method[0]),
                    *np.full_like(by_method[1:], np.nan),
                )
                if self.counts_checked is not None:
                    told = self.counts_checked.sum(axis=(1, 2)) > 0.0
                    checked = _share(self.counts_checked, right, rows, prior=by_method[0])
                    mean, low, high = np.where(told, checked, (mean, low, high))
            else:
                weight = self.labelled[:, :, rows] + 1e-12
                share = np.diagonal(self.confusion, axis1=2, axis2=3)[:, :, rows]
                drawn = (share * weight).sum(axis=2) / weight.sum(axis=2)
                mean = drawn.mean(axis=0)
                low, high = np.quantile(drawn, _TAILS, axis=0)
            columns |= {name: mean, f"{name}_low": low, f"{name}_high": high}
        if self.right is not None:
            drawn = self.right / self.counts.sum(axis=(1, 2))
            low, high = np.quantile(drawn, _TAILS, axis=0)
            columns |= {"right": drawn.mean(axis=0), "right_low": low, "right_high": high}
        return pd.DataFrame(columns)

    def probabilities(self) -> Probabilities:
        """Return the probabilities of relevance, which `Relevance.from_erels` takes over a pool."""
        of_pairs = zip(self.pairs, self.probability.tolist(), strict=True)
        return Probabilities(by_topic((*pair, p) for pair, p in of_pairs))

    def write(self, path: str | Path) -> None:
        """Write ``topic Q0 docno probability`` lines, which ``compare --erels`` reads."""
        write_erels(self.probabilities(), path)

    def __repr__(self) -> str:
        pairs, judges = counted(len(self.pairs), "pair"), counted(len(self.judges), "judge")
        said = f"Aggregate({self.method}: {pairs} by {judges}"
        ties = int(self.tied.sum())
        return f"{said}, {self.probability.sum():.1f} relevant expected, {ties} tied)"


def _default_method(labels: Labels, families: Mapping[str, str] | None) -> Method:
    """Return the method where none is named: a panel of one judge, or of families."""
    one_judge = len(labels.judges) == 1
    return "panel" if one_judge or families is not None else "hierarchical"


@moved(rel="write relevance_level")
@explains_types
@options_of(
    "method",
    lambda arguments: _default_method(arguments["labels"], arguments.get("families")),
    draws=["hierarchical"],
    prior=["hierarchical"],
    history=["hierarchical"],
    families=["panel"],
)
def aggregate(
    labels: Labels,
    method: Method | None = None,
    *,
    relevance_level: int | None = None,
    graded: bool = False,
    human: Known | None = None,
    draws: int = 1000,
    prior: CrowdPrior | None = None,
    history: Aggregate | None = None,
    families: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Aggregate:
    """Turn the labels of many judges into one probability of relevance for each pair.

    Parameters
    ----------
    labels : Labels
    method : {"mv", "em", "one-coin", "glad", "hierarchical", "panel"}, optional
        Default: "hierarchical"; but "panel" for one judge alone, as it goes by all its grades, and
        where `families` are given.

        "mv": the share of votes. "em": Dawid and Skene (1979; the 2013 thesis, section 8.2), a
        judge's errors by true grade. "one-coin": one accuracy a judge. "glad": Whitehill et al.
        (2009), abilities of judges and difficulties of documents. "hierarchical": judges that
        resemble each other, topics with prevalences of their own, and documents that mislead all;
        drawn from by Gibbs sampling. "panel": judges whose errors correlate, as those of language
        models do (:func:`rtc_bayes.fit_panel`).
    relevance_level : int, at least 1; optional
        The lowest grade that is relevant. Default: that of `human`, where Qrels state one, or 1.
    graded : bool
        Aggregate grades; by default, whether a label is relevant.
    human : mapping of (topic, docno) to int, or Qrels, optional
        Grades that are known, such as those of gold questions (``labels.gold``). Those of pairs
        without labels say nothing here and are left out, with a warning if none has labels.
    draws : int, at least 1
        Of "hierarchical", after 500 steps of each of 2 chains.
    prior : CrowdPrior, optional
        Of "hierarchical".
    history : Aggregate, optional
        What judges did before, for "hierarchical": by their names.
    families : mapping of str to str, optional
        Of "panel", the family of a judge: those of one family weigh as one judge.
    seed : int

    Returns
    -------
    Aggregate

    Raises
    ------
    InputError
        An unknown method, a relevance level above all grades, or an argument that the method does
        not take.

    Warns
    -----
    FitWarning
        Chains of "hierarchical" do not agree; "em", "one-coin" or "glad", without known grades,
        takes far more or far fewer pairs for relevant than shares of votes do.
    CollectionWarning
        No pair whose grade is known has labels; no label of a judge of many is relevant or, in a
        panel or by grade, the highest grade of others, or all are 0 and 1 beside higher grades; the
        known grades are judgments made for systems, and so of chosen documents; labels have stated
        probabilities, which only "panel" counts; the relevance level is read from the file beside
        `human`, or is not that of `human`.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> docnos, judges = ["d1", "d1", "d1", "d2", "d2"], ["ann", "bob", "cas", "ann", "bob"]
    >>> labels = rb.Labels.of(["7"] * 5, docnos, judges, [1, 1, 0, 0, 0])
    >>> rb.aggregate(labels, "em", human={("7", "d1"): 1}).probability.round(1).tolist()
    [1.0, 0.2]
    """
    method = method or _default_method(labels, families)
    check_word("method", method, METHODS)
    whole_number("draws", draws, least=1)
    asked = level_by(human, relevance_level)
    votes = Votes.of(labels, asked, graded, human)
    _warn_of_known(human, votes)
    _warn_of_scales(labels, asked, method, graded)
    _warn_of_stated(labels, method)
    level = asked if graded else 1
    if method == "panel":
        of_known = _by_pair(labels, votes)
        fitted = panel(
            labels, of_known, relevance_level=level, graded=graded, families=families, seed=seed
        )
        made = Truths(fitted.grades)
    elif method == "hierarchical":
        made = hierarchical(
            votes,
            draws=draws,
            prior=prior or CrowdPrior(),
            history=_earlier(labels, votes, history),
            seed=seed,
        )
    else:
        made = _MAXIMISED[method](votes)
    _warn_of_fit(method, made, votes)
    has_grade = votes.gold >= 0
    return Aggregate(
        method,
        tuple(labels.pair_ids()),
        made.grades,
        level,
        np.bincount(votes.pair_of, minlength=votes.n_pairs),
        labels.judges,
        votes.confusion_counts(made.grades),
        made.draws,
        made.confusion,
        made.labelled,
        made.right,
        made.r_hat,
        votes.checked(),
        int(has_grade.sum()),
        votes.confusion_counts(np.eye(votes.n_grades)[votes.gold] * has_grade[:, None]),
    )


def _by_pair(labels: Labels, votes: Votes) -> dict[tuple[str, str], int]:
    """Return the grades that are known of labelled pairs."""
    ids = labels.pair_ids()
    return {ids[place]: int(votes.gold[place]) for place in np.flatnonzero(votes.gold >= 0)}


def _share(
    counts: Floats, right: NDArray[np.bool_], rows: slice, *, prior: float | Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the share of labels that are right, and its interval, with two labels of a prior."""
    hits = (counts * right)[:, rows].sum(axis=(1, 2))
    said = counts[:, rows].sum(axis=(1, 2))
    parts = (hits + 2.0 * prior, np.maximum(said - hits, 0.0) + 2.0 * (1.0 - prior))
    low, high = beta.interval(LEVEL, *parts)
    return parts[0] / (parts[0] + parts[1]), low, high


def _warn_of_known(human: Known | None, votes: Votes) -> None:
    """Say where known grades change nothing, are of chosen documents, or leave nothing open."""
    if not human:
        return
    has_grade = votes.gold >= 0
    if not has_grade.any():
        warn(
            "no pair whose grade is known has labels, so what is known changes nothing; check that "
            "topics and docnos are written alike",
        )
    if isinstance(human, Qrels) and human.judged_for is not None:
        warn(
            "the documents whose grade is known were chosen to tell systems apart, and judges may "
            "err otherwise on those than on all: take a random sample for human (--human), and "
            "give such judgments to a comparison beside the labels instead",
        )
    if has_grade.all() and _many_more(human, votes.n_pairs):
        warn(
            "every document with a label has a known grade, and so have many others: nothing is "
            "left to predict; if the labels are a human's, and the grades those of a judge that "
            "may err, give each in the other's place",
        )


def _warn_of_stated(labels: Labels, method: str) -> None:
    """Say where the probabilities that judges state beside labels are left aside."""
    if method == "panel" or labels.probability is None:
        return
    if stated := int(np.isfinite(labels.probability).sum()):
        warn(
            f"{method} goes by grades alone and leaves aside the probabilities that judges "
            f"state beside {counted(stated, 'label')}: panel counts them (--method panel)"
        )


def _warn_of_fit(method: str, made: Truths, votes: Votes) -> None:
    """Warn of a maximum at one end, and of chains that do not agree."""
    if method in _MAXIMISED and method != "mv":
        _warn_of_one_side(method, made.grades, votes)
    if made.r_hat is not None and made.r_hat > _MIXED:
        warn(
            f"the chains do not agree (R-hat {made.r_hat:.2f}), so that intervals are too narrow; "
            "give more labels a pair, or grades of a person",
            FitWarning,
        )


def _warn_of_scales(labels: Labels, relevance_level: int, method: str, graded: bool) -> None:
    """Say of judges of many labels how theirs are read beside those of judges on other scales."""
    binary = labels.binary_judges
    names = some([labels.judges[j] for j in binary])
    if graded and method != "panel" and len(binary) and labels.n_grades > 2:
        warn(
            f"labels of {names} are 0 and 1 alone, and {method} by grade takes their 1 for grade "
            "1; leave graded= (--graded) out, or take panel (--method panel), to which it is the "
            "highest grade",
        )
    elif relevance_level > 1 and len(binary):
        warn(
            f"labels of {names} are 0 and 1 alone: for these judges 1 counts as relevant, for "
            f"others, and for people, grades from {relevance_level} on",
        )
    if graded or method == "panel":
        say_scales(labels)
    elif len(below := np.setdiff1d(labels.judges_below(relevance_level), binary)):
        names = some([labels.judges[j] for j in below])
        warn(
            f"no label of {names} reaches {relevance_level}, the lowest relevant grade, so all "
            "count as nonrelevant; if these are on another scale, give them on that of the others",
        )


def _warn_of_one_side(method: str, grades: Floats, votes: Votes) -> None:
    """Warn where a maximum is at one end: without known grades nothing holds it."""
    if votes.n_grades > 2 or (votes.gold >= 0).any() or len(votes.grade) < MANY_LABELS:
        return
    share, by_vote = float(grades[:, 1].mean()), float(majority(votes).grades[:, 1].mean())
    if abs(share - by_vote) > _ONE_SIDE:
        warn(
            f"{method} takes {share:.0%} of the documents for relevant, where shares of votes say "
            f"{by_vote:.0%}: its maximum may be one where judges who always say the same are "
            "right; take another method, or give grades of a person (human=, --human)",
            FitWarning,
        )


def _many_more(human: Known, labelled: int) -> bool:
    """Whether grades are known of more than twice as many documents as have labels."""
    graded = human.n_values if isinstance(human, Qrels) else len(human)
    return graded > 2 * labelled


def _earlier(labels: Labels, votes: Votes, history: Aggregate | None) -> dict[int, Floats]:
    if history is None:
        return {}
    if history.counts.shape[1] != votes.n_grades:
        raise InputError(
            f"history is of {history.counts.shape[1]} grades, labels of {votes.n_grades}",
            remedy="aggregate both by grade, or neither",
        )
    place = {judge: i for i, judge in enumerate(labels.judges)}
    named = zip(history.judges, history.counts, strict=True)
    return {place[judge]: counts for judge, counts in named if judge in place}
