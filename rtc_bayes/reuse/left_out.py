"""Leave one group out of a collection that exists: what its judgments would lack without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes import defaults
from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Judgments, Pool, Qrels, Runs
from rtc_bayes.collection.grades import counted_grades
from rtc_bayes.collection.hold_out import groups_of
from rtc_bayes.collection.leave_out import ALL_GROUPS, groups_to_leave_out, parse_leave_out
from rtc_bayes.errors import InputError
from rtc_bayes.measures.estimand import Estimand
from rtc_bayes.measures.names import MeasureLike, has_moments
from rtc_bayes.measures.pool_moments import moments
from rtc_bayes.measures.scores import without_rounding
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.provenance import provenance
from rtc_bayes.store.shown import Shown, capital, compared, counted, page_by

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLES = 2000


@explains_types
@moved(
    only="write leave_out", shallow="give every depth as depth, of which the largest is the pool's"
)
def leave_group_out(
    runs: Runs,
    qrels: Qrels,
    groups: Mapping[str, str],
    measure: MeasureLike = "AP",
    *,
    depth: int | Sequence[int] = defaults.DEPTH,
    leave_out: str | Sequence[str] = ALL_GROUPS,
    relevance_level: int | None = None,
) -> LeftOut:
    """Score every group's runs, on topics with judgments, as if it had taken no part in judging.

    Today's usual check of reusability (Zobel 1998, by run; Voorhees 2001, by group): judgments of
    documents that one group alone contributed are taken away, and every run is scored again.
    Documents that a run has among the first of its list, to the pool's depth, count as its
    contribution, for judgments do not say who brought them.

    Parameters
    ----------
    runs : Runs
    qrels : Qrels
        Complete judgments of a pool.
    groups : mapping of str to str
        Group of each system.
    measure : str or measure of ir_measures
        One whose moments are known (:func:`rtc_bayes.measures.has_moments`). Relevance is binary,
        at `relevance_level`: nDCG is not that of grades.
    depth : int or sequence of int, at least 1
        Of the pool that was judged: how many documents of each list were pooled. Of several, the
        largest is the pool's, and at each of the others the collection is also cut to what a pool
        of that depth would have judged.
    leave_out : "groups" or sequence of str
        The groups to leave out, one at a time: all, or these. A text of several names has commas
        between.
    relevance_level : int, at least 1, optional
        The lowest grade that counts as relevant; by default the level that the qrels name, or 1.

    Returns
    -------
    LeftOut

    Raises
    ------
    InputError
        A system without a group, a group that does not exist, one group alone, groups whose
        systems all score 0, a depth out of range, a measure without moments, or judgments made
        under a hold-out design.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> data = rb.simulate(n_topics=6, n_systems=8, seed=1)
    >>> found = rb.leave_group_out(data.runs, data.qrels, data.groups, depth=20)
    >>> found.summary().loc[0, ["depth", "groups", "relevant"]].tolist() == [
    ...     20, len(set(data.groups.values())), data.qrels.counts()[1]
    ... ]
    True
    """
    if qrels.hold_out is not None:
        raise InputError(
            f"the judgments were made under hold-out design {qrels.hold_out[:12]}, and are not "
            "complete",
            path=qrels.path or None,
            remedy="analyse them by reusability (--hold-out DESIGN)",
        )
    if not has_moments(str(measure)):
        raise InputError(
            f"{measure} cannot be scored for groups left out", remedy="give AP, P@10, nDCG or RBP"
        )
    depths = _depths(depth)
    of_systems = np.array(groups_of(runs.systems, groups), dtype=object)
    every = tuple(dict.fromkeys(of_systems))
    chosen = groups_to_leave_out(every, parse_leave_out(leave_out))
    estimand = Estimand(
        str(measure), scope="whole", depth=depths[0], unseen=False, relevance_level=relevance_level
    )
    pool = estimand.pool(runs, qrels)
    judgments = Judgments.from_qrels(pool, qrels, relevance_level=relevance_level)
    if not judgments.relevant.any():
        raise InputError("no document is relevant", remedy="look at relevance_level")
    pool = pool.select_topics(judgments.judged_topics)
    judged = judgments.on(pool).labels
    member = (of_systems == np.array(every, dtype=object)[:, None]).astype(np.int64)
    parts = [
        _at_depth(
            pool, judged, member, [every.index(g) for g in chosen], str(measure), at, depths[0]
        )
        for at in depths
    ]
    if not parts[0].score[np.isin(of_systems, chosen)].any():
        raise InputError(
            f"every system of {', '.join(chosen)} scores 0 with all judgments: nothing can be lost",
            remedy="leave out other groups",
        )
    relevant = counted_grades(qrels.highest_grade, judgments.relevance_level)
    return LeftOut(
        str(measure),
        pool.systems,
        tuple(of_systems),
        chosen,
        tuple(parts),
        {"relevant": relevant} if relevant else {},
    )


def _depths(depth: int | Sequence[int]) -> list[int]:
    """Return the pool's depth, which is the largest, then the smaller ones, each once."""
    listed = depth if isinstance(depth, Iterable) and not isinstance(depth, str) else [depth]
    depths = [whole_number("depth", one, least=1) for one in listed]
    if not depths:
        raise InputError("depth is empty", remedy="give the depth of the pool")
    return sorted(set(depths), reverse=True)


