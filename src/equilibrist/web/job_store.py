"""The jobs of a server: a queue of commands that run in processes of their own.

Every job has a folder: `job.json` with its request and state, `log` with what its command wrote on
stderr (progress as lines of JSON, see `cli/supervised.py`), and `result.json` with its result. The
log is all that the page needs to draw the progress, so it survives the server. A job that was
running when its server ended is queued again by the next one, and its command continues from its
last checkpoint.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from equilibrist.errors import EquilibristError, InvalidValueError, StorageError
from equilibrist.storage.output_file import write_output
from equilibrist.storage.regular_file import read_regular
from equilibrist.web.errors import ConflictError, NotFoundError, SavingError
from equilibrist.web.identity import is_identity, new_identity
from equilibrist.web.job_requests import AnyRequest
from equilibrist.web.settings import Settings

_LOG = logging.getLogger(__name__)
RECORD, LOG, RESULT = "job.json", "log", "result.json"
_MOST_RECORD, _MOST_RESULT = 1 << 20, 1 << 24  # bytes that are read
_TAIL = 1 << 14  # bytes at the end of a log in which its last lines are looked for
_PATIENCE = 10.0  # seconds until a command that is cancelled is ended at once
_FAREWELL = 5.0  # seconds that commands have to save when the server ends
_STOPPED = (130, 143, 129)  # exit codes of a command that a signal ended
_HOW_TO_GO_ON = "; run the same command"  # the page has a button for that
_OWN = "equilibrist: "  # opens the sentence with which a command refuses or fails

State: TypeAlias = Literal["waiting", "running", "paused", "cancelled", "done", "failed"]
_ENDED = ("paused", "cancelled", "done", "failed")


class Record(BaseModel):
    """What is stored of a job."""

    id: str
    request: AnyRequest
    state: State
    created: float = Field(description="seconds since 1970")
    queued: float = Field(description="when it was last queued")
    started: float | None = Field(default=None, description="when its command last began")
    ended: float | None = None
    seconds: float = Field(default=0.0, description="for which its command ran")
    message: str = Field(default="", description="why it failed, or what to know of how it ended")


@dataclass(eq=False)
class _Job:
    """A job in memory, with its process while it runs."""

    record: Record
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    wanted: State | None = None  # the state that its command was told to end for
    change: int = 0  # counts the states, for those who watch

    @property
    def path(self) -> Path:
        return self.folder / RECORD


@dataclass(eq=False)
class JobStore:
    """Jobs by identity, and the queue of those that wait."""

    settings: Settings
    _jobs: dict[str, _Job] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _is_closing: bool = False

    def open(self) -> None:
        """Read the stored jobs, and queue those that were running."""
        if not self.settings.jobs.is_dir():
            return
        with self._lock:
            for path in self.settings.jobs.glob(f"*/{RECORD}"):
                if not is_identity(path.parent.name):
                    continue
                try:
                    record = Record.model_validate_json(read_regular(path, _MOST_RECORD))
                    if record.id != path.parent.name:
                        raise StorageError(f"{path} names another job")
                    _ = record.request.folder  # its bot may have left the catalogue
                except (OSError, ValidationError, EquilibristError) as error:
                    _LOG.error("%s cannot be read: %s", path, error)
                    continue
                job = self._jobs[record.id] = _Job(record, path.parent)
                if record.state == "running":
                    self._set(job, state="waiting")
            self._begin_next()

    def end(self) -> None:
        """Begin no more jobs, and let those who follow one go."""
        self._is_closing = True

    def close(self) -> None:
        """Let the commands save and end; the jobs continue with the next server."""
        with self._lock:
            self.end()
            running = [job.process for job in self._jobs.values() if job.process is not None]
        for process in running:
            _let_go(process)
        until = time.monotonic() + _FAREWELL
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))

    # --- what the page asks for -------------------------------------------------------------------

    def create(self, request: AnyRequest) -> Record:
        """Queue a job; raise an error if it is invalid or the queue is full."""
        request.check()
        with self._lock:
            self._check_free(request)
            now, identity = time.time(), new_identity()
            record = Record(id=identity, request=request, state="waiting", created=now, queued=now)
            job = _Job(record, self.settings.jobs / identity)
            try:
                job.folder.mkdir(parents=True)
            except OSError as error:
                reason = f"cannot use {job.folder}: {error.strerror}"
                raise StorageError(reason, value=str(job.folder)) from None
            self._set(job)
            self._jobs[identity] = job
            self._begin_next()
            return job.record

    def listing(self) -> list[Record]:
        """Return all jobs, the newest first."""
        with self._lock:
            records = [job.record for job in self._jobs.values()]
        return sorted(records, key=lambda record: -record.created)

    def get(self, identity: str) -> Record:
        """Return a job."""
        return self._job(identity).record

    def place(self, identity: str) -> Path:
        """Return the folder of a job."""
        return self._job(identity).folder

    def pause(self, identity: str) -> Record:
        """Let a running command save and end; take a waiting job out of the queue."""
        return self._stop(identity, "paused")

    def cancel(self, identity: str) -> Record:
        """End a job like `pause`, but at once if its command takes long to save."""
        record, job = self._stop(identity, "cancelled"), self._job(identity)
        if job.process is not None:
            timer = threading.Timer(_PATIENCE, _interrupt, [job.process])
            timer.daemon = True
            timer.start()
        return record

    def resume(self, identity: str) -> Record:
        """Queue a job again that was paused or cancelled or has failed."""
        with self._lock:
            job = self._job(identity)
            if job.record.state not in ("paused", "cancelled", "failed"):
                raise ConflictError(f"this job is {job.record.state}; only stopped jobs resume")
            self._check_free(job.record.request)
            self._set(job, state="waiting", queued=time.time(), ended=None, message="")
            self._begin_next()
            return job.record

    def remove(self, identity: str) -> None:
        """Forget a job that has ended; what it computed stays."""
        with self._lock:
            job = self._job(identity)
            if job.record.state not in _ENDED or job.process is not None:
                raise ConflictError(f"this job is {job.record.state}; cancel it first")
            shutil.rmtree(job.folder, ignore_errors=True)
            del self._jobs[identity]

    # --- what its command says --------------------------------------------------------------------

    def progress(self, identity: str) -> dict[str, Any] | None:
        """Return the last progress that a job's command reported, None before the first."""
        for line in reversed(_last_lines(self.place(identity) / LOG)):
            if (found := progress_of(line)) is not None:
                return found
        return None

    def result(self, identity: str) -> dict[str, Any] | None:
        """Return what a job's command printed as JSON; None if it has not ended."""
        try:
            found = json.loads(read_regular(self.place(identity) / RESULT, _MOST_RESULT))
        except (OSError, ValueError, RecursionError, StorageError):
            return None
        return found if isinstance(found, dict) else None

    # --- the queue --------------------------------------------------------------------------------

    def _job(self, identity: str) -> _Job:
        with self._lock:
            if identity not in self._jobs:
                raise NotFoundError(f"there is no job {identity[:40]!r} here", value=identity)
            return self._jobs[identity]

    def _check_free(self, request: AnyRequest) -> None:
        """Raise an error if the queue is full, or another job works on the same folder."""
        busy = [job for job in self._jobs.values() if job.record.state in ("waiting", "running")]
        if any(job.record.request.folder == request.folder for job in busy):
            raise ConflictError(
                f"another job works on {request.folder}; wait until it ends, or cancel it"
            )
        if len(busy) >= self.settings.most_jobs:
            raise InvalidValueError(
                f"{len(busy)} jobs are waiting or running, the most of this server; wait, or "
                "cancel one",
                value=len(busy),
            )

    def _set(self, job: _Job, **fields: Any) -> None:
        """Change a job, on disk first."""
        record = job.record.model_copy(update=fields)
        try:
            write_output(job.path, record.model_dump_json(indent=1) + "\n")
        except StorageError as error:  # the disk is full, or the folder is gone
            raise SavingError(str(error), value=error.value) from None
        job.record, job.change = record, job.change + 1

    def _begin_next(self) -> None:
        """Start the commands of jobs that wait, as many as may run at once."""
        with self._lock:
            while not self._is_closing:
                jobs = self._jobs.values()
                waiting = [job for job in jobs if job.record.state == "waiting"]
                running = sum(job.process is not None for job in jobs)
                if not waiting or running >= self.settings.most_running:
                    return
                self._begin(min(waiting, key=lambda job: job.record.queued))

    def _begin(self, job: _Job) -> None:
        job.wanted = None
        try:
            self._set(job, state="running", started=time.time(), ended=None, message="")
            job.process = self._start(job)
        except (OSError, EquilibristError) as error:
            self._note_end(job, state="failed", ended=time.time(), message=str(error))
            return
        threading.Thread(target=self._wait, args=(job, job.process), daemon=True).start()

    def _start(self, job: _Job) -> subprocess.Popen[bytes]:
        """Start the process of a job."""
        command = [sys.executable, "-m", "equilibrist.web.worker", str(job.folder.resolve())]
        command += job.record.request.command()
        if self.settings.threads is not None:
            command.append(f"--threads={self.settings.threads}")
        environment = os.environ | {"EQUILIBRIST_PROGRESS": "json", "EQUILIBRIST_PATIENCE": "0.5"}
        with open(job.folder / RESULT, "wb") as out, open(job.folder / LOG, "ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=log, env=environment,
                start_new_session=True,  # Ctrl-C in the server's terminal reaches it once, by us
            )  # fmt: skip

    def _wait(self, job: _Job, process: subprocess.Popen[bytes]) -> None:
        """Wait for the end of a command, and record it."""
        code = process.wait()
        with self._lock:
            job.process = None
            if process.stdin is not None:
                process.stdin.close()
            if self._is_closing:
                return
            now = time.time()
            state, message = self._ending(job, code)
            seconds = job.record.seconds + now - (job.record.started or now)
            self._note_end(job, state=state, ended=now, seconds=seconds, message=message)
            self._begin_next()

    def _note_end(self, job: _Job, **fields: Any) -> None:
        """Change a job that has ended, if need be in memory only."""
        try:
            self._set(job, **fields)
        except SavingError as error:
            _LOG.error("%s", error)
            job.record, job.change = job.record.model_copy(update=fields), job.change + 1

    def _ending(self, job: _Job, code: int) -> tuple[State, str]:
        """Return the state after a command has ended, and what to know about it."""
        lines = _last_lines(job.folder / LOG)
        said = [line.removeprefix(_OWN) for line in lines if line.startswith(_OWN)]
        last = said[-1].partition(_HOW_TO_GO_ON)[0] if said else ""
        if code == 0:
            return "done", ""
        if job.wanted is not None:
            return job.wanted, last
        if code in _STOPPED:
            return "paused", last or "a signal stopped it"
        if code < 0:
            return "failed", f"its process was ended by {signal.Signals(-code).name}"
        return "failed", last or f"its command ended with code {code}; the log says more"

    def _stop(self, identity: str, state: State) -> Record:
        with self._lock:
            job = self._job(identity)
            if job.record.state == "waiting" or (
                state == "cancelled" and job.record.state == "paused"
            ):
                self._set(job, state=state, ended=time.time())
            elif job.process is not None:
                if job.wanted is None:
                    _interrupt(job.process)
                job.wanted = state
                job.change += 1
            elif job.record.state != state:
                raise ConflictError(f"this job is {job.record.state} and does not run")
            return job.record

    @property
    def is_closing(self) -> bool:
        """Return whether the server is about to end."""
        return self._is_closing

    def change(self, identity: str) -> int:
        """Return a number that is another one whenever a job has changed."""
        return self._job(identity).change

    def is_stopping(self, identity: str) -> bool:
        """Return whether a job's command was told to end and still runs."""
        job = self._job(identity)
        return job.process is not None and job.wanted is not None


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Send Ctrl-C; a second one ends the command at once."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the stdin of a worker, which then ends as if the server were gone."""
    stdin: IO[bytes] | None = process.stdin
    if stdin is not None:
        with contextlib.suppress(OSError):
            stdin.close()


def progress_of(line: str) -> dict[str, Any] | None:
    """Return a line of a log as progress; None for a text.

    Example:
        >>> progress_of('{"progress": "flop", "number": 1}'), progress_of("preparing …")
        ({'progress': 'flop', 'number': 1}, None)
    """
    if not line.startswith('{"progress"'):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_lines(path: Path, offset: int, most: int = 1 << 16) -> tuple[list[str], int]:
    """Return the whole lines of a log from an offset on, and the offset behind them."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            data = file.read(most)
    except OSError:
        return [], offset
    end = data.rfind(b"\n") + 1
    if end == 0 and len(data) == most:  # a line that is too long is no progress
        return [], offset + most
    lines = data[:end].decode(errors="replace").splitlines()
    return lines, offset + end


def _last_lines(path: Path) -> list[str]:
    try:
        size = path.stat().st_size
    except OSError:
        return []
    return read_lines(path, max(0, size - _TAIL), _TAIL)[0]
