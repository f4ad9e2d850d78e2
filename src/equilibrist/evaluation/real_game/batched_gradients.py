"""Gradients of strategies of buckets against best responses below flops, on the GPU.

`batched_gradients` describes the openings of the rounds after the first as arrays, which the GPU
takes; the boards of a flop are listed when it is first needed, and stay on the GPU.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.cards.card import Cards as Board
from equilibrist.cards.hand import NUM_HANDS
from equilibrist.cards.ranking import rank_tables
from equilibrist.evaluation.real_game.batches import BoardLister, cards_of, hands_of
from equilibrist.evaluation.real_game.gradient import FlopSeconds
from equilibrist.evaluation.real_game.positions import round_ends
from equilibrist.evaluation.real_game.response import check_game
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.real_game_structs import Betting
from equilibrist.kernels.response_structs import GradientStructure, Openings, responder_end
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats
from equilibrist.models.treeplex import player_rows
from equilibrist.strategies.played import BucketColumns, TableStrategy

if TYPE_CHECKING:
    from equilibrist.kernels.gpu.real_game.boards import BoardTables


class BatchedAnswer(NamedTuple):
    """Values of the opponent's hands, and the gradient of the player's rows, over some flops."""

    values: Floats  # [P, H] at each opening of the flop round
    gradients: list[Any]  # [Q, K] float32 on the GPU, by round; [] if not requested


class BatchedGradient:
    """Best responses below flops to plans of buckets of one player, on the GPU.

    `dtype` is the type of the products of rivers: float16 rounds the plan and the reach by 0.05 %,
    and computes what best responses to these win; float32 takes twice as long.
    """

    def __init__(
        self, lister: BoardLister, tables: BoardTables, structure: GradientStructure, dtype: str
    ) -> None:
        from equilibrist.kernels.gpu.cfr_br.engine import FlopGradients

        self._lister, self._hands = lister, hands_of(lister.rules)
        self._engine = FlopGradients(tables, structure, dtype)

    def respond(
        self,
        flops: Sequence[Board],
        weights: Floats,
        rows: Sequence[Any],
        reach: Floats | None,
    ) -> BatchedAnswer:
        """Return what both players win below some flops; see `gradient.FlopGradient.respond`."""
        for flop in flops:
            if not self._engine.knows(flop):
                self._engine.add(flop, self._lister.batch([flop]))
        own = None if reach is None else np.ascontiguousarray(reach[:, self._hands])
        found, gradients = self._engine.respond(flops, weights, rows, own)
        values = np.zeros((len(found), NUM_HANDS))
        values[:, self._hands] = found
        return BatchedAnswer(values, gradients)

    def seconds(self, flop: Board, rows: Sequence[Any], reach: Floats) -> FlopSeconds:
        """Measure the time of a flop, once the kernels are compiled."""
        weight, taken = np.ones(1), []
        for own in (reach, None, reach):  # the first call compiles
            start = time.perf_counter()
            self.respond([flop], weight, rows, own)
            taken.append(time.perf_counter() - start)
        return FlopSeconds(taken[1], taken[2])


def batched_gradients(
    betting: BettingTree, buckets: Abstraction, dtype: str = "float16"
) -> tuple[BatchedGradient, BatchedGradient]:
    """Return what responds to each player's plans; both share the buckets' tables on the GPU."""
    from equilibrist.kernels.gpu.real_game.boards import BoardTables

    rules = betting.rules
    check_game(rules)
    trees = bucket_tree(betting, 0, buckets), bucket_tree(betting, 1, buckets)
    nothing = np.zeros(0)
    strategy = TableStrategy(betting, betting, trees, (nothing, nothing), BucketColumns(buckets))
    lister = BoardLister(rules, strategy)
    tables = BoardTables(cards_of(rules), rank_tables(7, rules.ranking), lister.columns)
    first, second = (
        BatchedGradient(lister, tables, structure_of(betting, trees[player], player), dtype)
        for player in (0, 1)
    )
    return first, second


def structure_of(betting: BettingTree, tree: Treeplex, player: int) -> GradientStructure:
    """Describe the openings of the rounds after the first, as the responder to a player sees them.

    `tree` is the player's.
    """
    first, second, third = (openings(betting, player, r) for r in (1, 2, 3))
    shapes = tuple((int(tree.num_sequences[r]), int(tree.num_states[r])) for r in (1, 2, 3))
    return GradientStructure((first, second, third), shapes)


def openings(tree: BettingTree, player: int, r: int) -> Openings:
    """Describe the openings of a round for the responder to a player.

    Example:
        >>> from equilibrist.games.betting_tree import BettingTree
        >>> from equilibrist.games.catalog import get_game
        >>> betting = BettingTree.build(get_game("holdem-limit"))
        >>> [openings(betting, 0, r).end_row.shape for r in (1, 2, 3)]
        [(7, 9), (63, 9), (567, 9)]
    """
    rules, row = tree.rules, player_rows(tree, player).row
    raises, is_first = rules.max_raises[r], rules.first_players[r] != player
    nodes = np.flatnonzero((tree.round == r) & (tree.action_kind == 0))
    number = np.full(len(tree) + 1, -1)
    number[np.flatnonzero((tree.round == r + 1) & (tree.action_kind == 0))] = np.arange(
        np.count_nonzero((tree.round == r + 1) & (tree.action_kind == 0))
    )
    ends = np.array([round_ends(tree, int(node)) for node in nodes]).reshape(len(nodes), -1)
    return Openings(
        Betting(float(rules.raise_sizes[r]), raises, is_first),
        tree.spent[nodes].max(axis=1).astype(np.float64),
        row[ends].astype(np.int64),
        row[_folds(tree, nodes, raises, is_first)].astype(np.int64),
        number[tree.first_child[ends]] if r + 1 < rules.num_rounds else np.full_like(ends, -1),
    )


def _folds(
    tree: BettingTree, nodes: NDArray[np.int64], raises: int, is_first: bool
) -> NDArray[np.int64]:
    """Return the nodes where the player folds to the responder's k-th raise: [O, m]."""
    found = []
    for k in range(1, raises + 1):
        is_checked = responder_end(k, raises, is_first) == k  # the player then faces the other one
        found.append(("c" if is_checked else "") + "r" * k + "f")
    return np.array([[_walk(tree, int(node), way) for way in found] for node in nodes])


def _walk(tree: BettingTree, node: int, way: str) -> int:
    place: int | None = node
    for kind in way:
        assert place is not None
        place = tree.child(place, kind)
    assert place is not None
    return place
