"""Forecasts of split games: numbers, bytes and seconds, on this machine or on a cluster.

Seconds come from constants that were measured on one core (docs/split.md). Bytes are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from equilibrist.cards.isomorphism import DealIndexer
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.games.sizes import deals_seen
from equilibrist.models.split import checked_rounds

SWEEP_NANOSECONDS = 7.0  # of one core, per action and iteration; measured on royal-holdem
FILE_NANOSECONDS = 0.6  # of one core, per byte that is read from a file or written to one
COMPRESS_NANOSECONDS = 26.0  # more with zstd, per action and iteration
ZSTD_SHARE = 0.66  # of the raw bytes, float32 after twenty iterations of CFR+
_GAME_MENU = BetMenu()
_DAY, _YEAR = 86_400, 31_557_600  # seconds


@dataclass(frozen=True)
class Cluster:
    """Machines that a plan is for; rates are of one node, in bytes per second."""

    nodes: int = 1
    cores: int = 1
    disk: float = 500e6
    network: float = 1.25e9

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            if not 0 < number < 1e15:
                raise InvalidValueError(
                    f"{name} must be above zero and finite, not {number}", value=number
                )


@dataclass(frozen=True, eq=False)
class SplitPlan:
    """What a split game needs, counted without building its boards.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> plan = SplitPlan.of(get_game("holdem-limit"), "flop", bits=16, current=True)
        >>> plan.subgames, plan.actions // 10**9, round(plan.table_bytes / 1e12, 1)
        (110565, 35888, 71.8)
    """

    subgames: int
    actions: int  # over all information sets, up to suits
    infosets: int
    root_states: int  # numbers of a row of reaches or values
    bits: int = 32
    current: bool = False
    compressed: bool = False

    @classmethod
    def of(
        cls,
        rules: GameRules,
        after: str,
        menu: BetMenu = _GAME_MENU,
        *,
        bits: int = 32,
        current: bool = False,
        compressed: bool = False,
    ) -> SplitPlan:
        """Count a game split after `preflop` or `flop`; raise an error if it cannot be split."""
        rounds = checked_rounds(rules, after)
        betting = BettingTree.build(rules, menu)
        decides = betting.kind == NodeKind.DECISION
        acts = betting.action_kind > 0
        _, states = deals_seen(rules)
        actions = infosets = 0
        for r, number in enumerate(states):
            actions += number * int((acts & (betting.round == r)).sum())
            infosets += number * int((decides & (betting.round == r)).sum())
        ways = len(betting.nodes(NodeKind.ROUND_END, rounds - 1))
        boards = DealIndexer((rules.num_board_cards[1],), rules.deck).sizes[0]
        roots = states[1] if rounds == 2 else states[0] * boards
        return cls(
            ways * boards, actions, infosets, ways * roots, bits, current, compressed
        )  # fmt: skip

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables at rest: regrets and, unless the strategy is current, averages."""
        return round(self.actions * self._number_bytes * (1 if self.current else 2))

    @property
    def transferred_bytes(self) -> int:
        """Bytes that an iteration reads from the disks and writes to them.

        Each half reads both players' regrets and writes one's, and changes one player's averages.
        """
        numbers = 3 if self.current else 5
        return round(self.actions * self._number_bytes * numbers)

    @property
    def network_bytes(self) -> int:
        """Bytes of reaches and values of an iteration, which has two halves."""
        return 4 * self.root_states * max(4, self.bits // 8)

    def seconds(self, cluster: Cluster) -> dict[str, float]:
        """Return the seconds that an iteration computes, moves tables, and waits for the network.

        Computing, to which copies and checksums of files belong, and disks overlap; the network
        does not: a half begins with reaches.
        """
        own = SWEEP_NANOSECONDS + (COMPRESS_NANOSECONDS if self.compressed else 0.0)
        work = self.actions * own + self.transferred_bytes * FILE_NANOSECONDS
        compute = work * 1e-9 / (cluster.nodes * cluster.cores)
        disk = self.transferred_bytes / (cluster.nodes * cluster.disk)
        network = self.network_bytes / cluster.network if cluster.nodes > 1 else 0.0
        iteration = max(compute, disk) + network
        return {"compute": compute, "disk": disk, "network": network, "iteration": iteration}

    def days(self, cluster: Cluster, iterations: int) -> float:
        """Return the days that a number of iterations takes."""
        return self.seconds(cluster)["iteration"] * iterations / _DAY

    def core_years(self, cluster: Cluster, iterations: int) -> float:
        """Return the years times cores that a number of iterations takes."""
        cores = cluster.nodes * cluster.cores
        return self.seconds(cluster)["iteration"] * iterations * cores / _YEAR

    @cached_property
    def _number_bytes(self) -> float:
        return self.bits / 8 * (ZSTD_SHARE if self.compressed else 1.0)


# Bowling, Burch, Johanson and Tammelin 2015: hold'em with 13 ranks, one trunk and 110,565 subgames.
CEPHEUS = {
    "nodes": 200,
    "cores": 24,
    "iterations": 1579,
    "seconds_per_iteration": 61 * 60.0,
    "days": 68.5,
    "core_years": 900.0,
    "bytes": 10.9e12,
    "raw_bytes": 262e12,
    "exploitability_mbb": 0.986,
}
