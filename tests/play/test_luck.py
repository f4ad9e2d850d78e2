"""Matches without luck: the mean is the exact expectation, and the variance is smaller."""

import dataclasses
import functools

import numpy as np
import pytest

import equilibrist as eq
from equilibrist import stopping
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.expectation import expectation, fixed_mix
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.games.state import HandState
from equilibrist.kernels.reference.sequence_form import block
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.phases import heard_phases
from equilibrist.play.luck import LuckAdjuster
from equilibrist.play.match import play_match
from equilibrist.play.match_run import MatchSettings, play_as_set
from equilibrist.players.catalog import make_player
from equilibrist.players.known_plans import known_plans
from equilibrist.players.known_strategies import known_strategy, strategy_values
from equilibrist.players.own_player import as_player
from equilibrist.players.player import View
from equilibrist.strategies.behaviour_table import find_board

MIX = (0.15, 0.5, 0.35)


class Hidden:
    """Plays like another player, but nobody knows its strategy."""

    def __init__(self, player):
        self.player, self.name = player, "stranger"
        self.act, self.observe, self.reset = player.act, player.observe, player.reset


@functools.cache
def solved(name):
    return eq.solve(name, iterations=30)


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Return folders with weak solutions of Kuhn and Leduc, by name."""
    place = tmp_path_factory.mktemp("solutions")
    return {name: solved(name).save(place / name) for name in ("kuhn", "leduc")}


@functools.cache
def truth(name):
    """Return what the solution wins from the mix, in both seats, by plans that need no player."""
    game = solved(name).game
    return expectation(game, solved(name).plans, fixed_mix(game, MIX))


def pair(name, folder):
    rules = get_game(name)
    mix = make_player(f"mix:{','.join(map(str, MIX))}", rules)
    return make_player(f"solution:{folder}", rules), mix


@pytest.mark.parametrize("duplicate", [False, True], ids=["plain", "duplicate"])
@pytest.mark.parametrize("unknown", [0, 1])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_the_corrected_mean_is_the_exact_expectation_with_less_variance(
    name, unknown, duplicate, folders
):
    rules, players = get_game(name), list(pair(name, folders[name]))
    players[unknown] = Hidden(players[unknown])
    adjuster = LuckAdjuster(rules, tuple(players))
    errors, factors = [], []
    for seed in range(5):
        match = play_match(
            rules, tuple(players), 600, seed=seed, duplicate=duplicate, keep_log=True
        )
        found = adjuster.match(match)
        estimate = found.statistics().estimate
        errors.append((estimate.mean - truth(name).mean) / estimate.standard_error)
        factors.append(found.variance_factor)
        assert estimate.standard_error < match.statistics().estimate.standard_error
    assert max(map(abs, errors)) < 4
    assert abs(np.mean(errors)) < 4 / np.sqrt(5)
    assert min(factors) > 1.2
    assert found.known == (players[1 - unknown].name,)
    assert found.corrections == ("cards", f"actions of {found.known[0]}", "seats")


@pytest.mark.parametrize("unknown", [0, 1])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_each_seat_has_its_own_expectation(name, unknown, folders):
    # Over both seats an error that favours player 0 of a hand would cancel.
    rules, players = get_game(name), list(pair(name, folders[name]))
    players[unknown] = Hidden(players[unknown])
    match = play_match(rules, tuple(players), 2001, seed=8, keep_log=True)  # odd: seats are kept
    found = LuckAdjuster(rules, tuple(players)).match(match).chips[0]
    for seat in (0, 1):
        hands = found[seat::2]
        error = hands.std(ddof=1) / np.sqrt(len(hands))
        assert abs(hands.mean() - truth(name).seats[seat]) < 4 * error
        assert error < 0.1


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_two_known_strategies_leave_nothing_but_the_exact_expectation(name, folders):
    rules, players = get_game(name), pair(name, folders[name])
    adjuster = LuckAdjuster(rules, players)
    found = adjuster.match(play_match(rules, players, 40, keep_log=True, runner="tables"))
    np.testing.assert_allclose(found.chips, truth(name).mean, atol=1e-8)
    assert found.variance_factor is None
    assert found.statistics().estimate.standard_error == 0
    # With an odd number of hands one seat is played more often, so seats are not corrected.
    odd = adjuster.match(play_match(rules, players, 41, keep_log=True))
    np.testing.assert_allclose(odd.chips[0, ::2], truth(name).seats[0], atol=1e-8)
    np.testing.assert_allclose(odd.chips[0, 1::2], truth(name).seats[1], atol=1e-8)
    assert "seats" not in odd.corrections


def test_agreed_rounds_are_part_of_the_strategy(folders):
    rules, players = get_game("leduc"), pair("leduc", folders["leduc"])
    exact = LuckAdjuster(rules, players, agreed_rounds=1)
    settings = {"agreed_rounds": 1, "runner": "tables"}
    value = exact.match(play_match(rules, players, 2, keep_log=True, **settings)).chips.mean()
    long = play_match(rules, players, 200_000, **settings).statistics().estimate
    assert abs(long.mean - value) < 4 * long.standard_error
    # The test can fail: without the agreement the expectation is another one.
    assert abs(long.mean - truth("leduc").mean) > 4 * long.standard_error


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("leduc", "solution:{leduc}"),
        ("leduc", "solution:{leduc},purify"),
        ("leduc", "solution:{leduc},threshold=0.3"),
        ("leduc", "solution:{capped}"),
        ("kuhn", "solution:{kuhn}"),
        ("leduc", "mix:0.2,0.3,0.5"),
    ],
)
def test_known_plans_are_what_the_player_says_at_its_decisions(game, options, folders, tmp_path):
    from equilibrist.games.bet_menu import BetMenu

    rules = get_game(game)
    if "capped" in options:  # a strategy of fewer raises, which calls those that it does not know
        menu = BetMenu.parse(None, None, "1 1")
        folders = folders | {"capped": eq.solve("leduc", iterations=5, menu=menu).save(tmp_path)}
    player = make_player(options.format(**folders), rules)
    model = exact_game(rules, symmetry="suits")
    plans = known_plans(player, model)
    behaviours = [model.behaviour(seat, plans[seat]) for seat in (0, 1)]
    rng, dealer, decisions = np.random.default_rng(1), Dealer(rules, seed=3), 0
    for _ in range(150):
        hand = HandState.start(rules, next(dealer))
        reach = [1.0, 1.0]  # of the player in each seat: its plan is arbitrary where it never goes
        while not hand.is_over:
            seat, legal = hand.actor, hand.legal_actions().actions
            mixture = dict(player.mixture(View.of(hand, seat)))
            if reach[seat] > 0:
                found = probabilities(model, behaviours[seat], hand)
                expected = [mixture.get(action, 0.0) for action in legal]
                np.testing.assert_allclose(found, expected, atol=1e-12)
                decisions += 1
            action = legal[rng.integers(len(legal))]
            reach[seat] *= mixture.get(action, 0.0)
            hand = hand.apply(action)
    assert decisions > 150


def probabilities(model, behaviour, hand):
    """Return the probabilities of the children of a hand's node, found by its cards."""
    betting, states = model.betting, model.states
    node = betting.parse(hand.betting.text)
    r, seat = int(betting.round[node]), hand.actor
    from equilibrist.cards.card import cards_name

    board, _, renaming = find_board(hand.rules, states, r, cards_name(hand.board))
    card = int(np.argsort(renaming)[hand.holes[seat][0]])
    tree = model.trees[seat]
    own = block(tree, r, int(tree.board_start[r]) + board, behaviour)
    first = int(tree.decision_first[player_rows(betting, seat).decision[node]])
    size = len(betting.children(node))
    return own[first : first + size, states.state_of_hand[r][board][card]]


