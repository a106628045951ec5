"""Fitting a relevance model to judgments, with labels, diagnostics and a file format."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtc_bayes import defaults
from rtc_bayes.checks import check_type
from rtc_bayes.collection import Judgments, Labels, Pool, Relevance
from rtc_bayes.collection.ids import some
from rtc_bayes.collection.relevant_alone import of_relevant_alone
from rtc_bayes.errors import (
    ByLotWarning,
    InputError,
    RelevantAloneWarning,
    SharedErrorsWarning,
    TurnedLabelsWarning,
    UnlabelledWarning,
    warn,
)
from rtc_bayes.relevance.fitters import (
    estimate,
    is_sampler,
    is_tuned,
    resolve_method,
)
from rtc_bayes.relevance.interface import (
    Check,
    Diagnostics,
    RelevanceModel,
    Sampling,
    Stage,
    check_takes_labels,
)
from rtc_bayes.relevance.labelled_estimate import (
    judgments_of,
    labelled_posterior,
    labelled_relevance,
)
from rtc_bayes.relevance.options import option_text, option_values
from rtc_bayes.relevance.registry import load_model
from rtc_bayes.relevance.spec import ModelSpec
from rtc_bayes.relevance.turned_labels import without_turned
from rtc_bayes.signatures import explains_types
from rtc_bayes.store import digest_file, provenance
from rtc_bayes.store.shown import counted

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


_FORMAT = "rtc_bayes fit 3"


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A model fitted to judgments.

    Attributes
    ----------
    relevance : Relevance
        Over the documents of ``judgments.pool``; judged ones have their label.
    posterior : DataTree
        Groups ``posterior`` (parameters, dims chain and draw and topic, rank, system or the
        model's own), ``sample_stats`` (of draws only), ``observed_data`` (labels in the order of
        judging) and ``constant_data`` (the pool). A point estimate has one chain and one draw.
    diagnostics : Diagnostics
    judgments : Judgments
    model : str
        Name of the model, or path of its file.
    method : str
    options : mapping of str to str
        All of them, defaults as well, as one would type them.
    sampling : Sampling
        Of a point estimate only the seed counts.
    digest : str or None
        SHA-256 of the model's file, or of the source of one given itself.
    instance : RelevanceModel or None
        The model, where it was given itself; no file of a fit keeps it.
    files : mapping of str to str
        Files that the fit read, by path, to their digests then: of the model, and of its options.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> made = fit(pool, rb.Judgments.none(pool), model="uniform", options={"p": 0.25})
    >>> made.model, made.method, made.options
    ('uniform', 'map', {'p': '0.25'})
    >>> made.predict(pool.select(pool.systems[:2])).build().p
    0.25
    """

    relevance: Relevance
    posterior: xr.DataTree
    diagnostics: Diagnostics
    judgments: Judgments
    model: str
    method: str
    options: Mapping[str, str]
    sampling: Sampling
    digest: str | None = None
    instance: RelevanceModel | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """The seed that the fit was made from."""
        return self.sampling.seed

    def build(self) -> RelevanceModel:
        """Make the model again, its options typed.

        Raises
        ------
        InputError
            The model is no longer found, or its file or one that its options name has changed.
        """
        self._check_option_files()
        return self.instance or load_model(self.model, self.options, digest=self.digest)

    def graph(self) -> pm.Model:
        """Write the model over these judgments for PyMC, with the variables of :attr:`posterior`.

        With it the posterior works as one that PyMC sampled: ``pm.sample_posterior_predictive``,
        ``pm.compute_log_likelihood`` and, after that, ``az.loo``. Effects are written by their
        distribution (the option ``centred`` of a model that has it), so that the graph's free
        variables are what a posterior by any method holds.

        Returns
        -------
        pymc.Model
            With the judged documents' labels observed as ``label``, and ``p`` of all documents.

        Raises
        ------
        InputError
            The model has no graph of its own: its parts are fitted one after the other, or it is
            no model of one. Or as :meth:`build`.

        Examples
        --------
        >>> import rtc_bayes as rb
        >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
        >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
        >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
        >>> made = fit(pool, judgments, model="hierarchical", draws=50, chains=1, seed=1)
        >>> sorted(variable.name for variable in made.graph().free_RVs)
        ['a', 'alpha', 'b', 'log_s', 'm_a', 'm_b', 'mu']
        """
        model: Any = self.build()
        if not hasattr(model, "graph"):
            parts = hasattr(model, "stages")
            raise InputError(
                f"model {model.name} has no graph",
                remedy="fit.build().stages(fit.judgments) has one of each part"
                if parts
                else "its estimates are no posterior of a graph: fit another model",
            )
        centred: Any = replace(model, centred=True) if hasattr(model, "centred") else model
        graph: pm.Model = centred.graph(self.judgments.pool, self.judgments)
        return graph

    @explains_types
    def predict(self, pool: Pool) -> Fit:
        """Fit the same model, method, options, seed and judgments over another pool.

        Parameters
        ----------
        pool : Pool
            Of new systems, or of these and more. Judgments of topics that it lacks are left out.

        Returns
        -------
        Fit

        Raises
        ------
        InputError
            The model is no longer found, or its file or one that its options name has changed.
        FitError
        """
        self._check_option_files()
        spec = ModelSpec(
            self.model, self.model, self.options, self.method, self.digest, self.instance
        )
        return _fit(self.judgments.on(pool), spec, self.sampling)

    def _check_option_files(self) -> None:
        """Refuse files that options name and that are not as they were; loading checks a model's.

        Raises
        ------
        InputError
        """
        for path, digest in self.files.items():
            if path == self.model or (Path(path).is_file() and digest_file(path) == digest):
                continue
            what = "the file has changed since the fit" if Path(path).is_file() else "no such file"
            raise InputError(
                what, path=path, remedy="put back the file that the fit read, or fit again"
            )

    def save(self, path: str | Path) -> None:
        """Write everything to one netCDF file or zarr folder.

        Parameters
        ----------
        path : str or Path
            Ending in ``.zarr`` for zarr; by custom in ``.nc`` for netCDF.
        """
        import xarray as xr

        from rtc_bayes.store.datasets import write_dataset

        groups = {f"/{name}": group.to_dataset() for name, group in self.posterior.items()}
        groups["/relevance"] = self.relevance.to_xarray()
        tree = xr.DataTree.from_dict(groups)
        tree.attrs = {
            "format": _FORMAT,
            "model": self.model,
            "method": self.method,
            "options": json.dumps(dict(self.options)),
            "sampling": json.dumps(asdict(self.sampling)),
            "digest": self.digest or "",
            "diagnostics": json.dumps(asdict(self.diagnostics)),
            "provenance": json.dumps(provenance(seed=self.seed, inputs=self.files)),
        }
        write_dataset(tree, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        made_for: Pool | None = None,
        model: RelevanceModel | None = None,
    ) -> Fit:
        """Read a fit that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
        made_for : Pool, optional
            Runs that the fit must have been made with, at the same depth.
        model : RelevanceModel, optional
            The model that was fitted, where it was given itself and no name finds it: for
            :meth:`predict` and :meth:`graph`.

        Raises
        ------
        InputError
            The file is absent or holds something else, or a fit of other runs or another model.
        """
        import xarray as xr

        from rtc_bayes.store.datasets import read_tree

        tree = read_tree(path)
        written = str(tree.attrs.get("format", ""))
        if written != _FORMAT and written.startswith(_FORMAT.rstrip("0123456789")):
            raise InputError(
                f"a fit by another version ({written})", path=path, remedy="fit again with this one"
            )
        if written != _FORMAT:
            raise InputError("not a fit", path=path, remedy="give a file that `fit` wrote")
        groups = {name: group.to_dataset() for name, group in tree.items()}
        relevance = Relevance.from_xarray(groups.pop("relevance"))
        attrs = tree.attrs
        judgments = judgments_of(groups["constant_data"], groups["observed_data"])
        if made_for is not None:
            check_same_runs(judgments.pool, made_for, path)
        options, digest = json.loads(attrs["options"]), str(attrs["digest"]) or None
        spec = None if model is None else ModelSpec.parse(model)
        if spec is not None:
            own = {name: option_text(value) for name, value in option_values(spec.build()).items()}
            if (spec.name, own, spec.digest) != (str(attrs["model"]), options, digest):
                raise InputError(
                    f"a fit of {attrs['model']}, of other options or code than {spec.text}",
                    path=path,
                    remedy="give the model that was fitted, with its options",
                )
        return cls(
            relevance=relevance,
            posterior=xr.DataTree.from_dict({f"/{name}": data for name, data in groups.items()}),
            diagnostics=_diagnostics(json.loads(attrs["diagnostics"])),
            judgments=judgments,
            model=str(attrs["model"]),
            method=str(attrs["method"]),
            options=options,
            sampling=Sampling(**json.loads(attrs["sampling"])),
            digest=digest,
            instance=None if spec is None else spec.instance,
            files=json.loads(attrs["provenance"])["inputs"],
        )

    def __repr__(self) -> str:
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        return (
            f"Fit({self.model}[{options}]:{self.method}\n"
            f"    {self.judgments!r}\n    {self.relevance!r}\n    {self.diagnostics!r})"
        )


