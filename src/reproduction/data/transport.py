"""One raw file from its one place (URL, mirror, package index), unpacked and verified."""

import ast
import bz2
import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from reproduction.data.registry import Package, RawFile
from reproduction.data.storage import (
    NotConfiguredError,
    SourceError,
    git_blob_of,
    locked,
    sha256_of,
    storage_errors,
    write_atomically,
)

MIRROR = "NOISYLABELS_MIRROR"
"""Environment variable with the folder or URL of a mirror."""

RUN = "NOISYLABELS_RUN"
"""Environment variable that names a run of the workflow; its processes share which hosts did not answer."""

PARTS = ".parts"
"""Folder in which files are built before they take their names; only the holder of a lock writes there."""

LARGEST = 1 << 30
"""Bytes of a file whose length the registry does not know."""

LONG = 1_000_000  # bytes; announced where there is no terminal to draw a bar in
RETRIED = {408, 425, 429, 500, 502, 503, 504}
CERTIFICATES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT")
OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open}


@dataclass
class Network:
    """How the network is used: time-outs in seconds, attempts, and the hosts that did not answer."""

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
            with contextlib.suppress(Exception):  # a read-only cache only costs another time-out
                self.memory.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self.memory, json.dumps({"run": run, "hosts": self.dead}))


@dataclass(frozen=True)
class Places:
    """What sources need to know: the cache of archives, the user's mirror (folder or URL), the network."""

    cache: Path
    mirror: str
    network: Network


def host_of(url: str) -> str:
    """Host and port of a URL, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def shown(url: str) -> str:
    """The URL as a message may have it: without user name and password."""
    return urlunsplit(urlsplit(url)._replace(netloc=host_of(url)))


def obtain(files: Sequence[RawFile], folder: Path, places: Places) -> dict[str, str]:
    """Have ``files`` in ``folder``, verified; name -> SHA-256. The caller holds the lock of the folder.

    Members of one archive are unpacked together, so that an archive is downloaded once.

    Raises
    ------
    SourceError : one is not to be had from there, or is not what the registry describes; then none of its
        archive is in ``folder``.
    StorageError : the disk refuses.
    """
    hashes: dict[str, str] = {}
    parts = folder / PARTS
    for _, group in groupby(files, key=lambda f: (f.url, f.path, f.package) if f.member else f.name):
        together = list(group)
        with storage_errors(folder):
            parts.mkdir(parents=True, exist_ok=True)
        try:
            carrier = _carrier(together[0], parts, places)
            for file in together:
                with storage_errors(folder / file.name):
                    _unpack(carrier, file, parts / file.name)
            found = {file.name: verify(parts / file.name, file) for file in together}
            for file in together:
                with storage_errors(folder / file.name):
                    os.replace(parts / file.name, folder / file.name)
            hashes |= found
        finally:
            shutil.rmtree(parts, ignore_errors=True)
    return hashes


def verify(path: Path, file: RawFile | Package) -> str:
    """SHA-256 of ``path`` if it is the registered one; without a known hash, if it looks like data at all.

    A file without a SHA-256 in the registry must have its registered name in Git, if there is one.
    Otherwise the first download is trusted if it is no web page or other message; the caller records its hash
    and demands it from then on. The registry allows this for fixed addresses only.

    Raises
    ------
    SourceError : a wrong hash (the message has both), a wrong length, an empty file, or no data.
    """
    sha256, size = sha256_of(path), path.stat().st_size
    if sha256 == file.sha256:
        return sha256
    with path.open("rb") as stream:
        message = _not_data(stream.read(512))
    if file.sha256:
        expected = file.sha256 + (f" ({file.bytes} bytes)" if file.bytes else "")
        what = "it is a web page, not the data" if message == "a web page" else "it has changed or is damaged"
        raise SourceError(f"{path.name}: sha256 {sha256} ({size} bytes), expected {expected}; {what}")
    if message:
        raise SourceError(f"{path.name}: the server sent {message}, not the data")
    if not size or (file.bytes is not None and size != file.bytes):
        raise SourceError(f"{path.name}: {size} bytes, expected {file.bytes or 'some'}")
    if isinstance(file, RawFile) and file.git_blob and (found := git_blob_of(path)) != file.git_blob:
        raise SourceError(f"{path.name}: name in Git {found} ({size} bytes), expected {file.git_blob}")
    return sha256


def _not_data(start: bytes) -> str:
    """What a file that starts like this is instead of data: a message of a server, or ""."""
    utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = start.decode("utf-16" if utf16 else "utf-8", "replace").lstrip("\ufeff \r\n\t").lower()
    if text.startswith(("<!doctype html", "<html")):
        return "a web page"
    if text.startswith("version https://git-lfs."):
        return "a pointer of Git LFS to the file"
    if text.startswith(("<", "{", "[")):
        return "XML or other markup" if text[0] == "<" else "an answer in JSON"
    return "text in UTF-16" if utf16 else ""


# archives


def _unpack(carrier: Path, file: RawFile, to: Path) -> None:
    """The file itself out of what carries it, and never more bytes than expected, under a name of ours.

    Raises
    ------
    SourceError : no such member, damage, or more bytes than expected.
    """
    most = file.bytes or file.largest or LARGEST
    try:
        if file.member:
            with _member(carrier, file.member) as stream:
                _copy(stream, to, most, f"{carrier.name}: member {file.member}")
        elif file.unpack:
            with OPENERS[file.unpack](carrier) as stream:
                _copy(stream, to, most, carrier.name)
        elif carrier != to:
            shutil.copyfile(carrier, to)
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # damage makes these libraries raise nearly anything
        if isinstance(error, OSError) and error.errno is not None and error.errno != 22:
            raise  # the disk; of a damaged archive there is no number, or "invalid argument"
        raise SourceError(f"{carrier.name}: damaged or not what it should be ({error})") from None


@contextlib.contextmanager
def _member(archive: Path, name: str) -> Iterator[IO[bytes]]:
    """A member of a zip (wheel) or gzipped tar (sdist) archive; a tar archive is read to the member only."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as content:
            infos = [info for info in content.infolist() if info.filename == name]
            # other methods take the memory that the archive asks for
            if infos and infos[0].compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                with content.open(infos[0]) as stream:
                    yield stream
                    return
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive, "r:gz") as content_tar:
            for info in content_tar:
                if info.name.removeprefix("./") == name and info.isreg():
                    stream_tar = content_tar.extractfile(info)
                    assert stream_tar is not None
                    with stream_tar:
                        yield stream_tar
                        return
    else:
        raise SourceError(f"{archive.name}: neither a zip nor a tar archive")
    raise SourceError(f"{archive.name}: no member {name}")


