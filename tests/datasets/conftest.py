"""A web server on the loopback interface, and settings as on a fresh machine."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loopback import ROOT, Web, good

from reproduction.data.download import Network


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch, fresh_machine: None) -> Iterator[Web]:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.hits[self.path] += 1
            site.logins.append(self.headers.get("Authorization", ""))
            site.routes.get(self.path, good(b"not here", 404))(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Web(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    server.shutdown()
    server.server_close()


@pytest.fixture
def fresh_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip, npm and our own variables as on a fresh machine without an index; a test sets what it needs."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "NPM_", "npm_", "NOISYLABELS_")):
            monkeypatch.delenv(name)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def network(fresh_machine: None) -> Network:
    """Impatient: no test waits for long."""
    return Network(connect=1.0, read=0.2, attempts=3, pause=0.01)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Just enough of a checkout for the command line: a registry beside its schema."""
    schema = "workflow/schemas/datasets.schema.yaml"
    (tmp_path / schema).parent.mkdir(parents=True)
    (tmp_path / schema).write_text((ROOT / schema).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "config").mkdir()
    return tmp_path
