"""Archives, compressed files and pickles that mean harm are refused with a message; nothing else is
written.
"""

import contextlib
import gzip
import io
import pickle
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisylabels.datasets import archives
from noisylabels.datasets.archives import decompress, extract, load_numpy_pickle
from noisylabels.datasets.storage import SourceError

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
    module = {"gzip": gzip, "bzip2": archives.bz2, "xz": archives.lzma}[kind]
    packed = tmp_path / "p"
    packed.write_bytes(module.compress(bytes(5_000_000)))
    with pytest.raises(SourceError, match="unpacks to more than 100 bytes; refused"):
        decompress(packed, kind, tmp_path / "x", 100)
    assert (tmp_path / "x").stat().st_size <= 100


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


# pickles


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("run",))


def dump(path: Path, content: Any, protocol: int = 2) -> Path:
    path.write_bytes(gzip.compress(pickle.dumps(content, protocol=protocol)))
    return path


@pytest.mark.parametrize("protocol", [2, 4])
def test_arrays_in_a_pickle_are_read(protocol: int, tmp_path: Path) -> None:
    arrays = ((np.arange(6, dtype=np.float32).reshape(2, 3), np.array([3, 8])), {"a": np.ones(2)})
    (X, y), rest = load_numpy_pickle(dump(tmp_path / "p", arrays, protocol))
    np.testing.assert_array_equal(X, arrays[0][0])
    np.testing.assert_array_equal(y, [3, 8])
    np.testing.assert_array_equal(rest["a"], 1.0)


@pytest.mark.parametrize("content", [_Evil(), eval, np.random.default_rng, np.array([_Evil()], dtype=object)])
def test_a_foreign_global_in_a_pickle_is_refused_and_not_run(
    content: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match="which is not part of an array; refused"):
        load_numpy_pickle(dump(tmp_path / "p", content))
    assert capsys.readouterr().out == ""


def test_a_pickle_bomb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unpacks to more than 1000 bytes; refused"):
        load_numpy_pickle(dump(tmp_path / "p", np.zeros(1000)), largest=1000)


@settings(max_examples=40)
@given(data=st.data())
def test_a_damaged_pickle_is_an_error_or_an_object_without_code(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    raw = bytearray(pickle.dumps((np.arange(5), "text", [1, 2]), protocol=2))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("pickle") / "p"
    path.write_bytes(raw[: data.draw(st.integers(2, len(raw)))])
    with contextlib.suppress(ValueError):
        load_numpy_pickle(path)
