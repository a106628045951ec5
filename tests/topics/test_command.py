"""rtc-bayes topics: the same numbers as Python, and errors that say what to do."""

import csv
import json
import shlex

import pandas as pd
import pytest
from topic_scores import drawn

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.store.shown import in_words
from rtc_bayes.topics.selection import SOLVERS


@pytest.fixture
def here(tmp_path, monkeypatch):
    drawn(1, systems=15).to_csv(tmp_path / "scores.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [(row["topic"], float(row["weight"]), float(row["rho"])) for row in rows]


def as_rows(chosen):
    return list(zip(chosen.topics, chosen.weights, chosen.rhos, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_command_and_python_give_the_same_numbers(here, solver, capsys):
    few = {"samples": 50} if solver == "oracle" else {}
    typed = "".join(f" --{option} {value}" for option, value in few.items())
    line = f"topics scores.csv --solver {solver} --size 4 --seed 3{typed} -o out.csv"
    assert main(shlex.split(line)) == 0
    scores = rb.ScoreMatrix.from_csv("scores.csv")
    chosen = rb.select_topics(scores, size=4, solver=solver, seed=3, **few)
    assert written("out.csv") == as_rows(chosen)
    assert in_words(chosen) in capsys.readouterr().out
    meta = json.loads((here / "out.csv.meta.json").read_text())
    assert meta["seed"] == 3
    assert set(meta["inputs"]) == {"scores.csv"}


def test_weights_gains_and_budget(here):
    (here / "weights.csv").write_text("system,weight\ns0,2\ns1,1\ns5,1\n")
    (here / "gain.csv").write_text("topic,gain\n3,10\n7,2\n")
    options = "--weights weights.csv --gain gain.csv --gain-weight 0.5 --budget 2 --solver box"
    assert main(shlex.split(f"topics scores.csv {options} -o out.csv")) == 0
    chosen = rb.select_topics(
        rb.ScoreMatrix.from_csv("scores.csv"),
        solver="box",
        budget=2,
        weights={"s0": 2, "s1": 1, "s5": 1},
        gain={"3": 10, "7": 2},
        gain_weight=0.5,
    )
    assert written("out.csv") == as_rows(chosen)


def test_runs_with_judgments_and_several_measures(here):
    data = simulate(n_topics=6, n_systems=5, documents=200, depth=40, seed=3)
    write(data, here / "collection")
    line = "topics collection/runs --qrels collection/qrels.txt --measure AP --measure P@10"
    assert main(shlex.split(f"{line} -o out.csv")) == 0
    scores = [rb.ScoreMatrix.from_qrels(data.runs, data.qrels, name) for name in ("AP", "P@10")]
    assert [row[0] for row in written("out.csv")] == list(rb.select_topics(scores).topics)


@pytest.mark.parametrize(("asked", "level"), [("", 1), (" --relevance-level 2", 2)])
def test_which_of_several_grades_counted_is_said(here, asked, level, capsys):
    data = simulate(n_topics=6, n_systems=5, documents=200, depth=40, seed=3)
    rb.write_runs(data.runs, "runs")
    binary = {topic: dict(grades) for topic, grades in data.qrels.items()}
    graded = {
        t: {d: g * (1 + n % 2) for n, (d, g) in enumerate(of.items())} for t, of in binary.items()
    }
    for qrels, said in ((graded, True), (binary, False)):
        rb.write_qrels(rb.Qrels(qrels), "q.qrels")
        for command in ("topics", "variability"):
            out = " -o out.csv" if command == "topics" else ""
            typed = asked if said else ""
            assert main(shlex.split(f"{command} runs --qrels q.qrels{typed}{out}")) == 0
            words = f"judged grades go up to 2, and those from {level} on count as relevant"
            assert (words in " ".join(capsys.readouterr().out.split())) is said
    # a measure that names its own grade is of no other level
    rb.write_qrels(rb.Qrels(graded), "q.qrels")
    for command in ("topics", "variability", "evaluate"):
        assert main(shlex.split(f"{command} runs --qrels q.qrels --measure 'P(rel=2)@5'")) == 0
        shown = capsys.readouterr().out
        assert "count as relevant" not in shown
        assert "relevance level" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "no scores; give one CSV of scores, or RUNS with --qrels"),
        ("scores.csv scores.csv", "2 files without --qrels; give one CSV of scores"),
        ("nosuch.csv", "nosuch.csv: there is no such file"),
        ("scores.csv --relevance-level 2", "--relevance-level says nothing of a CSV of scores"),
        ("scores.csv --order rank", "--order says nothing of a CSV of scores; give RUNS with"),
        ("scores.csv --measure P@5", "holds no P@5"),
        ("scores.csv --weights bad.csv", "bad.csv:1: the header is system,score"),
        ("scores.csv --gain twice.csv", "twice.csv:3: topic 3 comes twice"),
        ("scores.csv --gain word.csv", "word.csv:2: 'much' is not a number"),
        ("scores.csv --gain endless.csv", "endless.csv:2: 'inf' is not a number; give a gain"),
        ("scores.csv --size 99", "size is 99, of 20 topics; ask for fewer"),
        ("scores.csv --budget 3", "solver vote takes no budget"),
        ("scores.csv --solver greedy --share .3", "solver greedy takes no share; leave it out, or"),
    ],
)
def test_what_cannot_be_done_is_refused(here, options, message, capsys):
    (here / "bad.csv").write_text("system,score\ns0,2\n")
    (here / "twice.csv").write_text("topic,gain\n3,1\n3,1\n")
    (here / "word.csv").write_text("topic,gain\n3,much\n")
    (here / "endless.csv").write_text("topic,gain\n3,inf\n")
    assert main(shlex.split(f"topics {options} -o out.csv")) == 2
    assert message in capsys.readouterr().err
    assert not (here / "out.csv").exists()


