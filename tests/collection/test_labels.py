"""Labels of many judges: the container and the files it is read from."""

import copy
import gzip
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from pools import pool_of

import rtc_bayes as rb

ROWS = """topicID	workerID	docID	gold	label
7	w1	d1	-1	0
7	w2	d1	-1	2
7	w1	d2	1	-2
8	w1	d2	2	1
"""


def _file(folder, text, name="one.txt"):
    path = folder / name
    path.write_text(text)
    return path


def test_rows_with_names_gold_and_a_broken_link(tmp_path):
    path = tmp_path / "one.txt.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    labels = rb.read_labels(path)
    assert (labels.topics, labels.docnos, labels.judges) == (("7", "8"), ("d1", "d2"), ("w1", "w2"))
    assert labels.grade.tolist() == [0, 2, 1]
    assert labels.n_grades == 3
    assert labels.n_dropped == 1
    assert labels.gold == {("7", "d2"): 1, ("8", "d2"): 2}
    assert labels.pair_ids() == [("7", "d1"), ("8", "d2")]
    assert labels.pairs().of_label.tolist() == [0, 0, 1]
    assert labels.gold_grades().tolist() == [-1, 2]
    assert dict(labels.gold_qrels()) == {"7": {"d2": 1}, "8": {"d2": 2}}
    assert labels.at_level(2).gold_grades().tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("text", "judges", "pairs"),
    [
        ("task,worker,label\n7:d1,ann,1\nt3,bob,0\n", ("ann", "bob"), [("7", "d1"), ("-", "t3")]),
        ("7 0 d1 2\n7 0 d2 0\n", ("one",), [("7", "d1"), ("7", "d2")]),
        ("7 ann d1 2\n7 bob d1 0\n", ("ann", "bob"), [("7", "d1")]),
        ("topic\tdoc\thuman\tm1\tm2\n7\td1\t3\t\t1\n", ("m2",), [("7", "d1")]),
    ],
)
def test_kinds_of_file(tmp_path, text, judges, pairs):
    labels = rb.read_labels(_file(tmp_path, text))
    assert labels.judges == judges
    assert labels.pair_ids() == pairs


def test_stated_probabilities(tmp_path):
    text = "topic_id,doc_id,annotation,prob_yes,prob_no\n7,d1,1,0.6,0.2\n7,d2,0,,\n"
    labels = rb.read_labels(_file(tmp_path, text, "llama.csv"))
    assert labels.judges == ("llama",)
    np.testing.assert_allclose(labels.probability, [0.75, np.nan])


def test_frames_and_files_go_together(tmp_path):
    frame = pd.DataFrame({"topic": [7], "worker": ["x"], "docno": ["d9"], "label": [1.0]})
    labels = rb.read_labels(frame, _file(tmp_path, "7 0 d1 2\n"), judge="human")
    assert labels.judges == ("human", "x")
    assert labels.n_labels == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("7 ann d1 2\n7 bob d1\n", r"one.txt:2: 3 fields"),
        (
            "7 ann d1 yes\n",
            r"one.txt:1: 'yes' is not a number; .* \(not relevant\), or -1 for no l",
        ),
        ('"topic" "judge" "docno" "label"\n"1" "7" "a" "d" 1\n', "2: 5 fields .*row.names = FALSE"),
        ("7 ann d1 0.5\n", "not a grade"),
        ("7 ann\n", "names no columns"),
        (
            "id,who,doc,answer\n7,ann,d1,1\n",
            "one.txt:1: the first line names no columns .* 'id,who",
        ),
        ("topic,docno,label,probability,prob_yes\n7,d,1,0,0\n", "both hold the probability; leave"),
        (
            "topic,docno,label,gold\n7,d1,1,1\n7,d1,1,0\n",
            "one.txt:3: document 'd1' of topic '7' has gold 1 and 0; keep",
        ),
        ("7 ann d1 -2\n", "no label is left"),
        ("7 ann d1 500\n", "label 500 by judge ann of document d1 of topic 7 is no .* n_grades=2"),
        ("topic,docno,label,prob_yes\n7,d1,1,1.5\n", "outside 0 to 1"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, message):
    with pytest.raises(rb.InputError, match=message):
        rb.read_labels(_file(tmp_path, text))


