"""Disturb a smoke run in every way that machines do; the next plain run must give the same bytes.

Kills at seeded moments (of the run and its jobs, or of the run alone), full disks, and places and
states that are not as they should be. A disturbed run may refuse, with a reason and without a
traceback; what it leaves is whole. The next one is plain: no --unlock, no --rerun-incomplete.

    python tests/faults/places.py [CASE ...] [--kills 200] [--seed 0]
    python tests/faults/places.py "no metadata" --kills 12 --scale full --targets ors_fig2

Prints what each case came to; exits with 1 if one went wrong.
"""

import argparse
import base64
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import yaml
from smoke import TARGETS, Smoke

Case = Callable[[Smoke], str]
"""Runs in a state that is not as it should be; returns what the run printed, "" if it worked."""
NOBODY = 65534


def plain(smoke: Smoke, **options: Any) -> str:
    status, output = smoke.run(**options)
    return output if status else ""


def records(smoke: Smoke) -> list[Path]:
    """Read what Snakemake has recorded of the files that were made."""
    metadata = smoke.folder / ".snakemake/metadata"
    record_files = [file for file in metadata.rglob("*") if file.is_file()]
    assert record_files
    return sorted(record_files)


def killed(after: float, jobs_too: bool) -> Case:
    """Kill a run after some seconds, if it has not ended before."""

    def case(smoke: Smoke) -> str:
        process = smoke.start(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            if jobs_too:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        return f"killed with {process.wait()}"

    return case


def limited(kind: int, limit: int) -> Case:
    """A run whose processes have less of a resource."""
    hard = resource.RLIM_INFINITY if kind == resource.RLIMIT_FSIZE else limit
    return lambda smoke: plain(smoke, preexec_fn=lambda: resource.setrlimit(kind, (limit, hard)))


def full_disk(rule: str) -> Case:
    """Run again on a disk without a free byte, after removing what a rule and later ones make.

    Logs and Snakemake's records are elsewhere, so that the rule's own job meets the full disk.
    """

    def case(smoke: Smoke) -> str:
        plain(smoke)
        maker = {}
        for record in records(smoke):
            name = os.fsdecode(base64.b64decode(record.name))
            maker[name] = json.loads(record.read_bytes())["rule"]
        names = tuple(name for name in maker if re.fullmatch(rule, maker[name]))
        assert names, f"no output of {rule}"
        later_rules = RULES[RULES.index(rule) :]
        for name in maker:
            if any(re.fullmatch(later, maker[name]) for later in later_rules):
                (smoke.folder / name).unlink()
        disk = smoke.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)]
        if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
            return "not tried: no right to mount"
        parts = ("data", "results", "figures", "site")
        parts_there = [part for part in parts if (smoke.folder / part).is_dir()]
        usual = smoke.targets
        smoke.targets = names
        try:
            for part in parts_there:
                shutil.move(smoke.folder / part, disk / part)
                (smoke.folder / part).symlink_to(disk / part)
            with suppress(OSError), (disk / "fill").open("wb", buffering=0) as fill:
                while fill.write(bytes(4096)):
                    pass
            return plain(smoke) or "a full disk was not noticed: Traceback (most recent call last)"
        finally:
            smoke.targets = usual
            for part in parts_there:
                (smoke.folder / part).unlink()
                shutil.move(disk / part, smoke.folder / part)
            subprocess.run(["umount", str(disk)], check=True)
            disk.rmdir()

    return case


def every_rule(folder: Path) -> Smoke:
    """Two small papers in which every rule of the workflow has a job."""
    smoke = Smoke(folder, ("all",))
    artifacts_kept = {"noisy_online": ("identities", "averaging"), "ors": ("fig5", "vss")}
    for file in (folder / "src/papers").glob("*/*.yaml"):
        if file.name != "names.yaml" and file.stem not in artifacts_kept.get(file.parent.name, ()):
            file.unlink()
    vss = folder / "src/papers/ors/vss.yaml"
    content = yaml.safe_load(vss.read_text(encoding="utf-8"))
    methods = {name: {"method": name} for name in ("nlms", "pnorm_lms")}
    content["settings"] |= {
        "repetitions": 2,
        "windows": 5,
        "grids": {"mu": [0.1]},
        "methods": methods,
    }
    content["settings"]["tasks"]["M=5"]["T"] = 500
    content |= {"shards": {"by": ["methods"]}, "claims": []}
    del content["reductions"]
    vss.write_text(yaml.safe_dump(content), encoding="utf-8")
    rng = np.random.default_rng(0)
    for name in ("talk", "room"):
        soundfile.write(folder / f"{name}.wav", rng.uniform(-0.5, 0.5, 80_000), 16_000)
    local = "data={offline: true, local: {speech: talk.wav, living_room: room.wav}}"
    smoke.settings = ["papers=[noisy_online,ors]", "formats=[png]", local]
    return smoke


def two_at_once(smoke: Smoke) -> str:
    with smoke.started() as first_run, smoke.started() as second_run:
        runs = [first_run, second_run]
        outputs = [process.communicate()[0] for process in runs]
    for process, output in zip(runs, outputs, strict=True):
        if process.returncode:
            return output
    return ""


def with_variables(**variables: str) -> Case:
    def case(smoke: Smoke) -> str:
        smoke.variables = variables
        try:
            return plain(smoke)
        finally:
            smoke.variables = {}

    return case


def long_temporary_folder(smoke: Smoke) -> str:
    folder = smoke.folder / ("long" * 30)
    folder.mkdir(exist_ok=True)
    return with_variables(TMPDIR=str(folder))(smoke)


