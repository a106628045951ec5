"""What scores are about, in the same words on the command line and in Python: the same numbers."""

import csv
import json
import shlex

import numpy as np
import pytest
from pools import random_rankings, runs_of

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection import write_run
from rtc_bayes.collection.simulate import simulate

# the words as typed, and as Python takes them
WORDS = {
    "": {},
    "--scope whole": {"scope": "whole"},
    "--scope pool": {"scope": "pool"},
    "--residual .03": {"residual": 0.03},
    "--scope pool --residual auto": {"scope": "pool", "residual": "auto"},
    "--no-unseen": {"unseen": False},
    "--scope pool --unseen": {"scope": "pool", "unseen": True},
    "--scope pool --score-depth 20 --unseen --residual .01": {
        "scope": "pool",
        "score_depth": 20,
        "unseen": True,
        "residual": 0.01,
    },
}
DEPTH = 8
SEED = 5
ALONE = rb.Workers(jobs=1)
CONFIDENCE = 0.9

in_both_words = pytest.mark.parametrize("typed", WORDS, ids=lambda typed: typed or "default")


@pytest.fixture
def about(typed):
    """What the words say in Python."""
    return rb.Estimand(depth=DEPTH, **WORDS[typed])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Four random runs of three times the depth, all their judgments, and the first few."""
    folder = tmp_path_factory.mktemp("same")
    rng = np.random.default_rng(SEED)
    rankings = random_rankings(rng, systems=4, topics=4, documents=60, longest=3 * DEPTH)
    for run in runs_of(rankings).values():
        write_run(run, folder / f"{run.tag}.run")
    labels = {str(t): {f"d{i:04d}": int(rng.random() < 0.3) for i in range(60)} for t in range(4)}
    rb.write_qrels(rb.read_qrels(labels), folder / "all.qrels")
    few = {topic: dict(list(grades.items())[:12]) for topic, grades in labels.items()}
    rb.write_qrels(rb.read_qrels(few), folder / "few.qrels")
    return folder


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A folder of one's own with links to the files."""
    for path in files.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(here):
    return rb.read_runs("*.run")


