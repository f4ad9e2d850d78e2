"""Tests of views, which hide what a seat may not see, and of the catalogue of players."""

import dataclasses

import pytest

from equilibrist.cards.card import parse_cards
from equilibrist.errors import InvalidValueError, ParseError, UnknownNameError
from equilibrist.games.action import CALL, FOLD, KEEP, RAISE, Action
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.notation import parse_state, state_line
from equilibrist.games.state import Deal, HandState
from equilibrist.players.catalog import make_player, player_entries, player_names
from equilibrist.players.player import View
from equilibrist.players.static import Mix, Uniform


def states(game, hands=30):
    """Yield every state of some hands between uniform players."""
    player = Uniform()
    for number, deal in zip(range(hands), Dealer(get_game(game), seed=1), strict=False):
        state = HandState.start(get_game(game), deal, number)
        while not state.is_over:
            yield state
            state = state.apply(player.act(View.of(state, state.actor)))
        yield state


def atoms(value):
    """Yield all plain values inside an object, including cards."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "betting":  # it has no cards
                yield from atoms(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from atoms(item)
    else:
        yield value


@pytest.mark.parametrize("game", game_names())
def test_a_view_is_what_the_protocol_sends(game):
    for state in states(game):
        for player in (0, 1):
            view = View.of(state, player)
            assert str(view) == state_line(state, player)
            parsed, viewer = parse_state(get_game(game), str(view))
            assert (viewer, parsed.holes, parsed.board) == (player, view.state.holes, view.board)


@pytest.mark.parametrize("game", ["leduc", "holdem-limit", "discard-holdem"])
def test_a_view_does_not_change_with_hidden_cards(game):
    # Other hidden cards with the same public actions give an equal view, so it reveals none.
    checked = 0
    for state in states(game):
        if state.betting.is_showdown:
            continue
        for player in (0, 1):
            own = {*state.deal.holes[player], *state.board}
            own |= {new for _, new in state.swaps[player]}
            free = [card for card in state.rules.deck.cards if card not in own]
            hole = tuple(free[: state.rules.num_hole_cards])
            holes = tuple(
                cards if p == player else hole for p, cards in enumerate(state.deal.holes)
            )
            swaps = tuple(swap if p == player else () for p, swap in enumerate(state.swaps))
            other = dataclasses.replace(state, deal=Deal(holes, state.board), swaps=swaps)
            assert View.of(other, player) == View.of(state, player)
            hidden = set(state.deal.holes[1 - player]) | set(state.deal.draws) - own
            hidden |= set(state.deal.board[len(state.board) :])
            seen = set(atoms(dataclasses.replace(View.of(state, player).state, hand_number=0)))
            assert not hidden & (seen - {0})
            checked += 1
    assert checked > 50


def test_a_fold_shows_nothing_and_a_showdown_both_hands():
    deal = Deal((parse_cards("As"), parse_cards("Qs")))
    opening = HandState.start(get_game("kuhn"), deal).apply(RAISE)
    assert View.of(opening.apply(FOLD), 0).state.holes == ((51,), ())
    assert View.of(opening.apply(CALL), 0).state.holes == ((51,), (43,))


@pytest.mark.parametrize(
    "name", ["always-fold", "always-call", "always-raise", "always-shove", "uniform"]
)
@pytest.mark.parametrize("game", game_names())
def test_static_players_only_do_what_is_legal(name, game):
    player = make_player(name, get_game(game))
    for state in states(game, hands=10):
        if not state.is_over:
            assert state.can(player.act(View.of(state, state.actor)))


def test_static_players_replace_illegal_actions():
    game = get_game("leduc")
    deal = next(Dealer(game, seed=0))
    opening = HandState.start(game, deal)
    capped = opening.apply(RAISE).apply(RAISE)
    players = {name: make_player(name, game) for name in player_names()[:3]}
    asked = {name: [player.act(View.of(state, state.actor)) for state in (opening, capped)]
             for name, player in players.items()}  # fmt: skip
    assert asked == {
        "always-fold": [CALL, FOLD],
        "always-call": [CALL, CALL],
        "always-raise": [RAISE, CALL],
    }


def test_static_players_keep_their_cards():
    game = get_game("discard-holdem")
    state = HandState.start(game, next(Dealer(game, seed=0))).apply(CALL).apply(CALL)
    assert Mix(0, 0, 1).act(View.of(state, 0)) == KEEP
    assert Mix(0, 0, 1).act(
        View.of(HandState.start(game, next(Dealer(game, seed=0))), 1)
    ) == Action("r", 4)


def test_always_shove_bets_all_chips_and_calls_an_all_in():
    game = get_game("discard-holdem")
    opening = HandState.start(game, next(Dealer(game, seed=0)))
    shover = make_player("always-shove", game)
    assert shover.act(View.of(opening, 1)) == Action("r", 200)
    assert shover.act(View.of(opening.apply(Action("r", 200)), 0)) == CALL


def test_a_mix_acts_with_its_probabilities():
    game = get_game("leduc")
    state = HandState.start(game, next(Dealer(game, seed=0))).apply(RAISE)
    player = make_player("mix:0.2,0.5,0.3", game)
    player.reset(5)
    drawn = [player.act(View.of(state, 1)).kind for _ in range(10_000)]
    # Standard deviations are below 0.005.
    for kind, probability in zip("fcr", (0.2, 0.5, 0.3), strict=True):
        assert drawn.count(kind) / len(drawn) == pytest.approx(probability, abs=0.02)
    player.reset(5)
    assert [player.act(View.of(state, 1)).kind for _ in range(100)] == drawn[:100]


def test_an_unknown_player_raises_an_error_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean always-raise"):
        make_player("always-rase", get_game("kuhn"))
    with pytest.raises(UnknownNameError, match="players: always-fold"):
        make_player("zzz", get_game("kuhn"))


@pytest.mark.parametrize("text", ["mix", "mix:", "mix:1", "mix:a,b,c", "mix:0.5,0.5,0,0"])
def test_a_mix_without_three_numbers_is_refused(text):
    with pytest.raises(ParseError):
        make_player(text, get_game("kuhn"))


@pytest.mark.parametrize("text", ["mix:0.5,0.5,0.5", "mix:-1,1,1", "mix:nan,0,1", "mix:inf,0,0"])
def test_a_mix_that_is_no_distribution_is_refused(text):
    with pytest.raises(InvalidValueError, match="sum to 1"):
        make_player(text, get_game("kuhn"))


def test_options_for_a_player_without_any_are_refused():
    with pytest.raises(ParseError, match="takes no options"):
        make_player("always-call:1", get_game("kuhn"))


def test_entries_have_descriptions():
    for entry in player_entries():
        assert entry.description
        assert entry.games
