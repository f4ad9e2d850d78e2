"""The rules against OpenSpiel's `universal_poker`, which runs the ACPC dealer's own game code.

Both engines play the same random hands side by side. Before every action: whose turn it is, which
cards have been dealt, every legal action, the chips put in and the ACPC state line. At the end:
payoffs. OpenSpiel reads our own game definitions.

OpenSpiel takes the lowest ranks and suits of a small deck where we, like ACPC, take the highest;
`Table` translates. In no-limit its action 0 is fold, 1 is call and n is a raise to n chips in the
whole hand (`bettingAbstraction=fullgame`); in limit 2 is the raise.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from random import Random
from typing import Any

import pyspiel
import pytest

from equilibrist.cards.card import Card, card_name
from equilibrist.games.action import CALL, FOLD, RAISE, Action, raise_to
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.games.state import Deal, HandState

HANDS = 10_000  # of each game, in CHUNKS tests that workers can share
CHUNKS = 4

_FOLD, _CALL, _RAISE = 0, 1, 2  # OpenSpiel's numbers
_NUMBERS = {FOLD: _FOLD, CALL: _CALL, RAISE: _RAISE}


# --- one hand on two engines ----------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A game as both engines know it."""

    rules: GameRules
    game: Any  # pyspiel.Game
    place: dict[Card, int]  # of each card in the ordered deck: OpenSpiel's chance action
    name: dict[str, str]  # what OpenSpiel calls each card

    @classmethod
    def of(cls, rules: GameRules) -> Table:
        limit = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(rules_text(rules))
        menu = {} if rules.is_limit else {"bettingAbstraction": "fullgame"}
        game = pyspiel.load_game("universal_poker", {**limit.get_parameters(), **menu})
        deck = sorted(rules.deck.cards)
        low_cards = [
            4 * rank + suit for rank in range(rules.num_ranks) for suit in range(rules.num_suits)
        ]
        return cls(
            rules,
            game,
            {card: place for place, card in enumerate(deck)},
            {card_name(a): card_name(b) for a, b in zip(deck, low_cards, strict=True)},
        )

    def line(self, state: HandState) -> str:
        """Our state line in OpenSpiel's cards."""
        head, cards = str(state).rsplit(":", 1)
        if self.rules.num_ranks == 13 and self.rules.num_suits == 4:
            return f"{head}:{cards}"
        names, at = "", 0
        while at < len(cards):
            step = 1 if cards[at] in "|/" else 2
            names += self.name.get(cards[at : at + step], cards[at : at + step])
            at += step
        return f"{head}:{names}"


@cache
def table(name: str) -> Table:
    return Table.of(GAMES[name])


def play(at: Table, deal: Deal, rng: Random, seen: Counter[str]) -> HandState:
    """A hand to its end, compared at every step; what happened is counted in `seen`."""
    state, theirs = HandState.start(at.rules, deal), at.game.new_initial_state()
    cards = [card for hole in deal.holes for card in hole] + list(deal.board)
    aggression = rng.random()
    dealt = 0
    while True:
        dealt = deal_cards(at, theirs, cards, dealt)
        check_same(at, state, theirs, dealt, rng)
        if state.is_over:
            break
        action = choose(state, rng, aggression)
        note(state, action, seen)
        state = state.apply(action)
        theirs.apply_action(_number(action))
    seen["hands"] += 1
    seen["showdown" if state.betting.is_showdown else f"fold in round {state.betting.round}"] += 1
    seen["tie"] += state.betting.is_showdown and not any(state.payoffs())
    seen["unmatched chips"] += len(set(state.betting.spent)) > 1 and state.betting.is_showdown
    return state


def deal_cards(at: Table, theirs: Any, cards: list[Card], dealt: int) -> int:
    """Deal while OpenSpiel waits for cards; how many it has then."""
    while theirs.is_chance_node():
        assert len(theirs.legal_actions()) == len(at.place) - dealt
        theirs.apply_action(at.place[cards[dealt]])
        dealt += 1
    return dealt