def command(line: str, typed: str) -> None:
    """Run a command on all runs with words, and the seed and depth of every test."""
    assert main(shlex.split(f"{line} --depth {DEPTH} --seed {SEED} --quiet {typed}")) == 0


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def as_text(frame):
    """Return a frame as a CSV holds it: the shortest digits that give each number again."""
    return [
        {name: "" if value is None or value != value else str(value) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def test_the_words_tell_apart_what_scores_are_about(here, runs):
    """No two of the words mean the same here, but the default and its name."""
    answers = set()
    for words in WORDS.values():
        estimand = rb.Estimand(depth=DEPTH, **words)
        judged = rb.read_qrels("few.qrels")
        pool = estimand.pool(runs, judged)
        comparison = rb.compare(
            pool, rb.fit(pool, estimand.judgments(pool, judged), model="rtc:map"), estimand
        )
        answers.add((*comparison.expected.tolist(), *comparison.sd.tolist()))
    assert len(answers) == len(WORDS) - 1


@in_both_words
def test_compare(here, runs, typed, about):
    command("compare '*.run' --qrels few.qrels --model rtc --ranks -o typed.csv", typed)
    command("compare '*.run' --qrels few.qrels --model rtc -o typed.json", typed)
    judged = rb.read_qrels("few.qrels")
    pool = about.pool(runs, judged)
    fit = rb.fit(pool, about.judgments(pool, judged), model="rtc", seed=SEED)
    comparison = rb.compare(pool, fit, about, seed=SEED)
    assert table("typed.csv") == as_text(comparison.with_ranks().systems_frame())
    written, made = json.loads((here / "typed.json").read_text()), comparison.to_dict()
    assert [written[key] for key in ("systems", "pairs")] == [
        json.loads(json.dumps(made[key])) for key in ("systems", "pairs")
    ]


@pytest.mark.filterwarnings("ignore::rtc_bayes.FitWarning")
def test_judged_for(here, runs):
    """For whom judgments were made is said alike: another answer than where it is inferred."""
    about, judged = rb.Estimand(depth=DEPTH), rb.read_qrels("few.qrels")
    pool, two = about.pool(runs, judged), runs.systems[:2]
    judgments = about.judgments(pool, judged, two)
    line = "compare '*.run' --qrels few.qrels --model robust -o"
    command(f"{line} inferred.csv", "")
    command(f"{line} typed.csv", f"--judged-for {','.join(two)}")
    fit = rb.fit(pool, judgments, model="robust", seed=SEED)
    assert table("typed.csv") == as_text(rb.compare(pool, fit, about, seed=SEED).to_frame())
    assert table("typed.csv") != table("inferred.csv")
    line = "next '*.run' --qrels few.qrels --count 5 -o next.csv"
    command(line, f"--judged-for {','.join(two)}")
    suggested = rb.next_documents(pool, judgments, about, count=5, seed=SEED)
    assert [row["docno"] for row in table("next.csv")] == [each.docno for each in suggested]


def plain_pool(about, runs, qrels=None):
    """Pool the documents of `Estimand.pool`, by a pool that says nothing of the score depth."""
    below = about.scope == "whole" or about.score_depth
    return rb.Pool.from_runs(runs, depth=DEPTH, qrels=qrels if below else None)


@in_both_words
def test_plan(here, runs, typed, about):
    line = "plan '*.run' --qrels few.qrels --algorithm rtc:map --budget 80 --judgments-per-topic 16"
    command(f"{line} --repetitions 1 -o typed.csv", typed)
    judged = rb.read_qrels("few.qrels")
    for pool in (about.pool(runs, judged), plain_pool(about, runs, judged)):
        made = rb.plan(
            pool,
            judged,
            80,
            about,
            algorithm="rtc:map",
            judgments_per_topic=[16],
            repetitions=1,
            seed=SEED,
        )
        assert table("typed.csv") == as_text(made.to_frame())


@in_both_words
def test_next(here, runs, typed, about):
    command("next '*.run' --qrels few.qrels --algorithm rtc:map --count 5 -o typed.csv", typed)
    judged = rb.read_qrels("few.qrels")
    written = table("typed.csv")
    assert len(written) == 5
    for pool in (about.pool(runs, judged), plain_pool(about, runs, judged)):
        suggested = rb.next_documents(pool, judged, about, algorithm="rtc:map", count=5, seed=SEED)
        assert [(row["topic"], row["docno"], row["weight"]) for row in written] == [
            (each.topic, each.docno, repr(each.weight)) for each in suggested
        ]


@in_both_words
def test_build(here, runs, typed, about):
    line = f"build '*.run' --truth all.qrels --algorithm rtc:map --confidence {CONFIDENCE}"
    command(f"{line} --budget 40 -o typed.qrels", typed)
    truth = rb.read_qrels("all.qrels")
    written = json.loads((here / "typed.qrels.meta.json").read_text())
    for pool in (about.pool(runs), plain_pool(about, runs)):
        built = rb.build(pool, truth, "rtc:map", about, confidence=CONFIDENCE, budget=40, seed=SEED)
        rb.write_qrels(built.judgments.to_qrels(), "made.qrels")
        assert (here / "typed.qrels").read_text() == (here / "made.qrels").read_text()
        assert (written["confidence"], written["reason"]) == (built.confidence, built.reason)
        assert built.judgments.n_judged > 0


def same_tables(typed, made, summary):
    """Whether two folders of studies hold the same tables and summary, digit for digit."""
    names = {path.name for path in made.glob("*.csv")}
    assert {"pairs.csv", "systems.csv"} <= names
    for name in names:
        assert untimed(table(typed / name)) == untimed(table(made / name))
    typed, made = (json.loads((folder / summary).read_text()) for folder in (typed, made))
    # of a study with algorithms, a summary by algorithm
    assert untimed(typed.values()) == untimed(made.values())


def untimed(parts):
    """Leave out how many seconds a part took, which is no number of a study."""
    return [
        {key: value for key, value in part.items() if "seconds" not in key}
        if isinstance(part, dict)
        else part
        for part in parts
    ]


@in_both_words
def test_robustness(here, runs, typed, about):
    line = "robustness '*.run' --qrels all.qrels --algorithms mtc/rtc:map --trials 2 --systems 3"
    command(f"{line} --jobs 1 -o typed", typed)
    made = rb.study(
        runs,
        rb.read_qrels("all.qrels"),
        algorithms=["mtc/rtc:map"],
        estimand=about,
        trials=2,
        n_systems=3,
        seed=SEED,
        output="made",
        workers=ALONE,
    )
    same_tables(here / "typed", here / "made", "summary.json")
    assert len(made.pairs) == 6


@in_both_words
def test_calibrate(here, runs, typed, about):
    line = "calibrate '*.run' --qrels all.qrels --model rtc:map --trials 2 --systems 3"
    command(f"{line} --jobs 1 -o typed", typed)
    made = rb.calibrate(
        runs,
        rb.read_qrels("all.qrels"),
        model="rtc:map",
        estimand=about,
        trials=2,
        n_systems=3,
        seed=SEED,
        output="made",
        workers=ALONE,
    )
    same_tables(here / "typed", here / "made", "calibration.json")
    assert len(made.pairs) == 6


@pytest.fixture
def small_demo(monkeypatch):
    """Make the collection of the demo small, and its algorithms quick."""
    from rtc_bayes.robustness import demonstration

    def small(*, n_topics, n_systems, seed):
        return simulate(n_topics=4, n_systems=10, documents=200, depth=50, seed=seed)

    monkeypatch.setattr(demonstration, "simulate", small)
    monkeypatch.setattr(demonstration, "ALGORITHMS", ("mtc/rtc:map",))
    monkeypatch.setattr(demonstration.defaults, "ALGORITHM", "mtc/rtc:map")


@in_both_words
def test_demo(here, small_demo, typed, about, capsys):
    command("demo --trials 1 --jobs 1 -o typed", typed)
    printed = capsys.readouterr().out
    made = rb.demo("made", estimand=about, trials=1, seed=SEED, workers=ALONE)
    assert "\n".join([made.story, "", *made.findings]) in printed
    assert all(system in printed for system in made.systems["system"])
    same_tables(here / "typed", here / "made", "demo.json")
    same_tables(here / "typed" / "robustness", here / "made" / "robustness", "summary.json")
    assert len(table(here / "typed" / "systems.csv")) == 10


def test_algorithms_in_one_text_are_those_of_a_list(here, runs):
    """Python takes the words of --algorithms, and a list."""
    options = {"estimand": rb.Estimand(depth=DEPTH), "trials": 1, "n_systems": 3, "seed": SEED}
    algorithms = "ip,mtc/rtc:map"
    for name, given in {"text": algorithms, "list": algorithms.split(",")}.items():
        truth = rb.read_qrels("all.qrels")
        rb.study(runs, truth, algorithms=given, budgets=[20], output=name, workers=ALONE, **options)
    line = f"robustness '*.run' --qrels all.qrels --algorithms {algorithms} --budget 20 --trials 1"
    command(f"{line} --systems 3 --jobs 1 -o typed", "")
    same_tables(here / "text", here / "list", "summary.json")
    same_tables(here / "typed", here / "text", "summary.json")
    assert {row["algorithm"] for row in table(here / "text" / "trials.csv")} == {
        f"{algorithm} at 20" for algorithm in algorithms.split(",")
    }
