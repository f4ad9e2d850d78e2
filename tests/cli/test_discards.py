"""Equities with discards from the command line."""


def test_equity_with_discards_has_a_standard_error(answer):
    found = answer("equity", "AA", "KK", "--discards", "--samples", "50000", "--seed", "3")
    assert (found["discards"], found["exact"]) == (True, False)
    assert found["total"] == found["wins"] + found["ties"] + found["losses"] == 50_000
    assert abs(found["equity"] - 0.8194605) < 4 * found["standard_error"]
    again = answer("equity", "AA", "KK", "--discards", "--samples", "50000", "--seed", "3")
    assert again["wins"] == found["wins"]


def test_boards_do_not_go_with_discards(run):
    result = run("equity", "AA", "KK", "--discards", "--board", "2c3c4c")
    assert result.returncode == 2
    assert "before the flop" in result.stderr


def test_the_report_is_printed_beside_ours(answer, run, monkeypatch):
    monkeypatch.setattr("equilibrist.papers.ectomynx.equity_table.QUICK_SAMPLES", 300)
    found = answer("reproduce", "ectomynx", "--quick")
    rows = {row["name"]: row for row in found["rows"]}
    assert len(rows) == 169 + 14
    assert rows["AA"]["paper"] == 0.7567
    assert rows["72o"]["paper"] is None
    assert rows["AK against 32"]["paper"] == 0.61
    assert [row["swap"] for row in found["outcomes"]] == [True, False] * 5
    text = run("reproduce", "ectomynx", "--quick").stdout
    assert "report − ours over 165 hands" in text
    assert "AA against KQ" in text
