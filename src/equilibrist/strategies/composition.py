"""Strategies glued from models of different rounds, as PsOpti's are (Billings et al. 2003).

An *opening* is played in the first round. Where that round ends, a *later* model continues; which
one depends on the betting so far, and from there on hands are its buckets. The sub-trees behind
different betting have no information set in common, so any models with the same actions fit
together; how well depends on what each assumes of the others (`abstraction.conditioning`).

The result is a table like any other: probabilities of every action by the player's column, a column
of the opening's own in the first round, and the sequence of later classes after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equilibrist.abstraction.buckets import Abstraction, Intervals
from equilibrist.abstraction.conditioning import LaterClasses
from equilibrist.abstraction.streets import Boards
from equilibrist.cards.card import Cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.betting_tree import BettingTree, NodeKind
from equilibrist.games.rules import GameRules
from equilibrist.kernels.array_structs import Treeplex
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_tree
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows


class Part(NamedTuple):
    """Behaviour of both players in one model, in a treeplex with one board per round."""

    betting: BettingTree
    trees: tuple[Treeplex, Treeplex]
    behaviour: tuple[Floats, Floats]  # [L] each

    @staticmethod
    def of(game: SequenceGame, plans: tuple[Floats, Floats]) -> Part:
        """Build the part that a solved model plays."""
        assert game.betting is not None
        first, second = (
            game.behaviour(player, np.asarray(plan, np.float64))
            for player, plan in enumerate(plans)
        )
        return Part(game.betting, game.trees, (first, second))


@dataclass(frozen=True, eq=False)
class GluedBuckets:
    """Columns of a glued strategy: the opening's own, then sequences of later classes."""

    opening: NDArray[np.int16]  # [H] column of every hand in the first round
    abstraction: Abstraction

    @property
    def rules(self) -> GameRules:
        """Rules of the game whose hands are looked up."""
        return self.abstraction.rules

    @property
    def parents(self) -> tuple[NDArray[np.int32], ...]:
        """[K] parents of each round; a later class has hands of all openings, so no parent."""
        first = np.full(int(self.opening.max()) + 1, -1, np.int32)
        return (first, *LaterClasses.of(self.abstraction).parents[1:])

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of columns of each round."""
        return tuple(len(parents) for parents in self.parents)

    def bucket(self, hand: int, board: Cards = ()) -> int:
        """Return the column of one hand on a board."""
        if not board:
            return int(self.opening[hand])
        r = self.abstraction.streets.locate(board)[0]
        return self.abstraction.bucket(hand, board) % self.period(r)

    def buckets(self, board: Cards) -> NDArray[np.int32]:
        """Return the column of every hand on a board: [H], −1 where the board blocks it."""
        if not board:
            return self.opening.astype(np.int32)
        found = self.abstraction.buckets(board)
        r = self.abstraction.streets.locate(board)[0]
        return np.where(found >= 0, found % self.period(r), -1).astype(np.int32)

    def follow(self, hands: NDArray[np.int64], boards: Boards) -> NDArray[np.int32]:
        """Return the columns of N hands on every street of boards of their own: [R, N]."""
        found = self.abstraction.follow(hands, boards)
        found[0] = self.opening[hands]
        for r in range(1, len(found)):
            found[r] %= self.period(r)
        return found

    def nested(self) -> Abstraction:
        """Return the buckets in which hands have a column of the opening and a later class.

        Bucket `c · period(r) + k` of a later round has hands of column c and later class k.
        """
        own, period = self.abstraction, [self.period(r) for r in range(len(self.parents))]
        number, streets = int(self.opening.max()) + 1, own.streets
        opening = self.opening.astype(np.int32)
        lower = own.last.lower.reshape(own.num_buckets[0], -1)
        images = opening[streets.renamed]
        differs = (images != opening) & (np.minimum(images, opening) >= 0)  # both in the deck
        if differs.any() or (lower != lower[0]).any():
            raise InvalidValueError(
                f"the first round of these {own.recipe} buckets distinguishes suits, or later "
                "classes depend on it",
                value=own.recipe,
            )
        tables = [opening[None, :]]
        for r in range(1, len(streets) - 1):
            later = own.tables[r] % period[r]
            tables.append(np.where(own.tables[r] < 0, -1, opening * period[r] + later))
        parents = [np.full(number, -1, np.int32)]
        for r, above in enumerate(LaterClasses.of(own).parents[1:], 1):
            first = np.arange(number, dtype=np.int32)[:, None] * period[r - 1]
            parents.append((first + above).ravel())
        starts = np.searchsorted(parents[-1], np.arange(number * period[-2] + 1)).astype(np.int32)
        last = Intervals(starts, np.tile(lower[0], number))
        return Abstraction(streets, own.recipe, tuple(parents), tuple(tables), own.values, last)

    def merged(self, tables: Sequence[Floats]) -> tuple[GluedBuckets, NDArray[np.int64]]:
        """Return columns without those of the opening that are alike in all tables [Q, K].

        Also returned are the columns that remain: [K of the merged opening].
        """
        _, kept, same = np.unique(
            np.concatenate(tables), axis=1, return_index=True, return_inverse=True
        )
        opening = np.where(self.opening < 0, -1, same.ravel()[self.opening]).astype(np.int16)
        return GluedBuckets(opening, self.abstraction), kept

    def period(self, r: int) -> int:
        """Return the number of buckets of a round under each of the first round."""
        numbers = self.abstraction.num_buckets
        return numbers[r] // numbers[0]


def glue(
    betting: BettingTree, columns: GluedBuckets, opening: Part, later: Mapping[int, Part]
) -> tuple[Floats, Floats]:
    """Return the behaviour of both players on a whole betting tree: [L] each.

    `later` has the part that is played from every node where the second round opens. Parts must
    have every action of the tree in their rounds; `InvalidValueError` names the betting where one
    does not.
    """
    parts = {0: opening} | dict(later)
    first, second = (_glue_player(betting, player, columns, parts) for player in (0, 1))
    for node in openings(betting):
        if node not in later:
            raise _uncovered(betting, node)
    return first, second


def openings(betting: BettingTree) -> list[int]:
    """Return the nodes where the second round opens.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> tree = BettingTree.build(get_game("leduc"))
        >>> [tree.name(node) for node in openings(tree)]
        ['cc/', 'rc/', 'crc/', 'rrc/', 'crrc/']
    """
    nodes = betting.nodes(NodeKind.DECISION, 1)
    return nodes[betting.action_kind[nodes] == 0].tolist()


def _glue_player(
    betting: BettingTree, player: int, columns: GluedBuckets, parts: Mapping[int, Part]
) -> Floats:
    tree, rows = bucket_tree(betting, player, columns), player_rows(betting, player).row
    out = np.ones(int(tree.block_start[-1]))
    for start, part in parts.items():
        own = player_rows(part.betting, player).row
        for node, same in _walk(betting, part.betting, start):
            if betting.player[node] != player:
                continue
            r = int(betting.round[node])
            s = r - part.betting.first_round
            to, source = betting.children(node), part.betting.children(same).start
            at, begin = int(rows[to.start]), int(own[source])
            behaviour = block(part.trees[player], s, s, part.behaviour[player])
            target = block(tree, r, r, out)
            if behaviour.shape[1] != target.shape[1]:
                raise InvalidValueError(
                    f"the model of round {r + 1} has {behaviour.shape[1]} columns, not "
                    f"{target.shape[1]}: it has other buckets",
                    value=behaviour.shape[1],
                )
            target[at : at + len(to)] = behaviour[begin : begin + len(to)]
    return out


def _walk(betting: BettingTree, model: BettingTree, start: int) -> Iterator[tuple[int, int]]:
    """Yield the decisions of a tree from a node on, each with the model's own.

    A model of the first round is followed through that round only, even if it has later ones.
    """
    last = model.last_round if model.first_round else 0
    waiting = [(start, 0)]
    while waiting:
        node, same = waiting.pop()
        to, of = betting.children(node), model.children(same)
        if betting.kind[node] == NodeKind.DECISION:
            if [betting.step(v) for v in to] != [model.step(v) for v in of]:
                raise _uncovered(betting, node)
            yield node, same
        waiting += [pair for pair in zip(to, of, strict=False) if betting.round[pair[0]] <= last]


def _uncovered(betting: BettingTree, node: int) -> InvalidValueError:
    name = betting.name(node)
    return InvalidValueError(
        f"no model covers the betting {name!r} with all its actions; models must have the raises "
        "of the whole game",
        value=name,
    )
