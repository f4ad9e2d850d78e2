"""Counter-strategies: what to play against a known player, or one that was seen playing."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.bots.open import is_mix, open_stored, open_strategy, table_of
from equilibrist.bots.registry import BOTS
from equilibrist.display.notebook import data_frame, table_html
from equilibrist.errors import InvalidValueError, RecordError, StorageError
from equilibrist.evaluation.expectation import Expectation
from equilibrist.evaluation.observation import Observer, always_call, hand_columns, mix_behaviour
from equilibrist.evaluation.other_buckets import shares_deals, winnings_from
from equilibrist.evaluation.statistics import chips_of_unit
from equilibrist.games.catalog import game_names, load_game
from equilibrist.games.log_file import LogFile
from equilibrist.games.rules import GameRules
from equilibrist.models.game import SequenceGame
from equilibrist.play.match import Watch
from equilibrist.play.self_play import observe_player
from equilibrist.players.catalog import make_player, player_learns, player_names
from equilibrist.players.known_plans import known_plans
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.counter import (
    Method,
    Model,
    ResponseStore,
    Seats,
    SeatView,
    respond,
)
from equilibrist.solving.problem import Problem
from equilibrist.solving.solve import Budget, Outcome
from equilibrist.solving.target import Goal, Target
from equilibrist.strategies.description import BucketDescription, Description, same_game
from equilibrist.strategies.evaluation import Evaluation
from equilibrist.strategies.played import FixedMix
from equilibrist.strategies.quantized import CompactStrategy
from equilibrist.strategies.seat_tables import Columns
from equilibrist.strategies.solution import Solution

USUAL_HANDS = 20_000  # of self-play with a player whose strategy is not a table of the game
_USUAL_TARGET = {True: "5mbb", False: "0.001chips"}  # with a big blind, or without


@dataclass(frozen=True, eq=False)
class Arena:
    """The game in which a response is computed, and how hands are looked up in it."""

    game: SequenceGame
    description: Description
    rules: GameRules  # with all raises
    columns: Callable[[], Columns]
    buckets: Abstraction | None = None  # of a game of buckets

    @classmethod
    def open(cls, text: str) -> Arena:
        """Build an exact game of a name or file, or the game of buckets of a bot or solution."""
        if text in game_names() or text.endswith(".game"):
            rules = load_game(text)
            return cls.exact(rules)
        stored = open_stored(text)
        if not isinstance(stored.game, BucketDescription):
            game = stored.game.build()
            assert game.rules is not None
            return cls(game, stored.game, game.rules, functools.partial(hand_columns, game))
        if stored.game.first_round or stored.game.last_round is not None or stored.game.priors:
            raise InvalidValueError(
                f"{text} is {stored.game.name}, a model of some rounds: give a game or a bot whose "
                "model has all rounds",
                value=text,
            )
        if getattr(stored, "opening", None) is not None:
            raise InvalidValueError(
                f"{text} is glued from several models: give another game with --game, such as "
                "smallbot, in whose buckets the response is computed",
                value=text,
            )
        buckets = stored.game.open_abstraction()
        return cls(stored.game.build(), stored.game, buckets.rules, lambda: buckets, buckets)

    @classmethod
    def exact(cls, rules: GameRules) -> Arena:
        """Build an exact game, in which suits count, because buckets may distinguish them."""
        problem = Problem.exact(rules, symmetry="suits")
        try:
            problem.forecast(methods=["cfr+"]).check(problem.name)
        except InvalidValueError:
            raise InvalidValueError(
                f"{rules.name} is too large to respond in it with all its cards: give a bot or "
                "solution in whose buckets the response is computed, such as smallbot",
                value=rules.name,
            ) from None
        game, description = problem.build()
        return cls(game, description, rules, functools.partial(hand_columns, game))

    def goal(self, to: str | float | None) -> Goal:
        """Return a target in chips; the usual one where none is given."""
        usual = Target.parse(_USUAL_TARGET[self.rules.has_big_blind])
        target = usual if to is None else Target.parse(to)
        return target.of_game(self.game.name, self.rules)

    @property
    def dtype(self) -> str:
        """Type of the solver's arrays: float32 in games of buckets, float64 in exact ones."""
        return "float32" if isinstance(self.description, BucketDescription) else "float64"


