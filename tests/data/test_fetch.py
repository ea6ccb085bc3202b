"""Sources in order, the cache, mirrors, pins, stand-ins, files of users, and the command line."""

import bz2
import errno
import gzip
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from loopback import BODY, answer, command, files, one_file, sha256

from reproduction.data import transport
from reproduction.data.fetch import FetchError, fetch_local, read_record
from reproduction.data.transport import Network, StorageError, hide_login

OFFLINE = Network(offline=True)
STAND_IN = {"loader": "libsvm:toy", "note": "made up"}


def refuse(number):
    def refused(path, *_, **__):
        raise OSError(number, os.strerror(number), str(path))

    return refused


def test_the_record_says_all_that_preparing_needs(web, get, tmp_path):
    options = {"shape": {"rows": 2}, "prepared_sha256": {"canonical": "f" * 64}}
    get(one_file({"url": web.serve("/toy", BODY)}, body=BODY, **options))
    record = json.loads((tmp_path / "raw/toy/source.json").read_text(encoding="utf-8"))
    assert len(record.pop("record_sha256")) == 64
    assert record == read_record(tmp_path / "raw/toy")
    assert record == {
        "id": "toy",
        "source": "official",
        "variant": "canonical",
        "loader": "toy:toy",
        "task": "binary",
        "shape": {"rows": 2},
        "prepared_sha256": "f" * 64,
        "prepared_decimals": None,
        "files": {"toy.data": sha256(BODY)},
        "isolated": False,
        "unverified": [],
    }


def test_the_first_source_of_the_registry_wins_unless_one_is_pinned(web, get, mirror):
    registry = one_file({"path": "toy"}, {"url": web.serve("/toy", BODY)}, body=BODY)
    for mirror_address in (mirror, Path(mirror).as_uri()):
        assert get(registry, mirror=mirror_address)["source"] == "mirror"
        assert web.hits["/toy"] == 0
    assert get(registry, "toy.official", mirror=mirror)["source"] == "official"


def test_what_is_there_is_not_asked_for_again_unless_it_is_damaged(web, get, tmp_path):
    registry = one_file({"path": "toy"}, {"url": web.serve("/toy", BODY)}, body=BODY)
    first = get(registry)
    (tmp_path / "raw/toy/source.json").unlink()  # as the workflow does before it runs a rule again
    assert get(registry, network=OFFLINE) == first
    assert first["source"] == "official"  # though the mirror comes first and has the same hash
    assert web.hits["/toy"] == 1
    (tmp_path / "raw/toy/toy.data").write_bytes(BODY[:-1])
    assert get(registry) == first
    assert (tmp_path / "raw/toy/toy.data").read_bytes() == BODY


def test_an_unknown_hash_is_recorded_once_and_then_kept(web, get, tmp_path):
    registry = one_file({"url": web.serve("/toy", BODY)}, body=None)
    first = get(registry)
    assert first["files"] == {"toy.data": sha256(BODY)}
    assert first["unverified"] == ["toy.data"]
    recorded = (tmp_path / "raw/toy/toy.data.sha256").read_text(encoding="utf-8")
    assert recorded == f"{sha256(BODY)}  toy.data\n"
    assert get(registry, network=OFFLINE) == first
    (tmp_path / "raw/hand").mkdir()
    (tmp_path / "raw/hand/toy.data").write_bytes(BODY)
    with pytest.raises(FetchError):
        get(registry, folder="hand", network=OFFLINE)
    record = get(one_file({"url": web.url}, body=BODY), folder="hand", network=OFFLINE)
    assert record["files"] == {"toy.data": sha256(BODY)}


def test_a_mirror_that_has_it_not_is_said(get):
    for folder, message in (
        ("nowhere", "the mirror folder nowhere does not exist"),
        (".", r"sets/toy is not in the mirror folder \."),
    ):
        with pytest.raises(FetchError, match=message):
            get(one_file({"path": "sets/toy"}, body=BODY), mirror=folder)


@pytest.mark.parametrize(("kind", "pack"), [("gzip", gzip.compress), ("bzip2", bz2.compress)])
def test_a_packed_file_is_unpacked_and_then_checked(kind, pack, web, get, tmp_path):
    registry = one_file({"url": web.serve("/toy", pack(BODY)), "unpack": kind}, body=BODY)
    get(registry)
    assert (tmp_path / "raw/toy/toy.data").read_bytes() == BODY
    web.serve("/toy", pack(BODY)[:-20])
    with pytest.raises(FetchError, match="damaged or not what it should be"):
        get(registry, folder="elsewhere/toy")


