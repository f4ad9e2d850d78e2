"""Lines of players that choose levels, as flat arrays for compiled hands."""

from __future__ import annotations

import functools

import numpy as np

from equilibrist.cards.ranking import rank_tables
from equilibrist.kernels.array_structs import LevelGame, LineTables
from equilibrist.papers.ectomynx.betting_lines import (
    BB,
    NUM_STREETS,
    STACK,
    Line,
    Mark,
    StreetEnd,
    all_lines,
    line_numbers,
)
from equilibrist.papers.ectomynx.level_weights import line_starts
from equilibrist.papers.ectomynx.swap_rule import swap_tables
from equilibrist.papers.ectomynx.textures import texture_tables


@functools.cache
def level_game() -> LevelGame:
    """Build all tables that a compiled hand needs; the result is cached."""
    lines = all_lines()
    slots = [line.num_slots for line in lines]
    ends = [(line, end) for line in lines for end in line.ends.values()]
    tables = LineTables(
        num_levels=np.array([line.num_levels for line in lines]),
        num_slots=np.array(slots),
        weight_start=line_starts()[:-1],
        slot_start=np.cumsum([0, *slots[:-1]]),
        end_start=np.cumsum([0, *(len(line.ends) for line in lines[:-1])]),
        leads=np.array([leads for line in lines for leads in line.leads]),
        next=np.array([_next(line, end) for line, end in ends]),
        stake=np.array([STACK - line.behind + min(end.amounts) for line, end in ends]),
        played=np.array([end.played for _, end in ends]),
    )
    return LevelGame(rank_tables(7), swap_tables(), texture_tables(), tables)


def _next(line: Line, end: StreetEnd) -> int:
    """Return the line after a street, or the code of the hand's end."""
    from equilibrist.papers.ectomynx.kernels.fixed_strategy import BB_FOLDS, BU_FOLDS, SHOWDOWN

    if end.folder is not None:
        return BB_FOLDS if end.folder == BB else BU_FOLDS
    if line.street == NUM_STREETS - 1 or end.amounts[BB] == line.behind:
        return SHOWDOWN
    return line_numbers()[(*line.history, Mark(end.is_led, end.level))]
