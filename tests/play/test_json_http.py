"""The HTTP server and client of Slumbot's API against bad clients, bad servers and slow ones."""

import contextlib
import json
import re
import socket
import threading
import time

import pytest

from equilibrist.cards.card import card_name
from equilibrist.errors import NetworkError, ParseError
from equilibrist.games.catalog import get_game
from equilibrist.games.dealing import Dealer
from equilibrist.play.json_client import MOST_ANSWER, JsonClient, LostConnectionError
from equilibrist.play.json_server import HttpLimits, JsonServer, RequestError
from equilibrist.play.slumbot_client import ApiMatch
from equilibrist.play.slumbot_server import ServedBot, SlumbotServer
from equilibrist.play.wire import Listener
from equilibrist.players.catalog import make_player

GAME = get_game("holdem-nolimit")


@contextlib.contextmanager
def serving(answer, **settings):
    """Run a server in a thread."""
    done = threading.Event()
    with JsonServer(answer, **settings) as server:
        thread = threading.Thread(target=server.serve, args=(done.is_set,))
        thread.start()
        try:
            yield server
        finally:
            done.set()
            thread.join(10)
            assert not thread.is_alive()


def echo(path, body):
    if body.get("fails"):
        raise ZeroDivisionError("a secret")
    if body.get("refused"):
        raise RequestError(404, "not here")
    return {"path": path, **body}