def of_another_user(smoke: Smoke) -> str:
    """Run as a user who may read the checkout and write nothing; only root can become that user."""
    nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    start = [sys.executable, "-c", ""]
    with suppress(PermissionError):
        if not os.geteuid() and not subprocess.run(start, **nobody).returncode:
            for folder in (smoke.folder, *smoke.folder.parents):
                if folder.stat().st_uid == 0 and folder != Path("/"):
                    folder.chmod(folder.stat().st_mode | 0o055)
            return plain(smoke, **nobody)
    return "not tried: it needs root, and an interpreter that everybody may start"


def without_metadata(smoke: Smoke) -> str:
    plain(smoke)
    shutil.rmtree(smoke.folder / ".snakemake")
    return plain(smoke)


def results_that_are_links(smoke: Smoke) -> str:
    """A results folder on another disk, as people have it."""
    elsewhere = smoke.folder / "elsewhere"
    shutil.rmtree(elsewhere, ignore_errors=True)
    elsewhere.mkdir()
    (smoke.folder / "results").symlink_to(elsewhere)
    try:
        if output := plain(smoke):
            return output
        if list(elsewhere.rglob("table.csv")):
            return "not tried: linked"
        return "nothing written"
    finally:
        (smoke.folder / "results").unlink()


RULES = ["fetch", "prepare", "tune", "run", "collect", "experiment", "draw_.*", "verdicts"]
RULES += ["page_after_.*", "site"]
"""Those that write files, none before what it needs; the others only name what is asked for."""

DISKS = {f"a full disk for {rule}": full_disk(rule) for rule in RULES}

FILE_SIZES = (0, 100, 1000, 4000, 16_000, 64_000)
SMALL_FILES = {f"files of {n} bytes": limited(resource.RLIMIT_FSIZE, n) for n in FILE_SIZES}

CASES: dict[str, Case] = {
    "two runs at once": two_at_once,
    "no temporary folder": with_variables(TMPDIR="/no/such/folder"),
    "a temporary folder with a long name": long_temporary_folder,
    "few open files": limited(resource.RLIMIT_NOFILE, 64),
    "the checkout of another user": of_another_user,
    "no metadata": without_metadata,
    "results that are a link": results_that_are_links,
    "a home that cannot be written": with_variables(HOME="/proc/nowhere", XDG_CACHE_HOME=""),
    **SMALL_FILES,
    **DISKS,
}


def survive(smoke: Smoke, expected: dict[str, bytes], case: Case) -> tuple[str, list[str]]:
    """Report in one word what was shown, and what went wrong."""
    smoke.clear()
    message = case(smoke)
    wrong = []
    if "Traceback (most recent call last)" in message and "Errno" not in message:
        wrong.append(f"a traceback:\n{message[-1500:]}")
    if not message.startswith(("killed", "not tried")):
        files = changed(smoke, expected, missing=not message)
        if files:
            wrong.append(f"other bytes: {files}")
    if after := plain(smoke):
        wrong.append(f"the next run failed:\n{after[-1500:]}")
    elif files := changed(smoke, expected):
        wrong.append(f"other bytes after the next run: {files}")
    if not message:
        return "worked", wrong
    last_line = message.strip().splitlines()[-1]
    return f"refused: {last_line[:150]}", wrong


def changed(smoke: Smoke, expected: dict[str, bytes], missing: bool = True) -> list[str]:
    """Files that differ from those of a plain run; a record names where it was made, and may."""
    present = smoke.files()
    names = {*expected, *present} if missing else set(present)
    names = {name for name in names if not name.endswith("record.json")}
    return sorted(name for name in names if expected.get(name) != present.get(name))


def undisturbed(smoke: Smoke) -> tuple[float, dict[str, bytes]]:
    """Seconds and files of a plain run with compiled kernels."""
    smoke.display = ["--logger", "console"]
    # Git refuses a folder of another owner
    subprocess.run(["git", "init", "-q", smoke.folder], check=False)
    plain(smoke)  # compiles
    smoke.clear()
    start = time.monotonic()
    if output := plain(smoke):
        sys.exit(output)
    return time.monotonic() - start, smoke.files()


def main() -> None:
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="default: all")
    parser.add_argument("--kills", type=int, help="default: 200, none next to named cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", default="smoke", choices=("smoke", "full"))
    targets = "artifacts, as <paper>_<artifact>"
    parser.add_argument("--targets", nargs="+", default=TARGETS, help=targets)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    bad = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        usual = Smoke(Path(scratch) / "checkout", tuple(arguments.targets), arguments.scale)
        cases = {name: CASES[name] for name in arguments.cases or CASES}
        seconds, files = undisturbed(usual)
        expected = {usual.folder: files}
        kills = 0 if arguments.cases else 200
        if arguments.kills is not None:
            kills = arguments.kills
        for number in range(kills):
            after = seconds * rng.random()
            jobs_too = bool(rng.random() < 0.5)
            cases[f"kill {number} after {after:.2f} s, {jobs_too=}"] = killed(after, jobs_too)
        if set(cases) & set(DISKS):
            complete = every_rule(Path(scratch) / "every_rule")
            expected[complete.folder] = undisturbed(complete)[1]
        for name, case in cases.items():
            smoke = complete if name in DISKS else usual
            message, wrong = survive(smoke, expected[smoke.folder], case)
            bad += bool(wrong)
            print(f"{name}: {message}", *wrong, sep="\n  ", flush=True)
    print(f"{len(cases)} cases, {bad} failures")
    raise SystemExit(bad > 0)


if __name__ == "__main__":
    main()
