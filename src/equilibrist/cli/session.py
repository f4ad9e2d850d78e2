"""`equilibrist play`: a person plays against a player in the terminal."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from equilibrist.cli.interrupts import exit_if_requested
from equilibrist.cli.options import GameName, Json, SecretSeed, Threads, emit, prepare_players
from equilibrist.cli.outputs import Force
from equilibrist.errors import InvalidValueError, StorageError
from equilibrist.stopping import noted_signals

if TYPE_CHECKING:
    from equilibrist.games.action import Action
    from equilibrist.games.records import HandRecord
    from equilibrist.play.session import Session
    from equilibrist.players.player import View

_CLEAR = "\x1b[2J\x1b[H"
_NOT_SAVED = "nothing was saved; use --out FILE to save hands"
_ESCAPES = re.compile(rb"\x1b(\[[0-9;]*[A-Za-z~]|O.)?")  # sent by arrow and function keys


# Options of `play`.
Opponent = Annotated[str, typer.Argument(help="Opponent, for example poki.")]
NumHands = Annotated[
    int | None, typer.Option(min=1, help="Number of hands; default: until you leave.")
]
Reveal = Annotated[
    bool, typer.Option("--reveal", help="Show the opponent's strategy after each hand.")
]
HandsFile = Annotated[
    Path | None, typer.Option(help="Save the hands to this file: .phhs as PHH, others as ACPC log.")
]
ResumeHands = Annotated[bool, typer.Option("--resume", help="Continue the hands in --out.")]


def play(
    player: Opponent,
    game: GameName = "holdem-limit",
    hands: NumHands = None,
    reveal: Reveal = False,
    out: HandsFile = None,
    resume: ResumeHands = False,
    force: Force = False,
    json: Json = False,
    seed: SecretSeed = None,
    threads: Threads = None,
) -> None:
    """Play against a player in this terminal.

    Keys: A fold, S check or call, D bet or raise, F next hand, Q leave; in no-limit, Z X C V B N
    choose a size. Piped input is read as keys. The cards come from a secret seed, printed at the
    end. Against mixes and stored strategies of limit hold'em and of small limit games, such as
    leduc, the result is also printed without luck.

    Example: equilibrist play poki --out evening.log
    """
    from equilibrist.games.catalog import load_game
    from equilibrist.games.dealing import secret_seed
    from equilibrist.play.session import Session, check_form, resumed
    from equilibrist.players.catalog import make_player

    rules = load_game(game)
    is_resumed = _check(out, resume, force)
    if out is not None:
        check_form(rules, out)
    prepare_players(threads, player)
    seated = make_player(player, rules)
    if is_resumed and out is not None:
        sitting = resumed(rules, seated, out, seed)
    else:
        sitting = Session(rules, seated, secret_seed() if seed is None else seed)
    _play_at_keyboard(sitting, hands, reveal, out, replace=is_resumed or force, as_json=json)


def _play_at_keyboard(
    sitting: Session,
    hands: int | None,
    reveal: bool,
    out: Path | None,
    *,
    replace: bool,
    as_json: bool,
) -> None:
    """Let a person play a session, save its hands and print its result."""
    with _keyboard() as keys, noted_signals(keys.interrupt, keys.restore) as signals:
        table = _Terminal(sitting, keys, sys.stderr if as_json else sys.stdout, reveal)
        try:
            _sit(table, hands, out, replace=replace)
            _report(sitting, out, as_json)
        except OSError:  # for example, the terminal was closed
            if not signals.is_requested:
                raise
    if signals.signal != signal.SIGINT:  # Ctrl-C leaves the table, as Q does
        exit_if_requested(signals)


def _sit(table: _Terminal, hands: int | None, out: Path | None, *, replace: bool) -> None:
    """Play hands one after another and save each."""
    from equilibrist.play.session import Person

    sitting, person = table.sitting, Person(table.ask)
    before = len(sitting.hands)
    while not person.has_left and (hands is None or len(sitting.hands) - before < hands):
        record = sitting.play(person)
        if out is not None:
            sitting.save(out, replace=replace)
            replace = True
        table.show_end(record)
        is_last = hands is not None and len(sitting.hands) - before == hands
        if not is_last and not person.has_left:
            person.has_left = not table.wants_more()


def _report(sitting: Session, out: Path | None, json: bool) -> None:
    """Print the result of the session, also without luck if that is known."""
    names = ("you", sitting.player.name)
    result = sitting.result()
    data: dict[str, Any] = {"game": sitting.rules.name, "player": sitting.player.name}
    data |= {"chips": sum(sitting.chips), "seed": sitting.seed, "out": str(out) if out else None}
    lines = [result["verdict"]]  # below the end of the last hand, which shows the chips
    data["luck_adjusted"] = adjusted = _luck_adjusted(sitting, names)
    if adjusted is not None:
        lines.append(f"luck-adjusted (AIVAT): {adjusted['verdict']}")
    lines.append(f"hands saved in {out}" if out else _NOT_SAVED)
    emit(data | result, "\n".join([*lines, f"seed {sitting.seed}"]), as_json=json)


def _luck_adjusted(sitting: Session, names: tuple[str, str]) -> dict[str, Any] | None:
    """Return the result without luck; None if it is not known, or of one hand only."""
    from equilibrist.evaluation.winnings import winnings

    if len(sitting.hands) < 2:
        return None
    found = sitting.luck_adjusted()
    if found is None:
        return None
    return winnings(found.chips[0].tolist(), sitting.rules, names) | {
        "variance_factor": found.variance_factor,
        "corrections": list(found.corrections),
    }


def _check(out: Path | None, resume: bool, force: bool) -> bool:
    """Raise an error if keys or output file are unusable; return whether hands are resumed."""
    from equilibrist.storage.output_file import check_output, is_taken

    if sys.stdin is None:
        raise InvalidValueError("cannot read keys: stdin is closed; use a terminal or a pipe")
    if resume and force:
        raise InvalidValueError("--resume continues a file and --force replaces it; give only one")
    if out is None:
        if resume:
            raise InvalidValueError("--resume needs --out, the file of the hands to continue")
        return False
    if is_taken(out) and not resume and not force:
        raise StorageError(
            f"{out} exists; --resume continues it, --force replaces it, or choose another name",
            value=str(out),
        )
    check_output(out, replace=resume or force)
    return resume and is_taken(out)


class _Keys:
    """Reads keys one by one: from a terminal as they are pressed, else from stdin.

    A signal ends the keys; it takes effect when the next key is awaited.
    """

    def __init__(
        self, terminal: int | None = None, restore: Callable[[], None] = lambda: None
    ) -> None:
        self.terminal = terminal
        self.restore = restore  # restores the settings of the terminal
        self._waiting: list[str] = []
        self._is_reading = False
        self._has_ended = False

    def interrupt(self) -> None:
        """End the keys; called by the handler of a signal."""
        self._has_ended = True
        if self._is_reading:
            raise KeyboardInterrupt
        with contextlib.suppress(OSError):
            os.write(2, b"leaving after this move; a second signal ends at once\n")

    def read(self) -> str:
        """Return the next key, empty at the end; arrow and function keys are ignored."""
        self._is_reading = True
        try:
            return "" if self._has_ended else self._next()
        except KeyboardInterrupt:
            return ""
        finally:
            self._is_reading = False

    def _next(self) -> str:
        while not self._waiting:
            if self.terminal is None:
                character = _character()
                if not character:
                    return ""
                self._waiting += character.strip()
                continue
            try:
                burst = os.read(self.terminal, 64)
            except OSError:  # the terminal was closed
                return ""
            if not burst or burst == b"\x04":
                return ""
            self._waiting += _ESCAPES.sub(b"", burst).decode(errors="ignore").strip()
        return self._waiting.pop(0)


def _character() -> str:
    """Return the next character of stdin, empty at the end or if it cannot be read."""
    try:
        return sys.stdin.read(1)
    except OSError:
        return ""


@contextlib.contextmanager
def _keyboard() -> Iterator[_Keys]:
    if not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # bytes that are not text are not keys
        yield _Keys()
        return
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def restore() -> None:
        with contextlib.suppress(termios.error):  # the terminal was closed
            termios.tcsetattr(number, termios.TCSADRAIN, before)

    try:
        tty.setcbreak(number)
        yield _Keys(number, restore)
    finally:
        restore()


class _Terminal:
    """The table in a terminal: shows hands and asks the person for actions."""

    def __init__(self, sitting: Session, keys: _Keys, screen: TextIO, reveal: bool) -> None:
        self.sitting, self.keys, self.screen, self.reveal = sitting, keys, screen, reveal
        is_terminal = screen.isatty() and os.environ.get("TERM") != "dumb"
        self.redraws = is_terminal and keys.terminal is not None
        self.colour = is_terminal and not os.environ.get("NO_COLOR")
        self._above = ""  # the last total that was shown

    def ask(self, view: View) -> Action:
        """Return the action that the person chooses; raise `Leave` if they leave."""
        from equilibrist.play.keys import buttons, press
        from equilibrist.play.screen import table_lines

        size = remark = ""
        table = table_lines(view, self.sitting.player.name, colour=self.colour)
        self._draw([*self._summary(), *table])
        while True:
            self._draw([*([remark] if remark else []), *buttons(view, size)], clear=False)
            pressed = press(view, size, self._key())
            if pressed.action is not None:
                return pressed.action
            size, remark = pressed.size, pressed.remark

    def show_end(self, record: HandRecord) -> None:
        """Show the end of a hand."""
        from equilibrist.play.screen import result_line, revealed, table_lines
        from equilibrist.play.session import YOU
        from equilibrist.players.player import Result, View

        other, number = self.sitting.player.name, record.names.index(YOU)
        view = View.of(record.state, number)
        lines = table_lines(view, other, colour=self.colour)
        lines.append(result_line(Result(view, self.sitting.chips[-1])))
        if self.reveal:
            lines += revealed(self.sitting.decisions, other, colour=self.colour)
        self._draw([*lines, *self._summary()])

    def _summary(self) -> list[str]:
        """Return the total so far; nothing if it stands above already, as on a pipe."""
        text = self.sitting.summary()
        is_known, self._above = text == self._above and not self.redraws, text
        return [] if is_known else [text]

    def wants_more(self) -> bool:
        """Return whether the person wants another hand (F) or leaves (Q)."""
        from equilibrist.play.session import Leave

        self._draw(["[F] next hand  [Q] leave"], clear=False)
        try:
            while self._key() != "f":
                pass
        except Leave:
            return False
        return True

    def _key(self) -> str:
        from equilibrist.play.session import Leave

        key = self.keys.read().lower()
        if key in ("", "q"):
            raise Leave
        return key

    def _draw(self, lines: list[str], *, clear: bool = True) -> None:
        start = _CLEAR if clear and self.redraws else "\n" if clear else ""
        print(start + "\n".join(lines), file=self.screen, flush=True)
