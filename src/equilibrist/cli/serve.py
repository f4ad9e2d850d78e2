"""`equilibrist serve`: the page in which people play and look into strategies."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from equilibrist.cli.interrupts import exit_if_requested
from equilibrist.cli.options import Json, Seed, Threads, emit
from equilibrist.errors import InvalidValueError

if TYPE_CHECKING:
    from equilibrist.web.settings import Settings

_MOST_PORT = 2**16 - 1
_ENDING = (
    "equilibrist: ending the server; all hands are saved, and jobs continue with the next one; "
    "a second signal ends it at once"
)
_PACKAGES = ("fastapi", "pydantic", "starlette", "uvicorn")  # of the extra web

OpenBrowser = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
PagePort = Annotated[
    int, typer.Option(min=0, max=_MOST_PORT, help="Port to listen on; 0: any free port.")
]
PageHost = Annotated[str, typer.Option(help="Address to listen on.")]
AllowedHosts = Annotated[
    str, typer.Option(help="More names of this server, separated by commas: poker.example.org.")
]
Public = Annotated[
    bool,
    typer.Option("--public", help="Let anybody play and browse, within limits."),
]
TablesFolder = Annotated[Path, typer.Option(help="Folder of the hands that are played.")]
JobsFolder = Annotated[Path, typer.Option(help="Folder of the jobs that are queued on the page.")]
AtOnce = Annotated[int, typer.Option(min=1, max=64, help="Number of jobs that run at once.")]


def serve(
    open_: OpenBrowser = False,
    port: PagePort = 0,
    host: PageHost = "127.0.0.1",
    allowed_hosts: AllowedHosts = "",
    public: Public = False,
    tables: TablesFolder = Path("tables"),
    jobs: JobsFolder = Path("jobs"),
    at_once: AtOnce = 1,
    json: Json = False,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Serve the page: play, look into strategies, solve spots and train bots in the browser.

    The printed address contains a token that works once: it gives this browser a cookie. Bots,
    solutions and spots are those of the current folder. Ctrl-C ends the server; hands are saved
    action by action, and jobs continue when it is started again. Needs the extra web.

    Example: equilibrist serve --open
    """
    server = _server_module()
    from equilibrist.play.json_server import LOOPBACK_NAMES
    from equilibrist.web.settings import Settings

    names = *LOOPBACK_NAMES, *_host_names(host, allowed_hosts)
    settings = Settings(
        tables=tables,
        jobs=jobs,
        most_running=at_once,
        threads=threads,
        hosts=tuple(dict.fromkeys(names)),
        is_public=public,
    )
    with server.listen(host, port) as door:
        page = server.address(door, host)

        def started() -> None:
            _announce(page, settings, as_json=json, is_opened=open_)

        stop = server.serve(settings, door, started, _say_ending)
    exit_if_requested(stop)
    raise typer.Exit(1)  # it did not start; uvicorn has said why


def _host_names(host: str, more: str) -> list[str]:
    """Return the address to listen on and the names after commas, as a Host header has them."""
    names = [name.strip().lower() for name in more.split(",") if name.strip()]
    return [f"[{host}]" if ":" in host else host.lower(), *names]


def _server_module() -> ModuleType:
    """Return `equilibrist.web.server`; raise `InvalidValueError` without the extra web."""
    try:
        from equilibrist.web import server
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise InvalidValueError(
            f"serve needs the package {missing.name}: pip install 'equilibrist[web]'"
        ) from None
    return server


def _announce(page: str, settings: Settings, *, as_json: bool, is_opened: bool) -> None:
    """Print the address of the page and where it saves, and open it if that is wanted."""
    link = page if settings.is_public else f"{page}?token={settings.token}"
    data = {"address": link, "public": settings.is_public, "tables": str(settings.tables)}
    text = f"{link}\nCtrl-C ends the server; hands are saved in {settings.tables}/"
    if not settings.is_public:
        data["jobs"], text = str(settings.jobs), f"{text}, jobs in {settings.jobs}/"
    emit(data, text, as_json=as_json)
    if is_opened:
        import webbrowser

        webbrowser.open(link)


def _say_ending() -> None:
    with contextlib.suppress(OSError):
        print(_ENDING, file=sys.stderr, flush=True)
