"""One board of a game's last round as a game of its own, for questions about that board only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equilibrist.kernels.array_structs import LeafTables, PairTables, Treeplex
from equilibrist.models.game import SequenceGame


def one_board(game: SequenceGame, board: int) -> SequenceGame:
    """Build the game of one board of the last round, with sorted hands; all its entries are played.

    The gradient of a plan's block is that block of the whole game's gradient.

    Example:
        >>> from equilibrist.models.spot import Chips, Spot
        >>> turn = Spot.of("Td9d6hQc", "QQ+,AK", "88-22", Chips(200, 900), bets="a").build().game
        >>> river = one_board(turn, 7)
        >>> turn.lengths, river.lengths
        ((23030, 23030), (469, 469))
    """
    first, second = (_tree(tree, board) for tree in game.trees)
    return replace(
        game,
        trees=(first, second),
        leaves=_leaves(game.leaves),
        pairs=_pairs(game.pairs, board),
        betting=None,
        states=None,
        given=None,
        held=None,
        backend="cpu",
    )


def _tree(tree: Treeplex, board: int) -> Treeplex:
    states, entries = int(tree.num_states[board]), int(tree.entry_start[-1] - tree.entry_start[-2])
    decisions = slice(int(tree.decision_start[-2]), int(tree.decision_start[-1]))
    return Treeplex(
        num_sequences=tree.num_sequences[-1:],
        board_start=np.array([0, 1]),
        block_start=np.array([0, int(tree.num_sequences[-1]) * states]),
        num_states=np.array([states]),
        board_parent=np.array([-1]),
        child_start=np.array([1, 1]),
        state_start=np.array([0, states]),
        state_parent=np.zeros(states, np.int32),
        entry_start=np.array([0, entries]),
        entry_parent=np.full(entries, -1, np.int32),
        decision_start=np.array([0, decisions.stop - decisions.start]),
        decision_parent=tree.decision_parent[decisions],
        decision_first=tree.decision_first[decisions],
        decision_size=tree.decision_size[decisions],
        locked=tree.locked[decisions],
    )


def _leaves(leaves: LeafTables) -> LeafTables:
    folds = slice(int(leaves.fold_start[-2]), int(leaves.fold_start[-1]))
    shown = slice(int(leaves.showdown_start[-2]), int(leaves.showdown_start[-1]))
    return LeafTables(
        fold_start=np.array([0, folds.stop - folds.start]),
        fold_rows=leaves.fold_rows[folds],
        fold_payoff=leaves.fold_payoff[folds],
        showdown_start=np.array([0, shown.stop - shown.start]),
        showdown_rows=leaves.showdown_rows[shown],
        showdown_stake=leaves.showdown_stake[shown],
    )


def _pairs(pairs: PairTables, board: int) -> PairTables:
    hands = slice(int(pairs.hand_start[board]), int(pairs.hand_start[board + 1]))
    states = slice(int(pairs.state_start[board]), int(pairs.state_start[board + 1]))
    ties = slice(int(pairs.tie_start[board]), int(pairs.tie_start[board + 1]))
    return pairs._replace(
        hand_start=np.array([0, hands.stop - hands.start]),
        hand_state=pairs.hand_state[hands],
        hand_cards=pairs.hand_cards[hands],
        hand_value=pairs.hand_value[hands],
        hand_others=pairs.hand_others[hands],
        state_start=np.array([0, states.stop - states.start]),
        state_size=pairs.state_size[states],
        state_order=pairs.state_order[states],
        state_cards=pairs.state_cards[states],
        state_below=pairs.state_below[states],
        state_hands=pairs.state_hands[states],
        state_twin=pairs.state_twin[states],
        card_hands=pairs.card_hands[2 * hands.start : 2 * hands.stop],
        card_ties=pairs.card_ties[board : board + 1],
        tie_start=np.array([0, ties.stop - ties.start]),
        tie_end=pairs.tie_end[ties],
        state_ties=pairs.state_ties[states],
        weight=pairs.weight[board : board + 1],
    )
