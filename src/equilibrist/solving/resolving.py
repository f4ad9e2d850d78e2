"""Safe re-solving: a better strategy for the rest of a hand that gives nothing away before it.

A player knows a strategy for the whole game, a `Profile`. At some public state it solves the rest
of the hand again, with more bets or more cards than the profile distinguishes. Solving it from both
players' ranges (*unsafe*) assumes that the opponent arrived there by the profile, which an opponent
need not do. In the *gadget game* (`models/subgame.Alternative`) every hand of the opponent may stay
out for what it is worth against the profile: its counterfactual best-response value. So

    Σ max(0, new value − old value of a hand) ≤ how far the solution is from optimal,

the sum over the opponent's hands with their probabilities, and the opponent's best response in the
whole game gains at most that (docs/nolimit.md has the proof). A bet that the profile does not have
is answered the same way, *nested*: the subgame starts after the bet, and staying out pays what the
hand was worth before it, by the best of the bets that the profile has.

Burch, Johanson and Bowling 2014; Brown and Sandholm, "Safe and Nested Subgame Solving for
Imperfect-Information Games", 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.card import Cards, cards_name
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.kernels.treeplex import block
from equilibrist.models.card_states import pair_weight
from equilibrist.models.game import BEST, Floats
from equilibrist.models.subgame import Alternative, Subgame, compatible, subgame_of
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import RISING_CFR_PLUS
from equilibrist.strategies.behaviour_table import find_board
from equilibrist.strategies.seat_tables import hand_numbers

Solve = Callable[[Subgame], tuple[Floats, Floats]]  # plans of a subgame
_ITERATIONS: Final = 1_000


class _Place(NamedTuple):
    """A board of a game, and the state that each hand has there."""

    round: int  # counted from the game's first round
    number: int  # of the stored board that stands for it, in its round
    board: Cards  # the cards of each deal in ascending order
    stored_hand: NDArray[np.int64]  # [H] the hand of the stored board that stands for each hand
    column: NDArray[np.int64]  # [H] −1 if the board blocks the hand


@dataclass(frozen=True, eq=False)
class Profile:
    """Both players' plans in a game with exact hands, whole or from a betting state on."""

    subgame: Subgame
    plans: tuple[Floats, Floats]  # [L] each
    _behaviour: dict[int, Floats] = field(default_factory=dict, repr=False)  # by player
    _values: dict[int, Floats] = field(default_factory=dict, repr=False)

    def reach(self, player: int, node: int, board: Cards) -> NDArray[np.float64]:
        """Return the probability that a player's range and actions lead to a node: [H].

        `board` is the board of the node's round; hands that it blocks have zero.
        """
        place = self._place(node, board)
        row = int(self.subgame.rows[player].row[node])
        return self._of_hands(place, self._block(player, place, self.plans[player])[row])

    def worth(self, player: int, node: int, board: Cards) -> NDArray[np.float64]:
        """Return the chips that each hand wins at a node by a best response: [H].

        The opponent plays its plan. Where the player is to act, its best action counts. Otherwise
        the player must have made the last action, or the round must open at the node. Hands that
        cannot meet a hand of the opponent have zero.
        """
        place, betting = self._place(node, board), self.subgame.betting
        rows = self.subgame.rows[player].row
        values = self._block(player, place, self._response(player))
        if betting.kind[node] == NodeKind.DECISION and betting.player[node] == player:
            of_state = values[rows[list(betting.children(node))]].max(axis=0)
        else:
            of_state = values[rows[node]]
        other = self._block(1 - player, place, self.plans[1 - player])
        of_hand = self.subgame.states.state_of_hand[place.round][place.number]
        held = of_hand >= 0
        theirs = np.where(held, other[self.subgame.rows[1 - player].row[node]][of_hand], 0.0)
        met = compatible(self.subgame.states.hands, theirs)
        size = np.bincount(of_hand[held], minlength=len(of_state))
        chance = self.weight(node, board) * size[of_hand] * met
        can_meet = held & (met > _least(met))
        found = np.divide(of_state[of_hand], chance, out=np.zeros(len(of_hand)), where=can_meet)
        return np.where(place.column >= 0, found[place.stored_hand], 0.0)

    def weight(self, node: int, board: Cards) -> float:
        """Return the probability of a board of a node's round and of one pair of hands on it."""
        r, number, *_ = self._place(node, board)
        game, betting = self.subgame.game, self.subgame.betting
        if game.pairs.is_sorted:
            return float(game.pairs.weight[int(game.trees[0].board_start[r]) + number])
        raw_boards = int(self.subgame.states.multiplicity[r][number])
        return raw_boards * pair_weight(betting.rules, betting.first_round + r)

    def behaviour(self, player: int) -> Floats:
        """Return the behaviour of a player's plan: [L]; uniform where the plan never goes."""
        if player not in self._behaviour:
            self._behaviour[player] = self.subgame.game.behaviour(player, self.plans[player])
        return self._behaviour[player]

    def _response(self, player: int) -> Floats:
        """Return the values of a player's rows if it responds best to the opponent's plan: [L]."""
        if player not in self._values:
            game = self.subgame.game
            values = game.gradient(player, self.plans[1 - player])
            game.fold_up(player, BEST, values, game.uniform(player, values.dtype))
            self._values[player] = values
        return self._values[player]

    def sorted_board(self, node: int, board: Cards) -> Cards:
        """Return a board of a node's round with the cards of each deal in ascending order."""
        return self._place(node, board).board

    def _place(self, node: int, board: Cards) -> _Place:
        """Find the stored board that stands for a board of a node's round, and hands on it."""
        states, betting = self.subgame.states, self.subgame.betting
        r = int(betting.round[node]) - betting.first_round
        number, cards, renaming = find_board(
            betting.rules, states, r, cards_name(board), betting.first_round
        )
        stored = hand_numbers(np.argsort(renaming)[states.hands.astype(np.int64)])
        return _Place(r, number, cards, stored, states.state_of_hand[r][number][stored])

    def _block(self, player: int, place: _Place, vector: Floats) -> Floats:
        tree = self.subgame.game.trees[player]
        return block(tree, place.round, int(tree.board_start[place.round]) + place.number, vector)

    def probabilities(self, node: int, board: Cards) -> Floats:
        """Return the probability of each child of a decision node, with each hand: [A, H]."""
        player, place = int(self.subgame.betting.player[node]), self._place(node, board)
        rows = self.subgame.rows[player].row[list(self.subgame.betting.children(node))]
        own = self._block(player, place, self.behaviour(player))
        return own[rows][:, np.maximum(place.column, 0)]

    @staticmethod
    def _of_hands(place: _Place, of_state: Floats) -> NDArray[np.float64]:
        return np.where(place.column >= 0, of_state[np.maximum(place.column, 0)], 0.0)


