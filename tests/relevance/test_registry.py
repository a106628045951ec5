"""Models by name and by file, and the text that names them."""

import pickle
import sys

import pytest

from rtc_bayes import InputError, available_models, load_model
from rtc_bayes.errors import CollectionWarning
from rtc_bayes.relevance import ModelSpec, estimate, resolve_method
from rtc_bayes.relevance.registry import source_digest
from rtc_bayes.store.plugins import class_at, entries

MODEL = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from rtc_bayes.relevance import PointEstimate

@dataclass(frozen=True)
class Constant:
    """The same everywhere."""
    level: float = 0.3
    name: ClassVar[str] = "constant"
    methods: ClassVar[tuple[str, ...]] = ("map", "nuts")
    default_method: ClassVar[str] = "map"

    def map(self, judgments):
        return PointEstimate(np.full(judgments.pool.n_documents, self.level))
'''


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "constant.py"
    path.write_text(MODEL)
    return path


def test_installed_models():
    models = {info.name: info for info in available_models()}
    assert {"rtc", "uniform"} <= set(models)
    rtc = models["rtc"]
    assert rtc.methods[0] == rtc.default_method == "map"
    defaults = {option.name: option.default for option in rtc.options}
    assert (
        defaults.items()
        >= {
            "prior": "1:1",
            "temper": "none",
            "smoothing": "cells",
            "cell_weight": "1",
            "intercept": "no",
            "link": "probability",
            "folds": "0",
        }.items()
    )
    assert set(rtc.presets) == {"printed", "program"}
    assert "preset (printed | program)" in str(rtc)
    assert rtc.summary.endswith(".")


def test_unknown_model():
    with pytest.raises(
        InputError, match=r"unknown model 'rct'; write rtc; all: .*rtc, .*uniform, or"
    ):
        load_model("rct")


def test_model_in_a_file(model_file, judgments):
    model = load_model(model_file, {"level": ".2"})
    assert type(load_model(str(model_file))) is type(model)
    assert estimate(model, None, judgments).p[~judgments.judged].max() == 0.2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = (", r"broken.py:1: not Python: .*; correct the line"),
        ("import numpy\nnumpy.nothing", r"broken.py:2: running it failed with AttributeError"),
        ("import beside", r"broken.py:1: .* No module named 'beside'; install it, or put it into"),
        ("x = 1", "holds exactly one model, this one none"),
        (
            MODEL + MODEL.replace("Constant", "Other"),
            "holds exactly one model, this one Constant, Other",
        ),
        (MODEL.replace("frozen=True", ""), r"Constant is not a relevance model; put @dataclass\("),
        (MODEL.replace("def map", "def mop"), "it has none of its methods"),
        (
            MODEL.replace("float = 0.3", "dict = None"),
            "broken.py: option level: an option of type dict cannot be read from text",
        ),
    ],
)
def test_files_that_are_not_a_model(tmp_path, text, message):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("slip", "said"),
    [("assert self.level < 0.1", "AssertionError; correct"), ("1 / 0", "ZeroDivisionError: d")],
)
def test_a_slip_where_a_models_options_are_checked_is_said(model_file, slip, said):
    model_file.write_text(f"{MODEL}\n    def __post_init__(self):\n        {slip}\n")
    line = len(MODEL.splitlines()) + 3
    fails = rf"constant.py:{line}: __post_init__\(\) of Constant fails: {said}.* docs/models.md"
    for load in (load_model, lambda path: ModelSpec.parse(f"{path}[level=.2]:map").build()):
        with pytest.raises(InputError, match=fails):
            load(model_file)


def test_absent_file(tmp_path):
    with pytest.raises(InputError, match=r"gone.py: no such file"):
        load_model(tmp_path / "gone.py")
    with pytest.raises(InputError, match=r"gone.py: no such file"):
        ModelSpec.parse(f"{tmp_path}/gone.py:map")


def test_a_changed_file_is_another_model(model_file):
    spec = pickle.loads(pickle.dumps(ModelSpec.parse(f"{model_file}[level=.2]:map")))
    assert spec.build().level == 0.2
    model_file.write_text(MODEL.replace("0.3", "0.4"))
    with pytest.raises(InputError, match="file has changed"):
        spec.build()
    assert ModelSpec.parse(str(model_file)).build().level == 0.4


@pytest.mark.parametrize(
    ("text", "name", "options", "method"),
    [
        ("rtc", "rtc", {}, None),
        ("rtc:map", "rtc", {}, "map"),
        (
            "rtc[cell_weight=.1,intercept=yes]:map",
            "rtc",
            {"cell_weight": ".1", "intercept": "yes"},
            "map",
        ),
        ("rtc[prior=1:2]", "rtc", {"prior": "1:2"}, None),
        (" rtc[ preset = program ] ", "rtc", {"preset": "program"}, None),
        ("uniform[p=.1]", "uniform", {"p": ".1"}, None),
    ],
)
def test_spec(text, name, options, method):
    spec = ModelSpec.parse(text)
    assert (spec.text, spec.name, spec.options, spec.method) == (text, name, options, method)
    assert spec.build().name == name
    assert hash(spec) == hash(ModelSpec.parse(text))


def test_a_spec_with_what_is_given_beside_its_text(model_file):
    spec = ModelSpec.parse("rtc[folds=5,link=logodds]", "map", {"folds": 5, "intercept": True})
    assert spec.text == "rtc[folds=5,link=logodds,intercept=yes]:map"
    assert spec == ModelSpec.parse(spec.text) == ModelSpec.parse(spec)
    assert ModelSpec.parse("rtc").text == "rtc"
    assert ModelSpec.parse("rtc").resolved_method == "map"
    assert ModelSpec.parse(str(model_file)).digest == ModelSpec.parse(str(model_file)).digest
    with pytest.raises(InputError, match=r"two methods, nuts and map in 'rtc:map'"):
        ModelSpec.parse("rtc:map", "nuts")
    with pytest.raises(
        InputError, match=r"two values of folds, 5 in 'rtc\[folds=5\]' and 0 beside"
    ):
        ModelSpec.parse("rtc[folds=5]", options={"folds": 0})
    assert ModelSpec.parse("rtc[intercept=true]", options={"intercept": True}).options == {
        "intercept": "yes"
    }


@pytest.mark.parametrize(
    "text",
    ["", "rtc[", "rtc]", "rtc[folds]", "rtc[=5]", "rtc[a=1,,b=2]", "rtc:", "a:b:c"],
)
def test_spec_that_cannot_be_read(text):
    with pytest.raises(InputError, match="cannot read"):
        ModelSpec.parse(text)


def test_an_option_given_twice():
    with pytest.raises(InputError, match="folds of rtc is given twice"):
        ModelSpec.parse("rtc[folds=0,folds=5]")


def test_methods_that_a_model_does_not_have(model_file):
    with pytest.raises(InputError, match="rtc has no method 'gibbs'"):
        ModelSpec.parse("rtc:gibbs").build()
    with pytest.raises(
        InputError, match=r"constant announces 'nuts' without nuts\(\) or graph\(\)"
    ):
        ModelSpec.parse(f"{model_file}:nuts").build()
    with pytest.raises(InputError, match="model rtc has no method 'magic'; available: map"):
        resolve_method(load_model("rtc"), "magic")
    # who wrote a file may add a method, and nobody to an installed model
    with pytest.raises(InputError, match=r"available: gibbs, nuts$"):
        ModelSpec.parse("robust:map").build()
    written = f"{MODEL}\n    laplace = map\n"
    model_file.write_text(written)
    with pytest.raises(InputError, match="available: map; or add 'laplace' to its methods"):
        ModelSpec.parse(f"{model_file}:laplace").build()


def test_a_model_of_nearly_this_name_is_told():
    with pytest.raises(InputError, match=r"unknown model 'hierarchcal'; write hierarchical; all: "):
        load_model("hierarchcal")
    with pytest.raises(InputError, match=r"unknown model 'zzz'; use one of "):
        load_model("zzz")


def test_a_judge_is_no_model():
    """The nearest model to mtc is rtc, which is another one."""
    said = r"mtc chooses documents to judge, and is no model; write uniform, its model; all: .*rtc"
    with pytest.raises(InputError, match=said):
        load_model("mtc")
    with pytest.raises(InputError, match=r"rankvar chooses .* no model; use one of .*rtc"):
        load_model("rankvar")


def test_a_broken_plug_in_names_its_entry_point():
    for value in ("json:Nope", "json", "no_module_of_this_name:X"):
        with pytest.raises(InputError, match=f"the entry point {value} of an installed package"):
            class_at(value)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with one entry point of a model, whose module holds MODEL."""

    def write(point):
        (tmp_path / "constant_model.py").write_text(MODEL)
        info = tmp_path / "x_models.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x-models\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[rtc_bayes.models]\n{point}\n")
        for cached in (entries, class_at):
            cached.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for cached in (entries, class_at):
        cached.cache_clear()
    sys.modules.pop("constant_model", None)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        (
            "broken = no_module_of_this_name:X",
            "model broken is left out: the entry point no_module_of_this_name:X of the package "
            "x-models finds no class",
        ),
        (
            "other = constant_model:Constant",
            "the entry point other = constant_model:Constant of the package x-models has another "
            "name than its model, constant; write constant = constant_model:Constant in that",
        ),
        (
            "rtc = constant_model:Constant",
            "the entry point rtc = constant_model:Constant of the package x-models is ignored: "
            "rtc is rtc_bayes_models.rtc:RTC of the package rtc-bayes; give it another name",
        ),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_said_and_the_others_are_listed(install, point, said):
    before = [info.name for info in available_models()]
    install(point)
    with pytest.warns(CollectionWarning, match=said):
        assert [info.name for info in available_models()] == before


def test_a_plug_in_is_listed_by_the_name_that_works(install):
    install("constant = constant_model:Constant")
    assert "constant" in [info.name for info in available_models()]
    assert load_model("constant").name == "constant"
    install("other = constant_model:Constant")
    with pytest.raises(InputError, match="has another name than its model, constant; write"):
        load_model("other")


def test_a_shipped_model_prevails_and_says_so_where_it_is_used(install):
    install("rtc = constant_model:Constant")
    with pytest.warns(CollectionWarning, match="is ignored: rtc is rtc_bayes_models"):
        assert type(load_model("rtc")).__name__ == "RTC"


def test_what_a_model_inherits_is_part_of_it():
    """So that a study does not go on with another model of the same name, wherever it is typed."""

    def made(shift, where="<one>", scale=1):
        namespace = {"__name__": "own"}
        text = f"class Base:\n    scale = {scale}\n    def p(self):\n        return {shift}"
        exec(compile("\n" * len(where) + text, where, "exec"), namespace)
        return type("Sub", (namespace["Base"],), {"__module__": "own"})

    assert source_digest(made(1)) == source_digest(made(1, "<another>"))
    assert source_digest(made(1)) != source_digest(made(2))
    assert source_digest(made(1)) != source_digest(made(1, scale=2))
