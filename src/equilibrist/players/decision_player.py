"""`ectomynx-frc` at the table: fold, call or raise by chances, swaps by chances too.

Bets of any size are read as the position of a street that they are nearest to: of the positions
with the same player to act and the same player to bet first, the one whose bet differs least by its
ratio. What is at most a fifth of the pot is never folded to, and is a check, as EctomynX reads it,
unless it is as much as the player itself would bet. Where streets have ended
as they never do in training, the line with the nearest numbers of bets is looked up. Raises go to
what the position would raise to from the amounts on the table.

Source: EctomynX, "Pokerbots Strategy Report", V.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.bet_levels import bet_level
from equilibrist.abstraction.betting_lines import BB, BU, STACK
from equilibrist.abstraction.decision_lines import (
    FEWEST_TENTHS,
    MOST_BETS,
    NUM_POSITIONS,
    RIVER_TENTHS,
    TURN_TENTHS,
    actor_of,
    after_raise,
    decision_lines,
    decision_numbers,
    mark_of,
    raise_to,
)
from equilibrist.abstraction.swapping import card_to_swap, swap_places
from equilibrist.abstraction.textures import NUM_VOLATILITY_BINS, flop_textures, wetness_bins
from equilibrist.cards.card import Card, Cards
from equilibrist.games.action import CALL, FOLD, KEEP, Action
from equilibrist.games.action import raise_to as raise_action
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.level_player import (
    check_rules,
    spot_of,
    state_of_hand,
    states_of_hands,
)
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.readable import BetChances, Hands
from equilibrist.solving.decision_training import load_strategy
from equilibrist.strategies.bots import run_of
from equilibrist.strategies.decision_game import bet_row, by_rule, swap_row

NAME = "ectomynx-frc"


class DecisionPlayer(Player):
    """Plays chances [R, 3]; without any it calls everything and swaps by the rule."""

    def __init__(
        self, rules: GameRules, chances: NDArray[np.float32] | None = None, name: str = NAME
    ) -> None:
        check_rules(rules, NAME)
        self.name = name
        self.chances = by_rule() if chances is None else chances
        self.reset(0)

    def act(self, view: View) -> Action:
        """One of the actions of its mixture."""
        actions, chances = zip(*self.mixture(view), strict=True)
        return self._random.choices(actions, chances)[0]

    def mixture(self, view: View) -> Mixture:
        """Its actions, with chances above zero."""
        if view.betting.is_discarding and min(view.betting.stacks_left) == 0:
            return ((_by_rule(view), 1.0),)  # all-in: as in training, the rule
        actions = _swaps(view) if view.betting.is_discarding else _bets(view.betting, view.board)
        chances = self.chances[_row(view)].astype(float).tolist()
        found: dict[Action, float] = {}
        for action, chance in zip(actions, chances, strict=True):
            if chance > 0:
                found[action] = found.get(action, 0.0) + chance
        total = sum(found.values())
        return tuple((action, chance / total) for action, chance in found.items())

    def bet_chances(self, betting: Betting, board: Cards, holes: Hands) -> BetChances:
        """Actions of the actor with their chances [N], for hole cards [N, 2]."""
        line, position = nearest_line(_marks(betting, board)), position_of(betting, board)
        rows = bet_row(line, position, 0) + NUM_POSITIONS * states_of_hands(holes, board)
        chances = self.chances[rows].astype(np.float64)
        chances /= chances.sum(axis=1, keepdims=True)
        found: dict[Action, NDArray[np.float64]] = {}
        for action, column in zip(_bets(betting, board), chances.T, strict=True):
            found[action] = found.get(action, np.zeros(len(holes))) + column
        return tuple(found.items())

    def swap_chances(self, betting: Betting, board: Cards, holes: Hands) -> NDArray[np.float64]:
        """Chances [N, 3] to keep both cards, swap the first and swap the second."""
        assert betting.actor is not None
        places = swap_places(holes, np.tile(np.array(board, np.uint8), (len(holes), 1)))
        if min(betting.stacks_left) == 0:
            return np.eye(3)[places + 1]
        keeps, ranks = places < 0, holes >> 2
        rule = np.where(keeps, ranks[:, 0] > ranks[:, 1], places).astype(np.int64)
        states = 2 * states_of_hands(holes, board) + keeps
        start = swap_row(nearest_line(_marks(betting, board)), betting.actor, 0, keeps=False)
        chances = self.chances[start + 2 * states].astype(np.float64)
        chances /= chances.sum(axis=1, keepdims=True)
        found, every = np.empty((len(holes), 3)), np.arange(len(holes))
        found[:, 0] = chances[:, 0]
        found[every, 1 + rule], found[every, 2 - rule] = chances[:, 1], chances[:, 2]
        return found

    def reset(self, seed: int) -> None:
        """Draw from a seed; it has no memory."""
        self._random = random.Random(seed)


def make_decision_player(rules: GameRules, folder: str) -> DecisionPlayer:
    """The player of a run's folder, "" for that of the bot."""
    check_rules(rules, NAME)
    return DecisionPlayer(rules, load_strategy(Path(folder) if folder else run_of(NAME)))


