"""Reading and writing of ACPC state lines.

    MATCHSTATE:<viewer>:<hand>:<betting>:<cards>      the view of one player
    STATE:<hand>:<betting>:<cards>                    the view of an observer that sees all cards

`<betting>` is the text of `Betting`: the actions `f`, `c`, `r` or `r<chips in the whole hand>`
without spaces and a `/` at the end of each round, also for rounds without betting after an all-in.
`<cards>` is the players' hole cards with `|` between them, empty for a hidden hand, then the board
with a `/` before the cards of each later round. A showdown shows the hands that did not fold.

Extensions of ACPC:

- A discard decision is `d` (swapped) or `k` (kept) in the betting, in turn order, before the
  round's bets. The swapped card is private: a visible hand is followed by `~<old><new>` for each
  swap in order, so `2cKh~2c7d` was dealt 2c Kh and holds 7d Kh.
- Board cards rolled out after the last betting round follow one more `/` at a showdown.

Reading is strict: a line is accepted only if writing its state gives the same line again. Carriage
return and line feed at the end are ignored.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from equilibrist.cards.card import Card, Cards, parse_cards
from equilibrist.cards.numbers import parse_whole
from equilibrist.errors import CardError, IllegalActionError, RecordError
from equilibrist.games.action import parse_action
from equilibrist.games.betting import Betting
from equilibrist.games.rules import GameRules
from equilibrist.games.state import (
    MAX_HAND_NUMBER,
    Deal,
    HandState,
    Swap,
    board_sizes,
    draw_slot,
)

_TOKEN = re.compile(r"[fckd/]|r[0-9]*")
_FORMS = {
    "MATCHSTATE": ("viewer", "hand", "betting", "cards"),
    "STATE": ("hand", "betting", "cards"),
}


def line_error(line: str, at: int, message: str, value: object) -> RecordError:
    """Build a `RecordError` that names the character of a line where something is wrong."""
    where = f"(character {at + 1} of {line[:200]!r})"
    return RecordError(f"{message} {where}", value=value, position=at)


class ParsedState(NamedTuple):
    """A state and the player whose view it is, None for the full view."""

    state: HandState
    viewer: int | None


class _Field(NamedTuple):
    """A part of a line with its position, for error messages."""

    text: str
    start: int
    line: str

    def error(self, message: str, *, value: object = None, offset: int = 0) -> RecordError:
        value = self.text if value is None else value
        return line_error(self.line, self.start + offset, message, value)

    def split(self, separator: str) -> list[_Field]:
        fields, start = [], self.start
        for text in self.text.split(separator):
            fields.append(_Field(text, start, self.line))
            start += len(text) + len(separator)
        return fields


class _Turn(NamedTuple):
    """A discard turn in which a card was swapped."""

    round: int
    player: int


def state_line(state: HandState, viewer: int | None = None) -> str:
    """Return the line of a state, as `viewer` sees it or in full, without line end.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> line = "STATE:30:cc/r250c/:9s8h|9c6h/8c8d5c/6s"
        >>> state_line(parse_state(get_game("holdem-nolimit"), line).state, viewer=1)
        'MATCHSTATE:1:30:cc/r250c/:|9c6h/8c8d5c/6s'
    """
    if viewer is None:
        return str(state)
    cards = state.cards_text(viewer)
    return f"MATCHSTATE:{viewer}:{state.hand_number}:{state.betting.text}:{cards}"


def parse_state(rules: GameRules, line: str) -> ParsedState:
    """Parse a state line; a `RecordError` describes what is wrong and where.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> state, viewer = parse_state(get_game("holdem-nolimit"), "MATCHSTATE:0:30:c:9s8h|")
        >>> viewer, state.hand_number, state.actor, state.holes
        (0, 30, 0, ((31, 26), ()))
    """
    whole = _Field(line.rstrip("\r\n"), 0, line.rstrip("\r\n"))
    head, *rest = whole.split(":")
    if head.text not in _FORMS:
        raise head.error(f"a state must start with MATCHSTATE: or STATE:, not {head.text[:40]!r}")
    names = _FORMS[head.text]
    if len(rest) != len(names):
        form = ":".join((head.text, *(f"<{name}>" for name in names)))
        raise whole.error(f"the line has {len(rest) + 1} fields, but {form} has {len(names) + 1}")
    fields = dict(zip(names, rest, strict=True))
    viewer = None
    if "viewer" in fields:
        viewer = _number(fields["viewer"], "position", rules.num_players - 1)
    number = _number(fields["hand"], "hand number", MAX_HAND_NUMBER)
    betting, turns = _replay(rules, fields["betting"])
    state = _with_cards(betting, turns, fields["cards"], number)
    if viewer is not None and not state.holes[viewer]:
        raise fields["cards"].error(
            f"the cards of player {viewer}, whose view this is, are missing"
        )
    _check_same(whole, state_line(state, viewer))
    return ParsedState(state, viewer)


def parse_betting(rules: GameRules, text: str) -> Betting:
    """Parse a betting string; a `RecordError` names the character where it breaks the rules.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> parse_betting(get_game("leduc"), "crc/r").pot
        10
    """
    field = _Field(text, 0, text)
    betting, _ = _replay(rules, field)
    _check_same(field, betting.text)
    return betting


def _number(field: _Field, what: str, most: int) -> int:
    number = parse_whole(field.text, most)
    if number is None:
        raise field.error(f"the {what} must be 0 to {most}, not {field.text[:40]!r}")
    return number


def _replay(rules: GameRules, field: _Field) -> tuple[Betting, list[_Turn]]:
    """Replay the betting of a field and collect the turns with swaps; slashes are not checked."""
    betting = Betting.start(rules)
    turns = []
    at = 0
    while at < len(field.text):
        match = _TOKEN.match(field.text, at)
        if match is None or len(match.group()) > 11:
            bad = field.text[at : at + 12]
            raise field.error(
                f"{bad!r} is not an action; actions are f, c, r, r<chips>, d and k",
                value=bad,
                offset=at,
            )
        if match.group() != "/":
            action = parse_action(match.group())
            if action.kind == "d" and betting.is_discarding:
                turns.append(_Turn(betting.round, betting.to_act[0]))
            try:
                betting = betting.apply(action)
            except IllegalActionError as error:
                raise field.error(str(error), value=error.value, offset=at) from None
        at = match.end()
    return betting, turns


def _with_cards(betting: Betting, turns: list[_Turn], field: _Field, number: int) -> HandState:
    """Build the state of a betting with the cards of a field; swaps are assigned to their turns."""
    rules = betting.rules
    hands, *groups = field.split("/")
    holes = hands.split("|")
    if len(holes) != rules.num_players:
        raise hands.error(
            f"the line has {len(holes)} hands, but {rules.name} has {rules.num_players} players"
        )
    # The first round's board follows the last hand directly.
    last, size = holes[-1], 2 * rules.num_board_cards[0]
    cut = max(0, len(last.text) - size)
    holes[-1] = last._replace(text=last.text[:cut])
    first = _Field(last.text[cut:], last.start + cut, last.line)
    board = _board(betting, [first, *groups])
    dealt, swaps = [], []
    draws: list[Card | None] = [None] * rules.num_draws
    for player, hole in enumerate(holes):
        cards, *pairs = hole.split("~")
        dealt.append(_cards(cards, (0, rules.num_hole_cards)))
        swaps.append(_swaps(dealt[-1], pairs))
        slots = [draw_slot(rules, *turn) for turn in turns if turn.player == player]
        if dealt[-1] and len(slots) != len(pairs):
            raise hole.error(f"the cards have {len(pairs)} swaps, but the betting has {len(slots)}")
        for slot, (_, new) in zip(slots, swaps[-1], strict=False):
            draws[slot] = new
    deal = Deal(tuple(dealt), board, tuple(draws))
    try:
        deal.check(rules)
    except CardError as error:
        offset = max(0, field.text.rfind(str(error.value)))
        raise field.error(str(error), value=error.value, offset=offset) from None
    return HandState(betting, deal, tuple(swaps), number)


def _board(betting: Betting, groups: list[_Field]) -> Cards:
    sizes = board_sizes(betting)
    if len(groups) != len(sizes):
        raise groups[-1].error(
            f"the line has board cards of {len(groups) - 1} later rounds, but the betting "
            f"{betting.text!r} has {len(sizes) - 1}"
        )
    return tuple(
        card for group, size in zip(groups, sizes, strict=True) for card in _cards(group, (size,))
    )


def _swaps(cards: Cards, pairs: list[_Field]) -> tuple[Swap, ...]:
    swaps: list[Swap] = []
    held = set(cards)
    for pair in pairs:
        old, new = _cards(pair, (2,))
        if old not in held:
            raise pair.error(f"{pair.text[:2]} is swapped by a player that does not hold it")
        held = held - {old} | {new}
        swaps.append((old, new))
    return tuple(swaps)


def _cards(field: _Field, counts: tuple[int, ...]) -> Cards:
    try:
        cards = parse_cards(field.text)
    except CardError as error:
        raise field.error(str(error), value=error.value, offset=error.position or 0) from None
    if len(cards) not in counts:
        expected = " or ".join(map(str, counts))
        raise field.error(f"{field.text!r} has {len(cards)} cards; {expected} are expected")
    return cards


def _check_same(field: _Field, right: str) -> None:
    """Raise if a field is not in canonical form: spaces, zeros, case and slashes must match."""
    if field.text != right:
        pairs = enumerate(zip(field.text, right, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(field.text), len(right)))
        raise field.error(f"this should read {right!r}", value=field.text[at:], offset=at)
