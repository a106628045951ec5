import time

from rtc_bayes.store import announced, progress, progress_bar, silent


def test_bars_go_to_standard_error_only(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress_bar() as progress:
        progress("trials", 0, 2)
        progress("trials", 2, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "trials" in captured.err
    assert "2/2" in captured.err


def test_quiet_is_silent(capsys):
    with progress_bar(quiet=True) as progress:
        progress("trials", 1, 2)
    assert progress is silent
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_nothing_is_shown_before_there_is_progress(capsys):
    with progress_bar():
        pass
    assert capsys.readouterr().err == ""


def test_short_work_shows_no_bar(capsys):
    with progress_bar(after=60.0) as progress:
        progress("topics", 1, 1)
    assert capsys.readouterr().err == ""


def test_lines_now_and_then_where_there_is_no_terminal(capsys, monkeypatch):
    clock = iter([0.0, 1.0, 2.5, 2.5, 3.0, 12.6, 12.6])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress_bar() as progress:
        for done in range(1, 5):
            progress("trials", done, 4)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "trials: 2 of 4\ntrials: 4 of 4\n"


def test_a_stage_of_which_a_line_told_has_its_end_told(capsys, monkeypatch):
    clock = iter([0.0, 2.5, 2.5, 2.6, 2.7, 2.8, 2.9])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress_bar() as progress:
        for done in range(1, 4):
            progress("trials", done, 3)
        progress("tables", 1, 1)
    assert capsys.readouterr().err == "trials: 1 of 3\ntrials: 3 of 3\n"


def test_that_nothing_is_done_yet_is_told_at_once(capsys):
    for after in (0.0, 60.0):
        with progress_bar(after=after) as progress:
            progress("trials", 0, 3)
            told = capsys.readouterr().err
            progress("trials", 1, 3)
            progress("tables", 0, 1)
        assert told == ("" if after else "trials: 0 of 3\n")
        assert capsys.readouterr().err == ""


def test_work_that_reports_nothing_is_announced(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_FIRST_LINE", 0.01)
    with announced("fit"):
        time.sleep(0.2)
    assert capsys.readouterr().err == "fit: 0 s so far\n"
    with announced("fit", quiet=True):
        time.sleep(0.05)
    with announced("fit"):
        pass
    assert capsys.readouterr().err == ""
