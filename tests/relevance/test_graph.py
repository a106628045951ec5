"""A model in one file, as the documentation has it, fitted through PyMC."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from rtc_bayes import Fit, FitError, FitWarning, InputError, Judgments, fit
from rtc_bayes.relevance import estimate, load_model

BERNOULLI = (
    "pm.Bernoulli('label', logit_p=log_odds({0}), observed=judgments.labels[{0}].astype(int))"
)


@pytest.fixture
def with_likelihood(model_file, model_text):
    """Write another line where the documented model has its likelihood."""

    def write(line, p="pm.math.sigmoid(log_odds(slice(None)))"):
        lines = f"pm.Deterministic('p', {p}); {line}" if p else line
        model_file.write_text(model_text.replace("observe(judgments, log_odds)", lines))
        return model_file

    return write


def test_the_documented_model(model_file, pool, judgments, tmp_path):
    """Its mode is that of the density written by hand; it is saved and loaded like any other."""
    fitted = fit(pool, judgments, model=str(model_file), options={"spread": 0.5})
    judged = fitted.judgments
    best = np.full(judged.pool.n_documents, pool.depth + 1.0)
    for t in range(pool.n_topics):
        ranks = judged.pool.ranks(t).astype(float)
        ranks[ranks == 0] = pool.depth + 1
        best[judged.pool.documents(t)] = ranks.min(axis=0)

    def log_odds(x):
        return x[0] + x[2:][judged.pool.topic_of] - x[1] * np.log(best)

    def loss(x):
        eta, y = log_odds(x)[judged.order], judged.labels[judged.order]
        prior = (x[0] / 2) ** 2 + x[1] ** 2 + ((x[2:] / 0.5) ** 2).sum()
        return prior / 2 - y @ log_expit(eta) - (1 - y) @ log_expit(-eta)

    mode = minimize(loss, np.zeros(2 + pool.n_topics), options={"gtol": 1e-8}).x
    expected = np.where(judged.judged, judged.labels, expit(log_odds(mode)))
    np.testing.assert_allclose(fitted.relevance.values[0], expected, atol=1e-6)
    posterior = fitted.posterior["posterior"]
    assert posterior["topic_level"].dims == ("chain", "draw", "topic")
    assert float(posterior["slope"].values[0, 0]) == pytest.approx(mode[1], abs=1e-6)
    assert "p" not in posterior
    assert (fitted.model, fitted.relevance.model) == (str(model_file), "best_rank")

    fitted.save(tmp_path / "fit.nc")
    loaded = Fit.load(tmp_path / "fit.nc")
    np.testing.assert_array_equal(loaded.relevance.values, fitted.relevance.values)
    assert loaded.digest == fitted.digest
    assert len(loaded.digest) == 64
    model_file.write_text(model_file.read_text() + "# another text\n")
    with pytest.raises(InputError, match="file has changed"):
        loaded.predict(pool)


def test_the_documented_point_estimate(point_file, pool, judgments):
    fitted = fit(pool, judgments, model=str(point_file), options={"pseudo": 4})
    judged = fitted.judgments
    first = judged.pool.best_ranks == 1
    labels = judged.labels[first & judged.judged]
    share = (labels.sum() + 2) / (len(labels) + 4)
    assert fitted.relevance.values[0][first & ~judged.judged] == pytest.approx(share)
    np.testing.assert_array_equal(
        fitted.relevance.values[0][judged.order], judged.labels[judged.order]
    )
    kept = fitted.posterior["posterior"]["share"]
    assert float(kept.sel(rank=1).squeeze()) == pytest.approx(share)


def test_a_graph_that_observes_nothing(with_likelihood, judgments):
    """It would take its prior for what judgments say."""
    with pytest.warns(FitWarning, match="observes nothing, so that judgments may change nothing"):
        fit(judgments.pool, judgments, model=str(with_likelihood("pass")))


def test_labels_that_a_graph_takes_for_others(with_likelihood, judgments):
    """Of probabilities it makes 0 and 1, and of no judgment a nonrelevant one."""
    model_file = with_likelihood(BERNOULLI.format("judgments.order"))
    fit(judgments.pool, judgments, model=str(model_file))
    soft = np.where(judgments.labels[judgments.order] > 0.5, 0.9, 0.1)
    noisy = Judgments.from_labels(
        judgments.pool, judgments.order, soft, judged_for=judgments.judged_for
    )
    with pytest.warns(FitWarning, match="observes 0 and 1 alone: call observe"):
        fit(noisy.pool, noisy, model=str(model_file))
    model_file = with_likelihood(BERNOULLI.format("slice(None)"))
    with pytest.warns(FitWarning, match="labels of documents that nobody judged, which are NaN"):
        fit(judgments.pool, judgments, model=str(model_file))
    # nothing judged relevant: zeros may stand for anything
    none = Judgments.none(judgments.pool)
    fit(none.pool, none, model=str(model_file))


def test_a_mistake_in_a_graph_is_placed(with_likelihood, judgments):
    model_file = with_likelihood("nothing_of_this_name()")
    lines = model_file.read_text().splitlines()
    (line,) = [n for n, line in enumerate(lines, 1) if "nothing_of_this_name" in line]
    with pytest.raises(InputError, match=r"fails: NameError: name 'nothing_of_this_name'") as said:
        fit(judgments.pool, judgments, model=str(model_file))
    assert str(said.value).startswith(f"{model_file}:{line}: graph(pool, judgments) of BestRank")


def test_a_graph_without_p(with_likelihood, judgments):
    model_file = with_likelihood(BERNOULLI.format("judgments.order"), p="")
    said = r"BestRank.* gives no deterministic p .*; call observe\(judgments, log_odds\) in it"
    with pytest.raises(InputError, match=said):
        estimate(load_model(model_file), None, judgments)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("method", ["map", "nuts"])
@pytest.mark.parametrize(
    ("p", "shape"),
    [("pm.math.sigmoid(log_odds(slice(7)))", r"\(7,\)"), ("pm.math.sigmoid(slope)", r"\(\)")],
)
def test_a_graph_whose_p_has_another_shape(with_likelihood, judgments, method, p, shape):
    """It is named as the graph's: the model has no method of its own, and nothing is fitted."""
    model_file = with_likelihood(BERNOULLI.format("judgments.order"), p)
    n = len(judgments.labels)
    said = rf"^p of graph\(\) of BestRank.* has shape {shape}, and the pool {n} doc.*\({n},\)"
    with pytest.raises(InputError, match=said):
        estimate(load_model(model_file), method, judgments)


