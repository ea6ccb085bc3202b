"""Answers of a web server that misbehaves on request, and registries of one small data set."""

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
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import yaml

from reproduction.data.registry import Entry

ROOT = Path(__file__).parents[2]

BODY = bytes(range(256)) * 400
PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"

Answer = Callable[[BaseHTTPRequestHandler], None]


def good(body, status=200, kind="application/octet-stream", claim=None):
    """The body; ``claim`` is the Content-Length that is announced (then the connection is closed)."""

    def answer(request):
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body) if claim is None else claim))
        request.end_headers()
        request.wfile.write(body)
        request.close_connection = True

    return answer


def redirect(to):
    def answer(request):
        request.send_response(302)
        request.send_header("Location", to)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def slow(body, pause, pieces=10):
    """The body in pieces with a pause before each."""

    def answer(request):
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        step = -(-len(body) // pieces)
        try:
            for start in range(0, len(body), step):
                time.sleep(pause)
                request.wfile.write(body[start : start + step])
        except OSError:  # the client gave up
            request.close_connection = True

    return answer


def endless(status=200, **headers):
    """Bytes until the client has enough, without a Content-Length."""

    def answer(request):
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                request.wfile.write(bytes(1 << 16))

    return answer


def one_after_the_other(*answers):
    """A different answer each time, the last one for ever."""
    left = list(answers)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


@dataclass
class Web:
    url: str
    routes: dict[str, Answer] = field(default_factory=dict)
    hits: Counter[str] = field(default_factory=Counter)
    logins: list[str] = field(default_factory=list)

    def serve(self, path, answer):
        self.routes[path] = good(answer) if isinstance(answer, bytes) else answer
        return self.url + path


def files(folder):
    """Names in a folder; none if it is not there."""
    return {path.name for path in folder.glob("*")} if folder.is_dir() else set()


def make_tar(path, *members):
    """Members are bytes, or the attributes of a special one."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            info, plain = tarfile.TarInfo(name), isinstance(content, bytes)
            for key, value in ({"size": len(content)} if plain else content).items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content) if plain else None)
    return path


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def one_file(*places, body, **more):
    """Registry with the data set "toy": one file, to be had from each of the places in turn."""
    known = {} if body is None else {"sha256": sha256(body), "bytes": len(body)}
    kinds = {"url": "official", "path": "mirror", "package": "package"}
    entry = {"title": "Toy", "task": "binary", "homepage": "https://example.org/", "loader": "toy:toy"}
    entry["sources"] = [
        {"name": name, "files": [{"name": "toy.data"} | known | place]}
        for place in places for name in [kinds[next(key for key in place if key in kinds)]]
    ]  # fmt: skip
    return {"toy": Entry.model_validate(entry | more)}


def command(checkout, registry, *more):
    """Arguments of Popen for `fetch.py --dataset toy`."""
    config = checkout / "config" / "datasets.yaml"
    entries = {name: entry.model_dump(mode="json", exclude_defaults=True) for name, entry in registry.items()}
    config.write_text(yaml.safe_dump({"packages": {}, "datasets": entries}), encoding="utf-8")
    script = [sys.executable, ROOT / "src/scripts/fetch.py", "--dataset", "toy", "--registry", config]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    args = [str(part) for part in [*script, "--out", checkout / "raw/toy", *more]]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return {"args": args, "env": environment, "text": True} | pipes
