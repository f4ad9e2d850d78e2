"""How long do exact equities take, beside eval7?

Correctness first: the 169 preflop equities must have their known checksum and each question its
known or recomputed answer. eval7 compares one hand with a range on one complete board
(`py_hand_vs_range_exact`, compiled); it has no enumeration of boards, so its time is that call
over some random boards, scaled to all calls the question needs. Each of its calls uses one thread.

Run: python benchmarks/bench_equity.py
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from harness import Report, best_seconds

from equilibrist.cards.card import card_name, parse_cards
from equilibrist.cards.equity import equity, preflop_equities, preflop_table
from equilibrist.cards.hand import hand_cards
from equilibrist.cards.range import parse_range

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # eval7 uses deprecated names of pyparsing
    import eval7

PREFLOP_SHA256 = "1a0c5131e5b36121dd587a107fa0a2453ee64a9877961769e488af5e30821624"
RANDOM = "22+," + ",".join(f"{high}2+" for high in "AKQJT9876543")
WIDE = "55+,A3s+,K7s+,Q8s+,J9s+,T9s,A9o+,KTo+,QTo+,JTo"
TIGHT = "66+,A4s+,K8s+,Q9s+,J9s+,T9s,A9o+,KTo+,QJo"
FLOP = "Td9d6h"


@dataclass
class Question:
    """A row of the table."""

    name: str
    ours: Callable[[], object]
    first: str  # what eval7 is asked, hand by hand
    second: str
    board: str = ""


def check_answers() -> None:
    wins, ties, total = preflop_equities()
    text = " ".join(map(str, [*wins.tolist(), *ties.tolist(), total]))
    assert hashlib.sha256(text.encode()).hexdigest() == PREFLOP_SHA256
    aces = equity("AhAd", "random")
    assert (aces.wins, aces.ties, aces.total) == (1_781_508_418, 11_402_312, 2_097_572_400)
    race = equity("AKs", "QQ")
    assert (race.wins, race.ties, race.losses) == (18_834_720, 178_116, 22_082_460)
    table = preflop_table()
    assert table.total.sum() == 1326 * 1225 * math.comb(48, 5)
    # One complete board of the flop question, hand by hand with eval7.
    board = parse_cards(FLOP + "2c2s")
    first = parse_range(WIDE).without(board)
    villain, full = eval7.HandRange(TIGHT), eval7_cards(board)
    for hand in first.hands[::10]:
        theirs = eval7.py_hand_vs_range_exact(eval7_cards(hand_cards(int(hand))), villain, full)
        assert abs(theirs - equity(int(hand), TIGHT, board).equity) < 1e-6


def eval7_cards(cards: tuple[int, ...]) -> list[eval7.Card]:
    return [eval7.Card(card_name(card)) for card in cards]


def eval7_seconds(question: Question, num_calls: int = 300) -> float:
    """Return the time of all calls that the question needs, scaled from some random calls."""
    random = np.random.default_rng(1)
    fixed = parse_cards(question.board)
    villain = eval7.HandRange(question.second)
    hands = parse_range(question.first).without(fixed).hands
    calls = []
    for hand in random.choice(hands, num_calls):
        mine = hand_cards(int(hand))
        deck = [card for card in range(52) if card not in (*fixed, *mine)]
        rest = random.choice(deck, 5 - len(fixed), replace=False)
        calls.append((eval7_cards(mine), eval7_cards((*fixed, *map(int, rest)))))
    start = time.perf_counter()
    for mine_cards, board in calls:
        with contextlib.suppress(ZeroDivisionError):  # the board blocks the whole range
            eval7.py_hand_vs_range_exact(mine_cards, villain, board)
    seconds_per_call = (time.perf_counter() - start) / num_calls
    num_boards = math.comb(50 - len(fixed), 5 - len(fixed))
    return seconds_per_call * num_boards * len(hands)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    warnings.simplefilter("ignore")
    check_answers()
    flop = parse_cards(FLOP)
    questions = [
        Question("AhAd against random", lambda: equity("AhAd", "random"), "AhAd", RANDOM),
        Question("AhKh against QsQd", lambda: equity("AhKh", "QsQd"), "AhKh", "QsQd"),
        Question("AKs against QQ", lambda: equity("AKs", "QQ"), "AKs", "QQ"),
        Question(
            f"22 % against 19 % on {FLOP}",
            lambda: equity(WIDE, TIGHT, flop),
            WIDE,
            TIGHT,
            FLOP,
        ),
        Question("22 % against 19 % preflop", lambda: equity(WIDE, TIGHT), WIDE, TIGHT),
    ]
    report = Report("exact equities, all cores")
    # The time of eval7 for one hand against all others hardly depends on the hand.
    random_hand = Question("", preflop_equities, "AsAh", RANDOM)
    rival, unit = "eval7, scaled", "s"
    seconds = 169 * eval7_seconds(random_hand)
    report.row("169 preflop equities", best_seconds(preflop_equities), rival, seconds, unit)
    for question in questions:
        ours = best_seconds(question.ours)
        report.row(question.name, ours, rival, eval7_seconds(question), unit)
    ours = best_seconds(preflop_table.__wrapped__, repeats=1)
    report.row("169 × 169 preflop table", ours, rival, 1326 * eval7_seconds(random_hand), unit)


if __name__ == "__main__":
    main()
