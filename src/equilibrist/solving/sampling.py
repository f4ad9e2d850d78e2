"""Monte Carlo CFR: iterations on a sample, for games too large to sweep.

Both samplers add to every regret a random number whose mean is what a full sweep would add, so the
average still converges, as 1 / √T (Lanctot, Waugh, Zinkevich and Bowling 2009). In turn each player
draws a sample of its own and updates against the opponent's present strategy.

*Public-chance sampling* (Johanson et al. 2012) draws a path of boards, one per round, the last one
by its probability and the others its parents. On the path all states of both players are swept at
once:

    v̂(row on board b) = [b on the path] / P(b) · (leaf values on b) + v̂(entries of the next board)

The mean of v̂ over paths is v, because P(b) is the probability that b is on the path. The average
is exact, not sampled: a board's behaviour changes only when it is visited, so until then its rows
grow by its behaviour times what the rows leading to it grew, which is added at the next visit.

*External sampling* (Lanctot et al. 2009) draws the whole deal and the opponent's actions, and walks
all actions of the player. The probability that a leaf is visited is the opponent's and chance's
share of reaching it, so its value needs no weight: regrets grow by chips. The opponent's average
grows by its probabilities at the decisions that are visited, which happens in proportion to the
opponent's own probability of getting there (times the probability of its cards, which does not
change).

Iteration t has weight t^γ in regrets and averages; γ = 1 is Linear MCCFR (Brown, Sandholm 2019).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.array_structs import ChanceTables, WalkTables
from equilibrist.kernels.cpu import external_sampling, sampling
from equilibrist.models.game import Floats, SequenceGame, check_no_offer
from equilibrist.models.treeplex import betting_walk, leaf_tables, player_rows
from equilibrist.solving.solver import State

_PARTS = ("behaviour", "regret", "average")
_Players: TypeAlias = list[tuple[Floats, ...]]


@dataclass(frozen=True)
class PublicChanceSampling:
    """CFR on one path of boards per iteration and player; on games of one board it is CFR.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from equilibrist.solving.best_response import evaluate
        >>> leduc, solver = exact_game(get_game("leduc")), PublicChanceSampling()
        >>> state = solver.init(leduc, seed=1)
        >>> solver.step(leduc, state, 5000)
        >>> evaluate(leduc, solver.plans(leduc, state)).nash_conv < 0.1
        True
    """

    gamma: float = 0.0  # iteration t has weight t^gamma
    dtype: str = "float64"  # or float32
    name: str = "pcs"

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return uniform behaviour, zero regrets and weights, and a seeded generator."""
        return {**_init(game, seed, self.dtype), "weight": np.array(0.0)}

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations: a path of boards for either player in each."""
        weights = _weights(state, steps, self.gamma)
        first, second = _players(state)
        tables = (game.trees, game.leaves, game.pairs, chance_tables(game))
        space = sampling.path_space(game.trees, game.pairs, self.dtype)
        total = sampling.public_chance(
            tables, first, second, weights, float(state["weight"]), state["generator"], space
        )
        state["weight"][...] = total
        state["iteration"] += steps

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the average plans, with every board up to date; the state does not change."""
        return self._average(game, state, 0), self._average(game, state, 1)

    def _average(self, game: SequenceGame, state: State, player: int) -> Floats:
        behaviour = np.asarray(state[f"behaviour{player}"], np.float64)
        total = float(state["weight"])
        if total == 0:
            return game.realize(player, behaviour)
        average = state[f"average{player}"].astype(np.float64)
        sampling.flush(game.trees[player], total, behaviour, average, np.empty_like(average))
        return average / total


