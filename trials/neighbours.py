"""Run the documented commands with other pots, boards, seeds, precisions and thread counts.

A figure in the documents is one case; this script tries the cases beside it and checks what must
hold for any solver:

- every number in the JSON is finite;
- both best responses bracket the value of the game, so the brackets of two runs of one game, by any
  method, precision or number of threads, overlap, and contain the known value where there is one;
- a spot keeps its numbers when suits are renamed, exactly in the first iteration and within its
  bracket later, and doubles its value when all chips are doubled;
- `exploit` proves what `solve` and `spot` wrote;
- players with other seats or other cards win the same within the error of the match.

Example: python trials/neighbours.py --part spots --seed 1
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import math
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equilibrist.cli import run as run_command
from equilibrist.solving.lean_cfr import TABLE_METHODS

LEDUC = -0.085606424078  # chips, first player
KUHN = -1 / 18
STOPPED = (129, 130, 143)  # exit codes of a command that a signal ended
SLACK = 2e-5  # of the scale of a value: sums of spots are in float32


def answer(*arguments: object) -> dict[str, Any]:
    """Return the JSON object that a command prints; raise an error if the command fails."""
    output, errors, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["equilibrist", *map(str, arguments), "--json"]
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            code = run_command()
    finally:
        sys.argv = before
    if code in STOPPED:
        sys.exit(code)
    if code:
        last = errors.getvalue().strip().splitlines()[-1:]
        raise AssertionError(f"exit {code}: {''.join(last)}")
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
    """Cases tried and failures, by part."""

    trials: dict[str, int] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)

    def attempt(self, part: str, case: str, work: Callable[[], Any]) -> Any:
        """Return the result of one case; None if it failed."""
        self.trials[part] = self.trials.get(part, 0) + 1
        try:
            return work()
        except Exception as error:
            self.failures.append({"part": part, "case": case, "error": str(error)})
            print(f"  FAILED {part}: {case}: {error}", file=sys.stderr, flush=True)
            return None

    def agree(self, part: str, case: str, brackets: list[tuple[float, float]]) -> None:
        """Check that the brackets of one game's value overlap."""
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
    "dcfr+",
    "log-dcfr+",
    "linear-cfr",
    "pcfr+",
    "egt",
    "lp",
    "double-oracle",
    "mccfr",
    "pcs",
)


def game_bracket(found: dict[str, Any], is_player_1_first: bool = False) -> tuple[float, float]:
    """Return the bounds of the first player's value that both best responses prove."""
    one, two = found["best_response"]
    return (-one, two) if is_player_1_first else (-two, one)


