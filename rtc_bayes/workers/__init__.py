"""Where work runs: threads or processes of this machine, or the workers of a Dask cluster."""

from rtc_bayes.workers.place import ALONE, Workers
from rtc_bayes.workers.topics import each_topic
from rtc_bayes.workers.trials import RunTrial, open_workers

__all__ = ["ALONE", "RunTrial", "Workers", "each_topic", "open_workers"]
