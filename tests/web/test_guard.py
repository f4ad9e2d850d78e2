"""Which requests a server answers: hosts, origins, cookies, sizes and rates."""

import asyncio
import http.cookies
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI, WebSocket
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from equilibrist.web.access import RateLimit
from equilibrist.web.guard import Guard
from equilibrist.web.settings import Settings

TOKEN = "token-of-the-test"  # as in conftest.py
NEW = {"player": "always-call", "game": "kuhn"}
API = (
    "/api/about", "/api/players", "/api/tables", "/api/strategies", "/api/strategy?name=uniform",
    "/api/jobs", "/api/jobs/bfgjkmnpqrvwxyzbfgjk/events", "/api/spots", "/api/bots",
    "/api/bots/gs2", "/api/runouts?name=turn&node=c", "/api/flops?name=study",
)  # fmt: skip


def error(answer):
    """The sentence of a refusal; every answer that is one has the same form."""
    assert list(answer.json()) == ["error"]
    return answer.json()["error"]


def test_the_token_is_exchanged_once_for_a_cookie(stranger):
    answer = stranger.get("/spot/turn?token=wrong&x=1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/spot/turn?x=1")
    assert "set-cookie" not in answer.headers
    answer = stranger.get(f"/spot/turn?token={TOKEN}&x=1", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/spot/turn?x=1")
    cookie = next(iter(http.cookies.SimpleCookie(answer.headers["set-cookie"]).values()))
    assert cookie.key == "equilibrist-8000"  # browsers send cookies to all ports of a host
    assert (cookie["samesite"], cookie["httponly"], cookie["path"]) == ("Strict", True, "/")
    assert TOKEN not in answer.headers["set-cookie"]
    assert stranger.get("/api/about").status_code == 200
    stranger.cookies.clear()
    again = stranger.get(f"/?token={TOKEN}", follow_redirects=False)
    assert "set-cookie" not in again.headers
    refused = stranger.get("/api/about")
    assert (refused.status_code, "it works once" in error(refused)) == (401, True)


def test_a_redirect_stays_on_this_server(stranger):
    answer = stranger.get(f"{stranger.base_url}//evil.example/?token=x", follow_redirects=False)
    assert answer.headers.get("location", "/").startswith("/evil.example")
    assert _redirect(r"/\evil.example/", "token=x") == "/evil.example/"


def _redirect(path, query):
    """The address to which a server redirects a path that a client library would not send."""
    guard, sent = Guard(None, Settings(token=TOKEN)), []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "headers": [(b"host", b"127.0.0.1:8000")],
    }  # fmt: skip
    with ThreadPoolExecutor(1) as pool:  # a browser of other tests may have a loop in this thread
        pool.submit(asyncio.run, guard(scope, None, send)).result()
    return dict(sent[0]["headers"])[b"location"].decode()


@pytest.mark.parametrize("path", API)
def test_without_a_cookie_the_api_answers_nothing(stranger, path):
    assert stranger.get("/").status_code == 200
    assert stranger.get("/static/app.js").status_code == 200
    for cookie in (None, "x", "a" * 32):
        if cookie:
            stranger.cookies.set("equilibrist-8000", cookie)
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "open the address that `equilibrist serve` printed" in error(answer)
    for path in ("/api/tables", "/api/jobs", "/api/spots/forecast", "/api/range"):
        assert stranger.post(path, json=NEW).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "127.0.0.2", "", "["]
)
def test_other_hosts_are_refused_even_with_the_cookie(owner, host):
    """DNS rebinding: a page of another site whose name points to this machine."""
    for path in ("/", "/api/about", "/static/app.js"):
        answer = owner.get(path, headers={"host": host})
        assert answer.status_code == 403
        assert "--allowed-hosts" in error(answer)


