"""The game in the form of a solver: two treeplexes, a gradient, a fold-up, and the value scale.

Plans, behaviour and values are flat vectors [L] in the layout of each player's treeplex. States are
updated in place; arrays are allocated only if no output array is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.kernels.cpu import sequence_form as cpu
from equilibrist.kernels.cpu.table_sweeps import Game as KernelGame
from equilibrist.kernels.decision_rules import BEST, EXPECTATION, REGRET, SOFTMAX
from equilibrist.kernels.treeplex import block, board_matrices, boards, root_value
from equilibrist.models.card_states import CardStates
from equilibrist.models.leaves import ExpectedLeaves, seat_pairs
from equilibrist.models.products import product
from equilibrist.models.sections import last_round
from equilibrist.models.treeplex import with_states

Floats = NDArray[Any]

# Plans shorter than this are swept by one thread: starting threads would cost more than the work.
PARALLEL_LENGTH = 30_000
PARALLEL_BOARDS = 8  # minimum number of boards in some round to use threads
# Dense boards with at least this number of states are played by matrix products.
MATRIX_STATES = 48
_KERNELS = "equilibrist.kernels"

__all__ = [
    "BEST",
    "EXPECTATION",
    "REGRET",
    "SOFTMAX",
    "Floats",
    "Game",
    "Given",
    "Offer",
    "SequenceGame",
    "check_no_offer",
    "check_zero_sum",
    "sweeps_by_steps",
]


class Game(Protocol):
    """Interface of a game for solvers; `SequenceGame` and `RestrictedGame` implement it."""

    @property
    def name(self) -> str:
        """Name of the game, for messages and files."""

    @property
    def unit(self) -> str:
        """Unit of values."""

    @property
    def first_player(self) -> int:
        """Player whose value is reported."""

    @property
    def trees(self) -> tuple[Treeplex, Treeplex]:
        """Both players' treeplexes."""

    @property
    def lengths(self) -> tuple[int, int]:
        """Length of each player's plan."""

    @property
    def is_zero_sum(self) -> bool:
        """Whether one player wins what the other loses; not if the house takes a rake."""

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Return behaviour that takes every action with the same probability."""

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Return the behaviour of a plan."""

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """Return the plan of a behaviour."""

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Return the value of each of `player`'s rows given the opponent's plan."""

    def fold_up(
        self,
        player: int,
        rule: int,
        values: Floats,
        behaviour: Floats,
        table: Floats | None = None,
        factors: Floats | None = None,
    ) -> float:
        """Fold values up the player's tree by a rule."""

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """Run CFR iterations."""


class Offer(NamedTuple):
    """What one player is paid on some of its rows, whatever the opponent does; the opponent pays.

    It adds (values · plan[places]) to the payoff of `player`, and belongs to the gradients of both.
    """

    player: int
    places: NDArray[np.int64]  # [N] among the L numbers of the player's plan
    values: NDArray[np.float64]  # [N] in the game's unit, probabilities of the cards included


class Given(NamedTuple):
    """Given behaviour, and its places among the L numbers of a player."""

    places: NDArray[np.int64]  # [N]
    probabilities: NDArray[np.float64]  # [N]


