"""Boards, and the states in which a player can hold a private hand on each board.

There are three symmetries, from none to all that a game allows:

- `cards`: every board and hand is separate.
- `suits`: boards up to a renaming of suits, hands up to renamings that keep the board
  (GS3's canonical index, board first). If not all renamings leave the game alone, then up to a
  group of them.
- `ranks`: suits do not matter at all; lossless where no flush can be made.

Every (board, state) of a round has one parent in the round before, and boards are numbered so that
those with the same parent are contiguous.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Card, cards_name
from equilibrist.cards.hand import hand_table
from equilibrist.cards.isomorphism import BoardIndexer
from equilibrist.cards.suits import (
    IDENTITY,
    Renaming,
    all_renamings,
    rename,
    renamed_hands,
    that_keep_board,
)
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules

Symmetry: TypeAlias = Literal["cards", "suits", "ranks"]
SYMMETRIES: tuple[Symmetry, ...] = ("cards", "suits", "ranks")


@dataclass(frozen=True, eq=False)
class CardStates:
    """Boards and states of each round; lists are per round, boards are numbered from 0 in each."""

    symmetry: Symmetry
    hands: NDArray[np.uint8]  # [H, hole cards] all hands of the 52-card deck, in the usual order
    boards: list[NDArray[np.uint8]]  # [boards, cards] one board of each class
    multiplicity: list[NDArray[np.int64]]  # [boards] number of raw boards that each represents
    board_parent: list[NDArray[np.int64]]  # [boards] board of the round before, −1 in the first
    num_states: list[NDArray[np.int64]]  # [boards]
    state_of_hand: list[NDArray[np.int32]]  # [boards, H] −1 if the hand cannot be held
    state_parent: list[NDArray[np.int32]]  # [states of all boards] state on the parent board
    group: tuple[Renaming, ...] | None = None  # renamings of `suits`; None: all of the deck

    def renamings(self, num_suits: int) -> tuple[Renaming, ...]:
        """Return the renamings of a deck's suits that map boards to those that are stored."""
        if self.symmetry != "suits":
            return (IDENTITY,)
        return all_renamings(num_suits) if self.group is None else self.group

    def names(self, r: int, board: int) -> list[str]:
        """Return a name for each state of a board: one of its hands, and the number of hands."""
        states = self.state_of_hand[r][board]
        names = []
        for state in range(self.num_states[r][board]):
            members = np.flatnonzero(states == state)
            hand = self.hands[members[-1]][::-1]
            names.append(cards_name(hand) + (f" ×{len(members)}" if len(members) > 1 else ""))
        return names


def default_symmetry(rules: GameRules) -> Symmetry:
    """Return the strongest lossless symmetry: ranks if no flush can be made, suits otherwise."""
    shown = rules.num_hole_cards + rules.total_board_cards
    return "ranks" if rules.ranking == "standard" and shown < 5 else "suits"


