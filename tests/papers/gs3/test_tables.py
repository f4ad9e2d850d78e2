"""Tests of GS3's model, in which all methods find the same value, and of its tables."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from equilibrist.abstraction.joint_counts import sampled_joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots.bot import Bot
from equilibrist.bots.registry import BOTS
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.models.bucketed import bucket_game
from equilibrist.papers.gs3 import tables
from equilibrist.solving.methods import get_method
from equilibrist.solving.solve import Budget, solve


@pytest.mark.slow
def test_three_methods_agree_with_two_buckets_per_round() -> None:
    """Compare methods on GS3's betting with few enough buckets for the LP: 2-4-8-16."""
    buckets = build("potential-aware", get_game("holdem-limit"), [2, 4, 8, 16])
    counts = sampled_joint(buckets, num_boards=4_000)
    game = bucket_game(buckets, counts, BetMenu.parse(None, None, "3 3 3 3"))
    exact = solve(game, get_method("lp"), Budget(iterations=1)).evaluation
    assert exact.exploitability < 1e-6
    for method, exploitability in (("cfr+", 0.01), ("egt", 0.1)):  # chips: 1 and 10 mbb/g
        found = solve(game, get_method(method), Budget(target=exploitability)).evaluation
        # The dealer's value against a best response, the game value, and its best response value.
        assert -found.best_response[0] - 1e-6 <= exact.value <= found.best_response[1] + 1e-6
        assert abs(found.value - exact.value) <= 2 * exploitability


def test_rows_of_table_one_without_an_opponent_are_printed_unplayed() -> None:
    rules, reported = get_game("holdem-limit"), []
    rows = list(
        tables.static_rows(
            rules,
            "always-call",
            20,
            1,
            lambda what, share: reported.append(what),
            ("gs2", "psopti2"),
        )
    )
    assert [row.name.split(" – ")[1] for row in rows] == list(tables.STATIC)
    played = {row.name.split(" – ")[1] for row in rows if row.ours is not None}
    assert played == {"Always Call", "Always Raise", "Monash-BPP", "Teddy"}
    assert all(row.hands == 20 for row in rows if row.ours is not None)
    # Both seats get the same cards and actions do not depend on them, so the result is zero.
    assert rows[0].ours == 0
    assert "always-call against always-raise" in reported


def test_finer_buckets_are_built_once_and_play_matches(
    tmp_path: Path, add_bot: Callable[[Bot], None]
) -> None:
    few = replace(BOTS["gs3-small"], game="royal-holdem", boards=800)
    add_bot(few)
    sizes = (1, 2, 4, 8), (2, 4, 8, 16)
    rows = list(tables.finer_rows(sizes, tmp_path, 0.01, 20, 1, lambda what, share: None))
    assert [row.hands for row in rows] == [None, None, 20]
    again = list(tables.finer_rows(sizes, tmp_path, 0.01, 20, 1, lambda what, share: None))
    assert again == rows