def test_strategies_of_buckets_are_known_too(tmp_path):
    from equilibrist.abstraction.features import Strengths
    from equilibrist.abstraction.joint_counts import joint
    from equilibrist.abstraction.recipes.percentile import percentile
    from equilibrist.abstraction.streets import Streets
    from equilibrist.games.bet_menu import BetMenu
    from equilibrist.solving.cfr import CFR
    from equilibrist.solving.solution_run import Store
    from equilibrist.solving.solve import Budget, solve
    from equilibrist.strategies.description import BucketDescription

    rules = get_game("leduc")
    buckets = percentile(Strengths.of(Streets.of(rules)), [1, 3])
    first = buckets.save(tmp_path / "buckets")
    joint(buckets).save(tmp_path / "joint", {"first": first})
    described = BucketDescription.of(tmp_path / "buckets", tmp_path / "joint", BetMenu())
    run = solve(game := described.build(), CFR(), Budget(iterations=20))
    Store(tmp_path / "bot", game, described, CFR(), 0, "float64").save(run)
    players = make_player(f"solution:{tmp_path / 'bot'}", rules), make_player("uniform", rules)
    exact = LuckAdjuster(rules, players).match(play_match(rules, players, 2, keep_log=True))
    long = play_match(rules, players, 200_000, runner="tables").statistics().estimate
    assert abs(long.mean - exact.chips.mean()) < 4 * long.standard_error
    assert long.standard_error < 0.02


