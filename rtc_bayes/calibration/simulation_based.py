"""Simulation-based calibration: whether a sampler draws from the posterior it should.

Draw parameters from the prior, data given these, and draws from the posterior given the data. Over
many such simulations the rank of the true value among the draws is uniform, for any function of
the parameters, if the sampler is exact (Talts et al., "Validating Bayesian inference algorithms
with simulation-based calibration", 2018). Draws should be all but independent. Ties are broken at
random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.errors import InputError
from rtc_bayes.store import Progress, silent, spawn_seeds

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

type Floats = NDArray[np.float64]

type Simulate = Callable[[int, int], tuple[Mapping[str, Floats], Mapping[str, Floats]]]
"""From the number of the simulation and a seed: the true values by name, each of any shape, and
draws of each, of shape (draws, ...)."""

_SIMULATIONS = 200
_ENVELOPE = 0.95
_ENVELOPE_SIMULATIONS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class SimulationRanks:
    """Where the true values of simulations stand among their draws.

    Attributes
    ----------
    ranks : mapping of str to ndarray, shape (simulations,)
        By the name of a scalar: the rank as a share, in (0, 1), uniform if the sampler is exact.
    draws : int
        Of each simulation.
    """

    ranks: Mapping[str, Floats]
    draws: int

    @property
    def simulations(self) -> int:
        """How many."""
        return len(next(iter(self.ranks.values())))

    def p_values(self) -> pd.DataFrame:
        """Test whether ranks are uniform (ArviZ' pointwise order test, ``pot_c``).

        Returns
        -------
        DataFrame
            quantity, p_value; the smallest first.
        """
        import pandas as pd
        from arviz_stats.base import array_stats

        p_values = {
            name: float(array_stats.uniformity_test(np.asarray(values))[0])
            for name, values in self.ranks.items()
        }
        frame = pd.DataFrame({"quantity": list(p_values), "p_value": list(p_values.values())})
        return frame.sort_values("p_value", kind="stable", ignore_index=True)

    @property
    def p_value(self) -> float:
        """The smallest p-value times the number of scalars (Bonferroni), at most 1."""
        return min(1.0, float(self.p_values()["p_value"].iloc[0]) * len(self.ranks))

    def ecdf(self, name: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the ranks' distribution function less the uniform one, and its envelope.

        Returns
        -------
        x, difference, low, high : ndarray of float
            The envelope holds the whole curve in 95% of studies of an exact sampler (Säilynoja,
            Bürkner and Vehtari, 2022; computed by ArviZ).

        Raises
        ------
        InputError
            No scalar has this name.
        """
        if name not in self.ranks:
            raise InputError(
                f"no scalar is named {name!r:.80}", remedy=f"give one of {', '.join(self.ranks)}"
            )
        from arviz_stats.ecdf_utils import ecdf_pit

        x, ecdf, low, high = ecdf_pit(
            self.ranks[name], _ENVELOPE, _ENVELOPE_SIMULATIONS, rng=np.random.default_rng(0)
        )
        return x, ecdf - x, low - x, high - x

    def to_datatree(self) -> xr.DataTree:
        """Return the ranks as the group ``prior_sbc`` that ArviZ plots (``plot_ecdf_pit``)."""
        import xarray as xr

        variables = {name: (("chain", "draw"), values[None]) for name, values in self.ranks.items()}
        coords = {"chain": [0], "draw": np.arange(self.simulations)}
        return xr.DataTree.from_dict({"/prior_sbc": xr.Dataset(variables, coords=coords)})

    def to_frame(self) -> pd.DataFrame:
        """Return one row per simulation and scalar: simulation, quantity, rank."""
        import pandas as pd

        wide = pd.DataFrame(dict(self.ranks)).rename_axis("simulation").reset_index()
        return wide.melt("simulation", var_name="quantity", value_name="rank")

    def __repr__(self) -> str:
        return (
            f"SimulationRanks({self.simulations} simulations of {self.draws} draws, "
            f"{len(self.ranks)} scalars: p-value of the uniformity of all: {self.p_value:.2g})"
        )


def simulation_based_calibration(
    simulation: Simulate,
    *,
    simulations: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> SimulationRanks:
    """Rank true values among their draws, many times over.

    Parameters
    ----------
    simulation : callable
        See :data:`Simulate`; those of this package are in
        :mod:`rtc_bayes.calibration.stages` and
        :mod:`rtc_bayes.calibration.whole_model`. The names and shapes are always the same.
    simulations : int, at least 2, optional
        By default as many as `simulation` has, if it says so by an attribute of this name, as a
        ``WholeModel`` does; else 200. At most as many as it has.
    seed : int
    progress : Progress

    Returns
    -------
    SimulationRanks

    Raises
    ------
    InputError
        More simulations than `simulation` has.

    Examples
    --------
    >>> import numpy as np
    >>> from rtc_bayes.calibration import simulation_based_calibration
    >>> def exact(number, seed):
    ...     random = np.random.default_rng(seed)
    ...     return {"x": random.normal()}, {"x": random.normal(size=99)}
    >>> simulation_based_calibration(exact, simulations=50).p_value > 0.01
    True
    """
    whole_number("seed", seed)
    most = getattr(simulation, "simulations", None)
    if simulations is None:
        simulations = most or _SIMULATIONS
    simulations = whole_number("simulations", simulations, least=2)
    if most is not None and simulations > most:
        raise InputError(
            f"simulations is {simulations}, and {type(simulation).__name__} has {most}",
            remedy=f"leave it out, or make {type(simulation).__name__} with "
            f"simulations={simulations}",
        )
    ranks: dict[str, list[float]] = {}
    draws = 0
    progress("simulations", 0, simulations)
    for number, own in enumerate(spawn_seeds(seed, simulations)):
        simulating, breaking = spawn_seeds(own, 2)
        true, drawn = simulation(number, simulating)
        random = np.random.default_rng(breaking)
        for name, value in true.items():
            draws = len(drawn[name])
            for index in np.ndindex(np.shape(value)):
                scalar = f"{name}[{','.join(map(str, index))}]" if index else name
                rank = _rank(
                    float(np.asarray(value)[index]), drawn[name][(slice(None), *index)], random
                )
                ranks.setdefault(scalar, []).append(rank)
        progress("simulations", number + 1, simulations)
    return SimulationRanks({name: np.array(values) for name, values in ranks.items()}, draws)


def _rank(true: float, draws: Floats, random: np.random.Generator) -> float:
    """Return the rank as a share: uniform on (0, 1), with ties and within steps at random."""
    below, ties = int((draws < true).sum()), int((draws == true).sum())
    return float((below + random.integers(ties + 1) + random.random()) / (len(draws) + 1))
