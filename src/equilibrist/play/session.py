"""A session of a person against a player, saved hand by hand, which can be resumed.

The person is at seat 0 and called `you`. Deals are those of the seed, so hand n of a session is the
same whenever it is played; use a `secret_seed` if the person must not know future cards. The seed
is saved with the hands, because the file belongs to the person. If the person leaves in the middle
of a hand, it is checked and then folded to the first bet, so that every dealt hand counts. A
resumed session continues with the next hand; the player receives the results of the earlier hands
again, so that it can remember them.

A terminal plays a whole hand at a time (`play`); a page, which waits for the person between two
requests, plays it action by action (`deal`, `act`).

If the player is a table of a limit game that AIVAT covers, the luck of the cards and of its random
actions can be removed from the result (`play.luck`); that needs nothing but the hands, so old files
have it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from equilibrist.errors import IllegalActionError, InvalidValueError, RecordError
from equilibrist.evaluation.statistics import match_statistics
from equilibrist.evaluation.winnings import winnings
from equilibrist.games.action import Action
from equilibrist.games.dealing import MOST_ACPC_SEED, Dealer
from equilibrist.games.log_file import LogFile, write_hands
from equilibrist.games.match_log import MatchHeader, MatchLog, actions_of, replay, replay_hand
from equilibrist.games.phh import phh_text
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import Deal, HandState
from equilibrist.play.luck import LuckAdjusted, LuckAdjuster
from equilibrist.play.table import end_hand, play_on
from equilibrist.players.player import Mixing, Mixture, Player, Result, View
from equilibrist.players.static import nearest_action
from equilibrist.players.strategy_player import StrategyPlayer

YOU = "you"

Ask: TypeAlias = Callable[[View], Action]  # may raise `Leave`


class Leave(Exception):  # noqa: N818
    """Raised when the person leaves the table."""


class Person(Player):
    """A player whose actions a person chooses, until the person leaves."""

    name = YOU

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.has_left = False

    def act(self, view: View) -> Action:
        """Return the person's action; a check or a fold after the person has left."""
        if not self.has_left:
            try:
                return self.ask(view)
            except Leave:
                self.has_left = True
        return nearest_action(view.betting, "f")

    def reset(self, seed: int) -> None:
        """Do nothing: a person's memory cannot be reset."""


@dataclass(frozen=True)
class Decision:
    """One decision of the player: its view, its action and its mixed strategy."""

    view: View
    action: Action
    mixture: Mixture | None  # None if the player has no mixed strategy to show


class _Watched(Player):
    """A player whose decisions are recorded."""

    def __init__(self, player: Player) -> None:
        self.player, self.name = player, player.name
        self.decisions: list[Decision] = []

    def act(self, view: View) -> Action:
        mixture = mixture_at(self.player, view)
        action = self.player.act(view)
        self.decisions.append(Decision(view, action, mixture))
        return action

    def observe(self, result: Result) -> None:
        self.player.observe(result)

    def reset(self, seed: int) -> None:
        self.player.reset(seed)


