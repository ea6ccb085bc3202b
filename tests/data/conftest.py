"""A web server on the loopback interface, and settings as on a fresh machine."""

import os
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from loopback import BODY, Web

from reproduction.data.fetch import fetch
from reproduction.data.transport import Network

collect_ignore = [] if os.environ.get("NOISYLABELS_MIRROR") else ["test_mirror.py"]


@pytest.fixture
def web(fresh_machine):
    with Web() as site:
        threading.Thread(target=site.serve_forever, args=(0.01,), daemon=True).start()
        yield site
        site.shutdown()


@pytest.fixture
def fresh_machine(monkeypatch):
    """Set pip, proxies and our variables as on a fresh machine without an index."""
    for name in list(os.environ):
        is_ours = name.startswith(("PIP_", "NOISYLABELS_"))
        if is_ours or name.lower().endswith(("_proxy", "_ca_bundle")):
            monkeypatch.delenv(name)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def network(fresh_machine, monkeypatch):
    """Impatient: no test waits for long, nor for pip to say in a process that it has no files."""
    clock = SimpleNamespace(sleep=lambda seconds: None)
    pip = SimpleNamespace(run=lambda *_, **__: SimpleNamespace(stdout=""))
    monkeypatch.setattr("reproduction.data.transport.subprocess", pip)
    monkeypatch.setattr("reproduction.data.transport.time", clock)
    return Network(connect=1.0, read=0.2, attempts=3)


@pytest.fixture
def get(network, tmp_path):
    """Fetch a data set of a registry, "toy" if none is named, into a folder below ``raw``."""

    def get(registry, dataset="toy", folder="", mirror="", network=network):
        out = tmp_path / "raw" / (folder or dataset)
        return fetch(dataset, registry, out, replace(network, mirror=mirror))

    return get


@pytest.fixture
def mirror(tmp_path):
    """A folder with the file "toy"."""
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/toy").write_bytes(BODY)
    return str(tmp_path / "mirror")
