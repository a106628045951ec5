"""Where work runs: threads or processes of this machine, or the workers of a Dask cluster."""

from rtc_bayes.workers.place import ALONE, Workers
from rtc_bayes.workers.processes import RunTrial, open_workers
from rtc_bayes.workers.threads import each_topic

__all__ = ["ALONE", "RunTrial", "Workers", "each_topic", "open_workers"]
