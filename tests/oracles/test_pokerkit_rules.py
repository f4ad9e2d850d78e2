"""The rules against PokerKit, an engine written from the rules of live poker.

Both engines play the same random hands side by side. Before every action: whose turn it is, whether
folding is legal, what a call costs, the smallest and largest raise, the pot, the stacks, the board.
At the end: payoffs. PokerKit seats the big blind first, as ACPC does; it counts a raise in chips of
the round, we count chips of the whole hand.

Where live poker and the ACPC differ, a test at the end says so and holds both engines to it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from pokerkit import Automation, FixedLimitTexasHoldem, Mode, NoLimitTexasHoldem, State

from equilibrist.cards.card import cards_name
from equilibrist.games.action import CALL, FOLD, RAISE, Action, parse_action, raise_to
from equilibrist.games.betting import Betting
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState

NOLIMIT_HANDS = 1_200
LIMIT_HANDS = 400
CHUNKS = 2  # tests that workers can share

NOLIMIT = get_game("holdem-nolimit")
# PokerKit caps every round at four raises; the ACPC at three before the flop.
LIMIT = replace(get_game("holdem-limit"), max_raises=(4, 4, 4, 4))

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)


# --- one hand on two engines ----------------------------------------------------------------------


def pokerkit_state(rules: GameRules, mode: Mode = Mode.TOURNAMENT) -> State:
    """PokerKit's hand with the same blinds and stacks, cards not dealt yet.

    Heads-up it takes the small blind first, though the big blind is its player 0.
    """
    blinds = rules.blinds[::-1] if rules.num_players == 2 else rules.blinds
    seats = (rules.stack_chips, rules.num_players)
    if rules.is_limit:
        small, _, big, _ = rules.raise_sizes
        return FixedLimitTexasHoldem.create_state(
            AUTOMATIONS, True, 0, blinds, small, big, *seats, mode=mode
        )
    return NoLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, blinds, rules.big_blind, *seats, mode=mode
    )


def deal_cards(theirs: State, deal: Deal) -> None:
    """Deal what PokerKit waits for; burnt cards are of no interest."""
    while True:
        if theirs.can_deal_hole():
            assert theirs.hole_dealee_index is not None
            theirs.deal_hole(cards_name(deal.holes[theirs.hole_dealee_index]))
        elif theirs.can_burn_card("??"):
            theirs.burn_card("??")
        elif theirs.can_deal_board():
            dealt, more = len(theirs.board_cards), theirs.board_dealing_count
            assert more is not None
            theirs.deal_board(cards_name(deal.board[dealt : dealt + more]))
        else:
            return


def play(rules: GameRules, deal: Deal, rng: Random, seen: Counter[str]) -> None:
    """A hand to its end, compared at every step; what happened is counted in `seen`."""
    state, theirs = HandState.start(rules, deal), pokerkit_state(rules)
    aggression = rng.random()
    deal_cards(theirs, deal)
    while not state.is_over:
        if is_idle_turn(state.betting):
            assert not theirs.status, str(state)
            seen["idle turn"] += 1
            state = state.apply(CALL)
            continue
        check_same(state, theirs, rng)
        action = choose(state, rng, aggression)
        note(state, action, seen)
        apply(theirs, action, state.betting)
        deal_cards(theirs, deal)
        state = state.apply(action)
    assert not theirs.status, str(state)
    assert tuple(theirs.payoffs) == state.payoffs(), str(state)
    seen["hands"] += 1
    seen["showdown" if state.betting.is_showdown else f"fold in round {state.betting.round}"] += 1
    seen["tie"] += state.betting.is_showdown and not any(state.payoffs())


def is_idle_turn(betting: Betting) -> bool:
    """Return whether the actor may only check because the opponent is all-in.

    Before the flop the ACPC dealer waits for that check (OpenSpiel, which runs its code, agrees);
    PokerKit continues to the showdown. In later rounds neither asks.
    """
    return betting.to_call == 0 and not betting.can_raise and 0 in betting.stacks_left


def apply(theirs: State, action: Action, betting: Betting) -> None:
    if action == FOLD:
        theirs.fold()
    elif action == CALL:
        theirs.check_or_call()
    else:
        total = action.amount or betting.min_raise_to
        theirs.complete_bet_or_raise_to(total - betting.opening)


def check_same(state: HandState, theirs: State, rng: Random) -> None:
    betting, legal, where = state.betting, state.legal_actions(), str(state)
    assert theirs.status, where
    assert theirs.actor_index == betting.actor, where
    assert theirs.total_pot_amount == betting.pot, where
    assert tuple(theirs.stacks) == betting.stacks_left, where
    assert "".join(f"{card!r}" for (card,) in theirs.board_cards) == cards_name(state.board), where
    assert theirs.can_fold() == (FOLD in legal), where
    assert theirs.checking_or_calling_amount == betting.to_call, where

    # Chips of the actor in the pot before this round, by PokerKit's books.
    actor = betting.to_act[0]
    before = theirs.starting_stacks[actor] - theirs.stacks[actor] - theirs.bets[actor]
    assert before == betting.opening, where
    low = theirs.min_completion_betting_or_raising_to_amount
    high = theirs.max_completion_betting_or_raising_to_amount
    if low is None or high is None:
        assert not betting.can_raise, where
    elif state.rules.is_limit:
        assert RAISE in legal, where
        assert low + before == high + before == betting.min_raise_to, where
    else:
        assert legal.raise_to == (low + before, high + before), where
        for amount in (low - 1, low, high, high + 1, rng.randint(1, 2 * high)):
            answer = theirs.can_complete_bet_or_raise_to(amount)
            assert answer == state.can(raise_to(amount + before)), (where, amount)


def choose(state: HandState, rng: Random, aggression: float) -> Action:
    """A random action: few folds, so that hands get deep; raises of every kind of size."""
    legal = state.legal_actions()
    if state.betting.can_raise and rng.random() < 0.15 + 0.7 * aggression:
        if legal.raise_to is None:
            return RAISE
        low, high = legal.raise_to
        more = min(high, low + rng.randrange(1 + state.betting.pot))
        return raise_to(rng.choice((low, low, low, more, more, rng.randint(low, high), high)))
    if FOLD in legal and rng.random() < 0.15:
        return FOLD
    return CALL


def note(state: HandState, action: Action, seen: Counter[str]) -> None:
    betting = state.betting
    seen["decisions"] += 1
    seen["turn with no raise"] += not betting.can_raise
    if action.kind == "r":
        stack = state.rules.stack_chips[betting.to_act[0]]
        total, full = action.amount or betting.min_raise_to, betting.full_raise_to
        if state.rules.is_limit:
            full = max(betting.spent) + state.rules.raise_sizes[betting.round]
        seen["minimum raise"] += total == full < stack
        seen["all-in raise"] += total == stack
        seen["short all-in"] += total == stack < full
    if action == CALL and betting.to_call:
        spent = betting.spent[betting.to_act[0]] + betting.to_call
        seen["call for less"] += spent < max(betting.spent)


# --- random hands ---------------------------------------------------------------------------------

HAPPENED = {
    "showdown", "tie", "fold in round 0", "fold in round 1", "fold in round 2", "fold in round 3",
    "minimum raise", "all-in raise", "short all-in", "call for less", "turn with no raise",
    "idle turn",
}  # fmt: skip


def random_stacks(rng: Random, blinds: tuple[int, ...]) -> tuple[int, ...]:
    """Draw stacks from one blind to 200 big blinds, rarely equal, sometimes of one big blind."""
    most = rng.choice((2, 4, 10, 40, 200)) * max(blinds)
    stacks = [rng.choice((rng.randint(blind, most), most)) for blind in blinds]
    if rng.random() < 0.1:
        stacks[rng.randrange(len(stacks))] = max(blinds)
    return tuple(stacks)


def play_many(rules: GameRules, hands: int, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    dealer, rng = Dealer(rules, seed), Random(seed)
    for _ in range(hands):
        stacks = random_stacks(rng, rules.blinds)
        play(replace(rules, stacks=stacks), next(dealer), rng, seen)
    return seen


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_nolimit_hands_are_played_alike(chunk: int) -> None:
    assert NOLIMIT_HANDS >= 500
    seen = play_many(NOLIMIT, NOLIMIT_HANDS // CHUNKS, seed=2015 + chunk)
    assert seen["hands"] == NOLIMIT_HANDS // CHUNKS
    assert not HAPPENED - (+seen).keys()
    assert min(seen["minimum raise"], seen["short all-in"], seen["call for less"]) > 25


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_limit_hands_are_played_alike(chunk: int) -> None:
    assert LIMIT_HANDS >= 200
    seen = play_many(LIMIT, LIMIT_HANDS // CHUNKS, seed=2017 + chunk)
    assert seen["hands"] == LIMIT_HANDS // CHUNKS
    assert not HAPPENED - (+seen).keys()


@pytest.mark.slow
@pytest.mark.parametrize("rules", [LIMIT, NOLIMIT], ids=["limit", "no-limit"])
def test_ten_thousand_hands_are_played_alike(rules: GameRules) -> None:
    assert play_many(rules, 10_000, seed=2019)["hands"] == 10_000


def test_catalogued_nolimit_game_is_played_alike_from_its_own_stacks() -> None:
    seen: Counter[str] = Counter()
    dealer, rng = Dealer(NOLIMIT, 7), Random(7)
    for _ in range(100):
        play(NOLIMIT, next(dealer), rng, seen)
    assert seen["hands"] == 100


# --- where live poker and the ACPC differ ---------------------------------------------------------


def follow(rules: GameRules, *names: str) -> tuple[HandState, State]:
    """Both engines after some actions."""
    deal = next(Dealer(rules, 1))
    state, theirs = HandState.start(rules, deal), pokerkit_state(rules)
    deal_cards(theirs, deal)
    for name in names:
        action = parse_action(name)
        apply(theirs, action, state.betting)
        deal_cards(theirs, deal)
        state = state.apply(action)
    return state, theirs


def test_acpc_limit_allows_three_raises_before_the_flop_and_pokerkit_four() -> None:
    rules = replace(get_game("holdem-limit"), stacks=(1000, 1000))
    state, theirs = follow(rules, "r", "r", "r")
    assert str(state.legal_actions()) == "f, c"
    assert theirs.can_complete_bet_or_raise_to(50)


def test_acpc_forbids_the_fold_that_pokerkit_cash_games_only_warn_of() -> None:
    rules = NOLIMIT
    deal = next(Dealer(rules, 1))
    theirs = pokerkit_state(rules, Mode.CASH_GAME)
    deal_cards(theirs, deal)
    theirs.check_or_call()
    state = HandState.start(rules, deal).apply(CALL)
    assert not state.can(FOLD)
    with pytest.warns(UserWarning, match="no reason for this player to fold"):
        theirs.fold()
    assert not theirs.status


@pytest.mark.parametrize(
    ("blinds", "stacks", "names"),
    [
        pytest.param((100, 50), (1000, 50), "", id="small blind is all-in"),
        pytest.param((100, 30), (1000, 30), "", id="small blind is all-in for less"),
        pytest.param((40, 50), (40, 900), "", id="big blind is all-in for less than the small"),
        pytest.param((100, 50), (1000, 100), "c", id="dealer is all-in by calling"),
    ],
)
def test_acpc_asks_a_player_that_can_only_check_before_the_flop_and_pokerkit_does_not(
    blinds: tuple[int, int], stacks: tuple[int, int], names: str
) -> None:
    state, theirs = follow(replace(NOLIMIT, blinds=blinds, stacks=stacks), *names)
    assert is_idle_turn(state.betting)
    assert str(state.legal_actions()) == "c"
    assert not theirs.status
    assert state.apply(CALL).payoffs() == tuple(theirs.payoffs)


THREE_HANDED = replace(
    NOLIMIT,
    name="three-handed",
    blinds=(50, 100, 0),
    stacks=(400, 5000, 5000),
    first_players=(2, 0, 0, 0),
)


def test_acpc_lets_a_short_all_in_be_raised_by_a_player_that_acted_and_pokerkit_does_not() -> None:
    # Player 2 raises by 200, player 0 is all-in for 100 more, player 1 calls.
    state, theirs = follow(THREE_HANDED, "r300", "r400", "c")
    assert state.actor == theirs.actor_index == 2
    assert str(state.legal_actions()) == "f, c, r500–r5000"
    assert not theirs.can_complete_bet_or_raise_to(5000)


def test_acpc_counts_a_full_raise_from_the_last_full_raise_and_pokerkit_from_the_all_in() -> None:
    # After a raise to 300 the next full raise is to 500. An all-in to 400 does not move that in the
    # ACPC; in live poker it is 200 more than 400.
    state, theirs = follow(THREE_HANDED, "r300", "r400")
    assert state.legal_actions().raise_to == (500, 5000)
    assert theirs.min_completion_betting_or_raising_to_amount == 600
