"""Reading what commands are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import typer

from rtc_bayes.cli.arguments import Format, LabelFiles, PageFormat
from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    from rtc_bayes.collection import Judgments, Labels, Pool, Qrels, Runs
    from rtc_bayes.collection.qrels import Prels
    from rtc_bayes.judging import Algorithm
    from rtc_bayes.judging.choosing import PairLike
    from rtc_bayes.measures.estimand import Estimand
    from rtc_bayes.relevance import ModelSpec

ENDINGS: Mapping[str, Format] = {
    **{"": "table", ".txt": "table", ".json": "json", ".csv": "csv"},
    **{".tex": "latex", ".md": "markdown"},
}
PAGE_ENDINGS: Mapping[str, PageFormat] = {**ENDINGS, ".html": "html"}
"""Formats by the ending of a file; without an ending it is a table."""


def refuse_unused(
    context: typer.Context, beside: str, *options: str, remedy: str = "leave it out"
) -> None:
    """Refuse options that were typed and say nothing beside what else was, or was not.

    All of them are named at once.

    Parameters
    ----------
    context : typer.Context
        Of the command, which knows what was typed.
    beside : str
        In words, such as ``"with --leave-out"``.
    *options : str
        Names of the command's parameters.
    remedy : str

    Raises
    ------
    InputError
        One of them was typed.
    """
    if unused := typed(context, *options):
        say = "says" if len(unused) == 1 else "say"
        raise InputError(f"{' and '.join(unused)} {say} nothing {beside}", remedy=remedy)


def typed(context: typer.Context, *options: str) -> list[str]:
    """Return those of some parameters of a command that were typed, as one types them."""
    names = []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in options and source is not None and source.name == "COMMANDLINE":
            names.append(max(parameter.opts, key=len))
    return names


def of_negative(judged: Qrels | None) -> str:
    """Say how many documents nobody can judge."""
    from rtc_bayes.collection.qrels import left_out

    return left_out(len(judged.negative)) if judged and judged.negative else ""


def read_options(options: Sequence[str] | None) -> dict[str, str]:
    """Read ``K=V`` options."""
    read: dict[str, str] = {}
    for text in options or ():
        key, equals, value = text.partition("=")
        if not (key and equals) or key in read:
            raise InputError(f"cannot use --option {text}", remedy="write K=V, each K once")
        read[key] = value
    return read


def read_judgments(
    estimand: Estimand,
    pool: Pool,
    qrels: Qrels | None,
    labels: LabelFiles,
    judged_for: str | None = None,
    *,
    begin: bool = False,
) -> Judgments:
    """Take the judgments of qrels, none without any, with labels of judges beside them.

    Raises
    ------
    InputError
        Neither qrels nor labels, unless judging may `begin`; or systems judged for without qrels.
    """
    from rtc_bayes.collection import Judgments

    if judged_for is not None and qrels is None:
        raise InputError(
            "--judged-for says for whom the judgments of --qrels were made",
            remedy="give --qrels, too, or leave it out",
        )
    read = read_beside(labels, qrels)
    if qrels is not None and (len(qrels) or judged_for is not None):
        made = estimand.judgments(pool, qrels, tags(judged_for))
    elif labels or begin:
        level = estimand.relevance_level or 1
        made = Judgments.none(pool, relevance_level=level, judged_for=pool.systems)
    else:
        raise InputError("no judgments", remedy="give --qrels, or --labels, or both")
    return made.with_judge_labels(read)


def read_beside(labels: LabelFiles, qrels: Qrels | None) -> Labels | None:
    """Read labels of judges that stand beside judgments; None without any.

    Raises
    ------
    InputError
        One file as both.
    """
    from rtc_bayes.collection.sources import files_of

    paths = {path.resolve() for source in labels.labels or () for path in files_of(source)}
    if qrels is not None and Path(qrels.path).resolve() in paths:
        raise InputError(
            "this file is given as --labels and as --qrels, and would count twice",
            path=qrels.path,
            remedy="give it as what it is: labels of a judge that may err, or judgments",
        )
    return labels.read()


def parted(text: str) -> list[str]:
    """Read names, parted by commas; an empty one is kept."""
    return [name.strip() for name in text.split(",")]


def refuse_list(option: str, text: str) -> None:
    """Refuse NAME=NUMBER of several names, parted by commas; a name may have a comma.

    Examples
    --------
    >>> refuse_list("--costs", "one,of us=1")
    >>> refuse_list("--costs", "human=1,label=0.02")
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: --costs human=1,label=0.02 names several; give --costs once for \
each, as --costs human=1 --costs label=0.02
    """
    parts = parted(text)
    if len(parts) > 1 and all("=" in part for part in parts):
        apart = " ".join(f"{option} {part}" for part in parts)
        raise InputError(
            f"{option} {text} names several", remedy=f"give {option} once for each, as {apart}"
        )


def pair_of(text: str | None, systems: Sequence[str], *, least: str = ", or least") -> PairLike:
    """Read two systems' names, either of which may have a comma."""
    if text is None:
        return None
    if text == "least":
        return "least"
    parts = parted(text)
    splits = [(",".join(parts[:n]), ",".join(parts[n:])) for n in range(1, len(parts))]
    if not splits:
        raise InputError(f"--pair is {text!r}", remedy=f"give two systems as A,B{least}")
    return next((names for names in splits if set(names) <= set(systems)), splits[0])


