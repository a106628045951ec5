"""Comparisons as a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.errors import explains_types, moved
from rtc_bayes.store.shown import page_by

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence.comparison import Comparison


class HtmlPage(ABC):
    """A comparison, by one measure or several, that is shown on a page."""

    @property
    @abstractmethod
    def _by_measure(self) -> Sequence[Comparison]:
        """Return the comparison by each measure."""

    @explains_types
    @moved(audits="write audit, of one or a list")
    def to_html(
        self,
        path: str | Path | None = None,
        judgments: Judgments | None = None,
        *,
        algorithm: str | None = None,
        audit: object | Sequence[object] | None = None,
    ) -> str:
        """Return a page that shows the comparison in figures, tables and words.

        It is one file that needs no other: expected scores with intervals, the probability that
        each system is better than each other, who is confidently better than whom, what the
        numbers are about, and how far to trust them. Of several measures it says where they agree,
        then all this by each.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, too.
        judgments : Judgments, optional
            What was judged. Then the page says how far the judgments go, and which documents to
            judge next, by the first measure.
        algorithm : str, optional
            That chooses documents to judge next, as of :func:`rtc_bayes.next_documents`.
        audit : Audit or sequence of Audit, optional
            What a random sample says of the model, by as many measures as were audited: see
            :func:`rtc_bayes.audit`. The page counts its judgments apart, whether `judgments` hold
            them or not.

        Raises
        ------
        InputError, FitError
            As of :func:`rtc_bayes.next_documents`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, [0.5] * pool.n_documents)
        >>> rb.compare(pool, relevance).to_html("page.html")[:15]
        '<!DOCTYPE html>'
        >>> "By MAP" in rb.compare(pool, relevance, ["AP", "P@5"]).to_html()
        True
        """
        return page_of(self._by_measure, path, judgments, algorithm=algorithm, audit=audit)


def page_of(
    compared: Sequence[Comparison],
    path: str | Path | None,
    judgments: Judgments | None,
    *,
    algorithm: str | None,
    audit: object | Sequence[object] | None,
) -> str:
    """Return the page of comparisons, and write it where a path is given."""
    alone = audit is not None and (isinstance(audit, str) or not isinstance(audit, Sequence))
    audits = [audit] if alone else audit or ()
    made_by = "comparison_page:comparison_html"
    return page_by(made_by, path, compared, judgments, algorithm=algorithm, audits=audits)
