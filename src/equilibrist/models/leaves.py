"""Which states of the players meet on a board, and who wins: dense matrices or sorted hands.

The payoff is bilinear: a leaf of stake c is worth c · xᵀ M y, where M is J (folds: the probability
that the states meet) or W (showdowns: J times win 1, tie 0, loss −1). `sorted_pairs` stores the
hands of each board in order of value and lets the kernels sweep them; `dense_pairs` computes M
itself. On the same cards both give the same numbers. Where a model leaves rounds out at the end,
hands end in expected values, and M is given by `ExpectedLeaves`.

Where the players' ranges differ, `seat_pairs` gives each player on the boards of the last round a
list of the hands that it can hold, instead of one list for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.ranking import rank_hands
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import (
    CardPairs,
    HandPairs,
    MatrixPairs,
    PairTables,
    Treeplex,
)
from equilibrist.kernels.treeplex import board_matrices, boards, num_rounds
from equilibrist.models.card_states import CardStates, pair_weight

NUM_CARDS = _NO_CARD = 52
_NONE_INT64 = np.zeros(0, np.int64)
_NONE_FLOAT = np.zeros(0, np.float64)
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class ExpectedLeaves(NamedTuple):
    """Leaves of a last round of one board, with a matrix of their own: each adds c · xᵀ M y.

    If several are at the same rows, the payoff is the sum.
    """

    rows: NDArray[np.int32]  # [N, 2] both players' rows
    stake: NDArray[np.float64]  # [N] c
    matrix: NDArray[np.float64]  # [S0, S1] M, probabilities included, for player 0


class _BoardPairs(NamedTuple):
    """The hands and states of one board, as `PairTables` has them of all boards."""

    hand_state: NDArray[np.int32]
    hand_cards: NDArray[np.uint8]
    hand_value: NDArray[np.int32]
    hand_others: NDArray[np.intp]
    state_size: NDArray[np.intp]
    state_order: NDArray[np.intp]
    state_cards: NDArray[np.uint8]
    state_below: NDArray[np.intp]
    state_hands: NDArray[np.intp]
    state_twin: NDArray[np.int32]
    card_hands: NDArray[np.uint16]
    card_ties: NDArray[np.intp]
    tie_end: NDArray[np.intp]
    state_ties: NDArray[np.intp]

    @classmethod
    def of(
        cls, of_hand: NDArray[np.int32], hands: NDArray[np.uint8], values: NDArray[np.int32] | None
    ) -> _BoardPairs:
        """Sort the hands that have a state by their values; None before the last round."""
        held = np.flatnonzero(of_hand >= 0)
        if values is None:
            values = np.zeros(len(held), np.int32)
        order = np.argsort(values, kind="stable")
        states = of_hand[held[order]]
        return cls.between(states, states, _two_columns(hands[held[order]]), values[order])

    @classmethod
    def between(
        cls,
        own: NDArray[np.int32],
        other: NDArray[np.int32],
        cards: NDArray[np.uint8],
        values: NDArray[np.int32],
    ) -> _BoardPairs:
        """Build the pairs of our states and the opponent's; hands are in order of value.

        `own` and `other` are the states of each hand, −1 if that player cannot hold it.
        """
        ours, theirs = own >= 0, other >= 0
        ordered, size, example, below = _sorted_states(own[ours], values[ours])
        example = np.flatnonzero(ours)[example]
        shown = values[theirs]
        lower, up_to = (np.searchsorted(shown, values[example], side) for side in _SIDES)
        return cls(
            hand_state=other[theirs],
            hand_cards=cards[theirs],
            hand_value=shown,
            hand_others=_others(shown),
            state_size=size,
            state_order=ordered,
            state_cards=cards[example],
            state_below=below,
            state_hands=np.stack([lower, up_to], axis=1),
            state_twin=np.where(theirs, other, other.max(initial=-1) + 1)[example],
            **_ties(other, cards, values, example),
        )


def sorted_pairs(
    rules: GameRules, states: CardStates, first_round: int | None = None
) -> PairTables:
    """Build the pairs of all boards; hands of the last round are in order of showdown value.

    Unless the round of the first boards is given, the states are those of the game's last rounds.
    """
    found: list[_BoardPairs] = []
    weight: list[float] = []
    if first_round is None:
        first_round = rules.num_rounds - len(states.boards)
    last = rules.num_rounds - 1 - first_round
    shown = _shown_values(rules, states) if last < len(states.boards) else []
    for r in range(len(states.boards)):
        for b in range(len(states.boards[r])):
            values = shown[b] if r == last else None
            found.append(_BoardPairs.of(states.state_of_hand[r][b], states.hands, values))
            weight.append(pair_weight(rules, first_round + r) * states.multiplicity[r][b])
    form = CardPairs if rules.num_hole_cards == 1 else HandPairs
    return _joined(form, found, np.array(weight, np.float64), is_shared=True)


def seat_pairs(
    pairs: PairTables, held: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> tuple[PairTables, PairTables]:
    """Return each player's pairs if both have only some of the states of the last boards.

    `held` are the states of these boards that each player has, which are numbered without gaps.
    """
    begin = int(pairs.state_start[-1]) - len(held[0])  # the first state of the last boards
    first = int(np.searchsorted(pairs.state_start, begin))
    found: tuple[list[_BoardPairs], list[_BoardPairs]] = ([], [])
    for board in range(len(pairs.state_start) - 1):
        hands = slice(int(pairs.hand_start[board]), int(pairs.hand_start[board + 1]))
        states, cards = pairs.hand_state[hands], pairs.hand_cards[hands]
        numbers = [states, states]
        if board >= first:
            here = slice(*(pairs.state_start[board : board + 2] - begin).tolist())
            numbers = [_numbered(mask[here])[states] for mask in held]
        for player in (0, 1):
            own, other, values = numbers[player], numbers[1 - player], pairs.hand_value[hands]
            found[player].append(_BoardPairs.between(own, other, cards, values))
    one, two = (_joined(type(pairs), each, pairs.weight, is_shared=False) for each in found)
    return one, two


def _numbered(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the number of each marked place among these, −1 for the others."""
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def _joined(
    form: type[PairTables],
    found: Sequence[_BoardPairs],
    weight: NDArray[np.float64],
    *,
    is_shared: bool,
) -> PairTables:
    """Return the pairs of all boards, one after the other."""
    flat = _BoardPairs(*(np.concatenate(part) for part in zip(*found, strict=True)))
    return form(
        is_sorted=np.bool_(True),
        is_shared=np.bool_(is_shared),
        matrix_start=_NONE_INT64,
        joint=_NONE_FLOAT,
        win=_NONE_FLOAT,
        hand_start=_starts([len(board.hand_state) for board in found]),
        hand_state=flat.hand_state.astype(np.int32),
        hand_cards=flat.hand_cards,
        hand_value=flat.hand_value,
        hand_others=flat.hand_others.astype(np.int32),
        state_start=_starts([len(board.state_order) for board in found]),
        state_size=flat.state_size.astype(np.float32),
        state_order=flat.state_order.astype(np.int32),
        state_cards=flat.state_cards,
        state_below=flat.state_below.astype(np.int32),
        state_hands=flat.state_hands.astype(np.int32),
        state_twin=flat.state_twin.astype(np.int32),
        card_hands=flat.card_hands,
        card_ties=flat.card_ties.reshape(-1, NUM_CARDS).astype(np.uint16),
        tie_start=_starts([len(board.tie_end) for board in found]),
        tie_end=flat.tie_end.astype(np.uint16),
        state_ties=flat.state_ties.astype(np.uint16),
        weight=weight,
    )


