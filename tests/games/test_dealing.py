"""The ACPC dealer's generator."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from equilibrist.cards.card import cards_name, parse_cards
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import game_names, get_game
from equilibrist.games.dealing import Dealer, secret_seed
from equilibrist.games.state import HandState


def mersenne_twister(seed: int) -> Iterator[int]:
    """MT19937 after `init_genrand(seed)`, written out from Matsumoto and Nishimura (1998)."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
    while True:
        for i in range(624):
            y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF)
            state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
        for word in state:
            word ^= word >> 11
            word ^= word << 7 & 0x9D2C5680
            word ^= word << 15 & 0xEFC60000
            yield word ^ word >> 18


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_every_card_takes_one_word_of_the_mersenne_twister(name: str, seed: int) -> None:
    rules, words = get_game(name), mersenne_twister(seed)
    for deal in itertools.islice(Dealer(rules, seed), 100):
        deck = [
            card for suit in range(4) for card in range(suit, 52, 4) if card in rules.deck
        ]  # suit by suit, ranks ascending
        for card in (*(card for hole in deal.holes for card in hole), *deal.board, *deal.draws):
            place = next(words) % len(deck)
            assert card == deck[place]
            deck[place] = deck[-1]
            deck.pop()


def test_the_first_hand_of_seed_zero_is_the_acpcs() -> None:
    deal = next(Dealer(get_game("holdem-limit"), seed=0))
    assert "|".join(map(cards_name, deal.holes)) == "5d5c|9hQd"
    assert deal.board == parse_cards("8dAs8s4h6d")


@pytest.mark.parametrize("name", game_names())
def test_deals_are_complete_and_fit_the_game(name: str) -> None:
    rules = get_game(name)
    for deal in itertools.islice(Dealer(rules, seed=3), 50):
        HandState.start(rules, deal)
        assert len(deal.board) == rules.total_board_cards
        assert len(deal.draws) == rules.num_draws


def test_all_deals_of_kuhn_are_about_equally_frequent() -> None:
    counts = Counter(deal.holes for deal in itertools.islice(Dealer(get_game("kuhn"), 1), 6000))
    assert len(counts) == 6
    assert all(900 < count < 1100 for count in counts.values())


@pytest.mark.parametrize("seed", [-1, 2**128])
def test_a_seed_has_at_most_128_bits(seed: int) -> None:
    with pytest.raises(InvalidValueError, match=r"a seed must be 0 to 2\*\*128 - 1"):
        Dealer(get_game("kuhn"), seed)


def shake_words(seed: int) -> Iterator[int]:
    """Yield the words of a secret seed, computed from their definition."""
    for block in itertools.count():
        key = b"equilibrist deals" + seed.to_bytes(16, "little") + block.to_bytes(16, "little")
        digest = hashlib.shake_256(key).digest(4096)
        yield from (int.from_bytes(digest[at : at + 4], "little") for at in range(0, 4096, 4))


@pytest.mark.parametrize("name", ["kuhn", "holdem-limit", "discard-holdem"])
@pytest.mark.parametrize("seed", [2**32, 2**127, 2**128 - 1])
def test_larger_seeds_deal_by_words_of_shake_256(name: str, seed: int) -> None:
    rules, words = get_game(name), shake_words(seed)
    for deal in itertools.islice(Dealer(rules, seed), 300):
        deck = sorted(rules.deck.cards, key=lambda card: (card & 3, card >> 2))
        for card in (*itertools.chain(*deal.holes), *deal.board, *deal.draws):
            place = next(words) % len(deck)
            assert card == deck[place]
            deck[place] = deck[-1]
            deck.pop()


def test_secret_seeds_differ_and_are_never_those_of_the_acpc() -> None:
    seeds = {secret_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert all(2**127 <= seed < 2**128 and len(str(seed)) == 39 for seed in seeds)


@pytest.mark.parametrize("seed", [3, 2**127])
@pytest.mark.parametrize("name", ["kuhn", "holdem-limit", "discard-holdem"])
def test_skipped_deals_are_as_if_dealt(name: str, seed: int) -> None:
    dealt, skipped = (Dealer(get_game(name), seed) for _ in range(2))
    for count in (0, 1, 7, 1000):
        for _ in range(count):
            next(dealt)
        skipped.skip(count)
        assert next(dealt) == next(skipped)


def test_many_deals_are_skipped_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, blocks = Dealer(get_game("leduc"), seed=3), Dealer(get_game("leduc"), seed=3)
    whole.skip(1000)
    monkeypatch.setattr("equilibrist.games.dealing._BLOCK", 7)
    blocks.skip(1000)
    assert next(whole) == next(blocks)


@pytest.mark.kernels
@pytest.mark.parametrize("seed", [21, 2**127])
@pytest.mark.parametrize("name", ["holdem-limit", "leduc", "discard-holdem"])
def test_many_deals_at_once_are_the_same_deals(name, seed):
    rules = get_game(name)
    one, many = Dealer(rules, seed), Dealer(rules, seed)
    for count in (3, 5):  # the generator goes on where it stopped
        for row in many.cards(count).tolist():
            deal = next(one)
            assert row == [*itertools.chain(*deal.holes), *deal.board, *deal.draws]
