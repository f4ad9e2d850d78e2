"""The registry of bots: the settings of each bot and the folder that stores it.

A bot is a folder of four artefacts, computed in this order by `bots.training`:

    buckets    its abstraction
    counts     its joint counts: how often pairs of buckets meet and win
    solution   its plans, with a certificate of their exploitability within these buckets
    strategy   the probabilities that play needs (`strategies.quantized`)

`buckets` and `strategy` are enough to play. A bot that solves its last rounds during play uses its
solution, and has another artefact before it:

    ends       the values of hands at the end of the first phase

A bot that is glued from models of different rounds has several solutions instead of one: `preflop`,
and a `postflop-…` for each later model.

Bots with the same buckets share a folder and its first two artefacts; bots that differ only in
their rules during play share the solution too.

A bot that learns by playing hands against itself is a single artefact, its run (`SelfTaught`).
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

HOME: Final = Path("bots")  # default folder of all bots
BUCKETS, COUNTS, ENDS = "buckets", "counts", "ends"
SOLUTION, STRATEGY = "solution", "strategy"


@dataclass(frozen=True)
class Bot:
    """The settings that define a bot of buckets.

    Example:
        >>> BOTS["smallbot"].max_raises
        '2 3 3 3'
    """

    name: str
    description: str
    recipe: str  # recipe of its buckets
    buckets: tuple[int, ...]  # number per round, in the form that the recipe expects
    max_raises: str  # raise caps of its model per round; it calls raises beyond them
    target: float  # exploitability in mbb/g at which training ends
    boards: int | None = None  # number of sampled boards in its counts; None: all deals
    game: str = "holdem-limit"
    method: str = "cfr+"
    dtype: str = "float32"
    minutes: float = 1.0  # approximate training time on two cores
    last_round: int | None = None  # of its first phase; solved again with later rounds during play
    paper: str = ""  # its source
    family: str = ""  # name of the bot whose folder it shares; "": its own folder
    solution: str = SOLUTION  # name of the solution within its folder
    evaluate_every: int | None = None  # iterations between two evaluations
    solve_models: str = "equilibrist.bots.train:solve_whole_game"  # import path

    @property
    def folder(self) -> Path:
        """Return the default folder of the bot."""
        return HOME / (self.family or self.name)

    @property
    def strategy(self) -> str:
        """Return the name of the strategy within the bot's folder."""
        return self.solution.replace(SOLUTION, STRATEGY)


@dataclass(frozen=True)
class GluedBot(Bot):
    """A bot composed of an opening and later models (`strategies.composition`)."""

    solve_models: str = "equilibrist.papers.psopti.composing:solve_models"
    opening: str = "call"  # always call; "selby": preflop hold'em; "model": a three-round model
    pots: tuple[int, ...] = ()  # pots of its later models in small bets; (): one per preflop line


_RANGE_OF_SKILL: Final = "Zinkevich, Bowling and Burch 2007"
_GS2: Final = "Gilpin and Sandholm 2007"
_PSOPTI: Final = "Billings et al. 2003"
_GS3: Final = "Gilpin, Sandholm and Sørensen 2007"

_SMALLBOT: Final = Bot(
    "smallbot",
    "Range of Skill's strength quintiles: 5-25-125-625 buckets",
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
    description="SmallBot under the full rules: calls a raise beyond its caps and ignores it",
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
    "PsOpti1: Selby's preflop hold'em, then models for pots of 2, 4, 6 and 8 bets, 7 buckets",
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
            description="SmallBot from a sample of boards, less exact",
            target=5.0,
            boards=40_000,
            minutes=2.0,
        ),
        Bot(
            "gs2",
            "GS2: buckets 15-225-900 by win probability; turn and river are solved during play",
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
            description="SmallBot stopped at the paper's exploitability, 10.6 mbb/g",
            target=10.6,
            solution="solution-stopped",
            evaluate_every=1,
        ),
        replace(
            _BIGBOT,
            name="smallbot-skill",
            description="SmallBot by the paper's own algorithm, range of skill; slow",
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
            description="GS3 with 8-64-512-4096 buckets, from a sample of boards",
            buckets=(8, 64, 512, 4096),
            boards=200_000,
            minutes=9.0,
        ),
        replace(
            _PSOPTI1,
            name="psopti0",
            description="PsOpti0: always calls before the flop, then one model for a pot of 2 bets",
            family="psopti1",
            solution="solution-call",
            opening="call",
            pots=(2,),
        ),
        _PSOPTI1,
        replace(
            _PSOPTI1,
            name="psopti2",
            description="PsOpti2: a three-round model, then one model per preflop line, 6 buckets",
            buckets=(6, 6, 6, 6),
            minutes=10.0,
            opening="model",
            pots=(),
        ),
    )
}


