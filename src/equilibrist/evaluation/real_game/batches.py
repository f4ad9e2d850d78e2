"""Best responses on many flops at once, for devices that need much work at a time.

`BatchedResponses` describes the positions of both seats, the opponent's probabilities and the
boards of a batch of flops as arrays, which the GPU takes. It returns the numbers of
`Response.flop_values`. Training replaces probabilities between batches (`set_rows`): positions are
then those of a strategy that arrives everywhere.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equilibrist import stopping
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.streets import Boards, Streets
from equilibrist.cards.card import Cards as Board
from equilibrist.cards.hand import NUM_HANDS, hand_table
from equilibrist.cards.ranking import rank_tables
from equilibrist.errors import DeviceError
from equilibrist.evaluation.real_game.positions import Lanes, different_ends, most_units
from equilibrist.evaluation.real_game.response import Response, board_cards, by_class, renamed_by
from equilibrist.games.rules import GameRules
from equilibrist.kernels.real_game_structs import (
    Betting,
    BoardBatch,
    Cards,
    ColumnTables,
    FlopBatch,
    LastSeat,
    Places,
    RoundSeat,
    SeatStructure,
)
from equilibrist.models.game import Floats
from equilibrist.strategies.composition import GluedBuckets
from equilibrist.strategies.played import BucketColumns, FixedMix, TableStrategy

if TYPE_CHECKING:
    from equilibrist.kernels.gpu.real_game.batch import Started

_SECONDS = 0.6  # of a batch, about: how long Ctrl-C may take
_MOST_FLOPS = 16  # of a batch
_MOST_TURNS, _MOST_RIVERS = 49, 48  # of a flop and of a turn
_SHARE = 0.8  # of the free memory that a batch may take


class BoardLister:
    """Lists the boards of flops for the GPU, with the places of their hands' buckets."""

    def __init__(self, rules: GameRules, strategy: FixedMix | TableStrategy) -> None:
        self.rules, self._strategy = rules, strategy
        self.columns = _column_tables(strategy)
        self._has_tables = self.columns is not None

    def batch(self, flops: Sequence[Board]) -> FlopBatch:
        """List the boards of flops."""
        boards, start, weight = list(flops), [0, len(flops)], [1] * len(flops)
        rounds = [self._round(1, boards, start, weight)]
        for r in (2, 3):
            following = [board_cards(self.rules, board).following for board in boards]
            start = np.cumsum([0, *map(len, following)]).tolist()
            weight = [many for cards in following for _, many in cards]
            boards = [
                (*board, card)
                for board, cards in zip(boards, following, strict=True)
                for card, _ in cards
            ]
            rounds.append(self._round(r, boards, start, weight))
        first, second, third = rounds
        return FlopBatch((first, second, third), np.array(boards, np.uint8))

    def _round(
        self, r: int, boards: list[Board], start: list[int], weight: list[int]
    ) -> BoardBatch:
        """Describe the boards of a round; those of the last are not averaged over renamings."""
        cards = np.array(boards, np.uint8)
        absent = np.setdiff1d(np.arange(52), self.rules.deck.cards)
        dead = (np.int64(1) << cards.astype(np.int64)).sum(axis=1) + (1 << absent).sum()
        keeping = [board_cards(self.rules, board).keeping for board in boards if r < 3]
        columns: NDArray[np.int64] | Places
        if not self._has_tables:
            found = np.stack([self._strategy.columns_of(r, board) for board in boards])
            columns = found[:, hands_of(self.rules)]
        else:
            columns = Places(*Boards(cards).locate(self._streets, r))
        return BoardBatch(
            dead,
            columns,
            np.array(start),
            np.array(weight, np.float64),
            np.cumsum([0, *map(len, keeping)]),
            np.concatenate(keeping) if keeping else np.zeros(0, np.int64),
        )

    @property
    def _streets(self) -> Streets:
        assert isinstance(self._strategy, TableStrategy)
        assert isinstance(self._strategy.columns, BucketColumns)
        buckets = self._strategy.columns.buckets
        abstraction = buckets.abstraction if isinstance(buckets, GluedBuckets) else buckets
        assert isinstance(abstraction, Abstraction)
        return abstraction.streets


