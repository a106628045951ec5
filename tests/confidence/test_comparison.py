import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from pools import POOL_ALONE
from scipy import stats

from rtc_bayes import (
    Comparison,
    Comparisons,
    Estimand,
    InputError,
    Judgments,
    Relevance,
    compare,
    fit,
    moments,
)
from rtc_bayes.report.pairs import pairs_table
from rtc_bayes.store import read_dataset

COLUMNS = [
    "a",
    "b",
    "expected_difference",
    "sd",
    "p_less",
    "p_equal",
    "p_greater",
    "form",
    "skewness",
    "excess_kurtosis",
    "variance_unjudged",
    "variance_parameters",
    "sd_shared",
    "confidence",
    "low",
    "high",
]


@pytest.fixture(scope="module")
def comparison(make_pool):
    pool = make_pool(np.random.default_rng(1), 12, 3, 8)
    p = np.full(pool.n_documents, 0.3)
    p[pool.documents(0)] = 1.0
    return compare(pool, Relevance.from_values(pool, p, model="toy", method="map"), outcomes=500)


def test_the_json_is_the_contract_s(comparison, tmp_path):
    comparison.to_json(tmp_path / "out.json")
    content = json.loads((tmp_path / "out.json").read_text())
    assert content == json.loads(comparison.to_json())
    assert list(content) == [
        "measure",
        "moments",
        "model",
        "method",
        "topics",
        "systems",
        "pairs",
        "meta",
    ]
    assert (content["measure"], content["moments"], content["topics"]) == ("AP", "exact", 3)
    assert (content["model"], content["method"]) == ("toy", "map")
    assert [set(row) for row in content["systems"]] == [{"system", "expected", "sd"}] * 12
    assert [list(row) for row in content["pairs"]] == [COLUMNS] * 66
    order = comparison.systems
    assert all(order.index(row["a"]) < order.index(row["b"]) for row in content["pairs"])
    sums = [row["p_less"] + row["p_equal"] + row["p_greater"] for row in content["pairs"]]
    assert sums == pytest.approx(np.ones(66))
    assert content["meta"]["seed"] == 0
    assert content["meta"]["outcomes"] == 500
    assert "version" in content["meta"]


def test_an_interval_of_a_difference_is_wider_than_a_normal_s(comparison):
    a, b = comparison.systems[:2]
    pair = comparison.pair(a, b)
    wide = stats.norm(pair.expected_difference, 1.1857 * pair.sd)
    expected = wide.ppf([0.025, 0.975])
    assert pair.interval == pytest.approx(expected, rel=1e-3)
    assert pair.reversed().interval == pytest.approx([-expected[1], -expected[0]], rel=1e-3)
    low, high = pair.interval
    shown = pairs_table(comparison).set_index(["better", "worse"])["difference (95% interval)"]
    text = shown[pair.better, b if pair.better == a else a].replace("−", "-")
    ends = sorted((low, high)) if pair.better == a else (-high, -low)
    assert text.endswith(f"({ends[0]:.4f} to {ends[1]:.4f})")


def test_undefined_is_null(make_pool):
    pool = make_pool(np.random.default_rng(1), 2, 2, 4)
    certain = compare(pool, Relevance.from_values(pool, np.ones(8)), POOL_ALONE)
    row = json.loads(certain.to_json())["pairs"][0]
    assert row["skewness"] is None
    assert row["excess_kurtosis"] is None
    assert row["variance_parameters"] == 0
    assert "NaN" not in certain.to_json()


def test_the_csv_has_the_pairs_and_their_provenance(comparison, tmp_path):
    comparison.to_csv(tmp_path / "out.csv")
    result = pd.read_csv(tmp_path / "out.csv")
    assert list(result.columns) == COLUMNS
    pd.testing.assert_frame_equal(result, comparison.to_frame(), check_dtype=False)
    np.testing.assert_allclose(
        result[["low", "high"]], [pair.interval for pair in comparison.pairs], atol=1e-12
    )
    assert json.loads((tmp_path / "out.csv.meta.json").read_text())["seed"] == 0


