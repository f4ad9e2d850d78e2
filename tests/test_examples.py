"""The examples as their reader runs them."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from equilibrist.solving.best_response import evaluate
from equilibrist.strategies.quantized import SURE, CompactStrategy
from equilibrist.strategies.solution import Solution, game_of

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
def test_the_demo_trains_plays_and_continues_from_what_is_there(tmp_path, monkeypatch, capsys):
    """The demo plays fewer hands here than with `make demo`."""
    monkeypatch.chdir(tmp_path)
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    hands = demo["HANDS"]
    hands.update(dict.fromkeys(hands, 1_000))
    demo["main"]()
    text = capsys.readouterr().out
    solution = Solution.load("bots/smallbot-quick/solution")
    assert solution.certificate.exploitability <= 0.05  # chips, of 10 a big blind: 5 mbb/g
    assert text.count("1,000 duplicate hands") == len(hands) == 3
    assert "the deals of 40,000 sampled boards, not in the real game" in text
    assert "play smallbot-quick" in text
    assert "exploit bots/smallbot-quick/solution" in text
    for row in solution.trace:
        assert f"{int(row[0]):,}" in text

    # What it plays is as exploitable as what was proved.
    game, found = game_of(solution), CompactStrategy.open("bots/smallbot-quick/strategy")
    first, second = (game.realize(p, found.probabilities[p] / np.float64(SURE)) for p in (0, 1))
    change = evaluate(game, (first, second)).exploitability - solution.certificate.exploitability
    assert abs(change) < 0.0005  # 0.05 mbb/g

    demo["main"]()
    assert Solution.load("bots/smallbot-quick/solution").iterations == solution.iterations
