"""`equilibrist serve`: the page in which people play and look into strategies."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from equilibrist.cli.options import Json, Seed, Threads
from equilibrist.errors import InvalidValueError

_MOST_PORT = 2**16 - 1
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
    try:
        from equilibrist.web import server
        from equilibrist.web.settings import LOOPBACK_HOSTS, Settings
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise InvalidValueError(
            f"serve needs the package {missing.name}: pip install 'equilibrist[web]'"
        ) from None
    names = [name.strip().lower() for name in allowed_hosts.split(",") if name.strip()]
    own = [f"[{host}]" if ":" in host else host.lower()]
    settings = Settings(
        tables=tables,
        jobs=jobs,
        most_running=at_once,
        threads=threads,
        hosts=tuple(dict.fromkeys((*LOOPBACK_HOSTS, *own, *names))),
        is_public=public,
    )
    if threads is not None:
        import numba

        numba.set_num_threads(threads)
    door = server.listen(host, port)
    page = server.address(door, host)
    link = page if public else f"{page}?token={settings.token}"

    def say() -> None:
        data = {"address": link, "public": public, "tables": str(tables)}
        text = f"{link}\nCtrl-C ends the server; hands are saved in {tables}/"
        if not public:
            data["jobs"], text = str(jobs), f"{text}, jobs in {jobs}/"
        print(json_text.dumps(data) if json else text, flush=True)
        if open_:
            import webbrowser

            webbrowser.open(link)

    with door:
        if not server.serve(settings, door, say):
            raise typer.Exit(1)
