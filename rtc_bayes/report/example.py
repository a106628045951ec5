"""One trial of a study, to look at closely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtc_bayes.trials.scores import p_first_better

if TYPE_CHECKING:
    import pandas as pd

    from rtc_bayes.robustness import Study


@dataclass(frozen=True, eq=False)
class Example:
    """A trial by one algorithm.

    Attributes
    ----------
    algorithm : str
    trial : int
    tau : float
        Kendall's correlation of the predicted order with the true one.
    systems : DataFrame
        system, expected, sd, true, judged_for (bool); best expected first.
    pairs : DataFrame
        a, b, p_equal, p_greater (of a - b), correct.
    judgments : DataFrame
        topic, judged, relevant.
    """

    algorithm: str
    trial: int
    tau: float
    systems: pd.DataFrame
    pairs: pd.DataFrame
    judgments: pd.DataFrame

    @classmethod
    def of(cls, study: Study) -> Example | None:
        """Choose the trial of median tau, of the last algorithm that has a confidence.

        None where there is no such algorithm or no trial has a tau.
        """
        confident = [text for text, entry in study.summary.items() if entry["W"] is not None]
        if not confident:
            return None
        algorithm = confident[-1]
        trials = study.trials[study.trials["algorithm"] == algorithm].dropna(subset=["tau"])
        if trials.empty:
            return None
        # the lower of the two in the middle, so that it is a trial
        chosen = trials.sort_values("tau", kind="stable").iloc[(len(trials) - 1) // 2]
        systems, pairs, judgments = (
            frame[(frame["algorithm"] == algorithm) & (frame["trial"] == chosen["trial"])]
            for frame in (study.systems, study.pairs, study.judgments)
        )
        original = pairs.loc[pairs["initial"] == 2, ["a", "b"]].to_numpy().ravel()
        return cls(
            algorithm=algorithm,
            trial=int(chosen["trial"]),
            tau=float(chosen["tau"]),
            systems=systems.assign(judged_for=systems["system"].isin(original)).sort_values(
                "expected", ascending=False, kind="stable"
            ),
            pairs=pairs.assign(p_equal=0.0, p_greater=p_first_better(pairs)),
            judgments=judgments,
        )
