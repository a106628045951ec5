"""Commands about relevance models: fit one, list them."""

from __future__ import annotations

from typing import Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    Depth,
    Draws,
    JudgedFor,
    LabelsRead,
    Level,
    Method,
    Model,
    Options,
    OutFile,
    Quiet,
    RunsRead,
    Seed,
    SomeQrels,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.inputs import digests, read_judgments, read_options
from rtc_bayes.measures.estimand import Estimand
from rtc_bayes.store.shown import in_words


@grouped
def fit(
    *,
    qrels: SomeQrels = None,
    labels: LabelsRead,
    output: OutFile,
    model: Model = None,
    method: Method = None,
    option: Options = None,
    judged_for: JudgedFor = None,
    draws: Draws = None,
    chains: Annotated[int | None, typer.Option(help="How many chains. Default: 4.")] = None,
    tune: Annotated[
        int | None,
        typer.Option(help="Steps before a chain's first draw. Default: 500; nuts: 1000."),
    ] = None,
    write_erels: Annotated[
        str | None,
        typer.Option(
            metavar="F", help="Write mean probabilities here, as erels: topic Q0 docno probability."
        ),
    ] = None,
    relevance_level: Level = None,
    depth: Depth = None,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Predict relevance of unjudged documents."""
    from rtc_bayes.collection import read_qrels, write_erels as write
    from rtc_bayes.collection.judged_for import as_json
    from rtc_bayes.relevance import ModelSpec, fit
    from rtc_bayes.report.command_tables import judged_table
    from rtc_bayes.report.terminal import write_tables
    from rtc_bayes.store import announced, meta_path, provenance, write_json
    from rtc_bayes.store.datasets import check_ending

    check_ending(output)
    systems, judged = runs.read(), None if qrels is None else read_qrels(qrels)
    estimand = Estimand(relevance_level=relevance_level, depth=depth)
    pool = estimand.pool(systems, judged)
    judgments = read_judgments(estimand, pool, judged, labels, judged_for).with_judged_for()
    spec = ModelSpec.parse(model or defaults.MODEL, method, read_options(option))
    with announced("fit", quiet):
        made = fit(pool, judgments, model=spec, draws=draws, chains=chains, tune=tune, seed=seed)
    made.save(output)
    meta = provenance(seed=seed, inputs=digests(systems, judged, [spec], labels))
    made_for = as_json(judgments.judged_for_by_topic or judgments.judged_for or ())
    write_json(meta | {"judged_for": made_for}, meta_path(output))
    if write_erels is not None:
        write(made.relevance.to_probabilities(), write_erels)
        write_json(meta, meta_path(write_erels))
    write_tables([judged_table(judgments, seed=seed)], None, meta)
    typer.echo(f"{in_words(made)}\nin {output}")


def models() -> None:
    """List relevance models and their options."""
    from rtc_bayes.relevance import available_models

    for model in available_models():
        default = " (default)" if model.name == defaults.MODEL else ""
        typer.echo(f"{model.name}{default}: {model.summary}")
        methods = (f"{m} (default)" if m == model.default_method else m for m in model.methods)
        typer.echo(f"    methods: {', '.join(methods)}")
        for name in model.presets:
            typer.echo(f"    preset={name}")
        for option in model.options:
            typer.echo(f"    {option}")