def tags(text: str | None) -> list[str] | None:
    """Read systems' names, parted by commas.

    Raises
    ------
    InputError
        A name is empty.
    """
    if text is None:
        return None
    read = parted(text)
    if not all(read):
        raise InputError(f"a system without a name: {text!r}", remedy="write NAME,NAME")
    return read


def digests(
    runs: Runs,
    qrels: Qrels | Prels | None = None,
    readers: Iterable[ModelSpec | Algorithm] = (),
    labels: LabelFiles | None = None,
) -> dict[str, str]:
    """Return path as typed to digest, for provenance; of models, the files that these read."""
    from rtc_bayes.collection.sources import files_of
    from rtc_bayes.store import digest_file

    files = {run.path: run.digest for run in runs.values()}
    for source in (labels and labels.labels) or ():
        for path in files_of(source):
            if not path.exists():
                raise InputError("no such file", path=path, remedy="check the path")
            files[str(path)] = digest_file(path)
    if qrels is not None and qrels.path:
        files[qrels.path] = qrels.digest
    for reader in readers:
        files |= reader.files
    return files


def format_of[Kind: str](
    layout: Kind | None, output: str | None, kinds: Mapping[str, Kind]
) -> Kind:
    """Return the format asked for, else that of the output's ending, else a table.

    Parameters
    ----------
    layout : str or None
        As asked for.
    output : str or None
        A file, or standard output.
    kinds : mapping of str to str
        Format by ending.

    Raises
    ------
    InputError
        An ending that stands for no format.
    """
    if layout is not None:
        return layout
    ending = PurePath(output or "").suffix
    if ending and ending not in kinds:
        raise InputError(
            f"the ending {ending} of -o stands for no format",
            path=output,
            remedy=f"end it with one of {', '.join(sorted(filter(None, kinds)))}, or give --format",
        )
    return kinds[ending]


def formats_of[Kind: str](
    layout: Kind | None, outputs: Sequence[str] | None, kinds: Mapping[str, Kind]
) -> dict[str | None, Kind]:
    """Return the format of each output, as of :func:`format_of`; of standard output without any.

    Raises
    ------
    InputError
        An ending that stands for no format, or a format asked for with several outputs.
    """
    if layout is not None and len(outputs or ()) > 1:
        raise InputError(
            "--format says how to write one output, and -o names several",
            remedy="leave --format out: the endings say it",
        )
    return {output: format_of(layout, output, kinds) for output in outputs or (None,)}


def show_page(page: str, output: str | None, meta: Mapping[str, object], *, quiet: bool) -> None:
    """Print a page, or say where it was written, with its provenance beside it."""
    from rtc_bayes.store import meta_path, write_json

    if output is None:
        typer.echo(page)
        return
    write_json(dict(meta), meta_path(output))
    if not quiet:
        typer.echo(f"Open {output}")
