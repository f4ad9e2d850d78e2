"""Tables as the page plays them: hands, hidden cards, reviews, downloads, restarts."""

import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pokerkit import HandHistory

from equilibrist.cards.card import card_name
from equilibrist.errors import InvalidValueError
from equilibrist.games.action import Action
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.match_log import read_log
from equilibrist.models.exact import exact_game
from equilibrist.players.catalog import PLAYERS, PlayerEntry
from equilibrist.players.player import Player
from equilibrist.solving.cfr import CFR
from equilibrist.solving.solution_run import Store
from equilibrist.solving.solve import Budget, solve
from equilibrist.strategies.behaviour_table import behaviour_table
from equilibrist.strategies.description import GameDescription
from equilibrist.strategies.solution import Solution, game_of

TOKEN = "token-of-the-test"  # as in conftest.py


def sit(client, player="uniform", game="holdem-limit"):
    answer = client.post("/api/tables", json={"player": player, "game": game})
    assert answer.status_code == 201, answer.text
    return answer.json()


def act(client, table, action):
    hand = table["hand"]
    move = {"action": action, "hand": hand["number"], "actions": hand["actions"]}
    return client.post(f"/api/tables/{table['id']}/moves", json=move)


def play(client, table, choose, hands):
    """Play until a number of hands are finished; return the table."""
    while table["score"]["hands"] < hands or not table["hand"]["is_over"]:
        over = table["hand"]["is_over"]
        answer = act(client, table, "next" if over else choose(table["hand"]))
        assert answer.status_code == 200, answer.text
        table = answer.json()
    return table


def calls(hand):
    return next(button["action"] for button in hand["buttons"] if button["key"] == "s")


def solved(folder, game="leduc", iterations=30):
    description = GameDescription.of(exact_game(get_game(game)))
    built, solver = description.build(), CFR()
    store = Store(folder, built, description, solver, 0, "float64")
    solve(built, solver, Budget(iterations=iterations), save=store.save)


def test_a_hand_is_played_with_buttons_of_the_rules(owner):
    table = sit(owner, "always-call")
    hand = table["hand"]
    assert (hand["number"], hand["street"], hand["pot"]) == (1, "preflop", 20)
    assert hand["you"]["position"] == "the big blind"
    assert [button["words"] for button in hand["buttons"]] == ["check", "raise to 20"]
    assert [button["key"] for button in hand["buttons"]] == ["s", "d"]
    hand = act(owner, table, "r").json()["hand"]
    assert (hand["street"], hand["pot"], len(hand["board"])) == ("flop", 40, 3)
    assert hand["story"] == [
        {
            "street": "preflop",
            "actions": ["always-call calls", "you raise to 20", "always-call calls"],
        }
    ]
    end = play(owner, owner.get(f"/api/tables/{table['id']}").json(), calls, 1)
    hand = end["hand"]
    assert hand["is_over"]
    assert len(hand["other"]["cards"]) == 2  # shown at the showdown
    assert hand["chips"] in (-20, 0, 20)
    assert end["score"]["chips"] == hand["chips"]
    assert hand["result"].startswith(("you win", "you lose", "a tie"))
    second = act(owner, end, "next").json()["hand"]
    assert (second["number"], second["you"]["position"]) == (2, "the dealer")


def test_no_limit_sizes_are_chips_of_the_street(owner):
    table = sit(owner, "always-call", "discard-holdem")
    assert table["hand"]["raise_span"] == [4, 200]
    sizes = {size["key"]: size["chips"] for size in table["hand"]["sizes"]}
    assert (sizes["z"], sizes["v"], sizes["n"]) == (4, 6, 200)
    flop = act(owner, table, "r10").json()
    assert flop["hand"]["pot"] == 20
    assert [button["key"] for button in flop["hand"]["buttons"]] == ["s", "1", "2"]  # discards
    before = flop["hand"]["you"]["cards"]
    swapped = act(owner, flop, f"d{before[0]}").json()
    assert swapped["hand"]["you"]["cards"][0] not in before
    assert swapped["hand"]["you"]["cards"][1] == before[1]
    bet = act(owner, swapped, "r5").json()
    assert bet["hand"]["pot"] == 30


