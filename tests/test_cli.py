"""The commands of the contract: what they write, what they refuse, and with which status."""

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict

import pytest
from model_files import write_model

import rtc_bayes as rb
import rtc_bayes.relevance
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.confidence.likeness import likeness, unlikeness
from rtc_bayes.errors import FitError
from rtc_bayes.store import digest_file, digest_text

COMMANDS = [
    "demo",
    "describe",
    "evaluate",
    "simulate",
    "merge",
    "labels",
    "fit",
    "compare",
    "build",
    "next",
    "plan",
    "reusability",
    "topics",
    "allocate",
    "extend",
    "variability",
    "robustness",
    "calibrate",
    "report",
    "models",
    "hold-out",
]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """A small collection, and judgments that `build` made for its first two systems."""
    folder = tmp_path_factory.mktemp("collection")
    write(simulate(n_topics=6, n_systems=4, documents=200, depth=60, seed=3), folder)
    runs = sorted((folder / "runs").iterdir())
    for run in runs:
        run.rename(folder / run.name)
    (folder / "runs").rmdir()
    assert len(runs) == 4
    names = " ".join(run.name for run in runs[:2])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        command = f"build {names} --truth qrels.txt --algorithm mtc --budget 60 -o few.qrels"
        assert main(shlex.split(command)) == 0
    return folder


@pytest.fixture
def here(collection, tmp_path, monkeypatch):
    """A folder of one's own with the collection in it."""
    for path in collection.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command line; give its status, standard output and standard error."""

    def call(line: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(shlex.split(line))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def ok(run):
    """Run a command line that must succeed; give its standard output."""

    def call(line: str) -> str:
        status, out, err = run(line)
        assert status == 0, err
        return out

    return call


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def meta(path):
    return json.loads((path.parent / f"{path.name}.meta.json").read_text())


def test_the_commands_are_those_of_the_contract(ok):
    listed = ok("--help").partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "] == (
        COMMANDS
    )
    for command in COMMANDS:
        assert "Usage: rtc-bayes " + command in ok(f"{command} --help")
    assert ok("--version").startswith("rtc-bayes 0.")


# words of the project that a reader of one command's help cannot know, and what tells them
EXPLAINED = {
    "erels": "topic Q0 docno probability",
    "evaluator": "the model that compares systems",
    "moments": "mean and variance",
    "prels": r"drawn with known probabilities|probability that each was drawn",
    "residual": "standard deviation of each mean score",
    "rho": "correlation of systems' mean scores",
}


@pytest.mark.parametrize("word", EXPLAINED)
def test_help_says_what_its_words_mean(ok, word):
    helps = [ok(f"{command} --help") for command in COMMANDS]
    said = [
        text
        for text in map(" ".join, map(str.split, helps))
        if re.search(rf"\b{word}\b", text, re.I)
    ]
    assert said
    for text in said:
        assert re.search(EXPLAINED[word], text, re.I), text


@pytest.mark.parametrize(
    ("command", "bounds"),
    [
        ("compare", "give this confidence, above 0.5 and below 1."),
        ("build", "every pair has it, above 0.5 and at most 1."),
    ],
)
def test_help_gives_the_bounds_of_confidences(ok, command, bounds):
    assert bounds in " ".join(ok(f"{command} --help").split())


def test_evaluate_writes_what_it_prints(here, ok):
    scores = json.loads(ok("evaluate '*.gz' --qrels qrels.txt --measure AP --format json"))
    assert list(scores) == ["AP"]
    assert len(scores["AP"]) == 4
    table = ok("evaluate '*.gz' --qrels qrels.txt --measure AP --measure P@10")
    assert "6 topics (judged)" in table
    for value in scores["AP"].values():
        assert f"{value:.4f}" in table
    ok("evaluate '*.gz' --qrels qrels.txt --measure AP -o out.json")
    assert json.loads((here / "out.json").read_text()) == scores
    assert set(meta(here / "out.json")["inputs"]) == {p.name for p in here.glob("*.gz")} | {
        "qrels.txt"
    }
    ok("evaluate '*.gz' --qrels qrels.txt --measure AP --format csv -o out.csv")
    assert {r["system"]: float(r["AP"]) for r in rows(here / "out.csv")} == scores["AP"]


def test_evaluate_says_how_much_is_judged(here, ok, run):
    line = "evaluate '*.gz' --qrels few.qrels"
    ok(f"{line} --judged-depth 10 -o out.csv")
    written = {row["system"]: float(row["Judged@10"]) for row in rows(here / "out.csv")}
    judged = rb.evaluate(
        rb.read_runs(sorted(here.glob("*.gz"))), rb.read_qrels("few.qrels"), "Judged@10"
    )
    assert written == judged.to_dict()["Judged@10"]
    assert run(f"{line} --judged-depth 0")[2] == (
        "rtc-bayes: judged_depth is 0; give a whole number of at least 1\n"
    )
    for other in ("--format json", "--per-topic -o out.csv"):
        assert (
            "--judged-depth says nothing in JSON and in a CSV of"
            in run(f"{line} --judged-depth 9 {other}")[2]
        )


def test_evaluate_per_topic(here, ok):
    line = "evaluate '*.gz' --qrels qrels.txt --per-topic --format"
    scores = json.loads(ok(f"{line} json"))["AP"]
    mean = json.loads(ok("evaluate '*.gz' --qrels qrels.txt --format json"))["AP"]
    for system, by_topic in scores.items():
        assert len(by_topic) == 6
        assert sum(by_topic.values()) / 6 == pytest.approx(mean[system])
    assert len(ok(f"{line} csv").splitlines()) == 1 + 4 * 6


def test_the_model_is_robust_where_none_is_named(here, ok):
    content = json.loads(ok("compare '*.gz' --qrels few.qrels --format json --quiet"))
    assert (content["model"], content["method"]) == ("robust", "gibbs")


def test_one_seed_writes_one_collection(here, ok):
    for folder in ("a", "b"):
        ok(f"simulate -o {folder} --topics 2 --systems 2 --seed 5")
    names = sorted(p.relative_to(here / "a") for p in (here / "a").rglob("*") if p.is_file())
    assert {"qrels.txt", "groups.csv", "manifest.json"} <= {str(name) for name in names}
    for name in names:
        if name.name != "manifest.json":
            assert (here / "a" / name).read_bytes() == (here / "b" / name).read_bytes()


def test_fit_then_compare_its_file_is_to_compare_the_judgments(here, ok):
    ok("fit '*.gz' --qrels few.qrels --model rtc -o fit.nc --write-erels e.txt --quiet")
    by_qrels = json.loads(ok("compare '*.gz' --qrels few.qrels --model rtc --format json"))
    by_fit = json.loads(ok("compare '*.gz' --relevance fit.nc --format json"))
    by_erels = json.loads(ok("compare '*.gz' --erels e.txt --qrels few.qrels --format json"))
    assert (by_qrels["model"], by_qrels["method"]) == ("rtc", "map")
    for other in (by_fit, by_erels):
        for pair, same in zip(by_qrels["pairs"], other["pairs"], strict=True):
            assert (pair["a"], pair["b"]) == (same["a"], same["b"])
            assert pair["expected_difference"] == pytest.approx(same["expected_difference"])
            assert pair["p_less"] == pytest.approx(same["p_less"], abs=1e-6)
    assert meta(here / "fit.nc")["judged_for"] == meta(here / "few.qrels")["judged_for"]


def test_compare_keeps_the_shape_of_the_contract(here, ok):
    ok("compare '*.gz' --qrels few.qrels --model uniform --option p=.3 -o out.json")
    content = json.loads((here / "out.json").read_text())
    assert set(content) >= {"measure", "moments", "model", "method", "topics", "systems", "pairs"}
    assert (content["measure"], content["moments"], content["topics"]) == ("AP", "exact", 6)
    assert [set(entry) for entry in content["systems"]] == [{"system", "expected", "sd"}] * 4
    assert len(content["pairs"]) == 6
    for pair in content["pairs"]:
        assert set(pair) >= {"a", "b", "expected_difference", "sd"}
        assert pair["p_less"] + pair["p_equal"] + pair["p_greater"] == pytest.approx(1)
    assert content["meta"]["seed"] == 0
    assert "few.qrels" in content["meta"]["inputs"]
    ok("compare '*.gz' --qrels few.qrels --model uniform --option p=.3 -o out.csv")
    table = rows(here / "out.csv")
    assert [float(row["p_less"]) for row in table] == [p["p_less"] for p in content["pairs"]]
    text = ok("compare '*.gz' --qrels few.qrels --model uniform --option p=.3")
    assert "judged@100" in text
    assert "seed 0" in text


def test_compare_by_several_measures_is_a_list(here, ok):
    line = "compare '*.gz' --erels e.txt --default-p .5 --measure AP --measure P@10 --format"
    (here / "e.txt").write_text("501 Q0 none 0.5\n")
    content = json.loads(ok(f"{line} json"))
    assert [entry["measure"] for entry in content] == ["AP", "P@10"]
    table = list(csv.DictReader(ok(f"{line} csv").splitlines()))
    assert [row["measure"] for row in table] == ["AP"] * 6 + ["P@10"] * 6


@pytest.mark.parametrize(
    "sources",
    [
        "",
        "--qrels few.qrels --relevance fit.nc",
        "--erels e.txt --relevance fit.nc",
        "--erels e.txt --model rtc",
        "--erels e.txt --qrels few.qrels --option p=.3",
        "--relevance fit.nc --method map",
        "--qrels few.qrels --default-p .2",
        "--model rtc",
        "--labels llm.txt --relevance fit.nc",
        "--labels llm.txt --erels e.txt",
    ],
)
def test_compare_refuses_any_other_mix_of_sources(here, run, sources):
    status, out, err = run(f"compare '*.gz' {sources}")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    some = any(source in sources for source in ("qrels", "erels", "labels", "relevance"))
    assert ("do not go together" if some else "nothing says which documents") in err


def test_compare_with_a_baseline(here, ok, run):
    names = sorted(p.name.removesuffix(".gz") for p in here.glob("*.gz"))
    line = f"compare '*.gz' --qrels few.qrels --model uniform --baseline {names[1]}"
    others = [names[0], *names[2:]]
    content = json.loads(ok(f"{line} --format json"))
    assert [(pair["a"], pair["b"]) for pair in content["pairs"]] == [(a, names[1]) for a in others]
    table = list(csv.DictReader(ok(f"{line} --format csv").splitlines()))
    assert [row["a"] for row in table] == others
    assert f"pairs with the baseline {names[1]}" in ok(line)
    status, _, err = run("compare '*.gz' --qrels few.qrels --baseline absent")
    assert (status, err.count("\n")) == (2, 1)
    assert f"no system is named 'absent'; name one of {names[0]}" in err


def test_compare_with_a_rope_and_a_residual(here, ok):
    line = "compare '*.gz' --qrels few.qrels --model uniform --scope pool"
    plain = json.loads(ok(f"{line} --format json"))
    content = json.loads(ok(f"{line} --rope .01 --residual .005 --format json"))
    assert (content["meta"]["rope"], content["meta"]["residual"]) == (0.01, 0.005)
    pool = rb.Pool.from_runs(rb.read_runs(sorted(here.glob("*.gz"))))
    apart = unlikeness(likeness(pool))
    for pair, same, more in zip(content["pairs"], plain["pairs"], apart, strict=True):
        assert 0 < pair["p_rope"] < 1
        assert pair["sd"] ** 2 == pytest.approx(same["sd"] ** 2 + more * 0.005**2)
        assert set(pair) == {*same, "p_rope"}
    text = ok(f"{line} --rope .01 --residual .005")
    assert "too small to matter: nearer to 0 than 0.01" in " ".join(text.split())
    assert "AP of lists to rank 60, by the pool alone, residual 0.005\n" in text


def test_compare_with_ranks(here, ok, run):
    line = "compare '*.gz' --qrels few.qrels --model uniform --ranks"
    content = json.loads(ok(f"{line} --format json"))["systems"]
    added = ["p_best", "rank_low", "rank_median", "rank_high"]
    assert [list(entry) for entry in content] == [["system", "expected", "sd", *added]] * 4
    assert sum(entry["p_best"] for entry in content) == pytest.approx(1)
    table = list(csv.DictReader(ok(f"{line} --format csv").splitlines()))
    assert [float(row["p_best"]) for row in table] == [entry["p_best"] for entry in content]
    text = ok(line)
    assert all(name in text for name in ("P(best)", "rank (90% interval)"))
    table = ok(f"{line} --measure AP --measure P@10 --format csv").splitlines()
    assert table[0].startswith("measure,system,expected")
    assert len(table) == 1 + 2 * 4
    status, _, err = run(f"{line} --rope .01 -o out.csv")
    assert (status, "a CSV holds one table" in err) == (2, True)


def test_compare_on_a_population_of_topics(here, ok):
    line = "compare '*.gz' --qrels few.qrels --model uniform --population"
    content = json.loads(ok(f"{line} --format json"))["pairs"]
    for pair in content:
        assert pair["sd_population"] >= pair["sd"]
        signs = ("p_less_population", "p_equal_population", "p_greater_population")
        assert sum(pair[name] for name in signs) == pytest.approx(1)
    assert "topics like these" in ok(line)
    assert "p_less_population" in ok(f"{line} --format csv").splitlines()[0]


def test_compare_with_a_forecast(here, ok, run):
    line = "compare '*.gz' --qrels few.qrels --model uniform --scope pool --forecast .9"
    content = json.loads(ok(f"{line} --format json"))["pairs"]
    needed = [pair["judgments_needed"] for pair in content]
    for pair, judgments in zip(content, needed, strict=True):
        sure = max(pair["p_less"], pair["p_greater"]) + pair["p_equal"] / 2 >= 0.9
        assert (judgments == 0) == sure
    table = list(csv.DictReader(ok(f"{line} --format csv").splitlines()))
    assert [int(row["judgments_needed"]) for row in table] == needed
    assert "more judgments" in ok(line)
    status, _, err = run("compare '*.gz' --qrels few.qrels --forecast .9 --measure Bpref")
    assert (status, "forecast by another measure" in err) == (2, True)


def test_compare_per_topic(here, ok, run):
    first, second, third, _ = sorted(p.name.removesuffix(".gz") for p in here.glob("*.gz"))
    line = f"compare {first}.gz {second}.gz --qrels few.qrels --model uniform --per-topic"
    content = json.loads(ok(f"{line} --format json"))
    topics = content["per_topic"]
    assert [(row["a"], row["b"]) for row in topics] == [(first, second)] * 6
    assert sum(row["share"] for row in topics) == pytest.approx(1)
    mean = sum(row["expected_difference"] for row in topics) / 6
    assert mean == pytest.approx(content["pairs"][0]["expected_difference"])
    table = list(csv.DictReader(ok(f"{line} --format csv").splitlines()))
    assert list(table[0]) == ["a", "b", "topic", "expected_difference", "sd", "share"]
    assert f"{first} minus {second}: the 6 topics most in doubt, of 6\n" in ok(line)
    line = "compare '*.gz' --qrels few.qrels --model uniform --per-topic"
    table = ok(f"{line} --baseline {third} --format csv").splitlines()
    assert len(table) == 1 + 3 * 6
    assert " minus " in ok(f"{line} --baseline {third}")
    table = ok(f"{line} --baseline {third} --measure AP --measure P@10 --format csv").splitlines()
    assert table[0].startswith("measure,a,b,topic")
    assert len(table) == 1 + 2 * 3 * 6
    status, _, err = run(line)
    assert (status, "give two RUNS, or --baseline RUN" in err) == (2, True)


def test_compare_refuses_runs_that_the_fit_does_not_know(here, ok, run):
    first, second, *_ = sorted(p.name for p in here.glob("*.gz"))
    ok(f"fit {first} {second} --qrels few.qrels -o fit.nc --quiet")
    status, _, err = run("compare '*.gz' --relevance fit.nc")
    assert status == 2
    assert "no run is stored under the name" in err
    ok(f"compare {first} {second} --relevance fit.nc")
    status, _, err = run(f"compare {first} {second} --relevance fit.nc --depth 10")
    assert status == 2
    assert err.rstrip().endswith("give --depth 100")
    ok("simulate -o other --n-topics 2 --n-systems 2 --seed 9")
    status, _, err = run("compare other/runs --relevance fit.nc")
    assert status == 2
    assert "stored under the name" in err
    # lists go further down than the pool of two, in which other systems' documents are lacking
    ok("fit '*.gz' --qrels few.qrels --depth 10 --model uniform -o all.nc --quiet")
    status, _, err = run(f"compare {first} {second} --relevance all.nc --depth 10")
    assert status == 2
    assert "the fit is of 4 runs, and 2 of them are given: the pool, of depth 10, lacks " in err
    names = ", ".join(sorted(p.name.removesuffix(".gz") for p in here.glob("*.gz")))
    assert err.rstrip().endswith(f"give all of its runs, {names}")


def test_build_says_for_whom_and_why_it_ended(here, ok):
    first, second, *_ = sorted(p.name for p in here.glob("*.gz"))
    line = f"build {first} {second} --truth qrels.txt --algorithm mtc"
    ok(f"{line} --budget 20 -o out.qrels")
    made = meta(here / "out.qrels")
    assert made["judged_for"] == [first.removesuffix(".gz"), second.removesuffix(".gz")]
    assert (made["reason"], made["judged"]) == ("budget", 20)
    ok(f"{line} --budget 0 -o none.qrels")
    assert len(rb.read_qrels(here / "none.qrels")) == 0
    assert made["meta"]["inputs"].keys() == {first, second, "qrels.txt"}
    assert len((here / "out.qrels").read_text().splitlines()) == 20
    ok(f"{line} --confidence .8 -o sure.qrels")
    assert meta(here / "sure.qrels")["reason"] == "reached"
    assert meta(here / "sure.qrels")["confidence"] >= 0.8


def planned(here):
    """Write a design over the collection's topics, of two sites, one held out of three topics."""
    systems = sorted(p.name.removesuffix(".gz") for p in here.glob("*.gz"))
    (here / "sites.txt").write_text("".join(f"{s} site{n // 2}\n" for n, s in enumerate(systems)))
    rows = [f"{501 + t},{int(t < 3)},1\n" for t in range(6)]
    (here / "design.csv").write_text("topic,site0,site1\n" + "".join(rows))
    return systems


