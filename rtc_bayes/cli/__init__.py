"""One command per thing a user does: arguments in, files and tables out.

The commands stand in the modules here, what they share of arguments in ``arguments``. What they do
is in the packages below; these load inside the command, so that ``--help`` stays light. Exit
status: 0; 2 for bad input, 1 for a fit that must not be used or work that could not be finished,
130 when interrupted, each with one line on standard error.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

import rtc_bayes
from rtc_bayes.cli.building import build
from rtc_bayes.cli.comparing import compare
from rtc_bayes.cli.describing import describe
from rtc_bayes.cli.evaluating import evaluate, simulate
from rtc_bayes.cli.fitting import fit, models
from rtc_bayes.cli.holding_out import plan as plan_hold_out, reusability
from rtc_bayes.cli.judging import next_
from rtc_bayes.cli.labelling import labels
from rtc_bayes.cli.merging import merge
from rtc_bayes.cli.planning import plan
from rtc_bayes.cli.selecting import allocate, extend, topics, variability
from rtc_bayes.cli.studies import calibrate, demo, report, robustness
from rtc_bayes.errors import CollectionWarning, FitError, FitWarning, InputError, UnfinishedError

PROGRAM = "rtc-bayes"


class _Commands(TyperGroup):
    """The commands, which typer would end without a word when interrupted."""

    def invoke(self, ctx: Any) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptedError(*error.args) from error


class _InterruptedError(Exception):
    """What a command said when it was interrupted."""


class _Command(TyperCommand):
    """A command that refuses an option given twice, of which typer would keep the last alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, typed = self.make_parser(ctx).parse_args(args=list(args))
        for parameter, times in Counter(typed).items():
            flag = getattr(parameter, "is_flag", False) and not parameter.secondary_opts
            if times > 1 and not (flag or getattr(parameter, "multiple", False)):
                name = max(parameter.opts, key=len)
                form = f", as {name} {parameter.metavar}" if parameter.metavar else ""
                raise InputError(f"{name} is given {times} times", remedy=f"give it once{form}")
        rest = super().parse_args(ctx, args)
        _keep_inputs(ctx.params)
        return rest


def _keep_inputs(parameters: Mapping[str, Any]) -> None:
    """Refuse to write over a file that is read, or over what says how one was made."""
    from rtc_bayes.store import meta_path

    named = [name for name in parameters if name == "output" or name.startswith("write_")]
    written = [(name, path) for name in named for path in _listed(parameters[name])]
    for name, path in written:
        ours = [file for file in (path, meta_path(path)) if os.path.exists(file)]
        others = [
            *(parameters.get(other) for other in _READ),
            *(_of_options(parameters.get(other)) for other in _WITH_OPTIONS),
        ]
        read = _files(others) if ours else ()
        for file in read:
            beside = (file, meta_path(file), file.parent)  # what is written may be a folder
            if any(os.path.samefile(a, b) for a in ours for b in beside if os.path.exists(b)):
                option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
                raise InputError(
                    f"{option} would write over what is read",
                    path=path,
                    remedy="name another file or folder",
                )


def _files(values: Iterable[Any]) -> Iterator[Path]:
    """Files that parameters name: each one, those of a folder, those of a pattern."""
    from rtc_bayes.collection.sources import files_of

    for value in values:
        for text in _listed(value):
            # what names no file the command refuses itself
            with contextlib.suppress(InputError):
                yield from files_of(text) if isinstance(text, str) else ()


def _of_options(value: Any) -> list[str]:
    """Values of a model's or a judge's options, as FILE of text_evidence[scores=FILE]."""
    return [name for text in _listed(value) for name in _OPTION_VALUE.findall(str(text))]


def _listed(value: Any) -> list[Any]:
    """Values of a parameter that may be given once, or more often; none of one that is not."""
    return [each for each in (value if isinstance(value, list | tuple) else [value]) if each]


