"""The commands hold-out plan and reusability: what Python says, in the same words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.store.shown import in_words


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("track")
    write(simulate(n_topics=24, n_systems=12, depth=100, seed=5), folder)
    return folder


def plan(track: Path, *words: str) -> Path:
    design = track / "design.csv"
    groups = str(track / "groups.csv")
    command = ["hold-out", "plan", "--groups", groups, *words, "-o", str(design), "--quiet"]
    assert main(command) == 0
    return design


def test_the_plan_is_pythons(track: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = plan(track, str(track / "runs"), "--held", "1", "--baseline-topics", "4", "--seed", "3")
    groups = rb.read_groups(track / "groups.csv")
    runs = rb.read_runs(track / "runs")
    design = rb.hold_out(groups, runs.topics, 1, baseline_topics=4, seed=3)
    assert rb.read_hold_out(path).digest == design.digest
    said = capsys.readouterr().out
    assert in_words(design) in said
    assert "held out" in said
    assert path.with_name("design.csv.meta.json").exists()


def test_groups_without_a_run_are_left_aside(
    track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = rb.read_groups(track / "groups.csv")
    runs = rb.read_runs(track / "runs")
    more = track / "more.csv"
    more.write_text("\n".join(f"{s},{g}" for s, g in [*groups.items(), ("x", "ghost")]))
    words = [str(track / "runs"), "--held", "1", "-o", str(track / "of_more.csv")]
    assert main(["hold-out", "plan", "--groups", str(more), *words]) == 0
    assert "1 group of 7 without a run, left aside: ghost" in capsys.readouterr().err
    design = rb.hold_out(groups, runs.topics, 1)
    assert rb.read_hold_out(track / "of_more.csv").digest == design.digest
    with pytest.warns(rb.CollectionWarning, match="1 group of 7 without a run, left aside: ghost"):
        assert rb.groups_with_runs({**groups, "x": "ghost"}, runs) == groups
    with pytest.raises(rb.InputError, match="no group for"):
        rb.groups_with_runs({"x": "ghost"}, runs)


def test_judgments_of_another_design_are_found_out(track: Path) -> None:
    """Though no file says under which they were made, or that they are complete."""
    groups = rb.read_groups(track / "groups.csv")
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    one, other = (rb.hold_out(groups, runs.topics, 2, seed=seed) for seed in (1, 2))
    kept = rb.judged_under(qrels, runs, groups, one, 20)
    plain = rb.Qrels({topic: dict(grades) for topic, grades in kept.items()})
    judged = rb.Judgments.from_qrels(rb.Pool.from_runs(runs), plain)
    scores = rb.ScoreMatrix.from_qrels(runs, plain)
    for words in ({"judged": judged}, {"judged": plain, "runs": runs}):
        assert np.isfinite(rb.reusability(scores, groups, one, permutations=59, **words).loss)
    for words in ({"judged": judged}, {"judged": plain, "runs": runs}):
        with pytest.raises(rb.InputError, match="the judgments were not made under it"):
            rb.reusability(scores, groups, other, **words)
    with pytest.raises(rb.InputError, match="the qrels name no hold-out design; give runs= too"):
        rb.reusability(scores, groups, one, judged=plain)
    assert (rb.scores_under(runs, plain, groups, one).mean == scores.mean).all()
    with pytest.raises(rb.InputError, match="the judgments were not made under it"):
        rb.scores_under(runs, plain, groups, other)
    with pytest.raises(rb.InputError, match=f"were made under hold-out design {one.digest[:12]}"):
        rb.scores_under(runs, kept, groups, other)


@pytest.mark.parametrize("depth", [None, 20])
@pytest.mark.parametrize("model", [None, "topic_calibration:map"])
def test_scores_and_refusals_are_pythons(
    depth: int | None, model: str | None, track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judgments are complete: without a depth they are refused, in the same words."""
    path = plan(track, str(track / "runs"), "--held", "1", "--seed", "3")
    words = [str(track / "runs"), "--qrels", str(track / "qrels.txt"), "--hold-out", str(path)]
    words += ["--groups", str(track / "groups.csv"), "--measure", "P@10", "--permutations", "59"]
    words += [] if depth is None else ["--depth", str(depth)]
    words += [] if model is None else ["--model", model]
    capsys.readouterr()
    status = main(["reusability", *words, "-o", str(track / "scored")])
    said = capsys.readouterr()
    groups, design = rb.read_groups(track / "groups.csv"), rb.read_hold_out(path)
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    options = {"depth": depth, "model": model}
    if depth is None:
        with pytest.raises(rb.InputError) as caught:
            rb.scores_under(runs, qrels, groups, design, "P@10", **options)
        assert status == 2
        assert said.err == f"rtc-bayes: {caught.value}\n"
        assert "by scores_under(depth=) (reusability --depth)" in said.err
        return
    scores = rb.scores_under(runs, qrels, groups, design, "P@10", **options)
    assert bool(scores.variance.any()) == (model is not None)
    found = rb.reusability(scores, groups, design, permutations=59)
    assert found.verdict() in said.out


