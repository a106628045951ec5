"""What a budget buys: topics, and judgments of each, with the confidence that they would give."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

from rtc_bayes.errors import InputError
from rtc_bayes.quadrature import gauss_hermite
from rtc_bayes.signatures import moved
from rtc_bayes.store import json_of, rows_of, write_csv
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Topics beyond which no plan is looked for.
MOST_TOPICS = 100_000

# nodes and weights of Gauss and Hermite, for means over a standard normal
_NODES, _WEIGHTS = gauss_hermite(41)


class Choice(NamedTuple):
    """Topics to judge in all, and how deep.

    Attributes
    ----------
    topics : int
        With a judgment, those of the pilot among them.
    deepened : int
        Of the pilot's topics with fewer judgments, those brought to so many, or to as many as they
        have documents; others stay.
    depth : int or None
        Row of the judgments a topic. None: the pilot as it is.
    cost : float
        Of what the pilot lacks.
    """

    topics: int
    deepened: int
    depth: int | None
    cost: float


@moved(level="write confidence")
@dataclass(frozen=True, eq=False, repr=False)
class JudgingPlan(Shown):
    """What is gained by more topics or by more judgments a topic: see :func:`plan`.

    Attributes
    ----------
    a, b : tuple of str
        Systems of each pair.
    measure, algorithm : str
    population : bool
        Whether confidences are about topics like these, or about the topics of the runs.
    difference : float
        To be separated, above 0.
    confidence : float
        The confidence asked for, in (0.5, 1).
    budget : float
        What may be spent beyond the pilot.
    judgment_cost, topic_cost : float
        Of a judgment, above 0, and of a topic's first, at least 0.
    topics_of_runs : int
    pilot : tuple of int
        Judgments of each topic of the pilot that has any, the most first.
    judgments_per_topic : tuple of int
        What was simulated, rising.
    expected : ndarray, shape (pairs,)
        The pilot's expected difference.
    between : ndarray, shape (pairs,)
        Variance of the true difference between topics.
    unjudged_pilot : ndarray, shape (pairs,)
        Variance, per topic, that unjudged documents leave on a topic of the pilot, without the
        residual; so are the next two.
    unjudged : ndarray, shape (judgments per topic, pairs)
        The same with so many judgments a topic, by simulated judging.
    unjudged_none : ndarray, shape (pairs,)
        The same of the topics without judgments.
    residual : ndarray, shape (2, pairs)
        Variance of what the pool leaves out of a difference, on however many topics, and its part
        by topic: see :meth:`Estimand.residual_parts`. No judgment takes it off.
    documents : tuple of int
        Of each topic of the pilot, in the order of `pilot`: how many the pool has, judged or not.
        Empty: more than any plan asks for.
    documents_elsewhere : tuple of int
        The same of the runs' topics without judgments. New topics are taken to have as many as
        these in the mean, or as the pilot's where there are none.
    meta : dict
        Provenance.

    Examples
    --------
    One pair, whose difference varies between topics with a standard deviation of 0.1:

    >>> import numpy as np
    >>> made = JudgingPlan(
    ...     a=("A",), b=("B",), measure="AP", algorithm="robust:gibbs", population=True,
    ...     difference=0.05, confidence=0.95, budget=60.0, judgment_cost=1.0,
    ...     topic_cost=0.0, topics_of_runs=50, pilot=(8,) * 10, judgments_per_topic=(4, 16),
    ...     expected=np.array([0.03]), between=np.array([0.01]),
    ...     unjudged_pilot=np.array([0.006]), unjudged=np.array([[0.01], [0.004]]),
    ...     unjudged_none=np.array([0.02]),
    ... )
    >>> print(made.sentence)
    60 more bring 25 topics, the pilot's among them, to at least 4 judgments each, which separates
    0.0464 at 0.95; the pilot separates 0.0733 at 0.95. To separate 0.05 at 0.95: 22 topics of 4
    judgments (cost 48), or 18 of 16 (cost 208).
    >>> made.sd(25, 4).round(4)
    array([0.0271])
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    measure: str
    algorithm: str
    population: bool
    difference: float
    confidence: float
    budget: float
    judgment_cost: float
    topic_cost: float
    topics_of_runs: int
    pilot: tuple[int, ...]
    judgments_per_topic: tuple[int, ...]
    expected: Floats
    between: Floats
    unjudged_pilot: Floats
    unjudged: Floats
    unjudged_none: Floats
    residual: Floats = field(default_factory=lambda: np.zeros((2, 1)))
    documents: tuple[int, ...] = ()
    documents_elsewhere: tuple[int, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)

    def cost(self, topics: int, judgments: int) -> float:
        """Return the cost of judging so many topics so deep, beyond the pilot.

        Parameters
        ----------
        topics : int, at least those of the pilot
        judgments : int, at least 1
            Every topic gets so many, unless the pilot has more or there are fewer documents.
        """
        missing = self._lacking(judgments).sum()
        added = topics - len(self.pilot)
        return float(missing * self.judgment_cost + added * self._cost_of_new(judgments))

    def sd(self, topics: int, judgments: int) -> Floats:
        """Return the standard deviation of the difference of each pair, shape (pairs,).

        Parameters
        ----------
        topics : int, at least those of the pilot
        judgments : int, one of those simulated
            Of every topic, unless the pilot has more.

        Raises
        ------
        InputError
            Judgments a topic that were not simulated, or too few or too many topics.
        """
        return np.sqrt(self._variance(self._choice(topics, judgments)))

    def shares(self, topics: int, judgments: int) -> tuple[float, float]:
        """Return the shares of pairs expected to have the confidence, and to be in the right order.

        Parameters
        ----------
        topics, judgments
            As of :meth:`sd`.

        Raises
        ------
        InputError
            As of :meth:`sd`.
        """
        return self._foretold(self._choice(topics, judgments))

    @property
    def most_topics(self) -> int:
        """The most topics that a plan may have."""
        return MOST_TOPICS if self.population else self.topics_of_runs

    def topics_for(self, judgments: int) -> int | None:
        """Return how many topics, judged so deep, separate the difference; None: no number does.

        Parameters
        ----------
        judgments : int, one of those simulated
        """
        least, most = len(self.pilot), self.most_topics

        def reaches(topics: int) -> bool:
            return self._separated(self._choice(topics, judgments)) <= self.difference

        # the variance rises once at most, with topics judged less than the pilot's, then falls
        if reaches(least):
            return least
        if not reaches(most):
            return None
        while least < most:
            middle = (least + most) // 2
            least, most = (least, middle) if reaches(middle) else (middle + 1, most)
        return least

    def choices(self) -> list[Choice]:
        """Return the pilot, and what the budget buys with each number of judgments a topic.

        Topics of the pilot are deepened first, those that need the fewest judgments before
        others; what is left goes to new topics.
        """
        chosen = [Choice(len(self.pilot), 0, None, 0.0)]
        for row, judgments in enumerate(self.judgments_per_topic):
            need = self._lacking(judgments)
            costs = np.cumsum(need) * self.judgment_cost
            deepened = int(np.searchsorted(costs, self.budget * (1 + 1e-12), side="right"))
            spent = float(costs[deepened - 1]) if deepened else 0.0
            added = 0
            if deepened == len(need):
                each = self._cost_of_new(judgments)
                room = self.most_topics - len(self.pilot)
                added = min(int((self.budget - spent) / each + 1e-9), room)
                spent += added * each
            chosen.append(Choice(len(self.pilot) + added, deepened, row, spent))
        return chosen

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the pilot, and one for each number of judgments a topic.

        Returns
        -------
        DataFrame
            judgments_per_topic (0: the pilot), topics, topics_so_deep (those of them with so many
            judgments; missing of the pilot), new_topics (that the runs lack), cost, sd (root mean
            square over pairs), separates (the smallest difference that has the confidence),
            confidence (of the difference asked for), confident (share of pairs expected to have
            the confidence), right (share expected in the right order), topics_needed and
            cost_needed (for the difference asked for, with so many judgments on every topic;
            missing if no number of topics serves).
        """
        import pandas as pd

        rows = []
        for choice in self.choices():
            needed, cost, so_deep = None, None, None
            judgments = 0
            if choice.depth is not None:
                judgments = self.judgments_per_topic[choice.depth]
                needed, so_deep = self.topics_for(judgments), self._so_deep(choice, judgments)
                cost = None if needed is None else self.cost(needed, judgments)
            confident, right = self._foretold(choice)
            rows.append(
                {
                    "judgments_per_topic": judgments,
                    "topics": choice.topics,
                    "topics_so_deep": so_deep,
                    "new_topics": max(choice.topics - self.topics_of_runs, 0),
                    "cost": choice.cost,
                    "sd": self._typical_sd(choice),
                    "separates": self._separated(choice),
                    "confidence": self._confidence(choice),
                    "confident": confident,
                    "right": right,
                    "topics_needed": needed,
                    "cost_needed": cost,
                }
            )
        frame = pd.DataFrame(rows)
        missing = {"topics_so_deep": "Int64", "topics_needed": "Int64", "cost_needed": "Float64"}
        return frame.astype(missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence, the rows and the options, ready for JSON."""
        return {
            "sentence": self.sentence,
            "measure": self.measure,
            "algorithm": self.algorithm,
            "population": self.population,
            "difference": self.difference,
            "confidence": self.confidence,
            "budget": self.budget,
            "judgment_cost": self.judgment_cost,
            "topic_cost": self.topic_cost,
            "pilot": list(self.pilot),
            "rows": rows_of(self.to_frame()),
            "meta": self.meta,
        }

    def to_csv(self, path: str | Path) -> None:
        """Write the rows as CSV, as the command does, and ``meta`` as ``OUT.meta.json`` beside it.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> data = rb.simulate(n_topics=4, n_systems=3, seed=1)
        >>> pool = rb.Pool.from_runs(data.runs, depth=5)
        >>> pilot = rb.build(pool, data.qrels, "mtc/rtc:map", budget=8).judgments
        >>> made = rb.plan(pool, pilot, 8, algorithm="mtc/rtc:map", judgments_per_topic=[2])
        >>> made.to_csv("plan.csv")
        >>> import pandas as pd
        >>> len(pd.read_csv("plan.csv")) == len(made.to_frame())
        True
        """
        write_csv(self.to_frame(), path, self.meta)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return :meth:`to_dict` as JSON, as the command writes it; write it if a path is given.

        Examples
        --------
        >>> made = JudgingPlan(
        ...     a=("A",), b=("B",), measure="AP", algorithm="robust:gibbs", population=True,
        ...     difference=0.05, confidence=0.95, budget=60.0, judgment_cost=1.0,
        ...     topic_cost=0.0, topics_of_runs=50, pilot=(8,) * 10, judgments_per_topic=(4, 16),
        ...     expected=np.array([0.03]), between=np.array([0.01]),
        ...     unjudged_pilot=np.array([0.006]), unjudged=np.array([[0.01], [0.004]]),
        ...     unjudged_none=np.array([0.02]),
        ... )
        >>> import json
        >>> json.loads(made.to_json())["sentence"] == made.sentence
        True
        """
        return json_of(self.to_dict(), path)

    @property
    def sentence(self) -> str:
        """The answer in words: what the budget buys, and what separates the difference."""
        pilot, *bought = self.choices()
        now = self._separated(pilot)
        # of those that print alike the cheapest
        best = min(bought, key=lambda each: (_printed(self._separated(each)), each.cost))
        assert best.depth is not None
        deep = self.judgments_per_topic[best.depth]
        spent, budget = f"{best.cost:,.12g}", f"{self.budget:,.12g}"
        by_pilot = f"{self._told(now)} at {self.confidence:g}"
        if _printed(self._separated(best)) >= _printed(now):
            return (
                f"{budget} more gain next to nothing: the pilot separates {by_pilot}. "
                f"{self._needed(now)}"
            )
        within = f"{budget} more" if spent == budget else f"Of {budget} more, {spent}"
        return (
            f"{within} {self._bought(best, deep)}, "
            f"which separates {self._told(self._separated(best))} at {self.confidence:g}; "
            f"the pilot separates {by_pilot}. {self._needed(now)}"
        )

    def _told(self, separated: float) -> str:
        """Write what is separated, in as many digits as tell it from the difference asked for."""
        for digits in range(3, 8):
            text = f"{separated:.{digits}g}"
            if separated <= self.difference or float(text) > self.difference:
                break
        return text

    def _choice(self, topics: int, judgments: int) -> Choice:
        """Every topic with so many judgments, unless the pilot has more."""
        if judgments not in self.judgments_per_topic:
            raise InputError(
                f"{judgments} judgments a topic were not simulated",
                remedy=f"give one of {', '.join(map(str, self.judgments_per_topic))}, or plan "
                "with judgments_per_topic",
            )
        if not len(self.pilot) <= topics <= self.most_topics:
            raise InputError(
                f"{topics} topics", remedy=f"give {len(self.pilot)} to {self.most_topics}"
            )
        row = self.judgments_per_topic.index(judgments)
        deepened = len(self._lacking(judgments))
        return Choice(topics, deepened, row, self.cost(topics, judgments))

    def _lacking(self, judgments: int) -> NDArray[np.int64]:
        """Return how many judgments topics of the pilot lack, rising, of those that lack any."""
        asked = np.minimum(judgments, self.documents) if self.documents else judgments
        lacking = asked - np.array(self.pilot)
        return np.sort(lacking[lacking > 0])

    def _exhausted(self, judgments: int) -> int:
        """Count the pilot's topics that have fewer documents than so many, all of them judged."""
        pairs = zip(self.pilot, self.documents, strict=False)
        return sum(pilot >= documents and documents < judgments for pilot, documents in pairs)

    def _cost_of_new(self, judgments: int) -> float:
        """Return what a topic without judgments costs, judged so deep."""
        documents = self.documents_elsewhere or self.documents
        made = float(np.minimum(judgments, documents).mean()) if documents else float(judgments)
        return self.topic_cost + made * self.judgment_cost

    def _so_deep(self, choice: Choice, judgments: int) -> int:
        """Count the topics that have so many judgments."""
        return choice.topics - len(self._lacking(judgments)) + choice.deepened

    def _bought(self, choice: Choice, judgments: int) -> str:
        """Say what the budget buys."""
        if self._so_deep(choice, judgments) == choice.topics:
            every = f"{choice.topics} topics, the pilot's among them"
            return f"bring {every}, to at least {judgments} judgments each"
        more = f"{choice.deepened} of the pilot's {choice.topics} topics"
        return f"deepen {more} to {judgments} judgments each"

    def _needed(self, now: float) -> str:
        """Say what separates the difference: the cheapest, and the one of fewest topics."""
        asked = f"{self.difference:g} at {self.confidence:g}"
        if now <= self.difference:
            return f"The pilot separates {asked} already."
        serving = [
            (self.cost(topics, judgments), topics, judgments)
            for judgments in self.judgments_per_topic
            if (topics := self.topics_for(judgments)) is not None
        ]
        if not serving:
            return (
                f"No plan of at most {self.judgments_per_topic[-1]} judgments on each of "
                f"{self.most_topics} topics separates {asked}."
            )
        cheapest = min(serving)
        fewest = min(serving, key=lambda each: (each[1], each[0]))
        text = (
            f"To separate {asked}: {cheapest[1]} topics of {cheapest[2]} judgments "
            f"(cost {cheapest[0]:,.12g})"
        )
        if fewest[1] < cheapest[1]:
            text += f", or {fewest[1]} of {fewest[2]} (cost {fewest[0]:,.12g})"
        return text + "."

    def _variance(self, choice: Choice) -> Floats:
        """Variance of the difference of each pair."""
        first = len(self.pilot)
        new = self.unjudged_pilot if choice.depth is None else self.unjudged[choice.depth]
        if not self.population:
            new = np.minimum(new, self.unjudged_none)
        deeper = np.minimum(new, self.unjudged_pilot)
        deepened = choice.deepened
        if choice.depth is not None:
            deepened += self._exhausted(self.judgments_per_topic[choice.depth])
        total = first * self.unjudged_pilot - deepened * (self.unjudged_pilot - deeper)
        total = total + (choice.topics - first) * new
        stays, of_topic = self.residual
        if self.population:
            left = stays + of_topic / choice.topics
            return (total / choice.topics + self.between) / choice.topics + left
        rest = (self.topics_of_runs - choice.topics) * self.unjudged_none
        left = stays + of_topic / self.topics_of_runs
        return (total + rest) / self.topics_of_runs**2 + left

    def _typical_sd(self, choice: Choice) -> float:
        return float(np.sqrt(self._variance(choice).mean()))

    def _distribution(self, choice: Choice, z: Any) -> Any:
        """Cumulative distribution of a standardised difference."""
        return stdtr(choice.topics - 1, z) if self.population else ndtr(z)

    def _quantile(self, choice: Choice) -> float:
        degrees = choice.topics - 1 if self.population else np.inf
        return float(stdtrit(degrees, self.confidence))

    def _separated(self, choice: Choice) -> float:
        return self._quantile(choice) * self._typical_sd(choice)

    def _confidence(self, choice: Choice) -> float:
        sd = self._typical_sd(choice)
        return float(self._distribution(choice, self.difference / sd)) if sd > 0.0 else 1.0

    def _foretold(self, choice: Choice) -> tuple[float, float]:
        """Shares of pairs expected to have the confidence, and to be in the right order."""
        before = self._variance(Choice(len(self.pilot), 0, None, 0.0))
        after = self._variance(choice)
        moves = np.sqrt(np.maximum(before - after, 0.0))
        differences = np.abs(self.expected[:, None] + moves[:, None] * _NODES)
        sd = np.sqrt(after)[:, None]
        z = np.divide(differences, sd, out=np.full_like(differences, np.inf), where=sd > 0.0)
        limit, still = self._quantile(choice) * np.sqrt(after), moves == 0.0
        safe = np.where(still, 1.0, moves)
        above = ndtr((self.expected - limit) / safe) + ndtr((-self.expected - limit) / safe)
        confident = np.where(still, np.abs(self.expected) >= limit, above)
        right = self._distribution(choice, z) @ _WEIGHTS
        return float(confident.mean()), float(right.mean())

    def __repr__(self) -> str:
        frame = self.to_frame()
        return f"JudgingPlan({counted(len(frame), 'row')}. {self.sentence})"


def _printed(separated: float) -> float:
    """Round to the digits that are printed, so that plans that read alike are alike."""
    return float(f"{separated:.3g}")