def _copy(stream: IO[bytes], to: Path, most: int, what: str) -> None:
    with to.open("wb") as target:
        while block := stream.read(1 << 20):
            if target.tell() + len(block) > most:
                raise SourceError(f"{what} unpacks to more than {most} bytes; refused")
            target.write(block)


# places


def _carrier(file: RawFile, parts: Path, places: Places) -> Path:
    """What holds the file: something that lies on the disk already, or a download into ``parts``."""
    if file.package is not None:
        return _distribution(file.package, places)
    url = file.url or ""
    if file.path is not None:
        if not places.mirror:
            raise NotConfiguredError(f"no mirror is configured (`--mirror` or {MIRROR})")
        if "://" not in places.mirror:
            root = Path(places.mirror).expanduser()
            if not root.is_dir():
                raise SourceError(f"the mirror folder {root} does not exist")
            if not (root / file.path).is_file():
                raise SourceError(f"{file.path} is not in the mirror folder {root}")
            return root / file.path
        url = f"{places.mirror.rstrip('/')}/{file.path}"
    packed = bool(file.member or file.unpack)
    to = parts / (f"{file.name}.packed" if packed else file.name)
    size = None if packed else file.bytes
    download(url, to, places.network, size, file.largest)
    return to


def download(
    url: str, to: Path, network: Network, size: int | None = None, largest: int | None = None, **options: Any
) -> None:
    """Put the body of ``url`` into ``to``; more than ``size`` bytes, or ``largest`` without it, are refused.

    ``options`` are passed to requests (verify, cert, proxies). Broken connections, time-outs and 5xx answers
    are tried again after a growing pause; a host that cannot be reached is not, nor in the rest of the run.

    Raises
    ------
    SourceError : the file is not to be had from there.
    StorageError : ``to`` cannot be written.
    """
    import logging

    import pooch  # type: ignore[import-untyped]
    import requests
    from urllib3.exceptions import HTTPError

    network.check(url)
    pooch.get_logger().setLevel(logging.WARNING)
    if size and size > LONG and not sys.stderr.isatty():
        print(f"downloading {to.name} ({size / 1e6:.1f} MB)", file=sys.stderr, flush=True)
    keywords = {"verify": certificates(), **options, "timeout": (network.connect, network.read)}
    # no content encoding: a .gz must arrive as the .gz whose hash is known
    http = pooch.HTTPDownloader(
        sys.stderr.isatty(), 1 << 16, headers={"Accept-Encoding": "identity"}, **keywords
    )

    def once(url: str, temporary: str, _: Any) -> None:
        with storage_errors(to):
            stream = _Capped(to, temporary, size or largest or LARGEST)
        try:
            http(url, stream, None)
        except requests.RequestException as error:
            problem, lost, passing = _diagnosis(error, network)
            if lost:
                network.lost(url, problem)
            if not passing:
                raise SourceError(f"{shown(url)}: {problem}") from None
            raise
        finally:
            with storage_errors(to):
                stream.close()

    try:
        with storage_errors(to):
            to.unlink(missing_ok=True)
        fetched = pooch.Pooch(to.parent, "", {to.name: None}, {to.name: url}, network.attempts - 1)
        fetched.fetch(to.name, downloader=once)
    except requests.RequestException as error:
        raise SourceError(f"{shown(url)}: {_diagnosis(error, network)[0]}") from None
    except (ValueError, HTTPError) as error:  # an address or a head that cannot be parsed
        reason = " ".join(str(error).split())[:200]
        raise SourceError(f"{shown(url)}: the answer makes no sense ({reason})") from None


