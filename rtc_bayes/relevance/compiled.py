"""Compiled functions of a PyMC graph, used again for every graph of the same structure.

In judging a model is fitted again and again, and its graph is new each time: it captured other
arrays, the judged documents and their labels. Compiling takes seconds, evaluating less than a
millisecond. So an array constant or shared variable of a graph becomes an input of unknown length;
what is left (operations, how they hang together, scalar constants, shapes that broadcast) is the
graph's structure. The first graph of a structure is compiled, later ones only give their arrays.

Where an operation cannot be rebuilt over inputs of unknown length, the graph is compiled as it is,
for itself alone, and a :class:`~rtc_bayes.errors.FitWarning` says so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from rtc_bayes.errors import FitWarning, InputError, warn
from rtc_bayes.relevance.newton import Floats

if TYPE_CHECKING:
    import pymc as pm

_MOST_STRUCTURES = 64


@dataclass
class Statistics:
    """What was compiled in this process.

    Attributes
    ----------
    compiled : int
        Functions compiled.
    baked : int
        Graphs that could not be shared and were compiled for themselves alone.
    """

    compiled: int = 0
    baked: int = 0


statistics = Statistics()


class CompiledGraph:
    """A PyMC graph as functions of one vector, its unconstrained free variables end to end.

    Parameters
    ----------
    graph : pymc.Model
        Its free variables must be continuous.

    Raises
    ------
    InputError
        A discrete free variable.
    """

    def __init__(self, graph: pm.Model) -> None:
        if graph.discrete_value_vars:
            raise InputError(
                f"the free variable {graph.discrete_value_vars[0].name} is discrete: only "
                "continuous ones have a mode, a normal approximation and gradients",
                remedy="sum it out of the graph; where it stands for labels, say what was "
                "observed, judgments.labels[judgments.order], or call observe(judgments, "
                "log_odds)",
            )
        self.graph = graph

    @cached_property
    def start(self) -> Floats:
        """The support points of the free variables."""
        return np.concatenate([np.empty(0), *(part.ravel() for part in self._start)])

    @property
    def size(self) -> int:
        """Number of unconstrained values."""
        return len(self.start)

    def log_density(self, x: Floats, *, jacobian: bool) -> float:
        """Log density of the unconstrained variables; without `jacobian`, of those they become."""
        return float(self._density(jacobian)("value", self._split(x))[0])

    def derivative(self, x: Floats, *, jacobian: bool) -> tuple[float, Floats]:
        """Log density and its gradient, shape (size,)."""
        value, *gradient = self._density(jacobian)("gradient", self._split(x))
        return float(value), np.concatenate([np.ravel(part) for part in gradient])

    def hessian(self, x: Floats, *, jacobian: bool) -> Floats:
        """Second derivatives of the log density, shape (size, size)."""
        density, point = self._density(jacobian), self._split(x)
        rows = np.empty((self.size, self.size))
        for i, direction in enumerate(np.eye(self.size)):
            product = density("hessian", point, self._split(direction))
            rows[i] = np.concatenate([np.ravel(part) for part in product])
        return 0.5 * (rows + rows.T)

    def p(self, x: Floats) -> Floats:
        """Probability of every document, shape (documents,)."""
        probabilities: Floats = self._p("value", self._split(x))[0]
        return probabilities

    def missing_element(self) -> str:
        """Say which element that p takes of a parameter is not there; empty where all are.

        Compiled functions do not look: they read what stands in memory beyond the end. So p is
        evaluated once by Python's own operations, at the start.
        """
        import pytensor
        from pytensor.compile import Mode
        from pytensor.graph.traversal import toposort
        from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor

        values = self.graph.value_vars
        nodes = toposort(self._p_of_values)
        taken = [node for node in nodes if isinstance(node.op, AdvancedSubtensor | Subtensor)]

        def evaluate(outputs: Sequence[Any]) -> None:
            plain = Mode(linker="py", optimizer="None")
            pytensor.function(values, outputs, mode=plain, on_unused_input="ignore")(*self._start)

        if not taken:
            return ""
        try:
            evaluate(self._p_of_values)
        except IndexError:
            for node in taken:
                try:
                    evaluate(node.outputs)
                except IndexError as error:
                    name = node.inputs[0].name
                    return f"{f'{name}: ' if name else ''}{str(error).splitlines()[0]}"
        except Exception:  # the compiled function says what else is wrong
            return ""
        return ""

    @cached_property
    def kept(self) -> tuple[Any, ...]:
        """Free variables and deterministics, those over documents apart: they are many."""
        dims = self.graph.named_vars_to_dims
        variables = (*self.graph.free_RVs, *self.graph.deterministics)
        return tuple(
            v for v in variables if v.name != "p" and "document" not in dims.get(v.name, ())
        )

    def parameters(self, x: Floats) -> dict[str, Any]:
        """Return the values of :attr:`kept` by name."""
        values = self._parameters("value", self._split(x))
        return {str(v.name): value for v, value in zip(self.kept, values, strict=True)}

    @property
    def labels(self) -> dict[str, Any]:
        """Dims of the parameters, and the coordinates of these."""
        named = self.graph.named_vars_to_dims
        dims = {str(v.name): tuple(map(str, named[v.name])) for v in self.kept if v.name in named}
        used = {dim for each in dims.values() for dim in each}
        of_graph: Mapping[str, Sequence[Any] | None] = self.graph.coords
        coords = {dim: list(of_graph[dim] or ()) for dim in used if of_graph.get(dim) is not None}
        return {"dims": dims, "coords": coords}

    @cached_property
    def _start(self) -> list[Floats]:
        from pymc.initial_point import make_initial_point_expression

        graph = self.graph
        expressions = make_initial_point_expression(
            free_rvs=graph.free_RVs,
            rvs_to_transforms=graph.rvs_to_transforms,
            initval_strategies=graph.rvs_to_initial_values,
            return_transformed=True,
        )
        return [np.asarray(part, float) for part in _bind(expressions, [])("value", [])]

    def _split(self, x: Floats) -> list[Floats]:
        parts, at = [], 0
        for like in self._start:
            parts.append(x[at : at + like.size].reshape(like.shape))
            at += like.size
        return parts

    def _density(self, jacobian: bool) -> _Bound:
        return self._jacobian_density if jacobian else self._plain_density

    @cached_property
    def _jacobian_density(self) -> _Bound:
        return _bind([self.graph.logp(jacobian=True)], self.graph.value_vars)

    @cached_property
    def _plain_density(self) -> _Bound:
        return _bind([self.graph.logp(jacobian=False)], self.graph.value_vars)

    @cached_property
    def _p(self) -> _Bound:
        return _bind(self._p_of_values, self.graph.value_vars)

    @cached_property
    def _p_of_values(self) -> Sequence[Any]:
        outputs: Sequence[Any] = self.graph.replace_rvs_by_values([self.graph["p"]])
        return outputs

    @cached_property
    def _parameters(self) -> _Bound:
        return _bind(self.graph.replace_rvs_by_values(self.kept), self.graph.value_vars)

    def __repr__(self) -> str:
        names = ", ".join(str(v.name) for v in self.graph.free_RVs)
        return f"CompiledGraph({self.size} unconstrained values: {names})"


@dataclass(eq=False)
class _Structure:
    """Outputs over value variables and array inputs, and their functions as they are asked for."""

    values: Sequence[Any]
    arrays: Sequence[Any]
    outputs: Sequence[Any]
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    lock: Any = field(default_factory=RLock)

    def function(self, kind: str) -> Callable[..., Any]:
        """Return a function of values (and, of a Hessian, a direction) and arrays."""
        if kind not in self.functions:
            self.functions[kind] = self._compile(kind)
        return self.functions[kind]

    def _compile(self, kind: str) -> Callable[..., Any]:
        import pytensor
        import pytensor.tensor as pt

        inputs = list(self.values)
        outputs: Any = list(self.outputs)
        if kind != "value":
            gradient: Any = pytensor.grad(outputs[0], inputs, disconnected_inputs="ignore")
            outputs.extend(gradient)
        if kind == "hessian":
            direction = [value.type() for value in self.values]
            along = pt.add(0.0, *(pt.sum(g * d) for g, d in zip(gradient, direction, strict=True)))
            outputs = pytensor.grad(along, inputs, disconnected_inputs="ignore")
            inputs += direction
        made = pytensor.function([*inputs, *self.arrays], outputs, on_unused_input="ignore")
        made.trust_input = True
        statistics.compiled += 1
        return made


@dataclass(frozen=True, eq=False)
class _Bound:
    """A structure with the arrays of one graph."""

    structure: _Structure
    arrays: Sequence[Any]

    def __call__(self, kind: str, *points: Sequence[Floats]) -> list[Any]:
        values = [part for point in points for part in point]
        with self.structure.lock:
            results = self.structure.function(kind)(*values, *self.arrays)
        return list(results)


class _BakedError(Exception):
    """The graph cannot be rebuilt over inputs of unknown length."""


_structures: OrderedDict[Hashable, _Structure] = OrderedDict()
# fits in threads of the caller
_lock = RLock()


def _bind(outputs: Sequence[Any], values: Sequence[Any]) -> _Bound:
    """Return the functions of outputs over value variables, known or new."""
    try:
        key, slots, nodes = _signature(outputs, values)
        with _lock:
            structure = _structures.get(key)
            if structure is None:
                structure = _structures[key] = _rebuild(outputs, values, slots, nodes)
            _structures.move_to_end(key)
            if len(_structures) > _MOST_STRUCTURES:
                _structures.popitem(last=False)
        return _Bound(structure, [_value(slot) for slot in slots])
    except _BakedError as reason:
        statistics.baked += 1
        warn(f"a graph is compiled for itself alone: {reason}", FitWarning)
        return _Bound(_Structure(values, [], outputs), [])


def _signature(
    outputs: Sequence[Any], values: Sequence[Any]
) -> tuple[Hashable, Mapping[Any, Any], Sequence[Any]]:
    """Describe a graph apart from its arrays.

    Returns
    -------
    key : hashable
    slots : mapping
        Array constants and shared variables, in the order met, to the types of their inputs.
    nodes : sequence of Apply
        In topological order.
    """
    from pytensor.compile.sharedvalue import SharedVariable
    from pytensor.graph.basic import Constant
    from pytensor.graph.traversal import toposort
    from pytensor.tensor.type import TensorType
    from pytensor.tensor.variable import TensorConstant

    nodes = list(toposort(outputs))
    described: dict[Any, Hashable] = {v: ("value", i, v.type) for i, v in enumerate(values)}
    slots: dict[Any, Any] = {}

    def describe(variable: Any) -> Hashable:
        if variable in described:
            return described[variable]
        if isinstance(variable, TensorConstant) and _is_array(variable.data):
            # a length of 1 broadcasts, so it is part of the structure
            shape = [1 if length == 1 else None for length in variable.data.shape]
            kind = TensorType(variable.type.dtype, shape=shape)
        elif isinstance(variable, SharedVariable):
            kind = variable.type
        elif isinstance(variable, TensorConstant):
            return "constant", variable.type, variable.data.tobytes()
        elif isinstance(variable, Constant):
            return "constant", variable.signature()
        else:
            raise _BakedError(f"{variable} is neither a free variable nor data")
        described[variable] = "array", len(slots), kind
        slots[variable] = kind
        return described[variable]

    parts: list[Hashable] = []
    for n, node in enumerate(nodes):
        parts.append((node.op, tuple(describe(v) for v in node.inputs)))
        described.update({v: ("node", n, i) for i, v in enumerate(node.outputs)})
    key = (tuple(parts), tuple(describe(v) for v in outputs), tuple(v.type for v in values))
    try:
        hash(key)
    except TypeError as error:
        raise _BakedError(f"a part of it cannot be compared ({error})") from error
    return key, slots, nodes


def _rebuild(
    outputs: Sequence[Any],
    values: Sequence[Any],
    slots: Mapping[Any, Any],
    nodes: Sequence[Any],
) -> _Structure:
    """Build the graph again with inputs in the place of its arrays."""
    arrays = {variable: kind() for variable, kind in slots.items()}
    new: dict[Any, Any] = {value: value.type(name=value.name) for value in values} | arrays
    for node in nodes:
        try:
            again = node.op.make_node(*(new.get(v, v) for v in node.inputs))
        except Exception as error:
            raise _BakedError(f"{node.op} needs a known length ({error})") from error
        for old, made in zip(node.outputs, again.outputs, strict=True):
            if _broadcasts(old) != _broadcasts(made):
                raise _BakedError(f"{node.op} broadcasts a length that data decide")
            new[old] = made
    return _Structure(
        [new[value] for value in values], list(arrays.values()), [new.get(v, v) for v in outputs]
    )


def _is_array(data: Any) -> bool:
    """Whether a constant may be any other of its kind: not a scalar, nor a shape with a 1."""
    short = data.ndim == 1 and len(data) <= 4 and data.dtype.kind == "i"
    return data.ndim > 0 and not (short and (data == 1).any())


def _broadcasts(variable: Any) -> Any:
    return getattr(variable.type, "broadcastable", None)


def _value(slot: Any) -> Any:
    """Return the array of a constant or a shared variable."""
    return slot.data if hasattr(slot, "data") else slot.get_value(borrow=True)
