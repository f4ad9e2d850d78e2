"""A strategy at one node: the actions of every hand, and how often the hand gets there.

`node_strategy` asks any strategy of `strategies.played`; spots answer with values and equities too
(`strategies.spot_report`). What displays a node needs nothing else.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import NUM_CARDS, Cards, card_name, cards_name, parse_cards
from equilibrist.cards.hand import NUM_CLASSES, NUM_HANDS, class_table, hand_name, hand_table
from equilibrist.errors import CardError, InvalidValueError
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.words import action_labels, node_words, seat_name
from equilibrist.kernels.cpu.sequence_form import realize
from equilibrist.kernels.treeplex import block
from equilibrist.models.game import Floats
from equilibrist.models.subgame import compatible
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.behaviour_table import BehaviourTable, no_decision, parse_board
from equilibrist.strategies.played import BucketColumns, RealStrategy, TableStrategy
from equilibrist.strategies.seat_tables import hand_numbers


class HandClasses(NamedTuple):
    """A node by the 169 classes of hands."""

    num_possible: NDArray[np.int64]  # [169] hands that neither board nor deck rules out
    weight: Floats  # [169] mean over the possible hands
    frequency: Floats  # [169, A] of each action, hands by their weight


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeStrategy:
    """Decision of N hands that the player to act may hold × A actions.

    Amounts are chips or, in a spot, in the unit of the spot.
    """

    rules: GameRules
    node: str  # the betting so far, as it is asked for
    words: str  # the betting so far, as players say it; empty at the first decision
    board: str
    player: int
    pot: float
    to_call: float
    actions: tuple[str, ...]  # c, f, or r and chips
    action_words: tuple[str, ...]  # such as check, call 60, bet 120
    hands: NDArray[np.int64]  # [N] numbers of the hands
    weight: NDArray[np.float64]  # [N] probability that the player has the hand and plays it to here
    share: NDArray[np.float64]  # [N] weight times that of the opponent's possible hands; sums to 1
    probabilities: NDArray[np.float64]  # [N, A] probability of each action

    @property
    def seat(self) -> str:
        """The player to act in words, such as `player 1 (the dealer)`."""
        return f"player {self.player} ({seat_name(self.rules, self.player)})"

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Frequency of each action over all hands: [A]."""
        return self.share @ self.probabilities

    def by_class(self) -> HandClasses:
        """Return the node by classes of hands; only games with two cards have them.

        Where a class never arrives, its frequencies are the mean of its hands.
        """
        classes = class_table()[self.hands]
        live = _live(self.rules, parse_cards(self.board))
        num_possible = np.bincount(class_table()[live], minlength=NUM_CLASSES)
        total = np.bincount(classes, self.weight, NUM_CLASSES)
        weight = np.where(total[classes] > 0, self.weight, 1.0)
        size = np.bincount(classes, weight, NUM_CLASSES)
        taken = [np.bincount(classes, weight * own, NUM_CLASSES) for own in self.probabilities.T]
        return HandClasses(
            num_possible,
            total / np.maximum(num_possible, 1),
            np.stack(taken, axis=1) / np.where(size > 0, size, 1)[:, None],
        )

    def place_of(self, text: str) -> int:
        """Return the place of a hand, such as AhKd, in `hands`; raise an error if it is not there.

        Each error says what is wrong: the text, the deck, the board, or a hand that never comes.
        """
        cards, wanted = parse_cards(text), self.rules.num_hole_cards
        if len(cards) != wanted:
            number = "one card" if wanted == 1 else f"{wanted} cards"
            raise CardError(
                f"{text!r} is not a hand of {self.rules.name}, which has {number}, such as "
                f"{cards_name(self.rules.deck.cards[: -wanted - 1 : -1])}",
                value=text,
            )
        for card in cards:
            if card not in self.rules.deck:
                raise CardError(
                    f"{cards_name([card])} is not in the deck of {self.rules.name}", value=text
                )
            if card in parse_cards(self.board):
                raise CardError(f"{cards_name([card])} is on the board {self.board}", value=text)
        place = np.flatnonzero(self.hands == hand_numbers(np.array([cards], np.uint8))[0])
        if not len(place):
            raise InvalidValueError(
                f"{cards_name(cards)} is not among the {len(self.hands):,} hands that reach this "
                "node",
                value=text,
            )
        return int(place[0])

    def alike(self) -> list[list[int]]:
        """Return places of hands in groups that differ by suits only and play alike.

        The highest hand is the first of its group; two-card hands come in descending order.
        """
        cards = _hand_cards(self.rules)[self.hands]
        kinds = class_table()[self.hands] if cards.shape[1] == 2 else cards[:, 0] >> 2
        keys = np.column_stack([kinds, np.round(self._numbers(), 9) + 0.0])
        groups: dict[bytes, list[int]] = {}
        for place in reversed(range(len(self.hands))):
            groups.setdefault(keys[place].tobytes(), []).append(place)
        found = list(groups.values())
        return found if cards.shape[1] == 2 else found[::-1]

    def _numbers(self) -> Floats:
        """Return the numbers of each hand: [N, …]."""
        return np.column_stack([self.weight, self.probabilities])

    def hand_name(self, place: int) -> str:
        """Return the cards of a hand by its place, higher card first."""
        return _hand_names(self.rules.num_hole_cards)[self.hands[place]]