def _row(view: View) -> int:
    """The row of what is to be decided."""
    betting, state = view.betting, state_of_hand(view.hole, view.board)
    line = nearest_line(_marks(betting, view.board))
    if betting.is_discarding:
        keeps = card_to_swap(view.hole, view.board) is None
        return swap_row(line, view.player, state, keeps=keeps)
    return bet_row(line, position_of(betting, view.board), state)


def _by_rule(view: View) -> Action:
    card = card_to_swap(view.hole, view.board)
    return KEEP if card is None else Action("d", card=card)


def _swaps(view: View) -> tuple[Action, Action, Action]:
    """Keep both cards, swap that of the rule, swap the other."""
    card = rule_card(view.hole, view.board)
    other = next(held for held in view.hole if held != card)
    return KEEP, Action("d", card=card), Action("d", card=other)


def rule_card(hole: Cards, board: Cards) -> Card:
    """The card that the swap rule gives away; the lower one where it keeps both."""
    card = card_to_swap(hole, board)
    return min(hole, key=lambda held: held >> 2) if card is None else card


def _bets(betting: Betting, board: Cards) -> tuple[Action, Action, Action]:
    """Fold, call and raise; a call where there is nothing to fold to, or no raise."""
    assert betting.actor is not None
    spot, position = spot_of(betting, betting.actor), position_of(betting, board)
    is_bet = betting.can_fold and not _is_small(betting.round, spot.pot, spot.bet)
    raised = CALL
    if betting.can_raise and after_raise(betting.round, position) >= 0:
        size = raise_to(
            betting.round, position, spot.pot, spot.bet, spot.own, spot.behind, tenths(board)
        )
        amount = max(betting.opening + size, betting.min_raise_to)
        raised = raise_action(min(amount, betting.max_raise_to))
    return FOLD if is_bet else CALL, CALL, raised


def tenths(board: Cards) -> int:
    """What part of the pot is bet on a board; the least before the flop, where it does not count.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> [tenths(parse_cards(board)) for board in ("QsJsTs", "9s6h2d", "9s6h2d2c")]
        [10, 6, 5]
    """
    if not board:
        return FEWEST_TENTHS
    if len(board) == 3:
        wet, volatile = divmod(int(flop_textures([board])[0]) - 1, NUM_VOLATILITY_BINS)
        return FEWEST_TENTHS + wet + volatile
    wetness = int(wetness_bins([board])[0]) - 1
    return (TURN_TENTHS if len(board) == 4 else RIVER_TENTHS)[wetness]


# --- reading the betting --------------------------------------------------------------------------


