"""What run files say beyond the runs read from them: the rank column and the tag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.lines import RUN, Rows
from rtc_bayes.collection.order import natural_order
from rtc_bayes.collection.runs import Run
from rtc_bayes.errors import InputError


@dataclass(frozen=True)
class RunFile:
    """What a run's file says that the run does not keep.

    Attributes
    ----------
    tags : tuple of str
        The names in the last column, each once.
    conflicts : tuple of str
        Topics on which a document stands below one of a lower score, by the rank column.
    ties : tuple of str
        Other topics on which documents of equal score stand otherwise than trec_eval orders them,
        by docno, descending.
    problem : str
        Why the rank column cannot be read; empty if it can.
    """

    tags: tuple[str, ...]
    conflicts: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()
    problem: str = ""


def read_run_file(run: Run) -> RunFile | None:
    r"""Read a run's file again, for its tag and its rank column.

    Parameters
    ----------
    run : Run

    Returns
    -------
    RunFile or None
        None where the run was not read from a file, or the file is no longer the same.

    Examples
    --------
    >>> import os, tempfile
    >>> import rtc_bayes as rb
    >>> path = os.path.join(tempfile.mkdtemp(), "a.run")
    >>> with open(path, "w") as file:
    ...     _ = file.write("1 Q0 d1 1 0.5 bm25\n1 Q0 d2 2 0.75 bm25\n")
    >>> read_run_file(rb.read_runs(path)["bm25"])
    RunFile(tags=('bm25',), conflicts=('1',), ties=(), problem='')
    """
    path = Path(run.path)
    if not run.path or not path.is_file():
        return None
    try:
        rows = Rows(path, RUN)
    except InputError:
        return None
    if rows.digest != run.digest:
        return None
    tags = tuple(rows.column("tag").unique().to_pylist())
    try:
        ranks = rows.integers("rank")
    except InputError as error:
        return RunFile(tags, problem=str(error))
    conflicts, ties = _disagreements(rows, ranks)
    return RunFile(tags, natural_order(conflicts), natural_order(ties - conflicts))


def _disagreements(rows: Rows, ranks: NDArray[np.int64]) -> tuple[set[str], set[str]]:
    """Topics where scores rise down the ranks, and where ties are not in the order of docnos."""
    from pyarrow import compute

    coded = rows.column("topic").dictionary_encode()
    topics, names = coded.indices.to_numpy(), np.array(coded.dictionary.to_pylist(), dtype=object)
    order = np.lexsort((ranks, topics))
    scores = rows.numbers("score", "a number", lambda numbers: ~np.isnan(numbers))[order]
    topics = topics[order]
    same = topics[1:] == topics[:-1]
    rises = same & (scores[1:] > scores[:-1])
    tied = np.flatnonzero(same & (scores[1:] == scores[:-1]))
    docnos = rows.column("docno")
    before, after = docnos.take(order[tied]), docnos.take(order[tied + 1])
    exchanged = tied[compute.less(before, after).to_numpy(zero_copy_only=False)]
    return set(names[topics[1:][rises]]), set(names[topics[exchanged]])
