"""Simulated collections that look like TREC ones, with the whole truth known.

A document has an *appeal* that all systems see; a system sees it through noise, part of which it
shares with the other systems of its site::

    score[s, d] = appeal[d] + noise[s, t] (sqrt(c) site[g, d] + sqrt(1 - c) own[s, d])
                  + relevant[d] skill[s, t]

The appeal of a relevant document is normal, around a mean that differs by topic: topics are easy
or hard. That of another document is normal, for a few with a half-normal added: some that are not
relevant look so to everybody, and systems agree on them. A noisier system is both worse and
odder. The constants were fitted to the TREC-8 ad hoc runs; docs/simulate.md compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import brief_repr, whole_number
from rtc_bayes.collection.qrels import Qrels
from rtc_bayes.collection.runs import Runs, run_of_checked
from rtc_bayes.collection.writing import qrels_text, write_runs
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import moved
from rtc_bayes.store import (
    digest_file,
    digest_text,
    meta_path,
    provenance,
    read_record,
    write_json,
    write_text,
)
from rtc_bayes.store.shown import counted

COLLECTION_SIZE = 528_155
"""Documents in the collection that docnos are drawn from: TREC disks 4 and 5 without CR."""

JUDGED_DEPTH = 100
"""The pool that is judged: the first documents of every run, as TREC does."""

_FIRST_TOPIC = 501
_MANIFEST = "manifest.json"
_GROUPS_HEAD = ("system", "group")
_ELSEWHERE = "name an empty folder"


@dataclass(frozen=True)
class Shape:
    """Constants of the model; standard deviations are of a log where `log` is in the name.

    Attributes
    ----------
    relevant_median, relevant_log_sd : float
        Relevant documents per topic: log-normal.
    easiness, easiness_sd : float
        Mean appeal of a topic's relevant documents: its mean and sd over topics.
    relevant_sd : float
        Sd of the appeal among the relevant documents of one topic.
    tail_share, tail_scale : float
        Share of the other documents whose appeal has a half-normal added, and its scale.
    noise, noise_log_sd, topic_noise_log_sd : float
        A system's noise: median, spread over systems, spread over topics.
    weak_share, weak_noise, weak_log_sd : float
        Share of sites whose systems are weak; their noise's median and spread.
    closeness : float
        Share of a system's noise variance that is its site's, in [0, 1): mean over systems.
    skill_sd : float
        Sd of a system's skill over topics, most of it shared within the site.
    manual_share, manual_skill : float
        Share of sites whose runs are manual, and the skill that the best of them adds.
    short_share : float
        Share of systems whose lists are short; at least one, all of the best manual site.
    coarse_share : float
        Share of sites that print scores to one decimal, and so with many ties.
    """

    relevant_median: float = 68.0
    relevant_log_sd: float = 0.85
    easiness: float = 2.75
    easiness_sd: float = 1.18
    relevant_sd: float = 1.62
    tail_share: float = 0.025
    tail_scale: float = 1.5
    noise: float = 0.78
    noise_log_sd: float = 0.23
    topic_noise_log_sd: float = 0.18
    weak_share: float = 0.15
    weak_noise: float = 3.9
    weak_log_sd: float = 0.72
    closeness: float = 0.67
    skill_sd: float = 0.6
    manual_share: float = 0.1
    manual_skill: float = 1.6
    short_share: float = 2 / 129
    coarse_share: float = 0.25


TREC8 = Shape()
"""Fitted to the 129 runs of TREC-8."""


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A simulated collection.

    Attributes
    ----------
    runs : Runs
    qrels : Qrels
        The pool of all runs to depth 100, and every relevant document, retrieved or not: a
        document that is not listed is not relevant.
    groups : dict of str to str
        For each system its site.
    manifest : dict
        How it was made: arguments, counts, constants, and each system's site and kind.
    """

    runs: Runs
    qrels: Qrels
    groups: Mapping[str, str]
    manifest: Mapping[str, object]

    def __repr__(self) -> str:
        judged, relevant = self.qrels.counts()
        sites = len(set(self.groups.values()))
        return (
            f"Simulation({counted(len(self.runs), 'system')} of {counted(sites, 'site')}, "
            f"{counted(len(self.qrels), 'topic')}, {judged} judged, {relevant} relevant, "
            f"seed {self.manifest['seed']})"
        )


