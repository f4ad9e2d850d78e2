"""Best responses in the real game on a Ray cluster, flop by flop.

A flop is a unit of work that depends on no other. Each node has an actor with the strategy, and
computes as many flops at a time as it has threads; only boards and their values cross the network.
Flops of an actor that is lost are computed by others, so the values are those of threads to the
bit.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from equilibrist import stopping
from equilibrist.cluster.connection import Node, load_ray, nodes, on_node
from equilibrist.errors import NetworkError
from equilibrist.evaluation.real_game.response import Response
from equilibrist.evaluation.real_game.run import flop_values
from equilibrist.models.game import Floats
from equilibrist.strategies.played import FixedMix, TableStrategy

_MOST_LOSSES = 5  # of actors, one after another, without a flop between

Board = tuple[int, ...]


class FlopWorker:
    """Computes flops on a node; it is an actor of Ray with several threads, and ordinary Python."""

    def __init__(self, strategy: FixedMix | TableStrategy) -> None:
        self._strategy = strategy

    @cached_property
    def _responses(self) -> tuple[Response, Response]:
        return Response(self._strategy, 0), Response(self._strategy, 1)

    def values(self, board: Board) -> list[Floats]:
        """Return what both responses win on a flop: [P, 169] each."""
        return flop_values(self._responses, board)


@dataclass(eq=False)
class RayFlops:
    """Computes flops on the nodes of the Ray cluster that is connected; close it after use."""

    strategy: FixedMix | TableStrategy
    threads: int | None = None  # of a node; default: its cores
    losses: int = field(default=0, init=False)  # actors that were lost
    _actors: dict[Node, Any] = field(default_factory=dict, init=False, repr=False)

    def computed(self, flops: Sequence[Board]) -> Iterator[tuple[int, list[Floats]]]:
        """Yield the place of each flop and its values by seat, as they are ready.

        No flop is started after a stop has been requested.
        """
        ray, left = load_ray(), collections.deque(range(len(flops)))
        running: dict[Any, tuple[int, Node]] = {}
        losses_in_turn = 0
        while left or running:
            if stopping.is_requested():
                left.clear()
            for node in self._free(running, len(left)):
                place = left.popleft()
                board = tuple(int(card) for card in flops[place])
                running[self._actors[node].values.remote(board)] = place, node
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            place, node = running.pop(done[0])
            try:
                found = ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                left.appendleft(place)
                losses_in_turn += self._forget(node)
                if losses_in_turn == _MOST_LOSSES:
                    raise NetworkError(
                        f"actors were lost {_MOST_LOSSES} times one after another: "
                        f"{' '.join(str(error).split())[:300]}"
                    ) from None
            else:
                losses_in_turn = 0
                yield place, found

    def seconds_per_flop(self, flops: Sequence[Board]) -> float:
        """Measure the time of flops, after one of them compiled the kernels."""
        for some in (flops[:1], flops):
            start = time.perf_counter()
            for _ in self.computed(some):
                pass
        return (time.perf_counter() - start) / len(flops)

    def close(self) -> None:
        """End the actors."""
        for node in list(self._actors):
            self._forget(node)

    def _free(self, running: dict[Any, tuple[int, Node]], most: int) -> list[Node]:
        """Return the nodes that flops are given to, once for each: at most `most`."""
        found: list[Node] = []
        if most:
            busy = collections.Counter(node for _, node in running.values())
            for node in self._started():
                found += [node] * max(0, self._at_once(node) - busy[node])
        return found[:most]

    def _started(self) -> list[Node]:
        """Return the nodes that are alive, after each has an actor."""
        ray, there = load_ray(), nodes()
        if not there:
            raise NetworkError("the Ray cluster has no node left; start one with `ray start`")
        missing = [node for node in there if node not in self._actors]
        if missing:
            given = ray.put(self.strategy)
            for node in missing:
                options = on_node(node) | {"max_concurrency": self._at_once(node)}
                actor = ray.remote(FlopWorker).options(**options, max_restarts=0)
                self._actors[node] = actor.remote(given)
        return there

    def _at_once(self, node: Node) -> int:
        return self.threads or node.cores

    def _forget(self, node: Node) -> int:
        """End the actor of a node, if it is still known; return how many were lost: 1 or 0."""
        actor = self._actors.pop(node, None)
        if actor is None:
            return 0
        load_ray().kill(actor)
        self.losses += 1
        return 1
