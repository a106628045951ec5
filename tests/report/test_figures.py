import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from pools import pool_of

from rtc_bayes import (
    Relevance,
    compare,
    plot_accuracy,
    plot_difference,
    plot_matrix,
    plot_ranking,
)
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.errors import InputError
from rtc_bayes.report import figures
from rtc_bayes.report.drawing import COLOURS, colour_of, fold, short, to_svg


@pytest.fixture
def pairs():
    rng = np.random.default_rng(2)
    n = 400
    confidence = rng.uniform(0.5, 1, n)
    return pd.DataFrame(
        {
            "trial": np.repeat(np.arange(20), 20),
            "algorithm": np.tile(["ip", "rtc:map"], n // 2),
            "confidence": np.where(np.arange(n) % 2, confidence, np.nan),
            "correct": (rng.uniform(size=n) < confidence).astype(int),
        }
    )


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_confidence_accuracy_leaves_out_who_has_no_confidence(pairs):
    axes = figures.confidence_accuracy(pairs).axes[0]
    assert labels(axes) == ["break-even", "rtc:map"]
    x, y = axes.collections[-1].get_offsets().T
    with_confidence = pairs.dropna()
    lowest = with_confidence[with_confidence["confidence"] < 0.6]
    assert x[0] == pytest.approx(lowest["confidence"].mean(), abs=0.01)
    assert y[0] == pytest.approx(lowest["correct"].mean())


def test_an_algorithm_keeps_its_colour(pairs):
    alone = figures.confidence_accuracy(pairs).axes[0].collections[-1].get_facecolor()
    assert tuple(alone[0][:3]) == pytest.approx((0xD5 / 255, 0x5E / 255, 0))


def many(algorithms, accuracy=0.3):
    """Pairs of several algorithms, half of confidence .55 and half of .95."""
    return pd.concat(
        pd.DataFrame(
            {
                "trial": np.repeat(np.arange(10), 4),
                "algorithm": algorithm,
                "confidence": [0.55, 0.95] * 20,
                "correct": (np.arange(40) < 40 * accuracy).astype(int),
            }
        )
        for algorithm in algorithms
    ).reset_index(drop=True)


def test_many_algorithms_have_a_panel_each():
    names = ["ip", "a", "b", "c", "rtc[cell_weight=.1,intercept=yes]:map", "e"]
    every = many(names)
    every.loc[every["algorithm"] == "ip", "confidence"] = np.nan
    each = [axes for axes in figures.confidence_accuracy(every).axes if axes.get_visible()]
    titles = [axes.get_title("left") for axes in each]
    assert titles == ["a", "b", "c", "rtc[cell_weight=.1,\nintercept=yes]:map", "e"]
    colours = {tuple(axes.collections[-1].get_facecolor()[0]) for axes in each}
    assert len(colours) == 5


def test_groups_share_a_panel_for_each_algorithm():
    pairs = many(["a", "b"])
    # 3 pairs are too few for a point
    names = np.where(pairs.index % 40 < 3, "few", np.where(pairs.index % 2, "odd", "even"))
    group = pd.Series(pd.Categorical(names, ["even", "odd", "few"]))
    figure = figures.confidence_accuracy_by(pairs, group)
    dollars = figures.confidence_accuracy_by(pairs, group.cat.rename_categories({"odd": "$a_$b"}))
    assert "</svg>" in to_svg(dollars)
    first = figure.axes[0]
    points = {c.get_label(): c.get_offsets() for c in first.collections if len(c.get_offsets())}
    # even pairs have .55, odd ones .95; those left out are among the first 12, which are right
    assert points["even"][0][1] == pytest.approx((6 - 2) / 18)
    assert points["odd"][0][1] == pytest.approx((6 - 1) / 19)
    assert "few" not in points
    legend = figure.legends[0].get_texts()
    assert [text.get_text() for text in legend] == ["break-even", "even", "odd", "few"]


def assert_nothing_cut_off(figure):
    """Every point of every panel lies within its panel, wholly."""
    FigureCanvasAgg(figure).draw()
    for axes in figure.axes:
        panel = axes.get_window_extent()
        for points in axes.collections:
            if not isinstance(points, PathCollection):
                continue
            centres = axes.transData.transform(points.get_offsets())
            radius = np.sqrt(points.get_sizes())[:, None] / 2 * figure.dpi / 72
            assert (centres - radius >= panel.min).all()
            assert (centres + radius <= panel.max).all()


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c", "d", "e"]])
def test_no_point_is_cut_off(names):
    pairs = many(names, accuracy=0.1)
    everyone = pd.Series(pd.Categorical(["all"] * len(pairs)))
    for figure in (
        figures.confidence_accuracy(pairs),
        figures.confidence_accuracy_by(pairs, everyone),
    ):
        assert_nothing_cut_off(figure)


def test_names_fold_before_brackets_and_after_commas():
    assert fold("rtc:map", 10) == "rtc:map"
    assert fold("rtc[a=1,b=2]", 7) == "rtc\n[a=1,\nb=2]"
    assert fold("rtc[a=1,b=2]", 9) == "rtc[a=1,\nb=2]"


def test_ranking_puts_the_best_on_top():
    systems = pd.DataFrame(
        {
            "system": ["low", "high", "middle"],
            "expected": [0.1, 0.3, 0.2],
            "sd": [0.01, 0.02, np.nan],
            "true": [0.1, 0.2, 0.3],
            "judged_for": [True, False, False],
        }
    )
    axes = figures.ranking(systems)
    ticks = axes.get_yticklabels()
    assert [t.get_text() for t in ticks] == ["low", "middle", "high"]
    assert [t.get_fontweight() for t in ticks] == ["bold", "normal", "normal"]
    # one axis for both, so that they can be compared
    assert axes.get_figure().axes == [axes]
    expected, true = (line.get_xdata().tolist() for line in axes.lines)
    assert (expected, true) == ([0.1, 0.2, 0.3], [0.1, 0.3, 0.2])
    assert labels(axes) == ["expected, with 95% interval", "true"]
    assert len(figures.ranking(systems.drop(columns="true")).lines) == 1


def test_no_interval_of_a_score_goes_below_0():
    systems = pd.DataFrame({"system": ["a", "b"], "expected": [0.1, 0.5], "sd": [0.1, 0.1]})
    (low, _), (high, _) = figures.ranking(systems).collections[0].get_segments()
    assert (low[0], high[0]) == (0.0, pytest.approx(0.5 - NORMAL_95 * 0.1))


def test_matrix_is_antisymmetric_and_frames_errors():
    pairs = pd.DataFrame(
        {
            "a": ["x", "x", "y"],
            "b": ["y", "z", "z"],
            "p_equal": [0.0, 0.1, 0.0],
            "p_greater": [0.2, 0.45, 1.0],
            "correct": [0.0, 1.0, np.nan],
        }
    )
    axes = figures.confidence_matrix(pairs, ["z", "y", "x"])
    shown = np.asarray(axes.images[0].get_array())
    expected = [[np.nan, 0, 0.5], [1, np.nan, 0.8], [0.5, 0.2, np.nan]]
    np.testing.assert_allclose(shown.astype(float), expected)
    frames = [patch.get_center() for patch in axes.patches]
    assert sorted(map(tuple, np.round(frames))) == [(1.0, 2.0), (2.0, 1.0)]
    assert {t.get_text() for t in axes.texts} == {".50", ".20", ".80", "0", "1"}


def test_a_cell_that_rounds_to_certainty_says_so():
    pairs = pd.DataFrame({"a": ["x"], "b": ["y"], "p_equal": [0.0], "p_greater": [0.9981]})
    axes = figures.confidence_matrix(pairs, ["x", "y"])
    assert {text.get_text() for text in axes.texts} == {">.99", "<.01"}


def test_judgments_per_topic_stack():
    frame = pd.DataFrame({"topic": ["401", "402"], "judged": [5, 3], "relevant": [2, 0]})
    bars = figures.judgments_per_topic(frame).patches
    assert [bar.get_height() for bar in bars] == [2, 0, 3, 3]


def test_judging_cost_reaches_one():
    frame = pd.DataFrame({"algorithm": ["ip"] * 3 + ["mtc"], "judged": [9, 3, 30, 8]})
    lines = figures.judging_cost(frame).lines
    assert lines[0].get_xdata().tolist() == [3, 9, 30]
    assert lines[0].get_ydata()[-1] == 1


def test_panels_for_every_algorithm():
    frame = pd.DataFrame(
        {"algorithm": ["a", "b", "c", "d"], "expected": [0.1] * 4, "true": [0.2] * 4}
    )
    panels = figures.expected_against_true(frame).axes
    assert [p.get_title("left") for p in panels if p.get_visible()] == ["a", "b", "c", "d"]


def test_a_colour_means_one_algorithm_on_every_figure(pairs):
    """Also where one has no confidence, and another no trial that succeeded."""
    names = ["ip", "rtc:map", "robust"]
    later = pd.DataFrame({"algorithm": "robust", "judged": [1, 2], "expected": 0.1, "true": 0.2})
    colour = to_rgb(colour_of("robust", names))
    assert to_rgb(figures.judging_cost(later, algorithms=names).lines[0].get_color()) == colour
    points = figures.expected_against_true(later, algorithms=names).axes[0].collections[0]
    assert tuple(points.get_facecolor()[0][:3]) == colour
    assert_nothing_cut_off(figures.expected_against_true(later.assign(expected=0.0)))
    mine = pairs.assign(algorithm="robust")
    line = figures.accuracy_lines(mine, algorithms=names).collections[-1]
    assert tuple(line.get_facecolor()[0][:3]) == colour
    two = pairs.iloc[:1].assign(a="x", b="y", p_equal=0.0, p_greater=0.9)
    matrix = figures.confidence_matrix(two, ["x", "y"]).images[0].cmap
    assert not {to_hex(matrix(end)).lower() for end in (0.0, 1.0)} & {c.lower() for c in COLOURS}


def test_same_data_same_bytes(pairs):
    first, second = (to_svg(figures.confidence_accuracy(pairs)) for _ in range(2))
    assert first == second
    assert first.count("<svg") == 1


def test_points_of_at_least_so_many_pairs(pairs):
    mine = pairs.dropna(subset=["confidence"])
    least = len(mine) // 4 - 1
    points = figures.accuracy_lines(pairs, algorithms=["rtc:map"], least=least).collections[-1]
    ordered = mine.sort_values("confidence", kind="stable")
    rows = np.array_split(np.arange(len(mine)), len(mine) // least)
    parts = [ordered.iloc[inside] for inside in rows]
    assert len(parts) == 4
    assert min(map(len, parts)) >= least
    x, y = np.asarray(points.get_offsets()).T
    assert x == pytest.approx([part["confidence"].mean() for part in parts])
    assert y == pytest.approx([part["correct"].mean() for part in parts])
    none = figures.accuracy_lines(pairs, algorithms=["rtc:map"], least=len(mine) + 1)
    assert len(none.collections[-1].get_offsets()) == 0
    with pytest.raises(InputError, match="least"):
        figures.accuracy_lines(pairs, least=0)


def test_axes_are_asked_for():
    pool = pool_of({"A": {"1": "ab"}, "B": {"1": "ba"}})
    comparison = compare(pool, Relevance.from_values(pool, [0.5, 0.5]))
    with pytest.raises(InputError, match="ax is a Figure; give Matplotlib axes"):
        plot_ranking(comparison, ax=Figure())


def test_a_name_between_dollars_is_no_formula():
    """Such a run, `$model_$fold` as a shell left it, ended every page and figure in an error."""
    names = ["$model_$fold", "B"]
    pool = pool_of({name: {"1": docs} for name, docs in zip(names, ("ab", "ba"), strict=True)})
    comparison = compare(pool, Relevance.from_values(pool, [0.9, 0.1]))
    for axes in (
        plot_ranking(comparison),
        plot_matrix(comparison),
        plot_difference(comparison, *names),
    ):
        FigureCanvasAgg(axes.figure).draw()
        plt.close(axes.figure)
    assert "$model_$fold" in comparison.to_html()


def test_names_longer_than_a_figure_has_room_for_lose_their_middle():
    """Else panels are squeezed to nothing, and their names cut off."""
    long = "university-of-somewhere-2024-bm25-rm3-then-monot5-3b"
    pool = pool_of({name: {"1": docs} for name, docs in ((long, "ab"), ("B", "ba"))})
    comparison = compare(pool, Relevance.from_values(pool, [0.9, 0.1]))
    axes = plot_matrix(comparison)
    FigureCanvasAgg(axes.figure).draw()
    page = axes.figure.bbox
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        shown = label.get_window_extent()
        assert (shown.x0 >= page.x0, shown.y0 >= page.y0) == (True, True), label.get_text()
    plt.close(axes.figure)
    assert short([long, "B"]) == ["university-of-so…-then-monot5-3b", "B"]
    twins = [f"{'a' * 20}{n}{'b' * 20}" for n in range(2)]
    assert short(twins) == twins


def test_many_algorithms_differ_by_colour_or_marker_and_leave_room_for_the_panel():
    """The ninth looked like the first, and eleven names left the panel an inch."""
    axes = plot_accuracy(many([f"rtc[smoothing=beta,cell_weight={n}]:map" for n in range(11)]))
    looks = {
        (to_hex(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in axes.collections
        if isinstance(points, PathCollection)
    }
    assert len(looks) == 11
    FigureCanvasAgg(axes.figure).draw()
    assert axes.get_window_extent().height / axes.figure.dpi > 2.5  # inches
    plt.close(axes.figure)


def test_names_of_judgments_stay_inside_axes_that_have_no_room_above():
    figure, axes = plt.subplots()
    judged = pd.DataFrame({"topic": ["1", "2"], "judged": [3, 4], "relevant": [1, 4]})
    figures.judgments_per_topic(judged, axes)
    FigureCanvasAgg(figure).draw()
    assert axes.get_legend().get_window_extent().y1 <= axes.get_window_extent().y1
    plt.close(figure)
