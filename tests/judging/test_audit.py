"""An audit: how often it errs if the model is right, and what it sees if not."""

import json

import numpy as np
import pandas as pd
import pytest
from pools import POOL_ALONE, random_pool

import rtc_bayes as rb
from rtc_bayes import Estimand, InputError, Judgments, Pool, Qrels, Relevance, Sample
from rtc_bayes.errors import CollectionWarning
from rtc_bayes.judging import Audit, audit, audit_documents, audit_order
from rtc_bayes.judging.audit_estimates import FEWEST
from rtc_bayes.judging.audit_grades import with_grades, without_audit
from rtc_bayes.measures.sampling import judged_by

RUNS = 70
SHARE = 0.2


@pytest.fixture(scope="module")
def pool():
    rng = np.random.default_rng(4)
    return random_pool(rng, systems=4, topics=12, documents=30, longest=20)


def drawn_by(pool, draws, rng):
    """Draw probabilities: the pool, and each topic, has few or many relevant documents."""
    topics = rng.normal(0.0, 0.6, (draws, pool.n_topics))[:, pool.topic_of]
    level = rng.normal(0.0, 0.8, (draws, 1))
    return 1.0 / (1.0 + np.exp(-(1.0 - 0.2 * pool.best_ranks + topics + level)))


@pytest.fixture(scope="module")
def probability(pool):
    return drawn_by(pool, 300, np.random.default_rng(7))


def compared(pool, values):
    return rb.compare(pool, Relevance.from_values(pool, np.atleast_2d(values)[None]), POOL_ALONE)


def labels_of(pool, draws, rng):
    """Draw labels by a model: of one draw for all topics, which has them independent."""
    return (rng.random(pool.n_documents) < rng.choice(draws)).astype(int)


def qrels_of(pool, labels):
    return Qrels(
        {
            topic: dict(
                zip(pool.docnos[pool.documents(t)], labels[pool.documents(t)].tolist(), strict=True)
            )
            for t, topic in enumerate(pool.topics)
        }
    )


def looks_of(comparison, pool, labels, seed, share=SHARE):
    """Yield the audit at every sixth of its judgments."""
    prels = audit_documents(pool, share, qrels_of(pool, labels), seed=seed)
    sample = Sample.from_prels(pool, prels)
    order = audit_order(sample, seed=seed)
    look = None
    for count in np.linspace(0, len(order.documents), 7).astype(int)[1:]:
        part = Sample(sample.judgments.keep(order.documents[:count]), sample.probability)
        look = audit(comparison, part, after=look, seed=seed)
        yield look


def whole_audit(comparison, pool, labels, seed):
    """Audit all that is drawn in one look, which says what the last of many does."""
    prels = audit_documents(pool, SHARE, qrels_of(pool, labels), seed=seed)
    return audit(comparison, Sample.from_prels(pool, prels), seed=seed)


def truth_of(pool, labels):
    scores = rb.moments(pool, labels.astype(float), pairs="none").mean_expected[0]
    return np.concatenate([[labels.sum()], scores])


def held(looks, truth):
    """Whether the limits of every look, where there are any, hold the truth."""
    return np.all([~((look.low > truth) | (truth > look.high)) for look in looks], axis=0)


@pytest.fixture(scope="module")
def of_a_right_model(pool, probability):
    """Return the last look of every run by a right model, and whether every look was right.

    The truth is another draw of the same law than those that are audited.
    """
    rng, comparison = np.random.default_rng(11), compared(pool, probability)
    looks, inside = [], []
    for seed in range(RUNS):
        labels = labels_of(pool, drawn_by(pool, 1, rng), rng)
        every = list(looks_of(comparison, pool, labels, seed))
        looks.append(every[-1])
        inside.append(held(every, truth_of(pool, labels)))
    return looks, np.array(inside)


