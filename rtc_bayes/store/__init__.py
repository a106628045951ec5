"""A leaf that everything may use: atomic writing, digests, provenance, seeds and progress.

Nothing here knows what a run or a judgment is.
"""

from __future__ import annotations

from rtc_bayes.store.claims import claimed
from rtc_bayes.store.datasets import read_dataset, read_tree, write_dataset
from rtc_bayes.store.files import (
    atomic_path,
    atomic_write,
    digest_file,
    digest_files,
    digest_text,
    json_of,
    json_text,
    make_folder,
    meta_path,
    read_json,
    read_record,
    rows_of,
    write_csv,
    write_json,
    write_text,
)
from rtc_bayes.store.progress import Progress, announced, progress_bar, silent
from rtc_bayes.store.provenance import provenance
from rtc_bayes.store.seeds import spawn_seeds

__all__ = [
    "Progress",
    "announced",
    "atomic_path",
    "atomic_write",
    "claimed",
    "digest_file",
    "digest_files",
    "digest_text",
    "json_of",
    "json_text",
    "make_folder",
    "meta_path",
    "progress_bar",
    "provenance",
    "read_dataset",
    "read_json",
    "read_record",
    "read_tree",
    "rows_of",
    "silent",
    "spawn_seeds",
    "write_csv",
    "write_dataset",
    "write_json",
    "write_text",
]
