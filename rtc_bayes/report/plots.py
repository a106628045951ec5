"""Figures for a notebook: each draws on Matplotlib axes, and returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtc_bayes.checks import whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.report import figures
from rtc_bayes.report.drawing import WIDTH
from rtc_bayes.report.elements import mean_of
from rtc_bayes.signatures import explains_types

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison


@explains_types
def plot_ranking(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Plot systems from best to worst by expected score, with 95% intervals.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]))
    >>> rb.plot_ranking(comparison).get_xlabel()
    'expected MAP'
    """
    axes = _axes(ax, 1.1 + 0.3 * len(comparison.systems))
    score = f"expected {mean_of(comparison.measure)}"
    return figures.ranking(comparison.systems_frame(), axes, measure=score)


@explains_types
def plot_matrix(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Plot the probability that the system of each row is better than that of each column.

    Parameters
    ----------
    comparison : Comparison
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> axes = rb.plot_matrix(rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1])))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['A', 'B']
    """
    axes = _axes(ax, WIDTH * 0.86)
    return figures.confidence_matrix(comparison.to_frame(), comparison.ranking(), axes)


@explains_types
def plot_accuracy(pairs: pd.DataFrame, ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Plot the accuracy of predicted signs by confidence, with 90% bootstrap intervals over trials.

    Parameters
    ----------
    pairs : DataFrame
        ``pairs`` of a study: columns trial, confidence, correct and, of several, algorithm.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.
    seed : int
        Of the bootstrap.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import pandas as pd, rtc_bayes as rb
    >>> pairs = pd.DataFrame({"trial": [0, 1], "confidence": [0.6, 0.9], "correct": [0, 1]})
    >>> rb.plot_accuracy(pairs).get_ylabel()
    'accuracy'
    """
    whole_number("seed", seed)
    if lacking := [name for name in ("trial", "confidence", "correct") if name not in pairs]:
        raise InputError(
            f"pairs have no column {', '.join(lacking)}", remedy="give the pairs of a study"
        )
    if "algorithm" not in pairs:
        pairs = pairs.assign(algorithm="all pairs")
    # names stand above the panel, long ones below each other
    height = 4.4 + 0.25 * max(0, pairs["algorithm"].nunique() - 4)
    return figures.accuracy_lines(pairs, _axes(ax, height), seed=seed)


@explains_types
def plot_judgments(judgments: Judgments, ax: Axes | None = None) -> Axes:
    """Plot how many documents of each topic are judged relevant and nonrelevant.

    Parameters
    ----------
    judgments : Judgments
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=2, n_systems=3, seed=1).runs, depth=5)
    >>> rb.plot_judgments(rb.Judgments.none(pool).with_labels([0], [1])).get_xlabel()
    'topic'
    """
    return figures.judgments_per_topic(judgments.topics_frame(), _axes(ax, 2.6))


@explains_types
def plot_difference(comparison: Comparison, a: str, b: str, ax: Axes | None = None) -> Axes:
    """Plot the posterior of the difference of two systems, the score of `a` minus that of `b`.

    The interval that it marks is a little wider than that of the outcomes (:attr:`Pair.interval`).

    Parameters
    ----------
    comparison : Comparison
    a, b : str
        Systems.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        A system that was not compared, or twice the same.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]))
    >>> rb.plot_difference(comparison, "A", "B").get_xlabel()
    'A minus B'
    """
    sampled, shared = comparison.sample_difference(a, b), comparison.pair(a, b).sd_shared
    return figures.difference(sampled, a, b, _axes(ax, 2.8), shared=shared or 0.0)


def _axes(ax: Axes | None, height: float) -> Axes:
    """Return these axes, or those of a new figure that a notebook shows."""
    if ax is not None:
        if not hasattr(ax, "hlines"):
            raise InputError(
                f"ax is a {type(ax).__name__}",
                remedy="give Matplotlib axes, as plt.subplots() returns one",
            )
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(WIDTH, height), layout="constrained")[1]
