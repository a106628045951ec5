"""Sphinx configuration: pages in Markdown, the reference from docstrings and from the commands."""

import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

import rtc_bayes

project = "rtc_bayes"
author = copyright = "The rtc_bayes authors"  # noqa: A001
version = release = rtc_bayes.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
extensions.append("sphinx_gallery.gen_gallery")
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "gallery", "reference/generated"]

html_theme = "furo"
html_title = "rtc_bayes"
html_static_path = ["static"]
html_css_files = ["tables.css"]

autodoc_typehints = "none"  # the docstrings give types, with shapes and units
numpydoc_show_class_members = False

# The gallery is made by running its files; an example that fails fails the build.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "example_extensions": {".py"},
    "within_subsection_order": "FileNameSortKey",
    "run_stale_examples": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
}

# The pages on commands are made from the commands themselves.
_generated = Path(__file__).parent / "reference" / "generated"
_generated.mkdir(parents=True, exist_ok=True)
(_generated / "commands.md").write_text(
    subprocess.run(
        [sys.executable, "-m", "typer", "rtc_bayes.cli", "utils", "docs", "--name", "rtc-bayes"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
)


def setup(app: Sphinx) -> None:
    """Connect what is done to each page that is read."""
    app.connect("source-read", keep_errors_beside_numbers)


def keep_errors_beside_numbers(app: Sphinx, page: str, source: list[str]) -> None:
    """Break no line before or after ±."""
    source[0] = source[0].replace(" ± ", "\u00a0±\u00a0")
