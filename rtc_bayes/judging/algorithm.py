"""The names of judging algorithms: JUDGE or JUDGE/EVALUATOR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex, cast

from rtc_bayes import defaults
from rtc_bayes.checks import nearest, refuse_class
from rtc_bayes.errors import InputError
from rtc_bayes.judging.judges import (
    Judge,
    ModelJudge,
    available_judges,
    judge_class,
    load_judge,
    takes_measure,
)
from rtc_bayes.judging.weights import WEIGHTS
from rtc_bayes.measures.plain import UNJUDGED, Unjudged
from rtc_bayes.relevance import ModelSpec, RelevanceModel
from rtc_bayes.relevance.options import with_options
from rtc_bayes.relevance.registry import model_names, module_digest
from rtc_bayes.store.plugins import is_file

OF_SAMPLES = ("xinfap", "statap")
"""Evaluators that need the probability with which each document was judged."""

_ACCEPTED = (
    "write JUDGE or JUDGE/EVALUATOR, where JUDGE is "
    f"{', '.join(available_judges())}, mtc[weight=evr], FILE.py[options] or MODEL[options]:METHOD "
    f"and EVALUATOR is MODEL[options]:METHOD, {' or '.join(UNJUDGED)}; a weighing judge's options "
    f"are weight={'|'.join(WEIGHTS)}, floor=NUMBER and least=NUMBER"
)


_PAIR = (
    "in Python write (JUDGE, EVALUATOR), each a name or an object, as ('rtc:map', MyModel()), for "
    "an evaluator behind another judge"
)

type AlgorithmLike = (
    str
    | Judge
    | RelevanceModel
    | Algorithm
    | tuple[str | Judge | RelevanceModel, str | RelevanceModel | ModelSpec]
)
"""An algorithm: its name, a judge, a model, a pair of judge and evaluator, or itself."""


@dataclass(frozen=True, repr=False)
class Algorithm:
    """How documents are chosen, and which model evaluates systems afterwards.

    Attributes
    ----------
    text : str
        As typed.
    judge : Judge
        Who chooses; its fields are its options.
    evaluator : ModelSpec or None
        The model that evaluates; None where none does.
    judge_spec : ModelSpec or None
        The name, options and digest of the judge as typed; None where an instance was given.
    unjudged : str or None
        What becomes of unjudged documents where no model evaluates, and there are confidences: one
        of "nonrelevant", "condensed", "bpref", "infap", "xinfap", "statap" and "bootstrap". None:
        a model evaluates, or unjudged documents count as nonrelevant and there are no confidences.

    Examples
    --------
    >>> algorithm = parse_algorithm("mtc[weight=evr]/rtc:map")
    >>> algorithm.judge
    MTC(weight='evr', floor=0, least=0.0)
    >>> algorithm.evaluator
    ModelSpec('rtc:map')
    """

    text: str
    judge: Judge
    evaluator: ModelSpec | None
    judge_spec: ModelSpec | None = None
    unjudged: Unjudged | None = None

    @property
    def has_confidence(self) -> bool:
        """Whether the judge says how sure one may be; without, judging needs a budget."""
        return self.judge.has_confidence

    @property
    def weighs_by_measure(self) -> bool:
        """Whether the judge asks by which measure systems are compared."""
        return takes_measure(self.judge)

    @property
    def floor(self) -> int:
        """Judgments that each topic gets first; 0 where the judge has no floor."""
        return getattr(self.judge, "floor", 0)

    @property
    def least(self) -> float:
        """Judgments a topic, on average, before a confidence may end judging."""
        return getattr(self.judge, "least", 0.0)

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """The judge's model and the evaluator, those of them that there are."""
        return tuple(spec for spec in (self.chooses_by, self.evaluator) if spec is not None)

    @property
    def chooses_by(self) -> ModelSpec | None:
        """The model by which the judge chooses documents; None where it has none."""
        model = getattr(self.judge, "model", None)
        return model if isinstance(model, ModelSpec) else None

    @property
    def files(self) -> dict[str, str]:
        """The digests of files that the algorithm reads, by path: of its judge and its models."""
        spec = self.judge_spec
        own = {spec.name: spec.digest} if spec and spec.digest and is_file(spec.name) else {}
        return own | _united(model.files for model in self.models)

    @property
    def content(self) -> dict[str, str]:
        """What decides its choices and numbers: digests of sources, and of the files read."""
        judge = {self.judge.name: module_digest(type(self.judge))}
        return judge | _united(model.content for model in self.models)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        # a judge of a file is of a module that other processes do not have: they load the same one
        spec = self.judge_spec
        if spec is None or spec.digest is None or spec.instance is not None:
            return super().__reduce_ex__(protocol)
        if self.evaluator is not None and self.evaluator.instance is not None:
            return _loaded, ((spec.text, self.evaluator), spec.name, spec.digest)
        return _loaded, (self.text, spec.name, spec.digest)

    def __copy__(self) -> Algorithm:
        return self

    def __deepcopy__(self, memo: object) -> Algorithm:
        return self

    def __repr__(self) -> str:
        return f"Algorithm({self.text!r})"