def test_a_graph_that_is_not_returned(model_file, judgments):
    model_file.write_text(model_file.read_text().replace("return model", "pass"))
    said = r"^graph\(\) of BestRank.* returns nothing; end it with return model$"
    with pytest.raises(InputError, match=said):
        estimate(load_model(model_file), None, judgments)


@pytest.mark.usefixtures("interpreted")
def test_a_density_without_mode(model_file, judgments):
    """A scale that has its own prior falls towards 0 with its effects: not to be used."""
    text = model_file.read_text()
    model_file.write_text(text.replace("self.spread, dims", 'pm.HalfNormal("scale", 1), dims'))
    with pytest.raises(FitError, match=r"best_rank.*HalfNormal: use nuts.*Gamma\(2, 1\)"):
        estimate(load_model(model_file), None, judgments)


@pytest.mark.usefixtures("interpreted")
def test_a_scale_below_0_is_not_sent_to_the_method_in_use(model_file, model_text, judgments):
    model_file.write_text(model_text.replace("self.spread, dims", "-self.spread, dims"))
    with pytest.raises(FitError, match=r"below 0, or a scale of effects .*: use nuts"):
        estimate(load_model(model_file), "map", judgments)
    with pytest.raises(FitError, match=r"an option may be below 0$"):
        estimate(load_model(model_file), "nuts", judgments)


@pytest.mark.usefixtures("interpreted")
def test_a_p_without_sigmoid(with_likelihood, judgments):
    likelihood = BERNOULLI.format("judgments.order")
    model_file = with_likelihood(likelihood, p="log_odds(slice(None))")
    with pytest.raises(FitError, match=r"best_rank.*pm\.math\.sigmoid"):
        estimate(load_model(model_file), None, judgments)


@pytest.mark.parametrize("method", ["map", "laplace", "nuts"])
def test_log_odds_that_are_no_numbers_are_named(model_file, model_text, pool, judgments, method):
    """Of a judged document PyMC cannot take them; what it says of p is no help."""
    nan = "x = np.zeros(pool.n_documents); x[judgments.order[:2]] = np.nan; "
    line = "observe(judgments, lambda rows: log_odds(rows) + x[rows])"
    model_file.write_text(
        "import numpy as np\n" + model_text.replace("observe(judgments, log_odds)", nan + line)
    )
    topic, docno = judgments.pool.pair_of(min(judgments.order[:2]))
    with pytest.raises(FitError, match=f"NaN at 2 documents of .* first {docno} of topic {topic};"):
        fit(pool, judgments, model=str(model_file), method=method)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("shape", ["shape=pool.depth", "dims='rank'"])
def test_an_element_that_is_not_there(model_file, model_text, pool, judgments, shape):
    """A compiled graph reads beyond the end of a parameter, and knows nothing of it."""
    lines = (
        "model.add_coord('rank', range(pool.depth)); "
        f"curve = pm.Normal('curve', 0, 1, {shape}); "
        "observe(judgments, lambda rows: log_odds(rows) + curve[best[rows]])"
    )
    model_file.write_text(model_text.replace("observe(judgments, log_odds)", lines))
    depth = pool.depth
    said = rf"not there: curve: index {depth}.* with size {depth}; make the parameter longer"
    for method in ("map", "laplace", "nuts"):
        with pytest.raises(InputError, match=said):
            fit(pool, judgments, model=str(model_file), method=method)