# --- limit hold'em, whose exact model does not fit ------------------------------------------------


def blind_value(tree, mixes):
    """Return what player 0 wins if both players ignore their cards: showdowns are even."""
    from equilibrist.games.betting_tree import NodeKind
    from equilibrist.strategies.played import mixed_probabilities

    def value(node):
        if tree.kind[node] == NodeKind.DECISION:
            shares = mixed_probabilities(tree, node, mixes[tree.player[node]])
            return sum(
                share * value(child)
                for share, child in zip(shares, tree.children(node), strict=True)
            )
        if tree.kind[node] == NodeKind.ROUND_END:
            return value(tree.children(node)[0])
        if tree.kind[node] == NodeKind.SHOWDOWN:
            return 0.0
        lost = float(tree.spent[node, tree.player[node]])
        return lost if tree.player[node] else -lost

    return value(0)


@pytest.mark.parametrize("unknown", [0, 1])
def test_in_holdem_two_mixes_have_their_exact_expectation(unknown):
    rules = get_game("holdem-limit")
    mixes = (0.1, 0.4, 0.5), (0.25, 0.55, 0.2)
    players = [make_player(f"mix:{','.join(map(str, mix))}", rules) for mix in mixes]
    players[unknown] = Hidden(players[unknown])
    tree = BettingTree.build(rules)
    found = LuckAdjuster(rules, tuple(players)).match(
        play_match(rules, tuple(players), 301, seed=5, keep_log=True)  # odd: seats are kept
    )
    for seat in (0, 1):
        hands = found.chips[0, seat::2]
        expected = blind_value(tree, mixes) if seat == 0 else -blind_value(tree, mixes[::-1])
        assert abs(hands.mean() - expected) < 4 * hands.std(ddof=1) / np.sqrt(len(hands))
    assert found.variance_factor > 1.1
    assert found.known == (players[1 - unknown].name,)


@pytest.fixture(scope="session")
def royal_bot(tmp_path_factory):
    """Return the folder of a weak strategy of buckets of royal hold'em, with few raises."""
    from equilibrist.abstraction.joint_counts import joint
    from equilibrist.abstraction.recipes import build
    from equilibrist.games.bet_menu import BetMenu
    from equilibrist.solving.cfr import CFR
    from equilibrist.solving.solution_run import Store
    from equilibrist.solving.solve import Budget, solve
    from equilibrist.strategies.description import BucketDescription

    place = tmp_path_factory.mktemp("royal")
    buckets = build("percentile", get_game("royal-holdem"), [3, 9, 18, 36])
    first = buckets.save(place / "buckets")
    joint(buckets).save(place / "joint", {"first": first})
    menu = BetMenu.parse(None, None, "1 1 2 2")
    described = BucketDescription.of(place / "buckets", place / "joint", menu)
    run = solve(game := described.build(), CFR(), Budget(iterations=50))
    Store(place / "bot", game, described, CFR(), 0, "float64").save(run)
    return place / "bot"


