"""Values of histories of a limit game that is too large for its exact model, by buckets.

A history is a node of the betting tree, a board and a hand for each player. Before the last round
its value is that of the two hands' buckets when both players follow one strategy in the game of
these buckets. There J · v is folded up the betting tree as in `history_values`. At the opening of
the last round it is a bilinear form in the players' probabilities x and y of reaching each leaf z,

    J · v [s, t] = Σ_z x_z[s] y_z[t] (fixed_z J[s, t] + contested_z W[s, t]),

which is summed over the buckets of the round before. So nothing of the last round is stored but x
and y. With a complete board the hands are compared themselves instead of their buckets: W / J
becomes 1, 0 or −1, and the values are those of the strategy against itself. (Only the values of the
second round are always those of buckets, because all its boards are counted by bucket.)

Nodes beyond the raise caps of the strategy have the value of the node where the strategy believes
it is (`strategies.raise_cap_rule`), scaled by the chips in the pot.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.bucket_tree import column_sums
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.cards.card import Cards
from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.evaluation.history_values import fold_round, same_round
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import RankTables
from equilibrist.kernels.cpu.equity import HAND, sort_hands, sums_of_hands
from equilibrist.kernels.treeplex import board_matrices, parents_of
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import betting_walk
from equilibrist.strategies.played import BulkStrategy
from equilibrist.strategies.raise_cap_rule import CALLS, follow

Ints = NDArray[np.int64]
ColumnsOf = Callable[[int, Cards], Ints]  # bucket of every hand on a board of a round: [H]

_ROWS = 512  # rows of a matrix of the last round that are computed at a time
_CACHED = 64  # number of rounds, boards and openings whose values are cached


class HandValues(Protocol):
    """Estimates of the values of histories, by hand of one player and one hand of the other.

    Player `known` holds any hand, the other player the hand `seen`. Values are the chips that
    player 0 will win. They must not depend on the names of suits.
    """

    def columns_of(self, r: int, board: Cards) -> Ints:
        """Return the column of each hand on a board of round `r`: [H]; C columns in all."""

    def by_columns(self, node: int, known: int) -> Floats:
        """Return the values at a node of the second round by both players' columns: [C, C].

        Rows are the columns of the player `known`.
        """

    def __call__(self, node: int, known: int, boards: Sequence[Cards], seen: int) -> Floats:
        """Return the values at a node after the first round, on B boards: [B, H].

        Results for hands that cannot be held are meaningless.
        """


class LastLeaves(NamedTuple):
    """Leaves of the last round below an opening: Z of them, with C buckets."""

    reach: tuple[Floats, Floats]  # [Z, C] probability of each player to get there, from the opening
    fixed: Floats  # [Z] chips that player 0 wins, whatever the cards
    contested: Floats  # [Z] chips that the winner of a showdown wins


class BucketValues:
    """Values of one strategy against itself in a game of its buckets.

    `game` has one board per round, all rounds, and the betting `strategy.known`; both players have
    the same buckets, which `columns` finds. `probabilities` are the behaviour of each player by
    round, [Q, C] rows of actions × buckets; those of the first round are not used.
    """

    def __init__(
        self,
        game: SequenceGame,
        strategy: BulkStrategy,
        probabilities: tuple[Sequence[Floats], Sequence[Floats]],
        columns: ColumnsOf,
    ) -> None:
        assert game.betting is not None
        self.game, self.betting, self.tree = game, game.betting, strategy.tree
        self.probabilities = probabilities
        self.walk = betting_walk(self.betting)
        self.columns_of = functools.lru_cache(_CACHED)(columns)
        self._last = self.betting.last_round
        self._was_stopped = stopping.is_requested()  # then these values were still asked for
        self._places = [_places(self.betting, self.tree, player) for player in (0, 1)]
        self._round = functools.lru_cache(_CACHED)(self._fold_up)
        self._last_round = functools.lru_cache(_CACHED)(self._fold_last)
        self._ends = functools.lru_cache(maxsize=None)(self._sum_up)
        self._leaves = functools.lru_cache(maxsize=None)(self._find_leaves)
        self.by_columns = functools.lru_cache(maxsize=None)(self._matrix)

    def __call__(self, node: int, known: int, boards: Sequence[Cards], seen: int) -> Floats:
        """Return the values at a node after the first round, on B boards: [B, H]."""
        r = int(self.tree.round[node])
        place, scale = self._places[known].node[node], self._places[known].scale[node]
        columns = np.stack([self.columns_of(r, board) for board in boards])
        if place < 0:
            return np.zeros(columns.shape)
        root = self._root(place)
        if r < max(2, self._last):  # the second round's are those of `by_columns`
            buckets = tuple(columns[:, seen].tolist())
            found = self._by_bucket(place, self._round(root, known, buckets), known, buckets)
            return scale * np.take_along_axis(found.T, columns, axis=1)
        if place != root:
            rows = [self._last_round(root, known, board, seen)[place] for board in boards]
            return scale * np.stack(rows)
        leaves, signs = self._leaves(root), standings(self.tree.rules, boards, seen)
        mine, theirs = leaves.reach[known], leaves.reach[1 - known][:, columns[:, seen]]
        folds, showdowns = (
            _product(chips[:, None] * theirs, mine) for chips in (leaves.fixed, leaves.contested)
        )
        signs = signs if known == 0 else -signs
        return scale * (
            np.take_along_axis(folds, columns, axis=1)
            + np.take_along_axis(showdowns, columns, axis=1) * signs
        )

    def _matrix(self, node: int, known: int) -> Floats:
        """Return the values at a node of the second round by both players' columns: [C, C]."""
        place, scale = self._places[known].node[node], self._places[known].scale[node]
        joint = self._joint(int(self.tree.round[node]), known)
        if place < 0:
            return np.zeros(joint.shape)
        every = tuple(range(joint.shape[1]))
        found = self._round(self._root(place), known, every)
        return scale * self._by_bucket(place, found, known, every)

    def _by_bucket(
        self, place: int, found: dict[int, Floats], known: int, buckets: tuple[int, ...]
    ) -> Floats:
        """Return v of J · v at a node of the model: [C, T], 0 where buckets never meet."""
        joint = self._joint(int(self.betting.round[place]), known)[:, buckets]
        return found[place] / np.where(joint > 0, joint, 1)

    def _root(self, place: int) -> int:
        """Return the opening of the round of a node of the model."""
        while not self.walk.opens[place]:
            place = int(self.betting.parent[place])
        return place

    def _joint(self, r: int, known: int) -> Floats:
        """Return how often buckets of a round meet, the known player's in rows: [C, C]."""
        return self._matrices(r, known)[0]

    def _matrices(self, r: int, known: int) -> tuple[Floats, Floats]:
        """Return J and W of a round, the known player's buckets in rows: [C, C] each."""
        joint, win = board_matrices(*self.game.trees, self.game.pairs, r)
        return (joint, win) if known == 0 else (joint.T, win.T)

    def _fold_up(self, root: int, known: int, buckets: tuple[int, ...]) -> dict[int, Floats]:
        """Return J · v of all nodes of a round: [C, T] for T seen buckets."""
        r, seen = int(self.betting.round[root]), list(buckets)
        joint, win = (matrix[:, seen] for matrix in self._matrices(r, known))
        walk = self.walk

        def dealt(opening: int) -> Floats:
            ends = self._ends(opening)
            return (ends if known == 0 else ends.T)[:, seen]

        def share(child: int, actor: int) -> Floats:
            row = self.probabilities[actor][r][int(walk.row[child, actor])]
            return row[:, None] if actor == known else row[seen]

        nodes = same_round(self.betting, root)
        return fold_round(
            self.betting,
            nodes,
            lambda leaf: walk.fixed[leaf] * joint + walk.contested[leaf] * win,
            dealt,
            share,
        )

    def _sum_up(self, opening: int) -> NDArray[np.float32]:
        """Return J · v at an opening, summed to the buckets of the round before: [C', C']."""
        if not self._was_stopped:
            stopping.check()
        r = int(self.betting.round[opening])
        first, second = (parents_of(tree, r) for tree in self.game.trees)
        shape = tuple(int(tree.num_states[r - 1]) for tree in self.game.trees)
        every = tuple(range(len(second)))
        whole = None if r == self._last else self._fold_up(opening, 0, every)[opening]
        total = np.zeros(shape)
        for start in range(0, len(first), _ROWS):
            rows = slice(start, start + _ROWS)
            part = self._opening_rows(opening, rows) if whole is None else whole[rows]
            np.add.at(total, first[rows], column_sums(part, second, shape[1]))
        return total.astype(np.float32)

    def _opening_rows(self, opening: int, rows: slice) -> Floats:
        """Return some rows of J · v at an opening of the last round: [rows, C]."""
        joint, win = board_matrices(*self.game.trees, self.game.pairs, self._last)
        leaves = self._leaves(opening)
        x, y = leaves.reach[0][:, rows], leaves.reach[1]
        folds, shown = leaves.fixed != 0, leaves.contested != 0
        found = _product(leaves.fixed[folds, None] * x[folds], y[folds]) * joint[rows]
        found += _product(leaves.contested[shown, None] * x[shown], y[shown]) * win[rows]
        return found

    def _find_leaves(self, opening: int) -> LastLeaves:
        nodes = same_round(self.betting, opening)
        reach: tuple[dict[int, Floats], dict[int, Floats]] = {}, {}
        for player in (0, 1):
            own = self.probabilities[player][self._last]
            reach[player][opening] = np.ones(own.shape[1])
            for node in nodes:
                for child in self.betting.children(node):
                    share = own[int(self.walk.row[child, player])]
                    acts = self.betting.player[node] == player
                    reach[player][child] = reach[player][node] * (share if acts else 1.0)
        leaves = [node for node in nodes if not self.betting.children(node)]
        first, second = (np.stack([reach[player][leaf] for leaf in leaves]) for player in (0, 1))
        return LastLeaves((first, second), self.walk.fixed[leaves], self.walk.contested[leaves])

    def _fold_last(self, root: int, known: int, board: Cards, seen: int) -> dict[int, Floats]:
        """Return the values of all nodes of the last round on one board: [H]."""
        columns = self.columns_of(self._last, board)
        signs = standings(self.tree.rules, [board], seen)[0]
        signs = signs if known == 0 else -signs
        fixed, contested = self.walk.fixed, self.walk.contested

        def share(child: int, actor: int) -> Floats:
            row = self.probabilities[actor][self._last][int(self.walk.row[child, actor])]
            return row[columns] if actor == known else row[columns[seen]]

        nodes = same_round(self.betting, root)
        return fold_round(
            self.betting,
            nodes,
            lambda leaf: fixed[leaf] + contested[leaf] * signs,
            lambda opening: 0.0,
            share,
        )


