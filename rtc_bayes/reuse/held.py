"""Scores under a hold-out design: what every test of reusability works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.hold_out import HoldOutDesign, groups_of
from rtc_bayes.collection.order import all_pairs
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import ScoreMatrix

_ROUNDING = 1e-9

#: Pairs of one group; of two groups; one that was held out with one that was not.
COMPARISONS = ("within", "between", "participant")


@dataclass(frozen=True)
class HeldScores:
    """Scores of systems by topic, each system's group, and where the group took part in judging.

    Attributes
    ----------
    scores : ndarray, shape (systems, topics)
        NaN where a system was not evaluated.
    contributes : ndarray of bool, shape (systems, topics)
    group : ndarray of int, shape (systems,)
        Place among `groups`.
    systems, topics, groups : tuple of str
    """

    scores: NDArray[np.float64]
    contributes: NDArray[np.bool_]
    group: NDArray[np.int_]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def under(
        cls, scores: ScoreMatrix, groups: Mapping[str, str], hold_out: HoldOutDesign
    ) -> HeldScores:
        """Put scores and a design together.

        Raises
        ------
        InputError
            A system without a group, a group or topic that the design lacks, fewer than two
            groups with systems, or no group held out of any topic that has scores.
        """
        mask = hold_out.mask(scores.systems, groups, scores.topics)
        of_systems = groups_of(scores.systems, groups)
        present = tuple(group for group in hold_out.groups if group in of_systems)
        if len(present) < 2:
            raise InputError(
                f"the scores are of {len(present)} group", remedy="give systems of two or more"
            )
        place = {group: n for n, group in enumerate(present)}
        held = cls(
            np.asarray(scores.mean),
            mask,
            np.array([place[group] for group in of_systems]),
            scores.systems,
            scores.topics,
            present,
        )
        if not held.held.any():
            raise InputError(
                "no system with scores is held out of a topic with scores",
                remedy="judge reuse topics too, or give the design by which was judged",
            )
        if not held.contributed.any(axis=1).all():
            lone = held.systems[int(np.argmin(held.contributed.any(axis=1)))]
            raise InputError(
                f"system {lone} contributes to no topic with scores",
                remedy="judge more topics, or leave it out",
            )
        return held

    @cached_property
    def contributed(self) -> NDArray[np.bool_]:
        """Where a system was evaluated and took part."""
        return self.contributes & ~np.isnan(self.scores)

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Where a system was evaluated and held out."""
        return ~self.contributes & ~np.isnan(self.scores)

    def permuted(self, order: NDArray[np.int_]) -> HeldScores:
        """Give topics one another's columns of scores; who is held out where stays."""
        return replace(self, scores=self.scores[:, order])

    def pairs(self, comparison: str) -> NDArray[np.int_]:
        """Return the pairs of systems of a comparison, shape (pairs, 2).

        Of "participant" each pair stands twice: the first of a pair is the one held out.
        """
        a, b = all_pairs(len(self.systems))
        same = self.group[a] == self.group[b]
        kept = same if comparison == "within" else ~same
        pairs = np.column_stack([a, b])[kept]
        return np.vstack([pairs, pairs[:, ::-1]]) if comparison == "participant" else pairs

    def topic_sets(self, comparison: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return where the first and the second of a pair count on reuse topics."""
        return self.held, self.contributed if comparison == "participant" else self.held

    @property
    def mean_score(self) -> float:
        """Mean over systems of the mean score on topics that a system contributed to."""
        took = self.contributed
        return float((np.where(took, self.scores, 0.0).sum(1) / took.sum(1)).mean())

    @property
    def below_0(self) -> bool:
        """Whether some score is below 0, by more than rounding."""
        return float(np.nanmin(self.scores)) < -_ROUNDING

    @property
    def from_0_to_1(self) -> bool:
        """Whether every score lies from 0 to 1, but for rounding."""
        return not self.below_0 and float(np.nanmax(self.scores)) <= 1.0 + _ROUNDING

    @cached_property
    def members(self) -> NDArray[np.float64]:
        """1 where a system is of a group, shape (groups, systems)."""
        return (self.group == np.arange(len(self.groups))[:, None]).astype(np.float64)
