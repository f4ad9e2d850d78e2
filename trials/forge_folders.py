"""Give forged and damaged folders to everything that opens a folder, and judge the results.

    python trials/forge_folders.py --trials 2000 --seed 1

Every second trial is a forgery (matching checksums), the others are damage (old checksums).
A trial copies a genuine folder with the folders around it, alters it, and lets some of its readers
open it, each in a child process with limits of time and memory. What a reader may do:

    refused    exit code 2 (library: `EquilibristError`) and one sentence
    same       it accepts the folder, and its results are those of the genuine one
    reported   `exploit` says that the numbers do not match their certificate, or `bots` names the
               problem of the folder
    other      another result, from a forgery that may be another valid artefact

and what it may not:

    traceback, signal, hang, memory
    silent     another result though bytes are damaged, or though its own statements contradict it
    accepted   it accepts what no writer writes, with another result, or what must be refused
    controls   control characters reach the terminal
    not finite NaN or infinity in a result
    outside    a file outside the folder was created or altered
    exit       a wrong exit code, or a refusal that is not a sentence
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import importlib
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import children
import forgery
import numpy as np
import specimens
from forgery import ANY, FORBIDDEN, Draft, Forged
from specimens import HERE, SPECIMENS, Reader, Specimen

GOOD = ("refused", "same", "reported", "other")
BAD = ("traceback", "signal", "hang", "memory", "silent", "accepted", "controls", "not finite",
       "outside", "exit")  # fmt: skip
_MEMORY = 8 * 2**30  # address space of a reader, bytes; Numba and NumPy take a few hundred MiB
_LINKED = 2**20  # bytes from which unaltered files are linked instead of copied
_HEAVY = ("level-training", "decision-training")  # folders of many megabytes: fewer trials
_NEW = "new"  # folder that some readers write


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The verdict on what one reader did with one folder."""

    seed: int
    specimen: str
    recipe: str
    words: str
    reader: str
    verdict: str
    code: int
    tail: str  # of its output
    seconds: float


# --- a reader -------------------------------------------------------------------------------------


def read(reader: Reader, home: Path, folder: str, place: Path, limit: float, as_text: bool
         ) -> children.Ending:  # fmt: skip
    """Let a reader open a folder of a home, in a child."""
    if reader.opener:
        action = lambda: _open(reader.opener, Path(folder))  # noqa: E731
    else:
        arguments = [text.replace(HERE, folder) for text in reader.arguments]
        action = children.command(*arguments, *([] if as_text else ["--json"]))
    return children.run(action, place / "out", home, limit=limit, memory=_MEMORY)


def _open(opener: str, folder: Path) -> None:
    """Open a folder with a function of the library, and print a digest of its arrays."""
    from equilibrist.errors import EquilibristError

    module, _, name = opener.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    try:
        opened = found(folder)
        digest = hashlib.sha256()
        _add_arrays(opened, digest, depth=0)
    except EquilibristError as error:
        from equilibrist.cli import _complain

        _complain(str(error))
        sys.exit(2)
    print(json.dumps({"digest": digest.hexdigest()}))


def _add_arrays(value: Any, digest: Any, depth: int) -> None:
    """Add all arrays of an object to a digest, in their order."""
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif depth > 4 or type(value).__name__ == "Streets":
        return
    elif isinstance(value, tuple | list):
        for part in value:
            _add_arrays(part, digest, depth + 1)
    elif isinstance(value, dict):
        for name in sorted(value, key=str):
            _add_arrays(value[name], digest, depth + 1)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if (type(value).__name__, field.name) == ("Solution", "state"):
                continue  # checked when a run continues from it, which has its own readers
            _add_arrays(getattr(value, field.name), digest, depth + 1)


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return every leaf below a JSON value, by its path."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return {path: value}
    return {k: v for name, part in parts for k, v in leaves(part, f"{path}.{name}").items()}


# --- what it means --------------------------------------------------------------------------------


