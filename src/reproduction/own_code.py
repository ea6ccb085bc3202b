"""A user's own modules: imported, and what they raise in one line."""

import importlib
import traceback
from pathlib import Path
from types import ModuleType

from reproduction.strict_yaml import LONGEST


def raised(error: BaseException) -> str:
    """``/me/code.py, line 12: KeyError: 'x'``: what was raised, and where outside our packages."""
    ours = Path(__file__).resolve().parents[1]
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    theirs = [
        (file, line)
        for file, line in frames
        if Path(file).is_file() and "site-packages" not in file and not Path(file).is_relative_to(ours)
    ]
    file, line = (theirs or frames or [("", 0)])[-1]
    said = (str(error).splitlines() or [""])[0][:LONGEST]
    if isinstance(error, SyntaxError) and error.filename:
        file, line, said = error.filename, error.lineno or 0, error.msg
    return f"{file}, line {line}: {type(error).__name__}: {said}"


def imported(module: str) -> ModuleType:
    """The module. Raises ModuleNotFoundError: it does not exist; ValueError: one's own that has a mistake."""
    try:
        return importlib.import_module(module)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and module.startswith(error.name or "-")
        if missing or module.startswith(("reproduction.", "noisylabels.")):
            raise
        raise ValueError(f"{raised(error)}; the module {module} cannot be imported, mend it") from error