@pytest.mark.parametrize(
    ("header", "judge", "other"),
    [
        ("topic,judge,docno,rating", "judge", "rating"),
        ("topic,worker,docno,judgment", "worker", "judgment"),
        ("topic,judge,docno,lable", "judge", "lable"),
    ],
)
@pytest.mark.parametrize("kind", ["auto", "rows", "panel"])
def test_a_table_of_workers_without_labels_is_no_panel(tmp_path, header, judge, other, kind):
    path = _file(tmp_path, f"{header}\n7,ann,d1,1\n7,bob,d1,0\n", "crowd.csv")
    said = f"crowd.csv: column '{judge}' names judges, .* called label, but {other}; .* grade"
    with pytest.raises(rb.InputError, match=said):
        rb.read_labels(path, kind=kind)
    with pytest.raises(rb.InputError, match=f"data frame: column '{judge}' names judges"):
        rb.read_labels(pd.read_csv(path), kind=kind)


def test_a_file_given_twice_would_count_twice(tmp_path):
    path = tmp_path / "crowd.txt"
    path.write_text("7 ann d1 1\n")
    with pytest.raises(rb.InputError, match="is given twice"):
        rb.read_labels(path, tmp_path)


def test_labels_that_a_judge_gives_again_are_said(tmp_path):
    lines = "7 ann d1 1\n7 bob d1 0\n7 ann d2 0\n"
    files = _file(tmp_path, lines, "a.txt"), _file(tmp_path, lines + "7 bob d1 1\n", "copy.txt")
    said = (
        "4 of 7 labels: of a document that its judge had labelled before, 3 with the same grade "
        r"and 1 with another \(first: judge ann, topic 7, document d1\). Each counts as a label of "
        "its own in votes and confusions; beside ranks, and in a panel, .* count as one"
    )
    with pytest.warns(rb.CollectionWarning, match=said):
        assert rb.read_labels(*files).n_labels == 7
    rb.read_labels(files[0])  # and says nothing of it


def test_standard_input_is_not_read():
    with pytest.raises(rb.InputError, match=r"^standard input is not read; .* give its name$"):
        rb.read_labels("-")


def test_higher_labels_than_said_are_dropped(tmp_path):
    labels = rb.read_labels(_file(tmp_path, "7 a d1 5\n7 b d1 3\n"), n_grades=4)
    assert (labels.n_dropped, labels.n_above) == (1, 1)
    assert labels.n_grades == 4


@pytest.mark.parametrize(
    ("grade", "message"),
    [
        (0.5, "label 0.5 is not a grade; give whole numbers from 0"),
        (np.nan, "label nan is not a grade"),
        (np.inf, "label inf is not a grade"),
        (40_000, "label 40000 is not a grade"),
        ("x", "a label is not a number: .*'x'; give whole numbers"),
        (None, "label nan is not a grade"),
    ],
)
def test_a_grade_is_a_whole_number_in_python_too(grade, message):
    with pytest.raises(rb.InputError, match=message):
        rb.Labels.of(["7", "7"], ["d1", "d2"], ["ann", "ann"], [1, grade])
    with pytest.raises(rb.InputError, match=message.replace("label", "true grade")):
        rb.Labels.of(["7"], ["d1"], ["ann"], [1], gold={("7", "d1"): grade})
    assert rb.Labels.of(["7"], ["d1"], ["ann"], [2.0]).grade.tolist() == [2]