@dataclass(frozen=True)
class ExternalSampling:
    """MCCFR with external sampling: one deal per iteration and player.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from equilibrist.solving.best_response import evaluate
        >>> kuhn, solver = exact_game(get_game("kuhn")), ExternalSampling()
        >>> state = solver.init(kuhn, seed=1)
        >>> solver.step(kuhn, state, 100_000)
        >>> evaluate(kuhn, solver.plans(kuhn, state)).nash_conv < 0.02
        True
    """

    gamma: float = 0.0  # iteration t has weight t^gamma
    dtype: str = "float64"  # or float32
    name: str = "mccfr"

    def __post_init__(self) -> None:
        _check_gamma(self.gamma)

    def init(self, game: SequenceGame, seed: int = 0) -> State:
        """Return uniform behaviour, zero regrets, and a seeded generator."""
        walk_tables(game)  # raises an error for games that cannot be walked
        return _init(game, seed, self.dtype)

    def step(self, game: SequenceGame, state: State, steps: int) -> None:
        """Run `steps` more iterations: a deal and a walk for either player in each."""
        weights = _weights(state, steps, self.gamma)
        first, second = _players(state)
        tables = (game.trees, game.pairs, chance_tables(game), walk_tables(game))
        rounds, nodes = len(game.trees[0].num_sequences), len(walk_tables(game).actor)
        space = external_sampling.walk_space(rounds, nodes)
        external_sampling.external(tables, first, second, weights, state["generator"], space)
        state["iteration"] += steps

    def plans(self, game: SequenceGame, state: State) -> tuple[Floats, Floats]:
        """Return the average plans; uniform where no walk has been."""
        return self._average(game, state, 0), self._average(game, state, 1)

    def _average(self, game: SequenceGame, state: State, player: int) -> Floats:
        behaviour = state[f"behaviour{player}"].astype(np.float64)
        external_sampling.normalise(game.trees[player], state[f"average{player}"], behaviour)
        return game.realize(player, behaviour)


# --- state ----------------------------------------------------------------------------------------


def _init(game: SequenceGame, seed: int, dtype: str) -> State:
    """Return arrays [L] of either player, and the generator's four words."""
    if game.expected:
        raise InvalidValueError(
            f"{game.name} leaves rounds out, which sampling does not support; use cfr+ or lp",
            value=game.name,
        )
    check_no_offer(game)
    if seed < 0:
        raise InvalidValueError(f"the seed must be 0 or more, not {seed}", value=seed)
    state: State = {
        "iteration": np.array(0),
        "generator": np.random.SeedSequence(seed).generate_state(4, np.uint64),
    }
    for player in (0, 1):
        behaviour = game.uniform(player, dtype)
        state[f"behaviour{player}"] = behaviour
        state[f"regret{player}"] = np.zeros_like(behaviour)
        state[f"average{player}"] = np.zeros_like(behaviour)
    return state


def _players(state: State) -> _Players:
    return [tuple(state[f"{part}{player}"] for part in _PARTS) for player in (0, 1)]


def _weights(state: State, steps: int, gamma: float) -> NDArray[np.float64]:
    """Return the weights [steps] of the next iterations."""
    if steps < 0:
        raise InvalidValueError(
            f"the number of iterations must be 0 or more, not {steps}", value=steps
        )
    done = int(state["iteration"])
    return np.arange(done + 1, done + steps + 1, dtype=np.float64) ** gamma


def _check_gamma(gamma: float) -> None:
    if not 0 <= gamma < math.inf:
        raise InvalidValueError(f"gamma must be 0 or more, not {gamma}", value=gamma)


# --- tables, stored as long as their game ---------------------------------------------------------

_chances: WeakKeyDictionary[SequenceGame, ChanceTables] = WeakKeyDictionary()
_walks: WeakKeyDictionary[SequenceGame, WalkTables] = WeakKeyDictionary()


def chance_tables(game: SequenceGame) -> ChanceTables:
    """Return the probabilities of a game's boards, and of player 0's states on the last ones.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> chance_tables(exact_game(get_game("leduc"))).board.round(3).tolist()
        [1.0, 0.333, 0.333, 0.333]
    """
    if game not in _chances:
        _chances[game] = _chance_tables(game)
    return _chances[game]


def _chance_tables(game: SequenceGame) -> ChanceTables:
    tree, pairs = game.trees[0], game.pairs
    states = np.zeros(0)
    if pairs.is_sorted:
        chance = pairs.weight * _meeting_pairs(game)
    else:
        states = _row_sums(game)
        chance = np.add.reduceat(states, tree.state_start[:-1])
        states = _cumulative(states, tree.state_start)
    # Boards of earlier rounds are as likely as all boards of the last round below them together.
    last = int(tree.board_start[-2])
    chance[:last] = 0
    chance[last:] /= chance[last:].sum()
    for board in reversed(range(int(tree.board_start[1]), len(chance))):
        chance[tree.board_parent[board]] += chance[board]
    ends = np.array([0, len(chance) - last])
    return ChanceTables(chance, _cumulative(chance[last:], ends), states)


