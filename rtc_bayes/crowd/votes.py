"""Labels as arrays, for the methods that aggregate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import check_type
from rtc_bayes.collection import Labels, Qrels
from rtc_bayes.collection.ids import keyed_by_pair
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.errors import InputError

type Floats = NDArray[np.float64]
type Codes = NDArray[np.int64]
type Known = Mapping[tuple[str, str], int] | Qrels


@dataclass(frozen=True, eq=False)
class Votes:
    """Labels in the order of their pairs.

    Attributes
    ----------
    pair_of, judge_of, grade : int array, shape (label,)
    topic_of : int array, shape (pair,)
    gold : int array, shape (pair,)
        The true grade; -1 where it is not known.
    n_judges, n_topics, n_grades : int
    """

    pair_of: Codes
    judge_of: Codes
    grade: Codes
    topic_of: Codes
    gold: Codes
    n_judges: int
    n_topics: int
    n_grades: int

    @classmethod
    def of(cls, labels: Labels, level: int, graded: bool, human: Known | None) -> Votes:
        """Take the labels, as grades or as relevant from `level` on."""
        # labels of 0 and 1 beside a person's grades
        own_scale = labels.n_grades == 2 and bool(human) and not graded
        if level >= labels.n_grades and not own_scale:
            raise InputError(
                f"relevance_level is {level}, and the highest grade is {labels.n_grades - 1}",
                remedy="give a lower relevance level, or n_grades (--n-grades) if labels have a "
                "longer scale",
            )
        pairs = labels.pairs()
        order = np.argsort(pairs.of_label, kind="stable")
        grade = labels.grade if graded else labels.binary(level)
        n_grades = labels.n_grades if graded else 2
        return cls(
            pairs.of_label[order],
            labels.judge_of[order],
            grade[order].astype(np.int64),
            pairs.topic,
            known_grades(labels, human, level, graded),
            len(labels.judges),
            len(labels.topics),
            n_grades,
        )

    @property
    def n_pairs(self) -> int:
        """How many pairs of topic and document there are."""
        return len(self.topic_of)

    def checked(self) -> bool:
        """Whether anything says how often judges are right: a second judge's label, or a grade."""
        of_judges = np.unique(self.pair_of * self.n_judges + self.judge_of) // self.n_judges
        return bool((np.bincount(of_judges) > 1).any() or (self.gold >= 0).any())

    def counts(self) -> Floats:
        """Return how many labels of each grade a pair has: shape (pair, grade)."""
        cells = self.pair_of * self.n_grades + self.grade
        counted = np.bincount(cells, minlength=self.n_pairs * self.n_grades)
        return counted.reshape(self.n_pairs, self.n_grades).astype(np.float64)

    def fixed(self, grades: Floats) -> Floats:
        """Return probabilities of grades with those of known pairs 0 and 1: (pair, grade)."""
        told = self.gold >= 0
        grades[told] = np.eye(self.n_grades)[self.gold[told]]
        return grades

    def from_logs(self, grades: Floats) -> Floats:
        """Return probabilities of grades from their logs, each pair's up to a constant."""
        weights = np.exp(grades - grades.max(axis=1, keepdims=True))
        return self.fixed(weights / weights.sum(axis=1, keepdims=True))

    def confusion_counts(self, grades: Floats) -> Floats:
        """Return how often a judge gives a grade where another is true: (judge, true, given).

        Parameters
        ----------
        grades : ndarray, shape (pair, grade)
            Probabilities of the true grade.
        """
        counted = np.zeros((self.n_judges, self.n_grades, self.n_grades))
        cells = self.judge_of * self.n_grades + self.grade
        for true in range(self.n_grades):
            counted[:, true, :] = np.bincount(
                cells, grades[self.pair_of, true], self.n_judges * self.n_grades
            ).reshape(self.n_judges, self.n_grades)
        return counted


class Truths(NamedTuple):
    """What a method says of the pairs.

    Attributes
    ----------
    grades : ndarray, shape (pair, grade)
        Probabilities of the true grade.
    draws : int8 ndarray, shape (draw, pair), or None
        True grades drawn from a posterior.
    confusion : ndarray, shape (draw, judge, true, given), or None
        Draws of what judges say.
    labelled : int array, shape (draw, judge, true), or None
        Draws of how many labels a judge gave to pairs of each true grade.
    right : int array, shape (draw, judge), or None
        Draws of how many of a judge's labels are the true grade.
    r_hat : float or None
        How far chains are from one another.
    """

    grades: Floats
    draws: NDArray[np.int8] | None = None
    confusion: Floats | None = None
    labelled: Codes | None = None
    right: Codes | None = None
    r_hat: float | None = None


def level_by(human: Known | None, relevance_level: int | None) -> int:
    """Say from which grade on a label, or a human grade, counts as relevant.

    Parameters
    ----------
    human : mapping of (topic, docno) to int, or Qrels, or None
    relevance_level : int or None
        As asked for; None: that of human grades that are Qrels, or 1.

    Raises
    ------
    InputError
        Human grades of another type.

    Warns
    -----
    CollectionWarning
        As :func:`rtc_bayes.collection.qrels.level_of`.

    Examples
    --------
    >>> level_by(Qrels({}, relevance_level=2), None), level_by(None, None)
    (2, 1)
    """
    if human is not None:
        check_type(human, Mapping, "human grades are", "give {(topic, docno): grade}, or Qrels")
    return level_of(human if isinstance(human, Qrels) else Qrels({}), relevance_level)


def known_grades(labels: Labels, human: Known | None, level: int, graded: bool) -> Codes:
    """Return the human grade of each pair, or whether it is relevant; -1 where it is not known."""
    codes = np.full(len(labels.pairs().topic), -1, dtype=np.int64)
    if human is None:
        return codes
    of_pairs = {} if isinstance(human, Qrels) else keyed_by_pair(human, "human grades")
    for place, (topic, docno) in enumerate(labels.pair_ids()):
        grade = (
            human.get(topic, {}).get(docno)
            if isinstance(human, Qrels)
            else of_pairs.get((topic, docno))
        )
        if grade is None or grade != grade:
            continue
        if not isinstance(grade, Real) or grade % 1:
            raise InputError(
                f"topic {topic}, {docno}: a human's grade is {grade!r}",
                remedy="give a whole number; NaN, or one below 0, where it is not known",
            )
        if grade < 0:
            continue
        if graded and grade >= labels.n_grades:
            raise InputError(
                f"topic {topic}, {docno}: a human's grade is {grade}, the labels' highest is "
                f"{labels.n_grades - 1}",
                remedy="read labels with n_grades= or --n-grades, or aggregate them without "
                "graded= or --graded",
            )
        codes[place] = int(grade) if graded else int(grade >= level)
    return codes
