"""Sets of topics as NewBestSub writes them."""

import base64

import pytest
from topic_scores import drawn

import rtc_bayes as rb
from rtc_bayes.topics import TopicSelection, read_newbestsub

TOPICS = [str(n) for n in range(401, 471)]


def coded(*places: int) -> str:
    """Bits in words of 64, the lowest bit of the lowest byte first, base64 without padding."""
    words = [0, 0]
    for place in places:
        words[place // 64] |= 1 << (place % 64)
    raw = b"".join(word.to_bytes(8, "little") for word in words)
    return "B64:" + base64.b64encode(raw).decode().rstrip("=")


def test_ids_and_bits_are_read_alike(tmp_path):
    (tmp_path / "ids.csv").write_text(
        "Cardinality,Correlation,Topics\n1,0.812345,403\n3,0.9,401;409;469\n"
    )
    (tmp_path / "bits.csv").write_text(
        f"Cardinality,Correlation,TopicsB64\n1,0.812345,{coded(2)}\n3,0.9,{coded(0, 8, 68)}\n"
    )
    ids, bits = (read_newbestsub(tmp_path / f"{name}.csv", TOPICS) for name in ("ids", "bits"))
    assert ids == read_newbestsub(tmp_path / "bits.csv", [int(topic) for topic in TOPICS])
    assert ids == bits == [(0.812345, ("403",)), (0.9, ("401", "409", "469"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("K,corr\n1,0.9\n", "csv:1: the header is K,corr; give a ...-Top-10"),
        ("Cardinality,Correlation,Topics\n1,0.9,999\n", "csv:2: topic 999 is not one of the 70"),
        ("Cardinality,Correlation,Topics\n2,0.9,401\n", "csv:2: 1 topic where the row says 2"),
        ("Cardinality,Correlation,Topics\n1,high,401\n", "csv:2: cannot be read"),
        ("Cardinality,Correlation,Topics\ninf,0.9,401\n", "csv:2: cannot be read"),
        ("Cardinality,Correlation,TopicsB64\n1,0.9,B64:%%\n", "csv:2: cannot be read"),
        (f"Cardinality,Correlation,TopicsB64\n1,0.9,{coded(99)}\n", "csv:2: cannot be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    path = tmp_path / "top.csv"
    path.write_text(text)
    with pytest.raises(rb.InputError) as error:
        read_newbestsub(path, TOPICS)
    assert message in str(error.value)


def test_any_set_of_topics_is_described_as_a_selection_is():
    scores = drawn(1)
    chosen = rb.select_topics(scores, size=4)
    same = TopicSelection.of_topics(scores, chosen.topics)
    assert same.rhos == chosen.rhos
    assert (same.tau, same.gamma) == (chosen.tau, chosen.gamma)
    assert same.solver == "given"
    numbers = [int(topic) for topic in chosen.topics]
    assert TopicSelection.of_topics(scores, numbers).topics == chosen.topics
    for topics, message in ((["1", "1"], "twice"), (["99"], "no scores"), ([], "no topics")):
        with pytest.raises(rb.InputError, match=message):
            TopicSelection.of_topics(scores, topics)
