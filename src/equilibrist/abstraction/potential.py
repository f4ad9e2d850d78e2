"""Hand potential: the chance to improve from behind, and to fall behind, with one card to come.

For every hand on every board of a round, all hands of the opponent and all next cards are looked
at: who is ahead, tied, behind *now*, by the cards there are, and *one card later*. The counts are
exact whole numbers, 48,645 = 1,081 · 45 a hand on hold'em's flop and 45,540 = 1,035 · 44 on its
turn. Potential is only of rounds that one card follows: the cards of a whole flop are not one card.

    positive potential = (behind then ahead + ½ behind then tied + ½ tied then ahead)
                         / (behind + ½ tied)
    negative potential = (ahead then behind + ½ ahead then tied + ½ tied then behind)
                         / (ahead + ½ tied)

and 0 for a hand that cannot be behind (ahead). Sources: Papp 1998, section 5.3; Billings, Davidson,
Schaeffer and Szafron 2002, whose "hand potential" the PsOpti paper takes over.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.features import Ints, Progress
from equilibrist.abstraction.streets import Streets
from equilibrist.cards.card import Card
from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import InvalidValueError
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import RankTables

Floats = NDArray[np.float32]

AHEAD, TIED, BEHIND = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Potential:
    """Who leads now and who leads one card later, on all boards of a round.

    The order in which a board's cards came does not matter here, so counts are kept by sets of
    cards: 16,432 instead of 63,193 turns.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> leduc = Potential.of(Streets.of(get_game("leduc")), 0)
        >>> leduc.on(())[:, :, 47].tolist()  # Ks: ahead of a queen, tied, behind an ace; then …
        [[6, 0, 2], [0, 4, 0], [2, 0, 6]]
        >>> round(float(leduc.positive()[0, 47]), 3)
        0.2
    """

    streets: Streets
    r: int
    counts: Ints  # [S, 3, 3, H] by set of cards: now × one card later; 0 where blocked
    set_of: NDArray[np.int64]  # [B] set of each board
    renaming: NDArray[np.uint8]  # [B] how its suits are to be named

    @staticmethod
    def of(streets: Streets, r: int) -> Potential:
        """Count for a round that one card follows; hold'em's flop and turn take a minute."""
        from equilibrist.kernels.cpu import potential as kernel

        rules = streets.rules
        if not has_potential(rules, r):
            raise InvalidValueError(
                f"potential is the chance to improve with one card to come; after round {r + 1} "
                f"of {rules.name} come {_cards_to_come(rules, r)}",
                value=r,
            )
        sets, set_of, renaming = _sets(streets, r)
        num_cards = rules.num_hole_cards + sets.shape[1]
        left = len(rules.deck) - num_cards  # cards that the opponent and the board may get
        total = math.comb(left, rules.num_hole_cards) * (left - rules.num_hole_cards)
        counts = np.empty(
            (len(sets), 3, 3, streets.num_hands), np.uint16 if total < 2**16 else np.int32
        )
        kernel.potentials(
            _tables(rules, num_cards), _tables(rules, num_cards + 1), sets,
            np.array(rules.deck.cards, np.uint8), streets.hands[streets.in_deck], streets.in_deck,
            counts,
        )  # fmt: skip
        return Potential(streets, r, counts, set_of, renaming)

    def on(self, board: Sequence[Card]) -> Ints:
        """Counts of every hand on a board: [3, 3, H], 0 where the board blocks it."""
        r, number, columns = self.streets.locate(board)
        if r != self.r:
            raise InvalidValueError(
                f"these are the counts of round {self.r + 1}; {len(board)} cards are a board of "
                f"round {r + 1}",
                value=len(board),
            )
        named = self.streets.renamed[self.renaming[number]]
        return self.counts[self.set_of[number]][:, :, named][:, :, columns]

    def leading(self) -> Floats:
        """Chance to lead now, a tie counted half: [B, H], −1 where the board blocks the hand."""
        total = self.counts.sum(axis=(1, 2), dtype=np.int32)
        ahead = 2 * self.counts[:, AHEAD].sum(axis=1, dtype=np.int32)
        ahead += self.counts[:, TIED].sum(axis=1, dtype=np.int32)
        return self._by_board(ahead, 2 * total)

    def positive(self) -> Floats:
        """Chance to improve from behind: [B, H], −1 where the board blocks the hand."""
        return self._chance(BEHIND, AHEAD)

    def negative(self) -> Floats:
        """Chance to fall behind from ahead: [B, H], −1 where the board blocks the hand."""
        return self._chance(AHEAD, BEHIND)

    def _chance(self, origin: int, target: int) -> Floats:
        counts = self.counts
        moved = 2 * counts[:, origin, target].astype(np.int32)
        moved += counts[:, origin, TIED]
        moved += counts[:, TIED, target]
        total = 2 * counts[:, origin].sum(axis=1, dtype=np.int32)
        total += counts[:, TIED].sum(axis=1, dtype=np.int32)
        return self._by_board(moved, total)

    def _by_board(self, part: Ints, whole: Ints) -> Floats:
        """Shares of sets [S, H] as a table over boards; 0 of nothing is 0."""
        share = (part / np.maximum(whole, 1)).astype(np.float32)
        share[~self.counts.any(axis=(1, 2))] = -1.0
        out = np.empty((len(self.set_of), share.shape[1]), np.float32)
        for number in np.unique(self.renaming):
            boards = np.flatnonzero(self.renaming == number)
            out[boards] = share[self.set_of[boards]][:, self.streets.renamed[number]]
        return out


def potentials(streets: Streets, progress: Progress | None = None) -> tuple[Potential | None, ...]:
    """Potential of every round that one card follows, None for the others."""
    found: list[Potential | None] = []
    for r in range(len(streets)):
        if has_potential(streets.rules, r):
            if progress:
                progress(f"potential of every hand in round {r + 1}")
            found.append(Potential.of(streets, r))
        else:
            found.append(None)
    return tuple(found)


def has_potential(rules: GameRules, r: int) -> bool:
    """Whether exactly one card comes after round `r` (counted from 0)."""
    return _cards_to_come(rules, r) == 1


def _cards_to_come(rules: GameRules, r: int) -> int:
    return 0 if r == rules.num_rounds - 1 else rules.num_board_cards[r + 1]


def _tables(rules: GameRules, num_cards: int) -> RankTables:
    """Tables for hands of so many cards, also before a hand of the game's ranking is complete.

    Then the standard ranking says who leads: of one or two cards, pairs and high cards.
    """
    complete = rules.num_hole_cards + rules.total_board_cards
    return rank_tables(num_cards, rules.ranking if num_cards == complete else "standard")


def _sets(
    streets: Streets, r: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """The boards of a round as sets of cards, [S, n]; set and renaming of each board, [B]."""
    boards, deck = streets[r].boards, streets.rules.deck
    renaming = np.zeros(len(boards), np.uint8)
    if sum(num > 0 for num in streets.rules.num_board_cards[: r + 1]) <= 1:
        return boards, np.arange(len(boards)), renaming  # sets already
    indexer = DealIndexer((boards.shape[1],), deck)
    sets, set_of = indexer.unindex_array(np.arange(indexer.size)), indexer.index_array(boards)
    cards, wanted = boards.astype(np.int64), np.sort(sets[set_of], axis=1)
    for number, image in enumerate(itertools.permutations(range(4))):  # as `Streets.renamed` has it
        if image[: 4 - deck.num_suits] == tuple(range(4 - deck.num_suits)):
            named = np.sort((cards & ~3) + np.array(image)[cards & 3], axis=1)
            renaming[(named == wanted).all(axis=1)] = number
    return sets, set_of, renaming
