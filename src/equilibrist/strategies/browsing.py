"""The way to a node of any strategy as steps, each with the actions that were possible there.

A page or a program that walks through a strategy asks `report_at` for a node and `betting_line` for
the way to it. Both take the names of nodes that the strategy itself uses: a spot counts the chips
of a street (`cr120`), or its big blinds, any other strategy the chips of the hand.
"""

from __future__ import annotations

from typing import NamedTuple

from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.words import action_labels, round_name, seat_name
from equilibrist.models.money import Unit
from equilibrist.strategies.node_strategy import NodeStrategy, node_strategy
from equilibrist.strategies.played import RealStrategy
from equilibrist.strategies.spot_report import SEATS, Answers


class LineAction(NamedTuple):
    """An action at a step of a line."""

    name: str  # as in names of nodes
    words: str
    node: str  # the next decision; if there is none, the node where the hand ends
    ends: str  # why no decision follows: fold, showdown, or "not solved" if the strategy ends here
    is_taken: bool


class LineStep(NamedTuple):
    """A decision on the way to a node, or the node itself."""

    node: str
    round: str  # in words, such as flop
    player: int
    seat: str  # in words
    pot: float  # before the decision, in chips or in the unit of the spot
    num_board: int  # board cards on the table
    actions: tuple[LineAction, ...]


def report_at(strategy: RealStrategy, node: str = "", board: str = "") -> NodeStrategy:
    """Return what a strategy does with each hand at a node; a spot also says what it is worth.

    `board` is all cards on the table; a spot needs only those dealt since its start.
    """
    if isinstance(strategy, Answers):
        return strategy.on(node, board)
    return node_strategy(strategy, node, board)


def betting_line(strategy: RealStrategy, node: str = "") -> tuple[LineStep, ...]:
    """Return the decisions on the way to a node, the one at the node last.

    At the end of a street the first decision of the next street is the last step; at the end of a
    hand it is the decision that ended it. Raises `RecordError` if there is no such node.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.strategies.played import FixedMix
        >>> mix = FixedMix(BettingTree.build(get_game("holdem-limit")), None)
        >>> for step in betting_line(mix, "rc"):
        ...     print(step.round, step.seat, [action.words for action in step.actions])
        preflop the dealer ['fold', 'call 5', 'raise to 20']
        preflop the big blind ['fold', 'call 10', 'raise to 30']
        flop the big blind ['check', 'bet 10']
    """
    tree = strategy.tree
    find = strategy.spot.find if isinstance(strategy, Answers) else tree.parse
    last = next_decision(tree, find(node))
    path = list(tree.path(last))
    decisions = [v for v in path if tree.kind[v] == NodeKind.DECISION]
    if not decisions:
        raise InvalidValueError(f"nobody acts before {node!r}", value=node)
    return tuple(_step(strategy, v, {*path}) for v in decisions)


def next_decision(tree: BettingTree, node: int) -> int:
    """Return the decision that follows a node through ends of streets, or the end of the hand."""
    while tree.kind[node] == NodeKind.ROUND_END and tree.num_children[node]:
        node = int(tree.first_child[node])
    return node


def _step(strategy: RealStrategy, v: int, path: set[int]) -> LineStep:
    tree, player = strategy.tree, int(strategy.tree.player[v])
    unit = strategy.spot.money if isinstance(strategy, Answers) else Unit()
    labels = action_labels(tree, v, unit.words)
    name = strategy.spot.names.__getitem__ if isinstance(strategy, Answers) else tree.name
    actions = []
    for child, words in zip(tree.children(v), labels, strict=True):
        after = next_decision(tree, child)
        actions.append(
            LineAction(
                name(child).removeprefix(name(v)),
                words,
                name(after),
                _ENDS.get(NodeKind(tree.kind[after]), ""),
                child in path,
            )
        )
    r = int(tree.round[v])
    return LineStep(
        node=name(v),
        round=round_name(tree.rules, r),
        player=player,
        seat=SEATS[player] if isinstance(strategy, Answers) else seat_name(tree.rules, player),
        pot=unit.amount(int(tree.spent[v].sum())),
        num_board=tree.rules.board_cards_by(r),
        actions=tuple(actions),
    )


_ENDS = {
    NodeKind.FOLD: "fold",
    NodeKind.SHOWDOWN: "showdown",
    NodeKind.ROUND_END: "not solved",
}
