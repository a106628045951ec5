"""The command `labels`, against Python."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main

ROWS = "topic judge docno label gold\n" + "".join(
    f"7 w{judge} d{doc} {int((doc + judge) % 3 != 0)} {doc % 2}\n"
    for doc in range(8)
    for judge in range(4)
)


@pytest.fixture
def crowd(tmp_path):
    path = tmp_path / "crowd.txt"
    path.write_text(ROWS)
    return path


@pytest.mark.filterwarnings("ignore:the chains do not agree")
def test_the_share_that_misleads_is_told(crowd, tmp_path, capsys):
    out = tmp_path / "soft.erels"
    assert main(["labels", str(crowd), "--misleading", "0", "-o", str(out)]) == 0
    made = rb.aggregate(rb.read_labels(crowd), prior=rb.CrowdPrior(misleading=0))
    assert rb.read_erels(out) == made.probabilities()
    assert made.probabilities() != rb.aggregate(rb.read_labels(crowd)).probabilities()
    capsys.readouterr()
    assert main(["labels", str(crowd), "--method", "em", "--misleading", "0"]) == 2
    assert "--misleading says nothing with --method em" in capsys.readouterr().err
    assert main(["labels", str(crowd), "--misleading", "1"]) == 2
    assert "misleading is 1.0; give a share" in capsys.readouterr().err


def test_grades_of_a_panel_are_written(tmp_path):
    panel = tmp_path / "panel.txt"
    rows = [f"7 w{j} d{doc} {(doc + j // 2) % 3} {doc % 3}" for doc in range(9) for j in range(4)]
    panel.write_text("\n".join(["topic judge docno label gold", *rows]))
    out = tmp_path / "soft.csv"
    given = [
        "labels",
        str(panel),
        "--method",
        "panel",
        "--graded",
        "--relevance-level",
        "2",
        "--quiet",
    ]
    assert main([*given, "-o", str(out)]) == 0
    made = rb.aggregate(rb.read_labels(panel), "panel", graded=True, relevance_level=2)
    written = pd.read_csv(out, dtype={"topic": str})
    pd.testing.assert_frame_equal(written, made.to_frame(), check_dtype=False)
    assert written.filter(like="grade_").sum(axis=1).to_numpy() == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore:the chains do not agree")
@pytest.mark.parametrize("method", ["mv", "em", "hierarchical"])
def test_the_command_writes_what_python_gives(crowd, tmp_path, method, capsys):
    out = tmp_path / "soft.erels"
    assert main(["labels", str(crowd), "--method", method, "--seed", "3", "-o", str(out)]) == 0
    made = rb.aggregate(rb.read_labels(crowd), method, seed=3)
    assert rb.read_erels(out) == made.probabilities()
    printed = capsys.readouterr().out
    assert "8 pairs by 4 judges" in printed
    assert "Krippendorff's alpha" in printed
    assert str(crowd) in json.loads((tmp_path / "soft.erels.meta.json").read_text())["inputs"]


def test_quiet_keeps_the_tables(crowd, tmp_path, capsys):
    output = str(tmp_path / "a.erels")
    for written, where in (([], ""), (["-o", output], f"in {output}\n")):
        assert main(["labels", str(crowd), "--method", "mv", "--quiet", *written]) == 0
        told = capsys.readouterr()
        assert told.err == ""
        assert "8 pairs by 4 judges" in told.out
        assert where in told.out


def test_gold_and_human_are_known(crowd, tmp_path):
    human = tmp_path / "human.qrels"
    human.write_text("".join(f"7 0 d{doc} {doc % 2}\n" for doc in range(8)))
    written = []
    for given in (["--gold"], ["--human", str(human)]):
        out = tmp_path / "soft.csv"
        command = ["labels", str(crowd), *given, "--method", "em", "--quiet", "-o", str(out)]
        assert main(command) == 0
        written.append(out.read_text())
    assert written[0] == written[1]
    assert [line.split(",")[3] for line in written[0].splitlines()[1:3]] == ["0.0", "1.0"]


def test_the_relevance_level_is_that_beside_the_humans_qrels(tmp_path, capsys):
    labels, human, out = (tmp_path / name for name in ("l.txt", "h.qrels", "soft.erels"))
    labels.write_text("topic judge docno label\n7 a d0 1\n7 b d0 3\n7 a d1 0\n7 b d1 2\n")
    human.write_text("7 0 d0 1\n7 0 d2 2\n")
    (tmp_path / "h.qrels.meta.json").write_text('{"relevance_level": 2}')
    given = ["labels", str(labels), "--method", "mv", "--human", str(human), "-o", str(out)]
    assert main(given) == 0
    told = capsys.readouterr()
    assert told.err.count("grades from 2 on count as relevant, as the .meta.json beside") == 1
    assert rb.read_erels(out)["7"] == {"d0": 0.0, "d1": 0.5}
    with pytest.warns(rb.CollectionWarning, match="grades from 2 on count as relevant"):
        made = rb.aggregate(rb.read_labels(labels), "mv", human=rb.read_qrels(human))
    assert rb.read_erels(out) == made.probabilities()


def test_a_family_of_judges_weighs_as_one(crowd, tmp_path, capsys):
    families = tmp_path / "families.csv"
    families.write_text("judge,family\nw0,a\nw1,a\nw2,a\n")
    out = tmp_path / "soft.erels"
    common = ["labels", str(crowd), "--quiet", "-o", str(out), "--families", str(families)]
    assert main([*common, "--method", "panel", "--gold"]) == 0
    labels = rb.read_labels(crowd)
    told = {"method": "panel", "human": labels.gold}
    made = rb.aggregate(labels, families=dict.fromkeys(("w0", "w1", "w2"), "a"), **told)
    assert rb.read_erels(out) == made.probabilities()
    assert str(families) in json.loads((tmp_path / "soft.erels.meta.json").read_text())["inputs"]
    none = rb.aggregate(rb.read_labels(crowd), "panel").probability
    one = rb.aggregate(labels, "panel", families=dict.fromkeys(("w0", "w1", "w2"), "a"))
    assert abs(one.probability - none).max() > 1e-3
    assert main([*common, "--method", "em"]) == 2
    assert (
        'em takes no families; leave it out, or give method="panel" (--meth'
        in capsys.readouterr().err
    )
    families.write_text('"judge","family"\n"w0","a"\n"w1","a"\n"w2","a"\n')  # as R writes it
    assert main(common) == 0
    assert rb.read_erels(out) == one.probabilities()
    families.write_text("w0;a\n")
    capsys.readouterr()
    assert main(common) == 2
    assert "(judge family) has 2; write judge,family" in capsys.readouterr().err
    families.write_text("ghost,a\n")
    assert main([*common, "--method", "panel"]) == 2
    assert "families of judges without labels: ghost" in capsys.readouterr().err
    families.write_text("w0,a\nw1,a,b\n")
    assert main([*common, "--method", "panel"]) == 2
    said = capsys.readouterr().err
    assert "families.csv:2" in said
    assert "families file (judge family)" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--relevance-level", "4"], "relevance_level is 4, and the highest grade is 1"),
        (["--gold", "--human", "x"], "--gold and --human both say what is known"),
        (["-o", "out.xyz"], "stands for no format"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(crowd, given, said, capsys):
    assert main(["labels", str(crowd), *given]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("ending", ["erels", "csv", "json"])
def test_what_labels_wrote_is_recognised(crowd, tmp_path, ending, capsys):
    """Given as evidence of another kind: the error says what it is, and what to give."""
    rb.write_runs(rb.Runs([rb.Run.from_rankings("one", {"7": ["d1", "d2"]})]), tmp_path / "runs")
    soft = tmp_path / f"soft.{ending}"
    assert main(["labels", str(crowd), "--method", "mv", "--quiet", "-o", str(soft)]) == 0
    for option in ("--labels", "--erels", "--qrels"):
        capsys.readouterr()
        status = main(["compare", str(tmp_path / "runs"), option, str(soft), "--quiet"])
        said = capsys.readouterr().err
        assert status == (0 if (ending, option) == ("erels", "--erels") else 2)
        if ending != "erels":
            assert f"table of pairs that `labels` wrote as {ending.upper()}" in said
            assert "run `labels` with -o OUT.erels, and give --erels OUT.erels" in said
        elif option != "--erels":
            assert "erels (topic Q0 docno probability)" in said
            assert "give it as --erels" in said


def test_labels_that_are_dropped_are_told_apart(tmp_path, capsys):
    """Negative labels are none; those above the highest grade are out of its scale."""
    rows = [f"7 {judge} d{n} {n % 4}" for n in range(20) for judge in ("ann", "bob")]
    file = tmp_path / "panel.txt"
    file.write_text("\n".join([*rows, "7 ann d20 10", "7 ann d21 -2", "7 bob d21 -2"]))
    asked = ["labels", str(file), "--method", "mv"]
    assert main(asked) == 0
    said = capsys.readouterr()
    assert "note: label 10 by judge ann of document d20 of topic 7" in said.err
    assert "2 more were dropped: blank or below 0, which is no label." in said.out
    assert "above" not in said.out
    assert main([*asked, "--n-grades", "4"]) == 0
    said = capsys.readouterr()
    assert not said.err
    assert "2 more were dropped: blank or below 0, which is no label." in said.out
    assert "1 more was dropped: above 3, the highest grade." in said.out


def test_labels_that_are_left_out_of_a_comparison_are_said(tmp_path, capsys, monkeypatch):
    """And one file is not labels and judgments."""
    monkeypatch.chdir(tmp_path)
    data = rb.simulate(n_topics=3, n_systems=3, seed=1)
    rb.collection.simulate.write(data, "sim")
    lines = [
        f"{t} 0 {d} {3 * g - (d[-1] == '7')}" for t, of in data.qrels.items() for d, g in of.items()
    ]
    Path("llm.txt").write_text("\n".join(lines))
    asked = ["compare", "sim/runs", "--labels", "llm.txt", "--model", "hierarchical:map", "--depth"]
    assert main([*asked, "10", "--n-grades", "2"]) == 0
    said = capsys.readouterr().err
    assert re.search(r"labels left out: [1-9][\d,]* blank or below 0, [1-9][\d,]* above 1", said)
    assert main([*asked, "10", "--qrels", "llm.txt"]) == 2
    assert "given as --labels and as --qrels, and would count twice" in capsys.readouterr().err
