"""The package as a user gets it: what is installed, what loads, and how fast."""

import ast
import importlib
import json
import re
import resource
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import rtc_bayes
import rtc_bayes_models

ROOT = Path(__file__).parents[1]
HEAVY = (
    "arviz",
    "clarabel",
    "joblib",
    "matplotlib",
    "numba",
    "pandas",
    "pymc",
    "scipy",
    "sklearn",
    "xarray",
)


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def processor_seconds(*codes: str, tries: int = 5) -> list[float]:
    """Return the least processor times of new processes that run each of `codes`, taken in turn.

    Not the time on the clock, which depends on what else the machine does; that lengthens
    processor time, too, of all alike.
    """
    seconds = [[processor_time(code) for code in codes] for _ in range(tries)]
    return [min(of_code) for of_code in zip(*seconds, strict=True)]


def processor_time(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_python(code)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope="module")
def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_both_packages_come_from_one_place():
    library, models = Path(rtc_bayes.__file__), Path(rtc_bayes_models.__file__)
    assert library.parent.parent == models.parent.parent
    assert (library.parent / "py.typed").exists()
    assert (models.parent / "py.typed").exists()


def test_every_package_is_packaged(pyproject):
    files = ROOT.glob("rtc_bayes/**/__init__.py")
    with_files = {".".join(file.relative_to(ROOT).parts[:-1]) for file in files}
    assert set(pyproject["tool"]["setuptools"]["packages"]) == with_files | {"rtc_bayes_models"}


def test_built_in_models_are_found_by_entry_point(pyproject):
    declared = pyproject["project"]["entry-points"]["rtc_bayes.models"]
    by_name = {point.name: point for point in metadata.entry_points(group="rtc_bayes.models")}
    assert set(declared) <= set(by_name)
    for name in declared:
        assert by_name[name].load().name == name


def test_every_public_name_loads_and_is_documented():
    for name in rtc_bayes.__all__:
        assert getattr(rtc_bayes, name).__doc__, name
    with pytest.raises(AttributeError, match="absent"):
        rtc_bayes.absent  # noqa: B018


def test_one_version_everywhere():
    version = metadata.version("rtc-bayes")
    assert rtc_bayes.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("import rtc_bayes", 1.0),
        ("import rtc_bayes.cli; rtc_bayes.cli.main(['--help'])", 4.0),
        ("import rtc_bayes.cli; rtc_bayes.cli.main(['compare', '--help'])", 4.0),
    ],
)
def test_light_to_load(code, times):
    """Of the processor time that NumPy takes to load, whatever the machine."""
    loaded = json.loads(
        run_python(f"{code}\nimport json, sys; print(); print(json.dumps(list(sys.modules)))")
        .strip()
        .splitlines()[-1]
    )
    assert not {name.partition(".")[0] for name in loaded} & set(HEAVY)
    seconds, of_numpy = processor_seconds(code, "import numpy")
    assert seconds < times * of_numpy


def test_the_architecture_page_names_every_package():
    page = (ROOT / "docs" / "architecture.md").read_text()
    packages = {p.parent.name for p in ROOT.glob("rtc_bayes/*/__init__.py")}
    assert packages <= set(re.findall(r"`([a-z]+)/?`", page))


def test_modules_of_before_name_their_new_home():
    from rtc_bayes.moved import _NOW

    for old, now in _NOW.items():
        with pytest.raises(ModuleNotFoundError, match=f"is no more; see rtc_bayes.{now}$"):
            importlib.import_module(f"rtc_bayes.{old}")
        importlib.import_module(f"rtc_bayes.{now}")
        package, _, module = old.rpartition(".")
        refused = pytest.raises((ImportError, rtc_bayes.InputError), match=r"(see|use) rtc_bayes\.")
        with refused:
            exec(f"from rtc_bayes.{package} import {module}", {})
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        importlib.import_module("rtc_bayes.absent")


def test_variables_are_called_for_what_they_hold():
    """Not for how they were come by: `fit`, `comparison`, `file`, and not `found` or `given`."""
    vague = {"besides", "found", "given", "known", "whole"}
    for path in (
        file for of in ("rtc_bayes", "models", "experiments") for file in ROOT.glob(f"{of}/**/*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.arg if isinstance(node, ast.arg) else getattr(node, "id", None)
            stored = isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)
            assert not (stored and name in vague), f"{path}:{node.lineno}"
