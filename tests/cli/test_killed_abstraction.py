"""Abstractions and joint counts killed at random moments, resumed to the same hashes."""

import contextlib
import errno
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.clustering import cluster_tables
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.resume import UnfinishedFolder, request
from equilibrist.errors import StorageError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.storage.artefact import open_artefact

PROGRAM = (sys.executable, "-c", "from equilibrist.cli import main; main()")
NUMBERS = "5,25,125"
ABSTRACT = ("abstract", "potential-aware", "--buckets", NUMBERS, "--game", "rhode-island")
KILLS = [3, pytest.param(20, marks=pytest.mark.slow)]


def killed(command: tuple[str, ...], out: Path, kills: int, seed: int) -> set[str]:
    """Run a command to its end, killed at random `kills` times; return the hashes that it wrote.

    Every other time the kill falls just after something was written, within a fiftieth of a second;
    else at any moment of the time that a run takes. A run that ends before it is killed is
    started again.
    """
    rng, done, longest, hashes = random.Random(seed), 0, 2.0, set()
    while True:
        resume = ["--resume"] if (out / "manifest.json").exists() else []
        start = time.perf_counter()
        process = subprocess.Popen(
            [*PROGRAM, *command, "--out", str(out), *resume],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if done < kills:
            before = out.stat().st_mtime_ns if out.exists() else 0
            moment = start + rng.random() * longest
            while process.poll() is None and (done % 2 == 0 or time.perf_counter() < moment):
                if done % 2 == 0 and out.exists() and out.stat().st_mtime_ns != before:
                    time.sleep(rng.random() * 0.02)
                    break
                time.sleep(0.001)
            process.kill()
        error = process.communicate()[1]
        longest = max(longest, time.perf_counter() - start)
        if process.returncode == -signal.SIGKILL:
            done += 1
            continue
        # A kill between the last write and the end leaves nothing to do.
        assert process.returncode == 0 or "nothing is left to do" in error, error
        found = open_artefact(out)
        found.verify()
        hashes.add(found.hash)
        if done == kills:
            return hashes
        shutil.rmtree(out)


@pytest.mark.parametrize("kills", KILLS)
def test_an_abstraction_killed_at_random_has_the_hash_of_one_never_killed(run, tmp_path, kills):
    _, text, _ = run(*ABSTRACT, "--out", tmp_path / "whole", "--json")  # compiles all kernels
    hashes = killed(ABSTRACT, tmp_path / "killed", kills, seed=1)
    assert hashes == {json.loads(text)["hash"]}


@pytest.mark.parametrize("kills", KILLS)
def test_counts_killed_at_random_have_the_hash_of_counts_never_killed(run, tmp_path, kills):
    buckets = build("expectation", get_game("rhode-island"), [13, 130, 1300])
    buckets.save(tmp_path / "buckets")
    command = ("joint", str(tmp_path / "buckets"))
    _, text, _ = run(*command, "--out", tmp_path / "whole", "--json")
    hashes = killed(command, tmp_path / "killed", kills, seed=2)
    assert hashes == {json.loads(text)["hash"]}


# --- after one round ------------------------------------------------------------------------------


class KilledError(Exception):
    pass


class Mortal:
    """Keeps what it is given until it dies: of a part by this name."""

    def __init__(self, inner, last):
        self.inner, self.last, self.load = inner, last, inner.load

    def store(self, name, part):
        if name == self.last:
            raise KilledError
        self.inner.store(name, part)

    def add(self, name, part):
        if name == self.last:
            raise KilledError
        self.inner.add(name, part)


CASES = {
    "percentile": [5, 25, 125],
    "expectation": [5, 25, 125],
    "moments": [4, 12, 36],
    "potential-aware": [4, 12, 36],
    "strength-potential": [4, 3, 3],
}


def begin(recipe, folder, last="round2"):
    """A finished round of an abstraction in a folder, and some of the next; what was asked for."""
    rules = get_game("rhode-island")
    wanted = request(rules, recipe, CASES[recipe], 0)
    with pytest.raises(KilledError):
        build(recipe, rules, CASES[recipe], keep=Mortal(UnfinishedFolder(folder, wanted), last))
    return wanted


@pytest.mark.parametrize("recipe", CASES)
def test_every_recipe_continues_after_its_first_round(recipe, tmp_path):
    rules = get_game("rhode-island")
    wanted = begin(recipe, tmp_path / "a")
    with pytest.raises(StorageError, match="unfinished abstraction; continue it with"):
        Abstraction.open(tmp_path / "a")
    said: list[str] = []
    keep = UnfinishedFolder.open(tmp_path / "a", wanted)
    found = build(recipe, rules, CASES[recipe], keep=keep, progress=said.append)
    assert not any("in round 1" in text and "strength of" not in text for text in said)
    assert any("in round 2" in text for text in said)
    whole = build(recipe, rules, CASES[recipe])
    assert found.save(tmp_path / "a") == whole.save(tmp_path / "b")
    assert Abstraction.open(tmp_path / "a").num_buckets == whole.num_buckets


@pytest.mark.parametrize("recipe", ["moments", "potential-aware"])
def test_buckets_whose_clusters_are_known_are_not_searched_again(recipe, tmp_path, monkeypatch):
    """Killed in round 2, at the third of four buckets."""
    monkeypatch.setattr("equilibrist.storage.checkpoint.SHARE", 1e9)  # write at once
    wanted = begin(recipe, tmp_path / "a", last="group2")
    names = {name.partition(".")[0] for name in open_artefact(tmp_path / "a").arrays}
    assert {"round1", "group0", "group1"} == {name for name in names if "pass" not in name}
    firsts = []

    def counted(problems, *arguments, first, **options):
        firsts.append(first)
        return cluster_tables(problems, *arguments, first=first, **options)

    monkeypatch.setattr("equilibrist.abstraction.street_builder.cluster_tables", counted)
    keep = UnfinishedFolder.open(tmp_path / "a", wanted)
    found = build(recipe, get_game("rhode-island"), CASES[recipe], keep=keep)
    assert firsts == [2]
    assert {"round1.0", "round2.0", "last.0"} <= set(open_artefact(tmp_path / "a").arrays)
    assert not any("group" in name for name in open_artefact(tmp_path / "a").arrays)
    whole = build(recipe, get_game("rhode-island"), CASES[recipe])
    assert found.save(tmp_path / "a") == whole.save(tmp_path / "b")


def small_request(seed):
    return request(get_game("leduc"), "percentile", [3, 6], seed)


def test_parts_on_the_way_are_written_together_and_then_forgotten(tmp_path):
    keep = UnfinishedFolder(tmp_path / "a", small_request(1))
    keep.add("group0", (np.arange(2),))
    keep._clock.cost = 1e9  # as if the disk were slow
    keep.add("group1", (np.arange(3),))
    assert UnfinishedFolder.open(tmp_path / "a", small_request(1)).load("group1") is None
    keep._clock.cost = 0.0
    keep.add("group2", (np.arange(4),))
    again = UnfinishedFolder.open(tmp_path / "a", small_request(1))
    assert [len(again.load(f"group{n}")[0]) for n in range(3)] == [2, 3, 4]
    again.store("round1", (np.arange(5),))
    assert again.load("group0") is None
    assert sorted(open_artefact(tmp_path / "a").arrays) == ["round1.0"]


def test_only_the_same_work_is_resumed(run, tmp_path):
    out = tmp_path / "a"
    begin("potential-aware", out)
    same = ("abstract", "potential-aware", "--buckets", "4,12,36", "--game", "rhode-island")
    others = {
        "seed 0, not 1": (*same, "--seed", "1"),
        "recipe potential-aware, not moments": ("abstract", "moments", *same[2:]),
        "number of buckets 4-12-36, not 4-12-37": (*same[:3], "4,12,37", *same[4:]),
        "another game": (*same[:5], str(tmp_path / "other.game")),
    }
    rules = replace(get_game("rhode-island"), max_raises=(1, 1, 1))
    (tmp_path / "other.game").write_text(rules_text(rules))
    before = (out / "manifest.json").read_bytes()
    for sentence, command in others.items():
        code, text, error = run(*command, "--out", out, "--resume")
        assert (code, text, error.count("\n")) == (2, "", 1)
        assert f"was started with {sentence}; resume with the same" in error
    assert "or --resume if it is unfinished" in run(*same, "--out", out)[2]
    assert (out / "manifest.json").read_bytes() == before
    assert run(*same, "--out", out, "--resume")[0] == 0
    assert "is complete: nothing is left to do" in run(*same, "--out", out, "--resume")[2]
    missing = run(*same, "--out", tmp_path / "none", "--resume")[2]
    assert "holds no abstraction to resume" in missing


def test_altered_parts_are_not_believed(tmp_path):
    wanted = begin("percentile", tmp_path / "a")
    (path,) = (tmp_path / "a").glob("round1.0-*.npy")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"round1\.0-000001\.npy was altered"):
        UnfinishedFolder.open(tmp_path / "a", wanted)


