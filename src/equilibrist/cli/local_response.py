"""`equilibrist lbr`: a lower bound on a strategy's exploitability, by local best responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from equilibrist.cli.interrupts import leave
from equilibrist.cli.options import (
    GameName,
    Json,
    Remaining,
    Seed,
    Threads,
    emit,
    prepare_kernels,
    prepare_players,
    table,
)

if TYPE_CHECKING:
    from equilibrist.play.response_match import LocalResponse

Opponent = Annotated[
    str,
    typer.Argument(metavar="PLAYER", help="A stored strategy or a mix, for example nolimit-quick."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        help="Actions of each round: c, fc, fcpa or 56bets, one for all rounds or joined by /; "
        "may be repeated; default: the four settings of the literature.",
    ),
]
Hands = Annotated[int, typer.Option(help="Number of hands per setting, half in each seat.")]


def lbr(
    player: Opponent,
    game: GameName = "holdem-nolimit",
    setting: Settings = None,
    hands: Hands = 2000,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Play a local best response against a strategy: its win rate is at most that of a best one.

    The responder knows the strategy and the range that it leads to; it may check and call (c), fold
    or call (fc), also bet the pot and all-in (fcpa), or 56 sizes (56bets).

    Example: equilibrist lbr nolimit-quick --setting c/c/fcpa/fcpa --hands 5000
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.play.response_match import Responder, local_response
    from equilibrist.players.catalog import make_player
    from equilibrist.players.local_best_response import LITERATURE

    rules = load_game(game)
    other, settings = make_player(player, rules), setting or list(LITERATURE)
    for one in settings:  # wrong settings are refused before anything is played
        Responder(rules, other, one)
    prepare_players(threads, player)
    prepare_kernels(threads, "hand_strength.add_shares", "ranking.rank_hands")
    found: list[LocalResponse] = []
    for one in settings:
        watch = Remaining(f"{one} against {player}")
        found.append(local_response(rules, other, one, hands, seed=seed, watch=watch))
        if not found[-1].is_finished:
            break
    rows = [_fields(one) for one in found]
    is_finished = all(one.is_finished for one in found) and len(found) == len(settings)
    data = {
        "game": rules.name,
        "player": player,
        "seed": seed,
        "outcome": "finished" if is_finished else "interrupted",
        "settings": rows,
    }
    emit(data, _text(data), as_json=json)
    if not is_finished:
        leave("stopped; a local best response cannot be resumed")


def _fields(found: LocalResponse) -> dict[str, Any]:
    statistics = found.statistics()
    fields = statistics.to_json()
    kept = "win_rate", "unit", "standard_error", "ci95", "hands"
    return {"setting": found.setting, **{name: fields[name] for name in kept}}


def _text(data: dict[str, Any]) -> str:
    unit = data["settings"][0]["unit"]
    rows = [
        (
            row["setting"],
            f"{row['win_rate']:,.1f}",
            f"{row['ci95'][0]:,.1f} to {row['ci95'][1]:,.1f}",
            row["hands"],
        )
        for row in data["settings"]
    ]
    header = "setting", f"wins, {unit}", "95 % interval", "hands"
    return "\n".join(
        [
            f"Local best responses to {data['player']} in {data['game']}:",
            table(rows, header=header),
            "A best response wins at least as much: the lower ends bound exploitability from "
            "below.",
        ]
    )
