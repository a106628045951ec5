"""The experiments import, answer --help, and use only what is public."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "experiments").rglob("*.py"))
MODULES = [path for path in FILES if path.name != "__init__.py"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "experiments").as_posix()


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)
    importlib.import_module(module_of(path))


@pytest.mark.parametrize(
    "path",
    [p for p in MODULES if "def main" in p.read_text() and "argparse" in p.read_text()],
    ids=name_of,
)
def test_help(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(module_of(path)).main()
    assert ended.value.code == 0
    assert "usage" in capsys.readouterr().out


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_uses_what_is_public(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [a.name for a in node.names] + (node.module or "").split(".")
            assert not [n for n in names if n.startswith("_") and n != "__future__"], names
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            assert not private or node.value.id in ("self", "cls"), ast.unparse(node)
            assert (node.value.id, node.attr) != ("sys", "path")


def test_a_figure_without_rows_for_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    row = {"collection": "trec8_adhoc", "arm": "left out", "method": "mtf/robust:gibbs"}
    row |= {"repetition": 0, "share": 0.01, "judged": 9, "tau": 0.8, "significant": 0.9}
    row |= {"log_score": 0.2, "accuracy": 0.9, "confidence": 0.8, "coverage": 0.9}
    pd.DataFrame([row]).to_csv(tmp_path / "rows.csv", index=False)
    line = ["page.py", str(tmp_path / "rows.csv"), "--figure", str(tmp_path / "figure.png")]
    monkeypatch.setattr(sys, "argv", line)
    with pytest.raises(SystemExit):
        importlib.import_module("experiments.frontier.page").main()
    assert "all rows are of groups left out" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", line[:2])
    importlib.import_module("experiments.frontier.page").main()
    assert "runs of groups left out" in capsys.readouterr().out
