"""Where work runs: threads or processes of this machine, or the workers of a Dask cluster.

The public names load on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
