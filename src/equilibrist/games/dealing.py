"""Deals from the ACPC dealer's generator, so that its published logs can be replayed from the seed.

The generator is MT19937 seeded with `init_genrand(seed)`. Each hand starts from the ordered deck,
suit by suit (c d h s), ranks ascending, only the game's cards. Each card takes one 32-bit word w:
it is `deck[w % n]`, its place is filled with `deck[n - 1]`, and n shrinks by one. The hole cards of
player 0 are dealt first, then those of player 1, …, then the board round by round. As an extension
of ACPC, games that have them then deal the rolled-out board cards and the replacement cards of the
discard turns (all players of the first turn, then of the next), whether or not they are used.

Source: ACPC dealer; checked against the words of `numpy.random.RandomState`, which are the same.

That generator is predictable. A player that sees its own cards for a few hands can try all 2³²
seeds within minutes, and the state of the generator follows from the low bits of some thousand
hands. Where a player could gain by knowing future cards, deals use a seed of 128 bits
(`secret_seed`): the same procedure with words of SHAKE-256, whose past words reveal nothing about
future ones. The size of the seed selects the generator, so a seed alone reproduces the deals of
either kind.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Card
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal

MOST_ACPC_SEED = 2**32 - 1  # larger seeds come from `secret_seed`
MOST_DEAL_SEED = 2**128 - 1

_BLOCK = 2**20  # number of words of the generator skipped at a time
_PURPOSE = b"equilibrist deals"  # separates these words from other uses of the same seed


def secret_seed() -> int:
    """Return an unpredictable seed of 128 bits; it always has 39 digits.

    Example:
        >>> MOST_ACPC_SEED < secret_seed() <= MOST_DEAL_SEED
        True
    """
    return secrets.randbits(127) | 1 << 127


class Dealer:
    """An endless iterator of deals, the same for the same rules and seed.

    Seeds up to 2³² − 1 give the deals of the ACPC; larger ones, up to 2¹²⁸ − 1, give deals that
    cannot be predicted from others.

    Example:
        >>> from equilibrist.cards.card import cards_name
        >>> from equilibrist.games.catalog import get_game
        >>> deal = next(Dealer(get_game("holdem-limit"), seed=0))
        >>> [cards_name(hole) for hole in deal.holes], cards_name(deal.board)
        (['5d5c', '9hQd'], '8dAs8s4h6d')
    """

    def __init__(self, rules: GameRules, seed: int) -> None:
        if not 0 <= seed <= MOST_DEAL_SEED:
            raise InvalidValueError(f"a seed must be 0 to 2**128 - 1, not {seed}", value=seed)
        self.rules = rules
        self.seed = seed
        is_acpc = seed <= MOST_ACPC_SEED
        self._words = _AcpcWords(seed) if is_acpc else _SecretWords(seed)
        self._deck = sorted(rules.deck.cards, key=lambda card: (card & 3, card >> 2))

    def __iter__(self) -> Iterator[Deal]:
        return self

    def __next__(self) -> Deal:
        rules, deck = self.rules, list(self._deck)
        holes = tuple(self._draw(deck, rules.num_hole_cards) for _ in range(rules.num_players))
        board = self._draw(deck, rules.total_board_cards)
        return Deal(holes, board, self._draw(deck, rules.num_draws))

    def cards(self, count: int) -> NDArray[np.uint8]:
        """Return the next `count` deals, one per row: hole cards, board, replacements.

        Example:
            >>> from equilibrist.cards.card import cards_name
            >>> from equilibrist.games.catalog import get_game
            >>> cards_name(Dealer(get_game("holdem-limit"), seed=0).cards(2)[0])
            '5d5c9hQd8dAs8s4h6d'
        """
        from equilibrist.kernels.cpu.matches import deal_cards

        words = self._words.take(count * self.num_cards).reshape(count, self.num_cards)
        out = np.empty(words.shape, np.uint8)
        deal_cards(np.array(self._deck, np.uint8), words, out)
        return out

    @property
    def num_cards(self) -> int:
        """Number of cards per deal; each takes one word of the generator."""
        rules = self.rules
        return rules.num_players * rules.num_hole_cards + rules.total_board_cards + rules.num_draws

    def skip(self, count: int) -> None:
        """Skip `count` deals, faster than dealing them."""
        self._words.skip(count * self.num_cards)

    def _draw(self, deck: list[Card], count: int) -> tuple[Card, ...]:
        """Remove `count` cards from `deck`, using one word per card, and return them."""
        cards = []
        for word in self._words.take(count):
            place = int(word) % len(deck)
            cards.append(deck[place])
            deck[place] = deck[-1]
            deck.pop()
        return tuple(cards)


class _AcpcWords:
    """The 32-bit words of the ACPC dealer: NumPy's MT19937 with the same seeding."""

    def __init__(self, seed: int) -> None:
        self._state = np.random.RandomState(seed)

    def take(self, count: int) -> NDArray[np.uint32]:
        """Return the next words [count]."""
        return self._state.randint(0, 2**32, size=count, dtype=np.uint32)

    def skip(self, count: int) -> None:
        """Skip `count` words."""
        while count > 0:
            self.take(min(count, _BLOCK))
            count -= _BLOCK


class _SecretWords:
    """The 32-bit words of a secret seed: SHAKE-256 of seed and block number, block by block."""

    _BYTES = 4096  # bytes per block

    def __init__(self, seed: int) -> None:
        self._key = _PURPOSE + seed.to_bytes(16, "little")
        self._place = 0  # index of the next word
        self._last = -1, b""  # number and bytes of the last block computed

    def take(self, count: int) -> NDArray[np.uint32]:
        """Return the next words [count]."""
        in_block = self._BYTES // 4
        first, start = divmod(self._place, in_block)
        end = max(first + 1, -(-(self._place + count) // in_block))
        blocks = b"".join(self._block(number) for number in range(first, end))
        self._place += count
        return np.frombuffer(blocks, "<u4")[start : start + count].astype(np.uint32)

    def skip(self, count: int) -> None:
        """Skip `count` words."""
        self._place += count

    def _block(self, number: int) -> bytes:
        if number != self._last[0]:
            key = self._key + number.to_bytes(16, "little")
            self._last = number, hashlib.shake_256(key).digest(self._BYTES)
        return self._last[1]
