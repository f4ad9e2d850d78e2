"""Games made from games: one side restricted to given plans, or one strategy for both seats.

A *restricted game* (Range of Skill, foundations) lets one player mix only strategies of a list,
while the opponent keeps every strategy. The list is represented by its *utility vectors* (equation
10): what each of the opponent's rows wins against each listed plan. They are computed once, when a
plan is added to the list; afterwards both gradients are one matrix product and the game is never
walked again.

A game is *symmetric* when u(σ, τ) = −u(τ, σ). Poker is not, because the seats differ; it becomes
symmetric when a strategy is a pair of plans, one per seat, and its utility the mean over both
seatings:

    u((x, y), (x′, y′)) = ½ (xᵀ A y′ − x′ᵀ A y)

That game is again a game in sequence form. Each round holds the rows of both seats below one root;
each leaf occurs twice, once per seating, for half its chips.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.kernels.array_structs import LeafTables, Treeplex
from equilibrist.models.exact import matrix_game
from equilibrist.models.game import Floats, SequenceGame, check_zero_sum, sweeps_by_steps
from equilibrist.phases import phase

_TOLERANCE = 1e-12  # for probabilities that should be equal


@dataclass(frozen=True, eq=False)
class RestrictedGame:
    """Game in which `player` mixes the rows of `plans`; the opponent plays any plan of `game`.

    `player`'s plan is [K + 1]: a 1, then a weight for each of the K plans. It has the methods of a
    `SequenceGame`, so solvers that use those methods solve it too.

    Example:
        >>> rock_paper = np.array([[1.0, 1, 0, 0], [1.0, 0, 1, 0]])
        >>> game = RestrictedGame(matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]), 1, rock_paper)
        >>> game.gradient(0, np.array([1.0, 0.5, 0.5])).tolist()  # paper never loses
        [0.0, -0.5, 0.5, 0.0]
    """

    game: SequenceGame
    player: int  # the restricted player
    plans: Floats  # [K, L of `player`]
    payoffs: Floats | None = None  # [K, L of the opponent] utility vectors; computed if not given

    def __post_init__(self) -> None:
        check_zero_sum(self.game)
        plans = np.atleast_2d(np.asarray(self.plans, like=self.game.prototype))
        if self.player not in (0, 1):
            raise InvalidValueError(
                f"the player must be 0 or 1, not {self.player}", value=self.player
            )
        if plans.ndim != 2 or not len(plans) or plans.shape[1] != self.game.lengths[self.player]:
            raise InvalidValueError(
                f"plans of player {self.player} of {self.game.name} must be rows of "
                f"{self.game.lengths[self.player]} numbers, not an array of shape {plans.shape}",
                value=plans.shape,
            )
        object.__setattr__(self, "plans", plans)
        if self.payoffs is None:
            vectors = [self.game.gradient(self.responder, plan) for plan in plans]
            object.__setattr__(self, "payoffs", np.stack(vectors))

    @property
    def responder(self) -> int:
        """The unrestricted player."""
        return 1 - self.player

    @property
    def utilities(self) -> Floats:
        """Utility vectors (equation 10) of the opponent's rows against each plan: [K, L]."""
        assert self.payoffs is not None
        return self.payoffs

    @property
    def name(self) -> str:
        """Name of the whole game, and how it is restricted."""
        return f"{self.game.name}, player {self.player} restricted to {len(self.plans)} plans"

    @property
    def unit(self) -> str:
        """Unit of values."""
        return self.game.unit

    @property
    def first_player(self) -> int:
        """Player whose value is reported."""
        return self.game.first_player

    @property
    def is_zero_sum(self) -> bool:
        """True: games with a rake cannot be restricted."""
        return True

    @cached_property
    def trees(self) -> tuple[Treeplex, Treeplex]:
        """A simplex for the restricted player, the whole treeplex for the other."""
        own, other = self._simplex.trees[0], self.game.trees[self.responder]
        return (own, other) if self.player == 0 else (other, own)

    @cached_property
    def _simplex(self) -> SequenceGame:
        return replace(matrix_game(np.zeros((len(self.plans), 1))), backend=self.game.backend)

    @property
    def lengths(self) -> tuple[int, int]:
        """Length of each player's plan."""
        own, other = len(self.plans) + 1, self.game.lengths[self.responder]
        return (own, other) if self.player == 0 else (other, own)

    def mixture(self, plan: Floats) -> Floats:
        """Return the plan [L] in the whole game that equals mixing with weights `plan` [K + 1]."""
        return plan[1:] @ self.plans

    def extend(self, plan: Floats) -> RestrictedGame:
        """Return the game with one more plan [L] on the list; costs one gradient."""
        vector = self.game.gradient(self.responder, plan)
        return RestrictedGame(
            self.game,
            self.player,
            np.vstack([self.plans, plan]),
            np.vstack([self.utilities, vector]),
        )

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Return the value of each of `player`'s rows given the opponent's plan."""
        values = np.empty(self.lengths[player], plan.dtype, like=plan) if out is None else out
        if player == self.player:
            values[0] = 0
            values[1:] = -(self.utilities @ plan)
        else:
            values[:] = plan[1:] @ self.utilities
        return values

    def uniform(self, player: int, dtype: Any = np.float64) -> Floats:
        """Return behaviour [L] that takes every action with equal probability; entries hold 1."""
        side, seat = self._side(player)
        return side.uniform(seat, dtype)

    def realize(self, player: int, behaviour: Floats, out: Floats | None = None) -> Floats:
        """Return the realization plan of some behaviour."""
        side, seat = self._side(player)
        return side.realize(seat, behaviour, out)

    def behaviour(self, player: int, plan: Floats) -> Floats:
        """Return the behaviour of a plan, the inverse of `realize`; uniform where it is zero."""
        side, seat = self._side(player)
        return side.behaviour(seat, plan)

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
        side, seat = self._side(player)
        return side.fold_up(seat, rule, values, behaviour, table, factors)

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """Run CFR iterations, step by step; arguments as in `SequenceGame.sweeps`."""
        sweeps_by_steps(self, first, second, schedule)

    def _side(self, player: int) -> tuple[SequenceGame, int]:
        """Return the game that has a player's tree, and the player's seat in it."""
        return (self._simplex, 0) if player == self.player else (self.game, player)


@dataclass(frozen=True, eq=False)
class Symmetrised:
    """Symmetric game, and the places of the seats' plans in its plans."""

    game: SequenceGame
    seats: tuple[NDArray[np.int64], NDArray[np.int64]]  # places [L] of each seat's plan

    def split(self, plan: Floats) -> tuple[Floats, Floats]:
        """Return the plan of each seat, for one plan [L] or for many [K, L]."""
        # Indexing may leave the longer axis outermost; the kernels need contiguous plans.
        first, second = (plan[..., places] for places in self.seats)
        return (
            np.ascontiguousarray(first, like=first),
            np.ascontiguousarray(second, like=second),
        )


