"""Spots: the rest of a hand from a flop, turn or river on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from equilibrist.display.grid import grid_text
from equilibrist.display.notebook import data_frame, grid_html
from equilibrist.front_door.displays import curve_rows, run_html
from equilibrist.games.bet_menu import MenuTexts
from equilibrist.models.money import CHIPS, Given
from equilibrist.models.spot import Chips, Spot
from equilibrist.solving.devices import choose_device, gpu_room
from equilibrist.solving.forecast import SpotForecast, count_states, spot_forecast
from equilibrist.solving.lean_cfr import DEFAULT_METHOD
from equilibrist.solving.solve import Budget
from equilibrist.solving.spot_run import USUAL_TARGET, SolvedSpot, solve_spot, spot_goal
from equilibrist.solving.spot_run import solver as spot_solver
from equilibrist.solving.suggestions import Suggestion, check_fits, suggestions
from equilibrist.strategies.evaluation import Evaluation, PotShares
from equilibrist.strategies.spot_report import Answers, NodeReport


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
        return curve_rows(self.solved.run)

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
        return run_html(f"spot on {spot.board}", self.solved.run, rows) + first_node


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
        device: str = "cpu",
        force: bool = False,
    ) -> SpotSolution:
        """Solve to an exploitability: "0.3%" of the pot (default), "0.5chips", "5mbb".

        A number is in the unit of the spot. With a rake it is the mean of both seats' gains.
        `method` is a name of `TABLE_METHODS`: log-dcfr+ (default), dcfr+, dcfr, linear-cfr, cfr+ or
        cfr.
        `device` is cpu, gpu, or auto: the GPU if there is one.
        A spot that does not fit into memory is refused, with suggestions, except with `force`.
        """
        if to is None and iterations is None and seconds is None:
            to = USUAL_TARGET
        goal, by = spot_goal(self.spot, to), spot_solver(method, bits)
        needed = self.forecast(bits)

        def check_gpu() -> None:
            if not force:  # the GPU has one list of hands for both seats
                on_gpu = spot_forecast(self.spot, bits, count_states(self.spot.states))
                check_fits(self.spot, on_gpu, available=gpu_room())

        chosen = choose_device(device, check_gpu)
        if chosen.name == "cpu" and not force:
            check_fits(self.spot, needed)
        built = self.spot.build().on(chosen.name)
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
