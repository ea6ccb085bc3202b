"""Start Snakemake for `./run`; what the place or the environment lacks is said in one line."""

import os
import sys
from pathlib import Path


def writable(folder: Path) -> bool:
    """Is the folder there, or can it be made, and may files be written in it?"""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def main() -> None:
    here = Path.cwd()
    if not writable(here / ".snakemake"):
        sys.exit(f"run: {here} cannot be written; make it writable, or copy it to where you may write")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if not writable(caches):  # Snakemake and matplotlib keep files there, and fail without
        os.environ["XDG_CACHE_HOME"] = os.environ["MPLCONFIGDIR"] = str(here / ".cache/home")
    try:
        from snakemake.cli import main as snakemake
    except Exception as error:  # a damaged package can raise anything
        sys.exit(
            f"run: a package in {sys.prefix} is damaged ({type(error).__name__}: {error}); "
            "remove that folder and start again, which installs it anew"
        )
    sys.argv[0] = "snakemake"
    snakemake()


if __name__ == "__main__":
    main()
