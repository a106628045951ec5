"""A baseline, a residual below the cut, and a region of practical equivalence."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pools import POOL_ALONE, pool_of, random_rankings

import rtc_bayes as rb
from rtc_bayes import (
    CollectionWarning,
    Estimand,
    InputError,
    Relevance,
    compare,
    moments,
    topic_differences,
)
from rtc_bayes.confidence import corrected
from rtc_bayes.confidence.likeness import likeness, unlikeness

FORMS = ("auto", "normal", "corrected", "montecarlo")


@pytest.fixture(scope="module")
def pool(make_pool):
    return make_pool(np.random.default_rng(31), 4, 6, 12)


@pytest.fixture(scope="module")
def relevance(pool):
    return Relevance.from_values(pool, np.random.default_rng(32).random(pool.n_documents) * 0.4)


@pytest.mark.parametrize("measure", ["AP", "Bpref"])
def test_a_baseline_keeps_its_own_pairs(pool, relevance, measure):
    options = {"estimand": measure, "outcomes": 300, "form": "montecarlo"}
    every = compare(pool, relevance, **options)
    comparison = compare(pool, relevance, baseline="s1", **options)
    assert (comparison.a, comparison.b) == (("s0", "s2", "s3"), ("s1",) * 3)
    assert comparison.expected.tolist() == every.expected.tolist()
    for pair in comparison.pairs:
        same = every.pair(pair.a, "s1")
        assert pair.p_less == pytest.approx(same.p_less, abs=1e-12)
        assert pair.expected_difference == pytest.approx(same.expected_difference, abs=1e-12)
        assert pair.sd == pytest.approx(same.sd)
    with pytest.raises(InputError, match="not compared with each other"):
        comparison.pair("s0", "s2")


def test_a_baseline_alone_has_no_pairs(make_pool, point):
    pool = make_pool(np.random.default_rng(0), 1, 2, 4)
    assert compare(pool, point(pool, np.full(8, 0.5)), baseline="s0").pairs == ()


@pytest.mark.parametrize("form", FORMS)
def test_a_residual_adds_its_variance(pool, relevance, form):
    residual = 0.02
    options = {"form": form, "outcomes": 20_000, "seed": 2}
    plain = compare(pool, relevance, POOL_ALONE, **options)
    comparison = compare(pool, relevance, Estimand(residual=residual, scope="pool"), **options)
    assert comparison.sd**2 == pytest.approx(plain.sd**2 + residual**2)
    left = residual**2 * unlikeness(likeness(pool))
    assert (left > 0.0).all()
    assert comparison.sd_difference**2 == pytest.approx(plain.sd_difference**2 + left)
    assert comparison.expected.tolist() == plain.expected.tolist()
    assert comparison.meta["residual"] == residual
    assert plain.meta["residual"] == 0
    table = moments(pool, relevance.values)
    variance = table.difference_variance[0] + left
    shrunk = (table.difference_variance[0] / variance) ** 1.5
    bent = corrected(table.difference_expected[0], variance, plain.skewness * shrunk, np.zeros(6))
    # standard error of a share of 20,000 outcomes, and the error of the forms
    assert comparison.p_less == pytest.approx(bent.less, abs=4 * 0.5 / np.sqrt(20_000) + 0.01)
    assert comparison.p_equal.max() == 0


def test_a_residual_reaches_what_only_outcomes_tell(pool, relevance):
    plain = compare(pool, relevance, "Bpref", outcomes=4000)
    comparison = compare(pool, relevance, Estimand("Bpref", residual=0.5), outcomes=4000)
    # standard error of a variance of 4000 outcomes: sqrt(2 / 4000)
    wide = plain.sd_difference**2 + 0.25 * unlikeness(likeness(pool))
    assert comparison.sd_difference**2 == pytest.approx(wide, rel=4 * np.sqrt(2 / 4000))
    np.testing.assert_allclose(comparison.expected, plain.expected, rtol=1e-12)


def test_where_all_is_judged_a_residual_leaves_the_normal(make_pool, point):
    pool = make_pool(np.random.default_rng(33), 2, 5, 20, depth=15)
    judged = point(pool, (np.random.default_rng(34).random(pool.n_documents) < 0.3).astype(float))
    pair = compare(pool, judged, Estimand(residual=0.05, unseen=False)).pair("s0", "s1")
    assert pair.form == "normal"
    assert pair.sd == pytest.approx(0.05 * np.sqrt(unlikeness(likeness(pool))[0]))
    assert 0 < pair.p_less < 1


@pytest.mark.parametrize("form", FORMS)
def test_a_rope_gives_the_enumerated_probability(make_pool, oracle, point, form):
    rng = np.random.default_rng(35)
    pool = make_pool(rng, 2, 3, 7)
    p = rng.random(pool.n_documents)
    parts = []
    for t in range(3):
        inside = pool.documents(t)
        lists = [(pool.ranking(s, t) - inside.start).tolist() for s in range(2)]
        scores, weights = oracle.distribution(lists, p[inside].tolist(), oracle.SCORES["AP"])
        parts.append((scores[:, 0] - scores[:, 1], weights))
    values, weights = oracle.mean_over_topics(parts)
    for rope in (0.02, 0.1):
        truth = weights[np.abs(values) < rope].sum()
        comparison = compare(pool, point(pool, p), form=form)
        pair = comparison.with_equivalence(rope).pair("s1", "s0")
        # continuous forms err here by less than their largest error with 3 topics
        error = 4 * 0.5 / np.sqrt(20_000) if pair.form == "montecarlo" else 0.03
        assert pair.p_rope == pytest.approx(truth, abs=error)


def test_a_rope_over_draws_is_a_mean_over_draws(pool):
    draws = np.random.default_rng(36).random((3, pool.n_documents)) * 0.4
    every, *alone = (
        compare(pool, Relevance.from_values(pool, p), form="normal").with_equivalence(0.03).p_rope
        for p in (draws[:, None], *draws)
    )
    assert every == pytest.approx(np.mean(alone, axis=0))


def test_a_known_difference_is_within_the_rope_or_not(make_pool, point):
    pool = make_pool(np.random.default_rng(37), 3, 2, 6)
    judged = point(pool, (np.random.default_rng(38).random(12) < 0.5).astype(float))
    sizes = np.abs(compare(pool, judged, POOL_ALONE).expected_difference)
    for rope in (sizes[0], sizes[0] * 1.001):
        expected = (sizes < rope - 1e-12).astype(float).tolist()
        for form in FORMS:
            comparison = compare(pool, judged, POOL_ALONE, form=form, outcomes=50)
            assert comparison.with_equivalence(rope).p_rope.tolist() == expected


def test_a_rope_stands_in_files_only_if_asked_for(pool, relevance):
    plain = compare(pool, relevance)
    comparison = plain.with_equivalence(0.01)
    assert plain.pairs[0].p_rope is None
    assert "p_rope" not in plain.to_dict()["pairs"][0]
    assert comparison.to_dict()["pairs"][0]["p_rope"] == comparison.to_frame()["p_rope"][0]
    assert comparison.meta["rope"] == 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "s9"}, "no system is named 's9'; name one of s0, s1, s2, s3"),
        ({"ranks": True}, "with_ranks"),
        ({"residual": 0.1}, r"Estimand\(residual"),
        ({"measure": "AP"}, "give it third"),
        ({"jobs": 2}, r"Workers\(jobs"),
        ({"seed": 1.5}, "whole number"),
    ],
)
def test_bad_options_are_named(pool, relevance, options, message):
    with pytest.raises(InputError, match=message):
        compare(pool, relevance, **options)


def test_a_region_of_equivalence_has_a_width(pool, relevance):
    with pytest.raises(InputError, match="above 0"):
        compare(pool, relevance).with_equivalence(0.0)


def test_of_several_measures_each_has_its_comparison(pool, relevance):
    both = compare(pool, relevance, ["AP", "P@5"])
    assert list(both) == ["AP", "P@5"]
    assert both["P@5"].to_dict() == compare(pool, relevance, "P@5").to_dict()
    with pytest.raises(InputError, match="name each measure once"):
        compare(pool, relevance, ["AP", "AP"])


def test_a_comparison_made_by_hand_cannot_be_asked(pool, relevance):
    comparison = replace(compare(pool, relevance), setting=None)
    with pytest.raises(InputError, match="does not know what was compared"):
        comparison.with_ranks()


@pytest.mark.parametrize("options", [{}, {"topics": ("0", "2")}, {"baseline": "s1"}])
def test_lists_scored_below_the_depth_are_those_of_a_deeper_pool(options):
    """Of some topics or systems too; the deeper pool's own documents are not relevant."""
    options = dict(options)
    estimand = Estimand(scope="pool", score_depth=10, topics=options.pop("topics", "all"))
    options["estimand"] = estimand
    rng = np.random.default_rng(12)
    rankings = random_rankings(rng, 3, 4, 14, longest=10)
    pool = pool_of(rankings, depth=4)
    to_depth_10 = pool_of(rankings, depth=10)
    p = rng.random((5, pool.n_documents))
    of_whole = np.zeros((5, to_depth_10.n_documents))
    place = [
        to_depth_10.locate(t, pool.docnos[pool.documents(n)]) for n, t in enumerate(pool.topics)
    ]
    of_whole[:, np.concatenate(place)] = p
    for form in ("normal", "montecarlo"):
        result, wanted = (
            compare(of, Relevance.from_values(of, values[None]), form=form, **options)
            for of, values in ((pool, p), (to_depth_10, of_whole))
        )
        error = 1e-9 if form == "normal" else 4 * 0.5 / np.sqrt(result.meta["outcomes"])
        np.testing.assert_allclose(result.p_less, wanted.p_less, atol=error)
        np.testing.assert_allclose(result.expected, wanted.expected, atol=1e-9)
    result, wanted = (
        topic_differences(of, Relevance.from_values(of, values[None]), "s0", "s1", estimand)
        for of, values in ((pool, p), (to_depth_10, of_whole))
    )
    np.testing.assert_allclose(result.expected_difference, wanted.expected_difference, atol=1e-9)