def card_states(
    rules: GameRules,
    symmetry: Symmetry | None = None,
    *,
    first_round: int = 0,
    last_round: int | None = None,
    board: Sequence[Card] | None = None,
    held: NDArray[np.bool_] | None = None,
    group: tuple[Renaming, ...] | None = None,
) -> CardStates:
    """Build the boards and states of a game with one or two hole cards.

    With a `board`, only those from `first_round` on are built, and that round has this board only.
    With a `last_round`, those of later rounds are left out.
    With `held` [H], hands that nobody holds have no state; it must not separate hands that the
    symmetry merges. With a `group`, the symmetry `suits` has these renamings only; they must keep
    the given board and include the renamings that follow from them.
    """
    symmetry = symmetry or default_symmetry(rules)
    if rules.num_hole_cards > 2:
        raise InvalidValueError(
            f"{rules.name} deals {rules.num_hole_cards} hole cards; exact models support 1 or 2",
            value=rules.num_hole_cards,
        )
    if symmetry == "ranks" and default_symmetry(rules) != "ranks":
        raise InvalidValueError(
            f"suits matter in {rules.name}: its states cannot be ranks alone", value=symmetry
        )
    hands = _hands(rules)
    end = rules.num_rounds if last_round is None else last_round + 1
    deals = rules.num_board_cards[0 if board is None else first_round + 1 : end]
    boards, multiplicity, board_parent = _boards(rules, symmetry, deals, board, group)
    num_states: list[NDArray[np.int64]] = []
    state_of_hand: list[NDArray[np.int32]] = []
    state_parent: list[NDArray[np.int32]] = []
    for r, round_boards in enumerate(boards):
        if group is None:
            states = _states(rules, symmetry, hands, first_round + r, round_boards)
        else:
            states = _group_states(rules, group, hands, round_boards)
        if held is not None:
            states = _renumbered(np.where(held, states, -1))
        counts = states.max(axis=1).astype(np.int64) + 1
        parents = [
            _parent_states(states[b], counts[b], None if r == 0 else state_of_hand[r - 1][parent])
            for b, parent in enumerate(board_parent[r])
        ]
        num_states.append(counts)
        state_of_hand.append(states)
        state_parent.append(np.concatenate(parents))
    return CardStates(
        symmetry=symmetry,
        hands=hands,
        boards=boards,
        multiplicity=multiplicity,
        board_parent=board_parent,
        num_states=num_states,
        state_of_hand=state_of_hand,
        state_parent=state_parent,
        group=group,
    )


def board_states(
    rules: GameRules, symmetry: Symmetry, r: int, board: Sequence[Card]
) -> NDArray[np.int32]:
    """Return the state of every hand on one board of round `r`, −1 if it cannot be held: [H]."""
    return _states(rules, symmetry, _hands(rules), r, np.array([board], np.uint8))[0]


