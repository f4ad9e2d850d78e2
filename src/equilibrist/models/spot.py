"""Spots: the rest of a hold'em hand from a flop, turn or river, as players write it down.

    board Td9d6hQc, out of position QQ+,AK, in position 88-22,T9s, pot 200, 900 chips behind,
    bets 60%,a, raises 2.5x

The money is given as `Chips`, in chips or in big blinds (`money.py`). A `Spot` is text and numbers
only, so that it can be stored in a file and its game built again (`subgame.py`). The first round of
its bet menus is the street of its board. Out of position is player 0, the big blind; in position is
player 1.

A node's name is the betting since the board of the spot: `c` a check or call, `f` a fold, `r120`
a bet or raise to 120 chips *of the street*, `/` where a card is dealt: `cr120c/` is the next street
after a check, a bet of 120 and a call. Amounts in names are in the unit of the spot: `r2.5` bets
two and a half big blinds if the pot was given in big blinds.

Decisions may be locked, one text each, `NODE: ACTION=FREQUENCY; …`:

        c: r120=0.3             after a check, bet 120 chips with probability 0.3, with any hand
        c: r120=QQ+,AK:0.5      with these hands, and never with others
        r120: f=22-55; r300=AA  more than one action; the omitted one takes the rest
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Card, cards_name, parse_cards
from equilibrist.cards.range import Range, parse_range
from equilibrist.errors import BetMenuError, InvalidValueError, RecordError
from equilibrist.games.bet_menu import BetMenu, MenuTexts, StoredMenu, check_limit_texts
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules, parse_rules, rules_text
from equilibrist.models.card_states import CardStates, Symmetry
from equilibrist.models.exact import check_exact
from equilibrist.models.money import UNITS, Rake, Unit, check_menu_units, menu_in_chips, parse_rake
from equilibrist.models.money import Chips as Chips
from equilibrist.models.subgame import Lock, Subgame, range_states, round_of, subgame_of

MOST_NODES = 200_000  # larger trees take more than seconds to build
SEATS = ("oop", "ip")
_T = TypeVar("_T")
_Ranges: TypeAlias = tuple[Range, Range]


@dataclass(frozen=True, kw_only=True)
class Spot(StoredMenu):
    """Text and numbers from which a spot's game is built; `pot` and `rules` count its own chips.

    The texts of its bet menu (`StoredMenu`) are by street, from the street of the board on.

    Example:
        >>> spot = Spot.of("Td9d6hQc", "QQ+,AK", "88-22,T9s", Chips(200, 900), bets="60%,a")
        >>> [spot.betting.step(child) for child in spot.betting.children(0)]  # chips of the hand
        ['c', 'r220', 'r1000']
        >>> chips = Chips("5.5bb", "97.25bb")
        >>> blinds = Spot.of("Td9d6hQc", "QQ+,AK", "88", chips, bets="2bb,33%", raises="a")
        >>> blinds.actions(0), blinds.pot, blinds.money
        (('c', 'r1.82', 'r2'), 550, Unit(name='bb', size=100))
    """

    rules: str  # an ACPC game definition with the stacks of the spot
    board: str
    oop: str  # range of player 0
    ip: str
    pot: int
    locks: tuple[str, ...] = ()
    unit: str = "chips"  # of the amounts in all other texts, of names and of values: chips or bb
    chips_per_unit: int = 1  # chips of `pot`, `behind` and `rules`
    behind: tuple[int, ...] | None = (
        None  # of both players, if they differ; the rules have the less
    )
    rake: str | None = None  # share of the matched chips that the house takes, such as 5%
    rake_cap: str | None = None  # in units

    @classmethod
    def of(
        cls,
        board: str,
        oop: str,
        ip: str,
        chips: Chips,
        *,
        game: GameRules | None = None,
        **menu: Unpack[MenuTexts],
    ) -> Spot:
        """Build a spot of no-limit hold'em or another game; `with_locks` locks decisions.

        `menu` are texts of a bet menu: `bets`, `raises`, `max_raises`, `donks`, `add_all_in`,
        `force_all_in` and `merge` (`games/bet_menu.py`). Raises an error if the arguments are
        invalid.
        """
        rules = get_game("holdem-nolimit") if game is None else game
        check_exact(rules)
        _check_hold_em(rules)
        check_limit_texts(rules, menu)
        unit = chips.unit(*BetMenu.parse(**menu).sizes())
        rules, behind = chips.in_rules(rules, unit), chips.behind(unit)
        cards = parse_cards(board)
        _in_deals(rules, cards)
        spot = cls(
            rules=rules_text(rules),
            board=cards_name(cards),
            oop=str(parse_range(oop)),
            ip=str(parse_range(ip)),
            pot=chips.pot_chips(unit),
            unit=unit.name,
            chips_per_unit=unit.size,
            behind=None if behind is None or len({*behind}) == 1 else behind,
            rake=chips.rake,
            rake_cap=chips.cap,
            **menu,
        )
        return spot.checked()

    def checked(self) -> Spot:
        """Return the spot itself; raise an error if its texts are invalid."""
        check_exact(self.game)
        _check_hold_em(self.game)
        if self.unit not in UNITS:
            raise InvalidValueError(
                f"the unit must be {' or '.join(UNITS)}, not {self.unit!r}", value=self.unit
            )
        if self.behind is not None and (len(self.behind) != 2 or min(self.behind) != self.stack):
            raise InvalidValueError(
                f"the smaller of two stacks must be that of the rules, {self.stack} chips, not "
                f"{' and '.join(map(str, self.behind[:2]))}",
                value=self.behind,
            )
        self._game_menu.limit(self.game, self.first_round)
        check_menu_units(self._game_menu, self.money)
        decisions = self.betting.nodes(NodeKind.DECISION)
        if not len(decisions) or self.betting.num_children[decisions].max() < 2:
            raise BetMenuError(
                f"nobody can bet on {self.board} with {self.menu}; give chips behind and a size "
                "for a first bet, such as 60%,a",
                value=self.bets,
            )
        _ = self.ranges, self.parsed_locks, self.house
        return self

    def with_locks(self, locks: Sequence[str]) -> Spot:
        """Return the spot with more locked decisions; raise an error if one is invalid."""
        if not locks:
            return self
        spot = dataclasses.replace(self, locks=(*self.locks, *locks))
        _ = spot.parsed_locks
        return spot

    @functools.cached_property
    def game(self) -> GameRules:
        """Rules with the stacks of the spot."""
        return parse_rules(self.rules, "spot")

    @property
    def cards(self) -> tuple[Card, ...]:
        """Board with the cards of each deal in ascending order."""
        return _in_deals(self.game, parse_cards(self.board))

    @property
    def first_round(self) -> int:
        """Round of the game in which the board is complete."""
        return round_of(self.game, self.cards)

    @functools.cached_property
    def ranges(self) -> _Ranges:
        """Ranges of player 0 and player 1, without hands that the board blocks."""
        cards = parse_cards(self.board)
        return parse_range(self.oop).without(cards), parse_range(self.ip).without(cards)

    @property
    def money(self) -> Unit:
        """Unit of amounts, with the number of the game's chips in it."""
        return Unit(self.unit, self.chips_per_unit)

    @property
    def house(self) -> Rake | None:
        """Rake in chips of the game; None if nothing is taken."""
        return parse_rake(self.rake, self.rake_cap, self.money)

    @property
    def stacks(self) -> tuple[int, ...] | None:
        """Chips behind of both players at the start; None in games without stacks."""
        return self.behind or (None if self.stack is None else (self.stack, self.stack))

    @property
    def stack(self) -> int | None:
        """Chips that both players can bet: the smaller stack; None in games without stacks."""
        return None if self.game.stacks is None else self.game.stacks[0] - self.pot // 2

    @property
    def menu(self) -> BetMenu:
        """Bet menu by the rounds of the game, amounts in the unit of the spot."""
        return self._game_menu.clipped(self.game)  # files of earlier versions may need it

    @property
    def menu_in_chips(self) -> BetMenu:
        """Bet menu by the rounds of the game, amounts in chips of the game."""
        return menu_in_chips(self.menu, self.money)

    @property
    def _game_menu(self) -> BetMenu:
        """Bet menu by the rounds of the game, with raise caps that may be above the game's."""
        found = self.written_menu
        return dataclasses.replace(
            found,
            max_raises=self._from_first(found.max_raises),
            bets=self._from_first(found.bets),
            raises=self._from_first(found.raises),
            donks=self._from_first(found.donks),
        )

    def _from_first(self, of_rounds: tuple[_T, ...] | None) -> tuple[_T, ...] | None:
        """Convert a tuple by the rounds of the spot to one by the rounds of the game."""
        left = self.game.num_rounds - self.first_round
        if of_rounds is not None and len(of_rounds) > left:
            raise BetMenuError(
                f"the bet menu has {len(of_rounds)} streets; {left} are left from {self.board} on",
                value=len(of_rounds),
            )
        return None if of_rounds is None else (of_rounds[0],) * self.first_round + of_rounds

    @functools.cached_property
    def betting(self) -> BettingTree:
        """Betting tree of the streets that are left."""
        return BettingTree.build(
            self.game,
            self.menu_in_chips,
            first_round=self.first_round,
            pot=self.pot,
            runs_out=True,
            most_nodes=MOST_NODES,
        )

    @functools.cached_property
    def parsed_locks(self) -> tuple[Lock, ...]:
        """Locks, with their probabilities by hand."""
        return tuple(parse_lock(text, self) for text in self.locks)

    @functools.cached_property
    def names(self) -> list[str]:
        """Name of every node."""
        betting, names = self.betting, [""]
        opening = betting.spent.max(axis=1)  # chips of each player when the node's street opened
        for node in range(1, len(betting)):
            parent, action = int(betting.parent[node]), betting.action(node)
            if action is None:
                names.append(names[parent] + "/")
                continue
            opening[node] = opening[parent]
            street = action.amount - int(opening[node])
            chips = self.money.text(street) if action.amount else ""
            names.append(f"{names[parent]}{action.kind}{chips}")
        return names

    def find(self, name: str) -> int:
        """Return the node of a name; `RecordError` says where the name leaves the tree."""
        if name in self._nodes:
            return self._nodes[name]
        longest = min(len(name), max(map(len, self.names)))
        known = next(name[:end] for end in range(longest, -1, -1) if name[:end] in self._nodes)
        follow = ", ".join(self.actions(self._nodes[known])) or "nothing"
        raise RecordError(
            f"{name[:80]!r} is not a node of this spot: {follow} can follow {known!r}",
            value=name,
            position=len(known),
        )

    @functools.cached_property
    def _nodes(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    def actions(self, node: int) -> tuple[str, ...]:
        """Return the actions that can follow a node, as in names."""
        return tuple(
            self.names[child].removeprefix(self.names[node])
            for child in self.betting.children(node)
        )

    @property
    def states(self) -> CardStates:
        """Boards and hands, merged by all suits that ranges and locks do not distinguish."""
        weights = [own.weights for own in self.ranges]
        probabilities = [row for lock in self.parsed_locks for row in lock.probabilities]
        held = np.logical_or(*weights)
        return range_states(self.game, self.cards, [*weights, *probabilities], held=held)

    def build(self, symmetry: Symmetry | None = None) -> Subgame:
        """Build the game; raise `InvalidValueError` if no hands of the ranges can meet.

        Suits are merged as in `states`, unless another `symmetry` is given.
        """
        ranges = self.ranges[0].weights, self.ranges[1].weights
        return subgame_of(
            self.betting,
            self.cards,
            ranges,
            symmetry,
            only_held=True,
            locks=self.parsed_locks,
            unit=self.money,
            rake=self.house,
        )


def parse_lock(text: str, spot: Spot) -> Lock:
    """Parse a lock; the grammar is in the docstring of the module."""
    name, colon, rest = text.partition(":")
    node = spot.find(name.strip())
    names = spot.actions(node)
    if spot.betting.kind[node] != NodeKind.DECISION:
        raise RecordError(f"nobody acts at {name.strip()!r}, so it cannot be locked", value=name)
    if not colon or not rest.strip():
        raise RecordError(
            f"the lock {text!r} has no actions; write {name.strip()}: {names[-1]}=0.5, or a range",
            value=text,
        )
    probabilities = np.full((len(names), 1326), np.nan)
    for part in rest.split(";"):
        action, equals, frequency = (word.strip() for word in part.partition("="))
        if not equals or action not in names:
            raise RecordError(
                f"{action!r} in the lock {text!r} is not one of the actions {', '.join(names)}",
                value=action,
            )
        probabilities[names.index(action)] = _weights(frequency)
    return Lock(spot.betting.name(node), _with_rest(probabilities, names, text))


def _weights(text: str) -> NDArray[np.float64]:
    """Return the weights of a range [1326], or one number for all hands."""
    try:
        number = float(text)
    except ValueError:
        return parse_range(text).weights
    if not 0 <= number <= 1:
        raise InvalidValueError(
            f"a frequency must be a number from 0 to 1, not {text}", value=number
        )
    return np.full(1326, number)


def _with_rest(
    probabilities: NDArray[np.float64], names: Sequence[str], text: str
) -> NDArray[np.float64]:
    """Fill in probabilities [A, 1326]: the omitted row takes the rest."""
    missing = np.flatnonzero(np.isnan(probabilities[:, 0]))
    total = np.nansum(probabilities, axis=0)
    if len(missing) == 1:
        probabilities[missing[0]] = 1 - total
    if (
        len(missing) > 1
        or probabilities.min() < -1e-9
        or not np.allclose(probabilities.sum(axis=0), 1)
    ):
        raise RecordError(
            f"the lock {text!r} does not define the probabilities of {', '.join(names)}; omit "
            "at most one action, and let no hand's probabilities sum to more than 1",
            value=text,
        )
    return np.maximum(probabilities, 0)


def _check_hold_em(rules: GameRules) -> None:
    if rules.num_hole_cards != 2 or rules.rollout_cards or rules.num_board_cards[:1] != (0,):
        raise InvalidValueError(
            f"a spot must be of hold'em with betting on every street, not of {rules.name}",
            value=rules.name,
        )


def _in_deals(rules: GameRules, cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return a board with the cards of each deal in ascending order; raise an error if invalid."""
    if not cards or len(cards) not in np.cumsum(rules.num_board_cards):
        counts = ", ".join(map(str, np.cumsum(rules.num_board_cards)[1:]))
        raise InvalidValueError(
            f"a spot must start on a board of {counts} cards, not of {len(cards)}", value=len(cards)
        )
    for card in cards:
        if card not in rules.deck:
            raise InvalidValueError(
                f"{cards_name([card])} is not in the deck of {rules.name}", value=cards_name([card])
            )
    found: list[Card] = []
    for num_cards in rules.num_board_cards:
        found += sorted(cards[len(found) : len(found) + num_cards])
    return tuple(found)
