"""Players whose strategies are known, as realization plans of an exact game.

AIVAT needs the probability of each action with each hand. Players that are tables (`tables`) have
them: static players, solutions of small games and strategies of buckets, in limit games.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.streets import Boards
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import Plans
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import SeatTable
from equilibrist.kernels.treeplex import block, boards, parents_of
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.players.player import Player
from equilibrist.players.tables import PlayerTable, player_table
from equilibrist.strategies.seat_tables import hand_numbers


def known_plans(player: Player, game: SequenceGame, agreed_rounds: int = 0) -> Plans | None:
    """Return the plans of both seats that a player follows, or None if it is not a table.

    `game` is a limit game of `exact_game`; its symmetry must be `suits` or `cards`, because a
    strategy of buckets may distinguish cards that ranks merge. In the first `agreed_rounds` rounds
    the player calls by agreement.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from equilibrist.players.static import Mix
        >>> plan, _ = known_plans(Mix(0.2, 0.5, 0.3), exact_game(get_game("kuhn")))
        >>> plan[3:9].tolist()  # check and bet with each of three cards
        [0.7, 0.7, 0.7, 0.3, 0.3, 0.3]
    """
    if game.betting is None or game.states is None or not game.betting.rules.is_limit:
        raise InvalidValueError(
            f"{game.name} is not a limit game with cards, so players are not tables of it",
            value=game.name,
        )
    table = player_table(player, game.betting)
    if table is None:
        return None
    first, second = (_plan(game, table, seat, agreed_rounds) for seat in (0, 1))
    return first, second


class _Choices(NamedTuple):
    """Decisions of a player in a round: D decisions with C actions in all."""

    children: NDArray[np.int64]  # [C] nodes, decision by decision
    start: NDArray[np.int64]  # [D] place of each decision's first action among them
    size: NDArray[np.int64]  # [D]
    row: NDArray[np.int64]  # [C] of the actions in the plan's blocks

    @staticmethod
    def of(betting: BettingTree, player: int, r: int) -> _Choices:
        rows = player_rows(betting, player)
        nodes = np.flatnonzero((rows.decision >= 0) & (betting.round == r)).tolist()
        families = [np.array(betting.children(node)) for node in nodes]
        children = np.concatenate([np.zeros(0, np.int64), *families])
        size = np.array([len(family) for family in families], np.int64)
        return _Choices(children, np.cumsum(size) - size, size, rows.row[children].astype(np.int64))


def _plan(game: SequenceGame, table: PlayerTable, player: int, agreed_rounds: int) -> Floats:
    """Return the plan of one seat: the table looked up with each hand on each board."""
    betting, states, tree = game.betting, game.states, game.trees[player]
    assert betting is not None
    assert states is not None
    seat, columns = table.seats[player], table.columns[player]
    rounds = [_Choices.of(betting, player, r) for r in range(len(states.boards))]
    is_call = betting.action_kind == ord("c")
    behaviour = game.uniform(player)
    last = len(rounds) - 1
    for board in boards(tree, last):
        cards = states.boards[last][board - int(tree.board_start[last])]
        held = states.state_of_hand[last][board - int(tree.board_start[last])]
        hands = [np.flatnonzero(held == state)[0] for state in range(int(tree.num_states[board]))]
        numbers = hand_numbers(states.hands[hands])
        found = columns.follow(numbers, Boards(np.tile(cards, (len(hands), 1))))  # [R, S]
        place, own = board, np.arange(len(hands), dtype=np.int32)
        for r in range(last, -1, -1):  # boards of earlier rounds are written again, to the same
            choices = rounds[r]
            shares = (
                np.repeat(is_call[choices.children, None].astype(float), len(own), axis=1)
                if r < agreed_rounds
                else _shares(seat, choices, int(seat.state_start[r]) + found[r])
            )
            block(tree, r, place, behaviour)[choices.row[:, None], own] = shares
            if r:
                own, place = parents_of(tree, place)[own], int(tree.board_parent[place])
    return game.realize(player, behaviour)


def _shares(seat: SeatTable, choices: _Choices, places: NDArray[np.int64]) -> Floats:
    """Return the probability of each action in the states at some places: [C, S].

    A compiled match draws by the same numbers (`kernels.cpu.matches`).
    """
    if not len(choices.children):
        return np.zeros((0, len(places)))
    row = seat.row[choices.children][:, None]
    numbers = seat.probabilities[seat.cell[places] + np.maximum(row, 0) * seat.width[places]]
    numbers = np.where(row >= 0, numbers, 0).astype(np.float64)
    most = np.maximum.reduceat(numbers, choices.start, axis=0)
    least = np.repeat(np.minimum(seat.threshold, most), choices.size, axis=0)
    kept = np.where(numbers >= least, numbers, 0)
    return kept / np.repeat(np.add.reduceat(kept, choices.start, axis=0), choices.size, axis=0)
