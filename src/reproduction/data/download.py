"""One file over HTTP: time-outs, retries, a progress bar, and a memory of hosts that do not answer."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reproduction.data.answers import check_answer, is_page
from reproduction.data.storage import SourceError, storage_errors, write_atomically

RUN = "NOISYLABELS_RUN"
"""Environment variable that names a run of the workflow; its processes share what they know about dead
hosts.
"""

CHUNK = 4096  # bytes
PAGE = 1 << 26  # bytes; no page of a package index is longer
LONG = 1_000_000  # bytes; announced where there is no terminal to draw a bar in
RETRIED = {408, 425, 429, 500, 502, 503, 504}
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT")


@dataclass
class Network:
    """How the network is used. Times in seconds; ``slowest`` in bytes per second, asked for after
    ``patience``; ``largest`` in bytes, the cap of a file whose length is not known.
    """

    offline: bool = False
    memory: Path | None = None
    connect: float = 5.0
    read: float = 30.0
    attempts: int = 3
    pause: float = 1.0
    patience: float = 30.0
    slowest: float = 1024.0
    largest: int = 1 << 30
    dead: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        run = os.environ.get(RUN)
        if self.memory is not None and run:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                known = json.loads(self.memory.read_text(encoding="utf-8"))
                self.dead |= known["hosts"] if known.get("run") == run else {}

    def check(self, url: str) -> None:
        """SourceError if the network must not be used, or the host of ``url`` did not answer earlier."""
        if self.offline:
            raise SourceError(f"{shown(url)}: not asked, offline mode")
        if host_of(url) in self.dead:
            raise SourceError(f"{shown(url)}: not asked again in this run ({self.dead[host_of(url)]})")

    def bury(self, url: str, reason: str) -> None:
        """Remember that the host of ``url`` does not answer."""
        self.dead[host_of(url)] = reason
        run = os.environ.get(RUN)
        if self.memory is not None and run:
            with contextlib.suppress(Exception):  # a read-only cache only costs another time-out
                self.memory.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self.memory, json.dumps({"run": run, "hosts": self.dead}))


def host_of(url: str) -> str:
    """Host and port of a URL, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def shown(url: str) -> str:
    """The URL as it may be printed: without user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=host_of(url)))


def certificates() -> str | bool:
    """File of the certificate authorities that the environment names; True for the usual ones."""
    return next((os.environ[name] for name in CERTIFICATES if os.environ.get(name)), True)


def download(
    url: str,
    to: Path,
    network: Network,
    size: int | None = None,
    options: Mapping[str, Any] | None = None,
    largest: int | None = None,
) -> None:
    """Put the body of ``url`` into the file ``to``; ``size`` is its expected length, if known.

    ``options`` are passed to requests (verify, cert, proxies). More than ``size`` bytes, or without a size
    ``largest`` (by default that of the network), are never written. Broken connections, time-outs and 5xx
    answers are tried again after a growing pause; a host that cannot be connected to is not.

    Raises
    ------
    SourceError : the file cannot be had from there.
    StorageError : ``to`` cannot be written.
    """
    most = size if size is not None else largest or network.largest
    keywords = {"verify": certificates(), **(options or {}), "timeout": (network.connect, network.read)}
    keywords["hooks"] = {"response": lambda answer, **_: check_answer(answer, shown(answer.url), most)}

    def once() -> None:
        from pooch import HTTPDownloader  # type: ignore[import-untyped]

        # No content encoding: a .gz must arrive as the .gz whose hash is known.
        plain = {"Accept-Encoding": "identity"}
        with contextlib.closing(_Sink(to, size, most, network)) as sink:
            HTTPDownloader(chunk_size=CHUNK, headers=plain, **keywords)(url, sink, None)

    attempt(url, network, once)


def page(url: str, network: Network, options: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
    """The answer of ``url`` with its body, of which no more than ``PAGE`` bytes are read.

    Raises
    ------
    SourceError : the page cannot be had from there, or is longer.
    """
    import requests

    def once() -> requests.Response:
        hooks = {"response": lambda answer, **_: check_answer(answer, shown(answer.url), PAGE)}
        timeout = (network.connect, network.read)
        answer = requests.get(
            url, timeout=timeout, headers=dict(headers), stream=True, hooks=hooks, **options
        )
        with answer:
            answer.raise_for_status()
            body = bytearray()
            for chunk in answer.iter_content(1 << 16):
                body += chunk
                if len(body) > PAGE:
                    raise SourceError(f"{shown(url)}: more than {PAGE} bytes for a page")
        answer._content = bytes(body)  # requests itself would read on to the end, wherever that is
        return answer

    return attempt(url, network, once)


def attempt(url: str, network: Network, request: Callable[[], Any]) -> Any:
    """The result of ``request``, tried again where that may help; SourceError says why it failed."""
    import requests
    from urllib3.exceptions import HTTPError

    network.check(url)
    for wait in [network.pause * 2**k for k in range(network.attempts - 1)] + [None]:
        try:
            return request()
        except requests.RequestException as error:
            problem, dead, passing = _diagnose(error, network)
            if dead:
                network.bury(url, problem)
            if not passing or wait is None:
                raise SourceError(f"{shown(url)}: {problem}") from None
            print(f"{shown(url)}: {problem}; trying again in {wait:.3g} s", file=sys.stderr, flush=True)
            time.sleep(wait)
        except (ValueError, HTTPError) as error:  # an address or a head that cannot be parsed
            reason = " ".join(str(error).split())[:200]
            raise SourceError(f"{shown(url)}: the answer makes no sense ({reason})") from None
    raise AssertionError("the last attempt returns or raises")


def _diagnose(error: Any, network: Network) -> tuple[str, bool, bool]:
    """What went wrong, whether the host is to be given up, and whether it may pass."""
    import requests
    from requests import exceptions
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", cause)
    if isinstance(error, requests.HTTPError) and error.response is not None:
        answer = error.response
        return (
            f"the server answers {answer.status_code} {(answer.reason or '')[:80]}".strip(),
            False,
            answer.status_code in RETRIED,
        )
    if isinstance(error, requests.TooManyRedirects):
        return "the server redirects in a circle", False, False
    if isinstance(error, exceptions.SSLError):
        return f"certificate refused ({reason}); SSL_CERT_FILE may name your authorities", True, False
    if isinstance(error, exceptions.ProxyError):
        return f"the proxy refuses ({reason})", True, False
    if isinstance(error, requests.ConnectTimeout):
        return f"no connection within {network.connect:.3g} s", True, False
    if isinstance(cause, MaxRetryError) and isinstance(reason, NewConnectionError):
        return "host unreachable", True, False
    if isinstance(error, requests.ReadTimeout) or "timed out" in str(error).lower():
        return f"no data for {network.read:.3g} s", False, True
    if isinstance(error, requests.ConnectionError | exceptions.ChunkedEncodingError):
        return "the connection broke before the end", False, True
    return f"{type(error).__name__}: {error}", False, False


class _Sink:
    """A file being downloaded: counts bytes, draws a bar in a terminal, gives up on
    endless or crawling ones.
    """

    def __init__(self, path: Path, size: int | None, most: int, network: Network) -> None:
        from tqdm import tqdm

        self.path, self.size, self.most, self.network = path, size, most, network
        self.name = path.name.strip(".").removesuffix(".part")
        with storage_errors(path):
            self.stream = path.open("wb", buffering=1 << 20)
        # disable=None: no bar unless stderr is a terminal; delay: none for what is quick
        self.bar = tqdm(total=size, desc=self.name, unit="B", unit_scale=True, disable=None, delay=1)
        self.start, self.count, self.page = time.monotonic(), 0, False

    def write(self, chunk: bytes) -> None:
        with storage_errors(self.path):
            self.stream.write(chunk)
        if not self.count:
            self.page = is_page(chunk)
            if self.size and self.size > LONG and not sys.stderr.isatty():
                print(f"downloading {self.name} ({self.size / 1e6:.1f} MB)", file=sys.stderr, flush=True)
        self.count += len(chunk)
        self.bar.update(len(chunk))
        if self.count > self.most:
            page = "; it is a web page, not the data" if self.page else ""
            raise SourceError(f"{self.name}: more than the expected {self.most} bytes{page}")
        seconds = time.monotonic() - self.start
        if seconds > self.network.patience and self.count < self.network.slowest * seconds:
            raise SourceError(f"{self.name}: {self.count} bytes in {seconds:.0f} s are too slow")

    def flush(self) -> None:
        """Called after every chunk by the downloader; the file is flushed once, when it is closed."""

    def close(self) -> None:
        self.bar.close()
        with storage_errors(self.path):
            self.stream.close()
