"""Trials in processes of this machine."""

import os

from rtc_bayes.workers import Workers, open_workers


def test_processes_that_are_kept_follow_the_caller(tmp_path, monkeypatch):
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        with open_workers(Workers(jobs=2)) as run_all:
            places = dict(run_all(lambda trial, seed: os.getcwd(), [(0, 1), (1, 1), (2, 1)]))
        assert places == dict.fromkeys(range(3), str(folder))
