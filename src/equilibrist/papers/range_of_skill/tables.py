"""The tables of Range of Skill: best responses to SmallBot2298, and matches of BigBot2298.

Zinkevich, Bowling and Burch, "A New Algorithm for Generating Equilibria in Massive Zero-Sum Games"
(2007). Table 1: small bets per hand that a best response wins in each seat from a strategy with
five buckets per round and caps 2 3 3 3. The responder has the same buckets or ten per round, and
the same raises or all of them; in the latter case the strategy plays by BigBot2298's rule
(`strategies.raise_cap_rule`). Table 2: small bets per hand that BigBot2298 and the programs of the
2006 competition win from each other, 20,000 deals played twice. The paper also gives the number of
rounds that the range of skill takes to reach 0.01 sb/h: 298.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.joint_counts import Joint
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.rules import GameRules
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.papers.rows import PaperRow, ReportProgress, match_row
from equilibrist.phases import phase
from equilibrist.solving.refined_response import refined_responses

FINER = (10, 100, 1_000, 10_000)  # numbers of the finer buckets of Table 1
# Winnings of the best response as dealer, as big blind and on average, sb/h, by (finer buckets?,
# all raises?). The last average is as printed; the average of its seats is 0.0690.
PUBLISHED = {
    (False, False): (0.0936, -0.0725, 0.0106),
    (False, True): (0.1150, -0.0620, 0.0265),
    (True, False): (0.1377, -0.0322, 0.0528),
    (True, True): (0.1584, -0.0204, 0.0648),
}
# Table 2: win rate of the first program against the second, and its ±, sb/h.
CROSS_TABLE = {
    ("BigBot2298", "Hyperborean"): (0.061, 0.015),
    ("BigBot2298", "Bluffbot"): (0.113, 0.011),
    ("BigBot2298", "Monash-BPP"): (0.695, 0.015),
    ("BigBot2298", "Teddy"): (0.474, 0.023),
    ("Hyperborean", "Bluffbot"): (0.051, 0.017),
    ("Hyperborean", "Monash-BPP"): (0.723, 0.016),
    ("Hyperborean", "Teddy"): (0.407, 0.025),
    ("Bluffbot", "Monash-BPP"): (0.527, 0.020),
    ("Bluffbot", "Teddy"): (-0.190, 0.043),
    ("Monash-BPP", "Teddy"): (1.168, 0.043),
}
STAND_INS = {"Monash-BPP": "monash", "Teddy": "teddy"}  # based on public information about them
BASELINES = "always-fold", "always-call", "always-raise", "uniform", "poki", "anti-poki"
_NEAR = 5e-4  # exploitabilities that differ by less than this count as equal, sb/h
ROUNDS, ROUNDS_TO = 298, 0.01  # rounds of the range of skill, and the exploitability reached, sb/h


@dataclass(frozen=True)
class Column:
    """One column of Table 1: winnings of a best response, in small bets per hand."""

    is_finer: bool  # whether the responder has the finer buckets
    has_all_raises: bool
    dealer: float  # won as dealer, from the strategy as big blind
    big_blind: float

    @property
    def average(self) -> float:
        """Average winnings over both seats."""
        return (self.dealer + self.big_blind) / 2

    @property
    def published(self) -> tuple[float, float, float]:
        """The paper's numbers: dealer, big blind, average."""
        return PUBLISHED[self.is_finer, self.has_all_raises]


@phase("best responses in both seats")
def table_column(
    game: SequenceGame,
    plans: tuple[Floats, Floats],
    buckets: Abstraction,
    counts: Joint,
    finer: Abstraction | None = None,
    *,
    has_all_raises: bool,
) -> Column:
    """Compute best responses in both seats to plans of a bucket `game`.

    `counts` are the joint counts of the strategy's `buckets` with the responder's, which are
    `finer` if given.
    """
    assert game.betting is not None
    menu = BetMenu() if has_all_raises else game.betting.menu
    won = refined_responses(game, plans, buckets, counts, finer, menu)
    small_bet = buckets.rules.raise_sizes[0]
    return Column(finer is not None, has_all_raises, won[1] / small_bet, won[0] / small_bet)


