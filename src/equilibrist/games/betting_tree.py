"""The betting tree of a game, or of some of its rounds, as flat arrays.

Nodes are numbered round by round and, within a round, breadth first, so parents come before their
children, the children of a node are contiguous, and so are the nodes of a round. The tree has no
cards: at a `ROUND_END` the next board cards are dealt, and its only child opens the next round.
If nobody can act when a round opens (all players are all-in, but a later round has discards), the
opening is a `ROUND_END` too. A tree that *runs out* has such openings after every all-in, so that
all its showdowns are in the last round, with the complete board.

The name of a node is the betting since the root in ACPC's notation: `cr` is a check and a raise,
`crc` the end of that round, `crc/` the opening of the next; no-limit raises give the total chips of
the whole hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError, RecordError
from equilibrist.games.action import Action, action_name
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.phases import phase

MOST_NODES = 2_000_000  # takes half a minute to build
_GAME_MENU = BetMenu()


class NodeKind(IntEnum):
    """The kind of a node: a decision, an end of the hand or an end of a round."""

    DECISION = 0  # `player` chooses among the children
    FOLD = 1  # the hand is over, `player` folded
    SHOWDOWN = 2  # the hand is over and the cards decide; before the last round: all-in
    ROUND_END = 3  # cards are dealt; has no child if the tree omits the later rounds


@dataclass(frozen=True, eq=False)
class BettingTree:
    """A betting tree as a struct of arrays over V nodes and P players; amounts are chips.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("kuhn"))
        >>> [tree.name(node) for node in range(len(tree))]
        ['', 'c', 'r', 'cc', 'cr', 'rf', 'rc', 'crf', 'crc']
    """

    rules: GameRules  # with the raise caps of the menu
    menu: BetMenu
    first_round: int
    last_round: int
    start: Betting  # at the root
    kind: NDArray[np.uint8]  # [V] a NodeKind
    round: NDArray[np.uint8]  # [V] round of the game
    player: NDArray[np.int8]  # [V] the player that decides or that folded; −1 elsewhere
    parent: NDArray[np.int32]  # [V] −1 at the root
    first_child: NDArray[np.int32]  # [V] −1 if the node has no children
    num_children: NDArray[np.int32]  # [V]
    action_kind: NDArray[np.uint8]  # [V] letter of the action that led here; 0 after a deal
    action_amount: NDArray[np.int32]  # [V] total of a no-limit raise, 0 otherwise
    spent: NDArray[np.int32]  # [V, P] chips each player has put in

    @classmethod
    def build(
        cls,
        rules: GameRules,
        menu: BetMenu = _GAME_MENU,
        *,
        first_round: int = 0,
        last_round: int | None = None,
        pot: int | None = None,
        start: Betting | None = None,
        runs_out: bool = False,
        most_nodes: int = MOST_NODES,
    ) -> BettingTree:
        """Build the tree of rounds `first_round` … `last_round`, starting with `pot` chips.

        With a `start`, the tree begins at this decision, in the middle of its round perhaps, and
        goes on by the rules of the start; `first_round` and `pot` are those of the start. Raises
        `InvalidValueError` if the tree has more than `most_nodes` nodes.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> river = BettingTree.build(get_game("holdem-limit"), first_round=3, pot=80)
            >>> len(river), river.spent[0].tolist()
            (27, [40, 40])
        """
        last = rules.num_rounds - 1 if last_round is None else last_round
        first_round = first_round if start is None else start.round
        if not 0 <= first_round <= last < rules.num_rounds:
            raise InvalidValueError(
                f"{rules.name} has rounds 0 to {rules.num_rounds - 1}, "
                f"so it has no tree from round {first_round} to {last}",
                value=last_round,
            )
        rules = menu.limit(rules, first_round, last)
        rows = _Rows(most_nodes)
        if start is None:
            start = Betting.start(rules, first_round, pot)
        root = replace(start, rules=rules)
        level = [(-1, root)]
        for r in range(first_round, last + 1):
            with phase(f"building the betting tree of {rules.name}, round {r + 1}"):
                level = _grow_round(rows, level, menu, r, is_last=r == last, runs_out=runs_out)
        return cls(rules, menu, first_round, last, root, *rows.arrays())

    def __len__(self) -> int:
        return len(self.kind)

    def children(self, node: int) -> range:
        """Return the children of a node."""
        first = int(self.first_child[node])
        return range(first, first + int(self.num_children[node])) if first >= 0 else range(0)

    def child(self, node: int, kind: str) -> int | None:
        """Return the first child reached by an action of the given kind, or None.

        An empty kind selects the node that opens the next round.
        """
        wanted = ord(kind) if kind else 0
        return next((c for c in self.children(node) if self.action_kind[c] == wanted), None)

    def same_child(self, node: int, other: BettingTree, child: int) -> int | None:
        """Return the child of a node reached by the action of a child of another tree, or None.

        Raises of other amounts are other actions. Where a round opens in the other tree, the child
        is the node that opens the next round.
        """
        kind, amount = other.action_kind[child], other.action_amount[child]
        return next(
            (
                own
                for own in self.children(node)
                if self.action_kind[own] == kind and self.action_amount[own] == amount
            ),
            None,
        )

    def action(self, node: int) -> Action | None:
        """Return the action that led to a node; None at the root and where a round opens."""
        letter = int(self.action_kind[node])
        return Action(chr(letter), int(self.action_amount[node])) if letter else None  # type: ignore[arg-type]

    def path(self, node: int) -> Iterator[int]:
        """Return the nodes from the root to a node, both included."""
        if not 0 <= node < len(self):
            raise InvalidValueError(
                f"node {node} is outside the tree's nodes 0 … {len(self) - 1}", value=node
            )
        nodes = [node]
        while nodes[-1] > 0:
            nodes.append(int(self.parent[nodes[-1]]))
        return reversed(nodes)

    def state(self, node: int) -> Betting:
        """Return the betting at a node.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> tree = BettingTree.build(get_game("leduc"))
            >>> tree.state(tree.parse("crc/r")).spent
            (7, 3)
        """
        now = self.start
        for action in map(self.action, self.path(node)):
            now = now if action is None else now.apply(action)
        return now

    def name(self, node: int) -> str:
        """Return the betting from the root to a node as text; the inverse of `parse`."""
        return "".join(map(self.step, self.path(node)))

    def step(self, node: int) -> str:
        """Return the last step of a node's name: an action, `/` (new round) or "" (root)."""
        action = self.action(node)
        return action_name(action) if action is not None else "/" if node > 0 else ""

    def parse(self, name: str) -> int:
        """Return the node with a name; a `RecordError` shows where the name leaves the tree.

        Example:
            >>> from equilibrist.games.catalog import get_game
            >>> tree = BettingTree.build(get_game("leduc"))
            >>> tree.name(tree.parse("crc/r"))
            'crc/r'
        """
        node, at = 0, 0
        while at < len(name):
            end = at + 1
            while end < len(name) and name[end].isascii() and name[end].isdigit():
                end += 1
            step = name[at:end]
            matching = [child for child in self.children(node) if self.step(child) == step]
            if not matching:
                raise self._no_such_step(name, at, node, step)
            node, at = matching[0], end
        return node

    def nodes(self, kind: NodeKind, round: int | None = None) -> NDArray[np.int64]:
        """Return all nodes of a kind, optionally of one round only."""
        chosen = self.kind == kind
        if round is not None:
            chosen &= self.round == round
        return np.flatnonzero(chosen)

    def counts(self, kind: NodeKind) -> list[int]:
        """Return the number of nodes of a kind in each round of the tree."""
        return [
            len(self.nodes(kind, round)) for round in range(self.first_round, self.last_round + 1)
        ]

    def _no_such_step(self, name: str, at: int, node: int, step: str) -> RecordError:
        steps = ", ".join(map(self.step, self.children(node)))
        what = f"{steps} can follow" if steps else "nothing can follow"
        return RecordError(
            f"{step!r} at character {at + 1} of {name[:80]!r} leads nowhere in {self.rules.name}; "
            f"{what} {self.name(node)!r}",
            value=step,
            position=at,
        )


