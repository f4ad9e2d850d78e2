"""The documents name functions and files that exist."""

import ast
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equilibrist.bots.registry import BOTS, BucketBot
from equilibrist.cli import app

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "equilibrist"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
CALL = re.compile(r"^ *([A-Za-z_.]+) +([\w/]+\.py)(?: |$)", re.MULTILINE)
CALLS = CALL.findall(ARCHITECTURE.read_text(encoding="utf-8"))


def names_defined(file: Path) -> set[str]:
    """Return the functions and classes of a file, and methods as `Class.method`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


def test_the_architecture_follows_three_results():
    assert [name for name, file in CALLS if file.startswith("cli/") and name[0] != "_"] == [
        "train",
        "spot",
        "report_text",
        "exploit",
        "exploit_real",
    ]


@pytest.mark.parametrize(("name", "file"), CALLS)
def test_a_function_of_the_architecture_is_defined_in_its_file(name, file):
    assert name in names_defined(SOURCES / file)


def calls_drawn(section: str) -> dict[tuple[str, str], tuple[str, str] | None]:
    """Return the calls of a section of the architecture, in order, each with its caller."""
    text = ARCHITECTURE.read_text(encoding="utf-8").split(f"### {section}\n")[1].split("```")[1]
    found: dict[tuple[str, str], tuple[str, str] | None] = {}
    callers: list[tuple[str, str]] = []
    for line in text.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, file = line.split()[:2]
        found[file, name] = callers[depth - 1] if depth else None
        callers[depth:] = [(file, name)]
    return found


def calls_made(names: set[tuple[str, str]], action) -> dict[tuple[str, str], set]:
    """Return which of these functions an action calls, by first call, with those that call them."""
    files = {str(SOURCES / file): file for file, _ in names}
    found, running = {}, []

    def watch(frame, event, _):
        file = files.get(frame.f_code.co_filename)
        called = file, frame.f_code.co_qualname
        if called in names and event == "call":
            found.setdefault(called, set()).add(running[-1] if running else None)
            running.append(called)
        elif called in names and event == "return":
            running.pop()

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


SPOT = "spot --board Td9d6hQc2s --oop AA,76s,54s --ip KK --pot 200 --stack 200 --bets a --to 1%"
TINY = BucketBot(
    "tiny",
    "Few buckets of few cards",
    recipe="percentile",
    buckets=(1, 2, 4, 8),
    max_raises="1 1 1 1",
    target=1.0,
    game="royal-holdem",
)


@pytest.mark.parametrize(
    ("section", "words"),
    [("`equilibrist spot`", SPOT), ("`equilibrist train smallbot`", "train tiny")],
    ids=["spot", "train"],
)
def test_a_result_passes_the_functions_of_the_architecture(section, words, tmp_path):
    def result(folder):
        options = [*words.split(), "--out", str(tmp_path / folder)]
        assert CliRunner().invoke(app, options, catch_exceptions=False).exit_code == 0

    drawn = calls_drawn(section)
    with BOTS.added(TINY):
        result("first")  # compiles kernels, which takes much longer while calls are watched
        made = calls_made(set(drawn), lambda: result("second"))
    assert list(made) == list(drawn)
    assert all(caller in made[called] for called, caller in drawn.items())


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_source_files_that_a_page_names_exist(page):
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", page.read_text(encoding="utf-8"))
    homes = (SOURCES, ROOT, SOURCES / "kernels")
    assert [file for file in named if not any((home / file).exists() for home in homes)] == []


PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.parent.name != "reference" or page.stem == "index"  # the others are generated
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_opens_with_its_use_and_an_example(page):
    title, use, *rest = page.read_text(encoding="utf-8").split("\n\n")
    assert title.startswith("# ")
    assert use.startswith(("After reading this page you ", "From this page you "))
    examples = [part for part in rest[:3] if part.startswith(("```python", "```console"))]
    assert examples, f"{page.name} has no example near its beginning"
