from .html import write_report as write_report
from .plots import (
    plot_accuracy as plot_accuracy,
    plot_difference as plot_difference,
    plot_judgments as plot_judgments,
    plot_matrix as plot_matrix,
    plot_ranking as plot_ranking,
)
