"""Finished hands beside solved spots: which begin in a hand, and what decisions cost by one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from equilibrist.cards.card import cards_name
from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.evaluation.decision_values import DecisionValues
from equilibrist.evaluation.spot_decisions import (
    StreetStart,
    chip_scale,
    spot_decisions,
    street_starts,
)
from equilibrist.games.records import HandRecord
from equilibrist.games.words import action_labels, round_name
from equilibrist.models.spot import Spot
from equilibrist.play.session import YOU
from equilibrist.solving import spot_run
from equilibrist.storage.schema import Fields
from equilibrist.strategies.spot_report import Answers
from equilibrist.web.costs import Choice, Costs, ValuedAction
from equilibrist.web.kernels import KERNELS
from equilibrist.web.library import Library, stored_of_kind
from equilibrist.web.table_store import TableStore
from equilibrist.web.tables import finished_hand


class HandStreet(BaseModel):
    """A street of a finished hand, as the form of a spot has it, and the spots that begin there."""

    street: str
    fields: dict[str, str] = Field(description="fields of a request of kind `spot`")
    spots: list[str] = Field(description="names of solved spots with its board, pot and stacks")


def hand_router(store: TableStore, library: Library) -> APIRouter:
    """Return the part of the API that compares finished hands with spots."""
    router = APIRouter(prefix="/api", tags=["table"])

    @router.get("/tables/{identity}/hands/{number}/spots")
    def show_streets(request: Request, identity: str, number: int) -> list[HandStreet]:
        """Show the streets of a finished hand that are or can be solved as spots."""
        with store.using(request.state.owner, identity) as saved:
            record = finished_hand(saved, number)
        starts = street_starts(record.state)
        stored = list(stored_of_kind(spot_run.KIND)) if starts else []
        return [
            HandStreet(
                street=start.name,
                fields=_fields(start),
                spots=[each.folder.name for each in stored if _begins(start, each)],
            )
            for start in starts
        ]

    return router


def _fields(start: StreetStart) -> dict[str, str]:
    """Return what the form of a spot needs, but for ranges and bets."""
    rules = start.rules
    fields = {"game": rules.name, "board": cards_name(start.board), "pot": str(start.betting.pot)}
    if not rules.is_limit:
        fields |= {"stack": str(start.stack), "blind": str(rules.big_blind)}
    return fields


def _begins(start: StreetStart, stored: Any) -> bool:
    """Return whether a stored spot begins with a street; its board is compared first."""
    try:
        board = Fields.configuration(stored).part("spot").text("board")
        same = {board[i : i + 2] for i in range(0, len(board), 2)} == {*_names(start)}
        return same and start.is_start_of(spot_run.read_spot(stored))
    except EquilibristError:
        return False  # damaged: `equilibrist verify` says what is wrong


def _names(start: StreetStart) -> list[str]:
    return [cards_name([card]) for card in start.board]


def costs_by_spot(library: Library, name: str, record: HandRecord) -> Costs:
    """Return what the person's decisions in a hand cost by a solved spot."""
    answers, you = library.open(name).strategy, record.names.index(YOU)
    if not isinstance(answers, Answers):
        raise InvalidValueError(f"{name[:60]} is no solved spot", value=name)
    starts = [start for start in street_starts(record.state) if start.is_start_of(answers.spot)]
    if not starts:
        raise InvalidValueError(
            f"this hand does not pass through {name[:60]}: board, pot, stacks or limits differ",
            value=name,
        )
    [start] = starts
    with KERNELS:
        found = spot_decisions(answers, start, record.state, you)
    choices = [_choice(answers.spot, start, own) for own in found.decisions]
    return Costs(
        state="known",
        basis=_basis(name, answers, found.missing),
        total=sum(choice.cost for choice in choices),
        decisions=choices,
    )


def _choice(spot: Spot, start: StreetStart, own: DecisionValues) -> Choice:
    """Return a decision with its values in words; amounts are chips of the hand."""
    tree, scale = spot.betting, chip_scale(start.rules, spot)
    words = action_labels(tree, own.node, lambda chips: f"{float(chips / scale):,.10g}")
    actions = [
        ValuedAction(words=text, action=tree.step(child), value=value)
        for child, text, value in zip(tree.children(own.node), words, own.values, strict=True)
    ]
    deep = sum(tree.action(node) is not None for node in tree.path(own.node))
    return Choice(
        street=round_name(start.rules, int(tree.round[own.node])),
        before=start.betting.num_actions + deep,
        actions=actions,
        taken=own.taken,
        cost=own.cost,
        is_exact=True,
    )


def _basis(name: str, answers: Answers, missing: str) -> str:
    """Return which values these are, and what they leave out."""
    text = (
        f"Values of the solution {name} from {answers.spot.board} on, if both hold its ranges and "
        "play it after each decision."
    )
    return f"{text} It ends early: {missing}." if missing else text
