"""The text that names a model, its options and a method: ``rtc[cell_weight=.1,folds=5]:map``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rtc_bayes.errors import InputError
from rtc_bayes.relevance.fitters import resolve_method
from rtc_bayes.relevance.interface import RelevanceModel
from rtc_bayes.relevance.options import option_text
from rtc_bayes.relevance.registry import load_model
from rtc_bayes.store import digest_file
from rtc_bayes.store.plugins import is_file

_GRAMMAR = re.compile(
    r"(?P<name>[^\[\]:]+)(\[(?P<options>[^\[\]]*)\])?(:(?P<method>[A-Za-z_]\w*))?"
)
_FORM = "write NAME or FILE.py, then [option=value,...] and :method if wanted"


@dataclass(frozen=True)
class ModelSpec:
    """A model as named in text. It can be sent to another process, which builds the same model.

    Attributes
    ----------
    text : str
        As typed, or as one would type what :meth:`of` was given.
    name : str
        An installed model, or the path of a file.
    options : mapping of str to str
        As typed.
    method : str or None
        None for the model's default.
    digest : str or None
        SHA-256 of a model file.
    """

    text: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    method: str | None = None
    digest: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Read ``NAME[k=v,...]:method`` or ``FILE.py[k=v,...]:method``; brackets and method may go.

        A value with parts joins them with ``:``, as in ``rtc[prior=1:1]``.

        Raises
        ------
        InputError
            Another form, an option given twice, a file that does not exist. Whether the model
            and its options exist, :meth:`build` says.
        """
        match = _GRAMMAR.fullmatch(text.strip())
        if match is None:
            raise InputError(f"cannot read the model {text!r}", remedy=_FORM)
        options: dict[str, str] = {}
        for part in (match["options"] or "").split(","):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not part.strip() and not match["options"]:
                continue
            if not (key and equals and value):
                raise InputError(f"cannot read the option {part!r} of {text!r}", remedy=_FORM)
            if key in options:
                raise InputError(f"option {key} is given twice in {text!r}", remedy="give it once")
            options[key] = value
        name = match["name"].strip()
        digest = None
        if is_file(name):
            try:
                digest = digest_file(name)
            except OSError as error:
                raise InputError("no such file", path=name, remedy="check the path") from error
        return cls(text, name, options, match["method"], digest)

    @classmethod
    def of(
        cls,
        model: str | ModelSpec,
        method: str | None = None,
        options: Mapping[str, object] | None = None,
    ) -> ModelSpec:
        """Take a model with a method and options given beside it.

        Parameters
        ----------
        model : str or ModelSpec
            Text as :meth:`parse` reads it.
        method : str, optional
            By default the one that `model` names, if any.
        options : mapping of str to object, optional
            By name, as values or as text; they prevail over those that `model` names.

        Raises
        ------
        InputError
            As of :meth:`parse`, or a method beside another that `model` names.
        """
        named = model if isinstance(model, ModelSpec) else cls.parse(model)
        if method is not None and named.method not in (None, method):
            raise InputError(
                f"two methods, {method} and {named.method} in {named.text!r}",
                remedy="give one of them",
            )
        given = {name: option_text(value) for name, value in (options or {}).items()}
        together, wanted = {**named.options, **given}, method or named.method
        bracket = ",".join(f"{name}={value}" for name, value in together.items())
        text = named.name + (f"[{bracket}]" if bracket else "") + (f":{wanted}" if wanted else "")
        return cls(text, named.name, together, wanted, named.digest)

    @property
    def resolved_method(self) -> str:
        """The method, the model's default where none is named; errors as of :meth:`build`."""
        return resolve_method(self.build(), self.method)

    def build(self) -> RelevanceModel:
        """Make the model, with its options read by their types.

        Raises
        ------
        InputError
            No such model, option or method, a value that an option does not take, or a file
            that changed since the text was read.
        """
        model = load_model(self.name, self.options, digest=self.digest)
        resolve_method(model, self.method)
        return model

    def __repr__(self) -> str:
        return f"ModelSpec({self.text!r})"