def test_one_label_that_would_set_the_scale_is_named():
    """A 10 among twenty grades of 0 to 3; not where a tenth of the labels are so high."""

    def labels_of(*high, **options):
        grades = [0, 1, 2, 3, -1] * 5 + list(high)
        docnos = [f"d{n}" for n in range(len(grades))]
        return rb.Labels.of(["7"] * len(grades), docnos, ["ann"] * len(grades), grades, **options)

    said = (
        "label 10 by judge ann of document d25 of topic 7, where the others have 0 to 3: the "
        "highest label sets the scale of all, here 0 to 10; correct the file, or give n_grades=4 "
        "(--n-grades 4), which drops labels above 3; "
        "if it is right, give n_grades=11"
    )
    with pytest.warns(rb.CollectionWarning, match=re.escape(said)):
        labels = labels_of(10)
    assert labels.n_grades == 11
    dropped = labels_of(10, n_grades=4)
    assert (dropped.n_dropped, dropped.n_above, dropped.n_grades) == (6, 1, 4)
    # warnings are errors: none of these warns
    assert labels_of(10, n_grades=11).n_grades == 11
    assert labels_of(10, 9).n_grades == 11
    assert labels_of(4).n_grades == 5
    assert labels_of(5, gold={("7", "d1"): 4}).n_grades == 6


def test_select_and_its_refusal():
    labels = rb.Labels.of(["1", "2"], ["d", "e"], ["a", "b"], [1, 0], gold={("1", "d"): 1})
    part = labels.select(judges=["b"])
    assert (part.topics, part.judges, dict(part.gold)) == (("2",), ("b",), {})
    with pytest.raises(rb.InputError, match="topics without labels: 9"):
        labels.select(topics=["9"])
    with pytest.raises(rb.InputError, match="no label is kept"):
        labels.select(judges=["a"], topics=["2"])
    with pytest.raises(
        rb.InputError, match=r"no label is of a document of the pool; give .* runs'"
    ):
        labels.on(pool_of({"A": {"1": "x"}}))


def test_the_crowd_of_the_relevance_feedback_track(data):
    with pytest.warns(rb.CollectionWarning, match="1,345 of 91,783 labels: .* 1,097 with the same"):
        labels = rb.read_labels(data / "crowd_rf10" / "trec-rf10-data.txt.gz")
    assert len(labels.judges) <= 766
    assert labels.n_labels + labels.n_dropped == 98_453
    assert (labels.gold_grades() >= 0).sum() == 3_275


def test_labels_of_judged_documents_alone_are_noticed():
    """They may stand in the judgments' place, and the judgments in theirs."""
    pool = pool_of({"A": {"1": "abcd"}}, depth=4)
    labels = rb.Labels.of(["1"], ["a"], ["ann"], [1])
    judged = rb.Judgments.from_labels(pool, [0, 1, 2], [1, 0, 0])
    with pytest.warns(rb.CollectionWarning, match="every document with a label is judged"):
        judged.with_judge_labels(labels)
    # none of these warns
    rb.Judgments.from_labels(pool, [1, 2, 3], [1, 0, 0]).with_judge_labels(labels)
    rb.Judgments.from_labels(pool, [0, 1], [1, 0]).with_judge_labels(labels)
    rb.Judgments.from_labels(pool, [0, 1, 2, 3], [1, 0, 0, 0]).with_judge_labels(labels)


