"""Start Snakemake for `./run`, and stop it; what the place or the environment lacks is said in one line."""

import difflib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

LEAST_MEMORY = 1 << 30
"""Bytes of addresses that the libraries of a job take before it computes anything."""


def writable(folder: Path) -> bool:
    """Is the folder there, or can it be made, and may files be written in it?"""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def given(names: tuple[str, ...], words: list[str]) -> list[str]:
    """The words that belong to options of these names, ``--name a b`` and ``--name=a``."""
    found, taking = [], False
    for word in words[: words.index("--")] if "--" in words else words:
        option, _, value = word.partition("=")
        if word.startswith("-"):
            taking = option in names
            found += [value] * (taking and bool(value))
        elif taking:
            found.append(word)
    return found


def check_configuration() -> None:
    """End with one line if a configuration file cannot be read, or a value on the command line has no key."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout's, whatever is installed
    from reproduction.strict_yaml import ArtifactError, read

    for name in given(("--configfile", "--configfiles"), sys.argv[1:]):
        if not Path(name).is_file():
            near = difflib.get_close_matches(name, map(str, sorted(Path("config").glob("*.yaml"))), n=2)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            sys.exit(f"run: --configfile: there is no file {name}{hint}")
        try:
            read(Path(name))
        except ArtifactError as error:
            sys.exit(f"run: {error}")
    for word in given(("--config", "-C"), sys.argv[1:]):
        if not re.match(r"\w+=", word):
            sys.exit(f"run: --config: {word} is not key=value, as in seed=7; targets follow --")


def repair_records(folder: Path) -> None:
    """What Snakemake recorded of an output and cannot read any more is removed, and the output made again."""
    for kind in ("metadata", "incomplete"):
        for file in filter(Path.is_file, list((folder / kind).rglob("*"))):
            try:
                sound = isinstance(json.loads(file.read_bytes()), dict)
            except ValueError:
                sound = False
            if not sound:
                file.unlink()
                unfinished = folder / "incomplete" / file.relative_to(folder / kind)
                unfinished.parent.mkdir(parents=True, exist_ok=True)
                unfinished.write_text('{"external_jobid": null}', encoding="utf-8")


def stop(number: int, _: Any) -> NoReturn:
    """End the jobs on this machine at once, where Snakemake would wait for them; it then tidies up."""
    import psutil

    signal.signal(number, signal.SIG_IGN)
    os.environ["NOISYLABELS_STOPPED"] = os.environ.get("NOISYLABELS_RUN", "")
    for job in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if " -m scripts." in " ".join(job.cmdline()):
                for process in (
                    job,
                    *job.children(recursive=True),
                ):  # a shell first: it would report the others
                    process.kill()
    raise KeyboardInterrupt


def main() -> None:
    here = Path.cwd()
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= memory < LEAST_MEMORY:
        sys.exit(
            f"run: a process may take {memory >> 20} MB here (ulimit -v); a run needs {LEAST_MEMORY >> 20}"
        )
    if not writable(here / ".snakemake"):
        sys.exit(f"run: {here} cannot be written; make it writable, or copy it to where you may write")
    if not writable(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")):
        # Snakemake and matplotlib keep files there, and fail without
        os.environ["XDG_CACHE_HOME"] = os.environ["MPLCONFIGDIR"] = str(here / ".cache/home")
    try:
        check_configuration()
        from snakemake.cli import main as snakemake
        from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

        from reproduction import console
    except Exception as error:  # a damaged package can raise anything
        sys.exit(
            f"run: a package in {sys.prefix} is damaged ({type(error).__name__}: {error}); "
            "remove that folder and start again, which installs it anew"
        )
    LoggerPluginRegistry().register_plugin("snakemake_logger_plugin_console", console)
    signal.signal(signal.SIGINT, stop)
    sys.argv[0] = "snakemake"
    # The kernel's lock on this file ends with its process. Who gets it alone is the only run alive, and
    # removes the locks of Snakemake that a killed one left; else those know what the other run works on.
    with (here / ".snakemake/owner").open("a", encoding="utf-8") as owner:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(here / ".snakemake/locks", ignore_errors=True)
                repair_records(here / ".snakemake")
            except BlockingIOError:
                pass
            fcntl.flock(owner, fcntl.LOCK_SH)
        try:
            snakemake()
        finally:  # timers that would wake the scheduler once more
            for thread in threading.enumerate():
                if isinstance(thread, threading.Timer):
                    thread.cancel()


if __name__ == "__main__":
    main()
