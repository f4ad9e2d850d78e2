"""Gradients of a plan of buckets against the opponent's best responses below flops.

For a plan of the player with buckets and the probabilities with which the opponent's hands arrive
at a flop: what the opponent wins from there by a best response in the real game, and what each of
the player's actions with each bucket wins against it. Nothing below the flop is sampled. CFR-BR
(`solving.cfr_br`) is trained with these numbers; `Response` computes the opponent's part faster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.cards.card import Cards
from equilibrist.cards.hand import NUM_HANDS, hand_table
from equilibrist.evaluation.real_game.response import (
    board_cards,
    check_game,
    renamed_by,
    sorted_hands,
)
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.cpu import real_game_gradient as kernel
from equilibrist.kernels.cpu.real_game_gradient import BoardHands, GradientSpace, RoundBetting
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows

_MOST_RIVERS = 48


class FlopAnswer(NamedTuple):
    """Values of the opponent's hands, and the gradient of the player's rows, over some flops."""

    values: Floats  # [P, H] at each opening of the flop round
    gradients: list[Floats]  # [Q, K] of the second round and those after it; [] if not requested


class FlopEngine(Protocol):
    """Computes best responses below flops to plans of one player."""

    def respond(
        self,
        flops: Sequence[Cards],
        weights: Floats,
        rows: Sequence[Floats],
        reach: Floats | None,
    ) -> FlopAnswer:
        """Return the sums over flops of what both win below them; see `FlopGradient.respond`."""

    def seconds(self, flop: Cards, rows: Sequence[Floats], reach: Floats) -> FlopSeconds:
        """Measure the time of a flop, with kernels that are compiled."""


class FlopSeconds(NamedTuple):
    """Seconds per flop, for forecasts."""

    values: float  # without the gradient
    both: float
    at_once: int = 1  # flops that are computed at the same time

    def of(self, number: int, *, with_gradient: bool) -> float:
        """Return the seconds of a number of flops.

        Example:
            >>> [FlopSeconds(2.0, 5.0, at_once=2).of(3, with_gradient=own) for own in (True, False)]
            [10.0, 4.0]
        """
        return -(-number // self.at_once) * (self.both if with_gradient else self.values)


class FlopGradient:
    """Best responses below flops to plans of buckets of one player, on the CPU.

    Example:
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> from dataclasses import replace
        >>> deck = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3)
        >>> buckets = build("percentile", deck, [2, 2, 2, 2])
        >>> found = FlopGradient(BettingTree.build(deck), buckets, 0)
        >>> [len(betting.row) for betting in found.rounds]
        [7, 63, 567]
    """

    def __init__(
        self, betting: BettingTree, buckets: Abstraction, player: int, threads: int = 1
    ) -> None:
        check_game(betting.rules)
        self.rules, self.buckets, self.player, self.threads = (
            betting.rules, buckets, player, threads,
        )  # fmt: skip
        self.rounds = [round_betting(betting, player, r) for r in range(1, 4)]
        self._own = threading.local()  # work space of each thread

    def respond(
        self,
        flops: Sequence[Cards],
        weights: Floats,
        rows: Sequence[Floats],
        reach: Floats | None,
    ) -> FlopAnswer:
        """Return what both players win below some flops, times the flops' `weights` [F].

        `rows` are the player's plan from the second round on, [Q, K] each, which includes the round
        before; `reach` [P, H] are the probabilities of the opponent's hands at the openings of the
        flop round, None if no gradient is needed. Values are chips, averaged over turns and rivers
        and summed over the player's hands; gradients are chips of the player, summed over both
        players' hands, and not multiplied by its own plan.
        """
        plan = [np.ascontiguousarray(own, np.float64) for own in rows]
        work = partial(self._flop, plan=plan, reach=reach)
        values = np.zeros((len(self.rounds[0].row), NUM_HANDS))
        gradients = [] if reach is None else [np.zeros_like(own) for own in plan]
        with ThreadPoolExecutor(self.threads) as pool:
            for found in pool.map(work, flops, weights.tolist()):
                values += found.values
                for total, own in zip(gradients, found.gradients, strict=True):
                    total += own
        return FlopAnswer(values, gradients)

    def seconds(self, flop: Cards, rows: Sequence[Floats], reach: Floats) -> FlopSeconds:
        """Measure the time of a flop by one of its turns, once the kernels are compiled."""
        plan = [np.ascontiguousarray(own, np.float64) for own in rows]
        turns = board_cards(self.rules, flop).following
        turn, gradients = (*flop, turns[0][0]), [np.zeros_like(own) for own in plan]
        arriving = np.ones((len(self.rounds[1].row), NUM_HANDS))
        for _ in range(2):
            start = time.perf_counter()
            _, choices = self._turn(turn, plan)
            middle = time.perf_counter()
            self._unfold_turn(turn, choices, arriving, plan, (1.0, gradients))
            up, both = middle - start, time.perf_counter() - start
        return FlopSeconds(up * len(turns), both * len(turns), self.threads)

    def _flop(
        self, flop: Cards, weight: float, *, plan: list[Floats], reach: Floats | None
    ) -> FlopAnswer:
        """Return the answer on one flop."""
        turns, left = board_cards(self.rules, flop).following, self._num_left - 3
        dealt, choices = np.zeros((len(self.rounds[1].row), NUM_HANDS)), []
        for card, many in turns:
            found, chosen = self._turn((*flop, card), plan)
            dealt += many * found
            choices.append(chosen)
        values, chosen = self._fold(1, flop, plan, self._averaged(flop, dealt / left))
        if reach is None:
            return FlopAnswer(weight * values, [])
        gradients = [np.zeros_like(own) for own in plan]
        following = self._unfold(1, flop, chosen, reach, (weight, gradients))
        for (card, many), own in zip(turns, choices, strict=True):
            self._unfold_turn(
                (*flop, card), own, following, plan, (weight * many / left, gradients)
            )
        return FlopAnswer(weight * values, gradients)

    def _turn(self, turn: Cards, plan: list[Floats]) -> tuple[Floats, NDArray[np.uint8]]:
        """Return the opponent's values and choices on a turn."""
        dealt = np.zeros((len(self.rounds[2].row), NUM_HANDS))
        for hands, many in self._rivers(turn):
            kernel.fold_last(self.rounds[2], hands, plan[2], float(many), self._space(2), dealt)
        return self._fold(2, turn, plan, self._averaged(turn, dealt / (self._num_left - 4)))

    def _fold(
        self, r: int, board: Cards, plan: list[Floats], dealt: Floats
    ) -> tuple[Floats, NDArray[np.uint8]]:
        """Return the opponent's values [P, H] and choices [P, N, H] on a flop or turn."""
        betting = self.rounds[r - 1]
        values = np.zeros((len(betting.row), NUM_HANDS))
        choices = np.zeros((*betting.row.shape, NUM_HANDS), np.uint8)
        space, hands = self._space(r - 1), self._hands(board)
        kernel.fold_round(betting, hands, plan[r - 1], dealt, space, values, choices)
        return values, choices

    def _unfold(
        self,
        r: int,
        board: Cards,
        choices: NDArray[np.uint8],
        reach: Floats,
        out: tuple[float, list[Floats]],
    ) -> Floats:
        """Add a flop's or turn's gradient; return the reach at the openings of the next round."""
        weight, gradients = out
        following = np.zeros((len(self.rounds[r].row), NUM_HANDS))
        kernel.unfold_round(
            self.rounds[r - 1], self._hands(board), choices, reach, weight, self._space(r - 1),
            gradients[r - 1], following,
        )  # fmt: skip
        return following

    def _unfold_turn(
        self,
        turn: Cards,
        choices: NDArray[np.uint8],
        reach: Floats,
        plan: list[Floats],
        out: tuple[float, list[Floats]],
    ) -> None:
        """Add the gradients of a turn and its rivers."""
        weight, gradients = out
        following = self._unfold(2, turn, choices, reach, out)
        for hands, many in self._rivers(turn):
            share = weight * many / (self._num_left - 4)
            kernel.unfold_last(
                self.rounds[2], hands, plan[2], following, share, self._space(2), gradients[2]
            )

    def _averaged(self, board: Cards, values: Floats) -> Floats:
        """Return the means of values over the renamings of suits that keep a board."""
        keeping = board_cards(self.rules, board).keeping
        renamed = renamed_by(self.rules.num_suits)[keeping]
        return np.asarray(sum(values[:, own] for own in renamed) / len(renamed))

    def _hands(self, board: Cards) -> BoardHands:
        """Return the hands that a flop or turn leaves."""
        hand = np.flatnonzero(board_cards(self.rules, board).live[:NUM_HANDS])
        column = self.buckets.buckets(board)[hand].astype(np.int64)
        return BoardHands(hand, hand_table()[hand], column, np.zeros(1, np.int64))

    def _rivers(self, turn: Cards) -> list[tuple[BoardHands, int]]:
        """Return the hands of each river of a turn, and the number of rivers that it stands for."""
        following = board_cards(self.rules, turn).following
        cards = tuple(card for card, _ in following)
        found = sorted_hands(self.rules, turn, cards, self._num_last)
        out = []
        for i, (card, many) in enumerate(following):
            hand = found.hand[i].astype(np.int64)
            column = self.buckets.buckets((*turn, card))[hand].astype(np.int64)
            group = found.group[i, : int(found.num_groups[i]) + 1].astype(np.int64)
            out.append((BoardHands(hand, found.cards[i], column, group), many))
        return out

    @cached_property
    def _num_left(self) -> int:
        """Number of cards that neither player holds."""
        return len(self.rules.deck) - 4

    @property
    def _num_last(self) -> int:
        left = len(self.rules.deck) - self.rules.total_board_cards
        return left * (left - 1) // 2

    def _space(self, place: int) -> GradientSpace:
        """Return the work space of this thread for a round."""
        if not hasattr(self._own, "spaces"):
            sizes = [len(betting.kind) for betting in self.rounds]
            self._own.spaces = [
                GradientSpace(
                    np.empty((size, NUM_HANDS)),
                    np.empty((size, NUM_HANDS), np.uint8),
                    np.empty((size, NUM_HANDS)),
                    np.empty(NUM_HANDS),
                    np.empty(52),
                )
                for size in sizes
            ]
        found: GradientSpace = self._own.spaces[place]
        return found


