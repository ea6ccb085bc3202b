"""The packages whose versions can change a result: those installed, and those that the lock names."""

import json
import re
from collections.abc import Iterable
from importlib import import_module, metadata
from pathlib import Path

NUMERIC = ("numpy", "scipy", "numba", "llvmlite", "pandas", "scikit-learn", "soundfile", "pyroomacoustics")
"""What experiments, data sets and verdicts are computed with."""

DRAWING = (*NUMERIC, "matplotlib", "pillow", "fonttools")
"""What figures and tables are drawn with."""

MODULES = {"scikit-learn": "sklearn", "pillow": "PIL", "fonttools": "fontTools"}
"""Packages whose module has another name."""


def versions(names: Iterable[str]) -> dict[str, str]:
    """The installed versions; a package that is not there is left out."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def pinned(names: Iterable[str], lock: Path) -> dict[str, list[str]]:
    """The versions in a lock file, several where they differ by interpreter; {} if there is no such file."""
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.M)
    wanted = set(names)
    return {name: sorted(v for n, v in lines if n == name) for name in sorted({n for n, _ in lines} & wanted)}


def state(names: Iterable[str], lock: Path) -> str:
    """Both as JSON: a result is made again when either changes."""
    names = tuple(names)
    return json.dumps({"installed": versions(names), "locked": pinned(names, lock)}, sort_keys=True)


def damaged() -> str:
    """Which package cannot be imported, and why, in one line; "" if all can."""
    for name in DRAWING:
        try:
            import_module(MODULES.get(name, name))
        except Exception as error:  # a damaged file can raise anything
            return f"{name} ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    return ""
