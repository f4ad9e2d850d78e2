"""Half iterations on the subgames of a split game, on the GPU: the kernels of `table_sweeps`.

All subgames have the same betting up to their pots, and those on a board have the same boards and
hands. So a board is put on the GPU once for all ways to it, the leaves once for each pot, and one
work space serves all boards. A subgame is then nothing but its tables and the opponent's reach.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.kernels.cpu.table_sweeps import Game
from equilibrist.kernels.gpu import device
from equilibrist.kernels.gpu.table_sweeps import Tables, _Player


class OnGpu(NamedTuple):
    """A table of a subgame on the GPU."""

    rounds: list[Any]  # [states, rows of actions] of each round, but the last if it is packed
    packed: tuple[Any, Any] | None  # numbers and scales of the last round


class Half(NamedTuple):
    """What half an iteration does: the arguments of the kernels."""

    player: int
    rule: int
    part: str  # of the tables that are matched: regret or average
    row: tuple[float, float, float, float]  # factors of regrets, and weight of the average


class Shared:
    """What the subgames of all boards share: work space, and the players' rows by pot."""

    def __init__(self) -> None:
        self.work_bytes: int | None = None  # of a batch; that of the first board is for all
        self._space: dict[str, Any] = {}
        self._sides: dict[int, list[_Player]] = {}

    def room(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return work space of a name; there is one for all boards, as large as the largest."""
        size = math.prod(shape)
        if name not in self._space or len(self._space[name]) < size:
            self._space[name] = device.cuda().device_array(size, dtype)
        return self._space[name][:size].reshape(*shape)

    def sides(self, pot: int, board: Subgames, game: Game) -> list[_Player]:
        """Return both players' rows, and their leaves for a pot."""
        if pot not in self._sides:
            self._sides[pot] = [board._side(player, game.leaves) for player in (0, 1)]
        return self._sides[pot]


class Subgames(Tables):
    """The subgames on one board; tables and reaches are given for each half iteration."""

    def __init__(
        self, game: Game, pot: int, dtype: Any, *, is_packed: bool, shared: Shared
    ) -> None:
        self._shared = shared
        self._prepare(game, dtype, is_packed)
        self._players = shared.sides(pot, self, game)
        self._make_work_space()

    def upload(self, player: int, table: tuple[Any, Any, Any]) -> OnGpu:
        """Return a player's table (before the last round, last round, scales) on the GPU."""
        with device.errors_of_memory("the tables of a subgame beside those that it holds"):
            return OnGpu(*self._held(self._players[player], player, table))

    def run(
        self,
        game: Game,
        pot: int,
        half: Half,
        reach: NDArray[Any],
        tables: tuple[dict[str, OnGpu], dict[str, OnGpu]],
    ) -> NDArray[Any]:
        """Run half an iteration; change tables in place, and return the values of states [S].

        `reach` [S] is the opponent's. `tables` are those of both players by part; if none is added
        to averages, those of `half.part` are enough.
        """
        sides = zip(self._shared.sides(pot, self, game), tables, strict=True)
        self._players = [_with_tables(side, own, half.part) for side, own in sides]
        self._adds = half.row[3] >= 0
        self._reach = self._room("reach", (len(reach), 1))
        self._reach.copy_to_device(np.ascontiguousarray(reach, self.dtype).reshape(-1, 1))
        self._begin(np.array([half.row], self.dtype))
        self._half(half.player, half.rule, half.part)
        values: NDArray[Any] = self._ends[0].copy_to_host()[:, 0]
        return values

    def download(self, player: int, part: str) -> tuple[NDArray[Any], ...]:
        """Return a table of the subgame that was run last, in the layout of the CPU."""
        found = self._last_arrays(player, part)
        scales = found.get(f"last_{part}_scale{player}")
        return (
            self._trunk_array(player, part).fetch(),
            found[f"last_{part}{player}"].fetch(),
            np.zeros(0, self.dtype) if scales is None else scales.fetch(),
        )

    def _work_bytes(self) -> int:
        if self._shared.work_bytes is None:
            self._shared.work_bytes = super()._work_bytes()
        return self._shared.work_bytes

    def _room(self, name: str, shape: tuple[int, ...]) -> Any:
        return self._shared.room(name, shape, self.dtype)


def _with_tables(side: _Player, tables: dict[str, OnGpu], part: str) -> _Player:
    """Return a player's side with tables; where averages are missing they are not written."""
    both = {name: tables.get(name, tables[part]) for name in ("regret", "average")}
    packed = {name: own.packed for name, own in both.items() if own.packed is not None}
    return side._replace(table={name: own.rounds for name, own in both.items()}, packed=packed)
