"""The four collections that the defaults about whole lists are fitted to and held against."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rtc_bayes import Fit, Judgments, Pool, Qrels, Run, Runs, fit, read_qrels, read_runs


@dataclass(frozen=True)
class Judged:
    """Where a collection's judgments are, and how they are to be taken."""

    name: str
    qrels: str
    relevance_level: int
    truth: str


COLLECTIONS = {
    "trec8_adhoc": Judged("TREC-8", "qrels.txt.gz", 1, "all"),
    "robust03": Judged("Robust 2003", "qrels.txt.gz", 1, "all"),
    "trec_dl20": Judged("DL 2020", "qrels.human.txt.gz", 2, "judged"),
    "clef_ehealth_2015": Judged(
        "CLEF eHealth 2015", "qrels.eng.clef2015.qtest.graded.txt.gz", 1, "judged"
    ),
}


def read(folder: str) -> tuple[Runs, Qrels]:
    """Read the runs and the judgments of a folder of RTC_BAYES_DATA."""
    place = Path(os.environ["RTC_BAYES_DATA"]) / folder
    return read_runs(place / "runs", name_by="file"), read_qrels(place / COLLECTIONS[folder].qrels)


def condensed(folder: str) -> tuple[Runs, Qrels]:
    """Read runs, condensed where judgments are shallow, and grades."""
    runs, qrels = read(folder)
    return (runs.condensed(qrels) if COLLECTIONS[folder].truth == "judged" else runs), qrels


def prepared(folder: str) -> tuple[Runs, Qrels]:
    """Read runs, condensed where judgments are shallow, and labels 0 and 1 of what is judged."""
    level = COLLECTIONS[folder].relevance_level
    runs, qrels = condensed(folder)
    labels = {
        topic: {docno: int(grade >= level) for docno, grade in of_topic.items()}
        for topic, of_topic in qrels.items()
    }
    return runs, Qrels(labels)


def cut(runs: Runs, length: int) -> Runs:
    """Cut every list."""
    return Runs(
        Run.from_rankings(
            name,
            {topic: run.ranking(topic)[:length].tolist() for topic in run.topics},
            scores={topic: run.scores(topic)[:length].tolist() for topic in run.topics},
        )
        for name, run in ((name, runs[name]) for name in runs.systems)
    )


def judged_to(runs: Runs, labels: Qrels, depth: int) -> Qrels:
    """Labels of all that the runs rank so far; what has none is nonrelevant."""
    pool = Pool.from_runs(runs, depth=depth)
    topics = {topic: pool.docnos[pool.documents(t)] for t, topic in enumerate(pool.topics)}
    return Qrels(
        {
            topic: {docno: labels[topic].get(docno, 0) for docno in docnos}
            for topic, docnos in topics.items()
            if topic in labels
        }
    )


def fitted_to(runs: Runs, labels: Qrels, depth: int, prior: str, level: int = 1) -> Fit:
    """Fit `robust`, with priors, to judgments of all that the runs rank so far."""
    pool = Pool.from_runs(runs).select_topics([t for t in runs.topics if t in labels])
    judged = judged_to(runs, labels, depth)
    judgments = Judgments.from_qrels(pool, judged, relevance_level=level)
    return fit(pool, judgments, model=f"robust[{prior}]:gibbs")
