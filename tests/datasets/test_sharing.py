"""What several data sets have in common is downloaded once; a large file is hashed once."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from loopback import Web, command, one_file, sha256, slow

from reproduction.data import fetch as module
from reproduction.data import storage
from reproduction.data.download import Network
from reproduction.data.fetch import FetchError, fetch

BODY = bytes(range(256)) * 400
OFFLINE = Network(offline=True)


def two_sets(*places: dict[str, Any]) -> dict[str, Any]:
    toy = one_file(*places, body=BODY)["toy"]
    return {"toy": toy, "twin": toy}


def test_two_sets_in_one_file_are_one_request_and_one_file_on_disk(
    web: Web, network: Network, tmp_path: Path
) -> None:
    registry = two_sets({"url": web.serve("/both", BODY)})
    first = fetch("toy", registry, tmp_path / "toy", network=network)
    second = fetch("twin", registry, tmp_path / "twin", network=network)
    assert web.hits["/both"] == 1
    assert first | {"id": "twin"} == second
    assert (tmp_path / "twin/toy.data").read_bytes() == BODY
    assert (tmp_path / "twin/toy.data").samefile(tmp_path / "toy/toy.data")


def test_two_processes_for_two_sets_download_their_file_once(web: Web, checkout: Path) -> None:
    registry = two_sets({"url": web.serve("/both", slow(BODY, pause=0.05, pieces=20))})
    runs = [
        command(checkout, registry, "--dataset", name, "--out", str(checkout / "raw" / name))
        for name in registry
    ]
    processes = [subprocess.Popen(**run) for run in runs]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert web.hits["/both"] == 1
    assert all((checkout / "raw" / name / "toy.data").read_bytes() == BODY for name in registry)


def test_a_mirror_of_urls_is_asked_once_too(web: Web, network: Network, tmp_path: Path) -> None:
    web.serve("/mirror/both", BODY)
    for name in (registry := two_sets({"path": "both"})):
        fetch(name, registry, tmp_path / name, mirror=f"{web.url}/mirror", network=network)
    assert web.hits["/mirror/both"] == 1


def test_without_a_network_the_file_of_the_other_set_is_enough(
    web: Web, network: Network, tmp_path: Path
) -> None:
    registry = two_sets({"url": web.serve("/both", BODY)})
    fetch("toy", registry, tmp_path / "toy", network=network)
    assert fetch("twin", registry, tmp_path / "twin", network=OFFLINE)["source"] == "official"


def test_a_damaged_file_of_the_other_set_is_not_taken(web: Web, network: Network, tmp_path: Path) -> None:
    registry = two_sets({"url": web.serve("/both", BODY)})
    fetch("toy", registry, tmp_path / "toy", network=network)
    (tmp_path / "toy/toy.data").write_bytes(BODY[:-1] + b"x")
    fetch("twin", registry, tmp_path / "twin", network=network)
    assert (tmp_path / "twin/toy.data").read_bytes() == BODY
    assert web.hits["/both"] == 2


def test_a_pinned_source_does_not_take_the_file_of_another_source(
    web: Web, network: Network, tmp_path: Path
) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/both").write_bytes(BODY)
    registry = two_sets({"path": "both"}, {"url": web.serve("/both", BODY)})
    fetch("toy", registry, tmp_path / "toy", mirror=str(tmp_path / "mirror"), network=OFFLINE)
    with pytest.raises(FetchError):
        fetch("twin.official", registry, tmp_path / "twin", network=OFFLINE)
    assert fetch("twin.official", registry, tmp_path / "twin", network=network)["source"] == "official"


def test_where_the_file_system_has_no_links_the_file_is_copied(
    web: Web, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(storage.os, "link", refuse)
    for name in (registry := two_sets({"url": web.serve("/both", BODY)})):
        fetch(name, registry, tmp_path / name, network=network)
    assert web.hits["/both"] == 1
    assert not (tmp_path / "twin/toy.data").samefile(tmp_path / "toy/toy.data")


def test_a_large_file_is_hashed_again_only_when_it_was_touched(
    web: Web, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    registry = one_file({"url": web.serve("/toy", BODY)}, body=BODY)
    fetch("toy", registry, tmp_path / "toy", network=network)
    hashed: list[str] = []

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return storage.sha256_of(path)

    monkeypatch.setattr(module, "sha256_of", counted)
    for _ in range(3):
        assert fetch("toy", registry, tmp_path / "toy", network=OFFLINE)["files"]["toy.data"] == sha256(BODY)
    assert hashed == ["toy.data"]
    (tmp_path / "toy/toy.data").write_bytes(BODY[:-1] + b"x")
    fetch("toy", registry, tmp_path / "toy", network=network)
    assert (tmp_path / "toy/toy.data").read_bytes() == BODY
