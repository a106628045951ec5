"""What a comparison of systems says: expected scores, and who is better with which confidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.collection.ids import some
from rtc_bayes.collection.immutable import freeze_fields
from rtc_bayes.confidence.comparison_texts import ComparisonTexts, cautions
from rtc_bayes.confidence.page_and_tables import PageAndTables
from rtc_bayes.confidence.pair import Pair, half_width
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import json_of, write_csv
from rtc_bayes.store.saved import Saved, check_holds
from rtc_bayes.store.shown import Shown, counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from rtc_bayes.confidence.setting import Setting
    from rtc_bayes.measures import ScoreMatrix

Floats = NDArray[np.float64]

_SHOWN = 10
_CONFIDENT = 0.95


_PAIR_COLUMNS = tuple(item.name for item in fields(Pair))
# what a pair and the comparison call by different names
_ELSEWHERE = {"sd": "sd_difference"}
_TEXTS = ("system", "a", "b", "form")
_ABOUT = ("measure", "moments", "model", "method")
_SYSTEM_COLUMNS = ("expected", "sd", "p_best", "rank_low", "rank_median", "rank_high")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonTexts, PageAndTables, Shown, Saved):
    """Expected scores of systems, and the probability of every sign of every difference.

    Made by :func:`rtc_bayes.compare`. A score is the mean over topics; a difference is that of
    `a` less that of `b`; there is one entry per unordered pair, `a` before `b` in `systems`, or
    one per system other than the baseline, `b`. Arrays that are given to the class itself are not
    copied, and become read-only.

    Attributes
    ----------
    systems : tuple of str
        In the order given.
    topics : tuple of str
        The scores are means over these.
    measure : str
    moments : {"exact", "plugin", "montecarlo"}
        How expected scores and variances were found.
    model, method : str
        Where the probabilities of relevance came from.
    expected, sd : ndarray, shape (systems,)
        Of each score. The standard deviation contains the error that all scores share.
    a, b : tuple of str, length pairs
    expected_difference, sd_difference : ndarray, shape (pairs,)
        Of each difference. The standard deviation does not contain the error that all scores
        share, which is `sd_shared`.
    p_less, p_equal, p_greater : ndarray, shape (pairs,)
        In [0, 1], summing to 1; means over the draws of the parameters.
    form : tuple of str, length pairs
        The form used: ``normal``, ``corrected`` or ``montecarlo``.
    skewness, excess_kurtosis : ndarray, shape (pairs,)
        Of the difference given the parameters, mean over draws; not a number where it has no
        variance. Measured on outcomes if outcomes were sampled, else to first order in the
        relevance of each document. Where `moments` is ``montecarlo`` the third and fourth cumulants
        are averaged and divided by powers of `variance_unjudged`, and fewer than four outcomes to
        a draw tell neither.
    variance_unjudged, variance_parameters : ndarray, shape (pairs,)
        The mean over draws of the variance, and the variance over draws of the expected
        difference (0 for a point estimate); their sum is sd_difference squared.
    meta : mapping
        Provenance, how many outcomes and draws there were, and what the scores are about.
    sd_shared : ndarray or None, shape (pairs,)
        Of the error that all scores share (:attr:`Pair.sd_shared`).
    p_rope : ndarray or None, shape (pairs,)
        Probability that the difference is nearer to 0 than ``meta["rope"]``, if asked for.
    p_best, rank_low, rank_median, rank_high : ndarray or None, shape (systems,)
        The ranks of :func:`rtc_bayes.rank_systems`, if asked for.
    sd_population, p_less_population, p_equal_population, p_greater_population : ndarray or None
        Of shape (pairs,), if asked for: the mean over the population that the topics are a sample
        of, about its expected value on these topics.
    judgments_needed : tuple of int or None, length pairs
        If asked for: how many more are forecast to give a pair that confidence; None for a pair to
        which all would not.
    setting : Setting or None
        What was compared, so that more can be asked of it; None of a comparison loaded or made by
        hand.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> run = rb.Run.from_rankings
    >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
    >>> pool = rb.Pool.from_runs(runs)
    >>> of_pool = rb.Estimand(scope="pool")
    >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]), of_pool)
    >>> comparison
    Comparison(AP over 1 topic, exact moments: 2 systems, 1 pair)
      A  0.9050  sd 0.2889
      B  0.5050  sd 0.2179
      0% of the pairs have a confidence of 0.95 or more
    >>> comparison.with_ranks().p_best.round(1).tolist()
    [0.9, 0.1]
    >>> comparison.with_forecast(0.99).judgments_needed
    (1,)
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str
    moments: str
    model: str
    method: str
    expected: Floats
    sd: Floats
    a: tuple[str, ...]
    b: tuple[str, ...]
    expected_difference: Floats
    sd_difference: Floats
    p_less: Floats
    p_equal: Floats
    p_greater: Floats
    form: tuple[str, ...]
    skewness: Floats
    excess_kurtosis: Floats
    variance_unjudged: Floats
    variance_parameters: Floats
    meta: Mapping[str, Any] = field(default_factory=dict)
    sd_shared: Floats | None = None
    p_rope: Floats | None = None
    p_best: Floats | None = None
    rank_low: Floats | None = None
    rank_median: Floats | None = None
    rank_high: Floats | None = None
    sd_population: Floats | None = None
    p_less_population: Floats | None = None
    p_equal_population: Floats | None = None
    p_greater_population: Floats | None = None
    judgments_needed: tuple[int | None, ...] | None = None
    setting: Setting | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def confidence(self) -> Floats:
        """max(p_less, p_greater) + p_equal / 2 of every pair, in [0.5, 1], shape (pairs,)."""
        return np.maximum(self.p_less, self.p_greater) + 0.5 * self.p_equal

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair, in the order of the arrays."""
        return tuple(Pair(**row) for row in _records(self._pair_columns()))

    @cached_property
    def _pair_numbers(self) -> dict[tuple[str, str], int]:
        """The place of every pair in the arrays."""
        return {names: n for n, names in enumerate(zip(self.a, self.b, strict=True))}

    def _pair(self, n: int) -> Pair:
        (row,) = _records(self._pair_columns(slice(n, n + 1)))
        return Pair(**row)

    def _pair_columns(self, which: slice = slice(None)) -> dict[str, list[Any]]:
        """Values of every pair, or some, by name, without what was not asked for."""
        columns = {name: getattr(self, _ELSEWHERE.get(name, name)) for name in _PAIR_COLUMNS}
        return {
            name: _listed(values[which]) for name, values in columns.items() if values is not None
        }

    def _pair_table(self) -> dict[str, list[Any]]:
        """Add the confidence, and the 95% interval, to the values of every pair."""
        half = half_width(self.sd_difference, self.sd_shared)
        added = {
            "confidence": self.confidence,
            "low": self.expected_difference - half,
            "high": self.expected_difference + half,
        }
        return self._pair_columns() | {name: _listed(values) for name, values in added.items()}

    def pair(self, a: str, b: str) -> Pair:
        """Compare two systems, in either order; the difference is `a` minus `b`.

        Raises
        ------
        InputError
            A system that was not compared, or twice the same.
        """
        for name in (a, b):
            if name not in self.systems:
                raise InputError(
                    f"no system {name!r} was compared", remedy=f"name one of {some(self.systems)}"
                )
        if a == b:
            raise InputError(f"{a!r} is compared with itself", remedy="name two systems")
        numbers = self._pair_numbers
        if (a, b) in numbers:
            return self._pair(numbers[a, b])
        if (b, a) in numbers:
            return self._pair(numbers[b, a]).reversed()
        raise InputError(
            f"{a!r} and {b!r} were not compared with each other",
            remedy="compare all pairs: compare without a baseline",
        )

    def ranking(self) -> tuple[str, ...]:
        """Systems from the highest expected score to the lowest, equal ones as given."""
        order = np.argsort(-self.expected, kind="stable")
        return tuple(self.systems[s] for s in order)

    def with_ranks(self) -> Comparison:
        """Add how probable it is that each system is the best, and between which ranks it stands.

        Counted over outcomes, as :func:`rtc_bayes.rank_systems` does.

        Returns
        -------
        Comparison
            With `p_best`, `rank_low`, `rank_median` and `rank_high`.
        """
        from rtc_bayes.confidence.ranks import count_ranks

        return replace(self, **count_ranks(self.asked_setting.sample_all())._asdict())

    @explains_types
    def with_equivalence(self, rope: float) -> Comparison:
        """Add the probability that a difference is too small to matter.

        Parameters
        ----------
        rope : float
            Half the width of the region of practical equivalence, above 0: a difference nearer to
            0 does not matter.

        Returns
        -------
        Comparison
            With `p_rope`.
        """
        from rtc_bayes.confidence.comparing import compare_setting

        setting = replace(self.asked_setting, rope=rope)
        # probabilities that were counted over outcomes are so again
        moments = "auto" if self.moments == "montecarlo" else setting.moments
        return replace(
            self,
            p_rope=compare_setting(replace(setting, moments=moments)).p_rope,
            meta={**self.meta, "rope": setting.rope},
            setting=setting,
        )

    def with_population(self) -> Comparison:
        """Add the comparison in the mean over the population that the topics are a sample of.

        Returns
        -------
        Comparison
            With `sd_population`, `p_less_population`, `p_equal_population` and
            `p_greater_population`. Where outcomes were counted for a measure with known moments,
            these tell of single topics, and outcomes of the variance of their mean: the same
            numbers to sampling error.

        Raises
        ------
        InputError
            Fewer than two topics.
        """
        from rtc_bayes.confidence.population import on_population

        return replace(self, **on_population(self.asked_setting, self.sd_difference**2)._asdict())

    def with_forecast(self, confidence: float = 0.95) -> Comparison:
        """Add how many more judgments are forecast to give each pair a confidence.

        Parameters
        ----------
        confidence : float
            Above 0.5 and below 1.

        Returns
        -------
        Comparison
            With `judgments_needed`, as :func:`rtc_bayes.forecast`.

        Raises
        ------
        InputError
            A confidence out of range, or a measure without known moments.
        """
        from rtc_bayes.confidence.removal import judgments_needed

        return replace(
            self,
            judgments_needed=judgments_needed(self.asked_setting, self, confidence),
            meta={**self.meta, "forecast": confidence},
        )

    def sample_difference(self, a: str, b: str) -> Floats:
        """Sample the score of `a` less that of `b`, over what is unknown.

        Returns
        -------
        ndarray, shape (outcomes,)
            As many as the comparison was made with, 2 for every draw at least.

        Raises
        ------
        InputError
            A system that was not compared, or twice the same.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings
        >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
        >>> pool = rb.Pool.from_runs(runs)
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]), outcomes=9)
        >>> comparison.sample_difference("A", "B").shape
        (9,)
        """
        from rtc_bayes.confidence.setting import two_systems

        setting = self.asked_setting
        two = setting.of_pairs(two_systems(setting.pool, a, b))
        scores, ((first, second),) = two.sample_all(), two.pairs
        return (scores[first] - scores[second]).ravel()

    def score_matrix(self) -> ScoreMatrix:
        """Return the expected score of every system on every topic, and its variance.

        Every system of the pool has a score on every topic of the comparison, whether the topic
        was judged for it or not. The variance is over unjudged relevance and, where there are
        draws, over the parameters: the mean over draws of the variance, and the variance over
        draws of the expected score. What the pool leaves out (the residual) is no part of it.

        Returns
        -------
        ScoreMatrix
            Its mean over topics is `expected`, to sampling error where outcomes were counted
            (`moments` is ``montecarlo``); of a measure without moments both are sampled.

        Raises
        ------
        InputError
            A comparison made by hand.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> run = rb.Run.from_rankings
        >>> runs = rb.Runs([run("A", {"1": ["x", "y"]}), run("B", {"1": ["y", "x"]})])
        >>> pool = rb.Pool.from_runs(runs)
        >>> comparison = rb.compare(pool, rb.Relevance.from_values(pool, [0.9, 0.1]))
        >>> scores = comparison.score_matrix()
        >>> scores.mean.round(3).tolist(), scores.variance.round(3).tolist()
        ([[0.905], [0.505]], [[0.083], [0.047]])
        """
        from rtc_bayes.confidence.topics import score_matrix

        return score_matrix(self.asked_setting)

    def per_topic(self) -> pd.DataFrame:
        """Say how the two systems of each pair differ topic by topic.

        Returns
        -------
        DataFrame
            Columns a and b, then those of :func:`rtc_bayes.topic_differences`; one pair under the
            other.
        """
        from rtc_bayes.confidence.topics import pairs_by_topic

        return pairs_by_topic(self.asked_setting)

    @property
    def asked_setting(self) -> Setting:
        """What was compared.

        Raises
        ------
        InputError
            It is not known, as of a comparison loaded, or made by hand.
        """
        if self.setting is None:
            raise InputError(
                "this comparison does not know what was compared (it was loaded, or made by hand)",
                remedy="compare again with rtc_bayes.compare",
            )
        return self.setting

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair, with the columns of the CSV."""
        import pandas as pd

        frame = pd.DataFrame(self._pair_table())
        kinds = {"skewness": "float", "excess_kurtosis": "float", "judgments_needed": "Int64"}
        return frame.astype({name: kind for name, kind in kinds.items() if name in frame})

    def systems_frame(self) -> pd.DataFrame:
        """Return one row per system, the best first: system, expected, sd, and ranks if asked."""
        import pandas as pd

        return pd.DataFrame(self._best_first(_records(self._system_columns())))

    def _best_first[Row](self, rows: list[Row]) -> list[Row]:
        """One row for each system, in the order of :meth:`ranking`."""
        by_system = dict(zip(self.systems, rows, strict=True))
        return [by_system[system] for system in self.ranking()]

    def _system_columns(self) -> dict[str, list[Any]]:
        """Values of every system by name, without what was not asked for."""
        columns = {"system": self.systems} | {name: getattr(self, name) for name in _SYSTEM_COLUMNS}
        return {name: _listed(values) for name, values in columns.items() if values is not None}

    def to_xarray(self) -> xr.Dataset:
        """Return the comparison with dims system and pair; it can be written as netCDF or zarr.

        The systems of a pair are its coordinates `a` and `b`; ``meta`` is an attribute, as JSON.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        >>> data = rb.compare(pool, relevance, "P@5").to_xarray()
        >>> data["expected"].values.round(3).tolist()
        [0.5, 0.5, 0.5, 0.5]
        >>> data["p_less"].dims, data.attrs["measure"]
        (('pair',), 'P@5')
        """
        import xarray as xr

        pairs = {_ELSEWHERE.get(name, name): x for name, x in self._pair_table().items()}
        columns = {"system": self._system_columns(), "pair": pairs}
        about = {name: getattr(self, name) for name in _ABOUT}
        return xr.Dataset(
            {
                name: (dim, np.array(values, dtype=str if name in _TEXTS else np.float64))
                for dim, by_name in columns.items()
                for name, values in by_name.items()
            },
            coords={"topic": np.array(self.topics, dtype=str)},
            attrs=about | {"meta": json.dumps(dict(self.meta), ensure_ascii=False)},
        ).set_coords(["a", "b"])

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> Self:
        """Return the comparison that :meth:`to_xarray` laid out, as :meth:`load` does.

        It holds every number. It does not know the runs and the relevance any more, so that nothing
        new can be asked of it: no :meth:`with_ranks`, no outcomes for
        :func:`~rtc_bayes.plot_difference`, no documents to judge next on its page.

        Raises
        ------
        InputError
            It holds something else.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=4).runs, depth=5)
        >>> relevance = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
        >>> comparison = rb.compare(pool, relevance)
        >>> comparison.save("compared.nc")
        >>> rb.Comparison.load("compared.nc").to_dict() == comparison.to_dict()
        True
        """
        of_arrays = {item.name for item in fields(cls)} - {"systems", "topics", "meta", "setting"}
        needed = {"system", "topic", "expected", "sd", "a", "b", "expected_difference", "form"}
        check_holds(data, (*needed, "meta", *_ABOUT), "comparison")
        columns = {
            str(name): array.to_numpy()
            for name, array in data.variables.items()
            if name in of_arrays | needed
        }
        values: dict[str, Any] = {
            name: tuple(map(str, column)) if name in _TEXTS else column
            for name, column in columns.items()
        }
        if "judgments_needed" in values:
            values["judgments_needed"] = tuple(
                None if np.isnan(number) else int(number) for number in values["judgments_needed"]
            )
        values["systems"] = values.pop("system")
        values["topics"] = tuple(map(str, values.pop("topic")))
        values |= {name: str(data.attrs[name]) for name in _ABOUT}
        return cls(**values, meta=json.loads(data.attrs["meta"]))

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON file holds; undefined numbers are None."""
        return {
            "measure": self.measure,
            "moments": self.moments,
            "model": self.model,
            "method": self.method,
            "topics": len(self.topics),
            "systems": self._best_first(_records(self._system_columns())),
            "pairs": _records(self._pair_table()),
            "meta": dict(self.meta),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the comparison as JSON, and write it if a path is given."""
        return json_of(self.to_dict(), path)

    def to_csv(self, path: str | Path) -> None:
        """Write the pairs as CSV, and ``meta`` as ``OUT.meta.json`` beside it.

        Names of systems are written as they are and read back the same. A spreadsheet takes one
        that begins with ``=``, ``+``, ``-`` or ``@`` for a formula: import the columns as text.
        """
        write_csv(self.to_frame(), path, self.meta)

    @property
    def _by_measure(self) -> tuple[Comparison]:
        return (self,)

    def __repr__(self) -> str:
        pairs = len(self.a)
        source = f" by {self.model}:{self.method}" if self.model else ""
        lines = [
            f"Comparison({self.measure} over {counted(len(self.topics), 'topic')}, "
            f"{self.moments_text}{source}: {counted(len(self.systems), 'system')}, "
            f"{counted(pairs, 'pair')})"
        ]
        width = max((len(name) for name in self.systems), default=0)
        place = {name: s for s, name in enumerate(self.systems)}
        for name in self.ranking()[:_SHOWN]:
            s = place[name]
            lines.append(f"  {name:<{width}}  {self.expected[s]:.4f}  sd {self.sd[s]:.4f}")
        if len(self.systems) > _SHOWN:
            lines.append(f"  ... and {len(self.systems) - _SHOWN} more")
        if len(self.systems) == 1:
            lines.append("  nothing to compare: there is one system")
        if pairs:
            share = float((self.confidence >= _CONFIDENT).mean())
            lines.append(f"  {share:.0%} of the pairs have a confidence of {_CONFIDENT} or more")
        lines += [f"  {text}" for text in cautions([self])]
        return "\n".join(lines)


def _listed(values: Iterable[Any]) -> list[Any]:
    """Values as plain ones, None where they are not a number."""
    plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [None if value != value else value for value in plain]


def _records(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """One mapping per row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