@phase("joining both seats into one player")
def symmetrise(game: SequenceGame) -> Symmetrised:
    """Build the game in which a strategy has a plan for either seat, worth its mean over the seats.

    A game that is symmetric already is returned unchanged: a strategy is one plan, for both seats.
    The players need the same states, as they have with real cards or with the same abstraction.

    Example:
        >>> symmetrise(matrix_game([[1, 0], [0, 2], [3, 0]])).game.lengths  # 1 + 3 + 2 rows
        (6, 6)
    """
    if is_symmetric(game):
        everything = np.arange(game.lengths[0], like=game.prototype)
        return Symmetrised(game, (everything, everything))
    if game.expected:
        raise InvalidValueError(
            f"{game.name} leaves rounds out, so its seats cannot be joined", value=game.name
        )
    _check_states(game)
    rows = _row_maps(game.trees)
    both = _both_seats(game.trees, rows)
    places = (_places(tree, both, row) for tree, row in zip(game.trees, rows, strict=True))
    first, second = (np.asarray(place, like=game.prototype) for place in places)
    symmetric = replace(
        game,
        name=f"{game.name}, both seats",
        trees=(both, both),
        leaves=_both_seatings(game.leaves, rows),
        first_player=0,
        betting=None,
    )
    return Symmetrised(symmetric, (first, second))


def is_symmetric(game: SequenceGame) -> bool:
    """Return whether the players have the same tree and u(x, y) = −u(y, x).

    Both gradients are linear; they are compared on one random vector, on which different gradients
    agree with probability 0.
    """
    first, second = (tree._asdict().values() for tree in game.trees)
    pairs = zip(first, second, strict=True)
    if any(not np.array_equal(a, b) for a, b in pairs):
        return False
    vector = np.asarray(np.random.default_rng(0).random(game.lengths[0]), like=game.prototype)
    gradients = game.gradient(0, vector), game.gradient(1, vector)
    return bool(np.allclose(*gradients, rtol=0, atol=_TOLERANCE * np.abs(gradients[0]).max()))


def _check_states(game: SequenceGame) -> None:
    """Raise `InvalidValueError` unless the players have the same states and meet symmetrically."""
    first, second = game.trees
    same = np.array_equal(first.num_states, second.num_states) and np.array_equal(
        first.state_parent, second.state_parent
    )
    if same and not game.pairs.is_sorted:
        for board, states in enumerate(first.num_states):
            start = int(game.pairs.matrix_start[board])
            cells = slice(start, start + int(states) ** 2)
            joint = game.pairs.joint[cells].reshape(states, states)
            win = game.pairs.win[cells].reshape(states, states)
            rounding = _TOLERANCE * joint.max()
            same &= np.allclose(joint, joint.T, rtol=0, atol=rounding)
            if len(game.leaves.showdown_stake):
                same &= np.allclose(win, -win.T, rtol=0, atol=rounding)
    if not same:
        raise InvalidValueError(
            f"the players of {game.name} see different states of the cards; "
            "one strategy for both seats needs the same states",
            value=game.name,
        )


