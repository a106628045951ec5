"""Run the studies behind docs/results/robust.md.

Usage: python -m experiments.robust.run -o DIR [--studies NAME... --trials 200 --jobs 2
       --seed 2013]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Then:

    python -m experiments.robust.page DIR --figures docs/figures > docs/results/robust.md

The studies:

trec8
    The frozen protocol: 200 trials of seed 2013, never drawn before, of `robust` about whole
    lists.
trec8-published
    The published algorithms on the same trials, as published: about lists cut at the depth.
trec8-cut
    `robust` about lists cut at the depth, all relevant documents counted.
trec8-frontier
    `robust` made to judge less and longer: two judgments and two fifths a topic at least, three,
    and three and three fifths.
trec8-others
    Other models and priors on the judgments of `robust`, and its posterior mean plugged in.
trec8-methods
    `robust` by its two methods on the same judgments, with enough draws for NUTS.
robust03
    The first on Robust 2003, where the priors were chosen: not evidence, but a second collection.
"""

from __future__ import annotations

from pathlib import Path

from experiments.common import collection_study, run_studies

SEED = 2013
# the priors of the studies: from TREC-8 and Robust 2003
JUDGE = "robust[preset=trec]:gibbs"
POSTERIOR_MEAN = str(Path(__file__).with_name("posterior_mean.py"))
NUTS = f"{JUDGE}/robust[preset=trec]:nuts"
PUBLISHED = ("ip", "mtc", "rtc:map", "rtc:map/rtc:cut")
FRONTIER = tuple(f"robust[least={least},preset=trec]:gibbs" for least in (2.4, 3, 3.6))
# of so many degrees of freedom that Student-t effects are normal
NORMAL = f"{JUDGE}/robust[preset=trec,df=1000]:gibbs"
ROBUST03, WIDE = (f"{JUDGE}/robust[preset={name}]:gibbs" for name in ("robust03", "wide"))
OTHERS = (
    JUDGE,
    NORMAL,
    ROBUST03,
    WIDE,
    f"{JUDGE}/{POSTERIOR_MEAN}:map",
    f"{JUDGE}/hierarchical:laplace",
)
# what was left of true differences in the development trials (residuals.py)
WHOLE_LISTS = {"scope": "whole", "residual": 0.008}
STUDIES = {
    "trec8": collection_study("trec8_adhoc", JUDGE, moments="plugin", **WHOLE_LISTS),
    "trec8-published": collection_study("trec8_adhoc", *PUBLISHED, moments="plugin"),
    "trec8-cut": collection_study("trec8_adhoc", JUDGE, moments="plugin", unseen=True),
    "trec8-frontier": collection_study(
        "trec8_adhoc", *FRONTIER, moments="plugin", trials=100, **WHOLE_LISTS
    ),
    "trec8-others": collection_study(
        "trec8_adhoc", *OTHERS, moments="plugin", trials=30, **WHOLE_LISTS
    ),
    "trec8-methods": collection_study(
        "trec8_adhoc", JUDGE, NUTS, moments="plugin", trials=4, draws=600, **WHOLE_LISTS
    ),
    "robust03": collection_study("robust03", JUDGE, moments="plugin", trials=50, **WHOLE_LISTS),
}

if __name__ == "__main__":
    run_studies("experiments.robust.run", __doc__, STUDIES, seed=SEED)
