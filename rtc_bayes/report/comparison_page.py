"""The page of a comparison: who is better, how surely, about what, and what to judge next."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rtc_bayes import defaults
from rtc_bayes.checks import check_type
from rtc_bayes.confidence.caution import caution
from rtc_bayes.confidence.comparison_texts import number_in
from rtc_bayes.judging import Audit, next_documents, parse_algorithm
from rtc_bayes.judging.weights import weighed_by_or_ap
from rtc_bayes.measures import parse_measure
from rtc_bayes.relevance import evidence_said, remarks_on_labels
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.report import figures
from rtc_bayes.report.audit_section import audit_section
from rtc_bayes.report.command_tables import judged_shares, systems_table
from rtc_bayes.report.elements import (
    facts,
    figure,
    figures_beside,
    heading,
    how_made,
    labels_words,
    mean_of,
)
from rtc_bayes.report.next_documents import DOCUMENT_FORMATS
from rtc_bayes.report.page import Page, whole_page
from rtc_bayes.report.pairs import PAIR_FORMATS, SURE, better_first, pairs_table, unless_certain
from rtc_bayes.report.tables import probability, to_html
from rtc_bayes.store.shown import capital, counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison

# A figure of more systems cannot be read.
_DRAWN = 30
_SUGGESTED = 10
_NAMED = 6


def comparison_html(
    compared: Sequence[Comparison],
    judgments: Judgments | None = None,
    *,
    algorithm: str | None = None,
    audits: Sequence[Audit] = (),
) -> str:
    """Make the page of comparisons by one measure or more, as HTML that needs nothing else.

    Parameters
    ----------
    compared : sequence of Comparison
        Of the same systems.
    judgments, algorithm
        As of :meth:`rtc_bayes.Comparison.to_html`.
    audits : sequence of Audit
        By as many of the measures as were audited.

    Raises
    ------
    InputError, FitError
        As of :func:`rtc_bayes.next_documents`.
    """
    return whole_page(comparison_page(compared, judgments, algorithm=algorithm, audits=audits))


def comparison_page(
    compared: Sequence[Comparison],
    judgments: Judgments | None = None,
    *,
    algorithm: str | None = None,
    audits: Sequence[Audit] = (),
) -> Page:
    """Make the page of comparisons: see :func:`comparison_html`."""
    first = compared[0]
    for audit in audits:
        check_type(audit, Audit, "audit is", "give what rtc_bayes.audit returned, one or a list")
    looks = {audit.measure: audit for audit in audits}
    judgments = None if judgments is None else without_turned(judgments)
    used = judgments
    if judgments is not None and audits:
        used, judgments = audits[0].beside(judgments)
    sections = [
        heading("Which system is better?", 1),
        f'<p class="lead">{html.escape(_lead(first, used, judgments))}</p>',
    ]
    if len(compared) == 1:
        sections += _by_measure(first, used, judgments, looks.get(first.measure), 2)
    else:
        sections += _measures(compared)
        for each in compared:
            sections.append(heading(f"By {mean_of(each.measure)}"))
            sections += _by_measure(each, used, judgments, looks.get(each.measure), 3)
    if judgments is not None:
        sections += [*_judged(first, judgments), *_next(first, judgments, algorithm)]
    sections += how_made(first.meta)
    return Page("Comparison", "\n".join(sections), {})


def _by_measure(
    comparison: Comparison,
    used: Judgments | None,
    judgments: Judgments | None,
    audit: Audit | None,
    level: int,
) -> list[str]:
    """Show what one measure says, under headings of a level."""
    systems, formats = systems_table(comparison, judgments)
    return [
        facts(_facts(comparison, used, judgments)),
        heading("What the numbers are about, and how far to trust them", level),
        *trust(comparison, used),
        *(audit_section(audit, level) if audit is not None else []),
        heading("Expected scores", level),
        _drawn(comparison),
        to_html(systems, formats),
        *_pairs(comparison, level),
    ]


def _measures(compared: Sequence[Comparison]) -> list[str]:
    """Set measures beside each other: expected scores, and P(better) of every pair."""
    import pandas as pd

    by = {mean_of(each.measure): each for each in compared}
    order = list(compared[0].ranking())
    scores = pd.DataFrame(
        {name: each.systems_frame().set_index("system")["expected"] for name, each in by.items()}
    )
    sections = [
        heading("By each measure"),
        to_html(scores.loc[order].reset_index(names="system"), dict.fromkeys(by, ".4f")),
    ]
    ranked = better_first(compared[0])
    if not ranked:
        return sections
    names = [(pair.a, pair.b) for pair in ranked]
    chances = pd.DataFrame({"a": [a for a, _ in names], "b": [b for _, b in names]})
    for name, each in by.items():
        ahead = unless_certain(each.p_greater + each.p_equal / 2.0, each.sd_difference)
        of_pair = dict(zip(zip(each.a, each.b, strict=True), ahead.tolist(), strict=True))
        chances[name] = [
            of_pair[a, b] if (a, b) in of_pair else 1.0 - of_pair[b, a] for a, b in names
        ]
    every = chances[[*by]]
    alike = int(((every > 0.5).all(axis=1) | (every < 0.5).all(axis=1)).sum())
    against = int(((every <= 1 - SURE).any(axis=1) & (every >= SURE).any(axis=1)).sum())
    opposed = f"in {counted(against, 'pair')}" if against else "in none"
    said = (
        f"All measures have the same system ahead in {alike} of {counted(len(names), 'pair')}; "
        f"{opposed} two measures are {SURE:.0%} sure of opposite orders."
    )
    table = to_html(chances, dict.fromkeys(by, probability))
    more = f"P(a better than b), equal scores by half ({counted(len(names), 'pair')})"
    return [
        *sections,
        f"<p>{said}</p>",
        f"<details><summary>{more}</summary>{table}</details>",
    ]


def trust(comparison: Comparison, judgments: Judgments | None) -> list[str]:
    """Say what to take care of, and in plain words what the numbers are about."""
    cautions = [
        f"<li>Take care: {html.escape(of)}.</li>" for of in _cautions(comparison, judgments)
    ]
    about = " ".join([*_what_is_shown(comparison), *_what_is_unsure(comparison, judgments)])
    return [*(["<ul>", *cautions, "</ul>"] if cautions else []), f"<p>{html.escape(about)}</p>"]


def _what_is_shown(comparison: Comparison) -> list[str]:
    """Say what a score, P(better) and an interval are."""
    about = str(comparison.meta.get("about", comparison.measure))
    said = [
        f"A score is the mean over {counted(len(comparison.topics), 'topic')} of {about}.",
        "The relevance of documents without a judgment is not known: "
        f"{comparison.model or 'a table of probabilities'} says how probable it is, and expected "
        "scores, intervals and P(better) are what follows from that, by the mean and the variance "
        "of each score (its moments), or by drawn outcomes.",
        "P(better) is the probability that the order of two systems is the same when all is "
        "judged; 0.5 says that nothing is known about it. The 95% interval of a score is plus or "
        f"minus {defaults.NORMAL_95:.2f} standard deviations, that of a difference "
        f"{defaults.DIFFERENCE_95:.2f} or more, as errors of differences are larger than these "
        "say, mostly where the better system is better still; so an interval may hold 0 where "
        "P(better) is 0.95 and more.",
    ]
    if "grades" in comparison.meta:
        said.append(f"{comparison.measure} counts grades: {comparison.meta['grades']}.")
    if "relevant" in comparison.meta:
        said.append(f"{capital(str(comparison.meta['relevant']))}.")
    return said


def _what_is_unsure(comparison: Comparison, judgments: Judgments | None) -> list[str]:
    """Say what the intervals count, what they leave out, and what they rest on."""
    said = []
    if comparison.method == "map" and not comparison.settled:
        said.append(
            "By map every document has one probability: how far these are uncertain themselves is "
            "not in the intervals."
        )
    asks_how_many = parse_measure(comparison.measure).asks_how_many
    if judgments is not None and asks_how_many and 0.0 < _unjudged(comparison) < 1.0:
        said.append(
            f"Of the relevant documents that are expected in the pool, {_unjudged(comparison):.0%} "
            "are without a judgment."
        )
    residual = comparison.meta.get("residual")
    if residual:
        said.append(
            f"The residual is an error of standard deviation {residual:.2g} in every score, for "
            "what the pool cannot tell and what models get wrong between judgments; systems share "
            "it as far as their lists are alike."
        )
    if (mostly := comparison.residual_text) is not None:
        said.append(f"{capital(mostly)}.")
    if (common := comparison.common_text) is not None:
        said.append(f"{capital(common)}, as how many documents are relevant is not known.")
    if comparison.meta.get("scope") == "pool" and asks_how_many:
        said.append(
            "Relevant documents outside the pool do not count, so P(better) is too high where "
            "systems retrieve such documents."
        )
    if seed_text := comparison.seed_text:
        said.append(f"{capital(seed_text)}.")
    if judgments is not None:
        said += _of_judgments(judgments)
    said.append(
        "The numbers are about these topics, not about others like them, and they are right as far "
        "as the probabilities of relevance are: a robustness study checks that on a collection "
        "with complete judgments."
    )
    return said


def _unjudged(comparison: Comparison) -> float:
    """Return the share of the pool's relevant documents that is expected without a judgment."""
    return number_in(comparison.meta, "unjudged_relevant")


