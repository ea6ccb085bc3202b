"""Edit a file between two runs, and compare what would run again with what must.

What a job reads is traced while it runs, so that nothing here relies on the project's own digest. Edits that
count are a new statement, also with an old time stamp (`cp -p`, an unpacked archive) or one of tomorrow;
edits that do not are a comment, a new time and the same bytes in a new file.

    python tests/faults/edits.py [--count 40] [--seed 0]

Prints every job that was missed or is needless, then the counts; exits with 1 if any was missed.
"""

import argparse
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from reruns import NAMES, Traced, snakemake, traced
from smoke import Smoke

PAPERS = ["noisy_online"]
DAY = 86_400
KINDS = ("statement", "statement, old time", "statement, time of tomorrow", "comment", "new time", "new file")


def name(job: Traced) -> str:
    """As a dry run calls the job: ``noisy_online/averaging 0:1``, ``Draw noisy_online/averaging``; or ""."""
    if "--repetitions" in job.words:
        table = job.words[job.words.index("--table") + 1]
        artifact = "/".join(Path(table).parts[2:4])
        return f"{artifact} {job.words[job.words.index('--repetitions') + 1]}"
    return f"Draw {job.words[-1]}" if "--config" in job.words and "/" in job.words[-1] else ""


def planned(folder: Path, targets: tuple[str, ...]) -> set[str]:
    """The jobs that would run, by those names."""
    told = snakemake(folder, PAPERS, "-n", *targets)
    runs = re.findall(r"^Job \d+: Run (\S+)(?: \(.*\))?, repetitions (\d+:\d+)$", told, re.M)
    return {f"{artifact} {block}" for artifact, block in runs} | set(
        re.findall(r"^Job \d+: (Draw \S+)$", told, re.M)
    )


def edited(file: Path, kind: str, number: int) -> None:
    """Change the file in one of the `KINDS`."""
    if kind == "new file":
        shutil.copyfile(file, file.with_suffix(".new"))
        file.with_suffix(".new").replace(file)
        return
    statement = f"\n_EDIT_{number} = {number}\n" if kind.startswith("statement") else f"\n# edit {number}\n"
    if kind != "new time":
        file.write_text(file.read_text(encoding="utf-8") + statement, encoding="utf-8")
    moved = {"statement, old time": -5000 * DAY, "statement, time of tomorrow": DAY}.get(kind, 0)
    os.utime(file, (time.time() + moved,) * 2)


def attack(smoke: Smoke, count: int, seed: int) -> dict[str, list[str]]:
    """What was missed, and what is needless, of ``count`` edits; each is undone afterwards."""
    jobs = [job for job in traced(smoke.folder, PAPERS, list(smoke.targets)) if name(job)]
    unread = {os.path.realpath(smoke.folder / each) for each in NAMES}
    read = sorted({file for job in jobs for file in job.read if file.endswith(".py")} - unread)
    every = sorted(map(os.path.realpath, (smoke.folder / "src").rglob("*.py")))
    others = sorted(set(every) - set(read) - unread)
    found: dict[str, list[str]] = {"due": [], "missed": [], "needless": []}
    rng = np.random.default_rng(seed)
    assert planned(smoke.folder, smoke.targets) == set()
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        file = Path(str(rng.choice(read if rng.random() < 0.7 else others)))
        kept = file.read_bytes()
        edited(file, kind, number)
        must = {name(job) for job in jobs if str(file) in job.read} if kind.startswith("statement") else set()
        would = planned(smoke.folder, smoke.targets)
        follow = {f"Draw {job.rpartition(' ')[0]}" for job in would if not job.startswith("Draw")}
        where = f"{kind} in {file.relative_to(os.path.realpath(smoke.folder))}"
        found["due"] += sorted(must)
        found["missed"] += [f"{where}: {job}" for job in sorted(must - would)]
        found["needless"] += [f"{where}: {job}" for job in sorted(would - must - follow)]
        file.write_bytes(kept)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="number of edits")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        found = attack(Smoke(Path(scratch) / "checkout"), arguments.count, arguments.seed)
    for what in ("missed", "needless"):
        for job in found[what]:
            print(f"{what}: {job}", flush=True)
    print(f"{arguments.count} edits: {', '.join(f'{len(jobs)} jobs {what}' for what, jobs in found.items())}")
    raise SystemExit(bool(found["missed"]))


if __name__ == "__main__":
    main()
