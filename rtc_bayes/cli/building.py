"""The command that judges from a truth file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
from rtc_bayes.cli.inputs import digests
from rtc_bayes.errors import InputError, warn
from rtc_bayes.store.shown import counted, in_words

if TYPE_CHECKING:
    from rtc_bayes.collection import Qrels


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
            help="Judge until every pair has it, from 0.5 to 1. Default: 0.95 without --budget "
            "(auto)."
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
    as_prels = str(output).endswith((".prels", ".prels.gz"))
    if as_prels and not samples:
        raise InputError(
            f"{chosen.judge.name} draws no sample, and prels hold probabilities of being drawn",
            remedy="write another file, as judged.qrels, or judge by sample",
        )
    if as_prels and (qrels is not None or design.digests()):
        raise InputError(
            "prels are of one sample of a whole pool, with no judgments before and no design",
            remedy="leave --qrels and --hold-out out, or write qrels",
        )
    systems, answers = runs.read(), read_qrels(truth)
    before = None if qrels is None else read_qrels(qrels)
    _lose_no_judgment(output, [answers] if before is None else [answers, before])
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
    if as_prels:
        sample = chosen.judge.sample(result.judgments, seed=seed)  # type: ignore[attr-defined]
        write_prels(sample.to_prels(), output)
    else:
        write_qrels(result.judgments.to_qrels(), output)
    if samples and not as_prels:
        warn(
            "qrels do not hold the probabilities by which documents were drawn: estimates from "
            "this sample need -o FILE.prels",
        )
    inputs = digests(systems, answers, [chosen], labels) | design.digests()
    if before is not None:
        inputs[before.path] = before.digest
    meta = provenance(seed=seed, inputs=inputs)
    write_json(result.meta() | {"meta": meta}, meta_path(output))
    if not quiet:
        typer.echo(f"{in_words(result)}\nin {output}")


def _lose_no_judgment(output: str, kept: Sequence[Qrels]) -> None:
    """Refuse to write over judgments that are not in `kept`, as those that a person added."""
    from rtc_bayes.collection import read_qrels
    from rtc_bayes.store import meta_path
    from rtc_bayes.store.files import read_record

    if not Path(output).exists() or output.endswith((".prels", ".prels.gz")):
        return
    try:
        held = read_qrels(output)
        made = read_record(meta_path(output)) if Path(meta_path(output)).exists() else {}
    except InputError:
        return  # no judgments
    # nobody judged these
    taken = {(topic, docno) for topic, docno in made.get("missing", ())}
    lost = {
        (topic, docno)
        for topic, grades in held.items()
        for docno in grades
        if not any(docno in each.get(topic, {}) for each in kept)
    } - taken
    if lost:
        raise InputError(
            f"{counted(len(lost), 'judgment')} in it, which the truth lacks, would be lost",
            path=output,
            remedy=f"name another file, and go on from them with --qrels {output}",
        )
