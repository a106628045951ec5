"""What a user's own tools see of the package: types, completions, examples."""

import ast
import doctest
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import rtc_bayes as rb
import rtc_bayes_models

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

SCRIPT = """
import rtc_bayes as rb

collection = rb.simulate(n_topics=3, n_systems=4, seed=1)
about = rb.Estimand("AP", depth=20)
pool = about.pool(collection.runs)
fit = rb.fit(pool, about.judgments(pool, collection.qrels), model="rtc")
comparison = rb.compare(pool, fit, about, workers=rb.Workers(jobs=1)).with_ranks()
reveal_type(pool)
reveal_type(fit)
reveal_type(comparison)
reveal_type(comparison.pair("a", "b").confidence)
reveal_type(rb.compare(pool, fit, ["AP", "P@10"]))
reveal_type(rb.moments(pool, fit.relevance.values))
rb.compare(pool, fit, seed="1")
rb.nothing
"""
# the package as mypy sees one that is installed: without errors within it; what the script
# does not take types from is not read at all
SETTINGS = """
[mypy]
strict = True
follow_imports = silent
[mypy-dask.*,distributed.*,matplotlib.*,numba.*,pymc.*,pytensor.*,rich.*,xarray.*,zarr.*]
follow_imports = skip
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of a user's script, in a folder of the user's."""
    folder = tmp_path_factory.mktemp("user")
    (folder / "script.py").write_text(SCRIPT)
    (folder / "mypy.ini").write_text(SETTINGS)
    place = Path(rb.__file__).parents[1]
    # mypy finds what is installed by itself, but for what is installed as a link to a clone
    path = {} if place.name == "site-packages" else {"MYPYPATH": str(place)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "script.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | path,
    )
    return done.stdout


def test_a_type_checker_sees_real_types(checked):
    revealed = re.findall(r'Revealed type is "([^"]*)"', checked)
    assert revealed == [
        "rtc_bayes.collection.pool.Pool",
        "rtc_bayes.relevance.fit.Fit",
        "rtc_bayes.confidence.comparison.Comparison",
        "float",
        "rtc_bayes.confidence.comparisons.Comparisons",
        "rtc_bayes.measures.pool_moments.Moments",
    ]


def test_a_type_checker_sees_what_is_wrong(checked):
    errors = re.findall(r"script.py:\d+: error: .*", checked)
    assert len(errors) == 2, checked
    assert "rtc_bayes.nothing" in errors[1] or '"nothing"' in errors[1]


def test_an_editor_completes_the_public_names():
    """It reads the stub, or asks dir: both say the same, with documentation."""
    stub = ast.parse(Path(rb.__file__).with_suffix(".pyi").read_text())
    listed = {
        alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert listed == set(dir(rb)) - {"__version__"} == set(rb.__all__) - {"__version__"}
    for name in listed:
        thing = getattr(rb, name)
        assert inspect.getdoc(thing), name
        if inspect.isroutine(thing):
            assert inspect.signature(thing).return_annotation is not inspect.Parameter.empty, name


# the command line is not for import
PACKAGES = sorted(
    path.parent.relative_to(Path(rb.__file__).parent).as_posix().replace("/", ".")
    for path in Path(rb.__file__).parent.glob("*/**/__init__.py")
    if path.parent.name != "cli"
)


def public():
    """Every public function and class, and every model, by its place."""
    seen = {}
    for name in ("rtc_bayes", *(f"rtc_bayes.{package}" for package in PACKAGES)):
        package = import_module(name)
        for word in getattr(package, "__all__", ()):
            thing = getattr(package, word)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                seen.setdefault(thing, f"{name}.{word}")
    for module in pkgutil.iter_modules(rtc_bayes_models.__path__, "rtc_bayes_models."):
        for word, thing in vars(import_module(module.name)).items():
            if inspect.isclass(thing) and hasattr(thing, "default_method"):
                seen.setdefault(thing, f"{module.name}.{word}")
    return {place: thing for thing, place in seen.items()}


@pytest.mark.parametrize("place", public())
def test_every_public_name_has_an_example(place):
    thing = public()[place]
    own = inspect.getdoc(thing) or ""
    members = vars(thing).values() if inspect.isclass(thing) else ()
    assert ">>> " in own or any(">>> " in (inspect.getdoc(m) or "") for m in members), place


def modules():
    """Every module of the packages that has an example."""
    models = pkgutil.walk_packages(rtc_bayes_models.__path__, "rtc_bayes_models.")
    return [
        module.name
        for module in (*pkgutil.walk_packages(rb.__path__, "rtc_bayes."), *models)
        if ">>> " in Path(module.module_finder.find_spec(module.name).origin).read_text()
    ]


@pytest.mark.parametrize("name", modules())
def test_every_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert result.attempted
    assert not result.failed
