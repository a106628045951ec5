"""A judge in a file, as the documentation shows it, wherever an algorithm is named."""

import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments, Qrels, next_documents
from rtc_bayes.cli import main
from rtc_bayes.judging import JudgingSession, build, parse_algorithm
from rtc_bayes.judging.judges import MTC, Chooser, available_judges, load_judge
from rtc_bayes.judging.stopping import stopped
from rtc_bayes.store import plugins

DOCS = Path(__file__).parents[2] / "docs" / "judging.md"


@pytest.fixture
def judge_file(tmp_path):
    (text,) = re.findall(r"```python\n(# my_judge\.py.*?)```", DOCS.read_text(), re.DOTALL)
    path = tmp_path / "my_judge.py"
    path.write_text(text)
    return path


@pytest.fixture
def pool(rng, cases):
    return cases.pool(rng, systems=3, topics=4, documents=20, length=10)


@pytest.fixture
def truth(rng, cases, pool):
    return cases.truth(rng, pool)


def test_a_judge_in_a_file_is_as_good_as_a_built_in_one(judge_file, pool, truth):
    algorithm = f"{judge_file}[bias=1]/rtc:map"
    parsed = parse_algorithm(algorithm)
    assert (parsed.judge.name, parsed.judge.bias, parsed.evaluator.text) == ("random", 1, "rtc:map")
    assert parsed.files[str(judge_file)]
    assert parsed.chooses_by is None
    one, two, other = (build(pool, truth, algorithm, budget=9, seed=s) for s in (1, 1, 2))
    assert one.steps == two.steps != other.steps
    assert (one.judgments.n_judged, one.reason, one.confidence) == (9, "budget", None)
    instance = build(pool, truth, load_judge(judge_file, {"bias": 1.0}), budget=9, seed=1)
    assert instance.steps == one.steps
    first = next_documents(pool, Judgments.none(pool), algorithm=algorithm, count=3, seed=1)
    assert [d.docno for d in first] == [step.docno for step in one.steps[:3]]
    assert all(re.fullmatch(r"rank \d+ in \w+", d.why) for d in first)
    spent = build(pool, truth, str(judge_file), budget=1000)
    assert (spent.reason, spent.judgments.n_judged) == ("exhausted", pool.n_documents)


def test_another_process_loads_the_judge_of_a_file(judge_file, monkeypatch):
    algorithm = parse_algorithm(f"{judge_file}[bias=1]/rtc:map")
    packed = pickle.dumps(algorithm)
    module = type(algorithm.judge).__module__
    monkeypatch.delitem(sys.modules, module)
    plugins._classes.cache_clear()
    again = pickle.loads(packed)
    assert (again.text, again.judge.bias, again.evaluator) == (
        algorithm.text,
        1.0,
        algorithm.evaluator,
    )
    assert type(again.judge).__module__ == module
    judge_file.write_text(judge_file.read_text() + "\n")
    with pytest.raises(InputError, match="the file has changed since it was named"):
        pickle.loads(packed)
    mtc = parse_algorithm("mtc[weight=evr]/rtc:map")
    assert pickle.loads(pickle.dumps(mtc)) == mtc