@pytest.mark.parametrize("action", ["f", "r7", "r", "d2c", "k", "x", "", "next", "r99999999999"])
def test_illegal_actions_leave_the_hand_as_it_was(owner, action):
    table = sit(owner, "always-call")
    if action == "r":
        table = act(owner, table, "r").json()
        for _ in range(4):
            table = act(owner, table, "r").json() if len(table["hand"]["buttons"]) > 2 else table
        action = "f"
    answer = act(owner, table, action)
    assert answer.status_code in (400, 409)
    assert re.search("not possible here|not an action|still in play", answer.json()["error"])
    assert owner.get(f"/api/tables/{table['id']}").json() == table


@pytest.mark.parametrize(
    ("amount", "error"),
    [
        ("r150", "a raise to 150 is not possible here; you can check, raise to 200 – 20,000"),
        ("r20001", "a raise to 20,001 is not possible here"),
        ("r0", "a raise to 0 is not possible here"),
        ("d2c", "'d2c' is not possible here"),
    ],
)
def test_a_bad_amount_is_answered_with_those_that_are_possible(owner, amount, error):
    table = sit(owner, "always-call", "holdem-nolimit")
    assert table["hand"]["raise_span"] == [200, 20000]
    answer = act(owner, table, amount)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(error)
    assert owner.get(f"/api/tables/{table['id']}").json() == table
    flop = act(owner, act(owner, table, "r200").json(), "r50")  # less than a big blind
    assert flop.json()["error"] == (
        "a bet of 50 is not possible here; you can check, bet 100 – 19,800"
    )


def test_costs_in_a_no_limit_game_are_those_of_a_spot(owner):
    table = act(owner, sit(owner, "always-call", "holdem-nolimit"), "r20000").json()
    costs = owner.get(f"/api/tables/{table['id']}/hands/1/costs").json()
    assert costs["state"] == "unknown"
    assert "a spot that is solved" in costs["reason"]


def test_two_tabs_cannot_act_twice(owner):
    table = sit(owner, "always-call")
    first = act(owner, table, "c").json()
    second = act(owner, table, "c")
    assert second.status_code == 409
    assert "perhaps in another tab" in second.json()["error"]
    assert owner.get(f"/api/tables/{table['id']}").json() == first


def test_unknown_tables_players_and_games_are_named(owner):
    assert owner.get("/api/tables/abc").status_code == 404
    assert owner.get("/api/tables/" + "b" * 20).status_code == 404
    for new, words in (
        ({"player": "pokki"}, "did you mean poki"),
        ({"player": "poki", "game": "chess"}, "no game is called 'chess'"),
        ({"player": "poki", "game": "leduc"}, "leduc"),
        ({"player": "smallbot"}, "run `equilibrist train smallbot`"),
        ({"player": "mix:2,0,0"}, "2"),
    ):
        answer = owner.post("/api/tables", json=new)
        assert answer.status_code in (400, 404)
        assert words in answer.json()["error"]
    assert owner.get("/api/tables").json() == []


def test_every_listed_player_sits_down_at_its_games(owner):
    lobby = owner.get("/api/players").json()
    assert lobby["games"][0] == "holdem-limit"
    untrained = {row["name"]: row["command"] for row in lobby["players"] if row["command"]}
    assert untrained["smallbot"] == "equilibrist train smallbot"
    simple = [row for row in lobby["players"] if len(row["games"]) > 1]
    assert {"always-call", "uniform"} <= {row["name"] for row in simple}
    for row in simple:
        for game in row["games"]:
            assert sit(owner, row["name"], game)["game"] == game


# --- hidden cards ---------------------------------------------------------------------------------


