"""The documents name functions and files that exist."""

import ast
import re
from pathlib import Path

import pytest

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
