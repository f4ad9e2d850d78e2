"""The API of the table: choose a player, play hand by hand, review, download.

Everything about a hand in play is made from the person's `View`, which has no hidden cards. What
the opponent held and how it chose is answered only for finished hands.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from equilibrist.cards.card import card_name
from equilibrist.cards.ranking import hand_description
from equilibrist.errors import IllegalActionError, StorageError
from equilibrist.games.action import Action, action_name, parse_action, raise_to
from equilibrist.games.amounts import hand_total, street_total
from equilibrist.games.log_file import log_text
from equilibrist.games.records import HandRecord
from equilibrist.games.words import action_phrase, round_name, seat_name
from equilibrist.play.keys import choices, sizes
from equilibrist.play.screen import played_actions, result_line
from equilibrist.play.session import YOU, decisions_in
from equilibrist.play.session_file import SavedSession
from equilibrist.players.player import Result, View
from equilibrist.web.errors import ConflictError, NotFoundError
from equilibrist.web.opponents import Opponents, playable_games
from equilibrist.web.table_store import TableStore

_LOG = logging.getLogger(__name__)


class Opponent(BaseModel):
    """A player that can be chosen; one with a command must be trained first."""

    name: str
    description: str
    games: list[str]
    is_bot: bool
    command: str | None
    minutes: float | None


class Lobby(BaseModel):
    """The games and the players to choose from."""

    games: list[str]
    players: list[Opponent]


class SavedTable(BaseModel):
    """A table of the list."""

    id: str
    game: str
    player: str
    hands: int
    played_at: float = Field(description="seconds since 1970")


class NewTable(BaseModel):
    """The choice of a player and a game."""

    player: str = Field(max_length=200)
    game: str = Field(default="holdem-limit", max_length=100)


class Move(BaseModel):
    """An action of the person, for the state that the page shows."""

    action: str = Field(
        max_length=12, description="f, c, r, r with the chips of the street, d2c, k, or next"
    )
    hand: int = Field(ge=0, description="number of the hand that the page shows, from 1; 0: none")
    actions: int = Field(ge=0, description="number of actions in that hand")


class Seat(BaseModel):
    """One side of the table; hidden cards are an empty list."""

    name: str
    position: str
    cards: list[str]
    bet: int = Field(description="chips put in on this street")
    behind: int | None = Field(description="chips left; null in games without stacks")
    last_action: str = Field(description="in words, on this street")


class Button(BaseModel):
    """An action to choose, with its key."""

    key: str
    words: str
    action: str


class SizeButton(BaseModel):
    """A size of a raise to choose, with its key; chips of the street."""

    key: str
    label: str
    chips: int


class Line(BaseModel):
    """What was done on one street."""

    street: str
    actions: list[str]


class Hand(BaseModel):
    """A hand as the person sees it."""

    number: int
    actions: int
    street: str
    board: list[str]
    num_board: int = Field(description="board cards at the end of the hand")
    num_hole: int
    pot: int
    you: Seat
    other: Seat
    is_over: bool
    result: str = Field(description="in words, when the hand is over")
    chips: int | None = Field(description="won by you, when the hand is over")
    story: list[Line]
    buttons: list[Button]
    sizes: list[SizeButton]
    raise_span: tuple[int, int] | None = Field(description="chips of the street, no-limit only")


class Score(BaseModel):
    """The result of the session so far."""

    chips: int
    hands: int
    win_rate: float | None
    unit: str
    ci95: tuple[float, float] | None
    verdict: str
    summary: str


class Table(BaseModel):
    """A table: its hand in play or the last one, and the result."""

    id: str
    game: str
    player: str
    hand: Hand | None
    score: Score


class Share(BaseModel):
    """An action with its probability."""

    words: str
    action: str
    probability: float


class ReviewedDecision(BaseModel):
    """A decision of the opponent: what it did, and its probabilities if it can report them."""

    street: str
    before: int = Field(description="number of actions in the hand before it")
    words: str
    action: str
    mixture: list[Share] | None


class Review(BaseModel):
    """A finished hand with all cards."""

    number: int
    position: str = Field(description="yours, in words")
    board: list[str]
    pot: int
    yours: list[str]
    theirs: list[str]
    your_hand: str = Field(description="in words, empty if the board is not complete")
    their_hand: str
    chips: int
    result: str = Field(description="in words")
    story: list[Line]
    decisions: list[ReviewedDecision]


def table_router(store: TableStore, opponents: Opponents) -> APIRouter:
    """Return the part of the API that plays."""
    router = APIRouter(prefix="/api", tags=["table"])

    @router.get("/players")
    def list_players() -> Lobby:
        """List the players to choose from, and the games."""
        players = [Opponent(**row) for row in opponents.listing()]
        return Lobby(games=playable_games(), players=players)

    @router.get("/tables")
    def list_tables(request: Request) -> list[SavedTable]:
        """List the saved tables, the one that was played last first."""
        return [SavedTable(**row) for row in store.listing(request.state.owner)]

    @router.post("/tables", status_code=201)
    def create_table(request: Request, new: NewTable) -> Table:
        """Sit down at a new table; the first hand is dealt."""
        identity = store.create(request.state.owner, new.game, new.player)
        with store.using(request.state.owner, identity) as saved:
            _play(saved, None)
            return table_of(identity, saved)

    @router.get("/tables/{identity}")
    def show_table(request: Request, identity: str) -> Table:
        """Show a table as the person sees it."""
        with store.using(request.state.owner, identity) as saved:
            return table_of(identity, saved)

    @router.post("/tables/{identity}/moves")
    def move(request: Request, identity: str, move: Move) -> Table:
        """Act in the hand in play, or deal the next hand with `next`.

        Refused with 409 if the table has moved on since the page was drawn; nothing is done then.
        """
        with store.using(request.state.owner, identity) as saved:
            _check_current(saved, move)
            _play(saved, None if move.action == "next" else _action(saved, move.action))
            return table_of(identity, saved)

    @router.get("/tables/{identity}/hands/{number}")
    def review(request: Request, identity: str, number: int) -> Review:
        """Show a finished hand with both players' cards and the opponent's probabilities."""
        with store.using(request.state.owner, identity) as saved:
            return review_of(saved, number)

    @router.get("/tables/{identity}/download", response_class=PlainTextResponse)
    def download(
        request: Request,
        identity: str,
        form: Annotated[Literal["acpc", "phh"], Query(description="file format")] = "acpc",
    ) -> PlainTextResponse:
        """Download the finished hands as an ACPC log or a PHH file, without the seed."""
        with store.using(request.state.owner, identity) as saved:
            text = log_text(saved.public(), is_phh=form == "phh")
            name = f"you-{saved.session.player.name}.{'phhs' if form == 'phh' else 'log'}"
        kept = "".join(c if c.isascii() and (c.isalnum() or c in "-._") else "_" for c in name)
        headers = {"content-disposition": f'attachment; filename="{kept}"'}
        return PlainTextResponse(text, headers=headers)

    return router


def table_of(identity: str, saved: SavedSession) -> Table:
    """Return a table as the person sees it."""
    session = saved.session
    view = session.view
    result = session.result()
    score = Score(chips=sum(session.chips), summary=session.summary(), **_fields(result, Score))
    return Table(
        id=identity,
        game=session.rules.name,
        player=saved.text,
        hand=None if view is None else hand_of(view, session.player.name),
        score=score,
    )


def _fields(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Return the fields of a model that are in the data."""
    return {name: data[name] for name in model.model_fields if name in data}


