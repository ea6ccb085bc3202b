"""Start Snakemake for `./run`, and stop it; one line says what the machine or environment lacks."""

import argparse
import fcntl
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from reproduction.run.command_line import Request

DEFAULT_PROFILE = "workflow/profiles/default"
CORES = "(--cores|-c|--jobs|-j)[ =]?([0-9]+|all)"
PLAIN = re.compile(f"((smoke|full) )?((-n|--dry-run|--dryrun|{CORES}) )*")
"""Pattern of a command that runs everything and changes no setting; a blank ends each word."""


def writable(folder: Path) -> bool:
    """Decide whether files can be written in a folder, which is made if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def configuration_words(words: list[str]) -> argparse.Namespace:
    """Read Snakemake's options ``configfile`` and ``config`` as it does, to check them here."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    return parser.parse_known_args(words)[0]


def check_configuration(words: list[str], scale: str = "") -> None:
    """End with one line if a configuration file or a value on the command line cannot be used.

    Parameters
    ----------
    words : list of str
        The command line.
    scale : str
        The one that a word names, "" where files may choose it.
    """
    from reproduction.run.command_line import check_scale, check_values
    from reproduction.spec.strict_yaml import read
    from reproduction.spec.suggestions import near

    options = configuration_words(words)
    try:
        check_values(options.config)
        for name in options.configfile:
            if not Path(name).is_file():
                close = near(name, Path("config").glob("*.yaml"))
                raise ValueError(f"--configfile: there is no file {name}{close}")
            content = read(Path(name))
            if scale:
                check_scale(content, name, scale)
    except (ValueError, OSError) as error:
        sys.exit(f"run: {error}")


def expand_profile(arguments: list[str]) -> list[str]:
    """Put the options of our profile in its place.

    Snakemake prints a line about a profile that it reads.
    """
    from reproduction.spec.strict_yaml import read

    profile = ["--profile", DEFAULT_PROFILE]
    for start in range(len(arguments) - 1):
        if arguments[start : start + 2] == profile:
            options = []
            for key, value in read(Path(DEFAULT_PROFILE, "config.yaml")).items():
                options.append(f"--{key}")
                if value is not True:
                    options.append(str(value))
            return [*arguments[:start], *options, *arguments[start + 2 :]]
    return arguments