def node_strategy(strategy: RealStrategy, node: str = "", board: str = "") -> NodeStrategy:
    """Return what a strategy does with each hand at a node and on a board.

    `node` is the betting so far (`BettingTree.parse`), `board` all cards on the table.

    Example:
        >>> from equilibrist.games.betting_tree import BettingTree
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.strategies.played import FixedMix
        >>> mix = FixedMix(BettingTree.build(get_game("holdem-limit")), (0.1, 0.6, 0.3))
        >>> found = node_strategy(mix, "cr")
        >>> found.words, found.action_words, found.pot
        ('call, raise to 20', ('fold', 'call 10', 'raise to 30'), 30)
        >>> len(found.hands), round(float(found.weight[0]), 12), found.frequencies.round(9).tolist()
        (1326, 0.6, [0.1, 0.6, 0.3])
    """
    tree = strategy.tree
    v = tree.parse(node)
    if tree.kind[v] != NodeKind.DECISION:
        raise no_decision(tree, v)
    player, rules = int(tree.player[v]), tree.rules
    cards = parse_board(rules, int(tree.round[v]), board)
    live = _live(rules, cards)
    hands = np.flatnonzero(live)
    own, other = (reach(strategy, v, cards, seat) * live for seat in (player, 1 - player))
    everything = live.astype(np.float64)
    share = own * compatible(_hand_cards(rules), other if other.any() else everything)
    share = share if share.any() else everything
    names = tree.name(v)
    return NodeStrategy(
        rules=rules,
        node=names,
        words=node_words(tree, v),
        board=cards_name(cards),
        player=player,
        pot=int(tree.spent[v].sum()),
        to_call=int(tree.spent[v].max() - tree.spent[v, player]),
        actions=tuple(map(tree.step, tree.children(v))),
        action_words=action_labels(tree, v),
        hands=hands,
        weight=own[hands],
        share=share[hands] / share.sum(),
        probabilities=strategy.probabilities(v, cards)[:, hands].T,
    )


def reach(strategy: RealStrategy, node: int, board: Cards, player: int) -> NDArray[np.float64]:
    """Return the probability that a player's own actions lead to a node, with each hand: [H]."""
    tree = strategy.tree
    found = np.ones(len(_hand_cards(tree.rules)))
    for above, below in itertools.pairwise(tree.path(node)):
        if tree.kind[above] == NodeKind.DECISION and tree.player[above] == player:
            seen = board[: tree.rules.board_cards_by(int(tree.round[above]))]
            action = below - tree.children(above).start
            found *= strategy.probabilities(above, seen)[action]
    return found


def bucket_behaviour(strategy: TableStrategy, node: str = "") -> BehaviourTable:
    """Return what a strategy of buckets does with each bucket at a node, whatever the board."""
    tree = strategy.tree
    v = tree.parse(node)
    if tree.kind[v] != NodeKind.DECISION:
        raise no_decision(tree, v)
    player, r = int(tree.player[v]), int(tree.round[v])
    place = strategy.place(player, v)
    if strategy.is_glued or not isinstance(strategy.columns, BucketColumns) or place < 0:
        raise InvalidValueError(
            f"{tree.name(v)!r} has no buckets of its own here: give the board", value=node
        )
    rows, own = player_rows(strategy.known, player).row, strategy.trees[player]
    plan = np.empty(len(strategy.behaviour[player]))
    realize(own, strategy.behaviour[player] / np.float64(strategy.sure), plan)
    s = r - tree.first_round
    children = [strategy.known.same_child(place, tree, child) for child in tree.children(v)]
    played, width = strategy.table(player, r), int(own.num_states[int(own.board_start[s])])
    nothing = np.zeros(width)  # a raise beyond the strategy's caps
    return BehaviourTable(
        node=tree.name(v),
        board="",
        player=player,
        hands=tuple(f"bucket {bucket}" for bucket in range(width)),
        actions=tuple(map(tree.step, tree.children(v))),
        probabilities=np.stack(
            [nothing if child is None else played[rows[child]] for child in children], axis=1
        ),
        reach=block(own, s, int(own.board_start[s]), plan)[rows[place]].astype(np.float64),
    )


def _hand_cards(rules: GameRules) -> NDArray[np.uint8]:
    """Return the cards of every hand of 52 cards: [H, 1 or 2]."""
    return hand_table() if rules.num_hole_cards == 2 else np.arange(52, dtype=np.uint8)[:, None]


@functools.cache
def _hand_names(num_cards: int) -> tuple[str, ...]:
    """Return the names of all hands of 52 cards, with one or two cards each."""
    if num_cards == 2:
        return tuple(map(hand_name, range(NUM_HANDS)))
    return tuple(map(card_name, range(NUM_CARDS)))


def _live(rules: GameRules, board: Cards) -> NDArray[np.bool_]:
    """Return which hands the deck has and the board does not block: [H]."""
    left = [card for card in rules.deck.cards if card not in board]
    return np.asarray(np.isin(_hand_cards(rules), left).all(axis=1))
