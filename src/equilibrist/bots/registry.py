"""The bots of the papers: what each is made of, and the folder it is kept in.

A bot is a folder of four artefacts, made one after the other by `solving.training`:

    buckets    its abstraction
    counts     how often its buckets meet, and who wins
    solution   its plans, with the proof of how good they are among these buckets
    strategy   what of them it takes to play (`compact`)

`buckets` and `strategy` are enough to play. A bot that solves its last rounds at the table plays
from its solution, and has another artefact before it:

    ends       what hands are worth where the first phase leaves them

A bot that is glued from models of different rounds has several solutions, `preflop` and one
`postflop-…` for each of the others, and no single one.

Bots of the same buckets share a folder, and so the first two; one that is another by its rules at
the table only shares the solution too.

A bot that learns by playing hands against itself is one artefact, its run (`SelfTaught`).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from equilibrist.errors import StorageError, UnknownNameError
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.quantized import ABSTRACTION

HOME: Final = Path("bots")  # where bots are unless told
BUCKETS, COUNTS, ENDS = "buckets", "counts", "ends"
SOLUTION, STRATEGY = "solution", "strategy"


@dataclass(frozen=True)
class Bot:
    """How a bot is made.

    Example:
        >>> BOTS["smallbot"].max_raises
        '2 3 3 3'
    """

    name: str
    description: str
    recipe: str  # of its buckets
    buckets: tuple[int, ...]  # by round, as the recipe wants them
    max_raises: str  # that it knows, by round; it calls what goes beyond
    target: float  # exploitability in mbb/g at which it is done
    boards: int | None = None  # in the sample of its counts; None: all deals are counted
    game: str = "holdem-limit"
    method: str = "cfr+"
    dtype: str = "float32"
    minutes: float = 1.0  # that making it takes on two cores, about
    last_round: int | None = None  # of its first phase; it is solved again, with what follows
    paper: str = ""  # where it is from
    family: str = ""  # the bot whose folder it shares; "" for its own
    solution: str = SOLUTION  # where in its folder
    evaluate_every: int | None = None  # iterations between two evaluations
    solve_models: str = "equilibrist.bots.train:solve_whole_game"  # import path

    @property
    def folder(self) -> Path:
        """Where it is unless told."""
        return HOME / (self.family or self.name)

    @property
    def strategy(self) -> str:
        """Where in its folder what it plays from is."""
        return self.solution.replace(SOLUTION, STRATEGY)


@dataclass(frozen=True)
class GluedBot(Bot):
    """A bot of an opening and later models (`strategies.composition`)."""

    solve_models: str = "equilibrist.papers.psopti.composing:solve_models"
    opening: str = "call"  # always; or of "selby", preflop hold'em; or of a "model" of three rounds
    pots: tuple[int, ...] = ()  # small bets, of its later models; none: one a way to the flop


_RANGE_OF_SKILL: Final = "Zinkevich, Bowling and Burch 2007"
_GS2: Final = "Gilpin and Sandholm 2007"
_PSOPTI: Final = "Billings et al. 2003"
_GS3: Final = "Gilpin, Sandholm and Sørensen 2007"

_SMALLBOT: Final = Bot(
    "smallbot",
    "Range of Skill's quintiles of strength: 5-25-125-625 buckets",
    recipe="percentile",
    buckets=(5, 25, 125, 625),
    max_raises="2 3 3 3",
    target=1.0,
    minutes=6.0,
    paper=_RANGE_OF_SKILL,
)
_BIGBOT: Final = replace(
    _SMALLBOT,
    name="bigbot",
    description="SmallBot under the full rules: it calls a raise beyond its caps and forgets it",
    family="smallbot",
)
_GS3_BOT: Final = Bot(
    "gs3",
    "GS3's potential-aware buckets 20-800-4800-28800, all deals counted",
    recipe="potential-aware",
    buckets=(20, 800, 4800, 28800),
    max_raises="3 3 3 3",
    target=13.5,
    evaluate_every=25,
    minutes=120.0,
    paper=_GS3,
)

_PSOPTI1: Final = GluedBot(
    "psopti1",
    "PsOpti1: Selby's preflop hold'em, then models of pots of 2, 4, 6 and 8 bets, 7 buckets",
    recipe="strength-potential",
    buckets=(1, 7, 7, 7),
    max_raises="3 3 3 3",
    target=1.0,
    minutes=6.0,
    dtype="float64",
    paper=_PSOPTI,
    opening="selby",
    pots=(2, 4, 6, 8),
)

BOTS: Final = {
    bot.name: bot
    for bot in (
        _SMALLBOT,
        replace(
            _SMALLBOT,
            name="smallbot-quick",
            description="The same from a sample of boards, less exact",
            target=5.0,
            boards=40_000,
            minutes=2.0,
        ),
        Bot(
            "gs2",
            "GS2's two phases: buckets 15-225-900 by chance to win, turn and river at the table",
            recipe="expectation",
            buckets=(15, 225, 900, 3600),
            max_raises="3 3 3 3",
            target=5.0,
            boards=40_000,
            minutes=4.0,
            last_round=2,
            paper=_GS2,
        ),
        _BIGBOT,
        replace(
            _BIGBOT,
            name="smallbot-stopped",
            description="SmallBot stopped at the exploitability of the paper's, 10.6 mbb/g",
            target=10.6,
            solution="solution-stopped",
            evaluate_every=1,
        ),
        replace(
            _BIGBOT,
            name="smallbot-skill",
            description="SmallBot by the paper's own algorithm, the range of skill; slow",
            target=10.0,
            method="range-of-skill",
            minutes=90.0,
            solution="solution-skill",
            evaluate_every=1,
        ),
        _GS3_BOT,
        replace(
            _GS3_BOT,
            name="gs3-small",
            description="The same with 8-64-512-4096 buckets, from a sample of boards",
            buckets=(8, 64, 512, 4096),
            boards=200_000,
            minutes=9.0,
        ),
        replace(
            _PSOPTI1,
            name="psopti0",
            description="PsOpti0: always calls before the flop, then a model of a pot of 2 bets",
            family="psopti1",
            solution="solution-call",
            opening="call",
            pots=(2,),
        ),
        _PSOPTI1,
        replace(
            _PSOPTI1,
            name="psopti2",
            description="PsOpti2: a model of three rounds, then one a way to the flop, 6 buckets",
            buckets=(6, 6, 6, 6),
            minutes=10.0,
            opening="model",
            pots=(),
        ),
    )
}


@dataclass(frozen=True)
class SelfTaught:
    """How a bot is made that plays hands against itself, in cycles, and changes after each.

    Example:
        >>> ectomynx = SELF_TAUGHT["ectomynx"]
        >>> ectomynx.folder.name, ectomynx.cycles, ectomynx.hands
        ('ectomynx', 5, 100000000)
    """

    name: str
    description: str
    hands: int  # of a cycle, unless told
    cycles: int
    speed: float  # hands a second on one core, about
    method: str = "levels"  # or "decisions", action by action
    cleaning: float = 0.0  # chances below are made none
    trainer: str = "equilibrist.papers.ectomynx.train:train"  # import path
    game: str = "discard-holdem"
    paper: str = "EctomynX, MIT Pokerbots 2017"

    @property
    def folder(self) -> Path:
        """Where it is unless told."""
        return HOME / self.name

    @property
    def minutes(self) -> float:
        """That making it takes on two cores, about."""
        return round(self.cycles * self.hands / self.speed / 2 / 60, 1)


SELF_TAUGHT: Final = {
    bot.name: bot
    for bot in (
        SelfTaught(
            "ectomynx",
            "Swaps by a rule and bets by levels; its report's first weights, then cycles of hands",
            hands=10**8,
            cycles=5,
            speed=8e5,
        ),
        SelfTaught(
            "ectomynx-frc",
            "The report's wishes: fold, call, raise and swap by regret on the same states",
            hands=2 * 10**6,
            cycles=10,
            speed=2.7e4,
            method="decisions",
            cleaning=0.005,
        ),
    )
}


def get_bot(name: str) -> Bot:
    """A bot by its name."""
    if name not in BOTS:
        known = [*BOTS, *SELF_TAUGHT]
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.3)
        hint = f"did you mean {nearest[0]}" if nearest else f"bots: {', '.join(known)}"
        raise UnknownNameError(f"no bot is called {name[:40]!r}; {hint}", value=name)
    return BOTS[name]


def solution_of(name: str) -> Path:
    """The folder of a trained bot's solution; `StorageError` says how to train it."""
    bot = get_bot(name)
    folder = bot.folder / bot.solution
    if not (folder / MANIFEST).exists():
        raise StorageError(
            f"{name} is not trained here: `equilibrist train {name}` makes {bot.folder} in about "
            f"{bot.minutes:g} minutes",
            value=name,
        )
    return folder


