"""The player `ectomynx`: swaps by the rule, bets by levels drawn from weights.

On every street the player draws a slot from the weights of its state at its first action and keeps
it for the street. Bets of any size are read by their level; if they lead to a history that players
with levels never reach, the nearest history is used, and the highest level of a line means all-in,
whatever the size of the pot.

Source: EctomynX, "Pokerbots Strategy Report", I and III.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equilibrist.bots.bot import Bot
from equilibrist.cards.card import Cards
from equilibrist.cards.hand import class_table, hand_index
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.action import CALL, FOLD, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.papers.ectomynx.bet_levels import CALL as CALLS
from equilibrist.papers.ectomynx.bet_levels import FOLD as FOLDS
from equilibrist.papers.ectomynx.bet_levels import MOST_LEVEL, BettingView, bet_level, decide
from equilibrist.papers.ectomynx.betting_lines import (
    BB,
    BIG_BLIND,
    BU,
    SMALL_BLIND,
    STACK,
    Line,
    Mark,
    all_lines,
    nearest_line,
)
from equilibrist.papers.ectomynx.level_training import load_training
from equilibrist.papers.ectomynx.level_weights import (
    line_block,
    num_states,
    report_start,
    state_of,
)
from equilibrist.papers.ectomynx.swap_rule import swap_by_rule, swap_places, swap_tables
from equilibrist.papers.ectomynx.textures import (
    NUM_CLASSES,
    flop_textures,
    straight_tables,
    texture_tables,
    wetness_bins,
)
from equilibrist.players.player import Player, View
from equilibrist.players.range_queries import (
    BetProbabilities,
    Hands,
    before_each,
    is_bet_of,
    taken_at,
)


class LevelPlayer(Player):
    """A player with weights [2, W]; default: the weights that the report starts from."""

    _key: tuple[int, str, Cards] | None = None  # hand and street of the drawn level

    def __init__(
        self,
        rules: GameRules,
        weights: NDArray[np.float64] | None = None,
        name: str = "ectomynx",
    ) -> None:
        check_rules(rules)
        self.name = name
        self.weights = (
            np.array([report_start(BB), report_start(BU)]) if weights is None else weights
        )
        self.reset(0)

    def act(self, view: View) -> Action:
        """Swap by the rule, or bet up to the level of the street."""
        betting = view.betting
        if betting.is_discarding:
            return swap_by_rule(view.hole, view.board)
        key = view.state.hand_number, betting.text.rpartition("/")[0], view.hole
        if key != self._key:
            self._key = key
            self._level, self._checks = self._draw(view)
        return level_action(betting, self._level, checks=self._checks)

    def bet_probabilities(self, betting: Betting, board: Cards, holes: Hands) -> BetProbabilities:
        """Return the actor's actions with their probabilities [N], for hole cards [N, 2].

        The level of the street is hidden, but the actor's actions on it rule out some levels.
        """
        assert betting.actor is not None
        number = nearest_line(history_of(betting))
        line, player = all_lines()[number], betting.actor
        rows = line_block(self.weights[player], number)[states_of_hands(holes, board)]
        own = [before for before in before_each(betting) if is_bet_of(before, player, betting)]
        first, end = 0, line.num_slots
        if player == BU and line.street > 0:
            first = line.num_levels * faces_bet(own[0] if own else betting)
            end = first + line.num_levels
        found: dict[Action, NDArray[np.float64]] = {}
        for slot in range(first, end):
            level, checks = _plan(line, slot, player)
            taken = [level_action(before, level, checks=checks) for before in own]
            if taken == [taken_at(betting, before) for before in own]:
                action = level_action(betting, level, checks=checks)
                found[action] = found.get(action, np.zeros(len(holes))) + rows[:, slot]
        total = np.sum(list(found.values()), axis=0) if found else np.zeros(len(holes))
        if not (total > 0).any():
            return ((CALL, np.ones(len(holes))),)
        scale = np.where(total > 0, total, 1)
        return tuple((action, probabilities / scale) for action, probabilities in found.items())

    def swap_probabilities(
        self, betting: Betting, board: Cards, holes: Hands
    ) -> NDArray[np.float64]:
        """Return the probabilities [N, 3] of keeping both cards, swapping the first or second."""
        places = swap_places(holes, np.tile(np.array(board, np.uint8), (len(holes), 1)))
        return np.eye(3)[places + 1]

    def _draw(self, view: View) -> tuple[int, bool]:
        """Draw the level of the street, and whether the player starts with a check."""
        number = nearest_line(history_of(view.betting))
        line = all_lines()[number]
        row = line_block(self.weights[view.player], number)[state_of_hand(view.hole, view.board)]
        first, end = 0, line.num_slots
        if view.player == BU and line.street > 0:
            first = line.num_levels * faces_bet(view.betting)
            end = first + line.num_levels
        slots = range(first, end)
        slot = self._random.choices(slots, row[first:end].tolist())[0]
        return _plan(line, slot, view.player)

    def reset(self, seed: int) -> None:
        """Forget the street and restart the random generator with a seed."""
        self._random = random.Random(seed)
        self._key = None
        self._level, self._checks = 0, False


def _plan(line: Line, slot: int, player: int) -> tuple[int, bool]:
    """Return the level of a slot, and whether it starts with a check."""
    return _meant(line, slot % line.num_levels), player == BB and slot >= line.num_levels


def level_action(betting: Betting, level: int, *, checks: bool = False) -> Action:
    """Return the actor's action at a level; with `checks` it starts the street with a check."""
    assert betting.actor is not None
    spot = spot_of(betting, betting.actor)
    is_first = not any(action.kind in "cr" for action in betting.history[-1])
    choice = CALLS if checks and is_first else decide(level, spot)
    if choice == FOLDS:
        return FOLD if betting.can_fold else CALL
    if choice == CALLS:
        return CALL
    amount = max(betting.opening + spot.raise_to, betting.min_raise_to)
    return raise_to(min(amount, betting.max_raise_to))