def values_bytes(betting: BettingTree, num_buckets: Sequence[int]) -> int:
    """Return the memory that `BucketValues` of a game of buckets need, about.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("holdem-limit"))
        >>> round(values_bytes(tree, (8, 64, 512, 4096)) / 2**30, 1)
        1.4
    """
    opens = [
        int(((betting.round == r) & (betting.action_kind == 0)).sum())
        for r in range(len(num_buckets))
    ]
    last = betting.last_round
    leaves = int(((betting.round == last) & (betting.num_children == 0)).sum())
    matrices = 2 * 8 * num_buckets[-1] ** 2
    ends = sum(4 * opens[r] * num_buckets[r - 1] ** 2 for r in range(1, last + 1))
    return matrices + ends + 2 * 8 * leaves * num_buckets[-1]


def _product(first: Floats, second: Floats) -> Floats:
    """Return the sum over leaves of two factors [Z, N] and [Z, M]: [N, M].

    With a dozen leaves the threads of BLAS cost more than they save, much more on a busy machine.
    """
    found: Floats = np.einsum("zn,zm->nm", first, second)
    return found


def one_bucket_values(strategy: BulkStrategy) -> BucketValues:
    """Return the values of a strategy that puts all hands into one bucket of each round.

    Only complete boards distinguish hands. It stands in for buckets that do not exist or are too
    many.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.strategies.played import FixedMix
        >>> mix = FixedMix(BettingTree.build(get_game("leduc")), (0.0, 1.0, 0.0))
        >>> one_bucket_values(mix).by_columns(mix.tree.parse("rc/"), 0).tolist()
        [[0.0]]
    """
    rules, one = strategy.known.rules, np.ones((1, 1))
    game = bucket_game(_OneBucket(rules), Joint(one, 0 * one, one), strategy.known.menu)
    first, second = (
        [
            strategy.table(player, r).mean(axis=1, keepdims=True, dtype=np.float64)
            for r in range(rules.num_rounds)
        ]
        for player in (0, 1)
    )
    num_hands = len(all_hands(rules))

    def columns(r: int, board: Cards) -> Ints:
        return np.zeros(num_hands, np.int64)

    return BucketValues(game, strategy, (first, second), columns)