class BatchedResponses:
    """Best responses in one or both seats, on the GPU.

    Raises `DeviceError` if its memory is too small for the tables and one flop.
    """

    def __init__(self, responses: Sequence[Response]) -> None:
        from equilibrist.kernels.gpu import device
        from equilibrist.kernels.gpu.real_game.batch import Responder, num_lanes

        self.responses = tuple(responses)
        self.rules = responses[0].rules
        self._lister = BoardLister(self.rules, responses[0].strategy)
        columns = self._lister.columns
        # The CPU computes what has no rivers.
        self._is_on_gpu = [bool(own.positions[-1].nodes) for own in self.responses]
        own = [seat for seat, is_on in zip(responses, self._is_on_gpu, strict=True) if is_on]
        structures = [structure_of(response, num_lanes) for response in own]
        rows = [response.opponent.rows for response in own]
        room = _MOST_TURNS * max(map(_bytes_of_turn, structures), default=1)
        tables, free = _bytes_of_tables(columns, structures, rows), device.free_bytes()
        if tables + room > free:
            raise DeviceError(
                f"best responses to this strategy need {(tables + room) / 2**30:,.1f} GiB on the "
                f"GPU, which has {free / 2**30:,.1f} GiB free; use the device cpu"
            )
        self._number = 1  # flops of the next batch
        self._most = max(1, min(_MOST_FLOPS, int(_SHARE * (free - tables) / room)))
        if own:
            ranking = rank_tables(7, self.rules.ranking)
            self._responder = Responder(cards_of(own[0].rules), ranking, columns, structures, rows)

    def computed(self, flops: Sequence[Board]) -> Iterator[tuple[int, list[Floats]]]:
        """Yield the place of each flop and its values by seat, [P, 169], as batches are ready.

        The boards of a batch are listed while the one before is computed. No batch is started after
        a stop has been requested.
        """
        waiting: tuple[range, Started | None] | None = None
        begin, start = 0, time.perf_counter()
        while begin < len(flops) and not stopping.is_requested():
            places = range(begin, min(begin + self._number, len(flops)))
            batch = self.batch([flops[place] for place in places])
            if waiting is not None:
                yield from self._finished(flops, *waiting)
                seconds = (time.perf_counter() - start) / len(waiting[0])
                self._number = max(1, min(self._most, 2 * self._number, int(_SECONDS / seconds)))
                start = time.perf_counter()
                if stopping.is_requested():  # while the batch before was computed
                    return
            started = self.start(batch) if any(self._is_on_gpu) else None
            waiting, begin = (places, started), places.stop
        if waiting is not None:
            yield from self._finished(flops, *waiting)

    def seconds_per_flop(self, flops: Sequence[Board]) -> float:
        """Measure the time of flops, after one of them compiled the kernels."""
        for some in (flops[:1], flops):
            start = time.perf_counter()
            for _ in self.computed(some):
                pass
        return (time.perf_counter() - start) / len(flops)

    def start(self, batch: FlopBatch) -> Started:
        """Launch the work of a batch; its `values` are what hands win, by seat: [F, P, H].

        Seats that never see a river are left out.
        """
        return self._responder.start(batch)

    def batch(self, flops: Sequence[Board]) -> FlopBatch:
        """List the boards of flops."""
        return self._lister.batch(flops)

    def set_rows(self, seat: int, rows: Sequence[Any]) -> None:
        """Replace the probabilities [Q, K] of each round that a seat responds to."""
        self._responder.set_rows(seat, rows)

    def _finished(
        self, flops: Sequence[Board], places: range, started: Started | None
    ) -> Iterator[tuple[int, list[Floats]]]:
        """Yield the places and values of a batch."""
        on_gpu = started.values() if started is not None else []
        for i, place in enumerate(places):
            own = (self._by_class(values[i]) for values in on_gpu)
            yield (
                place,
                [
                    next(own) if is_on_gpu else response.flop_values(flops[place])
                    for response, is_on_gpu in zip(self.responses, self._is_on_gpu, strict=True)
                ],
            )

    def _by_class(self, values: Floats) -> Floats:
        """Return sums [P, 169] of values [P, H] of the deck's hands."""
        every = np.zeros((len(values), NUM_HANDS))
        every[:, hands_of(self.rules)] = values
        return by_class(every)


