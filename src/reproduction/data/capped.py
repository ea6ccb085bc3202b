"""Streams that take no more memory than they may, whatever the file behind them asks for."""

import lzma
from pathlib import Path
from typing import IO

HEADERS = 128 << 20
"""Bytes of all that an archive says of its members; a tar archive spends 512 on each."""

DECODER = 128 << 20
"""Bytes that the decoder of an .xz file may take; the highest preset of its packer needs 65 MiB."""

BLOCK = 1 << 16


class CappedReads:
    """A stream that gives no more than ``left`` bytes: readers of archives believe what headers say.

    Raises
    ------
    ValueError : more is read.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.left = stream, HEADERS
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, of which `left` loses so many."""
        content = self.stream.read(self.left + 1 if size < 0 else min(size, self.left + 1))
        self.left -= len(content)
        if self.left < 0:
            raise ValueError(f"its headers ask for more than {HEADERS} bytes")
        return content


class Xz:
    """The content of an .xz file of one stream, read forwards.

    Raises
    ------
    ValueError : something follows the stream.   EOFError : it is cut short.
    lzma.LZMAError : it is damaged, or its decoder would need more than `DECODER` bytes.
    """

    def __init__(self, path: Path) -> None:
        self.file = path.open("rb")
        self.decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, DECODER)

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, none at the end."""
        content = b""
        while not content and not self.decoder.eof:
            packed = self.file.read(BLOCK) if self.decoder.needs_input else b""
            if self.decoder.needs_input and not packed:
                raise EOFError("cut short")
            content = self.decoder.decompress(packed, size)
        if self.decoder.eof and (self.decoder.unused_data or self.file.read(1)):
            raise ValueError("something follows the compressed stream")
        return content

    def __enter__(self) -> "Xz":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()
