"""Where a pinned package distribution can be had: the index that the user's pip (or npm) is set up for.

The distribution is fetched as a file. Nothing of it is installed, built or run.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from reproduction.data.download import Network, certificates, host_of, page, shown
from reproduction.data.storage import SourceError

Location = tuple[str, dict[str, Any]]
"""URL (http, https or file) of a distribution, and what requests needs to get it (verify, cert, proxies)."""


@dataclass(frozen=True)
class Pip:
    """What pip's configuration says about indexes."""

    indexes: tuple[str, ...]  # URLs or folders, the main index first
    find_links: tuple[str, ...]  # URLs or folders
    options: dict[str, Any]  # for requests: verify, cert, proxies
    trusted: tuple[str, ...]  # hosts whose certificates are not checked


def pip_settings() -> Pip:
    """From pip's files (`pip config list`) and its environment variables, which win; else pip's defaults."""
    values: dict[str, str] = {}
    for line in _output([sys.executable, "-m", "pip", "config", "list"]).splitlines():
        key, _, value = line.partition("=")
        if key.startswith(("global.", "download.")):
            values[key] = str(ast.literal_eval(value))

    def get(name: str) -> str:
        variable = os.environ.get(f"PIP_{name.upper().replace('-', '_')}")
        return (
            variable
            if variable is not None
            else values.get(f"download.{name}", values.get(f"global.{name}", ""))
        )

    indexes: tuple[str, ...] = ()
    if get("no-index").lower() not in ("1", "true", "yes", "on"):
        from pypi_simple import PYPI_SIMPLE_ENDPOINT

        indexes = (get("index-url") or PYPI_SIMPLE_ENDPOINT, *get("extra-index-url").split())
    options: dict[str, Any] = {"verify": get("cert") or certificates()}
    if get("client-cert"):
        options["cert"] = get("client-cert")
    if get("proxy"):
        options["proxies"] = {"http": get("proxy"), "https": get("proxy")}
    return Pip(indexes, tuple(get("find-links").split()), options, tuple(get("trusted-host").split()))


def npm_registry() -> str:
    """The registry that npm is configured for; SourceError if neither npm nor a variable names one."""
    url = os.environ.get("NPM_CONFIG_REGISTRY") or _output(["npm", "config", "get", "registry"]).strip()
    if not url.startswith("http"):
        raise SourceError("no npm registry: install npm, or set NPM_CONFIG_REGISTRY to the URL of one")
    return url.rstrip("/") + "/"


def locations(package: dict[str, Any], network: Network) -> Iterator[Location]:
    """Where the archive of a pinned package is: find-links first, then the indexes, as pip looks for it.

    Raises
    ------
    SourceError : when no place is left; the message says for each that was asked why it was of no use.
    """
    if package["index"] == "npm":
        yield _on_npm(package, network)
        return
    pip = pip_settings()
    problems = []
    for place, is_index in [(p, False) for p in pip.find_links] + [(p, True) for p in pip.indexes]:
        url = place if "://" in place else Path(place).expanduser().resolve().as_uri()
        if is_index:
            url = f"{url.rstrip('/')}/{re.sub('[-_.]+', '-', package['name']).lower()}/"
        trusted = {host_of(url), urlsplit(url).hostname} & set(pip.trusted)
        options = pip.options | ({"verify": False} if trusted else {})
        try:
            yield _linked(url, package, network, options), options
        except SourceError as error:
            problems.append(str(error))
    raise SourceError("; ".join(problems) or "pip is configured with no-index and no find-links")


def _linked(url: str, package: dict[str, Any], network: Network, options: dict[str, Any]) -> str:
    """URL of the archive among the links of a page, or the files of a folder."""
    archive = package["archive"]
    if url.startswith("file:") and (path_of(url) / archive).is_file():
        return (path_of(url) / archive).as_uri()
    from pypi_simple import ACCEPT_ANY, ProjectPage
    from pypi_simple import UnsupportedContentTypeError as UnknownType
    from pypi_simple import UnsupportedRepoVersionError as UnknownVersion

    try:
        if url.startswith("file:"):
            file = path_of(url)
            file = file / "index.html" if file.is_dir() else file
            links = ProjectPage.from_html(package["name"], file.read_bytes(), base_url=file.as_uri())
        else:
            answer = page(url, network, options, {"Accept": ACCEPT_ANY})
            links = ProjectPage.from_response(answer, package["name"])
    except OSError:
        raise SourceError(f"{archive} is not in {path_of(url)}") from None
    except (UnknownType, UnknownVersion, ValueError, LookupError, RecursionError) as error:
        raise SourceError(f"{shown(url)}: not a page of a package index ({error})") from None
    for link in links.packages:
        if archive in (link.filename, unquote(PurePosixPath(urlsplit(link.url).path).name)):
            return _with_login(link.url.partition("#")[0], url)
    raise SourceError(f"{shown(url)} does not list {archive}")


def _on_npm(package: dict[str, Any], network: Network) -> Location:
    url = urljoin(npm_registry(), f"{quote(package['name'], safe='@')}/{package['version']}")
    options: dict[str, Any] = {"verify": certificates()}
    try:
        return str(page(url, network, options, {}).json()["dist"]["tarball"]), options
    except (LookupError, TypeError, ValueError, RecursionError):
        raise SourceError(f"{shown(url)}: no tarball of {package['name']} {package['version']}") from None


def _with_login(link: str, page: str) -> str:
    """The link, with the login of the page if it leads to the same host and has none of its own."""
    parts, base = urlsplit(link), urlsplit(page)
    if "@" in base.netloc and parts.netloc == host_of(page):
        return urlunsplit(parts._replace(netloc=base.netloc))
    return link


def path_of(url: str) -> Path:
    """The local path of a file: URL."""
    return Path(unquote(urlsplit(url).path))


def _output(command: list[str]) -> str:
    """Standard output of a command, "" if it does not exist or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