def test_next_ranks_topics_as_python_does(tmp_path, capsys):
    data = simulate(n_topics=6, n_systems=5, seed=3)
    write(data, tmp_path / "track")
    begun = data.qrels.topics[:2]
    lines = [f"{t} 0 {docno} {grade}\n" for t in begun for docno, grade in data.qrels[t].items()]
    (tmp_path / "judged.qrels").write_text("".join(lines))
    runs, judged = str(tmp_path / "track" / "runs"), str(tmp_path / "judged.qrels")
    asked = ["next", runs, "--qrels", judged, "--by-topic", "--quiet"]
    assert main([*asked, "-o", str(tmp_path / "next.csv")]) == 0
    with open(tmp_path / "next.csv", newline="") as file:
        rows = [(row["topic"], float(row["rho"])) for row in csv.DictReader(file)]
    read = rb.read_qrels(judged)
    pool = rb.Estimand().pool(rb.read_runs(runs), read)
    first = rb.Judgments.from_qrels(pool, read)
    expected = rb.suggest_topics(pool, first)
    assert rows == list(expected.itertuples(index=False, name=None))
    assert {topic for topic, _ in rows} == set(data.qrels.topics) - set(begun)
    capsys.readouterr()
    vote = ["--solver", "vote", "--measure", "P@10", "--format", "json", "--seed", "2"]
    assert main([*asked, *vote]) == 0
    pool = rb.Estimand("P@10").pool(rb.read_runs(runs), read)
    started = rb.Judgments.from_qrels(pool, read)
    by_vote = rb.suggest_topics(pool, started, measure="P@10", solver="vote", seed=2)
    assert json.loads(capsys.readouterr().out) == by_vote.to_dict("records")
    assert main([*asked, "--solver", "vote"]) == 0
    title = capsys.readouterr().out.splitlines()[0]
    assert "rho: expected correlation of systems' mean scores over the judged topics" in title
    assert "In the order of votes; rho is that of all systems" in title
    for noise in ("none", "centred", "draws"):
        assert main([*asked, "--noise", noise, "--format", "json", "--seed", "2"]) == 0
        by_noise = rb.suggest_topics(first.pool, first, noise=noise, seed=2)
        assert json.loads(capsys.readouterr().out) == by_noise.to_dict("records")
    assert main([*asked, "--noise", "draws", "--solver", "vote"]) == 2
    assert 'do not vote by draws; give noise="centred" (--noise' in capsys.readouterr().err
    capsys.readouterr()
    for other in (["--pair", "least"], ["--costs", "human=1"], ["--algorithm", "ip"]):
        assert main([*asked, *other]) == 2
        assert f"{other[0]} says nothing with --by-topic; give" in capsys.readouterr().err
    assert main(["next", runs, "--by-topic"]) == 2
    assert "--by-topic without judgments; give --qrels" in capsys.readouterr().err
    for of_topics in (["--noise", "draws"], ["--solver", "vote"], ["--by", "svm"]):
        assert main(["next", runs, "--qrels", judged, *of_topics]) == 2
        said = f"{of_topics[0]} says nothing without --by-topic; give --by-topic, too, or leave"
        assert said in capsys.readouterr().err