def _row_maps(trees: tuple[Treeplex, Treeplex]) -> list[list[NDArray[np.int64]]]:
    """Return the row of each seat's rows among the rows of both, by seat and round; entries first.

    The seats share the entries of the first round, where every plan is 1.
    """
    maps: list[list[NDArray[np.int64]]] = [[], []]
    for r in range(len(trees[0].num_sequences)):
        first, second = (np.arange(tree.num_sequences[r]) for tree in trees)
        entries = [int(tree.entry_start[r + 1] - tree.entry_start[r]) for tree in trees]
        start = 0 if r == 0 else entries[0]  # start of the second seat's entries
        total = start + entries[1]
        actions = total + len(first) - entries[0]  # start of the second seat's actions
        maps[0].append(np.where(first < entries[0], first, first - entries[0] + total))
        maps[1].append(np.where(second < entries[1], second + start, second - entries[1] + actions))
    return maps


def _both_seats(trees: tuple[Treeplex, Treeplex], rows: list[list[NDArray[np.int64]]]) -> Treeplex:
    """Build one treeplex with the rows of both seats on the boards they share."""
    roots = int(trees[0].entry_start[1])
    entry_parent, decisions = [trees[0].entry_parent[:roots]], []
    for r in range(len(trees[0].num_sequences)):
        for tree, row in zip(trees, rows, strict=True):
            if r > 0:
                above = tree.entry_parent[tree.entry_start[r] : tree.entry_start[r + 1]]
                entry_parent.append(row[r - 1][above].astype(np.int32))
            own = slice(int(tree.decision_start[r]), int(tree.decision_start[r + 1]))
            parents, firsts = row[r][tree.decision_parent[own]], row[r][tree.decision_first[own]]
            decisions.append((parents, firsts, tree.decision_size[own], tree.locked[own]))
    parents, firsts, sizes, locked = (np.concatenate(part) for part in zip(*decisions, strict=True))
    entry_start = trees[0].entry_start + trees[1].entry_start
    num_sequences = trees[0].num_sequences + trees[1].num_sequences
    num_sequences[0] -= roots
    blocks = np.repeat(num_sequences, np.diff(trees[0].board_start)) * trees[0].num_states
    return trees[0]._replace(
        num_sequences=num_sequences,
        block_start=np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64),
        entry_start=np.append(0, entry_start[1:] - roots),
        entry_parent=np.concatenate(entry_parent),
        decision_start=trees[0].decision_start + trees[1].decision_start,
        decision_parent=parents.astype(np.int32),
        decision_first=firsts.astype(np.int32),
        decision_size=sizes.astype(np.int32),
        locked=locked,
    )


def _both_seatings(leaves: LeafTables, rows: list[list[NDArray[np.int64]]]) -> LeafTables:
    """Return every leaf twice, for half its chips; exchanged seats exchange the payoffs of folds.

    Showdowns keep their sign: W with the seats exchanged is −W transposed, which equals W.
    """

    def twice(
        start: NDArray[np.int64],
        pairs: NDArray[np.int32],
        chips: NDArray[np.float64],
        exchanged: NDArray[np.float64],
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        both, halves = [np.zeros((0, 2), np.int64)], [chips[:0]]
        for r in range(len(start) - 1):
            own = slice(int(start[r]), int(start[r + 1]))
            seated = [row[r][pairs[own, seat]] for seat, row in enumerate(rows)]
            both += [np.stack(seated, axis=1), np.stack(seated[::-1], axis=1)]
            halves += [chips[own] / 2, exchanged[own] / 2]
        return np.concatenate(both).astype(np.int32), np.concatenate(halves)

    payoff, stake = leaves.fold_payoff, leaves.showdown_stake
    folds = twice(leaves.fold_start, leaves.fold_rows, payoff, payoff[:, ::-1])
    showdowns = twice(leaves.showdown_start, leaves.showdown_rows, stake, stake)
    return LeafTables(
        fold_start=leaves.fold_start * 2,
        fold_rows=folds[0],
        fold_payoff=folds[1],
        showdown_start=leaves.showdown_start * 2,
        showdown_rows=showdowns[0],
        showdown_stake=showdowns[1],
    )


def _places(tree: Treeplex, both: Treeplex, rows: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the place of each number of a seat's plan [L] in a plan for both seats."""
    places = []
    for r, row in enumerate(rows):
        for board in range(int(tree.board_start[r]), int(tree.board_start[r + 1])):
            states = int(tree.num_states[board])
            cells = int(both.block_start[board]) + row[:, None] * states + np.arange(states)
            places.append(cells.ravel())
    return np.concatenate(places)