def test_what_is_no_path_is_refused(comparison):
    for wrong in (5, None, 1.5, ["out.csv"]):
        with pytest.raises(InputError, match="is no file's name; give a text or a Path"):
            comparison.to_csv(wrong)


def body_of(latex):
    """The rows of each tabular, cell by cell."""
    return [
        [
            row.removesuffix(r" \\").split(" & ")
            for row in part.split("\\bottomrule")[0].split("\n")[1:-1]
        ]
        for part in latex.split("\\midrule")[1:]
    ]


def test_latex_has_the_ranking_and_all_pairs_as_they_are_read(comparison, tmp_path):
    text = comparison.to_latex(tmp_path / "pairs.tex")
    assert (tmp_path / "pairs.tex").read_text() == text
    systems, pairs = body_of(text)
    shown = pairs_table(comparison)
    assert [row[:2] for row in pairs] == shown[["better", "worse"]].to_numpy().tolist()
    assert len(pairs) == 66
    assert [row[0] for row in systems] == [*comparison.ranking()]
    expected, sd = comparison.systems_frame()[["expected", "sd"]].iloc[0]
    low, high = max(expected - 1.96 * sd, 0.0), expected + 1.96 * sd
    assert systems[0][1] == f"{expected:.4f} ({low:.4f} to {high:.4f})"
    assert body_of(comparison.to_latex(table="systems")) == [systems]
    assert body_of(comparison.to_latex(table="pairs")) == [pairs]


