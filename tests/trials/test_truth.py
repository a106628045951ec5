"""What a study takes documents without a judgment for: nonrelevant, or nothing at all."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from pools import random_rankings, runs_of

from rtc_bayes import (
    CollectionWarning,
    Estimand,
    InputError,
    Qrels,
    Workers,
    calibrate,
    compare,
    evaluate,
    fit,
    study,
)
from rtc_bayes.report import write_report
from rtc_bayes.robustness import Study
from rtc_bayes.trials import Collection, Plan, draw_systems, outcomes, quietly
from rtc_bayes.trials.kind import arguments_of, digest_of, sealed
from rtc_bayes.trials.running import MOST_MISSING
from rtc_bayes.trials.scores import kendall_tau
from rtc_bayes.trials.trial import Prediction

ALONE = Workers(jobs=1)
DEPTH = 10
TOPICS = 6


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(2)
    return runs_of(random_rankings(rng, systems=4, topics=TOPICS, documents=30, longest=20))


@pytest.fixture(scope="module")
def complete():
    rng = np.random.default_rng(3)
    return {
        str(t): {f"d{i:04d}": int(rng.random() < 0.4) for i in range(30)} for t in range(TOPICS)
    }


@pytest.fixture(scope="module")
def shallow(complete):
    """Judgments of every other document; of the last topic none that any system retrieved."""
    kept = {t: dict(list(grades.items())[::2]) for t, grades in complete.items()}
    return Qrels(kept | {str(TOPICS - 1): {"elsewhere": 1}})


def of_all(name, runs, qrels, tmp_path, **options):
    """Run a study that judges every document of its trials' pools."""
    options = {"trials": 2, "n_systems": 3, "seed": 1, "workers": ALONE} | options
    options["estimand"] = Estimand(depth=DEPTH)
    return study(
        runs, qrels, algorithms=["mtc"], budgets=[10_000], output=tmp_path / name, **options
    )


def test_lists_are_condensed_before_anything_else(runs, shallow):
    about = Estimand("P@5", depth=DEPTH)
    collection = Collection.from_runs(runs, shallow, about, truth="judged")
    condensed = runs.condensed(shallow)
    expected = Collection.from_runs(condensed, shallow, about)
    pool = collection.pool
    for t, topic in enumerate(pool.topics):
        docnos = pool.docnos[pool.documents(t)]
        assert set(docnos.tolist()) == {
            docno for run in condensed.values() for docno in run.ranking(topic)[:DEPTH]
        }
        assert set(docnos.tolist()) <= set(shallow[topic])
    assert pool.docnos.tolist() == expected.pool.docnos.tolist()
    table = evaluate(condensed, shallow, ["P@5"], topics="all")
    assert collection.truth == pytest.approx(table["P@5"].mean(axis=1))
    # and other scores than with holes taken for nonrelevant, which can only be lower
    holes = Collection.from_runs(runs, shallow, about)
    assert (holes.truth * TOPICS < collection.truth * (TOPICS - 1)).all()


def test_only_topics_with_a_truth_are_compared(runs, shallow):
    kept, left_out = (
        Collection.from_runs(runs, shallow, Estimand(depth=DEPTH), truth=truth).pool.topics
        for truth in ("all", "judged")
    )
    assert kept == runs.topics == tuple(map(str, range(TOPICS)))
    assert left_out == kept[:-1]


def test_a_trial_asks_for_nothing_that_is_not_judged(runs, shallow):
    plan = Plan(
        ("mtc",),
        n_systems=3,
        truth="judged",
        estimand=Estimand(depth=DEPTH),
        budgets=(10_000,),
    )
    collection = Collection.from_runs(runs, shallow, plan.estimand, truth=plan.truth)
    with quietly():
        (outcome,) = outcomes(collection, plan, 4)
    assert (outcome.missing, outcome.reason) == (0, "exhausted")
    draw = draw_systems(runs.systems, plan, 4)
    pool = collection.pool.select(draw.initial)
    assert outcome.judged == pool.n_documents > 0
    assert set(outcome.judgments.judged_topics) <= set(collection.pool.topics)