def test_a_study_by_a_judge_of_a_file_is_worked_on_by_processes(judge_file, tmp_path):
    data = rb.simulate(n_topics=4, n_systems=6, seed=2)
    plan = {"trials": 2, "n_systems": 4, "budgets": [10], "algorithms": [f"{judge_file}/rtc:map"]}
    one, two = (
        rb.study(
            data.runs, data.qrels, output=tmp_path / f"{jobs}", workers=rb.Workers(jobs), **plan
        )
        for jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(one.pairs, two.pairs)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("None", "returned None"),
        ("[0, 1]", r"returned \[0, 1\]"),
        ("[(10_000, 1.0)]", "document 10000, and the pool has 0 to"),
        ("[(-1, 1.0)]", "document -1, and the pool has"),
        ("[(d, float('nan')) for d in self.unjudged()[:1]]", "weight NaN"),
        ("[(d, 1.0) for d in self.judgments.order[:1]]", "which is judged"),
        ("[(d, 1.0) for d in self.unjudged()]", "documents; return at most 1"),
    ],
)
def test_what_a_judge_of_ones_own_returns_is_checked(judge_file, pool, truth, returned, message):
    lines = judge_file.read_text().split("\n")
    start = next(n for n, line in enumerate(lines) if "def choose" in line)
    judge_file.write_text("\n".join([*lines[: start + 1], f"        return {returned}"]))
    begun = Judgments.from_qrels(pool, Qrels({pool.topics[0]: {pool.docnos[0]: 1}}))
    with pytest.raises(InputError, match=message):
        next_documents(pool, begun, algorithm=str(judge_file), count=1)
    with pytest.raises(InputError, match=message):
        build(pool, truth, str(judge_file), budget=3, judgments=begun)


def test_a_slip_in_a_judges_own_code_is_said(judge_file, pool, truth):
    lines = judge_file.read_text().split("\n")
    start = next(n for n, line in enumerate(lines) if "def choose" in line)
    judge_file.write_text("\n".join([*lines[: start + 1], "        return 1 / 0"]))
    with pytest.raises(
        InputError, match=rf"{start + 2}: choose\(1\) of .* fails: ZeroDivisionError"
    ):
        build(pool, truth, str(judge_file), budget=3)


@pytest.mark.parametrize(
    ("confidence", "said"),
    [(np.nan, "gave nan"), (2.0, "gave 2"), (0.2, "gave 0.2"), ([[0.9]], "gave an array of shape")],
)
def test_confidences_of_a_judge_of_ones_own_are_checked(pool, truth, confidence, said):
    class Sure(Chooser):
        def choose(self, count):
            return [(int(document), 1.0) for document in self.unjudged()[:count]]

        def confidence(self):
            pairs = self.pool.n_systems * (self.pool.n_systems - 1) // 2
            return np.array(confidence) if np.ndim(confidence) else np.full(pairs, confidence)

    class Judge:
        name, has_confidence = "sure", True

        def start(self, judgments, *, seed):
            return Sure(judgments)

    with pytest.raises(InputError, match=f"confidence.. of Sure {said}"):
        build(pool, truth, Judge(), budget=3)
    with pytest.raises(InputError, match="Judge is a class, no judge; give an instance: Judge"):
        build(pool, truth, Judge, budget=3)


@pytest.fixture
def judge_with():
    """Make a judge whose chooser has other members."""

    def make(**members):
        members = {
            "choose": lambda self, count: [(int(d), 1.0) for d in self.unjudged()[:count]],
            "confidence": lambda self: np.full(_pairs(self.pool), 0.6),
            **members,
        }
        chooser = type("Own", (Chooser,), {name: m for name, m in members.items() if m})

        class Judge:
            name, has_confidence = "own", True

            def start(self, judgments, *, seed):
                return chooser(judgments)

        return Judge()

    return make


def _pairs(pool):
    return pool.n_systems * (pool.n_systems - 1) // 2


@pytest.mark.parametrize(
    "member", ["confidence", "differences", "may_end", "proves", "why", "probability", "for_pair"]
)
def test_a_slip_in_any_member_of_a_chooser_is_said(judge_with, pool, truth, member):
    judge = judge_with(**{member: lambda self, *_: 1 / 0})

    def ask():
        build(pool, truth, judge, confidence=0.95)
        for pair in (None, "least"):
            next_documents(pool, Judgments.none(pool), algorithm=judge, pair=pair)

    with pytest.raises(
        InputError, match=rf"{member}\(\) of Own fails: ZeroDivisionError: .*; corr"
    ):
        ask()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"choose": None}, r"Own has no choose\(count\); write it; docs/judging.md shows a judge"),
        ({"may_end": lambda self: None}, r"may_end\(\) of Own returned None; return True or False"),
        (
            {"proves": lambda self, p: np.ones(2)},
            r"proves\(\) of Own returned array.*; return True",
        ),
        (
            {"differences": lambda self: [0.1, 0]},
            r"differences\(\) of Own gave \[0.1, 0\]; give \d+ num",
        ),
        ({"confidence": lambda self: ["high"]}, r"confidence\(\) of Own gave \['high'\]; give num"),
    ],
)
def test_what_a_chooser_answers_is_checked(judge_with, pool, truth, members, said):
    with pytest.raises(InputError, match=said):
        build(pool, truth, judge_with(**members), confidence=0.95)