def test_what_a_judge_saw_without_a_label_is_known():
    labels = rb.Labels.of(
        ["7"] * 4, ["a", "b", "c", "c"], ["x", "x", "x", "y"], [1, -1, 9, 0], n_grades=2
    )
    assert labels.unanswered == (("7", "b", "x"), ("7", "c", "x"))
    pool = pool_of({"one": {"7": "abcd"}})
    assert labels.unanswered_on(pool).tolist() == [1, 2]
    assert labels.unanswered_on(pool, "y").tolist() == []
    for same in (labels.on(pool), rb.Labels.from_xarray(labels.to_xarray())):
        assert same.unanswered == labels.unanswered
        assert (same.n_dropped, same.n_above) == (2, 1)
    written = labels.to_xarray()
    before = rb.Labels.from_xarray(written.drop_vars([n for n in written if "_n_" in n]))
    assert (before.n_labels, before.n_dropped, before.n_above) == (2, 0, 0)
    assert labels.select(judges=["y"]).unanswered == ()
    numbers = rb.Labels.of([7] * 2, ["a", "b"], [1] * 2, [1, -1])
    assert numbers.unanswered == (("7", "b", "1"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7 a d1 inf\n7 b d1 0\n", "1: label 'inf' is not a grade; give whole numbers from 0 to"),
        ("topic,judge,docno,label,label\n7,a,d1,1,0\n", "columns 'label' and 'label' both"),
        ("topic_id,doc_id,annotation,prob_yes,prob_no\n7,d,1,-0.1,-2.3\n", "2: .*take exp first"),
    ],
)
def test_what_would_be_read_wrongly_is_refused(tmp_path, text, said):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(rb.InputError, match=said):
        rb.read_labels(tmp_path / "x.txt")


def test_labels_are_pickled_and_copied():
    labels = rb.Labels.of(
        ["7"] * 3, ["a", "a", "b"], ["x", "y", "x"], [1, 0, 1], gold={("7", "a"): 1}
    )
    for again in (pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        assert repr(again) == repr(labels)
        assert dict(again.gold) == {("7", "a"): 1}
        with pytest.raises(TypeError):
            again.gold["7", "b"] = 1


def test_a_column_of_judges_has_many_names(tmp_path):
    file = tmp_path / "labels.csv"
    for name in ("model", "LLM", "rater", "annotator_id", "user"):
        file.write_text(f"topic,{name},docno,label\n7,ann,d1,1\n7,bob,d1,0\n")
        assert rb.read_labels(file).judges == ("ann", "bob")
    file.write_text("topic,who,docno,label\n7,ann,d1,1\n7,bob,d2,0\n")
    with pytest.warns(
        rb.CollectionWarning, match="all labels are of one judge, labels; not read: .?who"
    ):
        assert rb.read_labels(file).judges == ("labels",)


def test_a_column_that_is_no_judge_of_a_panel_is_noticed(tmp_path):
    file = tmp_path / "panel.csv"
    file.write_text("topic,docno,one,two,confidence\n7,d1,1,2,90\n7,d2,0,3,50\n")
    with pytest.warns(
        rb.CollectionWarning, match="confidence' has grades up to 90, all others up to 3"
    ):
        rb.read_labels(file)


def test_mean_grades_are_told_what_to_do(tmp_path):
    """No reader sends them to one that refuses them; whole numbers with a point are labels."""
    whole = _file(tmp_path, "7 0 d1 2.0\n7 0 d2 0.0\n", "whole.txt")
    assert rb.read_labels(whole).grade.tolist() == [2, 0]
    means = _file(tmp_path, "7 0 d1 0.0\n7 0 d2 1.2\n", "means.txt")
    named = _file(tmp_path, "topic,docno,label\n7,d1,0.0\n7,d2,1.2\n", "named.csv")
    said = "round grades such as 1.2 to whole numbers, or divide them by the highest grade and give"
    for read, path in (
        (rb.read_labels, means),
        (rb.read_labels, named),
        (rb.read_qrels, means),
        (rb.read_qrels, whole),
        (rb.read_erels, means),
    ):
        with pytest.raises(rb.InputError, match=said):
            read(path)
    shares = _file(tmp_path, "7 0 d1 0.0\n7 0 d2 0.2\n", "shares.txt")
    for reader in (rb.read_labels, rb.read_qrels):
        with pytest.raises(rb.InputError, match="give it as --erels of compare"):
            reader(shares)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("7 0 d,1 1\n7 0 d2 0\n", [("7", "d,1"), ("7", "d2")]),
        ("7 ann d,1,x 1 1\n7 ann d2 0 0\n", [("7", "d,1,x"), ("7", "d2")]),
        ("topic docno one,a two\n7 d,1 1 0\n", [("7", "d,1")]),
        ("7, ann, d1, 1\n7, ann, d2, 0\n", [("7", "d1"), ("7", "d2")]),
        ('7,ann,"d 1, x",1\n', [("7", "d 1, x")]),
        ("topic,docno,gpt 4 a b\n7,d 1,1\n", [("7", "d 1")]),
    ],
)
def test_a_comma_in_a_docno_separates_nothing(tmp_path, text, pairs):
    assert set(rb.read_labels(_file(tmp_path, text)).pair_ids()) == set(pairs)


