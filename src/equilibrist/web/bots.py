"""The API of bots: the ladder of real exploitability, and each bot's page."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from equilibrist.bots.bot import Bot
from equilibrist.bots.listing import bot_row, known_responses
from equilibrist.bots.registry import BOTS
from equilibrist.papers.cfr_plus.claims import figure_s1
from equilibrist.web.settings import Settings

_PRIVATE = ("folder", "problem")  # fields that name files of this machine


class Rung(BaseModel):
    """A program of the ladder: published in Figure S1 of the Cepheus paper, or trained here."""

    name: str
    real_game: float = Field(description="exploitability in limit hold'em itself, mbb/g")
    ours: bool
    real_game_flops: int | None = Field(None, description="flops behind the number; ours only")
    real_game_estimate: bool | None = Field(None, description="whether flops are missing")


class Bots(BaseModel):
    """All bots as `bots --json` lists them, and the ladder, the most exploitable first."""

    bots: list[dict[str, Any]] = Field(description="rows of `bots --json`, and `game`")
    ladder: list[Rung]


class BotPage(BaseModel):
    """What a bot is."""

    row: dict[str, Any] = Field(description="the object of `bots show --json`")
    game: str
    options: list[str] = Field(description="of its training: target, seconds, …")
    command: str = Field(description="that trains it")
    can_respond: bool = Field(description="its exploitability in limit hold'em can be computed")


def bot_router(settings: Settings) -> APIRouter:
    """Return the part of the API about bots."""
    router = APIRouter(prefix="/api", tags=["bots"])

    @router.get("/bots")
    def list_bots() -> Bots:
        """List the bots, and the ladder of real exploitability with the published programs."""
        rows = [_row(bot, settings) | {"game": bot.game} for bot in BOTS.values()]
        rungs = [Rung(**row) for row in figure_s1(known_responses())]
        return Bots(bots=rows, ladder=rungs)

    @router.get("/bots/{name}")
    def show_bot(name: str) -> BotPage:
        """Show what a bot is, what its folder holds, and how to train it."""
        bot = BOTS[name]
        return BotPage(
            row=_row(bot, settings),
            game=bot.game,
            options=list(bot.options),
            command=f"equilibrist train {bot.name}",
            can_respond=bot.game == "holdem-limit" and bool(bot.strategies),
        )

    return router


def _row(bot: Bot, settings: Settings) -> dict[str, Any]:
    row = bot_row(bot, bot.folder)
    return {k: v for k, v in row.items() if not (settings.is_public and k in _PRIVATE)}
