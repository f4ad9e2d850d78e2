"""What is left of a hand on the board at the table, with exact hands and a range for each player.

A range is a weight for every hand, 0 … 1, and enters as a *locked decision* that comes before all
others: with this chance the player holds the hand and plays on, otherwise the player is out and
nothing is won. So the game has the treeplexes, leaves and kernels of every other, and hands that
share a card never meet. Values are chips by which players are better or worse off than when they
had put in nothing, in the mean over all deals that the ranges allow.

Other decisions may be locked too, on all boards of their round: then the player who acts there has
no choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import Card, cards_name
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import MOST_NODES, BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.models.card_states import CardStates, Symmetry, board_states, card_states
from equilibrist.models.exact import check_exact
from equilibrist.models.game import Given, SequenceGame
from equilibrist.models.leaves import sorted_pairs
from equilibrist.models.treeplex import PlayerRows, leaf_tables, player_rows, treeplex

_HELD, _NOT_HELD = 1, 2  # rows of the locked decision, after the entry
_GAME_MENU = BetMenu()
_RAREST = 1e-12  # share of pairs of hands that can meet; differences of sums leave a rest below it


class Lock(NamedTuple):
    """What the player who acts at a node does there, with each hand."""

    node: str  # the betting since the first round of the subgame
    chances: NDArray[np.float64]  # [A, H] of the node's children


@dataclass(frozen=True, eq=False)
class Subgame:
    """A game from some board on, and where its hands and its betting stand in the arrays."""

    game: SequenceGame
    betting: BettingTree  # of the rounds that are left
    states: CardStates  # boards count from the given one
    rows: tuple[PlayerRows, PlayerRows]


def subgame(
    rules: GameRules,
    board: Sequence[Card],
    ranges: tuple[ArrayLike, ArrayLike],
    menu: BetMenu = _GAME_MENU,
    *,
    pot: int,
    symmetry: Symmetry | None = None,
    only_held: bool = False,
    locks: Sequence[Lock] = (),
    most_nodes: int = MOST_NODES,
    backend: str = "cpu",
) -> Subgame:
    """The rest of a hand from the round in which `board` is the whole board.

    `ranges` are weights [H] by the number of a hand; only their ratios matter, and those of hands
    that the board blocks do not. `pot` is what both have put in by equal shares. Hands and boards
    that differ by suits only are one (`suits`) where the ranges are the same for them, unless
    `symmetry` is given. With `only_held`, hands that are in neither range have no state. After an
    all-in the cards that are left are dealt, and shown in the last round.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> ranges = np.ones(1326), np.ones(1326)
        >>> turn = subgame(get_game("royal-holdem"), parse_cards("AsKsQhTd"), ranges, pot=40)
        >>> [len(boards) for boards in turn.states.boards], turn.states.num_states[0].tolist()
        ([1, 16], [120])
    """
    check_exact(rules)
    first_round = round_of(rules, board)
    betting = BettingTree.build(
        rules, menu, first_round=first_round, pot=pot, runs_out=True, most_nodes=most_nodes
    )
    rows = (_with_range(betting, 0), _with_range(betting, 1))
    weights = [np.asarray(weight, np.float64) for weight in ranges]
    told_apart = [*weights, *(chances for lock in locks for chances in lock.chances)]
    held_hands = np.logical_or(*weights) if only_held else None
    states = range_states(rules, board, told_apart, symmetry, held_hands)
    held = states.state_of_hand[0][0] >= 0
    weights = [_shares(weight, held) for weight in weights]
    nodes: list[list[tuple[int, NDArray[np.float64]]]] = [[], []]
    for lock in locks:
        node = betting.parse(lock.node)
        nodes[betting.player[node]].append((node, lock.chances))
    trees = (_locked(rows[0], states, nodes[0]), _locked(rows[1], states, nodes[1]))
    pairs = sorted_pairs(rules, states)
    met = float(weights[0] @ compatible(states.hands, weights[1]))
    if not met > _RAREST * weights[0].sum() * weights[1].sum():
        raise InvalidValueError(
            f"no hands of the ranges can meet on {cards_name(board)}", value=cards_name(board)
        )
    game = SequenceGame(
        name=f"{rules.name} on {cards_name(board)}",
        unit="chips",
        trees=trees,
        leaves=leaf_tables(betting, rows),
        pairs=pairs._replace(weight=pairs.weight / (pairs.weight[0] * met)),
        first_player=rules.first_players[first_round],
        given=(
            _given(trees[0], rows[0], states, betting, weights[0], nodes[0]),
            _given(trees[1], rows[1], states, betting, weights[1], nodes[1]),
        ),
        backend=backend,
    )
    return Subgame(game, betting, states, rows)


def round_of(rules: GameRules, board: Sequence[Card]) -> int:
    """The last round that has so many board cards."""
    dealt = np.cumsum(rules.num_board_cards)
    if len(board) not in dealt or len(set(board)) < len(board):
        raise InvalidValueError(
            f"a board of {rules.name} has {' or '.join(map(str, dealt))} cards, "
            f"not {cards_name(board)!r}",
            value=cards_name(board),
        )
    return int(np.flatnonzero(dealt == len(board))[-1])


def range_states(
    rules: GameRules,
    board: Sequence[Card],
    weights: Sequence[NDArray[np.float64]],
    symmetry: Symmetry | None = None,
    held: NDArray[np.bool_] | None = None,
) -> CardStates:
    """Boards and states, up to suits if no weights [H] tell the hands of a state apart.

    Hands that are not `held` [H] have no state.
    """
    r, kind = round_of(rules, board), symmetry or "suits"
    of_hand = board_states(rules, kind, r, board)
    if not all(_is_same_in_states(weight, of_hand) for weight in weights):
        if symmetry is not None and symmetry != "cards":
            raise InvalidValueError(
                f"the ranges differ by more than {symmetry}: use the symmetry cards", value=symmetry
            )
        kind = "cards"
    return card_states(rules, kind, first_round=r, board=board, held=held)


def _is_same_in_states(weight: NDArray[np.float64], of_hand: NDArray[np.int32]) -> bool:
    """Whether all hands of each state of a board have the same weight."""
    held = of_hand >= 0
    one = np.zeros(int(of_hand.max()) + 1)
    one[of_hand[held]] = weight[held]
    return bool(np.allclose(one[of_hand[held]], weight[held], rtol=1e-9, atol=0))


def _shares(weight: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of the hands that can be held, the largest 1."""
    kept = np.where(held, weight, 0.0)
    if not np.isfinite(kept).all() or kept.min() < 0:
        raise InvalidValueError("weights of hands are finite and never below zero")
    return kept / kept.max() if kept.any() else kept


