"""Subgames: the rest of a hand on a given board, with exact hands and a range for each player.

A range is a weight for every hand, 0 … 1, and enters as a *locked decision* that comes before all
others: with this probability the player holds the hand and plays on, otherwise the player is out
and nothing is won. So the game has the treeplexes, leaves and kernels of every other, and hands
that share a card never meet. Values are the chips that players win or lose compared with having put
in nothing, averaged over all deals that the ranges allow.

Other decisions may be locked too, on all boards of their round: then the player to act there has no
choice.

In a *gadget game* one player has an alternative instead of a range: its first decision is not
locked, and staying out pays a given number of chips for each hand. The opponent's strategy then
keeps every hand from winning more than its alternative where it can, which makes re-solving during
play safe (Burch, Johanson and Bowling, "Solving Imperfect Information Games Using Decomposition",
2014; docs/nolimit.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.cards.card import Card, cards_name
from equilibrist.cards.suits import all_renamings, that_keep_board, that_keep_weights
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.models.card_states import (
    CardStates,
    Symmetry,
    board_states,
    card_states,
    deals_of,
    live_hands,
)
from equilibrist.models.exact import check_exact
from equilibrist.models.game import Given, Offer, SequenceGame
from equilibrist.models.leaves import sorted_pairs
from equilibrist.models.money import Rake, Unit
from equilibrist.models.treeplex import (
    PlayerRows,
    leaf_tables,
    player_rows,
    raked,
    scaled,
    treeplex,
)
from equilibrist.phases import phase

_HELD, _NOT_HELD = 1, 2  # rows of the locked decision, after the entry
_GAME_MENU = BetMenu()
_GAME_CHIPS = Unit()
_RAREST = 1e-12  # smallest share of pairs of hands that can meet; rounding errors are below it


class Lock(NamedTuple):
    """Strategy of the player to act at a node, for each hand."""

    node: str  # the betting since the first round of the subgame
    probabilities: NDArray[np.float64]  # [A, H] probabilities of the node's children


class Alternative(NamedTuple):
    """What one player can take instead of playing on, by its hand."""

    player: int
    values: NDArray[np.float64]  # [H] chips of the game, compared with having put in nothing


@dataclass(frozen=True, eq=False)
class Subgame:
    """Game from some board on, with its betting and its hands."""

    game: SequenceGame
    betting: BettingTree  # of the rounds that are left
    states: CardStates  # boards are numbered from the given one
    rows: tuple[PlayerRows, PlayerRows]

    @classmethod
    def whole(cls, game: SequenceGame) -> Subgame:
        """Return a whole game with exact hands as a subgame that starts with the first deal."""
        if game.betting is None or game.states is None:
            raise InvalidValueError(f"{game.name} has no exact hands", value=game.name)
        rows = player_rows(game.betting, 0), player_rows(game.betting, 1)
        return cls(game, game.betting, game.states, rows)

    def on(self, backend: str) -> Subgame:
        """Return the same game, played by the kernels of another backend: cpu or gpu."""
        return replace(self, game=replace(self.game, backend=backend))


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
) -> Subgame:
    """Build the rest of a hand from the round in which `board` is the whole board.

    `ranges` are weights [H] by the number of a hand; only their ratios matter, and those of hands
    that the board blocks are ignored. `pot` is what both players have put in, in equal shares.
    Hands and boards are merged by all renamings of suits that leave the board and the ranges alone,
    unless `symmetry` is given: `suits` demands all that leave the board alone. With `only_held`,
    hands that are in neither range have no state. After an all-in the remaining cards are dealt,
    and shown in the last round.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> ranges = np.ones(1326), np.ones(1326)
        >>> turn = subgame(get_game("royal-holdem"), parse_cards("AsKsQhTd"), ranges, pot=40)
        >>> [len(boards) for boards in turn.states.boards], turn.states.num_states[0].tolist()
        ([1, 16], [120])
    """
    check_exact(rules)
    betting = BettingTree.build(
        rules, menu, first_round=round_of(rules, board), pot=pot, runs_out=True
    )
    return subgame_of(betting, board, ranges, symmetry, only_held=only_held, locks=locks)


@phase("building the game: boards, hands and betting")
def subgame_of(
    betting: BettingTree,
    board: Sequence[Card],
    ranges: tuple[ArrayLike, ArrayLike],
    symmetry: Symmetry | None = None,
    *,
    only_held: bool = False,
    locks: Sequence[Lock] = (),
    unit: Unit = _GAME_CHIPS,
    rake: Rake | None = None,
    alternative: Alternative | None = None,
) -> Subgame:
    """Build the rest of a hand from its betting tree; the arguments are those of `subgame`.

    Values are in `unit`, and net of the rake. With an `alternative` it is a gadget game: that
    player can have any hand, whatever its range, and chooses to play on or to take its alternative.
    """
    rules = betting.rules
    weights = [np.asarray(weight, np.float64) for weight in ranges]
    marks = [probabilities for lock in locks for probabilities in lock.probabilities]
    chooser = None if alternative is None else alternative.player
    if alternative is not None:
        weights[alternative.player] = np.ones_like(weights[1 - alternative.player])
        marks.append(alternative.values)
    held_hands = np.logical_or(*weights) if only_held else None
    states = range_states(rules, board, [*weights, *marks], symmetry, held_hands)
    held = states.state_of_hand[0][0] >= 0
    weights = [_shares(weight, held) for weight in weights]
    rows = (_with_range(betting, 0), _with_range(betting, 1))
    nodes = _nodes_of(locks, betting)
    trees = (
        _locked(rows[0], states, nodes[0], has_range=chooser != 0),
        _locked(rows[1], states, nodes[1], has_range=chooser != 1),
    )
    pairs = sorted_pairs(rules, states)
    met = _meeting_weight(states.hands, weights, board)
    leaves = leaf_tables(betting, rows)
    if rake is not None:
        leaves = raked(leaves, rake)
    game = SequenceGame(
        name=f"{rules.name} on {cards_name(board)}",
        unit=unit.name,
        trees=trees,
        leaves=scaled(leaves, unit.size),
        pairs=pairs._replace(weight=pairs.weight / (pairs.weight[0] * met)),
        first_player=rules.first_players[betting.first_round],
        given=(
            _given(trees[0], rows[0], states, betting, weights[0], nodes[0]),
            _given(trees[1], rows[1], states, betting, weights[1], nodes[1]),
        ),
        offer=None
        if alternative is None
        else _offer(alternative, trees, states, weights, met, unit),
        held=held_states(states, weights) if only_held else None,
    )
    return Subgame(game, betting, states, rows)


def held_states(
    states: CardStates, weights: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return the states of the last boards with a hand in each player's range; None: all."""
    first, second = (
        np.concatenate([_in_range(of_hand, own > 0) for of_hand in states.state_of_hand[-1]])
        for own in weights
    )
    return None if first.all() and second.all() else (first, second)


