"""An abstraction: the bucket of every hand on every board, with buckets nested in buckets.

Before the last street, buckets are tables [boards, H]. On the last street, the buckets of one
parent are intervals of hand strength, or of another whole number, so two short arrays and these
values are sufficient: 2.4 billion (hand, board) classes need no table. The buckets of a street are
numbered so that the children of a bucket are contiguous.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equilibrist.abstraction.features import Ints
from equilibrist.abstraction.streets import Boards, Streets
from equilibrist.cards.card import Card, cards_name, parse_cards
from equilibrist.cards.hand import hand_index
from equilibrist.errors import CardError, InvalidValueError, StorageError
from equilibrist.games.rules import GameRules, parse_rules, rules_text
from equilibrist.games.sizes import deals_seen
from equilibrist.phases import phase
from equilibrist.storage.array_file import damaged
from equilibrist.storage.artefact import Artefact, Header, open_artefact, write_artefact
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.schema import ArrayRule, Fields, check_arrays

KIND = "abstraction"
UNFINISHED = "unfinished"  # key in the configuration of an abstraction that is not complete yet
_MOST_BUCKETS = 2**31 - 2
_BOARDS_TOGETHER = 256  # number of boards whose tables are checked at a time


@dataclass(frozen=True, eq=False)
class Intervals:
    """Buckets that are intervals of a whole number within a parent bucket.

    The buckets of parent p are `first[p]` … `first[p + 1]` − 1; each starts at its `lower`.
    """

    first: NDArray[np.int32]  # [parents + 1]
    lower: NDArray[np.int64]  # [K]

    @property
    def parents(self) -> NDArray[np.int32]:
        """Parent of each bucket: [K]."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))


