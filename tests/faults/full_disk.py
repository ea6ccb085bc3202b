"""Let every write of a smoke run fail from some size on; what is left is whole, and the next run mends it.

Two disks: files may have so many bytes and no more (an error of every write behind that, in Snakemake and in
its jobs alike), and, for root on Linux, results on a small file system that is full (ENOSPC).

    python tests/faults/full_disk.py [--sizes 0 100 1000 4000 16000 64000] [--disks 4096 16384]

Prints what is wrong; exits with 1 if anything is.
"""

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from smoke import Smoke


def limited(size: int) -> dict[str, Any]:
    """Options of a process whose files may have ``size`` bytes."""
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))}


def compare(smoke: Smoke, expected: dict[str, bytes], when: str) -> list[str]:
    """What is wrong with the files that a failed run left: each is whole or not there."""
    found = smoke.files()
    return [f"{when}: {name} is not whole" for name in found if found[name] != expected.get(name)]


def mended(smoke: Smoke, expected: dict[str, bytes], when: str) -> list[str]:
    """What is wrong after a plain run with space."""
    status, output = smoke.run()
    if status:
        return [f"{when}: the next run failed:\n{output[-2000:]}"]
    missing = [f"{when}: {name} is missing" for name in expected if name not in smoke.files()]
    return missing + compare(smoke, expected, f"after the run that followed {when}")


def small_files(smoke: Smoke, expected: dict[str, bytes], size: int) -> list[str]:
    """A run whose files may have ``size`` bytes, then a plain one."""
    when = f"files of {size} bytes"
    smoke.clear()
    smoke.run(**limited(size))
    return compare(smoke, expected, when) + mended(smoke, expected, when)


def small_disk(smoke: Smoke, expected: dict[str, bytes], size: int) -> list[str]:
    """A run with its results on a file system of ``size`` bytes, then one with them on a larger one."""
    when, results = f"a disk of {size} bytes", smoke.folder / "results"
    smoke.clear()
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(results)]
    if subprocess.run(mount, capture_output=True).returncode:
        print(f"{when}: not tried, no right to mount")
        return []
    try:
        smoke.run()
        wrong = compare(smoke, expected, when)
        subprocess.run(["mount", "-o", "remount,size=64m", str(results)], check=True)
        return wrong + mended(smoke, expected, when)
    finally:
        subprocess.run(["umount", str(results)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[0, 100, 1000, 4000, 16_000, 64_000])
    parser.add_argument("--disks", type=int, nargs="*", default=[4096, 16_384])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        smoke = Smoke(Path(scratch) / "checkout")
        status, output = smoke.run()
        if status:
            raise SystemExit(output)
        expected = smoke.files()
        wrong = [line for size in arguments.sizes for line in small_files(smoke, expected, size)]
        if os.geteuid() == 0:
            wrong += [line for size in arguments.disks for line in small_disk(smoke, expected, size)]
    tried = f"{len(arguments.sizes)} sizes, {len(arguments.disks)} disks"
    print("\n".join([*wrong, f"{tried}, {len(wrong)} failures"]))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
