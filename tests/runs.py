"""Snakemake in a scratch folder: on files of this checkout, or on a copy that tests may edit."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import preloaded
from checkouts import ROOT, copy_checkout

OVERLAY = "scale: smoke\npapers: [ors]\nformats: [png]\n"


def stable_bytes(file: Path) -> bytes:
    """The bytes of a file; of a record without the versions, times and speed of its machine."""
    content = file.read_bytes()
    if file.name != "record.json":
        return content
    record = json.loads(content)
    del record["informs"]
    return json.dumps(record).encode()


class Run:
    """Runs the Snakefile of ``checkout`` in ``folder``, where results, figures and data stay."""

    def __init__(self, folder: Path, checkout: Path = ROOT) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "overlay.yaml").write_text(OVERLAY)
        self.folder = folder
        self.checkout = checkout

    def command(self, targets: Sequence[str], options: Sequence[str] = ()) -> list[str]:
        return [sys.executable, "-m", "snakemake", *self.words(targets, options)]

    def words(
        self,
        targets: Sequence[str],
        options: Sequence[str] = (),
        cores: int = 1,
    ) -> list[str]:
        return [
            *("--cores", str(cores), "--nocolor"),
            *("--snakefile", str(self.checkout / "Snakefile")),
            *("--directory", str(self.folder)),
            *("--configfile", str(self.folder / "overlay.yaml")),
            *options,
            "--",
            *targets,
        ]

    def environment(self) -> dict[str, str]:
        of_caller = ("SNAKEMAKE", "PYTHONPATH", "COV")
        return {name: value for name, value in os.environ.items() if not name.startswith(of_caller)}

    def snakemake(
        self, *targets: str, options: Sequence[str] = (), cores: int = 1, fail: bool = False
    ) -> str:
        words = self.words(targets, options, cores)
        status, output = preloaded.snakemake(words, self.folder, self.environment())
        assert (status != 0) == fail, output
        return output

    def files(self) -> dict[str, bytes]:
        """Every result and figure with its bytes; of a record, what no machine changes."""
        contents = {}
        for part in ("results", "figures"):
            for file in sorted((self.folder / part).rglob("*")):
                if file.is_file():
                    contents[str(file.relative_to(self.folder))] = stable_bytes(file)
        return contents

    def edit(self, file: str, old: str, new: str) -> None:
        """Change the first ``old`` of a file of the copied checkout."""
        assert self.checkout != ROOT
        text = (self.checkout / file).read_text()
        assert old in text
        (self.checkout / file).write_text(text.replace(old, new, 1))


def copied(folder: Path) -> Run:
    """A copy of the checkout in the folder, emptied before, that may be edited and runs there."""
    folder.mkdir(exist_ok=True)
    for left in folder.glob("*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    shutil.rmtree(folder / ".snakemake", ignore_errors=True)
    copy_checkout(folder)
    return Run(folder, folder)
