"""Whatever a server or archive does: the correct file or a clear error, and nothing left behind."""

import base64
import gzip
import hashlib
import socket
import tarfile
import time
import zipfile

import pytest
from loopback import BODY, PAGE, Answer, answer, files, make_tar, one_file, sha256

from reproduction.data import transport
from reproduction.data.fetch import FetchError
from reproduction.data.registry import RawFile
from reproduction.data.transport import Network, SourceError, obtain, pip_settings

FAULTS: dict[str, tuple[Answer, str]] = {
    "404": (answer(b"gone", 404), "answers 404"),
    "500": (answer(b"oops", 500), "answers 500"),
    "dropped midway": (
        answer(BODY[:50_000], claim=len(BODY)),
        "the connection broke before the end",
    ),
    "truncated": (answer(BODY[:-1]), f"sha256 {sha256(BODY[:-1])}.*expected {sha256(BODY)}"),
    "too long": (answer(BODY + b"x"), f"more than the expected {len(BODY)} bytes"),
    "web page": (answer(PAGE), "it is a web page, not the data"),
    "long web page": (answer(PAGE + BODY), "it is a web page, not the data"),
    "silent server": (answer(BODY, pause=0.3, pieces=2), "no data for 0.2 s"),
    "redirect loop": (answer(status=302, Location="/toy"), "redirects in a circle"),
    "endless": (answer(endless=True), f"more than the expected {len(BODY)} bytes"),
    "redirect to nowhere": (
        answer(status=302, Location="http://[half"),
        "the answer makes no sense",
    ),
    "redirect to no port": (answer(status=302, Location="http://127.0.0.1:port/"), "InvalidURL"),
    "redirect to a file": (answer(status=302, Location="file:///etc/passwd"), "InvalidSchema"),
}


def source(web, *answers):
    """One source, whose server answers so; the right file is `BODY`."""
    return one_file({"url": web.serve("/toy", *answers)}, body=BODY)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_leaves_nothing_behind_and_the_next_source_or_run_recovers(
    fault, web, get, mirror, tmp_path
):
    wrong, message = FAULTS[fault]
    whole_message = f"(?s)toy: no source could be used.*official: .*({message})"
    with pytest.raises(FetchError, match=whole_message):
        get(source(web, wrong))
    assert files(tmp_path / "raw/toy") == set()
    two = one_file({"url": web.url + "/toy"}, {"path": "toy"}, body=BODY)
    record = get(two, folder="next/toy", mirror=mirror)
    assert record["source"] == "mirror"
    assert record["files"] == {"toy.data": sha256(BODY)}
    assert files(tmp_path / "raw/next/toy") == {"toy.data", "source.json", ".origin"}
    get(source(web, BODY))
    assert (tmp_path / "raw/toy/toy.data").read_bytes() == BODY


@pytest.mark.parametrize("first", ["500", "dropped midway", "silent server"])
def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_not(first, web, get, tmp_path):
    get(source(web, FAULTS[first][0], BODY))
    assert (tmp_path / "raw/toy/toy.data").read_bytes() == BODY
    assert web.hits["/toy"] == 2
    with pytest.raises(FetchError):
        get(source(web, answer(b"", 404)), folder="other/toy")
    assert web.hits["/toy"] == 3


def test_an_unreachable_host_is_not_asked_again_in_the_same_run(
    network,
    get,
    tmp_path,
    monkeypatch,
):
    registry = one_file({"url": "http://127.0.0.1:9/toy"}, body=BODY)  # nothing listens there
    monkeypatch.setenv("NOISYLABELS_RUN", "one")
    network.memory = tmp_path / ".cache" / "unreachable.json"
    with pytest.raises(FetchError, match="host unreachable"):
        get(registry)
    with pytest.raises(FetchError, match="not tried again in this run"):
        get(registry, network=Network(memory=network.memory))  # of another process
    monkeypatch.setenv("NOISYLABELS_RUN", "two")
    assert Network(memory=network.memory).dead == {}


