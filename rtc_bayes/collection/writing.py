"""Write runs, qrels, erels and prels in the formats that TREC tools read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rtc_bayes.collection.qrels import Prels, Probabilities, Qrels
from rtc_bayes.collection.runs import Run, Runs
from rtc_bayes.store import atomic_write


def write_run(run: Run, path: str | Path) -> None:
    """Write ``topic Q0 docno rank score tag`` lines; a name that ends in .gz is gzipped."""
    _write(
        path,
        (
            f"{topic} Q0 {docno} {rank} {score!r} {run.tag}"
            for topic in run.topics
            for rank, (docno, score) in enumerate(
                zip(run.ranking(topic), run.scores(topic).tolist(), strict=True), 1
            )
        ),
    )


def write_runs(runs: Runs, folder: str | Path, *, compress: bool = True) -> None:
    """Write each run to ``folder/TAG.gz`` (``folder/TAG`` with ``compress=False``)."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for tag, run in runs.items():
        write_run(run, Path(folder) / (f"{tag}.gz" if compress else tag))


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Write ``topic 0 docno relevance`` lines."""
    _write(path, (f"{t} 0 {docno} {g}" for t, v in qrels.items() for docno, g in v.items()))


def write_erels(probabilities: Probabilities, path: str | Path) -> None:
    """Write ``topic Q0 docno probability`` lines; probabilities keep every digit."""
    _write(
        path, (f"{t} Q0 {docno} {p!r}" for t, v in probabilities.items() for docno, p in v.items())
    )


def write_prels(prels: Prels, path: str | Path) -> None:
    """Write ``topic docno relevance algorithm probability`` lines."""
    _write(
        path,
        (
            f"{t} {docno} {p.relevance} {p.algorithm} {p.probability!r}"
            for t, v in prels.items()
            for docno, p in v.items()
        ),
    )


def _write(path: str | Path, lines: Iterable[str]) -> None:
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)
