"""How much do counter-strategies win, what do they cost, and how long does one take to compute?

Five parts, chosen by `--part`:

- `pareto`: responses of a curve beside mixtures of equilibrium and best response and random changes
  of them; none may win more at the same exploitability;
- `published`: equilibrium, restricted Nash response and best response to each of some targets,
  against that target and against all others (Johanson, Zinkevich and Bowling 2007, table 2);
- `data`: responses computed from 10³ to 10⁶ hands of a target, by each method;
- `portfolio`: a portfolio against a field of ten, one of which changes its strategy;
- `time`: seconds of one response in the buckets of a bot, in a process of its own.

Correctness first: before a part prints its table, winnings that are stated exactly must be those of
matches, responses must be as good as a linear program's within their gap, and the bounds must hold.

Figures are kept as JSON lines in the folder `--rows`, so a run that was stopped goes on where it
stopped. Bots (smallbot-quick, psopti1) must be trained in the folder `bots` where it runs.

Run: python benchmarks/bench_counter.py --part published --game smallbot-quick [--hands 10000]
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from harness import Report
from scipy.stats import t as student

from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.bots.registry import BOTS
from equilibrist.errors import EquilibristError
from equilibrist.front_door.counters import Arena, Opponent, compute
from equilibrist.front_door.matches import match
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.play.match import MatchSettings, run_match
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player, View
from equilibrist.players.portfolio import Portfolio
from equilibrist.solving.best_response import best_response
from equilibrist.solving.cfr import CFR
from equilibrist.solving.counter import Method, Model, Seats, respond
from equilibrist.solving.linear_program import LinearProgram
from equilibrist.solving.restricted_nash import RestrictedNash
from equilibrist.solving.solve import Budget, solve
from equilibrist.storage.artefact import read_identity
from equilibrist.storage.manifest import MANIFEST
from equilibrist.strategies.description import BucketDescription, ModelRounds
from equilibrist.strategies.solution import Solution

CURVE = (0.0, 0.3, 0.6, 0.9, 0.97, 1.0)
TARGETS = {
    "leduc": ("coarse", "mix:0.3,0.5,0.2", "always-raise", "always-call", "uniform"),
    "holdem": (
        "psopti1",
        "undertrained",
        "poki",
        "teddy",
        "monash",
        "always-raise",
        "mix:0.1,0.6,0.3",
    ),
}
WEAK = (
    "always-raise", "always-call", "uniform", "mix:0.3,0.5,0.2", "mix:0.6,0.35,0.05",
    "mix:0,0.7,0.3", "mix:0.1,0.3,0.6",
)  # fmt: skip
_MANY = 100_000  # hands from which a match needs no correction
UNDERTRAINED = 30  # iterations of an equilibrium that is far from finished


class Rows:
    """Figures by their keys, as JSON lines in a file; only missing ones are computed."""

    def __init__(self, path: Path) -> None:
        self.path, self.found = path, {}
        for line in path.read_text().splitlines() if path.exists() else ():
            key, figures = json.loads(line)
            self.found[tuple(key)] = figures

    def get(self, key: Sequence[Any], function: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of a key; compute and store them if they are missing."""
        if tuple(key) not in self.found:
            figures = function()
            with self.path.open("a") as file:
                file.write(json.dumps([list(key), figures]) + "\n")
            self.found[tuple(key)] = figures
        return self.found[tuple(key)]


