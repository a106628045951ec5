import pytest

from rtc_bayes.errors import InputError
from rtc_bayes.store import claimed, read_json


def claim(folder, **meta):
    return claimed(folder / "meta.json", meta, lambda meta_read: meta_read, inside="trials")


def test_a_claim_makes_the_folder_and_says_what_it_is_for(tmp_path):
    with claim(tmp_path / "study", seed=1):
        assert (tmp_path / "study" / "trials").is_dir()
    assert read_json(tmp_path / "study" / "meta.json") == {"seed": 1}


def test_other_arguments_are_refused(tmp_path):
    with claim(tmp_path, seed=1):
        pass
    with pytest.raises(InputError, match="other seed: 1 there, 2 here"), claim(tmp_path, seed=2):
        pass
    assert read_json(tmp_path / "meta.json") == {"seed": 1}


def test_one_at_a_time(tmp_path):
    with claim(tmp_path, seed=1):
        leftover = tmp_path / "trials" / ".00001.0badcafe.json"
        leftover.touch()
        with pytest.raises(InputError, match="another process"), claim(tmp_path, seed=1):
            pass
        # it may be what the first is writing
        assert leftover.exists()
    with claim(tmp_path, seed=1):
        assert not leftover.exists()


def test_an_exception_gives_the_folder_up(tmp_path):
    with pytest.raises(KeyboardInterrupt), claim(tmp_path, seed=1):
        raise KeyboardInterrupt
    with claim(tmp_path, seed=1):
        pass


def test_only_what_was_half_written_is_removed(tmp_path):
    (tmp_path / "trials").mkdir()
    kept = [
        "trials/00001.json",
        "trials/.hidden",
        ".notes.json",
        "0badcafe.json",
        ".a.0badcaf.json",
    ]
    removed = ["trials/.00002.0badcafe.json", ".summary.12345678.json", ".README.12345678"]
    for name in kept + removed:
        (tmp_path / name).touch()
    with claim(tmp_path, seed=1):
        pass
    assert all((tmp_path / name).exists() for name in kept)
    assert not any((tmp_path / name).exists() for name in removed)