def test_offline_never_touches_the_network(web, get, tmp_path):
    places = {"url": web.serve("/toy", BODY)}, {"path": "toy"}
    with pytest.raises(FetchError) as caught:
        get(one_file(*places, body=BODY, stand_in=STAND_IN), network=OFFLINE)
    assert not web.hits
    assert str(caught.value).splitlines() == [
        "toy: no source could be used",
        "  mirror: no mirror is configured (`--mirror` or NOISYLABELS_MIRROR)",
        f"  official: {web.url}/toy: not tried in offline mode",
        "What helps: a network, a package index that pip can reach, a mirror (NOISYLABELS_MIRROR),",
        f"or these files put into {tmp_path / 'raw/toy'} by hand:",
        f"  toy.data ({len(BODY)} bytes, sha256 {sha256(BODY)})",
        "You can use your own file instead: `data: {local: {toy: FILE}}`.",
        "An artifact that can do with a stand-in says `id.or_stand_in`. It would be this one:",
        "  made up",
    ]


def test_a_stand_in_is_used_where_it_is_allowed_until_the_data_can_be_had(get, mirror):
    registry = one_file({"path": "toy"}, body=BODY, stand_in=STAND_IN)
    for dataset in ("toy.or_stand_in", "toy.stand_in"):
        record = get(registry, dataset)
        expected = {
            "source": "stand-in",
            "variant": "stand-in",
            "loader": "libsvm:toy",
            "files": {},
        }
        assert record | expected == record
    assert get(registry, "toy.or_stand_in", mirror=mirror)["source"] == "mirror"


def test_a_file_of_the_user_takes_the_place_of_the_data(tmp_path):
    own_file = tmp_path / "own.wav"
    registry = one_file({"path": "toy"}, body=BODY, task="audio")
    for content in (BODY, BODY + b"more"):
        own_file.write_bytes(content)
        record = fetch_local("toy", registry, tmp_path / "toy", str(own_file))
        assert record["source"] == "local"
        assert record["loader"] == "audio:recording"
        assert record["files"] == {"own.wav": sha256(content)}
    with pytest.raises(FileNotFoundError, match=r"none\.wav does not exist"):
        fetch_local("toy", registry, tmp_path / "toy", "none.wav")


def test_a_login_in_the_url_is_used_and_never_printed(web, get):
    assert hide_login("https://me:secret@host:1/a?b") == "https://host:1/a?b"
    web.serve("/toy", answer(b"no", 403))
    with pytest.raises(FetchError, match="answers 403") as caught:
        get(one_file({"url": web.url.replace("://", "://me:secret@") + "/toy"}, body=BODY))
    assert web.logins[-1].startswith("Basic ")
    assert "secret" not in str(caught.value)


def test_a_warm_cache_costs_less_than_a_second_and_loads_no_numpy(fresh_machine, tmp_path):
    (tmp_path / "raw/toy").mkdir(parents=True)
    (tmp_path / "raw/toy/toy.data").write_bytes(BODY)
    run = command(tmp_path, one_file({"path": "toy"}, body=BODY))
    without_numpy = "sys.modules['numpy'] = None; runpy.run_path(sys.argv[0], None, '__main__')"
    code = f"import runpy, sys; sys.argv = {run['args'][1:]!r}; {without_numpy}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(**run | {"args": [sys.executable, "-c", code]}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout == f"toy from mirror (canonical): 1 files, {len(BODY)} bytes\n", done.stderr
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0


def test_a_mistake_is_one_line_and_the_log_of_a_job_ends_with_its_cause(fresh_machine, tmp_path):
    registry = one_file({"path": "toy"}, body=BODY)
    done = subprocess.run(**command(tmp_path, registry, "--dataset", "toi"), check=False)
    assert done.returncode == 1
    message = "data set 'toi' is not in the registry; did you mean toy?"
    assert done.stderr == f"error: {message} (your own table would be 'toi.local')\n"
    done = subprocess.run(**command(tmp_path, registry), check=False)
    cause = "mirror: no mirror is configured (`--mirror` or NOISYLABELS_MIRROR)"
    assert done.stdout.splitlines()[-1] == f"error: toy: no source could be used; {cause}"


def two_sets(*places):
    toy = one_file(*places, body=BODY)["toy"]
    return {"toy": toy, "twin": toy}


@pytest.mark.parametrize("links", [True, False])
def test_two_sets_in_one_file_are_one_request_and_one_file_on_disk(
    links,
    web,
    get,
    tmp_path,
    monkeypatch,
):
    if not links:
        monkeypatch.setattr(os, "link", refuse(errno.EPERM))
    registry = two_sets({"url": web.serve("/both", BODY)})
    toy, twin = (tmp_path / "raw" / name / "toy.data" for name in registry)
    assert get(registry) | {"id": "twin"} == get(registry, "twin", network=OFFLINE)
    assert twin.read_bytes() == BODY
    assert web.hits["/both"] == 1
    assert twin.samefile(toy) == links
    toy.unlink()
    toy.write_bytes(BODY[:-1] + b"x")  # a damaged file is not taken
    twin.unlink()
    get(registry, "twin")
    assert twin.read_bytes() == BODY
    assert web.hits["/both"] == 2


