"""Processes that run tests against changed sources, and which tests execute which function."""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from changed_import import JOB
from drawing import KERNELS, PACKAGE, ROOT, Mutant

# Tests that watch clocks, signals or sockets could fail on a busy machine without any mutant.
LEFT_OUT = (
    "tests/cli/test_killed_*.py",
    "tests/cli/test_network.py",
    "tests/cli/test_sitting.py",
    "tests/kernels/*.py",
    "tests/mutants/*.py",
    "tests/play/test_acpc.py",
    "tests/play/test_pokerbots.py",
    "tests/play/test_server.py",
    "tests/test_examples.py",
)
MOST_SECONDS = 60.0  # of processor time of the tests for one mutant, as measured without it
FILE_SECONDS = 1200.0  # after which the tracing of a test file ends with what it has


class Laboratory:
    """The place where child processes run: a scratch folder, environment and kernel cache."""

    def __init__(self, folder: Path, memory_gib: float) -> None:
        self.folder = folder
        self._memory = int(memory_gib * 2**30)
        folder.mkdir(parents=True, exist_ok=True)
        self.scratch = Path(tempfile.mkdtemp(prefix="equilibrist-mutants-"))
        program = "import changed_import\n\nchanged_import.enter()\n"
        (self.scratch / "hook").mkdir()
        (self.scratch / "hook" / "sitecustomize.py").write_text(program)
        self.kernel_cache = self._kernel_cache()

    def close(self) -> None:
        """Remove the scratch folder."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _kernel_cache(self) -> Path:
        """Return the folder in which the compiled kernels of the current sources are stored."""
        program = "from equilibrist.kernels import cache; print(cache.folder)"
        path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
        answer = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(answer.stdout.strip())

    def pytest(
        self, job: dict[str, Any], files: Sequence[str], limit: float, caches: Path | None = None
    ) -> int | None:
        """Run pytest with a job; return the exit code, or None after `limit` seconds."""
        place = Path(tempfile.mkdtemp(dir=self.scratch))
        (place / "job.json").write_text(json.dumps(job))
        inherited = os.environ.get("PYTHONPATH", "")
        path = [self.scratch / "hook", Path(__file__).parent, PACKAGE.parent]
        environment = os.environ | {
            JOB: str(place / "job.json"),
            "PYTHONPATH": os.pathsep.join([*map(str, path), inherited]).rstrip(os.pathsep),
            "PYTHONHASHSEED": "0",
            "HOME": str(place),
            "TMPDIR": str(place),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(place / "hypothesis"),
            "NUMBA_CACHE_DIR": str(caches or self.kernel_cache.parent),
            "NUMBA_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "mutant_plugin"]
        command += ["-p", "no:cacheprovider", "--basetemp", str(place / "pytest")]
        if job.get("trace"):
            command.remove("-x")
        with (place / "output").open("w") as output:
            child = subprocess.Popen(
                [*command, *files],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=self._prepare,
            )
            try:
                code: int | None = child.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            with contextlib.suppress(ProcessLookupError):  # also what it started itself
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        shutil.rmtree(place, ignore_errors=True)
        return code

    def _prepare(self) -> None:
        """Limit the memory, and receive signals that a background job would ignore."""
        resource.setrlimit(resource.RLIMIT_AS, (self._memory, self._memory))
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)


class TestMap:
    """The seconds and the calls of every test, stored in the work folder while they are valid."""

    def __init__(
        self, laboratory: Laboratory, names: Sequence[str], patterns: Sequence[str]
    ) -> None:
        self._laboratory, self._names, self._patterns = laboratory, list(names), patterns
        self._file = laboratory.folder / "tests.jsonl"
        digest = hashlib.sha256(json.dumps(self._names).encode())
        for path in sorted([*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("conftest.py")]):
            digest.update(path.read_bytes())
        self._sources = digest.hexdigest()
        self.tests: dict[str, dict[str, Any]] = {}
        self.file_seconds: dict[str, float] = defaultdict(float)
        self._calling: dict[str, set[str]] = defaultdict(set)  # function → tests
        self._of_module: dict[str, set[str]] = defaultdict(set)  # module → tests

    def measure(self, workers: int, deadline: float) -> None:
        """Trace the test files that changed since the last time, or all if a source did."""
        known = {line["key"]: line for line in read_lines(self._file)}
        files = {file: self._key(file) for file in self._files()}
        missing = [file for file, key in files.items() if key not in known]
        with ThreadPoolExecutor(workers) as pool:
            runs = {pool.submit(self._trace, file, deadline): file for file in missing}
            for number, run in enumerate(as_completed(runs), 1):
                file, tests = runs[run], run.result()
                if tests is None:
                    continue
                line = {"key": files[file], "file": file, "tests": tests}
                known[line["key"]] = line
                with self._file.open("a") as out:
                    out.write(json.dumps(line) + "\n")
                passed = sum(test["passed"] for test in tests)
                found = (
                    f"{passed} of {len(tests)} tests pass" if tests else "no tests, or no import"
                )
                print(f"  {number}/{len(missing)} {file}: {found}")
                sys.stdout.flush()
        if any(key not in known for key in files.values()):
            raise SystemExit("The time is up before all tests were traced; run the command again.")
        for key in files.values():
            for test in known[key]["tests"]:
                if test["passed"]:
                    self._use(test)

    def _files(self) -> list[str]:
        """Return all files with tests: also the doctests of the modules, the docs and README."""
        paths = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "docs").glob("*.md")]
        paths += [ROOT / "README.md", *(PACKAGE / name for name in self._names)]
        names = sorted(path.relative_to(ROOT).as_posix() for path in paths)
        return [
            name
            for name in names
            if any(fnmatch.fnmatch(name, pattern) for pattern in self._patterns)
            and not any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)
        ]

    def _key(self, file: str) -> str:
        text = (ROOT / file).read_bytes()
        return hashlib.sha256(self._sources.encode() + file.encode() + b"\0" + text).hexdigest()

    def _trace(self, file: str, deadline: float) -> list[dict[str, Any]] | None:
        if time.monotonic() > deadline:
            return None
        out = self._laboratory.scratch / (hashlib.sha256(file.encode()).hexdigest() + ".trace")
        job = {"trace": True, "package": str(PACKAGE), "modules": self._names, "out": str(out)}
        self._laboratory.pytest(job, [file], FILE_SECONDS)
        return list(read_lines(out))

    def _use(self, test: dict[str, Any]) -> None:
        self.tests[test["test"]] = test
        self.file_seconds[test["test"].split("::")[0]] += test["seconds"]
        for function in test["functions"]:
            self._calling[function].add(test["test"])
            self._of_module[function.split(":")[0]].add(test["test"])

    def choose(self, mutant: Mutant) -> list[str]:
        """Return the tests to run, in order: file by file, the cheap ones first.

        First the tests that call the function, then others of the file that mirrors the module,
        which may call it in a process of their own, up to `MOST_SECONDS`.
        """
        if mutant.is_kernel:
            files = KERNELS[mutant.module]
            calling = {test for test in self.tests if test.split("::")[0] in files}
        elif mutant.mutation.function:
            calling = self._calling[f"{mutant.module}:{mutant.mutation.function}"]
        else:
            calling = self._of_module[mutant.module]
        mirror = f"tests/{Path(mutant.module).parent}/test_{Path(mutant.module).name}"
        others = {test for test in self.tests if test.split("::")[0] == mirror} - calling
        most = MOST_SECONDS if not mutant.is_kernel else 4 * MOST_SECONDS  # with compiling
        chosen: list[str] = []
        for group in (calling, others):
            spent = 0.0
            for test in sorted(group, key=lambda name: self.tests[name]["seconds"]):
                spent += self.tests[test]["seconds"]
                if spent <= most or not chosen:
                    chosen.append(test)
        cost: dict[str, float] = defaultdict(float)
        for test in chosen:
            cost[test.split("::")[0]] += self.tests[test]["seconds"]
        return sorted(
            chosen,
            key=lambda name: (
                cost[name.split("::")[0]],
                name.split("::")[0],
                self.tests[name]["seconds"],
            ),
        )


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    """Read JSON lines; a last line that was cut is left out."""
    if file.exists():
        for line in file.read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                yield json.loads(line)
