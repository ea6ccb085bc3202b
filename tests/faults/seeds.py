"""Small good files of every foreign format, each with the loader or unpacker that reads it."""

import bz2
import gzip
import io
import lzma
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from mutations import mutated_gzip, mutated_mat, mutation
from scipy.io import savemat
from scipy.sparse import csc_matrix

from reproduction.data.archives import decompress, extract


@dataclass(frozen=True)
class Case:
    """A file called ``name``, with ``others`` beside it, for ``loader``; its versions to be mutated.

    Without a loader it is for ``unpack``, which runs unprotected and may raise a SourceError only.
    """

    loader: str
    name: str
    seeds: tuple[bytes, ...]
    others: tuple[tuple[str, bytes], ...] = ()
    mutate: Callable[[bytes, int], bytes] = mutation
    unpack: Callable[[Path], None] | None = None


def _mat(variables: dict[str, object], **options: object) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables, **options)
    return buffer.getvalue()


def _mats() -> tuple[bytes, ...]:
    labels = np.array([[0.0], [1.0], [1.0]])
    plain = {"x": np.arange(6.0).reshape(3, 2), "yt": labels, "yz": labels, "fd": np.zeros((3, 1), np.uint8)}
    cell = np.empty((2, 2), object)
    cell[:] = [[np.eye(2), "text"], [{"a": 1.0}, np.array([True])]]
    rich = {"x": csc_matrix(np.eye(4)), "c": cell, "s": {"t": np.ones(3, np.int16), "u": {"v": "w"}}, "z": 1j}
    kinds = [{"format": "5"}, {"format": "5", "do_compression": True}]
    return (*(_mat(v, **k) for v in (plain, rich) for k in kinds), _mat(plain, format="4"))


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
    X, y = np.arange(72.0).reshape(24, 3), np.tile([0, 1], 12)
    order = np.arange(24).reshape(1, -1)
    plain, rich = io.BytesIO(), io.BytesIO()
    np.savez(plain, X=X, y=y)
    np.savez_compressed(rich, X=X.astype(np.int16), y=y, train=order[:, :10], test=order[:, 10:])
    return plain.getvalue(), rich.getvalue()


def _idx(*shape: int) -> bytes:
    values = np.arange(np.prod(shape)) % 251
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(values.tolist())


def _zipped(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("banana.txt", content)
    return buffer.getvalue()


BODY = b"1,2,3\n" * 100


def _zips() -> tuple[bytes, ...]:
    """Archives as package indices have them: packed, and as they are."""
    found = []
    for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", kind) as archive:
            archive.writestr("in/x", BODY)
            archive.writestr("in/y", b"other")
        found.append(buffer.getvalue())
    return tuple(found)


def _tars() -> tuple[bytes, ...]:
    found = []
    for mode in ("w:gz", "w:bz2", "w"):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode=mode) as archive:
            for name, content in (("in/x", BODY), ("in/y", b"other")):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        found.append(buffer.getvalue())
    return tuple(found)


def _extracted(path: Path) -> None:
    extract(path, {"in/x": (path.with_name("x"), len(BODY)), "in/y": (path.with_name("y"), None)})


def _decompressed(kind: str) -> Callable[[Path], None]:
    return lambda path: decompress(path, kind, path.with_name("x"))


def unpackers() -> dict[str, Case]:
    """Archives and compressed files, which are unpacked before anything is known of what is in them."""
    packed = {"gzip": gzip.compress(BODY, mtime=0), "bzip2": bz2.compress(BODY), "xz": lzma.compress(BODY)}
    return {
        "archive.zip": Case("", "a.zip", _zips(), unpack=_extracted),
        "archive.tar": Case("", "a.tar", _tars(), mutate=mutated_gzip, unpack=_extracted),
    } | {kind: Case("", "a", (content,), unpack=_decompressed(kind)) for kind, content in packed.items()}


def cases() -> dict[str, Case]:
    """Format -> case."""
    svm = b"".join(b"%+d 1:%d.5 3:1 22:-0.25\n" % ((-1) ** i, i) for i in range(20))
    pair = b"".join(b"%+d 1:%d.5 2:1\n" % ((-1) ** i, i) for i in range(20))
    numbers = b"".join(b",".join(b"%d.25" % (i + j) for j in range(55)) + b"\n" for i in range(8))
    own = b"a,b,y\n" + b"".join(b"%d.5,%d,%s\n" % (i, -i, (b"no", b"1")[i % 2]) for i in range(24))
    numeric = own.replace(b"no", b"0")
    credit = b"A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n" * 12
    images = tuple((np.ones((4, 784), np.float32), np.array([3, 8, 3, 8])) for _ in range(3))
    mnist = [(f"{part}-labels-idx1-ubyte", _idx(3)) for part in ("train", "t10k")]
    mnist.append(("t10k-images-idx3-ubyte", _idx(3, 28, 28)))
    pickles = tuple(gzip.compress(pickle.dumps(images, protocol), mtime=0) for protocol in (2, 4))
    return {
        "mat": Case("crowd:galaxy_zoo", "galaxy_zoo.mat", _mats(), mutate=mutated_mat),
        "wav": Case(
            "audio:mixed_down", "a.wav", _sounds(("WAV", "PCM_16"), ("WAV", "FLOAT"), ("WAV", "PCM_U8"))
        ),
        "flac": Case("audio:mixed_down", "a.flac", _sounds(("FLAC", "PCM_16"))),
        "svmlight": Case("libsvm:ijcnn1", "ijcnn1", (svm,), (("ijcnn1.t", svm),)),
        "zip": Case("ida:banana", "banana.zip", (_zipped(pair),)),
        "csv": Case(
            "libsvm:covtype_sample",
            "covtype.1000.train.csv",
            (numbers,),
            (("covtype.1000.test.csv", numbers),),
        ),
        "csv.gz": Case(
            "libsvm:covtype", "covtype.data.gz", (gzip.compress(numbers, mtime=0),), mutate=mutated_gzip
        ),
        "idx": Case("mnist:mnist38", "train-images-idx3-ubyte", (_idx(3, 28, 28),), tuple(mnist)),
        "pickle": Case(
            "mnist:mnist38", "mnist.pkl.gz", (*pickles, gzip.decompress(pickles[0])), mutate=mutated_gzip
        ),
        "own csv": Case("table:table", "mine.csv", (numeric, numeric.replace(b",", b";"), own)),
        "own npz": Case("table:table", "mine.npz", _tables()),
        "text": Case("uci:german", "german.data", (credit, credit.replace(b" ", b","))),
        **unpackers(),
    }