def openings(tree: BettingTree, r: int) -> NDArray[np.int64]:
    """Return the nodes where a round opens, in the order of the tree.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("holdem-limit"))
        >>> [len(openings(tree, r)) for r in range(4)]
        [1, 7, 63, 567]
    """
    return np.flatnonzero((tree.round == r) & (tree.action_kind == 0))


def round_betting(tree: BettingTree, player: int, r: int) -> RoundBetting:
    """Describe the betting of a round after the first for the player with the buckets."""
    starts = openings(tree, r)
    place = np.full(len(tree) + 1, -1, np.int64)  # of each opening of the next round
    following = openings(tree, r + 1)
    place[following] = np.arange(len(following))
    nodes = [[start] for start in starts.tolist()]
    first, many = [], []
    at = 0
    while at < len(nodes[0]):
        node = nodes[0][at]
        children = tree.children(node) if tree.kind[node] == NodeKind.DECISION else range(0)
        first.append(len(nodes[0]) if children else -1)
        many.append(len(children))
        for own in nodes:
            own += tree.children(own[at]) if children else []
        at += 1
    node = np.array(nodes)
    kinds = [_kind(tree, player, node) for node in nodes[0]]
    lost = np.take_along_axis(tree.spent[node], np.maximum(tree.player[node], 0)[..., None], 2)
    is_fold = tree.kind[node] == NodeKind.FOLD
    return RoundBetting(
        np.array(kinds, np.int64),
        np.array(first, np.int64),
        np.array(many, np.int64),
        player_rows(tree, player).row[node].astype(np.int64),
        np.where(is_fold, lost[..., 0], tree.spent[node].min(axis=-1)).astype(np.float64),
        np.where(tree.kind[node] == NodeKind.ROUND_END, place[tree.first_child[node]], -1),
    )


def _kind(tree: BettingTree, player: int, node: int) -> int:
    """Return the kind of a node for the responder to `player`."""
    is_own = tree.player[node] == player
    if tree.kind[node] == NodeKind.DECISION:
        return kernel.ACTS if is_own else kernel.RESPONDS
    if tree.kind[node] == NodeKind.FOLD:
        return kernel.PLAYER_FOLDS if is_own else kernel.RESPONDER_FOLDS
    return kernel.SHOWDOWN if tree.kind[node] == NodeKind.SHOWDOWN else kernel.ENDS