@pytest.mark.parametrize(("unknown", "options"), [(0, ""), (1, ",threshold=0.2")])
def test_in_holdem_a_strategy_of_buckets_wins_what_a_long_match_says(unknown, options, royal_bot):
    rules = get_game("royal-holdem")
    mix = make_player("mix:0.1,0.4,0.5", rules)  # raises more often than the strategy knows
    pair = [make_player(f"solution:{royal_bot}{options}", rules), mix]
    truth = play_match(rules, tuple(pair), 400_000, runner="tables").statistics("chips").estimate
    for is_known in (True, False):
        players = list(pair)
        if not is_known:
            players[1] = Hidden(mix)
        order = tuple(players) if unknown else tuple(players[::-1])
        match = play_match(rules, order, 400, seed=2, duplicate=True, keep_log=True)
        found = LuckAdjuster(rules, order).match(match)
        estimate = found.statistics("chips").estimate
        mean = estimate.mean if unknown else -estimate.mean
        error = np.hypot(estimate.standard_error, truth.standard_error)
        assert abs(mean - truth.mean) < 4 * error
        assert found.variance_factor > 1.5
        assert len(found.known) == 1 + is_known
        assert error < 0.2 * abs(truth.mean)


def test_probabilities_by_hand_are_what_the_player_says(royal_bot):
    from equilibrist.cards.hand import hand_index

    rules = get_game("royal-holdem")
    tree = BettingTree.build(rules)
    rng, dealer, decisions = np.random.default_rng(1), Dealer(rules, seed=3), 0
    for options in ("", ",purify", ",threshold=0.3"):
        player = make_player(f"solution:{royal_bot}{options}", rules)
        strategy = known_strategy(player, tree)
        for _ in range(20):
            hand = HandState.start(rules, next(dealer))
            reach = [1.0, 1.0]
            while not hand.is_over:
                seat, legal = hand.actor, hand.legal_actions().actions
                mixture = dict(player.mixture(View.of(hand, seat)))
                if reach[seat] > 0:
                    node = tree.parse(hand.betting.text)
                    own = strategy.probabilities(node, hand.board)
                    expected = [mixture.get(action, 0.0) for action in legal]
                    found = own[:, hand_index(*hand.holes[seat])]
                    np.testing.assert_allclose(found, expected, atol=1e-6)
                    decisions += 1
                action = legal[rng.integers(len(legal))]
                reach[seat] *= mixture.get(action, 0.0)
                hand = hand.apply(action)
    assert decisions > 100


def test_preparing_aivat_in_holdem_is_counted(royal_bot):
    rules, heard = get_game("royal-holdem"), []
    players = make_player(f"solution:{royal_bot}", rules), Hidden(make_player("uniform", rules))
    with heard_phases(heard.append):
        LuckAdjuster(rules, players)
    found = {each.text: each for each in heard}
    for text, unit in (
        ("values of all buckets after each betting", "bettings"),
        ("counting how hands meet on flops", "flops"),
        ("expected winnings of both seats", "seats"),
    ):
        assert found[text].done == found[text].total > 0
        assert found[text].unit == unit


