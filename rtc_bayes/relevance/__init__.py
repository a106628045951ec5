"""Predicting the relevance of unjudged documents: models, their layers, and how they are fitted.

All that a model file needs is here; what takes long to import loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from rtc_bayes.moved import moved_names
from rtc_bayes.relevance.evidence import (
    coordinates,
    document_ranks,
    effect,
    judged_rows,
    observe,
    of_retrieved,
    rank_curve,
)
from rtc_bayes.relevance.fit import Fit, evidence_said, fit, warn_of_evidence
from rtc_bayes.relevance.fitters import (
    available_methods,
    estimate,
    is_sampler,
    resolve_method,
    with_labels,
)
from rtc_bayes.relevance.fitters.checks import mixing_checks
from rtc_bayes.relevance.interface import (
    Check,
    Density,
    Diagnostics,
    Draws,
    PointEstimate,
    RelevanceModel,
    Sampling,
    Stage,
    check_takes_labels,
)
from rtc_bayes.relevance.logistic import sigmoid
from rtc_bayes.relevance.options import (
    BetaPrior,
    InputFile,
    MeanSd,
    MedianSpread,
    Option,
    check_options,
    require,
)
from rtc_bayes.relevance.registry import ModelInfo, available_models, load_model, model_info
from rtc_bayes.relevance.spec import ModelSpec
from rtc_bayes.workers import one_thread

if TYPE_CHECKING:
    from rtc_bayes.relevance import aggregation, cut, rank, system_calibration
    from rtc_bayes.relevance.effects import EffectsDraws, EffectsRegression, sweeps_to_try
    from rtc_bayes.relevance.fitters.graphs import open_graph
    from rtc_bayes.relevance.label_density import LabelledDensity
    from rtc_bayes.relevance.label_evidence import LabelEvidence, shared_errors
    from rtc_bayes.relevance.label_remarks import remarks_on_labels
    from rtc_bayes.relevance.layered import LayeredDensity, LayeredPriors
    from rtc_bayes.relevance.logit_beta import LogitBeta
    from rtc_bayes.relevance.prevalence import prevalence_curves, spline

_load, _, _ = lazy_loader.attach(
    __name__,
    {"aggregation", "cut", "rank", "system_calibration"},
    {
        "effects": ["EffectsDraws", "EffectsRegression", "sweeps_to_try"],
        "logit_beta": ["LogitBeta"],
        "fitters.graphs": ["open_graph"],
        "label_density": ["LabelledDensity"],
        "label_evidence": ["LabelEvidence", "shared_errors"],
        "label_remarks": ["remarks_on_labels"],
        "layered": ["LayeredDensity", "LayeredPriors"],
        "prevalence": ["prevalence_curves", "spline"],
    },
)
__getattr__ = moved_names(
    __name__,
    {
        "calibration": "relevance.system_calibration",
        "labels_said": "relevance.evidence_said",
        "warn_of_labels": "relevance.warn_of_evidence",
    },
    otherwise=_load,
)

__all__ = [
    "BetaPrior",
    "Check",
    "Density",
    "Diagnostics",
    "Draws",
    "EffectsDraws",
    "EffectsRegression",
    "Fit",
    "InputFile",
    "LabelEvidence",
    "LabelledDensity",
    "LayeredDensity",
    "LayeredPriors",
    "LogitBeta",
    "MeanSd",
    "MedianSpread",
    "ModelInfo",
    "ModelSpec",
    "Option",
    "PointEstimate",
    "RelevanceModel",
    "Sampling",
    "Stage",
    "aggregation",
    "available_methods",
    "available_models",
    "check_options",
    "check_takes_labels",
    "coordinates",
    "cut",
    "document_ranks",
    "effect",
    "estimate",
    "evidence_said",
    "fit",
    "is_sampler",
    "judged_rows",
    "load_model",
    "mixing_checks",
    "model_info",
    "observe",
    "of_retrieved",
    "one_thread",
    "open_graph",
    "prevalence_curves",
    "rank",
    "rank_curve",
    "remarks_on_labels",
    "require",
    "resolve_method",
    "shared_errors",
    "sigmoid",
    "spline",
    "sweeps_to_try",
    "system_calibration",
    "warn_of_evidence",
    "with_labels",
]
