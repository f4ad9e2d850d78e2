"""Values of histories of an exact game, and the places of its cards in the arrays.

A history is a node of the betting tree, a board and a pair of private states. `PairValues` has its
exact value when both players follow given plans; AIVAT also accepts any other estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards, cards_name
from equilibrist.cards.hand import hand_index
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import Plans, checked_plan
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.kernels.treeplex import block, board_matrices, parents_of
from equilibrist.models.card_states import CardStates
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.solving.sampling import walk_tables
from equilibrist.strategies.behaviour_table import find_board

_CACHED_NUMBERS = 25_000_000  # numbers of the last round's values that are cached: 200 MB
_CACHED_NAMES = 100_000  # number of boards and betting sequences whose lookup is cached


class ValueFunction(Protocol):
    """Estimate of the values of histories; boards are numbered through all rounds."""

    def __call__(self, node: int, board: int) -> Floats:
        """Return the chips that player 0 will win from a node on, by pair of states: [S0, S1]."""


class ExactCards:
    """Cards of an exact game: the pairs of states on boards, and the lookup of cards."""

    def __init__(self, game: SequenceGame) -> None:
        if game.betting is None or game.states is None:
            raise InvalidValueError(
                f"{game.name} has no cards; AIVAT corrects hands of exact games", value=game.name
            )
        self.game = game
        self.betting: BettingTree = game.betting
        self.states: CardStates = game.states
        self._matrices = lru_cache(maxsize=None)(self._meet)
        self._board = lru_cache(_CACHED_NAMES)(self._find_board)
        self._node = lru_cache(_CACHED_NAMES)(self.betting.parse)

    def _meet(self, board: int) -> tuple[Floats, Floats]:
        return board_matrices(*self.game.trees, self.game.pairs, board)

    def joint(self, board: int) -> Floats:
        """Return the probability that states meet on a board: [S0, S1]."""
        return self._matrices(board)[0]

    def leaf(self, fixed: float, contested: float, board: int) -> Floats:
        """Return the chips of player 0 times J: [S0, S1]."""
        joint, win = self._matrices(board)
        return fixed * joint + contested * win

    def children(self, board: int) -> range:
        """Return the boards of the next round that follow one."""
        start = self.game.trees[0].child_start
        return range(int(start[board]), int(start[board + 1]))

    def node(self, hand: HandState) -> int:
        """Return the node of a hand's betting; `RecordError` if it leaves the model's tree."""
        return self._node(hand.betting.text.rstrip("/") if hand.is_over else hand.betting.text)

    def find(self, r: int, hand: HandState, player: int | None) -> tuple[int, int]:
        """Return the board of round `r`, and a player's state on it, −1 without a player."""
        rules = self.betting.rules
        check_deal(hand, rules)
        b, renaming = self._board(r, hand.deal.board[: rules.board_cards_by(r)])
        board = int(self.game.trees[0].board_start[r]) + b
        if player is None:
            return board, -1
        stored = [int(renaming[card]) for card in seen_hole(hand, player)]
        row = hand_index(*stored) if len(stored) == 2 else stored[0]
        return board, int(self.states.state_of_hand[r][b][row])

    def _find_board(self, r: int, cards: Cards) -> tuple[int, NDArray[np.intp]]:
        """Return the number of a board in its round, and the renaming [52] to the stored cards."""
        b, _, renaming = find_board(self.betting.rules, self.states, r, cards_name(cards))
        return b, np.argsort(renaming)