def hand_of(view: View, other: str) -> Hand:
    """Return a hand as its view shows it, and nothing else."""
    betting, rules = view.betting, view.rules
    is_over = betting.is_over
    chips = view.state.payoffs()[view.player] if is_over else None
    lines = list(played_actions(betting, view.player))
    street = round_name(rules, betting.round)
    last = dict(lines[-1][1]) if lines and lines[-1][0] == street else {}
    can_act = not is_over
    is_sized = can_act and not rules.is_limit and betting.can_raise
    return Hand(
        number=view.state.hand_number + 1,
        actions=betting.num_actions,
        street=street,
        board=[card_name(card) for card in view.board],
        num_board=rules.total_board_cards,
        num_hole=rules.num_hole_cards,
        pot=betting.pot,
        you=_seat(view, view.player, YOU, last.get(True, "")),
        other=_seat(view, 1 - view.player, other, last.get(False, "")),
        is_over=is_over,
        result="" if chips is None else result_line(Result(view, chips)),
        chips=chips,
        story=_story(lines, other),
        buttons=[
            Button(key=key, words=words, action=_posted(view, action))
            for key, words, action in (choices(view) if can_act else ())
        ],
        sizes=[SizeButton(**size._asdict()) for size in (sizes(view) if can_act else ())],
        raise_span=(
            street_total(betting, betting.min_raise_to),
            street_total(betting, betting.max_raise_to),
        )
        if is_sized
        else None,
    )


def _seat(view: View, player: int, name: str, last_action: str) -> Seat:
    betting = view.betting
    return Seat(
        name=name,
        position=seat_name(view.rules, player),
        cards=[card_name(card) for card in view.state.holes[player]],
        bet=max(0, street_total(betting, betting.spent[player])),
        behind=betting.stacks_left[player] if view.rules.stacks else None,
        last_action=last_action,
    )


def _story(lines: list[tuple[str, list[tuple[bool, str]]]], other: str) -> list[Line]:
    found = []
    for street, steps in lines:
        actions = [f"{YOU if is_you else other} {words}" for is_you, words in steps]
        found.append(Line(street=street, actions=actions))
    return found


