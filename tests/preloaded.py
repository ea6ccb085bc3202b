"""Snakemake in a copy of a process that has loaded it, as loading takes longer than most runs.

This module imports nothing of the project: the library is that of the checkout that is run.
"""

import multiprocessing
import os
import pkgutil
import sys
import tempfile
from pathlib import Path

PLUGINS = [module.name for module in pkgutil.iter_modules() if module.name.startswith("snakemake_")]
CONTEXT = multiprocessing.get_context("forkserver")
# On other systems libraries need not survive a copy of their process.
if sys.platform == "linux":
    CONTEXT.set_forkserver_preload(["snakemake.cli", *PLUGINS])


def snakemake(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Exit status and output of ``snakemake WORDS``, run in the folder."""
    with tempfile.NamedTemporaryFile() as output:
        process = CONTEXT.Process(target=_run, args=(words, folder, environment, output.name))
        process.start()
        process.join()
        return process.exitcode, output.read().decode()


def _run(words: list[str], folder: Path, environment: dict[str, str], output: str) -> None:
    with open(output, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["snakemake", *words]
    # the papers of the checkout that is run count, not those that the tests import
    sys.path[:] = [path for path in sys.path if Path(path).name != "papers"]
    from snakemake.cli import main

    main()
