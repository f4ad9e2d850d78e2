"""Connection to a Ray cluster: one that runs already, or one on this machine.

Ray prints about nodes that come and go, also on stdout; a program that prints results of its own
must not let it. Nothing is reported to Ray's makers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from equilibrist.errors import InvalidValueError, NetworkError
from equilibrist.phases import phase
from equilibrist.version import __version__

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_REACH_SECONDS = 5.0
# How HTTP/2 begins, which Ray's servers speak: the client's greeting, and frames of a type.
_FRAME, _SETTINGS = 9, 4  # bytes of a frame's header; type of the first frame of either side
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0])
_ANSWER_SECONDS = 90.0  # of a busy node that has to start a process; a dead one is found sooner
_DEFAULTS = {  # of Ray's environment
    "RAY_worker_niceness": "0",  # workers sweep as fast as threads would
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Node(NamedTuple):
    """A machine of the cluster."""

    id: str
    name: str  # its address
    cores: int


def load_ray() -> Any:
    """Import Ray; raise `InvalidValueError` that says how to install it."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise InvalidValueError(
            "the engine ray needs the package ray: pip install 'equilibrist[cluster]'"
        ) from None
    return ray


@contextlib.contextmanager
def connected(address: str | None = None, threads: int | None = None) -> Iterator[None]:
    """Connect to the cluster at `HOST:PORT`, or start one on this machine.

    `threads` is the number of cores of a cluster that is started (default: all).

    A connection that the program has already is used and stays. Raises `NetworkError` if there is
    no cluster, or one of its nodes has another version of this package.
    """
    place = None if address in (None, "auto") else parsed_address(str(address))
    ray = load_ray()
    own = not ray.is_initialized()
    if own:
        if place is not None:
            _check_reachable(*place)
        with phase("connecting to Ray" if address else "starting Ray"):
            _start(ray, address, threads)
    try:
        check_versions()
        yield
    finally:
        if own:
            ray.shutdown()


def nodes() -> list[Node]:
    """Return the nodes of the cluster that Ray believes alive and that have cores."""
    found = []
    for entry in load_ray().nodes():
        cores = int(entry["Resources"].get("CPU", 0))
        if entry["Alive"] and cores:
            found.append(Node(entry["NodeID"], entry["NodeManagerAddress"], cores))
    return sorted(found)


def on_node(node: Node) -> dict[str, Any]:
    """Return options of Ray that place a task or an actor on a node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    strategy = NodeAffinitySchedulingStrategy(node.id, soft=False)
    return {"num_cpus": 0, "scheduling_strategy": strategy}


def ask(where: Sequence[Node], function: Any, *arguments: Any) -> dict[Node, Any]:
    """Run a function on nodes; return the answers of those that answer in time."""
    ray = load_ray()
    task = ray.remote(function)
    waiting = {
        task.options(**on_node(node), max_retries=0).remote(*arguments): node for node in where
    }
    ready, late = ray.wait(list(waiting), num_returns=len(waiting), timeout=_ANSWER_SECONDS)
    for reference in late:
        with contextlib.suppress(ray.exceptions.RayError, ValueError):
            ray.cancel(reference, force=True)
    found = {}
    for reference in ready:
        with contextlib.suppress(ray.exceptions.RayError):
            found[waiting[reference]] = ray.get(reference)
    return found


def own_version() -> str:
    """Return the version of this package, and the fingerprint of its sources."""
    digest, package = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)}\0".encode())
        digest.update(path.read_bytes())
    return f"{__version__} (sources {digest.hexdigest()[:12]})"


def check_versions() -> None:
    """Raise `NetworkError` unless all nodes have this version of the package."""

    def version() -> str:  # a local function is sent to the node itself, not only its name
        try:
            from equilibrist.cluster.connection import own_version
        except ImportError as error:
            return f"none that can be imported ({error})"
        return own_version()

    there, ours = nodes(), own_version()
    with phase("asking the nodes for their version"):
        found = ask(there, version)
    check_answers({node.name: found.get(node) for node in there}, ours)


def check_answers(found: Mapping[str, str | None], ours: str) -> None:
    """Raise `NetworkError` unless all nodes, by name, have our version.

    Example:
        >>> check_answers({"10.0.0.5": "1.0"}, "1.1")
        Traceback (most recent call last):
        ...
        equilibrist.errors.NetworkError: node 10.0.0.5 has the version 1.0 of equilibrist and this
        machine 1.1; install the same on every node
    """
    if not found:
        raise NetworkError("the Ray cluster has no node with cores; start one with `ray start`")
    for name, theirs in found.items():
        if theirs is None:
            raise NetworkError(f"node {name} of the Ray cluster does not answer", value=name)
        if theirs != ours:
            raise NetworkError(
                f"node {name} has the version {theirs} of equilibrist and this machine {ours}; "
                "install the same on every node",
                value=name,
            )


def parsed_address(address: str) -> tuple[str, int]:
    """Return the host and the port of an address.

    Example:
        >>> parsed_address("10.0.0.1:6379"), parsed_address("[::1]:6379")
        (('10.0.0.1', 6379), ('::1', 6379))
    """
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[2]) < 2**16:
        raise InvalidValueError(
            "the address of a Ray cluster is HOST:PORT, as `ray start --head` prints it, not "
            f"{address[:60]!r}",
            value=address,
        )
    return found[1].strip("[]"), int(found[2])


def _check_reachable(host: str, port: int) -> None:
    """Raise `NetworkError` unless a server of Ray answers; Ray itself would try for minutes."""
    try:
        with socket.create_connection((host, port), _REACH_SECONDS) as stream:
            stream.sendall(_GREETING)
            answer = stream.recv(_FRAME, socket.MSG_WAITALL)
        if len(answer) < _FRAME or answer[3] != _SETTINGS:
            raise OSError("what listens there is not Ray")
    except OSError as error:
        reason = error.strerror or str(error)
        raise NetworkError(
            f"cannot reach a Ray cluster at {host}:{port}: {reason}; start one with "
            "`ray start --head`, or leave out the address",
            value=f"{host}:{port}",
        ) from None


def _start(ray: Any, address: str | None, threads: int | None) -> None:
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if is_main else None
    where = {"address": address} if address else {"num_cpus": threads, "include_dashboard": False}
    try:
        ray.init(**where, logging_level="fatal", log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address == "auto" and isinstance(error, ConnectionError):
            raise NetworkError(
                "no Ray cluster runs on this machine; start one with `ray start --head`, or leave "
                "out the address",
                value=address,
            ) from None
        reason = " ".join(str(error).split()) or type(error).__name__
        raise NetworkError(
            f"cannot connect to a Ray cluster at {address or 'this machine'}: {reason[:300]}",
            value=address,
        ) from None
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, handler)
    _silence()


def _silence() -> None:
    """Keep off stdout what Ray prints there about lost nodes; it has no setting for this."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None
