"""The opponent of CFR-BR in limit hold'em: it sees its cards and best-responds below drawn flops.

Flops are drawn for every iteration in proportion to the raw flops that they stand for, at equal
distances along a list in which flops of a kind and of similar cards are neighbours (systematic,
hence stratified, sampling). Weights are the inverse of the probability of being drawn, so gradients
are unbiased. Before the flop, in
the trunk, the opponent runs CFR over the 169 classes of hands: a best response there would know
which flops come. The draw depends only on the seed and the iteration, so a resumed run continues
with the same flops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.cards.card import Cards
from equilibrist.cards.flops import flop_kinds
from equilibrist.cards.hand import NUM_CLASSES, NUM_HANDS, class_table, hand_table
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game.gradient import FlopEngine, FlopGradient, openings
from equilibrist.evaluation.real_game.response import Flops, board_cards, by_class, check_game
from equilibrist.evaluation.real_game.run import stratified
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.cpu import real_game as kernel
from equilibrist.kernels.cpu.real_game import HANDS
from equilibrist.kernels.cpu.sequence_form import fold_up, realize
from equilibrist.kernels.decision_rules import BEST
from equilibrist.kernels.gpu.memory import download, is_array_on_gpu
from equilibrist.kernels.treeplex import block, root_value
from equilibrist.models.bucketed import BucketStates, bucket_tree
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows, treeplex
from equilibrist.strategies.evaluation import Evaluation


class FlopOpponent:
    """Opponent of both seats in limit hold'em, as `solving.cfr_br.Opponent`.

    `number` flops are drawn in each iteration; None: all flops. `engines` compute what happens
    below flops, by the player with the buckets; default: the CPU. Exploitability is measured on
    `measured` flops that are always the same; default: all.

    Example:
        >>> from dataclasses import replace
        >>> from equilibrist.abstraction.recipes import build
        >>> from equilibrist.games.catalog import get_game
        >>> deck = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3)
        >>> buckets = build("percentile", deck, [2, 2, 2, 2])
        >>> flops, weights = FlopOpponent(BettingTree.build(deck), buckets, 7).draw(1)
        >>> len(flops), round(weights.sum())
        (7, 84)
    """

    def __init__(
        self,
        betting: BettingTree,
        buckets: Abstraction,
        number: int | None,
        *,
        seed: int = 0,
        engines: Sequence[FlopEngine] | None = None,
        measured: int | None = None,
        threads: int = 1,
    ) -> None:
        check_betting(betting, buckets)
        self.betting, self.rules, self.buckets, self.seed = betting, betting.rules, buckets, seed
        self.flops = Flops.of(self.rules)
        self._kinds = flop_kinds(self.flops.boards)
        self.number, self._measured = number, stratified(self.flops, measured)
        if number is not None and not 1 <= number <= len(self.flops.boards):
            raise InvalidValueError(
                f"the number of flops of an iteration must be 1 to {len(self.flops.boards):,}, "
                f"not {number:,}",
                value=number,
            )
        self.engines = engines or [
            FlopGradient(betting, buckets, player, threads) for player in (0, 1)
        ]
        self._rows = [player_rows(betting, player).row for player in (0, 1)]
        self._trees = [bucket_tree(betting, player, buckets) for player in (0, 1)]

    # --- solving.cfr_br.Opponent ------------------------------------------------------------------

    def trunk(self, seat: int) -> Treeplex:
        """Return the first round of the opponent's side, over the 169 classes of hands."""
        states = BucketStates(
            [np.array([NUM_CLASSES])], [np.array([-1])], [np.zeros(NUM_CLASSES, np.int32)]
        )
        return treeplex(player_rows(self._preflop, seat), states)

    def answer(
        self, player: int, plan: Floats, trunk: Floats, iteration: int
    ) -> tuple[Floats, Floats]:
        """Best-respond to a plan below the flops of an iteration; see `Opponent`."""
        tree, seat = self.trunk(1 - player), 1 - player
        realize(tree, trunk, arrival := np.empty_like(trunk))
        by_hand = block(tree, 0, 0, arrival)[:, class_table()] * self._in_deck
        starts = openings(self.betting, 1)
        above = self._rows[seat][self.betting.parent[starts]]
        flops, weights = self.draw(iteration)
        found = self.engines[player].respond(
            flops, weights, self._later(player, plan), by_hand[above]
        )
        gradient = self._gradient(player, plan, by_hand, found.gradients)
        return gradient, self._trunk_values(player, plan, found.values)

    def evaluate(self, plans: tuple[Floats, Floats]) -> Evaluation:
        """Return the chips that best responses win from both plans on the measured flops.

        With some flops only, the opponents know before the flop that no others come. The value of
        the plans against each other is not computed: it is 0.
        """
        won = []
        boards = self.flops.boards[self._measured]
        weights = self._weights(self._measured)
        for player, plan in enumerate(plans):
            rows = self._later(player, plan)
            found = self.engines[player].respond(_cards(boards), weights, rows, None)
            values = self._trunk_values(player, plan, found.values)
            tree, behaviour = self.trunk(1 - player), np.ones_like(values)
            fold_up(tree, BEST, values, behaviour, values, np.zeros(3))
            won.append(root_value(tree, values))
        return Evaluation(0.0, (won[1], won[0]), "chips")

    def seconds(self, plans: tuple[Floats, Floats]) -> tuple[float, float]:
        """Measure the seconds of an iteration and of an evaluation, from a flop of many turns."""
        flop = _cards(self.flops.boards[[int(self.flops.multiplicity.argmax())]])[0]
        step = measurement = 0.0
        number = len(self.flops.boards) if self.number is None else self.number
        for player, plan in enumerate(plans):
            reach = np.ones((len(openings(self.betting, 1)), NUM_HANDS))
            found = self.engines[player].seconds(flop, self._later(player, plan), reach)
            step += found.of(number, with_gradient=True)
            measurement += found.of(len(self._measured), with_gradient=False)
        return step, measurement

    # --- flops ------------------------------------------------------------------------------------

    def draw(self, iteration: int) -> tuple[list[Cards], Floats]:
        """Return the flops of an iteration and how many raw flops each stands for: [F]."""
        many = self.flops.multiplicity
        if self.number is None:
            return _cards(self.flops.boards), many.astype(np.float64)
        start = np.random.default_rng([self.seed, iteration]).random()
        points = (start + np.arange(self.number)) * (many.sum() / self.number)
        upto = np.cumsum(many[self._order])
        drawn = self._order[np.searchsorted(upto, points, side="right")]
        chosen, times = np.unique(drawn, return_counts=True)
        return _cards(self.flops.boards[chosen]), times * (many.sum() / self.number)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Flops by suits and pairs, then by their highest cards: [F]."""
        return np.lexsort((*(self.flops.boards.T >> 2), self._kinds))

    def _weights(self, chosen: NDArray[np.int64]) -> Floats:
        """Return how many raw flops each of a stratified sample stands for: [F]."""
        weights = self.flops.multiplicity[chosen].astype(np.float64)
        kinds = self._kinds[chosen]
        for kind in np.unique(kinds):
            weights[kinds == kind] *= (self._kinds == kind).sum() / (kinds == kind).sum()
        return weights

    # --- before the flop --------------------------------------------------------------------------

    def _later(self, player: int, plan: Floats) -> list[Floats]:
        """Return the rows of a plan from the flop round on; float32 on the GPU."""
        if is_array_on_gpu(plan):
            plan = plan.astype(np.float32)
        return [block(self._trees[player], r, r, plan) for r in range(1, 4)]

    def _gradient(
        self, player: int, plan: Floats, by_hand: Floats, later: Sequence[Floats]
    ) -> Floats:
        """Return the gradient [L] of a plan, from those of later rounds and the folds before."""
        out, tree = np.empty_like(plan), self._trees[player]
        for r, own in enumerate(later, 1):
            numbers = np.asarray(own, like=out) if is_array_on_gpu(out) else np.asarray(own)
            block(tree, r, r, out)[:] = numbers * self._flop_share
        first = np.zeros((int(tree.num_sequences[0]), int(tree.num_states[0])))
        column = self.buckets.buckets(())
        for node, lost in self._folds(player):
            met = self._met(by_hand[self._rows[1 - player][node]])
            values = np.bincount(column[self._held], met[self._held], first.shape[1])
            first[self._rows[player][node]] -= lost * values / self._pairs
        block(tree, 0, 0, out)[:] = np.asarray(first, like=out)
        return out

    def _trunk_values(self, player: int, plan: Floats, flops: Floats) -> Floats:
        """Return the values [T] of the opponent's rows before the flop, from those at flops."""
        tree, seat = self.trunk(1 - player), 1 - player
        values = np.zeros(int(tree.block_start[-1]))
        out = block(tree, 0, 0, values)
        own = download(block(self._trees[player], 0, 0, plan))
        column = np.maximum(self.buckets.buckets(()), 0)
        starts, at_flops = openings(self.betting, 1), by_class(download(flops))
        above = self._rows[seat][self.betting.parent[starts]]
        np.add.at(out, above, at_flops * self._flop_share)
        for node, lost in self._folds(player):
            reach = own[self._rows[player][node]][column] * self._in_deck
            out[self._rows[seat][node]] += lost * by_class(self._met(reach)[None])[0] / self._pairs
        return values

    def _folds(self, player: int) -> list[tuple[int, float]]:
        """Return the folds before the flop and the chips that the opponent of `player` wins."""
        tree, found = self.betting, []
        for node in np.flatnonzero((tree.round == 0) & (tree.kind == NodeKind.FOLD)).tolist():
            folder = int(tree.player[node])
            lost = float(tree.spent[node, folder])
            found.append((node, lost if folder == player else -lost))
        return found

    def _met(self, reach: Floats) -> Floats:
        """Return how often each hand of the deck meets the hands of `reach` [H]: [H]."""
        out = np.zeros(HANDS)
        kernel.meet(reach, hand_table(), np.zeros(52), out)
        return out[:NUM_HANDS] * self._in_deck

    @cached_property
    def _in_deck(self) -> Floats:
        return board_cards(self.rules, ()).live[:NUM_HANDS]

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        return self._in_deck > 0

    @cached_property
    def _pairs(self) -> float:
        """Number of pairs of hands."""
        return float(self._in_deck.sum()) * math.comb(len(self.rules.deck) - 2, 2)

    @cached_property
    def _flop_share(self) -> float:
        """Probability of a raw flop and a pair of hands that it leaves."""
        return 1 / (self._pairs * math.comb(len(self.rules.deck) - 4, 3))

    @cached_property
    def _preflop(self) -> BettingTree:
        return BettingTree.build(self.rules, self.betting.menu, last_round=0)


