"""The posterior of the paper's three layers by modular ("cut") inference, compiled."""

from rtc_bayes.relevance.cut.posterior import sample

__all__ = ["sample"]
