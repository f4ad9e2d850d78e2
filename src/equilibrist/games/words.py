"""Betting in words, as players say it: check, bet 120, call, raise to 360, fold.

Amounts are chips of the street, as in spots and PHH; names of nodes (`BettingTree.name`) count the
chips of the whole hand. A spot passes a function that writes chips in its own unit.
"""

from __future__ import annotations

from collections.abc import Callable

from equilibrist.games.action import Action
from equilibrist.games.amounts import street_total
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules

Writer = Callable[[int], str]  # writes chips as text
_STREETS = ("preflop", "flop", "turn", "river")


def round_name(rules: GameRules, r: int) -> str:
    """Return the name of a round: preflop, flop, turn, river, or `round 2` in other games."""
    return _STREETS[r] if rules.num_board_cards == (0, 3, 1, 1) else f"round {r + 1}"


def seat_name(rules: GameRules, player: int) -> str:
    """Return the place of a player: the big blind, the dealer, or the order of acting.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> seat_name(get_game("holdem-limit"), 1), seat_name(get_game("kuhn"), 1)
        ('the dealer', 'second to act')
    """
    blinds = rules.blinds
    if len(set(blinds)) == 1:
        return "first to act" if rules.first_players[0] == player else "second to act"
    return "the big blind" if blinds[player] == max(blinds) else "the dealer"


def _with_commas(chips: int) -> str:
    return f"{chips:,}"


def action_phrase(
    betting: Betting,
    action: Action,
    *,
    second_person: bool = False,
    write: Writer = _with_commas,
) -> str:
    """Return an action in words: "raises to 300", or "raise to 300" in the second person."""
    s = "" if second_person else "s"
    if action.kind == "r":
        total = action.amount or betting.min_raise_to
        verb = f"raise{s} to" if max(betting.spent) > betting.opening else f"bet{s}"
        return f"{verb} {write(street_total(betting, total))}"
    if action.kind == "c":
        return f"call{s}" if betting.to_call else f"check{s}"
    return {"f": f"fold{s}", "d": f"swap{s} a card", "k": f"keep{s}"}[action.kind]


def node_words(tree: BettingTree, node: int, write: Writer = _with_commas) -> str:
    """Return the betting that leads to a node in words, empty at the root.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("holdem-limit"))
        >>> node_words(tree, tree.parse("crc/cr"))
        'call, raise to 20, call; flop: check, bet 10'
        >>> node_words(tree, tree.parse("cc/"))
        'call, check; flop'
    """
    now, streets = tree.start, [[""]]
    for v in list(tree.path(node))[1:]:
        action = tree.action(v)
        if action is None:
            streets.append([round_name(tree.rules, int(tree.round[v]))])
            continue
        streets[-1].append(action_phrase(now, action, second_person=True, write=write))
        now = now.apply(action)
    texts = [": ".join(filter(None, (name, ", ".join(words)))) for name, *words in streets]
    return "; ".join(texts)


def action_labels(tree: BettingTree, node: int, write: Writer = _with_commas) -> tuple[str, ...]:
    """Return the actions at a decision in words; a call has its chips.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("holdem-limit"))
        >>> action_labels(tree, 0), action_labels(tree, tree.parse("cc/"))
        (('fold', 'call 5', 'raise to 20'), ('check', 'bet 10'))
    """
    now, found = tree.state(node), []
    for child in tree.children(node):
        action = tree.action(child)
        assert action is not None
        words = action_phrase(now, action, second_person=True, write=write)
        found.append(f"{words} {write(now.to_call)}" if words == "call" else words)
    return tuple(found)