@dataclass(frozen=True, eq=False)
class SequenceGame:
    """Two-player game in sequence form, zero-sum unless the house takes a rake (`treeplex.raked`).

    `value` and best-response values are in `unit`s. Player 0's gradient of a plan y is A y, player
    1's gradient of a plan x is −Aᵀ x (less the rake), so each player maximises the product with its
    own gradient.
    """

    name: str
    unit: str
    trees: tuple[Treeplex, Treeplex]
    leaves: LeafTables
    pairs: PairTables
    first_player: int = 0  # player whose value is reported: the first to act in round one
    betting: BettingTree | None = None  # the public part, if there is one
    states: CardStates | None = None  # the cards, if they are exact
    expected: tuple[ExpectedLeaves, ...] = ()  # leaves where rounds are left out at the end
    given: tuple[Given, Given] | None = None  # behaviour at locked decisions
    offer: Offer | None = None  # pay for staying out of a subgame (`models/subgame.py`)
    # States of the last round's boards that each player can hold; None: all.
    held: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None = None
    # "cpu", "gpu" (`on`), or "reference", the plain array programs that tests compare with.
    backend: str = "cpu"

    def on(self, device: str) -> SequenceGame:
        """Return the game on a device, cpu or gpu, where its arrays and those of its plans are.

        On the GPU, NumPy's functions return arrays of CuPy for such arrays. Games of buckets can
        be there: they have one board per round, with matrices of pairs of states.
        """
        if device == "gpu" and not self.fits_gpu:
            raise InvalidValueError(
                f"{self.name} is solved on the CPU: the GPU takes games of buckets, without a "
                "rake, locked decisions and offers",
                value=self.name,
            )
        return self if device == self.backend else replace(self, backend=device)

    @property
    def fits_gpu(self) -> bool:
        """Whether the game has the form that the kernels of the GPU take."""
        has_boards = any(int(np.diff(tree.board_start).max()) > 1 for tree in self.trees)
        is_free = self.given is None and not any(tree.locked.any() for tree in self.trees)
        return (
            is_free
            and self.offer is None
            and not has_boards
            and not self.pairs.is_sorted
            and self.is_zero_sum
        )

    @property
    def lengths(self) -> tuple[int, int]:
        """Length of each player's plan."""
        return int(self.trees[0].block_start[-1]), int(self.trees[1].block_start[-1])

    @cached_property
    def seats(self) -> tuple[Treeplex, Treeplex]:
        """Both treeplexes, in the last round with the states only that the player can hold."""
        if self.lists is None:
            return self.trees
        return with_states(self.trees[0], self.lists[0]), with_states(self.trees[1], self.lists[1])

    @property
    def lists(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Which states of the last round a player's tables have; None: all, as on the GPU."""
        return None if self.backend == "gpu" else self.held

    @cached_property
    def in_sections(self) -> KernelGame:
        """The game's arrays with its last round in sections, for kernels that sweep tables."""
        sections, leaves = last_round(self.trees, self.leaves)
        lists = self.lists
        pairs = (self.pairs, self.pairs) if lists is None else seat_pairs(self.pairs, lists)
        return KernelGame(self.seats, self.leaves, pairs, sections, leaves)

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether one player wins what the other loses; not if the house takes a rake."""
        payoff = self.leaves.fold_payoff
        return bool(np.array_equal(payoff[:, 0], -payoff[:, 1]))

    @property
    def rules(self) -> GameRules | None:
        """Rules of the game's cards and bets, or None if it has none."""
        return None if self.betting is None else self.betting.rules

    @property
    def num_infosets(self) -> int:
        """Number of information sets of both players."""
        return sum(_count(tree, np.ones_like(tree.decision_size)) for tree in self.trees)

    @property
    def num_infoset_actions(self) -> int:
        """Number of actions over the information sets of both players."""
        return sum(_count(tree, tree.decision_size) for tree in self.trees)

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Return behaviour [L] that takes every action with the same probability; entries hold 1.

        Locked decisions have the given probabilities, if there are any.
        """
        nothing = np.zeros(self.lengths[player], dtype, like=self.prototype)
        probabilities = self.behaviour(player, nothing)
        if self.given is not None:
            probabilities[self.given[player].places] = self.given[player].probabilities
        return probabilities

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """Return the realization plan of some behaviour."""
        plan = np.empty_like(behaviour) if out is None else out
        self._kernels.realize(self._trees[player], behaviour, plan, threads=self.num_threads)
        return plan

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Return the value of each of `player`'s rows given the opponent's plan."""
        values = np.empty(self.lengths[player], plan.dtype, like=plan) if out is None else out
        if self.backend == "gpu":
            self._device_gradient(player, plan, values)
            return values
        if self._has_wide_matrices:
            self._matrix_gradient(player, plan, values)
            self._add_offer(player, plan, values)
            return values
        self._kernels.gradient(
            self.trees, self.leaves, self.pairs, player, plan, values, threads=self.num_threads
        )
        self._add_expected(player, plan, values)
        self._add_offer(player, plan, values)
        return values

    def _add_offer(self, player: int, plan: Floats, values: Floats) -> None:
        """Add the offer to a gradient; its payer pays on the first entry, where plans are 1."""
        if self.offer is None:
            return
        if player == self.offer.player:
            values[self.offer.places] += self.offer.values.astype(values.dtype)
        else:
            values[0] -= self.offer.values @ plan[self.offer.places]

    def _add_expected(self, player: int, plan: Floats, values: Floats) -> None:
        """Add the expected leaves to a gradient, leaf by leaf: defines the matrix products."""
        r, board = len(self.trees[0].num_sequences) - 1, len(self.trees[0].num_states) - 1
        theirs = block(self.trees[1 - player], r, board, plan)
        out = block(self.trees[player], r, board, values)
        for rows, stake, matrix in self.expected:
            own = matrix if player == 0 else -matrix.T
            for (mine, yours), chips in zip(rows[:, [player, 1 - player]], stake, strict=True):
                out[mine] += chips * (own @ theirs[yours])

    @cached_property
    def stakes(self) -> list[tuple[Any, ...]]:
        """Return the chips of each round's leaves by both players' rows: sparse matrices [Q0, Q1].

        The matrices are those of `matrices`: folds, showdowns, then expected leaves. Player 1 wins
        what they are less, so games with a rake have none.
        """
        check_zero_sum(self)
        leaves = self.leaves
        found: list[tuple[Any, ...]] = []
        for r in range(len(self.trees[0].num_sequences)):
            shape = tuple(int(tree.num_sequences[r]) for tree in self.trees)
            folds = slice(int(leaves.fold_start[r]), int(leaves.fold_start[r + 1]))
            shown = slice(int(leaves.showdown_start[r]), int(leaves.showdown_start[r + 1]))
            found.append(
                (
                    _sparse(leaves.fold_payoff[folds, 0], leaves.fold_rows[folds], shape),
                    _sparse(leaves.showdown_stake[shown], leaves.showdown_rows[shown], shape),
                )
            )
        ends = [_sparse(stake, rows, shape) for rows, stake, _ in self.expected]
        found[-1] = (*found[-1], *ends)
        return found

    def adjusted(self, payoff: Any) -> Any:
        """Return the payoffs [L0, L1] that the leaves give to player 0; variants change them."""
        return payoff

    def matrices(self, board: int) -> tuple[Floats, ...]:
        """Return J and W of a board and, in the last round, those of expected leaves: [S0, S1]."""
        found = board_matrices(*self.trees, self.pairs, board)
        if board < self.trees[0].board_start[-2]:
            return found
        return (*found, *(leaves.matrix for leaves in self.expected))

    @property
    def _has_wide_matrices(self) -> bool:
        """Return whether products are faster than the kernels, which support no expected leaves."""
        if self.backend == "reference" or self.pairs.is_sorted:
            return False
        return (
            bool(self.expected)
            or max(int(tree.num_states.max()) for tree in self.trees) >= MATRIX_STATES
        )

    def _matrix_gradient(self, player: int, plan: Floats, values: Floats) -> None:
        """Write (F Y) Jᵀ + (S Y) Wᵀ + … of every board, F and S the stakes, by matrix products."""
        own, other = self.trees[player], self.trees[1 - player]
        for r, stakes in enumerate(self._stakes_of(player, plan.dtype)):
            for board in boards(own, r):
                theirs = block(other, r, board, plan)
                out = block(own, r, board, values)
                out[:] = 0
                for (rows, chips), matrix in zip(
                    stakes, self._matrices(board, plan.dtype), strict=True
                ):
                    left = (chips @ theirs).astype(matrix.dtype, copy=False)
                    out[rows] += product(left, matrix, is_transposed=player == 0)

    def _stakes_of(self, player: int, dtype: Any) -> list[list[tuple[NDArray[np.intp], Any]]]:
        """Return by round, for each matrix, the rows of `player` with leaves, and their chips."""
        key = (player, np.dtype(dtype).char)
        if key not in self._stored_stakes:
            own = [[m if player == 0 else -m.T.tocsr() for m in pair] for pair in self.stakes]
            self._stored_stakes[key] = [
                [(rows := np.flatnonzero(np.diff(m.indptr)), m[rows].astype(dtype)) for m in pair]
                for pair in own
            ]
        return self._stored_stakes[key]

    @cached_property
    def _stored_stakes(self) -> dict[tuple[int, str], Any]:
        return {}

    def _matrices(self, board: int, dtype: Any) -> tuple[Floats, ...]:
        """Return the matrices of a board, [S0, S1], in a type; float32 ones stay float32."""
        found = self.matrices(board)
        if found[0].dtype in (np.float32, dtype):
            return found
        key = (board, np.dtype(dtype).char)
        if key not in self._stored_matrices:
            self._stored_matrices[key] = tuple(matrix.astype(dtype) for matrix in found)
        return self._stored_matrices[key]

    @cached_property
    def _stored_matrices(self) -> dict[tuple[int, str], tuple[Floats, ...]]:
        return {}

    def _device_gradient(self, player: int, plan: Floats, values: Floats) -> None:
        """Write a gradient on the GPU, where the leaves and matrices stay from then on."""
        steps, key = self._backend("products"), (player, plan.dtype.char)
        if key not in self._stored_stakes:
            self._stored_stakes[key] = steps.prepare(player, self.trees, self.stakes, plan.dtype)
        matrices = self._device_matrices(plan.dtype)
        steps.gradient(self._stored_stakes[key], matrices, player, plan, values)

    def _device_matrices(self, dtype: Any) -> list[tuple[Floats, ...]]:
        """Return the matrices of all boards on the GPU, in a type; float32 ones stay float32."""
        kind = np.dtype(np.float32 if self.pairs.joint.dtype == np.float32 else dtype)
        upload = self._backend("memory").upload
        if kind.char not in self._matrices_on_device:
            self._matrices_on_device[kind.char] = [
                tuple(upload(matrix.astype(kind, copy=False)) for matrix in self.matrices(board))
                for board in range(len(self.stakes))
            ]
        return self._matrices_on_device[kind.char]

    @cached_property
    def _matrices_on_device(self) -> dict[str, list[tuple[Floats, ...]]]:
        return {}

    def fold_up(
        self,
        player: int,
        rule: int,
        values: Floats,
        behaviour: Floats,
        table: Floats | None = None,
        factors: Floats | None = None,
    ) -> float:
        """Fold `values` up the player's tree by a rule, in place; return the root's value."""
        factors = np.zeros(3, values.dtype) if factors is None else factors
        table = values if table is None else table  # rules that need no table do not use it
        self._kernels.fold_up(
            self._trees[player], rule, values, behaviour, table, factors, threads=self.num_threads
        )
        return root_value(self.trees[player], values)

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """Run CFR iterations with alternating updates in place, one per row of `schedule` [N, 4].

        `first` and `second` are the players' (plan, behaviour, regret, average), each [L]; a row of
        the schedule is (positive factor, negative factor, prediction, weight in the average). The
        kernels fuse the steps that `sweeps_by_steps` runs one after the other.
        """
        has_more = bool(self.expected) or self.offer is not None
        if self.backend != "cpu" or self._has_wide_matrices or has_more:
            sweeps_by_steps(self, first, second, schedule)
            return
        cpu.sweeps(
            self.trees, self.leaves, self.pairs, first, second, schedule, threads=self.num_threads
        )

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Return the behaviour of a plan, the inverse of `realize`; uniform where it is zero."""
        probabilities = np.empty_like(plan)
        self._kernels.normalize(self._trees[player], plan, probabilities)
        return probabilities

    @cached_property
    def prototype(self) -> Floats:
        """Empty array on the device of the game, for `like` of NumPy's functions."""
        return self._backend("memory").empty() if self.backend == "gpu" else np.empty(0)

    @property
    def _kernels(self) -> Any:
        """Return the module with the game's steps."""
        return self._backend("sequence_form")

    def tables(self, state: dict[str, Any]) -> Any:
        """Return the tables of CFR without plans (`table_sweeps`) for the arrays of a state."""
        check_no_offer(self)
        kernels = self._backend("table_sweeps")
        return kernels.open_tables(self.in_sections, state, self.num_threads)

    def _backend(self, name: str) -> Any:
        """Return a module of the game's kernels, imported when it is first used."""
        return import_module(f"{_KERNELS}.{self.backend}.{name}")

    @cached_property
    def _trees(self) -> tuple[Any, ...]:
        """The treeplexes in the form that the game's steps take."""
        if self.backend != "gpu":
            return self.trees
        return tuple(self._kernels.prepare(tree) for tree in self.trees)

    @property
    def num_threads(self) -> int:
        """Number of threads of the kernels: 1 unless there are enough boards and enough work."""
        boards = int(np.diff(self.trees[0].board_start).max())
        if boards < PARALLEL_BOARDS or max(self.lengths) < PARALLEL_LENGTH:
            return 1
        return min(get_num_threads(), boards)


def check_zero_sum(game: Game) -> None:
    """Raise `InvalidValueError` if the house takes a rake, which few methods support."""
    if not game.is_zero_sum:
        raise InvalidValueError(
            f"{game.name} has a rake, so it is not zero-sum; use cfr+, dcfr or cfr, or leave out "
            "the rake",
            value=game.name,
        )


def check_no_offer(game: SequenceGame) -> None:
    """Raise `InvalidValueError` if a player may stay out for pay, which few methods support."""
    if game.offer is not None:
        raise InvalidValueError(
            f"{game.name} offers pay for staying out: use cfr+, dcfr or another method of CFR "
            "with plans, or lp",
            value=game.name,
        )


def sweeps_by_steps(
    game: Game, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
) -> None:
    """Run CFR iterations with the game's other methods: the definition of `sweeps`."""
    players = (first, second)
    for positive, negative, prediction, weight in schedule:
        factors = np.array([positive, negative, prediction], first[0].dtype)
        for player, (plan, behaviour, regret, average) in enumerate(players):
            values = game.gradient(player, players[1 - player][0])
            game.fold_up(player, REGRET, values, behaviour, regret, factors)
            average += plan * plan.dtype.type(weight)
            game.realize(player, behaviour, plan)


def _sparse(chips: Floats, rows: NDArray[np.int32], shape: tuple[int, ...]) -> Any:
    from scipy import sparse

    return sparse.csr_array(sparse.coo_array((chips, rows.T), shape))


def _count(tree: Treeplex, per_decision: NDArray[Any]) -> int:
    """Return the sum over decisions of a number times the states of all boards of their round."""
    total = 0
    for r in range(len(tree.num_sequences)):
        states = int(tree.num_states[tree.board_start[r] : tree.board_start[r + 1]].sum())
        decisions = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
        total += states * int(per_decision[decisions].sum())
    return total