def count_cores(arguments: list[str]) -> int:
    """Count the cores that a run with these arguments would use, also for a dry run."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--cores", "-c", "--jobs", "-j", default="all")
    cores = parser.parse_known_args(arguments)[0].cores
    if re.fullmatch("[0-9]{1,6}", cores):
        return int(cores)
    return len(os.sched_getaffinity(0))


def end_jobs() -> NoReturn:
    """Kill the jobs on this machine until none is left: one may start during the search."""
    import psutil

    while True:
        for job in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if " -m scripts." not in " ".join(job.cmdline()):
                    continue
                # A shell first: it would report that its child was killed.
                for process in (job, *job.children(recursive=True)):
                    process.kill()
        time.sleep(0.1)


def stop(number: int, _: Any) -> NoReturn:
    """End the jobs at once instead of waiting for them; Snakemake then tidies up."""
    signal.signal(number, signal.SIG_IGN)
    os.environ["NOISYLABELS_STOPPED"] = os.environ.get("NOISYLABELS_RUN", "")
    threading.Thread(target=end_jobs, daemon=True).start()
    raise KeyboardInterrupt


def check_machine() -> None:
    """End with one line if no run is possible; make a cache folder if the home has none."""
    checkout = Path.cwd()
    if not writable(checkout / ".snakemake"):
        remedy = "make it writable, or copy it to a folder of yours"
        sys.exit(f"run: {checkout} is not writable; {remedy}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    if not writable(cache):
        # Snakemake and matplotlib keep files there, and fail without.
        own_cache = str(checkout / ".cache/home")
        os.environ["XDG_CACHE_HOME"] = own_cache
        os.environ["MPLCONFIGDIR"] = own_cache


@contextmanager
def owning_checkout() -> Iterator[bool]:
    """Hold the lock of this checkout, and say whether no other run has it.

    The kernel's lock on a file ends with its process. The run that gets it alone is the only one,
    and removes the locks of Snakemake that a killed run left. Otherwise those locks hold what the
    other run works on.
    """
    folder = Path.cwd() / ".snakemake"
    is_alone = False
    with (folder / "owner").open("a", encoding="utf-8") as owner:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_alone = True
                shutil.rmtree(folder / "locks", ignore_errors=True)
            except BlockingIOError:
                pass
            fcntl.flock(owner, fcntl.LOCK_SH)
        yield is_alone


def is_plain(words: list[str]) -> bool:
    """Decide whether a run is of everything, and nothing but the files of the project sets it."""
    typed = "".join(f"{word} " for word in words)
    has_variables = any(name.startswith("SNAKEMAKE_") for name in os.environ)
    return PLAIN.fullmatch(typed) is not None and not has_variables


def plan_ahead(scale: str) -> bool:
    """Plan a run of everything before Snakemake is loaded, and decide whether it has nothing to do.

    The workflow uses the same plan. Where no plan can be made, the workflow says why.
    """
    from reproduction.plan import code_digest, early_check, planned_run
    from reproduction.plan.plan import configured
    from reproduction.run import console
    from reproduction.spec.papers import list_code_folders

    checkout = Path.cwd()
    try:
        config = configured(checkout, scale)
        planned_run.search_first("PYTHONPATH", list_code_folders(config["papers"]))
        planned_run.READY = planned_run.plan_run(checkout, config, [], early_check.TARGETS)
    except KeyboardInterrupt:
        sys.exit("run: stopped before the first job")
    except Exception:
        return False
    code_digest.save()
    console.PLAN = planned_run.READY.plan
    return planned_run.READY.is_finished()


def run_snakemake(request: "Request") -> None:
    """Run Snakemake in this process.

    Raises SystemExit: it has failed.
    """
    try:
        from snakemake.cli import main as snakemake
        from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

        from reproduction.run import console
        from scripts import preview
    except Exception as error:
        refuse_damaged(error)
    LoggerPluginRegistry().register_plugin("snakemake_logger_plugin_console", console)
    LoggerPluginRegistry().register_plugin("snakemake_logger_plugin_preview", preview)
    preview.CORES = count_cores(request.arguments)
    sys.argv = ["snakemake", *expand_profile(request.arguments)]
    try:
        snakemake()
    except SystemExit as end:
        if end.code:
            raise
    finally:  # timers that would wake the scheduler once more
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()


def refuse_damaged(error: Exception) -> NoReturn:
    """End with one line because a package cannot be imported; a damaged one can raise anything."""
    sys.exit(
        f"run: a package in {sys.prefix} is damaged ({type(error).__name__}: {error}); "
        "remove that folder and start again to install it again"
    )


def main() -> None:
    """Check the words and the machine, start Snakemake, and say where to look.

    Behind ``--as-typed`` the words are Snakemake's own, and files choose the scale.
    """
    words = sys.argv[1:]
    check_machine()
    # The modules of this checkout, whatever is installed.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    try:
        from reproduction.run.command_line import Request, read_request

        if words[:1] == ["--as-typed"]:
            request = Request("", words[1:], words[1:], dry=True)
        else:
            request = read_request(words)
        check_configuration(request.arguments, request.scale)
        from reproduction.plan import early_check, planned_run
    except ValueError as error:
        sys.exit(f"run: {error}")
    except Exception as error:
        refuse_damaged(error)
    signal.signal(signal.SIGINT, stop)
    for remark in request.remarks:
        print(remark, file=sys.stderr)
    early_check.TARGETS = None if request.dry else request.targets
    with owning_checkout() as is_alone:
        if is_alone and is_plain(words) and plan_ahead(request.scale):
            print(planned_run.NOTHING_DUE, file=sys.stderr)
        else:
            run_snakemake(request)
    if not request.dry:
        conclude(request, words)


def conclude(request: "Request", words: list[str]) -> None:
    """Say where to look after a run, or end with an error if a paper was left out."""
    from reproduction.run import console

    # The summary has said what was left out, and why.
    if console.PLAN and console.PLAN.faults(request.targets):
        sys.exit(1)
    page = Path(f"site/{request.scale}/index.html")
    # The pages of a run with another seed are in another folder.
    has_seed = any(word.startswith("seed=") for word in request.arguments)
    if request.targets or has_seed or not page.exists():
        return
    address = page.absolute().as_uri()
    print(f"\nLook:   {address}   numbers: results/{request.scale}", file=sys.stderr)
    if request.scale == "smoke":
        targets = [word for word in words if word != "smoke"]
        full = shlex.join(["./run", "full", *targets])
        print(f"This was the smoke scale. The papers' settings: {full}", file=sys.stderr)


if __name__ == "__main__":
    main()
