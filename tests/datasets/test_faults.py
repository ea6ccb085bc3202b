"""Whatever a server, a disk or a signal does: a clear error or the correct file, and a later run recovers."""

import contextlib
import errno
import gzip
import hashlib
import os
import resource
import signal
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Web, command, good, one_after_the_other, one_file, redirect, sha256, slow

from noisylabels.datasets import storage
from noisylabels.datasets.download import Network, download, not_data, page
from noisylabels.datasets.fetch import FetchError, fetch
from noisylabels.datasets.storage import SourceError, StorageError

BODY = bytes(range(256)) * 400
PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"


def endless(status: int = 200, **headers: str) -> Answer:
    """Bytes until the client has enough, without a Content-Length."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                request.wfile.write(bytes(1 << 16))

    return answer


FAULTS: dict[str, tuple[Answer, str]] = {
    "404": (good(b"gone", 404), "answers 404"),
    "500": (good(b"oops", 500), "answers 500.*3 attempts|answers 500"),
    "dropped midway": (good(BODY[:50_000], claim=len(BODY)), "the connection broke before the end"),
    "truncated": (good(BODY[:-1]), f"sha256 {sha256(BODY[:-1])}.*expected {sha256(BODY)}"),
    "wrong bytes": (good(BODY[:-1] + b"x"), f"sha256 {sha256(BODY[:-1] + b'x')}.*expected {sha256(BODY)}"),
    "too long": (good(BODY + b"x"), f"more than the expected {len(BODY)} bytes"),
    "web page": (good(PAGE, kind="text/html"), "it is a web page, not the data"),
    "long web page": (good(PAGE + BODY, kind="text/html"), "it is a web page, not the data"),
    "silent server": (slow(BODY, pause=0.3, pieces=2), "no data for 0.2 s"),
    "redirect loop": (redirect("/toy"), "redirects in a circle"),
    "a part": (good(BODY, 206), "the server answers 206, not with the whole file"),
    "nothing": (good(b"", 204), "the server answers 204, not with the whole file"),
    "length in words": (good(BODY, claim="many"), "announces a length of 'many' bytes"),  # type: ignore[arg-type]
    "negative length": (good(BODY, claim=-1), "announces a length of '-1' bytes"),
    "huge length": (
        good(BODY, claim=10**30),
        f"1000.* bytes, more than the expected {len(BODY)} bytes",
    ),
    "endless": (endless(), f"more than the expected {len(BODY)} bytes"),
    "endless redirect": (endless(302, Location="/toy"), "redirects in a circle"),
    "redirect to nowhere": (redirect("http://[half"), "the answer makes no sense"),
    "redirect to no port": (
        redirect("http://127.0.0.1:port/"),
        "InvalidURL",
    ),
    "redirect to a file": (redirect("file:///etc/passwd"), "InvalidSchema"),
}


MESSAGES = {
    "a web page": (PAGE, "a web page"),
    "a web page in UTF-16": (b"\xff\xfe" + PAGE.decode().encode("utf-16-le"), "a web page"),
    "a web page in UTF-16, big end first": (b"\xfe\xff" + PAGE.decode().encode("utf-16-be"), "a web page"),
    "a web page in UTF-16 without mark": (PAGE.decode().encode("utf-16-le"), "a web page"),
    "text in UTF-16": (b"\xff\xfe" + "1,2,3".encode("utf-16-le"), "text in UTF-16"),
    "an error in XML": (
        b'<?xml version="1.0"?><Error>AccessDenied</Error>',
        "XML or other markup",
    ),
    "an error in JSON": (b' {"message": "Not Found", "status": "404"}', "an answer in JSON"),
    "a list in JSON": (b'[{"code": 404}]', "an answer in JSON"),
    "a pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 8912086\n",
        "a pointer of Git LFS to the file",
    ),
}


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*")} if folder.is_dir() else set()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_leaves_nothing_behind_and_a_later_run_recovers(
    fault: str, web: Web, network: Network, tmp_path: Path
) -> None:
    answer, message = FAULTS[fault]
    registry = one_file({"url": web.serve("/toy", answer)}, body=BODY)
    out = tmp_path / "raw" / "toy"
    with pytest.raises(FetchError, match=f"(?s)toy: no source could be used.*official: .*({message})"):
        fetch("toy", registry, out, network=network)
    assert files(out) == set()
    web.serve("/toy", BODY)
    fetch("toy", registry, out, network=network)
    assert (out / "toy.data").read_bytes() == BODY


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_fault_the_next_source_is_tried(
    fault: str, web: Web, network: Network, tmp_path: Path
) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "copy").write_bytes(BODY)
    registry = one_file({"url": web.serve("/toy", FAULTS[fault][0])}, {"path": "copy"}, body=BODY)
    record = fetch(
        "toy", registry, tmp_path / "raw" / "toy", mirror=str(tmp_path / "mirror"), network=network
    )
    assert record["source"] == "mirror"
    assert record["files"] == {"toy.data": sha256(BODY)}
    assert files(tmp_path / "raw" / "toy") == {"toy.data", "source.json", ".origin"}


@pytest.mark.parametrize("first", ["500", "dropped midway", "silent server"])
def test_a_passing_fault_is_tried_again(first: str, web: Web, network: Network, tmp_path: Path) -> None:
    url = web.serve("/toy", one_after_the_other(FAULTS[first][0], good(BODY)))
    assert (
        fetch("toy", one_file({"url": url}, body=BODY), tmp_path / "toy", network=network)["source"]
        == "official"
    )
    assert (tmp_path / "toy" / "toy.data").read_bytes() == BODY
    assert web.hits["/toy"] == 2


def test_a_lasting_fault_is_not_tried_again(web: Web, network: Network, tmp_path: Path) -> None:
    with pytest.raises(FetchError):
        fetch(
            "toy",
            one_file({"url": web.serve("/toy", good(b"", 404))}, body=BODY),
            tmp_path / "t",
            network=network,
        )
    assert web.hits["/toy"] == 1


def test_a_crawling_server_is_given_up(web: Web, tmp_path: Path) -> None:
    crawl = slow(BODY, pause=0.02, pieces=200)
    impatient = Network(read=1.0, patience=0.3, slowest=1e6)
    with pytest.raises(FetchError, match=r"bytes in 0 s are too slow"):
        fetch(
            "toy", one_file({"url": web.serve("/toy", crawl)}, body=BODY), tmp_path / "toy", network=impatient
        )


def test_a_web_page_is_refused_even_if_no_hash_is_known(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file({"url": web.serve("/toy", good(PAGE))}, body=None)
    with pytest.raises(FetchError, match=r"toy\.data: the server sent a web page, not the data"):
        fetch("toy", registry, tmp_path / "toy", network=network)


def test_an_unreachable_host_is_not_asked_again_in_the_same_run(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = one_file({"url": "http://127.0.0.1:9/toy"}, body=BODY)  # nothing listens there
    monkeypatch.setenv("NOISYLABELS_RUN", "one")
    network.memory = tmp_path / ".cache" / "unreachable.json"
    with pytest.raises(FetchError, match="host unreachable"):
        fetch("toy", registry, tmp_path / "toy", network=network)
    other_process = Network(memory=network.memory)
    with pytest.raises(FetchError, match="not asked again in this run"):
        fetch("toy", registry, tmp_path / "toy", network=other_process)
    monkeypatch.setenv("NOISYLABELS_RUN", "two")
    assert Network(memory=network.memory).dead == {}


def test_a_host_that_does_not_answer_is_given_up_after_the_connect_time_out(
    network: Network, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:  # the kernel drops what does not fit
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.1", port))
        network.connect, network.read = 0.2, 30.0
        registry = one_file(*[{"url": f"http://127.0.0.1:{port}/{k}"} for k in range(3)], body=BODY)
        start = time.monotonic()
        with pytest.raises(FetchError, match=r"no connection within 0\.2 s.*\n.*not asked again in this run"):
            fetch("toy", registry, tmp_path / "toy", network=network)
        assert time.monotonic() - start < 5  # one time-out, not three, and none of the read
        for caller in waiting:
            caller.close()


def test_a_dead_proxy_is_named(
    web: Web, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(FetchError, match="the proxy refuses"):
        fetch("toy", one_file({"url": web.serve("/toy", BODY)}, body=BODY), tmp_path / "toy", network=network)


def test_a_server_without_a_certificate_is_refused(web: Web, network: Network, tmp_path: Path) -> None:
    url = web.serve("/toy", BODY).replace("http://", "https://")
    with pytest.raises(FetchError, match=r"certificate refused.*SSL_CERT_FILE may name your authorities"):
        fetch("toy", one_file({"url": url}, body=BODY), tmp_path / "toy", network=network)


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


@pytest.mark.parametrize("message", MESSAGES)
def test_without_a_known_hash_a_message_is_no_data_and_the_next_source_is_tried(
    message: str, web: Web, network: Network, tmp_path: Path
) -> None:
    body, what = MESSAGES[message]
    registry = one_file({"url": web.serve("/toy", body)}, {"url": web.serve("/other", BODY)}, body=None)
    with pytest.raises(FetchError, match=f"toy.data: the server sent {what}, not the data"):
        fetch("toy", one_file({"url": web.url + "/toy"}, body=None), tmp_path / "one/toy", network=network)
    fetch("toy", registry, tmp_path / "two/toy", network=network)
    assert (tmp_path / "two/toy/toy.data").read_bytes() == BODY


@pytest.mark.parametrize(
    "start",
    [b"RIFF", b"BZh91AY", b"\x1f\x8b\x08", b"MATLAB 5.0", b"\0\0\x08\x03", b"1,2", b"-1 3:1", b"@rel"],
)
def test_data_are_not_taken_for_a_message(start: bytes) -> None:
    assert not_data(start + b" 1 2 3") == ""


def test_without_a_size_a_stream_has_the_cap_of_the_file_or_of_the_network(
    web: Web, network: Network, tmp_path: Path
) -> None:
    url = web.serve("/toy", endless())
    capped = one_file({"url": url, "largest": 100_000}, body=None)
    with pytest.raises(FetchError, match="more than the expected 100000 bytes"):
        fetch("toy", capped, tmp_path / "toy", network=network)
    network.largest = 200_000
    with pytest.raises(FetchError, match="more than the expected 200000 bytes"):
        fetch("toy", one_file({"url": url}, body=None), tmp_path / "toy", network=network)
    packed = one_file({"url": web.serve("/gz", gzip.compress(bytes(10**6))), "unpack": "gzip"}, body=None)
    packed["toy"]["sources"][0]["files"][0]["largest"] = 5000
    with pytest.raises(FetchError, match="unpacks to more than 5000 bytes"):
        fetch("toy", packed, tmp_path / "toy", network=network)
    assert files(tmp_path / "toy") == set()


def test_a_page_of_an_index_has_a_cap(web: Web, network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisylabels.datasets.download.PAGE", 100_000)
    with pytest.raises(SourceError, match="more than 100000 bytes for a page"):
        page(web.serve("/simple/toy/", endless()), network, {}, {})
    assert page(web.serve("/simple/toy/", b"short"), network, {}, {}).content == b"short"


def test_a_file_of_unknown_hash_may_be_recognised_by_its_name_in_git(
    web: Web, network: Network, tmp_path: Path
) -> None:
    known = {"git_blob": hashlib.sha1(b"blob %d\0" % len(BODY) + BODY).hexdigest()}
    registry = one_file({"url": web.serve("/toy", BODY[:-1])} | known, body=None)
    with pytest.raises(FetchError, match=f"name in Git [0-9a-f]{{40}} .*, expected {known['git_blob']}"):
        fetch("toy", registry, tmp_path / "toy", network=network)
    web.serve("/toy", BODY)
    record = fetch("toy", registry, tmp_path / "toy", network=network)
    assert record["unverified"] == []
    (tmp_path / "by_hand").mkdir()
    (tmp_path / "by_hand/toy.data").write_bytes(BODY)
    by_hand = fetch("toy", registry, tmp_path / "by_hand", network=Network(offline=True))
    assert by_hand["files"] == record["files"]


# processes: killed, two at once, a full disk


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