@dataclass(frozen=True)
class SelfTaught:
    """The settings of a bot that learns in cycles of hands against itself.

    Example:
        >>> ectomynx = SELF_TAUGHT["ectomynx"]
        >>> ectomynx.folder.name, ectomynx.cycles, ectomynx.hands
        ('ectomynx', 5, 100000000)
    """

    name: str
    description: str
    hands: int  # default number per cycle
    cycles: int
    speed: float  # approximate hands per second on one core
    method: str = "levels"  # or "decisions": learns each action
    cleaning: float = 0.0  # smaller probabilities are set to zero
    trainer: str = "equilibrist.papers.ectomynx.train:train"  # import path
    game: str = "discard-holdem"
    paper: str = "EctomynX, MIT Pokerbots 2017"

    @property
    def folder(self) -> Path:
        """Return the default folder of the bot."""
        return HOME / self.name

    @property
    def minutes(self) -> float:
        """Return the approximate training time on two cores in minutes."""
        return round(self.cycles * self.hands / self.speed / 2 / 60, 1)


SELF_TAUGHT: Final = {
    bot.name: bot
    for bot in (
        SelfTaught(
            "ectomynx",
            "Swaps by a rule and bets by levels, from the report's weights, then cycles of hands",
            hands=10**8,
            cycles=5,
            speed=8e5,
        ),
        SelfTaught(
            "ectomynx-frc",
            "The report's ideas: fold, call, raise and swap by regret on the same states",
            hands=2 * 10**6,
            cycles=10,
            speed=2.7e4,
            method="decisions",
            cleaning=0.005,
        ),
    )
}


def get_bot(name: str) -> Bot:
    """Return a bot of buckets by its name; raise `UnknownNameError` if there is none."""
    if name not in BOTS:
        known = [*BOTS, *SELF_TAUGHT]
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.3)
        hint = f"did you mean {nearest[0]}" if nearest else f"bots: {', '.join(known)}"
        raise UnknownNameError(f"no bot is called {name[:40]!r}; {hint}", value=name)
    return BOTS[name]


def solution_of(name: str) -> Path:
    """Return the folder of a trained bot's solution; raise `StorageError` if it is untrained."""
    bot = get_bot(name)
    folder = bot.folder / bot.solution
    if not (folder / MANIFEST).exists():
        raise StorageError(
            f"{name} is not trained here; run `equilibrist train {name}`, which takes about "
            f"{bot.minutes:g} minutes",
            value=name,
        )
    return folder


def run_of(name: str) -> Path:
    """Return the folder of a self-taught bot's run; raise `StorageError` if it is untrained."""
    bot = SELF_TAUGHT[name]
    if not (bot.folder / MANIFEST).exists():
        raise StorageError(
            f"{name} is not trained here; run `equilibrist train {name}`, which takes about "
            f"{bot.minutes:g} minutes",
            value=name,
        )
    return bot.folder


def strategy_of(name: str) -> Path:
    """Return the folder that a trained bot plays from: its strategy, or else its solution.

    A strategy that was made from another solution than the one in the folder is not used.
    """
    bot = get_bot(name)
    strategy = bot.folder / bot.strategy
    if is_current(strategy):
        return strategy
    if isinstance(bot, GluedBot) and (strategy / MANIFEST).exists():
        raise StorageError(
            f"{strategy} is glued from other solutions than those beside it; run `equilibrist "
            f"train {name}` to glue these",
            value=name,
        )
    return solution_of(name)


def is_current(strategy: Path) -> bool:
    """Return whether a strategy exists and was made from the solutions beside it, if any."""
    if not (strategy / MANIFEST).exists():
        return False
    made_of = read_identity(strategy).parents
    beside = {name: strategy.parent / name for name in made_of if name != ABSTRACTION}
    return all(
        read_identity(folder).hash == made_of[name]
        for name, folder in beside.items()
        if (folder / MANIFEST).exists()
    )
