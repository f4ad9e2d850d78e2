"""Forecasts of the memory and time of a solve, before anything is allocated.

Memory is the vectors of a method or, if these are more, of CFR and of the best responses that
certify it, and for buckets the matrices of joint counts. The memory of an evaluation was measured
as the peak of SmallBot's game, times by CFR+ on Rhode Island and on SmallBot's game; they are
rough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.sizes import deals_seen
from equilibrist.games.tree_counts import tree_counts
from equilibrist.kernels.gpu.device import free_bytes
from equilibrist.models.bucketed import LARGE
from equilibrist.models.card_states import CardStates, Symmetry, default_symmetry
from equilibrist.models.spot import Spot
from equilibrist.models.subgame import held_states
from equilibrist.models.treeplex import player_rows
from equilibrist.phases import phase
from equilibrist.storage.memory import available_bytes, check_fits, gigabytes

_VECTORS = 4  # vectors of CFR, each of both players' plans: plan, behaviour, regret, average
_STEP = {"egt": 14}  # vectors of a method that has more while it steps: old pair and new
_PROOF = 3 * 8  # bytes per number of a plan: an evaluation's vectors, in float64
_NANOSECONDS = 7.0  # per number of a plan and iteration, one core
_FLOPS = 250e9  # operations per second of products, one core, float32; skipped zeros count too
_GPU_FLOPS = 45e12  # of an H200, float32 or float64
_GPU_NANOSECONDS = 0.05  # per number of a plan and iteration, in its memory
_GPU_MORE = 20  # bytes per number of a plan: more than on the CPU, for products in float64
_LAUNCHES = 5e-3  # seconds to start the kernels of an iteration
_SPOT_NANOSECONDS = {16: 5.0, 32: 4.0}  # per infoset-action and iteration, one core, by bits
_HAND_BYTES = 72  # bytes per hand on a board: its cards, value and place in the order
Held: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]] | None
_SHARES = 1000  # number of steps in the search for fewer buckets


@dataclass(frozen=True)
class SolvingForecast:
    """Size of a model, and the memory and time that CFR on it needs."""

    sequences: int  # numbers of both players' plans
    bytes: int
    seconds_per_iteration: float
    buckets: tuple[int, ...] = ()  # by round, if the states are buckets
    fitting: tuple[int, ...] = ()  # these if they fit, or fewer, or empty
    device: str = "cpu"  # whose memory it needs

    def check(self, name: str) -> None:
        """Raise `InvalidValueError` if the memory of the machine, or of its GPU, is too small."""
        advice = "take fewer raises (max_raises), float32, or a game with fewer cards"
        if self.buckets:
            advice = f"{'-'.join(map(str, self.fitting)) or 'no number of'} buckets would fit"
        if self.device == "gpu":
            advice += ", or use the device cpu"
        where = " on the GPU" if self.device == "gpu" else ""
        check_fits(
            f"{name} needs{where}",
            self.bytes,
            _free(self.device),
            f"{advice}; force tries it anyway",
        )

    def __str__(self) -> str:
        where = " of the GPU" if self.device == "gpu" else ""
        return (
            f"{self.sequences:,} sequences, {gigabytes(self.bytes)}{where}, about "
            f"{self.seconds_per_iteration:.3g} s per iteration"
        )


@dataclass(frozen=True)
class SpotForecast:
    """Size of a spot, and the memory and time that solving it needs."""

    actions: int  # over the information sets of both players
    bytes: int
    fewer_bits: int  # bytes with numbers of 16 bits
    seconds_per_iteration: float  # of one thread
    bits: int = 32  # of a number
    num_states: tuple[int, ...] = ()  # as `count_states` counts them

    def __str__(self) -> str:
        return (
            f"{self.actions:,} actions of information sets, {gigabytes(self.bytes)}, about "
            f"{self.seconds_per_iteration:.2g} s per iteration and thread"
        )


def forecast(
    rules: GameRules,
    betting: BettingTree,
    symmetry: Symmetry | None = None,
    itemsize: int = 8,
    methods: Sequence[str] = (),
) -> SolvingForecast:
    """Forecast an exact game from counts alone: plan lengths times the vectors of the methods.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> rules = get_game("leduc")
        >>> forecast(rules, BettingTree.build(rules)).sequences  # up to suits; 768 by rank
        1248
    """
    raw, canonical = deals_seen(rules)
    states = raw if (symmetry or default_symmetry(rules)) == "cards" else canonical
    sequences = _sequences(_rows(betting), states[betting.first_round :])
    return SolvingForecast(
        sequences=sequences,
        bytes=_bytes(sequences, itemsize, methods),
        seconds_per_iteration=sequences * _NANOSECONDS * 1e-9,
    )


def bucket_forecast(
    betting: BettingTree,
    buckets: Sequence[int],
    itemsize: int = 4,
    threads: int = 2,
    methods: Sequence[str] = (),
    device: str = "cpu",
) -> SolvingForecast:
    """Forecast a game of buckets, with their numbers by round, on the CPU or a GPU.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> holdem = get_game("holdem-limit")
        >>> betting = BettingTree.build(holdem, BetMenu.parse(None, None, "3 3 3 3"))
        >>> found = bucket_forecast(betting, (20, 800, 4800, 28800))  # GS3's
        >>> found.sequences, gigabytes(found.bytes)
        (222622860, '14.6 GiB')
    """
    numbers, rows, available = tuple(buckets), _rows(betting), _free(device)
    sequences = _sequences(rows, numbers)
    more = _GPU_MORE if device == "gpu" else 0

    def bytes_of(few: tuple[int, ...]) -> int:
        number = _sequences(rows, few)
        return _bytes(number, itemsize, methods, few) + more * number

    needed, fitting = bytes_of(numbers), numbers
    if needed > available:
        fewer = (
            tuple(max(1, number * share // _SHARES) for number in numbers)
            for share in reversed(range(1, _SHARES))
        )
        fitting = next((few for few in fewer if bytes_of(few) <= available), ())
    if device == "gpu":
        seconds = _LAUNCHES + sequences * _GPU_NANOSECONDS * 1e-9
        seconds += _flops(betting, numbers) / _GPU_FLOPS
    else:
        seconds = sequences * _NANOSECONDS * 1e-9
        seconds += _flops(betting, numbers) * itemsize / 4 / (_FLOPS * threads)
    return SolvingForecast(sequences, needed, seconds, numbers, fitting, device)


@phase("counting boards and hands")
def spot_forecast(
    spot: Spot, bits: int = 32, num_states: Sequence[int] | None = None
) -> SpotForecast:
    """Forecast `TableCFR` on a spot; boards, hands and actions are counted, not estimated.

    `num_states` are counted (`count_states`) unless they are given.

    Example:
        >>> from equilibrist.models.spot import Chips
        >>> spot = Spot.of("Td9d6hQc", "random", "random", Chips(200, 900), bets="60%,a")
        >>> found = spot_forecast(spot)
        >>> found.actions, found.fewer_bits < found.bytes
        (4604496, True)
    """
    if num_states is None:
        held = held_states(spot.states, [own.weights for own in spot.ranges])
        num_states = count_states(spot.states, held)
    *earlier, first, second = num_states
    counts = tree_counts(
        spot.game, spot.menu_in_chips, first_round=spot.first_round, pot=spot.pot, runs_out=True
    )
    entries = [2 * count.openings for count in counts]  # of both players
    sequences = [first + count.actions for first, count in zip(entries, counts, strict=True)]
    trunk = _sequences(sequences[:-1], earlier)
    actions = (counts[-1].actions - counts[-1].second) * first + counts[-1].second * second
    # Two tables; the trunk also has plans; then the values of entries, and the hands: those of
    # either seat, and if they differ those of each.
    hands = sum(earlier) + (first if first == second else 2 * (first + second))
    rest = 5 * 4 * trunk + 2 * entries[-1] * max(first, second) + _HAND_BYTES * hands
    size, least = (rest + 2 * actions * number // 8 for number in (bits, 16))
    seconds = (trunk + actions) * _SPOT_NANOSECONDS[bits] * 1e-9
    return SpotForecast(trunk + actions, size, least, seconds, bits, tuple(num_states))


def count_states(states: CardStates, held: Held = None) -> list[int]:
    """Return the number of hands on all boards of each street, up to suits where they merge.

    Those of the last street are counted for each seat; `held` are the states that it can hold.
    """
    numbers = [int(number.sum()) for number in states.num_states]
    last = [numbers[-1]] * 2 if held is None else [int(own.sum()) for own in held]
    return [*numbers[:-1], *last]


def _free(device: str) -> int:
    """Return the bytes of free memory of this machine, or of its GPU."""
    return free_bytes() if device == "gpu" else available_bytes()


def _rows(betting: BettingTree) -> list[int]:
    """Return the number of rows of both players' plans by round."""
    first, second = (player_rows(betting, player).num_sequences for player in (0, 1))
    return (first + second).tolist()


