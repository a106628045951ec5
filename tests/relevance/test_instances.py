"""Models given themselves rather than named."""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import cloudpickle
import numpy as np
import pytest
from pools import judge, make_pool

import rtc_bayes as rb
from rtc_bayes import InputError
from rtc_bayes.judging import build, parse_algorithm
from rtc_bayes.relevance import Draws, ModelSpec, PointEstimate, load_model
from rtc_bayes.robustness import study
from rtc_bayes.store import digest_file
from rtc_bayes.workers import Workers, open_workers


def own_model():
    """A class that nothing can import."""

    @dataclass(frozen=True)
    class BestRank:
        """Relevance falls with the best rank."""

        scale: float = 1.0
        name: ClassVar[str] = "best_rank"
        methods: ClassVar[tuple[str, ...]] = ("map", "gibbs")
        default_method: ClassVar[str] = "map"

        def map(self, judgments):
            best = judgments.pool.best_ranks
            return PointEstimate(1 / (1 + self.scale * np.where(best > 0, best, 100)))

        def gibbs(self, judgments, sampling):
            p = self.map(judgments).p
            return Draws(np.tile(p.astype(np.float32), (sampling.chains, sampling.draws, 1)))

    return BestRank


def test_fit_and_compare():
    model, pool = own_model(), make_pool()
    fitted = rb.fit(pool, judge(pool, 6), model=model(scale=2))
    assert (fitted.model, fitted.method, fitted.options) == ("best_rank", "map", {"scale": "2"})
    assert fitted.build() == model(scale=2)
    assert np.array_equal(fitted.predict(pool).relevance.values, fitted.relevance.values)
    assert len(rb.compare(pool, fitted).to_frame())
    other = rb.fit(pool, judge(pool, 6), model=model(), method="gibbs", options={"scale": "2"})
    assert other.options == {"scale": "2"}
    assert other.method == "gibbs"
    assert np.allclose(other.relevance.values.mean(axis=0), fitted.relevance.values[0])


def test_a_saved_fit_says_that_its_model_is_not_in_it(tmp_path):
    pool = make_pool()
    rb.fit(pool, judge(pool, 6), model=own_model()()).save(tmp_path / "fit.nc")
    read = rb.Fit.load(tmp_path / "fit.nc")
    assert read.digest
    with pytest.raises(InputError, match="no file holds; load the fit with it"):
        read.predict(pool)


def test_build_judges_by_it():
    pool = make_pool()
    truth = judge(pool, pool.n_documents)
    algorithm = parse_algorithm(own_model()(scale=3))
    assert algorithm.text == "best_rank[scale=3]"
    assert algorithm.evaluator == algorithm.judge.model
    result = build(pool, truth.to_qrels(), own_model()(scale=3), budget=5, confidence=None)
    assert result.judgments.n_judged == 5
    assert result.algorithm == "best_rank[scale=3]"


def test_other_processes_build_it():
    pool = make_pool()
    judgments, spec = judge(pool, 6), ModelSpec.parse(own_model()(scale=2))

    def trial(number, seed):
        return rb.fit(pool, judgments, model=spec).relevance.values

    with open_workers(Workers(2)) as run_all:
        result = dict(run_all(trial, [(1, 0), (2, 0)]))
    assert sorted(result) == [1, 2]
    for values in result.values():
        assert np.array_equal(values, trial(1, 0))


def test_what_stands_for_it():
    model = own_model()
    spec = ModelSpec.parse(model(scale=0.5), "map")
    assert spec.text == "best_rank[scale=0.5]:map"
    assert spec.name == "best_rank"
    assert spec.options == {"scale": "0.5"}
    assert ModelSpec.parse(model()).text == "best_rank"
    assert spec.build() == model(scale=0.5)
    assert cloudpickle.loads(cloudpickle.dumps(spec)) == spec
    assert hash(spec) == hash(ModelSpec.parse(model(scale=0.5), "map"))
    assert ModelSpec.parse(spec) is spec
    assert ModelSpec.parse(spec, options={"scale": "3"}).build() == model(scale=3.0)
    assert len(spec.digest) == 64


def test_one_that_a_name_or_a_file_finds_is_named(model_file):
    named = ModelSpec.parse(load_model("rtc", {"folds": 5, "prior": (1, 2)}))
    assert named.text == "rtc[prior=1:2,folds=5]"
    assert named.instance is None
    filed = ModelSpec.parse(load_model(model_file, {"spread": 2}))
    assert filed == ModelSpec.parse(f"{model_file}[spread=2]")
    assert pickle.loads(pickle.dumps(filed)).build().spread == 2


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (5, "5 is no model; give .*rtc, .* the path of a FILE.py, or an instance"),
        (None, "None is no model"),
        (own_model(), r"BestRank is a class, no model; give an instance: BestRank\(\)"),
        (rb.simulate(n_topics=1, n_systems=2), "is no model"),
    ],
)
def test_what_is_no_model(thing, message):
    pool = make_pool()
    with pytest.raises(InputError, match=message):
        rb.fit(pool, judge(pool, 6), model=thing)