def test_a_fit_has_its_own_relevance_level():
    pool = pool_of({"A": {"1": ["x", "y"]}, "B": {"1": ["y", "z"]}})
    judgments = rb.Judgments.from_qrels(pool, rb.Qrels({"1": {"x": 2, "y": 1}}), relevance_level=2)
    fit = rb.fit(pool, judgments, model="uniform")
    same = rb.compare(pool, fit, rb.Estimand(relevance_level=2))
    assert same.expected.tolist() == rb.compare(pool, fit).expected.tolist()
    with pytest.raises(rb.InputError, match="relevance_level is 3, and the fit's 2; leave it out"):
        rb.compare(pool, fit, rb.Estimand(relevance_level=3))


def test_where_nothing_is_judged_any_relevance_level_may_be_asked_for():
    pool = pool_of({"A": {"1": ["x", "y"]}, "B": {"1": ["y", "z"]}})
    level_2 = rb.Estimand(relevance_level=2)
    none = rb.Judgments.none(pool)
    compared = rb.compare(pool, rb.fit(pool, none, model="uniform"), level_2)
    assert compared.asked_setting.estimand.relevance_level == 2
    judged = rb.Judgments.none(pool, relevance_level=2).with_labels([0], [1.0])
    compared = rb.compare(pool, rb.fit(pool, judged, model="uniform"), level_2)
    assert compared.asked_setting.estimand.relevance_level == 2


