"""Hand potential: the probability of improving from behind, and of falling behind, with one card.

For every hand on every board of a round, all hands of the opponent and all next cards are
enumerated: whether the hand is ahead, tied or behind *now*, with the present cards, and *one card
later*. The counts are exact whole numbers, 48,645 = 1,081 · 45 per hand on hold'em's flop and
45,540 = 1,035 · 44 on its turn. Potential is defined only for rounds that exactly one card follows,
so not before the flop.

    positive potential = (behind then ahead + ½ behind then tied + ½ tied then ahead)
                         / (behind + ½ tied)
    negative potential = (ahead then behind + ½ ahead then tied + ½ tied then behind)
                         / (ahead + ½ tied)

and 0 for a hand that cannot be behind (ahead). Sources: Papp 1998, section 5.3; Billings, Davidson,
Schaeffer and Szafron 2002, whose "hand potential" the PsOpti paper adopts.
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
    """Counts of leads now and one card later, for all hands on all boards of a round.

    The dealing order of a board's cards does not matter here, so counts are stored by sets of
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
    counts: Ints  # [S, 3, 3, H] by set of cards: now × one card later; 0 if blocked
    set_of: NDArray[np.int64]  # [B] set of each board
    renaming: NDArray[np.uint8]  # [B] suit renaming from the board to its set

    @staticmethod
    def of(streets: Streets, r: int) -> Potential:
        """Compute the counts of a round that one card follows (hold'em flop and turn: a minute)."""
        from equilibrist.kernels.cpu import potential as kernel

        rules = streets.rules
        if not has_potential(rules, r):
            raise InvalidValueError(
                f"potential is defined for rounds that one card follows; the number of cards after "
                f"round {r + 1} of {rules.name} is {_cards_to_come(rules, r)}",
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
        """Return the counts of every hand on a board: [3, 3, H], 0 if the board blocks the hand."""
        r, number, columns = self.streets.locate(board)
        if r != self.r:
            raise InvalidValueError(
                f"these are the counts of round {self.r + 1}, but a board of {len(board)} cards is "
                f"of round {r + 1}",
                value=len(board),
            )
        named = self.streets.renamed[self.renaming[number]]
        return self.counts[self.set_of[number]][:, :, named][:, :, columns]

    def leading(self) -> Floats:
        """Return the probability of leading now, ties counted half: [B, H], −1 if blocked."""
        total = self.counts.sum(axis=(1, 2), dtype=np.int32)
        ahead = 2 * self.counts[:, AHEAD].sum(axis=1, dtype=np.int32)
        ahead += self.counts[:, TIED].sum(axis=1, dtype=np.int32)
        return self._by_board(ahead, 2 * total)

    def positive(self) -> Floats:
        """Return the probability of improving from behind: [B, H], −1 if blocked."""
        return self._probability(BEHIND, AHEAD)

    def negative(self) -> Floats:
        """Return the probability of falling behind from ahead: [B, H], −1 if blocked."""
        return self._probability(AHEAD, BEHIND)

    def _probability(self, origin: int, target: int) -> Floats:
        counts = self.counts
        moved = 2 * counts[:, origin, target].astype(np.int32)
        moved += counts[:, origin, TIED]
        moved += counts[:, TIED, target]
        total = 2 * counts[:, origin].sum(axis=1, dtype=np.int32)
        total += counts[:, TIED].sum(axis=1, dtype=np.int32)
        return self._by_board(moved, total)

    def _by_board(self, part: Ints, whole: Ints) -> Floats:
        """Convert ratios over sets [S, H] to a table over boards; 0 / 0 is 0."""
        share = (part / np.maximum(whole, 1)).astype(np.float32)
        share[~self.counts.any(axis=(1, 2))] = -1.0
        out = np.empty((len(self.set_of), share.shape[1]), np.float32)
        for number in np.unique(self.renaming):
            boards = np.flatnonzero(self.renaming == number)
            out[boards] = share[self.set_of[boards]][:, self.streets.renamed[number]]
        return out


def potentials(streets: Streets, progress: Progress | None = None) -> tuple[Potential | None, ...]:
    """Compute the potential of every round that one card follows; None for the other rounds."""
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
    """Return whether exactly one card follows round `r` (counted from 0)."""
    return _cards_to_come(rules, r) == 1


def _cards_to_come(rules: GameRules, r: int) -> int:
    return 0 if r == rules.num_rounds - 1 else rules.num_board_cards[r + 1]


def _tables(rules: GameRules, num_cards: int) -> RankTables:
    """Return the rank tables for hands of `num_cards` cards, complete or not.

    The standard ranking compares incomplete hands: pairs and high cards for one or two cards.
    """
    complete = rules.num_hole_cards + rules.total_board_cards
    return rank_tables(num_cards, rules.ranking if num_cards == complete else "standard")


def _sets(
    streets: Streets, r: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Return a round's boards as sets of cards, [S, n], and each board's set and renaming, [B]."""
    boards, deck = streets[r].boards, streets.rules.deck
    renaming = np.zeros(len(boards), np.uint8)
    if sum(num > 0 for num in streets.rules.num_board_cards[: r + 1]) <= 1:
        return boards, np.arange(len(boards)), renaming  # the boards are sets already
    indexer = DealIndexer((boards.shape[1],), deck)
    sets, set_of = indexer.unindex_array(np.arange(indexer.size)), indexer.index_array(boards)
    cards, wanted = boards.astype(np.int64), np.sort(sets[set_of], axis=1)
    for number, image in enumerate(itertools.permutations(range(4))):  # order of `Streets.renamed`
        if image[: 4 - deck.num_suits] == tuple(range(4 - deck.num_suits)):
            named = np.sort((cards & ~3) + np.array(image)[cards & 3], axis=1)
            renaming[(named == wanted).all(axis=1)] = number
    return sets, set_of, renaming
