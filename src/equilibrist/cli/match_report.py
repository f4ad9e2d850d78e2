"""The report of a match: its numbers, its text and its files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from equilibrist.cli.outputs import check_file
from equilibrist.display.picture import check_plot
from equilibrist.errors import InvalidValueError, StorageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from equilibrist.evaluation.sequential import SequentialTest
    from equilibrist.evaluation.statistics import Estimate
    from equilibrist.games.rules import GameRules
    from equilibrist.play.match import Match, MatchSettings
    from equilibrist.play.match_run import PlayedMatches

_HISTORY = re.compile(r"[01]-[0-9]{7,10}\.phh")  # run and number of a hand


def describe(
    found: PlayedMatches, names: tuple[str, str], settings: MatchSettings
) -> dict[str, Any]:
    """Return the report of what was played: its result, its settings and how it ended."""
    data = _result(found.matches, names, found.test)
    if settings.aivat:
        data["aivat"] = aivat_fields(found.matches, names)
    return data | {
        "postflop": settings.agreed_rounds > 0,
        "seed": settings.seed,
        "outcome": "finished" if found.is_finished else "interrupted",
        "runner": found.matches[0].runner,
        "seconds": round(found.seconds, 3),
    }


def _result(
    played: tuple[Match, ...], names: tuple[str, str], test: SequentialTest | None
) -> dict[str, Any]:
    """Return the result of one match (samples are deals) or several (samples are matches).

    If a sequential test stopped the match, interval and p-value are those of the test.
    """
    import numpy as np

    from equilibrist.evaluation.statistics import chips_of_unit

    rules, many = played[0].rules, len(played) > 1
    unit, chips = chips_of_unit(rules, None)
    samples = np.array([match.rate() for match in played]) if many else played[0].results.rates
    rate = _rate_fields(samples / chips, unit, names)
    data: dict[str, Any] = {
        "game": rules.name,
        "players": list(names),
        **rate,
        "standard_deviation": float(np.std([m.chips for m in played], ddof=1) / chips)
        if sum(match.num_hands for match in played) > 1
        else None,
        "hands": sum(match.num_hands for match in played),
        "samples": len(samples),
        "duplicate": played[0].is_duplicate,
    }
    data |= _other_units(rules, data["win_rate"] * chips)
    if test is not None:
        data |= _sequential(test, played[0], data, chips)
    if many:
        tenths = np.array([match.rate(0.1) for match in played]) / chips
        data["matches"] = [match.rate() / chips for match in played]
        data["last_tenth"] = {"win_rate": float(tenths.mean()), **_error_fields(_estimate(tenths))}
    return data


def aivat_fields(played: tuple[Match, ...], names: tuple[str, str]) -> dict[str, Any] | None:
    """Return the result without luck, None if the match was stopped before it was computed."""
    import numpy as np

    from equilibrist.evaluation.statistics import chips_of_unit
    from equilibrist.play.luck import variance_factor

    adjusted = [match.aivat for match in played if match.aivat is not None]
    if len(adjusted) < len(played):
        return None
    unit, chips = chips_of_unit(played[0].rules, None)
    rates = [match.results.rates for match in adjusted]
    samples = rates[0] if len(rates) == 1 else np.array([one.mean() for one in rates])
    return {
        **_rate_fields(samples / chips, unit, names),
        "variance_factor": variance_factor(adjusted),
        "known": list(adjusted[0].known),
        "corrections": list(adjusted[0].corrections),
    }


def aivat_text(found: dict[str, Any]) -> str:
    """Return the result of `aivat_fields` as text."""
    lines = [f"without luck (AIVAT): {found['verdict']}"]
    if found["ci95"] is not None:
        lines.append(f"  {_interval_text(found, '95 %')}")
    factor = found["variance_factor"]
    if factor is not None:
        lines.append(f"  variance {factor:.3g} times smaller")
    elif len(found["known"]) == 2 and found["standard_error"] == 0:
        lines.append("  both strategies are known: this is the exact expectation")
    lines.append(f"  corrected for: {', '.join(found['corrections'])}")
    return "\n".join(lines)


def _rate_fields(samples: NDArray[np.float64], unit: str, names: tuple[str, str]) -> dict[str, Any]:
    """Return win rate, errors, p-value and verdict of samples that are in a unit."""
    mean, found = float(samples.mean()), _estimate(samples)
    return {
        "win_rate": mean,
        "unit": unit,
        **_error_fields(found),
        "p_value": None if found is None else found.p_value,
        "verdict": _verdict(mean, found, unit, names),
    }


def _interval_text(data: dict[str, Any], kind: str) -> str:
    low, high = data["ci95"]
    return (
        f"win rate {data['win_rate']:.6g} {data['unit']}, standard error "
        f"{data['standard_error']:.4g}, {kind} interval [{low:.6g}, {high:.6g}]"
    )


def _estimate(samples: NDArray[np.float64]) -> Estimate | None:
    """Return the mean with its interval; None for a single sample, which has no error."""
    from equilibrist.evaluation.statistics import Estimate

    return Estimate.of_sample(samples) if len(samples) > 1 else None


def _error_fields(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return {"standard_error": None, "ci95": None}
    return {"standard_error": found.standard_error, "ci95": list(found.ci95)}


def _other_units(rules: GameRules, rate: float) -> dict[str, float]:
    from equilibrist.evaluation.statistics import unit_chips

    known, fields = unit_chips(rules), {"bb_per_100": "bb/100", "sb_per_hand": "sb/h"}
    return {field: rate / known[unit] for field, unit in fields.items() if unit in known}


def _verdict(mean: float, found: Estimate | None, unit: str, names: tuple[str, str]) -> str:
    winner, loser = names if mean >= 0 else names[::-1]
    if found is None:
        return f"{winner} won {abs(mean):.6g} {unit} from {loser}; one sample is no evidence"
    if not found.is_clear:
        return f"no verdict: {names[0]} won {found.text(unit)} from {names[1]}"
    return f"{winner} beats {loser} by {found.text(unit, 1 if mean >= 0 else -1)}"


def _sequential(
    test: SequentialTest, match: Match, data: dict[str, Any], chips: float
) -> dict[str, Any]:
    """Return always-valid interval, p-value and verdict of a match stopped by a test."""
    low, high = (end / chips for end in test.interval)
    is_known = math.isfinite(high - low)
    runs, mean, unit = len(match.chips), data["win_rate"], data["unit"]
    winner, loser = data["players"] if mean >= 0 else data["players"][::-1]
    rate = f"{abs(mean):.6g} {unit}, p {_p_text(test.p_value)}"
    if test.decided_at is None:
        verdict = f"no verdict after {data['hands']:,} hands: {winner} won {rate} from {loser}"
    else:
        verdict = (
            f"{winner} beats {loser} by {rate}, decided after {test.decided_at * runs:,} hands"
        )
    return {
        "ci95": [low, high] if is_known else None,
        "p_value": test.p_value,
        "verdict": verdict,
        "sequential": {
            "decided": test.is_decided,
            "decided_at": None if test.decided_at is None else test.decided_at * runs,
            "alpha": test.rule.alpha,
        },
    }


def _p_text(p_value: float) -> str:
    return f"= {p_value:.2g}" if p_value >= 1e-4 else "< 0.0001"


def report_text(data: dict[str, Any]) -> str:
    """Return the result of `describe` as text."""
    how = "duplicate " if data["duplicate"] else ""
    how += "postflop " if data["postflop"] else ""
    lines = [
        data["verdict"],
        f"{data['game']}, {data['hands']:,} {how}hands, seed {data['seed']}, "
        f"{data['hands'] / max(data['seconds'], 1e-3):,.0f} hands per second",
    ]
    unit = data["unit"]
    if data["ci95"] is not None:
        kind = "always-valid 95 %" if "sequential" in data else "95 %"
        lines.append(_interval_text(data, kind))
    if "sb_per_hand" in data:
        lines.append(f"{data['sb_per_hand']:.4g} sb/h, {data['bb_per_100']:.4g} bb/100")
    if "last_tenth" in data:
        last = data["last_tenth"]
        lines.append(
            f"{len(data['matches'])} matches; over their last tenth {last['win_rate']:.6g} {unit}, "
            f"standard error {last['standard_error']:.4g}"
        )
    if data.get("aivat") is not None:
        lines.append(aivat_text(data["aivat"]))
    return "\n".join(lines)


class MatchOutputs(NamedTuple):
    """The files that a match writes: a log, hand histories and a picture."""

    log: Path | None
    phh: Path | None
    plot: Path | None
    force: bool

    @property
    def needs_hands(self) -> bool:
        """Return whether the hands must be kept."""
        return self.log is not None or self.phh is not None

    def check(self, matches: int, duplicate: bool) -> None:
        """Raise an error, before the match, if a file could not be written."""
        if matches > 1 and self.needs_hands:
            raise InvalidValueError(
                "a log holds one match; leave out --matches, or --log and --phh"
            )
        if self.log is not None:
            for path in log_paths(self.log, duplicate):
                check_file(path, self.force)
        check_folder(self.phh)
        check_plot(self.plot)
        if self.phh is not None:
            check_histories(self.phh, self.force)

    def write(
        self, played: tuple[Match, ...], names: tuple[str, str], data: dict[str, Any]
    ) -> None:
        """Write the files; add the paths of log and histories to the report."""
        from equilibrist.display.winnings import draw_winnings

        if self.log is not None:
            data["log"] = write_logs(played[0], self.log, replace=self.force)
        if self.phh is not None:
            data["phh"] = write_histories(played[0], self.phh)
        if self.plot is not None:
            draw_winnings(played, names, self.plot)


def check_folder(path: Path | None) -> None:
    """Raise `StorageError` before the work if its result could not be written."""
    if path is not None and not path.parent.is_dir():
        raise StorageError(f"{path.parent} is not a folder: cannot write {path}", value=str(path))


def log_paths(path: Path, duplicate: bool) -> list[Path]:
    """Return the log path of each run: a duplicate match has a second one with seats swapped.

    Example:
        >>> [path.name for path in log_paths(Path("match.log"), duplicate=True)]
        ['match.log', 'match.swapped.log']
    """
    swapped = path.with_name(f"{path.stem}.swapped{path.suffix}")
    return [path, swapped] if duplicate else [path]


def write_logs(match: Match, path: Path, *, replace: bool) -> list[str]:
    """Write the log of each run; return their paths."""
    from equilibrist.games.match_log import write_log

    paths = log_paths(path, match.is_duplicate)
    for log, place in zip(match.logs, paths, strict=True):
        write_log(log, place, replace=replace)
    return list(map(str, paths))


def check_histories(folder: Path, force: bool) -> None:
    """Raise `StorageError` unless hand histories can be written to a folder of their own.

    Histories of another match in the same folder would be read as hands of this one, so `force`
    replaces all of them; histories that no match has written are never touched.
    """
    import os

    try:
        if folder.exists() and not folder.is_dir():
            raise StorageError(f"{folder} is a file; --phh needs a folder", value=str(folder))
        part = _part_of(folder)
        if part.exists():
            raise StorageError(
                f"{part} was left by a match that was killed; check it, then remove it",
                value=str(part),
            )
        names = [path.name for path in folder.glob("*.phh")]
        if not all(map(_HISTORY.fullmatch, names)):
            raise StorageError(
                f"{folder} holds histories that no match wrote; choose another folder",
                value=str(folder),
            )
        if names and not force:
            raise StorageError(
                f"{folder} holds histories; choose another folder, or replace them with --force",
                value=str(folder),
            )
        part.mkdir()
        part.rmdir()
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise StorageError(f"cannot write into {folder}", value=str(folder))
    except OSError as error:
        raise _cannot_write(folder, error, "nothing is played yet") from None


def write_histories(match: Match, folder: Path) -> str:
    """Replace the histories in a folder by those of a match, all or none; return the folder."""
    import shutil

    from equilibrist.games.phh import phh_text

    part = _part_of(folder)
    rest = "existing files are unchanged"
    try:
        part.mkdir()
        try:
            for run, log in enumerate(match.logs):
                for record in log.hands:
                    name = f"{run}-{record.hand_number:07}.phh"
                    (part / name).write_text(phh_text(record), encoding="utf-8", newline="\n")
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        # All histories are written; only now remove those of an earlier match.
        rest = f"the histories of this match are in {part} and {folder}"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.phh"):
            if _HISTORY.fullmatch(old.name):
                old.unlink()
        for new in sorted(part.iterdir()):
            new.rename(folder / new.name)
        part.rmdir()
    except OSError as error:
        raise _cannot_write(folder, error, rest) from None
    return str(folder)


def _part_of(folder: Path) -> Path:
    return folder.with_name(folder.name[:200] + ".part")


def _cannot_write(folder: Path, error: OSError, rest: str) -> Exception:
    reason = error.strerror or str(error)
    return StorageError(f"cannot write {folder}: {reason}; {rest}", value=str(folder))