def _in_range(of_hand: NDArray[np.int32], held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which states of a board have one of the hands that are held."""
    found = np.zeros(int(of_hand.max()) + 1, np.bool_)
    found[of_hand[held & (of_hand >= 0)]] = True
    return found


def _nodes_of(
    locks: Sequence[Lock], betting: BettingTree
) -> list[list[tuple[int, NDArray[np.float64]]]]:
    """Return the locked nodes of each player, with the probabilities [A, H] there."""
    nodes: list[list[tuple[int, NDArray[np.float64]]]] = [[], []]
    for lock in locks:
        node = betting.parse(lock.node)
        nodes[betting.player[node]].append((node, lock.probabilities))
    return nodes


def _meeting_weight(
    hands: NDArray[np.uint8], weights: Sequence[NDArray[np.float64]], board: Sequence[Card]
) -> float:
    """Return the weight of all pairs of hands; raise `InvalidValueError` if no hands can meet."""
    met = float(weights[0] @ compatible(hands, weights[1]))
    if not met > _RAREST * weights[0].sum() * weights[1].sum():
        raise InvalidValueError(
            f"no hands of the ranges can meet on {cards_name(board)}", value=cards_name(board)
        )
    return met


def round_of(rules: GameRules, board: Sequence[Card]) -> int:
    """Return the last round with the number of board cards of `board`."""
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
    """Build boards and states, merged by the renamings of suits that keep board and weights [H].

    Hands that are not in `held` [H] have no state. A `symmetry` that weights contradict is refused.
    """
    r = round_of(rules, board)
    if symmetry is not None:
        of_hand = board_states(rules, symmetry, r, board)
        if symmetry != "cards" and not all(_is_same_in_states(own, of_hand) for own in weights):
            raise InvalidValueError(
                f"the ranges differ by more than {symmetry}: use the symmetry cards", value=symmetry
            )
        return card_states(rules, symmetry, first_round=r, board=board, held=held)
    of_board = that_keep_board(all_renamings(rules.num_suits), deals_of(rules, board))
    group = that_keep_weights(of_board, weights, live_hands(rules, board))
    if group == of_board:
        return card_states(rules, "suits", first_round=r, board=board, held=held)
    if len(group) == 1:
        return card_states(rules, "cards", first_round=r, board=board, held=held)
    return card_states(rules, "suits", first_round=r, board=board, held=held, group=group)


def _is_same_in_states(weight: NDArray[np.float64], of_hand: NDArray[np.int32]) -> bool:
    """Return whether all hands of each state of a board have the same weight."""
    held = of_hand >= 0
    one = np.zeros(int(of_hand.max()) + 1)
    one[of_hand[held]] = weight[held]
    return bool(np.allclose(one[of_hand[held]], weight[held], rtol=1e-9, atol=0))


def _shares(weight: NDArray[np.float64], held: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weights of the hands that can be held, scaled so that the largest is 1."""
    kept = np.where(held, weight, 0.0)
    if not np.isfinite(kept).all() or kept.min() < 0:
        raise InvalidValueError("weights of hands must be finite and not negative")
    return kept / kept.max() if kept.any() else kept


def compatible(hands: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of all hands [N, 1 or 2] that share no card with each: [N].

    Hands that share a card are subtracted by card; a hand of two cards shares both with itself.
    """
    of_card = np.bincount(hands.ravel(), np.repeat(weights, hands.shape[1]), 52)
    return weights.sum() - of_card[hands].sum(axis=1) + (hands.shape[1] - 1) * weights


def _with_range(betting: BettingTree, player: int) -> PlayerRows:
    """Return the rows of a player with one more decision before all others: held or not.

    The entry stays row 0; the actions that followed it now follow row 1.
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
    """Return a player's behaviour at its range's decision and, on all boards, at locked nodes."""
    found = [(np.zeros(0, np.int64), np.zeros(0))]
    if tree.locked[0]:
        found.append(_board_behaviour(tree, states, 0, 0, _HELD, np.stack([weight, 1 - weight])))
    for node, probabilities in locks:
        r = int(betting.round[node]) - betting.first_round
        first = int(rows.decision_first[rows.decision[node]])
        boards = range(len(states.boards[r]))
        found += [_board_behaviour(tree, states, r, b, first, probabilities) for b in boards]
    return Given(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _offer(
    alternative: Alternative,
    trees: tuple[Treeplex, Treeplex],
    states: CardStates,
    weights: Sequence[NDArray[np.float64]],
    met: float,
    unit: Unit,
) -> Offer:
    """Return what the row of staying out pays, by state: chips times the probability of a deal."""
    player, values = alternative
    of_hand, width = states.state_of_hand[0][0], int(states.num_states[0][0])
    held = of_hand >= 0
    share = compatible(states.hands, weights[1 - player]) / met
    chips = np.bincount(of_hand[held], (share * values)[held], width) / unit.size
    start = int(trees[player].block_start[0]) + _NOT_HELD * width
    return Offer(player, start + np.arange(width), chips)


def _board_behaviour(
    tree: Treeplex,
    states: CardStates,
    r: int,
    b: int,
    first: int,
    probabilities: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return places and probabilities of the rows from `first` on, in every state of a board.

    Probabilities [A, H] are those of hands on the board as it is stored.
    """
    of_hand, width = states.state_of_hand[r][b], int(states.num_states[r][b])
    own = np.empty((len(probabilities), width))
    own[:, of_hand[of_hand >= 0]] = probabilities[:, of_hand >= 0]
    start = int(tree.block_start[int(tree.board_start[r]) + b]) + first * width
    return start + np.arange(own.size), own.ravel()


def _locked(
    rows: PlayerRows,
    states: CardStates,
    locks: Sequence[tuple[int, NDArray[np.float64]]],
    *,
    has_range: bool,
) -> Treeplex:
    """Build a player's side with the decision of the range, if any, and some nodes locked."""
    tree = treeplex(rows, states)
    locked = np.zeros(len(tree.locked), np.bool_)
    locked[[*([0] if has_range else []), *(rows.decision[node] for node, _ in locks)]] = True
    return tree._replace(locked=locked)