def _sequences(rows: Sequence[int], states: Sequence[int]) -> int:
    """Return the length of both players' plans with these numbers of states by round."""
    return sum(row * state for row, state in zip(rows, states, strict=True))


def _bytes(
    sequences: int, itemsize: int, methods: Sequence[str], buckets: Sequence[int] = ()
) -> int:
    """Return the peak memory, which is at an evaluation, or at a step of many vectors."""
    pairs = [number**2 for number in buckets]
    # J and W: float32 if they are large, otherwise float64, and a copy in the type of the plans.
    large = max(pairs, default=0) > LARGE
    cell = 2 * 4 if large else 2 * (8 if itemsize == 8 else 8 + itemsize)
    number = max([_VECTORS * itemsize + _PROOF, *(_STEP.get(m, 0) * itemsize for m in methods)])
    return sequences * number + sum(pairs) * cell


def _flops(betting: BettingTree, buckets: Sequence[int]) -> int:
    """Return the operations of an iteration's matrix products: rows with leaves × bucket pairs."""
    total = 0
    for player in (0, 1):
        row = player_rows(betting, player).row
        for r, number in enumerate(buckets):
            for kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
                leaves = (betting.round == betting.first_round + r) & (betting.kind == kind)
                total += 2 * len(np.unique(row[leaves])) * number**2
    return total
