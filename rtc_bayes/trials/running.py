"""Running a study of any kind: the trials that are not stored, then the tables and the summary.

The tables are made from the stored trials alone. So a study that is interrupted goes on where it
stopped, and gives the same numbers as one that was not, with any number of workers.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtc_bayes.checks import brief_repr, check_type, nearest
from rtc_bayes.collection import Qrels, Runs
from rtc_bayes.collection.hold_out import groups_of
from rtc_bayes.errors import InputError, own_code, warn
from rtc_bayes.measures import parse_measure
from rtc_bayes.store import digest_text, provenance
from rtc_bayes.trials.complete import Collection, check_can_condense, is_of_relevant_alone
from rtc_bayes.trials.drawing import groups_left_out
from rtc_bayes.trials.folder import StudyFolder, digest_code
from rtc_bayes.trials.kind import Arrays, Kind, StudyResult, Tables
from rtc_bayes.trials.plan import Plan
from rtc_bayes.trials.schema import Columns, is_number, stacked
from rtc_bayes.trials.trial import outcomes, quietly
from rtc_bayes.workers import Workers, open_workers

if TYPE_CHECKING:
    import pandas as pd

MOST_MISSING = 0.1
"""The share of what trials ask for, or of what is first in lists, that the truth may lack before a
study says so."""
_FIRST = 10
_CORRECT = "correct it; docs/studies.md shows a kind of study"

type Rows = dict[str, dict[str, list[Any]]]
"""The columns of each table."""


def run_study[Result: StudyResult](
    kind: Kind[Result],
    runs: Runs,
    qrels: Qrels,
    plan: Plan,
    *,
    groups: Mapping[str, str] | None = None,
    output: str | Path,
    workers: Workers | None = None,
    command: str | None = None,
    inputs: Mapping[str, str] | None = None,
) -> Result:
    """Run a study, or finish one.

    Parameters
    ----------
    kind : Kind
    runs : Runs
        At least as many as a trial compares.
    qrels : Qrels
        Taken as complete: the truth.
    plan : Plan
    groups : mapping of str to str, optional
        Group of each system, as :func:`rtc_bayes.read_groups` reads it: for a plan that leaves
        groups out, and only for that.
    output : str or Path
        A folder: made if absent; if it holds an unfinished study of the same arguments, that
        is finished.
    workers : Workers, optional
        How many trials run at a time, in processes or on a cluster. It does not change the numbers.
    command : str, optional
        The command line, for the record; by default that of the process.
    inputs : mapping of str to str, optional
        Path as typed to digest, for the record.

    Returns
    -------
    StudyResult
        That of the kind.

    Raises
    ------
    InputError
        Too few runs, groups that cannot be left out as the plan says, a folder that holds a study
        of other arguments or by other versions of packages, or that another process is at work in,
        a damaged trial, or a scheduler that does not answer.
    UnfinishedError
        Workers were lost, memory ran out, or the disk is full; the same call goes on.

    Examples
    --------
    >>> import tempfile, rtc_bayes as rb
    >>> from rtc_bayes.robustness import Robustness
    >>> from rtc_bayes.trials import Plan, run_study
    >>> made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> plan = Plan(("mtc",), trials=1, n_systems=3, estimand=rb.Estimand("P@5", depth=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = run_study(
    ...         Robustness(), made.runs, made.qrels, plan, output=folder, workers=rb.Workers(1)
    ...     )
    >>> study.trials["reason"].tolist()
    ['reached']
    """
    workers = workers or Workers()
    plan = replace(plan, estimand=plan.estimand.of_qrels(qrels))
    if plan.leave_out is not None:
        groups_left_out(runs.systems, plan, groups)
    elif groups is not None:
        raise InputError(
            "groups are given, and none is left out",
            remedy='give leave_out="groups" (--leave-out groups), or no groups',
        )
    elif len(runs) < plan.n_systems:
        raise InputError(
            f"a trial takes {plan.n_systems} systems, of {len(runs)}",
            remedy="give more runs, or fewer systems (n_systems, --systems)",
        )
    if plan.truth == "judged":
        check_can_condense(qrels, plan.estimand)
    meta = {
        "kind": kind.name,
        **provenance(command, plan.seed, inputs),
        "code": digest_code(),
        **kind.arguments(plan),
        "runs": digest_text(json.dumps([[name, run.digest] for name, run in runs.items()])),
        "qrels": qrels.digest,
        **_digest_of_groups(runs, groups),
    }
    if relevant := kind.relevant(plan, qrels.highest_grade):
        meta["relevant"] = relevant
    folder = StudyFolder(Path(output), kind, kind.seeds(plan), meta)
    with folder.claimed():
        todo, total = folder.missing(), len(folder.seeds)
        workers.progress(kind.stage, total - len(todo), total)
        if todo:
            collection = Collection.from_runs(
                runs, qrels, plan.estimand, truth=plan.truth, pad=plan.pad, groups=groups
            )
            folder.reopen()
            run = partial(run_trial, kind, plan, collection)
            with open_workers(workers) as run_all:
                results = run_all(run, [(number, folder.seeds[number]) for number in todo])
                with contextlib.closing(results):
                    for done, (number, made) in enumerate(results, start=total - len(todo) + 1):
                        folder.store(number, *made)
                        workers.progress(kind.stage, done, total)
        if more := folder.beyond():
            warn(
                f"{output} holds {total + more} trials, and its tables are now of the first "
                f"{total}; trials={total + more} (--trials) makes them of all again",
            )
        trials = [folder.read(number) for number in range(total)]
        tables = {
            name: stacked([rows[name] for rows, _ in trials], columns)
            for name, columns in kind.tables.items()
        }
        _tell_of_missing(tables.get("trials"), plan, runs, qrels)
        with own_code(kind, "summarise(tables, arrays, plan)", _CORRECT):
            derived, summary = kind.summarise(tables, [arrays for _, arrays in trials], plan)
        return folder.finish({**tables, **_ordered(derived, kind.derived)}, _defined(summary))


def _digest_of_groups(runs: Runs, groups: Mapping[str, str] | None) -> dict[str, str]:
    """Return a digest of the groups of the runs; nothing where no groups are given."""
    if groups is None:
        return {}
    of_systems = zip(runs.systems, groups_of(runs.systems, groups), strict=True)
    return {"groups": digest_text(json.dumps(list(of_systems)))}


def _tell_of_missing(trials: pd.DataFrame | None, plan: Plan, runs: Runs, qrels: Qrels) -> None:
    """Warn where the truth lacks much of what trials ask for, or of what true scores are made of.

    Trials may ask for little, or nothing, and be held to true scores all the same.
    """
    if plan.truth == "judged":
        return
    asked = missing = 0
    if trials is not None and "missing" in trials:
        asked, missing = trials["judged"].sum(), trials["missing"].sum()
    share = missing / asked if asked else 0.0
    first = _first_ranks(plan)
    unjudged = share_unjudged(runs, qrels, first)
    if max(share, unjudged) <= MOST_MISSING:
        return
    why = "the truth is not complete; compare condensed lists instead (--truth judged)"
    if is_of_relevant_alone(qrels, plan.estimand):
        why = (
            "the truth holds relevant documents alone, or next to, so that it may be complete; "
            "if it is not, trials are held to a wrong truth"
        )
    if share <= MOST_MISSING:
        warn(
            f"{unjudged:.0%} of the documents at ranks 1 to {first} have no judgment and count as "
            f"not relevant in the true scores: {why}",
        )
        return
    if plan.pad:
        why = f"documents of padded lists are among them, and if that is not all, {why}"
    warn(
        f"{share:.0%} of what trials asked for has no judgment and was taken as not relevant: "
        f"{why}",
    )


def _first_ranks(plan: Plan) -> int:
    """Return how many ranks are looked at: ten, or as many as true scores are of, if fewer."""
    about = plan.estimand
    cutoff = parse_measure(about.measure).cutoff
    depth = about.score_depth or (about.depth if about.scope == "pool" else None)
    return min(_FIRST, cutoff or _FIRST, depth or _FIRST)


def share_unjudged(runs: Runs, qrels: Qrels, first: int = _FIRST) -> float:
    """Return the share of the first documents of lists, so many of each, that nobody judged.

    Over the lists of topics with judgments; 0 where there is none.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b", "c", "d"], "2": ["e"]})])
    >>> share_unjudged(runs, rb.Qrels({"1": {"a": 1, "b": 0, "c": -1}}))
    0.5
    """
    judged = {topic: grades for topic in qrels if (grades := qrels.judged(topic))}
    asked = [
        (topic, docno)
        for run in runs.values()
        for topic in run.topics
        if topic in judged
        for docno in run.ranking(topic)[:first]
    ]
    lacking = sum(docno not in judged[topic] for topic, docno in asked)
    return lacking / len(asked) if asked else 0.0


def run_trial(
    kind: Kind[Any], plan: Plan, collection: Collection, number: int, seed: int
) -> tuple[Rows, Arrays]:
    """Run one trial, in a worker.

    Returns
    -------
    rows : dict of str to dict of str to list
        The columns of each table of the kind.
    arrays : mapping of str to ndarray
    """
    algorithms = kind.algorithms(plan)
    # every other trial begins with the last: two workers that start do not compile the same kernels
    turns = list(algorithms.items())[:: -1 if number % 2 else 1]
    made: dict[str, tuple[Tables, Arrays]] = {}
    with quietly():
        for outcome in outcomes(collection, plan, seed, dict(turns), trial=number):
            with own_code(kind, "rows(outcome, collection)", _CORRECT):
                tables = kind.rows(outcome, collection)
            _check_rows(kind, tables)
            made[outcome.label] = tables, kind.arrays(outcome, collection)
    rows: Rows = {name: {column: [] for column in held} for name, held in kind.tables.items()}
    arrays: dict[str, Any] = {}
    for label in (label for text in algorithms for label, _ in plan.labels_of(text)):
        filled = {"trial": number, "algorithm": label}
        for name, table in made[label][0].items():
            for column, values in rows[name].items():
                if column in table:
                    values += [None if value != value else value for value in table[column]]
                else:
                    values += [filled.get(column)] * len(table)
        arrays |= made[label][1]
    return rows, arrays


def _check_rows(kind: Kind[Any], tables: Any) -> None:
    """Refuse rows of a table that a kind does not declare, a near name of a column, and no numbers.

    Other columns that are not declared are left out.
    """
    import pandas as pd

    of_kind = f"rows() of {type(kind).__name__} gave"
    declared = f"declare it in tables, or give one of {', '.join(kind.tables)}"
    check_type(tables, Mapping, of_kind, "return a mapping of the tables' names to DataFrames")
    for name, table in tables.items():
        if name not in kind.tables:
            raise InputError(f"{of_kind} a table {name!r}", remedy=declared)
        columns = kind.tables[name]
        lacking = columns.keys() - set(table)
        for column in table:
            if column not in columns and (meant := nearest(str(column), lacking)):
                raise InputError(
                    f"{of_kind} a column {column!r} of the table {name}",
                    remedy=f"write {meant}, as tables declare it",
                )
            if not is_number(columns.get(column, "str")):
                continue
            values = table[column]
            wrong = values[pd.to_numeric(values, errors="coerce").isna() & values.notna()]
            if len(wrong):
                raise InputError(
                    f"{of_kind} {brief_repr(wrong.iloc[0])} in the column {column} of {name}",
                    remedy=f"give numbers, as {columns[column]} is declared of it",
                )


def _defined(summary: Any) -> Any:
    """Replace what is undefined in a summary, as a mean over no trial is, by None."""
    if isinstance(summary, Mapping):
        return {key: _defined(value) for key, value in summary.items()}
    if isinstance(summary, list | tuple):
        return [_defined(value) for value in summary]
    return None if isinstance(summary, Real) and summary != summary else summary


def _ordered(tables: Mapping[str, pd.DataFrame], columns: Mapping[str, Columns]) -> dict[str, Any]:
    """Return derived tables with the columns that are declared of them."""
    return {name: tables[name].reindex(columns=list(held)) for name, held in columns.items()}
