"""Exact models of games from their rules, and plain matrix games."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from equilibrist.cards.hand import class_table
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import LeafTables, Treeplex
from equilibrist.models.card_states import CardStates, Symmetry, card_states
from equilibrist.models.game import SequenceGame
from equilibrist.models.leaves import dense_pairs, matrix_pairs, sorted_pairs
from equilibrist.models.treeplex import leaf_tables, player_rows, treeplex

# Boards with at most this number of hands are played by matrices, larger ones by sorted sweeps.
DENSE_HANDS = 16
_GAME_MENU = BetMenu()


def exact_game(
    rules: GameRules,
    menu: BetMenu = _GAME_MENU,
    *,
    symmetry: Symmetry | None = None,
    leaves: str = "auto",
    backend: str = "cpu",
) -> SequenceGame:
    """Build a game with its real cards; `leaves` is auto, dense or sorted.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> exact_game(get_game("leduc")).num_infosets
        288
    """
    check_exact(rules)
    betting = BettingTree.build(rules, menu)
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    if rules.rollout_cards:
        return _rolled_out(rules, betting, backend)
    states = card_states(rules, symmetry)
    trees = (treeplex(rows[0], states), treeplex(rows[1], states))
    pairs = sorted_pairs(rules, states)
    early = sum(betting.counts(NodeKind.SHOWDOWN)[:-1])
    most_hands = int(np.diff(pairs.hand_start).max())
    if leaves == "dense" or (leaves == "auto" and (early or most_hands <= DENSE_HANDS)):
        pairs = dense_pairs(trees[0], pairs)
    elif early:
        raise InvalidValueError(
            f"{rules.name} has all-ins before its last round: use dense leaves", value=leaves
        )
    return SequenceGame(
        name=rules.name,
        unit="chips",
        trees=trees,
        leaves=leaf_tables(betting, rows),
        pairs=pairs,
        first_player=rules.first_players[0],
        betting=betting,
        states=states,
        backend=backend,
    )


def check_exact(rules: GameRules) -> None:
    """Raise `InvalidValueError` for games that exact models do not support."""
    if rules.num_players != 2:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_players} players; models support two", value=rules.name
        )
    if any(rules.discards):
        raise InvalidValueError(
            f"{rules.name} has discards, which exact models do not support",
            value=rules.name,
        )


def _rolled_out(rules: GameRules, betting: BettingTree, backend: str) -> SequenceGame:
    """Build hold'em before the flop: 169 classes, the exact table of showdowns over all boards."""
    from equilibrist.cards.equity import preflop_table

    if (rules.num_hole_cards, rules.rollout_cards, len(rules.deck)) != (2, 5, 52):
        raise InvalidValueError(
            f"{rules.name}: boards can be rolled out only for hold'em hands before the flop",
            value=rules.rollout_cards,
        )
    table = preflop_table()
    total = table.total.sum()
    hand_classes = class_table().astype(np.int32)
    states = CardStates(
        symmetry="suits",
        hands=card_states(replace(rules, rollout_cards=0)).hands,
        boards=[np.zeros((1, 0), np.uint8)],
        multiplicity=[np.ones(1, np.int64)],
        board_parent=[np.full(1, -1, np.int64)],
        num_states=[np.array([169])],
        state_of_hand=[hand_classes[None]],
        state_parent=[np.zeros(169, np.int32)],
    )
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    return SequenceGame(
        name=rules.name,
        unit="chips",
        trees=(treeplex(rows[0], states), treeplex(rows[1], states)),
        leaves=leaf_tables(betting, rows),
        pairs=matrix_pairs([table.total / total], [(table.wins - table.losses) / total]),
        first_player=rules.first_players[0],
        betting=betting,
        states=states,
        backend=backend,
    )


def matrix_game(payoffs: ArrayLike, name: str = "matrix", unit: str = "points") -> SequenceGame:
    """Build a matrix game: player 0 picks a row, player 1 a column, player 0 wins the entry.

    Example:
        >>> matrix_game([[1, -1], [-1, 1]]).lengths
        (3, 3)
    """
    matrix = np.asarray(payoffs, np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InvalidValueError(
            f"payoffs must be a finite matrix, not an array of shape {matrix.shape}",
            value=matrix.shape,
        )
    cells = np.argwhere(np.ones_like(matrix)) + 1  # row 0 of either plan is its entry
    leaves = LeafTables(
        fold_start=np.array([0, len(cells)]),
        fold_rows=np.ascontiguousarray(cells, np.int32),
        fold_payoff=np.stack([matrix.ravel(), -matrix.ravel()], axis=1),
        showdown_start=np.zeros(2, np.int64),
        showdown_rows=np.zeros((0, 2), np.int32),
        showdown_stake=np.zeros(0),
    )
    trees = (simplex(matrix.shape[0]), simplex(matrix.shape[1]))
    return SequenceGame(
        name=name,
        unit=unit,
        trees=trees,
        leaves=leaves,
        pairs=matrix_pairs([np.ones((1, 1))], [np.ones((1, 1))]),
    )


def simplex(num_actions: int) -> Treeplex:
    """Build a treeplex of one decision."""
    one = np.zeros(1, np.int32)
    return Treeplex(
        num_sequences=np.array([num_actions + 1]),
        board_start=np.array([0, 1]),
        block_start=np.array([0, num_actions + 1]),
        num_states=np.array([1]),
        board_parent=np.array([-1]),
        child_start=np.array([1, 1]),
        state_start=np.array([0, 1]),
        state_parent=one,
        entry_start=np.array([0, 1]),
        entry_parent=one - 1,
        decision_start=np.array([0, 1]),
        decision_parent=one,
        decision_first=one + 1,
        decision_size=one + num_actions,
        locked=np.zeros(1, np.bool_),
    )
