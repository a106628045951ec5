"""Inclusion probabilities, Poisson samples, and what is estimated from them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pools import pool_of, random_pool

import rtc_bayes as rb
from rtc_bayes import InputError, Judgments, Qrels
from rtc_bayes.collection import Prel, Prels
from rtc_bayes.collection.writing import write_prels
from rtc_bayes.measures.sampling import (
    Sample,
    equal_parts,
    inclusion_probabilities,
    permanent_numbers,
    poisson_sample,
)
from rtc_bayes.measures.stat_ap import horvitz_thompson, stat_ap


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def labelled(pool, labels):
    grades = {topic: {} for topic in pool.topics}
    for t, docno, label in zip(pool.topic_of, pool.docnos, labels, strict=True):
        grades[pool.topics[t]][docno] = int(label)
    return Qrels(grades)


def average_precision(pool, labels):
    """Score every system on every topic by the definition of AP."""
    scores = np.zeros((pool.n_systems, pool.n_topics))
    for s, t in product(range(pool.n_systems), range(pool.n_topics)):
        ranked = labels[pool.ranking(s, t)]
        precision = ranked.cumsum() / np.arange(1, len(ranked) + 1)
        scores[s, t] = (ranked * precision).sum() / max(labels[pool.documents(t)].sum(), 1)
    return scores


def samples(pool, labels, probability):
    """Yield every Poisson sample of the relevant documents, with its probability."""
    relevant = np.flatnonzero(labels)
    for drawn in product((False, True), repeat=len(relevant)):
        drawn = np.array(drawn)
        p = probability[relevant]
        judgments = Judgments.from_labels(pool, relevant[drawn], np.ones(drawn.sum()))
        yield Sample(judgments, probability), float(np.where(drawn, p, 1 - p).prod())


def test_stat_ap_and_its_parts_over_all_samples(rng):
    """The numerator and the count are unbiased; the ratio is so within its standard error."""
    pool = random_pool(rng, systems=3, topics=1, documents=12, longest=10)
    labels = (rng.random(pool.n_documents) < 0.7).astype(float)
    probability = rng.uniform(0.3, 1.0, pool.n_documents)
    true = average_precision(pool, labels)[:, 0]
    mean, numerator, count, variance, count_variance = 0.0, 0.0, 0.0, 0.0, 0.0
    square, count_square = 0.0, 0.0
    for sample, chance in samples(pool, labels, probability):
        estimate, counts = stat_ap(sample), horvitz_thompson(sample)
        scores = estimate.scores.mean[:, 0]
        mean += chance * scores
        square += chance * (scores - true) ** 2
        numerator += chance * scores * counts.estimate[0]
        count += chance * counts.estimate[0]
        count_square += chance * (counts.estimate[0] - labels.sum()) ** 2
        variance += chance * estimate.scores.variance[:, 0]
        count_variance += chance * counts.variance[0]
    np.testing.assert_allclose(numerator, true * labels.sum(), rtol=1e-12)
    assert count == pytest.approx(labels.sum(), rel=1e-12)
    assert count_variance == pytest.approx(count_square, rel=1e-12)
    assert (np.abs(mean - true) < 0.5 * np.sqrt(square)).all()  # a bias well inside the error
    np.testing.assert_allclose(np.sqrt(variance), np.sqrt(square), rtol=0.25)


def test_a_document_alone_scores_one_however_unlikely_it_was():
    """One over the probability is so large that 1 beside it is lost to rounding."""
    pool = pool_of({"one": {"1": "ab"}, "two": {"1": "c"}}, depth=2)
    sample = rb.Sample(Judgments.from_labels(pool, [0], [1]), [1e-17] * pool.n_documents)
    assert stat_ap(sample).scores.mean.ravel().tolist() == [1.0, 0.0]


def test_the_mean_of_stat_ap_is_average_precision_within_three_standard_errors(rng):
    errors, variances = [], []
    for _ in range(300):
        pool = random_pool(rng, systems=1, topics=1, documents=12, longest=12)
        labels = (rng.random(12) < 0.6).astype(float)
        probability = np.full(12, 0.8)
        drawn = np.flatnonzero(rng.random(12) < probability)
        sample = Sample(Judgments.from_labels(pool, drawn, labels[drawn]), probability)
        estimate = stat_ap(sample).scores
        errors.append(estimate.mean[0, 0] - average_precision(pool, labels)[0, 0])
        variances.append(estimate.variance[0, 0])
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(300)
    assert np.mean(variances) == pytest.approx(np.var(errors), rel=0.3)


def test_the_covariance_is_that_of_the_estimates_over_samples(rng):
    """Differences of means over topics vary as the covariance says."""
    pool = random_pool(rng, systems=3, topics=4, documents=50, longest=50)
    labels = (rng.random(pool.n_documents) < 0.5).astype(float)
    truth = labelled(pool, labels)
    probability = inclusion_probabilities(pool, 30, sampling="uniform")
    estimates = [stat_ap(Sample.draw(pool, truth, probability, seed=seed)) for seed in range(600)]
    means = np.array([one.scores.mean.mean(axis=1) for one in estimates])
    first, second = np.triu_indices(3, 1)
    empirical = (means[:, first] - means[:, second]).var(axis=0, ddof=1)
    stated = np.mean([one.pairs().sd ** 2 for one in estimates], axis=0)
    # of the empirical variance: standard error sqrt(2/599), .06; linearisation errs by the rest
    np.testing.assert_allclose(stated, empirical, rtol=0.25)
    true = average_precision(pool, labels).mean(axis=1)
    z = (means[:, first] - means[:, second] - (true[first] - true[second])) / np.sqrt(empirical)
    assert (np.abs(z.mean(axis=0)) < 3 / np.sqrt(600) + 0.15).all()


def test_all_judged_gives_average_precision_and_no_variance(rng):
    pool = random_pool(rng, systems=4, topics=3, documents=15, longest=9)
    labels = (rng.random(pool.n_documents) < 0.4).astype(float)
    sample = Sample.draw(pool, labelled(pool, labels), np.ones(pool.n_documents))
    estimate = stat_ap(sample)
    expected = average_precision(pool, labels)
    np.testing.assert_allclose(estimate.scores.mean, expected, rtol=1e-13)
    assert not estimate.scores.variance.any()
    assert not estimate.covariance.any()
    pairs = estimate.pairs()
    assert set(pairs.confidence) <= {0.5, 1.0}
    counts = horvitz_thompson(sample)
    assert counts.estimate.tolist() == [labels[pool.documents(t)].sum() for t in range(3)]
    table = rb.evaluate(_runs_of(pool), labelled(pool, labels), "AP", topics="all")
    np.testing.assert_allclose(estimate.scores.mean, table["AP"], rtol=1e-12)


def _runs_of(pool):
    return rb.Runs(
        rb.Run.from_rankings(
            name, {t: pool.docnos[pool.ranking(s, i)].tolist() for i, t in enumerate(pool.topics)}
        )
        for s, name in enumerate(pool.systems)
    )


def test_permanent_numbers_are_uniform_and_stay(rng):
    pool = random_pool(rng, systems=5, topics=8, documents=400, longest=300)
    numbers = permanent_numbers(pool, seed=3)
    share = np.histogram(numbers, bins=10, range=(0, 1))[0] / len(numbers)
    assert np.abs(share - 0.1).max() < 4 * np.sqrt(0.09 / len(numbers))
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 4 / np.sqrt(len(numbers))
    fewer = pool.select(pool.systems[:1])
    place = np.concatenate(
        [pool.locate(t, fewer.docnos[fewer.documents(i)]) for i, t in enumerate(fewer.topics)]
    )
    np.testing.assert_array_equal(permanent_numbers(fewer, seed=3), numbers[place])
    assert (permanent_numbers(pool, seed=4) != numbers).all()


@pytest.mark.parametrize("sampling", ["uniform", "depth", "rank"])
def test_probabilities_sum_to_the_size_and_never_fall(rng, sampling):
    pool = random_pool(rng, systems=3, topics=2, documents=40, longest=20)
    before = np.zeros(pool.n_documents)
    sample = np.zeros(pool.n_documents, dtype=bool)
    for size in (0.5, 3, 8, 15, 1000):
        probability = inclusion_probabilities(pool, size, sampling=sampling)
        for t in range(pool.n_topics):
            inside = pool.documents(t)
            expected = min(size, inside.stop - inside.start)
            assert probability[inside].sum() == pytest.approx(expected)
        assert (probability >= before - 1e-12).all()
        assert (probability <= 1.0).all()
        drawn = poisson_sample(pool, probability, seed=5)
        assert drawn[sample].all()
        before, sample = probability, drawn
    assert sample.all()


def test_a_sample_goes_to_prels_and_back(rng, tmp_path):
    pool = random_pool(rng, systems=3, topics=2, documents=20, longest=10)
    labels = (rng.random(pool.n_documents) < 0.5).astype(float)
    probability = inclusion_probabilities(pool, 6)
    sample = Sample.draw(pool, labelled(pool, labels), probability, seed=2)
    path = tmp_path / "prels"
    write_prels(sample.to_prels(), path)
    again = Sample.from_prels(pool, rb.read_prels(path))
    np.testing.assert_array_equal(again.judgments.judged, sample.judgments.judged)
    one, two = stat_ap(sample), stat_ap(again)
    np.testing.assert_allclose(one.scores.mean, two.scores.mean, rtol=1e-12)
    np.testing.assert_allclose(one.covariance, two.covariance, rtol=1e-9, atol=1e-15)


def test_prels_name_the_relevance_level_of_their_sample(rng, tmp_path):
    pool = random_pool(rng, systems=3, topics=2, documents=20, longest=10)
    grades = (2 * (rng.random(pool.n_documents) < 0.5) + 1).astype(int)
    topics = [pool.topics[t] for t in pool.topic_of]
    table: dict[str, dict[str, int]] = {}
    for topic, docno, grade in zip(topics, pool.docnos, grades, strict=True):
        table.setdefault(topic, {})[str(docno)] = int(grade)
    everything = np.ones(pool.n_documents)
    sample = Sample.draw(pool, rb.Qrels(table), everything, relevance_level=2)
    path = tmp_path / "prels"
    write_prels(sample.to_prels(), path)
    with pytest.warns(rb.CollectionWarning, match="grades from 2 on count as relevant"):
        again = Sample.from_prels(pool, rb.read_prels(path))
    np.testing.assert_array_equal(again.judgments.labels, sample.judgments.labels)
    assert 0 < again.judgments.labels.mean() < 1


def test_samples_that_cannot_be_are_refused():
    pool = pool_of({"A": {"1": "abc"}}, depth=3)
    judged = Judgments.from_labels(pool, [0], [1])
    for probability in ([1.0], [2.0, 0, 0], [0.0, 1, 1], [np.nan, 1, 1]):
        with pytest.raises(InputError) as refusal:
            Sample(judged, probability)
        assert refusal.value.remedy
    with pytest.raises(InputError, match="neither 0 nor 1"):
        Sample(Judgments.from_labels(pool, [0], [0.5]), [1, 1, 1])
    with pytest.raises(InputError, match="takes no weights; write sampling"):
        inclusion_probabilities(pool, 2, weights="rank")
    with pytest.raises(InputError, match="takes no weights; write sampling"):
        rb.audit_documents(pool, 0.5, weights="rank")
    for size, sampling in (
        (0, "rank"),
        (2, "size"),
        (2, [1.0]),
        (2, [-1.0, 1, 1]),
        (2, [np.inf, 1, 1]),
    ):
        with pytest.raises(InputError) as refusal:
            inclusion_probabilities(pool, size, sampling=sampling)
        assert refusal.value.remedy
    for wrong in (30.0, -0.1, np.nan):
        with pytest.raises(InputError, match=f"an inclusion probability is {wrong:g}; give num"):
            poisson_sample(pool, [0.5, wrong, 0.5])


def test_a_sample_scores_whole_lists_of_runs(rng):
    """The lists beyond the pool from which it was drawn count, and topics without a draw do not."""
    data = rb.simulate(n_topics=4, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(data.runs, depth=20)
    drawn = Sample.draw(pool, data.qrels, inclusion_probabilities(pool, 15), seed=1).to_prels()
    prels = Prels({topic: drawn[topic] for topic in pool.topics[:3]})
    sample = Sample.from_prels(data.runs, prels)
    assert sample.judgments.pool.topics == pool.topics[:3]
    whole = rb.Pool.from_runs(data.runs, depth=1000).select_topics(pool.topics[:3])
    ours, theirs = stat_ap(sample), stat_ap(Sample.from_prels(whole, prels))
    np.testing.assert_allclose(ours.scores.mean, theirs.scores.mean)
    np.testing.assert_allclose(ours.covariance, theirs.covariance)
    short = stat_ap(Sample.from_prels(pool, prels)).scores.mean
    assert (ours.scores.mean >= short[:, :3] - 1e-12).all()
    assert (ours.scores.mean > short[:, :3]).any()
    with pytest.warns(rb.CollectionWarning, match="no run has 1 of 4 topics"):
        Sample.from_prels(data.runs, Prels({**prels, "x": {"d": Prel(1, 1, 0.5)}}))
    with pytest.raises(InputError, match="no topic in common"):
        Sample.from_prels(data.runs, Prels({"x": {"d": Prel(1, 1, 0.5)}}))


def test_topics_of_few_relevant_draws_are_counted():
    """They look certain, so that their variance is 0; what was sure to be drawn is certain."""
    pool = pool_of({"A": {"1": "abc", "2": "def", "3": "ghi"}}, depth=3)
    judged = Judgments.from_labels(pool, [0, 1, 3, 4, 5, 6], [1, 1, 1, 0, 0, 0])
    probability = np.where(judged.judged, 0.5, 0.0)
    probability[3:6] = 1.0
    estimate = stat_ap(Sample(judged, probability))
    assert estimate.few == 1
    assert (estimate.scores.variance > 0).tolist() == [[True, False, False]]


def test_a_sample_that_is_not_all_graded_is_refused():
    pool = pool_of({"A": {"1": "abc"}}, depth=3)
    prels = Prels({"1": {"a": Prel(1, 1, 0.5), "b": Prel(-1, 1, 0.5)}})
    with pytest.raises(InputError, match="1 document of the sample has no grade yet: b of topic 1"):
        Sample.from_prels(pool, prels)
    assert Sample.from_prels(pool, prels, unfinished=True).judgments.n_judged == 1


def test_million_query_prels_are_read(data):
    folder = data / "mq_prels"
    if not folder.is_dir():
        pytest.skip("RTC_BAYES_DATA holds no folder mq_prels")
    prels = rb.read_prels(folder / "prels.web09.1-50.txt.gz")
    lists = {t: sorted(rows)[:30] for t, rows in prels.items()}
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("A", lists)]), depth=30)
    sample = Sample.from_prels(pool, prels)
    assert sample.judgments.n_judged == 13118
    counts = horvitz_thompson(sample)
    relevant = sum(row.relevance > 0 for rows in prels.values() for row in rows.values())
    assert counts.estimate.sum() > relevant == 4002
    assert np.isfinite(stat_ap(sample).scores.mean).all()


def test_what_is_no_probability_is_refused():
    data = rb.simulate(n_topics=2, n_systems=3, seed=1)
    pool = rb.Pool.from_runs(data.runs, depth=10)
    with pytest.raises(InputError, match="an inclusion probability is nan"):
        Sample.draw(pool, data.qrels, np.full(pool.n_documents, np.nan))
    with pytest.raises(InputError, match="the pool is a Runs; pool the runs"):
        Sample.draw(data.runs, data.qrels, [0.5])
    with pytest.raises(InputError, match="prels are a Qrels; read them"):
        Sample.from_prels(data.runs, data.qrels)
    sample = Sample.draw(pool, data.qrels, np.full(pool.n_documents, 0.5))
    with pytest.raises(InputError, match="has a probability of relevance of 9"):
        rb.model_assisted(np.full(pool.n_documents, 9.0), sample)
    frame = sample.to_prels().to_frame()
    assert [*frame] == ["topic", "docno", "relevance", "algorithm", "probability"]
    assert (frame["probability"] == 0.5).all()


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=12),
    st.floats(0, 1.2),
)
def test_equal_parts_are_equal_but_for_what_is_used_up(most, share):
    most = np.array(most)
    total = share * most.sum()
    parts = equal_parts(most, total)
    assert not np.shares_memory(parts, most)
    assert (parts <= most).all()
    assert parts.sum() == pytest.approx(min(total, most.sum()))
    rest = parts[parts < most]
    assert np.ptp(rest) < 1e-9 if len(rest) else True
    assert (parts[parts == most] <= rest.max(initial=np.inf if not len(rest) else 0) + 1e-9).all()
