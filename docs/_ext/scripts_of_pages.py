"""Copy the scripts that pages use from installed packages, so that no page asks another host."""

from importlib.metadata import files
from pathlib import Path
from typing import Any

MATHJAX_PACKAGE = "sphinx-mathjax-offline"
MATHJAX_FILE = "tex-svg.js"
"""MathJax in one file, with its fonts as paths of SVG."""


def find_mathjax() -> Path:
    """Find the file of MathJax in the package that brings it.

    Raises
    ------
    FileNotFoundError
        The package has no such file.
    """
    for file in files(MATHJAX_PACKAGE) or []:
        if file.name == MATHJAX_FILE:
            return Path(file.locate())
    raise FileNotFoundError(f"{MATHJAX_PACKAGE}: {MATHJAX_FILE} is missing; install the packages of dev.lock")


def copy(app: Any) -> None:
    """Write the scripts into the folder of static files of a build."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    text = find_mathjax().read_text(encoding="utf-8")
    (folder / "mathjax.js").write_text(text, encoding="utf-8")
