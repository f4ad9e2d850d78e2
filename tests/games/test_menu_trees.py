"""Trees of bet menus against a plain enumeration of betting lines, which shares no code with them.

The enumeration knows two players, a pot, a stack and a number of streets; sizes are per cent of the
pot, and all arithmetic is in integers and fractions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.catalog import get_game
from equilibrist.games.tree_counts import tree_counts
from equilibrist.models.spot import Chips, Spot
from equilibrist.models.treeplex import player_rows
from equilibrist.solving.forecast import count_states, spot_forecast

BOARDS = {1: "Td9d6hQc2s", 2: "Td9d6hQc", 3: "Td9d6h"}


@dataclass(frozen=True)
class Options:
    """A menu for the enumeration; percentages are whole numbers."""

    pot: int
    stack: int
    streets: int
    bets: tuple[int, ...]
    raises: tuple[int, ...]
    donks: tuple[int, ...] | None = None
    cap: int = 99
    blind: int = 1
    add: int = 0
    force: int = 0
    merge: int = 0

    def texts(self) -> dict[str, str]:
        def sizes(percents: tuple[int, ...]) -> str:
            return ",".join(f"{percent}%" for percent in percents) or "-"

        texts = {"bets": sizes(self.bets), "raises": sizes(self.raises)}
        texts["max_raises"] = str(self.cap)
        texts |= {} if self.donks is None else {"donks": sizes(self.donks)}
        thresholds = {"add_all_in": self.add, "force_all_in": self.force, "merge": self.merge}
        return texts | {name: f"{value}%" for name, value in thresholds.items() if value}

    def spot(self) -> Spot:
        chips = Chips(self.pot, self.stack, self.blind)
        return Spot.of(BOARDS[self.streets], "AA", "KK", chips, **self.texts())


def street_lines(o: Options, behind: int, is_donk: bool) -> Iterator[tuple[str, str, int]]:
    """Return all lines of a street, how each ends, and the chips that each player has put in.

    A line ends with "f" (fold), "c" (nobody raised), "0" or "1" (that player raised last).
    """
    waiting = [("", 0, (0, 0), 0, o.blind, 0)]  # line, actor, bets, raises, smallest raise, calls
    while waiting:
        line, actor, bets, raises, least, calls = waiting.pop()
        own, faced = bets[actor], max(bets)
        yield line, "", faced
        if faced > own:
            yield line + "f", "f", own
        if faced == own and not calls:
            waiting.append((line + "c", 1 - actor, bets, raises, least, 1))
        else:
            yield line + "c", "c" if not raises else str(1 - actor), faced
        if raises == o.cap or faced == behind:
            continue
        pot = o.pot + 2 * (o.stack - behind) + 2 * faced
        percents = o.raises if raises else o.bets
        if is_donk and not raises and actor == 0:
            percents = o.donks or ()
        for to in amounts(o, percents, pot, faced, least, behind):
            new = (to, bets[1]) if actor == 0 else (bets[0], to)
            waiting.append((f"{line}r{to}", 1 - actor, new, raises + 1, max(least, to - faced), 1))


def amounts(
    o: Options, percents: tuple[int, ...], pot: int, faced: int, least: int, behind: int
) -> list[int]:
    """Return the street totals of the bets that a menu offers."""
    tos = {faced + round(Fraction(pot * percent, 100)) for percent in percents}
    tos = {min(behind, max(to, faced + least)) for to in tos}
    if tos and behind - faced <= Fraction(pot * o.add, 100):
        tos.add(behind)
    if o.force:
        tos = {
            behind
            if Fraction(behind - to, pot + 2 * (to - faced)) <= Fraction(o.force, 100)
            else to
            for to in tos
        }
    kept = []
    while tos:
        largest = max(tos)
        kept.append(largest)
        closeness = {to: Fraction(pot + largest - faced, pot + to - faced) for to in tos}
        tos = {to for to in tos - {largest} if closeness[to] >= 1 + Fraction(o.merge, 100)}
    return kept


def lines(o: Options, behind: int, streets: int, is_donk: bool = False) -> Iterator[str]:
    """Return the names of all nodes from the opening of a street on."""
    for line, end, put in street_lines(o, behind, is_donk):
        yield line
        if end in ("", "f") or streets == 1:
            continue
        if put == behind:  # all-in: the other cards are dealt
            yield from (line + "/" * number for number in range(1, streets))
        else:
            is_next = o.donks is not None and end == "1"
            yield from (f"{line}/{rest}" for rest in lines(o, behind - put, streets - 1, is_next))


def same_tree(o: Options) -> int:
    """Assert that a spot's tree has the enumerated nodes; return their number."""
    found, expected = o.spot().names, sorted(lines(o, o.stack, o.streets))
    assert sorted(found) == expected
    return len(found)


def test_plain_menus_have_the_lines_of_a_plain_enumeration():
    plain = Options(60, 400, 2, (50, 100), (60,), cap=3)
    assert same_tree(plain) > 200
    assert same_tree(replace(plain, streets=3, bets=(70,))) > 400
    assert same_tree(replace(plain, streets=1, cap=99, blind=20)) > 20


