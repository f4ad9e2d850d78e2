"""The functions behind `import equilibrist as eq`: text in, results with their proofs out.

Each function puts together what the rooms below provide, as the commands of the same name do, and
prints nothing. Boards, ranges and bet sizes are text; amounts are chips or, in spots, text such as
5.5bb.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from equilibrist.bots.open import open_strategy
from equilibrist.bots.train import TrainedBot, TrainedBuckets, TrainingOptions
from equilibrist.bots.train import train as train_bot
from equilibrist.cards.card import parse_cards
from equilibrist.cards.equity import Equity
from equilibrist.cards.equity import equity as card_equity
from equilibrist.display.grid import grid_text
from equilibrist.display.notebook import curve_svg, data_frame, grid_html, table_html
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.real_game import run as responding
from equilibrist.evaluation.real_game.response import is_holdem
from equilibrist.games.bet_menu import BetMenu, MenuTexts
from equilibrist.games.catalog import get_game, load_game
from equilibrist.games.rules import GameRules
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.money import CHIPS, Given
from equilibrist.models.spot import Chips, Spot
from equilibrist.play.match import Match, MatchSettings
from equilibrist.play.match_run import play_as_set
from equilibrist.players.catalog import make_player
from equilibrist.players.own_player import as_player
from equilibrist.solving.best_response import evaluate
from equilibrist.solving.flop_study import FlopStudy, flop_list, sample_flop
from equilibrist.solving.forecast import SpotForecast, spot_forecast
from equilibrist.solving.lean_cfr import DEFAULT_METHOD
from equilibrist.solving.methods import get_method
from equilibrist.solving.problem import Problem
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, Run
from equilibrist.solving.solve import solve as run_solver
from equilibrist.solving.solver import Solver
from equilibrist.solving.spot_run import USUAL_TARGET, SolvedSpot, solve_spot, spot_goal
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.solving.suggestions import Suggestion, check_fits, suggestions
from equilibrist.stopping import Stopped
from equilibrist.storage.ownership import owned
from equilibrist.storage.threads import most_threads
from equilibrist.strategies.behaviour_table import BehaviourTable, behaviour_table
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.evaluation import Evaluation, PotShares
from equilibrist.strategies.flop_report import FlopReport
from equilibrist.strategies.solution import RAKED_COLUMNS
from equilibrist.strategies.spot_report import Answers, NodeReport

if TYPE_CHECKING:
    from equilibrist.players.player import Player

_T = TypeVar("_T")
_GAME_MENU = BetMenu()  # all actions of the rules
_USUAL_CHIPS = 1e-3  # target exploitability of games in chips


def _as(kind: type[_T], found: Any) -> _T:
    """Return a result of a lower layer as its subclass here, which notebooks can display."""
    return kind(**{field.name: getattr(found, field.name) for field in fields(found)})


@dataclass(frozen=True, repr=False)
class EquityResult(Equity):
    """The equity of one side against another, with a table for notebooks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per result: win, tie and loss, with its count and its share of all."""
        counts = {"win": self.wins, "tie": self.ties, "loss": self.losses}
        return [
            {"result": name, "count": count, "share": count / self.total}
            for name, count in counts.items()
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def __repr__(self) -> str:
        error = "" if self.standard_error is None else f" ± {100 * self.standard_error:.2g}"
        return (
            f"<equity {100 * self.equity:.4g}{error} %: {self.wins:,.15g} wins, "
            f"{self.ties:,.15g} ties, {self.losses:,.15g} losses, "
            f"{'exact' if self.exact else 'sampled'}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (row["result"], f"{row['count']:,.15g}", f"{100 * row['share']:.2f} %")
            for row in self.rows()
        ]
        kind = "exact" if self.exact else "sampled"
        caption = f"equity {100 * self.equity:.2f} %, {kind}"
        return table_html(("result", "count", "share"), rows, caption)


def equity(
    first: str, second: str = "random", board: str = "", dead: str = "", **options: Any
) -> EquityResult:
    """Return the equity of a hand or range against another one, exact by default.

    Example:
        >>> equity("AhKh", "QsQd", board="2h7h9c")
        <equity 54.14 %: 536 wins, 0 ties, 454 losses, exact>
    """
    found = card_equity(first, second, parse_cards(board), parse_cards(dead), **options)
    return _as(EquityResult, found)


def _curve_rows(run: Run) -> list[dict[str, Any]]:
    """Return one row per evaluation of a run."""
    trace = run.trace_array()
    labels = RAKED_COLUMNS[1 : trace.shape[1]]
    return [
        {"iteration": int(iteration), **dict(zip(labels, numbers, strict=True))}
        for iteration, *numbers in trace.tolist()
    ]


def _run_html(title: str, run: Run, rows: Sequence[tuple[str, str]]) -> str:
    """Return a run as a small table and the curve of its exploitability."""
    points = [(float(row.iteration), row.evaluation.exploitability) for row in run.trace]
    label = f"{run.evaluation.measure}, {run.evaluation.unit}"
    return table_html((), rows, title) + curve_svg(points, "iterations", label)


@dataclass(frozen=True, eq=False, repr=False)
class SolvedGame:
    """A game that was solved: its value, exploitability, curve and strategies."""

    game: SequenceGame
    solver: Solver
    run: Run
    seed: int = 0

    @property
    def value(self) -> float:
        """Return what the player who acts first wins per hand, in `unit`."""
        return self.run.evaluation.value

    @property
    def exploitability(self) -> float:
        """Return the mean of what both best responses gain, in `unit` per hand."""
        return self.run.evaluation.exploitability

    @property
    def unit(self) -> str:
        """Return the unit of value and exploitability."""
        return self.run.evaluation.unit

    @property
    def iterations(self) -> int:
        """Return the number of iterations."""
        return int(self.run.state["iteration"])

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Return (iteration, seconds, exploitability) of each evaluation."""
        return [
            (row.iteration, row.seconds, row.evaluation.exploitability) for row in self.run.trace
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per evaluation: its iteration, seconds, exploitability and value."""
        return _curve_rows(self.run)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    @functools.cached_property
    def plans(self) -> tuple[Floats, Floats]:
        """Return the realization plans of both players."""
        return self.solver.plans(self.game, self.run.state)

    def strategy(self, node: str = "", board: str = "") -> BehaviourTable:
        """Return the probability of each action with each hand, at a node and on a board."""
        return behaviour_table(self.game, self.plans, node, board)

    def save(self, folder: str | Path) -> Path:
        """Store the solution with its proof, as `equilibrist solve --out` does."""
        dtype = getattr(self.solver, "dtype", "float64")
        description = GameDescription.of(self.game)
        Store(Path(folder), self.game, description, self.solver, self.seed, dtype).save(self.run)
        return Path(folder)

    def plot(self, path: str | Path) -> Path:
        """Draw exploitability against seconds into a picture; needs the extra `plot`."""
        from equilibrist.display.curves import draw_traces
        from equilibrist.display.picture import check_plot

        check_plot(Path(path))
        draw_traces({self.solver.name: self.run.trace_array()}, self.game, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        return (
            f"<{self.game.name} by {self.solver.name}: value {self.value:.6g} {self.unit}, "
            f"exploitability {self.exploitability:.3g} after {self.iterations:,} iterations>"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("value", f"{self.value:.6g} {self.unit}"),
            ("exploitability", f"{self.exploitability:.6g} {self.unit}"),
            ("iterations", f"{self.iterations:,}"),
            ("outcome", self.run.outcome.value),
        ]
        return _run_html(f"{self.game.name} by {self.solver.name}", self.run, rows)


def solve(
    game: str | Path | GameRules,
    *,
    method: str = "cfr+",
    to: str | float | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    menu: BetMenu = _GAME_MENU,
    seed: int = 0,
    force: bool = False,
) -> SolvedGame:
    """Solve a game exactly: to an exploitability `to`, or for iterations or seconds.

    `game` is a name of the catalogue, a file with a game definition, or rules. `to` is text such as
    "5mbb" or "0.01chips", or a number of chips; without any limit it is a thousandth of a chip.
    A game that does not fit into memory is refused, except with `force`.

    Example:
        >>> kuhn = solve("kuhn", to=1e-4)
        >>> round(kuhn.value, 3), kuhn.exploitability <= 1e-4
        (-0.056, True)
        >>> kuhn.strategy("cr").actions
        ('f', 'c')
    """
    rules = game if isinstance(game, GameRules) else load_game(game)
    problem, solver = Problem.exact(rules, menu), get_method(method)
    if to is None and iterations is None and seconds is None:
        to = _USUAL_CHIPS
    goal = problem.goal(to)
    budget = Budget(iterations, None if goal is None else goal.chips, seconds)
    budget.check()
    if not force:
        problem.forecast(methods=[method]).check(problem.name)
    model, _ = problem.build()
    run = run_solver(model, solver, budget, seed=seed)
    return SolvedGame(model, solver, run, seed)


@dataclass(frozen=True, eq=False, repr=False)
class SpotNode:
    """A decision in a solved spot: what to do with each hand, and what it is worth."""

    report: NodeReport

    @property
    def actions(self) -> tuple[str, ...]:
        """Return the actions: f, c, or r with the chips of the street."""
        return self.report.actions

    @property
    def frequencies(self) -> dict[str, float]:
        """Return how often each action is taken with all hands together."""
        return dict(zip(self.report.actions, self.report.frequencies.tolist(), strict=True))

    def grid(self, *, colour: bool = False) -> str:
        """Return the 13 × 13 grid of hand classes as text, with ANSI colours on request."""
        return grid_text(self.report, colour=colour)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per hand: its cards, weight, equity, value and action frequencies."""
        from equilibrist.cards.card import cards_name
        from equilibrist.cards.hand import hand_table

        found = self.report
        names = [cards_name(cards) for cards in hand_table()[found.hands].tolist()]
        columns = [found.weight, found.equity, found.value, *found.probabilities.T]
        labels = ("weight", "equity", "value", *found.actions)
        return [
            {"hand": name, **dict(zip(labels, map(float, numbers), strict=True))}
            for name, *numbers in zip(names, *columns, strict=True)
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def __repr__(self) -> str:
        often = ", ".join(f"{name} {100 * p:.1f} %" for name, p in self.frequencies.items())
        return f"<{self.report.board} {self.report.node or 'first decision'}: {often}>"

    def _repr_html_(self) -> str:
        return grid_html(self.report)


@dataclass(frozen=True, eq=False, repr=False)
class SpotSolution:
    """A solved spot: its exploitability, and an answer at every node."""

    solved: SolvedSpot
    answers: Answers

    @property
    def evaluation(self) -> Evaluation:
        """Return the value and both best responses, net of both halves of the pot."""
        return self.solved.run.evaluation

    @property
    def shares(self) -> PotShares:
        """Return what each seat expects of the pot; both values and a rake sum to the pot."""
        return self.solved.shares

    @property
    def exploitability(self) -> float:
        """Return the mean of what both best responses gain, in the unit of the spot."""
        return self.evaluation.exploitability

    @property
    def percent_of_pot(self) -> float:
        """Return the exploitability in per cent of the pot at the beginning."""
        return self.shares.percent_of_pot

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per evaluation; values are net of both halves of the pot."""
        return _curve_rows(self.solved.run)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def at(self, node: str = "", runout: str = "") -> SpotNode:
        """Return a decision by the betting since the board, and the cards dealt since."""
        return SpotNode(self.answers.at(node, runout))

    def save(self, folder: str | Path) -> Path:
        """Store the solved spot, as `equilibrist spot --out` does."""
        self.solved.save(folder)
        return Path(folder)

    def __repr__(self) -> str:
        spot, iterations = self.solved.spot, int(self.solved.run.state["iteration"])
        return (
            f"<spot on {spot.board}: {self.evaluation.measure} {self.percent_of_pot:.3g} % of the "
            f"pot after {iterations:,} iterations>"
        )

    def _repr_html_(self) -> str:
        spot, shares, unit = self.solved.spot, self.shares, self.evaluation.unit
        (first, second), pot = shares.values, f"of {shares.pot} {unit}"
        rows = [
            (self.evaluation.measure, f"{self.exploitability:.4g} {unit}"),
            ("of the pot", f"{self.percent_of_pot:.3g} %"),
            ("out of position expects", f"{first:.4g} {pot}"),
            ("in position expects", f"{second:.4g} {pot}"),
        ]
        if self.evaluation.rake is not None:
            rows.append(("the house expects", f"{self.evaluation.rake:.4g} {pot}"))
        rows.append(("iterations", f"{int(self.solved.run.state['iteration']):,}"))
        first_node = grid_html(self.at().report)
        return _run_html(f"spot on {spot.board}", self.solved.run, rows) + first_node


@dataclass(frozen=True, repr=False)
class SpotProblem:
    """A spot to be solved."""

    spot: Spot

    def forecast(self, bits: int = 32) -> SpotForecast:
        """Return the memory and time that solving needs, with numbers of 32 or 16 bits."""
        return spot_forecast(self.spot, spot_solver(DEFAULT_METHOD, bits).bits)

    def suggestions(self, bits: int = 32, available: int | None = None) -> list[Suggestion]:
        """Return smaller versions that fit into memory, cheapest cut first; none if it fits.

        `available` is the memory in bytes; default: what is free.
        """
        return suggestions(self.spot, self.forecast(bits), available)

    def solve(
        self,
        to: str | float | None = None,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        method: str = DEFAULT_METHOD,
        bits: int = 32,
        force: bool = False,
    ) -> SpotSolution:
        """Solve to an exploitability: "0.3%" of the pot (default), "0.5chips", "5mbb".

        A number is in the unit of the spot. With a rake it is the mean of both seats' gains.
        `method` is a name of `TABLE_METHODS`: log-dcfr+ (default), dcfr+, dcfr, linear-cfr, cfr+ or
        cfr.
        A spot that does not fit into memory is refused, with suggestions, except with `force`.
        """
        if to is None and iterations is None and seconds is None:
            to = USUAL_TARGET
        goal, by = spot_goal(self.spot, to), spot_solver(method, bits)
        if not force:
            check_fits(self.spot, self.forecast(bits))
        built = self.spot.build()
        budget = Budget(iterations, None if goal is None else goal.chips, seconds)
        solved = solve_spot(self.spot, by, built, budget)
        return SpotSolution(solved, solved.answers())

    def __repr__(self) -> str:
        unit = self.spot.money
        pot = f"{unit.text(self.spot.pot)}{'' if unit.name == CHIPS else ' ' + unit.name}"
        return f"<spot on {self.spot.board}, pot {pot}: not solved yet>"


def spot(
    board: str,
    oop: str,
    ip: str,
    *,
    pot: Given,
    stack: Given | Sequence[Given] | None = None,
    min_bet: Given | None = None,
    locks: Sequence[str] = (),
    rake: str | None = None,
    rake_cap: Given | None = None,
    **menu: Unpack[MenuTexts],
) -> SpotProblem:
    """Describe a no-limit spot: board, ranges of both seats, pot, chips behind, bet sizes.

    Amounts are numbers of chips, or text such as "5.5bb"; `stack` may be one for each seat.
    `min_bet` is the smallest bet, by default one chip or big blind. `rake` is the share of the pot
    that the house takes, such as "5%", and `rake_cap` the most it takes. `menu` are texts, as on
    the command line: `bets`, `raises`, `donks`, `max_raises`, `add_all_in`, `force_all_in` and
    `merge`.

    Example:
        >>> river = spot("Td9d6hQc2s", oop="AA,76s,54s", ip="KK", pot=200, stack=200, bets="a")
        >>> river.solve(to="0.01%").at().frequencies
        {'c': 0.30..., 'r200': 0.69...}
    """
    found = Spot.of(board, oop, ip, Chips(pot, stack, min_bet, rake, rake_cap), **menu)
    return SpotProblem(found.with_locks(locks))


@dataclass(frozen=True, eq=False, repr=False)
class FlopsSolution:
    """One situation solved on many flops: a row per flop, weighted means and groups."""

    report: FlopReport

    @property
    def mean(self) -> dict[str, Any]:
        """Return the weighted mean over all flops, with the columns of `rows`."""
        return self.report.mean.row()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per flop: its texture, weight, equities, EVs and action frequencies."""
        return self.report.rows()

    def groups(self, by: str) -> list[dict[str, Any]]:
        """Return the weighted mean of each group of flops: by suits, pairs or high (card)."""
        return [{by: found.name, **found.row()} for found in self.report.groups(by)]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def plot(self, path: str | Path, node: str = "") -> Path:
        """Draw the action frequencies at a node, one bar per flop; needs the extra `plot`."""
        from equilibrist.display.flops import draw_flops
        from equilibrist.display.picture import check_plot

        check_plot(Path(path))
        draw_flops(self.report, Path(path), node)
        return Path(path)

    def __repr__(self) -> str:
        found, subset = self.report.mean, self.report.subset
        return (
            f"<{len(subset.boards):,} of {subset.num_flops:,} flops: out of position expects "
            f"{found.values[0]:.4g} of {found.pot:.4g} {self.report.unit}, equity "
            f"{100 * found.equity:.2f} %>"
        )

    def _repr_html_(self) -> str:
        rows = [*self.rows(), {"flop": "mean", **self.mean}]
        names = list(rows[0])
        cells = [[_cell(row.get(name, "")) for name in names] for row in rows]
        return table_html(names, cells, str(self.report.subset))


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, eq=False, repr=False)
class FlopsProblem:
    """One situation to be solved on many flops."""

    study: FlopStudy

    def solve(
        self,
        to: str | float | None = None,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        nodes: Sequence[str] = (),
        out: str | Path | None = None,
        method: str = DEFAULT_METHOD,
        bits: int = 32,
    ) -> FlopsSolution:
        """Solve each flop to an exploitability: "0.3%" of the pot (default), "0.5chips", "5mbb".

        `nodes` are more decisions of the report, as betting on the flop. With `out`, every flop is
        stored in a folder there, and a study that was stopped continues.
        """
        if to is None and iterations is None and seconds is None:
            to = USUAL_TARGET
        study = replace(self.study, solver=spot_solver(method, bits))
        goal = spot_goal(study.spot, to)
        budget = Budget(iterations, None if goal is None else goal.chips, seconds)
        study.check_memory()
        place = None if out is None else Path(out)
        with owned(place):
            if place is not None:
                study.open_or_start(place)
            return FlopsSolution(study.run(budget, nodes=nodes, out=place))

    def __repr__(self) -> str:
        return f"<{self.study.subset}; not solved yet>"


def flops(
    oop: str,
    ip: str,
    *,
    pot: Given,
    stack: Given | Sequence[Given] | None = None,
    flops: int | str | Path = 10,
    min_bet: Given | None = None,
    locks: Sequence[str] = (),
    rake: str | None = None,
    rake_cap: Given | None = None,
    **menu: Unpack[MenuTexts],
) -> FlopsProblem:
    """Describe a no-limit situation on many flops, as `spot` does on one.

    `flops` is a number of flops that represent all, a list such as "AsKd2c:12,Td9d6h:24" with the
    number of flops that each stands for, or a .txt or .csv file with such a list. The equities of
    all flops are computed at once, which takes seconds.
    """
    text = flop_list(flops)
    board = sample_flop(text, (oop, ip))
    found = Spot.of(board, oop, ip, Chips(pot, stack, min_bet, rake, rake_cap), **menu)
    solver = spot_solver(DEFAULT_METHOD, 32)
    return FlopsProblem(FlopStudy.of(found.with_locks(locks), solver, text))


def train(bot: str, folder: str | Path | None = None, **options: Any) -> TrainedBot:
    """Train a bot, or continue its training; `options` are those of `TrainingOptions`."""
    place = None if folder is None else Path(folder)
    return train_bot(bot, place, options=TrainingOptions(**options))


def exploitability(
    strategy: str | TrainedBot | SolvedGame,
    *,
    real_game: bool = False,
    flops: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> float:
    """Return the exploitability of a strategy: in its own game, or in limit hold'em itself.

    A solved game and a trained bot have the exploitability in their own model, in its unit. With
    `real_game` the best opponent knows all cards and all raises, and the result is in mbb/g; with
    `flops` it is an estimate from a stratified sample.
    """
    if not real_game:
        return _own_exploitability(strategy)
    if isinstance(strategy, SolvedGame):
        raise InvalidValueError("a solved game is its own real game: leave real_game out")
    if isinstance(strategy, TrainedBot):
        strategy = strategy.player.removeprefix("solution:")
    named = open_strategy(strategy)
    rules = named.strategy.tree.rules
    if not is_holdem(rules):
        return responding.reference_exploited(named).exploitability
    responses = responding.responses_to(named)
    run = responding.open_or_start(named, responses, None)
    chosen = responding.stratified(run.flops, flops, seed)
    responding.run_flops(run, responses, chosen, threads=threads or most_threads())
    return responding.exploited(run, responses).exploitability


def _own_exploitability(strategy: str | TrainedBot | SolvedGame) -> float:
    """Return the exploitability of a strategy in the game that it was computed in."""
    if isinstance(strategy, SolvedGame):
        return evaluate(strategy.game, strategy.plans).exploitability
    if isinstance(strategy, TrainedBuckets):
        return max(model.run.evaluation.exploitability for model in strategy.models)
    if isinstance(strategy, TrainedBot):
        name = strategy.bot.name
        raise InvalidValueError(f"{name} has no model of its own to be measured in", value=name)
    raise InvalidValueError(
        "a name is measured in the real game: add real_game=True", value=strategy
    )


@dataclass(frozen=True, eq=False, repr=False)
class PlayedMatch(Match):
    """The result of a match, with a table for notebooks."""

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per hand: run (1: seats exchanged), deal, chips of the first player."""
        return [
            {"run": run, "deal": deal, "chips": chips}
            for run, won in enumerate(self.chips.tolist())
            for deal, chips in enumerate(won)
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; needs pandas."""
        return data_frame(self.rows())

    def plot(self, path: str | Path) -> Path:
        """Draw the first player's cumulative winnings into a picture; needs the extra `plot`."""
        from equilibrist.display.picture import check_plot
        from equilibrist.display.winnings import draw_winnings

        check_plot(Path(path))
        draw_winnings([self], self.names, Path(path))
        return Path(path)

    def _results(self) -> list[tuple[str, str]]:
        """Return the result in words: label and text."""
        first, second = self.names
        rows = [
            ("players", f"{first} against {second}"),
            ("game", self.rules.name),
            ("hands", f"{self.num_hands:,}"),
        ]
        if self.chips.shape[1] < 2:  # an interval needs two deals
            return [*rows, ("chips", f"{int(self.chips.sum()):+,}")]
        found = self.statistics()
        low, high = found.estimate.ci95
        return [
            *rows,
            ("win rate", f"{found.win_rate:.6g} {found.unit}"),
            ("95 % interval", f"{low:.6g} to {high:.6g} {found.unit}"),
            ("verdict", found.verdict),
        ]

    def __repr__(self) -> str:
        rows = dict(self._results())
        won = rows.get("win rate") or f"{rows['chips']} chips"
        return f"<{rows['players']}: {won} in {rows['hands']} hands of {rows['game']}>"

    def _repr_html_(self) -> str:
        return table_html((), self._results(), "match")


def match(
    first: str | Player | TrainedBot,
    second: str | Player | TrainedBot,
    *,
    hands: int = 1000,
    duplicate: bool = False,
    game: str | GameRules = "holdem-limit",
    seed: int = 0,
    aivat: bool = False,
) -> PlayedMatch:
    """Play a match; a player is a name, a trained bot, or an object with a method `act(view)`.

    With `aivat`, the result's `aivat` holds the win rate without luck (`play.luck`); at least one
    player must be a table, such as a mix or a stored strategy.

    Example:
        >>> found = match("always-fold", "always-raise", hands=100, duplicate=True)
        >>> found.statistics().win_rate  # mbb/g: the mean of both blinds
        -750.0
    """
    rules = game if isinstance(game, GameRules) else get_game(game)
    pair = _player(first, rules), _player(second, rules)
    settings = MatchSettings(hands=hands, duplicate=duplicate, seed=seed, aivat=aivat)
    played = play_as_set(rules, pair, settings)
    if not played.is_finished:
        raise Stopped("stopped before the end of the match", partial=played.matches[0])
    return _as(PlayedMatch, played.matches[0])


def _player(given: str | Player | TrainedBot, rules: GameRules) -> Player:
    """Return the player of a name, of a trained bot, or of an object that acts."""
    if isinstance(given, TrainedBot):
        given = given.player
    if isinstance(given, str):
        return make_player(given, rules)
    return as_player(given)
