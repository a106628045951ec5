"""Seeds for many pieces of work from one: the same whatever the number of jobs."""

from __future__ import annotations

from rtc_bayes.checks import whole_number


def spawn_seeds(seed: int, n: int) -> list[int]:
    """Return `n` independent seeds made from one by :class:`numpy.random.SeedSequence`.

    The first seeds do not depend on `n`, so a longer study begins like a shorter one.

    Parameters
    ----------
    seed : int
        At least 0.
    n : int
        How many, at least 0.

    Returns
    -------
    list of int
        In [0, 2^63).

    Examples
    --------
    >>> spawn_seeds(1, 3)[:2] == spawn_seeds(1, 2)
    True
    """
    import numpy as np

    whole_number("seed", seed)
    children = np.random.SeedSequence(seed).spawn(whole_number("n", n))
    return [int(child.generate_state(1, np.uint64)[0] >> 1) for child in children]
