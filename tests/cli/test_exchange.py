"""`export` and `import` as their users meet them."""

import json

import pyspiel
import pytest


@pytest.fixture
def leduc(run, tmp_path):
    folder = tmp_path / "leduc"
    assert run("solve", "leduc", "--iterations", 20, "--out", folder).returncode == 0
    return folder


def test_a_policy_has_openspiels_exploitability_and_comes_back(leduc, run, answer, tmp_path):
    file, back = tmp_path / "leduc.json", tmp_path / "back"
    data = answer("export", leduc, "--out", file)
    assert data == {"game": "leduc", "format": "openspiel", "infosets": 288, "out": str(file)}
    policy = json.loads(file.read_text())
    table = {
        key: [(int(action), share) for action, share in shares.items()]
        for key, shares in policy["policy"].items()
    }
    game = pyspiel.load_game(policy["game"])
    theirs = pyspiel.exploitability(game, pyspiel.TabularPolicy(table))
    ours = answer("exploit", leduc)
    assert theirs == pytest.approx(ours["exploitability"], abs=1e-9)
    found = answer("import", file, "--game", "leduc", "--out", back)
    assert found["exploitability"] == pytest.approx(theirs, abs=1e-9)
    assert (found["format"], found["merged_difference"]) == ("openspiel", 0)
    proof = answer("exploit", back)
    assert (proof["method"], proof["matches"], proof["faults"]) == (
        "imported from openspiel",
        True,
        [],
    )
    shown = [answer("show", folder, "--node", "cr") for folder in (leduc, back)]
    assert shown[0]["probabilities"] == [
        pytest.approx(row, abs=1e-12) for row in shown[1]["probabilities"]
    ]
    line = ("match", f"solution:{back}", "uniform", "--game", "leduc", "--hands", 20)
    assert answer(*line)["hands"] == 20
    assert run("verify", back).returncode == 0


def test_gambit_files_are_the_game_and_its_profile(leduc, answer, tmp_path):
    efg, profile, back = (tmp_path / name for name in ("leduc.efg", "leduc.ne", "back"))
    assert answer("export", leduc, "--out", efg)["format"] == "gambit"
    game = pyspiel.load_efg_game(efg.read_text())
    assert pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)) == pytest.approx(4.7472222222)
    assert answer("export", leduc, "--out", profile)["format"] == "gambit-profile"
    found = answer("import", profile, "--game", "leduc", "--out", back)
    assert found["nash_conv"] == pytest.approx(answer("exploit", leduc)["nash_conv"], abs=1e-9)


def test_files_and_folders_are_replaced_only_by_force(leduc, run, tmp_path):
    file, back = tmp_path / "leduc.ne", tmp_path / "back"
    file.write_text("precious")
    result = run("export", leduc, "--out", file)
    assert (result.returncode, file.read_text()) == (2, "precious")
    assert "exists; choose another name, or replace it with --force" in result.stderr
    assert run("export", leduc, "--out", file, "--force").returncode == 0
    line = ("import", file, "--game", "leduc", "--out", back)
    assert run(*line).returncode == 0
    result = run(*line)
    assert result.returncode == 2
    assert "holds a solution; choose another folder, or replace it with --force" in result.stderr
    assert run(*line, "--force").returncode == 0
    assert "exists and is not an artefact" in run(*line[:-1], tmp_path, "--force").stderr


def test_a_file_that_cannot_be_written_leaves_nothing(leduc, run, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("equilibrist.storage.output_file.os.link", broken)
    result = run("export", leduc, "--out", tmp_path / "leduc.ne")
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["leduc"]


def test_hands_that_play_differently_are_announced_when_merged(run, tmp_path):
    cards, file = tmp_path / "cards", tmp_path / "cards.json"
    run("solve", "leduc", "--symmetry", "cards", "--iterations", 1, "--out", cards)
    run("export", cards, "--out", file)
    data = json.loads(file.read_text())
    shares = next(iter(data["policy"].values()))
    first, second = shares
    shares |= {first: 1.0, second: 0.0}
    file.write_text(json.dumps(data))
    line = ("import", file, "--game", "leduc", "--out")
    result = run(*line, tmp_path / "merged")
    assert result.returncode == 0
    assert "hands that leduc merges play differently" in result.stderr
    apart = run(*line, tmp_path / "apart", "--symmetry", "cards")
    assert (apart.returncode, apart.stderr) == (0, "")


def test_what_cannot_be_exchanged_gives_one_sentence(leduc, run, tmp_path):
    policy, text = tmp_path / "leduc.json", tmp_path / "leduc.txt"
    assert run("export", leduc, "--out", policy).returncode == 0
    cut = tmp_path / "cut.json"
    cut.write_text(policy.read_text()[:3000])
    rhode = tmp_path / "rhode-island.game"
    rhode.write_text("no game")
    out = ("--out", tmp_path / "out")
    for line, words in (
        (("export", leduc, "--out", text), "has no known suffix; formats are openspiel (.json)"),
        (("export", leduc, "--out", text, "--format", "excel"), "no format is called 'excel'"),
        (("export", tmp_path / "none", "--out", text, "--format", "gambit"), "none is not an"),
        (("import", policy, "--game", "kuhn", *out), "leduc.json: the policy has no entry for"),
        (("import", cut, "--game", "leduc", *out), "cut.json: the policy is not JSON"),
        (("import", policy, "--game", "rhode-island", *out), "ranks hands in a way OpenSpiel"),
        (("import", tmp_path / "none.json", "--game", "leduc", *out), "cannot read"),
        (("import", leduc / "x.efg", "--game", "leduc", *out), "which holds no strategy"),
    ):
        result = run(*line)
        assert result.returncode == 2, line
        assert words in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