@pytest.mark.slow
def test_a_right_model_raises_no_alarm_at_any_look(of_a_right_model):
    """Ville's inequality, at the level of an alarm and at lower ones."""
    looks, _ = of_a_right_model
    most = np.array([max(e for _, e in look.looks) for look in looks])
    for level in (2.0, 5.0, 20.0):
        bound = 1.0 / level
        error = np.sqrt(bound * (1.0 - bound) / RUNS)
        assert (most >= level).mean() <= bound + 3.0 * error
    assert [look.alarm for look in looks] == (most >= 20.0).tolist()
    # evidence is not flat: it would then hold of anything
    assert most.max() > 2.0
    assert np.median([look.e_value for look in looks]) < 1.0


@pytest.mark.slow
def test_the_confidence_sequences_hold_the_truth_at_all_looks(of_a_right_model):
    looks, inside = of_a_right_model
    error = np.sqrt(0.05 * 0.95 / RUNS)
    assert (inside.mean(axis=0) >= 0.95 - 3.0 * error).all()
    # limits are not so wide that they would hold anything
    assert np.mean([look.high - look.estimate for look in looks], axis=0)[1:].max() < 0.35


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [lambda ranks: 0.9 / ranks**2.0, lambda ranks: np.full(len(ranks), 0.5)],
    ids=["by rank", "alike"],
)
def test_limits_hold_the_truth_whatever_the_model(wrong):
    """Of one collection, by the design alone: documents are drawn anew, labels are the same.

    About the model as it is, limits of the first held at all looks for 0.07 of systems and audits.
    """
    runs, simulated = 40, rb.simulate(n_topics=30, n_systems=6, seed=5)
    pool = Pool.from_runs(simulated.runs, depth=20)
    labels = judged_by(pool, simulated.qrels, np.arange(pool.n_documents), 1).labels.astype(int)
    inside = []
    for seed in range(runs):
        looks = looks_of(compared(pool, wrong(pool.best_ranks)), pool, labels, seed, share=0.08)
        inside.append(held(list(looks), truth_of(pool, labels)))
    error = np.sqrt(0.05 * 0.95 / runs)
    assert (np.mean(inside, axis=0) >= 0.95 - 3.0 * error).all()


def test_limits_are_stated_from_enough_documents_on(pool, probability):
    labels = labels_of(pool, probability, np.random.default_rng(2))
    for look in looks_of(compared(pool, probability), pool, labels, seed=9):
        few = look.judged < FEWEST
        assert np.isnan(look.low).all() == np.isnan(look.high).all() == few
        assert np.isfinite(look.estimate).all()
        assert look.to_frame()["agrees"].isna().all() == few
        assert Audit.from_dict(json.loads(json.dumps(look.to_dict()))).to_dict() == look.to_dict()


def test_the_estimates_are_right_on_average(pool, probability):
    """The truth is another draw of the model's law: against it, errors average 0."""
    rng, comparison, runs = np.random.default_rng(11), compared(pool, probability), 40
    errors = []
    for seed in range(runs):
        labels = labels_of(pool, drawn_by(pool, 1, rng), rng)
        look = whole_audit(comparison, pool, labels, seed)
        errors.append(look.estimate - truth_of(pool, labels))
    error = np.std(errors, axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(np.mean(errors, axis=0)) <= 3.5 * error).all()


@pytest.mark.parametrize(
    ("wrong", "power", "what"),
    [
        (lambda p: 0.5 * p, 0.8, "relevant documents"),
        (lambda p: 1.0 / (1.0 + ((1.0 - p) / p) ** 4.0), 0.8, "sharpness"),
    ],
    ids=["too low", "too sure"],
)
def test_a_wrong_model_raises_an_alarm(pool, probability, wrong, power, what):
    """Labels are drawn from other probabilities than the model's; its first draw is the truth."""
    rng, comparison = np.random.default_rng(5), compared(pool, wrong(probability[0]))
    last = [
        whole_audit(comparison, pool, labels_of(pool, probability[:1], rng), seed)
        for seed in range(15)
    ]
    assert np.mean([look.alarm for look in last]) >= power
    average = {
        name: np.mean([np.log(look.evidence[name]) for look in last]) for name in last[0].evidence
    }
    assert max(average, key=average.__getitem__) == what
    assert last[0].verdict.startswith("Alarm")


