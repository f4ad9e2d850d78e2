"""The last round in sections: entries of which all rows fit into the cache of a core.

The leaves of a section fill vectors of sixteen lanes, so entries are packed by their showdowns and
folds, largest first, as things into boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.array_structs import LeafTables, Sections, Treeplex

_LANES = 16  # leaves that kernels sum side by side, in float32


class LastRound(NamedTuple):
    """Both players' sections of the last round, and its leaves by section with their rows there."""

    players: tuple[Sections, Sections]
    leaves: LeafTables


def last_round(trees: tuple[Treeplex, Treeplex], leaves: LeafTables) -> LastRound:
    """Divide the last round into sections."""
    entry = [_entry_of_row(tree) for tree in trees]
    folds = slice(int(leaves.fold_start[-2]), int(leaves.fold_start[-1]))
    shown = slice(int(leaves.showdown_start[-2]), int(leaves.showdown_start[-1]))
    fold_rows, shown_rows = leaves.fold_rows[folds], leaves.showdown_rows[shown]
    of_fold, of_shown = entry[0][fold_rows[:, 0]], entry[0][shown_rows[:, 0]]
    num_entries = int(trees[0].entry_start[-1] - trees[0].entry_start[-2])
    counts = [np.bincount(of, minlength=num_entries).tolist() for of in (of_fold, of_shown)]
    section = _packed(*counts)
    places, players = zip(
        *(_sections(tree, section[of]) for tree, of in zip(trees, entry, strict=True)), strict=True
    )
    order = [np.argsort(section[of], kind="stable") for of in (of_fold, of_shown)]
    starts = [
        np.searchsorted(np.sort(section[of]), np.arange(section.max() + 2))
        for of in (of_fold, of_shown)
    ]
    local = [
        np.stack([places[p][rows[of, p]] for p in (0, 1)], axis=1).astype(np.int32)
        for rows, of in zip((fold_rows, shown_rows), order, strict=True)
    ]
    return LastRound(
        players,
        LeafTables(
            fold_start=starts[0],
            fold_rows=local[0],
            fold_payoff=leaves.fold_payoff[folds][order[0]],
            showdown_start=starts[1],
            showdown_rows=local[1],
            showdown_stake=leaves.showdown_stake[shown][order[1]],
        ),
    )


def whole_round(tree: Treeplex) -> Sections:
    """Return a player's last round as one section, whose rows are those of the round."""
    return _sections(tree, np.zeros(int(tree.num_sequences[-1]), np.intp))[1]


def _entry_of_row(tree: Treeplex) -> NDArray[np.intp]:
    """Return, for each row of the last round, the entry that it follows."""
    found = np.arange(int(tree.num_sequences[-1]))
    for d in range(int(tree.decision_start[-2]), int(tree.decision_start[-1])):
        first = int(tree.decision_first[d])
        found[first : first + int(tree.decision_size[d])] = found[tree.decision_parent[d]]
    return found


def _packed(folds: Sequence[int], shown: Sequence[int]) -> NDArray[np.intp]:
    """Return the section of each entry, given the numbers of its leaves: first fit decreasing."""
    section = np.zeros(len(folds), np.intp)
    boxes: list[list[int]] = []
    for e in sorted(range(len(folds)), key=lambda e: (-shown[e], -folds[e])):
        fits = (
            k
            for k, (own_folds, own_shown, most) in enumerate(boxes)
            if _vectors(own_folds + folds[e]) + _vectors(own_shown + shown[e]) <= most
        )
        k = next(fits, len(boxes))
        if k == len(boxes):
            boxes.append([0, 0, max(2, _vectors(folds[e]) + _vectors(shown[e]))])
        boxes[k][0] += folds[e]
        boxes[k][1] += shown[e]
        section[e] = k
    return section


def _vectors(leaves: int) -> int:
    return -(-leaves // _LANES)


def _sections(tree: Treeplex, section: NDArray[np.intp]) -> tuple[NDArray[np.intp], Sections]:
    """Return the place of each row in its section, and the sections; `section` is that of rows."""
    num_sections, num_entries = (
        int(section.max()) + 1,
        int(tree.entry_start[-1] - tree.entry_start[-2]),
    )
    place = np.zeros(len(section), np.intp)
    num_rows = np.zeros(num_sections, np.int64)
    for row, k in enumerate(section.tolist()):  # a decision's actions are contiguous, also here
        place[row] = num_rows[k]
        num_rows[k] += 1
    round_decisions = slice(int(tree.decision_start[-2]), int(tree.decision_start[-1]))
    first, parent = tree.decision_first[round_decisions], tree.decision_parent[round_decisions]
    order = np.argsort(section[first], kind="stable")
    entries = np.argsort(section[:num_entries], kind="stable")
    steps = np.arange(num_sections + 1)
    return place, Sections(
        num_rows=num_rows,
        entry_start=np.searchsorted(section[entries], steps),
        entry=entries.astype(np.int32),
        decision_start=np.searchsorted(section[first][order], steps),
        decision_parent=place[parent[order]].astype(np.int32),
        decision_first=place[first[order]].astype(np.int32),
        decision_size=tree.decision_size[round_decisions][order],
        locked=tree.locked[round_decisions][order],
        row=(first[order] - num_entries).astype(np.int32),
        place=(
            place[first[order]] - np.bincount(section[:num_entries])[section[first[order]]]
        ).astype(np.int32),
    )
