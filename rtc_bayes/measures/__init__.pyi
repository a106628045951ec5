from .estimand import Estimand as Estimand
from .model_assisted import model_assisted as model_assisted
from .montecarlo import (
    sample_scores as sample_scores,
    sample_scores_by_topic as sample_scores_by_topic,
)
from .names import Measure as Measure, has_moments as has_moments, parse_measure as parse_measure
from .plain import (
    PairDifferences as PairDifferences,
    condensed as condensed,
    paired_t as paired_t,
)
from .pool_moments import Moments as Moments, moments as moments
from .sampled_scores import SampledScores as SampledScores
from .sampling import (
    Sample as Sample,
    inclusion_probabilities as inclusion_probabilities,
    permanent_numbers as permanent_numbers,
    poisson_sample as poisson_sample,
    rank_prior as rank_prior,
)
from .scores import ScoreMatrix as ScoreMatrix
from .stat_ap import (
    RelevantCounts as RelevantCounts,
    horvitz_thompson as horvitz_thompson,
    stat_ap as stat_ap,
)
from .truth import ScoreTable as ScoreTable, evaluate as evaluate