def _cautions(comparison: Comparison, judgments: Judgments | None) -> list[str]:
    """Warn of scores that are off together, of too few judgments, and of suspicious labels."""
    said = [comparison.level_text, comparison.point_text, comparison.forecast_text]
    if judgments is None:
        said.append(comparison.judged_text)
    else:
        if not comparison.settled:
            unjudged, measure = _unjudged(comparison), comparison.measure
            said.append(caution(judgments, comparison.topics, measure, unjudged))
        if judgments.judge_labels is not None:
            said += [remark for remark, _ in remarks_on_labels(judgments)]
    return [of for of in said if of]


def _of_judgments(judgments: Judgments) -> list[str]:
    """Say what labels count for, and of topics without a judgment."""
    said = []
    labels = judgments.judge_labels
    if labels is not None:
        said.append(
            f"Labels by {counted(len(labels.judges), 'judge')} that may err are evidence beside "
            f"the lists: {labels_words(judgments)}. What they are worth, judgments tell."
        )
    if 0 < len(judgments.judged_topics) < judgments.pool.n_topics:
        unjudged = judgments.pool.n_topics - len(judgments.judged_topics)
        said.append(
            f"Of {counted(judgments.pool.n_topics, 'topic')}, {unjudged} "
            f"{'has' if unjudged == 1 else 'have'} no judgment that the model has seen: there it "
            "knows only what other topics and the lists tell it."
        )
    return said


