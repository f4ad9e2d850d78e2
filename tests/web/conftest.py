"""A server in this process, and a browser of its owner."""

import pytest
from fastapi.testclient import TestClient

from equilibrist.web.app import create_app
from equilibrist.web.settings import Settings

ADDRESS = "http://127.0.0.1:8000"
TOKEN = "token-of-the-test"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The served folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def serve(folder):
    """A function that starts a server and returns a client without a cookie."""
    running = []

    def serve(**settings):
        app = create_app(Settings(tables=folder / "tables", token=TOKEN, **settings))
        client = TestClient(app, base_url=ADDRESS, raise_server_exceptions=False)
        running.append(client.__enter__())
        return client

    yield serve
    for client in running:
        client.__exit__(None, None, None)


@pytest.fixture
def stranger(serve):
    """A client that has not seen the token."""
    return serve()


@pytest.fixture
def owner(stranger):
    """A client with the cookie of the owner."""
    assert stranger.get("/", params={"token": TOKEN}).status_code == 200
    return stranger


@pytest.fixture
def public(serve):
    """A visitor of a public server, who has loaded the page."""
    client = serve(is_public=True)
    assert client.get("/").status_code == 200
    return client