@pytest.mark.parametrize(("field", "value"), [("floor", -1), ("floor", "x"), ("least", np.nan)])
def test_a_floor_that_is_no_number_of_judgments_is_refused(judge_with, pool, truth, field, value):
    judge = judge_with()
    setattr(judge, field, value)
    with pytest.raises(InputError, match=f"{field} of the judge own is .*; give a (whole )?number"):
        build(pool, truth, judge, budget=3)


def test_a_label_that_a_judge_does_not_enter_is_said(judge_file, pool, truth):
    forgets = "\n    def observe(self, document, label):\n        self.seen = document\n"
    judge_file.write_text(judge_file.read_text() + forgets)
    with pytest.raises(
        InputError,
        match=r"observe\(\d+, [01]\) of the judge random did not enter the label; "
        r"call super\(\).observe\(document, label\) first",
    ):
        build(pool, truth, str(judge_file), budget=3)


def test_a_judge_without_the_confidence_that_it_claims_needs_a_budget(judge_file, pool, truth):
    text = judge_file.read_text().replace(
        "has_confidence: ClassVar[bool] = False", "has_confidence: ClassVar[bool] = True"
    )
    judge_file.write_text(text)
    for stop in ({}, {"confidence": 0.9}):
        with pytest.raises(
            InputError, match=r"confidence\(\) of RandomChooser returns None.*budget"
        ):
            build(pool, truth, str(judge_file), **stop)
    assert build(pool, truth, str(judge_file), budget=3).judgments.n_judged == 3


SLIPS = [
    pytest.param(
        "return RandomChooser(judgments, self.bias, seed)",
        'raise ValueError("no such seed")',
        r"my_judge.py:19: start\(judgments, seed=...\) of RandomOrder fails: ValueError: no such",
        id="start",
    ),
    pytest.param(
        "super().__init__(judgments)",
        "pass",
        r"my_judge.py:25: start\(.*\) of RandomOrder fails: AttributeError: .* attribute 'pool'",
        id="init",
    ),
    pytest.param(
        "def start(self, judgments, *, seed):",
        "def start(self, judgments):",
        r"my_judge.py: start\(.*\) of RandomOrder fails: TypeError: .* argument 'seed'",
        id="no seed",
    ),
    pytest.param(
        "class RandomChooser(Chooser):",
        "class Base:\n    def __init__(self, judgments):\n        self.pool = judgments.pool\n\n\n"
        "class RandomChooser(Base):",
        r"start\(\) of the judge random returned a RandomChooser; return a subclass of .*Chooser",
        id="no chooser",
    ),
]


@pytest.mark.parametrize(("line", "slip", "message"), SLIPS)
def test_a_slip_in_what_starts_a_judge_is_said_wherever_it_is_named(
    judge_file, pool, truth, line, slip, message
):
    assert line in judge_file.read_text()
    judge_file.write_text(judge_file.read_text().replace(line, slip))
    with pytest.raises(InputError, match=message):
        build(pool, truth, str(judge_file), budget=3)
    with pytest.raises(InputError, match=message):
        next_documents(pool, Judgments.none(pool), algorithm=str(judge_file))