def test_extend_names_the_topics_without_scores_and_what_to_do(here, capsys):
    """As evaluate writes scores by default: of judged topics alone."""
    made = simulate(n_topics=4, n_systems=4, documents=150, depth=30, seed=2)
    rb.write_runs(made.runs, "runs")
    first, *others = made.runs.topics
    rb.write_qrels(rb.Qrels({topic: made.qrels[topic] for topic in others}), "few.qrels")
    extend = "extend runs --qrels few.qrels --budget 10 --scores scores.csv --quiet"
    assert main(shlex.split("evaluate runs --qrels few.qrels --per-topic -o scores.csv")) == 0
    capsys.readouterr()
    assert main(shlex.split(extend)) == 2
    said = capsys.readouterr().err
    assert f"the runs have topics without scores (1): {first}" in said
    all_topics = "evaluate runs --qrels few.qrels --per-topic --topics all -o scores.csv"
    assert "evaluate --per-topic --topics all" in said
    assert main(shlex.split(all_topics)) == 0
    assert main(shlex.split(extend)) == 0


def test_extend_says_what_is_reused_and_what_to_judge(here, capsys):
    made = simulate(n_topics=5, n_systems=4, documents=150, depth=30, seed=2)
    old, new = made.runs.select(made.runs.systems[:2]), made.runs.select(made.runs.systems[2:])
    shallow = rb.Pool.from_runs(old, depth=5)
    judged = rb.Qrels(
        {
            topic: {d: made.qrels[topic].get(d, 0) for d in shallow.docnos[shallow.documents(t)]}
            for t, topic in enumerate(shallow.topics)
        }
    )
    rb.write_runs(new, "new")
    rb.write_qrels(judged, "few.qrels")
    rb.ScoreMatrix.from_qrels(old, judged, "AP").to_csv("old.csv")
    common = "extend new --qrels few.qrels --depth 20"
    assert main(shlex.split(f"{common} --format json")) == 0
    told = json.loads(capsys.readouterr().out)
    reuse = rb.mean_average_reuse(new, judged)
    assert {row["system"]: row["reuse"] for row in told} == pytest.approx(reuse)
    assert [row["reuse"] for row in told] == sorted(reuse.values())
    reused = rb.extend(new, judged, depth=20)
    assert told == json.loads(json.dumps(reused.to_frame().to_dict("records")))
    assert main(shlex.split(f"{common} -o reuse.csv")) == 0
    meta = json.loads((here / "reuse.csv.meta.json").read_text())
    assert meta["omega"] == reused.omega
    assert main(shlex.split(common)) == 0
    said = f"Run reuse: {reused.omega} documents without a judgment among the first 20 of a list, "
    assert f"{said}reuse over the 5" in " ".join(capsys.readouterr().out.split())
    for strategy, scores in (("uniform", None), ("sa", "old.csv")):
        given = f"--scores {scores}" if scores else ""
        assert (
            main(
                shlex.split(f"{common} --budget 40 --strategy {strategy} {given} -o {strategy}.csv")
            )
            == 0
        )
        matrix = scores and rb.ScoreMatrix.from_csv(scores)
        chosen = rb.extend(new, judged, 40, matrix, strategy=strategy, depth=20)
        with open(f"{strategy}.csv", newline="") as file:
            rows = [(row["topic"], row["docno"]) for row in csv.DictReader(file)]
        assert rows == list(chosen.to_frame().itertuples(index=False, name=None))
        assert len(rows) == 40
    assert main(shlex.split(f"{common} --formula printed --format json")) == 0
    printed = {row["system"]: row["reuse"] for row in json.loads(capsys.readouterr().out)}
    assert printed == pytest.approx(rb.mean_average_reuse(new, judged, formula="printed"))
    assert printed != pytest.approx(reuse)
    (here / "weights.csv").write_text("system,weight\n{},3\n{},1\n".format(*old.systems))
    weighted = f"{common} --budget 40 --scores old.csv --weights weights.csv --format json"
    assert main(shlex.split(weighted)) == 0
    rows = [(row["topic"], row["docno"]) for row in json.loads(capsys.readouterr().out)]
    matrix, weights = (
        rb.ScoreMatrix.from_csv("old.csv"),
        dict(zip(old.systems, (3, 1), strict=True)),
    )
    chosen = rb.extend(new, judged, 40, matrix, weights=weights, depth=20)
    assert rows == list(chosen.to_frame().itertuples(index=False, name=None))
    for options, message in (
        ("--weights weights.csv", "--weights says nothing without --budget; give both, or neither"),
        ("--scores old.csv", "--scores says nothing without --budget"),
        ("--strategy uniform", "--strategy says nothing without --budget"),
        ("--budget 40 --formula printed", "--formula says nothing with --budget"),
        ("--budget 40 --weights weights.csv", "--weights needs --scores"),
        ("--budget 40", "no scores to select topics by"),
        (
            "--budget 40 --strategy uniform --scores old.csv",
            "strategy uniform takes no scores; leave it out, ",
        ),
        (
            "--budget 40 --strategy uniform --constraint printed",
            "strategy uniform takes no constraint",
        ),
    ):
        assert main(shlex.split(f"{common} {options}")) == 2
        assert message in capsys.readouterr().err