def test_files_of_one_name_are_of_several_judges(tmp_path):
    for folder, grade in (("gpt", 1), ("llama", 0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "labels.txt").write_text(f"7 0 d1 {grade}\n")
    labels = rb.read_labels(tmp_path / "gpt" / "labels.txt", tmp_path / "llama" / "labels.txt")
    assert labels.judges == ("gpt/labels", "llama/labels")


def test_what_says_no_label_is_none_and_json_is_not_read(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("topic,judge,docno,label\n7,ann,d1,n/a\n7,ann,d2,True\n7,ann,d3,False\n")
    assert rb.read_labels(file).grade.tolist() == [1, 0]
    frame = pd.DataFrame(
        {
            "topic": ["1", "1"],
            "judge": ["a", "b"],
            "docno": ["x", "x"],
            "label": pd.array([1, None]),
        }
    )
    assert rb.read_labels(frame).n_labels == 1
    file.write_text('{"topic": "7", "label": 1}\n')
    with pytest.raises(rb.InputError, match="this looks like JSON"):
        rb.read_labels(file)


def test_labels_of_topics_without_a_run_are_counted():
    pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"7": ["a", "b"]})]))
    labels = rb.Labels.of(["7", "07", "07"], ["a", "a", "b"], ["x"] * 3, [1, 0, 1])
    with pytest.warns(
        rb.CollectionWarning, match="2 labels of 1 topic without a run, left aside: 07"
    ):
        rb.Judgments.none(pool).with_judge_labels(labels)


def test_names_of_files_are_as_long_as_tells_them_apart(tmp_path):
    files = [tmp_path / name for name in ("p/a/l.txt", "q/a/l.txt", "r/m.txt", "r/m.qrels")]
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"7 0 d1 {number % 2}\n")
    assert set(rb.read_labels(*files).judges) == {"p/a/l", "q/a/l", "m.txt", "m.qrels"}
    frame = pd.DataFrame(
        {"topic": ["1"], "docno": ["a"], "judge": ["x"], "label": [1], "tokens": [[1, 2]]}
    )
    assert rb.read_labels(frame).judges == ("x",)


def test_csv_without_names_may_quote_its_fields(tmp_path):
    quoted = _file(tmp_path, '7,w1,"d1",1\n7,w1,"d,2",0\n\n7,w2,d\u20281,1\n')
    labels = rb.read_labels(quoted)
    assert sorted(labels.docnos) == ["d,2", "d1", "d\u20281"]
    bad = _file(tmp_path, 'topic,judge,docno,label\n7,w1,"d\n1",1\n7,w1,d2,high\n', "bad.csv")
    with pytest.raises(rb.InputError, match=r"bad\.csv:4: "):
        rb.read_labels(bad)
    with pytest.raises(rb.InputError, match="the file is empty"):
        rb.read_labels(_file(tmp_path, ",,,\n", "commas.csv"))
    unclosed = _file(tmp_path, 'topic,judge,docno,label\n7,w1,"d1,1\n7,w1,d2,0\n', "open.csv")
    with pytest.raises(rb.InputError, match=r"open\.csv:2: this row cannot be read as CSV"):
        rb.read_labels(unclosed)


