"""The demonstration: the whole method on a simulated collection, with nothing to download.

Judge for two systems until their order is sure, compare ten by those judgments, look at how
right that was, ask what to judge next, and repeat it in a small study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rtc_bayes.collection import Judgments, write_qrels
from rtc_bayes.collection.simulate import simulate
from rtc_bayes.confidence import compare
from rtc_bayes.defaults import ALGORITHM
from rtc_bayes.judging import JudgingResult, build, next_documents
from rtc_bayes.judging.suggest import documents_frame
from rtc_bayes.relevance import ModelSpec, fit
from rtc_bayes.robustness.design import Collection, Design
from rtc_bayes.robustness.running import META
from rtc_bayes.robustness.significance import kendall_tau
from rtc_bayes.robustness.studies import Study, run_design
from rtc_bayes.robustness.trial import Draw, draw_systems
from rtc_bayes.store import (
    Progress,
    provenance,
    read_json,
    silent,
    spawn_seeds,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    import pandas as pd

FACTS = "demo.json"
# judging by rtc:map is quick where two systems are hard to tell apart
ALGORITHMS = ("ip", "mtc", "rtc:map", f"rtc:map/{ALGORITHM}")
_SUGGESTED = 10
_STAGES = 3
_TABLES = ("systems", "pairs", "next", "judgments")


@dataclass(frozen=True, eq=False, repr=False)
class Demo:
    """What a demonstration found.

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
    """

    directory: Path
    facts: Mapping[str, Any]
    systems: pd.DataFrame
    pairs: pd.DataFrame
    next: pd.DataFrame
    judgments: pd.DataFrame
    study: Study
    meta: Mapping[str, Any]

    @classmethod
    def load(cls, directory: str | Path) -> Demo:
        """Read what :func:`demo` wrote.

        Raises
        ------
        InputError
            A file of it is missing.
        """
        import pandas as pd

        folder = Path(directory)
        text = dict.fromkeys(("topic", "docno", "system", "a", "b"), str)
        tables = {name: pd.read_csv(folder / f"{name}.csv", dtype=text) for name in _TABLES}
        return cls(
            directory=folder,
            facts=read_json(folder / FACTS),
            **tables,
            study=Study.load(folder / "robustness"),
            meta=read_json(folder / META),
        )

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"Demo({facts['judged']} judgments for {' and '.join(facts['judged_for'])} compare "
            f"{facts['systems']} systems: tau {facts['tau']:.2f}; in {self.directory})"
        )


def is_demo(directory: str | Path) -> bool:
    """Whether a folder holds a demonstration."""
    return (Path(directory) / FACTS).is_file()


def demo(
    output: str | Path,
    *,
    seed: int = 0,
    topics: int = 50,
    systems: int = 40,
    trials: int = 10,
    jobs: int = 2,
    command: str | None = None,
    progress: Progress = silent,
) -> Demo:
    """Show the whole method on a simulated collection.

    Parameters
    ----------
    output : str or Path
        A folder, made if absent.
    seed : int
        Of the collection and everything after it.
    topics, systems : int
        Of the collection; at least 10 systems.
    trials : int
        Of the small study.
    jobs : int
        Trials at a time.
    command : str, optional
        The command line, for the record.
    progress : Progress

    Returns
    -------
    Demo
    """
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    made = provenance(command, seed)
    simulating, choosing, studying = spawn_seeds(seed, 3)
    design = Design(algorithms=ALGORITHMS, trials=trials, seed=studying)
    report = partial(progress, "demonstration")

    report(0, _STAGES)
    simulated = simulate(topics=topics, systems=systems, seed=simulating)
    collection = Collection.from_runs(
        simulated.runs,
        simulated.qrels,
        depth=design.depth,
        relevance_level=design.relevance_level,
    )
    report(1, _STAGES)
    draw = draw_systems(collection.pool.systems, design, choosing)
    # the matrices are small: a second thread would only wait for the first
    with threadpool_limits(1):
        built = build(
            collection.pool.select(draw.initial),
            simulated.qrels,
            ALGORITHM,
            confidence=design.confidence,
            seed=draw.judging_seed,
        )
        report(2, _STAGES)
        facts, tables = _show(collection, design, draw, built)
    report(3, _STAGES)
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv", made)
    write_qrels(built.judgments.to_qrels(), folder / "judgments.qrels")

    small = run_design(
        design,
        simulated.runs,
        simulated.qrels,
        lambda: collection,
        jobs=jobs,
        output=folder / "robustness",
        made=made,
        progress=progress,
    )
    write_json(made, folder / META)
    # last: its presence says that the demonstration is whole
    write_json(facts, folder / FACTS)
    return Demo(folder, facts, **tables, study=small, meta=made)


def _show(
    collection: Collection, design: Design, draw: Draw, built: JudgingResult
) -> tuple[dict[str, object], dict[str, pd.DataFrame]]:
    """Compare all systems drawn by the judgments made for some; return facts and tables."""
    pool = collection.pool.select(draw.everyone)
    judgments = built.judgments.on(pool)
    spec = ModelSpec.parse(ALGORITHM)
    draws, chains, tune = design.sampling_of(spec)
    fitted = fit(
        pool,
        judgments,
        model=ALGORITHM,
        draws=draws,
        chains=chains,
        tune=tune,
        seed=draw.evaluating_seed,
    )
    comparison = compare(
        pool,
        fitted.relevance,
        moments=design.moments_of(spec),
        seed=draw.evaluating_seed,
    )
    suggested = next_documents(pool, judgments, algorithm=ALGORITHM, count=_SUGGESTED)
    truth = dict(zip(collection.pool.systems, collection.truth.tolist(), strict=True))
    systems = _with_truth(comparison.systems_frame(), truth, draw.initial)
    facts = {
        "topics": pool.n_topics,
        "collection_systems": collection.pool.n_systems,
        "systems": pool.n_systems,
        "judged_for": list(draw.initial),
        "algorithm": ALGORITHM,
        "confidence": design.confidence,
        "judged": built.judgments.n_judged,
        "relevant": round(float(built.judgments.relevant.sum())),
        "reason": built.reason,
        "pool_documents": pool.n_documents,
        "tau": kendall_tau(systems["expected"], systems["true"]),
        "trials": design.trials,
    }
    tables = {
        "systems": systems,
        "pairs": _with_outcome(comparison.to_frame(), comparison.confidence, truth),
        "next": documents_frame(suggested),
        "judgments": _per_topic(built.judgments),
    }
    return facts, tables


def _with_truth(
    systems: pd.DataFrame, truth: Mapping[str, float], judged_for: tuple[str, ...]
) -> pd.DataFrame:
    """Add what is true of each system; best expected first."""
    return (
        systems[["system", "expected", "sd"]]
        .assign(true=systems["system"].map(truth), judged_for=systems["system"].isin(judged_for))
        .sort_values("expected", ascending=False, kind="stable")
        .reset_index(drop=True)
    )


def _with_outcome(
    pairs: pd.DataFrame, confidence: NDArray[np.float64], truth: Mapping[str, float]
) -> pd.DataFrame:
    """Add the confidence of each pair and whether its predicted sign is right."""
    difference = np.sign(pairs["a"].map(truth) - pairs["b"].map(truth))
    predicted = np.sign(pairs["p_greater"] - pairs["p_less"])
    right = (predicted == difference).astype(float)
    return pairs.assign(confidence=confidence, correct=right.where(difference != 0.0))


def _per_topic(judgments: Judgments) -> pd.DataFrame:
    """Count the judgments of each topic."""
    import pandas as pd

    return pd.DataFrame(
        {
            "topic": judgments.pool.topics,
            "judged": np.rint(judgments.relevant + judgments.nonrelevant).astype(int),
            "relevant": np.rint(judgments.relevant).astype(int),
        }
    )
