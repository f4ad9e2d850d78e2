"""Restricted Nash responses: win from a given strategy, and lose little to any other.

The opponent is assumed to play a fixed strategy with probability p and anything otherwise. In
sequence form its plan is p · fixed + (1 − p) · free, so the game between the responder and the free
part is a game as any other, with an affine term:

    value = p · xᵀ A fixed + (1 − p) · xᵀ A free

An equilibrium of it is a *restricted Nash response* x. With p = 0 it is an equilibrium of the game,
with p = 1 a best response. No strategy wins more from the fixed strategy at the same exploitability
(Johanson, Zinkevich and Bowling, "Computing robust counter-strategies", NIPS 2007). Mixing an
equilibrium with a best response is another strategy, and a worse one.

The game uses only A fixed, what each row of the responder wins from the fixed strategy. So the
fixed strategy may see other buckets than the free part (`evaluation.other_buckets`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from equilibrist.errors import InvalidValueError
from equilibrist.models.game import Floats, SequenceGame, check_zero_sum, sweeps_by_steps


@dataclass(frozen=True, eq=False, kw_only=True)
class RestrictedNash(SequenceGame):
    """A game in which one player plays a fixed plan with probability p, and is free otherwise.

    The plan of the restricted player is that of its free part; solvers, linear programs and
    evaluations take the game as it is.

    Example:
        >>> from equilibrist.models.exact import matrix_game
        >>> from equilibrist.solving.linear_program import LinearProgram
        >>> game = matrix_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors
        >>> rock = np.array([1.0, 1, 0, 0])
        >>> half = RestrictedNash.of(game, 1, rock, 0.5)
        >>> round(LinearProgram().solve(half).value, 6)  # a third rock, two thirds paper
        0.166667
    """

    restricted: int  # the restricted player: 0 or 1
    winnings: Floats  # [L of the responder] what each of its rows wins from the fixed plan
    p: float  # probability of the fixed plan

    @classmethod
    def of(cls, game: SequenceGame, restricted: int, fixed: Floats, p: float) -> RestrictedNash:
        """Restrict a player of a zero-sum game to a fixed plan [L] with probability `p`."""
        if restricted not in (0, 1) or fixed.shape != (game.lengths[restricted],):
            raise InvalidValueError(
                f"a fixed plan of player {restricted} of {game.name} must have "
                f"{game.lengths[restricted % 2]:,} numbers, not an array of shape {fixed.shape}",
                value=fixed.shape,
            )
        winnings = game.gradient(1 - restricted, np.asarray(fixed, np.float64))
        return cls.against(game, restricted, winnings, p)

    @classmethod
    def against(
        cls, game: SequenceGame, restricted: int, winnings: Floats, p: float
    ) -> RestrictedNash:
        """Restrict a player to a plan given by what each row of the responder wins from it: [L]."""
        check_zero_sum(game)
        check_share(p)
        if restricted not in (0, 1) or winnings.shape != (game.lengths[1 - restricted],):
            raise InvalidValueError(
                f"the winnings from player {restricted} of {game.name} must be "
                f"{game.lengths[1 - restricted % 2]:,} numbers, not an array of shape "
                f"{winnings.shape}",
                value=winnings.shape,
            )
        if not np.isfinite(winnings).all():
            raise InvalidValueError(f"the winnings in {game.name} must be finite", value=game.name)
        own = {field.name: getattr(game, field.name) for field in fields(SequenceGame)}
        own["name"] = f"{game.name}, player {restricted} fixed with probability {p:g}"
        winnings = np.asarray(winnings, np.float64)
        return cls(**own, restricted=restricted, winnings=winnings, p=p)

    def gradient(self, player: int, plan: Floats, out: Floats | None = None) -> Floats:
        """Return the value of each of `player`'s rows given the opponent's plan.

        The affine term is linear in plans, whose first number is 1: the responder wins against the
        fixed plan that number of times, and the free part gets there what its fixed part wins.
        """
        values = super().gradient(player, plan, out)
        values *= values.dtype.type(1 - self.p)
        if player == self.restricted:
            values[0] -= self.p * float(plan @ self.winnings)
        else:
            values += (self.p * float(plan[0]) * self.winnings).astype(values.dtype, copy=False)
        return values

    def sweeps(
        self, first: tuple[Floats, ...], second: tuple[Floats, ...], schedule: Floats
    ) -> None:
        """Run CFR iterations, step by step; arguments as in `SequenceGame.sweeps`."""
        sweeps_by_steps(self, first, second, schedule)

    def adjusted(self, payoff: Any) -> Any:
        """Return the payoffs [L0, L1] of player 0 in this game, given those of the whole game."""
        from scipy import sparse

        places = np.arange(len(self.winnings)), np.zeros(len(self.winnings), np.int64)
        if self.restricted == 0:  # player 0 wins what the responder loses
            term = sparse.csr_array((-self.winnings, places[::-1]), payoff.shape)
        else:
            term = sparse.csr_array((self.winnings, places), payoff.shape)
        return (1 - self.p) * payoff + self.p * term


def check_share(p: float) -> None:
    """Raise `InvalidValueError` unless a number is a probability."""
    if not 0 <= p <= 1:
        raise InvalidValueError(f"p must be a probability from 0 to 1, not {p:g}", value=p)
