"""What a bot is: its settings, its folder, and the import paths of the code that serves it.

A bot is trained into a folder and plays from it. `Bot` has what every bot has; other packages use
it as it is, with a trainer and a player of their own. The other classes add the settings of one
way to train.

The folder of a bot of buckets has four artefacts, computed in this order by `bots.training`:

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
their rules during play share the solution too. A bot that learns by playing hands against itself
is a single artefact, its run.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.quantized import ABSTRACTION

HOME: Final = Path("bots")  # default folder of all bots
BUCKETS, COUNTS, ENDS = "buckets", "counts", "ends"
SOLUTION, STRATEGY = "solution", "strategy"


class BotPlayer(NamedTuple):
    """How a bot plays: the fields of its entry in the catalogue of players."""

    make: str  # import path of a function of the bot, the rules, and the text after the colon
    options: str = ""  # grammar of the text after the colon; "" if there is none
    kernels: tuple[str, ...] = ()  # kernels of `kernels/cpu` that it runs
    table_kernels: tuple[str, ...] = ()  # kernels that play it against another table, if it is one


_FROM_STRATEGY: Final = BotPlayer(
    "equilibrist.players.strategy_player:make_bot_player",
    table_kernels=(
        "matches.deal_cards",
        "matches.play_hands",
        "ranking.rank_hands",
        "rollout.locate_boards",
    ),
)


@dataclass(frozen=True)
class Bot:
    """A bot of the catalogue: what every bot has, of whatever kind.

    Example:
        >>> train, play = "mypoker:train_lucky", BotPlayer("mypoker:make_lucky")
        >>> lucky = Bot("lucky", "Draws its bets", game="kuhn", trainer=train, player=play)
        >>> lucky.folder.as_posix()
        'bots/lucky'
    """

    name: str
    description: str
    _: KW_ONLY
    game: str
    trainer: str  # import path of a function of the bot, a folder, options and a report (`train`)
    player: BotPlayer
    status: str = "equilibrist.bots.listing:folder_status"  # import path: what a folder holds
    minutes: float = 1.0  # approximate training time on two cores
    needs_gpu: bool = False  # whether training takes too long on two cores to be of use
    paper: str = ""  # its source
    family: str = ""  # name of the bot whose folder it shares; "": its own folder
    kernels: tuple[str, ...] = ()  # compiled kernels that its training runs
    way: str = "has a trainer of its own"  # predicate: how it is trained
    options: tuple[str, ...] = ()  # `TrainingOptions` that it takes besides seed and threads

    @property
    def folder(self) -> Path:
        """Return the default folder of the bot."""
        return HOME / (self.family or self.name)

    @property
    def training_time(self) -> str:
        """Return the approximate training time as text.

        Example:
            >>> from equilibrist.bots.registry import BOTS
            >>> BOTS["ectomynx"].training_time, BOTS["smallbot-br"].training_time
            ('5.2 min on two cores', '347 days on two cores: it needs a GPU')
        """
        text = f"{time_text(self.minutes)} on two cores"
        return f"{text}: it needs a GPU" if self.needs_gpu else text

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that the list of bots shows, by name."""
        return {}

    @property
    def strategies(self) -> tuple[str, ...]:
        """Return the names of the parts of its folder that `open_strategy` opens, best first."""
        return ()

    def stored(self, part: str = "") -> Path:
        """Return the folder of an artefact of the bot; raise `StorageError` if it is untrained."""
        folder = self.folder / part
        if not (folder / MANIFEST).exists():
            raise StorageError(
                f"{self.name} is not trained here; run `equilibrist train {self.name}`, which "
                f"takes about {self.training_time}",
                value=self.name,
            )
        return folder

    def stored_strategy(self) -> Path:
        """Return the folder of the strategy that the trained bot plays from."""
        raise InvalidValueError(
            f"{self.name} stores no probabilities by hand, so it cannot be opened here; "
            f"`equilibrist match {self.name} PLAYER --game {self.game}` plays it",
            value=self.name,
        )

    def response_folder(self, folder: Path) -> Path:
        """Return the folder of the real-game response to the bot whose own folder is `folder`."""
        return folder / "real-game"


