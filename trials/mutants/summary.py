"""Summarise the results of all mutants: a table by module, survivors, the share noticed."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any


def lower_bound(killed: int, number: int) -> float:
    """Return the lower end of Wilson's 95 % interval of a share.

    Example:
        >>> round(lower_bound(270, 300), 3)
        0.861
    """
    if number == 0:
        return 0.0
    z, share = 1.959964, killed / number
    spread = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return (share + z * z / (2 * number) - spread) / (1 + z * z / number)


def report(lines: list[dict[str, Any]], listed: dict[tuple[str, ...], str]) -> tuple[str, float]:
    """Return the summary by module with the survivors, and the lower bound of those noticed."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    survivors = []
    for line in sorted(lines, key=lambda line: (line["module"], line["line"])):
        verdict = line["verdict"]
        name = (line["module"], line["function"], line["before"], line["after"])
        if verdict == "survived" and name in listed:
            verdict = "listed"
        elif verdict == "survived":
            where = f"src/equilibrist/{line['module']}:{line['line']}"
            survivors += [f"{where} {line['function']} ({line['tests']} tests)"]
            survivors += [f"  - {line['before']}", f"  + {line['after']}"]
        for row in (rows[line["module"]], rows["all"]):
            row[0] += 1
            row[1 + ("killed", "timeout", "survived", "listed").index(verdict)] += 1
    text = [
        f"{'module':36} {'mutants':>8} {'killed':>8} {'timeout':>8} {'survived':>8} {'listed':>8}"
    ]
    for module in [*sorted(rows.keys() - {"all"}), "all"]:
        text.append(f"{module:36} " + " ".join(f"{number:8}" for number in rows[module]))
    number, killed, late, _, equivalent = rows["all"]
    noticed, counted = killed + late, number - equivalent
    bound = lower_bound(noticed, counted)
    text += ["", "Survivors:", *survivors] if survivors else []
    text += [
        "",
        f"{noticed} of {counted} mutants were noticed ({noticed / max(counted, 1):.1%}), {late} of "
        f"them by a time limit: at least {bound:.1%} with 95 % confidence.",
    ]
    if equivalent:
        text += [
            f"{equivalent} more are listed as equivalent; counted as survivors they would leave at "
            f"least {lower_bound(noticed, number):.1%}."
        ]
    return "\n".join(text), bound
