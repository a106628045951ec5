"""The command that judges from a truth file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rtc_bayes import defaults
from rtc_bayes.cli.arguments import (
    AnEstimand,
    Judge,
    LabelsRead,
    OutFile,
    Quiet,
    RunsRead,
    Seed,
    UnderDesign,
)
from rtc_bayes.cli.groups import grouped
from rtc_bayes.cli.guarding import PRELS, lose_no_judgment, taken_before
from rtc_bayes.cli.inputs import digests
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted, in_words

if TYPE_CHECKING:
    from rtc_bayes.judging import Algorithm


@grouped
def build(
    *,
    truth: Annotated[str, typer.Option(help="Qrels that answer what is judged.")],
    output: OutFile,
    qrels: Annotated[
        str | None, typer.Option(help="Judgments made before, to go on from; OUT has them, too.")
    ] = None,
    algorithm: Judge = defaults.ALGORITHM,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Judge until every pair has it, above 0.5 and at most 1. Default: 0.95 without "
            "--budget (auto)."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=0, help="Make so many judgments; with --confidence, at most so many."),
    ] = None,
    floor: Annotated[int | None, typer.Option(help="Judgments that each topic gets first.")] = None,
    labels: LabelsRead,
    estimand: AnEstimand,
    design: UnderDesign,
    runs: RunsRead,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Judge from a truth file until systems are told apart.

    Chooses documents, and takes their grades from --truth. OUT is written at the end.
    OUT.meta.json says for which systems they were chosen, and why judging ended. With --algorithm
    sample, an OUT that ends in .prels has the probability that each was drawn.
    """
    from rtc_bayes.collection import read_qrels, write_prels, write_qrels
    from rtc_bayes.judging import build, parse_algorithm
    from rtc_bayes.store import announced, meta_path, provenance, write_json

    chosen = parse_algorithm(algorithm)
    samples = hasattr(chosen.judge, "sample")
    as_prels = output.endswith(PRELS)
    if as_prels:
        _check_prels(chosen, anew=qrels is None and not design.digests())
    systems, answers = runs.read(), read_qrels(truth)
    before = None if qrels is None else read_qrels(qrels)
    kept = [answers] if before is None else [answers, before]
    go_on = "" if as_prels else f", and go on from them with --qrels {output}"
    lose_no_judgment(output, kept, "the truth", f"name another file{go_on}")
    hold_out, groups = design.read()
    with announced("judging", quiet):
        result = build(
            estimand.pool(systems, before),
            answers,
            chosen,
            estimand,
            confidence="auto" if confidence is None else confidence,
            budget=budget,
            floor=floor,
            seed=seed,
            hold_out=hold_out,
            groups=groups,
            labels=labels.read(),
            judgments=before,
        )
    if result.missing:
        warn(
            f"{counted(len(result.missing), 'chosen document')} that the truth lacks, taken as "
            f"nonrelevant; listed in {meta_path(output)}",
        )
    made = result.judgments.to_qrels()
    taken = [] if qrels is None else taken_before(qrels, made)
    if as_prels:
        sample = chosen.judge.sample(result.judgments, seed=seed)  # type: ignore[attr-defined]
        write_prels(sample.to_prels(), output)
    else:
        write_qrels(made, output)
    if samples and not as_prels:
        warn(
            "qrels do not hold the probabilities by which documents were drawn: estimates from "
            "this sample need -o FILE.prels",
        )
    inputs = digests(systems, answers, [chosen], labels) | design.digests()
    if before is not None:
        inputs[before.path] = before.digest
    meta = provenance(seed=seed, inputs=inputs)
    about = result.meta()
    write_json(about | {"missing": taken + about["missing"], "meta": meta}, meta_path(output))
    typer.echo(f"{in_words(result)}\nin {output}")


def _check_prels(chosen: Algorithm, *, anew: bool) -> None:
    """Refuse prels of a judge that draws no sample, or where judging does not begin anew."""
    if not hasattr(chosen.judge, "sample"):
        raise InputError(
            f"{chosen.judge.name} draws no sample, and prels hold probabilities of being drawn",
            remedy="write another file, as judged.qrels, or judge by sample",
        )
    if not anew:
        raise InputError(
            "prels are of one sample of a whole pool, with no judgments before and no design",
            remedy="leave --qrels and --hold-out out, or write qrels",
        )