def _posted(view: View, action: Action) -> str:
    """Return the text of an action as the page posts it: raises in chips of the street."""
    if action.kind == "r" and action.amount:
        return f"r{street_total(view.betting, action.amount)}"
    return action_name(action)


def _action(saved: SavedSession, text: str) -> Action:
    """Return the action that the page posted; raise `IllegalActionError` if it is not legal."""
    action, view = parse_action(text), saved.session.view
    if view is None or saved.session.hand is None:
        raise ConflictError("no hand is in play; deal the next one")
    if action.kind == "r" and action.amount:
        action = raise_to(hand_total(view.betting, action.amount))
    if not view.state.can(action):
        words = ", ".join(_possible(view))
        raise IllegalActionError(
            f"{_tried(view, text)} is not possible here; you can {words}", value=text
        )
    return action


def _possible(view: View) -> Iterator[str]:
    """Yield what the person can do in words, raises of no-limit games with their span."""
    betting = view.betting
    for choice in choices(view):
        if choice.action.kind == "r" and not view.rules.is_limit:
            span = betting.min_raise_to, betting.max_raise_to
            chips = [f"{street_total(betting, each):,}" for each in dict.fromkeys(span)]
            yield choice.words.rstrip("0123456789,") + " – ".join(chips)
        else:
            yield choice.words


def _tried(view: View, text: str) -> str:
    """Return an action that the page posted in words."""
    chips = text.removeprefix("r")
    if view.rules.is_limit or chips == text or not chips.isdecimal():
        return repr(text)
    is_bet = any(choice.words.startswith("bet ") for choice in choices(view))
    return f"a bet of {int(chips):,}" if is_bet else f"a raise to {int(chips):,}"


def _play(saved: SavedSession, action: Action | None) -> None:
    """Act, or without an action deal; an error of the opponent may name its cards: it is logged."""
    try:
        if action is None:
            saved.deal()
        else:
            saved.act(action)
    except StorageError:
        raise
    except Exception as error:
        name = saved.session.player.name
        if saved.session.hand is not None and action is None:
            raise ConflictError("this hand is still in play; finish it first") from None
        _LOG.error("%s failed to act", name, exc_info=error)
        raise ConflictError(f"{name} failed to act; the hand stays as it was") from None


def _check_current(saved: SavedSession, move: Move) -> None:
    """Raise `ConflictError` unless the page shows the table as it is."""
    view = saved.session.view
    now = (0, 0) if view is None else (view.state.hand_number + 1, view.betting.num_actions)
    if now != (move.hand, move.actions):
        raise ConflictError(
            f"the table has moved on to hand {now[0]}, perhaps in another tab; here is how it "
            "stands now",
            value=move.hand,
        )


def finished_hand(saved: SavedSession, number: int) -> HandRecord:
    """Return a finished hand, counted from 1; raise `NotFoundError` if there is none."""
    hands = saved.session.hands
    if not 1 <= number <= len(hands):
        raise NotFoundError(
            f"hand {number} is not finished: finished hands are 1 to {len(hands)}"
            if hands
            else "no hand is finished yet",
            value=number,
        )
    return hands[number - 1]


def review_of(saved: SavedSession, number: int) -> Review:
    """Return a finished hand, counted from 1, with all cards."""
    session, record = saved.session, finished_hand(saved, number)
    you = record.names.index(YOU)
    state, rules, other = record.state, record.rules, session.player.name
    is_complete = len(state.board) == rules.total_board_cards
    names = [
        hand_description(hole + state.board, rules.ranking) if is_complete else ""
        for hole in state.holes
    ]
    lines = list(played_actions(state.betting, you))
    return Review(
        number=number,
        position=seat_name(rules, you),
        board=[card_name(card) for card in state.board],
        pot=state.betting.pot,
        yours=[card_name(card) for card in state.holes[you]],
        theirs=[card_name(card) for card in state.holes[1 - you]],
        your_hand=names[you],
        their_hand=names[1 - you],
        chips=int(record.payoffs[you]),
        result=result_line(Result(View.of(state, you), int(record.payoffs[you]))),
        story=_story(lines, other),
        decisions=[
            ReviewedDecision(
                street=round_name(rules, decision.view.betting.round),
                before=decision.view.betting.num_actions,
                words=action_phrase(decision.view.betting, decision.action),
                action=action_name(decision.action),
                mixture=None
                if decision.mixture is None
                else [
                    Share(
                        words=action_phrase(decision.view.betting, action, second_person=True),
                        action=action_name(action),
                        probability=probability,
                    )
                    for action, probability in decision.mixture
                ],
            )
            for decision in decisions_in(record, session.player)
        ],
    )