@dataclass(frozen=True, eq=False)
class _OneBucket:
    """One bucket in every round."""

    rules: GameRules

    @property
    def parents(self) -> tuple[NDArray[np.int32], ...]:
        return tuple(np.full(1, -1 if r == 0 else 0, np.int32) for r in range(len(self)))

    @property
    def num_buckets(self) -> tuple[int, ...]:
        return (1,) * len(self)

    def __len__(self) -> int:
        return self.rules.num_rounds


class _Places(NamedTuple):
    node: list[int]  # [V] node of the model; negative if the strategy never gets there
    scale: list[float]  # [V] chips of the real pot per chip of the model's


def _places(known: BettingTree, tree: BettingTree, player: int) -> _Places:
    """Return where a player's strategy believes it is at each node of the real betting."""
    nodes = [after if node == CALLS else node for node, after in follow(known, tree, player)]
    chips, own = tree.spent.max(axis=1), known.spent.max(axis=1)
    scale = [float(chips[v] / own[place]) if place >= 0 else 0.0 for v, place in enumerate(nodes)]
    return _Places(nodes, scale)


@functools.cache
def all_hands(rules: GameRules) -> NDArray[np.uint8]:
    """Return all hands of 52 cards in the usual order: [H, 1 or 2]."""
    two = rules.num_hole_cards == 2
    return hand_table() if two else np.arange(52, dtype=np.uint8)[:, None]


