"""Forecasts compared with actual allocations, and with the sizes of published games."""

import tracemalloc

import numpy as np
import pytest

from equilibrist.abstraction.forecast import counts_forecast
from equilibrist.abstraction.joint_counts import joint, sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.kernels.cpu.table_sweeps import work_space
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.exact import exact_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.forecast import bucket_forecast, forecast, spot_forecast
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, solve
from equilibrist.solving.spot_run import solver as spot_solver

HOLDEM = get_game("holdem-limit")


def betting(max_raises, rules=HOLDEM):
    return BettingTree.build(rules, BetMenu.parse(None, None, max_raises))


@pytest.mark.parametrize("method", ["cfr+", "egt"])
def test_a_bucket_game_takes_the_forecast_memory(method):
    rules = get_game("royal-holdem")
    buckets = build("percentile", rules, [2, 8, 32, 128])
    menu = BetMenu.parse(None, None, "3 3 3 3")
    game, solver = bucket_game(buckets, joint(buckets), menu), get_method(method, "float32")
    solve(game, solver, Budget(iterations=1))  # loading and compiling are not part of it
    tracemalloc.start()
    try:
        solve(game, solver, Budget(iterations=2))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    tree = BettingTree.build(rules, menu)
    found = bucket_forecast(tree, buckets.num_buckets, methods=[method])
    assert found.sequences == sum(game.lengths)
    assert found.bytes == pytest.approx(peak, rel=0.2)


def test_gs3s_game_is_two_matrices_and_vectors_of_112_million_numbers():
    """J and W of 28,800² in float32, four vectors per player, and an evaluation in float64."""
    found = bucket_forecast(betting("3 3 3 3"), (20, 800, 4800, 28800))
    vector = found.sequences / 2
    assert vector == pytest.approx(112e6, rel=0.01)
    matrices, vectors, proof = 2 * 4 * 28_800**2, 2 * 4 * 4 * vector, 2 * 3 * 8 * vector
    assert found.bytes == pytest.approx(matrices + vectors + proof, rel=0.05)


def test_times_are_those_that_were_measured_on_one_core():
    """7 ns per number of a plan, 250 Gflop/s of products, 4 ns per action of a spot, 5 packed."""
    rules = get_game("rhode-island")
    found = forecast(rules, BettingTree.build(rules))
    assert str(found) == "10,827,102 sequences, 578.2 MiB, about 0.0758 s per iteration"
    seconds = {
        threads: bucket_forecast(
            betting("3 3 3 3"), (20, 800, 4800, 28800), threads=threads
        ).seconds_per_iteration
        for threads in (1, 2)
    }
    assert seconds == pytest.approx({1: 60.8, 2: 31.2}, rel=0.01)  # GS3's game
    spot = Spot.of("Td9d6hQc", "random", "random", Chips(pot=200, stack=900), bets="60%,a")
    for bits, nanoseconds in ((32, 4), (16, 5)):
        found = spot_forecast(spot, bits)
        assert found.seconds_per_iteration == pytest.approx(nanoseconds * 1e-9 * found.actions)


def test_what_does_not_fit_is_refused_with_the_size_that_would(monkeypatch):
    monkeypatch.setattr("equilibrist.solving.forecast.available_bytes", lambda: 4 * 10**9)
    found = bucket_forecast(betting("3 3 3 3"), (20, 800, 4800, 28800))
    with pytest.raises(
        InvalidValueError, match=r"gs3 needs 14\.6 GiB and 3\.7 GiB are free; "
    ) as no:
        found.check("gs3")
    assert f"{'-'.join(map(str, found.fitting))} buckets would fit" in str(no.value)
    fits = bucket_forecast(betting("3 3 3 3"), found.fitting)
    assert 3.9e9 < fits.bytes <= 4e9
    fits.check("fewer")


def test_counts_that_do_not_fit_are_refused_with_the_number_that_would(monkeypatch):
    monkeypatch.setattr("equilibrist.abstraction.forecast.available_bytes", lambda: 4 * 10**9)
    found = counts_forecast(HOLDEM, 28_800)
    with pytest.raises(InvalidValueError, match=f"{found.fitting:,} buckets would fit"):
        found.check("gs3")
    counts_forecast(HOLDEM, found.fitting).check("fewer")
    assert counts_forecast(HOLDEM, found.fitting + 1).bytes > 4e9


def test_a_sample_states_its_boards_and_its_seed(tmp_path):
    buckets = build("percentile", get_game("royal-holdem"), [1, 2, 4, 8])
    found = sampled_joint(buckets, num_boards=80, seed=3)
    found.save(tmp_path / "counts", {})
    assert type(found).open(tmp_path / "counts").sample == (80, 3)


def num_bytes(arrays):
    return sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_forecast_of_an_exact_game_is_its_arrays_and_those_of_an_evaluation(dtype):
    rules = get_game("leduc")
    game, by = exact_game(rules, symmetry="cards"), get_method("cfr+", dtype)
    state = by.init(game)
    arrays = num_bytes(array for array in state.values() if array.ndim)
    evaluation = num_bytes(
        array for player in (0, 1) for array in (
            by.plans(game, state)[player],  # a plan, its gradient, and a behaviour: in float64
            game.gradient(player, by.plans(game, state)[1 - player]),
            game.uniform(player),
        )
    )  # fmt: skip
    found = forecast(rules, BettingTree.build(rules), "cards", np.dtype(dtype).itemsize)
    assert found.sequences == sum(game.lengths)
    assert found.bytes == arrays + evaluation


@pytest.mark.parametrize("bits", [16, 32])
def test_the_forecast_of_a_spot_is_a_little_more_than_its_arrays(bits):
    spot = Spot.of(
        "Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs", Chips(pot=200, stack=900), bets="60%,a"
    )
    built, by = spot.build(), spot_solver("cfr+", bits)
    state, found = by.init(built.game), spot_forecast(spot, bits)
    three = (built.game.pairs, *built.game.in_sections.pairs)
    pairs = (array for own in three for array in own if isinstance(array, np.ndarray))
    space = work_space(built.game.in_sections, np.float32, is_packed=bits == 16)
    arrays = num_bytes([*state.values(), *space, *pairs])
    assert 1 <= found.bytes / arrays < 1.15
    tables = (f"{part}{seat}" for seat in (0, 1) for part in ("regret", "last_regret"))
    actions = sum(state[name].size for name in tables)
    assert found.actions == pytest.approx(actions, rel=0.01)


def test_the_forecast_of_a_spot_counts_its_hands_where_little_can_be_bet():
    spot = Spot.of("Td9d6hQc", "random", "random", Chips(pot=200, stack=100), bets="a")
    built, by = spot.build(), spot_solver("cfr+", 16)
    pairs = (array for array in built.game.pairs if isinstance(array, np.ndarray))
    space = work_space(built.game.in_sections, np.float32, is_packed=True)
    arrays = num_bytes([*by.init(built.game).values(), *space, *pairs])
    assert 1 <= spot_forecast(spot, 16).bytes / arrays < 1.5
