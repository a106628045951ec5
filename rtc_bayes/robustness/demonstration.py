"""The demonstration: the whole method on a simulated collection, with nothing to download.

Judge for two systems until their order is sure, compare ten by those judgments, look at how
right that was, ask what to judge next, and repeat it in a small study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Qrels, write_qrels
from rtc_bayes.collection.ids import by_topic
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.errors import FitError
from rtc_bayes.judging import next_documents
from rtc_bayes.judging.stopping import why_ended
from rtc_bayes.judging.weights import weighed_by_or_ap
from rtc_bayes.measures import Estimand
from rtc_bayes.measures.estimand import EstimandLike
from rtc_bayes.robustness.robustness_study import MOVED, Study, study
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials.complete import Collection
from rtc_bayes.trials.folder import refuse_other_files
from rtc_bayes.trials.kind import Arrays, Kind, StudyResult, Tables
from rtc_bayes.trials.plan import Plan
from rtc_bayes.trials.running import run_study
from rtc_bayes.trials.schema import columns
from rtc_bayes.trials.trial import Outcome
from rtc_bayes.workers import Workers

if TYPE_CHECKING:
    import pandas as pd

# judging by rtc:map is quick where two systems are hard to tell apart
ALGORITHMS = ("ip", "mtc", "rtc:map", f"rtc:map/{defaults.ALGORITHM}")
_SUGGESTED = 10
_STUDY = "robustness"


class Demo(StudyResult):
    """A finished demonstration.

    Attributes
    ----------
    directory : Path
        Where it stands.
    facts : dict
        Sizes and outcomes: topics, systems, judged, reason, tau and others.
    systems : DataFrame
        system, expected, sd, true, judged_for (bool); best expected first.
    pairs : DataFrame
        a, b, expected_difference, sd, p_less, p_equal, p_greater, confidence, correct (NaN
        where a and b are truly equal).
    next : DataFrame
        topic, docno, weight, why.
    judgments : DataFrame
        topic, judged, relevant.
    study : Study
        The small study, in ``robustness/``.
    meta : dict
        Provenance.

    Examples
    --------
    >>> from rtc_bayes.robustness import Demo
    >>> Demo.load("rtc-bayes-demo").facts["tau"]  # doctest: +SKIP
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    next: pd.DataFrame
    judgments: pd.DataFrame

    @property
    def facts(self) -> Mapping[str, Any]:
        """The summary."""
        return self.summary

    @cached_property
    def study(self) -> Study:
        """The small study."""
        return Study.load(self.directory / _STUDY)

    @property
    def sure(self) -> pd.DataFrame:
        """The pairs with the confidence that judging was to reach."""
        return self.pairs[self.pairs["confidence"] >= self.facts["confidence"]]

    @property
    def story(self) -> str:
        """What was done, in three sentences."""
        facts = self.facts
        return (
            f"A simulated collection of {facts['topics']} topics and "
            f"{facts['collection_systems']} systems. Judgments were made for two of them, "
            f"{' and '.join(facts['judged_for'])}, until their order was "
            f"{facts['confidence']:.0%} sure. Those judgments then compare "
            f"{facts['systems']} systems."
        )

    @property
    def findings(self) -> tuple[str, ...]:
        """What came of it, a sentence each."""
        facts, sure = self.facts, self.sure
        return (
            f"{facts['judged']:,} of {facts['pool_documents']:,} documents are judged, by "
            f"{facts['algorithm']}; {why_ended(facts['reason'])}.",
            f"{len(sure)} of {len(self.pairs)} pairs of systems are {facts['confidence']:.0%} sure "
            f"or more; the order of {int(sure['correct'].sum())} of these is right.",
            f"The order of all {facts['systems']} has a rank correlation (Kendall's tau) of "
            f"{facts['tau']:.2f} with the true one.",
            # none where all are judged
            *(
                f"To be surer of all, judge first: document {first.docno} of topic {first.topic}."
                for first in self.next.head(1).itertuples()
            ),
        )

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"Demo({facts['judged']} judgments for {' and '.join(facts['judged_for'])} compare "
            f"{facts['systems']} systems: tau {facts['tau']:.2f}; in {self.directory})"
        )


