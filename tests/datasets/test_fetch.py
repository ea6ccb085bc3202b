"""Sources in order, the cache, mirrors, pins, stand-ins, a user's own file, and the command line."""

import bz2
import gzip
import io
import json
import lzma
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from loopback import Web, command, good, one_file, sha256

from reproduction.data import records
from reproduction.data.download import Network, shown
from reproduction.data.fetch import FetchError, fetch, fetch_local

BODY = b"1,2,3\n4,5,6\n" * 100
OFFLINE = Network(offline=True)


def test_the_record_says_all_that_preparing_needs(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file(
        {"url": web.serve("/toy", BODY)},
        body=BODY,
        shape={"rows": 2},
        prepared_sha256={"canonical": "f" * 64},
    )
    fetch("toy", registry, tmp_path / "toy", network=network)
    record = json.loads((tmp_path / "toy/source.json").read_text(encoding="utf-8"))
    assert len(record.pop("record_sha256")) == 64
    assert record == records.read(tmp_path / "toy")
    assert record == {
        "id": "toy",
        "source": "official",
        "variant": "canonical",
        "loader": "toy:toy",
        "shape": {"rows": 2},
        "prepared_sha256": "f" * 64,
        "prepared_decimals": None,
        "files": {"toy.data": sha256(BODY)},
        "unverified": [],
    }


def test_the_first_source_of_the_registry_wins(web: Web, network: Network, tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/toy").write_bytes(BODY)
    registry = one_file({"path": "toy"}, {"url": web.serve("/toy", BODY)}, body=BODY)
    mirror = str(tmp_path / "mirror")
    assert fetch("toy", registry, tmp_path / "a", mirror=mirror, network=network)["source"] == "mirror"
    assert web.hits["/toy"] == 0
    assert (
        fetch("toy.official", registry, tmp_path / "b", mirror=mirror, network=network)["source"]
        == "official"
    )


def test_what_is_there_is_not_asked_for_again(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file({"path": "toy"}, {"url": web.serve("/toy", BODY)}, body=BODY)
    first = fetch("toy", registry, tmp_path / "toy", network=network)
    (tmp_path / "toy/source.json").unlink()  # as the workflow does before it runs a rule again
    assert fetch("toy", registry, tmp_path / "toy", network=OFFLINE) == first
    assert first["source"] == "official"  # though the mirror comes first and has the same hash
    assert web.hits["/toy"] == 1


def test_a_file_put_there_by_hand_is_taken(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/toy.data").write_bytes(BODY)
    registry = one_file({"url": "http://127.0.0.1:9/toy"}, body=BODY)
    assert fetch("toy", registry, tmp_path / "toy", network=OFFLINE)["files"] == {"toy.data": sha256(BODY)}


def test_a_damaged_file_is_fetched_again(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file({"url": web.serve("/toy", BODY)}, body=BODY)
    fetch("toy", registry, tmp_path / "toy", network=network)
    (tmp_path / "toy/toy.data").write_bytes(BODY[:-1])
    fetch("toy", registry, tmp_path / "toy", network=network)
    assert (tmp_path / "toy/toy.data").read_bytes() == BODY


def test_an_unknown_hash_is_recorded_once_and_then_kept(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file({"url": web.serve("/toy", BODY)}, body=None)
    first = fetch("toy", registry, tmp_path / "toy", network=network)
    assert first["files"] == {"toy.data": sha256(BODY)}
    assert first["unverified"] == ["toy.data"]
    assert (tmp_path / "toy/toy.data.sha256").read_text(encoding="utf-8") == f"{sha256(BODY)}  toy.data\n"
    assert fetch("toy", registry, tmp_path / "toy", network=OFFLINE) == first


def test_without_its_recorded_hash_an_unknown_file_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/toy.data").write_bytes(BODY)
    with pytest.raises(FetchError):
        fetch(
            "toy", one_file({"url": "http://127.0.0.1:9/toy"}, body=None), tmp_path / "toy", network=OFFLINE
        )


def test_a_mirror_may_be_a_url(web: Web, network: Network, tmp_path: Path) -> None:
    web.serve("/all/sets/toy", BODY)
    registry = one_file({"path": "sets/toy"}, body=BODY)
    assert (
        fetch("toy", registry, tmp_path / "toy", mirror=f"{web.url}/all/", network=network)["source"]
        == "mirror"
    )


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ("", r"no mirror is configured \(`--mirror` or NOISYLABELS_MIRROR\)"),
        ("nowhere", "the mirror folder nowhere does not exist"),
        (".", r"sets/toy is not in the mirror folder \."),
    ],
)
def test_a_mirror_that_has_it_not_is_said(mirror: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=message):
        fetch(
            "toy", one_file({"path": "sets/toy"}, body=BODY), tmp_path / "toy", mirror=mirror, network=OFFLINE
        )


@pytest.mark.parametrize(
    ("kind", "pack"), [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_packed_file_is_unpacked_and_then_checked(
    kind: str, pack: object, web: Web, network: Network, tmp_path: Path
) -> None:
    packed = pack(BODY)  # type: ignore[operator]
    registry = one_file({"url": web.serve("/toy", packed), "unpack": kind}, body=BODY)
    fetch("toy", registry, tmp_path / "toy", network=network)
    assert (tmp_path / "toy/toy.data").read_bytes() == BODY
    web.serve("/toy", packed[:-20])
    with pytest.raises(FetchError, match="damaged or not what it should be"):
        fetch("toy", registry, tmp_path / "elsewhere/toy", network=network)


def test_two_members_of_one_archive_are_one_download(web: Web, network: Network, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("in/a", BODY)
        archive.writestr("in/b", BODY[:12])
    url = web.serve("/toy.zip", buffer.getvalue())
    registry = one_file({"url": url}, body=BODY)
    registry["toy"]["sources"][0]["files"] = [
        {"name": "a", "url": url, "member": "in/a", "sha256": [sha256(BODY)]},
        {"name": "b", "url": url, "member": "in/b", "sha256": [sha256(BODY[:12])]},
    ]
    fetch("toy", registry, tmp_path / "toy", network=network)
    assert (tmp_path / "toy/b").read_bytes() == BODY[:12]
    assert web.hits["/toy.zip"] == 1


def test_offline_never_touches_the_network(web: Web, tmp_path: Path) -> None:
    registry = one_file({"url": web.serve("/toy", BODY)}, {"path": "toy"}, body=BODY)
    with pytest.raises(FetchError, match=r"(?s)no mirror is configured.*/toy: not asked, offline mode"):
        fetch("toy", registry, tmp_path / "toy", network=OFFLINE)
    assert not web.hits


def test_the_error_says_what_helps(tmp_path: Path) -> None:
    registry = one_file({"path": "toy"}, body=BODY, stand_in={"loader": "a:b", "note": "made up"})
    with pytest.raises(FetchError) as caught:
        fetch("toy", registry, tmp_path / "toy", network=OFFLINE)
    assert str(caught.value).splitlines() == [
        "toy: no source could be used",
        "  mirror: no mirror is configured (`--mirror` or NOISYLABELS_MIRROR)",
        "What helps: a network, a package index that pip can reach, a mirror (NOISYLABELS_MIRROR),",
        f"or these files put into {tmp_path / 'toy'} by hand:",
        f"  toy.data ({len(BODY)} bytes, sha256 {sha256(BODY)})",
        "A file of your own may take its place: `data: {local: {toy: FILE}}`.",
        "An artifact that can do with a stand-in says `id.or_stand_in`. It would be this one:",
        "  made up",
    ]


def test_a_stand_in_is_used_only_where_it_is_allowed_and_named_as_such(tmp_path: Path) -> None:
    registry = one_file({"path": "toy"}, body=BODY, stand_in={"loader": "standins:toy", "note": "made up"})
    with pytest.raises(FetchError):
        fetch("toy", registry, tmp_path / "toy", network=OFFLINE)
    for dataset in ("toy.or_stand_in", "toy.stand_in"):
        record = fetch(dataset, registry, tmp_path / dataset, network=OFFLINE)
        assert (record["source"], record["variant"], record["loader"]) == (
            "stand-in",
            "stand-in",
            "standins:toy",
        )
        assert record["files"] == {}


def test_the_real_data_replace_a_stand_in_as_soon_as_they_can_be_had(tmp_path: Path) -> None:
    registry = one_file({"path": "toy"}, body=BODY, stand_in={"loader": "standins:toy", "note": "made up"})
    assert fetch("toy.or_stand_in", registry, tmp_path / "toy", network=OFFLINE)["source"] == "stand-in"
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/toy").write_bytes(BODY)
    mirror = str(tmp_path / "mirror")
    assert (
        fetch("toy.or_stand_in", registry, tmp_path / "toy", mirror=mirror, network=OFFLINE)["source"]
        == "mirror"
    )


def test_a_file_of_the_user_takes_the_place_of_the_data(tmp_path: Path) -> None:
    own = tmp_path / "own.wav"
    own.write_bytes(BODY)
    registry = one_file({"path": "toy"}, body=BODY, task="audio")
    record = fetch_local("toy", registry, tmp_path / "toy", str(own))
    assert (record["source"], record["loader"]) == ("local", "audio:recording")
    assert record["files"] == {"own.wav": sha256(BODY)}
    own.write_bytes(BODY + b"more")
    assert fetch_local("toy", registry, tmp_path / "toy", str(own))["files"] == {
        "own.wav": sha256(BODY + b"more")
    }
    with pytest.raises(FileNotFoundError, match=r"none\.wav does not exist"):
        fetch_local("toy", registry, tmp_path / "toy", "none.wav")


def test_passwords_are_not_shown() -> None:
    assert shown("https://me:secret@host:1/a?b") == "https://host:1/a?b"


def test_a_login_in_the_url_is_used_and_never_printed(web: Web, network: Network, tmp_path: Path) -> None:
    web.serve("/toy", good(b"no", 403))
    url = web.url.replace("://", "://me:secret@") + "/toy"
    with pytest.raises(FetchError, match="answers 403") as caught:
        fetch("toy", one_file({"url": url}, body=BODY), tmp_path / "toy", network=network)
    assert web.logins[-1].startswith("Basic ")
    assert "secret" not in str(caught.value)


def test_a_warm_cache_costs_less_than_a_second_and_loads_no_numpy(checkout: Path) -> None:
    (checkout / "raw/toy").mkdir(parents=True)
    (checkout / "raw/toy/toy.data").write_bytes(BODY)
    run = command(checkout, one_file({"path": "toy"}, body=BODY))
    numpy_is_an_error = (
        "import runpy, sys; sys.modules['numpy'] = None; runpy.run_path(sys.argv[0], None, '__main__')"
    )
    code = f"import sys; sys.argv = {run['args'][1:]!r}; {numpy_is_an_error}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(**run | {"args": [sys.executable, "-c", code]}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"toy from mirror (canonical): 1 files, {len(BODY)} bytes\n"
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_a_mistake_on_the_command_line_is_one_line(checkout: Path) -> None:
    run = command(checkout, one_file({"path": "toy"}, body=BODY), "--dataset", "toi")
    done = subprocess.run(**run, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "error: data set 'toi' is not in the registry; did you mean toy? "
        "(a table of your own would be 'toi.local')\n"
    )