@dataclass(frozen=True)
class AtDepth:
    """Scores with all judgments of a pool of one depth, and without those of one group alone.

    Attributes
    ----------
    depth : int
    judged, relevant : int
        Documents that the whole collection has judgments of at this depth.
    unique, unique_relevant : ndarray of int, shape (groups,)
        Judged documents that the group alone contributed.
    score : ndarray, shape (systems,)
    left_out : ndarray, shape (groups, systems)
        Of every system, without what the group alone contributed.
    """

    depth: int
    judged: int
    relevant: int
    unique: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]
    score: NDArray[np.float64]
    left_out: NDArray[np.float64]


def _at_depth(
    pool: Pool,
    judged: NDArray[np.float64],
    member: NDArray[np.int64],
    chosen: list[int],
    measure: str,
    depth: int,
    deepest: int,
) -> AtDepth:
    """Leave each chosen group out of a pool of one depth."""
    entries = pool.entries
    within = entries.rank <= depth
    brought = np.zeros((len(member), pool.n_documents), dtype=bool)
    group = member.argmax(axis=0)[entries.system[within]]
    brought[group, pool.ranked[within]] = True
    by = brought.sum(axis=0)
    scored = ~np.isnan(judged)
    if depth < deepest:  # at the full depth everything judged counts, whoever brought it
        scored &= by > 0
    relevant = scored & (np.nan_to_num(judged) > 0.0)
    alone = brought[chosen] & (by == 1) & scored
    labels = np.vstack([relevant, relevant & ~alone]).astype(np.float64)
    means = without_rounding(
        moments(pool, labels, measure=measure, pairs="none").expected.mean(axis=2)
    )
    return AtDepth(
        depth,
        int(scored.sum()),
        int(relevant.sum()),
        alone.sum(axis=1),
        (alone & relevant).sum(axis=1),
        means[0],
        means[1:],
    )