@moved(topics="write n_topics", systems="write n_systems")
def simulate(
    *,
    n_topics: int = 50,
    n_systems: int = 40,
    documents: int = 20_000,
    depth: int = 1000,
    seed: int = 0,
) -> Simulation:
    """Simulate runs of several sites and complete judgments.

    Parameters
    ----------
    n_topics, n_systems : int
        How many, at least 1.
    documents : int
        Documents per topic that a system could retrieve, at least 100; fewer than the default
        make systems agree more.
    depth : int
        Length of a run's list, in [1, documents]; manual runs may have shorter ones.
    seed : int
        At least 0; the same seed gives the same collection.

    Returns
    -------
    Simulation

    Raises
    ------
    InputError
        An argument out of its range.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.simulate(n_topics=3, n_systems=4, documents=200, depth=10).runs.topics
    ('501', '502', '503')
    """
    documents = _count("documents", documents, 100, COLLECTION_SIZE)
    return _simulate(
        _count("n_topics", n_topics, 1, COLLECTION_SIZE),
        _count("n_systems", n_systems, 1, COLLECTION_SIZE),
        documents,
        _count("depth", depth, 1, documents),
        whole_number("seed", seed),
        TREC8,
    )


def _count(name: str, value: object, low: int, high: int) -> int:
    """Refuse what is no whole number from `low` to `high`."""
    number = whole_number(name, value, least=low)
    if number > high:
        raise InputError(f"{name} is {brief_repr(value)}", remedy=f"give {low} to {high}")
    return number


def write(simulation: Simulation, folder: str | Path) -> None:
    """Write ``runs/*.gz``, ``qrels.txt``, ``groups.csv`` and ``manifest.json`` into a folder.

    The same simulation gives the same bytes. The manifest also has the digests of the two other
    ``files``, by which a later simulation knows that it may write over them.

    Parameters
    ----------
    simulation : Simulation
    folder : str or Path
        Made if it does not exist. Runs of other names there would be read with these.

    Raises
    ------
    InputError
        The folder has runs that are not of this simulation, or files of these names that no
        simulation wrote, or that were changed since.
    """
    folder = Path(folder)
    groups = [_GROUPS_HEAD, *simulation.groups.items()]
    texts = {
        "qrels.txt": qrels_text(simulation.qrels),
        "groups.csv": "".join(f"{system},{site}\n" for system, site in groups),
    }
    files = {name: digest_text(text) for name, text in texts.items()}
    _check_folder(folder, simulation.runs, files)
    write_runs(simulation.runs, folder / "runs")
    for name, text in texts.items():
        write_text(text, folder / name)
    seed = simulation.manifest["seed"]
    assert isinstance(seed, int)
    about = {**simulation.manifest, "files": files, **provenance(seed=seed)}
    write_json(about, folder / _MANIFEST)


def _check_folder(folder: Path, runs: Runs, files: Mapping[str, str]) -> None:
    """Refuse a folder with other runs, or files that its manifest does not have as they are."""
    names = {f"{system}.gz" for system in runs}
    if others := sorted(p.name for p in (folder / "runs").glob("*") if p.name not in names):
        raise InputError(
            f"has runs of another collection ({others[0]})",
            path=folder / "runs",
            remedy=_ELSEWHERE,
        )
    manifest = folder / _MANIFEST
    before = read_record(manifest, remedy=_ELSEWHERE) if manifest.is_file() else {}
    foreign = [manifest] if before and "shape" not in before else []
    written = before.get("files", {})
    for name, digest in files.items():
        file = folder / name
        if file.exists() and digest_file(file) not in (digest, written.get(name)):
            foreign.append(file)
        # a simulation writes nothing beside its files
        if meta_path(file).exists():
            foreign.append(meta_path(file))
    if foreign:
        raise InputError(
            f"is not as {_MANIFEST} says that a simulation wrote it, and would be lost",
            path=foreign[0],
            remedy=_ELSEWHERE,
        )


