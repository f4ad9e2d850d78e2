"""The catalogue: the games of the papers, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from equilibrist.errors import GameFileError, UnknownNameError
from equilibrist.games.catalog import describe_game, game_names, get_game, load_game
from equilibrist.games.rules import rules_text


def test_all_games_are_there_and_described() -> None:
    assert game_names() == (
        "kuhn",
        "leduc",
        "rhode-island",
        "royal-rhode-island",
        "holdem-limit",
        "holdem-nolimit",
        "holdem-nolimit-100",
        "preflop-holdem",
        "royal-holdem",
        "discard-holdem",
    )
    for name in game_names():
        assert get_game(name).name == name
        assert len(describe_game(name)) > 20


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("kuhn", 3), ("leduc", 6), ("rhode-island", 52), ("royal-rhode-island", 20),
        ("royal-holdem", 20), ("holdem-limit", 52),
    ],
)  # fmt: skip
def test_decks_have_their_sizes(name: str, cards: int) -> None:
    assert len(get_game(name).deck) == cards


@pytest.mark.parametrize("name", [n for n in game_names() if "holdem" in n])
def test_the_dealer_acts_first_before_the_flop_and_last_after_it(name: str) -> None:
    rules = get_game(name)
    assert rules.blinds[0] == 2 * rules.blinds[1]
    assert rules.first_players[0] == 1
    assert set(rules.first_players[1:]) <= {0}


def test_an_unknown_game_offers_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match=r"'leduk'; did you mean leduc") as caught:
        get_game("leduk")
    assert caught.value.value == "leduk"
    with pytest.raises(UnknownNameError, match="games: kuhn, leduc"):
        load_game("xyzzy")


def test_a_game_loads_by_name_or_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.game"
    path.write_text(rules_text(get_game("kuhn")))
    assert load_game("kuhn") == load_game(path) == load_game(str(path)) == get_game("kuhn")
    with pytest.raises(GameFileError, match="cannot read"):
        load_game("nowhere.game")


def test_discard_holdem_is_the_game_of_pokerbots() -> None:
    # 200 chips, blinds 1 and 2, one swap after the flop and one after the turn.
    rules = get_game("discard-holdem")
    assert (rules.stacks, rules.blinds) == ((200, 200), (2, 1))
    assert rules.discards == (False, True, True, False)
    assert rules.num_board_cards == (0, 3, 1, 1)
    assert not rules.is_limit
