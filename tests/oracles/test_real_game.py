"""Exploitability in limit hold'em itself that the literature gives; whole runs, minutes each."""

import numpy as np
import pytest

from equilibrist.bots.open import open_strategy
from equilibrist.evaluation.real_game.run import exploited, open_or_start, responses_to, run_flops


def best_responses(text):
    named = open_strategy(text)
    responses = responses_to(named)
    run = open_or_start(named, responses, None)
    run_flops(run, responses, np.arange(len(run.flops.boards)), threads=2)
    return exploited(run, responses).best_response


@pytest.mark.slow
def test_always_fold():
    # 750 mbb/g: the small blind of one seat, the big blind of the other.
    assert best_responses("always-fold") == pytest.approx((500.0, 1000.0), abs=1e-6)


@pytest.mark.slow
def test_always_call():
    # Johanson et al. 2011, Table 2 has 1163.48; both seats alike.
    # Also the sum over rounds of bet × E[(2 · equity − 1)⁺], by whole numbers over all boards.
    exact = 1163.4757621174726
    assert best_responses("always-call") == pytest.approx((exact, exact), rel=1e-12)
