"""What models share: features of the judged documents, as rows."""

import numpy as np

from rtc_bayes import Judgments
from rtc_bayes.relevance.evidence import document_ranks, judged_rows


def test_rows_of_judged_documents_are_in_the_order_of_judging(judgments):
    pool, asked = judgments.pool, []
    mixed = judgments.order[np.random.default_rng(0).permutation(judgments.n_judged)]
    judged = Judgments.from_labels(pool, mixed, judgments.labels[mixed])

    def features(topic):
        asked.append(topic)
        return pool.ranks(topic).T.astype(float)

    np.testing.assert_array_equal(judged_rows(judged, features), document_ranks(pool)[mixed])
    assert set(asked) == {0, *pool.topic_of[mixed]}
    assert judged_rows(Judgments.none(pool), features).shape == (0, pool.n_systems)


def test_features_of_several_parts_are_an_array_each(judgments):
    def parts(topic):
        ranks = judgments.pool.ranks(topic).T.astype(float)
        return ranks, np.log1p(ranks[:, :1])

    ranks, first = judged_rows(judgments, parts)
    whole = judged_rows(judgments, lambda topic: np.hstack(parts(topic)))
    np.testing.assert_array_equal(np.hstack([ranks, first]), whole)
    assert ranks.base is None
    assert first.base is None
