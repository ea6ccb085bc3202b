"""The files a source delivered, as a loader sees them: name in the registry -> path on disk."""

from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path

Files = Mapping[str, Path]


def only(files: Files) -> Path:
    """The path of a source of one file; ValueError lists the names if there are none or several."""
    if len(files) != 1:
        found = ", ".join(sorted(files)) or "none"
        raise ValueError(f"expected one file, got {found}; mend the registry entry")
    return next(iter(files.values()))


def named(files: Files, name: str) -> Path:
    """The path of file ``name`` or of its compressed form; ValueError lists what there is instead."""
    for candidate in (name, f"{name}.gz", f"{name}.bz2", f"{name}.xz"):
        if candidate in files:
            return files[candidate]
    raise ValueError(f"no file {name}, got {', '.join(sorted(files)) or 'none'}; mend the registry entry")


def fact(name: str) -> bytes:
    """Bytes of a small file that is shipped with the library, such as the row mask of a7a."""
    return (resources("reproduction.data") / "facts" / name).read_bytes()
