"""The page and its files; every address of a view gives the same page, which finds its view."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"


def add_pages(app: FastAPI) -> None:
    """Add the page and its files to an application."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    @router.get("/play")
    @router.get("/strategies")
    @router.get("/spots")
    @router.get("/spots/new")
    @router.get("/bots")
    @router.get("/bots/{name}")
    @router.get("/jobs")
    @router.get("/jobs/{name}")
    @router.get("/runouts/{name:path}")
    @router.get("/flops/{name:path}")
    @router.get("/table/{identity}")
    @router.get("/strategy/{name:path}")
    @router.get("/spot/{name:path}")
    def page() -> FileResponse:
        return _index(200)

    @app.exception_handler(404)
    async def missing(request: Request, error: HTTPException) -> Response:
        """Answer a browser with the page, which says that there is no such view."""
        is_view = not request.url.path.startswith(("/api/", "/static/"))
        if is_view and "text/html" in request.headers.get("accept", ""):
            return _index(404)
        return JSONResponse({"error": str(error.detail)}, 404)

    @router.get("/favicon.ico")
    def icon() -> FileResponse:
        return FileResponse(STATIC / "icon.svg", media_type="image/svg+xml")

    app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _index(status: int) -> FileResponse:
    headers = {"cache-control": "no-cache"}
    return FileResponse(STATIC / "index.html", status, headers)
