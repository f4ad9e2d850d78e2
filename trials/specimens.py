"""Create small genuine folders of every kind of artefact, and list the readers of each.

They are created by the code under trial and stored in a cache that is named by a hash of its
sources, so a second trial of the same code starts at once.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import children

HERE = "{}"  # in the arguments of a reader: the folder that is tried

NINE_CARDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 5 10
raiseSize = 10 10 20 20
firstPlayer = 1 2 2 2
maxRaises = 1 1 1 1
numSuits = 3
numRanks = 3
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
ROYAL_NO_LIMIT = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 5
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
EIGHT_CARDS = """GAMEDEF
limit
numPlayers = 2
numRounds = 3
blind = 1 1
raiseSize = 2 2 4
firstPlayer = 1 1 1
maxRaises = 1 1 1
numSuits = 2
numRanks = 4
numHoleCards = 2
numBoardCards = 0 2 1
END GAMEDEF
"""
GAMES = {"nine.game": NINE_CARDS, "royal.game": ROYAL_NO_LIMIT, "eight.game": EIGHT_CARDS}
MIX = "mix:0.1,0.6,0.3"

# Solutions: game, iterations when it was saved, and iterations at its end.
METHODS = {
    "cfr+": ("leduc", 20, 40),
    "dcfr": ("kuhn", 20, 40),
    "pcfr+": ("kuhn", 20, 40),
    "mccfr": ("leduc", 200, 300),
    "pcs": ("leduc", 100, 150),
    "egt": ("leduc", 20, 40),
    "lp": ("kuhn", 1, 2),
    "double-oracle": ("kuhn", 2, 4),
    "range-of-skill": ("kuhn", 2, 4),
}
RIVER = (
    "spot", "--game", "royal.game", "--board", "AsKsQhThJd", "--oop", "JJ,AK,KQs:0.5,QTo",
    "--ip", "AQ,QQ,JTo:0.75,KJs", "--pot", "40", "--stack", "90", "--bets", "50%,a",
    "--raises", "a",
)  # fmt: skip
TURN = (*RIVER[:4], "AsKsQhTh", *RIVER[5:])
POTENTIAL = ("abstract", "potential-aware", "--buckets", "4,12,36", "--game", "rhode-island")
LEVELS = ("train", "ectomynx", "--hands", "20000", "--out")
DECISIONS = ("train", "ectomynx-frc", "--hands", "300", "--out")
SPLIT = ("solve", "leduc", "--split", "preflop", "--bits", "32", "--store")
COUNTER = ("counter", MIX, "--game", "leduc", "--p", "0.5")
FLOPS = (
    "flops", "--flops", "AsKsQh,ThTdJh", "--game", "royal.game", *RIVER[5:], "--bits", "16",
)  # fmt: skip
REAL = ("exploit", MIX, "--real-game", "--game", "nine.game", "--out")


@dataclass(frozen=True)
class Reader:
    """A command line or a library function that opens a folder."""

    name: str
    arguments: tuple[str, ...] = ()  # of a command; HERE is the folder
    opener: str = ""  # of a library reader: module:object
    is_warmed: bool = True  # may run in the process that forks: it starts no threads
    writes: bool = False


@dataclass(frozen=True)
class Specimen:
    """A genuine folder, the folders around it, and its readers."""

    name: str
    kind: str
    group: str  # folder of the genuine set that is copied for a trial
    folder: str  # within the group
    readers: tuple[Reader, ...]


def _command(name: str, *arguments: str, warm: bool = True, writes: bool = False) -> Reader:
    return Reader(name, arguments, is_warmed=warm, writes=writes)


def _library(opener: str) -> Reader:
    return Reader(opener.rpartition(":")[2], opener=opener)


def open_solution(folder: Path) -> Any:
    """Load a stored solution and build its game, as everything does that uses its plans."""
    from equilibrist.strategies.solution import Solution, game_of

    solution = Solution.load(folder)
    game_of(solution)
    return solution


def open_compact_strategy(folder: Path) -> Any:
    """Open a stored strategy with its betting and buckets, as everything does that plays it."""
    from equilibrist.strategies.quantized import CompactStrategy, open_buckets

    strategy = CompactStrategy.open(folder)
    open_buckets(strategy)
    return strategy


VERIFY = _command("verify", "verify", HERE)
OPEN_SOLUTION = _library("specimens:open_solution")
OPEN_SPOT = _library("equilibrist.solving.spot_run:SolvedSpot.open")
OPEN_BUCKETS = _library("equilibrist.abstraction.buckets:Abstraction.open")
OPEN_COUNTS = _library("equilibrist.abstraction.joint_counts:Joint.open")
OPEN_ENDS = _library("equilibrist.models.endings:PlayedOut.open")
OPEN_STRATEGY = _library("specimens:open_compact_strategy")


def _solution(method: str) -> Specimen:
    game, _, further = METHODS[method]
    has_threads = method in ("lp", "double-oracle", "range-of-skill")  # of the program HiGHS
    resume = _command(
        "solve --resume", "solve", game, "--method", method, "--iterations", str(further),
        "--out", HERE, "--resume", warm=not has_threads, writes=True,
    )  # fmt: skip
    node = ("--node", "c") if game == "kuhn" else ("--node", "cc/r", "--board", "Ks")
    readers = (
        VERIFY,
        _command("exploit", "exploit", HERE),
        _command("show", "show", HERE, *node),
        resume,
        _command("match", "match", f"solution:{HERE}", "uniform", "--game", game, "--hands", "200"),
        OPEN_SOLUTION,
    )
    return Specimen(f"solution-{method}", "solution", f"solution-{method}", "it", readers)


def _spot(name: str, arguments: tuple[str, ...], bits: str) -> Specimen:
    readers = (
        VERIFY,
        _command("exploit", "exploit", HERE),
        _command("spot", "spot", HERE, "--node", "c"),
        _command("spot --iterations", "spot", HERE, "--iterations", "40", writes=True),
        _command(
            "spot --resume", *arguments, "--bits", bits, "--iterations", "40", "--out", HERE,
            "--resume", writes=True,
        ),
        OPEN_SPOT,
    )  # fmt: skip
    return Specimen(name, "spot", name, "it", readers)


def _match(*players: str, game: str, hands: str = "40") -> Reader:
    return _command("match", "match", *players, "--game", game, "--hands", hands)


BOTS_LIST = _command("bots", "bots", "--in", ".")
SPECIMENS = {
    found.name: found
    for found in (
        *(_solution(method) for method in METHODS),
        _spot("spot-river-32", RIVER, "32"),
        _spot("spot-river-16", RIVER, "16"),
        _spot("spot-turn-32", TURN, "32"),
        _spot("spot-turn-16", TURN, "16"),
        Specimen(
            "solution-of-buckets", "solution", "buckets", "solution",
            (
                VERIFY,
                _command("exploit", "exploit", HERE),
                _command(
                    "solve --resume", "solve", "classes", "--joint", "counts", "--iterations",
                    "40", "--out", HERE, "--resume", writes=True,
                ),
                _match(f"solution:{HERE}", "uniform", game="eight.game"),
                OPEN_SOLUTION,
            ),
        ),
        Specimen(
            "abstraction", "abstraction", "buckets", "classes",
            (
                VERIFY,
                _command("buckets", "buckets", HERE),
                _command("buckets HAND", "buckets", HERE, "AsKs", "QsJs"),
                _command("joint", "joint", HERE, "--out", "new", writes=True),
                _command("joint --boards", "joint", HERE, "--out", "new", "--boards", "40",
                         writes=True),
                _command("transitions", "transitions", HERE, "counts"),
                _command("transitions --flops", "transitions", HERE, "--flops", "4"),
                _command("solve --joint", "solve", HERE, "--joint", "counts", "--iterations", "5"),
                _command("exploit SOLUTION", "exploit", "solution"),
                OPEN_BUCKETS,
            ),
        ),
        Specimen(
            "abstraction-lossless", "abstraction", "lossless", "it",
            (
                VERIFY,
                _command("buckets HAND", "buckets", HERE, "Ks", "Qh"),
                _command("joint", "joint", HERE, "--out", "new", writes=True),
                OPEN_BUCKETS,
            ),
        ),
        Specimen(
            "abstraction-unfinished", "abstraction", "unfinished", "it",
            (
                VERIFY,
                _command("buckets", "buckets", HERE),
                _command("abstract --resume", *POTENTIAL, "--out", HERE, "--resume", writes=True),
                OPEN_BUCKETS,
            ),
        ),
        Specimen(
            "joint", "joint", "buckets", "counts",
            (
                VERIFY,
                _command("solve --joint", "solve", "classes", "--joint", HERE, "--iterations",
                         "5"),
                _command("solve --rounds", "solve", "classes", "--joint", HERE, "--iterations",
                         "5", "--rounds", "2-3", "--pot", "8"),
                _command("transitions", "transitions", "classes", HERE),
                _command("exploit SOLUTION", "exploit", "solution"),
                OPEN_COUNTS,
            ),
        ),
        Specimen(
            "joint-sampled", "joint", "buckets", "sample",
            (
                VERIFY,
                _command("solve --joint", "solve", "classes", "--joint", HERE, "--iterations",
                         "5"),
                _command("transitions", "transitions", "classes", HERE),
                OPEN_COUNTS,
            ),
        ),
        Specimen(
            "joint-unfinished", "joint", "buckets", "part",
            (
                VERIFY,
                _command("joint --resume", "joint", "classes", "--out", HERE, "--resume",
                         writes=True),
                _command("solve --joint", "solve", "classes", "--joint", HERE, "--iterations",
                         "5"),
                OPEN_COUNTS,
            ),
        ),
        Specimen("transitions", "transitions", "buckets", "network", (VERIFY,)),
        Specimen(
            "transitions-product", "joint", "buckets", "product",
            (
                VERIFY,
                _command("solve --joint", "solve", "classes", "--joint", HERE, "--iterations",
                         "5", "--rounds", "2-3", "--pot", "8"),
                OPEN_COUNTS,
            ),
        ),
        Specimen(
            "strategy", "strategy", "tiny-home", "tiny/strategy",
            (
                VERIFY,
                BOTS_LIST,
                _match(f"solution:{HERE}", "uniform", game="royal-holdem", hands="100"),
                _match(f"solution:{HERE}", "always-call", game="royal-holdem", hands="10"),
                _command("train", "train", "tiny", "--out", "tiny", writes=True),
                OPEN_STRATEGY,
            ),
        ),
        Specimen(
            "solution-of-bot", "solution", "tiny-home", "tiny/solution",
            (
                VERIFY,
                BOTS_LIST,
                _command("exploit", "exploit", HERE),
                _match(f"solution:{HERE}", "uniform", game="royal-holdem", hands="100"),
                _command("train", "train", "tiny", "--out", "tiny", writes=True),
                OPEN_SOLUTION,
            ),
        ),
        Specimen(
            "strategy-glued", "strategy", "glued-home", "glued/strategy",
            (
                VERIFY,
                BOTS_LIST,
                _match(f"solution:{HERE}", "uniform", game="royal-holdem", hands="100"),
                _command("train", "train", "glued", "--out", "glued", writes=True),
                OPEN_STRATEGY,
            ),
        ),
        Specimen(
            "ends", "ends", "phases-home", "two-phases/ends",
            (
                VERIFY,
                BOTS_LIST,
                _command("exploit SOLUTION", "exploit", "two-phases/solution"),
                _command("train", "train", "two-phases", "--out", "two-phases", writes=True),
                OPEN_ENDS,
            ),
        ),
        Specimen(
            "real-game", "real-game response", "real-game", "it",
            (
                VERIFY,
                _command("exploit --real-game", *REAL, HERE, writes=True),
            ),
        ),
        Specimen(
            "real-game-unfinished", "real-game response", "real-game", "part",
            (
                VERIFY,
                _command("exploit --real-game", *REAL, HERE, writes=True),
            ),
        ),
        Specimen(
            "split-run", "split run", "split", "it",
            (
                VERIFY,
                _command("exploit", "exploit", HERE),
                _command("show", "show", HERE, "--node", "cc/r", "--board", "Ks"),
                _match(f"solution:{HERE}", "uniform", game="leduc", hands="200"),
                _command("solve --resume", *SPLIT, HERE, "--iterations", "8", "--resume",
                         writes=True),
            ),
        ),
        Specimen(
            "response-unfinished", "solution", "response", "it",
            (
                VERIFY,
                _command("exploit", "exploit", HERE),
                _command("show", "show", HERE, "--node", "cc/r", "--board", "Ks"),
                _match(f"solution:{HERE}", "uniform", game="leduc", hands="200"),
                _command("counter --resume", *COUNTER, "--out", HERE, "--resume", writes=True),
                OPEN_SOLUTION,
            ),
        ),
        Specimen(
            "flops", "flops", "flops", "it",
            (
                VERIFY,
                _command("flops", "flops", HERE),
                _command("flops --resume", *FLOPS, "--iterations", "8", "--out", HERE, "--resume",
                         writes=True),
            ),
        ),
        Specimen(
            "real-game-training", "real-game training", "nine-home", "nine/training",
            (
                VERIFY,
                BOTS_LIST,
                _command("train", "train", "nine", "--out", "nine", writes=True),
            ),
        ),
        Specimen(
            "level-training", "level training", "levels", "ectomynx",
            (
                VERIFY,
                BOTS_LIST,
                _match(f"ectomynx:{HERE}", "always-call", game="discard-holdem", hands="20"),
                _command("train", *LEVELS, HERE, "--cycles", "2", writes=True),
            ),
        ),
        Specimen(
            "decision-training", "decision training", "decisions", "ectomynx-frc",
            (
                VERIFY,
                BOTS_LIST,
                _match(f"ectomynx-frc:{HERE}", "always-call", game="discard-holdem", hands="20"),
                _command("train", *DECISIONS, HERE, "--cycles", "2", writes=True),
            ),
        ),
    )
}  # fmt: skip


def prepare() -> None:
    """Load the package, register the small bots, and shorten work that only adds accuracy."""
    children.prepare()
    import equilibrist.cli  # noqa: F401, so that no child has to
    from equilibrist.bots.bot import BucketBot, RealGameBot
    from equilibrist.bots.registry import BOTS
    from equilibrist.evaluation.real_game import run
    from equilibrist.games.catalog import GAMES, GameEntry
    from equilibrist.games.rules import parse_rules
    from equilibrist.papers.ectomynx import decision_training, level_training

    tiny = BucketBot(
        "tiny", "Few buckets of few cards", recipe="percentile", buckets=(1, 2, 4, 8),
        max_raises="1 1 1 1", target=1.0, game="royal-holdem", dtype="float64",
    )  # fmt: skip
    glued = replace(
        BOTS["psopti2"], name="glued", description="Models of few buckets", buckets=(2, 2, 2, 2),
        max_raises="1 1 1 1", target=10.0, game="royal-holdem",
    )  # fmt: skip
    phases = replace(tiny, name="two-phases", last_round=2, target=20.0, player=BOTS["gs2"].player)
    nine = RealGameBot(
        "nine", "Nine cards against best responses", recipe="percentile", buckets=(2, 2, 4, 4),
        max_raises="1 1 1 1", target=1.0, game="nine-cards", flops=7, measured=20, iterations=4,
        evaluate_every=1,
    )  # fmt: skip
    rules = parse_rules(NINE_CARDS, "nine-cards")
    GAMES.add(GameEntry("nine-cards", "Hold'em with nine cards", rules))
    for bot in (tiny, glued, phases, nine):
        BOTS.add(bot)
    for module in (level_training, decision_training):
        if hasattr(module, "_MATCH_DEALS"):
            module._MATCH_DEALS = 2000
    write_often(run)


def check_blocks(large: int, block: int) -> bool:
    """Read arrays with more bytes than `large` by blocks; return whether the package can."""
    from equilibrist.storage import array_file

    if not hasattr(array_file, "BLOCK_BYTES"):
        return False
    array_file.LARGE_BYTES, array_file.BLOCK_BYTES = large, block
    return True


def write_often(module: Any) -> None:
    """Make a module write a checkpoint at every opportunity."""
    from equilibrist.storage.checkpoint import CheckpointClock

    class AlwaysDue(CheckpointClock):
        def is_due(self) -> bool:
            return True

    module.CheckpointClock = AlwaysDue


# --- making them ----------------------------------------------------------------------------------


def genuine(names: list[str], say: Callable[[str], None], variant: str = "") -> Path:
    """Return the folder of the genuine set, with at least the groups of these specimens."""
    home = Path(tempfile.gettempdir()) / f"equilibrist-trials-{os.getuid()}"
    home /= _fingerprint() + variant
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if home.parent.stat().st_uid != os.getuid():
        sys.exit(f"{home.parent} belongs to somebody else")
    for group in dict.fromkeys(SPECIMENS[name].group for name in names):
        if (home / group).exists():
            continue
        say(f"making {group}")
        new = home / f"new-{os.getpid()}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        for file, text in GAMES.items():
            (new / file).write_text(text)
        _MAKERS[group](new)
        for lock in new.rglob("log.txt*"):
            lock.unlink()
        new.rename(home / group)
    return home


def _fingerprint() -> str:
    """Return twelve hexadecimal digits that change with the package's sources and this file."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(children.SOURCES.rglob("*.py")):
        digest.update(path.relative_to(children.SOURCES).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _make(folder: Path, *arguments: str) -> None:
    ending = children.run(children.command(*arguments), folder / "log.txt", folder, limit=900)
    children.expect(ending, arguments)


def _make_killed(folder: Path, number: int, *arguments: str) -> None:
    """Run a command and kill it just after it has replaced a manifest a number of times."""

    def act() -> None:
        replace, done = os.replace, []

        def replace_and_die(source: str, target: str, **options: int) -> None:
            replace(source, target, **options)
            if Path(target).name == "manifest.json":  # not a compiled kernel
                done.append(target)
            if len(done) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = replace_and_die  # type: ignore[assignment]
        children.command(*arguments)()

    ending = children.run(act, folder / "log.txt", folder, limit=900)
    if ending.code != -signal.SIGKILL:
        raise RuntimeError(f"{' '.join(arguments)} ended before its manifest {number}")
    if not (folder / arguments[-1] / "manifest.json").exists():
        raise RuntimeError(f"{' '.join(arguments)} left no manifest")


def _make_solution(method: str) -> Callable[[Path], None]:
    game, iterations, _ = METHODS[method]
    return lambda folder: _make(
        folder, "solve", game, "--method", method, "--iterations", str(iterations), "--out", "it"
    )


def _make_spot(arguments: tuple[str, ...], bits: str) -> Callable[[Path], None]:
    return lambda folder: _make(
        folder, *arguments, "--bits", bits, "--iterations", "20", "--out", "it"
    )


def _make_buckets(folder: Path) -> None:
    _make(
        folder, "abstract", "strength-potential", "--buckets", "2,3,2", "--game", "eight.game",
        "--out", "classes",
    )  # fmt: skip
    _make(folder, "joint", "classes", "--out", "counts")
    _make(folder, "joint", "classes", "--boards", "40", "--out", "sample")
    _make_killed(folder, 1, "joint", "classes", "--out", "part")
    _make(folder, "transitions", "classes", "counts", "--out", "network", "--product", "product")
    _make(
        folder, "solve", "classes", "--joint", "counts", "--iterations", "20", "--out", "solution"
    )


def _make_bot(name: str) -> Callable[[Path], None]:
    return lambda folder: _make(folder, "train", name, "--out", name)


def _make_real(folder: Path) -> None:
    _make(folder, *REAL, "it")
    _make_killed(folder, 5, *REAL, "part")


_MAKERS: dict[str, Callable[[Path], None]] = {
    **{f"solution-{method}": _make_solution(method) for method in METHODS},
    "spot-river-32": _make_spot(RIVER, "32"),
    "spot-river-16": _make_spot(RIVER, "16"),
    "spot-turn-32": _make_spot(TURN, "32"),
    "spot-turn-16": _make_spot(TURN, "16"),
    "buckets": _make_buckets,
    "lossless": lambda folder: _make(
        folder, "abstract", "lossless", "--game", "leduc", "--out", "it"
    ),
    "unfinished": lambda folder: _make_killed(folder, 2, *POTENTIAL, "--out", "it"),
    "tiny-home": _make_bot("tiny"),
    "glued-home": _make_bot("glued"),
    "phases-home": _make_bot("two-phases"),
    "real-game": _make_real,
    "split": lambda folder: _make(folder, *SPLIT, "it", "--iterations", "5"),
    "response": lambda folder: _make_killed(folder, 2, *COUNTER, "--out", "it"),
    "flops": lambda folder: _make(folder, *FLOPS, "--iterations", "4", "--out", "it"),
    "nine-home": _make_bot("nine"),
    "levels": lambda folder: _make(folder, *LEVELS, "ectomynx", "--cycles", "1"),
    "decisions": lambda folder: _make(folder, *DECISIONS, "ectomynx-frc", "--cycles", "1"),
}
