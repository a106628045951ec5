"""Errors and warnings that tell a user what is wrong, where, and what to do about it."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = os.path.dirname(__file__) + os.sep


class InputError(ValueError):
    """Bad input: a file, an option or an argument that cannot be used.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str or Path, optional
        The file it is in.
    line : int, optional
        The line of that file, counted from 1.
    remedy : str, optional
        What to do about it.

    Examples
    --------
    >>> print(InputError("3 fields", path="a.run", line=7, remedy="correct the line"))
    a.run:7: 3 fields; correct the line
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.path = None if path is None else str(path)
        self.line = line
        self.remedy = remedy
        where = ":".join(str(part) for part in (self.path, line) if part is not None)
        text = f"{where}: {message}" if where else message
        super().__init__(f"{text}; {remedy}" if remedy else text)

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error cross process borders with its parts."""
        return _rebuild, (type(self), self.message, self.path, self.line, self.remedy)


# what a slip in code of one's own raises
_MISTAKES = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError),
    *(LookupError, NameError, TypeError, ValueError),
)


@contextmanager
def own_code(
    own: object, what: str, remedy: str, *, passing: type[Exception] = InputError
) -> Iterator[None]:
    """Say where a model's or a judge's own code fails.

    Parameters
    ----------
    own : object
        The instance, or its class where there is none yet.
    what : str
        What of it is called: "graph(pool, judgments)".
    remedy : str
    passing : exception
        One that is left as it is, beside InputError.

    Examples
    --------
    >>> with own_code(object(), "choose(1)", "correct it"):
    ...     {}["d9"]
    Traceback (most recent call last):
    rtc_bayes.errors.InputError: choose(1) of object fails: KeyError: 'd9'; correct it
    """
    try:
        yield
    except (InputError, passing):
        raise
    except _MISTAKES as error:
        cls = own if isinstance(own, type) else type(own)
        # None of one that is typed in
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise InputError(
            f"{what} of {cls.__name__} fails: {said}",
            path=file,
            line=line,
            remedy=remedy,
        ) from error


class FitError(RuntimeError):
    """A fit that must not be used: it did not converge or gave values that are not finite.

    Examples
    --------
    >>> raise FitError("hierarchical:map did not converge")
    Traceback (most recent call last):
    rtc_bayes.errors.FitError: hierarchical:map did not converge
    """


class UnfinishedError(RuntimeError):
    """Work that could not be finished here and now; what a study had finished is kept.

    Examples
    --------
    >>> raise UnfinishedError("memory ran out; 3 of 10 trials are stored")
    Traceback (most recent call last):
    rtc_bayes.errors.UnfinishedError: memory ran out; 3 of 10 trials are stored
    """


class FitWarning(UserWarning):
    """A fit that may be used with care: the message says what was seen.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("error", FitWarning)  # to stop at every such fit
    """


class SharedErrorsWarning(FitWarning):
    """Systems that may be made from the labels beside judgments: the message names them.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", SharedErrorsWarning)  # if it is known
    """


class TurnedLabelsWarning(FitWarning):
    """Judges whose labels go against people's judgments, and so count for nothing.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", TurnedLabelsWarning)  # if it is known
    """


class ByLotWarning(FitWarning):
    """Judges whose labels go with the systems' ranks hardly more than by lot, and count less.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", ByLotWarning)  # if it is known
    """


class CollectionWarning(UserWarning):
    """Something ordinary but worth knowing: a run without a topic, judgments without runs.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", CollectionWarning)  # if it is known
    """


class RelevantAloneWarning(CollectionWarning):
    """Judged documents are all, or nearly all, relevant: nothing tells how rare these are.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", RelevantAloneWarning)  # if it is known
    """


class UnlabelledWarning(CollectionWarning):
    """Documents without a label beside others that have some: what they are taken for.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", UnlabelledWarning)  # if it is known
    """


def warn(message: str, category: type[Warning] = CollectionWarning) -> None:
    """Warn at the line that called the package, or its models.

    Parameters
    ----------
    message : str
        What is worth knowing, and what to do about it.
    category : type of Warning, optional

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("topic 3 has no run")
    >>> caught[0].filename == __file__
    False
    """
    models = getattr(sys.modules.get("rtc_bayes_models"), "__path__", ())
    warnings.warn(
        message, category, skip_file_prefixes=(_PACKAGE, *(f"{path}{os.sep}" for path in models))
    )


def _rebuild(
    kind: type[InputError], message: str, path: str | None, line: int | None, remedy: str | None
) -> InputError:
    return kind(message, path=path, line=line, remedy=remedy)