def test_judgments_made_for_systems_that_are_held_out_are_told(
    track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = rb.read_groups(track / "groups.csv")
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    design = rb.hold_out(groups, runs.topics, 2, seed=1)
    kept = rb.judged_under(qrels, runs, groups, design, 20)
    scores = rb.ScoreMatrix.from_qrels(runs, kept)
    rb.reusability(scores, groups, design, permutations=59, judged=kept)
    of_all = rb.Qrels({t: dict(grades) for t, grades in kept.items()}, judged_for=runs.systems)
    says = "were made for systems that the design holds out there, as .* losses .* are too low"
    for judged in (of_all, rb.Judgments.from_qrels(rb.Pool.from_runs(runs), of_all)):
        with pytest.warns(rb.CollectionWarning, match=says):
            rb.reusability(scores, groups, design, permutations=59, judged=judged, runs=runs)
    with pytest.warns(rb.CollectionWarning, match=says):
        rb.scores_under(runs, of_all, groups, design)
    design.write(track / "of_all.csv")
    rb.write_qrels(of_all, track / "of_all.qrels")
    words = ["--groups", str(track / "groups.csv"), "--hold-out", str(track / "of_all.csv")]
    asked = ["reusability", str(track / "runs"), "--qrels", str(track / "of_all.qrels"), *words]
    assert main([*asked, "--permutations", "59", "-o", str(track / "of_all")]) == 0
    assert "were made for systems that the design holds out there" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--topics", "24"), ("--topics", "FILE")])
def test_topics_are_a_number_or_a_file(words: tuple[str, str], track: Path) -> None:
    (track / "topics.txt").write_text("\n".join(str(n) for n in range(1, 25)))
    words = (words[0], words[1].replace("FILE", str(track / "topics.txt")))
    path = plan(track, *words, "--most", "site01=2", "--on-remainder", "cycle")
    design = rb.read_hold_out(path)
    assert sorted(design.topics, key=int) == [str(n) for n in range(1, 25)]
    assert (~design.contributes[0]).sum() <= 2


@pytest.mark.parametrize(
    "text",
    [
        "7 8\n9\n10",
        "topic\n7\n8\n9\n10\n",
        "position,topic,weight\n1,7,1\n2,8,1\n3,9,.5\n4,10,1\n",  # as `topics` writes them
        '\n"rank","Topic"\n1,"7"\n2,"8"\n3,"9"\n4,"10"\n',
    ],
)
def test_a_file_of_topics_may_be_a_csv(text: str, track: Path) -> None:
    (track / "some.txt").write_text(text)
    path = plan(track, "--topics", str(track / "some.txt"), "--on-remainder", "cycle")
    assert sorted(rb.read_hold_out(path).topics, key=int) == ["7", "8", "9", "10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7\n8 9\n8\n", "some.txt:3: topic 8 stands twice, first in line 2; name each topic once"),
        ("topic,gain\n7,1\n7,2\n", "some.txt:3: topic 7 stands twice, first in line 2"),
        ("7\n8,9\n", "some.txt:2: '8,9' is no topic; give a topic a line, or a CSV with a column"),
        ("topic,gain\n7,1\n,2\n", "some.txt:3: a row without a topic; give a topic a line, or"),
        ("topic\tgain\n7\t1\n", "some.txt:1: 'topic' is no topic; give a topic a line"),
        ("topic;gain\n7;1\n", "some.txt:1: 'topic;gain' is no topic; give a topic a line"),
    ],
)
def test_files_that_do_not_name_each_topic_once(
    text: str, message: str, track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (track / "some.txt").write_text(text)
    words = ["hold-out", "plan", "--groups", str(track / "groups.csv"), "-o", str(track / "no.csv")]
    assert main([*words, "--topics", str(track / "some.txt")]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--most", "--costs"])
def test_numbers_of_groups_are_given_one_by_one(
    option: str, track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["hold-out", "plan", "--groups", str(track / "groups.csv"), "--topics", "9"]
    words += ["--held", "1", option, "site01=1,site02=2", "-o", str(track / "listed.csv")]
    assert main(words) == 2
    assert f"once for each, as {option} site01=1 {option} site02=2" in capsys.readouterr().err


def test_a_pilot_adds_power(track: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    rb.ScoreMatrix.from_qrels(runs, qrels).to_csv(track / "pilot.csv")
    plan(track, "--topics", "30", "--held", "1", "--pilot", str(track / "pilot.csv"))
    groups = rb.read_groups(track / "groups.csv")
    pilot = rb.ScoreMatrix.from_csv(track / "pilot.csv")
    table = rb.pilot_power(pilot, groups, 30, held=[1])
    said = capsys.readouterr().out.splitlines()
    for loss, power in zip(table["loss"], table["power"], strict=True):
        row = next(line.split() for line in said if line.split()[1:2] == [f"{loss:.0%}"])
        assert row[2] == f"{power:.2f}"


def test_the_verdict_is_pythons(track: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = plan(track, str(track / "runs"), "--held", "1")
    words = [str(track / "runs"), "--qrels", str(track / "qrels.txt")]
    words += ["--groups", str(track / "groups.csv"), "--hold-out", str(path)]
    words += ["--depth", "20", "--permutations", "59", "--quiet", "-o", str(track / "out")]
    assert main(["reusability", *words]) == 0
    groups, design = rb.read_groups(track / "groups.csv"), rb.read_hold_out(path)
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    kept = rb.judged_under(qrels, runs, groups, design, 20)
    found = rb.reusability(rb.ScoreMatrix.from_qrels(runs, kept), groups, design, permutations=59)
    assert found.verdict() in capsys.readouterr().out
    page = (track / "out" / "report.html").read_text()
    assert f"{found.loss:+.4f}" in page
    assert "How this was made" in page


def test_scores_from_a_file(track: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = plan(track, str(track / "runs"), "--held", "1")
    runs, qrels = rb.read_runs(track / "runs"), rb.read_qrels(track / "qrels.txt")
    scores = rb.ScoreMatrix.from_qrels(runs, qrels)
    scores.to_csv(track / "scores.csv")
    words = ["--scores", str(track / "scores.csv"), "--groups", str(track / "groups.csv")]
    words += ["--hold-out", str(path), "--permutations", "59", "--quiet"]
    assert main(["reusability", *words, "-o", str(track / "scored")]) == 0
    design = rb.read_hold_out(path)
    found = rb.reusability(scores, rb.read_groups(track / "groups.csv"), design, permutations=59)
    assert found.verdict() in capsys.readouterr().out
    assert np.isfinite(found.loss)
    # of a file of several measures one is asked for
    words[1] = str(track / "several.csv")
    rb.evaluate(runs, qrels, ["P@10", "AP"]).to_frame().to_csv(words[1], index=False)
    assert main(["reusability", *words, "-o", str(track / "one")]) == 2
    assert "ask for one of P@10, AP (measure=, --measure), or give" in capsys.readouterr().err
    assert main(["reusability", *words, "--measure", "AP", "-o", str(track / "one")]) == 0
    assert found.verdict() in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("hold-out plan --groups GROUPS -o OUT", "give RUNS, or --topics"),
        ("hold-out plan --groups GROUPS --topics 3 -o OUT", "too few for a cycle"),
        ("hold-out plan --groups GROUPS --topics 24 --held 99 -o OUT", "cannot be held out"),
        ("hold-out plan --groups GROUPS --topics 24 --most site01 -o OUT", "write GROUP=N"),
        ("hold-out plan --groups GROUPS --topics none.txt -o OUT", "give a number or a file"),
        ("hold-out plan --groups none.csv --topics 24 -o OUT", "none.csv"),
        ("hold-out plan RUNS --groups LONE -o OUT", "no group for"),
        ("reusability RUNS --qrels QRELS --groups GROUPS -o OUT", "give --hold-out"),
        ("reusability --groups GROUPS --hold-out DESIGN -o OUT", "give RUNS with --qrels"),
        ("reusability RUNS --groups GROUPS --hold-out DESIGN -o OUT", "give RUNS with --qrels"),
        ("reusability RUNS --qrels QRELS --groups LONE --hold-out DESIGN -o OUT", "no group for"),
        ("reusability RUNS --qrels QRELS --groups GROUPS --hold-out BAD -o OUT", "BAD:2:"),
        ("reusability RUNS --qrels QRELS --groups GROUPS --hold-out OTHER -o OUT", "no topic"),
        (
            "reusability RUNS --qrels QRELS --groups GROUPS --hold-out DESIGN -o OUT",
            "by groups alone",
        ),
    ],
)
def test_errors_say_what_to_do(
    command: str, said: str, track: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(track, str(track / "runs"), "--held", "1")
    capsys.readouterr()
    lines = (track / "groups.csv").read_text().splitlines()
    (track / "lone.csv").write_text("\n".join(lines[:-1]))
    (track / "bad.csv").write_text("topic,site01,site02\n401,1,maybe\n")
    names = ",".join(dict.fromkeys(line.split(",")[1] for line in lines[1:]))
    ones = ",".join("1" for _ in names.split(","))
    (track / "other.csv").write_text(f"topic,{names}\nabc,{ones}\n")
    paths = {
        "RUNS": "runs",
        "QRELS": "qrels.txt",
        "GROUPS": "groups.csv",
        "DESIGN": "design.csv",
        "LONE": "lone.csv",
        "BAD": "bad.csv",
        "OTHER": "other.csv",
        "OUT": "wrong",
    }
    words = [str(track / paths[word]) if word in paths else word for word in command.split()]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert said.replace("BAD", str(track / "bad.csv")) in error
    assert error.count("\n") == 1
    assert not (track / "wrong").exists()