def test_a_measure_is_found_as_it_was_written(pool, relevance):
    several = compare(pool, relevance, ["RBP(p=0.8)", "P@2"])
    assert several["RBP(p=0.8)"] is several["RBP"]
    assert several.get("RBP(p=0.8)") is several["RBP"]
    assert "RBP(p=0.8)" in several
    assert "P@3" not in several
    assert several.get("no measure") is None
    for other in ("P@3", "no measure"):
        with pytest.raises(
            InputError, match=f"'{other}' was not compared by; compared by: RBP, P@2"
        ):
            several[other]


def test_several_measures_are_written_as_the_command_does(pool, relevance, tmp_path):
    several = compare(pool, relevance, ["AP", "P@2"])
    several.to_csv(tmp_path / "two.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "two.csv"), several.to_frame())
    assert json.loads((tmp_path / "two.csv.meta.json").read_text())["seed"] == 0
    text = several.to_json(tmp_path / "two.json")
    assert json.loads(text) == json.loads((tmp_path / "two.json").read_text())
    assert [each["measure"] for each in json.loads(text)] == ["AP", "P@2"]


def test_no_measure_and_one_twice_are_told_apart(pool, relevance):
    with pytest.raises(InputError, match=r"^no measure; name one"):
        compare(pool, relevance, [])
    with pytest.raises(InputError, match=r"AP is named twice; name each measure once .MAP is AP."):
        compare(pool, relevance, ["AP", "P@2", "MAP"])


@pytest.mark.parametrize("asked", [{"moments": "exact"}, {"form": "normal"}])
def test_moments_of_a_measure_without_are_said_to_be_none(pool, relevance, asked):
    (name, value) = next(iter(asked.items()))
    with pytest.warns(CollectionWarning, match=f"{name}={value} .*says nothing of Bpref, whose"):
        compare(pool, relevance, ["AP", "Bpref"], outcomes=50, **asked)


@pytest.mark.parametrize("pair", [("s0", "s1"), ("s1", "s0")])
def test_expected_differences_are_those_of_expected_scores(make_pool, pair):
    pool = make_pool(np.random.default_rng(2), 5, 4, 30)
    values = np.random.default_rng(3).beta(1, 4, (160, pool.n_documents))
    made = compare(pool, rb.Relevance.from_values(pool, values))
    score = made.systems_frame().set_index("system")["expected"]
    a, b = (pool.systems[int(name[1:])] for name in pair)
    assert made.pair(a, b).expected_difference == pytest.approx(score[a] - score[b], abs=1e-12)


@pytest.mark.parametrize("confidence", ["0.95", 1.5])
def test_a_confidence_to_forecast_is_a_number(pool, relevance, confidence):
    with pytest.raises(InputError, match="the confidence to forecast is"):
        compare(pool, relevance).with_forecast(confidence)


@pytest.mark.parametrize("measure", ["AP", "Bpref"])
def test_all_pairs_by_topic_are_those_of_each(pool, relevance, measure):
    comparison = compare(pool, relevance, measure, outcomes=400)
    frame = comparison.per_topic()
    for a, b in zip(comparison.a, comparison.b, strict=True):
        own = rb.topic_differences(pool, relevance, a, b, measure, outcomes=400)
        rows = frame[(frame["a"] == a) & (frame["b"] == b)].drop(columns=["a", "b"])
        # draws of outcomes may be others where moments are sampled
        error = 1e-12 if measure == "AP" else 4 * own["sd"].max() / np.sqrt(400)
        if measure == "AP":
            np.testing.assert_allclose(rows["share"], own["share"], atol=1e-12)
        for name in ("expected_difference", "sd"):
            np.testing.assert_allclose(rows[name], own[name], atol=error)
        assert rows["topic"].tolist() == list(pool.topics)
    alone = pool.select(pool.systems[:1], keep_documents=True)
    assert compare(alone, relevance, measure).per_topic().empty


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.1], [0.2, 0.3]], "rows of unequal length"),
        ("none of it", r"probabilities of shape \(1, 0, \d+\)"),
    ],
)
def test_probabilities_without_a_draw_or_of_unequal_rows_are_refused(pool, values, message):
    values = np.full((1, 0, pool.n_documents), 0.1) if isinstance(values, str) else values
    with pytest.raises(InputError, match=message):
        Relevance.from_values(pool, values)