def test_what_is_not_judged_is_said_if_it_is_much(runs, shallow, tmp_path):
    with pytest.warns(CollectionWarning, match=r"^\d\d% of what trials asked for has no judgment"):
        done = of_all("holes", runs, shallow, tmp_path)
    share = done.trials["missing"].sum() / done.trials["judged"].sum()
    assert share > MOST_MISSING == 0.1
    with pytest.warns(CollectionWarning) as caught:
        # a finished study says it again
        of_all("holes", runs, shallow, tmp_path)
    (said,) = caught
    assert f"{share:.0%} of what" in str(said.message)
    assert "compare condensed lists instead (--truth judged)" in str(said.message)


def test_a_thin_truth_is_said_where_trials_ask_for_nothing(runs, complete, tmp_path):
    """They are held to true scores all the same."""
    thin = Qrels({t: dict(list(grades.items())[:6]) for t, grades in complete.items()})
    options = {"algorithms": ["mtc"], "estimand": Estimand(depth=DEPTH), "confidence": 0.51}
    options |= {"trials": 1, "n_systems": 2, "n_initial": 2, "workers": ALONE}
    said = (
        r"^\d\d% of the documents at ranks 1 to 10 have no judgment and count as not "
        r"relevant in the true scores: the truth is not complete; compare condensed lists"
    )
    with pytest.warns(CollectionWarning, match=said):
        done = study(runs, thin, output=tmp_path / "thin", **options)
    assert done.trials["missing"].sum() <= MOST_MISSING * done.trials["judged"].sum()
    with warnings.catch_warnings(action="error"):
        study(runs, thin, output=tmp_path / "judged", truth="judged", **options)
        # what a measure does not look at is not missing
        first = {d for run in runs.values() for t in run.topics for d in run.ranking(t)[:5]}
        deep = Qrels({t: {d: g for d, g in of.items() if d in first} for t, of in complete.items()})
        options["estimand"] = Estimand("P@5", depth=DEPTH)
        study(runs, deep, output=tmp_path / "first", **options)
        options["estimand"] = Estimand(depth=DEPTH)
        study(runs, Qrels(complete), output=tmp_path / "complete", **options)