def test_three_processes_download_a_file_once_and_all_succeed(web, tmp_path):
    registry = two_sets({"url": web.serve("/both", answer(BODY, pause=0.05, pieces=20))})
    names = ("toy", "toy", "twin")
    processes = []
    for name in names:
        out = tmp_path / "raw" / name
        run = command(tmp_path, registry, "--dataset", name, "--out", str(out))
        processes.append(subprocess.Popen(**run))
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert web.hits["/both"] == 1
    for name in names:
        assert (tmp_path / "raw" / name / "toy.data").read_bytes() == BODY


def test_a_mirror_of_urls_is_asked_once_too_and_a_pinned_source_does_not_take_the_file_of_another(
    web,
    get,
):
    registry = two_sets({"path": "both"}, {"url": web.serve("/both", BODY)})
    web.serve("/mirror/both", BODY)
    for name in registry:
        get(registry, name, mirror=f"{web.url}/mirror")
    assert web.hits["/mirror/both"] == 1
    with pytest.raises(FetchError):
        get(registry, "twin.official", network=OFFLINE)
    assert get(registry, "twin.official")["source"] == "official"


def test_an_error_of_the_disk_is_named():
    messages = {
        errno.ENOSPC: "no space left for lock",
        errno.EDQUOT: "no space left for lock",
        errno.EFBIG: "no space left for lock",
        errno.EROFS: "lock cannot be written",
        errno.EIO: "lock: Input",
    }
    for number, message in messages.items():
        refused = pytest.raises(StorageError, match=message)
        with refused, transport.storage_errors(Path("elsewhere")):
            refuse(number)("lock")


@pytest.mark.parametrize(("patience", "announced"), [(0.0, True), (60.0, False)])
def test_whoever_comes_second_waits_and_says_so_if_it_takes_long(
    patience, announced, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(transport, "PATIENCE", patience)
    entered = []

    def second():
        with transport.locked(tmp_path / "lock"):
            entered.append(time.monotonic())

    thread = threading.Thread(target=second)
    with transport.locked(tmp_path / "lock"):
        thread.start()
        time.sleep(0.1)
        left = time.monotonic()
    thread.join()
    assert entered[0] >= left
    assert ("another process holds" in capsys.readouterr().err) == announced


def test_without_locks_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(transport.fcntl, "flock", refuse(errno.ENOLCK))
    with transport.locked(tmp_path / "lock"):
        monkeypatch.setattr(transport.fcntl, "flock", refuse(errno.EIO))
    with pytest.raises(OSError, match="Input"):
        transport.locked(tmp_path / "lock").__enter__()


def test_a_run_killed_in_the_middle_leaves_no_data_and_the_next_run_recovers(web, tmp_path):
    big = BODY * 40
    toy = tmp_path / "raw/toy"
    url = web.serve("/toy", answer(big, pause=0.2, pieces=10))
    run = command(tmp_path, one_file({"url": url}, body=big))
    process = subprocess.Popen(**run)
    end = time.monotonic() + 10
    while not any(path.stat().st_size for path in toy.glob("*")):
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert files(toy) == {f".part.{process.pid}.toy.data"}
    web.serve("/toy", big)
    done = subprocess.run(**run, check=False)
    assert done.returncode == 0, done.stderr
    assert (toy / "toy.data").read_bytes() == big
    assert files(toy) == {"toy.data", "source.json", ".origin"}


def test_no_space_left_is_said_and_nothing_is_kept(web, tmp_path):
    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    toy = {"url": web.serve("/toy", BODY)}
    other = {"url": web.serve("/other", BODY)}
    registry = one_file(toy, other, body=BODY)
    done = subprocess.run(**command(tmp_path, registry), check=False, preexec_fn=small_disk)
    assert done.returncode == 1
    assert "error: no space left for" in done.stderr
    assert "Traceback" not in done.stderr
    assert web.hits["/other"] == 0  # no other source would help
    assert files(tmp_path / "raw/toy") == set()


def test_a_read_only_cache_is_said_when_cold_and_good_enough_when_warm(web, get, monkeypatch):
    registry = one_file({"url": web.serve("/toy", BODY)}, body=BODY)
    get(registry, folder="warm")
    for owner, name in ((os, "open"), (os, "replace"), (Path, "write_text")):
        monkeypatch.setattr(owner, name, refuse(errno.EROFS))
    message = r"cannot be written \(Read-only file system\); make the folder writable"
    with pytest.raises(StorageError, match=message):
        get(registry, folder="cold")
    assert get(registry, folder="warm")["source"] == "official"
    assert web.hits["/toy"] == 1
