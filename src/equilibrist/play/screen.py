"""The table as text: a person's view of a hand, optionally in four suit colours.

Everything is drawn from the person's `View`, so nothing hidden can appear; only `revealed`, used
after the hand, shows the cards and strategy of the opponent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equilibrist.cards.card import cards_symbols
from equilibrist.cards.ranking import hand_description
from equilibrist.games.betting import Betting
from equilibrist.games.words import action_phrase, round_name, seat_name
from equilibrist.play.session import YOU, Decision
from equilibrist.players.player import Result, View

_WIDTH = 14  # width of a name in characters
_BACK = "▒▒"  # back of a hidden card


def table_lines(view: View, other: str, *, colour: bool = False) -> list[str]:
    """Return the lines that show the table at one point of a hand.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.play.acpc import view_of
        >>> line = "MATCHSTATE:0:4:rc/:5d5c|/8dAs8s"
        >>> for line in table_lines(view_of(get_game("holdem-limit"), line), "poki"):
        ...     print(line)
        hand 5, holdem-limit, you are the big blind
          poki            ▒▒ ▒▒
          board           8♦ A♠ 8♠
          you             5♦ 5♣
          pot             40
          preflop: poki raises to 20, you call
    """
    betting, rules = view.betting, view.rules
    lines = [
        f"hand {view.state.hand_number + 1}, {rules.name}, you are {seat_name(rules, view.player)}"
    ]
    for name, player in ((other, 1 - view.player), ("board", None), (YOU, view.player)):
        if player is None:
            shown = cards_symbols(view.board, colour=colour)
            if rules.total_board_cards:
                lines.append(_row(name, shown or "–"))
            continue
        hole = view.state.holes[player]
        shown = cards_symbols(hole, colour=colour) or " ".join([_BACK] * rules.num_hole_cards)
        behind = f"   {betting.stacks_left[player]:,} behind" if rules.stacks else ""
        lines.append(_row(name, shown + behind))
    lines.append(_row("pot", f"{betting.pot:,}"))
    return [*lines, *(f"  {line}" for line in story(betting, view.player, other))]


def _row(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}}  {text}"


def story(betting: Betting, you: int, other: str) -> Iterator[str]:
    """Yield the actions so far in words, one line per round.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> list(story(parse_betting(get_game("holdem-nolimit"), "r300c/cr900f"), 0, "Bob"))
        ['preflop: Bob raises to 300, you call', 'flop: you check, Bob bets 600, you fold']
    """
    for round, steps in played_actions(betting, you):
        words = [f"{YOU if is_you else other} {phrase}" for is_you, phrase in steps]
        yield f"{round}: {', '.join(words)}"


def played_actions(betting: Betting, you: int) -> Iterator[tuple[str, list[tuple[bool, str]]]]:
    """Yield each round that has actions: its name, and whether you acted with the action in words.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.notation import parse_betting
        >>> list(played_actions(parse_betting(get_game("holdem-limit"), "rc/"), 0))
        [('preflop', [(False, 'raises to 20'), (True, 'call')])]
    """
    rules = betting.rules
    now = Betting.start(rules)
    for round, actions in enumerate(betting.history):
        steps = []
        for action in actions:
            is_you = now.to_act[0] == you
            steps.append((is_you, action_phrase(now, action, second_person=is_you)))
            now = now.apply(action)
        if steps:
            yield round_name(rules, round), steps


def result_line(result: Result) -> str:
    """Return a line with the result of a hand for the person."""
    chips, view = result.chips, result.view
    text = f"you win {chips:,}" if chips > 0 else f"you lose {-chips:,}" if chips else "a tie"
    if not view.betting.is_showdown:
        return text
    ranking = view.rules.ranking
    yours, theirs = (
        hand_description(view.state.holes[player] + view.board, ranking)
        for player in (view.player, 1 - view.player)
    )
    if yours != theirs:
        return f"{text}: {yours} against {theirs}"
    return f"{text}: both have {yours}" + ("; the other cards decide" if chips else "")


def revealed(decisions: Sequence[Decision], other: str, *, colour: bool = False) -> list[str]:
    """Return lines with the opponent's cards and its probabilities at each of its decisions."""
    if not decisions:
        return []
    shown = cards_symbols(decisions[-1].view.hole, colour=colour)
    lines = [f"{other} had {shown}"]
    for decision in decisions:
        betting = decision.view.betting
        if decision.mixture is None:
            return [*lines, f"{other} has no mixed strategy to show"]
        shares = ", ".join(f"{action_phrase(betting, a)} {p:.0%}" for a, p in decision.mixture)
        street = round_name(decision.view.rules, betting.round)
        lines.append(f"  {street}: {shares}; it {action_phrase(betting, decision.action)}")
    return lines
