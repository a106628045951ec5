"""Labels of simulated workers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rtc_bayes.checks import whole_number
from rtc_bayes.collection import Labels, Qrels
from rtc_bayes.collection.qrels import level_of
from rtc_bayes.errors import InputError
from rtc_bayes.signatures import explains_types

SPAMMERS = ("random", "constant", "inverted")


@explains_types
def simulate_labels(
    truth: Qrels,
    *,
    n_judges: int = 100,
    per_pair: int = 5,
    expertise: float = 0.7,
    concentration: float = 5.0,
    relevance_level: int | None = None,
    spammers: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Labels:
    """Let workers, each right with a probability of their own, label judged documents.

    Hosseini (2013), section 8.4.3: each document is labelled by `per_pair` workers at random; a
    worker's probability of being right has a beta distribution.

    Parameters
    ----------
    truth : Qrels
        What is labelled, and what is right: relevant or not.
    n_judges, per_pair : int
        Workers, and labels of each pair of topic and document.
    expertise : float
        Mean of the beta distribution, in (0, 1).
    concentration : float, above 0
        The sum of its two parameters, which the source does not state.
    relevance_level : int, optional
        The lowest grade that is relevant; by default the level that the truth names, or 1.
    spammers : mapping of str to float, optional
        Shares of the workers, rounded, that label otherwise: "random" by the toss of a coin,
        "constant" always the same, "inverted" wrong as often as others are right.
    seed : int

    Returns
    -------
    Labels
        Of 0 and 1, with the truth as gold.

    Raises
    ------
    InputError
        No judged document, more labels than workers, an expertise that no beta distribution has,
        or shares of spammers that are none.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> rb.simulate_labels(rb.Qrels({"7": {"a": 1, "b": 0}}), n_judges=4, per_pair=3)
    Labels(6 labels of 2 pairs by 4 judges, 1 topic, grades 0 to 1, gold of 2 pairs)
    """
    judges = whole_number("n_judges", n_judges, least=1)
    each = whole_number("per_pair", per_pair, least=1)
    if each > judges:
        raise InputError(f"{each} labels of a pair by {judges} workers", remedy="give more workers")
    if not (0.0 < expertise < 1.0 and concentration > 0.0):
        raise InputError(
            f"expertise is {expertise}, concentration {concentration}",
            remedy="give an expertise in (0, 1) and a concentration above 0",
        )
    kinds = _spammers(spammers or {}, judges)
    random = np.random.default_rng(whole_number("seed", seed))
    right = random.beta(expertise * concentration, (1 - expertise) * concentration, judges)
    level = level_of(truth, relevance_level)
    gold = {
        (topic, docno): int(grade >= level)
        for topic, graded in truth.items()
        for docno, grade in graded.items()
        if grade >= 0
    }
    if not gold:
        raise InputError("the truth has no judged document", remedy="give judgments")
    grades = np.repeat(list(gold.values()), each)
    who = random.permuted(np.tile(np.arange(judges), (len(gold), 1)), axis=1)[:, :each].ravel()
    right[kinds == "random"] = 0.5
    right[kinds == "inverted"] = 1.0 - right[kinds == "inverted"]
    said = np.where(random.random(len(who)) < right[who], grades, 1 - grades)
    same = (kinds == "constant")[who]
    said[same] = (np.arange(judges) % 2)[who][same]
    topics, docnos = zip(*(pair for pair in gold for _ in range(each)), strict=True)
    names = [f"worker{judge + 1}" for judge in who]
    return Labels.of(topics, docnos, names, said, gold=gold, n_grades=2)


def _spammers(shares: Mapping[str, float], judges: int) -> NDArray[np.str_]:
    """Return what each worker is: a kind of spammer, the first ones, or "" for none."""
    for kind, share in shares.items():
        if kind not in SPAMMERS or not 0.0 <= share <= 1.0:
            raise InputError(
                f"spammers: {kind!r} {share}",
                remedy=f"give shares from 0 to 1 of {', '.join(SPAMMERS)}",
            )
    kinds = [kind for kind, share in shares.items() for _ in range(round(share * judges))]
    if len(kinds) > judges:
        raise InputError(
            f"spammers: {sum(shares.values()):g} of the workers", remedy="give shares of sum 1"
        )
    return np.array([*kinds, *[""] * (judges - len(kinds))])
