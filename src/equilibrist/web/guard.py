"""Decides which requests are answered, before any view sees them.

- **Host**: only the server's own names, so that a page of another site cannot reach it by pointing
  its own name at this machine (DNS rebinding).
- **Origin**: questions to the API, writes and websockets must not come from pages of other sites.
- **Cookie**: the address that `serve` prints has a token, which is exchanged once for a cookie;
  without it the API answers nothing. Visitors of a public server get a cookie of their own.
- **Size and rate**: long bodies are refused; a public server limits requests per address.

Every answer has headers that let the page load nothing from elsewhere.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from equilibrist.play.json_server import host_name
from equilibrist.web.access import Access, RateLimit, new_cookie
from equilibrist.web.settings import Settings

_SAFE = ("GET", "HEAD")
_API = "/api/"
_OPEN = ("/api/openapi.json",)  # part of the API that says nothing about this server
_YEAR = 365 * 24 * 3600  # seconds
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
NO_SESSION = (
    "this browser is not signed in, or the server was started again: open the address that "
    "`equilibrist serve` printed; it works once, so start the server again if it was used"
)
NO_COOKIE = "this page needs its cookie: allow cookies for this address and reload the page"


class _Refused(Exception):  # noqa: N818
    """Raised for a request that is not answered, with its status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """ASGI middleware that checks every request; `scope["state"]["owner"]` is its sender."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings, self.access = app, settings, Access(settings)
        self._limit = RateLimit(settings.requests_per_second, settings.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then pass it on or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        more: list[tuple[str, str]] = []
        send = _with_headers(send, more, is_api=scope["path"].startswith(_API))
        try:
            self._check(scope, headers)
            if location := self._exchange(scope, headers, more):
                more += [("location", location), ("cache-control", "no-store")]
                await _answer(send, 303, b"")
                return
            self._identify(scope, headers, more)
            if scope["type"] == "http":
                receive = await _read_body(receive, headers, self.settings.most_body)
            await self.app(scope, receive, send)
        except _Refused as refused:
            if scope["type"] == "websocket":
                await receive()  # websocket.connect
                await send({"type": "websocket.close", "code": 1008, "reason": str(refused)[:120]})
                return
            if refused.status == 429:
                more.append(("retry-after", "1"))
            more.append(("content-type", "application/json"))
            await _answer(send, refused.status, json.dumps({"error": str(refused)}).encode())

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise `_Refused` if the request has a wrong host or origin, or comes too often."""
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or host_name(host) not in self.settings.hosts:
            raise _Refused(
                403,
                f"this server does not answer to the host {host[:80]!r}; start it with "
                "--allowed-hosts if that is its name",
            )
        is_write = scope["type"] == "websocket" or scope["method"] not in _SAFE
        is_question = scope["path"].startswith(_API) and scope["path"] not in _OPEN
        if is_write or is_question:
            _check_origin(scope, headers, host)
        if is_write and scope["type"] == "http":
            _check_media(headers)
        client = scope.get("client")
        if (
            self.settings.is_public
            and scope["path"].startswith(_API)
            and not self._limit.allows(client[0] if client else "")
        ):
            raise _Refused(429, "too many requests from this address; wait a second")

    def _exchange(self, scope: Scope, headers: Headers, more: list[tuple[str, str]]) -> str | None:
        """Exchange a token in the address for a cookie; return the address without the token."""
        query = scope.get("query_string", b"").decode("latin-1")
        if scope["type"] != "http" or scope["method"] != "GET" or "token=" not in query:
            return None
        fields = parse_qsl(query, keep_blank_values=True)
        token = next((value for name, value in fields if name == "token"), None)
        if token is None or scope["path"].startswith(_API):
            return None
        cookie = None if self.settings.is_public else self.access.exchange(token)
        if cookie is not None:
            more.append(("set-cookie", self._cookie(scope, headers, cookie)))
        rest = urlencode([pair for pair in fields if pair[0] != "token"])
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        return "/" + path.lstrip("/\\") + (f"?{rest}" if rest else "")

    def _identify(self, scope: Scope, headers: Headers, more: list[tuple[str, str]]) -> None:
        """Store the sender of a request; raise `_Refused` if the API needs one."""
        cookie = cookie_parser(headers.get("cookie", "")).get(_cookie_name(headers), "")
        owner = self.access.owner_of(cookie)
        scope.setdefault("state", {})["owner"] = owner
        is_api = scope["type"] == "websocket" or scope["path"].startswith(_API)
        if owner is not None or scope["path"] in _OPEN:
            return
        if is_api:
            raise _Refused(401, NO_COOKIE if self.settings.is_public else NO_SESSION)
        if self.settings.is_public and not scope["path"].startswith("/static/"):
            more.append(("set-cookie", self._cookie(scope, headers, new_cookie())))

    def _cookie(self, scope: Scope, headers: Headers, value: str) -> str:
        """Return the text of a cookie that scripts cannot read and other sites cannot send."""
        age = f"; Max-Age={_YEAR}" if self.settings.is_public else ""
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        return f"{_cookie_name(headers)}={value}; Path=/; HttpOnly; SameSite=Strict{age}{secure}"


def _cookie_name(headers: Headers) -> str:
    """Return the name of the cookie: with the port, because cookies of all ports are one jar."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"equilibrist-{port}" if port.isdecimal() else "equilibrist"


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    """Raise `_Refused` if a browser sent the request for a page of another server."""
    origin = headers.get("origin")
    site = headers.get("sec-fetch-site", "same-origin")
    if origin is None and scope["type"] == "http":  # not from a browser
        is_own = site in ("same-origin", "none")
    else:
        is_own = site == "same-origin" and urlsplit(origin or "").netloc.lower() == host.lower()
    if not is_own:
        raise _Refused(403, f"requests from {str(origin)[:80]!r} are refused: it is another site")


def _check_media(headers: Headers) -> None:
    """Raise `_Refused` unless the body is JSON: forms of other sites cannot send it unasked."""
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise _Refused(415, f"send application/json, not {media[:40]!r}")


async def _read_body(receive: Receive, headers: Headers, most: int) -> Receive:
    """Read the body of a request; return a `receive` that gives it again, whole.

    Raises `_Refused` as soon as it is too long.
    """
    too_long = _Refused(413, f"a request has at most {most:,} bytes")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 15 or int(length) > most:
        raise too_long
    body, is_complete = b"", False
    while not is_complete:
        message = await receive()
        if message["type"] != "http.request":
            raise _Refused(400, "the request ended early")
        body += message.get("body", b"")
        is_complete = not message.get("more_body", False)
        if len(body) > most:
            raise too_long
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send, more: list[tuple[str, str]], *, is_api: bool) -> Send:
    """Return a `send` that adds the headers of every answer, and `more`."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if is_api:
                headers["cache-control"] = "no-store"
            for name, value in more:
                headers.append(name, value)
        await send(message)

    return with_headers


async def _answer(send: Send, status: int, body: bytes) -> None:
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": []}
    start["headers"].append((b"content-length", str(len(body)).encode()))
    await send(start)
    await send({"type": "http.response.body", "body": body})