TEXTS = """
from dataclasses import dataclass
import numpy as np
from rtc_bayes.relevance import PointEstimate

@dataclass(frozen=True)
class Texts:
    names: tuple[str, ...] = ()
    name = "texts"
    methods, default_method = ("map",), "map"

    def map(self, judgments):
        return PointEstimate(np.full(judgments.pool.n_documents, 0.5))
"""


def test_texts_that_would_be_read_otherwise_are_refused(tmp_path):
    """("a,b",) became ("a", "b"), ("none",) became () and (" x",) lost its blank."""
    (tmp_path / "texts.py").write_text(TEXTS)
    file = str(tmp_path / "texts.py")
    for names in (("a,b",), ("none",), (" x",), ("a", "b:c"), ("",), ("(a)",)):
        for give in (
            lambda names: ModelSpec.parse(file, options={"names": names}),
            lambda names: ModelSpec.parse(load_model(file, {"names": names})),
        ):
            with pytest.raises(InputError, match=r"option names is .*, which would not be read so"):
                give(names)
    for names in ((), ("a",), ("a b", "none")):
        assert ModelSpec.parse(file, options={"names": names}).build().names == names


def test_an_instance_has_its_options_checked():
    with pytest.raises(InputError, match="option scale of model best_rank is 'wide'"):
        ModelSpec.parse(own_model()(scale="wide"))
    with pytest.raises(InputError, match="no option 'sclae'"):
        ModelSpec.parse(own_model()(), options={"sclae": 1})


SCRIPT = """
{model}

if __name__ == "__main__":
    from functools import partial
    from rtc_bayes.relevance import ModelSpec
    from rtc_bayes.workers import Workers, open_workers

    def options(spec, trial, seed):
        return spec.build().spread, spec.digest

    spec = ModelSpec.parse(BestRank(spread=.5))
    with open_workers(Workers(2)) as run_all:
        print(sorted(run_all(partial(options, spec), [(1, 0), (2, 0)])) ==
              [(1, (.5, spec.digest)), (2, (.5, spec.digest))])
"""


def test_a_class_of_a_script(tmp_path, model_text):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(model=model_text))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True\n", done.stderr


def test_a_study_of_it(tmp_path):
    simulated = rb.simulate(n_topics=4, n_systems=6, depth=20, seed=2)
    model = own_model()
    done = study(
        simulated.runs,
        simulated.qrels,
        algorithms=["mtc", model(scale=2)],
        output=tmp_path / "study",
        trials=2,
        n_systems=4,
        estimand=rb.Estimand(depth=10),
        workers=rb.Workers(2),
    )
    text = "best_rank[scale=2]"
    assert set(done.trials["algorithm"]) == {"mtc", text}
    assert done.meta["study"]["algorithms"] == ["mtc", text]
    assert done.meta["models"][text]["best_rank"] == ModelSpec.parse(model()).digest


def test_a_saved_fit_is_loaded_with_its_model(tmp_path):
    pool, kind = make_pool(), own_model()
    made = rb.fit(pool, judge(pool, 6), model=kind(scale=2))
    made.save(tmp_path / "fit.nc")
    read = rb.Fit.load(tmp_path / "fit.nc", model=kind(scale=2))
    assert np.array_equal(read.predict(pool).relevance.values, made.relevance.values)
    for other in (kind(), load_model("uniform")):
        with pytest.raises(InputError, match="a fit of best_rank, of other options or code than"):
            rb.Fit.load(tmp_path / "fit.nc", model=other)


def test_a_fit_is_saved_with_the_files_that_it_read(tmp_path):
    pool = make_pool()
    groups = tmp_path / "groups.csv"
    groups.write_text("".join(f"{system},x\n" for system in pool.systems))
    before = digest_file(groups)
    made = rb.fit(pool, judge(pool, 6), model=f"hierarchical[groups={groups}]:map")
    assert made.files == {str(groups): before}
    groups.unlink()
    made.save(tmp_path / "fit.nc")
    again = rb.relevance.Fit.load(tmp_path / "fit.nc")
    assert again.files == made.files
    again.save(tmp_path / "again.nc")
