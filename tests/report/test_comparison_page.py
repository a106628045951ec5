"""The page of a comparison, its plots, and what a notebook shows."""

import html
import re

import matplotlib as mpl
import pytest

import rtc_bayes as rb
from rtc_bayes.report.command_tables import comparison_tables
from rtc_bayes.report.notebook import html_of
from rtc_bayes.report.pairs import better_first, more_judgments, pairs_table

mpl.use("Agg")


@pytest.fixture(scope="module")
def judgments():
    simulated = rb.simulate(n_topics=4, n_systems=4, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    return rb.build(pool, simulated.qrels, "rtc:map", confidence=None, budget=12).judgments


@pytest.fixture(scope="module")
def comparison(judgments):
    fit = rb.fit(judgments.pool, judgments, model="rtc")
    return rb.compare(judgments.pool, fit, outcomes=500)


def test_a_page_shows_all_that_is_known(comparison, judgments, tmp_path):
    path = tmp_path / "page.html"
    text = comparison.to_html(path, judgments, algorithm="rtc:map")
    assert path.read_text() == text
    for title in (
        "What the numbers are about",
        "Who is confidently better than whom",
        "How far the judgments go",
        "What to judge next",
    ):
        assert title in text
    assert comparison.meta["about"] in text
    share = comparison.meta["unjudged_relevant"]
    assert 0 < share < 1
    assert f"{share:.0%} are without a judgment" in text
    assert text.count("<img") == 3
    assert text.count('src="data:') == 3
    assert 'href="http' not in text


def test_a_page_of_several_measures(judgments, tmp_path):
    fit = rb.fit(judgments.pool, judgments, model="rtc")
    by = rb.compare(judgments.pool, fit, ["AP", "P@10"], outcomes=500)
    text = by.to_html(tmp_path / "page.html", judgments, algorithm="rtc:map")
    assert (tmp_path / "page.html").read_text() == text
    for title in ("By each measure", "By MAP", "By mean P@10", "What to judge next"):
        assert text.count(f"<h2>{title}</h2>") == 1
    assert text.count("<h3>Expected scores</h3>") == 2
    assert text.count("<img") == 5
    # the tables of all measures: first scores, then what each pair has
    table, pairs = re.findall(r"<table>.*?</table>", text, re.DOTALL)[:2]
    best = by["AP"].ranking()[0]
    for measure in ("AP", "P@10"):
        score = by[measure].systems_frame().set_index("system").loc[best, "expected"]
        assert f"{score:.4f}" in table
    ranked = [by["P@10"].pair(pair.a, pair.b) for pair in better_first(by["AP"])]
    chances = [pair.p_greater + pair.p_equal / 2 for pair in ranked]
    assert all(f">{chance:.3f}<" in pairs for chance in chances)
    ahead = sum(chance > 0.5 for chance in chances)
    assert f"the same system ahead in {ahead} of 6 pairs; in none two measures are" in text


def test_measures_may_be_sure_of_opposite_orders():
    run = rb.Run.from_rankings
    deep = [f"r{i}" for i in range(8)]
    # one relevant document first, or many of them late
    runs = rb.Runs(
        [
            run("first", {"1": ["r0", *(f"x{i}" for i in range(9))]}),
            run("many", {"1": ["x9", *deep]}),
        ]
    )
    pool = rb.Pool.from_runs(runs)
    labels = [float(docno.startswith("r")) for docno in pool.docnos]
    by = rb.compare(pool, rb.Relevance.from_values(pool, labels), ["P@1", "P@10"])
    assert "in 1 pair two measures are 95% sure of opposite orders" in by.to_html()


def test_labels_are_counted_where_they_reach(comparison, judgments):
    pool = judgments.pool
    docnos = [*pool.docnos[pool.documents(0)][:3], "typo"]
    labels = rb.Labels.of([pool.topics[0]] * 4, docnos, ["llm"] * 4, [1, 0, 1, 0])
    with pytest.warns(rb.CollectionWarning, match="no label is of 3 of 4 topics: "):
        beside = judgments.with_judge_labels(labels)
    said = f"3 of 4 labels, of 3 of the pool's {pool.n_documents} documents, in 1 of 4 topics"
    page = comparison.to_html(None, beside)
    assert f"evidence beside the lists: {said}" in html.unescape(page)
    assert f"seed 3\n{said}" in comparison_tables(comparison, beside, seed=3)[0].title


def test_without_judgments_nothing_is_said_of_them(comparison):
    text = comparison.to_html()
    assert "What to judge next" not in text
    assert text.count("<img") == 2


def test_one_system_has_nothing_to_compare(judgments):
    alone = judgments.pool.select([judgments.pool.systems[0]], keep_documents=True)
    comparison = rb.compare(alone, rb.fit(alone, judgments.on(alone), model="rtc"))
    assert "There is nothing to compare" in comparison.to_html(None, judgments.on(alone))
    assert "nothing to compare" in repr(comparison)
    assert html_of(comparison).count("<table>") == 1


def test_the_better_system_stands_first(comparison):
    for pair in better_first(comparison):
        assert pair.p_greater >= pair.p_less
        assert pair.expected_difference == comparison.pair(pair.a, pair.b).expected_difference
    table = pairs_table(comparison.with_forecast(0.9))
    assert (table["P(better)"] >= 0.5).all()
    assert table.columns[-1] == "to be 0.9 sure"
    assert list(comparison.systems_frame()["system"]) == list(comparison.ranking())
    assert comparison.to_frame()["confidence"].tolist() == comparison.confidence.tolist()
    assert "confidence" in comparison.to_dict()["pairs"][0]
    assert more_judgments(1) == "about 1 more judgment"


def test_plots_draw_on_the_axes_they_are_given(comparison, judgments):
    import matplotlib.pyplot as plt

    a, b = comparison.ranking()[:2]
    draws = [
        lambda ax: rb.plot_ranking(comparison, ax),
        lambda ax: rb.plot_matrix(comparison, ax),
        lambda ax: rb.plot_judgments(judgments, ax),
        lambda ax: rb.plot_difference(comparison, a, b, ax),
    ]
    figure, each = plt.subplots(4)
    for draw, ax in zip(draws, each, strict=True):
        assert draw(ax) is ax
        assert ax.has_data()
        own = draw(None)
        assert own.figure.number in plt.get_fignums()
        plt.close(own.figure)
    plt.close(figure)


def test_a_difference_is_that_of_the_pair(comparison):
    a, b = comparison.ranking()[0], comparison.ranking()[-1]
    sampled, pair = comparison.sample_difference(a, b), comparison.pair(a, b)
    error = pair.sd / len(sampled) ** 0.5
    assert sampled.mean() == pytest.approx(pair.expected_difference, abs=4 * error)
    axes = rb.plot_difference(comparison, a, b)
    bars = [bar for bar in axes.patches if bar.get_height() > 0]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(1)
    (drawn,) = (line for line in axes.lines if line.get_label() == "95% interval")
    assert drawn.get_xdata() == pytest.approx(pair.interval, abs=0.2 * pair.sd)
    # a bar is of one sign
    assert not [bar for bar in bars if bar.get_x() < -1e-9 < 1e-9 < bar.get_x() + bar.get_width()]


def test_a_notebook_shows_tables(comparison, judgments):
    shown = comparison._repr_html_()
    assert shown.count("<table>") == 2
    # a line of the title is a line of the note
    title = comparison_tables(comparison, None, seed=0)[0].title
    assert html.escape(title).replace("\n", "<br>\n") in shown
    both = rb.Comparisons({"AP": comparison, "P@5": comparison})
    assert both._repr_html_().count("<table>") == 4
    assert repr(both).splitlines()[0] == (
        f"Comparisons({len(comparison.systems)} systems by AP, P@5)"
    )
    simulated = rb.simulate(n_topics=4, n_systems=4, seed=1)
    assert "<table>" in rb.evaluate(simulated.runs, simulated.qrels)._repr_html_()
    result = rb.build(judgments.pool, simulated.qrels, "rtc:map", confidence=None, budget=3)
    assert "the budget is spent" in result._repr_html_()
