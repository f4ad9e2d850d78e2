"""The compiled swap rule compared with the one in words."""

import numpy as np
import pytest

from equilibrist.papers.ectomynx.reference.swapping import swap_place
from equilibrist.papers.ectomynx.swap_rule import swap_places

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("num_board", [3, 4, 5])
@pytest.mark.parametrize(("num_ranks", "num_suits"), [(13, 4), (13, 2), (7, 4)])
def test_the_rule_by_masks_is_the_rule_in_words(num_board, num_ranks, num_suits):
    # Two suits make flushes frequent, the lowest ranks with an ace straights.
    random = np.random.default_rng(num_board + num_ranks)
    ranks = np.r_[12, np.arange(num_ranks - 1)]
    deck = np.array([4 * rank + suit for rank in ranks for suit in range(num_suits)])
    deals = deck[np.argsort(random.random((6000, len(deck))), axis=1)[:, : 2 + num_board]]
    expected = [swap_place(deal[:2], deal[2:]) for deal in deals.tolist()]
    found = swap_places(deals[:, :2], deals[:, 2:])
    assert found.tolist() == expected
    assert set(expected) == {-1, 0, 1}
