"""Are confidences right for the systems of a group that was not judged for?

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.left_out_groups -o DIR
        [--collections NAME... --jobs 1 --seed 41]

runs two robustness studies of each collection by `robust` about whole lists. In one the new systems
of a trial are those of a group, and judgments are made for two systems of other groups. In the
other the names of the groups are dealt to the systems at random: trials have as many new systems,
drawn from all. Then it prints, as Markdown, scores of the pairs that hold a new system, and of
their bins of confidence, with standard errors over trials.

Groups of TREC-8 are those of `run_groups.txt`. Those of DL 2020 are read off the beginnings of run
names, where the participants of the track are known by them (`DL20`): systems of one laboratory,
or baselines that one participant ran, are one group.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.common import bins_table, of_algorithm, size, standard_error
from experiments.whole_lists.four import COLLECTIONS, read
from rtc_bayes import Estimand, Workers, read_groups
from rtc_bayes.defaults import NORMAL_95
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.robustness import Study, study
from rtc_bayes.store import progress_bar
from rtc_bayes.trials.scores import log_score, summarise

ALGORITHM = "robust:gibbs"
TRIALS = {"trec8_adhoc": 24, "trec_dl20": 28}
"""24 of the 41 groups of TREC-8 once each, each of the 14 of DL 2020 twice."""
ARMS = {"groups": "one group left out", "random": "random"}
DL20 = {
    "nvidia": ("1", "2"),
    "CoRT": ("CoRT-",),
    "DoRA": ("DoRA_", "small_1k", "med_1k"),
    "RMIT": ("RMIT-", "TF_IDF_", "DLH_", "indri-", "terrier-"),
    "NLE": ("NLE_",),
    "TUW": ("TUW-",),
    "UAmsterdam": ("bert_6", "bm25_bert_token", "relemb_"),
    "bcai": ("bcai_", "bl_bcai_"),
    "bigIR": ("bigIR-",),
    "BITEM": ("fr_pass_", "rr-pass-"),
    "NLM": ("nlm-",),
    "Waterloo": ("p_",),
    "PASH": ("pash_",),
    "pinganNLP": ("pinganNLP",),
}
"""How the names of a group's runs begin."""


def groups_of(folder: str, systems: tuple[str, ...]) -> dict[str, str]:
    """Return the group of each system of a collection; of Robust 2003 each run is a site's own."""
    if folder == "robust03":
        return {system: system for system in systems}
    if folder == "clef_ehealth_2015":
        return {system: system.partition("_")[0] for system in systems}
    if folder == "trec8_adhoc":
        return read_groups(Path(os.environ["RTC_BAYES_DATA"]) / folder / "run_groups.txt")
    return {
        system: next(group for group, begin in DL20.items() if system.startswith(begin))
        for system in systems
    }


def dealt(groups: dict[str, str], seed: int) -> dict[str, str]:
    """Deal the same names of groups, as many of each, to the systems at random."""
    names = np.random.default_rng(seed).permutation(list(groups.values()))
    return dict(zip(groups, names.tolist(), strict=True))


def side_by_side(arms: dict[str, Study], groups: dict[str, dict[str, str]]) -> Study:
    """Return both studies of a collection as one whose algorithms are the arms: new pairs only."""
    tables: dict[str, list[pd.DataFrame]] = {"trials": [], "pairs": [], "systems": []}
    for arm, done in arms.items():
        named = {"algorithm": ARMS[arm]}
        left_out = done.systems["trial"].map(done.trials.set_index("trial")["left_out"])
        new = done.systems["system"].map(groups[arm]) == left_out
        tables["trials"].append(done.trials.assign(**named))
        tables["pairs"].append(done.pairs[done.pairs["initial"] < 2].assign(**named))
        tables["systems"].append(done.systems.assign(new=new, **named))
    stacked = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    summary = {
        arm: summarise(
            *(of_algorithm(stacked[name], arm) for name in ("trials", "pairs"))
        ).to_dict()
        for arm in ARMS.values()
    }
    first = next(iter(arms.values()))
    return Study(first.directory, stacked, summary, first.meta)


def with_error(values: pd.Series, form: str) -> str:
    """Write a mean over trials and its standard error."""
    return f"{format(values.mean(), form)} ± {format(standard_error(values), form.lstrip('+'))}"