def test_a_slip_in_what_starts_a_judge_is_said_by_processes(judge_file, tmp_path):
    text = judge_file.read_text().replace("judgments, *, seed):", "judgments):")
    judge_file.write_text(text)
    data = rb.simulate(n_topics=4, n_systems=6, seed=2)
    plan = {"trials": 2, "n_systems": 4, "budgets": [10], "algorithms": [f"{judge_file}/rtc:map"]}
    with pytest.raises(InputError, match=r"start\(.*\) of RandomOrder fails: TypeError"):
        rb.study(data.runs, data.qrels, output=tmp_path / "s", workers=rb.Workers(2), **plan)


def test_a_slip_in_how_a_judge_takes_labels_is_said(judge_file, pool, truth):
    text = judge_file.read_text()
    judge_file.write_text(f"{text}\n    def observe(self, document):\n        pass\n")
    with pytest.raises(InputError, match=r"my_judge.py: observe\(\d+, [01]\) of .* fails: TypeE"):
        build(pool, truth, str(judge_file), budget=3)
    judge_file.write_text(f"{text}\n    def observe(self, document, label):\n        1 / 0\n")
    with pytest.raises(InputError, match=r"my_judge.py:\d+: observe\(.* fails: ZeroDivisionError"):
        build(pool, truth, str(judge_file), budget=3)


def test_a_chooser_that_does_not_begin_as_one_is_refused(pool, truth):
    class Bare(Chooser):
        def __init__(self):
            pass

    class Judge:
        name, has_confidence = "bare", False

        def start(self, judgments, *, seed):
            return Bare()

    with pytest.raises(InputError, match=r"returned a Bare without .* call super\(\).__init__"):
        build(pool, truth, Judge(), budget=3)


def test_a_judge_that_offers_nothing_ends_judging(judge_file, pool, truth):
    lines = judge_file.read_text().split("\n")
    start = next(n for n, line in enumerate(lines) if "def choose" in line)
    judge_file.write_text("\n".join([*lines[: start + 1], "        return []"]))
    result = build(pool, truth, str(judge_file), budget=3)
    assert (result.reason, result.judgments.n_judged) == ("nothing offered", 0)
    assert "the judge offers no further document" in repr(result)


def test_a_chooser_for_a_pair_keeps_what_is_aside_and_changes_no_other(pool):
    chooser = MTC().start(Judgments.none(pool), seed=0)
    ((first, _),) = chooser.choose(1)
    chooser.set_aside(first)
    of_pair = chooser.for_pair([0, 1])
    assert of_pair.is_judged(first)
    assert first not in of_pair.unjudged()
    after = chooser.choose(5)
    for document, _ in of_pair.choose(5):
        of_pair.set_aside(document)
    # so that weights are taken anew
    chooser._weigh_all()
    assert chooser.choose(5) == after


def test_a_document_aside_moves_the_weights_of_its_topic_alone(pool, monkeypatch):
    chooser = MTC().start(Judgments.none(pool), seed=0)
    weighed = []
    monkeypatch.setattr(chooser, "_weigh", weighed.append)
    firsts = pool.topic_starts[:2].tolist()
    for document in firsts:
        chooser.set_aside(document)
    assert weighed == pool.topic_of[firsts].tolist()


def test_a_judge_in_a_file_on_the_command_line(judge_file, tmp_path, capsys):
    for name, docnos in (("A", "abc"), ("B", "cde")):
        lines = [f"1 Q0 {d} {n} {9 - n} {name}\n" for n, d in enumerate(docnos, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"1 0 {d} {d in 'ac':d}\n" for d in "abcde"))
    runs = [str(tmp_path / "A.run"), str(tmp_path / "B.run")]
    out = tmp_path / "out.qrels"
    arguments = ["build", *runs, "--truth", str(tmp_path / "qrels"), "--algorithm"]
    assert main([*arguments, str(judge_file), "--budget", "2", "-o", str(out)]) == 0
    assert "2 judged. Stopped: the budget is spent" in capsys.readouterr().out
    assert "my_judge.py" in out.with_name("out.qrels.meta.json").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("frozen=True", "frozen=False"), "frozen=True"),
        (("bias: float", "bias: set"), "bool, int, float"),
        (("import numpy as np", "import nosuch"), "nosuch"),
    ],
)
def test_a_file_without_a_proper_judge_is_refused(judge_file, change, message):
    judge_file.write_text(judge_file.read_text().replace(*change))
    with pytest.raises(InputError, match=message) as refusal:
        parse_algorithm(str(judge_file))
    assert refusal.value.path
    assert refusal.value.remedy


