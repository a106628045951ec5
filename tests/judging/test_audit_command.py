"""An audit from the command line: drawn, judged, evaluated, and shown."""

import html
import json

import pytest

import rtc_bayes as rb
from rtc_bayes.cli import main
from rtc_bayes.judging.audit_estimates import FEWEST
from rtc_bayes.judging.audit_grades import with_grades

ASKED = ["compare", "runs", "--qrels", "few.qrels", "--model", "rtc", "--method", "map", "--quiet"]

NEXT = ["next", "runs", "--qrels", "few.qrels", "--audit", "0.2", "--quiet"]


@pytest.fixture(scope="module")
def simulated():
    return rb.simulate(n_topics=6, n_systems=4, documents=200, depth=60, seed=3)


@pytest.fixture
def here(simulated, tmp_path, monkeypatch):
    """A folder with runs, judgments, and an audit of which every document is judged."""
    monkeypatch.chdir(tmp_path)
    rb.write_runs(simulated.runs, "runs")
    rb.write_qrels(simulated.qrels, "truth")
    build = "build runs --truth truth --algorithm mtc --budget 40 -o few.qrels --quiet"
    assert main(build.split()) == 0
    assert main([*NEXT, "-o", "audit.prels"]) == 0
    return tmp_path


def judge(qrels):
    rb.write_prels(with_grades(rb.read_prels("audit.prels"), qrels), "audit.prels")


