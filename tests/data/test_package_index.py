"""Pinned packages come as files from the index that pip is configured for; nothing of them is run."""

import base64

import pytest
from loopback import make_tar, one_file, sha256

from reproduction.data.fetch import FetchError
from reproduction.data.transport import Network, pip_settings

BODY = b"1,2,3\n4,5,6\n" * 100


def sdist(folder, body=BODY):
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
    return one_file({"package": package, "member": "toy_set-1.0/data/toy.data"}, body=BODY)


def serve(web, archive):
    """A simple index with the project; its URL."""
    link = "../../files/toy_set-1.0.tar.gz"
    page = f'<a href="toy_set-0.9.tar.gz">old</a><a href="{link}#sha256=0">toy_set-1.0.tar.gz</a>'
    web.serve("/simple/toy-set/", page.encode())
    web.serve("/files/toy_set-1.0.tar.gz", archive)
    return f"{web.url}/simple"


@pytest.fixture
def index(monkeypatch, fresh_machine):
    def use(url, **more):
        monkeypatch.delenv("PIP_NO_INDEX")
        for name, value in (more | {"index_url": url}).items():
            monkeypatch.setenv(f"PIP_{name.upper()}", value)

    return use


def test_a_member_comes_from_the_configured_index_once_and_nothing_is_run(archive, web, get, index, tmp_path):
    index(serve(web, archive))
    record = get(pinned(archive))
    assert (record["source"], record["files"]) == ("package", {"toy.data": sha256(BODY)})
    assert (tmp_path / "raw/.cache/packages/toy_set-1.0.tar.gz").read_bytes() == archive
    assert not (tmp_path / "was-run").exists()
    get(pinned(archive), "toy.package", network=Network(offline=True))
    assert web.hits["/files/toy_set-1.0.tar.gz"] == 1


def test_a_wrong_archive_is_refused_and_another_place_is_asked(archive, web, get, index, tmp_path):
    wrong = sdist(tmp_path, BODY[::-1])
    page = b'<a href="/wrong.tar.gz">toy_set-1.0.tar.gz</a>'
    web.serve("/wrong/toy-set/", page)
    web.serve("/wrong.tar.gz", wrong)
    index(f"{web.url}/wrong", extra_index_url=f"{web.url}/empty")
    told = f"sha256 {sha256(wrong)}.*expected {sha256(archive)}|more than the expected"
    with pytest.raises(FetchError, match=told):
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
        place = {"folder": wheels, "file URL": wheels.as_uri(), "page": page}[form]
        monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels / 'nowhere'} {place}")
    how = network if form == "page" else Network(offline=True)
    assert get(pinned(archive), network=how)["source"] == "package"


def test_the_login_of_the_index_is_used_for_its_files_and_never_printed(archive, web, get, index):
    index(serve(web, archive).replace("://", "://me:secret@"))
    get(pinned(archive))
    assert web.logins == ["Basic " + base64.b64encode(b"me:secret").decode()] * 2
    web.routes.clear()
    with pytest.raises(FetchError, match="answers 404") as caught:
        get(pinned(archive[:-1] + b"x"), at="other/toy")
    assert "secret" not in str(caught.value)


def test_without_any_index_the_message_says_so(get):
    with pytest.raises(FetchError, match=r"Toy_Set 1\.0: pip is configured with no-index and no find-links"):
        get(pinned(b"x"))


def test_files_of_pip_are_read_and_the_environment_wins(fresh_machine, tmp_path, monkeypatch):
    config, more = tmp_path / "pip.conf", "extra-index-url =\n  https://two\n  /three\n"
    config.write_text(f"[global]\nindex-url = x\ncert = /ca.pem\n{more}[download]\nfind-links = /four\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    monkeypatch.setenv("PIP_INDEX_URL", "https://mine/simple")
    pip = pip_settings()
    assert (pip["index-url"], pip["cert"], pip["find-links"]) == ("https://mine/simple", "/ca.pem", "/four")
    assert pip["extra-index-url"].split() == ["https://two", "/three"]
