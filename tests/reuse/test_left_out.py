"""Groups left out: held to sets counted one by one, and to what TREC-8 is known for."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import simulate, write

DATA = os.environ.get("RTC_BAYES_DATA")


def collection(seed: int = 1) -> tuple[rb.Runs, rb.Qrels, dict[str, str]]:
    data = rb.simulate(n_topics=6, n_systems=9, seed=seed)
    return data.runs, data.qrels, dict(data.groups)


def test_every_number_is_that_of_sets_counted_one_by_one() -> None:
    runs, qrels, groups = collection()
    found = rb.leave_group_out(runs, qrels, groups, depth=[12, 5])
    by_group = found.by_group().set_index(["depth", "group"])
    by_system = found.by_system().set_index(["depth", "system"])
    for depth in (12, 5):
        brought = {
            (name, topic): set(run.ranking(topic)[:depth])
            for name, run in runs.items()
            for topic in runs.topics
        }
        kept = {
            topic: {
                doc: grade
                for doc, grade in qrels[topic].items()
                if depth == 12 or any(doc in brought[name, topic] for name in runs)
            }
            for topic in qrels
        }
        full = rb.evaluate(runs, rb.Qrels(kept), "AP", topics="all").mean["AP"]
        for group in set(groups.values()):
            alone = {
                (topic, doc)
                for topic in kept
                for doc in kept[topic]
                if any(doc in brought[n, topic] for n in runs if groups[n] == group)
                and not any(doc in brought[n, topic] for n in runs if groups[n] != group)
            }
            relevant = sum(kept[topic][doc] > 0 for topic, doc in alone)
            row = by_group.loc[(depth, group)]
            assert (row["unique"], row["unique_relevant"]) == (len(alone), relevant)
            cut = rb.Qrels(
                {t: {d: g for d, g in kept[t].items() if (t, d) not in alone} for t in kept}
            )
            scores = rb.evaluate(runs, cut, "AP", topics="all").mean["AP"]
            for n, name in enumerate(runs.systems):
                if groups[name] != group:
                    continue
                run = by_system.loc[(depth, name)]
                assert run["score"] == pytest.approx(full[n])
                assert run["left_out"] == pytest.approx(scores[n])
                others = [m for m, other in enumerate(runs.systems) if groups[other] != group]
                assert run["rank_left_out"] == 1 + sum(scores[m] > scores[n] for m in others)


def test_names_do_not_matter() -> None:
    runs, qrels, groups = collection(2)
    found = rb.leave_group_out(runs, qrels, groups, depth=15)
    other = rb.leave_group_out(
        runs.select(runs.systems[::-1]),
        qrels,
        {name: f"other {group}" for name, group in groups.items()},
        depth=15,
    )
    one, two = (f.by_system().sort_values("system").reset_index(drop=True) for f in (found, other))
    columns = ["score", "left_out", "rank", "rank_left_out"]
    assert one[columns].to_numpy() == pytest.approx(two[columns].to_numpy())


def test_a_group_whose_documents_others_have_loses_nothing() -> None:
    runs, qrels, groups = collection(3)
    first = runs.systems[0]
    again = rb.Runs([*runs.values(), runs[first].renamed("copy")])
    found = rb.leave_group_out(again, qrels, {**groups, "copy": "copies"}, leave_out=["copies"])
    row = found.by_group().iloc[0]
    assert (row["unique"], row["relative"], row["swapped"]) == (0, 0.0, 0)
    assert "the same at worst (copy)" in found.verdict()


@pytest.mark.parametrize(("seed", "measure", "most"), [(0, "P@10", 70), (1, "P@5", 35)])
def test_runs_that_tie_but_for_rounding_share_a_rank(seed: int, measure: str, most: int) -> None:
    """Places and swaps are those of whole numbers of relevant documents."""
    data = rb.simulate(n_topics=7, n_systems=20, seed=seed)
    found = rb.leave_group_out(data.runs, data.qrels, data.groups, measure, depth=20)
    (at,), of = found.depths, np.array(found.of_systems, dtype=object)
    before = np.round(at.score * most).astype(int)
    ranks = found.by_system().groupby("group")[["rank", "rank_left_out"]]
    for group, swapped, scores in zip(
        found.groups, found.by_group()["swapped"], at.left_out, strict=True
    ):
        here, after = of == group, np.round(scores * most).astype(int)
        signs = [np.sign(one[here][:, None] - one[~here]) for one in (before, after)]
        assert swapped == (signs[0] != signs[1]).sum()
        places = [1 + (sign < 0).sum(axis=1) for sign in signs]
        assert ranks.get_group(group).to_numpy().T.tolist() == [p.tolist() for p in places]


def test_groups_may_be_numbers_and_depths_in_any_order() -> None:
    runs, qrels, groups = collection()
    sites = sorted(set(groups.values()))
    numbers = {system: sites.index(group) for system, group in groups.items()}
    of_texts = rb.leave_group_out(runs, qrels, groups, depth=[12, 5], leave_out=[sites[1]])
    of_numbers = rb.leave_group_out(runs, qrels, numbers, depth=[5, 12, 5], leave_out=[1])
    assert of_numbers.summary()["depth"].tolist() == [12, 5]
    assert of_numbers.summary().equals(of_texts.summary())
    assert of_numbers.by_group()["group"].unique().tolist() == ["1"]


def test_what_cannot_be_left_out_is_refused() -> None:
    runs, qrels, groups = collection()
    with pytest.raises(rb.InputError, match="no system is of group none"):
        rb.leave_group_out(runs, qrels, groups, leave_out=["none"])
    with pytest.raises(rb.InputError, match=r"leave_out is \[\]; give \"groups\", or names"):
        rb.leave_group_out(runs, qrels, groups, leave_out=[])
    with pytest.raises(rb.InputError, match="takes no only; write leave_out"):
        rb.leave_group_out(runs, qrels, groups, only=["site01"])
    with pytest.raises(rb.InputError, match="all systems are of one group"):
        rb.leave_group_out(runs, qrels, dict.fromkeys(runs.systems, "one"))
    with pytest.raises(rb.InputError, match="no group for"):
        rb.leave_group_out(runs, qrels, {})
    for no_names in ([["site01"]], [None], [True], [""], 1):
        with pytest.raises(rb.InputError, match=r"leave_out is .*; give \"groups\", or names"):
            rb.leave_group_out(runs, qrels, groups, leave_out=no_names)
    with pytest.raises(rb.InputError, match="depth is empty"):
        rb.leave_group_out(runs, qrels, groups, depth=[])
    with pytest.raises(rb.InputError, match="depth is 0"):
        rb.leave_group_out(runs, qrels, groups, depth=(10, 0))
    with pytest.raises(rb.InputError, match="takes no shallow; give every depth as depth"):
        rb.leave_group_out(runs, qrels, groups, shallow=[5])
    with pytest.raises(rb.InputError, match="cannot be scored"):
        rb.leave_group_out(runs, qrels, groups, "Bpref")
    table = {topic: dict(grades) for topic, grades in qrels.items()}
    of_design = rb.Qrels(table, hold_out="0123456789ab")
    with pytest.raises(rb.InputError, match="hold-out design 0123456789ab, and are not complete"):
        rb.leave_group_out(runs, of_design, groups)


def test_topics_without_judgments_are_left_aside() -> None:
    runs, qrels, groups = collection()
    some = rb.Qrels({t: dict(qrels[t]) for t in sorted(qrels)[:3]} | {sorted(qrels)[3]: {"x": -1}})
    found = rb.leave_group_out(runs, some, groups).by_system()
    kept = rb.Qrels({t: dict(qrels[t]) for t in sorted(qrels)[:3]})
    told = rb.evaluate(runs, kept, "AP", relevance_level=1)
    true = dict(zip(told.systems, told.mean["AP"], strict=True))
    np.testing.assert_allclose(found["score"], [true[s] for s in found["system"]], atol=1e-9)


def test_groups_that_have_nothing_to_lose_are_refused() -> None:
    run = rb.Run.from_rankings
    runs = rb.Runs([run("a", {"1": ["x", "y"]}), run("b", {"1": ["z"]})])
    qrels, groups = rb.Qrels({"1": {"z": 1}}), {"a": "A", "b": "B"}
    with pytest.raises(rb.InputError, match="every system of A scores 0 with all judgments"):
        rb.leave_group_out(runs, qrels, groups, leave_out=["A"])
    summary = rb.leave_group_out(runs, qrels, groups).summary()
    assert summary.loc[0, ["mean", "worst"]].tolist() == [-1.0, -1.0]
    # of B alone there is a change, and one group has no interval
    assert summary.loc[0, ["low", "high"]].isna().all()


def test_grades_that_count_are_said(tmp_path: Path) -> None:
    run = rb.Run.from_rankings
    runs = rb.Runs([run("a", {"1": ["x", "y"]}), run("b", {"1": ["y", "z"]})])
    groups, said = {"a": "A", "b": "B"}, "those from 2 on count as relevant"
    graded = rb.Qrels({"1": {"x": 2, "y": 3, "z": 0}})
    found = rb.leave_group_out(runs, graded, groups, relevance_level=2)
    assert said in found.meta["relevant"]
    assert said in found.verdict()
    assert said in found.write(tmp_path).read_text()
    binary = rb.leave_group_out(runs, rb.Qrels({"1": {"x": 1, "y": 1}}), groups)
    assert dict(binary.meta) == {}


def test_the_command_is_pythons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = simulate(n_topics=6, n_systems=9, seed=1)
    write(data, tmp_path)
    words = [str(tmp_path / "runs"), "--qrels", str(tmp_path / "qrels.txt"), "--quiet"]
    words += ["--groups", str(tmp_path / "groups.csv"), "--leave-out", "groups"]
    words += ["--depth", "20", "--depth", "5", "--measure", "P@10"]
    assert main(["reusability", *words, "-o", str(tmp_path / "out")]) == 0
    runs, qrels = rb.read_runs(tmp_path / "runs"), rb.read_qrels(tmp_path / "qrels.txt")
    found = rb.leave_group_out(runs, qrels, data.groups, "P@10", depth=[20, 5])
    assert found.verdict() in capsys.readouterr().out
    assert "What would be lost" in (tmp_path / "out" / "report.html").read_text()
    table = (tmp_path / "out" / "tables" / "runs.csv").read_text()
    assert table.count("\n") == 1 + 2 * 9


def test_groups_are_named_as_in_a_study() -> None:
    """All of them, a list, or a text with commas."""
    runs, qrels, groups = collection()
    one, two = sorted(set(groups.values()))[:2]
    assert rb.leave_group_out(runs, qrels, groups, leave_out="groups").groups == tuple(
        dict.fromkeys(groups[name] for name in runs.systems)
    )
    found = [
        rb.leave_group_out(runs, qrels, groups, leave_out=names)
        for names in ([two, one, two], f"{two}, {one}")
    ]
    assert [each.groups for each in found] == [(two, one), (two, one)]
    assert found[0].by_system().equals(found[1].by_system())
    with pytest.raises(AttributeError, match="LeftOut has no by_run; write by_system"):
        found[0].by_run()


@pytest.mark.skipif(DATA is None, reason="RTC_BAYES_DATA names no folder of real data")
def test_what_is_known_of_trec_8() -> None:
    folder = Path(DATA or "", "trec8_adhoc")
    runs, qrels = rb.read_runs(folder / "runs"), rb.read_qrels(folder / "qrels.txt.gz")
    groups = rb.read_groups(folder / "run_groups.txt")
    found = rb.leave_group_out(runs, qrels, groups)
    at, of = found.depths[0], np.array(found.of_systems, dtype=object)
    assert at.unique_relevant.sum() == 935
    assert at.unique_relevant[found.groups.index("miti")] == 439
    row = found.summary().iloc[0]
    assert row["mean"] == pytest.approx(-0.0037, abs=5e-5)
    assert row["median"] == pytest.approx(-0.0003, abs=5e-5)
    worst = found.by_system().nsmallest(2, "relative")
    assert worst["system"].tolist() == ["READWARE2", "READWARE"]
    assert worst["relative"].tolist() == pytest.approx([-0.089, -0.074], abs=5e-4)
    moved = []  # among other groups' runs as all judgments score them
    for group, scores in zip(found.groups, at.left_out, strict=True):
        others = at.score[of != group]
        for n in np.flatnonzero(of == group):
            moved.append(abs(int((others > scores[n]).sum() - (others > at.score[n]).sum())))
    assert (sum(places > 0 for places in moved), max(moved)) == (6, 2)