@explains_types
def fit(
    pool: Pool,
    judgments: Judgments,
    *,
    model: str | Path | RelevanceModel | ModelSpec = defaults.MODEL,
    method: str | None = None,
    options: Mapping[str, object] | None = None,
    draws: int | None = None,
    chains: int | None = None,
    tune: int | None = None,
    seed: int = 0,
    labels: Labels | None = None,
) -> Fit:
    """Fit a relevance model to judgments over a pool.

    Parameters
    ----------
    pool : Pool
        The systems whose ranks are the evidence.
    judgments : Judgments
        Over this pool or another.
    model : str, Path, RelevanceModel or ModelSpec
        An installed model (:func:`rtc_bayes.available_models`), the path of a FILE.py, or a
        model itself, ``BestRank(scale=1)``; ``rtc[folds=5]:map`` gives options and a method too.
    method : str, optional
        By default the model's.
    options : mapping of str to object, optional
        The model's options by name, as values or as text.
    draws, chains, tune : int, optional
        For methods that draw: draws kept per chain, chains, and steps before the first draw, of
        which ``laplace`` and ``cut`` have none; by default 150, 4 and 500, of ``nuts`` 1000, 4 and
        1000.
    seed : int
    labels : Labels, optional
        Labels of judges that may err, by :func:`rtc_bayes.read_labels`: evidence beside ranks and
        judgments, for a model that takes it (``robust``, ``hierarchical`` and ``layered``). Their
        errors are learned from the documents that `judgments` and they share; there may be none.
        They take the place of those that `judgments` have (:meth:`Judgments.with_judge_labels`);
        these are the default.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        Labels for a model that takes none, no such model, method or option, a value that an option
        does not take, `draws` or `chains` for a method without draws, `tune` for one that
        does not draw step by step, or judgments of another type.
    FitError
        A fit that must not be used: not converged, not finite, or a check of its draws failed.

    Warns
    -----
    CollectionWarning
        Judged topics that the pool does not hold, which are left out.
    RelevantAloneWarning
        Judged documents are all, or nearly all, relevant.
    FitWarning
        What a check of the draws found remarkable.
    TurnedLabelsWarning
        Judges whose labels go against the judgments, and so count for nothing: the fit's judgments
        are without them.
    ByLotWarning
        Judges whose labels hardly go with the systems' ranks, and so count less.
    SharedErrorsWarning
        Systems that may be made from the labels, for which labels count less: see
        :func:`rtc_bayes.shared_errors`.
    UnlabelledWarning
        Many documents have no label: what they are taken for.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> simulated = rb.simulate(n_topics=3, n_systems=4, seed=1)
    >>> pool = rb.Pool.from_runs(simulated.runs, depth=10)
    >>> judgments = rb.Judgments.from_qrels(pool, simulated.qrels)
    >>> fit = rb.fit(pool, judgments, model="rtc", options={"intercept": True})
    >>> fit.method, fit.diagnostics.usable
    ('map', True)
    """
    spec = ModelSpec.parse(model, method, options)
    wanted, counts = spec.resolved_method, {"draws": draws, "chains": chains, "tune": tune}
    if not is_sampler(wanted) and any(count is not None for count in counts.values()):
        raise InputError(
            f"draws, chains and tune are for methods that draw, not for {wanted!r}",
            remedy="leave them out, or choose another method",
        )
    if tune is not None and not is_tuned(wanted):
        raise InputError(
            f"tune is for methods that draw step by step, not for {wanted!r}",
            remedy="leave it out",
        )
    both = "give a Pool and Judgments, and the model by name: fit(pool, judgments, model=)"
    check_type(pool, Pool, "the pool is", both)
    from_qrels = "give Judgments: Judgments.from_qrels(pool, qrels) says which are relevant"
    check_type(judgments, Judgments, "judgments are", from_qrels)
    if aside := [topic for topic in judgments.judged_topics if topic not in pool.topics]:
        topics = counted(len(aside), "judged topic")
        warn(f"{topics} that the pool has not, left out: {some(aside)}")
    over_pool = judgments.on(pool)
    if labels is not None:
        over_pool = over_pool.with_judge_labels(labels)
    fitted = _fit(without_turned(over_pool), spec, Sampling.of(wanted, **counts, seed=seed))
    warn_of_evidence(over_pool)
    return fitted


