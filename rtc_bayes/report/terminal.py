"""Results as text: to standard output, or to a file with its provenance beside it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Grid

from rtc_bayes.report.tables import Format, cells
from rtc_bayes.store import atomic_write, json_text, meta_path, write_csv, write_json

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments
    from rtc_bayes.confidence import Comparison

# A table in a file or a pipe is never folded.
_WIDE = 10_000
# More pairs than those of ten systems are too many to read.
_PAIRS_SHOWN = 45


@dataclass(frozen=True)
class Table:
    """A frame to be read by a person.

    Attributes
    ----------
    title : str
    frame : DataFrame
    formats : mapping of str to Format
        How columns of numbers are written; they stand to the right.
    """

    title: str
    frame: pd.DataFrame
    formats: Mapping[str, Format] = field(default_factory=dict)


def write_tables(
    tables: Sequence[Table], output: str | None, provenance: Mapping[str, object]
) -> None:
    """Write tables, to standard output if `output` is None."""
    if output is None:
        _print(tables, sys.stdout)
        return
    with atomic_write(output) as file:
        _print(tables, file)
    write_json(provenance, meta_path(output))


def write_frame(frame: pd.DataFrame, output: str | None, provenance: Mapping[str, object]) -> None:
    """Write a frame as CSV, to standard output if `output` is None."""
    if output is None:
        sys.stdout.write(frame.to_csv(index=False, lineterminator="\n"))
    else:
        write_csv(frame, output, provenance)


def write_value(value: object, output: str | None, provenance: Mapping[str, object] | None) -> None:
    """Write a value as JSON, to standard output if `output` is None.

    `provenance` is None where the value holds it.
    """
    if output is None:
        sys.stdout.write(json_text(value))
        return
    write_json(value, output)
    if provenance is not None:
        write_json(provenance, meta_path(output))


def judged_table(judgments: Judgments, *, seed: int) -> Table:
    """Say how much of each system's lists is judged, to the pool's depth."""
    import pandas as pd

    column = f"judged@{judgments.pool.depth}"
    frame = pd.DataFrame({"system": judgments.pool.systems, column: judgments.coverage})
    title = (
        f"{judgments.pool.n_topics} topics, {judgments.n_judged} judged, "
        f"{judgments.relevant.sum():g} relevant, seed {seed}"
    )
    return Table(title, frame, {column: ".1%"})


def comparison_tables(
    comparison: Comparison, judgments: Judgments | None, *, seed: int
) -> list[Table]:
    """Rank the systems, and say of their pairs who is better.

    Of more pairs than can be read, those of neighbours in the ranking.
    """
    import numpy as np

    systems = comparison.systems_frame()
    formats: dict[str, Format] = {"expected": ".4f", "sd": ".4f"}
    if judgments is not None:
        column = f"judged@{judgments.pool.depth}"
        systems[column] = judgments.coverage
        formats[column] = ".1%"
    place = {system: rank for rank, system in enumerate(comparison.ranking())}
    systems = systems.sort_values("system", key=lambda names: names.map(place))
    source = f", {comparison.model}:{comparison.method}" if comparison.model else ""
    title = (
        f"{comparison.measure} over {len(comparison.topics)} topics, {comparison.moments} "
        f"moments{source}, seed {seed}"
    )

    columns = ["a", "b", "expected_difference", "sd", "p_less", "p_equal", "p_greater"]
    every = comparison.to_frame()
    pairs = every[[*columns, "probability"]].assign(confidence=comparison.confidence)
    title_pairs = "difference of a less b"
    if len(pairs) > _PAIRS_SHOWN:
        places = np.stack([pairs["a"].map(place), pairs["b"].map(place)])
        upper, lower = places.min(axis=0), places.max(axis=0)
        pairs = pairs.assign(place=upper)[lower - upper == 1]
        pairs = pairs.sort_values("place").drop(columns="place")
        title_pairs += (
            f"; the {len(pairs)} pairs of neighbours in the ranking, of {len(every)} "
            "(all: --format csv)"
        )
    signed = dict.fromkeys(["expected_difference"], "+.4f")
    shares = dict.fromkeys(["p_less", "p_equal", "p_greater", "confidence"], ".3f")
    return [
        Table(title, systems, formats),
        Table(title_pairs, pairs, {**signed, "sd": ".4f", **shares}),
    ]


def pairs_frame(compared: Sequence[Comparison]) -> pd.DataFrame:
    """Return the pairs of comparisons under one another, with the measure if there are several."""
    import pandas as pd

    if len(compared) == 1:
        return compared[0].to_frame()
    frames = {comparison.measure: comparison.to_frame() for comparison in compared}
    return pd.concat(frames, names=["measure"]).reset_index("measure")


def _print(tables: Sequence[Table], file: IO[str]) -> None:
    console = Console(file=file, highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE
    for table in tables:
        grid = Grid(box=SIMPLE, pad_edge=False)
        for column in table.frame.columns:
            right = column in table.formats
            grid.add_column(str(column), justify="right" if right else "left", overflow="fold")
        for row in cells(table.frame, table.formats):
            grid.add_row(*row)
        console.print(table.title)
        console.print(grid)