def test_own_and_allowed_hosts_are_answered(serve):
    client = serve(hosts=("localhost", "[::1]", "poker.example.org"))
    for host in ("localhost", "LOCALHOST:80", "[::1]:8000", "poker.example.org"):
        assert client.get("/", headers={"host": host}).status_code == 200
    assert client.get("/").status_code == 403  # 127.0.0.1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:8000.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-site"},
    ],
)
def test_writes_of_other_sites_are_refused(owner, headers):
    answer = owner.post("/api/tables", json=NEW, headers=headers)
    assert answer.status_code == 403
    assert "another site" in error(answer)
    assert owner.get("/api/tables").json() == []
    job = {"kind": "train", "bot": "gs2"}
    assert owner.post("/api/jobs", json=job, headers=headers).status_code == 403
    assert owner.request("DELETE", "/api/jobs/x", headers=headers).status_code == 403
    assert owner.get("/api/jobs").json() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # a page of another port: it has the cookie, too
        {"origin": "http://127.0.0.1:9999", "sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_sites_cannot_let_the_server_compute(owner, headers):
    """They could not read the answers, but each may use all cores for seconds."""
    for path in API:
        answer = owner.get(path, headers=headers)
        assert (answer.status_code, "another site" in error(answer)) == (403, True)
    assert owner.get("/spot/turn", headers=headers).status_code == 200  # a link to the page
    assert owner.get("/api/about", headers={"sec-fetch-site": "none"}).status_code == 200


def test_writes_of_the_page_are_answered(owner):
    headers = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert owner.post("/api/tables", json=NEW, headers=headers).status_code == 201


def test_only_json_is_accepted(owner):
    """Forms of other sites can send these without asking first."""
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = owner.post("/api/tables", content=b"{}", headers={"content-type": media})
        assert answer.status_code == 415


def test_long_bodies_are_refused(owner):
    answer = owner.post("/api/tables", json=NEW | {"more": "x" * 70_000})
    assert (answer.status_code, error(answer)) == (413, "a request has at most 65,536 bytes")

    def chunks():  # no length is announced
        for _ in range(20):
            yield b" " * 4096

    headers = {"content-type": "application/json"}
    assert owner.post("/api/tables", content=chunks(), headers=headers).status_code == 413
    for length in ("-1", "x", "9" * 30):
        answer = owner.post(
            "/api/tables", content=b"{}", headers=headers | {"content-length": length}
        )
        assert answer.status_code == 413


def test_bad_bodies_are_one_sentence(owner):
    headers = {"content-type": "application/json"}
    for content in (b"", b"{", b"[]", b'{"player": 3}', b'{"player": "' + b"x" * 300 + b'"}'):
        answer = owner.post("/api/tables", content=content, headers=headers)
        assert answer.status_code == 422
        assert "is invalid" in error(answer)
    assert "\n" not in error(owner.post("/api/jobs", json={"kind": "\n"}))
    nested = b'{"player":' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    assert owner.post("/api/tables", content=nested, headers=headers).status_code in (400, 422)


def test_every_answer_forbids_to_load_from_elsewhere(owner):
    for path in ("/", "/static/app.js", "/api/about", "/nowhere", "/api/nowhere"):
        headers = owner.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert ("no-store" in headers.get("cache-control", "")) == path.startswith("/api/")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/%2e%2e/guard.py",
        "/static/..%2fguard.py",
        "/static//etc/passwd",
        "/static/vendor/../../app.py",
        "/api/tables/..%2f..%2fetc%2fpasswd",
        "/api/tables/%2e%2e",
    ],
)
def test_paths_do_not_leave_their_folder(owner, folder, path):
    (folder / "guard.py").write_text("secret")
    answer = owner.get(path)
    assert answer.status_code == 404
    assert b"import" not in answer.content
    assert list(answer.json()) == ["error"]


@pytest.mark.parametrize(
    "name", ["../other", "/etc", "a/../../other", "solution:../other", "..", "", "x" * 199, "a\0b"]
)
def test_strategies_outside_the_served_folder_are_not_opened(owner, folder, name):
    answer = owner.get("/api/strategy", params={"name": name})
    assert answer.status_code == 404
    assert str(folder.parent) not in answer.text
    played = {"player": f"solution:{name}", "game": "leduc"}
    assert owner.post("/api/tables", json=played).status_code in (400, 404, 422)
    assert owner.get("/api/tables").json() == []


def test_links_do_not_lead_out_of_the_served_folder(owner, folder):
    outside = folder.parent / f"{folder.name}-outside"
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    assert "no strategy is called 'link'" in error(owner.get("/api/strategy?name=link"))


