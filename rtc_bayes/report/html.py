"""The report: one HTML file that needs nothing else, and its tables as files beside it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from rtc_bayes.report.exports import write_page
from rtc_bayes.report.page import Page
from rtc_bayes.trials import StudyResult, load_study
from rtc_bayes.trials.kind import find_kind


def write_report(directory: str | Path, output: str | Path | None = None) -> Path:
    """Write the report of a study of any kind.

    The tables of the study are written too, in a folder ``tables`` beside the HTML file: each as
    CSV with the numbers as they are, as Markdown, and as LaTeX (booktabs).

    Parameters
    ----------
    directory : str or Path
        What ``rtc-bayes robustness``, ``calibrate`` or ``demo`` wrote, or
        :func:`rtc_bayes.trials.run_study`.
    output : str or Path, optional
        The HTML file; by default ``report.html`` in `directory`.

    Returns
    -------
    Path
        Where the HTML file stands.

    Raises
    ------
    InputError
        The folder holds no finished study.

    Examples
    --------
    >>> from rtc_bayes.report import write_report
    >>> write_report("study")  # doctest: +SKIP
    """
    folder = Path(directory)
    study = load_study(folder)
    page = _page(study)
    target = folder / "report.html" if output is None else Path(output)
    return write_page(page, target, study.meta)


def _page(study: StudyResult) -> Page:
    """Make the page that the study's kind declares."""
    make = find_kind(study.directory, study.meta).page
    if isinstance(make, str):
        module, _, name = make.partition(":")
        make = getattr(import_module(module), name)
    return make(study)
