"""Contract of all parsers: any text gives a value or an `EquilibristError`, in time."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "trials" / "fuzz_parsers.py"


@pytest.fixture(scope="module")
def fuzzing():
    """The script that tries a million texts, here for a few of them."""
    spec = importlib.util.spec_from_file_location("fuzz_parsers", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_nothing_but_values_and_our_errors_comes_out_of_any_parser(fuzzing):
    # Left to the script itself: what draws kernels or tables in, or runs whole commands.
    left_out = {"rank", "equity", "deal index", "flops", "command line", "player", "spot"}
    chosen = [parser for parser in fuzzing.parsers() if parser.name not in left_out]
    here = os.getcwd()
    with fuzzing.guarded():
        found = fuzzing.fuzz(chosen, 4000, seed=7, seconds=60, slow=30.0, limit=30.0)
    assert os.getcwd() == here
    assert all(tally.trials for tally in found.values()), fuzzing.report(found)
    assert fuzzing.is_clean(found), fuzzing.report(found)


def test_the_script_finds_what_is_wrong(fuzzing):
    def read(text):
        if "9" in text:
            return int(text)  # a ValueError, once in a while
        if "8" in text:
            while True:
                pass
        return text

    wrong = [
        fuzzing.Parser("strays", fuzzing.texts(fuzzing.number), read),
        fuzzing.Parser("loses", fuzzing.texts(fuzzing.card), str, lambda given, value: False),
    ]
    with fuzzing.guarded():
        found = fuzzing.fuzz(wrong, 120, seed=1, seconds=60, slow=1e-3, limit=0.01)
    assert not fuzzing.is_clean(found)
    kinds = " ".join(found["strays"].strays)
    assert "ValueError" in kinds
    assert "stopped after 0.01 s" in kinds
    assert found["strays"].slow
    assert list(found["loses"].strays) == ["does not come back"]
    assert "ValueError" in fuzzing.report(found)
