"""Objects that do not change once made."""

from __future__ import annotations


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