class Genuine:
    """The results of readers on genuine folders, and the parts that are the same every time."""

    def __init__(self, home: Path, place: Path, limit: float) -> None:
        self.home, self.place, self.limit = home, place, limit
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self.seconds: dict[tuple[str, str], float] = {}

    def warm(self, specimen: Specimen) -> None:
        """Load the kernels of a specimen's readers into this process, by running them here."""
        with contextlib.ExitStack() as stack:
            home, _ = copy(specimen, self.home, self.place / f"warm-{specimen.name}")
            stack.callback(shutil.rmtree, home.parent, ignore_errors=True)
            stack.callback(os.chdir, os.getcwd())
            nothing = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(contextlib.redirect_stdout(nothing))
            stack.enter_context(contextlib.redirect_stderr(nothing))
            os.chdir(home)
            for reader in specimen.readers:
                if reader.is_warmed:
                    shutil.rmtree(_NEW, ignore_errors=True)
                    with contextlib.suppress(SystemExit):
                        if reader.opener:
                            _open(reader.opener, Path(specimen.folder))
                        else:
                            arguments = [a.replace(HERE, specimen.folder) for a in reader.arguments]
                            children.command(*arguments)()

    def answers(self, specimen: Specimen, reader: Reader) -> dict[str, Any]:
        """Return paths and values of a reader's JSON that two genuine copies have in common."""
        key = specimen.name, f"{reader.name} {' '.join(reader.arguments)}"
        if key not in self._known:
            found = []
            for number in (1, 2):
                home, _ = copy(specimen, self.home, self.place / f"genuine-{number}")
                ending = read(reader, home, specimen.folder, home.parent, 10 * self.limit, False)
                shutil.rmtree(home.parent)
                found.append(_result(ending))
                self.seconds[key] = ending.seconds
            first, second = found
            self._known[key] = {
                path: value
                for path, value in first.items()
                if second.get(path, ...) == value and not _is_incidental(path)
            }
        return self._known[key]


def _is_incidental(path: str) -> bool:
    """Return whether a leaf is no result: a duration, or the size of a folder on the disk."""
    return "seconds" in path or path.endswith(".bytes")


def _result(ending: children.Ending) -> dict[str, Any]:
    """Return the leaves of what a command printed, with its exit code."""
    try:
        return leaves(json.loads(ending.out or "null")) | {"exit code": ending.code}
    except ValueError:
        return {"exit code": ending.code, "text": ending.out}


def judge(
    ending: children.Ending,
    genuine: dict[str, Any],
    reader: Reader,
    forged: Forged,
    *,
    is_damage: bool,
    stated: float | None,
) -> str:
    """Return the verdict on a reader's result; `stated` is the certificate of the folder."""
    if ending.is_late:
        return "hang"
    if ending.code < 0:
        return "signal"
    if "Traceback (most recent call last)" in ending.error:
        return "memory" if "MemoryError" in ending.error else "traceback"
    if any(_is_control(c) for c in ending.out + ending.error):
        return "controls"
    if ending.code == 2:
        lines = [line for line in ending.error.splitlines() if line.startswith("equilibrist: ")]
        return "refused" if len(lines) == 1 and not ending.out else "exit"
    found = _result(ending)
    if forged.as_text:
        return "other" if ending.code in (0, 1) else "exit"
    if any(isinstance(value, float) and not math.isfinite(value) for value in found.values()):
        return "not finite"
    if reader.name.startswith("exploit") and ending.code == 1 and found.get(".matches") is False:
        return "reported"
    if reader.name == "bots" and _names_a_problem(found, genuine):
        return "reported"
    if found.get(".matches") is True and not _matches(found.get(".exploitability"), stated):
        return "silent"
    is_same = all(
        found.get(path, ...) == value
        for path, value in genuine.items()
        if is_damage or path != ".hash"  # of the content, which is another on purpose
    )
    if ending.code not in (0, genuine["exit code"]):
        return "exit"
    if is_same:  # `bots` lists what manifests state, and opens no large array
        is_wrong = forged.allowed == FORBIDDEN and reader.name != "bots"
        return "accepted" if is_wrong else "same"
    if is_damage:
        return "silent"
    # `verify` checks only checksums, and those match.
    return "other" if forged.allowed == ANY or reader.name == "verify" else "accepted"


def _names_a_problem(found: dict[str, Any], genuine: dict[str, Any]) -> bool:
    """Return whether the list of bots names a problem, or says that a bot is not trained."""
    return any(
        genuine.get(path) is None if path.endswith(".problem") else genuine.get(path) == "trained"
        for path, value in found.items()
        if (path.endswith(".problem") and value is not None)
        or (path.endswith(".state") and value != "trained")
    )


