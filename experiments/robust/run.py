"""Run the studies behind docs/results/robust.md.

Usage: python experiments/robust/run.py -o DIR [--studies NAME... --trials 200 --jobs 2
       --seed 2009]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Then:

    python experiments/robust/page.py DIR --figures docs/figures > docs/results/robust.md

The studies:

trec8
    The frozen protocol: 200 trials of seed 2009, never drawn before, of `robust` and the published
    algorithms.
trec8-others
    The same with other models and priors on the judgments of `robust`, its posterior mean plugged
    in, and the cut posterior of the paper's layers: half an hour and more for 50 trials.
robust03
    That on Robust 2003, where the priors were chosen: not evidence, but a second collection.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from common import Plan, run_studies

SEED = 2009
JUDGE = "robust:gibbs"
POSTERIOR_MEAN = str(Path(__file__).with_name("posterior_mean.py"))
ALGORITHMS = ("ip", "mtc", "rtc:map", JUDGE)
OTHERS = (
    *ALGORITHMS,
    "rtc:map/rtc:cut",
    f"{JUDGE}/robust[preset=robust03]:gibbs",
    f"{JUDGE}/robust[preset=wide]:gibbs",
    f"{JUDGE}/{POSTERIOR_MEAN}:map",
    f"{JUDGE}/hierarchical:laplace",
)
STUDIES = {
    "trec8": Plan("trec8_adhoc", ALGORITHMS, "plugin"),
    "trec8-others": Plan("trec8_adhoc", OTHERS, "plugin"),
    "robust03": Plan("robust03", OTHERS, "plugin"),
}

if __name__ == "__main__":
    run_studies("robust/run.py", __doc__, STUDIES, seed=SEED)