class Bench:
    """What all parts need: the game, its folder of responses and rows, and the report."""

    def __init__(
        self, game: str, folder: Path, hands: int, most: int = 10**6, observed: int | None = None
    ) -> None:
        self.game, self.hands, self.most, self.observed = game, hands, most, observed
        self.folder = folder / game
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows = Rows(self.folder / "rows.jsonl")
        self._arena: Arena | None = None
        self._opponents: dict[str, Opponent] = {}

    @property
    def arena(self) -> Arena:
        """The game of the responses, opened when it is first used."""
        if self._arena is None:
            self._arena = Arena.open(self.game)
        return self._arena

    @property
    def rules(self) -> GameRules:
        """Rules of the game that is played."""
        return get_game(self.game if self.is_exact else "holdem-limit")

    @property
    def is_exact(self) -> bool:
        """Whether the game has its cards instead of buckets."""
        return self.game in ("kuhn", "leduc")

    @property
    def targets(self) -> tuple[str, ...]:
        """Players that responses are computed to; of PsOpti only what is trained."""
        found = TARGETS["leduc" if self.is_exact else "holdem"]
        return tuple(n for n in found if n != "psopti1" or BOTS[n].folder.is_dir())

    @staticmethod
    def is_table(target: str) -> bool:
        """Return whether a target is a strategy that is known; others are observed."""
        made = target in ("coarse", "undertrained", "psopti1", "equilibrium")
        return made or target.startswith(("always", "mix", "uniform"))

    def name(self, target: str) -> str:
        """Return what the command line takes for a target; some are solved here."""
        if target == "coarse":
            return str(self.coarse())
        if target == "undertrained":
            return str(self.undertrained())
        return self.equilibrium() if target == "equilibrium" else target

    def equilibrium(self) -> str:
        """Return the equilibrium of the game: the bot, or a solution by linear program."""
        if not self.is_exact:
            return self.game
        folder = self.folder / "equilibrium"
        if not (folder / MANIFEST).exists():
            compute(self.arena, self._nobody(), Method("rnr", 0), self.budget, folder)
        return str(folder)

    def coarse(self) -> Path:
        """Return the equilibrium of fewer buckets of Leduc hold'em, a PsOpti-like target."""
        buckets, counts, folder = (self.folder / f"coarse-{n}" for n in ("buckets", "counts", "x"))
        if not (folder / MANIFEST).exists():
            own = build("percentile", self.rules, [2, 4])
            own.save(buckets)
            joint(own).save(counts, {"first": read_identity(buckets).hash})
            described = BucketDescription.of(buckets, counts, BetMenu(), ModelRounds())
            game = described.build()
            run = solve(game, CFR(), Budget(iterations=2000))
            first, second = CFR().plans(game, run.state)
            Solution(
                game=described, plans=(first, second), method="cfr+", iterations=2000,
                seconds=run.seconds, certificate=run.evaluation, trace=run.trace_array(),
                settings={}, state={},
            ).save(folder)  # fmt: skip
        return folder

    def undertrained(self) -> Path:
        """Return CFR+ in the game's own buckets, stopped early: plausible, and exploitable."""
        folder = self.folder / "undertrained"
        if not (folder / MANIFEST).exists():
            solver = CFR(dtype=self.arena.dtype)
            run = solve(self.arena.game, solver, Budget(iterations=UNDERTRAINED))
            first, second = solver.plans(self.arena.game, run.state)
            Solution(
                game=self.arena.description, plans=(first, second), method="cfr+",
                iterations=UNDERTRAINED, seconds=run.seconds, certificate=run.evaluation,
                trace=run.trace_array(), settings={}, state={},
            ).save(folder)  # fmt: skip
        return folder

    def _nobody(self) -> Opponent:
        game = self.arena.game
        return Opponent("nobody", Model((game.uniform(0), game.uniform(1))))

    @property
    def budget(self) -> Budget:
        """The usual target of responses."""
        return Budget(target=self.arena.goal(None).chips, iterations=20_000)

    def opponent(self, target: str, hands: int | None = None, seed: int = 0) -> Opponent:
        """Return the model of a target: exact if it is a table and no hands are given."""
        if hands is None and not self.is_table(target):
            hands = self.observed
        return Opponent.of_player(self.name(target), self.arena, hands, seed)

    def response(self, target: str, method: Method) -> Path:
        """Return the folder of a response; compute it if it is missing."""
        word = target.replace(":", "-").replace(",", "_")
        folder = self.folder / f"{method.name}-{method.p:g}-{word}"
        if not (folder / MANIFEST).exists():
            if target not in self._opponents:
                self._opponents.clear()
                self._opponents[target] = self.opponent(target)
            compute(self.arena, self._opponents[target], method, self.budget, folder)
        return folder

    def match(self, first: str, second: str, hands: int, seed: int = 0) -> dict[str, Any]:
        """Return the win rate of a duplicate match and its standard error, in mbb/g or chips.

        Players that play slowly play fewer hands, and the luck is removed from these.
        """
        if first == second:
            return {"win": 0.0, "error": 0.0, "hands": 0, "unit": _unit(self)[1]}
        played = match(first, second, hands=hands, duplicate=True, game=self.rules, seed=seed,
                       aivat=hands < _MANY)  # fmt: skip
        found = played.statistics() if played.aivat is None else played.aivat.statistics()
        error = (found.estimate.ci95[1] - found.estimate.ci95[0]) / 3.92
        return {"win": found.win_rate, "error": error, "hands": hands, "unit": found.unit}


