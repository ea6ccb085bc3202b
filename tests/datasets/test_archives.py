"""Archives and compressed files that mean harm are refused with a message; nothing else is
written.
"""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduction.data import archives, capped
from reproduction.data.archives import decompress, extract
from reproduction.data.storage import SourceError

BODY = b"1,2,3\n" * 500


def make_tar(path: Path, *members: tuple[str, Any], mode: str = "w:gz") -> Path:
    """Members are bytes, or the attributes of a special one."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                for key, value in content.items():
                    setattr(info, key, value)
                archive.addfile(info)
    return path


def make_zip(path: Path, *members: tuple[str, bytes], mode: int = 0o644 | stat.S_IFREG) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_only_the_wanted_members_are_copied(make: Any, tmp_path: Path) -> None:
    archive = make(tmp_path / "a", ("in/x", BODY), ("in/y", b"no"), ("in/z", b"zz"))
    extract(archive, {"in/x": (tmp_path / "x", len(BODY)), "in/z": (tmp_path / "z", None)})
    assert (tmp_path / "x").read_bytes() == BODY
    assert (tmp_path / "z").read_bytes() == b"zz"
    assert {path.name for path in tmp_path.iterdir()} == {"a", "x", "z"}


@pytest.mark.parametrize("member", ["../x", "/x", "in/../../x", "in\\x"])
@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_member_outside_the_archive_is_refused(make: Any, member: str, tmp_path: Path) -> None:
    archive = make(tmp_path / "a", (member, BODY))
    with pytest.raises(SourceError, match=r"a: member .* would lie outside the archive; refused"):
        extract(archive, {member: (tmp_path / "to", None)})
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_other_members_are_never_unpacked_wherever_they_point(make: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    archive = make(
        tmp_path / "in/a", ("../evil", b"evil"), (str(tmp_path / "absolute"), b"evil"), ("x", BODY)
    )
    extract(archive, {"x": (tmp_path / "in/x", None)})
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "absolute").exists()


@pytest.mark.parametrize(
    "kind",
    [
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "other"},
        {"type": tarfile.DIRTYPE},
        {"type": tarfile.FIFOTYPE},
        {"type": tarfile.CHRTYPE},
    ],
)
def test_a_link_or_device_is_refused(kind: dict[str, Any], tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "a", ("other", BODY), ("x", kind))
    with pytest.raises(SourceError, match="a: member x is a link or not a regular file; refused"):
        extract(archive, {"x": (tmp_path / "x", None)})
    assert not (tmp_path / "x").exists()


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", ("x", b"/etc/passwd"), mode=0o777 | stat.S_IFLNK)
    with pytest.raises(SourceError, match="is a link or not a regular file; refused"):
        extract(archive, {"x": (tmp_path / "x", None)})


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_bomb_is_refused_by_what_it_declares(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = make(tmp_path / "a", ("x", bytes(100_000)))
    with pytest.raises(SourceError, match="unpacks to 100000 bytes, expected 10; refused"):
        extract(archive, {"x": (tmp_path / "x", 10)})
    monkeypatch.setattr(archives, "LARGEST", 1000)
    with pytest.raises(SourceError, match="unpacks to 100000 bytes, more than the cap of 1000; refused"):
        extract(archive, {"x": (tmp_path / "x", None)})
    assert not (tmp_path / "x").exists()


def test_a_bomb_that_declares_too_little_is_stopped(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a", ("x", bytes(5_000_000)))
    raw = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):  # declared size: 10
        at = raw.index(signature) + offset
        raw[at : at + 4] = (10).to_bytes(4, "little")
    archive.write_bytes(raw)
    with pytest.raises(SourceError, match=r"refused|damaged"):
        extract(archive, {"x": (tmp_path / "x", 10)})
    assert (tmp_path / "x").stat().st_size <= 10


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz"])
def test_a_compressed_bomb_is_stopped_at_the_expected_size(kind: str, tmp_path: Path) -> None:
    module = {"gzip": gzip, "bzip2": bz2, "xz": lzma}[kind]
    packed = tmp_path / "p"
    packed.write_bytes(module.compress(bytes(5_000_000)))
    with pytest.raises(SourceError, match="unpacks to more than 100 bytes; refused"):
        decompress(packed, kind, tmp_path / "x", 100)
    assert (tmp_path / "x").stat().st_size <= 100


def test_an_xz_file_is_unpacked_whatever_its_preset(tmp_path: Path) -> None:
    body = np.random.default_rng(0).bytes(200_000)
    for preset in (0, 6, 9):
        (tmp_path / "p").write_bytes(lzma.compress(body, preset=preset))
        decompress(tmp_path / "p", "xz", tmp_path / "x", len(body))
        assert (tmp_path / "x").read_bytes() == body


def test_an_xz_file_whose_decoder_wants_much_memory_is_refused(tmp_path: Path) -> None:
    packed = bytearray(lzma.compress(BODY, preset=0))
    header = packed[12 : 12 + 4 * packed[12]]
    header[header.index(0x21) + 2] = 36  # LZMA2 with a dictionary of 1 GiB
    packed[12 : 16 + len(header)] = header + zlib.crc32(header).to_bytes(4, "little")
    (tmp_path / "p").write_bytes(packed)
    with pytest.raises(SourceError, match="Memory usage limit exceeded"):
        decompress(tmp_path / "p", "xz", tmp_path / "x")


def test_an_xz_file_that_is_cut_or_followed_by_more_is_refused(tmp_path: Path) -> None:
    for packed in (lzma.compress(BODY)[:-9], lzma.compress(BODY) + b"more"):
        (tmp_path / "p").write_bytes(packed)
        with pytest.raises(SourceError, match=r"cut short|something follows"):
            decompress(tmp_path / "p", "xz", tmp_path / "x")


def test_headers_cannot_ask_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capped, "HEADERS", 20_000)
    many = [(f"in/{number}", b"") for number in range(200)]
    long = {"pax_headers": {"comment": "x" * 50_000}, "size": 0}
    for archive in (
        make_zip(tmp_path / "names", *((f"{'x' * 90}{number}", b"") for number in range(200))),
        make_tar(tmp_path / "members", *many, ("x", BODY)),
        make_tar(tmp_path / "header", ("long", long), ("x", BODY)),
    ):
        with pytest.raises(SourceError, match="its headers ask for more than 20000 bytes"):
            extract(archive, {"x": (tmp_path / "x", None)})
    body = bytes(100_000)  # what was asked for may be larger
    for archive in (make_zip(tmp_path / "zip", ("x", body)), make_tar(tmp_path / "tar", ("x", body))):
        extract(archive, {"x": (tmp_path / "x", None)})
        assert (tmp_path / "x").read_bytes() == body


def test_a_zip_whose_decoder_takes_what_memory_it_wants_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x", BODY)
    with pytest.raises(SourceError, match="a: member x is compressed by method 14; refused"):
        extract(tmp_path / "a", {"x": (tmp_path / "x", None)})


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a: no member in/y"):
        extract(make_zip(tmp_path / "a", ("in/x", BODY)), {"in/y": (tmp_path / "y", None)})


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"<html>")
    with pytest.raises(SourceError, match="a: neither a zip nor a tar archive"):
        extract(tmp_path / "a", {"x": (tmp_path / "x", None)})


@pytest.mark.parametrize("make", [make_zip, make_tar])
@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_archive_is_an_error_or_gives_the_right_bytes(
    make: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    raw = bytearray(make(folder / "a", ("x", BODY)).read_bytes())
    if data.draw(st.booleans(), "truncate"):
        raw = raw[: data.draw(st.integers(0, len(raw) - 1), "length")]
    else:
        raw[data.draw(st.integers(0, len(raw) - 1), "at")] ^= data.draw(st.integers(1, 255), "flip")
    (folder / "a").write_bytes(raw)
    try:
        extract(folder / "a", {"x": (folder / "x", len(BODY))})
    except SourceError:
        return
    assert (folder / "x").stat().st_size <= len(BODY)  # the hash decides about the content
