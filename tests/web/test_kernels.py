"""Turns: one thread computes, few wait, and whoever comes later is told so."""

import threading
import time

import pytest

from equilibrist.web import kernels, strategies
from equilibrist.web.errors import BusyError
from equilibrist.web.kernels import KERNELS, Turn


def holding(turn, until):
    """Return a thread that takes a turn and holds it until an event, and an event: it has it."""
    has_it = threading.Event()

    def hold():
        with turn:
            has_it.set()
            until.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    return thread, has_it


def test_few_wait_for_a_turn_and_others_are_refused():
    turn, until = Turn(most_waiting=1), threading.Event()
    first, has_it = holding(turn, until)
    assert has_it.wait(60)
    second, waited = holding(turn, until)
    while turn._places.acquire(blocking=False):  # the second does not wait yet
        turn._places.release()
    with pytest.raises(BusyError), turn:
        pass
    assert not waited.is_set()
    until.set()
    for thread in (first, second):
        thread.join(60)
    with turn, turn:  # the places are free again, and a thread may take its turn twice
        pass


def test_a_question_that_would_wait_too_long_is_answered_at_once(owner, monkeypatch):
    until = threading.Event()
    monkeypatch.setattr(strategies, "KERNELS", Turn(most_waiting=0))
    thread, has_it = holding(strategies.KERNELS, until)
    assert has_it.wait(60)
    answer = owner.get("/api/strategy", params={"name": "uniform"})
    assert (answer.status_code, "busy" in answer.json()["error"]) == (503, True)
    table = owner.post("/api/tables", json={"player": "uniform", "game": "kuhn"})
    assert table.status_code == 201  # tables take no turn
    until.set()
    thread.join(60)
    assert owner.get("/api/strategy", params={"name": "uniform"}).status_code == 200


def test_questions_use_as_many_threads_as_the_server_is_given(serve, monkeypatch):
    used = []
    monkeypatch.setattr(kernels, "use_threads", lambda threads: used.append(threads))
    for threads in (None, 1):
        client = serve(threads=threads)
        client.get("/", params={"token": "token-of-the-test"})
        assert client.get("/api/strategy", params={"name": "uniform"}).status_code == 200
        assert set(used) == ({threads} if threads else set())
        table = client.post("/api/tables", json={"player": "uniform", "game": "kuhn"}).json()
        used.clear()
        while client.get(f"/api/tables/{table['id']}/luck").json()["state"] == "working":
            time.sleep(0.01)
        assert used == ([threads] if threads else [])


def test_a_strategy_in_memory_is_found_while_another_one_is_opened(owner):
    params = {"name": "uniform"}
    first = owner.get("/api/strategy", params=params)
    until = threading.Event()
    thread, has_it = holding(KERNELS, until)
    assert has_it.wait(60)
    assert owner.get("/api/strategy", params=params).json() == first.json()
    until.set()
    thread.join(60)
