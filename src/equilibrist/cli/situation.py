"""The flags that `spot` and `flops` share: the situation, and how it is solved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from equilibrist.cli.options import (
    AddAllIn,
    Donks,
    ForceAllIn,
    IgnoreForecast,
    Iterations,
    Merge,
    Seconds,
)
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.games.bet_menu import MenuTexts
    from equilibrist.games.rules import GameRules
    from equilibrist.models.spot import Spot
    from equilibrist.solving.lean_cfr import TableCFR
    from equilibrist.solving.solve import Budget
    from equilibrist.solving.target import Goal

OopRange = Annotated[str, typer.Option(help="Range out of position, for example QQ+,AKs,T9s:0.5.")]
IpRange = Annotated[str, typer.Option(help="Range in position.")]
Pot = Annotated[str | None, typer.Option(help="The pot: chips (45, 22.5) or big blinds (5.5bb).")]
Stack = Annotated[
    str | None,
    typer.Option(help="Chips or bb behind: 900, 97.25bb, or 900,1200 (out of position first)."),
]
SpotBets = Annotated[
    str | None, typer.Option(help='Bet sizes by street and seat: "60%,a / 75% | 100%,a".')
]
SpotRaises = Annotated[
    str | None, typer.Option(help='Raise sizes ("2.5x,a"); default: the bet sizes.')
]
SpotMaxRaises = Annotated[
    str | None, typer.Option(help='Raise caps per street, bets included: "3 2".')
]
Blind = Annotated[
    str | None,
    typer.Option(
        "--blind",
        "--min-bet",
        help="Smallest bet; a raise is at least the last one; default: 1 chip or 1bb.",
    ),
]
RakeRate = Annotated[
    str | None, typer.Option("--rake", help="Share of the pot that the house takes: 5%.")
]
RakeCap = Annotated[str | None, typer.Option(help="Most that the house takes: 30chips or 3bb.")]
Limit = Annotated[
    bool, typer.Option("--limit", help="Use limit hold'em with bets of 10 and 20 chips.")
]
SpotGame = Annotated[
    str | None, typer.Option(help="Another hold'em game of the catalogue, or a .game file.")
]
Locks = Annotated[
    list[str] | None,
    typer.Option(help='Fix a decision: "c: r120=QQ+,AK:0.5" or "r120: f=0.4; c=0.6".'),
]
SpotMethod = Annotated[
    str | None,
    typer.Option(
        help="Method: log-dcfr+ (default; with --resume that of the run), dcfr+, dcfr, linear-cfr, "
        "cfr+ or cfr."
    ),
]
SpotTarget = Annotated[
    str | None,
    typer.Option(help="Target exploitability: 0.3% of the pot (default), 0.5chips, 5mbb."),
]
Bits = Annotated[
    int | None,
    typer.Option(help="Bits per stored number: 32 (default) or 16 (half the memory)."),
]


class Situation(NamedTuple):
    """What defines a spot besides its board: ranges, chips, bet menu, rules and locks."""

    oop: OopRange = ""
    ip: IpRange = ""
    pot: Pot = None
    stack: Stack = None
    bets: SpotBets = None
    raises: SpotRaises = None
    max_raises: SpotMaxRaises = None
    donks: Donks = None
    add_all_in: AddAllIn = None
    force_all_in: ForceAllIn = None
    merge: Merge = None
    blind: Blind = None
    rake: RakeRate = None
    rake_cap: RakeCap = None
    limit: Limit = False
    game: SpotGame = None
    lock: Locks = None

    @property
    def locks(self) -> tuple[str, ...]:
        """Decisions that are fixed."""
        return tuple(self.lock or ())

    def rules(self) -> GameRules:
        """Return the game; raise an error if it is unknown or given twice."""
        from equilibrist.games.catalog import get_game, load_game

        if self.limit and self.game:
            raise InvalidValueError("--limit chooses a game: leave out --limit or --game")
        if self.game:
            return load_game(self.game)
        return get_game("holdem-limit" if self.limit else "holdem-nolimit")

    def spot(self, board: str) -> Spot:
        """Return the spot on a board; raise an error if its flags are invalid."""
        from equilibrist.models.spot import Chips, Spot

        menu: MenuTexts = {
            "bets": self.bets, "raises": self.raises, "max_raises": self.max_raises,
            "donks": self.donks, "add_all_in": self.add_all_in,
            "force_all_in": self.force_all_in, "merge": self.merge,
        }  # fmt: skip
        chips = Chips(self.pot or 0, self.stack, self.blind, self.rake, self.rake_cap)
        found = Spot.of(board, self.oop, self.ip, chips, game=self.rules(), **menu)
        return found.with_locks(self.locks)


class Solving(NamedTuple):
    """How a spot is solved, and how far."""

    method: SpotMethod = None
    to: SpotTarget = None
    iterations: Iterations = None
    seconds: Seconds = None
    bits: Bits = None
    force: IgnoreForecast = False

    @property
    def has_budget(self) -> bool:
        """Whether a limit is given; otherwise it is the usual target."""
        return not (self.to is None and self.iterations is None and self.seconds is None)

    def solver(self) -> TableCFR:
        """Return the solver; raise an error if there is none of this name."""
        from equilibrist.solving.lean_cfr import DEFAULT_METHOD
        from equilibrist.solving.spot_run import solver

        by = DEFAULT_METHOD if self.method is None else self.method
        return solver(by, 32 if self.bits is None else self.bits)

    def limits(self, spot: Spot) -> tuple[Goal | None, Budget]:
        """Return the target and the budget of a spot; raise an error if they are invalid."""
        from equilibrist.solving.solve import Budget
        from equilibrist.solving.spot_run import USUAL_TARGET, spot_goal

        goal = spot_goal(spot, self.to if self.has_budget else USUAL_TARGET)
        target = None if goal is None else goal.chips
        budget = Budget(self.iterations, target, self.seconds)
        budget.check()
        return goal, budget


def check_given(situation: Situation, rest: str, **others: str) -> None:
    """Raise an error if a flag is missing without which nothing can be solved.

    `others` are more flags that are needed; `rest` names what may be given instead.
    """
    named = others | {"oop": situation.oop, "ip": situation.ip, "pot": situation.pot}
    for name, value in named.items():
        if value in ("", None):
            flags = ", ".join(f"--{each}" for each in named)
            raise InvalidValueError(
                f"--{name} is missing; give {flags}, --stack and --bets, or {rest}"
            )


def check_described(folder: Path, situation: Situation, solving: Solving, **others: object) -> None:
    """Raise an error for flags that say what a folder already says; locks may be added to it."""
    solver = {"method": solving.method, "bits": solving.bits}
    given = {**others, **situation._replace(lock=None)._asdict(), **solver}
    flags = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if flags:
        raise InvalidValueError(
            f"{folder} already says what is solved and how: leave out {' and '.join(flags)}"
        )