def test_what_a_judge_lacks_is_said(judge_file, pool, truth):
    with pytest.raises(InputError, match="judge random has no option 'floor'"):
        parse_algorithm(f"{judge_file}[floor=1]")
    with pytest.raises(InputError, match="budget"):
        build(pool, truth, str(judge_file))
    with pytest.raises(InputError, match="no floor"):
        build(pool, truth, str(judge_file), budget=1, floor=1)
    with pytest.raises(InputError, match="is no algorithm"):
        build(pool, truth, 3)
    with pytest.raises(InputError, match=r"use one of active, ip, .*mtc"):
        load_judge("nosuch")
    assert {"ip", "mtc"} <= set(available_judges())
    assert build(pool, truth, MTC(floor=1), budget=5).steps == (
        build(pool, truth, "mtc[floor=1]", budget=5).steps
    )


def test_a_session_resumes_from_its_judgments(pool, truth):
    def judge(session):
        while (document := session.next()) is not None:
            topic = pool.topics[pool.topic_of[document]]
            session.observe(document, float(truth[topic][pool.docnos[document]]))
        return session.judgments

    at_once = judge(JudgingSession(Judgments.none(pool), "mtc", confidence=None, budget=9))
    half = judge(JudgingSession(Judgments.none(pool), "mtc", confidence=None, budget=4))
    resumed = judge(JudgingSession(half, "mtc", confidence=None, budget=5))
    assert resumed.order.tolist() == at_once.order.tolist()


def test_what_a_person_may_type_wrong_is_refused(pool):
    session = JudgingSession(Judgments.none(pool), "mtc")
    for document, label in ((0, float("nan")), (0, "1"), (0, None), (1.5, 1.0), (-1, 1), (True, 1)):
        with pytest.raises(InputError) as refusal:
            session.observe(document, label)
        assert refusal.value.remedy
    for seed in (1.0, -1, True, "1"):
        with pytest.raises(InputError, match="seed"):
            JudgingSession(Judgments.none(pool), "mtc", seed=seed)
        with pytest.raises(InputError, match="seed"):
            next_documents(pool, Judgments.none(pool), algorithm="mtc", seed=seed)
    assert session.judgments.n_judged == 0


def test_next_documents_takes_qrels_and_nothing_else(pool, truth):
    some = Qrels({topic: dict(list(truth[topic].items())[:2]) for topic in pool.topics})
    judgments = Judgments.from_qrels(pool, some)
    assert next_documents(pool, some, algorithm="mtc") == (
        next_documents(pool, judgments, algorithm="mtc")
    )
    for wrong in (None, {}, np.zeros(3), "qrels.txt"):
        with pytest.raises(InputError, match="Qrels or Judgments"):
            next_documents(pool, wrong, algorithm="mtc")


def test_why_judging_stopped_says_what_was_asked_and_got(pool, truth):
    assert stopped("reached", 0.95, 1.0).endswith("(0.95; now 1)")
    assert stopped("reached", 0.95, 0.9999).endswith("(0.95; now above 0.999)")
    assert stopped("budget", 0.95, 0.8).endswith("(asked 0.95; now 0.800, of the least sure pair)")
    result = build(pool, truth, "mtc", confidence=0.6)
    assert result.target == 0.6
    assert "the confidence you asked for was reached (0.6; now 0." in repr(result)
