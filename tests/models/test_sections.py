"""Sections of the last round: all rows and leaves are in one, and where they say."""

import numpy as np
import pytest

from equilibrist.games.catalog import get_game
from equilibrist.models.sections import last_round, whole_round
from equilibrist.models.spot import Chips, Spot

RANGES = "AA,76s", "KK,AQs"
SPOTS = {
    "river": Spot.of("Td9d6hQc2s", *RANGES, Chips(200, 900), bets="60%,a", raises="2.5x"),
    "turn": Spot.of("Td9d6hQc", *RANGES, Chips(200, 900), bets="33%,75%,150%,a", raises="50%,a"),
    "rake": Spot.of("Td9d6hQc", *RANGES, Chips(200, 900, rake="5%"), bets="60%", raises="a"),
    "flop": Spot.of("Td9d6h", *RANGES, Chips(40), game=get_game("holdem-limit"), max_raises="1"),
}


@pytest.mark.parametrize("name", SPOTS)
def test_sections_have_the_decisions_and_leaves_of_the_round(name):
    game = SPOTS[name].build().game
    leaves, (sections, local) = game.leaves, last_round(game.trees, game.leaves)
    names = []  # of the rows of each section: (player, section, row) to the row of the round
    for tree, cut in zip(game.trees, sections, strict=True):
        entries = int(tree.entry_start[-1] - tree.entry_start[-2])
        rows, whole = {}, whole_round(tree)
        found = set()
        for k in range(len(cut.num_rows)):
            own = cut.entry[cut.entry_start[k] : cut.entry_start[k + 1]]
            rows |= {(k, i): int(e) for i, e in enumerate(own)}
            for d in range(cut.decision_start[k], cut.decision_start[k + 1]):
                for a in range(cut.decision_size[d]):
                    rows[k, int(cut.decision_first[d]) + a] = entries + int(cut.row[d]) + a
                assert cut.decision_first[d] - cut.place[d] == len(own)
                up = rows[k, int(cut.decision_parent[d])]
                found.add((up, entries + int(cut.row[d]), int(cut.decision_size[d])))
            assert cut.num_rows[k] == sum(key[0] == k for key in rows)
        assert sorted(rows.values()) == list(range(int(tree.num_sequences[-1])))
        last = slice(int(tree.decision_start[-2]), None)
        parts = tree.decision_parent[last], tree.decision_first[last], tree.decision_size[last]
        assert found == {tuple(map(int, one)) for one in zip(*parts, strict=True)}
        np.testing.assert_array_equal(whole.decision_first, tree.decision_first[last])
        np.testing.assert_array_equal(whole.row + entries, whole.decision_first)
        names.append(rows)
    for starts, ours, before, after, chips in (
        (local.fold_start, local.fold_rows, leaves.fold_start, leaves.fold_rows, "fold_payoff"),
        (
            local.showdown_start, local.showdown_rows, leaves.showdown_start,
            leaves.showdown_rows, "showdown_stake",
        ),
    ):  # fmt: skip
        found = []
        for k in range(len(starts) - 1):
            for leaf in range(starts[k], starts[k + 1]):
                pair = [names[p][k, int(ours[leaf, p])] for p in (0, 1)]
                found.append((*pair, np.atleast_1d(getattr(local, chips)[leaf]).tolist()))
        place = range(int(before[-2]), int(before[-1]))
        expected = [
            (*after[i].tolist(), np.atleast_1d(getattr(leaves, chips)[i]).tolist()) for i in place
        ]
        assert sorted(found) == sorted(expected)


def test_large_rounds_have_several_sections_of_few_vectors_of_leaves():
    sections, leaves = SPOTS["turn"].build().game.in_sections[3:]
    folds, shown = np.diff(leaves.fold_start), np.diff(leaves.showdown_start)
    assert len(sections[0].num_rows) == len(folds) > 3
    assert (-(-folds // 16) - (-shown // 16)).max() <= 4
