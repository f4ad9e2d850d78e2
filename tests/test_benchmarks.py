"""Benchmarks and trials find what they import, and benchmarks print a help."""

import ast
import importlib
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = sorted((ROOT / "benchmarks").glob("bench_*.py"))
SCRIPTS = [
    path for name in ("benchmarks", "examples", "trials") for path in ROOT.glob(f"{name}/**/*.py")
]


def exists(module, name):
    found = importlib.import_module(module)
    return hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_name_that_a_script_imports_from_the_package_exists(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("equilibrist"):
            missing = [each.name for each in node.names if not exists(node.module, each.name)]
            assert missing == []


@pytest.mark.parametrize("script", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_prints_its_help_and_measures_nothing(script, monkeypatch, capsys):
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {script.name}")