def hands_of(rules: GameRules) -> NDArray[np.int64]:
    """Return the numbers of the hands of a game's deck: [H]."""
    return np.flatnonzero(np.isin(hand_table(), rules.deck.cards).all(axis=1))


def structure_of(response: Response, lanes_of: Callable[[int, int], int]) -> SeatStructure:
    """Describe a responder's positions; `lanes_of` chooses the number of lanes of a block."""
    opponent, rules = response.opponent, response.rules
    last = response.positions[-1]
    rows = different_ends(last)[1]
    lanes = Lanes.of(opponent, last, lanes_of(len(rows), len(last.nodes)))
    rounds = []
    for r, own in enumerate(response.positions[:-1], 1):
        met, row = response.met_rows[r - 1]
        betting = Betting(*response.betting(r))
        following = np.where(row < 0, 0, own.following)
        rounds.append(
            RoundSeat(betting, following, row, own.scale, own.spent, met[:, 0], met[:, 1])
        )
    num_last = math.comb(len(rules.deck) - rules.total_board_cards, 2)
    return SeatStructure(
        tuple(rounds),
        LastSeat(
            Betting(*response.betting(rules.num_rounds - 1)),
            lanes.row,
            lanes.first_row,
            lanes.scale,
            lanes.end,
            lanes.chips,
            lanes.case_start,
            lanes.case,
            lanes.lane,
            most_units(num_last),
        ),
        response.first_columns[hands_of(rules)],
        bool(opponent.first_row.max() >= 0),
    )


def cards_of(rules: GameRules) -> Cards:
    """Return the cards and hands of a game as kernels take them."""
    left, hands = len(rules.deck), hands_of(rules)
    number = np.full(NUM_HANDS, -1)
    number[hands] = np.arange(len(hands))
    renamed = number[renamed_by(rules.num_suits)[:, hands]]
    return Cards(hand_table()[hands], renamed, left - 5, (left - 7, left - 8))


def _column_tables(strategy: FixedMix | TableStrategy) -> ColumnTables | None:
    """Return the tables of a strategy's buckets; None if they are others than an abstraction's."""
    if not isinstance(strategy, TableStrategy) or not isinstance(strategy.columns, BucketColumns):
        return None
    buckets, periods = strategy.columns.buckets, (0, 0, 0)
    if isinstance(buckets, GluedBuckets):
        first, second, third = (buckets.period(r) for r in (1, 2, 3))
        periods, buckets = (first, second, third), buckets.abstraction
    if not isinstance(buckets, Abstraction):
        return None
    return ColumnTables(
        (buckets.tables[1], buckets.tables[2]),
        buckets.values,
        buckets.last.first,
        buckets.last.lower,
        buckets.streets.renamed[:, hands_of(buckets.rules)],
        periods,
    )


def _bytes_of_turn(seat: SeatStructure) -> int:
    """Return the bytes of work space that a turn takes, with its rivers."""
    last = seat.last
    numbers = last.chips.size + sum(
        len(own.met_row) + len(own.spent) + len(after)
        for own, after in zip(seat.rounds, (seat.rounds[1].spent, last.case), strict=True)
    )
    return len(seat.first_column) * (8 * numbers + _MOST_RIVERS * 12)


def _bytes_of_tables(
    columns: ColumnTables | None,
    seats: Sequence[SeatStructure],
    rows: Sequence[Sequence[Floats]],
) -> int:
    """Return the bytes of what stays on the GPU between batches."""
    shared = () if columns is None else (*columns.tables, columns.values)
    own = (
        sum(array.nbytes for array in arrays) + 4 * seat.last.row.size * arrays[-1].shape[1]
        for seat, arrays in zip(seats, rows, strict=True)
    )
    return sum(array.nbytes for array in shared) + sum(own)
