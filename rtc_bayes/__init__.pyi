"""The public names, and where they stand: what loads on first use, and what type checkers read."""

from .calibration import (
    CalibrationStudy as CalibrationStudy,
    calibrate as calibrate,
)
from .calibration.simulation_based import (
    simulation_based_calibration as simulation_based_calibration,
)
from .collection import (
    Description as Description,
    Judgments as Judgments,
    Labels as Labels,
    Merged as Merged,
    Pool as Pool,
    Prel as Prel,
    Prels as Prels,
    Probabilities as Probabilities,
    Qrels as Qrels,
    Relevance as Relevance,
    Run as Run,
    Runs as Runs,
    Scores as Scores,
    describe as describe,
    merge as merge,
    read_erels as read_erels,
    read_groups as read_groups,
    read_labels as read_labels,
    read_prels as read_prels,
    read_qrels as read_qrels,
    read_runs as read_runs,
    read_scores as read_scores,
    write_erels as write_erels,
    write_prels as write_prels,
    write_qrels as write_qrels,
    write_run as write_run,
    write_runs as write_runs,
)
from .collection.hold_out import HoldOutDesign as HoldOutDesign, read_hold_out as read_hold_out
from .collection.simulate import simulate as simulate
from .confidence import (
    Comparison as Comparison,
    Comparisons as Comparisons,
    assessor_confusion as assessor_confusion,
    compare as compare,
    forecast as forecast,
    rank_systems as rank_systems,
    second_assessor as second_assessor,
    topic_differences as topic_differences,
)
from .crowd import (
    Aggregate as Aggregate,
    Agreement as Agreement,
    Checks as Checks,
    CrowdPrior as CrowdPrior,
    Panel as Panel,
    PanelPrior as PanelPrior,
    aggregate as aggregate,
    agreement as agreement,
    draw_checks as draw_checks,
    expected_gain as expected_gain,
    fit_panel as fit_panel,
    judge_table as judge_table,
    kappas as kappas,
    simulate_labels as simulate_labels,
    suggest_checks as suggest_checks,
    suggest_labels as suggest_labels,
)
from .errors import (
    CollectionWarning as CollectionWarning,
    FitError as FitError,
    FitWarning as FitWarning,
    InputError as InputError,
    UnfinishedError as UnfinishedError,
)
from .judging import (
    Audit as Audit,
    JudgingPlan as JudgingPlan,
    JudgingSession as JudgingSession,
    NextDocuments as NextDocuments,
    audit as audit,
    audit_documents as audit_documents,
    audit_order as audit_order,
    build as build,
    next_actions as next_actions,
    next_documents as next_documents,
    plan as plan,
    split_audit as split_audit,
)
from .measures import (
    Estimand as Estimand,
    Moments as Moments,
    Sample as Sample,
    ScoreMatrix as ScoreMatrix,
    evaluate as evaluate,
    horvitz_thompson as horvitz_thompson,
    inclusion_probabilities as inclusion_probabilities,
    model_assisted as model_assisted,
    moments as moments,
    sample_scores as sample_scores,
    stat_ap as stat_ap,
)
from .measures.incomplete import incomplete as incomplete
from .relevance import (
    Fit as Fit,
    available_models as available_models,
    fit as fit,
    load_model as load_model,
    shared_errors as shared_errors,
)
from .report import (
    plot_accuracy as plot_accuracy,
    plot_difference as plot_difference,
    plot_judgments as plot_judgments,
    plot_matrix as plot_matrix,
    plot_ranking as plot_ranking,
)
from .reuse import (
    LeftOut as LeftOut,
    LossPosterior as LossPosterior,
    Reusability as Reusability,
    design_counts as design_counts,
    design_table as design_table,
    expected_scores as expected_scores,
    groups_with_runs as groups_with_runs,
    hold_out as hold_out,
    judged_under as judged_under,
    leave_group_out as leave_group_out,
    loss_posterior as loss_posterior,
    pilot_power as pilot_power,
    reusability as reusability,
    scores_under as scores_under,
)
from .robustness import Demo as Demo, Study as Study, demo as demo, study as study
from .store.progress import progress_bar as progress_bar
from .topics import (
    AdaptiveSelection as AdaptiveSelection,
    JudgmentAllocation as JudgmentAllocation,
    RunReuse as RunReuse,
    StagedAllocation as StagedAllocation,
    TopicSelection as TopicSelection,
    allocate as allocate,
    compare_variability as compare_variability,
    extend as extend,
    mean_average_reuse as mean_average_reuse,
    select_adaptively as select_adaptively,
    select_topics as select_topics,
    suggest_topics as suggest_topics,
)
from .trials import Plan as Plan
from .trials.scores import (
    accuracy_bins as accuracy_bins,
    bootstrap_interval as bootstrap_interval,
    expected_winnings as expected_winnings,
    kendall_tau as kendall_tau,
    log_score as log_score,
    winnings as winnings,
)
from .workers import Workers as Workers

__version__: str
__all__: list[str]