def test_agreed_rounds_are_part_of_a_strategy_in_holdem(royal_bot):
    rules = get_game("royal-holdem")
    players = make_player(f"solution:{royal_bot}", rules), make_player("mix:0.1,0.4,0.5", rules)
    tree = BettingTree.build(rules)
    agreed = known_strategy(players[0], tree, agreed_rounds=1)
    kinds = [chr(tree.action_kind[child]) for child in tree.children(0)]
    assert agreed.probabilities(0, ())[:, 1325].tolist() == [kind == "c" for kind in kinds]
    assert agreed.probabilities(tree.parse("cc/"), (51, 50, 49))[:, 986].max() < 1
    settings = {"agreed_rounds": 1}
    match = play_match(rules, players, 400, keep_log=True, **settings)
    found = LuckAdjuster(rules, players, agreed_rounds=1).match(match).statistics("chips").estimate
    long = play_match(rules, players, 400_000, runner="tables", **settings)
    truth = long.statistics("chips").estimate
    error = np.hypot(found.standard_error, truth.standard_error)
    assert abs(found.mean - truth.mean) < 4 * error


def test_a_small_deck_is_corrected_by_its_exact_model_if_that_fits(monkeypatch):
    rules = dataclasses.replace(
        get_game("royal-holdem"), name="few", num_suits=3, num_ranks=3, max_raises=(1, 1, 1, 1)
    )
    players = make_player("uniform", rules), make_player("mix:0.1,0.4,0.5", rules)
    match = play_match(rules, players, 6, keep_log=True)
    assert LuckAdjuster(rules, players).match(match).variance_factor is None  # exact
    monkeypatch.setattr("equilibrist.play.luck.available_bytes", lambda: 1000)
    assert LuckAdjuster(rules, players).match(match).variance_factor > 0


def test_counts_that_are_gone_or_too_large_are_one_sentence(royal_bot, tmp_path, monkeypatch):
    import shutil

    place = shutil.copytree(royal_bot.parent, tmp_path / "copy")
    rules = get_game("royal-holdem")
    players = make_player(f"solution:{place / 'bot'}", rules), make_player("uniform", rules)
    with monkeypatch.context() as patch:
        patch.setattr("equilibrist.players.known_strategies.available_bytes", lambda: 1000)
        with pytest.raises(InvalidValueError, match=r"AIVAT's values of .* fewer buckets"):
            LuckAdjuster(rules, players)
    shutil.rmtree(place / "joint")
    with pytest.raises(InvalidValueError, match="AIVAT needs the buckets and joint counts of"):
        LuckAdjuster(rules, players)


def test_buckets_that_are_too_many_are_not_told_apart(royal_bot, monkeypatch):
    rules = get_game("royal-holdem")
    players = make_player(f"solution:{royal_bot}", rules), make_player("mix:0.1,0.4,0.5", rules)
    match = play_match(rules, players, 200, seed=3, duplicate=True, keep_log=True)
    fine = LuckAdjuster(rules, players).match(match)
    monkeypatch.setattr("equilibrist.players.known_strategies.MOST_BUCKETS", 35)
    coarse = LuckAdjuster(rules, players).match(match)
    assert fine.variance_factor > coarse.variance_factor > 1


def test_players_of_the_same_name_keep_their_own_hands():
    rules = get_game("kuhn")
    players = make_player("uniform", rules), as_player(Hidden(make_player("uniform", rules)))
    players[1].name = "uniform"
    match = play_match(rules, players, 400, keep_log=True, duplicate=True)
    found = LuckAdjuster(rules, players).match(match).statistics().estimate
    assert abs(found.mean) < 4 * found.standard_error


def test_the_front_door_and_series_have_the_same_numbers():
    one = eq.match("uniform", "always-shove", hands=60, game="leduc", seed=4, aivat=True)
    assert one.aivat.statistics().win_rate == pytest.approx(one.aivat.chips.mean())
    assert eq.match("uniform", "always-call", hands=6, game="leduc").aivat is None
    rules = get_game("leduc")
    players = make_player("uniform", rules), make_player("always-shove", rules)
    played = play_as_set(rules, players, MatchSettings(hands=20, matches=2, aivat=True))
    assert [match.aivat.chips.shape for match in played.matches] == [(1, 20)] * 2


