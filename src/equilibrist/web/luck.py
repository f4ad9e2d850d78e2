"""The luck of a table: results without it, and what the person's decisions cost.

Both need the values of the opponent's strategy (`play.luck`). They are computed when they are first
asked for, in a thread of their own, while hands are played; tables against the same strategy share
them.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from pydantic import Field

from equilibrist.errors import EquilibristError
from equilibrist.evaluation.decision_values import DecisionValues
from equilibrist.evaluation.winnings import winnings
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.words import action_labels, round_name
from equilibrist.models.game import Floats
from equilibrist.phases import Phase, heard_phases
from equilibrist.play.luck import LuckAdjuster, exact_bytes
from equilibrist.play.session import YOU, Session
from equilibrist.play.session_file import SavedSession
from equilibrist.players.player import Player
from equilibrist.players.strategy_player import StrategyPlayer
from equilibrist.web.costs import Choice, Costs, Known, ValuedAction
from equilibrist.web.hand_spots import costs_by_spot
from equilibrist.web.kernels import CORES
from equilibrist.web.library import Library
from equilibrist.web.table_store import TableStore
from equilibrist.web.tables import finished_hand

_LOG = logging.getLogger(__name__)
_MOST_KEPT = 2  # strategies whose values are in memory, up to gigabytes each
_WANTED = 3.0  # seconds after a question for which values are kept: the page asks again
_MOST_WAITING = 8  # strategies whose values are computed or wait for it
_MOST_PUBLIC = 200_000_000  # bytes of the values that a public server computes
_MOST_POINTS = 200  # of a curve
_NO_LIMIT = (
    "a strategy of a no-limit game has values for its own bet sizes only; a spot that is solved "
    "from a street of the hand has those of that street"
)
_PUBLIC = "a public server does not compute the values of so large a game"


class Luck(Known):
    """The person's result without luck; numbers are null unless it is known."""

    hands: int = 0
    chips: float | None = None
    win_rate: float | None = None
    unit: str = ""
    ci95: tuple[float, float] | None = None
    verdict: str = ""
    variance_factor: float | None = Field(
        default=None, description="how many times smaller the variance of a hand is"
    )
    corrections: list[str] = Field(default=[])
    curve: list[tuple[int, float, float]] = Field(
        default=[], description="number of hands, chips won in them as dealt, and without luck"
    )


@dataclass(eq=False)
class _Values:
    """The values of one player: `adjuster` when they are known, else what is done or why not."""

    player: Player
    adjuster: LuckAdjuster | None = None
    reason: str = ""
    phase: Phase | None = None
    asked: float = 0.0  # when somebody last asked for them
    lock: threading.Lock = field(default_factory=threading.Lock)  # while hands are corrected

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to compute."""
        return self.adjuster is not None or self.reason != ""

    @property
    def known(self) -> Known:
        """What to say about these values."""
        if self.adjuster is not None:
            return Known(state="known")
        if self.reason:
            return Known(state="unknown", reason=self.reason)
        if self.phase is None:
            return Known(state="working", reason="waiting for other values")
        return Known(state="working", reason=self.phase.text, share=self.phase.share)


class LuckStore:
    """The values of strategies that were asked for, computed one after the other."""

    def __init__(self, *, is_public: bool) -> None:
        self.is_public = is_public
        self._values: OrderedDict[tuple[str, str, int], _Values] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # held while values are computed

    def values(self, saved: SavedSession) -> _Values:
        """Return the values of a table's opponent; the first call starts to compute them."""
        session = saved.session
        if self.is_public and _is_large(session.rules):
            return _Values(session.player, reason=_PUBLIC)
        # Tables against the same stored strategy share it, until the bot is trained again.
        player = session.player
        strategy = player.strategy if isinstance(player, StrategyPlayer) else None
        key = saved.text, session.rules.name, id(strategy)
        with self._lock:
            if key not in self._values:
                under_way = sum(not each.is_done for each in self._values.values())
                if under_way >= _MOST_WAITING:
                    return _Values(player)  # the page asks again
                self._values[key] = _Values(player)
                work = threading.Thread(
                    target=self._compute, args=(self._values[key], session), daemon=True
                )
                work.start()
            self._values.move_to_end(key)
            found = self._values[key]
            found.asked = time.monotonic()
            self._forget_old()
            return found

    def _forget_old(self) -> None:
        """Forget the values that were not asked for longest, but none that somebody waits for."""
        done = [key for key, values in self._values.items() if values.is_done]
        for key in done[: max(0, len(done) - _MOST_KEPT)]:
            if time.monotonic() - self._values[key].asked > _WANTED:
                del self._values[key]

    def _compute(self, values: _Values, session: Session) -> None:
        """Compute values in a thread of their own."""
        own = threading.get_ident()

        def listen(phase: Phase) -> None:
            if threading.get_ident() == own:
                values.phase = phase

        try:
            with self._turn, heard_phases(listen):
                CORES.use()
                values.adjuster = session.luck_adjuster()
        except EquilibristError as error:
            values.reason = str(error)
        except Exception as error:
            _LOG.error("the values of %s failed", session.player.name, exc_info=error)
            values.reason = "the values could not be computed; the server's terminal says why"
        with self._lock:
            self._forget_old()


