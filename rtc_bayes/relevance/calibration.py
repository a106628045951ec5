"""A module of before: imported under this name, it says where it stands now."""

from rtc_bayes.errors import InputError

raise InputError(f"there is no {__name__}", remedy="use rtc_bayes.relevance.system_calibration")
