"""A function that is sent to a worker once, however often it is called there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import cloudpickle
import numpy as np
from numpy.typing import NDArray

_unpacked: dict[str, Callable[..., Any]] = {}


class Packed(NamedTuple):
    """A function with what it needs, such as a collection, which may be megabytes large.

    Attributes
    ----------
    array : ndarray of uint8
        An array, which joblib shares between processes as a file.
    digest : str
    """

    array: NDArray[np.uint8]
    digest: str

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Packed:
        """Pack a function, by value what workers cannot import: a class of a notebook."""
        packed = cloudpickle.dumps(function)
        return cls(np.frombuffer(packed, dtype=np.uint8), hashlib.sha256(packed).hexdigest())


def call_packed(array: NDArray[np.uint8], digest: str, *arguments: Any) -> Any:
    """Call a packed function in a worker, which keeps what it unpacked last."""
    function = _unpacked.get(digest)
    if function is None:
        function = cloudpickle.loads(array)
        _unpacked.clear()
        _unpacked[digest] = function
    return function(*arguments)
