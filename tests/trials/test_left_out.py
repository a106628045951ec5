"""Trials that leave one group out: who is drawn, what is reported, and what is refused."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from pools import random_rankings, runs_of

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection import write_run
from rtc_bayes.report import write_report
from rtc_bayes.robustness import Study, study
from rtc_bayes.store import spawn_seeds
from rtc_bayes.trials import Collection, Plan, draw_systems, groups_left_out, outcomes

SYSTEMS = tuple(f"s{i:02d}" for i in range(14))
# groups of 1, 2, 3 and 8 systems, not in the order of their names
GROUPS = dict(zip(SYSTEMS, ["D", "B", "C", "B", "C", "C", *"A" * 8], strict=True))
OF_GROUP = Counter(GROUPS.values())
ALONE = rb.Workers(jobs=1)
ARGUMENTS = {
    "algorithms": ["ip", "mtc/rtc:map"],
    "estimand": rb.Estimand(depth=8),
    "trials": 5,
    "n_systems": 5,
    "budgets": (25,),
    "workers": ALONE,
}


def plan_of(leave_out="groups", **options):
    return Plan("mtc", **{"n_systems": 7, "n_initial": 3, "leave_out": leave_out} | options)


def draws(plan, trials):
    seeds = spawn_seeds(plan.seed, trials)
    return [
        draw_systems(SYSTEMS, plan, seed, groups=GROUPS, trial=trial)
        for trial, seed in enumerate(seeds)
    ]


@pytest.fixture(scope="module")
def made():
    """Fourteen runs of random rankings, and all their judgments."""
    rng = np.random.default_rng(8)
    lists = random_rankings(rng, systems=14, topics=3, documents=40, longest=20)
    runs = runs_of(dict(zip(SYSTEMS, lists.values(), strict=True)))
    labels = {str(t): {f"d{i:04d}": int(rng.random() < 0.4) for i in range(40)} for t in range(3)}
    return runs, rb.read_qrels(labels)


@pytest.fixture(scope="module")
def done(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("left") / "out"
    return study(*made, leave_out="groups", groups=GROUPS, output=folder, **ARGUMENTS)


def test_no_initial_system_is_of_the_group_and_every_new_one_is():
    for draw in draws(plan_of(), 12):
        new = set(draw.everyone) - set(draw.initial)
        assert len(draw.initial) == 3
        assert draw.left_out not in {GROUPS[system] for system in draw.initial}
        assert {GROUPS[system] for system in new} == {draw.left_out}


def test_a_group_gives_all_it_has_up_to_what_a_trial_compares():
    sizes = {draw.left_out: len(draw.everyone) - 3 for draw in draws(plan_of(), 4)}
    assert sizes == {"A": 4, "B": 2, "C": 3, "D": 1}


def test_of_a_large_group_another_part_is_drawn_each_time():
    drawn = draws(plan_of("A"), 60)
    new = Counter(s for draw in drawn for s in set(draw.everyone) - set(draw.initial))
    initial = Counter(s for draw in drawn for s in draw.initial)
    # 4 of 8, and 3 of 6: each system in half of 60 trials, within 4 standard errors
    assert new.keys() | initial.keys() == set(SYSTEMS)
    assert new.keys() & initial.keys() == set()
    for count in (*new.values(), *initial.values()):
        assert abs(count - 30) < 4 * np.sqrt(60 / 4)


@pytest.mark.parametrize("trials", [1, 4, 6, 11])
def test_every_group_is_used_evenly(trials):
    used = Counter(draw.left_out for draw in draws(plan_of(), trials))
    counts = [used[group] for group in OF_GROUP]
    assert sum(counts) == trials
    assert max(counts) - min(counts) <= 1


def test_the_order_of_groups_is_random_by_the_seed_of_the_plan_alone():
    orders = [groups_left_out(SYSTEMS, plan_of(seed=seed), GROUPS) for seed in range(20)]
    assert len(set(orders)) > 10
    assert {tuple(sorted(order)) for order in orders} == {("A", "B", "C", "D")}
    backwards = dict(reversed(GROUPS.items()))
    assert groups_left_out(SYSTEMS[::-1], plan_of(seed=3), backwards) == orders[3]
    assert groups_left_out(SYSTEMS, plan_of(seed=3, trials=2), GROUPS) == orders[3]


@pytest.mark.parametrize("named", ["B,D", ["D", "B"], ("B", "D", "B")])
def test_groups_may_be_named(named):
    plan = plan_of(named)
    assert sorted(groups_left_out(SYSTEMS, plan, GROUPS)) == ["B", "D"]
    assert {draw.left_out for draw in draws(plan, 6)} == {"B", "D"}


def test_without_leave_out_a_draw_is_what_it_was():
    plan = plan_of(None)
    drawn = draw_systems(SYSTEMS, plan, 5)
    assert drawn == draw_systems(SYSTEMS, plan, 5, groups=GROUPS, trial=3)
    choosing = spawn_seeds(5, 3)[0]
    picked = np.random.default_rng(choosing).choice(14, size=7, replace=False)
    assert drawn.everyone == tuple(SYSTEMS[i] for i in sorted(picked))
    assert drawn.left_out is None


def test_a_collection_keeps_groups_of_its_own_systems_for_its_trials(made):
    plan = plan_of(budgets=(5,), estimand=rb.Estimand(depth=8))
    more = {**GROUPS, "of no run": "Z"}
    collection = Collection.from_runs(*made, plan.estimand, groups=more)
    assert collection.groups == GROUPS
    turns = groups_left_out(SYSTEMS, plan, GROUPS)
    for trial in (1, 6):
        (outcome,) = outcomes(collection, plan, 9, trial=trial)
        assert outcome.draw.left_out == turns[trial % 4]
        assert outcome.judging.judgments.pool.systems == outcome.draw.initial


def test_pairs_with_a_left_out_system_are_apart_from_initial_ones(done):
    left_out = done.trials.drop_duplicates("trial").set_index("trial")["left_out"]
    assert left_out.nunique() == 4
    assert done.pairs["initial"].nunique() == 3
    of_group = done.pairs["trial"].map(left_out)
    new = sum((done.pairs[end].map(GROUPS) == of_group).astype(int) for end in "ab")
    assert (2 - new).tolist() == done.pairs["initial"].tolist()
    scored = done.by_original().set_index(["algorithm", "group"])["pairs"]
    for n, name in enumerate(("two original", "one original", "no original")):
        mine = done.pairs["algorithm"] == "mtc/rtc:map at 25"
        assert scored["mtc/rtc:map at 25", name] == (new[mine] == n).sum() > 0


def test_the_folder_says_what_was_left_out_and_reads_back(done):
    meta = json.loads((done.directory / "meta.json").read_text())
    assert meta["study"]["leave_out"] == "groups"
    assert meta["groups"]
    again = Study.load(done.directory)
    assert_frame_equal(again.trials, done.trials)
    page = write_report(done.directory).read_text()
    assert "the new ones all of one group that was not judged for" in page


def test_a_study_goes_on_and_refuses_other_groups(made, done, tmp_path):
    folder = tmp_path / "half"
    options = {**ARGUMENTS, "output": folder}
    study(*made, leave_out="groups", groups=GROUPS, **options)
    for name in ("trials/00001.json", "trials/00003.json", "summary.json"):
        (folder / name).unlink()
    kept = (folder / "trials/00002.json").stat().st_mtime_ns
    swapped = {**GROUPS, "s00": "B", "s01": "D"}
    with pytest.raises(rb.InputError, match="groups"):
        study(*made, leave_out="groups", groups=swapped, **options)
    with pytest.raises(rb.InputError, match="leave_out"):
        study(*made, leave_out="A,B", groups=GROUPS, **options)
    again = study(*made, leave_out="groups", groups=GROUPS, **options)
    assert (folder / "trials/00002.json").stat().st_mtime_ns == kept
    assert_frame_equal(again.pairs, done.pairs)


def test_groups_that_are_numbers_are_those_of_their_digits(made, tmp_path):
    numbers = pd.Series(GROUPS).map("ABCD".index)
    options = {**ARGUMENTS, "algorithms": "ip", "trials": 2, "output": tmp_path / "out"}
    first = study(*made, leave_out="groups", groups=numbers, **options)
    texts = {system: str(number) for system, number in numbers.items()}
    again = study(*made, leave_out="groups", groups=texts, **options)
    assert_frame_equal(again.pairs, first.pairs)
    plan = plan_of()
    drawn = [draw_systems(SYSTEMS, plan, 1, groups=each) for each in (numbers, texts)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("leave_out", ["groups", "B,C"])
def test_the_command_gives_the_numbers_of_python(made, tmp_path, monkeypatch, leave_out):
    runs, qrels = made
    monkeypatch.chdir(tmp_path)
    for run in runs.values():
        write_run(run, f"{run.tag}.run")
    rb.write_qrels(qrels, "all.qrels")
    lines = ["system,group", *(f"{system},{group}" for system, group in GROUPS.items())]
    (tmp_path / "groups.csv").write_text("\n".join(lines) + "\n")
    line = (
        "robustness *.run --qrels all.qrels --algorithms ip,mtc/rtc:map --depth 8 --trials 5 "
        f"--systems 5 --budget 25 --leave-out {leave_out} --groups groups.csv --jobs 1 --quiet"
    )
    assert main([*line.split(), "-o", "typed"]) == 0
    typed = Study.load("typed")
    expected = study(
        rb.read_runs("*.run"),
        rb.read_qrels("all.qrels"),
        leave_out=leave_out,
        groups=rb.read_groups("groups.csv"),
        output="made",
        **ARGUMENTS,
    )
    assert_frame_equal(typed.pairs, expected.pairs, check_exact=True)
    assert typed.trials["left_out"].tolist() == expected.trials["left_out"].tolist()
    assert typed.meta["groups"] == expected.meta["groups"]
    assert "groups.csv" in typed.meta["inputs"]


LONE = {system: group for system, group in GROUPS.items() if system != "s03"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"leave_out": "groups"}, "group of every system.*--groups"),
        ({"groups": GROUPS}, "none is left out.*--leave-out groups"),
        ({"leave_out": "groups", "groups": LONE}, "no group for s03"),
        ({"leave_out": "groups", "groups": dict.fromkeys(SYSTEMS, "A")}, "all .* of one group"),
        ({"leave_out": "B,Z", "groups": GROUPS}, "no system is of group Z.*A, B, C, D"),
        ({"leave_out": "A", "groups": GROUPS, "n_systems": 8, "n_initial": 7}, "group A .* 6 sys"),
        ({"leave_out": "A", "groups": GROUPS, "n_systems": 3, "n_initial": 3}, "none can be left"),
        ({"leave_out": [], "groups": GROUPS}, r"leave_out is \[\]"),
        ({"leave_out": 3, "groups": GROUPS}, "leave_out is 3"),
        ({"leave_out": "A,,B", "groups": GROUPS}, "leave_out is 'A,,B'"),
    ],
)
def test_what_cannot_be_left_out_is_refused_before_anything_is_written(
    made, tmp_path, options, message
):
    with pytest.raises(rb.InputError, match=f"(?s){message}"):
        study(*made, output=tmp_path / "none", **ARGUMENTS | options)
    assert not (tmp_path / "none").exists()
