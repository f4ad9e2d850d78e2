"""Matches of two table players in batches, by compiled code on all threads.

Deals are those of the ACPC generator, the same as in a match by views. The random numbers of the
players come from a separate stream for every hand (`kernels/cpu/matches.py`), so a seed gives the
same hands with any number of threads, and a longer match starts with the hands of a shorter one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.streets import Boards
from equilibrist.cards.ranking import MOST_CARDS, rank_tables
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.dealing import Dealer
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.kernels.array_structs import WalkTables
from equilibrist.models.treeplex import betting_walk
from equilibrist.players.player import Player
from equilibrist.players.tables import PlayerTable, player_table
from equilibrist.strategies.seat_tables import hand_numbers

BATCH = 2**16  # deals per batch, an even number


@dataclass(frozen=True, eq=False)
class TableMatch:
    """A match of two players that are tables, and the betting tree they play on.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.catalog import make_player
        >>> leduc = get_game("leduc")
        >>> names = "always-raise", "always-fold"
        >>> match = TableMatch.of(leduc, tuple(make_player(name, leduc) for name in names))
        >>> match.play(4, seed=0)[0].tolist()
        [1, 1, 1, 1]
    """

    rules: GameRules
    tree: BettingTree
    walk: WalkTables
    players: tuple[PlayerTable, PlayerTable]

    @staticmethod
    def of(rules: GameRules, players: tuple[Player, Player]) -> TableMatch | None:
        """Return the match of two players, or None if they are not tables in a limit game."""
        cards = rules.num_hole_cards + rules.total_board_cards
        is_plain = rules.is_limit and rules.num_players == 2 and not any(rules.discards)
        if not is_plain or rules.num_hole_cards > 2 or cards > MOST_CARDS:
            return None
        tree, walk = _tree(rules)
        first, second = player_table(players[0], tree), player_table(players[1], tree)
        if first is None or second is None:
            return None
        return TableMatch(rules, tree, walk, (first, second))

    def play(
        self,
        deals: int,
        *,
        seed: int,
        run: int = 0,
        agreed_rounds: int = 0,
        watch: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Play hands; return the first player's chips [D] and the leaf of the tree [D] of each.

        Run 1 is the second run of a duplicate match: seats swapped, with its own random numbers.
        `watch` is called with the number of deals played. On a stop request, the arrays end after a
        batch.
        """
        words = np.random.SeedSequence([seed, run, 2]).generate_state(1, np.uint64)
        dealer, start = Dealer(self.rules, seed), self._start(agreed_rounds)
        chips, leaves = np.empty(deals, np.int64), np.empty(deals, np.int32)
        for begin in range(0, deals, BATCH):
            if stopping.is_requested():
                return chips[:begin], leaves[:begin]
            numbers = np.arange(begin, min(begin + BATCH, deals), dtype=np.uint64)
            cards = dealer.cards(len(numbers))
            won = self._showdowns(cards)
            for odd in (0, 1):  # seats change every hand
                seat = (odd + run) % 2
                chosen = slice(odd, None, 2)
                ends = self._walk(seat, start, words[0], numbers[chosen].copy(), cards[chosen])
                found = self.walk.fixed[ends] + self.walk.contested[ends] * won[chosen]
                place = slice(begin + odd, begin + len(numbers), 2)
                chips[place], leaves[place] = found if seat == 0 else -found, ends
            if watch is not None:
                watch(begin + len(numbers))
        return chips, leaves

    def state(self, leaf: int, start: HandState) -> HandState:
        """Return the final state of a hand that started with `start` and went to a leaf."""
        for node in self.tree.path(leaf):
            action = self.tree.action(node)
            start = start if action is None else start.apply(action)
        return start

    def _start(self, agreed_rounds: int) -> int:
        """Return the node at which a hand starts after some rounds in which all players call."""
        node = 0
        while self.tree.round[node] < agreed_rounds:
            called = self.tree.child(node, "c")
            node = self.tree.children(node)[0] if called is None else called
        return node

    def _walk(
        self,
        seat: int,
        start: int,
        key: np.uint64,
        numbers: NDArray[np.uint64],
        cards: NDArray[np.uint8],
    ) -> NDArray[np.int32]:
        """Return the leaves of N hands with the first player at `seat`; cards [N, n] as dealt."""
        from equilibrist.kernels.cpu.matches import play_hands

        hole = self.rules.num_hole_cards
        order = self.players if seat == 0 else self.players[::-1]
        board = Boards(cards[:, 2 * hole :])
        states = [
            table.columns[p].follow(hand_numbers(cards[:, p * hole : (p + 1) * hole]), board)
            for p, table in enumerate(order)
        ]
        seats = [table.seats[p] for p, table in enumerate(order)]
        out = np.empty(len(numbers), np.int32)
        play_hands(self.walk, *seats, tuple(states), start, key, numbers, out)
        return out

    def _showdowns(self, cards: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return 1, 0 or −1 if player 0 of the hand wins, ties or loses a showdown: [N]."""
        from equilibrist.kernels.cpu.ranking import rank_hands

        hole = self.rules.num_hole_cards
        tables = rank_tables(cards.shape[1] - hole, self.rules.ranking)
        values = np.empty((2, len(cards)), np.uint16)
        for p in (0, 1):
            rank_hands(
                tables, np.delete(cards, np.s_[(1 - p) * hole : (2 - p) * hole], 1), values[p]
            )
        return np.sign(values[0].astype(np.int64) - values[1])


@functools.lru_cache(maxsize=4)
def _tree(rules: GameRules) -> tuple[BettingTree, WalkTables]:
    tree = BettingTree.build(rules)
    return tree, betting_walk(tree)
