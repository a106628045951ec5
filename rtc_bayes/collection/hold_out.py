"""A hold-out design: for every topic, which groups' systems take no part in its judging."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import with_article
from rtc_bayes.collection.ids import is_keyed, text_of
from rtc_bayes.collection.immutable import freeze
from rtc_bayes.collection.pool import Pool
from rtc_bayes.errors import InputError, warn
from rtc_bayes.signatures import explains_types
from rtc_bayes.store.csv_rows import read_csv_rows
from rtc_bayes.store.files import digest_text, meta_path, write_json, write_text
from rtc_bayes.store.saved import naming
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection.judged_for import JudgedFor
    from rtc_bayes.collection.judgments import Judgments
    from rtc_bayes.collection.qrels import Qrels

# judgments that somebody added by hand are no more than this share, or so few
_FOREIGN, _BY_HAND = 0.01, 10
_REMEDY = "give a design as rtc-bayes hold-out plan writes it: topic, then a column a group"


@dataclass(frozen=True, eq=False, repr=False)
class HoldOutDesign(Shown):
    """Which groups contribute to the judging of which topic (Carterette et al. 2010, section 3.1).

    A system of a group that is held out of a topic is absent from that topic's pool: what its
    list holds is judged only where other groups retrieved it, too. On these topics it stands for
    a system that comes later.

    Attributes
    ----------
    topics : tuple of str
        In the order in which to judge them. Every beginning of it is balanced over groups.
    groups : tuple of str
    contributes : ndarray of bool, shape (groups, topics)
        False where a group is held out.

    Raises
    ------
    InputError
        An array of another shape, a name twice, one that is no id, fewer than two groups, or a
        topic to which no group contributes.

    Examples
    --------
    >>> design = HoldOutDesign(("401", "402"), ("siteA", "siteB"), [[True, False], [True, True]])
    >>> design
    HoldOutDesign(2 topics, 2 groups; 1 topic judged for all)
    >>> design.held_out("402")
    ('siteA',)
    >>> design.contributors("402", {"bm25": "siteA", "dense": "siteB"})
    ('dense',)
    """

    topics: tuple[str, ...]
    groups: tuple[str, ...]
    contributes: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for what in ("topics", "groups"):
            names = tuple(text_of(name, what.removesuffix("s")) for name in getattr(self, what))
            if len(set(names)) < len(names):
                twice = next(name for n, name in enumerate(names) if name in names[:n])
                raise InputError(
                    f"{what} of a design must be distinct, and {twice} stands twice",
                    remedy="name each of them once",
                )
            object.__setattr__(self, what, names)
        mask = np.array(self.contributes, dtype=np.bool_)
        shape = (len(self.groups), len(self.topics))
        if mask.shape != shape:
            raise InputError(
                f"contributes has shape {mask.shape}, not (groups, topics) {shape}",
                remedy="give a row for every group and a column for every topic",
            )
        if len(self.groups) < 2:
            raise InputError("a design needs two groups or more", remedy="name another group")
        if not mask.any(axis=0).all():
            topic = self.topics[int(np.argmin(mask.any(axis=0)))]
            raise InputError(
                f"every group is held out of topic {topic}",
                remedy="let one contribute, or leave the topic out",
            )
        freeze(mask)
        object.__setattr__(self, "contributes", mask)

    def held_out(self, topic: str | int) -> tuple[str, ...]:
        """Return the groups that are held out of a topic, in the design's order.

        Raises
        ------
        InputError
            A topic that the design lacks.
        """
        column = self.contributes[:, self._column(topic)]
        return tuple(g for g, here in zip(self.groups, column, strict=True) if not here)

    def contributors(self, topic: str | int, groups: Mapping[str, str]) -> tuple[str, ...]:
        """Return the systems that take part in judging a topic.

        Parameters
        ----------
        topic : str or int
        groups : mapping of str to str
            Group of each system.
        """
        held, groups = self.held_out(topic), groups_by_system(groups)
        self.check_groups(groups)
        return tuple(system for system, group in groups.items() if group not in held)

    @explains_types
    def judged_for(self, pool: Pool, groups: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Return the systems for which each topic of a pool is judged.

        Parameters
        ----------
        pool : Pool
            Of every system.
        groups : mapping of str to str
            Group of each system of the pool; more systems are let be.

        Returns
        -------
        dict of str to tuple of str
            By topic, in the pool's order.

        Raises
        ------
        InputError
            A system without a group, a group or topic that the design lacks.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> lists = {"1": ["d"], "2": ["e"]}
        >>> runs = rb.Runs([rb.Run.from_rankings(system, lists) for system in ("a1", "b1")])
        >>> design = HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]])
        >>> design.judged_for(rb.Pool.from_runs(runs), {"a1": "A", "b1": "B"})
        {'1': ('a1', 'b1'), '2': ('b1',)}
        """
        of_pool = dict(zip(pool.systems, groups_of(pool.systems, groups), strict=True))
        return {topic: self.contributors(topic, of_pool) for topic in pool.topics}

    def mask(
        self, systems: Sequence[str], groups: Mapping[str, str], topics: Sequence[str | int]
    ) -> NDArray[np.bool_]:
        """Say where systems contribute, in the order of a score matrix.

        Parameters
        ----------
        systems : sequence of str
        groups : mapping of str to str
            Group of each system; more systems than those asked for are let be.
        topics : sequence of str or int

        Returns
        -------
        ndarray of bool, shape (systems, topics)

        Raises
        ------
        InputError
            A system without a group, a group or topic that the design lacks.

        Examples
        --------
        >>> design = HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]])
        >>> design.mask(["a1", "b1"], {"a1": "A", "b1": "B"}, ["2", "1"]).tolist()
        [[False, True], [True, True]]
        """
        rows = {group: n for n, group in enumerate(self.groups)}
        of_systems = groups_of(systems, groups)
        self.check_groups(dict(zip(systems, of_systems, strict=True)))
        rows_asked = [rows[group] for group in of_systems]
        return self.contributes[np.ix_(rows_asked, [self._column(topic) for topic in topics])]

    def _column(self, topic: str | int) -> int:
        """Return the place of a topic, or refuse it."""
        if (id_ := text_of(topic, "topic")) not in self._place:
            raise InputError(
                f"the design has no topic {id_}", remedy="plan a design over these topics"
            )
        return self._place[id_]

    def check_groups(self, groups: Mapping[str, str]) -> None:
        """Refuse groups that the design lacks.

        Raises
        ------
        InputError
            Naming a system and its group. What :func:`groups_by_system` refuses.
        """
        for system, group in groups_by_system(groups).items():
            if group not in self.groups:
                raise InputError(
                    f"system {system} is of group {group}, which the design lacks",
                    remedy=f"give groups of the design: {', '.join(self.groups[:8])}",
                )

    def blocks(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Return the topics by the groups held out of them, in the order of judging.

        Examples
        --------
        >>> HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]]).blocks()
        {(): ('1',), ('A',): ('2',)}
        """
        blocks: dict[tuple[str, ...], list[str]] = {}
        for topic in self.topics:
            blocks.setdefault(self.held_out(topic), []).append(topic)
        return {held: tuple(topics) for held, topics in blocks.items()}

    @explains_types
    def pools(self, pool: Pool, groups: Mapping[str, str]) -> list[Pool]:
        """Cut a pool into those that are judged: by the groups held out, without their systems.

        Parameters
        ----------
        pool : Pool
            Of every system. Its topics that the design lacks are refused; topics of the design
            that it lacks are let be.
        groups : mapping of str to str
            Group of each system of the pool.

        Returns
        -------
        list of Pool
            One for each set of groups held out; together they have the pool's topics.

        Raises
        ------
        InputError
            A system without a group; a group or topic that the design lacks; fewer than two
            systems left for a topic.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> runs = rb.simulate(n_topics=2, n_systems=6, seed=1).runs
        >>> pool = rb.Pool.from_runs(runs, depth=5)
        >>> groups = {system: system[:6] for system in pool.systems}
        >>> sites = tuple(dict.fromkeys(groups.values()))
        >>> held = np.ones((len(sites), 2), dtype=bool)
        >>> held[0, 1] = False
        >>> [part.n_systems for part in HoldOutDesign(pool.topics, sites, held).pools(pool, groups)]
        [6, 2]
        """
        of_pool = dict(zip(pool.systems, groups_of(pool.systems, groups), strict=True))
        for topic in pool.topics:
            self.held_out(topic)
        parts = []
        for held, topics in self.blocks().items():
            here = [topic for topic in topics if topic in pool.topics]
            if not here:
                continue
            systems = self.contributors(here[0], of_pool)
            if len(systems) < 2:
                raise InputError(
                    f"with {', '.join(held)} held out, {len(systems)} of the systems are left",
                    remedy="hold out fewer groups",
                )
            part = pool.select_topics(here)
            parts.append(part if len(systems) == pool.n_systems else part.select(systems))
        return parts

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the design: who is held out where, in which order."""
        return digest_text(self._text())

    @cached_property
    def _place(self) -> dict[str, int]:
        return {topic: n for n, topic in enumerate(self.topics)}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a topic in the order of judging: topic, and for each group 1 or 0.

        Examples
        --------
        >>> HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]]).to_frame()
          topic  A  B
        0     1  1  1
        1     2  0  1
        """
        import pandas as pd

        table = pd.DataFrame(self.contributes.T.astype(int), columns=list(self.groups))
        table.insert(0, "topic", list(self.topics), allow_duplicates=True)
        return table

    def _text(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["topic", *self.groups])
        for topic, column in zip(self.topics, self.contributes.T.astype(int), strict=True):
            writer.writerow([topic, *column])
        return text.getvalue()

    def write(self, path: str | Path, *, provenance: Mapping[str, object] | None = None) -> None:
        """Write the design as CSV, and `provenance` to ``PATH.meta.json`` if given.

        The columns are ``topic`` and one for each group: 1 where it contributes, 0 where it is
        held out, as in Table 1 of the paper. Rows stand in the order of judging.
        """
        write_text(self._text(), path)
        if provenance is not None:
            write_json({"design": self.digest, "meta": dict(provenance)}, meta_path(path))

    def __repr__(self) -> str:
        everyone = int(self.contributes.all(axis=0).sum())
        return (
            f"HoldOutDesign({counted(len(self.topics), 'topic')}, "
            f"{counted(len(self.groups), 'group')}; {counted(everyone, 'topic')} judged for all)"
        )


@explains_types
def read_hold_out(path: str | Path) -> HoldOutDesign:
    """Read a design that :meth:`HoldOutDesign.write` wrote, or one made by hand in its layout.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    HoldOutDesign

    Raises
    ------
    InputError
        Naming the file and the line: no column ``topic``, a field that is neither 1 nor 0.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "design.csv")
    >>> HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]]).write(path)
    >>> read_hold_out(path).held_out("2")
    ('A',)
    """
    header, *rows = read_csv_rows(path, "design", _REMEDY)
    if header.fields[0] != "topic":
        raise InputError("its first column is not topic", path=path, line=1, remedy=_REMEDY)
    for row in rows:
        if bad := [field for field in row.fields[1:] if field not in ("0", "1")]:
            raise InputError(
                f"{bad[0]!r:.40} is neither 1 (contributes) nor 0 (held out)",
                path=path,
                line=row.line,
                remedy=_REMEDY,
            )
    mask = np.array([[field == "1" for field in row.fields[1:]] for row in rows]).T
    with naming(path):
        return HoldOutDesign(tuple(row.fields[0] for row in rows), tuple(header.fields[1:]), mask)


def check_design(judgments: Judgments | Qrels, hold_out: HoldOutDesign | None) -> None:
    """Refuse judgments that were made under another hold-out design.

    Judgments that name no design pass: those made by hand say nothing of it.

    Parameters
    ----------
    judgments : Judgments or Qrels
    hold_out : HoldOutDesign or None
        None: judging goes on under no design.

    Raises
    ------
    InputError
        Naming the digests of both designs.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> design = HoldOutDesign(("1", "2"), ("A", "B"), [[True, False], [True, True]])
    >>> check_design(rb.Qrels({"1": {"d1": 1}}, hold_out=design.digest), design)
    >>> check_design(rb.Qrels({"1": {"d1": 1}}, hold_out="0123456789abcdef"), design)
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: the judgments were made under hold-out design 0123456789ab, ...
    """
    made = judgments.hold_out
    if made is None or (hold_out is not None and made == hold_out.digest):
        return
    other = "none is given" if hold_out is None else f"not {hold_out.digest[:12]}"
    raise InputError(
        f"the judgments were made under hold-out design {made[:12]}, {other}",
        path=getattr(judgments, "path", "") or None,
        remedy="give the design under which they were made, as hold_out= or --hold-out",
    )


def check_contributed(
    judgments: Judgments, hold_out: HoldOutDesign, groups: Mapping[str, str]
) -> None:
    """Refuse judgments of documents that groups held out of a topic alone retrieved.

    Under their own design judgments have none: those of another design, or complete ones, have
    many, and losses measured by them are too low.

    Parameters
    ----------
    judgments : Judgments
        Over the pool of every system.
    hold_out : HoldOutDesign
    groups : mapping of str to str
        Group of each system of the pool.

    Raises
    ------
    InputError
        More than a hundredth of what is judged, on topics with groups held out, and more than ten
        documents are of this kind. Judgments that name the design pass.

    Warns
    -----
    CollectionWarning
        Instead, where the pool has no system of some group of the design: it may have retrieved
        them.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> lists = {name: [f"{name}{n}" for n in range(12)] for name in ("a", "b")}
    >>> runs = rb.Runs([rb.Run.from_rankings(name, {"1": lists[name]}) for name in lists])
    >>> design = HoldOutDesign(("1",), ("A", "B"), [[True], [False]])
    >>> every = rb.Qrels({"1": dict.fromkeys(lists["a"] + lists["b"], 1)})
    >>> judged = rb.Judgments.from_qrels(rb.Pool.from_runs(runs), every)
    >>> check_contributed(judged, design, {"a": "A", "b": "B"})
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: 12 of 24 judged documents were retrieved by groups alone that ...
    """
    if judgments.hold_out == hold_out.digest:
        return
    pool = judgments.pool
    topics = [topic for topic in pool.topics if topic in hold_out.topics]
    took_part = hold_out.mask(pool.systems, groups, topics)
    judged = foreign = 0
    for took, topic in zip(took_part.T, topics, strict=True):
        t = pool.topics.index(topic)
        if took.all():
            continue
        ranked = pool.ranks(t, below=True) > 0
        here = judgments.judged[pool.documents(t)] & ranked.any(axis=0)
        judged += int(here.sum())
        foreign += int((here & ~ranked[took].any(axis=0)).sum())
    if foreign <= max(_FOREIGN * judged, _BY_HAND):
        return
    problem = (
        f"{foreign:,} of {counted(judged, 'judged document')} were retrieved by groups alone that "
        "the design holds out of their topics"
    )
    if absent := set(hold_out.groups) - set(groups_of(pool.systems, groups)):
        warn(
            f"{problem}: {counted(len(absent), 'group')} of the design without a run may have "
            "retrieved them, too; if not, the judgments were not made under it"
        )
        return
    raise InputError(
        f"{problem}: the judgments were not made under it",
        remedy="give the design under which they were made, and all runs; complete judgments are "
        "cut to what it would have judged by scores_under(depth=) (reusability --depth)",
    )


def warn_of_held_out(
    judged_for: JudgedFor,
    topics: Sequence[str],
    hold_out: HoldOutDesign,
    groups: Mapping[str, str],
) -> None:
    """Say that judgments were made for systems that a design holds out of their topics.

    Parameters
    ----------
    judged_for : sequence of str, mapping of str to sequence of str, or None
        As judgments name it: the systems of all topics, or of each; None: not known.
    topics : sequence of str
        Those with judgments.
    hold_out : HoldOutDesign
    groups : mapping of str to str
        Group of each system; others are let be.

    Warns
    -----
    CollectionWarning
        How many topics, and one system of the first.

    Examples
    --------
    >>> design = HoldOutDesign(("1", "2"), ("0", "1"), [[True, False], [True, True]])
    >>> warn_of_held_out(["b1"], ["1", "2"], design, {"a1": 0, "b1": 1})
    """
    groups, named = groups_by_system(groups), []
    for topic in topics:
        systems = judged_for.get(topic, ()) if isinstance(judged_for, Mapping) else judged_for
        if systems and topic in hold_out.topics:
            held = hold_out.held_out(topic)
            named += [(name, topic) for name in systems if groups.get(name) in held][:1]
    if named:
        name, topic = named[0]
        warn(
            f"judgments of {counted(len(named), 'topic')} were made for systems that the design "
            f"holds out there, as {name} on topic {topic}: losses measured by them are too low"
        )


def check_groups_given(hold_out: object, groups: object) -> None:
    """Refuse a design without groups, or groups without a design; None is neither.

    Examples
    --------
    >>> check_groups_given(None, None)
    """
    if hold_out is not None and groups is None:
        raise InputError(
            "a hold-out design needs the group of every system",
            remedy="give groups= or --groups, as read_groups reads them",
        )
    if hold_out is None and groups is not None:
        raise InputError(
            "groups are for judging under a hold-out design",
            remedy="give hold_out= or --hold-out too, or leave groups out",
        )


def groups_of(
    systems: Sequence[str], groups: Mapping[str, str], *, path: str | Path | None = None
) -> list[str]:
    """Return the group of each system; `path` is the file of groups, for an error.

    Raises
    ------
    InputError
        Systems without a group: it names some. What :func:`groups_by_system` refuses.

    Examples
    --------
    >>> groups_of(["dense"], {"bm25": "siteA", "dense": "siteB"})
    ['siteB']
    """
    groups = groups_by_system(groups)
    if lone := [system for system in systems if system not in groups]:
        more = f" and {len(lone) - 4} more" if len(lone) > 4 else ""
        raise InputError(
            f"no group for {', '.join(lone[:4])}{more}",
            path=path,
            remedy="give a group for every system",
        )
    return [groups[system] for system in systems]


def groups_by_system(groups: object) -> Mapping[str, str]:
    """Take the group of each system as a mapping, with groups as texts.

    Parameters
    ----------
    groups : mapping of str to str or int, or Series indexed by system
        A whole number stands for its digits.

    Raises
    ------
    InputError
        Something else, as the name of a file; a group that is neither text nor a whole number.

    Examples
    --------
    >>> import pandas as pd
    >>> groups_by_system(pd.Series({"bm25": "siteA", "dense": "siteB"}))
    {'bm25': 'siteA', 'dense': 'siteB'}
    >>> groups_by_system({"bm25": 0, "dense": 1})
    {'bm25': '0', 'dense': '1'}
    >>> groups_by_system("groups.csv")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: groups are a str, not a mapping of system to group; read them, ...
    """
    if is_keyed(groups):
        return {system: text_of(group, "group") for system, group in groups.items()}
    raise InputError(
        f"groups are {with_article(type(groups).__name__)}, not a mapping of system to group",
        remedy="read them, as from a file: read_groups(FILE)",
    )
