"""Folders with right checksums and wrong content: every kind is refused before any kernel runs."""

import dataclasses
import functools
import json
import os
import shutil

import numpy as np
import pytest

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint, Progress, joint
from equilibrist.abstraction.recipes import build
from equilibrist.abstraction.resume import UnfinishedFolder, request
from equilibrist.errors import EquilibristError, InvalidValueError, SolverError, StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import rules_text
from equilibrist.models.endings import PlayedOut
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.methods import get_method
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, Run, solve
from equilibrist.solving.spot_run import SolvedSpot, solver
from equilibrist.storage.array_file import write_array
from equilibrist.storage.artefact import Header, open_artefact, read_identity, write_artefact
from equilibrist.storage.manifest import digest
from equilibrist.strategies.description import BucketDescription, GameDescription, _least_states
from equilibrist.strategies.quantized import CompactStrategy, open_buckets
from equilibrist.strategies.solution import Solution, game_of

METHODS = ("cfr+", "egt", "lp", "double-oracle", "range-of-skill", "mccfr", "pcs")
LEDUC = get_game("leduc")
NUMBERS = [3, 6]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Nothing here is about a disk that fails."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One small artefact of every kind."""
    home = tmp_path_factory.mktemp("home")
    buckets = build("strength-potential", LEDUC, [3, 3])
    identity = buckets.save(home / "abstraction")
    counts = joint(buckets)
    counts.save(home / "joint", {"first": identity})
    Progress(np.array(counts.wins), np.array(counts.ties), 3).save(
        home / "progress", {"first": identity}
    )
    parts = UnfinishedFolder(home / "unfinished", request(LEDUC, "percentile", NUMBERS, 0))
    build("percentile", LEDUC, NUMBERS, keep=parts)
    PlayedOut(np.array([1.0, 3.0]), np.ones((2, 3, 3))).save(home / "ends", {})
    for method in METHODS:
        store = kuhn_store(home / method, method)
        solve(store.game, store.solver, Budget(iterations=2), save=store.save)
    description = BucketDescription.of(home / "abstraction", home / "joint", BetMenu())
    bucket_store = Store(
        home / "buckets", description.build(), description, get_method("cfr+"), 0, "float64"
    )
    solve(bucket_store.game, bucket_store.solver, Budget(iterations=2), save=bucket_store.save)
    made_of = {"buckets": read_identity(home / "buckets").hash}
    CompactStrategy.of(Solution.load(home / "buckets"), made_of).save(home / "strategy")
    spot = Spot.of("Td9d6hQc2s", "AA,76s", "KK", Chips(pot=200, stack=100), bets="a")
    for bits in (16, 32):
        run = solve(spot.build().game, solver("cfr+", bits), Budget(iterations=2))
        SolvedSpot(spot, solver("cfr+", bits), run).save(home / f"spot{bits}")
    return home


@functools.cache
def kuhn():
    return exact_game(get_game("kuhn"))


def kuhn_store(out, method):
    game = kuhn()
    return Store(out, game, GameDescription.of(game), get_method(method), 0, "float64")


def open_strategy(folder):
    return open_buckets(CompactStrategy.open(folder))


OPENERS = {
    "abstraction": Abstraction.open,
    "joint": Joint.open,
    "progress": lambda folder: joint(
        Abstraction.open(folder.parent / "home/abstraction"),
        so_far=Progress.open(folder, read_identity(folder).parents),
    ),
    "unfinished": lambda folder: build(
        "percentile",
        LEDUC,
        NUMBERS,
        keep=UnfinishedFolder.open(folder, request(LEDUC, "percentile", NUMBERS, 0)),
    ),
    "ends": PlayedOut.open,
    "strategy": open_strategy,
    "spot16": SolvedSpot.open,
    "spot32": SolvedSpot.open,
    **{method: lambda folder, m=method: kuhn_store(folder, m).resume() for method in METHODS},
}


@pytest.fixture
def copied(home, tmp_path):
    """Copies an artefact; folders that it names are found beside the copy."""
    shutil.copytree(home, tmp_path / "home")

    def copy(name):
        shutil.copytree(home / name, tmp_path / name, dirs_exist_ok=True)
        return tmp_path / name

    for name in ("abstraction", "joint"):
        copy(name)
    return copy


