"""What is left of a hand on the board at the table, with exact hands and a range for each player.

A range is a weight for every hand, 0 … 1, and enters as a *locked decision* that comes before all
others: with this chance the player holds the hand and plays on, otherwise the player is out and
nothing is won. So the game has the treeplexes, leaves and kernels of every other, and hands that
share a card never meet. Values are chips by which players are better or worse off than when they
had put in nothing, in the mean over all deals that the ranges allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import Card, cards_name
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.layout import Treeplex
from equilibrist.models.build import check_exact
from equilibrist.models.card_states import CardStates, Symmetry, card_states
from equilibrist.models.game import SequenceGame
from equilibrist.models.leaves import sorted_pairs
from equilibrist.models.treeplex import PlayerRows, leaf_tables, player_rows, treeplex

_HELD, _NOT_HELD = 1, 2  # rows of the locked decision, after the entry
_GAME_MENU = BetMenu()


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
    backend: str = "cpu",
) -> Subgame:
    """The rest of a hand from the round in which `board` is the whole board.

    `ranges` are weights [H] by the number of a hand; only their ratios matter, and those of hands
    that the board blocks do not. `pot` is what both have put in by equal shares. Hands and boards
    that differ by suits only are one (`suits`) where the ranges are the same for them, unless
    `symmetry` is given.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> ranges = np.ones(1326), np.ones(1326)
        >>> turn = subgame(get_game("royal-holdem"), parse_cards("AsKsQhTd"), ranges, pot=40)
        >>> [len(boards) for boards in turn.states.boards], turn.states.num_states[0].tolist()
        ([1, 16], [120])
    """
    check_exact(rules)
    first_round = _round_of(rules, board)
    betting = BettingTree.build(rules, menu, first_round=first_round, pot=pot)
    if sum(betting.counts(NodeKind.SHOWDOWN)[:-1]):
        raise InvalidValueError(
            f"{rules.name} has all-ins before its last round, which subgames do not know",
            value=rules.name,
        )
    rows = (_with_range(betting, 0), _with_range(betting, 1))
    weights = [np.asarray(weight, np.float64) for weight in ranges]
    states = _states(rules, first_round, board, weights, symmetry)
    held = states.state_of_hand[0][0] >= 0
    weights = [_shares(weight, held) for weight in weights]
    trees = (_locked(rows[0], states), _locked(rows[1], states))
    pairs = sorted_pairs(rules, states)
    met = _meetings(states.hands[held], weights[0][held], weights[1][held])
    if not met > 0:
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
        given=(_given(weights[0], states), _given(weights[1], states)),
        backend=backend,
    )
    return Subgame(game, betting, states, rows)


def _round_of(rules: GameRules, board: Sequence[Card]) -> int:
    """The last round that has so many board cards."""
    dealt = np.cumsum(rules.num_board_cards)
    if len(board) not in dealt or len(set(board)) < len(board):
        raise InvalidValueError(
            f"a board of {rules.name} has {' or '.join(map(str, dealt))} cards, "
            f"not {cards_name(board)!r}",
            value=cards_name(board),
        )
    return int(np.flatnonzero(dealt == len(board))[-1])


def _states(
    rules: GameRules,
    first_round: int,
    board: Sequence[Card],
    weights: list[NDArray[np.float64]],
    symmetry: Symmetry | None,
) -> CardStates:
    """Boards and states, up to suits if ranges do not tell the hands of a state apart."""
    states = card_states(rules, symmetry or "suits", first_round=first_round, board=board)
    if not all(_is_same_in_states(weight, states) for weight in weights):
        if symmetry is not None and symmetry != "cards":
            raise InvalidValueError(
                f"the ranges differ by more than {symmetry}: use the symmetry cards", value=symmetry
            )
        return card_states(rules, "cards", first_round=first_round, board=board)
    return states


def _is_same_in_states(weight: NDArray[np.float64], states: CardStates) -> bool:
    """Whether all hands of each state of the first board have the same weight."""
    of_hand = states.state_of_hand[0][0]
    held = of_hand >= 0
    one = np.zeros(int(states.num_states[0][0]))
    one[of_hand[held]] = weight[held]
    return bool(np.allclose(one[of_hand[held]], weight[held], rtol=1e-9, atol=0))


def _shares(weight: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weights of the hands that can be held, the largest 1."""
    kept = np.where(held, weight, 0.0)
    if not np.isfinite(kept).all() or kept.min() < 0:
        raise InvalidValueError("weights of hands are finite and never below zero")
    return kept / kept.max() if kept.any() else kept


def _meetings(
    hands: NDArray[np.uint8], first: NDArray[np.float64], second: NDArray[np.float64]
) -> float:
    """Weight of all pairs of hands [N, 1 or 2] without a common card.

    Pairs that share a card are taken away by card; a hand of two cards and itself share both.
    """
    shared = sum(
        np.bincount(hands.ravel(), np.repeat(first, hands.shape[1]), 52)
        * np.bincount(hands.ravel(), np.repeat(second, hands.shape[1]), 52)
    )
    return float(first.sum() * second.sum() - shared + (hands.shape[1] - 1) * (first @ second))


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


def _given(weight: NDArray[np.float64], states: CardStates) -> NDArray[np.float64]:
    """The first rows of behaviour: entry, held and not held, in every state of the board."""
    own, of_hand = np.ones((3, int(states.num_states[0][0]))), states.state_of_hand[0][0]
    own[_HELD, of_hand[of_hand >= 0]] = weight[of_hand >= 0]
    own[_NOT_HELD] = 1 - own[_HELD]
    return own.ravel()


def _locked(rows: PlayerRows, states: CardStates) -> Treeplex:
    """A player's side, the decision of the range locked."""
    tree = treeplex(rows, states)
    return tree._replace(locked=np.arange(len(tree.locked)) == 0)
