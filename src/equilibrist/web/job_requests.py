"""What can be computed from the page: one model per kind of job, checked before it is queued.

A request holds the options of a command as fields; `command` writes them as its arguments. Folders
are new names directly in the served folder. Every value becomes `--option=value`, so that it cannot
be taken for another option.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from equilibrist.bots.registry import BOTS
from equilibrist.bots.train import TrainingOptions, foreign_options
from equilibrist.cards.flops import parse_flops
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.bet_menu import MenuTexts
from equilibrist.games.catalog import GAMES, get_game
from equilibrist.games.rules import GameRules
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving import flop_study, spot_run
from equilibrist.solving.flop_study import flop_list, sample_flop
from equilibrist.solving.forecast import spot_forecast
from equilibrist.solving.lean_cfr import DEFAULT_METHOD, TableCFR
from equilibrist.solving.methods import METHODS
from equilibrist.solving.problem import Problem
from equilibrist.solving.solve import Budget
from equilibrist.solving.suggestions import check_fits
from equilibrist.solving.target import Target
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.storage.memory import available_bytes

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_RESERVED = ("bots", "tables", "jobs")
_NO_LIMIT = "holdem-nolimit"
_MOST_FLOPS = 1755

Text: TypeAlias = Annotated[str, Field(max_length=200)]
Given: TypeAlias = Annotated[
    str | None,
    Field(max_length=200),
    AfterValidator(lambda text: (text or "").strip() or None),  # empty: the default
]
RangeText: TypeAlias = Annotated[str, Field(max_length=20_000, description="such as QQ+,AKs:0.5")]
Lock: TypeAlias = Annotated[str, Field(max_length=20_000, description="such as c: r120=0.3")]
Iterations: TypeAlias = Annotated[int, Field(ge=1, le=10**9)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=10**8)]


class Request(BaseModel):
    """What all requests share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        raise NotImplementedError

    @property
    def folder(self) -> str:
        """Folder of the result; two jobs with the same one do not run at the same time."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise an error unless the job can be queued."""
        raise NotImplementedError

    def command(self) -> list[str]:
        """Return the arguments of the command, which continues what its folder holds."""
        raise NotImplementedError


class Situation(Request):
    """Options that a spot and a study of flops share; empty texts stand for the defaults."""

    out: Text = Field(description="name of the new folder")
    oop: RangeText
    ip: RangeText
    pot: Text = Field(description="chips, or big blinds such as 5.5bb")
    stack: Given = Field(None, description="chips or bb behind; two: out of position first")
    bets: Given = Field(None, description="bet sizes by street and seat")
    raises: Given = None
    max_raises: Given = None
    donks: Given = None
    add_all_in: Given = None
    force_all_in: Given = None
    merge: Given = None
    blind: Given = Field(None, description="smallest bet")
    rake: Given = None
    rake_cap: Given = None
    game: Text = Field(_NO_LIMIT, description="a hold'em game of the catalogue")
    lock: list[Lock] = Field(default=[], max_length=50)
    method: Text = DEFAULT_METHOD
    bits: Literal[16, 32] = 32
    to: Given = Field(None, description="target, such as 0.3%")
    iterations: Iterations | None = None
    seconds: Seconds | None = None
    force: bool = Field(default=False, description="run even if the forecast exceeds memory")

    @property
    def folder(self) -> str:
        """Folder of the result."""
        return self.out

    @property
    def rules(self) -> GameRules | None:
        """Rules of the game; None for the default."""
        return None if self.game == _NO_LIMIT else get_game(self.game)

    def on(self, board: str) -> Spot:
        """Return the spot on a board; raise an error if a text is invalid."""
        chips = Chips(self.pot, self.stack, self.blind, self.rake, self.rake_cap)
        menu: MenuTexts = {
            "bets": self.bets, "raises": self.raises, "max_raises": self.max_raises,
            "donks": self.donks, "add_all_in": self.add_all_in, "force_all_in": self.force_all_in,
            "merge": self.merge,
        }  # fmt: skip
        found = Spot.of(board, self.oop, self.ip, chips, game=self.rules, **menu)
        return found.with_locks(self.lock)

    @property
    def solver(self) -> TableCFR:
        """The solver with its bits."""
        return spot_run.solver(self.method, self.bits)

    @property
    def target(self) -> str | None:
        """The target; without any limit the usual one."""
        has_limit = self.to is not None or self.iterations is not None or self.seconds is not None
        return self.to if has_limit else spot_run.USUAL_TARGET

    def check_budget(self, spot: Spot) -> None:
        """Raise an error unless a limit is given, and all are valid."""
        goal = spot_run.spot_goal(spot, self.target)
        Budget(self.iterations, None if goal is None else goal.chips, self.seconds).check()

    def options(self) -> Iterator[str]:
        """Yield the options of the command."""
        values = self.model_dump(exclude={"kind", "lock", "force", "to", "game", "flops"})
        if self.game != _NO_LIMIT:
            values["game"] = self.game
        yield from _options(values | {"to": self.target})
        for text in self.lock:
            yield f"--lock={text}"
        if self.force:
            yield "--force"
        if (Path(self.out) / MANIFEST).is_file():
            yield "--resume"