def _least(met: NDArray[np.float64]) -> float:
    """Return the weight below which no hands meet: sums of weights have rounding errors."""
    return 1e-12 * float(met.max(initial=0.0))


def resolving_game(
    profile: Profile,
    player: int,
    node: int,
    betting: BettingTree,
    board: Cards,
    *,
    is_safe: bool = True,
    scale: float = 1.0,
    least: float = 0.0,
) -> Subgame:
    """Return the game in which `player` solves the rest of a hand again.

    The hand is at a `node` of the profile, or after a bet there of the opponent that the profile
    does not have; `betting` is the tree from the state at the table on. The game is the gadget
    game, or if not `is_safe` that of both ranges. `scale` converts chips of the profile to chips at
    the table, where pots differ. With `least` above 0, hands have at least that share of the
    largest weight, so that a hand that the profile rarely plays has a strategy too, and an empty
    range is all hands. Without hands of its own the player has nothing to be safe with.
    """
    own, opponent = profile.reach(player, node, board), 1 - player
    is_safe = is_safe and bool(own.any())
    board = profile.sorted_board(node, board)
    theirs = np.ones_like(own) if is_safe else profile.reach(opponent, node, board)
    if least > 0:
        own, theirs = (
            np.maximum(weight, least * weight.max()) if weight.any() else np.ones_like(weight)
            for weight in (own, theirs)
        )
    ranges = (own, theirs) if player == 0 else (theirs, own)
    if not is_safe:
        return subgame_of(betting, board, ranges)
    values = scale * profile.worth(opponent, node, board)
    return subgame_of(betting, board, ranges, alternative=Alternative(opponent, values))


def solve_by_cfr(subgame: Subgame, iterations: int = _ITERATIONS) -> tuple[Floats, Floats]:
    """Return the average plans of some iterations of CFR."""
    state = RISING_CFR_PLUS.init(subgame.game)
    RISING_CFR_PLUS.step(subgame.game, state, iterations)
    return RISING_CFR_PLUS.plans(subgame.game, state)


# --- the whole game -------------------------------------------------------------------------------


