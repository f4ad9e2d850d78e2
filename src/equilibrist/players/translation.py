"""Translation between the betting at the table and a strategy's own betting tree.

A strategy has few bet sizes; the table allows all. A raise of the share x of the pot (after
calling) between two of its sizes A < B is read as A with the probability

    f(x) = (B − x)(1 + A) / ((B − A)(1 + x)),

the *pseudo-harmonic mapping* (Ganzfried and Sandholm, "Action Translation in Extensive-Form Games
with Large Action Spaces", 2013): a player that calls A with probability 1 / (1 + A), and B
likewise, then calls x with probability 1 / (1 + x), so that bluffs gain nothing. Below the smallest
size, A = 0 stands for a call; a raise above the largest size is read as the largest. A raise that
is read as a call, or that the tree does not have, is called, and the hand continues as if it had
not happened (BigBot2298's rule, see `strategy_player`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from equilibrist.games.action import CALL, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind

# Function of a node, the betting before a raise, the raise, and its place in the hand: the child of
# the node that the raise is read as, or None for a call.
ReadRaise: TypeAlias = Callable[[int, Betting, Action, int], int | None]


def pseudo_harmonic(share: float, small: float, large: float) -> float:
    """Return the probability that a raise is read as the smaller of two sizes around it.

    `share`, `small` and `large` are shares of the pot.

    Example:
        >>> [round(pseudo_harmonic(share, 0.5, 1.0), 3) for share in (0.5, 5 / 7, 1.0)]
        [1.0, 0.5, 0.0]
    """
    return (large - share) * (1 + small) / ((large - small) * (1 + share))


def find_node(tree: BettingTree, betting: Betting, read: ReadRaise | None = None) -> int | None:
    """Return the actor's decision node in a tree, or None where the strategy can only call.

    A raise that the tree does not have counts as a call, and so do the actions after it in the
    round. Limit raises need no translation; `read` translates no-limit raises. If the tree is
    all-in and the table is not, the strategy calls as well. Rounds before the tree's first round
    are skipped.

    Example:
        >>> from equilibrist.games.action import RAISE
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("leduc"), BetMenu.parse(None, None, "1 1"))
        >>> betting = Betting.start(get_game("leduc")).apply(RAISE).apply(RAISE)
        >>> find_node(tree, betting) is None, tree.name(find_node(tree, betting.apply(CALL)))
        (True, 'rc/')
    """
    node, is_extra, place = 0, False, 0
    now = None if read is None else Betting.start(betting.rules)
    for r, actions in enumerate(betting.history):
        is_extra = False
        for action in actions:
            # Otherwise it answers an extra raise, or comes before the tree's first round.
            if tree.kind[node] == NodeKind.DECISION and r >= tree.first_round:
                child = None
                if not is_extra and now is not None and read is not None and action.kind == "r":
                    child = read(node, now, action, place)
                elif not is_extra:
                    child = tree.child(node, action.kind)
                is_extra |= child is None
                called = tree.child(node, "c") if child is None else child
                node = node if called is None else called
            now = None if now is None else now.apply(action)
            place += 1
        if tree.first_round <= r < len(betting.history) - 1:
            if not tree.children(node):
                return None
            node = tree.children(node)[0]
    return None if is_extra or tree.kind[node] != NodeKind.DECISION else node


def read_raise(
    tree: BettingTree, node: int, before: Betting, action: Action, drawn: float
) -> int | None:
    """Return the child of a node that a no-limit raise is read as, or None for a call.

    `drawn` is a random number from [0, 1); `before` is the betting at the table before the raise.
    """
    total = 0.0
    for child, probability in (found := readings(tree, node, before, action)):
        total += probability
        if drawn < total:
            return child
    return found[-1][0]


def readings(
    tree: BettingTree, node: int, before: Betting, action: Action
) -> list[tuple[int | None, float]]:
    """Return the children of a node that a raise can be read as, with their probabilities.

    None stands for a call. `before` is the betting at the table before the raise.
    """
    share = pot_share(before, action)
    sizes = sorted((_tree_share(tree, node, child), child) for child in _raises(tree, node))
    below: tuple[float, int | None] = (0.0, None)
    for size, child in sizes:
        if share < size:
            smaller = pseudo_harmonic(share, below[0], size)
            return [(below[1], smaller), (child, 1 - smaller)]
        below = (size, child)
    return [(below[1], 1.0)]


def nearest_raise(tree: BettingTree, node: int, before: Betting, action: Action) -> int | None:
    """Return the raise of a node nearest to a raise in pot shares, or None if it has no raise."""
    share = pot_share(before, action)
    children = _raises(tree, node)
    return min(children, key=lambda c: abs(_tree_share(tree, node, c) - share), default=None)


def real_action(tree: BettingTree, child: int, betting: Betting) -> Action:
    """Translate the action that leads to a child of a tree into a legal action at the table.

    Raises keep their share of the pot; all-in in the tree is all-in at the table.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> game = get_game("holdem-nolimit")
        >>> tree = BettingTree.build(game, BetMenu.parse("100%", None, "1"))
        >>> table = Betting.start(game).apply(raise_to(250)).apply(CALL)  # the tree has r300
        >>> real_action(tree, tree.parse("r300c/r900"), table)
        Action(kind='r', amount=750, card=None)
    """
    action = tree.action(child) or CALL
    if action.kind != "r" or betting.rules.is_limit:
        return action if betting.can(action) else CALL
    if not betting.can_raise:
        return CALL
    node = int(tree.parent[child])
    if tuple(tree.spent[node].tolist()) == betting.spent:
        total = action.amount
    elif action.amount >= min(tree.rules.stack_chips):
        total = betting.max_matched_to
    else:
        pot = betting.pot + betting.to_call
        total = max(betting.spent) + round(_tree_share(tree, node, child) * pot)
    return raise_to(min(max(total, betting.min_raise_to), betting.max_raise_to))


def pot_share(before: Betting, action: Action) -> float:
    """Return the share of the pot, after calling, that a no-limit raise adds.

    Chips that the opponent cannot match do not count.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> pot_share(Betting.start(get_game("holdem-nolimit")), raise_to(300))
        1.0
    """
    total = min(action.amount, max(before.max_matched_to, before.min_raise_to))
    return (total - max(before.spent)) / max(1, before.pot + before.to_call)


def _raises(tree: BettingTree, node: int) -> list[int]:
    return [child for child in tree.children(node) if tree.action_kind[child] == ord("r")]


def _tree_share(tree: BettingTree, node: int, child: int) -> float:
    """Return the share of the pot, after calling, that a raise of the tree adds."""
    spent = tree.spent[node].tolist()
    called = max(spent)
    pot = sum(spent) + called - spent[tree.player[node]]
    return (int(tree.action_amount[child]) - called) / max(1, pot)