def try_solve(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Try every method on toy games, against their published values."""
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
    """Return the bounds of the share of the pot of the seat out of position, in chips."""
    ours, theirs = found["best_response"]
    return found["pot"] - theirs, ours


def try_spots(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Try spots of every street with other pots, stacks, menus, bits, methods and threads."""
    for number, (board, oop, ip) in enumerate(SPOTS):
        narrow = "random" not in (oop, ip)
        for menu in draw.sample(MENUS, 3):
            pot = draw.choice((20, 40, 60, 80, 200, 6))
            stack = draw.choice((pot // 2 + 1, 3 * pot, 10 * pot))
            chips = f"--pot {pot}" + ("" if menu == "--limit" else f" --stack {stack}")
            iterations = 40 if len(board) == 10 or narrow else 8
            spot = ["spot", "--board", board, "--oop", oop, "--ip", ip, *menu.split()]
            rest = ["--iterations", iterations]
            brackets = []
            ways = itertools.product(TABLE_METHODS, (32, 16), (1, 2))
            for method, bits, threads in draw.sample([*ways], 5):
                how = ["--method", method, "--bits", bits, "--threads", threads]
                case = " ".join(map(str, [*spot, chips, *rest, *how]))
                out = folder / f"spot{number}-{MENUS.index(menu)}-{method}-{bits}-{threads}"
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
    """Check that renaming suits keeps the value and doubling no-limit chips doubles it."""
    renamed = str.maketrans("cdhs", "dhsc")

    def suits(text: str) -> str:
        """Rename suits: Td becomes Th; the s and o of AKs and AKo stay."""
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
        # Equal regrets tie, and rounding breaks ties in another order of suits otherwise: from the
        # third iteration on plans differ, also in float64. Before, all numbers are the same.
        plain, other = (answer(*s, *chips.split(), "--iterations", 1) for s in (spot, turned))
        for name in ("value", "exploitability"):
            if abs(plain[name] - other[name]) > SLACK * max(1.0, abs(plain[name])):
                raise AssertionError(f"{name} {plain[name]} became {other[name]}")
        later = [answer(*s, *chips.split(), *rest) for s in (spot, turned)]
        brackets = [spot_bracket(found) for found in later]
        low, high = max(low for low, _ in brackets), min(high for _, high in brackets)
        _overlap(low, high, max(1.0, *(abs(end) for both in brackets for end in both)), brackets)

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
    """Check that players with other seats or cards win the same within five standard errors."""
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
    """Check that equities of both sides sum to one and do not depend on the names of suits."""
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


# --- the other commands of the documents ----------------------------------------------------------


def check(holds: bool, what: str) -> None:
    """Raise `AssertionError` unless something holds."""
    if not holds:
        raise AssertionError(what)


def renamed(text: str) -> str:
    """Return cards in other suits: Td becomes Th."""
    return text.translate(str.maketrans("cdhs", "dhsc"))


def try_trees(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that kinds of nodes add up to all nodes, and that lower caps leave fewer."""

    def size(*words: object) -> int:
        found = answer("tree", *words)
        kinds = ("decisions", "folds", "showdowns", "continuations")
        counted = sum(sum(found[f"{kind}_per_round"]) for kind in kinds)
        check(counted == found["nodes"], f"{counted} nodes of {found['nodes']}")
        return int(found["nodes"])

    def fewer(smaller: list[object], larger: list[object]) -> None:
        check(size(*smaller) < size(*larger), f"{smaller} is not smaller than {larger}")

    for game in answer("games")["games"]:
        name = game["name"]
        tally.attempt("games", f"games show {name}", lambda n=name: answer("games", "show", n))
        if "no" not in name and name != "discard-holdem":
            tally.attempt("tree", f"tree {name}", lambda n=name: size(n))
    for caps in ("1", "2 3 3 3", "3 4 4 3", "0 1 1 1"):
        words = ["holdem-limit", "--max-raises", caps]
        tally.attempt("tree", " ".join(words), lambda w=words: fewer(w, ["holdem-limit"]))
    for bets in ("50%", "50%,a", "33%,100%", "75c,a"):
        words = ["holdem-nolimit", "--bets", bets, "--max-raises"]
        tally.attempt(
            "tree", " ".join(words), lambda w=words: fewer([*w, "1"], [*w, draw.choice("23")])
        )


def try_indices(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that indices of deals and values of hands are the same in other suits."""

    def comes_back(pattern: str) -> None:
        size = answer("index", "--pattern", pattern)["size"]
        number = draw.randrange(size)
        found = answer("index", "--pattern", pattern, "--at", number)
        deal = found["cards"] if isinstance(found["cards"], list) else found["cards"].split()
        for cards in (deal, [renamed(part) for part in deal]):
            again = answer("index", "--pattern", pattern, *cards)["index"]
            check(again == number, f"{cards} has index {again}, not {number}")

    for _ in range(12):
        pattern = draw.choice(("2,3,1,1", "2,3", "2,5", "2,2", "1,1,1", "2", "3,2", "2,4,1"))
        tally.attempt("index", pattern, lambda p=pattern: comes_back(p))

    def ranks(cards: list[str]) -> None:
        value = answer("rank", "".join(cards))["value"]
        other = [renamed(card) for card in cards]
        draw.shuffle(other)
        check(answer("rank", "".join(other))["value"] == value, f"{cards} and {other}")

    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    for size in (5, 6, 7, 5, 6, 7):
        cards = draw.sample(deck, size)
        tally.attempt("rank", "".join(cards), lambda c=cards: ranks(c))


def try_samples(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that sampled equities are within five standard errors of exact or other ones."""

    def near(exact: list[str], sampled: list[str]) -> None:
        seeds = [draw.randrange(2**32) for _ in range(2)]
        found = [
            answer("equity", *sampled, "--seed", seed, "--threads", threads)
            for seed, threads in zip(seeds, (1, 2), strict=True)
        ]
        truth = answer("equity", *exact) if exact else found.pop()
        for each in found:
            spread = math.hypot(each["standard_error"], truth["standard_error"] or 0)
            check(abs(each["equity"] - truth["equity"]) <= 5 * spread + 1e-9, f"{each} {truth}")

    for one, two, board in (
        ("AhKh", "QQ+,AKs", "Qh7h2c"),
        ("AA", "72o", "2c2d7h"),
        ("T9s", "AK,55", "Td9d6hQc"),
        ("22+", "AhKd", "AcKs4h5h"),
    ):
        words = [one, two, "--board", board]
        sampled = [*words, "--method", "monte-carlo", "--samples", "20000"]
        tally.attempt("monte carlo", " ".join(sampled), lambda w=words, c=sampled: near(w, c))
    for hands in (["AhAd", "KsKc"], ["7s2h", "AsKs"]):
        words = [*hands, "--discards", "--samples", "20000"]
        tally.attempt("discards", " ".join(words), lambda w=words: near([], w))


def try_solutions(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that stored solutions can be shown, verified and compared."""

    def shown(out: Path, node: str, board: str) -> None:
        found = answer("show", out, "--node", node, *(["--board", board] if board else []))
        for row in found["probabilities"]:
            check(min(row) >= 0 and abs(sum(row) - 1) < 1e-5, f"{row} is no distribution")

    for method, dtype in (("cfr+", "float64"), ("dcfr", "float32"), ("egt", "float64")):
        out = folder / f"{method}-{dtype}"
        words = ["solve", "leduc", "--method", method, "--dtype", dtype, "--out", out]
        words += ["--iterations", draw.choice((3, 50, 400)), "--threads", draw.choice((1, 2))]
        if tally.attempt("solve", " ".join(map(str, words)), lambda w=words: answer(*w)) is None:
            continue
        for node, board in (("", ""), ("cr", ""), ("cc/r", draw.choice(("Ks", "Qh", "As", "Kh")))):
            case = f"show {method} --node {node} --board {board}"
            tally.attempt("show", case, lambda o=out, n=node, b=board: shown(o, n, b))
        tally.attempt("verify", method, lambda o=out: answer("verify", o))
    for seed in (1, draw.randrange(2**32)):
        words = ["compare", "kuhn", "--methods", "cfr+,mccfr,pcs,egt,lp", "--seconds", 0.3]
        words += ["--seed", seed, "--dtype", draw.choice(("float32", "float64"))]
        case = " ".join(map(str, words))
        found = tally.attempt("compare", case, lambda w=words: answer(*w))
        for row in found["rows"] if found else ():
            tally.agree("compare", f"{case}: {row['method']}", [game_bracket(row), (KUHN, KUHN)])


def try_spot_nodes(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Try nodes, runouts, locks and more iterations of stored spots."""
    spots = (
        ("Td9d6hQc", "QQ+,AK,T9s", "88-22,AQ,JTs", 200, 900, "60%,a", "cr120"),
        ("Qh7d2c5s", "AA,72s,AK", "KK-JJ,A5s", 60, 130, "50%,a", "cr30"),
        ("AhKh2c3d9s", "22+,AK", "A2s+,KQ", 100, 300, "33%,a", "r33"),
    )
    for number, (board, oop, ip, pot, stack, bets, node) in enumerate(spots):
        for bits in (32, 16):
            out = folder / f"{number}-{bits}"
            words = ["spot", "--board", board, "--oop", oop, "--ip", ip, "--pot", pot, "--stack"]
            words += [stack, "--bets", bets, "--bits", bits, "--to", "3%", "--out", out]
            case = " ".join(map(str, words[:-2]))
            if tally.attempt("spot", case, lambda w=words: answer(*w)) is None:
                continue
            more = ("--node", node), ("--hands", "AK"), ("--to", "1%")
            more += (("--node", "cc", "--runouts"),) if len(board) == 8 else ()
            for words in more:
                rest = " ".join(words)
                tally.attempt(
                    "spot node",
                    f"{case}, {rest}",
                    lambda o=out, w=words: _node(answer("spot", o, *w)),
                )
            tally.attempt("lock", f"{case}, {node}", lambda o=out, n=node: _locked(o, n))


def _node(found: dict[str, Any]) -> None:
    """Check that frequencies and probabilities of each node of a report are distributions."""
    for node in found.get("runouts") or [found["node"]]:
        if node["frequencies"]:
            check(abs(sum(node["frequencies"]) - 1) < 1e-3, f"frequencies {node['frequencies']}")
        for hand in node["hands"]:
            row = hand["probabilities"]
            check(not row or abs(sum(row) - 1) < 1e-3, f"{hand['hand']}: {row}")
    check(0 <= found["percent_of_pot"] <= 3.001, f"{found['percent_of_pot']} % of the pot")


def _locked(out: Path, node: str) -> None:
    """Check that a locked decision has its given probabilities."""
    actions = answer("spot", out, "--node", node)["node"]["actions"]
    rest = "".join(f"; {action}=0" for action in actions[2:])
    lock = f"{node}: {actions[0]}=0.25{rest}"
    answer("spot", out, "--lock", lock, "--iterations", 30, "--out", f"{out}-locked")
    often = answer("spot", f"{out}-locked", "--node", node)["node"]["frequencies"]
    wanted = [0.25, 0.75, *[0.0] * (len(actions) - 2)]
    check(max(abs(a - b) for a, b in zip(often, wanted, strict=True)) < 1e-3, f"{lock}: {often}")
    check(answer("exploit", f"{out}-locked")["matches"], "the certificate does not match")


def try_counts(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that buckets and counts do not depend on threads or on the names of suits."""

    def same_hash(*words: object) -> None:
        found = [
            answer(
                *words,
                "--out",
                folder / f"{words[1]}-{threads}".replace("/", "-"),
                "--threads",
                threads,
            )
            for threads in (1, 2)
        ]
        check(found[0]["hash"] == found[1]["hash"], f"{words} depends on the number of threads")

    recipes = (("percentile", "3,9,27"), ("moments", "3,5,9"), ("potential-aware", "3,5,9"))
    for recipe, buckets in recipes:
        words = ["abstract", recipe, "--game", "rhode-island", "--buckets", buckets]
        words += ["--seed", draw.randrange(1000)]
        tally.attempt("threads", " ".join(map(str, words)), lambda w=words: same_hash(*w))
        name = folder / f"{recipe}-1"
        for hand, board in (("As", "Kd"), ("7c", "7d 7h"), ("2h", "Th")):

            def buckets_of(name: Path = name, hand: str = hand, board: str = board) -> None:
                cards = [hand, board], [renamed(hand), renamed(board)]
                one, two = (answer("buckets", name, *each)["buckets"] for each in cards)
                check(one == two, f"{hand} {board}: {one}, in other suits {two}")

            tally.attempt("buckets", f"{recipe} {hand} {board}", buckets_of)
    words = ["joint", str(folder / "percentile-1")]
    tally.attempt("threads", "joint", lambda w=words: same_hash(*w))
    name, counts, product = folder / "classes", folder / "classes-joint", folder / "network"
    words = ["abstract", "strength-potential", "--buckets", "2,3,3", "--game", "rhode-island"]
    tally.attempt("transitions", "classes", lambda: answer(*words, "--out", name))
    tally.attempt("transitions", "joint", lambda: answer("joint", name, "--out", counts))
    tally.attempt(
        "transitions", "product", lambda: answer("transitions", name, counts, "--product", product)
    )
    brackets = []
    for method in ("cfr+", "lp", "dcfr"):
        words = ["solve", name, "--joint", product, "--rounds", "2-3", "--pot", 20, "--method"]
        words += [method, "--iterations", 300]
        found = tally.attempt("transitions", method, lambda w=words: answer(*w))
        if found is not None:
            brackets.append(game_bracket(found))
    if brackets:
        tally.agree("transitions", "product game", brackets)


def try_records(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that a match, its log, and the same match over TCP or at a terminal agree."""

    def logged(game: str, one: str, two: str, seed: int, suffix: str) -> None:
        log = folder / f"{game}-{one}-{seed}{suffix}"
        words = ["--phh" if suffix else "--log", log]
        match = answer("match", one, two, "--game", game, "--hands", 60, "--seed", seed, *words)
        again = answer("log", log, "--game", game, *([] if suffix else ["--replay"]))
        sign = 1 if again["players"][0] == one else -1
        check(abs(match["win_rate"] - sign * again["win_rate"]) < 1e-9, f"{match} {again}")

    for game, one, two in (
        ("kuhn", "uniform", "always-call"),
        ("leduc", "uniform", "always-raise"),
        ("holdem-limit", "poki", "teddy"),
        ("holdem-nolimit", "uniform", "always-shove"),
        ("discard-holdem", "uniform", "always-call"),
    ):
        for suffix in ("", ".phhs") if game.startswith("holdem") else ("",):
            seed = draw.randrange(2**32)
            case = f"{game} {one} {two} --seed {seed} {suffix}"
            tally.attempt(
                "log",
                case,
                lambda g=game, o=one, t=two, s=seed, x=suffix: logged(g, o, t, s, x),
            )

    def threads(words: list[object]) -> None:
        found = [answer(*words, "--threads", number) for number in (1, 2)]
        rates = [each["win_rate"] for each in found]
        check(rates[0] == rates[1], f"{rates} with one and two threads")

    for rest in (["--duplicate"], ["--until-sure"], ["--matches", 5], ["--postflop"]):
        words = ["match", "mix:0,0.6,0.4", "uniform", "--hands", 3000, *rest]
        words += ["--seed", draw.randrange(2**32)]
        tally.attempt("match", " ".join(map(str, words)), lambda w=words: threads(w))
    plan = folder / "cup.toml"
    plan.write_text(
        'game = "leduc"\nplayers = ["uniform", "always-call", "always-raise"]\nhands = 400\n'
    )
    for seed in (0, draw.randrange(2**32)):
        words = ["tournament", plan, "--seed", seed, "--csv", folder / f"{seed}.csv"]
        tally.attempt("tournament", f"seed {seed}", lambda w=words: answer(*w))


def try_tables(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that results over TCP and at a terminal equal those in process."""
    here = f"{shlex.quote(sys.executable)} -c 'from equilibrist.cli import main; main()'"

    def served(game: str, one: str, two: str, seed: int, rest: list[str]) -> None:
        bots = (f"{here} connect {{host}} {{port}} {name} --game {game}" for name in (one, two))
        words = [word for bot in bots for word in ("--bot", " ".join([bot, *rest]))]
        found = answer("dealer", game, "--hands", 20, "--seed", seed, *words, *rest)
        match = answer("match", one, two, "--game", game, "--hands", 20, "--seed", seed)
        check(abs(found["win_rate"] - match["win_rate"]) < 1e-9, f"{found} {match}")

    pokerbots = ["--protocol", "pokerbots"]
    for game, one, two, rest in (
        ("leduc", "always-raise", "always-call", []),
        ("holdem-limit", "always-call", "always-raise", []),
        ("holdem-nolimit", "always-shove", "always-call", []),
        ("discard-holdem", "always-shove", "always-call", pokerbots),
    ):
        seed = draw.randrange(2**32)
        case = f"dealer {game} {one} {two} --seed {seed}"
        tally.attempt(
            "dealer", case, lambda g=game, o=one, t=two, s=seed, r=rest: served(g, o, t, s, r)
        )

    def played(game: str, seed: int, suffix: str) -> None:
        log, keys, before = folder / f"{game}-{seed}{suffix}", "s" * 400, sys.stdin
        words = ["play", "always-call", "--game", game, "--hands", 4, "--seed", seed, "--out", log]
        chips = []
        try:
            for rest in ([], ["--resume"]):
                sys.stdin = io.StringIO("f".join(keys))
                chips.append(answer(*words, *rest)["chips"])
        finally:
            sys.stdin = before
        found = answer("log", log, "--game", game)
        check(found["hands"] == 8, f"{found['hands']} hands instead of 8")
        check(sum(found["score"]) == 0, f"score {found['score']}")
        mine = found["score"][found["players"].index("you")]
        check(chips[-1] == mine, f"{chips} chips, {mine} in the log")

    for game, suffix in (("leduc", ".log"), ("holdem-limit", ".log"), ("holdem-limit", ".phhs")):
        seed = draw.randrange(2**32)
        tally.attempt(
            "play", f"{game} {seed} {suffix}", lambda g=game, s=seed, x=suffix: played(g, s, x)
        )


def try_real_game(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that flops of the real game are the same with two threads and when recomputed."""

    def same(strategy: str, flops: int) -> None:
        found = []
        for threads in (1, 2):
            out = folder / f"{strategy}-{threads}"
            words = [strategy, "--real-game", "--flops", flops, "--out", out, "--threads", threads]
            found.append(answer("exploit", *words))
        numbers = [each["exploitability"] for each in found]
        check(abs(numbers[0] - numbers[1]) < 1e-6, f"{numbers} with one and two threads")
        check(found[0]["estimate"] and found[0]["flops"] == flops, f"{found[0]}")
        answer("verify", out, "--flops", 1)

    for strategy in ("always-call", "mix:0.1,0.6,0.3", "always-raise"):
        flops = draw.choice((6, 7))
        tally.attempt("real game", f"{strategy} {flops}", lambda s=strategy, f=flops: same(s, f))


def try_papers(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that matches of the papers' tables with other seeds are within their intervals."""
    for seed in (0, draw.randrange(2**32)):
        words = ["reproduce", "cfr-plus", "--quick", "--seed", seed]
        tally.attempt("reproduce", " ".join(map(str, words)), lambda w=words: answer(*w))
    words = ["reproduce", "ectomynx", "--quick", "--seed"]
    found = [
        tally.attempt("reproduce", f"ectomynx --seed {seed}", lambda s=seed: answer(*words, s))
        for seed in (1, draw.randrange(2**32))
    ]
    for one, two in zip(*(each["rows"] if each else () for each in found), strict=True):
        if one["standard_error"] and two["standard_error"]:
            spread = math.hypot(one["standard_error"], two["standard_error"])
            tally.attempt(
                "reproduce",
                one["name"],
                lambda o=one, t=two, s=spread: check(
                    abs(o["ours"] - t["ours"]) <= 5 * s, f"{o['ours']} and {t['ours']}"
                ),
            )


def try_responses(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that responses win more as p grows, and that `exploit` proves what they can lose."""
    targets = ("uniform", "always-call", "mix:0.3,0.5,0.2", "mix:0,0.2,0.8")
    for game, target in itertools.product(("kuhn", "leduc"), targets):
        won = []
        for p in (0, 0.3, 0.7, 1):
            out = folder / f"{game}-{targets.index(target)}-{p}"
            words = ["counter", target, "--game", game, "--p", p, "--out", out]
            words += ["--to", "1e-3", "--threads", draw.choice((1, 2))]
            case = " ".join(map(str, words))
            found = tally.attempt("counter", case, lambda w=words: answer(*w))
            if found is None:
                continue
            (point,) = found["points"]
            won.append((point["win"], point["exploitability"], point["gap"]))
            proved = tally.attempt("exploit", case, lambda o=out: answer("exploit", o))
            if proved is not None:
                states = (proved["exploitability"], point["exploitability"])
                tally.attempt(
                    "exploit", case, lambda s=states: check(math.isclose(*s, abs_tol=1e-9), f"{s}")
                )
                value = KUHN if game == "kuhn" else LEDUC
                tally.agree("exploit", case, [game_bracket(proved), (value, value)])
        for (win, lose, gap), (more, risk, other) in itertools.pairwise(won):
            slack = 20 * (gap + other) + 1e-6  # p and 1 − p divide the distance from the optimum
            text = f"{game} {target}: {won}"
            tally.attempt("counter", text, lambda w=win, m=more, s=slack: check(w <= m + s, "less"))
            tally.attempt(
                "counter", text, lambda w=lose, m=risk, s=slack: check(w <= m + s, "less")
            )
    for method, confidence in (("dbr", "5-step"), ("dbr", "100-linear"), ("fbr", None)):
        words = ["counter", draw.choice(("uniform", "always-call")), "--game", "leduc"]
        words += ["--hands", draw.choice((2000, 5000)), "--method", method]
        words += ["--confidence", confidence] if confidence else []
        words += ["--seed", draw.randrange(2**32)]
        tally.attempt("counter", " ".join(map(str, words)), lambda w=words: answer(*w))


def try_splits(tally: Tally, draw: random.Random, folder: Path) -> None:
    """Check that split games have the value of the game in one piece, by each method and width."""
    ways = itertools.product(
        ("cfr+", "dcfr", "linear-cfr"), (16, 32, 64), (1, 2), ([], ["--current"])
    )
    for method, bits, threads, more in draw.sample([*ways], 8):
        out = folder / f"{method}-{bits}-{threads}{''.join(more)}"
        words = ["solve", "leduc", "--split", "preflop", "--method", method, "--bits", bits, *more]
        words += ["--threads", threads, "--iterations", draw.choice((3, 10, 17)), "--store", out]
        case = " ".join(map(str, words))
        found = tally.attempt("solve --split", case, lambda w=words: answer(*w))
        if found is None:
            continue
        tally.agree("solve --split", case, [game_bracket(found), (LEDUC, LEDUC)])
        proved = tally.attempt("exploit", case, lambda o=out: answer("exploit", o))
        if proved is not None:
            tally.attempt(
                "exploit", case, lambda p=proved: check(p["matches"], "the certificate differs")
            )
    for game in ("royal-holdem", "holdem-limit"):
        for caps in ("1 1 1 1", "2 2 2 2", "1 2 2 1"):
            counts = []
            for split, nodes in itertools.product(("preflop", "flop"), (1, 7)):
                words = ["plan", game, "--max-raises", caps, "--split", split, "--nodes", nodes]
                found = tally.attempt("plan", " ".join(map(str, words)), lambda w=words: answer(*w))
                counts += [] if found is None else [found["actions"]]
            tally.attempt(
                "plan", f"{game} {caps}", lambda c=counts: check(len(set(c)) == 1, f"{c}")
            )


PARTS = {
    "solve": try_solve,
    "spots": try_spots,
    "buckets": try_buckets,
    "matches": try_matches,
    "cards": try_cards,
    "trees": try_trees,
    "indices": try_indices,
    "samples": try_samples,
    "solutions": try_solutions,
    "spot-nodes": try_spot_nodes,
    "counts": try_counts,
    "records": try_records,
    "tables": try_tables,
    "real-game": try_real_game,
    "papers": try_papers,
    "responses": try_responses,
    "splits": try_splits,
}


def chosen(name: str | None) -> Iterator[tuple[str, Callable[[Tally, random.Random, Path], None]]]:
    """Return the parts to run."""
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