def forge(folder, name, array, **changes):
    """Replace an array, or leave it out, and sign the manifest anew."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text()) | changes
    if array is None:
        manifest["arrays"].pop(name, None)
    else:
        (folder / f"{name}-999999.npy").unlink(missing_ok=True)
        manifest["arrays"][name] = write_array(folder, f"{name}-999999.npy", array).to_json()
    manifest["sha256"] = digest(manifest)
    path.write_text(json.dumps(manifest))


def forgeries(array):
    """Other arrays that a kernel must never see in the place of one."""
    flat = array.reshape(-1)
    yield np.append(flat, flat[-1:]).reshape(-1)
    yield np.zeros((2, *array.shape), array.dtype)
    yield array.astype("float16" if array.dtype.kind == "f" else "int8")
    yield array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else flat[:0]
    yield np.array(["text"])
    yield np.zeros((0, *array.shape[1:]), array.dtype)
    if array.ndim:
        yield array[:-1]
        yield np.concatenate([array, array[-1:]])
    if array.dtype.kind == "f" and array.size:
        for number in (np.nan, np.inf):
            bad = array.copy()
            bad.reshape(-1)[-1] = number
            yield bad


def is_possible(name, array):
    """Return whether the schema allows an array: another trace, or a gain not yet known."""
    if name == "trace":
        return (
            array.dtype == np.float64
            and array.shape[1:] == (6,)
            and len(array) > 0
            and np.isfinite(array).all()
        )
    may_be_infinite = name in ("state.gains", "state.exploitability", "state.nash_conv")
    return may_be_infinite and array.dtype == np.float64 and np.isinf(array).any()


@pytest.mark.parametrize("name", OPENERS)
def test_arrays_of_another_form_are_refused(copied, name):
    folder = copied(name)
    OPENERS[name](folder)
    artefact = open_artefact(folder, in_memory=True)
    whole = {array: np.array(artefact.arrays[array]) for array in artefact.arrays}
    manifest = (folder / "manifest.json").read_bytes()
    assert whole
    for array, numbers in whole.items():
        for forged in forgeries(numbers):
            is_same = forged.dtype == numbers.dtype and np.array_equal(forged, numbers)
            if is_same or is_possible(array, forged):
                continue
            forge(folder, array, forged)
            with pytest.raises(EquilibristError):
                OPENERS[name](folder)
            (folder / "manifest.json").write_bytes(manifest)
        forge(folder, "more", numbers)
        with pytest.raises(StorageError, match="has an unknown array more"):
            OPENERS[name](folder)
        (folder / "manifest.json").write_bytes(manifest)


@pytest.mark.parametrize(
    ("name", "array", "place", "number", "complaint"),
    [
        ("abstraction", "buckets0", -1, 3, "holds 3, which is not at least -1 and at most 2"),
        ("abstraction", "buckets0", -1, -2, "holds -2"),
        ("abstraction", "buckets0", -1, -1, "has a bucket for a hand that the board blocks, or"),
        ("abstraction", "values", 0, 5, "has a bucket for a hand that the board blocks, or"),
        ("abstraction", "parents1", 0, 3, "holds 3, which is not at least 0 and at most 2"),
        ("abstraction", "parents1", 2, 1, "less than the previous one|not nested"),
        ("abstraction", "parents0", 0, 0, "holds 0, which is not at least -1 and at most -1"),
        ("abstraction", "first", -1, 100, "holds 100"),
        ("abstraction", "first", 1, 0, "not nested"),
        ("joint", "wins", 0, -5, "holds -5"),
        ("unfinished", "round1.0", -1, 100, "holds 100"),
        ("unfinished", "last.0", -1, 100, "not nested"),
        ("strategy", "chances0", -1, 7, "do not sum to 1"),
        ("ends", "stakes", 0, 9, "less than the previous one"),
        ("cfr+", "state.iteration", (), -1, "holds -1"),
        ("double-oracle", "state.basis0", 0, 9, "holds 9"),
    ],
)
def test_numbers_out_of_range_are_refused(copied, name, array, place, number, complaint):
    folder = copied(name)
    forged = np.array(open_artefact(folder).arrays[array])
    forged.reshape(-1)[place] = number
    forge(folder, array, forged)
    with pytest.raises(StorageError, match=complaint):
        OPENERS[name](folder)


def values_of(fields):
    """Every way to make one field of a JSON object something else, at any depth."""
    for name, value in fields.items():
        for other in (None, "x\x1b[2J", 10**30, -1, [[]], True):
            if other != value or type(other) is not type(value):
                yield fields | {name: other}
        yield {key: rest for key, rest in fields.items() if key != name}
        if isinstance(value, dict):
            yield from (fields | {name: changed} for changed in values_of(value))


@pytest.mark.parametrize("name", [name for name in OPENERS if name not in METHODS[1:]])
@pytest.mark.parametrize("field", ["configuration", "info", "timings", "seed", "parents"])
def test_other_fields_are_accepted_or_refused_in_one_sentence(copied, name, field):
    folder = copied(name)
    whole = (folder / "manifest.json").read_bytes()
    content = json.loads(whole)
    for changed in values_of({field: content[field]}):
        forge(folder, "no such array", None, **{field: changed.get(field)})
        try:
            OPENERS[name](folder)
        except EquilibristError as error:
            assert "\x1b" not in str(error)  # noqa: PT017
        (folder / "manifest.json").write_bytes(whole)


def test_a_solution_of_another_length_is_refused(copied):
    folder = copied("cfr+")
    forge(folder, "plan0", np.ones(3))
    with pytest.raises(EquilibristError, match="player 0's plan has 3 numbers"):
        game_of(Solution.load(folder))


def with_rules(folder, rules, **changes):
    """Let a solution be of another game."""
    configuration = json.loads((folder / "manifest.json").read_text())["configuration"]
    configuration["game"] |= {"rules": rules} | changes
    forge(folder, "no such array", None, configuration=configuration)


@pytest.mark.parametrize("symmetry", ["cards", "suits"])
@pytest.mark.parametrize("name", ["holdem-limit", "royal-holdem", "rhode-island"])
def test_a_game_much_larger_than_its_plans_is_not_built(copied, monkeypatch, name, symmetry):
    """Building it would take hours and more memory than there is."""
    folder = copied("cfr+")
    with_rules(folder, rules_text(get_game(name)), symmetry=symmetry)
    monkeypatch.setattr(GameDescription, "build", None)
    with pytest.raises(EquilibristError, match="the plans have 30 numbers, but those of the game"):
        game_of(Solution.load(folder))


def test_a_betting_tree_much_larger_than_the_plans_is_not_built(copied, monkeypatch):
    folder = copied("cfr+")
    rules = rules_text(get_game("kuhn")).replace("limit", "nolimit", 1)
    rules = rules.replace("numRounds", "stack = 1000000 1000000\nnumRounds", 1)
    dropped = ("raiseSize", "maxRaises")
    rules = "\n".join(line for line in rules.splitlines() if not line.startswith(dropped))
    with_rules(folder, rules, bets=",".join(f"{n}%" for n in range(10, 50)), max_raises=None)
    monkeypatch.setattr(GameDescription, "build", None)
    with pytest.raises(EquilibristError, match="the plans have 30 numbers, but those of the game"):
        game_of(Solution.load(folder))


@pytest.mark.parametrize("symmetry", ["cards", "suits", "ranks"])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_plans_of_their_own_game_are_long_enough(name, symmetry):
    rules = get_game(name)
    game = exact_game(rules, symmetry=symmetry)
    description = dataclasses.replace(GameDescription.of(game), symmetry=symmetry)
    rows = [_least_states(rules, symmetry, r) for r in range(rules.num_rounds)]
    assert all(
        least <= int(states.sum())
        for least, states in zip(rows, game.states.num_states, strict=True)
    )
    description.check_length(sum(game.lengths))


@pytest.mark.parametrize("value", [-1.0, 1.5, -1e300, 1e300])
def test_plans_that_are_no_probabilities_are_refused(copied, value):
    folder = copied("cfr+")
    plan = np.array(Solution.load(folder).plans[0])
    plan[2] = value
    forge(folder, "plan0", plan)
    with pytest.raises(StorageError, match=r"plan0-999999.npy holds"):
        Solution.load(folder)


@pytest.mark.parametrize("method", METHODS)
def test_no_solver_continues_from_arrays_that_are_not_its_own(copied, method):
    """`Solution.load` does not know the game, so `solve` looks at the state."""
    game, by = kuhn(), get_method(method)
    whole = dict(Solution.load(copied(method), in_memory=True).state)
    for name, array in whole.items():
        wrong = [np.zeros((7, *array.shape), array.dtype), array.astype("<c16")]
        if array.dtype.kind == "f" and array.size:
            wrong.append(np.full_like(array, np.nan))
        for other in wrong:
            with pytest.raises(
                InvalidValueError, match=f"{by.name} cannot go on from this run".replace("+", r"\+")
            ):
                solve(game, by, Budget(iterations=3), run=Run(whole | {name: other}))
    rest = dict(whole)
    del rest["iteration"]
    with pytest.raises(InvalidValueError, match="is missing"):
        solve(game, by, Budget(iterations=3), run=Run(rest))
    run = Run(whole)
    solve(game, by, Budget(iterations=3), run=run)
    assert run.is_checked


def test_a_round_without_its_parents_is_refused(copied):
    folder = copied("unfinished")
    forge(folder, "round1.1", None)
    with pytest.raises(EquilibristError, match="the stored part round1 does not fit"):
        OPENERS["unfinished"](folder)


def test_a_spot_of_more_actions_than_its_tables_hold_is_refused_before_it_is_built(
    copied, monkeypatch
):
    folder = copied("spot32")
    configuration = json.loads((folder / "manifest.json").read_text())["configuration"]
    configuration["spot"] |= {"bets": ",".join(f"{n}%" for n in range(1, 41)), "max_raises": "3"}
    forge(folder, "more", None, configuration=configuration)
    monkeypatch.setattr(Spot, "build", lambda self: pytest.fail("it was built"))
    with pytest.raises(StorageError, match=r"describes a spot of [\d,]+ actions, but its tables"):
        SolvedSpot.open(folder)


def test_every_kind_is_opened_by_verify():
    from equilibrist.cli.solving import _OPENERS

    assert {"abstraction", "joint", "ends", "solution", "strategy", "spot"} <= set(_OPENERS)


def test_counts_of_other_buckets_are_not_continued(copied):
    folder = copied("progress")
    for name in ("wins", "ties"):
        forge(folder, name, np.zeros((4, 4)))
    with pytest.raises(EquilibristError, match=r"these counts are float64 \[4, 4\]"):
        OPENERS["progress"](folder)


def test_nothing_forged_is_written(tmp_path):
    with pytest.raises(SolverError, match="not finite"):
        write_artefact(tmp_path / "a", Header("thing", configuration={}), {"x": np.array([np.nan])})
    assert not (tmp_path / "a").exists()