def check_same(at: Table, state: HandState, theirs: Any, dealt: int, rng: Random) -> None:
    view = theirs.to_dict()
    where = str(state)
    assert view["acpc_state"].split("\n", 1)[0] == at.line(state)
    assert tuple(view["player_contributions"]) == state.betting.spent, where
    assert dealt == sum(map(len, state.deal.holes)) + len(state.board), where
    assert theirs.is_terminal() == state.is_over, where
    if state.is_over:
        check_payoffs(state, theirs.returns())
        return
    assert theirs.current_player() == state.actor, where
    check_legal(state, theirs.legal_actions(), where, rng)


def check_legal(state: HandState, theirs: list[int], where: str, rng: Random) -> None:
    """Check that the legal actions are the same; OpenSpiel lists every amount, ascending."""
    legal = state.legal_actions()
    menu = [_number(action) for action in legal.actions]
    num_amounts = len(theirs) - len(menu)
    assert theirs[: len(menu)] == menu, where
    if legal.raise_to is None:
        assert num_amounts == 0, where
        bet = max(state.betting.spent)
        assert not any(state.can(raise_to(bet + more)) for more in (0, 1, 10**6)), where
        return
    low, high = legal.raise_to
    # Ascending and distinct: ends and count say it all, where comparing 20,000 numbers is slow.
    assert num_amounts == high - low + 1, where
    assert (theirs[len(menu)], theirs[-1]) == (low, high), where
    assert num_amounts > 300 or theirs[len(menu) :] == list(range(low, high + 1)), where
    for amount in (low - 1, low, high, high + 1, rng.randrange(2 * high)):
        assert state.can(raise_to(amount)) == (low <= amount <= high), (where, amount)


def check_payoffs(state: HandState, theirs: list[float]) -> None:
    # OpenSpiel splits a chip, we do not; heads-up there is never an odd chip, so it is exact.
    slack = 0 if state.rules.num_players == 2 else len(set(state.betting.spent)) / 2
    for ours, expected in zip(state.payoffs(), theirs, strict=True):
        assert abs(ours - expected) <= slack, str(state)


def choose(state: HandState, rng: Random, aggression: float) -> Action:
    """A random action: few folds, so that hands get deep; raises of every kind of size."""
    legal = state.legal_actions()
    can_raise = legal.raise_to is not None or RAISE in legal.actions
    if can_raise and rng.random() < 0.15 + 0.7 * aggression:
        return RAISE if legal.raise_to is None else raise_to(_amount(state, legal.raise_to, rng))
    if FOLD in legal.actions and rng.random() < 0.2:
        return FOLD
    return CALL


def _amount(state: HandState, span: tuple[int, int], rng: Random) -> int:
    low, high = span
    sizes = (
        low,
        low,
        min(high, low + rng.randrange(1 + state.rules.big_blind)),
        min(high, low + rng.randrange(1 + state.betting.pot)),
        rng.randint(low, high) if rng.random() < 0.2 else low,
        high if rng.random() < 0.2 else low,
    )
    return rng.choice(sizes)


def note(state: HandState, action: Action, seen: Counter[str]) -> None:
    betting, legal = state.betting, state.legal_actions()
    seen["decisions"] += 1
    if legal.raise_to is None and FOLD in legal.actions and RAISE not in legal.actions:
        seen["fold or call only"] += 1
    if legal.raise_to is None and 0 in betting.stacks_left and not betting.to_call:
        seen["idle turn"] += 1  # a check is asked of a player with nobody to bet against
    if action.kind == "r" and legal.raise_to is not None:
        low, high = legal.raise_to
        seen["minimum raise"] += action.amount == low < high
        seen["all-in"] += action.amount == high
        seen["all-in below a full raise"] += action.amount == high < betting.full_raise_to
    if action == CALL and betting.to_call:
        actor = betting.to_act[0]
        seen["call for less"] += betting.spent[actor] + betting.to_call < max(betting.spent)