def _lead(comparison: Comparison, used: Judgments | None, every: Judgments | None) -> str:
    """Say what was compared, by how many judgments, and how many more, of an audit, check it."""
    systems, topics = len(comparison.systems), len(comparison.topics)
    what = f"{counted(systems, 'system')} on {counted(topics, 'topic')}"
    if used is None or every is None:
        return f"{what}, compared by probabilities of relevance."
    about = np.isin(every.pool.topics, comparison.topics)
    judged = (used.relevant + used.nonrelevant)[about].sum() / topics
    documents, audited = about[every.pool.topic_of].sum(), every.n_judged - used.n_judged
    said = (
        f"{what}, compared by {counted(used.n_judged, 'judgment')} "
        f"({judged:.1f} a topic) of {documents:,} documents."
    )
    more = f" The model has not seen {counted(audited, 'judgment')} of the audit, which check it."
    return said + more if audited else said


def _facts(
    comparison: Comparison, used: Judgments | None, every: Judgments | None
) -> list[tuple[str, str]]:
    best = comparison.ranking()[0]
    entries = [(best, f"highest expected {mean_of(comparison.measure)}")]
    if len(comparison.a):
        sure = int((comparison.confidence >= SURE).sum())
        entries.append(
            (f"{sure} of {len(comparison.a)}", f"pairs with P(better) of {SURE} or more")
        )
    if used is not None and every is not None:
        n, relevant = used.n_judged, used.relevant.sum()
        entries.append(_counted("judgments", n, relevant))
        if more := every.n_judged - n:
            of_audit = every.relevant.sum() - relevant
            entries.append(_counted("judgments of the audit", more, of_audit))
    return entries


def _counted(what: str, judged: int, relevant: float) -> tuple[str, str]:
    return f"{judged:,}", f"{what}, {int(np.rint(relevant)):,} of them relevant"


def _drawn(comparison: Comparison) -> str:
    """Draw the ranking and, of two systems or more, the matrix."""
    shown = list(comparison.ranking()[:_DRAWN])
    hidden = len(comparison.systems) - len(shown)
    only = f" The best {_DRAWN} of {len(comparison.systems)} systems." if hidden else ""
    score = mean_of(comparison.measure)
    systems = comparison.systems_frame()
    drawn = [
        figure(
            figures.ranking(systems.head(_DRAWN), measure=f"expected {score}"),
            f"Expected {score} of each system with its 95% interval.",
            f"Expected {score} with its 95% interval. Errors of two systems go together, so "
            f"intervals may overlap where the order is sure.{only}",
        )
    ]
    pairs = comparison.to_frame()
    if len(pairs):
        pairs = pairs[pairs["a"].isin(shown) & pairs["b"].isin(shown)]
        drawn.append(
            figure(
                figures.confidence_matrix(pairs, shown),
                "Probability that the system of the row is better than that of the column.",
                "P(row better than column). Green: the row is better; purple: the column is. A "
                f"pair that was not compared has no cell.{only}",
            )
        )
    return figures_beside(*drawn)


