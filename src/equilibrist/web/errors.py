"""Errors as JSON: one sentence under `error`, with the status that fits."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from equilibrist.errors import EquilibristError, StorageError, UnknownNameError

_LOG = logging.getLogger("equilibrist.web")


class NotFoundError(EquilibristError):
    """A table, hand or strategy that does not exist, or is not the sender's."""


class ForbiddenError(EquilibristError):
    """A request that a public server does not answer."""


class ConflictError(EquilibristError):
    """A request that was made for an earlier state, for example in another tab."""


class BusyError(EquilibristError):
    """A question that would wait behind too many others."""


class DamagedTableError(EquilibristError):
    """A table whose file cannot be read."""


class SavingError(EquilibristError):
    """A table that cannot be saved, for example because the disk is full."""


_STATUS = (
    (DamagedTableError, 410),
    (SavingError, 507),
    (BusyError, 503),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (UnknownNameError, 404),
    (ConflictError, 409),
    (StorageError, 404),  # for example a bot that is not trained
    (EquilibristError, 400),
)


def add_error_handlers(app: FastAPI) -> None:
    """Let an application answer every error with a sentence."""

    @app.exception_handler(EquilibristError)
    async def on_own(request: Request, error: EquilibristError) -> JSONResponse:
        status = next(status for kind, status in _STATUS if isinstance(error, kind))
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "the body"
        message = " ".join(first["msg"].split())  # it may quote what was sent
        return JSONResponse({"error": f"{place} is invalid: {message}"}, 422)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def on_other(request: Request, error: Exception) -> JSONResponse:
        _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        reason = "the server failed to answer; its terminal has the details"
        return JSONResponse({"error": reason}, 500)