def certificates() -> str | bool:
    """File of the certificate authorities that the environment names; True for the usual ones."""
    return next((os.environ[name] for name in CERTIFICATES if os.environ.get(name)), True)


class _Capped:
    """A file being downloaded that refuses more than ``most`` bytes."""

    def __init__(self, path: Path, temporary: str, most: int) -> None:
        self.path, self.most, self.stream = path, most, Path(temporary).open("wb")  # noqa: SIM115
        self.close = self.stream.close
        self.message = ""

    def write(self, chunk: bytes) -> None:
        self.message = self.message if self.stream.tell() else _not_data(chunk)
        with storage_errors(self.path):
            self.stream.write(chunk)
        if self.stream.tell() > self.most:
            page = "; it is a web page, not the data" if self.message == "a web page" else ""
            raise SourceError(f"{self.path.name}: more than the expected {self.most} bytes{page}")

    def flush(self) -> None:
        """Called after every chunk by the downloader; the file is flushed once, when it is closed."""


def _diagnosis(error: Any, network: Network) -> tuple[str, bool, bool]:
    """What went wrong, whether the host is to be given up, and whether it may pass."""
    from requests import exceptions
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    cause = error.args[0] if error.args else None
    reason = getattr(cause, "reason", cause)
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        answer = error.response
        problem = f"the server answers {answer.status_code} {(answer.reason or '')[:80]}".strip()
        return problem, False, answer.status_code in RETRIED
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


# package indexes


def _distribution(package: Package, places: Places) -> Path:
    """The archive of a pinned package, in the cache; shared by all data sets that it carries.

    It is fetched as a file, from where pip would: find-links first, then the indexes. Nothing of it is
    installed, built or run.
    """
    archive = places.cache / "packages" / package.archive
    with locked(archive.with_name(f".{archive.name}.lock")):
        if archive.is_file() and sha256_of(archive) == package.sha256:
            return archive
        part, pip = archive.parent / PARTS / archive.name, pip_settings()
        problems = []
        try:
            for place, name in _indexes(package, pip):
                try:
                    with storage_errors(part):
                        part.parent.mkdir(exist_ok=True)
                    _from_index(place, name, package, part, pip, places.network)
                    verify(part, package)
                    with storage_errors(archive):
                        os.replace(part, archive)
                    return archive
                except SourceError as error:
                    problems.append(str(error))
        finally:
            part.unlink(missing_ok=True)
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


def _indexes(package: Package, pip: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Where pip would look: URL and, of an index, the project's name as it is in addresses."""
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    places = [(place, "") for place in pip.get("find-links", "").split()]
    if pip.get("no-index", "").lower() not in ("1", "true", "yes", "on"):
        name = re.sub("[-_.]+", "-", package.name).lower()
        indexes = [pip.get("index-url") or PYPI_SIMPLE_ENDPOINT, *pip.get("extra-index-url", "").split()]
        places += [(index, name) for index in indexes]
    for place, name in places:
        yield place if "://" in place else Path(place).expanduser().resolve().as_uri(), name


def _from_index(
    place: str, name: str, package: Package, to: Path, pip: dict[str, str], network: Network
) -> None:
    """The archive into ``to``, from a folder, or from a page with links; SourceError if it is not there."""
    from pypi_simple import ProjectPage

    page = f"{place.rstrip('/')}/{name}/" if name else place
    options: dict[str, Any] = {"verify": pip.get("cert") or certificates(), "cert": pip.get("client-cert")}
    if pip.get("proxy"):
        options["proxies"] = {"http": pip["proxy"], "https": pip["proxy"]}
    if {host_of(page), urlsplit(page).hostname} & set(pip.get("trusted-host", "").split()):
        options["verify"] = False
    listing = to.with_name("index")
    if page.startswith("file:"):
        path = _path(page)
        if (path / package.archive).is_file():
            shutil.copyfile(path / package.archive, to)
            return
        listing = path / "index.html" if path.is_dir() else path
        if not listing.is_file():
            raise SourceError(f"{package.archive} is not in {path}")
    else:
        download(page, listing, network, **options)
    try:
        base = listing.as_uri() if page.startswith("file:") else page
        links = ProjectPage.from_html(package.name, listing.read_bytes(), base_url=base).packages
    except (ValueError, LookupError, RecursionError) as error:
        raise SourceError(f"{shown(page)}: not a page of a package index ({error})") from None
    for link in links:
        url = link.url.partition("#")[0]
        if package.archive not in (link.filename, unquote(urlsplit(url).path.rpartition("/")[2])):
            continue
        if url.startswith("file:"):
            shutil.copyfile(_path(url), to)
            return
        login = urlsplit(page).netloc  # goes to the same host only
        if "@" in login and urlsplit(url).netloc == host_of(page):
            url = urlunsplit(urlsplit(url)._replace(netloc=login))
        download(url, to, network, package.bytes, **options)
        return
    raise SourceError(f"{shown(page)} does not list {package.archive}")


def _path(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))