def test_levels_of_a_frames_index():
    rows = pd.DataFrame({"qid": ["1"], "docno": ["a"], "query": ["what"], "docid": [3], "label": 1})
    indexed = rows.set_index(["qid", "docno"])
    for frame in (rows, indexed, indexed[["label"]]):
        labels = rb.read_labels(frame)  # the topic was what, and the document 3
        assert (labels.topics, labels.docnos, labels.judges) == (("1",), ("a",), ("judge",))
    with pytest.raises(rb.InputError, match="'qid' and 'topic' both hold the topic"):
        rb.read_labels(rows.assign(topic="1"))
    panel = rows.assign(id=5, gpt=1, llama=0).set_index(["qid", "docno", "id"])
    assert rb.read_labels(panel[["gpt", "llama"]]).judges == ("gpt", "llama")
    kept = rows[["qid", "docno", "label"]].set_index("qid", drop=False)
    assert rb.read_labels(kept).n_labels == 1


def test_columns_of_a_part_of_a_frame():
    """Its rows are numbered from elsewhere than 0."""
    frame = pd.DataFrame({"t": ["1", "1"], "d": ["a", "b"], "j": ["x", "y"], "g": [1, 0]})[1:]
    labels = rb.Labels.of(frame.t, frame.d, frame.j, frame.g)
    assert labels.pair_ids() == [("1", "b")]
    assert labels.judges == ("y",)


@pytest.mark.parametrize(
    "text",
    [
        '"7"\t"w1"\t"d 1"\t1\n"7"\t"w2"\t"d 1"\t0\n',
        '"7" "w1" "d 1" 1\n"7"  "w2" "d 1" 0\n',
        '"topic" "judge" "docno" "label"\n"7" "w1" "d 1" 1\n"7" "w2" "d 1" 0\n',
        'topic, judge, docno, label\n7, "w1", "d 1", 1\n7, "w2", "d 1", 0\n',
    ],
)
def test_fields_are_unquoted_whatever_separates_them(tmp_path, text):
    """As R writes them."""
    labels = rb.read_labels(_file(tmp_path, text))
    assert (labels.topics, labels.docnos, labels.judges) == (("7",), ("d 1",), ("w1", "w2"))
    assert labels.grade.tolist() == [1, 0]


def test_the_numbers_of_rows_are_no_judge_of_a_panel(tmp_path):
    """As pandas writes and reads them."""
    frame = pd.DataFrame(
        {"topic": ["7"] * 3, "docno": [*"abc"], "one": [0, 1, 2], "two": [2, 1, 0]}
    )
    path = tmp_path / "panel.csv"
    frame.to_csv(path)
    for source in (path, pd.read_csv(path)):
        labels = rb.read_labels(source)
        assert (labels.judges, labels.n_labels) == (("one", "two"), 6)


def test_ids_are_text_or_whole_numbers_as_everywhere():
    labels = rb.Labels.of([7], ["a"], ["x"], [1], gold={(7, "a"): 1})
    assert labels.gold_grades().tolist() == [1]
    assert labels.select(topics=[7]).n_labels == 1
    for columns, said in (
        ([[301.0], ["a"], ["x"]], "topic 301.0 is not an id"),
        ([["7"], [None], ["x"]], "docno None is not an id"),
        ([["7"], ["a"], [math.nan]], "judge nan is not an id"),
    ):
        with pytest.raises(rb.InputError, match=said):
            rb.Labels.of(*columns, [1])
    with pytest.raises(rb.InputError, match="true grades are of '7', which is no topic and docno"):
        rb.Labels.of(["7"], ["a"], ["x"], [1], gold={"7": {"a": 1}})
    with pytest.raises(rb.InputError, match=r"probability is \['high'\]; give one number"):
        rb.Labels.of(["7"], ["a"], ["x"], [1], probability=["high"])


def test_a_quote_within_a_later_field_is_text(tmp_path):
    path = _file(tmp_path, 'topic,judge,docno,label,why\n7,ann,d1,1, "Paris" is named\n')
    assert rb.read_labels(path).pair_ids() == [("7", "d1")]
