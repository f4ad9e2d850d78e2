"""Run the documented commands with other pots, boards, seeds, precisions and thread counts.

A figure in the documents is one case; this script tries the cases beside it and holds each to
something that no solver can choose:

- every number in the JSON is finite;
- both best responses bracket the value of the game, so the brackets of two runs of one game, by any
  method, precision or number of threads, overlap, and contain the known value where there is one;
- a spot keeps its value when suits are renamed and doubles it when all chips are doubled;
- `exploit` proves what `solve` and `spot` wrote;
- players who change seats, or are dealt other cards, win the same within the error of the match.

Example: python trials/neighbours.py --part spots --seed 1
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equilibrist.cli import main as run_command

LEDUC = -0.085606424078  # chips, first player
KUHN = -1 / 18
SLACK = 2e-5  # of the scale of a value: sums of spots are in float32


def answer(*arguments: object) -> dict[str, Any]:
    """The JSON object that a command prints; raises what a user would call a failure."""
    output, errors, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["equilibrist", *map(str, arguments), "--json"]
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            run_command()
    except SystemExit as stop:
        if stop.code not in (0, None):
            last = errors.getvalue().strip().splitlines()[-1:]
            raise AssertionError(f"exit {stop.code}: {''.join(last)}") from None
    finally:
        sys.argv = before
    found = json.loads(output.getvalue(), parse_constant=_refuse)
    _check_finite(found, "")
    return found


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} in the JSON")


def _check_finite(found: Any, path: str) -> None:
    if isinstance(found, float) and not math.isfinite(found):
        raise AssertionError(f"{path} is {found}")
    if isinstance(found, dict | list):
        for key, part in found.items() if isinstance(found, dict) else enumerate(found):
            _check_finite(part, f"{path}.{key}")


@dataclass
class Tally:
    """Cases tried and what went wrong, by part."""

    trials: dict[str, int] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)

    def attempt(self, part: str, case: str, work: Callable[[], Any]) -> Any:
        """The result of one case, None where it failed."""
        self.trials[part] = self.trials.get(part, 0) + 1
        try:
            return work()
        except Exception as error:
            self.failures.append({"part": part, "case": case, "error": str(error)})
            print(f"  FAILED {part}: {case}: {error}", file=sys.stderr, flush=True)
            return None

    def agree(self, part: str, case: str, brackets: list[tuple[float, float]]) -> None:
        """Brackets of one game's value must have a point in common."""
        low, high = max(low for low, _ in brackets), min(high for _, high in brackets)
        scale = max(1.0, *(abs(end) for bracket in brackets for end in bracket))
        self.attempt(part, case, lambda: _overlap(low, high, scale, brackets))


def _overlap(low: float, high: float, scale: float, brackets: list[tuple[float, float]]) -> None:
    if not low <= high + SLACK * scale:
        raise AssertionError(f"brackets do not overlap: {brackets}")


# --- solve ----------------------------------------------------------------------------------------

METHODS = (
    "cfr+",
    "cfr",
    "dcfr",
    "linear-cfr",
    "pcfr+",
    "egt",
    "lp",
    "double-oracle",
    "mccfr",
    "pcs",
)


def game_bracket(found: dict[str, Any], is_player_1_first: bool = False) -> tuple[float, float]:
    """The first player's value lies between what it gets at least and at most."""
    one, two = found["best_response"]
    return (-one, two) if is_player_1_first else (-two, one)


