"""Measure every speed again, each on a page of docs/results.

Usage: RTC_BAYES_DATA=FOLDER python -m experiments.speed.run [--only NAME ...]

One script after the other, in half an hour on a free core; `track` (an hour on two) only if named.
cut.py prints tables for a page that is written by hand, and all_pairs.py takes turns with another
version: they are run by themselves.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from experiments.speed.timing import ROOT

DOCS = ROOT / "docs"
SCRIPTS = ("sums", "moments", "judging", "reading", "trials", "growth", "track")
LONG = ("track",)
ARGUMENTS = {"growth": ["--figures", str(DOCS / "figures")]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    usual = [name for name in SCRIPTS if name not in LONG]
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=usual)
    for name in parser.parse_args().only:
        print(name, flush=True)
        command = [sys.executable, "-m", f"experiments.speed.{name}", *ARGUMENTS.get(name, [])]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        (DOCS / "results" / f"speed-{name}.md").write_text(done.stdout, encoding="utf-8")


if __name__ == "__main__":
    main()
