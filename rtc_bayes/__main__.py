"""``python -m rtc_bayes``: the command, of the Python at hand."""

import sys

from rtc_bayes.cli import main

sys.exit(main())