def test_a_match_that_is_stopped_is_corrected_as_far_as_it_went():
    rules = get_game("leduc")
    players = make_player("uniform", rules), make_player("always-shove", rules)
    with stopping.on_signals(lambda text: None) as stop:

        def watch(share):
            if share >= 0.6:  # in the second run
                stop.request()

        settings = MatchSettings(hands=400, duplicate=True, aivat=True)
        played = play_as_set(rules, players, settings, lambda what: watch)
    assert not played.is_finished
    match = played.matches[0]
    assert match.aivat.chips.shape == match.chips.shape
    assert 2 <= match.chips.shape[1] < 200


def test_a_stop_while_luck_is_removed_keeps_the_plain_result():
    rules = get_game("leduc")
    players = make_player("uniform", rules), make_player("always-shove", rules)
    with stopping.on_signals(lambda text: None) as stop:

        def watching(what):
            return lambda share: stop.request() if what.startswith("luck") else None

        settings = MatchSettings(hands=40, aivat=True)
        played = play_as_set(rules, players, settings, watching)
    assert (played.is_finished, played.matches[0].aivat) == (False, None)
    assert played.matches[0].num_hands == 40


def test_a_stop_before_the_match_ends_the_preparation(royal_bot):
    rules = get_game("royal-holdem")
    players = make_player(f"solution:{royal_bot}", rules), make_player("uniform", rules)
    with stopping.on_signals(lambda text: None) as stop:
        stop.request()
        LuckAdjuster(rules, players)  # asked for after the request, so it is computed
    with stopping.on_signals(lambda text: None) as stop:
        values = strategy_values(players[0], known_strategy(players[0], BettingTree.build(rules)))
        stop.request()
        with pytest.raises(stopping.Stopped):
            values.by_columns(values.tree.parse("cc/"), 0)


def test_what_cannot_be_corrected_gives_one_sentence():
    leduc, kuhn = get_game("leduc"), get_game("kuhn")

    def players(rules, *names):
        return tuple(make_player(name, rules) for name in names)

    with pytest.raises(InvalidValueError, match="neither always-shove nor always-shove is known"):
        LuckAdjuster(kuhn, players(kuhn, "always-shove", "always-shove"))
    for name, words in (
        ("holdem-nolimit", "no-limit games needs a stored strategy"),
        ("discard-holdem", "has discards"),
    ):
        rules = get_game(name)
        with pytest.raises(InvalidValueError, match=words):
            LuckAdjuster(rules, players(rules, "uniform", "always-call"))
    boards = {"num_board_cards": (0, 2, 2, 1), "name": "wide"}
    wide = dataclasses.replace(get_game("holdem-limit"), **boards)
    with pytest.raises(InvalidValueError, match=r"AIVAT's model of wide needs .* GiB"):
        LuckAdjuster(wide, players(wide, "uniform", "always-call"))
    pair = players(leduc, "uniform", "always-call")
    with pytest.raises(InvalidValueError, match="play it with keep_log"):
        LuckAdjuster(leduc, pair).match(play_match(leduc, pair, 4))
    with pytest.raises(InvalidValueError, match="plain results"):
        play_as_set(leduc, pair, MatchSettings(hands=4, until_sure=True, aivat=True))
    with pytest.raises(InvalidValueError, match="not a limit game"):
        known_plans(pair[0], _no_limit())


def _no_limit():
    from equilibrist.games.bet_menu import BetMenu
    from equilibrist.games.rules import GameRules

    rules = GameRules(
        name="short", betting="nolimit", blinds=(1, 1), stacks=(3, 3), max_raises=(1, 1),
        num_suits=2, num_ranks=3, num_hole_cards=1, num_board_cards=(0, 1),
    )  # fmt: skip
    return exact_game(rules, BetMenu.parse("a"))
