"""The settings of a server: what it serves, to whom, and within which limits."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from equilibrist.play.json_server import LOOPBACK_NAMES


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of one server; they do not change while it runs."""

    tables: Path = Path("tables")  # folder of the hands that are played
    jobs: Path = Path("jobs")  # folder of the jobs; a public server has none
    hosts: tuple[str, ...] = LOOPBACK_NAMES  # names in the Host header that are answered, no ports
    is_public: bool = False  # anybody may play and browse, within limits; nobody needs a token
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)  # used once
    most_body: int = 1 << 16  # bytes of a request
    most_tables: int = 200  # files per visitor
    most_open: int = 1000  # tables in memory
    most_running: int = 1  # jobs at the same time
    most_jobs: int = 50  # jobs that wait or run
    threads: int | None = None  # of a question or a job; None: all cores
    requests_per_second: float = 10.0  # per address, of a public server
    burst: int = 60  # requests at once, per address