def check_nothing_hidden_is_sent(client, tables, game, hands, seed, values_every=0):
    """Play at random and compare every byte that is sent with the cards that nobody has shown.

    After every `values_every` actions the result without luck and the costs of the last hand are
    asked for, too: they name no card at all.
    """
    rng, rules = random.Random(seed), get_game(game)
    table = sit(client, "uniform", game)
    secret = (tables / f"{table['id']}.log").read_text().splitlines()[0].split()[-1]
    dealer = Dealer(rules, int(secret))
    deal, number, checked = next(dealer), 1, 0
    sent = client.get(f"/api/tables/{table['id']}")
    while table["score"]["hands"] < hands:
        hand = table["hand"]
        while hand["number"] > number:
            deal, number = next(dealer), number + 1
        you = (number - 1) % 2
        is_shown = hand["is_over"] and bool(hand["other"]["cards"])
        if not is_shown:
            assert hand["other"]["cards"] == []
            hidden = {*deal.holes[1 - you], *deal.board[len(hand["board"]) :], *deal.draws}
            own = {*hand["you"]["cards"]}
            text = sent.text + str(sent.headers)
            for card in hidden:
                name = card_name(card)
                assert name in own or name not in text, (name, text)
            assert secret not in text
            checked += 1
        if hand["is_over"]:
            action = "next"
        else:
            action = rng.choice([*hand["buttons"], *hand["buttons"][-1:]])["action"]
            if action[0] == "r" and hand["sizes"]:
                action = f"r{rng.choice(hand['sizes'][:3])['chips']}"
        sent = act(client, table, action)
        assert sent.status_code == 200, sent.text
        table = sent.json()
        over = table["score"]["hands"]
        if values_every and over and checked % values_every == 0:
            for about in ("luck", f"hands/{over}/costs"):
                values = client.get(f"/api/tables/{table['id']}/{about}").text
                assert not re.search(r"\b[2-9TJQKA][cdhs]\b", values), values
                assert secret not in values
        refused = act(client, table, rng.choice(["r1", "zz"]))  # errors are bytes too
        if refused.status_code == 200:  # one chip is a bet if no more are left
            sent, table = refused, refused.json()
        elif not table["hand"]["is_over"]:
            assert not re.search(r"STATE|\|", refused.text)
    assert checked > hands


@pytest.mark.parametrize(
    ("game", "hands"),
    [("holdem-limit", 60), ("discard-holdem", 60), ("holdem-nolimit", 30), ("leduc", 30)],
)
def test_hidden_cards_never_leave_the_server(owner, folder, game, hands):
    every = 20 if game == "leduc" else 0
    check_nothing_hidden_is_sent(owner, folder / "tables", game, hands, seed=3, values_every=every)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "hands"),
    [("holdem-limit", 4000), ("discard-holdem", 3000), ("holdem-nolimit", 3000)],
)
def test_hidden_cards_never_leave_the_server_in_10000_hands(owner, folder, game, hands):
    check_nothing_hidden_is_sent(owner, folder / "tables", game, hands, seed=4, values_every=200)


class Rogue(Player):
    """A player whose errors say what it holds."""

    name = "rogue"

    def __init__(self, fails):
        self.fails = fails

    def act(self, view):
        if self.fails == "raises":
            raise InvalidValueError(f"I hold {view.hole} in {view}")
        return Action("k")

    def reset(self, seed):
        pass


@pytest.mark.parametrize("fails", ["raises", "acts illegally"])
def test_errors_of_a_player_do_not_show_its_cards(serve, fails):
    entry = PlayerEntry("rogue", "Fails", "every game", lambda rules, _: Rogue(fails))
    client = serve()
    client.get("/", params={"token": TOKEN})
    with PLAYERS.added(entry):
        answer = client.post("/api/tables", json={"player": "rogue"})  # the dealer acts first
        assert answer.status_code == 409
        assert answer.json() == {"error": "rogue failed to act; the hand stays as it was"}
        identity = client.get("/api/tables").json()[0]["id"]
        assert client.get(f"/api/tables/{identity}").json()["hand"] is None


# --- after the hand -------------------------------------------------------------------------------


def test_the_review_shows_the_probabilities_of_the_stored_strategy(owner, folder):
    """The numbers are those of `behaviour_table`, which reads the solution by code of its own."""
    solved(folder / "leduc-solution")
    found = Solution.load(folder / "leduc-solution")
    game = game_of(found)
    table = sit(owner, "solution:leduc-solution", "leduc")
    assert table["hand"]["other"]["name"] == "leduc-solution"
    table = play(owner, table, calls, 6)
    checked = 0
    for number in range(1, 7):
        review = owner.get(f"/api/tables/{table['id']}/hands/{number}").json()
        record = review["decisions"]
        assert len(review["theirs"]) == len(review["yours"]) == 1
        for decision in record:
            if decision["street"] != "round 1":
                continue
            node = "" if number % 2 == 0 else "c"  # you check first in odd hands
            row = behaviour_table(game, found.plans, node)
            names = [name.split()[0][0] for name in row.hands]
            wanted = row.probabilities[names.index(review["theirs"][0][0])]
            given = {share["action"][0]: share["probability"] for share in decision["mixture"]}
            for action, probability in zip(row.actions, wanted, strict=True):
                assert given.get(action[0], 0) == pytest.approx(probability, abs=1e-9)
            checked += 1
            break
    assert checked >= 4


