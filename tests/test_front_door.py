"""The names of `import equilibrist as eq`, used as their documentation shows."""

import subprocess
import sys

import pytest

import equilibrist as eq
from equilibrist.errors import EquilibristError, InvalidValueError
from equilibrist.games.action import CALL


def test_every_public_name_is_there_and_listed():
    assert set(eq.__all__) <= set(dir(eq))
    for name in eq.__all__:
        assert getattr(eq, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = eq.nonsense


def test_importing_the_package_loads_nothing_heavy():
    heavy = "numpy", "numba", "scipy"
    program = f"import sys, equilibrist; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_a_game_is_solved_asked_saved_and_opened_again(tmp_path):
    leduc = eq.solve("leduc", to=0.01)
    assert leduc.value == pytest.approx(-0.0856, abs=0.02)  # -0.085606 exactly
    assert leduc.exploitability <= 0.01
    assert eq.exploitability(leduc) == pytest.approx(leduc.exploitability, rel=1e-9)
    assert leduc.curve[-1][2] == leduc.exploitability
    table = leduc.strategy("cc/r", board="Ks")
    assert table.actions == ("f", "c", "r")
    assert table.probabilities.sum(axis=1) == pytest.approx(1)
    assert "exploitability" in repr(leduc)
    folder = leduc.save(tmp_path / "leduc")
    assert eq.Solution.load(folder).certificate.value == leduc.value


def test_a_spot_is_solved_and_shown():
    river = eq.spot("Td9d6hQc2s", oop="AA,76s,54s", ip="KK", pot=200, stack=200, bets="a")
    found = river.solve(to="0.02%")
    assert found.percent_of_pot <= 0.02
    first = found.at()
    # Six aces and three of seven bluffs bet; the pot is split 9 to 13 (a known answer).
    assert first.frequencies["r200"] == pytest.approx(9 / 13, abs=0.01)
    grid = first.grid().splitlines()
    assert len(grid) == 14
    assert max(map(len, grid)) <= 80
    rows = first.rows()
    assert len(rows) == len(first.report.hands)
    assert all(row["c"] + row["r200"] == pytest.approx(1) for row in rows)
    with pytest.raises(InvalidValueError, match="a number with a unit, such as 5mbb"):
        river.solve(to="much")


def test_a_spot_has_the_menus_of_the_command_and_says_what_would_fit(monkeypatch):
    menu = {"bets": "50%,a", "raises": "3x", "donks": "33%", "max_raises": "2"}
    turn = eq.spot("Td9d6hQc", oop="AA,T9s", ip="KK", pot=60, stack=200, min_bet=10, **menu)
    assert turn.spot.donks == "33%"
    assert turn.spot.game.big_blind == 10
    needed = turn.forecast()
    assert turn.suggestions() == []
    (first, *_) = turn.suggestions(available=needed.bytes - 1)
    assert (dict(first.changes), first.bytes) == ({"bits": 16}, turn.forecast(bits=16).bytes)
    monkeypatch.setattr("equilibrist.solving.suggestions.available_bytes", lambda: 1000)
    with pytest.raises(InvalidValueError, match="are free: even max_raises='1' bets='a' bits=16"):
        turn.solve(iterations=1)
    assert turn.solve(iterations=1, force=True).exploitability > 0
    with pytest.raises(TypeError, match="nonsense"):
        eq.spot("Td9d6hQc", oop="AA", ip="KK", pot=60, stack=200, nonsense="33%")


def test_a_spot_has_a_rake_two_stacks_and_big_blinds():
    given = {"oop": "AA,76s,54s", "ip": "KK", "bets": "a", "rake": "5%", "rake_cap": "0.2bb"}
    problem = eq.spot("Td9d6hQc2s", pot="5.5bb", stack=("97.25bb", "40bb"), **given)
    assert repr(problem) == "<spot on Td9d6hQc2s, pot 5.5 bb: not solved yet>"
    found = problem.solve(to="5mbb")
    assert found.evaluation.unit == "bb"
    assert found.exploitability <= 0.005
    assert sum(found.shares.values) == pytest.approx(5.3, abs=1e-4)  # the cap is always reached
    assert sum(found.shares.gains) == pytest.approx(2 * found.exploitability)
    assert found.at().actions == ("c", "r40")
    assert found.rows()[-1]["rake"] == found.evaluation.rake
    assert "mean gain by deviating" in found._repr_html_()
    assert "mean gain by deviating" in repr(found)
    odd = eq.spot("Td9d6hQc2s", oop="AA", ip="KK", pot=45, stack=22.5, bets="a")
    assert odd.solve(iterations=1).at().actions == ("c", "r22.5")


def test_flops_are_solved_and_reported(tmp_path):
    study = eq.flops(
        "AA,76s", "KK", pot=20, stack=20, flops="AsKd2c:12,Td9d6h:24", bets="a / a / a"
    )
    assert "2 of 1,754 flops" in repr(study)  # three kings leave no pair of kings
    found = study.solve(iterations=2, nodes=["c"], out=tmp_path / "study")
    rows = found.rows()
    assert {row["flop"] for row in rows} == {"AsKd2c", "Td9d6h"}
    assert found.mean["ev_oop"] + found.mean["ev_ip"] == pytest.approx(20)
    assert {group["high"] for group in found.groups("high")} == {"A", "T"}
    assert study.solve(iterations=2, nodes=["c"], out=tmp_path / "study").rows() == rows
    assert "of 20 chips" in repr(found)
    assert "<td>AsKd2c</td>" in found._repr_html_()
    with pytest.raises(InvalidValueError, match="no node 'r20'; it has '', 'c'"):
        found.plot(tmp_path / "flops.png", "r20")


def test_a_class_with_one_method_plays():
    class Caller:
        def act(self, view):
            return CALL

    found = eq.match(Caller(), "always-call", hands=200, duplicate=True, seed=3)
    assert found.names == ("Caller", "always-call")
    assert found.statistics().win_rate == 0  # both do the same with the same cards
    with pytest.raises(EquilibristError, match="act"):
        eq.match(object(), "always-call", hands=2)


def test_the_winnings_of_a_match_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    found = eq.match("always-fold", "always-raise", hands=20)
    assert found.plot(tmp_path / "match.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(EquilibristError, match="its folder does not exist"):
        found.plot(tmp_path / "none" / "match.png")


def test_equity_takes_text_boards():
    assert eq.equity("AhKh", "QsQd", board="2h7h9c").wins == 536
    with pytest.raises(EquilibristError):
        eq.equity("AhKh", "QsQd", board="2h7h9")


def test_the_package_runs_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "equilibrist", "games", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"kuhn"' in found.stdout