def test_donk_bets_have_their_own_sizes_after_a_call_of_in_positions_last_raise():
    plain = Options(60, 400, 2, (50,), (60,), cap=2)
    donks = replace(plain, donks=(25, 75))
    assert same_tree(donks) > same_tree(plain) > same_tree(replace(plain, donks=()))
    spot = donks.spot()
    first = {name: spot.actions(spot.find(name)) for name in ("cc/", "r30c/", "cr30c/")}
    # Checked through; out of position bet and was called; in position bet and was called.
    assert first == {"cc/": ("c", "r30"), "r30c/": ("c", "r60"), "cr30c/": ("c", "r30", "r90")}
    assert spot.actions(spot.find("cr30c/c")) == ("c", "r60")  # in position never donks
    assert spot.actions(spot.find("r30r102c/")) == ("c", "r66", "r198")
    assert spot.actions(spot.find("cr30r102c/")) == ("c", "r132")  # a check-raise was called


def test_a_street_that_was_checked_through_ends_the_memory_of_an_aggressor():
    spot = Options(60, 400, 3, (50,), (60,), donks=(), cap=1).spot()
    assert spot.actions(spot.find("cr30c/")) == ("c",)
    assert spot.actions(spot.find("cr30c/cc/")) == ("c", "r60")
    assert spot.actions(spot.find("cr30c/cr60c/")) == ("c",)


def test_before_the_flop_the_dealers_raise_makes_the_callers_flop_bet_a_donk_bet():
    rules = get_game("holdem-nolimit")
    tree = BettingTree.build(rules, BetMenu.parse("100%", donks="-", max_raises="1"), last_round=1)
    steps = {
        name: [tree.step(child) for child in tree.children(tree.parse(name))]
        for name in ("r300c/", "cr300c/", "cc/")
    }
    assert steps == {"r300c/": ["c"], "cr300c/": ["c", "r900"], "cc/": ["c", "r300"]}


@pytest.mark.parametrize("add", [0, 100, 150, 400])
@pytest.mark.parametrize("force", [0, 10, 40])
@pytest.mark.parametrize("merge", [0, 10, 60])
def test_thresholds_have_the_lines_of_a_plain_enumeration(add, force, merge):
    options = Options(60, 300, 2, (33, 50, 120), (50,), (25, 33), add=add, force=force, merge=merge)
    assert same_tree(options) > 30


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_menu_has_the_lines_of_a_plain_enumeration(data):
    def percents(least: int) -> tuple[int, ...]:
        sizes = data.draw(st.lists(st.integers(5, 300), min_size=least, max_size=3))
        return tuple(dict.fromkeys(sizes))

    def percent(most: int) -> int:
        return data.draw(st.one_of(st.just(0), st.integers(1, most)))

    options = Options(
        pot=2 * data.draw(st.integers(3, 50)),
        stack=data.draw(st.integers(1, 400)),
        streets=data.draw(st.integers(1, 2)),
        bets=percents(1),
        raises=percents(0),
        donks=data.draw(st.one_of(st.none(), st.just(()), st.just((33,)))),
        cap=data.draw(st.integers(1, 3)),
        blind=data.draw(st.integers(1, 3)),
        add=percent(500),
        force=percent(200),
        merge=percent(100),
    )
    same_tree(options)


@pytest.mark.parametrize("donks", [None, (), (40,)])
def test_counts_of_a_tree_are_those_of_the_tree_that_is_built(donks):
    spot = Options(60, 500, 3, (40, 90), (60,), donks, force=15).spot()
    counts = tree_counts(spot.game, spot.menu, first_round=1, pot=60, runs_out=True)
    tree = spot.betting
    rows = [player_rows(tree, player) for player in (0, 1)]
    for r, count in enumerate(counts):
        nodes = tree.nodes(NodeKind.DECISION, r + 1)
        assert count.actions == tree.num_children[nodes].sum()
        sequences = [int(own.num_sequences[r]) for own in rows]
        assert 2 * count.openings + count.actions == sum(sequences)


def test_counts_of_a_spot_in_big_blinds_are_those_of_its_tree():
    chips = Chips("5.5bb", "97.25bb", "1.5bb")
    spot = Spot.of("Td9d6h", "AA", "KK", chips, bets="2.5bb,a", raises="3x", donks="2bb,50%")
    counts = tree_counts(spot.game, spot.menu_in_chips, first_round=1, pot=550, runs_out=True)
    assert sum(count.actions for count in counts) == (spot.betting.action_kind > 0).sum()
    forecast = spot_forecast(spot, num_states=count_states(spot.states))
    assert forecast.actions == pytest.approx(sum(state_actions(spot)), rel=0.02)


def state_actions(spot: Spot) -> Iterator[int]:
    """Return the actions of each street times the hands on its boards."""
    tree = spot.betting
    for r, states in enumerate(spot.states.num_states):
        nodes = tree.nodes(NodeKind.DECISION, spot.first_round + r)
        yield int(tree.num_children[nodes].sum() * states.sum())


@pytest.mark.parametrize("game", ["leduc", "rhode-island", "holdem-limit", "discard-holdem"])
def test_counts_of_whole_games_are_those_of_their_trees(game):
    rules = get_game(game)
    menu = BetMenu() if rules.is_limit else BetMenu.parse("100%,a", donks="50%")
    tree = BettingTree.build(rules, menu)
    decides = tree.kind == NodeKind.DECISION
    actions = [
        tree.num_children[decides & (tree.round == r)].sum() for r in range(rules.num_rounds)
    ]
    assert [count.actions for count in tree_counts(rules, menu)] == actions
