"""The tests of reusability: what they find, what they must not, and what they refuse."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import f_oneway, rankdata

import rtc_bayes as rb
from rtc_bayes.reuse.held import HeldScores
from rtc_bayes.reuse.loss import losses, permuted_losses
from rtc_bayes.reuse.ordering import hotelling, rmse
from rtc_bayes.reuse.permutation import holm, permutation_p, permuted_statistics, statistics
from tests.reuse.scores import drawn, held_scores, lowered, matrix_of


def experiment(seed: int, loss: float = 0.0, **words: Any) -> rb.Reusability:
    scores, groups = drawn(np.random.default_rng(seed))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle", seed=seed)
    return rb.reusability(lowered(scores, groups, design, loss), groups, design, seed=seed, **words)


def test_the_loss_is_what_its_words_say() -> None:
    """Dummy regression on contributors' scores, by another solver."""
    held = held_scores(seed=4)
    rows, targets = [], []
    for s, t in zip(*np.nonzero(held.contributes), strict=True):
        rows.append(np.concatenate([np.eye(12)[s], np.eye(24)[t]]))
        targets.append(held.scores[s, t])
    fitted = np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0]
    short = fitted[:12, None] + fitted[12:] - held.scores
    expected = [short[s, ~held.contributes[s]].mean() for s in range(12)]
    found = losses(held)
    assert found.by_system == pytest.approx(expected)
    assert found.overall == pytest.approx(np.mean(expected))
    assert found.by_group == pytest.approx(np.reshape(expected, (4, 3)).mean(axis=1))


def test_what_a_design_has_and_scores_lack_is_said() -> None:
    """A group, or a topic before the last scored: later ones may be without judgments yet."""
    scores, groups = drawn(np.random.default_rng(3))
    topics = scores.topics
    design = rb.hold_out(groups, topics, 2, on_remainder="cycle", seed=3)

    def found(kept: list[str], systems: slice = slice(None)) -> rb.Reusability:
        columns = [topics.index(topic) for topic in kept]
        part = rb.ScoreMatrix(
            scores.mean[systems][:, columns],
            scores.variance[systems][:, columns],
            scores.systems[systems],
            tuple(kept),
            "AP",
        )
        return rb.reusability(part, groups, design, permutations=59)

    order = list(design.topics)
    found(order[:-2])
    with pytest.warns(rb.CollectionWarning, match=r"1 topic of it \(.*\) has no scores, and later"):
        found(order[:3] + order[4:])
    group = groups[scores.systems[0]]
    others = sum(name != group for name in groups.values())
    with pytest.warns(rb.CollectionWarning, match=rf"1 group of it \({group}\) has no scores$"):
        found(order, slice(len(groups) - others, None))


def test_scores_estimated_from_a_sample_will_do() -> None:
    data = rb.simulate(n_topics=24, n_systems=12, seed=2)
    groups = {system: system[:6] for system in data.runs.systems}
    design = rb.hold_out(groups, data.runs.topics, held=2, seed=1)
    pool = rb.Pool.from_runs(data.runs, depth=30)
    sample = rb.Sample.draw(pool, data.qrels, rb.inclusion_probabilities(pool, 30), seed=1)
    scores = rb.stat_ap(sample).scores
    found = rb.reusability(scores, groups, design, permutations=59)
    held = HeldScores.under(scores, groups, design)
    assert found.loss == pytest.approx(losses(held).overall)
    assert found.measure == "statAP"


def test_losses_of_many_orders_are_those_of_each() -> None:
    held = held_scores(seed=9)
    rng = np.random.default_rng(1)
    orders = np.array([rng.permutation(24) for _ in range(6)])
    overall, by_group = permuted_losses(held, orders)
    one_by_one = [losses(held.permuted(order)) for order in orders]
    assert overall == pytest.approx([each.overall for each in one_by_one])
    assert by_group == pytest.approx(np.array([each.by_group for each in one_by_one]))


def test_a_loss_moves_the_statistic_and_none_leaves_it_centred() -> None:
    scores, groups = drawn(np.random.default_rng(0))
    at = []
    for seed in range(60):
        design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle", seed=seed)
        at.append(
            [
                losses(HeldScores.under(lowered(scores, groups, design, loss), groups, design))
                for loss in (0.0, 0.1, 0.2, 0.4)
            ]
        )
    overall = np.array([[each.overall for each in row] for row in at])
    assert (np.diff(overall, axis=1) > 0).all()
    none = overall[:, 0]
    assert abs(none.mean()) < 4 * none.std(ddof=1) / np.sqrt(len(none))


