"""Runs a script of `src/scripts` in this process: a new one needs two seconds to import it all."""

import io
import os
import runpy
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from project import ROOT


def run_script(
    name: str,
    folder: Path,
    *words: str,
    encoding: str = "utf-8",
) -> tuple[int, str, str]:
    """Run a script with its words in a folder, for a terminal with this encoding.

    Returns
    -------
    tuple of int, str, str
        Exit status, standard output and standard error, as a process of its own would give them.
    """
    output = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
    errors = io.TextIOWrapper(io.BytesIO(), encoding, "backslashreplace", write_through=True)
    status = 0
    command = mock.patch.object(sys, "argv", [str(ROOT / f"src/scripts/{name}.py"), *words])
    variables = mock.patch.dict(os.environ)
    with chdir(folder), command, variables, redirect_stdout(output), redirect_stderr(errors):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
    return status, written_to(output), written_to(errors)


def written_to(stream: io.TextIOWrapper) -> str:
    """Read what was written to a stream in memory."""
    return stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]
