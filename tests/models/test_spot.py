"""Spots compared with enumeration of all deals, linear programs, and the rules of betting."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import BetMenuError, EquilibristError
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.models.spot import Chips, Spot
from equilibrist.models.subgame import subgame
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.cfr import CFR
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.solve import Budget, solve

ROYAL = replace(get_game("holdem-nolimit"), name="royal-nolimit", num_ranks=5)
TURN, RIVER = "AsKsQhTd", "AsKsQhTdTc"
OOP, IP = "AJs,KQo:0.25,JJ,TcJc:0.5,AhQh", "AQ,KTs:0.75,QJs,AcAd"


def royal(board=TURN, oop=OOP, ip=IP, **options):
    options = {"bets": "50%,a", "raises": "2.5x,a"} | options
    given = {name: options.pop(name) for name in ("pot", "stack", "blind") if name in options}
    chips, locks = Chips(**{"pot": 40, "stack": 90} | given), options.pop("locks", ())
    return Spot.of(board, oop, ip, chips, game=ROYAL, **options).with_locks(locks)


def uniform_value(game):
    plans = tuple(game.realize(player, game.uniform(player)) for player in (0, 1))
    return evaluate(game, plans).value


def tree_value(betting, menu, sign):
    """Return what player 0 wins under uniform play with a known sign of the showdown."""
    if betting.is_over:
        return betting.payoffs([sign, 0] if betting.is_showdown else None)[0]
    legal = betting.legal_actions()
    raises = () if legal.raise_to is None else menu.raise_actions(betting)
    actions = (*legal.actions, *raises)
    return sum(tree_value(betting.apply(a), menu, sign) for a in actions) / len(actions)


def brute_value(spot):
    """Return the mean of `tree_value` over every deal that the ranges allow."""
    start = Betting.start(spot.game, spot.first_round, spot.pot)
    of_sign = {sign: tree_value(start, spot.menu, sign) for sign in (-1, 0, 1)}
    hands, (first, second) = hand_table(), (own.weights for own in spot.ranges)
    board, total, won = spot.cards, 0.0, 0.0
    for i, j in itertools.product(np.flatnonzero(first), np.flatnonzero(second)):
        held = {*hands[i].tolist(), *hands[j].tolist(), *board}
        if len(held) < 4 + len(board) or not held <= set(spot.game.deck.cards):
            continue
        left = [card for card in spot.game.deck.cards if card not in held]
        for runout in itertools.combinations(left, 5 - len(board)):
            shown = [[*hands[h].tolist(), *board, *runout] for h in (i, j)]
            ranks = rank_hands(np.array(shown, np.uint8), "standard").astype(int)
            # All pairs have the same number of runouts, so all runouts are equally likely.
            weight = first[i] * second[j]
            won += weight * of_sign[int(np.sign(ranks[0] - ranks[1]))]
            total += weight
    return won / total


@pytest.mark.parametrize("board", ["AsKsQh", TURN, RIVER])
def test_uniform_play_with_all_ins_has_the_value_of_enumerated_deals(board):
    spot = royal(board, stack=30, bets="a", raises="a")
    assert len(spot.betting.nodes(NodeKind.SHOWDOWN)) == sum(
        spot.betting.counts(NodeKind.SHOWDOWN)[-1:]
    )
    assert uniform_value(spot.build().game) == pytest.approx(brute_value(spot), abs=1e-9)


def test_uniform_play_with_many_sizes_has_the_value_of_enumerated_deals():
    spot = royal(bets="33%,100% | 75%,a / e,a", raises="2.5x,a")
    assert uniform_value(spot.build().game) == pytest.approx(brute_value(spot), abs=1e-9)


def test_symmetric_ranges_merge_boards_and_change_no_value():
    spot = royal("AsKsQhTh", oop="JJ,AK,KQs:0.5", ip="AQ,QQ,JTo", bets="a", raises="a")
    merged = spot.build()
    assert merged.states.symmetry == "suits"
    assert len(merged.states.boards[1]) < 16
    assert uniform_value(merged.game) == pytest.approx(brute_value(spot), abs=1e-9)


def test_ranges_with_one_of_two_equivalent_hands_keep_suits_apart():
    """AcJc is one of the hands that a swap of clubs and diamonds exchanges, AdJd the other."""
    spot = royal("AsKsQhTh", oop="AcJc,JJ,KcQc", ip="random")
    assert spot.states.symmetry == "cards"
    assert uniform_value(spot.build().game) == pytest.approx(brute_value(spot), abs=1e-9)


def test_hands_in_neither_range_have_no_state_and_change_no_value():
    spot = royal()
    few = spot.build()
    weights = tuple(own.weights for own in spot.ranges)
    all_hands = subgame(spot.game, spot.cards, weights, spot.menu, pot=spot.pot)
    assert few.states.num_states[0][0] < all_hands.states.num_states[0][0] / 2
    assert uniform_value(few.game) == pytest.approx(uniform_value(all_hands.game), abs=1e-9)


@pytest.mark.parametrize(("board", "bets"), [(RIVER, "50%,a"), (TURN, "a")])
def test_cfr_plus_and_the_linear_program_agree(board, bets):
    game = royal(board, bets=bets, raises="a").build().game
    exact = LinearProgram().solve(game)
    run = solve(game, CFR(), Budget(target=0.02, iterations=20_000))
    assert run.outcome.name == "TARGET_REACHED"
    assert run.evaluation.value == pytest.approx(exact.value, abs=0.04)


def test_the_only_player_that_may_bet_wins_the_same_in_either_seat():
    """Only raises have a factor, so 2.5x is not a first bet: with `a | 2.5x` seat 0 alone bets."""
    values = []
    for bets, ranges in (("a | 2.5x", (OOP, IP)), ("2.5x | a", (IP, OOP))):
        game = royal(RIVER, *ranges, bets=bets, raises="2.5x").build().game
        values.append(solve(game, CFR(), Budget(target=1e-4, iterations=50_000)).evaluation.value)
    assert values[0] > 1
    assert values[0] == pytest.approx(-values[1], abs=1e-3)


# --- bugs that keep coming back in solvers --------------------------------------------------------


def steps(spot, name):
    betting = spot.betting
    return [betting.step(child) for child in betting.children(betting.parse(name))]


def test_a_raise_is_at_least_the_last_raise_and_a_short_all_in_is_legal():
    spot = royal(pot=40, stack=90, bets="20c", raises="1c,a")
    # 20 each are in: a bet of 20 is a total of 40; a raise of one chip becomes one of 20, to 60.
    assert steps(spot, "") == ["c", "r40"]
    assert steps(spot, "r40") == ["f", "c", "r60", "r110"]
    short = royal(pot=40, stack=30, bets="20c", raises="1c")
    assert steps(short, "r40") == ["f", "c", "r50"]  # all-in for ten more, less than a full raise


def test_a_share_of_the_pot_is_taken_after_calling():
    spot = royal(pot=40, stack=900, bets="50%", raises="50%")
    # Half of 40 is 20, to 40. Calling makes a pot of 80; half of it more is a total of 80.
    assert steps(spot, "") == ["c", "r40"]
    assert steps(spot, "r40") == ["f", "c", "r80"]


def test_menus_start_with_the_street_of_the_board_and_distinguish_seats():
    spot = royal(bets="50% | 100% / a", raises="a")
    assert steps(spot, "") == ["c", "r40"]
    assert steps(spot, "c") == ["c", "r60"]
    assert steps(spot, "cc/") == ["c", "r110"]


def test_blocked_combinations_are_removed_from_the_ranges():
    spot = royal(oop="AA,KK", ip="QQ")
    assert [own.num_combos for own in spot.ranges] == [3 + 3, 3]
    assert (spot.oop, spot.ip) == ("KK+", "QQ")  # as they were given


def test_partial_weights_do_not_vanish():
    spot = royal(oop="AJs:0.5,KQo", ip="QQ")
    game = spot.build()
    of_hand = game.states.state_of_hand[0][0]
    weights = game.game.uniform(0)[game.states.num_states[0][0] + of_hand[of_hand >= 0]]
    assert set(np.unique(weights)) == {0.0, 0.5, 1.0}


def test_nothing_is_shown_before_the_last_street():
    spot = royal("AsKsQh", bets="a", raises="a")
    assert spot.betting.counts(NodeKind.SHOWDOWN)[:-1] == [0, 0]
    assert spot.betting.kind[spot.betting.parse("r110c//")] == NodeKind.SHOWDOWN


def test_names_of_nodes_count_the_chips_of_the_street():
    spot = royal(bets="50%", raises="a")
    assert spot.actions(0) == ("c", "r20")
    assert spot.actions(spot.find("r20c/")) == ("c", "r40")  # half of the pot of 80
    assert spot.actions(spot.find("r20c/r40")) == ("f", "c", "r70")  # 90 less the 20 of the turn
    names = spot.names
    assert [spot.find(name) for name in names] == list(range(len(names)))


# --- locks ----------------------------------------------------------------------------------------


def test_a_locked_decision_is_played_as_given_and_exploited():
    """A player that always calls a river bet faces bets by better hands only, and no bluffs."""
    spot = royal(RIVER, bets="a", raises="a", locks=("r90: c=1",))
    found = spot.build()
    run = solve(found.game, CFR(), Budget(target=1e-3, iterations=20_000))
    free = solve(royal(RIVER, bets="a", raises="a").build().game, CFR(), Budget(target=1e-3))
    assert run.evaluation.value > free.evaluation.value + 0.1
    decision = found.rows[1].decision[found.betting.parse("r110")]
    assert found.game.trees[1].locked[decision]
    # The linear program of the game without the choice to fold gives the same value.
    exact = LinearProgram().solve(found.game)
    assert run.evaluation.value == pytest.approx(exact.value, abs=2e-3)


@pytest.mark.parametrize(
    ("lock", "complaint"),
    [
        ("r999: c=1", "c, r20, r90 can follow"),
        ("c", "has no actions; write c: "),
        ("c: f=1", "not one of the actions c, r20, r90"),
        ("c: r20=0.5", "omit at most one action"),
        ("c: r20=0.7; r90=0.7", "sum to more than 1"),
        ("c: r20=2; r90=0", "number from 0 to 1"),
    ],
)
def test_a_lock_that_cannot_be_read_is_refused(lock, complaint):
    with pytest.raises(EquilibristError, match=complaint):
        royal(RIVER, locks=(lock,))


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"board": "AsKs"}, "must start on a board of 3, 4, 5 cards, not of 2"),
        ({"board": "AsKsQhAs"}, "As.* (twice|repeat|again)"),
        ({"board": "AsKsQh2c"}, "2c is not in the deck"),
        ({"pot": 0}, "the pot must be above 0"),
        ({"pot": -2}, "the pot must be an amount of at most three decimals.*not -2"),
        ({"pot": float("nan")}, "the pot must be an amount.*not nan"),
        ({"pot": True}, "the pot must be an amount.*not True"),
        ({"pot": "5.55555bb", "stack": "9bb"}, "at most three decimals.*not '5.55555bb'"),
        ({"pot": "5.5bb"}, "the stack, 90, is in chips, but other amounts are in big blinds"),
        ({"pot": "6bb", "stack": "9bb", "bets": "20c"}, "the bet size 20c must be in big blinds"),
        ({"bets": "2bb"}, "the bet size 2bb must be in chips"),
        ({"pot": "1.5bb", "stack": "9bb"}, "at most half the pot, 0.75 bb, not 1bb"),
        ({"pot": 10**11}, "the pot is at most 2147483647 chips"),
        ({"stack": (90, 90, 90)}, "one amount, or two for out of position and in position"),
        ({"stack": "90,"}, "the stack must be an amount"),
        ({"stack": "0,90"}, "nobody can bet on"),
        ({"stack": None}, "needs a stack"),
        ({"stack": 0}, "nobody can bet on"),
        ({"bets": "2.5x"}, "nobody can bet on"),
        ({"bets": "50% / 60% / 70%"}, "the bet menu has 3 streets; 2 are left from"),
        ({"blind": 50}, "above 0 and at most half the pot, 20 chips, not 50"),
        ({"oop": "AsKs"}, "no hand of the range"),
        ({"pot": 10**5000 + 1}, "not a huge number"),
        ({"pot": 10**5000}, "not a huge number"),
        ({"stack": -(10**5000)}, "not a huge number"),
        ({"stack": 10**5000}, "not a huge number"),
        ({"blind": 10**5000}, "not a huge number"),
    ],
)
def test_invalid_spots_are_refused(changes, complaint):
    with pytest.raises(EquilibristError, match=complaint):
        royal(**changes)


@pytest.mark.parametrize("name", ["c" * 100_000, "cr20" * 30_000, "r" + "9" * 100_000])
def test_names_of_a_hundred_thousand_characters_are_refused_after_few_lookups(name):
    class Counting(dict):
        lookups = 0

        def __contains__(self, key):
            self.lookups += 1
            return super().__contains__(key)

    spot = royal(RIVER)
    nodes = spot.__dict__["_nodes"] = Counting(spot._nodes)
    with pytest.raises(EquilibristError, match=r"is not a node of this spot: .* can follow"):
        spot.find(name)
    assert nodes.lookups <= max(map(len, spot.names)) + 2


def test_menus_with_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr("equilibrist.models.spot.MOST_NODES", 1000)
    with pytest.raises(EquilibristError, match="more than 1,000 nodes; allow fewer bet sizes"):
        royal(bets="9%,8%,7%,6%,5%", raises="3x,4x,5x", stack=10**6)


def test_ranges_that_leave_no_pair_of_hands_are_refused():
    with pytest.raises(EquilibristError, match="no hands of the ranges can meet"):
        royal(oop="AhAd", ip="AhAd").build()
    # All hands share the ace of hearts; sums of their weights leave rounding errors.
    shared = "AhKh:0.1,AhKd:0.3,AhJs:0.7,AhTc:0.1"
    with pytest.raises(EquilibristError, match="no hands of the ranges can meet"):
        royal(oop=shared, ip=shared).build()
    with pytest.raises(EquilibristError, match="a spot must be of hold'em"):
        Spot.of("Ks", "random", "random", Chips(pot=4), game=get_game("leduc"))


def test_limit_spots_have_the_bets_of_the_game():
    spot = Spot.of("Td9d6hQc", "QQ+", "AK", Chips(pot=40), game=get_game("holdem-limit"))
    assert steps(spot, "") == ["c", "r"]
    assert spot.betting.spent[spot.betting.parse("r")].tolist() == [40, 20]


def test_raise_caps_above_the_games_are_refused_and_stored_ones_mean_the_games():
    given, limit = ("Td9d6h", "QQ+", "AK", Chips(pot=40)), get_game("holdem-limit")
    spot = Spot.of(*given, game=limit, max_raises="4")  # three before the flop
    with pytest.raises(EquilibristError, match="5 raises in round 2 is above the 4"):
        Spot.of(*given, game=limit, max_raises="5")
    assert len(replace(spot, max_raises="5").betting) == len(spot.betting)


@pytest.mark.parametrize("name", ["bets", "raises", "donks", "merge"])
def test_limit_spots_take_no_sizes(name):
    with pytest.raises(BetMenuError, match=f"fixed bets: leave out {name}"):
        Spot.of("Td9d6h", "AA", "KK", Chips(pot=40), game=get_game("holdem-limit"), **{name: "50%"})


def test_a_plain_spot_is_stored_without_the_menu_fields_that_early_versions_lack():
    plain = Spot.of("Td9d6h", "AA", "KK", Chips(pot=40, stack=90), bets="a")
    early = {"rules", "board", "oop", "ip", "pot", "bets", "raises", "max_raises", "locks"}
    early |= {"unit", "chips_per_unit", "behind", "rake", "rake_cap"}
    assert set(plain.as_data()) == early
    donks = replace(plain, donks="-", merge="10%")
    assert set(donks.as_data()) == early | {"donks", "merge"}
    assert Spot(**plain.as_data()) == plain
    assert Spot(**donks.as_data()) == donks


def test_donks_have_the_unit_of_the_spot():
    chips = Chips("5.5bb", "40bb")
    spot = Spot.of("Td9d6h", "AA", "KK", chips, bets="2bb", donks="1.125bb", max_raises="1")
    assert spot.chips_per_unit == 200  # parts in which hundredths and eighths are whole
    assert spot.actions(spot.find("cr2c/")) == ("c", "r1.125")
    assert spot.actions(spot.find("cc/")) == ("c", "r2")
    with pytest.raises(BetMenuError, match="100c must be in big blinds"):
        Spot.of("Td9d6h", "AA", "KK", chips, bets="2bb", donks="100c")


def test_donks_of_a_spot_start_with_the_street_of_the_board():
    spot = Spot.of("Td9d6h", "AA", "KK", Chips(40, 400), bets="50%", donks="a / 25% / -")
    assert spot.actions(spot.find("")) == ("c", "r20")  # the first street has no donk bets
    assert spot.actions(spot.find("cr20c/")) == ("c", "r20")
    assert spot.actions(spot.find("cr20c/cr40c/")) == ("c",)
    with pytest.raises(BetMenuError, match="has 4 streets; 3 are left from Td9d6h on"):
        Spot.of("Td9d6h", "AA", "KK", Chips(40, 400), bets="50%", donks="a / a / a / a")
