from .description import (
    Description as Description,
    describe as describe,
)
from .judgments import Judgments as Judgments
from .label_reading import read_labels as read_labels
from .labels import Labels as Labels
from .merging import (
    Merged as Merged,
    MergedDocument as MergedDocument,
    merge as merge,
)
from .order import natural_key as natural_key
from .pool import Pool as Pool
from .qrels import (
    Prel as Prel,
    Prels as Prels,
    Probabilities as Probabilities,
    Qrels as Qrels,
    Scores as Scores,
)
from .reading import (
    read_erels as read_erels,
    read_groups as read_groups,
    read_prels as read_prels,
    read_qrels as read_qrels,
    read_scores as read_scores,
)
from .relevance import Relevance as Relevance
from .remarks import Remark as Remark
from .run_reading import read_runs as read_runs
from .runs import (
    Run as Run,
    Runs as Runs,
)
from .writing import (
    write_erels as write_erels,
    write_prels as write_prels,
    write_qrels as write_qrels,
    write_run as write_run,
    write_runs as write_runs,
)
