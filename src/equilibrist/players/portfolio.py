"""A player that chooses among stored strategies by what each would have won, with a stop-loss.

*Implicit modelling* (Bard, Johanson, Burch and Bowling, "Online implicit agent modelling", AAMAS
2013): responses to likely opponents are computed beforehand; during play only their weights change.
The first member is the *anchor*, usually an equilibrium; the others are responses.

Every hand is played by one member, drawn with probabilities w. Members are strategies, so the
probability π_i(h) with which each would have taken the actions of the hand with the cards h is
known, and every hand says something about every member (Bowling, Johanson, Burch and Szafron,
"Strategy evaluation in extensive games with importance sampling", 2008). With σ = Σ w_j π_j,

    before a showdown   g_i = u π_i(h) / σ(h)                            importance sampling
    at a showdown       g_i = Σ_k u(k) π_i(k) / Σ_k σ(k)                 imaginary observations

are unbiased estimates of what member i wins. The sums are over all hands k that we might have held
beside the opponent's cards and the board, u(k) is what they would have won: we would have come to
the same showdown with them, because the opponent does not see our cards. Weights are exponential in
these estimates, as in Exp4, with a share that goes back to the start so that the player follows an
opponent that changes.

The stop-loss makes this safe. Let r = g_anchor − Σ w_i g_i, an unbiased estimate of what a hand
cost against the anchor, and R the sum. Once R ≥ `stop`, the anchor plays all later hands. With M
the most that a hand can cost and ε ≤ ½ the least weight of the anchor, after any number of hands

    E[what the anchor would have won − what was won] ≤ stop + M (1/ε − 1).

*Proof.* Call histories *alike* if they are the same hand, or if they are showdowns that differ only
in our cards: a partition. Dealt cards are equally likely, and the opponent acts alike in histories
that are alike, so one of them occurs with a probability c Σ_k σ(k), with the c of their deal and of
the opponent's actions. Then g_i contributes c Σ_k u(k) π_i(k), which is what these histories
contribute to what member i wins. So given the past E[r] is the expected cost of the hand, and the
expected cost of all hands is E[R]. As σ ≥ ε π_anchor, u(k) (π_anchor(k) − σ(k)) is at most
M (1/ε − 1) σ(k) if u(k) > 0, and at most M σ(k) if u(k) < 0, so a hand adds at most M (1/ε − 1) to
R; after R ≥ `stop` it adds 0, because then σ = π_anchor. So R never exceeds stop + M (1/ε − 1). The
opponent may choose its strategies by all past hands. ∎
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equilibrist.cards.hand import hand_table
from equilibrist.cards.ranking import rank_hands
from equilibrist.errors import InvalidValueError, ParseError
from equilibrist.games.action import Action
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.rules import GameRules
from equilibrist.players.player import Mixing, Player, Result, View
from equilibrist.players.static import Mix
from equilibrist.players.strategy_player import StrategyPlayer

LEAST = 0.2  # ε, the least weight of the anchor
_RATE = 0.1  # of the weights, per usual size of an estimate
_SHARE = 5e-4  # of the weights that goes back to the start in every hand
_STOPS = 20  # default stop-loss in units of M
_MEMORY = 200  # hands over which the usual result and the usual size are averaged


class Portfolio(Player):
    """A player that weighs its members by what each would have won; the first is the anchor.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.players.static import Mix
        >>> members = Mix(0, 0.5, 0.5), Mix(0, 0, 1)
        >>> player = Portfolio(get_game("kuhn"), members, stop=10)
        >>> player.weights.tolist(), player.bound()
        ([0.5, 0.5], 18.0)
    """

    def __init__(
        self, rules: GameRules, members: Sequence[Player], stop: float | None = None
    ) -> None:
        if len(members) < 2:
            raise InvalidValueError("a portfolio needs an anchor and at least one other strategy")
        if not rules.is_limit:
            raise InvalidValueError(
                f"{rules.name} is a no-limit game; portfolios play limit games", value=rules.name
            )
        for member in members:
            if not isinstance(member, Mixing):
                raise InvalidValueError(
                    f"{member.name} cannot report its probabilities, so it cannot be a member of a "
                    "portfolio",
                    value=member.name,
                )
        self.most = float(BettingTree.build(rules).spent.max())  # M, in chips
        self.stop = _STOPS * self.most if stop is None else stop
        if not 0 <= self.stop < np.inf:
            raise InvalidValueError(
                f"the stop-loss must be at least 0 chips and finite, not {self.stop:g}",
                value=self.stop,
            )
        self.members = tuple(members)
        self._mixing = [member for member in self.members if isinstance(member, Mixing)]
        self.name = f"portfolio of {len(members)}"
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget all hands and restart the random generators of the player and its members."""
        self._random = random.Random(f"portfolio {seed}")
        number = len(self.members)
        self._first = np.full(number, 0.5 / (number - 1))
        self._first[0] = 0.5
        self._weights = self._first.copy()
        self.cost = 0.0  # R: estimate of what was lost against the anchor
        self.usual = 0.0  # mean result of recent hands
        self._size = self.most**2  # mean square of recent estimates
        self._hand: int | None = None
        for member in self.members:
            member.reset(seed)

    @property
    def is_stopped(self) -> bool:
        """Return whether the anchor plays all later hands."""
        return self.cost >= self.stop

    @property
    def weights(self) -> NDArray[np.float64]:
        """Return the probability with which each member plays the next hand."""
        if self.is_stopped:
            return np.eye(1, len(self.members))[0]
        found = self._weights.copy()
        if found[0] < LEAST:
            found[1:] *= (1 - LEAST) / found[1:].sum()
            found[0] = LEAST
        return found

    def bound(self) -> float:
        """Return what the player loses at most against its anchor, in expected chips."""
        return self.stop + self.most * (1 / LEAST - 1)

    def act(self, view: View) -> Action:
        """Draw an action of the member that plays this hand; note what each would have done."""
        self._start(view)
        mixtures = [dict(member.mixture(view)) for member in self._mixing]
        own = mixtures[self._chosen]
        action = self._random.choices(list(own), list(own.values()))[0]
        self._note(view, action, [mixture.get(action, 0.0) for mixture in mixtures])
        return action

    def _note(self, view: View, action: Action, shares: Sequence[float]) -> None:
        """Note an action and the probability with which each member takes it."""
        self._reached *= shares
        self._acted.append((view, action))

    def _start(self, view: View) -> None:
        """Draw the member that plays a new hand."""
        if self._hand == view.state.hand_number:
            return
        self._hand = view.state.hand_number
        self._drawn = self.weights
        self._chosen = self._random.choices(range(len(self.members)), self._drawn.tolist())[0]
        self._reached = np.ones(len(self.members))
        self._acted: list[tuple[View, Action]] = []

    def observe(self, result: Result) -> None:
        """Update the weights and the cost by a hand; one without own actions says nothing."""
        for member in self.members:
            member.observe(result)
        if self._hand != result.view.state.hand_number:
            return
        self._hand = None
        won, reached = self._alike(result)
        met = self._drawn @ reached  # σ of each hand
        self.cost += float(won @ (reached[0] - met)) / float(met.sum())
        gains = reached @ (won - self.usual) / float(met.sum())
        size = float(self._weights @ np.square(gains))
        self._size += (max(size, 1e-12 * self.most**2) - self._size) / _MEMORY
        grown = self._weights * np.exp(np.clip(_RATE * gains / np.sqrt(self._size), -1, 1))
        self.usual += (result.chips - self.usual) / _MEMORY
        self._weights = (1 - _SHARE) * grown / grown.sum() + _SHARE * self._first

    def _alike(self, result: Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what hands like this one win, [N], and how likely each member plays them: [M, N].

        They are the hand itself, or at a showdown all hands that might have been ours.
        """
        view = result.view
        other = view.state.holes[1 - view.player]
        if not view.betting.is_showdown or not other:
            return np.array([float(result.chips)]), self._reached[:, None]
        hands, won = showdowns(view)
        reached = np.ones((len(self.members), len(hands)))
        for seen, action in self._acted:
            for own, member in zip(reached, self._mixing, strict=True):
                own *= _shares(member, seen, action, hands)
        return won, reached


def showdowns(view: View) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of all hands that a player might have held at a showdown, and their chips.

    Both are [N]; the other player's hand is the one that was shown.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.records import parse_log_line
        >>> record = parse_log_line(get_game("kuhn"), "STATE:0:crc:Qs|Ks:-2|2:Alice|Bob")
        >>> hands, won = showdowns(View.of(record.state, 0))
        >>> hands.tolist(), won.tolist()  # the queen, and the ace that it might have been
        ([43, 51], [-2.0, 2.0])
    """
    state, rules = view.state, view.rules
    table = hand_table() if rules.num_hole_cards == 2 else np.arange(52, dtype=np.uint8)[:, None]
    other, board = state.holes[1 - view.player], state.board
    free = set(rules.deck.cards).difference(other, board)
    hands = np.flatnonzero(np.isin(table, list(free)).all(axis=1))
    shown = np.concatenate([table[hands], np.array([other], np.uint8)])
    boards = np.tile(np.array(board, np.uint8), (len(shown), 1))
    strengths = rank_hands(np.hstack([shown, boards]), rules.ranking).astype(np.int64)
    chips = []  # of a loss, a tie and a win
    for outcome in (0, 1, 2):
        pair = [1, 1]
        pair[view.player] = outcome
        chips.append(float(state.betting.payoffs(pair)[view.player]))
    outcomes = 1 + np.sign(strengths[:-1] - strengths[-1])
    return hands, np.array(chips)[outcomes]


def _shares(
    member: Mixing, view: View, action: Action, hands: NDArray[np.int64]
) -> NDArray[np.float64] | float:
    """Return the probability that a member takes an action with each of N hands: [N]."""
    if isinstance(member, StrategyPlayer):
        return member.shares(view, action, hands)
    if type(member) is Mix:
        return dict(member.mixture(view)).get(action, 0.0)
    table = hand_table() if len(view.hole) == 2 else np.arange(52, dtype=np.uint8)[:, None]
    views = [view.holding(tuple(hole)) for hole in table[hands].tolist()]
    return np.array([dict(member.mixture(own)).get(action, 0.0) for own in views])


def make_portfolio(rules: GameRules, options: str) -> Portfolio:
    """Make the player of `DIR,DIR` or `DIR,DIR,stop=CHIPS`; members are folders or players."""
    from equilibrist.players.catalog import make_player, player_names

    words, stop = options.split(","), None
    if words[-1].startswith("stop="):
        try:
            stop = float(words.pop().removeprefix("stop="))
        except ValueError:
            raise ParseError(
                "the stop-loss of a portfolio is a number of chips, such as stop=200", value=options
            ) from None
    texts = [
        word if word.partition(":")[0] in player_names() else f"solution:{word}" for word in words
    ]
    return Portfolio(rules, [make_player(text, rules) for text in texts], stop)
