"""Measures as functions of relevance: true scores, moments, and scores of sampled relevance.

The public names load on first use: reading scores needs no compiled kernel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
