"""The catalogue of bots: entries whose code exists, and bots of other kinds beside them."""

import subprocess
import sys
from pathlib import Path

import pytest

from equilibrist.bots.bot import Bot, BotPlayer, BucketBot
from equilibrist.bots.listing import bot_row
from equilibrist.bots.registry import BOTS, get_bucket_bot
from equilibrist.bots.train import TrainedBot, TrainingOptions, train
from equilibrist.catalogue import load_object
from equilibrist.errors import InvalidValueError, UnknownNameError
from equilibrist.games.catalog import GAMES, get_game
from equilibrist.players.catalog import PLAYERS, make_player
from equilibrist.players.static import Mix

CODE = ("trainer", "status", "solve_models")
# A bot of another package: its training writes one number, the probability of a call.
CALLER = Bot(
    "caller",
    "Calls with a stored probability",
    game="kuhn",
    trainer=f"{__name__}:train_caller",
    player=BotPlayer(f"{__name__}:make_caller", "[DIR]"),
    options=("seconds",),
)


def train_caller(bot, folder, options, report):
    report.prepare(bot)
    folder.mkdir(parents=True)
    (folder / "call").write_text(str(options.seconds / 10))
    return TrainedBot(bot, folder)


def make_caller(bot, rules, options):
    call = float((Path(options or bot.folder) / "call").read_text())
    return Mix(1 - call, call, 0.0, bot.name)


@pytest.fixture
def caller(add_bot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    add_bot(CALLER)


@pytest.mark.parametrize("bot", BOTS.values(), ids=list(BOTS))
def test_the_code_of_every_bot_exists(bot):
    paths = [bot.player.make, *(getattr(bot, name) for name in CODE if hasattr(bot, name))]
    assert all(callable(load_object(path)) for path in paths)
    assert bot.game in GAMES
    assert set(bot.options) <= set(vars(TrainingOptions()))
    assert bot.family in ("", *BOTS)


@pytest.mark.parametrize("bot", BOTS.values(), ids=list(BOTS))
def test_every_bot_is_a_player_of_its_game(bot):
    entry = PLAYERS[bot.name]
    assert (entry.description, entry.games) == (bot.description, bot.game)
    assert (entry.options, entry.kernels, entry.table_kernels) == bot.player[1:]


def test_every_bot_is_listed_with_its_settings(tmp_path):
    for bot in BOTS.values():
        row = bot_row(bot, tmp_path / bot.name)
        assert list(row)[:3] == ["name", "description", "paper"]
        assert row.items() >= bot.settings.items()
        assert not row["trained"]
    assert BOTS["ectomynx"].settings == {"cycles": 5, "hands": 10**8}
    assert BOTS["gs2"].settings == {
        "buckets": [15, 225, 900, 3600],
        "boards": 40_000,
        "max_raises": "3 3 3 3",
    }


def test_a_bot_with_a_trainer_of_its_own_is_trained_listed_and_played(caller):
    assert bot_row(CALLER, CALLER.folder)["state"] == "not trained"
    trained = train("caller", options=TrainingOptions(seconds=4))
    row = bot_row(CALLER, CALLER.folder)
    assert (row["state"], row["bytes"], row["folder"]) == ("trained", 3, "bots/caller")
    assert make_player(trained.player, get_game("kuhn")).probabilities == (0.6, 0.4, 0.0)
    elsewhere = train("caller", Path("other"), options=TrainingOptions(seconds=10))
    assert elsewhere.player == "caller:other"
    assert make_player(elsewhere.player, get_game("kuhn")).probabilities == (0.0, 1.0, 0.0)


def test_an_option_of_other_bots_is_refused(caller):
    with pytest.raises(InvalidValueError, match="caller has a trainer of its own and has no opti"):
        train("caller", options=TrainingOptions(seconds=4, hands=3))
    with pytest.raises(InvalidValueError, match=r"is solved to a target .* option cycles"):
        train("smallbot", options=TrainingOptions(cycles=2))
    with pytest.raises(InvalidValueError, match=r"ectomynx learns in cycles .* option force"):
        train("ectomynx", options=TrainingOptions(force=True))


def test_a_bot_is_a_player_as_long_as_it_is_in_the_catalogue():
    before = list(PLAYERS)
    with BOTS.added(CALLER):
        assert list(PLAYERS) == [*before, "caller"]
    assert list(PLAYERS) == before
    with pytest.raises(UnknownNameError):
        make_player("caller", get_game("kuhn"))


def test_unknown_names_and_other_kinds_are_one_sentence():
    with pytest.raises(UnknownNameError, match="no bot is called 'smalbot'; did you mean smallbot"):
        get_bucket_bot("smalbot")
    with pytest.raises(InvalidValueError, match="ectomynx is not a bot of buckets"):
        get_bucket_bot("ectomynx")
    assert isinstance(get_bucket_bot("psopti0"), BucketBot)


def test_importing_the_players_reads_no_entry_points():
    code = (
        "from importlib import metadata\n"
        "metadata.entry_points = lambda **group: asked.append(group) or ()\n"
        "asked = []\n"
        "from equilibrist.players.catalog import PLAYERS\n"
        "PLAYERS['poki']\n"
        "assert not asked, asked\n"
        "PLAYERS['smallbot']\n"
        "groups = ['equilibrist.players', 'equilibrist.bots']\n"
        "assert [group['group'] for group in asked] == groups\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