def column_rows(bot: str, column: Column, *, is_sample: bool = False) -> Iterator[PaperRow]:
    """Yield the rows of a column of Table 1: dealer, big blind, average."""
    buckets = "10 buckets" if column.is_finer else "5 buckets"
    raises = "all raises" if column.has_all_raises else "2 3 3 3"
    how = ", from a sample" if is_sample else ""
    found = column.dealer, column.big_blind, column.average
    seats = "as dealer", "as big blind", "average"
    for seat, paper, ours in zip(seats, column.published, found, strict=True):
        yield PaperRow("1", f"{bot}: {buckets}, {raises}, {seat}{how}", paper, ours)


def match_rows(
    rules: GameRules, bot: str, hands: int, seed: int, report: ReportProgress
) -> Iterator[PaperRow]:
    """Yield Table 2 for the opponents we have, then the bot's matches against the baselines."""
    ours = STAND_INS | {"BigBot2298": bot}
    for (one, other), (paper, _) in CROSS_TABLE.items():
        row = PaperRow("2", f"{one} – {other}", paper)
        if one in ours and other in ours:
            yield match_row(row, rules, (ours[one], ours[other]), hands, seed, report)
        else:
            yield row
    for other in BASELINES:
        row = PaperRow("baselines", f"{bot} – {other}")
        yield match_row(row, rules, (bot, other), hands, seed, report)


def round_rows(trace: NDArray[np.float64], small_bet: float) -> Iterator[PaperRow]:
    """Yield ε after each round of the range of skill, from the trace of its solution.

    `trace` has rows (iteration, seconds, exploitability in chips, …).
    """
    for number, exploitability in zip(trace[:, 0], trace[:, 2] / small_bet, strict=True):
        yield PaperRow("rounds", f"ε after round {number:.0f}", None, float(exploitability))
    below = trace[trace[:, 2] / small_bet <= ROUNDS_TO, 0]
    reached = float(below[0]) if len(below) else None
    yield PaperRow(
        "rounds",
        f"rounds to {ROUNDS_TO:g} sb/h",
        float(ROUNDS),
        reached,
        "rounds",
        missing="not reached",
    )


def differences(columns: dict[str, list[Column]]) -> list[str]:
    """Explain the differences from the paper, one sentence each, for the four columns of bots."""
    published = {key: (dealer + blind) / 2 for key, (dealer, blind, _) in PUBLISHED.items()}
    notes = []
    for bot, (own, raises, buckets, both) in columns.items():
        base, paper = own.average, published[False, False]
        notes += [
            f"{bot}: 5 buckets, 2 3 3 3: its own game, in which it is exploitable for {base:.4f} "
            f"sb/h and the paper's strategy for {paper:.4f}; {_why_own(base, paper)}.",
            f"{bot}: all raises add {raises.average - base:+.4f} to that, in the paper "
            f"{published[False, True] - paper:+.4f}: the small game does not contain raises beyond "
            "its caps, and strategies that are equally good in it may be exploited more or less by "
            "them.",
            f"{bot}: 10 buckets add {buckets.average - base:+.4f}, in the paper "
            f"{published[True, False] - paper:+.4f}, and both together "
            f"{both.average - base:+.4f}, in the paper {published[True, True] - paper:+.4f}: the "
            "paper does not say how it splits hands of equal strength, so its buckets may differ.",
        ]
    printed = PUBLISHED[True, True][2]
    notes.append(
        f"The paper's last average is printed as {printed:.4f}, but the average of its two seats "
        f"is {published[True, True]:.4f}; the differences above use the latter."
    )
    return notes


def _why_own(ours: float, paper: float) -> str:
    if ours < paper - _NEAR:
        return "ours was solved further"
    return "ours was stopped there too" if ours < paper + _NEAR else "ours was solved less far"
