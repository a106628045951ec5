"""Comparisons as a page, and as tables for a paper, LaTeX or Markdown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.shown import page_by

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence.comparison import Comparison

_MADE_BY = "command_tables:comparison_text"


class PageAndTables(ABC):
    """A comparison, by one measure or several: its page, and its tables for a paper."""

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

    @explains_types
    def to_latex(
        self,
        path: str | Path | None = None,
        judgments: Judgments | None = None,
        *,
        table: Literal["both", "systems", "pairs"] = "both",
    ) -> str:
        r"""Return the comparison as LaTeX tables for a paper, as ``compare -o FILE.tex`` does.

        First the ranking: expected scores with 95% intervals, and ranks if asked for. Then all
        pairs: the better system first, its probability, and the difference with its 95% interval.
        Each is a ``tabular`` with the rules of the package booktabs, below its title in comments.
        Of several measures the tables of one stand below those of another.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, too.
        judgments : Judgments, optional
            What was judged. Then the ranking says which share of each system's lists is judged.
        table : {"both", "systems", "pairs"}
            The ranking alone (``"systems"``), the pairs alone, or both. One system has no pairs.

        Returns
        -------
        str
            Numbers are rounded as the command prints them; ``to_csv`` has them in full.

        Raises
        ------
        InputError
            Another table, pairs alone of one system, or a file that cannot be written.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings
        >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
        >>> pool = rb.Pool.from_runs(runs)
        >>> relevance = rb.Relevance.from_values(pool, [0.9, 0.1])
        >>> tables = rb.compare(pool, relevance).to_latex(table="pairs")
        >>> print(*tables.splitlines()[2:5], sep="\n")
        \begin{tabular}{llrr}
        \toprule
        better & worse & P(better) & difference (95\% interval) \\
        >>> rb.compare(pool, relevance, ["AP", "P@5"]).to_latex().count(r"\begin{tabular}")
        4
        """
        return page_by(_MADE_BY, path, self._by_measure, judgments, table=table, kind="latex")

    @explains_types
    def to_markdown(
        self,
        path: str | Path | None = None,
        judgments: Judgments | None = None,
        *,
        table: Literal["both", "systems", "pairs"] = "both",
    ) -> str:
        """Return the comparison as Markdown pipe tables, as ``compare -o FILE.md`` does.

        Parameters
        ----------
        path, judgments, table
            As of :meth:`to_latex`, which has the same tables.

        Returns
        -------
        str
            Each table below its title.

        Raises
        ------
        InputError
            As of :meth:`to_latex`.

        Examples
        --------
        >>> import numpy as np
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=2, seed=1).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        >>> for line in rb.compare(pool, relevance).to_markdown(table="pairs").splitlines()[2:4]:
        ...     print(line)
        | better | worse | P(better) | difference (95% interval) |
        | --- | --- | ---: | ---: |
        """
        return page_by(_MADE_BY, path, self._by_measure, judgments, table=table, kind="markdown")


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