@dataclass(frozen=True, eq=False)
class Opponent:
    """The opponent of a response: its name, and its model in the game of the response."""

    name: str
    model: Model
    truth: Model | None = None  # the strategy itself, if it is known

    @property
    def settings(self) -> dict[str, Any]:
        """Return what identifies the model in a stored response."""
        model, digest = self.model, hashlib.sha256()
        for numbers in model.winnings or model.behaviour or ():
            digest.update(np.ascontiguousarray(numbers).tobytes())
        for seen in model.observed or ():
            digest.update(np.ascontiguousarray(seen.counts).tobytes())
        return {"target": self.name, "hands": model.hands, "model": digest.hexdigest()}

    @classmethod
    def of_log(cls, path: str | Path, player: str | None, arena: Arena, hides: bool) -> Opponent:
        """Return the model of a player of a log: its counted actions, and calls elsewhere."""
        read = _log_of(path, arena.rules)
        if player is None:
            names = _names(path, arena.rules)
            raise InvalidValueError(
                f"name the opponent among the players of {path}: {' or '.join(names)}", value=names
            )
        observer = Observer(arena.game, arena.columns(), player, hides)
        for _ in observer.see(read):
            pass
        return cls(player, _observed(arena, observer))

    @classmethod
    def of_player(
        cls,
        text: str,
        arena: Arena,
        hands: int | None = None,
        seed: int = 0,
        watch: Watch | None = None,
    ) -> Opponent:
        """Return the model of a strategy or player: exact if it is a table, whatever its buckets.

        Others, and all if `hands` is given, play this number of hands against a probe (default
        20,000); a learner needs the number.
        """
        if hands is None and player_learns(text):
            raise InvalidValueError(
                f"{text} learns while it plays, so it has no fixed strategy: give the number of "
                "hands after which it is modelled (--hands, or hands=)",
                value=text,
            )
        known = _known(text, arena)
        if known is not None and hands is None:
            return cls(text, known, known)
        player = make_player(player_text(text), arena.rules)
        observer = Observer(arena.game, arena.columns(), player.name)
        observe_player(
            observer,
            player,
            arena.rules,
            USUAL_HANDS if hands is None else hands,
            learns=player_learns(text),
            seed=seed,
            watch=watch,
        )
        return cls(text, _observed(arena, observer), known)


def _log_of(path: str | Path, rules: GameRules) -> LogFile:
    """Open a log by the game that it names, or by the rules if it names none."""
    try:
        return LogFile(path)
    except RecordError:
        return LogFile(path, rules)


def _names(path: str | Path, rules: GameRules) -> list[str]:
    for record in _log_of(path, rules):
        return sorted(record.names)
    raise InvalidValueError(f"{path} has no complete hand", value=str(path))


def _observed(arena: Arena, observer: Observer) -> Model:
    default = always_call(arena.game)
    seen = observer.observed(default)
    first, second = (seen[seat].behaviour(arena.game, default[seat]) for seat in (0, 1))
    return Model((first, second), seen)


def _known(text: str, arena: Arena) -> Model | None:
    """Return the model of a player that is a table, None if it is not one for these deals."""
    game = arena.game
    if is_mix(text):
        strategy = open_strategy(text, arena.rules).strategy
        assert isinstance(strategy, FixedMix)
        first, second = (mix_behaviour(game, seat, strategy.mix) for seat in (0, 1))
        return Model((first, second))
    if game.states is not None:
        plans = known_plans(make_player(player_text(text), arena.rules), game)
        if plans is None:
            return None
        return Model((game.behaviour(0, plans[0]), game.behaviour(1, plans[1])))
    if text in player_names() and text not in BOTS:
        return None
    try:
        stored = open_stored(text)
    except StorageError:
        if text in BOTS:
            raise
        return None
    is_glued = getattr(stored, "opening", None) is not None
    if same_game(stored.game, arena.description) and not is_glued:
        table = table_of(stored)
        first, second = (own / np.float64(table.sure) for own in table.behaviour)
        return Model((first, second))
    return _in_other_buckets(stored, arena)


def _in_other_buckets(stored: Solution | CompactStrategy, arena: Arena) -> Model | None:
    """Return the winnings from a strategy of other buckets or raises; None if it is observed.

    That is where it has not all rounds, or where its deals cannot be counted together with those
    of the responder.
    """
    description = stored.game
    if not isinstance(description, BucketDescription):
        return None
    has_all = not description.first_round and description.last_round is None
    if not has_all or description.priors is not None:
        return None
    assert isinstance(arena.description, BucketDescription)
    assert arena.buckets is not None
    if not shares_deals(arena.buckets, description.open_abstraction()):
        return None
    table = table_of(stored)
    counts = Joint.open(arena.description.joint)
    return Model(None, winnings=winnings_from(table, arena.game, arena.buckets, counts))


