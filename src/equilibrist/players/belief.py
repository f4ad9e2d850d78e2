"""What a responder knows about the hand of a player whose strategy it knows.

The weight of a hand is the probability that the player, holding it, would have acted as it did. A
strategy with few bet sizes reads a bet that it lacks at random as one of two others
(`translation`). The responder does not see that draw, so each reading is followed with its
probability, and nothing is known that an opponent at the table could not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import NUM_HANDS
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import CALL, FOLD, Action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.players.player import Player, View
from equilibrist.players.static import Mix, Shove, Uniform
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.players.translation import find_node, nearest_raise, readings, real_action

Floats: TypeAlias = NDArray[np.float64]
# Child of the strategy's tree that each raise was read as, None for a call, by place in the hand.
Choices: TypeAlias = Mapping[int, int | None]
_NOTHING = 1e-30  # weight below which a reading is dropped


class Belief(Protocol):
    """Weights of the hands of one player, at one point of a hand.

    A `view` is any view of the hand at that point; its hole cards are not looked at. Weights of
    hands that the board blocks are meaningless.
    """

    @property
    def weights(self) -> Floats:
        """Return the probability of the player's actions so far, with each hand: [H]."""
        ...

    def options(self, view: View, random: np.random.Generator) -> list[tuple[Action, Floats]]:
        """Return the actions of the player, who is to act, with their weights by hand: [H] each.

        They sum to `weights`. A raise whose amount does not depend on the hand may stand for all
        raises: it has one random amount.
        """
        ...

    def folds(self, view: View, raises: Sequence[Action]) -> list[Floats]:
        """Return the weights with which the player would fold to each raise of the actor: [H]."""
        ...

    def after(self, view: View, action: Action) -> Belief:
        """Return the belief after an action of either player at this point."""
        ...


def belief_about(player: Player, seat: int, rules: GameRules) -> Belief:
    """Return the belief about a player at the start of a hand, in which it has a seat.

    Raises `InvalidValueError` if its strategy is not known for all hands.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> int(belief_about(Shove(), 0, get_game("holdem-nolimit")).weights.sum())
        1326
    """
    ones = np.ones(NUM_HANDS if rules.num_hole_cards == 2 else 52)
    if type(player) is StrategyPlayer:
        start = _node(player, Betting.start(rules), {})
        return TreeBelief(player, seat, (Reading({}, start, ones),))
    if type(player) in (Mix, Shove, Uniform):
        return BlindBelief(player, seat, ones)
    raise InvalidValueError(
        f"a local best response needs a player whose strategy is stored, or that ignores its "
        f"cards, such as nolimit-quick or always-call, not {player.name}",
        value=player.name,
    )


class Reading(NamedTuple):
    """One way in which a strategy has read the betting."""

    choices: Choices
    node: int | None  # the actor's decision in the strategy's tree; None where it only calls
    weights: Floats  # [H]


def _node(player: StrategyPlayer, betting: Betting, choices: Choices) -> int | None:
    """Return the actor's decision in the player's tree, with raises read as chosen."""
    tree = player.strategy.tree
    if betting.rules.is_limit:
        return find_node(tree, betting)

    def read(node: int, before: Betting, action: Action, place: int) -> int | None:
        return choices[place] if place in choices else nearest_raise(tree, node, before, action)

    return find_node(tree, betting, read)


