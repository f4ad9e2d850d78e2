"""The player `ectomynx-frc`: fold, call, all-in, raise and swaps by probabilities.

Bets of any size are read as the nearest position of a street: of the positions with the same player
to act and the same first bettor, the one whose bet has the smallest ratio to the actual bet. All-in
is one of them: a player that bets all its chips, or nearly all, is read as going all-in from the
position before. A bet of at most a fifth of the pot is never folded to and counts as a check, as in
EctomynX, unless it is at least the player's own bet size. If streets have ended in a way that never
occurs in training, the line with the nearest numbers of bets is used. Raises use the position's
size with the actual amounts at the table.

Source: EctomynX, "Pokerbots Strategy Report", V.
"""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.bots.bot import Bot
from equilibrist.cards.card import Cards
from equilibrist.games.action import CALL, FOLD, KEEP, Action
from equilibrist.games.action import raise_to as raise_action
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.papers.ectomynx.bet_levels import bet_level
from equilibrist.papers.ectomynx.betting_lines import BB, BIG_BLIND, BU, STACK
from equilibrist.papers.ectomynx.decision_game import CALL as CALLS
from equilibrist.papers.ectomynx.decision_game import bet_row, by_rule, swap_row
from equilibrist.papers.ectomynx.decision_lines import (
    MOST_BETS,
    TENTHS,
    actor_of,
    after_shove,
    bets_of,
    decision_lines,
    decision_numbers,
    mark_of,
    raise_to,
)
from equilibrist.papers.ectomynx.decision_training import load_strategy
from equilibrist.papers.ectomynx.level_player import (
    check_rules,
    spot_of,
    states_of_hands,
)
from equilibrist.papers.ectomynx.swap_rule import swap_places
from equilibrist.papers.ectomynx.textures import flop_textures, wetness_bins
from equilibrist.players.player import Mixture, Player, View
from equilibrist.players.range_queries import BetProbabilities, Hands

NAME = "ectomynx-frc"

Bets: TypeAlias = list[tuple[int, int]]  # of a street: player and chips put in on the street


class DecisionPlayer(Player):
    """A player with probabilities [R, 4]; default: always call and swap by the rule."""

    def __init__(
        self, rules: GameRules, probabilities: NDArray[np.float32] | None = None, name: str = NAME
    ) -> None:
        check_rules(rules, NAME)
        self.name = name
        self.probabilities = by_rule() if probabilities is None else probabilities
        self.reset(0)

    def act(self, view: View) -> Action:
        """Draw one of the actions of the player's mixture."""
        actions, probabilities = zip(*self.mixture(view), strict=True)
        return self._random.choices(actions, probabilities)[0]

    def mixture(self, view: View) -> Mixture:
        """Return the actions that have a positive probability, with their probabilities."""
        spot = view.betting, view.board, np.array([view.hole], np.uint8)
        if view.betting.is_discarding:
            actions = [KEEP, *(Action("d", card=card) for card in view.hole)]
            probabilities = self.swap_probabilities(*spot)[0].tolist()
        else:
            bets = self.bet_probabilities(*spot)
            actions, probabilities = (
                [bet for bet, _ in bets],
                [float(probability[0]) for _, probability in bets],
            )
        return tuple(pair for pair in zip(actions, probabilities, strict=True) if pair[1] > 0)

    def bet_probabilities(self, betting: Betting, board: Cards, holes: Hands) -> BetProbabilities:
        """Return the actor's actions with their probabilities [N], for hole cards [N, 2]."""
        line, position = _place(betting, board)
        width = len(decision_lines()[line].positions)
        rows = bet_row(line, position, 0) + width * states_of_hands(holes, board)
        legal = _bets(betting, board, position)
        probabilities = _played(
            self.probabilities[rows], np.array([action is not None for action in legal])
        )
        found: dict[Action, NDArray[np.float64]] = {}
        for action, column in zip(legal, probabilities.T, strict=True):
            if action is not None:
                found[action] = found.get(action, np.zeros(len(holes))) + column
        return tuple(found.items())

    def swap_probabilities(
        self, betting: Betting, board: Cards, holes: Hands
    ) -> NDArray[np.float64]:
        """Return the probabilities [N, 3] of keeping both cards, swapping the first or second."""
        assert betting.actor is not None
        places = swap_places(holes, np.tile(np.array(board, np.uint8), (len(holes), 1)))
        if min(betting.stacks_left) == 0:  # after an all-in it swaps by the rule, as in training
            return np.eye(3)[places + 1]
        keeps, ranks = places < 0, holes >> 2
        rule = np.where(keeps, ranks[:, 0] > ranks[:, 1], places).astype(np.int64)
        states = 2 * states_of_hands(holes, board) + keeps
        start = swap_row(nearest_line(_marks(betting, board)), betting.actor, 0, keeps=False)
        probabilities = _played(self.probabilities[start + 2 * states, :3], np.ones(3, np.bool_))
        found, every = np.empty((len(holes), 3)), np.arange(len(holes))
        found[:, 0] = probabilities[:, 0]
        found[every, 1 + rule], found[every, 2 - rule] = probabilities[:, 1], probabilities[:, 2]
        return found

    def reset(self, seed: int) -> None:
        """Restart the random generator with a seed; the player has no memory."""
        self._random = random.Random(seed)