def player_text(text: str) -> str:
    """Return the text of a player; a folder is the solution in it."""
    name = text.partition(":")[0]
    return f"solution:{text}" if name not in player_names() and os.path.isdir(text) else text


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """A counter-strategy: what it wins from the model, and what it can lose at most."""

    arena: Arena
    opponent: Opponent
    seats: Seats
    outcome: Outcome
    folder: Path | None = None
    certificate: Evaluation = field(init=False)
    wins: Expectation = field(init=False)  # against the target, or its model if that is all
    model_wins: Expectation = field(init=False)

    def __post_init__(self) -> None:
        rules, truth = self.arena.rules, self.opponent.truth
        found = Expectation(self.seats.winnings(self.opponent.model), rules)
        real = found if truth is None else Expectation(self.seats.winnings(truth), rules)
        object.__setattr__(self, "certificate", self.seats.evaluation())
        object.__setattr__(self, "wins", real)
        object.__setattr__(self, "model_wins", found)

    @property
    def p(self) -> float:
        """Return the trust in the model."""
        return self.seats.method.p

    @property
    def win(self) -> float:
        """Return what it wins, the mean of both seats, in `unit`.

        It is what it wins from the target if its strategy is known, else from the model of it.
        """
        return self.wins.win_rate()[0]

    @property
    def exploitability(self) -> float:
        """Return what it can lose at most, the mean of both seats, in `unit`."""
        return self.certificate.exploitability / chips_of_unit(self.arena.rules, self.unit)[1]

    @property
    def unit(self) -> str:
        """Return the unit: mbb/g, or chips in games without a big blind."""
        return self.wins.win_rate()[1]

    def row(self) -> dict[str, Any]:
        """Return the response as a row: win and exploitability, as they were computed."""
        size = chips_of_unit(self.arena.rules, self.unit)[1]
        return {
            "method": self.seats.method.name,
            **self.seats.method.settings,
            "win": self.win,
            "win_model": self.model_wins.win_rate()[0],
            "win_seats": [won / size for won in self.wins.seats],
            "exploitability": self.exploitability,
            "best_response": [won / size for won in self.certificate.best_response],
            "gap": None if self.seats.gap is None else self.seats.gap / size,
            "unit": self.unit,
            "iterations": self.seats.iterations,
            "seconds": round(self.seats.seconds, 3),
            "out": None if self.folder is None else str(self.folder),
        }

    def __repr__(self) -> str:
        return (
            f"<{self.seats.method.name} to {self.opponent.name} in {self.arena.game.name}: wins "
            f"{self.win:.4g} {self.unit}, exploitability {self.exploitability:.4g}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Responses:
    """Counter-strategies to one opponent: a curve of exploitation against exploitability."""

    points: tuple[Response, ...]

    def __getitem__(self, number: int) -> Response:
        return self.points[number]

    def __len__(self) -> int:
        return len(self.points)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per response."""
        return [point.row() for point in self.points]

    def mixtures(self, number: int = 17) -> list[dict[str, Any]]:
        """Return win and exploitability of mixtures of the first and the last response, as rows.

        They start with one of the two and end with the other. A restricted Nash response that wins
        as much as a mixture of an equilibrium and a best response loses less to others.
        """
        first, last = self.points[0].seats, self.points[-1].seats
        size = chips_of_unit(self.points[0].arena.rules, self.points[0].unit)[1]
        wins = [self.points[end].wins.mean for end in (0, -1)]
        pairs, found = list(zip(first.plans, last.plans, strict=True)), []
        for weight in np.linspace(0, 1, number).tolist():
            one, two = ((1 - weight) * start + weight * end for start, end in pairs)
            win = (1 - weight) * wins[0] + weight * wins[1]
            lost = evaluate(first.game, (one, two)).exploitability
            found.append({"weight": weight, "win": win / size, "exploitability": lost / size})
        return found

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def plot(self, path: str | Path) -> Path:
        """Draw what is won against what can be lost into a picture; needs the extra `plot`."""
        from equilibrist.display.exploitation import draw_exploitation
        from equilibrist.display.picture import check_plot

        check_plot(Path(path))
        mixtures = self.mixtures() if len(self) > 1 else ()
        draw_exploitation(self.rows(), self.points[0].opponent.name, Path(path), mixtures)
        return Path(path)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.points))

    def _repr_html_(self) -> str:
        rows = [(str(p.p), f"{p.win:.4g}", f"{p.exploitability:.4g}") for p in self.points]
        unit = self.points[0].unit
        header = ("p", f"wins, {unit}", f"exploitability, {unit}")
        return table_html(header, rows, f"responses to {self.points[0].opponent.name}")


def compute(
    arena: Arena,
    opponent: Opponent,
    method: Method,
    budget: Budget,
    folder: Path | None = None,
    view: SeatView | None = None,
) -> Response:
    """Compute one response, or continue the one in the folder, and store it there."""
    seats = Seats(arena.game, opponent.model, method, arena.dtype)
    store, outcome = None, Outcome.FINISHED
    if folder is not None:
        store = ResponseStore(folder, arena.description, opponent.settings)
    if store is None or not store.open(seats):
        save = None if store is None else store.save
        outcome = respond(seats, budget, view=view, save=save)
        if store is not None and outcome in (Outcome.FINISHED, Outcome.TARGET_REACHED):
            store.save(seats, is_finished=True)
    return Response(arena, opponent, seats, outcome, folder)


def point_folder(folder: Path | None, p: float, is_curve: bool) -> Path | None:
    """Return the folder of one response of a curve: `DIR/p-0.9`; or the folder itself."""
    if folder is None or not is_curve:
        return folder
    return folder / f"p-{np.format_float_positional(p, trim='-')}"


def counter(
    target: str | None = None,
    *,
    log: str | Path | None = None,
    player: str | None = None,
    game: str | GameRules | None = None,
    method: str = "rnr",
    p: float | Sequence[float] = 0.9,
    confidence: str = "10-curve",
    hands: int | None = None,
    hide_mucked: bool = False,
    to: str | float | None = None,
    iterations: int | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
) -> Responses:
    """Compute responses to a player, or to one that a log shows, for one or more values of `p`.

    `target` is a player or a stored strategy; or `player` is the name of one in `log`. `method` is
    rnr, dbr or fbr. `game` is an exact game, or a bot or folder in whose buckets the response is
    computed (default: that of the target). Players that are no table of the game are observed for
    `hands` hands. Each response ends at the exploitability `to` of its own game, or after
    `iterations`.

    Example:
        >>> found = counter("mix:0.3,0.5,0.2", game="kuhn", p=[0, 0.5, 1])
        >>> [round(point.win, 2) for point in found], round(found[0].exploitability, 2)
        ([0.16, 0.26, 0.33], 0.0)
    """
    arena = (
        Arena.exact(game) if isinstance(game, GameRules) else Arena.open(game_of(target, log, game))
    )
    shares = [float(p)] if isinstance(p, int | float) else list(map(float, p))
    methods = [Method(method, share, confidence) for share in shares]
    budget = Budget(iterations, arena.goal(to).chips)
    budget.check()
    if log is not None:
        opponent = Opponent.of_log(log, player, arena, hide_mucked)
    else:
        assert target is not None
        opponent = Opponent.of_player(target, arena, hands, seed)
    place = None if folder is None else Path(folder)
    return Responses(
        tuple(
            compute(arena, opponent, own, budget, point_folder(place, own.p, len(methods) > 1))
            for own in methods
        )
    )


def game_of(target: str | None, log: str | Path | None, game: str | None) -> str:
    """Return the text of the game of a response: as given, or that of the target or log."""
    if (target is None) == (log is None):
        raise InvalidValueError("give either a target or a log of hands", value=target)
    if game is not None:
        return game
    if log is not None:
        name = LogFile(log).rules.name
        if name not in game_names():
            raise InvalidValueError(
                f"{log} names no game of the catalogue: give the game of the response, a bot such "
                "as smallbot in whose buckets it is computed",
                value=str(log),
            )
        return name
    assert target is not None
    if is_mix(target) or (target in player_names() and target not in BOTS):
        raise InvalidValueError(
            f"give the game of the response to {target}: an exact game such as leduc, or a bot "
            "such as smallbot in whose buckets it is computed",
            value=target,
        )
    return target.removeprefix("solution:")
