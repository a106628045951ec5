"""What the 2010 paper prints, beside what is computed here.

    RTC_BAYES_DATA=FOLDER python -m experiments.reuse.published

prints Markdown: counts of designs (Table 1, sections 4.2 and 4.3), chi-squares and p-values of the
printed tables (section 3.2.1, Tables 3 to 5), the power of the example of section 3.2.1, section
4.1 (scores that are lower on reuse topics are found out), analogues of section 4.2 and Table 4 (the
Robust 2004 matrix under designs that take nothing away) and of section 4.3 (pools of several depths
on TREC-8, whose groups are put together to five sites).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rtc_bayes import (
    Reusability,
    ScoreMatrix,
    design_counts,
    hold_out,
    judged_under,
    read_groups,
    read_qrels,
    read_runs,
    reusability,
)
from rtc_bayes.report.tables import to_markdown
from rtc_bayes.reuse import power_of_t
from rtc_bayes.reuse.agreement import chi_square, chi_square_p, exact_p

PRINTED = {
    "3.2.1, APL": ([6, 3, 0, 1], [7.098, 2.043, 0.073, 0.786], ".88 (exact)"),
    "Table 3": ([196, 57, 2, 45], [189.5, 62.1, 4.3, 44.1], ".58"),
    "Table 4": ([130, 127, 17, 160], [135.4, 121.6, 13.9, 163.1], ".74"),
    "Table 5": ([257, 133, 41, 100], [302.5, 85.1, 26.2, 117.2], "0"),
}
DEPTHS = (10, 20, 50, 100)
DESIGNS = 10


def main() -> None:
    data = Path(os.environ["RTC_BAYES_DATA"])
    for title, rows in {
        "Counts": counts(),
        "Chi-squares of printed tables": chi_squares(),
        "Power of the example": [
            {"topics": n, "power": float(power_of_t(0.2614, n)), "printed": printed}
            for n, printed in ((210, 0.964), (39, 0.354))
        ],
        "4.1: lower scores on reuse topics": lower_scores(),
        "4.2 and Table 4: the Robust 2004 matrix, nothing lost": topic_samples(data),
        "4.3: pools of TREC-8, five sites, two held out": pools(data),
    }.items():
        print(f"**{title}**\n\n{to_markdown(pd.DataFrame(rows).round(3))}", flush=True)


def counts() -> Iterator[dict[str, object]]:
    """Count topics of the paper's designs."""
    for where, counted in {
        "Table 1": design_counts(6, 25, held=2, baseline_topics=10),
        "4.2": design_counts(9, 564, held=2, baseline_topics=200),
        "4.3": design_counts(13, 249, held=2, on_remainder="cycle"),
    }.items():
        yield {"where": where, **vars(counted)}


def chi_squares() -> Iterator[dict[str, object]]:
    """Compute the chi-squares of printed tables."""
    for where, (observed, expected, printed) in PRINTED.items():
        cells = np.array(observed), np.array(expected)
        square = chi_square(*cells)
        yield {
            "where": where,
            "chi-square": square,
            "p, 3 df": chi_square_p(square),
            "p, exact": exact_p(*cells),
            "printed p": printed,
        }


def lower_scores() -> Iterator[dict[str, object]]:
    """Draw beta scores that are lower, for every other run, on topics where it is held out."""
    systems, n_groups = 25, 5
    names = tuple(f"run{n:02d}" for n in range(systems))
    groups = {name: f"site{n * n_groups // systems + 1}" for n, name in enumerate(names)}
    for reuse in (10, 20, 50, 100):
        topics = reuse * 5 // 2 * 2  # with two of five held out, two fifths are reuse topics
        results = []
        for seed in range(DESIGNS):
            rng = np.random.default_rng(seed)
            design = hold_out(groups, topics, 2, baseline_topics=topics // 2, seed=seed)
            good = rng.uniform(1, 3, systems)[:, None] * np.ones(topics)
            out = ~design.mask(names, groups, design.topics)
            good[out & (np.arange(systems) % 2 == 0)[:, None]] *= 0.6
            scores = rng.beta(good, 6)
            matrix = ScoreMatrix(scores, 0 * scores, names, design.topics, "AP")
            results.append(p_values(reusability(matrix, groups, design, permutations=199)))
        held = int(out.sum(axis=1).mean())
        yield {"reuse topics of a site": held, **median(results)}


def topic_samples(data: Path) -> Iterator[dict[str, object]]:
    """Hold sites out of topics where every system keeps its score."""
    scores = ScoreMatrix.from_csv(data / "score_matrices" / "robust2004_ap.csv", "AP")
    count = len(scores.systems)
    for sites, baseline in ((9, 0), (9, 80), (13, 0)):
        groups = {s: f"site{n * sites // count + 1:02d}" for n, s in enumerate(scores.systems)}
        results = []
        for seed in range(DESIGNS):
            design = hold_out(
                groups, scores.topics, 2, baseline_topics=baseline, on_remainder="cycle", seed=seed
            )
            results.append(p_values(reusability(scores, groups, design, permutations=199)))
        yield {"sites": sites, "least baseline": baseline, **median(results)}


def pools(data: Path) -> Iterator[dict[str, object]]:
    """Judge by pools without the sites that are held out."""
    runs = read_runs(data / "trec8_adhoc" / "runs")
    qrels = read_qrels(data / "trec8_adhoc" / "qrels.txt.gz")
    of_track = read_groups(data / "trec8_adhoc" / "run_groups.txt")
    order = sorted(set(of_track.values()))
    for depth in DEPTHS:
        results = []
        for seed in range(DESIGNS // 2):
            shuffled = np.random.default_rng(seed).permutation(order).tolist()
            site = {group: f"site{n % 5 + 1}" for n, group in enumerate(shuffled)}
            groups = {system: site[of_track[system]] for system in runs.systems}
            design = hold_out(groups, runs.topics, 2, seed=seed)
            kept = judged_under(qrels, runs, groups, design, depth)
            matrix = ScoreMatrix.from_qrels(runs, kept, topics="all")
            results.append(p_values(reusability(matrix, groups, design, permutations=199)))
        yield {"depth": depth, **median(results)}


def p_values(result: Reusability) -> dict[str, float]:
    """Return the loss and the p-values of an experiment."""
    compared = result.comparisons().set_index("comparison")
    return {
        "loss": result.loss,
        "p of the loss": result.loss_p,
        **{f"{name}, printed": row["p_chi_square"] for name, row in compared.iterrows()},
        **{f"{name}, permuted": row["p_permutation"] for name, row in compared.iterrows()},
    }


def median(results: list[dict[str, float]]) -> dict[str, float]:
    """Return medians over designs."""
    return pd.DataFrame(results).median().to_dict()


if __name__ == "__main__":
    main()
