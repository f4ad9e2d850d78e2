"""The changes that mutation testing makes, and its bookkeeping."""

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "trials" / "mutants"))
changed_import, drawing, mutations, summary = map(
    importlib.import_module, ("changed_import", "drawing", "mutations", "summary")
)


def changes(source, **options):
    """Every alternative of every site, as the changed source."""
    return [m.apply(source) for site in mutations.sites(source, **options) for m in site]


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a == b", ["a != b"]),
        ("a is not None", ["a is None"]),
        ("a not in b", ["a in b"]),
        ("a < b < c", ["a <= b < c", "a >= b < c", "a < b <= c", "a < b >= c"]),
        ("(a) + (b)", ["(a) - (b)"]),
        ("a * b", ["(a / b)", "(a + b)"]),
        ("a ** b", ["(a * b)"]),
        ("a += b", ["a -= b", "pass"]),
        ("a and b", ["(a or b)"]),
        ("not a", ["(a)"]),
        ("-a", ["(a)"]),
        ("x = True", ["x = False"]),
        ("x = 5", ["x = 6", "x = 4", "x = 0", "x = 10"]),
        ("x = 1", ["x = 2", "x = 0"]),
        ("x = 0.5", ["x = 1.0", "x = 0.25"]),
        ("min(a)", ["max(a)", "pass"]),
        ("x = a.maximum(b)", ["x = a.minimum(b)"]),
        ("x = a[b:c]", ["x = a[b + 1:c]", "x = a[b:c - 1]"]),
        ("x = a if b else c", ["x = a if (not (b)) else c"]),
        ("raise ValueError(a + 1)", ["pass"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("def f() -> bool:\n    return a", ["def f() -> bool:\n    return not (a)"]),
        ("def f(a=True):\n    b", ["def f(a=False):\n    b"]),
        ("for a in b:\n    break", ["for a in b:\n    continue"]),
        ("é = a < b", ["é = a <= b", "é = a >= b"]),  # columns are counted in bytes
    ],
)
def test_operators(source, changed):
    assert sorted(changes(source)) == sorted(changed)


@pytest.mark.parametrize(
    "source",
    [
        '"""One of 2."""',
        'x = "a" + b',
        'x = f"{a + 1}"',
        "x: Literal[1] | None",
        "Number = int | float",
        "Numbers = dict[str, list[int]]",
        "assert a == 1",
        "x = zip(a, b, strict=True)",
        '__all__ = ["a"] + ["b"]',
        "if TYPE_CHECKING:\n    x = 1",
        "@dataclass(frozen=True)\nclass A:\n    x: int",
        "def f(a: Literal[1]) -> Literal[2]: ...",
    ],
)
def test_what_is_not_behaviour_is_left_alone(source):
    assert changes(source) == []


def test_returned_values_of_compiled_code_are_left_alone():
    assert changes("def f(a):\n    return a", compiled=True) == []


def test_changes_of_a_real_module_are_valid_python_and_show_as_one_line():
    source = (ROOT / "src/equilibrist/games/betting.py").read_text()
    found = [site[0] for site in mutations.sites(source)]
    assert len(found) > 100
    for mutation in found[::9]:
        assert mutation.is_valid(source)
        before, after = mutation.diff(source)
        assert before != after
        assert source.splitlines()[mutation.line - 1].strip() in before


