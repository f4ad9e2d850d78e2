"""Counts of a player's actions in recorded hands: data for responses to it (`models.observed`).

A *shown* hand adds 1 to each action that its player took. A *hidden* hand, one that was folded or
mucked, adds a fraction to the action with every hand that its player may have held: its probability
given the board, the other hand if it is known, and all actions of the hand, by Bayes' rule. The
probabilities of actions in it are those counted so far, so counting and distributing alternate
(expectation maximisation, Dempster, Laird and Rubin 1977). Hands that are shown are not a fair
sample, since players show good hands; this is what corrects for it.

Hands in one column of the game are as likely to take its actions, so a hidden hand is kept as the
number of possible hands in each column, and hidden hands with the same numbers are kept once.

Raises beyond the caps of the game are read as its players read them: called and then forgotten.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.streets import Boards
from equilibrist.cards.hand import hand_table
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.kernels.treeplex import block, boards, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.observed import Observed
from equilibrist.models.treeplex import player_rows
from equilibrist.phases import phase
from equilibrist.strategies.played import FixedMix, Mix
from equilibrist.strategies.seat_tables import CardColumns, Columns, hand_numbers

ROUNDS = 8  # times that hidden hands are distributed
_PATIENCE = 1.0  # weight of the default policy while they are
_MOST_TABLES = 2_000  # boards whose columns are kept in memory
_NEEDED = 10  # hands per private state of the first round and seat

Choice: TypeAlias = tuple[int, int]  # round and row of an action


def mix_behaviour(game: SequenceGame, player: int, mix: Mix | None) -> Floats:
    """Return the behaviour [L] of a player that ignores its cards; None: all actions alike.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> mix_behaviour(exact_game(get_game("kuhn")), 0, (0.2, 0.5, 0.3))[3:9].tolist()
        [0.7, 0.7, 0.7, 0.3, 0.3, 0.3]
    """
    assert game.betting is not None
    fixed, tree, out = FixedMix(game.betting, mix), game.trees[player], game.uniform(player)
    for r in range(len(tree.num_sequences)):
        table = fixed.table(player, r)
        for board in boards(tree, r):
            block(tree, r, board, out)[:] = table
    return out


def always_call(game: SequenceGame) -> tuple[Floats, Floats]:
    """Return the usual default policy where nothing was seen: both seats call and never raise."""
    first, second = (mix_behaviour(game, player, (0.0, 1.0, 0.0)) for player in (0, 1))
    return first, second


def hand_columns(game: SequenceGame) -> Columns:
    """Return the columns of hands of an exact game; `InvalidValueError` if it has none."""
    columns = None
    if game.rules is not None and game.states is not None:
        columns = CardColumns.of(game.rules, game.states)
    if columns is None:
        raise InvalidValueError(
            f"the hands of {game.name} cannot be looked up: it has no cards, separates all of "
            "them, or has too many boards",
            value=game.name,
        )
    return columns


def needed_hands(game: SequenceGame) -> int:
    """Return the smallest number of hands from which a response is computed."""
    first, second = (int(tree.num_states[0]) for tree in game.trees)
    return _NEEDED * (first + second)


@dataclass(eq=False)
class Observer:
    """Counts the actions of one player in the hands that it is given.

    `hides` treats hands that did not come to a showdown as hidden even if the record has them.
    """

    game: SequenceGame
    columns: Columns
    name: str  # of the player, as in the records
    hides: bool = False
    hands: int = 0
    _lines: dict[tuple[str, int], _Line] = field(default_factory=dict)
    _tables: dict[tuple[int, ...], NDArray[np.int64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.game.betting is None or not self.game.betting.rules.is_limit:
            raise InvalidValueError(
                f"{self.game.name} is not a limit game, so actions in it are not counted",
                value=self.game.name,
            )

    def see(self, records: Iterable[HandRecord]) -> Iterator[HandRecord]:
        """Count the hands of records, and yield each; raise an error if they are of other games."""
        rules, known = _rules(self.game), None
        for record in records:
            if record.rules is not known:
                _check_rules(record.rules, rules)
                known = record.rules
            if self.name not in record.names:
                raise InvalidValueError(
                    f"no player of the hands is called {self.name[:40]!r}: they are of "
                    f"{' and '.join(record.names)}",
                    value=self.name,
                )
            self._add(record, record.names.index(self.name))
            yield record

    def _add(self, record: HandRecord, seat: int) -> None:
        state, self.hands = record.state, self.hands + 1
        own, other = state.holes[seat], state.holes[1 - seat]
        if self.hides and not state.betting.is_showdown:
            own = ()
        self._line(state.betting, seat).add(own, other, state.deal.board)

    def add_shown(
        self, betting: Betting, seat: int, own: NDArray[np.uint8], board: NDArray[np.uint8]
    ) -> None:
        """Count N hands of the game with the same betting: shown cards [N, h], whole boards."""
        _check_rules(betting.rules, _rules(self.game))
        self.hands += len(own)
        self._line(betting, seat).add_shown(own, board)

    def _line(self, betting: Betting, seat: int) -> _Line:
        key = (betting.text, seat)
        if key not in self._lines:
            self._lines[key] = _Line(self._choices(betting, seat), seat)
        return self._lines[key]

    def _choices(self, betting: Betting, seat: int) -> list[Choice]:
        """Return the rows that the actions of a seat in a line of betting lead to."""
        tree = self.game.betting
        assert tree is not None
        row = player_rows(tree, seat).row
        return [(int(tree.round[v]), int(row[v])) for v in taken(tree, betting, seat)]

    def observed(
        self, default: tuple[Floats, Floats] | None = None, *, needs: int | None = None
    ) -> tuple[Observed, Observed]:
        """Return the counts as player 0 and as player 1.

        `default` is the behaviour of either seat where nothing was seen (default: `always_call`),
        by which hidden hands are first distributed. Raises `InvalidValueError` if fewer hands were
        seen than `needs` (default: `needed_hands`).
        """
        needs = needed_hands(self.game) if needs is None else needs
        if self.hands < needs:
            raise InvalidValueError(
                f"{self.hands:,} hands of {self.name} are too few for a response in "
                f"{self.game.name}: at least {needs:,} are needed",
                value=self.hands,
            )
        policy = always_call(self.game) if default is None else default
        with phase("counting actions"):
            first, second = (self._seat(seat, policy[seat]) for seat in (0, 1))
        return first, second

    def _seat(self, seat: int, policy: Floats) -> Observed:
        lines = [line for line in self._lines.values() if line.seat == seat]
        places = _Places.of(self.game, seat)
        shown = np.zeros(self.game.lengths[seat])
        for line in lines:
            for hands, cards in line.shown(self._size, self._fill):
                self._count(shown, places, line, self.columns.follow(hands, Boards(cards)))
        hands_seen = sum(line.hands for line in lines)
        hidden = [self._hidden(line, places) for line in lines if line.hidden]
        counts = shown
        behaviour = np.full(len(policy), 1.0)  # before anything is known, all hands are as likely
        for _ in range(ROUNDS if hidden else 0):
            counts = shown.copy()
            for held in hidden:
                held.distribute(counts, behaviour)
            behaviour = Observed(seat, counts, hands_seen).behaviour(self.game, policy, _PATIENCE)
        return Observed(seat, counts, hands_seen)

    def _hidden(self, line: _Line, places: _Places) -> _Hidden:
        """Return the possible hands of a line's hidden hands, by column of its last action."""
        rules = _rules(self.game)
        last = max(r for r, _ in line.choices)
        dealt = rules.board_cards_by(last)
        found: dict[tuple[bytes, bytes], list[NDArray[np.int64]]] = {}
        times: dict[tuple[bytes, bytes], int] = {}
        for other, board in line.hidden:
            columns = self._columns_on(board[:dealt], last)[self._free(other, board)]
            held = np.bincount(columns)
            own = np.flatnonzero(held)
            key = own.tobytes(), held[own].tobytes()
            found.setdefault(key, [own, held[own]])
            times[key] = times.get(key, 0) + 1
        own = np.concatenate([columns for columns, _ in found.values()])
        sizes = [len(columns) for columns, _ in found.values()]
        number = np.concatenate([held for _, held in found.values()])
        column = {last: own}
        for r in range(last, 0, -1):
            column[r - 1] = places.parent[r][column[r]]
        return _Hidden(
            [places(r, row, column[r]) for r, row in line.choices],
            np.repeat(np.arange(len(sizes)), sizes),
            number.astype(np.float64),
            np.array(list(times.values()), np.float64),
        )

    def _columns_on(self, board: tuple[int, ...], r: int) -> NDArray[np.int64]:
        """Return the column of each hand on a board of round `r`: [H], any where it is blocked."""
        if board not in self._tables:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            if isinstance(self.columns, Abstraction):
                found = self.columns.buckets(board).astype(np.int64)
            else:
                hands = np.flatnonzero(self._free(board, ()))
                filled = [self._fill(tuple(own), board) for own in self._table[hands].tolist()]
                cards = np.array(filled, np.uint8).reshape(len(hands), -1)
                found = np.zeros(len(self._table), np.int64)
                found[hands] = self.columns.follow(hands, Boards(cards))[r]
            self._tables[board] = found
        return self._tables[board]

    def _free(self, *piles: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return which hands of the deck share no card with some others: [H]."""
        free: NDArray[np.bool_] = self._in_deck.copy()
        for card in itertools.chain(*piles):
            free &= ~self._holds[card]
        return free

    def _count(
        self, counts: Floats, places: _Places, line: _Line, columns: NDArray[np.int32]
    ) -> None:
        for r, row in line.choices:
            np.add.at(counts, places(r, row, columns[r]), 1.0)

    @functools.cached_property
    def _holds(self) -> NDArray[np.bool_]:
        """Return whether each hand has each card: [52, H]."""
        return (self._table[None, :, :] == np.arange(52)[:, None, None]).any(axis=2)

    @functools.cached_property
    def _in_deck(self) -> NDArray[np.bool_]:
        inside = np.ones(len(self._table), np.bool_)
        for card in set(range(52)).difference(_rules(self.game).deck.cards):
            inside &= ~self._holds[card]
        return inside

    @functools.cached_property
    def _table(self) -> NDArray[np.uint8]:
        """All hands of the 52-card deck in the usual order: [H, hole cards]."""
        if self._size == 1:
            return np.arange(52, dtype=np.uint8)[:, None]
        return hand_table()

    @property
    def _size(self) -> int:
        return _rules(self.game).num_hole_cards

    def _fill(self, own: tuple[int, ...], board: tuple[int, ...]) -> tuple[int, ...]:
        """Return a whole board: the cards dealt, and any others."""
        rules = _rules(self.game)
        missing = rules.total_board_cards - len(board)
        if not missing:
            return board
        free = (card for card in rules.deck.cards if card not in own and card not in board)
        return (*board, *(next(free) for _ in range(missing)))


@dataclass(eq=False)
class _Line:
    """Hands with the same betting and seat of the player: its actions, and its cards."""

    choices: list[Choice]
    seat: int
    own: list[tuple[int, ...]] = field(default_factory=list)
    board: list[tuple[int, ...]] = field(default_factory=list)
    hidden: list[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    batches: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = field(default_factory=list)
    hands: int = 0

    def add(self, own: tuple[int, ...], other: tuple[int, ...], board: tuple[int, ...]) -> None:
        """Add a hand; one without actions of the player is only counted."""
        self.hands += 1
        if not self.choices:
            return
        if own:
            self.own.append(own)
            self.board.append(board)
        else:
            self.hidden.append((other, board))

    def add_shown(self, own: NDArray[np.uint8], board: NDArray[np.uint8]) -> None:
        """Add N hands with shown cards [N, h] and whole boards [N, cards]."""
        self.hands += len(own)
        if self.choices:
            self.batches.append((own, board))

    def shown(
        self, size: int, fill: Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, ...]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """Yield the numbers of the shown hands [N] and whole boards [N, cards], in batches."""
        if self.own:
            hands = np.array(self.own, np.uint8).reshape(len(self.own), size)
            cards = [fill(own, board) for own, board in zip(self.own, self.board, strict=True)]
            yield (
                hand_numbers(hands),
                np.array(cards, np.uint8).reshape(len(cards), len(cards[0])),
            )
        if self.batches:
            both = zip(*self.batches, strict=True)
            hands, boards_dealt = (np.concatenate(parts) for parts in both)
            yield hand_numbers(hands), boards_dealt


@dataclass(frozen=True, eq=False)
class _Hidden:
    """Hidden hands of a line of betting, each with the hands that its player may have held."""

    places: list[NDArray[np.int64]]  # [I] of each action of the line: place in the plan
    hand: NDArray[np.int64]  # [I] number of the hidden hand
    held: NDArray[np.float64]  # [I] number of possible hands of that hidden hand there
    times: NDArray[np.float64]  # [N] how often each hidden hand occurred

    def distribute(self, counts: Floats, behaviour: Floats) -> None:
        """Add the actions to `counts` by the probability of each possible hand."""
        weights = self.held.copy()
        for places in self.places:
            weights *= behaviour[places]
        total = np.bincount(self.hand, weights, len(self.times))
        # Actions that no hand takes by this behaviour: all hands are as likely.
        weights = np.where(total[self.hand] > 0, weights, self.held)
        total = np.bincount(self.hand, weights, len(self.times))
        weights *= (self.times / total)[self.hand]
        for places in self.places:
            np.add.at(counts, places, weights)


@dataclass(frozen=True, eq=False)
class _Places:
    """Places in a plan, by round, row and column among the states of all boards of a round."""

    start: list[NDArray[np.int64]]  # by round: place of each column in row 0 of its block
    width: list[NDArray[np.int64]]  # distance between the rows of its block
    parent: list[NDArray[np.int64]]  # column of the round before; empty in the first

    @staticmethod
    def of(game: SequenceGame, player: int) -> _Places:
        """Return the places of a player's plan."""
        tree, starts, widths = game.trees[player], [], []
        parents = [np.zeros(0, np.int64)]
        for r in range(len(tree.num_sequences)):
            own = np.array(boards(tree, r))
            sizes = tree.num_states[own]
            board = np.repeat(own, sizes)
            within = np.arange(len(board)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            starts.append(tree.block_start[board] + within)
            widths.append(tree.num_states[board])
            if r:
                above = tree.board_parent[board]
                first = tree.state_start[above] - tree.state_start[tree.board_start[r - 1]]
                states = np.concatenate([parents_of(tree, b) for b in own.tolist()])
                parents.append(first + states)
        return _Places(starts, widths, parents)

    def __call__(self, r: int, row: int, columns: NDArray[Any]) -> NDArray[np.int64]:
        return self.start[r][columns] + row * self.width[r][columns]


def taken(tree: BettingTree, betting: Betting, seat: int) -> list[int]:
    """Return the nodes of a tree to which the actions of a seat lead, as that seat reads a hand.

    A raise that the tree does not have counts as a call; the answer to one is left out.

    Example:
        >>> from equilibrist.games.action import CALL, RAISE
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("kuhn"))
        >>> betting = Betting.start(get_game("kuhn")).apply(CALL).apply(RAISE).apply(CALL)
        >>> [tree.name(node) for node in taken(tree, betting, 0)]
        ['c', 'crc']
    """
    node, found = 0, []
    now = Betting.start(betting.rules)
    for r, actions in enumerate(betting.history):
        is_extra = False
        for action in actions:
            actor = now.actor
            now = now.apply(action)
            if tree.kind[node] != NodeKind.DECISION or is_extra:
                continue
            child = tree.child(node, action.kind)
            is_extra = child is None and actor != seat
            node = tree.child(node, "c") or node if child is None else child
            if actor == seat:
                found.append(node)
        if r < len(betting.history) - 1:
            if not tree.children(node) or tree.kind[node] == NodeKind.DECISION:
                return found
            node = tree.children(node)[0]
    return found


def _rules(game: SequenceGame) -> GameRules:
    assert game.betting is not None
    return game.betting.rules


def _check_rules(found: GameRules, wanted: GameRules) -> None:
    """Raise `InvalidValueError` unless hands are of the game, apart from its raise caps."""
    ours, theirs = (
        {
            line.partition(" = ")[0]: line.partition(" = ")[2]
            for line in rules_text(rules).splitlines()
            if not line.startswith("maxRaises")
        }
        for rules in (wanted, found)
    )
    if ours == theirs:
        return
    why = ""
    if found.name in (wanted.name, "FT", "NT"):  # the last two: a history that names no game
        key = next(key for key in [*theirs, *ours] if theirs.get(key) != ours.get(key))
        why = f": {key} is {theirs.get(key, 'unlimited')}, not {ours.get(key, 'unlimited')}"
    raise InvalidValueError(
        f"the hands are of {found.name}, not of {wanted.name}{why}", value=found.name
    )
