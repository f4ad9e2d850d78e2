"""Tests of transitions of pairs of buckets against all deals, one by one."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from equilibrist.abstraction.flop_subsets import chosen_boards
from equilibrist.abstraction.joint_counts import joint
from equilibrist.abstraction.recipes import build
from equilibrist.cards.card import parse_cards
from equilibrist.cards.ranking import rank_cards
from equilibrist.cli import app
from equilibrist.errors import InvalidValueError
from equilibrist.games.catalog import get_game
from equilibrist.games.rules import GameRules
from equilibrist.papers.psopti.transitions import compare, places, product, transitions

SMALL = GameRules(
    name="small", betting="limit", blinds=(1, 1), raise_sizes=(2, 2, 4), max_raises=(1, 1, 1),
    num_suits=2, num_ranks=4, num_hole_cards=2, num_board_cards=(0, 2, 1),
)  # fmt: skip
PARTS = [2, 3, 2]


@pytest.fixture(scope="module")
def buckets():
    return build("strength-potential", SMALL, PARTS)


def sequences(found, flops=None):
    """Yield every deal: its pairs of classes, and the winner."""
    deck = SMALL.deck.cards
    numbers = {tuple(pair): n for n, pair in enumerate(found.streets.hands.tolist())}
    for flop in itertools.combinations(deck, 2):
        if flops is not None and flop not in flops:
            continue
        for turn in sorted(set(deck) - set(flop)):
            boards = (), flop, (*flop, turn)
            classes = [found.buckets(board) % PARTS[r] for r, board in enumerate(boards)]
            left = sorted(set(deck) - set(boards[-1]))
            for a, b in itertools.permutations(itertools.combinations(left, 2), 2):
                if not set(a) & set(b):
                    ours, theirs = (rank_cards([*hand, *boards[-1]]) for hand in (a, b))
                    path = [(int(row[numbers[a]]), int(row[numbers[b]])) for row in classes]
                    yield tuple(path), int(ours > theirs) - int(ours < theirs)


def by_hand(deals):
    """Return P, T₁, T₂, w and both distances from a list of deals."""
    total = len(deals)
    paths = Counter(path for path, _ in deals)
    singles = [Counter(path[r] for path, _ in deals) for r in range(3)]
    pairs = [Counter(path[r : r + 2] for path, _ in deals) for r in range(2)]
    won, exact_won = Counter(), Counter()
    for path, sign in deals:
        won[path[2]] += sign
        exact_won[path] += sign
    steps = [{k: n / singles[r][k[0]] for k, n in pairs[r].items()} for r in range(2)]
    mean = {pair: n / singles[2][pair] for pair, n in won.items()}
    lost, lost_won = 0.0, 0.0
    for path in itertools.product(*singles):
        probability = singles[0][path[0]] / total
        for r in range(2):
            probability *= steps[r].get(path[r : r + 2], 0.0)
        lost += abs(probability - paths[path] / total) / 2
        lost_won += abs(probability * mean[path[2]] - exact_won[path] / total) / 2
    return singles[0], steps, mean, lost, lost_won


def assert_as_counted(network, memory, deals):
    start, steps, mean, lost, lost_won = by_hand(deals)
    for pair, number in start.items():
        assert network.start[pair] == pytest.approx(number / len(deals), abs=1e-14)
    for step, expected in zip(network.steps, steps, strict=True):
        for (one, two), probability in expected.items():
            assert step[one + two] == pytest.approx(probability, abs=1e-14)
        assert np.count_nonzero(step) == len(expected)
    for pair, sign in mean.items():
        assert network.won[pair] == pytest.approx(sign, abs=1e-14)
    assert memory.distances == pytest.approx((0, 0, lost), abs=1e-12)
    assert memory.showdown == pytest.approx(lost_won, abs=1e-12)
    assert lost > 0.01


def test_probabilities_and_distances_are_those_of_all_deals(buckets):
    counts = joint(buckets)
    network = transitions(buckets, counts)
    assert_as_counted(network, compare(network, buckets, counts), list(sequences(buckets)))


def test_chosen_flops_are_counted_alone(buckets):
    """Count both flops of their class, as boards are counted up to suits."""
    flops = [tuple(sorted(parse_cards(text))) for text in ("KsAs", "KhAh")]
    counts = joint(buckets, boards=chosen_boards(buckets.streets, flops[:1])[-1])
    network = transitions(buckets, counts)
    assert_as_counted(network, compare(network, buckets, counts), list(sequences(buckets, flops)))


def test_the_product_is_right_in_every_round(buckets):
    """Check all rounds, not only the first two: the last classes have the exact frequencies."""
    counts = joint(buckets)
    network = transitions(buckets, counts)
    last = places(buckets)[-1]
    ours, exact = np.zeros((2, 2)), np.zeros((2, 2))
    np.add.at(ours, np.ix_(last, last), product(network, buckets)[-1])
    np.add.at(exact, np.ix_(last, last), counts.met / counts.total)
    np.testing.assert_allclose(ours, exact, atol=1e-14)


def test_buckets_that_remember_lose_nothing():
    found = build("percentile", get_game("rhode-island"), [3, 9, 27])
    counts = joint(found)
    every = [np.arange(number) for number in found.num_buckets]
    memory = compare(transitions(found, counts, classes=(every, every)), found, counts)
    assert memory.distances == pytest.approx((0, 0, 0), abs=1e-13)
    assert memory.showdown == pytest.approx(0, abs=1e-13)
    forgetful = compare(transitions(found, counts), found, counts)
    assert forgetful.distances[2] > 0.1


def test_the_players_may_differ():
    rules = get_game("rhode-island")
    first, second = (build("percentile", rules, numbers) for numbers in ([2, 4, 8], [3, 9, 27]))
    network = transitions(first, joint(first, second), second)
    mirrored = transitions(second, joint(second, first), first)
    np.testing.assert_allclose(network.start, mirrored.start.T, atol=1e-15)
    for one, other in zip(network.steps, mirrored.steps, strict=True):
        np.testing.assert_allclose(one, other.transpose(1, 0, 3, 2), atol=1e-14)
    np.testing.assert_allclose(network.won, -mirrored.won.T, atol=1e-14)


def test_invalid_classes_are_refused(buckets):
    counts = joint(buckets)
    with pytest.raises(InvalidValueError, match="do not fit"):
        transitions(build("strength-potential", SMALL, [2, 2, 2]), counts)
    same = [np.zeros(number, np.int64) for number in buckets.num_buckets]
    with pytest.raises(InvalidValueError, match="siblings must have different classes"):
        transitions(buckets, counts, classes=(same, same))


# --- the command ----------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_reads_counts_or_chosen_flops(tmp_path):
    found = build("strength-potential", get_game("rhode-island"), [3, 3, 3])
    found.save(tmp_path / "buckets")
    assert run("joint", tmp_path / "buckets", "--out", tmp_path / "joint").exit_code == 0
    result = run("transitions", tmp_path / "buckets", tmp_path / "joint", "--json",
                 "--out", tmp_path / "network")  # fmt: skip
    data = json.loads(result.stdout)
    expected = compare(transitions(found, joint(found)), found, joint(found))
    assert data["distances"] == pytest.approx(expected.distances)
    assert data["showdown_distance"] == pytest.approx(expected.showdown)
    assert data["classes"] == [3, 3, 3]
    assert (tmp_path / "network" / "manifest.json").exists()
    chosen = run("transitions", tmp_path / "buckets", "--flops", "As,Kd")
    assert chosen.exit_code == 0
    assert "½‖P·T − J‖₁" in chosen.stdout


def test_wrong_input_gives_one_sentence(tmp_path):
    build("strength-potential", get_game("rhode-island"), [3, 3, 3]).save(tmp_path / "a")
    build("expectation", get_game("rhode-island"), [3, 9, 27]).save(tmp_path / "b")
    build("percentile", get_game("rhode-island"), [3, 9, 27]).save(tmp_path / "c")
    run("joint", tmp_path / "c", "--out", tmp_path / "joint")
    for arguments, sentence in (
        (("a",), "give either a folder"),
        (("a", "joint", "--flops", "As"), "give either a folder"),
        (("a", "joint"), "counts of other buckets"),
        (("b", "joint"), "depend on their parents"),
        (("a", "--flops", "AsKs"), "boards of one street before the last"),
    ):
        paths = [str(tmp_path / part) if len(part) < 6 and part[0] in "abcj" else part
                 for part in arguments]  # fmt: skip
        assert sentence in str(run("transitions", *paths).exception), arguments
