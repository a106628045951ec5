"""How far expected scores and differences can be trusted when few systems are pooled.

Simulated collections of 25 topics, 100 judgments by `robust`, about whole lists::

    python -m experiments.whole_lists.few_systems
"""

import argparse
import warnings

import pandas as pd

import rtc_bayes as rb
from experiments.whole_lists.held import held
from rtc_bayes.report.tables import to_markdown


def one(systems: int, depth: int, seed: int) -> dict[str, float | None]:
    """Hold expected MAPs and differences of one collection to the truth."""
    made = rb.simulate(n_topics=25, n_systems=systems, seed=seed)
    pool = rb.Pool.from_runs(made.runs, depth=depth)
    judgments = rb.build(pool, made.qrels, budget=100, confidence=None).judgments
    comparison = rb.compare(pool, rb.fit(pool, judgments))
    truth = rb.evaluate(made.runs, made.qrels).mean_frame().set_index("system")["AP"]
    return held(comparison, truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    seeds = range(1, parser.parse_args().seeds + 1)
    warnings.simplefilter("ignore", rb.FitWarning)
    sizes = [(3, 50), (3, 100), (6, 50), (6, 100), (10, 100)]
    means = [pd.DataFrame([one(*size, seed) for seed in seeds]).mean() for size in sizes]
    index = pd.MultiIndex.from_tuples(sizes, names=["systems", "depth"])
    print(to_markdown(pd.DataFrame(means, index=index).round(3).reset_index()))


if __name__ == "__main__":
    main()