@moved(by_run="write by_system")
@dataclass(frozen=True, eq=False, repr=False)
class LeftOut(Shown):
    """What a collection would lack without each of its groups.

    Attributes
    ----------
    measure : str
    systems : tuple of str
    of_systems : tuple of str
        Group of each system.
    groups : tuple of str
        Those left out, one at a time.
    depths : tuple of AtDepth
        The full depth first.
    meta : mapping of str to object
        Where judged grades go above 1, `relevant` says which of them count as relevant.

    Examples
    --------
    >>> run = lambda name, *docs: rb.Run.from_rankings(name, {"1": docs})
    >>> import rtc_bayes as rb
    >>> runs = rb.Runs([run("a", "x", "y"), run("b", "y", "z")])
    >>> qrels = rb.Qrels({"1": {"x": 1, "y": 1, "z": 0}})
    >>> found = rb.leave_group_out(runs, qrels, {"a": "A", "b": "B"}, "P@2")
    >>> found.by_system()[["system", "score", "left_out"]]  # only a's group contributed x
      system  score  left_out
    0      a    1.0       0.5
    1      b    0.5       0.5
    """

    measure: str
    systems: tuple[str, ...]
    of_systems: tuple[str, ...]
    groups: tuple[str, ...]
    depths: tuple[AtDepth, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)

    def by_system(self) -> pd.DataFrame:
        """Return a row for each depth and each system of a group that is left out.

        Returns
        -------
        DataFrame
            depth, group, system; score with all judgments, and left_out; change, and relative
            change; rank among the systems of other groups with all judgments, and rank_left_out.
        """
        import pandas as pd

        of = np.array(self.of_systems, dtype=object)
        rows = []
        for at in self.depths:
            for group, scores in zip(self.groups, at.left_out, strict=True):
                others = of != group
                for n in np.flatnonzero(~others):
                    before, after = float(at.score[n]), float(scores[n])
                    rows.append(
                        {
                            "depth": at.depth,
                            "group": group,
                            "system": self.systems[n],
                            "score": before,
                            "left_out": after,
                            "change": after - before,
                            "relative": after / before - 1 if before else np.nan,
                            "rank": 1 + int((at.score[others] > before).sum()),
                            "rank_left_out": 1 + int((scores[others] > after).sum()),
                        }
                    )
        return pd.DataFrame(rows)

    def by_group(self) -> pd.DataFrame:
        """Return a row for each depth and group.

        Returns
        -------
        DataFrame
            depth, group, systems; unique, judged documents that it alone contributed, and
            unique_relevant; relative, the mean relative change of its runs' scores, and worst;
            swapped, pairs with a run of another group whose order changes.
        """
        import pandas as pd

        runs = self.by_system().groupby(["depth", "group"])["relative"]
        of = np.array(self.of_systems, dtype=object)
        rows = []
        for at in self.depths:
            for n, group in enumerate(self.groups):
                here, after = of == group, at.left_out[n]
                order = np.sign(at.score[here][:, None] - at.score[~here])
                now = np.sign(after[here][:, None] - after[~here])
                rows.append(
                    {
                        "depth": at.depth,
                        "group": group,
                        "systems": int(here.sum()),
                        "unique": int(at.unique[n]),
                        "unique_relevant": int(at.unique_relevant[n]),
                        "relative": float(runs.mean()[at.depth, group]),
                        "worst": float(runs.min()[at.depth, group]),
                        "swapped": int((order != now).sum()),
                    }
                )
        return pd.DataFrame(rows)

    def summary(self) -> pd.DataFrame:
        """Return a row for each depth.

        Returns
        -------
        DataFrame
            depth, groups, judged, relevant; unique_relevant; mean, low, high, median and worst
            relative change of a left-out run's score, low and high being a 95% interval of the
            mean by 2000 resamples of groups that do not score 0 (missing of one alone); moved, runs
            that change rank among those of other groups, and places, the most that one moves.
        """
        import pandas as pd

        runs, rng = self.by_system(), np.random.default_rng(0)
        rows = []
        for at in self.depths:
            here = runs[runs["depth"] == at.depth]
            sums = here.groupby("group")["relative"].agg(["sum", "count"]).to_numpy()
            sums = sums[sums[:, 1] > 0]  # of a score of 0 there is no relative change
            low = high = np.nan
            if len(sums) > 1:
                drawn = sums[rng.integers(0, len(sums), (_RESAMPLES, len(sums)))].sum(axis=1)
                low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
            places = (here["rank_left_out"] - here["rank"]).abs()
            rows.append(
                {
                    "depth": at.depth,
                    "groups": len(self.groups),
                    "judged": at.judged,
                    "relevant": at.relevant,
                    "unique_relevant": int(at.unique_relevant.sum()),
                    "mean": float(here["relative"].mean()),
                    "low": float(low),
                    "high": float(high),
                    "median": float(here["relative"].median()),
                    "worst": float(here["relative"].min()),
                    "moved": int((places > 0).sum()),
                    "places": int(places.max()),
                }
            )
        return pd.DataFrame(rows)

    def verdict(self) -> str:
        """Say in words what was found, at the full depth."""
        row = dict(zip(self.summary().columns, self.summary().iloc[0].tolist(), strict=True))
        at = self.depths[0]
        runs = self.by_system().iloc[: sum(group in self.groups for group in self.of_systems)]
        worst = runs.loc[runs["relative"].idxmin()]
        by_others = ""
        if row["low"] == row["low"]:
            low, high = compared(row["low"], ".2%"), compared(row["high"], ".2%")
            by_others = f" ({low} to {high} by other draws of groups)"
        relevant = self.meta.get("relevant")
        of_grades = f" {capital(relevant)}." if relevant else ""
        return (
            f"Without what its own group alone contributed, a run's mean {self.measure} is "
            f"{compared(row['mean'], '.2%')} on average{by_others}, and "
            f"{compared(worst['relative'], '.1%')} at worst ({worst['system']}). "
            f"{row['moved']:.0f} of {len(runs)} runs change rank among those of other groups, by "
            f"{row['places']:.0f} at most. One group alone contributed "
            f"{at.unique_relevant.sum():,} of {at.relevant:,} relevant documents, where the first "
            f"{at.depth} of a list are its contribution.{of_grades}"
        )

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a page that shows what is lost without each group: one file.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, too.
        """
        return page_by("left_out_page:left_out_html", path, self)

    def write(self, folder: str | Path, meta: Mapping[str, object] | None = None) -> Path:
        """Write a page and its tables, as the command does; return the page's path.

        Parameters
        ----------
        folder : str or Path
        meta : mapping of str to object, optional
            How it was made. Default: :func:`rtc_bayes.store.provenance`.
        """
        page: Path = import_module("rtc_bayes.report.left_out_page").write_left_out(
            self, folder, provenance() if meta is None else meta
        )
        return page

    def __repr__(self) -> str:
        at, mean = self.depths[0], self.summary()["mean"][0]
        return (
            f"LeftOut({self.measure}, {counted(len(self.groups), 'group')}; "
            f"{at.unique_relevant.sum():,} relevant documents of one group alone, scores "
            f"{mean:+.2%} without them)"
        )
