"""A copy of the checkout runs what is compiled here."""

import os
import subprocess
import sys
from pathlib import Path

from checkouts import ROOT, copy_checkout

from reproduction.code_digest import kernel_digest

CODE = """
from noisylabels import NLMS
NLMS().run([[1.0, 2.0]] * 3, [1.0] * 3)
"""


def run_a_filter(checkout: Path) -> None:
    variables = {"PYTHONPATH": str(checkout / "src"), "NUMBA_CACHE_DIR": str(cache(checkout))}
    subprocess.run([sys.executable, "-c", CODE], check=True, env=os.environ | variables, cwd=checkout)


def cache(checkout: Path) -> Path:
    return checkout / ".cache/numba" / kernel_digest()


def kernels(checkout: Path) -> dict[str, int]:
    """The compiled filters and when they were written."""
    return {file.name: file.stat().st_mtime_ns for file in cache(checkout).glob("filters_*/*.nb*")}


def test_a_copy_takes_over_what_is_compiled(tmp_path):
    run_a_filter(ROOT)
    copy_checkout(tmp_path / "copy")
    copied = kernels(tmp_path / "copy")
    assert copied
    run_a_filter(tmp_path / "copy")
    assert kernels(tmp_path / "copy") == copied
