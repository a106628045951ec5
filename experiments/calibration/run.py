"""Run the studies behind docs/results/map-against-bayes.md.

Usage: python -m experiments.calibration.run -o DIR [--studies NAME ...] [--trials N]
       [--jobs 2 --seed 0]

Needs RTC_BAYES_DATA: a folder with trec8_adhoc/ and robust03/, each with runs/ and qrels.txt.gz.
DIR gets one study a folder, with its report; what was interrupted goes on. Each study has its own
number of trials unless --trials says another. Then:

    python -m experiments.calibration.page DIR --figures docs/figures \
        > docs/results/map-against-bayes.md

The studies:

trec8-plugin, trec8-exact
    One set of judgments (those of rtc:map), evaluated by every model as a point estimate and as a
    posterior, with the printed and with the exact moments: what parameters and what moments do.
trec8-stopping
    The same model judges until its plug-in confidence, or until its posterior confidence, is 95%.
trec8-nuts
    The same judgments again, evaluated by hierarchical's Laplace approximation and by NUTS, with
    500 draws of each of four chains (with 150, NUTS fails its checks in one fit of five).
robust03-plugin, robust03-exact
    As on TREC-8.
trec8-laplace, robust03-laplace
    hierarchical's Laplace approximation once more, after the normal it draws from was moved from
    the posterior's mode to its nearest mean, on the judgments of the studies named plugin.
"""

from __future__ import annotations

from experiments.common import collection_study, run_studies

JUDGE = "rtc:map"
MODELS = (
    "uniform:map",
    "rtc:map",
    "rtc:cut",
    "rtc[cell_weight=.1]:map",
    "rtc[cell_weight=.1]:cut",
    "hierarchical:map",
    "hierarchical:laplace",
)
EVALUATED = tuple(f"{JUDGE}/{model}" for model in MODELS)
STOPPED = ("hierarchical[least=0]:map", "hierarchical[least=0]:laplace")
SAMPLED = tuple(f"{JUDGE}/hierarchical:{method}" for method in ("laplace", "nuts"))
STUDIES = {
    "trec8-plugin": collection_study("trec8_adhoc", *EVALUATED, moments="plugin"),
    "trec8-exact": collection_study("trec8_adhoc", *EVALUATED, moments="exact", trials=100),
    "trec8-stopping": collection_study("trec8_adhoc", *STOPPED, moments="plugin"),
    "trec8-nuts": collection_study("trec8_adhoc", *SAMPLED, moments="plugin", trials=20, draws=500),
    "trec8-laplace": collection_study("trec8_adhoc", *SAMPLED[:1], moments="plugin"),
    "robust03-laplace": collection_study("robust03", *SAMPLED[:1], moments="plugin", trials=100),
    "robust03-plugin": collection_study("robust03", *EVALUATED, moments="plugin"),
    "robust03-exact": collection_study("robust03", *EVALUATED, moments="exact", trials=50),
}

if __name__ == "__main__":
    run_studies("experiments.calibration.run", __doc__, STUDIES)
