"""Agreement of judges, against published numbers and by hand; suspicious judges."""

from __future__ import annotations

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes.errors import InputError

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D: four observers
OBSERVERS = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}


def observed():
    rows = [
        (f"u{unit:02}", name, value - 1)
        for name, values in OBSERVERS.items()
        for unit, value in enumerate(values)
        if value is not None
    ]
    docnos, judges, grades = zip(*rows, strict=True)
    return rb.Labels.of(["1"] * len(rows), docnos, judges, grades)


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_is_the_published_one(scale, published):
    made = rb.agreement(observed(), scale, resamples=200)
    assert made.value == pytest.approx(published, abs=5e-4)
    assert made.low < made.value < made.high
    assert made.pairs == 11


def test_alpha_needs_two_labels_and_two_grades():
    alone = rb.Labels.of(["1", "1"], ["a", "b"], ["x", "y"], [0, 1])
    with pytest.raises(InputError, match="no pair is labelled by two judges"):
        rb.agreement(alone)
    same = rb.Labels.of(["1"] * 3, ["a", "a", "b"], ["x", "y", "x"], [1, 1, 0])
    said = "all labels of the 1 pair that two judges or more labelled are the same"
    with pytest.raises(InputError, match=said):
        rb.agreement(same)


def test_a_judge_does_not_agree_with_itself():
    """Labels repeated by the same judge change neither alpha nor whom the others agree with."""
    once = observed()
    rows = np.r_[np.arange(once.n_labels), np.flatnonzero(once.judge_of == 0)]
    twice = rb.Labels.of(
        ["1"] * len(rows),
        [once.docnos[i] for i in once.document_of[rows]],
        [once.judges[i] for i in once.judge_of[rows]],
        once.grade[rows],
    )
    assert rb.agreement(twice, resamples=50) == rb.agreement(once, resamples=50)
    agrees = [rb.judge_table(labels)["agrees"] for labels in (once, twice)]
    assert agrees[0][1:].tolist() == agrees[1][1:].tolist()
    assert agrees[0][0] == pytest.approx(agrees[1][0])


@pytest.mark.parametrize("given", [{"scale": "ratio"}, {"resamples": 1}, {"seed": -1}])
def test_agreement_refuses_what_it_does_not_know(given):
    with pytest.raises(InputError, match=r"ratio|resamples|seed"):
        rb.agreement(observed(), **given)


def test_kappa_by_hand():
    # 20 both relevant, 5 and 10 apart, 15 both not: agreed .7, by chance .5
    said = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    docnos = [f"d{i}" for i in range(50)]
    labels = rb.Labels.of(
        ["1"] * 100,
        docnos * 2,
        ["x"] * 50 + ["y"] * 50,
        [a for a, _ in said] + [b for _, b in said],
    )
    row = rb.kappas(labels).iloc[0]
    assert (row["a"], row["b"], row["pairs"]) == ("x", "y", 50)
    assert row["kappa"] == pytest.approx(0.4)
    assert row["se"] == pytest.approx(np.sqrt(0.7 * 0.3 / 50) / 0.5)
    assert rb.kappas(labels, fewest=51).empty


def test_suspicious_judges_are_named_with_the_reason():
    random = np.random.default_rng(0)
    truth = random.integers(2, size=60)
    judges = {
        "good": truth,
        "fine": np.where(random.random(60) < 0.9, truth, 1 - truth),
        "fair": np.where(random.random(60) < 0.85, truth, 1 - truth),
        "constant": np.ones(60, dtype=int),
        "inverted": 1 - truth,
        "fast": truth,
    }
    docnos = [f"d{i}" for i in range(60)]
    labels = rb.Labels.of(
        ["1"] * 360,
        docnos * 6,
        [name for name in judges for _ in range(60)],
        np.concatenate(list(judges.values())),
        time=np.repeat([30.0, 25.0, 35.0, 20.0, 28.0, 1.0], 60),
        gold={("1", docno): int(grade) for docno, grade in zip(docnos, truth, strict=True)},
    )
    table = rb.judge_table(labels).set_index("judge")
    assert table["suspicious"].to_dict() == {
        "good": "",
        "fine": "",
        "fair": "",
        "constant": "always says relevant",
        "inverted": "worse than chance on gold: inverted?",
        "fast": "1 seconds a label, where 26 are usual",
    }
    assert table.loc["good", ["labels", "gold", "accuracy"]].tolist() == [60, 60, 1.0]
    assert table.loc["constant", "grade_1"] == 1.0
    without = rb.judge_table(labels.with_gold({})).set_index("judge")
    assert without.loc["inverted", "suspicious"].startswith("against the others")
    assert np.isnan(without.loc["good", "accuracy"])


