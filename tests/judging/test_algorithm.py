"""The grammar of algorithms."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes import InputError
from rtc_bayes.judging import parse_algorithm, split_algorithms
from rtc_bayes.judging.judges import MTC
from rtc_bayes.relevance import PointEstimate

JUDGING = Path(__file__).parents[2] / "docs" / "judging.md"


@pytest.mark.parametrize(
    ("text", "judge", "weight", "floor", "least", "model", "evaluator"),
    [
        ("ip", "ip", None, 0, 0, None, None),
        ("ip/rtc:map", "ip", None, 0, 0, None, "rtc:map"),
        ("mtc", "mtc", "mtc06", 0, 0, None, "uniform"),
        ("mtc[weight=evr]/rtc:map", "mtc", "evr", 0, 0, None, "rtc:map"),
        ("mtc[weight=evr, floor=2, least=.25]", "mtc", "evr", 2, 0.25, None, "uniform"),
        ("rtc:map", "model", "influence", 0, 0, "rtc:map", "rtc:map"),
        ("rtc", "model", "influence", 0, 0, "rtc", "rtc"),
        ("uniform", "model", "evr", 1, 3.5, "uniform", "uniform"),
        (
            "rtc[cell_weight=.1,weight=evr,intercept=yes,floor=3,least=2]:map",
            "model",
            "evr",
            3,
            2,
            "rtc[cell_weight=.1,intercept=yes]:map",
            "rtc[cell_weight=.1,intercept=yes]:map",
        ),
        ("uniform/rtc[prior=1:2]:map", "model", "evr", 1, 3.5, "uniform", "rtc[prior=1:2]:map"),
    ],
)
def test_parts(text, judge, weight, floor, least, model, evaluator):
    result = parse_algorithm(text)
    assert result.text == text
    assert (result.judge.name, result.floor, result.least) == (judge, floor, least)
    assert getattr(result.judge, "weight", None) == weight
    for spec, expected in (
        (getattr(result.judge, "model", None), model),
        (result.evaluator, evaluator),
    ):
        assert (spec and spec.text) == expected
    assert text in repr(result)


@dataclass(frozen=True)
class Typed:
    """A model that no name finds."""

    level: float = 0.3
    name: ClassVar[str] = "typed"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments):
        return PointEstimate(np.full(judgments.pool.n_documents, self.level))


def test_an_object_evaluates_behind_another_judge():
    algorithm = parse_algorithm(("rtc:map", Typed(0.2)))
    assert algorithm.text == "rtc:map/typed[level=0.2]"
    assert algorithm.judge == parse_algorithm("rtc:map").judge
    assert algorithm.evaluator.build() == Typed(0.2)
    assert parse_algorithm(("mtc[weight=evr]", "rtc:map")) == parse_algorithm(
        "mtc[weight=evr]/rtc:map"
    )
    assert parse_algorithm((MTC(floor=2), Typed())).judge == MTC(floor=2)
    assert parse_algorithm(("ip", "condensed")).unjudged == "condensed"
    plain = parse_algorithm((Typed(), "nonrelevant"))
    assert (plain.text, plain.unjudged, plain.evaluator) == (
        "typed/nonrelevant",
        "nonrelevant",
        None,
    )
    with pytest.raises(InputError, match="statap needs judgments of known probabilities"):
        parse_algorithm((MTC(), "statap"))
    with pytest.raises(InputError, match="two evaluators, that of 'ip/rtc:map' and one beside"):
        parse_algorithm(("ip/rtc:map", Typed()))
    with pytest.raises(InputError, match="mtc judges and does not evaluate"):
        parse_algorithm(("ip", "mtc"))
    with pytest.raises(InputError, match=r"in Python write \(JUDGE, EVALUATOR\), each a name or"):
        parse_algorithm(3)


def test_an_object_evaluates_in_a_study(tmp_path):
    """Also behind a judge of a file, which workers load themselves."""
    judge = re.findall(r"```python\n(# my_judge\.py.*?)```", JUDGING.read_text(), re.DOTALL)[0]
    (tmp_path / "my_judge.py").write_text(judge)
    own = f"{tmp_path / 'my_judge.py'}"
    made = rb.simulate(n_topics=3, n_systems=4, seed=1)
    study = rb.study(
        made.runs,
        made.qrels,
        algorithms=["ip/uniform", ("ip", Typed()), (own, Typed())],
        estimand=rb.Estimand("P@5", depth=10),
        trials=2,
        n_systems=3,
        budgets=[10],
        output=tmp_path / "study",
        workers=rb.Workers(jobs=1),
    )
    assert list(study.trials["algorithm"].unique()) == [
        *("ip/uniform at 10", "ip/typed at 10", f"{own}/typed at 10")
    ]
    assert study.trials["failure"].isna().all()
    of_file = parse_algorithm((own, Typed()))
    load, given = of_file.__reduce_ex__(4)
    assert load(*given) == of_file


@pytest.mark.parametrize(
    ("text", "near"), [("rrank_curve", "rank_curve"), ("mtcc", "mtc"), ("hierarchcal:map", "hier")]
)
def test_a_name_that_is_nearly_one_is_told_it(text, near):
    with pytest.raises(InputError, match=rf"no judge has this name; write {near}\w*, or JUDGE"):
        parse_algorithm(text)
    with pytest.raises(InputError, match="no judge has this name; write JUDGE or"):
        parse_algorithm("zzzzzz")


@pytest.fixture
def model_file(tmp_path):
    folder = tmp_path / "my models"
    folder.mkdir()
    path = folder / "own.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "import numpy as np\n"
        "from rtc_bayes.relevance import PointEstimate\n\n\n"
        "@dataclass(frozen=True)\n"
        "class Own:\n"
        "    level: float = 0.3\n"
        "    name: ClassVar[str] = 'own'\n"
        "    methods: ClassVar[tuple[str, ...]] = ('map',)\n"
        "    default_method: ClassVar[str] = 'map'\n\n"
        "    def map(self, judgments):\n"
        "        p = np.full(judgments.pool.n_documents, self.level)\n"
        "        return PointEstimate(np.where(judgments.judged, judgments.labels, p))\n"
    )
    return path


def test_slashes_of_a_model_file_part_nothing(model_file):
    judge = parse_algorithm(f"{model_file}[level=.2,floor=0]:map/rtc:map")
    assert judge.judge.model.name == str(model_file)
    assert judge.judge.model.options == {"level": ".2"}
    assert judge.evaluator.text == "rtc:map"
    for text in (f"mtc/{model_file}:map", f"rtc:map/{model_file}", f"mtc[weight=evr]/{model_file}"):
        assert parse_algorithm(text).evaluator.name == str(model_file)
    alone = parse_algorithm(str(model_file))
    assert alone.judge.model.name == alone.evaluator.name == str(model_file)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ip:map",
        "ip[floor=1]",
        "mtc:map",
        "mtc[cell_weight=1]",
        "mtc[weight=best]",
        "rtc[weight=]:map",
        "rtc[floor=-1]:map",
        "rtc[floor=x]:map",
        "rtc[least=x]:map",
        "rtc[least=-1]:map",
        "mtc[least=1.5.]",
        "mtc[floor=.5]",
        "rtc[cell_weight]:map",
        "rtc[cell_weight=1:map",
        "rtc:map/mtc",
        "mtc/",
        "/rtc",
        "nosuchmodel",
        "rtc[nosuchoption=1]",
    ],
)
def test_refusals_say_what_is_accepted(text):
    with pytest.raises(InputError) as refusal:
        parse_algorithm(text)
    assert refusal.value.remedy


def test_what_decides_the_numbers_is_told_by_content(model_file):
    text = f"{model_file}[level=.2]:map/rtc:map"
    files, before = parse_algorithm(text).files, parse_algorithm(text).content
    assert files == {str(model_file): before[str(model_file)]}
    # an installed model stands in no file that was named, and its source counts all the same
    assert {"rtc", str(model_file)} <= before.keys()
    model_file.write_text(model_file.read_text() + "\n# another\n")
    after = parse_algorithm(text).content
    assert after[str(model_file)] != before[str(model_file)]
    assert after["rtc"] == before["rtc"]


def test_a_judge_may_have_an_option_that_is_called_model(tmp_path):
    path = tmp_path / "asks.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from rtc_bayes.judging.judges import Chooser\n\n"
        "@dataclass(frozen=True)\n"
        "class Asks:\n"
        "    model: str = 'gpt'\n"
        "    name: ClassVar[str] = 'asks'\n"
        "    has_confidence: ClassVar[bool] = False\n\n"
        "    def start(self, judgments, seed):\n"
        "        raise NotImplementedError\n"
    )
    algorithm = parse_algorithm(f"{path}[model=llama]")
    assert algorithm.judge.model == "llama"
    assert algorithm.chooses_by is None
    assert [*algorithm.files] == [str(path)]


@pytest.mark.parametrize(
    ("text", "item"),
    [("mtc,", 2), ("mtc,ip,", 3), ("mtc,,ip", 2), (",rtc[folds=5,intercept=yes]:map", 1), (" ", 1)],
)
def test_an_empty_item_of_a_list_is_said(text, item):
    says = re.escape(f"algorithms (--algorithms) are {text!r}, of which item {item} is empty")
    with pytest.raises(InputError, match=says):
        split_algorithms(text)
