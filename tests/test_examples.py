"""The examples as their reader runs them."""

import runpy
from pathlib import Path

import pytest

from equilibrist.strategies.strategy import Solution

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
def test_the_demo_trains_plays_and_goes_on_from_what_is_there(tmp_path, monkeypatch, capsys):
    """With fewer hands than `make demo` plays."""
    monkeypatch.chdir(tmp_path)
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    hands = demo["HANDS"]
    hands.update(dict.fromkeys(hands, 1_000))
    demo["main"]()
    text = capsys.readouterr().out
    solution = Solution.load("bots/smallbot-quick/solution")
    assert solution.certificate.exploitability <= 0.05  # chips, of 10 a big blind: 5 mbb/g
    assert text.count("1,000 duplicate hands") == len(hands) == 3
    assert "the deals of 40,000 sampled boards, not that in the real game" in text
    assert "play smallbot-quick" in text
    assert "exploit bots/smallbot-quick/solution" in text
    for row in solution.trace:
        assert f"{int(row[0]):,}" in text

    demo["main"]()
    assert Solution.load("bots/smallbot-quick/solution").iterations == solution.iterations
