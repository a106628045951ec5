"""Run the studies behind docs/results/robustness.md: the 2007 experiment on two collections.

Usage: python -m experiments.robustness.run -o DIR [--studies NAME... --trials 200 --jobs 2
       --seed 0]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Then:

    python -m experiments.robustness.page DIR > docs/results/robustness.md

The studies:

trec8
    The runs of TREC-8 as they are, with the moments as published.
trec8-exact
    The same with exact moments.
trec8-padded
    As published, every list shorter than 100 documents filled up to 100 with documents that no
    other run has and nobody judges, as the author's released program does (`rtc-bayes robustness
    --pad`). True average precision is untouched by nonrelevant documents at the end of a list.
robust03, robust03-exact
    The 17 runs of the Robust track of 2003, 100 topics, where a trial's ten systems are more than
    half of all: trials overlap, so intervals are too narrow.
"""

from __future__ import annotations

from experiments.common import collection_study, run_studies

CHOSEN = "rtc[intercept=yes]:map"
"""The smoothing that Robust 2003 chose: see smoothing.py."""

ALGORITHMS = ("ip", "mtc", "mtc[weight=evr]", "rtc:map", CHOSEN)


STUDIES = {
    "trec8": collection_study("trec8_adhoc", *ALGORITHMS, moments="published"),
    "trec8-exact": collection_study("trec8_adhoc", *ALGORITHMS, moments="exact"),
    "trec8-padded": collection_study("trec8_adhoc", *ALGORITHMS, moments="published", pad=True),
    "robust03": collection_study("robust03", *ALGORITHMS, moments="published"),
    "robust03-exact": collection_study("robust03", *ALGORITHMS, moments="exact"),
}


if __name__ == "__main__":
    run_studies("experiments.robustness.run", __doc__, STUDIES)