@given(st.integers(0, 2**32 - 1))
def test_harder_topics_and_better_systems_are_no_loss(seed: int) -> None:
    """Adding a number to a topic or to a system changes no loss."""
    rng = np.random.default_rng(seed)
    held = held_scores(seed=seed % 100)
    shifted = held.scores + rng.normal(size=(12, 1)) + rng.normal(size=(1, 24))
    other = HeldScores(
        shifted, held.contributes, held.group, held.systems, held.topics, held.groups
    )
    assert losses(other).by_system == pytest.approx(losses(held).by_system, abs=1e-9)


def test_the_loss_is_found_where_the_chi_square_is_blind() -> None:
    found = [experiment(seed, 0.25, permutations=199) for seed in range(12)]
    assert sum(each.loss_p <= 0.05 for each in found) >= 11
    squares = [each.comparisons()["p_permutation"].min() for each in found]
    assert sum(p <= 0.05 for p in squares) < 8
    assert all(each.reusable is False for each in found if each.loss_p <= 0.01)
    assert f"Systems score {found[0].loss:.3f} lower (" in found[0].verdict()


@pytest.mark.parametrize(("sign", "word"), [(1.0, "higher"), (-1.0, "lower")])
def test_a_gain_does_not_read_as_a_loss(sign: float, word: str) -> None:
    """It stood there as "No loss was found: -0.037 (-18.9% of the mean score)"."""
    for seed in range(20):
        found = experiment(seed, permutations=199)
        if found.loss_p > 0.05 and found.loss * sign < 0.0:
            break
    share = abs(found.loss) / found.mean_score
    said = f"scores of held-out groups are {abs(found.loss):.3f} {word} ({share:.1%} of the mean"
    assert f"No loss was found: {said} score), p {found.loss_p:.3f}." in found.verdict()


@pytest.mark.slow
def test_nothing_lost_is_seldom_rejected() -> None:
    """At most .08 over 200 repetitions, of fresh scores and designs."""
    p = []
    for seed in range(200):
        found = experiment(seed, permutations=199)
        p.append([found.loss_p, *found.comparisons()["p_permutation"]])
    rejected = (np.array(p) <= 0.05).mean(axis=0)
    assert (rejected <= 0.08).all(), rejected


def test_p_values_are_ranks_among_orders() -> None:
    found = experiment(1, permutations=59)
    for p in (found.loss_p, *found.by_group()["p"], *found.comparisons()["p_permutation"]):
        assert p * 60 == pytest.approx(round(p * 60))
        assert 1 / 60 <= p <= 1
    ranks = 61 - rankdata(np.abs([found.loss, *found.permuted.loss]))[0]
    assert found.loss_p == pytest.approx(ranks / 60)
    assert permutation_p(1.0, np.array([np.nan, 1.0 + 1e-12, 0.5])) == pytest.approx(2 / 3)
    assert np.isnan(permutation_p(float("nan"), np.ones(3)))


def test_equal_scores_lose_nothing() -> None:
    scores, groups = drawn(np.random.default_rng(0))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle")
    found = rb.reusability(matrix_of(0 * scores.mean + 0.3), groups, design, permutations=59)
    assert (found.loss, found.loss_p) == (0.0, 1.0)
    assert np.isnan(found.comparisons()["tau"]).all()
    assert found.reusable is None
    assert "No pair of systems could be tested. So nothing was found" in found.verdict()
    assert "No pair of systems could be tested." in found.to_html()


def test_scores_of_some_groups_of_the_design() -> None:
    scores, groups = drawn(np.random.default_rng(1))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle")
    two = rb.ScoreMatrix(
        scores.mean[:6], scores.variance[:6], scores.systems[:6], scores.topics, "AP"
    )
    with pytest.warns(rb.CollectionWarning, match=r"2 groups of it \(g2, g3\) have no scores"):
        found = rb.reusability(two, groups, design, permutations=59)
    assert found.held.groups == ("g0", "g1")
    assert np.isfinite(found.permuted.loss).all()


def test_orders_without_a_loss_are_left_out_and_counted() -> None:
    """Where scores are missing, contributors do not hang together in every order of topics."""
    scores, groups = drawn(np.random.default_rng(0), systems=6, groups=3, topics=9)
    design = rb.hold_out(groups, scores.topics, 2, baseline_topics=3)
    values = scores.mean.copy()
    values[:2, :4] = np.nan
    found = rb.reusability(matrix_of(values), groups, design, permutations=99)
    lost = found.permuted.loss
    left = np.isnan(lost).sum()
    assert 0 < left < 50
    assert found.loss_sd == pytest.approx(np.nanstd(lost, ddof=1))
    assert found.by_group()["sd"].to_numpy() == pytest.approx(
        np.nanstd(found.permuted.group_loss, axis=0, ddof=1)
    )
    assert np.isfinite(found.detectable_loss)
    said = f"Of 99 permutations {left} are left out"
    assert said in found.verdict()
    assert "nan" not in found.verdict()
    page = found.to_html()
    assert said in page
    assert f"by {99 - left} permutations" in page


