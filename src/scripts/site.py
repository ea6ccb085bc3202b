"""Build the whole site: results at full scale, documentation and reference, with one search."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from noisylabels.command_line import name_program

CHECKOUT = Path(__file__).resolve().parents[2]
PARSED_SOURCES = Path("site/doctrees")
"""Where Sphinx keeps what it has read, for the next build; the pages alone go to hosts."""

parser = argparse.ArgumentParser(prog=f"{name_program()} site", description=__doc__)
papers_help = "folders of your papers, shown before those of the configuration"
parser.add_argument("--papers", nargs="+", default=[], metavar="FOLDER", help=papers_help)
parser.add_argument("--out", type=Path, help="folder of the pages (default: site/html)")
parser.add_argument("scales", nargs="*", help=argparse.SUPPRESS)


def check(arguments: argparse.Namespace) -> None:
    """Refuse what version 1 took, when it made pages of each scale.

    Raises
    ------
    ValueError
        A scale was named, or Sphinx is not installed.
    """
    if arguments.scales:
        scale = arguments.scales[0]
        reason = "the site shows the full scale; the page of a run is written by the run"
        raise ValueError(f"{scale}: {reason}: site/{scale}/index.html")
    if importlib.util.find_spec("sphinx") is None:
        raise ValueError("Sphinx is not installed; ./run site installs what the site needs")


def build(arguments: argparse.Namespace) -> int:
    """Build the site with Sphinx; a warning is a failure.

    Returns
    -------
    int
        The status of Sphinx.
    """
    from noisylabels.output_folder import claim_output_folder
    from reproduction.run.console import path_to_show

    if arguments.out:
        claim_output_folder(arguments.out, "site")
    out = arguments.out or Path("site/html")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "-c", "docs"]
    options += ["-d", str(PARSED_SOURCES)]
    if arguments.papers:
        folders = [os.path.abspath(folder) for folder in arguments.papers]
        options += ["-D", f"papers_to_show={','.join(folders)}"]
    command = [sys.executable, "-P", "-m", "sphinx", *options, ".", str(out)]
    status = subprocess.run(command, check=False).returncode
    if status == 0:
        print(f"the site: {path_to_show(out / 'index.html')}")
    return status


if __name__ == "__main__":
    arguments = parser.parse_args()
    try:
        check(arguments)
        sys.exit(build(arguments))
    except ValueError as error:
        sys.exit(f"site: {error}")