def warn_of_evidence(judgments: Judgments) -> None:
    """Warn of judgments of relevant documents alone, and of labels that tell less than they seem.

    Warns
    -----
    RelevantAloneWarning
        Judged documents are all, or nearly all, relevant.
    TurnedLabelsWarning
        Names judges whose labels go against the judgments.
    ByLotWarning
        Names judges whose labels hardly go with the systems' ranks, and by how much they count.
    SharedErrorsWarning
        Names the systems: see :func:`rtc_bayes.shared_errors`.
    UnlabelledWarning
        More than a tenth of the documents have no label: what they are taken for.

    Examples
    --------
    >>> import rtc_bayes as rb
    >>> pool = rb.Pool.from_runs(rb.Runs([rb.Run.from_rankings("one", {"1": ["a", "b"]})]))
    >>> warn_of_evidence(rb.Judgments.none(pool))
    """
    if alone := of_relevant_alone(judgments):
        warn(alone, RelevantAloneWarning)
    judgments = without_turned(judgments, say=True)
    if judgments.judge_labels is None:
        return
    from rtc_bayes.relevance.label_remarks import remarks_on_labels

    for remark, category in remarks_on_labels(judgments):
        warn(remark, category)


@contextmanager
def evidence_said() -> Iterator[None]:
    """Leave out what :func:`warn_of_evidence` says, where it is said once for all.

    Examples
    --------
    >>> with evidence_said():
    ...     warn("of this label", SharedErrorsWarning)
    """
    with warnings.catch_warnings():
        for category in (
            RelevantAloneWarning,
            TurnedLabelsWarning,
            ByLotWarning,
            SharedErrorsWarning,
            UnlabelledWarning,
        ):
            warnings.simplefilter("ignore", category)
        yield