def test_what_is_said_to_be_detectable_is_found() -> None:
    """A loss of the size said is found in about .8 of experiments."""
    scores, groups = drawn(np.random.default_rng(2), topics=60)
    rejected = []
    for seed in range(60):
        design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle", seed=seed)
        held = HeldScores.under(scores, groups, design)
        rng = np.random.default_rng(seed)
        orders = np.array([rng.permutation(60) for _ in range(199)])
        sd = permuted_losses(held, orders)[0].std(ddof=1)
        lower = scores.mean - np.where(held.contributes, 0.0, 2.8016 * sd)
        after = HeldScores.under(matrix_of(lower, scores.topics), groups, design)
        p = permutation_p(losses(after).overall, permuted_losses(after, orders)[0])
        rejected.append(p <= 0.05)
    # a standard error of .05; the loss itself widens the permuted distribution a little
    assert 0.55 < np.mean(rejected) < 0.95


def test_strata_keep_topics_with_their_own() -> None:
    held = held_scores(seed=5)
    both = np.array(["first" if n < 12 else "last" for n in range(24)])
    strata = dict(zip(held.topics, both, strict=True))
    # within strata of one topic nothing can move
    alone = permuted_statistics(held, 5, 0, strata={topic: topic for topic in held.topics})
    assert alone.loss == pytest.approx(np.full(5, losses(held).overall))
    moved = permuted_statistics(held, 5, 0, strata=strata)
    assert np.ptp(moved.loss) > 0
    with pytest.raises(rb.InputError, match="strata have no topic"):
        permuted_statistics(held, 5, 0, strata={"1": "a"})


def test_names_do_not_matter() -> None:
    held = held_scores(seed=6)
    order = np.random.default_rng(0).permutation(12)
    other = HeldScores(
        held.scores[order],
        held.contributes[order],
        held.group[order],
        held.systems,
        held.topics,
        held.groups,
    )
    one, two = statistics(held), statistics(other)
    assert two.chi_square == pytest.approx(one.chi_square)
    assert two.loss == pytest.approx(one.loss)
    assert two.group_loss == pytest.approx(one.group_loss)


def test_systems_that_were_not_evaluated_somewhere_do_not_count_there() -> None:
    scores, groups = drawn(np.random.default_rng(2))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle")
    holes = scores.mean.copy()
    holes[0, 3:6] = np.nan
    found = rb.reusability(matrix_of(holes), groups, design, permutations=59)
    assert np.isfinite(found.loss)
    whole = rb.reusability(scores, groups, design, permutations=59)
    some, every = (each.pairs("within")["baseline_topics"].sum() for each in (found, whole))
    assert some < every


def test_hotelling_of_two_runs_is_the_t_test_of_their_difference() -> None:
    held = held_scores(seed=7, systems=8)
    difference = held.scores[0] - held.scores[1]
    took = held.contributes[0]
    expected = f_oneway(difference[took], difference[~took])
    found = hotelling(held, 0)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.degrees == (1, 22)


def test_hotelling_lets_identical_runs_be() -> None:
    held = held_scores(seed=8)
    scores = held.scores.copy()
    scores[1] = scores[0]
    same = HeldScores(scores, held.contributes, held.group, held.systems, held.topics, held.groups)
    assert hotelling(same, 0).degrees[0] == 1
    all_same = HeldScores(
        np.repeat(scores[:1], 12, axis=0),
        held.contributes,
        held.group,
        held.systems,
        held.topics,
        held.groups,
    )
    assert np.isnan(hotelling(all_same, 0).p)