def parse_algorithm(algorithm: AlgorithmLike) -> Algorithm:
    """Read an algorithm's name, or take a judge or a model itself.

    ``ip`` presents documents by rank; ``mtc`` takes the weight ``mtc06`` under p = .5; a file or
    an installed judge by another name judges as it says; a model
    judges by ``evr`` with a floor of one judgment per topic and at least 3.5 on average, and
    ``rtc:map`` by ``influence`` with neither. ``weight=``, ``floor=`` and ``least=`` in the
    judge's brackets say otherwise; all other options are the model's. The evaluator is the
    judge's model unless given: ``uniform`` for a judge without a model; for ``ip``, and every
    judge without confidences, none, unjudged documents being nonrelevant. As an evaluator
    ``nonrelevant`` says that too, and ``condensed`` takes unjudged documents out of the lists;
    these, ``bpref``, ``infap`` and ``xinfap`` give confidences by a paired t test over topics,
    ``statap`` by the variance of its sample, and ``bootstrap`` by its draws. ``statap`` and
    ``xinfap`` need a judge that draws a sample, as ``sample``.

    Parameters
    ----------
    algorithm : str, Judge, RelevanceModel, Algorithm, or pair of judge and evaluator
        For example ``mtc[weight=evr]/rtc:map``, ``rtc[cell_weight=.1]:map`` or
        ``my_judge.py[weight=3]/rtc:map``. A judge's instance is the judge alone; a model's
        judges as its name would, by its default method. A pair (JUDGE, EVALUATOR) says the same
        as ``JUDGE/EVALUATOR`` where one of them is an object: ``("rtc:map", MyModel())``.

    Returns
    -------
    Algorithm

    Raises
    ------
    InputError
        Another form, a judge, model, option or method that does not exist; it says what is
        accepted.

    Examples
    --------
    >>> parse_algorithm("rtc:map").judge
    ModelJudge(model=ModelSpec('rtc:map'), weight='influence', floor=0, least=0.0)
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    if isinstance(algorithm, tuple) and len(algorithm) == 2:
        return _of_pair(*algorithm)
    if all(hasattr(algorithm, name) for name in ("name", "default_method", "methods")):
        spec = ModelSpec.parse(cast(RelevanceModel, algorithm))
        return Algorithm(spec.text, _model_judge(spec, {}), spec, spec)
    if not isinstance(algorithm, str):
        if not all(hasattr(algorithm, name) for name in ("name", "has_confidence", "start")):
            raise InputError(f"{algorithm!r} is no algorithm", remedy=f"{_ACCEPTED}; {_PAIR}")
        refuse_class(algorithm, "judge")
        judge = cast(Judge, algorithm)
        return Algorithm(repr(judge), judge, _default_evaluator(judge))
    judge_text, evaluator_text = _split(algorithm)
    unjudged = _unjudged(evaluator_text)
    evaluator = None if evaluator_text is None or unjudged else _model(evaluator_text)
    spec = _spec(judge_text)
    if not _exists(spec.name) and spec.digest is None and not is_file(spec.name):
        near = nearest(spec.name, [*available_judges(), *model_names()])
        raise InputError(
            f"unknown model {spec.name!r}, and no judge has this name",
            remedy=f"write {near}, or {_ACCEPTED.removeprefix('write ')}" if near else _ACCEPTED,
        )
    if judge_class(spec.name, digest=spec.digest) is None:
        judge = _judge_of(spec)
    elif spec.method is not None:
        raise InputError(f"{spec.name} has no method: {algorithm!r}", remedy=_ACCEPTED)
    else:
        judge = load_judge(spec.name, spec.options, digest=spec.digest)
    _check_sampled(judge, unjudged)
    if unjudged is None and evaluator is None:
        evaluator = _default_evaluator(judge)
    return Algorithm(algorithm, judge, evaluator, spec, unjudged)


def _unjudged(evaluator: object) -> Unjudged | None:
    """Return the evaluator, if it says what becomes of unjudged documents and is no model."""
    return next((name for name in UNJUDGED if name == evaluator), None)


def _check_sampled(judge: Judge, unjudged: str | None) -> None:
    """Refuse an estimate from a sample where the judge draws none, or another."""
    if unjudged in OF_SAMPLES and not hasattr(judge, "sample"):
        raise InputError(
            f"{unjudged} needs judgments of known probabilities, which {judge.name} does not make",
            remedy=f"judge by sample[by=strata]/{unjudged}",
        )
    if unjudged == "xinfap" and getattr(judge, "by", None) not in ("strata", "uniform"):
        raise InputError("xinfap needs a sample by strata", remedy="judge by sample[by=strata]")


def _united(mappings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: digest for mapping in mappings for name, digest in mapping.items()}


def _loaded(algorithm: AlgorithmLike, file: str, digest: str) -> Algorithm:
    """Load an algorithm again, whose file has to be as it was."""
    judge_class(file, digest=digest)
    return parse_algorithm(algorithm)


def _of_pair(judge: Any, evaluator: Any) -> Algorithm:
    """Take a judge and an evaluator that are given apart, as names or as objects."""
    if isinstance(judge, str) and _split(judge)[1] is not None:
        raise InputError(
            f"two evaluators, that of {judge!r} and one beside it", remedy="give one of them"
        )
    if isinstance(judge, str) and isinstance(evaluator, str):
        return parse_algorithm(f"{judge}/{evaluator}")
    algorithm = parse_algorithm(judge)
    if unjudged := _unjudged(evaluator):
        _check_sampled(algorithm.judge, unjudged)
        text = f"{algorithm.text}/{unjudged}"
        return replace(algorithm, text=text, evaluator=None, unjudged=unjudged)
    spec = _evaluating(ModelSpec.parse(evaluator))
    return replace(algorithm, text=f"{algorithm.text}/{spec.text}", evaluator=spec, unjudged=None)


def split_algorithms(text: str) -> tuple[str, ...]:
    """Split a list of algorithms at its commas, those in brackets aside.

    Raises
    ------
    InputError
        There is nothing before, between or after commas.

    Examples
    --------
    >>> split_algorithms("ip,mtc,rtc[folds=5,intercept=yes]:map")
    ('ip', 'mtc', 'rtc[folds=5,intercept=yes]:map')
    """
    parts = _parts(text)
    if "" in parts:
        raise InputError(
            f"algorithms (--algorithms) are {text!r}, of which item {parts.index('') + 1} is empty",
            remedy="name an algorithm there, or leave the comma out",
        )
    return parts


def _parts(text: str) -> tuple[str, ...]:
    """Split a list of algorithms, of which some may be empty."""
    first, comma, rest = text, "", None
    # a comma inside the path of a file parts nothing: the longest that names one is taken
    while not _is_algorithm(first):
        first, comma, last = first.rpartition(",")
        if not comma:
            return tuple(part.strip() for part in re.split(r",(?![^\[\]]*\])", text))
        rest = last if rest is None else f"{last},{rest}"
    return (first.strip(), *(() if rest is None else _parts(rest)))


def _is_algorithm(text: str) -> bool:
    """Whether a text names a judge, and an evaluator where it names one, that exist."""
    judge, evaluator = _split(text.strip())
    return _exists(judge) and (evaluator is None or _exists(evaluator))


def _exists(text: str) -> bool:
    """Whether a text names what judges or evaluates: installed, or a file that is there."""
    if text in UNJUDGED:
        return True
    try:
        name = ModelSpec.parse(text).name
    except InputError:
        return False
    return is_file(name) or name in available_judges() or name in model_names()


def _split(text: str) -> tuple[str, str | None]:
    """Split judge from evaluator; a slash inside the path of a model's file parts nothing."""
    if _exists(text):
        return text, None
    for slash in re.finditer("/", text):
        before, after = text[: slash.start()], text[slash.end() :]
        if _exists(before) and _exists(after):
            return before, after
    # a name that does not exist: what was meant, for the message
    text = text.strip()
    outside = re.sub(r"\[[^\]]*\]", lambda match: "]" * len(match[0]), text)
    for slash in re.finditer("/", outside):
        before, after = outside[: slash.start()], outside[slash.end() :]
        complete = before in available_judges() or before.endswith((".py", "]")) or ":" in before
        if complete or ".py" not in re.split(r"[\]:]", after)[0]:
            return text[: slash.start()], text[slash.end() :]
    return text, None


