"""Every command as its user meets it: exit code, stdout, stderr."""

import errno
import itertools
import json
import re
import subprocess
import sys
import warnings

import pytest

from equilibrist import cli
from equilibrist.cli import cards
from equilibrist.version import __version__

GAMES = [
    "kuhn", "leduc", "rhode-island", "royal-rhode-island", "holdem-limit", "holdem-nolimit",
    "holdem-nolimit-100", "preflop-holdem", "royal-holdem", "discard-holdem",
]  # fmt: skip


def test_the_size_of_a_pattern(answer):
    data = answer("index", "--pattern", "2,3,1,1")
    assert (data["pattern"], data["size"]) == ([2, 3, 1, 1], 2428287420)


def test_an_index_and_its_deal(answer):
    data = answer("index", "7s7h", "3dJdAh")
    assert data["indices"][-1] == data["index"]
    assert (data["round"], data["round_size"], data["size"]) == (2, 1286792, 2428287420)
    back = answer("index", "--pattern", "2,3", "--at", str(data["index"]))
    assert (back["index"], back["cards"]) == (data["index"], data["canonical"])


def test_an_index_in_a_small_deck(answer):
    assert answer("index", "--pattern", "1,1", "--ranks", "3", "--suits", "2")["size"] == 15


def test_combos_of_an_equity_are_those_that_board_and_dead_cards_leave(answer, run):
    # eval7 lists the hands of both ranges and compares all that can be held together.
    board, dead, texts = "Ah7d2c9s9d", "KcQc", ("QQ+,AKs,72o", "77,A9s,KQ")
    known = {board[at : at + 2] for at in range(0, 10, 2)} | {"Kc", "Qc"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # eval7 calls pyparsing by names that are going away
        import eval7

        ranges = [[hand for hand, _ in eval7.HandRange(text).hands] for text in texts]
    sides = [[hand for hand in own if not known & set(map(str, hand))] for own in ranges]
    shown = [eval7.Card(board[at : at + 2]) for at in range(0, 10, 2)]
    counts = {"wins": 0, "ties": 0, "losses": 0}
    for one, two in itertools.product(*sides):
        if not set(one) & set(two):
            ours, theirs = (eval7.evaluate([*hand, *shown]) for hand in (one, two))
            counts["wins" if ours > theirs else "ties" if ours == theirs else "losses"] += 1
    data = answer("equity", *texts, "--board", board, "--dead", dead)
    assert [data["first_combos"], data["second_combos"]] == [len(side) for side in sides]
    assert {name: data[name] for name in counts} == counts
    text = run("equity", *texts, "--board", board, "--dead", dead).stdout
    for side in sides:
        assert f"{len(side)} combos ({100 * len(side) / 990:.2f} %)" in text  # of 45 cards


def test_the_tree_of_limit_holdem(answer):
    data = answer("tree", "holdem-limit")
    assert data["decisions_per_round"] == [8, 70, 630, 5670]
    assert data["infosets"] == 319365922522608
    assert data["canonical_infosets"] == 13803249787132


def test_the_tree_of_some_rounds(answer):
    data = answer("tree", "holdem-limit", "--rounds", "4", "--pot", "80")
    assert data["decisions_per_round"] == [10]


def test_one_node_of_a_tree(answer):
    data = answer("tree", "leduc", "--node", "crc/")
    assert (data["kind"], data["round"], data["pot"], data["children"]) == (
        "decision", 2, 6, ["c", "r"],
    )  # fmt: skip


def test_a_tree_where_everybody_is_all_in(answer):
    data = answer("tree", "holdem-nolimit", "--rounds", "4", "--pot", "40000", "--node", "")
    assert (data["kind"], data["round"], data["player"]) == ("showdown", 4, None)
    data = answer("tree", "discard-holdem", "--pot", "400", "--node", "/")
    assert (data["kind"], data["round"], data["children"]) == ("decision", 2, ["k", "d"])


def test_exact_equity_against_a_random_hand(answer):
    data = answer("equity", "AhAd", "--random")
    # Counts: exact enumeration of C(50, 2) * C(48, 5) deals.
    assert (data["wins"], data["ties"], data["total"]) == (1781508418, 11402312, 2097572400)
    assert data["exact"] is True
    assert data["standard_error"] is None
    assert data["equity"] == pytest.approx(0.85203713, abs=5e-9)


def test_monte_carlo_says_so_and_repeats_by_seed(answer):
    arguments = ("equity", "AhKh", "QsQd", "--method", "monte-carlo", "--samples", "2000")
    first, second = answer(*arguments, "--seed", "7"), answer(*arguments, "--seed", "7")
    assert first["exact"] is False
    assert first["standard_error"] > 0
    assert first["equity"] == second["equity"]


def test_the_rank_of_a_hand(answer):
    data = answer("rank", "KhKd4c4d9hJsQc")
    assert data["description"] == "two pair, kings and fours"
    assert answer("rank", "4h3h2h", "--ranking", "three-card")["category"] == "straight flush"


def test_the_catalogue(answer):
    assert [game["name"] for game in answer("games")["games"]] == GAMES


@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_shown_and_read_back(answer, game, tmp_path):
    data = answer("games", "show", game)
    path = tmp_path / "copy.game"
    path.write_text(data["definition"])
    assert answer("tree", str(path))["nodes"] == data["nodes"]


@pytest.mark.parametrize(
    "command",
    [
        ("games",), ("games", "show", "kuhn"), ("tree", "leduc"), ("tree", "kuhn", "--node", "cr"),
        ("rank", "AhKh"), ("index", "AhKh"), ("index",), ("equity", "AA", "KK", "--threads", "1"),
    ],
)  # fmt: skip
def test_every_command_prints_text_for_people(run, command):
    result = run(*command)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


BAD = [
    (("rank", "AhXx"), "'Xx' at character 3"),
    (("rank", "AhAh"), "Ah appears twice"),
    (("rank", "A\u017f"), "is not a card"),  # a long s, in capitals an S
    (("rank", "\u212ah"), "is not a card"),  # the Kelvin sign, in small letters a k
    (("rank", "X" * 100_000), "such as Td"),
    (("rank", "2c3c4c5c6c7c8c9c"), "1 to 7"),
    (("rank", "AhKh", "--ranking", "badugi"), "'badugi'"),
    (("index", "AhKh2c"), "3 cards do not complete a round"),
    (("index", "--pattern", "2,x"), "'x'"),
    (("index", "--pattern", "0"), "at least one card"),
    (("index", "--pattern", "99999999"), "'99999999'"),
    (("index", "--at", "-1"), "index -1 is outside"),
    (("index", "--at", "2428287420"), "outside 0 … 2428287419"),
    (("index", "--at", "99999999999999999999"), "index 99999999999999999999 is outside"),
    (("index", "AhKh", "--at", "3"), "not both"),
    (("index", "2cKh", "--ranks", "5"), "2c is not in the deck"),
    (("index", "--ranks", "14"), "1 to 13 ranks"),
    (("equity", "AhKh"), "two hands or ranges"),
    (("equity", "AhKh", "QsQd", "2c2d"), "two hands or ranges"),
    (("equity", "AhKh", "AhQd"), "Ah"),
    (("equity", "AhKh", "QsQd", "--board", "Ah2c3c"), "Ah"),
    (("equity", "AA", "KK", "--board", "AhAsAcAd"), "AA"),
    (("equity", "AA:1.5", "KK"), "1.5"),
    (("equity", "AA:" + "1" * 100_000 + "x", "KK"), "a number from 0 to 1"),
    (("equity", "AA:\u0660.\u0665", "KK"), "a number from 0 to 1"),  # digits, but Arabic
    (("equity", "", "KK"), "empty"),
    (("equity", "AXs", "KK"), "AXs"),
    (("equity", "AA", "KK", "--method", "guess"), "guess"),
    (("equity", "AA", "KK", "--method", "monte-carlo", "--samples", "9000000000000"), "1000000000"),
    (("equity", "AA", "KK", "--method", "monte-carlo", "--samples", "5"), "100 to"),
    (("equity", "AA", "KK", "--samples", "many"), "--samples"),
    (("equity", "AA", "KK", "--threads", "0"), "--threads"),
    (("equity", "AA", "KK", "--threads", "9999"), "9999"),
    (("equity", "AA", "KK", "--seed", "-1"), "--seed"),
    (("equity", "AA", "KK", "--board", "2c3c4c5c6c7c"), "6"),
    (("tree", "hodlem"), "did you mean"),
    (("tree", "missing.game"), "missing.game"),
    (("tree", "x" * 5000), "no game is called"),
    (("tree", "/missing\n\x1b[31m"), "/missing\\n\\x1b[31m"),
    (("tree", "leduc", "--node", "cx"), "'x'"),
    (("tree", "leduc", "--node", "r0"), "'r0' at character 1"),
    (("tree", "leduc", "--rounds", "3"), "are 1 to 2"),
    (("tree", "leduc", "--rounds", "0"), "are 1 to 2"),
    (("tree", "leduc", "--rounds", "2-1"), "are 1 to 2"),
    (("tree", "leduc", "--rounds", "two"), "'two'"),
    (("tree", "holdem-limit", "--max-raises", "3 x"), "'x'"),
    (("tree", "holdem-limit", "--max-raises", "9" * 5000), "0 to 255"),
    (("tree", "rhode-island", "--max-raises", "4"), "4 raises in round 1 is above the 3 of"),
    (("tree", "holdem-limit", "--max-raises", "0" * 5000 + "9"), "9 raises in round 1"),
    (("index", "--pattern", "0" * 5000 + "53"), "not a number of cards"),
    (("index", "--at", "9" * 5000), "--at"),
    (("rank", "Ah", "--seed", "9" * 5000), "--seed"),
    (("tree", "holdem-limit", "--pot", "9" * 4000), "huge number"),
    (("dealer", "kuhn", "--port", "9" * 5000), "0 to 65535"),
    (("dealer", "kuhn", "--log", "x" * 300), "File name too long"),
    (("solve", "kuhn", "--out", "x" * 300), "File name too long"),
    (("solve", "kuhn", "--out", "x/" * 3000), "File name too long"),
    (("spot", "--board", "AhKh2d", "--out", "x" * 300), "File name too long"),
    (("transitions", "x" * 300), "File name too long"),
    (("play", "uniform", "--out", "x" * 300), "File name too long"),
    (("train", "smallbot", "--out", "x" * 300), "File name too long"),
    (("exploit", "x" * 300), "File name too long"),
    (("exploit", "x" * 300, "--real-game"), "is not a strategy"),
    (("match", "solution:" + "x" * 300, "uniform"), "File name too long"),
    (("tree", "holdem-limit", "--bets", "50%"), "limit game"),
    (("tree", "holdem-nolimit", "--bets", "50%,ten"), "'ten'"),
    (("tree", "holdem-limit", "--rounds", "2-4", "--pot", "-4"), "pot of -4"),
    (("games", "show", "poker"), "no game is called 'poker'"),
    (("games", "--json", "show", "kuhn"), "games show NAME --json"),
    (("games", "--seed", "3", "show", "kuhn"), "write the options after show"),
    (("tree", "x" * 300), "no game is called"),
    (("tree", "x" * 300 + ".game"), "File name too long"),
    (("tree", "leduc", "--node", "cc/cx"), "'x' at character 5"),
    (("tree", "holdem-nolimit", "--bets", "a/a/a/a/a"), "5 rounds of bets for the 4 rounds"),
    (("tree", "holdem-nolimit", "--bets", "a|a|a"), "3 seats for the 2 players"),
    (("tree", "holdem-nolimit", "--bets", "50%", "--max-raises", ""), "no raise caps"),
    (("index", "--pattern", "٢"), "'٢'"),
    (("frobnicate",), "frobnicate"),
    (("rank", "Ah", "--wrong"), "--wrong"),
]


@pytest.mark.parametrize(("command", "words"), BAD, ids=lambda value: " ".join(value)[:40])
def test_wrong_input_gives_one_sentence_and_exit_code_2(run, command, words):
    result = run(*command)
    assert result.returncode == 2
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if "compiling kernels" not in line]
    assert len(lines) == 1
    assert len(lines[0]) < 1200
    assert lines[0].strip().isprintable()
    assert words in result.stderr


