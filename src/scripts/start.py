"""Start Snakemake for `./run`, and stop it; what the place or the environment lacks is said in one line."""

import argparse
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import sys
import threading
import time
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


def options(words: list[str]) -> argparse.Namespace:
    """Those of Snakemake's options that are checked here, ``configfile`` and ``config``, as it reads them."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    return parser.parse_known_args(words)[0]


def check_configuration() -> None:
    """End with one line if a configuration file cannot be read, or a value on the command line has no key."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout's, whatever is installed
    from reproduction.spec.strict_yaml import ArtifactError, near, read

    given = options(sys.argv[1:])
    for name in given.configfile:
        if not Path(name).is_file():
            sys.exit(f"run: --configfile: there is no file {name}{near(name, Path('config').glob('*.yaml'))}")
        try:
            read(Path(name))
        except ArtifactError as error:
            sys.exit(f"run: {error}")
    for word in given.config:
        if not re.match(r"\w+=", word):
            sys.exit(f"run: --config: {word} is not key=value, as in seed=7; targets follow --")


def repair_records(folder: Path) -> None:
    """What Snakemake recorded of an output and cannot read any more is removed, and the output made again."""
    for kind in ("metadata", "incomplete"):
        for file in filter(Path.is_file, list((folder / kind).rglob("*"))):
            with suppress(ValueError):
                if isinstance(json.loads(file.read_bytes()), dict):
                    continue
            file.unlink()
            unfinished = folder / "incomplete" / file.relative_to(folder / kind)
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text('{"external_jobid": null}', encoding="utf-8")


def end_jobs() -> NoReturn:
    """Kill the jobs on this machine, again and again: one may have been starting when it was looked for."""
    import psutil

    while True:
        for job in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if " -m scripts." in " ".join(job.cmdline()):
                    for process in (job, *job.children(recursive=True)):  # a shell first: it would tell
                        process.kill()
        time.sleep(0.1)


def stop(number: int, _: Any) -> NoReturn:
    """End the jobs at once, where Snakemake would wait for them; it then tidies up."""
    signal.signal(number, signal.SIG_IGN)
    os.environ["NOISYLABELS_STOPPED"] = os.environ.get("NOISYLABELS_RUN", "")
    threading.Thread(target=end_jobs, daemon=True).start()
    raise KeyboardInterrupt


def main() -> None:
    here = Path.cwd()
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= memory < LEAST_MEMORY:
        needed = LEAST_MEMORY >> 20
        sys.exit(f"run: a process may take {memory >> 20} MB here (ulimit -v); a run needs {needed}")
    if not writable(here / ".snakemake"):
        sys.exit(f"run: {here} cannot be written; make it writable, or copy it to where you may write")
    if not writable(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")):
        # Snakemake and matplotlib keep files there, and fail without
        os.environ["XDG_CACHE_HOME"] = os.environ["MPLCONFIGDIR"] = str(here / ".cache/home")
    try:
        check_configuration()
        from snakemake.cli import main as snakemake
        from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

        from reproduction.run import console
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