def _starts(lengths: list[int]) -> NDArray[np.int64]:
    """Return where each of several parts starts that follow each other, and where the last ends."""
    return np.cumsum([0, *lengths]).astype(np.int64)


def _shown_values(rules: GameRules, states: CardStates) -> list[NDArray[np.int32]]:
    """Return the values of hands on each board of the last round, ranked together by threads."""
    held = [np.flatnonzero(own >= 0) for own in states.state_of_hand[-1]]
    hands = [
        np.hstack([states.hands[own], np.tile(board, (len(own), 1))])
        for own, board in zip(held, states.boards[-1], strict=True)
    ]
    values = rank_hands(np.concatenate(hands), rules.ranking).astype(np.int32)
    return np.split(values, np.cumsum([len(own) for own in held])[:-1])


def _others(values: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the number of ascending values below each, and above each: [N, 2]."""
    below = np.searchsorted(values, values, side="left")
    up_to = np.searchsorted(values, values, side="right")
    return np.stack([below, len(values) - up_to], axis=1)


def _ties(
    other: NDArray[np.int32],
    cards: NDArray[np.uint8],
    values: NDArray[np.int32],
    example: NDArray[np.intp],
) -> dict[str, NDArray[Any]]:
    """Return `card_hands`, `card_ties`, `tie_end` and `state_ties` of a board (`PairTables`).

    Ties are those of all hands, also if the opponent has none of them; `other` are the opponent's
    states and `example` the hands whose cards are those of our states. One-card hands have no ties.
    """
    if not len(cards) or cards[0, 1] == _NO_CARD:
        none = np.zeros(0, np.intp)
        return {
            "card_hands": none.astype(np.uint16),
            "card_ties": np.zeros(NUM_CARDS, np.intp),
            "tie_end": none,
            "state_ties": none.reshape(0, 2),
        }
    by_card = np.argsort(cards.ravel(), kind="stable")  # hands are in order of value
    card, value, state = cards.ravel()[by_card], values[by_card // 2], other[by_card // 2]
    is_last = np.append((card[1:] != card[:-1]) | (value[1:] != value[:-1]), True)
    tie = np.empty(len(by_card), np.intp)
    tie[by_card] = np.cumsum(is_last) - is_last
    return {
        "card_hands": state[state >= 0].astype(np.uint16),
        "card_ties": np.searchsorted(card[is_last], np.arange(NUM_CARDS), side="right"),
        "tie_end": np.cumsum(state >= 0)[is_last],
        "state_ties": tie.reshape(-1, 2)[example],
    }


def _sorted_states(
    states: NDArray[np.int32], values: NDArray[np.int32]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return states by value, the hands of each, and in that order an example and counts.

    The counts are [states, 2]: the number of states before each value, and up to it.
    """
    _, example, size = np.unique(states, return_index=True, return_counts=True)
    order = np.argsort(values[example], kind="stable")  # hands of a state have the same value
    below, above = _others(values[example[order]]).T
    return order, size, example[order], np.stack([below, len(order) - above], axis=1)


def dense_pairs(tree: Treeplex, pairs: PairTables) -> PairTables:
    """Build the matrices of sorted pairs, for two players with the same treeplex states.

    Showdowns before the last round (all-in) take the mean over the boards to come: W of a board is
    the sum of W of its children, states mapped to their parents.
    """
    matrices = [board_matrices(tree, tree, pairs, b) for b in range(len(tree.num_states))]
    joint = [matrix[0] for matrix in matrices]
    win = [matrix[1] for matrix in matrices]
    for r in reversed(range(num_rounds(tree) - 1)):
        for board in boards(tree, r):
            win[board] = np.zeros_like(joint[board])
            for child in range(int(tree.child_start[board]), int(tree.child_start[board + 1])):
                start = int(tree.state_start[child])
                up = tree.state_parent[start : start + int(tree.num_states[child])]
                np.add.at(win[board], (up[:, None], up[None, :]), win[child])
    return matrix_pairs(joint, win)


def matrix_pairs(joint: list[NDArray[np.float64]], win: list[NDArray[np.float64]]) -> PairTables:
    """Build pairs from one matrix J and one matrix W per board: [S0, S1] each."""
    flat = [np.concatenate([matrix.ravel() for matrix in part], dtype=np.float64)
            for part in (joint, win)]  # fmt: skip
    return flat_pairs([matrix.size for matrix in joint], flat[0], flat[1])


def flat_pairs(sizes: list[int], joint: NDArray[Any], win: NDArray[Any]) -> PairTables:
    """Build pairs from the matrices J of all boards, one after the other, and likewise W."""
    return MatrixPairs(
        is_sorted=np.bool_(False),
        is_shared=np.bool_(True),
        matrix_start=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
        joint=joint,
        win=win,
        hand_start=_NONE_INT64,
        hand_state=np.zeros(0, np.int32),
        hand_cards=np.zeros((0, 2), np.uint8),
        hand_value=np.zeros(0, np.int32),
        hand_others=np.zeros((0, 2), np.int32),
        state_start=_NONE_INT64,
        state_size=np.zeros(0, np.float32),
        state_order=np.zeros(0, np.int32),
        state_cards=np.zeros((0, 2), np.uint8),
        state_below=np.zeros((0, 2), np.int32),
        state_hands=np.zeros((0, 2), np.int32),
        state_twin=np.zeros(0, np.int32),
        card_hands=np.zeros(0, np.uint16),
        card_ties=np.zeros((0, NUM_CARDS), np.uint16),
        tie_start=_NONE_INT64,
        tie_end=np.zeros(0, np.uint16),
        state_ties=np.zeros((0, 2), np.uint16),
        weight=_NONE_FLOAT,
    )


def _two_columns(hands: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return hands [N, 1 or 2] as [N, 2], with 52 for a missing second card."""
    if hands.shape[1] == 2:
        return hands
    return np.hstack([hands, np.full_like(hands, _NO_CARD)])
