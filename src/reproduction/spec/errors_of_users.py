"""Errors in code of users, each as one line that names its place."""

import traceback
from pathlib import Path

from reproduction.paths import SOURCES
from reproduction.spec.mistakes import LONGEST


def describe_error(error: BaseException) -> str:
    """Say what an error is, and where it arose outside our packages.

    Parameters
    ----------
    error : BaseException
        The error.

    Returns
    -------
    str
        One line such as ``/me/code.py, line 12: KeyError: 'x'``.
    """
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    frames_of_user = [(file, line) for file, line in frames if is_of_user(file)]
    file, line = (frames_of_user or frames or [("", 0)])[-1]
    message = (str(error).splitlines() or [""])[0][:LONGEST]
    if isinstance(error, SyntaxError) and error.filename:
        file = error.filename
        line = error.lineno or 0
        message = error.msg
    return f"{file}, line {line}: {type(error).__name__}: {message}"


def is_of_user(file: str) -> bool:
    """Decide whether a file is neither ours nor part of an installed package."""
    if not Path(file).is_file() or "site-packages" in file:
        return False
    return not Path(file).is_relative_to(SOURCES)
