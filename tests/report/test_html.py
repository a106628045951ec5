import base64
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from rtc_bayes.errors import InputError
from rtc_bayes.report import write_report
from rtc_bayes.robustness import Demo
from rtc_bayes.store import write_json


class Page(HTMLParser):
    """What a page refers to, and whether its tags are closed in order."""

    VOID = frozenset({"meta", "img", "br", "hr", "link", "input"})

    def __init__(self, text):
        super().__init__()
        self.images, self.references, self.text = [], [], []
        self._open = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "img":
            self.images.append(values)
        self.references += [values[key] for key in ("src", "href", "srcset") if key in values]
        assert tag not in ("script", "link", "iframe")
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def pages(shown, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {
        name: write_report(directory, folder / f"{name}.html").read_text(encoding="utf-8")
        for name, directory in {
            "demo": shown.directory,
            "study": shown.study.directory,
        }.items()
    }


@pytest.mark.parametrize(("name", "figures"), [("demo", 6), ("study", 8)])
def test_a_report_holds_its_figures(pages, name, figures):
    images = Page(pages[name]).images
    assert len(images) == figures
    for image in images:
        kind, encoded = image["src"].split(",", 1)
        assert kind == "data:image/svg+xml;base64"
        assert "</svg>" in base64.b64decode(encoded).decode("utf-8")
        assert len(image["alt"]) > 20


@pytest.mark.parametrize("name", ["demo", "study"])
def test_a_report_needs_nothing_else(pages, name):
    page = Page(pages[name])
    assert all(reference.startswith("data:") for reference in page.references)
    assert not re.search(r"https?://|url\(|@import", pages[name])


def test_a_study_says_what_it_found_and_how(pages, shown):
    text = " ".join(Page(pages["study"]).text).replace("\u00a0", " ")
    for expected in (
        "Summary",
        "Accuracy by confidence",
        "0.99 to 1.00",
        "Original and new systems",
        "one original",
        "Systems alike and unlike",
        "0.3 to 1",
        "Few and many judgments",
        "One trial",
        "Differences between algorithms",
    ):
        assert expected in text
    accuracy = shown.study.summary["rtc:map"]["accuracy"]
    assert f"{accuracy:.1%}" in text
    assert "rtc:map: plugin" in text
    assert f"seed={shown.study.meta['study']['seed']}" in text


def test_a_demo_shows_its_pairs_and_next_documents(pages, shown):
    text = " ".join(Page(pages["demo"]).text)
    sure = shown.pairs[shown.pairs["confidence"] >= 0.95]
    assert f"{len(sure)} of {len(shown.pairs)}" in text
    for docno in shown.next["docno"]:
        assert docno in text


def test_a_demo_is_not_broken_down(pages):
    text = " ".join(Page(pages["demo"]).text)
    assert "one original" not in text
    assert "One trial" not in text


@pytest.fixture
def only_ip(shown, tmp_path):
    """The part of a study that has no confidence."""
    study = shown.study
    for name in ("trials", "pairs", "systems", "judgments"):
        frame = getattr(study, name)
        frame[frame["algorithm"] == "ip"].to_csv(tmp_path / f"{name}.csv", index=False)
    write_json({"ip": study.summary["ip"]}, tmp_path / "summary.json")
    write_json(study.meta, tmp_path / "meta.json")
    return tmp_path


def tables_of(page):
    return {path.stem for path in (page.parent / "tables").glob("*.csv")}


def test_a_study_without_confidence(only_ip):
    page = write_report(only_ip)
    result = Page(page.read_text(encoding="utf-8"))
    assert "No algorithm of this study has a confidence." in result.text
    assert len(result.images) == 2
    imbalance = {"imbalance", "initial-imbalance"}
    assert tables_of(page) == {"summary", "original", "overlap", "judged", "reasons"} | imbalance


def test_a_study_without_pairs(only_ip):
    pairs = (only_ip / "pairs.csv").read_text().splitlines()
    (only_ip / "pairs.csv").write_text(pairs[0] + "\n")
    assert tables_of(write_report(only_ip)) == {"summary", "reasons"}


def test_the_default_place_is_in_the_folder(shown):
    assert write_report(shown.directory) == shown.directory / "report.html"


def test_a_folder_with_nothing_to_report(tmp_path):
    with pytest.raises(InputError, match="holds no study; give the folder"):
        write_report(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        write_report(tmp_path / "absent")


def test_a_demo_of_an_earlier_version_is_reported(shown, tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(shown.directory, folder)
    meta = json.loads((folder / "meta.json").read_text())
    kept = {name: meta[name] for name in ("command", "version", "seed", "inputs", "python")}
    write_json({**kept, "packages": meta["packages"]}, folder / "meta.json")
    for name in ("judged", "trials"):
        (folder / f"{name}.csv").unlink()
    (folder / "digests.json").unlink()
    assert "A few judgments, many systems" in write_report(folder).read_text(encoding="utf-8")


def test_a_demo_reads_back(shown):
    again = Demo.load(shown.directory)
    assert again.facts == shown.facts
    assert again.pairs["confidence"].tolist() == shown.pairs["confidence"].tolist()
    assert again.systems["system"].tolist() == shown.systems["system"].tolist()
