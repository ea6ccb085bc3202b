"""Whatever a disk, a signal or another process does: the correct file or none, and the next run recovers."""

import errno
import os
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from loopback import BODY, Web, command, files, one_file, slow

from reproduction.data import storage
from reproduction.data.download import Network, download
from reproduction.data.fetch import fetch
from reproduction.data.storage import StorageError


def test_where_the_file_system_has_no_locks_it_goes_on_and_other_errors_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        def flock(*_: Any) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(storage.fcntl, "flock", flock)

    refuse(errno.ENOLCK)
    with storage.locked(tmp_path / "lock"):
        pass
    refuse(errno.EIO)
    with pytest.raises(StorageError, match="lock: Input/output error"), storage.locked(tmp_path / "lock"):
        pass


def test_whoever_comes_second_waits_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entered = []

    def second() -> None:
        with storage.locked(tmp_path / "lock"):
            entered.append(time.monotonic())

    thread = threading.Thread(target=second)
    with storage.locked(tmp_path / "lock"):
        thread.start()
        time.sleep(0.1)
        left = time.monotonic()
    thread.join()
    assert entered[0] >= left
    assert "another process holds" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_every_kind_of_full_disk_is_named(number: int, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no space left for"), storage.storage_errors(tmp_path):
        raise OSError(number, os.strerror(number))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_is_named(web: Web, network: Network) -> None:
    with pytest.raises(StorageError, match="no space left for /dev/full"):
        download(web.serve("/toy", BODY * 20), Path("/dev/full"), network)


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
    part = checkout / "raw/toy/.toy.data.part"
    wait_for(lambda: part.is_file() and part.stat().st_size > 0)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert files(checkout / "raw/toy") == {".toy.data.part"}
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

    monkeypatch.setattr(storage.os, "open", refuse)
    monkeypatch.setattr(storage.os, "replace", refuse)
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
