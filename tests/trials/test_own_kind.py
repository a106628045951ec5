"""A kind of study of one's own, whole: copy it, and change what is asked.

It asks whether the system that looks best is the best, after so many judgments: what a trial keeps
(`rows`), what that adds up to (`summarise`), and a page.
"""

import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import cloudpickle
import pandas as pd
import pytest

from rtc_bayes import Estimand, InputError, Workers, simulate
from rtc_bayes.report import write_report
from rtc_bayes.report.elements import heading, provenance, table
from rtc_bayes.report.page import Page, StudyTable, by_name
from rtc_bayes.robustness import Study
from rtc_bayes.trials import (
    Collection,
    Kind,
    Outcome,
    Plan,
    StudyResult,
    columns,
    load_study,
    run_study,
)
from rtc_bayes.trials.scores import bootstrap_interval

# worker processes cannot import a file of tests, as little as a notebook
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class WinnerStudy(StudyResult):
    """What a finished study is: its tables are attributes."""

    winners: pd.DataFrame


def winner_page(study: WinnerStudy) -> Page:
    """Show the share of right winners, and what a wrong one costs."""
    data = pd.DataFrame([{"algorithm": label, **scores} for label, scores in study.summary.items()])
    shown = data.drop(columns="regret_interval")
    tables = by_name(
        [
            StudyTable(
                "winners",
                "How often the system expected to be best is the best, and its regret.",
                data,
                shown,
                {"right": ".0%", "regret": ".4f"},
            )
        ]
    )
    body = [
        heading("Does the best system win?", 1),
        f"<p>{escape(str(study.meta['study']['trials']))} trials.</p>",
        table(tables["winners"]),
        provenance(study.meta),
    ]
    return Page("Winners", "\n".join(body), tables)


class Winner(Kind[WinnerStudy]):
    """Whether the system that is expected to be the best is the best."""

    name = "winner"
    result = WinnerStudy
    page = staticmethod(winner_page)
    tables: ClassVar = {
        "winners": columns("trial:int algorithm:str winner:str right:int regret failure:str?")
    }

    def rows(self, outcome: Outcome, collection: Collection) -> Mapping[str, pd.DataFrame]:
        """Return one row: the winner, whether it is right, and how much better the best is."""
        if outcome.failure:
            return {"winners": pd.DataFrame([{"winner": "", "failure": outcome.failure}])}
        systems = outcome.systems_frame()
        winner = systems.loc[systems["expected"].idxmax()]
        regret = systems["true"].max() - winner["true"]
        row = {"winner": winner["system"], "right": int(regret == 0.0), "regret": regret}
        return {"winners": pd.DataFrame([row])}

    def summarise(
        self, tables: Mapping[str, pd.DataFrame], arrays: Sequence[Any], plan: Plan
    ) -> tuple[Mapping[str, pd.DataFrame], Mapping[str, Any]]:
        """Return the share of right winners and the mean regret of each algorithm and budget."""
        winners = tables["winners"].dropna(subset="regret")
        return {}, {
            label: {
                "right": mine["right"].mean(),
                "regret": mine["regret"].mean(),
                "regret_interval": bootstrap_interval(
                    mine["regret"], mine["trial"], seed=plan.seed
                ),
            }
            for label, mine in winners.groupby("algorithm", sort=False)
        }


@pytest.fixture(scope="module")
def made():
    return simulate(n_topics=4, n_systems=6, seed=2)


PLAN = Plan(
    ("ip", "mtc"), trials=4, n_systems=5, estimand=Estimand("P@5", depth=10), budgets=(4, 30)
)


@pytest.fixture(scope="module")
def finished(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("winner")
    return run_study(Winner(), made.runs, made.qrels, PLAN, output=folder, workers=Workers(jobs=1))


def test_a_study_of_an_own_kind(finished):
    assert list(finished.summary) == ["ip at 4", "ip at 30", "mtc at 4", "mtc at 30"]
    assert len(finished.winners) == 4 * 4
    assert ((finished.winners["regret"] == 0) == finished.winners["right"]).all()
    assert finished.meta["kind"] == "winner"


def test_it_reads_back_by_its_kind(finished):
    again = load_study(finished.directory)
    assert isinstance(again, WinnerStudy)
    pd.testing.assert_frame_equal(again.winners, finished.winners)
    with pytest.raises(InputError, match="holds a winner study"):
        Study.load(finished.directory)


def test_two_workers_finish_what_was_interrupted(made, finished, tmp_path):
    calls = []

    def stop(*call):
        calls.append(call)
        if len(calls) == 3:
            raise KeyboardInterrupt

    arguments = (Winner(), made.runs, made.qrels, PLAN)
    with pytest.raises(KeyboardInterrupt, match="2 of 4 trials are stored"):
        run_study(*arguments, output=tmp_path, workers=Workers(jobs=1, progress=stop))
    again = run_study(*arguments, output=tmp_path, workers=Workers(jobs=2))
    pd.testing.assert_frame_equal(again.winners, finished.winners)


def test_its_report(finished, tmp_path):
    page = write_report(finished.directory, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Does the best system win?" in page
    assert "mtc at 30" in (tmp_path / "tables" / "winners.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            lambda: {"winers": pd.DataFrame()},
            "gave a table 'winers'; declare it in tables, or give",
        ),
        (
            lambda: {"winners": pd.DataFrame([{"rigth": 1}])},
            "'rigth' of the table winners; write ri",
        ),
        (lambda: {"winners": pd.DataFrame([{"right": "x"}])}, "'x' in the column right of winners"),
        (lambda: None, "gave a NoneType; return a mapping of the tables' names to DataFrames"),
        (lambda: 1 / 0, r"test_own_kind.py: rows\(.*\) of Slip fails: ZeroDivisionError"),
    ],
)
def test_a_slip_in_rows_is_said(made, tmp_path, rows, said):
    class Slip(Winner):
        def rows(self, outcome, collection):
            return rows()

    with pytest.raises(InputError, match=said):
        run_study(Slip(), made.runs, made.qrels, PLAN, output=tmp_path, workers=Workers(jobs=1))


def test_a_slip_in_a_summary_is_said_and_what_is_undefined_is_none(made, tmp_path):
    class Slip(Winner):
        def summarise(self, tables, arrays, plan):
            return {"mtc": 1.0}

    class Undefined(Winner):
        def summarise(self, tables, arrays, plan):
            return {}, {"mtc": {"right": float("nan"), "by": [0.5, float("nan")], "trials": 4}}

    rest = made.runs, made.qrels, PLAN
    with pytest.raises(InputError, match=r"summarise\(.*\) of Slip fails: ValueError: not enough"):
        run_study(Slip(), *rest, output=tmp_path / "slip", workers=Workers(jobs=1))
    study = run_study(Undefined(), *rest, output=tmp_path / "none", workers=Workers(jobs=1))
    assert study.summary == {"mtc": {"right": None, "by": [0.5, None], "trials": 4}}


def test_the_example_of_the_docs(made, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    quick = code.replace("trials=20", "trials=1, n_systems=4").replace(
        'output="winner"', f"output={str(tmp_path)!r}, workers=rb.Workers(1)"
    )
    assert quick != code
    names = {"runs": made.runs, "qrels": made.qrels, "__name__": __name__}
    exec(compile(quick, "studies.md", "exec"), names)
    assert set(names["study"].summary) == {
        f"{text} at {budget}" for text in ("mtc", "rtc:map") for budget in (50, 100)
    }
