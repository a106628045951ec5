"""How much is done at a time, where, and who is told: one value, which changes no number."""

from __future__ import annotations

from dataclasses import dataclass

from rtc_bayes import defaults
from rtc_bayes.checks import whole_fields
from rtc_bayes.errors import InputError
from rtc_bayes.store import Progress, progress_bar, silent


@dataclass(frozen=True)
class Workers:
    """How much is done at a time, where, and who is told.

    The same for everything that takes long: the topics of a comparison (in threads) and the trials
    of a study (in processes). It never changes a number.

    Attributes
    ----------
    jobs : int
        Pieces of work at a time on this machine, one a core; -1 for as many as there are cores.
    scheduler : str or None
        ``dask://HOST:PORT``, of a Dask cluster that does the work instead, as many pieces at a
        time as it has workers.
    progress : Progress
        Called as ``progress(stage, done, total)`` when a piece is done. Nothing is shown unless
        this is given; :func:`rtc_bayes.progress_bar` makes one that draws a bar.

    Raises
    ------
    InputError
        No jobs at all.

    Examples
    --------
    >>> from rtc_bayes import Workers
    >>> Workers(jobs=4).jobs
    4

    To see how far a long comparison is:

    >>> import numpy as np
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.simulate(n_topics=3, n_systems=3, seed=1).runs, depth=5)
    >>> p = rb.Relevance.from_values(pool, np.full(pool.n_documents, 0.5))
    >>> with rb.progress_bar() as progress:
    ...     comparison = rb.compare(pool, p, workers=rb.Workers(progress=progress))
    """

    jobs: int = defaults.JOBS
    scheduler: str | None = None
    progress: Progress = silent

    def __post_init__(self) -> None:
        whole_fields(self, jobs=-1)
        if not callable(self.progress) or self.progress is progress_bar:
            raise InputError(
                "progress is no function of stage, done and total",
                remedy="with rb.progress_bar() as progress: ... Workers(progress=progress)",
            )
        if self.jobs == 0:
            raise InputError("jobs is 0", remedy="give at least 1, or -1 for one on every core")


ALONE = Workers(jobs=1)
"""One piece at a time, and nobody is told: what a worker gives the work inside its own."""