@dataclass(frozen=True, eq=False)
class Abstraction:
    """The buckets of every street, and the recipe that built them."""

    streets: Streets
    recipe: str
    parents: tuple[NDArray[np.int32], ...]  # [K] per street: bucket of the previous street, or −1
    tables: tuple[Ints, ...]  # [B, H] per street, without the last
    values: Ints  # [B, H] of the last street: strengths, or other values that separate buckets
    last: Intervals
    configuration: dict[str, Any] = field(default_factory=dict)

    @property
    def rules(self) -> GameRules:
        """Rules of the game."""
        return self.streets.rules

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of buckets of each street."""
        return tuple(len(parents) for parents in self.parents)

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Minimum and maximum number of children of a bucket, for each round after the first.

        If the recipe uses the integer program, these are its choices: 18–51, 1–10 and 1–14 in GS3.

        Example:
            >>> from equilibrist.abstraction.recipes import build
            >>> from equilibrist.games.catalog import get_game
            >>> build("percentile", get_game("rhode-island"), [3, 6, 24]).parts
            ((2, 2), (4, 4))
        """
        return tuple(
            (int(counts.min()), int(counts.max()))
            for counts in (
                np.bincount(parents, minlength=before)
                for before, parents in zip(self.num_buckets, self.parents[1:], strict=False)
            )
        )

    def buckets(self, board: Sequence[Card]) -> NDArray[np.int32]:
        """Return the bucket of every hand on a board: [H], −1 if the board blocks the hand."""
        r, number, columns = self.streets.locate(board)
        if r < len(self.streets) - 1:
            return self.tables[r][number].take(columns).astype(np.int32)
        from equilibrist.kernels.cpu.rollout import label_board

        before = len(board) - self.rules.num_board_cards[r]
        parents = self.buckets(board[:before]) if r > 0 else np.zeros(len(columns), np.int32)
        out = np.empty(len(columns), np.int32)
        label_board(self.values[number], columns, parents, self.last.first, self.last.lower, out)
        return out

    def last_buckets(
        self, board: Sequence[Card], cards: Sequence[Card], hands: NDArray[np.int16]
    ) -> NDArray[np.int32]:
        """Return the buckets of hands on the last boards that N cards make of one: [N, n].

        `hands` [N, n] are in the deck and share no card with their boards.
        """
        from equilibrist.kernels.cpu.rollout import label_following

        boards = np.array([(*board, card) for card in cards], np.uint8)
        links = Boards(boards).locate(self.streets, len(self.streets) - 1)
        cut = self.last.first, self.last.lower
        out = np.empty(hands.shape, np.int32)
        label_following(
            self.values, links, self.streets.renamed, hands, self.buckets(board), cut, out
        )
        return out

    def bucket(self, hand: int, board: Sequence[Card] = ()) -> int:
        """Return the bucket of one hand, given by its index, on a board."""
        bucket = int(self.buckets(board)[hand])
        if bucket < 0:
            raise CardError(
                "the hand shares a card with the board or is not in the deck", value=hand
            )
        return bucket

    def path(self, hand: str, board: str = "") -> list[tuple[str, int]]:
        """Return the board and the bucket of a hand in every round that the board reaches.

        Example:
            >>> from equilibrist.abstraction.recipes import build
            >>> from equilibrist.games.catalog import get_game
            >>> build("percentile", get_game("rhode-island"), [3, 6, 24]).path("Ah", "7d2c")
            [('', 2), ('7d', 5), ('7d2c', 22)]
        """
        cards, dealt = parse_cards(hand), parse_cards(board)
        if len(cards) != self.rules.num_hole_cards:
            raise CardError(
                f"a hand of {self.rules.name} has {self.rules.num_hole_cards} cards, not "
                f"{len(cards)}",
                value=hand,
            )
        number = hand_index(*cards) if len(cards) == 2 else cards[0]
        self.streets.locate(dealt)  # raises an error for cards that are not a board
        seen = itertools.accumulate(self.rules.num_board_cards)
        boards = [dealt[:num_cards] for num_cards in seen if num_cards <= len(dealt)]
        return [(cards_name(each), self.bucket(number, each)) for each in boards]

    def buckets_of(self, hands: ArrayLike, boards: ArrayLike) -> NDArray[np.int32]:
        """Return the buckets [n] of hands, given by indices [n], each on its own board [n, cards].

        All boards are of one street, with cards in dealing order, [n, 0] before the first board
        card. A bucket is −1 if the board blocks the hand or the hand is not in the deck.

        Example:
            >>> from equilibrist.abstraction.recipes import build
            >>> from equilibrist.cards.card import parse_card
            >>> from equilibrist.games.catalog import get_game
            >>> thirds = build("percentile", get_game("leduc"), [3, 6])
            >>> king, queen = parse_card("Ks"), parse_card("Qh")
            >>> thirds.buckets_of([king, king, queen], [[queen], [king], [king]]).tolist()
            [2, -1, 0]
        """
        r, numbers, cards = self.streets.check_hands(hands, boards)
        seen = Boards(cards)
        if r < len(self.streets) - 1:
            return self.streets.look_up(r, self.tables[r], numbers, seen)
        parents = np.zeros(len(numbers), np.int32)
        if r > 0:
            parents = self.streets.look_up(r - 1, self.tables[r - 1], numbers, seen)
        return self._last_buckets(numbers, seen, parents)

    def follow(self, hands: NDArray[np.int64], boards: Boards) -> NDArray[np.int32]:
        """Return the buckets of N hands, each on its own board, on every street: [R, N].

        `hands` [N] are indices of hands that share no card with their boards.
        """
        found = np.zeros((len(self.streets), len(hands)), np.int32)
        for r, table in enumerate(self.tables):
            found[r] = self.streets.look_up(r, table, hands, boards)
        # If there is only one street, its own row of zeros is used as parents.
        found[-1] = self._last_buckets(hands, boards, found[max(len(found) - 2, 0)])
        return found

    def _last_buckets(
        self, hands: NDArray[np.int64], boards: Boards, parents: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        from equilibrist.kernels.cpu.rollout import find_intervals

        values = self.streets.look_up(len(self.streets) - 1, self.values, hands, boards)
        out = np.empty_like(values)
        find_intervals(self.last.first, self.last.lower, parents, values, out)
        return out

    def save(self, folder: str | Path, timings: dict[str, float] | None = None) -> str:
        """Write the abstraction as an artefact and return its hash."""
        arrays: dict[str, NDArray[Any]] = {
            "values": self.values, "first": self.last.first, "lower": self.last.lower
        }  # fmt: skip
        for r, parents in enumerate(self.parents):
            arrays[f"parents{r}"] = parents
        for r, table in enumerate(self.tables):
            arrays[f"buckets{r}"] = table
        configuration = {
            "game": rules_text(self.rules), "recipe": self.recipe,
            "buckets": list(self.num_buckets), "ordered": self.streets.ordered,
            **self.configuration,
        }  # fmt: skip
        header = Header(KIND, configuration=configuration, timings=timings or {})
        return write_artefact(folder, header, arrays)

    @staticmethod
    def open(folder: str | Path) -> Abstraction:
        """Open an abstraction; verify its checksums and the range of every bucket."""
        artefact = open_artefact(folder, KIND)
        if UNFINISHED in artefact.configuration:
            raise StorageError(
                f"{folder} contains an unfinished abstraction; continue it with `equilibrist "
                "abstract --resume`",
                value=str(folder),
            )
        fields, arrays = Fields.configuration(artefact), artefact.arrays
        streets = read_streets(fields, fields.flag("ordered"))
        numbers = fields.wholes("buckets", 1, _MOST_BUCKETS)
        rounds = range(len(streets))
        if len(numbers) != len(rounds):
            raise fields.error("buckets", f"a list of {len(rounds)} numbers")
        check_arrays(artefact, _array_rules(streets, numbers))
        own = {"game", "recipe", "buckets", "ordered"}
        found = Abstraction(
            streets=streets,
            recipe=fields.text("recipe"),
            parents=tuple(arrays[f"parents{r}"] for r in rounds),
            tables=tuple(arrays[f"buckets{r}"] for r in rounds[:-1]),
            values=arrays["values"],
            last=Intervals(arrays["first"], arrays["lower"]),
            configuration={k: v for k, v in artefact.configuration.items() if k not in own},
        )
        _check_nested(artefact, found)
        for r, name in enumerate([*(f"buckets{r}" for r in rounds[:-1]), "values"]):
            check_blocked(artefact, name, streets, r)
        return found


def read_streets(fields: Fields, ordered: bool = False) -> Streets:
    """Return the streets of the game in a configuration."""
    try:
        streets = Streets.of(parse_rules(fields.lines("game")), ordered)
    except ValueError as error:
        raise fields.error("game", f"the rules of a game with buckets ({error})") from None
    return streets


def table_rule(streets: Streets, r: int, number: int) -> ArrayRule:
    """Return the array rule of a street's table of buckets: [B, H], −1 if blocked."""
    shape = streets.num_boards(r), streets.num_hands
    return ArrayRule(("int16", "int32"), shape, low=-1, high=number - 1)


def parents_rule(number: int, before: int) -> ArrayRule:
    """Return the array rule of a street's parents: children of a bucket are contiguous."""
    return ArrayRule("int32", (number,), low=0, high=before - 1, is_ascending=True)


def _array_rules(streets: Streets, numbers: Sequence[int]) -> dict[str, ArrayRule]:
    last = len(streets) - 1
    rules = {f"buckets{r}": table_rule(streets, r, numbers[r]) for r in range(last)}
    for r, number in enumerate(numbers):
        rules[f"parents{r}"] = (
            parents_rule(number, numbers[r - 1])
            if r > 0
            else ArrayRule("int32", (number,), low=-1, high=-1)
        )
    before = numbers[-2] if last > 0 else 1
    shape = streets.num_boards(last), streets.num_hands
    return rules | {
        "values": ArrayRule(("int16", "int32", "int64"), shape, low=-1, high=2**31 - 1),
        "first": ArrayRule("int32", (before + 1,), low=0, high=numbers[-1], is_ascending=True),
        "lower": ArrayRule("int64", (numbers[-1],)),
    }


def _check_nested(artefact: Artefact, found: Abstraction) -> None:
    """Raise `StorageError` if the children of the buckets are not all buckets of the next round."""
    first, steps = found.last.first, zip(found.num_buckets, found.parents[1:], strict=False)
    is_nested = (
        all(np.bincount(above, minlength=number).all() for number, above in steps)
        and first[0] == 0
        and first[-1] == len(found.last.lower)
        and bool((np.diff(first) > 0).all())
        and (len(found.streets) == 1 or np.array_equal(found.last.parents, found.parents[-1]))
    )
    if not is_nested:
        raise damaged(artefact.folder / MANIFEST, "describes buckets that are not nested")


def check_blocked(artefact: Artefact, name: str, streets: Streets, r: int) -> None:
    """Raise `StorageError` if a table [B, H] is not −1 exactly where the board blocks the hand."""
    table, boards, hands = artefact.arrays[name], streets.boards(r), _card_sets(streets.hands)
    is_foreign = ~np.isin(np.arange(len(hands)), streets.in_deck)
    what = f"checking the buckets of round {r + 1}"
    with phase(what, total=len(boards), unit="boards") as work:
        for start in range(0, len(boards), _BOARDS_TOGETHER):
            some = slice(start, start + _BOARDS_TOGETHER)
            blocked = (_card_sets(boards[some])[:, None] & hands) != 0
            if not np.array_equal(table[some] < 0, blocked | is_foreign):
                raise damaged(
                    artefact.folder / artefact.files[name].file,
                    "has a bucket for a hand that the board blocks, or no bucket for another hand",
                )
            work.update(start)


def _card_sets(cards: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return cards [n, cards] as bit masks: [n]."""
    return np.bitwise_or.reduce(np.uint64(1) << cards.astype(np.uint64), axis=1)


def check_numbers(rules: GameRules, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of buckets, one per street; raise if they are missing or decrease."""
    if len(numbers) != rules.num_rounds:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_rounds} rounds: specify a number of buckets for each, "
            f"not {len(numbers)}",
            value=list(numbers),
        )
    if min(numbers) < 1:
        raise InvalidValueError("every street needs at least one bucket", value=list(numbers))
    for before, now in itertools.pairwise(numbers):
        if now < before:
            raise InvalidValueError(
                f"{now} buckets cannot be nested in {before}: numbers must not decrease",
                value=list(numbers),
            )
    return tuple(int(number) for number in numbers)


def check_parts(rules: GameRules, numbers: Sequence[int]) -> None:
    """Raise `InvalidValueError` for numbers of classes that the rounds of a game cannot have."""
    if len(numbers) != rules.num_rounds or min(numbers) < 1:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_rounds} rounds: specify for each the number of buckets "
            f"that every bucket is divided into, not {list(numbers)}",
            value=list(numbers),
        )
    for r, (number, most) in enumerate(zip(numbers, deals_seen(rules)[1], strict=True)):
        if number > most:
            raise InvalidValueError(
                f"{number:,} buckets in round {r + 1} are more than the {most:,} classes of hands "
                f"of {rules.name} in that round",
                value=number,
            )