def by_trial(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the means of each trial: lost, gap, held (share of 95% intervals), overlap."""
    lost = log_score(pairs["confidence"], pairs["correct"])
    error = (pairs["expected_difference"] - pairs["true_difference"]).abs()
    return (
        pairs.assign(
            lost=lost,
            gap=pairs["correct"] - pairs["confidence"],
            held=error <= NORMAL_95 * pairs["sd"],
        )
        .groupby("trial")[["lost", "gap", "held", "overlap"]]
        .mean()
    )


def pair_row(arm: str, what: str, pairs: pd.DataFrame) -> dict[str, str]:
    """Score pairs of one arm as a row of a table."""
    means = by_trial(pairs)
    return {
        "new systems": arm,
        "pairs": f"{what} ({len(pairs)})",
        "log score": with_error(means["lost"], ".3f"),
        "confidence": f"{pairs['confidence'].mean():.3f}",
        "accuracy": f"{pairs['correct'].mean():.3f}",
        "accuracy less confidence": with_error(means["gap"], "+.3f"),
        "95% of differences": with_error(means["held"], ".1%"),
        "size": f"{size(pairs):.0%}",
        "overlap": f"{means['overlap'].mean():.2f}",
    }


def trial_row(arm: str, both: Study) -> dict[str, str]:
    """Say of one arm what is of trials and of systems."""
    trials = of_algorithm(both.trials, arm)
    systems = of_algorithm(both.systems, arm)
    systems = systems.assign(bias=systems["expected"] - systems["true"])
    systems["held"] = systems["bias"].abs() <= NORMAL_95 * systems["sd"]
    new, initial = (
        systems[systems["new"] == which].groupby("trial")[["bias", "held"]].mean()
        for which in (True, False)
    )
    return {
        "new systems": arm,
        "trials": f"{len(trials)}",
        "groups": f"{trials['left_out'].nunique()}",
        "new systems a trial": f"{systems['new'].sum() / len(trials):.1f}",
        "judged, median": f"{trials['judged'].median():g}",
        "W": f"{both.summary[arm]['W']:.2f}",
        "tau": with_error(trials["tau"].dropna(), ".3f"),
        "95% of MAPs, new": with_error(new["held"], ".1%"),
        "95% of MAPs, initial": with_error(initial["held"], ".1%"),
        "bias of MAP, new": with_error(new["bias"], "+.3f"),
        "initial bias": with_error(initial["bias"], "+.3f"),
        "new less initial": with_error(new["bias"] - initial["bias"], "+.3f"),
    }


def apart_row(what: str, pairs: pd.DataFrame) -> dict[str, str]:
    """Say by how much left-out groups differ from random trials in some pairs."""
    left, drawn = (by_trial(of_algorithm(pairs, arm)) for arm in ARMS.values())
    apart = left.mean() - drawn.mean()
    error = np.hypot(left.std(ddof=1) / np.sqrt(len(left)), drawn.std(ddof=1) / np.sqrt(len(drawn)))
    names = {"lost": "log score", "gap": "accuracy less confidence"}
    row = {name: f"{apart[key]:+.3f} ± {error[key]:.3f}" for key, name in names.items()}
    held = f"{apart['held']:+.1%} ± {error['held']:.1%}"
    return {"left out less random": what, **row, "95% of differences": held}


def page(name: str, both: Study) -> str:
    """Write what came of a collection."""
    pairs = both.pairs
    kinds = {
        "all with a new one": pairs,
        "an initial and a new one": pairs[pairs["initial"] == 1],
        "two new ones": pairs[pairs["initial"] == 0],
    }
    rows = [
        pair_row(arm, what, of_algorithm(chosen, arm))
        for arm in ARMS.values()
        for what, chosen in kinds.items()
    ]
    tables = [
        to_markdown(pd.DataFrame([trial_row(arm, both) for arm in ARMS.values()])),
        to_markdown(pd.DataFrame(rows)),
        to_markdown(pd.DataFrame([apart_row(what, chosen) for what, chosen in kinds.items()])),
        bins_table(both, str),
    ]
    return "\n\n".join([f"## {name}", *(table.strip() for table in tables)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--collections", nargs="+", choices=[*TRIALS], default=[*TRIALS])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=41)
    options = parser.parse_args()
    for folder in options.collections:
        judged = COLLECTIONS[folder]
        runs, qrels = read(folder)
        groups = groups_of(folder, runs.systems)
        of_arms = {"groups": groups, "random": dealt(groups, options.seed)}
        arms = {}
        for arm, of_systems in of_arms.items():
            with progress_bar() as progress:
                arms[arm] = study(
                    runs,
                    qrels,
                    algorithms=ALGORITHM,
                    estimand=Estimand(relevance_level=judged.relevance_level, topics="judged"),
                    truth=judged.truth,
                    trials=TRIALS[folder],
                    leave_out="groups",
                    groups=of_systems,
                    moments="plugin",
                    seed=options.seed,
                    output=options.output / f"{folder}-{arm}",
                    workers=Workers(options.jobs, progress=progress),
                )
        print(page(judged.name, side_by_side(arms, of_arms)), flush=True)


if __name__ == "__main__":
    main()