def position_of(betting: Betting, board: Cards) -> int:
    """The position that a street's betting is nearest to.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> game, board = get_game("discard-holdem"), parse_cards("9s6h2d")
        >>> [position_of(parse_betting(game, f"r6c/kk{bets}"), board)
        ...  for bets in ("", "c", "r13", "r8", "r200", "cr13")]
        [0, 1, 2, 1, 4, 6]
    """
    actor = betting.actor
    assert actor is not None
    return _position(betting, len(betting.history) - 1, board, actor)


def _position(betting: Betting, street: int, board: Cards, actor: int) -> int:
    """The position on a street, whoever acts next there, or who called."""
    before, amounts, first = _street(betting, street)
    bet, unbet = max(amounts), next(p for p in (0, 1) if actor_of(street, p) == actor)
    if first is None:
        return unbet
    start = 2 if first == BB else 6
    sizes = _ladder(street, before, start, tenths(board))
    if _is_small(street, 2 * before, bet) and bet < sizes[0]:
        return unbet
    there = [start + k for k in range(len(sizes)) if actor_of(street, start + k) == actor]
    if not there:  # such a bet would have been all-in at once: the nearest that faces one
        there = [start + len(sizes) - 1]
    return min(there, key=lambda p: abs(np.log(bet / sizes[p - start])))


def _is_small(street: int, pot: int, bet: int) -> bool:
    """Whether a bet is at most a fifth of the pot: never folded to."""
    return street > 0 and bet_level(bet, pot) == 0


def _street(betting: Betting, street: int) -> tuple[int, list[int], int | None]:
    """Chips put in before a street, on it by each, and who bet first."""
    spent, first, before = [2, 1], None, 0
    for r in range(street + 1):
        before = 0 if r == 0 else max(spent)
        actor, first = (BU if r == 0 else BB), None
        for action in betting.history[r]:
            if action.kind == "r":
                first = actor if first is None else first
                spent[actor] = action.amount
            elif action.kind == "c":
                spent[actor] = max(spent)
            if action.kind in "rc":
                actor = 1 - actor
    return before, [chips - before for chips in spent], first


def _ladder(street: int, before: int, start: int, part: int) -> list[int]:
    """Bets of a street from the first to the one that is all-in, or the fourth."""
    sizes, own, bet = [], [2, 1] if street == 0 else [0, 0], 2 if street == 0 else 0
    actor = BB if start == 2 else BU
    position = next(p for p in (0, 1) if actor_of(street, p) == actor)
    stack = STACK - before
    while position >= 0 and bet < stack:
        actor = actor_of(street, position)
        behind = stack - own[actor]
        bet = raise_to(street, position, 2 * before, bet, own[actor], behind, part)
        own[actor] = bet
        sizes.append(bet)
        position = after_raise(street, position)
    return sizes


def _marks(betting: Betting, board: Cards) -> tuple[int, ...]:
    """How the streets before have ended."""
    marks = []
    for street in range(len(betting.history) - 1):
        bets = [action for action in betting.history[street] if action.kind in "cr"]
        first = BU if street == 0 else BB
        caller = first if len(bets) % 2 else 1 - first
        shown = board[: (0, 3, 4, 5)[street]]
        position = _position(betting, street, shown, caller)
        marks.append(mark_of(street, max(position, 1)))
    return tuple(marks)


def nearest_line(marks: Sequence[int]) -> int:
    """The number of the line with these marks, or with the nearest that exist.

    Example:
        >>> decision_lines()[nearest_line((3, 2))].marks  # after four bets a raise is all-in
        (3, 1)
    """
    found: tuple[int, ...] = ()
    for mark in marks:
        nexts = [
            line.marks[-1]
            for line in decision_lines()
            if line.marks[:-1] == found and len(line.marks) == len(found) + 1
        ]
        found = (*found, min(nexts, key=lambda other: _distance(mark, other)))
    return decision_numbers()[found]


def _distance(mark: int, other: int) -> tuple[int, bool]:
    """How far apart two marks are: by bets, then by who bet first."""
    most = MOST_BETS - 1
    bets = [0 if m == 0 else (m - 1) % most + 1 for m in (mark, other)]
    return abs(bets[0] - bets[1]), (mark > most) != (other > most)