class SpotRequest(Situation):
    """Solve a spot: the command `spot`."""

    kind: Literal["spot"] = "spot"
    board: Text

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"Spot on {self.board}"

    def spot(self) -> Spot:
        """Return the spot; raise an error if a text is invalid."""
        return self.on(self.board)

    def check(self) -> None:
        """Raise an error unless the spot is valid, new, and fits into memory."""
        check_new(self.out)
        spot = self.spot()
        self.check_budget(spot)
        needed = spot_forecast(spot, self.solver.bits)
        if not self.force:
            check_fits(spot, needed, words_of_change)

    def command(self) -> list[str]:
        """Return the arguments of the command."""
        return ["spot", "--json", *self.options()]


class FlopsRequest(Situation):
    """Solve a situation on many flops: the command `flops`."""

    kind: Literal["flops"] = "flops"
    flops: Annotated[str, Field(max_length=20_000)] = Field(
        default="10", description="number of representative flops, or a list with weights"
    )

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"{self._flops if isinstance(self._flops, int) else 'Listed'} flops"

    @property
    def _flops(self) -> int | str:
        if self.flops.strip().lower().endswith((".txt", ".csv")):
            raise InvalidValueError("write the flops as a list, not as the name of a file")
        return flop_list(self.flops)

    def spot(self) -> Spot:
        """Return the situation on one of the flops; raise an error if a text is invalid."""
        flops = self._flops
        if isinstance(flops, str):
            parse_flops(flops)
        elif not 1 <= flops <= _MOST_FLOPS:
            raise InvalidValueError(
                f"the number of flops must be 1 to {_MOST_FLOPS:,}, not {flops}", value=flops
            )
        rules = self.rules or get_game(_NO_LIMIT)
        board = sample_flop(flops, (self.oop, self.ip), rules.deck)
        return self.on(board)

    def check(self) -> None:
        """Raise an error unless the situation is valid and new; the command checks the memory."""
        check_new(self.out)
        self.check_budget(self.spot())
        _ = self.solver

    def command(self) -> list[str]:
        """Return the arguments of the command."""
        return ["flops", "--json", f"--flops={self.flops.strip()}", *self.options()]


class MoreRequest(Request):
    """Continue a solved spot or study to another target: `spot DIR --to` or `flops DIR --to`."""

    kind: Literal["more"] = "more"
    name: Text = Field(description="folder of a solved spot or study")
    to: Text

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"{self.name} to {self.to}"

    @property
    def folder(self) -> str:
        """Folder of the result."""
        return self.name

    def check(self) -> None:
        """Raise an error unless there is such a spot or study, and the target fits it."""
        spot = spot_run.read_spot(read_identity(Path(check_name(self.name)), self._kind()))
        spot_run.spot_goal(spot, self.to)

    def _kind(self) -> str:
        kind = read_identity(Path(check_name(self.name))).kind
        if kind not in (spot_run.KIND, flop_study.KIND):
            raise StorageError(f"{self.name} holds a {kind}, not a spot", value=self.name)
        return kind

    def command(self) -> list[str]:
        """Return the arguments of the command."""
        return [self._kind(), self.name, "--json", f"--to={self.to}"]


class SolveRequest(Request):
    """Solve a whole game: the command `solve`."""

    kind: Literal["solve"] = "solve"
    out: Text
    game: Text
    method: Text = "cfr+"
    to: Given = None
    iterations: Iterations | None = None
    seconds: Seconds | None = None

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"{self.game} by {self.method}"

    @property
    def folder(self) -> str:
        """Folder of the result."""
        return self.out

    def check(self) -> None:
        """Raise an error unless the game and the method are known and the memory suffices."""
        check_new(self.out)
        if self.game not in games_to_solve() or self.method not in METHODS:
            what = f"{self.game} by {self.method}"
            raise InvalidValueError(
                f"{what[:80]} cannot be solved here; give one of {', '.join(games_to_solve())} and "
                f"one of {', '.join(METHODS)}",
                value=self.game,
            )
        goal = Problem.exact(get_game(self.game)).goal(self.to)
        Budget(self.iterations or 1000, None if goal is None else goal.chips, self.seconds).check()

    def command(self) -> list[str]:
        """Return the arguments of the command."""
        values = self.model_dump(exclude={"kind", "game"})
        again = ["--resume"] if (Path(self.out) / MANIFEST).is_file() else []
        return ["solve", self.game, "--json", *_options(values), *again]


