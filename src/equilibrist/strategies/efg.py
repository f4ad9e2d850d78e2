"""Export of small games to Gambit's extensive-form files (`.efg`), which other solvers read.

A file has one line per node, in prefix order:

    EFG 2 R "kuhn" { "player 0" "player 1" }
        c "" 1 "deal" { "Qs|Ks" 1/6 … } 0      cards are dealt, with exact probabilities
    p "" 1 1 "Qs" { "c" "r" } 0            a decision: player, number and name of an infoset
    t "" 1 "" { -1 1 }                     chips that both players win

Information sets are named by cards, board and betting (`Ks Qh crc/`; `Ks x2` is one of two
equivalent hands). Where a model merges cards, a showdown pays the mean over them. Source: the
Gambit manual, "The extensive game (.efg) file format".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import cards_name
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import board_matrices, parents_of
from equilibrist.models.game import SequenceGame

MOST_NODES = 200_000
_LARGEST_DENOMINATOR = 10**6  # floats represent simple fractions below it exactly


def to_efg(game: SequenceGame, most_nodes: int = MOST_NODES) -> str:
    """Return the text of a game's `.efg` file, with probabilities and payoffs (chips) as fractions.

    Raises `InvalidValueError` for a game without a betting tree and cards, and for a game with more
    than `most_nodes` nodes.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> lines = to_efg(exact_game(get_game("kuhn"))).splitlines()
        >>> len(lines), lines[0]
        (57, 'EFG 2 R "kuhn" { "player 0" "player 1" }')
        >>> lines[3:6]
        ['p "" 1 1 "Qs" { "c" "r" } 0', 'p "" 2 1 "Ks c" { "c" "r" } 0', 't "" 1 "" { -1 1 }']
    """
    if game.betting is None or game.states is None:
        raise InvalidValueError(
            f"{game.name} has no betting tree and cards to write as an .efg file", value=game.name
        )
    writer = _Writer(game, game.betting, most_nodes)
    title = game.name.replace("\\", "/").replace('"', "'")
    lines = [f'EFG 2 R "{title}" {{ "player 0" "player 1" }}', '""']
    lines += writer.deal(0, _Cards(-1, (0, 0)))
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class _Cards:
    """Cards dealt so far: a board, −1 before the first, and both players' states on it."""

    board: int
    states: tuple[int, int]


@dataclass(eq=False)
class _Writer:
    """Writer of an `.efg` file, with counts of its lines and numbers of its information sets."""

    game: SequenceGame
    betting: BettingTree
    most_nodes: int
    num_nodes: int = 0
    num_chance_nodes: int = 0
    num_leaves: int = 0
    numbers: tuple[dict[Any, int], ...] = field(default_factory=lambda: ({}, {}))
    matrices: dict[int, tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=dict)
    names: dict[int, list[str]] = field(default_factory=dict)

    def deal(self, node: int, above: _Cards) -> Iterator[str]:
        """Yield the lines of the deal where a round opens at a node, and of all that follows."""
        probabilities = dict(self._deals(int(self.betting.round[node]), above))
        if sum(probabilities.values()) != 1:
            raise InvalidValueError(
                f"the probabilities of {self.game.name}'s deals are not simple fractions",
                value=above,
            )
        if len(probabilities) > 1:
            self._count()
            self.num_chance_nodes += 1
            shown = " ".join(
                f'"{self._deal_name(cards)}" {p}' for cards, p in probabilities.items()
            )
            yield f'c "" {self.num_chance_nodes} "deal" {{ {shown} }} 0'
        for cards in probabilities:
            yield from self.play(node, cards)

    def play(self, node: int, cards: _Cards) -> Iterator[str]:
        """Yield the lines of a node of the betting tree and of everything below it."""
        kind = self.betting.kind[node]
        children = self.betting.children(node)
        if kind == NodeKind.ROUND_END:
            if not children:
                raise InvalidValueError(
                    f"{self.game.name} leaves rounds out, so its hands do not end",
                    value=self.game.name,
                )
            yield from self.deal(children[0], cards)
            return
        self._count()
        if kind != NodeKind.DECISION:
            payoff = self._payoff(node, cards)
            self.num_leaves += 1
            yield f't "" {self.num_leaves} "" {{ {payoff} {-payoff} }}'
            return
        yield self._decision(node, cards, children)
        for child in children:
            yield from self.play(child, cards)

    def _decision(self, node: int, cards: _Cards, children: range) -> str:
        player = int(self.betting.player[node])
        key = (node, cards.board, cards.states[player])
        number = self.numbers[player].setdefault(key, len(self.numbers[player]) + 1)
        name = f"{self._seen(cards, player)} {self.betting.name(node)}".rstrip()
        shown = " ".join(f'"{self.betting.step(child)}"' for child in children)
        return f'p "" {player + 1} {number} "{name}" {{ {shown} }} 0'

    def _payoff(self, node: int, cards: _Cards) -> Fraction:
        """Return the chips that player 0 wins at the end of a hand."""
        spent = self.betting.spent[node]
        if self.betting.kind[node] == NodeKind.FOLD:
            folder = int(self.betting.player[node])
            return Fraction(int(spent[folder]) * (1 if folder == 1 else -1))
        joint, win = self._matrices(cards.board)
        return int(spent.min()) * _fraction(win[cards.states] / joint[cards.states])

    def _deals(self, r: int, above: _Cards) -> Iterator[tuple[_Cards, Fraction]]:
        """Yield what can be dealt in a round, given earlier deals, with its probability."""
        first, second = self.game.trees
        total = 1.0
        boards = range(int(first.board_start[0]), int(first.board_start[1]))
        if above.board >= 0:
            total = self._matrices(above.board)[0][above.states]
            boards = range(*first.child_start[above.board : above.board + 2].tolist())
        for board in boards:
            joint, _ = self._matrices(board)
            mine = parents_of(first, board) == above.states[0]
            theirs = parents_of(second, board) == above.states[1]
            for i, j in np.argwhere((joint > 0) & mine[:, None] & theirs).tolist():
                yield _Cards(board, (i, j)), _fraction(joint[i, j] / total)

    def _matrices(self, board: int) -> tuple[NDArray[Any], NDArray[Any]]:
        if board not in self.matrices:
            self.matrices[board] = board_matrices(*self.game.trees, self.game.pairs, board)
        return self.matrices[board]

    def _seen(self, cards: _Cards, player: int) -> str:
        """Return a name of the cards that a player sees."""
        assert self.game.states is not None
        start = self.game.trees[0].board_start
        r = int(np.searchsorted(start, cards.board, side="right")) - 1
        b = cards.board - int(start[r])
        if cards.board not in self.names:
            names = self.game.states.names(r, b)
            self.names[cards.board] = [name.replace("×", "x") for name in names]
        board = cards_name(self.game.states.boards[r][b])
        return " ".join(filter(None, [self.names[cards.board][cards.states[player]], board]))

    def _deal_name(self, cards: _Cards) -> str:
        return f"{self._seen(cards, 0)}|{self._seen(cards, 1)}"

    def _count(self) -> None:
        self.num_nodes += 1
        if self.num_nodes > self.most_nodes:
            raise InvalidValueError(
                f"{self.game.name} has more than {self.most_nodes:,} nodes with its cards; "
                "write a smaller game or increase most_nodes",
                value=self.most_nodes,
            )


def _fraction(number: float) -> Fraction:
    return Fraction(float(number)).limit_denominator(_LARGEST_DENOMINATOR)
