"""What a responder wins from a strategy that sees other buckets, exactly: joint counts of both.

A response needs of its target only A y, what each of its own rows wins from the target's plan y
(`solving.restricted_nash`). Where the target has other buckets, A has the joint counts of two
recipes: J[s, t] is how often the responder is in bucket s and the target in t.

A target that is glued from models has an opening with columns of its own, c, and later classes, k.
Its plan is not a product of the buckets of one round and the next, but for each line ℓ of betting
in the first round, with x_ℓ(c) the probability that the opening plays it,

    J_ℓ[s, k] = Σ_c x_ℓ(c) J[s, (c, k)]

are the counts against the model that continues there, and the winnings are sums over lines.

Raises of the target that the responder's game does not have count as calls, and raises that the
target does not know are called by it (`strategies.raise_cap_rule`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equilibrist import stopping
from equilibrist.abstraction.bucket_tree import BucketTree, sums_over_children
from equilibrist.abstraction.buckets import Abstraction
from equilibrist.abstraction.conditioning import LaterClasses
from equilibrist.abstraction.flop_subsets import flop_counts
from equilibrist.abstraction.joint_counts import Joint, Progress, joint, sampled_alike
from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting_tree import BettingTree
from equilibrist.kernels.treeplex import block
from equilibrist.models.bucketed import bucket_game
from equilibrist.models.game import Floats, SequenceGame
from equilibrist.models.treeplex import player_rows
from equilibrist.phases import phase
from equilibrist.strategies.composition import GluedBuckets, openings
from equilibrist.strategies.played import BucketColumns, TableStrategy
from equilibrist.strategies.raise_cap_rule import tables_in

Tables = Sequence[Floats]  # behaviour of a player by round: [Q, K]


def counts_alike(counts: Joint, first: Abstraction, second: Abstraction) -> Joint:
    """Count the same deals as `counts`, all or a sample, with the buckets of two abstractions."""
    if counts.sample is not None:
        return sampled_alike(counts, first, second)
    if counts.flops:
        return flop_counts(first, [parse_cards(board) for board in counts.flops], second)
    with phase("counting deals of both players' buckets", total=1.0) as work:

        def watch(progress: Progress, share: float) -> None:
            stopping.check()
            work.update(share)

        return joint(first, second, watch=watch)


def shares_deals(first: Abstraction, second: Abstraction) -> bool:
    """Return whether the deals of two abstractions can be counted together."""
    return first.rules == second.rules and first.streets.ordered == second.streets.ordered


def winnings_from(
    target: TableStrategy, game: SequenceGame, buckets: Abstraction, counts: Joint
) -> tuple[Floats, Floats]:
    """Return what each row of a responder wins from a target, as player 0 and as player 1: [L].

    `game` is the responder's, between players with its `buckets`; `counts` are those of its own
    game and tell which deals are counted.
    """
    assert game.betting is not None
    tables = [
        tables_in(target.known, game.betting, p, [target.table(p, r) for r in _rounds(game)])
        for p in (0, 1)
    ]
    theirs = _columns(target)
    if isinstance(theirs, GluedBuckets):
        theirs, kept = theirs.merged([tables[0][0], tables[1][0]])
        for own in tables:
            own[0] = own[0][:, kept]
        both = counts_alike(counts, buckets, theirs.nested())
        first, second = (
            _glued(game, seat, buckets, theirs, both, tables[1 - seat]) for seat in (0, 1)
        )
        return first, second
    both = counts_alike(counts, buckets, theirs)
    found = []
    for seat in (0, 1):
        beside = _beside(game.betting.menu, seat, buckets, theirs, both)
        found.append(beside.gradient(seat, _plan(beside, 1 - seat, tables[1 - seat])))
    return found[0], found[1]


def _columns(target: TableStrategy) -> Abstraction | GluedBuckets:
    columns = target.columns.buckets if isinstance(target.columns, BucketColumns) else None
    if not isinstance(columns, Abstraction | GluedBuckets):
        raise InvalidValueError(
            f"the strategy for {target.tree.rules.name} has no buckets that can be counted",
            value=target.tree.rules.name,
        )
    return columns


def _rounds(game: SequenceGame) -> range:
    return range(len(game.trees[0].num_sequences))


def _beside(
    menu: BetMenu, seat: int, own: BucketTree, theirs: BucketTree, counts: Joint
) -> SequenceGame:
    """Build the game of a responder at a seat and a target, each with buckets of its own."""
    if seat == 0:
        return bucket_game(own, counts, menu, second=theirs)
    return bucket_game(theirs, counts.transposed(), menu, second=own)


def _plan(game: SequenceGame, player: int, tables: Tables) -> Floats:
    """Return the plan of behaviour by round in a game of buckets: [L]."""
    behaviour = game.uniform(player)
    for r, own in enumerate(tables):
        block(game.trees[player], r, r, behaviour)[:] = own
    return game.realize(player, behaviour)


def _glued(
    game: SequenceGame,
    seat: int,
    own: Abstraction,
    theirs: GluedBuckets,
    counts: Joint,
    tables: Tables,
) -> Floats:
    """Return what rows of a responder win from a target with an opening of its own: [L]."""
    betting, later = game.betting, LaterClasses.of(theirs.abstraction)
    assert betting is not None
    rows = player_rows(betting, 1 - seat)
    opening = _opening_plan(betting, 1 - seat, tables[0])
    found = np.zeros(game.lengths[seat])

    # Leaves of the first round, by the opening's columns.
    folds, shown = (chips if seat == 0 else -chips.T for chips in game.stakes[0][:2])
    if shown.nnz:
        raise InvalidValueError(f"{game.name} has showdowns in its first round", value=game.name)
    met = sums_over_children(counts.met, own, theirs.nested())[0] / counts.total
    block(game.trees[seat], 0, 0, found)[:] = (folds @ opening) @ met.T

    # All later leaves, by the line of the first round that leads to them.
    every = [np.ones((len(opening), 1)), *tables[1:]]  # the counts have the opening's share
    for node in openings(betting):
        line = _conditioned(counts, opening[rows.row[betting.parent[node]]])
        if not line.total:
            continue
        beside = _beside(betting.menu, seat, own, later, line)
        plan = _plan(beside, 1 - seat, every)
        below = np.array([node in betting.path(v) for v in range(len(betting))])
        for r in _rounds(game):
            others = np.ones(len(every[r]), bool)
            others[rows.row[below & (betting.round == r)]] = False
            block(beside.trees[1 - seat], r, r, plan)[others] = 0
        found += beside.gradient(seat, plan) * (line.total / counts.total)
    return found


def _conditioned(counts: Joint, weights: Floats) -> Joint:
    """Return the counts by later classes, given the weights [C] of the opening's columns."""
    parts = (counts.wins, counts.ties, counts.losses)
    wins, ties, losses = (
        np.einsum("sck,c->sk", part.reshape(len(part), len(weights), -1), weights) for part in parts
    )
    return Joint(wins, ties, losses)


def _opening_plan(betting: BettingTree, player: int, table: Floats) -> Floats:
    """Return the plan of the first round by row and column of the opening: [Q, C]."""
    rows, plan = player_rows(betting, player), np.ones_like(table)
    for v in np.flatnonzero((rows.decision >= 0) & (betting.round == 0)).tolist():  # parents first
        for child in betting.children(v):
            plan[rows.row[child]] = plan[rows.row[v]] * table[rows.row[child]]
    return plan