def test_build_and_next_under_a_hold_out_design(here, ok, run):
    systems = planned(here)
    under = "--hold-out design.csv --groups sites.txt"
    ok(f"build '*.gz' --truth qrels.txt --algorithm mtc --budget 30 {under} -o held.qrels")
    design, groups = rb.read_hold_out("design.csv"), rb.read_groups("sites.txt")
    runs, truth = rb.read_runs(str(here / "*.gz")), rb.read_qrels("qrels.txt")
    pool = rb.Pool.from_runs(runs)
    result = rb.build(
        pool, truth, "mtc", budget=30, confidence=None, hold_out=design, groups=groups
    )
    written = rb.read_qrels("held.qrels")
    assert written == result.judgments.to_qrels()
    assert written.hold_out == design.digest
    made = meta(here / "held.qrels")
    inputs = made.pop("meta")["inputs"]
    assert made == json.loads(json.dumps(result.meta()))
    assert {"design.csv", "sites.txt"} < inputs.keys()
    assert made["judged_for"]["501"] == systems
    assert made["judged_for"]["506"] == systems[2:]
    halves = [
        sum(made["topics"][str(t)]["judged"] for t in of)
        for of in ((501, 502, 503), (504, 505, 506))
    ]
    assert halves == [15, 15]

    shown = json.loads(ok(f"next '*.gz' --qrels held.qrels --algorithm mtc {under} --format json"))
    chosen = rb.next_documents(
        pool, rb.read_qrels("held.qrels"), algorithm="mtc", hold_out=design, groups=groups
    )
    assert shown == [asdict(document) for document in chosen]
    ok("fit '*.gz' --qrels held.qrels --model rtc -o held.nc")
    assert meta(here / "held.nc")["judged_for"] == made["judged_for"]
    assert rb.Fit.load("held.nc").judgments.hold_out == design.digest


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("build '*.gz' --truth qrels.txt {design} {groups} -o x", "judged by a budget, not until"),
        ("build '*.gz' --truth qrels.txt {design} -o x", "give groups= or --groups"),
        ("build '*.gz' --truth qrels.txt --budget 3 {groups} -o x", "give hold_out= or --hold-out"),
        ("next '*.gz' --qrels few.qrels {design} {groups}", "was judged for"),
        ("next '*.gz' --qrels held.qrels", "give the design under which they were made"),
        (
            "build '*.gz' --truth qrels.txt --budget 3 --hold-out few.csv {groups} -o x",
            "the design has no topic 506; plan a design over these topics",
        ),
        (
            "next '*.gz' --qrels held.qrels --hold-out other.csv {groups}",
            "were made under hold-out",
        ),
        ("merge held.qrels qrels.txt -o x", "under different hold-out designs"),
        ("next '*.gz' --qrels held.qrels --hold-out absent.csv {groups}", "absent.csv"),
    ],
)
def test_what_a_hold_out_design_refuses(here, run, command, said):
    planned(here)
    text = (here / "design.csv").read_text()
    (here / "few.csv").write_text(text.replace("506,0,1\n", ""))
    (here / "other.csv").write_text(text.replace("506,0,1", "506,1,1"))
    options = {"design": "--hold-out design.csv", "groups": "--groups sites.txt"}
    budget = "--algorithm ip --budget 9 {design} {groups} -o held.qrels".format(**options)
    assert run(f"build '*.gz' --truth qrels.txt {budget}")[0] == 0
    status, _, err = run(command.format(**options))
    assert status == 2
    assert said in err
    assert not (here / "x").exists()


