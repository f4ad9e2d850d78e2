"""Puts the application together: the guard, the API of each view, and the page."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import APIRouter, FastAPI, Request
from pydantic import BaseModel

from equilibrist.version import __version__
from equilibrist.web.bots import bot_router
from equilibrist.web.errors import add_error_handlers
from equilibrist.web.guard import Guard
from equilibrist.web.hand_spots import hand_router
from equilibrist.web.job_store import JobStore
from equilibrist.web.jobs import job_router
from equilibrist.web.kernels import CORES
from equilibrist.web.library import Library
from equilibrist.web.luck import LuckStore, luck_router
from equilibrist.web.opponents import Opponents
from equilibrist.web.pages import add_pages
from equilibrist.web.settings import Settings
from equilibrist.web.spots import spot_router
from equilibrist.web.strategies import strategy_router
from equilibrist.web.table_store import TableStore
from equilibrist.web.tables import table_router


class About(BaseModel):
    """What the page needs to know about its server."""

    version: str
    is_public: bool


def create_app(settings: Settings) -> FastAPI:
    """Return the application of a server; bots and strategies are those of the working directory.

    No other process may use its folders of tables and jobs while it runs (`server.serve` sees to
    that).
    """
    CORES.threads = settings.threads
    library = Library(is_public=settings.is_public)
    opponents = Opponents(library)
    store = TableStore(settings, opponents)
    jobs = JobStore(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if not settings.is_public:
            jobs.open()
        yield
        jobs.close()
        store.close()

    app = FastAPI(
        title="Equilibrist",
        version=__version__,
        description="Play against bots, look into strategies, solve spots and train bots.",
        docs_url=None,  # its page loads scripts of other servers
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    add_error_handlers(app)
    about = APIRouter(prefix="/api", tags=["about"])

    @about.get("/about")
    def show_about(request: Request) -> About:
        """Show the version, and whether the server is public."""
        return About(version=__version__, is_public=settings.is_public)

    app.include_router(about)
    app.include_router(table_router(store, opponents))
    luck = LuckStore(is_public=settings.is_public)
    app.include_router(luck_router(store, luck, library))
    app.include_router(hand_router(store, library))
    app.include_router(strategy_router(library))
    app.include_router(spot_router(settings, library))
    app.include_router(bot_router(settings))
    app.include_router(job_router(jobs))
    app.state.jobs, app.state.tables = jobs, store
    add_pages(app)
    app.add_middleware(Guard, settings=settings)
    return app
