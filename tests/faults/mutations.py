"""Damaged copies of good files: the n-th mutation of a file is the same in every run."""

import gzip
import struct
import zlib

import numpy as np

NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
ODD_NUMBERS = [b"nan", b"inf", b"1e999", b"-1"]
SEPARATORS = [b"?", b",", b" ", b"\n", b"\r", b"\0", b"_", b":"]
WORDS = [*ODD_NUMBERS, *SEPARATORS, b"qid:", b"0x1"]
KINDS = ["flip", "flip", "number", "number", "cut", "delete", "repeat", "insert", "word"]


def mutation(content: bytes, seed: int) -> bytes:
    """Mutate ``content``: bits flipped, numbers overwritten, parts cut, repeated or inserted."""
    rng = np.random.default_rng(seed)
    changed = bytes(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4, 16]))):
        changed = _step(bytearray(changed), rng)
    return changed


def _step(content: bytearray, rng: np.random.Generator) -> bytes:
    """One change at one place, more often near the beginning, where headers are."""
    size = len(content)
    if not size:
        return b"\0"
    position = int(rng.integers(min(size, 256) if rng.random() < 0.5 else size))
    length = int(rng.integers(1, 64))
    kind = rng.choice(KINDS)
    if kind == "flip":
        content[position] ^= 1 << int(rng.integers(8))
    elif kind == "number":
        width = int(rng.choice([1, 2, 4, 8]))
        order = str(rng.choice(["little", "big"]))
        number = int(rng.choice(NUMBERS)) & (256**width - 1)
        end = position + width
        content[position:end] = number.to_bytes(width, order)  # type: ignore[arg-type]
    elif kind == "cut":
        del content[position:]
    elif kind == "delete":
        del content[position : position + length]
    elif kind == "repeat":
        content[position:position] = content[position : position + length] * int(rng.integers(1, 9))
    elif kind == "insert":
        content[position:position] = rng.bytes(length)
    else:
        content[position:position] = WORDS[int(rng.integers(len(WORDS)))]
    return bytes(content)


def mutated_mat(content: bytes, seed: int) -> bytes:
    """Mutate a .mat file; every second one inside its first compressed variable, packed again."""
    if seed % 2 or len(content) < 140 or struct.unpack("<I", content[128:132])[0] != 15:
        return mutation(content, seed)
    size = struct.unpack("<I", content[132:136])[0]
    packed = zlib.compress(mutation(zlib.decompress(content[136 : 136 + size]), seed))
    return content[:128] + struct.pack("<II", 15, len(packed)) + packed + content[136 + size :]


def mutated_gzip(content: bytes, seed: int) -> bytes:
    """A mutation of a gzipped file; of every second one inside, packed again."""
    if seed % 2 or content[:2] != b"\x1f\x8b":
        return mutation(content, seed)
    return gzip.compress(mutation(gzip.decompress(content), seed), mtime=0)