@pytest.mark.parametrize(
    "text", ["mine.py:Careful", "gs2:from=/etc", "lbr:mine.py:X", "ectomynx:/"]
)
def test_players_that_read_or_run_files_are_refused(owner, folder, text):
    (folder / "mine.py").write_text("raise SystemExit")
    answer = owner.post("/api/tables", json={"player": text, "game": "holdem-limit"})
    assert answer.status_code == 400
    assert "cannot be played on a page" in error(answer)


# --- public servers -------------------------------------------------------------------------------


def test_visitors_need_no_token_and_see_only_their_own_tables(public):
    mine = public.post("/api/tables", json=NEW).json()["id"]
    assert [row["id"] for row in public.get("/api/tables").json()] == [mine]
    public.cookies.clear()
    assert public.get(f"/api/tables/{mine}").status_code == 401
    assert "allow cookies" in error(public.get(f"/api/tables/{mine}"))
    assert public.get("/").status_code == 200  # a new visitor
    assert public.get("/api/tables").json() == []
    assert public.get(f"/api/tables/{mine}").status_code == 404


def test_a_public_server_opens_no_folders_and_lists_no_commands(public, folder):
    (folder / "deep" / "turn").mkdir(parents=True)
    for name in ("deep/turn", "bots", "tables", "."):
        answer = public.get("/api/strategy", params={"name": name})
        assert "no strategy is called" in error(answer)
    listed = public.get("/api/strategies").json() + public.get("/api/players").json()["players"]
    assert listed
    assert not [row for row in listed if row["command"]]


def test_a_public_server_limits_requests_and_tables(serve):
    client = serve(is_public=True, requests_per_second=0.001, burst=12, most_tables=3)
    client.get("/")
    for _ in range(3):
        assert client.post("/api/tables", json=NEW).status_code == 201
    assert "you have 3 tables" in error(client.post("/api/tables", json=NEW))
    found = [client.get("/api/about") for _ in range(12)]
    assert [answer.status_code for answer in found] == [200] * 8 + [429] * 4
    assert found[-1].headers["retry-after"] == "1"
    assert client.get("/").status_code == 200  # the page itself


def test_addresses_of_one_customer_share_a_limit():
    limit = RateLimit(per_second=0.0, burst=1)
    asked = [
        "2001:db8::1",
        "2001:db8::ffff",
        "2001:db8:0:1::1",
        "::ffff:10.0.0.1",
        "::ffff:10.0.0.2",
    ]
    assert [limit.allows(each, now=0.0) for each in asked] == [True, False, True, True, True]


# --- websockets -----------------------------------------------------------------------------------


@pytest.fixture
def socket_app():
    """A guarded application with one websocket."""
    app = FastAPI()

    @app.websocket("/api/echo")
    async def echo(socket: WebSocket):
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    @app.get("/")
    def page():
        return {}

    app.add_middleware(Guard, settings=Settings(token=TOKEN))
    return TestClient(app, base_url="http://127.0.0.1:8000")


def test_websockets_need_the_origin_of_the_page_and_the_cookie(socket_app):
    own = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}

    def attempt(headers):
        with socket_app.websocket_connect("/api/echo", headers=headers) as socket:
            return socket.receive_text()

    with pytest.raises(WebSocketDisconnect):
        attempt(own)  # no cookie
    socket_app.get(f"/?token={TOKEN}")
    name, value = next(iter(socket_app.cookies.items()))
    own["cookie"] = f"{name}={value}"
    assert attempt(own) == "hello"
    for wrong in (
        {"origin": "http://evil.example"},
        {"host": "evil.example", "origin": "http://evil.example"},
    ):
        with pytest.raises(WebSocketDisconnect):
            attempt(own | wrong)
    with pytest.raises(WebSocketDisconnect):
        attempt({name: own[name] for name in ("host", "cookie")})


def test_the_api_describes_itself(stranger):
    found = stranger.get("/api/openapi.json").json()
    assert "/api/tables/{identity}/moves" in found["paths"]
    for path in found["paths"].values():
        for operation in path.values():
            assert re.fullmatch(r"[A-Z].*\.", operation["description"].splitlines()[0])
