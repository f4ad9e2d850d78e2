"""The game that a solver sees: two treeplexes, a gradient, a fold-up, and the value scale.

Plans, behaviour and values are flat vectors [L] in the layout of each player's treeplex. States are
updated in place; nothing here allocates unless no array is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.kernels.cpu import sequence_form as cpu
from equilibrist.kernels.reference import sequence_form as reference
from equilibrist.kernels.reference.sequence_form import BEST, EXPECTATION, REGRET, SOFTMAX
from equilibrist.models.card_states import CardStates
from equilibrist.models.leaves import ExpectedLeaves
from equilibrist.models.products import product

Floats = NDArray[Any]

# Plans shorter than this are swept by one thread: starting threads would cost more than the work.
PARALLEL_LENGTH = 30_000
PARALLEL_BOARDS = 8  # in some round
# Dense boards with at least so many states are played by matrix products.
MATRIX_STATES = 48

__all__ = [
    "BEST",
    "EXPECTATION",
    "REGRET",
    "SOFTMAX",
    "Floats",
    "Game",
    "Given",
    "SequenceGame",
    "sweeps_by_steps",
]


class Game(Protocol):
    """What solvers ask of a game; `SequenceGame` and `RestrictedGame` answer it."""

    @property
    def name(self) -> str:
        """For messages and files."""

    @property
    def unit(self) -> str:
        """Of values."""

    @property
    def first_player(self) -> int:
        """Whose value is reported."""

    @property
    def trees(self) -> tuple[Treeplex, Treeplex]:
        """Both players' sides."""

    @property
    def lengths(self) -> tuple[int, int]:
        """Numbers of each player's plan."""

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Behaviour that takes every action equally often."""

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Behaviour of a plan."""

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """Plan of a behaviour."""

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Value of each of `player`'s rows given the opponent's plan."""

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
        """CFR iterations."""


class Given(NamedTuple):
    """Behaviour that is given, and where it stands among the L numbers of a player."""

    places: NDArray[np.int64]  # [N]
    chances: NDArray[np.float64]  # [N]


@dataclass(frozen=True, eq=False)
class SequenceGame:
    """A two-player zero-sum game in sequence form.

    `value` and best-response values are in `unit`s. Player 0's gradient of a plan y is A y, player
    1's gradient of a plan x is −Aᵀ x, so each player maximises the product with its own gradient.
    """

    name: str
    unit: str
    trees: tuple[Treeplex, Treeplex]
    leaves: LeafTables
    pairs: PairTables
    first_player: int = 0  # whose value is reported: who acts first in round one
    betting: BettingTree | None = None  # the public part, where there is one
    states: CardStates | None = None  # the cards, where they are exact
    expected: tuple[ExpectedLeaves, ...] = ()  # where rounds are left out at the end
    given: tuple[Given, Given] | None = None  # behaviour at locked decisions
    backend: str = "cpu"  # or "reference"

    @property
    def lengths(self) -> tuple[int, int]:
        """Numbers of each player's plan."""
        return int(self.trees[0].block_start[-1]), int(self.trees[1].block_start[-1])

    @property
    def rules(self) -> GameRules | None:
        """Of the game's cards and bets, where it has some."""
        return None if self.betting is None else self.betting.rules

    @property
    def num_infosets(self) -> int:
        """Information sets of both players."""
        return sum(_count(tree, np.ones_like(tree.decision_size)) for tree in self.trees)

    @property
    def num_infoset_actions(self) -> int:
        """Actions over the information sets of both players."""
        return sum(_count(tree, tree.decision_size) for tree in self.trees)

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Behaviour [L] that takes every action equally often; entries hold 1.

        Locked decisions have the chances that are given, if some are.
        """
        chances = self.behaviour(player, np.zeros(self.lengths[player], dtype))
        if self.given is not None:
            chances[self.given[player].places] = self.given[player].chances
        return chances

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """The realization plan of some behaviour."""
        plan = np.empty_like(behaviour) if out is None else out
        self._step("realize")(self.trees[player], behaviour, plan)
        return plan

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Value of each of `player`'s rows given the opponent's plan."""
        values = np.empty(self.lengths[player], plan.dtype) if out is None else out
        if self._has_wide_matrices:
            self._matrix_gradient(player, plan, values)
            return values
        own, other = self.trees[player], self.trees[1 - player]
        self._step("gradient")(own, other, self.leaves, self.pairs, player, plan, values)
        self._add_expected(player, plan, values)
        return values

    def _add_expected(self, player: int, plan: Floats, values: Floats) -> None:
        """What expected leaves add to a gradient, leaf by leaf: the meaning of the products."""
        r, board = len(self.trees[0].num_sequences) - 1, len(self.trees[0].num_states) - 1
        theirs = reference.block(self.trees[1 - player], r, board, plan)
        out = reference.block(self.trees[player], r, board, values)
        for rows, stake, matrix in self.expected:
            own = matrix if player == 0 else -matrix.T
            for (mine, yours), chips in zip(rows[:, [player, 1 - player]], stake, strict=True):
                out[mine] += chips * (own @ theirs[yours])

    @cached_property
    def stakes(self) -> list[tuple[Any, ...]]:
        """Chips of each round's leaves by both players' rows: sparse [Q0, Q1] for each matrix.

        The matrices are those of `matrices`: folds, showdowns, then expected leaves.
        """
        leaves = self.leaves
        found: list[tuple[Any, ...]] = []
        for r in range(len(self.trees[0].num_sequences)):
            shape = tuple(int(tree.num_sequences[r]) for tree in self.trees)
            folds = slice(int(leaves.fold_start[r]), int(leaves.fold_start[r + 1]))
            shown = slice(int(leaves.showdown_start[r]), int(leaves.showdown_start[r + 1]))
            found.append(
                (
                    _sparse(leaves.fold_payoff[folds], leaves.fold_rows[folds], shape),
                    _sparse(leaves.showdown_stake[shown], leaves.showdown_rows[shown], shape),
                )
            )
        ends = [_sparse(stake, rows, shape) for rows, stake, _ in self.expected]
        found[-1] = (*found[-1], *ends)
        return found

    def matrices(self, board: int) -> tuple[Floats, ...]:
        """J and W of a board, and those of expected leaves if it is of the last round: [S0, S1]."""
        found = reference.board_matrices(*self.trees, self.pairs, board)
        if board < self.trees[0].board_start[-2]:
            return found
        return (*found, *(leaves.matrix for leaves in self.expected))

    @property
    def _has_wide_matrices(self) -> bool:
        """Whether products are faster than the kernels' loops, which know no expected leaves."""
        if self.backend == "reference" or self.pairs.is_sorted:
            return False
        return (
            bool(self.expected)
            or max(int(tree.num_states.max()) for tree in self.trees) >= MATRIX_STATES
        )

    def _matrix_gradient(self, player: int, plan: Floats, values: Floats) -> None:
        """(F Y) Jᵀ + (S Y) Wᵀ + … on every board, F and S the stakes: a product a matrix."""
        own, other = self.trees[player], self.trees[1 - player]
        for r, stakes in enumerate(self._stakes_of(player, plan.dtype)):
            for board in reference.boards(own, r):
                theirs = reference.block(other, r, board, plan)
                out = reference.block(own, r, board, values)
                out[:] = 0
                for (rows, chips), matrix in zip(
                    stakes, self._matrices(board, plan.dtype), strict=True
                ):
                    left = (chips @ theirs).astype(matrix.dtype, copy=False)
                    out[rows] += product(left, matrix, is_turned=player == 0)

    def _stakes_of(self, player: int, dtype: Any) -> list[list[tuple[NDArray[np.intp], Any]]]:
        """By round, for each matrix: rows of `player` with leaves, and their chips."""
        key = (player, np.dtype(dtype).char)
        if key not in self._kept_stakes:
            own = [[m if player == 0 else -m.T.tocsr() for m in pair] for pair in self.stakes]
            self._kept_stakes[key] = [
                [(rows := np.flatnonzero(np.diff(m.indptr)), m[rows].astype(dtype)) for m in pair]
                for pair in own
            ]
        return self._kept_stakes[key]

    @cached_property
    def _kept_stakes(self) -> dict[tuple[int, str], Any]:
        return {}

    def _matrices(self, board: int, dtype: Any) -> tuple[Floats, ...]:
        """The matrices of a board: [S0, S1], kept as numbers of a type; float32 stays so."""
        found = self.matrices(board)
        if found[0].dtype in (np.float32, dtype):
            return found
        key = (board, np.dtype(dtype).char)
        if key not in self._kept_matrices:
            self._kept_matrices[key] = tuple(matrix.astype(dtype) for matrix in found)
        return self._kept_matrices[key]

    @cached_property
    def _kept_matrices(self) -> dict[tuple[int, str], tuple[Floats, ...]]:
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
        """Fold `values` up the player's tree by a rule, in place; returns the root's value."""
        factors = np.zeros(3, values.dtype) if factors is None else factors
        table = values if table is None else table  # rules that need no table never touch it
        self._step("fold_up")(self.trees[player], rule, values, behaviour, table, factors)
        return reference.root_value(self.trees[player], values)

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """CFR iterations with alternating updates, in place, one a row of `schedule` [steps, 4].

        `first` and `second` are the players' (plan, behaviour, regret, average), each [L]; a row of
        the schedule is (positive factor, negative factor, prediction, weight in the average). The
        kernels fuse what `sweeps_by_steps` does one after the other.
        """
        if self.backend == "reference" or self._has_wide_matrices or self.expected:
            sweeps_by_steps(self, first, second, schedule)
            return
        values = np.empty(max(self.lengths), first[0].dtype)
        step = self._step("sweeps")
        step(self.trees, self.leaves, self.pairs, first, second, schedule, values)

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Behaviour of a plan, the inverse of `realize`; uniform where the plan never goes."""
        chances = np.empty_like(plan)
        step = reference.normalize if self.backend == "reference" else cpu.normalize
        step(self.trees[player], plan, chances)
        return chances

    def _step(self, name: str) -> Any:
        if self.backend == "reference":
            return getattr(reference, name)
        return getattr(cpu, name + "_parallel" if self._is_parallel else name)

    @property
    def _is_parallel(self) -> bool:
        """Whether threads have boards to share, and enough to do on them."""
        boards = int(np.diff(self.trees[0].board_start).max())
        return boards >= PARALLEL_BOARDS and max(self.lengths) >= PARALLEL_LENGTH


def sweeps_by_steps(
    game: Game, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
) -> None:
    """What `sweeps` means, written with the other methods; arguments as there."""
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
    """Sum over decisions of a number times the states of all boards of their round."""
    total = 0
    for r in range(len(tree.num_sequences)):
        states = int(tree.num_states[tree.board_start[r] : tree.board_start[r + 1]].sum())
        decisions = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
        total += states * int(per_decision[decisions].sum())
    return total
