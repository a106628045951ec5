"""Robust test collections: predict relevance from rankings, and trust the comparison.

The public names, listed in ``__init__.pyi``, load on first use, so that ``import rtc_bayes`` stays
light.
"""

import lazy_loader

from rtc_bayes import moved as _moved

__version__ = "0.1.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = _moved.moved_names(__name__, {"allocate_judgments": "extend"}, otherwise=_load)
__all__ += ["__version__"]