@dataclass(frozen=True, eq=False)
class _Systems:
    """What the systems are, before any topic; arrays of shape (systems,) unless said."""

    names: tuple[str, ...]
    site: NDArray[np.int64]
    site_names: tuple[str, ...]
    manual: NDArray[np.bool_]
    coarse: NDArray[np.bool_]
    short: NDArray[np.bool_]
    noise: NDArray[np.float64]
    closeness: NDArray[np.float64]
    skill: NDArray[np.float64]

    def kind(self, s: int) -> str:
        return "manual" if self.manual[s] else "automatic"


def _simulate(
    n_topics: int, n_systems: int, documents: int, depth: int, seed: int, shape: Shape
) -> Simulation:
    first, *streams = np.random.SeedSequence(seed).spawn(n_topics + 1)
    rng = np.random.default_rng(first)
    described = _describe_systems(rng, n_systems, shape)
    relevant = np.exp(shape.relevant_log_sd * _normal_scores(rng, n_topics)) * shape.relevant_median
    n_relevant = np.clip(np.round(relevant), 3, documents // 20).astype(int)
    easiness = shape.easiness + shape.easiness_sd * _normal_scores(rng, n_topics)

    lists: list[dict[str, tuple[NDArray[np.object_], NDArray[np.float64]]]]
    lists = [{} for _ in range(n_systems)]
    qrels: dict[str, dict[str, int]] = {}
    for t, stream in enumerate(streams):
        topic = str(_FIRST_TOPIC + t)
        rng = np.random.default_rng(stream)
        is_relevant = np.zeros(documents, dtype=bool)
        is_relevant[rng.choice(documents, n_relevant[t], replace=False)] = True
        ids = np.sort(rng.choice(COLLECTION_SIZE, documents, replace=False))
        lengths = _lengths(rng, described, depth)
        scores = _scores(rng, described, is_relevant, easiness[t], shape)
        ranked, values = _rank(scores, np.where(described.coarse, 1, 4), depth)
        judged = np.union1d(np.flatnonzero(is_relevant), ranked[:, :JUDGED_DEPTH])
        docnos = np.empty(documents, dtype=object)
        for document in np.union1d(judged, ranked):
            docnos[document] = _docno(int(ids[document]))
        for s, of_topic in enumerate(lists):
            kept = slice(lengths[s])
            of_topic[topic] = (docnos[ranked[s, kept]], values[s, kept])
        qrels[topic] = {docnos[document]: int(is_relevant[document]) for document in judged}

    runs = Runs(run_of_checked(name, lists[s]) for s, name in enumerate(described.names))
    judgments = Qrels(qrels)
    groups = {
        name: described.site_names[g]
        for name, g in zip(described.names, described.site, strict=True)
    }
    n_judged, n_relevant_all = judgments.counts()
    manifest: dict[str, object] = {
        "topics": n_topics,
        "documents": documents,
        "depth": depth,
        "seed": seed,
        "judged": n_judged,
        "relevant": n_relevant_all,
        "shape": asdict(shape),
        "systems": [
            {"system": name, "group": groups[name], "kind": described.kind(s)}
            for s, name in enumerate(described.names)
        ],
    }
    return Simulation(runs, judgments, groups, manifest)


def _describe_systems(rng: np.random.Generator, n_systems: int, shape: Shape) -> _Systems:
    # TREC-8's 41 groups sent 1 to 5 runs
    sizes: list[int] = []
    while sum(sizes) < n_systems:
        sizes.append(int(rng.choice(5, p=np.array([9, 5, 9, 7, 11]) / 41)) + 1)
    site = np.repeat(np.arange(len(sizes)), sizes)[:n_systems]
    sites = len(sizes)
    site_names = tuple(f"site{g + 1:02d}" for g in range(sites))
    letter = np.array([np.sum(site[:s] == site[s]) for s in range(n_systems)])
    names = tuple(f"{site_names[g]}{'abcde'[k]}" for g, k in zip(site, letter, strict=True))

    # so many sites of each kind, and not so many on average
    order = rng.permutation(sites)
    n_manual, n_weak = (round(sites * x) for x in (shape.manual_share, shape.weak_share))
    manual_sites, weak_sites = order[:n_manual], order[n_manual : n_manual + n_weak]
    coarse_sites = rng.permutation(sites)[: round(sites * shape.coarse_share)]
    manual, weak = np.isin(site, manual_sites), np.isin(site, weak_sites)

    log_noise = 0.85 * _normal_scores(rng, sites)[site] + 0.5 * _normal_scores(rng, n_systems)
    noise = np.where(
        weak,
        shape.weak_noise * np.exp(shape.weak_log_sd * log_noise),
        shape.noise * np.exp(shape.noise_log_sd * log_noise),
    )
    site_skill = np.zeros(sites)
    site_skill[manual_sites] = shape.manual_skill * np.linspace(1, 0.2, n_manual)
    closeness = np.clip(shape.closeness + rng.uniform(-0.25, 0.25, n_systems), 0, 0.97)
    return _Systems(
        names=names,
        site=site,
        site_names=site_names,
        manual=manual,
        coarse=np.isin(site, coarse_sites),
        # the people who worked hardest stopped when they had seen enough
        short=np.isin(site, manual_sites[:1])
        & (letter < max(1, round(n_systems * shape.short_share))),
        noise=noise,
        closeness=closeness,
        skill=site_skill[site],
    )


def _scores(
    rng: np.random.Generator,
    systems: _Systems,
    is_relevant: NDArray[np.bool_],
    easiness: float,
    shape: Shape,
) -> NDArray[np.float32]:
    """Scores of one topic, shape (systems, documents)."""
    documents, n_systems, sites = len(is_relevant), len(systems.names), len(systems.site_names)
    n_relevant = int(is_relevant.sum())
    appeal = rng.standard_normal(documents, dtype=np.float32)
    tail = rng.random(documents) < shape.tail_share
    appeal[tail] += shape.tail_scale * np.abs(rng.standard_normal(int(tail.sum())))
    appeal[is_relevant] = easiness + shape.relevant_sd * rng.standard_normal(n_relevant)

    noise = systems.noise * np.exp(shape.topic_noise_log_sd * rng.standard_normal())
    own = (noise * np.sqrt(1 - systems.closeness)).astype(np.float32)
    shared = (noise * np.sqrt(systems.closeness)).astype(np.float32)
    scores = rng.standard_normal((n_systems, documents), dtype=np.float32)
    scores *= own[:, None]
    of_site = rng.standard_normal((sites, documents), dtype=np.float32)
    for s, g in enumerate(systems.site):
        scores[s] += shared[s] * of_site[g]
    scores += appeal
    skill = 0.8 * rng.standard_normal(sites)[systems.site] + 0.6 * rng.standard_normal(n_systems)
    lift = systems.skill + shape.skill_sd * skill
    scores[:, is_relevant] += lift[:, None].astype(np.float32)
    return scores


def _rank(
    scores: NDArray[np.float32], decimals: NDArray[np.int64], depth: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Best documents of each system, and their scores as printed: shapes (systems, depth).

    Documents are numbered in the order of their docnos, so ties stand as trec_eval puts them.
    """
    if depth < scores.shape[1]:
        best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
    else:
        best = np.tile(np.arange(depth), (len(scores), 1))
    best = -np.sort(-best, axis=1)
    scale = 10.0 ** decimals[:, None]
    values = np.round(np.take_along_axis(scores, best, axis=1) * scale) / scale
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(values, order, axis=1)


def _lengths(rng: np.random.Generator, systems: _Systems, depth: int) -> NDArray[np.int64]:
    """Length of each system's list on one topic: the depth, but for the short manual runs."""
    seen = 70 * np.exp(0.6 * rng.standard_normal(len(systems.names)))
    return np.where(systems.short, np.clip(np.round(seen), 1, depth), depth).astype(np.int64)


def _normal_scores(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return normal quantiles in random order: a sample without the chance in its spread."""
    quantiles = [NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)]
    return rng.permutation(quantiles)


def _docno(number: int) -> str:
    """Name a document like those of TREC disks 4 and 5, in the order of the numbers."""
    if number < 130_471:
        return f"FBIS{3 + number // 70_000}-{number % 70_000:05d}"
    number -= 130_471
    if number < 55_630:
        day, n = divmod(number, 170)
        return f"FR94{1 + day // 28:02d}{1 + day % 28:02d}-0-{n:05d}"
    number -= 55_630
    if number < 210_158:
        return f"FT{911 + number // 6_500}-{number % 6_500:05d}"
    day, n = divmod(number - 210_158, 400)
    return f"LA{1 + day // 28:02d}{1 + day % 28:02d}89-{n:04d}"