def live_hands(rules: GameRules, board: Sequence[Card] | NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which hands of a game's deck a board does not block: [H]."""
    hands = _hands(rules)
    in_deck = np.isin(hands, rules.deck.cards).all(axis=1)
    return np.asarray(in_deck & ~np.isin(hands, board).any(axis=1))


def _hands(rules: GameRules) -> NDArray[np.uint8]:
    """Return all hands of the 52-card deck, in the usual order: [H, hole cards]."""
    return hand_table() if rules.num_hole_cards == 2 else np.arange(52, dtype=np.uint8)[:, None]


def _boards(
    rules: GameRules,
    symmetry: Symmetry,
    deals: Sequence[int],
    given: Sequence[Card] | None,
    group: tuple[Renaming, ...] | None,
) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Return one board of each class, the number of raw boards and the parent, for each round.

    `deals` are the numbers of cards that are dealt after the given board.
    """
    boards = [np.array([() if given is None else given], np.uint8)]
    multiplicity = [np.ones(1, np.int64)]
    parents = [np.full(1, -1, np.int64)]
    allowed = group or (all_renamings(rules.num_suits) if symmetry == "suits" else (IDENTITY,))
    for num_cards in deals:
        found: list[tuple[int, ...]] = []
        count: list[int] = []
        parent: list[int] = []
        for b, board in enumerate(boards[-1].tolist()):
            place: dict[tuple[int, ...], int] = {}
            free = [card for card in rules.deck.cards if card not in board]
            kept = that_keep_board(allowed, deals_of(rules, board))
            for cards in itertools.combinations(free, num_cards):
                key = _board_key(symmetry, kept, cards)
                if key not in place:
                    place[key] = len(found)
                    found.append((*board, *cards))
                    count.append(0)
                    parent.append(b)
                count[place[key]] += int(multiplicity[-1][b])
        boards.append(np.array(found, np.uint8).reshape(len(found), -1))
        multiplicity.append(np.array(count, np.int64))
        parents.append(np.array(parent, np.int64))
    if given is not None:
        return boards, multiplicity, parents
    parents[1][:] = -1
    return boards[1:], multiplicity[1:], parents[1:]


def _board_key(
    symmetry: Symmetry, kept: tuple[Renaming, ...], cards: tuple[int, ...]
) -> tuple[int, ...]:
    """Return a key that boards of one parent share exactly if the symmetry maps them together.

    The smallest image of the new cards under the renamings that keep the parent.
    """
    if symmetry == "ranks":
        return tuple(card >> 2 for card in cards)
    if len(kept) == 1 or not cards:
        return cards
    return min(tuple(sorted(rename(card, renaming) for card in cards)) for renaming in kept)


def deals_of(rules: GameRules, board: Sequence[Card]) -> list[Sequence[Card]]:
    """Return the cards of each deal of a board."""
    ends = np.cumsum([0, *rules.num_board_cards]).tolist()
    return [board[start:end] for start, end in itertools.pairwise(ends)]


def _states(
    rules: GameRules,
    symmetry: Symmetry,
    hands: NDArray[np.uint8],
    r: int,
    boards: NDArray[np.uint8],
) -> NDArray[np.int32]:
    """Return the state of every hand on every board of a round: [boards, H]."""
    states = np.full((len(boards), len(hands)), -1, np.int32)
    pattern = [num_cards for num_cards in rules.num_board_cards[: r + 1] if num_cards]
    indexer = (
        BoardIndexer(pattern, rules.deck, rules.num_hole_cards)
        if symmetry == "suits" and pattern
        else None
    )
    for b, board in enumerate(boards):
        if indexer is not None:
            states[b] = indexer.states(tuple(board.tolist()))[0]
            continue
        free = np.flatnonzero(live_hands(rules, board))
        if symmetry == "cards":
            states[b, free] = np.arange(len(free))
        elif symmetry == "ranks":
            states[b, free] = np.unique(hands[free] >> 2, axis=0, return_inverse=True)[1]
        else:  # no board yet: suits of a hand can only be equal or different
            suited = len(hands[0]) == 2
            keys = np.hstack([hands[free] >> 2, (hands[free, :1] & 3 == hands[free, -1:] & 3)])
            keys = keys if suited else keys[:, :1]
            states[b, free] = np.unique(keys, axis=0, return_inverse=True)[1]
    return states


def _group_states(
    rules: GameRules,
    group: tuple[Renaming, ...],
    hands: NDArray[np.uint8],
    boards: NDArray[np.uint8],
) -> NDArray[np.int32]:
    """Return the state of every hand on every board, up to a group of renamings: [boards, H].

    States are in the order of the first of their hands.
    """
    images = {names: renamed_hands(names, hands.shape[1]) for names in group}
    states = np.full((len(boards), len(hands)), -1, np.int32)
    for b, board in enumerate(boards):
        kept = that_keep_board(group, deals_of(rules, board.tolist()))
        first = np.min([images[names] for names in kept], axis=0)
        live = live_hands(rules, board)
        states[b, live] = np.unique(first[live], return_inverse=True)[1]
    return states


def _renumbered(states: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber states [boards, H], of which some were removed, without gaps on each board."""
    for board in states:
        kept = board >= 0
        board[kept] = np.unique(board[kept], return_inverse=True)[1]
    return states


def _parent_states(
    states: NDArray[np.int32], num_states: int, above: NDArray[np.int32] | None
) -> NDArray[np.int32]:
    """Return the state on the parent board of each state of a board; 0 if there is no parent."""
    parents = np.zeros(num_states, np.int32)
    if above is not None:
        held = states >= 0
        parents[states[held]] = above[held]
    return parents


def pair_weight(rules: GameRules, r: int) -> float:
    """Return the probability of one raw board of round `r` and one pair of hands on it."""
    left, boards = len(rules.deck), 1
    for num_cards in rules.num_board_cards[: r + 1]:
        boards *= math.comb(left, num_cards)
        left -= num_cards
    hole = rules.num_hole_cards
    return 1 / (boards * math.comb(left, hole) * math.comb(left - hole, hole))
