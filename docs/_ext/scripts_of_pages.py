"""Copy the scripts that pages use from installed packages, so that no page asks another host."""

from importlib.metadata import files
from pathlib import Path
from typing import Any

import vl_convert

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
    problem = f"{MATHJAX_PACKAGE}: {MATHJAX_FILE} is missing"
    raise FileNotFoundError(f"{problem}; install the packages of dev.lock")


def copy(app: Any) -> None:
    """Write MathJax and Vega-Lite into the folder of static files of a build."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    text = find_mathjax().read_text(encoding="utf-8")
    (folder / "mathjax.js").write_text(text, encoding="utf-8")
    # In a function, because the bundle has names that other scripts of a page have, too.
    bundle = f"(() => {{\n{vl_convert.javascript_bundle()}\n}})();\n"
    (folder / "vega.js").write_text(bundle, encoding="utf-8")
