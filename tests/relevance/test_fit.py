"""Fits with labels: what they hold, how they are saved, and how they predict."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import rtc_bayes as rb
from rtc_bayes import Fit, FitError, InputError, Judgments, Qrels, fit
from rtc_bayes.relevance import Diagnostics, Draws, PointEstimate, Stage, estimate


def test_what_a_fit_holds(pool, judgments):
    fitted = fit(pool, judgments, model="rtc", options={"intercept": True, "prior": "1:2"}, seed=3)
    assert fitted.model == "rtc"
    assert fitted.method == "map"
    assert fitted.options["intercept"] == "yes"
    assert fitted.options["prior"] == "1:2"
    assert fitted.options["folds"] == "0"
    assert fitted.seed == 3
    assert fitted.relevance.probability.dims == ("chain", "draw", "document")
    assert fitted.relevance.n_draws == 1
    judged = fitted.judgments
    assert judged.n_judged == judgments.n_judged
    np.testing.assert_array_equal(
        fitted.relevance.values[0][judged.judged], judged.labels[judged.judged]
    )
    posterior = fitted.posterior["posterior"]
    assert posterior["theta"].dims == ("chain", "draw", "topic", "rank")
    assert posterior["A"].dims == ("chain", "draw", "system")
    assert posterior["lambda_0"].dims == ("chain", "draw")
    assert tuple(posterior["system"].values) == pool.systems
    assert posterior["rank"].values[-1] == pool.depth + 1
    observed = fitted.posterior["observed_data"]["label"].values
    np.testing.assert_array_equal(observed, judged.labels[judged.order])
    assert fitted.diagnostics.converged
    assert "ranks: converged" in repr(fitted.diagnostics)
    assert "rtc[prior=1:2" in repr(fitted)


def test_options_in_the_name_and_beside_it(pool, judgments):
    fitted = fit(pool, judgments, model="rtc[folds=5]:map", options={"link": "logodds"})
    assert (fitted.options["folds"], fitted.options["link"]) == ("5", "logodds")
    with pytest.raises(InputError, match="two methods, nuts and map"):
        fit(pool, judgments, model="rtc:map", method="nuts")


@pytest.mark.parametrize("model", ["rtc", "uniform"])
def test_saved_and_loaded(pool, judgments, tmp_path, model):
    fitted = fit(pool, judgments, model=model, seed=7)
    path = tmp_path / "fit.nc"
    fitted.save(path)
    loaded = Fit.load(path)
    np.testing.assert_array_equal(loaded.relevance.values, fitted.relevance.values)
    assert list(loaded.relevance.probability["docno"].values) == list(fitted.judgments.pool.docnos)
    for attribute in ("model", "method", "options", "seed", "digest", "diagnostics"):
        assert getattr(loaded, attribute) == getattr(fitted, attribute)
    assert loaded.judgments.pool.systems == pool.systems
    np.testing.assert_array_equal(loaded.judgments.labels, fitted.judgments.labels)
    np.testing.assert_array_equal(loaded.judgments.order, fitted.judgments.order)
    assert loaded.judgments.judged_for == fitted.judgments.judged_for
    for name, variable in fitted.posterior["posterior"].data_vars.items():
        np.testing.assert_array_equal(loaded.posterior["posterior"][name].values, variable.values)
    again = loaded.predict(pool)
    np.testing.assert_array_equal(again.relevance.values, fitted.relevance.values)


@pytest.mark.parametrize("judged_for", [None, ("run1",), ("run0", "run2")])
def test_judged_for_is_kept(pool, tmp_path, judged_for):
    judgments = Judgments.from_labels(pool, [3, 1], [1, 0], judged_for=judged_for)
    fit(pool, judgments, model="uniform").save(tmp_path / "fit.nc")
    assert Fit.load(tmp_path / "fit.nc").judgments.judged_for == judged_for


def test_not_a_fit(pool, tmp_path):
    pool.save(tmp_path / "pool.nc")
    with pytest.raises(InputError, match=r"pool.nc: not a fit"):
        Fit.load(tmp_path / "pool.nc")
    with pytest.raises(InputError, match="no such file"):
        Fit.load(tmp_path / "absent.nc")


def test_a_fit_of_another_version_is_to_be_made_again(pool, tmp_path, monkeypatch):
    fitted = fit(pool, Judgments.none(pool), model="uniform")
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[Fit.__module__], "_FORMAT", "rtc_bayes fit 1")
        fitted.save(tmp_path / "old.nc")
    with pytest.raises(
        InputError, match=r"a fit by another version \(rtc_bayes fit 1\); fit again"
    ):
        Fit.load(tmp_path / "old.nc")


def test_predict_on_new_systems(new_pool):
    """The same judgments over another pool, as if fitted there from the start."""
    pool, other = new_pool(systems=2), new_pool(systems=5, seed=9)
    judgments = Judgments.from_labels(pool, range(0, 30, 2), [1, 0, 0] * 5, judged_for=("run0",))
    result = fit(pool, judgments, model="rtc", options={"smoothing": "platt"}, seed=2)
    predicted = result.predict(other)
    direct = fit(other, judgments, model="rtc", options={"smoothing": "platt"}, seed=2)
    np.testing.assert_array_equal(predicted.relevance.values, direct.relevance.values)
    assert predicted.judgments.pool.systems == other.systems
    assert predicted.judgments.judged_for == ("run0",)
    assert (predicted.options, predicted.seed) == (result.options, 2)


def test_a_changed_file_of_an_option_is_refused(pool, judgments, tmp_path):
    groups, stored = tmp_path / "groups.csv", tmp_path / "fit.nc"
    rows = [f"{system},{n % 2}\n" for n, system in enumerate(pool.systems)]
    groups.write_text("".join(rows))
    fit(pool, judgments, model="hierarchical:map", options={"groups": str(groups)}).save(stored)
    loaded = Fit.load(stored)
    predicted = loaded.predict(pool)
    np.testing.assert_array_equal(predicted.relevance.values, loaded.relevance.values)
    groups.write_text("".join(rows[:-1]) + f"{pool.systems[-1]},other\n")
    for use in (loaded.build, loaded.graph, lambda: predicted.predict(pool)):
        with pytest.raises(InputError, match=r"groups\.csv: the file has changed since the fit; "):
            use()
    groups.unlink()
    with pytest.raises(InputError, match=r"groups\.csv: no such file; put back the file"):
        loaded.predict(pool)


def test_zero_judgments(pool):
    fitted = fit(pool, Judgments.none(pool), model="rtc")
    np.testing.assert_array_equal(fitted.relevance.values, 0.5)


def test_noisy_labels_are_kept(pool, tmp_path):
    judgments = Judgments.from_labels(pool, [4, 2, 9], [0.7, 0.0, 1.0])
    fitted = fit(pool, judgments, model="rtc")
    assert fitted.relevance.values[0, 4] == 0.7
    fitted.save(tmp_path / "fit.nc")
    assert Fit.load(tmp_path / "fit.nc").judgments.labels[4] == 0.7


@dataclass(frozen=True)
class Given:
    """A model that answers as told."""

    answer: PointEstimate

    name: ClassVar[str] = "given"
    methods: ClassVar[tuple[str, ...]] = ("map",)
    default_method: ClassVar[str] = "map"

    def map(self, judgments: Judgments) -> PointEstimate:
        return self.answer


def test_values_that_are_no_numbers(pool):
    p = np.full(pool.n_documents, 0.5)
    p[[3, 5]] = np.nan
    topic, docno = pool.pair_of(3)
    said = f"p are NaN at 2 documents of {len(p)}, the first {docno} of topic {topic}; look for"
    with pytest.raises(FitError, match=said):
        estimate(Given(PointEstimate(p)), None, Judgments.none(pool))


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.inf, 1 + 1e-12])
def test_a_value_that_is_no_probability(pool, bad):
    p = np.full(pool.n_documents, 0.5)
    p[3] = bad
    with pytest.raises(FitError, match=f"gave a probability of {bad}, of document"):
        estimate(Given(PointEstimate(p)), None, Judgments.none(pool))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"parameters": {"a": None}}, "parameter a of dtype object; give real numbers"),
        ({"parameters": {"a": "high"}}, "parameter a of dtype <U4; give real numbers"),
        ({"parameters": {"a/b": np.zeros(1)}}, "parameter 'a/b'; give it a name without a slash"),
        ({"parameters": {1: np.zeros(1)}}, "parameter 1; give it a name without a slash"),
        ({"diagnostics": None}, "a NoneType as diagnostics; leave it out, or give a rtc_bayes"),
    ],
)
def test_parameters_and_diagnostics_that_are_none(pool, parts, said):
    """Most was found out when the fit was saved, or when it was loaded again."""
    answer = PointEstimate(np.full(pool.n_documents, 0.5), **parts)
    with pytest.raises(FitError, match=said):
        estimate(Given(answer), None, Judgments.none(pool))


def test_a_fit_that_did_not_converge(pool):
    stages = (Stage("first", True, 3, 1e-9), Stage("second", False, 100, 2.0))
    answer = PointEstimate(np.full(pool.n_documents, 0.5), diagnostics=Diagnostics(stages))
    with pytest.raises(FitError, match=r"given must not be used: .*second: DID NOT CONVERGE, 100"):
        estimate(Given(answer), None, Judgments.none(pool))


def test_an_answer_for_other_documents(pool):
    with pytest.raises(FitError, match="shape"):
        estimate(Given(PointEstimate(np.zeros(1))), None, Judgments.none(pool))


@pytest.mark.parametrize("kind", [bool, int, np.float16, np.float32, np.float64])
def test_labels_that_are_probabilities_are_kept_whatever_numbers_p_is_of(pool, kind):
    judgments = Judgments.from_labels(pool, [4, 2], [0.7, 0.2])
    answer = PointEstimate(np.ones(pool.n_documents, dtype=kind))
    p = estimate(Given(answer), None, judgments).p
    assert p.dtype == (np.float32 if kind is np.float32 else np.float64)
    np.testing.assert_allclose(p[[4, 2, 0]], [0.7, 0.2, 1.0], rtol=1e-6)


def test_public_names():
    assert rb.fit is fit
    assert {"rtc", "uniform"} <= {info.name for info in rb.available_models()}


def test_real_runs(trec8):
    """Two systems of TREC-8 and their official judgments: quick, finite, and it learns."""
    paths = sorted((trec8 / "runs").iterdir())
    runs = rb.read_runs(paths[3], paths[40])
    pool = rb.Pool.from_runs(runs, depth=100)
    judgments = Judgments.from_qrels(pool, rb.read_qrels(trec8 / "qrels.txt.gz"))
    rng = np.random.default_rng(0)
    retrieved = np.unique(judgments.pool.ranked)
    retrieved = retrieved[judgments.judged[retrieved]]
    rng.shuffle(retrieved)
    few = Judgments.from_labels(judgments.pool, retrieved[:400], judgments.labels[retrieved[:400]])
    held_out = retrieved[400:]
    truth = judgments.labels[held_out]
    options = {"smoothing": "platt", "intercept": True}
    p = fit(few.pool, few, model="rtc", options=options).relevance.values[0]
    share = few.labels[few.order].mean()
    skill = np.mean((p[held_out] - truth) ** 2) / np.mean((share - truth) ** 2)
    assert skill < 0.97


@pytest.mark.parametrize(
    ("method", "numbers"),
    [("gibbs", (150, 4, 500)), ("cut", (150, 4, 500)), ("nuts", (1000, 4, 1000))],
)
def test_how_much_a_method_draws_by_default(pool, judgments, method, numbers):
    asked = []

    @dataclass(frozen=True)
    class Drawn:
        name: ClassVar[str] = "drawn"
        methods: ClassVar[tuple[str, ...]] = (method,)
        default_method: ClassVar[str] = method

        def gibbs(self, judgments, sampling):
            asked.append((sampling.draws, sampling.chains, sampling.tune))
            return Draws(np.full((sampling.chains, 2, judgments.pool.n_documents), 0.5, np.float32))

        cut = nuts = gibbs

    fit(pool, judgments, model=Drawn())
    estimate(Drawn(), None, judgments)
    assert asked == [numbers, numbers]
    fit(pool, judgments, model=Drawn(), draws=7)
    assert asked[-1] == (7, *numbers[1:])


def test_what_is_no_judgments_is_said_to_be_none(pool):
    with pytest.raises(InputError, match=r"judgments are a Qrels; give Judgments: Judgments.from_"):
        fit(pool, Qrels({"1": {"a": 1}}), model="uniform")