def test_the_estimate_is_right_whatever_the_model_says(pool, probability):
    """Precision is linear: over many samples the estimate is the truth, the model's is far off."""
    rng = np.random.default_rng(3)
    labels = labels_of(pool, probability, rng)
    wrong = Relevance.from_values(pool, rng.uniform(0.1, 0.9, pool.n_documents))
    comparison = rb.compare(pool, wrong, rb.Estimand("P@10", scope="pool"))
    truth = rb.moments(pool, labels.astype(float), measure="P@10", pairs="none").mean_expected[0]
    estimates = []
    for seed in range(150):
        estimates.append(whole_audit(comparison, pool, labels, seed).estimate)
    error = np.std(estimates, axis=0, ddof=1) / np.sqrt(len(estimates))
    expected = np.concatenate([[labels.sum()], truth])
    assert (np.abs(np.mean(estimates, axis=0) - expected) <= 3.5 * error).all()
    assert np.abs(comparison.expected - truth).max() > 10 * error[1:].max()


def test_all_judged_leaves_no_doubt(pool, probability):
    """Of a linear measure, where every document is sure to be drawn."""
    labels = labels_of(pool, probability, np.random.default_rng(1))
    rel = Relevance.from_values(pool, probability[None])
    comparison = rb.compare(pool, rel, rb.Estimand("P@10", scope="pool"))
    prels = audit_documents(pool, 1.0, qrels_of(pool, labels), sampling="uniform")
    look = audit(comparison, Sample.from_prels(pool, prels))
    truth = rb.moments(pool, labels.astype(float), measure="P@10", pairs="none").mean_expected[0]
    assert look.judged == pool.n_documents
    np.testing.assert_allclose(look.estimate[1:], truth, atol=0.01)
    assert (look.high - look.low)[1:].max() < 0.05


def test_all_judged_gives_the_true_score_of_every_measure(pool, probability):
    """Average precision, and a model that is far off."""
    labels = labels_of(pool, probability, np.random.default_rng(1))
    prels = audit_documents(pool, 1.0, qrels_of(pool, labels), sampling="uniform")
    look = audit(compared(pool, probability[0] ** 3), Sample.from_prels(pool, prels))
    np.testing.assert_allclose(look.estimate, truth_of(pool, labels), rtol=0.02)


def test_looks_by_one_model_add_up(pool, probability):
    """In one look or in six, of one model, evidence and estimates are the same."""
    comparison = compared(pool, probability)
    labels = labels_of(pool, probability, np.random.default_rng(2))
    *_, last = looks_of(comparison, pool, labels, seed=9)
    once = whole_audit(comparison, pool, labels, seed=9)
    assert once.e_value == pytest.approx(last.e_value)
    np.testing.assert_allclose(once.estimate, last.estimate)
    np.testing.assert_allclose(once.low, last.low)
    assert len(last.looks) == 6
    assert len(once.looks) == 1


def test_a_look_goes_on_from_what_was_written(pool, probability):
    comparison = compared(pool, probability)
    labels = labels_of(pool, probability, np.random.default_rng(2))
    looks = list(looks_of(comparison, pool, labels, seed=9))
    prels = audit_documents(pool, SHARE, qrels_of(pool, labels), seed=9)
    sample = Sample.from_prels(pool, prels)
    read = Audit.from_dict(json.loads(json.dumps(looks[2].to_dict())))
    assert read.to_dict() == looks[2].to_dict()
    here, there = (audit(comparison, sample, after=each, seed=9) for each in (looks[2], read))
    assert here.to_dict() == there.to_dict()
    of_before = {"alpha" if key == "level" else key: of for key, of in read.to_dict().items()}
    assert Audit.from_dict(of_before).to_dict() == read.to_dict()
    with pytest.raises(InputError, match="this is no audit of this version"):
        Audit.from_dict({key: of for key, of in read.to_dict().items() if key != "level"})


