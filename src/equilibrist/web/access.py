"""Who sends a request: the owner with a cookie for a token, or a visitor of a public server."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from equilibrist.web.settings import Settings

_MOST_SESSIONS = 100
_MOST_ADDRESSES = 10_000  # remembered by the rate limit


@dataclass(eq=False)
class Access:
    """The cookies of a server: those that it gave for its token, and those of visitors."""

    settings: Settings
    _token: str | None = field(init=False, repr=False)
    _sessions: OrderedDict[str, None] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._token = self.settings.token

    def exchange(self, token: str) -> str | None:
        """Return a new cookie for the token, None if it is wrong or was used before."""
        with self._lock:
            known = self._token
            if known is None or not secrets.compare_digest(token.encode(), known.encode()):
                return None
            self._token = None
            cookie = new_cookie()
            self._sessions[_digest(cookie)] = None
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
            return cookie

    def owner_of(self, cookie: str) -> str | None:
        """Return whose tables a cookie opens: "" for the owner, a hash for a visitor, or None.

        A visitor's cookie is any text that the server could have given: its hash names the folder
        of the visitor's tables, and cannot be guessed.
        """
        if self.settings.is_public:
            is_ours = len(cookie) == len(new_cookie()) and cookie.isascii() and cookie.isprintable()
            return _digest(cookie)[:24] if is_ours else None
        with self._lock:
            return "" if _digest(cookie) in self._sessions else None


def new_cookie() -> str:
    """Return a cookie that cannot be guessed."""
    return secrets.token_urlsafe(24)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


class RateLimit:
    """A limit on requests per address: a bucket of tokens that fills at a constant rate.

    Example:
        >>> limit = RateLimit(per_second=1.0, burst=2)
        >>> [limit.allows("10.0.0.1", now=0.0) for _ in range(3)], limit.allows("10.0.0.1", now=1.5)
        ([True, True, False], True)
    """

    def __init__(self, per_second: float, burst: int) -> None:
        self.per_second, self.burst = per_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, at what time
        self._lock = threading.Lock()

    def allows(self, address: str, now: float | None = None) -> bool:
        """Return whether one more request of an address is within the limit, and count it."""
        now, address = time.monotonic() if now is None else now, _network(address)
        with self._lock:
            left, since = self._left.pop(address, (float(self.burst), now))
            left = min(self.burst, left + (now - since) * self.per_second)
            self._left[address] = (left - 1 if left >= 1 else left, now)
            while len(self._left) > _MOST_ADDRESSES:
                self._left.popitem(last=False)
            return left >= 1


def _network(address: str) -> str:
    """Return an address as the limit counts it: of IPv6 the 64 bits that one customer has.

    Example:
        >>> _network("2001:db8::7"), _network("10.0.0.1")
        ('20010db800000000', '10.0.0.1')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    is_long = isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None
    return found.packed[:8].hex() if is_long else address
