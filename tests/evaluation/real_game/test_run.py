"""Times at which a best response in the real game is written to its folder."""

from dataclasses import replace

import numpy as np
import pytest

from equilibrist.bots.open import open_strategy
from equilibrist.errors import StorageError
from equilibrist.evaluation.real_game import run as runs
from equilibrist.games.catalog import get_game
from equilibrist.storage import checkpoint
from equilibrist.storage.artefact import open_artefact

pytestmark = pytest.mark.kernels


@pytest.fixture
def saves(monkeypatch):
    """The number of flops done at each write."""
    found, save = [], runs.save

    def counted(run, folder, *rest):
        found.append(int(run.is_done.sum()))
        return save(run, folder, *rest)

    monkeypatch.setattr(runs, "save", counted)
    return found


@pytest.mark.parametrize(
    ("soon", "has_folder", "wanted"),
    [(1e9, True, [3]), (-1.0, True, [1, 2, 3, 3]), (1e9, False, []), (-1.0, False, [])],
)
def test_flops_are_written_from_time_to_time_and_at_the_end(
    monkeypatch, tmp_path, saves, soon, has_folder, wanted
):
    monkeypatch.setattr(runs, "_PAUSE", soon)
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)  # writing may take all the time
    rules = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1))
    named = open_strategy("mix:0.1,0.6,0.3", rules)
    responses = runs.responses_to(named)
    folder = tmp_path / "response" if has_folder else None
    run = runs.open_or_start(named, responses, folder)
    runs.run_flops(run, responses, np.arange(3), folder=folder)
    assert saves == wanted
    if has_folder:
        assert open_artefact(folder).arrays["done"].sum() == 3


def test_a_run_of_another_strategy_is_refused_or_replaced(tmp_path):
    rules = replace(get_game("holdem-limit"), num_ranks=3, num_suits=3, max_raises=(1, 1, 1, 1))
    first, second = (open_strategy(text, rules) for text in ("always-call", "always-raise"))
    responses = runs.responses_to(first)
    run = runs.open_or_start(first, responses, tmp_path)
    runs.run_flops(run, responses, np.arange(1), folder=tmp_path)
    again = runs.open_or_start(first, responses, tmp_path, replaces=True)
    assert again.is_done.sum() == 1
    other = runs.responses_to(second)
    with pytest.raises(
        StorageError, match="was started with strategy always-call, not always-raise"
    ):
        runs.open_or_start(second, other, tmp_path)
    assert runs.open_or_start(second, other, tmp_path, replaces=True).is_done.sum() == 0
