"""A measure per system and topic, with the variance that incomplete judgments leave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix:
    """Mean and variance of a measure for every system and topic.

    Attributes
    ----------
    mean : ndarray, shape (systems, topics)
    variance : ndarray, shape (systems, topics)
        0 throughout for scores under complete judgments.
    systems : tuple of str
    topics : tuple of str
    measure : str
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measure: str

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.topics))
        for name, values in (("mean", self.mean), ("variance", self.variance)):
            if values.shape != shape:
                raise InputError(f"{name} has shape {values.shape}, not (systems, topics) {shape}")
            values.flags.writeable = False

    def to_xarray(self) -> xr.Dataset:
        """Return mean and variance with dims (system, topic)."""
        import xarray as xr

        dims = ("system", "topic")
        return xr.Dataset(
            {"mean": (dims, self.mean), "variance": (dims, self.variance)},
            coords={
                "system": np.array(self.systems, dtype=str),
                "topic": np.array(self.topics, dtype=str),
            },
            attrs={"measure": self.measure},
        )

    @classmethod
    def from_xarray(cls, data: xr.Dataset) -> ScoreMatrix:
        """Rebuild the scores from :meth:`to_xarray`'s data set."""
        return cls(
            mean=np.array(data["mean"].values, dtype=np.float64),
            variance=np.array(data["variance"].values, dtype=np.float64),
            systems=tuple(data["system"].to_numpy().astype(str).tolist()),
            topics=tuple(data["topic"].to_numpy().astype(str).tolist()),
            measure=str(data.attrs["measure"]),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and topic: system, topic, mean, variance."""
        import pandas as pd

        return pd.DataFrame(
            {
                "system": np.repeat(np.array(self.systems, dtype=object), len(self.topics)),
                "topic": np.tile(np.array(self.topics, dtype=object), len(self.systems)),
                "mean": self.mean.ravel(),
                "variance": self.variance.ravel(),
            }
        )

    def save(self, path: str | Path) -> None:
        """Write the scores to a netCDF file."""
        from rtc_bayes.store import write_dataset

        write_dataset(self.to_xarray(), path)

    @classmethod
    def load(cls, path: str | Path) -> ScoreMatrix:
        """Read scores from a netCDF file."""
        from rtc_bayes.store import read_dataset

        return cls.from_xarray(read_dataset(path))

    def __repr__(self) -> str:
        return (
            f"ScoreMatrix({self.measure}, {len(self.systems)} systems, {len(self.topics)} topics)"
        )
