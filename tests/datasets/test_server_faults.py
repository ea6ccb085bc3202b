"""Whatever a server does: a clear error or the correct file, and a later run recovers."""

import socket
import time
from pathlib import Path

import pytest
from loopback import (
    BODY,
    PAGE,
    Answer,
    Web,
    endless,
    files,
    good,
    one_after_the_other,
    one_file,
    redirect,
    sha256,
    slow,
)

from reproduction.data.download import Network
from reproduction.data.fetch import FetchError, fetch

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