def test_markdown_has_the_same_tables(comparison, tmp_path):
    text = comparison.to_markdown(tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text() == text
    parts = [[line for line in text.splitlines() if line.startswith("| ")]]
    systems, pairs = parts[0][:14], parts[0][14:]
    assert [line.split(" | ")[0] for line in systems[2:]] == [
        f"| {s}" for s in comparison.ranking()
    ]
    assert pairs[0] == "| better | worse | P(better) | difference (95% interval) |"
    assert len(pairs) == 68
    for row, line in zip(body_of(comparison.to_latex(table="pairs"))[0], pairs[2:], strict=True):
        cells = [cell.strip("|").strip() for cell in line.split(" | ")]
        assert cells == [
            cell.replace("$-$", "−").replace(r"\textgreater{}", ">").replace(r"\textless{}", "<")
            for cell in row
        ]


def test_names_are_escaped_in_tables_for_papers(comparison):
    names = ("a_b & 100%", "[best]", "*star", "x|y", "u--v", "<b>", *comparison.systems[6:])
    new = dict(zip(comparison.systems, names, strict=True))
    renamed = replace(
        comparison,
        systems=names,
        a=tuple(map(new.__getitem__, comparison.a)),
        b=tuple(map(new.__getitem__, comparison.b)),
    )
    (systems,) = body_of(renamed.to_latex(table="systems"))
    written = {row[0] for row in systems}
    assert {r"{}[best]", "{}*star", r"x\textbar{}y", "u-{}-v"} <= written
    assert r"a\_b \& 100\%" in written
    assert r"\textless{}b\textgreater{}" in written
    markdown = renamed.to_markdown(table="systems")
    for name in ("| x\\|y |", "| \\<b> |", "| a_b & 100% |"):
        assert name in markdown


def test_tables_for_papers_refuse_what_they_cannot_do(comparison, tmp_path):
    for write in (comparison.to_latex, comparison.to_markdown):
        with pytest.raises(InputError, match="table is 'topics'; give both, systems or pairs"):
            write(table="topics")
        with pytest.raises(InputError, match="its folder does not exist"):
            write(tmp_path / "nowhere" / "table")
        with pytest.raises(InputError, match="judgments"):
            write(judgments="few.qrels")


def test_one_system_has_no_table_of_pairs(make_pool):
    pool = make_pool(np.random.default_rng(1), 1, 2, 4)
    alone = compare(pool, Relevance.from_values(pool, np.full(pool.n_documents, 0.5)))
    assert alone.to_latex().count(r"\begin{tabular}") == 1
    with pytest.raises(InputError, match="there are no pairs: one system; leave table"):
        alone.to_markdown(table="pairs")


@pytest.fixture(scope="module")
def several(make_pool):
    pool = make_pool(np.random.default_rng(2), 3, 3, 8)
    relevance = Relevance.from_values(pool, np.full(pool.n_documents, 0.3))
    return compare(pool, relevance, ["RBP(p=0.8)", "P@5", "AP"])


@pytest.mark.parametrize("file", ["several.nc", "several.zarr"])
def test_several_measures_are_saved_and_loaded_in_their_order(several, tmp_path, file):
    several.save(tmp_path / file)
    loaded = Comparisons.load(tmp_path / file)
    assert list(loaded) == list(several)
    assert loaded.to_json() == several.to_json()
    assert loaded.to_latex() == several.to_latex()
    pd.testing.assert_frame_equal(loaded.to_frame(), several.to_frame())
    assert loaded["RBP(p=0.8)"].to_xarray().identical(several["RBP"].to_xarray())


def test_one_measure_is_told_from_several_where_it_is_loaded(several, comparison, tmp_path):
    several.save(tmp_path / "several.nc")
    comparison.save(tmp_path / "one.nc")
    with pytest.raises(InputError, match=r"Comparisons\.load of comparisons by several measures"):
        Comparison.load(tmp_path / "several.nc")
    with pytest.raises(InputError, match=r"Comparison\.load loads a comparison by one"):
        Comparisons.load(tmp_path / "one.nc")
    with pytest.raises(InputError, match="no such file"):
        Comparisons.load(tmp_path / "nothing.nc")
    with pytest.raises(InputError, match="netCDF and zarr are written"):
        several.save(tmp_path / "several.csv")


def test_several_measures_have_the_tables_of_each(several, tmp_path):
    text = several.to_latex(tmp_path / "several.tex")
    assert (tmp_path / "several.tex").read_text() == text
    assert body_of(text) == [rows for each in several.values() for rows in body_of(each.to_latex())]
    markdown = several.to_markdown(tmp_path / "several.md", table="pairs")
    assert (tmp_path / "several.md").read_text() == markdown
    assert markdown == "\n".join(each.to_markdown(table="pairs") for each in several.values())


def test_a_pair_in_either_order(comparison):
    one, other = comparison.pair("s2", "s5"), comparison.pair("s5", "s2")
    assert one == other.reversed()
    assert (one.p_less, one.expected_difference) == (other.p_greater, -other.expected_difference)
    assert one.confidence == other.confidence
    assert one.better == other.better
    n = comparison.pairs.index(one)
    assert comparison.confidence[n] == one.confidence
    for names, message in ((("s2", "s99"), "s99"), (("s2", "s2"), "itself")):
        with pytest.raises(InputError, match=message):
            comparison.pair(*names)


def test_every_pair_is_found_without_building_the_others(comparison, monkeypatch):
    every = comparison.pairs
    monkeypatch.setattr(Comparison, "pairs", None)
    assert tuple(comparison.pair(pair.a, pair.b) for pair in every) == every


def test_the_better_of_a_pair(comparison):
    pair = replace(comparison.pairs[0], p_less=0.2, p_equal=0.1, p_greater=0.7)
    assert pair.better == pair.a
    assert pair.confidence == pytest.approx(0.75)
    assert replace(pair, p_less=0.4, p_equal=0.2, p_greater=0.4).better is None


def test_the_ranking_is_by_expected_score_then_as_given(comparison):
    level = replace(comparison, expected=np.array([0.1, 0.3, 0.1, 0.3] + [0.0] * 8))
    assert level.ranking()[:5] == ("s1", "s3", "s0", "s2", "s4")
    frame = comparison.systems_frame()
    assert list(frame.columns) == ["system", "expected", "sd"]
    by_score = frame.sort_values("expected", ascending=False, kind="stable")
    assert tuple(by_score["system"]) == comparison.ranking()


def test_it_shows_the_best_systems_and_how_sure_one_is(comparison):
    text = repr(comparison)
    assert "12 systems, 66 pairs" in text
    assert "AP over 3 topics" in text
    assert comparison.ranking()[0] in text.splitlines()[1]
    assert "2 more" in text
    assert "0.95 or more" in text


def test_it_shows_what_to_take_care_of(make_pool):
    pool = make_pool(np.random.default_rng(5), 3, 4, 7)
    fitted = fit(
        pool, Judgments.from_labels(pool, [0], [1], judged_for=pool.systems), model="rtc:map"
    )
    comparison = compare(pool, fitted)
    cautions = [comparison.judged_text, comparison.level_text]
    assert all(cautions)
    assert [line.strip() for line in repr(comparison).splitlines()[-2:]] == cautions


def test_comparisons_by_several_measures_show_what_to_take_care_of(make_pool):
    pool = make_pool(np.random.default_rng(5), 3, 4, 7)
    fitted = fit(
        pool, Judgments.from_labels(pool, [0], [1], judged_for=pool.systems), model="rtc:map"
    )
    both = compare(pool, fitted, ["AP", "P@2"])
    assert both["AP"].judged_text == both["P@2"].judged_text
    assert both["AP"].level_text
    assert both["P@2"].level_text is None
    assert repr(both).splitlines()[1:] == [
        f"  {both['AP'].judged_text}",
        f"  AP: {both['AP'].level_text}",
    ]


def test_scores_by_topic(make_pool):
    rng = np.random.default_rng(5)
    pool = make_pool(rng, 5, 4, 7)
    point = rng.uniform(0.1, 0.9, pool.n_documents)
    draws = rng.uniform(0.1, 0.9, (1, 3, pool.n_documents))
    for values in (point, draws):
        comparison = compare(pool, Relevance.from_values(pool, values), estimand=POOL_ALONE)
        scores = comparison.score_matrix()
        assert (scores.systems, scores.topics) == (pool.systems, pool.topics)
        assert scores.measure == "AP"
        assert scores.mean.mean(axis=1) == pytest.approx(comparison.expected, abs=1e-12)
        by_draw = [
            moments(pool, one, pairs="none") for one in np.reshape(values, (-1, pool.n_documents))
        ]
        within = np.mean([table.variance[0] for table in by_draw], axis=0)
        between = np.var([table.expected[0] for table in by_draw], axis=0)
        assert scores.variance == pytest.approx(within + between, abs=1e-12)
        assert (scores.variance > 0).all()
    with pytest.raises(InputError, match="does not know what was compared"):
        replace(comparison, setting=None).score_matrix()


def test_scores_by_topic_of_many_draws_have_the_means_of_the_comparison(make_pool):
    rng = np.random.default_rng(6)
    pool = make_pool(rng, 4, 3, 6)
    draws = rng.beta(2, 4, (2, 150, pool.n_documents))
    for moments_of in ("exact", "plugin"):
        comparison = compare(pool, Relevance.from_values(pool, draws), moments=moments_of)
        scores = comparison.score_matrix()
        assert scores.mean.mean(axis=1) == pytest.approx(comparison.expected, abs=1e-12)


def test_many_draws_leave_a_judged_topic_its_scores(make_pool):
    """What differs between draws by rounding alone is not drawn out by a line through it."""
    rng = np.random.default_rng(6)
    pool = make_pool(rng, 7, 6, 9)
    draws = rng.beta(2, 4, (1, 150, pool.n_documents))
    judged = np.isin(pool.topic_of, [0, 2, 3, 5])
    draws[..., judged] = rng.random(judged.sum()) < 0.6
    one, many = (
        compare(pool, Relevance.from_values(pool, values)).score_matrix()
        for values in (draws[:, :1], draws)
    )
    for topic in (0, 2, 3, 5):
        np.testing.assert_allclose(many.mean[:, topic], one.mean[:, topic], atol=1e-12)
        np.testing.assert_allclose(many.variance[:, topic], 0.0, atol=1e-12)


def test_scores_by_topic_of_a_measure_without_moments(make_pool):
    rng = np.random.default_rng(7)
    pool = make_pool(rng, 3, 3, 6)
    p = rng.uniform(0.2, 0.8, pool.n_documents)
    about = Estimand("Bpref", residual=0.0)
    comparison = compare(pool, Relevance.from_values(pool, p), about, outcomes=4000)
    scores = comparison.score_matrix()
    sd = np.sqrt(scores.variance.sum(axis=1)) / 3
    assert sd == pytest.approx(comparison.sd, rel=0.06)
    error = 4 * sd * np.sqrt(2 / 4000)
    assert (np.abs(scores.mean.mean(axis=1) - comparison.expected) < error).all()
    assert scores.measure == "Bpref"


def test_it_cannot_be_changed(comparison):
    with pytest.raises(FrozenInstanceError):
        comparison.measure = "P@5"
    with pytest.raises(ValueError, match="read-only"):
        comparison.p_less[0] = 0.5


def test_a_labelled_data_set_goes_to_disk_and_back(make_pool, comparison, tmp_path):
    pool = make_pool(np.random.default_rng(3), 2, 3, 8)
    certain = compare(pool, Relevance.from_values(pool, np.zeros(pool.n_documents)))
    alone = pool.select(pool.systems[:1])
    one = compare(alone, Relevance.from_values(alone, np.full(alone.n_documents, 0.5)))
    half = compare(pool, Relevance.from_values(pool, np.full(pool.n_documents, 0.5)))
    asked = half.with_equivalence(0.01).with_ranks().with_population()
    for n, compared in enumerate((comparison, certain, one, asked)):
        compared.save(tmp_path / f"{n}.nc")
        data = read_dataset(tmp_path / f"{n}.nc")
        assert data.attrs["measure"] == compared.measure
        assert json.loads(data.attrs["meta"]) == json.loads(compared.to_json())["meta"]
        for name in ("expected", "sd", "sd_difference", "p_less", "skewness", "p_rope", "p_best"):
            values = getattr(compared, name)
            assert (values is None) == (name not in data)
            if values is not None:
                np.testing.assert_array_equal(data[name], values)
        assert tuple(data["a"].values) == compared.a
        assert tuple(data["form"].values) == compared.form
        assert tuple(data["topic"].values) == compared.topics
        loaded = Comparison.load(tmp_path / f"{n}.nc")
        assert loaded.to_dict() == json.loads(compared.to_json())
        assert (loaded.systems, repr(loaded)) == (compared.systems, repr(compared))
        with pytest.raises(InputError, match="it was loaded, or made by hand"):
            loaded.with_ranks()
    relevance = Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    needed = compare(pool, relevance).with_forecast(0.99)
    assert needed.judgments_needed
    needed.save(tmp_path / "needed.zarr")
    assert Comparison.load(tmp_path / "needed.zarr").judgments_needed == needed.judgments_needed


def test_what_is_no_comparison_is_not_loaded(make_pool, tmp_path):
    pool = make_pool(np.random.default_rng(3), 2, 3, 8)
    pool.save(tmp_path / "pool.nc")
    with pytest.raises(InputError, match="this data set is no comparison"):
        Comparison.load(tmp_path / "pool.nc")
    fit(pool, Judgments.none(pool), model="uniform").save(tmp_path / "fit.nc")
    with pytest.raises(InputError, match=r"fit\.nc: holds something else, or is damaged"):
        Comparison.load(tmp_path / "fit.nc")