def test_documents_come_in_the_order_of_their_permanent_numbers(pool):
    """A share's documents are among those of a larger one, and what waits ends the look."""
    small, large = (audit_documents(pool, share, seed=3) for share in (0.1, 0.3))
    assert all(docno in large[topic] for topic, rows in small.items() for docno in rows)
    sample = Sample.from_prels(pool, large, unfinished=True)
    order = audit_order(sample, seed=3)
    assert not order.judged.any()
    assert (np.diff(order.time) >= 0).all()
    judged = order.documents[[0, 2]]
    part = Sample(Judgments.from_labels(pool, judged, [1, 0]), sample.probability)
    again = audit_order(part, seed=3)
    assert again.next[0] == order.documents[1]
    assert again.end == order.time[1]
    look = audit(compared(pool, np.full(pool.n_documents, 0.3)), part, seed=3)
    assert (look.judged, look.drawn) == (1, len(order.documents))
    # the third is judged before its turn, which is the second's
    topic, docno = pool.topics[pool.topic_of[order.documents[1]]], pool.docnos[order.documents[1]]
    assert (look.aside, look.next) == (1, (topic, docno))
    assert "1 more is judged but left aside" in look.verdict
    assert f"document {docno} of topic {topic}: judge it next" in look.verdict
    none = Judgments.from_labels(pool, order.documents, np.zeros(len(order.documents)))
    done = audit(
        compared(pool, np.full(pool.n_documents, 0.3)), Sample(none, sample.probability), seed=3
    )
    assert (done.aside, done.next) == (0, None)
    assert "aside" not in done.verdict
    assert "next" not in done.verdict


@pytest.mark.parametrize("measure", ["AP", "DCG@5"])
def test_limits_lie_in_the_range_of_the_measure(pool, measure):
    """All first documents are relevant: limits that are not cut pass what a list can score."""
    flat = Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    comparison = rb.compare(pool, flat, rb.Estimand(measure, scope="pool"))
    prels = audit_documents(pool, SHARE, qrels_of(pool, np.ones(pool.n_documents, int)), seed=3)
    sample = Sample.from_prels(pool, prels)
    look = audit(comparison, sample, seed=3)
    most = 1.0 if measure == "AP" else (1.0 / np.log2(np.arange(2, 7))).sum()
    assert look.highest[1:] == pytest.approx(most)
    assert look.highest[0] == pool.n_documents
    for values in (look.estimate, look.low, look.high):
        assert ((values >= 0.0) & (values <= look.highest)).all()
    assert (look.high == look.highest).any()


def test_too_few_to_tell_is_where_no_interval_would_disagree(pool, probability):
    """By trying: the model's interval at every place of the range, against the limits."""
    rng, comparison = np.random.default_rng(2), compared(pool, probability)
    seen = set()
    for look in looks_of(comparison, pool, labels_of(pool, probability, rng), seed=5):
        agrees = look.to_frame()["agrees"]
        for row, low, high, sd, most in zip(
            agrees, look.low, look.high, look.sd, look.highest, strict=True
        ):
            middle = np.linspace(0.0, most, 201)
            apart = (middle + 1.96 * sd < low) | (middle - 1.96 * sd > high)
            assert apart.any() == (row is not pd.NA)
            seen.add(bool(apart.any()))
        written = look.to_dict()["quantities"]
        assert [row["agrees"] for row in written] == [None if a is pd.NA else a for a in agrees]
    assert seen == {False, True}


