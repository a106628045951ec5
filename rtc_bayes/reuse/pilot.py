"""Plan by a pilot: what losses a hold-out design would find, by simulation from earlier scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection.hold_out import HoldOutDesign, groups_of
from rtc_bayes.errors import InputError
from rtc_bayes.measures.scores import ScoreMatrix, check_complete
from rtc_bayes.reuse.counts import Remainder
from rtc_bayes.reuse.design import hold_out
from rtc_bayes.reuse.held import HeldScores
from rtc_bayes.reuse.loss import losses as losses_of, permuted_losses
from rtc_bayes.reuse.permutation import permutation_p
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.progress import Progress, silent
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pandas as pd

_PERMUTATIONS = 199


@explains_types
@moved(baseline="write baseline_topics")
def pilot_power(
    pilot: ScoreMatrix,
    groups: Mapping[str, str],
    topics: int,
    *,
    held: Sequence[int] = (1, 2),
    losses: Sequence[float] = (0.05, 0.1, 0.2),
    baseline_topics: int = 0,
    on_remainder: Remainder = "baseline",
    n_groups: int | None = None,
    repetitions: int = 100,
    level: float = 0.05,
    seed: int = 0,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Simulate hold-out experiments on topics drawn from a pilot, and count what they find.

    Each repetition draws topics from those of the pilot, with replacement, plans a design, lowers
    the scores of held-out systems by a share, and tests the loss by 199 permutations of topics, as
    :func:`rtc_bayes.reusability` does. Unlike the power of one pair's t-test, which
    :func:`rtc_bayes.design_table` has, it counts all systems together, as alike as they are.

    Parameters
    ----------
    pilot : ScoreMatrix
        Scores on earlier topics, complete and at least 0: of systems as those to come may be.
    groups : mapping of str to str
        Group of each system.
    topics : int, at least 2
        N, topics of the experiment that is planned.
    held : sequence of int
        Numbers of groups held out of a topic.
    losses : sequence of float, in [0, 1]
        Shares that held-out systems lose. 0 shows how often the test is wrong.
    baseline_topics, on_remainder
        As of :func:`rtc_bayes.hold_out`.
    n_groups : int, optional
        Draw so many of the pilot's groups each time. Default: all.
    repetitions : int, at least 1
    level : float, in (0, 1)
    seed : int, at least 0
    progress : callable
        Called as ``progress("repetitions", done, total)``.

    Returns
    -------
    DataFrame
        held, loss, power, and its standard error.

    Raises
    ------
    InputError
        A system without a group or without a score, a score below 0, too few topics, or a number
        out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> names = tuple(f"run{n}" for n in range(8))
    >>> scores = rng.beta(2, 5, size=(8, 30))
    >>> pilot = ScoreMatrix(scores, 0 * scores, names, tuple(map(str, range(30))), "AP")
    >>> groups = {name: f"site{n // 2}" for n, name in enumerate(names)}
    >>> pilot_power(pilot, groups, 60, held=[2], losses=[0.3], repetitions=10)
       held  loss  power   se
    0     2   0.3    1.0  0.0
    """
    import pandas as pd

    check_complete(pilot, pilot.systems, "give a pilot of topics on which all systems have scores")
    if (pilot.mean < 0.0).any():
        raise InputError(
            "the pilot has scores below 0, of which no share can be lost",
            remedy="give a measure whose scores are at least 0",
        )
    if not 1 / (_PERMUTATIONS + 1) <= level < 1.0:
        raise InputError(f"level is {level}", remedy="give one from 0.005 to 1, as 0.05")
    if bad := [loss for loss in losses if not 0.0 <= loss <= 1.0]:
        raise InputError(f"a loss is {bad[0]}", remedy="give shares of the score, from 0 to 1")
    number = whole_number("repetitions", repetitions, least=1)
    topics = whole_number("topics", topics, least=2)
    groups = dict(zip(pilot.systems, groups_of(pilot.systems, groups), strict=True))
    every = tuple(dict.fromkeys(groups.values()))
    size = whole_number("n_groups", len(every) if n_groups is None else n_groups, least=2)
    if size > len(every):
        raise InputError(
            f"the pilot has {counted(len(every), 'group')}, not {size}", remedy="draw fewer groups"
        )
    seed = whole_number("seed", seed)
    rows, done, total = [], 0, len(held) * len(losses) * number
    for k in held:
        for loss in losses:
            rejected = 0
            for repetition in range(number):
                rng = np.random.default_rng([seed, repetition])
                chosen = set(rng.choice(every, size, replace=False).tolist())
                names = [name for name in pilot.systems if groups[name] in chosen]
                of_names = {name: groups[name] for name in names}
                design = hold_out(
                    of_names,
                    topics,
                    k,
                    baseline_topics=baseline_topics,
                    on_remainder=on_remainder,
                    seed=int(rng.integers(2**31)),
                )
                drawn = rng.integers(0, len(pilot.topics), topics)
                rows_of = [pilot.systems.index(name) for name in names]
                scores = pilot.mean[np.ix_(rows_of, drawn)].copy()
                rejected += _finds(scores, of_names, design, loss, level, rng)
                done += 1
                progress("repetitions", done, total)
            power = rejected / number
            se = float(np.sqrt(power * (1 - power) / number))
            rows.append({"held": k, "loss": loss, "power": power, "se": se})
    return pd.DataFrame(rows)


def _finds(
    scores: NDArray[np.float64],
    groups: Mapping[str, str],
    design: HoldOutDesign,
    loss: float,
    level: float,
    rng: np.random.Generator,
) -> bool:
    """Lower what held-out systems score, and say whether the loss is found."""
    names = tuple(groups)
    out = ~design.mask(names, groups, design.topics)
    scores[out] *= 1.0 - loss
    matrix = ScoreMatrix(scores, np.zeros_like(scores), names, design.topics)
    held = HeldScores.under(matrix, groups, design)
    orders = np.array([rng.permutation(len(design.topics)) for _ in range(_PERMUTATIONS)])
    permuted, _ = permuted_losses(held, orders)
    return permutation_p(losses_of(held).overall, permuted) <= level