def _spec(text: str) -> ModelSpec:
    """Read NAME[options]:METHOD, and say what is accepted where it cannot be read."""
    try:
        return ModelSpec.parse(text)
    except InputError as error:
        raise InputError(error.message, path=error.path, remedy=error.remedy or _ACCEPTED) from None


def _model(text: str) -> ModelSpec:
    """Read an evaluator."""
    return _evaluating(_spec(text))


def _evaluating(spec: ModelSpec) -> ModelSpec:
    """Refuse what does not evaluate."""
    if not is_file(spec.name) and judge_class(spec.name) is not None:
        raise InputError(f"{spec.name} judges and does not evaluate", remedy=_ACCEPTED)
    spec.build()  # says now, not after an hour of judging, that a model or option does not exist
    return spec


def _judge_of(spec: ModelSpec) -> ModelJudge:
    """Part the judge's options from its model's."""
    own = {
        name: spec.options[name] for name in ("weight", "floor", "least") if name in spec.options
    }
    return _model_judge(_evaluating(spec.without(own)), own)


def _model_judge(model: ModelSpec, own: Mapping[str, str]) -> ModelJudge:
    """Judge by a model, with the weight, floor and least that are usual for it or given."""
    if model.name == "rtc" and model.resolved_method == "map":
        usual = {"weight": "influence", "floor": 0, "least": 0.0}
    else:
        usual = {"weight": "evr", "floor": 1, "least": defaults.LEAST}
    return with_options(ModelJudge, {"model": model, **usual, **own})


def _default_evaluator(judge: Judge) -> ModelSpec | None:
    """Return the judge's own model; none where it has no confidences."""
    if not judge.has_confidence:
        return None
    return getattr(judge, "model", None) or ModelSpec.parse("uniform")
