"""Padded lists, as the evaluation program of Carterette 2007 has them: to reproduce it only."""

import shlex

import numpy as np
import pytest
from pools import random_rankings, runs_of

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.collection import write_run

DEPTH = 6
ALONE = rb.Workers(jobs=1)
ABOUT = rb.Estimand(scope="pool", depth=DEPTH)
OPTIONS = {"estimand": ABOUT, "trials": 3, "n_systems": 3, "seed": 2, "workers": ALONE}


@pytest.fixture(scope="module")
def rankings():
    """Five systems, two of them with short lists, the last without a topic."""
    rng = np.random.default_rng(8)
    rankings = random_rankings(rng, systems=5, topics=4, documents=20, longest=DEPTH)
    rankings["s0"] = {topic: docnos[:2] for topic, docnos in rankings["s0"].items()}
    rankings["s4"] = {topic: docnos[:4] for topic, docnos in rankings["s4"].items()}
    del rankings["s4"]["3"]
    return rankings


@pytest.fixture(scope="module")
def qrels():
    rng = np.random.default_rng(9)
    return rb.Qrels(
        {str(t): {f"d{i:04d}": int(rng.random() < 0.4) for i in range(20)} for t in range(4)}
    )


def padded_by_hand(rankings):
    """Fill every list on every topic with documents that no other has."""
    filled = {}
    for system, lists in rankings.items():
        filled[system] = {}
        for topic in map(str, range(4)):
            docnos = lists.get(topic, [])
            missing = range(1, DEPTH - len(docnos) + 1)
            filled[system][topic] = [*docnos, *(f"phantom-{system}-{n}" for n in missing)]
    return runs_of(filled)


def numbers(study):
    return study.trials.drop(columns=["seconds_judging", "seconds_evaluating"])


@pytest.mark.filterwarnings("ignore::rtc_bayes.CollectionWarning")
def test_a_padded_study_is_that_of_runs_padded_by_hand(rankings, qrels, tmp_path):
    made = {
        name: rb.study(
            runs, qrels, algorithms="mtc,rtc:map", output=tmp_path / name, pad=pad, **OPTIONS
        )
        for name, runs, pad in (
            ("padded", runs_of(rankings), True),
            ("by hand", padded_by_hand(rankings), False),
            ("plain", runs_of(rankings), False),
        )
    }
    assert numbers(made["padded"]).equals(numbers(made["by hand"]))
    assert made["padded"].pairs.equals(made["by hand"].pairs)
    assert made["padded"].systems.equals(made["by hand"].systems)
    assert not made["padded"].systems["expected"].equals(made["plain"].systems["expected"])
    # documents that are not relevant, at the end of a list, leave its true score as it is
    true = [made[name].systems.groupby("system")["true"].first() for name in ("padded", "plain")]
    common = true[0].index.intersection(true[1].index)
    assert len(common)
    assert true[0][common].equals(true[1][common])
    assert made["padded"].meta["study"]["pad"] is True
    assert made["plain"].meta["study"]["pad"] is False


@pytest.mark.filterwarnings("ignore::rtc_bayes.CollectionWarning")
def test_the_command_pads_as_python_does(rankings, qrels, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for run in runs_of(rankings).values():
        write_run(run, f"{run.tag}.run")
    rb.write_qrels(qrels, "qrels.txt")
    line = (
        "robustness '*.run' --qrels qrels.txt --algorithms rtc:map --pad --scope pool "
        f"--depth {DEPTH} --trials 3 --systems 3 --seed 2 --jobs 1 --quiet -o typed"
    )
    assert main(shlex.split(line)) == 0
    typed = rb.Study.load("typed")
    made = rb.study(
        rb.read_runs("*.run"), qrels, algorithms="rtc:map", output="made", pad=True, **OPTIONS
    )
    assert numbers(typed).equals(numbers(made))
    assert typed.meta["study"]["pad"] is True


@pytest.mark.filterwarnings("ignore::rtc_bayes.CollectionWarning")
def test_calibrate_pads_too(rankings, qrels, tmp_path):
    made = [
        rb.calibrate(
            runs, qrels, model="rtc:map", output=tmp_path / name, pad=pad, **OPTIONS
        ).systems
        for name, runs, pad in (
            ("padded", runs_of(rankings), True),
            ("by hand", padded_by_hand(rankings), False),
        )
    ]
    assert made[0].equals(made[1])
    assert len(made[0])


def test_padded_documents_are_named_where_much_has_no_judgment(rankings, qrels, tmp_path):
    with pytest.warns(rb.CollectionWarning, match="documents of padded lists are among them"):
        rb.study(
            runs_of(rankings),
            qrels,
            algorithms="mtc",
            budgets=[1000],
            output=tmp_path / "all",
            pad=True,
            **OPTIONS,
        )


def test_padded_documents_have_no_judgment():
    with pytest.raises(rb.InputError, match="which truth judged takes out; leave pad out, or"):
        rb.Plan("mtc", pad=True, truth="judged")


def test_a_fit_of_padded_lists_is_of_no_others(rankings, qrels, tmp_path):
    runs = padded_by_hand(rankings).select(["s1", "s2"])
    longer = [rb.Pool.from_runs(runs, depth=DEPTH + 1, pad=pad) for pad in (False, True)]
    for name, pool in zip(("plain", "padded"), longer, strict=True):
        judgments = rb.Judgments.from_qrels(pool, qrels)
        rb.fit(pool, judgments, model="uniform").save(tmp_path / f"{name}.nc")
        assert rb.Fit.load(tmp_path / f"{name}.nc", made_for=pool).model == "uniform"
    for name, pool in zip(("padded", "plain"), longer, strict=True):
        with pytest.raises(rb.InputError, match="another run is stored under the name 's1'"):
            rb.Fit.load(tmp_path / f"{name}.nc", made_for=pool)