def check_cards(betting: BettingTree, buckets: object) -> None:
    """Raise `InvalidValueError` unless buckets group the cards of a game of limit hold'em."""
    if not isinstance(buckets, Abstraction):
        raise InvalidValueError(
            "the real game deals real cards, so it needs buckets of cards with perfect recall "
            f"(`Abstraction`), not {type(buckets).__name__}",
            value=type(buckets).__name__,
        )
    check_game(buckets.rules)
    if betting.rules.deck != buckets.rules.deck:
        raise InvalidValueError(
            f"the buckets are of {buckets.rules.name}, with {len(buckets.rules.deck)} cards, and "
            f"the betting is of {betting.rules.name}, with {len(betting.rules.deck)}: take those "
            "of one game",
            value=buckets.rules.name,
        )


def check_betting(betting: BettingTree, buckets: Abstraction) -> None:
    """Raise `InvalidValueError` for betting or buckets that cannot be trained in the real game."""
    check_cards(betting, buckets)
    if betting.rules.max_raises != buckets.rules.max_raises:
        raise InvalidValueError(
            f"training against the real game needs all raises of {betting.rules.name}, "
            f"{' '.join(map(str, buckets.rules.max_raises))}, not "
            f"{' '.join(map(str, betting.rules.max_raises))}",
            value=betting.rules.max_raises,
        )


def _cards(boards: NDArray[np.uint8]) -> list[Cards]:
    return [tuple(board) for board in boards.tolist()]