@dataclass(frozen=True)
class BucketBot(Bot):
    """A bot that solves a model of the game between buckets.

    Example:
        >>> bot = BucketBot("quintiles", "", recipe="percentile", buckets=(5, 25, 125, 625),
        ...                 max_raises="2 3 3 3", target=1.0)
        >>> bot.method, bot.strategy
        ('cfr+', 'strategy')
    """

    _: KW_ONLY
    recipe: str  # recipe of its buckets
    buckets: tuple[int, ...]  # number per round, in the form that the recipe expects
    max_raises: str  # raise caps of its model per round; it calls raises beyond them
    target: float  # exploitability in mbb/g at which training ends
    boards: int | None = None  # number of sampled boards in its counts; None: all deals
    method: str = "cfr+"
    dtype: str = "float32"
    bets: str | None = None  # bet sizes of a no-limit model (`games.bet_menu`); None: limit
    raises: str | None = None  # default: the bets
    force_all_in: str | None = None  # bets that leave less than this share of the pot are all-in
    last_round: int | None = None  # of its first phase; solved again with later rounds during play
    solution: str = SOLUTION  # name of the solution within its folder
    evaluate_every: int | None = None  # iterations between two evaluations
    solve_models: str = "equilibrist.bots.train:solve_whole_game"  # import path

    game: str = "holdem-limit"
    trainer: str = "equilibrist.bots.train:train_buckets"
    status: str = "equilibrist.bots.listing:bucket_status"
    player: BotPlayer = _FROM_STRATEGY
    kernels: tuple[str, ...] = (
        "rollout.strengths",
        "joint.bucket_showdowns",
        "sequence_form.fold_up_team",
    )
    way: str = "is solved to a target"
    options: tuple[str, ...] = ("target", "seconds", "force", "device", "stop")

    is_glued: ClassVar[bool] = False  # whether its strategy is glued from several models

    @property
    def settings(self) -> dict[str, Any]:
        """Return the numbers of buckets, sampled boards and raises, and bet sizes if there are."""
        sizes = self.menu.texts()
        return {
            "buckets": list(self.buckets),
            "boards": self.boards,
            "max_raises": self.max_raises,
            **{name: sizes[name] for name in ("bets", "raises", "force_all_in") if name in sizes},
        }

    @property
    def menu(self) -> BetMenu:
        """Return the bets of its model."""
        return BetMenu.parse(
            self.bets, self.raises, self.max_raises, force_all_in=self.force_all_in
        )

    @property
    def strategy(self) -> str:
        """Return the name of the strategy within the bot's folder."""
        return self.solution.replace(SOLUTION, STRATEGY)

    @property
    def strategies(self) -> tuple[str, ...]:
        """Return the names of the strategy and of the solution within the bot's folder."""
        return self.strategy, self.solution

    def stored_solution(self) -> Path:
        """Return the folder of the solution; raise `StorageError` if the bot is untrained."""
        return self.stored(self.solution)

    def stored_strategy(self) -> Path:
        """Return the folder that the trained bot plays from: its strategy, or else its solution.

        A strategy that was made from another solution than the one in the folder is not used.
        """
        strategy = self.folder / self.strategy
        return strategy if is_current(strategy) else self.stored_solution()

    def response_folder(self, folder: Path) -> Path:
        """Return the folder of the real-game response to one of the solutions in `folder`."""
        return folder / self.solution.replace(SOLUTION, "real-game")


@dataclass(frozen=True)
class RealGameBot(BucketBot):
    """A bot of buckets whose training is measured in limit hold'em itself, on `measured` flops.

    Its target is an exploitability in the real game. By the method cfr-br it is trained against
    best responses in the real game (`solving.cfr_br`), by others within its buckets.
    """

    _: KW_ONLY
    flops: int = 4  # drawn in each iteration of cfr-br
    measured: int = 60  # flops of an evaluation, always the same
    iterations: int = 200  # maximum number
    patience: int = 0  # measurements without improvement after which training ends; 0: any number
    measures_current: bool = False  # of cfr-br: measure the current plans too, not only averages

    method: str = "cfr-br"
    evaluate_every: int | None = 20
    solve_models: str = "equilibrist.bots.real_game_training:solve_against_real_game"
    way: str = "is trained by measurements in the real game"

    @property
    def training(self) -> str:
        """Return the name of its checkpoints within the bot's folder."""
        return self.solution.replace(SOLUTION, "training")


@dataclass(frozen=True)
class GluedBot(BucketBot):
    """A bot of buckets composed of an opening and later models (`strategies.composition`)."""

    _: KW_ONLY
    opening: str = "call"  # always call; "selby": preflop hold'em; "model": a three-round model
    pots: tuple[int, ...] = ()  # pots of its later models in small bets; (): one per preflop line

    options: tuple[str, ...] = ("target", "seconds", "force")

    is_glued: ClassVar[bool] = True

    def stored_strategy(self) -> Path:
        """Return the folder of the glued strategy; raise `StorageError` if it is not current."""
        strategy = self.folder / self.strategy
        if (strategy / MANIFEST).exists() and not is_current(strategy):
            raise StorageError(
                f"{strategy} is glued from other solutions than those beside it; run `equilibrist "
                f"train {self.name}` to glue these",
                value=self.name,
            )
        return self.stored(self.strategy)


@dataclass(frozen=True)
class SelfTaughtBot(Bot):
    """A bot that learns in cycles of hands against itself."""

    _: KW_ONLY
    hands: int  # default number per cycle
    cycles: int
    speed: float  # approximate hands per second on one core
    method: str  # what it learns, as its trainer names it
    cleaning: float = 0.0  # smaller probabilities are set to zero

    way: str = "learns in cycles"
    options: tuple[str, ...] = ("cycles", "hands", "rate", "cleaning", "update")

    @property
    def settings(self) -> dict[str, Any]:
        """Return the numbers of cycles and of hands per cycle."""
        return {"cycles": self.cycles, "hands": self.hands}


def time_text(minutes: float) -> str:
    """Return a number of minutes as text, from five hours on as hours or days.

    Example:
        >>> [time_text(minutes) for minutes in (5.2, 120, 720, 500_000)]
        ['5.2 min', '120 min', '12 hours', '347 days']
    """
    if minutes < 300:
        return f"{minutes:g} min"
    hours = minutes / 60
    return f"{hours:,.0f} hours" if hours < 72 else f"{hours / 24:,.0f} days"


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