def run_of(name: str) -> Path:
    """The folder of a self-taught bot's run; `StorageError` says how to train it."""
    bot = SELF_TAUGHT[name]
    if not (bot.folder / MANIFEST).exists():
        raise StorageError(
            f"{name} is not trained here: `equilibrist train {name}` makes {bot.folder} in about "
            f"{bot.minutes:g} minutes",
            value=name,
        )
    return bot.folder


def strategy_of(name: str) -> Path:
    """The folder that a trained bot plays from: its strategy, or else its solution.

    A strategy of another solution than the one that is there is left alone.
    """
    bot = get_bot(name)
    strategy = bot.folder / bot.strategy
    if is_current(strategy):
        return strategy
    if isinstance(bot, GluedBot) and (strategy / MANIFEST).exists():
        raise StorageError(
            f"{strategy} is glued from other solutions than are there now: `equilibrist train "
            f"{name}` glues these",
            value=name,
        )
    return solution_of(name)


def is_current(strategy: Path) -> bool:
    """Whether a strategy is there, and of the solutions that are beside it, if they are."""
    if not (strategy / MANIFEST).exists():
        return False
    made_of = read_identity(strategy).parents
    beside = {name: strategy.parent / name for name in made_of if name != ABSTRACTION}
    return all(
        read_identity(folder).hash == made_of[name]
        for name, folder in beside.items()
        if (folder / MANIFEST).exists()
    )