def test_a_host_that_does_not_answer_is_given_up_after_the_connect_time_out(network, get):
    # without a backlog, the kernel drops connections that do not fit
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for caller in waiting:
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.1", port))
        network.connect, network.read = 0.2, 30.0
        registry = one_file(*[{"url": f"http://127.0.0.1:{port}/{k}"} for k in range(3)], body=BODY)
        start = time.monotonic()
        message = r"no connection within 0\.2 s.*\n.*not tried again in this run"
        with pytest.raises(FetchError, match=message):
            get(registry)
        assert time.monotonic() - start < 5  # one time-out, not three, and none of the read
        for caller in waiting:
            caller.close()


def test_a_dead_proxy_and_a_server_without_a_certificate_are_named(web, get, monkeypatch):
    url = web.serve("/toy", BODY)
    message = r"certificate refused.*SSL_CERT_FILE may name your authorities"
    with pytest.raises(FetchError, match=message):
        get(one_file({"url": url.replace("http://", "https://")}, body=BODY))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(FetchError, match="the proxy refuses"):
        get(one_file({"url": url.replace("127.0.0.1", "localhost")}, body=BODY))


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 8912086\n"
MESSAGES = {
    "a web page": [
        PAGE,
        PAGE.decode().encode("utf-16"),
        b"\xfe\xff" + PAGE.decode().encode("utf-16-be"),
    ],
    "text in UTF-16": [b"\xff\xfe" + "1,2,3".encode("utf-16-le")],
    "XML or other markup": [b'<?xml version="1.0"?><Error>AccessDenied</Error>'],
    "an answer in JSON": [b' {"message": "Not Found", "status": "404"}', b'[{"code": 404}]'],
    "a pointer of Git LFS to the file": [POINTER],
}


@pytest.mark.parametrize("sent", MESSAGES)
def test_without_a_known_hash_a_message_is_no_data_and_the_next_source_is_tried(
    sent,
    web,
    get,
    tmp_path,
):
    second_address = web.serve("/other", BODY)
    for number, body in enumerate(MESSAGES[sent]):
        url = web.serve("/toy", body)
        with pytest.raises(FetchError, match=f"toy.data: the server sent {sent}, not the data"):
            get(one_file({"url": url}, body=None), folder=str(number))
    get(one_file({"url": url}, {"url": second_address}, body=None))
    assert (tmp_path / "raw/toy/toy.data").read_bytes() == BODY


def test_data_are_not_taken_for_a_message():
    starts = (
        b"RIFF",
        b"BZh91AY",
        b"\x1f\x8b\x08",
        b"MATLAB 5.0",
        b"\0\0\x08\x03",
        b"1,2",
        b"-1 3:1",
        b"@rel",
    )
    assert {transport._find_message(start + b" 1 2 3") for start in starts} == {""}


def test_without_a_size_a_stream_has_the_cap_of_the_file_or_of_the_network(
    web,
    get,
    tmp_path,
    monkeypatch,
):
    monkeypatch.setattr(transport, "LARGEST", 200_000)
    url = web.serve("/toy", answer(endless=True))
    packed = web.serve("/gz", gzip.compress(bytes(10**6)))
    unpacked = {"url": packed, "unpack": "gzip", "largest": 5000}
    for location, cap in (
        ({"url": url, "largest": 10**5}, 10**5),
        ({"url": url}, 200_000),
        (unpacked, 5000),
    ):
        with pytest.raises(FetchError, match=f"more than the expected {cap} bytes"):
            get(one_file(location, body=None))
    assert files(tmp_path / "raw/toy") == set()


def test_a_file_of_unknown_hash_may_be_recognised_by_its_name_in_git(web, get, tmp_path):
    git_hash = {"git_blob": hashlib.sha1(b"blob %d\0" % len(BODY) + BODY).hexdigest()}
    registry = one_file({"url": web.serve("/toy", BODY[:-1])} | git_hash, body=None)
    message = f"name in Git [0-9a-f]{{40}} .*, expected {git_hash['git_blob']}"
    with pytest.raises(FetchError, match=message):
        get(registry)
    web.serve("/toy", BODY)
    record = get(registry)
    assert record["unverified"] == []
    (tmp_path / "raw/by_hand").mkdir()
    (tmp_path / "raw/by_hand/toy.data").write_bytes(BODY)
    by_hand = get(registry, folder="by_hand", network=Network(offline=True))
    assert by_hand["files"] == record["files"]


