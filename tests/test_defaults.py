"""Every option of a command has the default of the Python parameter that it sets."""

import ast
import inspect
import sys
from importlib import import_module
from typing import Literal, get_args, get_origin

import pytest
import typer

import rtc_bayes as rb
from rtc_bayes.cli import app

# what a command calls, and how Python calls what an option sets where the words differ
CALLS = {
    "demo": ([rb.demo], {}),
    "describe": ([rb.describe], {}),
    "evaluate": ([rb.evaluate], {"measure": "measures"}),
    "simulate": ([rb.simulate], {}),
    "merge": ([rb.merge], {}),
    "labels": ([rb.aggregate, rb.CrowdPrior, rb.read_labels], {}),
    "fit": ([rb.fit], {}),
    "compare": ([rb.compare, rb.fit], {}),
    "build": ([rb.build], {}),
    "next": ([rb.next_documents, rb.suggest_topics, rb.next_actions], {}),
    "plan": ([rb.plan], {}),
    "hold-out plan": ([rb.hold_out], {}),
    "reusability": ([rb.reusability, rb.scores_under, rb.leave_group_out], {}),
    "topics": ([rb.select_topics], {}),
    "allocate": ([rb.allocate], {}),
    "extend": ([rb.extend], {}),
    "variability": ([rb.compare_variability], {}),
    "robustness": ([rb.study], {"budget": "budgets"}),
    "calibrate": ([rb.calibrate], {}),
}
# options that say what to read, what to show and where to write: no numbers hang on their defaults
ALONE = {
    *("audit_log", "by_topic", "default_p", "erels", "gold", "groups"),
    *("hold_out", "judged_for", "judges", "layout", "option", "output", "per_topic", "pilot"),
    *("prels", "qrels", "quiet", "runs", "scores", "truth", "write_erels", "write_scores"),
}
# questions that Python asks by a method, or by giving something: not asked unless said
ASKED = {
    *("audit", "costs", "forecast", "leave_out", "method", "model", "population", "ranks", "rope")
}


def commands(command=None, name=""):
    """Return each command that calls something, by its name."""
    command = typer.main.get_command(app) if command is None else command
    for last, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {last}".strip())
    if not hasattr(command, "commands"):
        yield name, command


OPTIONS = [
    pytest.param(name, option, id=f"{name} {option.name}")
    for name, command in commands()
    if name in CALLS
    for option in command.params
    if not option.required
]


def test_all_commands_are_here():
    assert {name for name, _ in commands()} - set(CALLS) == {"report", "models"}


def imported(module):
    """Return what a module of the command imports of the package, wherever in its text."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("rtc_bayes"):
            source = import_module(node.module)
            yield from (getattr(source, alias.name, None) for alias in node.names)


@pytest.mark.parametrize(("name", "command"), [*commands()])
def test_a_command_calls_the_functions_that_python_has(name, command):
    module = inspect.getmodule(inspect.unwrap(command.callback))
    functions, _ = CALLS.get(name, ([], {}))
    assert [each.__name__ for each in functions if each not in [*imported(module)]] == []


def taken(name, option):
    """Return the parameters that an option sets, each with its function: of what is called, or
    of what all commands share."""
    functions, words = CALLS[name]
    word = words.get(option.name, option.name)
    for several in (functions, [rb.Estimand], [rb.Workers], [rb.read_runs], [rb.read_labels]):
        parameters = ((each, inspect.signature(each).parameters.get(word)) for each in several)
        if matching := [(each, parameter) for each, parameter in parameters if parameter]:
            return word, matching
    return word, []


def words_of(function, parameter):
    """Return the words that a parameter takes; none where its annotation names no such list."""
    names = vars(sys.modules[inspect.unwrap(function).__module__])
    for part in str(parameter.annotation).split(" | "):
        spelt_out = part.startswith("Literal[")
        kind = eval(part, {"Literal": Literal}) if spelt_out else names.get(part)
        kind = getattr(kind, "__value__", kind)
        if get_origin(kind) is Literal:
            return {*get_args(kind)}
    return set()


CHOICES = [
    option
    for option in OPTIONS
    if get_origin(option.values[1].type_descriptor.annotation) is Literal
    and any(words_of(*each) for each in taken(*option.values)[1])
]


@pytest.mark.parametrize(("name", "option"), CHOICES)
def test_the_choices_are_those_of_python(name, option):
    _, matching = taken(name, option)
    words = [words for each in matching if (words := words_of(*each))]
    assert {*get_args(option.type_descriptor.annotation)} == set.union(*words)


def test_many_options_have_choices():
    assert len(CHOICES) > 30


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_the_default_is_that_of_python(name, option):
    word, matching = taken(name, option)
    if not matching:
        assert word in ALONE | ASKED
        assert word in ALONE or not option.default
    for _, parameter in matching:
        if parameter.default is inspect.Parameter.empty:
            assert option.default is None or word in ALONE
        elif option.default is None and parameter.default not in (None, ()):
            # typer cannot tell an option that is not typed by another default: the help says it
            ends = (
                parameter.default if isinstance(parameter.default, tuple) else [parameter.default]
            )
            said = option.help.rpartition("Default: ")[2]
            assert str(ends[0]).removeprefix("0") in said
            assert str(ends[-1]).removeprefix("0") in said
        else:
            assert option.default == (parameter.default if parameter.default != () else None)