class Resolved(NamedTuple):
    """Strategy of one player in a whole game after re-solving, and what that can cost at most."""

    plan: Floats  # [L]
    error: float  # sum of the gaps of the subgames' solutions, in chips of the whole game


def openings(betting: BettingTree, r: int) -> dict[int, int]:
    """Return the decisions that open a round, as `resolve_everywhere` takes them.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> betting = BettingTree.build(get_game("leduc"))
        >>> [betting.name(node) for node in openings(betting, 1)]
        ['cc/', 'rc/', 'crc/', 'rrc/', 'crrc/']
    """
    found = (betting.round == r) & (betting.kind == NodeKind.DECISION) & (betting.action_kind == 0)
    return {node: node for node in np.flatnonzero(found).tolist()}


def unknown_bets(known: BettingTree, betting: BettingTree, player: int) -> dict[int, int]:
    """Return the states after the opponent's first bet that `known` does not have.

    Each is given with the node of `known` where the bet was made, as `resolve_everywhere` takes it.

    Example:
        >>> from equilibrist.games.bet_menu import BetMenu
        >>> from equilibrist.games.catalog import get_game
        >>> rules = get_game("leduc")
        >>> few = BettingTree.build(rules, BetMenu.parse(max_raises="1 1"))
        >>> betting = BettingTree.build(rules)
        >>> [betting.name(node) for node in unknown_bets(few, betting, 1)]
        ['crr', 'cc/crr', 'rc/crr', 'crc/crr']
    """
    found, pairs = {}, [(0, 0)]
    for node, own in pairs:  # the list grows during the iteration
        steps = {known.step(child): child for child in known.children(own)}
        for child in betting.children(node):
            step = betting.step(child)
            if step in steps:
                pairs.append((child, steps[step]))
            elif betting.player[node] == 1 - player:
                found[child] = own
    return found


def resolve_everywhere(
    profile: Profile,
    player: int,
    nodes: Mapping[int, int],
    *,
    whole: Subgame | None = None,
    behaviour: Floats | None = None,
    is_safe: bool = True,
    solve: Solve = solve_by_cfr,
) -> Resolved:
    """Solve the rest of a game again for one player, at some nodes and on every board.

    `nodes` maps decisions of the `whole` game, of which none follows another, to the nodes of the
    profile where ranges and values are taken; the whole game is by default that of the profile.
    Elsewhere the player has its `behaviour` [L] of the whole game, by default that of the profile.
    The result is the strategy that re-solves at these nodes during play.
    """
    game = profile.subgame if whole is None else whole
    out = np.array(profile.behaviour(player) if behaviour is None else behaviour)
    error = 0.0
    for node, known in nodes.items():
        start = game.betting.state(node)
        betting = BettingTree.build(start.rules, game.betting.menu, start=start, runs_out=True)
        for board in map(tuple, game.states.boards[int(game.betting.round[node])].tolist()):
            reach = profile.reach(player, known, board)
            if not reach.any():
                continue
            found = resolving_game(profile, player, known, betting, board, is_safe=is_safe)
            solved = Profile(found, solve(found))
            graft(game, out, node, board, solved, player)
            gap = evaluate(found.game, solved.plans).nash_conv
            chips = profile.weight(known, board) * reach.max() / found.game.pairs.weight[0]
            error += float(gap * chips)
    return Resolved(game.game.realize(player, out), error)


def graft(
    whole: Subgame, behaviour: Floats, node: int, board: Cards, solved: Profile, player: int
) -> None:
    """Write a player's solution below a node and board into its `behaviour` [L] of a whole game.

    Bets of the whole game that the subgame does not have get probability zero.
    """
    part, betting = solved.subgame, whole.betting
    tree, rows = whole.game.trees[player], whole.rows[player].row
    for below in np.flatnonzero(part.rows[player].decision >= 0).tolist():
        r = int(part.betting.round[below])
        own = betting.parse(betting.name(node) + part.betting.name(below))
        row_of = {betting.step(child): rows[child] for child in betting.children(own)}
        steps = [part.betting.step(child) for child in part.betting.children(below)]
        for number, cards in enumerate(whole.states.boards[r].tolist()):
            if tuple(cards[: len(board)]) != board:
                continue
            states, example = np.unique(whole.states.state_of_hand[r][number], return_index=True)
            found = solved.probabilities(below, tuple(cards))[:, example[states >= 0]]
            out = block(tree, r, int(tree.board_start[r]) + number, behaviour)
            out[list(row_of.values())] = 0
            out[[row_of[step] for step in steps]] = found