def test_judged_for_is_typed_stored_or_inferred_and_said_so(here, ok, run):
    first, *_ = sorted(p.name.removesuffix(".gz") for p in here.glob("*.gz"))
    _, _, err = run("fit '*.gz' --qrels few.qrels -o a.nc")
    assert "inferred" not in err
    status, _, err = run(f"fit '*.gz' --qrels few.qrels --judged-for {first} -o b.nc")
    assert status == 0
    assert f"the systems judged for are {first}; when few.qrels was made, they were " in err
    assert meta(here / "b.nc")["judged_for"] == [first]
    (here / "plain.qrels").write_bytes((here / "few.qrels").read_bytes())
    status, _, err = run("fit '*.gz' --qrels plain.qrels -o c.nc")
    assert status == 0
    assert "inferred" in err
    assert first in meta(here / "c.nc")["judged_for"]
    assert "say which: judged_for= or --judged-for" in err
    _, _, err = run("fit '*.gz' --qrels plain.qrels -o c.nc --quiet")
    assert err == ""
    status, _, err = run("compare '*.gz' --qrels few.qrels --judged-for ' '")
    assert (status, "a system without a name" in err) == (2, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare '*.gz' --labels labels.csv", "give --qrels, too"),
        ("compare '*.gz' --erels some.erels", "these sources of relevance do not go together"),
        ("next '*.gz' --labels labels.csv", "give --qrels, too"),
    ],
)
def test_judged_for_is_said_of_judgments(here, run, line, said):
    (here / "labels.csv").write_text("topic,worker,docno,label\n1,w,d,1\n")
    status, _, err = run(f"{line} --judged-for A,B")
    assert status == 2
    assert said in err


def test_next_says_which_and_why(here, ok):
    line = "next '*.gz' --qrels few.qrels --algorithm mtc --count 3 --format"
    content = json.loads(ok(f"{line} json"))
    columns = {"topic", "docno", "weight", "p", "retrieved_by", "why"}
    assert [set(entry) for entry in content] == [columns] * 3
    assert all(entry["why"].startswith("systems differ: ") for entry in content)
    assert "weight: by how much the judgment can move" in ok(f"{line} table")
    judged = {tuple(row.split()[:3:2]) for row in (here / "few.qrels").read_text().splitlines()}
    assert not judged & {(entry["topic"], entry["docno"]) for entry in content}
    assert len(ok(f"{line} csv").splitlines()) == 4
    assert content[0]["docno"] in ok(f"{line} table")


def test_next_says_once_what_to_repeat_of_whom_judging_is_for(here, run):
    (here / "mine.qrels").write_text((here / "few.qrels").read_text())
    names = ",".join(rb.read_runs(sorted(map(str, here.glob("*.gz")))))
    said = f"add --judged-for {names}"
    line = "next '*.gz' --algorithm hierarchical:map --count 2"
    status, out, err = run(line)
    assert status == 0
    assert err.count(said) == 1
    assert said not in out
    known = (
        f"{line} --qrels mine.qrels",  # for whom these were made is inferred, and may be fewer
        f"{line} --qrels mine.qrels --judged-for {names}",
        f"{line} --qrels few.qrels",  # its .meta.json says for whom
        f"{line} --qrels mine.qrels --pair {','.join(names.split(',')[:2])}",
        "next '*.gz' --qrels mine.qrels --algorithm mtc --count 2",
    )
    for other in known:
        status, _, err = run(other)
        assert status == 0
        assert "these documents are chosen for all" not in err


# labels without an error make the best of four runs look like one made from them
@pytest.mark.filterwarnings("ignore:the judges' labels go with:rtc_bayes.FitWarning")
@pytest.mark.parametrize(
    ("qrels", "model"),
    [("", "hierarchical"), ("--qrels few.qrels", "hierarchical"), ("--qrels few.qrels", "layered")],
)
def test_labels_of_a_judge_beside_or_instead_of_judgments(here, ok, qrels, model):
    """`compare`, `fit` and `next` say with labels what Python says."""
    (here / "llm.txt").write_text((here / "qrels.txt").read_text())
    given = f"{qrels} --labels llm.txt --depth 10"
    runs, labels = rb.read_runs(str(here / "*.gz")), rb.read_labels("llm.txt")
    estimand = rb.Estimand(depth=10)
    read = rb.read_qrels(here / "few.qrels") if qrels else None
    pool = estimand.pool(runs, read)
    judgments = (
        estimand.judgments(pool, read)
        if qrels
        else rb.Judgments.none(pool, judged_for=pool.systems)
    )
    expected = rb.fit(pool, judgments, model=f"{model}:map", labels=labels)
    compared = rb.compare(pool, expected, estimand).to_dict()
    line = f"'*.gz' {given} --model {model} --method map"
    ok(f"compare {line} -o c.json")
    content = json.loads((here / "c.json").read_text())
    assert content["pairs"] == compared["pairs"]
    assert "llm.txt" in content["meta"]["inputs"]
    ok(f"fit {line} --quiet -o fit.nc")
    assert rb.Fit.load("fit.nc").judgments.judge_labels.n_labels == labels.n_labels
    chosen = rb.next_documents(
        pool, judgments, estimand, algorithm=f"{model}:map", labels=labels, count=2
    )
    said = ok(f"next '*.gz' {given} --algorithm {model}:map --count 2 --format json")
    assert json.loads(said) == [asdict(document) for document in chosen]


@pytest.mark.parametrize("algorithm", ["hierarchical:map", "layered:map"])
def test_build_with_labels_and_what_takes_none(here, ok, run, algorithm):
    (here / "llm.txt").write_text((here / "qrels.txt").read_text())
    build = "build '*.gz' --truth qrels.txt --depth 10 --budget 12 -o out.qrels --labels llm.txt"
    ok(f"{build} --algorithm {algorithm}")
    assert len((here / "out.qrels").read_text().splitlines()) == 12
    assert any("llm.txt" in path for path in meta(here / "out.qrels")["meta"]["inputs"])
    for line in (f"{build} --algorithm mtc", "fit '*.gz' --labels llm.txt --model rtc -o f.nc"):
        status, out, err = run(line)
        assert (status, out) == (2, "")
        assert "takes no labels of judges; use robust, hierarchical or layered" in err
    assert "no judgments; give --qrels, or --labels, or both" in run("fit '*.gz' -o f.nc")[2]
    assert (
        "labels of judges say nothing to logistic; give by= (--by) a model"
        in run("next '*.gz' --by-topic --qrels few.qrels --labels llm.txt")[2]
    )


# a class, as Python writes its values
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "build '*.gz' --truth qrels.txt --algorithm mtc --budget 9 -o b",
            "Judging result: mtc: ",
        ),
        ("fit '*.gz' --qrels few.qrels --model rtc -o f.nc", "\n    judgments: 60 judged, "),
        (
            "allocate '*.gz' --truth qrels.txt --budget 40 --by zobel -o a",
            "Staged allocation: ",
        ),
        ("merge few.qrels other.qrels --conflict majority -o m", " yes "),
    ],
)
def test_commands_speak_in_words(here, ok, line, said):
    few = (here / "few.qrels").read_text().splitlines()
    (here / "other.qrels").write_text("\n".join(row[:-1] + "01"[row[-1] == "0"] for row in few))
    printed = ok(line)
    assert said in printed
    assert not re.search(r"\b[A-Z]\w+\(|True|False", printed)


def test_next_begins_with_nothing_as_python_does(here, ok):
    pool = rb.Estimand(depth=10).pool(rb.read_runs(sorted(here.glob("*.gz"))))
    nothing = rb.Judgments.none(pool, judged_for=pool.systems)
    chosen = rb.next_documents(pool, nothing, algorithm="hierarchical:map", count=3)
    said = ok("next '*.gz' --depth 10 --algorithm hierarchical:map --count 3 --format json")
    assert json.loads(said) == [asdict(document) for document in chosen]


def test_next_on_judged_topics_as_python_does(here, ok, run):
    line = "next '*.gz' --algorithm mtc --count 3 --topics judged --format json"
    few = rb.read_qrels("few.qrels")
    first, *_ = few.topics
    (here / "one.qrels").write_text("".join(f"{first} 0 {d} {g}\n" for d, g in few[first].items()))
    said = json.loads(ok(f"{line} --qrels one.qrels"))
    assert {document["topic"] for document in said} == {first}
    judged = rb.Estimand(topics="judged")
    one = rb.read_qrels("one.qrels")
    pool = judged.pool(rb.read_runs(sorted(here.glob("*.gz"))), one)
    chosen = rb.next_documents(pool, one, judged, algorithm="mtc", count=3)
    assert said == [asdict(document) for document in chosen]
    for begun in (line, "build '*.gz' --truth qrels.txt --budget 9 --topics judged -o b"):
        assert "(--topics judged), and none is judged yet; take all, topics=" in run(begun)[2]


def test_next_for_one_pair_as_python_does(here, ok, run):
    runs, qrels = rb.read_runs(str(here / "*.gz")), rb.read_qrels(here / "few.qrels")
    a, b, *_ = runs
    line = "next '*.gz' --qrels few.qrels --algorithm mtc --count 3 --format"
    estimand = rb.Estimand()
    pool = estimand.pool(runs, qrels)
    for pair, typed in (((a, b), f"{a},{b}"), ("least", "least")):
        expected = rb.next_documents(pool, qrels, estimand, algorithm="mtc", pair=pair, count=3)
        content = json.loads(ok(f"{line} json --pair {typed}"))
        assert content == [asdict(document) for document in expected]
        names = " and ".join(expected.pair)
        assert f"{names}, confidence {expected.confidence:.3f}" in ok(
            f"{line} table --pair {typed}"
        )
    title = " ".join(ok(f"{line} table").split())
    assert f"least sure: {names}, confidence" in title
    by = "by mean probabilities, without the residual, for choosing documents"
    assert f"({by}; compare says how sure to be)" in title
    assert "give two systems as A,B, or least" in run(f"{line} table --pair {a}")[2]
    status, _, err = run(f"{line} table --pair {a},{b}x")
    assert (status, f"no system is named '{b}x'; name one of {b}" in err) == (2, True)


def test_that_topics_are_without_judgments_goes_without_saying_where_topics_are_chosen(here, run):
    first = [line for line in (here / "qrels.txt").read_text().splitlines() if line[:3] == "501"]
    (here / "one.qrels").write_text("\n".join(first) + "\n")
    status, out, err = run("next '*.gz' --qrels one.qrels --by-topic --count 1")
    assert (status, err) == (0, "")
    assert "1 topic judged" in " ".join(out.split())


