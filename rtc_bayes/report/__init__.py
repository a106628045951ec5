"""Tables, figures and HTML pages.

The public names load on first use: a table on a terminal needs no figures.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
