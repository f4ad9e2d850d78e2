"""How many hands per second are played in process and over TCP, beside OpenSpiel and PokerKit?

Hands of limit hold'em between a mix and a uniform player: by tables on all threads, by views one by
one, over TCP at our ACPC dealer with each player in a process of its own, and as a bare replay of
what was played, which is all that the rivals are asked to do: they deal the same cards and take the
same actions, and no player decides anything.

Correctness first: players without lots must do the same by tables, by views and over TCP, tables
must win what the exact expectation of Leduc says, and both rivals must pay every replayed hand as
we do.

Run: python benchmarks/bench_arena.py [--hands 2000000]
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import time
from typing import Any

import numpy as np
import pyspiel
from harness import Report, best_seconds
from pokerkit import Automation, FixedLimitTexasHoldem

from equilibrist.cards.card import cards_name
from equilibrist.evaluation.expectation import expectation, fixed_mix
from equilibrist.games.catalog import get_game
from equilibrist.games.records import HandRecord
from equilibrist.games.rules import GameRules, rules_text
from equilibrist.games.state import HandState
from equilibrist.models.exact import exact_game
from equilibrist.play.acpc import play_over
from equilibrist.play.match import Match, Pair, Runner, play_match
from equilibrist.play.server import NetworkMatch, serve_match
from equilibrist.play.wire import Listener, connect
from equilibrist.players.catalog import make_player

LIMIT = get_game("holdem-limit")
NUMBERS = {"f": 0, "c": 1, "r": 2}  # OpenSpiel's actions
AUTOMATIONS = (
    Automation.ANTE_POSTING, Automation.BET_COLLECTION, Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING, Automation.HAND_KILLING, Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)  # fmt: skip


def pair(first: str, second: str, rules: GameRules = LIMIT) -> Pair:
    return make_player(first, rules), make_player(second, rules)


def played(hands: int, runner: Runner, rules: GameRules = LIMIT) -> Match:
    return play_match(rules, pair("mix:0.05,0.55,0.4", "uniform", rules), hands, runner=runner)


def over_tcp(names: tuple[str, str], hands: int, seed: int = 0) -> tuple[float, list[int]]:
    """Return seconds from first to last hand at our dealer, and chips of the first player."""
    with Listener() as door:
        clients, wires = [], []
        for name in names:
            clients.append(multiprocessing.Process(target=sit_down, args=(door.port, name)))
            clients[-1].start()
            wires.append(door.accept(60))
        start = time.perf_counter()
        offered = NetworkMatch(LIMIT, ("first", "second"), hands, seed)
        match = serve_match(offered, (wires[0], wires[1]))
        seconds = time.perf_counter() - start
        for wire, client in zip(wires, clients, strict=True):
            wire.close()
            client.join()
    assert match.is_finished
    return seconds, match.chips


def sit_down(port: int, name: str) -> None:
    """Run a client whose player plays the other client of the dealer."""
    player = make_player(name, LIMIT)
    player.reset(1)
    with connect("127.0.0.1", port) as wire:
        play_over(LIMIT, wire, player)


def check() -> None:
    """Check what must be true of a match before it is timed."""
    for names in itertools.permutations(("always-fold", "always-call", "always-raise"), 2):
        tables, views = (
            play_match(LIMIT, pair(*names), 200, seed=1, runner=runner)
            for runner in ("tables", "views")
        )
        assert (tables.chips == views.chips).all(), names
        assert over_tcp(names, 50, seed=1)[1] == views.chips[0, :50].tolist(), names
    leduc = get_game("leduc")
    game = exact_game(leduc)
    mix, uniform = (0.05, 0.55, 0.4), tuple(game.realize(p, game.uniform(p)) for p in (0, 1))
    exact = expectation(game, fixed_mix(game, mix), (uniform[0], uniform[1]))
    won = played(1_000_000, "tables", leduc).results.rates
    assert abs(won.mean() - exact.mean) < 4 * won.std() / np.sqrt(len(won))


def replay(record: HandRecord) -> tuple[int, ...]:
    """Replay a hand by our own rules."""
    state = HandState.start(LIMIT, record.state.deal)
    for action in itertools.chain(*record.state.betting.history):
        state = state.apply(action)
    return state.payoffs()


def openspiel_replay(game: Any, record: HandRecord) -> tuple[int, ...]:
    """Replay a hand by `universal_poker`, the ACPC dealer's code."""
    deal, state = record.state.deal, game.new_initial_state()
    cards = iter([*itertools.chain(*deal.holes), *deal.board])
    for action in itertools.chain(*record.state.betting.history):
        while state.is_chance_node():
            state.apply_action(next(cards))
        state.apply_action(NUMBERS[action.kind])
    while state.is_chance_node():
        state.apply_action(next(cards))
    return tuple(int(chips) for chips in state.returns())


def pokerkit_replay(record: HandRecord) -> tuple[int, ...]:
    """Replay a hand by PokerKit, whose player 0 is also the big blind."""
    small, _, big, _ = LIMIT.raise_sizes
    state = FixedLimitTexasHoldem.create_state(
        AUTOMATIONS, True, 0, LIMIT.blinds[::-1], small, big, LIMIT.stack_chips, 2
    )
    deal = record.state.deal
    for hole in deal.holes:
        state.deal_hole(cards_name(hole))
    sizes = LIMIT.num_board_cards
    for r, actions in enumerate(record.state.betting.history):
        if sizes[r]:
            start = sum(sizes[:r])
            state.burn_card("??")
            state.deal_board(cards_name(deal.board[start : start + sizes[r]]))
        for action in actions:
            if action.kind == "f":
                state.fold()
            elif action.kind == "c":
                state.check_or_call()
            else:
                state.complete_bet_or_raise_to()
    assert not state.status
    return tuple(int(chips) for chips in state.payoffs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hands", type=int, default=2_000_000)
    hands = parser.parse_args().hands
    check()
    few, fewest = max(20, hands // 1000), max(20, hands // 4000)
    match = play_match(
        LIMIT, pair("mix:0.05,0.55,0.4", "uniform"), few, runner="tables", keep_log=True
    )
    records = match.logs[0].hands
    game = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(rules_text(LIMIT))
    for record in records:
        assert replay(record) == openspiel_replay(game, record) == record.payoffs
    for record in records[:fewest]:
        assert pokerkit_replay(record) == record.payoffs

    report = Report("arena")
    tables = hands / best_seconds(lambda: played(hands, "tables"))
    views = few / best_seconds(lambda: played(few, "views"))
    tcp = few / min(over_tcp(("mix:0.05,0.55,0.4", "uniform"), few)[0] for _ in range(3))
    bare = few / best_seconds(lambda: [replay(record) for record in records])
    rivals = {
        "OpenSpiel, replay": few
        / best_seconds(lambda: [openspiel_replay(game, record) for record in records]),
        "PokerKit, replay": fewest
        / best_seconds(lambda: [pokerkit_replay(record) for record in records[:fewest]]),
    }
    for rival, theirs in rivals.items():
        report.row("two tables, all threads", tables, rival, theirs, "h/s")
        report.row("two Python players", views, rival, theirs, "h/s")
        report.row("two processes over TCP", tcp, rival, theirs, "h/s")
        report.row("replay by our rules", bare, rival, theirs, "h/s")
    report.row("two tables, all threads", tables, "two Python players", views, "h/s")


if __name__ == "__main__":
    main()
