"""The page as files: small, whole, and without anything from elsewhere."""

import re
from pathlib import Path

import pytest

import equilibrist.web

STATIC = Path(equilibrist.web.__file__).parent / "static"
FILES = [path for path in STATIC.rglob("*") if path.is_file()]
SCRIPTS = [path for path in FILES if path.suffix == ".js"]


def test_the_whole_page_is_at_most_300_kilobytes():
    loaded = [path for path in FILES if path.suffix in (".html", ".css", ".js", ".svg")]
    assert sum(path.stat().st_size for path in loaded) <= 300_000


def test_nothing_is_loaded_from_other_servers():
    for path in FILES:
        if path.suffix in (".html", ".css", ".js"):
            text = path.read_text()
            hosts = set(re.findall(r"https?://([\w.-]+)", text))
            assert hosts <= {"www.w3.org"}, path  # names of XML vocabularies
            assert "eval(" not in text
            assert "new Function" not in text


def test_the_page_has_no_inline_scripts_and_styles():
    html = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*src=)", html)
    assert "<style" not in html
    assert " style=" not in html


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_import_is_a_file(path):
    for name in re.findall(r'(?:from|import) ?"([^"]+)"', path.read_text()):
        assert name.startswith("."), name
        assert (path.parent / name).is_file(), name


def test_libraries_come_with_their_licences():
    vendor = STATIC / "vendor"
    assert "MIT" in (vendor / "LICENSE-preact.txt").read_text()
    assert "Apache License" in (vendor / "LICENSE-htm.txt").read_text()
    assert "Permission is hereby granted" in (vendor / "LICENSE-uplot.txt").read_text()


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/play",
        "/strategies",
        "/table/b",
        "/strategy/a/b",
        "/spot/turn",
        "/spots",
        "/spots/new",
        "/runouts/turn",
        "/flops/study",
        "/jobs",
        "/jobs/b",
        "/bots",
        "/bots/gs2",
    ],
)
def test_every_view_has_an_address(stranger, address):
    answer = stranger.get(address)
    assert answer.status_code == 200
    assert answer.text == (STATIC / "index.html").read_text()


def test_other_addresses_are_not_found(stranger):
    answer = stranger.get("/nowhere")
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_a_browser_at_a_wrong_address_gets_the_page(stranger):
    answer = stranger.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert answer.status_code == 404
    assert answer.text == (STATIC / "index.html").read_text()
    for address in ("/api/nowhere", "/static/nowhere"):
        found = stranger.get(address, headers={"accept": "text/html"})
        assert found.headers["content-type"] == "application/json"
