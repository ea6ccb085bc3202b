"""What arrives without a known hash is taken for data only if it looks like data, and has a cap."""

import gzip
import hashlib
from pathlib import Path

import pytest
from loopback import BODY, PAGE, Web, endless, files, good, one_file

from reproduction.data.answers import not_data
from reproduction.data.download import Network, page
from reproduction.data.fetch import FetchError, fetch
from reproduction.data.storage import SourceError

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


def test_a_web_page_is_refused_even_if_no_hash_is_known(web: Web, network: Network, tmp_path: Path) -> None:
    registry = one_file({"url": web.serve("/toy", good(PAGE))}, body=None)
    with pytest.raises(FetchError, match=r"toy\.data: the server sent a web page, not the data"):
        fetch("toy", registry, tmp_path / "toy", network=network)


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
    monkeypatch.setattr("reproduction.data.download.PAGE", 100_000)
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