@dataclass(eq=False)
class Session:
    """A session: the hands of a person against a player so far."""

    rules: GameRules
    player: Player
    seed: int
    hands: list[HandRecord] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)  # the player's in the last hand
    hand: HandState | None = None  # the hand in play, with all its cards; None between hands

    def __post_init__(self) -> None:
        self._person = Person(_leave)
        self._upcoming: Deal | None = None  # the next deal, if it is drawn already
        self._dealer = Dealer(self.rules, self.seed)
        self._dealer.skip(len(self.hands))
        # After a resume, the player's random numbers differ from those of an uninterrupted session.
        self.player.reset(_player_seed(self.seed, len(self.hands)))
        for record in self.hands:
            number = 1 - record.names.index(YOU)
            view = View.of(record.state, number)
            self.player.observe(Result(view, int(record.payoffs[number])))

    @property
    def chips(self) -> list[int]:
        """Chips that the person won in each hand."""
        return [int(record.payoffs[record.names.index(YOU)]) for record in self.hands]

    def luck_adjuster(self) -> LuckAdjuster:
        """Return what removes the luck from hands against this player; building it takes a while.

        Raises `InvalidValueError` if the luck cannot be removed: the player is not a table, its
        joint counts are gone, or the game is neither limit hold'em nor a limit game whose exact
        model fits into memory.
        """
        if not (self.rules.is_limit or any(self.rules.discards)):
            raise InvalidValueError(
                f"{self.rules.name} is no-limit; sessions are corrected for luck in limit games",
                value=self.rules.name,
            )
        return LuckAdjuster(self.rules, (Person(_leave), self.player))

    def luck_adjusted(self) -> LuckAdjusted | None:
        """Return the person's results without luck; None if there are none, or they have luck."""
        if not self.hands:
            return None
        try:
            return self.luck_adjuster().hands(self.hands)
        except InvalidValueError:
            return None

    def result(self) -> dict[str, Any]:
        """Return the fields of a match report: the person's win rate with its interval."""
        return winnings(self.chips, self.rules, (YOU, self.player.name))

    def summary(self) -> str:
        """Return the total so far with its interval as text."""
        chips = self.chips
        hands = "1 hand" if len(chips) == 1 else f"{len(chips):,} hands"
        text = f"you {sum(chips):+,} chips in {hands} against {self.player.name}"
        if len(chips) < 2:
            return text
        found = match_statistics(chips, rules=self.rules)
        return f"{text}, {found.estimate.text(found.unit)}"

    @property
    def view(self) -> View | None:
        """What the person sees: the hand in play, or the last one; None before the first."""
        if self.hand is not None:
            return View.of(self.hand, len(self.hands) % 2)
        return View.of(self.hands[-1].state, (len(self.hands) - 1) % 2) if self.hands else None

    def play(self, person: Person) -> HandRecord:
        """Play the next hand to its end."""
        self.deal()
        while self.hand is not None:
            self.act(person.act(View.of(self.hand, len(self.hands) % 2)))
        return self.hands[-1]

    def deal(self) -> None:
        """Deal the next hand; the player acts until it is the person's turn, or to the end."""
        if self.hand is not None:
            number = self.hand.hand_number + 1
            raise IllegalActionError(f"hand {number} is still in play; finish it first")
        self.decisions = []
        if self._upcoming is None:  # else the player failed after this deal
            self._upcoming = next(self._dealer)
        self._go_on(HandState.start(self.rules, self._upcoming, len(self.hands)))
        self._upcoming = None

    def act(self, action: Action) -> None:
        """Take an action of the person; the player acts until it is the person's turn again.

        Raises `IllegalActionError`, which shows no hidden card, if the action is not legal; the
        hand stays as it was.
        """
        if self.hand is None:
            raise IllegalActionError("no hand is in play; deal the next one first")
        View.of(self.hand, len(self.hands) % 2).state.verify(action)
        self._go_on(self.hand.apply(action))

    def _go_on(self, state: HandState) -> None:
        """Let the player act where it can; then wait for the person, or end the hand."""
        person, watched = len(self.hands) % 2, _Watched(self.player)
        order: list[Player] = [self._person, watched]
        order = order[::-1] if person else order
        state = play_on(state, order, waits_for=person)
        self.decisions += watched.decisions
        self.hand = state
        if state.is_over:
            self.hands.append(end_hand(state, order))
            self.hand = None

    def resume_hand(self, played: HandState) -> None:
        """Continue a hand that was begun: all its actions so far, and the person's turn.

        Raises `RecordError` if it is not the next hand, or not of the session's seed.
        """
        if self.hand is not None or played.hand_number != len(self.hands):
            raise RecordError(
                f"hand {played.hand_number + 1} cannot be continued after {len(self.hands)} hands",
                value=played.hand_number,
            )
        state = replay_hand(played, next(self._dealer), self.seed)
        if state.actor != len(self.hands) % 2:
            raise RecordError(f"it is not your turn in {played}", value=str(played))
        self.hand = state

    def log(self) -> MatchLog:
        """Return the hands as a log."""
        names = (YOU, self.player.name)
        header = MatchHeader.of(self.rules, names, len(self.hands), self.seed)
        return MatchLog(self.rules, names, tuple(self.hands), header)

    def save(self, path: Path, *, replace: bool = True) -> None:
        """Write the hands atomically: after any failure the file is the old or the new one."""
        write_hands(self.log(), path, replace=replace)