def compatible(hands: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weight of all hands [N, 1 or 2] that share no card with each: [N].

    Hands that share a card are taken away by card; a hand of two cards and itself share both.
    """
    of_card = np.bincount(hands.ravel(), np.repeat(weights, hands.shape[1]), 52)
    return weights.sum() - of_card[hands].sum(axis=1) + (hands.shape[1] - 1) * weights


def _with_range(betting: BettingTree, player: int) -> PlayerRows:
    """The rows of a player with one more decision before all others: held or not.

    The entry stays row 0; what was played from there is now played from row 1.
    """
    rows = player_rows(betting, player)

    def moved(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(numbers > 0, numbers + _NOT_HELD, _HELD).astype(np.int32)

    decisions = slice(0, int(rows.decision_start[1]))  # of the first round, and entries to the next
    entries = slice(1, int(rows.entry_start[min(2, len(rows.entry_start) - 1)]))
    parent, action, above = (
        array.copy() for array in (rows.decision_parent, rows.decision_first, rows.entry_parent)
    )
    parent[decisions], action[decisions] = moved(parent[decisions]), moved(action[decisions])
    above[entries] = moved(above[entries])
    is_first = betting.round == betting.first_round
    return replace(
        rows,
        row=np.where(is_first, moved(rows.row), rows.row),
        decision=np.where(rows.decision >= 0, rows.decision + 1, -1).astype(np.int32),
        num_sequences=np.concatenate([rows.num_sequences[:1] + _NOT_HELD, rows.num_sequences[1:]]),
        entry_parent=above,
        decision_start=np.concatenate([[0], rows.decision_start[1:] + 1]),
        decision_parent=np.concatenate([[0], parent]).astype(np.int32),
        decision_first=np.concatenate([[_HELD], action]).astype(np.int32),
        decision_size=np.concatenate([[2], rows.decision_size]).astype(np.int32),
    )


def _given(
    tree: Treeplex,
    rows: PlayerRows,
    states: CardStates,
    betting: BettingTree,
    weight: NDArray[np.float64],
    locks: Sequence[tuple[int, NDArray[np.float64]]],
) -> Given:
    """Behaviour of a player at the decision of the range, and at locked nodes on every board."""
    found = [_of_board(tree, states, 0, 0, _HELD, np.stack([weight, 1 - weight]))]
    for node, chances in locks:
        r = int(betting.round[node]) - betting.first_round
        first = int(rows.decision_first[rows.decision[node]])
        boards = range(len(states.boards[r]))
        found += [_of_board(tree, states, r, b, first, chances) for b in boards]
    return Given(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _of_board(
    tree: Treeplex, states: CardStates, r: int, b: int, first: int, chances: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places and chances of the rows from `first` on, in every state of a board.

    Chances [A, H] are those of hands on the board as it is stored.
    """
    of_hand, width = states.state_of_hand[r][b], int(states.num_states[r][b])
    own = np.empty((len(chances), width))
    own[:, of_hand[of_hand >= 0]] = chances[:, of_hand >= 0]
    start = int(tree.block_start[int(tree.board_start[r]) + b]) + first * width
    return start + np.arange(own.size), own.ravel()


def _locked(
    rows: PlayerRows, states: CardStates, locks: Sequence[tuple[int, NDArray[np.float64]]]
) -> Treeplex:
    """A player's side, the decision of the range locked and those of some nodes."""
    tree = treeplex(rows, states)
    locked = np.zeros(len(tree.locked), np.bool_)
    locked[[0, *(rows.decision[node] for node, _ in locks)]] = True
    return tree._replace(locked=locked)