def request(body=b'{"a": 1}', *, line="POST /x HTTP/1.1", **headers):
    """Return the bytes of a request; headers given as None are left out."""
    fields = {
        "Host": "localhost", "Content-Type": "application/json", "Content-Length": len(body),
    } | {name.replace("_", "-"): value for name, value in headers.items()}  # fmt: skip
    lines = [line, *(f"{name}: {value}" for name, value in fields.items() if value is not None)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def talk(server, data, *, seconds=10.0):
    """Send bytes and return all that comes until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port)) as link:
        link.settimeout(seconds)
        link.sendall(data)
        found = b""
        while piece := link.recv(65536):
            found += piece
    return found


def parsed(data):
    """Return status and object of one answer."""
    head, _, body = data.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    return int(head.split()[1]), json.loads(body)


REFUSED = [
    (request(line="GET /x HTTP/1.1"), 405, "POST requests only, not 'GET'"),
    (request(line="POST /x"), 400, "'POST /x' is not a request of HTTP/1.1"),
    (request(line="POST /x SMTP/3"), 400, "is not a request of HTTP"),
    (request(line=""), 400, "this is not a request of HTTP"),
    (request(Host="evil.example"), 403, "does not answer to the host 'evil.example'"),
    (request(Host=None), 403, "does not answer to the host ''"),
    (request(host="evil.example"), 400, "the header host occurs twice"),
    (request(Origin="http://evil.example"), 403, "requests of web pages are refused"),
    (request(Content_Type="text/plain"), 415, "send application/json, not 'text/plain'"),
    (request(Content_Type=None), 415, "send application/json, not ''"),
    (request(Content_Length=None), 411, "send the body with a Content-Length"),
    (request(Content_Length="-5"), 411, "Content-Length"),
    (request(Content_Length="1e3"), 411, "Content-Length"),
    (request(Transfer_Encoding="chunked"), 411, "Content-Length"),
    (request(Content_Length=4097), 413, "the body is longer than 4,096 bytes"),
    (request(Content_Length="9" * 5000), 413, "the body is longer"),
    (request(Expect="100-continue"), 400, "without Expect"),
    (request(X="y" * 9000), 431, "the headers are longer than 8,192 bytes"),
    (request(b"nonsense"), 400, "the body is not JSON"),
    (request(b""), 400, "the body is not JSON"),
    (request(b"\xff\xfe"), 400, "the body is not JSON"),
    (request(b"[" * 4000), 400, "the body is not JSON"),
    (request(b"9" * 4096), 400, "the body is not JSON|is a int"),
    (request(b"[1]"), 400, "the body is a list, not a JSON object"),
    (request(b"null"), 400, "not a JSON object"),
    (b"POST /x HTTP/1.1\r\nHost localhost\r\n\r\n", 400, "'Host localhost' is not a header"),
    (b"POST /x HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, "is not a header"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "is not a request"),
]


def test_what_is_no_request_of_the_api_is_refused_in_a_sentence_and_others_go_on():
    with serving(echo) as server, JsonClient(server.address) as client:
        for data, status, words in REFUSED:
            found, answer = parsed(talk(server, data))
            assert (found, list(answer)) == (status, ["error_msg"]), data[:80]
            assert re.search(words, answer["error_msg"]), answer
            assert len(answer["error_msg"]) < 150
            assert client.post("/y", {"b": 2}) == {"path": "/y", "b": 2}


def test_an_oversize_body_that_is_sent_whole_still_gets_its_answer():
    with serving(echo) as server:
        found = talk(server, request(b'{"a": "' + b"x" * 2_000_000 + b'"}'))
        assert parsed(found)[0] == 413


def test_one_connection_carries_many_requests_also_at_once():
    with serving(echo) as server:
        more = request(b'{"a": 2}', Connection="close")
        found = talk(server, request() + request(b'{"a": 2}', line="POST /z?q HTTP/1.1") + more)
        assert found.count(b"HTTP/1.1 200 OK") == 3
        assert found.count(b"Connection: keep-alive") == 2
        assert b'{"path": "/z", "a": 2}' in found
        old = talk(server, request(line="POST /x HTTP/1.0"))
        assert parsed(old) == (200, {"path": "/x", "a": 1})


def test_connections_cut_in_the_middle_leave_the_server_as_it_was():
    whole = request()
    with serving(echo) as server, JsonClient(server.address) as client:
        for end in range(0, len(whole), 7):
            with socket.create_connection(("127.0.0.1", server.port)) as link:
                link.sendall(whole[:end])
        with socket.create_connection(("127.0.0.1", server.port)) as link:
            link.sendall(whole)  # and does not wait for the answer
        assert client.post("/y", {})["path"] == "/y"


def test_a_drop_of_bytes_does_not_buy_time():
    limits = HttpLimits(request=0.4)
    with serving(echo, limits=limits) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as link:
            link.settimeout(10)
            sender = threading.Thread(target=_drip, args=(link, request()))
            sender.start()
            found = b""
            with contextlib.suppress(ConnectionError):
                while piece := link.recv(4096):
                    found += piece
        sender.join()
    status, answer = parsed(found)
    assert status == 408
    assert "not complete within 0.4 s" in answer["error_msg"]


def _drip(link, data):
    with contextlib.suppress(OSError):
        for byte in data:
            link.sendall(bytes([byte]))
            time.sleep(0.05)


def test_a_silent_connection_is_closed():
    with serving(echo, limits=HttpLimits(idle=0.2)) as server:
        assert talk(server, b"") == b""


def test_a_client_that_does_not_read_is_left():
    limits = HttpLimits(answer=0.2)
    big = {"a": "x" * 60_000}
    with serving(lambda path, body: big, limits=limits) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.settimeout(10)
            with pytest.raises(ConnectionError):
                link.sendall(request() * 10**6)
        with JsonClient(server.address) as client:
            assert client.post("/x", {}) == big


def test_a_crowd_is_not_let_in():
    with serving(echo, limits=HttpLimits(connections=3)) as server, contextlib.ExitStack() as stack:
        for _ in range(3):
            link = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            link.sendall(request())
            assert link.recv(9) == b"HTTP/1.1 "
        status, answer = parsed(talk(server, b""))
        assert (status, answer["error_msg"]) == (503, "this server has no free connection")


def test_defects_are_reported_on_the_servers_side_only():
    said = []
    with serving(echo, warn=said.append) as server, JsonClient(server.address) as client:
        answer = client.post("/x", {"fails": 1})
        assert answer == {"error_msg": "this server failed; its terminal says why"}
        assert said == ["/x: ZeroDivisionError: a secret"]
        assert client.post("/x", {"refused": 1}) == {"error_msg": "not here"}
        assert client.post("/x", {}) == {"path": "/x"}


def test_a_port_in_use_is_reported_in_a_sentence():
    with Listener() as door, pytest.raises(NetworkError, match=f"port {door.port}: .* choose ano"):
        JsonServer(echo, port=door.port)


def test_other_names_of_the_server_are_answered_if_they_are_given():
    with serving(echo, names=("poker.example.org",)) as server:
        assert (
            parsed(talk(server, request(Host="Poker.Example.org:80", Connection="close")))[0] == 200
        )


# --- whole matches --------------------------------------------------------------------------------


class Tapped(JsonClient):
    """A client that keeps every byte that it receives, request by request."""

    def __init__(self, url):
        super().__init__(url)
        self.received = []

    def post(self, path, body):
        self.connect()
        if not isinstance(self._link.sock, Tap):
            self._link.sock = Tap(self._link.sock, self.received)
        self.received.append(b"")
        return super().post(path, body)


class Tap:
    """A socket whose files record what is read."""

    def __init__(self, link, received):
        self.link, self.received = link, received

    def __getattr__(self, name):
        return getattr(self.link, name)

    def makefile(self, *arguments, **options):
        return Recorded(self.link.makefile("rb", 0), self.received)


class Recorded:
    def __init__(self, file, received):
        self.file, self.received = file, received

    def _keep(self, data):
        self.received[-1] += data
        return data

    def readline(self, size=-1):
        return self._keep(self.file.readline(size))

    def read(self, size=-1):
        return self._keep(self.file.read(size))

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("text", ["uniform", "always-call"])
def test_no_byte_shows_hidden_cards_before_the_end_of_a_hand(text):
    hands = 60
    bot = ServedBot(GAME, lambda: make_player("uniform", GAME), seed=4)
    server = SlumbotServer(bot)
    with serving(server.answer) as door, Tapped(door.address) as client:
        player = make_player(text, GAME)
        player.reset(8)
        match = ApiMatch(GAME, player, client, hands)
        match.play()
        received = client.received
    assert match.results.chips == list(server.chips)
    deals, number, early = Dealer(GAME, 4), 0, 0
    deal = next(deals)
    for data in received:
        board = json.loads(data.partition(b"\r\n\r\n")[2])["board"]
        client = number % 2
        hidden = [card_name(c) for c in (*deal.holes[1 - client], *deal.board)]
        if b'"winnings"' in data:
            number, deal = number + 1, next(deals)
            continue
        early += 1
        for name in set(hidden) - set(board):
            assert f'"{name}"'.encode() not in data
    assert number == hands
    assert early > hands


# --- the client -----------------------------------------------------------------------------------


@contextlib.contextmanager
def sending(*pieces, pause=0.0):
    """A server that reads a request and sends bytes, whatever they are."""
    with Listener() as door:

        def serve():
            with contextlib.suppress(OSError):
                link = door._socket.accept()[0]
                with link:
                    link.recv(65536)
                    for piece in pieces:
                        link.sendall(piece)
                        time.sleep(pause)

        door._socket.settimeout(10)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.port}"
        finally:
            thread.join(15)


def answer_bytes(body, status="200 OK", kind="application/json"):
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (answer_bytes(b"<html>hello</html>", kind="text/html"),
         "answers with status 200 and 'text/html' instead of a JSON object: is it a server of"),
        (answer_bytes(b"<html></html>", "404 Not Found", "text/html"), "status 404 and 'text"),
        (answer_bytes(b"", "302 Found"), "status 302"),
        (answer_bytes(b"[1]"), "instead of a JSON object"),
        (answer_bytes(b"[" * 60_000), "instead of a JSON object"),
        (answer_bytes(b'{"a": "' + b"x" * MOST_ANSWER + b'"}'), "instead of a JSON object"),
        (answer_bytes(b'{"detail": "no"}', "401 Unauthorized"), "status 401"),
    ],
)  # fmt: skip
def test_answers_that_are_not_of_the_api_are_named(sent, words):
    with sending(sent) as url, JsonClient(url) as client:
        with pytest.raises(NetworkError, match=re.escape(words)) as error:
            client.post("/x", {})
        assert not isinstance(error.value, LostConnectionError)


@pytest.mark.parametrize(
    "sent",
    [b"", b"HTTP/1.1 200", b"nonsense\r\n\r\n", answer_bytes(b'{"a": 1}')[:-3],
     answer_bytes(b"{}", "502 Bad Gateway", "text/html"), b"x" * 70_000],
)  # fmt: skip
def test_answers_that_do_not_arrive_are_lost(sent):
    with sending(sent) as url, JsonClient(url) as client, pytest.raises(LostConnectionError):
        client.post("/x", {})


@pytest.mark.parametrize("closes", [b"", b"Connection: close\r\n"])
def test_an_answer_in_drops_is_late(closes):
    head = b"HTTP/1.1 200 OK\r\n" + closes + b"Content-Length: 90\r\n\r\n"
    with (
        sending(head, *[b" "] * 90, pause=0.05) as url,
        JsonClient(url, 0.4) as client,
        pytest.raises(LostConnectionError, match=r"no answer in 0\.4 s"),
    ):
        client.post("/x", {})


def test_an_address_where_nobody_answers_is_named():
    with pytest.raises(LostConnectionError, match=r"nobody answers at http://127\.0\.0\.1:1: Conn"):
        JsonClient("http://127.0.0.1:1").connect()
    with serving(echo) as server, pytest.raises(LostConnectionError, match="is it http://"):
        JsonClient(server.address.replace("http", "https")).connect()


@pytest.mark.parametrize(
    "url",
    ["", "slumbot.com", "ftp://slumbot.com", "http://", "http://a:99999", "http://a:b", "http://[::1",
     "http://a/api", "http://a?x", "http://user@a", "https://a#b"],
)  # fmt: skip
def test_texts_that_are_no_address_are_refused(url):
    with pytest.raises(ParseError, match="is not an address of a server, such as"):
        JsonClient(url)