def test_judgments_of_the_audit_are_told_from_the_models(pool, probability):
    comparison = compared(pool, probability)
    labels = qrels_of(pool, np.ones(pool.n_documents, int))
    sample = Sample.from_prels(pool, audit_documents(pool, SHARE, labels, seed=1))
    look = audit(comparison, sample, seed=1)
    others = np.flatnonzero(~sample.judgments.judged)[:7]
    chosen = Judgments.from_labels(pool, others, [0] * 7)
    for given in (chosen, chosen.merge(sample.judgments)):
        used, every = look.beside(given)
        assert sorted(used.order) == others.tolist()
        assert every.n_judged == 7 + sample.judgments.n_judged
    nonrelevant = Judgments.from_labels(pool, sample.judgments.order[:1], [0])
    with pytest.raises(InputError, match="1 document is judged differently"):
        look.beside(nonrelevant)


def test_grades_come_from_qrels_where_the_list_has_none(pool):
    prels = audit_documents(pool, 0.3, seed=3)
    topic = pool.topics[0]
    docno = next(iter(prels[topic]))
    filled = with_grades(prels, Qrels({topic: {docno: 2, "another": 1}}))
    assert filled[topic][docno].relevance == 2
    assert filled.n_values == prels.n_values
    assert sum(row.relevance >= 0 for rows in filled.values() for row in rows.values()) == 1
    assert with_grades(filled, Qrels({topic: {docno: -1}})) == filled
    assert filled.relevance_level is None
    with pytest.raises(InputError, match=rf"1 document .*{docno} of .*\(audit: 2, qrels: 1\)"):
        with_grades(filled, Qrels({topic: {docno: 1}}))


def test_the_judgments_are_split_into_what_a_model_sees_and_what_checks_it(pool):
    every = qrels_of(pool, np.arange(pool.n_documents) % 3)
    drawn = audit_documents(pool, 0.3, seed=3)
    seen, sample = rb.split_audit(pool, drawn, every, relevance_level=2)
    assert seen == without_audit(every, drawn)
    judgments = sample.judgments
    assert judgments.n_judged == drawn.n_values == every.n_values - seen.n_values
    assert judgments.relevance_level == 2
    assert judgments.relevant.sum() == sum(
        every[topic][docno] == 2 for topic, rows in drawn.items() for docno in rows
    )
    nothing = rb.split_audit(pool, drawn)
    assert (nothing.seen.n_values, nothing.sample.judgments.n_judged) == (0, 0)
    order = audit_order(nothing.sample, seed=3)
    left = order.to_frame()
    assert [*zip(left["topic"], left["docno"], strict=True)] == [
        pool.pair_of(document) for document in order.documents
    ]
    assert left["probability"].tolist() == [
        drawn[topic][docno].probability
        for topic, docno in zip(left["topic"], left["docno"], strict=True)
    ]
    assert audit_order(sample, seed=3).to_frame().empty


@pytest.mark.parametrize("name", ["with_grades", "without_audit"])
def test_names_of_before_are_told_the_new_one(name):
    with pytest.raises(InputError, match=rf"has no {name}; use rtc_bayes\.split_audit$"):
        getattr(rb.judging, name)


def test_the_relevance_level_stays_with_the_grades(pool):
    every = qrels_of(pool, np.arange(pool.n_documents) % 3)
    qrels = Qrels(every, relevance_level=2)
    filled = with_grades(audit_documents(pool, 1.0), qrels)
    for prels in (filled, audit_documents(pool, 1.0, qrels)):
        assert prels.relevance_level == 2
        relevant = rb.horvitz_thompson(Sample.from_prels(pool, prels)).estimate
        assert relevant.sum() == pytest.approx(every.counts(2)[1])
    assert with_grades(filled, Qrels(every, relevance_level=1)).relevance_level == 2


