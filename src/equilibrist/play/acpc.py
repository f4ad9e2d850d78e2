"""The ACPC protocol, version 2.0.0: what is said between a dealer and the players of a match.

Lines end with carriage return and line feed; lines that open with `#` or `;` are comments.

    client   VERSION:2.0.0
    dealer   MATCHSTATE:0:0::5d5c|                      the state as this client sees it
    client   MATCHSTATE:0:0::5d5c|:r                    the same, a colon and an action

Both clients are sent every state, also when it is not their turn, and the end of every hand. An
action is `f`, `c`, `r`, in no-limit `r<chips in the whole hand>`; beyond ACPC, where the rules have
discards, `k` or `d<card>`.

The reference dealer forgives, and so do we. `read_answer`: a line that does not repeat the state
just sent is ignored; an action that is illegal or cannot be read is a call; the size of a no-limit
raise is moved to the nearest legal one; what follows an action, and the size of a limit raise, does
not matter. Where the reference is silent we chose: the state must be repeated to the letter (the
reference also reads other spellings of it); in a discard turn keeping takes the place of calling.

Source: the ACPC protocol 2.0.0 and its dealer.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from equilibrist.cards.card import parse_card
from equilibrist.errors import NetworkError, RecordError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, Action, action_name, raise_to
from equilibrist.games.notation import parse_state, state_line
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.play.wire import Wire
from equilibrist.players.player import Player, Result, View

VERSION = "VERSION:2.0.0"
COMMENTS = ("#", ";")
GREETING = 60.0  # seconds that a client may take to say its version
PATIENCE = 3600.0  # seconds that a client waits for a line: the other player may be slow, or late
_MOST_DIGITS = 11  # of a raise that is read; one more than the largest stack has

_VERSION = re.compile(r"VERSION:([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
_ACTION = re.compile(r":(?:([fck])|d([2-9TJQKA][cdhs])|r(?:[ \t]*([+-]?[0-9]+))?)")


class Answer(NamedTuple):
    """What a line means: a legal action, or None where the line is ignored."""

    action: Action | None
    warning: str = ""  # what was wrong; empty where nothing was


def check_version(line: str) -> None:
    """Raise `NetworkError` unless a client speaks our version, 2.0.x.

    The reference dealer complains of another version and plays on; we do not.

    Example:
        >>> check_version("VERSION:2.0.0")
    """
    match = _VERSION.match(line)
    if match is None or (int(match[1]), int(match[2])) != (2, 0):
        raise NetworkError(f"speaks {line[:40]!r}; this dealer speaks {VERSION}", value=line)


def is_greeting(line: str | None, waited: float, patience: float = GREETING) -> bool:
    """Whether a client has said its version; `NetworkError` if it is another, or late.

    Example:
        >>> is_greeting(None, waited=0.5), is_greeting("VERSION:2.0.0", waited=0.5)
        (False, True)
    """
    if line is not None:
        check_version(line)
    elif waited >= patience:
        raise NetworkError(
            f"says nothing for {patience:.3g} s, while this dealer waits for {VERSION}; "
            "perhaps it speaks the protocol pokerbots"
        )
    return line is not None


def read_answer(state: HandState, line: str) -> Answer:
    """What a line from the actor means, by the reference dealer's rules.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.dealing import Dealer
        >>> game = get_game("holdem-nolimit")
        >>> state = HandState.start(game, next(Dealer(game, seed=0)))
        >>> read_answer(state, "MATCHSTATE:1:0::|9hQd:r150")
        Answer(action=Action(kind='r', amount=200, card=None),
               warning="':r150' is no legal size, changed to r200")
        >>> read_answer(state, "MATCHSTATE:0:0::5d5c|:c").action is None
        True
    """
    if line.startswith(COMMENTS):
        return Answer(None)
    sent = state_line(state, state.actor)
    if not line.startswith(sent):
        return Answer(None, f"{line[:80]!r} does not answer {sent}, ignored")
    said = line[len(sent) :]
    wish, problem = _wish(state, said), "is illegal"
    if wish is not None and state.can(wish):
        return Answer(wish)
    instead = KEEP if state.betting.is_discarding else CALL
    if wish is None:
        problem = "is no action"
    elif wish.kind == "r" and state.betting.can_raise:
        problem = "is no legal size"
        low, high = state.betting.min_raise_to, state.betting.max_raise_to
        instead = raise_to(min(max(wish.amount, low), high))
    return Answer(instead, f"{said[:40]!r} {problem}, changed to {action_name(instead)}")


def _wish(state: HandState, said: str) -> Action | None:
    """The action at the start of a text behind a state, legal or not."""
    match = _ACTION.match(said)
    if match is None:
        return None
    plain, card, amount = match.groups()
    if plain is not None:
        return {"f": FOLD, "c": CALL, "k": KEEP}[plain]
    if card is not None:
        return Action("d", card=parse_card(card))
    if state.rules.is_limit:
        return RAISE
    if amount is None:
        return None
    # More digits than any stack has are any size above it: Python reads at most 4,300 of them.
    sign, digits = amount[0] if amount[0] in "+-" else "", amount.lstrip("+-0")[:_MOST_DIGITS]
    return Action("r", int(f"{sign}{digits or 0}"))


# --- a player at the other end --------------------------------------------------------------------


class ClientMatch(NamedTuple):
    """What a client saw of a match."""

    chips: list[int]  # won in each whole hand
    is_cut_off: bool  # whether the dealer hung up in the middle of a hand
    comment: str = ""  # the last line of the dealer that was a comment


def play_over(
    rules: GameRules, wire: Wire, player: Player, patience: float = PATIENCE
) -> ClientMatch:
    """Play a match at a dealer until it hangs up; `NetworkError` where it sends no state.

    The player must have been reset; a dealer that says something else than states and comments, or
    a state of another game, is an error, for playing on would be guessing. So is one that says
    nothing for `patience` seconds.
    """
    wire.send(VERSION, patience)
    chips: list[int] = []
    comments: list[str] = []
    is_cut_off = False
    while (line := heard_from(wire, patience, comments)) is not None:
        if line.startswith("NEWGAME "):
            raise NetworkError(
                f"the dealer says {line[:40]!r}: it speaks the protocol pokerbots, not acpc",
                value=line,
            )
        try:
            view = view_of(rules, line)
        except RecordError as error:
            raise NetworkError(
                f"the dealer sends no state of {rules.name}: {error}; is that the game?", value=line
            ) from None
        is_cut_off = not view.state.is_over
        if view.state.is_over:
            chips.append(view.state.payoffs()[view.player])
            player.told(Result(view, chips[-1]))
        elif view.state.actor == view.player:
            wire.send(f"{line}:{action_name(player.act(view))}", patience)
    return ClientMatch(chips, is_cut_off, *comments)


def heard_from(wire: Wire, patience: float, comments: list[str]) -> str | None:
    """The next line of a dealer, None after the last; `NetworkError` if it is late.

    Comments are no such lines, and waiting for one does not become longer by them: the last is kept
    in `comments`.
    """
    deadline = time.monotonic() + patience
    try:
        while (line := wire.receive(deadline - time.monotonic())) is not None:
            if line and not line.startswith(COMMENTS):
                return line
            comments[:] = [line] if line else comments
        return None
    except NetworkError:
        said = f"nothing but comments such as {comments[0][:200]!r}" if comments else "nothing"
        raise NetworkError(
            f"the dealer says {said} for {patience:.3g} s; perhaps the other player is missing, "
            "or the dealer speaks another protocol"
        ) from None


def view_of(rules: GameRules, line: str) -> View:
    """What a line of the dealer shows.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> view_of(get_game("kuhn"), "MATCHSTATE:0:3:c:Ks|").hole
        (47,)
    """
    state, viewer = parse_state(rules, line)
    if viewer is None:
        raise NetworkError(f"the dealer sends {line[:40]!r}, which shows all cards", value=line)
    return View.of(state, viewer)