def make_zip(path, *members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def extract(archive, *wanted):
    """Members of an archive in a mirror folder, as `obtain` unpacks them."""
    out = archive.parent / "out"
    raw = [
        RawFile(name=f"f{k}", path=archive.name, member=member, **({"bytes": size} if size else {}))
        for k, (member, size) in enumerate(wanted)
    ]
    for file in raw:
        obtain(file, out, Network(str(archive.parent), offline=True))
    assert files(out) == {file.name for file in raw}
    return {str(file.member): (out / file.name).read_bytes() for file in raw}


CSV = b"1,2,3\n" * 500


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_only_the_wanted_members_are_copied_to_names_of_ours(make, tmp_path):
    (tmp_path / "in").mkdir()
    unwanted_members = [("../evil", b"evil"), (str(tmp_path / "absolute"), b"evil")]
    archive = make(tmp_path / "in/a", *unwanted_members, ("in/x", CSV), ("../z", b"zz"))
    assert extract(archive, ("in/x", len(CSV)), ("../z", None)) == {"in/x": CSV, "../z": b"zz"}
    assert files(tmp_path) == {"in"}


def test_links_devices_and_members_whose_decoder_takes_what_memory_it_wants_are_no_members(
    tmp_path,
):
    archives = [make_zip(tmp_path / "z", ("x", CSV), method=zipfile.ZIP_LZMA)]
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
        special = ("x", {"type": kind, "linkname": "other"})
        archives.append(make_tar(tmp_path / f"a{kind.decode()}", ("other", CSV), special))
    for archive in archives:
        with pytest.raises(SourceError, match="f0: the archive has no member x"):
            extract(archive, ("x", None))
    (tmp_path / "a").write_bytes(b"<html>")
    with pytest.raises(SourceError, match="f0: the download that should contain it is neither"):
        extract(tmp_path / "a", ("x", None))


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_bomb_is_stopped_at_the_expected_size(make, tmp_path, monkeypatch):
    archive = make(tmp_path / "a", ("x", bytes(5_000_000)))
    with pytest.raises(SourceError, match="member x of f0: more than the expected 10 bytes"):
        extract(archive, ("x", 10))
    monkeypatch.setattr(transport, "LARGEST", 1000)
    with pytest.raises(SourceError, match="more than the expected 1000 bytes"):
        extract(archive, ("x", None))
    assert files(tmp_path / "out") == set()


# pinned packages: files from the index that pip is configured for; nothing of them is run

TABLE = b"1,2,3\n4,5,6\n" * 100


def sdist(folder, body=TABLE):
    """A source distribution whose build steps would leave a trace."""
    trap = f"open({str(folder / 'was-run')!r}, 'w')".encode()
    members = [("toy_set-1.0/setup.py", trap), ("toy_set-1.0/data/toy.data", body)]
    return make_tar(folder / "sdist", *members).read_bytes()


@pytest.fixture
def archive(tmp_path):
    return sdist(tmp_path)


def pinned(archive):
    package = {"name": "Toy_Set", "version": "1.0", "archive": "toy_set-1.0.tar.gz"}
    package |= {"sha256": sha256(archive), "bytes": len(archive)}
    return one_file({"package": package, "member": "toy_set-1.0/data/toy.data"}, body=TABLE)


def serve(web, archive):
    """A simple index with the project; its URL."""
    link = "../../files/toy_set-1.0.tar.gz"
    page = f'<a href="toy_set-0.9.tar.gz">old</a><a href="{link}#sha256=0">toy_set-1.0.tar.gz</a>'
    web.serve("/simple/toy-set/", page.encode())
    web.serve("/files/toy_set-1.0.tar.gz", archive)
    return f"{web.url}/simple"


@pytest.fixture
def index(monkeypatch, fresh_machine):
    def use(url, **options):
        monkeypatch.delenv("PIP_NO_INDEX")
        for name, value in (options | {"index_url": url}).items():
            monkeypatch.setenv(f"PIP_{name.upper()}", value)

    return use


def test_a_member_comes_from_the_configured_index_once_and_nothing_is_run(
    archive,
    web,
    get,
    index,
    tmp_path,
):
    index(serve(web, archive))
    record = get(pinned(archive))
    assert record["source"] == "package"
    assert record["files"] == {"toy.data": sha256(TABLE)}
    assert (tmp_path / "raw/.cache/packages/toy_set-1.0.tar.gz").read_bytes() == archive
    assert not (tmp_path / "was-run").exists()
    get(pinned(archive), "toy.package", network=Network(offline=True))
    assert web.hits["/files/toy_set-1.0.tar.gz"] == 1


def test_a_wrong_archive_is_refused_and_another_place_is_asked(archive, web, get, index, tmp_path):
    wrong = sdist(tmp_path, TABLE[::-1])
    page = b'<a href="/wrong.tar.gz">toy_set-1.0.tar.gz</a>'
    web.serve("/wrong/toy-set/", page)
    web.serve("/wrong.tar.gz", wrong)
    index(f"{web.url}/wrong", extra_index_url=f"{web.url}/empty")
    message = f"sha256 {sha256(wrong)}.*expected {sha256(archive)}|more than the expected"
    with pytest.raises(FetchError, match=message):
        get(pinned(archive))
    assert web.hits["/empty/toy-set/"] == 1
    assert {path.suffix for path in (tmp_path / "raw/.cache/packages").iterdir()} == {".lock"}
    serve(web, archive)
    web.serve("/empty/toy-set/", b'<a href="/files/toy_set-1.0.tar.gz">toy</a>')
    assert get(pinned(archive))["source"] == "package"


@pytest.mark.parametrize("form", ["folder", "file URL", "page", "index"])
def test_find_links_and_an_index_may_be_folders(
    form, archive, web, network, get, index, monkeypatch, tmp_path
):
    wheels = tmp_path / "wheels"
    (wheels / "toy-set").mkdir(parents=True)
    for folder in (wheels, wheels / "toy-set"):
        (folder / "toy_set-1.0.tar.gz").write_bytes(archive)
    page = web.serve("/links.html", b'<a href="/files/toy_set-1.0.tar.gz">toy</a>')
    web.serve("/files/toy_set-1.0.tar.gz", archive)
    if form == "index":
        index(wheels.as_uri())
    else:
        location = {"folder": wheels, "file URL": wheels.as_uri(), "page": page}[form]
        monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels / 'nowhere'} {location}")
    network_used = network if form == "page" else Network(offline=True)
    assert get(pinned(archive), network=network_used)["source"] == "package"