def test_condensed_lists_lack_nothing(runs, shallow, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        done = of_all("judged", runs, shallow, tmp_path, truth="judged")
    assert done.trials["missing"].tolist() == [0, 0]
    assert done.meta["study"]["truth"] == "judged"


def test_a_word_of_before_names_that_of_now(runs, complete):
    said = "truth is 'complete'; write 'all'"
    with pytest.raises(InputError, match=said):
        Plan("mtc", truth="complete")
    with pytest.raises(InputError, match=said):
        Collection.from_runs(runs, Qrels(complete), truth="complete")
    with pytest.raises(InputError, match="truth is 'each'; give all or judged"):
        Plan("mtc", truth="each")


def test_a_study_of_before_is_read_in_the_words_of_now(runs, complete, tmp_path):
    done = of_all("study", runs, Qrels(complete), tmp_path)
    file = done.directory / "meta.json"
    meta = json.loads(file.read_text())
    meta["study"]["truth"] = "complete"
    meta["code"] = "of before"
    file.write_text(json.dumps(meta))
    digests = json.loads((done.directory / "digests.json").read_text())
    del digests["digest"]
    digests["meta.json"] = digest_of(arguments_of(meta))
    (done.directory / "digests.json").write_text(json.dumps(sealed(digests)))
    again = Study.load(done.directory)
    assert again.meta["study"]["truth"] == "all"
    assert again.summary == done.summary
    assert write_report(done.directory).exists()
    # the word is not what keeps it from going on
    with pytest.raises(InputError, match="holds a study with other code"):
        of_all("study", runs, Qrels(complete), tmp_path)


def test_a_truth_of_relevant_documents_alone_is_not_condensed(runs, complete, tmp_path):
    alone = Qrels({t: {d: 1 for d, g in of.items() if g} for t, of in complete.items()})
    with pytest.warns(CollectionWarning, match="has no judgment") as caught:
        of_all("rest", runs, alone, tmp_path)
    (said,) = caught
    assert "the truth holds relevant documents alone" in str(said.message)
    assert "--truth judged" not in str(said.message)
    refused = "holds relevant documents alone, so lists .* would hold nothing else"
    with pytest.raises(InputError, match=refused):
        of_all("condensed", runs, alone, tmp_path, truth="judged")
    assert not (tmp_path / "condensed").exists()
    with pytest.raises(InputError, match=refused):
        Collection.from_runs(runs, alone, Estimand(depth=DEPTH), truth="judged")


@pytest.mark.parametrize(("left_out", "told"), [(1, False), (6, True)])
def test_a_tenth_may_lack_a_judgment(runs, complete, tmp_path, left_out, told):
    """Of 30 documents of a topic one, a thirtieth, is little, and six, a fifth, are much."""
    qrels = Qrels({t: dict(list(grades.items())[left_out:]) for t, grades in complete.items()})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = of_all("some", runs, qrels, tmp_path)
    share = done.trials["missing"].sum() / done.trials["judged"].sum()
    assert share > 0
    assert (share > MOST_MISSING) == told
    assert any("has no judgment" in str(each.message) for each in caught) == told


def test_calibrate_condenses_and_says_it_too(runs, shallow, tmp_path):
    options = {"trials": 1, "n_systems": 3, "seed": 1, "workers": ALONE, "model": "uniform"}
    options |= {"algorithm": "mtc", "budget": 40, "estimand": Estimand(depth=DEPTH)}
    with pytest.warns(CollectionWarning, match="has no judgment and was taken as not relevant"):
        calibrate(runs, shallow, output=tmp_path / "holes", **options)
    done = calibrate(runs, shallow, output=tmp_path / "judged", truth="judged", **options)
    assert done.trials["missing"].tolist() == [0]


def test_systems_that_tie_but_for_rounding_have_the_same_truth():
    relevant, others = [f"r{i}" for i in range(3)], [f"n{i}" for i in range(10)]
    counts = {"A": (1, 2, 3), "B": (3, 2, 1), "C": (2, 3, 1)}
    lists = {
        name: {str(t): [*relevant[:n], *others[: 10 - n]] for t, n in enumerate(of)}
        for name, of in counts.items()
    }
    runs = runs_of(lists)
    qrels = Qrels({str(t): dict.fromkeys(relevant, 1) for t in range(3)})
    assert len(set(evaluate(runs, qrels, "P@10").mean["P@10"])) > 1
    collection = Collection.from_runs(runs, qrels, Estimand("P@10", depth=10))
    assert len(set(collection.truth)) == 1
    assert kendall_tau(evaluate(runs, qrels, "P@10").mean["P@10"], [1, 2, 3]) is None


def test_a_tie_that_is_predicted_but_for_rounding_has_no_sign():
    relevant, others = [f"r{i}" for i in range(3)], [f"n{i}" for i in range(10)]
    counts = {"A": (1, 2, 3), "B": (3, 2, 1)}
    lists = {
        name: {str(t): [*relevant[:n], *others[: 10 - n]] for t, n in enumerate(of)}
        for name, of in counts.items()
    }
    runs = runs_of(lists)
    grades = dict.fromkeys(relevant, 1) | dict.fromkeys(others, 0)
    qrels = Qrels({str(t): grades for t in range(3)})
    about = Estimand("P@10", depth=10, scope="pool")
    pool = about.pool(runs)
    comparison = compare(pool, fit(pool, about.judgments(pool, qrels), model="uniform"), about)
    tilted = replace(comparison, p_greater=comparison.p_greater + 1e-17)
    assert Prediction.from_comparison(tilted).sign.tolist() == [0.0]