def _is_control(c: str) -> bool:
    return (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"


def _matches(found: Any, stated: float | None) -> bool:
    if stated is None:
        return True
    if not isinstance(found, int | float) or not math.isfinite(stated):
        return False
    return abs(found - stated) <= 1e-5 * max(1.0, abs(stated))


def certificate(folder: Path) -> float | None:
    """Return the exploitability that a folder's manifest states; None if it cannot be read."""
    manifest = forgery.read_plain(folder)
    try:
        first, second = (manifest or {})["info"]["certificate"]["best_response"]
        return (float(first) + float(second)) / 2
    except (ValueError, TypeError, KeyError, OverflowError):
        return None


# --- a trial --------------------------------------------------------------------------------------


def copy(specimen: Specimen, genuine: Path, place: Path) -> tuple[Path, Path]:
    """Copy the folders around a specimen, and create a folder beside them that must not change."""
    home, outside = place / "home", place / "outside"
    shutil.rmtree(place, ignore_errors=True)
    outside.mkdir(parents=True)
    (outside / "canary").write_text("sings")
    (outside / "outside-000001.npy").write_text("sings")

    def take(source: str, target: str) -> None:
        if os.path.getsize(source) > _LINKED:
            os.link(source, target)
        else:
            shutil.copyfile(source, target)

    shutil.copytree(genuine / specimen.group, home, copy_function=take)
    return home, outside


def snapshot(outside: Path) -> dict[str, bytes]:
    """Return names and contents of the files outside."""
    return {path.name: path.read_bytes() for path in sorted(outside.iterdir())}


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of a folder's arrays by name; raise `ValueError` for a link or a device."""
    found = {}
    for name, entry in (forgery.read_plain(folder) or {})["arrays"].items():
        path = folder / entry["file"]
        if path.is_symlink() or not path.is_file():
            raise ValueError(f"{path} is no plain file")
        found[name] = path.read_bytes()
    return found


class Trials:
    """Trials on the genuine set with its readers."""

    def __init__(self, names: list[str], options: argparse.Namespace, place: Path) -> None:
        self.names, self.options, self.place = names, options, place
        self.home = specimens.genuine(names, _say, "-blocks" if options.blocks else "")
        self.genuine = Genuine(self.home, place, options.limit)

    def prepare(self) -> None:
        """Load everything, and run every reader on the genuine folder."""
        for name in self.names:
            specimen = SPECIMENS[name]
            self.genuine.warm(specimen)
            for reader in specimen.readers:
                self.genuine.answers(specimen, reader)

    def alter(self, seed: int, place: Path) -> tuple[Specimen, Path, Path, Forged, bool]:
        """Return the folder of a trial: specimen, home, the files outside, and the alteration."""
        rng = random.Random(seed)
        specimen = self._specimen(seed, rng)
        home, outside = copy(specimen, self.home, place)
        others = [
            self.home / other.group / other.folder
            for name in self.names
            if (other := SPECIMENS[name]).kind == specimen.kind and other != specimen
        ]
        folder = home / specimen.folder
        draft = Draft(folder, outside, others, rng)
        is_damage = bool(seed % 2)
        if is_damage:
            return specimen, home, outside, forgery.damage(draft), True
        old = forgery.identity(draft.manifest)
        forged = forgery.forge(draft, rng.randrange(10**6))
        if rng.random() < 0.5:
            forgery.update_references(home, folder, old)
        return specimen, home, outside, forged, False

    def _specimen(self, seed: int, rng: random.Random) -> Specimen:
        name = self.names[seed // 2 % len(self.names)]
        light = [name for name in self.names if name not in _HEAVY]
        if name in _HEAVY and light and rng.random() < 0.75:
            name = rng.choice(light)
        return SPECIMENS[name]

    def readers(self, specimen: Specimen, forged: Forged, rng: random.Random) -> list[Reader]:
        """Return the wanted number of readers of a trial, in random order."""
        found = rng.sample(specimen.readers, len(specimen.readers))
        if forged.as_text:
            found = [reader for reader in found if not reader.opener]
        if forged.needs_writer:
            found.sort(key=lambda reader: not reader.writes)
        return found[: self.options.readers]

    def _is_repaired(self, specimen: Specimen, home: Path) -> bool:
        """Return whether a folder's files have the genuine bytes again."""
        genuine, here = self.home / specimen.group / specimen.folder, home / specimen.folder
        try:
            return _contents(genuine) == _contents(here)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def run(self, seed: int) -> list[Verdict]:
        """Run one trial: alter a folder, let readers open it, judge the results."""
        place = self.place / f"trial-{seed}"
        verdicts = []
        rng = random.Random(seed + 10**9)
        specimen, _, _, forged, is_damage = self.alter(seed, place)
        for number, reader in enumerate(self.readers(specimen, forged, rng)):
            if number:  # each meets the folder as it was altered
                self.alter(seed, place)
            home, outside = place / "home", place / "outside"
            before = snapshot(outside)
            stated = certificate(home / specimen.folder)
            ending = read(reader, home, specimen.folder, place, self.options.limit, forged.as_text)
            genuine = self.genuine.answers(specimen, reader)
            verdict = judge(ending, genuine, reader, forged, is_damage=is_damage, stated=stated)
            if verdict == "accepted" and reader.writes and self._is_repaired(specimen, home):
                verdict = "same"  # it wrote the folder anew from what is beside it
            if snapshot(outside) != before:
                verdict = "outside"
            tail = "\n".join((ending.error or ending.out).splitlines()[-6:])[-900:]
            row = Verdict(
                seed, specimen.name, ("damage: " if is_damage else "") + forged.recipe,
                forged.words, reader.name, verdict, ending.code, tail, round(ending.seconds, 2),
            )  # fmt: skip
            verdicts.append(row)
            if verdict == "hang":
                break  # the other readers would fail, too
        if not self.options.keep:
            shutil.rmtree(place, ignore_errors=True)
        return verdicts


# --- all of them ----------------------------------------------------------------------------------


def run_all(trials: Trials, seeds: list[int], jobs: int) -> list[Verdict]:
    """Run all trials, several at a time, each in its own fork."""
    found: list[Verdict] = []
    running: dict[int, Path] = {}
    waiting, done, start = list(reversed(seeds)), 0, time.perf_counter()
    while waiting or running:
        while waiting and len(running) < jobs:
            seed = waiting.pop()
            file = trials.place / f"result-{seed}"
            running[_forked(trials, seed, file)] = file
        child, status = os.wait()
        file = running.pop(child)
        done += 1
        if status or not file.exists():
            _say(f"{file.name}: the trial itself broke")
            continue
        rows = [Verdict(**row) for row in json.loads(file.read_text())]
        file.unlink()
        found += rows
        if trials.options.json is not None:
            with open(trials.options.json, "a") as stream:
                for row in rows:
                    if row.verdict in BAD:
                        stream.write(json.dumps(dataclasses.asdict(row)) + "\n")
        if done % 50 == 0:
            failed = sum(row.verdict in BAD for row in found)
            _say(f"{done} trials, {time.perf_counter() - start:.0f} s, {failed} failures")
    return found


def _forked(trials: Trials, seed: int, file: Path) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        rows = trials.run(seed)
        file.write_text(json.dumps([dataclasses.asdict(row) for row in rows]))
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def table(found: list[Verdict], by: str) -> str:
    """Return a table of trials and failures by kind of folder, or by recipe."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    folders: dict[str, set[int]] = collections.defaultdict(set)
    for row in found:
        key = getattr(row, by)
        counts[key][row.verdict] += 1
        folders[key].add(row.seed)
    columns = [name for name in (*GOOD, *BAD) if any(c[name] for c in counts.values())]
    header = [by, "folders", "readings", *columns]
    rows = [header]
    for key in sorted(counts):
        rows.append(
            [key, len(folders[key]), counts[key].total(), *(counts[key][c] for c in columns)]
        )
    total = sum(counts.values(), collections.Counter())
    rows.append(["all", len({row.seed for row in found}), len(found), *(total[c] for c in columns)])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                  for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    )  # fmt: skip


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    """Run the trials; return exit code 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000, help="folders; half of them forged")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--only", type=int, help="repeat the trial of this seed and print it")
    parser.add_argument("--kinds", help="specimens to try, with commas (default: all)")
    parser.add_argument("--readers", type=int, default=3, help="readers per folder (default: 3)")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time (default: 1)")
    parser.add_argument("--limit", type=float, default=20, help="seconds per reader (default: 20)")
    parser.add_argument("--json", type=Path, help="add every failure to this file, one per line")
    parser.add_argument("--blocks", action="store_true", help="check arrays of 4 KiB by blocks")
    parser.add_argument("--keep", action="store_true", help="keep the folders of trials")
    options = parser.parse_args()
    names = options.kinds.split(",") if options.kinds else list(SPECIMENS)
    if options.only is not None:
        options.readers = 99
    specimens.prepare()
    if options.blocks:
        if not specimens.check_blocks(4096, 1024):
            sys.exit("this version has no checksums of blocks")
        forgery.block_bytes = 1024
    place = Path(tempfile.mkdtemp(prefix="equilibrist-forged-"))
    try:
        trials = Trials(names, options, place)
        if options.only is not None:
            rows = trials.run(options.only)
            for row in rows:
                print(json.dumps(dataclasses.asdict(row), indent=1))
            return int(any(row.verdict in BAD for row in rows))
        _say("warming up")
        trials.prepare()
        seeds = [10**6 * options.seed + n for n in range(options.trials)]
        found = run_all(trials, seeds, options.jobs)
    finally:
        if not options.keep:
            shutil.rmtree(place, ignore_errors=True)
    failed = [row for row in found if row.verdict in BAD]
    forged = [row for row in found if not row.recipe.startswith("damage")]
    damaged = [row for row in found if row.recipe.startswith("damage")]
    for title, rows in (("Forged, checksums right", forged), ("Damaged", damaged)):
        if rows:
            print(f"\n{title}\n{table(rows, 'specimen')}\n\n{table(rows, 'recipe')}")
    print(f"\n{len({row.seed for row in found})} folders, {len(found)} readings, "
          f"{len(failed)} failures of {len({row.seed for row in failed})} folders")  # fmt: skip
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