class PairValues:
    """Exact values of every history when both players follow given plans.

    Folded up the betting tree as J · v: stakes times J or W at the leaves, weighted by
    probabilities at decisions, summed over children where boards are dealt. Values of the last
    round are many, so only the latest are cached.
    """

    def __init__(self, game: SequenceGame, plans: Plans) -> None:
        exact = [checked_plan(game, player, plans[player]) for player in (0, 1)]
        self.cards = ExactCards(game)
        self.walk = walk_tables(game)
        self.behaviours = [game.behaviour(player, exact[player]) for player in (0, 1)]
        roots = np.flatnonzero(self.walk.opens).tolist()
        self.below = {root: same_round(self.cards.betting, root) for root in roots}
        last = int(self.walk.round.max())
        largest = max(len(self.below[root]) for root in roots if self.walk.round[root] == last)
        states = max(int(tree.num_states.max()) for tree in game.trees)
        self._last = last
        self._early_round = lru_cache(maxsize=None)(self._fold_up)
        self._last_round = lru_cache(max(1, _CACHED_NUMBERS // (largest * states**2)))(
            self._fold_up
        )

    def __call__(self, node: int, board: int) -> Floats:
        """Return the chips of player 0 by pair of states: [S0, S1], 0 where they cannot meet."""
        root = node
        while not self.walk.opens[root]:
            root = int(self.cards.betting.parent[root])
        joint = self.cards.joint(board)
        return self._round(root, board)[node] / np.where(joint > 0, joint, 1)

    def _round(self, root: int, board: int) -> dict[int, Floats]:
        """Return J · v of all nodes of a round below its opening, on one board."""
        is_last = self.walk.round[root] == self._last
        return (self._last_round if is_last else self._early_round)(root, board)

    def _fold_up(self, root: int, board: int) -> dict[int, Floats]:
        walk, game = self.walk, self.cards.game
        r = int(walk.round[root])
        probabilities = [
            block(game.trees[player], r, board, self.behaviours[player]) for player in (0, 1)
        ]

        def share(child: int, actor: int) -> Floats:
            across = (slice(None), None) if actor == 0 else (None, slice(None))
            return probabilities[actor][int(walk.row[child, actor])][across]

        return fold_round(
            self.cards.betting,
            self.below[root],
            lambda leaf: self.cards.leaf(walk.fixed[leaf], walk.contested[leaf], board),
            lambda opening: self._dealt(opening, board),
            share,
        )

    def _dealt(self, opening: int, board: int) -> Floats:
        """Return J · v where cards are dealt on a board: the sum over boards that follow."""
        total = np.zeros_like(self.cards.joint(board))
        for child in self.cards.children(board):
            first, second = (parents_of(tree, child) for tree in self.cards.game.trees)
            np.add.at(
                total, (first[:, None], second[None, :]), self._round(opening, child)[opening]
            )
        return total


def same_round(betting: BettingTree, root: int) -> list[int]:
    """Return the nodes of a round from its opening on, parents first.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = BettingTree.build(get_game("leduc"))
        >>> [leduc.name(node) for node in same_round(leduc, leduc.parse("cc/"))][:4]
        ['cc/', 'cc/c', 'cc/r', 'cc/cc']
    """
    nodes = [root]
    for node in nodes:
        if betting.kind[node] != NodeKind.ROUND_END:
            nodes.extend(betting.children(node))
    return sorted(nodes)


def fold_round(
    betting: BettingTree,
    nodes: Sequence[int],
    leaf: Callable[[int], Any],
    dealt: Callable[[int], Any],
    share: Callable[[int, int], Any],
) -> dict[int, Any]:
    """Return the values of the nodes of a round, folded up from its ends.

    `nodes` are those of `same_round`. `leaf` gives the value of a node where the hand ends, `dealt`
    that of the opening of the next round before its cards are dealt, and `share` the probability of
    the action to a child, from the child and its actor. All are numbers or arrays that broadcast.
    """
    found: dict[int, Any] = {}
    for node in reversed(nodes):
        children = betting.children(node)
        if not children:
            found[node] = leaf(node)
        elif betting.kind[node] == NodeKind.ROUND_END:
            found[node] = dealt(children[0])
        else:
            actor = int(betting.player[node])
            found[node] = sum(share(child, actor) * found[child] for child in children)
    return found


def check_deal(hand: HandState, rules: GameRules) -> None:
    """Raise `InvalidValueError` if a hand was not dealt by these rules."""
    if _deal_of(hand.rules) != _deal_of(rules):
        raise InvalidValueError(
            f"a hand of {hand.rules.name} cannot be found in {rules.name}", value=str(hand)
        )


def seen_hole(hand: HandState, player: int) -> Cards:
    """Return the cards of a player; raise `InvalidValueError` if they are hidden."""
    hole = hand.deal.holes[player]
    if not hole:
        raise InvalidValueError(
            f"player {player}'s cards are hidden and its strategy is unknown; give one of them",
            value=player,
        )
    return hole


def _deal_of(rules: GameRules) -> tuple[object, ...]:
    """Return the rules that must agree for the cards and chips of two games to be the same."""
    deal = (rules.deck, rules.num_hole_cards, rules.num_board_cards, rules.ranking)
    return (*deal, rules.rollout_cards, rules.blinds, rules.raise_sizes)