class _Rows:
    """The growing arrays of a tree under construction, one list per field."""

    def __init__(self, most_nodes: int) -> None:
        self.most_nodes = most_nodes
        self.kind: list[int] = []
        self.round: list[int] = []
        self.player: list[int] = []
        self.parent: list[int] = []
        self.first_child: list[int] = []
        self.num_children: list[int] = []
        self.action_kind: list[int] = []
        self.action_amount: list[int] = []
        self.spent: list[tuple[int, ...]] = []

    def add(
        self, parent: int, action: Action | None, betting: Betting, kind: NodeKind, r: int
    ) -> int:
        """Append a node, as the next child of its parent, and return its number."""
        node = len(self.kind)
        if node == self.most_nodes:
            raise InvalidValueError(
                f"the betting tree has more than {self.most_nodes:,} nodes; "
                "allow fewer bet sizes, fewer raises or fewer rounds",
                value=self.most_nodes,
            )
        if parent >= 0:
            if self.num_children[parent] == 0:
                self.first_child[parent] = node
            self.num_children[parent] += 1
        actor = betting.actor if kind is NodeKind.DECISION else None
        if kind is NodeKind.FOLD:
            actor = self.player[parent]
        self.kind.append(kind)
        self.round.append(r)
        self.player.append(-1 if actor is None else actor)
        self.parent.append(parent)
        self.first_child.append(-1)
        self.num_children.append(0)
        self.action_kind.append(0 if action is None else ord(action.kind))
        self.action_amount.append(0 if action is None else action.amount)
        self.spent.append(betting.spent)
        return node

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return the fields of `BettingTree` from `kind` on, in its order."""
        return (
            np.array(self.kind, np.uint8),
            np.array(self.round, np.uint8),
            np.array(self.player, np.int8),
            np.array(self.parent, np.int32),
            np.array(self.first_child, np.int32),
            np.array(self.num_children, np.int32),
            np.array(self.action_kind, np.uint8),
            np.array(self.action_amount, np.int32),
            np.array(self.spent, np.int32),
        )


def _grow_round(
    rows: _Rows,
    roots: list[tuple[int, Betting]],
    menu: BetMenu,
    r: int,
    *,
    is_last: bool,
    runs_out: bool,
) -> list[tuple[int, Betting]]:
    """Add all nodes of round `r` below its opening states; return those of the next round."""
    openings: list[tuple[int, Betting]] = []
    queue: list[tuple[int, Betting]] = []

    def add(parent: int, action: Action | None, betting: Betting) -> None:
        kind = node_kind(betting, r)
        if kind is NodeKind.SHOWDOWN and runs_out and not is_last:
            kind = NodeKind.ROUND_END
        node = rows.add(parent, action, betting, kind, r)
        if kind is NodeKind.DECISION:
            queue.append((node, betting))
        elif kind is NodeKind.ROUND_END and not is_last:
            openings.append((node, betting))

    for parent, betting in roots:
        add(parent, None, betting)
    for node, betting in queue:  # the queue grows during the iteration: breadth first
        for action, following in next_states(betting, menu):
            add(node, action, following)
    return openings


def next_states(betting: Betting, menu: BetMenu) -> list[tuple[Action, Betting]]:
    """Return the actions of a decision that a menu allows, each with the state after it."""
    legal = betting.legal_actions()
    raises = () if legal.raise_to is None else menu.raise_actions(betting)
    return [(action, betting.apply(action)) for action in (*legal.actions, *raises)]


def node_kind(betting: Betting, r: int) -> NodeKind:
    """Return the kind of a state in round `r`; states exist only for rounds with a decision."""
    if betting.is_over:
        return NodeKind.SHOWDOWN if betting.is_showdown else NodeKind.FOLD
    return NodeKind.DECISION if betting.round == r else NodeKind.ROUND_END