def test_frames_say_what_they_hold() -> None:
    found = experiment(3, 0.1, permutations=59)
    compared = found.comparisons()
    assert list(compared["comparison"]) == ["within", "between", "participant"]
    cells = [f"observed_{cell}" for cell in ("both", "baseline_only", "reuse_only", "neither")]
    assert (compared[cells].sum(axis=1) == compared["pairs"]).all()
    groups = found.by_group()
    systems = found.by_system()
    mean = systems.groupby("group")["loss"].mean()
    assert groups.set_index("group")["loss"].to_dict() == pytest.approx(mean.to_dict())
    assert found.loss == pytest.approx(systems["loss"].mean())
    here = systems[systems["group"] == "g1"]
    assert rmse(here["contributed"].to_numpy(), here["held_out"].to_numpy()) == pytest.approx(
        groups.set_index("group").loc["g1", "rmse"]
    )
    pairs = found.pairs("participant")
    agree = np.sign(pairs["baseline_difference"]) * np.sign(pairs["reuse_difference"])
    assert compared.set_index("comparison").loc["participant", "tau"] == pytest.approx(agree.mean())
    assert repr(found).startswith("Reusability(AP, 12 systems of 4 groups, 24 topics; loss ")


def test_the_same_seed_gives_the_same_page(tmp_path: Path) -> None:
    one, two = (experiment(3, permutations=59).write(tmp_path / name) for name in ("a", "b"))
    assert one.read_bytes() == two.read_bytes()
    for name in ("comparisons", "groups", "systems", "pairs_within", "pairs_participant"):
        assert (tmp_path / "a" / "tables" / f"{name}.csv").read_text().count("\n") > 1
    assert "Can systems that took no part" in one.read_text()
    assert "takes a loss for a share of a score" in one.read_text()


@pytest.mark.parametrize(("scale", "shift"), [(9.0, 0.0), (1.0, -2.0)])
def test_scores_below_0_or_above_1_have_all_but_a_posterior(
    tmp_path: Path, scale: float, shift: float
) -> None:
    # as DCG, or a cost that is taken off
    scores, groups = drawn(np.random.default_rng(3))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle", seed=3)
    other = matrix_of(scale * scores.mean + shift, scores.topics)
    found = rb.reusability(other, groups, design, permutations=59)
    as_ap = rb.reusability(scores, groups, design, permutations=59)
    assert found.loss == pytest.approx(scale * as_ap.loss)
    assert (found.loss_p, found.comparisons()["pairs"].tolist()) == (
        as_ap.loss_p,
        as_ap.comparisons()["pairs"].tolist(),
    )
    page = found.write(tmp_path).read_text()
    assert "There is no posterior of the loss: the hierarchical model needs scores from 0" in page
    names = {path.name for path in (tmp_path / "tables").glob("*.csv")}
    assert "groups.csv" in names
    assert "posterior.csv" not in names
    # a share of a mean of scores below 0 says nothing
    assert ("%" in found.verdict(), "What would be found" in page) == (shift == 0.0,) * 2
    assert found.reusable is not True or shift == 0.0
    with pytest.raises(rb.InputError, match="needs scores from 0 to 1"):
        found.posterior()


def test_a_comparison_without_pairs_has_no_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    from rtc_bayes.report import reuse_figures

    scores, groups = drawn(np.random.default_rng(3))
    design = rb.hold_out(groups, scores.topics, 1, on_remainder="cycle", seed=3)
    found = rb.reusability(scores, groups, design, permutations=59)
    shown: list[list[str]] = []
    draw = reuse_figures.pair_differences
    monkeypatch.setattr(
        reuse_figures, "pair_differences", lambda p, level: shown.append([*p]) or draw(p, level)
    )
    assert "Do comparisons come out the same?" in found.to_html()
    assert shown == [["within", "participant"]]


