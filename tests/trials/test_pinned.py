"""Small studies of every kind, to six digits: numbers may not change unless it is said why.

``pinned.json`` was made by the code of before studies had one machinery. Columns and keys may be
added to what it holds. The demo's were made again when posteriors of many draws were given analytic
moments: confidences moved by .01 at most. Those of `robust` were when it had a term more, of how
far systems agree. One of these, and the demo's, were once more when variances of many draws were no
longer drawn out beyond those computed: confidences moved by .001 at most. The demo's were again
when expected differences became those of expected scores: confidences moved by .001 at most. They
were when predicted variances kept the mean of the exact ones: standard deviations moved by
3% and confidences by .0005 at most.
Bands of reliability and predictive checks were when they were drawn by a seed of their own, which
the fit's chains do not have.
"""

import json
import warnings
from pathlib import Path
from types import MappingProxyType

import pytest

from rtc_bayes import Estimand, FitWarning, Workers, defaults, simulate
from rtc_bayes.calibration import calibrate
from rtc_bayes.robustness import demo, demonstration, study

# Processors differ in the last digit of a sum, and fits and chains make more of it: two gave R-hats
# that were 6e-7 apart, and 2e-8 in all else.
SAME = 2e-6
# Where the last digit of a probability differs, other outcomes may be drawn from it on: confidences
# that count them are then apart by the standard error of a share of 20,000.
OUTCOMES_APART = {"confidence": 0.0035}
# the priors when this was pinned
ROBUST = "robust[preset=trec]:gibbs"
TEXT = Path(__file__).with_name("pinned.json").read_text()
PINNED = json.loads(TEXT.replace("robust:gibbs", ROBUST))
ALONE = Workers(jobs=1)
ARGUMENTS = {
    "trials": 3,
    "n_systems": 5,
    "estimand": Estimand(scope="pool", depth=20),
    "seed": 7,
    "workers": ALONE,
}
DRAWS = {"draws": 40, "chains": 2, "tune": 60}
ALGORITHMS = (
    "ip",
    "mtc",
    "mtc[weight=evr]/rtc:map",
    "rtc:map",
    "rtc:cut",
    "hierarchical:laplace",
    ROBUST,
)
WHOLE_LISTS = {
    "trials": 2,
    "n_initial": 3,
    "estimand": Estimand(scope="pool", depth=20, score_depth=60, unseen=True, residual=0.008),
    "moments": "plugin",
    "confidence": 0.9,
}
MODELS = {"rtc": "rtc:map", "hier": "hierarchical:laplace", "robust": ROBUST}


@pytest.fixture(scope="module")
def made():
    return simulate(n_topics=6, n_systems=12, seed=3)


def assert_close(value, pinned, where, apart=MappingProxyType({})):
    """Compare numbers; `apart` has how far those of some columns and entries may be."""
    if isinstance(pinned, dict):
        for key, part in pinned.items():
            assert_close(value[key], part, f"{where}.{key}", apart)
    elif isinstance(pinned, list):
        assert len(value) == len(pinned), where
        for n, (part, pinned_part) in enumerate(zip(value, pinned, strict=True)):
            assert_close(part, pinned_part, f"{where}[{n}]", apart)
    elif isinstance(pinned, float):
        least = max((part for name, part in apart.items() if f".{name}" in where), default=1e-15)
        assert value == pytest.approx(pinned, rel=SAME, abs=least), where
    else:
        # an undefined number of a frame is NaN
        assert value == pinned or (pinned is None and value != value), where


def assert_pinned(name, result, apart=MappingProxyType({}), **parts):
    """Compare the tables of a study, and other parts of it, with what is pinned."""
    for key, pinned in PINNED[name].items():
        where = f"{name}.{key}"
        if key in parts:
            assert_close(parts[key], pinned, where, apart)
        else:
            frame = getattr(result, key)
            for row, kept in zip(frame[pinned["columns"]].iterrows(), pinned["data"], strict=True):
                pinned_row = dict(zip(pinned["columns"], kept, strict=True))
                assert_close(row[1], pinned_row, f"{where}[{row[0]}]", apart)


def test_robustness(made, tmp_path):
    result = study(
        made.runs, made.qrels, algorithms=ALGORITHMS, output=tmp_path, **ARGUMENTS, **DRAWS
    )
    assert_pinned("robustness", result, summary=result.summary)


def test_robustness_about_whole_lists(made, tmp_path):
    result = study(
        made.runs,
        made.qrels,
        algorithms=("mtc", ROBUST),
        output=tmp_path,
        **ARGUMENTS | DRAWS | WHOLE_LISTS,
    )
    assert_pinned("robustness_whole", result, summary=result.summary)


@pytest.mark.parametrize("name", MODELS)
def test_calibration(made, name, tmp_path):
    arguments = ARGUMENTS if name == "rtc" else ARGUMENTS | DRAWS
    if name == "hier":
        arguments = {key: value for key, value in arguments.items() if key != "tune"}
    result = calibrate(made.runs, made.qrels, model=MODELS[name], output=tmp_path, **arguments)
    apart = OUTCOMES_APART if name == "robust" else {}
    assert_pinned(f"calibration_{name}", result, apart, summary=result.summary)


def test_demo(tmp_path, monkeypatch):
    shown = tuple(text.replace("robust:gibbs", ROBUST) for text in demonstration.ALGORITHMS)
    monkeypatch.setattr(demonstration, "ALGORITHMS", shown)
    monkeypatch.setattr(defaults, "ALGORITHM", ROBUST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        result = demo(
            tmp_path,
            seed=1,
            n_topics=6,
            n_systems=12,
            trials=1,
            workers=ALONE,
            estimand=Estimand(scope="pool"),
        )
    assert_pinned("demo", result, facts=result.facts, study=result.study.summary)