def _pairs(comparison: Comparison, level: int) -> list[str]:
    """Say who is confidently better than whom, and show every pair."""
    if not comparison.a:
        return [
            heading("Who is better than whom", level),
            "<p>There is nothing to compare: this is the only system.</p>",
        ]
    table = to_html(pairs_table(comparison), PAIR_FORMATS)
    number = counted(len(comparison.a), "pair")
    return [
        heading("Who is confidently better than whom", level),
        *who_is_better(comparison),
        f"<details><summary>All pairs ({number})</summary>{table}</details>",
    ]


def who_is_better(comparison: Comparison) -> list[str]:
    """List in words, for each system, those that it beats with P(better) of 0.95 or more."""
    beaten: dict[str, list[str]] = {}
    for pair in better_first(comparison):
        if pair.confidence >= SURE and pair.better:
            beaten.setdefault(pair.a, []).append(pair.b)
    if not beaten:
        return [f"<p>No system is better than another with a P(better) of {SURE} or more.</p>"]
    total = len(comparison.systems) - 1
    items = "".join(
        f"<li><strong>{html.escape(system)}</strong> is better than {_named(worse, total)}.</li>"
        for system, worse in beaten.items()
    )
    undecided = len(comparison.a) - sum(map(len, beaten.values()))
    rest = f"<p>Of {counted(undecided, 'pair')} this cannot be said yet.</p>" if undecided else ""
    return [f"<p>With a P(better) of {SURE} or more:</p>", f"<ul>{items}</ul>", rest]


def _named(systems: list[str], total: int) -> str:
    """Name systems, as text of the page."""
    if len(systems) == total > 1:
        return f"all {total} others"
    named = ", ".join(systems[:_NAMED])
    more = f" and {len(systems) - _NAMED} more" if len(systems) > _NAMED else ""
    return html.escape(f"{named}{more}")


def _judged(comparison: Comparison, judgments: Judgments) -> list[str]:
    by_topic = judgments.topics_frame()
    shares, depth = judged_shares(comparison, judgments), judgments.pool.depth
    mean = sum(shares.values()) / len(shares)
    least = min(comparison.systems, key=lambda system: shares[system])
    said = (
        f"{len(judgments.judged_topics)} of {counted(len(by_topic), 'topic')} have a judgment. Of "
        f"the first {depth} documents of each list, a mean of {mean:.1%} are judged; "
        f"the least, {shares[least]:.1%}, of {least}."
    )
    sections = [heading("How far the judgments go"), f"<p>{html.escape(said)}</p>"]
    if judgments.n_judged:
        sections.append(
            figures_beside(
                figure(
                    figures.judgments_per_topic(by_topic),
                    "Relevant and nonrelevant judgments of each topic.",
                    f"The {counted(judgments.n_judged, 'judgment')} by topic.",
                )
            )
        )
    return sections


def _next(comparison: Comparison, judgments: Judgments, algorithm: str | None) -> list[str]:
    """Show what to judge next to tell these systems apart, if there is anything."""
    title = heading("What to judge next")
    if len(comparison.systems) < 2:
        return []
    setting = comparison.asked_setting
    judge = parse_algorithm(algorithm or defaults.ALGORITHM)
    measure = weighed_by_or_ap(comparison.measure)
    with evidence_said():  # above
        documents = next_documents(
            judgments.pool,
            judgments,
            replace(setting.estimand, measure=measure),
            algorithm=judge,
            count=_SUGGESTED,
            seed=setting.seed,
        )
    if not documents:
        return [title, f"<p>{capital(documents.why_none)}.</p>"]
    other = judge.weighs_by_measure and comparison.measure != measure
    by = " Documents are chosen for average precision." if other else ""
    return [
        title,
        f"<p>To be surer of all systems, judge these documents, in this order.{by}</p>",
        to_html(documents.to_frame(), DOCUMENT_FORMATS, wide="why"),
    ]