def test_holm_is_step_down() -> None:
    adjusted = holm(np.array([0.04, 0.01, np.nan, 0.03]))
    assert adjusted == pytest.approx([0.06, 0.03, np.nan, 0.06], nan_ok=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_never_lowers_a_p_nor_changes_an_order(p: list[float]) -> None:
    adjusted = holm(np.array(p))
    assert (adjusted >= np.array(p) - 1e-12).all()
    for a, b in pairwise(np.argsort(p, kind="stable")):
        assert adjusted[a] <= adjusted[b]


def test_too_little_is_refused() -> None:
    scores, groups = drawn(np.random.default_rng(0))
    design = rb.hold_out(groups, scores.topics, 2, on_remainder="cycle")
    with pytest.raises(rb.InputError, match="no group for s11"):
        rb.reusability(scores, {k: v for k, v in groups.items() if k != "s11"}, design)
    with pytest.raises(rb.InputError, match="of group other, which the design lacks"):
        rb.reusability(scores, {**groups, "s0": "other"}, design)
    with pytest.raises(rb.InputError, match="the design has no topic"):
        rb.reusability(matrix_of(scores.mean, tuple(f"q{n}" for n in range(24))), groups, design)
    with pytest.raises(rb.InputError, match="level is 5"):
        rb.reusability(scores, groups, design, level=5.0)
    with pytest.raises(rb.InputError, match="permutations"):
        rb.reusability(scores, groups, design, permutations=0)
    with pytest.raises(rb.InputError, match="with 58 permutations nothing can be significant"):
        rb.reusability(scores, groups, design, permutations=58)
    with pytest.raises(rb.InputError, match="all scores are 0"):
        rb.reusability(matrix_of(0 * scores.mean), groups, design)
    with pytest.raises(rb.InputError, match="scores are of 1 group"):
        rb.reusability(scores, dict.fromkeys(groups, "g0"), design)
    with pytest.raises(rb.InputError, match="there is no comparison 'all'"):
        rb.reusability(scores, groups, design, permutations=59).pairs("all")
    everyone = rb.HoldOutDesign(design.topics, design.groups, np.ones((4, 24), dtype=bool))
    with pytest.raises(rb.InputError, match="no system with scores is held out"):
        rb.reusability(scores, groups, everyone)
    mask = np.ones((4, 24), dtype=bool)
    mask[0, 0] = mask[1, 1] = False
    with pytest.raises(rb.InputError, match="no comparison has two reuse topics"):
        rb.reusability(scores, groups, rb.HoldOutDesign(scores.topics, design.groups, mask))
    alone = np.zeros((4, 24), dtype=bool)
    alone[np.arange(24) % 4, np.arange(24)] = True
    with pytest.raises(rb.InputError, match="no loss can be measured"):
        rb.reusability(scores, groups, rb.HoldOutDesign(scores.topics, design.groups, alone))
    absent = np.ones((4, 24), dtype=bool)
    absent[2] = False
    with pytest.raises(rb.InputError, match="contributes to no topic"):
        rb.reusability(scores, groups, rb.HoldOutDesign(scores.topics, design.groups, absent))


def test_judgments_of_a_design_are_those_its_contributors_bring() -> None:
    data = rb.simulate(n_topics=8, n_systems=8, seed=1)
    groups = dict(data.groups)
    design = rb.hold_out(groups, data.runs.topics, 1, on_remainder="cycle")
    kept = rb.judged_under(data.qrels, data.runs, groups, design, depth=10)
    for topic in data.runs.topics:
        pool = {
            doc
            for name, run in data.runs.items()
            if groups[name] not in design.held_out(topic)
            for doc in run.ranking(topic)[:10]
        }
        assert set(kept[topic]) == pool & set(data.qrels[topic])
        assert kept.judged_for is not None
        assert set(kept.judged_for[topic]) == set(design.contributors(topic, groups))


def test_groups_and_topics_may_be_numbers() -> None:
    scores, groups = drawn(np.random.default_rng(1), topics=24)
    names = list(dict.fromkeys(groups.values()))
    numbers: Any = {system: names.index(group) for system, group in groups.items()}
    texts = {system: str(number) for system, number in numbers.items()}
    words: Any = {"held": [2], "losses": [0.3], "repetitions": 3}
    assert rb.pilot_power(scores, numbers, 24, **words).equals(
        rb.pilot_power(scores, texts, 24, **words)
    )
    design = rb.hold_out(texts, scores.topics, 2, on_remainder="cycle")
    strata = {topic: n % 2 for n, topic in enumerate(scores.topics)}
    of_numbers: Any = {int(topic): stratum for topic, stratum in strata.items()}
    by = [
        rb.reusability(scores, texts, design, permutations=59, strata=each)
        for each in (strata, of_numbers)
    ]
    assert str(by[0]) == str(by[1])


def test_a_pilot_tells_the_power() -> None:
    scores, groups = drawn(np.random.default_rng(1), topics=60)
    table = rb.pilot_power(
        scores, groups, 40, held=[1, 2], losses=[0.0, 0.3], repetitions=40, seed=2
    )
    power = table.set_index(["held", "loss"])["power"]
    for k in (1, 2):
        assert power[k, 0.0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
        assert power[k, 0.3] > 0.9
    with pytest.raises(rb.InputError, match="scores below 0, of which no share can be lost"):
        rb.pilot_power(matrix_of(-scores.mean), groups, 40)
    with pytest.raises(rb.InputError, match="a loss is 2"):
        rb.pilot_power(scores, groups, 40, losses=[2.0])
    with pytest.raises(rb.InputError, match="the pilot has 4 groups"):
        rb.pilot_power(scores, groups, 40, n_groups=5)
    with pytest.raises(rb.InputError, match="seed is -1"):
        rb.pilot_power(scores, groups, 40, seed=-1)
