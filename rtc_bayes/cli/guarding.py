"""Judgments in a file that a command is about to write over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_bayes.errors import InputError
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    from rtc_bayes.collection import Qrels

PRELS = (".prels", ".prels.gz")
"""How names of files end that hold probabilities of being drawn beside grades."""


def lose_no_judgment(
    output: str,
    kept: Sequence[Qrels],
    source: str,
    remedy: str = "name another file",
    *,
    prels: bool | None = None,
) -> None:
    """Refuse to write over judgments that stand nowhere else, as those that a person added.

    Parameters
    ----------
    output : str
        Qrels or prels. What an earlier command took as nonrelevant, as
        OUT.meta.json says, is no judgment; nor is a negative grade, or none.
    kept : sequence of Qrels
        What is not lost: documents with these grades.
    source : str
        What these are, in words.
    remedy : str
        What to do in place of it.
    prels : bool, optional
        Whether OUT holds prels. Default: by its ending.

    Raises
    ------
    InputError
        A judgment would be lost, or the file holds something that is no judgments.
    """
    file = Path(output)
    if not file.is_file() or not file.stat().st_size:
        return
    try:
        judged = _judged(output, prels=output.endswith(PRELS) if prels is None else prels)
        lost = judged.difference(_taken(output))
    except InputError as error:
        raise InputError(
            f"holds no judgments that can be read ({error.message}), and would be lost",
            path=output,
            line=error.line,
            remedy="name another file",
        ) from error
    for qrels in kept:
        lost -= _rows(qrels)
    if lost:
        raise InputError(
            f"{counted(len(lost), 'judgment')} in it that {source} does not hold would be lost",
            path=output,
            remedy=remedy,
        )


def as_written(output: str) -> bool:
    """Whether a file is as an earlier command left it, by the digest in OUT.meta.json."""
    from rtc_bayes.store import meta_path
    from rtc_bayes.store.files import digest_file, read_record

    if not (Path(output).is_file() and meta_path(output).exists()):
        return False
    return read_record(meta_path(output)).get("digest") == digest_file(output)


def _judged(output: str, *, prels: bool) -> set[tuple[str, str, int]]:
    """Read topic, docno and grade of every judgment in a file."""
    from rtc_bayes.collection import read_prels, read_qrels

    rows = _rows(read_prels(output).qrels() if prels else read_qrels(output))
    return {row for row in rows if row[2] >= 0}


def _rows(qrels: Qrels) -> set[tuple[str, str, int]]:
    return {(topic, docno, grade) for topic, rows in qrels.items() for docno, grade in rows.items()}


def taken_before(path: str, kept: Qrels) -> list[list[str]]:
    """Return what an earlier command took as nonrelevant and is in judgments that go on from it.

    Parameters
    ----------
    path : str
        The judgments of the earlier command, or a folder of such: FILE.meta.json says of each what
        was taken.
    kept : Qrels
        The judgments that have these, too. A grade that was corrected since is a judgment.

    Returns
    -------
    list of [topic, docno]
    """
    from rtc_bayes.collection.sources import files_of

    rows = _rows(kept)
    taken = dict.fromkeys(row for file in files_of(path) for row in _taken(file))
    return [[topic, docno] for topic, docno, grade in taken if (topic, docno, grade) in rows]


def _taken(output: str | Path) -> list[tuple[str, str, int]]:
    """Read what nobody judged, and was taken as nonrelevant."""
    from rtc_bayes.store import meta_path
    from rtc_bayes.store.files import read_record

    if not meta_path(output).exists():
        return []
    missing = read_record(meta_path(output)).get("missing")
    return [(topic, docno, 0) for topic, docno in missing] if isinstance(missing, list) else []
