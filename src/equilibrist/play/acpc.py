"""The ACPC protocol, version 2.0.0, between a dealer and the players of a match.

Lines end with carriage return and line feed; lines that start with `#` or `;` are comments.

    client   VERSION:2.0.0
    dealer   MATCHSTATE:0:0::5d5c|                      the state as this client sees it
    client   MATCHSTATE:0:0::5d5c|:r                    the same, a colon and an action

Both clients receive every state, also when it is not their turn, and the end of every hand. An
action is `f`, `c`, `r`, in no-limit `r<chips in the whole hand>`; as an extension of ACPC, in games
with discards, `k` or `d<card>`.

`read_answer` is as tolerant as the reference dealer: a line that does not repeat the state just
sent is ignored; an action that is illegal or cannot be read becomes a call; the size of a no-limit
raise is moved to the nearest legal size; text after an action, and the size of a limit raise, are
ignored; `b` is a raise, `k` a call, and capitals are read too. Where the reference is unspecified,
this package decides: the state must be repeated exactly (the reference also reads other spellings
of it); in a discard turn, an illegal action becomes a keep.

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
GREETING = 60.0  # seconds that a client may take to send its version
PATIENCE = 3600.0  # seconds that a client waits for a line: the other player may be slow or late
_MOST_DIGITS = 11  # digits of a raise that are read; one more than the largest stack has

_VERSION = re.compile(r"VERSION:([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
_ACTION = re.compile(r":(?:([fFcCkK])|d([2-9TJQKA][cdhs])|[rRbB](?:[ \t]*([+-]?[0-9]+))?)")


class Answer(NamedTuple):
    """The meaning of a client's line: a legal action, or None if the line is ignored."""

    action: Action | None
    warning: str = ""  # description of the problem; empty if there is none


def check_version(line: str) -> None:
    """Raise `NetworkError` if a client does not use version 2.0.x of the protocol.

    The reference dealer only warns about another version and continues; this dealer does not.

    Example:
        >>> check_version("VERSION:2.0.0")
    """
    match = _VERSION.match(line)
    if match is None or (int(match[1]), int(match[2])) != (2, 0):
        raise NetworkError(f"speaks {line[:40]!r}; this dealer speaks {VERSION}", value=line)


def is_greeting(line: str | None, waited: float, patience: float = GREETING) -> bool:
    """Return whether a client has sent its version; raise `NetworkError` if it is wrong or late.

    Example:
        >>> is_greeting(None, waited=0.5), is_greeting("VERSION:2.0.0", waited=0.5)
        (False, True)
    """
    if line is not None:
        check_version(line)
    elif waited >= patience:
        raise NetworkError(
            f"sends nothing for {patience:.3g} s, while this dealer waits for {VERSION}; "
            "perhaps it speaks the protocol pokerbots"
        )
    return line is not None


def read_answer(state: HandState, line: str) -> Answer:
    """Interpret a line from the actor by the reference dealer's rules.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.dealing import Dealer
        >>> game = get_game("holdem-nolimit")
        >>> state = HandState.start(game, next(Dealer(game, seed=0)))
        >>> read_answer(state, "MATCHSTATE:1:0::|9hQd:r150")
        Answer(action=Action(kind='r', amount=200, card=None),
               warning="':r150' is not a legal size, changed to r200")
        >>> read_answer(state, "MATCHSTATE:0:0::5d5c|:c").action is None
        True
    """
    if line.startswith(COMMENTS):
        return Answer(None)
    sent = state_line(state, state.actor)
    if not line.startswith(sent):
        return Answer(None, f"{line[:80]!r} does not answer {sent}, ignored")
    text = line[len(sent) :]
    requested, problem = _requested_action(state, text), "is illegal"
    if requested is not None and state.can(requested):
        return Answer(requested)
    instead = KEEP if state.betting.is_discarding else CALL
    if requested is None:
        problem = "is not an action"
    elif requested.kind == "r" and state.betting.can_raise:
        problem = "is not a legal size"
        low, high = state.betting.min_raise_to, state.betting.max_raise_to
        instead = raise_to(min(max(requested.amount, low), high))
    return Answer(instead, f"{text[:40]!r} {problem}, changed to {action_name(instead)}")


def _requested_action(state: HandState, text: str) -> Action | None:
    """Parse the action after a state, legal or not; None if it is not an action."""
    match = _ACTION.match(text)
    if match is None:
        return None
    plain, card, amount = match.groups()
    if plain is not None:
        is_kept = plain in "kK" and state.betting.is_discarding
        return KEEP if is_kept else FOLD if plain in "fF" else CALL
    if card is not None:
        return Action("d", card=parse_card(card))
    if state.rules.is_limit:
        return RAISE
    if amount is None:
        return None
    # Digits beyond those of any stack do not matter, and Python reads at most 4,300 of them.
    sign, digits = amount[0] if amount[0] in "+-" else "", amount.lstrip("+-0")[:_MOST_DIGITS]
    return Action("r", int(f"{sign}{digits or 0}"))


# --- the client -----------------------------------------------------------------------------------


class ClientMatch(NamedTuple):
    """The result of a match as a client sees it."""

    chips: list[int]  # won in each complete hand
    is_cut_off: bool  # whether the dealer hung up in the middle of a hand
    comment: str = ""  # the last comment line of the dealer


def play_over(
    rules: GameRules, wire: Wire, player: Player, patience: float = PATIENCE
) -> ClientMatch:
    """Play a match at a dealer until it hangs up; `NetworkError` if it sends an invalid line.

    The player must have been reset. It is an error if the dealer sends anything other than comments
    and states of this game, or nothing for `patience` seconds.
    """
    wire.send(VERSION, patience)
    chips: list[int] = []
    comments: list[str] = []
    is_cut_off = False
    while (line := receive_line(wire, patience, comments)) is not None:
        if line.startswith("NEWGAME "):
            raise NetworkError(
                f"the dealer sends {line[:40]!r}: it speaks the protocol pokerbots, not acpc",
                value=line,
            )
        try:
            view = view_of(rules, line)
        except RecordError as error:
            raise NetworkError(
                f"the dealer sends a line that is not a state of {rules.name}: {error}; "
                "is that the game?",
                value=line,
            ) from None
        is_cut_off = not view.state.is_over
        if view.state.is_over:
            chips.append(view.state.payoffs()[view.player])
            player.observe(Result(view, chips[-1]))
        elif view.state.actor == view.player:
            wire.send(f"{line}:{action_name(player.act(view))}", patience)
    return ClientMatch(chips, is_cut_off, *comments)


def receive_line(wire: Wire, patience: float, comments: list[str]) -> str | None:
    """Return the next line of a dealer, None after the last; raise `NetworkError` if it is late.

    Comments and empty lines are skipped and do not extend the wait; the last comment is stored in
    `comments`.
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
            f"the dealer sends {said} for {patience:.3g} s; perhaps the other player is missing, "
            "or the dealer speaks another protocol"
        ) from None


def view_of(rules: GameRules, line: str) -> View:
    """Return the view of a state line of the dealer.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> view_of(get_game("kuhn"), "MATCHSTATE:0:3:c:Ks|").hole
        (47,)
    """
    state, viewer = parse_state(rules, line)
    if viewer is None:
        raise NetworkError(f"the dealer sends {line[:40]!r}, which shows all cards", value=line)
    return View.of(state, viewer)