@dataclass(frozen=True, eq=False)
class TreeBelief:
    """Belief about a player that follows a stored strategy."""

    player: StrategyPlayer
    seat: int
    readings: tuple[Reading, ...]

    @property
    def weights(self) -> Floats:
        """Return the weights, summed over all readings: [H]."""
        total: Floats = np.sum([reading.weights for reading in self.readings], axis=0)
        return total

    def options(self, view: View, random: np.random.Generator) -> list[tuple[Action, Floats]]:
        """Return the strategy's actions, those of all readings together."""
        found: dict[Action, Floats] = {}
        for reading, child, share in self.choices(view):
            action, weights = self.action(child, view), reading.weights * share
            found[action] = found[action] + weights if action in found else weights
        return list(found.items())

    def folds(self, view: View, raises: Sequence[Action]) -> list[Floats]:
        """Return the weights of folding, over all readings of the history and of the raise."""
        found = [np.zeros_like(self.readings[0].weights) for _ in raises]
        tree, known = self.player.strategy.tree, dict[int, Floats]()
        for reading in self.readings:
            if reading.node is None:
                continue  # the strategy calls whatever comes
            for out, action in zip(found, raises, strict=True):
                for child, share in self._read(reading.node, view, action):
                    if child is None or tree.child(child, "f") is None:
                        continue
                    if child not in known:
                        known[child] = self._shares(child, view)[0]
                    out += share * known[child] * reading.weights
        return found

    def after(self, view: View, action: Action) -> TreeBelief:
        """Return the belief after an action; ways to read the hand that end alike are joined."""
        betting, place = view.betting, view.betting.num_actions
        ways: list[tuple[Choices, Floats]] = []
        if betting.actor == self.seat:
            for reading, child, share in self.choices(view):
                if self.action(child, view) == action:
                    choices = {**reading.choices, place: child}
                    ways.append((choices, reading.weights * share))
        else:
            for reading in self.readings:
                if action.kind != "r" or reading.node is None:
                    ways.append((reading.choices, reading.weights))
                    continue
                for read, part in self._read(reading.node, view, action):
                    ways.append(({**reading.choices, place: read}, reading.weights * part))
        return replace(self, readings=self._joined(betting.apply(action), ways))

    def _joined(self, betting: Betting, ways: list[tuple[Choices, Floats]]) -> tuple[Reading, ...]:
        found: dict[int, Reading] = {}  # by node, or by a negative number
        for number, (choices, weights) in enumerate(ways):
            if weights.max() <= _NOTHING:
                continue
            node = None if betting.is_over else _node(self.player, betting, choices)
            key = -1 - number if node is None else node
            if key in found:
                weights = weights + found[key].weights
            found[key] = Reading(choices, node, weights)
        return tuple(found.values())

    def choices(self, view: View) -> list[tuple[Reading, int | None, Floats]]:
        """Return the player's actions in each reading: child, None for a call, and shares [H]."""
        found: list[tuple[Reading, int | None, Floats]] = []
        for reading in self.readings:
            if reading.node is None:
                found.append((reading, None, np.ones_like(reading.weights)))
                continue
            children = self.player.strategy.tree.children(reading.node)
            shares = self._shares(reading.node, view)
            found += [(reading, *both) for both in zip(children, shares, strict=True)]
        return found

    def action(self, child: int | None, view: View) -> Action:
        """Return the action at the table that leads to a child."""
        tree = self.player.strategy.tree
        return CALL if child is None else real_action(tree, child, view.betting)

    def _read(self, node: int, view: View, action: Action) -> list[tuple[int | None, float]]:
        """Return how a raise of the other player is read."""
        tree = self.player.strategy.tree
        if view.rules.is_limit:
            return [(tree.child(node, "r"), 1.0)]
        return readings(tree, node, view.betting, action)

    def _shares(self, node: int, view: View) -> Floats:
        """Return the probability of each action at a node, without dropped ones: [A, H]."""
        hands = np.arange(len(self.readings[0].weights))
        found = self.player.strategy.of_hands(node, view, hands)
        if self.player.threshold:
            least = np.minimum(self.player.threshold, found.max(axis=0))
            found = np.where(found >= least, found, 0.0)
            return np.asarray(found / found.sum(axis=0))
        return found


@dataclass(frozen=True, eq=False)
class BlindBelief:
    """Belief about a player that ignores its cards: no action tells anything."""

    player: Player
    seat: int
    weights: Floats

    def options(self, view: View, random: np.random.Generator) -> list[tuple[Action, Floats]]:
        """Return the player's actions; all raises of `Uniform` by a random one."""
        return [(action, share * self.weights) for action, share in self._mixture(view, random)]

    def folds(self, view: View, raises: Sequence[Action]) -> list[Floats]:
        """Return the weights of folding to each raise."""
        found = []
        for action in raises:
            after = replace(view.state, betting=view.betting.apply(action))
            mixture = dict(self._mixture(View(after, self.seat), None))
            found.append(mixture.get(FOLD, 0.0) * self.weights)
        return found

    def after(self, view: View, action: Action) -> BlindBelief:
        """Return the same belief."""
        return self

    def _mixture(
        self, view: View, random: np.random.Generator | None
    ) -> Sequence[tuple[Action, float]]:
        if isinstance(self.player, Mix):
            return self.player.mixture(view)
        if isinstance(self.player, Shove):
            return [(self.player.act(view), 1.0)]
        legal = view.legal_actions()
        actions = list(legal.actions)
        if legal.raise_to is not None:
            low, high = legal.raise_to
            actions.append(raise_to(low if random is None else int(random.integers(low, high + 1))))
        return [(action, 1 / len(actions)) for action in actions]
