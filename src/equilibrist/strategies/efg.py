"""Small games as Gambit's extensive-form files (`.efg`), and strategies as its profiles.

An `.efg` file has one line per node, in prefix order:

    EFG 2 R "kuhn" { "player 0" "player 1" }
        c "" 1 "deal" { "Qs|Ks" 1/6 … } 0      cards are dealt, with exact probabilities
    p "" 1 1 "Qs" { "c" "r" } 0            a decision: player, number and name of an infoset
    t "" 1 "" { -1 1 }                     chips that both players win

Information sets are named by cards, board and betting (`Ks Qh crc/`; `Ks x2` is one of two
equivalent hands). Where a model merges cards, a showdown pays the mean over them. Source: the
Gambit manual, "The extensive game (.efg) file format".

A profile is the line that Gambit's solvers print for an equilibrium of such a file: `NE` and the
probability of every action, by player, information set (in the order of their numbers) and action,
as decimals or fractions:

    NE,2/3,1/3,1,0,0,1,…
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import cards_name
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import block, board_matrices, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.openspiel import checked_probabilities

MOST_NODES = 200_000
_LONGEST_NUMBER = 400  # characters
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
    return "\n".join([*_written(game, most_nodes)[1], ""])


def profile_text(
    game: SequenceGame, plans: tuple[Floats, Floats], most_nodes: int = MOST_NODES
) -> str:
    """Return a strategy of both players as a profile of the game's `.efg` file.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> uniform = (kuhn.realize(0, kuhn.uniform(0)), kuhn.realize(1, kuhn.uniform(1)))
        >>> profile_text(kuhn, uniform)[:15]
        'NE,0.5,0.5,0.5,'
    """
    behaviour = [game.behaviour(player, np.asarray(plans[player])) for player in (0, 1)]
    numbers = [
        share
        for place in _infosets(game, most_nodes)
        for share in place.shares(game, behaviour).tolist()
    ]
    return ",".join(["NE", *(f"{number:.17g}" for number in numbers)]) + "\n"


def parse_profile(
    game: SequenceGame, text: str, most_nodes: int = MOST_NODES
) -> tuple[Floats, Floats]:
    """Return the plans of a profile, the first one if the text has several.

    Raises `ParseError` for a text that is not a profile of the game's `.efg` file.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> parse_profile(kuhn, "NE," + ",".join(["1/4,3/4"] * 12))[0][3:9].tolist()
        [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]
    """
    line = next((line for line in text.splitlines() if line.strip()), "")
    words = [word.strip() for word in line.split(",")]
    if words[0] != "NE":
        raise ParseError(
            "a Gambit profile must be a line NE,p,p,… with the probability of every action",
            value=line[:40],
        )
    places = _infosets(game, most_nodes)
    num_actions = sum(place.size for place in places)
    if len(words) - 1 != num_actions:
        raise ParseError(
            f"the profile has {len(words) - 1:,} probabilities, but {game.name} has "
            f"{num_actions:,} actions: it is cut short or of another game",
            value=len(words) - 1,
        )
    behaviour = [game.uniform(player) for player in (0, 1)]
    done = 1
    for number, place in enumerate(places, start=1):
        given = [_number(word) for word in words[done : done + place.size]]
        shares = checked_probabilities(given, f"information set {number} of the file")
        place.shares(game, behaviour)[:] = shares
        done += place.size
    return game.realize(0, behaviour[0]), game.realize(1, behaviour[1])


class _Infoset(NamedTuple):
    """Place of an information set in behaviours."""

    player: int
    r: int
    board: int
    state: int
    first: int  # row of its first action
    size: int  # number of actions

    def shares(self, game: SequenceGame, behaviour: list[Floats]) -> Floats:
        """Return the view of its actions' probabilities: [A]."""
        own = block(game.trees[self.player], self.r, self.board, behaviour[self.player])
        return own[self.first : self.first + self.size, self.state]


def _written(game: SequenceGame, most_nodes: int) -> tuple[_Writer, list[str]]:
    """Return the lines of a game's file, and the writer, which knows its information sets."""
    if game.betting is None or game.states is None:
        raise InvalidValueError(
            f"{game.name} has no betting tree and cards to write as an .efg file", value=game.name
        )
    writer = _Writer(game, game.betting, most_nodes)
    title = game.name.replace("\\", "/").replace('"', "'")
    lines = [f'EFG 2 R "{title}" {{ "player 0" "player 1" }}', '""']
    return writer, [*lines, *writer.deal(0, _Cards(-1, (0, 0)))]


def _infosets(game: SequenceGame, most_nodes: int) -> list[_Infoset]:
    """Return the information sets of a game's file as Gambit orders them."""
    writer, found = _written(game, most_nodes)[0], []
    for player in (0, 1):
        row = player_rows(writer.betting, player).row
        for node, board, state in writer.numbers[player]:
            children, r = writer.betting.children(node), int(writer.betting.round[node])
            first = int(row[children[0]])
            found.append(_Infoset(player, r, board, state, first, len(children)))
    return found


def _number(word: str) -> float:
    """Return the number of a decimal or a fraction; NaN if it is neither."""
    if len(word) > _LONGEST_NUMBER:
        return math.nan
    try:
        return float(Fraction(word)) if "/" in word else float(word)
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan


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
