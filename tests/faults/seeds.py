"""Small good files of every foreign format, each with the loader or unpacker that reads it."""

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from mutations import mutated_gzip, mutated_mat, mutation
from scipy.io import savemat
from scipy.sparse import csc_matrix

from reproduction.data.registry import RawFile
from reproduction.data.transport import Network, obtain


@dataclass(frozen=True)
class Case:
    """A file called ``name``, with ``further_files`` next to it, for ``loader``.

    Its versions, ``seeds``, are mutated. Without a loader it is for ``unpack``, which runs
    unprotected and may raise a SourceError only.
    """

    loader: str
    name: str
    seeds: tuple[bytes, ...]
    further_files: tuple[tuple[str, bytes], ...] = ()
    mutate: Callable[[bytes, int], bytes] = mutation
    unpack: Callable[[Path], None] | None = None


def _mat(variables: dict[str, object], **options: object) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables, **options)
    return buffer.getvalue()


def _mats() -> tuple[bytes, ...]:
    labels = np.array([[0.0], [1.0], [1.0]])
    plain = {"x": np.arange(6.0).reshape(3, 2), "y": labels, "fd": np.zeros((3, 1), np.uint8)}
    cell = np.empty((2, 2), object)
    cell[:] = [[np.eye(2), "text"], [{"a": 1.0}, np.array([True])]]
    rich = {
        "x": csc_matrix(np.eye(4)),
        "c": cell,
        "s": {"t": np.ones(3, np.int16), "u": {"v": "w"}},
        "z": 1j,
    }
    files = []
    for content in (plain, rich):
        files.append(_mat(content, format="5"))
        files.append(_mat(content, format="5", do_compression=True))
    files.append(_mat(plain, format="4"))
    return tuple(files)


def _sounds(*kinds: tuple[str, str]) -> tuple[bytes, ...]:
    signal = 0.1 * np.random.default_rng(0).standard_normal(4100)
    files = []
    for kind, subtype in kinds:
        buffer = io.BytesIO()
        soundfile.write(buffer, signal, 16_000, format=kind, subtype=subtype)
        files.append(buffer.getvalue())
    return tuple(files)


def _tables() -> tuple[bytes, ...]:
    """Two .npz files as a user saves them, one of them compressed and with splits of its own."""
    X = np.arange(72.0).reshape(24, 3)
    y = np.tile([0, 1], 12)
    order = np.arange(24).reshape(1, -1)
    splits = {"train": order[:, :10], "test": order[:, 10:]}
    plain = io.BytesIO()
    np.savez(plain, X=X, y=y)
    rich = io.BytesIO()
    np.savez_compressed(rich, X=X.astype(np.int16), y=y, **splits)
    return plain.getvalue(), rich.getvalue()


BODY = b"1,2,3\n" * 100


def _zips() -> tuple[bytes, ...]:
    """Archives as package indices have them: packed, and as they are."""
    archives = []
    for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", kind) as archive:
            archive.writestr("in/x", BODY)
            archive.writestr("in/y", b"other")
        archives.append(buffer.getvalue())
    return tuple(archives)


def _obtained(path: Path, *files: RawFile) -> None:
    for file in files:
        obtain(file, path.with_name("out"), Network(str(path.parent), offline=True))


def unpackers() -> dict[str, Case]:
    """Make archives and compressed files, which are unpacked before anybody knows their content."""
    x = RawFile(name="x", path="a.zip", member="in/x", bytes=len(BODY))
    y = RawFile(name="y", path="a.zip", member="in/y")
    packed = {"gzip": gzip.compress(BODY, mtime=0), "bzip2": bz2.compress(BODY)}
    cases = {"archive.zip": Case("", "a.zip", _zips(), unpack=lambda path: _obtained(path, x, y))}
    for kind, content in packed.items():
        cases[kind] = Case("", "a", (content,), unpack=partial(_decompressed, kind))
    return cases


def _decompressed(kind: str, path: Path) -> None:
    _obtained(path, RawFile.model_validate({"name": "x", "path": "a", "unpack": kind}))


def cases() -> dict[str, Case]:
    """Format -> case."""
    svm = b"".join(b"%+d 1:%d.5 3:1 22:-0.25\n" % ((-1) ** i, i) for i in range(20))
    numbers = b""
    for i in range(8):
        numbers += b"1," + b",".join(b"%d.25" % (i + j) for j in range(18)) + b"\n"
    numbers = gzip.compress(numbers, mtime=0)
    table_of_user = b"a,b,c,day,y\n"
    for i in range(24):
        colour = (b"red", b"blue")[i % 2]
        label = (b"0", b"1")[i % 2]
        table_of_user += b"%d.5,%d,%s,2026-01-%02d,%s\n" % (i, -i, colour, i + 1, label)
    tables_of_user = (
        table_of_user,
        table_of_user.replace(b",", b";"),
        table_of_user.replace(b"blue", b"?"),
    )
    people = b"".join(b"%d,%d,1.5,%d\n" % (i, i % 9, 1 + (i < 81)) for i in range(306))
    sounds = _sounds(("WAV", "PCM_16"), ("WAV", "FLOAT"), ("WAV", "PCM_U8"))
    return {
        "mat": Case("crowd:websearch", "websearch.mat", _mats(), mutate=mutated_mat),
        "wav": Case("audio:recording", "a.wav", sounds),
        "flac": Case("audio:recording", "a.flac", _sounds(("FLAC", "PCM_16"))),
        "svmlight": Case("libsvm:ijcnn1", "ijcnn1", (svm,), (("ijcnn1.t", svm),)),
        "csv.gz": Case("libsvm:susy", "SUSY.csv.gz", (numbers,), mutate=mutated_gzip),
        "own csv": Case("users_table:users_table", "mine.csv", tables_of_user),
        "own npz": Case("users_table:users_table", "mine.npz", _tables()),
        "text": Case("uci:haberman", "haberman.data", (people, people.replace(b",", b" "))),
        **unpackers(),
    }


CASES = cases()