def _fit(judgments: Judgments, spec: ModelSpec, sampling: Sampling) -> Fit:
    """Fit with numbers of draws that are settled."""
    model, files = spec.build(), spec.files
    method = resolve_method(model, spec.method)
    check_takes_labels(judgments, model)
    estimated = estimate(model, method, judgments, sampling)
    grades = judgments.grade_distribution()
    return Fit(
        relevance=labelled_relevance(estimated, judgments.pool, model.name, method, grades),
        posterior=labelled_posterior(estimated, judgments),
        diagnostics=estimated.diagnostics,
        judgments=judgments,
        model=spec.name,
        method=method,
        options={
            field.name: option_text(getattr(model, field.name))
            for field in fields(model)  # type: ignore[arg-type]
        },
        sampling=sampling,
        digest=spec.digest,
        instance=spec.instance,
        files=files,
    )


def _diagnostics(stored: dict[str, list[dict[str, Any]]]) -> Diagnostics:
    return Diagnostics(
        tuple(Stage(**stage) for stage in stored["stages"]),
        tuple(Check(**check) for check in stored["checks"]),
    )


def check_same_runs(fitted: Pool, pool: Pool, path: str | Path) -> None:
    """Refuse a pool that is not of runs of the fit's, at its depth."""
    fitted_digests = dict(zip(fitted.systems, fitted.digests, strict=True))
    for system, digest in zip(pool.systems, pool.digests, strict=True):
        if fitted_digests.get(system) != digest:
            what = "another run is" if system in fitted_digests else "no run is"
            raise InputError(
                f"{what} stored under the name {system!r}",
                path=path,
                remedy="fit again with these runs",
            )
    if fitted.depth != pool.depth:
        raise InputError(
            f"the fit has depth {fitted.depth}, not {pool.depth}",
            path=path,
            remedy=f"give --depth {fitted.depth}",
        )