@functools.cache
def _is_large(rules: GameRules) -> bool:
    """Return whether the values of a limit game need much memory; other games have none."""
    return rules.is_limit and exact_bytes(rules) > _MOST_PUBLIC


def luck_router(store: TableStore, luck: LuckStore, library: Library) -> APIRouter:
    """Return the part of the API that removes the luck."""
    router = APIRouter(prefix="/api", tags=["table"])

    @router.get("/tables/{identity}/luck")
    def show_luck(request: Request, identity: str) -> Luck:
        """Show the result without luck; ask again while its state is `working`."""
        with store.using(request.state.owner, identity) as saved:
            hands, rules = list(saved.session.hands), saved.session.rules
        values, names = luck.values(saved), (YOU, saved.session.player.name)
        found = values.known
        if values.adjuster is None or not hands:
            return Luck(**found.model_dump())
        with values.lock:
            adjusted = values.adjuster.hands(hands)
        result: dict[str, Any] = winnings(adjusted.chips[0].tolist(), rules, names)
        return Luck(
            state="known",
            hands=len(hands),
            chips=float(adjusted.chips.sum()),
            win_rate=result["win_rate"],
            unit=result["unit"],
            ci95=result["ci95"],
            verdict=result["verdict"],
            variance_factor=adjusted.variance_factor,
            corrections=list(adjusted.corrections),
            curve=_curve(adjusted.plain[0], adjusted.chips[0]),
        )

    @router.get("/tables/{identity}/hands/{number}/costs")
    def show_costs(
        request: Request,
        identity: str,
        number: int,
        by: Annotated[str, Query(max_length=200, description="a solved spot")] = "",
    ) -> Costs:
        """Show what each of your decisions in a finished hand cost; ask again while `working`.

        An action is worth what you win with it on average if both players follow the opponent's
        strategy afterwards; its cost is what the best action is worth more. `by` a solved spot that
        the hand passed through, both play its solution.
        """
        with store.using(request.state.owner, identity) as saved:
            record, name = finished_hand(saved, number), saved.session.player.name
        if by:
            return costs_by_spot(library, by, record)
        if not (record.rules.is_limit or any(record.rules.discards)):
            return Costs(state="unknown", reason=_NO_LIMIT)
        values = luck.values(saved)
        found = values.known
        if values.adjuster is None:
            return Costs(**found.model_dump())
        with values.lock:
            decisions = values.adjuster.decisions(record)
        choices = [_choice(values.adjuster, record, decision) for decision in decisions]
        total = sum(choice.cost for choice in choices)
        basis = _basis(values.adjuster, name)
        return Costs(state="known", basis=basis, total=total, decisions=choices)

    return router


def _curve(plain: Floats, adjusted: Floats) -> list[tuple[int, float, float]]:
    """Return the sums of results after some of the hands, the last of them all."""
    step = -(-len(plain) // _MOST_POINTS)
    places = range(len(plain) - 1, -1, -step)
    first, second = np.cumsum(plain), np.cumsum(adjusted)
    points = [(place + 1, float(first[place]), float(second[place])) for place in places]
    return [(0, 0.0, 0.0), *reversed(points)]


def _basis(adjuster: LuckAdjuster, name: str) -> str:
    """Return which values these are."""
    after = f"after each decision both play like {name}"
    last = round_name(adjuster.rules, adjuster.exact_from)
    if not adjuster.exact_from:
        return f"Exact values against {name}, if {after}."
    if adjuster.known_from:
        return f"Exact values on the {last}, if {after}; before, {name} has no buckets to compare."
    return (
        f"Exact values against {name} on the {last}; before, estimates by the values of its "
        f"buckets. Both assume that {after}."
    )


def _choice(adjuster: LuckAdjuster, record: HandRecord, decision: DecisionValues) -> Choice:
    """Return a decision with its values in words."""
    tree = adjuster.betting
    r = int(tree.round[decision.node])
    actions = [
        ValuedAction(words=words, action=tree.step(child), value=value)
        for child, words, value in zip(
            tree.children(decision.node),
            action_labels(tree, decision.node),
            decision.values,
            strict=True,
        )
    ]
    return Choice(
        street=round_name(record.rules, r),
        before=sum(tree.action(node) is not None for node in tree.path(decision.node)),
        actions=actions,
        taken=decision.taken,
        cost=decision.cost,
        is_exact=r >= adjuster.exact_from,
    )