class TrainRequest(Request):
    """Train a bot: the command `train`."""

    kind: Literal["train"] = "train"
    bot: Text
    to: Given = None
    seconds: Seconds | None = None

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"Train {self.bot}"

    @property
    def folder(self) -> str:
        """Folder of the result."""
        return str(BOTS[self.bot].folder)

    def check(self) -> None:
        """Raise an error unless there is such a bot, which takes these options."""
        bot = BOTS[self.bot]
        for name in foreign_options(bot, TrainingOptions(self.to, self.seconds)):
            raise InvalidValueError(f"{bot.name} {bot.way} and has no {name}", value=name)
        if self.to:
            Target.parse(self.to, bare="mbb")

    def command(self) -> list[str]:
        """Return the arguments of the command, which continues by itself."""
        return ["train", self.bot, "--json", *_options({"to": self.to, "seconds": self.seconds})]


class ResponseRequest(Request):
    """Compute a bot's exploitability in limit hold'em itself: `exploit BOT --real-game`."""

    kind: Literal["exploit"] = "exploit"
    bot: Text
    flops: int = Field(default=20, ge=1, le=_MOST_FLOPS, description="1755: exact")

    @property
    def title(self) -> str:
        """What is computed, in a few words."""
        return f"Exploitability of {self.bot}, {self.flops} flops"

    @property
    def folder(self) -> str:
        """Folder of the result."""
        bot = BOTS[self.bot]
        return str(bot.response_folder(bot.folder))

    def check(self) -> None:
        """Raise an error unless the bot is trained and plays limit hold'em."""
        bot = BOTS[self.bot]
        if bot.game != "holdem-limit":
            raise InvalidValueError(
                f"{bot.name} plays {bot.game}; only bots of limit hold'em have this number",
                value=bot.name,
            )
        bot.stored_strategy()

    def command(self) -> list[str]:
        """Return the arguments of the command, which continues by itself."""
        return ["exploit", self.bot, "--real-game", "--json", f"--flops={self.flops}"]


AnyRequest: TypeAlias = Annotated[
    SpotRequest | FlopsRequest | MoreRequest | SolveRequest | TrainRequest | ResponseRequest,
    Field(discriminator="kind"),
]
REQUESTS: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)


def check_new(name: str) -> None:
    """Raise an error unless a name can be that of a new folder in the served one."""
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise InvalidValueError(
            "the name of a folder has letters, digits, dots, hyphens and underscores, at most 60, "
            f"and is not bots, tables or jobs; {name[:60]!r} is not one",
            value=name,
        )
    if Path(name).exists() or Path(name).is_symlink():
        raise StorageError(f"{name} exists here; choose another name", value=name)


def check_name(name: str) -> str:
    """Return a name; raise an error unless it can be that of a folder in the served one."""
    parts = name.split("/")
    is_name = len(parts) <= 2 and all(map(_NAME.fullmatch, parts))
    if not is_name or Path(name).resolve() != Path.cwd().resolve() / name:  # not behind a link
        raise StorageError(f"no spot is called {name[:60]!r}", value=name)
    return name


def games_to_solve() -> list[str]:
    """Return the limit games for two players whose solution this machine can hold."""
    free = available_bytes()
    names = [name for name, entry in GAMES.items() if entry.rules.num_players == 2]
    return [name for name in names if GAMES[name].rules.is_limit and _bytes_to_solve(name) <= free]


@functools.cache
def _bytes_to_solve(name: str) -> int:
    """Return the bytes that solving a whole game needs; large trees take a second to count."""
    return Problem.exact(get_game(name)).forecast("float64", ["cfr+"]).bytes


def words_of_change(name: str, value: str | int | None) -> str:
    """Return an argument of a spot as the form names it: `16 bits`."""
    if name == "force":
        return "the button below"
    if name == "bits":
        return f"{value} bits"
    return f"{name.replace('_', ' ')} {value}"


def _options(values: dict[str, Any]) -> list[str]:
    """Return values as options of a command, without empty ones."""
    return [
        f"--{name.replace('_', '-')}={value}"
        for name, value in values.items()
        if value not in (None, "")
    ]