def player(text: str) -> str:
    """Return the text of a player; a folder is the solution in it."""
    return f"solution:{text}" if Path(text).is_dir() else text


def interval(values: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of a mean of independent values."""
    if len(values) < 2:
        return float("nan")
    return float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5)


def show(title: str, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table in the format of the documents."""
    print(f"\n{title}\n\n| " + " | ".join(header) + " |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |", flush=True)


# --- correctness ----------------------------------------------------------------------------------


def check() -> None:
    """Check responses of Leduc hold'em by a linear program, and exact winnings by a match."""
    bench = Bench("leduc", Path(tempfile.mkdtemp()), 0)
    found = bench.opponent("coarse")
    folder = bench.folder / "checked"
    response = compute(bench.arena, found, Method("rnr", 0.8), bench.budget, folder)
    game, short = bench.arena.game, []
    for seat, plan in enumerate(response.seats.plans):
        won = found.model.wins(game, seat)
        best = LinearProgram().solve(RestrictedNash.against(game, 1 - seat, won, 0.8)).plans[seat]
        short.append(worth(game, seat, best, won, 0.8) - worth(game, seat, plan, won, 0.8))
    gap = response.seats.gap
    assert gap is not None
    assert -1e-9 <= np.mean(short) <= gap, (short, gap)
    played = bench.match(f"solution:{folder}", f"solution:{bench.coarse()}", 400_000)
    assert abs(played["win"] - response.win) < 4 * played["error"], (played, response.win)


def worth(game: Any, seat: int, plan: Any, won: Any, p: float) -> float:
    """Return p times what a plan wins from the target, less 1 − p times what it can lose."""
    return p * float(plan @ won) - (1 - p) * best_response(game, 1 - seat, plan)[0]


# --- parts ----------------------------------------------------------------------------------------


def pareto(bench: Bench, report: Report) -> None:
    """Print a curve, after checking that no other strategy is better than a point of it."""
    target = bench.targets[0 if bench.game != "kuhn" else 1]
    game, opponent = bench.arena.game, bench.opponent(target)
    curve, lines = [], []
    for p in CURVE:
        seats = Seats(game, opponent.model, Method("rnr", p), bench.arena.dtype)
        respond(seats, bench.budget)
        curve.append((p, seats, _measure(game, opponent.model, seats.plans)))
    others = list(_others(bench, curve))
    worse = 0
    for p, seats, (win, loss) in curve:
        for other_win, other_loss in others:
            value = p * other_win - (1 - p) * other_loss
            assert seats.gap is not None
            # What solvers store in float32 is rounded: a millionth of the blinds.
            assert value <= p * win - (1 - p) * loss + seats.gap + 1e-5, (p, other_win, other_loss)
            worse += other_loss > loss and other_win > win
        size, unit = _unit(bench)
        lines.append([f"{p:g}", f"{win / size:.4g}", f"{loss / size:.4g}"])
        report.line(f"{bench.game}, {target}, p = {p:g}",
                    {"wins": win / size, "can lose": loss / size}, unit)  # fmt: skip
    mixtures = _mixtures(curve, game, opponent.model)
    for line, mixed in zip(lines, mixtures, strict=True):
        line.append("—" if mixed is None else f"{mixed / _unit(bench)[0]:.4g}")
    unit = _unit(bench)[1]
    show(
        f"responses to {target} in {bench.game}; none of {len(others)} others is better "
        f"({worse} win more and can lose more)",
        ["p", f"wins, {unit}", f"can lose, {unit}", "a mixture that wins as much can lose"],
        lines,
    )


def _unit(bench: Bench) -> tuple[float, str]:
    """Return the chips of the unit in which results are printed, and its name."""
    return (1.0, "chips") if bench.is_exact else (bench.rules.big_blind / 1000, "mbb/g")


def _measure(game: Any, model: Model, plans: tuple[Any, Any]) -> tuple[float, float]:
    """Return what plans win from a model and what they can lose, means of both seats, in chips."""
    win = sum(float(plans[seat] @ model.wins(game, seat)) for seat in (0, 1)) / 2
    loss = sum(best_response(game, 1 - seat, plans[seat])[0] for seat in (0, 1)) / 2
    return win, loss


def _others(bench: Bench, curve: Sequence[Any]) -> Iterator[tuple[float, float]]:
    """Yield win and exploitability of mixtures, of random changes, and of strategies at random."""
    game, rng = bench.arena.game, np.random.default_rng(0)
    model = curve[0][1].model
    ends = curve[0][1].plans, curve[-1][1].plans
    for weight in np.linspace(0.1, 0.9, 9):
        mixed = tuple((1 - weight) * ends[0][s] + weight * ends[1][s] for s in (0, 1))
        yield _measure(game, model, mixed)
    for number in range(200 if bench.is_exact else 6):
        plans = curve[number % len(curve)][1].plans
        size, changed = 10 ** rng.uniform(-3, 0), []
        for seat in (0, 1):
            noise = game.behaviour(seat, plans[seat]) + size * rng.random(game.lengths[seat])
            own = game.realize(seat, noise)  # then normalised
            changed.append(game.realize(seat, game.behaviour(seat, own)))
        yield _measure(game, model, (changed[0], changed[1]))


def _mixtures(curve: Sequence[Any], game: Any, model: Model) -> list[float | None]:
    """Return what the mixture of both ends that wins as much as each point can lose."""
    (_, first, (low, _)), (_, last, (high, _)) = curve[0], curve[-1]
    found: list[float | None] = []
    for _, _, (win, _) in curve:
        weight = (win - low) / (high - low)
        if not 0.001 < weight < 0.999:
            found.append(None)
            continue
        plans = tuple((1 - weight) * first.plans[s] + weight * last.plans[s] for s in (0, 1))
        found.append(_measure(game, model, (plans[0], plans[1]))[1])
    return found


def published(bench: Bench, report: Report) -> None:
    """Print what each response wins from its target and from the field, with intervals."""
    targets, lines = bench.targets, []
    for target in targets:
        known = bench.is_table(target)
        methods = {
            "equilibrium": None,
            "restricted": Method("rnr" if known else "dbr", 0.9),
            "best response": Method("rnr" if known else "fbr", 1.0),
        }
        for word, method in methods.items():
            own = bench.equilibrium() if method is None else str(bench.response(target, method))
            wins = {}
            for other in (*targets, "equilibrium"):
                hands = 1_000_000 if bench.is_table(other) else bench.hands
                if other == target and not known:
                    hands *= 2
                wins[other] = bench.rows.get(
                    ["published", "any" if method is None else target, word, other, hands],
                    lambda own=own, other=other, hands=hands: bench.match(
                        player(own), player(bench.name(other)), hands, seed=1
                    ),
                )
            field = [wins[other] for other in wins if other != target]
            mean = float(np.mean([found["win"] for found in field]))
            error = float(np.sqrt(np.sum([f["error"] ** 2 for f in field]))) / len(field)
            worst = min(field, key=lambda found: found["win"])
            loses = Solution.load(own).certificate.exploitability if method else 0.0
            row = wins[target]
            label = "" if known or method is None else f", {method.name}"
            lines.append([
                target, f"{word}{label}", f"{row['win']:.4g} ± {1.96 * row['error']:.2g}",
                f"{mean:.4g} ± {1.96 * error:.2g}", f"{worst['win']:.4g}",
                f"{loses / _unit(bench)[0]:.4g}",
            ])  # fmt: skip
            report.line(f"{bench.game}, {target}, {word}",
                        {"target": row["win"], "field": mean}, row["unit"])  # fmt: skip
    unit = _unit(bench)[1]
    header = ["target", "strategy", f"from the target, {unit}", "from the field",
              "from its worst", "can lose in the model"]  # fmt: skip
    show(f"responses in {bench.game} against their targets and the field", header, lines)


def data(bench: Bench, report: Report) -> None:
    """Print win and exploitability of responses computed from more and more hands."""
    target, seeds = ("coarse" if bench.is_exact else "undertrained"), 20 if bench.is_exact else 3
    methods = (Method("dbr", 0.9), Method("rnr", 0.9), Method("fbr"))
    lines = []
    for power in range(3, 1 + round(np.log10(bench.most))):
        hands, found = 10**power, {}
        for seed in range(seeds):
            models: list[Opponent] = []
            for method in methods:
                row = bench.rows.get(
                    ["data", target, hands, seed, method.name],
                    functools.partial(_responded, bench, target, hands, seed, method, models),
                )
                found.setdefault(method.name, []).append(row)
        line = [f"{hands:,}"]
        for name, rows in found.items():
            for what in ("win", "loses"):
                values = [row[what] for row in rows]
                line.append(f"{np.mean(values):.3g} ± {interval(values):.2g}")
                report.line(f"{bench.game}, {hands:,} hands, {name}", {what: np.mean(values)},
                            rows[0]["unit"])  # fmt: skip
            if name == "fbr":
                line.append(f"{np.mean([row['model'] for row in rows]):.3g}")
        lines.append(line)
    header = ["hands", "dbr wins", "can lose", "rnr wins", "can lose", "fbr wins", "can lose",
              "fbr believes"]  # fmt: skip
    show(f"responses to {target} in {bench.game} from hands, {_unit(bench)[1]}", header, lines)


def _responded(
    bench: Bench, target: str, hands: int, seed: int, method: Method, models: list[Opponent]
) -> dict[str, Any]:
    """Return the figures of a response from hands; the model is made once for all methods."""
    if not models:
        models.append(bench.opponent(target, hands, seed))
    done = compute(bench.arena, models[0], method, bench.budget)
    return {
        "win": done.win, "model": done.model_wins.win_rate()[0], "loses": done.exploitability,
        "unit": done.unit,
    }  # fmt: skip


class Switching(Player):
    """A player that changes from one strategy to another in the middle of a match."""

    name = "switching"

    def __init__(self, players: tuple[Player, Player], hands: int) -> None:
        self.players, self.half = players, hands // 2

    def reset(self, seed: int) -> None:
        """Reset both players."""
        for one in self.players:
            one.reset(seed)

    def act(self, view: View) -> Any:
        """Act as the first player, in the second half as the other."""
        return self.players[view.state.hand_number >= self.half].act(view)


class Recorded(Portfolio):
    """A portfolio that keeps the weights of every hand, from which its expectation is exact."""

    def reset(self, seed: int) -> None:
        """Forget all hands, also those that were kept."""
        super().reset(seed)
        self.kept: list[tuple[Any, int]] = []  # weights and seat of each hand

    def observe(self, result: Any) -> None:
        """Keep the weights that played the hand, then learn from it."""
        self.kept.append((self.weights, result.view.player))
        super().observe(result)


def portfolio(bench: Bench, report: Report) -> None:
    """Print what a portfolio and its anchor win from a field of ten, first and last tenth too.

    Given the weights of a hand, what it wins is known, so the only chance that is left is what the
    portfolio happened to learn.
    """
    seeds, hands, rules = 4, bench.hands, bench.rules
    members = [bench.equilibrium()] + [
        str(bench.response(target, Method("rnr", 0.9)))
        for target in ("always-raise", "always-call", "mix:0.3,0.5,0.2", "mix:0.6,0.35,0.05")
    ]
    lines = []
    for other in ("strongest", "switching", "coarse", *WEAK):
        names = [bench.name(other)]
        if other == "strongest":
            names = [str(_strongest(bench, members[1:]))]
        if other == "switching":
            names = ["always-call", "mix:0.6,0.35,0.05"]
        worth = np.array([[_values(bench, member, name) for member in members] for name in names])

        def played(seed: int, names: Sequence[str] = names, worth: Any = worth) -> dict[str, Any]:
            own = Recorded(rules, [make_player(player(name), rules) for name in members])
            others = [make_player(player(name), rules) for name in names]
            against = Switching((others[0], others[1]), hands) if len(others) > 1 else others[0]
            run_match(rules, (own, against), MatchSettings(hands=hands, seed=seed))
            part = np.arange(hands) * len(names) // hands  # which of the opponents played
            seat = np.array([seat for _, seat in own.kept])
            weights = np.array([weights for weights, _ in own.kept])
            wins = (weights * worth[part, :, seat]).sum(axis=1)
            anchor, tenth = worth[part, 0, seat], hands // 10
            return {"win": wins.mean(), "first": wins[:tenth].mean(), "last": wins[-tenth:].mean(),
                    "anchor": anchor.mean(), "lost": (anchor - wins).sum(),
                    "stopped": own.is_stopped, "cost": own.cost, "bound": own.bound()}  # fmt: skip

        rows = [
            bench.rows.get(["exact portfolio", other, hands, seed], lambda seed=seed: played(seed))
            for seed in range(seeds)
        ]
        every = {key: [float(row[key]) for row in rows] for key in rows[0]}
        assert max(every["cost"]) <= rows[0]["bound"]
        assert np.mean(every["lost"]) <= rows[0]["bound"], (other, np.mean(every["lost"]))
        shown = [f"{np.mean(every[key]):.3f} ± {interval(every[key]):.1g}"
                 for key in ("win", "first", "last")]  # fmt: skip
        lost = f"{np.mean(every['lost']):.0f} ± {interval(every['lost']):.0f}"
        stopped = str(round(sum(every["stopped"])))
        lines.append([other, f"{np.mean(every['anchor']):.3f}", *shown, lost, stopped])
        report.line(f"{bench.game}, {other}", {"anchor": np.mean(every["anchor"]),
                    "portfolio": np.mean(every["win"])}, "chips")  # fmt: skip
    header = ["opponent", "anchor wins", "portfolio wins", "first tenth", "last tenth",
              f"lost to the anchor in {hands:,} hands", f"stopped, of {seeds}"]  # fmt: skip
    bound = Portfolio(rules, [make_player(player(name), rules) for name in members]).bound()
    show(f"portfolio of five in {bench.game}, chips per hand; bound {bound:g} chips", header, lines)


def _strongest(bench: Bench, responses: Sequence[str]) -> Path:
    """Return a strategy that exploits the mean of responses, and can be exploited little."""
    folder = bench.folder / "strongest"
    if not (folder / MANIFEST).exists():
        plans = [Solution.load(response).plans for response in responses]
        game = bench.arena.game
        mixed = tuple(np.mean([plan[s] for plan in plans], axis=0) for s in (0, 1))
        model = Model((game.behaviour(0, mixed[0]), game.behaviour(1, mixed[1])))
        found = Opponent("responses", model)
        compute(bench.arena, found, Method("rnr", 0.9), bench.budget, folder)
    return folder


def _values(bench: Bench, member: str, opponent: str) -> tuple[float, float]:
    """Return what a stored strategy wins from a table in each seat, exactly."""
    game, plans = bench.arena.game, Solution.load(member).plans
    model = Opponent.of_player(opponent, bench.arena).model
    first, second = (float(plans[seat] @ model.wins(game, seat)) for seat in (0, 1))
    return first, second


def timing(bench: Bench, report: Report) -> None:
    """Print the seconds of one response, in a process of its own, kernels compiled."""
    lines = []
    for target in ("always-raise", "psopti1"):
        for threads in (1, 2):
            command = [sys.executable, "-m", "equilibrist", "counter", target, "--game", bench.game,
                       "--p", "0.9", "--threads", str(threads), "--json"]  # fmt: skip

            def timed(command: Sequence[str] = command) -> dict[str, Any]:
                subprocess.run([*command, "--iterations", "1"], check=True, capture_output=True)
                start = time.perf_counter()
                run = subprocess.run(command, check=True, capture_output=True, text=True)
                seconds = time.perf_counter() - start
                return {"seconds": seconds} | json.loads(run.stdout)["points"][0]

            row = bench.rows.get(["time", target, threads], timed)
            assert row["outcome"] == "target_reached"
            lines.append([target, str(threads), f"{row['seconds']:.0f}", str(row["iterations"]),
                          f"{row['gap']:.2g}"])  # fmt: skip
            report.figure(f"{bench.game}, {target}, {threads} threads", row["seconds"], "s")
    header = ["target", "threads", "seconds", "iterations", "gap, mbb/g"]
    show(f"one response in {bench.game}, p = 0.9, to 5 mbb/g", header, lines)


PARTS = {
    "pareto": pareto,
    "published": published,
    "data": data,
    "portfolio": portfolio,
    "time": timing,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--game", default="leduc", help="leduc, or a bot such as smallbot-quick")
    parser.add_argument("--hands", type=int, default=10_000, help="of matches with other players")
    parser.add_argument("--most", type=int, default=10**6, help="hands from which to respond")
    parser.add_argument("--observed", type=int, help="hands from which a slow player is modelled")
    default = Path(tempfile.gettempdir()) / "equilibrist-counter"
    parser.add_argument("--rows", type=Path, default=default, help="folder of figures so far")
    given = parser.parse_args()
    check()
    bench = Bench(given.game, given.rows, given.hands, given.most, given.observed)
    try:
        PARTS[given.part](bench, Report("counter", header=""))
    except EquilibristError as error:
        sys.exit(f"bench_counter: {error}")


if __name__ == "__main__":
    main()
