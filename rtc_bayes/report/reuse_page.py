"""The page of a hold-out experiment."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.report import reuse_figures as drawn
from rtc_bayes.report.elements import (
    facts,
    figure,
    figures_beside,
    folded,
    heading,
    how_made,
    mean_of,
    table,
)
from rtc_bayes.report.exports import TABLES, write_page
from rtc_bayes.report.page import Page, StudyTable, whole_page
from rtc_bayes.report.reuse_tables import reuse_tables
from rtc_bayes.report.tables import probability
from rtc_bayes.reuse.loss_posterior import no_posterior
from rtc_bayes.reuse.permutation import defined
from rtc_bayes.store import write_csv
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.reuse import LossPosterior, Reusability


def reuse_html(result: Reusability) -> str:
    """Make the page of a hold-out experiment, as HTML that needs nothing else."""
    return whole_page(reuse_page(result, _posterior(result)))


def write_reusability(result: Reusability, folder: str | Path, meta: Mapping[str, object]) -> Path:
    """Write the page, report.html, and its tables into a folder; return the page's path.

    Parameters
    ----------
    result : Reusability
    folder : str or Path
    meta : mapping of str to object
        How it was made, as of :func:`rtc_bayes.store.provenance`.
    """
    made = replace(result, meta={**meta, **result.meta})
    target = write_page(
        reuse_page(made, _posterior(result)), Path(folder) / "report.html", made.meta
    )
    for comparison in result.comparisons()["comparison"]:
        table = target.parent / TABLES / f"pairs_{comparison}.csv"
        write_csv(result.pairs(comparison), table, made.meta)
    return target


def reuse_page(result: Reusability, posterior: LossPosterior | None) -> Page:
    """Make the page of a hold-out experiment, without a posterior where there is none."""
    tables = {each.name: each for each in reuse_tables(result, posterior)}
    mean = mean_of(result.measure)
    compared = result.comparisons()
    pairs = {name: result.pairs(name) for name in compared["comparison"]}
    # with one group held out of a topic there are no pairs between new groups
    pairs = {name: frame for name, frame in pairs.items() if frame["reuse_p"].notna().any()}
    sections = [
        heading("Can systems that took no part be compared with this collection?", 1),
        f'<p class="lead">{html.escape(result.verdict())}</p>',
        facts(_facts(result)),
        f"<p>{html.escape(result.scores_text)}</p>",
        *_losses(result, posterior, tables),
        heading("Do comparisons come out the same?"),
        f"<p>{html.escape(_ABOUT_PAIRS)}</p>",
        *_of_pairs(pairs, compared, result.level, mean),
        table(tables["comparisons"]),
        *([] if result.held.below_0 else _power(result, compared)),
        heading("Systems"),
        figure(
            drawn.scores_held_out(result.by_system(), mean),
            "Scores where held out against scores where contributed.",
            "Mean scores on two sets of topics. The line is equality: without a loss, points "
            "scatter about it, for topics differ; a group's systems stray together.",
        ),
        folded(tables["systems"], f"All systems ({len(result.held.systems)})", unfold=False),
        *how_made(result.meta),
    ]
    return Page("Reusability", "\n".join(sections), tables)


def _losses(
    result: Reusability, posterior: LossPosterior | None, tables: Mapping[str, StudyTable]
) -> list[str]:
    """Draw the loss as observed and by the model, of all systems and of each group."""
    mean, groups = mean_of(result.measure), result.by_group()
    return [
        heading("What was lost"),
        f"<p>{html.escape(_ABOUT_LOSS)}</p>",
        figures_beside(
            figure(
                drawn.permuted_losses({"": (result.permuted.loss, result.loss)}, mean),
                "Histogram of the loss over permutations, with the observed loss as a line.",
                "The loss as observed, and with topics in other orders, where holding out has no "
                "effect: an observed loss outside of the grey is no accident of topics.",
            ),
            figure(
                drawn.group_losses(groups, mean),
                "The loss of each group, with the range of 95% of permutations.",
                "The loss of each group. Of twenty groups without a loss one lies outside its "
                "grey bar: the table has p-values adjusted for that.",
            ),
        ),
        table(tables["groups"]),
        heading("How much is lost"),
        *_how_much(posterior, groups, mean, tables, no_posterior(result.held)),
    ]


def _how_much(
    posterior: LossPosterior | None,
    groups: pd.DataFrame,
    mean: str,
    tables: Mapping[str, StudyTable],
    reason: str,
) -> list[str]:
    """Draw the loss by the hierarchical model, or say why there is none."""
    if posterior is None:
        return [f"<p>There is no posterior of the loss: the hierarchical model {reason}.</p>"]
    return [
        f"<p>{html.escape(_about_posterior(posterior))}</p>",
        figure(
            drawn.loss_intervals(posterior.summary(), groups, mean),
            "Posterior mean and 90% interval of the loss, of all systems and of each group.",
            "Loss by the hierarchical model: posterior mean and 90% interval. It takes a "
            "loss for a share of a score, and draws the groups' shares towards one another as far "
            "as they are alike: a group that scores more loses more by it, and so its loss may "
            "differ from the one above by more than that.",
        ),
        table(tables["posterior"]),
    ]


def _power(result: Reusability, compared: pd.DataFrame) -> list[str]:
    """Draw what the experiment would have found."""
    mean = mean_of(result.measure)
    return [
        heading("What would be found"),
        figure(
            drawn.power_curves(
                result.loss_sd,
                result.mean_score,
                compared.set_index("comparison")["reuse_topics"].to_dict(),
                result.level,
                mean,
            ),
            "Power against the share of the score that is lost, and against the size of a pair's "
            "difference.",
            "Power of this experiment: of the test of the loss, which counts all systems together, "
            "and of one pair's t-test on the reuse topics of each comparison.",
        ),
    ]


def _of_pairs(
    pairs: dict[str, pd.DataFrame], compared: pd.DataFrame, level: float, mean: str
) -> list[str]:
    """Draw pairs' differences and where they are significant, if any could be tested."""
    if not pairs:
        return []
    return [
        figure(
            drawn.pair_differences(pairs, level),
            "Differences of pairs on reuse topics against those on baseline topics.",
            f"Difference in {mean} of each pair of systems; colours say where it is significant "
            f"(paired t-test, {level:g}).",
        ),
        figure(
            drawn.cells_expected(compared[compared["comparison"].isin(pairs)]),
            "Observed and expected numbers of pairs by where they differ significantly.",
            "Pairs by where they differ significantly, beside what the power of the tests makes "
            "one expect.",
        ),
    ]