def test_a_document_that_nobody_can_judge_is_left_out_of_an_audit(pool, probability):
    """It was not judged, and the audit waited for it for good."""
    comparison, prels = compared(pool, probability), audit_documents(pool, SHARE, seed=3)
    first = audit_order(Sample.from_prels(pool, prels, unfinished=True), seed=3).documents[0]
    topic, docno = pool.topics[pool.topic_of[first]], str(pool.docnos[first])
    table = {
        t: dict(grades) for t, grades in qrels_of(pool, np.arange(len(pool.docnos)) % 2).items()
    }
    table[topic][docno] = -1
    with pytest.warns(CollectionWarning, match="1 document of a negative grade, which"):
        filled = with_grades(prels, Qrels(table))
    with pytest.warns(CollectionWarning, match="1 document of a negative grade, which"):
        assert audit_documents(pool, SHARE, Qrels(table), seed=3) == filled
    assert filled.n_values == prels.n_values - 1
    look = audit(comparison, Sample.from_prels(pool, filled), seed=3)
    assert (look.judged, look.drawn, look.next) == (filled.n_values, filled.n_values, None)


def test_the_share_is_drawn_where_small_topics_are_used_up():
    runs = {"1": [f"x{n}" for n in range(5)], "2": [f"y{n}" for n in range(45)]}
    pool = Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", runs)]))
    for share, sampling in ((0.6, None), (0.6, "rank"), (0.6, "uniform"), (1.0, None)):
        drawn = [
            audit_documents(pool, share, sampling=sampling, seed=seed).n_values
            for seed in range(60)
        ]
        error = np.std(drawn, ddof=1) / np.sqrt(len(drawn))
        assert np.mean(drawn) == pytest.approx(share * pool.n_documents, abs=3.0 * error + 1e-9)


def test_a_fit_gets_only_what_is_not_of_the_audit(pool):
    every = qrels_of(pool, np.ones(pool.n_documents, int))
    prels = audit_documents(pool, 0.3, seed=3)
    left = without_audit(every, prels)
    assert left.n_values == every.n_values - prels.n_values
    assert not any(docno in left[topic] for topic, rows in prels.items() for docno in rows)


def test_a_model_that_saw_the_labels_is_refused(pool):
    """It would bear itself out: by the fit's judgments, however its pool numbers documents."""
    every = qrels_of(pool, (np.arange(pool.n_documents) % 3 == 0).astype(int))
    drawn = audit_documents(pool, 0.3, seed=3)
    seen, sample = rb.split_audit(pool, drawn, every)
    more = pool.with_documents({pool.topics[0]: ["a0"]})
    topic, docno = sample.judgments.pool.pair_of(sample.judgments.order[0])
    one = rb.Qrels(
        {t: dict(of) | ({docno: every[t][docno]} if t == topic else {}) for t, of in seen.items()}
    )
    for judged, count in ((every, sample.judgments.n_judged), (one, 1)):
        for over in (pool, more):
            fit = rb.fit(over, Judgments.from_qrels(over, judged), model="hierarchical:map")
            comparison = rb.compare(fit.judgments.pool, fit, POOL_ALONE)
            said = rf"seen {count} of .*, so they cannot check it; .* rb\.split_audit leaves"
            with pytest.raises(InputError, match=said):
                audit(comparison, sample, seed=3)
    fit = rb.fit(pool, Judgments.from_qrels(pool, seen), model="hierarchical:map")
    assert audit(rb.compare(pool, fit, POOL_ALONE), sample, seed=3).judged == drawn.n_values


def test_a_sample_of_another_pool_keeps_what_was_drawn(pool, probability):
    """Documents that its pool lacks are drawn all the same, judged or not."""
    drawn = audit_documents(pool, 0.3, seed=3)
    first = audit_order(rb.split_audit(pool, drawn).sample, seed=3).documents[:20]
    grades = {topic: {} for topic in pool.topics}
    for topic, docno in map(pool.pair_of, first):
        grades[topic][docno] = 1
    comparison = compared(pool, probability)
    shallow = pool.select(pool.systems[:1])
    here, there = (
        audit(comparison, rb.split_audit(of, drawn, rb.Qrels(grades)).sample, seed=3)
        for of in (pool, shallow)
    )
    assert here.to_dict() == there.to_dict()
    assert here.judged == 20
    few = rb.split_audit(pool, drawn, rb.Qrels(grades)).sample.select_topics(pool.topics[:2])
    with pytest.raises(InputError, match="sample's pool lacks 10 topics of the comparison"):
        audit(comparison, few, seed=3)


