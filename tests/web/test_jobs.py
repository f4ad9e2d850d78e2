"""Jobs: requests, their commands as processes, the queue, and what survives."""

import json
import os
import signal
import time

import pytest
from fastapi.testclient import TestClient

from equilibrist.errors import StorageError
from equilibrist.web import job_store, jobs
from equilibrist.web.app import create_app
from equilibrist.web.job_requests import REQUESTS
from equilibrist.web.settings import Settings

RIVER = {
    "kind": "spot", "out": "river", "board": "Td9d6hQc2s", "oop": "AA,76s,54s", "ip": "KK",
    "pot": "200", "stack": "200", "bets": "a", "to": "1%",
}  # fmt: skip
LONG = RIVER | {"out": "long", "iterations": 10**9, "to": None}  # never ends by itself


def wait(client, job, *states, seconds=300.0):
    """Wait until a job is in one of the states; return it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = client.get(f"/api/jobs/{job['id']}").json()
        if found["state"] in states:
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def order(client, job, what):
    return client.post(f"/api/jobs/{job['id']}", json={"order": what})


def forget(client, job):
    headers = {"content-type": "application/json"}
    return client.request("DELETE", f"/api/jobs/{job['id']}", headers=headers)


def error(answer):
    assert list(answer.json()) == ["error"]
    return answer.json()["error"]


def wait_for_iterations(client, job, above=0):
    until = time.monotonic() + 300
    while time.monotonic() < until:
        progress = client.get(f"/api/jobs/{job['id']}").json()["progress"] or {}
        if progress.get("iteration", 0) > above:
            return progress
        time.sleep(0.05)
    raise AssertionError(progress)


def test_a_spot_is_solved_with_a_curve_and_listed(owner):
    job = owner.post("/api/jobs", json=RIVER)
    assert job.status_code == 201
    done = wait(owner, job.json(), "done", "failed")
    assert done["state"] == "done", done["message"]
    assert done["progress"]["progress"] == "iterations"
    assert done["result"]["exploitability"] == done["progress"]["points"][-1][2]
    assert done["result"]["outcome"] == "target_reached"
    assert done["command"].startswith("equilibrist spot --out river --oop AA,76s,54s")
    found = owner.get("/api/spots").json()["spots"]
    assert [spot["name"] for spot in found] == ["river"]
    assert found[0]["percent_of_pot"] == pytest.approx(done["result"]["percent_of_pot"])
    node = owner.get("/api/strategy", params={"name": "river"}).json()
    assert node["start_board"] == "Td9d6hQc2s"
    again = owner.get("/api/spots/form", params={"name": "river"}).json()
    assert again["board"] == "Td9d6hQc2s"
    assert (again["pot"], again["stack"], again["bets"]) == ("200", "200", "a")
    assert "exists here" in error(owner.post("/api/jobs", json=RIVER))
    more = owner.post("/api/jobs", json={"kind": "more", "name": "river", "to": "0.01%"}).json()
    assert wait(owner, more, "done", "failed")["result"]["percent_of_pot"] <= 0.01


def test_a_job_is_paused_resumed_and_cancelled_and_others_wait(owner, folder):
    first = owner.post("/api/jobs", json=LONG).json()
    second = owner.post("/api/jobs", json=RIVER).json()
    assert (first["state"], second["state"]) == ("running", "waiting")
    assert "another job works on long" in error(owner.post("/api/jobs", json=LONG))
    wait_for_iterations(owner, first)
    assert order(owner, first, "pause").status_code == 200
    paused = wait(owner, first, "paused")
    assert "saved in long" in paused["message"]
    assert wait(owner, second, "done")
    before = json.loads((folder / "long" / "manifest.json").read_text())["info"]["iterations"]
    assert order(owner, first, "resume").json()["state"] == "running"
    wait_for_iterations(owner, first, above=before)
    assert "cancel it first" in error(forget(owner, first))
    order(owner, first, "cancel")
    wait(owner, first, "cancelled")
    after = json.loads((folder / "long" / "manifest.json").read_text())["info"]["iterations"]
    assert after > before
    assert forget(owner, first).status_code == 204
    assert owner.get(f"/api/jobs/{first['id']}").status_code == 404
    assert (folder / "long").is_dir()
    assert len(owner.get("/api/jobs").json()) == 1


def test_events_have_the_whole_progress_and_continue_where_they_were_lost(owner):
    job = owner.post("/api/jobs", json=RIVER).json()
    wait(owner, job, "done")
    owner.app.state.jobs.end()  # the server is about to end, and the stream with it
    path = f"/api/jobs/{job['id']}/events"
    text = owner.get(path).text
    events = [block.splitlines() for block in text.strip().split("\n\n")]
    found = [
        (lines[-2].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: ")))
        for lines in events
    ]
    kinds = [kind for kind, _ in found]
    assert kinds[0] == "line" or found[0][1]["progress"] == "phase"
    assert kinds[-1] == "job"
    assert found[-1][1]["state"] == "done"
    points = [
        point for kind, data in found if kind == "progress" for point in data.get("points", ())
    ]
    iterations = [point[0] for point in points]
    assert iterations[0] == 20  # the first evaluation; the next ones are where the target may be
    assert iterations == sorted(set(iterations))
    last = text.rpartition("id: ")[2].partition("\n")[0]
    rest = owner.get(path, headers={"last-event-id": last}).text
    assert rest.count("event: ") == 1
    assert "event: job" in rest
    assert owner.get("/api/jobs/bfgjkmnpqrvwxyzbfgjk/events").status_code == 404


def test_wrong_requests_are_one_sentence_and_nothing_is_queued(owner, folder):
    (folder / "taken").mkdir()
    (folder / "list.txt").write_text("AsKd2c")
    (folder.parent / f"{folder.name}-other" / "turn").mkdir(parents=True)
    (folder / "link").symlink_to(folder.parent / f"{folder.name}-other")
    flops = {k: v for k, v in RIVER.items() if k != "board"} | {"kind": "flops"}
    wrong = [
        (RIVER | {"board": "Td9dTd"}, 400, "Td"),
        (RIVER | {"oop": "QQ+,Zz"}, 400, "not a hand"),
        (RIVER | {"out": "../x"}, 400, "name of a folder"),
        (RIVER | {"out": "-x"}, 400, "name of a folder"),
        (RIVER | {"out": "bots"}, 400, "name of a folder"),
        (RIVER | {"out": "taken"}, 404, "exists here"),
        (RIVER | {"game": "/etc/passwd"}, 404, "no game"),
        (RIVER | {"method": "x"}, 400, "method of a spot"),
        (RIVER | {"to": "0%"}, 400, "above zero"),
        (RIVER | {"lock": ["c: x=1"]}, 400, "not one of the actions"),
        (RIVER | {"pot": "x"}, 400, "amount"),
        (RIVER | {"more": 1}, 422, "invalid"),
        (flops | {"flops": "list.txt"}, 400, "not as the name of a file"),
        (flops | {"flops": "0"}, 400, "1 to 1,755"),
        ({"kind": "train", "bot": "nobody"}, 404, "no bot"),
        ({"kind": "train", "bot": "ectomynx", "to": "5mbb"}, 400, "has no target"),
        ({"kind": "exploit", "bot": "smallbot"}, 404, "not trained"),
        ({"kind": "exploit", "bot": "ectomynx"}, 400, "plays discard-holdem"),
        ({"kind": "more", "name": "../x", "to": "1%"}, 404, "no spot"),
        ({"kind": "more", "name": "taken", "to": "1%"}, 404, "manifest"),
        ({"kind": "more", "name": "link/turn", "to": "1%"}, 404, "no spot is called"),
        ({"kind": "solve", "out": "x", "game": "holdem-nolimit"}, 400, "cannot be solved here"),
        ({"kind": "shell", "command": "true"}, 422, "invalid"),
        ({}, 422, "invalid"),
    ]  # fmt: skip
    for body, status, words in wrong:
        answer = owner.post("/api/jobs", json=body)
        assert (answer.status_code, words in error(answer)) == (status, True), answer.text
    assert owner.get("/api/jobs").json() == []
    assert not (folder / "jobs").exists()


def test_values_cannot_become_options(owner):
    """A text that begins with a hyphen stays the value of its option."""
    request = REQUESTS.validate_python(RIVER | {"stack": "--help", "lock": ["--force"]})
    assert "--stack=--help" in request.command()
    assert "--lock=--force" in request.command()
    assert "--force" not in request.command()


def test_the_queue_is_limited(serve):
    client = serve(most_jobs=1)
    client.get("/?token=token-of-the-test")
    job = client.post("/api/jobs", json=LONG).json()
    assert "the most of this server" in error(client.post("/api/jobs", json=RIVER))
    order(client, job, "cancel")
    wait(client, job, "cancelled")


def test_a_command_that_refuses_is_a_failed_job_with_its_sentence(owner, folder):
    first = owner.post("/api/jobs", json=LONG).json()
    second = owner.post("/api/jobs", json=RIVER).json()
    (folder / "river").mkdir()
    (folder / "river" / "notes.txt").write_text("mine")
    order(owner, first, "cancel")
    failed = wait(owner, second, "failed", "done")
    assert (failed["state"], "river" in failed["message"]) == ("failed", True)
    assert (folder / "river" / "notes.txt").read_text() == "mine"


def test_a_job_continues_with_the_next_server(folder):
    settings = Settings(tables=folder / "tables", jobs=folder / "jobs", token="token-of-the-test")

    def client():
        return TestClient(create_app(settings), base_url="http://127.0.0.1:8000")

    with client() as one:
        one.get("/?token=token-of-the-test")
        job = one.post("/api/jobs", json=LONG).json()
        wait_for_iterations(one, job)
    stored = json.loads((folder / "jobs" / job["id"] / "job.json").read_text())
    assert stored["state"] == "running"
    before = json.loads((folder / "long" / "manifest.json").read_text())["info"]["iterations"]
    damaged = folder / "jobs" / "bfgjkmnpqrvwxyzbfgjk"
    damaged.mkdir()
    (damaged / "job.json").write_text("{")
    with client() as two:
        two.get("/?token=token-of-the-test")
        assert [row["id"] for row in two.get("/api/jobs").json()] == [job["id"]]
        wait_for_iterations(two, job, above=before)
        order(two, job, "cancel")
        wait(two, job, "cancelled")


def test_a_command_that_is_killed_is_a_failed_job(owner):
    job = owner.post("/api/jobs", json=LONG).json()
    wait_for_iterations(owner, job)
    process = owner.app.state.jobs._job(job["id"]).process
    os.kill(process.pid, signal.SIGKILL)
    assert "SIGKILL" in wait(owner, job, "failed")["message"]
    assert order(owner, job, "resume").status_code == 200
    order(owner, job, "cancel")
    wait(owner, job, "cancelled")


def test_a_public_server_computes_nothing(public, folder):
    for answer in (
        public.get("/api/jobs"),
        public.get("/api/games"),
        public.post("/api/jobs", json=RIVER),
        public.post("/api/spots/forecast", json=RIVER),
        public.post("/api/range", json={"text": "random," * 2000}),
    ):
        assert answer.status_code == 403
        assert "computes nothing" in error(answer)
    assert public.get("/api/bots").status_code == 200
    assert public.get("/api/spots").json() == {"spots": [], "studies": []}


def test_a_whole_game_is_solved_and_can_be_browsed(owner):
    job = owner.post("/api/jobs", json={
        "kind": "solve", "game": "kuhn", "method": "lp", "out": "kuhn-solution", "to": "1e-6chips"
    })  # fmt: skip
    done = wait(owner, job.json(), "done", "failed")
    assert done["result"]["value"] == pytest.approx(-1 / 18, abs=1e-6)
    assert owner.get("/api/strategy", params={"name": "kuhn-solution"}).status_code == 200


def test_a_job_whose_folder_is_gone_has_no_command():
    request = REQUESTS.validate_python({"kind": "more", "name": "gone", "to": "0.1%"})
    assert jobs._command_text(request) == ""
    assert jobs._command_text(REQUESTS.validate_python(RIVER)).startswith("equilibrist spot --out")


def test_a_full_disk_is_said_and_a_process_that_cannot_start_is_a_failed_job(owner, monkeypatch):
    def no_memory(*arguments, **options):
        raise OSError(12, "Cannot allocate memory")

    def no_space(path, text):
        raise StorageError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(job_store.subprocess, "Popen", no_memory)
    failed = owner.post("/api/jobs", json=RIVER).json()
    assert (failed["state"], "Cannot allocate" in failed["message"]) == ("failed", True)
    monkeypatch.setattr(job_store, "write_output", no_space)
    answer = owner.post("/api/jobs", json=RIVER | {"out": "third"})
    assert (answer.status_code, "No space left" in error(answer)) == (507, True)
    assert [row["id"] for row in owner.get("/api/jobs").json()] == [failed["id"]]
