"""Objects that do not change once made."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Immutable:
    """Refuses that an attribute is assigned or deleted; constructors use :meth:`_set`."""

    __slots__ = ()

    def _set(self, **attributes: object) -> None:
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a {type(self).__name__} does not change, make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name}: a {type(self).__name__} does not change, make another one")


def freeze(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only, in place.

    Examples
    --------
    >>> scores = np.zeros(2)
    >>> freeze(scores)
    >>> scores[0] = 1.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    for array in arrays:
        array.flags.writeable = False


def frozen[Kind: np.generic](array: NDArray[Kind]) -> NDArray[Kind]:
    """Return an array if it is read-only and its own, else a read-only copy of it.

    Examples
    --------
    >>> scores = np.zeros(2)
    >>> frozen(scores).flags.writeable, scores.flags.writeable
    (False, True)
    """
    if array.flags.writeable or not array.flags.owndata:
        array = array.copy()
        freeze(array)
    return array


def freeze_fields(record: DataclassInstance) -> None:
    """Make the arrays among a dataclass's fields read-only, in place: they are taken over."""
    values = (getattr(record, each.name) for each in fields(record))
    freeze(*(value for value in values if isinstance(value, np.ndarray)))
