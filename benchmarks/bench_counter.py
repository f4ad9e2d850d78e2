"""How much do counter-strategies win, what do they cost, and how long does one take to compute?

Four parts, chosen by `--part`:

- `pareto`: responses of a curve beside mixtures of equilibrium and best response and random changes
  of them; none may win more at the same exploitability;
- `published`: equilibrium, restricted Nash response and best response to each of some targets,
  against that target and against all others (Johanson, Zinkevich and Bowling 2007, table 2); exact
  where the other is a table, else a match with AIVAT and an interval;
- `data`: responses computed from 10³ to 10⁶ hands of a target, by each method;
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
        "always-raise",
        "mix:0.1,0.6,0.3",
        "teddy",
        "poki",
        "monash",
    ),
}
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
        self, game: str, folder: Path, hands: int, most: int = 10**6, observed: int | None = None,
        to: str | None = None,
    ) -> None:  # fmt: skip
        self.game, self.hands, self.most, self.observed, self.to = game, hands, most, observed, to
        self.folder = folder / game
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rows = Rows(self.folder / "rows.jsonl")
        self.plot: Path | None = None
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

    def is_own(self, text: str) -> bool:
        """Return whether a text is a stored strategy: the bot of the game, or a folder."""
        return text == self.game or Path(text).is_dir()

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
        return Budget(target=self.arena.goal(self.to).chips, iterations=20_000)

    def opponent(self, target: str, hands: int | None = None, seed: int = 0) -> Opponent:
        """Return the model of a target: exact if it is a table and no hands are given."""
        if hands is None and not (self.is_table(target) or self.is_own(target)):
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

    def versus(self, own: str, other: str, hands: int | None = None) -> dict[str, Any]:
        """Return what a strategy of the game wins: exactly, or in a match of some hands."""
        if hands is not None:
            return self.match(player(own), other, hands)
        size, unit = _unit(self)
        found = sum(plan @ won for plan, won in zip(self.plans(own), self.won(other), strict=True))
        return {"win": float(found) / 2 / size, "error": 0.0, "unit": unit}

    @functools.lru_cache(maxsize=2)  # noqa: B019
    def plans(self, own: str) -> tuple[Any, Any]:
        """Return the plans of a strategy of the game."""
        model, game = self.opponent(own).model, self.arena.game
        assert model.behaviour is not None
        first, second = (game.realize(seat, model.behaviour[seat]) for seat in (0, 1))
        return first, second

    @functools.lru_cache(maxsize=12)  # noqa: B019
    def won(self, other: str) -> tuple[Any, Any]:
        """Return what each row of either seat wins from a known strategy."""
        model, game = Opponent.of_player(other, self.arena).model, self.arena.game
        return model.wins(game, 0), model.wins(game, 1)

    def match(self, first: str, second: str, hands: int, seed: int = 1) -> dict[str, Any]:
        """Return the win rate of a duplicate match and its standard error, in mbb/g or chips.

        Players that play slowly play fewer hands, and the luck is removed from these.
        """
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
        hands = None if known else bench.hands
        for word, method in methods.items():
            own = bench.equilibrium() if method is None else str(bench.response(target, method))
            key = "any" if method is None else target
            row = bench.rows.get(
                ["published", key, word, target, hands],
                lambda own=own, hands=hands: bench.versus(own, bench.name(target), hands),  # noqa: B023
            )
            field = {}
            for other in (*filter(bench.is_table, targets), "equilibrium"):
                if other != target and not (other == "equilibrium" and method is None):
                    field[other] = bench.rows.get(
                        ["published", key, word, other, None],
                        lambda own=own, other=other: bench.versus(own, bench.name(other)),
                    )["win"]
            loses = Solution.load(own).certificate.exploitability if method else 0.0
            label = "" if known or method is None else f", {method.name}"
            error = "" if known else f" ± {1.96 * row['error']:.0f}"
            lines.append([
                target, f"{word}{label}", f"{row['win']:.4g}{error}",
                f"{np.mean(list(field.values())):.4g}", f"{min(field.values()):.4g}",
                f"{loses / _unit(bench)[0]:.4g}",
            ])  # fmt: skip
            report.line(f"{bench.game}, {target}, {word}",
                        {"target": row["win"], "field": np.mean(list(field.values()))},
                        row["unit"])  # fmt: skip
    unit = _unit(bench)[1]
    header = ["target", "strategy", f"from the target, {unit}", "from the field",
              "from its worst", "can lose in the model"]  # fmt: skip
    show(f"responses in {bench.game} against their targets and known players", header, lines)


def data(bench: Bench, report: Report) -> None:
    """Print win and exploitability of responses computed from more and more hands."""
    target, seeds = ("coarse" if bench.is_exact else "undertrained"), 20 if bench.is_exact else 3
    methods = (Method("dbr", 0.9), Method("rnr", 0.9), Method("fbr"))
    lines, every = [], {}
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
        line, every[hands] = [f"{hands:,}"], found
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
    if bench.plot is not None:
        _draw(every, _unit(bench)[1], bench.plot)


def _draw(every: dict[int, dict[str, list[dict[str, Any]]]], unit: str, path: Path) -> None:
    """Draw what responses win and can lose against the number of hands, with 95 % intervals."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    for axis, what, label in zip(axes, ("win", "loses"), ("wins", "can lose"), strict=True):
        for name in ("dbr", "rnr", "fbr"):
            rows = [[row[what] for row in found[name]] for found in every.values()]
            mean, error = [np.mean(row) for row in rows], [interval(row) for row in rows]
            axis.errorbar(list(every), mean, error, marker="o", capsize=3, label=name)
        if what == "win":
            believed = [np.mean([row["model"] for row in found["fbr"]]) for found in every.values()]
            axis.plot(list(every), believed, "--", color="gray", label="fbr believes")
        axis.set(xscale="log", xlabel="hands of the target", ylabel=f"{label}, {unit}")
        axis.grid(alpha=0.3)
        axis.legend()
    axes[1].set_yscale("log")
    figure.savefig(path, dpi=90)


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
    "time": timing,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--game", default="leduc", help="leduc, or a bot such as smallbot-quick")
    parser.add_argument("--hands", type=int, default=10_000, help="of matches with other players")
    parser.add_argument("--most", type=int, default=10**6, help="hands from which to respond")
    parser.add_argument("--observed", type=int, help="hands from which a slow player is modelled")
    parser.add_argument("--plot", type=Path, help="data: draw the table to this PNG")
    parser.add_argument("--to", help="gap of responses, such as 10mbb; default: as of counter")
    default = Path(tempfile.gettempdir()) / "equilibrist-counter"
    parser.add_argument("--rows", type=Path, default=default, help="folder of figures so far")
    given = parser.parse_args()
    check()
    bench = Bench(given.game, given.rows, given.hands, given.most, given.observed, given.to)
    bench.plot = given.plot
    try:
        PARTS[given.part](bench, Report("counter", header=""))
    except EquilibristError as error:
        sys.exit(f"bench_counter: {error}")


if __name__ == "__main__":
    main()
