"""The text that names a model: paths of any characters, options that are refused."""

import pickle
from pathlib import Path

import pytest

from rtc_bayes import InputError
from rtc_bayes.cli import main
from rtc_bayes.collection.simulate import simulate, write
from rtc_bayes.judging import parse_algorithm, split_algorithms
from rtc_bayes.relevance import ModelSpec
from tests.model_files import write_model

PATHS = [
    "my [x]/a b.py",
    "[x].py",
    "dir:1/m.py",
    "a,b/c,d.py",
    "rtc[folds=5]/m.py",
    "m.py[scale=2]/n.py",
    "a.b.py",
    "ip/mtc.py",
    " m .py",
    "m.py:map.py",
    "ünï/=1.py",
]


@pytest.fixture(params=PATHS)
def path(request, tmp_path, monkeypatch):
    """A model in a file, named by a path from the working directory."""
    monkeypatch.chdir(tmp_path)
    path = Path(request.param)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_model(path, "False", "pass")
    return request.param


@pytest.mark.parametrize(
    ("after", "options", "method"),
    [("", {}, None), (":map", {}, "map"), ("[a=1,b=x:y]:map", {"a": "1", "b": "x:y"}, "map")],
)
def test_the_path_of_a_file_may_hold_any_character(path, after, options, method):
    spec = ModelSpec.parse(path + after)
    assert (spec.name, spec.options, spec.method) == (path, options, method)
    assert spec.digest is not None
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert ModelSpec.parse(Path(path)).build() == ModelSpec.parse(path).build()
    assert pickle.loads(pickle.dumps(ModelSpec.parse(path).build())) is not None


@pytest.mark.parametrize("evaluator", [None, "rtc[folds=5]:map", "uniform"])
def test_algorithms_name_such_a_file(path, evaluator):
    text = path + (f"/{evaluator}" if evaluator else "")
    algorithm = parse_algorithm(text)
    assert algorithm.judge.model.name == path
    assert repr(algorithm.evaluator) == f"ModelSpec({evaluator or path!r})"
    assert parse_algorithm(f"mtc/{path}:map").evaluator.name == path
    weighed = parse_algorithm(f"{path}[weight=evr]:map").judge
    assert (weighed.weight, weighed.model.name, weighed.model.method) == ("evr", path, "map")
    assert split_algorithms(f"ip,{path.strip()}/uniform,mtc") == (
        ("ip", f"{path}/uniform", "mtc") if path == path.strip() else ("ip", "m .py/uniform", "mtc")
    )


def test_a_judges_file_may_have_such_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("judges [1]/a:b, c.py")
    path.parent.mkdir()
    path.write_text(
        "from dataclasses import dataclass\n"
        "from rtc_bayes.judging.judges import MTC\n"
        "@dataclass(frozen=True)\n"
        "class Mine(MTC):\n"
        "    pass\n"
    )
    algorithm = parse_algorithm(f"{path}[floor=2]/rtc:map")
    assert (type(algorithm.judge).__name__, algorithm.floor) == ("Mine", 2)
    assert split_algorithms(f"{path}[floor=2]/rtc:map, ip") == (
        f"{path}[floor=2]/rtc:map",
        "ip",
    )


def test_a_study_takes_such_paths(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(simulate(n_topics=4, n_systems=4, documents=100, depth=20, seed=3), tmp_path / "of")
    path = Path("my [x]/a b,c.py")
    path.parent.mkdir()
    write_model(path, "False", "pass")
    command = ["robustness", "of/runs", "--qrels", "of/qrels.txt", "--trials", "1"]
    command += ["--systems", "3", "--confidence", "0.6", "--quiet", "-o", "study"]
    status = main([*command, "--algorithms", f"mtc/{path},ip/{path}:map"])
    said = capsys.readouterr()
    assert (status, said.err) == (0, "")
    assert str(path) in said.out
    compare = ["compare", "of/runs", "--qrels", "of/qrels.txt", "--quiet"]
    status = main([*compare, "--model", f"{path}:map"])
    assert (status, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize("path", ["my [x]/a.py", "dir:1/m.py"])
def test_a_file_that_is_not_there_is_named(path):
    with pytest.raises(InputError, match="no such file") as caught:
        ModelSpec.parse(f"{path}[k=1]:map")
    assert caught.value.path == path


PRIOR = "the median:spread of a log-normal prior"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s_a=nan", f"s_a of model hierarchical is 'nan'; give {PRIOR}, in finite numbers"),
        ("s_a=nan:0", f"s_a of model hierarchical is 'nan:0'; give {PRIOR}, in finite numbers"),
        ("s_a=inf:1", f"s_a of model hierarchical is 'inf:1'; give {PRIOR}, in finite numbers"),
        ("s_a=1_0:1", f"s_a of model hierarchical is '1_0:1'; give {PRIOR}"),
        ("s_a=-1:1", "s_a of model hierarchical is '-1:1'; give median:spread, both positive"),
        ("s_a=", f"option s_a of model hierarchical has no value; give {PRIOR}"),
        ("groups=", "option groups of model hierarchical has no value; give the path of a file"),
        ("s_a=1,s_a=2", "option s_a of hierarchical is given twice, '1' and '2'; give it once"),
        ("centred=" + "9" * 5000, "give yes | no"),
    ],
)
def test_a_refused_option_is_named_with_its_value_and_what_it_takes(text, said):
    with pytest.raises(InputError) as caught:
        ModelSpec.parse(f"hierarchical[{text}]").build()
    assert said in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("robust[s_u=nan]", "give the median:spread of a log-normal prior, in finite numbers"),
        ("robust[s_u=1]", "give the median:spread of a log-normal prior"),
        ("robust[s_u=]", "give the median:spread of a log-normal prior"),
        ("robust[mu=3]", "give the mean:sd of a normal prior, the sd positive"),
        ("rtc[prior=2]", "give the a:b of a beta prior, both positive"),
        ("layered[m=inf:1]", "give the a:b of a beta prior, both positive, in finite numbers"),
    ],
)
def test_a_prior_says_which_two_numbers_it_needs(text, said):
    with pytest.raises(InputError) as caught:
        ModelSpec.parse(text).build()
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "rtc[cell-weight=1]",
            "'cell-weight'; write cell_weight=1 (a number); all: prior, temper,",
        ),
        ("rtc[Fold=5]", "'Fold'; write folds=0 (0 | 5); all: "),
        ("rtc[prest=x]", "'prest'; write preset ("),
        ("rtc[xyz=1]", "'xyz'; its options are prior, temper, smoothing, cell_weight,"),
    ],
)
def test_an_option_that_a_model_lacks_is_answered_by_the_nearest(text, said):
    with pytest.raises(InputError) as caught:
        ModelSpec.parse(text).build()
    assert f"model rtc has no option {said}" in str(caught.value)


def test_a_judge_without_options_says_so():
    with pytest.raises(InputError, match="judge ip has no option 'weight'; leave it out: there"):
        parse_algorithm("ip[weight=evr]")
