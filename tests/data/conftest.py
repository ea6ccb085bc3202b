"""A web server on the loopback interface, and settings as on a fresh machine."""

import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from loopback import BODY, Web, good

from reproduction.data.fetch import fetch
from reproduction.data.transport import Network


@pytest.fixture
def web(monkeypatch, fresh_machine):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            site.hits[self.path] += 1
            site.logins.append(self.headers.get("Authorization", ""))
            site.routes.get(self.path, good(b"not here", 404))(self)

        def log_message(self, *_):
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
def fresh_machine(monkeypatch):
    """pip and our variables as on a fresh machine without an index; a test sets what it needs."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "NOISYLABELS_")):
            monkeypatch.delenv(name)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def network(fresh_machine, monkeypatch):
    """Impatient: no test waits for long."""
    monkeypatch.setattr("reproduction.data.transport.time", SimpleNamespace(sleep=lambda seconds: None))
    return Network(connect=1.0, read=0.2, attempts=3)


@pytest.fixture
def get(network, tmp_path):
    """Fetch a data set of a registry, "toy" if none is named, into a folder below ``raw``."""

    def get(registry, dataset="toy", at="", mirror="", network=network):
        out = tmp_path / "raw" / (at or dataset)
        return fetch(dataset, registry, out, replace(network, mirror=mirror))

    return get


@pytest.fixture
def mirror(tmp_path):
    """A folder with the file "toy"."""
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/toy").write_bytes(BODY)
    return str(tmp_path / "mirror")


@pytest.fixture
def checkout(tmp_path):
    """Just enough of a checkout for the command line."""
    (tmp_path / "config").mkdir()
    return tmp_path