def _number(action: Action) -> int:
    return action.amount or _NUMBERS[action]


# --- games ----------------------------------------------------------------------------------------

_NOLIMIT = get_game("holdem-nolimit")
GAMES = {
    **{name: get_game(name) for name in ("kuhn", "leduc", "holdem-limit", "holdem-nolimit")},
    "royal-holdem": get_game("royal-holdem"),
    # A few big blinds behind: most hands end all-in.
    "short": replace(_NOLIMIT, name="short", blinds=(10, 5), stacks=(77, 77)),
    # Big blind covers dealer and the other way round; no amount is a multiple of another.
    "unequal": replace(_NOLIMIT, name="unequal", blinds=(10, 5), stacks=(43, 211)),
    "covered": replace(_NOLIMIT, name="covered", blinds=(10, 5), stacks=(305, 16)),
    # The dealer is all-in by calling the big blind.
    "one big blind": replace(_NOLIMIT, name="one big blind", blinds=(10, 5), stacks=(50, 10)),
    # A cap on no-limit raises, and the small blind first to act in every round.
    "capped": replace(
        _NOLIMIT, name="capped", blinds=(2, 1), stacks=(90, 150), max_raises=(3, 2, 1, 0),
        first_players=(1, 1, 1, 1),
    ),
    # One card each on a small deck, antes, no-limit.
    "toy": replace(
        get_game("leduc"), name="toy", betting="nolimit", raise_sizes=(), max_raises=(),
        stacks=(11, 14), num_ranks=4, num_suits=3,
    ),
    # Side pots: all-ins of three sizes.
    "three-handed": replace(
        _NOLIMIT, name="three-handed", blinds=(5, 10, 0), stacks=(60, 135, 240),
        first_players=(2, 0, 0, 0),
    ),
}  # fmt: skip

# What the hands of a game must have shown, or the comparison compares too little.
EVERYWHERE = {"showdown", "fold in round 0", "fold or call only"}
IN_HOLDEM = EVERYWHERE | {"tie", *(f"fold in round {number}" for number in (1, 2, 3))}
IN_NOLIMIT = IN_HOLDEM | {"minimum raise", "all-in", "all-in below a full raise"}