_ABOUT_LOSS = (
    "A number for each system and one for each topic are fitted to the scores of contributors. "
    "Their sum is what a held-out system would score if it were as good as elsewhere, and the "
    "topic as hard as contributors find it. The loss is this, less what it does score."
)
_ABOUT_PAIRS = (
    "Within: pairs of one group, on topics it contributed to (baseline) and was held out of "
    "(reuse). Between: pairs of two groups, on topics both contributed to and both were held out "
    "of. Participant: a new system, held out, with one that took part. Fewer topics show fewer "
    "differences, which the expected numbers allow for. The p-value to trust is that of permuted "
    "topics: the printed ones, by 3 degrees of freedom and exact, reject far too often, for pairs "
    "depend on one another."
)


def _about_posterior(posterior: LossPosterior) -> str:
    rope = posterior.mean_score / 20
    low, high = posterior.interval()
    return (
        f"The loss is {posterior.overall.mean():+.4f}, between {low:+.4f} and {high:+.4f} with "
        f"probability 0.9, where the mean score is {posterior.mean_score:.3f}. With probability "
        f"{posterior.probability_within(rope):.2f} it is less than a twentieth of that either way. "
        "Of pairs of a system of a group that comes next with one that took part, "
        f"{posterior.changed_order():.1%} are expected to change order for its loss."
    )


def _posterior(result: Reusability) -> LossPosterior | None:
    """Return the posterior of the loss; None where scores have none."""
    if no_posterior(result.held):
        return None
    return result.posterior(seed=int(result.meta.get("seed", 0)))


def _facts(result: Reusability) -> list[tuple[str, str]]:
    held, mean = result.held, result.mean_score
    return [
        (
            f"{len(held.systems)}",
            f"systems of {counted(len(held.groups), 'group')} on "
            f"{counted(len(held.topics), 'topic')}",
        ),
        (
            f"{result.loss:+.4f}",
            f"loss of {mean_of(result.measure)}, which is {mean:.3f} on average where systems "
            "took part",
        ),
        (
            probability(result.loss_p),
            f"p of the loss, by {counted(len(defined(result.permuted.loss)), 'permutation')}",
        ),
        (f"{result.detectable_loss:.4f}", "a loss that would be found with probability 0.8"),
    ]
