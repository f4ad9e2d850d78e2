"""Deals from the ACPC dealer's generator, so that its published logs replay from their seed.

The generator is MT19937 seeded with `init_genrand(seed)`. Each hand starts from the ordered deck,
suit by suit (c d h s), ranks ascending, only the game's cards. Each card takes one 32-bit word w:
it is `deck[w % n]`, its place is filled with `deck[n - 1]`, and n shrinks by one. First come the
hole cards of player 0, then player 1, …, then the board round by round. Beyond ACPC follow, in the
games that have them, the rolled-out board cards and the replacement cards of the discard turns (all
players of the first turn, then of the next), dealt whether or not they are used.

Source: ACPC dealer; checked against the words of `numpy.random.RandomState`, which are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Card
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal

_BLOCK = 2**20  # words of the generator that are passed over at a time


class Dealer:
    """An endless iterator of deals, the same for the same rules and seed (0 … 2³² − 1).

    Example:
        >>> from equilibrist.cards.card import cards_name
        >>> from equilibrist.games.catalog import get_game
        >>> deal = next(Dealer(get_game("holdem-limit"), seed=0))
        >>> [cards_name(hole) for hole in deal.holes], cards_name(deal.board)
        (['5d5c', '9hQd'], '8dAs8s4h6d')
    """

    def __init__(self, rules: GameRules, seed: int) -> None:
        if not 0 <= seed < 2**32:
            raise InvalidValueError(f"a seed is 0 to {2**32 - 1}, not {seed}", value=seed)
        self.rules = rules
        self.seed = seed
        self._words = np.random.RandomState(seed)  # NumPy's MT19937, seeded as ACPC's
        self._deck = sorted(rules.deck.cards, key=lambda card: (card & 3, card >> 2))

    def __iter__(self) -> Iterator[Deal]:
        return self

    def __next__(self) -> Deal:
        rules, deck = self.rules, list(self._deck)
        holes = tuple(self._draw(deck, rules.num_hole_cards) for _ in range(rules.num_players))
        board = self._draw(deck, rules.total_board_cards)
        return Deal(holes, board, self._draw(deck, rules.num_draws))

    def cards(self, count: int) -> NDArray[np.uint8]:
        """The next `count` deals at once, a row each: hole cards, board, replacements.

        Example:
            >>> from equilibrist.cards.card import cards_name
            >>> from equilibrist.games.catalog import get_game
            >>> cards_name(Dealer(get_game("holdem-limit"), seed=0).cards(2)[0])
            '5d5c9hQd8dAs8s4h6d'
        """
        from equilibrist.kernels.cpu.matches import deal_cards

        words = self._words.randint(0, 2**32, size=(count, self.num_cards), dtype=np.uint32)
        out = np.empty(words.shape, np.uint8)
        deal_cards(np.array(self._deck, np.uint8), words, out)
        return out

    @property
    def num_cards(self) -> int:
        """Cards of a deal, one word each."""
        rules = self.rules
        return rules.num_players * rules.num_hole_cards + rules.total_board_cards + rules.num_draws

    def skip(self, count: int) -> None:
        """Pass over `count` deals, faster than dealing them."""
        words = count * self.num_cards
        while words > 0:
            self._words.randint(0, 2**32, size=min(words, _BLOCK), dtype=np.uint32)
            words -= _BLOCK

    def _draw(self, deck: list[Card], count: int) -> tuple[Card, ...]:
        """Take `count` cards out of `deck`, one word each."""
        cards = []
        for word in self._words.randint(0, 2**32, size=count, dtype=np.uint32):
            place = int(word) % len(deck)
            cards.append(deck[place])
            deck[place] = deck[-1]
            deck.pop()
        return tuple(cards)
