"""A scratch copy of the checkout with a home folder, in which ./run works as for a newcomer."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkouts import copy_checkout


class Newcomer:
    """Runs commands in ``checkout`` with the home folder ``home``."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self.home = folder / "checkout", folder / "home"
        copy_checkout(self.checkout, ["run", "CITATION.cff"])
        (self.home / "mine").mkdir(parents=True)
        self._environment_of_the_tests(folder / "venv")

    def _environment_of_the_tests(self, venv: Path) -> None:
        """Let ./run take the interpreter of the tests for an environment that it has set up."""
        venv.mkdir()
        for part in ("bin", "lib", "pyvenv.cfg"):
            (venv / part).symlink_to(Path(sys.prefix) / part)
        files = [self.checkout / file for file in ("runtime.lock", "pyproject.toml")]
        made_from = b"".join(file.read_bytes() for file in files)
        process = subprocess.run(["cksum"], input=made_from, capture_output=True, check=True)
        checksum = process.stdout.decode().strip()
        version = f"Python {sys.version.split()[0]}"
        stamp = f"{version}\nruntime.lock {checksum} {venv} {self.checkout}\n"
        (venv / "stamp").write_text(stamp)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SNAKEMAKE", "PYTHON", "COV", "NUMBA_CACHE_DIR"))
        } | {"HOME": str(self.home), "NOISYLABELS_VENV": str(venv)}

    def run(self, commands: str) -> str:
        """What the commands print; they must succeed, and set up no environment."""
        options = {"cwd": self.checkout, "env": self.environment}
        options |= {"capture_output": True, "text": True}
        done = subprocess.run(["bash", "-euc", commands], **options)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert "Making the environment" not in output
        return output


@pytest.fixture(scope="session")
def newcomer(tmp_path_factory) -> Newcomer:
    """One for all recipes, as one person would follow them one after the other."""
    someone = Newcomer(tmp_path_factory.mktemp("newcomer"))
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.standard_normal((120, 3)) + y[:, None]
    kinds = np.where(y, "bombay", np.where(X[:, 0] > 0, "seker", "cali"))
    lines = [f"{a:.3f},{b:.3f},{c:.3f},{kind}" for (a, b, c), kind in zip(X, kinds, strict=True)]
    table = "\n".join(["width,length,area,kind", *lines])
    (someone.home / "mine/beans.csv").write_text(f"{table}\n")
    _offline(someone, X, y)
    return someone


def _offline(someone: Newcomer, X: np.ndarray, y: np.ndarray) -> None:
    """Stand in for what the smoke scale would fetch from a package index."""
    rows = np.random.default_rng(1).permuted(np.tile(np.arange(len(y)), (2, 1)), axis=1)
    np.savez(someone.home / "any.npz", X=X, y=y, train=rows[:, :80], test=rows[:, 80:])
    config = someone.checkout / "config/config.yaml"
    local = ", ".join(f"{name}: ~/any.npz" for name in ("heart", "ida_heart", "ida_titanic"))
    text = config.read_text(encoding="utf-8")
    assert "local: {}" in text
    config.write_text(text.replace("local: {}", f"local: {{{local}}}"), encoding="utf-8")
