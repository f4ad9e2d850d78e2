"""The API of jobs: queue a computation, follow it, pause, resume, cancel and forget it."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from equilibrist.errors import EquilibristError
from equilibrist.web.errors import ForbiddenError, NotFoundError
from equilibrist.web.job_requests import AnyRequest
from equilibrist.web.job_store import LOG, JobStore, Record, progress_of, read_lines
from equilibrist.web.settings import Settings

_LOOK = 0.25  # seconds between two looks at the log of a job
_BEAT = 15.0  # seconds after which a silent stream says that it is there


class Job(Record):
    """A job, with the last progress of its command."""

    title: str
    folder: str = Field(description="of its result")
    is_stopping: bool = Field(description="it was told to end, and saves")
    command: str = Field(description="what does the same in a terminal")
    progress: dict[str, Any] | None = Field(
        description="last line with `progress` of its command: run, iterations, flop or phase"
    )
    result: dict[str, Any] | None = Field(
        description="what the command printed with --json; in the answer about one job only"
    )


class Order(BaseModel):
    """What to do with a job."""

    order: Literal["pause", "resume", "cancel"]


def owner_only(settings: Settings) -> Any:
    """Return a dependency that refuses requests to a public server."""

    def check() -> None:
        if settings.is_public:
            raise ForbiddenError("this server is public: it plays and shows, but computes nothing")

    return Depends(check)


def job_router(store: JobStore) -> APIRouter:
    """Return the part of the API that computes."""
    router = APIRouter(prefix="/api", tags=["jobs"], dependencies=[owner_only(store.settings)])

    @router.get("/jobs")
    def list_jobs() -> list[Job]:
        """List all jobs, the newest first."""
        return [_job(store, record) for record in store.listing()]

    @router.post("/jobs", status_code=201)
    def create_job(request: AnyRequest) -> Job:
        """Queue a job; refused with the reason if it is invalid or does not fit into memory."""
        return _job(store, store.create(request))

    @router.get("/jobs/{identity}")
    def show_job(identity: str) -> Job:
        """Show a job with its progress and, when it is done, its result."""
        return _job(store, store.get(identity), with_result=True)

    @router.post("/jobs/{identity}")
    def order_job(identity: str, order: Order) -> Job:
        """Pause, resume or cancel a job; pausing saves at a consistent point."""
        record = getattr(store, order.order)(identity)
        return _job(store, record)

    @router.delete("/jobs/{identity}", status_code=204)
    def remove_job(identity: str) -> None:
        """Forget a job that has ended; the folder of its result stays."""
        store.remove(identity)

    @router.get("/jobs/{identity}/events", response_class=StreamingResponse)
    async def follow_job(
        request: Request,
        identity: str,
        after: Annotated[int, Query(ge=0, description="offset of the first line")] = 0,
        last_event_id: Annotated[str, Header()] = "",
    ) -> StreamingResponse:
        """Follow a job by server-sent events.

        They are `progress` and `line` of its command, and `job` when it has changed. The identity
        of an event is where a connection that was lost continues.
        """
        store.get(identity)
        is_offset = last_event_id.isdecimal() and len(last_event_id) < 16
        offset = int(last_event_id) if is_offset else after
        stream = _events(request, store, identity, offset)
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    return router


def _job(store: JobStore, record: Record, *, with_result: bool = False) -> Job:
    request, is_over = record.request, record.state == "done"
    return Job(
        **dict(record),
        title=request.title,
        folder=request.folder,
        is_stopping=store.is_stopping(record.id),
        command=_command_text(request),
        progress=store.progress(record.id),
        result=store.result(record.id) if with_result and is_over else None,
    )


def _command_text(request: AnyRequest) -> str:
    """Return the command of a request as people would type it; empty if its folder is gone."""
    try:
        words = [word for word in request.command() if word not in ("--json", "--resume")]
    except EquilibristError:
        return ""
    pairs = [word.split("=", 1) if word.startswith("--") else [word] for word in words]
    return shlex.join(["equilibrist", *(part for pair in pairs for part in pair)])


async def _events(
    request: Request, store: JobStore, identity: str, offset: int
) -> AsyncIterator[str]:
    """Yield the lines of a job's log and its changes, until the reader has gone."""
    path, seen, silent, is_last = store.place(identity) / LOG, -1, 0.0, False
    while not (is_last or await request.is_disconnected()):
        is_last = store.is_closing
        lines, offset = await asyncio.to_thread(read_lines, path, offset)
        for line in lines:
            kind = "line" if progress_of(line) is None else "progress"
            data = line if kind == "progress" else json.dumps(line)
            yield f"event: {kind}\ndata: {data}\n\n"
        if lines:
            yield f"id: {offset}\nevent: offset\ndata: {offset}\n\n"
            silent = 0.0
        try:
            if (now := store.change(identity)) != seen:
                seen, silent = now, 0.0
                job = await asyncio.to_thread(lambda: _job(store, store.get(identity)))
                yield f"event: job\ndata: {job.model_dump_json()}\n\n"
        except NotFoundError:  # it was removed
            return
        if not (lines or is_last):
            await asyncio.sleep(_LOOK)
            silent += _LOOK
            if silent >= _BEAT:
                silent = 0.0
                yield ": still here\n\n"