@dataclass(frozen=True)
class Demonstration(Kind[Demo]):
    """One trial by the default algorithm, looked at closely.

    Attributes
    ----------
    n_topics, n_systems : int
        Of the simulated collection.
    trials : int
        Of the small study beside it.
    """

    n_topics: int
    n_systems: int
    trials: int

    name = "demo"
    summary_file = "demo.json"
    stage = "demonstration"
    result = Demo
    page = "rtc_bayes.report.demo_page:demo_page"
    tables: ClassVar = {
        "systems": columns("system:str expected sd true judged_for:bool"),
        "pairs": columns(
            "a:str b:str expected_difference sd p_less p_equal p_greater form:str skewness "
            "excess_kurtosis variance_unjudged variance_parameters confidence correct"
        ),
        "next": columns("topic:str docno:str weight why:str"),
        "judgments": columns("topic:str judged:int relevant:int"),
        "judged": columns("topic:str docno:str grade:int"),
        "trials": columns(
            "algorithm:str judged_for:str relevant:int reason:str pool_documents:int tau"
        ),
    }

    def seeds(self, plan: Plan) -> list[int]:
        """Return the second seed: the first is the simulation's, the third the small study's."""
        return spawn_seeds(plan.seed, 3)[1:2]

    def rows(self, outcome: Outcome, collection: Collection) -> Tables:
        """Return the tables; without a fit there is nothing to show."""
        import pandas as pd

        if outcome.failure or outcome.comparison is None or outcome.judgments is None:
            raise FitError(str(outcome.failure))
        judgments = outcome.judgments
        suggested = next_documents(
            outcome.pool,
            judgments,
            replace(collection.estimand, measure=weighed_by_or_ap(collection.estimand.measure)),
            algorithm=outcome.label,
            count=_SUGGESTED,
        )
        by_pair = outcome.pairs_frame()
        systems = outcome.systems_frame().sort_values("expected", ascending=False, kind="stable")
        facts = {
            "judged_for": " ".join(outcome.draw.initial),
            "relevant": round(float(judgments.relevant.sum())),
            "reason": outcome.reason,
            "pool_documents": outcome.pool.n_documents,
            "tau": outcome.tau,
        }
        return {
            "systems": systems,
            "pairs": outcome.comparison.to_frame().assign(
                confidence=by_pair["confidence"], correct=by_pair["correct"]
            ),
            "next": suggested.to_frame()[["topic", "docno", "weight", "why"]],
            "judgments": outcome.judgments_frame(),
            "judged": judgments.to_qrels().to_frame().set_axis(["topic", "docno", "grade"], axis=1),
            "trials": pd.DataFrame([facts]),
        }

    def summarise(
        self, tables: Tables, arrays: Sequence[Arrays], plan: Plan
    ) -> tuple[Tables, Mapping[str, Any]]:
        """Return the facts."""
        (trial,) = tables["trials"].to_dict("records")
        return {}, {
            "topics": self.n_topics,
            "collection_systems": self.n_systems,
            "systems": plan.n_systems,
            "judged_for": trial["judged_for"].split(),
            "algorithm": trial["algorithm"],
            "confidence": plan.confidence,
            "judged": len(tables["judged"]),
            **{name: trial[name] for name in ("relevant", "reason", "pool_documents", "tau")},
            "trials": self.trials,
        }


@explains_types
@moved(**MOVED, topics="write n_topics")
def demo(
    output: str | Path,
    *,
    estimand: EstimandLike = None,
    seed: int = 0,
    n_topics: int = 50,
    n_systems: int = 40,
    trials: int = 2,
    workers: Workers | None = None,
    command: str | None = None,
) -> Demo:
    """Show the whole method on a simulated collection.

    Parameters
    ----------
    output : str or Path
        A folder, made if absent; a demonstration that was interrupted goes on.
    estimand : Estimand or str, optional
        What is compared: a measure, of lists how deep, over which topics. Default: AP.
    seed : int
        Of the collection and everything after it.
    n_topics, n_systems : int
        Of the collection; at least 10 systems.
    trials : int
        Of the small study.
    workers : Workers, optional
        Trials at a time. It does not change the numbers.
    command : str, optional
        The command line, for the record.

    Returns
    -------
    Demo

    Raises
    ------
    InputError
        As of :func:`rtc_bayes.robustness.study`.
    FitError
        A fit that must not be used: there is nothing to show.

    Examples
    --------
    >>> from rtc_bayes.robustness import demo
    >>> demo("rtc-bayes-demo", seed=1)  # doctest: +SKIP
    """
    folder, what = Path(output), Estimand.from_value(estimand)
    refuse_other_files(folder)
    trials = whole_number("trials", trials, least=1)
    simulating, _, studying = spawn_seeds(seed, 3)
    simulated = simulate(n_topics=n_topics, n_systems=n_systems, seed=simulating)
    n_topics, n_systems = len(simulated.runs.topics), len(simulated.runs)
    study(
        simulated.runs,
        simulated.qrels,
        algorithms=ALGORITHMS,
        estimand=what,
        trials=trials,
        seed=studying,
        output=folder / _STUDY,
        workers=workers,
        command=command,
    )
    shown = run_study(
        Demonstration(n_topics, n_systems, trials),
        simulated.runs,
        simulated.qrels,
        Plan((defaults.ALGORITHM,), trials=1, estimand=what, seed=seed),
        output=folder,
        workers=workers,
        command=command,
    )
    judged = by_topic(shown.tables["judged"].itertuples(index=False))
    write_qrels(Qrels(judged), folder / "judgments.qrels")
    return shown