def test_variability_is_that_of_python(here, capsys):
    assert main(shlex.split("variability scores.csv --top 0.6 --format json")) == 0
    told = json.loads(capsys.readouterr().out)
    compared = rb.compare_variability(rb.ScoreMatrix.from_csv("scores.csv"), top=0.6)
    assert told == json.loads(json.dumps(compared.to_frame().to_dict("records")))
    assert main(shlex.split("variability scores.csv --test f -o out.csv")) == 0
    assert len((here / "out.csv").read_text().splitlines()) == 1 + 55
    assert main(shlex.split("variability scores.csv")) == 0
    assert "55 pairs of 11 systems" in capsys.readouterr().out
    assert main(shlex.split("variability scores.csv --top 0.05")) == 2
    assert "0 systems to compare" in capsys.readouterr().err
    assert main(shlex.split("variability scores.csv --epsilon 0.1")) == 2
    assert 'transform z takes no epsilon; leave it out, or give transform="logit" (--t' in (
        capsys.readouterr().err
    )


def test_topics_are_a_table_without_an_output(here, capsys):
    line = "topics scores.csv --size 3 --solver greedy"
    assert main(shlex.split(f"{line} -o out.csv --quiet")) == 0
    written = pd.read_csv("out.csv", dtype={"topic": str})
    capsys.readouterr()
    assert main(shlex.split(f"{line} --format json")) == 0
    shown = pd.DataFrame(json.loads(capsys.readouterr().out))
    pd.testing.assert_frame_equal(shown, written, check_dtype=False)
    assert main(shlex.split(line)) == 0
    table = capsys.readouterr().out
    assert "one at a time" in table
    assert f"{written['rho'].iloc[-1]:.3f}" in table.strip().splitlines()[-1]


def test_an_output_that_cannot_be_written_is_refused_before_the_work(here, capsys):
    (here / "folder").mkdir()
    for output, message in (
        ("folder", "folder: is a folder"),
        ("nowhere/out.csv", "nowhere/out.csv: its folder does not exist"),
        ("out.pdf", "the ending .pdf of -o stands for no format"),
    ):
        assert main(shlex.split(f"topics missing.csv -o {output}")) == 2
        assert message in capsys.readouterr().err
    assert main(shlex.split("topics scores.csv --qrels scores.csv -o out.csv")) == 2
    assert "a CSV of scores and --qrels" in capsys.readouterr().err


def test_allocate_says_what_cannot_be(here, capsys):
    write(simulate(n_topics=4, n_systems=3, documents=100, depth=20, seed=2), here / "track")
    (here / "other.qrels").write_text("x1 0 d1 1\n")
    common = "allocate track/runs --budget 20"
    for options, message in (
        (
            "--truth track/qrels.txt -o a.prels --write-scores ./a.prels",
            "--write-scores and -o are one file",
        ),
        ("--truth track/qrels.txt -o a.prels --write-scores no/a.csv", "its folder does not exist"),
        ("--truth other.qrels -o a.prels", "no topic in common"),
        ("--truth track/qrels.txt -o a.prels --strategy sa --best 3", "sa takes no best"),
        ("--truth track/qrels.txt -o a.prels --lambda 0 --by logistic", "gain_weight 0.0 takes no"),
        ("--truth track/qrels.txt -o a.prels --stages 1 --first .3", "stages 1 takes no first"),
        ("--truth track/qrels.txt -o a.prels --stages 1", "or strategy uniform"),
    ):
        assert main(shlex.split(f"{common} {options}")) == 2
        assert message in capsys.readouterr().err
        assert not (here / "a.prels").exists()