def try_solve(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Every method on toy games, against their published values."""
    cases = itertools.product(
        (("kuhn", KUHN), ("leduc", LEDUC)), METHODS, ("float64", "float32"), (1, 2)
    )
    for (game, value), method, dtype, threads in cases:
        seed, iterations = draw.randrange(2**32), draw.choice((1, 7, 100, 333))
        case = (
            f"solve {game} --method {method} --dtype {dtype} --threads {threads} --seed {seed} "
            f"--iterations {iterations}"
        )
        out = folder / f"{game}-{method}-{dtype}-{threads}"
        found = tally.attempt("solve", case, lambda c=case, o=out: answer(*c.split(), "--out", o))
        if found is not None:
            tally.agree("solve", f"{case}: bracket", [game_bracket(found), (value, value)])
            proved = tally.attempt("exploit", case, lambda o=out: answer("exploit", o))
            if proved is not None:
                tally.agree("exploit", case, [game_bracket(proved), (value, value)])


# --- spots ----------------------------------------------------------------------------------------

SPOTS = (
    ("Td9d6hQc2s", "AA,76s,54s", "KK"),
    ("Td9d6hQc2s", "random", "random"),
    ("Ts9s6s2s3s", "random", "random"),
    ("AhAdAcAsKh", "random", "random"),
    ("Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs"),
    ("Ts9s6sQc", "22+,A2s+,K9o+", "random"),
    ("2c2d7h7s", "random", "AA,KK:0.01,72o:0.5"),
    ("Ts9s6s", "AsKs,QhQd,7h6h", "88,AhKh,5s4s"),
    ("Qh7d2c", "AA,72s", "KK-JJ,A5s"),
)
MENUS = ("--bets 60%,a --raises 2.5x", "--bets a", "--bets 33%,100%", "--limit")


def spot_bracket(found: dict[str, Any]) -> tuple[float, float]:
    """Out of position's share of the pot lies between these, chips."""
    ours, theirs = found["best_response"]
    return found["pot"] - theirs, ours


def try_spots(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Spots of every street with other pots, stacks, menus, bits, methods and threads."""
    for number, (board, oop, ip) in enumerate(SPOTS):
        narrow = "random" not in (oop, ip)
        for menu in draw.sample(MENUS, 3):
            pot = draw.choice((20, 40, 60, 80, 200, 7))
            stack = draw.choice((pot // 2 + 1, 3 * pot, 10 * pot))
            chips = f"--pot {pot}" + ("" if menu == "--limit" else f" --stack {stack}")
            iterations = 40 if len(board) == 10 or narrow else 8
            spot = ["spot", "--board", board, "--oop", oop, "--ip", ip, *menu.split()]
            rest = ["--iterations", iterations]
            brackets = []
            ways = itertools.product(("cfr+", "dcfr", "cfr"), (32, 16), (1, 2))
            for method, bits, threads in draw.sample([*ways], 5):
                how = ["--method", method, "--bits", bits, "--threads", threads]
                case = " ".join(map(str, [*spot, chips, *rest, *how]))
                out = folder / f"spot{number}-{menu[2:6]}-{method}-{bits}-{threads}"
                arguments = [*spot, *chips.split(), *rest, *how, "--out", out]
                found = tally.attempt("spot", case, lambda a=arguments: answer(*a))
                if found is None:
                    continue
                brackets.append(spot_bracket(found))
                if not 0 <= found["exploitability"] <= 100 * (pot + stack):
                    tally.attempt("spot", case, lambda f=found: _refuse(str(f["exploitability"])))
                proved = tally.attempt("exploit", case, lambda o=out: answer("exploit", o))
                if proved is not None and not proved["matches"]:
                    tally.attempt(
                        "exploit", case, lambda: _refuse("the certificate does not match")
                    )
            if brackets:
                tally.agree("spot", f"{board} {oop} {ip} {chips} {menu}", brackets)
            _try_symmetry(tally, spot, chips, rest)


def _try_symmetry(tally: Tally, spot: list[str], chips: str, rest: list[Any]) -> None:
    """Suits renamed: the same value. Chips doubled in no-limit: twice the value."""
    renamed = str.maketrans("cdhs", "dhsc")

    def suits(text: str) -> str:
        """Cards like Td become Th; s and o of AKs, AKo stay."""
        if text == "random":
            return text
        tokens = []
        for token in text.split(","):
            is_cards = len(token.partition(":")[0]) % 2 == 0 and token[1] in "cdhs"
            tokens.append(token.translate(renamed) if is_cards else token)
        return ",".join(tokens)

    turned = [*spot]
    for option in ("--board", "--oop", "--ip"):
        place = turned.index(option) + 1
        text = turned[place]
        turned[place] = text.translate(renamed) if option == "--board" else suits(text)
    case = " ".join([*turned, chips])

    def compare() -> None:
        plain, other = (answer(*s, *chips.split(), *rest) for s in (spot, turned))
        for name in ("value", "exploitability"):
            if abs(plain[name] - other[name]) > 1e-3 * max(1.0, plain["pot"]):
                raise AssertionError(f"{name} {plain[name]} became {other[name]}")

    tally.attempt("suits renamed", case, compare)
    if "--limit" in spot or "33%,100%" in spot:
        return  # thirds of small pots are rounded to chips
    doubled = [str(2 * int(w)) if w.isdigit() else w for w in chips.split()]

    def double() -> None:
        first = answer(*spot, *chips.split(), *rest)
        second = answer(*spot, *doubled, "--blind", 2, *rest)
        if abs(2 * first["value"] - second["value"]) > 2e-2 * first["pot"]:
            raise AssertionError(f"{first['value']} became {second['value']}")

    tally.attempt("chips doubled", " ".join([*spot, chips]), double)


# --- buckets, matches, cards ----------------------------------------------------------------------


def try_buckets(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Abstract, count, solve and prove with other recipes, buckets and seeds."""
    plans = (
        ("percentile", "2,4,8"),
        ("percentile", "3,9,27"),
        ("strength-potential", "3,3,3"),
        ("strength-potential", "2,4,5"),
        ("expectation", "4,8,16"),
        ("moments", "3,6,12"),
        ("potential-aware", "3,6,12"),
    )
    for recipe, buckets in plans:
        seed = draw.randrange(1000)
        name = folder / f"{recipe}-{buckets}"
        counts, solution = f"{name}-joint", f"{name}-solution"
        case = f"{recipe} {buckets} --seed {seed}"
        made = tally.attempt(
            "abstract",
            case,
            lambda r=recipe, b=buckets, n=name, s=seed: answer(
                "abstract", r, "--game", "rhode-island", "--buckets", b, "--out", n, "--seed", s
            ),
        )
        if made is None:
            continue
        tally.attempt("joint", case, lambda n=name, c=counts: answer("joint", n, "--out", c))
        brackets = []
        for method, dtype, threads in (("cfr+", "float64", 1), ("dcfr", "float32", 2)):
            found = tally.attempt(
                "solve buckets",
                f"{case} {method} {dtype}",
                lambda n=name, c=counts, m=method, d=dtype, t=threads, o=solution: answer(
                    "solve", n, "--joint", c, "--iterations", 200, "--method", m, "--dtype", d,
                    "--threads", t, "--out", f"{o}-{m}",
                ),
            )  # fmt: skip
            if found is not None:
                brackets.append(game_bracket(found))
                tally.attempt(
                    "exploit", case, lambda o=solution, m=method: answer("exploit", f"{o}-{m}")
                )
        if brackets:
            tally.agree("solve buckets", case, brackets)


def try_matches(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Players who change seats or cards win the same within five standard errors."""
    pairs = (
        ("holdem-limit", "poki", "always-call"),
        ("holdem-limit", "uniform", "always-raise"),
        ("leduc", "uniform", "always-call"),
        ("kuhn", "mix:0.2,0.5,0.3", "uniform"),
        ("holdem-nolimit", "uniform", "always-call"),
    )
    for game, one, two in pairs:
        for duplicate in (["--duplicate"], []):
            results = []
            for first, second, sign in ((one, two, 1), (two, one, -1), (one, two, 1)):
                seed = draw.randrange(2**32)
                words = ["match", first, second, "--game", game, "--hands", 600, "--seed", seed]
                words += duplicate
                case = " ".join(map(str, words))
                found = tally.attempt("match", case, lambda w=words: answer(*w))
                if found is not None:
                    results.append((sign * found["win_rate"], found["standard_error"]))
            for (rate, error), (other, other_error) in itertools.combinations(results, 2):
                spread = math.hypot(error, other_error)
                if abs(rate - other) > 5 * spread + 1e-9:
                    text = f"{one} – {two} in {game}: {rate} ± {error}, {other} ± {other_error}"
                    tally.attempt("match", text, lambda t=text: _refuse(t))


def try_cards(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Equities of both sides add up to one on every street, and do not depend on suits' names."""
    ranges = ("AA", "QQ+,AKs", "72o", "AhKh", "random", "22+,A2s+:0.5", "T9s-76s")
    boards = ("", "Qh7h2c", "Td9d6hQc", "2c2d7h7s5c", "AhKhQh")
    for one, two, board in itertools.product(ranges, ranges, boards):
        is_dealt_twice = one == two or ("AhKh" in (one, two) and "AhKh" in board)
        if one == "random" or is_dealt_twice or (not board and draw.random() < 0.95):
            continue
        tail = ["--board", board] if board else []

        def both(one: str = one, two: str = two, tail: list[str] = tail) -> None:
            words = [one, "--random"] if two == "random" else [one, two]
            found = answer("equity", *words, *tail)
            if two == "random":
                return
            other = answer("equity", two, one, *tail)
            if abs(found["equity"] + other["equity"] - 1) > 1e-12:
                raise AssertionError(f"{found['equity']} + {other['equity']} is not 1")

        tally.attempt("equity", f"{one} {two} {board}", both)


PARTS = {
    "solve": try_solve,
    "spots": try_spots,
    "buckets": try_buckets,
    "matches": try_matches,
    "cards": try_cards,
}


def chosen(name: str | None) -> Iterator[tuple[str, Callable[[Tally, random.Random, Path], None]]]:
    """The parts to run."""
    yield from ((part, work) for part, work in PARTS.items() if name in (None, part))


def main() -> None:
    """Try the neighbours and print a table of trials and failures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="default: all of them")
    parser.add_argument("--seed", type=int, default=0, help="which neighbours are drawn")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    tally, start = Tally(), time.perf_counter()
    for part, work in chosen(options.part):
        print(f"{part} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            work(tally, random.Random(f"{part} {options.seed}"), Path(folder))
    failed = [failure["part"] for failure in tally.failures]
    rows = {part: (many, failed.count(part)) for part, many in tally.trials.items()}
    if options.json:
        print(json.dumps({"trials": tally.trials, "failures": tally.failures}))
    else:
        print(f"{'what':<16}{'trials':>8}{'failures':>10}")
        for part, (many, wrong) in rows.items():
            print(f"{part:<16}{many:>8}{wrong:>10}")
        print(f"{sum(tally.trials.values())} trials in {time.perf_counter() - start:.0f} s")
    sys.exit(1 if tally.failures else 0)


if __name__ == "__main__":
    main()
