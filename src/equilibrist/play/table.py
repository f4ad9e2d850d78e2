"""Playing of one hand between players in this process, and the number of players of a match."""

from __future__ import annotations

from collections.abc import Sequence

from equilibrist.errors import IllegalActionError, InvalidValueError
from equilibrist.games.action import CALL
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules
from equilibrist.games.state import HandState
from equilibrist.players.player import Player, Result, View


def play_on(state: HandState, players: Sequence[Player], waits_for: int | None = None) -> HandState:
    """Let players act in turn, and return the state where player `waits_for` acts, or the end.

    Raises `IllegalActionError`, which names the player, if a player returns an illegal action.
    """
    while (actor := state.actor) is not None and actor != waits_for:
        action = players[actor].act(View.of(state, actor))
        try:
            state = state.apply(action)
        except IllegalActionError as error:
            raise IllegalActionError(
                f"{players[actor].name}: {error}", value=error.value, position=error.position
            ) from None
    return state


def end_hand(state: HandState, players: Sequence[Player]) -> HandRecord:
    """Report the result of a finished hand to the players, and return the record of the hand."""
    payoffs = state.payoffs()
    for number, player in enumerate(players):
        player.observe(Result(View.of(state, number), payoffs[number]))
    return HandRecord(state, tuple([player.name for player in players]), payoffs)


def play_hand(state: HandState, players: Sequence[Player], agreed_rounds: int = 0) -> HandRecord:
    """Play a hand to its end and report the result to the players, given in the hand's order.

    In the first `agreed_rounds` rounds all players call without being asked. Raises
    `IllegalActionError`, which names the player, if a player returns an illegal action.

    Example:
        >>> from equilibrist.games.catalog import get_game
        >>> from equilibrist.games.dealing import Dealer
        >>> from equilibrist.players.catalog import make_player
        >>> kuhn = get_game("kuhn")
        >>> players = [make_player(name, kuhn) for name in ("always-raise", "always-fold")]
        >>> record = play_hand(HandState.start(kuhn, next(Dealer(kuhn, seed=0))), players)
        >>> str(record.state), record.payoffs
        ('STATE:0:rf:As|Ks', (1, -1))
    """
    while state.actor is not None and state.betting.round < agreed_rounds:
        state = state.apply(CALL)
    return end_hand(play_on(state, players), players)


def check_two_players(rules: GameRules) -> None:
    """Raise `InvalidValueError` if a game is not for two players."""
    if rules.num_players != 2:
        raise InvalidValueError(
            f"{rules.name} has {rules.num_players} players; matches need two", value=rules.name
        )
