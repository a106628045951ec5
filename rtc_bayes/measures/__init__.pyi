from .estimand import Estimand as Estimand
from .montecarlo import sample_scores as sample_scores
from .names import Measure as Measure, has_moments as has_moments, parse_measure as parse_measure
from .pool_moments import Moments as Moments, moments as moments
from .scores import ScoreMatrix as ScoreMatrix
from .truth import ScoreTable as ScoreTable, evaluate as evaluate