def test_a_lenient_judge_is_not_called_inverted_and_a_turned_one_is():
    """By what would agree by chance, given how often each says relevant: not by one half."""
    rng = np.random.default_rng(5)
    truth = rng.random(600) < 0.2
    lenient = np.where(truth, True, rng.random(600) < 0.75)
    turned = np.where(rng.random(600) < 0.8, ~truth, truth)
    assert (lenient == truth).mean() < 0.5
    docnos = [f"d{i}" for i in range(600)]
    said = {
        "lenient": lenient,
        "turned": turned,
        "good": truth,
        "fair": truth ^ (rng.random(600) < 0.1),
    }
    labels = rb.Labels.of(
        ["7"] * 2400,
        docnos * 4,
        np.repeat([*said], 600),
        np.concatenate([*said.values()]).astype(int),
        gold={("7", docno): int(value) for docno, value in zip(docnos, truth, strict=True)},
    )
    with_gold = rb.judge_table(labels).set_index("judge")["suspicious"]
    assert with_gold["turned"] == "worse than chance on gold: inverted?"
    assert (with_gold.drop("turned") == "").all()
    alone = rb.judge_table(labels.with_gold({})).set_index("judge")["suspicious"]
    assert alone["turned"] == "against the others more often than by chance: inverted?"
    assert (alone.drop("turned") == "").all()


def test_a_judge_who_nearly_always_says_one_thing_is_suspicious():
    """Where others tell documents apart; one who says nothing else is not called inverted."""
    truth = np.arange(400) % 4 == 0
    said = {"ann": truth, "bob": truth, "cas": truth, "dot": np.arange(400) > 0}
    docnos = [f"d{i}" for i in range(400)] * 4
    judges = np.repeat([*said], 400)
    gold = {("7", f"d{i}"): int(relevant) for i, relevant in enumerate(truth)}
    labels = rb.Labels.of(
        ["7"] * 1600, docnos, judges, np.concatenate([*said.values()]).astype(int), gold=gold
    )
    table = rb.judge_table(labels).set_index("judge")["suspicious"]
    assert table["dot"] == "nearly always says relevant"
    assert (table.drop("dot") == "").all()


def test_a_judge_who_is_right_on_gold_of_one_grade_is_not_accused():
    docnos = [f"d{i}" for i in range(40)]
    gold = {("7", docno): 1 for docno in docnos[:30]}
    labels = rb.Labels.of(["7"] * 40, docnos, ["ann"] * 40, [1] * 30 + [0] * 10, gold=gold)
    table = rb.judge_table(labels)
    assert table["accuracy"].item() == 1.0
    assert table["suspicious"].item() == ""


def test_gold_may_be_higher_than_any_label():
    docnos = [f"d{i}" for i in range(25)]
    gold = {("7", docno): 2 * (i % 2) for i, docno in enumerate(docnos)}
    labels = rb.Labels.of(["7"] * 25, docnos, ["ann"] * 25, np.arange(25) % 2)
    table = rb.judge_table(labels.with_gold(gold))
    assert table["accuracy"].item() == pytest.approx(13 / 25)


def test_few_comparable_labels_accuse_nobody():
    """Of 29 labels two are of documents that others labelled, otherwise."""
    docnos = [*(f"d{i}" for i in range(29)), "d0", "d0", "d1", "d1"]
    judges = ["ann"] * 29 + ["bob", "cas"] * 2
    said = [*(i % 2 for i in range(29)), 1, 1, 0, 0]
    labels = rb.Labels.of(["7"] * 33, docnos, judges, said)
    assert (rb.judge_table(labels)["suspicious"] == "").all()


def test_known_grades_say_how_often_a_judge_is_right():
    """Beside two labels by the method: one grade changes little, many say it, with an interval."""
    rng = np.random.default_rng(8)
    truth = rng.random(300) < 0.4
    docnos = [f"d{i}" for i in range(300)]
    right = {"one": 0.9, "two": 0.85, "bad": 0.2}
    said = {j: np.where(rng.random(300) < p, truth, ~truth).astype(int) for j, p in right.items()}
    labels = rb.Labels.of(
        ["7"] * 900, docnos * 3, np.repeat([*said], 300), np.concatenate([*said.values()])
    )

    def frame(count):
        human = {("7", docnos[i]): int(truth[i]) for i in range(count)}
        return rb.aggregate(labels, "mv", human=human).judges_frame().set_index("judge")

    none, first, many = frame(0), frame(1), frame(200)
    assert none["accuracy_low"].isna().all()
    assert (first["accuracy"] - none["accuracy"]).abs().max() < 0.35
    for judge in right:
        share = (said[judge] == truth)[:200].mean()
        by_method = many.loc[judge, "accuracy"]
        assert by_method == pytest.approx(share, abs=0.02)
        assert many.loc[judge, "accuracy_low"] < share < many.loc[judge, "accuracy_high"]