def test_next_by_another_measure_as_python_does(here, ok, run):
    runs, qrels = rb.read_runs(str(here / "*.gz")), rb.read_qrels(here / "few.qrels")
    estimand = rb.Estimand("P@5")
    line = "next '*.gz' --qrels few.qrels --count 3 --measure P@5"
    expected = rb.next_documents(
        estimand.pool(runs, qrels), qrels, estimand, algorithm="mtc", count=3
    )
    content = json.loads(ok(f"{line} --algorithm mtc --format json"))
    assert content == [asdict(document) for document in expected]
    assert ok(f"{line} --algorithm mtc").startswith("mtc by P@5, ")
    assert ok(f"{line} --algorithm ip").startswith("ip, ")
    graded = (here / "few.qrels").read_text().replace(" 1\n", " 2\n")
    (here / "graded.qrels").write_text(graded)
    graded_line = line.replace("few", "graded").replace("P@5", "nDCG@5")
    title = " ".join(ok(f"{graded_line} --algorithm mtc").split())
    assert "(by mean probabilities, without the residual, " in title
    assert "; judged grades go up to 2, and those from 1 on count as relevant" in title
    assert title.partition("(--relevance-level 1)")[2].startswith(", and gains are by grade")
    assert "choose them for AP or nDCG" in run(line.replace("P@5", "ERR@5"))[2]
    first = rb.Pool.from_runs(runs, depth=5)
    grades: dict[str, dict[str, int]] = {topic: {} for topic in first.topics}
    for t, docno in zip(first.topic_of, first.docnos, strict=True):
        grades[first.topics[t]][docno] = 0
    rb.write_qrels(rb.Qrels(grades), here / "five.qrels")
    title = ok(f"{line.replace('few', 'five')} --algorithm mtc")
    assert "\nno document left can tell the systems apart\n" in title


def test_a_plan_without_qrels_says_what_they_are_for(here, capsys):
    assert main(["plan", "*.gz", "--budget", "60"]) == 2
    said = capsys.readouterr().err
    assert "a plan starts from a pilot, and --qrels, the judgments of the pilot, is missing" in said
    assert "if there are none yet, judge about eight documents on each of ten topics" in said
    assert "rtc-bayes next" in said


def test_plan_says_what_python_says(here, ok, run):
    line = (
        "plan '*.gz' --qrels few.qrels --budget 60 --difference .04 --confidence .9 --population "
        "--topic-cost 2 --judgment-cost .5 --judgments-per-topic 12 --judgments-per-topic 20 "
        "--repetitions 1 --algorithm mtc/rtc:map --seed 3 --depth 20"
    )
    about, qrels = rb.Estimand(depth=20), rb.read_qrels(here / "few.qrels")
    pool = about.pool(rb.read_runs(*sorted(here.glob("*.gz"))), qrels)
    made = rb.plan(
        pool,
        qrels,
        60,
        about,
        difference=0.04,
        confidence=0.9,
        population=True,
        topic_cost=2,
        judgment_cost=0.5,
        judgments_per_topic=[12, 20],
        repetitions=1,
        algorithm="mtc/rtc:map",
        seed=3,
    )
    shown = json.loads(ok(f"{line} --format json"))
    ok(f"{line} -o by_command.csv")
    made.to_csv(here / "by_python.csv")
    assert (here / "by_python.csv").read_text() == (here / "by_command.csv").read_text()
    assert json.loads(made.to_json())["rows"] == shown["rows"]
    assert shown["sentence"] == made.sentence
    for row, expected in zip(shown["rows"], made.to_dict()["rows"], strict=True):
        assert row == pytest.approx(expected)
    assert set(shown["meta"]["inputs"]) >= {"few.qrels"}
    ok(f"{line} -o plan.csv")
    assert [float(row["sd"]) for row in rows(here / "plan.csv")] == pytest.approx(
        made.to_frame().sd.tolist()
    )
    table = ok(line)
    assert " ".join(made.sentence.split()) in " ".join(table.split())
    first, second = pool.systems[:2]
    pair = json.loads(ok(f"{line} --pair {first},{second} --format json"))
    stays, of_topic = made.residual
    variance = (made.unjudged_pilot[0] + made.between[0]) / 6 + stays[0] + of_topic[0] / 6
    assert pair["rows"][0]["sd"] == pytest.approx(variance**0.5)
    status, _, error = run(f"{line} --pair least")
    assert status == 2
    assert "give two systems as A,B" in error


def test_merged_judgments_keep_who_judged_what(here, ok, run):
    (here / "ours").write_text("1 0 d1 1\n1 0 d2 0\n1 0 d4 -1\n")
    (here / "theirs").write_text("1 0 d2 2\n1 0 d3 1\n1 0 d4 0\n")
    (here / "theirs.meta.json").write_text('{"judged_for": ["bm25"]}')
    status, _, err = run("merge ours theirs -o merged.qrels")
    assert (status, (here / "merged.qrels").exists()) == (2, False)
    assert "1 document is judged differently: d2 of topic 1 (ours: 0, theirs: 2)" in err
    assert "--conflict" in err
    said = ok("merge ours theirs --conflict highest -o merged.qrels")
    assert "4 judged, 2 by several" not in said
    assert "4 judged, 1 by several, 1 in conflict, settled by highest" in said
    merged = rb.merge(rb.read_qrels("ours"), rb.read_qrels("theirs"), conflict="highest")
    assert rb.read_qrels("merged.qrels") == merged.qrels
    content = meta(here / "merged.qrels")
    assert set(content.pop("meta")["inputs"]) == {"ours", "theirs"}
    assert content.pop("digest") == digest_file("merged.qrels")
    assert content == json.loads(json.dumps(merged.meta()))
    assert content["judged_by"]["1"] == {
        "d1": ["ours"],
        "d2": ["ours", "theirs"],
        "d3": ["theirs"],
        "d4": ["theirs"],
    }
    assert content["sources"][1]["judged_for"] == ["bm25"]
    assert content["judged_for"] is None
    assert ok("merge ours theirs --conflict highest -o merged.qrels --quiet") == said


def test_of_many_conflicts_the_terminal_gets_the_first(here, ok):
    for name, grade in {"ours": 0, "theirs": 1}.items():
        (here / name).write_text("".join(f"1 0 d{n} {grade}\n" for n in range(10, 40)))
    said = ok("merge ours theirs --conflict highest -o merged.qrels")
    assert "20 of 30, merged.qrels.meta.json has all" in " ".join(said.split())
    assert "d29" in said
    assert "d30" not in said
    assert len(meta(here / "merged.qrels")["conflicts"]) == 30


def test_robustness_then_report(here, ok, run):
    line = "robustness '*.gz' --qrels qrels.txt --systems 3 --jobs 1 --quiet --algorithms"
    ok(f"{line} 'ip,rtc[folds=5,intercept=yes]:map,mtc' --trials 2 -o study")
    summary = json.loads((here / "study" / "summary.json").read_text())
    assert list(summary) == ["ip", "rtc[folds=5,intercept=yes]:map", "mtc"]
    assert "few.qrels" not in (here / "study" / "meta.json").read_text()
    assert "qrels.txt" in json.loads((here / "study" / "meta.json").read_text())["inputs"]
    status, _, err = run(f"{line} mtc --trials 2 -o study")
    assert status == 2
    assert err.count("\n") == 1
    assert "study/report.html" in ok("report study")
    page = (here / "study" / "report.html").read_text()
    assert "<img" in page
    ok("report study -o elsewhere.html")
    assert (here / "elsewhere.html").read_text() == page
    assert run("report nowhere")[0] == 2


MODEL = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rtc_bayes.relevance import PointEstimate


@dataclass(frozen=True)
class Mine:
    name: ClassVar[str] = "mine"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments):
        return PointEstimate(np.full(judgments.pool.n_documents, 0.2))
