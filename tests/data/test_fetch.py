"""Sources in order, the cache, mirrors, pins, stand-ins, a user's own file, and the command line."""

import bz2
import errno
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loopback import BODY, Web, command, files, good, one_file, sha256, slow

from reproduction.data import transport
from reproduction.data.fetch import FetchError, fetch, fetch_local, read_record
from reproduction.data.registry import Registry
from reproduction.data.transport import Network, StorageError, shown

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
    assert record == read_record(tmp_path / "toy")
    assert record == {
        "id": "toy",
        "source": "official",
        "variant": "canonical",
        "loader": "toy:toy",
        "shape": {"rows": 2},
        "prepared_sha256": "f" * 64,
        "prepared_decimals": None,
        "files": {"toy.data": sha256(BODY)},
        "isolated": False,
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


@pytest.mark.parametrize(("kind", "pack"), [("gzip", gzip.compress), ("bzip2", bz2.compress)])
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
    registry = one_file({"path": "toy"}, body=BODY, stand_in={"loader": "libsvm:toy", "note": "made up"})
    with pytest.raises(FetchError):
        fetch("toy", registry, tmp_path / "toy", network=OFFLINE)
    for dataset in ("toy.or_stand_in", "toy.stand_in"):
        record = fetch(dataset, registry, tmp_path / dataset, network=OFFLINE)
        assert (record["source"], record["variant"], record["loader"]) == (
            "stand-in",
            "stand-in",
            "libsvm:toy",
        )
        assert record["files"] == {}


def test_the_real_data_replace_a_stand_in_as_soon_as_they_can_be_had(tmp_path: Path) -> None:
    registry = one_file({"path": "toy"}, body=BODY, stand_in={"loader": "libsvm:toy", "note": "made up"})
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


# shared files


def two_sets(*places: dict[str, Any]) -> Registry:
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

    monkeypatch.setattr(os, "link", refuse)
    for name in (registry := two_sets({"url": web.serve("/both", BODY)})):
        fetch(name, registry, tmp_path / name, network=network)
    assert web.hits["/both"] == 1
    assert not (tmp_path / "twin/toy.data").samefile(tmp_path / "toy/toy.data")


# whatever a disk, a signal or another process does


def test_where_the_file_system_has_no_locks_it_goes_on_and_other_errors_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        def flock(*_: Any) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(transport.fcntl, "flock", flock)

    refuse(errno.ENOLCK)
    lock = tmp_path / "lock"
    with transport.locked(lock):
        pass
    refuse(errno.EIO)
    with (
        pytest.raises(StorageError, match="lock: Input/output error"),
        transport.storage_errors(lock),
        transport.locked(lock),
    ):
        pass


def test_whoever_comes_second_waits_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entered = []

    def second() -> None:
        with transport.locked(tmp_path / "lock"):
            entered.append(time.monotonic())

    thread = threading.Thread(target=second)
    with transport.locked(tmp_path / "lock"):
        thread.start()
        time.sleep(0.1)
        left = time.monotonic()
    thread.join()
    assert entered[0] >= left
    assert "another process holds" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_every_kind_of_full_disk_is_named(number: int, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no space left for"), transport.storage_errors(tmp_path):
        raise OSError(number, os.strerror(number))


def wait_for(condition: Any, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def test_a_run_killed_in_the_middle_leaves_no_data_and_the_next_run_recovers(
    web: Web, checkout: Path
) -> None:
    big = BODY * 40
    registry = one_file({"url": web.serve("/toy", slow(big, pause=0.2, pieces=10))}, body=big)
    run = command(checkout, registry)
    process = subprocess.Popen(**run)
    wait_for(lambda: any(path.stat().st_size for path in checkout.glob("raw/toy/*")))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert files(checkout / "raw/toy") == {f".part.{process.pid}.toy.data"}
    web.serve("/toy", big)
    done = subprocess.run(**run, check=False)
    assert done.returncode == 0, done.stderr
    assert (checkout / "raw/toy/toy.data").read_bytes() == big
    assert files(checkout / "raw/toy") == {"toy.data", "source.json", ".origin"}


def test_two_processes_at_once_download_once_and_both_succeed(web: Web, checkout: Path) -> None:
    registry = one_file({"url": web.serve("/toy", slow(BODY, pause=0.05, pieces=20))}, body=BODY)
    run = command(checkout, registry)
    processes = [subprocess.Popen(**run) for _ in range(2)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert web.hits["/toy"] == 1
    assert (checkout / "raw/toy/toy.data").read_bytes() == BODY


def test_no_space_left_is_said_and_nothing_is_kept(web: Web, checkout: Path) -> None:
    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    registry = one_file({"url": web.serve("/toy", BODY)}, {"url": web.serve("/other", BODY)}, body=BODY)
    run = command(checkout, registry)
    done = subprocess.run(**run, check=False, preexec_fn=small_disk)
    assert done.returncode == 1
    assert "error: no space left for" in done.stderr
    assert "Traceback" not in done.stderr
    assert web.hits["/other"] == 0  # no other source would help
    assert files(checkout / "raw/toy") == set()
    assert subprocess.run(**run, check=False).returncode == 0


def test_a_read_only_cache_is_said_when_cold_and_good_enough_when_warm(
    web: Web, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = one_file({"url": web.serve("/toy", BODY)}, body=BODY)
    fetch("toy", registry, tmp_path / "warm", network=network)

    def refuse(path: Any, *_: Any, **__: Any) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(
        StorageError, match=r"cannot be written \(Read-only file system\); make the folder writable"
    ):
        fetch("toy", registry, tmp_path / "cold", network=network)
    assert fetch("toy", registry, tmp_path / "warm", network=network)["source"] == "official"
    assert web.hits["/toy"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_must_not_be_written_is_named(web: Web, network: Network, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir(mode=0o555)
    with pytest.raises(StorageError, match="cannot be written"):
        fetch(
            "toy",
            one_file({"url": web.serve("/toy", BODY)}, body=BODY),
            tmp_path / "raw/toy",
            network=network,
        )