def test_bad_input_is_refused(pool, probability):
    comparison = compared(pool, probability)
    prels = audit_documents(pool, SHARE, qrels_of(pool, np.ones(pool.n_documents, int)), seed=1)
    sample = Sample.from_prels(pool, prels)
    with pytest.raises(InputError, match="was not drawn by seed 2"):
        audit(comparison, sample, seed=2)
    with pytest.raises(InputError, match="share of an audit"):
        audit_documents(pool, 0.0)
    with pytest.raises(InputError, match=r"level is 1\.0"):
        audit(comparison, sample, level=1.0, seed=1)
    first = audit(comparison, sample, seed=1)
    with pytest.raises(InputError, match=r"the look before had level 0\.05, this one has 0\.1"):
        audit(comparison, sample, after=first, level=0.1, seed=1)
    fitted = rb.compare(pool, rb.fit(pool, Judgments.none(pool), model="uniform"), POOL_ALONE)
    with pytest.raises(InputError, match="had model unknown, this one has uniform"):
        audit(fitted, sample, after=first, seed=1)
    with pytest.raises(InputError, match=r"a probability of 0 or 1, so .* rb\.split_audit leaves"):
        audit(compared(pool, np.zeros(pool.n_documents)), sample, seed=1)
    with pytest.warns(CollectionWarning, match="level 2 is above the highest grade"):
        other = Sample.from_prels(pool, prels, relevance_level=2)
    with pytest.raises(InputError, match="from 1 on for relevant, this one from 2 on"):
        audit(comparison, other, after=first, seed=1)
    with pytest.raises(InputError, match="from 1 on for relevant, and the sample those from 2 on"):
        audit(fitted, other, seed=1)
    not_drawn = np.flatnonzero(np.isnan(sample.probability))[:1]
    graded = Judgments.none(pool).with_labels(not_drawn, [1.0], [2.0])
    by_rel = rb.compare(
        pool, rb.fit(pool, graded, model="uniform"), Estimand("AP(rel=2)", scope="pool")
    )
    with pytest.raises(InputError, match=r"by AP\(rel=2\), takes grades from 2 on for relevant"):
        audit(by_rel, sample, seed=1)
    assert audit(by_rel, other, seed=1).relevance_level == 2
    corrected = sample.judgments.labels.copy()
    corrected[sample.judgments.order[0]] = 0.0
    order = sample.judgments.order
    again = Sample(Judgments.from_labels(pool, order, corrected[order]), sample.probability)
    with pytest.raises(
        InputError, match=r"1 judgment of the audit that .* for example of document"
    ):
        audit(comparison, again, after=first, seed=1)
    assert audit(comparison, sample, after=first, seed=1).e_value == pytest.approx(first.e_value)
    none = Sample(Judgments.none(pool), sample.probability)
    with pytest.raises(InputError, match="more judgments"):
        audit(comparison, none, after=first, seed=1)
    shallow = Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"0": ["d0001"]})]))
    with pytest.raises(InputError, match="no probability"):
        audit(compared(shallow, [0.5]), sample, seed=1)


def test_nothing_judged_says_nothing(pool, probability):
    comparison = compared(pool, probability)
    sample = Sample.from_prels(pool, audit_documents(pool, SHARE), unfinished=True)
    look = audit(comparison, sample)
    assert (look.judged, look.alarm, look.e_value) == (0, False, 1.0)
    assert np.isnan(look.estimate).all()
    assert look.to_frame()["agrees"].isna().all()
