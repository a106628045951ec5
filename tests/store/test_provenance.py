import sys

import rtc_bayes
from rtc_bayes.store import provenance, write_json


def test_it_says_what_is_needed_to_make_the_result_again(tmp_path):
    made = provenance("rtc-bayes demo", seed=4, inputs={"qrels.txt": "ab"})
    assert made["command"] == "rtc-bayes demo"
    assert made["seed"] == 4
    assert made["inputs"] == {"qrels.txt": "ab"}
    assert made["version"] == rtc_bayes.__version__
    assert "numpy" in made["packages"]
    write_json(made, tmp_path / "meta.json")


def test_the_command_is_that_of_the_program_as_typed(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/rtc-bayes", "fit", "my runs/"])
    assert provenance()["command"] == "rtc-bayes fit 'my runs/'"
    monkeypatch.setattr(sys, "argv", ["/somewhere/rtc_bayes/__main__.py", "fit", "my runs/"])
    assert provenance()["command"] == "rtc-bayes fit 'my runs/'"
    monkeypatch.setattr(sys, "argv", ["/somewhere/else/__main__.py", "fit", "my runs/"])
    assert provenance()["command"] is None
    monkeypatch.setattr(sys, "argv", ["/somewhere/ipykernel_launcher.py", "-f", "/home/x.json"])
    assert provenance()["command"] is None


def test_two_reruns_say_the_same():
    assert provenance(seed=1) == provenance(seed=1)
