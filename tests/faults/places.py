"""Run a smoke run in places and states that are not as they should be, and compare with a plain run.

Each case must end with the same bytes, or with a reason that is told without a traceback; the plain run that
follows must give the same bytes.

    python tests/faults/places.py [CASE ...]

Prints what each case came to; exits with 1 if one went wrong.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from smoke import Smoke


def plain(smoke: Smoke, **options: Any) -> str:
    """What a run prints; "" if it worked."""
    status, output = smoke.run(**options)
    return output if status else ""


def two_at_once(smoke: Smoke) -> str:
    first, second = smoke.start(), smoke.start()
    outputs = [process.communicate()[0] for process in (first, second)]
    told = [text for process, text in zip((first, second), outputs, strict=True) if process.returncode]
    return told[0] if told else ""


def with_variables(**variables: str) -> Callable[[Smoke], str]:
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


def little_memory(smoke: Smoke) -> str:
    """400 MB of addresses, too few to import what a job needs."""
    return plain(smoke, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2))


def few_files(smoke: Smoke) -> str:
    return plain(smoke, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))


NOBODY = 65534


def as_user(user: int) -> dict[str, Any]:
    return {"user": user, "group": user, "extra_groups": []}


def not_for(user: int) -> bool:
    """Can the user not start this interpreter?"""
    try:
        return subprocess.run([sys.executable, "-c", ""], **as_user(user), check=False).returncode != 0
    except PermissionError:
        return True


def of_another_user(smoke: Smoke) -> str:
    """A user who may read the checkout and write nothing; needs root, who can become somebody else."""
    if os.geteuid() or not_for(NOBODY):
        return "not tried: it needs root, and an interpreter that everybody may start"
    for folder in (smoke.folder, *smoke.folder.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return plain(smoke, **as_user(NOBODY))


def damaged_metadata(smoke: Smoke) -> str:
    """Snakemake's records are cut, emptied or replaced by bytes; locks and marks are left behind."""
    plain(smoke)
    rng = np.random.default_rng(0)
    records = sorted(file for file in (smoke.folder / ".snakemake/metadata").rglob("*") if file.is_file())
    assert records
    for k, file in enumerate(records):
        content = file.read_bytes()
        file.write_bytes([content[: len(content) // 2], b"", rng.bytes(100)][k % 3])
    for name in ("locks/0.input.lock", "locks/0.output.lock", "incomplete/bm90IGJhc2U2NA=="):
        file = smoke.folder / ".snakemake" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("results/smoke\n")
    return plain(smoke)


def without_metadata(smoke: Smoke) -> str:
    plain(smoke)
    shutil.rmtree(smoke.folder / ".snakemake")
    return plain(smoke)


def results_that_are_links(smoke: Smoke) -> str:
    """A results folder on another disk, as people have it."""
    there = smoke.folder / "elsewhere"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    (smoke.folder / "results").symlink_to(there)
    try:
        return plain(smoke) or ("" if list(there.rglob("table.csv")) else "nothing was written there")
    finally:
        (smoke.folder / "results").unlink()


CASES: dict[str, Callable[[Smoke], str]] = {
    "two runs at once": two_at_once,
    "no temporary folder": with_variables(TMPDIR="/no/such/folder"),
    "a temporary folder with a long name": long_temporary_folder,
    "little memory": little_memory,
    "few open files": few_files,
    "the checkout of another user": of_another_user,
    "damaged metadata": damaged_metadata,
    "no metadata": without_metadata,
    "results that are a link": results_that_are_links,
    "a home that cannot be written": with_variables(HOME="/proc/nowhere", XDG_CACHE_HOME=""),
}


def survive(smoke: Smoke, expected: dict[str, bytes], case: str) -> tuple[str, list[str]]:
    """What was told, in one word, and what went wrong."""
    smoke.clear()
    told = CASES[case](smoke)
    wrong = []
    if "Traceback (most recent call last)" in told:
        wrong.append(f"a traceback:\n{told[-1500:]}")
    if not told and case != "results that are a link" and (found := changed(smoke, expected)):
        wrong.append(f"other bytes: {found}")
    if after := plain(smoke):
        wrong.append(f"the next run failed:\n{after[-1500:]}")
    elif found := changed(smoke, expected):
        wrong.append(f"other bytes after the next run: {found}")
    return "worked" if not told else "refused: " + told.strip().splitlines()[-1][:150], wrong


def changed(smoke: Smoke, expected: dict[str, bytes]) -> list[str]:
    """Files that differ from those of a plain run; provenance names where it was made, and may."""
    found = smoke.files()
    names = sorted(name for name in {*expected, *found} if not name.endswith("provenance.json"))
    return [name for name in names if expected.get(name) != found.get(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="default: all")
    arguments = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        smoke = Smoke(Path(scratch) / "checkout")
        smoke.display = ["--logger", "console"]
        subprocess.run(["git", "init", "-q", smoke.folder], check=False)  # who owns it matters to git
        if output := plain(smoke):
            sys.exit(output)
        expected = smoke.files()
        for case in arguments.cases or CASES:
            told, wrong = survive(smoke, expected, case)
            bad += bool(wrong)
            print(f"{case}: {told}", *wrong, sep="\n  ", flush=True)
    raise SystemExit(bad > 0)


if __name__ == "__main__":
    main()
