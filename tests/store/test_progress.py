from rtc_bayes.store import progress_bar, silent


def test_bars_go_to_standard_error_only(capsys):
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
