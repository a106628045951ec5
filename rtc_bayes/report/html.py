"""The report: one HTML file that needs nothing else, and its tables as files beside it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from string import Template

from rtc_bayes.calibration.studies import CalibrationStudy, is_calibration
from rtc_bayes.errors import InputError
from rtc_bayes.report.calibration_page import calibration_body, calibration_tables
from rtc_bayes.report.demo_page import demo_body
from rtc_bayes.report.exports import export_tables
from rtc_bayes.report.study_page import study_body
from rtc_bayes.report.study_tables import study_tables
from rtc_bayes.robustness.demonstration import Demo, is_demo
from rtc_bayes.robustness.studies import Study
from rtc_bayes.store import atomic_write

TABLES = "tables"


def write_report(directory: str | Path, output: str | Path | None = None) -> Path:
    """Write the report of a study, of a calibration study or of a demo.

    The tables of the study are written too, in a folder ``tables`` beside the HTML file: each as
    CSV with the numbers as they are, as Markdown, and as LaTeX (booktabs).

    Parameters
    ----------
    directory : str or Path
        What ``rtc-bayes robustness``, ``calibrate`` or ``demo`` wrote.
    output : str or Path, optional
        The HTML file; by default ``report.html`` in `directory`.

    Returns
    -------
    Path
        Where the HTML file stands.

    Raises
    ------
    InputError
        The folder holds neither a finished study nor a demo.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, remedy="give what robustness or demo wrote")
    if is_demo(folder):
        demo = Demo.load(folder)
        study = demo.study
        # ten trials are too few to be broken down
        tables = study_tables(study, breakdowns=False)
        title, body, meta = "A demonstration", demo_body(demo, tables), study.meta
    elif is_calibration(folder):
        calibration = CalibrationStudy.load(folder)
        tables, meta = calibration_tables(calibration), calibration.meta
        title, body = "Calibration study", calibration_body(calibration, tables)
    else:
        study = Study.load(folder)
        tables, meta = study_tables(study), study.meta
        title, body = "Robustness study", study_body(study, tables)
    target = folder / "report.html" if output is None else Path(output)
    template = Template((files("rtc_bayes.report") / "template.html").read_text("utf-8"))
    with atomic_write(target) as file:
        file.write(template.substitute(title=f"{title} – rtc-bayes", body=body))
    export_tables(list(tables.values()), target.parent / TABLES, meta)
    return target