def test_a_hand_in_play_cannot_be_reviewed(owner):
    table = sit(owner, "always-call")
    for number in (0, 1, 2, -1):
        answer = owner.get(f"/api/tables/{table['id']}/hands/{number}")
        assert answer.status_code == 404
        assert answer.json()["error"] == "no hand is finished yet"


def test_finished_hands_are_downloaded_without_the_seed(owner, folder):
    table = sit(owner, "always-call")
    identity = table["id"]
    table = play(owner, table, calls, 3)
    table = act(owner, table, "next").json()  # the fourth is in play
    seed = (folder / "tables" / f"{identity}.log").read_text().split("\n")[0].split()[-1]
    acpc = owner.get(f"/api/tables/{identity}/download").text
    log = read_log(get_game("holdem-limit"), acpc.splitlines())
    assert len(log.hands) == 3
    assert log.score[0] == table["score"]["chips"]
    phh = owner.get(f"/api/tables/{identity}/download", params={"form": "phh"})
    assert 'filename="you-always-call.phhs"' in phh.headers["content-disposition"]
    for text in (acpc, phh.text):
        assert seed not in text
    hands = re.split(r"^\[\d+\]\n", phh.text, flags=re.MULTILINE)[1:]
    chips = 0
    for text in hands:
        state = list(HandHistory.loads(text))[-1]
        chips += state.payoffs[list(HandHistory.loads(text).players).index("you")]
    assert chips == table["score"]["chips"]
    assert owner.get(f"/api/tables/{identity}/download?form=pdf").status_code == 422


# --- restarts -------------------------------------------------------------------------------------


def test_a_restarted_server_continues_in_the_middle_of_a_hand(serve):
    first = serve()
    first.get("/", params={"token": TOKEN})
    table = play(first, sit(first, "uniform", "discard-holdem"), calls, 5)
    table = act(first, table, "next").json()
    while table["hand"]["is_over"]:
        table = act(first, table, "next").json()
    first.__exit__(None, None, None)
    second = serve()
    assert second.get(f"/api/tables/{table['id']}").status_code == 401  # its cookie is gone
    second.get("/", params={"token": TOKEN})
    again = second.get(f"/api/tables/{table['id']}").json()
    assert again == table
    assert [row["id"] for row in second.get("/api/tables").json()] == [table["id"]]
    hands = table["score"]["hands"] + 1
    assert play(second, again, calls, hands)["score"]["hands"] == hands


def test_a_table_that_is_closed_for_others_while_a_request_waits_is_opened_again(owner):
    """Else the request would act in a session whose file is closed."""
    table = sit(owner, "always-call")
    store = owner.app.state.tables
    [(path, held)] = store._open.items()
    lock = held.lock = Watched()
    with lock.inner:
        waiting = ThreadPoolExecutor(1).submit(act, owner, table, "c")
        assert lock.is_asked.wait(60)
        held.saved.close()
        del store._open[path]
    assert waiting.result(60).status_code == 200
    assert list(store._open) == [path]


class Watched:
    """A lock that says when somebody wants it."""

    def __init__(self):
        self.inner, self.is_asked = threading.Lock(), threading.Event()

    def __enter__(self):
        self.is_asked.set()
        self.inner.acquire()

    def __exit__(self, *_):
        self.inner.release()


def test_a_damaged_file_is_named_and_shows_no_cards(owner, folder, serve):
    table = play(owner, sit(owner, "always-call"), calls, 2)
    path = folder / "tables" / f"{table['id']}.log"
    text = path.read_text()
    owner.__exit__(None, None, None)
    path.write_text(re.sub(r"\n(STATE:0:[^:]*):....", r"\n\1:2c2d", text))
    client = serve()
    client.get("/", params={"token": TOKEN})
    answer = client.get(f"/api/tables/{table['id']}")
    assert answer.status_code == 410
    assert answer.json()["error"].startswith(f"the file {path.name} of this table is damaged")


def test_a_table_that_cannot_be_saved_stays_as_it_was(owner, monkeypatch):
    table = sit(owner, "always-call")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        answer = act(owner, table, "c")
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    # What was written may be on disk or not; either way the table is whole.
    again = owner.get(f"/api/tables/{table['id']}").json()
    assert again["hand"]["number"] == 1
    assert play(owner, again, calls, 1)["score"]["hands"] == 1
