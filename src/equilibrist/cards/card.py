"""Cards are integers `4 * rank + suit`: 0 is 2c, 1 is 2d, … 51 is As.

Ranks are 0 … 12 (`23456789TJQKA`), suits 0 … 3 (`cdhs`). A set of cards is a tuple or an integer
array; a `Deck` says which cards a game uses. Small decks take the highest ranks and the highest
suits, as the ACPC dealer does: Leduc is Qh Qs Kh Ks Ah As.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from equilibrist.cards.numbers import whole_number
from equilibrist.errors import CardError, InvalidValueError

Card: TypeAlias = int  # 0 … 51
Cards: TypeAlias = tuple[Card, ...]

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52

SUIT_SYMBOLS = "♣♦♥♠"
# The four-colour deck, as ANSI colours: clubs green, diamonds blue, hearts red, spades plain.
_SUIT_STYLES = ("\x1b[32m", "\x1b[34m", "\x1b[31m", "\x1b[1m")
_RESET = "\x1b[0m"

# ASCII only: otherwise, ignoring case, ſ would match s and the Kelvin sign would match K.
_CARD = re.compile(r"\s*(?a:(?:10|[2-9TJQKA])[cdhs])", re.IGNORECASE)


def make_card(rank: int, suit: int) -> Card:
    """Return the card with the given rank (0 … 12) and suit (0 … 3).

    Example:
        >>> make_card(12, 3)
        51
    """
    return 4 * whole_number(rank, "a rank", 0, 12) + whole_number(suit, "a suit", 0, 3)


def check_card(card: Card) -> Card:
    """Return the card as a Python integer; raise `CardError` if it is not one of the 52."""
    try:
        number = operator.index(card)
    except TypeError:
        number = -1
    if not 0 <= number < NUM_CARDS:
        raise CardError(f"{card!r} is not a card: cards are 0 (2c) … 51 (As)", value=card)
    return number


def rank_of(card: Card) -> int:
    """Return the rank of a card: 0 for a deuce … 12 for an ace."""
    return card >> 2


def suit_of(card: Card) -> int:
    """Return the suit of a card: clubs 0, diamonds 1, hearts 2, spades 3."""
    return card & 3


def card_name(card: Card) -> str:
    """Return the two-letter name of a card; the inverse of `parse_card`.

    Example:
        >>> card_name(51), card_name(0)
        ('As', '2c')
    """
    card = check_card(card)
    return RANKS[card >> 2] + SUITS[card & 3]


def parse_card(text: str) -> Card:
    """Parse the name of one card; either case is accepted, and `10` means `T`.

    Example:
        >>> parse_card("Td"), parse_card("10D")
        (33, 33)
    """
    cards = parse_cards(text)
    if len(cards) != 1:
        raise CardError(
            f"{text!r} is {len(cards)} cards; exactly one is expected, such as Td", value=text
        )
    return cards[0]


def parse_cards(text: str) -> Cards:
    """Parse different cards in the order written, with or without spaces between them.

    Example:
        >>> parse_cards("AhKh"), parse_cards("2c 7d 9h")
        ((50, 46), (0, 21, 30))
    """
    cards: list[Card] = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = _CARD.match(text, at)
        if match is None:
            start = at + len(text[at:]) - len(text[at:].lstrip())
            raise CardError(
                f"{text[start : start + 2]!r} at character {start + 1} of {text!r} is not a card; "
                f"a card is a rank of {RANKS} and a suit of {SUITS}, such as Td",
                value=text[start : start + 2],
                position=start,
            )
        name = match.group().strip().replace("10", "T")
        card = make_card(RANKS.index(name[0].upper()), SUITS.index(name[1].lower()))
        if card in cards:
            raise CardError(
                f"{card_name(card)} appears twice in {text!r}; a deck holds each card once",
                value=card_name(card),
                position=match.start(),
            )
        cards.append(card)
        at = match.end()
    return tuple(cards)


def cards_name(cards: Iterable[Card]) -> str:
    """Join the names of cards without spaces; the inverse of `parse_cards`.

    Example:
        >>> cards_name((50, 46))
        'AhKh'
    """
    return "".join(card_name(int(card)) for card in cards)


def cards_symbols(cards: Iterable[Card], *, colour: bool = False) -> str:
    """Write cards with suit symbols, optionally in the terminal colours of a four-colour deck.

    Example:
        >>> cards_symbols((50, 3))
        'A♥ 2♠'
    """
    names = []
    for card in cards:
        name = RANKS[card >> 2] + SUIT_SYMBOLS[card & 3]
        names.append(f"{_SUIT_STYLES[card & 3]}{name}{_RESET}" if colour else name)
    return " ".join(names)


def check_distinct(*groups: Sequence[Card]) -> None:
    """Raise `CardError` if a card of any group is invalid or occurs twice."""
    seen: set[Card] = set()
    for group in groups:
        for card in group:
            name = card_name(card)
            if card in seen:
                raise CardError(f"{name} is dealt twice; a deck holds each card once", value=name)
            seen.add(card)


@dataclass(frozen=True)
class Deck:
    """A deck of the highest `num_ranks` ranks in the highest `num_suits` suits.

    Example:
        >>> Deck(num_ranks=3, num_suits=2).names
        'QhQsKhKsAhAs'
    """

    num_ranks: int = 13
    num_suits: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.num_ranks <= 13:
            raise InvalidValueError(
                f"a deck has 1 to 13 ranks, not {self.num_ranks}", value=self.num_ranks
            )
        if not 1 <= self.num_suits <= 4:
            raise InvalidValueError(
                f"a deck has 1 to 4 suits, not {self.num_suits}", value=self.num_suits
            )

    def __len__(self) -> int:
        return self.num_ranks * self.num_suits

    def __contains__(self, card: object) -> bool:
        try:
            number = operator.index(card)  # type: ignore[arg-type]
        except TypeError:
            return False
        return 13 - self.num_ranks <= number >> 2 < 13 and number & 3 >= 4 - self.num_suits

    @property
    def cards(self) -> Cards:
        """All cards of the deck, ascending."""
        return tuple(card for card in range(NUM_CARDS) if card in self)

    @property
    def names(self) -> str:
        """Names of all cards of the deck, ascending, without spaces."""
        return cards_name(self.cards)


FULL_DECK = Deck()
