"""Write runs, qrels, erels and prels in the formats that TREC tools read."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rtc_bayes.collection.ids import shown
from rtc_bayes.collection.qrels import Prels, Probabilities, Qrels
from rtc_bayes.collection.runs import Run, Runs
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import atomic_write, make_folder, meta_path, write_json


@explains_types
def write_run(run: Run, path: str | Path) -> None:
    """Write ``topic Q0 docno rank score tag`` lines; a name that ends in .gz is gzipped.

    Raises
    ------
    InputError
        A tag, topic or docno that a line cannot hold, as it has white space.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "run")
    >>> rb.write_run(rb.Run.from_rankings("bm25", {"401": ["d1"]}), path)
    >>> print(Path(path).read_text(), end="")
    401 Q0 d1 1 1.0 bm25
    """
    _write(
        path,
        (
            (topic, "Q0", docno, rank, score, run.tag)
            for topic in run.topics
            for rank, (docno, score) in enumerate(
                zip(run.ranking(topic), run.scores(topic).tolist(), strict=True), 1
            )
        ),
    )


@explains_types
def write_runs(runs: Runs, folder: str | Path, *, compress: bool = True) -> None:
    """Write each run to ``folder/TAG.gz`` (``folder/TAG`` with ``compress=False``).

    Raises
    ------
    InputError
        A tag that cannot name a file: it has a / or begins with a dot.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> import rtc_bayes as rb
    >>> folder = tempfile.mkdtemp()
    >>> rb.write_runs(rb.read_runs({"bm25": {"401": {"d1": 1.0}}}), folder)
    >>> os.listdir(folder)
    ['bm25.gz']
    """
    for tag in runs:
        if tag.startswith(".") or "/" in tag or "\\" in tag:
            raise InputError(
                f"run tag {shown(tag)} cannot name a file",
                path=folder,
                remedy="give the system another name, or write it with write_run",
            )
    make_folder(folder)
    for tag, run in runs.items():
        write_run(run, Path(folder) / (f"{tag}.gz" if compress else tag))


@explains_types
def write_qrels(qrels: Qrels, path: str | Path) -> None:
    """Write ``topic 0 docno relevance`` lines.

    Where they are known, the systems that they were judged for, the digest of the hold-out design
    under which they were judged, and the relevance level go to ``PATH.meta.json``, where
    :func:`rtc_bayes.read_qrels` finds them; what stood there before described other judgments and
    is removed.

    Raises
    ------
    InputError
        A topic or docno that a line cannot hold, as it has white space.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "qrels")
    >>> rb.write_qrels(rb.Qrels({"401": {"d1": 1}}, judged_for=["bm25"]), path)
    >>> rb.read_qrels(path).judged_for
    ('bm25',)
    """
    _write(path, _qrels_rows(qrels))
    about = qrels.about()
    _write_beside({} if about == {"judged_for": None} else about, path)


def qrels_text(qrels: Qrels) -> str:
    r"""Return what :func:`write_qrels` writes into its file.

    Raises
    ------
    InputError
        A topic or docno that a line cannot hold, as it has white space.

    Examples
    --------
    >>> qrels_text(Qrels({"401": {"d1": 1}}))
    '401 0 d1 1\n'
    """
    return b"".join(_lines(_qrels_rows(qrels))).decode()


def _qrels_rows(qrels: Qrels) -> Iterator[tuple[Any, ...]]:
    return ((t, 0, docno, g) for t, v in qrels.items() for docno, g in v.items())


@explains_types
def write_erels(probabilities: Probabilities, path: str | Path) -> None:
    """Write ``topic Q0 docno probability`` lines; probabilities keep every digit.

    Raises
    ------
    InputError
        A topic or docno that a line cannot hold, as it has white space.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "erels")
    >>> rb.write_erels(rb.Probabilities({"401": {"d1": 0.25}}), path)
    >>> print(Path(path).read_text(), end="")
    401 Q0 d1 0.25
    """
    rows = ((t, docno, p) for t, v in probabilities.items() for docno, p in v.items())
    _write(path, ((topic, "Q0", docno, float(p)) for topic, docno, p in rows))


@explains_types
def write_prels(prels: Prels, path: str | Path) -> None:
    """Write ``topic docno relevance algorithm probability`` lines.

    The relevance level, where it is known, goes to ``PATH.meta.json``, as of :func:`write_qrels`.

    Raises
    ------
    InputError
        A topic or docno that a line cannot hold, as it has white space.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from rtc_bayes.collection import Prel, Prels, write_prels
    >>> path = os.path.join(tempfile.mkdtemp(), "prels")
    >>> write_prels(Prels({"401": {"d1": Prel(1, 2, 0.5)}}), path)
    >>> print(Path(path).read_text(), end="")
    401 d1 1 2 0.5
    """
    _write(
        path,
        (
            (t, docno, p.relevance, p.algorithm, p.probability)
            for t, v in prels.items()
            for docno, p in v.items()
        ),
    )
    level = prels.relevance_level
    _write_beside({} if level is None else {"relevance_level": level}, path)


def _write_beside(about: dict[str, object], path: str | Path) -> None:
    """Write what is known of judgments beside their file; what stood there was of others."""
    if not Path(path).is_file():
        return
    if about:
        write_json(about, meta_path(path))
    else:
        meta_path(path).unlink(missing_ok=True)


def _write(path: str | Path, rows: Iterable[tuple[Any, ...]]) -> None:
    with atomic_write(path, "wb") as file:
        file.writelines(_lines(rows, path))


def _lines(rows: Iterable[tuple[Any, ...]], path: str | Path | None = None) -> Iterator[bytes]:
    """Make lines of fields, each of which is read back as one; an error names the path."""
    for row in rows:
        fields = [str(field).encode() for field in row]
        line = b" ".join(fields)
        if line.split() != fields or b"\0" in line or codecs.BOM_UTF8 in line:
            raise InputError(
                f"{shown(line.decode())} cannot be a line of {len(fields)} fields",
                path=path,
                remedy="give ids and tags without white space",
            )
        yield line + b"\n"
