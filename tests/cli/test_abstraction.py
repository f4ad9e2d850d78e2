import json

import pytest
from typer.testing import CliRunner

from equilibrist.cli import app


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def quintiles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("abstraction") / "ri"
    result = run(
        "abstract", "percentile", "--buckets", "5,25,125", "--game", "rhode-island",
        "--out", folder, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout.splitlines()[-1])
    assert data["buckets"] == [5, 25, 125]
    assert data["game"] == "rhode-island"
    return folder


def test_buckets_of_a_hand_on_every_street(quintiles):
    result = run("buckets", quintiles, "Ah", "KhQd", "--json")
    data = json.loads(result.stdout)
    assert len(data["buckets"]) == 3
    assert data["buckets"][0] == 4  # an ace is in the best fifth
    assert [data["buckets"][r + 1] // 5 for r in (0, 1)] == data["buckets"][:2]


def test_a_summary_and_a_picture(quintiles, tmp_path):
    picture = tmp_path / "buckets.png"
    result = run("buckets", quintiles, "--plot", picture)
    assert "percentile 5-25-125; parts of a bucket: 5–5, 5–5" in result.stdout
    assert json.loads(run("buckets", quintiles, "--json").stdout)["parts"] == [[5, 5], [5, 5]]
    assert picture.stat().st_size > 10_000


def test_counts_and_a_second_go(quintiles, tmp_path):
    out = tmp_path / "joint"
    data = json.loads(run("joint", quintiles, "--out", out, "--json").stdout.splitlines()[-1])
    assert data["total"] == 52 * 51 // 2 * 2 * 50 * 49
    assert data["exact"] is True
    again = run("joint", quintiles, "--out", out)
    assert again.exit_code != 0
    assert "exists" in str(again.exception)
    done = run("joint", quintiles, "--out", out, "--resume")
    assert "nothing is left to do" in str(done.exception)


def test_a_sample_says_how_far_off_it_is(quintiles, tmp_path):
    result = run("joint", quintiles, "--out", tmp_path / "s", "--boards", "400", "--json")
    data = json.loads(result.stdout.splitlines()[-1])
    assert data["exact"] is False
    assert 0 < data["distance"] < 0.2


def test_a_forecast_comes_first(tmp_path):
    """Hands on boards are counted by hand: 52 cards, 13 flops and 169 rivers up to suits."""
    command = ("abstract", "expectation", "--buckets", "3,9,27", "--game", "rhode-island")
    result = run(*command, "--out", tmp_path / "a", "--json")
    assert result.stderr.startswith("rhode-island: 52 + 676 + 8,788 hands on boards, 200")
    needed = json.loads(result.stdout)["forecast"]
    assert needed["hands"] == [52, 13 * 52, 169 * 52]
    assert needed["bytes"] > 200 * 2**20


def test_what_does_not_fit_is_refused_unless_forced(tmp_path, monkeypatch):
    monkeypatch.setattr("equilibrist.abstraction.forecast.available_bytes", lambda: 2**20)
    command = ("abstract", "moments", "--buckets", "3,9,27", "--game", "rhode-island")
    result = run(*command, "--out", tmp_path / "a")
    sentence = str(result.exception)
    assert "moments buckets of rhode-island need 200.1 MiB and 1.0 MiB are free" in sentence
    assert "percentile needs 200.0 MiB" in sentence
    assert not (tmp_path / "a").exists()
    assert run(*command, "--out", tmp_path / "a", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("percentil", "--buckets", "5,25,125"), "did you mean percentile"),
        (("percentile", "--buckets", "5,25"), "3 rounds"),
        (("percentile", "--buckets", "5,24,125"), "not a multiple"),
        (("percentile", "--buckets", "5,x"), "a whole number per round"),
        (("percentile", "--buckets", "5,25," + "9" * 5000), "a whole number per round"),
        (("strength-potential", "--buckets", "5,5,5", "--flops", "9" * 5000), "not 9999"),
        (("percentile",), "needs numbers"),
        (("lossless", "--buckets", "5,25,125"), "give no numbers"),
    ],
)
def test_bad_input_gives_one_sentence_and_nothing_is_written(arguments, sentence, tmp_path):
    out = tmp_path / "x"
    result = run("abstract", *arguments, "--game", "rhode-island", "--out", out)
    assert sentence in str(result.exception)
    assert not out.exists()


def test_an_existing_folder_is_kept(quintiles, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    result = run(
        "abstract", "percentile", "--buckets", "5,25,125", "--game", "rhode-island",
        "--out", tmp_path,
    )  # fmt: skip
    assert "notes.txt" in str(result.exception)
    assert run("buckets", tmp_path, "Ah").exit_code != 0