def _row_sums(game: SequenceGame) -> NDArray[np.float64]:
    """Return the probability of each of player 0's states on each board: [states of all boards]."""
    first, second = game.trees
    widths = np.repeat(second.num_states, first.num_states)
    return np.add.reduceat(game.pairs.joint, np.cumsum([0, *widths[:-1]]))


def _meeting_pairs(game: SequenceGame) -> NDArray[np.int64]:
    """Return the number of ordered pairs of hands that share no card, on each board: [B].

    All pairs, less those that share a card; only a hand of two cards shares two, with itself.
    """
    hands = np.diff(game.pairs.hand_start)
    board = np.repeat(np.arange(len(hands)), hands)
    held = np.zeros((len(hands), 53), np.int64)
    for cards in game.pairs.hand_cards.T:
        np.add.at(held, (board, cards), 1)
    itself = hands - held[:, 52]
    return hands**2 - (held[:, :52] ** 2).sum(axis=1) + itself


def _cumulative(
    probabilities: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return cumulative probabilities within each slice, ending in exactly 1 if any is positive."""
    result = np.empty_like(probabilities)
    for start, end in itertools.pairwise(starts):
        total = np.cumsum(probabilities[start:end])
        result[start:end] = total / total[-1] if total[-1] > 0 else total
    return result


def walk_tables(game: SequenceGame) -> WalkTables:
    """Return the betting tree of a game as walks need it; a matrix game is a tree of two moves."""
    if game not in _walks:
        if game.betting is not None:
            _walks[game] = _betting_walk(game, game.betting)
        else:
            _walks[game] = _matrix_walk(game)
    return _walks[game]


def _betting_walk(game: SequenceGame, betting: BettingTree) -> WalkTables:
    rows = (player_rows(betting, 0), player_rows(betting, 1))
    leaves = leaf_tables(betting, rows)
    pairs = zip(leaves._asdict().values(), game.leaves._asdict().values(), strict=True)
    if not all(np.array_equal(ours, theirs) for ours, theirs in pairs):
        raise _cannot_walk(game, "has leaves that its betting tree does not have")
    locked = np.zeros(len(betting), np.bool_)
    for own, tree in zip(rows, game.trees, strict=True):
        decides = own.decision >= 0
        locked[decides] = tree.locked[own.decision[decides]]
    return betting_walk(betting)._replace(locked=locked)


def _matrix_walk(game: SequenceGame) -> WalkTables:
    """Build a tree in which player 0 moves, then player 1, who does not see it: one row for all."""
    sizes = [int(tree.decision_size[0]) for tree in game.trees]
    cells = np.argwhere(np.ones(sizes)) + 1
    if game.lengths != (sizes[0] + 1, sizes[1] + 1) or not np.array_equal(
        cells, game.leaves.fold_rows
    ):
        raise _cannot_walk(game, "has no betting tree")
    first, nodes = np.arange(1, sizes[0] + 1), 1 + sizes[0] + len(cells)
    before = np.stack([np.append(0, first), np.zeros(sizes[0] + 1, np.int64)], axis=1)
    children = np.append(1, 1 + sizes[0] + (first - 1) * sizes[1])
    none = np.zeros(len(cells), np.int64)
    return WalkTables(
        actor=np.concatenate([[0], np.ones(sizes[0], np.int64), none - 1]),
        round=np.zeros(nodes, np.int64),
        first_child=np.concatenate([children, none]),
        num_children=np.concatenate([[sizes[0]], np.full(sizes[0], sizes[1]), none]),
        row=np.concatenate([before, cells]),
        opens=np.arange(nodes) == 0,
        locked=np.concatenate(
            [game.trees[0].locked, np.repeat(game.trees[1].locked, sizes[0]), none > 0]
        ),
        fixed=np.concatenate([np.zeros(1 + sizes[0]), game.leaves.fold_payoff[:, 0]]),
        contested=np.zeros(nodes),
    )


def _cannot_walk(game: SequenceGame, why: str) -> InvalidValueError:
    return InvalidValueError(
        f"{game.name} {why}, so external sampling cannot walk it; use pcs or cfr", value=game.name
    )