@functools.cache
def _holders(rules: GameRules) -> NDArray[np.bool_]:
    """Return whether each hand holds each card: [52, H]."""
    return (all_hands(rules)[None] == np.arange(52)[:, None, None]).any(axis=2)


def live_hands(rules: GameRules, boards: Sequence[Cards]) -> NDArray[np.bool_]:
    """Return which hands of the deck each of B boards leaves: [B, H]."""
    absent = np.setdiff1d(np.arange(52), rules.deck.cards)
    in_deck = ~_holders(rules)[absent].any(axis=0)
    cards = np.array(boards, np.int64).reshape(len(boards), -1)
    return np.logical_and(in_deck, ~_holders(rules)[cards].any(axis=1))


def standings(rules: GameRules, boards: Sequence[Cards], seen: int) -> Floats:
    """Return 1 where a hand beats the hand `seen`, −1 where it loses, on B boards: [B, H].

    The boards are complete; they leave the hand `seen`. The result is 0 for hands they do not
    leave.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> standings(get_game("leduc"), [(50,)], 51)[0, [42, 46, 47, 51]].tolist()
        [-1.0, -1.0, -1.0, 0.0]
    """
    tables, keys, masks = _rank_sums(rules)
    order, spare = np.empty((2, len(keys)), np.uint32)
    signs = np.zeros((len(boards), len(keys)))
    values = np.empty(len(keys), np.int64)
    for own, board in zip(signs, boards, strict=True):
        num_left = sort_hands(tables, np.array(board, np.uint8), keys, masks, order, spare)
        left = order[:num_left] & HAND
        values[left] = order[:num_left] >> 16
        own[left] = np.sign(values[left] - values[seen])
    return np.where(live_hands(rules, [()]), signs, 0.0)


@functools.cache
def _rank_sums(rules: GameRules) -> tuple[RankTables, NDArray[np.uint64], NDArray[np.uint64]]:
    """Return tables that rank complete hands, and the sums of all hole cards in them: [H] each."""
    tables = rank_tables(rules.num_hole_cards + rules.total_board_cards, rules.ranking)
    return tables, *sums_of_hands(tables, all_hands(rules))
