"""What a study is asked to do: one value, which decides its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from rtc_bayes import defaults
from rtc_bayes.checks import brief_repr, check_word, whole_fields, whole_number
from rtc_bayes.collection.leave_out import parse_leave_out
from rtc_bayes.errors import InputError
from rtc_bayes.judging import (
    Algorithm,
    AlgorithmLike,
    parse_algorithm,
    split_algorithms,
)
from rtc_bayes.measures import Estimand
from rtc_bayes.relevance import ModelSpec, Sampling, is_sampler
from rtc_bayes.relevance.fitters import is_tuned
from rtc_bayes.signatures import moved
from rtc_bayes.trials.complete import Truth, check_truth
from rtc_bayes.trials.without_model import check_measure

type MomentsRule = Literal["published", "exact", "plugin"]


@moved(systems="write n_systems", initial="write n_initial")
@dataclass(frozen=True)
class Plan:
    """The arguments of a study that decide its numbers.

    Attributes
    ----------
    algorithms : tuple of str, judge, model, pair of judge and evaluator, or Algorithm
        In the grammar ``JUDGE[/EVALUATOR]`` of :func:`rtc_bayes.judging.parse_algorithm`, or as
        objects that it takes. One text is taken as the command line takes it: ``"mtc"``, or several
        with commas between.
    trials : int
        At least 1.
    n_systems : int
        Systems of a trial, k in Carterette 2007, section 4.3; at least 2.
    n_initial : int
        Systems that the judgments of a trial are made for, c in the paper; 2 to `n_systems`.
    moments : {"published", "exact", "plugin"}
        Moments that confidences are made of, for measures that have moments. "published": plug-in
        for `uniform` and `rtc:map`, as in the paper, exact for the rest.
    estimand : Estimand
        What is compared. The truth is of the same measure and topics, over whole lists, by every
        judgment; ``topics="judged"`` are those of the complete judgments.
    truth : {"all", "judged"}
        What the judgments say of a document without one. "all": that it is not relevant.
        "judged": nothing. Lists are then condensed first, to documents with a judgment
        (:meth:`rtc_bayes.Runs.condensed`), and only topics that have one are compared.
    pad : bool
        Fill lists that are shorter than the depth with documents that no other system lists and
        nobody judged, as of :meth:`rtc_bayes.Pool.from_runs`: for reproducing the tables of
        Carterette 2007 only. Such a document has no judgment, so `truth` must be "all".
    confidence : float
        Judging ends when every pair of initial systems has it, in (0.5, 1).
    budgets : tuple of int
        Numbers of judgments, each at least 1. If any are given, judging ends when the largest is
        spent, however sure it is, and every algorithm evaluates by the first judgments of each;
        `confidence` is then left at its default.
    draws, chains, tune : int or None
        Of a method that draws, when the systems are compared: draws of each chain, chains, and
        steps of a chain before its first draw. None: as many as the method takes anywhere.
    seed : int
        Each trial has a seed of its own, made from this one.
    leave_out : "groups", sequence of str, or None
        Leave one group out of each trial: the new systems are all of one group, the initial ones
        of others. "groups" takes every group in turn, names take those; a text of several has
        commas between. `n_systems` is then the most a trial compares: a group with fewer systems
        than are asked for gives all it has. None: all systems are drawn at random.

    Raises
    ------
    InputError
        An argument out of its range, or the same algorithm twice.

    Examples
    --------
    >>> from rtc_bayes.trials import Plan
    >>> plan = Plan(("ip", "mtc/rtc:map"), trials=10, budgets=(50, 100))
    >>> plan.labels
    ('ip at 50', 'ip at 100', 'mtc/rtc:map at 50', 'mtc/rtc:map at 100')
    """

    algorithms: str | Sequence[AlgorithmLike]
    trials: int = defaults.TRIALS
    n_systems: int = defaults.SYSTEMS
    n_initial: int = defaults.INITIAL
    moments: MomentsRule = "published"
    estimand: Estimand = field(default_factory=Estimand)
    truth: Truth = "all"
    pad: bool = False
    confidence: float = defaults.CONFIDENCE
    budgets: Sequence[int] = ()
    draws: int | None = None
    chains: int | None = None
    tune: int | None = None
    seed: int = 0
    leave_out: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimand", _with_depth(Estimand.from_value(self.estimand)))
        object.__setattr__(self, "algorithms", _listed(self.algorithms))
        if not self.algorithms:
            raise InputError("no algorithm was given", remedy="give for example ip,mtc,rtc:map")
        if len(self.parsed) < len(self.algorithms):
            raise InputError("an algorithm is given twice", remedy="name each one once")
        for algorithm in self.parsed.values():
            if algorithm.unjudged is not None:
                check_measure(algorithm.unjudged, self.estimand.measure)
        whole_fields(self, trials=1, n_systems=2, n_initial=2, draws=1, chains=1, tune=0, seed=0)
        if not isinstance(self.budgets, Iterable) or isinstance(self.budgets, str):
            text = brief_repr(self.budgets)
            raise InputError(f"budgets is {text}", remedy=f"give a list, as [{text}]")
        budgets = tuple(whole_number("budgets", budget, least=1) for budget in self.budgets)
        object.__setattr__(self, "budgets", budgets)
        if not 2 <= self.n_initial <= self.n_systems:
            raise InputError(
                f"n_initial is {self.n_initial} and n_systems is {self.n_systems}",
                remedy="give 2 <= n_initial <= n_systems",
            )
        if self.leave_out is not None:
            object.__setattr__(self, "leave_out", parse_leave_out(self.leave_out))
        if self.leave_out is not None and self.n_initial == self.n_systems:
            raise InputError(
                f"all {self.n_systems} systems of a trial are initial: none can be left out",
                remedy="give n_systems (--systems) above n_initial (--initial), or no leave_out "
                "(--leave-out)",
            )
        check_word("moments", self.moments, ("published", "exact", "plugin"))
        check_truth(self.truth)
        if self.pad and self.truth == "judged":
            raise InputError(
                "padded lists hold documents without a judgment, which truth judged takes out",
                remedy="leave pad out, or give truth all",
            )
        if not 0.5 < self.confidence < 1.0:
            raise InputError(
                f"confidence is {self.confidence}", remedy="give one between 0.5 and 1"
            )
        if self.budgets and self.confidence != defaults.CONFIDENCE:
            raise InputError(
                "confidence (--confidence) says nothing with budgets: judging ends when they are "
                "spent",
                remedy="give the one, and leave the other out",
            )
        if len(set(self.budgets)) < len(self.budgets):
            raise InputError(
                f"budgets are {', '.join(map(str, self.budgets))}",
                remedy="give different numbers of judgments, each at least 1",
            )
        self._sampling("gibbs", self.seed)

    @cached_property
    def parsed(self) -> dict[str, Algorithm]:
        """The algorithms by their text."""
        read = [a if isinstance(a, Algorithm) else parse_algorithm(a) for a in self.algorithms]
        return {algorithm.text: algorithm for algorithm in read}

    @property
    def labels(self) -> tuple[str, ...]:
        """What rows and scores are of: each algorithm, and each budget if there are any."""
        return tuple(label for text in self.parsed for label, _ in self.labels_of(text))

    def labels_of(self, text: str) -> list[tuple[str, int | None]]:
        """Return the labels of one algorithm, each with its budget, if any."""
        if not self.budgets:
            return [(text, None)]
        return [(f"{text} at {budget}", budget) for budget in self.budgets]

    def moments_of(self, evaluator: ModelSpec) -> Literal["exact", "plugin"]:
        """Return which moments the confidences by a model's probabilities are made of."""
        if self.moments != "published":
            return self.moments
        if evaluator.name == "uniform":
            return "plugin"
        published = (evaluator.name, evaluator.resolved_method) == ("rtc", "map")
        return "plugin" if published else "exact"

    def sampling_of(self, evaluator: ModelSpec, seed: int) -> Sampling:
        """Return how many draws a fit takes; of a method without draws only the seed counts."""
        if is_sampler(evaluator.resolved_method):
            return self._sampling(evaluator.resolved_method, seed)
        return Sampling(seed=seed)

    def check_draws(self, models: Iterable[ModelSpec]) -> None:
        """Refuse numbers of draws where none of the models that compare systems draws.

        Raises
        ------
        InputError
        """
        counts = (self.draws, self.chains, self.tune)
        methods = [model.resolved_method for model in models]
        drawn = any(map(is_sampler, methods))
        if drawn and self.tune is not None and not any(map(is_tuned, methods)):
            raise InputError(
                "tune says nothing: no model that compares systems draws step by step",
                remedy="leave it out, or name a method that does, such as robust:gibbs",
            )
        if counts != (None, None, None) and not drawn:
            raise InputError(
                "draws, chains and tune say nothing: no model that compares systems draws",
                remedy="leave them out, or name a method that draws, such as robust:gibbs",
            )

    def _sampling(self, method: str, seed: int) -> Sampling:
        return Sampling.of(method, seed=seed, draws=self.draws, chains=self.chains, tune=self.tune)

    def to_dict(self) -> dict[str, Any]:
        """Return the arguments as JSON holds them, those of the estimand among the others."""
        return {
            "algorithms": list(self.parsed),
            "trials": self.trials,
            "systems": self.n_systems,
            "initial": self.n_initial,
            "leave_out": list(self.leave_out)
            if isinstance(self.leave_out, tuple)
            else self.leave_out,
            "moments": self.moments,
            **self.estimand.to_dict(),
            "truth": self.truth,
            "pad": self.pad,
            "confidence": self.confidence,
            "budgets": list(self.budgets),
            "draws": self.draws,
            "chains": self.chains,
            "tune": self.tune,
            "seed": self.seed,
        }


def _listed(algorithms: object) -> tuple[Any, ...]:
    """Return algorithms as a tuple: of a text with commas, of one alone, or of several."""
    if isinstance(algorithms, str):
        return split_algorithms(algorithms) if algorithms.strip() else ()
    return tuple(algorithms) if isinstance(algorithms, Iterable) else (algorithms,)


def _with_depth(estimand: Estimand) -> Estimand:
    """Say the depth where none is said."""
    return estimand if estimand.depth else replace(estimand, depth=defaults.DEPTH)