def test_the_login_of_the_index_is_used_for_its_files_and_never_printed(archive, web, get, index):
    index(serve(web, archive).replace("://", "://me:secret@"))
    get(pinned(archive))
    assert web.logins == ["Basic " + base64.b64encode(b"me:secret").decode()] * 2
    web.routes.clear()
    with pytest.raises(FetchError, match="answers 404") as caught:
        get(pinned(archive[:-1] + b"x"), folder="other/toy")
    assert "secret" not in str(caught.value)


def test_without_any_index_the_message_says_so(get):
    message = r"Toy_Set 1\.0: pip is configured with no-index and no find-links"
    with pytest.raises(FetchError, match=message):
        get(pinned(b"x"))


def test_files_of_pip_are_read_and_the_environment_wins(fresh_machine, tmp_path, monkeypatch):
    config = tmp_path / "pip.conf"
    lines = [
        "[global]",
        "index-url = x",
        "cert = /ca.pem",
        "extra-index-url =",
        "  https://two",
        "  /three",
        "[download]",
        "find-links = /four",
    ]
    config.write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_INDEX_URL", "https://mine/simple")
    pip = pip_settings()
    assert pip["index-url"] == "https://mine/simple"
    assert pip["cert"] == "/ca.pem"
    assert pip["find-links"] == "/four"
    assert pip["extra-index-url"].split() == ["https://two", "/three"]