def test_a_draw_depends_on_the_seed_alone():
    first, again, other = (drawing.draw(["games/state.py"], 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({mutant.key for mutant in first}) == 20


def test_the_changed_source_is_imported_in_place_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "some_module.py").write_text("def answer():\n    return 42\n")
    (tmp_path / "changed.py").write_text("def answer():\n    return 43\n")
    monkeypatch.syspath_prepend(tmp_path)
    finder = changed_import.ChangedFinder(
        "some_module", str(tmp_path / "some_module.py"), tmp_path / "changed.py"
    )
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    module = importlib.import_module("some_module")
    assert module.answer() == 43
    assert module.__file__ == str(tmp_path / "some_module.py")
    assert not (tmp_path / "__pycache__").exists()


def test_wilsons_interval_is_that_of_the_literature():
    # Newcombe, Statistics in Medicine 17 (1998), Table I, method 3.
    assert summary.lower_bound(81, 263) == pytest.approx(0.2553, abs=5e-5)
    assert summary.lower_bound(15, 148) == pytest.approx(0.0624, abs=5e-5)
    assert summary.lower_bound(0, 20) == pytest.approx(0, abs=5e-5)
    assert summary.lower_bound(1, 29) == pytest.approx(0.0061, abs=5e-5)


def line(verdict, after="b"):
    return {"module": "m.py", "line": 3, "function": "f", "before": "a", "after": after} | {
        "verdict": verdict,
        "tests": 7,
    }


def test_the_summary_counts_verdicts_and_shows_only_survivors_that_are_not_listed():
    lines = [line("killed")] * 8 + [line("timeout"), line("survived"), line("survived", "c")]
    text, bound = summary.report(lines, {("m.py", "f", "a", "c"): "c is b"})
    assert text.splitlines()[1].split() == ["m.py", "11", "8", "1", "1", "1"]
    assert text.count("src/equilibrist/m.py:3 f (7 tests)\n  - a\n  + b") == 1
    assert "+ c" not in text
    assert bound == summary.lower_bound(9, 10)


def test_every_listed_mutant_exists_and_has_a_reason():
    """An entry whose line has changed is out of date: remove it."""
    listed = drawing.equivalent_mutants()
    for module in {name[0] for name in listed}:
        source = (drawing.PACKAGE / module).read_text()
        found = {
            (module, mutation.function, *mutation.diff(source))
            for site in mutations.sites(source, compiled=module in drawing.KERNELS)
            for mutation in site
        }
        assert {name for name in listed if name[0] == module} <= found
    assert all(len(reason) > 20 for reason in listed.values())


def test_the_changed_source_stands_before_pytests_own_import_hook(tmp_path, monkeypatch):
    """Pytest's own hook reads files named on the command line, such as those with doctests."""
    plugin = importlib.import_module("mutant_plugin")
    (tmp_path / "job").write_text(
        json.dumps({"module": "m", "file": "m.py", "source": "c.py", "tests": {}, "out": "out"})
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(changed_import.JOB, "job")
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    registered = []
    manager = SimpleNamespace(register=registered.append)
    plugin.pytest_configure(SimpleNamespace(pluginmanager=manager))
    registered[0].pytest_sessionfinish(0)
    assert isinstance(sys.meta_path[0], changed_import.ChangedFinder)


class Machine:
    """Stands for the processes: what is late depends on the limit and on the source."""

    def __init__(self, scratch, seconds, unchanged):
        self.scratch, self.limits = scratch, []
        self._seconds, self._unchanged = seconds, unchanged

    def pytest(self, job, files, limit, caches):
        self.limits.append(job["tests"]["tests/a.py::b"])
        is_changed = Path(job["source"]).read_text() != Path(job["file"]).read_text()
        is_late = (self._seconds if is_changed else self._unchanged) > self.limits[-1]
        events = [{"started": "tests/a.py::b"}, *([] if is_late else [{"finished": 0}])]
        Path(job["out"]).write_text("".join(json.dumps(event) + "\n" for event in events))
        return 1 if is_late else 0


@pytest.mark.parametrize(
    ("seconds", "unchanged", "verdict", "runs"),
    [
        (1, 1, "survived", 1),
        (10_000, 1, "timeout", 2),
        (100, 100, "survived", 3),  # a busy machine: late without the mutant too
        (10_000, 10_000, "survived", 6),  # so busy that nothing can be said
    ],
)
def test_a_late_test_counts_only_if_it_is_not_late_without_the_mutant(
    tmp_path, seconds, unchanged, verdict, runs
):
    file = ROOT / "trials" / "mutants" / "__main__.py"
    spec = importlib.util.spec_from_file_location("mutants_main", file)
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    mutant = drawing.draw(["games/rules.py"], 1, 0)[0]
    machine = Machine(tmp_path, seconds, unchanged)
    chart = SimpleNamespace(file_seconds={"tests/a.py": 2.0})
    found = main.try_mutant(mutant, ["tests/a.py::b"], machine, chart)
    assert (found["verdict"], len(machine.limits)) == (verdict, runs)
    assert machine.limits[0] == 40
    assert machine.limits == sorted(machine.limits)
