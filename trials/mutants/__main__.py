"""Mutation testing: change the sources at random places and see whether a test notices.

    python trials/mutants --mutants 300 --kernels 60 --seed 1

Draws mutants (one small change in one module each, see `mutations.py`) with a seed, runs against
each of them the tests that execute the changed function, cheapest first, until one fails, and
prints how many were noticed. A mutant that no test notices is a missing test, or it changes
nothing that can be seen and is listed with a reason in `tests/mutants/equivalent.toml`.

Which tests execute a function is measured once: all tests run with a tracer. Tests that do not
pass on the unchanged sources, because a package is missing for example, are not used. The mutant
itself never touches the sources: a process of its own imports the changed module through a hook
that its children inherit.

mutmut and cosmic-ray do not fit here. The one rewrites functions so that Numba cannot compile
them, the other edits the sources in place, which compiles all kernels again for every mutant.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from drawing import KERNELS, MODULES, PACKAGE, ROOT, Mutant, draw, equivalent_mutants, modules
from laboratory import Laboratory, TestMap, read_lines
from summary import report

ATTEMPTS = 3  # at a mutant on a machine that is busy
_LATE = re.compile(r"timeout|timed out|deadline", re.IGNORECASE)  # in the message of a late test


def try_mutant(mutant: Mutant, tests: list[str], lab: Laboratory, chart: TestMap) -> dict[str, Any]:
    """Run the tests against one mutant; return the line of the results file."""
    begin = time.perf_counter()
    verdict, test, why = _verdict(mutant, tests, lab, chart) if tests else ("survived", "", "")
    return {
        "key": mutant.key,
        "module": mutant.module,
        "line": mutant.mutation.line,
        "function": mutant.mutation.function,
        "before": mutant.before,
        "after": mutant.after,
        "verdict": verdict,
        "test": test,
        "why": why,
        "tests": len(tests),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def _verdict(
    mutant: Mutant, tests: list[str], lab: Laboratory, chart: TestMap
) -> tuple[str, str, str]:
    """Return killed, timeout or survived, the test that decided, and its message.

    A test may be late only because the machine is busy. So lateness counts if the same test passes
    on the unchanged sources in a third of the time; otherwise the mutant is tried with more time.
    """
    patience = 1.0
    for _ in range(ATTEMPTS):
        verdict, test, why = _outcome(mutant, tests, lab, chart, patience)
        if verdict != "timeout" and not _LATE.search(why):
            return verdict, test, why
        begin = time.perf_counter()
        alone = [test if test in tests else tests[0]]
        control, _, _ = _outcome(mutant, alone, lab, chart, patience, is_changed=False)
        taken = time.perf_counter() - begin
        if control == "survived" and taken < _limit(mutant, alone[0], chart, patience) / 3:
            return verdict, test, why
        patience *= 3
    return "survived", "", "undecided: the machine was too busy"


def _limit(mutant: Mutant, test: str, chart: TestMap, patience: float) -> float:
    """Return the seconds that a test has."""
    compiling = 300.0 if mutant.is_kernel else 30.0  # a kernel is compiled anew
    # Whichever test comes first fills what others of its file find cached.
    return patience * (compiling + 5 * chart.file_seconds[test.split("::")[0]])


def _outcome(
    mutant: Mutant,
    tests: list[str],
    lab: Laboratory,
    chart: TestMap,
    patience: float,
    is_changed: bool = True,
) -> tuple[str, str, str]:
    """Run the tests once, on the unchanged sources if wanted; return as `_verdict` does."""
    place = Path(tempfile.mkdtemp(dir=lab.scratch))
    file = PACKAGE / mutant.module
    source = file.read_text()
    (place / "changed.py").write_text(mutant.mutation.apply(source) if is_changed else source)
    limits = {test: _limit(mutant, test, chart, patience) for test in tests}
    job = {
        "module": "equilibrist." + mutant.module.removesuffix(".py").replace("/", "."),
        "file": str(file),
        "source": str(place / "changed.py"),
        "out": str(place / "out"),
        "tests": limits,
    }
    caches = _caches_without(mutant.module, lab, place) if mutant.is_kernel else None
    files = {test.split("::")[0]: limit for test, limit in limits.items()}
    code = lab.pytest(job, list(files), 2 * sum(files.values()), caches)
    events = list(read_lines(place / "out"))
    shutil.rmtree(place, ignore_errors=True)
    failed = next((event for event in events if "failed" in event), None)
    started = next((event["started"] for event in reversed(events) if "started" in event), "")
    if failed:
        return "killed", failed["failed"] or "import", failed["why"]
    if events and events[-1].get("finished") == 0:
        return "survived", "", ""
    if code is None or (code == 1 and started):
        return "timeout", started, ""
    return "killed", started or "import", f"exit code {code}"


def _caches_without(module: str, lab: Laboratory, place: Path) -> Path:
    """Return a cache with all compiled kernels but those that the module has a part in."""
    stale = {Path(name).stem for name in _dependents(module)}
    for folder in lab.kernel_cache.glob("*/"):
        copy = place / "numba" / lab.kernel_cache.name / folder.name
        copy.mkdir(parents=True)
        for path in folder.iterdir():
            if path.name.split(".")[0] not in stale:
                with contextlib.suppress(OSError):
                    os.link(path, copy / path.name)
    (place / "numba").mkdir(exist_ok=True)
    return place / "numba"


def _dependents(module: str) -> set[str]:
    """Return the kernel modules that import a module, directly or not, and itself."""
    imports: dict[str, set[str]] = {}
    for path in (PACKAGE / "kernels").rglob("*.py"):
        text = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                text |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        imports[path.relative_to(PACKAGE).as_posix()] = text
    found, size = {module}, 0
    while len(found) > size:
        size = len(found)
        dotted = {"equilibrist." + name.removesuffix(".py").replace("/", ".") for name in found}
        found |= {name for name, wanted in imports.items() if wanted & dotted}
    return found


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="mutants", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--mutants", type=int, default=300, help="number of mutants")
    add("--kernels", type=int, default=60, help="number of these that are in kernels")
    add("--seed", type=int, default=1, help="random seed of the draw")
    add("--only", nargs="*", default=["*"], help="patterns of the modules, such as 'games/*'")
    add("--tests", nargs="*", default=["*"], help="patterns of the test files to use")
    add("--workers", type=int, default=os.cpu_count() or 1, help="processes at a time")
    add("--memory", type=float, default=8.0, help="most memory of a process in GiB")
    add("--minutes", type=float, default=1e6, help="start nothing new after this time")
    add("--again", action="store_true", help="try the survivors of earlier runs again")
    add("--list", action="store_true", help="print the drawn mutants and stop")
    add("--wanted", type=float, default=0.85, help="least share noticed, at its lower bound")
    add("--folder", type=Path, default=ROOT / ".mutants", help="folder for measured times")
    add("--out", type=Path, help="results as JSON lines (FOLDER/results.jsonl)")
    return parser.parse_args()


def main() -> int:
    """Draw, try and report; return 1 if some are left or too few were noticed."""
    options = parse_options()
    deadline = time.monotonic() + 60 * options.minutes
    names, kernels = modules(MODULES, options.only), modules(KERNELS, options.only)
    in_kernels = min(options.kernels, options.mutants) if kernels else 0
    drawn = draw(names, options.mutants - in_kernels, options.seed)
    drawn += draw(kernels, in_kernels, options.seed)
    if options.list:
        for mutant in drawn:
            print(f"{mutant.module}:{mutant.mutation.line} {mutant.mutation.function}")
            print(f"  - {mutant.before}\n  + {mutant.after}")
        return 0
    out = options.out or options.folder / "results.jsonl"
    lab = Laboratory(options.folder, options.memory)
    try:
        chart = TestMap(lab, modules(MODULES), options.tests)
        chart.measure(options.workers, deadline)
        done = {line["key"]: line for line in read_lines(out)}
        _try_all(drawn, done, out, options, (lab, chart, deadline))
    finally:
        lab.close()
    lines = [done[mutant.key] for mutant in drawn if mutant.key in done]
    text, bound = report(lines, equivalent_mutants())
    print(text)
    if len(lines) < len(drawn):
        print(f"{len(drawn) - len(lines)} mutants are left to try; run the command again.")
    return 0 if len(lines) == len(drawn) and bound >= options.wanted else 1


def _try_all(
    drawn: list[Mutant],
    done: dict[str, dict[str, Any]],
    out: Path,
    options: argparse.Namespace,
    where: tuple[Laboratory, TestMap, float],
) -> None:
    """Try what is not done, several at a time; add the results to `done` and to the file."""
    lab, chart, deadline = where

    def run(mutant: Mutant) -> dict[str, Any] | None:
        if time.monotonic() > deadline:
            return None
        return try_mutant(mutant, chart.choose(mutant), lab, chart)

    again = {key for key, line in done.items() if options.again and line["verdict"] == "survived"}
    todo = [mutant for mutant in drawn if mutant.key not in done or mutant.key in again]
    print(f"{len(drawn)} mutants drawn, {len(todo)} to try", flush=True)
    with ThreadPoolExecutor(options.workers) as pool:
        for future in as_completed([pool.submit(run, mutant) for mutant in todo]):
            line = future.result()
            if line is None:
                continue
            done[line["key"]] = line
            with out.open("a") as results:
                results.write(json.dumps(line) + "\n")
            where_to = f"{line['module']}:{line['line']}"
            print(f"{line['verdict']:8} {line['seconds']:6.1f} s  {where_to}  {line['after']}")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