def test_a_malformed_game_file_names_line_and_key(run, tmp_path):
    path = tmp_path / "bad.game"
    path.write_text("GAMEDEF\nlimit\nnumPlayers = 2\nnumRound = 2\nEND GAMEDEF\n")
    result = run("tree", str(path))
    assert result.returncode == 2
    assert "line 4, numRound: unknown key; did you mean numRounds?" in result.stderr


def test_help_loads_nothing_heavy():
    program = (
        "import sys\nfrom equilibrist.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn', 'ray', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "equity" in result.stdout


@pytest.mark.parametrize(
    ("error", "words", "code"),
    [
        (MemoryError(), "not enough memory", 1),
        (ImportError("x.so: failed to map segment from shared object"), "not enough memory", 1),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory", 1),
        (RecursionError(), "nested too deeply", 2),
        (UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range"), "not in range", 2),
        (OSError(errno.ENOSPC, "No space left on device"), "write the output: No space", 1),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x" * 300), "cannot open xxx", 2),
    ],
)
def test_what_no_command_foresees_gives_one_sentence(run, monkeypatch, error, words, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("equilibrist.cards.card.parse_cards", fail)
    monkeypatch.setattr("equilibrist.cli._drop_output", lambda: None)
    result = run("rank", "Ah")
    assert result.returncode == code
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_a_limit_on_memory_that_nothing_can_be_loaded_in_gives_one_sentence():
    program = f"ulimit -v 400000; {sys.executable} -c 'from equilibrist.cli import main; main()'"
    result = subprocess.run(
        ["bash", "-c", f"{program} solve leduc --iterations 10"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "(ulimit -v) is 390 MiB, but the compiled libraries need" in result.stderr


def test_a_library_that_is_broken_is_a_traceback(monkeypatch):
    # Nothing that the user did, and nothing that a sentence of ours would explain.
    def fail(*_):
        raise ImportError("undefined symbol: dgemm_")

    monkeypatch.setattr("equilibrist.cards.card.parse_cards", fail)
    monkeypatch.setattr(sys, "argv", ["equilibrist", "rank", "Ah"])
    with pytest.raises(ImportError, match="dgemm"):
        cli.run()


@pytest.mark.parametrize("command", ["games", "games --json", "rank AhKh", "--help", "--version"])
def test_a_closed_pipe_is_no_error(command):
    # The reader has gone before the first byte is written.
    program = f"{sys.executable} -c 'from equilibrist.cli import main; main()' {command}"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"(sleep .3; {program}) | :"],
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_no_arguments_show_the_help_and_no_complaint(run):
    result = run()
    assert result.returncode == 2
    assert "Usage: " in result.stdout
    assert result.stderr == ""


def test_threads_are_as_many_as_numba_has():
    import numba

    from equilibrist.cli.options import most_threads

    assert most_threads() == numba.config.NUMBA_NUM_THREADS


@pytest.mark.parametrize(
    "command",
    [("games",), ("games", "show", "kuhn"), ("tree", "kuhn"), ("rank", "Ah"), ("index",),
     ("index", "AhKh"), ("equity", "AhKh", "QsQd", "--board", "2c3c4c5c6c")],
)  # fmt: skip
@pytest.mark.parametrize("threads", ["0", "-1", "9999", "99999999999999999999"])
def test_every_command_checks_its_threads(run, command, threads):
    result = run(*command, "--threads", threads)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--threads must be 1 to" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "kernels"),
    [
        (("index", "AhKh2c7d9h"), cards.INDEX_KERNELS),
        (("equity", "AhKh", "QsQd", "--board", "2c3c4c"), cards.EQUITY_KERNELS),
    ],
)
def test_compilation_is_announced_while_a_kernel_of_the_command_is_cold(
    run, command, kernels, monkeypatch
):
    from equilibrist.kernels import cache

    run(*command)
    assert not cache.is_cold(*kernels)
    assert run(*command).stderr == ""
    monkeypatch.setattr(cache, "is_cold", lambda *asked: kernels[-1] in asked)
    assert run(*command).stderr == "compiling kernels, first run only …\n"


def test_long_work_says_what_it_does_and_leaves_stdout_alone(run, monkeypatch):
    monkeypatch.setenv("EQUILIBRIST_PATIENCE", "0")
    monkeypatch.setattr("equilibrist.cli.heartbeat._TICK", 0.001)
    monkeypatch.setattr("equilibrist.cards.equity._BLOCK", 1)
    result = run("equity", "AhKh", "QsQd", "--board", "2c3c4c", "--json")
    assert re.search(r"playing all boards … \([\d,]+ of \d+ boards, ", result.stderr)
    assert json.loads(result.stdout)["total"] == 990


def test_a_hand_is_ranked_where_numba_is_off():
    program = f"{sys.executable} -c 'from equilibrist.cli import main; main()' rank AhKh"
    result = subprocess.run(
        ["bash", "-c", f"NUMBA_DISABLE_JIT=1 {program}"], capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "ace-king high" in result.stdout


FULL = "equilibrist: cannot write the output: No space left on device"


@pytest.mark.parametrize(
    ("command", "returncode", "stdout", "stderr"),
    [
        ("rank AhKh >/dev/full", 1, "", f"{FULL}\n"),
        ("rank AhKh >&-", 0, "", ""),
        ("rank xx 2>&-", 2, "", ""),
        ("rank xx 2>/dev/full", 2, "", ""),
    ],
)  # fmt: skip
def test_output_that_cannot_be_written(command, returncode, stdout, stderr):
    program = f"{sys.executable} -c 'from equilibrist.cli import main; main()' {command}"
    result = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (returncode, stdout, stderr)


def test_a_terminal_without_suit_symbols():
    program = (
        f"PYTHONIOENCODING=ascii {sys.executable} -c 'from equilibrist.cli import main; main()'"
    )
    result = subprocess.run(
        ["bash", "-c", f"{program} rank Ah"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith(r"A\u2665: ace high")


def test_the_version(run):
    assert run("--version").stdout == f"equilibrist {__version__}\n"