def _played(rows: NDArray[np.float32], is_legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the played probabilities of rows [N, A]; see `decision_game` for illegal actions."""
    probabilities = np.where(is_legal, rows, 0).astype(np.float64)
    probabilities[probabilities.sum(axis=1) == 0, CALLS] = 1
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def make_decision_player(bot: Bot, rules: GameRules, folder: str) -> DecisionPlayer:
    """Make the player of a run's folder; "" is the folder of the trained bot."""
    check_rules(rules, NAME)
    return DecisionPlayer(rules, load_strategy(Path(folder) if folder else bot.stored()))


def _bets(betting: Betting, board: Cards, position: int) -> tuple[Action | None, ...]:
    """Return fold, call, all-in and raise at a position, None for illegal actions."""
    assert betting.actor is not None
    spot = spot_of(betting, betting.actor)
    is_bet = betting.can_fold and not _is_small(betting.round, spot.pot, spot.bet)
    fold = FOLD if is_bet else None
    if not betting.can_raise or after_shove(position) < 0:
        return fold, CALL, None, None
    size = raise_to(
        betting.round, position, spot.pot, spot.bet, spot.own, spot.behind, tenths(board)
    )
    all_chips, raised = raise_action(betting.max_raise_to), None
    if size < spot.own + spot.behind:
        amount = max(betting.opening + size, betting.min_raise_to)
        raised = raise_action(min(amount, betting.max_raise_to))
    return fold, CALL, all_chips, raised


def tenths(board: Cards) -> int:
    """Return the bet size on a board in tenths of the pot; before the flop it is not used.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> [tenths(parse_cards(board)) for board in ("QsJsTs", "9s6h2d", "9s6h2d2c")]
        [10, 6, 5]
    """
    if not board:
        return TENTHS[0][0]
    textures = flop_textures([board]) if len(board) == 3 else wetness_bins([board])
    return TENTHS[len(board) - 2][int(textures[0]) - 1]


# --- reading the betting --------------------------------------------------------------------------


def position_of(betting: Betting, board: Cards) -> int:
    """Return the position nearest to the betting of the current street.

    Example:
        >>> from equilibrist.cards.card import parse_cards
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> game, board = get_game("discard-holdem"), parse_cards("9s6h2d")
        >>> [position_of(parse_betting(game, f"r6c/kk{bets}"), board)
        ...  for bets in ("", "c", "r13", "r8", "r200", "cr13", "cr13r200")]
        [0, 1, 2, 1, 8, 5, 13]
    """
    return _place(betting, board)[1]


def _place(betting: Betting, board: Cards) -> tuple[int, int]:
    """Return the line and the position of the current decision."""
    assert betting.actor is not None
    line = nearest_line(_marks(betting, board))
    return line, _position(betting, len(betting.history) - 1, board, line, betting.actor)


def _position(betting: Betting, street: int, board: Cards, line: int, actor: int) -> int:
    """Return the position on a street of a line; `actor` acts next there, or called."""
    before, bets = _street(betting, street)
    found = _read(street, before, bets, board, line, actor)
    if found is None:  # an all-in from the opponent's position
        found = _read(street, before, bets[:-1], board, line, 1 - actor)
        return after_shove(_unbet(street, 1 - actor) if found is None else found)
    return found


def _read(street: int, before: int, bets: Bets, board: Cards, line: int, actor: int) -> int | None:
    """Return the position that bets lead to, or None if the last bet is nearest to an all-in."""
    if not bets:
        return _unbet(street, actor)
    (first, _), (_, bet), stack = bets[0], bets[-1], STACK - before
    start, sizes = 2 if first == BB else 2 + MOST_BETS, bets_of(street, before, tenths(board))
    if _is_small(street, 2 * before, bet) and bet < sizes.get(start, stack):
        return _unbet(street, actor)
    there = [
        position
        for position in decision_lines()[line].positions
        if start <= position < start + MOST_BETS
        and position in sizes
        and actor_of(street, position) == actor
    ]
    nearest = min(there, key=lambda p: abs(np.log(bet / sizes[p])), default=None)
    return None if nearest is None or bet * bet > sizes[nearest] * stack else nearest


def _unbet(street: int, actor: int) -> int:
    """Return the position of an actor on a street without a bet."""
    return 0 if actor_of(street, 0) == actor else 1


def _is_small(street: int, pot: int, bet: int) -> bool:
    """Return whether a bet is at most a fifth of the pot, so that it is never folded to."""
    return street > 0 and bet_level(bet, pot) == 0


def _street(betting: Betting, street: int) -> tuple[int, Bets]:
    """Return the chips that each player has put in before a street, and the street's bets."""
    reached, before = BIG_BLIND, 0
    bets: Bets = []
    for r in range(street + 1):
        before, bets = 0 if r == 0 else reached, []
        actor = BU if r == 0 else BB
        for action in betting.history[r]:
            if action.kind == "r":
                reached = action.amount
                bets.append((actor, reached - before))
            if action.kind in "rc":
                actor = 1 - actor
    return before, bets


def _marks(betting: Betting, board: Cards) -> tuple[int, ...]:
    """Return the marks of the earlier streets."""
    marks: tuple[int, ...] = ()
    for street in range(len(betting.history) - 1):
        bets = [action for action in betting.history[street] if action.kind in "cr"]
        first = BU if street == 0 else BB
        caller = first if len(bets) % 2 else 1 - first
        shown = board[: (0, 3, 4, 5)[street]]
        position = _position(betting, street, shown, nearest_line(marks), caller)
        marks = (*marks, mark_of(street, max(position, 1)))
    return marks


@functools.cache
def nearest_line(marks: tuple[int, ...]) -> int:
    """Return the number of the line with these marks, or with the nearest existing ones.

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
    """Return the distance of two marks: by number of bets, then by first bettor."""
    bets = [0 if m == 0 else (m - 1) % MOST_BETS + 1 for m in (mark, other)]
    return abs(bets[0] - bets[1]), (mark > MOST_BETS) != (other > MOST_BETS)