FIRST = "first"  # option instead of a folder: the weights that the report starts from


def make_level_player(bot: Bot, rules: GameRules, folder: str) -> LevelPlayer:
    """Make EctomynX with the weights of a training folder; "" is the folder of the trained bot.

    If the folder is missing, the `StorageError` says how to train it or to play the first weights.
    """
    check_rules(rules)
    if folder == FIRST:
        return LevelPlayer(rules, name=f"ectomynx-{FIRST}")
    try:
        there = Path(folder) if folder else bot.stored()
    except StorageError as missing:
        raise StorageError(
            f"{missing}; ectomynx:{FIRST} plays the report's first weights", value=missing.value
        ) from None
    return LevelPlayer(rules, load_training(there).weights)


def check_rules(rules: GameRules, name: str = "ectomynx") -> None:
    """Raise `InvalidValueError` unless the rules are those of the game that `name` plays."""
    is_dealt = rules.num_board_cards == (0, 3, 1, 1) and rules.discards == (
        False,
        True,
        True,
        False,
    )
    stacks, blinds = (STACK, STACK), (BIG_BLIND, SMALL_BLIND)
    if not is_dealt or rules.is_limit or rules.stacks != stacks or rules.blinds != blinds:
        raise InvalidValueError(
            f"{name} plays discard-holdem with stacks of {STACK} and blinds of {SMALL_BLIND} and "
            f"{BIG_BLIND}, not {rules.name} with stacks {rules.stacks} and blinds {rules.blinds}",
            value=rules.name,
        )


def spot_of(betting: Betting, player: int) -> BettingView:
    """Return the betting as a player with levels sees it.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> spot_of(parse_betting(get_game("discard-holdem"), "r6c/kkr14"), BU)
        BettingView(pot=12, bet=8, own=0, behind=194, num_bets=1, can_raise=True)
    """
    before = betting.opening
    return BettingView(
        pot=2 * before,
        bet=max(betting.spent) - before,
        own=betting.spent[player] - before,
        behind=STACK - betting.spent[player],
        num_bets=betting.num_raises + (betting.round == 0),
        can_raise=betting.can_raise,
    )


def history_of(betting: Betting) -> tuple[Mark, ...]:
    """Return the marks of the streets before the present one.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> history_of(parse_betting(get_game("discard-holdem"), "r6c/kkr14c/kk"))
        (Mark(is_led=False, level=2), Mark(is_led=True, level=1))
    """
    marks, before, reached = [], 0, BIG_BLIND
    for street, actions in enumerate(betting.history[:-1]):
        bets = [action for action in actions if action.kind in "cr"]
        pot, is_led = 2 * before, False
        for place, action in enumerate(bets):
            reached = max(reached, action.amount)
            if place == 0 and street > 0 and action.kind == "r":
                is_led = bet_level(action.amount - before, pot) > 0
        marks.append(Mark(is_led, bet_level(reached - before, pot)))
        before = reached
    return tuple(marks)


def faces_bet(betting: Betting) -> bool:
    """Return whether BB started the street with a bet that is too large to count as a check."""
    spot = spot_of(betting, BU)
    return bet_level(spot.bet, spot.pot) > 0


def _meant(line: Line, level: int) -> int:
    """Return the level to play for a level of a line; the line's highest level is all-in."""
    return MOST_LEVEL if level == line.num_levels - 1 else level


def states_of_hands(holes: Hands, board: Cards) -> NDArray[np.int64]:
    """Return the states [N] of hole cards [N, 2]; those of blocked hands are arbitrary."""
    from equilibrist.papers.ectomynx.kernels.texture import strength_classes

    if not board:
        low, high = np.sort(holes.astype(np.int64), axis=1).T
        return class_table()[high * (high - 1) // 2 + low].astype(np.int64)
    classes = np.empty((1, len(holes)), np.int8)
    cards, columns = np.array([board], np.uint8), np.arange(len(holes))
    strength_classes(cards, holes.astype(np.uint8), columns, *straight_tables(), 0, classes)
    textures = [int(flop_textures([board[:3]])[0])]
    textures += [int(wetness_bins([board[:size]])[0]) for size in range(4, len(board) + 1)]
    width = num_states(len(board) - 2) // NUM_CLASSES
    return np.maximum(classes[0], 0).astype(np.int64) * width + state_of(0, *textures)


def state_of_hand(hole: Cards, board: Cards) -> int:
    """Return the state of a hand: its class before the flop, later strength and textures."""
    from equilibrist.papers.ectomynx.kernels.fixed_strategy import hand_state

    if not board:
        return int(class_table()[hand_index(*hole)])
    return int(hand_state(swap_tables(), texture_tables(), *hole, np.array(board)))