def test_parts_are_written_once(tmp_path, monkeypatch):
    """Each round adds files and leaves those before alone."""
    game, numbers = get_game("rhode-island"), [4, 12, 36]
    keep = UnfinishedFolder(tmp_path / "a", request(game, "percentile", numbers, 1))
    files = []

    def store(name, part, write=UnfinishedFolder.store):
        write(keep, name, part)
        files.append({path.name for path in (tmp_path / "a").glob("*.npy")})

    monkeypatch.setattr(keep, "store", store)
    build("percentile", game, numbers, seed=1, keep=keep)
    assert len(files) >= 2
    assert all(before < after for before, after in itertools.pairwise(files))
    again = UnfinishedFolder.open(tmp_path / "a", request(game, "percentile", numbers, 1))
    assert again.load("round1") is not None
    with pytest.raises(StorageError, match="seed 1, not 2"):
        UnfinishedFolder.open(tmp_path / "a", request(game, "percentile", numbers, 2))


# --- no room --------------------------------------------------------------------------------------


@contextlib.contextmanager
def longest_file(size):
    """A disk on which no file has room for more bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_gives_one_sentence_and_finished_rounds_stay(run, tmp_path):
    """Rhode Island's first round is of 52 hands and fits; the second, on 13 flops, does not."""
    command = ("abstract", "expectation", "--buckets", NUMBERS, "--game", "rhode-island")
    out = tmp_path / "a"
    with longest_file(1200):
        code, text, error = run(*command, "--out", out)
    assert (code, text) == (2, "")
    assert "File too large; existing files are unchanged; continue later with --resume" in error
    assert sorted(open_artefact(out).arrays) == ["round1.0", "round1.1"]
    _, text, _ = run(*command, "--out", out, "--resume", "--json")
    _, whole, _ = run(*command, "--out", tmp_path / "b", "--json")
    assert json.loads(text)["hash"] == json.loads(whole)["hash"]


def test_a_disk_full_of_counts_keeps_those_before(run, tmp_path, monkeypatch):
    build("expectation", get_game("rhode-island"), [3, 9, 27]).save(tmp_path / "buckets")
    command, out = ("joint", tmp_path / "buckets"), tmp_path / "joint"
    flush = os.fsync

    def full(descriptor):
        if any(out.glob("*-000002.npy")):
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        code, text, error = run(*command, "--out", out)
    assert (code, text) == (2, "")
    assert "No space left on device; existing files are unchanged; continue later with" in error
    _, text, _ = run(*command, "--out", out, "--resume", "--json")
    _, whole, _ = run(*command, "--out", tmp_path / "whole", "--json")
    assert json.loads(text)["hash"] == json.loads(whole)["hash"]


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(run, tmp_path):
    is_root = os.geteuid() == 0
    tmp_path.chmod(0o500)
    try:
        if is_root:
            os.seteuid(65534)  # permissions do not bind root
        code, text, error = run(*ABSTRACT, "--out", tmp_path / "a" / "b")
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o700)
    assert (code, text, error.count("\n")) == (2, "", 1)
    assert "cannot write" in error
    assert "Permission denied" in error
