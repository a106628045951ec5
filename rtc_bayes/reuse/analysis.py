"""What a hold-out experiment says of a test collection (Carterette et al. 2010)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import real_number, whole_number
from rtc_bayes.collection.hold_out import HoldOutDesign
from rtc_bayes.collection.ids import some
from rtc_bayes.errors import InputError, warn
from rtc_bayes.measures.scores import ScoreMatrix
from rtc_bayes.reuse.agreement import CELLS, chi_square_p, exact_p
from rtc_bayes.reuse.held import COMPARISONS, HeldScores
from rtc_bayes.reuse.loss import Losses, losses
from rtc_bayes.reuse.loss_posterior import LossPosterior, posterior_of
from rtc_bayes.reuse.ordering import hotelling, rmse, tau
from rtc_bayes.reuse.permutation import (
    Permuted,
    Statistics,
    agreement_of,
    holm,
    paired_tests,
    permutation_p,
    permutation_sd,
    permuted_statistics,
    statistics,
)
from rtc_bayes.reuse.scoring import check_judged_under
from rtc_bayes.signatures import explains_types, moved
from rtc_bayes.store.progress import Progress, silent
from rtc_bayes.store.provenance import provenance
from rtc_bayes.store.shown import Shown, compared, counted, page_by

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.collection import Judgments, Qrels, Runs

# The normal quantile of .8, the power at which a loss counts as detectable.
_POWER = 0.8416
#: A collection that can hide a larger relative loss than this is said to be too small to tell.
TOLERABLE = 0.1


@explains_types
@moved(design="write hold_out")
def reusability(
    scores: ScoreMatrix,
    groups: Mapping[str, str],
    hold_out: HoldOutDesign,
    *,
    level: float = 0.05,
    permutations: int = 999,
    strata: Mapping[str, object] | None = None,
    judged: Judgments | Qrels | None = None,
    runs: Runs | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Reusability:
    """Say whether systems that took no part in judging are evaluated like those that did.

    Scores are compared between topics that a system's group contributed to and topics it was held
    out of, in the three ways of Carterette et al. 2010, section 3.1: pairs within a group, pairs
    of two groups, and pairs of a new system with one that took part. What is found is held to
    what it would be with topics in other orders: see :meth:`Reusability.verdict`.

    Parameters
    ----------
    scores : ScoreMatrix
        Of every system on the topics that were judged. A held-out system is scored like any
        other, by the judgments that were made without it.
    groups : mapping of str to str
        Group of each system.
    hold_out : HoldOutDesign
        By which was judged. It must have given topics their places at random. Scores alone do not
        tell it from another design of the same groups and topics: give `judged`, too.
    level : float, in (0, 1)
        Of every test.
    permutations : int
        At least 3 / level - 1, for less could show nothing.
    strata : mapping of str to object, optional
        Stratum of each topic, where topics of the baseline were chosen or have other budgets:
        topics are permuted within strata.
    judged : Judgments or Qrels, optional
        What the scores come from, if :func:`rtc_bayes.scores_under` did not make them, which
        checks it: refused if made under another design, or if groups held out alone retrieved
        what is judged. Judgments are over a pool of all systems.
    runs : Runs, optional
        Of every system; needed where `judged` are qrels that do not name the design.
    seed : int, at least 0
    progress : callable
        Called as ``progress("permutations", done, total)``.

    Returns
    -------
    Reusability

    Raises
    ------
    InputError
        A system without a group, a topic or group that the design lacks, judgments of another
        design, fewer than two reuse topics in every comparison, or a level or number out of range.

    Warns
    -----
    CollectionWarning
        Judgments made for systems that the design holds out of their topics. Groups of the design
        without scores, or topics before the last that has some.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.beta(2, 5, size=(6, 40))
    >>> names = [f"run{n}" for n in range(6)]
    >>> groups = {name: f"site{n // 2}" for n, name in enumerate(names)}
    >>> design = rb.hold_out(groups, 40, held=2, baseline_topics=10)
    >>> scores[~design.mask(names, groups, design.topics)] *= 0.6  # held out: lower by 40%
    >>> matrix = rb.ScoreMatrix(scores, 0 * scores, tuple(names), design.topics, "AP")
    >>> found = rb.reusability(matrix, groups, design)
    >>> found
    Reusability(AP, 6 systems of 3 groups, 40 topics; loss 0.084, p 0.001)
    """
    real_number("level", level, 0.0, 1.0, "give a level between 0 and 1, as 0.05", ends="()")
    number = whole_number("permutations", permutations, least=1)
    if number < (fewest := math.ceil(len(COMPARISONS) / level) - 1):
        raise InputError(
            f"with {counted(number, 'permutation')} nothing can be significant at {level:g}",
            remedy=f"give {fewest} or more",
        )
    seed = whole_number("seed", seed)
    if judged is not None:
        check_judged_under(judged, groups, hold_out, runs)
    held = HeldScores.under(scores, groups, hold_out)
    tested = {comparison: paired_tests(held, comparison) for comparison in COMPARISONS}
    if all(tests is None or tests[1].n.max() < 2 for tests in tested.values()):
        raise InputError(
            "no comparison has two reuse topics",
            remedy="judge more topics of the design, or hold out more groups",
        )
    if not np.nanmax(np.abs(held.scores)):
        raise InputError("all scores are 0", remedy="give judgments with relevant documents")
    _warn_of_lacking(held, hold_out)
    observed = statistics(held, level)
    if np.isnan(observed.loss):
        raise InputError(
            "no loss can be measured: no topics to which several groups contributed link them all",
            remedy="hold out fewer groups, or judge topics of the baseline",
        )
    return Reusability(
        held,
        scores,
        observed,
        permuted_statistics(held, number, seed, level, strata, progress),
        level,
        {"design": hold_out.digest, "permutations": number, "seed": seed},
    )


def _warn_of_lacking(held: HeldScores, hold_out: HoldOutDesign) -> None:
    """Say what of a design has no scores, as it may be another than the one that was judged by.

    Judging goes through topics in the design's order, and may end anywhere.
    """
    groups = [group for group in hold_out.groups if group not in held.groups]
    scored = np.isin(hold_out.topics, held.topics)
    last = int(np.flatnonzero(scored)[-1])
    topics = [t for t, here in zip(hold_out.topics[:last], scored[:last], strict=True) if not here]
    lacking = [
        f"{counted(len(names), what)} of it ({some(names)})"
        for what, names in (("group", groups), ("topic", topics))
        if names
    ]
    if lacking:
        warn(
            f"check that the design is the one by which was judged: {' and '.join(lacking)} "
            f"{'has' if len(groups) + len(topics) == 1 else 'have'} no scores"
            + (", and later topics do" if topics else "")
        )


@dataclass(frozen=True, eq=False, repr=False)
class Reusability(Shown):
    """What a hold-out experiment says of a test collection.

    Attributes
    ----------
    held : HeldScores
        Scores, groups, and who was held out where.
    scores : ScoreMatrix
    observed : Statistics
        Chi-squares of the three comparisons, the loss, and the loss of each group.
    permuted : Permuted
        The same with topics in other orders.
    level : float
        Of the tests.
    meta : mapping of str to object
        Digest of the design, number of permutations, seed.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> scores = np.random.default_rng(1).beta(2, 5, size=(6, 40))
    >>> groups = {f"run{n}": f"site{n // 2}" for n in range(6)}
    >>> design = rb.hold_out(groups, 40, held=2, baseline_topics=10)
    >>> matrix = rb.ScoreMatrix(scores, 0 * scores, tuple(groups), design.topics, "AP")
    >>> found = rb.reusability(matrix, groups, design, permutations=99)
    >>> found.comparisons()[["comparison", "pairs", "baseline_topics", "reuse_topics"]]
        comparison  pairs  baseline_topics  reuse_topics
    0       within      3             20.0          20.0
    1      between     12             10.0          10.0
    2  participant     24             10.0          10.0
    """

    held: HeldScores
    scores: ScoreMatrix
    observed: Statistics
    permuted: Permuted
    level: float = 0.05
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.scores.measure

    @property
    def scores_text(self) -> str:
        """Say in a sentence whether scores are expected ones: these have a variance."""
        if self.scores.variance.any():
            return "Scores are expected ones, by a model that predicts what is not judged."
        return (
            "Scores have no uncertainty: where they come from runs and judgments, documents "
            "without a judgment count as not relevant."
        )

    def posterior(
        self, *, method: str = "gibbs", draws: int = 1000, chains: int = 4, seed: int = 0
    ) -> LossPosterior:
        """Return the posterior of the loss: see :func:`rtc_bayes.loss_posterior`."""
        return posterior_of(
            self.held, self.scores, method=method, draws=draws, chains=chains, seed=seed
        )

    @property
    def loss(self) -> float:
        """How much less systems score where they are held out, in units of the measure.

        Mean over systems of :func:`rtc_bayes.reuse.loss.losses`.
        """
        return self.observed.loss

    @property
    def loss_sd(self) -> float:
        """Standard deviation of the loss with topics in other orders, where it is defined."""
        return permutation_sd(self.permuted.loss)

    @property
    def loss_p(self) -> float:
        """Two-sided p-value of the loss."""
        return permutation_p(self.observed.loss, self.permuted.loss)

    @property
    def mean_score(self) -> float:
        """Mean over systems of the mean score on topics that a system contributed to."""
        return self.held.mean_score

    @property
    def detectable_loss(self) -> float:
        """The loss that the test of the loss would find with probability 0.8."""
        from scipy.stats import norm

        return float(norm.isf(self.level / 2) + _POWER) * self.loss_sd

    @cached_property
    def losses(self) -> Losses:
        """The loss of every group and system."""
        return losses(self.held)

    def comparisons(self) -> pd.DataFrame:
        """Return a row for each comparison that has pairs.

        Returns
        -------
        DataFrame
            comparison; pairs for which both tests are defined; baseline_topics and reuse_topics,
            means over pairs; observed and expected numbers of pairs in the four cells; the
            chi-square of them; p_permutation, which is the one to trust; p_chi_square and p_exact,
            as printed in the paper, which reject far too often; tau of the two orders.
        """
        import pandas as pd

        rows = []
        for n, comparison in enumerate(COMPARISONS):
            tests = paired_tests(self.held, comparison)
            if tests is None:
                continue
            table = agreement_of(self.held, comparison, self.level)
            cells = [name.replace(" ", "_") for name in CELLS]
            square = float(self.observed.chi_square[n])
            rows.append(
                {
                    "comparison": comparison,
                    "pairs": int(table.observed.sum()),
                    "baseline_topics": float(tests[0].n.mean()),
                    "reuse_topics": float(tests[1].n.mean()),
                    **{f"observed_{c}": v for c, v in zip(cells, table.observed, strict=True)},
                    **{f"expected_{c}": v for c, v in zip(cells, table.expected, strict=True)},
                    "chi_square": square,
                    "p_permutation": permutation_p(square, self.permuted.chi_square[:, n]),
                    "p_chi_square": chi_square_p(square),
                    "p_exact": exact_p(table.observed, table.expected),
                    "tau": tau(*tests),
                }
            )
        return pd.DataFrame(rows)

    def by_group(self) -> pd.DataFrame:
        """Return a row for each group.

        Returns
        -------
        DataFrame
            group, systems, baseline_topics, reuse_topics; loss, its sd with topics in other
            orders, p, and p_holm, adjusted for the number of groups; rmse of scores on baseline
            and reuse topics; tau_within, of its own pairs, and tau_participant, of its systems as
            new ones with those that took part; p_hotelling, of the differences between its
            systems.
        """
        import pandas as pd

        held, observed = self.held, self.observed.group_loss
        permuted = self.permuted.group_loss
        p = np.array([permutation_p(observed[n], permuted[:, n]) for n in range(len(observed))])
        adjusted = holm(p)
        within, participant = (self._tau_by_group(c) for c in ("within", "participant"))
        rows = []
        for n, group in enumerate(held.groups):
            members = np.flatnonzero(held.group == n)
            rows.append(
                {
                    "group": group,
                    "systems": len(members),
                    "baseline_topics": int(held.contributed[members].any(axis=0).sum()),
                    "reuse_topics": int(held.held[members].any(axis=0).sum()),
                    "loss": float(observed[n]),
                    "sd": permutation_sd(permuted[:, n]),
                    "p": float(p[n]),
                    "p_holm": float(adjusted[n]),
                    "rmse": rmse(*(part[members] for part in self._scores)),
                    "tau_within": within[n],
                    "tau_participant": participant[n],
                    "p_hotelling": hotelling(held, n).p,
                }
            )
        return pd.DataFrame(rows)

    def by_system(self) -> pd.DataFrame:
        """Return a row for each system: system, group, contributed, held_out (means), loss."""
        import pandas as pd

        took, out = self._scores
        return pd.DataFrame(
            {
                "system": self.held.systems,
                "group": [self.held.groups[n] for n in self.held.group],
                "contributed": took,
                "held_out": out,
                "loss": self.losses.by_system,
            }
        )

    def pairs(self, comparison: str) -> pd.DataFrame:
        """Return a row for each pair of a comparison, with both tests.

        Parameters
        ----------
        comparison : {"within", "between", "participant"}
            Of "participant" the first system is the one held out.

        Returns
        -------
        DataFrame
            a, b; for ``baseline`` and ``reuse``: topics, mean difference, effect and p.
        """
        import pandas as pd

        if comparison not in COMPARISONS:
            raise InputError(
                f"there is no comparison {comparison!r}", remedy=f"give {', '.join(COMPARISONS)}"
            )
        names = np.array(self.held.systems, dtype=object)
        pairs = self.held.pairs(comparison)
        columns: dict[str, Any] = {"a": names[pairs[:, 0]], "b": names[pairs[:, 1]]}
        for name, tests in zip(
            ("baseline", "reuse"), paired_tests(self.held, comparison) or (), strict=False
        ):
            columns |= {
                f"{name}_topics": tests.n,
                f"{name}_difference": tests.mean,
                f"{name}_effect": tests.effect,
                f"{name}_p": tests.p,
            }
        return pd.DataFrame(columns)

    @property
    def reusable(self) -> bool | None:
        """False where a test finds an effect of holding out; None where none could have; else True.

        True says that no effect was found, and that a loss of a tenth of the mean score would
        have been, with probability 0.8. Where scores are below 0 a tenth says nothing: None.
        """
        p = self._p_holm()
        if self.loss_p <= self.level or min(p.values(), default=1.0) <= self.level:
            return False
        enough = not self.held.below_0 and self.detectable_loss <= TOLERABLE * self.mean_score
        return True if p and enough else None

    def verdict(self) -> str:
        """Say in words what was found.

        The loss is tested at the level; so is, apart from it, the agreement in significance of
        the comparisons, with p-values adjusted for there being several (Holm).
        """
        p, change = self._p_holm(), compared(-self.loss, ".3f")
        said = []
        if self.loss_p <= self.level:
            said.append(
                f"Systems score {change}{self._share(self.loss, '.0%', ' of their mean')} on "
                f"topics that they were held out of (p {self.loss_p:.3f})."
            )
        else:
            said.append(
                f"No loss was found: scores of held-out groups are {change}"
                f"{self._share(self.loss, '.1%', ' of the mean score')}, p {self.loss_p:.3f}. A "
                f"loss of {self.detectable_loss:.3f}{self._share(self.detectable_loss, '.0%')} "
                "would be found with probability 0.8."
            )
        said += self._left_out()
        changed = [c for c in COMPARISONS if p.get(c, 1.0) <= self.level]
        if changed:
            words = " and ".join(f"{_WORDS[c]} (adjusted p {p[c]:.3f})" for c in changed)
            said.append(
                f"Which systems differ significantly changes more than topics explain {words}."
            )
        else:
            # what speaks for the collection stands before what speaks against it
            unchanged = (
                "Which systems differ significantly changes no more than topics explain."
                if p
                else "No pair of systems could be tested."
            )
            said.insert(0 if self.loss_p <= self.level else len(said), unchanged)
        # of scores below 0 a tenth says nothing
        told = self.reusable is False or (p and not self.held.below_0)
        said.append(_ENDS[self.reusable] if told else _UNTESTED)
        return " ".join(said)

    def _share(self, loss: float, digits: str, of: str = "") -> str:
        """Say in brackets which share of the mean score a loss is, where no score is below 0."""
        if self.held.below_0:
            return ""
        return f" ({abs(loss) / self.mean_score:{digits}}{of})"

    def _left_out(self) -> list[str]:
        """Say how many orders of topics have no loss, as may be where scores are missing."""
        measured = ~np.isnan(self.observed.group_loss)
        of_groups = np.isnan(self.permuted.group_loss[:, measured]).sum(axis=0)
        if not of_groups.any():  # where there is no loss, there is none of any group
            return []
        overall = int(np.isnan(self.permuted.loss).sum())
        return [
            f"Of {counted(len(self.permuted.loss), 'permutation')} {overall} are left out, and up "
            f"to {of_groups.max()} for the loss of a group: scores are missing, so that no loss "
            "can be measured with topics in that order."
        ]

    def _p_holm(self) -> dict[str, float]:
        """Return the p-values of the comparisons that have pairs, adjusted for their number."""
        p = {
            comparison: permutation_p(
                float(self.observed.chi_square[n]), self.permuted.chi_square[:, n]
            )
            for n, comparison in enumerate(COMPARISONS)
        }
        defined = {name: value for name, value in p.items() if not np.isnan(value)}
        adjusted = holm(np.array(list(defined.values())))
        return dict(zip(defined, adjusted.tolist(), strict=True))

    @cached_property
    def _scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Each system's mean over topics it contributed to, and over those it was held out of."""
        with np.errstate(invalid="ignore"):
            took, out = (
                np.where(where, self.held.scores, 0.0).sum(axis=1) / where.sum(axis=1)
                for where in (self.held.contributed, self.held.held)
            )
        return took, out

    def _tau_by_group(self, comparison: str) -> list[float]:
        tests = paired_tests(self.held, comparison)
        if tests is None:
            return [float("nan")] * len(self.held.groups)
        of_first = self.held.group[self.held.pairs(comparison)[:, 0]]
        return [
            tau(*(each.take(of_first == n) for each in tests)) for n in range(len(self.held.groups))
        ]

    def write(self, folder: str | Path, meta: Mapping[str, object] | None = None) -> Path:
        """Write a page and its tables, and one of each comparison's pairs, as the command does.

        The posterior of the loss is part of it where scores lie from 0 to 1.

        Parameters
        ----------
        folder : str or Path
        meta : mapping of str to object, optional
            How it was made. Default: :func:`rtc_bayes.store.provenance`.

        Returns
        -------
        Path
            Where the page stands.
        """
        # the report stands above, which is not imported here
        page: Path = import_module("rtc_bayes.report.reuse_page").write_reusability(
            self, folder, provenance() if meta is None else meta
        )
        return page

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a page that shows the verdict and all that it rests on: one file.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it, too.
        """
        return page_by("reuse_page:reuse_html", path, self)

    def __repr__(self) -> str:
        held = self.held
        return (
            f"Reusability({self.measure}, {len(held.systems)} systems of {len(held.groups)} "
            f"groups, {counted(len(held.topics), 'topic')}; loss {self.loss:.3f}, "
            f"p {self.loss_p:.3f})"
        )


_WORDS = {
    "within": "within groups",
    "between": "between groups",
    "participant": "between new systems and those that took part",
}
_UNTESTED = "So nothing was found, which does not show that the collection is reusable."
_ENDS = {
    False: "So systems that took no part cannot be compared by it as if they had.",
    True: "So nothing was found against using it for systems like these that took no part.",
    None: (
        "So nothing was found, but the experiment is too small to see a loss of a tenth: it does "
        "not show that the collection is reusable."
    ),
}
