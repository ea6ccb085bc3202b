"""A scratch copy of the checkout in which Snakemake may do as it likes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ["Snakefile", "config", "workflow", "src", "environment.yml"]
# A small overlay: synthetic data only, so that no test needs a package index.
TINY = """
scale: smoke
papers: [ors]
formats: [png]
"""


class Checkout:
    """Runs snakemake in a copy of the checkout."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for part in PARTS:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, path / part)
        (path / "tiny.yaml").write_text(TINY)

    def command(self, *arguments: str, cores: int = 1) -> list[str]:
        base = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--configfile", "tiny.yaml"]
        return [*base, "--nocolor", *arguments]

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SNAKEMAKE", "PYTHONPATH", "COV"))}
        return kept | {"NUMBA_CACHE_DIR": str(ROOT / ".cache/numba-workflow-tests")}

    def snakemake(self, *arguments: str, cores: int = 1, fail: bool = False) -> str:
        done = subprocess.run(
            self.command(*arguments, cores=cores),
            cwd=self.path,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )
        output = done.stdout + done.stderr
        assert (done.returncode != 0) == fail, output
        return output

    def files(self) -> dict[str, bytes]:
        """Every result and figure with its bytes."""
        found = [
            f for folder in ("results", "figures") for f in (self.path / folder).rglob("*") if f.is_file()
        ]
        return {str(file.relative_to(self.path)): file.read_bytes() for file in sorted(found)}

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.path / file).read_text()
        assert old in text
        (self.path / file).write_text(text.replace(old, new))


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture
def new_checkout(tmp_path):
    """Make several copies: new_checkout("name")."""

    def make(name: str) -> Checkout:
        folder = tmp_path / name
        folder.mkdir()
        return Checkout(folder)

    return make