def play_many(at: Table, hands: int, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    dealer, rng = Dealer(at.rules, seed), Random(seed)
    for _ in range(hands):
        play(at, next(dealer), rng, seen)
    return seen


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", ["holdem-nolimit", "holdem-limit", "leduc", "kuhn"])
def test_ten_thousand_random_hands_are_played_alike(name: str, chunk: int) -> None:
    assert HANDS >= 10_000
    assert HANDS % CHUNKS == 0
    seen = play_many(table(name), HANDS // CHUNKS, seed=2003 + chunk)
    assert seen["hands"] == HANDS // CHUNKS
    expected = {"kuhn": EVERYWHERE, "leduc": EVERYWHERE | {"tie", "fold in round 1"}}
    expected |= {"holdem-limit": IN_HOLDEM, "holdem-nolimit": IN_NOLIMIT}
    assert not expected[name] - (+seen).keys()
    assert seen["decisions"] > 2 * seen["hands"]


SMALL_GAMES = {
    "royal-holdem": IN_HOLDEM,
    "short": IN_NOLIMIT,
    "unequal": IN_NOLIMIT | {"call for less", "unmatched chips"},
    "covered": IN_NOLIMIT | {"call for less", "unmatched chips"},
    "one big blind": EVERYWHERE | {"tie", "idle turn"},
    "capped": (IN_NOLIMIT - {"fold in round 3"}) | {"call for less"},
    "toy": EVERYWHERE | {"tie", "minimum raise", "all-in below a full raise", "call for less"},
    "three-handed": IN_NOLIMIT | {"call for less", "unmatched chips"},
}


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_small_decks_and_short_or_unequal_stacks_are_played_alike(name: str) -> None:
    seen = play_many(table(name), 2_000, seed=2007)
    assert seen["hands"] == 2_000
    assert not SMALL_GAMES[name] - (+seen).keys()


def invented(rng: Random) -> GameRules:
    """A small game nobody plays: blinds of any size in any seat, also all-in from the blind."""
    players, rounds, is_limit = rng.choice((2, 2, 3)), rng.randint(1, 4), rng.random() < 0.3

    def numbers(low: int, high: int, length: int) -> tuple[int, ...]:
        return tuple(rng.randint(low, high) for _ in range(length))

    blinds, extra = numbers(0, 6, players), numbers(0, 40, players)
    if not any(blinds) or not any(extra):  # OpenSpiel plays neither
        return invented(rng)
    stacks = tuple(max(1, blind + more) for blind, more in zip(blinds, extra, strict=True))
    return GameRules(
        name="invented",
        betting="limit" if is_limit else "nolimit",
        blinds=blinds,
        stacks=None if is_limit else stacks,
        raise_sizes=numbers(1, 9, rounds) if is_limit else (),
        max_raises=numbers(0, 4, rounds),
        first_players=numbers(0, players - 1, rounds),
        num_suits=rng.randint(2, 4),
        num_ranks=rng.randint(7, 13),
        num_hole_cards=rng.randint(1, 3),
        num_board_cards=numbers(0, 1, rounds),
    )


@pytest.mark.parametrize("chunk", range(2))
def test_invented_games_are_played_alike(chunk: int) -> None:
    rng = Random(chunk)
    hands = 0
    for number in range(300):
        hands += play_many(Table.of(invented(rng)), 6, seed=number)["hands"]
    assert hands == 1_800


# --- every hand of the toy games ------------------------------------------------------------------


def count_hands(at: Table, state: HandState, theirs: Any, dealt: int) -> int:
    """Hands that end below a state, all compared; `theirs` is left as it was."""
    theirs = theirs.clone()
    cards = [card for hole in state.deal.holes for card in hole] + list(state.deal.board)
    dealt = deal_cards(at, theirs, cards, dealt)
    check_same(at, state, theirs, dealt, Random(0))
    if state.is_over:
        return 1
    return sum(
        count_hands(at, state.apply(action), theirs.child(_number(action)), dealt)
        for action in state.legal_actions().actions
    )


@pytest.mark.parametrize(("name", "hands"), [("kuhn", 6 * 5), ("leduc", 120 * 49)])
def test_every_hand_of_a_toy_game_is_played_alike(name: str, hands: int) -> None:
    # Leduc: 6 · 5 · 4 deals; a round has 4 folds and 5 calls, so 4 + 5 · 9 ways to bet.
    at = table(name)
    num_board = at.rules.total_board_cards
    total = 0
    for first, second, *board in permutations(at.rules.deck.cards, 2 + num_board):
        state = HandState.start(at.rules, Deal(((first,), (second,)), tuple(board)))
        total += count_hands(at, state, at.game.new_initial_state(), 0)
    assert total == hands


# --- where the engines differ ---------------------------------------------------------------------


def test_limit_stacks_bind_here_and_are_ignored_by_openspiel() -> None:
    # OpenSpiel drops `stack` from limit definitions; here a limit player can run out of chips.
    rules = replace(get_game("holdem-limit"), stacks=(25, 25))
    at = Table.of(rules)
    state, theirs = HandState.start(rules, next(Dealer(rules, 1))), at.game.new_initial_state()
    cards = [card for hole in state.deal.holes for card in hole]
    deal_cards(at, theirs, cards, 0)
    for _ in range(2):
        state = state.apply(RAISE)
        theirs.apply_action(_RAISE)
    assert state.betting.spent == (25, 20)
    assert theirs.to_dict()["player_contributions"] == [30, 20]
    assert RAISE not in state.legal_actions()
    assert _RAISE in theirs.legal_actions()
