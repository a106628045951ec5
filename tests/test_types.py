"""Arguments of other types are named, whichever function they are given to."""

import inspect
import warnings

import pytest

import rtc_bayes as rb
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types

LABELS = rb.Labels.of(["1"], ["d"], ["j"], [1])
CLASSES = {name for name in rb.__all__ if inspect.isclass(getattr(rb, name))}


class Other:
    """What no function takes."""


def of_own_classes():
    """Functions, and their parameters of which nothing but classes of the package are taken."""
    for name in sorted(rb.__all__):
        function = getattr(rb, name)
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        own = [p.name for p in parameters if {*str(p.annotation).split(" | ")} <= CLASSES]
        if own:
            yield pytest.param(function, own[0], id=name)


@pytest.mark.parametrize(("function", "parameter"), [*of_own_classes()])
def test_an_argument_of_another_type_is_named(function, parameter):
    required = {
        p.name: Other()
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InputError) as caught:
            function(**{**required, parameter: Other()})
    assert "Other" in str(caught.value)


def methods_of_own_classes():
    """Methods, with such a parameter each."""
    for of in sorted(CLASSES):
        for name in vars(getattr(rb, of)):
            method = getattr(getattr(rb, of), name)
            if name.startswith("_") or not callable(method):
                continue
            parameters = inspect.signature(method).parameters.values()
            fixed = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
            own = [p.name for p in fixed if {*str(p.annotation).split(" | ")} <= CLASSES]
            if own:
                yield pytest.param(method, own[0], id=f"{of}.{name}")


@pytest.mark.parametrize(("method", "parameter"), [*methods_of_own_classes()])
def test_an_argument_of_a_method_of_another_type_is_named(method, parameter):
    required = [
        p.name for p in inspect.signature(method).parameters.values() if p.default is p.empty
    ]
    with pytest.raises(InputError, match=r"Other|of type object"):
        method(**{name: Other() for name in {*required, parameter}})


@pytest.fixture(scope="module")
def made():
    simulated = rb.simulate(n_topics=3, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(simulated.runs, depth=5, qrels=simulated.qrels)
    judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    return simulated, pool, judgments, rb.fit(pool, judgments, model="rtc")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, p, j, f: rb.compare(s.runs, f), "pool is a Runs, not a Pool; pool the runs"),
        (lambda s, p, j, f: rb.build(p, j, "mtc"), "qrels are a Judgments, not a Qrels; read them"),
        (lambda s, p, j, f: rb.next_documents(s.runs, s.qrels), "pool is a Runs, not a Pool"),
        (lambda s, p, j, f: rb.evaluate("runs", s.qrels), "runs are a str, not a Runs"),
        (lambda s, p, j, f: rb.fit(p, j, options=["df=3"]), "options are a list, not a Mapping"),
        (lambda s, p, j, f: rb.compare(p, f, workers=2), "workers are an int, not a Workers"),
        (lambda s, p, j, f: rb.plan(p, j, "200"), "budget is a str, not a float"),
        (lambda s, p, j, f: rb.Pool.from_runs({"a": s.runs["site01a"]}), "runs are a dict"),
        (lambda s, p, j, f: rb.plot_ranking(f), "comparison is a Fit, not a Comparison"),
        (lambda s, p, j, f: rb.plot_accuracy(rb.compare(p, f)), "pairs are a Comparison, not a"),
        (lambda s, p, j, f: rb.aggregate("labels.txt"), "labels are a str, not a Labels"),
        (lambda s, p, j, f: rb.select_topics(p, size=2), "scores are a Pool, not a Score"),
        (lambda s, p, j, f: rb.compare(p, f).to_html("x", s.qrels), "judgments are a Qrels, not a"),
        (
            lambda s, p, j, f: rb.compare(p, f).with_equivalence("1%"),
            "rope is '1%'; give a difference",
        ),
        (lambda s, p, j, f: rb.JudgingSession(p, "mtc"), "judgments are a Pool, not a Judgments"),
        (lambda s, p, j, f: rb.Runs(["A.run"]), "a run is a str; read files: read_runs"),
        (lambda s, p, j, f: rb.Runs("A.run"), "a run is a str; read files: read_runs"),
        (lambda s, p, j, f: rb.Runs(s.runs["site01a"]), r"runs are a Run; .* Runs\(\[run\]\)"),
        (lambda s, p, j, f: rb.Labels.of("1", "d", "j", 1), "topics: '1' is not a list of names"),
        (lambda s, p, j, f: rb.Labels.of(["1"], ["d"], ["j"], 1), "grades: 1 is not a list"),
        (lambda s, p, j, f: rb.compare(p, "fit.nc"), r"a str is not .* rb.Fit.load\(FILE\)"),
        (
            lambda s, p, j, f: rb.compare(p, rb.aggregate(LABELS, method="mv")),
            r"an Aggregate is not .*from_erels\(pool, aggregate.probabilities",
        ),
        (
            lambda s, p, j, f: rb.compare(p, rb.Probabilities({"1": {"d": 0.5}})),
            r"a Probabilities is not .*from_erels\(pool, prob",
        ),
        (lambda s, p, j, f: rb.Relevance.from_erels(p, "e"), "erels are a str, not a Prob"),
        (lambda s, p, j, f: rb.write_prels(s.qrels, "p"), "prels are a Qrels, not a Prels"),
        (lambda s, p, j, f: f.save("fit.tex"), "fit.tex: netCDF and zarr are written"),
        (lambda s, p, j, f: p.select([p.systems[0]] * 2), "a system is named twice"),
        (lambda s, p, j, f: LABELS.keep([True] * 3), "which: .* a truth for each of 1 label"),
        (
            lambda s, p, j, f: rb.Run.from_rankings("s", {"1": {"a": 1.0}}),
            "topic 1: a ranking is a mapping, .*read_runs",
        ),
        (
            lambda s, p, j, f: rb.ScoreMatrix.from_qrels(s.runs, s.qrels, ["AP", "P@10"]),
            "scores by one measure, not AP, P@10",
        ),
        (
            lambda s, p, j, f: rb.select_topics(
                rb.ScoreMatrix.from_qrels(s.runs, s.qrels), size=2, weights=[1.0]
            ),
            r"weights are a list; give \{system: weight\}",
        ),
        (lambda s, p, j, f: rb.Labels.of(None, ["d"], ["j"], [1]), "topics are a NoneType, not a"),
        (lambda s, p, j, f: rb.Judgments.none(s.runs), "pool is a Runs, not a Pool; pool the runs"),
        (lambda s, p, j, f: f.predict(s.runs), "pool is a Runs, not a Pool"),
        (lambda s, p, j, f: s.runs.condensed({}), "qrels are a dict, not a Qrels; read them"),
    ],
)
def test_what_is_mixed_up_is_named(made, call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call(*made)


def test_other_errors_stay_as_they_are():
    @explains_types
    def broken(count: "int") -> None:
        raise AttributeError("a fault of its own")

    with pytest.raises(AttributeError, match="a fault of its own"):
        broken(3)
    with pytest.raises(TypeError, match="missing 1 required"):
        broken()
