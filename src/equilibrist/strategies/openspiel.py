"""Conversion of strategies to and from OpenSpiel's `universal_poker`, an ACPC engine.

OpenSpiel treats every card separately, and uses the lowest ranks and suits where Equilibrist uses
the highest; a game here may merge equivalent cards (`models/card_states.py`). So each of its
information sets, a decision and cards, is found among our states; in the other direction, a plan is
the mean over the hands that our game merges. OpenSpiel is imported inside the functions that use
it.

A policy file is JSON: `game`, which `pyspiel.load_game` takes, and `policy`, the probability of
each action by information state. The pairs of `TabularPolicy.to_dict()` are read too.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from equilibrist.errors import EquilibristError, InvalidValueError, ParseError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.kernels.treeplex import block
from equilibrist.models.card_states import CardStates
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import PlayerRows, player_rows

Cards: TypeAlias = tuple[int, ...]

MOST_MISSING = 1e-4  # how far a sum of probabilities in a file may be from 1
_NUMBER = {ord("f"): 0, ord("c"): 1, ord("r"): 2}  # OpenSpiel's actions of limit games


def openspiel_game(rules: GameRules) -> Any:
    """Build the `pyspiel.Game` of some limit rules.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> openspiel_game(get_game("kuhn")).num_distinct_actions()
        3
    """
    for is_so, what in (
        (not rules.is_limit, "is no-limit, and OpenSpiel has no bet menus"),
        (rules.stacks is not None, "has stacks, which OpenSpiel ignores in limit games"),
        (rules.ranking != "standard", "ranks hands in a way OpenSpiel does not support"),
        (rules.rollout_cards > 0, "deals cards after its last round, which OpenSpiel cannot do"),
        (any(rules.discards), "has discards, which OpenSpiel does not support"),
        (
            sum(map(bool, rules.num_board_cards)) > 1,
            "deals board cards in several rounds, whose order OpenSpiel forgets",
        ),
    ):
        if is_so:
            raise InvalidValueError(f"{rules.name} {what}", value=rules.name)
    try:
        import pyspiel
    except ImportError:
        raise EquilibristError("OpenSpiel is not installed; run pip install open-spiel") from None
    return pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(rules_text(rules))


def to_openspiel(game: SequenceGame, plans: tuple[Floats, Floats]) -> Any:
    """Build an `open_spiel.python.policy.TabularPolicy` that plays both plans.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> uniform = (kuhn.realize(0, kuhn.uniform(0)), kuhn.realize(1, kuhn.uniform(1)))
        >>> to_openspiel(kuhn, uniform).action_probability_array.shape
        (12, 3)
    """
    table = _Table.of(game)
    from open_spiel.python.policy import TabularPolicy

    behaviour = [game.behaviour(player, np.asarray(plans[player])) for player in (0, 1)]
    states: dict[str, Any] = {}
    probabilities: dict[str, Floats] = {}
    for seen in table.sightings():
        for node in table.decisions[seen.r]:
            player = int(table.betting.player[node])
            children = list(table.betting.children(node))
            rows = table.block(player, seen, behaviour[player])[table.rows[player].row[children]]
            state = table.state(node, seen)
            key = state.information_state_string(player)
            states[key] = state
            probabilities[key] = np.zeros(3)
            probabilities[key][table.numbers(children)] = rows[:, seen.state]
    policy = TabularPolicy(table.game, states=states)
    for key, values in probabilities.items():
        policy.policy_for_key(key)[:] = values
    return policy


def from_openspiel(game: SequenceGame, policy: Any) -> tuple[Floats, Floats]:
    """Return plans [L0], [L1] of an OpenSpiel policy: the mean over hands that are merged here.

    `policy` is an OpenSpiel policy, in Python or C++.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> from open_spiel.python.policy import UniformRandomPolicy
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> plan, _ = from_openspiel(kuhn, UniformRandomPolicy(openspiel_game(get_game("kuhn"))))
        >>> plan[3:6].tolist()
        [0.5, 0.5, 0.5]
    """
    table = _Table.of(game)
    plans = [np.zeros(length) for length in game.lengths]
    reaches: dict[tuple[Cards, ...], NDArray[np.float64]] = {}
    for seen in table.sightings():
        reach = reaches[seen.hand, *seen.boards] = table.reach(seen, policy, reaches)
        nodes = np.flatnonzero(table.betting.round == seen.r)
        for player in (0, 1):
            # Nodes that share a row share its reach, so the order of writing does not matter.
            rows = table.rows[player].row[nodes]
            column = np.zeros(int(rows.max()) + 1)
            column[rows] = reach[player, nodes]
            table.block(player, seen, plans[player])[:, seen.state] += column
    return _normalised(game, 0, plans[0]), _normalised(game, 1, plans[1])


def policy_text(game: SequenceGame, plans: tuple[Floats, Floats]) -> str:
    """Return the text of a policy file.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.models.exact import exact_game
        >>> kuhn = exact_game(get_game("kuhn"))
        >>> uniform = (kuhn.realize(0, kuhn.uniform(0)), kuhn.realize(1, kuhn.uniform(1)))
        >>> print(policy_text(kuhn, uniform).splitlines()[4])
          "[Round 0][Player: 0][Pot: 2][Money: ...][Private: 2c]...": {"1": 0.5, "2": 0.5},
    """
    policy = to_openspiel(game, plans)
    lines = []
    for key, place in policy.state_lookup.items():
        legal = np.flatnonzero(policy.legal_actions_mask[place]).tolist()
        row = policy.action_probability_array[place]
        shares = {str(action): float(row[action]) for action in legal}
        lines.append(f"  {json.dumps(key)}: {json.dumps(shares)}")
    head = f'{{\n "game": {json.dumps(str(policy.game))},\n "name": {json.dumps(game.name)},\n'
    return head + ' "policy": {\n' + ",\n".join(lines) + "\n }\n}\n"


def parse_policy(game: SequenceGame, text: str) -> tuple[tuple[Floats, Floats], float]:
    """Return the plans of a policy file, and how far hands that are merged here differed.

    The second number is the largest difference between the probabilities that the file gives to
    hands which the game merges; 0 if nothing was averaged. Raises `ParseError` for a text that is
    not a policy of this game.
    """
    table, given = _Table.of(game), _read_policy(text)
    seen_by_state: dict[tuple[int, int, int], Floats] = {}
    found: dict[str, dict[int, float]] = {}
    spread = 0.0
    for seen in table.sightings():
        for node in table.decisions[seen.r]:
            key = table.state(node, seen).information_state_string(int(table.betting.player[node]))
            numbers = table.numbers(list(table.betting.children(node)))
            shares = _checked_shares(key, given.pop(key, None), numbers, game.name)
            found[key] = dict(zip(numbers, shares.tolist(), strict=True))
            first = seen_by_state.setdefault((node, seen.board, seen.state), shares)
            spread = max(spread, float(np.abs(shares - first).max()))
    if given:
        raise ParseError(
            f"{next(iter(given))[:200]!r} is not an information state of {game.name}: the policy "
            "is of another game",
            value=next(iter(given)),
        )
    return from_openspiel(game, _FilePolicy(found)), spread


class _FilePolicy:
    """The policy of a file, as `from_openspiel` asks for it."""

    def __init__(self, shares: dict[str, dict[int, float]]) -> None:
        self.shares = shares

    def action_probabilities(self, state: Any) -> dict[int, float]:
        """Return the probability of each action in a state."""
        return self.shares[state.information_state_string(state.current_player())]


def _read_policy(text: str) -> dict[str, Any]:
    """Return the entries of a policy file by information state, not checked yet."""
    try:
        data = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise ParseError("the policy is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, ParseError):
            raise
        raise ParseError(f"the policy is not JSON: {error}") from None
    if isinstance(data, dict) and "policy" in data:
        data = data["policy"]
    if not isinstance(data, dict):
        raise ParseError(
            "a policy file must have a policy: an object with the probabilities of actions by "
            "information state"
        )
    return data


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ParseError(f"the policy has {twice[:200]!r} twice", value=twice)
    return found


def _checked_shares(key: str, given: Any, numbers: list[int], name: str) -> Floats:
    """Return the probabilities of the legal actions, `numbers`, in an entry of a file."""
    if given is None:
        raise ParseError(
            f"the policy has no entry for {key!r}, an information state of {name}: it is cut short "
            "or of another game",
            value=key,
        )
    pairs = list(given.items()) if isinstance(given, dict) else given
    try:
        shares = {int(action): share for action, share in pairs}
    except (TypeError, ValueError, OverflowError):
        shares = {}
    is_number = all(
        isinstance(share, int | float) and not isinstance(share, bool) for share in shares.values()
    )
    if not shares or not is_number or len(shares) < len(pairs):
        raise ParseError(
            f"the entry of {key!r} must be the probability of each action, such as "
            '{"1": 0.5, "2": 0.5}',
            value=key,
        )
    for action, share in shares.items():
        if action not in numbers and share != 0:
            raise ParseError(
                f"action {action} is not legal in {key!r}; legal are "
                f"{', '.join(map(str, sorted(numbers)))}",
                value=action,
            )
    return checked_probabilities([shares.get(number, 0) for number in numbers], repr(key))


def checked_probabilities(numbers: Sequence[float], where: str) -> Floats:
    """Return probabilities that sum to 1, from numbers of a file whose sum is almost 1.

    Example:
        >>> checked_probabilities([0.25, 0.25], "the first decision")
        Traceback (most recent call last):
          ...
        equilibrist.errors.ParseError: the probabilities of the first decision sum to 0.5, not to 1
    """
    for number in numbers:
        if not 0 <= number <= 1 + MOST_MISSING:
            raise ParseError(
                f"{number} is not a probability; those of {where} must be from 0 to 1", value=number
            )
    shares = np.array([float(number) for number in numbers])
    total = float(shares.sum())
    if not abs(total - 1) <= MOST_MISSING:
        raise ParseError(f"the probabilities of {where} sum to {total:.6g}, not to 1", value=total)
    return shares / total


def _normalised(game: SequenceGame, player: int, total: Floats) -> Floats:
    """Return the plan in proportion to sums over hands."""
    return game.realize(player, game.behaviour(player, total))


@dataclass(frozen=True)
class _Sighting:
    """Cards that a player sees in a round, and their place in the model."""

    r: int
    hand: Cards
    boards: tuple[Cards, ...]  # the cards of each round that deals some
    board: int  # number of the board in its round
    state: int


@dataclass(frozen=True, eq=False)
class _Table:
    """Game in the forms of both programs."""

    model: SequenceGame
    betting: BettingTree
    game: Any  # pyspiel.Game
    rows: tuple[PlayerRows, PlayerRows]
    decisions: list[list[int]]  # nodes of each round
    place: dict[int, int]  # place of each card in the deck: OpenSpiel's chance action

    @classmethod
    def of(cls, game: SequenceGame) -> _Table:
        betting = game.betting
        if betting is None or game.states is None:
            raise InvalidValueError(
                f"{game.name} has no cards and rules, so OpenSpiel's poker cannot play it",
                value=game.name,
            )
        return cls(
            game,
            betting,
            openspiel_game(betting.rules),
            (player_rows(betting, 0), player_rows(betting, 1)),
            [betting.nodes(NodeKind.DECISION, r).tolist() for r in range(betting.rules.num_rounds)],
            {card: place for place, card in enumerate(sorted(betting.rules.deck.cards))},
        )

    def sightings(self) -> Iterator[_Sighting]:
        """Yield everything a player can see, early rounds first."""
        assert self.model.states is not None
        lookup = _Lookup(self.model.states, self.betting.rules)
        rules, deck = self.betting.rules, sorted(self.place)
        boards: list[tuple[Cards, ...]] = [()]
        for r, num_cards in enumerate(rules.num_board_cards):
            if num_cards:
                boards = [
                    (*above, new) for above in boards for new in _deals(deck, above, num_cards)
                ]
            for board in boards:
                for hand in _deals(deck, board, rules.num_hole_cards):
                    yield _Sighting(r, hand, board, *lookup.find(r, board, hand))

    def block(self, player: int, seen: _Sighting, vector: Floats) -> Floats:
        """Return the [Q, S] view of a sighting's board."""
        tree = self.model.trees[player]
        return block(tree, seen.r, int(tree.board_start[seen.r]) + seen.board, vector)

    def numbers(self, nodes: list[int]) -> list[int]:
        """Return OpenSpiel's numbers of the actions that lead to nodes."""
        return [_NUMBER[int(kind)] for kind in self.betting.action_kind[nodes]]

    def state(self, node: int, seen: _Sighting) -> Any:
        """Build a `pyspiel.State` at a decision in which its player sees these cards."""
        other = _deals(sorted(self.place), (seen.hand, *seen.boards), len(seen.hand))
        holes = (seen.hand, next(other))
        mover = int(self.betting.player[node])
        cards = itertools.chain(holes[mover], holes[1 - mover], *seen.boards)
        state = self.game.new_initial_state()
        for at in self.betting.path(node):
            if self.betting.action_kind[at]:
                state.apply_action(self.numbers([at])[0])
            while state.is_chance_node():
                state.apply_action(self.place[next(cards)])
        return state

    def reach(
        self, seen: _Sighting, policy: Any, above: dict[tuple[Cards, ...], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return each player's probability, seeing these cards, of playing to each node: [2, V]."""
        reach = np.ones((2, len(self.betting)))
        for node in np.flatnonzero(self.betting.round == seen.r).tolist():
            parent = int(self.betting.parent[node])
            if not self.betting.action_kind[node] and parent >= 0:
                # A round opens; if it dealt no cards, the sighting before had the same ones.
                dealt = self.betting.rules.num_board_cards[seen.r] > 0
                boards = seen.boards[:-1] if dealt else seen.boards
                reach[:, node] = above[seen.hand, *boards][:, parent]
            if self.betting.kind[node] == NodeKind.DECISION:
                player = int(self.betting.player[node])
                children = list(self.betting.children(node))
                probabilities = policy.action_probabilities(self.state(node, seen))
                share = [probabilities.get(number, 0.0) for number in self.numbers(children)]
                reach[:, children] = reach[:, [node]]
                reach[player, children] *= share
        return reach


def _deals(deck: list[int], gone: tuple[Cards, ...], num_cards: int) -> Iterator[Cards]:
    """Yield all sets of `num_cards` cards from what is left of a deck."""
    dealt = set(itertools.chain(*gone))
    return itertools.combinations([card for card in deck if card not in dealt], num_cards)


class _Lookup:
    """Lookup of the board and state of cards, under the symmetry of a model.

    Cards are relabelled by every renaming that the symmetry allows until their board is one that
    the model stores; ranks are labels without suits.
    """

    def __init__(self, states: CardStates, rules: GameRules) -> None:
        cards = np.arange(52)
        plain = cards >> 2 if states.symmetry == "ranks" else cards
        suits = range(4 - rules.num_suits, 4)
        self.labels = [plain]
        if states.symmetry == "suits":
            names = [dict(zip(suits, to, strict=True)) for to in itertools.permutations(suits)]
            self.labels = [
                np.array([card - card % 4 + to.get(card % 4, 0) for card in range(52)])
                for to in names
            ]
        self.board_of: list[dict[tuple[Cards, ...], int]] = []
        self.state_of: list[list[dict[Cards, int]]] = []
        for r, boards in enumerate(states.boards):
            sizes = [size for size in rules.num_board_cards[: r + 1] if size]
            ends = np.cumsum([0, *sizes])
            parts = [[b[i:j] for i, j in itertools.pairwise(ends)] for b in boards]
            keys = [tuple(_relabel(plain, part) for part in board) for board in parts]
            self.board_of.append({key: b for b, key in enumerate(keys)})
            self.state_of.append(
                [
                    {_relabel(plain, states.hands[h]): int(held[h]) for h in np.where(held >= 0)[0]}
                    for held in states.state_of_hand[r]
                ]
            )

    def find(self, r: int, boards: tuple[Cards, ...], hand: Cards) -> tuple[int, int]:
        """Return the board and state of a hand on a board of round `r`."""
        for labels in self.labels:
            board = self.board_of[r].get(tuple(_relabel(labels, cards) for cards in boards))
            if board is not None:
                return board, self.state_of[r][board][_relabel(labels, hand)]
        raise InvalidValueError(f"no board of the model is equivalent to {boards}", value=boards)


def _relabel(labels: NDArray[np.int64], cards: Any) -> Cards:
    return tuple(sorted(int(labels[card]) for card in cards))