def test_documents_of_an_audit_are_listed_with_their_probability(here, simulated, capsys):
    few, drawn = rb.read_qrels("few.qrels"), rb.read_prels("audit.prels")
    for topic, rows in drawn.items():
        for docno, row in rows.items():
            assert row.relevance == few.get(topic, {}).get(docno, -1)
            assert 0.0 < row.probability <= 1.0
    capsys.readouterr()
    assert main([*NEXT, "--count", "3", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    pool = rb.Pool.from_runs(simulated.runs, depth=100)
    drawn_by_python = rb.audit_documents(pool, 0.2, few)
    assert drawn_by_python == drawn
    order = rb.audit_order(rb.split_audit(pool, drawn_by_python).sample)
    assert listed == order.to_frame().head(3).to_dict("records")
    for one in listed:
        row = drawn[one["topic"]][one["docno"]]
        assert (row.relevance, row.probability) == (-1, pytest.approx(one["probability"]))


def test_what_is_judged_below_the_depth_changes_no_draw(here, simulated, capsys):
    """Otherwise an audit's documents would change as judging goes on."""
    at_ten = [*NEXT, "--depth", "10", "-o"]
    assert main([*at_ten, "before.prels"]) == 0
    pool = rb.Pool.from_runs(simulated.runs, depth=10)
    table = {topic: dict(grades) for topic, grades in rb.read_qrels("few.qrels").items()}
    for topic in pool.topics:
        place = pool.locate(topic, list(simulated.qrels[topic]))
        below = [d for d, n in zip(simulated.qrels[topic], place, strict=True) if n < 0]
        table.setdefault(topic, {}).update(dict.fromkeys(below[:5], 0))
    rb.write_qrels(rb.Qrels(table), "few.qrels")
    capsys.readouterr()
    assert main([part for part in at_ten if part != "--quiet"] + ["after.prels"]) == 0
    before, after = rb.read_prels("before.prels"), rb.read_prels("after.prels")
    assert {t: list(rows) for t, rows in before.items()} == {
        t: list(rows) for t, rows in after.items()
    }
    assert f"of {after.n_values} documents to judge, seed 0\nin after.prels" in (
        capsys.readouterr().out
    )


def test_compare_fits_without_the_audit_and_shows_its_verdict(here, simulated, capsys):
    judge(simulated.qrels)
    capsys.readouterr()
    assert main([*ASKED, "--audit", "audit.prels", "--format", "json"]) == 0
    written = json.loads(capsys.readouterr().out)
    prels, few = rb.read_prels("audit.prels"), rb.read_qrels("few.qrels")
    pool = rb.Pool.from_runs(simulated.runs, depth=100)
    seen, sample = rb.split_audit(pool, prels, few)
    judgments = rb.Judgments.from_qrels(pool, seen)
    comparison = rb.compare(pool, rb.fit(pool, judgments, model="rtc:map"))
    look = rb.audit(comparison, sample)
    assert written["audit"]["e_value"] == pytest.approx(look.e_value)
    assert [row["estimate"] for row in written["audit"]["quantities"]] == pytest.approx(
        look.estimate.tolist()
    )
    assert written["audit"]["verdict"] == look.verdict
    assert main([*ASKED, "--audit", "audit.prels"]) == 0
    shown = capsys.readouterr().out
    assert look.verdict in shown
    assert f"limits, stated from {FEWEST} judged documents on" in shown
    assert main([*ASKED, "--audit", "audit.prels", "-o", "page.html"]) == 0
    page = html.unescape((here / "page.html").read_text())
    assert look.verdict in page
    assert f"compared by {judgments.n_judged} judgments" in page
    assert f"The model has not seen {look.judged} judgments of the audit, which check it." in page
    both = rb.compare(pool, rb.fit(pool, judgments, model="rtc:map"), ["AP", "P@5"])
    for compared, audits in ((comparison, look), (comparison, [look]), (both, look)):
        assert look.verdict in html.unescape(compared.to_html(None, judgments, audit=audits))
    with pytest.raises(rb.InputError, match="to_html takes no audits; write audit"):
        both.to_html(audits=[look])
    assert main([*ASKED, "--audit", "audit.prels", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("quantity,expected,sd,estimate,low,high,agrees")


def test_a_log_keeps_the_looks(here, simulated, capsys, monkeypatch):
    """Half of the documents are judged at the first look; the second goes on from it."""
    every = rb.read_prels("audit.prels")
    asked = [*ASKED, "--audit", "audit.prels", "--audit-log", "log.json", "--format", "json"]
    pool = rb.Pool.from_runs(simulated.runs, depth=100)
    sample = rb.Sample.from_prels(pool, every, unfinished=True)
    first = rb.audit_order(sample).next[:20]
    some = rb.Judgments.from_labels(pool, first, [0.0] * len(first)).to_qrels()
    known = {t: {d: simulated.qrels[t].get(d, 0) for d in some[t]} for t in some}
    judge(rb.Qrels(known))
    assert main(asked) == 0
    one = json.loads((here / "log.json").read_text())
    judge(simulated.qrels)
    assert main(asked) == 0
    two = json.loads((here / "log.json").read_text())
    assert one["judged"] >= 20
    assert two["judged"] > one["judged"]
    assert two["looks"][0] == one["looks"][0]
    assert len(two["looks"]) == 2
    # refused before anything is fitted, which can take long
    monkeypatch.setattr("rtc_bayes.relevance.fit", None)
    assert main([*asked, "--measure", "P@5"]) == 2
    assert "the look before had measure AP, this one has P@5" in capsys.readouterr().err
    assert main([*asked, "--seed", "5"]) == 2
    assert "was not drawn by seed 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (["--audit-log", "log.json"], "keeps the looks of one audit"),
        (["--audit", "few.qrels"], "few.qrels"),
        (["--audit", "audit.prels", "--seed", "5"], "not drawn by seed 5"),
        (["--audit", "audit.prels", "--audit-log", "few.qrels"], "holds no audit"),
        (["--audit", "audit.prels", "--ranks", "--format", "csv"], "one table"),
    ],
)
def test_what_cannot_be_is_refused(here, simulated, capsys, extra, said):
    judge(simulated.qrels)
    assert main([*ASKED, *extra]) == 2
    assert said in capsys.readouterr().err


def test_grades_of_an_audit_are_not_written_over(here, simulated, capsys):
    assert main([*NEXT, "-o", "audit.prels"]) == 0
    judge(simulated.qrels)
    before = (here / "audit.prels").read_text()
    assert main([*NEXT, "-o", "audit.prels"]) == 2
    assert (
        "judgments in it that --qrels does not hold would be lost; name another file"
        in capsys.readouterr().err
    )
    assert (here / "audit.prels").read_text() == before


def test_grades_that_conflict_with_the_qrels_are_refused(here, simulated, capsys):
    """As merging refuses them: how many, and what each file says."""
    judge(simulated.qrels)
    few, drawn = rb.read_qrels("few.qrels"), rb.read_prels("audit.prels")
    shared = [(t, d) for t in drawn for d in drawn[t] if few.get(t, {}).get(d, -1) >= 0]
    assert shared
    turned = {t: {d: g + 1 for d, g in few[t].items()} for t in few}
    rb.write_qrels(rb.Qrels(turned), "few.qrels")
    assert main([*ASKED, "--audit", "audit.prels"]) == 2
    said = capsys.readouterr().err
    topic, docno = shared[0]
    grade = few[topic][docno]
    assert f"{len(shared)} documents are judged differently" in said
    assert f"{docno} of topic {topic} (audit.prels: {grade}, few.qrels: {grade + 1})" in said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        ("audit.prels", "what is judged of them is checked by compare --audit FILE.prels"),
        ("2%", "--audit 2% is no share; write --audit 0.02"),
        ("much", "write a share of the pool above 0, at most 1, as --audit 0.02"),
        ("2", "the share of an audit is 2.0; give it above 0, at most 1"),
    ],
)
def test_what_is_no_share_is_answered_by_what_to_write(here, capsys, share, said):
    asked = [share if word == "0.2" else word for word in NEXT]
    assert main(asked) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "other", ["--pair least", "--costs human=1", "--algorithm ip", "--by-topic", "--measure P@5"]
)
def test_an_audit_goes_with_no_pair_and_no_costs(here, capsys, other):
    assert main([*NEXT, *other.split()]) == 2
    assert (
        f"{other.split()[0]} says nothing with --audit; give the one, and"
        in capsys.readouterr().err
    )


def test_an_audit_takes_the_words_of_every_round(here, capsys):
    """Whom judgments are for, and the level, change no draw; other words are refused at once."""
    spoken = [word for word in NEXT if word != "--quiet"]
    assert main(spoken) == 0
    plain = capsys.readouterr()
    assert main([*spoken, "--judged-for", "a,b", "--relevance-level", "1"]) == 0
    same = capsys.readouterr()
    assert same.out == plain.out
    note = "--judged-for and --relevance-level: not used here, since an audit draws"
    assert (same.err.count(note), plain.err.count(note)) == (1, 0)
    assert main([*NEXT, "--measure", "P@5", "--scope", "pool"]) == 2
    assert "--measure and --scope say nothing with --audit" in capsys.readouterr().err