"""


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("compare '*.gz' --qrels few.qrels --model mine.py", "out.csv"),
        ("fit '*.gz' --qrels few.qrels --model mine.py:map", "out.nc"),
        ("next '*.gz' --qrels few.qrels --algorithm mine.py", "out.csv"),
        ("build '*.gz' --truth qrels.txt --budget 3 --algorithm mine.py", "out.qrels"),
    ],
)
def test_a_model_file_is_an_input(here, ok, line, out):
    (here / "mine.py").write_text(MODEL)
    ok(f"{line} -o {out}")
    made = meta(here / out)
    inputs = made.get("inputs") or made["meta"]["inputs"]
    assert inputs["mine.py"] == digest_text(MODEL)


def test_a_fit_is_not_written_as_another_kind_of_file(here, run):
    """It is said before anything is read."""
    status, _, err = run("fit nowhere --qrels few.qrels -o fit.csv")
    assert (status, "fit.csv: netCDF and zarr are written" in err) == (2, True)


def test_a_study_does_not_go_on_with_a_changed_model(here, ok, run):
    (here / "mine.py").write_text(MODEL)
    line = "robustness '*.gz' --qrels qrels.txt --systems 3 --jobs 1 --quiet --trials 2 -o study"
    ok(f"{line} --algorithms mtc/mine.py")
    ok(f"{line} --algorithms mtc/mine.py")
    (here / "mine.py").write_text(MODEL.replace("0.2", "0.3"))
    status, _, err = run(f"{line} --algorithms mtc/mine.py")
    assert status == 2
    assert "mine.py has changed since the study began; resume with the same, or name " in err


def test_models_lists_options_with_defaults(ok):
    text = ok("models")
    assert "rtc:" in text
    assert "uniform:" in text
    assert "cell_weight=1 " in text
    assert "map (default)" in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("evaluate absent.gz --qrels qrels.txt", "absent.gz: no such file"),
        ("evaluate bad.run --qrels qrels.txt", "bad.run:2: "),
        ("evaluate '*.gz' --qrels qrels.txt --measure nonsense", "nonsense"),
        ("evaluate '*.gz' --qrels qrels.txt -o no/such/folder.json", "folder does not exist"),
        ("compare '*.gz' --qrels few.qrels --depth 0", "depth is 0"),
        ("compare '*.gz' --qrels few.qrels --rope 0", "rope is 0"),
        ("compare '*.gz' --qrels few.qrels --residual -1", "residual is -1"),
        ("compare '*.gz' --qrels few.qrels --model absent", "unknown model"),
        ("compare '*.gz' --qrels few.qrels --option folds", "--option folds"),
        ("compare '*.gz' --qrels few.qrels --seed -1", "--seed"),
        ("fit '*.gz' --qrels few.qrels --model rtc --method nuts -o x.nc", "nuts"),
        ("fit '*.gz' --qrels few.qrels --model rtc --draws 100 -o x.nc", "draws"),
        ("fit '*.gz' --qrels few.qrels", "--output"),
        ("next '*.gz' --qrels few.qrels --algorithm absent", "absent"),
        ("robustness '*.gz' --qrels qrels.txt --algorithms mtc --systems 3 --jobs 0 -o s", "jobs"),
        ("evaluate --nonsense", "--nonsense"),
        ("nonsense", "nonsense"),
        ("compare '*.gz' --qrels few.qrels --probability normal", "write --form"),
        ("compare '*.gz' --qrels few.qrels --jobs 0", "jobs is 0"),
    ],
)
def test_bad_input_is_one_line_and_status_2(here, run, line, said):
    (here / "bad.run").write_text("501 Q0 d1 1 3.5 tag\n501 Q0 d2 2 high tag\n")
    status, out, err = run(line)
    assert (status, out) == (2, "")
    assert err.startswith("rtc-bayes: ")
    assert err.count("\n") == 1
    assert said in err
    assert not (here / "x.nc").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare R --qrel x", "no such option: --qrel; write --qrels, or see rtc-bayes compare"),
        ("compare R --qrel=x", "no such option: --qrel; write --qrels, or see rtc-bayes compare"),
        ("build R --no-unsen", "no such option: --no-unsen; write --no-unseen, or see rtc-bayes b"),
        ("robustness R --n-trials 3", "--n-trials; write --trials, or see rtc-bayes robustness"),
        ("compare R --probability x", "--probability; write --form, or see rtc-bayes compare"),
        ("build R --model rtc", "no such option: --model; write --algorithm, or see rtc-bayes b"),
        ("hold-out plan R --baseline 4", "--baseline; write --baseline-topics, or see rtc-bayes h"),
        ("hold-out plan R --most-runs 4", "--most-runs; write --most-systems, or see rtc-bayes h"),
        ("hold-out plan R --cost a=4", "--cost; write --costs, or see rtc-bayes hold-out plan"),
        ("reusability R --pool-depth 4", "--pool-depth; write --depth, or see rtc-bayes reusabil"),
        ("plan R --level .9", "--level; write --confidence, or see rtc-bayes plan"),
        ("robustness R --truth complete", "no such word: --truth complete; write --truth all, or"),
        (
            "topics R --solver greedy_tau -o x.csv",
            "no such word: --solver greedy_tau; write --solver",
        ),
        ("allocate R --truth q --budget 3 -o x --strategy random", "write --strategy ra, or"),
        ("allocate R --truth q --budget 3 -o x --strategy subset", "write --strategy sa, or"),
        ("extend R --qrels q --how uniform", "no such option: --how; write --strategy, or see"),
        ("labels x.csv --rel 2", "no such option: --rel; write --relevance-level, or see"),
        (
            "evaluate R --depth 10",
            "no such option: --depth; write --judged-depth, or see rtc-bayes",
        ),
        ("allocate R --truth q --budget 3 -o x --scores y", "--scores; write --write-scores, or"),
        ("fit R --probability x", "no such option: --probability; see rtc-bayes fit --help"),
        ("compare R --trials 3", "no such option: --trials; see rtc-bayes compare --help"),
        ("compare R -qrels x", "no such option: -qrels; write --qrels, or see rtc-bayes compare"),
        (
            "compare R --format xml",
            "'--format': 'xml' is not one of 'table', 'json',",
        ),
        ("compare R -x", "no such option: -x; see rtc-bayes compare --help"),
        ("--versions", "no such option: --versions; write --version, or see rtc-bayes --help"),
        ("compre R", "No such command 'compre'. Did you mean 'compare'; see rtc-bayes --help"),
        ("compare R --qrels", "requires an argument; see rtc-bayes compare --help"),
        ("models extra", "; see rtc-bayes models --help"),
    ],
)
def test_a_wrong_command_line_is_answered_by_what_was_meant(run, line, said):
    status, out, err = run(line)
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("compare R --qrels a --qrels b", "--qrels is given 2 times; give it once\n"),
        ("fit R --judged-for A --judged-for B", "2 times; give it once, as --judged-for A,B\n"),
        ("next R --pair A,B --seed 1 --pair B,C", "give it once, as --pair A,B|least\n"),
        ("evaluate R -o a.csv --output b.csv", "--output is given 2 times"),
        ("build R --unseen --no-unseen", "--unseen is given 2 times"),
        ("hold-out plan R --held 1 --held 2", "--held is given 2 times"),
    ],
)
def test_an_option_given_twice_is_refused(run, line, said):
    status, out, err = run(line)
    assert (status, out) == (2, "")
    assert said in err


def test_an_option_that_may_be_given_twice_is_not_refused(here, ok):
    line = "evaluate '*.gz' --qrels qrels.txt --quiet --quiet --format json --measure"
    scores = [json.loads(ok(f"{line} {measure}"))[measure] for measure in ("AP", "P@5")]
    assert list(json.loads(ok(f"{line} AP --measure P@5")).values()) == scores


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("merge few.qrels few.qrels -o m.qrels", "few.qrels: given 2 times; give each file once"),
        ("merge few.qrels qrels.txt -o few.qrels", "-o would write over what is read"),
        ("merge few.qrels qrels.txt -o -", "-o - names no file"),
        (
            "next '*.gz' --qrels few.qrels --audit 0.1 --costs human=1",
            "--costs says nothing with --a",
        ),
        (
            "next '*.gz' --qrels few.qrels --audit 0.1 --worth 3",
            "--worth says nothing without --co",
        ),
        ("next '*.gz' --audit 0.1 -o a.prels --count 3", "--count says nothing with -o FILE.prels"),
        (
            "next '*.gz' --qrels few.qrels --by-topic --worth 3",
            "--worth says nothing without --costs",
        ),
        (
            "next '*.gz' --qrels few.qrels --costs human=1 --algorithm mtc/rtc:map",
            "with --costs a model weighs actions, and mtc/rtc:map names a judge; give the",
        ),
        (
            "next '*.gz' --qrels few.qrels --by-topic --judged-for site01a",
            "--judged-for says nothing to logistic, which does not ask for whom; leave it out",
        ),
        ("next '*.gz' --qrels few.qrels --algorithm mtx", "'mtx', and no judge has this name; wri"),
        ("labels labels.csv --gold -o soft.erels", "--gold, and the files hold no true grade"),
        ("compare '*.gz' --erels qrels.txt", "qrels.txt: every probability is 0 or 1, as the gra"),
        ("compare '*.gz' --erels f --relevance-level 2", "--relevance-level says nothing without"),
        ("labels labels.csv --format csv", "--format says nothing without --output; give -o OUT"),
        ("labels labels.csv --judge ann", "judge 'ann' is of none; leave judge (--judge) out"),
        ("describe '*.gz' --relevance-level 2", "says nothing without judgments; give qrels"),
        ("calibrate --order rank -o c", "--order says nothing without RUNS; leave it out"),
        ("calibrate --model rtc --draws 9 -o c", "draws, chains and tune say nothing: no model"),
        (
            "robustness '*.gz' --qrels qrels.txt --algorithms mtc --chains 9 -o c",
            "no model that compares systems draws; leave them out, or name a method that draws",
        ),
        (
            "robustness '*.gz' --qrels qrels.txt --algorithms mtc --budget 9 --confidence .9 -o c",
            "confidence (--confidence) says nothing with budgets: judging ends when they are spent",
        ),
        (
            "compare site01a.gz site01b.gz --qrels qrels.txt --per-topic -o page.html",
            "--per-topic says nothing on a page; give --format table, csv or json",
        ),
        ("evaluate site01a.gz site01a.gz --qrels qrels.txt", "site01a.gz: this run is given twice"),
        ("compare '*.gz' --qrels few.qrels --measure AP --measure AP", "AP is named twice"),
        (
            "compare '*.gz' --qrels few.qrels --measure ERR --forecast .95",
            "the moments of ERR are not known, so judgments cannot be weighed",
        ),
    ],
)
def test_nothing_that_was_given_is_dropped(here, run, line, said):
    (here / "labels.csv").write_text("topic,worker,docno,label\n1,w,d,1\n")
    few = (here / "few.qrels").read_bytes()
    status, out, err = run(line)
    assert (status, out) == (2, "")
    assert said in err
    assert (here / "few.qrels").read_bytes() == few


def test_a_forecast_that_none_is_made_for_is_refused_before_the_fit(here, run, monkeypatch):
    monkeypatch.setattr(rtc_bayes.relevance, "fit", None)
    _, _, err = run("compare '*.gz' --qrels few.qrels --forecast 95")
    assert err == (
        "rtc-bayes: the confidence to forecast is 95.0; give one above 0.5 and below 1\n"
    )


def test_a_relevance_level_above_every_grade_is_said(here, run):
    for command in ("evaluate", "compare --model uniform"):
        line = f"{command} '*.gz' --qrels qrels.txt --relevance-level"
        assert "above the highest grade of the judgments, 1: none" in run(f"{line} 2")[2]
        assert "above the highest grade" not in run(f"{line} 1")[2]


def test_documents_that_erels_leave_out_are_said(here, run):
    (here / "e.txt").write_text("501 Q0 d 0.5\n")
    line = "compare '*.gz' --erels e.txt"
    code, _, err = run(line)
    assert code == 2
    assert re.search(r"e.txt: no listed probability for [\d,]+ of .* give the labels", err)
    assert run(f"{line} --default-p .5")[::2] == (0, "")
    runs = rb.read_runs(str(here / "*.gz"))
    every = [(t, d) for run in runs.values() for t in run.topics for d in run.ranking(t)]
    few = [f"{topic} Q0 {docno} 0.5\n" for topic, docno in sorted(set(every))[1:]]
    (here / "e.txt").write_text("".join(few))
    assert "taken as 0.5 (say another" in run(line)[2]
    assert run(f"{line} --default-p .5")[1:] == (run(line)[1], "")


def test_systems_judged_for_that_are_not_compared_are_said(here, run):
    line = "compare '*.gz' --qrels few.qrels --model uniform --judged-for site01a"
    said = "of systems judged for there is no run"
    assert f"{said}, site9z" in run(f"{line},site9z")[2]
    assert said not in run(line)[2]


def test_a_fit_that_must_not_be_used_is_status_1_and_writes_nothing(here, run, monkeypatch):
    def fail(*_, **__):
        raise FitError("layer 2 did not converge")

    monkeypatch.setattr(rtc_bayes.relevance, "fit", fail)
    before = set(here.iterdir())
    status, _, err = run("fit '*.gz' --qrels few.qrels -o x.nc --write-erels e.txt")
    assert (status, err) == (1, "rtc-bayes: layer 2 did not converge\n")
    assert set(here.iterdir()) == before


def test_an_interruption_is_status_130(here, run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(rtc_bayes.relevance, "fit", interrupt)
    status, _, err = run("fit '*.gz' --qrels few.qrels -o x.nc")
    assert (status, err) == (
        130,
        "rtc-bayes: interrupted; nothing is kept but what was written before\n",
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fit '*.gz' --qrels few.qrels --model rtc -o out.nc", "aggregation: converged, "),
        (
            "build '*.gz' --truth qrels.txt --algorithm ip --budget 9 -o out",
            "Stopped: the budget is spent",
        ),
        ("allocate '*.gz' --truth qrels.txt --budget 20 -o out.prels", "20 judged in 3 stages"),
    ],
)
def test_quiet_keeps_results(here, run, line, said):
    """It takes notes and progress away, and leaves all that a command prints."""
    _, loud, _ = run(line)
    status, out, err = run(f"{line} --quiet")
    assert (status, out, err) == (0, loud, "")
    assert said in out


def test_notes_are_one_line_each_and_said_once(here, run):
    (here / "short.run").write_text("501 Q0 d1 1 3.5 short\n")
    status, _, err = run("compare '*.gz' short.run --qrels few.qrels")
    assert status == 0
    assert "short (5)" in err
    assert [line.startswith("rtc-bayes: note: ") for line in err.splitlines()] == [True]
    _, _, err = run("compare '*.gz' short.run --qrels few.qrels --quiet")
    assert err == ""


@pytest.mark.slow
def test_demo_writes_a_page_that_stands_alone(here, ok):
    ok("demo -o demo --quiet --jobs 1")
    page = (here / "demo" / "report.html").read_text()
    assert "<img" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert (here / "demo" / "pairs.csv").is_file()


@pytest.mark.slow
def test_evaluate_reproduces_the_official_map_of_trec8(trec8, ok):
    official = dict(
        line.split()[:2] for line in (trec8 / "official_map.txt").read_text().splitlines()
    )
    line = f"evaluate {trec8 / 'runs'} --qrels {trec8 / 'qrels.txt.gz'} --format json"
    content = json.loads(ok(line))["AP"]
    assert {system: f"{value:.4f}" for system, value in content.items()} == official


def test_calibrate(here, ok, run):
    command = (
        "calibrate '*.gz' --qrels qrels.txt --trials 2 --systems 3 --depth 20 --jobs 1 --quiet"
    )
    out = ok(f"{command} --model uniform --option p=.3 --algorithm mtc -o study")
    assert "uniform[p=.3] by map, 2 trials" in out
    summary = json.loads((here / "study" / "calibration.json").read_text())
    assert summary["relevance"]["mean_p"] == pytest.approx(0.3)
    assert (here / "study" / "report.html").is_file()
    status, _, err = run("calibrate '*.gz' -o other")
    assert (status, "runs and judgments go together" in err) == (2, True)
    status, _, err = run(f"{command} --model uniform:map --method nuts -o other")
    assert (status, "two methods, nuts and map" in err) == (2, True)


def test_without_a_command_the_commands_are_listed(run):
    status, out, _ = run("")
    assert status == 2
    assert "Usage:" in out
    assert "compare" in out


def test_topics_without_judgments_and_a_system_alone_are_noted(run, here):
    lines = (here / "few.qrels").read_text().splitlines(keepends=True)
    first = lines[0].split()[0]
    (here / "one.qrels").write_text("".join(line for line in lines if line.split()[0] == first))
    one = sorted(here.glob("*.gz"))[0].name
    status, _, err = run(f"compare {one} --qrels one.qrels --model uniform")
    assert status == 0
    assert "of 6 without a judgment" in err
    assert "nothing to compare: " in err


def test_a_page_is_written_by_its_ending(here, ok, run):
    line = "compare '*.gz' --qrels few.qrels --model rtc"
    assert ok(f"{line} -o page.html") == "Open page.html\n"
    page = (here / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    for said in ("Which system is better?", "how far to trust them", "What to judge next"):
        assert said in page
    assert "few.qrels" in meta(here / "page.html")["inputs"]
    assert ok(f"{line} --format html").startswith("<!DOCTYPE html>")
    assert ok(f"{line} --measure AP --measure P@10 -o two.html") == "Open two.html\n"
    page = (here / "two.html").read_text()
    for said in ("By each measure", "By MAP", "By mean P@10", "What to judge next"):
        assert page.count(f"<h2>{said}</h2>") == 1


@pytest.mark.parametrize("output", ["page.htm", "page.pdf", "page.HTML", "out.tsv"])
@pytest.mark.parametrize(
    ("command", "endings"),
    [
        ("compare '*.gz' --qrels few.qrels --model rtc", ".csv, .html, .json, .md, .tex, .txt"),
        ("next '*.gz' --qrels few.qrels --algorithm mtc", ".csv, .json, .md, .tex, .txt"),
        ("evaluate '*.gz' --qrels qrels.txt", ".csv, .json, .md, .tex, .txt"),
        ("describe '*.gz'", ".csv, .html, .json, .md, .tex, .txt"),
    ],
)
def test_an_unknown_ending_is_refused_with_those_that_are_known(
    here, run, command, endings, output
):
    status, out, err = run(f"{command} -o {output}")
    ending = output.removeprefix("page").removeprefix("out")
    assert (status, out) == (2, "")
    assert err == (
        f"rtc-bayes: {output}: the ending {ending} of -o stands for no format; end it with one of "
        f"{endings}, or give --format\n"
    )
    assert not (here / output).exists()


TWICE = "would be written twice; give each -o a file of its own"


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ("-o a.html -o b.pdf", "b.pdf: the ending .pdf of -o stands for no format"),
        ("-o a.html -o nowhere/b.tex", "nowhere/b.tex: its folder does not exist"),
        ("-o a.html -o -", "-o - names no file"),
        ("-o a.tex -o a.tex", f"a.tex: {TWICE}"),
        ("-o a.tex -o ./a.tex", f"./a.tex: {TWICE}"),
        ("-o a.tex -o linked.tex", f"linked.tex: {TWICE}"),
        ("-o a.csv -o a.csv.meta.json", f"a.csv.meta.json: {TWICE}"),
        ("-o a.tex -o few.qrels --format table", "few.qrels: -o would write over what is read"),
        ("-o a.html -o a.tex --format latex", "--format says how to write one output, and -o name"),
        ("-o a.html -o a.csv --ranks --rope .01", "a CSV holds one table, not systems (--ranks)"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_the_fit(here, run, monkeypatch, outputs, said):
    monkeypatch.setattr("rtc_bayes.relevance.fit", None)
    (here / "linked.tex").symlink_to("a.tex")
    before = sorted(here.iterdir())
    status, out, err = run(f"compare '*.gz' --qrels few.qrels --model rtc {outputs}")
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(here.iterdir()) == before


def test_several_outputs_are_what_each_is_alone_and_of_one_fit(here, ok, monkeypatch):
    line = "compare '*.gz' --qrels few.qrels --model rtc --measure AP --measure P@5 --quiet"
    files = ["page.html", "pairs.csv", "all.json", "table.tex", "table.md", "table.txt"]
    alone = {}
    for file in files:
        assert ok(f"{line} -o {file}") == ""
        alone[file] = (here / file).read_text()
        (here / file).unlink()
        if file != "all.json":
            (here / f"{file}.meta.json").unlink()
    fits, fit = [], rtc_bayes.relevance.fit
    monkeypatch.setattr("rtc_bayes.relevance.fit", lambda *a, **k: fits.append(1) or fit(*a, **k))
    command = f"{line} {' '.join(f'-o {file}' for file in files)}"
    assert ok(command) == ""
    assert len(fits) == 1
    for file in ("pairs.csv", "table.tex", "table.md", "table.txt"):
        assert (here / file).read_text() == alone[file]
        assert "few.qrels" in meta(here / file)["inputs"]
    assert "Which system is better?" in (here / "page.html").read_text()
    of_measures = [each["measure"] for each in json.loads((here / "all.json").read_text())]
    assert of_measures == ["AP", "P@5"]
    assert ok(f"{line} --format latex") == alone["table.tex"]


def test_tables_for_a_paper_are_those_of_python(here, ok):
    line = "compare '*.gz' --qrels few.qrels --model rtc --ranks --quiet"
    ok(f"{line} -o table.tex -o table.md")
    pool = rb.Pool.from_runs(rb.read_runs(str(here / "*.gz")), depth=100)
    qrels = rb.read_qrels("few.qrels")
    about = rb.Estimand()
    pool = about.pool(rb.read_runs(str(here / "*.gz")), qrels)
    judgments = about.judgments(pool, qrels)
    estimand = rb.Estimand(topics=judgments.judged_topics)
    comparison = rb.compare(pool, rb.fit(pool, judgments, model="rtc"), estimand).with_ranks()
    tex, markdown = (here / "table.tex").read_text(), (here / "table.md").read_text()
    assert comparison.to_latex(judgments=judgments) == tex
    assert comparison.to_markdown(judgments=judgments) == markdown
    assert tex.count(r"\begin{tabular}") == tex.count(r"\toprule") == 2
    head = r"system & expected (95\% interval) & P(best) & rank (90\% interval) & judged@100 \\"
    assert head in tex.splitlines()
    best = comparison.ranking()[0]
    score = f"{comparison.systems_frame()['expected'].iloc[0]:.4f}"
    assert f"| {best} | {score} (" in markdown
    # numbers are those of the terminal
    shown = [row.split() for row in ok(line).splitlines()]
    [(_, expected, *_)] = [row for row in shown if row[:1] == [best] and row[1] == score]
    assert expected == score


def test_topics_go_into_a_csv_beside_a_page(here, ok):
    line = "compare site01a.gz site01b.gz --qrels few.qrels --model rtc --per-topic --quiet"
    ok(f"{line} -o page.html -o topics.csv -o topics.md")
    assert list(rows(here / "topics.csv")[0])[:3] == ["a", "b", "topic"]
    assert "| topic | expected difference |" in (here / "topics.md").read_text()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("evaluate '*.gz' --qrels qrels.txt --measure AP", "site01a"),
        ("evaluate '*.gz' --qrels qrels.txt --per-topic", "501"),
        ("describe '*.gz' --qrels qrels.txt", "site01a"),
        ("next '*.gz' --qrels few.qrels --algorithm mtc", "docno"),
        ("extend '*.gz' --qrels few.qrels", "site01a"),
    ],
)
def test_other_commands_write_their_tables_for_papers(here, ok, command, said):
    ok(f"{command} -o table.tex --quiet")
    ok(f"{command} -o table.md --quiet")
    tex, markdown = (here / "table.tex").read_text(), (here / "table.md").read_text()
    assert r"\begin{tabular}" in tex
    assert "| --- |" in markdown
    assert said in tex
    assert said in markdown
    assert (here / "table.tex.meta.json").is_file()


def test_one_run_alone_has_its_score_and_nothing_to_compare(here, run):
    one = sorted(here.glob("*.gz"))[0].name
    line = f"compare {one} --qrels few.qrels --model rtc"
    name = one.removesuffix(".gz")
    status, out, err = run(line)
    assert (status, err) == (
        0,
        f"rtc-bayes: note: nothing to compare: {name} is the only run; give two or more\n",
    )
    assert name in out
    assert "who is better" not in out
    assert run(f"{line} -o one.html --quiet") == (0, "", "")
    assert (
        "There is nothing to compare: this is the only system." in (here / "one.html").read_text()
    )
    content = json.loads(run(f"{line} --format json")[1])
    assert ([each["system"] for each in content["systems"]], content["pairs"]) == ([name], [])
    status, _, err = run(f"{line} --per-topic --quiet")
    assert (status, err) == (2, "rtc-bayes: --per-topic with one run; give two RUNS\n")


BINARY = "no judged grade is above 1, so every relevant document has grade 1"


@pytest.mark.parametrize(
    ("measure", "said", "how"),
    [
        ("nDCG@10", BINARY, "exact moments"),
        ("ERR@10", f"{BINARY} of 4, a gain of 1/16", "moments by sampling relevance 20,"),
    ],
)
def test_graded_measures_say_what_grade_binary_judgments_are(here, ok, measure, said, how):
    line = f"compare '*.gz' --qrels few.qrels --model rtc --measure {measure}"
    shown = ok(line)
    assert f"\n{said}\n6 topics, {how}" in shown
    assert "montecarlo" not in shown
    assert json.loads(ok(f"{line} --format json"))["meta"]["grades"] == said
    ok(f"{line} -o page.html")
    assert f"{measure} counts grades: {said}." in (here / "page.html").read_text()


def test_judgments_are_read_at_the_level_at_which_they_were_made(here, ok, run):
    lines = (here / "qrels.txt").read_text().splitlines()
    graded = [
        f"{line[:-1]}2" if line.endswith(" 1") and n % 2 else line for n, line in enumerate(lines)
    ]
    (here / "graded.qrels").write_text("\n".join(graded) + "\n")
    ok("build '*.gz' --truth graded.qrels --relevance-level 2 --algorithm mtc --budget 60 -o q")
    assert meta(here / "q")["relevance_level"] == 2
    note = "note: grades from 2 on count as relevant, as the .meta.json beside q says;"
    for line in (
        "compare '*.gz' --model rtc",
        "next '*.gz' --algorithm rtc:map",
        "plan '*.gz' --budget 90 --algorithm mtc/rtc:map --judgments-per-topic 2 --repetitions 1",
        "evaluate '*.gz'",
    ):
        line += " --qrels q --format json"
        status, own, err = run(line)
        assert (status, err.count(note)) == (0, 1), err
        status, same, err = run(f"{line} --relevance-level 2")
        assert status == 0, err
        assert (status, note in err, without_meta(same)) == (0, False, without_meta(own))
        status, other, err = run(f"{line} --relevance-level 1")
        assert status == 0
        assert "note: grades from 1 on count as relevant; when q was made, it was those" in err
        assert without_meta(other) != without_meta(own)
    ok("evaluate '*.gz' --qrels q --format csv -o scores.csv")
    assert meta(here / "scores.csv")["relevance_level"] == 2
    ok("robustness '*.gz' --qrels q --systems 3 --jobs 1 --trials 1 --algorithms mtc -o study")
    assert json.loads((here / "study" / "meta.json").read_text())["study"]["relevance_level"] == 2


def without_meta(text):
    content = json.loads(text)
    return content if isinstance(content, list) else {**content, "meta": None}


def test_graded_measures_say_that_they_take_the_judged_grades(here, ok):
    lines = (here / "few.qrels").read_text().splitlines()
    graded = [
        f"{line[:-1]}2" if line.endswith(" 1") and n % 2 else line for n, line in enumerate(lines)
    ]
    assert graded != lines
    (here / "graded.qrels").write_text("\n".join(graded) + "\n")
    line = "compare '*.gz' --qrels graded.qrels --model rtc --measure"
    _, grades, how = ok(f"{line} nDCG@10").splitlines()[:3]
    assert grades.startswith("judged grades, and of other documents grades like those of their ")
    assert grades.endswith(
        "may be too low together, as these may be too high: trust the order more than the scores"
    )
    assert "moments by sampling relevance 20,000 times" in how
    # a measure without grades says which of them it takes for relevant, unless its name does
    said = "judged grades go up to 2, and those from 1 on count as relevant (--relevance-level 1)"
    assert ok(f"{line} AP").splitlines()[1] == said
    assert json.loads(ok(f"{line} AP --format json"))["meta"]["relevant"] == said
    ok(f"{line} AP -o page.html")
    assert f"{said.capitalize()}." in (here / "page.html").read_text()
    said_of_2 = said.replace("those from 1", "those from 2").replace("level 1", "level 2")
    assert json.loads(ok(f"{line} AP --relevance-level 2 --format json"))["meta"]["relevant"] == (
        said_of_2
    )
    for asked in ("'AP(rel=2)'", "nDCG@10"):
        assert "relevant" not in json.loads(ok(f"{line} {asked} --format json"))["meta"]
    title = ok("evaluate '*.gz' --qrels graded.qrels").splitlines()[0]
    assert title.endswith(f"(judged), {said}")
    systems = rb.read_runs(str(here / "*.gz")).systems
    (here / "each.csv").write_text("".join(f"{s},{s}\n" for s in systems))
    for command in (
        "fit '*.gz' --qrels {} --model rtc -o fit.nc",
        "allocate '*.gz' --truth {} --budget 20 --stages 1 --strategy uniform -o {}.prels",
        "plan '*.gz' --qrels {} --budget 9 --judgments-per-topic 2 --repetitions 1 "
        "--algorithm mtc/rtc:map",
        "reusability '*.gz' --qrels {} --groups each.csv --leave-out groups -o {}.l",
        "robustness '*.gz' --qrels {} --systems 3 --trials 1 --jobs 1 --algorithms mtc -o {}.r",
        "calibrate '*.gz' --qrels {} --systems 3 --trials 1 --jobs 1 --model rtc --algorithm mtc "
        "--budget 8 --measure nDCG@10 -o {}.c",  # its probabilities are of relevance
    ):
        assert said[1:] in " ".join(ok(command.format("graded.qrels", "graded")).split()), command
        assert said[1:] not in " ".join(ok(command.format("few.qrels", "few")).split()), command
    for page in ("graded.l", "graded.c"):
        assert f"{said.capitalize()}." in (here / page / "report.html").read_text()
    ok("report graded.r")
    assert f"{said.capitalize()}." in (here / "graded.r" / "report.html").read_text()
    assert ok("evaluate '*.gz' --qrels few.qrels").splitlines()[0].endswith("relevance level 1")


@pytest.mark.parametrize(
    "line",
    [
        "robustness loose --qrels qrels.txt --algorithms mtc --trials 1 -o loose",
        "calibrate loose --qrels qrels.txt --trials 1 -o loose",
        "reusability loose --qrels qrels.txt --groups groups.csv --leave-out groups -o loose",
    ],
)
def test_no_folder_is_written_into_one_that_is_read(here, run, line):
    (here / "loose").mkdir()
    for path in here.glob("*.gz"):
        (here / "loose" / path.name).symlink_to(path)
    (here / "groups.csv").write_text("system,group\n")
    before = sorted((here / "loose").iterdir())
    status, _, err = run(line)
    assert (status, "would write over what is read" in err) == (2, True), err
    assert sorted((here / "loose").iterdir()) == before


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("compare '*.gz' --qrels few.qrels --depth ten", "'--depth': give a whole number; see"),
        ("compare '*.gz' --qrels few.qrels --rope wide", "'--rope': give a number; see"),
        (
            "build '*.gz' --truth few.qrels -o b.qrels --budget -5",
            "'--budget': give 0 or more; see",
        ),
    ],
)
def test_what_is_no_number_is_said_plainly(here, run, typed, said):
    status, _, err = run(typed)
    assert (status, said in err) == (2, True), err


def test_compare_takes_as_many_draws_as_fit_does(here, ok):
    line = "'*.gz' --qrels few.qrels --model hierarchical --method laplace --quiet --draws"
    ok(f"fit {line} 40 -o few.nc")
    compared = ok(f"compare {line} 40 --format csv")
    assert compared == ok("compare '*.gz' --relevance few.nc --format csv --quiet")
    assert compared != ok(f"compare {line} 50 --format csv")


def test_an_option_of_a_fit_is_named_where_compare_lacks_it(here, run):
    said = "no such option: --chains; give it to fit (-o FIT.nc), then write --relevance FIT.nc"
    assert said in run("compare '*.gz' --qrels few.qrels --chains 6")[2]
    assert "--ranks" not in run("next '*.gz' --qrels few.qrels --drawz 600")[2]


def test_next_begins_with_a_file_that_is_still_empty(here, run):
    (here / "grow.qrels").touch()
    status, out, err = run("next '*.gz' --qrels grow.qrels --format csv")
    assert status == 0
    assert "grow.qrels: the file is empty, so that judging begins" in err
    assert out == run("next '*.gz' --format csv")[1]


def test_judged_for_is_said_before_anything_is_judged(here, run):
    """The words of a round are those of the first, in which the file is still empty."""
    (here / "grow.qrels").touch()
    line = "next '*.gz' --qrels grow.qrels --relevance-level 2 --judged-for site01a,site02a"
    status, out, err = run(f"{line} --format csv")
    assert status == 0
    assert "the file is empty, so that judging begins" in err
    assert "add --judged-for" not in err
    assert len(out.splitlines()) == 11
    assert "of systems judged for there is no run, nope" in run(f"{line},nope")[2]


@pytest.mark.parametrize(
    ("command", "scope"),
    [
        ("fit -o f.nc", ""),
        *(
            (command, scope)
            for command in ("compare --moments plugin", "next")
            for scope in ("", "--scope pool", "--score-depth 150", "--topics judged")
        ),
    ],
)
def test_names_of_documents_that_match_nothing(here, run, command, scope):
    few = rb.read_qrels("few.qrels")
    rb.write_qrels(rb.Qrels({t: {d.lower(): g for d, g in few[t].items()} for t in few}), "l.qrels")
    model = "--algorithm uniform" if command == "next" else "--model uniform"
    status, _, err = run(f"{command} '*.gz' --qrels l.qrels {model} {scope}")
    assert status == 0
    assert err.count("check that runs and judgments name documents alike") == 1
    _, _, err = run(f"{command} '*.gz' --qrels few.qrels {model} {scope}")
    assert "name documents alike" not in err


@pytest.mark.parametrize("command", ["robustness --algorithms mtc/{}", "calibrate --model {}"])
def test_a_study_in_which_every_fit_fails_exits_with_1(here, run, command):
    for condition, status in (("True", 1), ("judgments.n_judged < 6", 0)):
        name = f"m{status}"
        model = write_model(here / f"{name}.py", condition, "raise FitError('no fit')")
        line = f"{command.format(model)} '*.gz' --qrels qrels.txt --trials 2 --systems 3"
        got, out, err = run(f"{line} --depth 10 --jobs 1 -o {name} --quiet")
        assert got == status, err
        assert ("no trial has a result: all 2 fits failed, the first: " in err) == (status == 1)
        assert "trials failed" in out or status == 0
        assert (here / name / "meta.json").exists()


@pytest.mark.parametrize(
    "line",
    [
        "evaluate '*.gz' --qrels mine.txt -o mine.txt --format csv",
        "build '*.gz' --truth mine.txt --algorithm ip --budget 3 -o mine.txt",
        "allocate '*.gz' --truth mine.txt --budget 30 -o a.prels --write-scores mine.txt",
        "fit '*.gz' --qrels mine.txt --model rtc -o fit.nc --write-erels mine.txt",
        "describe '*.gz' --qrels 'min*.txt' -o mine.txt --format csv",
        "fit '*.gz' --qrels few.qrels --model text_evidence --option scores=mine.txt -o mine.txt",
        "build '*.gz' --truth qrels.txt --algorithm 'mtc/text_evidence[scores=mine.txt]' "
        "--budget 9 -o mine.txt",
    ],
)
def test_what_is_read_is_not_written_over(here, run, line):
    text = (here / "few.qrels").read_text()
    (here / "mine.txt").write_text(text)
    status, _, err = run(line)
    assert status == 2
    assert "would write over what is read; name another file or folder" in err
    assert (here / "mine.txt").read_text() == text


def test_a_count_of_topics_is_at_least_1(here, run):
    status, _, err = run("next '*.gz' --qrels few.qrels --by-topic --count -3")
    assert (status, "count is -3; give a whole number of at least 1" in err) == (2, True)


def test_an_audit_is_drawn_before_anything_is_judged(here, ok):
    assert "documents to judge" in ok("next '*.gz' --audit 0.01 -o audit.prels")
    judged = ok("next '*.gz' --qrels few.qrels --audit 0.01 --format csv --count 3")
    assert (
        ok("next '*.gz' --audit 0.01 --format csv --count 3").splitlines()[0]
        == judged.splitlines()[0]
    )


def test_a_folder_of_a_simulation_is_none_of_runs(here, ok, run):
    ok("simulate -o sim --topics 2 --systems 3")
    status, _, err = run("describe sim")
    assert (status, "sim: this folder has its runs in another; give sim/runs" in err) == (2, True)


def test_scores_without_a_column_of_that_name(here, run):
    (here / "s.csv").write_text("system,topic,AP\nA,1,.5\nA,2,.4\n")
    status, _, err = run("topics s.csv --size 1 -o t.csv")
    assert (status, "s.csv:1: columns system, topic, AP, of which none is called score" in err) == (
        2,
        True,
    )


def test_results_stand_in_folders_of_any_name(here, ok, run):
    """Folders called after a model or a measure, and a file that is written again."""
    for name, line in {
        "rtc": "fit '*.gz' --qrels few.qrels --model rtc -o rtc/fit.nc",
        "AP": "compare '*.gz' --qrels few.qrels --model rtc --measure AP -o AP/c.csv",
        "mtf": "build '*.gz' --truth qrels.txt --algorithm mtf --budget 4 -o mtf/few.qrels",
    }.items():
        (here / name).mkdir()
        ok(line)
        ok(line)
    ok("build '*.gz' --truth qrels.txt --algorithm ip --budget 4 -o mine.qrels")
    beside = "compare '*.gz' --qrels mine.qrels --model rtc --format json -o mine.qrels.meta.json"
    status, _, err = run(beside)
    assert (status, "would write over what is read" in err) == (2, True)


def test_a_stored_fit_finds_what_is_judged_below_the_depth(here, ok, run):
    """In lists cut at 5 most that is judged stands below, and counts in whole lists."""
    line = "--depth 5 --format json"
    for model in ("rtc", "hierarchical:map", "robust"):
        ok(f"fit '*.gz' --qrels qrels.txt --model {model} --depth 5 -o fit.nc")
        stored, fitted = (
            json.loads(ok(f"compare '*.gz' {source} {line}"))
            for source in ("--relevance fit.nc", f"--qrels qrels.txt --model {model}")
        )
        assert stored["systems"] == fitted["systems"]
    assert "not known" not in run(f"compare '*.gz' --relevance fit.nc {line}")[2]


def test_a_confidence_says_nothing_to_a_judge_that_has_none(here, run):
    line = "build '*.gz' --truth qrels.txt --algorithm mtf --budget 4 --confidence .9 -o b.qrels"
    assert (
        "confidence (--confidence) says nothing to mtf, which has none; give a budget alone"
        in run(line)[2]
    )


def test_build_goes_on_as_python_does(here, ok):
    first = "build '*.gz' --truth qrels.txt --algorithm mtc --budget 5 -o first.qrels"
    assert "mtc: 5 judged. Stopped" in " ".join(ok(first).split())
    line = (
        "build '*.gz' --truth qrels.txt --qrels first.qrels --algorithm mtc --budget 4 -o b.qrels"
    )
    assert "mtc: 9 judged, 5 of them before. Stopped" in " ".join(ok(line).split())
    pool = rb.Pool.from_runs(rb.read_runs(str(here / "*.gz")))
    before, truth = rb.read_qrels("first.qrels"), rb.read_qrels("qrels.txt")
    made = rb.build(pool, truth, "mtc", budget=4, judgments=before)
    assert rb.read_qrels("b.qrels") == made.judgments.to_qrels()
    meta = json.loads((here / "b.qrels.meta.json").read_text())
    assert "first.qrels" in meta["meta"]["inputs"]


def test_build_loses_no_judgment_that_the_truth_lacks(here, ok, run):
    line = "build '*.gz' --truth few.qrels --algorithm mtc --budget 60 -o made.qrels"
    ok(line)
    assert meta(here / "made.qrels")["missing"]
    ok(line)  # what was taken as nonrelevant nobody judged
    with (here / "made.qrels").open("a") as file:
        file.write(f"{rb.read_qrels('few.qrels').topics[0]} 0 by-hand 1\n")
    before = (here / "made.qrels").read_text()
    status, _, err = run(line)
    assert (status, (here / "made.qrels").read_text()) == (2, before)
    assert (
        "made.qrels: 1 judgment in it that the truth does not hold would be lost; name another"
        in err
    )
    ok(line.replace("-o made", "--qrels made.qrels -o next"))
    (here / "made.qrels.meta.json").unlink()
    assert "would be lost" in run(line)[2]


def test_a_build_that_goes_on_knows_what_the_first_took_as_nonrelevant(here, ok):
    line = "build '*.gz' --truth few.qrels --algorithm mtc --budget 30 -o"
    ok(f"{line} one.qrels")
    first = meta(here / "one.qrels")["missing"]
    topic, docno = first[0]
    judgments = (here / "one.qrels").read_text()
    # one of these was judged since
    corrected = judgments.replace(f"{topic} 0 {docno} 0\n", f"{topic} 0 {docno} 1\n")
    assert corrected != judgments
    (here / "one.qrels").write_text(corrected)
    ok(f"{line} two.qrels --qrels one.qrels")
    both = meta(here / "two.qrels")["missing"]
    assert both[: len(first) - 1] == first[1:]
    assert len(both) > len(first)
    assert [topic, docno] not in both
    (here / "before").mkdir()
    for name in ("one.qrels", "one.qrels.meta.json"):
        shutil.copy(here / name, here / "before" / name)
    ok(f"{line} two.qrels --qrels before")
    assert meta(here / "two.qrels")["missing"] == both


def test_build_loses_no_grade_that_a_person_corrected(here, ok, run):
    line = "build '*.gz' --truth qrels.txt --algorithm mtc --budget 20 -o made.qrels"
    ok(line)
    first, *others = (here / "made.qrels").read_text().splitlines()
    *row, grade = first.split(" ")
    corrected = "\n".join([" ".join([*row, "1" if grade == "0" else "0"]), *others, ""])
    (here / "made.qrels").write_text(corrected)
    status, _, err = run(line)
    assert (status, (here / "made.qrels").read_text()) == (2, corrected)
    assert "made.qrels: 1 judgment in it that the truth does not hold would be lost" in err


def test_build_loses_no_grade_of_an_audit(here, ok, run):
    line = "build '*.gz' --truth qrels.txt --algorithm sample --budget 20 -o drawn.prels"
    ok(line)
    ok(line)
    with (here / "drawn.prels").open("a") as file:
        file.write("501 by-hand 1 1 0.5\n")
    before = (here / "drawn.prels").read_text()
    status, _, err = run(line)
    assert (status, (here / "drawn.prels").read_text()) == (2, before)
    said = "drawn.prels: 1 judgment in it that the truth does not hold would be lost; name"
    assert said in err


def test_merge_and_allocate_lose_no_judgment_that_a_person_added(here, ok, run):
    (here / "one").write_text("501 0 d1 1\n")
    (here / "two").write_text("501 0 d1 0\n501 0 d2 -1\n")
    lines = {
        "merge one two --conflict highest -o all": "501 0 by-hand 1\n",
        "allocate '*.gz' --truth few.qrels --budget 30 --strategy uniform -o all.txt": (
            "501 by-hand 1 1 0.5\n"
        ),
    }
    for line, added in lines.items():
        output = here / line.split()[-1]
        ok(line)
        ok(line)
        with output.open("a") as file:
            file.write(added)
        before = output.read_text()
        status, _, err = run(line)
        assert (status, output.read_text()) == (2, before)
        assert f"{output.name}: 1 judgment in it that " in err
    # a source may be corrected: nobody edited what was made of it
    ok("merge one two --conflict highest -o again.prels")
    (here / "one").write_text("501 0 d1 2\n")
    ok("merge one two --conflict highest -o again.prels")
    assert rb.read_qrels("again.prels")["501"] == {"d1": 2, "d2": -1}
    # what allocate took as nonrelevant is no judgment of a build either
    (here / "all.txt").rename(here / "all.prels")
    (here / "all.txt.meta.json").rename(here / "all.prels.meta.json")
    status, _, err = run(
        "build '*.gz' --truth few.qrels --algorithm sample --budget 9 -o all.prels"
    )
    assert status == 2
    assert "all.prels: 1 judgment in it that the truth does not hold" in err
    assert meta(here / "all.prels")["missing"]


@pytest.mark.parametrize("output", ["made.qrels", "made.prels"])
def test_build_writes_over_nothing_that_cannot_be_read(here, ok, run, output):
    line = f"build '*.gz' --truth qrels.txt --algorithm sample --budget 20 -o {output}"
    (here / output).write_text("501 0 d1 relevant I think\n")
    status, _, err = run(line)
    assert (status, (here / output).read_text()) == (2, "501 0 d1 relevant I think\n")
    assert f"{output}:1: holds no judgments that can be read (" in err
    assert "and would be lost; name another file" in err
    (here / output).write_text("")  # as of mktemp
    ok(line)


def test_next_says_when_judging_may_stop(here, ok):
    ok("build '*.gz' --truth qrels.txt --algorithm mtc --confidence .96 -o sure.qrels")
    line = "next '*.gz' --algorithm mtc --qrels"
    said = ok(f"{line} sure.qrels")
    assert "\nall pairs have 0.95, at which judging may stop\n" in said
    assert "may stop" not in " ".join(ok(f"{line} few.qrels").split())
    # a floor that some topic has not reached
    pool = rb.Pool.from_runs(rb.read_runs(str(here / "*.gz")))
    sure = rb.read_qrels("sure.qrels")
    asked = {"algorithm": "mtc[floor=100]", "count": 1}
    assert rb.next_documents(pool, sure, algorithm="mtc", count=1).may_stop
    assert not rb.next_documents(pool, sure, **asked).may_stop


def test_python_runs_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "rtc_bayes", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("rtc-bayes 0.")
