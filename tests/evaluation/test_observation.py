"""Counting the actions of a player in hands, shown and hidden."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest

from equilibrist.abstraction.streets import Boards
from equilibrist.cards.card import cards_name
from equilibrist.errors import InvalidValueError
from equilibrist.evaluation.observation import (
    Observer,
    always_call,
    hand_columns,
    mix_behaviour,
    needed_hands,
    taken,
)
from equilibrist.games.action import CALL, RAISE
from equilibrist.games.bet_menu import BetMenu
from equilibrist.games.betting import Betting
from equilibrist.games.betting_tree import BettingTree
from equilibrist.games.catalog import get_game
from equilibrist.games.records import parse_log_line
from equilibrist.kernels.treeplex import block, boards
from equilibrist.models.exact import exact_game
from equilibrist.models.treeplex import player_rows
from equilibrist.play import self_play
from equilibrist.play.match import play_match
from equilibrist.play.self_play import observe_player
from equilibrist.players.catalog import make_player
from equilibrist.players.player import Player
from equilibrist.players.static import Mix


class BetsAces(Player):
    """Bets and calls with the ace only, bluffs with every third queen; king: passes, calls."""

    name = "bets-aces"

    def reset(self, seed):
        self._random = np.random.default_rng(seed % 2**32)

    def act(self, view):
        rank, betting = view.hole[0] // 4, view.betting
        if betting.can_fold:
            return CALL if rank >= 11 else view.legal_actions().actions[0]
        return RAISE if rank == 12 or (rank == 10 and self._random.random() < 1 / 3) else CALL


def kuhn_observer(name, hides=False):
    game = exact_game(get_game("kuhn"))
    return Observer(game, hand_columns(game), name, hides)


def test_shown_hands_are_counted_by_card_and_action():
    lines = [
        "STATE:0:crc:As|Qs:2|-2:Alice|Bob",
        "STATE:1:rf:As|Ks:1|-1:Bob|Alice",
        "STATE:2:cc:Ks|Qs:1|-1:Alice|Bob",
    ]
    observer = kuhn_observer("Alice")
    records = [parse_log_line(get_game("kuhn"), line) for line in lines]
    assert [record.hand_number for record in observer.see(records)] == [0, 1, 2]
    first, second = observer.observed(needs=1)
    tree = observer.game.trees[0]
    # Rows: entry, check, bet, fold, call; columns: queen, king, ace.
    assert block(tree, 0, 0, first.counts).tolist() == [
        [0, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 1],
    ]  # fmt: skip
    assert block(observer.game.trees[1], 0, 0, second.counts).sum() == 1
    assert (first.hands, second.hands) == (2, 1)


def test_self_play_finds_the_frequencies_of_a_mix_in_leduc():
    game = exact_game(get_game("leduc"))
    player = Mix(0.1, 0.6, 0.3)
    observer = Observer(game, hand_columns(game), player.name)
    observe_player(observer, player, get_game("leduc"), 6000, seed=1)
    for seat, seen in enumerate(observer.observed()):
        truth, visits = mix_behaviour(game, seat, (0.1, 0.6, 0.3)), seen.visits(game)
        often = visits >= 200
        assert often.sum() >= 10
        error = np.abs(seen.behaviour(game, always_call(game)[seat]) - truth)[often]
        assert (error < 4.5 * np.sqrt(0.25 / visits[often])).all()


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_hands_of_tables_are_counted_as_their_records(name, monkeypatch):
    """Compiled matches count at their leaves what records of all hands count."""
    monkeypatch.setattr(self_play, "_AT_ONCE", 400)
    rules, player = get_game(name), Mix(0.2, 0.5, 0.3)
    game = exact_game(rules)
    by_leaf, by_record = (Observer(game, hand_columns(game), player.name) for _ in range(2))
    observe_player(by_leaf, player, rules, 601, seed=4)  # two matches, one of an odd number
    seeds = np.random.SeedSequence(4).generate_state(2).tolist()
    for seed, hands in zip(seeds, (400, 201), strict=True):
        pair = player, make_player(self_play.PROBE, rules)
        match = play_match(rules, pair, hands, seed=seed, keep_log=True, runner="tables")
        assert len(list(by_record.see(match.logs[0].hands))) == hands
    for one, two in zip(by_leaf.observed(), by_record.observed(), strict=True):
        assert one.hands == two.hands
        np.testing.assert_array_equal(one.counts, two.counts)


@pytest.mark.parametrize("is_bare", [False, True])
def test_hidden_hands_are_distributed_by_their_likelihood(is_bare):
    """Folded hands are seen by nobody; leaving them out would claim that nobody ever folds."""
    rules, player = get_game("kuhn"), BetsAces()
    shown, hidden = kuhn_observer(player.name), kuhn_observer(player.name, hides=not is_bare)
    observe_player(shown, player, rules, 3000, seed=2)
    if is_bare:  # the record itself lacks the cards
        for record in _records(player, rules):
            list(hidden.see([_without_mucked(record, player.name)]))
    else:
        observe_player(hidden, player, rules, 3000, seed=2)
    for truth, found in zip(shown.observed(), hidden.observed(), strict=True):
        game = shown.game
        assert found.counts.sum() == pytest.approx(truth.counts.sum())
        known = truth.visits(game) > 200
        away = np.abs(found.behaviour(game) - truth.behaviour(game))[known]
        assert away.max() < 0.09


def test_hidden_hands_are_those_of_expectation_maximisation_hand_by_hand():
    """Eight rounds in Leduc hold'em, written out over cards instead of columns, agree."""
    rules = get_game("leduc")
    game = exact_game(rules)
    players = Mix(0.3, 0.4, 0.3), Mix(0.2, 0.5, 0.3)
    match = play_match(rules, players, 400, seed=4, keep_log=True)
    records = match.logs[0].hands
    observer = Observer(game, hand_columns(game), players[0].name, hides=True)
    assert len(list(observer.see(records))) == 400
    found = observer.observed()
    for seat in (0, 1):
        tree, rows = game.betting, player_rows(game.betting, seat)
        hands = []  # probabilities of the actions are by (node after it, rank, rank on the board)
        for record in records:
            if record.names[seat] != players[0].name:
                continue
            state = record.state
            nodes = taken(tree, state.betting, seat)
            seen = [*state.holes[1 - seat], *state.deal.board]
            own = (
                state.holes[seat]
                if state.betting.is_showdown
                else [card for card in rules.deck.cards if card not in seen]
            )
            board = state.deal.board[0] // 4 if state.deal.board else None
            hands.append(
                [[(v, card // 4, board if tree.round[v] else None) for v in nodes] for card in own]
            )
        shares = defaultdict(lambda: 1.0)
        for _ in range(8):
            counts = defaultdict(float)
            for possible in hands:
                weights = [math.prod(shares[key] for key in keys) for keys in possible]
                total = sum(weights)
                for keys, weight in zip(possible, weights, strict=True):
                    for key in keys:
                        counts[key] += weight / total if total else 1 / len(possible)
            shares = defaultdict(lambda: 0.0)
            for v in np.flatnonzero(rows.decision >= 0).tolist():
                ranks = itertools.product((10, 11, 12), (10, 11, 12) if tree.round[v] else (None,))
                for rank in ranks:
                    children = [(child, *rank) for child in tree.children(v)]
                    met = sum(counts.get(key, 0.0) for key in children)
                    for key in children:  # one call is assumed besides what was seen
                        is_call = tree.action_kind[key[0]] == ord("c")
                        weight = 1.0
                        shares[key] = (counts.get(key, 0.0) + weight * is_call) / (met + weight)
        compared = _by_card(game, seat, found[seat].counts, counts)
        assert compared > 60


def _by_card(game, seat, numbers, counts):
    """Compare counts in the layout of a plan with those by node and ranks; return how many."""
    rows, columns, compared = player_rows(game.betting, seat).row, hand_columns(game), 0
    every = {(card, other) for card in game.rules.deck.cards for other in game.rules.deck.cards}
    for (v, rank, board), count in counts.items():
        r = int(game.betting.round[v])
        card, shown = next(
            (card, other)
            for card, other in sorted(every)
            if card != other and card // 4 == rank and board in (None, other // 4)
        )
        labels = columns.follow(np.array([card]), Boards(np.array([[shown]], np.uint8)))
        column, place = int(labels[r, 0]), 0
        for b in boards(game.trees[seat], r):
            own = block(game.trees[seat], r, b, numbers)
            if place <= column < place + own.shape[1]:
                assert own[rows[v], column - place] == pytest.approx(count, abs=1e-9)
                compared += 1
            place += own.shape[1]
    return compared


def _records(player, rules):
    class Keeper(Observer):
        def see(self, records):
            kept.extend(records)
            return iter(())

    kept = []
    keeper = Keeper(exact_game(rules), None, player.name)
    observe_player(keeper, player, rules, 3000, seed=2)
    return kept


def _without_mucked(record, name):
    if record.state.betting.is_showdown:
        return record
    line = f"STATE:{record.hand_number}:{record.state.betting.text}:"
    holes = [
        "" if own == name else cards_name(cards)
        for own, cards in zip(record.names, record.state.holes, strict=True)
    ]
    values = "|".join(map(str, record.payoffs))
    return parse_log_line(
        record.rules, f"{line}{'|'.join(holes)}:{values}:{'|'.join(record.names)}"
    )


def test_raises_beyond_the_caps_are_called_and_forgotten():
    rules = get_game("leduc")
    small = BettingTree.build(rules, BetMenu.parse(None, None, "1 1"))
    betting = Betting.start(rules)
    for action in (RAISE, RAISE, CALL, CALL, RAISE, CALL):
        betting = betting.apply(action)
    assert [small.name(v) for v in taken(small, betting, 0)] == ["r", "rc/c", "rc/crc"]
    assert [small.name(v) for v in taken(small, betting, 1)] == ["rc", "rc/cr"]


def test_other_games_and_too_few_hands_are_refused():
    observer = kuhn_observer("Alice")
    leduc = parse_log_line(get_game("leduc"), "STATE:0:rf:As|Qs:1|-1:Alice|Bob")
    with pytest.raises(InvalidValueError, match=r"^the hands are of leduc, not of kuhn$"):
        list(observer.see([leduc]))
    with pytest.raises(InvalidValueError, match="0 hands of Alice are too few for a response"):
        observer.observed()
    assert needed_hands(observer.game) == 60
    kuhn = parse_log_line(get_game("kuhn"), "STATE:0:rf:As|Qs:1|-1:Carol|Bob")
    with pytest.raises(InvalidValueError, match="no player of the hands is called 'Alice'"):
        list(observer.see([kuhn]))


def test_a_mix_is_the_same_in_all_states_and_boards():
    game = exact_game(get_game("leduc"))
    for player, mix in itertools.product((0, 1), ((0.2, 0.5, 0.3), None)):
        plan = game.realize(player, mix_behaviour(game, player, mix))
        again = game.realize(player, game.behaviour(player, plan))
        np.testing.assert_allclose(plan, again, atol=1e-15)
