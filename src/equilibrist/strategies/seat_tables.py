"""One seat of a strategy as a table: probabilities in a treeplex, and the columns of hands.

A compiled match needs nothing else. Columns of a round are the states of all its boards, board by
board, as in `kernels/array_structs.Treeplex`; a game of buckets has one board per round, so its
columns are buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bucket_tree import BucketTree
from equilibrist.abstraction.streets import Boards, Streets
from equilibrist.cards.card import Cards, cards_name
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.models.card_states import CardStates
from equilibrist.models.game import Floats
from equilibrist.strategies.behaviour_table import find_board

MOST_BOARDS = 2_000  # maximum number of boards of a round that are looked up one by one


class Columns(Protocol):
    """Columns of hands in the blocks of a treeplex; `Abstraction` is one."""

    def follow(self, hands: NDArray[np.int64], boards: Boards) -> NDArray[np.int32]:
        """Return the columns of N hands on every street of boards of their own: [R, N]."""
        ...


class HandBuckets(Columns, BucketTree, Protocol):
    """Buckets in which hands of cards can be looked up; `Abstraction` is one."""

    def bucket(self, hand: int, board: Cards = ()) -> int:
        """Return the bucket of one hand on a board."""
        ...

    def buckets(self, board: Cards) -> NDArray[np.int32]:
        """Return the bucket of every hand on a board: [H], −1 where the board blocks it."""
        ...


class StrategySeat(NamedTuple):
    """One seat of a strategy as a table."""

    tree: Treeplex
    probabilities: Floats  # [L] behaviour in any unit; entries are `sure`
    columns: Columns
    sure: float = 1.0  # the number that stands for a probability of 1


@dataclass(frozen=True, eq=False)
class OneColumn:
    """Columns that treat all hands alike."""

    num_rounds: int

    def follow(self, hands: NDArray[np.int64], boards: Boards) -> NDArray[np.int32]:
        """Return zeros [R, N]."""
        return np.zeros((self.num_rounds, len(hands)), np.int32)


@dataclass(frozen=True, eq=False)
class CardColumns:
    """Columns that are the states of an exact game, as tables of its streets."""

    streets: Streets
    tables: tuple[NDArray[np.int32], ...]  # [B, H] of each street

    @staticmethod
    def of(rules: GameRules, states: CardStates) -> CardColumns | None:
        """Build tables for states up to suits or ranks; None if suits matter or boards are many.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> from equilibrist.models.card_states import card_states
            >>> leduc = get_game("leduc")
            >>> columns = CardColumns.of(leduc, card_states(leduc))
            >>> columns.follow(np.array([51]), Boards(np.array([[50]], np.uint8))).tolist()
            [[2], [8]]
        """
        streets = Streets.of(rules, ordered=True)
        if states.symmetry == "cards" or max(map(len, states.boards)) > MOST_BOARDS:
            return None
        tables = []
        for r, round_states in enumerate(states.state_of_hand):
            start = np.cumsum([0, *states.num_states[r]])
            boards = streets[r].boards
            table = np.full((len(boards), streets.num_hands), -1, np.int32)
            for number, board in enumerate(boards):
                found, _, renaming = find_board(rules, states, r, cards_name(board))
                held = round_states[found, _renamed(streets, np.argsort(renaming))]
                table[number] = np.where(held >= 0, start[found] + held, -1)
            tables.append(table)
        return CardColumns(streets, tuple(tables))

    def follow(self, hands: NDArray[np.int64], boards: Boards) -> NDArray[np.int32]:
        """Return the columns of N hands on every street of boards of their own: [R, N]."""
        look_up = self.streets.look_up
        return np.stack([look_up(r, own, hands, boards) for r, own in enumerate(self.tables)])


def hand_numbers(cards: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers [N] of hands of one or two cards [N, 1 or 2] in the usual order.

    Example:
        >>> hand_numbers(np.array([[1, 0], [50, 51]], np.uint8)).tolist()
        [0, 1325]
    """
    if cards.shape[1] == 1:
        return cards[:, 0].astype(np.int64)
    one, two = cards[:, 0].astype(np.int64), cards[:, 1].astype(np.int64)
    low, high = np.minimum(one, two), np.maximum(one, two)
    return high * (high - 1) // 2 + low


def _renamed(streets: Streets, cards: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the hand that each hand becomes when card c becomes `cards[c]`: [H]."""
    return hand_numbers(cards[streets.hands.astype(np.int64)])
