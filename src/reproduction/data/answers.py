"""Is it the file that a server sent? By the head of its answer, and by how the body begins."""

import contextlib
from typing import Any

from reproduction.data.storage import SourceError


def check_answer(answer: Any, where: str, most: int) -> None:
    """Refuse an answer by its head: a part of a file, a length that is no number or more than ``most``.

    ``where`` is how the address may be printed. Of the body of a redirection little
    is read: requests would read it to the end.

    Raises
    ------
    SourceError : as said.
    """
    from urllib3.exceptions import HTTPError

    if answer.is_redirect:
        with contextlib.suppress(HTTPError):
            answer.raw.read(4096)
        answer._content = b""
        return
    length = answer.headers.get("Content-Length", "0")
    if answer.status_code >= 400:  # told and perhaps tried again by whoever asked
        return
    if answer.status_code != 200:
        raise SourceError(f"{where}: the server answers {answer.status_code}, not with the whole file")
    if not (length.isascii() and length.isdigit()):
        raise SourceError(f"{where}: the server announces a length of {length[:20]!r} bytes")
    if len(length) > 18 or int(length) > most:
        html = "html" in answer.headers.get("Content-Type", "")
        what = "; it is a web page, not the data" if html else ""
        raise SourceError(f"{where}: {length[:20]} bytes, more than the expected {most} bytes{what}")


def is_page(start: bytes) -> bool:
    """Whether a file that starts like this is a web page (a login or an error that came with status 200)."""
    return _text(start).lower().startswith(("<!doctype html", "<html"))


def not_data(start: bytes) -> str:
    """What a file that starts like this is instead of data, "" if nothing speaks against it.

    For files without a known hash: web pages and other markup, answers in JSON, text in UTF-16, pointers of
    Git LFS. No format that is read here starts like any of them.
    """
    text = _text(start)
    if is_page(start):
        return "a web page"
    if text.startswith("<"):
        return "XML or other markup"
    if text.startswith(("{", "[")):
        return "an answer in JSON"
    if text.startswith("version https://git-lfs."):
        return "a pointer of Git LFS to the file"
    return "text in UTF-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else ""


def _text(start: bytes) -> str:
    """The beginning of a text, whether in UTF-8 or UTF-16, with or without byte order mark."""
    if start.startswith(b"\xff\xfe") or start[1:2] == b"\0" != start[:1]:
        text = start.decode("utf-16-le", "replace")
    elif start.startswith(b"\xfe\xff") or start[:1] == b"\0" != start[1:2]:
        text = start.decode("utf-16-be", "replace")
    else:
        text = start.decode("utf-8", "replace")
    return text.lstrip("\ufeff \r\n\t")
