"""A web server on this machine that misbehaves on request, and registries of one small data set."""

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

from reproduction.data.registry import Entry

ROOT = Path(__file__).parents[2]

BODY = bytes(range(256)) * 400
PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"

Answer = Callable[[BaseHTTPRequestHandler], None]


def answer(body=b"", status=200, *, claim=None, pause=0.0, pieces=1, endless=False, **headers):
    """Answer with the body in pieces and a pause before each, for ever if ``endless``.

    The header claims the length ``claim``.
    """

    def respond(request):
        request.send_response(status)
        length = {} if endless else {"Content-Length": len(body) if claim is None else claim}
        for name, value in (headers | length | {"Connection": "close"}).items():
            request.send_header(name, str(value))
        request.end_headers()
        step = -(-len(body) // pieces) or 1
        with contextlib.suppress(OSError):  # the client gave up
            for start in range(0, len(body), step):
                time.sleep(pause)
                request.wfile.write(body[start : start + step])
            while endless:
                request.wfile.write(bytes(1 << 16))

    return respond


class Web(ThreadingHTTPServer):
    """Paths with what they answer; counts the requests, and stores the logins that they have."""

    daemon_threads = True

    def __init__(self):
        self.routes: dict[str, list[Answer]] = {}
        self.hits = Counter()
        self.logins = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def serve(self, path, *answers):
        """One answer (or body) after the other, the last one for ever; the URL."""
        self.routes[path] = []
        for content in answers:
            is_body = isinstance(content, bytes)
            self.routes[path].append(answer(content) if is_body else content)
        return self.url + path


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server
        site.hits[self.path] += 1
        site.logins.append(self.headers.get("Authorization", ""))
        left = site.routes.get(self.path, [answer(b"not here", 404)])
        (left.pop(0) if len(left) > 1 else left[0])(self)

    def log_message(self, *_):
        pass


def files(folder):
    """Names in a folder; none if it is not there."""
    return {path.name for path in folder.glob("*")}


def make_tar(path, *members):
    """Members are bytes, or the attributes of a special one."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            plain = isinstance(content, bytes)
            for key, value in ({"size": len(content)} if plain else content).items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content) if plain else None)
    return path


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def one_file(*addresses, body, **options):
    """Registry with the data set "toy": one file, to be had from each of the addresses in turn."""
    declared = {} if body is None else {"sha256": sha256(body), "bytes": len(body)}
    kinds = {"url": "official", "path": "mirror", "package": "package"}
    sources = []
    for address in addresses:
        (kind,) = [kinds[key] for key in address if key in kinds]
        file = {"name": "toy.data"} | declared | address
        sources.append({"name": kind, "files": [file]})
    entry = {
        "title": "Toy",
        "task": "binary",
        "homepage": "https://example.org/",
        "loader": "toy:toy",
    }
    return {"toy": Entry.model_validate(entry | {"sources": sources} | options)}


def command(folder, registry, *options):
    """Arguments of Popen for `fetch.py --dataset toy`."""
    config = folder / "datasets.yaml"
    entries = {}
    for name, entry in registry.items():
        entries[name] = entry.model_dump(mode="json", exclude_defaults=True)
    config.write_text(yaml.safe_dump({"datasets": entries}), encoding="utf-8")
    script = [
        sys.executable,
        ROOT / "src/scripts/fetch.py",
        "--dataset",
        "toy",
        "--registry",
        config,
    ]
    args = [str(part) for part in [*script, "--out", folder / "raw/toy", *options]]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return {
        "args": args,
        "env": environment,
        "text": True,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