app = typer.Typer(
    cls=_Commands,
    help="Predict relevance from rankings, and trust the comparison of systems.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "describe": describe,
    "evaluate": evaluate,
    "simulate": simulate,
    "merge": merge,
    "labels": labels,
    "fit": fit,
    "compare": compare,
    "build": build,
    "next": next_,
    "plan": plan,
    "hold-out plan": plan_hold_out,
    "reusability": reusability,
    "topics": topics,
    "allocate": allocate,
    "extend": extend,
    "variability": variability,
    "robustness": robustness,
    "calibrate": calibrate,
    "report": report,
    "models": models,
}
# parameters that name what is read; what is written is the output, or begins with "write_"
_READ = {
    *("audit", "erels", "families", "files", "gain", "gold", "groups", "hold_out", "human"),
    *("labels", "pilot", "prels", "qrels", "relevance", "runs", "scores", "truth"),
}
_WITH_OPTIONS = ("algorithm", "algorithms", "model", "option")
_OPTION_VALUE = re.compile(r"=([^\[\],=]+)")
# options of before or of other commands, and those that stand in their place
_OF_A_FIT = dict.fromkeys(
    ("--chains", "--tune"), "give it to fit (-o FIT.nc), then write --relevance FIT.nc"
)
_MOVED = {
    **{"--baseline": "--baseline-topics", "--most-runs": "--most-systems", "--cost": "--costs"},
    **{"--probability": "--form", "--model": "--algorithm", "--judge": "--algorithm"},
    **{"--level": "--confidence", "--pool-depth": "--depth", "--depth": "--judged-depth"},
    **{"--how": "--strategy", "--rel": "--relevance-level", "--scores": "--write-scores"},
}
# likewise words that an option takes
_MOVED_WORDS = {
    ("--solver", "greedy_tau"): "tau",
    ("--strategy", "random"): "ra",
    ("--strategy", "subset"): "sa",
    ("--truth", "complete"): "all",
}

# what is said of a number that is none, or out of range
_NUMBERS = (
    (re.compile(r"Input should be a valid integer.*"), "give a whole number"),
    (re.compile(r"Input should be a valid number.*"), "give a number"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"give \1 or more"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"give \1 or less"),
)

_hold_out = typer.Typer(cls=_Commands, rich_markup_mode=None)
for _name, _command in _COMMANDS.items():
    _of, _, _last = _name.rpartition(" ")
    (_hold_out if _of else app).command(_last, cls=_Command)(_command)
app.add_typer(
    _hold_out, name="hold-out", help="Plan whose systems are held out of the judging of a topic."
)


@_hold_out.callback()
def _group() -> None:
    """Let the group have a single command."""


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"{PROGRAM} {rtc_bayes.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 2 on bad input; 1 when a fit must not be used or work could not be finished; 130 when
        interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with _plain_warnings():
        try:
            return app(args=arguments, prog_name=PROGRAM, standalone_mode=False) or 0
        except (FitError, UnfinishedError) as error:
            return _fail(error, 1)
        except TyperException as error:
            return _fail(_usage(error, arguments), 2)
        except (InputError, UnicodeError) as error:
            return _fail(error, 2)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            return _fail(f"{where}{error.strerror or error}", 2)
        except _InterruptedError as error:
            said = str(error) if error.args else "nothing is kept but what was written before"
            return _fail(f"interrupted; {said}", 130)


def _usage(error: TyperException, arguments: Sequence[str]) -> str:
    """Say what is wrong with a command line, what was meant, and where its help is."""
    words = next((name.split() for name in _COMMANDS if name.split()[:1] == arguments[:1]), [])
    command = " ".join([PROGRAM, *words])
    remedy = f"see {command} --help"
    if arguments[: len(words)] != words:
        remedy = f"write {command}, or {remedy}"
    context = getattr(error, "ctx", None)
    if context is None or not hasattr(error, "option_name") or not hasattr(error, "possibilities"):
        message = error.format_message().replace("Value error, ", "")
        for said, plainly in _NUMBERS:
            message = said.sub(plainly, message)
        for (option, word), now in _MOVED_WORDS.items():
            typed = option in getattr(getattr(error, "param", None), "opts", ())
            if typed and f"'{word}' is not one of" in message:
                return f"no such word: {option} {word}; write {option} {now}, or {remedy}"
        return f"{message.rstrip('.?')}; {remedy}"
    option = error.option_name
    if not option.startswith("--"):  # -qrels is read as -q
        option = next((word for word in arguments if word.startswith(option)), option)
    parameters = context.command.params
    options = [name for of in parameters for name in (*of.opts, *of.secondary_opts)]
    if option in _OF_A_FIT and "--relevance" in options:
        return f"no such option: {option}; {_OF_A_FIT[option]}, or {remedy}"
    nearest = difflib.get_close_matches(option, options, n=1, cutoff=0.75)
    if _MOVED.get(option) in options:
        nearest = [_MOVED[option]]
    meant = f"write {nearest[0]}, or " if nearest else ""
    return f"no such option: {option}; {meant}{remedy}"


def _fail(error: object, status: int) -> int:
    line = " ".join(str(error).split())
    print(f"{PROGRAM}: {line}", file=sys.stderr)
    return status


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning once, as one line on standard error."""
    said: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        line = " ".join(str(message).split())
        if line not in said:
            said.add(line)
            print(f"{PROGRAM}: note: {line}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", CollectionWarning)
        warnings.simplefilter("always", FitWarning)
        warnings.showwarning = show
        yield