def mixture_at(player: Player, view: View) -> Mixture | None:
    """Return a player's mixed strategy at one of its decisions, None if it cannot report one."""
    return player.mixture(view) if isinstance(player, Mixing) else None


def decisions_in(record: HandRecord, player: Player) -> list[Decision]:
    """Return the decisions of a session's player in a finished hand, with its mixed strategy.

    The mixtures are computed again: in limit games they are those that were played. In no-limit
    games a strategy may read raises of sizes that it does not have in another way than it did.
    """
    number = 1 - record.names.index(YOU)
    asked = player.twin() if isinstance(player, StrategyPlayer) else player
    state = HandState.start(record.rules, record.state.deal, record.hand_number)
    found = []
    for action in actions_of(record.state):
        if state.actor == number:
            view = View.of(state, number)
            found.append(Decision(view, action, mixture_at(asked, view)))
        state = state.apply(action)
    return found


def _leave(view: View) -> Action:
    raise Leave


def _player_seed(seed: int, hands: int) -> int:
    """Return the seed of the player's random numbers, as hard to guess as that of the deals."""
    sequence = np.random.SeedSequence([seed, hands])
    if seed <= MOST_ACPC_SEED:
        return int(sequence.generate_state(1)[0])
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")


def resumed(rules: GameRules, player: Player, path: Path, seed: int | None = None) -> Session:
    """Resume the session of a file; `seed` is needed if the file has none (PHH of other programs).

    Raises `RecordError` if the file is of another player or its deals are of another seed.
    """
    file = LogFile(path, rules)
    hands = list(file)
    if seed is None or file.seed is None:
        seed = file.seed if seed is None else seed
    elif seed != file.seed:
        raise RecordError(f"{path} has the deals of seed {file.seed}, not {seed}", value=seed)
    if seed is None:
        raise RecordError(f"{path} does not contain its seed; specify the seed", value=str(path))
    names = (YOU, player.name)
    if hands and sorted(file.seats) != sorted(names):
        raise RecordError(
            f"{path} is a match of {' and '.join(file.seats)}, not of you and {player.name}",
            value=str(path),
        )
    if [record.hand_number for record in hands] != list(range(len(hands))):
        raise RecordError(f"{path} is not a complete session: hands are missing", value=str(path))
    return replayed(rules, player, hands, seed)


def replayed(rules: GameRules, player: Player, hands: Sequence[HandRecord], seed: int) -> Session:
    """Return the session of these hands; raise `RecordError` if they are not those of the seed."""
    whole = replay(MatchLog(rules, (YOU, player.name), tuple(hands)), seed)
    return Session(rules, player, seed, list(whole.hands))


def check_form(rules: GameRules, path: Path) -> None:
    """Raise `RecordError` if hands of a game cannot be written to a file with this suffix."""
    if path.suffix == ".phh":
        raise RecordError(
            f"a .phh file contains one hand; call it {path.stem}.phhs", value=str(path)
        )
    if path.suffix == ".phhs":
        state = HandState.start(rules, next(Dealer(rules, 0)))
        while not state.is_over:
            state = state.apply(nearest_action(state.betting, "c"))
        phh_text(HandRecord.of(state, (YOU, "other")))
